"""Every view of the quadratic term answers as the matrix written out in full would."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tamiz.kernels import RBF, Linear, Polynomial
from tamiz.qp import DenseQ, KernelQ, LowRankQ, QuadraticProblem, RepeatedQ, ScaledQ, ShiftedQ
from tamiz.qp.matrices import SMALL_GRAM_BYTES

RNG = np.random.default_rng(7)
N = 11
X = RNG.normal(size=(N, 4))
F = RNG.normal(size=(N, 5))
S = F @ F.T
SCALE = RNG.uniform(-2.0, 2.0, size=N)
SHIFT = RNG.uniform(0.1, 1.0, size=N)
U, WEIGHT = RNG.normal(size=(N, 3)), np.array([2.0, 0.5, -1.0])


def rbf(Z, gamma):
    return np.exp(-gamma * ((Z[:, None] - Z[None]) ** 2).sum(axis=2))


def views(dtype):
    """Name, view, and the same matrix in plain arithmetic."""
    dense = DenseQ(S.astype(dtype))
    R, L, P = rbf(X, 0.3), X @ X.T, (0.5 * (X @ X.T) + 1.0) ** 3
    radial = KernelQ(RBF(gamma=0.3), X, dtype)
    cases = [
        ("dense", dense, S),
        ("radial", radial, R),
        ("linear", KernelQ(Linear(), X, dtype), L),
        ("linear sparse", KernelQ(Linear(), sparse.csr_matrix(X), dtype), L),
        ("polynomial", KernelQ(Polynomial(degree=3, gamma=0.5, coef0=1.0), X, dtype), P),
        ("scaled", ScaledQ(dense, SCALE), SCALE[:, None] * S * SCALE),
        ("scaled by a number", ScaledQ(dense, 0.5), 0.25 * S),
        ("scaled radial", ScaledQ(radial, SCALE), SCALE[:, None] * R * SCALE),
        ("shifted", ShiftedQ(dense, SHIFT), S + np.diag(SHIFT)),
        ("shifted by a number", ShiftedQ(radial, 0.7), R + 0.7 * np.eye(N)),
        ("repeated", RepeatedQ(dense, 3), np.tile(S, (3, 3))),
        (
            "regression with squared loss",
            ScaledQ(RepeatedQ(ShiftedQ(radial, SHIFT), 2), np.repeat([1.0, -1.0], N)),
            np.kron([[1, -1], [-1, 1]], R + np.diag(SHIFT)),
        ),
    ]
    if dtype == np.float64:
        cases.append(("low rank", LowRankQ(U, WEIGHT), U @ np.diag(WEIGHT) @ U.T))
        cases.append(("low rank, plain", LowRankQ(U), U @ U.T))
    return cases


CASES = [
    pytest.param(
        view, expected, 1e-12 if dtype == np.float64 else 5e-6, id=f"{name} {dtype.__name__}"
    )
    for dtype in (np.float64, np.float32)
    for name, view, expected in views(dtype)
]


@pytest.mark.parametrize(("view", "expected", "error"), CASES)
def test_answers_as_the_full_matrix(view, expected, error):
    n = len(expected)
    tolerance = {"rtol": error, "atol": error * np.abs(expected).max()}
    assert view.n == n
    rows, columns = np.array([n - 1, 0, 4, 4]), np.array([2, n - 1, 4])
    np.testing.assert_allclose(view.diag(), expected.diagonal(), **tolerance)
    np.testing.assert_allclose(view.rows(rows), expected[rows], **tolerance)
    np.testing.assert_allclose(view.block(rows, columns), expected[rows][:, columns], **tolerance)
    some = np.full((4, n), np.nan, dtype=view.dtype)
    view.fill(some, rows)
    np.testing.assert_array_equal(some, view.rows(rows))
    view.fill(some[:, :3], rows, columns)
    np.testing.assert_array_equal(some[:, :3], view.block(rows, columns))
    np.testing.assert_allclose(view.dense(), expected, **tolerance)
    assert view.rows(rows).dtype == view.block(rows, columns).dtype == view.dense().dtype
    assert view.dense().dtype == view.dtype
    assert view.diag().dtype == np.float64
    empty = np.empty(0, dtype=np.intp)
    assert view.rows(empty).shape == (0, n) and view.block(rows, empty).shape == (4, 0)


@pytest.mark.parametrize(("view", "expected", "error"), CASES)
@pytest.mark.parametrize("kind", ["full", "sparse", "zero"])
def test_products(view, expected, error, kind):
    n = len(expected)
    vector = np.random.default_rng(3).normal(size=n)
    if kind != "full":
        vector[np.arange(n) % 3 > 0] = 0.0
    if kind == "zero":
        vector[:] = 0.0
    scale = np.abs(expected).max() * max(np.abs(vector).sum(), 1.0)
    product = view.dot(vector)
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, expected @ vector, atol=error * scale)
    np.testing.assert_allclose(view.exact_dot(vector), expected @ vector, atol=error * scale)


@pytest.mark.parametrize(
    "wrap", [lambda Q: Q, lambda Q: ScaledQ(Q, SCALE), lambda Q: ShiftedQ(Q, SHIFT)]
)
def test_exact_product_has_no_error_of_float32(wrap):
    vector = np.random.default_rng(0).normal(size=N) * 1e4
    single, double = (wrap(KernelQ(RBF(gamma=0.3), X, d)) for d in (np.float32, np.float64))
    exact = double.dot(vector)
    np.testing.assert_allclose(single.exact_dot(vector), exact, rtol=0, atol=1e-9)
    rounding = np.abs(single.dot(vector) - exact).max()
    # so that the line above says something, and the declared error covers what was lost
    assert 1e-6 < rounding <= 4 * single.entry_error * np.abs(vector).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_declared_error_bounds_the_entries(dtype):
    Q = KernelQ(RBF(gamma=0.3), X, dtype)
    assert np.abs(Q.dense() - rbf(X, 0.3)).max() <= max(Q.entry_error, 1e-15)
    assert (Q.entry_error > 0) == (dtype == np.float32)
    assert ScaledQ(Q, 3.0).entry_error == pytest.approx(9.0 * Q.entry_error)
    assert RepeatedQ(Q, 2).entry_error == Q.entry_error
    rounded = 1e-7 if dtype == np.float32 else 0.0  # of the ridge
    assert ShiftedQ(Q, 1.0).entry_error == pytest.approx(Q.entry_error + rounded)


def test_type_of_a_gram_matrix_follows_its_size_and_kernel():
    small = np.zeros((10, 1))
    large = np.zeros((int((SMALL_GRAM_BYTES / 8) ** 0.5) + 1, 1))
    assert KernelQ(RBF(gamma=1.0), small).dtype == np.float64
    assert KernelQ(RBF(gamma=1.0), large).dtype == np.float32
    assert KernelQ(Linear(), large).dtype == np.float64  # its entries have no bound
    assert KernelQ(RBF(gamma=1.0), large, np.float64).dtype == np.float64


def test_signs_are_removed_without_a_copy():
    y = np.where(SCALE > 0, 1.0, -1.0)
    K = DenseQ(S)
    assert ScaledQ(K, y).unsigned(y) is K
    assert K.unsigned(np.ones(N)) is K
    np.testing.assert_allclose(K.unsigned(SCALE).dense(), S / np.outer(SCALE, SCALE))
    np.testing.assert_allclose(
        ScaledQ(K, y).unsigned(SCALE).dense(), S * np.outer(y, y) / np.outer(SCALE, SCALE)
    )


def test_repetition_is_passed_to_the_solver():
    K = DenseQ(S)
    assert RepeatedQ(K, 2).repeated() == (K, 2)
    assert K.repeated() == (K, 1)
    signs = np.repeat([1.0, -1.0], N)
    problem = QuadraticProblem(ScaledQ(RepeatedQ(K, 2), signs), p=np.zeros(2 * N), y=signs)
    assert problem.sign_free().Q.repeated() == (K, 2)


def test_dense_matrices_of_other_types_become_float64():
    assert DenseQ(np.eye(3, dtype=int)).dtype == np.float64
    assert DenseQ(np.eye(3, dtype=np.float16)).dtype == np.float64
    assert DenseQ(np.asfortranarray(S)).array.flags.c_contiguous


def test_shifted_view_does_not_write_to_its_matrix():
    K = DenseQ(S.copy())
    view = ShiftedQ(K, 1.0)
    view.dense(), view.rows(np.arange(N)), view.block(np.arange(N), np.arange(N))
    np.testing.assert_array_equal(K.array, S)
