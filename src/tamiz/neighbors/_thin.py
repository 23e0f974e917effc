r"""Exact nearest neighbours among the rows of a sparse matrix, compiled.

Of two samples only the attributes count that are not zero in both. With :math:`d(u, v)` for what an
attribute adds to the sum,

.. math:: \sum_j d(x_j, z_j) = \sum_j d(x_j, 0) + \sum_j d(0, z_j)
          + \sum_{j: x_j z_j \ne 0} d(x_j, z_j) - d(x_j, 0) - d(0, z_j),

and the last sum, to all training samples at once, follows from the columns in which the query is
not zero. It is rounded, by no more than a known bound: whoever can be among the nearest by this
bound is measured again, attribute by attribute in their order. Zeros add nothing there, so that
sums, ties and neighbours are those of ``_brute`` to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tamiz.neighbors._brute import _rise, _sink, _sort, rounded
from tamiz.neighbors._metrics import ABSOLUTE, SQUARE
from tamiz.neighbors._space import UNFIT, Space

#: Training samples whose sums are held at a time: a megabyte for each thread.
CHUNK = 2**17
#: Samples that are looked at together, to see whether one of them can be near enough.
_LOOK = 64
#: Several times the largest relative change by ``rounded``, and what denormal numbers may lose.
_ROUNDED = 2.0**-34
_DENORMAL = 1e-300
_EPS = float(np.finfo(np.float64).eps)


class Index(NamedTuple):
    """What a search needs besides the columns of a space.

    Attributes
    ----------
    indptr, indices, data : arrays
        The training samples, by rows.
    base : array of shape (n_samples,)
        The sum of each to the origin.
    starts : array of shape (n_chunks + 1, n_used)
        Where the samples of each chunk begin in every column.
    chunk : int
        Samples of a chunk.
    most : int
        Values in the fullest row.
    holey : boolean array of shape (n_samples,)
        Which samples have missing values.
    gappy : intp array
        Columns with missing values.
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    base: np.ndarray
    starts: np.ndarray
    chunk: int
    most: int
    holey: np.ndarray
    gappy: np.ndarray


def make_index(space: Space, kind: int) -> Index:
    """The index of a sparse space."""
    columns = space.columns
    _refuse_unfit(columns)
    rows = space.samples()
    parts = rows.indptr, rows.indices, rows.data
    base, holey = bases(*parts, kind, space.weight)
    starts = _starts(columns.indptr, columns.indices, space.n_samples, CHUNK)
    most = int(np.diff(rows.indptr).max(initial=0))
    return Index(*parts, base, starts, CHUNK, most, holey, np.flatnonzero(space.gappy))


def _refuse_unfit(columns: Any) -> None:
    """Refuse lines that no fit makes: compiled code goes where the indices point."""
    try:
        columns.check_format(full_check=True)
        again = type(columns)((columns.data, columns.indices, columns.indptr), columns.shape)
        fits = (
            again.has_canonical_format and columns.data.all() and not np.isinf(columns.data).any()
        )
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(UNFIT)


@njit(cache=True, nogil=True)
def bases(indptr, indices, data, kind, weight):  # type: ignore[no-untyped-def]
    """The sum of each row to the origin, over what is known, and whether a value is missing."""
    n = len(indptr) - 1
    base, holey = np.zeros(n), np.zeros(n, dtype=np.bool_)
    for i in range(n):
        for a in range(indptr[i], indptr[i + 1]):
            if data[a] == data[a]:
                base[i] += _term(kind, data[a], 0.0, weight[indices[a]])
            else:
                holey[i] = True
    return base, holey


@njit(cache=True, nogil=True)
def _starts(indptr, indices, n, chunk):  # type: ignore[no-untyped-def]
    p = len(indptr) - 1
    n_chunks = max(1, (n + chunk - 1) // chunk)
    starts = np.empty((n_chunks + 1, p), dtype=np.int64)
    for j in range(p):
        a = indptr[j]
        for c in range(n_chunks):
            while a < indptr[j + 1] and indices[a] < c * chunk:
                a += 1
            starts[c, j] = a
        starts[n_chunks, j] = indptr[j + 1]
    return starts


@njit(cache=True, nogil=True)
def _term(kind, u, v, w):  # type: ignore[no-untyped-def]
    """What an attribute adds."""
    if kind == SQUARE:
        return (u - v) * (u - v)
    if kind == ABSOLUTE:
        return abs(u - v)
    return w if u != v else 0.0


@njit(cache=True, nogil=True)
def _merged(kind, weight, q_idx, q_val, t_idx, t_val):  # type: ignore[no-untyped-def]
    """The sum between two sparse rows, in the order of the attributes, over what both know."""
    s, a, b = 0.0, 0, 0
    while a < len(q_idx) and b < len(t_idx):
        i, j = q_idx[a], t_idx[b]
        u, v = 0.0, 0.0
        if i <= j:
            v = q_val[a]
            a += 1
        if j <= i:
            u = t_val[b]
            b += 1
        if u == u and v == v:
            s += _term(kind, u, v, weight[min(i, j)])
    while a < len(q_idx):
        if q_val[a] == q_val[a]:
            s += _term(kind, 0.0, q_val[a], weight[q_idx[a]])
        a += 1
    while b < len(t_idx):
        if t_val[b] == t_val[b]:
            s += _term(kind, t_val[b], 0.0, weight[t_idx[b]])
        b += 1
    return s


@njit(cache=True, nogil=True)
def nearest_thin(  # type: ignore[no-untyped-def]
    start, stop, q_ptr, q_idx, q_val, q_base, places, values, lower, upper, first, base, most,
    t_ptr, t_idx, t_val, holey, gappy, kind, weight, sums, rows,
):  # fmt: skip
    """Let the training samples of a chunk, from row ``first`` on, into the heaps of the nearest.

    ``places`` and ``values`` are the columns of all training samples; those of the chunk lie
    between ``lower`` and ``upper``. Where values are missing the weight of what is known is added
    up as ``_brute`` does, the columns without gaps first; it is the same for all training samples
    without gaps, whose order is therefore that of the sums. Those with gaps are all measured.
    """
    m, p, k = len(base), len(weight), rows.shape[1]
    total = weight.sum()
    near = np.empty(m)
    heap, spare = np.empty(k), np.empty(k, dtype=np.intp)
    missing = np.zeros(p, dtype=np.bool_)  # in the query
    full = np.ones(p, dtype=np.bool_)
    full[gappy] = False
    incomplete = first + np.flatnonzero(holey[first : first + m])
    for q in range(start, stop):
        idx, val = q_idx[q_ptr[q] : q_ptr[q + 1]], q_val[q_ptr[q] : q_ptr[q + 1]]
        near[:] = 0.0
        gaps = len(gappy) > 0
        for a in range(len(idx)):
            j, v = idx[a], val[a]
            if v != v:
                gaps = missing[j] = True
            if v != v or not full[j]:
                _overlap_gaps(near, places, values, lower[j], upper[j], first, kind, v, weight[j])
            else:
                _overlap(near, places, values, lower[j], upper[j], first, kind, v, weight[j])
        known, share = 0.0, 0.0
        if gaps:
            for j in range(p):
                if not missing[j] and full[j]:
                    known += weight[j]
                elif not missing[j]:
                    share += weight[j]
        factor = total / (known + share) if gaps and known + share > 0 else 1.0
        origin = q_base[q]
        reach = 4.0 * _EPS * (len(idx) + most + 8)  # times sums to the origin: the bound
        _complete(near, base, origin)
        for t in incomplete:
            near[t - first] = -np.inf
        limit = _limit(near, base, origin, reach, heap, spare)
        if not limit * factor < np.inf:  # sums beyond float64 tie
            limit = np.inf
        filled = min(first, k)
        for begin in range(0, m, _LOOK):
            end = min(begin + _LOOK, m)
            if filled == k:
                limit = min(limit, _above(sums[q, 0] / factor))
            if not _within(near[begin:end], base[begin:end], origin, -reach, limit):
                continue
            for i in range(begin, end):
                if near[i] - reach * (origin + base[i]) > limit:
                    continue
                t = first + i
                there, held = t_idx[t_ptr[t] : t_ptr[t + 1]], t_val[t_ptr[t] : t_ptr[t + 1]]
                s = _merged(kind, weight, idx, val, there, held)
                if gaps:
                    part = known + share
                    if holey[t]:
                        part = known + _known(gappy, missing, there, held, weight)
                    s = s * (total / part) if part > 0 else np.inf
                filled = _enter(sums[q], rows[q], filled, rounded(s), t)
        for a in range(len(idx)):
            missing[idx[a]] = False


@njit(cache=True, nogil=True)
def _overlap(near, places, values, begin, end, first, kind, v, w):  # type: ignore[no-untyped-def]
    """What an attribute that is not zero in the query adds where it is not zero either."""
    if kind == SQUARE:
        for b in range(begin, end):
            near[places[b] - first] -= 2.0 * v * values[b]
    elif kind == ABSOLUTE:
        for b in range(begin, end):
            u = values[b]
            near[places[b] - first] += abs(u - v) - abs(u) - abs(v)
    else:
        for b in range(begin, end):
            near[places[b] - first] -= w if values[b] != v else 2.0 * w


@njit(cache=True, nogil=True)
def _overlap_gaps(near, places, values, begin, end, first, kind, v, w):  # type: ignore[no-untyped-def]
    """The same where values are missing: what the other one has does not count."""
    for b in range(begin, end):
        u = values[b]
        if u == u:
            near[places[b] - first] -= _term(kind, u, 0.0, w)
        if v == v:
            near[places[b] - first] -= _term(kind, 0.0, v, w)
        if u == u and v == v:
            near[places[b] - first] += _term(kind, u, v, w)


@njit(cache=True, nogil=True)
def _above(s):  # type: ignore[no-untyped-def]
    """Sums above this are farther, rounded or not, than a sum of ``s``."""
    return s * (1.0 + _ROUNDED) + _DENORMAL


@njit(cache=True, nogil=True)
def _limit(near, base, origin, reach, heap, spare):  # type: ignore[no-untyped-def]
    """A sum that at least k samples of the chunk do not exceed; infinite if it has fewer.

    Samples with gaps (minus infinity) are passed over.
    """
    m, k, filled = len(near), len(heap), 0
    for begin in range(0, m, _LOOK):
        end = min(begin + _LOOK, m)
        if filled == k and not _within(near[begin:end], base[begin:end], origin, reach, heap[0]):
            continue
        for i in range(begin, end):
            high = near[i] + reach * (origin + base[i])
            if high > -np.inf and (filled < k or high < heap[0]):
                filled = _enter(heap, spare, filled, high, i)
    return _above(max(heap[0], 0.0)) if filled == k else np.inf


@njit(cache=True, nogil=True)
def _complete(near, base, origin):  # type: ignore[no-untyped-def]
    for i in range(len(near)):
        near[i] += origin + base[i]


@njit(cache=True, nogil=True)
def _within(near, base, origin, reach, limit):  # type: ignore[no-untyped-def]
    """Whether some sums, moved by how wrong they may be, do not exceed a limit."""
    hits = np.int64(0)
    for i in range(len(near)):  # counted to the end: several at a time
        hits += 1 if near[i] + reach * (origin + base[i]) <= limit else 0
    return hits > 0


@njit(cache=True, nogil=True)
def _enter(best, rows, filled, key, row):  # type: ignore[no-untyped-def]
    """Let a sample into a heap; they come in the order of their rows. Returns who is in it."""
    if filled < len(rows):
        _rise(best, rows, filled, key, row)
        return filled + 1
    if key < best[0]:
        _sink(best, rows, filled, key, row)
    return filled


@njit(cache=True, nogil=True)
def _known(which, missing, there, values, weight):  # type: ignore[no-untyped-def]
    """Weight of those of some columns that are known in a query and in a training sample."""
    s, b = 0.0, 0
    for j in which:
        while b < len(there) and there[b] < j:
            b += 1
        gap = b < len(there) and there[b] == j and values[b] != values[b]
        if not gap and not missing[j]:
            s += weight[j]
    return s


@njit(cache=True, nogil=True)
def finish(start, stop, q_ptr, q_idx, q_val, t_ptr, t_idx, t_val, kind, weight, sums, rows):  # type: ignore[no-untyped-def]
    """Turn heaps into ascending order, and rounded sums into sums as they are."""
    p, total = len(weight), weight.sum()
    missing = np.zeros(p, dtype=np.bool_)
    everything = np.arange(p)
    for q in range(start, stop):
        idx, val = q_idx[q_ptr[q] : q_ptr[q + 1]], q_val[q_ptr[q] : q_ptr[q + 1]]
        gaps = False
        for a in range(len(idx)):
            missing[idx[a]] = val[a] != val[a]
            gaps |= val[a] != val[a]
        _sort(sums[q], rows[q])
        for r in range(rows.shape[1]):
            t = rows[q, r]
            there, values = t_idx[t_ptr[t] : t_ptr[t + 1]], t_val[t_ptr[t] : t_ptr[t + 1]]
            s = _merged(kind, weight, idx, val, there, values)
            if gaps or np.isnan(values).any():
                known = _known(everything, missing, there, values, weight)
                s = s * (total / known) if known > 0 else np.inf
            sums[q, r] = s
        for a in range(len(idx)):
            missing[idx[a]] = False
