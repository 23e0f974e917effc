"""The machine with a budget of slack, as a quadratic program for a general optimiser."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def budget_machine(Z, signs, weight, budget):
    """Minimum of ``½‖w‖²`` with ``Σ weight_i ξ_i <= budget``; the weights, and the multiplier.

    ``Z`` holds coordinates in feature space. Variables are w, b and ξ, in that order.
    """
    n, p = Z.shape
    start = np.concatenate([np.zeros(p), [0.0], np.ones(n)])
    margins = np.hstack([signs[:, None] * Z, signs[:, None], np.eye(n)])
    total = np.concatenate([np.zeros(p + 1), weight])

    def objective(v):
        return 0.5 * v[:p] @ v[:p]

    def slope(v):
        return np.concatenate([v[:p], np.zeros(n + 1)])

    result = minimize(
        objective,
        start,
        jac=slope,
        bounds=[(None, None)] * (p + 1) + [(0.0, None)] * n,
        constraints=[
            {"type": "ineq", "fun": lambda v: margins @ v - 1.0, "jac": lambda v: margins},
            {"type": "ineq", "fun": lambda v: budget - total @ v, "jac": lambda v: -total},
        ],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    assert result.success, result.message
    return result.fun, result.x[:p]
