"""Compiled: kernel values of a subset of features from those of a neighbouring one, row by row.

What is kept for a subset is its matrix of squared distances (radial kernel) or of inner products
(the others), the *base*. Features that come or go add or take away their part of each entry, and
the kernel is a function of the result. A machine looks at the rows of its support vectors and of
few other samples, so rows are filled when they are asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tamiz.kernels.compiled import exp_double


class RowSource(NamedTuple):
    """What a row of the kernel matrix is made of.

    ``base`` holds squared distances or inner products; ``columns`` the features, one a row, that
    come (sign 1) or go (sign -1). The kernel is ``exp(-gamma D)`` if ``radial``, else
    ``(constant + gamma P)**degree``. Compiled functions get it as a plain tuple: the cache on disk
    names the classes of arguments, and must survive their moving.
    """

    base: Any
    columns: Any
    signs: Any
    radial: bool
    gamma: float
    constant: float
    degree: int


@njit(cache=True, nogil=True)
def fill_row(source: Any, i: Any, K: Any, ready: Any) -> None:
    """Fill row ``i`` of the kernel matrix and mark it as ready."""
    base, columns, signs, radial, gamma, constant, degree = source
    row = K[i]
    if radial:
        _differences(base[i], columns, signs, i, row)
        for j in range(len(row)):
            row[j] = exp_double(min(-gamma * row[j], 0.0))
    else:
        _products(base[i], columns, signs, i, row)
        _powers(row, gamma, constant, degree)
    ready[i] = 1


@njit(cache=True, nogil=True)
def fill_rows(source: Any, rows: Any, K: Any, ready: Any) -> None:
    """Fill some rows, if they are not filled yet."""
    for i in rows:
        if ready[i] == 0:
            fill_row(source, i, K, ready)


@njit(cache=True, nogil=True)
def _powers(row: Any, gamma: Any, constant: Any, degree: Any) -> None:
    for j in range(len(row)):
        value = constant + gamma * row[j]
        power = value
        for _ in range(degree - 1):
            power *= value
        row[j] = power


@njit(cache=True, nogil=True)
def distance_pass(columns: Any, out: Any) -> None:
    """Squared distances of samples, the columns of ``columns``."""
    out[...] = 0.0
    signs = np.ones(len(columns))
    for i in range(len(out)):
        _differences(out[i], columns, signs, i, out[i])


@njit(cache=True, nogil=True)
def product_pass(columns: Any, out: Any) -> None:
    """Inner products of samples, the columns of ``columns``."""
    out[...] = 0.0
    signs = np.ones(len(columns))
    for i in range(len(out)):
        _products(out[i], columns, signs, i, out[i])


@njit(cache=True, nogil=True, fastmath={"contract"})
def _differences(base: Any, columns: Any, signs: Any, i: Any, row: Any) -> None:
    for j in range(len(row)):
        row[j] = base[j]
    for c in range(len(columns)):
        values = columns[c]
        own, sign = columns[c, i], signs[c]
        for j in range(len(row)):
            d = own - values[j]
            row[j] += sign * (d * d)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _products(base: Any, columns: Any, signs: Any, i: Any, row: Any) -> None:
    for j in range(len(row)):
        row[j] = base[j]
    for c in range(len(columns)):
        values = columns[c]
        factor = signs[c] * columns[c, i]
        for j in range(len(row)):
            row[j] += factor * values[j]


@njit(cache=True, nogil=True)
def to_distances(products: Any) -> None:
    """Turn inner products into squared distances, in place."""
    n = len(products)
    norms = np.empty(n)
    for i in range(n):
        norms[i] = products[i, i]
    for i in range(n):
        for j in range(n):
            products[i, j] = max(norms[i] + norms[j] - 2.0 * products[i, j], 0.0)
        products[i, i] = 0.0


@njit(cache=True, nogil=True)
def take_block(K: Any, index: Any, out: Any) -> None:
    """``out = K[index][:, index]``."""
    for r in range(len(index)):
        row, target = K[index[r]], out[r]
        for c in range(len(index)):
            target[c] = row[index[c]]
