"""Parameters by position and by keyword, and the checks that functions declare."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import tamiz
from tamiz.base import Selector
from tamiz.svm import SVC
from tamiz.validation import (
    check_level,
    checked,
    fittable,
    integer_from,
    number_of_jobs,
    one_of,
    optional,
)

#: What a machine or a transformer may take by position: the one number or name it turns on.
LEADING = {"C", "nu", "lambda_", "kernel", "n_neighbors", "n_estimators", "criterion", "bins"}
NEVER = ["L1SVM", "L1L2SVM", "L0L2SVM", "AROM", "FSV", "RobustLP"]  # selectors, but also machines


def public_estimators():
    rooms = [getattr(tamiz, name) for name in dir(tamiz) if hasattr(tamiz, name)]
    packages = [room for room in rooms if inspect.ismodule(room) and hasattr(room, "__path__")]
    found = [getattr(room, name) for room in packages for name in room.__all__]
    kinds = {one for one in found if inspect.isclass(one) and issubclass(one, BaseEstimator)}
    return sorted((k for k in kinds if hasattr(k, "fit")), key=lambda kind: kind.__name__)


def positional(kind):
    parameters = list(inspect.signature(kind).parameters.values())
    return [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
def test_only_one_parameter_is_positional(kind):
    names = positional(kind)
    if kind.__name__ in NEVER:
        assert names == []
    elif issubclass(kind, Selector):
        searches = kind.__module__.startswith("tamiz.search")
        assert names == ["estimator" if searches else "n_features_to_select"]
    else:
        assert len(names) <= 1 and set(names) <= LEADING


def test_all_rooms_are_walked():
    names = {kind.__name__ for kind in public_estimators()}
    assert names >= {"SVC", "SVMRFE", "MRMR", "ForwardSelection", "KNNClassifier", "CARTRegressor"}


def test_old_positions_still_work_and_warn():
    with pytest.warns(FutureWarning, match="kernel='linear', gamma=0.5 to SVC by keyword") as w:
        old = tamiz.SVC(2.0, "linear", 0.5)
    assert w[0].filename == __file__
    assert old.get_params() == tamiz.SVC(C=2.0, kernel="linear", gamma=0.5).get_params()
    with pytest.warns(FutureWarning, match=r"Pass C=3 to L1SVM by keyword"):
        sparse = tamiz.L1SVM(3)
    assert sparse.C == 3 and sparse.n_features_to_select is None


@pytest.mark.filterwarnings("error")
def test_what_is_right_does_not_warn():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    assert clone(tamiz.SVC(2.0, kernel="linear")).fit(X, y).C == 2.0
    assert tamiz.MRMR(3).n_features_to_select == 3


def test_wrong_calls_are_refused_as_ever():
    with pytest.raises(TypeError, match="multiple values"), pytest.warns(FutureWarning):
        tamiz.SVC(1.0, "rbf", kernel="linear")
    with pytest.raises(TypeError, match="positional"):
        tamiz.SVC(*range(40))
    with pytest.raises(TypeError, match="positional"):
        tamiz.MRMR(3, "difference")


@checked(
    n=integer_from(2), rule=one_of("best", None), level=optional(check_level), n_jobs=number_of_jobs
)
def example(n, rule="best", *, level=None, n_jobs=None):
    """What it says."""
    return n, rule, level, n_jobs


def test_a_function_whose_parameters_are_checked():
    assert example(np.int64(3)) == (3, "best", None, None)
    assert type(example(np.int64(3))[0]) is int
    assert example(2, None, level=0.5, n_jobs=-1) == (2, None, 0.5, -1)
    assert (example.__name__, example.__doc__) == ("example", "What it says.")
    assert list(inspect.signature(example).parameters) == ["n", "rule", "level", "n_jobs"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 1}, "n=1 must be an integer from 2."),
        ({"n": True}, "n=True must be an integer from 2."),
        ({"n": 2.5}, "n=2.5 must be an integer from 2."),
        ({"rule": "worst"}, "rule='worst' is not understood; use 'best' or None."),
        ({"level": 95}, "level=95 must be a number between 0 and 1 (95 % is 0.95)."),
        ({"level": 0.0}, "level=0.0 must be a number between 0 and 1."),
        ({"n_jobs": 0}, "n_jobs=0 leaves no thread to work"),
        ({"n_jobs": "two"}, "n_jobs='two' must be an integer or None."),
    ],
)
def test_a_parameter_that_is_refused_is_named(arguments, words):
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        example(**{"n": 2, **arguments})


def test_what_is_no_estimator_is_refused():
    @checked(machine=fittable)
    def fit(machine):
        return machine

    assert isinstance(fit(SVC()), SVC)
    with pytest.raises(TypeError, match="machine=SVC is a class"):
        fit(SVC)
    with pytest.raises(TypeError, match="machine='svc' is no estimator"):
        fit("svc")


def test_a_check_of_no_parameter_is_a_mistake_of_the_programmer():
    with pytest.raises(TypeError, match="has no parameter 'm'"):
        checked(m=integer_from(1))(lambda n: n)
