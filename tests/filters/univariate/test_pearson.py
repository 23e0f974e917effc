"""PearsonScore: against numpy and scipy, for classes and numbers, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from tamiz.filters import PearsonScore
from tests.naive import univariate as naive


@given(
    n=st.integers(2, 80), n_classes=st.integers(2, 5), seed=st.integers(0, 2**31), w=st.booleans()
)
def test_classes_equal_the_naive_sum(n, n_classes, seed, w):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 2, n), np.full(n, 0.7)])
    weight = rng.random(n) + 0.2 if w else None
    got = PearsonScore(task="classification").fit(X, y, sample_weight=weight).scores_
    for j in range(3):
        expected = naive.pearson(X[:, j].tolist(), y.tolist(), weight)
        assert got[j] == pytest.approx(expected, abs=1e-9)


def test_two_classes_equal_the_correlation_with_the_label(d8):
    got = PearsonScore().fit(d8.X, d8.y)
    for j in range(3):
        rho, pvalue = stats.pearsonr(d8.X[:, j], d8.y)
        assert got.correlations_[j] == pytest.approx(rho)
        assert got.scores_[j] == pytest.approx(abs(rho))
        assert got.pvalues_[j] == pytest.approx(pvalue)


@pytest.mark.parametrize("offset", [0, 1e7])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_numbers_equal_scipy(offset, as_sparse):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) + (0 if as_sparse else offset)
    X[:, 4] = 3
    y = X[:, 0] - X[:, 0].mean() + rng.standard_normal(300) + offset
    got = PearsonScore().fit(sparse.csr_array(X) if as_sparse else X, y)
    for j in range(4):
        rho, pvalue = stats.pearsonr(X[:, j], y)
        assert got.correlations_[j] == pytest.approx(rho, rel=1e-6, abs=1e-9)
        assert got.pvalues_[j] == pytest.approx(pvalue, rel=1e-4)
    assert got.scores_[4] == 0
    assert got.pvalues_[4] == 1


def test_the_target_may_be_read_either_way():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), rng.integers(0, 4, 60)
    X[:, 0] += y
    numbers = PearsonScore(task="regression").fit(X, y).scores_
    np.testing.assert_allclose(numbers, np.abs([np.corrcoef(x, y)[0, 1] for x in X.T]))
    classes = PearsonScore().fit(X, y)
    assert classes.pvalues_ is None
    assert classes.correlations_.shape == (4, 2)
    assert not np.allclose(classes.scores_, numbers)


def test_weights_of_a_numeric_target_count_like_copies():
    rng = np.random.default_rng(0)
    X, y, weight = rng.standard_normal((40, 3)), rng.random(40), rng.integers(0, 4, 40)
    repeated = np.repeat(np.arange(40), weight)
    one = PearsonScore().fit(X, y, sample_weight=weight)
    other = PearsonScore().fit(X[repeated], y[repeated])
    np.testing.assert_allclose(one.correlations_, other.correlations_)
    np.testing.assert_allclose(one.pvalues_, other.pvalues_)


def test_a_constant_target_is_correlated_with_nothing():
    got = PearsonScore(task="regression").fit([[1.0], [2.0], [3.0]], [0.1, 0.1, 0.1])
    assert got.scores_.tolist() == [0.0]


def test_perfect_correlation():
    x = np.arange(10.0)
    got = PearsonScore().fit(np.column_stack([x, -x, x**2]), 0.1 + 2.5 * x)
    assert got.scores_[:2] == pytest.approx([1, 1])
    assert got.scores_.max() <= 1
    assert got.pvalues_[0] < 1e-10


def test_integers_that_return_and_are_taken_as_numbers_are_warned_of():
    X = np.random.default_rng(0).standard_normal((75, 2))
    with pytest.warns(UserWarning, match="y holds 25 different integers, which are taken as"):
        PearsonScore().fit(X, np.arange(75) % 25)


@pytest.mark.parametrize(
    ("n", "levels", "task"), [(12, 6, "classification"), (11, 6, "regression")]
)
def test_few_integers_with_two_rows_each_are_classes(n, levels, task):
    X, y = np.random.default_rng(0).standard_normal((n, 3)), np.arange(n) % levels
    expected = PearsonScore(task=task).fit(X, y).scores_
    np.testing.assert_array_equal(PearsonScore().fit(X, y).scores_, expected)
