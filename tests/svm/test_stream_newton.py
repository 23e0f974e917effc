"""Passes for linear machines: sums that add up, steps of Newton, a gap that is true."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from tamiz.svm import SVC
from tamiz.svm.stream import newton
from tamiz.svm.stream.near import solve_machines
from tamiz.svm.stream.newton import HingeAt, MachineRun, Tasks, sides
from tests.naive.streaming import slow_sums
from tests.svm.streams import noisy, rows_of


@pytest.mark.parametrize("dense", [True, False])
def test_the_sums_of_a_pass_are_those_of_the_formulas_and_add_up(dense):
    X, y = noisy(40, 3)
    rows = rows_of(X, y, 0.7, dense=dense)
    rng = np.random.default_rng(1)
    make = HingeAt(
        tasks=Tasks(np.array([[-1.0, 1.0]]), np.array([[0.7, 2.0]])),
        units=rows.units,
        machines=np.array([0]),
        point=rng.standard_normal((1, 4)),
        direction=rng.standard_normal((1, 4)),
        lengths=np.array([[0.6, 0.0, 1.5]]),
        before=np.array([[0.3, 0.5]]),
        after=np.array([[0.1, 0.3]]),
        rate=np.array([np.inf]),
    )
    table = X if dense else sparse.csr_matrix(X)
    whole = make.of(table, y)
    parts = make.of(table[:7], y[:7]).merge(make.of(table[7:], y[7:], 7))
    slow, duals = slow_sums(make, X, y)
    for found in (whole, parts, pickle.loads(pickle.dumps(make)).of(table, y)):
        np.testing.assert_allclose(found.losses[0], slow["losses"], rtol=1e-12)
        np.testing.assert_allclose(found.hinges[0], slow["hinges"], rtol=1e-12)
        np.testing.assert_allclose(found.rest[0], slow["rest"], rtol=1e-11)
        np.testing.assert_allclose(found.duals[0], duals, rtol=1e-10, atol=1e-12)
        lower = np.tril(found.curvature[0])
        np.testing.assert_allclose(lower, np.tril(slow["curvature"]), rtol=1e-11, atol=1e-12)


def test_a_sample_of_the_rows_gives_the_curvature_on_average():
    X, y = noisy(20_000, 3)
    rows = rows_of(X, y, 1.0)
    question = newton._question(rows, [MachineRun(np.ones(3), np.zeros(4))], [0])
    whole = question.of(X, y)
    question.rate = np.array([4000 / whole.bend[0]])
    some = question.of(X, y)
    assert not np.array_equal(some.curvature, whole.curvature)
    size = np.abs(whole.curvature[0]).max()
    assert np.abs(some.curvature - whole.curvature).max() < 0.1 * size
    np.testing.assert_array_equal(some.duals, whole.duals)


# ------------------------------------------------------------------------ the certified minimum


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("dense", [True, False])
def test_the_minimum_is_that_of_svc_and_the_gap_is_true(C, dense):
    X, y = noisy(seed=3, shift=0.0 if not dense else 5.0)
    exact = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
    rows = rows_of(X, y, C, dense=dense)
    machine = MachineRun(1.0 / rows.units.scale**2, np.zeros(X.shape[1] + 1))
    solve_machines(rows, [machine], tol=1e-6, max_passes=60)
    assert machine.status == "converged"
    low, high = machine.bound, machine.objective
    slack = 1e-7 * exact.objective_
    assert low <= exact.objective_ + slack
    assert high >= exact.objective_ - slack
    assert high - low <= 1e-6 * high
    w = machine.best[:-1] / rows.units.scale
    np.testing.assert_allclose(w, exact.coef_[0], atol=2e-2 * np.abs(exact.coef_).max())


def test_every_plane_lies_below_the_losses_also_without_some_features():
    X, y = noisy(200, 5, seed=4)
    rows = rows_of(X, y, 1.0)
    machine = MachineRun(1.0 / rows.units.scale**2, np.zeros(6))
    solve_machines(rows, [machine], tol=1e-3, max_passes=30)
    assert len(machine.planes) > 3
    Z, signs = rows.units.apply(X), 2.0 * y - 1.0
    rng = np.random.default_rng(0)
    for dropped in ([], [0], [1, 4]):
        w = rng.standard_normal((50, 5)) * 3
        w[:, dropped] = 0.0
        for b in (-2.0, 0.0, 1.3):
            losses = np.maximum(0, 1 - signs[:, None] * (Z @ w.T + b)).sum(axis=0)
            for u, s in machine.planes:
                kept = u.copy()
                kept[dropped] = 0.0
                assert (losses >= s - w @ kept - 1e-9 * np.abs(s)).all()


def test_planes_of_the_machine_before_bound_the_next_and_save_passes():
    X, y = noisy(400, 8, seed=5)
    rows = rows_of(X, y, 0.1)
    ridge = 1.0 / rows.units.scale**2
    machine = MachineRun(ridge, np.zeros(9))
    solve_machines(rows, [machine], tol=1e-5, max_passes=60)
    least = int(np.argmin(machine.best[:-1] ** 2 * ridge))
    fewer = ridge.copy()
    fewer[least] = np.inf
    machine.again(fewer)
    exact = SVC(C=0.1, kernel="linear", tol=1e-8).fit(np.delete(X, least, axis=1), y)
    assert 0.9 * exact.objective_ < machine.bound <= exact.objective_ * (1 + 1e-7)  # no pass yet
    before = rows.passes
    solve_machines(rows, [machine], tol=1e-5, max_passes=60)
    warm = rows.passes - before
    cold = MachineRun(fewer, np.zeros(9))
    before = rows.passes
    solve_machines(rows, [cold], tol=1e-5, max_passes=60)
    assert warm < rows.passes - before
    assert machine.best[least] == 0.0
    assert abs(machine.objective - exact.objective_) <= 1e-5 * exact.objective_


def test_sides_scales_down_the_heavier_side():
    dual = np.array([[2.0, 4.0, 4.0], [1.0, 1.0, 2.0]])
    u, s = sides(dual)
    np.testing.assert_allclose(u, [1.0 - 1.0, 2.0 - 1.0])
    assert s == 4.0
    assert sides(np.zeros((2, 3)))[1] == 0.0


def test_a_sample_that_misleads_costs_passes_not_the_answer():
    X, y = noisy(600, 4, seed=6)
    order = np.argsort(X[:, 0])
    rows = rows_of(X, y, 1.0, sample=order[250:350])  # rows of one sort only
    machine = MachineRun(1.0 / rows.units.scale**2, np.zeros(5))
    solve_machines(rows, [machine], tol=1e-5, max_passes=80)
    exact = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y)
    assert machine.status == "converged"
    assert abs(machine.objective - exact.objective_) <= 1e-5 * exact.objective_
