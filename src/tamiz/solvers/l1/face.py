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

from tamiz.solvers.l1.highs import minimise, signed_rows

_RULE = 1e-9


def least_norm(
    program: Any, alpha: np.ndarray, w: np.ndarray, b: float
) -> tuple[np.ndarray, float, int] | None:
    """Weights of least ``Σ c_j|w_j|`` on the face of the optimal ones; None if HiGHS finds none.

    The program grows by the samples whose constraint its solution breaks and the features that
    would shorten it. Returns the weights, the intercept and the number of programs solved.
    """
    X, y, C, c = program
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
        A = signed_rows(X, y, I, J)
        above, below = np.isfinite(lower[I]), np.isfinite(upper[I])
        rows = sparse.vstack([-A[np.flatnonzero(above)], A[np.flatnonzero(below)]], format="csc")
        limits = np.concatenate([-np.ones(above.sum()), np.ones(below.sum())])
        cost = np.append(np.tile(c[J], 2), 0.0)
        answer = minimise(cost, rows, limits, len(J))
        if answer is None:
            return None
        w = np.zeros(p)
        w[J], b = answer.w, answer.b
        margins = y * (X @ w + b)
        rule = _RULE * max(1.0, float(np.abs(margins).max()))
        broken = ~samples & ((margins < lower - rule) | (margins > upper + rule))
        multipliers = np.zeros(n)
        of_rows = answer.multipliers
        multipliers[I[above]] += of_rows[: above.sum()]
        multipliers[I[below]] -= of_rows[above.sum() :]
        g = np.abs(X.T @ (y * multipliers))
        shorter = ~features & (g > c * (1.0 + 1e-7))
        if not broken.any() and not shorter.any():
            return w, b, done
        samples |= broken
        features |= shorter
    return None
