"""Cuts: layout and levels, and the rules from statistics that merge against those of arrays."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamiz.information import encode
from tamiz.information.cuts import find_cuts
from tamiz.scale import Cuts, DistinctValues, Ranges, RowSample, streamed_cuts
from tests.naive.streaming import bins, blocks, merge_anyhow


def test_codes_are_the_number_of_cuts_below():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (80, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    lists = [[-1.0, 0.0, 2.0], [], [0.5]]
    cuts = Cuts.of(lists)
    expected = np.column_stack([bins(x, part) for x, part in zip(X.T, lists, strict=True)])
    assert cuts.codes(X).tolist() == expected.tolist()
    assert cuts.n_bins.tolist() == [4, 1, 2]


def test_levels_become_their_places():
    cuts = Cuts.of([[0.3], []]).with_levels({0: 4, 1: np.array([-2.5, 0.0, 7.0])})
    X = np.array([[0.0, -2.5], [1.0, 0.0], [2.0, 7.0], [3.0, np.nan]])
    assert cuts.codes(X).tolist() == [[0, 0], [1, 1], [2, 2], [3, -1]]


def test_infinite_cuts_only_fill_up():
    cuts = Cuts.of(np.array([[1.0, 2.0], [1.0, np.inf]]), gaps=[True, False])
    assert [cuts.column(j).tolist() for j in range(2)] == [[1.0, 2.0], [1.0]]


def test_layout_groups_columns_by_counted_levels():
    cuts = Cuts.of([[1.0, 2.0], [], [1.0], [5.0, 6.0]], gaps=[False, False, True, False])
    layout = cuts.layout
    assert sorted(layout.order.tolist()) == [0, 1, 2, 3]
    assert layout.order[layout.place].tolist() == [0, 1, 2, 3]
    assert layout.n_counted.tolist() == [0, 2, 2, 2]
    assert layout.first.tolist() == [0, 0, 2, 4, 6]
    assert sum(span.stop - span.start for span in layout.spans) == 4
    for span in layout.spans:
        for l, j in enumerate(span.columns):
            assert span.cuts[:, l].tolist() == cuts.column(j).tolist()
            assert span.n_counted == len(cuts.column(j)) + cuts.gaps[j]


def test_equality_survives_pickling():
    cuts = Cuts.of([[1.0], [2.0]], gaps=[True, False], rank_error=0.1)
    assert len(cuts.layout.spans) == 2
    again = pickle.loads(pickle.dumps(cuts))
    assert cuts.equals(again) and again.rank_error == 0.1
    assert not cuts.equals(Cuts.of([[1.0], [2.0]], gaps=True))
    assert not cuts.equals(Cuts.of([[1.0], [2.5]], gaps=[True, False]))


def test_cuts_must_ascend():
    assert Cuts.of([[1.0, 1.0, 2.0], [2.0, 2.0]]).values.tolist() == [1.0, 2.0, 2.0]
    with pytest.raises(ValueError, match="column 1 are not ascending"):
        Cuts.of([[1.0], [2.0, 1.5]])


def awkward(rng, n):
    """Columns whose values lie on the cuts, or nearly."""
    half = np.arange(n) % 2
    X = np.column_stack(
        [
            half,  # equally common: exactly one deviation from the mean
            0.1 + 0.2 * half,
            1e8 + half,
            np.where(half, np.nextafter(1e8, np.inf), 1e8),  # closer than the slack of the cuts
            rng.permutation(half) * 3.0 - 7.0,
            rng.integers(0, 2, n),
            np.arange(n) == 0,  # one that is rare
            np.where(np.arange(n) % 8 == 0, -2, np.where(np.arange(n) % 8 == 4, 2, 0)) + 5.0,
            rng.integers(0, 5, n),
            rng.integers(-3, 4, n) / 10,
            np.full(n, 0.1),
            np.repeat([0.3, np.nan], [n - 1, 1]) if n > 1 else np.full(n, 0.3),
            np.full(n, np.nan),
            rng.standard_normal(n) * 2.0**500,
            rng.standard_normal(n),
        ]
    ).astype(float)
    X[rng.random(n) < 0.2, 7] = np.nan
    return X


def statistics(X, y, rng, **how):
    batches = blocks(X, y, rng)
    ranges = merge_anyhow([Ranges.of(b.X) for b in batches], rng)
    sample = merge_anyhow(
        [RowSample.of(b.X, b.y, first_row=b.first_row, **how) for b in batches], rng
    )
    return ranges, sample


@settings(max_examples=30)
@given(
    n=st.integers(2, 300),
    method=st.sampled_from(["mean_std", "width", "frequency", "mdl"]),
    n_bins=st.integers(2, 9),
    seed=st.integers(0, 2**31),
)
def test_no_value_moves(n, method, n_bins, seed):
    rng = np.random.default_rng(seed)
    X, y = awkward(rng, n), rng.integers(0, 2, n)
    ranges, sample = statistics(X, y, rng)
    got = streamed_cuts(method, n_bins=n_bins, ranges=ranges, sample=sample)
    expected = Cuts.of(find_cuts(X, method, n_bins, y))
    if method != "mean_std":  # whose mean and deviation have other last digits
        assert got.values.tolist() == expected.values.tolist()
    else:
        np.testing.assert_allclose(got.values, expected.values, rtol=1e-12, atol=1e-12)
    assert (got.codes(X) == expected.codes(X)).all()
    assert got.gaps.tolist() == np.isnan(X).any(axis=0).tolist()
    assert got.rank_error == 0.0


def test_two_equally_common_values_stay_apart_however_many_rows():
    for n in (2, 10_000, 100_000):
        x = np.arange(n) % 2 * 0.7 + 0.1
        batches = np.array_split(x[:, None], 7 if n > 2 else 1)
        ranges = merge_anyhow([Ranges.of(part) for part in batches], np.random.default_rng(0))
        cuts = streamed_cuts("mean_std", ranges=ranges)
        assert len(np.unique(cuts.codes(x[:, None]))) == 2


@pytest.mark.parametrize("base", [0.0, 0.1, -7.0, 1e8])
@pytest.mark.parametrize("step", [1.0, 0.1, 1 / 3])
def test_values_exactly_one_deviation_from_the_mean(base, step):
    """Shares 1, 4, 6, 4, 1 of five values: the second and the fourth lie on the cuts."""
    rng = np.random.default_rng(0)
    values = base + step * np.arange(5)
    X = rng.permutation(np.repeat(values, 50 * np.array([1, 4, 6, 4, 1])))[:, None]
    ranges, _ = statistics(X, None, rng)
    got = streamed_cuts("mean_std", ranges=ranges)
    assert (got.codes(X) == Cuts.of(find_cuts(X, "mean_std", 3)).codes(X)).all()
    if base != 1e8:  # where rounding of the values themselves decides
        assert got.codes(values[:, None])[:, 0].tolist() == [0, 0, 1, 1, 2]


def test_a_sample_gives_quantiles_within_the_stated_error():
    rng = np.random.default_rng(0)
    X = np.exp(rng.standard_normal((20_000, 3)))
    ranges, sample = statistics(X, None, rng, size=1000)
    cuts = streamed_cuts("frequency", n_bins=4, ranges=ranges, sample=sample)
    assert 0.05 < cuts.rank_error < 0.06
    for j in range(3):
        shares = (X[:, [j]] <= cuts.column(j)).mean(axis=0)
        assert np.abs(shares - [0.25, 0.5, 0.75]).max() <= cuts.rank_error + 1e-3


def test_discrete_columns_are_cut_at_their_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 90) / 2, rng.integers(-5, 500, 90), np.arange(90) % 3])
    X[3, 0] = np.nan
    ranges, _ = statistics(X, None, rng)
    cuts = streamed_cuts(None, ranges=ranges, distinct=DistinctValues.of(X), levels={2: 3})
    codes = encode(X, bins=None)
    for j in range(3):
        ours = cuts.codes(X)[:, j]
        theirs = codes.column(j)
        pairs = set(zip(ours.tolist(), theirs.tolist(), strict=True))
        assert len(pairs) == codes.n_levels[j]
    assert cuts.n_bins[2] == 3


def test_nominal_columns_keep_their_levels():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (50, 2)).astype(float)
    ranges, _ = statistics(X, None, rng)
    cuts = streamed_cuts("mean_std", ranges=ranges, levels={1: 6})
    assert (cuts.codes(X)[:, 1] == X[:, 1]).all()
    assert cuts.n_bins.tolist() == [3, 6]


def test_refusals():
    X = np.random.default_rng(0).standard_normal((50, 2))
    ranges, sample = Ranges.of(X), RowSample.of(X, None, first_row=0)
    with pytest.raises(ValueError, match="method='often'"):
        streamed_cuts("often", ranges=ranges)
    with pytest.raises(ValueError, match="needs sample"):
        streamed_cuts("frequency", ranges=ranges)
    with pytest.raises(ValueError, match="needs distinct"):
        streamed_cuts(None, ranges=ranges)
    with pytest.raises(ValueError, match="needs class codes"):
        streamed_cuts("mdl", ranges=ranges, sample=sample)
    distinct = DistinctValues.of(np.column_stack([X[:, 0] > 0, X[:, 1]]).astype(float))
    with pytest.raises(ValueError, match="column 'b' has 50 distinct values"):
        streamed_cuts(None, ranges=ranges, distinct=distinct, names=["a", "b"])
    with pytest.raises(ValueError, match="column 0 has more than 10"):
        streamed_cuts(None, ranges=ranges, distinct=DistinctValues.of(X, 10))
