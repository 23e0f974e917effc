"""Criteria with a random value for every subset, and programs that the tests of searches share."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

from tamiz.svm import SVC

ROOT = Path(__file__).resolve().parent.parent.parent


class Table:
    """A value for every subset of p features; with few ``levels`` there are many ties.

    After ``stop_after`` questions it behaves as if Ctrl-C had been pressed.
    """

    def __init__(self, p, seed, levels=None, monotone=False, stop_after=None):
        self.stop_after = stop_after
        rng = np.random.default_rng(seed)
        self.p = p
        self.asked = []
        self.values = {}
        for size in range(p + 1):
            for subset in combinations(range(p), size):
                gain = rng.random() if levels is None else int(rng.integers(levels)) / levels
                below = [self.values[tuple(k for k in subset if k != j)] for j in subset]
                self.values[subset] = gain + max(below, default=0.0) if monotone else gain
        # every row says which column is which
        self.X = np.tile(np.arange(float(p)), (4, 1))
        self.y = np.array([0, 1, 0, 1])

    def __repr__(self):
        return f"Table({len(self.values)} values, {hash(tuple(self.values.values()))})"

    def __call__(self, X, y):
        if len(self.asked) == self.stop_after:
            raise KeyboardInterrupt
        subset = tuple(X[0].astype(int).tolist())
        self.asked.append(subset)
        return self.values[subset]

    def score(self, subset):
        return self.values[tuple(int(j) for j in subset)]

    def fit(self, search, **params):
        return search(criterion=self, **params).fit(self.X, self.y)


class ZScore(TransformerMixin, BaseEstimator):
    """Means and deviations (n - 1 in the denominator) of the samples it was fitted to."""

    def fit(self, X, y=None):
        self.mean_, self.scale_ = X.mean(axis=0), X.std(axis=0, ddof=1)
        return self

    def transform(self, X):
        return (X - self.mean_) / self.scale_


def linear_machine():
    """The judge of the worked examples."""
    return make_pipeline(ZScore(), SVC(C=1.0, kernel="linear"))


def merit(weights):
    """A criterion with a known optimum: the sum of the weights of the columns."""

    def criterion(X, y):
        return float(sum(weights[int(j)] for j in X[0]))

    return criterion


def numbered(n, p):
    """A table whose first row holds the numbers of its columns."""
    X = np.random.default_rng(0).normal(size=(n, p))
    X[0] = np.arange(p)
    return X, np.arange(n) % 2


def selected(search):
    """The selected features, ascending."""
    return tuple(np.flatnonzero(search.support_).tolist())


def marks(search, *actions):
    """What was decided, without the subsets that were only judged."""
    return [s for s in search.selection_.path if s.action in actions]
