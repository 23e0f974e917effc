"""Tables in memory: pandas, polars and pyarrow through narwhals; arrays; sparse matrices.

Also pairs ``(X, y)`` of them, and iterables of such tables or pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tamiz.data.column import Column, RawTable, distinct_names, is_mixed, levels_of, numbered
from tamiz.data.errors import DataError, Finding
from tamiz.data.formats.base import Reader, cut_table
from tamiz.data.plan import ColumnPlan, Options, make_plan
from tamiz.validation import as_numpy, as_vector

AGAIN = (
    "A generator can be read once only, and it was read already; pass a function that makes "
    "a fresh one, such as batches(lambda: rows()), or a list."
)
_MOMENTS = ("Date", "Datetime", "Duration", "Time")  # older versions of narwhals lack Time


def read_memory(
    source: Any, options: Options, shown: str = "the table"
) -> tuple[RawTable, ColumnPlan]:
    """A table from a data frame, an array or a sparse matrix."""
    source = as_numpy(source, shown)
    if nw.dependencies.is_polars_lazyframe(source):
        raise DataError(f"{shown} is a LazyFrame, whose values are not there yet; pass "
                        "source.collect().")  # fmt: skip
    if sparse.issparse(source):
        return _read_sparse(source.tocsr(), options, shown)
    if isinstance(source, (list, tuple)) and source and isinstance(source[0], (list, tuple)):
        width = len(source[0])
        for i, row in enumerate(source):
            if len(row) != width:
                raise DataError(f"{shown}: row {i} has {len(row)} cells where row 0 has {width}.")
        array = np.empty((len(source), width), dtype=object)
        array[:] = source
        source = array
    if isinstance(source, np.ndarray):
        if source.ndim != 2:
            raise DataError(
                f"{shown} has shape {source.shape}; it needs one row for each sample and one "
                "column for each feature."
            )
        names = [f"x{j}" for j in range(source.shape[1])]
        return from_array(source[: options.nrows], names, [], shown, options)
    if not nw.dependencies.is_into_dataframe(source):
        raise DataError(
            f"A data set cannot be made of {type(source).__name__}; pass a name, a path, a "
            "pandas or polars frame, or a 2-D array."
        )
    return read_frame(source, options, shown)


def read_frame(frame: Any, options: Options, shown: str) -> tuple[RawTable, ColumnPlan]:
    """A table from anything that narwhals knows as an eager data frame."""
    original = [str(name) for name in getattr(frame, "columns", [])]
    if nw.dependencies.is_pyarrow_table(frame):
        original = list(frame.column_names)
    names, renamed = distinct_names(original)
    if nw.dependencies.is_pandas_dataframe(frame):
        frame = frame.copy(deep=False)  # the caller's names stay
        frame.columns = names
    elif renamed:
        frame = frame.rename_columns(names)
    if not names:
        raise DataError(f"{shown} has no columns.")
    plan = make_plan(names, options, shown)
    table = nw.from_native(frame, eager_only=True).head(
        options.nrows if options.nrows is not None else len(frame)
    )
    if not len(table):
        raise DataError(f"{shown} holds no rows; a data set needs at least one.")
    wanted = set(plan.names)
    columns = [frame_column(name, table[name], shown) for name in names if name in wanted]
    return RawTable(columns, shown, [], numbered(shown, renamed), names=names), plan


def frame_column(name: str, series: Any, shown: str) -> Column:
    """A column from a series of narwhals."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        if dtype == nw.Boolean or series.null_count():
            cells = series.to_list()
            return Column(name, np.array([_number(cell) for cell in cells]))
        return Column(name, np.asarray(series.to_numpy(), dtype=np.float64))
    if type(dtype).__name__ in _MOMENTS or dtype in (nw.Date, nw.Datetime, nw.Duration):
        cells = [None if _is_missing(cell) else str(cell) for cell in series.to_list()]
        return Column.from_cells(name, cells, date=True)
    if dtype in (nw.Categorical, nw.Enum):
        levels = [str(level) for level in series.cat.get_categories().to_list()]
        place = {level: k for k, level in enumerate(levels)}
        codes = [-1 if _is_missing(cell) else place[str(cell)] for cell in series.to_list()]
        return Column(name, None, np.array(codes, dtype=np.int32), levels, declared=True)
    if dtype == nw.String:
        cells = [
            None if _is_missing(cell) or not cell.strip() else cell for cell in series.to_list()
        ]
        return Column.from_cells(name, cells)
    if dtype in (nw.Object, nw.Unknown):
        return object_column(
            name, [None if _is_missing(cell) else cell for cell in series.to_list()]
        )
    raise DataError(
        f"{shown}: column {name!r} is of type {dtype}, which is neither numbers nor text; leave it "
        "out with drop=."
    )


def _number(cell: Any) -> float:
    return np.nan if _is_missing(cell) else float(cell)


def _read_sparse(matrix: Any, options: Options, shown: str) -> tuple[RawTable, ColumnPlan]:
    names = [f"x{j}" for j in range(matrix.shape[1])]
    return from_csr(matrix[: options.nrows], names, [], shown, options)


def from_csr(
    matrix: Any,
    names: list[str],
    columns: list[Column],
    shown: str,
    options: Options,
    hint: str | None = None,
) -> tuple[RawTable, ColumnPlan]:
    """A table from a sparse matrix and further columns."""
    if not matrix.shape[0]:
        raise DataError(f"{shown} holds no rows; a data set needs at least one.")
    if not names and not columns:
        raise DataError(f"{shown} has no columns; a data set needs at least one.")
    matrix = sparse.csr_matrix(matrix, dtype=np.float64)
    plan = make_plan([*names, *(column.name for column in columns)], options, shown, hint)
    all_names = [*names, *(column.name for column in columns)]
    if plan.target in names:
        j = names.index(plan.target)
        columns = [*columns, Column(plan.target, matrix[:, [j]].toarray().ravel())]
        kept = [k for k in range(len(names)) if k != j]
        matrix, names = matrix[:, kept], [names[k] for k in kept]
    table = RawTable(columns, shown, matrix=matrix, matrix_names=names, names=all_names)
    return table, plan


def from_array(
    X: np.ndarray,
    names: list[str],
    columns: list[Column],
    shown: str,
    options: Options,
    hint: str | None = None,
    extras: dict[str, np.ndarray] | None = None,
    warnings: list[Finding] | None = None,
) -> tuple[RawTable, ColumnPlan]:
    """A table from a matrix of numbers (or text) and further columns."""
    if not len(X):
        raise DataError(f"{shown} holds no rows; a data set needs at least one.")
    if not names and not columns:
        raise DataError(f"{shown} has no columns; a data set needs at least one.")
    matrix = None
    all_names = [*names, *(column.name for column in columns)]
    if X.dtype.kind in "biuf":
        matrix = np.ascontiguousarray(X, dtype=np.float64)
        matrix_names = names
    else:
        columns = [array_column(name, X[:, j], shown) for j, name in enumerate(names)] + columns
        matrix_names = []
    plan = make_plan(all_names, options, shown, hint)
    if plan.target in matrix_names:  # a column of the matrix is the target
        j = matrix_names.index(plan.target)
        assert matrix is not None
        columns.append(Column(plan.target, matrix[:, j].copy()))
        matrix = np.delete(matrix, j, axis=1)
        matrix_names = [name for name in matrix_names if name != plan.target]
    table = RawTable(columns, shown, [], warnings or [], matrix, matrix_names, hint, extras or {})
    return table, plan


def array_column(name: str, array: np.ndarray, shown: str) -> Column:
    """A column from a one-dimensional array of numbers, text or Python objects."""
    if array.dtype.kind in "biuf":
        return Column(name, array.astype(np.float64))
    if array.dtype.kind in "Mm":
        cells = [None if np.isnat(cell) else str(cell) for cell in array]
        return Column.from_cells(name, cells, date=True)
    if array.dtype.kind in "US":
        return Column.from_cells(name, [cell or None for cell in texts_of(array, name, shown)])
    if array.dtype.kind == "O":
        return object_column(name, array.tolist())
    raise DataError(
        f"{shown}: {name!r} is of type {array.dtype}, which is neither numbers nor text."
    )


def texts_of(array: np.ndarray, name: str, shown: str) -> list[str]:
    """Text from an array of text; its bytes may stand for no letters."""
    try:
        cells = (np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array).tolist()
        "".join(cells).encode("utf-8")
    except (ValueError, SystemError):
        raise DataError(
            f"{shown}: {name!r} holds bytes that are no text in UTF-8; save it again as text "
            "(dtype str)."
        ) from None
    return cells


def object_column(name: str, cells: list[Any]) -> Column:
    """A column from Python values: numbers if all are, else text."""
    cells = [None if _is_missing(cell) else cell for cell in cells]
    if all(cell is None or isinstance(cell, Real) for cell in cells):
        return Column(name, np.array([np.nan if c is None else float(c) for c in cells]))
    return Column.from_cells(name, levels_of(cells), mixed=is_mixed(cells))


def _is_missing(cell: Any) -> bool:
    """None, NaN, NaT, or pandas' NA, of which even ``NA != NA`` is unknown."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return bool(cell != cell)


# ------------------------------------------------------------------ pairs and iterables


def is_table(value: Any) -> bool:
    """Whether a value is one table in memory: a frame, a sparse matrix or a 2-D array.

    Arrays, those of other packages included, are known by what ``as_numpy`` reads.
    """
    if sparse.issparse(value) or nw.dependencies.is_into_dataframe(value):
        return True
    return hasattr(value, "__dlpack_device__") and len(getattr(value, "shape", ())) == 2


def is_pair(value: Any) -> bool:
    """Whether a value is ``(X, y)``."""
    return isinstance(value, tuple) and len(value) == 2 and is_table(value[0])


def read_pair(
    X: Any, y: Any, options: Options, where: str
) -> tuple[RawTable | None, ColumnPlan | None]:
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


class TableIterator(Reader):
    """Tables from an iterable, from a function that makes an iterator, or from a generator.

    The first table gives the names; arrays have none, and need as many columns.
    """

    own_thread = False
    own_batches = True
    in_memory = True

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
        self._plan: ColumnPlan | None = None

    def plan(self) -> ColumnPlan:
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

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[RawTable]:
        self.plan()
        for k, item in enumerate(self._again()):
            table, _ = self._read(item, k)
            if table is not None:
                yield from cut_table(table, rows)

    def first(self, rows: int | None) -> RawTable | None:
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
                f"The function passed as source gives {type(made).__name__}, which cannot be "
                "iterated over; let it give an iterator of (X, y) pairs or of frames."
            )
        return iter(made)

    def _read(self, item: Any, k: int) -> tuple[RawTable | None, ColumnPlan | None]:
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

    def _rename(self, table: RawTable, where: str) -> None:
        """Columns without names take those of the first table, by their place."""
        if len(table.names) != len(self.names):
            raise DataError(
                f"{where} has {len(table.names) - 1} features where the first has "
                f"{len(self.names) - 1}; every batch needs the same columns."
            )
        table.rename(dict(zip(table.names, self.names, strict=True)))
        table.names = self.names
