"""Objectives of scaling factors by plain loops and a general optimiser."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize


def gaussian(X, v):
    """``exp(-sum of v_j**2 (x_j - x'_j)**2)``, one pair at a time."""
    n, p = len(X), len(v)
    K = np.empty((n, n))
    for i in range(n):
        for l in range(n):
            total = 0.0
            for j in range(p):
                total += v[j] ** 2 * (X[i][j] - X[l][j]) ** 2
            K[i, l] = math.exp(-total)
    return K


def inner_products(X, sigma):
    """Inner products of scaled samples, one pair at a time."""
    n, p = len(X), len(sigma)
    K = np.empty((n, n))
    for i in range(n):
        for l in range(n):
            K[i, l] = sum(sigma[j] ** 2 * X[i][j] * X[l][j] for j in range(p))
    return K


def _maximum(Q, linear, equality, right, upper):
    """Maximum of ``linear'a - ½a'Qa`` subject to ``equality'a = right``, ``0 <= a <= upper``."""
    n = len(linear)
    start = np.full(n, right / n if right else 0.0)
    result = minimize(
        lambda a: 0.5 * a @ Q @ a - linear @ a,
        start,
        jac=lambda a: Q @ a - linear,
        bounds=[(0.0, u) for u in upper],
        constraints=[
            {"type": "eq", "fun": lambda a: equality @ a - right, "jac": lambda a: equality}
        ],
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return -result.fun


def dual_optimum(K, signs, C):
    """The optimum of the soft-margin machine."""
    return _maximum(K * np.outer(signs, signs), np.ones(len(K)), signs, 0.0, C)


def radius_margin(K, signs, C):
    """``R² ‖w‖²`` of the machine with squared slack, every sample counted once."""
    shifted = K + np.diag(1.0 / C)
    unlimited = [None] * len(K)
    w2 = 2.0 * _maximum(shifted * np.outer(signs, signs), np.ones(len(K)), signs, 0.0, unlimited)
    r2 = _maximum(2.0 * shifted, np.diag(shifted), np.ones(len(K)), 1.0, unlimited)
    return r2 * w2


def smoothed_spans(K, signs, C, eta=0.1, steep=5.0):
    """Errors by spans of the machine with squared slack, each span by its definition."""
    shifted = K + np.diag(1.0 / C)
    n = len(K)
    result = minimize(
        lambda a: 0.5 * (a * signs) @ shifted @ (a * signs) - a.sum(),
        np.ones(n),
        jac=lambda a: signs * (shifted @ (a * signs)) - 1.0,
        bounds=[(0.0, None)] * n,
        constraints=[{"type": "eq", "fun": lambda a: signs @ a, "jac": lambda a: signs}],
        method="SLSQP",
        options={"maxiter": 3000, "ftol": 1e-15},
    )
    alpha = np.where(result.x > 1e-6, result.x, 0.0)
    total = 0.0
    for p in range(n):
        if alpha[p] == 0:
            total += 1.0 / (1.0 + math.exp(steep))
            continue
        others = [i for i in range(n) if i != p and alpha[i] > 0]
        # minimise K_pp - 2 k'l + l'(K + eta/alpha) l with sum(l) = 1, by the multiplier
        A = shifted[np.ix_(others, others)] + np.diag(eta / alpha[others])
        k = shifted[others, p]
        inverse = np.linalg.inv(A)
        level = (1.0 - (inverse @ k).sum()) / inverse.sum()
        weights = inverse @ (k + level)
        span = shifted[p, p] - 2.0 * k @ weights + weights @ A @ weights
        total += 1.0 / (1.0 + math.exp(-steep * (alpha[p] * span - 1.0)))
    return total


def squared_l1_machine(X, signs, C, sigma0):
    """Minimum of ``‖w‖₁² / (2 sigma0²) + C Σ hinge``, by splitting w into positive parts."""
    n, p = X.shape

    def objective(z):
        return 0.5 * (z[: 2 * p].sum() / sigma0) ** 2 + C * z[2 * p + 1 :].sum()

    def slope(z):
        g = np.zeros(len(z))
        g[: 2 * p] = z[: 2 * p].sum() / sigma0**2
        g[2 * p + 1 :] = C
        return g

    A = np.hstack([signs[:, None] * X, -signs[:, None] * X, signs[:, None], np.eye(n)])
    start = np.concatenate([np.full(2 * p, 0.1), [0.0], np.full(n, 2.0)])
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
    result = minimize(
        objective,
        start,
        jac=slope,
        bounds=bounds,
        constraints=[{"type": "ineq", "fun": lambda z: A @ z - 1.0, "jac": lambda z: A}],
        method="SLSQP",
        options={"maxiter": 3000, "ftol": 1e-12},
    )
    w = result.x[:p] - result.x[p : 2 * p]
    return result.fun, w
