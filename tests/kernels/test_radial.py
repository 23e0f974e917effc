"""The fast lane of the radial kernel: tiles, threads, single precision, difficult scales."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from tamiz.kernels import RBF, radial
from tamiz.runtime import threads as blas
from tests.kernels.cases import close, samples


def direct(X, Z, gamma):
    """Differences first, squares after: nothing cancels."""
    return np.exp(-gamma * np.square(X[:, None, :] - Z[None, :, :]).sum(axis=2))


DATA = {
    "plain": (lambda: samples(150, p=6), 0.2),
    "offset": (lambda: samples(150, p=6) + 1e6, 0.2),
    "one large feature": (lambda: samples(150, p=6) * [1, 1, 1, 1, 1, 1e3], 0.2),
    "one tiny feature": (lambda: samples(150, p=6) * [1, 1, 1, 1, 1, 1e-9], 0.2),
    "clusters far apart": (
        lambda: samples(150, p=6) * 0.1 + 100.0 * (np.arange(150) % 2)[:, None],
        1.0,
    ),
    "duplicates": (lambda: np.repeat(samples(50, p=6), 3, axis=0) * 4.0, 0.5),
    "constant": (lambda: np.full((150, 6), 3.0), 1.0),
    "all far": (lambda: samples(150, p=6) * 1e4, 1.0),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", DATA)
def test_accuracy_on_difficult_scales(name, dtype):
    make, gamma = DATA[name]
    X = make()
    Z = X[::-1] + 0.01
    prepared = RBF(gamma=gamma).prepare(X, dtype)
    exact, exact_new = direct(X, X, gamma), direct(Z, X, gamma)
    gram = prepared.gram()
    assert np.abs(gram - exact).max() <= prepared.entry_error
    assert np.abs(prepared.cross(Z) - exact_new).max() <= 2 * prepared.entry_error
    assert np.array_equal(gram, gram.T)
    assert (np.diag(gram) == 1.0).all()
    assert gram.min() >= 0.0
    assert gram.max() <= 1.0
    # An estimate that is honest and yet of use.
    assert prepared.entry_error < 2e-5


def test_the_product_is_single_only_where_that_is_harmless():
    X = samples(150, p=6)
    assert RBF(gamma=0.2).prepare(X, np.float32).single
    assert not RBF(gamma=0.2).prepare(X * 30, np.float32).single
    assert not RBF(gamma=0.2).prepare(X).single
    wide = RBF(gamma=0.2).prepare(X * 30, np.float32)
    assert wide.gram().dtype == np.float32
    assert np.abs(wide.gram() - direct(X * 30, X * 30, 0.2)).max() < 2e-7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 127, 129, 200])
def test_tiles_of_every_remainder(n, dtype, limits):
    limits(radial, TILE_ROWS=64, TILE_COLS=48)
    X, Z = samples(n, p=5), samples(70, seed=1, p=5)
    prepared = RBF(gamma=0.3).prepare(X, dtype)
    tol = 2e-6 if dtype == np.float32 else 1e-13
    gram = prepared.gram()
    close(gram, rbf_kernel(X, gamma=0.3), tol)
    assert np.array_equal(gram, gram.T)
    close(prepared.cross(Z), rbf_kernel(Z, X, gamma=0.3), tol)
    coef = np.random.default_rng(0).normal(size=(n, 2))
    close(prepared.decision(Z, coef), rbf_kernel(Z, X, gamma=0.3) @ coef, 5 * tol)
    for index in ([0], np.arange(n), np.arange(n)[::-1]):
        close(prepared.rows(index), gram[index], tol)
        close(prepared.block(index, [0, n - 1]), gram[np.ix_(index, [0, n - 1])], tol)
        assert (prepared.rows(index)[np.arange(len(index)), index] == 1.0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_nothing(dtype, monkeypatch):
    X, Z = samples(700, p=5), samples(450, seed=1, p=5)
    coef = np.random.default_rng(0).normal(size=700)
    answers = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        prepared = RBF(gamma=0.3).prepare(X, dtype)
        answers.append(
            (prepared.gram(), prepared.cross(Z), prepared.rows([5, 3]), prepared.decision(Z, coef))
        )
    for one, three in zip(*answers, strict=True):
        close(one, three, 1e-6 if dtype == np.float32 else 1e-14)
    assert np.array_equal(answers[1][0], answers[1][0].T)


def test_callers_on_several_threads_do_not_disturb_each_other():
    X = samples(600, p=5)
    expected = RBF(gamma=0.3).prepare(X, np.float32).gram()
    with ThreadPoolExecutor(4) as pool:
        grams = pool.map(lambda _: RBF(gamma=0.3).prepare(X, np.float32).gram(), range(8))
        assert all(np.array_equal(gram, expected) for gram in grams)


def test_blas_threads_are_restored():
    from threadpoolctl import threadpool_info, threadpool_limits

    def blas_threads():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with blas.one_blas_thread():
            with blas.one_blas_thread():
                pass
            assert set(blas_threads()) <= {1}
        assert blas_threads() == before
        with pytest.raises(RuntimeError), blas.one_blas_thread():
            raise RuntimeError
        assert blas_threads() == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_samples_at_absurd_distance_are_at_kernel_value_zero(dtype):
    X = samples(30, p=5)
    prepared = RBF(gamma=0.3).prepare(X, dtype)
    far = np.vstack([X[:2], X[:2] * 1e30, X[:2] * 1e170, X[2:3] + 1e5])
    values = prepared.cross(far)
    assert np.isfinite(values).all()
    assert not values[2:].any()
    close(values[:2], rbf_kernel(X[:2], X, gamma=0.3), 2e-6)


def test_output_that_is_not_contiguous_is_filled_all_the_same():
    prepared = RBF(gamma=0.3).prepare(samples(30, p=5), np.float32)
    out = np.zeros((60, 30), np.float32)[::2]
    assert prepared.rows(np.arange(30), out=out) is out
    assert np.array_equal(out, prepared.rows(np.arange(30)))


def test_no_samples_to_decide_on():
    prepared = RBF(gamma=0.3).prepare(samples(30, p=5))
    assert prepared.decision(np.empty((0, 5)), np.ones(30)).shape == (0,)
    assert prepared.cross(np.empty((0, 5))).shape == (0, 30)
    assert prepared.rows([]).shape == (0, 30)


@pytest.mark.parametrize("unit", [1e3, 1e7, 1e9, 1e15, 1e100])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_samples_that_are_equal_or_close_keep_their_values_in_any_unit(unit, dtype):
    """Products of large samples would lose what little they differ by."""
    first = unit * np.random.default_rng(0).normal(size=(40, 5))
    near = np.nextafter(first, np.inf)
    rows = np.vstack([first, first, near])
    expected = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2))
    prepared = RBF(1.0).prepare(rows, dtype)
    tracker = RBF(1.0).track(rows)
    tracker.remove(2)
    if unit > 1e7:  # below, as good as the digits of products
        np.testing.assert_array_equal(tracker.K.diagonal(40)[:40], 1.0)
    for found in (
        RBF(1.0)(rows),
        RBF(1.0)(rows, rows.copy()),
        prepared.gram(),
        prepared.rows(np.arange(120)),
        prepared.block(np.arange(120), np.arange(120)),
        prepared.subset(np.arange(120)).cross(rows),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-4)
    coef = np.linspace(-1.0, 1.0, 120)
    np.testing.assert_allclose(prepared.decision(rows, coef), expected @ coef, atol=1e-3)
    assert np.array_equal(prepared.gram(), prepared.gram().T)
    assert prepared.entry_error < 1e-3
