"""Shapley values of kernel expansions against their definition, and the axioms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamiz.kernels import RBF, Linear, Polynomial, Sigmoid
from tamiz.kernels.shapley import (
    HIGHEST_DEGREE,
    Interventional,
    KernelMean,
    LeftOut,
    expansion_shapley,
    has_exact_values,
)
from tests.naive import shapley as naive

KERNELS = [
    Linear(),
    RBF(gamma=0.3),
    Polynomial(2, gamma=0.5, coef0=1.0),
    Polynomial(3, gamma=0.4, coef0=0.5),
    Polynomial(5, gamma=0.2, coef0=0.0),
    RBF(gamma=0.2) + 0.5 * (Linear() + 2.0 * Polynomial(2, gamma=0.3, coef0=1.0)),
]
RADIAL = RBF(gamma=0.3)


def made_up(p, n=3, m=5, machines=2, background=4, seed=0):
    rng = np.random.default_rng(seed)
    X, vectors, Z = (rng.normal(size=(k, p)) for k in (n, m, background))
    return X, vectors, rng.normal(size=(machines, m)), Z


def expansion(kernel, vectors, coef, own=0.0):
    def f(X):
        return kernel(X, vectors) @ coef + own * kernel.diag(X)

    return f


def largest(kernel, X, vectors, coef):
    """What rounding is relative to."""
    return float((np.abs(kernel(X, vectors)) @ np.abs(coef).T).max()) + float(np.abs(coef).sum())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("own", [0.0, -1.5])
def test_interventional_values_equal_all_subsets(kernel, own):
    X, vectors, coef, Z = made_up(5)
    found = expansion_shapley(kernel, X, vectors, coef, Interventional(Z), own)
    for c in range(len(coef)):
        f = expansion(kernel, vectors, coef[c], own)
        assert found.base[c] == pytest.approx(np.mean(f(Z)), rel=1e-11, abs=1e-12)
        for i, x in enumerate(X):
            wanted = naive.interventional(f, x, Z)
            np.testing.assert_allclose(found.values[i, :, c], wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_values_of_features_left_out_equal_all_subsets(kernel):
    X, vectors, coef, Z = made_up(5, machines=1)
    found = expansion_shapley(kernel, X, vectors, coef, LeftOut(Z), own=0.7)
    for i, x in enumerate(X):
        wanted = naive.left_out(kernel, x, vectors, coef[0], own=0.7)
        np.testing.assert_allclose(found.values[i, :, 0], wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("p", [6, 12])
def test_kernel_mean_equals_all_subsets(p):
    X, vectors, coef, Z = made_up(p, n=18 // p, machines=1, background=7)
    Z = np.round(Z)  # so that some values are equal
    found = expansion_shapley(RADIAL, X, vectors, coef, KernelMean(Z))
    absent = np.array(
        [[np.mean(np.exp(-0.3 * (Z[:, j] - s[j]) ** 2)) for s in vectors] for j in range(p)]
    )
    for i, x in enumerate(X):
        wanted = naive.by_factors(x, vectors, coef[0], 0.3, absent)
        np.testing.assert_allclose(found.values[i, :, 0], wanted, rtol=1e-11, atol=1e-12)


def test_kernel_mean_of_inner_products_takes_the_mean_of_the_background():
    X, vectors, coef, Z = made_up(4)
    kernel = KERNELS[3]
    found = expansion_shapley(kernel, X, vectors, coef, KernelMean(Z))
    centre = Interventional(Z.mean(axis=0, keepdims=True))
    wanted = expansion_shapley(kernel, X, vectors, coef, centre)
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-12)
    np.testing.assert_allclose(found.base, wanted.base, rtol=1e-12)


@pytest.mark.parametrize("kernel", [RADIAL, KERNELS[3]], ids=repr)
def test_twelve_features_equal_all_subsets(kernel):
    X, vectors, coef, Z = made_up(12, n=1, m=3, machines=1, background=2)
    found = expansion_shapley(kernel, X, vectors, coef, Interventional(Z))
    wanted = naive.interventional(expansion(kernel, vectors, coef[0]), X[0], Z)
    np.testing.assert_allclose(found.values[0, :, 0], wanted, rtol=1e-9, atol=1e-12)
    found = expansion_shapley(kernel, X, vectors, coef, LeftOut(Z))
    wanted = naive.left_out(kernel, X[0], vectors, coef[0])
    np.testing.assert_allclose(found.values[0, :, 0], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1.0, 30.0, 1e3, 1e150])
@pytest.mark.parametrize("absent", [Interventional, KernelMean, LeftOut])
def test_radial_values_add_up_at_any_scale(scale, absent):
    X, vectors, coef, Z = made_up(40, n=4, m=50, background=6)
    X, vectors, Z = scale * X, scale * vectors, scale * Z
    found = expansion_shapley(RADIAL, X, vectors, coef, absent(Z))
    wanted = RADIAL(X, vectors) @ coef.T
    atol = 1e-13 * float(np.abs(coef).sum())
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), wanted, rtol=0, atol=atol)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1e2, 1e6])
def test_powers_add_up_at_any_scale(scale):
    kernel = Polynomial(4, gamma=1.0, coef0=1.0)
    X, vectors, coef, Z = made_up(8, n=3, m=6)
    found = expansion_shapley(kernel, scale * X, scale * vectors, coef, Interventional(scale * Z))
    wanted = kernel(scale * X, scale * vectors) @ coef.T
    size = largest(kernel, scale * np.vstack([X, Z]), scale * vectors, coef)
    np.testing.assert_allclose(
        found.base + found.values.sum(axis=1), wanted, rtol=0, atol=1e-11 * size
    )


def test_one_feature_far_away_takes_the_whole_difference():
    Z = np.zeros((1, 3))
    X = np.array([[1e200, 0.0, 0.0]])
    found = expansion_shapley(RADIAL, X, np.zeros((1, 3)), np.ones((1, 1)), Interventional(Z))
    assert found.values[0, :, 0].tolist() == [-1.0, 0.0, 0.0]


def test_many_features_need_no_more_nodes_than_are_bounded():
    """500 factors: the integral against one with twice as many nodes as are exact."""
    X, vectors, coef, Z = made_up(500, n=2, m=3, machines=1, background=2)
    found = expansion_shapley(RBF(gamma=0.01), X, vectors, coef, Interventional(Z))
    nodes, weights = np.polynomial.legendre.leggauss(300)
    t = (nodes + 1.0) / 2.0
    wanted = np.zeros(X.shape)
    for i, x in enumerate(X):
        for z in Z:
            for s, c in zip(vectors, coef[0], strict=True):
                a, b = np.exp(-0.01 * (x - s) ** 2), np.exp(-0.01 * (z - s) ** 2)
                factors = b + np.outer(t, a - b)
                rest = factors.prod(axis=1, keepdims=True) / factors
                wanted[i] += c * (a - b) * (weights / 2.0 @ rest) / len(Z)
    np.testing.assert_allclose(found.values[:, :, 0], wanted, rtol=1e-9, atol=1e-15)


# ---------------------------------------------------------------------------- axioms

games = st.tuples(
    st.integers(0, 2**32 - 1),  # seed
    st.integers(1, 9),  # features
    st.integers(0, len(KERNELS) - 1),
    st.sampled_from([Interventional, KernelMean, LeftOut]),
)


@settings(max_examples=60, deadline=None)
@given(games)
def test_values_and_base_add_up_to_the_expansion(game):
    seed, p, which, absent = game
    kernel = KERNELS[which]
    X, vectors, coef, Z = made_up(p, seed=seed)
    found = expansion_shapley(kernel, X, vectors, coef, absent(Z), own=0.5)
    wanted = kernel(X, vectors) @ coef.T + 0.5 * kernel.diag(X)[:, None]
    size = largest(kernel, np.vstack([X, Z]), vectors, coef) + kernel.diag(X).max()
    total = found.base + found.values.sum(axis=1)
    np.testing.assert_allclose(total, wanted, rtol=0, atol=1e-11 * size)


@settings(max_examples=60, deadline=None)
@given(games)
def test_equal_features_have_equal_values(game):
    seed, p, which, absent = game
    tables = made_up(p, seed=seed)
    X, vectors, coef, Z = (
        t if k == 2 else np.column_stack([t, t[:, :1]]) for k, t in enumerate(tables)
    )
    found = expansion_shapley(KERNELS[which], X, vectors, coef, absent(Z)).values
    np.testing.assert_allclose(found[:, 0], found[:, -1], rtol=1e-9, atol=1e-11)


@settings(max_examples=60, deadline=None)
@given(games)
def test_a_feature_without_effect_has_no_value(game):
    """Of inner products one that all support vectors lack; of distances one that is constant."""
    seed, p, which, absent = game
    X, vectors, coef, Z = made_up(p + 1, seed=seed)
    constant = 0.0
    X[:, 0] = Z[:, 0] = vectors[:, 0] = constant
    found = expansion_shapley(KERNELS[which], X, vectors, coef, absent(Z))
    without = expansion_shapley(KERNELS[which], X[:, 1:], vectors[:, 1:], coef, absent(Z[:, 1:]))
    np.testing.assert_allclose(found.values[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.values[:, 1:], without.values, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.base, without.base, rtol=1e-9, atol=1e-11)


# ---------------------------------------------------------------------------- limits


def test_kernels_without_a_formula_are_refused():
    high = Polynomial(HIGHEST_DEGREE + 1, gamma=1.0, coef0=1.0)
    for kernel in (Sigmoid(gamma=1.0), high, RADIAL * RADIAL):
        assert not has_exact_values(kernel)
        with pytest.raises(ValueError, match="not known exactly"):
            expansion_shapley(
                kernel, np.ones((1, 2)), np.ones((1, 2)), np.ones((1, 1)), LeftOut(np.ones((1, 2)))
            )


def test_values_beyond_the_range_of_numbers_are_refused():
    kernel, big = Polynomial(8, gamma=1.0, coef0=1.0), np.full((1, 2), 1e60)
    with pytest.raises(ValueError, match="very large"):
        expansion_shapley(kernel, big, big, np.ones((1, 1)), LeftOut(big))


def test_a_machine_without_support_vectors_has_zeros():
    found = expansion_shapley(
        RADIAL, np.ones((2, 3)), np.empty((0, 3)), np.empty((1, 0)), LeftOut(np.ones((1, 3)))
    )
    assert not found.values.any() and found.base.tolist() == [0.0]
