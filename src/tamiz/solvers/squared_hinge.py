r"""Linear and kernel machines with the squared hinge, by Newton steps on the active samples.

.. math::

    \min_{w, b} \; \tfrac12 \lVert w\rVert^2
    + \tfrac12 \sum_i c_i \max\bigl(0,\, 1 - y_i (w'x_i + b)\bigr)^2

The objective is piecewise quadratic: with the samples of positive slack known (the active ones),
its minimum is one linear system, and a Newton step goes there. If the active samples are then the
same, the minimum is found. Few steps are needed, fewer still from the solution at a neighbouring
penalty. The intercept is not penalised.

With no more features than samples the system has one unknown for each feature
(:func:`minimise_primal`); otherwise one for each active sample, in terms of the inner products
(:func:`minimise_dual`), which may come from any kernel.

References
----------
.. [1] S. S. Keerthi, D. DeCoste (2005). A modified finite Newton method for fast solution of large
       scale linear SVMs. JMLR 6.
.. [2] O. Chapelle (2007). Training a support vector machine in the primal. Neural Computation 19.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

_MOST_STEPS = 60
_FEWEST_HALVINGS = 30
#: Gap, relative to the objective, up to which the end of the steps is a solution.
_ROUNDING = 1e-5


class SquaredHinge(NamedTuple):
    """A solution.

    ``weights`` are those of the features (primal) or of the samples (dual: the decision value is
    ``K @ weights + intercept``); ``slack`` holds ``1 - y f`` where positive, else 0.
    """

    weights: np.ndarray
    intercept: float
    slack: np.ndarray
    objective: float
    dual_objective: float
    steps: int
    converged: bool

    @property
    def gap(self) -> float:
        """Duality gap."""
        return max(0.0, self.objective - self.dual_objective)


def minimise_primal(
    X: np.ndarray,
    y: np.ndarray,
    cost: np.ndarray,
    start: tuple[np.ndarray, float] | None = None,
    tol: float = 1e-9,
) -> SquaredHinge:
    """Minimise over the weights of the features.

    Parameters
    ----------
    X : array of shape (n, p)
        Samples.
    y : array of shape (n,)
        Labels, -1 or 1.
    cost : array of shape (n,)
        The factors c of the squared slacks: 2C times the weight of the sample.
    start : (weights, intercept), optional
        Where to begin.
    tol : float, default=1e-9
        Norm of the gradient, relative to the weights, at which to stop.
    """
    n, p = X.shape
    w, b = (np.zeros(p), 0.0) if start is None else (start[0].copy(), float(start[1]))
    f = X @ w + b if w.any() else np.full(n, b)
    slack = np.maximum(0.0, 1.0 - y * f)
    value = 0.5 * (w @ w) + 0.5 * (cost @ slack**2)
    converged, settled, steps = False, False, 0
    while steps < _MOST_STEPS:
        steps += 1
        active = slack > 0
        every = bool(active.all())
        Xa = X if every else X[active]
        ca = cost if every else cost[active]
        pull = ca * (y * slack if every else (y * slack)[active])
        grad, grad_b = w - Xa.T @ pull, -float(pull.sum())
        if _vanishes(grad, w, pull, tol):
            converged = True
            break
        H = np.empty((p + 1, p + 1))
        weighted = Xa * ca[:, None]
        H[:p, :p] = weighted.T @ Xa
        H[:p, p] = H[p, :p] = weighted.sum(axis=0)
        H[p, p] = ca.sum() or 1.0
        H[np.arange(p), np.arange(p)] += 1.0
        step = _solve(H, -np.append(grad, grad_b))
        df = X @ step[:p] + step[p]
        along = float(grad @ step[:p] + grad_b * step[p])
        size, better = _line_search(w, step[:p], f, df, y, cost, value, along)
        if size == 0.0:  # rounding has the last word
            settled = True
            break
        w, b, f = w + size * step[:p], b + float(size * step[p]), f + size * df
        slack, value = better
        if size == 1.0 and np.array_equal(slack > 0, active):
            settled = True
            break
    alpha = _feasible(cost * slack, y)
    v = X.T @ (y * alpha)
    dual = float(alpha.sum() - 0.5 * (v @ v) - 0.5 * (alpha**2 / cost).sum())
    converged |= settled and value - dual <= _ROUNDING * value
    return SquaredHinge(w, b, slack, float(value), dual, steps, converged)


def minimise_dual(
    K: np.ndarray,
    y: np.ndarray,
    cost: np.ndarray,
    start: tuple[np.ndarray, float] | None = None,
    tol: float = 1e-9,
) -> SquaredHinge:
    """Minimise over the weights of the samples; ``K`` holds their inner products.

    The other arguments are those of :func:`minimise_primal`.
    """
    n = len(K)
    beta, b = (np.zeros(n), 0.0) if start is None else (start[0].copy(), float(start[1]))
    Kb = K @ beta if beta.any() else np.zeros(n)
    slack = np.maximum(0.0, 1.0 - y * (Kb + b))
    value = 0.5 * (beta @ Kb) + 0.5 * (cost @ slack**2)
    converged, settled, steps = False, False, 0
    while steps < _MOST_STEPS:
        steps += 1
        active = slack > 0
        rows = np.flatnonzero(active)
        pull = cost * y * slack
        grad = beta - pull  # in front of K
        if _vanishes(grad, beta, pull, tol):
            converged = True
            break
        goal, goal_b = np.zeros(n), b
        if len(rows):
            A = K[np.ix_(rows, rows)]
            A[np.arange(len(rows)), np.arange(len(rows))] += 1.0 / cost[rows]
            both = _solve(A, np.column_stack([y[rows], np.ones(len(rows))]))
            goal_b = float(both[:, 0].sum() / both[:, 1].sum())
            goal[rows] = both[:, 0] - goal_b * both[:, 1]
        step, step_b = goal - beta, goal_b - b
        df = K @ step + step_b
        along = float(grad @ (df - step_b)) - float(pull.sum()) * step_b
        size, better = 1.0, None
        for _ in range(_FEWEST_HALVINGS):
            trial, trial_b = beta + size * step, b + size * step_b
            Kt = Kb + size * (df - step_b)
            new_slack = np.maximum(0.0, 1.0 - y * (Kt + trial_b))
            new_value = 0.5 * (trial @ Kt) + 0.5 * (cost @ new_slack**2)
            if new_value <= value + 1e-4 * size * along:
                better = (trial, trial_b, Kt, new_slack, new_value)
                break
            size *= 0.5
        if better is None:
            settled = True
            break
        beta, b, Kb, slack, value = better
        if size == 1.0 and np.array_equal(slack > 0, active):
            settled = True
            break
    alpha = _feasible(cost * slack, y)
    signed = y * alpha
    dual = float(alpha.sum() - 0.5 * (signed @ (K @ signed)) - 0.5 * (alpha**2 / cost).sum())
    converged |= settled and value - dual <= _ROUNDING * value
    return SquaredHinge(beta, b, slack, float(value), dual, steps, converged)


def _vanishes(grad: np.ndarray, w: np.ndarray, pull: np.ndarray, tol: float) -> bool:
    """Whether the gradient is small beside what it is the difference of."""
    return float(np.abs(grad).max(initial=0.0)) <= tol * float(np.abs(w).max(initial=0.0)) and abs(
        float(pull.sum())
    ) <= tol * float(np.abs(pull).sum())


def _feasible(alpha: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Multipliers with Σ y α = 0, as at the minimum: those of the heavier class made smaller."""
    positive = y > 0
    sums = float(alpha[positive].sum()), float(alpha[~positive].sum())
    least = min(sums)
    factors = [least / one if one > 0 else 0.0 for one in sums]
    return alpha * np.where(positive, *factors)


def _line_search(
    w: np.ndarray,
    step: np.ndarray,
    f: np.ndarray,
    df: np.ndarray,
    y: np.ndarray,
    cost: np.ndarray,
    value: float,
    along: float,
) -> tuple[float, tuple[np.ndarray, float]]:
    """The first of 1, 1/2, 1/4, ... that lessens the objective enough; 0 if none does."""
    size = 1.0
    for _ in range(_FEWEST_HALVINGS):
        new = w + size * step
        slack = np.maximum(0.0, 1.0 - y * (f + size * df))
        found = 0.5 * (new @ new) + 0.5 * (cost @ slack**2)
        if found <= value + 1e-4 * size * along:
            return size, (slack, float(found))
        size *= 0.5
    return 0.0, (np.empty(0), value)


def _solve(A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``A^-1 right`` for a symmetric positive definite matrix."""
    _, found, info = lapack.dposv(A, right, lower=1)
    if info == 0:
        return found
    if not np.isfinite(A).all():
        return np.full_like(right, np.nan)
    return np.linalg.lstsq(A, right, rcond=None)[0]
