"""From columns to a data set: what is set aside, warned of, encoded, guessed."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from tamiz.data import DataError, DataWarning, load
from tamiz.data.assemble import guess_task

N = 60
RNG = np.random.default_rng(2)


def frame(**columns):
    base = {"a": RNG.normal(size=N), **columns, "y": np.arange(N) % 2}
    return pd.DataFrame(base)


def quietly(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load(*args, **kwargs)


def test_plain_tables_bring_no_warning():
    data = quietly(frame(b=RNG.normal(size=N)))
    assert data.notes == []
    assert data.aside == {}


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        ([f"s{k}" for k in range(N)], "id"),
        (np.arange(N) + 5, "id"),
        ([f"word by word {k}" for k in range(N)], "text"),
        ([f"2020-01-{1 + k % 28:02d}" for k in range(N)], "date"),
        ([None] * N, "empty"),
    ],
)
def test_useless_columns_are_set_aside_and_said(cells, role):
    with pytest.warns(DataWarning, match=r"Not used as features: 'b'") as caught:
        data = load(frame(b=cells))
    assert len(caught) == 1
    assert data.feature_names == ["a"]
    assert data.roles["b"] == role
    assert list(data.aside) == ["b"]


def test_a_role_that_is_given_is_final():
    data = quietly(frame(b=np.arange(N)), roles={"b": "numeric", "a": "ignore"})
    assert data.feature_names == ["b"]
    assert data.aside == {"a": "left out as asked"}


def test_constant_and_repeated_columns_stay_with_a_note():
    X = frame(b=np.ones(N))
    X.insert(0, "c", X["a"])
    data = quietly(X)
    assert data.feature_names == ["c", "a", "b"]
    assert (data.roles["b"], data.roles["a"]) == ("constant", "duplicate")
    assert any("'a' repeats 'c'" in note for note in data.notes)
    assert any("Constant columns: 'b'" in note for note in data.notes)


def test_equal_codes_of_other_words_are_no_repetition():
    data = quietly(frame(b=["u", "v", "v"] * 20, c=["p", "q", "q"] * 20, d=["u", "v", "v"] * 20))
    assert [data.roles[name] for name in "bcd"] == ["categorical", "categorical", "duplicate"]


def test_leaks_are_kept_and_warned_of():
    with pytest.warns(DataWarning, match="'b'. Check that they are known before"):
        data = load(frame(b=np.where(np.arange(N) % 2, "yes", "no")))
    assert data.feature_names == ["a", "b"]
    assert data.roles["b"] == "leak"
    quietly(frame(b=np.where(np.arange(N) % 2, "yes", "no")), roles={"b": "categorical"})


def test_codes_that_look_like_numbers():
    column = RNG.integers(1, 5, N).astype(float)
    data = quietly(frame(b=column))
    assert not data.categorical.any()
    assert any("'b'; if they are codes" in note for note in data.notes)
    data = quietly(frame(b=column), roles={"b": "categorical"})
    assert data.categorical.tolist() == [False, True]
    assert data.levels["b"] == ["1", "2", "3", "4"]
    np.testing.assert_array_equal(data.X[:, 1], column - 1)


def test_text_that_is_numbers_after_all():
    data = quietly(frame(b=pd.Series([str(v) for v in range(30)] * 2)), roles={"b": "numeric"})
    np.testing.assert_array_equal(data.X[:, 1], [*range(30), *range(30)])


def test_rows_without_a_target_are_left_out():
    table = frame()
    table["y"] = table["y"].astype(float)
    table.loc[[3, 7], "y"] = np.nan
    with pytest.warns(DataWarning, match="target 'y': 2 of 60 rows"):
        data = load(table)
    np.testing.assert_array_equal(data.X[:, 0], table["a"].drop([3, 7]))
    table["y"] = np.nan
    with pytest.raises(DataError, match="missing in every row"):
        load(table)


def test_nothing_to_use():
    table = pd.DataFrame({"s": [f"one two three {k}" for k in range(N)], "y": np.arange(N) % 2})
    with pytest.raises(DataError, match=r"no column to use as a feature.*free text.*encode=None"):
        load(table)
    assert load(table, encode=None).X[1, 0] == "one two three 1"


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([0, 1] * 10, "classification"),
        ([-1.5, 1.5] * 10, "classification"),
        ([1, 2, 3] * 10, "classification"),
        ([1, 2, 3.5] * 10, "regression"),
        (list(range(30)), "regression"),
        (list(range(20)) * 5, "classification"),
        (list(range(21)) * 5, "regression"),
        ([1, 2, 3, 4], "regression"),  # hardly classes of one each
    ],
)
def test_task(values, task):
    assert guess_task(np.array(values, dtype=float)) == task


def test_task_can_be_told():
    table = pd.DataFrame({"a": RNG.normal(size=N), "y": np.arange(N) % 3})
    data = load(table, task="regression")
    assert data.y.dtype == np.float64 and data.target_names is None
    table["y"] = RNG.integers(0, 40, N)
    assert load(table).task == "regression"
    data = load(table, task="classification")
    assert data.y.dtype == np.int64
    assert data.target_names == [str(label) for label in np.unique(table["y"])]


def test_labels_keep_their_kind():
    assert load(frame()).y.dtype == np.int64
    assert load(frame().assign(y=["p", "q"] * 30)).y.tolist() == ["p", "q"] * 30


def test_each_column_set_aside_stands_beside_its_reason():
    table = frame(key=[f"s{k}" for k in range(N)], nothing=np.full(N, np.nan))
    with pytest.warns(DataWarning, match=r"'key' \(an identifier.*\), 'nothing' \(no value"):
        load(table)


def test_a_doubtful_identifier_is_kept_and_warned_of():
    table = frame(hospital_number=RNG.permutation(N) + 500)
    with pytest.warns(DataWarning, match=r"Perhaps identifiers.*'hospital_number'.*drop="):
        data = load(table)
    assert "hospital_number" in data.feature_names
    quietly(table, roles={"hospital_number": "numeric"})  # whoever says so is not asked again
    quietly(table, drop=["hospital_number"])
