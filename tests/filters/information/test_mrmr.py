"""Minimum redundancy, maximum relevance."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from tamiz.filters import MRMR
from tamiz.filters.information import greedy
from tamiz.filters.information.mrmr import _standardised
from tests.checks import assert_every_check_passes
from tests.filters.cases_information import (
    check_completion,
    check_greedy,
    discrete,
)
from tests.naive import information as naive

PUBLISHED = {
    "mrmr_colon_s3": [512, 764, 1324, 1380, 1411, 1422, 1581, 1670, 1671, 1971],
    "mrmr_lung_s3": [18, 22, 29, 125, 132, 150, 166, 242, 243, 269],
    "mrmr_nci9_s3": [443, 755, 1369, 1699, 3483, 5641, 6290, 7674, 9399, 9576],
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_selections(data_dir, name):
    with np.load(data_dir / f"{name}.npz", allow_pickle=False) as data:
        X, y = data["X"], data["y"]
    selector = MRMR(n_features_to_select=10, bins=None).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == PUBLISHED[name]


@pytest.mark.parametrize("n", [2, 3, 20, 64, 300])
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(
    ("scheme", "criterion"),
    [("difference", naive.mrmr_difference), ("quotient", naive.mrmr_quotient)],
)
def test_against_the_naive_search(n, classes, scheme, criterion):
    X, y = discrete(n, n, classes=classes)
    y[:2] = [0, 1]
    check_greedy(MRMR(scheme=scheme, bins=None, full_ranking=True), criterion, X, y)


@pytest.mark.parametrize("scheme", ["difference", "quotient"])
@pytest.mark.parametrize("n", [12, 200])
def test_f_and_pearson_against_the_naive_search(scheme, n):
    rng = np.random.default_rng(n)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, 7)) + np.outer(y, [0, 1, 0.3, 0, 0.5, 0, 0])
    X[:, 3] = X[:, 1] * 2 + 0.1 * rng.standard_normal(n)
    X[:, 5] = 1e6 + 0.1
    criterion = partial(naive.f_pearson, quotient=scheme == "quotient")
    columns = X.copy()
    columns[:, 5] = 0.0
    selector = MRMR(scheme=scheme, measure="f_pearson", full_ranking=True).fit(X, y)
    right, values = naive.greedy(columns.T.tolist(), y.tolist(), 7, criterion)
    assert selector.order_.tolist() == right
    np.testing.assert_allclose([step.value for step in selector.selection_.path], values)
    varying = [0, 1, 2, 3, 4, 6]
    np.testing.assert_allclose(selector.relevance_[varying], f_classif(X[:, varying], y)[0])


def test_a_class_of_one_sample_and_a_perfect_feature():
    X = np.array([[0.0, 3.0], [0.0, 1.0], [1.0, 2.0], [1.0, 5.0], [2.0, 4.0]])
    y = [0, 0, 1, 1, 2]
    _, relevance = _standardised(X, np.array(y))
    assert relevance[0] > 1e12
    assert np.isfinite(relevance).all()
    assert MRMR(1, measure="f_pearson").fit(X, y).order_[0] == 0


@pytest.mark.parametrize("scheme", ["difference", "quotient"])
def test_features_not_selected_are_ranked_too(scheme):
    X, y = discrete(150, 4, p=12)
    check_completion(MRMR(4, scheme=scheme, bins=None), X, y)
    check_completion(MRMR(4, scheme=scheme, measure="f_pearson"), X.astype(float), y)


def test_removing_features_from_memory_changes_nothing(limits):
    X, y = discrete(80, 1, p=60)
    orders = []
    for fraction in (0.0, 0.7, 1.0):
        limits(greedy, COMPACT=fraction)
        for measure in ("mutual_information", "f_pearson"):
            selector = MRMR(measure=measure, bins=None, full_ranking=True).fit(X, y)
            orders.append(selector.order_.tolist())
    assert orders[0] == orders[2] == orders[4]
    assert orders[1] == orders[3] == orders[5]


@pytest.mark.parametrize("bins", ["mean_std", "mdl", "width", "frequency"])
@pytest.mark.parametrize("missing", ["code", "ignore"])
def test_every_discretisation_with_missing_values(bins, missing):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.standard_normal((200, 10))
    X[:, 4] += 2 * y
    X[:, 7] = X[:, 4] + 0.05 * rng.standard_normal(200)
    X[:, 2] += y
    X[rng.random(X.shape) < 0.05] = np.nan
    selector = MRMR(3, bins=bins, missing=missing).fit(X, y)
    assert selector.order_[0] in (4, 7)
    noise = np.delete(selector.relevance_, [2, 4, 7])
    # five bins are four degrees of freedom where three are two: noise seems to tell more
    assert selector.relevance_[2] > (1.5 if bins == "frequency" else 2.0) * noise.max()
    assert selector.relevance_[2] < min(selector.relevance_[4], selector.relevance_[7])
    assert selector.transform(X).shape == (200, 3)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_data_frames_with_text(make):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    frame = make(
        {
            "noise": rng.standard_normal(100),
            "word": [f"w{3 * c + k}" for c, k in zip(y, rng.integers(0, 3, 100), strict=True)],
            "size": y + 0.8 * rng.standard_normal(100),
        }
    )
    selector = MRMR(2).fit(frame, y)
    assert selector.selection_.selected == ["word", "size"]
    out = selector.transform(frame)
    assert type(out) is type(frame)
    assert list(out.columns) == ["word", "size"]


def test_sparse_is_dense():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 30)) < 0.2, rng.standard_normal((60, 30)), 0.0)
    y = rng.integers(0, 2, 60)
    for measure in ("mutual_information", "f_pearson"):
        dense = MRMR(5, measure=measure).fit(X, y)
        thin = MRMR(5, measure=measure).fit(sparse.csr_array(X), y)
        assert dense.order_.tolist() == thin.order_.tolist()
        assert sparse.issparse(thin.transform(sparse.csr_array(X)))


def test_in_a_grid_search():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = rng.standard_normal((120, 20))
    X[:, 3] += 3 * y
    steps = [("select", MRMR()), ("predict", KNeighborsClassifier())]
    grid = {"select__n_features_to_select": [1, 10], "select__scheme": ["difference", "quotient"]}
    search = GridSearchCV(Pipeline(steps), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.85
    assert search.best_estimator_["select"].support_[3]


def test_continuous_data_called_discrete_is_refused():
    X = np.random.default_rng(0).standard_normal((50, 3))
    with pytest.raises(ValueError, match="bins=None says that all columns are discrete"):
        MRMR(bins=None).fit(X, np.arange(50) % 2)


@pytest.mark.parametrize(
    ("params", "X", "sentence"),
    [
        ({"measure": "f_pearson"}, [[1.0, np.nan], [2, 3], [4, 5], [3, 1]], "contains NaN"),
        ({"measure": "f_pearson", "categorical_features": [0]}, np.eye(4), "f_pearson"),
        ({"n_features_to_select": 9}, np.eye(4), "exceeds the 4 features"),
        ({"scheme": "product"}, np.eye(4), "'scheme' parameter"),
    ],
)
def test_refusals_are_sentences(params, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        MRMR(**params).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("measure", ["mutual_information", "f_pearson"])
@pytest.mark.parametrize("scheme", ["difference", "quotient"])
def test_scikit_learn_checks(measure, scheme):
    assert_every_check_passes(MRMR(measure=measure, scheme=scheme))


def test_one_column_is_left_as_it_was():
    X = np.random.default_rng(0).normal(size=(20, 1)) + 5
    y = np.arange(20) % 2
    before = X.copy()
    X.setflags(write=False)
    MRMR(measure="f_pearson").fit(X, y)
    np.testing.assert_array_equal(X, before)
