"""Inner products between samples, dense or sparse, exactly symmetric where they should be.

NumPy turns ``A @ A.T`` into a symmetric BLAS update followed by a copy of one triangle that walks
memory against its grain; at a few thousand rows that copy costs more than the product. Panels of
rows against the columns that follow, each mirrored while still in the cache, avoid it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from tamiz.kernels._checks import Array, Matrix
from tamiz.runtime.blas import product

PANEL = 256  # rows of a panel: long enough for BLAS, short enough for the second-level cache
_BELOW = np.tri(PANEL, k=-1, dtype=bool)


def panels(n: int, size: int = PANEL) -> Iterator[tuple[int, int]]:
    """Ranges of at most ``size`` that cover ``range(n)``."""
    for start in range(0, n, size):
        yield start, min(start + size, n)


def panels_from(first: int, last: int, size: int = PANEL) -> Iterator[tuple[int, int]]:
    """Ranges of at most ``size`` that cover ``range(first, last)``."""
    for start in range(first, last, size):
        yield start, min(start + size, last)


def inner_products(X: Matrix, Z: Matrix | None) -> Array:
    """<x, z> for all pairs of rows; exactly symmetric when ``Z`` is None."""
    if sparse.issparse(X) or (Z is not None and sparse.issparse(Z)):
        return _sparse_products(X, X if Z is None else Z)
    if Z is not None:
        return np.asarray(product(X, Z.T))
    n = X.shape[0]
    if n <= PANEL:
        # BLAS's symmetric update: equal triangles by construction
        return np.asarray(product(X, X.T))
    out = np.empty((n, n))
    for start, stop in panels(n):
        out[start:stop, start:] = product(X[start:stop], X[start:].T)
        mirror(out, start, stop)
    return out


def mirror(out: Array, start: int, stop: int) -> None:
    """Copy the upper triangle of a panel of rows onto its mirror image, in place."""
    out[stop:, start:stop] = out[start:stop, stop:].T
    size = stop - start
    corner = out[start:stop, start:stop]
    np.copyto(corner, corner.T.copy(), where=_BELOW[:size, :size])


def squared_norms(X: Matrix) -> Array:
    """||x||**2 of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)


def _sparse_products(X: Matrix, Z: Matrix) -> Array:
    if sparse.issparse(X) and sparse.issparse(Z):
        return np.ascontiguousarray((X @ Z.T).toarray())
    if sparse.issparse(X):
        return np.ascontiguousarray(X @ Z.T)
    return np.ascontiguousarray((Z @ X.T).T)
