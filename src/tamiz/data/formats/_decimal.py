"""Decimal numbers to float64, correctly rounded, in compiled code.

A decimal number is w · 10^q with an integer w. If w < 2^53 and |q| <= 22, both w and 10^|q| are
float64 numbers and one division or product is exact up to its own rounding (Clinger 1990). Beyond
that w is multiplied by a 128-bit approximation of 5^q, whose leading bits settle the rounding but
for rare cases (Lemire 2021); those, and numbers of 19 digits or more, are left to Python's float.

References
----------
Clinger, W. D. (1990), How to read floating point numbers accurately. PLDI.
Lemire, D. (2021), Number parsing at a gigabyte per second. Software: Practice and Experience 51.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numba import njit

LEAST, MOST = -342, 308  # powers of ten that the table covers

_U1 = np.uint64(1)
_U32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)
_U63 = np.uint64(63)
_NINE_BITS = np.uint64(0x1FF)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TOP = np.uint64(1 << 63)
_U3 = np.uint64(3)
_CARRY = np.uint64(1 << 53)

#: Powers of ten that float64 holds exactly.
TENS = np.array([10.0**k for k in range(23)])


@lru_cache(maxsize=1)
def powers_of_five() -> np.ndarray:
    """The leading 128 bits of 5^q for q = LEAST ... MOST, as two columns of uint64.

    They are cut off, but for those of -27 to -1, which are rounded up, as the proof asks for.
    """
    table = np.empty((MOST - LEAST + 1, 2), dtype=np.uint64)
    for q in range(LEAST, MOST + 1):
        if q >= 0:
            bits = 5**q
            bits = bits << 128 - bits.bit_length() if bits.bit_length() < 128 else bits
        else:
            power = 5**-q
            shift = power.bit_length() + (127 if q >= -27 else power.bit_length() + 128)
            bits = (1 << shift) // power + 1
        bits >>= max(0, bits.bit_length() - 128)
        table[q - LEAST] = bits >> 64, bits & 0xFFFFFFFFFFFFFFFF
    return table


@njit(cache=True, nogil=True, error_model="numpy")
def _product(a, b):
    """High and low half of the product of two 64-bit numbers."""
    a1, a0 = a >> _U32, a & _LOW32
    b1, b0 = b >> _U32, b & _LOW32
    low = a0 * b0
    middle = a1 * b0 + (low >> _U32)
    other = a0 * b1 + (middle & _LOW32)
    high = a1 * b1 + (middle >> _U32) + (other >> _U32)
    return high, (other << _U32) | (low & _LOW32)


@njit(cache=True, nogil=True, error_model="numpy")
def compose(w, q, power_high, power_low):
    """The float64 nearest to w · 10^q, w > 0; NaN if that is not certain.

    ``power_high`` and ``power_low`` are the row of :func:`powers_of_five` that belongs to q. (Plain
    numbers instead of the table: arrays cost more to pass than this takes.)
    """
    zeros = 0
    while w < _TOP:
        w = w << _U1
        zeros += 1
    high, low = _product(w, power_high)
    if (high & _NINE_BITS) == _NINE_BITS:
        more, _ = _product(w, power_low)
        low = low + more
        if low < more:
            high = high + _U1
    if low == _ALL and (q < -27 or q > 55):
        return np.nan
    upper = high >> _U63
    shift = upper + np.uint64(9)
    mantissa = high >> shift  # 54 bits: the last one decides the rounding
    exponent = ((217706 * q) >> 16) + 63 + np.int64(upper) - zeros
    if exponent <= -1022 or exponent >= 1023:  # near the ends of the range
        return np.nan
    if low <= _U1 and -4 <= q <= 23 and (mantissa & _U3) == _U1 and (mantissa << shift) == high:
        mantissa = mantissa - _U1  # half-way: to the even neighbour
    mantissa = (mantissa + (mantissa & _U1)) >> _U1
    if mantissa >= _CARRY:
        mantissa = mantissa >> _U1
        exponent += 1
    return math.ldexp(np.float64(mantissa), exponent - 52)


@njit(cache=True, nogil=True, error_model="numpy")
def read_decimal(text, start, end, point, powers):
    """The number that begins at ``start``, and where it ends; it ends there if there is none.

    Sign, digits, point, digits, exponent. The number is NaN if Python has to read it.
    """
    position = int(start)
    negative = bool(position < end and text[position] == 45)  # -
    if negative or (position < end and text[position] == 43):  # +
        position += 1
    w = np.int64(0)
    q = 0
    begin = position
    while position < end and text[position] == 48:
        position += 1
    any_digit = position > begin
    begin = position
    while position < end:
        digit = np.int64(text[position]) - 48
        if digit < 0 or digit > 9:
            break
        w = 10 * w + digit
        position += 1
    n_digits = position - begin
    if position < end and text[position] == point:
        position += 1
        begin = position
        if n_digits == 0:
            while position < end and text[position] == 48:
                position += 1
        zeros = position
        while position < end:
            digit = np.int64(text[position]) - 48
            if digit < 0 or digit > 9:
                break
            w = 10 * w + digit
            position += 1
        n_digits += position - zeros
        q = begin - position
    any_digit = any_digit or n_digits > 0 or q < 0
    if any_digit and position < end and (text[position] | 32) == 101:  # e
        position += 1
        down = bool(position < end and text[position] == 45)
        if down or (position < end and text[position] == 43):
            position += 1
        begin = position
        power = np.int64(0)
        while position < end:
            digit = np.int64(text[position]) - 48
            if digit < 0 or digit > 9:
                break
            power = 10 * power + digit
            if power >= 100000:  # beyond any float, unless as many zeros go before
                power = np.int64(100000)
                n_digits = 19
            position += 1
        any_digit = position > begin
        q = int(q - power if down else q + power)
    value = np.nan
    if n_digits > 18:
        pass  # more than w can hold
    elif w == 0:
        value = 0.0
    elif w <= 9007199254740992 and -22 <= q <= 22:
        value = np.float64(w)
        value = value / TENS[-q] if q < 0 else value * TENS[q]
    elif LEAST <= q <= MOST:
        row = q - LEAST
        value = compose(np.uint64(w), q, powers[row, 0], powers[row, 1])
    return (-value if negative else value), (position if any_digit else int(start))
