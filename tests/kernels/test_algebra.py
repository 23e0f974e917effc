"""The algebra of kernels against explicit formulas, and what it keeps: Mercer's condition."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.kernels import RBF, Exponential, Linear, Polynomial, Product, Scaled, Sigmoid, Sum
from tests.kernels.cases import COMPOSITE, close, samples
from tests.naive import kernels as naive


@pytest.mark.parametrize("name", COMPOSITE)
def test_values_equal_the_oracle(name):
    kernel, oracle = COMPOSITE[name]
    X, Z = samples(), samples(9, seed=1)
    close(kernel(X, Z), naive.gram(oracle, X, Z), 1e-12)
    close(kernel.diag(X), np.diag(naive.gram(oracle, X)), 1e-12)
    gram = kernel(X)
    close(gram, naive.gram(oracle, X), 1e-12)
    assert np.array_equal(gram, gram.T)


def test_explicit_formulas():
    X, Z = samples(), samples(9, seed=1)
    K, L = RBF(gamma=0.3)(X, Z), Linear()(X, Z)
    k, l = RBF(gamma=0.3), Linear()
    close((k + l)(X, Z), K + L, 1e-14)
    close((3 * k)(X, Z), 3 * K, 1e-14)
    close((k * l)(X, Z), K * L, 1e-14)
    close(l.exp()(X, Z), np.exp(L), 1e-14)
    close(l.poly([1, 0, 2, 0.5])(X, Z), 1 + 2 * L**2 + 0.5 * L**3, 1e-13)
    close(l.of(np.tanh)(X, Z), np.tanh(X) @ np.tanh(Z).T, 1e-13)
    close(k.times_function(lambda T: T[:, 0])(X, Z), X[:, :1] * K * Z[:, 0], 1e-13)
    close((k + k)(X, Z), 2 * K, 1e-14)


@pytest.mark.parametrize("name", COMPOSITE)
def test_combinations_of_mercer_kernels_are_mercer_kernels(name):
    kernel, _ = COMPOSITE[name]
    if not kernel.always_mercer:
        assert name == "nested"
        return
    for seed in range(3):
        values = np.linalg.eigvalsh(kernel(samples(25, seed=seed)))
        assert values[0] >= -1e-12 * values[-1]


def test_known_mercer_kernels():
    assert (RBF() + 2 * Linear().exp()).always_mercer
    assert not (RBF() + Sigmoid()).always_mercer
    assert RBF().of(np.tanh).always_mercer
    assert not Sigmoid().of(np.tanh).always_mercer


def test_bounds_follow_the_algebra():
    rbf = RBF(gamma=1.0)
    assert rbf.unit_bounded
    assert Sigmoid().unit_bounded
    assert (rbf * rbf).unit_bounded
    assert (0.5 * rbf + 0.5 * Sigmoid()).unit_bounded
    assert (rbf * Sigmoid()).of(np.tanh).unit_bounded
    assert (0.3 * rbf).poly([0.1, 1, 1]).unit_bounded
    for kernel in (rbf + rbf, 2 * rbf, rbf.exp(), Linear(), Polynomial(), rbf * Linear()):
        assert not kernel.unit_bounded
    assert rbf.exp().bound == pytest.approx(np.e)
    assert Linear().bound == np.inf


def test_words_inside_composites_are_resolved():
    X = samples() * 2
    kernel = 0.5 * RBF(gamma="scale") + Polynomial(gamma="auto") * Linear()
    resolved = kernel.resolve(X)
    assert resolved.k1.kernel.gamma == pytest.approx(1 / (4 * X.var()))
    assert resolved.k2.k1.gamma == 0.25
    close(kernel(X), resolved(X, X), 1e-13)
    with pytest.raises(ValueError, match="resolve"):
        kernel(X, X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: -1 * Linear(), "must be above 0; got -1"),
        (lambda: 0 * Linear(), "must be above 0"),
        (lambda: float("nan") * Linear(), "must be finite"),
        (lambda: Linear().poly([1, -2]), r"coefficients\[1\] .* must not be negative; got -2"),
        (lambda: Linear().poly([0, 0]), "at least one must be positive"),
        (lambda: Linear().poly([]), "at least one must be positive"),
        (lambda: Linear().poly(3.0), "must be a list of numbers"),
        (lambda: Linear().poly([float("inf")]), "must be finite"),
        (lambda: Sum(Linear(), "rbf"), "k2 of Sum must be a kernel object; got 'rbf'"),
        (lambda: Product(1.0, Linear()), "k1 of Product must be a kernel object"),
        (lambda: Scaled(1.0, None), "kernel of Scaled must be a kernel object"),
        (lambda: Exponential("linear"), "kernel of Exponential must be a kernel object"),
    ],
)
def test_bad_combinations_are_refused_in_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_sparse_samples_pass_through():
    from scipy import sparse

    X = sparse.random(20, 10, density=0.3, format="csr", random_state=0)
    kernel = 0.5 * RBF(gamma=0.5) + Polynomial() * Linear()
    close(kernel(X), kernel(X.toarray()), 1e-13)
    with pytest.raises(TypeError, match="sparse"):
        (kernel + Linear().of(np.tanh))(X)


def test_sum_of_a_list():
    X = np.random.default_rng(0).normal(size=(5, 2))
    kernels = [Linear(), RBF(gamma=0.5), Polynomial(degree=2)]
    np.testing.assert_allclose(sum(kernels)(X), kernels[0](X) + kernels[1](X) + kernels[2](X))
    with pytest.raises(TypeError):
        1 + kernels[0]
