"""The machine with a budget of slack, as a quadratic program for an interior-point solver."""

from __future__ import annotations

import numpy as np
from cvxopt import matrix, solvers


def budget_machine(Z, signs, weight, budget):
    """Minimum of ``½‖w‖²`` with ``Σ weight_i ξ_i <= budget``, and the w that has it.

    ``Z`` holds coordinates in feature space. Variables are w, b and ξ, in that order.
    """
    n, p = Z.shape
    eye, none = np.eye(n), np.zeros((n, p + 1))
    margins = np.hstack([signs[:, None] * Z, signs[:, None], eye])
    total = np.concatenate([np.zeros(p + 1), weight])
    sides = np.vstack([-margins, np.hstack([none, -eye]), total[None]])
    limits = np.concatenate([-np.ones(n), np.zeros(n), [budget]])
    cost = np.diag(np.concatenate([np.ones(p), np.zeros(n + 1)]))
    result = solvers.qp(
        *(matrix(one) for one in (cost, np.zeros(p + 1 + n), sides, limits)),
        options={"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11},
    )
    w = np.ravel(result["x"])[:p]
    assert result["gap"] < 1e-6 and result["primal infeasibility"] < 1e-7, result["status"]
    return 0.5 * w @ w, w
