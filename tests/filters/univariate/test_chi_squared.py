"""ChiSquared: against scipy and scikit-learn, for symbols, bins, missing values and counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.feature_selection import chi2

from tamiz.filters import ChiSquared
from tamiz.information import discretise
from tests.frames import to_polars
from tests.naive import univariate as naive


@given(n=st.integers(2, 120), n_classes=st.integers(2, 5), seed=st.integers(0, 2**31))
def test_equal_to_the_naive_table(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    X = np.column_stack([rng.integers(0, 6, n), y // 2, np.full(n, 3)])
    X[:2, 0] = 0, 1
    got = ChiSquared(bins=None).fit(X, y)
    for j in range(3):
        statistic, dof = naive.chi_squared(X[:, j].tolist(), y.tolist())
        assert got.scores_[j] == pytest.approx(statistic, abs=1e-9)
        assert got.dof_[j] == dof
        pvalue = stats.chi2.sf(statistic, dof) if dof else 1.0
        assert got.pvalues_[j] == pytest.approx(pvalue, rel=1e-9)
    assert got.ranking_[2] > got.ranking_[0]  # behind all that vary
    if len(set(X[:, 1])) > 1:
        assert got.ranking_[2] == 3


@pytest.mark.parametrize("bins", ["mean_std", "mdl", "width", "frequency"])
def test_bins_equal_scipy_on_the_discretised_table(bins):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 5)), rng.integers(0, 3, 300)
    X[:, 0] += y
    got = ChiSquared(bins=bins, n_bins=4).fit(X, y)
    codes = discretise(X, y, bins=bins, n_bins=4)
    for j in range(5):
        table = pd.crosstab(codes[:, j], y)
        expected = stats.chi2_contingency(table, correction=False)
        assert got.scores_[j] == pytest.approx(expected.statistic, abs=1e-9)
        assert got.pvalues_[j] == pytest.approx(expected.pvalue)
    assert got.order_[0] == 0


@pytest.mark.parametrize("as_sparse", [False, True])
def test_counts_equal_scikit_learn(as_sparse):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.5, (200, 30)).astype(float), rng.integers(0, 4, 200)
    X[:, 5], X[:, 6] = 0, 2
    statistic, pvalues = chi2(X, y)
    got = ChiSquared(test="counts").fit(sparse.csr_array(X) if as_sparse else X, y)
    usual = np.setdiff1d(np.arange(30), [5, 6])
    np.testing.assert_allclose(got.scores_[usual], statistic[usual])
    np.testing.assert_allclose(got.pvalues_[usual], pvalues[usual])
    assert got.scores_[[5, 6]].tolist() == [0, 0]
    assert sorted(got.ranking_[[5, 6]]) == [29, 30]


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match=r'Negative values .* X holds -1.* test="independence"'):
        ChiSquared(test="counts").fit([[1.0], [-1.0]], [0, 1])


def titanic(data_dir):
    return pd.read_csv(data_dir / "titanic.csv.gz")


def test_titanic_in_pandas_and_polars(data_dir):
    frame = titanic(data_dir)
    X, y = frame.drop(columns="target"), frame["target"]
    got = ChiSquared(n_features_to_select=1).fit(X, y)
    for j, name in enumerate(X.columns):
        expected = stats.chi2_contingency(pd.crosstab(X[name], y), correction=False)
        assert got.scores_[j] == pytest.approx(expected.statistic)
    assert got.get_feature_names_out().tolist() == ["sex"]
    assert list(got.transform(X).columns) == ["sex"]
    again = ChiSquared(n_features_to_select=1).fit(to_polars(X), pl.Series(y.tolist()))
    np.testing.assert_allclose(again.scores_, got.scores_)
    assert isinstance(again.transform(to_polars(X)), pl.DataFrame)


def test_missing_values_are_a_level_or_left_out():
    x = pd.DataFrame({"f": ["a", "a", None, None, "b", "b"] * 5})
    y = np.array([0, 0, 1, 1, 0, 1] * 5)
    level = x["f"].fillna("missing")
    expected = stats.chi2_contingency(pd.crosstab(level, y), correction=False).statistic
    assert ChiSquared().fit(x, y).scores_[0] == pytest.approx(expected)
    known = x["f"].notna()
    table = pd.crosstab(x["f"][known], y[known])
    expected = stats.chi2_contingency(table, correction=False).statistic
    assert ChiSquared(missing="ignore").fit(x, y).scores_[0] == pytest.approx(expected)


def test_a_class_absent_where_the_feature_is_known():
    x = pd.DataFrame({"f": ["a", "b", "a", "b", None, None]})
    got = ChiSquared(missing="ignore").fit(x, [0, 1, 0, 1, 2, 2])
    assert got.dof_.tolist() == [1]
    assert got.scores_[0] == pytest.approx(4)


def test_cramers_v_compares_different_numbers_of_levels():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    good = np.where(rng.random(400) < 0.2, 1 - y, y)
    many = rng.integers(0, 200, 400)
    X = np.column_stack([good, many])
    by_v = ChiSquared(bins=None, rank_by="cramers_v").fit(X, y)
    for j in range(2):
        table = pd.crosstab(X[:, j], y).to_numpy()
        expected = stats.contingency.association(table, method="cramer")
        assert by_v.scores_[j] == pytest.approx(expected)
    assert by_v.pvalues_[0] < 1e-6


def test_numbers_that_are_categories():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.integers(0, 9, (200, 2)).astype(float)
    X[:, 0] = np.where(y, 2 * (X[:, 0] // 2), 2 * (X[:, 0] // 2) + 1)  # parity tells the class
    plain = ChiSquared().fit(X, y).scores_[0]
    assert ChiSquared(categorical_features=[0]).fit(X, y).scores_[0] == pytest.approx(200)
    assert plain < 100


def test_cramers_v_counts_only_the_classes_that_occur():
    y = np.repeat([0, 1, 2], 10)
    f = np.concatenate([[0.0] * 5 + [1.0] * 5, [2.0] * 10, [np.nan] * 10])
    score = ChiSquared(bins=None, missing="ignore", rank_by="cramers_v").fit(f[:, None], y)
    assert score.scores_[0] == pytest.approx(np.sqrt(20 / 30))  # 1 among the 20 that have it


def test_cramers_v_of_a_feature_known_in_few_samples():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    good = np.where(rng.random(200) < 0.2, 1 - y, y).astype(float)
    rare = np.full(200, np.nan)
    rare[:4] = y[:4]  # right wherever it is known
    X = np.column_stack([rare, good])
    by_v = ChiSquared(bins=None, missing="ignore", rank_by="cramers_v").fit(X, y)
    assert by_v.order_.tolist() == [1, 0]
    assert by_v.scores_[0] == pytest.approx(np.sqrt(4 / 200))


def test_counts_beyond_squares():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(3, (60, 4)).astype(float), rng.integers(0, 3, 60)
    usual = ChiSquared(test="counts").fit(X, y).scores_
    np.testing.assert_allclose(
        ChiSquared(test="counts").fit(X * 2.0**700, y).scores_, usual * 2.0**700
    )
    with pytest.raises(ValueError, match="add up to more than float64 holds; divide X"):
        ChiSquared(test="counts").fit(X * 2.0**1019, y)
