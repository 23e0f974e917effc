"""RowSample: the same rows however the table is cut and merged, every row equally likely."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from tamiz.scale import RowSample
from tamiz.scale.sample import row_hash
from tests.naive.streaming import blocks, merge_anyhow


def sampled(batches, **how):
    return [RowSample.of(b.X, b.y, first_row=b.first_row, **how) for b in batches]


@settings(max_examples=40)
@given(n=st.integers(1, 200), size=st.integers(1, 250), seed=st.integers(0, 2**31))
def test_any_order_gives_the_least_hashes_of_all(n, size, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, 2)), rng.integers(0, 3, n)
    got = merge_anyhow(sampled(blocks(X, y, rng), size=size, seed=seed), rng)
    rows = np.sort(np.argsort(row_hash(np.arange(n), seed))[:size])
    assert got.rows.tolist() == rows.tolist()
    assert (X[rows] == got.X).all()
    assert got.y.tolist() == y[rows].tolist()
    assert got.exact == (n <= size)


def test_every_row_is_equally_likely():
    """Chi-square over the rows, and over pairs of neighbours, with many seeds."""
    n, size, seeds = 40, 10, 3000
    X = np.zeros((n, 1))
    hits, together = np.zeros(n), 0
    for seed in range(seeds):
        rows = RowSample.of(X, None, first_row=0, size=size, seed=seed).rows
        hits[rows] += 1
        together += np.count_nonzero(np.diff(rows) == 1)
    share = size / n
    spread = seeds * share * (1 - share) * n / (n - 1)
    chi2 = ((hits - seeds * share) ** 2).sum() / spread
    assert 1e-3 < stats.chi2.sf(chi2, n - 1) < 1 - 1e-3
    pairs = seeds * (n - 1) * share * (size - 1) / (n - 1)
    assert abs(together - pairs) < 4 * np.sqrt(pairs)


def test_hashes_are_distinct_and_spread():
    hashes = row_hash(np.arange(100_000), seed=3)
    assert len(np.unique(hashes)) == 100_000
    assert stats.kstest(hashes / 2.0**64, "uniform").pvalue > 1e-3
    assert (row_hash(np.arange(5), 3) != row_hash(np.arange(5), 4)).all()


def test_knowing_the_number_of_rows_changes_nothing_but_the_time():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 2))
    batches = blocks(X, rng.integers(0, 2, 5000), rng)
    plain = merge_anyhow(sampled(batches, size=100), rng)
    quick = sampled(batches, size=100, n_rows=5000)
    assert sum(len(part.rows) for part in quick) < 300
    assert merge_anyhow(quick, rng).rows.tolist() == plain.rows.tolist()
    everything = merge_anyhow(sampled(batches, size=5000, n_rows=5000), rng)
    assert everything.exact


def test_float32_where_nothing_is_lost():
    short = RowSample.of(np.array([[0.5], [np.nan]]), None, first_row=0, size=5)
    long = RowSample.of(np.array([[0.1]]), None, first_row=2, size=5)
    assert short.values.dtype == np.float32 and long.values.dtype == np.float64
    both = short.merge(long)
    np.testing.assert_array_equal(both.X, [[0.5], [np.nan], [0.1]])
    assert both.X.dtype == np.float64 and both.nbytes == 3 * 16


def test_sparse_rows_and_pickling():
    X = sparse.csr_array(np.eye(6))
    part = pickle.loads(pickle.dumps(RowSample.of(X, None, first_row=0, size=4)))
    assert (np.eye(6)[part.rows] == part.X).all()


def test_rank_error_covers_the_distance():
    """The distribution function of the sample stays within the bound, in 99 of 100 samples."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 1))
    beyond = 0
    for seed in range(200):
        sample = RowSample.of(X, None, first_row=0, size=400, seed=seed)
        distance = stats.ks_2samp(sample.X[:, 0], X[:, 0]).statistic
        beyond += distance > sample.rank_error(0.9)[0]
    assert 1 <= beyond <= 0.1 * 200


def test_refusals():
    X = np.zeros((3, 1))
    with pytest.raises(ValueError, match="size=0"):
        RowSample.of(X, None, first_row=0, size=0)
    with pytest.raises(ValueError, match="one size and one seed"):
        RowSample.of(X, None, first_row=0, seed=1).merge(RowSample.of(X, None, first_row=3, seed=2))
    with pytest.raises(ValueError, match="confidence=1"):
        RowSample.of(X, None, first_row=0).rank_error(1)
