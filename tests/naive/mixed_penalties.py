"""Slow, obvious answers for the machines with two penalties and for selection by rescaling."""

from __future__ import annotations

import math

import numpy as np


def hinge_sum(X, y, C, w, b):
    """``sum_i C_i max(0, 1 - y_i (<w, x_i> + b))``, one sample at a time."""
    total = 0.0
    for i in range(len(y)):
        output = b
        for j in range(len(w)):
            output += X[i][j] * w[j]
        total += C[i] * max(0.0, 1.0 - y[i] * output)
    return total


def l1l2_objective(X, y, C, nu, w, b):
    """Losses, half the squared norm, and the penalty on every absolute weight."""
    value = hinge_sum(X, y, C, w, b)
    for j in range(len(w)):
        value += 0.5 * w[j] ** 2 + nu[j] * abs(w[j])
    return value


def l0l2_objective(X, y, C, nu, a, w, b):
    """The same with ``nu (1 - exp(-a |w_j|))`` for every weight."""
    value = hinge_sum(X, y, C, w, b)
    for j in range(len(w)):
        value += 0.5 * w[j] ** 2 + nu * (1.0 - math.exp(-a * abs(w[j])))
    return value


def l1l2_by_general_solver(X, y, C, nu):
    """Weights, intercept and minimum of the primal, as a quadratic program in (u, v, b, slack).

    ``w = u - v`` with both parts non-negative, so that ``|w| = u + v`` at the minimum; a weight
    without a penalty is a free ``u`` alone.
    """
    import cvxopt

    n, p = X.shape
    priced = np.flatnonzero(nu)
    parts = np.hstack([np.eye(p), -np.eye(p)[:, priced]])  # w = parts @ (u, v)
    m = parts.shape[1]
    Q = np.zeros((m + 1 + n, m + 1 + n))
    Q[:m, :m] = parts.T @ parts
    linear = np.concatenate([nu, nu[priced], [0.0], C])
    margins = np.hstack([y[:, None] * (X @ parts), y[:, None], np.eye(n)])
    bounds = np.eye(m + 1 + n)[np.r_[priced, p:m, m + 1 : m + 1 + n]]
    G = -np.vstack([margins, bounds])
    h = np.concatenate([-np.ones(n), np.zeros(len(bounds))])
    answer = cvxopt.solvers.qp(
        *(cvxopt.matrix(np.asarray(part, dtype=float)) for part in (Q, linear, G, h)),
        options={"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11},
    )
    x = np.array(answer["x"]).ravel()
    w, b = parts @ x[:m], float(x[m])
    return w, b, l1l2_objective(X, y, C, nu, w, b)


def l0l2_by_linearisation(X, y, C, nu, a, w, steps):
    """Objective after each of so many steps from the weights ``w``."""
    values = []
    for _ in range(steps):
        penalties = np.array([nu * a * math.exp(-a * abs(w_j)) for w_j in w])
        w, b, _ = l1l2_by_general_solver(X, y, C, penalties)
        values.append(l0l2_objective(X, y, C, nu, a, w, b))
    return values, w


def arom_by_hand(X, y, C, steps, normalize=False):
    """Products of the weights: factors after each step, and the last weights ``z * w``.

    Bare ones, or times the number that gives the features the variance of as many standardised.
    """
    p = X.shape[1]
    z = np.ones(p)
    factors = []
    for _ in range(steps):
        w, b, _ = l1l2_by_general_solver(X * z, y, C, np.zeros(p))
        total = z * w
        factors.append(z)
        z = np.abs(total)
        if normalize:
            variance = 0.0
            for j in range(p):
                mean = sum(C[i] * X[i, j] for i in range(len(y))) / sum(C)
                square = sum(C[i] * (X[i, j] - mean) ** 2 for i in range(len(y))) / sum(C)
                variance += z[j] ** 2 * square
            z = z * math.sqrt(p / variance)
    return factors, total, b


def best_intercept(outputs, y, C):
    """All kinks of the losses tried one after the other; the midpoint of those that are best."""
    kinks = sorted(y - outputs)
    losses = [sum(C * np.maximum(0.0, 1.0 - y * (outputs + b))) for b in kinks]
    least = min(losses)
    best = [b for b, loss in zip(kinks, losses, strict=True) if loss <= least + 1e-9 * sum(C)]
    return 0.5 * (best[0] + best[-1])
