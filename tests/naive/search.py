"""Judges of subsets, slow and obvious: cross-validation by hand, merits as they are written."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np


def accuracy(make, X, y, splits, features, weight=None):
    """Share of right answers of a fresh machine, for each split."""
    found = []
    for train, test in splits:
        machine = make()
        arguments = {} if weight is None else {"sample_weight": weight[train]}
        machine.fit(X[train][:, features], y[train], **arguments)
        right = machine.predict(X[test][:, features]) == y[test]
        w = np.ones(len(test)) if weight is None else weight[test]
        found.append(sum(w[right]) / sum(w))
    return found


def class_normals(X, y, ridge):
    """Share, mean and covariance of each class, of features that are standardised first."""
    Z = np.array(X, dtype=float)
    for j in range(Z.shape[1]):
        spread = Z[:, j].std()
        Z[:, j] = (Z[:, j] - Z[:, j].mean()) / (spread if spread > 0 else 1.0)
    found = []
    for label in sorted(set(y.tolist())):
        rows = Z[y == label]
        covariance = np.atleast_2d(np.cov(rows, rowvar=False)) + ridge * np.eye(Z.shape[1])
        found.append((len(rows) / len(Z), rows.mean(axis=0), covariance))
    return found


def bhattacharyya(X, y, ridge):
    """Sum over the pairs of classes, weighted by both shares."""
    total = 0.0
    for (p, m, A), (q, k, B) in combinations(class_normals(X, y, ridge), 2):
        S = (A + B) / 2
        d = m - k
        pair = d @ np.linalg.inv(S) @ d / 8
        pair += 0.5 * log(np.linalg.det(S) / np.sqrt(np.linalg.det(A) * np.linalg.det(B)))
        total += p * q * pair
    return total


def divergence(X, y, ridge):
    """Sum over the pairs of classes, weighted by both shares."""
    total = 0.0
    for (p, m, A), (q, k, B) in combinations(class_normals(X, y, ridge), 2):
        Ai, Bi = np.linalg.inv(A), np.linalg.inv(B)
        d = m - k
        shape = np.trace(Ai @ B + Bi @ A - 2 * np.eye(len(d)))
        total += p * q * 0.5 * (d @ (Ai + Bi) @ d + shape)
    return total
