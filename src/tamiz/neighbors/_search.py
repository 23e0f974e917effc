"""Who finds the neighbours: a search tree, products of matrices, or a look at all pairs.

All give the same answer, to the last row number. The tree (SciPy's ``cKDTree``, for few attributes)
and the products (scikit-learn's ``NearestNeighbors``, for many) only propose: their candidates are
measured again, and queries with ties at the last place go to the search over all pairs. Sparse
samples have a finder of their own, which does the same with what two samples have in common.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from tamiz.neighbors._brute import block_length, nearest, settle
from tamiz.neighbors._metrics import Metric
from tamiz.neighbors._space import Space
from tamiz.neighbors._thin import Index, bases, finish, make_index, nearest_thin
from tamiz.runtime.blas import one_blas_thread
from tamiz.runtime.parallel import n_threads, run_tiles
from tamiz.runtime.progress import Progress

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

# None is part of a model: they are made when first needed, and go with their samples.
_trees: WeakKeyDictionary[Space, Any] = WeakKeyDictionary()
_centred: WeakKeyDictionary[Space, Any] = WeakKeyDictionary()
_indices: WeakKeyDictionary[Space, Index] = WeakKeyDictionary()


class Finder(ABC):
    """A way to find neighbours."""

    def __init__(self, space: Space, metric: Metric) -> None:
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
        length = block_length(len(space.columns))
        run_tiles(
            nearest, len(Q), Q, space.columns, space.kinds, space.weight, space.gappy, length,
            sums, rows, min_items=1 + _WORTH // space.columns.size,
        )  # fmt: skip


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
                settle, len(whole), asked, space.columns, space.kinds, space.weight,
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


class Tree(Proposed):
    """Asks a tree, which looks at the samples near the query."""

    def per_slice(self, k: int) -> int:
        return max(1, _QUERIES // (1 + k // 16))

    def propose(self, Q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        tree = _trees.get(self.space)
        if tree is None:
            tree = _trees[self.space] = cKDTree(np.ascontiguousarray(self.space.columns.T))
        workers = min(n_threads(), 1 + len(Q) // 256)
        return tree.query(Q, k, p=self.metric.power, workers=workers)[1], np.zeros(len(Q))


class Products(Proposed):
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
        with one_blas_thread(), threadpool_limits(n_threads(), user_api="openmp"):
            found = peer.kneighbors(moved, k, return_distance=False)
        reach = 4.0 * (Q.shape[1] + 8) * np.finfo(np.float64).eps
        return found, reach * ((moved**2).sum(axis=1) + largest)


class SparsePairs(Finder):
    """Looks at what sparse samples have in common, and measures those that may be nearest.

    Training samples with missing values are all measured.
    """

    def per_slice(self, k: int) -> int:
        n, filled = self.space.n_samples, self.space.columns.nnz
        work = filled + (n * len(self.space.weight) if self.space.gappy.any() else 2 * n)
        return max(n_threads(), _LOOKS // max(1, work))

    def index(self) -> Index:
        """Made when first needed."""
        found = _indices.get(self.space)
        if found is None:
            found = _indices[self.space] = make_index(self.space, self.metric.number)
        return found

    def find(self, Q: Any, sums: np.ndarray, rows: np.ndarray) -> None:
        index, columns, weight = self.index(), self.space.columns, self.space.weight
        kind = self.metric.number
        asked, samples = (Q.indptr, Q.indices, Q.data), (index.indptr, index.indices, index.data)
        base, _ = bases(*asked, kind, weight)
        sums[:], rows[:] = np.inf, 0  # a place that nobody took would be read all the same
        few = 1 + 2**18 // (self.space.n_samples + 1)
        for c, (lower, upper) in enumerate(pairwise(index.starts)):
            first = c * index.chunk
            run_tiles(
                nearest_thin, len(base), *asked, base, columns.indices, columns.data, lower, upper,
                first, index.base[first : first + index.chunk], index.most, *samples, index.holey,
                index.gappy, kind, weight, sums, rows, min_items=few,
            )  # fmt: skip
        run_tiles(finish, len(base), *asked, *samples, kind, weight, sums, rows, min_items=few)


def choose_finder(space: Space, metric: Metric, algorithm: str, k: int) -> Finder:
    """The finder that ``algorithm`` names; "auto" is the one that should be fastest.

    Gaps and nominal attributes know neither tree nor products, whatever is asked for, nor does
    k = n. Sparse samples are not for them either.
    """
    if space.thin:
        return SparsePairs(space, metric)
    p, n = space.columns.shape
    if not space.plain or k == n:
        return AllPairs(space, metric)
    pays = p <= _MOST_ATTRIBUTES and n >= _PAYS * 2**p and 16 * k <= n
    if algorithm == "kd_tree" or (algorithm == "auto" and pays):
        return Tree(space, metric)
    if metric.power == 2 and p >= _PRODUCTS and n >= _ENOUGH and 16 * k <= n:
        return Products(space, metric)
    return AllPairs(space, metric)


def find_neighbours(finder: Finder, Q: Any, k: int, verbose: int) -> tuple[Any, Any]:
    """Distances and row numbers of the ``k`` nearest training samples, of shape (queries, k)."""
    finder.space.check()
    Q = Q if finder.space.thin else np.ascontiguousarray(Q)
    m = Q.shape[0]
    sums, rows = np.empty((m, k)), np.empty((m, k), dtype=np.intp)
    step = finder.per_slice(k)
    with Progress("Neighbours", verbose) as progress:
        for first in range(0, m, step):  # in slices, so that Ctrl-C is heard
            part = slice(first, min(first + step, m))
            finder.find(Q[part], sums[part], rows[part])
            progress.update(f"{part.stop} of {m} samples")
    return finder.metric.distance(sums), rows
