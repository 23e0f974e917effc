"""Joint mutual information."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.filters.jmi import JMI
from tests.filters.cases_information import (
    all_checks_pass,
    check_completion,
    check_greedy,
    discrete,
)
from tests.naive import information as naive


@pytest.mark.parametrize("n", [2, 3, 20, 64, 300])
@pytest.mark.parametrize("classes", [2, 5])
def test_against_the_naive_search(n, classes):
    X, y = discrete(n, n, classes=classes)
    y[:2] = [0, 1]
    check_greedy(JMI(bins=None, full_ranking=True), naive.jmi, X, y)


def test_features_not_selected_are_ranked_too():
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


def test_scikit_learn_checks():
    all_checks_pass(JMI())
