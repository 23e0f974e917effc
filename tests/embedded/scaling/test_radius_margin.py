"""Scaling factors by the radius-margin bound: gradients, descent, the hidden pair, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import RadiusMarginScaling
from tamiz.embedded.scaling.machines import RadiusMargin, Sample, SpanEstimate
from tamiz.kernels import RBF, Linear, Polynomial, QuadraticForm
from tamiz.svm import SVC, radius_margin_bound, span_bound
from tamiz.validation import Labels
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
from tests.naive.scaling import gaussian, inner_products, radius_margin, smoothed_spans

KERNELS = [
    Linear(),
    RBF(gamma=0.3),
    Polynomial(degree=3, gamma=0.5, coef0=1.0),
    0.5 * RBF(gamma=0.2) + Polynomial(degree=2) * RBF(gamma=0.1),
    QuadraticForm([[2.0, 0.5, 0, 0], [0.5, 1.0, 0, 0], [0, 0, 1.0, 0.3], [0, 0, 0.3, 1.5]]),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
def test_gradient_is_that_of_the_resolved_problem(kernel, classes):
    objective = RadiusMargin(kernel, sample(classes=classes))
    sigma = np.array([1.1, 0.6, 0.3, 0.9])
    gradient = objective.at(sigma).gradient()
    np.testing.assert_allclose(
        gradient, differences(objective, sigma), rtol=1e-5, atol=1e-5 * np.abs(gradient).max()
    )


@pytest.mark.parametrize("seed", range(3))
def test_value_is_that_of_a_general_optimiser(seed):
    data = sample(seed, n=12)
    signs = np.where(data.labels.codes == 1, 1.0, -1.0)
    v = np.array([0.9, 0.2, 0.5, 0.7])
    value = RadiusMargin(RBF(gamma=1.0), data).at(v).value
    assert value == pytest.approx(radius_margin(gaussian(data.X, v), signs, data.penalty), rel=1e-5)
    value = RadiusMargin(Linear(), data).at(v).value
    assert value == pytest.approx(
        radius_margin(inner_products(data.X, v), signs, data.penalty), rel=1e-5
    )


def test_value_is_the_radius_margin_bound_of_the_machine():
    X, y = clouds(n=60, noise=3)
    svc = SVC(C=2.0, gamma=0.4, tol=1e-6).fit(X, y)
    bound = radius_margin_bound(svc, X, y, squared_slack=True)
    selector = RadiusMarginScaling(C=2.0, gamma=0.4, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        selector.fit(X, y)
    assert 4 * selector.history_[0] == pytest.approx(bound.value, rel=1e-4)


def test_weights_count_samples():
    data = sample(3, n=15)
    weight = np.random.default_rng(0).integers(1, 4, 15)
    sigma = np.array([1.0, 0.5, 0.8, 0.2])
    weighted = RadiusMargin(RBF(gamma=0.4), data._replace(weight=weight.astype(float)))
    again = np.repeat(np.arange(15), weight)
    labels = data.labels._replace(codes=data.labels.codes[again])
    repeated = RadiusMargin(
        RBF(gamma=0.4), Sample(data.X[again], labels, np.ones(len(again)), data.penalty[again])
    )
    a, b = weighted.at(sigma), repeated.at(sigma)
    assert a.value == pytest.approx(b.value, rel=1e-9)
    np.testing.assert_allclose(a.gradient(), b.gradient(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_finds_the_pair_that_matters_only_together(seed):
    X, y = clouds(seed)
    selector = RadiusMarginScaling(step="half").fit(X, y)
    assert set(selector.order_[:2]) == {0, 1}
    assert selector.support_[:2].all()
    assert np.sum(selector.scale_**2) == pytest.approx(52)
    check_common(selector, X, y)


def test_linear_kernel_cannot_find_it():
    # Noise of the same distribution: otherwise the radius alone singles the clouds out.
    found = 0
    for seed in range(3):
        X, y = clouds(seed, n=120, noise=15, like_clouds=True)
        selector = RadiusMarginScaling(kernel="linear", step="half").fit(X, y)
        found += set(selector.order_[:2]) == {0, 1}
    assert found == 0


def test_linear_kernel_and_large_C_do_not_know_a_common_factor():
    data = sample(5, C=1e7)
    data.X[:, 0] += 6.0 * data.labels.codes  # separable
    objective = RadiusMargin(Linear(), data)
    sigma = np.array([0.5, 1.0, 0.7, 1.2])
    assert objective.at(sigma).value == pytest.approx(objective.at(3 * sigma).value, rel=1e-4)
    assert objective.at(sigma).gradient() @ sigma == pytest.approx(
        0.0, abs=1e-4 * objective.at(sigma).value
    )


@pytest.mark.parametrize("step", [1, 3, 0.4, "half"])
def test_asked_number_is_met_exactly(step):
    X, y = clouds(1, n=80, noise=9)
    for k in (1, 2, 4, 0.5):
        selector = RadiusMarginScaling(k, step=step).fit(X, y)
        n = 6 if k == 0.5 else k
        assert selector.support_.sum() == n
        assert selector.support_[selector.order_[:n]].all()
        check_common(selector, X, y)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "poly", KERNELS[3], KERNELS[4]], ids=repr)
def test_any_kernel_goes_down(kernel, normalize):
    data = sample(2, n=40)
    selector = RadiusMarginScaling(kernel=kernel, normalize=normalize, coef0=1.0)
    selector.fit(data.X, data.labels.codes)
    assert selector.history_[-1] < selector.history_[0]
    assert (np.diff(selector.history_) < 0).all()
    assert selector.predict(data.X).shape == (40,)
    if normalize:
        assert np.sum(selector.scale_**2) == pytest.approx(4)


def test_several_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.iloc[::3]
    y = y.iloc[::3].map({0: "a", 1: "b", 2: "c"})
    selector = RadiusMarginScaling(2).fit(X, y)
    assert set(selector.selection_.selected) <= set(X.columns)
    assert selector.score(X, y) > 0.9
    assert isinstance(selector.transform(X), pd.DataFrame)
    assert selector.decision_function(X).shape == (50, 3)


def test_constant_features_come_last():
    X, y = clouds(0, n=60, noise=3)
    X[:, 3] = 7.0
    selector = RadiusMarginScaling().fit(X, y)
    assert selector.order_[-1] == 3
    assert selector.scale_[3] == 0


def test_pipeline_and_grid():
    X, y = clouds(0, n=80, noise=4)
    pipe = make_pipeline(StandardScaler(), RadiusMarginScaling(step="half"))
    grid = GridSearchCV(pipe, {"radiusmarginscaling__C": [0.5, 5.0]}, cv=2).fit(X, y)
    assert grid.best_score_ > 0.8


def test_samples_in_any_order():
    X, y = clouds(2, n=60, noise=4)
    order = np.random.default_rng(0).permutation(60)
    a, b = RadiusMarginScaling().fit(X, y), RadiusMarginScaling().fit(X[order], y[order])
    np.testing.assert_array_equal(a.order_, b.order_)
    np.testing.assert_allclose(a.scale_, b.scale_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n", [70, 150])  # solved to rounding level, and not
def test_resumes_where_it_stopped(tmp_path, n):
    X, y = clouds(0, n=n, noise=8)
    check_resuming(RadiusMarginScaling, X, y, tmp_path)


def test_machines_that_fail_are_reported(monkeypatch):
    check_failed_machines(RadiusMarginScaling, monkeypatch)


def test_interrupted_at_once():
    check_interrupted_at_once(RadiusMarginScaling)


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"C": 0}, ValueError, "'C' parameter"),
        ({"step": 0}, ValueError, "'step' parameter"),
        ({"n_features_to_select": 9}, ValueError, "exceeds the 4 features"),
        ({"n_features_to_select": "many"}, ValueError, "n_features_to_select"),
        ({"kernel": "precomputed"}, ValueError, "'kernel' parameter"),
        ({"kernel": lambda A, B: A @ B.T}, TypeError, "no derivative by scaling factors"),
        ({"class_weight": {1: 0.0}}, ValueError, "only one class"),
        ({"class_weight": {7: 1.0}}, ValueError, "class 7"),
        ({"resume": True}, ValueError, "checkpoint=path"),
        ({"tol": -1.0}, ValueError, "'tol' parameter"),
    ],
)
def test_wrong_parameters_get_a_sentence(params, error, words):
    X, y = clouds(0, n=30, noise=2)
    with pytest.raises(error, match=words):
        RadiusMarginScaling(**params).fit(X, y)


def test_wrong_data_gets_a_sentence():
    X, y = clouds(0, n=30, noise=2)
    selector = RadiusMarginScaling()
    with pytest.raises(ValueError, match="Every feature of X is constant"):
        selector.fit(np.ones((30, 4)), y)
    with pytest.raises(ValueError, match="one class only"):
        selector.fit(X, np.zeros(30))
    with pytest.raises(ValueError, match="NaN"):
        selector.fit(np.where(X > 2, np.nan, X) * np.where(X > 1, np.nan, 1), y)
    with pytest.raises(ValueError, match="very large values"):
        selector.fit(X * 1e200, y)
    with pytest.raises(ValueError, match="more than once"):
        selector.fit(pd.DataFrame(X, columns=list("aabc")), y)
    assert not hasattr(selector, "support_")


def test_two_samples_and_one_feature():
    selector = RadiusMarginScaling().fit([[0.0], [1.0]], [0, 1])
    assert selector.predict([[0.0], [1.0]]).tolist() == [0, 1]
    assert selector.order_.tolist() == [0]


def test_estimator_checks():
    assert_every_check_passes(RadiusMarginScaling())


# ------------------------------------------------------------------------------- spans


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_of_the_spans_is_that_of_differences(kernel, weighted):
    data = sample(classes=3 if weighted else 2)
    if weighted:
        weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0, 3.5], len(data.X))
        data = data._replace(weight=weight)
    objective = SpanEstimate(kernel, data)
    sigma = np.array([1.1, 0.6, 0.3, 0.9])
    gradient = objective.at(sigma).gradient()
    np.testing.assert_allclose(
        gradient, differences(objective, sigma), rtol=1e-5, atol=1e-6 * np.abs(gradient).max()
    )


@pytest.mark.parametrize("seed", range(3))
def test_spans_equal_their_definition_by_a_general_optimiser(seed):
    data = sample(seed, n=12)
    signs = np.where(data.labels.codes == 1, 1.0, -1.0)
    v = np.array([0.9, 0.2, 0.5, 0.7])
    value = SpanEstimate(RBF(gamma=1.0), data).at(v).value
    expected = smoothed_spans(gaussian(data.X, v), signs, data.penalty)
    assert value == pytest.approx(expected, rel=1e-4)


def test_weights_count_samples_in_spans():
    data = sample(3, n=15)
    weight = np.random.default_rng(0).integers(1, 4, 15)
    sigma = np.array([1.0, 0.5, 0.8, 0.2])
    weighted = SpanEstimate(RBF(gamma=0.4), data._replace(weight=weight.astype(float)))
    again = np.repeat(np.arange(15), weight)
    labels = data.labels._replace(codes=data.labels.codes[again])
    repeated = SpanEstimate(
        RBF(gamma=0.4), Sample(data.X[again], labels, np.ones(len(again)), data.penalty[again])
    )
    a, b = weighted.at(sigma), repeated.at(sigma)
    assert a.value == pytest.approx(b.value, rel=1e-8)
    np.testing.assert_allclose(a.gradient(), b.gradient(), rtol=1e-5, atol=1e-8)


def test_the_span_estimate_is_near_leave_one_out():
    X, y = clouds(n=60, noise=3)
    svc = SVC(C=2.0, gamma=0.4, tol=1e-8).fit(X, y)
    rule = span_bound(svc, X, y, squared_slack=True)
    labels = Labels(np.array([0, 1]), y.astype(np.intp))
    data = Sample(X, labels, np.ones(60), np.full(60, 2.0))
    value = SpanEstimate(RBF(gamma=0.4), data).at(np.ones(5)).value
    assert value == pytest.approx(rule.smoothed, rel=0.15)


@pytest.mark.parametrize("seed", range(2))
def test_spans_find_the_pair_that_matters_only_together(seed):
    X, y = clouds(seed, n=150, noise=15)
    selector = RadiusMarginScaling(criterion="span", step="half").fit(X, y)
    assert set(selector.order_[:2]) == {0, 1}
    assert selector.support_[:2].all()
    assert selector.objective_ < 0.3 * selector.history_[0]
    check_common(selector, X, y)


# ------------------------------------------------------------------------------- a box


@pytest.mark.parametrize("criterion", ["radius_margin", "span"])
def test_factors_stay_in_the_unit_interval(criterion):
    X, y = clouds(1, n=100, noise=8)
    selector = RadiusMarginScaling(criterion=criterion, max_factor=1.0, gamma=1.0).fit(X, y)
    assert selector.scale_.max() <= 1.0 and selector.scale_.min() == 0.0
    free = RadiusMarginScaling(criterion=criterion, normalize=False, gamma=1.0).fit(X, y)
    assert free.scale_.max() > 1.0 or criterion == "span"
    assert set(selector.order_[:2]) == {0, 1}
    check_common(selector, X, y)


def test_a_limit_that_is_not_reached_changes_nothing():
    X, y = clouds(1, n=80, noise=5)
    free = RadiusMarginScaling(normalize=False, C=0.3).fit(X, y)
    wide = RadiusMarginScaling(max_factor=1e3, C=0.3).fit(X, y)
    assert free.scale_.max() < 1e3
    np.testing.assert_array_equal(wide.scale_, free.scale_)
    np.testing.assert_array_equal(wide.history_, free.history_)


def test_the_end_of_a_descent_in_the_box_is_stationary():
    X, y = clouds(1, n=60, noise=2)
    selector = RadiusMarginScaling(4, max_factor=1.0, tol=1e-9, max_iter=3000, gamma=0.3).fit(X, y)
    labels = Labels(np.array([0, 1]), y.astype(np.intp))
    data = Sample(X, labels, np.ones(60), np.ones(60))
    slope = RadiusMargin(RBF(gamma=0.3), data).at(selector.scale_).gradient()
    inside = (selector.scale_ > 0) & (selector.scale_ < 1)
    size = np.abs(slope).max() + selector.objective_
    assert (np.abs(slope[inside]) < 1e-2 * size).all()
    assert (slope[selector.scale_ == 1] < 1e-2 * size).all()


def test_bad_limits_and_criteria_are_refused():
    X, y = clouds(1, n=40, noise=2)
    for params in ({"max_factor": 0}, {"max_factor": -1.0}, {"criterion": "margin"}):
        with pytest.raises(ValueError, match=next(iter(params))):
            RadiusMarginScaling(**params).fit(X, y)


def test_spans_count_errors_of_classes_only():
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ValueError, match="counts errors of classification"):
        RadiusMarginScaling(criterion="span", task="regression").fit(X, X[:, 0] * 1.3)
