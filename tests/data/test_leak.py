"""Features that give the target away, and those that only help."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.data.leak import leaks

RNG = np.random.default_rng(1)


def classes(n=400, k=3):
    return RNG.permutation(np.arange(n) % k)


def test_copies_thresholds_and_levels():
    y = classes()
    noise = RNG.normal(size=len(y))
    X = np.column_stack(
        [
            noise,
            y * 10.0,  # the answer under another name
            y + 0.4 * np.tanh(noise),  # separated by two thresholds
            (y + 3 * RNG.integers(0, 4, len(y))).astype(float),  # each of 12 levels has one class
            y + noise,  # helps only
        ]
    )
    assert leaks(X, y, True) == [1, 2, 3]


def test_one_exception_is_enough_to_clear():
    y = classes(3000, 2)
    column = y.astype(float)
    column[1234] = 1 - column[1234]
    assert leaks(column[:, None], y, True) == []


def test_missing_cells_do_not_hide_a_leak():
    y = classes()
    column = y.astype(float)
    column[::5] = np.nan
    assert leaks(column[:, None], y, True) == [0]
    column[:300] = np.nan
    assert leaks(column[:, None], y, True) == []  # too little is left to say


def test_rare_class_among_many_rows():
    y = np.zeros(100_000, dtype=int)
    y[[77, 31234]] = 1
    X = np.column_stack([y * 2.5, RNG.normal(size=len(y))])
    assert leaks(X, y, True) == [0]


def test_distinct_values_are_no_leak():
    y = classes(100, 2)
    assert leaks(RNG.permutation(100).astype(float)[:, None], y, True) == []


def test_few_rows_and_wide_tables():
    y = np.array([0, 1] * 4)
    assert leaks(y[:, None].astype(float), y, True) == []  # eight people
    y = classes(40, 2)
    X = RNG.normal(size=(40, 100))
    X[:, 5] = y + 0.1 * RNG.random(40)  # separates, as some gene among thousands may
    X[:, 7] = 3.0 - y
    assert leaks(X, y, True) == [7]


@pytest.mark.parametrize("change", [lambda y: 2 * y + 1, lambda y: -y, np.exp])
def test_regression(change):
    y = RNG.normal(size=1000)
    X = np.column_stack([RNG.normal(size=1000), change(y), y + 0.01 * RNG.normal(size=1000)])
    assert leaks(X, y, False) == [1]


def test_one_class_has_nothing_to_leak():
    assert leaks(np.zeros((30, 1)), np.zeros(30), True) == []
