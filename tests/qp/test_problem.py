"""The quadratic problem: what it accepts, its sign-free form, and where solvers start."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamiz.qp import InfeasibleError, LowRankQ, QuadraticProblem, SignFreeProblem
from tamiz.solvers import Status, solve, solve_smo


def problem_of(rng, n=9):
    F = rng.normal(size=(n, n))
    lower = -rng.uniform(0, 2, size=n)
    return QuadraticProblem(
        Q=F @ F.T,
        p=rng.normal(size=n),
        y=rng.choice([-1.0, 1.0], size=n) * rng.uniform(0.5, 2.0, size=n),
        d=0.3,
        lower=lower,
        upper=lower + rng.uniform(0, 3, size=n),
    )


# --------------------------------------------------------------------------- what it accepts


def test_numbers_stand_for_vectors():
    problem = QuadraticProblem(np.eye(3), p=[1, 2, 3], d=1)
    assert problem.n == 3
    assert problem.y.tolist() == [1.0, 1.0, 1.0]
    assert problem.lower.tolist() == [0.0, 0.0, 0.0]
    assert np.isposinf(problem.upper).all()
    assert problem.p.dtype == np.float64


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"p": np.zeros((2, 2))}, r"p must be one-dimensional.*\(2, 2\)"),
        ({"p": np.zeros(3)}, "Q has 2 rows but p has 3 entries; they must be equal"),
        ({"Q": np.zeros((2, 3))}, r"Q must be a square matrix.*\(2, 3\)"),
        ({"Q": np.zeros(4)}, r"Q must be a square matrix.*\(4,\)"),
        ({"Q": [[1.0, 2.0], [0.0, 1.0]]}, r"Q is not symmetric; pass \(Q \+ Q\.T\) / 2"),
        ({"Q": [[np.nan, 0.0], [0.0, 1.0]]}, "Q holds NaN or infinite entries.*must be finite"),
        ({"p": [np.inf, 0.0]}, "p and d must be finite"),
        ({"d": np.nan}, "p and d must be finite"),
        ({"y": [1.0, 0.0]}, "entry of y must be finite and different from zero"),
        ({"y": [1.0, np.inf]}, "entry of y must be finite and different from zero"),
        ({"y": np.ones(3)}, r"y has shape \(3,\); it must be \(2,\) or a number"),
        ({"lower": np.zeros((2, 1))}, r"lower has shape \(2, 1\); it must be \(2,\)"),
        ({"upper": [1.0, np.nan]}, "lower and upper must not hold NaN"),
        ({"lower": 2.0, "upper": [3.0, 1.0]}, r"lower\[1\] = 2 exceeds upper\[1\] = 1"),
    ],
)
def test_refusals_are_sentences(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        QuadraticProblem(**{"Q": np.eye(2), "p": np.zeros(2), **change})


def test_objective_is_its_definition():
    problem = problem_of(np.random.default_rng(0))
    a = np.random.default_rng(1).normal(size=problem.n)
    expected = 0.5 * a @ problem.Q.dense() @ a + problem.p @ a
    assert problem.objective(a) == pytest.approx(expected)


# ------------------------------------------------------------------------ without signs


@pytest.mark.parametrize("seed", range(5))
def test_sign_free_form_is_the_same_problem(seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(rng)
    free = problem.sign_free()
    for _ in range(20):
        a = problem.lower + rng.random(problem.n) * (problem.upper - problem.lower)
        b = problem.y * a
        assert (b >= free.lower - 1e-12).all() and (b <= free.upper + 1e-12).all()
        assert b.sum() == pytest.approx(problem.y @ a)
        value = 0.5 * b @ free.Q.dense() @ b + free.p @ b
        assert value == pytest.approx(problem.objective(a))
        np.testing.assert_allclose(problem.from_sign_free(b, free), a, atol=1e-12)


def test_bounds_come_back_exactly():
    """0.1 * 3 / 3 is not 0.1 in floating point; a variable at its bound must still be there."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        problem = problem_of(rng)
        free = problem.sign_free()
        at_lower = problem.from_sign_free(np.where(problem.y > 0, free.lower, free.upper), free)
        at_upper = problem.from_sign_free(np.where(problem.y > 0, free.upper, free.lower), free)
        np.testing.assert_array_equal(at_lower, problem.lower)
        np.testing.assert_array_equal(at_upper, problem.upper)


def test_infinite_bounds_change_sides_with_the_sign():
    problem = QuadraticProblem(np.eye(2), [0.0, 0.0], y=[1.0, -1.0])
    free = problem.sign_free()
    assert free.lower.tolist() == [0.0, -np.inf]
    assert free.upper.tolist() == [np.inf, 0.0]


# ------------------------------------------------------------------------------ where to start

finite = st.floats(-10, 10)
bounds = st.tuples(finite, st.one_of(st.floats(0, 5), st.just(0.0), st.just(np.inf)))


@st.composite
def feasible_problems(draw):
    n = draw(st.integers(1, 12))
    rows = draw(st.lists(bounds, min_size=n, max_size=n))
    lower = np.array([low for low, _ in rows])
    upper = np.array([low + width for low, width in rows])
    inside = np.array([draw(st.floats(0, 1)) for _ in rows])
    point = lower + inside * np.minimum(upper - lower, 7.0)
    p = np.array(draw(st.lists(finite, min_size=n, max_size=n)))
    guess = draw(st.one_of(st.none(), st.lists(finite, min_size=n, max_size=n)))
    return lower, upper, float(point.sum()), p, None if guess is None else np.array(guess)


@given(feasible_problems())
def test_start_is_inside_the_bounds_with_the_right_sum(case):
    lower, upper, d, p, guess = case
    free = SignFreeProblem(None, p, d, lower, upper)  # the matrix is not asked
    b = free.feasible_start(guess)
    assert (b >= lower).all() and (b <= upper).all()
    assert b.sum() == pytest.approx(d, abs=1e-10 * (1 + np.abs(b).sum()))


@given(feasible_problems())
def test_a_feasible_guess_is_kept(case):
    lower, upper, d, p, guess = case
    free = SignFreeProblem(None, p, d, lower, upper)
    b = free.feasible_start(guess)
    again = SignFreeProblem(None, p, float(b.sum()), lower, upper).feasible_start(b)
    np.testing.assert_array_equal(again, b)


@given(feasible_problems(), st.floats(0.01, 5))
def test_no_point_is_said_in_a_sentence(case, beyond):
    lower, upper, _, p, guess = case
    upper = np.minimum(upper, lower + 9.0)
    for d, nearest in ((upper.sum() + beyond, upper), (lower.sum() - beyond, lower)):
        free = SignFreeProblem(None, p, float(d), lower, upper)
        with pytest.raises(
            InfeasibleError, match=r"admit no point with y'a = .*Widen the bounds"
        ) as e:
            free.feasible_start(guess)
        assert f"{nearest.sum():g}" in str(e.value) or abs(nearest.sum()) < 1e-9


def test_what_is_missing_goes_to_the_steepest_first():
    p = np.array([3.0, -1.0, 2.0, -5.0])
    free = SignFreeProblem(None, p, 1.5, np.zeros(4), np.ones(4))
    assert free.feasible_start(None).tolist() == [0.0, 0.5, 0.0, 1.0]
    down = SignFreeProblem(None, p, -1.5, -np.ones(4), np.zeros(4))
    assert down.feasible_start(None).tolist() == [-1.0, 0.0, -0.5, 0.0]


def test_infeasible_problems_end_without_an_invented_number():
    problem = QuadraticProblem(np.eye(2), [0.0, 0.0], d=5.0, upper=1.0)
    result = solve_smo(problem)
    assert result.status is Status.INFEASIBLE
    assert result.objective is result.gap is result.violation is result.multiplier is None
    assert result.a.shape == (2,)


@pytest.mark.parametrize("solver", ["smo", "decomposition", "chunking"])
def test_any_start_leads_to_the_same_optimum(solver):
    rng = np.random.default_rng(4)
    problem = problem_of(rng)
    cold = solve(problem, solver=solver, tol=1e-9)
    for start in (cold.a, rng.normal(size=problem.n) * 10, np.zeros(problem.n)):
        warm = solve(problem, solver=solver, tol=1e-9, start=start)
        np.testing.assert_allclose(warm.a, cold.a, atol=1e-6)
    assert solve(problem, solver=solver, tol=1e-6, start=cold.a).iterations == 0


@pytest.mark.parametrize(
    ("lower", "upper", "d", "reach"),
    [
        (0.0, np.inf, 1.0, 1.0),  # the simplex
        (-1.0, np.inf, 2.0, 10.0),  # an upper bound: (-1, -1, -1, 5) comes to 8
        (-np.inf, 2.0, 0.0, 16.0),
        (-2.0, 3.0, 0.0, 12.0),
        (-np.inf, np.inf, 0.0, np.inf),
    ],
)
def test_how_far_a_point_may_be_from_zero(lower, upper, d, reach):
    free = QuadraticProblem(np.eye(4), np.zeros(4), d=d, lower=lower, upper=upper).sign_free()
    assert free.reach() == pytest.approx(reach)
    rng = np.random.default_rng(0)
    for _ in range(50):
        b = free.feasible_start(10 * rng.normal(size=4))
        assert np.abs(b).sum() <= free.reach() + 1e-12


def test_the_diagonal_of_an_exact_matrix_is_not_asked_for():
    """Of an approximation it costs as much as its rows."""

    class Counted(LowRankQ):
        asked = 0

        def diag(self):
            self.asked += 1
            return super().diag()

    Q = Counted(np.random.default_rng(0).random((30, 4)))
    assert solve(QuadraticProblem(Q, -np.arange(30.0), d=1.0)).converged
    assert Q.asked == 0
