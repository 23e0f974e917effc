"""Errors as classes: what code can tell apart, with the facts, and the built-in class kept."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tamiz.evaluation import tune
from tamiz.filters import FisherScore
from tamiz.svm import SVC
from tamiz.validation import (
    DamagedFileError,
    MissingValuesError,
    NoFeaturesError,
    NotEnoughMemoryError,
    OneClassError,
    ParameterError,
    SparseInputError,
    candidate_list,
    check_X,
    named_values,
    names_such_as,
    parameter_grids,
    refused,
    symmetric_matrix,
)

X = np.arange(12.0).reshape(6, 2)
y = np.array([0, 1, 0, 1, 0, 1])


def test_missing_values_say_where_they_are():
    holes = X.copy()
    holes[3, 1] = holes[4, 0] = np.nan
    for table in (holes, pd.DataFrame(holes, columns=["a", "b"]), sparse.csr_matrix(holes)):
        with pytest.raises(MissingValuesError, match="contains NaN") as caught:
            SVC().fit(table, y)
        error = caught.value
        assert (error.argument, error.row, error.column, error.count) == ("X", 3, 1, 2)
    with pytest.raises(MissingValuesError) as caught:
        SVC().fit(X, [0.0, np.nan, 1.0, 0.0, 1.0, 0.0])
    assert (caught.value.argument, caught.value.row, caught.value.count) == ("y", 1, 1)


def test_infinity_is_not_a_missing_value():
    with pytest.raises(ValueError, match="infinity") as caught:
        SVC().fit(np.where(X == 3, np.inf, X), y)
    assert not isinstance(caught.value, MissingValuesError)


def test_one_class_says_which():
    with pytest.raises(OneClassError, match="one class only") as caught:
        SVC().fit(X, ["yes"] * 6)
    assert caught.value.label == "yes"


@pytest.mark.parametrize(
    "table", [sparse.csr_matrix(X), pd.DataFrame(X).astype(pd.SparseDtype("float", 0.0))]
)
def test_sparse_input_is_a_type_error(table):
    with pytest.raises(SparseInputError) as caught:
        check_X(SVC(), table, reset=True)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("table", [X[:, :0], pd.DataFrame(index=range(6))])
def test_no_features(table):
    with pytest.raises(NoFeaturesError, match=r"0 feature\(s\)"):
        FisherScore(1).fit(table, y)


@pytest.mark.parametrize(
    "error",
    [
        MissingValuesError("m", argument="y", row=1, column=2, count=3),
        OneClassError("m", label="a"),
        SparseInputError("m"),
        NoFeaturesError("m"),
        DamagedFileError("m", path="x"),
        NotEnoughMemoryError("m", needed=2, free=1, remedy="r"),
    ],
)
def test_errors_survive_the_way_from_a_worker(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == "m"
    assert vars(again) == vars(error)


def test_a_refused_argument_says_which_and_what_it_was():
    with pytest.raises(ParameterError, match=r"^cv='ten' is not understood") as caught:
        tune(X, y, cv="ten")
    assert (caught.value.parameter, caught.value.value) == ("cv", "ten")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.parameter) == (str(caught.value), "cv")
    with pytest.raises(ValueError, match="cv=1 folds"):
        tune(X, y, cv=1)


def test_a_long_value_is_cut():
    assert len(str(refused("ks", list(range(10_000)), "is too much."))) < 1100


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (named_values, {1: "a"}),
        (named_values, []),
        (names_such_as("all"), [3]),
        (candidate_list, []),
        (parameter_grids, [3]),
        (symmetric_matrix, "text"),
        (symmetric_matrix, [[1.0, 2.0]]),
        (symmetric_matrix, [[np.nan]]),
        (symmetric_matrix, [[0.0, 1.0], [2.0, 0.0]]),
    ],
)
def test_every_refused_argument_is_named(check, value):
    with pytest.raises(ParameterError) as caught:
        check("B", value)
    assert caught.value.parameter == "B" and caught.value.value is not None
