"""Conditional mutual information maximisation."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.filters.cmim import CMIM
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
    check_greedy(CMIM(bins=None, full_ranking=True), naive.cmim, X, y)


def test_features_not_selected_are_ranked_too():
    check_completion(CMIM(4, bins=None), *discrete(150, 4, p=12))


def test_a_copy_is_worth_nothing():
    X, y = discrete(200, 0)
    scores = CMIM(bins=None, full_ranking=True).fit(X, y).scores_
    assert scores[1] > 0
    assert scores[5] == pytest.approx(0, abs=1e-12)
    assert np.isfinite(scores).all()


def test_scikit_learn_checks():
    all_checks_pass(CMIM())
