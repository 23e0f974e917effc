"""The perceptron: Novikoff's bound, cycles, the pocket."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from tamiz.solvers.perceptron import solve_perceptron
from tamiz.svm import HardMarginSVC, PerceptronClassifier
from tests.calls import interrupted_soon
from tests.naive import online as naive

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
XOR = [0, 1, 1, 0]


def separable(seed, n=30, p=3, margin=0.1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((4 * n, p))
    values = X @ rng.standard_normal(p) + 0.3 * rng.standard_normal()
    X, values = X[np.abs(values) > margin][:n], values[np.abs(values) > margin][:n]
    y = (values > 0).astype(int)
    if len(set(y.tolist())) == 1:
        X[0], y[0] = -X.sum(axis=0) * 10, 1 - y[0]
    return X, y


def overlapping(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)


def quietly(machine, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(X, y)


# ------------------------------------------------------------------------- separable classes


@given(seed=st.integers(0, 500), intercept=st.booleans(), as_sparse=st.booleans())
def test_weights_mistakes_and_passes_equal_the_naive_ones(seed, intercept, as_sparse):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (8, 2)).astype(float)  # integers: sums are exact, ties occur
    signs = rng.choice([-1.0, 1.0], 8)
    rows = np.c_[X, np.full(8, float(intercept))].tolist()
    beta, mistakes, epochs, separated = naive.perceptron(rows, signs, 25)
    result = solve_perceptron(
        sparse.csr_matrix(X) if as_sparse else X, signs, intercept=intercept, max_iter=25
    )
    assert (result.status == "separated") == separated
    if result.status == "cycles":  # noticed before the limit
        assert result.iterations <= 25
        beta, mistakes, epochs, _ = naive.perceptron(rows, signs, result.iterations)
    np.testing.assert_array_equal(result.solution, beta)
    assert (result.mistakes, result.iterations) == (mistakes, epochs)
    wrong = sum(y * naive.dot(beta, row) <= 0 for row, y in zip(rows, signs, strict=True))
    assert result.objective == wrong


@given(seed=st.integers(0, 300), shuffle=st.booleans())
def test_mistakes_are_within_the_bound(seed, shuffle):
    X, y = separable(seed)
    machine = PerceptronClassifier(max_iter=10**6, shuffle=shuffle, random_state=seed).fit(X, y)
    assert machine.converged_
    assert machine.status_ == "separated"
    assert machine.score(X, y) == 1.0
    assert machine.bound_ is None
    hard_margin = SVC(kernel="linear", C=1e10, tol=1e-8).fit(X, y)
    bound = machine.mistake_bound(hard_margin, X, y)
    assert machine.n_mistakes_ <= bound == machine.bound_
    # any separating machine gives a bound, whatever its scale, and its own is one
    assert machine.n_mistakes_ <= machine.mistake_bound(machine, X, y)


def test_the_bound_is_norm_times_norm_squared():
    X, y = np.array([[1.0, 0.0], [3.0, 4.0], [-1.0, 0.0]]), [1, 1, 0]

    class Machine:
        coef_ = np.array([[2.0, 0.0]])  # margins of 2: the machine (1, 0) has margins of 1
        intercept_ = np.zeros(1)

    without = PerceptronClassifier(fit_intercept=False).fit(X, y)
    assert without.mistake_bound(Machine(), X, y) == pytest.approx(25.0)
    augmented = PerceptronClassifier().fit(X, y)
    assert augmented.mistake_bound(Machine(), X, y) == pytest.approx(26.0)


def test_a_bound_for_each_of_several_classes():
    angle = 2 * np.pi * np.arange(3) / 3
    centres = 5 * np.c_[np.cos(angle), np.sin(angle)]
    y = np.repeat(["a", "b", "c"], 20)
    X = np.repeat(centres, 20, axis=0) + 0.3 * np.random.default_rng(0).standard_normal((60, 2))
    machine = PerceptronClassifier().fit(X, y)
    assert machine.coef_.shape == (3, 2)
    bound = machine.mistake_bound(machine, X, y)
    assert bound.shape == machine.n_mistakes_.shape == (3,)
    assert (machine.n_mistakes_ <= bound).all()
    assert machine.score(X, y) == 1.0


def test_the_learning_rate_only_scales_the_weights():
    X, y = separable(3)
    one = PerceptronClassifier(max_iter=10**5).fit(X, y)
    quarter = PerceptronClassifier(max_iter=10**5, learning_rate=0.25).fit(X, y)
    np.testing.assert_array_equal(quarter.coef_, one.coef_ / 4)
    assert quarter.n_mistakes_ == one.n_mistakes_


# ------------------------------------------------------------------ classes that overlap


def test_exclusive_or_is_proved_to_cycle():
    with pytest.warns(ConvergenceWarning, match=r"none will be: after \d+ passes.*keep=\"best\""):
        machine = PerceptronClassifier().fit(SQUARE, XOR)
    assert machine.status_ == "cycles"
    assert not machine.converged_
    assert machine.n_iter_ < 20
    # the proof: the weights after that many passes were the weights after an earlier one
    rows = [[*row, 1.0] for row in SQUARE]
    signs = [1 if label else -1 for label in XOR]
    seen = [naive.perceptron(rows, signs, k)[0] for k in range(1, machine.n_iter_ + 1)]
    assert seen[-1] in seen[:-1]
    np.testing.assert_array_equal([*machine.coef_[0], machine.intercept_[0]], seen[-1])


@settings(max_examples=40)
@given(seed=st.integers(0, 300))
def test_cycling_is_proved_exactly_when_no_hyperplane_exists(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (6, 2)).astype(float)
    y = rng.integers(0, 2, 6)
    y[:2] = 0, 1
    machine = quietly(PerceptronClassifier(max_iter=2_000), X, y)
    # In the plane, integers this small either separate or cycle long before the limit.
    assert machine.status_ in ("separated", "cycles")
    signed = np.where(y == 1, 1.0, -1.0)[:, None] * np.c_[X, np.ones(6)]
    separator = linprog(np.zeros(3), A_ub=-signed, b_ub=-np.ones(6), bounds=(None, None))
    assert (machine.status_ == "separated") == separator.success


def test_a_sample_of_zeros_without_intercept_cycles():
    machine = quietly(PerceptronClassifier(fit_intercept=False), [[0.0], [1.0]], [0, 1])
    assert machine.status_ == "cycles"


def test_the_limit_is_said():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=7 passes did not separate the classes"):
        machine = PerceptronClassifier(max_iter=7).fit(X, y)
    assert (machine.status_, machine.n_iter_, machine.converged_) == ("limit", 7, False)
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="did not separate 1, 2 from the other classes"):
        machine = PerceptronClassifier(max_iter=7, shuffle=True, random_state=0).fit(X, y)
    assert machine.n_mistakes_.shape == (3,)


@given(seed=st.integers(0, 100), shuffle=st.booleans())
def test_the_pocket_is_never_worse_than_the_last_weights(seed, shuffle):
    X, y = overlapping(seed)
    y[:2] = 0, 1
    last, best = (
        quietly(PerceptronClassifier(keep=keep, shuffle=shuffle, random_state=0, max_iter=30), X, y)
        for keep in ("last", "best")
    )
    assert best.score(X, y) >= last.score(X, y)
    assert best.n_mistakes_ == last.n_mistakes_  # the pocket only watches
    signs = np.where(y == 1, 1.0, -1.0)
    result = solve_perceptron(X, signs, max_iter=30, pocket=True)
    assert result.objective == np.sum(signs * (X @ result.solution[:-1] + result.solution[-1]) <= 0)


def test_the_pocket_earns_its_place():
    gains = []
    for seed in range(10):
        X, y = overlapping(seed)
        last, best = (
            quietly(PerceptronClassifier(keep=keep, max_iter=50), X, y).score(X, y)
            for keep in ("last", "best")
        )
        gains.append(best - last)
    assert np.mean(gains) > 0.02


# --------------------------------------------------------------------------------- Ctrl-C


def test_ctrl_c_keeps_what_was_reached():
    X, y = overlapping()
    quietly(PerceptronClassifier(max_iter=2), X, y)  # compiled before the clock runs
    start = time.perf_counter()
    message = r"interrupted in iteration [\d,]+ of machine 1 of 1"
    with interrupted_soon(), pytest.warns(ConvergenceWarning, match=message):
        machine = PerceptronClassifier(max_iter=10**9, shuffle=True, keep="best").fit(X, y)
    assert time.perf_counter() - start < 10
    assert machine.status_ == "interrupted"
    assert machine.score(X, y) > 0.6


# ------------------------------------------------------------------------- what goes in


def test_dense_equals_sparse():
    X, y = separable(1)
    X = X.round(1)
    dense = PerceptronClassifier(max_iter=10**5).fit(X, y)
    csr = PerceptronClassifier(max_iter=10**5).fit(sparse.csc_array(X), y)
    np.testing.assert_allclose(csr.coef_, dense.coef_, atol=1e-9)
    np.testing.assert_array_equal(csr.predict(sparse.csr_matrix(X)), y)
    hard_margin = SVC(kernel="linear", C=1e10).fit(X, y)
    assert csr.mistake_bound(hard_margin, sparse.csr_matrix(X), y) == pytest.approx(
        dense.mistake_bound(hard_margin, X, y)
    )


def test_frames_keep_their_names():
    X, y = separable(2)
    plain = PerceptronClassifier(max_iter=10**5).fit(X, y)
    for frame in (pd.DataFrame(X, columns=list("abc")), pl.DataFrame(X, schema=list("abc"))):
        machine = PerceptronClassifier(max_iter=10**5).fit(frame, y)
        assert machine.feature_names_in_.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(machine.coef_, plain.coef_)


@pytest.mark.parametrize(
    ("X", "y", "parameters", "message"),
    [
        ([[np.nan], [1.0]], [0, 1], {}, r"X contains NaN \(first at row 0, column 0.*Fill"),
        ([[np.inf], [1.0]], [0, 1], {}, r"X contains infinity .*Replace"),
        ([["red"], ["blue"]], [0, 1], {}, r"text .*'red' at row 0.*Encode"),
        ([[1e200], [1.0]], [0, 1], {}, r"X has very large values.*Scale"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1], {}, r"first 'a'; rename"),
        ([[1.0], [2.0]], [1, 1], {}, r"y holds one class only \(1"),
        ([[1.0]], [1], {}, r"one class"),
        ([[1.0], [2.0]], [0, 1], {"max_iter": 0}, r"'max_iter' .*Got 0"),
        ([[1.0], [2.0]], [0, 1], {"learning_rate": -1}, r"'learning_rate' .*Got -1"),
        ([[1.0], [2.0]], [0, 1], {"keep": "first"}, r"'keep' .*'best'.*Got 'first'"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(X, y, parameters, message):
    with pytest.raises(ValueError, match=message):
        PerceptronClassifier(**parameters).fit(X, y)


def test_a_bound_that_cannot_be_given_is_refused_with_a_sentence():
    X, y = separable(4)
    machine = PerceptronClassifier(max_iter=10**5).fit(X, y)
    hard_margin = SVC(kernel="linear", C=1e10).fit(X, y)
    with pytest.raises(ValueError, match=r"does not separate the class 1 .*least margin -.*HardM"):
        machine.mistake_bound(hard_margin, X, 1 - y)
    with pytest.raises(ValueError, match=r"coef_ has shape \(1, 2\), .*\(1, 3\); pass"):
        machine.mistake_bound(SVC(kernel="linear").fit(X[:, :2], y), X, y)
    with pytest.raises(ValueError, match=r"y\[0\] is 7, .*\(0, 1\)\. Pass labels"):
        machine.mistake_bound(hard_margin, X, np.full(len(y), 7))
    with pytest.raises(ValueError, match=r"X has 2 features"):
        machine.mistake_bound(hard_margin, X[:, :2], y)
    without = quietly(PerceptronClassifier(fit_intercept=False), X, y)
    with pytest.raises(ValueError, match=r"intercept_ is .*fit_intercept=False; pass"):
        without.mistake_bound(hard_margin, X, y)


# ---------------------------------------------------------------------------------- sample weights


@pytest.mark.parametrize("keep", ["last", "best"])
@pytest.mark.parametrize("seed", range(12))
def test_integer_weights_equal_rows_repeated_in_place(seed, keep):
    X, y = overlapping(seed) if seed % 2 else separable(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    options = {"keep": keep, "max_iter": 40}
    want = quietly(PerceptronClassifier(**options), X[rows], y[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        got = PerceptronClassifier(**options).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(got.coef_, want.coef_)
    np.testing.assert_array_equal(got.intercept_, want.intercept_)
    assert (got.n_mistakes_, got.n_iter_, got.status_) == (
        want.n_mistakes_,
        want.n_iter_,
        want.status_,
    )


def test_the_last_change_of_a_row_is_a_fraction_of_a_step():
    result = solve_perceptron(np.array([[1.0], [-4.0]]), np.ones(2), weight=np.array([0.5, 2.5]))
    naive_weights = [0.5, 0.5]  # the first row, then the second one until it is right
    for step in (1.0, 1.0, 0.5):
        if naive_weights[1] - 4.0 * naive_weights[0] <= 0:
            naive_weights = [naive_weights[0] - 4.0 * step, naive_weights[1] + step]
    once = solve_perceptron(
        np.array([[1.0], [-4.0]]), np.ones(2), weight=np.array([0.5, 2.5]), max_iter=1
    )
    np.testing.assert_array_equal(once.solution, naive_weights)
    assert result.status == "separated"


def test_an_empty_row_of_great_weight_ends():
    X, y = np.array([[0.0], [1.0], [-1.0]]), [1, 1, 0]
    machine = PerceptronClassifier(fit_intercept=False, max_iter=2)
    with pytest.warns(ConvergenceWarning):
        machine.fit(X, y, sample_weight=[1e12, 1, 1])
    assert machine.n_mistakes_ >= 1e12


@pytest.mark.parametrize("seed", range(6))
def test_changes_by_fractions_of_a_step_keep_the_bound(seed):
    X, y = separable(seed, n=20, margin=1.0)
    weight = np.full(len(y), 0.01)
    weight[seed % len(y)] = 50.0
    machine = PerceptronClassifier(max_iter=100_000).fit(X, y, sample_weight=weight)
    assert machine.converged_
    bound = machine.mistake_bound(HardMarginSVC().fit(X, y), X, y)
    assert 0 < machine.n_mistakes_ <= bound
