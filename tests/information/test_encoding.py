"""From tables of any kind to codes."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from tamiz.information import discretise, encode
from tamiz.information.columns import read_columns


@pytest.mark.parametrize("bins", ["mean_std", "mdl", "width", "frequency"])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_codes_are_those_of_discretise(bins, gaps):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 40)) ** 3, rng.integers(0, 3, 300)
    X[:, :10] += y[:, None]
    X[:, 5] = 7.0
    X[rng.random(X.shape) < gaps] = np.nan
    X[:, 6] = np.nan
    codes = encode(X, bins=bins, y=y, missing="ignore")
    plain = discretise(X, y, bins=bins, missing="ignore")
    for j in range(X.shape[1]):
        _, ranks = np.unique(plain[:, j], return_inverse=True)
        ranks -= (plain[:, j] < 0).any()
        np.testing.assert_array_equal(codes.column(j), ranks)


def test_sparse_is_dense():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((80, 2500)) < 0.1, rng.standard_normal((80, 2500)), 0.0)
    y = rng.integers(0, 2, 80)
    for bins in ("mean_std", "mdl"):
        dense, thin = encode(X, bins=bins, y=y), encode(sparse.csr_array(X), bins=bins, y=y)
        np.testing.assert_array_equal(dense.relevance(y), thin.relevance(y))
        np.testing.assert_array_equal(dense.n_levels, thin.n_levels)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_text_columns_are_categories(make):
    frame = make({"colour": ["red", "blue", None, "red"], "size": [1.0, 2.0, 3.0, 9.0]})
    codes = encode(frame, bins="mean_std")
    assert codes.column(0).tolist() == [1, 0, 2, 1]
    assert codes.n_levels[0] == 3
    assert encode(frame, bins=None, missing="ignore").column(0).tolist() == [1, 0, -1, 1]


def test_pandas_categories_and_objects():
    frame = pd.DataFrame(
        {
            "kind": pd.Categorical(["b", "a", "b", "c"]),
            "mixed": pd.Series(["x", 1, "x", 2.5], dtype=object),
            "numbers": pd.Series([1, 2, 3, 50], dtype=object),
        }
    ).set_index(np.array([9, 8, 7, 6]))
    codes = encode(frame, bins="mean_std")
    assert codes.column(0).tolist() == [1, 0, 1, 2]
    assert codes.n_levels.tolist() == [3, 3, 2]
    assert codes.column(2).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("order", [1, -1])
def test_equal_numbers_among_text_are_one_level(order):
    cells = [1, "1", 1.0, "b", True, np.float64(10), 2, Decimal(2), np.str_("b"), 10**400, None]
    expected = [0, 4, 0, 5, 0, 2, 1, 1, 5, 3, -1]  # numbers in their order, then text
    frame = pd.DataFrame({"mixed": pd.Series(cells[::order], dtype=object)})
    for table in (frame, frame.to_numpy()):
        codes = encode(table, bins=None, missing="ignore", categorical_features=[0])
        assert codes.column(0).tolist() == expected[::order]
    known = read_columns(frame, [0]).categories
    later = pd.DataFrame({"mixed": pd.Series([1.0, "1", 2.0, 10, "2"], dtype=object)})
    coded = read_columns(later, [0], categories=known).X[:, 0]
    np.testing.assert_array_equal(coded, [0, 4, 1, 2, np.nan])


def test_nullable_pandas_columns():
    frame = pd.DataFrame(
        {
            "count": pd.array([1, None, 3, 1], dtype="Int64"),
            "word": pd.array(["u", None, "v", "u"], dtype="string"),
            "flag": [True, False, True, True],
            "thing": pd.Series([pd.NA, "p", 1, "p"], dtype=object),
        }
    )
    codes = encode(frame, bins=None, missing="ignore")
    columns = [codes.column(j).tolist() for j in range(4)]
    assert columns == [[0, -1, 1, 0], [0, -1, 1, 0], [1, 0, 1, 1], [-1, 1, 0, 1]]


def test_repeated_column_names_are_refused():
    frame = pd.DataFrame([["x", 1], ["y", 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match="'a'; rename the columns"):
        encode(frame)


@pytest.mark.parametrize("features", [[1], [-1], [False, True], 1, np.array([1])])
def test_categories_by_index_or_mask(features):
    X = np.array([[0.1, 3], [0.2, 8], [0.3, 3], [0.9, 1]])
    codes = encode(X, bins="mean_std", categorical_features=features)
    assert codes.column(1).tolist() == [1, 2, 1, 0]
    text = X.astype(object)
    text[:, 1] = ["u", "v", "u", "a"]
    codes = encode(text, bins="mean_std", categorical_features=features)
    assert codes.column(1).tolist() == [1, 2, 1, 0]


def test_categories_by_name():
    frame = pd.DataFrame({"a": [0.1, 0.2, 0.3, 5.0], "b": [30, 10, 20, 30]})
    assert encode(frame, categorical_features=["b"]).column(1).tolist() == [2, 0, 1, 2]


def test_a_text_column_with_very_many_levels():
    n = 3000
    frame = pl.DataFrame({"id": [f"u{i % 1500}" for i in range(n)], "z": np.arange(n) % 2})
    codes = encode(frame, bins=None)
    assert codes.n_levels.tolist() == [1500, 2]
    assert codes.row(0)[1] == pytest.approx(np.log(2))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"bins": "mdl"}, "needs y"),
        ({"bins": "kmeans"}, "bins='kmeans' is not understood"),
        ({"n_bins": 1}, "n_bins=1 must be an integer from 2"),
        ({"missing": "drop"}, "missing='drop' is not understood"),
        ({"categorical_features": [7]}, "names 7, which X does not have"),
        ({"categorical_features": [True]}, "mask of 1 entries, but X has 3"),
        ({"bins": None}, "column 0 of X has 30 distinct values that are not integers"),
    ],
)
def test_refusals_are_sentences(options, sentence):
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(ValueError, match=sentence):
        encode(X, **options)


def test_sparse_categories_are_refused():
    with pytest.raises(ValueError, match="cannot be combined with a sparse X"):
        encode(sparse.csr_array(np.eye(5)).tocsr(), categorical_features=[0])


def test_a_few_halves_are_discrete():
    X = np.array([[0.5], [1.5], [0.5], [2.5]] * 20)
    assert encode(X, bins=None).n_levels.tolist() == [3]
