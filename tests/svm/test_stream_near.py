"""Rows near the margin in memory, the others as a sum: the same machines in fewer passes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tamiz.svm import SVC
from tamiz.svm.stream import near as near_rows
from tamiz.svm.stream.near import NearAt, solve_machines
from tamiz.svm.stream.newton import MachineRun, Tasks, Units
from tests.svm.streams import noisy, rows_of


def far_and_near(X, y, table, K=1):
    """Question of a pass that keeps rows near the margin, at random weights."""
    rng = np.random.default_rng(3)
    p = X.shape[1]
    units = Units(np.zeros(p) if sparse.issparse(table) else X.mean(axis=0), X.std(axis=0))
    signs = np.array([[-1.0, 1.0, -1.0], [0.0, -1.0, 1.0]])[:K]
    return NearAt(
        tasks=Tasks(signs, np.array([[0.7, 2.0, 1.0], [1.0, 0.5, 3.0]])[:K]),
        units=units,
        machines=np.arange(K),
        point=rng.standard_normal((K, p + 1)),
        direction=rng.standard_normal((K, p + 1)),
        lengths=np.array([0.7, 0.2]),
        width=np.array([0.6, 0.3])[:K],
    )


@pytest.mark.parametrize("dense", [True, False])
def test_rows_kept_and_summed_up_are_those_of_the_definition_and_lie_below(dense):
    X, y = noisy(80, 3, seed=11, classes=3)
    table = X if dense else sparse.csr_matrix(X)
    make = far_and_near(X, y, table, K=2)
    whole = make.of(table, y)
    parts = make.of(table[:30], y[:30]).merge(make.of(table[30:], y[30:], 30))
    Z = np.column_stack([(X - make.units.shift) / make.units.scale, np.ones(len(y))])
    signs, penalties = make.tasks.signs[:, y], make.tasks.penalties[:, y]
    z = 1 - signs * ((make.point + 0.7 * make.direction) @ Z.T)
    near = ((np.abs(z) < make.width[:, None]) & (signs != 0)).any(axis=0)
    assert 0 < near.sum() < len(y)
    for found in (whole, parts):
        kept = np.concatenate([np.asarray(sparse.csr_matrix(p.X).todense()) for p in found.parts])
        np.testing.assert_array_equal(kept, X[near])
        np.testing.assert_array_equal(np.concatenate([p.codes for p in found.parts]), y[near])
        for k in range(2):
            alpha = penalties[k] * (z[k] > 0) * ~near
            for side, sign in enumerate((1, -1)):
                np.testing.assert_allclose(
                    found.far[k, side], (alpha * (signs[k] == sign)) @ Z, atol=1e-11
                )
            ends = make.point[k] + make.lengths[:, None] * make.direction[k]
            losses = np.maximum(0, 1 - signs[k] * (ends @ Z.T)) @ (penalties[k] * (signs[k] != 0))
            np.testing.assert_allclose(found.hinges[k], losses, rtol=1e-12)
    # with the rows far away summed up, the losses are never above the true ones
    rng = np.random.default_rng(4)
    for k, w in enumerate(3 * rng.standard_normal((2, 4))):
        true = penalties[k] * (signs[k] != 0) * np.maximum(0, 1 - signs[k] * (Z @ w))
        level, u = whole.far[k, :, -1].sum(), whole.far[k, 0] - whole.far[k, 1]
        assert true[near].sum() + level - u @ w <= true.sum() + 1e-9


@pytest.mark.parametrize("dense", [True, False])
def test_rows_near_the_margin_save_passes_and_change_nothing(dense, limits):
    X, y = noisy(3000, 6, seed=12)
    exact = SVC(C=0.1, kernel="linear", tol=1e-8).fit(X, y).objective_
    passes = []
    for small in (10**9, 500):
        limits(near_rows, _SMALL=small)
        rows = rows_of(X, y, 0.1, dense=dense, sample=np.arange(0, 3000, 10))
        rows.near_bytes, rows.row_bytes = 8 * 7 * 1500, 8 * 7
        machine = MachineRun(1.0 / rows.units.scale**2, np.zeros(7))
        solve_machines(rows, [machine], tol=1e-6, max_passes=60)
        assert machine.status == "converged"
        assert machine.bound <= exact * (1 + 1e-8)
        assert exact * (1 - 1e-8) <= machine.objective <= exact * (1 + 1e-6)
        passes.append(rows.passes)
    assert passes[1] < passes[0] / 2
    # the next machine starts from the rows that were kept
    ridge = machine.ridge * np.where(np.arange(6) == 5, np.inf, 1.0)
    machine.again(ridge)
    solve_machines(rows, [machine], tol=1e-6, max_passes=60)
    exact = SVC(C=0.1, kernel="linear", tol=1e-8).fit(X[:, :5], y).objective_
    assert exact * (1 - 1e-8) <= machine.objective <= exact * (1 + 1e-6)
    assert rows.passes - passes[1] <= 3


def test_a_margin_without_rows_ends_with_newton(limits):
    limits(near_rows, _SMALL=100)
    X, y = noisy(600, 4, seed=13)
    rows = rows_of(X, y, 1.0, sample=np.arange(200))
    rows.near_bytes, rows.row_bytes = 8 * 5 * 3, 8 * 5  # three rows at most
    machine = MachineRun(1.0 / rows.units.scale**2, np.full(5, 5.0))
    solve_machines(rows, [machine], tol=1e-5, max_passes=80)
    exact = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y).objective_
    assert machine.status == "converged"
    assert exact * (1 - 1e-8) <= machine.objective <= exact * (1 + 1e-5)
