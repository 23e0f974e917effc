"""AUCScore: against counting pairs, scikit-learn and scipy; ties, weights, several classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from tamiz.filters import AUCScore
from tests.naive import univariate as naive


@given(
    n=st.integers(2, 60),
    n_classes=st.integers(2, 4),
    seed=st.integers(0, 2**31),
    how=st.sampled_from(["weighted", "max"]),
    weighted=st.booleans(),
)
def test_equal_to_counting_pairs(n, n_classes, seed, how, weighted):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 4, n), np.full(n, 0.1)])
    weight = rng.random(n) + 0.2 if weighted else None
    got = AUCScore(multiclass=how).fit(X, y, sample_weight=weight)
    for j in range(3):
        expected = naive.auc(X[:, j].tolist(), y.tolist(), how, weight)
        assert got.scores_[j] == pytest.approx(expected, abs=1e-10)
    assert got.scores_[2] == 0
    assert got.order_[-1] == 2


def test_equal_to_scikit_learn_and_scipy():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1000, 6)), rng.integers(0, 2, 1000)
    X[:, :3] = np.round(X[:, :3])
    X[:, 0] += y
    X[:, 1] -= y
    got = AUCScore().fit(X, y)
    for j in range(6):
        assert got.auc_[j] == pytest.approx(roc_auc_score(y, X[:, j]))
        expected = stats.mannwhitneyu(X[y == 1, j], X[y == 0, j], method="asymptotic").pvalue
        assert got.pvalues_[j] == pytest.approx(expected, rel=1e-9)


def test_monotone_functions_change_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 2)), rng.integers(0, 3, 80)
    np.testing.assert_allclose(AUCScore().fit(np.exp(X), y).scores_, AUCScore().fit(X, y).scores_)
    np.testing.assert_allclose(AUCScore().fit(-X, y).scores_, AUCScore().fit(X, y).scores_)


def test_constant_features_have_no_evidence():
    got = AUCScore().fit([[1, 1], [1, 2], [1, 3], [1, 4]], [0, 0, 1, 1])
    assert got.auc_.tolist() == [0.5, 1.0]
    assert got.pvalues_[0] == 1
