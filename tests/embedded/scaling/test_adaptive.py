"""Adaptive scaling: the dual optimum and its gradient, feasibility, the ℓ1 machine, the pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import AdaptiveScaling
from tamiz.embedded.scaling import path
from tamiz.embedded.scaling.machines import DualOptimum, Sample
from tamiz.embedded.scaling.path import Domain, onto_capped_simplex, onto_simplex
from tamiz.kernels import RBF, Linear, Polynomial
from tamiz.svm import SVC
from tests.checks import assert_every_check_passes
from tests.embedded.scaling.cases import (
    check_common,
    check_failed_machines,
    check_interrupted_at_once,
    check_resuming,
    clouds,
    differences,
    sample,
)
from tests.naive.scaling import dual_optimum, gaussian, inner_products, squared_l1_machine

KERNELS = [
    Linear(),
    RBF(gamma=0.3),
    Polynomial(degree=3, gamma=0.5, coef0=1.0),
    0.5 * RBF(gamma=0.2) + Polynomial(degree=2) * RBF(gamma=0.1),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
def test_gradient_is_that_of_the_resolved_problem(kernel, classes):
    objective = DualOptimum(kernel, sample(1, classes=classes))
    sigma = np.array([1.1, 0.6, 0.3, 0.9])
    gradient = objective.at(sigma).gradient()
    np.testing.assert_allclose(
        gradient, differences(objective, sigma), rtol=1e-5, atol=1e-5 * np.abs(gradient).max()
    )


def test_derivative_by_the_square_exists_at_zero():
    objective = DualOptimum(RBF(gamma=0.5), sample(1))
    domain = Domain()
    sigma = np.array([1.0, 0.0, 0.5, 0.0])
    slope = domain.slope(sigma, objective.at(sigma).gradient())
    h = 1e-6
    for j in (1, 3):
        nudged = sigma.copy()
        nudged[j] = np.sqrt(h)
        rise = (objective.at(nudged).value - objective.at(sigma).value) / h
        assert slope[j] == pytest.approx(rise, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_value_is_that_of_a_general_optimiser(seed):
    data = sample(seed, n=12)
    signs = np.where(data.labels.codes == 1, 1.0, -1.0)
    v = np.array([0.9, 0.2, 0.5, 0.7])
    value = DualOptimum(RBF(gamma=1.0), data).at(v).value
    assert value == pytest.approx(dual_optimum(gaussian(data.X, v), signs, data.penalty), rel=1e-6)
    value = DualOptimum(Linear(), data).at(v).value
    K = inner_products(data.X, v)
    assert value == pytest.approx(dual_optimum(K, signs, data.penalty), rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_projection_is_the_nearest_point(seed):
    rng = np.random.default_rng(seed)
    u, penalty = rng.standard_normal(5), rng.uniform(0.2, 3.0, 5)
    if seed % 2:
        u[1] = u[3]
        penalty[1] = penalty[3]
    v = onto_simplex(u, penalty, 2.0)
    assert (v >= 0).all()
    assert penalty @ v == pytest.approx(2.0)
    other = minimize(
        lambda z: np.sum((z - u) ** 2),
        np.full(5, 2.0 / penalty.sum()),
        bounds=[(0, None)] * 5,
        constraints=[{"type": "eq", "fun": lambda z: penalty @ z - 2.0}],
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(v, other.x, atol=1e-5)


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("at_most", [False, True])
def test_projected_points_are_feasible(q, at_most):
    rng = np.random.default_rng(0)
    for _ in range(50):
        domain = Domain(q=q, total=3.0, at_most=at_most)
        sigma = domain.feasible(rng.uniform(0.1, 1.0, 6))
        v = domain.project(sigma**2 - rng.exponential() * rng.standard_normal(6), sigma**2)
        total = np.sum(v ** (q / 2))
        assert (v >= 0).all()
        assert total <= 3.0 * (1 + 1e-12)
        assert at_most or total == pytest.approx(3.0)


@pytest.mark.parametrize("C", [0.05, 0.5])
def test_linear_kernel_gives_the_machine_with_the_squared_l1_norm(C):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 6))
    y = X[:, 0] - 0.7 * X[:, 1] + 0.8 * rng.standard_normal(40) > 0
    signs = np.where(y, 1.0, -1.0)
    value, w = squared_l1_machine(X, signs, C, np.sqrt(6))
    selector = AdaptiveScaling(kernel="linear", C=C, tol=1e-9, max_iter=5000).fit(X, y)
    assert selector.objective_ == pytest.approx(value, rel=1e-4)
    ours = selector.scale_[selector.support_] * selector.estimator_.coef_[0]
    np.testing.assert_allclose(ours, w[selector.support_], atol=0.02 * np.abs(w).max())
    assert np.abs(w[~selector.support_]).max(initial=0.0) < 0.01 * np.abs(w).max()
    # factors are proportional to the root of the weights
    share = selector.scale_[selector.support_] ** 2 / 6
    np.testing.assert_allclose(share, np.abs(ours) / np.abs(ours).sum(), atol=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_finds_the_pair_that_matters_only_together(seed):
    X, y = clouds(seed, n=250, noise=30)
    for selector in (
        AdaptiveScaling(step="half"),
        AdaptiveScaling(q=1, constraint="at_most", step="half"),
    ):
        selector.fit(X, y)
        assert set(selector.order_[:2]) == {0, 1}
        assert selector.support_[:2].all() and not selector.support_.all()
        check_common(selector, X, y)


def test_linear_kernel_cannot_find_it():
    for seed in range(3):
        X, y = clouds(seed, n=200, noise=20)
        selector = AdaptiveScaling(kernel="linear", step="half").fit(X, y)
        assert set(selector.order_[:2]) != {0, 1}


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("sigma0", [None, 2.0])
@pytest.mark.parametrize("constraint", ["equal", "at_most"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_factors_stay_on_the_sphere(q, sigma0, constraint, kernel):
    data = sample(4, n=30, p=6)
    selector = AdaptiveScaling(q=q, sigma0=sigma0, constraint=constraint, kernel=kernel)
    selector.fit(data.X, data.labels.codes)
    norm = np.sum(selector.scale_**q) ** (1 / q)
    wanted = 6 ** (1 / q) if sigma0 is None else sigma0
    assert norm <= wanted * (1 + 1e-9)
    if constraint == "equal" or kernel == "linear":
        assert norm == pytest.approx(wanted, rel=1e-6 if constraint == "equal" else 1e-2)
    assert (np.diff(selector.history_) < 0).all()


def test_objective_is_that_of_the_machine():
    X, y = clouds(0, n=90, noise=5)
    selector = AdaptiveScaling(C=2.0, gamma=0.2).fit(X, y)
    assert selector.estimator_.dual_objective_ == pytest.approx(selector.objective_, rel=1e-6)
    start = SVC(C=2.0, gamma=0.2).fit(X, y)
    assert selector.history_[0] == pytest.approx(start.dual_objective_, rel=1e-6)


def test_features_beyond_the_optimum_enter_by_rank():
    X, y = clouds(0, n=200, noise=20)
    own = AdaptiveScaling().fit(X, y)
    n_own = int(own.support_.sum())
    more = AdaptiveScaling(n_own + 5).fit(X, y)
    assert more.support_.sum() == n_own + 5
    np.testing.assert_array_equal(np.flatnonzero(more.scale_), np.flatnonzero(own.scale_))
    np.testing.assert_allclose(more.decision_function(X), own.decision_function(X), atol=1e-6)


def test_weights_count_samples():
    data = sample(3, n=20)
    weight = np.random.default_rng(0).integers(0, 4, 20)
    again = np.repeat(np.arange(20), weight)
    sharp = {"tol": 1e-9, "max_iter": 5000}  # how far a descent comes is up to rounding
    a = AdaptiveScaling(**sharp).fit(data.X, data.labels.codes, sample_weight=weight)
    b = AdaptiveScaling(**sharp).fit(data.X[again], data.labels.codes[again])
    np.testing.assert_array_equal(a.order_, b.order_)
    np.testing.assert_allclose(a.scale_, b.scale_, rtol=1e-3, atol=1e-5)


def test_class_weights_are_factors_of_C():
    data = sample(3, n=30)
    codes = data.labels.codes
    a = AdaptiveScaling(class_weight={0: 1.0, 1: 3.0}).fit(data.X, codes)
    objective = DualOptimum(
        a.kernel_, Sample(data.X, data.labels, np.ones(30), np.where(codes == 1, 3.0, 1.0))
    )
    assert objective.at(a.scale_).value == pytest.approx(a.objective_, rel=1e-6)


@pytest.mark.parametrize("n", [70, 150])  # solved to rounding level, and not
def test_resumes_where_it_stopped(tmp_path, n):
    X, y = clouds(0, n=n, noise=8)
    check_resuming(AdaptiveScaling, X, y, tmp_path)


def test_interrupted_at_once():
    check_interrupted_at_once(AdaptiveScaling)


@pytest.mark.parametrize(("C", "kernel"), [(0.1, "linear"), (10.0, "linear"), (10.0, "rbf")])
def test_the_selection_does_not_depend_on_where_the_descent_was_cut(C, kernel):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[::3], y[::3]
    rough = AdaptiveScaling(C=C, kernel=kernel, step="half").fit(X, y)
    sharp = AdaptiveScaling(C=C, kernel=kernel, step="half", tol=1e-7).fit(X, y)
    assert rough.status_ == sharp.status_ == "converged"
    np.testing.assert_array_equal(rough.support_, sharp.support_)
    assert rough.objective_ == pytest.approx(sharp.objective_, rel=1e-4)


@pytest.mark.parametrize("constraint", ["equal", "at_most"])
@pytest.mark.parametrize("q", [1.0, 2.0])
def test_no_further_step_at_the_end_of_the_first_descent(q, constraint):
    """By differences: neither more nor less of any factor would pay, and zeros hold."""
    data = sample(4, n=50, p=6)
    selector = AdaptiveScaling(q=q, constraint=constraint, kernel="linear", C=0.3)
    selector.fit(data.X, data.labels.codes)
    objective = DualOptimum(Linear(), data._replace(penalty=np.full(50, 0.3)))
    sigma = selector.scale_
    used = sigma > 0
    slope = differences(objective, sigma[:]) / np.maximum(q * sigma ** (q - 1.0), 1e-300)
    # on the sphere the slopes by sigma**q are all the same
    np.testing.assert_allclose(slope[used], slope[used].mean(), rtol=0.02)
    if q == 2.0:
        nudged = np.where(used, sigma, 1e-4)
        rise = [
            (objective.at(np.where(np.arange(6) == j, nudged, sigma)).value - selector.objective_)
            / 1e-8
            for j in np.flatnonzero(~used)
        ]
        assert all(r > slope[used].mean() for r in rise)


def test_the_model_is_that_of_the_moves():
    """The matrix maps every remembered move to the change of the slope, the last one exactly."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 5))
    H = A @ A.T + np.eye(5)
    S = rng.standard_normal((5, 5))
    memory = np.stack([S, S @ H], axis=1)
    times = path._Matrix(memory[:, 0], memory[:, 1])
    np.testing.assert_allclose(times(S[-1]), H @ S[-1], rtol=1e-8)
    # its minimum over the orthant, by another optimiser
    u, slope = np.abs(rng.standard_normal(5)), rng.standard_normal(5)
    low = path._lowest(u, slope, memory, lambda aim: np.maximum(aim, 0.0))
    other = minimize(
        lambda v: slope @ (v - u) + 0.5 * (v - u) @ times(v - u),
        u,
        bounds=[(0, None)] * 5,
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    np.testing.assert_allclose(low, other.x, atol=1e-4)


def test_machines_that_fail_are_reported(monkeypatch):
    check_failed_machines(AdaptiveScaling, monkeypatch)


@pytest.mark.parametrize(
    ("params", "words"),
    [({"q": 0.02}, "'q'"), ({"q": 3}, "'q'"), ({"sigma0": 0.0}, "'sigma0'"), ({"C": -1}, "'C'")],
)
def test_wrong_parameters_get_a_sentence(params, words):
    X, y = clouds(0, n=30, noise=2)
    with pytest.raises(ValueError, match=words):
        AdaptiveScaling(**params).fit(X, y)


def test_estimator_checks():
    # How far a descent comes is up to rounding: test_weights_count_samples asks for more steps.
    not_met = ["check_sample_weight_equivalence_on_dense_data"]
    assert_every_check_passes(AdaptiveScaling(), not_met)


# ------------------------------------------------------------------------------- a box


@given(seed=st.integers(0, 10_000), part=st.floats(0.0, 1.0))
def test_the_projection_is_the_nearest_point_of_the_capped_simplex(seed, part):
    rng = np.random.default_rng(seed)
    n, top = int(rng.integers(1, 9)), float(rng.uniform(0.1, 3.0))
    u = rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0])
    budget = part * n * top
    v = onto_capped_simplex(u, budget, top)
    assert (v >= 0).all() and (v <= top).all()
    assert v.sum() == pytest.approx(budget, abs=1e-9 * (1 + np.abs(u).max() * n))
    # no feasible point is nearer: of any two variables, none gains what the other gives up
    for _ in range(20):
        other = onto_capped_simplex(rng.normal(size=n), budget, top)
        assert (v - u) @ (other - v) >= -1e-8 * (1 + np.abs(u).max()) * n * top


def test_a_limit_that_is_not_reached_changes_nothing():
    X, y = clouds(1, n=80, noise=5)
    free = AdaptiveScaling().fit(X, y)
    wide = AdaptiveScaling(max_factor=100.0).fit(X, y)
    assert free.scale_.max() < 100
    np.testing.assert_allclose(wide.scale_, free.scale_, atol=2e-2)
    assert wide.objective_ == pytest.approx(free.objective_, rel=1e-3)


def test_factors_stay_below_the_limit_and_keep_their_norm():
    X, y = clouds(1, n=80, noise=8)
    selector = AdaptiveScaling(max_factor=1.0, sigma0=2.0, gamma=1.0).fit(X, y)
    assert selector.scale_.max() <= 1.0
    assert np.sum(selector.scale_**2) == pytest.approx(4.0)
    assert selector.scale_[:2] == pytest.approx(1.0)
    check_common(selector, X, y)
    at_most = AdaptiveScaling(max_factor=1.0, constraint="at_most", gamma=1.0).fit(X, y)
    assert at_most.scale_.max() <= 1.0
    assert at_most.history_[-1] <= at_most.history_[0]


def test_limits_that_leave_no_choice_are_refused():
    X, y = clouds(1, n=40, noise=2)
    with pytest.raises(ValueError, match=r"leaves 4 factors of norm 2 no choice.*sigma0 below 2"):
        AdaptiveScaling(max_factor=1.0).fit(X, y)
    with pytest.raises(ValueError, match="max_factor=1 needs q=2; got q=1"):
        AdaptiveScaling(q=1.0, max_factor=1.0).fit(X, y)
