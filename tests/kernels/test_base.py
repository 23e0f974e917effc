"""Kernels as values: equality, text, copies, parameters, life inside scikit-learn."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV

from tamiz.kernels import (
    RBF,
    Composed,
    Conformal,
    FunctionKernel,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    QuadraticForm,
    Sigmoid,
)
from tests.kernels.cases import ALL, samples


def overlap(X, Z):
    return np.minimum(X[:, None], Z[None]).sum(axis=2)


def first(X):
    return X[:, 0]


OTHERS = {
    "function": FunctionKernel(overlap),
    "conformal": Conformal(first),
    "composed": RBF(gamma="scale").of(np.tanh),
    "precomputed": Precomputed(),
    "word": 2 * RBF() + Polynomial(gamma="auto"),
}
EVERY = {name: kernel for name, (kernel, _) in ALL.items()} | OTHERS


@pytest.mark.parametrize("name", EVERY)
def test_copies_are_equal_and_separate(name):
    kernel = EVERY[name]
    for twin in (clone(kernel), pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel)):
        assert twin == kernel
        assert twin is not kernel
        assert repr(twin) == repr(kernel)
    assert kernel != Linear() or name == "linear"
    assert kernel != "rbf"


def test_equality_is_by_value():
    assert RBF(gamma=0.5) == RBF(gamma=0.5) == RBF(width=1.0)
    assert RBF(gamma=0.5) != RBF(gamma=0.6)
    assert RBF() == RBF(gamma="scale")
    assert RBF(gamma=0.5) + Linear() == RBF(gamma=0.5) + Linear()
    assert RBF(gamma=0.5) + Linear() != Linear() + RBF(gamma=0.5)
    assert Linear() + Linear() != Linear() * Linear()
    assert QuadraticForm(np.eye(2)) == QuadraticForm([[1, 0], [0, 1]])
    assert QuadraticForm(np.eye(2)) != QuadraticForm(np.eye(3))
    assert Linear().poly([1, 2]) == Linear().poly((1.0, 2.0))


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (0.5 * RBF(gamma=0.1) + Polynomial(degree=2), None),
        ((Linear() + RBF(gamma=1.0)) * Sigmoid(), "(Linear() + RBF(gamma=1.0)) * Sigmoid()"),
        (Linear() + (Linear() + Linear()), "Linear() + (Linear() + Linear())"),
        (Linear() * (Linear() * Linear()), "Linear() * (Linear() * Linear())"),
        (2 * (3 * Linear()), "2.0 * (3.0 * Linear())"),
        (2 * (Linear() * RBF(gamma=1.0)), "2.0 * (Linear() * RBF(gamma=1.0))"),
        ((2 * Linear()) * Linear(), "2.0 * Linear() * Linear()"),
        ((Linear() + Linear()).exp(), "(Linear() + Linear()).exp()"),
        (RBF(width=2.0).poly([1, 0.5]), "RBF(width=2.0).poly([1, 0.5])"),
        (Linear().of(np.tanh), "Linear().of(tanh)"),
        (Polynomial(gamma=np.float64(0.5)), "Polynomial(gamma=0.5)"),
        (FunctionKernel(overlap), "FunctionKernel(overlap)"),
        (Conformal(first), "Conformal(first)"),
        (RBF(), "RBF()"),
    ],
)
def test_text_shows_the_formula(kernel, text):
    text = text or "0.5 * RBF(gamma=0.1) + Polynomial(degree=2)"
    assert repr(kernel) == text
    if "of(" not in text and "(overlap)" not in text and "(first)" not in text:
        assert eval(text) == kernel


def test_parameters_reach_into_composites():
    kernel = 0.5 * RBF(gamma=0.1) + Polynomial(degree=2)
    params = kernel.get_params()
    assert params["k1__kernel__gamma"] == 0.1
    assert params["k2__degree"] == 2
    assert set(kernel.get_params(deep=False)) == {"k1", "k2"}
    changed = clone(kernel).set_params(k1__kernel__gamma=3.0, k2__coef0=0.5, k1__factor=2.0)
    assert changed == 2.0 * RBF(gamma=3.0) + Polynomial(degree=2, coef0=0.5)


def test_setting_parameters_leaves_shared_parts_alone():
    part = RBF(gamma=0.1)
    one, other = part + Linear(), part * Linear()
    one.set_params(k1__gamma=9.0)
    assert part.gamma == 0.1
    assert other == RBF(gamma=0.1) * Linear()


def test_wrong_parameters_change_nothing():
    kernel = 0.5 * RBF(gamma=0.1)
    for bad in (
        {"factor": 2.0, "kernel__gamma": -1.0},
        {"factor": -2.0},
        {"factor": 2.0, "colour": 1},
        {"factor__gamma": 2.0},
        {"kernel__kernel__gamma": 2.0},
    ):
        with pytest.raises(ValueError, match=r"must be above 0|no parameter|not a kernel"):
            kernel.set_params(**bad)
        assert kernel == 0.5 * RBF(gamma=0.1)
    assert RBF(width=2.0).set_params(width=None, gamma=1.0) == RBF(gamma=1.0)


def test_numpy_scalars_multiply_kernels():
    assert np.float64(0.5) * Linear() == 0.5 * Linear() == Linear() * np.float32(0.5)
    assert isinstance(Linear().of(np.tanh), Composed)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Linear() + 1,
        lambda: Linear() * "a",
        lambda: 1 + Linear(),
        lambda: np.ones(2) * Linear(),
    ],
)
def test_what_is_no_kernel_does_not_combine(make):
    with pytest.raises(TypeError):
        make()


class NearestMean(ClassifierMixin, BaseEstimator):
    """A classifier small enough to show that a kernel lives well inside an estimator."""

    def __init__(self, kernel=None):
        self.kernel = kernel

    def fit(self, X, y):
        self.kernel_ = self.kernel.resolve(X)
        self.classes_ = np.unique(y)
        self.groups_ = [X[y == label] for label in self.classes_]
        return self

    def predict(self, X):
        scores = [self.kernel_(X, group).mean(axis=1) for group in self.groups_]
        return self.classes_[np.argmax(scores, axis=0)]


def test_grid_search_over_a_kernel_parameter():
    X = samples(60)
    y = (np.linalg.norm(X, axis=1) > 1.8).astype(int)
    search = GridSearchCV(
        NearestMean(kernel=0.5 * RBF(gamma=1.0)),
        {"kernel__kernel__gamma": [1e-3, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_estimator_.kernel.kernel.gamma in (1e-3, 1.0)
    assert search.estimator.kernel == 0.5 * RBF(gamma=1.0)
    search = GridSearchCV(NearestMean(), {"kernel": [Linear(), RBF(), RBF() + Linear()]}, cv=3)
    assert search.fit(X, y).best_params_["kernel"] in [Linear(), RBF(), RBF() + Linear()]


class _WidthTwo(Kernel):
    """x0 z0 + 2 x1 z1: made for two features, and says nothing about itself."""

    def _gram(self, X, Z):
        Z = X if Z is None else Z
        return X[:, [0]] @ Z[:, [0]].T + 2.0 * X[:, [1]] @ Z[:, [1]].T

    def _diag(self, X):
        return X[:, 0] ** 2 + 2.0 * X[:, 1] ** 2


def test_a_new_kernel_declares_no_capability():
    kernel = _WidthTwo()
    assert not (kernel.any_width or kernel.is_linear or kernel.precomputed or kernel.accepts_sparse)
    assert kernel.pairwise_form is None


def test_elementary_kernels_declare_what_they_are_a_function_of():
    X = np.random.default_rng(0).normal(size=(6, 3))
    square = np.square(X[:, None] - X[None]).sum(axis=2)
    for kernel in (Linear(), Polynomial(3, gamma=0.7, coef0=0.2), RBF(gamma=0.3), RBF(width=2.0)):
        form = kernel.pairwise_form
        if form.radial:
            expected = np.exp(-form.gamma * square)
        else:
            expected = (form.constant + form.gamma * X @ X.T) ** form.degree
        np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    assert RBF().pairwise_form.gamma == "scale"
    assert Sigmoid().pairwise_form is None and (2.0 * Linear()).pairwise_form is None


def test_composites_ask_their_parts_for_capabilities():
    form = QuadraticForm(np.eye(2))
    assert (Linear() + RBF()).any_width and not (Linear() + form).any_width
    assert (2.0 * Precomputed()).precomputed and not (2.0 * Linear()).precomputed
    assert Linear().is_linear and not (2.0 * Linear()).is_linear


@pytest.mark.parametrize(
    "kernel",
    [
        _WidthTwo(),
        QuadraticForm([[2.0, 0.5], [0.5, 1.0]]) + RBF(gamma=0.4),
        Linear().of(np.tanh),
        Conformal(lambda X: 1.0 + X[:, 0] + 3.0 * X[:, 1]),
        FunctionKernel(lambda X, Z: X[:, [0]] @ Z[:, [0]].T + X[:, [1]] @ Z[:, [1]].T),
        Polynomial(2),
    ],
    ids=repr,
)
def test_restricted_kernel_equals_zeros_in_the_place_of_absent_features(kernel):
    X = np.random.default_rng(1).normal(size=(5, 1))
    wide = np.column_stack([np.zeros(5), X])
    narrow = kernel.restrict([1], 2)
    np.testing.assert_allclose(narrow(X), kernel(wide), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(narrow(X[:2], X), kernel(wide[:2], wide), rtol=1e-12, atol=1e-14)
    assert narrow == kernel.restrict([1], 2)


def test_precomputed_values_cannot_be_restricted():
    with pytest.raises(TypeError, match="no features"):
        Precomputed().restrict([0], 2)
