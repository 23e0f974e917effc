"""Numbers and text in one column."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from tamiz.data import load
from tamiz.data.mixed import confused, levels_of


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        ([1, 1.0, np.int8(1), np.float32(1), Decimal("1.0"), "a"], ["1"] * 5 + ["a"]),
        ([True, 1, np.True_, "1", "a"], ["1", "1", "1", "'1'", "a"]),
        ([True, np.False_, "True", 7], ["True", "False", "'True'", "7"]),
        ([0.1, "0.1", "0.10", "nan", "1e5"], ["0.1", "'0.1'", "0.10", "'nan'", "1e5"]),
        ([2**53, 2**53 + 1, 2.0**53, "a"], [repr(2.0**53), str(2**53 + 1), repr(2.0**53), "a"]),
        ([10**400, -(10**400), "a"], [str(10**400), str(-(10**400)), "a"]),
        (["1", None, "True"], ["1", None, "True"]),  # nothing but text
        ([1, "1", "'1'", "\"'1'\""], ["1", "'1'", "\"'1'\"", repr("\"'1'\"")]),
        ([2**53 + 1, str(2**53 + 1)], [str(2**53 + 1), repr(str(2**53 + 1))]),
        ([Fraction(1, 3), "1/3", "1/4"], ["1/3", "'1/3'", "1/4"]),
    ],
)
def test_levels(cells, levels):
    assert levels_of(cells) == levels


def test_equal_numbers_of_a_frame_are_one_level():
    cells = pd.Series([1, 1.0, "1", "x", 2, None] * 5, dtype=object)
    found = load(pd.DataFrame({"m": cells, "y": [0, 1] * 15}), target="y")
    np.testing.assert_array_equal(found.X[:6, 0], [1, 1, 0, 3, 2, np.nan])


def test_every_gap_of_an_array_of_objects():
    gaps = [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("nan")]
    table = np.empty((30, 2), dtype=object)
    table[:, 0] = (["a", 1, "1"] * 10)[: 30 - len(gaps)] + gaps
    table[:, 1] = np.arange(30) % 2
    found = load(table, target=1)
    assert np.flatnonzero(np.isnan(found.X[:, 0])).tolist() == list(range(30 - len(gaps), 30))


@pytest.mark.parametrize(
    ("alone", "mixed", "level"),
    [
        (["1", "a"], [1, "b"], "1"),
        (["1", "a"], ["1", 2], "1"),
        (["True"], [True, "a"], "True"),
        ([], [True, "a", 1], None),
        (["7", "a", "0.10"], [1, "1", "a", 0.1], None),
        (["a"], [1, "a"], None),
    ],
)
def test_levels_of_batches_that_do_not_agree(alone, mixed, level):
    assert confused(levels_of(alone), levels_of(mixed)) == level


def test_truth_values_that_are_numbers_elsewhere():
    assert confused([], levels_of([True, "a"]) + levels_of([1, "a"])) == "True"
    assert confused([], levels_of([True, "a"]) + levels_of([0, "a"])) is None
