"""Mistakes are answered with a sentence that says what to do."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

import tamiz.filters
from tamiz.filters import (
    CFS,
    MRMR,
    QPFS,
    ChiSquared,
    FisherScore,
    InformationGain,
    MaxRel,
    PearsonScore,
    ReliefF,
    RReliefF,
    SymmetricalUncertainty,
)

X = np.random.default_rng(0).normal(size=(40, 4))
y = np.tile([0, 1], 20)


@pytest.mark.parametrize(
    "selector", [MRMR(2), FisherScore(), CFS(), QPFS(), ReliefF(), ChiSquared()]
)
def test_no_target(selector):
    with pytest.raises(ValueError, match="requires y to be passed"):
        selector.fit_transform(X)


@pytest.mark.parametrize("selector", [MRMR(2), FisherScore(), ReliefF(), ChiSquared(), CFS()])
def test_what_is_no_table(selector):
    pa = pytest.importorskip("pyarrow")
    for table, remedy in (
        (pa.table({"a": X[:, 0], "b": X[:, 1]}), r"X\.to_pandas\(\)"),
        (pl.DataFrame(X).lazy(), r"X\.collect\(\)"),
        ({"a": X[:, 0]}, r"X is a dict.*pandas\.DataFrame"),
    ):
        with pytest.raises(ValueError, match=remedy):
            selector.fit(table, y)


@pytest.mark.parametrize("cell", [(1, 2), [1, 2], {"a": 1}, np.arange(2)])
def test_cells_that_hold_several_values(cell):
    column = np.empty(40, dtype=object)
    column[:] = [cell] * 40
    for table in (
        pd.DataFrame({"u": X[:, 0], "tags": column}),
        np.column_stack([X[:, 0].astype(object), column]),
    ):
        for selector in (ChiSquared(categorical_features=[1]), MaxRel(categorical_features=[1])):
            with pytest.raises(ValueError, match=r"column ('tags'|1) holds a \w+ at row 0"):
                selector.fit(table, y)
    with pytest.raises(ValueError, match="column 'tags' holds a list"):
        MaxRel().fit(pl.DataFrame({"tags": [[1, 2]] * 40}), y)


def test_missing_labels_in_an_object_array():
    target = y.astype(object)
    target[3] = None
    for selector in (PearsonScore(), CFS(), QPFS(similarity="pearson"), MRMR(2)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=r"y contains NaN.*row 3"):
                selector.fit(X, target)
            with pytest.raises(ValueError, match=r"y contains NaN.*row 0"):
                selector.fit(X, np.where(np.arange(40) == 0, np.nan, y))
            with pytest.raises(ValueError, match=r"y contains infinity.*finite ones"):
                selector.fit(X, np.where(np.arange(40) == 0, np.inf, y))


def test_labels_of_two_types():
    mixed = np.array([1, "a"] * 20, dtype=object)
    for selector in (FisherScore(), MRMR(2), ReliefF(), CFS()):
        with pytest.raises(ValueError, match=r"mixes labels of different types \(int, str\)"):
            selector.fit(X, mixed)


def test_nobody_speaks_of_machines():
    for selector in (FisherScore(), MRMR(2), MRMR(2, measure="f_pearson"), ChiSquared()):
        with pytest.raises(ValueError, match=r"Unknown label type.*PearsonScore, RReliefF or CFS"):
            selector.fit(X, X[:, 0])
        with pytest.raises(ValueError, match=r"one class only.*samples of at least 2 classes"):
            selector.fit(X, np.ones(40))
    with pytest.raises(ValueError, match=r"it holds 'a'\. Use ReliefF for labels"):
        RReliefF().fit(X, ["a", "b"] * 20)


def test_a_column_vector_is_warned_of_once():
    for selector in (CFS(), InformationGain(), SymmetricalUncertainty(), MRMR(2, bins="mdl")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            selector.fit(X, y[:, None])
        assert sum("column-vector" in str(w.message) for w in caught) == 1


def test_few_rows_and_masks():
    with pytest.raises(ValueError, match="Pass X with at least 2 rows"):
        MRMR(2).fit(np.empty((0, 3)), [])
    with pytest.raises(ValueError, match="a mask becomes row numbers by") as caught:
        ReliefF(n_samples=np.arange(40) > 5).fit(X, y)
    assert len(str(caught.value)) < 250
    table = pd.DataFrame({"a": pd.array([True, None] * 20, dtype="boolean"), "b": X[:, 0]})
    with pytest.raises(ValueError, match=r"contains NaN \(first at row 1, column 'a'; 20 in all"):
        FisherScore().fit(table, y)
    assert MaxRel(1).fit(table, y).support_.sum() == 1


def test_sparse_columns_of_a_data_frame():
    table = pd.get_dummies(pd.Series(list("abac") * 10), sparse=True)
    dense = table.sparse.to_dense()
    both = table.assign(d=X[:, 0])
    for selector in (MRMR(2), ChiSquared(), CFS(), ReliefF(random_state=0), FisherScore()):
        expected = selector.fit(dense.astype(float), y).scores_.copy()
        np.testing.assert_array_equal(selector.fit(table, y).scores_, expected)
        assert len(selector.fit(both, y).scores_) == 4
    with pytest.raises(TypeError, match=r"sparse columns.*X\.sparse\.to_dense\(\)"):
        QPFS(similarity="pearson").fit(table, y)


# -------------------------------------------------------------------------------------------- text


def test_text_in_arrays_is_taken_as_in_data_frames():
    words = np.where(y == 1, "yes", "no").astype(object)
    words[::7] = "perhaps"
    array = np.column_stack([words, X[:, 0].astype(object)])
    frame = pd.DataFrame({"w": words.astype(str), "x": X[:, 0]})
    for selector in (ChiSquared(), MRMR(1), CFS(), QPFS(), ReliefF(ties="index")):
        expected = selector.fit(frame, y).scores_.copy()
        np.testing.assert_array_equal(selector.fit(array, y).scores_, expected)
        assert selector.fit(array.tolist(), y).scores_.tolist() == expected.tolist()
    array[3, 0] = array[4, 1] = np.nan
    pipe = make_pipeline(SimpleImputer(strategy="most_frequent"), MRMR(1))
    assert pipe.fit_transform(array, y).ravel().tolist().count("yes") > 10


def test_numbers_stored_as_text():
    stored = [f"{value:.3f}" for value in X[:, 0]]
    for frame in (pd.DataFrame({"v": [*stored[:-1], "n/a"]}), pl.DataFrame({"v": stored})):
        with pytest.warns(UserWarning, match="column 'v' holds text that reads as numbers.*to_num"):
            MaxRel().fit(frame, y)
    array = np.array([*stored[:-1], "n/a"], dtype=object)[:, None]
    with pytest.warns(UserWarning, match="column 0 holds text that reads as numbers.*'n/a'"):
        MaxRel().fit(array, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MaxRel().fit(pd.DataFrame({"v": ["1", "2"] * 20}), y)  # a few codes
        MaxRel().fit(pd.DataFrame({"v": pd.Categorical(["1", "2"] * 20)}), y)
        MaxRel().fit(np.array(stored, dtype=object)[:, None], y)  # an array of numbers after all


# ---------------------------------------------------------------------------- the first argument


@pytest.mark.parametrize("name", tamiz.filters.__all__)
def test_the_number_of_features_comes_first_and_alone(name):
    parameters = list(inspect.signature(getattr(tamiz.filters, name)).parameters.values())
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters[1:])
    if name == "MultiTarget":  # what it selects by is another selector
        assert parameters[0].name == "selector"
        return
    assert parameters[0].name == "n_features_to_select"
    selector = getattr(tamiz.filters, name)(2)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    table = np.column_stack([y + rng.normal(size=200), rng.normal(size=(200, 3))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert selector.fit(table, y).transform(table).shape == (200, 2)
