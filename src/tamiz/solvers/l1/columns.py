"""Products with the features that take part in the interior point method, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy import sparse

from tamiz.runtime.parallel import run_tiles

_CACHED = 300  # columns up to which the whole of a product stays in the cache


class Columns:
    """The features that take part, and the products with them."""

    def __init__(self, X: Any, y: np.ndarray):
        self.X, self.y = X, y
        self.n, self.p = X.shape
        self.sparse = sparse.issparse(X)
        self.transposed = X.T.tocsr() if self.sparse else X.T
        if self.sparse and not X.has_sorted_indices:
            self.X = self.transposed.T.tocsr()  # the way there and back sorts them
        self.take(np.arange(self.p))

    def take(self, active: np.ndarray) -> None:
        """Let these features take part, sorted."""
        self.active = active
        whole = len(active) == self.p
        self.part = self.X if whole else self.X[:, active]
        if self.sparse:
            self.part_T = self.transposed if whole else self.transposed[active]
        else:
            self.part_T = self.part.T

    def correlations(self, alpha: np.ndarray) -> np.ndarray:
        """``G'α`` over all features."""
        return self.transposed @ (self.y * alpha)

    def forward(self, w: np.ndarray) -> np.ndarray:
        """``X w`` over the features that take part."""
        return self.part @ w

    def back(self, r: np.ndarray) -> np.ndarray:
        """``X' r`` over the features that take part."""
        return self.part_T @ r

    def gram(
        self, weight: np.ndarray, of_samples: bool, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Lower triangle of ``X diag(weight) X'`` or ``X' diag(weight) X``; into ``out`` or new."""
        A, A_T = (self.part_T, self.part) if of_samples else (self.part, self.part_T)
        if self.sparse:
            size = A.shape[1]
            H = np.empty((size, size)) if out is None else out
            if size <= _CACHED:
                given = (A.data, A.indices, A.indptr, weight, size)
                H[:] = sum(run_tiles(_gram_samples, A.shape[0], *given, min_items=8000))
                return H
            stored = (A_T.data, A_T.indices, A_T.indptr, A.data, A.indices, A.indptr)
            run_tiles(_gram_rows, size, *stored, weight, H, min_items=64)
            return H
        Z = A * np.sqrt(weight)[:, None]
        return np.matmul(Z.T, Z, out=out)


@njit(cache=True, nogil=True)
def _gram_samples(
    start: int,
    stop: int,
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    weight: np.ndarray,
    size: int,
) -> np.ndarray:
    """What rows ``start`` to ``stop`` add to the lower triangle of ``A' diag(weight) A``."""
    H = np.zeros((size, size))
    for i in range(start, stop):
        first = indptr[i]
        for k in range(first, indptr[i + 1]):
            row = H[indices[k]]
            value = weight[i] * data[k]
            for l in range(first, k + 1):  # sorted: no column beyond the diagonal
                row[indices[l]] += value * data[l]
    return H


@njit(cache=True, nogil=True)
def _gram_rows(
    start: int,
    stop: int,
    data_T: np.ndarray,
    indices_T: np.ndarray,
    indptr_T: np.ndarray,
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    weight: np.ndarray,
    H: np.ndarray,
) -> None:
    """Rows ``start`` to ``stop`` of the lower triangle of ``A' diag(weight) A``.

    ``A`` is given by its rows and (``_T``) its columns. Row by row of H, since a single one stays
    in the cache where the whole of it would not.
    """
    for a in range(start, stop):
        row = H[a]
        row[: a + 1] = 0.0
        for k in range(indptr_T[a], indptr_T[a + 1]):
            i = indices_T[k]
            value = weight[i] * data_T[k]
            for l in range(indptr[i], indptr[i + 1]):
                b = indices[l]
                if b > a:
                    break
                row[b] += value * data[l]
