"""Each machine's problem is its textbook dual, written here entry by entry and solved elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.qp import (
    DenseQ,
    LowRankQ,
    one_class_problem,
    simplex_problem,
    svc_problem,
    svdd_problem,
    svr_problem,
)
from tamiz.solvers import solve_smo
from tests.naive.qp import solve_general

N = 9
RNG = np.random.default_rng(11)
F = RNG.normal(size=(N, 4))
K = F @ F.T + 0.05 * np.eye(N)
SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0])
C = RNG.uniform(0.3, 2.0, size=N)
TARGET = RNG.normal(size=N)


def assert_states(problem, Q, p, y, d, lower, upper):
    """The problem is the one written out, and its solution that of a general solver."""
    n = len(p)
    np.testing.assert_allclose(problem.Q.dense(), Q, atol=1e-12)
    np.testing.assert_allclose(problem.p, p)
    np.testing.assert_array_equal(problem.y, np.broadcast_to(y, n))
    assert problem.d == pytest.approx(d)
    np.testing.assert_array_equal(problem.lower, np.broadcast_to(lower, n))
    np.testing.assert_allclose(problem.upper, np.broadcast_to(upper, n))
    pytest.importorskip("cvxopt")
    _, optimum = solve_general(Q, p, problem.y, d, problem.lower, problem.upper)
    result = solve_smo(problem, tol=1e-9)
    assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("price", [0.7, C, np.inf], ids=["number", "by sample", "hard margin"])
def test_classification(price):
    """max Σα - ½ ΣΣ α_i α_j y_i y_j K_ij, Σ α_i y_i = 0, 0 ≤ α_i ≤ C_i."""
    Q = np.empty((N, N))
    for i in range(N):
        for j in range(N):
            Q[i, j] = SIGNS[i] * SIGNS[j] * K[i, j]
    assert_states(svc_problem(DenseQ(K), SIGNS, price), Q, -np.ones(N), SIGNS, 0.0, 0.0, price)


def test_regression():
    """min ½ (a-b)'K(a-b) + ε Σ(a+b) - Σ t(a-b), Σ(a-b) = 0, 0 ≤ a, b ≤ C."""
    epsilon = 0.15
    Q = np.block([[K, -K], [-K, K]])
    p = np.concatenate([epsilon - TARGET, epsilon + TARGET])
    y = np.concatenate([np.ones(N), -np.ones(N)])
    problem = svr_problem(DenseQ(K), TARGET, C, epsilon)
    assert_states(problem, Q, p, y, 0.0, 0.0, np.concatenate([C, C]))


def test_regression_with_squared_loss():
    """C ξ² costs α²/(4C) in the dual: a ridge of 1/(2C) on the kernel, and no upper bound."""
    epsilon = 0.15
    ridge = K + np.diag(1.0 / (2.0 * C))
    Q = np.block([[ridge, -ridge], [-ridge, ridge]])
    p = np.concatenate([epsilon - TARGET, epsilon + TARGET])
    y = np.concatenate([np.ones(N), -np.ones(N)])
    problem = svr_problem(DenseQ(K), TARGET, C, epsilon, squared=True)
    assert_states(problem, Q, p, y, 0.0, 0.0, np.inf)
    # the dual optimum is the primal one: slack α/(2C) on the side that pulls
    result = solve_smo(problem, tol=1e-10)
    coef, bias = result.a[:N] - result.a[N:], -result.multiplier
    slack = np.maximum(0.0, np.abs(TARGET - K @ coef - bias) - epsilon)
    primal = 0.5 * coef @ K @ coef + C @ slack**2
    assert primal == pytest.approx(-result.objective, rel=1e-7)
    np.testing.assert_allclose(np.abs(coef), 2.0 * C * slack, atol=1e-6)


def test_one_class():
    """min ½ α'Kα, Σα = ν Σw, 0 ≤ α_i ≤ w_i."""
    problem = one_class_problem(DenseQ(K), 0.4, C)
    assert_states(problem, K, np.zeros(N), 1.0, 0.4 * C.sum(), 0.0, C)


@pytest.mark.parametrize("price", [np.inf, 0.3], ids=["all inside", "some outside"])
def test_data_description(price):
    """max Σ β_i K_ii - ΣΣ β_i β_j K_ij, Σβ = 1; halved, and as a minimum."""
    problem = svdd_problem(DenseQ(K), price)
    assert_states(problem, K, -0.5 * np.diag(K), 1.0, 1.0, 0.0, price)
    if np.isinf(price):
        beta = solve_smo(problem, tol=1e-10).a
        distances = np.diag(K) - 2 * K @ beta + beta @ K @ beta
        assert distances.max() == pytest.approx(-2.0 * problem.objective(beta), rel=1e-7)


def test_feature_weights_on_the_simplex():
    """(1-α) x'Qx/2 - α F'x, Σx = 1, x ≥ 0."""
    similarity, relevance, balance = np.abs(np.corrcoef(F.T)), np.array([0.9, 0.1, 0.5, 0.7]), 0.4
    Q, p = (1 - balance) * similarity, -balance * relevance
    assert_states(simplex_problem(DenseQ(Q), p), Q, p, 1.0, 1.0, 0.0, np.inf)


def test_problems_take_any_view_of_the_matrix():
    exact = solve_smo(svc_problem(DenseQ(F @ F.T), SIGNS, 0.7), tol=1e-9)
    factored = solve_smo(svc_problem(LowRankQ(F), SIGNS, 0.7), tol=1e-9)
    np.testing.assert_allclose(factored.gradient, exact.gradient, atol=1e-7)


def test_weight_zero_never_moves():
    price = C.copy()
    price[[0, 1]] = 0.0
    with_zero = solve_smo(svc_problem(DenseQ(K), SIGNS, price), tol=1e-10)
    without = solve_smo(svc_problem(DenseQ(K[2:, 2:]), SIGNS[2:], price[2:]), tol=1e-10)
    assert with_zero.a[:2].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(with_zero.a[2:], without.a, atol=1e-7)
    assert with_zero.multiplier == pytest.approx(without.multiplier, abs=1e-7)
