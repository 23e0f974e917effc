"""Distinct values of columns and their counts: merged parts equal the whole."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tamiz.scale import DistinctValues, LevelCounts
from tamiz.scale.values import ValueCounts
from tests.naive.streaming import blocks, merge_anyhow


@settings(max_examples=40)
@given(n=st.integers(1, 100), limit=st.integers(1, 12), seed=st.integers(0, 2**31))
def test_least_values_of_all(n, limit, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 10, (n, 3)) / 4
    X[rng.random((n, 3)) < 0.2] = np.nan
    parts = [DistinctValues.of(b.X, limit) for b in blocks(X, None, rng)]
    got = merge_anyhow(parts, rng)
    for j, x in enumerate(X.T):
        known = sorted(set(x[~np.isnan(x)].tolist()))
        assert got.values[j].tolist() == known[:limit]
        assert got.overflow[j] == (len(known) > limit)
        assert got.n_known[j] == np.count_nonzero(~np.isnan(x))


def test_pickled_and_refused():
    part = DistinctValues.of(np.ones((3, 2)), 5)
    assert pickle.loads(pickle.dumps(part)).merge(part).n_known.tolist() == [6, 6]
    assert part.nbytes == 2 * 17
    with pytest.raises(ValueError, match="Limits 5 and 6"):
        part.merge(DistinctValues.of(np.ones((3, 2)), 6))


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
    levels = LevelCounts.from_values(total)
    direct = LevelCounts.of(X, CODES, levels.cuts, 3)
    np.testing.assert_array_equal(levels.counts, direct.counts)
    np.testing.assert_array_equal(levels.n_rows, direct.n_rows)


def test_sparse_rows():
    dense = np.where(RNG.random((40, 3)) < 0.3, 2.0, 0.0)
    a = ValueCounts.of(dense, CODES[:40], 3)
    b = ValueCounts.of(sparse.csc_matrix(dense), CODES[:40], 3)
    for j in range(3):
        np.testing.assert_array_equal(a.counts[j], b.counts[j])
