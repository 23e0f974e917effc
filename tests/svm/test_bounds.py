"""Bounds on the error: capacity, support vectors, spans against leaving one out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC as PeerSVC

from tamiz.kernels import RBF, Linear, Polynomial
from tamiz.svm import (
    SVC,
    SVR,
    BudgetSVC,
    HardMarginSVC,
    LinearMachine,
    PegasosClassifier,
    margin_vc_dimension,
    radius_margin_bound,
    span_bound,
    support_vector_bound,
    vc_confidence,
)
from tamiz.svm.bounds import squared_spans
from tests.naive.bounds import leave_one_out, squared_distance_to_hull


def two_classes(n=40, p=3, seed=0, distance=1.5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, p)) + distance * y[:, None], y


# ------------------------------------------------------------------------------- spans

#: Narrow kernels, with which most samples stay what they are when another one is left out.
MACHINES = [SVC(C=C, gamma=gamma, tol=1e-9) for C, gamma in [(5.0, 2.0), (0.9, 3.0), (0.99, 1.0)]]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_the_span_rule_is_leave_one_out_where_no_sample_changes_its_kind(machine, seed):
    X, y = two_classes(seed=seed)
    result = span_bound(machine.fit(X, y), X, y)
    values, same = leave_one_out(machine, X, y)
    assert same[result.support].sum() >= 5
    np.testing.assert_allclose(result.values[same], values[same], atol=2e-5)
    outside = np.setdiff1d(np.arange(len(y)), result.support)
    np.testing.assert_allclose(result.values[outside], values[outside], atol=2e-5)
    # elsewhere it is an estimate, and not far off
    assert abs(result.n_errors - np.count_nonzero(values < 0)) <= 3
    assert result.n_errors == np.count_nonzero(result.values <= 0)
    assert result.smoothed == pytest.approx(np.sum(1 / (1 + np.exp(5 * result.values))))


def test_the_hard_margin_follows_leave_one_out_too():
    X, y = two_classes(distance=4.0)
    machine = HardMarginSVC(kernel="rbf", gamma=0.2, tol=1e-9)
    result = span_bound(machine.fit(X, y), X, y)
    values, same = leave_one_out(machine, X, y)
    assert same[result.support].any()
    np.testing.assert_allclose(result.values[same], values[same], atol=1e-5)


@pytest.mark.parametrize(
    ("kernel", "explicit", "C"),
    [
        (Linear(), lambda X: X, 0.3),
        (Polynomial(1, 1.0, 2.0), lambda X: np.c_[X, np.full(len(X), np.sqrt(2.0))], 0.3),
        (RBF(gamma=0.3), None, 1.0),
    ],
    ids=["linear", "shifted", "radial"],
)
def test_spans_are_distances_to_affine_hulls(kernel, explicit, C):
    X, y = two_classes(30, 6)
    machine = SVC(C=C, kernel=kernel, tol=1e-9).fit(X, y)
    result = span_bound(machine, X, y)
    Z = np.linalg.cholesky(kernel(X) + 1e-10 * np.eye(30)) if explicit is None else explicit(X)
    free = machine.free_support_.tolist()
    assert len(free) > 2 and len(machine.bounded_support_) > 2
    for p, span in zip(result.support, result.spans_squared, strict=True):
        others = [i for i in free if i != p]
        assert span == pytest.approx(squared_distance_to_hull(Z, p, others), rel=1e-5, abs=1e-7)


def test_squared_slack_is_a_hard_margin_with_a_ridge():
    X, y = two_classes()
    machine = SVC(C=2.0, gamma=0.3, tol=1e-9).fit(X, y)
    result = span_bound(machine, X, y, squared_slack=True)
    ridge = RBF(gamma=0.3)(X) + 0.5 * np.eye(len(X))
    hard = HardMarginSVC(kernel="precomputed", tol=1e-9).fit(ridge, y)
    expected = span_bound(hard, ridge, y)
    np.testing.assert_allclose(result.values, expected.values, atol=1e-6)
    np.testing.assert_array_equal(result.support, expected.support)


def test_redundant_support_vectors_have_no_span_and_lonely_ones_an_infinite_one():
    X = np.array([[-1.0, 0.0], [-1.0, 1.0], [-1.0, 2.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    free, none = np.arange(6), np.empty(0, dtype=int)
    np.testing.assert_allclose(squared_spans(X @ X.T, free, none)[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(squared_spans(X @ X.T, free[:3], free[3:])[1], 4.0, atol=1e-3)
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    machine = SVC(C=0.1, kernel="linear").fit(X, y)  # both are bounded
    assert len(machine.free_support_) == 0
    result = span_bound(machine, X, y)
    assert np.isinf(result.spans_squared).all() and result.n_errors == 2
    assert str(result).startswith("2 of 2 (leave-one-out errors")


def test_samples_far_from_the_origin_have_the_same_spans():
    X, y = two_classes()
    near = span_bound(SVC(kernel="linear", tol=1e-8).fit(X, y), X, y)
    far = span_bound(SVC(kernel="linear", tol=1e-8).fit(X + 1e6, y), X + 1e6, y)
    np.testing.assert_allclose(far.values, near.values, atol=1e-4)


def test_what_spans_cannot_answer_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="span_bound needs two classes; the machine has 3"):
        span_bound(SVC().fit(X, y), X, y)
    machine = SVC().fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="pass the data of the fit"):
        span_bound(machine, X[50:], y[50:])
    with pytest.raises(ValueError, match="X has 60 rows, the machine was fitted to 100"):
        span_bound(machine, X[20:80], y[20:80])
    with pytest.raises(ValueError, match="steepness=0 must be a number above 0"):
        span_bound(machine, X[:100], y[:100], steepness=0)
    with pytest.raises(ValueError, match="needs the penalty C of an SVC; BudgetSVC has none"):
        span_bound(BudgetSVC().fit(X[:100], y[:100]), X[:100], y[:100], squared_slack=True)
    with pytest.raises(ValueError, match="is not fitted"):
        span_bound(SVC(), X, y)


# ------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_leave_one_out_makes_no_more_errors_than_there_are_support_vectors(C, kernel):
    X, y = two_classes(40, 2, distance=0.8)
    machine = SVC(C=C, kernel=kernel, gamma=0.5).fit(X, y)
    values, _ = leave_one_out(machine, X, y)
    assert np.mean(values <= 0) <= support_vector_bound(machine)
    assert support_vector_bound(machine) == len(machine.support_) / 40
    peer = PeerSVC(C=C, kernel=kernel, gamma=0.5).fit(X, y)
    assert support_vector_bound(machine) == pytest.approx(peer.n_support_.sum() / 40, abs=1 / 20)


def test_the_order_of_the_bounds_on_separable_data():
    X, y = two_classes(40, 5, distance=4.0)
    machine = HardMarginSVC(tol=1e-9).fit(X, y)
    errors = np.count_nonzero(leave_one_out(machine, X, y)[0] <= 0)
    assert errors <= len(machine.support_)
    assert errors <= radius_margin_bound(machine, X, y).value
    # α_p S_p² >= 1 for an error, and a span is no longer than the diameter of the ball
    spans = span_bound(machine, X, y)
    ball = radius_margin_bound(machine, X, y)
    assert (spans.spans_squared <= 4 * ball.radius_squared * (1 + 1e-3)).all()
    assert spans.n_errors <= ball.value


def test_vapniks_term_equals_the_formula_and_falls_with_more_samples():
    n, h, delta = 1000, 11, 0.05
    expected = ((h * (math.log(2 * n / h) + 1) - math.log(delta / 4)) / n) ** 0.5
    assert vc_confidence(n, h) == pytest.approx(expected, rel=1e-12)
    terms = [vc_confidence(n, 11) for n in (50, 100, 1000, 10_000, 10**7)]
    assert (np.diff(terms) < 0).all() and terms[-1] < 0.01
    assert (np.diff([vc_confidence(1000, h) for h in (1, 5, 50, 500, 1000)]) > 0).all()
    assert vc_confidence(1000, 11, confidence=0.999) > vc_confidence(1000, 11)
    assert vc_confidence(10, 11) == math.inf


def test_the_dimension_of_hyperplanes_with_a_margin():
    assert margin_vc_dimension(1.0, 0.5, 100) == 5
    assert margin_vc_dimension(1.0, 0.3, 100) == math.ceil(1 / 0.09) + 1
    assert margin_vc_dimension(1.0, 0.001, 100) == 101
    assert margin_vc_dimension(1.0, 0.5) == 5
    assert margin_vc_dimension(1.0, 0.0) == math.inf
    assert margin_vc_dimension(1.0, 0.0, 7) == 8
    assert margin_vc_dimension(0.0, 1.0, 7) == 1
    with pytest.raises(ValueError, match="margin=-1 must be a number from 0"):
        margin_vc_dimension(1.0, -1)
    with pytest.raises(ValueError, match=r"confidence=95 .* \(95 % is 0.95\)"):
        vc_confidence(10, 2, confidence=95)
    with pytest.raises(ValueError, match="n_samples=0 must be an integer from 1"):
        vc_confidence(0, 2)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_samples_that_take_any_labels_with_a_margin_are_no_more_than_the_dimension(n):
    """The corners of a simplex: every labelling, and the least margin among them."""
    X = np.eye(n)
    radius = np.sqrt(1 - 1 / n)
    margins = []
    for labels in range(1, 2**n - 1):
        y = np.array([labels >> k & 1 for k in range(n)])
        margins.append(HardMarginSVC(tol=1e-9).fit(X, y).margin_)
    assert n <= margin_vc_dimension(radius, min(margins) * (1 - 1e-9), n - 1)


@pytest.mark.parametrize("machine", [LinearMachine(), PegasosClassifier(max_iter=3), SVR()])
def test_machines_without_kernel_and_classes_are_refused(machine):
    X = np.random.default_rng(0).standard_normal((20, 2))
    machine.fit(X, (X[:, 0] > 0).astype(int))
    for ask in (lambda: span_bound(machine, X, X[:, 0] > 0), lambda: support_vector_bound(machine)):
        with pytest.raises(TypeError, match="takes a fitted SVC, HardMarginSVC or BudgetSVC"):
            ask()
