"""Knockoffs by plain loops: thresholds, e-values, the equicorrelated difference."""

from __future__ import annotations

import math

import numpy as np


def threshold(W, q, offset):
    """The least of the values |W_j| at which the estimated rate is at most q."""
    for t in sorted({abs(w) for w in W} - {0.0}):
        below = sum(1 for w in W if w <= -t)
        above = sum(1 for w in W if w >= t)
        if (offset + below) / max(1, above) <= q:
            return t
    return math.inf


def e_values(W, q):
    """One draw's e-values, from the threshold with offset 1."""
    t = threshold(W, q, 1)
    below = sum(1 for w in W if w <= -t)
    return [len(W) / (1 + below) if w >= t else 0.0 for w in W]


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


def joint_correlations(sigma, s):
    """G, from its four blocks."""
    D = np.diag(s)
    return np.block([[sigma, sigma - D], [sigma - D, sigma]])


def equicorrelated(sigma):
    """The largest common s up to 1 for which G is positive semidefinite, by bisection."""
    low, high = 0.0, 1.0
    if np.linalg.eigvalsh(joint_correlations(sigma, np.ones(len(sigma))))[0] >= 0:
        return 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        s = np.full(len(sigma), middle)
        if np.linalg.eigvalsh(joint_correlations(sigma, s))[0] >= -1e-12:
            low = middle
        else:
            high = middle
    return low
