"""The linear programs in weights and intercept that HiGHS is handed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

# Large prices multiply what HiGHS may round; its own tolerances only if it cannot do better.
_OPTIONS: tuple[dict[str, float], ...] = (
    {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    {},
)
_ZERO = 1e-12  # of the largest weight


class Answer(NamedTuple):
    """A vertex: weights, intercept, and the multipliers of the rows."""

    w: np.ndarray
    b: float
    multipliers: np.ndarray  # not negative


def signed_rows(X: Any, y: np.ndarray, I: np.ndarray, J: np.ndarray) -> Any:
    """Rows that give the margins of the samples ``I`` from ``(w⁺_J, w⁻_J, b)``."""
    Z = sparse.csr_array(X[I][:, J]) * y[I][:, None]
    return sparse.hstack([Z, -Z, sparse.csr_array(y[I][:, None])], format="csr")


def minimise(cost: np.ndarray, rows: Any, limits: np.ndarray, n_weights: int) -> Answer | None:
    """``min cost'z`` subject to ``rows z <= limits``; None if there is no minimum.

    ``z`` holds both parts of the ``n_weights`` weights, the intercept, which is free, and
    whatever else is not negative.
    """
    bounds = np.zeros((len(cost), 2))
    bounds[:, 1] = np.inf
    bounds[2 * n_weights, 0] = -np.inf
    for options in _OPTIONS:
        found = linprog(
            cost, A_ub=rows, b_ub=limits, bounds=bounds, method="highs-ds", options=options
        )
        if found.status == 0:
            break
    else:
        return None
    w = found.x[:n_weights] - found.x[n_weights : 2 * n_weights]
    w[np.abs(w) <= _ZERO * np.abs(w).max(initial=0.0)] = 0.0
    multipliers = np.maximum(-found.ineqlin.marginals, 0.0)
    return Answer(w, float(found.x[2 * n_weights]), multipliers)
