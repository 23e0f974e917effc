"""Oblique splits: better than those on one feature, or not used; the same for a seed."""

import numpy as np
import pytest

from tamiz.tree import CARTClassifier, CARTRegressor, ObliqueSplit
from tests.naive.cart import Problem, rows_of_nodes


@pytest.fixture(scope="module")
def slanted():
    """Two classes on both sides of a slanted line, and a feature that tells nothing."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 3)) * [1.0, 100.0, 1.0]
    return X, (X[:, 0] + X[:, 1] / 100 > 0.2).astype(int)


def test_one_slanted_line_is_one_split(slanted):
    X, y = slanted
    oblique = CARTClassifier(splits="oblique", random_state=0).fit(X, y)
    axis = CARTClassifier().fit(X, y)
    assert oblique.score(X, y) == axis.score(X, y) == 1.0
    assert oblique.get_n_leaves() <= 3 < 10 < axis.get_n_leaves()
    fresh = np.random.default_rng(1).uniform(-1, 1, (500, 3)) * [1.0, 100.0, 1.0]
    truth = (fresh[:, 0] + fresh[:, 1] / 100 > 0.2).astype(int)
    assert oblique.score(fresh, truth) > axis.score(fresh, truth)


def test_a_sum_is_only_used_where_it_gains_more():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((120, 3))
    y = (X[:, 1] > 0.1).astype(int)  # one feature tells all
    tree = CARTClassifier(splits="oblique", random_state=0).fit(X, y).tree_
    assert tree.n_leaves == 2 and not isinstance(tree.splits[0], ObliqueSplit)
    y = rng.integers(3, size=120)
    for criterion in ("gini", "entropy", "error"):
        model = CARTClassifier(criterion, splits="oblique", random_state=0, max_depth=3).fit(X, y)
        tree, problem = model.tree_, Problem(X, y, criterion=criterion)
        used = 0
        for node, rows in enumerate(rows_of_nodes(tree, X)):
            if isinstance(tree.splits[node], ObliqueSplit):
                assert problem.gain(tree.splits[node], rows) > problem.best_gain(rows)
                used += 1
        assert used


def test_limits_hold_for_sums_too(slanted):
    X, y = slanted
    rng = np.random.default_rng(3)
    y = np.where(rng.random(200) < 0.1, 1 - y, y)
    tree = (
        CARTClassifier(splits="oblique", random_state=0, min_samples_leaf=8, max_leaf_nodes=9)
        .fit(X, y)
        .tree_
    )
    assert tree.n_samples.min() >= 8
    assert tree.n_leaves <= 9
    assert any(isinstance(split, ObliqueSplit) for split in tree.splits)


def test_the_same_seed_gives_the_same_tree_whatever_n_jobs(slanted):
    X = slanted[0].copy()
    y = np.random.default_rng(5).integers(2, size=len(X))  # with nothing to find, starts matter
    X[::17, 0] = np.nan
    trees = [
        CARTClassifier(splits="oblique", random_state=seed, n_jobs=n_jobs).fit(X, y).tree_
        for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
    ]
    assert trees[0].splits == trees[1].splits != trees[2].splits
    assert trees[0].surrogates == trees[1].surrogates
    assert any(trees[0].surrogates)


def test_regression_and_categories_beside_sums():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.uniform(-1, 1, (150, 2)), rng.integers(3, size=150)])
    t = (X[:, 0] - X[:, 1] > 0) + 0.01 * rng.standard_normal(150)
    options = {"categorical_features": [2], "max_leaf_nodes": 2}
    oblique = CARTRegressor(splits="oblique", random_state=0, **options).fit(X, t)
    assert isinstance(oblique.tree_.splits[0], ObliqueSplit)
    assert 2 not in oblique.tree_.splits[0].features
    assert oblique.score(X, t) > 0.95 > CARTRegressor(**options).fit(X, t).score(X, t)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e300, 1e-14, 1e-300])
def test_the_unit_of_the_features_does_not_matter(slanted, scale):
    X, y = slanted
    for units in (scale, np.array([scale, 1.0, 1.0])):
        model = CARTClassifier(splits="oblique", random_state=0).fit(X * units, y)
        assert isinstance(model.tree_.splits[0], ObliqueSplit)
        assert model.get_n_leaves() <= 3
        assert model.score(X * units, y) == 1.0
