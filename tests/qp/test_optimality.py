"""Multiplier, violation and duality gap, against enumeration and against the primal problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamiz.qp import (
    DenseQ,
    QuadraticProblem,
    duality_gap,
    equality_multiplier,
    kkt_violation,
    optimality,
    svc_problem,
    svr_problem,
)
from tamiz.solvers import solve_smo
from tests.naive.qp import svc_objectives, violation


def arrays(*rows):
    return [np.array(row, dtype=float) for row in rows]


def test_multiplier_is_the_mean_over_free_variables():
    b, g, lower, upper = arrays([0, 1, 2, 3], [-9, 2, 4, 9], [0, 0, 0, 0], [3, 3, 3, 3])
    assert equality_multiplier(b, g, lower, upper) == 3.0


def test_multiplier_without_free_variables_is_the_midpoint():
    # at the upper bound: m >= g, so m >= 2; at the lower bound: m <= g, so m <= 5
    b, g, lower, upper = arrays([1, 1, 0, 0], [-1, 2, 5, 8], [0, 0, 0, 0], [1, 1, 1, 1])
    assert equality_multiplier(b, g, lower, upper) == 3.5
    assert kkt_violation(b, g, lower, upper) == 0.0


@pytest.mark.parametrize(("b", "expected"), [([0, 0], 3.0), ([1, 1], 7.0)])
def test_multiplier_with_one_end_only(b, expected):
    b, g, lower, upper = arrays(b, [3, 7], [0, 0], [1, 1])
    assert equality_multiplier(b, g, lower, upper) == expected


def test_a_variable_with_a_small_range_is_at_one_bound_at_most():
    # the last has all of its range, which is below the rounding of the others
    b, g, lower, upper = arrays([1, 1, 1e-14], [-3, 1, 9], [0, 0, 0], [1, 2, 1e-14])
    assert equality_multiplier(b, g, lower, upper) == 1.0
    b, g, lower, upper = arrays([1, 0, 1e-14], [-3, 1, -1], [0, 0, 0], [1, 2, 1e-14])
    assert equality_multiplier(b, g, lower, upper) == 0.0  # -1 from below, 1 from above


def test_fixed_variables_say_nothing():
    b, g, lower, upper = arrays([2, 1, 0], [-100, 2, 5], [2, 0, 0], [2, 1, 1])
    assert equality_multiplier(b, g, lower, upper) == 3.5
    b, g, lower, upper = arrays([2, 3], [-100, 4], [2, 3], [2, 3])
    assert equality_multiplier(b, g, lower, upper) == 0.0
    assert kkt_violation(b, g, lower, upper) == 0.0
    assert duality_gap(b, g, lower, upper, 0.0) == 0.0


def test_no_gap_is_known_where_a_bound_in_use_is_infinite():
    b, g, lower, upper = arrays([1, 1], [0, 2], [0, 0], [np.inf, np.inf])
    assert duality_gap(b, g, lower, upper, 1.0) is None
    assert duality_gap(b, g, lower, upper, 0.0) == 2.0  # only lower bounds are in use


numbers = st.floats(-5, 5).map(lambda v: round(v, 2))


@given(
    st.lists(
        st.tuples(numbers, numbers, st.floats(0, 3), st.sampled_from([0.0, 0.5, 1.0])),
        min_size=1,
        max_size=12,
    )
)
def test_violation_is_the_worst_pair(rows):
    g, lower, width, where = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    upper = lower + width
    b = np.where(where == 1.0, upper, lower + where * width)
    zero = np.zeros((len(b), len(b)))
    expected = violation(zero, g, np.ones(len(b)), b, lower, upper)
    assert kkt_violation(b, g, lower, upper) == pytest.approx(expected, abs=1e-12)
    multiplier = equality_multiplier(b, g, lower, upper)
    gap = duality_gap(b, g, lower, upper, multiplier)
    assert gap is not None and gap >= 0.0
    if expected == 0.0:  # optimal: the multiplier then fits every variable, and nothing is left
        assert (g[b < upper] >= multiplier - 1e-9).all()
        assert (g[b > lower] <= multiplier + 1e-9).all()
        assert gap == pytest.approx(0.0, abs=1e-8)
    assert optimality(b, g, lower, upper) == (kkt_violation(b, g, lower, upper), multiplier, gap)


def classification(seed, n=14):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    signs = np.where(Z[:, 0] + 0.8 * rng.normal(size=n) > 0, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    return Z @ Z.T + 0.1 * np.eye(n), signs, rng.uniform(0.2, 2.0, size=n)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("steps", [0, 1, 5, -1])
def test_gap_of_a_classifier_is_primal_minus_dual(seed, steps):
    K, signs, C = classification(seed)
    result = solve_smo(svc_problem(DenseQ(K), signs, C), max_iter=steps, tol=1e-9)
    primal, dual = svc_objectives(K, signs, C, result.a, -result.multiplier)
    assert result.gap == pytest.approx(primal - dual, rel=1e-9, abs=1e-9)
    assert result.objective == pytest.approx(-dual, rel=1e-9, abs=1e-12)
    if steps == -1:
        assert result.gap <= 1e-6


@pytest.mark.parametrize("steps", [0, 3, -1])
def test_gap_of_a_regression_is_primal_minus_dual(steps):
    K, _, C = classification(3)
    target = np.random.default_rng(1).normal(size=len(K))
    epsilon, n = 0.1, len(K)
    result = solve_smo(svr_problem(DenseQ(K), target, C, epsilon), max_iter=steps, tol=1e-9)
    coef, bias = result.a[:n] - result.a[n:], -result.multiplier
    primal = dual = 0.0
    for i in range(n):
        f = bias + sum(coef[j] * K[i, j] for j in range(n))
        primal += C[i] * max(0.0, abs(target[i] - f) - epsilon)
        dual += target[i] * coef[i] - epsilon * (result.a[i] + result.a[n + i])
    norm = sum(coef[i] * coef[j] * K[i, j] for i in range(n) for j in range(n))
    assert result.gap == pytest.approx(primal + norm / 2 - (dual - norm / 2), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_gap_bounds_what_is_left(seed):
    K, signs, C = classification(seed)
    problem = svc_problem(DenseQ(K), signs, C)
    optimum = solve_smo(problem, tol=1e-10).objective
    for steps in range(0, 30, 3):
        result = solve_smo(problem, max_iter=steps, tol=1e-10)
        assert -1e-9 <= result.objective - optimum <= result.gap + 1e-9


def test_reported_gradient_and_violation_are_those_of_the_point():
    K, signs, C = classification(5)
    Q = K * np.outer(signs, signs)
    result = solve_smo(QuadraticProblem(Q, -np.ones(len(C)), signs, 0.0, 0.0, C), max_iter=7)
    np.testing.assert_allclose(result.gradient, Q @ result.a - 1.0, atol=1e-12)
    lower = np.zeros(len(C))
    expected = violation(Q, -np.ones(len(C)), signs, result.a, lower, C)
    assert result.violation == pytest.approx(expected, abs=1e-12)
