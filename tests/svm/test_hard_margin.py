"""Hard margin: the optimum where there is one, a proof where there is none."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC as PeerSVC

from tamiz.svm import SVC, HardMarginSVC, NotSeparableError, radius_margin_bound
from tamiz.svm.diagnostics import least_slack, separability


def separable(seed, n=80, p=5, gap=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    w = rng.normal(size=p)
    score = X @ w
    y = np.where(score > 0, 1, -1)
    return X + gap * y[:, None] * w / (w @ w), y


@pytest.mark.parametrize("seed", range(8))
def test_equals_a_soft_margin_of_enormous_C(seed):
    X, y = separable(seed)
    ours = HardMarginSVC(tol=1e-8).fit(X, y)
    peer = PeerSVC(kernel="linear", C=1e9, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)
    assert ours.duality_gap_ <= 1e-6 * ours.objective_
    # definition of the margin: the closest sample is at distance 1 / ||w||
    distance = y * (X @ ours.coef_[0] + ours.intercept_[0]) / np.linalg.norm(ours.coef_)
    assert distance.min() == pytest.approx(ours.margin_, rel=1e-6)
    assert len(ours.bounded_support_) == 0


@pytest.mark.parametrize("seed", range(6))
def test_proof_of_inseparability(seed):
    X, y = make_classification(120, 4, flip_y=0.2, random_state=seed)
    with pytest.raises(NotSeparableError, match="SVC") as caught:
        HardMarginSVC().fit(X, y)
    weights = caught.value.certificate
    assert (weights >= 0).all()
    for label in (0, 1):
        assert weights[y == label].sum() == pytest.approx(1.0)
    # both classes have this point in their convex hull
    np.testing.assert_allclose(weights[y == 0] @ X[y == 0], weights[y == 1] @ X[y == 1], atol=1e-5)


def test_the_answer_comes_soon():
    X, y = make_classification(1500, 10, flip_y=0.3, random_state=0)
    HardMarginSVC().fit(*separable(0))  # compile
    start = time.perf_counter()
    with pytest.raises(NotSeparableError):
        HardMarginSVC().fit(X, y)
    assert time.perf_counter() - start < 60  # a proof, not a time-out


def test_identical_samples_with_different_labels():
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    for kernel in ("linear", "rbf"):
        with pytest.raises(NotSeparableError):
            HardMarginSVC(kernel=kernel).fit(X, [0, 0, 1, 1])


def test_one_misplaced_sample():
    X, y = separable(3, n=200)
    ones = np.flatnonzero(y == 1)
    middle = ones[np.argmin(np.linalg.norm(X[ones] - X[ones].mean(axis=0), axis=1))]
    y = y.copy()
    y[middle] = -1
    with pytest.raises(NotSeparableError):
        HardMarginSVC().fit(X, y)
    # a radial kernel separates any distinct samples
    machine = HardMarginSVC(kernel="rbf", gamma=1.0).fit(X, y)
    assert machine.score(X, y) == 1.0
    assert machine.slack_.max() <= 1e-3 + 1e-9


def test_exclusive_or_needs_a_kernel():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = [0, 0, 1, 1]
    with pytest.raises(NotSeparableError):
        HardMarginSVC().fit(X, y)
    assert HardMarginSVC(kernel="poly", degree=2, coef0=1.0).fit(X, y).score(X, y) == 1.0


def test_tiny_and_huge_scales():
    X, y = separable(1)
    base = HardMarginSVC(tol=1e-6).fit(X, y)
    for scale in (1e-3, 1e3):
        machine = HardMarginSVC(tol=1e-6).fit(scale * X, y)
        assert machine.margin_ == pytest.approx(scale * base.margin_, rel=1e-3)


def test_many_classes():
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [10, 0], [0, 10]])
    y = np.repeat([0, 1, 2], 30)
    X = centres[y] + rng.normal(size=(90, 2))
    machine = HardMarginSVC().fit(X, y)
    assert machine.score(X, y) == 1.0
    assert machine.coef_.shape == (3, 2)
    assert (machine.margin_ > 2).all()


@pytest.mark.parametrize("seed", range(10))
def test_verdict_against_the_peer(seed):
    """Small problems near the border of separability, decided independently by the peer."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 4))
    y = rng.permutation(np.repeat([-1.0, 1.0], [4, 5]))
    peer = PeerSVC(kernel="linear", C=1e12, tol=1e-10, max_iter=2_000_000).fit(X, y)
    expected = bool((y * peer.decision_function(X) > 0).all())
    assert separability(X @ X.T, y).separable == expected


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_independent_samples_need_no_linear_programme(offset):
    # three samples of a triangle, measured from one of them, have two directions
    X = offset + np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    K, y = X @ X.T, np.array([1.0, -1.0, -1.0])
    # the programme's answer would be zero up to rounding, and NaN for weights that are NaN
    assert least_slack(K, y, np.full(3, np.nan)) == 0.0
    assert separability(K, y).separable


class TestRadiusMargin:
    def test_bounds_the_leave_one_out_errors(self):
        X, y = separable(2, n=40, p=3, gap=2.0)
        machine = HardMarginSVC().fit(X, y)
        result = radius_margin_bound(machine, X, y)
        errors = 0
        for i in range(len(y)):
            keep = np.arange(len(y)) != i
            errors += HardMarginSVC().fit(X[keep], y[keep]).predict(X[[i]])[0] != y[i]
        assert result.is_bound
        assert errors <= result.value
        assert result.value == pytest.approx(4 * result.radius_squared * result.weight_squared)

    def test_slack_makes_it_an_estimate(self):
        X, y = make_classification(80, 4, flip_y=0.2, random_state=0)
        machine = SVC(kernel="rbf", C=1.0).fit(X, y)
        assert not radius_margin_bound(machine, X, y).is_bound

    def test_squared_slack_restores_the_bound(self):
        X, y = make_classification(60, 4, class_sep=1.5, random_state=1)
        machine = SVC(kernel="rbf", C=5.0, gamma=0.1).fit(X, y)
        result = radius_margin_bound(machine, X, y, squared_slack=True)
        assert result.is_bound
        # the same by the kernel K + I/C and a hard margin
        K = machine.kernel_(X) + np.eye(60) / 5.0
        hard = HardMarginSVC(kernel="precomputed").fit(K, y)
        assert result.weight_squared == pytest.approx(1 / hard.margin_**2, rel=1e-3)
