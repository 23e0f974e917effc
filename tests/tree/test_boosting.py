"""Boosted trees on bins: against plain loops, scikit-learn's, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

import tests.naive.boosting as naive
from tamiz.tree import BoostingClassifier, BoostingRegressor
from tamiz.tree.boosting import BoostingRules, boost
from tamiz.tree.forest import Bins, leaf_sums


def table(n=60, p=5, n_classes=2, seed=0):
    """Numbers of which some occur often; a feature with two values, and one with a single value."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(1)
    X[:, 3] = X[:, 3] > 0
    X[:, 4] = 1.0
    y = X[:, 0] + X[:, 1] * X[:, 3] + 0.3 * rng.normal(size=n)
    if n_classes:
        y = np.digitize(y, np.quantile(y, [0.3, 0.65][: n_classes - 1]))
    return X, y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize(("max_leaves", "min_leaf", "l2"), [(2, 1, 1.0), (5, 4, 0.5), (8, 1, 3.0)])
def test_sums_of_trees_equal_those_of_plain_loops(n_classes, max_leaves, min_leaf, l2, weighted):
    X, y = table(50, n_classes=n_classes, seed=max_leaves)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=50)
    weight = weight if weighted else np.ones(50)
    bins = Bins.of(X)
    codes, new = bins.codes(X), bins.codes(table(40, seed=9)[0])
    rules = BoostingRules(4, 0.3, max_leaves, min_leaf, l2)
    start, forest = boost(codes, bins.counts, y, weight, n_classes, rules=rules)
    options = {"n_rounds": 4, "rate": 0.3, "max_leaves": max_leaves}
    expected, gains = naive.boost(
        codes, y, weight, n_classes, new.T.tolist(), min_leaf=min_leaf, l2=l2, **options
    )
    np.testing.assert_allclose(start + leaf_sums(forest, new), expected, rtol=1e-9, atol=1e-9)
    fractions = forest.gains / forest.gains.sum()  # numbers are boosted in a unit of their own
    np.testing.assert_allclose(fractions, np.array(gains) / sum(gains), rtol=1e-9, atol=1e-9)


def test_errors_are_like_those_of_scikit_learn():
    differences = []
    for load, n_folds in ((load_breast_cancer, 5), (load_digits, 2)):
        X, y = load(return_X_y=True)
        X, y = X[:900], y[:900]
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        peer = HistGradientBoostingClassifier(
            max_iter=40, max_leaf_nodes=15, min_samples_leaf=10, early_stopping=False
        )
        ours, theirs = (
            cross_val_score(model, X, y, cv=folds).mean()
            for model in (BoostingClassifier(40), peer)
        )
        differences.append(theirs - ours)
    assert max(differences) < 0.02


def test_numbers_are_predicted_as_well_as_by_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(5, shuffle=True, random_state=0)
    peer = HistGradientBoostingRegressor(
        max_iter=50, max_leaf_nodes=7, min_samples_leaf=20, early_stopping=False
    )
    mine = BoostingRegressor(50, max_leaf_nodes=7, min_samples_leaf=20)
    ours, theirs = (cross_val_score(model, X, y, cv=folds).mean() for model in (mine, peer))
    assert ours > theirs - 0.02


def test_a_stump_with_rate_one_and_no_penalty_predicts_the_means_of_its_sides():
    X = np.arange(10.0)[:, None]
    y = np.array([1.0, 2, 3, 2, 20, 21, 22, 23, 24, 20])
    stump = BoostingRegressor(1, learning_rate=1, max_leaf_nodes=2, min_samples_leaf=1, l2=0)
    expected = np.r_[np.full(4, y[:4].mean()), np.full(6, y[4:].mean())]
    np.testing.assert_allclose(stump.fit(X, y).predict(X), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_loss_on_the_training_samples_falls_with_every_round(n_classes):
    X, y = table(200, n_classes=n_classes)
    losses = [
        log_loss(y, BoostingClassifier(rounds).fit(X, y).predict_proba(X))
        for rounds in (1, 2, 5, 20, 60)
    ]
    assert (np.diff(losses) < 0).all()


def test_decision_values_probabilities_and_classes_agree():
    X, y = table(200)
    model = BoostingClassifier(20).fit(X, np.array(["no", "yes"])[y])
    odds = model.decision_function(X)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(-odds)))
    np.testing.assert_array_equal(model.predict(X) == "yes", odds > 0)
    X, y = table(200, n_classes=3)
    model = BoostingClassifier(20).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("unit", [1e6, 1e-310, 1e300])
def test_the_unit_of_weights_does_not_matter(unit):
    X, y = table(120)
    weight = np.random.default_rng(0).integers(0, 3, size=120)
    weighted = BoostingClassifier(10).fit(X, y, weight)
    scaled = BoostingClassifier(10).fit(X, y, unit * weight)
    np.testing.assert_allclose(
        weighted.decision_function(X), scaled.decision_function(X), rtol=1e-6
    )


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1e9, 1e300])
def test_the_unit_of_numbers_does_not_matter(unit):
    X, y = table(120, n_classes=0)
    plain = BoostingRegressor(10).fit(X, y)
    scaled = BoostingRegressor(10).fit(X, unit * y)
    np.testing.assert_allclose(scaled.predict(X) / unit, plain.predict(X))
    np.testing.assert_allclose(scaled.feature_importances_, plain.feature_importances_)


@pytest.mark.parametrize("class_weight", [{0: 1, 1: 0}, {0: 0, 1: 1}, {0: 1e-17, 1: 1}])
def test_a_class_of_hardly_any_weight_leaves_decision_values_finite(class_weight):
    X, y = table(120)
    model = BoostingClassifier(5, class_weight=class_weight).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.predict(X) == max(class_weight, key=class_weight.get)).all()


def test_leaves_are_no_more_than_the_samples_allow():
    X, y = table(40)
    model = BoostingClassifier(2, max_leaf_nodes=10**12, min_samples_leaf=5).fit(X, y)
    assert len(model.forest_[0]) <= 2 * (2 * 8 - 1)


def test_without_a_penalty_on_leaves_weights_count_as_copies():
    X, y = table(120)
    weight = np.random.default_rng(0).integers(0, 3, size=120)
    # copies raise the number of samples, beside which a penalty on leaves is smaller
    free = {"min_samples_leaf": 1, "l2": 0.0}
    weighted = BoostingClassifier(10, **free).fit(X, y, weight)
    copied = BoostingClassifier(10, **free).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X))


def test_balanced_classes_are_worth_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + rng.normal(size=600) > 2.0).astype(int)
    plain, balanced = (
        BoostingClassifier(30, class_weight=weight).fit(X, y).predict(X).mean()
        for weight in (None, "balanced")
    )
    assert plain < y.mean() < balanced


def test_threads_and_monotone_transformations_do_not_matter():
    X, y = table(300)
    one = BoostingClassifier(10, n_jobs=1).fit(X, y).decision_function(X)
    many = BoostingClassifier(10, n_jobs=2).fit(X, y).decision_function(X)
    cubed = BoostingClassifier(10).fit(X**3, y).decision_function(X**3)
    np.testing.assert_array_equal(one, many)
    np.testing.assert_allclose(one, cubed)


def test_importances_name_the_features_that_tell():
    X, y = table(300)
    found = BoostingClassifier(20).fit(X, y).feature_importances_
    assert found.sum() == pytest.approx(1.0) and found[4] == 0.0
    assert found.argmax() == 0 and found[[1, 3]].min() > found[2]


def test_one_sample_of_a_class_and_constant_features_do_no_harm():
    X = np.ones((12, 2))
    y = np.r_[np.zeros(11, dtype=int), 1]
    model = BoostingClassifier(5).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), np.tile([11 / 12, 1 / 12], (12, 1)))
    assert (model.feature_importances_ == 0).all()
    assert BoostingRegressor(5).fit(X, np.full(12, 3.0)).predict(X) == pytest.approx(3.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_estimators": 0},
        {"learning_rate": 0},
        {"learning_rate": 2},
        {"max_leaf_nodes": 1},
        {"l2": -1},
        {"min_samples_leaf": 0},
    ],
)
def test_absurd_parameters_are_refused(wrong):
    X, y = table()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BoostingClassifier(**wrong).fit(X, y)
