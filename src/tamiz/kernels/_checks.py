"""Checks of kernel parameters and of the samples a kernel is asked about.

Each check either returns the value in the form the mathematics wants, or raises a sentence that
names the argument, the value and the remedy.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Matrix: TypeAlias = Any  # a float64 array or a CSR matrix; SciPy has no common static type
Array: TypeAlias = NDArray[np.float64]

GAMMA_WORDS = ("scale", "auto")


def check_real(name: str, value: Any, owner: str) -> None:
    """Refuse anything that is not one finite real number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise ValueError(
            f"{name} of {owner} must be a number; got {value!r} of type {type(value).__name__}."
        )
    if not math.isfinite(value):
        raise ValueError(f"{name} of {owner} must be finite; got {value!r}. Pass a finite number.")


def check_positive(name: str, value: Any, owner: str) -> None:
    """Refuse anything that is not a finite number above zero."""
    check_real(name, value, owner)
    if value <= 0:
        raise ValueError(
            f"{name} of {owner} must be above 0; got {value!r}. Pass a positive number."
        )


def check_gamma(value: Any, owner: str) -> None:
    """Refuse a gamma that is neither a positive number nor one of the words of scikit-learn."""
    if isinstance(value, str):
        if value not in GAMMA_WORDS:
            raise ValueError(
                f"gamma of {owner} must be a positive number, 'scale' or 'auto'; got {value!r}."
            )
        return
    check_positive("gamma", value, owner)


def gamma_from(word: str, X: Matrix, weight: Array | None = None) -> float:
    """The number that ``gamma="scale"`` or ``gamma="auto"`` stands for on training samples X."""
    if word == "auto":
        return 1.0 / X.shape[1]
    if weight is not None and np.ptp(weight) > 0:
        total = float(weight.sum()) * X.shape[1]
        mean = float((weight @ X).sum()) / total
        if sparse.issparse(X):
            variance = float((weight @ X.multiply(X)).sum()) / total - mean**2
        else:
            variance = float((weight @ np.square(X - mean)).sum()) / total
    elif sparse.issparse(X):
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        variance = float(X.var())
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def as_samples(X: ArrayLike, name: str, owner: str, *, accept_sparse: bool) -> Matrix:
    """Return samples as a C-contiguous float64 table, or as CSR where that is accepted."""
    if sparse.issparse(X):
        if not accept_sparse:
            raise TypeError(
                f"{name} is sparse, but {owner} needs dense samples here; pass {name}.toarray()."
            )
        matrix = sparse.csr_matrix(X, dtype=np.float64)
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


def require_same_width(X: Matrix, Z: Matrix) -> None:
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
