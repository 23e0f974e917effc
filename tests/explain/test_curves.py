"""Partial dependence, individual curves and interactions, against loops and scikit-learn."""

from __future__ import annotations

import tracemalloc

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.inspection import partial_dependence as their_partial_dependence
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import tamiz
from tamiz.explain import interaction_strength, partial_dependence, shapley_values
from tamiz.kernels import RBF, Linear
from tamiz.svm import SVC, SVDD, SVR, OneClassSVM
from tests.naive import decisions as naive

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(60, 5, n_informative=4, n_redundant=0, random_state=0)
    return 3.0 * X + 1.0, y


MODELS = [
    SVC(gamma=0.1),
    SVC(kernel="linear"),
    SVC(kernel="poly", gamma=0.1, coef0=1.0),
    SVC(kernel=RBF(gamma=0.1) + 0.1 * RBF(gamma=1.0) + 0.01 * Linear()),
    SVR(gamma=0.1),
    OneClassSVM(gamma=0.1),
    SVDD(gamma=0.1),
    SVDD(kernel="linear"),
    LogisticRegression(),
    DecisionTreeRegressor(max_depth=4),
    make_pipeline(StandardScaler(), SVC()),
    make_pipeline(QuantileTransformer(n_quantiles=20), SelectKBest(k=3), SVC()),
    make_pipeline(Normalizer(), SVC()),
]


def value_of(model):
    return getattr(model, "decision_function", getattr(model, "predict", None))


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("far", [0.0, 1e4], ids=["near", "far"])
def test_curves_and_interactions_equal_their_definition(model, far, data):
    X, y = data
    if far and "poly" in repr(model):
        return  # powers of such numbers have no digits left
    X = X + far
    fitted = clone(model).fit(X, y)
    rows, f = X[:12], value_of(fitted)
    found = partial_dependence(fitted, rows, grid_resolution=5)
    tol = 1e-4 if far else 1e-9
    for j in range(5):
        wanted = naive.each(f, rows, [j], found.grids[j][:, None])
        np.testing.assert_allclose(found.individual[j][:, :, 0], wanted, rtol=tol, atol=tol)
        np.testing.assert_allclose(found.mean[j][:, 0], wanted.mean(axis=0), rtol=tol, atol=tol)
    both = interaction_strength(fitted, rows, [0, 2])
    part, excess, _ = naive.joint_effects(f, rows, 0, 2)
    assert both.strength[0] == pytest.approx(np.sqrt(excess / len(rows)), rel=1e-3, abs=tol)
    if excess > 1e-6:
        assert both.h_squared[0] == pytest.approx(part, rel=1e-4)


def test_kernel_machines_are_not_asked_for_every_point(data):
    X, y = data
    methods = [partial_dependence(clone(m).fit(X, y), X[:5]).method for m in MODELS]
    assert methods == ["exact"] * 7 + ["brute", "exact", "brute", "exact", "exact", "brute"]


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_the_outputs_of_three_classes_are_what_the_page_says(multiclass, data):
    """Classes, as decision_function has them, or the machines of pairs."""
    X, _ = data
    y = np.arange(60) % 3
    model = SVC(gamma=0.1, multiclass=multiclass).fit(X, y)
    found = partial_dependence(model, X[:12], [1], grid_resolution=4)
    assert found.method == "exact"
    asked = partial_dependence(make_pipeline(Mixing(), model).fit(X, y), X[:12], [1])
    assert asked.method == "brute" and asked.output_names == ["0", "1", "2"]
    if multiclass == "ovr":
        assert found.output_names == ["0", "1", "2"]
        values = model.decision_function
    else:
        assert found.output_names == ["1 over 0", "2 over 0", "2 over 1"]
        kernel, vectors, coef, intercept, _, centre = model.kernel_expansion()
        there = 0.0 if centre is None else centre

        def values(table):
            return kernel(table - there, vectors) @ coef.T + intercept

    for c in range(3):
        wanted = naive.each(
            lambda row, c=c: values(row)[:, c], X[:12], [1], found.grids[0][:, None]
        )
        np.testing.assert_allclose(found.individual[0][:, :, c], wanted, atol=1e-9)


class Mixing(TransformerMixin, BaseEstimator):
    """A step that might mix columns, for all that is known."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.asarray(X)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_models_that_find_columns_by_name_get_frames(make, data):
    X, y = data
    frame = make(dict(zip("abcde", X.T, strict=True)))
    scaler = ColumnTransformer([("s", StandardScaler(), ["a", "b"])], remainder="passthrough")
    model = make_pipeline(scaler, SVC()).fit(frame, y)
    some = frame[:12]

    def decision(row):
        return model.decision_function(make(dict(zip("abcde", row.T, strict=True))))

    found = partial_dependence(model, some, ["b"], grid_resolution=3)
    wanted = naive.each(decision, X[:12], [1], found.grids[0][:, None])
    np.testing.assert_allclose(found.individual[0][:, :, 0], wanted, atol=1e-9)
    both = interaction_strength(model, some, ["a", "c"])
    _, excess, _ = naive.joint_effects(decision, X[:12], 0, 2)
    assert both.strength[0] == pytest.approx(np.sqrt(excess / 12), rel=1e-6)
    values = shapley_values(model, some[:2], some, n_permutations=24, random_state=0)
    total = values.base + values.values.sum(axis=1)
    np.testing.assert_allclose(total, model.decision_function(some[:2]), atol=1e-9)


def test_means_alone_are_the_same_means(data):
    X, y = data
    for model in (SVC().fit(X, y), DecisionTreeRegressor(max_depth=4).fit(X, y)):
        found = partial_dependence(model, X, grid_resolution=6)
        means = partial_dependence(model, X, grid_resolution=6, individual=False)
        assert means.individual == [] and len(means.plot(0).get_lines()) == 2
        for one, other in zip(found.mean, means.mean, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)


def test_curves_that_memory_cannot_hold_are_refused(data, monkeypatch):
    X, y = data
    model = SVC().fit(X, y)
    monkeypatch.setenv("TAMIZ_FREE_MEMORY", "50K")
    with pytest.raises(MemoryError, match=r"curves of 60 rows for 5 features.*individual=False"):
        partial_dependence(model, X)
    assert len(partial_dependence(model, X, individual=False).mean) == 5


def test_linear_models_take_no_table_of_features_by_features():
    p = 3000
    X = np.random.default_rng(0).normal(size=(20, p))
    model = LogisticRegression(max_iter=20).fit(X, np.arange(20) % 2)
    tracemalloc.start()
    found = partial_dependence(model, X, [0, 1], grid_resolution=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.method == "exact" and peak < 8 * p * p / 4


def test_features_keep_their_order_and_may_be_a_mask(data):
    X, y = data
    model = SVC().fit(X, y)
    assert partial_dependence(model, X, [3, 1]).features == [3, 1]
    assert partial_dependence(model, X, np.arange(5) % 2 == 1).features == [1, 3]
    with pytest.raises(ValueError, match="names no feature"):
        partial_dependence(model, X, [])
    with pytest.raises(ValueError, match="must be two numbers"):
        partial_dependence(model, X, percentiles=(0.9, 0.1))
    words = pd.DataFrame(X.round().astype(int).astype(str)).add_prefix("x").replace("0", "none")
    for explain in (partial_dependence, interaction_strength):
        with pytest.raises(ValueError, match="'x0' holds text where numbers are needed"):
            explain(model, words)


def test_curves_equal_those_of_scikit_learn(data):
    X, y = data
    model = SVC().fit(X, y)
    ends = (0.0, 1.0)  # between them, quantiles have many definitions
    found = partial_dependence(model, X, [1], grid_resolution=9, percentiles=ends)
    asked = {"grid_resolution": 9, "percentiles": ends, "kind": "both", "method": "brute"}
    peer = their_partial_dependence(model, X, [1], **asked)
    grid = peer.get("grid_values", peer.get("values"))[0]
    np.testing.assert_allclose(found.grids[0], grid)
    np.testing.assert_allclose(found.mean[0][:, 0], peer["average"][0], atol=1e-9)
    np.testing.assert_allclose(found.individual[0][:, :, 0], peer["individual"][0], atol=1e-9)


def test_exclusive_or_is_the_strongest_pair_though_neither_acts_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    X[:, 5] *= 100.0  # a scale of its own
    y = (X[:, 2] * X[:, 7] > 0) ^ (X[:, 0] > 2.5)
    model = make_pipeline(StandardScaler(), SVC(C=10.0)).fit(X, y)
    found = interaction_strength(model, X, top_features=6, random_state=0)
    assert found.pairs[0].tolist() == [2, 7]
    assert found.strength[0] > 3.0 * found.strength[1]


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_functions_of_single_features_have_no_interactions(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    y = X @ rng.normal(size=4)
    linear = SVR(kernel="linear").fit(X, y)
    found = interaction_strength(linear, X, [0, 1, 2, 3])
    assert (found.strength <= 1e-9).all()
    product = SVR(kernel="poly", degree=2, coef0=1.0, C=100.0).fit(X, X[:, 0] * X[:, 1])
    found = interaction_strength(product, X, [0, 1, 2, 3])
    assert found.pairs[0].tolist() == [0, 1]


def test_a_feature_that_does_nothing_takes_part_in_no_interaction(data):
    X, y = data
    model = make_pipeline(SelectKBest(k=3), SVC()).fit(X, y)
    out = np.flatnonzero(~model[0].get_support())
    found = interaction_strength(model, X, [0, 1, 2, 3, 4])
    idle = np.isin(found.pairs, out).any(axis=1)
    np.testing.assert_allclose(found.strength[idle], 0.0, atol=1e-12)
    assert (found.strength[~idle] > 1e-3).all()


def test_interactions_follow_their_features_when_columns_change_places(data):
    X, y = data
    order = np.array([3, 0, 4, 1, 2])
    one = interaction_strength(SVC(gamma=0.1).fit(X, y), X, range(5))
    other = interaction_strength(SVC(gamma=0.1).fit(X[:, order], y), X[:, order], range(5))
    there = {
        tuple(sorted(order[list(pair)])): s
        for pair, s in zip(other.pairs, other.strength, strict=True)
    }
    for pair, strength in zip(one.pairs, one.strength, strict=True):
        assert there[tuple(pair)] == pytest.approx(strength, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("model", [SVC(gamma=0.3), DecisionTreeRegressor(max_depth=4)])
def test_a_category_acts_together_as_one_feature(model):
    """A number turns its sign with the category, and the strength is that of loops over rows."""
    rng = np.random.default_rng(0)
    code, number = rng.integers(1, 3, 90), rng.normal(size=(90, 2))
    X = np.column_stack([number[:, 0], code == 0, number[:, 1], code == 1, code == 2]).astype(float)
    model.fit(X, (number[:, 0] * np.where(code == 1, -1.0, 1.0) > 0).astype(int))
    found = interaction_strength(model, X, feature_groups={"town": [1, 3, 4]}, random_state=0)
    assert found.feature_names == ["x0", "town", "x2"] and len(found.pairs) == 3
    assert found.names[0] == ("x0", "town")
    value = model.decision_function if hasattr(model, "classes_") else model.predict

    def centred(columns):
        means = []
        for row in X:
            table = X.copy()
            table[:, columns] = row[columns]
            means.append(value(table).mean())
        return np.array(means) - np.mean(means)

    columns = {"x0": [0], "town": [1, 3, 4], "x2": [2]}
    for (one, other), strength in zip(found.names, found.strength, strict=True):
        alone = centred(columns[one]) + centred(columns[other])
        both = centred(columns[one] + columns[other])
        wanted = np.sqrt(np.mean((both - alone) ** 2))
        assert strength == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    seldom = interaction_strength(model, X, feature_groups={"town": [1, 3, 4]}, top_features=2)
    assert seldom.names == [("x0", "town")]
    named = interaction_strength(model, X, ["town", "x0"], feature_groups={"town": [1, 3, 4]})
    assert named.strength == pytest.approx(found.strength[:1])


def test_several_classes_and_repeated_values(data):
    X, y = load_iris(return_X_y=True)
    model = SVC().fit(X, y)
    found = partial_dependence(model, np.round(X), [2])
    np.testing.assert_array_equal(found.grids[0], np.unique(np.round(X[:, 2])))
    assert found.mean[0].shape[1] == 3
    assert interaction_strength(model, X, n_rows=30, random_state=0).strength[0] > 0


def test_results_are_tables_and_pictures_and_can_be_kept(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = SVC().fit(frame, y)
    found = partial_dependence(model, frame, ["a", "d"], grid_resolution=4)
    table = found.to_frame("d")
    assert table.columns.tolist() == ["feature", "at", "1"]
    np.testing.assert_allclose(table["1"], found.mean[1][:, 0])
    ax = found.plot("a", curves=7)
    lines = ax.get_lines()
    assert len(lines) == 9  # seven rows, their mean, and where the rows are
    np.testing.assert_allclose(lines[7].get_ydata(), found.mean[0][:, 0])
    assert found.plot(centred=True).get_lines()[0].get_ydata()[0] == 0.0
    pairs = interaction_strength(model, frame)
    widths = [bar.get_width() for bar in pairs.plot(top=2).patches]
    np.testing.assert_allclose(widths, pairs.strength[:2][::-1])
    assert pairs.to_frame()["feature"][0] in "abcde"
    for result in (found, pairs):
        tamiz.save(result, tmp_path / "kept.tamiz")
        again = tamiz.load(tmp_path / "kept.tamiz")
        pd.testing.assert_frame_equal(again.to_frame(), result.to_frame())


def test_bad_input_gets_a_sentence(data):
    X, y = data
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="percentiles"):
        partial_dependence(model, X, percentiles=(0.9, 0.1))
    with pytest.raises(ValueError, match="features"):
        partial_dependence(model, X, ["z"])
    with pytest.raises(ValueError, match="those computed"):
        partial_dependence(model, X, [1]).plot(2)
    with pytest.raises(ValueError, match="two features"):
        interaction_strength(model, X, [1])
    with pytest.raises(ValueError, match="fitted to 5"):
        interaction_strength(model, X[:, :3])
    with pytest.raises(ValueError, match="not fitted"):
        partial_dependence(SVC(), X)
