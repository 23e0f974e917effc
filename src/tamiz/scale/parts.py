"""What a table can be made of: a file, several files, or tables that are handed over.

A part names its columns and hands over tables of some rows, as often as asked. What the columns
mean, and whether the rows are fit for use, is decided elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tamiz.data.column import Table
from tamiz.data.errors import DataError
from tamiz.data.plan import Plan

#: Bytes of numbers in a batch: above 32 MiB, so that the C library gives them back when freed.
BATCH_BYTES = 34 << 20

CHANGED = "the file was written anew after it was opened. Open it again."


class Part(ABC):
    """Where rows come from.

    Attributes
    ----------
    shown : str
        What it is called in messages.
    names : list of str
        All columns, target included.
    n_rows : int or None
        Number of rows, if it is known without reading them.
    once : bool
        Whether the rows can be read a single time only.
    own_thread : bool
        Whether rows may be read by another thread than the caller's. Not so for iterators of the
        caller, which may hold on to something that belongs to one thread.
    guess_roles : bool
        Whether identifiers, dates and free text are set aside. Not so for ``X`` and ``y`` that
        were handed over as such.
    reads_all : bool
        Whether reading some columns costs as much as reading all.
    executor : object or None
        Who does passes where the rows are, if they are not here.
    """

    shown: str = ""
    names: list[str]  # of all columns, in the order of the source
    n_rows: int | None = None
    once = False
    own_thread = True
    guess_roles = True
    reads_all = False
    named = True
    sparse = False
    executor: Any = None

    @property
    def fault_row(self) -> int | None:
        """Number of the row that could not be read, after an error, where that is known."""
        return None

    @abstractmethod
    def plan(self) -> Plan:
        """Target and features."""

    def notes(self) -> list[str]:
        """What was guessed of columns and form, as in the notes of a data set."""
        return self.plan().notes

    def alarms(self) -> list[str]:
        """What a reader should be warned of, known when all rows have been seen."""
        return []

    @abstractmethod
    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[Table]:
        """Tables of at most ``rows`` rows (None: as many as are handy) with these columns."""

    def first(self, rows: int | None) -> Table | None:
        """The first table that has rows; None if there is none."""
        stream = self.tables(None, rows)
        try:
            return next((table for table in stream if table.n_rows), None)
        finally:
            stream.close()  # type: ignore[attr-defined]

    def settle(self, surveyed: bool) -> None:  # noqa: B027  (most parts have nothing to settle)
        """Take what was learnt as settled: what comes later has to agree."""


@contextmanager
def readable(part: Part) -> Iterator[None]:
    """Tell in a sentence what the system says of a file; what users' iterables raise is theirs."""
    try:
        yield
    except OSError as error:
        if not part.own_thread:
            raise
        raise DataError(unreadable(part.shown, error)) from None


def unreadable(shown: str, error: OSError) -> str:
    """Why a file cannot be read."""
    if isinstance(error, FileNotFoundError):
        return f"{shown} is no longer there; every pass reads it again, so leave it in its place."
    if isinstance(error, PermissionError):
        return f"{shown} may not be read by this user; change its permissions."
    return f"{shown} cannot be read ({error.strerror or error})."


def rows_per_batch(n_columns: int) -> int:
    """Number of rows so that a batch takes about 35 MB."""
    return int(np.clip(BATCH_BYTES // (8 * max(1, n_columns)), 16, 1 << 20))


def cut_table(table: Table, rows: int | None) -> Iterator[Table]:
    """A table in memory, some rows at a time."""
    n = table.n_rows
    step = n if rows is None else rows
    if step >= n:
        yield table
        return
    for start in range(0, n, step):
        yield take_rows(table, slice(start, min(start + step, n)))


def take_rows(table: Table, rows: Any) -> Table:
    """Some rows of a table."""
    return Table(
        [column.take(rows) for column in table.columns],
        table.source,
        matrix=None if table.matrix is None else table.matrix[rows],
        matrix_names=table.matrix_names,
        names=table.names,
    )
