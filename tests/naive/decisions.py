"""Partial dependence and interactions by their definition: one row and one point at a time."""

from __future__ import annotations

import numpy as np


def each(f, X, columns, points):
    """Values (rows, points): every row with the columns of every point."""
    found = np.zeros((len(X), len(points)))
    for i, x in enumerate(X):
        for k, point in enumerate(points):
            changed = x.copy()
            changed[list(columns)] = point
            found[i, k] = float(f(changed[None, :])[0])
    return found


def joint_effects(f, X, j, k):
    """Friedman's and Popescu's H², and its numerator and denominator, on the rows themselves."""
    both = each(f, X, [j, k], X[:, [j, k]]).mean(axis=0)
    one = each(f, X, [j], X[:, [j]]).mean(axis=0)
    other = each(f, X, [k], X[:, [k]]).mean(axis=0)
    both, one, other = (values - values.mean() for values in (both, one, other))
    excess = float(np.sum((both - one - other) ** 2))
    whole = float(np.sum(both**2))
    return excess / whole, excess, whole
