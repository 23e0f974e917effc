"""What a reader of tables is: it names the columns, and gives tables of some rows.

There is one reader for each kind of file, and one for tables in memory. :func:`tamiz.scale.batches`
goes through the tables that a reader gives, as often as needed; :func:`tamiz.data.load` collects
them. What the columns mean, and whether the rows are fit for use, is decided elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.column import Column, RawTable
from tamiz.data.errors import DataError, Finding
from tamiz.data.plan import ColumnPlan

#: Bytes of numbers in a batch: above 32 MiB, so that the C library gives them back when freed.
BATCH_BYTES = 34 << 20

CHANGED = "the file was written anew after it was opened. Open it again."


class ReadAgain(Exception):
    """What was learnt on the way makes the rows read so far useless: begin again."""


class Reader(ABC):
    """Where rows come from.

    Attributes
    ----------
    shown : str
        What it is called in messages.
    names : list of str
        All columns, target included, in the order of the source.
    n_rows : int or None
        Number of rows, if it is known without reading them.
    once : bool
        Whether the rows can be read a single time only.
    own_thread : bool
        Whether rows may be read by another thread than the caller's. Not so for iterators of the
        caller, which may hold on to something that belongs to one thread.
    guess_roles : bool
        Whether identifiers, dates and free text are set aside. Not so for ``X`` and ``y`` that
        were passed as such.
    reads_all : bool
        Whether reading some columns costs as much as reading all.
    narrows : bool
        Whether some of the features can be read without the others.
    own_batches : bool
        Whether the source has batches of its own, and their size is not for us to say.
    in_memory : bool
        Whether the rows are in the memory of this process.
    executor : object or None
        Who does passes where the rows are, if they are not here.
    """

    shown: str = ""
    names: list[str]
    n_rows: int | None = None
    once = False
    own_thread = True
    guess_roles = True
    reads_all = False
    narrows = False
    own_batches = False
    in_memory = False
    named = True
    sparse = False
    executor: Any = None
    fault_row: int | None = None  # number of the row that could not be read, where that is known

    @abstractmethod
    def plan(self) -> ColumnPlan:
        """Target and features."""

    @abstractmethod
    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[RawTable]:
        """Tables of at most ``rows`` rows (None: as many as are handy) with these columns."""

    def notes(self) -> list[str]:
        """What was guessed of columns and form, as in the notes of a data set."""
        return self.plan().notes

    def findings(self) -> list[Finding]:
        """What a person should be warned of; complete when all rows have been read."""
        return []

    def first(self, rows: int | None) -> RawTable | None:
        """The first table that has rows; None if there is none."""
        stream = self.tables(None, rows)
        try:
            return next((table for table in stream if table.n_rows), None)
        finally:
            stream.close()  # type: ignore[attr-defined]

    def collect(self, verbose: int = 0) -> RawTable:
        """The whole table, as :func:`tamiz.data.load` needs it."""
        while True:
            try:
                table = _together(self, verbose)
            except ReadAgain:
                continue
            table.notes, table.warnings = self.notes(), self.findings()
            return table

    def rows_expected(self, n_read: int) -> int | None:
        """Rows that there will be, as far as one can say after so many; None if unknown."""
        return self.n_rows

    def bytes_in_memory(self) -> int | None:
        """Bytes that the table takes as float64 numbers, about; None if unknown."""
        return None if self.n_rows is None else 8 * self.n_rows * len(self.names)

    # ------------------------------------------------------------- what passes ask of a reader

    def check_batches(self) -> None:  # noqa: B027  (most readers can give all batches)
        """Refuse options that reading in batches does not know."""

    def survey(self, others: Sequence[Reader], see: Any) -> bool:
        """Look at all rows of this reader and the others of one table, if names depend on it.

        Each table on the way is given to ``see``. False if there is nothing to find out.
        """
        return False

    def settle(self, surveyed: bool) -> None:  # noqa: B027  (most readers have nothing to settle)
        """Take what was learnt as settled: what comes later has to agree."""

    def join(self, first: Reader) -> None:  # noqa: B027  (most readers share nothing)
        """Be a part of one table with others, of which ``first`` is the first."""

    def leave_out(self, name: str) -> None:  # noqa: B027  (most readers cannot)
        """Read a column of text no further: it has too many levels to be of use."""

    def text_columns(self) -> set[str]:
        """Columns found to hold text, where that is found out on the way."""
        return set()

    def pieces(self) -> list[Reader]:
        """Readers of parts of the rows, which can be read at different places."""
        return [self]


class HeldTable(Reader):
    """A table that was read as a whole, and is cut into batches."""

    in_memory = True

    def __init__(
        self, table: RawTable, plan: ColumnPlan, *, guess_roles: bool = True, named: bool = True
    ):
        self.table, self._plan = table, plan
        self.shown, self.names = table.source, table.names
        self.guess_roles, self.named = guess_roles, named
        self.n_rows = table.n_rows
        self.sparse = sparse.issparse(table.matrix)

    def plan(self) -> ColumnPlan:
        return self._plan

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[RawTable]:
        yield from cut_table(self.table, rows)

    def collect(self, verbose: int = 0) -> RawTable:
        self.table.notes = [*self.table.notes, *self._plan.notes]
        return self.table


@contextmanager
def readable(reader: Reader) -> Iterator[None]:
    """Say in a sentence why a file cannot be read; what users' iterables raise is theirs."""
    try:
        yield
    except OSError as error:
        if not reader.own_thread:
            raise
        raise DataError(unreadable(reader.shown, error)) from None


def unreadable(shown: str, error: OSError) -> str:
    """Why a file cannot be read."""
    if isinstance(error, FileNotFoundError):
        return f"{shown} is no longer there; every pass reads it again, so leave it in its place."
    if isinstance(error, PermissionError):
        return f"{shown} may not be read by this user; change its permissions."
    why = error.strerror or " ".join(str(error).split())
    return f"{shown} cannot be read ({why}); check the file and its disk."


def rows_per_batch(n_columns: int) -> int:
    """Number of rows so that a batch takes about 35 MB."""
    return int(np.clip(BATCH_BYTES // (8 * max(1, n_columns)), 16, 1 << 20))


def cut_table(table: RawTable, rows: int | None) -> Iterator[RawTable]:
    """A table in memory, some rows at a time."""
    n = table.n_rows
    step = n if rows is None else rows
    if step >= n:
        yield table
        return
    for start in range(0, n, step):
        yield table.take(slice(start, min(start + step, n)))


# ---------------------------------------------------------------------------------- collecting


def _together(reader: Reader, verbose: int) -> RawTable:
    """All tables of a reader, one below the other."""
    from tamiz.runtime.progress import Progress

    first: RawTable | None = None
    numbers = np.empty((0, 0))  # of the features, with room for more rows
    columns: dict[str, list[Column]] = {}
    n = 0
    with Progress(f"reading {reader.shown}", verbose) as progress:
        for table in reader.tables(None, None):
            first = table if first is None else first
            stop = n + table.n_rows
            if table.matrix is not None:
                if stop > len(numbers):
                    expected = reader.rows_expected(stop) if n == 0 else None
                    room = max(stop, expected or stop + stop // 2)
                    before, numbers = numbers[:n], np.empty((room, table.matrix.shape[1]))
                    if n:
                        numbers[:n] = before
                numbers[n:stop] = table.matrix
            for column in table.columns:
                columns.setdefault(column.name, []).append(column)
            n = stop
            progress.update(f"{n:,} rows")
    if first is None:
        raise DataError(f"{reader.shown} holds no rows; a data set needs at least one.")
    X = None if first.matrix is None else numbers[:n]
    if X is not None and len(numbers) > 1.5 * n:
        X = X.copy()  # so as not to hold on to the room that was not needed
    return RawTable(
        [Column.joined(parts) for parts in columns.values()],
        reader.shown,
        matrix=X,
        matrix_names=first.matrix_names,
        names=first.names,
    )
