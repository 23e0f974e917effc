"""The linear programs of the sparse machines as the textbooks write them, and by brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog


def objective(X, y, C, c, w, b):
    """sum_i C_i hinge_i + sum_j c_j |w_j|, term by term."""
    total = 0.0
    for i in range(len(y)):
        value = b
        for j in range(len(w)):
            value += w[j] * X[i][j]
        total += C[i] * max(0.0, 1.0 - y[i] * value)
    for j in range(len(w)):
        total += c[j] * abs(w[j])
    return total


def least_objective(X, y, C, c):
    """Minimum by HiGHS: variables w+, w-, b, xi; one row for each sample, nothing left out."""
    n, p = X.shape
    rows = []
    for i in range(n):
        slack = [0.0] * n
        slack[i] = -1.0
        signed = [y[i] * value for value in X[i]]
        rows.append([-v for v in signed] + signed + [-y[i]] + slack)
    cost = list(c) + list(c) + [0.0] + list(C)
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
    answer = linprog(cost, A_ub=np.array(rows), b_ub=-np.ones(n), bounds=bounds, method="highs")
    assert answer.status == 0, answer.message
    return answer.fun


def least_norm_of_minimisers(X, y, C):
    """Least sum of losses, and the least ℓ1 norm of weights that reach it (two programs)."""
    n, p = X.shape
    least = least_objective(X, y, C, np.zeros(p))
    rows = np.hstack([-y[:, None] * X, y[:, None] * X, -y[:, None], -np.eye(n)])
    losses = np.concatenate([np.zeros(2 * p + 1), C])
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
    answer = linprog(
        np.concatenate([np.ones(2 * p), np.zeros(n + 1)]),
        A_ub=np.vstack([rows, losses]),
        b_ub=np.append(-np.ones(n), least * (1 + 1e-9) + 1e-9),
        bounds=bounds,
        method="highs",
    )
    assert answer.status == 0, answer.message
    return least, answer.fun


def brute_force(X, y, C, c):
    """Minimum over all vertices, for tiny problems.

    A minimiser of a piecewise linear function of (w, b) lies where p + 1 of its kinks meet (kinks:
    a sample on the margin, a weight that is zero), if the function grows in every direction.
    """
    n, p = X.shape
    kinks = [(np.append(X[i], 1.0), y[i]) for i in range(n)]
    kinks += [(np.eye(p + 1)[j], 0.0) for j in range(p)]
    best = math.inf
    for chosen in itertools.combinations(kinks, p + 1):
        A = np.array([row for row, _ in chosen])
        if abs(np.linalg.det(A)) < 1e-12:
            continue
        z = np.linalg.solve(A, np.array([value for _, value in chosen]))
        best = min(best, objective(X, y, C, c, z[:p], z[p]))
    return best


def concave_objective(X, y, C, a, w, b):
    """FSV: sum_i C_i hinge_i + sum_j (1 - exp(-a |w_j|))."""
    total = objective(X, y, C, [0.0] * len(w), w, b)
    for weight in w:
        total += 1.0 - math.exp(-a * abs(weight))
    return total


def losses_along(X, y, C, w, b):
    """Sum of the losses for one intercept."""
    return objective(X, y, C, [0.0] * len(w), w, b)
