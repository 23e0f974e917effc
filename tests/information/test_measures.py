"""The public functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tamiz import information
from tests.naive import information as naive


def test_the_worked_table():
    """Joint table (1/6, 1/15, 4/15), (1/6, 4/15, 1/15): as sixty samples."""
    cells = np.array([[5, 2, 8], [5, 8, 2]])
    x = np.repeat(np.repeat([0, 1], 3), cells.ravel())
    z = np.repeat(np.tile([0, 1, 2], 2), cells.ravel())
    both = information.entropy(x, z, unit="bits")
    gain = information.mutual_information(x, z, unit="bits")
    assert both == pytest.approx(2.39958, abs=5e-6)
    assert both - information.entropy(z, unit="bits") == pytest.approx(0.81462, abs=5e-6)
    assert gain == pytest.approx(0.18538, abs=5e-6)
    assert information.symmetrical_uncertainty(x, z) == pytest.approx(0.14343, abs=5e-6)
    assert information.information_of_counts(cells, unit="bits") == pytest.approx(gain)
    assert information.information_of_counts(cells / 30) == pytest.approx(gain * math.log(2))
    np.testing.assert_array_equal(information.contingency_table(x, z), cells)


@pytest.mark.parametrize("n", [2, 30, 500])
@pytest.mark.parametrize("levels", [1, 3, 200])
def test_against_the_formulas(n, levels):
    rng = np.random.default_rng(n + levels)
    x, z, g = (rng.integers(0, levels, n) for _ in range(3))
    lists = x.tolist(), z.tolist(), g.tolist()
    assert information.entropy(x) == pytest.approx(naive.entropy(lists[0]), abs=1e-12)
    assert information.mutual_information(x, z) == pytest.approx(
        naive.mutual_information(*lists[:2]), abs=1e-12
    )
    assert information.conditional_mutual_information(x, z, g) == pytest.approx(
        naive.conditional_mutual_information(*lists), abs=1e-12
    )
    assert information.symmetrical_uncertainty(x, z) == pytest.approx(
        naive.symmetrical_uncertainty(*lists[:2]), abs=1e-12
    )


def test_missing_is_a_value_of_its_own():
    x = np.array([1.0, np.nan, 1.0, np.nan])
    assert information.mutual_information(x, ["a", None, "a", None]) == pytest.approx(math.log(2))


def test_matrices():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 5))
    bits = information.mutual_information_matrix(X, bins=None, unit="bits")
    nats = information.mutual_information_matrix(X, bins=None)
    np.testing.assert_allclose(bits * math.log(2), nats)
    rows = information.mutual_information_matrix(X, bins=None, rows=[3, 1])
    np.testing.assert_array_equal(rows, nats[[3, 1]])
    su = information.symmetrical_uncertainty_matrix(X, bins=None)
    entropies = np.diag(nats)
    np.testing.assert_allclose(su, 2 * nats / (entropies[:, None] + entropies), atol=1e-12)
    small = information.symmetrical_uncertainty_matrix(X, bins=None, dtype=np.float32)
    assert small.dtype == np.float32


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: information.entropy([1, 2], unit="trits"), "unit='trits' is not understood"),
        (lambda: information.mutual_information([1, 2], [1]), "2 and 1 values"),
        (lambda: information.entropy([[1, 2]]), r"x has shape \(1, 2\)"),
        (lambda: information.information_of_counts([1, 2]), "two axes"),
        (lambda: information.information_of_counts([[1, -2]]), "not negative"),
        (
            lambda: information.mutual_information_matrix([[1, 2], [2, 1]], bins=None, dtype=int),
            "dtype=.* is not understood",
        ),
    ],
)
def test_refusals_are_sentences(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_measurements_are_to_be_cut_first():
    x, y = np.random.default_rng(0).normal(size=60), np.tile([0, 1], 30)
    for call in (
        lambda: information.entropy(x),
        lambda: information.mutual_information(x, y),
        lambda: information.mutual_information(y, x),
        lambda: information.conditional_mutual_information(y, y, x),
        lambda: information.symmetrical_uncertainty(x, y),
        lambda: information.contingency_table(x, y),
    ):
        with pytest.raises(ValueError, match=r"60 distinct numbers that are not whole.*discretise"):
            call()
    levels = np.round(x).astype(float)
    levels[0] = np.nan
    assert information.mutual_information(levels, y) > 0
    assert information.mutual_information(np.tile([0.5, 1.5], 30), y) == pytest.approx(np.log(2))
