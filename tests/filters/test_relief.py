"""The Relief family: worked example, naive loops, priors, missing values, epistasis, threads."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.filters import (
    AUCScore,
    ChiSquared,
    FisherScore,
    InformationGain,
    KolmogorovSmirnov,
    PearsonScore,
    Relief,
    ReliefF,
    RReliefF,
    SignalToNoise,
    StumpError,
    SymmetricalUncertainty,
    WelchT,
    neighbours,
)
from tests.calls import tiles_of_one
from tests.frames import to_polars
from tests.naive import relief as naive

# ------------------------------------------------------------------------------- worked example


def test_worked_example(d8):
    """Samples x1 and x6; the nearest miss of x6 is x1 or x7, and the text takes x7."""
    relief = Relief(n_samples=[0, 5], scaling="none")
    found = {
        tuple(relief.set_params(random_state=seed).fit(d8.X[:, :2], d8.y).scores_.round(4))
        for seed in range(20)
    }
    assert found == {(0.5333, 0.1), (0.4833, 0.25)}
    first = relief.set_params(ties="index").fit(d8.X[:, :2], d8.y)
    assert first.scores_ == pytest.approx([0.48333, 0.25], abs=1e-4)
    backwards = relief.set_params(n_samples=[2, 7]).fit(d8.X[::-1, :2], d8.y[::-1])
    assert backwards.scores_ == pytest.approx([0.53333, 0.1], abs=1e-4)


def test_distances_as_they_stand_or_by_range(d8):
    """By range the nearest hit of x1 is x8, not x7."""
    X = d8.X[:, :2]
    by_range = Relief(n_samples=[0], ties="index").fit(X, d8.y).scores_
    as_is = Relief(n_samples=[0], ties="index", scaling="none").fit(X, d8.y).scores_
    assert by_range == pytest.approx([16 / 30 - 7 / 30, 4 / 10 - 1 / 10])
    assert as_is == pytest.approx([16 / 30 - 3 / 30, 4 / 10 - 3 / 10])


# --------------------------------------------------------------------------------- naive loops


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, n_classes = draw(st.integers(4, 24)), draw(st.integers(2, 4))
    y = rng.integers(0, n_classes, n)
    y[:4] = 0, 0, 1, 1
    X = np.column_stack(
        [
            rng.standard_normal(n) * 3,
            rng.integers(0, 3, n),
            rng.integers(0, 3, n),
            np.full(n, 0.7),
            rng.random(n),
            rng.integers(0, 2, n),
        ]
    )
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
        if draw(st.booleans()):
            X[y == 1, 4] = np.nan  # a class that knows nothing of the feature
    options = {
        "metric": draw(st.sampled_from(["manhattan", "euclidean"])),
        "scaling": draw(st.sampled_from(["range", "none"])),
    }
    return X, y, options


SYMBOLIC = [False, False, True, False, False, True]


def as_rows(X):
    return [[None if np.isnan(v) else float(v) for v in row] for row in X]


def eligible(y):
    return [i for i in range(len(y)) if np.sum(y == y[i]) > 1]


@given(table=tables(), k=st.integers(1, 12))
@settings(max_examples=60)
def test_relieff_equals_the_naive_one(table, k):
    X, y, options = table
    got = ReliefF(n_neighbors=k, ties="index", categorical_features=SYMBOLIC, **options).fit(X, y)
    expected = naive.relieff(as_rows(X), y.tolist(), SYMBOLIC, eligible(y), k, **options)
    np.testing.assert_allclose(got.scores_, np.clip(expected, -1.0, 1.0), atol=1e-9)
    assert got.sample_indices_.tolist() == eligible(y)


@given(table=tables())
@settings(max_examples=60)
def test_relief_equals_the_naive_one(table):
    X, y, options = table
    got = Relief(ties="index", categorical_features=SYMBOLIC, **options).fit(X, y)
    expected = naive.relief(as_rows(X), y.tolist(), SYMBOLIC, eligible(y), **options)
    np.testing.assert_allclose(got.scores_, expected, atol=1e-9)


@given(table=tables(), k=st.integers(1, 6))
@settings(max_examples=60)
def test_rrelieff_equals_the_naive_one(table, k):
    X, y, options = table
    target = y + 0.25 * np.arange(len(y)) % 1
    got = RReliefF(n_neighbors=k, ties="index", categorical_features=SYMBOLIC, **options).fit(
        X, target
    )
    everyone = list(range(len(y)))
    expected = naive.rrelieff(as_rows(X), target.tolist(), SYMBOLIC, everyone, k, **options)
    np.testing.assert_allclose(got.scores_, np.clip(expected, -1, 1), atol=1e-9)


@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
@pytest.mark.parametrize("shape", [(200, 3), (70, 1500), (33, 1)])
def test_neighbours_are_exact(shape, metric):
    """Single precision finds candidates only: the neighbours are those of double precision."""
    rng = np.random.default_rng(0)
    X, y = rng.random(shape), rng.integers(0, 2, shape[0])
    X[1] = X[0] + 1e-9 * rng.standard_normal(shape[1])
    X[2] = X[0] + 1e-9 * rng.standard_normal(shape[1])
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    got = ReliefF(n_neighbors=3, metric=metric, ties="index").fit(X, y).scores_
    prior = np.bincount(y) / len(y)
    expected = np.zeros(shape[1])
    for i in range(len(y)):
        gaps = np.abs(X - X[i])
        d = (gaps if metric == "manhattan" else gaps**2).sum(axis=1)
        d[i] = np.inf
        for c in (0, 1):
            rows = np.flatnonzero(y == c)
            near = rows[np.argsort(d[rows], kind="stable")[:3]]
            sign = -1 if c == y[i] else prior[c] / (1 - prior[y[i]])
            expected += sign * gaps[near].mean(axis=0) / len(y)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_strips_of_distances_equal_the_whole(limits):
    rng = np.random.default_rng(0)
    X, y = rng.random((150, 5)), rng.integers(0, 3, 150)
    whole = ReliefF(n_neighbors=5, random_state=0).fit(X, y).scores_
    limits(neighbours, _MOST_KEPT=5000)
    np.testing.assert_array_equal(ReliefF(n_neighbors=5, random_state=0).fit(X, y).scores_, whole)


@given(table=tables(), k=st.integers(1, 6), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_weights_equal_the_naive_ones_and_samples_of_weight_zero_are_absent(table, k, seed):
    X, y, options = table
    weight = np.random.default_rng(seed).choice([0.0, 0.25, 1.0, 3.0], len(y))
    weight[:4] = 1.0, 2.0, 0.5, 1.0
    kept = weight > 0
    own = {"ties": "index", "categorical_features": SYMBOLIC, **options}
    part, w = (as_rows(X[kept]), y[kept].tolist(), SYMBOLIC), weight[kept].tolist()
    lone = eligible(y[kept])
    target = y + 0.25 * np.arange(len(y)) % 1
    everyone = list(range(kept.sum()))
    for filter_, of, expected in (
        (ReliefF(k), y, naive.relieff(*part, lone, k, weight=w, **options)),
        (Relief(), y, naive.relief(*part, lone, weight=w, **options)),
        (
            RReliefF(k),
            target,
            naive.rrelieff(
                part[0], target[kept].tolist(), SYMBOLIC, everyone, k, weight=w, **options
            ),
        ),
    ):
        if "n_neighbors" in filter_.get_params():
            filter_.set_params(n_features_to_select=None, n_neighbors=k)
        else:
            filter_.set_params(n_features_to_select=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = filter_.set_params(**own).fit(X, of, sample_weight=weight)
            absent = type(filter_)(**filter_.get_params())
            absent.fit(X[kept], of[kept], sample_weight=7 * weight[kept])
        np.testing.assert_allclose(got.scores_, np.clip(expected, -1.0, 1.0), atol=1e-9)
        np.testing.assert_allclose(got.scores_, absent.scores_, atol=1e-12)
        chosen = np.flatnonzero(kept)[absent.sample_indices_]
        np.testing.assert_array_equal(got.sample_indices_, chosen)


def test_rows_named_and_weights():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    weight = np.where(np.arange(30) < 5, 0.0, 1.0)
    named = ReliefF(n_samples=[7, 20], n_neighbors=3).fit(X, y, sample_weight=weight)
    assert named.sample_indices_.tolist() == [7, 20] and named.n_samples == [7, 20]
    absent = ReliefF(n_samples=[2, 15], n_neighbors=3).fit(X[5:], y[5:])
    np.testing.assert_array_equal(named.scores_, absent.scores_)
    with pytest.raises(ValueError, match="row 3, whose weight is zero"):
        ReliefF(n_samples=[3, 20]).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="positive for 1 sample"):
        RReliefF().fit(X, X[:, 0], sample_weight=np.arange(30) == 3)
    np.testing.assert_array_equal(
        ReliefF(random_state=0).fit(X, y, sample_weight=np.full(30, 2.0)).scores_,
        ReliefF(random_state=0).fit(X, y).scores_,
    )


# --------------------------------------------------------------------------------- the formula


def test_priors_weigh_the_classes():
    """Two classes of misses, 1/4 and 1/2 of the samples: weights 1/3 and 2/3 for the third."""
    x = np.array([[0.0], [0.0], [1.0], [1.0], [0.5], [0.5], [0.5], [0.5]])
    y = np.repeat(["a", "b", "c"], [2, 2, 4])
    got = ReliefF(n_neighbors=1, n_samples=[0], ties="index").fit(x, y).scores_[0]
    assert got == pytest.approx(1 / 3 * 1.0 + 2 / 3 * 0.5)


def test_multiclass_relief_takes_the_nearest_of_all_others():
    x = np.array([[0.0], [0.1], [1.0], [1.0], [0.4], [0.4]])
    y = np.repeat(["a", "b", "c"], 2)
    got = Relief(n_samples=[0], ties="index").fit(x, y).scores_[0]
    assert got == pytest.approx(0.4 - 0.1)


def test_a_class_of_one_sample_has_no_hit_but_is_a_miss():
    X = np.array([[0.0], [0.1], [0.9], [1.0], [0.5]])
    for selector in (ReliefF(n_neighbors=1), Relief(n_samples=4, random_state=0)):
        with pytest.warns(UserWarning, match=f"^1 sample is .* {type(selector).__name__} looks"):
            got = selector.fit(X, [0, 0, 1, 1, 2])
        assert got.sample_indices_.tolist() == [0, 1, 2, 3]
    with pytest.warns(UserWarning, match=r"^3 samples are the only ones of their class"):
        ReliefF(n_neighbors=1).fit(X, [0, 0, 1, 3, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ReliefF(n_neighbors=1, n_samples=[0, 1]).fit(X, [0, 0, 1, 1, 2])
    with pytest.raises(ValueError, match="names row 4, the only one of its class"):
        ReliefF(n_neighbors=1, n_samples=[4]).fit(X, [0, 0, 1, 1, 2])
    with pytest.raises(ValueError, match="one sample only"):
        ReliefF().fit(X, range(5))


@given(seed=st.integers(0, 2**31), n=st.integers(4, 200), k=st.integers(1, 50))
@settings(max_examples=30)
def test_scores_stay_in_bounds_and_constants_come_last(seed, n, k):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, 4)), np.arange(n) % 2
    X[:, 1] = -3
    got = ReliefF(n_neighbors=k, random_state=0).fit(X, y)
    assert np.abs(got.scores_).max() <= 1
    assert got.scores_[1] == 0
    assert got.ranking_[1] == 4


def test_units_and_offsets_do_not_matter():
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 4)), rng.integers(0, 2, 80)
    moved = X * np.array([1, 4, 0.5, 1024]) + np.array([0, 8, -2, 0])
    one, other = (ReliefF(ties="index").fit(table, y).scores_ for table in (X, moved))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_huge_values_do_not_overflow():
    X = np.array([[-1.7e308, 1], [1.7e308, 2], [-1.6e308, 3], [1.6e308, 4]])
    for scaling in ("range", "none"):
        got = ReliefF(n_neighbors=1, scaling=scaling).fit(X, [0, 1, 0, 1]).scores_
        assert got[0] == pytest.approx(1, abs=0.1)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    X, y = np.round(rng.random((300, 40)), 1), rng.integers(0, 3, 300)
    X[rng.random(X.shape) < 0.01] = np.nan
    here = ReliefF(random_state=3).fit(X, y).scores_
    with tiles_of_one(neighbours):
        assert (ReliefF(random_state=3).fit(X, y).scores_ == here).all()


def test_ties_at_random_follow_the_seed():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 3)), rng.integers(0, 2, 60)
    fits = [
        ReliefF(n_neighbors=2, random_state=seed).fit(X, y).scores_.tolist()
        for seed in (0, 0, 1, 2)
    ]
    assert fits[0] == fits[1]
    assert fits[0] != fits[2] or fits[0] != fits[3]


# ---------------------------------------------------------------------------------- the options


def test_number_of_samples():
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 3)), np.arange(40) % 2
    assert len(ReliefF(n_samples=7, random_state=0).fit(X, y).sample_indices_) == 7
    assert len(ReliefF(n_samples=0.5, random_state=0).fit(X, y).sample_indices_) == 20
    all_of_them = ReliefF(n_samples=40, ties="index").fit(X, y).scores_
    np.testing.assert_allclose(all_of_them, ReliefF(ties="index").fit(X, y).scores_)
    with pytest.raises(ValueError, match="n_samples=41 exceeds the 40 rows"):
        ReliefF(n_samples=41).fit(X, y)
    for wrong in ([0, 40], [-1], [0.5], []):
        with pytest.raises(ValueError, match="row numbers from 0 to 39"):
            ReliefF(n_samples=wrong).fit(X, y)


def test_threshold_or_number():
    rng = np.random.default_rng(0)
    X, y = rng.random((100, 5)), np.arange(100) % 2
    X[:, 0] += y
    got = ReliefF(threshold=0.05, random_state=0).fit(X, y)
    assert got.support_.tolist() == (got.scores_ > 0.05).tolist()
    assert got.support_.tolist() == [True, False, False, False, False]
    assert ReliefF(threshold=0.05, n_features_to_select=3).fit(X, y).support_.sum() == 3
    assert ReliefF().fit(X, y).support_.sum() == 2


@pytest.mark.parametrize(
    "options",
    [
        {"n_neighbors": 0},
        {"n_neighbors": 2.5},
        {"metric": "cosine"},
        {"ties": "both"},
        {"scaling": "log"},
        {"n_samples": 0},
        {"n_features_to_select": 0},
        {"threshold": "high"},
    ],
)
def test_absurd_parameters(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        ReliefF(**options).fit([[1], [2], [3], [4]], [0, 0, 1, 1])


def test_bad_input():
    X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]], [0, 0, 1]
    with pytest.raises(ValueError, match="infinity"):
        ReliefF().fit([[1.0, np.inf], *X[1:]], y)
    with pytest.raises(ValueError, match="one class only"):
        ReliefF().fit(X, [1, 1, 1])
    with pytest.raises(ValueError, match="minimum of 2"):
        ReliefF().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="more than once"):
        ReliefF().fit(pd.DataFrame(X, columns=["a", "a"]), y)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        RReliefF().fit(X, [1.0, np.nan, 2.0])
    with pytest.raises(ValueError, match="regression"):
        RReliefF().fit(X, ["a", "b", "c"])


# --------------------------------------------------------------------- tables and missing values


def test_frames_of_both_kinds_with_text_and_missing_values():
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"] * 40)
    X = pd.DataFrame(
        {
            "noise": rng.random(80),
            "word": np.where(y == "yes", "red", np.where(rng.random(80) < 0.5, "blue", "green")),
            "number": np.where(rng.random(80) < 0.2, np.nan, (y == "yes") + rng.random(80)),
        }
    )
    got = ReliefF(n_features_to_select=2, random_state=0).fit(X, y)
    assert got.get_feature_names_out().tolist() == ["word", "number"]
    frame = to_polars(X)
    again = ReliefF(n_features_to_select=2, random_state=0).fit(frame, y)
    np.testing.assert_allclose(again.scores_, got.scores_)
    assert again.transform(frame).columns == ["word", "number"]
    coded = X.assign(word=pd.factorize(X["word"])[0])
    third = ReliefF(random_state=0, categorical_features=["word"]).fit(coded, y)
    np.testing.assert_allclose(third.scores_, got.scores_)


def test_a_feature_without_any_value_is_constant():
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    got = ReliefF(n_neighbors=1).fit(X, [0, 0, 0, 1, 1, 1])
    assert got.scores_[0] == 0
    assert got.order_.tolist() == [1, 0]


def test_pipeline():
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 6)), np.arange(60) % 2
    X[:, 4] += y
    pipe = make_pipeline(StandardScaler(), ReliefF(n_features_to_select=1))
    assert pipe.fit_transform(X, y).shape == (60, 1)
    assert pipe[-1].support_[4]


# ------------------------------------------------------------- what no score of one feature can see


def gametes(data_dir, name):
    frame = pd.read_csv(data_dir / f"{name}.csv.gz")
    return frame.drop(columns="target"), frame["target"]


UNIVARIATE = [
    FisherScore(),
    SignalToNoise(),
    WelchT(),
    PearsonScore(),
    AUCScore(),
    KolmogorovSmirnov(),
    ChiSquared(bins=None),
    StumpError(),
]


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("gametes_2way", {"P1", "P2"}),
        ("gametes_2way_missing", {"M0P0", "M0P1"}),
        ("gametes_2way_mixed", {"M0P0", "M0P1"}),
    ],
)
def test_relieff_finds_the_epistatic_pair(data_dir, name, pair):
    X, y = gametes(data_dir, name)
    for seed in range(3):
        got = ReliefF(n_features_to_select=2, random_state=seed).fit(X, y)
        assert set(got.selection_.selected) == pair


def test_rrelieff_finds_the_epistatic_pair(data_dir):
    X, y = gametes(data_dir, "gametes_2way_continuous")
    got = RReliefF(n_features_to_select=2, random_state=0).fit(X, y)
    assert set(got.selection_.selected) == {"M0P0", "M0P1"}


@pytest.mark.parametrize("filter_", UNIVARIATE, ids=lambda f: type(f).__name__)
def test_univariate_filters_miss_the_epistatic_pair(data_dir, filter_):
    X, y = gametes(data_dir, "gametes_2way")
    filter_.set_params(n_features_to_select=2).fit(X, y)
    assert set(filter_.selection_.selected) != {"P1", "P2"}


@pytest.mark.parametrize(
    "filter_",
    [ChiSquared(bins=None), InformationGain(bins=None), SymmetricalUncertainty(bins=None)],
    ids=lambda f: type(f).__name__,
)
def test_univariate_filters_that_take_missing_values_miss_it_too(data_dir, filter_):
    # In the mixed set the pair is continuous and has an effect of its own, which rank statistics
    # see; there is nothing to miss there.
    X, y = gametes(data_dir, "gametes_2way_missing")
    filter_.set_params(n_features_to_select=2).fit(X, y)
    assert set(filter_.selection_.selected) != {"M0P0", "M0P1"}


@pytest.mark.parametrize("filter_", UNIVARIATE, ids=lambda f: type(f).__name__)
def test_four_clouds(filter_):
    """Exclusive or of two features among eighteen of noise."""
    rng = np.random.default_rng(0)
    corner = rng.integers(0, 2, (400, 2))
    X = rng.standard_normal((400, 20))
    X[:, [3, 11]] = 2 * corner + 0.3 * rng.standard_normal((400, 2))
    y = corner[:, 0] ^ corner[:, 1]
    relief = ReliefF(n_features_to_select=2, random_state=0).fit(X, y)
    assert np.flatnonzero(relief.support_).tolist() == [3, 11]
    if isinstance(filter_, ChiSquared):
        filter_ = ChiSquared()
    filter_.set_params(n_features_to_select=2).fit(X, y)
    assert np.flatnonzero(filter_.support_).tolist() != [3, 11]
