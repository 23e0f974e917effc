"""Compiled: rows of a table to bits by the cuts of its columns, and their counts.

Sixty-four rows at a time become one word per column and cut: a bit says whether the value lies
above the cut. The words of neighbouring cuts give those of the bins. Codes are never written down.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tamiz.information.counting import _ones

_WIDTH = 256
_ZERO = np.uint64(0)


@njit(cache=True, nogil=True)
def pack_rows(start, stop, X, rows, columns, cuts, gappy, planes):  # type: ignore[no-untyped-def]
    """Set the words ``start`` to ``stop`` of ``planes``; return missing values that are refused.

    Parameters
    ----------
    start, stop : int
        Range of words.
    X : float64 array of shape (n_rows, n_features)
        The table.
    rows : intp array
        The rows to pack, in this order.
    columns : intp array of shape (width,)
        The columns, all with equally many cuts.
    cuts : float64 array of shape (n_cuts, width)
        Their cuts.
    gappy : bool
        Whether values may be missing. Then all bins are packed, else all but the last.
    planes : uint64 array of shape (n_counted, n_words, width)
        Where the bits go.

    Returns
    -------
    column : int
        A column of the table with a missing value although not ``gappy``; -1 if there is none.
    """
    n_cuts, p = cuts.shape
    counted = planes.shape[0]
    known = np.empty(_WIDTH, dtype=np.uint64)
    above = np.empty((max(1, n_cuts), _WIDTH), dtype=np.uint64)
    line = np.empty(_WIDTH)
    bad = -1
    for j0 in range(0, p, _WIDTH):
        width = min(_WIDTH, p - j0)
        together = columns[j0 + width - 1] - columns[j0] == width - 1
        for w in range(start, stop):
            known[:] = _ZERO
            above[:] = _ZERO
            bit = np.uint64(1)
            full = _ZERO
            for i in range(64 * w, min(64 * w + 64, len(rows))):
                if together:
                    x = X[rows[i], columns[j0] : columns[j0] + width]
                else:
                    for l in range(width):
                        line[l] = X[rows[i], columns[j0 + l]]
                    x = line[:width]
                _mark_known(x, bit, known)
                for c in range(n_cuts):
                    _mark_above(x, cuts[c, j0 : j0 + width], bit, above[c])
                full |= bit
                bit <<= np.uint64(1)
            for c in range(counted):
                plane = planes[c, w, j0 : j0 + width]
                for l in range(width):
                    word = known[l] if c == 0 else above[c - 1, l]
                    plane[l] = word & ~above[c, l] if c < n_cuts else word
            if not gappy:
                for l in range(width):
                    if known[l] != full:
                        bad = columns[j0 + l]
    return bad


@njit(cache=True, nogil=True)
def _mark_known(x, bit, known):  # type: ignore[no-untyped-def]
    for l in range(len(x)):
        known[l] |= bit if x[l] == x[l] else _ZERO


@njit(cache=True, nogil=True)
def _mark_above(x, cut, bit, above):  # type: ignore[no-untyped-def]
    for l in range(len(x)):
        above[l] |= bit if x[l] > cut[l] else _ZERO


@njit(cache=True, nogil=True)
def count_planes(start, stop, planes, out):  # type: ignore[no-untyped-def]
    """Number of bits of every plane and column: added to ``out[column, plane]``.

    The columns ``start`` to ``stop``.
    """
    counted, n_words, _ = planes.shape
    for c in range(counted):
        for w in range(n_words):
            for l in range(start, stop):
                out[l, c] += np.int64(_ones(planes[c, w, l]))


@njit(cache=True, nogil=True)
def code_rows(start, stop, X, rows, columns, cuts, gappy, out):  # type: ignore[no-untyped-def]
    """Counted level of the columns ``start`` to ``stop``, -1 for the one that is not counted.

    For columns with many cuts: each value is looked up. ``out`` has shape (n_columns, n_rows).
    Returns a column with a missing value although not ``gappy``, or -1.
    """
    n_cuts = cuts.shape[0]
    bad = -1
    for l in range(start, stop):
        j = columns[l]
        for i in range(len(rows)):
            x = X[rows[i], j]
            if x != x:
                out[l, i] = -1
                if not gappy:
                    bad = j
                continue
            low, high = 0, n_cuts  # the number of cuts below x lies between
            while low < high:
                middle = (low + high) // 2
                if x > cuts[middle, l]:
                    low = middle + 1
                else:
                    high = middle
            out[l, i] = low if gappy or low < n_cuts else -1
    return bad


@njit(cache=True, nogil=True)
def count_codes(start, stop, codes, out):  # type: ignore[no-untyped-def]
    """Number of rows at each counted level: added to ``out[column, level]``."""
    for l in range(start, stop):
        for i in range(codes.shape[1]):
            if codes[l, i] >= 0:
                out[l, codes[l, i]] += 1
