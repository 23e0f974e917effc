"""The only place where what a user passes is checked and converted.

Everything behind this module gets contiguous arrays of known type. scikit-learn's own checks do
the general work; what is added here is the sentence: which argument, which value, where, and
what to do about it. Text in the place of numbers has a file of its own, ``_text.py``.
"""

from __future__ import annotations

import numbers
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from tamiz.validation.errors import (
    MissingValuesError,
    NoFeaturesError,
    OneClassError,
    SparseInputError,
)
from tamiz.validation.text import DATES, is_frame, refuse_text

IMPUTE = (
    "Fill the gaps first (for instance sklearn.impute.SimpleImputer in a Pipeline) "
    "or leave these rows out."
)
TOO_LARGE = (
    "X has very large values, whose squares or products are beyond what float64 holds. Scale the "
    "features first, for instance with sklearn.preprocessing.StandardScaler."
)
ANNOUNCE = (
    "Name every class of the stream in the first call of partial_fit with classes=..., or start "
    "anew with fit."
)

_ONE_COLUMN = "Pass X with at least one column."

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
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class Labels(NamedTuple):
    """Class labels as a user sees them and as the machines use them."""

    classes: np.ndarray  # the distinct labels, sorted
    codes: np.ndarray  # position of each sample's label in ``classes``


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
    table = _plain_table(estimator, X, reset, min_samples)
    if table is not None:
        return table
    refuse_duplicate_names(X)
    refuse_text(X)
    if not accept_sparse:
        _refuse_sparse_columns(X)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # it sums, to see whether all are finite
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
    except ValueError as error:
        if _speaks_of_non_finite(error):
            _refuse_non_finite(X, allow_nan)
        text = str(error).rstrip()
        if "0 sample(s)" in text:
            rows = "one row" if min_samples < 2 else f"{min_samples} rows"
            raise type(error)(f"{text} Pass X with at least {rows}.") from None
        if "0 feature(s)" in text:
            raise NoFeaturesError(f"{text} {_ONE_COLUMN}") from None
        for complaint, advice in _ADVICE.items():
            if complaint in text:
                separator = "\n" if "\n" in text else " "
                raise type(error)(text + separator + advice) from None
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


def check_frame(estimator: Any, X: Any, *, reset: bool, min_samples: int = 1) -> Any:
    """Return ``X`` itself if it is a table with named columns; None for anything else.

    Its cells are not looked at: text and gaps are left to an estimator that takes tables. A table
    with sparse columns is none.
    """
    if not is_frame(X) or has_sparse_columns(X):
        return None
    refuse_duplicate_names(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    n, p = X.shape
    if not p:
        raise NoFeaturesError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required. "
            f"{_ONE_COLUMN}"
        )
    if n < min_samples:
        raise ValueError(
            f"Found array with {n} sample(s) (shape={X.shape}) while a minimum of {min_samples} is "
            f"required. Pass X with at least {min_samples} row{'s' * (min_samples > 1)}."
        )
    return X


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


def check_squares(X: Any) -> None:
    """Refuse numbers whose squares are beyond float64: no linear machine can use them."""
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore"):
        if not np.isfinite(np.vdot(values, values)):
            raise ValueError(TOO_LARGE)


def check_classes(
    y: Any,
    n_samples: int,
    *,
    minimum: int = 2,
    weight: np.ndarray | None = None,
    quantity: str = "use a regression such as SVR",
) -> Labels:
    """Return the distinct labels of ``y`` and the code of each sample.

    With ``weight``, classes all of whose samples have weight zero do not count; the codes of such
    samples are meaningless. ``quantity`` says what to do if ``y`` is a quantity.
    """
    y = _check_target_shape(y, n_samples)
    if not _are_plain_labels(y):
        if y.dtype.kind == "O":
            _refuse_mixed_labels(y)
        try:
            check_classification_targets(y)
        except ValueError as error:
            raise ValueError(
                f"{error} Here y[0] is {y[:1].tolist()[0]!r}: {quantity}, or turn y into classes "
                "first."
            ) from None
    classes, codes = np.unique(y, return_inverse=True)
    rest = ""
    if weight is not None and (weight == 0).any():
        counted = np.flatnonzero(np.bincount(codes, weights=weight, minlength=len(classes)))
        classes, codes = classes[counted], np.searchsorted(counted, codes)
        rest = " with positive sample_weight"
    if len(classes) < minimum:
        label = classes.tolist()[0]
        raise OneClassError(
            f"y holds one class only ({label!r} in all samples{rest}); this method needs samples "
            f"of at least {minimum} classes.",
            label=label,
        )
    return Labels(classes, codes.astype(np.intp))


def looks_like_a_quantity(n_levels: int, n_samples: int) -> bool:
    """Whether whole numbers have so many levels that they are hardly classes."""
    return n_levels > 20 and 10 * n_levels > n_samples


def guess_task(y: np.ndarray) -> str:
    """Whether the checked vector ``y`` is taken for classes or for numbers.

    Text, truth values and whole numbers stored as such are classes. Of numbers stored as floats,
    those with a fractional part are a regression, and so are whole ones with more than twenty
    levels that have fewer than ten samples each; where either reading is plausible, the guess is
    said in a warning.
    """
    if y.dtype.kind != "f":
        return "classification"
    if not _are_plain_labels(y):
        return "regression"
    return task_of_floats(np.unique(y), len(y), stacklevel=4)


def task_of_floats(levels: np.ndarray, n: int, stacklevel: int = 3) -> str:
    """What :func:`guess_task` says of ``n`` numbers stored as floats, by their distinct values."""
    if not _are_plain_labels(levels):
        return "regression"
    n_levels = len(levels)
    if n_levels <= 20:
        return "classification"
    task = "regression" if looks_like_a_quantity(n_levels, n) else "classification"
    if 3 * n_levels <= n:
        other = "classification" if task == "regression" else "regression"
        taken = "a quantity" if task == "regression" else "classes"
        warnings.warn(
            f"y holds {n_levels} different whole numbers in {n} samples, stored as floats; they "
            f'are taken as {taken}. Say so with task="{task}", or use task="{other}".',
            UserWarning,
            stacklevel=stacklevel,
        )
    return task


def warn_of_quantity(labels: Labels, remedy: str) -> None:
    """Warn of whole numbers that were taken as classes and look like a quantity."""
    n_classes, n = len(labels.classes), len(labels.codes)
    if labels.classes.dtype.kind in "iuf" and looks_like_a_quantity(n_classes, n):
        warnings.warn(
            f"y holds {n_classes} different whole numbers in {n} samples, and each is taken as a "
            f"class. If y is a quantity, {remedy}.",
            UserWarning,
            stacklevel=3,
        )


def check_known_classes(
    y: Any, n_samples: int, classes: np.ndarray, *, remedy: str = ANNOUNCE
) -> np.ndarray:
    """Return the code of each sample's label among ``classes``, which are sorted."""
    y = _check_target_shape(y, n_samples)
    codes = np.zeros(len(y), dtype=np.intp)
    try:
        codes[:] = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        unknown = np.flatnonzero(classes[codes] != y)
    except TypeError:  # text compared with numbers
        unknown = np.arange(len(y))
    if len(unknown):
        label = y[unknown[:1]].tolist()[0]
        raise ValueError(
            f"y[{unknown[0]}] is {label!r}, which is not among the classes known so far "
            f"({_listed(classes)}). {remedy}"
        )
    return codes


def check_announced_classes(classes: Any, known: np.ndarray | None) -> np.ndarray:
    """Return the sorted classes of a stream; ``known`` are those of its first call."""
    if classes is None:
        if known is None:
            raise ValueError(
                "classes is None in the first call of partial_fit; pass all labels that the "
                "stream will hold, for instance classes=[0, 1]."
            )
        return known
    if known is not None and np.array_equal(classes, known):  # what every later call says
        return known
    given = check_classes(classes, np.size(classes)).classes
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes is ({_listed(given)}), but the first call of partial_fit had "
            f"({_listed(known)}); leave classes out after the first call, or start anew with fit."
        )
    return given


def check_class_weight(
    class_weight: Any, labels: Labels, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Return one weight for each class: ones, those of a dict, or balanced.

    Balanced weights give every class the same total; they follow from the sums of the sample
    weights, so that a repeated sample and one of weight two have the same effect.
    """
    n_classes = len(labels.classes)
    if class_weight is None:
        return np.ones(n_classes)
    if isinstance(class_weight, str):
        totals = np.bincount(labels.codes, weights=sample_weight, minlength=n_classes)
        return totals.sum() / (n_classes * totals)
    weight = np.ones(n_classes)
    known = {label: k for k, label in enumerate(labels.classes.tolist())}
    for label, value in class_weight.items():
        if label not in known:
            if set(known) <= set(class_weight):  # a fold may lack a class: nothing to complain of
                continue
            raise ValueError(
                f"class_weight names the class {label!r}, which is not among those of y "
                f"({_listed(labels.classes)}); remove it or correct its name."
            )
        if not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf:
            raise ValueError(
                f"class_weight[{label!r}] is {value!r}; weights must be finite numbers and not "
                "negative."
            )
        weight[known[label]] = float(value)
    if not weight.any():
        raise ValueError(
            f"class_weight is zero for every class ({_listed(labels.classes)}); at least one "
            "weight must be positive."
        )
    return weight


def check_regression_target(
    y: Any, n_samples: int, *, labels: str = "Use a classifier for labels."
) -> np.ndarray:
    """Return ``y`` as finite float64 numbers. ``labels`` says what to do about text."""
    y = _check_target_shape(y, n_samples)
    if y.dtype.kind in "mM":
        raise ValueError(f"y holds dates or times ({y.dtype}) where numbers are needed; {DATES}")
    try:
        values = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"y must hold numbers for a regression; it holds {_first_text(y)!r}. {labels}"
        ) from None
    return values


def check_sample_weight(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Return one finite, non-negative weight for each sample (ones if ``None``)."""
    if sample_weight is None:
        return np.ones(n_samples)
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n_samples, float(sample_weight))  # type: ignore[arg-type]
    try:
        weight = np.asarray(sample_weight)
        if weight.dtype.kind == "c":
            raise TypeError
        weight = weight.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold real numbers, one for each sample.") from None
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar; sample_weight has shape {weight.shape}."
        )
    if len(weight) != n_samples:
        raise ValueError(
            f"sample_weight.shape == ({len(weight)},), expected ({n_samples},): it must hold one "
            "weight for each row of X."
        )
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weight[bad[0]]}; weights must be finite and not negative."
        )
    if not weight.any():
        raise ValueError(
            "sample_weight is zero for every sample; at least one weight must be positive."
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(weight.sum()):
            raise ValueError(
                f"sample_weight has entries as large as {weight.max():.3g}, whose sum is beyond "
                "what float64 holds; divide the weights by a common factor."
            )
    return weight


def check_square(K: np.ndarray) -> None:
    """Refuse a precomputed Gram matrix of the wrong shape."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be a square matrix; X has shape {K.shape}. With "
            'kernel="precomputed", X holds the kernel values of all pairs of training samples.'
        )


def check_symmetric(K: np.ndarray) -> None:
    """Refuse a precomputed Gram matrix that is not symmetric up to rounding."""
    scale = np.abs(K).max(initial=0.0)
    for start in range(0, len(K), 512):
        gap = np.abs(K[start : start + 512] - K[:, start : start + 512].T)
        if gap.max() > 1e-6 * scale:
            i, j = np.unravel_index(gap.argmax(), gap.shape)
            i += start
            raise ValueError(
                f"The precomputed kernel matrix is not symmetric: X[{i}, {j}] is {K[i, j]:.6g} but "
                f"X[{j}, {i}] is {K[j, i]:.6g}. Use (X + X.T) / 2 if the difference is only "
                "rounding."
            )


def as_vector(y: Any) -> np.ndarray:
    """``y`` as an array with one axis and without gaps; its length is checked elsewhere.

    A column vector is warned of here, and once only if the result is what is passed on.
    """
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: pass one "
            "label or value for each row of X."
        )
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "biufU":
        from sklearn.utils import column_or_1d

        _refuse_complex(y, "y")
        if not isinstance(y, np.ndarray) and nw.dependencies.is_into_series(y):
            y = nw.from_native(y, series_only=True).to_numpy()
        y = column_or_1d(y, warn=True)
    _refuse_non_finite_target(y)
    return y


def _check_target_shape(y: Any, n_samples: int) -> np.ndarray:
    y = as_vector(y)
    if len(y) != n_samples:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_samples} rows but y has {len(y)} entries; they must be equal."
        )
    return y


def _refuse_mixed_labels(y: np.ndarray) -> None:
    """Text beside numbers has no order, and is hardly meant."""
    if any(isinstance(label, str) for label in y) and not all(isinstance(v, str) for v in y):
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"y mixes labels of different types ({', '.join(kinds)}); use one type for all, for "
            "instance [str(label) for label in y]."
        )


def _are_plain_labels(y: np.ndarray) -> bool:
    """Whole numbers or text in an array: labels for certain, and scikit-learn need not be asked."""
    if y.dtype.kind == "f":
        return bool((y == np.trunc(y)).all() and (np.abs(y) < 2.0**53).all())
    return y.dtype.kind in "biuU"


def _refuse_non_finite_target(y: np.ndarray) -> None:
    if y.dtype.kind == "f":
        bad = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        bad = np.array([_is_missing(v) for v in y], dtype=bool)
    else:
        return
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        count = int(bad.sum())
        if isinstance(y[where], float) and np.isinf(y[where]):
            raise ValueError(
                f"Input y contains infinity (inf) (first at row {where}; {count} in all). Leave "
                "out these rows, or replace the infinite values by finite ones."
            )
        raise MissingValuesError(
            f"Input y contains NaN (first at row {where}; {count} in all). Leave out the rows "
            "whose target is unknown.",
            argument="y",
            row=where,
            count=count,
        )


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return not np.isfinite(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # pandas' own


def _listed(classes: np.ndarray) -> str:
    shown = [repr(label) for label in classes[:10].tolist()]
    return ", ".join(shown) + (", ..." if len(classes) > 10 else "")


def _names_of(X: Any) -> list[Any] | None:
    if is_frame(X):
        columns = getattr(X, "columns", None)
        return list(columns) if columns is not None else None
    return None


def refuse_duplicate_names(X: Any) -> None:
    _refuse_what_is_no_table(X)
    names = _names_of(X)
    if names is None:
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"X has {len(twice)} column name(s) more than once, first {twice[0]!r}; rename the "
            "columns so that every feature has a name of its own."
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
    if nw.dependencies.is_pyarrow_table(X):
        raise ValueError(
            "X is a pyarrow Table, which is not taken as it is; pass X.to_pandas() or "
            "polars.from_arrow(X)."
        )
    if nw.dependencies.is_polars_lazyframe(X):
        raise ValueError("X is a LazyFrame, whose values are not there yet; pass X.collect().")
    _refuse_complex(X, "X")


def _refuse_sparse_columns(X: Any) -> None:
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


def _refuse_complex(values: Any, name: str) -> None:
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "") == "c":
        raise ValueError(
            f"Complex data not supported: {name} is of type {dtype}. Pass real numbers, for "
            "instance the real and the imaginary parts as features of their own."
        )


def _speaks_of_non_finite(error: ValueError) -> bool:
    text = str(error)
    return "NaN" in text or "infinity" in text


def _refuse_non_finite(X: Any, allow_nan: bool) -> None:
    """Say where the first NaN or infinity is, if it can be located."""
    names = _names_of(X)
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


def _first_text(y: np.ndarray) -> Any:
    for value in y.tolist():
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return y[0]
