"""Rows of linear machines on a stream, as several tests need them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tamiz.svm.stream.newton import Rows, Tasks, Units


def noisy(n=300, p=6, seed=0, shift=0.0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(0.5, 3.0, p) + shift
    score = X[:, 0] - shift + 0.5 * (X[:, 1] - shift) + rng.standard_normal(n)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    return X, y


def cut(X, y, *sizes):
    ends = np.cumsum(sizes)
    return list(zip(np.split(X, ends), np.split(y, ends), strict=True))


def rows_of(X, y, C, sample=None, dense=True):
    """The rows of a binary problem as the solver sees them, all in one batch."""
    scale = X.std(axis=0)
    units = Units(X.mean(axis=0) if dense else np.zeros(X.shape[1]), scale)
    table = X if dense else sparse.csr_matrix(X)
    tasks = Tasks(np.array([[-1.0, 1.0]]), np.full((1, 2), C))
    chosen = np.arange(len(y)) if sample is None else sample
    return Rows(
        total=lambda make: make.of(table, y),
        tasks=tasks,
        units=units,
        n_rows=len(y),
        row_cost=1.0,
        sample=units.apply(table[chosen]),
        codes=y[chosen],
        weight=len(y) / len(chosen),
    )
