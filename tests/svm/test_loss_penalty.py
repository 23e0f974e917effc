"""Every loss with every penalty: naive oracles, certificates, peers, paths, bad input, Ctrl-C."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import tamiz
import tests.naive.linear_machines as naive
from tamiz.embedded import AROM, FSV, L0L2SVM, L1L2SVM, L1SVM
from tamiz.solvers.composite import quadratic
from tamiz.solvers.composite import solve as newton
from tamiz.solvers.composite.losses import LogisticLoss, SquaredHingeLoss, SquaredLoss
from tamiz.solvers.composite.problem import (
    Composite,
    balanced,
    balancing_shift,
    best_shift,
    lower_bound,
)
from tamiz.solvers.composite.quadratic import curvature_matrix
from tamiz.svm import SVC, LinearMachine, LinearMachineRegressor
from tests.calls import interrupted, watched

LOSSES = ["hinge", "squared_hinge", "logistic", "squared", "tube"]
CONVEX = {"l2": 0.0, "l1": 1.0, "l1l2": 0.4}
COUNTING = {"l0": 1.0, "l0l2": 0.4}
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_convex = pytest.mark.parametrize("penalty", CONVEX)


def machine(loss, penalty, C=0.5, **params):
    params = {"penalty": penalty, "l1_ratio": 0.4, "tol": 1e-9, **params}
    if loss == "tube":
        return LinearMachineRegressor(
            C, loss="squared_epsilon_insensitive", epsilon=naive.EPSILON, **params
        )
    return LinearMachine(C, loss=loss, **params)


def drawn(loss, n=30, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    value = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n)
    return X, (value if loss == "tube" else np.where(value > np.median(value) - 0.3, 1.0, -1.0))


def weights_of(fitted):
    return np.ravel(fitted.coef_), float(np.ravel(fitted.intercept_)[0])


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


# ----------------------------------------------------------------------------- oracle, certificate


@every_loss
@every_convex
@pytest.mark.parametrize("shape", [(30, 5), (12, 20)])
def test_minimum_is_that_of_the_oracle_and_certified(loss, penalty, shape):
    X, y = drawn(loss, *shape)
    c, rho = np.linspace(0.5, 1.5, len(y)), CONVEX[penalty]
    fitted = machine(loss, penalty).fit(X, y, sample_weight=c)
    w, b = weights_of(fitted)
    problem = (X, y, 0.5 * c, np.full(X.shape[1], rho), 1.0 - rho)
    assert fitted.objective_ == pytest.approx(naive.objective(loss, *problem, w, b), rel=1e-9)
    least = naive.objective(loss, *problem, *naive.minimum(loss, *problem))
    assert fitted.objective_ <= least * (1 + 1e-8)
    assert fitted.dual_objective_ <= least * (1 + 1e-8)
    assert least <= fitted.objective_ * (1 + 1e-5)  # the oracle is a minimum, too
    assert 0 <= fitted.duality_gap_ <= 1e-9 * fitted.objective_
    assert fitted.duality_gap_ == pytest.approx(
        fitted.objective_ - fitted.dual_objective_, abs=1e-12 * fitted.objective_
    )
    assert fitted.status_ == "converged" and fitted.stationarity_ is None


@pytest.mark.parametrize("loss", LOSSES[1:])
@pytest.mark.parametrize("penalty", ["l1", "l1l2"])
def test_weights_satisfy_the_optimality_conditions(loss, penalty):
    X, y = drawn(loss, 40, 30, seed=1)
    fitted, rho = machine(loss, penalty, tol=1e-12).fit(X, y), CONVEX[penalty]
    w, b = weights_of(fitted)
    pull = -0.5 * naive.slope(loss, y, X @ w + b)
    g = X.T @ pull - (1 - rho) * w
    used = w != 0
    assert 0 < used.sum() < 30
    np.testing.assert_allclose(g[used], rho * np.sign(w[used]), atol=1e-5)
    assert np.abs(g[~used]).max() <= rho * (1 + 1e-6)
    assert abs(pull.sum()) <= 1e-6 * np.abs(pull).sum()


@pytest.mark.parametrize("loss", ["squared_hinge", "squared", "logistic"])
def test_large_working_sets_descend_on_columns(loss):
    """More features in play than a matrix is worth: dense and sparse agree, and are certified."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 700)) * (rng.random((60, 700)) < 0.5)
    y = np.where(X[:, :30].sum(axis=1) + rng.normal(size=60) > 0, 1.0, -1.0)
    with watched(newton, "descend_columns") as calls:
        dense = machine(loss, "l1l2", l1_ratio=0.1, C=0.3).fit(X, y)
        thin = machine(loss, "l1l2", l1_ratio=0.1, C=0.3).fit(sparse.csr_array(X), y)
    assert calls
    assert dense.duality_gap_ <= 1e-9 * dense.objective_
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-4)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared"])
def test_systems_that_are_too_large_are_solved_by_conjugate_gradients(loss):
    X, y = drawn(loss, 1000, 300, seed=2)
    X[:, 3] *= 30.0
    exact = machine(loss, "l2", C=0.01).fit(X, y)
    with watched(newton, "_conjugate_step") as calls:
        found = machine(loss, "l2", C=0.01).fit(sparse.csr_array(X), y)
    assert calls
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=1e-4)
    assert found.duality_gap_ <= 1e-9 * found.objective_


@pytest.mark.parametrize("intercept", [True, False])
def test_matrix_of_a_step_is_computed_only_where_many_products_would_be_needed(intercept):
    X, y = drawn("logistic", 2000, 60, seed=4)
    mixed = X @ np.random.default_rng(5).normal(size=(60, 60))
    for table, needed in [(X, False), (X * np.geomspace(1, 9, 60), False), (mixed, True)]:
        one = machine("logistic", "l2", C=0.01, tol=1e-6, fit_intercept=intercept)
        with watched(newton, "curvature_matrix") as calls:
            one.fit(table, y)
        assert bool(calls) == needed
        assert one.status_ == "converged" and one.duality_gap_ <= 1e-6 * one.objective_


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("n", [3, 8, 21])
def test_products_with_the_matrix_of_a_step_and_its_diagonal(n, kind, intercept):
    rng = np.random.default_rng(n)
    X, h, mu, v = rng.normal(size=(n, 5)) + 2.0, rng.random(n), rng.random(5), rng.normal(size=5)
    h[1] = 0.0
    means = h @ X / h.sum() if intercept else np.zeros(5)
    expected = (X - means).T @ (h[:, None] * (X - means)) + np.diag(mu)
    found = quadratic.Curvature(quadratic.Columns(kind(X)), h, mu, intercept)
    np.testing.assert_allclose(found.times(v), expected @ v, rtol=1e-12)
    np.testing.assert_allclose(found.diagonal(), np.diag(expected), rtol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared", "tube"])
@pytest.mark.parametrize(("shape", "scale"), [((2000, 60), 1.0), ((400, 12), 9.0)])
def test_lower_bounds_that_a_step_foresees_are_those_of_its_dual_point(shape, scale, loss, kind):
    """By conjugate gradients and by systems; an exact fit is never below them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=shape) * np.geomspace(1.0, scale, shape[1])
    y = np.sign(X[:, 0] + 2 * rng.normal(size=shape[0]))
    losses = {"logistic": LogisticLoss(), "squared_hinge": SquaredHingeLoss(),
              "squared": SquaredLoss(), "tube": SquaredLoss(0.3)}  # fmt: skip
    c, zero = np.full(shape[0], 0.05), np.zeros(shape[1])
    for intercept in (True, False):
        problem = Composite(kind(X), y, c, losses[loss], zero, zero + 1.0, intercept)
        least = newton.minimise(problem, tol=1e-12).objective
        with watched(newton, "_foreseen") as calls:
            found = newton.minimise(problem, tol=1e-4)
        assert found.status == "converged"
        assert found.dual_objective <= least * (1 + 1e-11) and found.gap <= 1e-4 * found.objective
        assert len(calls) == found.iterations > 0
        for call in calls:
            _, theta, g, _ = call.args
            np.testing.assert_allclose(g, X.T @ theta, atol=1e-9 * np.abs(g).max())
            assert not intercept or abs(theta.sum()) <= 1e-9 * np.abs(theta).sum()
        # the last of them is the bound
        assert found.dual_objective == pytest.approx(lower_bound(problem, theta, g), rel=1e-10)
        np.testing.assert_allclose(found.g, g, atol=1e-9 * np.abs(g).max())


def test_a_bound_that_is_enough_rests_on_products_of_its_own():
    """What a step knows of them has lost digits where pulls are differences of large numbers."""
    X, y = drawn("logistic", 60, 4)
    zero = np.zeros(4)
    problem = Composite(X, y, np.ones(60), LogisticLoss(), zero, zero + 1.0)
    theta = y * np.random.default_rng(1).uniform(0.2, 0.8, size=60)
    rough = X.T @ theta * (1.0 - 1e-6)
    bound, g = newton._foreseen(problem, theta.copy(), rough, -1e9)
    balanced_pulls = balanced(problem, theta)
    assert abs(balanced_pulls.sum()) < 1e-12
    np.testing.assert_array_equal(g, X.T @ balanced_pulls)
    assert bound == lower_bound(problem, balanced_pulls, g)
    assert newton._foreseen(problem, theta, rough, bound + 1.0) is None
    assert newton._foreseen(problem, 3.0 * theta, rough, -1e9) is None  # no pull is beyond one


def test_pulls_that_a_loss_allows_have_a_finite_bound():
    y = np.array([1.0, -1.0])
    cases = [([0.3, -1.0], True, True), ([0.3, -1.1], False, True), ([-1e-9, -0.5], False, False)]
    for u, logistic, hinge in [*cases, ([0.0, 0.0], True, True)]:
        pulls = np.array(u)
        assert LogisticLoss().allows(y, pulls) is logistic
        assert SquaredHingeLoss().allows(y, pulls) is hinge
        assert SquaredLoss(0.1).allows(y, 5 * pulls)


@pytest.mark.parametrize("loss", [LogisticLoss(), SquaredHingeLoss()])
def test_intercept_of_equal_values_is_that_of_the_counts(loss):
    rng = np.random.default_rng(0)
    y, c = np.sign(rng.normal(size=31)), rng.random(31)
    problem = Composite(np.ones((31, 1)), y, c, loss, np.zeros(1), np.ones(1))
    for f in (0.0, -40.0):
        begin = np.full(31, f)
        shift, pulls, curvatures = balancing_shift(problem, begin, 1e-14)
        other = begin + 1e-13 * rng.normal(size=31)  # not quite equal
        assert shift == pytest.approx(best_shift(problem, other), abs=1e-9)
        assert abs(c @ pulls) <= 1e-12 * (c @ np.abs(pulls))
        for found, expected in zip((pulls, curvatures), loss.slopes(y, begin + shift), strict=True):
            np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("table", [np.asarray, sparse.csc_matrix])
@pytest.mark.parametrize("h", [np.full(7, 0.3), np.arange(7.0)], ids=["equal", "other"])
def test_weighted_squares_of_the_features(h, table):
    X = np.random.default_rng(0).normal(size=(7, 3))
    found = quadratic.Columns(table(X)).squares(h)
    np.testing.assert_allclose(found, (h[:, None] * X**2).sum(axis=0), rtol=1e-14)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.02, 0.5, 10.0])
def test_first_newton_step_of_the_logistic_loss_is_prolonged(C, intercept):
    X, y = drawn("logistic", 200, 5)
    c, zero = np.full(200, C), np.zeros(5)
    problem = Composite(X, y, c, LogisticLoss(), zero, zero + 1.0, intercept)
    f = np.full(200, best_shift(problem, zero @ X.T))
    begin = newton.Machine(zero, float(f[0]), f)
    theta, h = begin.weighed_slopes(problem)
    G = curvature_matrix(quadratic.Columns(X), h, intercept) + np.eye(5)
    d, value = np.linalg.solve(G, X.T @ theta), problem.losses(f)

    def cost(size):
        f = begin.f + size * (X @ d)
        return problem.losses(f + best_shift(problem, f)) + problem.penalty(size * d)

    changes = newton._changes(problem, d, h)
    reached, found = newton._along(problem, begin, d, changes, X.T @ theta, value, 1e-9)
    assert found == pytest.approx(problem.losses(reached.f) + problem.penalty(reached.w))
    np.testing.assert_allclose(reached.f, X @ reached.w + reached.b, atol=1e-12)
    least = minimize_scalar(cost, bounds=(0.0, 10.0), method="bounded").fun
    assert least <= found + 1e-9 and found < cost(1.0)
    assert found - least <= 0.05 * (value - least)


@every_loss
@every_convex
@pytest.mark.parametrize("shape", [(30, 5), (12, 20)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_minimum_without_an_intercept_is_that_of_the_oracle(loss, penalty, shape, kind):
    X, y = drawn(loss, *shape)
    c, rho = np.linspace(0.5, 1.5, len(y)), CONVEX[penalty]
    fitted = machine(loss, penalty, fit_intercept=False).fit(kind(X), y, sample_weight=c)
    w, b = weights_of(fitted)
    assert b == 0.0
    problem = (X, y, 0.5 * c, np.full(X.shape[1], rho), 1.0 - rho)
    assert fitted.objective_ == pytest.approx(naive.objective(loss, *problem, w, b), rel=1e-9)
    oracle = naive.minimum(loss, *problem, intercept=False)
    assert abs(oracle[1]) < 1e-12
    least = naive.objective(loss, *problem, *oracle)
    assert fitted.objective_ <= least * (1 + 1e-8)
    assert fitted.dual_objective_ <= least * (1 + 1e-8)
    assert least <= fitted.objective_ * (1 + 1e-5)
    assert 0 <= fitted.duality_gap_ <= 1e-9 * fitted.objective_
    assert fitted.objective_ > machine(loss, penalty).fit(X, y, sample_weight=c).objective_


@every_loss
@pytest.mark.parametrize("penalty", ["l1", "l1l2"])
def test_paths_without_an_intercept_begin_where_the_first_feature_enters(loss, penalty):
    X, y = drawn(loss, 40, 8, seed=5)
    one = machine(loss, penalty, fit_intercept=False)
    path = one.path(X, y, n_values=6, span=50.0)
    assert not path.intercepts.any() and path.n_nonzero[0] == 0 < path.n_nonzero[1]
    for C, coef in zip(path.Cs[1:], path.coefs[1:], strict=True):
        cold = clone(one).set_params(C=float(C)).fit(X, y)
        np.testing.assert_allclose(np.ravel(cold.coef_), coef, atol=1e-4)


@every_loss
@pytest.mark.parametrize("penalty", ["l0", "l0l2", "arom"])
def test_other_penalties_without_an_intercept_use_a_constant_column_as_a_feature(loss, penalty):
    X, y = drawn(loss, 60, 4, seed=6)
    if loss == "tube":
        y = y + 3.0
    else:
        y[np.argsort(X[:, 0])[20:]] = 1.0  # more of one class: the constant is worth its penalty
    wide = np.column_stack([X, np.full(len(y), 2.0)])
    fitted = machine(loss, penalty, C=3.0, tol=1e-7, fit_intercept=False).fit(wide, y)
    w, b = weights_of(fitted)
    assert b == 0.0 and w[-1] != 0.0
    far = fitted.predict(
        wide + np.array([0, 0, 0, 0, 1e3])
    )  # it is the column that decides, not a constant
    assert len(np.unique(np.sign(far))) == 1


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared"])
def test_large_systems_without_an_intercept(loss):
    """Conjugate gradients, descent on columns, and coordinates of the samples."""
    X, y = drawn(loss, 1000, 300, seed=2)
    exact = machine(loss, "l2", C=0.01, fit_intercept=False).fit(X, y)
    with watched(newton, "_conjugate_step") as calls:
        found = machine(loss, "l2", C=0.01, fit_intercept=False).fit(sparse.csr_array(X), y)
    assert calls
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=1e-4)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 700)) * (rng.random((60, 700)) < 0.5)
    y = np.where(X[:, :30].sum(axis=1) + rng.normal(size=60) > 0, 1.0, -1.0)
    with watched(newton, "descend_columns") as calls:
        dense = machine(loss, "l1l2", l1_ratio=0.1, C=0.3, fit_intercept=False).fit(X, y)
        thin = clone(dense).fit(sparse.csr_array(X), y)
    assert calls
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-4)
    assert thin.duality_gap_ <= 1e-9 * thin.objective_
    ridge = machine(loss, "l2", fit_intercept=False).fit(X, y)
    assert ridge.duality_gap_ <= 1e-9 * ridge.objective_
    with_constant = machine(loss, "l2").fit(X, y)
    assert with_constant.objective_ < ridge.objective_


def test_peers_without_an_intercept(wdbc):
    Z, y = wdbc
    far = Z + 0.3
    ours = LinearMachine(0.1, loss="logistic", fit_intercept=False, tol=1e-10).fit(far, y)
    theirs = LogisticRegression(C=0.1, tol=1e-12, max_iter=10_000, fit_intercept=False).fit(far, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    hinge = LinearMachine(0.1, loss="hinge", fit_intercept=False, tol=1e-9).fit(far, y)
    peer = LinearSVC(C=0.1, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6)
    np.testing.assert_allclose(hinge.coef_, peer.fit(far, y).coef_, atol=1e-4)
    X, t = load_diabetes(return_X_y=True)
    n = len(t)
    lasso = LinearMachineRegressor(0.001, penalty="l1", fit_intercept=False, tol=1e-10).fit(X, t)
    peer = Lasso(1 / (2 * n * 0.001), fit_intercept=False, tol=1e-12, max_iter=10**6).fit(X, t)
    np.testing.assert_allclose(lasso.coef_, peer.coef_, atol=1e-4)
    ridge = LinearMachineRegressor(0.5, penalty="l2", fit_intercept=False).fit(X, t)
    peer = Ridge(1.0, fit_intercept=False).fit(X, t)
    np.testing.assert_allclose(ridge.coef_, peer.coef_, rtol=1e-5)
    assert lasso.intercept_ == ridge.intercept_ == 0.0


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
def test_warm_starts_forget_an_intercept_that_is_left_out(loss):
    X, y = drawn(loss, 40, 5, seed=7)
    one = LinearMachine(loss=loss, warm_start=True, tol=1e-9).fit(X, y)
    assert one.intercept_[0] != 0.0
    one.set_params(fit_intercept=False).fit(X, y)
    cold = LinearMachine(loss=loss, fit_intercept=False, tol=1e-9).fit(X, y)
    assert one.intercept_[0] == 0.0
    np.testing.assert_allclose(one.coef_, cold.coef_, atol=1e-4)


@every_loss
@pytest.mark.parametrize("penalty", COUNTING)
def test_counting_penalties_end_where_no_tangent_leads_further(loss, penalty):
    X, y = drawn(loss, 30, 6, seed=3)
    fitted, rho = machine(loss, penalty, C=2.0, tol=1e-8).fit(X, y), COUNTING[penalty]
    w, b = weights_of(fitted)
    c, ridge = np.full(len(y), 2.0), 0.5 * (1 - rho) * float(w @ w)
    value = naive.losses(loss, X, y, c, w, b) + ridge + rho * naive.counted(w, 5.0)
    assert fitted.objective_ == pytest.approx(value, rel=1e-5)
    slopes = rho * 5.0 * np.maximum(np.exp(-5.0 * np.abs(w)), 1e-6)
    tangent = (X, y, c, slopes, 1 - rho)
    here = naive.objective(loss, *tangent, w, b)
    least = naive.objective(loss, *tangent, *naive.minimum(loss, *tangent))
    assert here - least <= fitted.stationarity_ + 1e-6 * here
    assert 0 <= fitted.stationarity_ <= 1e-4 * fitted.objective_
    assert fitted.duality_gap_ is None and fitted.dual_objective_ is None


def test_stationarity_is_what_a_run_that_ends_early_leaves():
    X, y = drawn("logistic", 30, 6, seed=3)
    fitted = machine("logistic", "l0", C=2.0, tol=0.3).fit(X, y)
    w, b = weights_of(fitted)
    slopes = 5.0 * np.maximum(np.exp(-5.0 * np.abs(w)), 1e-6)
    tangent = (X, y, np.full(len(y), 2.0), slopes, 0.0)
    here = naive.objective("logistic", *tangent, w, b)
    least = naive.objective("logistic", *tangent, *naive.minimum("logistic", *tangent))
    assert 1e-4 * here < here - least <= fitted.stationarity_ * (1 + 1e-9)


def test_rescaling_is_the_iteration_of_its_formula():
    X, y = drawn("squared", 40, 6, seed=4)
    X = X - X.mean(axis=0)
    fitted = LinearMachine(0.5, loss="squared", penalty="arom", tol=1e-10).fit(X, y)
    expected = naive.rescaled_ridge(X, y, 0.5, 60)
    np.testing.assert_allclose(fitted.coef_[0], expected, atol=2e-3 * np.abs(expected).max())
    assert (fitted.coef_[0] == 0).any() and fitted.stationarity_ <= 1e-3


# ------------------------------------------------------------------------------------- neighbours


def test_cells_of_the_hinge_are_the_sparse_machines(wdbc):
    X, y = wdbc
    ours = LinearMachine(0.1, loss="hinge", penalty="l1").fit(X, y)
    np.testing.assert_allclose(ours.coef_, L1SVM(C=0.1).fit(X, y).coef_, atol=1e-7)
    nu = 2.0
    rho = nu / (1 + nu)
    mixed = {"loss": "hinge", "l1_ratio": rho, "C": 0.1 / (1 + nu), "tol": 1e-6}
    ours = LinearMachine(penalty="l1l2", **mixed).fit(X, y)
    theirs = L1L2SVM(C=0.1, nu=nu).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert ours.objective_ == pytest.approx(theirs.objective_ / (1 + nu))
    ours = LinearMachine(penalty="l0l2", **mixed).fit(X, y)
    theirs = L0L2SVM(C=0.1, nu=nu, start="zero", tol=1e-6).fit(X, y)
    assert ours.objective_ == pytest.approx(theirs.objective_ / (1 + nu), rel=0.03)
    ours = LinearMachine(0.1, loss="hinge", penalty="arom").fit(X, y)
    np.testing.assert_allclose(ours.coef_, AROM(C=0.1).fit(X, y).coef_, atol=1e-3)
    ours = LinearMachine(0.1, loss="hinge", penalty="l0").fit(X, y)
    assert ours.objective_ == pytest.approx(FSV(C=0.1).fit(X, y).objective_, rel=0.03)
    ours = LinearMachine(0.1, loss="hinge", penalty="l2").fit(X, y)
    theirs = SVC(kernel="linear", C=0.1, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_logistic_cells_are_those_of_scikit_learn(wdbc):
    X, y = wdbc
    for penalty, params in {
        "l2": {},
        "l1": {"penalty": "l1", "solver": "saga"},
        "l1l2": {"penalty": "elasticnet", "solver": "saga", "l1_ratio": 0.4},
    }.items():
        ours = machine("logistic", penalty, C=0.05).fit(X, y)
        theirs = LogisticRegression(C=0.05, tol=1e-7, max_iter=20_000, **params).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)


def test_squared_hinge_with_l1_is_that_of_liblinear(wdbc):
    X, y = wdbc
    ours = machine("squared_hinge", "l1", C=0.02).fit(X, y)
    theirs = LinearSVC(
        penalty="l1", dual=False, C=0.02, tol=1e-7, intercept_scaling=300.0, max_iter=100_000
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_regressions_are_those_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X, n, C = StandardScaler().fit_transform(X) + 3.0, len(y), 0.0005
    for penalty, theirs in {
        "l1": Lasso(alpha=1 / (2 * n * C), tol=1e-8),
        "l1l2": ElasticNet(alpha=1 / (2 * n * C), l1_ratio=0.4, tol=1e-8),
        "l2": Ridge(alpha=1 / (2 * C)),
    }.items():
        ours = LinearMachineRegressor(C, penalty=penalty, l1_ratio=0.4, tol=1e-11).fit(X, y)
        theirs.fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        assert ours.intercept_ == pytest.approx(theirs.intercept_)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    assert isinstance(ours.intercept_, float) and ours.coef_.shape == (10,)


def test_a_wide_tube_is_ignored():
    X, y = drawn("tube", 40, 4)
    tube = LinearMachineRegressor(loss="squared_epsilon_insensitive", epsilon=100.0).fit(X, y)
    assert not tube.coef_.any() and tube.objective_ == 0.0


# ------------------------------------------------------------------------------- weights and tables


@every_loss
@pytest.mark.parametrize("penalty", ["l1l2", "l0", "arom"])
def test_weights_are_repetitions_and_sparse_is_dense(loss, penalty):
    X, y = drawn(loss, 24, 4, seed=6)
    X = np.where(np.abs(X) < 0.6, 0.0, X)
    times = np.arange(24) % 3
    weighted = machine(loss, penalty, C=0.2).fit(X, y, sample_weight=times)
    repeated = machine(loss, penalty, C=0.2).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    if penalty != "arom":  # its spread of sparse features is not that of shifted ones
        thin = machine(loss, penalty, C=0.2).fit(sparse.coo_array(X), y, sample_weight=times)
        np.testing.assert_allclose(thin.coef_, weighted.coef_, atol=1e-4)
        np.testing.assert_allclose(
            thin.predict(sparse.csc_array(X)), weighted.predict(X), atol=1e-3
        )


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_classes_have_weights_and_machines_of_their_own(loss):
    X, y = load_iris(return_X_y=True)
    three = machine(loss, "l1l2", class_weight={0: 1.0, 1: 2.0, 2: 0.5}).fit(X, y)
    weight = np.array([1.0, 2.0, 0.5])[y]
    for k in range(3):
        one = machine(loss, "l1l2").fit(X, y == k, sample_weight=weight)
        np.testing.assert_allclose(three.coef_[k], one.coef_[0], atol=1e-5)
    assert three.objective_.shape == three.duality_gap_.shape == (3,)
    if loss == "logistic":
        np.testing.assert_allclose(three.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_shifted_features_change_the_intercept_only(loss):
    X, y = drawn(loss, 30, 4, seed=7)
    near, far = machine(loss, "l1l2").fit(X, y), machine(loss, "l1l2").fit(X + 1e5, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-5)
    np.testing.assert_allclose(far.predict(X + 1e5), near.predict(X), atol=1e-4)
    path = machine(loss, "l1l2").path(X + 1e5, y, Cs=[0.5])
    np.testing.assert_allclose(path.intercepts[0], np.ravel(far.intercept_)[0], rtol=1e-8)


# ------------------------------------------------------------------------------------------- paths


@pytest.mark.parametrize(("loss", "penalty"), [("hinge", "l1"), ("logistic", "l1l2")])
def test_path_equals_separate_fits(loss, penalty, wdbc):
    X, y = wdbc
    model = machine(loss, penalty, tol=1e-7)
    path = model.path(X, y, n_values=5, span=300.0)
    assert not hasattr(model, "n_features_in_")
    assert path.n_nonzero[0] == 0 and path.n_nonzero[-1] > 5
    for k, C in enumerate(path.Cs):
        one = clone(model).set_params(C=C).fit(X, y)
        assert path.objectives[k] == pytest.approx(one.objective_, rel=1e-6)
        np.testing.assert_allclose(path.coefs[k], one.coef_[0], atol=1e-3)
        np.testing.assert_allclose(path.intercepts[k], one.intercept_[0], atol=1e-3)
    assert (path.gaps <= 1e-7 * path.objectives).all() and set(path.statuses) == {"converged"}


def test_path_begins_where_the_first_feature_enters():
    X, y = load_diabetes(return_X_y=True)
    model = LinearMachineRegressor(penalty="l1")
    first = model.path(X, y, n_values=1).Cs[0]
    path = model.path(X, y, Cs=[first * 1.01, first * 0.99])
    assert path.n_nonzero.tolist() == [0, 1] and path.coefs.shape == (2, 10)
    np.testing.assert_allclose(path.intercepts, y.mean(), rtol=0.05)


@pytest.mark.parametrize("penalty", ["l2", "arom"])
def test_path_without_a_first_feature_has_the_values_asked_for(penalty):
    X, y = load_diabetes(return_X_y=True)
    model = LinearMachineRegressor(penalty=penalty)
    np.testing.assert_allclose(
        model.path(X, y, n_values=3, span=100.0).Cs, [0.1, 1.0, 10.0], rtol=1e-12
    )
    assert model.path(X, y, n_values=1).Cs.tolist() == [1.0]


@pytest.mark.parametrize("shape", [(20, 50), (50, 20)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_ridge_is_the_solution_of_its_normal_equations(shape, kind, shift):
    """By samples or by features, with means that are subtracted first and means that are not."""
    rng = np.random.default_rng(8)
    X, y, c = rng.normal(size=shape) + shift, rng.normal(size=shape[0]), rng.uniform(size=shape[0])
    fitted = LinearMachineRegressor(0.3, tol=1e-12).fit(kind(X), y, sample_weight=c)
    A = np.column_stack([X, np.ones(shape[0])])
    system = A.T @ (2 * 0.3 * c[:, None] * A)
    system[np.arange(shape[1]), np.arange(shape[1])] += 1.0
    expected = np.linalg.solve(system, A.T @ (2 * 0.3 * c * y))
    np.testing.assert_allclose(fitted.coef_, expected[:-1], atol=1e-7)
    assert fitted.intercept_ == pytest.approx(expected[-1], abs=1e-5)
    assert fitted.status_ == "converged"


def test_logistic_loss_of_large_values_stays_finite():
    """Against the definition, where it does not overflow, and its limits."""
    y, f = np.array([1.0, -1.0, 1.0, -1.0, 1.0]), np.array([0.3, 0.7, -1e4, -1e4, 40.0])
    loss = LogisticLoss()
    np.testing.assert_allclose(
        loss.value(y, f),
        [np.log(1 + np.exp(-0.3)), np.log(1 + np.exp(0.7)), 1e4, 0.0, np.exp(-40.0)],
        rtol=1e-12,
    )
    pulls, curvatures = loss.slopes(y, f)
    np.testing.assert_allclose(
        pulls,
        [1 / (1 + np.exp(0.3)), -1 / (1 + np.exp(-0.7)), 1.0, 0.0, np.exp(-40.0)],
        rtol=1e-12,
        atol=1e-300,
    )
    expected = np.exp(-np.abs(f)) / (1 + np.exp(-np.abs(f))) ** 2
    np.testing.assert_allclose(curvatures, expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(loss.bound(np.ones(3), np.array([0.0, 0.5, 1.0])), [0, np.log(2), 0])


def test_path_of_several_classes_and_of_a_counting_penalty():
    X, y = load_iris(return_X_y=True)
    path = machine("squared_hinge", "l0", tol=1e-6).path(X, y, Cs=[0.1, 1.0])
    assert path.coefs.shape == (2, 3, 4) and path.gaps is None
    assert path.plot(names=list("abcd")).get_xlabel() == "C"
    with pytest.raises(ValueError, match="3 names for 4 features"):
        path.plot(names=list("abc"))


def test_a_path_needs_a_feature_that_varies():
    with pytest.raises(ValueError, match="No feature enters the path"):
        machine("logistic", "l1").path(np.ones((8, 2)), np.arange(8) % 2)
    with pytest.raises(ValueError, match="must hold positive"):
        machine("logistic", "l1").path(np.eye(8), np.arange(8) % 2, Cs=[-1.0])


def test_warm_start_begins_at_the_last_fit(wdbc):
    X, y = wdbc
    cold = machine("logistic", "l1", C=1.0).fit(X, y)
    warm = machine("logistic", "l1", C=0.98, warm_start=True).fit(X, y).set_params(C=1.0).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-4)


# --------------------------------------------------------------------------------- use and mistakes


def test_as_a_selector(wdbc):
    X, y = wdbc
    model = machine("logistic", "l1", C=0.1)
    chosen = SelectFromModel(model).fit(X, y)
    np.testing.assert_array_equal(chosen.get_support(), model.fit(X, y).coef_[0] != 0)
    assert (
        RFE(machine("squared_hinge", "l2"), n_features_to_select=3, step=9).fit(X, y).n_features_
        == 3
    )


@pytest.mark.parametrize("loss", ["logistic", "tube"])
def test_saved_and_loaded(loss, tmp_path):
    X, y = drawn(loss)
    fitted = machine(loss, "l1").fit(X, y)
    again = tamiz.load(tamiz.save(fitted, tmp_path / "machine"))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    path = fitted.path(X, y, Cs=[0.1, 1.0])
    np.testing.assert_array_equal(tamiz.load(tamiz.save(path, tmp_path / "path")).coefs, path.coefs)


def test_probabilities_are_those_of_the_logistic_loss_only():
    X, y = drawn("hinge")
    assert not hasattr(machine("hinge", "l2"), "predict_proba")
    with pytest.raises(AttributeError) as caught:
        machine("squared", "l2").fit(X, y).predict_proba(X)
    assert 'Use loss="logistic"' in str(caught.value.__cause__)


def test_a_likelihood_needs_two_classes():
    X, y = drawn("logistic")
    with pytest.raises(ValueError, match="give both classes a positive weight"):
        machine("logistic", "l1", class_weight={-1.0: 0.0}).fit(X, y)


@pytest.mark.parametrize(("name", "value"), [("l1_ratio", 1.5), ("a", 0.0), ("max_iter", 0)])
def test_absurd_parameters_are_refused(name, value):
    X, y = drawn("hinge")
    with pytest.raises(ValueError, match=f"'{name}' parameter of LinearMachine"):
        machine("logistic", "l0l2", **{name: value}).fit(X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("penalty", ["l2", "l1", "l1l2", "l0", "l0l2"])
@every_loss
def test_features_without_information_have_no_weight(loss, penalty):
    X, y = np.full((12, 2), 7.0), drawn(loss, 12)[1]
    fitted = machine(loss, penalty).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, 0.0, atol=1e-9)
    assert np.isfinite(fitted.predict(X)).all()


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_says_when_the_iterations_do_not_suffice(penalty, wdbc):
    with pytest.warns(ConvergenceWarning, match=r"stopped \(max_iter\)") as caught:
        fitted = machine("logistic", penalty, C=10.0, max_iter=1).fit(*wdbc)
    assert caught[0].filename == __file__ and 0 < fitted.duality_gap_ < np.inf


@pytest.mark.parametrize("penalty", ["l1", "l2", "l0", "arom"])
def test_interruption_keeps_what_was_reached(penalty, wdbc):
    X, y = wdbc
    told = pytest.warns(ConvergenceWarning, match="interrupted; the result so far is kept")
    with interrupted(newton, "_along", at=3), told:
        fitted = machine("logistic", penalty, C=0.5).fit(X, y)
    assert fitted.status_ == "interrupted" and fitted.score(X, y) > 0.9
    assert np.isfinite(fitted.objective_)


def test_interrupted_path_keeps_the_values_done(wdbc):
    model = machine("squared_hinge", "l1", tol=1e-4)
    with (
        interrupted(newton, "_on_working_set", at=4),
        pytest.warns(ConvergenceWarning, match="kept"),
    ):
        path = model.path(*wdbc, n_values=8)
    assert 0 < len(path.Cs) < 8 and len(path.coefs) == len(path.Cs)


def test_signs_are_solved_for_without_raising_the_objective():
    """The quadratic of a Newton step against plain coordinate descent to the end."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(8, 12))
    G, q = A.T @ A, 3.0 * rng.normal(size=12)
    q = G @ q  # in the range of G, as the pulls of losses are
    lam, mu, w = np.full(12, 2.0), np.zeros(12), np.zeros(12)
    z = quadratic.minimise_quadratic(G, q, w, lam, mu, 1e-12)
    slow = w.copy()
    for _ in range(3000):
        for j in range(12):
            u = q[j] - G[j] @ slow + G[j, j] * slow[j]
            slow[j] = np.sign(u) * max(abs(u) - 2.0, 0.0) / G[j, j]

    def value(x):
        return 0.5 * x @ G @ x - q @ x + 2.0 * np.abs(x).sum()

    assert value(z) == pytest.approx(value(slow), rel=1e-6)


def test_a_start_that_overshoots_gives_no_false_bound():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 160))
    y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(120)
    cold = LinearMachineRegressor(penalty="l1", C=0.05).fit(X, y)
    warm = LinearMachineRegressor(penalty="l1", C=0.05, warm_start=True).fit(X, 10 * y).fit(X, y)
    assert warm.dual_objective_ <= cold.objective_ * (1 + 1e-9)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-5)
