"""Newton's method for the squared hinge: against a general minimiser, and both forms alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC as PeerSVC

import tests.naive.squared_hinge as naive
from tamiz.solvers.squared_hinge import minimise_dual, minimise_primal


def problem(n, p, seed=0, shift=0.7):
    """Two classes that overlap."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.normal(size=(n, p))
    X[:, 0] += shift * y
    return X, y, np.full(n, 2.0)


def weighted():
    X, y, cost = problem(40, 5, seed=1)
    return X, y, cost * np.random.default_rng(1).uniform(0.01, 20.0, size=40)


def imbalanced():
    X, y, cost = problem(60, 4, seed=2)
    y[3:] = -1.0
    return X, y, cost


def separable():
    X, y, cost = problem(30, 3, seed=3, shift=6.0)
    return X, y, 100.0 * cost


def duplicated():
    X, y, cost = problem(15, 4, seed=4)
    return np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(cost, 4)


def constant_columns():
    X, y, cost = problem(30, 5, seed=5)
    X[:, 1], X[:, 3] = 0.0, 2.5
    return X, y, cost


def contradictory():
    """Each sample once in either class, and once more."""
    X, y, cost = problem(12, 3, seed=6)
    return np.vstack([X, X, X]), np.concatenate([y, -y, y]), np.concatenate([cost] * 3)


PROBLEMS = {
    "more samples": lambda: problem(50, 6),
    "more features": lambda: problem(12, 30),
    "as many": lambda: problem(20, 20, seed=7),
    "two samples": lambda: problem(2, 3, seed=8),
    "weighted": weighted,
    "imbalanced": imbalanced,
    "separable": separable,
    "duplicated": duplicated,
    "constant columns": constant_columns,
    "contradictory": contradictory,
}


def solved(X, y, cost, form, **options):
    """Weights of the features, and the solution, by either form."""
    if form == "primal":
        found = minimise_primal(X, y, cost, **options)
        return found.weights, found
    found = minimise_dual(X @ X.T, y, cost, **options)
    return X.T @ found.weights, found


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_equals_a_general_minimiser(name, form):
    X, y, cost = PROBLEMS[name]()
    w, found = solved(X, y, cost, form, tol=1e-12)
    weights, intercept, value = naive.minimum(X, y, cost)
    assert found.converged
    assert found.objective == pytest.approx(naive.objective(X, y, cost, w, found.intercept))
    assert found.objective <= value + 1e-9 * (1 + value)
    assert found.objective == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(w, weights, atol=2e-5 * (1 + np.abs(weights).max()))
    assert found.intercept == pytest.approx(intercept, abs=2e-5 * (1 + abs(intercept)))


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_solution_is_optimal_and_proves_it(name, form):
    X, y, cost = PROBLEMS[name]()
    w, found = solved(X, y, cost, form, tol=1e-12)
    scale = np.abs(naive.gradient(X, y, cost, 0 * w, 0.0)).max() + cost.max()
    slope = naive.gradient(X, y, cost, w, found.intercept)
    assert np.abs(slope).max() <= 1e-7 * scale
    slack = np.maximum(0.0, 1.0 - y * (X @ w + found.intercept))
    np.testing.assert_allclose(found.slack, slack, atol=1e-9 * (1 + slack.max()))
    bound = naive.dual_value(X @ X.T, y, cost, cost * found.slack)
    assert found.dual_objective == pytest.approx(bound, rel=1e-7, abs=1e-9)
    assert found.objective - found.dual_objective >= -1e-10 * (1 + found.objective)
    assert 0.0 <= found.gap <= 1e-7 * (1 + found.objective)


@given(n=st.integers(2, 25), p=st.integers(1, 25), seed=st.integers(0, 10**6), C=st.floats(-4, 4))
def test_primal_equals_dual(n, p, seed, C):
    X, y, cost = problem(n, p, seed)
    cost = cost * 10.0**C * np.random.default_rng(seed).uniform(0.1, 3.0, size=n)
    w, primal = solved(X, y, cost, "primal", tol=1e-12)
    v, dual = solved(X, y, cost, "dual", tol=1e-12)
    assert primal.converged and dual.converged
    assert primal.objective == pytest.approx(dual.objective, rel=1e-6)
    np.testing.assert_allclose(w, v, atol=1e-4 * (1e-6 + np.abs(w).max()))


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_a_start_changes_the_steps_and_not_the_solution(form):
    X, y, cost = problem(60, 8, seed=9)
    w, cold = solved(X, y, cost, form, tol=1e-12)
    _, near = solved(X, y, 0.8 * cost, form, tol=1e-12)
    start = (near.weights, near.intercept)
    kept = start[0].copy()
    v, warm = solved(X, y, cost, form, start=start, tol=1e-12)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-9)
    np.testing.assert_allclose(w, v, atol=1e-7)
    assert warm.steps <= cold.steps
    np.testing.assert_array_equal(start[0], kept)
    _, again = solved(X, y, cost, form, start=(cold.weights, cold.intercept), tol=1e-9)
    assert again.steps == 1


@pytest.mark.parametrize("shape", [(40, 5), (10, 30)])
@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("C", [1e-12, 1e-8, 1e-4])
def test_small_penalties_leave_the_mean_and_weights_in_proportion(C, form, shape):
    """With all samples active and w near 0, w = Σ c y (1 - y b) x and b = Σ c y / Σ c."""
    X, y, cost = problem(*shape, seed=10)
    y[: len(y) // 3] = 1.0
    w, found = solved(X, y, C * cost, form)
    b = y.mean()
    expected = (C * cost * (y - b)) @ X
    assert found.intercept == pytest.approx(b, abs=100 * C + 1e-9)
    np.testing.assert_allclose(w, expected, atol=500 * C * np.abs(expected).max())


@pytest.mark.parametrize(("form", "shape"), [("primal", (30, 3)), ("dual", (20, 40))])
def test_huge_penalties_give_the_hard_margin(form, shape):
    X, y, cost = problem(*shape, seed=11, shift=8.0)
    w, found = solved(X, y, 1e6 * cost, form)
    assert found.converged and found.gap < 1e-5 * found.objective
    assert (y * (X @ w + found.intercept)).min() == pytest.approx(1.0, abs=1e-5)
    hard = PeerSVC(kernel="linear", C=1e9, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(w, hard.coef_[0], atol=1e-5)


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("C", 10.0 ** np.arange(6, 14))
def test_what_rounding_spoils_does_not_pass_for_a_solution(C, form):
    X, y, cost = problem(30, 3, seed=11, shift=8.0)
    _, found = solved(X, y, C * cost, form)
    hard = PeerSVC(kernel="linear", C=1e9, tol=1e-9).fit(X, y)
    least = 0.5 * float((hard.coef_**2).sum())
    assert found.dual_objective <= least * (1 + 1e-6)
    assert not found.converged or found.objective <= least * (1 + 1e-4)


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("n_positive", [5, 2])
def test_features_that_say_nothing(form, n_positive):
    """All columns are zero: the intercept is the weighted mean of the signs."""
    y = np.where(np.arange(10) < n_positive, 1.0, -1.0)
    cost = np.linspace(0.3, 2.0, 10)
    w, found = solved(np.zeros((10, 3)), y, cost, form)
    assert found.converged and found.steps < 5
    assert found.intercept == pytest.approx((cost @ y) / cost.sum(), abs=1e-9)
    assert not w.any()


def test_any_kernel_serves():
    X, y, cost = problem(25, 2, seed=12)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    found = minimise_dual(K, y, cost, tol=1e-12)
    root = np.linalg.cholesky(K + 1e-12 * np.eye(25))
    same = minimise_primal(root, y, cost, tol=1e-12)
    assert found.objective == pytest.approx(same.objective, rel=1e-6)
    np.testing.assert_allclose(K @ found.weights, root @ same.weights, atol=1e-4)
