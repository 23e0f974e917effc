"""Regression trees."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeRegressor

import tamiz
from tamiz.tree import CARTRegressor


def test_steps_are_found_where_they_are():
    x = np.linspace(0, 1, 101)
    t = np.where(x < 0.295, 1.0, np.where(x < 0.705, 4.0, 2.0))
    tree = CARTRegressor().fit(x[:, None], t).tree_
    cuts = sorted(split.threshold for split in tree.splits if split is not None)
    assert cuts == pytest.approx([0.295, 0.705])
    assert sorted(tree.prediction[tree.left < 0]) == [1.0, 2.0, 4.0]
    assert tree.training_error == 0.0


def test_leaves_are_means_and_errors_are_squares():
    X, t = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).random(len(t)) + 0.2
    model = CARTRegressor(max_leaf_nodes=7).fit(X, t, sample_weight=weight)
    tree, leaf = model.tree_, model.apply(X)
    for node in tree.leaves():
        rows = leaf == node
        assert tree.prediction[node] == pytest.approx(np.average(t[rows], weights=weight[rows]))
    squares = np.average((t - model.predict(X)) ** 2, weights=weight)
    assert tree.training_error == pytest.approx(squares)
    assert tree.error[0] == pytest.approx(np.average((t - np.average(t, weights=weight)) ** 2,
                                                     weights=weight))  # fmt: skip


def test_cross_validation_is_level_with_scikit_learn():
    X, t = load_diabetes(return_X_y=True)
    ours = cross_val_score(CARTRegressor(min_samples_leaf=20), X, t, cv=5).mean()
    theirs = cross_val_score(DecisionTreeRegressor(min_samples_leaf=20), X, t, cv=5).mean()
    assert ours == pytest.approx(theirs, abs=0.01)


def test_a_target_far_from_zero_is_split_as_near_it():
    X, t = load_diabetes(return_X_y=True)
    near = CARTRegressor(max_leaf_nodes=10).fit(X, t)
    far = CARTRegressor(max_leaf_nodes=10).fit(X, t + 2.0**40)
    assert near.tree_.splits == far.tree_.splits
    tiny = CARTRegressor(max_leaf_nodes=10).fit(X, t * 2.0**-200)
    assert near.tree_.splits == tiny.tree_.splits


def test_a_constant_target_is_one_leaf_without_rounding():
    model = CARTRegressor().fit(np.arange(7.0)[:, None], np.full(7, 0.1))
    assert model.get_n_leaves() == 1
    full = CARTRegressor().fit(np.arange(9.0)[:, None], [0.1] * 3 + [0.7] * 3 + [0.3] * 3)
    assert set(full.predict(np.arange(9.0)[:, None])) == {0.1, 0.7, 0.3}


def test_categories_and_missing_values_and_files(tmp_path):
    rng = np.random.default_rng(1)
    kind = rng.choice(["x", "y", "z"], 120)
    x = rng.standard_normal(120)
    t = np.where(kind == "y", 3.0, 0.0) + (x > 0) + 0.1 * rng.standard_normal(120)
    x[::9] = np.nan
    X = np.column_stack([kind.astype(object), x.astype(object)])
    model = CARTRegressor(max_leaf_nodes=6).fit(X, t)
    assert model.score(X, t) > 0.9
    tamiz.save(model, tmp_path / "t.tamiz")
    np.testing.assert_array_equal(tamiz.load(tmp_path / "t.tamiz").predict(X), model.predict(X))


def test_bad_targets_get_a_sentence():
    X = np.arange(4.0)[:, None]
    for target, words in (
        (["a", "b", "c", "d"], "CARTClassifier"),
        ([1.0, np.nan, 2.0, 3.0], "NaN"),
        ([1e200, -1e200, 0.0, 1.0], "large"),
    ):
        with pytest.raises(ValueError, match=words):
            CARTRegressor().fit(X, target)


@pytest.mark.parametrize("scale", [1e-200, 1e-300, 1e150])
def test_the_unit_of_the_target_does_not_matter(scale):
    x = np.linspace(0, 1, 60)[:, None]
    y = np.sin(7 * x[:, 0])
    for limits in ({"max_depth": 3}, {"max_depth": 3, "n_surrogates": 1}):
        plain = CARTRegressor(**limits).fit(x, y).tree_
        scaled = CARTRegressor(**limits).fit(x, scale * y).tree_
        assert scaled.splits == plain.splits
        np.testing.assert_allclose(scaled.prediction, scale * plain.prediction, rtol=1e-6)
