"""What solvers ask of a kernel: every kernel, both types, against the plain Gram matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tamiz.kernels import RBF, Conformal, FunctionKernel, Linear, Polynomial, Precomputed, Sigmoid
from tamiz.kernels.prepared import DECISION_BYTES
from tests.calls import watched
from tests.kernels.cases import ALL, close, samples

KERNELS = {name: kernel for name, (kernel, _) in ALL.items()} | {
    "composed": RBF(gamma=0.3).of(np.tanh),
    "conformal": Conformal(lambda X: X[:, 0]),
    "function": FunctionKernel(lambda X, Z: X @ Z.T),
    "function_sum": FunctionKernel(lambda X, Z: X @ Z.T) + RBF(gamma=0.3),
}
TYPES = {"float64": (np.float64, 1e-13), "float32": (np.float32, 2e-6)}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_every_question_gets_the_same_numbers(name, dtype):
    kernel = KERNELS[name]
    wanted, tol = TYPES[dtype]
    X, Z = samples(23), samples(9, seed=1)
    expected = kernel(X)
    prepared = kernel.prepare(X, wanted)
    assert prepared.n == 23
    assert prepared.dtype == wanted
    assert prepared.kernel == kernel

    gram = prepared.gram()
    close(gram, expected, tol)
    assert np.array_equal(gram, gram.T)
    close(prepared.diag(), np.diag(expected), 1e-13)
    assert prepared.diag().dtype == np.float64

    rows, cols = np.array([5, 0, 22, 5]), np.array([7, 5, 0])
    close(prepared.rows(rows), expected[rows], tol)
    close(prepared.block(rows, cols), expected[np.ix_(rows, cols)], tol)
    close(prepared.cross(Z), kernel(Z, X), tol)
    out = np.empty((4, 23), wanted)
    assert prepared.rows(rows, out=out) is out
    close(out, expected[rows], tol)
    out = np.empty((4, 3), wanted)
    assert prepared.block(rows, cols, out=out) is out
    close(out, expected[np.ix_(rows, cols)], tol)
    out = np.empty((9, 23), wanted)
    assert prepared.cross(Z, out=out) is out
    close(out, kernel(Z, X), tol)
    for values in (gram, prepared.rows(rows), prepared.block(rows, cols), prepared.cross(Z)):
        assert values.dtype == wanted


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_entries_are_within_the_stated_error(name, dtype):
    kernel, X = KERNELS[name], samples(23)
    exact = kernel(X).astype(np.longdouble)
    prepared = kernel.prepare(X, TYPES[dtype][0])
    gap = float(np.abs(prepared.gram() - exact).max())
    assert gap <= prepared.entry_error
    assert prepared.entry_error < 1e-4 * float(np.abs(exact).max())


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_decisions_are_the_product_with_the_coefficients(name, dtype):
    kernel = KERNELS[name]
    wanted, tol = TYPES[dtype]
    X, Z = samples(23), samples(9, seed=1)
    coef = np.random.default_rng(3).normal(size=(23, 3))
    prepared = kernel.prepare(X, wanted)
    close(prepared.decision(Z, coef), kernel(Z, X) @ coef, 10 * tol)
    few = coef.copy()
    few[4:20] = 0.0
    close(prepared.decision(Z, few), kernel(Z, X) @ few, 10 * tol)
    one = prepared.decision(Z, few[:, 0])
    assert one.shape == (9,)
    close(one, kernel(Z, X) @ few[:, 0], 10 * tol)
    assert not prepared.decision(Z, np.zeros(23)).any()
    assert prepared.decision(Z, coef).dtype == np.float64


@pytest.mark.parametrize("name", KERNELS)
def test_subsets_are_the_same_on_fewer_samples(name):
    kernel, X, Z = KERNELS[name], samples(23), samples(9, seed=1)
    chosen = np.array([3, 20, 7])
    part = kernel.prepare(X).subset(chosen)
    assert part.n == 3
    close(part.gram(), kernel(X)[np.ix_(chosen, chosen)], 1e-12)
    close(part.cross(Z), kernel(Z, X)[:, chosen], 1e-12)
    close(part.diag(), kernel.diag(X)[chosen], 1e-12)
    close(part.subset([1]).cross(Z), kernel(Z, X)[:, [20]], 1e-12)


def test_memory_of_decisions_is_bounded():
    X, Z = samples(4000), samples(5000, seed=1)
    coef = np.random.default_rng(3).normal(size=4000)
    prepared = Polynomial(gamma=0.1).prepare(X)
    most = DECISION_BYTES // (8 * 4000)
    expected = prepared.cross(Z) @ coef
    with watched(prepared, "_cross") as blocks:
        close(prepared.decision(Z, coef), expected, 1e-10)
    assert [len(block.args[0]) for block in blocks] == [most, most, 5000 - 2 * most]


def test_words_are_resolved_on_the_training_samples():
    X, Z = samples(23), 5 * samples(9, seed=1)
    kernel = 2.0 * RBF(gamma="scale") + Polynomial(gamma="auto")
    prepared = kernel.prepare(X)
    assert prepared.kernel == kernel.resolve(X)
    close(prepared.cross(Z), kernel.resolve(X)(Z, X), 1e-13)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(), RBF(gamma=0.4), Sigmoid(gamma=0.2), Linear() + RBF(gamma=1.0)],
)
def test_sparse_equals_dense(kernel, dtype):
    wanted, tol = TYPES[dtype]
    X = sparse.random(40, 15, density=0.3, format="csr", random_state=0)
    Z = sparse.random(9, 15, density=0.3, format="csr", random_state=1)
    thin, thick = kernel.prepare(X, wanted), kernel.prepare(X.toarray())
    coef = np.random.default_rng(3).normal(size=40)
    coef[:8] = 0.0
    index = np.array([3, 30, 3])
    close(thin.gram(), thick.gram(), tol)
    assert np.array_equal(thin.gram(), thin.gram().T)
    close(thin.rows(index), thick.rows(index), tol)
    close(thin.block(index, index[:2]), thick.block(index, index[:2]), tol)
    for new in (Z, Z.toarray()):
        close(thin.cross(new), thick.cross(Z.toarray()), tol)
        close(thin.decision(new, coef), thick.decision(Z.toarray(), coef), 10 * tol)
        close(thick.cross(new), thick.cross(Z.toarray()), 1e-13)
        close(thick.decision(new, coef), thick.decision(Z.toarray(), coef), 1e-12)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kernel", [Precomputed(), 2.0 * Precomputed(), Precomputed().exp()])
def test_precomputed_tables(kernel, dtype):
    wanted, tol = TYPES[dtype]
    X, Z = samples(23), samples(9, seed=1)
    plain = kernel.combine if hasattr(kernel, "combine") else (lambda table: table)
    table, new = 0.3 * Linear()(X), 0.3 * Linear()(Z, X)
    kept, kept_new = table.copy(), new.copy()
    expected, expected_new = plain(table.copy()), plain(new.copy())
    prepared = kernel.prepare(table, wanted)
    index = np.array([3, 20, 7])
    close(prepared.gram(), expected, tol)
    close(prepared.rows(index), expected[index], tol)
    close(prepared.block(index, index[:2]), expected[np.ix_(index, index[:2])], tol)
    close(prepared.cross(new), expected_new, tol)
    few = np.zeros(23)
    few[index] = [1.0, -2.0, 0.5]
    close(prepared.decision(new, few), expected_new @ few, 10 * tol)
    close(kernel(table), expected, 1e-13)
    assert np.array_equal(table, kept)
    assert np.array_equal(new, kept_new)
    with pytest.raises(ValueError, match="one column for each of the 23"):
        prepared.cross(new[:, :5])


def test_wrong_questions_are_refused_in_a_sentence():
    prepared = RBF(gamma=1.0).prepare(samples(23))
    with pytest.raises(ValueError, match=r"out must have shape \(2, 23\) and type float64"):
        prepared.rows([0, 1], out=np.empty((2, 22)))
    with pytest.raises(ValueError, match=r"out must have shape \(2, 1\) and type float64"):
        prepared.block([0, 1], [3], out=np.empty((1, 2)))
    with pytest.raises(ValueError, match=r"type float64; .* type float32"):
        prepared.cross(samples(2), out=np.empty((2, 23), np.float32))
    with pytest.raises(ValueError, match="one row for each of the 23 training samples"):
        prepared.decision(samples(2), np.ones(22))
    with pytest.raises(ValueError, match="same features"):
        prepared.cross(samples(2, p=3))
    with pytest.raises(ValueError, match=r"dtype=.*int64.* use numpy.float64 or numpy.float32"):
        RBF(gamma=1.0).prepare(samples(), np.int64)


def test_the_diagonal_cannot_be_written_to():
    for kernel in (Linear(), RBF(gamma=1.0), Linear() + Linear()):
        diag = kernel.prepare(samples()).diag()
        with pytest.raises(ValueError, match="read-only"):
            diag[0] = 5.0
