"""Tables with named columns: names, kinds of columns, and text or dates in the place of numbers."""

from __future__ import annotations

import datetime
from collections import Counter
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tamiz.validation.errors import SparseInputError

DATES = "turn it into a number, for instance the days since a fixed date."
ENCODE = "Encode text as numbers first, for instance with sklearn.preprocessing.OneHotEncoder."
_READABLE = (1, 3, 11, 13)  # DLPack's devices whose memory the processor reads
_MOMENTS = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def holds_dates(values: Any) -> bool:
    """Whether any entry of a vector is a date."""
    values = as_numpy(values, "y")
    if nw.dependencies.is_into_series(values):
        values = nw.from_native(values, series_only=True).to_numpy()
    found = np.asarray(values, dtype=object if isinstance(values, (list, tuple)) else None)
    if found.dtype.kind != "O":
        return found.dtype.kind == "M"
    return any(isinstance(one, (datetime.date, np.datetime64)) for one in found.ravel())


def is_frame(X: Any) -> bool:
    """Whether X is a table of pandas, polars or another library with named columns."""
    # narwhals takes a quarter of a millisecond to answer: arrays, which come in streams, go first
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return False
    return bool(nw.dependencies.is_into_dataframe(X))


def as_numpy(values: Any, name: str = "X") -> Any:
    """An array of another package (PyTorch, CuPy, JAX, ...) as NumPy's; anything else as it is.

    The rule: what has a shape and speaks DLPack is read through it, from other devices than the
    processor if the package copies. All that is computed from it is NumPy's.
    """
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return values
    if not getattr(values, "shape", ()):  # a single number, or no table of numbers
        return values
    try:
        if int(values.__dlpack_device__()[0]) in _READABLE:
            return np.from_dlpack(values)
        return np.from_dlpack(values, device="cpu")  # NumPy 2.1 and newer
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        package = type(values).__module__.partition(".")[0]
        raise ValueError(
            f"{name} is an array of {package} that NumPy cannot read ({error}); turn it into one "
            f"first, for instance with {name}.detach().cpu().numpy() for PyTorch or cupy.asnumpy."
        ) from error


def names_of(X: Any) -> list[Any] | None:
    if is_frame(X):
        columns = getattr(X, "columns", None)
        return list(columns) if columns is not None else None
    return None


def refuse_duplicate_names(X: Any, called: str = "X", each: str = "feature") -> None:
    _refuse_what_is_no_table(X)
    names = names_of(X)
    if names is None:
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"{called} has {len(twice)} column name(s) more than once, first {twice[0]!r}; rename "
            f"the columns so that every {each} has a name of its own."
        )


def _refuse_what_is_no_table(X: Any) -> None:
    if X is None or isinstance(X, (str, bytes)):
        raise ValueError(
            f"Expected 2D array, but X is {X!r}; pass a table with one row for each sample."
        )
    if isinstance(X, (dict, set, frozenset)) and not sparse.issparse(X):  # dok is a dict
        raise ValueError(
            f"Expected 2D array, but X is a {type(X).__name__}; pass a table with one row for "
            "each sample, for instance pandas.DataFrame(X)."
        )
    if not isinstance(X, np.ndarray) and nw.dependencies.is_into_series(X):
        raise ValueError(
            "Expected 2D array, but X is a single row or column (a Series); pass "
            f"{_one_row(X)} for one row, or frame[['name']] for one column."
        )
    if nw.dependencies.is_pyarrow_table(X):
        raise ValueError(
            "X is a pyarrow Table, which is not taken as it is; pass X.to_pandas() or "
            "polars.from_arrow(X)."
        )
    if nw.dependencies.is_polars_lazyframe(X):
        raise ValueError("X is a LazyFrame, whose values are not there yet; pass X.collect().")
    refuse_complex(X, "X")


def _one_row(series: Any) -> str:
    return "frame[:1]" if nw.dependencies.is_polars_series(series) else "frame.iloc[[0]]"


def refuse_sparse_columns(X: Any) -> None:
    """pandas' sparse columns need another remedy than a sparse matrix."""
    if has_sparse_columns(X):
        raise SparseInputError(
            "X is a data frame with sparse columns where dense ones are needed; pass "
            "X.sparse.to_dense()."
        )


def has_sparse_columns(X: Any) -> bool:
    if not nw.dependencies.is_pandas_dataframe(X):
        return False
    return any(type(dtype).__name__ == "SparseDtype" for dtype in X.dtypes)


def refuse_complex(values: Any, name: str) -> None:
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "") == "c":
        raise ValueError(
            f"Complex data not supported: {name} is of type {dtype}. Pass real numbers, for "
            "instance the real and the imaginary parts as features of their own."
        )


def refuse_text(X: Any) -> None:
    """Name the first cell that holds text which is not a number."""
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        for column in frame.iter_columns():  # names need not be text
            name, dtype = column.name, column.dtype
            if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
                _refuse_text_column(column.to_list(), f"column {name!r}")
            elif dtype in (nw.Datetime, nw.Date, nw.Duration):
                raise ValueError(
                    f"X column {name!r} holds dates or times ({dtype}) where numbers are needed; "
                    f"{DATES}"
                )
        return
    if sparse.issparse(X) or not isinstance(X, (list, tuple, np.ndarray)):
        return
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(f"X holds dates or times ({X.dtype}) where numbers are needed; {DATES}")
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OUS":
        return
    try:
        table = np.asarray(X, dtype=object)
    except ValueError:  # ragged: scikit-learn has the sentence
        return
    if table.ndim == 1 and not any(isinstance(value, (list, tuple)) for value in table):
        _refuse_text_column(table, "(one list, no columns)")
    if table.ndim == 2:
        for j in range(table.shape[1]):
            _refuse_text_column(table[:, j], f"column {j}")


def _refuse_text_column(values: Any, where: str) -> None:
    for i, value in enumerate(values):
        if isinstance(value, (str, bytes)) and not _is_number(value):
            raise ValueError(
                f"X {where} holds text where numbers are needed: {value!r} at row {i}. {ENCODE}"
            )
        if isinstance(value, _MOMENTS):
            raise ValueError(
                f"X {where} holds dates or times where numbers are needed: {value} at row {i}; "
                f"{DATES}"
            )


def refuse_text_rows(X: Any) -> None:
    """Refuse samples that are single strings where rows of numbers are needed."""
    first = _first_of_one_column(X)
    if isinstance(first, str) and not _is_number(first):
        raise ValueError(
            f"X holds text, such as {first[:40]!r}, and this kernel compares rows of numbers: text "
            "needs a string kernel: kernel=GapWeighted() of tamiz.kernels. Categories have to be "
            "encoded as numbers, for instance with sklearn.preprocessing.OneHotEncoder."
        )


def _first_of_one_column(X: Any) -> Any:
    """The first value of a list, an array with one axis or column, or a Series; else None."""
    if type(X) is np.ndarray:  # asked first: arrays come in streams
        one = X.dtype.kind in "OUT" and X.size and (X.ndim == 1 or X.shape[1:] == (1,))
        return X.flat[0] if one else None
    if isinstance(X, list | tuple):
        return X[0] if X else None
    if nw.dependencies.is_into_series(X):
        values = nw.from_native(X, series_only=True)
        return values[0] if len(values) else None
    if is_frame(X) and len(getattr(X, "columns", ())) == 1:
        values = nw.from_native(X, eager_only=True)[:, 0]
        return values[0] if len(values) else None
    return None


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
