"""Exact nearest neighbours among all training samples, compiled.

Sums over the attributes are made for a block of training samples at a time, so that a block stays
in the fastest memory while several queries pass over it. Sums that agree in their first 36 bits are
ties, and the smaller row number is nearer: the order of summation then has no say, nor has the
order of the attributes. The k nearest are kept in a heap whose root is the farthest.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tamiz.neighbors._metrics import ABSOLUTE, MISMATCH, SQUARE

#: Queries that pass over a block together, and numbers of a block.
_QUERIES = 32
_NUMBERS = 4096


def block_length(n_attributes: int) -> int:
    """Training samples in a block."""
    return int(min(512, max(64, _NUMBERS // max(1, n_attributes))))


@njit(cache=True, nogil=True)
def nearest(start, stop, Q, columns, kinds, weight, gappy, length, sums, rows):  # type: ignore[no-untyped-def]
    """Fill ``sums`` and ``rows`` (queries, k) with the nearest training samples, nearest first."""
    n, k = columns.shape[1], rows.shape[1]
    keys, share = np.empty(length), np.empty(length)
    total = weight.sum()
    for tile in range(start, stop, _QUERIES):
        last = min(tile + _QUERIES, stop)
        for first in range(0, n, length):
            m = min(length, n - first)
            for q in range(tile, last):
                _sums(Q[q], columns, kinds, weight, gappy, total, first, m, keys, share)
                _take(keys, first, m, sums[q], rows[q], k)
        for q in range(tile, last):
            _sort(sums[q], rows[q])
            for r in range(k):
                sums[q, r] = pair(Q[q], columns, kinds, weight, total, rows[q, r])


@njit(cache=True, nogil=True)
def _sums(x, columns, kinds, weight, gappy, total, first, m, keys, share):  # type: ignore[no-untyped-def]
    """Rounded sums over the attributes for ``m`` training samples from ``first`` on."""
    known, gaps = 0.0, False
    for i in range(m):
        keys[i] = 0.0
        share[i] = 0.0
    for j in range(len(x)):
        v, w = x[j], weight[j]
        if v != v:
            gaps = True
            continue
        column = columns[j, first : first + m]
        if gappy[j]:
            gaps = True
            for i in range(m):
                share[i] += w if column[i] == column[i] else 0.0
        else:
            known += w
        if kinds[j] == SQUARE:
            for i in range(m):
                u = column[i] - v
                keys[i] += u * u if u == u else 0.0
        elif kinds[j] == ABSOLUTE:
            for i in range(m):
                u = abs(column[i] - v)
                keys[i] += u if u == u else 0.0
        else:
            for i in range(m):
                u = column[i]
                keys[i] += w if u != v and u == u else 0.0
    if not gaps:
        for i in range(m):
            keys[i] = rounded(keys[i])
        return
    for i in range(m):
        part = known + share[i]
        keys[i] = rounded(keys[i] * (total / part)) if part > 0 else np.inf


@njit(cache=True, nogil=True)
def pair(x, columns, kinds, weight, total, i):  # type: ignore[no-untyped-def]
    """The sum over the attributes for one training sample, as it is."""
    s, known, gaps = 0.0, 0.0, False
    for j in range(len(x)):
        u = columns[j, i]
        if x[j] != x[j] or u != u:
            gaps = True
            continue
        known += weight[j]
        if kinds[j] == SQUARE:
            s += (u - x[j]) * (u - x[j])
        elif kinds[j] == ABSOLUTE:
            s += abs(u - x[j])
        elif kinds[j] == MISMATCH and u != x[j]:
            s += weight[j]
    if not gaps:
        return s
    return s * (total / known) if known > 0 else np.inf


@njit(cache=True, nogil=True)
def rounded(s):  # type: ignore[no-untyped-def]
    """``s`` rounded to 36 significant bits (Veltkamp's splitting); as it is near overflow."""
    t = s * 131073.0  # 2^17 + 1
    return t - (t - s) if t < np.inf else s


@njit(cache=True, nogil=True)
def _take(keys, first, m, best, rows, k):  # type: ignore[no-untyped-def]
    """Let the samples of a block into the heap of the ``k`` best.

    They come in the order of their rows: at equal keys those that are in the heap are nearer.
    """
    filled = min(first, k)
    if filled == k:
        worst, hits = best[0], 0
        for i in range(m):
            hits += keys[i] < worst
        if hits == 0:
            return
    for i in range(m):
        if filled < k:
            _rise(best, rows, filled, keys[i], first + i)
            filled += 1
        elif keys[i] < best[0]:
            _sink(best, rows, k, keys[i], first + i)


@njit(cache=True, nogil=True)
def _rise(best, rows, place, key, row):  # type: ignore[no-untyped-def]
    """Add an entry at the end of a heap."""
    while place > 0:
        parent = (place - 1) // 2
        if best[parent] > key or (best[parent] == key and rows[parent] > row):
            break
        best[place], rows[place] = best[parent], rows[parent]
        place = parent
    best[place], rows[place] = key, row


@njit(cache=True, nogil=True)
def _sink(best, rows, size, key, row):  # type: ignore[no-untyped-def]
    """Put an entry in the place of the root."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            best[other] > best[child] or (best[other] == best[child] and rows[other] > rows[child])
        ):
            child = other
        if key > best[child] or (key == best[child] and row > rows[child]):
            break
        best[place], rows[place] = best[child], rows[child]
        place = child
    best[place], rows[place] = key, row


@njit(cache=True, nogil=True)
def _sort(best, rows):  # type: ignore[no-untyped-def]
    """Turn a heap into ascending order."""
    for size in range(len(rows) - 1, 0, -1):
        key, row = best[size], rows[size]
        best[size], rows[size] = best[0], rows[0]
        _sink(best, rows, size, key, row)


@njit(cache=True, nogil=True)
def settle(start, stop, Q, columns, kinds, weight, found, slack, sums, rows, doubtful):  # type: ignore[no-untyped-def]
    """From k + 1 candidates of another search to the k nearest, by the rules of this module.

    ``doubtful`` are queries whose k-th and next neighbour are too near to each other to tell that
    no other sample has a better claim: nearer than ``slack``, by which the sums of the other search
    may be wrong.
    """
    k, total = rows.shape[1], weight.sum()
    keys, order = np.empty(k + 1), np.empty(k + 1, dtype=np.intp)
    for q in range(start, stop):
        for r in range(k + 1):
            row = found[q, r]
            _rise(keys, order, r, rounded(pair(Q[q], columns, kinds, weight, total, row)), row)
        _sort(keys, order)
        doubtful[q] = not keys[k] > keys[k - 1] * (1 + 1e-9) + slack[q]
        for r in range(k):
            rows[q, r] = order[r]
            sums[q, r] = pair(Q[q], columns, kinds, weight, total, order[r])
