r"""Exact nearest neighbours: a search tree, products of matrices, or a look at all pairs.

All give the same answer, to the last row number. The tree (SciPy's ``cKDTree``, for few attributes)
and the products (scikit-learn's ``NearestNeighbors``, for many) only propose: their candidates are
measured again, and queries with ties at the last place go to the search over all pairs.

**Dense samples.** Sums over the attributes are made for a block of training samples at a time, so
that a block stays in the fastest memory while several queries pass over it. Sums that agree in
their first 36 bits are ties, and the smaller row number is nearer: the order of summation then has
no say, nor has the order of the attributes. The k nearest are kept in a heap whose root is the
farthest.

**Sparse samples.** Of two samples only the attributes count that are not zero in both. With
:math:`d(u, v)` for what an attribute adds to the sum,

.. math:: \sum_j d(x_j, z_j) = \sum_j d(x_j, 0) + \sum_j d(0, z_j)
          + \sum_{j: x_j z_j \ne 0} d(x_j, z_j) - d(x_j, 0) - d(0, z_j),

and the last sum, to all training samples at once, follows from the columns in which the query is
not zero. It is rounded, by no more than a known bound; whoever can be among the nearest by this
bound is measured again, attribute by attribute. So is every pair with a missing value.
See docs/design/neighbours.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from tamiz.neighbors._space import ABSOLUTE, MISMATCH, SQUARE, UNFIT, Distance, Space
from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import n_threads, one_blas_thread, openmp_threads, run_tiles

#: Differences that make a thread worth while, and those between two looks at the keyboard.
_WORTH = 2**21
_SLICE = 2**31
#: Samples per doubling from which a tree pays, and queries between two looks at the keyboard.
_PAYS = 40
_MOST_ATTRIBUTES = 12
_QUERIES = 2**14
#: Attributes, samples and queries from which products pay.
_PRODUCTS = 20
_ENOUGH = 1000
_FEW = 32
#: Numbers of sparse samples to look at between two looks at the keyboard.
_LOOKS = 2**29
#: Queries that pass over a block together, and numbers of a block.
_PASS = 32
_NUMBERS = 4096
#: Sparse samples that are looked at together, to see whether one of them can be near enough.
_LOOK = 64
#: Several times the largest relative change by ``rounded``, and what denormal numbers may lose.
_ROUNDED = 2.0**-34
_DENORMAL = 1e-300
_EPS = float(np.finfo(np.float64).eps)

# None is part of a model: they are made when first needed, and go with their samples.
_trees: WeakKeyDictionary[Space, Any] = WeakKeyDictionary()
_centred: WeakKeyDictionary[Space, Any] = WeakKeyDictionary()
_indices: WeakKeyDictionary[Space, SparseIndex] = WeakKeyDictionary()


class Finder(ABC):
    """A way to find neighbours."""

    def __init__(self, space: Space, metric: Distance) -> None:
        self.space, self.metric = space, metric

    @abstractmethod
    def per_slice(self, k: int) -> int:
        """Queries that take about a second."""

    @abstractmethod
    def find(self, Q: Any, sums: np.ndarray, rows: np.ndarray) -> None:
        """Fill in sums over attributes and row numbers of the neighbours, nearest first."""


class AllPairs(Finder):
    """Looks at every training sample."""

    def per_slice(self, k: int) -> int:
        return max(1, _SLICE // self.space.columns.size)

    def find(self, Q: np.ndarray, sums: np.ndarray, rows: np.ndarray) -> None:
        space = self.space
        length = int(min(512, max(64, _NUMBERS // max(1, len(space.columns)))))  # of a block
        few = 1 + _WORTH // space.columns.size
        run_tiles(nearest, len(Q), Q, space.arrays(), length, sums, rows, min_items=few)


class Proposed(Finder):
    """Has candidates from elsewhere, measures them again, and leaves what is in doubt to all pairs.

    The k + 1 nearest are asked for: if the last two are apart, the k are right. What decides is
    never the distance that the other search had found.
    """

    @abstractmethod
    def propose(self, Q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Candidates of each query, and by how much the sums behind them may be wrong."""

    def find(self, Q: np.ndarray, sums: np.ndarray, rows: np.ndarray) -> None:
        space, k = self.space, rows.shape[1]
        rest = np.isnan(Q).any(axis=1)
        whole = np.flatnonzero(~rest)
        if len(whole):
            asked = Q if len(whole) == len(Q) else np.ascontiguousarray(Q[whole])
            found, slack = self.propose(asked, k + 1)
            part, places = np.empty((len(whole), k)), np.empty((len(whole), k), dtype=np.intp)
            doubtful = np.zeros(len(whole), dtype=bool)
            run_tiles(
                settle, len(whole), asked, space.arrays(),
                np.ascontiguousarray(found, dtype=np.intp), slack, part, places, doubtful,
                min_items=1024,
            )  # fmt: skip
            sums[whole], rows[whole] = part, places
            rest[whole[doubtful]] = True
        left = np.flatnonzero(rest)
        if len(left):
            part, places = np.empty((len(left), k)), np.empty((len(left), k), dtype=np.intp)
            AllPairs(space, self.metric).find(np.ascontiguousarray(Q[left]), part, places)
            sums[left], rows[left] = part, places


class KDTree(Proposed):
    """Asks a tree, which looks at the samples near the query."""

    def per_slice(self, k: int) -> int:
        return max(1, _QUERIES // (1 + k // 16))

    def propose(self, Q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        tree = _trees.get(self.space)
        if tree is None:
            tree = _trees[self.space] = cKDTree(np.ascontiguousarray(self.space.columns.T))
        workers = min(n_threads(), 1 + len(Q) // 256)
        return tree.query(Q, k, p=self.metric.power, workers=workers)[1], np.zeros(len(Q))


class MatrixProducts(Proposed):
    """Asks for products of matrices, from which Euclidean distances follow up to rounding."""

    def per_slice(self, k: int) -> int:
        return max(_FEW, 4 * _SLICE // self.space.columns.size)

    def find(self, Q: np.ndarray, sums: np.ndarray, rows: np.ndarray) -> None:
        if len(Q) < _FEW:
            AllPairs(self.space, self.metric).find(Q, sums, rows)
        else:
            super().find(Q, sums, rows)

    def propose(self, Q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        kept = _centred.get(self.space)
        if kept is None:
            centre = self.space.columns.mean(axis=1)  # small numbers are rounded less
            samples = np.ascontiguousarray(self.space.columns.T) - centre
            peer = NearestNeighbors(algorithm="brute", metric="euclidean").fit(samples)
            kept = _centred[self.space] = (centre, peer, float((samples**2).sum(axis=1).max()))
        centre, peer, largest = kept
        moved = Q - centre
        # scikit-learn holds BLAS to one thread itself, but would put back what others had set
        with one_blas_thread(), threadpool_limits(openmp_threads(), user_api="openmp"):
            found = peer.kneighbors(moved, k, return_distance=False)
        reach = 4.0 * (Q.shape[1] + 8) * np.finfo(np.float64).eps
        return found, reach * ((moved**2).sum(axis=1) + largest)


class SparsePairs(Finder):
    """Looks at what sparse samples have in common, and measures those that may be nearest."""

    def per_slice(self, k: int) -> int:
        n, filled = self.space.n_samples, self.space.columns.nnz
        work = filled + (n * len(self.space.weight) if self.space.gappy.any() else 2 * n)
        return max(n_threads(), _LOOKS // max(1, work))

    def find(self, Q: Any, sums: np.ndarray, rows: np.ndarray) -> None:
        space, kind = self.space, self.metric.number
        index = _indices.get(space)
        if index is None:
            index = _indices[space] = make_index(space, kind)
        queries = SparseRows(Q.indptr, Q.indices, Q.data)
        run_tiles(
            nearest_sparse, Q.shape[0], queries, index, kind, space.weight, sums, rows,
            min_items=1 + 2**18 // (space.n_samples + 1),
        )  # fmt: skip


def choose_finder(space: Space, metric: Distance, algorithm: str, k: int) -> Finder:
    """The finder that ``algorithm`` names; "auto" is the one that should be fastest.

    Missing values, nominal attributes and k = n are for all pairs, whatever is asked for; sparse
    samples have a way of their own.
    """
    if space.is_sparse:
        return SparsePairs(space, metric)
    p, n = space.columns.shape
    if not space.plain or k == n:
        return AllPairs(space, metric)
    pays = p <= _MOST_ATTRIBUTES and n >= _PAYS * 2**p and 16 * k <= n
    if algorithm == "kd_tree" or (algorithm == "auto" and pays):
        return KDTree(space, metric)
    if metric.power == 2 and p >= _PRODUCTS and n >= _ENOUGH and 16 * k <= n:
        return MatrixProducts(space, metric)
    return AllPairs(space, metric)


def find_neighbours(finder: Finder, Q: Any, k: int, verbose: int) -> tuple[Any, Any]:
    """Distances and row numbers of the ``k`` nearest training samples, of shape (queries, k)."""
    finder.space.check()
    Q = Q if finder.space.is_sparse else np.ascontiguousarray(Q)
    m = Q.shape[0]
    sums, rows = np.empty((m, k)), np.empty((m, k), dtype=np.intp)
    step = finder.per_slice(k)
    with Progress("Neighbours", verbose) as progress:
        for first in range(0, m, step):  # in slices, so that Ctrl-C is heard
            part = slice(first, min(first + step, m))
            finder.find(Q[part], sums[part], rows[part])
            progress.update(f"{part.stop} of {m} samples")
    return finder.metric.distance(sums), rows


# ---------------------------------------------------------------------- dense samples, compiled


@njit(cache=True, nogil=True)
def nearest(start, stop, Q, space, length, sums, rows):
    """Fill ``sums`` and ``rows`` (queries, k) with the nearest training samples, nearest first."""
    n, k = space.columns.shape[1], rows.shape[1]
    keys, known_each = np.empty(length), np.empty(length)
    total = space.weight.sum()
    for tile in range(start, stop, _PASS):
        last = min(tile + _PASS, stop)
        for first in range(0, n, length):
            m = min(length, n - first)
            for q in range(tile, last):
                _sums(Q[q], space, total, first, m, keys, known_each)
                _take(keys, first, m, sums[q], rows[q], k)
        for q in range(tile, last):
            _sort(sums[q], rows[q])
            for r in range(k):
                sums[q, r] = pair(Q[q], space, total, rows[q, r])


@njit(cache=True, nogil=True)
def _sums(x, space, total, first, m, keys, known_each):
    """Rounded sums over the attributes for ``m`` training samples from ``first`` on."""
    columns, kinds, weight, gappy = space
    known, missing = 0.0, False
    for i in range(m):
        keys[i] = 0.0
        known_each[i] = 0.0
    for j in range(len(x)):
        v, w = x[j], weight[j]
        if v != v:
            missing = True
            continue
        column = columns[j, first : first + m]
        if gappy[j]:
            missing = True
            for i in range(m):
                known_each[i] += w if column[i] == column[i] else 0.0
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
    if not missing:
        for i in range(m):
            keys[i] = rounded(keys[i])
        return
    for i in range(m):
        part = known + known_each[i]
        keys[i] = rounded(keys[i] * (total / part)) if part > 0 else np.inf


@njit(cache=True, nogil=True)
def pair(x, space, total, i):
    """The sum over the attributes for one training sample, as it is."""
    columns, kinds, weight, _gappy = space
    s, known, missing = 0.0, 0.0, False
    for j in range(len(x)):
        u = columns[j, i]
        if x[j] != x[j] or u != u:
            missing = True
            continue
        known += weight[j]
        if kinds[j] == SQUARE:
            s += (u - x[j]) * (u - x[j])
        elif kinds[j] == ABSOLUTE:
            s += abs(u - x[j])
        elif kinds[j] == MISMATCH and u != x[j]:
            s += weight[j]
    if not missing:
        return s
    return s * (total / known) if known > 0 else np.inf


@njit(cache=True, nogil=True)
def rounded(s):
    """``s`` rounded to 36 significant bits (Veltkamp's splitting); as it is near overflow."""
    t = s * 131073.0  # 2^17 + 1
    return t - (t - s) if t < np.inf else s


@njit(cache=True, nogil=True)
def _take(keys, first, m, best, rows, k):
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
def _rise(best, rows, place, key, row):
    """Add an entry at the end of a heap."""
    while place > 0:
        parent = (place - 1) // 2
        if best[parent] > key or (best[parent] == key and rows[parent] > row):
            break
        best[place], rows[place] = best[parent], rows[parent]
        place = parent
    best[place], rows[place] = key, row


@njit(cache=True, nogil=True)
def _sink(best, rows, size, key, row):
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
def _sort(best, rows):
    """Turn a heap into ascending order."""
    for size in range(len(rows) - 1, 0, -1):
        key, row = best[size], rows[size]
        best[size], rows[size] = best[0], rows[0]
        _sink(best, rows, size, key, row)


@njit(cache=True, nogil=True)
def settle(start, stop, Q, space, found, slack, sums, rows, doubtful):
    """From k + 1 candidates of another search to the k nearest, by the rules of this module.

    ``doubtful`` are queries whose k-th and next neighbour are too near to each other to tell that
    no other sample has a better claim: nearer than ``slack``, by which the sums of the other search
    may be wrong.
    """
    k, total = rows.shape[1], space.weight.sum()
    keys, order = np.empty(k + 1), np.empty(k + 1, dtype=np.intp)
    for q in range(start, stop):
        for r in range(k + 1):
            row = found[q, r]
            _rise(keys, order, r, rounded(pair(Q[q], space, total, row)), row)
        _sort(keys, order)
        doubtful[q] = not keys[k] > keys[k - 1] * (1 + 1e-9) + slack[q]
        for r in range(k):
            rows[q, r] = order[r]
            sums[q, r] = pair(Q[q], space, total, order[r])


# --------------------------------------------------------------------- sparse samples, compiled


class SparseRows(NamedTuple):
    """The arrays of a CSR matrix."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


class SparseIndex(NamedTuple):
    """The training samples by rows and by columns, and what the search asks of each.

    Attributes
    ----------
    samples, columns : SparseRows
        One line for each sample; one line for each attribute.
    base : array of shape (n_samples,)
        The sum of each sample to the origin.
    incomplete : intp array
        The samples with missing values.
    most : int
        Values in the fullest row.
    """

    samples: SparseRows
    columns: SparseRows
    base: np.ndarray
    incomplete: np.ndarray
    most: int


def make_index(space: Space, kind: int) -> SparseIndex:
    """The index of a sparse space; refuses places beyond its arrays, which compiled code reads."""
    columns = space.columns
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
    lines = space.samples()
    base, incomplete = _bases(lines.indptr, lines.indices, lines.data, kind, space.weight)
    return SparseIndex(
        SparseRows(lines.indptr, lines.indices, lines.data),
        SparseRows(columns.indptr, columns.indices, columns.data),
        base,
        np.flatnonzero(incomplete),
        int(np.diff(lines.indptr).max(initial=0)),
    )


@njit(cache=True, nogil=True)
def _bases(indptr, indices, data, kind, weight):
    """The sum of each row to the origin, over what is known, and whether a value is missing."""
    n = len(indptr) - 1
    base, incomplete = np.zeros(n), np.zeros(n, dtype=np.bool_)
    for i in range(n):
        for a in range(indptr[i], indptr[i + 1]):
            if data[a] == data[a]:
                base[i] += _term(kind, data[a], 0.0, weight[indices[a]])
            else:
                incomplete[i] = True
    return base, incomplete


@njit(cache=True, nogil=True)
def _term(kind, u, v, w):
    """What an attribute adds."""
    if kind == SQUARE:
        return (u - v) * (u - v)
    if kind == ABSOLUTE:
        return abs(u - v)
    return w if u != v else 0.0


@njit(cache=True, nogil=True)
def nearest_sparse(start, stop, queries, index, kind, weight, sums, rows):
    """Fill ``sums`` and ``rows`` (queries, k) with the nearest training samples, nearest first."""
    q_ptr, q_idx, q_val = queries
    t_ptr, t_idx, t_val = index.samples
    base = index.base
    n, k, total = len(base), rows.shape[1], weight.sum()
    near = np.empty(n)
    heap, spare = np.empty(k), np.empty(k, dtype=np.intp)
    for q in range(start, stop):
        idx, val = q_idx[q_ptr[q] : q_ptr[q + 1]], q_val[q_ptr[q] : q_ptr[q + 1]]
        reach = 4.0 * _EPS * (len(idx) + index.most + 8)  # times sums to the origin: the bound
        limit = np.inf
        if np.isnan(val).any():
            near[:] = -np.inf
        else:
            origin = _near(idx, val, index, kind, weight, near)
            limit = _limit(near, base, origin, reach, heap, spare)
        filled = 0
        for begin in range(0, n, _LOOK):
            end = min(begin + _LOOK, n)
            if not _within(near[begin:end], base[begin:end], -reach, limit):
                continue
            for i in range(begin, end):
                if near[i] - reach * base[i] > limit:
                    continue
                there, held = t_idx[t_ptr[i] : t_ptr[i + 1]], t_val[t_ptr[i] : t_ptr[i + 1]]
                s = rounded(_sparse_pair(kind, weight, total, idx, val, there, held))
                if filled < k or s < sums[q, 0]:
                    filled = _enter(sums[q], rows[q], filled, s, i)
        _sort(sums[q], rows[q])
        for r in range(k):
            i = rows[q, r]
            there, held = t_idx[t_ptr[i] : t_ptr[i + 1]], t_val[t_ptr[i] : t_ptr[i + 1]]
            sums[q, r] = _sparse_pair(kind, weight, total, idx, val, there, held)


@njit(cache=True, nogil=True)
def _near(idx, val, index, kind, weight, near):
    """Fill in the sums by the formula above, less the first term, which is returned.

    Training samples with missing values get minus infinity.
    """
    ptr, places, values = index.columns
    for i in range(len(near)):
        near[i] = index.base[i]
    origin = 0.0
    for a in range(len(idx)):
        j, v, w = idx[a], val[a], weight[idx[a]]
        alone = _term(kind, v, 0.0, w)
        origin += alone
        for b in range(ptr[j], ptr[j + 1]):
            u = values[b]
            near[places[b]] += _term(kind, u, v, w) - _term(kind, u, 0.0, w) - alone
    near[index.incomplete] = -np.inf
    return origin


@njit(cache=True, nogil=True)
def _limit(near, base, origin, reach, heap, spare):
    """What the sums in ``near`` of the k nearest samples, less their bounds, cannot exceed."""
    filled, k = 0, len(heap)
    for begin in range(0, len(near), _LOOK):
        end = min(begin + _LOOK, len(near))
        if filled == k and not _within(near[begin:end], base[begin:end], reach, heap[0]):
            continue
        for i in range(begin, end):
            high = near[i] + reach * base[i]
            if high > -np.inf and (filled < k or high < heap[0]):
                filled = _enter(heap, spare, filled, high, i)
    if filled < k:
        return np.inf
    farthest = max(heap[0] + origin * (1.0 + reach), 0.0) * (1.0 + _ROUNDED) + _DENORMAL
    return farthest - origin * (1.0 - reach)


@njit(cache=True, nogil=True)
def _within(near, base, reach, limit):
    """Whether some sums, moved by how wrong they may be, do not exceed a limit."""
    hits = np.int64(0)
    for i in range(len(near)):  # counted to the end: several at a time
        hits += 1 if near[i] + reach * base[i] <= limit else 0
    return hits > 0


@njit(cache=True, nogil=True)
def _enter(best, rows, filled, key, row):
    """Let a sample into a heap that is not full, or in the place of its root; returns who is in."""
    if filled < len(rows):
        _rise(best, rows, filled, key, row)
        return filled + 1
    _sink(best, rows, filled, key, row)
    return filled


@njit(cache=True, nogil=True)
def _sparse_pair(kind, weight, total, idx, val, there, held):
    """The sum between two sparse rows, in the order of the attributes, over what both know."""
    s, a, b, missing = 0.0, 0, 0, False
    end = len(weight)
    while a < len(idx) or b < len(there):
        i = idx[a] if a < len(idx) else end
        j = there[b] if b < len(there) else end
        u, v, at = 0.0, 0.0, min(i, j)
        if i == at:
            v = val[a]
            a += 1
        if j == at:
            u = held[b]
            b += 1
        if u == u and v == v:
            s += _term(kind, u, v, weight[at])
        else:
            missing = True
    if not missing:
        return s
    known, a, b = 0.0, 0, 0
    for j in range(end):
        unknown = False
        if a < len(idx) and idx[a] == j:
            unknown = val[a] != val[a]
            a += 1
        if b < len(there) and there[b] == j:
            unknown |= held[b] != held[b]
            b += 1
        if not unknown:
            known += weight[j]
    return s * (total / known) if known > 0 else np.inf
