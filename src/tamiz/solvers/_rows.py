"""Rows of a table, dense or CSR, as the compiled online solvers see them.

A table is passed as three arrays. Dense: the table itself and two empty index arrays. CSR: its
``data``, ``indices`` and ``indptr``. The number of dimensions of the first array
distinguishes them, which numba resolves while compiling: each specialisation contains one of the
branches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tamiz.runtime.compiling import njit

#: Multiply-adds of one compiled run: well below 0.2 s, so that Ctrl-C is noticed.
WORK_PER_RUN = 8_000_000


def row_arrays(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the three arrays that stand for ``X`` (C-contiguous, or CSR)."""
    if sparse.issparse(X):
        return X.data, X.indices, X.indptr
    none = np.empty(0, dtype=np.int32)
    return X, none, none


def rows_per_run(X: Any, n_machines: int = 1) -> int:
    """Return how many rows of ``X`` a compiled run may take."""
    per_row = X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
    return max(1, int(WORK_PER_RUN / (n_machines * (per_row + 10))))


@njit(cache=True, nogil=True)
def dot_row(w, k, values, indices, indptr, i):
    """Inner product of row ``i`` with the leading entries of ``w[k]``."""
    if values.ndim == 2:
        return _dot_dense(w, k, values, i)
    return _dot_csr(w, k, values, indices, indptr, i)


@njit(cache=True, nogil=True)
def add_row(w, k, a, values, indices, indptr, i):
    """Add ``a`` times row ``i`` to the leading entries of ``w[k]``."""
    if values.ndim == 2:
        for j in range(values.shape[1]):
            w[k, j] += a * values[i, j]
    else:
        for q in range(indptr[i], indptr[i + 1]):
            w[k, indices[q]] += a * values[q]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dot_dense(w, k, values, i):
    total = 0.0
    for j in range(values.shape[1]):
        total += w[k, j] * values[i, j]
    return total


@njit(cache=True, nogil=True)
def _dot_csr(w, k, values, indices, indptr, i):
    # Two sums hide the latency of the addition. Letting the compiler reorder instead would make
    # it use gather instructions, which are several times slower than plain loads.
    even, odd = 0.0, 0.0
    stop = indptr[i + 1]
    q = indptr[i]
    while q + 1 < stop:
        even += w[k, indices[q]] * values[q]
        odd += w[k, indices[q + 1]] * values[q + 1]
        q += 2
    if q < stop:
        even += w[k, indices[q]] * values[q]
    return even + odd
