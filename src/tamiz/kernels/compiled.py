"""Compiled: the exponential, tiles of a radial kernel; and inner products by BLAS.

``exp`` inside a compiled loop calls the mathematical library once for each number. Here are two of
our own, single and double, made of multiplications and additions only, which the compiler turns
into vector instructions:

* Cody and Waite's reduction: x = k ln 2 + r with an integer k and |r| <= ln(2)/2, where ln 2 is
  split into a short number, whose products with k are exact, and the rest;
* k is found by adding a number so large that its last bit is worth one, which rounds; the compiler
  must therefore not reassociate sums (of the liberties of ``fastmath`` only the fusing of
  a product and a sum is granted);
* exp(r) = 1 + r + r**2 q(r), the polynomial q of degree 5 (single) or 9 (double) interpolating at
  the Chebyshev points of |r| <= ln(2)/2;
* 2**k by writing k into the exponent bits.

In single precision the relative error is below 1.5e-7 and arguments of -87 and less, where the
result leaves the range of normal numbers, give 0; in double precision it is below 1e-15, and
arguments below -708 give 0.

NumPy turns ``A @ A.T`` into a symmetric BLAS update followed by a copy of one triangle that walks
memory against its grain; at a few thousand rows that copy costs more than the product. Panels of
rows against the columns that follow, each mirrored while still in the cache, avoid it.

Kernel values of a subset of features follow from those of a neighbouring one, row by row. What is
kept for a subset is its matrix of squared distances (radial kernel) or of inner products
(the others), the *base*. Features that come or go add or take away their part of each entry, and
the kernel is a function of the result. A machine looks at the rows of its support vectors and of
few other samples, so rows are filled when they are asked for.

References
----------
W. J. Cody and W. Waite, *Software Manual for the Elementary Functions*, Prentice-Hall, 1980.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from scipy import sparse

from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import product
from tamiz.validation import Array, Matrix

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
# of the single exponential
_S_LOWEST = np.float32(-87.0)
_S_LOG2_E = np.float32(1.4426950408889634)
_S_ROUNDER = np.float32(1.5 * 2.0**23)
_S_ROUNDER_BITS = np.int32(np.float32(1.5 * 2.0**23).view(np.int32) - 127)
_S_MANTISSA = np.int32(23)
_S_LN2_HIGH = np.float32(0.693359375)
_S_LN2_LOW = np.float32(-2.1219444005471377e-4)
_S_C2 = np.float32(5.00000001346581e-1)
_S_C3 = np.float32(1.6666666681623232e-1)
_S_C4 = np.float32(4.1666464925285904e-2)
_S_C5 = np.float32(8.3333109254809e-3)
_S_C6 = np.float32(1.3933649996309251e-3)
_S_C7 = np.float32(1.9890990824673654e-4)

# of the double one
_LOWEST = -708.0
_LOG2_E = 1.4426950408889634
_ROUNDER = 1.5 * 2.0**52
_ROUNDER_BITS = np.int64(np.float64(1.5 * 2.0**52).view(np.int64) - 1023)
_MANTISSA = np.int64(52)
_LN2_HIGH = 6.93147180369123816490e-1
_LN2_LOW = 1.90821492927058770002e-10
_C2 = 0.5000000000000001
_C3 = 0.16666666666666669
_C4 = 0.04166666666662413
_C5 = 0.008333333333330062
_C6 = 0.0013888888917213717
_C7 = 0.00019841269863053618
_C8 = 2.4801521295954376e-05
_C9 = 2.7557268459997064e-06
_C10 = 2.7620088445409746e-07
_C11 = 2.510038549551032e-08

MIRROR_TILE = 32


@intrinsic  # type: ignore[untyped-decorator]
def _bits_of(typing_context: Any, value: Any) -> Any:
    """The bits of a float32 or float64 as an integer of the same size."""
    whole = types.int32 if value.bitwidth == 32 else types.int64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(whole.bitwidth))

    return whole(value), generate


@intrinsic  # type: ignore[untyped-decorator]
def _from_bits(typing_context: Any, bits: Any) -> Any:
    """The float32 or float64 that the bits of an integer stand for."""
    real = types.float32 if bits.bitwidth == 32 else types.float64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType() if real.bitwidth == 32 else ir.DoubleType())

    return real(bits), generate


@njit(cache=True, nogil=True, fastmath={"contract"})
def _exp_single(x: Any) -> Any:
    """exp(x) for -87 <= x <= 0 in float32."""
    shifted = x * _S_LOG2_E + _S_ROUNDER
    k = shifted - _S_ROUNDER
    r = x - k * _S_LN2_HIGH
    r = r - k * _S_LN2_LOW
    p = _S_C7
    p = p * r + _S_C6
    p = p * r + _S_C5
    p = p * r + _S_C4
    p = p * r + _S_C3
    p = p * r + _S_C2
    p = p * (r * r) + r
    p = p + _ONE
    bits = np.int32((_bits_of(shifted) - _S_ROUNDER_BITS) << _S_MANTISSA)
    return p * _from_bits(bits)


@njit(cache=True, nogil=True, fastmath={"contract"})
def exp_double(x: Any) -> Any:
    """exp(x) for x <= 0; 0 below -708."""
    bounded = max(x, _LOWEST)
    shifted = bounded * _LOG2_E + _ROUNDER
    k = shifted - _ROUNDER
    r = bounded - k * _LN2_HIGH
    r = r - k * _LN2_LOW
    p = _C11
    p = p * r + _C10
    p = p * r + _C9
    p = p * r + _C8
    p = p * r + _C7
    p = p * r + _C6
    p = p * r + _C5
    p = p * r + _C4
    p = p * r + _C3
    p = p * r + _C2
    p = p * (r * r) + r
    p = p + 1.0
    value = p * _from_bits((_bits_of(shifted) - _ROUNDER_BITS) << _MANTISSA)
    return value if x >= _LOWEST else 0.0


@njit(cache=True, nogil=True)
def radial_tile(
    product: Any, half_left: Any, half_right: Any, out: Any, row0: int, col0: int
) -> None:
    """out[row0 + i, col0 + j] = exp(product[i, j] - half_left[i] - half_right[j]).

    ``product`` and the halves are all float32 or all float64; ``out`` is either, and its type is
    that of the exponential. A positive argument can only be rounding and counts as 0.
    """
    cols = product.shape[1]
    for i in range(product.shape[0]):
        row = out[row0 + i, col0 : col0 + cols]
        if out.itemsize == 4:
            _single_row(product[i], half_left[i], half_right, row)
        else:
            _double_row(product[i], half_left[i], half_right, row)


@njit(cache=True, nogil=True)
def _single_row(product: Any, half: Any, halves: Any, row: Any) -> None:
    for j in range(len(row)):
        x = np.float32(product[j] - (half + halves[j]))
        x = min(x, _ZERO)
        value = _exp_single(max(x, _S_LOWEST))
        row[j] = value if x > _S_LOWEST else _ZERO


@njit(cache=True, nogil=True)
def _double_row(product: Any, half: Any, halves: Any, row: Any) -> None:
    for j in range(len(row)):
        row[j] = exp_double(min(product[j] - (half + halves[j]), 0.0))


@njit(cache=True, nogil=True)
def mirror_tile(out: Any, row0: int, row1: int, col0: int, col1: int) -> None:
    """out[c, r] = out[r, c] for rows r in [row0, row1) and columns c in [col0, col1), c > r.

    Square tiles keep both the rows that are read and those that are written in the cache.
    """
    for c0 in range(col0, col1, MIRROR_TILE):
        c1 = min(c0 + MIRROR_TILE, col1)
        for r0 in range(row0, row1, MIRROR_TILE):
            r1 = min(r0 + MIRROR_TILE, row1)
            for c in range(c0, c1):
                for r in range(r0, min(r1, c)):
                    out[c, r] = out[r, c]


# ------------------------------------------------------------------------- rows of a radial kernel
#
# Samples come centred and scaled, with half their squared norms, so that a kernel value is
# exp(<a, b> - ||a||**2 / 2 - ||b||**2 / 2). The product of a tile is one call of BLAS; it is in the
# second-level cache when its exponentials are taken. A whole range of rows is one call without the
# interpreter's lock, so that threads never queue for it. ``shape``: rows and columns of a tile.


@njit(cache=True, nogil=True)
def _radial_product(left: Any, right: Any, room: Any) -> Any:
    """``left @ right.T`` in a part of ``room``."""
    product = room[: len(left) * len(right)].reshape((len(left), len(right)))
    np.dot(left, right.T, product)
    return product


@njit(cache=True, nogil=True)
def radial_tiles(start: int, stop: int, left: Any, right: Any, out: Any, shape: Any) -> None:
    """Tiles ``start`` to ``stop``, counted row by row, of the values between two sets of samples.

    ``left`` and ``right`` are samples and halves of their squared norms.
    """
    a, half_a = left
    b, half_b = right
    room = np.empty(shape[0] * shape[1], dtype=a.dtype)
    across = (len(b) + shape[1] - 1) // shape[1]
    for tile in range(start, stop):
        r0, c0 = tile // across * shape[0], tile % across * shape[1]
        r1, c1 = min(r0 + shape[0], len(a)), min(c0 + shape[1], len(b))
        product = _radial_product(a[r0:r1], b[c0:c1], room)
        radial_tile(product, half_a[r0:r1], half_b[c0:c1], out, r0, c0)


@njit(cache=True, nogil=True)
def radial_bands(start: int, stop: int, samples: Any, half: Any, out: Any, shape: Any) -> None:
    """Bands ``start`` to ``stop`` of the Gram matrix, from the diagonal on, and their mirror image.

    A band has as many rows as a tile.
    """
    room = np.empty(shape[0] * shape[1], dtype=samples.dtype)
    for band in range(start, stop):
        r0, r1 = band * shape[0], min((band + 1) * shape[0], len(samples))
        for c0 in range(r0, len(samples), shape[1]):
            c1 = min(c0 + shape[1], len(samples))
            product = _radial_product(samples[r0:r1], samples[c0:c1], room)
            radial_tile(product, half[r0:r1], half[c0:c1], out, r0, c0)
            mirror_tile(out, r0, r1, c0, c1)
        for r in range(r0, r1):
            out[r, r] = 1.0


@njit(cache=True, nogil=True)
def radial_sums(
    start: int, stop: int, left: Any, right: Any, coef: Any, values: Any, out: Any, shape: Any
) -> None:
    """``out[i, k]`` = sum over j of coef[k, j] times the kernel value of left i and right j.

    Kernel values have the type of ``values``, an empty array; sums are in float64.
    """
    a, half_a = left
    b, half_b = right
    room = np.empty(shape[0] * shape[1], dtype=a.dtype)
    tile = np.empty((shape[0], shape[1]), dtype=values.dtype)
    for r0 in range(start, stop, shape[0]):
        r1 = min(r0 + shape[0], stop)
        out[r0:r1] = 0.0
        for c0 in range(0, len(b), shape[1]):
            c1 = min(c0 + shape[1], len(b))
            product = _radial_product(a[r0:r1], b[c0:c1], room)
            radial_tile(product, half_a[r0:r1], half_b[c0:c1], tile, 0, 0)
            for i in range(r1 - r0):
                row = tile[i, : c1 - c0]
                for k in range(len(coef)):
                    out[r0 + i, k] += _dot(row, coef[k, c0:c1])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _dot(x: Any, y: Any) -> Any:
    total = 0.0
    for j in range(len(x)):
        total += np.float64(x[j]) * y[j]
    return total


PANEL = 256  # rows of a panel: long enough for BLAS, short enough for the second-level cache
_BELOW = np.tri(PANEL, k=-1, dtype=bool)


def panels(n: int, size: int = PANEL) -> Iterator[tuple[int, int]]:
    """Ranges of at most ``size`` that cover ``range(n)``."""
    for start in range(0, n, size):
        yield start, min(start + size, n)


def panels_from(first: int, last: int, size: int = PANEL) -> Iterator[tuple[int, int]]:
    """Ranges of at most ``size`` that cover ``range(first, last)``."""
    for start in range(first, last, size):
        yield start, min(start + size, last)


def inner_products(X: Matrix, Z: Matrix | None) -> Array:
    """<x, z> for all pairs of rows; exactly symmetric when ``Z`` is None.

    What is beyond float64 is infinite, or not a number; who uses the values refuses them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _inner_products(X, Z)


def _inner_products(X: Matrix, Z: Matrix | None) -> Array:
    if sparse.issparse(X) or (Z is not None and sparse.issparse(Z)):
        return _sparse_products(X, X if Z is None else Z)
    if Z is not None:
        return np.asarray(product(X, Z.T))
    n = X.shape[0]
    if n <= PANEL:
        # BLAS's symmetric update: equal triangles by construction
        return np.asarray(product(X, X.T))
    out = np.empty((n, n))
    for start, stop in panels(n):
        out[start:stop, start:] = product(X[start:stop], X[start:].T)
        mirror(out, start, stop)
    return out


def mirror(out: Array, start: int, stop: int) -> None:
    """Copy the upper triangle of a panel of rows onto its mirror image, in place."""
    out[stop:, start:stop] = out[start:stop, stop:].T
    size = stop - start
    corner = out[start:stop, start:stop]
    np.copyto(corner, corner.T.copy(), where=_BELOW[:size, :size])


def squared_norms(X: Matrix) -> Array:
    """||x||**2 of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)


def _sparse_products(X: Matrix, Z: Matrix) -> Array:
    if sparse.issparse(X) and sparse.issparse(Z):
        return np.ascontiguousarray((X @ Z.T).toarray())
    if sparse.issparse(X):
        return np.ascontiguousarray(X @ Z.T)
    return np.ascontiguousarray((Z @ X.T).T)


# ----------------------------------------------------------------------------------- rows on demand


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


_MANY_FACTORS = 64


@njit(cache=True, nogil=True)
def _powers(row: Any, gamma: Any, constant: Any, degree: Any) -> None:
    for j in range(len(row)):
        value = constant + gamma * row[j]
        power = value
        if degree <= _MANY_FACTORS:
            for _ in range(degree - 1):
                power *= value
        else:  # by repeated squaring
            left = degree - 1
            while left > 0:
                if left & 1:
                    power *= value
                value *= value
                left >>= 1
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
