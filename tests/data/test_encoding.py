"""Codes and indicators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder

from tamiz.data import DataError, load
from tamiz.data.dataset import indicators
from tamiz.validation import check_units

TABLE = pd.DataFrame(
    {
        "colour": ["red", "green", "blue", "red", "green", "red"],
        "size": [1.0, 2.5, 3.0, 1.5, 2.0, 9.0],
        "sex": ["m", "f", "f", "m", "m", "f"],
        "place": ["x", None, "y", "x", "y", None],
        "label": ["p", "q", "p", "q", "p", "q"],
    }
)


def test_indicators_and_groups():
    data = load(TABLE, encode="onehot")
    assert data.feature_names == [
        "colour=blue", "colour=green", "colour=red", "size", "sex=m",
        "place=x", "place=y", "place=(missing)",
    ]  # fmt: skip
    assert data.feature_groups == [[0, 1, 2], [5, 6, 7]]
    assert not data.categorical.any() and not np.isnan(data.X).any()
    for group in data.feature_groups:
        assert (data.X[:, group].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(data.X[:, 4], [1, 0, 0, 1, 1, 0])
    assert data.roles["colour=red"] == "categorical"


def test_equals_scikit_learn():
    ours = load(TABLE[["colour", "sex", "label"]], encode="onehot")
    peer = OneHotEncoder(drop="if_binary", sparse_output=False)
    np.testing.assert_array_equal(ours.X, peer.fit_transform(TABLE[["colour", "sex"]]))


def test_later_is_the_same_as_at_once():
    later, once = load(TABLE).encode("onehot"), load(TABLE, encode="onehot")
    np.testing.assert_array_equal(later.X, once.X)
    assert later.feature_names == once.feature_names
    assert later.feature_groups == once.feature_groups
    again = later.encode("onehot")
    assert again.feature_names == once.feature_names


def test_groups_are_units_for_selectors():
    data = load(TABLE, encode="onehot")
    units = check_units(data.feature_groups, None, data.n_features, data.feature_names)
    assert [len(members) for members in units.members] == [3, 1, 1, 3]


def test_groups_follow_what_is_kept():
    data = load(TABLE, encode="onehot").drop(["colour=green", "size"])
    assert data.feature_groups == [[0, 1], [3, 4, 5]]


def test_codes_go_back_to_words():
    data = load(TABLE)
    assert data.levels["colour"] == ["blue", "green", "red"]
    named = [data.levels["colour"][int(code)] for code in data.X[:, 0]]
    assert named == TABLE["colour"].tolist()
    np.testing.assert_array_equal(data.X[:, 3], [0, np.nan, 1, 0, 1, np.nan])


def test_cells_as_they_are():
    data = load(TABLE, encode=None)
    assert data.X.dtype == object
    assert data.X[1].tolist() == ["green", 2.5, "f", None]
    assert data.missing.tolist() == [0, 0, 0, 2]
    with pytest.raises(DataError, match="load them again"):
        data.encode("onehot")


def test_two_levels_make_one_column():
    block, labels = indicators(np.array([0.0, 1, 1]), ["a", "b"])
    assert (block.ravel().tolist(), labels) == ([0, 1, 1], ["b"])
    block, labels = indicators(np.array([0.0, 0]), ["a"])
    assert (block.ravel().tolist(), labels) == ([1, 1], ["a"])


def test_indicators_are_noted_once():
    coded = load(TABLE)
    made = coded.encode("onehot")
    notes = [note for note in made.notes if note.startswith("Categories as indicators")]
    n_made = sum("=" in name for name in made.feature_names)
    assert len(notes) == 1
    assert f"became {n_made} columns" in notes[0]
    assert "'colour=blue'" in notes[0]
    assert coded.notes == load(TABLE).notes  # the original is as it was
    assert made.encode("onehot").notes == made.notes
    assert not any("indicators" in note for note in coded.notes)
