"""Passes on a Dask cluster: batches are counted where they are, and only counts travel.

Every piece of the table (a partition of a Dask collection, some row groups of a Parquet file, a
file of a list) becomes a statistic on a worker. Statistics are merged in pairs, as a tree whose
shape depends on the number of pieces alone: the answer is the same for any number of workers,
and after a worker was lost, whose pieces are read and counted again.
"""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

import numpy as np

from tamiz.data.column import RawTable
from tamiz.data.errors import DataError
from tamiz.data.formats.base import Reader
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import limit_threads
from tamiz.scale._conform import Conformer
from tamiz.scale._dask_parts import DaskReader, is_dask, open_dask
from tamiz.scale._survey import Survey
from tamiz.scale.batch import Schema
from tamiz.scale.batched import Batches
from tamiz.scale.sources import register

#: Seconds to wait for a worker when none is left, and after which they are counted again.
_PATIENCE, _LOOK = 60.0, 2.0
#: Who wants to know of pieces that are done, by topic; in this process only.
_listeners: dict[str, Callable[[int, int], None]] = {}


def need_dask() -> None:
    """Say which extra is missing, if one is."""
    try:
        import dask
        import distributed  # noqa: F401
    except ImportError:
        raise ImportError(
            "Dask collections and clusters need the packages dask and distributed; install both "
            "with: pip install 'tamiz[dask]'"
        ) from None
    del dask


class DaskExecutor:
    """Does passes on a Dask cluster.

    Parameters
    ----------
    client : dask.distributed.Client, optional
        Whose workers do the work. By default the client that is active, and if there is none,
        threads of this process.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from tamiz.scale import ClassMoments, batches, sweep
    >>> X, y = da.from_array(np.arange(12.0).reshape(6, 2), chunks=(2, 2)), np.arange(6) % 2
    >>> table = batches((X, y))
    >>> table.schema.classes
    array([0, 1])
    >>> sweep(table, lambda batch: ClassMoments.of(batch.X, batch.y, 2)).mean.tolist()
    [[4.0, 5.0], [6.0, 7.0]]
    """

    def __init__(self, client: Any = None):
        need_dask()
        self.client = client

    def sweep(
        self,
        table: Batches,
        make: Callable[[Any], Any],
        line: Progress | None = None,
        describe: Callable[[int, int | None, float], str] | None = None,
    ) -> Any:
        """The merged statistic of all batches."""
        table.survey()
        schema = table.schema
        wanted = [*schema.names, *([] if schema.target is None else [schema.target])]
        pieces, reader = _pieces_of(table.parts, wanted)
        sizes = self._sizes(table, pieces, reader)
        rows = table._rows()
        n_batches = [-(-n // rows) if rows else 1 for n in sizes]
        first_rows = np.cumsum([0, *sizes])[:-1].tolist()
        first_batches = np.cumsum([0, *n_batches])[:-1].tolist()
        work = Work(
            reader,
            rows,
            schema,
            table._columns,
            table._as_numbers,
            table.parts[0].guess_roles,
            table._remedy,
            make,
        )
        jobs = [
            (piece, *numbers)
            for piece, *numbers in zip(pieces, first_rows, first_batches, strict=True)
        ]
        counted = self._run(_count, work, jobs, line, describe, sum(sizes))
        table._check_count(counted)
        return counted.statistic

    def survey(self, table: Batches, survey: Survey, columns: list[str] | None) -> bool:
        """Make a survey on the cluster; false if that has to be done here."""
        if any(part.reads_all and not isinstance(part, DaskReader) for part in table.parts):
            return False  # reading text settles what its columns are, which all must know
        pieces, reader = _pieces_of(table.parts, columns)
        jobs = [(piece,) for piece in pieces]
        found: Surveyed = self._run(_survey, (reader, table._rows(), survey), jobs)
        survey.join(found.survey)
        table._piece_rows = found.n_read
        return True

    # ------------------------------------------------------------------------------------- private

    def _sizes(self, table: Batches, pieces: list[Any], reader: PieceReader) -> list[int]:
        """Rows of each piece: every row has its own number, whoever counts it."""
        if len(pieces) == 1:
            return [table.n_rows or 0]
        if table._piece_rows is None:
            known = _known_sizes(table.parts, pieces)
            if known is None:
                target = table.schema.target or table.schema.names[0]
                pieces, reader = _pieces_of(table.parts, [target])
                jobs = [(piece,) for piece in pieces]
                known = self._run(_measure, (reader, table._rows()), jobs).n_read
            table._piece_rows = known
        return table._piece_rows

    def _run(
        self,
        function: Callable[..., Any],
        common: Any,
        jobs: list[tuple[Any, ...]],
        line: Progress | None = None,
        describe: Callable[[int, int | None, float], str] | None = None,
        n_rows: int | None = None,
    ) -> Any:
        """``function(common, *job)`` of all jobs, merged as a tree."""
        from dask import delayed
        from distributed.protocol.pickle import dumps

        topic = _new_topic()
        # one task that any worker can do again, rather than data that would be lost with a worker
        shared = delayed(_unpacked, pure=False)(dumps(common))
        nodes = [
            delayed(function, pure=False)(shared, *job, topic, number)
            for number, job in enumerate(jobs)
        ]
        merge = delayed(_merged, pure=False)
        while len(nodes) > 1:
            pairs = itertools.zip_longest(nodes[::2], nodes[1::2])
            nodes = [a if b is None else merge(a, b) for a, b in pairs]
        done: dict[int, int] = {}
        _listeners[topic] = done.__setitem__
        started = time.perf_counter()

        def look() -> None:
            if line is not None and describe is not None and done:
                line.update(describe(sum(done.values()), n_rows, time.perf_counter() - started))

        try:
            return computed(nodes[0], self.client, topic, done, look)
        finally:
            del _listeners[topic]


def on(table: Batches, client: Any = None) -> Batches:
    """Let the workers of a Dask client do the passes over a table; used by :meth:`Batches.on`."""
    need_dask()
    for part in table.parts:
        if part.in_memory:
            raise DataError(
                f"{part.shown} is in the memory of this process, so workers of a cluster cannot "
                "read it; pass files, a Dask data frame or a Dask array."
            )
    made = copy.copy(table)
    made.parts = [copy.copy(part) for part in table.parts]
    for part in made.parts:
        if isinstance(part, DaskReader):
            part.client = client
    made._executor = DaskExecutor(client)
    return made


class FileReader:
    """Reads parts of files.

    Parameters
    ----------
    columns : list of str or None
        What to read.
    """

    def __init__(self, columns: list[str] | None):
        self.columns = columns

    def tables(self, piece: bytes, rows: int | None) -> Iterator[RawTable]:
        """Tables of at most so many rows."""
        from distributed.protocol.pickle import loads

        yield from loads(piece).tables(self.columns, rows)


def _pieces_of(parts: list[Reader], columns: list[str] | None) -> tuple[list[Any], PieceReader]:
    from distributed.protocol.pickle import dumps

    first = parts[0]
    if isinstance(first, DaskReader):
        return first.partitions(columns), first.reader()
    split = [piece for part in parts for piece in part.pieces()]
    return [dumps(piece) for piece in split], FileReader(columns)


def _known_sizes(parts: list[Reader], pieces: list[Any]) -> list[int] | None:
    first = parts[0]
    if isinstance(first, DaskReader):
        return first.rows_of_partitions()
    sizes = [piece.n_rows for part in parts for piece in part.pieces()]
    return None if None in sizes else [n for n in sizes if n is not None]


def _active_client() -> Any:
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def _new_topic() -> str:
    return f"tamiz-{uuid4().hex}"


def computed(
    root: Any,
    client: Any = None,
    topic: str | None = None,
    done: dict[int, int] | None = None,
    look: Callable[[], None] = lambda: None,
) -> Any:
    """The value of a node; whatever happens, nothing is left on the cluster.

    What workers tell about a topic goes to ``done``, and ``look`` is called now and then.
    """
    need_dask()
    from distributed import KilledWorker, wait
    from distributed import TimeoutError as DaskTimeoutError

    client = _active_client() if client is None else client
    if client is None:
        return root.compute(scheduler="threads")
    topic, done = topic or _new_topic(), {} if done is None else done
    client.subscribe_topic(topic, lambda event: done.update([tuple(event[1])]))
    future = client.compute(root)
    seen = time.monotonic()
    try:
        while True:
            try:
                with client.as_current():
                    wait([future], timeout=0.5)
            except (TimeoutError, DaskTimeoutError):
                look()
                if time.monotonic() - seen > _LOOK:
                    _refuse_no_workers(client)
                    seen = time.monotonic()
                continue
            look()
            return future.result()
    except KilledWorker as error:
        raise RuntimeError(
            "A batch took down one worker of the Dask cluster after another. It may need more "
            "memory than a worker has: use smaller partitions, fewer threads for each worker, or "
            "larger workers."
        ) from error
    except CancelledError as error:
        raise RuntimeError(
            "The Dask cluster lost data that it cannot make again, such as what was scattered to "
            "a worker that is gone. Let the collection come from files, or scatter it again."
        ) from error
    finally:
        client.unsubscribe_topic(topic)
        if not future.done():
            client.cancel([future])
        future.release()


def _refuse_no_workers(client: Any) -> None:
    """Wait for a worker if there is none, but not for ever."""
    from distributed import TimeoutError as DaskTimeoutError

    try:
        if not client.ncores():
            client.wait_for_workers(1, timeout=_PATIENCE)
    except (TimeoutError, DaskTimeoutError) as error:
        raise RuntimeError(
            f"The Dask cluster has had no worker for {_PATIENCE:g} seconds; start one and run this "
            "again."
        ) from error


# ------------------------------------------------------------------------------------- on a worker


class PieceReader(Protocol):
    """Makes tables of a piece."""

    def tables(self, piece: Any, rows: int | None) -> Iterator[RawTable]:
        """Tables of at most so many rows."""


@dataclass
class Work:
    """What all pieces of a pass need; sent once.

    Attributes
    ----------
    reader : PieceReader
        Of the pieces.
    rows : int or None
        Rows of a batch.
    schema, columns, as_numbers, missing_allowed, remedy
        Of the :class:`Conformer`.
    make : callable
        From a batch to a statistic.
    """

    reader: PieceReader
    rows: int | None
    schema: Schema
    columns: list[str]
    as_numbers: set[str]
    missing_allowed: bool
    remedy: str
    make: Callable[[Any], Any]


@dataclass
class CountedPieces:
    """The statistic of some pieces (None if they hold no rows), and their rows."""

    statistic: Any
    n_rows: int

    def merge(self, other: CountedPieces) -> CountedPieces:
        """Of both."""
        if self.statistic is None or other.statistic is None:
            statistic = other.statistic if self.statistic is None else self.statistic
        else:
            statistic = self.statistic.merge(other.statistic)
        return CountedPieces(statistic, self.n_rows + other.n_rows)


def count_piece(work: Work, piece: Any, first_row: int, index: int) -> CountedPieces:
    """The statistic of a piece whose first row and first batch have these numbers."""
    conformer = Conformer(
        work.schema, work.columns, work.as_numbers, work.missing_allowed, work.remedy
    )
    conformer.first_row, conformer.index = first_row, index
    total: Any = None
    with limit_threads(1):
        stream = _read(work.reader, piece, work.rows)
        while True:
            try:
                table = next(stream, None)
            except DataError as error:
                raise DataError(f"In {conformer.where}: {error}") from None
            if table is None:
                return CountedPieces(total, conformer.n_rows)
            batch = conformer.make(table)
            del table
            if batch is not None:
                part = work.make(batch)
                total = part if total is None else total.merge(part)
            del batch


def _read(reader: PieceReader, piece: Any, rows: int | None) -> Iterator[RawTable]:
    try:
        yield from reader.tables(piece, rows)
    except FileNotFoundError as error:
        raise DataError(
            f"a worker of the cluster cannot find the file ({error}); every worker reads its own "
            "part of it, so it has to lie where all of them see it under the same path."
        ) from None


@dataclass
class Surveyed:
    """The survey of some pieces that follow each other, and the rows of each piece."""

    survey: Survey
    n_read: list[int] = field(default_factory=list)

    def merge(self, other: Surveyed) -> Surveyed:
        """Of both."""
        survey = copy.deepcopy(self.survey)  # what a worker holds may be merged a second time
        survey.join(other.survey)
        return Surveyed(survey, [*self.n_read, *other.n_read])


def survey_piece(reader: PieceReader, rows: int | None, blank: Survey, piece: Any) -> Surveyed:
    """Show the tables of a piece to a survey."""
    survey = blank.blank()
    with limit_threads(1):
        for table in _read(reader, piece, rows):
            survey.update(table)
    return Surveyed(survey, [survey.n_read])


def measure_piece(reader: PieceReader, rows: int | None, piece: Any) -> list[int]:
    """The number of rows of a piece, in a list."""
    with limit_threads(1):
        return [sum(table.n_rows for table in _read(reader, piece, rows))]


def _unpacked(common: bytes) -> Any:
    from distributed.protocol.pickle import loads

    return loads(common)


def _merged(one: Any, other: Any) -> Any:
    return one.merge(other)


def _count(
    work: Work, piece: Any, first_row: int, first_batch: int, topic: str, number: int
) -> Any:
    found = count_piece(work, piece, first_row, first_batch)
    _report_progress(topic, number, found.n_rows)
    return found


def _survey(
    common: tuple[PieceReader, int | None, Survey], piece: Any, topic: str, number: int
) -> Any:
    return survey_piece(*common, piece)


def _measure(common: tuple[PieceReader, int | None], piece: Any, topic: str, number: int) -> Any:
    return Surveyed(Survey(None, [], []), measure_piece(*common, piece))


def _report_progress(topic: str, number: int, n_rows: int) -> None:
    if topic in _listeners:
        _listeners[topic](number, n_rows)
        return
    from distributed import get_worker

    get_worker().log_event(topic, [number, n_rows])


register(is_dask, open_dask)
