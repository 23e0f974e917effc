"""Which parameters of an estimator are positional, and the warning about others."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import tamiz
from tamiz.base import Selector

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
