"""Mapped samples, kernels given as functions, and kernels given by name."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.kernels import (
    KERNEL_NAMES,
    RBF,
    Conformal,
    FunctionKernel,
    Linear,
    Polynomial,
    Precomputed,
    QuadraticForm,
    Sigmoid,
    as_kernel,
)
from tests.kernels.cases import B, close, samples


def test_quadratic_form_of_the_identity_is_linear():
    X, Z = samples(), samples(5, seed=1)
    close(QuadraticForm(np.eye(4))(X, Z), Linear()(X, Z), 1e-13)


def test_quadratic_form_with_a_singular_matrix():
    v = np.array([1.0, 2.0, -1.0, 0.5])
    X = samples()
    close(QuadraticForm(np.outer(v, v))(X), np.outer(X @ v, X @ v), 1e-12)
    assert not QuadraticForm(np.zeros((4, 4)))(X).any()


def test_quadratic_form_forgets_an_old_matrix():
    kernel = QuadraticForm(B)
    kernel.set_params(B=np.eye(4))
    close(kernel(samples()), Linear()(samples()), 1e-13)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 2.0], [0.0, 1.0]], "B of QuadraticForm is not symmetric; pass .B . B.T. / 2"),
        ([[1.0, 0.0], [0.0, -1.0]], "no negative eigenvalue; its smallest is -1"),
        ([[1.0, 0.0]], "must be a square matrix"),
        ([[np.nan]], "NaN or infinite"),
        ("B", "matrix of numbers|square"),
    ],
)
def test_quadratic_form_refuses_bad_matrices(matrix, message):
    with pytest.raises(ValueError, match=message):
        QuadraticForm(matrix)


def test_quadratic_form_needs_matching_samples():
    with pytest.raises(ValueError, match="needs samples with 4 features; these have 2"):
        QuadraticForm(B)([[1.0, 2.0]])


def test_maps_may_change_the_number_of_features():
    X = samples()
    close(Linear().of(lambda T: T[:, :2])(X), X[:, :2] @ X[:, :2].T, 1e-13)
    kernel = RBF(gamma="auto").of(lambda T: T[:, :2])
    assert kernel.resolve(X).kernel.gamma == 0.5


def test_maps_must_keep_the_rows():
    with pytest.raises(ValueError, match="one row for each sample; it turned 13 rows into 12"):
        Linear().of(lambda T: T[1:])(samples())
    with pytest.raises(ValueError, match="one number for each sample"):
        Conformal(lambda T: T)(samples())
    with pytest.raises(ValueError, match="NaN"):
        Conformal(lambda T: T[:, 0] * np.nan)(samples())
    with pytest.raises(ValueError, match="must be a function"):
        Linear().of(3)
    with pytest.raises(ValueError, match="must be a function"):
        Conformal(None)


def test_conformal_is_the_product_of_two_values():
    X, Z = samples(), samples(5, seed=1)
    norm = Conformal(lambda T: np.linalg.norm(T, axis=1))
    expected = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Z, axis=1))
    close(norm(X, Z), expected, 1e-13)


def test_function_kernels_are_checked():
    X = samples()
    good = FunctionKernel(lambda A, C: A @ C.T)
    close(good(X), X @ X.T, 1e-13)
    close(good.diag(samples(70)), (samples(70) ** 2).sum(axis=1), 1e-13)
    with pytest.raises(ValueError, match=r"shape \(13, 13\) .* returned shape \(13,\)"):
        FunctionKernel(lambda A, C: A[:, 0])(X)
    with pytest.raises(ValueError, match="NaN or infinite"):
        FunctionKernel(lambda A, C: A @ C.T * np.nan)(X)
    with pytest.raises(ValueError, match="not symmetric"):
        FunctionKernel(lambda A, C: A[:, :1] + 0 * C[:, 0])(X)
    with pytest.raises(ValueError, match="must be a function"):
        FunctionKernel("linear")


def test_function_kernels_with_rounding_are_made_symmetric():
    noise = np.random.default_rng(0)
    kernel = FunctionKernel(lambda A, C: A @ C.T + 1e-12 * noise.normal(size=(len(A), len(C))))
    gram = kernel(samples())
    assert np.array_equal(gram, gram.T)


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
