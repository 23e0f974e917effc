"""Judges and criteria that several tests of searches use."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

from tamiz import SVC


class SampleScore(TransformerMixin, BaseEstimator):
    """z-scores with n - 1, as the source computes them."""

    def fit(self, X, y=None):
        self.mean_, self.scale_ = X.mean(axis=0), X.std(axis=0, ddof=1)
        return self

    def transform(self, X):
        return (X - self.mean_) / self.scale_


def judge_of_the_source():
    return make_pipeline(SampleScore(), SVC(kernel="linear", C=1.0))


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
