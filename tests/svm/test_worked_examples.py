"""The worked examples that concern machines."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut

from tamiz.kernels import Polynomial
from tamiz.svm import SVC, HardMarginSVC


def z_score(train, *others):
    """Centre and scale by the training part, standard deviation with n - 1."""
    mean, sd = train.mean(axis=0), train.std(axis=0, ddof=1)
    return [(part - mean) / sd for part in (train, *others)]


def leave_one_out_errors(X, y):
    errors = 0
    for train, test in LeaveOneOut().split(X):
        A, B = z_score(X[train], X[test])
        machine = SVC(C=1.0, kernel="linear", tol=1e-8).fit(A, y[train])
        errors += int(machine.predict(B)[0] != y[test][0])
    return errors


@pytest.mark.parametrize(
    ("features", "errors"),
    [((0,), 0), ((1,), 3), ((2,), 8), ((0, 1), 0), ((0, 2), 0), ((1, 2), 4), ((0, 1, 2), 0)],
)
def test_leave_one_out_by_subset(d8, features, errors):
    assert leave_one_out_errors(d8.X[:, features], d8.y) == errors


def test_leave_one_out_after_two_changes(d8):
    X = d8.X.copy()
    X[3, :2] = 165, 78
    X[4, :2] = 149, 85
    assert leave_one_out_errors(X[:, [0]], d8.y) == 2
    assert leave_one_out_errors(X[:, [1]], d8.y) == 0


def test_weights_on_z_scores(d8):
    (Z,) = z_score(d8.X)
    full = SVC(C=1.0, kernel="linear", tol=1e-9).fit(Z, d8.y)
    np.testing.assert_allclose(full.coef_[0], [1.2989, 0.2853, -0.0407], atol=5e-5)
    two = SVC(C=1.0, kernel="linear", tol=1e-9).fit(Z[:, :2], d8.y)
    np.testing.assert_allclose(two.coef_[0], [1.3036, 0.2912], atol=5e-5)


def test_polynomial_kernel_is_its_explicit_map():
    u, v = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])

    def explicit(x):
        a, b = x[0]
        r = np.sqrt(2.0)
        return np.array([1.0, r * a, r * b, a * a, b * b, r * a * b])

    value = Polynomial(degree=2, gamma=1.0, coef0=1.0)(u, v)[0, 0]
    assert value == pytest.approx(144.0)
    assert explicit(u) @ explicit(v) == pytest.approx(144.0)


def test_hard_margin_on_height(d8):
    machine = HardMarginSVC(kernel="linear", tol=1e-9).fit(d8.X[:, [0]], d8.y)
    assert machine.coef_[0, 0] == pytest.approx(1 / 8)
    assert -machine.intercept_[0] / machine.coef_[0, 0] == pytest.approx(162.0)
    assert machine.margin_ == pytest.approx(8.0)
    # at the optimum the squared norm is the sum of the dual variables
    assert machine.alpha_.sum() == pytest.approx(machine.coef_[0, 0] ** 2)
    assert set(machine.support_) == {0, 3}


def test_l1_and_l2_order_two_points_differently():
    """Of (1, 0) and (0.5, 0.6) the first is smaller in l1, the second in l2."""
    a, b = np.array([1.0, 0.0]), np.array([0.5, 0.6])
    assert np.abs(a).sum() < np.abs(b).sum()
    assert np.linalg.norm(b) < np.linalg.norm(a)
    # so the l2 machine, which minimises the second norm, keeps both weights where the data admit
    # either direction: classes separated by x1 alone and by x1, x2 together
    X = np.array([[1.0, 5 / 6], [-1.0, -5 / 6]])
    machine = HardMarginSVC(kernel="linear", tol=1e-10).fit(X, [1, -1])
    assert (np.abs(machine.coef_[0]) > 0.4).all()
    assert np.linalg.norm(machine.coef_[0]) < np.linalg.norm(a)
