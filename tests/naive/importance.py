"""Importances inside folds by loops: fit, shuffle or leave out, score."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring


def permutation(model, X, y, splits, units, orders, scoring=None):
    """Falls of the score (units, splits, repeats); ``orders(k, u, n)`` lists orders of the rows."""
    found = []
    for k, (train, test) in enumerate(splits):
        fitted = clone(model).fit(X[train], y[train])
        score = check_scoring(fitted, scoring)
        plain = score(fitted, X[test], y[test])
        falls = []
        for u, unit in enumerate(units):
            falls.append([])
            for order in orders(k, u, len(test)):
                shuffled = X[test].copy()
                for j in unit:
                    shuffled[:, j] = X[test][order, j]
                falls[-1].append(plain - score(fitted, shuffled, y[test]))
        found.append(falls)
    return np.array(found).transpose(1, 0, 2)


def switched(machine, X, y):
    """Rise of the mean square, over all pairs of different rows, one with the other's value."""
    n, p = X.shape
    plain = np.mean((y - machine.predict(X)) ** 2)
    found = np.zeros(p)
    for j in range(p):
        for i in range(n):
            for other in range(n):
                if other != i:
                    row = X[i].copy()
                    row[j] = X[other, j]
                    error = (y[i] - machine.predict(row[None, :])[0]) ** 2
                    found[j] += error / (n * (n - 1))
    return found - plain


def left_out(model, X, y, splits, units, scoring=None):
    """Falls of the score (units, splits) when columns are deleted before the fit."""
    found = []
    for train, test in splits:
        score = check_scoring(model, scoring)
        plain = score(clone(model).fit(X[train], y[train]), X[test], y[test])
        row = []
        for unit in units:
            Z = np.delete(X, unit, axis=1)
            row.append(plain - score(clone(model).fit(Z[train], y[train]), Z[test], y[test]))
        found.append(row)
    return np.array(found).T
