"""Slow, obvious answers for the quadratic problem: a general solver, and KKT by enumeration."""

from __future__ import annotations

import numpy as np


def solve_general(Q, p, y, d, lower, upper):
    """``min ½a'Qa + p'a, y'a = d, lower ≤ a ≤ upper`` by CVXOPT's interior-point method."""
    import cvxopt

    n = len(p)
    finite_u, finite_l = np.isfinite(upper), np.isfinite(lower)
    eye = np.eye(n)
    G = np.vstack([eye[finite_u], -eye[finite_l]])
    h = np.concatenate([upper[finite_u], -lower[finite_l]])
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    answer = cvxopt.solvers.qp(
        cvxopt.matrix(np.asarray(Q, dtype=float)),
        cvxopt.matrix(np.asarray(p, dtype=float)),
        cvxopt.matrix(G),
        cvxopt.matrix(h),
        cvxopt.matrix(np.asarray(y, dtype=float)[None, :]),
        cvxopt.matrix(float(d)),
        options=options,
    )
    return np.array(answer["x"]).ravel(), answer["primal objective"]


def violation(Q, p, y, a, lower, upper):
    """Largest KKT violation over all pairs of variables, one pair at a time."""
    g = Q @ a + p
    worst = 0.0
    for i in range(len(a)):
        for j in range(len(a)):
            # y_i a_i grows by one unit, y_j a_j shrinks by one
            can_i = a[i] < upper[i] if y[i] > 0 else a[i] > lower[i]
            can_j = a[j] > lower[j] if y[j] > 0 else a[j] < upper[j]
            if can_i and can_j:
                worst = max(worst, g[j] / y[j] - g[i] / y[i])
    return worst


def svc_objectives(K, signs, C, alpha, b):
    """Primal and dual objective of the soft-margin machine from their definitions."""
    n = len(signs)
    norm = 0.0
    for i in range(n):
        for j in range(n):
            norm += alpha[i] * alpha[j] * signs[i] * signs[j] * K[i, j]
    loss = 0.0
    for i in range(n):
        f = b + sum(alpha[j] * signs[j] * K[i, j] for j in range(n))
        loss += C[i] * max(0.0, 1.0 - signs[i] * f)
    return 0.5 * norm + loss, sum(alpha) - 0.5 * norm
