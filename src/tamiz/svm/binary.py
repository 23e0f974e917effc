r"""The binary soft-margin machine as a function: data in, solution with its diagnostics out.

.. math::

    \min_{w, b, \xi} \; \tfrac12 \|w\|^2 + \sum_i C_i \xi_i
    \quad\text{s.t.}\quad y_i(\langle w, \phi(x_i)\rangle + b) \ge 1 - \xi_i,\; \xi \ge 0

Everything reported follows from the dual solution and its gradient ``g = Q alpha - 1``: the
decision value of a training sample is ``y_i (g_i + 1) + b``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.qp import QMatrix, svc_problem
from tamiz.solvers import QPResult, Status, solve


class BinaryFit(NamedTuple):
    """A fitted binary machine; index sets refer to the samples it was fitted on."""

    alpha: np.ndarray
    intercept: float
    slack: np.ndarray
    free: np.ndarray  # 0 < alpha < C
    bounded: np.ndarray  # alpha == C
    margin: float  # 1 / ||w||
    objective: float  # primal
    dual_objective: float
    duality_gap: float
    kkt_violation: float
    n_iter: int
    status: Status


def fit_binary(
    K: QMatrix,
    signs: np.ndarray,
    C: np.ndarray,
    start: np.ndarray | None = None,
    **options: Any,
) -> BinaryFit:
    """Fit one machine to labels ±1; ``options`` go to :func:`tamiz.solvers.solve`."""
    result = solve(svc_problem(K, signs, C), start=start, **options)
    return describe(result, signs, C)


def describe(result: QPResult, signs: np.ndarray, C: np.ndarray) -> BinaryFit:
    """Turn a solution of the quadratic problem into a machine."""
    alpha, gradient = result.a, result.gradient
    assert gradient is not None  # the problem is always feasible: alpha = 0
    # minus the multiplier of the equality in the sign-free problem; + 0.0 turns -0.0 into 0.0
    intercept = -float(result.multiplier or 0.0) + 0.0
    squared_norm = float(alpha @ (gradient + 1.0))
    if squared_norm < -1e-9 * max(1.0, float(alpha.sum())):
        squared_norm = np.nan  # an indefinite kernel has no norm, no margin and no duality gap
    else:
        squared_norm = max(0.0, squared_norm)
    slack = np.maximum(0.0, -(gradient + signs * intercept))
    positive = alpha > 0
    with np.errstate(invalid="ignore"):
        penalty = float(np.sum(np.where(slack > 0, C * slack, 0.0)))
    primal = 0.5 * squared_norm + penalty
    dual = float(alpha.sum() - 0.5 * squared_norm)
    return BinaryFit(
        alpha=alpha,
        intercept=intercept,
        slack=slack,
        free=np.flatnonzero(positive & (alpha < C)),
        bounded=np.flatnonzero(positive & (alpha >= C)),
        margin=np.inf if squared_norm == 0 else 1.0 / np.sqrt(squared_norm),
        objective=primal,
        dual_objective=dual,
        duality_gap=float(np.maximum(0.0, primal - dual)),
        kkt_violation=float(result.violation or 0.0),
        n_iter=result.iterations,
        status=result.status,
    )
