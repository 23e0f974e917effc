"""Numbers and text in one column."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from tamiz.data import load
from tamiz.data._mixed import levels_of


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
    ],
)
def test_levels(cells, levels):
    assert levels_of(cells) == levels


def test_equal_numbers_of_a_frame_are_one_level():
    cells = pd.Series([1, 1.0, "1", "x", 2, None] * 5, dtype=object)
    found = load(pd.DataFrame({"m": cells, "y": [0, 1] * 15}), target="y")
    np.testing.assert_array_equal(found.X[:6, 0], [1, 1, 0, 3, 2, np.nan])
