"""A compiled reader of LIBSVM's sparse text, for what is plainly of that form.

Numbers come out as ``float`` reads them, to the last bit. A text that has anything else than
labels, rising indices, numbers, blanks and comments is left to the slow reader, which knows what
to say about it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse

from tamiz.data.formats._decimal import powers_of_five, read_decimal

_NEWLINE, _RETURN, _TAB, _BLANK, _HASH = 10, 13, 9, 32, 35
_POINT, _COLON, _ZERO, _NINE = 46, 58, 48, 57

_STRANGE = -1


def parse(raw: bytes) -> tuple[sparse.csr_matrix, np.ndarray] | None:
    """Samples and labels of complete lines, or None if the slow reader has to look at them.

    The width of the matrix is the greatest index + 1; index 0 is a column of its own.
    """
    text = np.frombuffer(raw, dtype=np.uint8)
    n_lines, n_pairs = _count(text)
    labels = np.empty(n_lines)
    starts = np.zeros(n_lines + 1, dtype=np.int64)
    indices = np.empty(n_pairs, dtype=np.int32)
    values = np.empty(n_pairs)
    hard = np.empty((n_pairs + n_lines, 3), dtype=np.int64)
    n_rows, n_hard = _parse(text, labels, starts, indices, values, hard, powers_of_five())
    if n_rows == _STRANGE:
        return None
    for place, begin, end in hard[:n_hard].tolist():
        if place < 0:
            labels[-place - 1] = float(raw[begin:end])
        else:
            values[place] = float(raw[begin:end])
    n_values = int(starts[n_rows])
    indices, values = indices[:n_values], values[:n_values]
    width = int(indices.max()) + 1 if n_values else 1
    narrow = starts[: n_rows + 1].astype(np.int32)  # a piece of text has far fewer than 2**31 pairs
    X = sparse.csr_matrix((values, indices, narrow), shape=(n_rows, width))
    return X, labels[:n_rows]


@njit(cache=True, nogil=True)
def _count(text):
    """Upper limits of the numbers of lines and of pairs."""
    lines, pairs = 1, 0
    for letter in text:
        if letter == _NEWLINE:
            lines += 1
        elif letter == _COLON:
            pairs += 1
    return lines, pairs


@njit(cache=True, nogil=True, error_model="numpy")
def _parse(text, labels, starts, indices, values, hard, powers):
    """Fill the arrays; numbers of rows (or _STRANGE) and of entries of ``hard``.

    An entry of ``hard`` is a number that Python has to read: its place among the values, or
    -1 - row for a label, and where it begins and ends.
    """
    n = len(text)
    at = n_rows = n_values = n_hard = 0
    while at < n:
        at = _skip_blanks(text, at)
        if at < n and text[at] != _NEWLINE and text[at] != _HASH:
            value, end = read_decimal(text, at, n, _POINT, powers)
            if end == at or not _ends(text, end):
                return _STRANGE, 0
            labels[n_rows] = value
            if value != value:
                hard[n_hard, 0] = -1 - n_rows
                hard[n_hard, 1] = at
                hard[n_hard, 2] = end
                n_hard += 1
            at = _skip_blanks(text, end)
            before = -1
            while at < n and text[at] != _NEWLINE and text[at] != _HASH:
                index, end = _index(text, at)
                if end == at or end >= n or text[end] != _COLON or index <= before:
                    return _STRANGE, 0
                before = index
                at = end + 1
                value, end = read_decimal(text, at, n, _POINT, powers)
                if end == at or not _ends(text, end):
                    return _STRANGE, 0
                indices[n_values] = index
                values[n_values] = value
                if value != value:
                    hard[n_hard, 0] = n_values
                    hard[n_hard, 1] = at
                    hard[n_hard, 2] = end
                    n_hard += 1
                n_values += 1
                at = _skip_blanks(text, end)
            n_rows += 1
            starts[n_rows] = n_values
        while at < n and text[at] != _NEWLINE:  # a comment
            at += 1
        at += 1
    return n_rows, n_hard


@njit(cache=True, nogil=True, inline="always")
def _skip_blanks(text, at):
    while at < len(text) and (text[at] == _BLANK or text[at] == _TAB or text[at] == _RETURN):
        at += 1
    return at


@njit(cache=True, nogil=True, inline="always")
def _ends(text, at):
    """Whether a number may end here."""
    if at >= len(text):
        return True
    c = text[at]
    return c in (_BLANK, _NEWLINE, _TAB, _RETURN, _HASH)


@njit(cache=True, nogil=True, inline="always")
def _index(text, at):
    """An integer below 2**31, and where it ends; it ends where it begins if there is none."""
    begin = at
    index = np.int64(0)
    while at < len(text) and _ZERO <= text[at] <= _NINE:
        index = 10 * index + (np.int64(text[at]) - _ZERO)
        at += 1
        if index >= 2147483647:
            return 0, begin
    return index, at
