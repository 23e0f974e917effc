"""The squared hinge by its formula, minimised by a general method of scipy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def objective(X, y, cost, w, b):
    """Half the squared norm and half the weighted squares of the slacks, sample by sample."""
    value = 0.5 * sum(weight**2 for weight in w)
    for x, sign, c in zip(X, y, cost, strict=True):
        output = b + sum(weight * feature for weight, feature in zip(w, x, strict=True))
        value += 0.5 * c * max(0.0, 1.0 - sign * output) ** 2
    return float(value)


def gradient(X, y, cost, w, b):
    """Derivatives by the weights, and at last by the intercept."""
    found = np.append(np.array(w, dtype=float), 0.0)
    for x, sign, c in zip(X, y, cost, strict=True):
        slack = max(0.0, 1.0 - sign * (float(np.dot(w, x)) + b))
        found -= c * sign * slack * np.append(x, 1.0)
    return found


def minimum(X, y, cost):
    """Weights, intercept and value."""

    def of(v):
        slack = np.maximum(0.0, 1.0 - y * (X @ v[:-1] + v[-1]))
        pull = cost * y * slack
        value = 0.5 * v[:-1] @ v[:-1] + 0.5 * cost @ slack**2
        return value, np.append(v[:-1] - X.T @ pull, -pull.sum())

    found = minimize(of, np.zeros(X.shape[1] + 1), jac=True, method="BFGS", options={"gtol": 1e-9})
    return found.x[:-1], float(found.x[-1]), float(found.fun)


def dual_value(K, y, cost, alpha):
    """What the dual problem says of some multipliers: a bound from below if their sum is zero."""
    total = 0.0
    for i in range(len(y)):
        total += alpha[i] - 0.5 * alpha[i] ** 2 / cost[i]
        for j in range(len(y)):
            total -= 0.5 * alpha[i] * alpha[j] * y[i] * y[j] * K[i][j]
    return float(total)
