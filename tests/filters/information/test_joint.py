"""JMI and CMIM against naive counts."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.filters import CMIM, JMI
from tests.checks import assert_every_check_passes
from tests.filters.cases_information import (
    check_completion,
    check_greedy,
    discrete,
)
from tests.naive import information as naive


@pytest.mark.parametrize("n", [2, 3, 20, 64, 300])
@pytest.mark.parametrize("classes", [2, 5])
def test_jmi_against_the_naive_search(n, classes):
    X, y = discrete(n, n, classes=classes)
    y[:2] = [0, 1]
    check_greedy(JMI(bins=None, full_ranking=True), naive.jmi, X, y)


def test_jmi_features_not_selected_are_ranked_too():
    check_completion(JMI(4, bins=None), *discrete(150, 4, p=12))


def test_sees_a_pair_that_tells_only_together():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 10))
    y = X[:, 3] ^ X[:, 7]
    X[:, 3] = np.where(rng.random(400) < 0.1, y, X[:, 3])  # a hint, so that it comes first
    order = JMI(2, bins=None).fit(X, y).order_[:2].tolist()
    assert sorted(order) == [3, 7]


def test_many_levels():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, k, 300) for k in (2, 90, 30, 5)])
    y = rng.integers(0, 12, 300)
    check_greedy(JMI(bins=None, full_ranking=True), naive.jmi, X, y)


def test_jmi_scikit_learn_checks():
    assert_every_check_passes(JMI())


@pytest.mark.parametrize("n", [2, 3, 20, 64, 300])
@pytest.mark.parametrize("classes", [2, 5])
def test_cmim_against_the_naive_search(n, classes):
    X, y = discrete(n, n, classes=classes)
    y[:2] = [0, 1]
    check_greedy(CMIM(bins=None, full_ranking=True), naive.cmim, X, y)


def test_cmim_features_not_selected_are_ranked_too():
    check_completion(CMIM(4, bins=None), *discrete(150, 4, p=12))


def test_a_copy_is_worth_nothing():
    X, y = discrete(200, 0)
    scores = CMIM(bins=None, full_ranking=True).fit(X, y).scores_
    assert scores[1] > 0
    assert scores[5] == pytest.approx(0, abs=1e-12)
    assert np.isfinite(scores).all()


def test_cmim_scikit_learn_checks():
    assert_every_check_passes(CMIM())
