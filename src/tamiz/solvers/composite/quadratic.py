r"""One Newton step of a smooth loss with an ℓ1 penalty: a quadratic with thresholds.

.. math::

    \min_z \; \tfrac12 (z - w)' G\, (z - w) - q'(z - w)
    + \sum_j \lambda_j |z_j| + \tfrac12 \sum_j \mu_j z_j^2

``G`` holds the products of the features weighted by the curvatures of the losses, about their
weighted means: so the intercept follows every step, and is not a variable. Without an intercept the
products are those of the features as they are.

Two ways meet. *Coordinate descent* finds out which weights are zero: each in turn goes to its
minimum, a soft threshold. Once the signs are known, the rest is a linear system; the *step to its
solution* ends at the first weight that would change its sign, which becomes zero. Both only ever
lower the objective, and the second brings all digits at once where the first would creep.

With few features ``G`` is computed and the descent runs in it; with many, it works on the columns
of the table (:func:`descend_columns`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import product

_SWEEPS = 8  # of the descent between two linear systems
_ROUNDS = 40
_RIDGE = 1e-13  # of the trace, against rounding
#: Weights of the largest system: in the first rounds, when sweeps may do, and later.
_LARGEST_SYSTEM, _LARGEST_LATER, _LATER = 800, 2500, 10
#: Features up to which the matrix is always computed, and beyond which it never is.
_FEW, _MANY = 200, 3000
_WORTH, _WORTH_SPARSE = 60.0, 12.0  # sweeps over the columns that the matrix may cost


class Columns:
    """The features of a working set in the forms that the step reads."""

    def __init__(self, table: Any):
        self.table = table  # (n, k): C- or F-contiguous, CSC, or CSR with sorted indices

    @cached_property
    def by_column(self) -> np.ndarray:
        """A dense table, one row for each feature."""
        return np.asfortranarray(self.table).T

    @cached_property
    def rows(self) -> Any:
        """The same by rows, where sparse, with sorted indices."""
        if not sparse.issparse(self.table) or self.table.format == "csr":
            return self.table
        rows = self.table.tocsr()
        rows.sort_indices()
        return rows

    def pairs(self) -> float:
        """How many products of two entries of a sample there are."""
        n, k = self.table.shape
        if not sparse.issparse(self.table):
            return float(n) * k * k
        by_row = self.table.format == "csr"
        counts = (
            np.diff(self.table.indptr) if by_row else np.bincount(self.table.indices, minlength=n)
        ).astype(np.float64)
        return float(counts @ counts)

    def entries(self) -> float:
        """How many entries a product with a vector reads."""
        return float(self.table.nnz if sparse.issparse(self.table) else self.table.size)

    def worth_a_matrix(self) -> bool:
        """Whether ``G`` costs less than what it saves."""
        k = self.table.shape[1]
        if k <= _FEW or k > _MANY:
            return k <= _FEW
        if sparse.issparse(self.table):
            return self.pairs() + 4.0 * k * k <= _WORTH_SPARSE * self.table.nnz
        return k <= 8.0 * _WORTH

    def squares(self, h: np.ndarray) -> np.ndarray:
        """Sums of the squares of each feature under the weights ``h``."""
        table = self.table
        if sparse.issparse(table):
            squared = type(table)((table.data**2, table.indices, table.indptr), table.shape)
            return np.asarray(squared.T @ h)
        if h.min() == h.max():
            return h[0] * np.einsum("ij,ij->j", table, table)
        return np.einsum("ij,i,ij->j", table, h, table, optimize=False)

    def weighed_product(self, h: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float]:
        """``X'(h * Xv)``, and the sum of ``h * Xv``."""
        table = self.table
        if not sparse.issparse(table) and table.flags.c_contiguous:
            found = np.zeros(len(v))
            return found, _weighed_product(table, h, v, found)
        hv = h * (self.rows @ v)
        return np.asarray(table.T @ hv), float(hv.sum())


class Curvature:
    """The matrix of a Newton step, ``X'HX`` about the weighted means and the penalty, as products.

    Parameters
    ----------
    columns : Columns
        The features ``X``.
    h : array of shape (n_samples,)
        Weights ``H``.
    mu : array of shape (n_features,)
        What is added to the diagonal.
    intercept : bool
        Whether the features are taken about their means.
    """

    def __init__(self, columns: Columns, h: np.ndarray, mu: np.ndarray, intercept: bool):
        self.columns, self.h, self.mu = columns, h, mu
        self.total = max(float(h.sum()), 1e-300)
        self.sums = np.asarray(columns.table.T @ h) if intercept else np.zeros(len(mu))

    def times(self, v: np.ndarray) -> np.ndarray:
        """The matrix times a vector."""
        found, moved = self.columns.weighed_product(self.h, v)
        return found - (moved / self.total) * self.sums + self.mu * v

    def diagonal(self) -> np.ndarray:
        """Its diagonal, or ones where that is zero."""
        squares = self.columns.squares(self.h) - self.sums * self.sums / self.total
        found = np.maximum(squares, 0.0) + self.mu
        return np.where(found > 0, found, 1.0)


def gather_columns(X: Any, chosen: np.ndarray) -> Columns:
    """The features ``chosen``, all of them if there are as many."""
    table = X if len(chosen) == X.shape[1] else X[:, chosen]
    return Columns(table)


def curvature_matrix(columns: Columns, h: np.ndarray, intercept: bool = True) -> np.ndarray:
    """``G``: products of the features under the weights ``h``, about their weighted means."""
    table = columns.table
    total = float(h.sum())
    if sparse.issparse(table):
        rows = columns.rows
        G = np.zeros((table.shape[1], table.shape[1]))
        _products(rows.data, rows.indices, rows.indptr, h, G)
        G += np.triu(G, 1).T
    else:
        used = np.flatnonzero(h)
        if len(used) and h[used].min() == h[used].max():  # no need of a weighted copy
            weighted = table if len(used) == len(h) else table[used]
            G = product(weighted.T, weighted)
            G *= h[used[0]]
        else:
            some = len(used) < 0.7 * len(h)
            weighted = table[used] if some else table.copy()
            weighted *= np.sqrt(h[used] if some else h)[:, None]
            G = product(weighted.T, weighted)
    if total > 0 and intercept:
        means = np.asarray(table.T @ h)
        G -= np.outer(means / total, means)
    return G


def minimise_quadratic(
    G: np.ndarray, q: np.ndarray, w: np.ndarray, lam: np.ndarray, mu: np.ndarray, accuracy: float
) -> np.ndarray:
    """The minimum, up to a violation ``accuracy`` of the optimality conditions."""
    z, q = w.copy(), q.copy()
    diagonal = np.maximum(np.diag(G), 0.0) + mu
    for turn in range(_ROUNDS):
        worst = _descend(G, q, z, lam, mu, diagonal, _SWEEPS, accuracy)
        if worst <= accuracy:
            break
        if 0 < np.count_nonzero(z) <= _largest(turn):
            _solve_for_signs(G, q, z, lam, mu)
    return z


def _largest(turn: int) -> int:
    return _LARGEST_LATER if turn >= _LATER else _LARGEST_SYSTEM


def solve_positive(A: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """``A^-1 right`` for a matrix that is positive definite up to rounding; None if it is not."""
    for ridge in (0.0, _RIDGE, 1e3 * _RIDGE):
        B = A.copy(order="F")
        if ridge:
            B[np.diag_indices_from(B)] += ridge * max(float(np.trace(A)), 1e-300)
        _, found, info = lapack.dposv(B, right, lower=1, overwrite_a=1)
        if info == 0 and np.isfinite(found).all():
            return found
    return None


def _solve_for_signs(
    G: np.ndarray, q: np.ndarray, z: np.ndarray, lam: np.ndarray, mu: np.ndarray
) -> None:
    """Go to the minimum with the signs of ``z``, or as far as these stay; in place."""
    for _ in range(_ROUNDS):
        used = np.flatnonzero(z)
        if not len(used):
            return
        system = G[np.ix_(used, used)]
        system[np.diag_indices_from(system)] += mu[used]
        now = z[used]
        step = solve_positive(system, q[used] - lam[used] * np.sign(now) - mu[used] * now)
        if step is None:
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where((step * now < 0) & (lam[used] > 0), -now / step, np.inf)
        first = int(np.argmin(room))
        size = min(1.0, float(room[first]))
        q -= G[:, used] @ (size * step)
        z[used] = now + size * step
        if size == 1.0:
            return
        z[used[first]] = 0.0


def descend_columns(
    columns: Columns,
    h: np.ndarray,
    q: np.ndarray,
    w: np.ndarray,
    penalties: tuple[np.ndarray, np.ndarray],
    accuracy: float,
    intercept: bool = True,
) -> np.ndarray:
    """The minimum by way of the columns: ``G`` is computed for the weights in use at most."""
    table, (lam, mu) = columns.table, penalties
    total = max(float(h.sum()), 1e-300)
    means = np.asarray(table.T @ h) / total if intercept else np.zeros(len(q))
    if sparse.issparse(table):
        parts = table.data, table.indices, table.indptr, np.zeros((0, 0))
    else:
        none = np.zeros(0, dtype=np.int32)
        parts = np.zeros(0), none, none, columns.by_column
    curvature = np.maximum(columns.squares(h) - means * means * total, 0.0) + mu
    z, moved = w.copy(), np.zeros(len(h))
    for turn in range(_ROUNDS):
        worst = _descend_table(parts, h, q, means, curvature, z, moved, penalties, accuracy)
        if worst <= accuracy:
            break
        used = np.flatnonzero(z)
        if not 0 < len(used) <= _largest(turn):
            continue
        some = gather_columns(table, used)
        if not some.worth_a_matrix():
            continue
        pull = q[used] - np.asarray(some.table.T @ moved) + means[used] * float(moved.sum())
        now = z[used]
        G = curvature_matrix(some, h, intercept)
        _solve_for_signs(G, pull, now, lam[used], mu[used])
        moved += h * (some.table @ (now - z[used]))
        z[used] = now
    return z


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _weighed_product(table, h, v, out):
    """Add ``X'(h * Xv)`` to ``out``, in one pass over the rows; returns the sum of ``h * Xv``.

    Four rows at a time: ``out`` is read and written a quarter as often.
    """
    n, p = table.shape
    total = 0.0
    whole = n - n % 4
    for i in range(0, whole, 4):
        a, b, c, d = table[i], table[i + 1], table[i + 2], table[i + 3]
        at_a, at_b, at_c, at_d = 0.0, 0.0, 0.0, 0.0
        for j in range(p):
            at_a += a[j] * v[j]
            at_b += b[j] * v[j]
            at_c += c[j] * v[j]
            at_d += d[j] * v[j]
        at_a *= h[i]
        at_b *= h[i + 1]
        at_c *= h[i + 2]
        at_d *= h[i + 3]
        total += at_a + at_b + at_c + at_d
        for j in range(p):
            out[j] += at_a * a[j] + at_b * b[j] + at_c * c[j] + at_d * d[j]
    for i in range(whole, n):
        row = table[i]
        at = 0.0
        for j in range(p):
            at += row[j] * v[j]
        at *= h[i]
        total += at
        for j in range(p):
            out[j] += at * row[j]
    return total


@njit(cache=True, nogil=True)
def _products(data, indices, indptr, h, G):
    """Add the upper half of ``Σ_i h_i x_i x_i'`` to ``G``; indices are sorted."""
    for i in range(len(h)):
        if h[i] != 0.0:
            for a in range(indptr[i], indptr[i + 1]):
                scaled = h[i] * data[a]
                row = G[indices[a]]
                for b in range(a, indptr[i + 1]):
                    row[indices[b]] += scaled * data[b]


@njit(cache=True, nogil=True)
def _descend(G, q, z, lam, mu, diagonal, sweeps, accuracy):
    """Coordinate descent in ``G``; the violation met in the last sweep over all."""
    k = len(z)
    worst = 0.0
    for sweep in range(sweeps):
        everywhere = sweep == 0 or sweep == sweeps - 1
        worst = 0.0
        for j in range(k):
            old = z[j]
            if diagonal[j] <= 0.0 or (old == 0.0 and not everywhere):
                continue
            u = q[j] + (diagonal[j] - mu[j]) * old
            if u > lam[j]:
                new = (u - lam[j]) / diagonal[j]
            elif u < -lam[j]:
                new = (u + lam[j]) / diagonal[j]
            else:
                new = 0.0
            change = new - old
            if change != 0.0:
                z[j] = new
                for m in range(k):
                    q[m] -= change * G[j, m]
                worst = max(worst, abs(change) * diagonal[j])
        if everywhere and worst <= accuracy:
            break
    return worst


@njit(cache=True, nogil=True)
def _descend_table(parts, h, q, means, curvature, z, moved, penalties, accuracy):
    """Coordinate descent on columns; ``moved`` is kept at ``h * X (z - w)``."""
    data, indices, indptr, table = parts
    lam, mu = penalties
    dense = len(indptr) == 0
    total, weight = 0.0, h.sum()
    for i in range(len(h)):
        total += moved[i]
    worst = 0.0
    for sweep in range(_SWEEPS):
        everywhere = sweep == 0 or sweep == _SWEEPS - 1
        worst = 0.0
        for j in range(len(z)):
            old = z[j]
            if curvature[j] <= 0.0 or (old == 0.0 and not everywhere):
                continue
            slope = q[j] + means[j] * total
            if dense:
                column = table[j]
                for i in range(len(column)):
                    slope -= column[i] * moved[i]
            else:
                for a in range(indptr[j], indptr[j + 1]):
                    slope -= data[a] * moved[indices[a]]
            u = slope + (curvature[j] - mu[j]) * old
            if u > lam[j]:
                new = (u - lam[j]) / curvature[j]
            elif u < -lam[j]:
                new = (u + lam[j]) / curvature[j]
            else:
                new = 0.0
            change = new - old
            if change != 0.0:
                z[j] = new
                if dense:
                    for i in range(len(column)):
                        moved[i] += change * column[i] * h[i]
                else:
                    for a in range(indptr[j], indptr[j + 1]):
                        moved[indices[a]] += change * data[a] * h[indices[a]]
                total += change * means[j] * weight
                worst = max(worst, abs(change) * curvature[j])
        if everywhere and worst <= accuracy:
            break
    return worst
