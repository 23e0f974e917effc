"""Quadratic programming feature selection, slow and obvious."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import log, sqrt

import numpy as np
from scipy.optimize import minimize


def mutual_information(a, b):
    """Mutual information of two columns of codes, in nats."""
    n = len(a)
    joint, left, right = Counter(zip(a, b, strict=True)), Counter(a), Counter(b)
    return sum(c / n * log(c * n / (left[u] * right[v])) for (u, v), c in joint.items())


def three_bins(column):
    """Codes of one column: up to mean - sd, up to mean + sd, above."""
    n = len(column)
    mean = sum(column) / n
    sd = sqrt(sum((v - mean) ** 2 for v in column) / n)
    return [0 if v <= mean - sd else 1 if v <= mean + sd else 2 for v in column]


def pearson(a, b):
    """Absolute correlation, 0 if a column is constant."""
    n = len(a)
    mean_a, mean_b = sum(a) / n, sum(b) / n
    cov = sum((u - mean_a) * (v - mean_b) for u, v in zip(a, b, strict=True))
    var_a = sum((u - mean_a) ** 2 for u in a)
    var_b = sum((v - mean_b) ** 2 for v in b)
    return abs(cov) / sqrt(var_a * var_b) if var_a > 0 and var_b > 0 else 0.0


def information_terms(X, y):
    """Q and F of mutual information after three bins."""
    columns = [three_bins(column.tolist()) for column in np.asarray(X, dtype=float).T]
    Q = np.array([[mutual_information(a, b) for b in columns] for a in columns])
    return Q, np.array([mutual_information(a, list(y)) for a in columns])


def pearson_terms(X, y):
    """Q and F of absolute correlation, the class weighted over its indicators."""
    columns = np.asarray(X, dtype=float).T.tolist()
    Q = np.array([[pearson(a, b) for b in columns] for a in columns])
    F = np.zeros(len(columns))
    for label in set(y):
        indicator = [float(v == label) for v in y]
        share = sum(indicator) / len(indicator)
        F += [share * pearson(column, indicator) for column in columns]
    return Q, F


def objective(x, Q, F, alpha):
    """The value to be minimised."""
    return 0.5 * (1 - alpha) * x @ Q @ x - alpha * F @ x


def solve(Q, F, alpha):
    """Minimise over the simplex with a general solver (small, convex problems)."""
    m = len(F)
    found = minimize(
        lambda x: objective(x, Q, F, alpha),
        np.full(m, 1 / m),
        jac=lambda x: (1 - alpha) * Q @ x - alpha * F,
        bounds=[(0, 1)] * m,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(m)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.x


def in_subspace(U, values, F, alpha):
    """The least objective over weights ``Uy`` by trying every set of weights held at zero."""
    m, k = U.shape
    best, weights = np.inf, None
    for size in range(k):
        for held in combinations(range(m), size):
            C = np.vstack([U.sum(axis=0), U[list(held)]])
            target = np.eye(size + 1)[0]
            system = np.block(
                [[(1 - alpha) * np.diag(values), -C.T], [C, np.zeros((size + 1,) * 2)]]
            )
            y = np.linalg.lstsq(system, np.concatenate([alpha * U.T @ F, target]), rcond=None)[0][
                :k
            ]
            x = U @ y
            value = 0.5 * (1 - alpha) * values @ y**2 - alpha * F @ x
            if x.min() > -1e-9 and np.allclose(C @ y, target, atol=1e-9) and value < best:
                best, weights = value, x
    return weights, best


def nystroem(Q, sample):
    """The matrix with everything outside the sampled rows and columns approximated."""
    A = Q[np.ix_(sample, sample)]
    values, vectors = np.linalg.eigh(A)
    keep = values > 1e-10 * values[-1]
    inverse = (vectors[:, keep] / values[keep]) @ vectors[:, keep].T
    return Q[:, sample] @ inverse @ Q[sample]


def ranking(x, F):
    """Features by weight, then by relevance, then by position."""
    return sorted(range(len(x)), key=lambda j: (-x[j], -F[j], j))
