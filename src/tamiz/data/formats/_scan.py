"""Compiled loops over the bytes of a text table: where the cells are, and the numbers in them."""

from __future__ import annotations

import numpy as np
from numba import njit

from tamiz.data.formats._decimal import read_decimal

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
