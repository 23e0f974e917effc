"""StreamedCodes: every value equal to that of information.Codes on all rows, to the last bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamiz.information import Codes, encode
from tamiz.information.cuts import find_cuts
from tamiz.scale import Cuts, PairCounts, StreamedCodes
from tests.naive.streaming import blocks, sweeper


def table(rng, n, p, levels, gaps, kind="mixed"):
    """Columns with 1 to ``levels`` levels, some related to each other, some with missing values."""
    hidden = rng.integers(0, 4, n)
    X = np.empty((n, p))
    for j in range(p):
        r = int(rng.integers(1, levels + 1))
        X[:, j] = np.where(rng.random(n) < 0.4, hidden % r, rng.integers(0, r, n))
        if rng.random() < gaps:
            X[rng.random(n) < rng.choice([0.02, 0.3, 1.0], p=[0.5, 0.4, 0.1]), j] = np.nan
    return X, np.unique((hidden + rng.integers(0, 2, n)) % 3, return_inverse=True)[1]


def assert_same(streamed: StreamedCodes, codes: Codes, y, rng):
    """Compare all that filters ask for, without any tolerance."""
    assert (streamed.n_samples, streamed.n_features) == (codes.n_samples, codes.n_features)
    assert streamed.n_levels.tolist() == codes.n_levels.tolist()
    assert streamed.varies.tolist() == codes.varies.tolist()
    assert streamed.n_known().tolist() == codes.n_known().tolist()
    assert streamed.entropies().tolist() == codes.entropies().tolist()
    assert streamed.relevance().tolist() == codes.relevance(y).tolist()
    assert streamed.su_relevance().tolist() == codes.su_relevance(y).tolist()
    for j in rng.permutation(codes.n_features)[:4].tolist():
        assert streamed.row(j).tolist() == codes.row(j).tolist()
        assert streamed.su_row(j).tolist() == codes.su_row(j).tolist()
        assert streamed.conditional(j).tolist() == codes.conditional(j, y).tolist()
    for ratio in (False, True):
        assert (streamed.matrix(ratio=ratio) == codes.matrix(ratio=ratio)).all()
    for ours, theirs in zip(
        streamed.contingency(), codes.contingency(y, int(y.max()) + 1), strict=True
    ):
        if len(theirs):  # nothing but missing values that are left out
            assert ours[: len(theirs)].tolist() == theirs.tolist()


@settings(max_examples=30)
@given(
    n=st.integers(2, 260),
    p=st.integers(1, 9),
    levels=st.integers(1, 12),
    gaps=st.sampled_from([0.0, 0.5]),
    missing=st.sampled_from(["code", "ignore"]),
    told=st.booleans(),
    tight=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_equal_to_codes_bit_by_bit(n, p, levels, gaps, missing, told, tight, seed):
    rng = np.random.default_rng(seed)
    X, y = table(rng, n, p, levels, gaps)
    codes = encode(X, bins=None, missing=missing)
    has_gaps = np.isnan(X).any(axis=0) if told else True
    cuts = Cuts.of([[]] * p, has_gaps).with_levels({j: levels for j in range(p)})
    n_classes = int(y.max()) + 1
    most = int((8 * n_classes * cuts.layout.n_counted * cuts.layout.first[-1]).max())
    budget = 2 * most if tight else 2**28
    differ = np.array([len(np.unique(x[~np.isnan(x)])) > 1 for x in X.T])
    streamed = StreamedCodes(
        sweeper(blocks(X, y, rng), rng),
        cuts,
        n_classes,
        missing=missing,
        varies=differ,
        budget=budget,
    )
    assert_same(streamed, codes, y, rng)


@pytest.mark.parametrize("levels", [60, 64, 65, 90])
@pytest.mark.parametrize("missing", ["code", "ignore"])
def test_many_levels(levels, missing):
    rng = np.random.default_rng(levels)
    X, y = table(rng, 3000, 6, levels, 0.5)
    X[:, 0] = rng.integers(0, levels, 3000)
    X[:, 1] = rng.integers(0, 3, 3000)
    codes = encode(X, bins=None, missing=missing)
    cuts = Cuts.of([[]] * 6, np.isnan(X).any(axis=0)).with_levels(dict.fromkeys(range(6), levels))
    streamed = StreamedCodes(sweeper(blocks(X, y, rng), rng), cuts, 3, missing=missing)
    assert_same(streamed, codes, y, rng)


@pytest.mark.parametrize("bins", ["mean_std", "width", "frequency", "mdl"])
@pytest.mark.parametrize("missing", ["code", "ignore"])
def test_continuous_columns_and_a_nominal_one(bins, missing):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((700, 7)), rng.integers(0, 2, 700)
    X[:, :3] += y[:, None] * [0.5, 1.0, 2.0]
    X[:, 3] = np.arange(700) % 2  # equally common
    X[:, 4] = 7.0
    X[:, 5] = rng.integers(0, 5, 700)
    X[rng.random(700) < 0.2, 1] = np.nan
    codes = encode(X, bins=bins, y=y, categorical_features=[5], missing=missing)
    found = find_cuts(X, bins, 5, y)
    cuts = Cuts.of(found, np.isnan(X).any(axis=0)).with_levels({5: 5})
    differ = np.fmax.reduce(X) > np.fmin.reduce(X)
    sweep = sweeper(blocks(X, y, rng), rng)
    streamed = StreamedCodes(sweep, cuts, 2, missing=missing, varies=differ)
    assert_same(streamed, codes, y, rng)


def test_a_part_of_the_features():
    rng = np.random.default_rng(0)
    X, y = table(rng, 400, 8, 5, 0.5)
    codes = encode(X, bins=None)
    cuts = Cuts.of([[]] * 8).with_levels(dict.fromkeys(range(8), 5))
    streamed = StreamedCodes(sweeper(blocks(X, y, rng), rng), cuts, 3)
    kept = np.array([1, 2, 5, 7])
    assert_same(streamed.take(kept), codes.take(kept), y, rng)
    again = streamed.take(kept).take([0, 3])
    assert again.row(1).tolist() == codes.row(7)[[1, 7]].tolist()


def test_a_small_budget_makes_more_passes_and_no_other_values():
    rng = np.random.default_rng(0)
    X, y = table(rng, 500, 12, 4, 0.0)
    cuts = Cuts.of([[]] * 12, False).with_levels(dict.fromkeys(range(12), 4))
    sweep = sweeper(blocks(X, y, rng), rng)
    whole = StreamedCodes(sweep, cuts, 3)
    assert whole.n_passes == 1
    one = PairCounts.size(cuts, 3, np.array([11]))
    tight = StreamedCodes(sweep, cuts, 3, budget=6 * one)
    assert (tight.matrix() == whole.matrix()).all()
    assert tight.n_passes == 3
    asked = StreamedCodes(sweep, cuts, 3, budget=6 * one)
    best = np.argsort(-asked.relevance(), kind="stable")
    for j in (*best[:3], best[1]):  # the most relevant are counted together with the first
        assert asked.row(j).tolist() == whole.row(j).tolist()
    assert asked.n_passes == 2
    assert sum(part.nbytes for part in asked._store.blocks.values()) <= 6 * one


def test_relevance_alone_counts_no_pairs():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([np.arange(5000.0)] * 2), rng.integers(0, 2, 5000)
    cuts = Cuts.of([[]] * 2, False).with_levels({0: 5000, 1: 5000})
    sweep = sweeper(blocks(X, y, rng), rng)
    streamed = StreamedCodes(sweep, cuts, 2, pairs=False)
    expected = encode(X, categorical_features=[0, 1])
    assert streamed.relevance().tolist() == expected.relevance(y).tolist()
    with pytest.raises(ValueError, match=r"Column 0 has 5000 levels.*identifier"):
        streamed.row(0)
    with pytest.raises(ValueError, match="raise budget"):
        StreamedCodes(sweep, cuts, 2)


def test_refusals():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])
    cuts = Cuts.of([[0.5], [0.5]])
    sweep = sweeper(blocks(X, y, np.random.default_rng(0)), np.random.default_rng(0))
    streamed = StreamedCodes(sweep, cuts, 2)
    with pytest.raises(ValueError, match="leave y out"):
        streamed.relevance(y)
    with pytest.raises(ValueError, match="missing='no'"):
        StreamedCodes(sweep, cuts, 2, missing="no")
    with pytest.raises(IndexError, match="from 0 to 1"):
        streamed.row(2)
    with pytest.raises(TypeError, match="MaxDep"):
        streamed.column(0)
    with pytest.raises(ValueError, match="no rows"):
        StreamedCodes.from_counts(PairCounts.empty(cuts, 2))
    with pytest.raises(ValueError, match="some pairs only"):
        StreamedCodes.from_counts(PairCounts.empty(cuts, 2, [0]))


def test_changed_data_is_noticed():
    rng = np.random.default_rng(0)
    X, y = table(rng, 100, 4, 3, 0.0)
    cuts = Cuts.of([[]] * 4).with_levels(dict.fromkeys(range(4), 3))
    batches = blocks(X, y, rng)
    streamed = StreamedCodes(sweeper(batches, rng), cuts, 3, pairs=False)
    batches.append(batches[0] if len(batches[0].X) else batches[-1])
    with pytest.raises(ValueError, match="changed in between"):
        streamed.row(0)


def test_counts_survive_a_trip_to_another_process():
    rng = np.random.default_rng(0)
    X, y = table(rng, 300, 5, 4, 0.5)
    cuts = Cuts.of([[]] * 5).with_levels(dict.fromkeys(range(5), 4))
    counts = [PairCounts.of(batch.X, batch.y, cuts, 3) for batch in blocks(X, y, rng)]
    sent = pickle.loads(pickle.dumps(counts))
    total = sent[0]
    for part in sent[1:]:
        total = total.merge(part)
    streamed = StreamedCodes.from_counts(total)
    assert (streamed.matrix() == encode(X, bins=None).matrix()).all()
    assert total.nbytes < len(pickle.dumps(total)) < 2 * total.nbytes + 20_000
