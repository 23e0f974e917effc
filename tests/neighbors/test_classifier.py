"""KNNClassifier against the slow oracle, scikit-learn and SciPy; its promises; what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.data import load
from tamiz.evaluation import compare
from tamiz.neighbors import KNNClassifier
from tamiz.search import ForwardSelection
from tests.checks import assert_every_check_passes
from tests.frames import to_polars
from tests.naive import knn as naive

SYMBOLS = ["a", "b", "c", "d"]
REJECT = {"nearest": None, "frequent": None, "abstain": "?"}


def mixed_table(rng, n, gaps):
    """Coarse numbers (for ties), symbols, and missing values: rows of Python values."""
    rows = []
    for _ in range(n):
        row = [float(rng.integers(4)), round(float(rng.normal()), 1),
               SYMBOLS[rng.integers(3)], SYMBOLS[rng.integers(4)]]  # fmt: skip
        rows.append([None if rng.random() < gaps else value for value in row])
    return rows


def as_objects(rows):
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        table[i] = row
    return table


# ---------------------------------------------------------------------------------- the oracle


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    gaps=st.sampled_from([0.0, 0.3, 0.8]),
    scaling=st.sampled_from(["none", "range", "zscore"]),
    weights=st.sampled_from(["uniform", "distance"]),
    ties=st.sampled_from(["nearest", "frequent", "abstain"]),
    metric=st.sampled_from(["mixed", "hamming"]),
)
def test_mixed_tables_are_the_oracle_s(seed, gaps, scaling, weights, ties, metric):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 30)), 0
    rows, queries = mixed_table(rng, n, gaps), mixed_table(rng, 6, gaps)
    for row in (rows[0], rows[1]):  # a column without any symbol is one of numbers
        row[2], row[3] = "a", "b"
    k = int(rng.integers(1, n + 1))
    y = rng.choice(["x", "y", "z"], n).tolist()
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], 4)
    weight[rng.integers(4)] = 1.0
    nominal = [True] * 4 if metric == "hamming" else [False, False, True, True]
    scale = naive.scales(rows, nominal, "none" if metric == "hamming" else scaling)
    model = KNNClassifier(
        k, metric=metric, scaling=scaling, weights=weights, ties=ties, reject_label=REJECT[ties],
        feature_weights=weight,
    ).fit(as_objects(rows), y)  # fmt: skip
    distances, found = model.kneighbors(as_objects(queries))
    labels = model.predict(as_objects(queries))
    shares = model.predict_proba(as_objects(queries))
    np.testing.assert_allclose(model.scale_, scale, rtol=1e-12)
    for q, x in enumerate(queries):
        near = naive.neighbours(rows, x, k, nominal, weight.tolist(), scale)
        assert found[q].tolist() == [i for _, i in near]
        np.testing.assert_allclose(distances[q], [d for d, _ in near], rtol=1e-10, atol=1e-14)
        label, share = naive.vote(near, y, ties, "?", weights)
        assert labels[q] == label
        assert label == "?" or model.classes_[shares[q].argmax()] == label
        np.testing.assert_allclose(shares[q], list(share.values()), rtol=1e-8, atol=1e-12)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    gaps=st.sampled_from([0.0, 0.2]),
    metric=st.sampled_from([("euclidean", 2), ("manhattan", 1)]),
    scaling=st.sampled_from(["none", "range", "zscore"]),
    algorithm=st.sampled_from(["brute", "kd_tree"]),
)
def test_tables_of_numbers_are_the_oracle_s(seed, gaps, metric, scaling, algorithm):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 60)), int(rng.integers(1, 5))
    k = int(rng.integers(1, n + 1))
    X, Q = rng.integers(5, size=(n, p)) / 10, rng.integers(5, size=(5, p)) / 10
    X[rng.random(X.shape) < gaps] = np.nan
    Q[rng.random(Q.shape) < gaps] = np.nan
    y = rng.integers(3, size=n).tolist()
    weight = rng.uniform(0.1, 2, p)
    name, power = metric
    model = KNNClassifier(
        k, metric=name, scaling=scaling, feature_weights=weight, algorithm=algorithm
    ).fit(X, y)
    distances, found = model.kneighbors(Q)
    scale = naive.scales(X.tolist(), [False] * p, scaling)
    labels = model.predict(Q)
    for q, x in enumerate(Q.tolist()):
        near = naive.neighbours(X.tolist(), x, k, [False] * p, weight.tolist(), scale, power)
        assert found[q].tolist() == [i for _, i in near]
        np.testing.assert_allclose(distances[q], [d for d, _ in near], rtol=1e-10, atol=1e-14)
        assert labels[q] == naive.vote(near, y)[0]


# ----------------------------------------------------------------------------------- the peers


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize(("n", "p"), [(700, 2), (700, 40), (90, 300)])
@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree"])
def test_scikit_learn_gives_the_same(metric, n, p, algorithm):
    rng = np.random.default_rng(n + p)
    X, Q = rng.standard_normal((n, p)), rng.standard_normal((150, p))
    y = rng.integers(2, size=n)
    ours = KNNClassifier(7, metric=metric, algorithm=algorithm).fit(X, y)
    peer = KNeighborsClassifier(7, metric=metric).fit(X, y)
    for mine, theirs in zip(ours.kneighbors(Q), peer.kneighbors(Q), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)
    np.testing.assert_array_equal(ours.predict(Q), peer.predict(Q))
    np.testing.assert_allclose(ours.predict_proba(Q), peer.predict_proba(Q), rtol=1e-12)
    for mine, theirs in zip(ours.kneighbors(), peer.kneighbors(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)
    ours, peer = (m.set_params(weights="distance") for m in (ours, peer))
    np.testing.assert_allclose(ours.predict_proba(Q), peer.predict_proba(Q), rtol=1e-9)


def test_distances_of_scipy_and_scikit_learn():
    rng = np.random.default_rng(0)
    X, Q = rng.standard_normal((40, 6)), rng.standard_normal((9, 6))
    y, w = np.arange(40) % 2, rng.uniform(0.2, 3, 6)
    codes = rng.integers(3, size=(40, 6)).astype(float)
    pairs = [
        (KNNClassifier(40, feature_weights=w).fit(X, y), Q, cdist(Q, X, "euclidean", w=w)),
        (KNNClassifier(40, metric="manhattan", feature_weights=w).fit(X, y), Q,
         cdist(Q, X, "cityblock", w=w)),
        (KNNClassifier(40, scaling="zscore").fit(X, y), Q,
         cdist(Q, X, "seuclidean", V=X.var(axis=0))),
        # SciPy's is a mean, the text's a sum
        (KNNClassifier(40, metric="hamming").fit(codes, y), codes[:9],
         6 * cdist(codes[:9], codes, "hamming")),
    ]  # fmt: skip
    for model, queries, expected in pairs:
        distances, found = model.kneighbors(queries)
        np.testing.assert_allclose(distances, np.take_along_axis(expected, found, 1), rtol=1e-10,
                                   atol=1e-12)  # fmt: skip
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 0] = 1.0
    distances, found = KNNClassifier(40).fit(X, y).kneighbors(Q)
    expected = nan_euclidean_distances(Q, X)
    np.testing.assert_allclose(distances, np.take_along_axis(expected, found, 1), rtol=1e-10)


def test_the_figure_of_the_text():
    """One grey neighbour, then two black ones: grey for k = 1, a tie for 2, black for 3."""
    X, y = [[1.0], [-1.1], [1.2]], ["grey", "black", "black"]
    answers = [KNNClassifier(k, ties="abstain", reject_label="none").fit(X, y).predict([[0.0]])[0]
               for k in (1, 2, 3)]  # fmt: skip
    assert answers == ["grey", "none", "black"]


# ------------------------------------------------------------------------------------ promises


def test_rows_at_the_same_distance_come_by_number():
    X = np.tile([[0.0, 0.0], [1.0, 1.0]], (300, 1))
    for algorithm in ("brute", "kd_tree"):
        model = KNNClassifier(4, algorithm=algorithm).fit(X, np.arange(600) % 3)
        assert model.kneighbors([[0.1, 0.0], [0.9, 1.0]])[1].tolist() == [[0, 2, 4, 6],
                                                                          [1, 3, 5, 7]]  # fmt: skip


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "mixed"])
def test_order_of_attributes_and_number_of_threads_change_nothing(metric):
    X, y = load_iris(return_X_y=True)  # in steps of 0.1: ties that rounding would break
    first = KNNClassifier(9, metric=metric, scaling="zscore", n_jobs=1).fit(X, y).kneighbors(X)[1]
    back = KNNClassifier(9, metric=metric, scaling="zscore", n_jobs=2).fit(X[:, ::-1], y)
    np.testing.assert_array_equal(first, back.kneighbors(X[:, ::-1])[1])


def test_a_weight_of_zero_leaves_out_and_weights_name_columns():
    X, y = load_wine(return_X_y=True, as_frame=True)
    weight = np.ones(13)
    weight[[3, 12]] = 0.0
    names = {X.columns[3]: 0, "proline": 0}
    part = X.drop(columns=list(names))
    expected = KNNClassifier(scaling="zscore").fit(part, y).kneighbors(part)
    for given_weights in (weight, names):
        model = KNNClassifier(scaling="zscore", feature_weights=given_weights).fit(X, y)
        for mine, theirs in zip(model.kneighbors(X), expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)


def test_zscore_is_a_scaler_in_front():
    X, y = load_wine(return_X_y=True)
    scaled = make_pipeline(StandardScaler(), KNNClassifier(7)).fit(X[::2], y[::2])
    inside = KNNClassifier(7, scaling="zscore").fit(X[::2], y[::2])
    np.testing.assert_array_equal(scaled.predict(X), inside.predict(X))
    assert inside.score(X[1::2], y[1::2]) > 0.9 > KNNClassifier(7).fit(X[::2], y[::2]).score(X, y)


@pytest.mark.parametrize("n", [7, 13, 30, 768])
def test_zscores_of_constant_and_of_very_small_columns(n):
    """The rounded mean of equal values is not that value: it must not become a scale of 1e-17."""
    rng = np.random.default_rng(n)
    gaps = np.where(np.arange(n) % 3, 0.7, np.nan)
    X = np.column_stack([rng.normal(size=n), np.full(n, 0.1), gaps, 1e-200 * rng.normal(size=n)])
    model = KNNClassifier(1, scaling="zscore").fit(X, np.arange(n) % 2)
    assert model.scale_[1:3].tolist() == [1.0, 1.0]
    np.testing.assert_allclose(model.scale_[[0, 3]] * [1, 1e200],
                               (X[:, [0, 3]] * [1, 1e200]).std(axis=0), rtol=1e-12)  # fmt: skip
    moved = np.add(X, [1e-6, 0.1, 0.0, 0.0])  # a step that is the same for all: each is nearest
    assert model.kneighbors(moved)[1].ravel().tolist() == list(range(n))


def test_votes_of_very_near_neighbours_are_finite():
    model = KNNClassifier(3, metric="manhattan", weights="distance")
    model.fit([[0.0], [3e-310], [8e-310]], ["a", "b", "b"])
    votes = np.array([1 / 2, 1 / 1 + 1 / 6])
    np.testing.assert_allclose(model.predict_proba([[2e-310]])[0], votes / votes.sum(), rtol=1e-9)


def test_a_series_of_weights_goes_by_name(frame):
    y = np.arange(80) % 2
    weight = pd.Series({"plan": 3.0, "age": 2.0})  # another order than the columns
    model = KNNClassifier(metric="mixed", feature_weights=weight).fit(frame, y)
    assert model.feature_weights_.tolist() == [2.0, 1.0, 3.0, 1.0]
    plain = KNNClassifier(metric="mixed", feature_weights=pd.Series([1.0, 0.0, 2.0, 3.0]))
    assert plain.fit(frame, y).feature_weights_.tolist() == [1.0, 0.0, 2.0, 3.0]
    twice = pd.Series([1.0, 2.0], index=["age", "age"])
    with pytest.raises(ValueError, match="names 'age' more than once"):
        KNNClassifier(metric="mixed", feature_weights=twice).fit(frame, y)


def test_what_is_set_after_fit_holds_or_waits_for_the_next_fit():
    X, y = [[0.0], [1.0], [5.0], [6.0]], np.array([7, 3, 3, 3])
    model = KNNClassifier(2).fit(X, y)
    before = model.kneighbors([[0.4]])
    model.set_params(metric="manhattan", scaling="range")  # the samples are held for another one
    for mine, theirs in zip(model.kneighbors([[0.4]]), before, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert model.set_params(ties="frequent").predict([[0.4]]).tolist() == [3]
    assert model.set_params(ties="abstain").predict([[0.4]]).tolist() == [-1]
    with pytest.raises(ValueError, match="reject_label=7 is one of the classes"):
        model.set_params(reject_label=7).predict([[0.4]])


def test_equal_values_of_several_types_are_one_category():
    X = as_objects([[1, 0.0], [1.0, 1.0], ["a", 2.0], [True, 3.0]])
    distances, found = KNNClassifier(1, metric="mixed").fit(X, [0, 1, 2, 3]).kneighbors(X)
    assert found.ravel().tolist() == [0, 1, 2, 3] and not distances.any()


def test_a_new_category_differs_from_all_and_is_not_missing():
    X = [["a", "u"], ["b", "u"], ["c", "v"]]
    model = KNNClassifier(3, metric="hamming").fit(X, [0, 1, 2])
    distances, found = model.kneighbors([["new", "u"], [None, "u"]])
    assert found.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert distances.tolist() == [[1.0, 1.0, 2.0], [0.0, 0.0, 2.0]]  # 2 = 1 known of 2, doubled


def test_nothing_in_common_gives_the_votes_of_all():
    X = [[1.0, np.nan], [2.0, np.nan], [3.0, np.nan]]
    model = KNNClassifier(2).fit(X, ["p", "q", "q"])
    assert model.predict([[np.nan, 5.0]]).tolist() == ["q"]
    np.testing.assert_allclose(model.predict_proba([[np.nan, 5.0]]), [[1 / 3, 2 / 3]])
    assert np.isinf(model.kneighbors([[np.nan, 5.0]])[0]).all()


def test_rules_for_ties():
    X, y = [[0.0], [1.0], [5.0], [6.0]], np.array([7, 3, 3, 3])
    ask = [[0.4]]
    say = {t: KNNClassifier(2, ties=t).fit(X, y).predict(ask)[0]
           for t in ("nearest", "frequent", "abstain")}  # fmt: skip
    assert say == {"nearest": 7, "frequent": 3, "abstain": -1}
    model = KNNClassifier(2, ties="abstain").fit(X, y)
    assert model.classes_.tolist() == [3, 7] and model.reject_label_ == -1
    assert model.predict(ask).dtype == y.dtype
    assert model.score([[0.4], [5.5]], [7, 3]) == 0.5  # an abstention is an error
    text = KNNClassifier(2, ties="abstain").fit(X, list("ghhh"))
    assert text.predict([[0.4], [5.5]]).tolist() == ["abstain", "h"]
    assert text.score([[0.4], [5.5]], ["g", "h"]) == 0.5
    small = KNNClassifier(2, ties="abstain").fit(X, y.astype(np.uint8))
    assert small.predict(ask).tolist() == [-1]
    held = KNNClassifier(2, ties="abstain", reject_label="??").fit(X, np.array(list("ghhh"), "O"))
    assert held.predict(ask).tolist() == ["??"]


def test_one_class_and_one_sample():
    assert KNNClassifier(2).fit([[1.0], [2.0], [4.0]], ["a"] * 3).predict([[9.0]]).tolist() == ["a"]
    alone = KNNClassifier(1).fit([[1.0, 2.0]], [4])
    assert alone.predict([[0.0, 0.0], [1e9, 1.0]]).tolist() == [4, 4]
    assert alone.predict_proba([[0.0, 0.0]]).tolist() == [[1.0]]


# ------------------------------------------------------------------------- tables of all kinds


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, 80).astype(float),
            "town": rng.choice(["Lima", "Quito", "Cusco"], 80),
            "plan": pd.Categorical(rng.choice(["x", "y"], 80)),
            "code": rng.integers(3, size=80),
        }
    ).assign(age=lambda f: f.age.where(f.index % 9 > 0))


def test_pandas_polars_and_objects_are_the_same(frame):
    y = (frame.town == "Lima").to_numpy()
    answers = []
    for table in (frame, to_polars(frame), frame.astype(object).to_numpy()):
        named = ["code"] if hasattr(table, "columns") else [3]
        model = KNNClassifier(5, metric="mixed", categorical_features=named).fit(table, y)
        assert model.categorical_.tolist() == [False, True, True, True]
        answers.append(model.kneighbors(table))
    assert model.n_features_in_ == 4
    for distances, found in answers[1:]:
        np.testing.assert_array_equal(found, answers[0][1])
        np.testing.assert_array_equal(distances, answers[0][0])
    model = KNNClassifier(5, metric="mixed").fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="'age' holds text or categories, but held numbers in fit"):
        model.predict(frame.assign(age="old"))


@pytest.mark.parametrize("name", ["hmeq", "heart_cleveland", "german_credit"])
def test_mixed_tables_straight_from_disk(name):
    data = load(name)
    X, y = data.X[:600], data.y[:600]
    model = KNNClassifier(11, metric="mixed", categorical_features=data.categorical)
    majority = np.unique(y, return_counts=True)[1].max() / len(y)
    score = cross_val_score(model, X, y, cv=5).mean()
    assert score > majority - 0.03
    named = data.frame.drop(columns=data.target)[:600]
    again = cross_val_score(KNNClassifier(11, metric="mixed"), named, y, cv=5).mean()
    assert again == pytest.approx(score, abs=0.02)  # the same columns, by name


# (a check of scikit-learn 1.6 fails by itself for estimators of categories without missing values)
@pytest.mark.parametrize(
    "model",
    [KNNClassifier(missing="error"), KNNClassifier(metric="mixed", ties="frequent")],
    ids=str,
)
def test_scikit_learn_s_checks_pass(model):
    assert_every_check_passes(model)


def test_pipelines_grids_and_searches():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), KNNClassifier())
    grid = GridSearchCV(pipe, {"knnclassifier__n_neighbors": [1, 9]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.9
    search = ForwardSelection(KNNClassifier(9), n_features_to_select=2, cv=3).fit(X, y)
    assert search.get_support()[2:].any()
    judged = compare(X, y, ["fisher"], {"knn": KNNClassifier(9)}, sizes=[2], cv=3, repeats=1,
                     random_state=0)  # fmt: skip
    assert "knn" in str(judged)
    copy = clone(KNNClassifier(3, metric="mixed", feature_weights=[1.0, 2.0]))
    assert copy.get_params()["feature_weights"] == [1.0, 2.0]


def test_saving_and_loading(frame, tmp_path):
    y = np.where(frame.town == "Lima", "p", "q")
    for k, model in enumerate([KNNClassifier(4, metric="mixed", ties="abstain"),
                               KNNClassifier(4, metric="hamming")]):  # fmt: skip
        model.fit(frame, y)
        tamiz.save(model, tmp_path / f"{k}.tamiz")
        again = tamiz.load(tmp_path / f"{k}.tamiz")
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    X = frame[["age", "code"]].fillna(0.0)
    model = KNNClassifier(4, algorithm="kd_tree").fit(X, y)
    before = model.kneighbors(X)  # grows a tree, which is no part of the model
    tamiz.save(model, tmp_path / "tree.tamiz")
    for mine, theirs in zip(tamiz.load(tmp_path / "tree.tamiz").kneighbors(X), before, strict=True):
        np.testing.assert_array_equal(mine, theirs)


# ------------------------------------------------------------------------------------ sentences

X4, Y4 = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]), np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        ({"n_neighbors": 5}, X4, "n_neighbors=5 exceeds .* n_samples=4 .*use at most 4"),
        ({"n_neighbors": 0}, X4, "n_neighbors"),
        ({"metric": "cosine"}, X4, "metric"),
        ({"ties": "random"}, X4, "ties"),
        ({"n_jobs": 0}, X4, "n_jobs=0"),
        ({"feature_weights": [1.0]}, X4, r"shape \(1,\), but X has 2 columns"),
        ({"feature_weights": [1.0, -1.0]}, X4, r"feature_weights\[1\] is -1.0"),
        ({"feature_weights": [1.0, np.nan]}, X4, r"feature_weights\[1\] is nan"),
        ({"feature_weights": [0, 0]}, X4, "zero for every column"),
        ({"feature_weights": ["a", "b"]}, X4, "must hold numbers"),
        ({"feature_weights": {"z": 2}}, X4, "names 'z', which X does not have"),
        ({"feature_weights": [1e-200, 1.0]}, X4, "between 1e-100 and 1e100"),
        ({"ties": "abstain", "reject_label": 1}, X4, "reject_label=1 is one of the classes"),
        ({"ties": "abstain", "reject_label": "no"}, X4, "does not go with classes that are num"),
        ({"ties": "abstain", "reject_label": np.nan}, X4, "a finite number"),
        ({"missing": "error"}, np.where(X4 == 3, np.nan, X4), "row 3, column 0; 1 in all"),
        ({}, np.where(X4 == 3, np.inf, X4), "infinity .*row 3, column 0"),
        ({}, X4 * 1e200, "very large values"),
        ({}, [["a", 1], ["b", 2], ["a", 3], ["b", 4]], 'metric="euclidean" needs .*column 0 holds'),
        ({"categorical_features": [1]}, X4, 'metric="euclidean" needs numbers.*column 1'),
        ({"categorical_features": ["k"], "metric": "mixed"}, X4, "names 'k', which X does not"),
        ({}, pd.DataFrame(X4, columns=["a", "a"]), "more than once"),
        ({}, X4[:, :0], "0 feature"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_sentence(params, X, message):
    with pytest.raises(ValueError, match=message):
        KNNClassifier(**{"n_neighbors": 2, **params}).fit(X, Y4)


def test_bad_queries_get_a_sentence():
    model = KNNClassifier(2, missing="error").fit(X4, Y4)
    for X, message in [
        ([[0.0]], "1 features, but KNNClassifier is expecting 2"),
        ([[np.nan, 1.0]], "row 0, column 0"),
        ([[np.inf, 1.0]], "infinity"),
        ([[1e200, 1.0]], "very large"),
        ([["a", 1.0]], "held numbers in fit"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(X)
    with pytest.raises(ValueError, match="n_neighbors=5 exceeds"):
        model.kneighbors(X4, 5)
    with pytest.raises(ValueError, match="n_neighbors=4 exceeds"):
        model.kneighbors(n_neighbors=4)  # none is its own neighbour: three are left
    with pytest.raises(ValueError, match=r"of other training samples.*\(0 samples\); use more"):
        KNNClassifier(1).fit(X4[:1], [0]).kneighbors()
    with pytest.raises(ValueError, match="numbers or text, but those of y are of type datetime64"):
        KNNClassifier(2, ties="abstain").fit(X4, np.array(["2020", "2021"] * 2, dtype="M8[Y]"))
    with pytest.raises(ValueError, match=r"use a regression such as sklearn.*Regressor, or"):
        KNNClassifier(2).fit(X4, [0.5, 1.5, 2.5, 3.5])
    with pytest.raises(ValueError, match="is one of the classes"):
        KNNClassifier(2, ties="abstain").fit(X4, [-1, 1, -1, 1])
    nominal = KNNClassifier(2, metric="hamming").fit([["a", "b"], ["c", "d"]], [0, 1])
    with pytest.raises(ValueError, match="3 features, but KNNClassifier is expecting 2"):
        nominal.predict([["a", "b", "c"]])
    with pytest.warns(UserWarning, match=r"No value of column 0 .* \(here 1, there 'a'\)"):
        nominal.predict([[1, "b"]])


def test_a_sparse_matrix_gives_the_answer_of_its_dense_copy():
    X, y = load_wine(return_X_y=True)
    X = np.where(np.median(X, axis=0) < X, X, 0.0)
    dense, thin = (
        KNNClassifier().fit(X[::2], y[::2]),
        KNNClassifier().fit(csr_matrix(X[::2]), y[::2]),
    )
    assert thin.predict(csr_matrix(X)).tolist() == dense.predict(X).tolist()
    assert dense.score(X, y) > 0.6
    with pytest.raises(ValueError, match="12 features, but KNNClassifier is expecting 13"):
        thin.predict(csr_matrix(X[:, :12]))


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = KNNClassifier(2).fit(X4, Y4)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((4, 2), np.inf), Y4)
    assert model.predict(X4).shape == (4,)


def test_a_model_put_together_wrongly_is_refused():
    model = KNNClassifier(2).fit(X4, Y4)
    model._codes = np.array([0, 1, 0, 9])
    with pytest.raises(ValueError, match="do not fit together"):
        model.predict(X4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_forked_after_a_prediction_predicts_too():
    """scikit-learn below runs OpenMP, whose threads a fork does not take along."""
    code = """
        import os, sys, time
        import numpy as np
        from tamiz.neighbors import KNNClassifier
        X = np.random.default_rng(0).normal(size=(2000, 40))
        model = KNNClassifier(5, n_jobs=2).fit(X, np.arange(2000) % 3)
        expected = model.predict(X)
        child = os.fork()
        if child == 0:
            os._exit(0 if (model.predict(X) == expected).all() else 3)
        for _ in range(600):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                sys.exit(os.waitstatus_to_exitcode(status))
            time.sleep(0.05)
        os.kill(child, 9)
        sys.exit("the child did not come back")
    """
    free = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**free, "OMP_NUM_THREADS": "2"}
    )
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------- sample weights


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("ties", list(REJECT))
@pytest.mark.parametrize("k", [1, 3, 6])
def test_integers_as_weights_are_numbers_of_rows(weights, ties, k):
    rng = np.random.default_rng(k)
    X = np.round(rng.normal(size=(40, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 40)]
    Q = np.round(rng.normal(size=(30, 3)), 1)
    weight = rng.integers(0, 4, 40)
    repeated = np.repeat(np.arange(40), weight)
    options = {"weights": weights, "ties": ties, "scaling": "zscore"}
    got = KNNClassifier(k, **options).fit(X, y, sample_weight=weight)
    want = KNNClassifier(k, **options).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(got.scale_, want.scale_)
    np.testing.assert_array_equal(got.class_count_, want.class_count_)
    np.testing.assert_array_equal(got.predict(Q), want.predict(Q))
    np.testing.assert_allclose(got.predict_proba(Q), want.predict_proba(Q), atol=1e-12)
    part = KNNClassifier(k, **options).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_array_equal(got.predict_proba(Q), part.predict_proba(Q))
    rows = got.kneighbors(Q, k, return_distance=False)
    np.testing.assert_array_equal(
        rows, np.flatnonzero(weight)[part.kneighbors(Q, k, return_distance=False)]
    )
    found = got.explain(Q)
    np.testing.assert_array_equal(found.labels, y[found.rows])
    shares = np.array([[row[labels == c].sum() for c in got.classes_]
                       for row, labels in zip(found.votes, found.labels, strict=True)])  # fmt: skip
    voted = shares.sum(axis=1) > 0
    np.testing.assert_allclose(shares[voted], got.predict_proba(Q)[voted], atol=1e-12)


def test_fractions_lie_between_and_sparse_tables_are_the_same():
    X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([0, 1, 1, 0])
    model = KNNClassifier(2).fit(X, y, sample_weight=[0.5, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.25, 0.75]])
    rng = np.random.default_rng(0)
    T = rng.poisson(0.4, size=(30, 5)).astype(float)
    labels, weight = np.arange(30) % 2, rng.uniform(0.0, 2.0, 30)
    weight[3] = 0.0
    for scaling in ("none", "zscore"):
        dense = KNNClassifier(4, scaling=scaling).fit(T, labels, sample_weight=weight)
        thin = KNNClassifier(4, scaling=scaling).fit(
            sparse.csr_matrix(T), labels, sample_weight=weight
        )
        np.testing.assert_allclose(dense.predict_proba(T), thin.predict_proba(T), atol=1e-12)


def test_weights_that_do_not_suffice():
    X, y = np.arange(6.0)[:, None], np.arange(6) % 2
    with pytest.raises(ValueError, match="exceeds the sum of sample_weight, 3"):
        KNNClassifier(5).fit(X, y, sample_weight=np.full(6, 0.5))
    model = KNNClassifier(3).fit(X, y, sample_weight=np.full(6, 0.5))
    assert set(model.predict(X)) <= {0, 1}
    with pytest.raises(ValueError, match="exceeds the sum"):
        model.set_params(n_neighbors=4).predict(X)
    onnx = pytest.importorskip("onnx")
    assert onnx
    with pytest.raises(TypeError, match="fitted with sample_weight"):
        tamiz.to_onnx(model.set_params(n_neighbors=3))
