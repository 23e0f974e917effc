"""What differences of numbers are divided by: nothing, the deviation or the range of a column.

Zeros are counted and not added up, so that a sparse table, whose zeros are not there, has the same
scales as its dense copy, to the last bit. Sums are compensated (Kahan): long columns lose nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy import sparse


def no_scale(X: Any) -> np.ndarray:
    """Ones."""
    return np.ones(X.shape[1])


def deviation(X: Any) -> np.ndarray:
    """Standard deviation (by n) of the known values of each column; exactly zero if constant."""
    return _spread(X)[1]


def span(X: Any) -> np.ndarray:
    """Largest less smallest known value of each column."""
    return _spread(X)[0]


SCALINGS = {"none": no_scale, "zscore": deviation, "range": span}


def _spread(X: Any) -> np.ndarray:
    """Range and deviation of each column of an array or a CSC matrix."""
    if sparse.issparse(X):
        return _of_sparse(X.shape[0], X.data, X.indptr)
    return _of_dense(X)


@njit(cache=True, nogil=True)
def _of_dense(X):  # type: ignore[no-untyped-def]
    n, p = X.shape
    out, values = np.empty((2, p)), np.empty(n)
    for j in range(p):
        m, zeros = _sift(X[:, j], values)
        out[0, j], out[1, j] = _of_column(values[:m], zeros)
    return out


@njit(cache=True, nogil=True)
def _of_sparse(n, data, indptr):  # type: ignore[no-untyped-def]
    p = len(indptr) - 1
    out, values = np.empty((2, p)), np.empty(n)
    for j in range(p):
        stored = data[indptr[j] : indptr[j + 1]]
        m, zeros = _sift(stored, values)
        out[0, j], out[1, j] = _of_column(values[:m], zeros + n - len(stored))
    return out


@njit(cache=True, nogil=True)
def _sift(column, values):  # type: ignore[no-untyped-def]
    """Put what is neither zero nor missing into ``values``; how many these are, and the zeros."""
    m, zeros = 0, 0
    for v in column:
        if v == 0:
            zeros += 1
        elif v == v:
            values[m] = v
            m += 1
    return m, zeros


@njit(cache=True, nogil=True)
def _of_column(values, zeros):  # type: ignore[no-untyped-def]
    """Range and deviation of some values and a number of zeros."""
    n = len(values) + zeros
    if n == 0:
        return 0.0, 0.0
    low, high = (0.0, 0.0) if zeros > 0 else (values[0], values[0])
    total, lost = 0.0, 0.0
    for v in values:
        low, high = min(low, v), max(high, v)
        step = v - lost
        after = total + step
        lost = (after - total) - step
        total = after
    width = high - low
    unit = width if width > 0 else 1.0  # squares of very small numbers would be zero
    # a sum is rounded: without the bounds the mean of equal values need not be one of them
    mean = min(max(total / n, low), high)
    squares, lost = 0.0, 0.0
    for v in values:
        step = ((v - mean) / unit) * ((v - mean) / unit) - lost
        after = squares + step
        lost = (after - squares) - step
        squares = after
    squares += zeros * ((mean / unit) * (mean / unit))
    return width, unit * np.sqrt(squares / n)
