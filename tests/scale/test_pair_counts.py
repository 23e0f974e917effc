"""LevelCounts and PairCounts: every cell equal to a count by hand, over any cut of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tamiz.scale import Cuts, LevelCounts, PairCounts, pair_counts
from tests.calls import tiles_of_one
from tests.naive.streaming import bins, blocks, merge_anyhow, pair_table


def setting(rng, n, levels, gaps):
    """A table, its classes, its cuts, and its bins."""
    p = len(levels)
    X = np.column_stack([rng.integers(0, r, n) for r in levels]).astype(float)
    for j in np.flatnonzero(gaps):
        X[rng.random(n) < 0.3, j] = np.nan
    cuts = Cuts.of([[]] * p, gaps).with_levels(dict(enumerate(levels)))
    found = [bins(X[:, j], cuts.column(j)) for j in range(p)]
    return X, rng.integers(0, 3, n), cuts, found


def expected(found, rows, i, j, cuts):
    """The table with what is not counted last: missing values, or the last bin."""
    table = pair_table(
        [found[i][r] for r in rows], [found[j][r] for r in rows], *cuts.n_bins[[i, j]]
    )
    return table[
        : table.shape[0] - (not cuts.gaps[i]), : table.shape[1] - (not cuts.gaps[j])
    ]  # without missing values there is no row or column for them


@settings(max_examples=25)
@given(
    n=st.integers(1, 150),
    levels=st.lists(st.sampled_from([1, 2, 3, 3, 5, 30, 70]), min_size=1, max_size=6),
    told=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_every_cell_of_every_class(n, levels, told, seed):
    rng = np.random.default_rng(seed)
    gaps = rng.random(len(levels)) < 0.4
    X, y, cuts, found = setting(rng, n, levels, gaps if told else np.zeros(len(levels), bool))
    if not told:
        cuts = Cuts.of([cuts.column(j) for j in range(len(levels))])  # missing values might come
    parts = blocks(X, y, rng)
    total = merge_anyhow([PairCounts.of(b.X, b.y, cuts, 3) for b in parts], rng)
    chosen = np.unique(rng.integers(0, len(levels), 3))
    some = merge_anyhow([PairCounts.of(b.X, b.y, cuts, 3, chosen) for b in parts], rng)
    single = merge_anyhow([LevelCounts.of(b.X, b.y, cuts, 3) for b in parts], rng)
    assert (single.counts == total.levels.counts).all()
    assert total.levels.n_rows.tolist() == np.bincount(y, minlength=3).tolist()
    for i in range(len(levels)):
        for k in (None, 0, 1, 2):
            rows = range(n) if k is None else np.flatnonzero(y == k)
            for j in range(len(levels)):
                assert total.table(i, j, k).tolist() == expected(found, rows, i, j, cuts).tolist()
        margins = np.column_stack([total.table(i, 0, k).sum(axis=1) for k in range(3)])
        table = single.table(i)
        assert margins[: len(table)].tolist() == table.tolist()
        assert not margins[len(table) :].any()
    for place in chosen:
        assert (some.block(place) == total.block(place)).all()
    assert total.counts.nbytes == PairCounts.size(cuts, 3)
    assert some.counts.nbytes == PairCounts.size(cuts, 3, chosen)


def test_blocks_of_pivots_and_columns_that_do_not_fill_a_tile(limits):
    """More columns than a tile has, and rows in several pieces."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 290)).astype(float)
    cuts = Cuts.of([[0.5, 1.5]] * 290, False)
    codes = cuts.codes(X)
    hot = (codes[:, :, None] == np.arange(2)).reshape(300, -1).astype(np.int64)
    limits(pair_counts, _PACKED=1, _HEIGHT=7)
    counts = PairCounts.of(X, None, cuts)
    products = hot.T @ hot
    for place in (0, 100, 289):
        assert (counts.block(place)[0] == products[2 * place : 2 * place + 2]).all()


def test_threads_do_not_change_a_count():
    rng = np.random.default_rng(0)
    X, y, cuts, _ = setting(rng, 500, [3, 3, 40, 70, 2] * 4, np.arange(20) % 3 == 0)
    here = PairCounts.of(X, y, cuts, 3)
    with tiles_of_one(pair_counts):
        assert (PairCounts.of(X, y, cuts, 3).counts == here.counts).all()


def test_sparse_rows_are_the_same():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (100, 4)) * (rng.random((100, 4)) < 0.3)
    cuts = Cuts.of([[0.5, 1.5]] * 4, False)
    dense = PairCounts.of(X.astype(float), None, cuts)
    assert (
        PairCounts.of(sparse.csr_array(X.astype(float)), None, cuts).counts == dense.counts
    ).all()


def test_refusals():
    X, y = np.array([[0.0, np.nan], [1.0, 1.0]]), np.array([0, 1])
    cuts = Cuts.of([[0.5], [0.5]], gaps=False)
    for statistic in (PairCounts, LevelCounts):
        with pytest.raises(ValueError, match="Column 1 holds a missing value, but had none"):
            statistic.of(X, y, cuts, 2)
        with pytest.raises(ValueError, match="3 columns, but the cuts are those of 2"):
            statistic.of(np.ones((2, 3)), y, cuts, 2)
        with pytest.raises(ValueError, match="codes go from 0 to 0"):
            statistic.of(X, y, cuts, 1)
        with pytest.raises(ValueError, match="one integer"):
            statistic.of(X, y[:1], cuts, 2)
        other = statistic.of(X, y, Cuts.of([[0.5], [0.7]]), 2)
        with pytest.raises(ValueError, match="different cuts"):
            statistic.of(X[1:], y[1:], cuts, 2).merge(other)
    constant = Cuts.of([[], []], gaps=False)
    with pytest.raises(ValueError, match="Column 1 holds a missing value"):
        PairCounts.of(X, y, constant, 2)
    some = PairCounts.empty(cuts, 2, [0])
    with pytest.raises(ValueError, match="different cuts"):
        some.merge(PairCounts.empty(cuts, 2, [1]))
    with pytest.raises(ValueError, match="different cuts"):
        some.merge(PairCounts.empty(cuts, 2))
