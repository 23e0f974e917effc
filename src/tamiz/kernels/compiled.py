"""Compiled: the radial kernel's exponential in single precision, over tiles of a matrix.

``exp`` inside a compiled loop calls the mathematical library once for each number. The loop below
holds its own exponential made of multiplications and additions only, which the compiler turns into
vector instructions:

* Cody and Waite's reduction: x = k ln 2 + r with a whole k and |r| <= ln(2)/2, where ln 2 is split
  into a short number, whose products with k are exact, and the rest;
* k is found by adding a number so large that its last bit is worth one, which rounds; the compiler
  must therefore not reassociate sums (of the liberties of ``fastmath`` only the fusing of
  a product and a sum is granted);
* exp(r) = 1 + r + r**2 q(r), the polynomial q of degree 5 interpolating at the Chebyshev points
  of |r| <= ln(2)/2;
* 2**k by writing k into the exponent bits.

The relative error is below 1.5e-7; arguments of -87 and less, where the result leaves the range of
normal numbers, give 0.

References
----------
W. J. Cody and W. Waite, *Software Manual for the Elementary Functions*, Prentice-Hall, 1980.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_LOWEST = np.float32(-87.0)
_LOG2_E = np.float32(1.4426950408889634)
_ROUNDER = np.float32(1.5 * 2.0**23)
_ROUNDER_BITS = np.int32(np.float32(1.5 * 2.0**23).view(np.int32) - 127)
_MANTISSA = np.int32(23)
_LN2_HIGH = np.float32(0.693359375)
_LN2_LOW = np.float32(-2.1219444005471377e-4)
_C2 = np.float32(5.00000001346581e-1)
_C3 = np.float32(1.6666666681623232e-1)
_C4 = np.float32(4.1666464925285904e-2)
_C5 = np.float32(8.3333109254809e-3)
_C6 = np.float32(1.3933649996309251e-3)
_C7 = np.float32(1.9890990824673654e-4)

MIRROR_TILE = 32


@intrinsic  # type: ignore[untyped-decorator]
def _bits_of(typing_context: Any, value: Any) -> Any:
    """The 32 bits of a float32 as a whole number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), generate


@intrinsic  # type: ignore[untyped-decorator]
def _from_bits(typing_context: Any, bits: Any) -> Any:
    """The float32 that 32 bits stand for."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), generate


@njit(cache=True, nogil=True, fastmath={"contract"})
def _exp_single(x: Any) -> Any:
    """exp(x) for -87 <= x <= 0 in float32."""
    shifted = x * _LOG2_E + _ROUNDER
    k = shifted - _ROUNDER
    r = x - k * _LN2_HIGH
    r = r - k * _LN2_LOW
    p = _C7
    p = p * r + _C6
    p = p * r + _C5
    p = p * r + _C4
    p = p * r + _C3
    p = p * r + _C2
    p = p * (r * r) + r
    p = p + _ONE
    return p * _from_bits((_bits_of(shifted) - _ROUNDER_BITS) << _MANTISSA)


@njit(cache=True, nogil=True)
def radial_tile(
    product: Any, half_left: Any, half_right: Any, out: Any, row0: int, col0: int
) -> None:
    """out[row0 + i, col0 + j] = exp(product[i, j] - half_left[i] - half_right[j]).

    ``product`` and the halves are all float32 or all float64; ``out`` is float32. A positive
    argument can only be rounding and counts as 0.
    """
    for i in range(product.shape[0]):
        for j in range(product.shape[1]):
            x = np.float32(product[i, j] - (half_left[i] + half_right[j]))
            x = min(x, _ZERO)
            value = _exp_single(max(x, _LOWEST))
            out[row0 + i, col0 + j] = value if x > _LOWEST else _ZERO


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
