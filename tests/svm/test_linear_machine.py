"""The linear machine with the squared hinge: against liblinear, weights, classes, tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import compute_sample_weight

import tamiz
import tests.naive.squared_hinge as naive
from tamiz.svm import LinearMachine

SETS = {"breast": load_breast_cancer, "wine": load_wine}


def named(name):
    X, y = SETS[name](return_X_y=True)
    return StandardScaler().fit_transform(X), y


def wide(n=30, p=80, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.arange(n) % 2
    X[:, 0] += y
    return X, y


def peer(X, y, weight=None, **params):
    """Liblinear, whose penalty of the intercept is made small by a large constant feature."""
    machine = LinearSVC(intercept_scaling=300.0, dual=False, tol=1e-10, max_iter=100_000, **params)
    return machine.fit(X, y, weight)


@pytest.mark.parametrize("C", [1e-3, 0.1, 5.0])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 7.0, 2: 0.3}])
@pytest.mark.parametrize("name", SETS)
def test_decision_values_are_those_of_liblinear(name, class_weight, C):
    X, y = named(name)
    if isinstance(class_weight, dict):
        class_weight = {label: class_weight[label] for label in np.unique(y)}
    ours = LinearMachine(C, class_weight=class_weight).fit(X, y)
    # liblinear weighs one class and not the others where there are several: weights of the samples
    theirs = peer(X, y, compute_sample_weight(class_weight, y), C=C)
    expected = theirs.decision_function(X)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(ours.decision_function(X), expected, atol=2e-3 * scale)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99


def test_more_features_than_samples():
    X, y = wide()
    ours, theirs = LinearMachine(0.01).fit(X, y), peer(X, y, C=0.01)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.coef_.shape == (1, 80) and ours.intercept_.shape == (1,)


@pytest.mark.parametrize("shape", [(60, 5), (20, 50)])
def test_the_objective_is_that_of_the_formula_and_the_gap_certifies_it(shape):
    X, y = wide(*shape, seed=1)
    machine = LinearMachine(0.7).fit(X, y)
    signs, cost = 2.0 * y - 1.0, np.full(len(y), 1.4)
    value = naive.objective(X, signs, cost, machine.coef_[0], machine.intercept_[0])
    assert machine.objective_ == pytest.approx(value)
    assert 0 <= machine.duality_gap_ <= 1e-7 * value
    rough = machine.coef_[0] + 0.01
    assert naive.objective(X, signs, cost, rough, machine.intercept_[0]) > value
    assert isinstance(machine.n_iter_, int) and machine.n_iter_ >= 1


@pytest.mark.parametrize("shape", [(40, 6), (20, 60)])
def test_integer_weights_equal_repeated_samples(shape):
    X, y = wide(*shape, seed=2)
    times = np.random.default_rng(2).integers(0, 4, size=len(y))
    weighted = LinearMachine(0.3).fit(X, y, times)
    repeated = LinearMachine(0.3).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-8)
    assert weighted.objective_ == pytest.approx(repeated.objective_)


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_weights_may_leave_out_a_class(gone):
    X, y = named("wine")
    machine = LinearMachine(0.1).fit(X, y, sample_weight=(y != gone).astype(float))
    two = LinearMachine(0.1).fit(X[y != gone], y[y != gone])
    assert machine.classes_.tolist() == two.classes_.tolist()
    np.testing.assert_allclose(machine.coef_, two.coef_, atol=1e-10)


def test_class_weights_are_sample_weights():
    X, y = wide(50, 4, seed=3)
    by_class = LinearMachine(class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    by_sample = LinearMachine().fit(X, y, np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_sample.coef_, atol=1e-10)


@pytest.mark.parametrize("shape", [(40, 6), (20, 60)])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_equals_dense(kind, shape):
    X, y = wide(*shape, seed=4)
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    dense, thin = LinearMachine().fit(X, y), LinearMachine().fit(kind(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-9)
    np.testing.assert_allclose(
        thin.decision_function(kind(X)), dense.decision_function(X), atol=1e-9
    )
    weight = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    some = weight > 0
    np.testing.assert_allclose(
        LinearMachine().fit(kind(X), y, weight).coef_,
        LinearMachine().fit(X[some], y[some]).coef_,
        atol=1e-9,
    )


def test_several_classes_are_separated_one_versus_rest():
    X, y = load_digits(n_class=5, return_X_y=True)
    X, y = StandardScaler().fit_transform(X), np.array(list("abcde"))[y]
    machine = LinearMachine(0.01).fit(X, y)
    assert machine.coef_.shape == (5, 64) and machine.classes_.tolist() == list("abcde")
    assert machine.duality_gap_.shape == machine.n_iter_.shape == (5,)
    values = machine.decision_function(X)
    for k, label in enumerate(machine.classes_):
        single = LinearMachine(0.01).fit(X, y == label)
        np.testing.assert_allclose(values[:, k], single.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[values.argmax(axis=1)])


def test_weights_follow_the_unit_of_a_constant_and_the_order_of_samples():
    X, y = wide(40, 5, seed=5)
    machine = LinearMachine().fit(X, y)
    shifted = LinearMachine().fit(X + 100.0, y)
    np.testing.assert_allclose(shifted.coef_, machine.coef_, atol=1e-6)
    turn = np.random.default_rng(0).permutation(40)
    np.testing.assert_allclose(
        LinearMachine().fit(X[turn], y[turn]).coef_, machine.coef_, atol=1e-9
    )
    mirrored = LinearMachine().fit(X, 1 - y)
    np.testing.assert_allclose(mirrored.coef_, -machine.coef_, atol=1e-9)


def test_saved_and_loaded(tmp_path):
    X, y = named("wine")
    machine = LinearMachine(0.5, class_weight="balanced").fit(X, y)
    again = tamiz.load(tamiz.save(machine, tmp_path / "machine"))
    assert again.get_params() == machine.get_params()
    np.testing.assert_array_equal(again.decision_function(X), machine.decision_function(X))


def test_says_when_rounding_ends_the_steps():
    X, y = wide(30, 3, seed=11)
    X[:, 0] += 16.0 * y
    with pytest.warns(ConvergenceWarning, match="scale the features, or lower C") as caught:
        machine = LinearMachine(1e12).fit(X, y)
    assert caught[0].filename == __file__ and machine.duality_gap_ > 0


@pytest.mark.filterwarnings("error")
def test_features_without_information_are_no_trouble():
    y = np.arange(20) % 2
    machine = LinearMachine().fit(np.full((20, 3), 7.0), y)
    np.testing.assert_allclose(machine.decision_function([[7.0, 7.0, 7.0]]), [0.0], atol=1e-6)
