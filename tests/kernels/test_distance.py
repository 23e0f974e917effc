"""Distances in feature space, against explicit maps and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from tamiz.kernels import RBF, GapWeighted, Linear, Polynomial, Precomputed, QuadraticForm, Sigmoid
from tests.kernels.cases import ELEMENTARY, close, samples
from tests.naive import kernels as naive


def quadratic_map(X):
    """The map of (1 + <x, z>)**2 for two features."""
    a, b = X.T
    r = np.sqrt(2.0)
    return np.column_stack([np.ones_like(a), r * a, r * b, a * a, b * b, r * a * b])


MERCER = [
    Linear(),
    Polynomial(3, 0.5, 1.0),
    RBF(gamma=0.3),
    2.0 * RBF(gamma=0.3) + Linear(),
    Linear() * RBF(gamma=0.1),
    QuadraticForm([[2.0, 0.5], [0.5, 1.0]]),
    Linear().of(lambda X: X[:, :1] ** 2),
    (0.1 * Linear()).exp(),
]


@pytest.mark.parametrize("name", ELEMENTARY)
def test_distance_equals_the_oracle(name):
    kernel, oracle = ELEMENTARY[name]
    X, Z = samples(), samples(9, seed=1)
    close(kernel.distance(X, Z), naive.feature_distances(oracle, X, Z), 1e-7)


def test_distance_equals_that_of_explicit_maps():
    X, Z = samples(12, p=2), samples(7, seed=1, p=2)
    close(Polynomial(2).distance(X, Z), cdist(quadratic_map(X), quadratic_map(Z)), 1e-12)
    close(Linear().distance(X, Z), cdist(X, Z), 1e-14)
    root = np.linalg.cholesky([[2.0, 0.5], [0.5, 1.0]])
    close(MERCER[5].distance(X, Z), cdist(X @ root, Z @ root), 1e-13)
    close(MERCER[6].distance(X, Z), cdist(X[:, :1] ** 2, Z[:, :1] ** 2), 1e-13)


def test_radial_distance_follows_from_the_kernel_value():
    X = samples(20)
    kernel = RBF(gamma=0.4)
    close(kernel.distance(X), np.sqrt(2.0 * (1.0 - kernel(X))), 1e-7)
    assert kernel.distance(X).max() <= np.sqrt(2.0)


@pytest.mark.parametrize("kernel", MERCER, ids=repr)
def test_distance_is_a_metric_of_the_samples(kernel):
    X = samples(15, p=2)
    D = kernel.distance(X)
    assert np.array_equal(D, D.T)
    assert (D >= 0).all() and not np.diag(D).any()
    assert (D[:, :, None] <= D[:, None, :] + D[None, :, :] + 1e-7).all()
    close(kernel.distance(X, X)[~np.eye(15, dtype=bool)], D[~np.eye(15, dtype=bool)], 1e-6)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), RBF(gamma=0.2), Sigmoid(gamma=0.1)])
def test_sparse_distance_equals_dense(kernel):
    X = sparse.random(25, 12, density=0.3, format="csr", random_state=0)
    Z = sparse.random(11, 12, density=0.3, format="csr", random_state=1)
    dense = kernel.distance(X.toarray(), Z.toarray())
    for left, right in [(X, Z), (X, Z.toarray()), (X.toarray(), Z)]:
        close(kernel.distance(left, right), dense, 1e-7)


@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.2), 3.0 * RBF(gamma=0.2) + Linear()])
def test_neighbours_far_from_the_origin_keep_their_distance(kernel):
    X = 1e6 + np.array([[0.0, 0.0], [2.0**-14, 0.0]])
    close(kernel.distance(X), kernel.distance(X - 1e6), 1e-12)


def test_negative_squares_of_an_indefinite_kernel_count_as_zero():
    kernel = Sigmoid(gamma=1.0, coef0=-1.0)
    X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 2.0]])
    gram = kernel(X)
    squares = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
    assert squares.min() < -1e-3
    close(kernel.distance(X), np.sqrt(np.maximum(squares, 0)), 1e-12)


def test_distance_of_strings_and_of_precomputed_values():
    texts = ["cat", "cart", "dog"]
    kernel = GapWeighted(2)
    gram = kernel(texts)
    squares = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
    close(kernel.distance(texts), np.sqrt(np.maximum(squares, 0)), 1e-9)
    close(Precomputed().distance(gram), kernel.distance(texts), 1e-12)
    with pytest.raises(ValueError, match="distances between training samples only"):
        Precomputed().distance(gram[:2], gram)
    with pytest.raises(ValueError, match="distances between training samples only"):
        (2.0 * Precomputed()).distance(gram[:2], gram)


def test_bad_samples_get_sentences():
    with pytest.raises(ValueError, match="resolve"):
        RBF().distance([[0.0], [1.0]], [[2.0]])
    with pytest.raises(ValueError, match="features"):
        Linear().distance([[0.0, 1.0]], [[2.0]])
    with pytest.raises(ValueError, match="large"):
        Polynomial(3).distance([[1e200], [1.0]])
    assert RBF().distance([[0.0], [1.0]])[0, 1] == pytest.approx(np.sqrt(2 - 2 * np.exp(-4.0)))
