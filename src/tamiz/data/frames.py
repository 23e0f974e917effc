"""Tables in memory: pandas, polars and pyarrow through narwhals; arrays; sparse matrices."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tamiz.data.column import Column, Table, distinct_names, numbered
from tamiz.data.errors import DataError
from tamiz.data.npz import from_array, object_column
from tamiz.data.plan import Options, Plan, make_plan

_MOMENTS = ("Date", "Datetime", "Duration", "Time")  # older versions of narwhals lack Time


def read_memory(source: Any, options: Options, shown: str = "the table") -> tuple[Table, Plan]:
    """A table from a data frame, an array or a sparse matrix."""
    if nw.dependencies.is_polars_lazyframe(source):
        raise DataError(f"{shown} is a LazyFrame, whose values are not there yet; hand over "
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
            f"A data set cannot be made of {type(source).__name__}; hand over a name, a path, a "
            "pandas or polars frame, or a 2-D array."
        )
    return read_frame(source, options, shown)


def read_frame(frame: Any, options: Options, shown: str) -> tuple[Table, Plan]:
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
    return Table(columns, shown, [], numbered(shown, renamed), names=names), plan


def frame_column(name: str, series: Any, shown: str) -> Column:
    """A column from a series of narwhals."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        if dtype == nw.Boolean or series.null_count():
            cells = series.to_list()
            return Column(name, np.array([_number(cell) for cell in cells]))
        return Column(name, np.asarray(series.to_numpy(), dtype=np.float64))
    if type(dtype).__name__ in _MOMENTS or dtype in (nw.Date, nw.Datetime, nw.Duration):
        cells = [None if cell is None else str(cell) for cell in series.to_list()]
        return Column.from_cells(name, cells, date=True)
    if dtype in (nw.Categorical, nw.Enum):
        levels = [str(level) for level in series.cat.get_categories().to_list()]
        place = {level: k for k, level in enumerate(levels)}
        codes = [-1 if _gone(cell) else place[str(cell)] for cell in series.to_list()]
        return Column(name, None, np.array(codes, dtype=np.int32), levels, declared=True)
    if dtype == nw.String:
        cells = [None if _gone(cell) or not cell.strip() else cell for cell in series.to_list()]
        return Column.from_cells(name, cells)
    if dtype in (nw.Object, nw.Unknown):
        return object_column(name, [None if _gone(cell) else cell for cell in series.to_list()])
    raise DataError(
        f"{shown}: column {name!r} is of type {dtype}, which is neither numbers nor text; leave it "
        "out with drop=."
    )


def _gone(cell: Any) -> bool:
    """Whether a cell stands for a missing value: None, NaN, NaT, or pandas' NA."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float) and cell != cell


def _number(cell: Any) -> float:
    return np.nan if _gone(cell) else float(cell)


def _read_sparse(matrix: Any, options: Options, shown: str) -> tuple[Table, Plan]:
    names = [f"x{j}" for j in range(matrix.shape[1])]
    return from_csr(matrix[: options.nrows], names, [], shown, options)


def from_csr(
    matrix: Any,
    names: list[str],
    columns: list[Column],
    shown: str,
    options: Options,
    hint: str | None = None,
) -> tuple[Table, Plan]:
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
    table = Table(columns, shown, matrix=matrix, matrix_names=names, names=all_names)
    return table, plan
