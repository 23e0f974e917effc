"""Partial dependence, individual curves and interactions, against loops and scikit-learn."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.inspection import partial_dependence as their_partial_dependence
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import tamiz
from tamiz.explain import interaction_strength, partial_dependence
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
