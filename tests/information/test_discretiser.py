"""Cuts against the formulas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from tamiz.information import Discretiser, discretise
from tests.checks import assert_every_check_passes
from tests.naive import information as naive

numbers = st.integers(-20, 20).map(lambda k: k / 4) | st.floats(-1e6, 1e6)
columns = st.lists(numbers, min_size=2, max_size=60)


def check_codes(got, right):
    """Codes agree, missing ones left aside."""
    assert [int(g) for g, r in zip(got, right, strict=True) if r is not None] == [
        r for r in right if r is not None
    ]


@given(columns)
def test_mean_and_deviation(x):
    right = naive.mean_std_codes(x)
    if len(set(x)) == 1:
        right = [0] * len(x)
    X = np.array(x)[:, None]
    mean, deviation = X.mean(), X.std()
    got = discretise(X)[:, 0].tolist()
    near = np.minimum(abs(X - mean - deviation), abs(X - mean + deviation)).ravel()
    clear = near > 1e-12 * (abs(mean) + deviation)
    if len(set(x)) == 2:
        clear[:] = True  # two values are never joined by rounding
    check_codes(got, [r if c else None for r, c in zip(right, clear, strict=True)])


@pytest.mark.parametrize("n", [2, 10, 1000, 100_000])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.1, 0.3), (-1e9, 1e9 + 1), (1.1, 1.1000001)])
def test_two_equally_common_values_stay_apart(n, low, high):
    X = np.array([low, high] * (n // 2))[:, None]
    assert discretise(X)[:, 0].tolist() == [0, 1] * (n // 2)


def test_two_values_of_which_one_is_rare():
    X = np.array([[0.1] * 9 + [0.3], [0.3] * 9 + [0.1]]).T
    assert discretise(X).T.tolist() == [[1] * 9 + [2], [1] * 9 + [0]]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), min_size=2, max_size=80))
def test_minimum_description_length(rows):
    x, labels = [float(a) for a, _ in rows], [c for _, c in rows]
    got = Discretiser("mdl").fit(np.array(x)[:, None], labels).cuts_[0]
    np.testing.assert_array_equal(got, naive.mdl_cuts(x, labels))


@pytest.mark.parametrize("n", [2, 50, 400])
def test_minimum_description_length_of_continuous_columns(n):
    rng = np.random.default_rng(n)
    y = rng.integers(0, 3, n)
    X = rng.standard_normal((n, 6)) + np.array([0, 1, 2, 4, 8, 0]) * y[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 5] = 3.0
    cuts = Discretiser("mdl").fit(X, y).cuts_
    for j in range(6):
        right = naive.mdl_cuts(X[:, j].tolist(), y.tolist())
        np.testing.assert_allclose(cuts[j], right, rtol=1e-15)
    if n > 50:
        assert len(cuts[4]) >= 2
        assert len(cuts[5]) == 0


def test_a_cut_that_just_pays_for_itself():
    labels = [0] * 2 + [1] * 4 + [0] * 9
    X = np.arange(15.0)[:, None]
    assert naive.mdl_cuts(X[:, 0].tolist(), labels) == [1.5, 5.5]
    assert Discretiser("mdl").fit(X, labels).cuts_[0].tolist() == [1.5, 5.5]


def test_of_equally_good_cuts_the_lowest_is_taken():
    half = [1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1]
    labels = np.repeat(half + half[::-1], 4)
    X = np.repeat(np.arange(28.0), 4)[:, None]
    right = [0.5, 4.5, 5.5, 6.5, 20.5, 26.5]
    assert Discretiser("mdl").fit(X, labels).cuts_[0].tolist() == right
    assert naive.mdl_cuts(X[:, 0].tolist(), labels.tolist()) == right


def test_neighbouring_numbers_can_be_cut():
    a = 1.0
    b = np.nextafter(a, 2)
    X = np.array([a] * 20 + [b] * 20)[:, None]
    assert discretise(X, [0] * 20 + [1] * 20, bins="mdl")[:, 0].tolist() == [0] * 20 + [1] * 20
    huge = np.array([-1.7e308] * 20 + [1.7e308] * 20)[:, None]
    assert discretise(huge, [0] * 20 + [1] * 20, bins="mdl").sum() == 20


def test_very_many_classes():
    y = np.repeat(np.arange(900), 3)
    X = y[:, None] * 1.0
    assert discretise(X, y, bins="mdl").max() == 899  # 3**900 does not fit anywhere


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=60), st.integers(2, 8))
def test_equal_width(x, n_bins):
    right = naive.width_codes(x, n_bins)
    low, high = min(x), max(x)
    got = discretise(np.array(x)[:, None], bins="width", n_bins=n_bins)[:, 0]
    if low < high:
        check_codes(got, right)
    else:
        assert not got.any()


@pytest.mark.parametrize("n_bins", [2, 3, 4, 7])
def test_equal_frequency(n_bins):
    X = np.random.default_rng(0).permutation(84.0 * np.arange(84))[:, None]
    counts = np.bincount(discretise(X, bins="frequency", n_bins=n_bins)[:, 0])
    assert counts.tolist() == [84 // n_bins] * n_bins


@given(columns, st.integers(2, 6))
def test_equal_values_have_equal_codes_and_order_is_kept(x, n_bins):
    for method in ("width", "frequency", "mean_std"):
        codes = discretise(np.array(x)[:, None], bins=method, n_bins=n_bins)[:, 0]
        by_value = sorted(zip(x, codes.tolist(), strict=True))
        assert [c for _, c in by_value] == sorted(c for _, c in by_value)
        assert len({(v + 0.0, c) for v, c in by_value}) == len({v + 0.0 for v in x})


@pytest.mark.parametrize("method", ["mean_std", "mdl", "width", "frequency"])
def test_missing_values(method):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.standard_normal((60, 3)) + y[:, None]
    X[::7, 0] = np.nan
    X[:, 2] = np.nan
    coded = Discretiser(method, missing="code").fit(X, y)
    out = coded.transform(X)
    gaps = np.isnan(X)
    assert (out[gaps] == np.broadcast_to(coded.n_bins_, X.shape)[gaps]).all()
    ignored = discretise(X, y, bins=method, missing="ignore")
    assert (ignored[gaps] == -1).all()
    np.testing.assert_array_equal(ignored[~gaps], out[~gaps])
    alone = discretise(X[~gaps[:, 0], :1], y[~gaps[:, 0]], bins=method)
    np.testing.assert_array_equal(out[~gaps[:, 0], :1], alone)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_data_frames_stay_what_they_are(make):
    frame = make({"size": [1.0, 2.0, 30.0, None], "colour": ["b", "a", "b", None]})
    transformer = Discretiser().fit(frame)
    out = transformer.transform(frame)
    assert type(out) is type(frame)
    assert list(out.columns) == ["size", "colour"]
    assert list(out["size"]) == [1, 1, 2, 3]
    assert list(out["colour"]) == [1, 0, 1, 2]
    other = make({"size": [-99.0, 99.0], "colour": ["z", "a"]})
    assert list(transformer.transform(other)["colour"]) == [2, 0]
    assert list(transformer.transform(other)["size"]) == [0, 2]
    assert transformer.get_feature_names_out().tolist() == ["size", "colour"]


def test_in_a_pipeline():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = (X[:, 0] > 0.3).astype(int)
    pipe = make_pipeline(Discretiser("mdl"), DecisionTreeClassifier(random_state=0))
    assert pipe.fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.9


def test_mdl_asks_for_a_target():
    with pytest.raises(ValueError, match="pass the class labels"):
        Discretiser("mdl").fit([[1.0], [2.0]])


@pytest.mark.parametrize("method", ["mean_std", "mdl", "width", "frequency"])
def test_scikit_learn_checks(method):
    assert_every_check_passes(Discretiser(method))


@pytest.mark.parametrize("fitted", ["category", "int64", "float64", "Int64"])
@pytest.mark.parametrize("given", ["category", "int64", "float64", "Int64"])
def test_categories_that_are_numbers(fitted, given):
    frame = pd.DataFrame({"kind": pd.Series([10, 2, 30, 2])})
    transformer = Discretiser(categorical_features=["kind"])
    transformer.fit(frame.astype({"kind": fitted}))
    codes = transformer.transform(frame.astype({"kind": given}))
    assert codes["kind"].tolist() == [1, 0, 2, 0]  # in the order of the numbers, not of their text


def test_categories_of_another_kind_are_warned_of():
    transformer = Discretiser().fit(pd.DataFrame({"kind": ["1", "2", "1"]}))
    other = pd.DataFrame({"kind": [1, 2, 1]})
    with pytest.warns(UserWarning, match="No value of column 'kind'.*here 1, there '1'"):
        assert transformer.transform(other)["kind"].tolist() == [2, 2, 2]
    assert transformer.transform(pd.DataFrame({"kind": ["2", "3"]}))["kind"].tolist() == [1, 2]
