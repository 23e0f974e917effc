"""Tables of numbers: shape, type, missing and infinite values, and how large the values are.

scikit-learn's own checks do the general work; what is added here is the sentence: which argument,
which value, where, and what to do about it. What scikit-learn raises becomes an error class of
ours here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, TypeAlias

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from tamiz.validation.errors import (
    MissingValuesError,
    NoFeaturesError,
    NotEnoughMemoryError,
    ParameterError,
    SparseInputError,
)
from tamiz.validation.frames import (
    as_numpy,
    has_sparse_columns,
    is_frame,
    names_of,
    refuse_complex,
    refuse_duplicate_names,
    refuse_sparse_columns,
    refuse_text,
)
from tamiz.validation.memory import require_memory

Matrix: TypeAlias = Any  # a float64 array or a CSR matrix; SciPy has no common static type
Array: TypeAlias = NDArray[np.float64]

IMPUTE = (
    "Fill the missing values first (for instance sklearn.impute.SimpleImputer in a Pipeline) "
    "or leave these rows out."
)
TOO_LARGE = (
    "X has very large values, whose squares or products are beyond what float64 holds. Scale the "
    "features first, for instance with sklearn.preprocessing.StandardScaler."
)
TOO_FAR = (
    "in the feature space of the kernel, the samples are too far from the origin for how little "
    "they differ, and rounding of kernel values hides it. Subtract the mean of each feature, or "
    "scale the features (sklearn.preprocessing.StandardScaler)."
)
LARGE_TARGET = TOO_LARGE.replace("X has", "y has", 1).replace("the features", "the target", 1)
_SHOWN_ARRAY = re.compile(r":\narray=.*\.\n(?=Reshape)", re.DOTALL)
_LESS = "Use fewer samples or features at a time, or a machine with more memory."
_PARTS = (
    "Use fewer samples or features at a time, pass float64 in rows (numpy.ascontiguousarray), or "
    "read the table in parts: fit_stream of the filters, partial_fit of streaming machines."
)
_ONE_COLUMN = "Pass X with at least one column."
#: A feature this many times farther from zero than it is wide loses digits in inner products.
_FAR = 1e4
#: That many times where an answer hangs on the last of them.
_FAR_EXACT = 100.0
#: A mean within such a part of that in standard deviations rules it out: half the range is no less
#: than the standard deviation, and the middle no further than that from the mean.
_NEAR = 0.1
#: Penalties beyond this, or below one over it, leave no room for their squares and products.
_EXTREME = 1e100

#: What to do about the complaints that scikit-learn leaves without an advice.
_ADVICE = {
    "dim <= 2 is required": "Pass X with one row for each sample and one column for each "
    "feature; use reshape if it has more dimensions.",
    "expected <= 2": "Pass X with one row for each sample and one column for each feature; "
    "use reshape if it has more dimensions.",
    "is expecting": "Pass X with the features that fit saw, in the same order.",
    "feature names should match": "Pass X with the columns that fit saw, in the same order.",
}


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Let a fit that fails leave the estimator as it was: an earlier fit stays usable."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException as error:
        vars(estimator).clear()
        vars(estimator).update(before)
        if isinstance(error, MemoryError) and not isinstance(error, NotEnoughMemoryError):
            raise out_of_memory(type(estimator).__name__, error) from None
        raise


def out_of_memory(who: str, error: MemoryError) -> NotEnoughMemoryError:
    """A sentence in the place of an allocation that failed."""
    what = " ".join(str(error).split()).rstrip(".")
    return NotEnoughMemoryError(
        f"{who} ran out of memory{f' ({what})' if what else ''}. {_LESS}", remedy=_LESS
    )


def check_X(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    accept_sparse: bool = False,
    min_samples: int = 1,
    allow_nan: bool = False,
) -> Any:
    """Return ``X`` as a C-contiguous float64 table (or CSR if sparse input is accepted).

    ``reset`` is true in ``fit``: names and number of features are then recorded, otherwise
    compared with those recorded.
    """
    X = as_numpy(X)
    require_copy(X)
    if reset:
        _require_tables(estimator, X)
    table = _plain_table(estimator, X, reset, min_samples)
    if table is not None:
        return table
    refuse_duplicate_names(X)
    if is_frame(X):
        _refuse_no_columns(X)
    refuse_text(X)
    if not accept_sparse:
        refuse_sparse_columns(X)
    from sklearn.utils.validation import validate_data  # not at start, for the sake of commands

    with in_our_words(X, min_samples=min_samples, allow_nan=allow_nan):
        try:
            X = validate_data(
                estimator,
                X,
                reset=reset,
                accept_sparse="csr" if accept_sparse else False,
                dtype=np.float64,
                order="C",
                ensure_min_samples=min_samples,
                ensure_all_finite="allow-nan" if allow_nan else True,
            )
        except TypeError as error:
            if sparse.issparse(X) and not accept_sparse:
                raise SparseInputError(str(error)) from None
            raise
    if sparse.issparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()  # the caller's matrix stays as it is
            X.sum_duplicates()
        if X.indices.dtype != np.int32 and X.shape[1] < 2**31 and X.nnz < 2**31:
            indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
            X = type(X)((X.data, indices, indptr), shape=X.shape)
    return X


def require_copy(X: Any, name: str = "X") -> None:
    """Refuse a table whose copy in float64, row by row, memory does not hold.

    An array that is one already is not copied. Tables of unknown size, such as lists, pass.
    """
    shape = _known_shape(X)
    if shape is None:
        return
    if sparse.issparse(X):
        if X.format == "csr" and X.dtype == np.float64:
            return
        n_bytes, values = 12 * X.nnz, f"{X.nnz:,} stored values"
    else:
        kept = isinstance(X, np.ndarray) and X.dtype == np.float64 and X.flags.c_contiguous
        if kept:
            return
        n_bytes, values = 8 * shape[0] * shape[1], f"{shape[0]:,} × {shape[1]:,} values"
    require_memory(n_bytes, f"{name} is copied into float64, row by row, with its {values}", _PARTS)


def _known_shape(X: Any) -> tuple[int, int] | None:
    """Rows and columns of a table that says how many it has."""
    shape: Any = getattr(X, "shape", ())
    if len(shape) != 2 or not all(isinstance(size, Integral) for size in shape):
        return None
    return int(shape[0]), int(shape[1])


def _require_tables(estimator: Any, X: Any) -> None:
    """Refuse a fit that works on several tables of the size of ``X``, if memory lacks them.

    How many it takes beside ``X`` a class says as ``_tables``.
    """
    tables = getattr(type(estimator), "_tables", 0)
    shape = _known_shape(X) if tables and not sparse.issparse(X) else None
    if shape is not None:
        n, p = shape
        require_memory(
            8 * tables * n * p,
            f"{type(estimator).__name__} works on about {tables} tables of {n:,} × {p:,} values",
            "Use fewer samples, or select features first by a filter of single features, such as "
            "FisherScore.",
        )


@contextmanager
def in_our_words(X: Any, *, min_samples: int = 1, allow_nan: bool = False) -> Iterator[None]:
    """Let scikit-learn check ``X``, and say in our sentences what it complains of."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # it sums, to see whether all are finite
            yield
    except ValueError as error:
        if _speaks_of_non_finite(error):
            _refuse_non_finite(X, allow_nan)
        text = _without_values(str(error).rstrip())
        if "0 sample(s)" in text:
            rows = "one row" if min_samples < 2 else f"{min_samples} rows"
            raise type(error)(f"{text} Pass X with at least {rows}.") from None
        if "0 feature(s)" in text:
            raise NoFeaturesError(f"{text} {_ONE_COLUMN}") from None
        for complaint, advice in _ADVICE.items():
            if complaint in text:
                separator = "\n" if "\n" in text else " "
                raise type(error)(text + separator + advice) from None
        if text == str(error).rstrip():
            raise
        raise ValueError(text) from None


def _without_values(text: str) -> str:
    """A complaint of scikit-learn's without the array that it shows, up to a thousand numbers."""
    return _SHOWN_ARRAY.sub(".\n", text)


def check_frame(estimator: Any, X: Any, *, reset: bool, min_samples: int = 1) -> Any:
    """Return ``X`` itself if it is a table with named columns; None for anything else.

    Its cells are not looked at: text and missing values are left to an estimator that takes tables.
    A table with sparse columns is none.
    """
    if not is_frame(X) or has_sparse_columns(X):
        return None
    from sklearn.utils.validation import validate_data

    refuse_duplicate_names(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    _refuse_no_columns(X)
    n = len(X)
    if n < min_samples:
        raise ValueError(
            f"Found array with {n} sample(s) (shape={X.shape}) while a minimum of {min_samples} is "
            f"required. Pass X with at least {min_samples} row{'s' * (min_samples > 1)}."
        )
    return X


def _refuse_no_columns(frame: Any) -> None:
    if not frame.shape[1]:
        raise NoFeaturesError(
            f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is "
            f"required. {_ONE_COLUMN}"
        )


def _plain_table(estimator: Any, X: Any, reset: bool, min_samples: int) -> np.ndarray | None:
    """An array of numbers with nothing to complain of, checked here; None for all else.

    scikit-learn takes half a millisecond to find the same, through layers that also know data
    frames, sparse matrices and arrays of other packages. Whatever is wrong is left to it and to
    the sentences of this module.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.kind not in "fiub":
        return None
    n, p = X.shape
    if n < max(1, min_samples) or p == 0:
        return None
    if not reset and (
        hasattr(estimator, "feature_names_in_") or getattr(estimator, "n_features_in_", p) != p
    ):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        table = np.ascontiguousarray(X, dtype=np.float64)
        if X.dtype.kind == "f" and not np.isfinite(table.sum()):
            return None
    if reset:
        if hasattr(estimator, "feature_names_in_"):  # of an earlier fit
            del estimator.feature_names_in_
        estimator.n_features_in_ = p
    return table


def require_samples(n: int) -> None:
    """Refuse samples, of whatever kind, of which there are none."""
    if n < 1:
        raise ValueError(
            "Found array with 0 sample(s) while a minimum of 1 is required. Pass X with at "
            "least one sample."
        )


def require_own_background(X: np.ndarray, name: str, fewest: int, advice: str) -> None:
    """Refuse rows of which too few differ to say what is usual: compared with themselves.

    >>> require_own_background(np.ones((3, 2)), "X", 2, "pass background=.")
    Traceback (most recent call last):
        ...
    ValueError: X has 1 different row, in 3, too few to say what is usual: pass background=.
    """
    seen: set[bytes] = set()
    for row in X:
        seen.add((row + 0.0).tobytes())
        if len(seen) >= fewest:
            return
    n = len(seen)
    if n == len(X):
        rows = f"{n} row{'s' * (n != 1)}"
    else:
        rows = f"{n} different row{'s' * (n != 1)}, in {len(X)}"
    raise ValueError(f"{name} has {rows}, too few to say what is usual: {advice}")


def check_squares(X: Any) -> None:
    """Refuse numbers whose squares are beyond float64: no linear machine can use them."""
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore"):
        if not np.isfinite(np.vdot(values, values)):
            raise ValueError(TOO_LARGE)


def check_penalties(values: Any, what: str = "C times sample_weight and class_weight") -> None:
    """Refuse penalties whose squares or reciprocals are beyond float64; the largest one counts."""
    with np.errstate(over="ignore"):
        largest = float(np.max(values))
    if not 1.0 / _EXTREME <= largest <= _EXTREME:
        raise ValueError(
            f"{what} is {largest:.3g}, too extreme for arithmetic in float64. Use a number between "
            "1e-100 and 1e+100, and weights of an average near 1."
        )


def near_zero(X: np.ndarray, limit: float) -> bool:
    """Whether no mean of a column is more than ``limit`` times its standard deviation.

    False also where rounding or overflow leave it open. It costs two products, less than a look
    for the extremes.
    """
    n = X.shape[0]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.ones(n) @ X
        squares = np.einsum("ij,ij->j", X, X)
        # mean^2 <= limit^2 * (mean of squares - mean^2)
        return bool(((1.0 + limit**2) * (sums * sums) <= limit**2 * n * squares).all())


def far_point(X: Any, exact: bool = False) -> np.ndarray | None:
    """A point to measure the samples from, if inner products would lose digits; None otherwise.

    Inner products of samples around 1e9 are near 1e18, and what tells the samples apart is rounded
    away. A linear machine with a free intercept stays the same when all samples are moved by one
    point: this one has the middle of every feature that is far from zero for its range, and zero
    for the others. Sparse samples stay where they are, since they would not stay sparse.
    ``exact`` is for machines that have to say what no hyperplane can do.
    """
    far = _FAR_EXACT if exact else _FAR
    if sparse.issparse(X) or X.ndim != 2 or not X.size or near_zero(X, _NEAR * far):
        return None
    low, high = X.min(axis=0), X.max(axis=0)
    middle, width = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    widest = float(width.max())
    if not widest > 0:  # every feature is constant
        return None
    moved = np.abs(middle) / far > np.where(width > 0, width, widest)
    return np.where(moved, middle, 0.0) if moved.any() else None


def check_square(K: np.ndarray) -> None:
    """Refuse a precomputed Gram matrix of the wrong shape."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be a square matrix; X has shape {K.shape}. With "
            'kernel="precomputed", X holds the kernel values of all pairs of training samples.'
        )


def symmetric_matrix(name: str, value: Any, least: int = 0) -> Array:
    """The check for a square matrix of finite numbers that is symmetric up to rounding.

    ``name`` begins with the symbol of the matrix, as "B of QuadraticForm" does; ``least`` is the
    least number of its rows.
    """
    short = name.split()[0]

    def wrong(why: str) -> ParameterError:
        return ParameterError(f"{name} {why}", parameter=short, value=value)

    try:
        matrix: Array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong("must be a square matrix of numbers.") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < least:
        raise wrong(f"must be a square matrix, it has shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise wrong("holds NaN or infinite entries; all must be finite.")
    if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-8 * np.abs(matrix).max(initial=0.0):
        raise wrong(f"is not symmetric; pass ({short} + {short}.T) / 2.")
    return matrix


def check_symmetric(K: np.ndarray) -> None:
    """Refuse a precomputed Gram matrix that is not symmetric up to rounding."""
    scale = np.abs(K).max(initial=0.0)
    for start in range(0, len(K), 512):
        difference = np.abs(K[start : start + 512] - K[:, start : start + 512].T)
        if difference.max() > 1e-6 * scale:
            i, j = np.unravel_index(difference.argmax(), difference.shape)
            i += start
            raise ValueError(
                f"The precomputed kernel matrix is not symmetric: X[{i}, {j}] is {K[i, j]:.6g} but "
                f"X[{j}, {i}] is {K[j, i]:.6g}. Use (X + X.T) / 2 if the difference is only "
                "rounding."
            )


def as_samples(X: ArrayLike, name: str, owner: str, *, accept_sparse: bool) -> Matrix:
    """Return samples as a C-contiguous float64 table, or as CSR where that is accepted."""
    X = as_numpy(X, name)
    refuse_complex(X, name)
    require_copy(X, name)
    if sparse.issparse(X):
        if not accept_sparse:
            raise TypeError(
                f"{name} is sparse, but {owner} needs dense samples here; pass {name}.toarray()."
            )
        matrix = sparse.csr_matrix(X, dtype=np.float64)
        if not matrix.shape[1]:
            raise ValueError(
                f"{name} has no columns (shape {matrix.shape}); pass at least one feature."
            )
        if not matrix.has_canonical_format:  # sorted indices make products exactly symmetric
            matrix = matrix.copy()
            matrix.sum_duplicates()
        _require_finite(matrix.data, name)
        return matrix
    try:
        table = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must hold numbers in rows and columns for {owner}; encode text first."
        ) from None
    if np.ndim(X) != 2:
        raise ValueError(
            f"{name} must have two dimensions, one row for each sample; it has shape "
            f"{np.shape(X)}. Use reshape(1, -1) for one sample, reshape(-1, 1) for one feature."
        )
    if not table.shape[1]:
        raise ValueError(f"{name} has no columns (shape {table.shape}); pass at least one feature.")
    _require_finite(table, name)
    return table


def check_same_width(X: Matrix, Z: Matrix) -> None:
    """Refuse two sets of samples with different numbers of features."""
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"both sets of samples must have the same features; one has {X.shape[1]} columns, "
            f"the other {Z.shape[1]}."
        )


def _require_finite(values: NDArray[Any], name: str) -> None:
    # The sum is finite unless some value is not (or, harmlessly, unless it overflows).
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    raise ValueError(
        f"{name} holds NaN or infinite values; fill or drop them first "
        "(for instance with sklearn.impute.SimpleImputer)."
    )


def _speaks_of_non_finite(error: ValueError) -> bool:
    text = str(error)
    return "NaN" in text or "infinity" in text


def refuse_missing(table: np.ndarray, names: Any = None) -> None:
    """Refuse NaN in a checked table, and say where the first is; ``names`` are the columns'."""
    rows, columns = np.nonzero(np.isnan(table))
    if not len(rows):
        return
    column = str(columns[0]) if names is None else repr(names[columns[0]])
    raise MissingValuesError(
        f"Input X contains NaN (first at row {rows[0]}, column {column}; {len(rows)} in all). "
        f"{IMPUTE}",
        row=int(rows[0]),
        column=int(columns[0]),
        count=len(rows),
    )


def _refuse_non_finite(X: Any, allow_nan: bool) -> None:
    """Say where the first NaN or infinity is, if it can be located."""
    names = names_of(X)
    try:
        if sparse.issparse(X):
            coo = X.tocoo()
            bad = ~np.isfinite(coo.data)
            rows, cols, values = coo.row[bad], coo.col[bad], coo.data[bad]
        else:
            if nw.dependencies.is_pandas_dataframe(X):  # nullable columns hold NA, not NaN
                X = X.to_numpy(dtype=np.float64, na_value=np.nan)
            elif names is not None:
                X = nw.from_native(X, eager_only=True).to_numpy()
            table = np.asarray(X, dtype=np.float64)
            rows, cols = np.nonzero(np.isinf(table) if allow_nan else ~np.isfinite(table))
            values = table[rows, cols]
    except (TypeError, ValueError):
        return
    if not len(values):
        return
    column = repr(names[cols[0]]) if names is not None else str(cols[0])
    place = f"first at row {rows[0]}, column {column}; {len(values)} in all"
    if np.isnan(values[0]):
        raise MissingValuesError(
            f"Input X contains NaN ({place}). {IMPUTE}",
            row=int(rows[0]),
            column=int(cols[0]),
            count=len(values),
        ) from None
    raise ValueError(
        f"Input X contains infinity (inf) or a value too large for float64 ({place}). Replace "
        "infinite values by finite ones or leave these rows out."
    ) from None
