"""The machine with a budget of slack: a general optimiser, the penalty form, certificates."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import tamiz.svm.budget
from tamiz.kernels import RBF, IndefiniteKernelWarning
from tamiz.svm import SVC, BudgetSVC, HardMarginSVC, NotSeparableError
from tests.calls import interrupted_inside
from tests.naive.budget import budget_machine


def overlapping(n=30, p=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = (X[:, 0] + 0.7 * rng.standard_normal(n) > 0).astype(int)
    y[:2] = 0, 1
    return X, y


def least(X, y):
    """The least total slack of a linear machine, by a machine with a huge penalty."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return float(SVC(C=1e6, kernel="linear").fit(X, y).slack_.sum())


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), part=st.floats(0.05, 0.95), weighted=st.booleans())
def test_the_machine_equals_a_general_quadratic_program(seed, part, weighted):
    X, y = overlapping(16, 2, seed)
    weight = np.random.default_rng(seed).integers(1, 4, 16).astype(float) * weighted
    weight = weight if weighted else np.ones(16)
    machine = BudgetSVC(1.0, kernel="linear", tol=1e-6)
    loose = 2 * min(weight[y == 0].sum(), weight[y == 1].sum())
    low = least(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    assume(low < 0.99 * loose)
    budget = low + part * (loose - low)
    machine.set_params(budget=budget).fit(X, y, sample_weight=weight)
    optimum, w = budget_machine(X, 2.0 * y - 1, weight, budget)
    assert machine.objective_ == pytest.approx(optimum, rel=1e-5, abs=1e-8)
    np.testing.assert_allclose(machine.coef_[0], w, rtol=1e-3, atol=1e-4)
    assert machine.total_slack_ == pytest.approx(budget, rel=1e-9)
    assert machine.dual_objective_ <= optimum * (1 + 1e-6) + 1e-8


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("budget", [17.5, 22.0, 30.0])
def test_the_penalty_found_gives_the_same_machine(kernel, budget):
    X, y = overlapping(60, 3)
    machine = BudgetSVC(budget, kernel=kernel, coef0=1.0).fit(X, y)
    same = SVC(C=machine.C_, kernel=kernel, coef0=1.0, tol=1e-7).fit(X, y)
    assert machine.status_ == "converged"
    np.testing.assert_allclose(machine.decision_function(X), same.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(machine.alpha_, same.alpha_, atol=1e-3 * machine.C_)
    assert machine.total_slack_ == pytest.approx(budget)
    assert same.slack_.sum() == pytest.approx(budget, rel=1e-4)
    # both ends of the interval hold: the machine meets the budget, the dual variables their bounds
    assert machine.slack_.sum() <= budget * (1 + 1e-9)
    assert (machine.alpha_ >= 0).all() and (machine.alpha_ <= machine.C_).all()
    signs = 2.0 * y - 1
    assert machine.alpha_ @ signs == pytest.approx(0, abs=1e-9 * machine.C_ * 60)
    lower = machine.alpha_.sum() - 0.5 / machine.margin_**2 - machine.C_ * budget
    assert machine.dual_objective_ == pytest.approx(lower, rel=1e-9)
    assert 0 <= machine.duality_gap_ <= 1e-5 * machine.objective_
    assert np.count_nonzero(machine.slack_ > 1) <= budget


def test_margin_and_penalty_follow_the_budget_monotonically():
    X, y = overlapping(60, 3)
    machines = [BudgetSVC(b).fit(X, y) for b in (2.0, 5.0, 10.0, 20.0, 40.0)]
    assert (np.diff([m.margin_ for m in machines]) > 0).all()
    assert (np.diff([m.C_ for m in machines]) < 0).all()


def test_no_budget_is_the_hard_margin():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    machine, hard = BudgetSVC(0.0, kernel="linear").fit(X, y), HardMarginSVC().fit(X, y)
    assert machine.margin_ == pytest.approx(hard.margin_)
    assert pytest.approx(hard.alpha_.max()) == machine.C_
    same = SVC(C=machine.C_, kernel="linear", tol=1e-6).fit(X, y)
    assert same.margin_ == pytest.approx(hard.margin_, rel=1e-5)
    near = BudgetSVC(1e-4, kernel="linear").fit(X, y)
    assert near.margin_ == pytest.approx(hard.margin_, rel=1e-3)
    assert near.margin_ > machine.margin_
    X, y = overlapping()
    with pytest.raises(NotSeparableError, match="cannot be separated"):
        BudgetSVC(0.0, kernel="linear").fit(X, y)


def test_a_budget_that_cannot_be_met_is_refused_with_the_least_one():
    X, y = overlapping()
    needed = least(X, y)
    with pytest.raises(ValueError, match=r"No machine has a total slack of 0\.5 or less") as caught:
        BudgetSVC(0.5, kernel="linear").fit(X, y)
    said = float(str(caught.value).split("needs is ")[1].split(". ")[0])
    assert said == pytest.approx(needed, rel=1e-3)
    machine = BudgetSVC(1.001 * said, kernel="linear").fit(X, y)
    assert machine.total_slack_ == pytest.approx(1.001 * said)
    with pytest.raises(ValueError, match="No machine"):
        BudgetSVC(0.999 * said, kernel="linear").fit(X, y)


def test_equal_samples_need_the_slack_of_the_rarer_class_and_indefinite_kernels_no_proof():
    y = np.arange(40) % 2
    with pytest.raises(ValueError, match=r"feature space needs is 40\."):
        BudgetSVC(1.0, kernel="linear").fit(np.ones((40, 3)), y)
    X, y = overlapping(40, 3)
    with pytest.warns(IndefiniteKernelWarning, match="not positive semi-definite"):
        machine = BudgetSVC(8.0, kernel="sigmoid", gamma=2.0).fit(X, y)
    assert np.isfinite(machine.decision_function(X)).all()


def test_a_budget_without_effect_is_said_and_gives_the_frequent_class():
    X, y = overlapping()
    rarer = min(np.bincount(y))
    with pytest.warns(UserWarning, match=f"takes a slack of {2 * rarer}. Choose a smaller"):
        machine = BudgetSVC(2.0 * rarer, kernel="linear").fit(X, y)
    assert (machine.C_, machine.objective_, machine.margin_) == (0.0, 0.0, np.inf)
    assert machine.total_slack_ == 2 * rarer and machine.duality_gap_ == 0.0
    assert (machine.predict(X) == np.bincount(y).argmax()).all()
    smaller = BudgetSVC(1.99 * rarer, kernel="linear").fit(X, y)
    assert smaller.C_ > 0 and smaller.status_ == "converged"


def test_weights_are_repetitions_and_the_mean_is_a_budget_of_all_samples():
    X, y = overlapping(25)
    weight = np.random.default_rng(3).integers(0, 4, 25)
    weight[:2] = 1
    weighted = BudgetSVC(15.0, gamma=0.5).fit(X, y, sample_weight=weight)
    repeated = BudgetSVC(15.0, gamma=0.5).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.margin_ == pytest.approx(repeated.margin_, rel=1e-5)
    assert pytest.approx(repeated.C_, rel=1e-4) == weighted.C_
    mean = BudgetSVC(15.0 / weight.sum(), mean=True, gamma=0.5).fit(X, y, sample_weight=weight)
    assert mean.budget_ == pytest.approx(15.0)
    assert mean.margin_ == pytest.approx(weighted.margin_, rel=1e-9)
    costly = BudgetSVC(10.0, class_weight={1: 5.0}).fit(X, y)
    by_hand = BudgetSVC(10.0).fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0))
    assert costly.slack_ @ np.where(y == 1, 5.0, 1.0) == pytest.approx(10.0)
    assert by_hand.slack_ @ np.where(y == 1, 5.0, 1.0) == pytest.approx(10.0)


def test_several_classes_sparse_samples_and_precomputed_values():
    X, y = load_iris(return_X_y=True)
    machine = BudgetSVC(10.0, gamma=0.3).fit(X, y)
    assert machine.C_.shape == machine.total_slack_.shape == machine.budget_.shape == (3,)
    np.testing.assert_allclose(machine.total_slack_, 10.0)
    assert machine.score(X, y) > 0.9
    thin = BudgetSVC(10.0, gamma=0.3).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.C_, machine.C_, rtol=1e-6)
    K = RBF(gamma=0.3)(X)
    known = BudgetSVC(10.0, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(known.C_, machine.C_, rtol=1e-6)


def test_a_warm_start_takes_fewer_steps_and_finds_the_same():
    X, y = overlapping(200, 4)
    machine = BudgetSVC(60.0, warm_start=True).fit(X, y)
    cold = BudgetSVC(61.0).fit(X, y)
    warm = machine.set_params(budget=61.0).fit(X, y)
    assert warm.margin_ == pytest.approx(cold.margin_, rel=1e-5)
    assert warm.n_iter_ < cold.n_iter_


def test_interruption_keeps_the_machine_reached():
    X, y = overlapping(60, 3)
    with (
        interrupted_inside(tamiz.svm.budget, "solve", at=3),
        pytest.warns(ConvergenceWarning, match="interrupted"),
    ):
        machine = BudgetSVC(15.0).fit(X, y)
    assert machine.status_ == "interrupted"
    assert np.isfinite(machine.decision_function(X)).all()


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_a_limit_of_steps_is_said_and_leaves_feasible_dual_variables(steps):
    X, y = overlapping(60, 3)
    with pytest.warns(ConvergenceWarning, match=f"max_iter={steps}"):
        machine = BudgetSVC(20.0, max_iter=steps).fit(X, y)
    assert machine.status_ == "max_iter"
    assert (machine.alpha_ >= 0).all() and (machine.alpha_ <= machine.C_).all()
    best = BudgetSVC(20.0).fit(X, y)
    assert machine.dual_objective_ <= best.objective_ * (1 + 1e-9)


def test_saved_and_loaded_it_is_the_same(tmp_path):
    X, y = overlapping()
    machine = BudgetSVC(12.0).fit(X, y)
    tamiz.save(machine, tmp_path / "m.tamiz")
    again = tamiz.load(tmp_path / "m.tamiz")
    np.testing.assert_array_equal(again.decision_function(X), machine.decision_function(X))
    assert (again.C_, again.total_slack_) == (machine.C_, machine.total_slack_)
