"""Compiled: kernel values of a subset of features from those of a neighbouring one, row by row.

What is kept for a subset is its matrix of squared distances (radial kernel) or of inner products
(the others), the *base*. Features that come or go add or take away their part of each entry, and
the kernel is a function of the result. A machine looks at the rows of its support vectors and of
few other samples, so rows are filled when they are asked for.

``exp`` inside a compiled loop calls the mathematical library once for each number. The loop below
holds its own, made of multiplications and additions only, which the compiler turns into vector
instructions: Cody and Waite's reduction x = k ln 2 + r, |r| <= ln(2)/2, as in
:mod:`tamiz.kernels.compiled`, and the series of exp(r) up to r**13/13!, whose rest is below 1e-17.
The relative error is below 1e-15; arguments below -708, where the result leaves the range of normal
numbers, give 0.

References
----------
W. J. Cody and W. Waite, *Software Manual for the Elementary Functions*, Prentice-Hall, 1980.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_LOWEST = -708.0
_LOG2_E = 1.4426950408889634
_ROUNDER = 1.5 * 2.0**52
_ROUNDER_BITS = int(np.float64(_ROUNDER).view(np.int64)) - 1023
_LN2_HIGH = 6.93147180369123816490e-01  # 33 bits: products with k are exact
_LN2_LOW = 1.90821492927058770002e-10
_C = tuple(1.0 / math.factorial(k) for k in range(14))


@intrinsic  # type: ignore[untyped-decorator]
def _bits_of(typing_context: Any, value: Any) -> Any:
    """The 64 bits of a float64 as a whole number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _from_bits(typing_context: Any, bits: Any) -> Any:
    """The float64 that 64 bits stand for."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@njit(cache=True, nogil=True, fastmath={"contract"})
def _exp(x: Any) -> Any:
    """exp(x) for -708 <= x <= 0."""
    shifted = x * _LOG2_E + _ROUNDER
    k = shifted - _ROUNDER
    r = x - k * _LN2_HIGH
    r = r - k * _LN2_LOW
    s = r * r
    # pairs of terms, so that the multiplications do not wait for each other
    p = (_C[12] + r * _C[13]) * s + (_C[10] + r * _C[11])
    q = (_C[8] + r * _C[9]) * s + (_C[6] + r * _C[7])
    u = s * s
    p = p * u + q
    q = (_C[4] + r * _C[5]) * s + (_C[2] + r * _C[3])
    p = p * u + q
    p = p * s + r
    p = p + 1.0
    return p * _from_bits((_bits_of(shifted) - _ROUNDER_BITS) << 52)


@njit(cache=True, nogil=True)
def exp_of(x: Any, out: Any) -> None:
    """``out = exp(x)`` for numbers that are not positive."""
    for k in range(len(x)):
        value = _exp(max(x[k], _LOWEST))
        out[k] = value if x[k] >= _LOWEST else 0.0


class Source(NamedTuple):
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
            x = min(-gamma * row[j], 0.0)
            value = _exp(max(x, _LOWEST))
            row[j] = value if x >= _LOWEST else 0.0
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
