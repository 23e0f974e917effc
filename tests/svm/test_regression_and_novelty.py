"""SVR, SVDD and the one-class machine against a general solver, the peer, and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_regression
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVR as PeerSVR
from sklearn.svm import LinearSVR
from sklearn.svm import OneClassSVM as PeerOneClass

from tamiz.svm import SVDD, SVR, OneClassSVM
from tests.naive.qp import solve_general

SOLVERS = ("smo", "decomposition", "chunking")


def regression(seed, n=60, p=4):
    X, y = make_regression(n, p, noise=8.0, random_state=seed)
    return X, y / y.std()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("squared", [False, True], ids=["linear", "squared"])
@pytest.mark.parametrize("seed", range(3))
def test_svr_against_a_general_solver(seed, squared, solver):
    X, y = regression(seed)
    n, C, eps, gamma = len(y), 2.0, 0.1, 0.2
    K = rbf_kernel(X, gamma=gamma)
    ridge = np.eye(n) / (2 * C) if squared else 0.0
    s = np.repeat([1.0, -1.0], n)
    # the textbook dual in (a, b); squared slack puts the ridge on each half alone
    Q = np.block([[K + ridge, -K], [-K, K + ridge]])
    p = np.concatenate([eps - y, eps + y])
    upper = np.full(2 * n, np.inf if squared else C)
    _, objective = solve_general(Q, p, s, 0.0, np.zeros(2 * n), upper)
    loss = "squared" if squared else "linear"
    machine = SVR(C=C, epsilon=eps, gamma=gamma, loss=loss, tol=1e-7, solver=solver).fit(X, y)
    assert machine.dual_objective_ == pytest.approx(-objective, rel=1e-6)
    assert 0 <= machine.duality_gap_ <= 1e-4 * machine.objective_
    assert (machine.alpha_.min(axis=0) <= 1e-9).all()  # never above and below the tube at once
    # the primal objective from its definition
    residual = np.abs(y - machine.predict(X))
    slack = np.maximum(0.0, residual - eps)
    beta = machine.alpha_[0] - machine.alpha_[1]
    primal = 0.5 * beta @ K @ beta + C * (slack**2 if squared else slack).sum()
    assert machine.objective_ == pytest.approx(primal, rel=1e-8)
    np.testing.assert_allclose(machine.slack_, slack, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_svr_equals_the_peer(kernel):
    X, y = load_diabetes(return_X_y=True)
    X, y = X * 10, y / 50
    params = dict(kernel=kernel, C=2.0, epsilon=0.2, tol=1e-6, gamma=0.5, degree=2, coef0=1.0)
    ours, peer = SVR(**params).fit(X, y), PeerSVR(**params).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-3)
    assert ours.kkt_violation_ <= 1e-6


def test_squared_loss_equals_the_peer_without_intercept_penalty():
    X, y = regression(7, n=200)
    X = X - X.mean(axis=0)
    # the peer penalises its intercept; a large scaling makes that negligible
    peer = LinearSVR(
        C=1.0,
        epsilon=0.1,
        loss="squared_epsilon_insensitive",
        intercept_scaling=1e3,
        tol=1e-10,
        max_iter=1_000_000,
        dual=False,
    ).fit(X, y)
    ours = SVR(C=1.0, epsilon=0.1, loss="squared", kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_[0], peer.coef_, atol=1e-4)


KERNELS = {
    "rbf": (dict(kernel="rbf", gamma=0.3), lambda X: rbf_kernel(X, gamma=0.3)),
    "linear": (dict(kernel="linear"), linear_kernel),
    "poly": (
        dict(kernel="poly", degree=2, gamma=1.0, coef0=1.0),
        lambda X: polynomial_kernel(X, degree=2, gamma=1.0, coef0=1.0),
    ),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("nu", [0.0, 0.1, 0.5])
def test_svdd_against_a_general_solver(nu, name, solver):
    params, gram = KERNELS[name]
    X = np.random.default_rng(3).normal(size=(50, 3))
    K = gram(X)
    n = len(X)
    upper = np.full(n, 1 / (nu * n) if nu else np.inf)
    beta, value = solve_general(2 * K, -K.diagonal(), np.ones(n), 1.0, np.zeros(n), upper)
    machine = SVDD(nu=nu, tol=1e-8, solver=solver, **params).fit(X)
    assert machine.dual_objective_ == pytest.approx(-value, rel=1e-6)
    assert machine.duality_gap_ <= 1e-5 * max(1.0, machine.objective_)
    distance = K.diagonal() - 2 * K @ beta + beta @ K @ beta
    np.testing.assert_allclose(-machine.score_samples(X), distance, atol=1e-4 * distance.max())
    outside = (machine.predict(X) == -1).mean()
    if nu == 0:
        assert outside == 0
        assert machine.squared_radius_ == pytest.approx(distance.max(), rel=1e-4)
    else:
        assert outside <= nu + 1e-9


def test_smallest_ball_of_known_points():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.2]])
    ball = SVDD(nu=0.0, kernel="linear", tol=1e-10).fit(square)
    assert ball.squared_radius_ == pytest.approx(2.0)
    np.testing.assert_allclose(ball.alpha_ @ square, [1.0, 1.0], atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("nu", [0.05, 0.5, 0.9])
def test_one_class_equals_the_peer(nu, solver):
    X = np.random.default_rng(5).normal(size=(120, 3))
    ours = OneClassSVM(nu=nu, gamma=0.2, tol=1e-8, solver=solver).fit(X)
    peer = PeerOneClass(nu=nu, gamma=0.2, tol=1e-8).fit(X)
    assert ours.alpha_.sum() == pytest.approx(nu * len(X))
    np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X), atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-4)
    assert (ours.predict(X) == -1).mean() <= nu + 1e-9
    assert len(ours.support_) >= nu * len(X) - 1e-9


def test_one_class_with_every_sample_a_bounded_vector():
    X = np.random.default_rng(5).normal(size=(30, 2))
    machine = OneClassSVM(nu=1.0, gamma=0.2).fit(X)
    np.testing.assert_array_equal(machine.alpha_, np.ones(30))
    assert np.isfinite(machine.offset_)


def test_one_class_and_ball_agree_for_a_radial_kernel():
    X = np.random.default_rng(6).normal(size=(100, 2))
    a = OneClassSVM(nu=0.2, gamma=0.5, tol=1e-9).fit(X)
    b = SVDD(nu=0.2, gamma=0.5, tol=1e-9).fit(X)
    np.testing.assert_allclose(a.alpha_ / a.alpha_.sum(), b.alpha_, atol=1e-6)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))


@pytest.mark.parametrize("nu", [0.01, 0.1])
@pytest.mark.parametrize("Machine", [SVDD, OneClassSVM])
def test_the_promised_fraction_holds_at_the_default_tolerance(Machine, nu):
    X = np.random.default_rng(0).normal(size=(2000, 2))
    machine = Machine(nu=nu, gamma=0.5).fit(X)
    assert (machine.predict(X) == -1).mean() <= nu + 1e-9


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_the_radius_does_not_depend_on_units(scale, shift):
    X = np.random.default_rng(1).normal(size=(700, 3))
    exact = SVDD(nu=0.0, kernel="linear", tol=1e-9).fit(X).radius_
    machine = SVDD(nu=0.0, kernel="linear").fit(scale * (X + shift))
    assert machine.radius_ == pytest.approx(scale * exact, rel=2e-3)
    assert machine.radius_ >= scale * exact * (1 - 1e-6)
