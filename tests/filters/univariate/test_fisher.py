"""FisherScore and SignalToNoise: worked example, naive formulas, relation to the F statistic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif

from tamiz.filters import FisherScore, SignalToNoise
from tests.naive import univariate as naive


def test_worked_example(d8):
    """The values of the worked example, recomputed from the printed table."""
    printed = FisherScore(variant="criterion").fit(d8.X[:, :2], d8.y)
    assert printed.scores_ == pytest.approx([1.7196, 0.3886], abs=5e-5)
    assert SignalToNoise().fit(d8.X[:, :2], d8.y).scores_ == pytest.approx(
        [4.4470, 0.9089], abs=5e-5
    )
    assert SignalToNoise(n_features_to_select=1).fit(d8.X, d8.y).order_.tolist() == [0, 1, 2]


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, n_classes = draw(st.integers(2, 60)), draw(st.integers(2, 4))
    labels = rng.integers(0, n_classes, n)
    labels[:2] = 0, 1
    X = np.column_stack(
        [rng.standard_normal(n), rng.integers(0, 3, n), np.full(n, 0.1), labels * 0.3]
    )
    weight = draw(st.sampled_from([None, rng.integers(1, 4, n).astype(float)]))
    return X, labels, weight


@given(table=tables(), variant=st.sampled_from(["criterion", "classical", "multiclass"]))
def test_fisher_equals_the_naive_one(table, variant):
    X, y, weight = table
    got = FisherScore(variant=variant).fit(X, y, sample_weight=weight)
    for j, score in enumerate(got.scores_):
        if j == 2:
            assert score == 0
        elif j == 3:
            assert score == np.inf
        else:
            column = X[:, j].tolist()
            if len(set(column)) > 1 and all(len(set(X[y == k, j])) > 1 for k in np.unique(y)):
                expected = naive.fisher(column, y.tolist(), variant, weight)
                assert score == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert not np.isnan(got.scores_).any()
    assert got.ranking_[2] == 4


@given(table=tables(), how=st.sampled_from(["weighted", "max"]))
def test_signal_to_noise_equals_the_naive_one(table, how):
    X, y, weight = table
    got = SignalToNoise(multiclass=how).fit(X, y, sample_weight=weight).scores_
    if all(len(set(X[y == k, 0])) > 1 for k in np.unique(y)):
        expected = naive.signal_to_noise(X[:, 0].tolist(), y.tolist(), how, weight)
        assert got[0] == pytest.approx(expected, rel=1e-9)
    assert got[2] == 0
    assert not np.isnan(got).any()


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_multiclass_is_proportional_to_the_f_statistic(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 9)), rng.integers(0, n_classes, 200)
    X[:, 0] += y
    f, pvalues = f_classif(X, y)
    got = FisherScore(variant="multiclass").fit(X, y)
    np.testing.assert_allclose(got.scores_, f * (n_classes - 1) / (200 - n_classes), rtol=1e-9)
    np.testing.assert_allclose(got.pvalues_, pvalues, rtol=1e-7)


def test_balanced_classical_is_twice_the_multiclass_one():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 5)), np.tile([0, 1], 50)
    classical = FisherScore(variant="classical").fit(X, y).scores_
    np.testing.assert_allclose(classical, 2 * FisherScore(variant="multiclass").fit(X, y).scores_)


def test_more_than_two_classes_say_which_formula_was_used():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.repeat([0, 1, 2], 20)
    fitted = FisherScore(variant="criterion").fit(X, y)
    assert fitted.variant_ == "multiclass"
    assert fitted.pvalues_ is not None
    assert FisherScore(variant="criterion").fit(X, y > 0).variant_ == "criterion"
    assert FisherScore().fit(X, y > 0).variant_ == "classical"
    assert FisherScore().fit(X, y > 0).pvalues_ is None


def test_units_matter_to_the_criterion_only():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 1)), np.tile([0, 1], 25)
    for variant, factor in [("criterion", 0.01), ("classical", 1), ("multiclass", 1)]:
        one, hundred = (FisherScore(variant=variant).fit(X * c, y).scores_ for c in (1, 100))
        np.testing.assert_allclose(hundred, factor * one)


def test_as_many_classes_as_samples():
    fitted = FisherScore().fit([[1.0], [2.0], [4.0]], ["a", "b", "c"])
    assert fitted.scores_.tolist() == [np.inf]
    assert fitted.pvalues_.tolist() == [1.0]
