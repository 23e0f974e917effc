"""Columns as they were read, and those that mix numbers and text."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamiz.data import load
from tamiz.data.column import Column, confused, distinct_names, levels_of, plain_number


@given(st.lists(st.one_of(st.none(), st.text("abc", min_size=1, max_size=2)), max_size=20))
def test_cells_come_back(cells):
    column = Column.from_cells("x", cells)
    assert column.objects().tolist() == cells
    assert column.levels == sorted({cell for cell in cells if cell is not None})
    assert column.missing().tolist() == [cell is None for cell in cells]
    assert column.take(np.arange(len(cells))[::-1]).objects().tolist() == cells[::-1]


@given(st.lists(st.one_of(st.none(), st.integers(-3, 12), st.floats(-5, 5)), max_size=20))
def test_numbers_as_levels_keep_their_order(cells):
    values = np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
    column = Column("x", values).as_text()
    assert [float(level) for level in column.levels] == sorted({*values[~np.isnan(values)]})
    for cell, code in zip(values, column.codes, strict=True):
        assert (code == -1) if np.isnan(cell) else float(column.levels[code]) == cell


@given(st.lists(st.sampled_from(["a", "b", "a_2", "a_3", "b_2"]), max_size=12))
def test_names_become_distinct(names):
    result, renamed = distinct_names(names)
    assert len(set(result)) == len(names)
    assert set(renamed) == {name for name in names if names.count(name) > 1}
    for name in set(names):
        assert result[names.index(name)] == name  # the first keeps it


def test_plain_numbers():
    assert [plain_number(v) for v in (3.0, -2.5, 0.1, 1e20)] == ["3", "-2.5", "0.1", "1e+20"]


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


def test_every_missing_value_of_an_array_of_objects():
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
