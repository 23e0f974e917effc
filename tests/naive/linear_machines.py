"""Linear machines from their formula: proximal gradient steps, and a general QP for the hinge."""

from __future__ import annotations

import cvxopt
import numpy as np

CURVATURE = {"squared_hinge": 2.0, "logistic": 0.25, "squared": 2.0, "tube": 2.0}
EPSILON = 0.3


def loss(name, y, f):
    """The loss of one sample."""
    if name == "hinge":
        return max(0.0, 1.0 - y * f)
    if name == "squared_hinge":
        return max(0.0, 1.0 - y * f) ** 2
    if name == "logistic":
        return float(np.logaddexp(0.0, -y * f))
    if name == "squared":
        return (y - f) ** 2
    return max(0.0, abs(y - f) - EPSILON) ** 2


def slope(name, y, f):
    """Its derivative by f, of all samples."""
    if name == "squared_hinge":
        return -2.0 * y * np.maximum(0.0, 1.0 - y * f)
    if name == "logistic":
        return -y / (1.0 + np.exp(y * f))
    if name == "squared":
        return 2.0 * (f - y)
    return 2.0 * np.sign(f - y) * np.maximum(0.0, np.abs(f - y) - EPSILON)


def losses(name, X, y, c, w, b):
    """Sum of the losses."""
    return sum(ci * loss(name, yi, float(x @ w) + b) for x, yi, ci in zip(X, y, c, strict=True))


def objective(name, X, y, c, lam, mu, w, b):
    """``Σ c L + Σ λ|w| + μ/2 ‖w‖²``."""
    return losses(name, X, y, c, w, b) + float(lam @ np.abs(w)) + 0.5 * mu * float(w @ w)


def minimum(name, X, y, c, lam, mu, steps=20_000, intercept=True):
    """Weights and intercept of the least objective."""
    if name == "hinge":
        return _hinge(X, y, c, lam, mu, intercept)
    n, p = X.shape
    A = np.column_stack([X, np.full(n, float(intercept))])
    size = 1.0 / (CURVATURE[name] * np.linalg.norm(A * np.sqrt(c)[:, None], 2) ** 2 + mu)
    threshold = np.append(lam, 0.0)
    ridge = np.append(np.full(p, mu), 0.0)
    v = before = np.zeros(p + 1)
    ahead, t = v, 1.0
    for _ in range(steps):
        down = ahead - size * (A.T @ (c * slope(name, y, A @ ahead)) + ridge * ahead)
        v = np.sign(down) * np.maximum(np.abs(down) - size * threshold, 0.0)
        if np.abs(v - before).max() <= 1e-12 * max(1.0, np.abs(v).max()):
            break
        if (ahead - v) @ (v - before) > 0:  # momentum the wrong way: begin it anew
            t = 1.0
        later = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        ahead = v + (t - 1.0) / later * (v - before)
        before, t = v, later
    return v[:-1], float(v[-1])


def _hinge(X, y, c, lam, mu, intercept):
    """Variables: both parts of the weights, the intercept, the slacks."""
    n, p = X.shape
    P = np.zeros((2 * p + 1 + n, 2 * p + 1 + n))
    eye = np.eye(p)
    P[: 2 * p, : 2 * p] = mu * np.block([[eye, -eye], [-eye, eye]])
    q = np.concatenate([lam, lam, [0.0], c])
    Z = y[:, None] * X
    margins = np.hstack([-Z, Z, -y[:, None] * intercept, -np.eye(n)])
    if not intercept:
        P[2 * p, 2 * p] = 1.0  # what counts nowhere is zero
    signs = np.zeros((2 * p + n, 2 * p + 1 + n))
    for k, place in enumerate([*range(2 * p), *range(2 * p + 1, 2 * p + 1 + n)]):
        signs[k, place] = -1.0
    G, h = np.vstack([margins, signs]), np.concatenate([-np.ones(n), np.zeros(2 * p + n)])
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    found = cvxopt.solvers.qp(*(cvxopt.matrix(a) for a in (P, q, G, h)), options=options)
    z = np.array(found["x"]).ravel()
    return z[:p] - z[p : 2 * p], float(z[2 * p])


def counted(w, a):
    """``Σ (1 - exp(-a|w|))``."""
    return sum(1.0 - np.exp(-a * abs(one)) for one in w)


def rescaled_ridge(X, y, C, steps):
    """Squared losses, features multiplied by their weights: weights for the original features."""
    p, z = X.shape[1], np.ones(X.shape[1])
    spread = X.std(axis=0)
    for _ in range(steps):
        Z = (X - X.mean(axis=0)) * z
        w = np.linalg.solve(2.0 * C * Z.T @ Z + np.eye(p), 2.0 * C * Z.T @ (y - y.mean()))
        found = z * w
        z = np.abs(found)
        z[z * spread <= 1e-6 * (z * spread).max()] = 0.0
        z *= np.sqrt(p / np.sum((z * spread) ** 2))
    return np.where(z > 0, found, 0.0)
