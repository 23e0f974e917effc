"""Ranges and deviations: NumPy's, and those of a sparse table to the last bit."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tamiz.neighbors._scales import SCALINGS, deviation, span


def test_numpy_and_the_sparse_copy_agree():
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, (200, 9)) * 10.0 ** np.arange(-4, 5)
    X[rng.random(X.shape) < 0.5] = 0.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4], X[:, 5], X[:, 6] = 0.0, 0.1, np.nan
    known = np.arange(9) != 6
    assert deviation(X)[4:7].tolist() == span(X)[4:7].tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(
        deviation(X)[known], np.nanstd(X[:, known], axis=0), rtol=1e-12, atol=1e-15
    )
    widths = np.nanmax(X[:, known], axis=0) - np.nanmin(X[:, known], axis=0)
    np.testing.assert_array_equal(span(X)[known], widths)
    for scaling in SCALINGS.values():
        np.testing.assert_array_equal(scaling(sparse.csc_matrix(X)), scaling(X))


def test_long_columns_lose_nothing():
    x = np.full(200_001, 0.1) + 1e9
    x[::2] += 1.0
    X = x[:, None]
    np.testing.assert_allclose(deviation(X), X.std(axis=0), rtol=1e-9)
