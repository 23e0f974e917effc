"""Columns as they were read."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamiz.data.column import Column, distinct_names, plain_number


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
