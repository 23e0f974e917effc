"""Splits answer, and say in words and in Python what they ask."""

import numpy as np
import pytest

from tamiz.tree import NominalSplit, NumericSplit, ObliqueSplit, Surrogate

NAMES = ["age", "colour", "size"]
CATEGORIES = {1: np.array(["red", "green", "blue"], dtype=object), 2: np.array(["S", "M", "L"])}
X = np.array([[1.0, 0, 0], [2.0, 1, 1], [3.0, 2, 2], [np.nan, np.nan, np.nan], [2.5, -1, 1]])


def test_a_number_at_the_threshold_goes_left_and_a_missing_value_where_the_split_says():
    assert NumericSplit(0, 2.0).sends_left(X).tolist() == [1, 1, 0, -1, 0]
    assert NumericSplit(0, 2.0, 1).sends_left(X).tolist() == [1, 1, 0, 1, 0]
    assert NumericSplit(0, np.inf, 0).sends_left(X).tolist() == [1, 1, 1, 0, 1]


def test_categories_that_are_in_neither_set_are_undecided():
    split = NominalSplit(1, frozenset({0}), frozenset({2}))
    assert split.sends_left(X).tolist() == [1, -1, 0, -1, -1]
    directed = NominalSplit(1, frozenset({0}), frozenset({1, 2}), 0)
    assert directed.sends_left(X).tolist() == [1, 0, 0, 0, -1]


def test_a_sum_is_undecided_if_a_term_is_missing():
    split = ObliqueSplit((0, 2), (1.0, -2.0), 0.0)
    assert split.sends_left(X).tolist() == [0, 1, 1, -1, 0]
    assert split.features == (0, 2)


def test_a_reversed_surrogate_sends_the_other_way():
    surrogate = Surrogate(NumericSplit(0, 2.0), True, 0.9, 0.5)
    assert surrogate.sends_left(X).tolist() == [0, 0, 1, -1, 1]
    assert surrogate.text(True, NAMES) == "age > 2"
    assert surrogate.features == (0,)


@pytest.mark.parametrize(
    ("split", "left", "right"),
    [
        (NumericSplit(0, 2.5), "age <= 2.5", "age > 2.5"),
        (NumericSplit(0, 2.5, 0), "age <= 2.5", "age > 2.5 or missing"),
        (NumericSplit(0, np.inf, 0), "age is known", "age is missing"),
        (NumericSplit(2, 0.5), "size <= S", "size > S"),
        (
            NominalSplit(1, frozenset({0, 2}), frozenset({1})),
            "colour in {red, blue}",
            "colour = green",
        ),
        (
            NominalSplit(1, frozenset({0}), frozenset({1}), 1),
            "colour = red or missing",
            "colour = green",
        ),
        (
            NominalSplit(1, frozenset(), frozenset({0, 1}), 1),
            "colour is missing",
            "colour is known",
        ),
        (
            ObliqueSplit((0, 2), (-1.0, 2.0), 3.0),
            "-1 age + 2 size <= 3",
            "-1 age + 2 size > 3",
        ),
    ],
)
def test_both_answers_in_words(split, left, right):
    assert split.text(True, NAMES, CATEGORIES) == left
    assert split.text(False, NAMES, CATEGORIES) == right


@pytest.mark.parametrize(
    "split",
    [
        NumericSplit(0, 2.0),
        NumericSplit(2, 0.5),
        NominalSplit(1, frozenset({0, 2}), frozenset({1})),
        ObliqueSplit((0,), (-1.0,), -2.0),
        Surrogate(NumericSplit(0, 2.0), True, 0.9, 0.5),
    ],
)
def test_the_python_source_gives_the_answer_of_the_split(split):
    source = split.source(NAMES, CATEGORIES)
    for i in range(3):
        row = {"age": X[i, 0], "colour": CATEGORIES[1][i], "size": str(CATEGORIES[2][i])}
        assert eval(source, {"row": row}) == bool(split.sends_left(X)[i])
    assert "row[0]" in NumericSplit(0, 2.0).source()


def test_large_limits_keep_their_digits():
    stamps = NumericSplit(0, 1_700_000_123.5), NumericSplit(0, 1_700_000_124.0)
    assert [one.text(True, ["ts"]) for one in stamps] == [
        "ts <= 1700000123.5",
        "ts <= 1700000124",
    ]
    assert NumericSplit(0, 2.450000001).text(False, ["x"]) == "x > 2.45"
