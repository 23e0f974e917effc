"""Compiled: kernel values of a subset of features from those of a neighbouring one, in one pass.

What is kept for a subset is its matrix of squared distances (radial kernel) or of inner products
(the others), the *base*. Features that come or go add or take away their part of each entry, and
the kernel is a function of the result, so that one pass over the upper triangle does both; the
lower triangle is then its mirror image.

``exp`` inside a compiled loop calls the mathematical library once for each number. The loop below
holds its own, made of multiplications and additions only, which the compiler turns into vector
instructions: Cody and Waite's reduction x = k ln 2 + r, |r| <= ln(2)/2, as in
:mod:`tamiz.kernels._exp`, and the series of exp(r) up to r**13/13!, whose rest is below 1e-17. The
relative error is below 1e-15; arguments below -708, where the result leaves the range of normal
numbers, give 0.

References
----------
W. J. Cody and W. Waite, *Software Manual for the Elementary Functions*, Prentice-Hall, 1980.
"""

from __future__ import annotations

import math
from typing import Any

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
_BAND = 8  # rows that are computed, then mirrored while in the nearest cache


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


@njit(cache=True, nogil=True)
def radial_pass(base: Any, columns: Any, signs: Any, gamma: Any, K: Any) -> None:
    """``K = exp(-gamma D)``, where D is ``base`` and the squared differences of some columns.

    Parameters
    ----------
    base : array of shape (n, n)
        Squared distances, upper triangle.
    columns : array of shape (m, n)
        Features, one a row, that come or go.
    signs : array of shape (m,)
        1 for those that come, -1 for those that go.
    gamma : float
        Of the kernel.
    K : array of shape (n, n)
        Filled.
    """
    n = len(K)
    scratch = np.empty(n)
    for i in range(n):
        row = scratch[: n - i]
        out = K[i, i:]
        _differences(base[i, i:], columns, signs, i, row)
        for j in range(n - i):
            x = min(-gamma * row[j], 0.0)
            value = _exp(max(x, _LOWEST))
            out[j] = value if x >= _LOWEST else 0.0
        if (i + 1) % _BAND == 0 or i == n - 1:
            _mirror_band(K, i - i % _BAND, i + 1)


@njit(cache=True, nogil=True)
def distance_pass(base: Any, columns: Any, signs: Any, out: Any) -> None:
    """The squared distances themselves, upper triangle; ``out`` may be ``base``."""
    n = len(out)
    scratch = np.empty(n)
    for i in range(n):
        row = scratch[: n - i]
        _differences(base[i, i:], columns, signs, i, row)
        out[i, i:] = row


@njit(cache=True, nogil=True, fastmath={"contract"})
def _differences(base: Any, columns: Any, signs: Any, i: Any, row: Any) -> None:
    for j in range(len(row)):
        row[j] = base[j]
    for c in range(len(columns)):
        values = columns[c, i:]
        own, sign = columns[c, i], signs[c]
        for j in range(len(row)):
            d = own - values[j]
            row[j] += sign * (d * d)


@njit(cache=True, nogil=True)
def inner_pass(
    base: Any, columns: Any, signs: Any, gamma: Any, constant: Any, degree: Any, K: Any
) -> None:
    """``K = (constant + gamma P)**degree``, P being ``base`` and the products of some columns.

    Parameters as in :func:`radial_pass`, with inner products in the place of distances.
    """
    n = len(K)
    scratch = np.empty(n)
    for i in range(n):
        row = scratch[: n - i]
        out = K[i, i:]
        _products(base[i, i:], columns, signs, i, row)
        for j in range(n - i):
            row[j] = constant + gamma * row[j]
            out[j] = row[j]
        for _ in range(degree - 1):
            for j in range(n - i):
                out[j] *= row[j]
        if (i + 1) % _BAND == 0 or i == n - 1:
            _mirror_band(K, i - i % _BAND, i + 1)


@njit(cache=True, nogil=True)
def product_pass(base: Any, columns: Any, signs: Any, out: Any) -> None:
    """The inner products themselves, upper triangle; ``out`` may be ``base``."""
    n = len(out)
    scratch = np.empty(n)
    for i in range(n):
        row = scratch[: n - i]
        _products(base[i, i:], columns, signs, i, row)
        out[i, i:] = row


@njit(cache=True, nogil=True, fastmath={"contract"})
def _products(base: Any, columns: Any, signs: Any, i: Any, row: Any) -> None:
    for j in range(len(row)):
        row[j] = base[j]
    for c in range(len(columns)):
        values = columns[c, i:]
        factor = signs[c] * columns[c, i]
        for j in range(len(row)):
            row[j] += factor * values[j]


@njit(cache=True, nogil=True)
def to_distances(products: Any) -> None:
    """Turn inner products into squared distances, in place, upper triangle."""
    n = len(products)
    norms = np.empty(n)
    for i in range(n):
        norms[i] = products[i, i]
    for i in range(n):
        for j in range(i, n):
            products[i, j] = max(norms[i] + norms[j] - 2.0 * products[i, j], 0.0)
        products[i, i] = 0.0


@njit(cache=True, nogil=True)
def take_block(K: Any, index: Any, out: Any) -> None:
    """``out = K[index][:, index]``."""
    for r in range(len(index)):
        row, target = K[index[r]], out[r]
        for c in range(len(index)):
            target[c] = row[index[c]]


@njit(cache=True, nogil=True)
def _mirror_band(K: Any, start: Any, stop: Any) -> None:
    """Copy the rows ``start:stop``, from the diagonal on, to the columns below them."""
    for c in range(start, stop):
        for r in range(start, c):
            K[c, r] = K[r, c]
    if stop - start < _BAND:
        return  # the last band: nothing is below it
    rows = K[start:stop]
    for c in range(stop, len(K)):
        out = K[c, start:stop]
        # written out: eight loads, then eight stores side by side
        a0, a1, a2, a3 = rows[0, c], rows[1, c], rows[2, c], rows[3, c]
        a4, a5, a6, a7 = rows[4, c], rows[5, c], rows[6, c], rows[7, c]
        out[0], out[1], out[2], out[3] = a0, a1, a2, a3
        out[4], out[5], out[6], out[7] = a4, a5, a6, a7
