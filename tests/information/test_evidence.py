"""Weight of evidence: the formula, its invariants, pipelines, and bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.fixes import parse_version

from tamiz.data import load
from tamiz.filters import InformationValue
from tamiz.information import Discretiser, WeightOfEvidence
from tamiz.information.evidence import (
    divergence,
    divergence_by_chance,
    monotone_bins,
    weights_of_evidence,
)
from tests.checks import assert_every_check_passes
from tests.naive import evidence as naive


def loans(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += y
    X[rng.random(X.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X, columns=["debt", "age", "noise"])
    frame["job"] = np.where(rng.random(n) < 0.3 + 0.4 * y, "office", "sales")
    frame.loc[::17, "job"] = None
    return frame, y


@pytest.mark.parametrize("bins", ["mdl", "mean_std", "width", "frequency"])
@pytest.mark.parametrize("smoothing", [0.01, 0.5, 20.0])
def test_weights_and_values_follow_the_formula(bins, smoothing):
    frame, y = loans()
    got = WeightOfEvidence(bins, n_bins=5, smoothing=smoothing).fit(frame, y)
    codes = Discretiser(bins, n_bins=5).fit(frame, y).transform(frame).to_numpy()
    for j, column in enumerate(codes.T.tolist()):
        want = naive.weights(column, y.tolist(), smoothing)
        np.testing.assert_allclose(
            got.transform(frame)[:, j], [want[b] for b in column], atol=1e-12
        )
        value = naive.information_value(column, y.tolist(), smoothing)
        assert got.information_values_[j] == pytest.approx(value, abs=1e-12)


def test_the_other_class_turns_the_signs():
    frame, y = loans()
    one, other = WeightOfEvidence().fit(frame, y), WeightOfEvidence(positive=0).fit(frame, y)
    np.testing.assert_allclose(one.transform(frame), -other.transform(frame))
    np.testing.assert_allclose(one.information_values_, other.information_values_)
    assert (one.positive_, other.positive_) == (1, 0)


def test_monotone_weights_rise_or_fall_and_lose_information():
    data = load("hmeq")
    free = WeightOfEvidence("frequency", n_bins=12).fit(data.X, data.y)
    held = WeightOfEvidence("frequency", n_bins=12, monotone=True).fit(data.X, data.y)
    merged = 0
    for one, other, cuts in zip(free.weights_, held.weights_, held.cuts_, strict=True):
        steps = np.diff(other[:-1])
        assert (steps >= 0).all() or (steps <= 0).all()
        assert len(other) == len(cuts) + 2
        merged += len(one) - len(other)
    assert merged > 10
    assert (held.information_values_ <= free.information_values_ + 1e-12).all()
    total = np.array([part.sum() for part in held.counts_])
    np.testing.assert_array_equal(total, len(data.y))


def test_monotone_bins_are_the_best_of_all_merges_that_rise():
    """Pooling gives the isotonic fractions: at most as many bins as any other rising merge."""
    frame, y = loans()
    held = WeightOfEvidence("frequency", n_bins=6, monotone=True).fit(frame[["debt"]], y)
    rates = held.counts_[0][:-1, 1] / held.counts_[0][:-1].sum(axis=1)
    from sklearn.isotonic import IsotonicRegression

    free = WeightOfEvidence("frequency", n_bins=6).fit(frame[["debt"]], y).counts_[0][:-1]
    sizes, place = free.sum(axis=1), np.arange(len(free))
    fitted = IsotonicRegression().fit_transform(place, free[:, 1] / sizes, sample_weight=sizes)
    np.testing.assert_allclose(np.unique(fitted.round(12)), rates, atol=1e-10)


@given(
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), min_size=3, max_size=8),
    st.sampled_from([0.01, 0.5, 5.0]),
    st.tuples(st.integers(0, 30), st.integers(0, 30)),
)
@example([(70, 30), (10, 90), (0, 1)], 0.5, (0, 0))
def test_smoothed_weights_of_merged_bins_rise_or_fall(counts, smoothing, missing):
    counts, missing = np.array(counts, dtype=float), np.array(missing, dtype=float)
    starts = monotone_bins(counts, smoothing, missing)
    merged = np.vstack([np.add.reduceat(counts, starts), missing])
    steps = np.diff(weights_of_evidence(merged, smoothing)[:-1])
    assert (steps >= -1e-12).all() or (steps <= 1e-12).all()


def test_bins_of_few_rows_do_not_break_the_order():
    """By the fraction of the class the last bin, of one row, would be the greatest."""
    X = np.repeat([0.0, 1.0, 2.0], [100, 100, 1])[:, None]
    y = np.repeat([0, 1, 0, 1, 1], [70, 30, 10, 90, 1])
    got = WeightOfEvidence("width", n_bins=3, monotone=True).fit(X, y)
    assert (np.diff(got.weights_[0][:-1]) > 0).all()


def test_a_class_of_small_weights_is_one_like_others():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 1)), np.arange(50) % 2
    weight = rng.uniform(0.5, 2.0, 50)
    options = {"bins": "width", "n_bins": 2, "smoothing": 1e-12}
    want = WeightOfEvidence(**options).fit(X, y, sample_weight=weight)
    for unit in (1e-3, 1e-9):
        rare = np.where(y == 1, unit * weight, weight)
        got = WeightOfEvidence(**options).fit(X, y, sample_weight=rare)
        np.testing.assert_allclose(got.information_values_, want.information_values_, rtol=1e-2)
    few = np.where(y == 1, 1e-3 * weight, weight)
    got = WeightOfEvidence(**options).fit(X, y, sample_weight=few)
    np.testing.assert_allclose(got.to_frame()["value"].sum(), got.information_values_[0])


def test_integer_weights_are_repeated_rows():
    frame, y = loans()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    for bins in ("mdl", "frequency"):
        got = WeightOfEvidence(bins).fit(frame, y, sample_weight=weight)
        want = WeightOfEvidence(bins).fit(frame.iloc[rows], y[rows])
        np.testing.assert_allclose(got.transform(frame), want.transform(frame), atol=1e-12)


def test_what_fit_did_not_see_says_nothing():
    frame, y = loans()
    whole = frame.fillna({"debt": 0.0, "age": 0.0, "noise": 0.0, "job": "office"})
    got = WeightOfEvidence().fit(whole, y)
    new = whole.iloc[:3].assign(debt=np.nan, job="pilot")
    np.testing.assert_array_equal(got.transform(new)[:, [0, 3]], 0.0)


def test_in_pipelines_and_as_frames():
    frame, y = loans()
    model = make_pipeline(WeightOfEvidence(), LogisticRegression())
    assert model.fit(frame, y).score(frame, y) > 0.6
    table = WeightOfEvidence().set_output(transform="pandas").fit_transform(frame, y)
    assert list(table.columns) == list(frame.columns)
    there = pl.from_pandas(frame)
    np.testing.assert_array_equal(WeightOfEvidence().fit(there, y).transform(there), table)


def test_the_table_of_bins():
    frame, y = loans()
    got = WeightOfEvidence().fit(frame, y)
    table = got.to_frame()
    assert set(table["feature"]) == set(frame.columns)
    assert set(table.loc[table["feature"] == "job", "bin"]) == {"office", "sales", "missing"}
    np.testing.assert_allclose(
        table.groupby("feature", sort=False)["value"].sum(), got.information_values_
    )
    assert (table.groupby("feature")["rows"].sum() == len(y)).all()


def test_bad_input_gets_a_sentence():
    frame, y = loans()
    with pytest.raises(ValueError, match="compares two classes, and y has 3"):
        WeightOfEvidence().fit(frame, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="positive is 'bad'"):
        WeightOfEvidence(positive="bad").fit(frame, y)
    with pytest.raises(ValueError, match="one class only"):
        WeightOfEvidence().fit(frame, np.zeros(len(y)))


#: Before 1.7 these two make two classes of three by the first label, which is not the same in the
#: two tables that are compared: classes change places.
OLD_CHECKS = (
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )
    if parse_version(sklearn.__version__) < parse_version("1.7")
    else ()
)


@pytest.mark.parametrize("options", [{}, {"bins": "frequency", "monotone": True}])
def test_every_check_passes(options):
    assert_every_check_passes(WeightOfEvidence(**options), not_met=OLD_CHECKS)


@pytest.mark.parametrize(("positives", "bins", "n"), [(5, 5, 500), (20, 5, 500), (150, 60, 300)])
def test_noise_with_few_rows_in_a_bin_stays_within_its_limit(positives, bins, n):
    """The chi-squared distribution would let 1 to 10 % beyond the limit of 1 in 1000."""
    rng = np.random.default_rng(5)
    rows = np.full(bins, n // bins)
    own = rng.multivariate_hypergeometric(rows, positives, size=1000, method="marginals")
    tables = np.stack([rows - own, own], axis=-1)
    limit = divergence_by_chance(tables[0])[1]
    assert np.mean(divergence(tables, 0.5) > limit) <= 0.005
    best = divergence_by_chance(tables[0], searched=1000)[1]
    assert np.all(divergence(tables, 0.5) <= best)
    mean = divergence_by_chance(tables[0])[0]
    assert mean == pytest.approx(divergence(tables, 0.5).mean(), rel=0.1)


def test_stacked_tables_have_the_values_of_each():
    tables = np.random.default_rng(6).integers(0, 9, (4, 5, 2))
    got = divergence(tables, 0.5)
    assert got.shape == (4,)
    assert got.tolist() == [float(divergence(one, 0.5)) for one in tables]


def test_the_same_bins_as_the_filter_by_default():
    data = load("hmeq")
    woe = WeightOfEvidence().fit(data.X, data.y)
    found = InformationValue().fit(data.X, data.y)
    np.testing.assert_allclose(woe.information_values_, found.scores_, rtol=1e-9)
    assert (np.ptp(woe.transform(data.X), axis=0) > 0).all()


def test_a_column_that_is_not_cut_is_warned_of():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"noise": rng.normal(size=80), "signal": np.arange(80.0)})
    with pytest.warns(UserWarning, match="cuts nothing in 'noise': .* bins='frequency'"):
        got = WeightOfEvidence("mdl").fit(table, np.arange(80) > 40)
    assert np.ptp(got.transform(table), axis=0).tolist()[0] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WeightOfEvidence("mdl").fit(table[["signal"]], np.arange(80) > 40)
        WeightOfEvidence().fit(table, np.arange(80) > 40)
