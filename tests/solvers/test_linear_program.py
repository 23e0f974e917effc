"""The linear program behind the sparse machines, against the textbook's form and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from tamiz.runtime.progress import Progress
from tamiz.solvers import l1_programs as programs
from tamiz.solvers import linear_program
from tamiz.solvers.l1_programs import entry_penalty, least_norm
from tamiz.solvers.linear_program import (
    METHODS,
    HingeProgram,
    best_intercept,
    solve_hinge_program,
    solve_unpenalised,
)
from tests.calls import interrupted
from tests.naive import sparse_machines as naive

KINDS = ("normal", "whole numbers", "constants", "copies", "separable", "units", "zeros")


def case(kind, n, p, seed, scale=1.0, own=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    if kind == "whole numbers":
        X = rng.integers(-2, 3, size=(n, p)).astype(float)
    elif kind == "constants":
        X[:, ::2] = 3.0
    elif kind == "copies":
        X[:, 1::2] = X[:, :1]
    elif kind == "separable":
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
    elif kind == "units":
        X = X * 10.0 ** rng.uniform(-3, 3, size=p)
    elif kind == "zeros":
        X = X * (rng.random((n, p)) < 0.2)
    y[:2] = 1.0, -1.0
    C = scale * (rng.integers(1, 4, size=n) if own else np.ones(n))
    c = 10.0 ** rng.uniform(-2, 1, size=p) if own else np.ones(p)
    return HingeProgram(X, y, C, c)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "p"), [(2, 1), (3, 4), (10, 3), (30, 80), (120, 12), (60, 250)])
def test_the_minimum_of_the_textbook(method, kind, n, p):
    for seed, (scale, own) in enumerate([(0.05, False), (1.0, True), (100.0, False)]):
        program = case(kind, n, p, seed, scale, own)
        least = naive.least_objective(*program)
        found = solve_hinge_program(program, method=method, tol=1e-7)
        assert found.status == "converged"
        assert found.objective == pytest.approx(least, rel=1e-6)
        assert found.objective == pytest.approx(
            naive.objective(*program, found.w, found.b), rel=1e-9
        )
        assert_certified(program, found, 1e-7)


def assert_certified(program, found, tol):
    """The multipliers satisfy every constraint; their sum is within ``tol`` of the objective."""
    X, y, C, c = program
    assert (found.alpha >= 0).all() and (found.alpha <= C * (1 + 1e-12)).all()
    assert abs(y @ found.alpha) <= 1e-9 * max(found.alpha.sum(), 1e-300)
    g = X.T @ (y * found.alpha)
    np.testing.assert_allclose(found.g, g, atol=1e-9 * np.abs(g).max() + 1e-15)
    assert (np.abs(g) <= c * (1 + 1e-9)).all()
    assert found.gap <= tol * found.objective
    assert found.objective - found.alpha.sum() <= found.gap + 1e-12 * found.objective


@pytest.mark.parametrize("seed", range(6))
def test_brute_force_over_all_vertices(seed):
    program = case("normal", 5, 2, seed, scale=0.7)
    found = solve_hinge_program(program)
    assert found.objective == pytest.approx(naive.brute_force(*program), rel=1e-8)


@pytest.mark.parametrize("n", [50, 700])
def test_sparse_as_dense(n):
    program = case("zeros", n, 600, 3, scale=0.3)
    dense = solve_hinge_program(program)
    thin = solve_hinge_program(program._replace(X=sparse.csr_matrix(program.X)))
    assert thin.objective == pytest.approx(dense.objective, rel=2e-6)
    assert_certified(program, thin, 1e-6)
    X = sparse.csr_matrix(program.X)
    order = np.concatenate(
        [np.arange(a, b)[::-1] for a, b in zip(X.indptr, X.indptr[1:], strict=False)]
    )
    shuffled = sparse.csr_matrix((X.data[order], X.indices[order], X.indptr), shape=X.shape)
    assert not shuffled.has_sorted_indices
    again = solve_hinge_program(program._replace(X=shuffled))
    assert again.objective == pytest.approx(dense.objective, rel=2e-6)


def test_few_of_many_features_take_part():
    """More features than the first ones: those that matter come in, whatever the first were."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 900))
    y = np.where(X[:, 700] + X[:, 800] + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)
    program = HingeProgram(X, y, np.full(300, 0.05), np.ones(900))
    found = solve_hinge_program(program)
    assert found.w[[700, 800]].min() > 0
    assert np.count_nonzero(found.w) < 100
    answer = linprog(  # the dual, another form altogether
        -np.ones(300),
        A_ub=np.vstack([(y[:, None] * X).T, -(y[:, None] * X).T]),
        b_ub=np.ones(1800),
        A_eq=y[None],
        b_eq=[0.0],
        bounds=[(0, 0.05)] * 300,
    )
    assert found.objective == pytest.approx(-answer.fun, rel=1e-6)
    start = found._replace(g=np.roll(found.g, 450))  # a misleading start
    again = solve_hinge_program(program, start=start)
    assert again.objective == pytest.approx(-answer.fun, rel=1e-6)


def test_copies_share_inside_and_one_of_them_is_a_vertex():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    X = np.column_stack([X, X[:, 0]])
    program = HingeProgram(X, y, np.full(60, 0.2), np.ones(4))
    middle = solve_hinge_program(program, method="interior_point")
    assert middle.w[0] == pytest.approx(middle.w[3], rel=1e-3) and middle.w[0] > 0
    for method in ("auto", "vertex"):
        corner = solve_hinge_program(program, method=method)
        assert (corner.w[[0, 3]] == 0).sum() == 1
        assert corner.objective == pytest.approx(middle.objective, rel=1e-8)


def test_losses_that_cost_nothing_are_left_out():
    program = case("normal", 40, 5, 2)
    C = program.C.copy()
    C[[3, 8, 20]] = 0.0
    kept = np.flatnonzero(C)
    whole = solve_hinge_program(program._replace(C=C))
    part = solve_hinge_program(HingeProgram(program.X[kept], program.y[kept], C[kept], program.c))
    np.testing.assert_allclose(whole.w, part.w)
    assert (whole.alpha[[3, 8, 20]] == 0).all() and len(whole.alpha) == 40


def test_one_class_left():
    program = case("normal", 10, 2, 0)
    C = np.where(program.y > 0, 1.0, 0.0)
    found = solve_hinge_program(program._replace(C=C))
    assert not found.w.any() and found.objective == 0.0 and found.gap == 0.0
    assert found.b >= 1.0


@pytest.mark.parametrize("seed", range(20))
def test_the_intercept_is_the_best_there_is(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    values = rng.integers(-2, 3, size=n).astype(float)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    C = rng.integers(1, 4, size=n).astype(float)

    def losses(b):
        return float(C @ np.maximum(1 - y * (values + b), 0.0))

    best = min(losses(b) for b in y - values)
    assert losses(best_intercept(values, y, C)) == pytest.approx(best)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "p"), [(2, 1), (8, 3), (40, 5), (30, 90), (150, 10)])
def test_without_a_penalty_the_shortest_of_the_minimisers(kind, n, p):
    program = case(kind, n, p, n + p)
    least, norm = naive.least_norm_of_minimisers(program.X, program.y, program.C)
    found = solve_unpenalised(program)
    assert found.status == "converged"
    assert found.objective == pytest.approx(least, abs=1e-6 * n)
    assert (
        np.abs(found.w).sum() <= norm * (1 + 1e-4) + 1e-7
    )  # the oracle allows losses a little above the least
    assert found.gap <= 1e-6 * n


@pytest.mark.parametrize("kind", ["normal", "whole numbers", "copies", "units"])
@pytest.mark.parametrize(("n", "p"), [(2, 1), (9, 4), (60, 7), (25, 60)])
def test_the_first_weight_appears_at_the_entry_penalty(kind, n, p):
    program = case(kind, n, p, 7 * n + p, own=True)
    penalty = entry_penalty(*program)
    lighter = 2 * min(program.C[program.y > 0].sum(), program.C[program.y < 0].sum())
    if penalty == np.inf:  # the lighter class lies amid the heavier one: no plane helps
        assert naive.least_objective(*program._replace(C=1e3 * program.C)) == pytest.approx(
            1e3 * lighter, rel=1e-9
        )
        return
    below = program._replace(C=program.C * penalty * (1 - 1e-4))
    above = program._replace(C=program.C * penalty * 1.01)
    assert naive.least_objective(*below) == pytest.approx(lighter * penalty * (1 - 1e-4), rel=1e-9)
    assert naive.least_objective(*above) < lighter * penalty * 1.01 * (1 - 1e-10)
    assert not solve_hinge_program(below, tol=1e-8).w.any()
    assert solve_hinge_program(above, tol=1e-10).w.any()


def test_nothing_enters_if_nothing_varies():
    y = np.array([1.0, 1.0, -1.0])
    assert entry_penalty(np.ones((3, 2)), y, np.ones(3), np.ones(2)) == np.inf


def test_limits_and_interruption_keep_what_was_reached():
    program = case("normal", 80, 20, 5)
    least = solve_hinge_program(program).objective
    few = solve_hinge_program(program, method="interior_point", max_iter=2)
    assert few.status == "max_iter" and few.iterations == 2
    assert few.objective >= least and few.objective - few.gap <= least * (1 + 1e-9)
    with interrupted(programs, "_restricted"):
        cut = solve_hinge_program(program, method="vertex")
    assert cut.status == "interrupted"
    assert cut.objective <= least * (1 + 1e-4)


@pytest.mark.parametrize(("n", "p"), [(150, 40), (600, 10), (1500, 30)])
@pytest.mark.parametrize("seed", range(3))
def test_a_small_program_grows_to_the_whole_one(seed, n, p):
    """From the solution at another C, features and samples have to join."""
    program = case("normal", n, p, seed, scale=0.5)
    noise = np.random.default_rng(seed).normal(size=n)
    y = np.where(program.X[:, 0] - program.X[:, 1] + 0.5 * noise > 0, 1.0, -1.0)
    program = program._replace(y=y)
    start = solve_hinge_program(program._replace(C=0.5 * program.C))
    start = start._replace(alpha=2.0 * start.alpha)
    found = programs.vertex(program, start, max_iter=200, progress=Progress("test"))
    assert found.status == "converged"
    least = naive.least_objective(*program)
    assert program.judge(found.w)[0] == pytest.approx(least, rel=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_the_face_keeps_the_losses(seed):
    program = case("normal", 60, 4, seed)
    found = solve_unpenalised(program)
    X, y, C, _ = program
    w, b, _ = least_norm(program, found.alpha, found.w, found.b)
    least = naive.least_objective(X, y, C, np.zeros(4))
    assert least > 1.0
    assert naive.losses_along(X, y, C, w, b) == pytest.approx(least, rel=1e-7)


def test_a_shorter_plane_with_more_loss_is_refused(monkeypatch):
    program = case("normal", 60, 4, 2)
    least = naive.least_objective(*program._replace(c=np.zeros(4)))
    without = program.judge(np.zeros(4))[0]
    assert least < 0.99 * without
    monkeypatch.setattr(
        linear_program, "least_norm", lambda *_: (np.zeros(4), program.judge(np.zeros(4))[1], 1)
    )
    assert solve_unpenalised(program).objective == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_units_and_origins_of_columns_do_not_matter(method, thin):
    """Powers of two; with penalties to match, the same program."""
    plain = case("normal", 60, 6, 1, own=True)
    factor = 2.0 ** np.array([-40, -12, 0, 3, 15, 40])
    origin = np.zeros(6) if thin else np.array([0.0, 0.0, 2.0**20, 0.0, 2.0**10, 0.0])
    X = np.round(plain.X * 2**20) / 2**20  # so that adding the origin rounds nothing
    plain = plain._replace(X=X)
    other = HingeProgram((X + origin) * factor, plain.y, plain.C, plain.c * factor)
    if thin:
        other = other._replace(X=sparse.csr_array(other.X))
    a, b = (solve_hinge_program(program, method=method) for program in (plain, other))
    assert b.status == "converged"
    np.testing.assert_allclose(b.w * factor, a.w, rtol=1e-6, atol=1e-9)
    assert b.b + origin @ (b.w * factor) == pytest.approx(a.b, abs=1e-6)
    np.testing.assert_allclose(b.g / factor, a.g, rtol=1e-5, atol=1e-6)
    assert b.objective == pytest.approx(naive.least_objective(*plain), rel=1e-6)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_vertex_is_polished(seed):
    """Weights and multipliers that are off by 1e-6 are put right to the last digits."""
    rng = np.random.default_rng(seed)
    program = case("normal", 60, 6, seed, own=True)
    exact = solve_hinge_program(program, method="vertex")
    kept = exact.w != 0
    w = exact.w + np.where(kept, 1e-6 * rng.normal(size=6), 0.0)
    free = (exact.alpha > 1e-6) & (exact.alpha < program.C - 1e-6)
    alpha = exact.alpha + np.where(free, 1e-6 * rng.normal(size=60), 0.0)
    assert kept.any() and free.any()
    better = programs.polished(program, w, exact.b, alpha)
    np.testing.assert_allclose(better.w, exact.w, rtol=0, atol=1e-10)
    assert program.feasible(better.alpha)[0].sum() == pytest.approx(exact.objective, rel=1e-11)


def test_ctrl_c_after_the_interior_point():
    program = case("normal", 60, 6, 2)
    with interrupted(linear_program, "_has_choice"):
        found = solve_hinge_program(program)
    assert found.status == "interrupted"
    assert found.objective == pytest.approx(naive.least_objective(*program), rel=1e-6)
    with interrupted(linear_program, "least_norm"):
        assert solve_unpenalised(program).status == "interrupted"


@pytest.mark.parametrize("seed", range(4))
def test_any_multipliers_are_made_feasible(seed):
    program = case("normal", 30, 6, seed, own=True)
    alpha, g = program.feasible(np.random.default_rng(seed).normal(size=30) * 3)
    assert (alpha >= 0).all() and (alpha <= program.C).all() and alpha.any()
    assert program.y @ alpha == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(g, program.X.T @ (program.y * alpha), atol=1e-12)
    assert (np.abs(g) <= program.c * (1 + 1e-12)).all()
