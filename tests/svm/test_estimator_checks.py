"""Every public machine passes every one of scikit-learn's estimator checks, none skipped.

``HardMarginSVC()`` is checked with a narrow radial kernel: with its default, the linear one, it
refuses classes that no hyperplane separates, and the data of several checks are of that kind.
``BudgetSVC`` gets a budget for each sample that the data of all checks can meet.

Two checks compare weights with rows repeated in any order. What an online machine reaches depends
on the order, and rows repeated where they stand are compared in its own tests.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import tamiz.svm
from tamiz.svm import (
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    HardMarginSVC,
    LinearMachine,
    LinearMachineRegressor,
    NotSeparableError,
    OneClassSVM,
    PegasosClassifier,
    PerceptronClassifier,
    SubgradientClassifier,
)
from tests.checks import assert_every_check_passes

MACHINES = [
    SVC(),
    SVC(kernel="linear", multiclass="ovr"),
    SVC(kernel="precomputed"),
    SVC(solver="decomposition", class_weight="balanced", warm_start=True),
    HardMarginSVC(kernel="rbf", gamma=10.0),
    BudgetSVC(0.5, mean=True),
    SVR(),
    SVR(kernel="linear", loss="squared"),
    SVR(kernel="precomputed"),
    SVDD(),
    OneClassSVM(),
    PegasosClassifier(),
    SubgradientClassifier(max_iter=200),  # many times what the tables of the checks need
    PerceptronClassifier(max_iter=200),
    LinearMachine(class_weight="balanced"),
    LinearMachine(loss="logistic", penalty="l1"),
    LinearMachine(loss="hinge", penalty="l0l2"),
    LinearMachineRegressor(),
    LinearMachineRegressor(penalty="l1", warm_start=True),
    LinearMachineRegressor(loss="squared_epsilon_insensitive", penalty="arom"),
]


ORDERED = (PegasosClassifier, PerceptronClassifier)
IN_ANY_ORDER = [
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_every_check_passes(machine):
    assert_every_check_passes(machine, IN_ANY_ORDER if isinstance(machine, ORDERED) else ())


def test_every_public_machine_is_checked():
    public = {
        name
        for name in tamiz.svm.__all__
        if isinstance(getattr(tamiz.svm, name), type)
        and issubclass(getattr(tamiz.svm, name), BaseEstimator)
    }
    assert {type(machine).__name__ for machine in MACHINES} == public


def test_why_the_hard_margin_is_checked_with_a_radial_kernel():
    """Labels drawn by lot, as in several of the checks, are not separable by a hyperplane."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, size=60)
    with pytest.raises(NotSeparableError, match=r"cannot be separated.*Use SVC") as caught:
        HardMarginSVC().fit(X, y)
    weight = caught.value.certificate
    assert (weight >= 0).all()
    assert weight[y == 0].sum() == pytest.approx(1) == weight[y == 1].sum()
    np.testing.assert_allclose(weight[y == 0] @ X[y == 0], weight[y == 1] @ X[y == 1], atol=1e-6)
    assert HardMarginSVC(kernel="rbf", gamma=10.0).fit(X, y).score(X, y) == 1.0
