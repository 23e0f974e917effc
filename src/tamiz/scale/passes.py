"""sweep: go through all batches, and merge what each gives."""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any, Protocol, TypeVar

from tamiz.data.errors import DataError
from tamiz.runtime.progress import Progress
from tamiz.scale.batch import Batch
from tamiz.scale.batched import Batches
from tamiz.scale.sources import batches as open_batches


class Mergeable(Protocol):
    """A statistic of some rows that adds up with those of other rows."""

    def merge(self, other: Any) -> Any:
        """The statistic of both sets of rows."""


Statistic = TypeVar("Statistic", bound=Mergeable)


def sweep(
    source: Any,
    make: Callable[[Batch], Statistic],
    *,
    executor: Any = None,
    progress: Progress | bool | int = 0,
    label: str = "reading",
) -> Statistic:
    """Make a statistic of every batch and merge them all.

    While one batch is counted, the next is read by a thread of its own, so there are two batches
    in memory. (Iterables passed by the user are read by the caller's thread: they may hold
    on to something that belongs to it.) Merging is in the order of the batches, so the result
    does not depend on timing. A batch that is at fault raises before any of it was counted, and
    an interruption ends the reader before it goes on.

    Parameters
    ----------
    source : Batches, or anything that :func:`batches` takes
        Where the rows come from.
    make : callable
        Called with a :class:`Batch`; gives an object with ``merge(other)``, which returns the
        statistic of both.
    executor : object, optional
        Does the work elsewhere: its ``sweep(batches, make, line, describe)`` is called instead. By
        default that of the table, if it has one: see :meth:`Batches.on`.
    progress : Progress, bool or int, default=0
        A progress line, or how talkative to be: 1 shows one on terminals after two seconds, 2
        also elsewhere.
    label : str, default="reading"
        What the progress line says is being done.

    Returns
    -------
    object
        What ``make`` gives, for all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import batches, sweep
    >>> class Total:
    ...     def __init__(self, value):
    ...         self.value = value
    ...
    ...     def merge(self, other):
    ...         return Total(self.value + other.value)
    >>> table = batches((np.eye(5), np.arange(5) % 2), batch_rows=2)
    >>> sweep(table, lambda batch: Total(batch.X.sum(axis=0))).value
    array([1., 1., 1., 1., 1.])
    """
    table = open_batches(source)
    executor = table.executor if executor is None else executor
    if executor is not None:
        with _line(progress, label) as line:
            return executor.sweep(table, make, line, _told)
    table.survey()
    total: Statistic | None = None
    done = 0
    with _line(progress, label) as line, closing(ahead(table)) as stream:
        started = time.perf_counter()
        for batch in stream:
            part = make(batch)
            total = part if total is None else total.merge(part)
            done = batch.first_row + batch.n_rows
            line.update(_told(done, table.n_rows, time.perf_counter() - started))
            del batch, part  # so that no third batch is held while waiting for the next
    if total is None:
        raise DataError("There are no rows to go through; a table needs at least one.")
    return total


def ahead(table: Batches) -> Generator[Batch, None, None]:
    """The batches of a table, of which the next is read while one is in use.

    Closing the generator ends the reader.
    """
    if not table.own_thread:
        yield from table
        return
    reader = _Reader(table)
    try:
        yield from reader
    finally:
        reader.stop()


class _Reader:
    """A thread that reads one batch ahead, and no more than that."""

    def __init__(self, table: Batches):
        self._table = table
        self._ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._may_read = threading.Semaphore(1)
        self._stopped = False
        context = contextvars.copy_context()  # the limit of threads holds in it, too
        self._thread = threading.Thread(
            target=context.run, args=(self._run,), name="tamiz-reader", daemon=True
        )
        self._thread.start()

    def __iter__(self) -> Iterator[Batch]:
        while True:
            kind, value = self._ready.get()
            if kind is Batch:
                self._may_read.release()
                yield value
                del value
            elif kind is None:
                return
            else:
                raise value

    def _run(self) -> None:
        try:
            with closing(iter(self._table)) as stream:
                while True:
                    self._may_read.acquire()
                    if self._stopped:
                        return
                    batch = next(stream, None)
                    if batch is None:
                        self._ready.put((None, None))
                        return
                    self._ready.put((Batch, batch))
                    del batch
        except BaseException as error:
            self._ready.put((type(error), error))

    def stop(self) -> None:
        """End the thread, after the batch that it may be reading."""
        self._stopped = True
        self._may_read.release()
        self._thread.join()


@contextmanager
def _line(progress: Progress | bool | int, label: str) -> Iterator[Progress]:
    if isinstance(progress, Progress):
        yield progress
        return
    with Progress(label, progress) as line:
        yield line


def _told(done: int, n_rows: int | None, seconds: float) -> str:
    if not n_rows or done >= n_rows:
        return f"{done:,} rows"
    left = seconds * (n_rows - done) / max(done, 1)
    return f"{done:,} of {n_rows:,} rows, about {left:.0f} s left"
