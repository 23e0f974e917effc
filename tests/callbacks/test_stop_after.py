"""A limit on the time or the steps of a fit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tamiz.callbacks import StopAfter
from tamiz.embedded import SVMRFE

pytestmark = pytest.mark.filterwarnings("ignore")


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    return X, (X[:, 0] > 0).astype(int)


def fitted(stop):
    return SVMRFE(n_features_to_select=1, step=1, kernel="rbf").set_callbacks(stop).fit(*data())


@pytest.mark.parametrize("steps", [1, 3])
def test_steps_are_counted_anew_in_every_fit(steps):
    stop = StopAfter(steps=steps)
    for _ in range(2):
        machine = fitted(stop)
        assert machine.status_ == "interrupted"
        assert len([step for step in machine.selection_.path if step.action == "drop"]) >= steps
    assert not stop._begun and not stop._done


def test_time_counts_from_the_beginning_of_the_fit():
    clock = iter(range(1000))
    heard = []

    class Heard(StopAfter):
        def now(self):
            return float(next(clock))

        def on_fit_task_end(self, estimator, context):
            heard.append(super().on_fit_task_end(estimator, context))
            return heard[-1]

    assert fitted(Heard(seconds=3)).status_ == "interrupted"
    assert heard[: heard.index(True) + 1] == [False, False, True]


def test_a_limit_that_is_not_reached_changes_nothing():
    far = fitted(StopAfter(seconds=1e6, steps=1000))
    assert far.status_ == "converged"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "needs a limit"),
        ({"seconds": 0}, "seconds=0"),
        ({"steps": 0}, "steps=0"),
        ({"steps": 1.5}, "steps=1.5"),
    ],
)
def test_limits_are_checked(options, said):
    with pytest.raises(ValueError, match=said):
        StopAfter(**options)


def test_seconds_may_come_first_and_nothing_else():
    assert StopAfter(60).seconds == 60
    with pytest.raises(TypeError, match=r"StopAfter\(\) too many positional arguments"):
        StopAfter(60, 5)


def test_it_can_be_sent_and_shown():
    stop = pickle.loads(pickle.dumps(StopAfter(seconds=2.5, steps=3)))
    assert repr(stop) == "StopAfter(seconds=2.5, steps=3)"
