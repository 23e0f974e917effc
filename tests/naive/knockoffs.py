"""Knockoffs by plain loops: thresholds, e-values, the equicorrelated difference."""

from __future__ import annotations

import math

import numpy as np


def threshold(W, q, offset, copies=1):
    """The least of the values |W_j| at which the estimated rate is at most q."""
    for t in sorted({abs(w) for w in W} - {0.0}):
        below = sum(1 for w in W if w <= -t)
        above = sum(1 for w in W if w >= t)
        if (offset + below) / copies / max(1, above) <= q + 1e-15:
            return t
    return math.inf


def winners(importances):
    """For each feature which row is the largest, and how far it is ahead; the first row on ties."""
    found = []
    for column in zip(*importances, strict=True):
        best = max(range(len(column)), key=lambda k: column[k])
        second = max(column[k] for k in range(len(column)) if k != best)
        found.append((best, column[best] - second))
    return found


def multiple_threshold(importances, q):
    """Gimenez and Zou's threshold, from the importances of features (row 0) and their knockoffs."""
    copies, found = len(importances) - 1, winners(importances)
    for t in sorted({lead for _, lead in found if lead > 0}):
        knockoffs = sum(1 for best, lead in found if best > 0 and lead >= t)
        features = sum(1 for best, lead in found if best == 0 and lead >= t)
        if (1 + knockoffs) / copies <= (q + 1e-15) * max(1, features):
            return t
    return math.inf


def e_values(W, q, copies=1):
    """One draw's e-values, from the threshold with offset 1."""
    t = threshold(W, q, 1, copies)
    below = sum(1 for w in W if w <= -t)
    return [copies * len(W) / (1 + below) if w >= t else 0.0 for w in W]


def e_bh(e, q):
    """The largest k such that k e-values are at least p / (q k); those k are selected."""
    p = len(e)
    best = 0
    for k in range(1, p + 1):
        if sorted(e, reverse=True)[k - 1] * q * k >= p * (1 - 1e-12):
            best = k
    if best == 0:
        return [False] * p
    least = sorted(e, reverse=True)[best - 1]
    return [value >= least for value in e]


def joint_correlations(sigma, s, copies=1):
    """G, from its blocks."""
    D, sides = np.diag(s), range(copies + 1)
    return np.block([[sigma if a == b else sigma - D for b in sides] for a in sides])


def equicorrelated(sigma, copies=1):
    """The largest common s up to 1 for which G is positive semidefinite, by bisection."""
    low, high = 0.0, 1.0
    if np.linalg.eigvalsh(joint_correlations(sigma, np.ones(len(sigma)), copies))[0] >= 0:
        return 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        s = np.full(len(sigma), middle)
        if np.linalg.eigvalsh(joint_correlations(sigma, s, copies))[0] >= -1e-12:
            low = middle
        else:
            high = middle
    return low


def sparse_correlations(Z):
    """Correlations above ``2 sqrt(log p / n)``, one by one; all shrunk if that is not regular."""
    n, p = Z.shape
    found = np.eye(p)
    for i in range(p):
        for j in range(p):
            r = np.corrcoef(Z[:, i], Z[:, j])[0, 1]
            if i != j and abs(r) > 2 * np.sqrt(np.log(p) / n):
                found[i, j] = r
    least = np.linalg.eigvalsh(found)[0]
    if least < 0.05:  # least eigenvalue of a + (1 - a) * found
        part = (0.05 - least) / (1 - least)
        found = part * np.eye(p) + (1 - part) * found
    return found


def log_density(sigma, Z):
    """Of standard normal rows with these correlations, twice its mean, up to a constant."""
    return -np.linalg.slogdet(sigma)[1] - np.mean(np.sum(Z.T * np.linalg.solve(sigma, Z.T), axis=0))
