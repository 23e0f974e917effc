"""Maximum relevance."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.filters.maxrel import MaxRel
from tests.filters.cases_information import all_checks_pass, discrete
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


def test_scikit_learn_checks():
    all_checks_pass(MaxRel())
