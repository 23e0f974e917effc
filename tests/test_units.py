"""Groups of features, fixed features, and the choice of a size."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz._units import check_features, check_units
from tamiz.base import choose_size

NAMES = ["age", "red", "green", "blue", "income"]


def members(units):
    return [features.tolist() for features in units.members]


def test_features_in_no_group_stand_alone():
    units = check_units([["red", 2, "blue"]], None, 5, NAMES)
    assert members(units) == [[0], [1, 2, 3], [4]]
    assert not units.single
    assert units.sizes.tolist() == [1, 3, 1]
    assert units.of_feature().tolist() == [0, 1, 1, 1, 2]
    assert units.totals(np.array([1.0, 2, 3, 4, 5])).tolist() == [1, 9, 5]


def test_no_groups():
    units = check_units(None, None, 3)
    assert members(units) == [[0], [1], [2]]
    assert units.single and len(units.fixed) == 0
    assert units.totals(np.array([1.0, 2, 3])).tolist() == [1, 2, 3]


def test_a_group_with_a_fixed_feature_is_fixed_whole():
    units = check_units([[1, 2, 3]], ["green"], 5, NAMES)
    assert units.fixed.tolist() == [1, 2, 3]
    assert members(units) == [[0], [4]]
    assert units.of_feature().tolist() == [0, -1, -1, -1, 1]
    assert units.totals(np.ones(5)).tolist() == [1, 1]


def test_masks():
    assert check_features([True, False, True], "fixed_features", 3).tolist() == [0, 2]
    with pytest.raises(ValueError, match="mask of 2 entries; X has 3"):
        check_features([True, False], "fixed_features", 3)


@pytest.mark.parametrize(
    ("groups", "fixed", "sentence"),
    [
        ([[0, 1], [1, 2]], None, r"feature 'red' is in feature_groups\[0\] and"),
        ([[0, 0]], None, "lists feature 'age' twice"),
        ([[]], None, r"feature_groups\[0\] is empty"),
        ([[7]], None, "numbered 0 to 4"),
        ([[-1]], None, "numbered 0 to 4"),
        ([["height"]], None, "X has no column 'height'"),
        ([[0.5]], None, "by position or by name"),
        ([0, 1], None, r"feature_groups\[0\]=0 is not understood"),
        ("red", None, "feature_groups='red' is not understood"),
        (None, "red", "fixed_features='red' is not understood"),
        (None, [0, "age"], "lists feature 'age' twice"),
        (None, 3, "fixed_features=3 is not understood"),
    ],
)
def test_what_is_not_understood_gets_a_sentence(groups, fixed, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_units(groups, fixed, 5, NAMES)


def test_names_without_names():
    with pytest.raises(ValueError, match="X has no named columns"):
        check_units([["red"]], None, 5)


def test_sizes_by_rule():
    sizes = np.array([4, 3, 2, 1])
    errors = np.array([[0.1, 0.1, 0.15, 0.5], [0.2, 0.2, 0.25, 0.5], [0.3, 0.3, 0.3, 0.5]])
    assert choose_size(errors, sizes, "best") == 3  # of those tied the smallest
    # least mean 0.2, standard error 0.1 / sqrt(3) = 0.058: 0.233 is inside
    assert choose_size(errors, sizes, "1se") == 2
    assert choose_size(errors[:1], sizes, "1se") == 3  # one split knows no standard error
