"""StableFeatures: the index of population_stability as a filter."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz import compare
from tamiz.discovery import StabilitySelection
from tamiz.evaluation import population_stability, stability_of
from tamiz.filters import StableFeatures
from tamiz.neighbors import KNNClassifier
from tamiz.search import TimeFolds
from tests.checks import assert_every_check_passes


def samples(n=900, seed=0):
    """The second column moves late, the fourth a little; the third is noise and has gaps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[2 * n // 3 :, 1] += 2.0
    X[2 * n // 3 :, 3] += 0.3
    X[::7, 2] = np.nan
    return X


def test_every_check_passes():
    assert_every_check_passes(StableFeatures())


@pytest.mark.parametrize("keep", ["stable", "changed"])
def test_scores_are_the_greatest_index(keep):
    X = samples()
    order = np.random.default_rng(1).permutation(len(X))
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(order, unit="D")
    got = StableFeatures(2, keep=keep, n_periods=4).fit(X[order], times=days)
    want = population_stability(X[order], time=days, n_periods=4)
    np.testing.assert_array_equal(got.index_, want.values)
    assert got.periods_ == want.periods
    sign = -1.0 if keep == "stable" else 1.0
    np.testing.assert_array_equal(got.scores_, sign * want.values.max(axis=0))
    assert got.order_.tolist() == np.argsort(-got.scores_, kind="stable").tolist()
    assert got.support_.sum() == 2 and got.support_[1] == (keep == "changed")


def test_the_order_of_the_rows_is_their_time_by_default():
    X = samples()
    with pytest.warns(UserWarning, match="order of time; pass times="):
        got = StableFeatures().fit(X)
    want = StableFeatures().fit(X, times=np.arange(len(X)))
    np.testing.assert_array_equal(got.scores_, want.scores_)
    assert got.support_.sum() == 2


@pytest.mark.parametrize("index", [pd.date_range, pd.period_range])
def test_an_index_of_dates_in_order_needs_no_warning(index):
    X = samples()
    frame = pd.DataFrame(X, index=index("2024-01-01", periods=len(X), freq="D"))
    frame.columns = list("abcd")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = StableFeatures().fit(frame)
        want = StableFeatures().fit(X, times=np.arange(len(X)))
    np.testing.assert_array_equal(got.scores_, want.scores_)
    for unsure in (frame[::-1], frame.reset_index(drop=True)):
        with pytest.warns(UserWarning, match="pass times="):
            StableFeatures().fit(unsure)


def test_dates_in_the_place_of_the_target_are_refused():
    X = samples()
    days = pd.date_range("2024-01-01", periods=len(X))
    for dates in (days, days.to_numpy(), pd.Series(days), pl.Series(days), days.date.tolist()):
        with pytest.raises(ValueError, match=r"y holds dates.*fit\(X, times=dates\)"):
            StableFeatures().fit(X, dates)
    assert StableFeatures().fit(X, days, times=days).support_.sum() == 2


def test_a_limit_drops_what_changes_beyond_chance():
    X = samples()
    dropped = StableFeatures(limit=0.25).fit(X)
    assert dropped.get_support(indices=True).tolist() == [0, 2, 3]
    assert dropped.order_[-1] == 1
    assert StableFeatures(2, limit=0.25).fit(X).support_.sum() == 2
    assert StableFeatures(4, limit=0.25).fit(X).support_.sum() == 3  # never what is beyond it
    changed = StableFeatures(limit=0.25, keep="changed").fit(X)
    assert changed.get_support(indices=True).tolist() == [1]
    few = samples(24)  # every bin has few rows: an index above the limit may be chance
    few[:, 1] = np.random.default_rng(5).normal(size=24)
    by_chance = StableFeatures(limit=0.25, n_periods=2).fit(few)
    assert by_chance.index_.max() > 0.25 and by_chance.support_.all()


def test_frames_with_text_sparse_tables_and_pipelines():
    X = samples()
    kind = np.where(np.arange(len(X)) < 600, "branch", "online")
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=kind)
    found = StableFeatures(limit=0.25).fit(frame)
    assert found.get_feature_names_out().tolist() == ["a", "c", "d"]
    assert found.transform(frame).columns.tolist() == ["a", "c", "d"]
    zeros = np.where(np.abs(np.nan_to_num(X)) < 0.5, 0.0, np.nan_to_num(X))
    dense, thin = StableFeatures().fit(zeros), StableFeatures().fit(sparse.csr_array(zeros))
    np.testing.assert_array_equal(dense.scores_, thin.scores_)
    y = (np.nan_to_num(X)[:, 0] > 0).astype(int)
    model = make_pipeline(StableFeatures(limit=0.25), tamiz.FisherScore(1), tamiz.SVC())
    model.fit(np.nan_to_num(X), y)
    assert model[0].transform(np.nan_to_num(X)).shape[1] == 3


def shuffled(n=1200):
    """Rows in no order, their times, and a second column that drifts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    X[:, 1] += np.linspace(0.0, 4.0, n)
    times = rng.permutation(n)
    X = X[times]
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int), times


@pytest.mark.parametrize("sample", ["bootstrap", "subsample", "folds"])
def test_resamples_are_compared_in_the_order_of_their_times(sample):
    X, y, times = shuffled()
    options = {"sample": sample, "n_resamples": 6, "random_state": 0}
    assert StableFeatures(limit=0.25).fit(X, times=times).get_support().tolist() == [1, 0, 1]
    found = stability_of(StableFeatures(limit=0.25), X, y, times=times, **options)
    assert found.frequency[1] == 0.0 and found.frequency[[0, 2]].min() >= 0.5
    pipe = make_pipeline(StandardScaler(), StableFeatures(limit=0.25))
    assert stability_of(pipe, X, times=times, **options).frequency[1] == 0.0


def test_halves_are_compared_in_the_order_of_their_times():
    X, y, times = shuffled()
    method = StabilitySelection(
        StableFeatures(limit=0.25), n_subsamples=10, threshold=0.9, random_state=0,
        n_features_per_subsample="own",
    )  # fmt: skip
    with pytest.warns(UserWarning, match="blocks of neighbours in time"):
        found = method.fit(X, y, times=times)
    assert found.get_support().tolist() == [True, False, True]
    changed = clone(method).set_params(selector__keep="changed")
    with pytest.warns(UserWarning, match="blocks of neighbours in time"):
        assert changed.fit(X, y, times=times).get_support().tolist() == [False, True, False]


def test_training_parts_are_compared_in_the_order_of_their_times():
    X, y, times = shuffled()
    found = compare(
        X, y, {"stable": StableFeatures(limit=0.25)}, {"knn": KNNClassifier(3)}, sizes=[1],
        cv=TimeFolds(2), repeats=1, groups=times, apparent=False, nested=False, baselines=(),
        random_state=0,
    )  # fmt: skip
    assert found.stability("stable", "own").frequency.tolist() == [1.0, 0.0, 1.0]


def test_it_is_kept_in_a_file(tmp_path):
    found = StableFeatures(limit=0.25).fit(samples())
    again = tamiz.load(tamiz.save(found, tmp_path / "stable.tamiz") or tmp_path / "stable.tamiz")
    np.testing.assert_array_equal(again.index_, found.index_)
    assert again.periods_ == found.periods_


@pytest.mark.parametrize(
    ("options", "times", "said"),
    [
        ({"limit": 0.0}, None, "limit"),
        ({"keep": "all"}, None, "keep"),
        ({"bins": "mdl"}, None, "bins"),
        ({"n_periods": 1}, None, "n_periods"),
        ({}, np.zeros(900), "one moment only"),
        ({}, np.zeros(899), "899 entries"),
        ({}, ["01/02/2021", "02/01/2021", "03/01/2021"] * 300, "times holds the text '01/02/2021'"),
        ({}, np.full(900, np.nan), "times contains a missing value.*belongs to no period"),
        ({}, "when", r"times='when' is the name of a column; pass the column, frame\['when'\]"),
    ],
)
def test_bad_input_gets_a_sentence(options, times, said):
    with pytest.raises((ValueError, TypeError), match=said):
        StableFeatures(**options).fit(samples(), times=times)
