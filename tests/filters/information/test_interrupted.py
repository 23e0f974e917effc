"""Greedy filters that are interrupted keep what they have added."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tamiz.callbacks import StopAfter
from tamiz.filters import CMIM, JMI, MRMR, MaxDep
from tamiz.filters.information.greedy import Criterion, greedy
from tamiz.gpu import emulated
from tests.filters.cases_information import discrete


def stopped(selector, steps, X, y):
    with pytest.warns(ConvergenceWarning, match=r"interrupted after \d+ of \d+ features"):
        return selector.set_callbacks(StopAfter(steps=steps)).fit(X, y)


@pytest.mark.parametrize("device", [None, "cuda"])
@pytest.mark.parametrize(("filter_", "options"), [(JMI, {}), (CMIM, {}), (MRMR, {"bins": None})])
def test_the_features_added_are_selected_and_the_others_ranked(filter_, options, device):
    X, y = discrete(200, 1, p=40)
    options = {"bins": None, **options, "device": device}
    with emulated():
        found = stopped(filter_(39, **options), 2, X, y)
        k = int(found.support_.sum())
        right = filter_(k, **options).fit(X, y)
    assert found.status_ == "interrupted" and right.status_ == "finished"
    assert 2 <= k < 39
    np.testing.assert_array_equal(found.order_, right.order_)
    np.testing.assert_array_equal(found.scores_, right.scores_)
    assert found.selection_.path == right.selection_.path
    assert found.support_.tolist() == right.support_.tolist()


def test_maxdep_keeps_what_it_has_added():
    X, y = discrete(400, 2)
    found = stopped(MaxDep(3, bins=None), 2, X, y)
    right = MaxDep(2, bins=None).fit(X, y)
    assert found.status_ == "interrupted"
    np.testing.assert_array_equal(found.order_, right.order_)


def test_a_search_that_is_stopped_when_it_is_done_is_finished():
    X, y = discrete(200, 1)
    assert JMI(2, bins=None).set_callbacks(StopAfter(steps=2)).fit(X, y).status_ == "finished"


class Interrupted(Criterion):
    """Values that fall by one for each feature; Ctrl-C comes in one method, at one of its calls."""

    def __init__(self, method, call):
        self.features = np.arange(10)
        self.relevance = np.arange(10.0)
        self.tier = np.zeros(10)
        self.method, self.left = method, call

    def _at(self, method):
        self.left -= method == self.method
        if self.left == 0 and method == self.method:
            raise KeyboardInterrupt

    def values(self):
        self._at("values")
        return self.relevance

    def add(self, k):
        self._at("add")

    def several(self, alive, n_steps):
        self._at("several")
        return None

    def keep(self, which):
        self.features, self.relevance = self.features[which], self.relevance[which]
        self.tier = self.tier[which]
        self._at("keep")


@pytest.mark.parametrize(
    ("method", "call", "n_added"),
    [("add", 3, 2), ("values", 4, 3), ("several", 6, 5), ("keep", 1, 4)],
)
def test_wherever_ctrl_c_comes_the_order_is_complete(method, call, n_added):
    found = greedy(Interrupted(method, call), 9)
    assert found.status == "interrupted" and found.n_added == n_added
    assert found.order.tolist() == list(range(9, -1, -1))
    assert [step.features[0] for step in found.path] == found.order[:n_added].tolist()


def test_before_anything_is_added_it_is_an_interruption():
    with pytest.raises(KeyboardInterrupt):
        greedy(Interrupted("values", 1), 9)
