"""The kernel-penalised machine: its limit, its gradient, its stop, the pair."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tamiz.embedded import KPSVM
from tamiz.embedded.scaling.kp_svm import PenalisedOptimum
from tamiz.embedded.scaling.path import Domain, Point, Rule, ScalingPlan, _close_stage, begin
from tamiz.kernels import RBF
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
from tests.naive.scaling import dual_optimum, gaussian


@pytest.mark.parametrize("classes", [2, 3])
def test_gradient_is_that_of_the_resolved_problem(classes):
    objective = PenalisedOptimum(RBF(gamma=1.0), sample(2, classes=classes), 0.7, 3.0)
    v = np.array([0.8, 0.5, 0.2, 0.4])
    here = objective.at(v)
    gradient = here.gradient() + here.toll
    np.testing.assert_allclose(gradient, differences(objective, v), rtol=1e-5, atol=1e-6)


def test_objective_by_its_definition():
    X, y = clouds(0, n=30, noise=3)
    selector = KPSVM(C=1.5, penalty=0.4, beta=2.0).fit(X, y)
    v = selector.scale_
    K = gaussian(X, v)
    value = dual_optimum(K, np.where(y == 1, 1.0, -1.0), np.full(30, 1.5))
    assert selector.objective_ == pytest.approx(value + 0.4 * np.sum(1 - np.exp(-2 * v)), rel=1e-5)
    np.testing.assert_allclose(selector.kernel_(X * v), K, rtol=1e-10)
    used = v > 0
    np.testing.assert_allclose(
        selector.kernel_(X[:, [0]] * v[0]), RBF(width=selector.widths_[0])(X[:, [0]]), rtol=1e-10
    )
    assert np.isinf(selector.widths_[~used]).all()


def test_equal_widths_without_penalty_are_the_gaussian_machine():
    X, y = clouds(0, n=80, noise=4)
    selector = KPSVM(6, C=3.0, gamma=0.2, penalty=0.0, max_iter=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        selector.fit(X, y)
    machine = SVC(C=3.0, gamma=0.2).fit(X, y)
    np.testing.assert_allclose(selector.scale_, np.sqrt(0.2))
    np.testing.assert_allclose(
        selector.decision_function(X), machine.decision_function(X), atol=1e-7
    )
    assert selector.objective_ == pytest.approx(machine.dual_objective_, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit_total", [True, False])
def test_finds_the_pair_that_matters_only_together(seed, limit_total):
    X, y = clouds(seed)
    selector = KPSVM(limit_total=limit_total).fit(X, y)
    assert set(selector.order_[:2]) == {0, 1}
    assert 2 <= selector.support_.sum() <= 12
    check_common(selector, X, y)
    total = np.sum(selector.scale_**2)
    start = 1.0 / (52 * X.var()) * 52
    assert (total <= start * (1 + 1e-9)) or not limit_total


def test_stops_before_the_objective_rises():
    X, y = clouds(1, n=150, noise=15)
    selector = KPSVM(tol=1e-4).fit(X, y)
    values = {step.n_features: step.value for step in selector.selection_.path}
    sizes = sorted(values, reverse=True)
    n = int(selector.support_.sum())
    assert values[n] == pytest.approx(selector.objective_)
    least = np.inf
    for size in sizes:
        if size < n:
            assert values[size] > least * (1 + 1e-4)
            break
        assert values[size] <= least * (1 + 1e-4)
        least = min(least, values[size])


@pytest.mark.parametrize(
    ("rule", "chosen"), [(Rule.FIRST, 0), (Rule.LEAST, 3), (Rule.IMPROVING, 1)]
)
def test_rules_of_stopping(rule, chosen):
    plan = ScalingPlan(Domain(), rule, None, lambda n: 1, 10, 1e-3)
    state = begin(plan, np.ones(5, dtype=bool))
    state.history = [20.0]
    for stage, value in enumerate([10.0, 9.0, 11.0, 8.0, 30.0]):
        state.stage = stage
        sigma = np.full(5, float(stage + 1))
        _close_stage(plan, state, Point(sigma, value, np.zeros(5), np.zeros(5), 0.0))
    assert state.chosen[0] == chosen + 1
    assert state.history == [20.0, 10.0, 9.0, 8.0]


@pytest.mark.parametrize("limit", [0.5, 1.0])
def test_rates_stay_below_the_limit(limit):
    X, y = clouds(1, n=100, noise=4)
    free = KPSVM(gamma=0.25, limit_total=False).fit(X, y)
    assert free.scale_.max() > 0.5
    selector = KPSVM(gamma=0.25, max_factor=limit).fit(X, y)
    assert selector.scale_.max() == pytest.approx(0.5 * limit)
    assert set(selector.order_[:2]) == {0, 1}
    assert (np.diff(selector.history_) <= 0).all()
    check_common(selector, X, y)


def test_a_limit_that_is_not_reached_changes_nothing():
    X, y = clouds(1, n=80, noise=5)
    free = KPSVM(limit_total=False).fit(X, y)
    wide = KPSVM(max_factor=1e3).fit(X, y)
    np.testing.assert_array_equal(wide.scale_, free.scale_)
    np.testing.assert_array_equal(wide.history_, free.history_)


def test_the_end_of_a_descent_in_the_box_is_stationary():
    X, y = clouds(1, n=60, noise=2)
    selector = KPSVM(4, gamma=0.3, max_factor=1.0, penalty=0.0, tol=1e-9, max_iter=3000).fit(X, y)
    top = np.sqrt(0.3)
    signs = np.where(y == 1, 1.0, -1.0)

    def value(v):
        return dual_optimum(gaussian(X, v), signs, np.ones(60))

    slope = np.array(
        [(value(selector.scale_ + h) - value(selector.scale_ - h)) / 2e-4 for h in 1e-4 * np.eye(4)]
    )
    inside = (selector.scale_ > 0) & (selector.scale_ < top)
    assert (selector.scale_ == top).any()
    assert (np.abs(slope[inside]) < 1e-2 * selector.objective_).all()
    assert (slope[selector.scale_ == top] < 1e-2 * selector.objective_).all()


def test_larger_penalty_keeps_fewer():
    X, y = clouds(2, n=150, noise=15)
    sizes = [
        int(np.count_nonzero(KPSVM(17, penalty=c).fit(X, y).scale_)) for c in (0.0, 0.3, 3.0, 1e6)
    ]
    assert sizes[0] >= sizes[1] >= sizes[2] >= sizes[3] >= 1
    assert sizes[0] > sizes[3]


def test_a_penalty_beyond_all_reason_leaves_one_feature():
    X, y = clouds(0, n=60, noise=4)
    selector = KPSVM(penalty=1e6).fit(X, y)
    assert selector.support_.sum() == 1
    assert np.isfinite(selector.decision_function(X)).all()


def test_rates_below_the_threshold_are_dropped():
    X, y = clouds(0, n=100, noise=10)
    selector = KPSVM(12, epsilon=0.2, penalty=0.05).fit(X, y)
    positive = selector.scale_[selector.scale_ > 0]
    assert positive.min() >= 0.2 * np.sqrt(1.0 / (12 * X.var()))
    domain = Domain(1.0, floor=0.5)
    np.testing.assert_array_equal(domain.project(np.array([0.4, 0.6]), np.ones(2)), [0.0, 0.6])


def test_automatic_numbers():
    X, y = clouds(0, n=60, noise=4)
    X = np.hstack([X, np.ones((60, 1))])  # a constant feature costs nothing
    selector = KPSVM(gamma=0.25).fit(X, y)
    machine = SVC(gamma=0.25).fit(X, y)
    assert selector.beta_ == pytest.approx(2.0)
    assert selector.penalty_ == pytest.approx(0.1 * machine.dual_objective_ / 6, rel=1e-6)
    assert selector.order_[-1] == 6


@pytest.mark.parametrize("n", [70, 150])  # solved to rounding level, and not
def test_resumes_where_it_stopped(tmp_path, n):
    X, y = clouds(0, n=n, noise=8)
    check_resuming(KPSVM, X, y, tmp_path)


def test_interrupted_at_once():
    check_interrupted_at_once(lambda: KPSVM(penalty=0.1))


def test_features_beyond_those_kept_have_no_width():
    X, y = clouds(0, n=60, noise=4)
    selector = KPSVM(6, penalty=1.0).fit(X, y)
    assert selector.support_.all() and not selector.scale_.all()
    np.testing.assert_array_equal(np.isinf(selector.widths_), selector.scale_ == 0)


def test_machines_that_fail_are_reported(monkeypatch):
    check_failed_machines(KPSVM, monkeypatch)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"penalty": -1.0}, "'penalty'"),
        ({"beta": 0.0}, "'beta'"),
        ({"epsilon": 1.0}, "'epsilon'"),
        ({"gamma": 0.0}, "'gamma'"),
        ({"max_factor": 0.0}, "'max_factor'"),
        ({"max_factor": 1e-200}, "max_factor is 1e-200, too extreme"),
    ],
)
def test_wrong_parameters_get_a_sentence(params, words):
    X, y = clouds(0, n=30, noise=2)
    with pytest.raises(ValueError, match=words):
        KPSVM(**params).fit(X, y)


def test_estimator_checks():
    assert_every_check_passes(KPSVM())


def test_features_too_large_for_rates_are_refused():
    X, y = clouds(0, n=30)
    near = KPSVM(2).fit(X, y)
    assert KPSVM(2).fit(1e60 * X, y).order_.tolist() == near.order_.tolist()
    with pytest.raises(ValueError, match="very large values"):
        KPSVM(2).fit(1e120 * X, y)
