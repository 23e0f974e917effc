"""From names, objects and functions to kernels."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.kernels import (
    KERNEL_NAMES,
    RBF,
    FunctionKernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    as_kernel,
)
from tests.kernels.cases import samples


def test_names():
    assert as_kernel("linear") == Linear()
    assert as_kernel("poly") == Polynomial(degree=3, gamma="scale", coef0=0.0)
    assert as_kernel("rbf") == RBF(gamma="scale")
    assert as_kernel("rbf", gamma=0.5, degree=7) == RBF(gamma=0.5)
    assert as_kernel("sigmoid", gamma="auto", coef0=1.0) == Sigmoid(gamma="auto", coef0=1.0)
    assert as_kernel("precomputed") == Precomputed()
    assert set(KERNEL_NAMES) == {"linear", "poly", "rbf", "sigmoid", "precomputed"}


def test_objects_and_functions():
    kernel = RBF(gamma=1.0) + Linear()
    assert as_kernel(kernel) is kernel
    made = as_kernel(lambda X, Z: X @ Z.T)
    assert isinstance(made, FunctionKernel)
    assert np.array_equal(made(samples()), Linear()(samples()))


def test_names_equal_scikit_learn_machines():
    from sklearn.svm import SVC

    X = samples(40)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    for name in ("linear", "poly", "rbf", "sigmoid"):
        peer = SVC(kernel=name, coef0=0.3).fit(X, y)
        gram = as_kernel(name, coef0=0.3)(X)
        ours = SVC(kernel="precomputed").fit(gram, y)
        assert np.allclose(peer.decision_function(X), ours.decision_function(gram), atol=1e-6), name


@pytest.mark.parametrize("bad", ["gauss", None, 3, "RBF"])
def test_unknown_kernels_are_refused_with_the_list(bad):
    with pytest.raises(ValueError, match="'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'"):
        as_kernel(bad)


def test_a_class_is_not_a_kernel():
    with pytest.raises(ValueError, match="is a class; pass an object"):
        as_kernel(RBF)
