"""Tables in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from tamiz.data import DataError, DataWarning, load
from tests.frames import to_polars

FRAME = pd.DataFrame(
    {
        "number": [1.5, np.nan, 3.0, 0.5],
        "word": ["a", "b", None, "a"],
        "label": ["x", "y", "x", "y"],
    }
)


@pytest.mark.parametrize("make", [lambda f: f, to_polars], ids=["pandas", "polars"])
def test_frames_of_both_kinds(make):
    data = load(make(FRAME))
    np.testing.assert_array_equal(data.X, [[1.5, 0], [np.nan, 1], [3, np.nan], [0.5, 0]])
    assert data.y.tolist() == ["x", "y", "x", "y"]
    assert data.categorical.tolist() == [False, True]
    assert data.missing.tolist() == [1, 1]


def test_pandas_kinds_of_columns():
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
            "flag": [True, False, True, False],
            "order": pd.Categorical(["lo", "hi", None, "lo"], categories=["lo", "mid", "hi"]),
            "objects": pd.Series([1, 2.5, None, 4], dtype=object),
            "y": [0, 1, 0, 1],
        }
    )
    data = load(frame)
    expected = [[1, 1, 0, 1], [np.nan, 0, 2, 2.5], [3, 1, np.nan, np.nan], [4, 0, 0, 4]]
    np.testing.assert_array_equal(data.X, expected)
    assert data.levels == {"order": ["lo", "mid", "hi"]}


def test_frame_comes_back():
    data = load(FRAME)
    back = data.frame
    assert back.columns.tolist() == ["number", "word", "label"]
    np.testing.assert_array_equal(back["number"], FRAME["number"])
    assert [None if pd.isna(v) else v for v in back["word"]] == ["a", "b", None, "a"]
    assert back["label"].tolist() == FRAME["label"].tolist()


def test_names_used_twice_and_numbers_as_names():
    frame = pd.DataFrame([[1.0, 5, 3, 0], [2, 9, 4, 1]], columns=["a", "a", 7, "y"])
    with pytest.warns(DataWarning, match="same name"):
        data = load(frame)
    assert data.feature_names == ["a", "a_2", "7"]
    assert frame.columns.tolist() == ["a", "a", 7, "y"]


def test_arrays_and_lists():
    rows = [[1.0, 5.0, 0.0], [2.0, 6.5, 1.0], [4.0, 7.0, 0.0]]
    for table in (np.array(rows), rows):
        data = load(table)
        assert data.X.tolist() == [[1, 5], [2, 6.5], [4, 7]]
        assert data.y.tolist() == [0, 1, 0]
    assert load(np.array(rows), target=0).feature_names == ["x1", "x2"]
    mixed = load([[1, "u", 0], [2, "v", 1], [3, "u", 0]], roles={"x0": "numeric"})
    assert mixed.levels == {"x1": ["u", "v"]}


def test_sparse_matrix():
    X = sparse.csr_matrix(np.array([[0, 1.0, 0], [2, 0, 1], [0, 0, 1]]))
    data = load(X)
    assert sparse.issparse(data.X)
    assert data.X.toarray().tolist() == [[0, 1], [2, 0], [0, 0]]
    assert data.y.tolist() == [0, 1, 1]
    assert load(X, target=False).y is None


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (5, "cannot be made of int"),
        (None, "cannot be made of NoneType"),
        ({"a": [1]}, "cannot be made of dict"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((0, 3)), "no rows"),
        ([[1, 2], [3]], "row 1 has 1 cells"),
        (FRAME.iloc[:0], "no rows"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (pl.DataFrame({"a": [[1], [2]], "y": [0, 1]}), "'a' is of type List"),
        (pd.DataFrame(), "no columns"),
    ],
)
def test_refusals(table, words):
    with pytest.raises(DataError, match=words):
        load(table)
