"""Features by importance in a random forest: the conventions of selectors, and interactions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import tamiz
from tamiz.embedded import ForestImportance
from tamiz.tree import ForestClassifier

FEW = {"n_estimators": 30, "random_state": 0}


def xor(n=400, p=8, seed=0):
    """Two features that tell the class together and not alone; the others say nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, p))
    return X, ((X[:, 2] > 0) ^ (X[:, 5] > 0)).astype(int)


def test_finds_an_interaction_that_no_feature_shows_alone():
    X, y = xor()
    selector = ForestImportance(2, random_state=0).fit(X, y)
    assert set(selector.get_support(indices=True)) == {2, 5}
    assert selector.scores_[[2, 5]].min() > 1.5 * np.delete(selector.scores_, [2, 5]).max()


def test_scores_are_those_of_the_forest():
    X, y = xor(150)
    selector = ForestImportance(3, min_samples_leaf=4, max_features=5, **FEW).fit(X, y)
    forest = ForestClassifier(30, min_samples_leaf=4, max_features=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(selector.scores_, forest.feature_importances_)
    assert selector.scores_.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(selector.estimator_.predict(X), forest.predict(X))


@pytest.mark.parametrize(("wanted", "n"), [(1, 1), (3, 3), (0.25, 2), (1.0, 8), (None, 4)])
def test_order_ranking_and_support_agree(wanted, n):
    X, y = xor(150)
    selector = ForestImportance(wanted, **FEW).fit(X, y)
    assert selector.support_.sum() == n
    assert sorted(selector.order_) == list(range(8))
    assert (np.diff(selector.scores_[selector.order_]) <= 0).all()
    np.testing.assert_array_equal(selector.ranking_[selector.order_], np.arange(1, 9))
    np.testing.assert_array_equal(
        np.flatnonzero(selector.ranking_ <= n), selector.support_.nonzero()[0]
    )
    np.testing.assert_array_equal(selector.transform(X), X[:, selector.support_])
    np.testing.assert_array_equal(selector.selection_.order, selector.order_)


def test_names_come_from_a_frame_and_go_with_an_array():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = ForestImportance(5, **FEW).fit(X, y)
    assert set(selector.get_feature_names_out()) < set(X.columns)
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    assert selector.selection_.names == X.columns.tolist()
    selector.fit(X.to_numpy(), y)
    assert not hasattr(selector, "feature_names_in_")
    assert isinstance(X, pd.DataFrame)


def test_weights_reach_the_forest():
    X, y = xor(200)
    y = np.where(np.arange(200) < 100, y, (X[:, 0] > 0).astype(int))  # two laws, half each
    first = (np.arange(200) < 100).astype(float)
    assert ForestImportance(1, **FEW).fit(X, y, 1.0 - first).order_[0] == 0
    assert set(ForestImportance(2, **FEW).fit(X, y, first).order_[:2]) == {2, 5}
    rare = (X[:, 0] > 0.9).astype(int)
    even = ForestImportance(class_weight="balanced", **FEW).fit(X, rare)
    assert not np.array_equal(even.scores_, ForestImportance(**FEW).fit(X, rare).scores_)


def test_the_seed_decides_and_threads_do_not():
    X, y = xor(150)
    one = ForestImportance(n_estimators=20, n_jobs=1, random_state=3).fit(X, y)
    two = ForestImportance(n_estimators=20, n_jobs=2, random_state=3).fit(X, y)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    other = ForestImportance(n_estimators=20, random_state=4).fit(X, y)
    assert not np.array_equal(one.scores_, other.scores_)


def test_saved_and_loaded(tmp_path):
    X, y = xor(100)
    selector = ForestImportance(3, **FEW).fit(X, y)
    again = tamiz.load(tamiz.save(selector, tmp_path / "selector"))
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))
    np.testing.assert_array_equal(again.estimator_.predict(X), selector.estimator_.predict(X))


def test_a_failed_fit_changes_nothing():
    X, y = xor(60)
    selector = ForestImportance(2, **FEW).fit(X, y)
    before = selector.order_
    for wrong in (
        lambda: selector.fit(X[:, :3], np.zeros(60)),
        lambda: selector.fit(X * np.nan, y),
    ):
        with pytest.raises(ValueError, match=r"one class only|NaN"):
            wrong()
        assert selector.order_ is before and selector.n_features_in_ == 8


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": 9}, "n_features_to_select"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_features": 0}, "max_features"),
    ],
)
def test_absurd_parameters_are_refused(params, words):
    X, y = xor(40)
    with pytest.raises(ValueError, match=words):
        ForestImportance(**params).fit(X, y)
