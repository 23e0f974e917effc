r"""Hinge losses alone: their least sum, and among the weights that reach it those of least ℓ1 norm.

Without a penalty the minimiser need not be unique, and on separable data it never is: twice a
separating plane separates as well. So a second linear program follows the first. Its constraints
say which side of the margin each sample is on, as the multipliers ``α`` of the first tell
(complementary slackness): beyond it if ``α_i = 0``, inside it if ``α_i = C_i``, on it in between.
Under them the sum of the losses stays at its least.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

_RULE = 1e-9


def least_norm(
    X: Any, y: np.ndarray, C: np.ndarray, alpha: np.ndarray, w: np.ndarray, b: float
) -> tuple[np.ndarray, float, int] | None:
    """Weights of least ℓ1 norm on the face of the optimal ones; None if HiGHS finds none.

    The program grows by the samples whose constraint its solution breaks and the features that
    would shorten it. Returns the weights, the intercept and the number of programs solved.
    """
    n, p = X.shape
    share = alpha / C
    beyond, inside = share <= _RULE, share >= 1.0 - _RULE
    margins = y * (X @ w + b)
    features = w != 0
    samples = ~(beyond | inside)
    nearest = np.argsort(np.abs(margins - 1.0))[: 2 * int(features.sum() + samples.sum()) + 50]
    samples[nearest] = True
    upper = np.where(beyond, np.inf, 1.0)
    lower = np.where(inside, -np.inf, 1.0)
    for done in range(1, n + p + 1):
        J, I = np.flatnonzero(features), np.flatnonzero(samples)
        Z = sparse.csr_array(X[I][:, J]) * y[I][:, None]
        A = sparse.hstack([Z, -Z, sparse.csr_array(y[I][:, None])], format="csr")
        above, below = np.isfinite(lower[I]), np.isfinite(upper[I])
        cost = np.append(np.ones(2 * len(J)), 0.0)
        bounds = np.zeros((len(cost), 2))
        bounds[:, 1] = np.inf
        bounds[-1, 0] = -np.inf
        rows = sparse.vstack([-A[np.flatnonzero(above)], A[np.flatnonzero(below)]], format="csc")
        limits = np.concatenate([-np.ones(above.sum()), np.ones(below.sum())])
        answer = linprog(cost, A_ub=rows, b_ub=limits, bounds=bounds, method="highs-ds")
        if answer.status != 0:
            return None
        w = np.zeros(p)
        w[J] = answer.x[: len(J)] - answer.x[len(J) : -1]
        w[np.abs(w) <= 1e-11 * np.abs(w).max(initial=0.0)] = 0.0
        b = float(answer.x[-1])
        margins = y * (X @ w + b)
        rule = _RULE * max(1.0, float(np.abs(margins).max()))
        broken = ~samples & ((margins < lower - rule) | (margins > upper + rule))
        multipliers = np.zeros(n)
        of_rows = -answer.ineqlin.marginals
        multipliers[I[above]] += of_rows[: above.sum()]
        multipliers[I[below]] -= of_rows[above.sum() :]
        g = np.abs(X.T @ (y * multipliers))
        shorter = ~features & (g > 1.0 + 1e-7)
        if not broken.any() and not shorter.any():
            return w, b, done
        samples |= broken
        features |= shorter
    return None
