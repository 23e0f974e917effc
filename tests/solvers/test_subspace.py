"""Weights in a subspace against enumeration, a general solver, and the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
import quadprog

from tamiz.solvers import Status
from tamiz.solvers.subspace import Span, solve_in_subspace
from tests.naive import qpfs as naive


def matrix(m, seed, twins=False):
    """A positive definite matrix of positive entries, a relevance, and eigenvectors."""
    rng = np.random.default_rng(seed)
    B = rng.random((m, m))
    Q, F = B @ B.T / m + 0.01 * np.eye(m), 3 * rng.random(m)
    if twins:  # a feature given twice: constraints that depend on each other
        Q[1], F[1] = Q[0], F[0]
        Q[:, 1] = Q[:, 0]
        Q[1, 1] = Q[0, 0]
    return Q, F, *np.linalg.eigh(Q)


def span(values, U):
    """The subspace of these eigenvectors."""
    return Span(np.ascontiguousarray(U.T), np.diag(values**-0.5), np.diag(values))


def general_solver(values, U, p):
    """``y`` by quadprog."""
    constraints = np.column_stack([U.sum(axis=0), U.T])
    return quadprog.solve_qp(np.diag(values), -U.T @ p, constraints, np.eye(len(U) + 1)[0], 1)[:2]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8])
def test_equals_trying_all_active_sets(alpha):
    for seed in range(3):
        _, F, values, U = matrix(6, seed)
        for k in range(1, 7):
            x, best = naive.in_subspace(U[:, -k:], values[-k:], F, alpha)
            p = -F * alpha / (1 - alpha)
            found = solve_in_subspace(span(values[-k:], U[:, -k:]), p)
            assert (1 - alpha) * found.objective == pytest.approx(best, abs=1e-10)
            np.testing.assert_allclose(found.a, x, atol=1e-8)


@pytest.mark.parametrize("limit", [1, 3, -1])
def test_objective_is_that_of_the_weights_returned(limit):
    _, F, values, U = matrix(40, 3)
    kept, vectors, p = values[-25:], U[:, -25:], -9.0 * F
    found = solve_in_subspace(span(kept, vectors), p, max_iter=limit)
    assert (found.status is Status.CONVERGED) == (limit < 0)
    assert found.a.min() >= 0 and found.a.sum() == pytest.approx(1.0)
    y = vectors.T @ found.a
    assert found.objective == pytest.approx(0.5 * kept @ y**2 + p @ found.a, rel=1e-9)


@pytest.mark.parametrize("twins", [False, True])
@pytest.mark.parametrize("m", [1, 2, 5, 17])
def test_equals_a_general_solver_for_every_rank(m, twins):
    for seed in range(4):
        Q, F, values, U = matrix(m, seed, twins and m > 2)
        p = -F * (seed + 1.0) ** 2
        for k in range(1, int((values > 1e-10).sum()) + 1):
            kept, vectors = values[-k:], U[:, -k:]
            y, best = general_solver(kept, vectors, p)
            found = solve_in_subspace(span(kept, vectors), p)
            assert found.status is Status.CONVERGED
            assert found.objective == pytest.approx(best, abs=1e-9)
            assert found.gap <= 1e-9
            np.testing.assert_allclose(found.a, vectors @ y, atol=1e-8)
            assert found.a.min() >= 0.0
            assert found.a.sum() == pytest.approx(1.0, abs=1e-14)
            # nearly all weights differ from zero: fewer constraints than unknowns are active
            assert np.count_nonzero(found.a) >= m - k + 1 - twins
        if not twins:  # all eigenvectors: the problem over the whole simplex
            np.testing.assert_allclose(found.a, naive.solve(Q, -p, 0.5), atol=1e-5)


def test_several_rounds_over_many_constraints():
    _, F, values, U = matrix(500, 0)
    kept, vectors = values[-90:], U[:, -90:]
    y, best = general_solver(kept, vectors, -0.2 * F)
    found = solve_in_subspace(span(kept, vectors), -0.2 * F, tol=1e-10)
    assert found.objective == pytest.approx(best, abs=1e-10)
    np.testing.assert_allclose(found.a, vectors @ y, atol=1e-9)
    assert found.gap <= 1e-12
    assert np.count_nonzero(found.a == 0.0) > 32  # more than one round could add
    short = solve_in_subspace(span(kept, vectors), -0.2 * F, max_iter=5)
    assert (short.status, short.iterations) == (Status.MAX_ITER, 5)
    assert short.a.sum() == pytest.approx(1.0)


def test_a_subspace_without_weights_is_reported():
    opposed = Span(np.array([[0.8, -0.6, 0.1]]), np.eye(1), np.eye(1) / 1.01)
    assert solve_in_subspace(opposed, np.zeros(3)).status is Status.INFEASIBLE
    balanced = Span(np.array([[1.0, -1.0]]), np.eye(1), np.eye(1) / 2)
    assert solve_in_subspace(balanced, np.zeros(2)).status is Status.INFEASIBLE


@pytest.mark.timeout(60)
@pytest.mark.parametrize("tol", [1e-8, 1e-4])
def test_it_ends_where_small_eigenvalues_are_kept(tol):
    """Rows of the matrix are long beside the weights: both tests of a constraint must agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60))
    X[:, 30:] = X[:, :30] + 1e-5 * rng.normal(size=(30, 30))
    Q = np.abs(np.corrcoef(X, rowvar=False))
    values, vectors = np.linalg.eigh(Q)
    kept = values > 1e-12
    found = solve_in_subspace(
        span(values[kept], vectors[:, kept]), -rng.uniform(size=60), tol=tol, max_iter=5000
    )
    assert found.status in (Status.CONVERGED, Status.STALLED)
    assert found.a.min() >= 0.0
