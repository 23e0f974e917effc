"""The linear program of a sparse regression: minimum, certificate, units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tamiz.solvers.tube_program import TubeProgram, solve_tube_program
from tests.naive.regression import l1_minimum


def program(make=np.asarray, seed=0, epsilon=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 6))
    y = 2.0 * X[:, 0] - X[:, 2] + rng.normal(size=30)
    return TubeProgram(make(X), y, rng.uniform(0.1, 1.0, 30), np.ones(6), epsilon)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 50.0])
def test_minimum_and_certificate(make, epsilon):
    given = program(make, epsilon=epsilon)
    found = solve_tube_program(given)
    expected = l1_minimum(program().X, given.target, given.C, epsilon)
    assert found.objective == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert given.objective(found.w, found.b) == pytest.approx(found.objective, abs=1e-9)
    assert found.status == "converged"
    beta = found.alpha
    assert (np.abs(beta) <= given.C * (1 + 1e-12)).all() and abs(beta.sum()) < 1e-12
    assert (np.abs(given.X.T @ beta) <= 1 + 1e-12).all()
    bound = beta @ given.target - epsilon * np.abs(beta).sum()
    assert found.objective - bound <= found.gap + 1e-9


def test_units_of_columns_and_target_change_nothing_but_the_weights():
    given = program()
    scale = np.array([1.0, 1e6, 1e-6, 1.0, 3.0, 1.0])
    shift = np.array([0.0, 1e9, 0.0, 500.0, 0.0, 0.0])
    other = TubeProgram(given.X * scale + shift, 1e3 * given.target - 7.0, given.C, scale, 200.0)
    plain, found = solve_tube_program(given), solve_tube_program(other)
    np.testing.assert_allclose(found.w * scale, 1e3 * plain.w, rtol=1e-6, atol=1e-6)
    fitted = other.X @ found.w + found.b
    expected = 1e3 * (given.X @ plain.w + plain.b) - 7.0
    np.testing.assert_allclose(fitted, expected, rtol=1e-6, atol=1e-4)
    assert found.objective == pytest.approx(1e3 * plain.objective, rel=1e-8)
