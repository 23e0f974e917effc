"""Compiled loops over the bytes of a text table: where the cells are, and the numbers in them.

Decimal numbers become float64, correctly rounded.
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

from tamiz.runtime.compiling import njit

LEAST, MOST = -342, 308  # powers of ten that the table covers

_U1 = np.uint64(1)
_U32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)
_U63 = np.uint64(63)
_NINE_BITS = np.uint64(0x1FF)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TOP = np.uint64(1 << 63)
_U3 = np.uint64(3)
_CARRY = np.uint64(1 << 53)
_ZERO, _NINE, _TEN = np.uint64(48), np.uint64(9), np.uint64(10)
_EXACT = np.uint64(2**53)

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


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def read_decimal(text, start, end, point, powers):
    """The number that begins at ``start``, and where it ends; it ends there if there is none.

    Sign, digits, point, digits, exponent. The number is NaN if Python has to read it.
    """
    position = int(start)
    negative = bool(position < end and text[position] == 45)  # -
    if negative or (position < end and text[position] == 43):  # +
        position += 1
    w = np.uint64(0)
    q = 0
    begin = position
    while position < end and text[position] == 48:
        position += 1
    any_digit = position > begin
    begin = position
    while position < end:
        digit = np.uint64(text[position]) - _ZERO  # wraps round below "0"
        if digit > _NINE:
            break
        w = _TEN * w + digit
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
            digit = np.uint64(text[position]) - _ZERO
            if digit > _NINE:
                break
            w = _TEN * w + digit
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
            more = np.int64(text[position]) - 48
            if more < 0 or more > 9:
                break
            power = 10 * power + more
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
    elif w <= _EXACT and -22 <= q <= 22:
        value = np.float64(w)
        value = value / TENS[-q] if q < 0 else value * TENS[q]
    elif LEAST <= q <= MOST:
        row = q - LEAST
        value = compose(w, q, powers[row, 0], powers[row, 1])
    return (-value if negative else value), (position if any_digit else int(start))


# -------------------------------------------------------------------------------------------- cells


QUOTE, NEWLINE, BLANK, TAB = 34, 10, 32, 9

#: Capacity of the list of numbers that are left to Python.
SLOW = 4096


@njit(cache=True, nogil=True, error_model="numpy")
def find_cells(buffer, separator, width, starts, ends, line, most):
    """Cut complete rows into cells. The buffer must end with a line end.

    ``starts`` and ``ends`` receive the bounds of the cells, blanks around them trimmed; the bound
    ``~end`` marks a cell whose quotation marks Python must resolve. Returns the number of rows,
    the position after the last complete one, the line there, and the number of fields of a row
    that has the wrong one (0 if there is none), or -1 if a quotation mark was still open.
    """
    size = len(buffer)
    blanks = separator == BLANK
    n_rows = 0
    consumed = 0
    position = 0
    while position < size and n_rows < most:
        first_line = line
        field = 0
        filled = False  # whether the last field holds anything
        open_quote = False
        complete = False
        while True:
            while position < size and (
                buffer[position] == BLANK or (buffer[position] == TAB and separator != TAB)
            ):
                position += 1
            if position >= size:
                break
            c = buffer[position]
            if c == NEWLINE and blanks and field > 0:
                position += 1
                line += 1
                complete = True
                break
            start = position
            special = False
            if c == QUOTE:
                position += 1
                open_quote = True
                while position < size:
                    c = buffer[position]
                    if c == QUOTE:
                        if position + 1 < size and buffer[position + 1] == QUOTE:
                            special = True
                            position += 2
                            continue
                        open_quote = False
                        position += 1
                        break
                    if c == NEWLINE:
                        line += 1
                    position += 1
                if open_quote or position >= size:
                    break
                inner_start, inner_end = start + 1, position - 1
                while position < size and buffer[position] != separator:
                    if buffer[position] == NEWLINE:
                        break
                    if buffer[position] != BLANK:
                        special = True
                    position += 1
                if position >= size:
                    break
                if special:
                    end = ~position
                else:
                    start, end = inner_start, inner_end
                    while end > start and buffer[end - 1] == BLANK:
                        end -= 1
                    while start < end and buffer[start] == BLANK:
                        start += 1
                filled = special or end > start
            else:
                while True:  # the buffer ends with a line end
                    c = buffer[position]
                    if c == separator:
                        break
                    if c == NEWLINE:
                        break
                    position += 1
                end = position
                while end > start and (buffer[end - 1] == BLANK or buffer[end - 1] == TAB):
                    end -= 1
                filled = end > start
            if field < width:
                starts[n_rows, field] = start
                ends[n_rows, field] = end
            field += 1
            c = buffer[position]
            position += 1
            if c == NEWLINE:
                line += 1
                complete = True
                break
        if not complete:
            line = first_line
            return n_rows, consumed, line, -1 if open_quote else 0
        if field == 1 and not filled and (width > 1 or position - 1 == consumed):
            consumed = position  # a blank line
            continue
        if field != width and not (field == width + 1 and not filled):
            return n_rows, consumed, first_line, field
        n_rows += 1
        consumed = position
    return n_rows, consumed, line, 0


@njit(cache=True, nogil=True, error_model="numpy")
def read_numbers(
    buffer, starts, ends, columns, out, point, spellings, spelled_first, powers, first, odd, slow
):
    """Read the cells of some columns as numbers, from row ``first`` on.

    Missing cells become NaN (``spelled_first``: even if the spelling is a number, as -999 may be).
    ``odd[k]`` becomes the first row of column k that holds something else (-1 if none does).
    Numbers in doubt are listed in ``slow``; when it is full, the row to go on with is returned,
    with the number of entries.
    """
    n_rows, n_columns = out.shape
    n_slow = 0
    for i in range(first, n_rows):
        if n_slow + n_columns > len(slow):
            return i, n_slow
        for k in range(n_columns):
            if odd[k] >= 0:
                continue
            start = starts[i, columns[k]]
            end = ends[i, columns[k]]
            if start == end or (spelled_first and _is_spelled(buffer, start, end, spellings)):
                out[i, k] = np.nan
                continue
            value, stop = read_decimal(buffer, start, end, point, powers)
            if stop == end and stop > start:
                if value == value:
                    out[i, k] = value
                else:
                    slow[n_slow, 0] = i
                    slow[n_slow, 1] = k
                    n_slow += 1
            elif end >= 0 and _is_spelled(buffer, start, end, spellings):
                out[i, k] = np.nan
            elif end >= 0 and _is_infinite(buffer, start, end):
                out[i, k] = -np.inf if buffer[start] == 45 else np.inf
            else:
                odd[k] = i
    return n_rows, n_slow


@njit(cache=True, nogil=True, error_model="numpy")
def _is_spelled(buffer, start, end, spellings):
    """Whether the cell is one of the spellings (rows of bytes: length, then letters)."""
    for s in range(len(spellings)):
        if spellings[s, 0] != end - start:
            continue
        same = True
        for j in range(end - start):
            if buffer[start + j] != spellings[s, 1 + j]:
                same = False
                break
        if same:
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _is_infinite(buffer, start, end):
    """inf or infinity, with or without a sign, in small or capital letters."""
    if buffer[start] == 45 or buffer[start] == 43:
        start += 1
    n = end - start
    if n != 3 and n != 8:
        return False
    word = (105, 110, 102, 105, 110, 105, 116, 121)
    same = True
    for j in range(n):
        same = same and (buffer[start + j] | 32) == word[j]
    return same
