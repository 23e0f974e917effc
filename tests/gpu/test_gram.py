"""Kernel values on the card equal those of the kernels, whole, streamed, and in both precisions."""

import numpy as np
import pytest

from tamiz.gpu import emulated
from tamiz.gpu.gram import CardGram, UnfitForCardError
from tamiz.kernels import RBF, Linear, Polynomial, QuadraticForm, Sigmoid
from tamiz.qp import DenseQ, KernelQ, ShiftedQ
from tamiz.qp.card import CardQ, card_gram
from tamiz.validation import NotEnoughMemoryError

KERNELS = [Linear(), Polynomial(degree=3, gamma=0.3), RBF(gamma=0.2), Sigmoid(gamma=0.1, coef0=0.2)]
SMALL = 40_000  # bytes: less than the matrix of 90 samples


def samples(n=90, p=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) + 3.0


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("memory", [None, SMALL], ids=["whole", "streamed"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_and_products_are_those_of_the_kernel(kernel, memory, dtype):
    X, rng = samples(), np.random.default_rng(1)
    expected = kernel(X)
    scale = np.abs(expected).max()
    close = 1e-13 if dtype == np.float64 else 3e-6
    rows, columns = rng.permutation(90)[:7], rng.permutation(90)[:11]
    coef = np.where(rng.random(90) < 0.5, rng.normal(size=90), 0.0)
    with emulated(memory) as lane:
        Q = CardQ(lane, kernel, X, dtype)
        assert (Q.gram.whole is None) == (memory is not None)
        block, some = Q.block(rows, columns), Q.rows(rows)
        stored, exact = Q.dot(coef), Q.exact_dot(coef)
    assert block.dtype == some.dtype == dtype
    assert np.abs(block - expected[np.ix_(rows, columns)]).max() <= close * scale
    assert np.abs(some - expected[rows]).max() <= close * scale
    assert np.abs(stored - expected @ coef).max() <= 30 * close * scale
    assert np.abs(exact - expected @ coef).max() <= 1e-12 * scale


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sums_at_new_samples_are_those_of_the_kernel(kernel):
    X, Z, coef = samples(), samples(33, seed=2), np.random.default_rng(3).normal(size=(90, 2))
    with emulated(SMALL) as lane:
        found = card_gram(lane, kernel, X, np.float64).decision(Z, coef)
    expected = kernel(Z, X) @ coef
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


def test_new_samples_at_any_distance_have_kernel_value_zero():
    X, coef = samples(), np.ones((90, 1))
    Z = np.array([[1e200] * 5, [1e20] * 5, [3.0] * 5])
    with emulated() as lane:
        for dtype in (np.float32, np.float64):
            found = card_gram(lane, RBF(gamma=0.2), X, dtype).decision(Z, coef)
            assert np.isfinite(found).all() and found[:2].tolist() == [[0.0], [0.0]]
            assert found[2, 0] == pytest.approx(RBF(gamma=0.2)(Z[2:], X).sum(), rel=1e-6)


def test_no_value_exceeds_one():
    X = np.repeat(100.0 * samples(20), 3, axis=0)
    with emulated() as lane:
        for gamma in (1e-4, 1.0, 100.0):
            values = CardQ(lane, RBF(gamma=gamma), X, np.float64).dense()
            assert values.max() <= 1.0 and np.diag(values).min() >= 1.0 - 1e-8


def test_a_part_has_the_entries_of_the_whole():
    X, chosen = samples(), np.array([5, 2, 60, 33])
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.2), X, np.float32)
        assert Q.gram.whole is not None
        part = Q.subset(chosen, True)
        assert np.array_equal(part.X, X[chosen])
        found = part.dense()
    assert np.abs(found - RBF(gamma=0.2)(X[chosen])).max() <= 1e-6


def test_a_matrix_in_float64_takes_the_place_of_the_one_in_float32():
    X = samples()
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.2), X, np.float32)
        assert Q.gram.whole is not None
        assert Q.double().dtype == np.float64
        assert Q.gram.whole is None  # from now on computed when needed
        assert np.abs(Q.dense() - RBF(gamma=0.2)(X)).max() <= 1e-6


def test_views_say_where_their_matrix_is():
    X = samples()
    with emulated() as lane:
        Q = CardQ(lane, RBF(gamma=0.2), X)
        shifted = ShiftedQ(ShiftedQ(Q, 1.0), 2.0).on_card()
    assert shifted.gram is Q.gram and shifted.shift.tolist() == [3.0] * 90
    assert ShiftedQ(KernelQ(RBF(gamma=0.2), X), 1.0).on_card() is None
    assert DenseQ(np.eye(2)).on_card() is None


def test_what_is_not_for_the_card_is_said_in_a_sentence():
    from scipy import sparse

    X = samples()
    with emulated() as lane:
        with pytest.raises(UnfitForCardError, match="Linear, Polynomial, RBF and Sigmoid, or"):
            card_gram(lane, QuadraticForm(np.eye(5)), X, np.float64)
        with pytest.raises(UnfitForCardError, match="X is sparse"):
            card_gram(lane, Linear(), sparse.csr_array(X), np.float64)
        with pytest.raises(UnfitForCardError, match="so far apart"):
            card_gram(lane, RBF(gamma=1e12), X, np.float64)
    with (
        emulated(1000) as lane,
        pytest.raises(NotEnoughMemoryError, match="About 20 samples would fit"),
    ):
        card_gram(lane, RBF(gamma=0.2), X, np.float64)
    with emulated(6000) as lane:
        gram = CardGram(lane, RBF(gamma=0.2).card_form, X)
        with pytest.raises(NotEnoughMemoryError, match="A row of the kernel matrix would take"):
            gram.exact_product(np.ones(90))
