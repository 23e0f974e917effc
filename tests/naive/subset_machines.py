"""The best subset for a linear machine by trying all of them, each as one textbook program."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog


def machine(X: Any, y: np.ndarray, C: np.ndarray, box: float | None = None) -> float:
    """Least ``C'ξ + Σ|w_j|``; with a box, least ``C'ξ`` for ``|w_j| <= box``."""
    n, p = X.shape
    G = y[:, None] * X
    rows = np.hstack([-G, G, -y[:, None], y[:, None], -np.eye(n)])
    penalty = 1.0 if box is None else 0.0
    cost = np.concatenate([np.full(2 * p, penalty), [0.0, 0.0], C])
    bounds = [(0.0, box)] * (2 * p) + [(0.0, None)] * (2 + n)
    return float(linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=bounds, method="highs").fun)


def best_subset(X, machines, groups, fits, box=None):
    """Least sum of the machines' objectives over all unions of groups that fit, and that union."""
    best = np.inf, ()
    for size in range(1, len(groups) + 1):
        for units in combinations(range(len(groups)), size):
            features = sorted(j for u in units for j in groups[u])
            if fits(features):
                value = sum(machine(X[:, features], y, C, box) for y, C in machines)
                best = min(best, (value, tuple(features)))
    return best
