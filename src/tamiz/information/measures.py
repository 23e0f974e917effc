"""Entropy and mutual information of columns and of tables, for those who want the numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tamiz.gpu import lane_of
from tamiz.information.codes import Codes, DiscreteColumns
from tamiz.information.encoding import DISCRETE, are_continuous, encode
from tamiz.information.on_card import to_card
from tamiz.information.packing import joint_codes
from tamiz.validation import as_numpy, checked, float_type, one_of

_NATS = {"nats": 1.0, "bits": math.log(2.0)}
_UNIT = one_of(*_NATS)


@checked(unit=_UNIT)
def entropy(x: Any, *others: Any, unit: str = "nats") -> float:
    """Entropy of a discrete variable, or joint entropy of several.

    Parameters
    ----------
    x, *others : array-like of shape (n_samples,)
        Values: labels, or numbers with few distinct values. None and NaN are a value like any
        other. Continuous measurements are refused: see :func:`discretise`.
    unit : {"nats", "bits"}, default="nats"
        Base of the logarithm: e or 2.

    Examples
    --------
    >>> from tamiz.information import entropy
    >>> entropy(["a", "b", "b", "a"], unit="bits")
    1.0
    >>> entropy([0, 1, 0, 1], [0, 0, 1, 1], unit="bits")
    2.0
    """
    return _entropy_of_counts(np.bincount(_together(x, *others))) / _NATS[unit]


@checked(unit=_UNIT)
def mutual_information(x: Any, z: Any, *, unit: str = "nats") -> float:
    """Mutual information I(x; z) of two discrete variables.

    Parameters
    ----------
    x, z : array-like of shape (n_samples,)
        Values: labels, or numbers with few distinct values. None and NaN are a value like any
        other. Continuous measurements are refused: see :func:`discretise`.
    unit : {"nats", "bits"}, default="nats"
        Base of the logarithm: e or 2.

    See Also
    --------
    mutual_information_matrix : All pairs of columns of a table, quickly.

    Examples
    --------
    >>> from tamiz.information import mutual_information
    >>> mutual_information([0, 0, 1, 1], ["a", "a", "b", "b"], unit="bits")
    1.0
    >>> mutual_information([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    first, second = _codes_of(x, "x"), _codes_of(z, "z")
    return float(_single(first).against(_same_length(first, second))[0]) / _NATS[unit]


@checked(unit=_UNIT)
def conditional_mutual_information(x: Any, z: Any, given: Any, *, unit: str = "nats") -> float:
    """Conditional mutual information I(x; z | given) of discrete variables.

    Parameters
    ----------
    x, z, given : array-like of shape (n_samples,)
        Values: labels, or numbers with few distinct values. None and NaN are a value like any
        other. Continuous measurements are refused: see :func:`discretise`.
    unit : {"nats", "bits"}, default="nats"
        Base of the logarithm: e or 2.

    Examples
    --------
    Neither of two coins tells about the other, until one knows whether they agree:

    >>> from tamiz.information import conditional_mutual_information
    >>> conditional_mutual_information([0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1], unit="bits")
    1.0
    """
    first = _codes_of(x, "x")
    single = _single(first)
    condition = _same_length(first, _codes_of(given, "given"))
    both = joint_codes(condition, _same_length(first, _codes_of(z, "z")))
    value = float(single.against(both)[0] - single.against(condition)[0])
    return max(value, 0.0) / _NATS[unit]


def symmetrical_uncertainty(x: Any, z: Any) -> float:
    """Symmetrical uncertainty 2 I(x; z) / (H(x) + H(z)), between 0 and 1.

    Of two constants it is 0: neither tells anything.

    Parameters
    ----------
    x, z : array-like of shape (n_samples,)
        Values: labels, or numbers with few distinct values. None and NaN are a value like any
        other. Continuous measurements are refused: see :func:`discretise`.

    Examples
    --------
    >>> from tamiz.information import symmetrical_uncertainty
    >>> symmetrical_uncertainty([0, 0, 1, 1], ["a", "a", "b", "b"])
    1.0
    """
    first, second = _codes_of(x, "x"), _codes_of(z, "z")
    return float(_single(first).against(_same_length(first, second), ratio=True)[0])


def contingency_table(x: Any, z: Any) -> np.ndarray:
    """Number of samples for each pair of values of two discrete variables.

    Rows follow the sorted values of x, columns those of z. Tables of blocks of samples add up.

    Examples
    --------
    >>> from tamiz.information import contingency_table
    >>> contingency_table([0, 0, 1, 1], ["a", "b", "b", "b"])
    array([[1, 1],
           [0, 2]])
    """
    first = _codes_of(x, "x")
    second = _same_length(first, _codes_of(z, "z"))
    shape = (int(first.max()) + 1, int(second.max()) + 1)
    return np.bincount(first * shape[1] + second, minlength=shape[0] * shape[1]).reshape(shape)


@checked(unit=_UNIT)
def information_of_counts(table: Any, *, unit: str = "nats") -> float:
    """Mutual information of rows and columns of a table of counts, or of probabilities.

    Counts of blocks of samples add, so this is what a stream ends with.

    Parameters
    ----------
    table : array of shape (n_rows, n_columns)
        Counts, weights or probabilities; not negative.
    unit : {"nats", "bits"}, default="nats"
        Base of the logarithm: e or 2.

    Examples
    --------
    >>> from tamiz.information import information_of_counts
    >>> information_of_counts([[5, 2, 8], [5, 8, 2]], unit="bits")
    0.18538
    """
    table = np.asarray(table, dtype=np.float64)
    if table.ndim != 2 or not (table >= 0).all() or not np.isfinite(table).all() or not table.sum():
        raise ValueError(
            f"table has shape {table.shape}; it must be a table with two axes of finite counts "
            "that are not negative, at least one of them positive."
        )
    value = (
        _entropy_of_counts(table.sum(axis=0))
        + _entropy_of_counts(table.sum(axis=1))
        - _entropy_of_counts(table.ravel())
    )
    return max(value, 0.0) / _NATS[unit]


@checked(**DISCRETE, unit=_UNIT, dtype=float_type)
def mutual_information_matrix(
    X: Any,
    *,
    rows: Any = None,
    bins: str | None = "mean_std",
    n_bins: int = 5,
    y: Any = None,
    categorical_features: Any = None,
    missing: str = "code",
    unit: str = "nats",
    dtype: Any = np.float64,
    device: str | None = None,
) -> np.ndarray:
    """Mutual information between the columns of a table.

    Every pair is counted once, by population counts of packed bits. Beyond the result, memory is
    two bits per sample, feature and level, and one byte per sample and feature while packing.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    rows : array of int, optional
        Compute these rows of the matrix only.
    bins, n_bins, y, categorical_features, missing
        As in :func:`encode`.
    unit : {"nats", "bits"}, default="nats"
        Base of the logarithm: e or 2.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Type of the result; float32 halves its memory.
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where pairs are counted: on the CPU, on a GPU, or on a GPU if there is one that works. The
        result is the same.

    Returns
    -------
    matrix : array of shape (n_features, n_features) or (len(rows), n_features)
        Entropies on the diagonal.

    See Also
    --------
    Codes.blocks : The same in blocks of rows, for matrices that memory does not hold.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.information import mutual_information_matrix
    >>> X = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    >>> mutual_information_matrix(X, bins=None, unit="bits").round(4)
    array([[1.    , 0.3113],
           [0.3113, 0.8113]])
    """
    lane_of(device)  # a card that is missing is missed before the work
    codes = encode(
        X,
        bins=bins,
        n_bins=n_bins,
        y=y,
        categorical_features=categorical_features,
        missing=missing,
    )
    matrix = _matrix(to_card(codes, device), rows, False, dtype)
    if unit != "nats":
        matrix /= matrix.dtype.type(_NATS[unit])
    return matrix


@checked(**DISCRETE, dtype=float_type)
def symmetrical_uncertainty_matrix(
    X: Any,
    *,
    rows: Any = None,
    bins: str | None = "mean_std",
    n_bins: int = 5,
    y: Any = None,
    categorical_features: Any = None,
    missing: str = "code",
    dtype: Any = np.float64,
) -> np.ndarray:
    """Symmetrical uncertainty between the columns of a table.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    rows : array of int, optional
        Compute these rows of the matrix only.
    bins, n_bins, y, categorical_features, missing
        As in :func:`encode`.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Type of the result.

    Returns
    -------
    matrix : array of shape (n_features, n_features) or (len(rows), n_features)
        Ones on the diagonal, except for constant features, whose rows are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.information import symmetrical_uncertainty_matrix
    >>> X = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    >>> symmetrical_uncertainty_matrix(X, bins=None).round(4)
    array([[1.    , 0.3437],
           [0.3437, 1.    ]])
    """
    codes = encode(
        X,
        bins=bins,
        n_bins=n_bins,
        y=y,
        categorical_features=categorical_features,
        missing=missing,
    )
    return _matrix(codes, rows, True, dtype)


def _matrix(codes: DiscreteColumns, rows: Any, ratio: bool, dtype: Any) -> np.ndarray:
    if rows is None:
        return codes.matrix(ratio=ratio, dtype=dtype)
    return codes.rows(rows, ratio=ratio, dtype=dtype)


def _entropy_of_counts(counts: np.ndarray) -> float:
    p = counts[counts > 0] / counts.sum()
    return max(float(-(p * np.log(p)).sum()), 0.0)


def _codes_of(x: Any, name: str) -> np.ndarray:
    """Codes of the values of a variable, in sorted order; missing ones are the last value."""
    from tamiz.information.columns import _codes

    values = np.asarray(as_numpy(x, name))
    if values.ndim != 1 or not len(values):
        raise ValueError(
            f"{name} has shape {values.shape}; it must hold one value for each sample."
        )
    if values.dtype.kind in "biuUS":
        return np.unique(values, return_inverse=True)[1]
    if values.dtype.kind == "f":
        finite = values[np.isfinite(values)]
        distinct = np.unique(finite)
        if are_continuous(distinct, len(finite)):
            raise ValueError(
                f"{name} holds {len(distinct)} distinct numbers that are not whole in "
                f"{len(values)} samples, but information is counted between discrete values. Cut "
                f"it first, for instance with discretise(np.reshape({name}, (-1, 1)))[:, 0]."
            )
    codes, known = _codes(values.astype(object), None)
    return np.nan_to_num(codes, nan=float(len(known))).astype(np.int64)


def _together(*variables: Any) -> np.ndarray:
    codes = _codes_of(variables[0], "x")
    for number, other in enumerate(variables[1:], start=2):
        codes = joint_codes(codes, _same_length(codes, _codes_of(other, f"variable {number}")))
    return codes


def _same_length(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    if len(first) != len(second):
        raise ValueError(
            f"The variables have {len(first)} and {len(second)} values; they must describe the "
            "same samples."
        )
    return second


def _single(codes: np.ndarray) -> Codes:
    """One column as packed codes."""
    if codes.max() < 64:
        return Codes.from_codes(codes.astype(np.uint8)[None], np.zeros(1, dtype=np.intp))
    nothing = np.empty((0, len(codes)), dtype=np.uint8)
    return Codes.from_codes(nothing, np.empty(0, dtype=np.intp), {0: codes.astype(np.int32)})
