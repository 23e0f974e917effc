r"""Can a hyperplane separate two classes? An answer with its proof.

The linear programme

.. math::

    \min_{w, b, \xi \ge 0} \sum_i \xi_i
    \quad\text{s.t.}\quad y_i(\langle w, z_i\rangle + b) \ge 1 - \xi_i

has optimum zero if and only if the classes can be separated. If not, its multipliers
``0 ≤ λ_i ≤ 1`` satisfy ``Σ λ_i y_i z_i = 0`` and ``Σ λ_i y_i = 0``: scaled to sum one in each class
they are the weights of a point that both convex hulls share. That point is the proof.

For kernels the ``z_i`` are coordinates in feature space: rows of a factor ``L`` with ``K = LL'``,
found by pivoted Cholesky. A Gram matrix of full rank separates any labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.optimize import linprog


class NotSeparableError(ValueError):
    """The classes cannot be separated without error.

    Attributes
    ----------
    certificate : array or None
        Weights of the samples, not negative and of sum one in each class, whose two weighted means
        coincide in feature space.
    distance : float
        Distance of the two means relative to the size of the data: zero up to rounding.
    """

    def __init__(self, message: str, certificate: np.ndarray | None = None, distance: float = 0.0):
        super().__init__(message)
        self.certificate = certificate
        self.distance = distance


class Verdict(NamedTuple):
    """Whether the classes can be separated; if not, the weights of a common point."""

    separable: bool
    certificate: np.ndarray | None
    distance: float


#: A common point is accepted as a proof when the two means are this close, relative to the data.
_COINCIDE = 1e-6
_RANK_TOL = 1e-12


def separability(K: np.ndarray, signs: np.ndarray) -> Verdict:
    """Decide whether labels ±1 can be separated in the feature space of a Gram matrix."""
    n = len(K)
    Z = feature_coordinates(K)
    if Z.shape[1] >= n:
        return Verdict(True, None, np.inf)
    Z = Z - Z.mean(axis=0)
    size = float(np.sqrt((Z**2).sum(axis=1).max())) or 1.0
    Z = Z / size
    r = Z.shape[1]
    # variables w (r), b, slack (n)
    A = sparse.hstack(
        [
            sparse.csr_array(-signs[:, None] * Z),
            sparse.csr_array(-signs[:, None]),
            -sparse.csr_array(sparse.identity(n, format="csr")),
        ],
        format="csc",
    )
    cost = np.concatenate([np.zeros(r + 1), np.ones(n)])
    bounds = [(None, None)] * (r + 1) + [(0, None)] * n
    answer = linprog(cost, A_ub=A, b_ub=np.full(n, -1.0), bounds=bounds, method="highs")
    if not answer.success:
        return Verdict(True, None, np.nan)  # not shown to be inseparable
    w, b = answer.x[:r], answer.x[r]
    if (signs * (Z @ w + b) > 0).all():
        return Verdict(True, None, np.inf)
    multipliers = np.maximum(0.0, -np.asarray(answer.ineqlin.marginals))
    return _verify(Z, signs, multipliers)


def _verify(Z: np.ndarray, signs: np.ndarray, multipliers: np.ndarray) -> Verdict:
    positive, negative = signs > 0, signs < 0
    totals = multipliers[positive].sum(), multipliers[negative].sum()
    if min(totals) <= 0:
        return Verdict(True, None, np.nan)
    weights = np.where(positive, multipliers / totals[0], multipliers / totals[1])
    distance = float(np.linalg.norm((signs * weights) @ Z))
    if distance > _COINCIDE:
        return Verdict(True, None, distance)
    return Verdict(False, weights, distance)


def feature_coordinates(K: np.ndarray) -> np.ndarray:
    """Coordinates of the samples in feature space: ``L`` with ``K = LL'``, of numerical rank."""
    n = len(K)
    factor, pivots, rank, _ = lapack.dpstrf(
        np.asfortranarray(K, dtype=np.float64),
        tol=_RANK_TOL * max(float(np.abs(K.diagonal()).max(initial=0.0)), 1e-300),
        lower=1,
    )
    L = np.tril(factor)[:, :rank]
    coordinates = np.empty((n, rank))
    coordinates[pivots - 1] = L
    return coordinates
