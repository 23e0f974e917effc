"""Counts of values that are not known beforehand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from tamiz.scale import LevelCounts
from tamiz.scale.value_counts import ValueCounts

RNG = np.random.default_rng(0)
X = RNG.integers(0, 6, (300, 5)).astype(float)
X[RNG.random(X.shape) < 0.1] = np.nan
X[:, 3], X[:, 4] = 7.0, np.nan
X[200:, 0] += 0.5
CODES = RNG.integers(0, 3, 300)


@pytest.mark.parametrize("cut", [(0, 300), (0, 1, 150, 300), (0, 100, 200, 300)])
def test_merged_counts_are_those_of_the_rows(cut):
    total = None
    for a, b in pairwise(cut):
        part = ValueCounts.of(X[a:b], CODES[a:b], 3)
        total = part if total is None else total.merge(part)
    for j in range(5):
        values = np.unique(X[~np.isnan(X[:, j]), j])
        np.testing.assert_array_equal(total.values[j], values)
        for value, row in zip(values, total.counts[j], strict=True):
            assert row.tolist() == [
                int(((X[:, j] == value) & (k == CODES)).sum()) for k in range(3)
            ]
    levels = total.levels()
    direct = LevelCounts.of(X, CODES, levels.cuts, 3)
    np.testing.assert_array_equal(levels.counts, direct.counts)
    np.testing.assert_array_equal(levels.n_rows, direct.n_rows)


def test_sparse_rows():
    dense = np.where(RNG.random((40, 3)) < 0.3, 2.0, 0.0)
    a = ValueCounts.of(dense, CODES[:40], 3)
    b = ValueCounts.of(sparse.csc_matrix(dense), CODES[:40], 3)
    for j in range(3):
        np.testing.assert_array_equal(a.counts[j], b.counts[j])
