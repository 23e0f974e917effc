"""Compiled: from codes, one small number per sample and column, to bits."""

from __future__ import annotations

import numpy as np
from numba import njit

#: Codes of this value are missing.
MISSING = 255

_HEIGHT, _WIDTH = 64, 256


@njit(cache=True, nogil=True)
def compress(start, stop, codes, keep_missing, n_levels, gappy):  # type: ignore[no-untyped-def]
    """Renumber the levels of each column so that all occur; change ``codes`` in place.

    Missing values become the last level if ``keep_missing``; otherwise they stay missing and the
    column is marked as ``gappy``.
    """
    number = np.empty(256, dtype=np.uint8)
    seen = np.empty(256, dtype=np.bool_)
    for j in range(start, stop):
        seen[:] = False
        row = codes[j]
        for i in range(len(row)):
            seen[row[i]] = True
        r = 0
        for level in range(MISSING):
            if seen[level]:
                number[level] = r
                r += 1
        number[MISSING] = MISSING
        if seen[MISSING]:
            if keep_missing:
                number[MISSING] = r
                r += 1
            else:
                gappy[j] = True
        n_levels[j] = r
        for i in range(len(row)):
            row[i] = number[row[i]]


@njit(cache=True, nogil=True)
def pack(start, stop, codes, columns, planes, margins):  # type: ignore[no-untyped-def]
    """Set the bits of ``columns[start:stop]`` (rows of ``codes``) and count them."""
    r, n_words, _ = planes.shape
    n = codes.shape[1]
    words = np.zeros(256, dtype=np.uint64)
    totals = np.zeros(256, dtype=np.uint64)
    for k in range(start, stop):
        row = codes[columns[k]]
        for b in range(r):
            totals[b] = 0
        for w in range(n_words):
            bit = np.uint64(1)
            for i in range(64 * w, min(64 * w + 64, n)):
                words[row[i]] |= bit
                totals[row[i]] += np.uint64(1)
                bit <<= np.uint64(1)
            for b in range(r):
                planes[b, w, k] = words[b]
                words[b] = 0
            words[MISSING] = 0
        for b in range(r):
            margins[b, k] = totals[b]


@njit(cache=True, nogil=True)
def apply_cuts(start, stop, X, cuts, out):  # type: ignore[no-untyped-def]
    """Codes of the columns ``start`` to ``stop`` of ``X``: how many cuts lie below each value.

    ``cuts`` has one column for each of ``X``, filled up with infinity. ``X`` goes by rows and
    ``out`` by columns, so a small tile is coded row by row and then turned.
    """
    n = X.shape[0]
    tile = np.empty((_HEIGHT, _WIDTH), dtype=np.uint8)
    for j0 in range(start, stop, _WIDTH):
        width = min(_WIDTH, stop - j0)
        for i0 in range(0, n, _HEIGHT):
            height = min(_HEIGHT, n - i0)
            for i in range(height):
                x, codes = X[i0 + i, j0 : j0 + width], tile[i, :width]
                _code_gaps(x, codes)
                for k in range(len(cuts)):
                    _code_cut(x, cuts[k, j0 : j0 + width], codes)
            for j in range(width):
                for i in range(height):
                    out[j0 + j, i0 + i] = tile[i, j]


@njit(cache=True, nogil=True)
def _code_gaps(x, codes):  # type: ignore[no-untyped-def]
    for j in range(len(x)):
        codes[j] = np.uint8(0) if x[j] == x[j] else np.uint8(MISSING)


@njit(cache=True, nogil=True)
def _code_cut(x, cut, codes):  # type: ignore[no-untyped-def]
    for j in range(len(x)):
        codes[j] += np.uint8(1) if x[j] > cut[j] else np.uint8(0)


@njit(cache=True, nogil=True)
def code_small_integers(start, stop, X, out, understood):  # type: ignore[no-untyped-def]
    """Codes of columns that hold whole numbers within a range of 250; others are marked."""
    n = X.shape[0]
    for j in range(start, stop):
        low, high = np.inf, -np.inf
        whole = True
        for i in range(n):
            x = X[i, j]
            if x == x:
                if x != np.floor(x):
                    whole = False
                    break
                low, high = min(low, x), max(high, x)
        understood[j] = whole and not high - low > 250.0
        if understood[j]:
            for i in range(n):
                x = X[i, j]
                out[j, i] = MISSING if x != x else np.uint8(x - low)
