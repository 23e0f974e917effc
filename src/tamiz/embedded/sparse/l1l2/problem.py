r"""The doubly penalised machine as a problem: primal, dual, and the certificate between them.

.. math::

    \min_{w, b} \; P(w, b) = \sum_i C_i \bigl(1 - y_i(\langle w, x_i\rangle + b)\bigr)_+
    + \tfrac12 \lVert w\rVert^2 + \sum_j \nu_j \lvert w_j\rvert

Its dual, in the variables ``c = y * alpha``, is that of a linear machine whose weights pass a
soft threshold (S is componentwise, ``S_nu(u) = sign(u) max(|u| - nu, 0)``):

.. math::

    \max_c \; D(c) = \sum_i y_i c_i - \tfrac12 \lVert S_\nu(X'c)\rVert^2
    \quad\text{s.t.}\quad \sum_i c_i = 0,\; 0 \le y_i c_i \le C_i

and the weights are ``w = S_nu(X'c)``. Every feasible ``c`` therefore gives weights with exact
zeros, and ``P - D`` there bounds how far they are from the minimum, whatever method found ``c``.
Since ``P`` is strongly convex in ``w``, it bounds the weights too:
``||w - w*||^2 <= 2 (P - D)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.runtime.blas import product
from tamiz.solvers.linear_program import best_intercept


class PenalisedHinge(NamedTuple):
    """The problem: samples, labels ±1, price of each loss, price of each weight."""

    X: Any  # float64, C-contiguous or CSR
    y: np.ndarray
    C: np.ndarray  # positive
    nu: np.ndarray  # not negative


def centred(X: Any) -> tuple[Any, np.ndarray]:
    """A dense table minus the means of its columns, and the means; sparse ones stay.

    The intercept is free, so a shift of a feature changes nothing but the intercept. Without it,
    large means would drown the differences, and constant features would get weights from rounding.
    """
    if sparse.issparse(X):
        return X, np.zeros(X.shape[1])
    means = X.mean(axis=0)
    means = np.clip(means, X.min(axis=0), X.max(axis=0))  # exactly, where a feature is constant
    return X - means, means


def constant(X: Any) -> np.ndarray:
    """Which features have one value only."""
    if sparse.issparse(X):
        return (X.max(axis=0).toarray() == X.min(axis=0).toarray()).ravel()
    return X.max(axis=0) == X.min(axis=0)


class Certified(NamedTuple):
    """A machine, the dual point it comes from, and the distance between the two objectives."""

    c: np.ndarray
    w: np.ndarray
    intercept: float
    correlation: np.ndarray  # X'c; a weight is zero where it does not exceed nu
    objective: float
    gap: float
    n_iter: int = 0
    status: str = "converged"  # or "max_iter", "interrupted", "stalled"

    def within(self, tol: float) -> bool:
        """Whether the objective is the minimum up to the share ``tol``."""
        return self.gap <= tol * self.objective


def certify(problem: PenalisedHinge, alpha: np.ndarray, w: np.ndarray | None = None) -> Certified:
    """Weights, intercept and duality gap from any dual point, made feasible first.

    The weights are those of the dual point, or ``w`` if these have the lower objective.
    """
    X, y, C, nu = problem
    c = y * feasible(alpha, y, C)
    correlation = X.T @ c
    own = soft_threshold(correlation, nu)
    dual = float(y @ c - 0.5 * own @ own)
    machine = min(
        (_primal(problem, one) for one in (own, w) if one is not None), key=lambda one: one[2]
    )
    weights, intercept, objective = machine
    gap = max(0.0, objective - dual)
    return Certified(c, weights, intercept, correlation, objective, gap)


def _primal(problem: PenalisedHinge, w: np.ndarray) -> tuple[np.ndarray, float, float]:
    """The weights with the best intercept for them, and their objective."""
    X, y, C, nu = problem
    outputs = product_with(X, w)
    intercept = best_intercept(outputs, y, C)
    loss = C @ np.maximum(0.0, 1.0 - y * (outputs + intercept))
    return w, intercept, float(loss + 0.5 * w @ w + nu @ np.abs(w))


def soft_threshold(u: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """``sign(u) max(|u| - nu, 0)``."""
    return u - np.clip(u, -nu, nu)


def feasible(alpha: np.ndarray, y: np.ndarray, C: np.ndarray) -> np.ndarray:
    """``alpha`` in its box, with the class that has too much scaled down."""
    alpha = np.clip(alpha, 0.0, C)
    positive = y > 0
    up, down = float(alpha[positive].sum()), float(alpha[~positive].sum())
    if up > down:
        alpha[positive] *= down / up
    elif down > up:
        alpha[~positive] *= up / down
    return alpha


def product_with(X: Any, w: np.ndarray) -> np.ndarray:
    """``X @ w``, from the columns that count if those are few."""
    support = np.flatnonzero(w)
    if isinstance(X, np.ndarray) and 8 * len(support) < len(w):
        return product(X[:, support], w[support])
    return X @ w
