"""Groups of features, fixed features, and the choice of a size."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from tamiz.base import choose_size
from tamiz.embedded import SVMRFE, HoldOutSVM
from tamiz.search import ForwardSelection, GeneticSearch
from tamiz.validation import check_features, check_units

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


def test_groups_with_names_are_the_same_groups():
    plain = check_units([["red", "green"], [4, 0]], ["blue"], 5, NAMES)
    named = check_units({"colour": ["red", "green"], 7: [4, 0]}, ["blue"], 5, NAMES)
    assert members(named) == members(plain) == [[0, 4], [1, 2]]
    assert named.fixed.tolist() == plain.fixed.tolist() == [3]
    assert plain.named is None
    assert {name: group.tolist() for name, group in named.named.items()} == {
        "colour": [1, 2],
        "7": [0, 4],
    }
    assert members(check_units({}, None, 2)) == [[0], [1]]


@pytest.mark.parametrize(
    "search",
    [
        SVMRFE(2),
        HoldOutSVM(2, random_state=0),
        ForwardSelection(n_features_to_select=2, cv=2),
        GeneticSearch(N=4, G=2, cv=2, random_state=0),
    ],
    ids=lambda search: type(search).__name__,
)
def test_who_takes_groups_takes_their_names(search):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 5)), np.arange(30) % 2
    X[:, 2] += 3 * y
    groups = [[0, 1], [2, 3]]
    plain = clone(search).set_params(feature_groups=groups).fit(X, y)
    named = clone(search).set_params(feature_groups=dict(zip("ab", groups, strict=True))).fit(X, y)
    assert named.order_.tolist() == plain.order_.tolist()
    assert named.support_.tolist() == plain.support_.tolist()
    assert named.support_[0] == named.support_[1] and named.support_[2] == named.support_[3]


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
        ({"a": [0, 1], "b": [1]}, None, r"in feature_groups\['a'\] and in feature_groups\['b'\]"),
        ({"a": []}, None, r"feature_groups\['a'\] is empty"),
        ({"a": "red"}, None, r"feature_groups\['a'\]='red' is not understood"),
        ({"a": ["height"]}, None, r"feature_groups\['a'\] names 'height', but X has no column"),
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
    # 2 is worse than 3 by 0.05, 0.05 and 0 in the splits: in the mean by 0.0333, and the corrected
    # error of that is 0.0289 sqrt(1/3 + 1/2) = 0.0264
    assert choose_size(errors, sizes, "1se") == 3
    errors[0, 2] = 0.2  # by 0.1, 0.05 and 0: 0.05, and its error 0.05 sqrt(1/3 + 1/2) = 0.0456
    assert choose_size(errors, sizes, "1se") == 3
    assert choose_size(errors, sizes, "1se", ratio=1.0) == 2  # 0.05 sqrt(1/3 + 1) = 0.0577
    assert choose_size(errors[:1], sizes, "1se") == 3  # one split knows no standard error
