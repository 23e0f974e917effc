"""A thousand random problems of the general form: each ends optimal, or says why not."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.qp import QuadraticProblem
from tamiz.solvers import Status, solve_chunking, solve_decomposition, solve_smo
from tests.naive.qp import solve_general, violation

TOL = 1e-6


def random_problem(seed):
    """Sizes 2 to 200; singular, nearly indefinite, duplicated; any bounds, signs and d."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 201)) if seed % 4 else int(rng.integers(2, 12))
    kind = seed % 5
    rank = max(1, n // 3) if kind == 1 else n
    F = rng.normal(size=(n, rank))
    if kind == 2:  # duplicated rows
        F[n // 2 :] = F[: n - n // 2]
    Q = F @ F.T / rank
    if kind == 3:  # indefinite, but only by rounding
        Q -= 1e-12 * np.abs(Q).max() * np.eye(n)
    if kind == 4:  # badly scaled
        s = 10.0 ** rng.uniform(-2, 2, size=n)
        Q = Q * s[:, None] * s
    y = rng.choice([-1.0, 1.0], size=n)
    if seed % 7 == 0:
        y = y * rng.uniform(0.5, 2.0, size=n)
    lower = -rng.uniform(0, 2, size=n) * (rng.random(n) < 0.5)
    upper = lower + rng.uniform(0.1, 3, size=n)
    fixed = rng.random(n) < 0.1
    upper[fixed] = lower[fixed]
    if seed % 3 == 0:
        upper[rng.random(n) < 0.2] = np.inf
    inside = lower + rng.random(n) * (np.minimum(upper, lower + 3) - lower)
    d = float(y @ inside)
    return Q, rng.normal(size=n), y, d, lower, upper


@pytest.mark.parametrize("block", range(20))
def test_thousand_random_problems(block):
    finished = 0
    for seed in range(50 * block, 50 * block + 50):
        Q, p, y, d, lower, upper = random_problem(seed)
        problem = QuadraticProblem(Q, p, y, d, lower, upper)
        solver = (solve_smo, solve_decomposition, solve_chunking)[seed % 3 if seed % 2 else 0]
        result = solver(problem, tol=TOL, max_iter=2_000_000)
        a = result.a
        assert (a >= lower).all() and (a <= upper).all(), seed
        assert abs(y @ a - d) <= 1e-8 * max(1.0, np.abs(a).sum()), seed
        if result.status is Status.CONVERGED:
            finished += 1
            assert result.violation <= TOL
            scale = max(1.0, np.abs(Q).max() * np.abs(a).max())
            g = Q @ a + p
            np.testing.assert_allclose(result.gradient, g, atol=1e-9 * scale * len(a))
        elif result.status is Status.UNBOUNDED:
            assert np.isinf(upper).any(), seed
        else:
            assert result.status in (Status.STALLED, Status.MAX_ITER), seed
            # rounding, not the method, must be the reason
            assert result.violation <= 1e-9 * np.abs(Q).max() * max(1.0, np.abs(a).max()), seed
    assert finished >= 45


@pytest.mark.parametrize("seed", [s for s in range(1, 60) if s % 3])
def test_against_a_general_solver(seed):
    Q, p, y, d, lower, upper = random_problem(seed)
    if len(p) > 60:
        Q, p, y, lower, upper = Q[:60, :60], p[:60], y[:60], lower[:60], upper[:60]
        d = float(y @ (0.5 * (lower + upper)))
    Q = Q + 1e-10 * np.abs(Q).max() * np.eye(len(p))
    _, objective = solve_general(Q, p, y, d, lower, upper)
    result = solve_smo(QuadraticProblem(Q, p, y, d, lower, upper), tol=1e-8)
    assert result.objective == pytest.approx(objective, rel=1e-6, abs=1e-6)
    assert violation(Q, p, y, result.a, lower, upper) <= 2e-8 * max(1.0, np.abs(Q).max())
    assert result.gap is not None
    assert result.gap >= -1e-9
    assert result.objective - objective <= result.gap + 1e-6 * max(1.0, abs(objective))


@pytest.mark.parametrize("seed", range(0, 40))
def test_three_solvers_agree(seed):
    Q, p, y, d, lower, upper = random_problem(seed)
    upper = np.minimum(upper, lower + 5)
    problem = QuadraticProblem(Q, p, y, d, lower, upper)
    answers = [
        solve_smo(problem, tol=1e-8),
        solve_smo(problem, tol=1e-8, shrinking=False),
        solve_decomposition(problem, tol=1e-8, working_set=10, cache_mb=1),
        solve_chunking(problem, tol=1e-8, chunk=6),
    ]
    scale = max(1.0, abs(answers[0].objective))
    for answer in answers[1:]:
        assert answer.objective == pytest.approx(answers[0].objective, abs=1e-6 * scale)
