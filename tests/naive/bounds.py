"""Leaving one out by fitting again, and spans as distances to affine hulls."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone


def leave_one_out(machine, X, y):
    """``y_p f(x_p)`` of each sample by a machine fitted without it, and whether the kinds stayed.

    The kind of a sample is free, bounded or no support vector.
    """
    whole = clone(machine).fit(X, y)
    signs = np.where(y == whole.classes_[1], 1.0, -1.0)
    kinds = _kinds(whole, len(y))
    values, same = [], []
    for p in range(len(y)):
        rest = np.delete(np.arange(len(y)), p)
        without = clone(machine).fit(X[rest], y[rest])
        values.append(signs[p] * without.decision_function(X[p : p + 1])[0])
        same.append(_kinds(without, len(rest)) == [kinds[i] for i in rest])
    return np.array(values), np.array(same)


def _kinds(machine, n):
    free, bounded = set(machine.free_support_.tolist()), set(machine.bounded_support_.tolist())
    return ["free" if i in free else "bounded" if i in bounded else "none" for i in range(n)]


def squared_distance_to_hull(Z, p, others):
    """Squared distance of row p to the affine hull of other rows, by least squares."""
    base = Z[others[0]]
    directions = np.array([Z[i] - base for i in others[1:]]).reshape(-1, Z.shape[1])
    target = Z[p] - base
    if not len(directions):
        return float(target @ target)
    weights = np.linalg.lstsq(directions.T, target, rcond=None)[0]
    rest = target - directions.T @ weights
    return float(rest @ rest)
