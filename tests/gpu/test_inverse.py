"""Inverses by halves against those of the library."""

from types import SimpleNamespace

import numpy as np
import pytest

from tamiz.gpu import emulated
from tamiz.gpu.inverse import shifted_inverse
from tamiz.kernels import RBF


def inverse(matrix, shift=0.0, **options):
    with emulated() as lane:
        given = lane.to_device(matrix)
        found = lane.to_host(shifted_inverse(lane.xp, given, shift, **options))
        assert np.array_equal(lane.to_host(given), matrix)  # it is not written to
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 101])
@pytest.mark.parametrize("least", [1, 2, 20])
def test_halves_give_the_inverse(n, least):
    root = np.random.default_rng(n).normal(size=(n, n))
    found = inverse(root @ root.T, 0.5, least=least)
    assert np.abs(found @ (root @ root.T + 0.5 * np.eye(n)) - np.eye(n)).max() <= 1e-10
    assert np.abs(found - found.T).max() <= 1e-10


@pytest.mark.parametrize("shift", [1e-3, 1e-6, 1e-9])
def test_a_matrix_of_nearly_no_rank_keeps_the_digits_that_elimination_keeps(shift):
    K = RBF(gamma=0.05)(np.random.default_rng(0).normal(size=(300, 3)))
    matrix = K + shift * np.eye(300)
    ours, others = (
        np.abs(one @ matrix - np.eye(300)).max()
        for one in (inverse(K, shift, least=10), np.linalg.inv(matrix))
    )
    assert ours <= 10 * others


def test_a_matrix_that_is_not_positive_definite_is_left_to_elimination():
    matrix = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 3.0]])
    for least in (1, 10):
        found = inverse(matrix, 0.5, least=least)
        assert np.abs(found - np.linalg.inv(matrix + 0.5 * np.eye(3))).max() <= 1e-14


def test_a_large_matrix_is_halved_and_a_failure_that_is_not_said_is_seen():
    root = np.random.default_rng(0).normal(size=(1100, 5))
    matrix, seen = root @ root.T, []
    with emulated() as lane:
        xp = SimpleNamespace(**vars(lane.xp))

        def cholesky(a):
            seen.append(len(a))
            return lane.xp.linalg.cholesky(a) * (1.0 if len(seen) <= 2 else float("nan"))

        xp.linalg = SimpleNamespace(**vars(lane.xp.linalg))
        xp.linalg.cholesky = cholesky
        given = lane.to_device(matrix)
        found = [lane.to_host(shifted_inverse(xp, given, 1.0)) for _ in range(2)]
    assert seen == [550, 550] * 2
    for one in found:
        assert np.abs(one @ (matrix + np.eye(1100)) - np.eye(1100)).max() <= 1e-9


@pytest.mark.parametrize("n", [3, 40])
def test_half_a_factor_is_not_taken_for_one(n):
    """The library of a card says nothing where a matrix is not positive definite."""
    root = np.random.default_rng(0).normal(size=(n, n))
    matrix = root + root.T
    with emulated() as lane:
        xp = SimpleNamespace(**vars(lane.xp))

        def cholesky(a):
            try:
                return lane.xp.linalg.cholesky(a)
            except np.linalg.LinAlgError:
                return lane.xp.tril(a)

        xp.linalg = SimpleNamespace(**vars(lane.xp.linalg))
        xp.linalg.cholesky = cholesky
        found = lane.to_host(shifted_inverse(xp, lane.to_device(matrix), 0.5, least=10))
    assert np.abs(found @ (matrix + 0.5 * np.eye(n)) - np.eye(n)).max() <= 1e-10
