"""Text where numbers belong: which cell is named, and who is pointed to the string kernel."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tamiz
from tamiz.neighbors import KNNClassifier
from tamiz.tree import CARTClassifier
from tamiz.validation import is_frame, refuse_text, refuse_text_rows


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_the_first_cell_of_a_table_is_named(make):
    with pytest.raises(ValueError, match=r"column 'b' holds text .*: 'x' at row 1\. Encode text"):
        refuse_text(make({"a": [1.0, 2.0], "b": ["3", "x"]}))
    with pytest.raises(
        ValueError, match=r"column 'a' holds dates or times .*turn it into a number"
    ):
        refuse_text(make({"a": [datetime.datetime(2020, 1, 1)]}))
    refuse_text(make({"a": ["1", "2e3"]}))  # numbers written as text are left to others


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([["1", 2.0], [3.0, "x"]], "column 1 holds text where numbers are needed: 'x' at row 1"),
        (np.array([["1"], ["x"]]), "column 0 .* 'x' at row 1"),
        (np.array([[b"x"]]), "column 0 .* b'x' at row 0"),
        (["1", "x"], r"\(one list, no columns\) holds text .* 'x' at row 1"),
        ([[datetime.date(2020, 1, 1)]], "column 0 holds dates or times .* 2020-01-01 at row 0"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), r"dates or times \(datetime64\[D\]\)"),
    ],
)
def test_the_first_cell_of_lists_and_arrays_is_named(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        refuse_text(X)


FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": list("xyxy") * 5})


@pytest.mark.parametrize(
    "call",
    [
        lambda row: tamiz.SVC().fit(FRAME[["a"]], FRAME.b).predict(row),
        lambda row: CARTClassifier().fit(FRAME, FRAME.b).predict(row),
        lambda row: CARTClassifier().fit(FRAME, FRAME.b).explain(row),
        lambda row: CARTClassifier().fit(row, FRAME.b),
        lambda row: tamiz.FisherScore().fit(row, FRAME.b),
        lambda row: tamiz.MRMR().fit(row, FRAME.b),
        lambda row: KNNClassifier().fit(FRAME[["a"]], FRAME.b).predict(row),
        lambda row: tamiz.ForwardSelection().fit(row, FRAME.b),
    ],
)
@pytest.mark.parametrize(
    ("row", "remedy"),
    [
        (FRAME.iloc[0], r"frame\.iloc\[\[0\]\]"),
        (FRAME["a"], "frame"),
        (pl.Series([1.0, 2.0] * 10), r"frame\[:1\]"),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_single_row_of_a_frame_is_no_table(call, row, remedy):
    with pytest.raises(ValueError, match=f"X is a single row or column .*; pass {remedy}"):
        call(row)


@pytest.mark.parametrize(
    "X", [np.eye(2), sparse.eye(2).tocsr(), [["1"], ["2"]], [[b"1"]], [["a"], ["b", "c"]], [], None]
)
def test_what_is_left_to_others(X):
    refuse_text(X)
    refuse_text_rows(X)
    assert not is_frame(X)


TEXT = ["one", "two"]


@pytest.mark.parametrize(
    "X",
    [
        TEXT,
        tuple(TEXT),
        np.array(TEXT),
        np.array(TEXT, dtype=object)[:, None],
        pd.Series(TEXT),
        pd.DataFrame({"t": TEXT}),
        pl.Series(TEXT),
        pl.DataFrame({"t": TEXT}),
    ],
)
def test_samples_that_are_strings(X):
    with pytest.raises(ValueError, match=r"such as 'one', .* kernel=GapWeighted\(\)"):
        refuse_text_rows(X)


@pytest.mark.parametrize(
    "X",
    [
        ["1", "2"],
        [["one"]],
        np.array([["one", "two"]]),
        np.array([], dtype=str),
        pd.Series([], dtype=object),
        pd.DataFrame({"t": []}),
        pd.DataFrame({"t": TEXT, "u": TEXT}),
        pd.DataFrame(index=[0]),
    ],
)
def test_samples_that_are_no_strings(X):
    refuse_text_rows(X)
