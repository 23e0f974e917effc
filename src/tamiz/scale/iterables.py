"""Rows that are handed over: tables in memory, and iterables of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tamiz.data.column import Table
from tamiz.data.errors import DataError
from tamiz.data.frames import read_memory
from tamiz.data.npz import array_column
from tamiz.data.plan import Options, Plan, make_plan
from tamiz.scale.parts import Part, cut_table
from tamiz.validation import as_vector

AGAIN = (
    "A generator can be read once only, and it was read already; hand over a function that makes "
    "a fresh one, such as batches(lambda: rows()), or a list."
)


def is_table(value: Any) -> bool:
    """Whether a value is one table in memory: a frame, a sparse matrix or a 2-D array."""
    if sparse.issparse(value) or nw.dependencies.is_into_dataframe(value):
        return True
    return isinstance(value, np.ndarray) and value.ndim == 2


def is_pair(value: Any) -> bool:
    """Whether a value is ``(X, y)``."""
    return isinstance(value, tuple) and len(value) == 2 and is_table(value[0])


class TablePart(Part):
    """A table that was read as a whole, and is cut into batches."""

    def __init__(self, table: Table, plan: Plan, *, guess_roles: bool, named: bool = True):
        self.table, self._plan = table, plan
        self.shown, self.names = table.source, table.names
        self.guess_roles, self.named = guess_roles, named
        self.n_rows = table.n_rows
        self.sparse = sparse.issparse(table.matrix)

    def plan(self) -> Plan:
        return self._plan

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[Table]:
        yield from cut_table(self.table, rows)


class IterablePart(Part):
    """Tables from an iterable, from a function that makes an iterator, or from a generator.

    The first table gives the names; arrays have none, and need as many columns.
    """

    own_thread = False

    def __init__(self, source: Any, options: Options, shown: str = "the source"):
        self.source, self.options, self.shown = source, options, shown
        self._make: Callable[[], Iterable[Any]] | None
        if callable(source) and not hasattr(source, "__iter__"):
            self._make = source
        elif iter(source) is source:
            self._make, self.once = None, True
        else:
            self._make = source.__iter__
        self._started = False
        self.names = []  # of the first table
        self._first: Any = None
        self._plan: Plan | None = None

    def plan(self) -> Plan:
        if self._plan is None:
            stream = self._items()
            for item in stream:
                table, plan = self._read(item, 0)
                if table is None:
                    continue
                self._plan = plan
                self.sparse = sparse.issparse(table.matrix)
                if self.once:
                    self._first = item, stream
                break
            else:
                raise DataError(f"{self.shown} holds no rows; a table needs at least one.")
            if not self.once and hasattr(stream, "close"):
                stream.close()
        assert self._plan is not None
        return self._plan

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[Table]:
        self.plan()
        for k, item in enumerate(self._again()):
            table, _ = self._read(item, k)
            if table is not None:
                yield from cut_table(table, rows)

    def first(self, rows: int | None) -> Table | None:
        if not self.once:
            return super().first(rows)
        self.plan()
        if self._first is None:
            raise DataError(AGAIN)
        return self._read(self._first[0], 0)[0]

    def _again(self) -> Iterator[Any]:
        """All items from the first on; the one that was looked at included."""
        if not self.once:
            yield from self._items()
            return
        if self._first is None:
            raise DataError(AGAIN)
        (first, rest), self._first = self._first, None
        yield first
        yield from rest

    def _items(self) -> Iterator[Any]:
        if self._make is None:
            if self._started:
                raise DataError(AGAIN)
            self._started = True
            return iter(self.source)
        made = self._make()
        if not hasattr(made, "__iter__"):
            raise DataError(
                f"The function handed over as source gives {type(made).__name__}, which cannot be "
                "iterated over; let it give an iterator of (X, y) pairs or of frames."
            )
        return iter(made)

    def _read(self, item: Any, k: int) -> tuple[Table | None, Plan | None]:
        """An item as a table; None if it has no rows."""
        where = f"{self.shown}, item {k}"
        if is_pair(item):
            table, plan = read_pair(item[0], item[1], self.options, where)
            self.guess_roles = False
        elif is_table(item) and (
            nw.dependencies.is_into_dataframe(item) or self.options.target is not None
        ):
            if not item.shape[0]:
                return None, None
            table, plan = read_memory(item, self.options, where)
        else:
            raise DataError(
                f"{where} is {_called(item)}; give pairs (X, y), or frames whose target is named "
                "with target=."
            )
        if table is None or plan is None:
            return None, None
        named = _is_named(item)
        if not self.names:
            self.names, self.named = table.names, named
        elif not (named and self.named):
            self._rename(table, where)
        table.source = self.shown
        return table, plan

    def _rename(self, table: Table, where: str) -> None:
        """Columns without names take those of the first table, by their place."""
        if len(table.names) != len(self.names):
            raise DataError(
                f"{where} has {len(table.names) - 1} features where the first has "
                f"{len(self.names) - 1}; every batch needs the same columns."
            )
        new = dict(zip(table.names, self.names, strict=True))
        table.matrix_names = [new[name] for name in table.matrix_names]
        for column in table.columns:
            column.name = new[column.name]
        table.names = self.names


def read_pair(X: Any, y: Any, options: Options, where: str) -> tuple[Table | None, Plan | None]:
    """A table from ``X`` and ``y``; None if it has no rows."""
    n = X.shape[0]
    if y is None and options.target is not False:
        raise DataError(
            f"{where} has no y; give pairs (X, y), or target=False if there is no target."
        )
    values = None
    if y is not None:
        if getattr(y, "ndim", 1) == 0 or not hasattr(y, "__len__"):
            raise DataError(f"{where}: y is {y!r}; give one label or number for each row of X.")
        try:
            values = as_vector(y) if len(y) else np.empty(0)
        except ValueError as error:
            raise DataError(f"{where}: {error}") from None
        if len(values) != n:
            raise DataError(
                f"{where}: X has {n} rows but y has {len(values)} entries; they must be equal."
            )
    if not n:
        return None, None
    table, _ = read_memory(X, Options(target=False), where)
    if values is None:
        return table, make_plan(table.names, Options(False, options.columns, options.drop), where)
    target = "target"
    while target in table.names:
        target += "_"
    if values.dtype.kind == "b":
        values = values.astype(np.int64)
    column = array_column(target, values, where)
    if not column.is_text:  # fit tells classes from a quantity by it
        column.stored = "f" if values.dtype.kind == "f" else "i"
    table.columns = [*table.columns, column]
    table.names = [*table.names, target]
    return table, make_plan(
        table.names, Options(target, options.columns, options.drop), where, target
    )


def _is_named(item: Any) -> bool:
    table = item[0] if isinstance(item, tuple) else item
    return bool(nw.dependencies.is_into_dataframe(table))


def _called(item: Any) -> str:
    if isinstance(item, tuple):
        return f"a tuple of {len(item)}"
    shape = getattr(item, "shape", None)
    return f"{type(item).__name__}" + (f" of shape {shape}" if shape is not None else "")
