"""Parts and borders of the solvers: limits, shrinking, Newton steps, caches, single precision."""

from __future__ import annotations

import threading
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from tamiz.kernels import RBF, Linear
from tamiz.qp import (
    DenseQ,
    KernelQ,
    LowRankQ,
    QuadraticProblem,
    simplex_problem,
    svc_problem,
    svr_problem,
)
from tamiz.runtime.threads import run_tiles
from tamiz.solvers import SOLVERS as CHOICE
from tamiz.solvers import (
    Status,
    descent,
    pairs,
    solve,
    solve_chunking,
    solve_decomposition,
    solve_smo,
    working_sets,
)
from tamiz.solvers.descent import newton
from tamiz.solvers.pairs import CONVERGED, BoxPoint, run_pairs, run_pairs_in_team
from tamiz.solvers.working_sets import RowCache, WorkingBlock
from tests.calls import clocked, interrupted, watched

SOLVERS = [solve_smo, solve_decomposition, solve_chunking]


def classification(n=300, p=5, seed=0, C=1.0, gamma=0.2):
    X, y = make_classification(n, p, n_informative=3, flip_y=0.1, random_state=seed)
    return X, svc_problem(KernelQ(RBF(gamma=gamma), X), np.where(y == 1, 1.0, -1.0), C)


@pytest.mark.parametrize("solver", SOLVERS)
def test_infeasible_problem(solver):
    result = solver(QuadraticProblem(np.eye(3), np.zeros(3), 1.0, 10.0, 0.0, 1.0))
    assert result.status is Status.INFEASIBLE
    assert result.objective is None


@pytest.mark.parametrize("solver", SOLVERS)
def test_unbounded_problem(solver):
    # growing both variables costs nothing and the linear term rewards it
    Q = np.array([[1.0, -1.0], [-1.0, 1.0]])
    problem = QuadraticProblem(Q, [-1.0, -1.0], [1.0, -1.0], 0.0, 0.0, np.inf)
    assert solver(problem).status is Status.UNBOUNDED


@pytest.mark.parametrize("solver", SOLVERS)
def test_limit_on_steps(solver):
    _, problem = classification(C=100.0)
    result = solver(problem, max_iter=7)
    assert result.status is Status.MAX_ITER
    assert result.iterations == 7
    assert (result.a >= 0).all()
    assert (result.a <= 100).all()
    assert problem.y @ result.a == pytest.approx(0.0, abs=1e-9)
    g = problem.Q.dot(result.a) + problem.p
    np.testing.assert_allclose(result.gradient, g, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_nothing_to_do(solver):
    result = solver(QuadraticProblem(np.eye(2), np.zeros(2), 1.0, 0.0, 0.0, 0.0))
    assert result.converged
    assert result.iterations == 0
    np.testing.assert_array_equal(result.a, [0.0, 0.0])


@pytest.mark.parametrize("solver", SOLVERS)
def test_start_at_the_optimum_takes_no_step(solver):
    _, problem = classification()
    first = solver(problem, tol=1e-6)
    again = solver(problem, tol=1e-5, start=first.a)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.a, first.a)


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_start_reaches_the_optimum(solver):
    _, problem = classification(n=120)
    best = solve_smo(problem, tol=1e-8).objective
    for seed in range(3):
        start = np.random.default_rng(seed).uniform(-1, 2, size=120)  # not even feasible
        assert solver(problem, tol=1e-8, start=start).objective == pytest.approx(best, rel=1e-8)


def test_objective_never_rises_along_the_way():
    _, problem = classification(C=50.0)
    values = [solve_smo(problem, max_iter=k).objective for k in range(0, 400, 20)]
    assert (np.diff(values) <= 1e-9).all()


@pytest.mark.parametrize("machine", ["classifier", "regression", "squared loss"])
def test_shrinking_changes_nothing(machine):
    X, y = make_classification(900, 6, flip_y=0.02, class_sep=2.0, random_state=3)
    K = KernelQ(RBF(gamma=0.3), X)
    target = X[:, 0] + 0.1 * y
    problem = {
        "classifier": lambda: svc_problem(K, np.where(y == 1, 1.0, -1.0), 1e3),
        "regression": lambda: svr_problem(K, target, 100.0, 0.2),
        "squared loss": lambda: svr_problem(K, target, 100.0, 0.2, squared=True),
    }[machine]()
    with watched(descent.Descent, "__init__") as begun:
        with_shrinking = solve_smo(problem, tol=1e-5)
    assert min(len(call.args[1]) for call in begun) < 900 or machine != "classifier"  # it happened
    without = solve_smo(problem, tol=1e-5, shrinking=False)
    assert with_shrinking.objective == pytest.approx(without.objective, rel=1e-8)
    assert with_shrinking.violation <= 1e-5


class TestNewton:
    def test_reaches_the_minimum_over_the_free_variables(self):
        rng = np.random.default_rng(0)
        F = rng.normal(size=(8, 20))
        K = F @ F.T
        b = rng.uniform(0.4, 0.6, size=8)
        b[7] = 0.0  # at its bound: must not move
        p = -K @ np.full(8, 0.5) + 0.01 * rng.normal(size=8)
        g = K @ b + p
        total = b.sum()
        lower, upper = np.zeros(8), np.ones(8)
        assert newton(K, 1, BoxPoint(b, g, lower, upper), max_free=10, max_cuts=20) >= 1
        assert b[7] == 0.0
        assert b.sum() == pytest.approx(total)
        np.testing.assert_allclose(g, K @ b + p, atol=1e-9)
        inside = (b > 0) & (b < 1)
        assert np.ptp(g[inside]) <= 1e-8

    def test_stops_at_bounds_and_never_rises(self):
        rng = np.random.default_rng(1)
        for _ in range(50):
            n = int(rng.integers(3, 30))
            F = rng.normal(size=(n, max(2, n // 2)))  # singular
            K, p = F @ F.T, rng.normal(size=n)
            b = rng.uniform(0, 1, size=n)
            before = 0.5 * b @ K @ b + p @ b
            total = b.sum()
            g = K @ b + p
            newton(K, 1, BoxPoint(b, g, np.zeros(n), np.ones(n)), max_free=50, max_cuts=100)
            assert (b >= 0).all()
            assert (b <= 1).all()
            assert b.sum() == pytest.approx(total)
            assert 0.5 * b @ K @ b + p @ b <= before + 1e-9
            np.testing.assert_allclose(g, K @ b + p, atol=1e-7)

    def test_indefinite_matrix_is_left_alone(self):
        K = np.array([[1.0, 3.0], [3.0, 1.0]])
        b, g = np.array([0.5, 0.5]), np.array([1.0, -1.0])
        newton(K, 1, BoxPoint(b, g, np.zeros(2), np.ones(2)), max_free=5, max_cuts=5)
        np.testing.assert_array_equal(b, [0.5, 0.5])

    def test_ends_the_creeping_of_pair_steps(self, monkeypatch):
        X, y = make_classification(400, 8, flip_y=0.1, random_state=0)
        problem = svc_problem(KernelQ(Linear(), X), np.where(y == 1, 1.0, -1.0), 100.0)
        fast = solve_smo(problem, tol=1e-4)
        monkeypatch.setattr(descent, "newton", lambda *args, **options: 0)
        slow = solve_smo(problem, tol=1e-4)
        assert fast.objective <= slow.objective + 1e-4 * abs(slow.objective)
        assert fast.iterations < 0.2 * slow.iterations


def pair_steps(n=3100, copies=1):
    """A problem of pair steps: matrix, its diagonal, copies, and a fresh point."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    y[::7] *= -1.0
    K = rbf_kernel(X, gamma=0.5).astype(np.float32)
    y = np.concatenate([y, -y[: (copies - 1) * n]])

    def point():
        return BoxPoint(np.zeros(len(y)), -y, np.minimum(5.0 * y, 0.0), np.maximum(5.0 * y, 0.0))

    return (K, np.ascontiguousarray(K.diagonal()), copies), point


class TestTeam:
    @pytest.mark.parametrize(("copies", "shares", "threads"), [(1, 2, 2), (1, 5, 2), (2, 3, 3)])
    def test_takes_the_steps_of_one_thread(self, monkeypatch, copies, shares, threads):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        problem, point = pair_steps(copies=copies)
        alone, together = point(), point()
        for steps in (1, 0, 300, 100_000):
            expected = run_pairs(*problem, alone, 1e-2, steps)
            assert run_pairs_in_team(shares, *problem, together, 1e-2, steps) == expected
            np.testing.assert_array_equal(together.b, alone.b)
            np.testing.assert_array_equal(together.g, alone.g)
        assert expected[0] == CONVERGED
        assert expected[1] > 300

    def test_threads_that_do_not_come_are_not_waited_for(self, monkeypatch):
        """The pool is busy: whoever leads does all of it."""
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        problem, point = pair_steps()
        alone, together = point(), point()
        begun, ended = threading.Event(), threading.Event()

        def busy(start, stop):
            if start:
                begun.set()
                ended.wait(60)
            elif begun.wait(60):
                try:
                    return run_pairs_in_team(4, *problem, together, 1e-2, 500)
                finally:
                    ended.set()

        found = run_tiles(busy, 2)[0]
        assert found == run_pairs(*problem, alone, 1e-2, 500)
        np.testing.assert_array_equal(together.b, alone.b)

    def test_an_interruption_ends_it(self, monkeypatch, limits):
        """Ctrl-C before the first pass: the others do not wait for it."""
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        limits(pairs, _PATIENCE=2**62)
        problem, point = pair_steps()
        with interrupted(pairs, "run_pairs"), pytest.raises(KeyboardInterrupt):
            run_pairs_in_team(2, *problem, point(), 1e-2, 500)
        assert run_tiles(lambda start, stop: stop - start, 2) == [1, 1]

    @pytest.mark.parametrize("slow", ["run_pairs", "run_pairs_in_team"])
    def test_the_slower_way_is_only_tried(self, monkeypatch, limits, slow):
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        limits(descent, _TEAM_VARIABLES=100, _TEAM_THREADS=2, _SHARE_COST=50, _TRIAL_STEPS=2)
        clock = SimpleNamespace(now=0.0)
        limits(descent, perf_counter=lambda: clock.now)
        problem, point = pair_steps(n=400)
        alone, together = point(), point()
        expected = run_pairs(*problem, alone, 1e-2, 200)
        other = "run_pairs" if slow != "run_pairs" else "run_pairs_in_team"
        with clocked(descent, slow, clock, 0.05) as tried, watched(descent, other) as used:
            assert descent.Descent(problem[0], 1).run(together, 1e-2, 200) == expected
        np.testing.assert_array_equal(together.b, alone.b)
        assert sum(call.args[-1] for call in tried) == 2
        assert sum(call.args[-1] for call in used) >= 198

    def test_half_of_the_threads_are_used_where_all_of_them_are_slower(self, monkeypatch, limits):
        monkeypatch.setenv("OMP_NUM_THREADS", "4")
        limits(descent, _TEAM_VARIABLES=100, _TEAM_THREADS=2, _SHARE_COST=20, _TRIAL_STEPS=2)
        clock, steps = SimpleNamespace(now=0.0), {1: 0, 2: 0, 4: 0}

        def timed(parts, *given):
            done = (run_pairs if parts == 1 else partial(run_pairs_in_team, parts))(*given)
            steps[parts] += done[1]
            clock.now += done[1] * {1: 0.03, 2: 0.01, 4: 0.02}[parts]
            return done

        limits(descent, perf_counter=lambda: clock.now, run_pairs=partial(timed, 1))
        limits(descent, run_pairs_in_team=timed)
        problem, point = pair_steps(n=400)
        alone, together = point(), point()
        expected = run_pairs(*problem, alone, 1e-2, 200)
        assert descent.Descent(problem[0], 1).run(together, 1e-2, 200) == expected
        np.testing.assert_array_equal(together.b, alone.b)
        assert steps == {1: 2, 2: 196, 4: 2}


class TestRowCache:
    def test_products_are_right_whatever_is_kept(self):
        rng = np.random.default_rng(0)
        K = rng.normal(size=(60, 60))
        K = K + K.T
        for rows_kept in (0, 1, 7, 20, 60):
            cache = RowCache(DenseQ(K), rows_kept * 60 * 8)
            assert cache.capacity == rows_kept
            for _ in range(30):
                rows = rng.choice(60, size=int(rng.integers(1, 30)), replace=False)
                coef = rng.normal(size=len(rows))
                np.testing.assert_allclose(cache.dot(rows, coef), coef @ K[rows], atol=1e-12)
                kept = np.flatnonzero(cache.slot_of >= 0)
                assert len(kept) <= rows_kept
                np.testing.assert_array_equal(cache.store[cache.slot_of[kept]], K[kept])

    def test_rows_are_not_computed_twice(self):
        calls = []

        class Counting(DenseQ):
            def rows(self, index):
                calls.extend(index.tolist())
                return super().rows(index)

        cache = RowCache(Counting(np.eye(50)), 50 * 50 * 8)
        for _ in range(5):
            cache.dot(np.arange(10), np.ones(10))
        assert sorted(calls) == list(range(10))

    def test_products_are_right_in_batches(self, limits):
        limits(working_sets, _BATCH_BYTES=60 * 8 * 3)
        K = np.arange(3600.0).reshape(60, 60)
        cache = RowCache(DenseQ(K), 10 * 60 * 8)
        rows = np.arange(0, 60, 2)
        for _ in range(3):
            np.testing.assert_allclose(cache.dot(rows, np.ones(30)), K[rows].sum(axis=0))


@pytest.mark.parametrize("batch", [32 * 2**20, 1000])
def test_working_block_reuses_and_completes(limits, batch):
    limits(working_sets, _BATCH_BYTES=batch)
    rng = np.random.default_rng(0)
    K = rng.normal(size=(40, 40))
    K = K + K.T
    block = WorkingBlock(DenseQ(K))
    for _ in range(20):
        samples = np.sort(rng.choice(40, size=int(rng.integers(1, 30)), replace=False))
        np.testing.assert_array_equal(block.switch(samples), K[np.ix_(samples, samples)])


def test_single_precision_is_verified_in_double():
    """Where float32 entries could hide a violation, the result holds for the exact kernel."""
    X, y = make_classification(600, 8, flip_y=0.2, random_state=0)
    signs = np.where(y == 1, 1.0, -1.0)
    exact = rbf_kernel(X, gamma=0.1)
    Q = KernelQ(RBF(gamma=0.1), X, dtype=np.float32)
    assert Q.dtype == np.float32
    assert Q.entry_error > 0
    for solver in SOLVERS:
        result = solver(svc_problem(Q, signs, 100.0), tol=1e-6)
        b = signs * result.a
        g = exact @ b - signs
        upper = np.where(signs > 0, 100.0, 0.0)
        grow, shrink = b < upper, b > upper - 100.0
        assert g[shrink].max() - g[grow].min() <= 1.1e-6


def test_low_rank_matrix_equals_its_product():
    rng = np.random.default_rng(0)
    U, weights = rng.normal(size=(80, 6)), rng.uniform(0.1, 2, size=6)
    p = rng.normal(size=80)
    dense = solve_smo(simplex_problem(DenseQ((U * weights) @ U.T), p), tol=1e-9)
    for solver in SOLVERS:
        low = solver(simplex_problem(LowRankQ(U, weights), p), tol=1e-9)
        assert low.objective == pytest.approx(dense.objective, abs=1e-8)


def test_choice_of_solver(monkeypatch):
    seen = []
    for name in CHOICE:
        real = CHOICE[name]
        monkeypatch.setitem(
            CHOICE, name, lambda *a, _f=real, _n=name, **k: (seen.append(_n), _f(*a, **k))[1]
        )
    _, problem = classification(n=300)
    solve(problem)
    solve(problem, cache_mb=0.1)
    X, y = make_classification(1600, 5, class_sep=2.0, flip_y=0.0, random_state=0)
    large = svc_problem(KernelQ(RBF(gamma=0.1), X), np.where(y == 1, 1.0, -1.0), 1.0)
    first = solve(large)
    solve(large, start=first.a)
    assert seen == ["smo", "decomposition", "smo", "chunking"]


def test_interruption_leaves_a_consistent_point():
    _, problem = classification(C=1000.0)
    for solver in SOLVERS:
        with interrupted(descent, "run_pairs", at=3):
            result = solver(problem, tol=1e-9)
        assert result.status is Status.INTERRUPTED
        assert problem.y @ result.a == pytest.approx(0.0, abs=1e-9)
        assert (result.a >= 0).all()
        np.testing.assert_allclose(result.gradient, problem.Q.dot(result.a) + problem.p, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_coarse_entries_never_pass_for_converged(solver):
    """With a C this high float32 cannot reach the tolerance; the result must say so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 2))
    signs = np.where(X[:, 0] + 0.8 * rng.normal(size=250) > 0, 1.0, -1.0)
    Q = KernelQ(RBF(gamma=1e-3), X, dtype=np.float32)
    result = solver(svc_problem(Q, signs, 1e6), tol=1e-3, max_iter=300_000)
    exact = rbf_kernel(X, gamma=1e-3)
    b = signs * result.a
    g = exact @ b - signs
    upper = np.where(signs > 0, 1e6, 0.0)
    true = g[b > upper - 1e6].max() - g[b < upper].min()
    assert result.violation == pytest.approx(max(0.0, true), rel=0.05, abs=1e-4)
    assert result.converged == (result.violation <= 1e-3)
    # the choice of solvers goes on in float64 and gets there
    again = solve(svc_problem(Q, signs, 1e6), tol=1e-3, max_iter=3_000_000)
    assert again.converged


def test_repeated_rows_in_single_precision_do_not_swap_for_ever():
    rng = np.random.default_rng(0)
    X = (rng.random((700, 20)) < 0.3).astype(float)
    X = np.vstack([X, X[:300], X[:200] + 1e-6])
    signs = np.where(rng.random(1200) < 0.4, 1.0, -1.0)
    Q = KernelQ(RBF(gamma=0.1), X, dtype=np.float32)
    problem = svc_problem(Q, signs, 1000.0)
    coarse = solve_smo(problem, max_iter=400_000)
    assert coarse.iterations < 200_000
    assert coarse.violation < 0.01
    assert solve(problem, max_iter=400_000).converged


@pytest.mark.parametrize("seed", range(3))
def test_a_pair_lost_in_rounding_is_not_the_end(seed):
    X, y = make_classification(
        300, 2, n_informative=2, n_redundant=0, flip_y=0.1, random_state=seed
    )
    problem = svc_problem(KernelQ(Linear(), X), np.where(y == 1, 1.0, -1.0), 1e10)
    result = solve_smo(problem)
    assert result.converged
    assert result.gap <= 1e-3 * abs(result.objective)
