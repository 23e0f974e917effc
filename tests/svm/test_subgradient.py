"""Subgradient descent: its bounds, its weights, and the machine built on it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from tamiz.runtime.progress import Progress
from tamiz.solvers.subgradient import (
    HingeProblem,
    hinge_and_subgradient,
    into_ball,
    machine_constants,
    solve_subgradient,
    subgradient_descent,
)
from tamiz.svm import SubgradientClassifier
from tests.calls import interrupted
from tests.naive import online as naive


def two_classes(n=80, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0.2).astype(int)
    return X, y


def exact(X, y, lambda_, weight):
    """Optimal weights of λ/2 ‖w‖² + weighted mean hinge over X and a constant feature."""
    A = np.c_[X, np.ones(len(X))]
    machine = LinearSVC(
        C=1 / (weight.sum() * lambda_), loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6
    ).fit(A, y, sample_weight=weight)
    return machine.coef_[0]


def problem(X, y, lambda_, weight=None):
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    return HingeProblem(X, np.where(y == 1, 1.0, -1.0), weight / weight.sum(), lambda_, True)


# ------------------------------------------------------------------------- the general method


def distance_to(target, norm):
    """A convex function with subgradients of norm at most 1 and minimum 0 at ``target``."""

    def value_and_subgradient(b):
        gap = b - target
        if norm == "euclidean":
            length = np.linalg.norm(gap)
            return length, gap / length if length else gap
        worst = np.abs(gap).argmax()
        v = np.zeros_like(gap)
        v[worst] = np.sign(gap[worst])
        return np.abs(gap).max(), v

    return value_and_subgradient


@given(
    target=st.lists(st.floats(-10, 10), min_size=1, max_size=4),
    norm=st.sampled_from(["euclidean", "maximum"]),
    T=st.integers(1, 300),
)
def test_the_gap_of_any_lipschitz_function_is_within_the_bound(target, norm, T):
    target = np.array(target)
    B = max(np.linalg.norm(target), 1e-3)
    f = distance_to(target, norm)
    result = subgradient_descent(f, np.zeros(len(target)), B / np.sqrt(T), T)
    assert result.objective <= B / np.sqrt(T) * (1 + 1e-9)
    assert (result.iterations, result.status, result.bound) == (T, "limit", None)
    assert result.objective == pytest.approx(f(result.solution)[0])


def test_the_average_is_over_the_iterates_at_which_subgradients_were_taken():
    visited = []

    def f(b):
        visited.append(b.copy())
        return 0.5 * b @ b, b

    result = subgradient_descent(f, np.array([1.0, -2.0]), lambda t: 1 / (t + 1), 5)
    np.testing.assert_allclose(result.solution, np.mean(visited[:5], axis=0))
    last = subgradient_descent(f, np.array([1.0, -2.0]), lambda t: 1 / (t + 1), 5, average=False)
    np.testing.assert_allclose(last.solution, visited[4] * (1 - 1 / 6))


@given(
    target=st.lists(st.floats(-10, 10), min_size=1, max_size=4),
    norm=st.sampled_from(["euclidean", "maximum"]),
    T=st.integers(1, 300),
)
def test_the_best_iterate_is_the_least_of_those_visited_and_within_the_bound(target, norm, T):
    target = np.array(target)
    B = max(np.linalg.norm(target), 1e-3)
    distance, visited = distance_to(target, norm), []

    def f(b):
        value = distance(b)
        visited.append((value[0], b.copy()))
        return value

    result = subgradient_descent(f, np.zeros(len(target)), B / np.sqrt(T), T, "best")
    values = [value for value, _ in visited[:T]]
    assert result.objective == min(values)
    np.testing.assert_array_equal(result.solution, visited[int(np.argmin(values))][1])
    assert result.objective <= B / np.sqrt(T) * (1 + 1e-9)
    assert result.objective <= distance(np.zeros(len(target)))[0]


@given(
    beta=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5),
    radius=st.floats(0.01, 100),
    seed=st.integers(0, 1000),
)
def test_projection_finds_the_nearest_point_of_the_ball(beta, radius, seed):
    beta = np.array(beta)
    near = into_ball(beta, radius)
    assert np.linalg.norm(near) <= radius * (1 + 1e-12)
    other = into_ball(np.random.default_rng(seed).standard_normal(len(beta)) * radius, radius)
    assert np.linalg.norm(near - beta) <= np.linalg.norm(other - beta) + 1e-9


# ------------------------------------------------------------------------------ the machine


@given(seed=st.integers(0, 1000), lambda_=st.sampled_from([1.0, 0.1, 0.01]))
def test_the_subgradient_lies_below_the_function(seed, lambda_):
    X, y = two_classes(20, 2, seed)
    machine = problem(X, y, lambda_, np.random.default_rng(seed).integers(1, 4, 20))
    a, b = np.random.default_rng(seed + 1).standard_normal((2, 3))
    value_a, v = hinge_and_subgradient(machine, a)
    value_b, _ = hinge_and_subgradient(machine, b)
    # strong convexity: Proposition 5.13
    assert value_b >= value_a + v @ (b - a) + lambda_ / 2 * (b - a) @ (b - a) - 1e-12
    rows = np.c_[X, np.ones(20)].tolist()
    assert value_a == pytest.approx(
        naive.hinge_objective(rows, machine.signs, machine.weight.tolist(), a.tolist(), lambda_)
    )


@given(seed=st.integers(0, 1000), lambda_=st.sampled_from([1.0, 0.1, 0.01, 1e-4]))
def test_the_constants_hold(seed, lambda_):
    rng = np.random.default_rng(seed)
    X, y = two_classes(20, 2, seed)
    y[:2] = 0, 1
    weight = rng.integers(1, 4, 20).astype(float)
    machine = problem(rng.choice([0.1, 1, 10]) * X, y, lambda_, weight)
    constants = machine_constants(machine)
    assert np.linalg.norm(exact(machine.X, y, lambda_, weight)) <= constants.radius * (1 + 1e-3)
    for _ in range(10):
        beta = into_ball(rng.standard_normal(3) * 2 * constants.radius, constants.radius)
        assert np.linalg.norm(hinge_and_subgradient(machine, beta)[1]) <= constants.lipschitz


@pytest.mark.parametrize("step", ["constant", "decreasing"])
def test_iterates_equal_the_naive_ones(step):
    X, y = two_classes(12, 2)
    lambda_, T = 0.2, 30
    weight = np.arange(1.0, 13)
    machine = problem(X, y, lambda_, weight)
    B, rho = machine_constants(machine, radius=0.8)
    assert B == 0.8
    lengths = [
        B / (rho * np.sqrt(T)) if step == "constant" else 1 / (lambda_ * t) for t in range(1, T + 1)
    ]
    rows = np.c_[X, np.ones(12)].tolist()
    iterates = naive.subgradient_steps(rows, machine.signs, weight, lambda_, lengths, B)
    for average, beta in ((True, naive.mean(iterates[:T])), (False, iterates[T])):
        result = solve_subgradient(machine, step=step, radius=0.8, n_iter=T, average=average)
        np.testing.assert_allclose(result.solution, beta, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("step", ["constant", "decreasing"])
@pytest.mark.parametrize("lambda_", [1.0, 0.1, 0.01])
def test_the_gap_is_within_the_bound(step, lambda_):
    X, y = two_classes()
    weight = np.random.default_rng(1).integers(1, 5, len(y)).astype(float)
    machine = problem(X, y, lambda_, weight)
    optimum = hinge_and_subgradient(machine, exact(X, y, lambda_, weight))[0]
    B, rho = machine_constants(machine)
    for T in (1, 10, 100, 3000):
        fitted = SubgradientClassifier(lambda_, step=step, max_iter=T)
        fitted.fit(X, y, sample_weight=weight)
        theory = {
            "constant": B * rho / np.sqrt(T),
            "decreasing": rho**2 * (1 + np.log(T)) / (2 * lambda_ * T),
        }[step]
        assert fitted.bound_ == pytest.approx(theory)
        assert -1e-8 <= fitted.objective_ - optimum <= fitted.bound_
        assert fitted.n_iter_ == T


@pytest.mark.parametrize("step", ["constant", "decreasing"])
def test_the_bound_holds_for_the_best_machine_in_a_small_ball(step):
    X, y = two_classes()
    machine = problem(X, y, 0.01)
    fitted = SubgradientClassifier(0.01, step=step, radius=0.5, max_iter=2000).fit(X, y)
    weights = np.r_[fitted.coef_[0], fitted.intercept_]
    assert np.linalg.norm(weights) <= 0.5 + 1e-12
    rng = np.random.default_rng(0)
    rivals = [into_ball(exact(X, y, 0.01, np.ones(len(y))), 0.5)]
    rivals += [into_ball(rivals[0] + 0.1 * rng.standard_normal(4), 0.5) for _ in range(200)]
    best = min(hinge_and_subgradient(machine, rival)[0] for rival in rivals)
    assert fitted.objective_ <= best + fitted.bound_
    assert fitted.objective_ <= best + 0.01


def test_many_steps_come_near_the_optimum():
    X, y = two_classes()
    optimum = hinge_and_subgradient(problem(X, y, 0.05), exact(X, y, 0.05, np.ones(len(y))))[0]
    fitted = SubgradientClassifier(0.05, step="decreasing", max_iter=20_000).fit(X, y)
    assert fitted.objective_ <= 1.005 * optimum


# -------------------------------------------------------------------------------- weights


@settings(max_examples=25)
@given(seed=st.integers(0, 300), step=st.sampled_from(["constant", "decreasing"]))
def test_weights_are_repetitions(seed, step):
    X, y = two_classes(25, 3, seed)
    y[:4] = 0, 1, 2, 0
    weight = np.random.default_rng(seed).integers(0, 4, 25)
    weight[:3] = 1
    for class_weight in (None, "balanced", {0: 1.0, 1: 2.5}):
        machine = SubgradientClassifier(C=0.5, step=step, class_weight=class_weight, max_iter=60)
        weighted = clone(machine).fit(X, y, sample_weight=weight)
        repeated = clone(machine).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(weighted.bound_, repeated.bound_, rtol=1e-9)
        np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-9)


def test_a_class_of_weight_zero_is_left_out():
    X, y = load_iris(return_X_y=True)
    fitted = SubgradientClassifier().fit(X, y, sample_weight=(y != 1).astype(float))
    assert fitted.classes_.tolist() == [0, 2]
    two = SubgradientClassifier().fit(X[y != 1], y[y != 1])
    np.testing.assert_array_equal(fitted.coef_, two.coef_)
    with pytest.raises(ValueError, match=r"one class only .*positive sample_weight"):
        SubgradientClassifier().fit(X, y, sample_weight=(y == 1).astype(float))


def test_balanced_classes_pull_equally():
    X, y = two_classes(200)
    counts = np.bincount(y)
    balanced = SubgradientClassifier(class_weight="balanced").fit(X, y)
    by_hand = {k: len(y) / (2 * counts[k]) for k in (0, 1)}
    same = SubgradientClassifier(class_weight=by_hand).fit(X, y)
    np.testing.assert_array_equal(balanced.coef_, same.coef_)


# ------------------------------------------------------------------------- the estimator


def test_dense_equals_sparse_and_several_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    dense = SubgradientClassifier(max_iter=300).fit(X, names)
    csr = SubgradientClassifier(max_iter=300).fit(sparse.csr_array(X), names)
    np.testing.assert_allclose(csr.coef_, dense.coef_, rtol=1e-6)
    assert dense.coef_.shape == (3, 4)
    assert dense.intercept_.shape == dense.objective_.shape == dense.bound_.shape == (3,)
    for k, name in enumerate(dense.classes_):
        alone = SubgradientClassifier(max_iter=300).fit(X, names == name)
        np.testing.assert_allclose(dense.coef_[k], alone.coef_[0])
    values = dense.decision_function(X)
    np.testing.assert_array_equal(dense.predict(X), dense.classes_[values.argmax(axis=1)])
    assert np.mean(csr.predict(sparse.csr_array(X)) == names) > 0.7


def test_tol_chooses_the_number_of_steps():
    X, y = two_classes()
    machine = SubgradientClassifier(0.5, step="decreasing", tol=0.05, max_iter=10**5).fit(X, y)
    assert machine.status_ == "converged"
    assert machine.bound_ <= 0.05
    fewer = SubgradientClassifier(0.5, step="decreasing", max_iter=machine.n_iter_ - 1).fit(X, y)
    assert fewer.bound_ > 0.05
    with pytest.warns(ConvergenceWarning, match=r"max_iter=10 .*above tol=0.001; increase"):
        hasty = SubgradientClassifier(0.5, tol=1e-3, max_iter=10).fit(X, y)
    assert (hasty.status_, hasty.n_iter_) == ("limit", 10)


def test_no_average_no_bound():
    X, y = two_classes()
    assert SubgradientClassifier(average=False, max_iter=5).fit(X, y).bound_ is None


def test_nothing_but_zeros():
    machine = SubgradientClassifier(fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert not machine.coef_.any()
    assert (machine.objective_, machine.bound_) == (1.0, 0.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ctrl_c_keeps_what_was_reached(n_classes):
    X, y = two_classes()
    y[:10] = np.arange(10) % n_classes
    told = pytest.warns(ConvergenceWarning, match=r"interrupted in iteration 40 of machine 1 of")
    with interrupted(Progress, "update", at=40), told:
        machine = SubgradientClassifier(0.1, max_iter=1000).fit(X, y)
    assert machine.status_ == "interrupted"
    assert machine.n_iter_ == 40
    assert machine.predict(X).shape == y.shape
    assert machine.coef_[0].any()
    if n_classes == 2:
        whole = problem(X, y, 0.1)
        optimum = hinge_and_subgradient(whole, exact(X, y, 0.1, np.ones(len(y))))[0]
        assert machine.objective_ - optimum <= machine.bound_  # of the 40 steps made
        B, rho = machine_constants(whole)
        assert machine.bound_ > B * rho / np.sqrt(40)
    else:
        assert not machine.coef_[1:].any()
        assert machine.bound_ is None


def test_frames_keep_their_names():
    X, y = two_classes()
    plain = SubgradientClassifier(max_iter=50).fit(X, y)
    for frame in (pd.DataFrame(X, columns=list("abc")), pl.DataFrame(X, schema=list("abc"))):
        machine = SubgradientClassifier(max_iter=50).fit(frame, y)
        assert machine.feature_names_in_.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(machine.coef_, plain.coef_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((80, 3), np.nan)}, r"X contains NaN \(first at row 0, column 0.*Fill"),
        ({"X": np.full((80, 3), np.inf)}, r"X contains infinity .*Replace"),
        ({"X": [["a", "b"]] * 80}, r"holds text .*'a' at row 0.*Encode"),
        ({"X": np.full((80, 3), 1e200)}, r"X has very large values.*Scale the features"),
        ({"X": pd.DataFrame(np.ones((80, 2)), columns=["a", "a"])}, r"first 'a'; rename"),
        ({"y": np.ones(80)}, r"y holds one class only \(1.0"),
        ({"y": np.arange(80) / 7}, r"continuous"),
        ({"sample_weight": -np.ones(80)}, r"sample_weight\[0\] is -1.0; .*not negative"),
        ({"sample_weight": np.ones(79)}, r"sample_weight.*\(79,\), expected \(80,\)"),
        ({"sample_weight": np.zeros(80)}, r"sample_weight is zero for every sample"),
        ({"lambda_": -2}, r"'lambda_' .*Got -2"),
        ({"radius": 0}, r"'radius' .*Got 0"),
        ({"step": "random"}, r"'step' .*'constant'.*Got 'random'"),
        ({"class_weight": {3: 1}}, r"class_weight names the class 3"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(change, message):
    X, y = two_classes()
    data = {"X": X, "y": y, "sample_weight": None}
    parameters = {name: value for name, value in change.items() if name not in data}
    data |= {name: value for name, value in change.items() if name in data}
    with pytest.raises(ValueError, match=message):
        SubgradientClassifier(max_iter=3, **parameters).fit(**data)


# ------------------------------------------------------------------------------ the best iterate


@pytest.mark.parametrize("step", ["constant", "decreasing"])
@given(seed=st.integers(0, 1000), lambda_=st.sampled_from([1.0, 0.1, 0.01]))
@settings(max_examples=15)
def test_the_best_iterate_of_a_machine_keeps_the_bound_of_the_average(step, seed, lambda_):
    X, y = two_classes(40, 2, seed)
    y[:2] = 0, 1
    machine = problem(X, y, lambda_)
    best = solve_subgradient(machine, step=step, n_iter=60, average="best")
    averaged = solve_subgradient(machine, step=step, n_iter=60)
    optimum, _ = hinge_and_subgradient(machine, exact(X, y, lambda_, np.ones(40)))
    assert best.bound == averaged.bound
    assert -1e-6 <= best.objective - optimum <= averaged.bound
    assert best.objective <= hinge_and_subgradient(machine, np.zeros(3))[0]
    visited, beta = [], np.zeros(3)
    B, rho = machine_constants(machine)
    for t in range(1, 61):
        value, v = hinge_and_subgradient(machine, beta)
        visited.append(value)
        length = B / (rho * np.sqrt(60)) if step == "constant" else 1 / (lambda_ * t)
        beta = into_ball(beta - length * v, B)
    assert best.objective == pytest.approx(min(visited), rel=1e-12)


def test_the_best_iterate_is_kept_when_interrupted():
    X, y = two_classes()
    with interrupted(Progress, "update", 5), pytest.warns(ConvergenceWarning, match="interrupted"):
        machine = SubgradientClassifier(0.1, average="best", max_iter=100).fit(X, y)
    start = SubgradientClassifier(0.1, average="best", max_iter=1).fit(X, y)
    assert machine.status_ == "interrupted" and machine.bound_ is not None
    assert machine.objective_ <= start.objective_
    with pytest.raises(ValueError, match="average"):
        SubgradientClassifier(average="worst").fit(X, y)
