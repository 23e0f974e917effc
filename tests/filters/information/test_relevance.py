"""MaxRel, InformationGain and SymmetricalUncertainty against naive counts."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.filters import InformationGain, MaxRel, SymmetricalUncertainty
from tests.checks import assert_every_check_passes
from tests.filters.cases_information import discrete
from tests.naive import information as naive


@pytest.mark.parametrize("n", [2, 5, 64, 500])
def test_scores_are_mutual_information(n):
    X, y = discrete(n, n)
    y[:2] = [0, 1]
    selector = MaxRel(3, bins=None).fit(X, y)
    right = [naive.mutual_information(x.tolist(), y.tolist()) for x in X.T]
    np.testing.assert_allclose(selector.scores_, right, atol=1e-12)
    assert (np.diff(selector.scores_[selector.order_]) <= 0).all()
    assert selector.support_.sum() == 3
    assert selector.ranking_[1] < selector.ranking_[5], "a copy comes after the original"


def test_constant_features_come_last():
    X = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
    assert MaxRel(bins=None).fit(X, [0, 0, 1, 1]).order_.tolist() == [1, 2, 0]


def test_a_class_that_is_absent_from_a_bin():
    X = np.array([[0], [0], [1], [1], [2], [2]])
    y = [0, 0, 1, 1, 2, 0]
    right = naive.mutual_information(X[:, 0].tolist(), y)
    assert MaxRel(1, bins=None).fit(X, y).scores_[0] == pytest.approx(right)


def test_fraction():
    X, y = discrete(50, 0, p=20)
    assert MaxRel(0.25, bins=None).fit(X, y).support_.sum() == 5
    assert MaxRel(bins=None).fit(X, y).support_.sum() == 10


def test_the_worked_table():
    cells = [5, 2, 8, 5, 8, 2]
    y = np.repeat(np.repeat([0, 1], 3), cells)
    X = np.repeat(np.tile([0, 1, 2], 2), cells)[:, None]
    gain = InformationGain(1, bins=None).fit(X, y).scores_[0]
    assert gain == pytest.approx(0.18538, abs=5e-6)
    share = SymmetricalUncertainty(1, bins=None).fit(X, y).scores_[0]
    assert share == pytest.approx(0.14343, abs=5e-6)
    nats = InformationGain(1, bins=None, unit="nats").fit(X, y).scores_[0]
    assert nats == pytest.approx(0.18538 * np.log(2), abs=5e-6)


@pytest.mark.parametrize("n", [2, 40, 300])
def test_against_the_formulas(n):
    X, y = discrete(n, n)
    y[:2] = [0, 1]
    share = SymmetricalUncertainty(bins=None).fit(X, y).scores_
    right = [naive.symmetrical_uncertainty(x.tolist(), y.tolist()) for x in X.T]
    np.testing.assert_allclose(share, right, atol=1e-12)


def test_after_mdl_only_telling_features_score(d8):
    selector = InformationGain().fit(d8.X, d8.y)
    assert selector.scores_.tolist() == pytest.approx([1.0, 0.0, 0.0])
    assert SymmetricalUncertainty().fit(d8.X, d8.y).scores_.tolist() == [1.0, 0.0, 0.0]


def test_uncertainty_does_not_favour_many_values():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    two = np.where(rng.random(200) < 0.9, y, 1 - y)
    X = np.column_stack([np.arange(200), two])
    assert InformationGain(1, bins=None).fit(X, y).order_[0] == 0
    assert SymmetricalUncertainty(1, bins=None).fit(X, y).order_[0] == 1


@pytest.mark.parametrize("estimator", [MaxRel(), InformationGain(), SymmetricalUncertainty()])
def test_scikit_learn_checks(estimator):
    assert_every_check_passes(estimator)
