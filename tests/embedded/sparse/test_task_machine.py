"""Sparse machines on numeric targets: minima, fixed points, best subsets, units."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.datasets import make_friedman1

from tamiz.embedded import AROM, FSV, L0L2SVM, L1L2SVM, MILPSVM
from tamiz.evaluation.methods import find_method
from tests.checks import assert_every_check_passes
from tests.naive import regression as oracle

KINDS = [AROM, FSV, L0L2SVM, L1L2SVM, MILPSVM]


def table(n=40, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, 2 * X[:, 1] - X[:, 3] + 0.3 * rng.normal(size=n) + 5.0


@pytest.mark.parametrize("nu", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_two_penalties_equal_the_general_solver(nu, epsilon, make):
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 3, 40).astype(float)
    machine = L1L2SVM(C=0.5, nu=nu, task="regression", epsilon=epsilon)
    machine.fit(make(X), y, sample_weight=weight)
    w, _, least = oracle.mixed_minimum(X, y, 0.5 * weight, epsilon, np.full(6, nu))
    assert machine.objective_ == pytest.approx(least, rel=1e-7)
    np.testing.assert_allclose(machine.coef_[0], w, atol=1e-4)
    assert machine.duality_gap_ <= 1e-8 * machine.objective_ and machine.status_ == "converged"


def test_more_features_than_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 40))
    y = X[:, 0] + 0.1 * rng.normal(size=15)
    machine = L1L2SVM(nu=0.5, task="regression").fit(X, y)
    _, _, least = oracle.mixed_minimum(X, y, np.ones(15), 0.1, np.full(40, 0.5))
    assert machine.objective_ == pytest.approx(least, rel=1e-6)


def test_rescaling_equals_the_loop():
    X, y = table()
    machine = AROM(C=1.0, task="regression", normalize=False, max_iter=4, tol=1e-12)
    with pytest.warns(UserWarning, match="max_iter"):
        machine.fit(X, y)
    expected = oracle.rescaled(X, y, np.ones(40), 0.1, 4)
    np.testing.assert_allclose(machine.coef_[0], expected, atol=2e-4)


def test_successive_linearisation_ends_where_the_loop_does():
    X, y = table()
    machine = FSV(C=0.3, a=2.0, task="regression").fit(X, y)
    value, w = oracle.linearised(X, y, np.full(40, 0.3), 0.1, 2.0, 10)
    assert machine.objective_ <= value * (1 + 1e-6)
    assert machine.objective_ == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(machine.coef_[0], w, atol=1e-5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_best_subset_equals_exhaustive_search(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 6))
    X[:, 1] = X[:, 0] + 0.6 * rng.normal(size=30)
    y = 100.0 * (X[:, 0] - X[:, 1] + X[:, 2] + 0.7 * rng.normal(size=30))
    least = min(
        oracle.l1_minimum(X[:, list(some)], y, np.full(30, 0.5), 10.0)
        for some in combinations(range(6), 2)
    )
    machine = MILPSVM(2, C=0.5, epsilon=10.0, task="regression", tol=1e-6).fit(X, y)
    assert machine.objective_ == pytest.approx(least, rel=1e-6)
    assert machine.bound_ <= machine.objective_ and machine.status_ == "converged"
    assert machine.support_.sum() <= 2


def test_weights_within_a_box():
    X, y = table()
    machine = MILPSVM(2, weight_bound=1.0, task="regression").fit(X, y)
    assert np.abs(machine.coef_).max() <= 1.0 + 1e-9
    losses = oracle.tube_losses(X, y, np.ones(40), 0.1, machine.coef_[0], machine.intercept_[0])
    assert losses == pytest.approx(machine.objective_, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_units_of_the_target(kind):
    X, y = table()
    machine = kind(task="regression", scale_target=True)
    assert is_regressor(machine) and not hasattr(machine, "decision_function")
    machine.fit(X, y)
    assert set(machine.order_[:2]) == {1, 3} and machine.score(X, y) > 0.9
    large = clone(machine).fit(X, 1000.0 * y - 1e5)
    np.testing.assert_allclose(large.coef_, 1000.0 * machine.coef_, rtol=1e-4, atol=1e-2)
    with pytest.raises(ValueError, match="class_weight='balanced' is for classes"):
        kind(task="regression", class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match='with task="regression"'):
        kind().fit(X, y)


@pytest.mark.parametrize("name", ["fsv", "arom", "l1l2-svm", "l0l2-svm", "milp-svm"])
def test_friedman_by_name(name):
    X, y = make_friedman1(n_samples=80, n_features=8, noise=0.1, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = find_method(name).make(task="regression", C=1.0).fit(X, y)
    assert {0, 1, 3, 4} <= set(found.order_[:5])  # the third enters through its square only


def test_streams_are_for_classes():
    X, y = table()
    with pytest.raises(ValueError, match="'regression' is not available for a stream"):
        AROM(task="regression").fit_stream([(X, y)])


@pytest.mark.parametrize("kind", KINDS)
def test_estimator_checks_pass_for_a_regression(kind):
    assert_every_check_passes(kind(task="regression"))
