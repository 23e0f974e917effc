"""Elementary kernels against the oracles, against scikit-learn, and against bad parameters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise

from tamiz.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from tests.kernels.cases import ELEMENTARY, close, samples
from tests.naive import kernels as naive


@pytest.mark.parametrize("name", ELEMENTARY)
def test_values_equal_the_oracle(name):
    kernel, oracle = ELEMENTARY[name]
    X, Z = samples(), samples(9, seed=1)
    close(kernel(X, Z), naive.gram(oracle, X, Z), 1e-13)
    close(kernel(X), naive.gram(oracle, X), 1e-13)
    close(kernel.diag(X), np.diag(naive.gram(oracle, X)), 1e-13)
    assert kernel(X).dtype == np.float64


@pytest.mark.parametrize("n", [5, 64, 65, 300, 513])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), RBF(gamma=0.2), Sigmoid(gamma=0.1)])
def test_gram_is_symmetric_to_the_last_bit(kernel, n):
    gram = kernel(samples(n, p=7))
    assert np.array_equal(gram, gram.T)


def test_values_equal_scikit_learn():
    X, Z = samples(60, p=6), samples(40, seed=1, p=6)
    pairs = [
        (Linear(), pairwise.linear_kernel(X, Z)),
        (Polynomial(4, 0.3, 0.7), pairwise.polynomial_kernel(X, Z, 4, 0.3, 0.7)),
        (RBF(gamma=0.3), pairwise.rbf_kernel(X, Z, 0.3)),
        (Sigmoid(0.3, 0.7), pairwise.sigmoid_kernel(X, Z, 0.3, 0.7)),
    ]
    for kernel, expected in pairs:
        close(kernel(X, Z), expected, 1e-13)


def test_polynomial_of_degree_two_is_the_explicit_map():
    def explicit(u):
        a, b = u
        r = np.sqrt(2)
        return np.array([1, r * a, r * b, a * a, b * b, r * a * b])

    u, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert Polynomial(degree=2)([u], [v])[0, 0] == 144.0
    assert explicit(u) @ explicit(v) == pytest.approx(144.0, rel=1e-14)


def test_rbf_is_the_distance_in_feature_space():
    X = samples(5)
    gram = RBF(gamma=0.4)(X)
    distance = np.sqrt(gram[0, 0] + gram[1, 1] - 2 * gram[0, 1])
    assert distance == pytest.approx(np.sqrt(2 * (1 - gram[0, 1])))


def test_rbf_ignores_a_common_offset():
    X = samples(30)
    close(RBF(gamma=0.4)(X + 1e7), RBF(gamma=0.4)(X), 1e-8)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), RBF(gamma=0.2), Sigmoid(gamma=0.1)])
def test_sparse_equals_dense(kernel):
    X = sparse.random(25, 12, density=0.3, format="csr", random_state=0)
    Z = sparse.random(11, 12, density=0.3, format="coo", random_state=1)
    close(kernel(X, Z), kernel(X.toarray(), Z.toarray()), 1e-13)
    close(kernel(X, Z.toarray()), kernel(X.toarray(), Z.toarray()), 1e-13)
    close(kernel(X.toarray(), Z), kernel(X.toarray(), Z.toarray()), 1e-13)
    close(kernel(X), kernel(X.toarray()), 1e-13)
    close(kernel.diag(X), kernel.diag(X.toarray()), 1e-13)
    assert isinstance(kernel(X), np.ndarray)
    assert np.array_equal(kernel(X), kernel(X).T)


def test_unsorted_sparse_input_with_duplicates_is_left_alone_and_understood():
    rng = np.random.default_rng(0)
    indices = np.concatenate([rng.permutation(40)[:30] for _ in range(20)])
    indices[1::30] = indices[::30]  # one feature of every row in two pieces
    X = sparse.csr_matrix((rng.normal(size=600), indices, np.arange(21) * 30), shape=(20, 40))
    before = X.indices.copy()
    for kernel in (Linear(), RBF(gamma=0.01)):
        gram = kernel(X)
        assert np.array_equal(gram, gram.T)
        close(gram, kernel(X.toarray()), 1e-13)
        close(kernel.diag(X), kernel.diag(X.toarray()), 1e-13)
    assert np.array_equal(X.indices, before)


@pytest.mark.parametrize("word", ["scale", "auto"])
@pytest.mark.parametrize("make", [RBF, Polynomial, Sigmoid])
def test_words_for_gamma_are_resolved_as_in_scikit_learn(make, word):
    X = samples() * 3 + 1
    number = 1 / (4 * X.var()) if word == "scale" else 1 / 4
    kernel = make(gamma=word)
    resolved = kernel.resolve(X)
    assert resolved.gamma == pytest.approx(number, rel=1e-13)
    close(kernel(X), make(gamma=number)(X), 1e-12)
    close(kernel.diag(X), make(gamma=number).diag(X), 1e-12)
    assert kernel.gamma == word
    with pytest.raises(ValueError, match=r"resolve\(X_train\)"):
        kernel(X, X)


def test_resolve_on_constant_sparse_and_weighted_samples():
    assert RBF().resolve(np.ones((5, 3))).gamma == 1.0
    X = sparse.random(30, 8, density=0.4, format="csr", random_state=0)
    expected = 1 / (8 * X.toarray().var())
    assert RBF(gamma="scale").resolve(X).gamma == pytest.approx(expected)
    weight = np.random.default_rng(0).integers(1, 4, size=30)
    repeated = np.repeat(X.toarray(), weight, axis=0)
    for table in (X, X.toarray()):
        found = RBF().resolve(table, weight.astype(float)).gamma
        assert found == pytest.approx(1 / (8 * repeated.var()))
    number = RBF(gamma=0.25)
    assert number.resolve(X) is number


def test_precomputed_gives_back_its_table():
    K = Linear()(samples())
    assert np.array_equal(Precomputed()(K), K)
    assert np.array_equal(Precomputed()(K[:3], K), K[:3])
    nearly = K.copy()
    nearly[0, 1] += 1e-9
    gram = Precomputed()(nearly)
    assert np.array_equal(gram, gram.T)


def test_precomputed_refuses_what_is_no_gram_matrix():
    with pytest.raises(ValueError, match="must be square"):
        Precomputed()(np.ones((2, 3)))
    with pytest.raises(ValueError, match="must be symmetric"):
        Precomputed()(np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="one column for each"):
        Precomputed()(np.ones((2, 3)), np.ones((4, 4)))


BAD = [
    (lambda: RBF(gamma=-1.0), r"gamma of RBF must be above 0; got -1\.0"),
    (lambda: RBF(gamma=0), "gamma of RBF must be above 0; got 0"),
    (lambda: RBF(gamma=float("nan")), "gamma of RBF must be finite; got nan"),
    (lambda: RBF(gamma="scales"), "'scale' or 'auto'; got 'scales'"),
    (lambda: RBF(gamma=True), "gamma of RBF must be a number; got True"),
    (lambda: RBF(gamma=[1.0]), "gamma of RBF must be a number"),
    (lambda: RBF(gamma=1.0, width=1.0), "gamma or width, not both"),
    (lambda: RBF(width=-2.0), "width of RBF must be above 0"),
    (lambda: RBF(width=1e-200), "too extreme"),
    (lambda: RBF(width=1e200), "too extreme"),
    (lambda: Polynomial(degree=0), "degree of Polynomial .* at least 1; got 0"),
    (lambda: Polynomial(degree=2.5), r"integer of at least 1; got 2\.5"),
    (lambda: Polynomial(degree=True), "an integer"),
    (lambda: Polynomial(coef0=-1.0), "coef0 of Polynomial must not be negative"),
    (lambda: Polynomial(coef0=float("inf")), "coef0 of Polynomial must be finite"),
    (lambda: Polynomial(gamma=-0.1), "gamma of Polynomial must be above 0"),
    (lambda: Sigmoid(gamma=0.0), "gamma of Sigmoid must be above 0"),
    (lambda: Sigmoid(coef0="a"), "coef0 of Sigmoid must be a number; got 'a'"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_parameters_are_refused_in_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_bad_samples_are_refused_in_a_sentence():
    kernel = RBF(gamma=1.0)
    with pytest.raises(ValueError, match="two dimensions"):
        kernel([1.0, 2.0])
    with pytest.raises(ValueError, match="NaN or infinite"):
        kernel([[1.0, np.nan]])
    with pytest.raises(ValueError, match="NaN or infinite"):
        kernel(sparse.csr_matrix([[1.0, np.inf]]))
    with pytest.raises(ValueError, match="same features; one has 2 columns, the other 3"):
        kernel([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="must hold numbers"):
        kernel([["a", "b"]])
    with pytest.raises(ValueError, match="no columns"):
        kernel(np.empty((3, 0)))
    with pytest.raises(ValueError, match="overflow"):
        kernel([[1e200], [-1e200]])


def test_samples_with_huge_but_finite_values_are_not_taken_for_infinite():
    X = np.array([[1e308, 1e308], [1e308, 1e308]])
    assert np.isfinite(X).all()
    assert Sigmoid(gamma=1e-300).diag(X / 1e160).shape == (2,)
    assert Linear().of(lambda table: table * 1e-300)(X).shape == (2, 2)
