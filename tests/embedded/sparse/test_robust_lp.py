"""RobustLP: the least losses, and the shortest plane that has them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import L1SVM, RobustLP
from tamiz.solvers.linear_program import HingeProgram, solve_hinge_program
from tests.checks import assert_every_check_passes
from tests.naive import sparse_machines as naive


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("p", [2, 60])
def test_least_losses_and_shortest_plane(seed, p):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, p))
    y = rng.integers(0, 2, size=40)
    y[:2] = 0, 1
    machine = RobustLP().fit(X, y)
    least, norm = naive.least_norm_of_minimisers(X, np.where(y == 1, 1.0, -1.0), np.ones(40))
    assert machine.objective_ == pytest.approx(least, abs=1e-7)
    assert np.abs(machine.coef_).sum() == pytest.approx(norm, rel=1e-5, abs=1e-7)
    assert machine.duality_gap_ <= 1e-6
    if p == 60:  # separable
        assert machine.objective_ == 0.0 and machine.score(X, y) == 1.0
        assert 0 < machine.support_.sum() < 40


def test_separable_means_zero():
    """The least loss is zero, and the plane the shortest of those without loss."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    machine = RobustLP().fit(X, y)
    assert machine.objective_ == machine.duality_gap_ == 0.0 and machine.score(X, y) == 1.0
    norm = naive.least_norm_of_minimisers(X, np.where(y == 1, 1.0, -1.0), np.ones(len(y)))[1]
    assert np.abs(machine.coef_).sum() == pytest.approx(norm, rel=1e-6)


def test_features_without_weight_come_by_nearness():
    """In the limit of small penalties; the last feature is constant and as far as can be."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=(40, 60)), np.full(40, 2.0)])
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    machine = RobustLP().fit(X, y)
    rest = machine.order_[machine.support_.sum() :]
    signs = np.where(y == 1, 1.0, -1.0)
    found = solve_hinge_program(HingeProgram(X, signs, np.full(40, 1e4), np.ones(61)))
    near = np.abs(X.T @ (signs * found.alpha))[rest]
    assert len(rest) > 30 and (np.diff(near) <= 1e-6).all() and near[0] > near[-1] + 0.5


def test_columns_of_all_sizes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 12))
    y = (X[:, 0] + X[:, -1] + 0.9 * rng.normal(size=150) > 0).astype(int)
    U = X * 10.0 ** np.linspace(-7, 7, 12)
    machine = RobustLP().fit(U, y)
    signs = np.where(y == 1, 1.0, -1.0)
    least = naive.least_objective(X, signs, np.ones(150), np.zeros(12))
    assert machine.objective_ == pytest.approx(least, rel=1e-9) and machine.support_.all()
    value = naive.losses_along(U, signs, np.ones(150), machine.coef_[0], machine.intercept_[0])
    assert machine.objective_ == pytest.approx(value, rel=1e-9)


def test_what_rounding_leaves_is_reported():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :8]
    with pytest.warns(ConvergenceWarning, match="stalled"):
        machine = RobustLP(tol=1e-18).fit(X, y)
    assert machine.status_ == "stalled" and 0 < machine.duality_gap_ < 1e-10
    assert RobustLP().fit(X, y).status_ == "converged"


def test_height_separates_d8(d8):
    machine = RobustLP().fit(d8.X[:, :1], d8.y)
    assert machine.coef_[0, 0] == pytest.approx(1 / 8)
    assert -machine.intercept_[0] / machine.coef_[0, 0] == pytest.approx(162.0)


def test_it_is_the_limit_of_the_penalised_machine():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :8]
    machine = RobustLP().fit(X, y)
    large = L1SVM(C=1e5).fit(X, y)
    np.testing.assert_allclose(machine.coef_, large.coef_, rtol=1e-4, atol=1e-4)


def test_mean_losses_of_the_classes():
    """With the sum, the few samples inside the many are given up; with the means they are not."""
    rng = np.random.default_rng(0)
    many, few = rng.normal(size=(200, 1)), 0.3 + rng.normal(size=(8, 1))
    X, y = np.vstack([many, few]), np.repeat([0, 1], [200, 8])
    with pytest.warns(UserWarning, match=r"every weight is zero.*class_weight"):
        plain = RobustLP().fit(X, y)
    assert plain.coef_[0, 0] == 0.0 and (plain.predict(X) == 0).all()
    balanced = RobustLP(class_weight="balanced").fit(X, y)
    assert balanced.coef_[0, 0] != 0.0
    values = balanced.decision_function(X)
    means = [np.maximum(1 + values[y == 0], 0).mean(), np.maximum(1 - values[y == 1], 0).mean()]
    assert balanced.objective_ == pytest.approx(len(y) / 2 * sum(means))


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    machine = RobustLP().fit(X, y)
    assert machine.coef_.shape == (3, 4) and machine.score(X, y) > 0.9
    assert machine.objective_[0] < 1e-9 < machine.objective_[1]


def test_every_check_passes():
    assert_every_check_passes(RobustLP())
