"""Costs: how they are given, how they count in labels, errors and growth."""

import numpy as np
import pytest

from tamiz.tree import CARTClassifier
from tamiz.tree.cart import check_costs, weights_of_costs
from tests.naive.cart import Problem
from tests.tree.test_growth import check_splits_are_best, table

CLASSES = np.array(["a", "b", "c"])
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])


def test_a_matrix_and_a_dict_say_the_same():
    pairs = {("a", "c"): 5, ("b", "a"): 2, ("c", "b"): 3}
    np.testing.assert_array_equal(check_costs(pairs, CLASSES), COSTS)
    np.testing.assert_array_equal(check_costs(COSTS.tolist(), CLASSES), COSTS)
    rows = check_costs({"a": 4}, CLASSES)
    np.testing.assert_array_equal(rows, [[0, 4, 4], [1, 0, 1], [1, 1, 0]])
    np.testing.assert_array_equal(check_costs(None, CLASSES), 1 - np.eye(3))


def test_a_fold_may_lack_a_class_that_a_dict_names():
    found = check_costs({"a": 2, "b": 3, "z": 9}, CLASSES[:2])
    np.testing.assert_array_equal(found, [[0, 2], [3, 0]])


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.zeros((2, 2)), "shape"),
        ([[0, 1, 1], [1, 2, 1], [1, 1, 0]], "diagonal"),
        ([[0, 1, 1], [-1, 0, 1], [1, 1, 0]], "not negative"),
        ([[0, 1, 1], [np.nan, 0, 1], [1, 1, 0]], "finite"),
        ([[0, np.inf, 1], [1, 0, 1], [1, 1, 0]], "finite"),
        (np.zeros((3, 3)), "zero everywhere"),
        ([["x", 1, 1], [1, 0, 1], [1, 1, 0]], "numbers"),
        ({"z": 1}, "'z'"),
        ({("a", "b"): "dear"}, "numbers"),
        ({("a", "a"): 1}, "diagonal"),
    ],
)
def test_bad_costs_get_a_sentence(costs, words):
    with pytest.raises(ValueError, match=words):
        check_costs(costs, CLASSES)


def test_leaves_get_the_label_of_least_expected_cost():
    X, y = table(1, n=120)
    model = CARTClassifier(costs=COSTS, max_leaf_nodes=8).fit(X, y)
    tree = model.tree_
    expected = tree.value @ COSTS
    np.testing.assert_array_equal(tree.prediction, expected.argmin(axis=1))
    assert (tree.prediction != tree.value.argmax(axis=1)).any()
    np.testing.assert_allclose(tree.error, expected.min(axis=1) / 120, rtol=1e-12)
    paid = COSTS[y, model.predict(X)].mean()
    assert tree.training_error == pytest.approx(paid)
    np.testing.assert_allclose(
        model.predict_proba(X)[:5], (tree.value / tree.weight[:, None])[model.apply(X)][:5]
    )


def test_cheap_plain_labels_are_the_more_frequent_class_on_ties():
    X = np.zeros((7, 1))
    X[:3] = 1.0  # class 1 is more frequent in all, and ties in none
    y = np.array([0, 1, 1, 0, 1, 0, 1])
    tree = CARTClassifier(max_depth=1).fit(X, y).tree_
    tied = np.flatnonzero(tree.value[:, 0] == tree.value[:, 1])
    assert len(tied) == 1 and tree.prediction[tied[0]] == 1


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_costs_count_in_growth_as_they_should(criterion):
    X, y = table(2, n=60)
    model = CARTClassifier(criterion, costs=COSTS).fit(X, y)
    growth = COSTS.sum(axis=1)[y]
    growth = growth * len(y) / growth.sum()
    problem = Problem(X, y, criterion=criterion, growth=growth, costs=COSTS)
    check_splits_are_best(model, problem)
    assert model.tree_.impurity[0] == pytest.approx(problem.impurity(np.arange(60)) / 60)


def test_costs_by_true_class_alone_are_class_weights():
    X, y = table(3, n=150, n_classes=2)
    costs = CARTClassifier(costs=[[0, 1], [4, 0]], max_leaf_nodes=9).fit(X, y)
    weights = CARTClassifier(class_weight={0: 1, 1: 4}, max_leaf_nodes=9).fit(X, y)
    assert costs.tree_.splits == weights.tree_.splits
    np.testing.assert_array_equal(costs.predict(X), weights.predict(X))
    plain = CARTClassifier(max_leaf_nodes=9).fit(X, y)
    assert costs.tree_.splits != plain.tree_.splits
    assert (costs.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_a_class_that_costs_nothing_weighs_nothing():
    np.testing.assert_array_equal(weights_of_costs(np.array([[0, 0], [3, 0]])), [0, 3])
    X, y = table(4, n=60, n_classes=2)
    model = CARTClassifier(costs=[[0, 0], [3, 0]]).fit(X, y)
    assert model.tree_.training_error == 0.0
    assert (model.predict(X) == 1).all()


def test_gains_are_never_negative_with_costs():
    X, y = table(5, n=150)
    tree = CARTClassifier(costs=COSTS).fit(X, y).tree_
    total = tree.impurity * tree.weight
    inner = np.flatnonzero(tree.left >= 0)
    gains = total[inner] - total[tree.left[inner]] - total[tree.right[inner]]
    assert gains.min() >= -1e-9


@pytest.mark.parametrize("scale", [1e-14, 1e14])
def test_the_unit_of_the_costs_does_not_matter(scale):
    X, y = table(20)
    for criterion in ("gini", "error"):
        plain = CARTClassifier(criterion, costs=COSTS, max_depth=3).fit(X, y).tree_
        scaled = CARTClassifier(criterion, costs=scale * COSTS, max_depth=3).fit(X, y).tree_
        assert len(set(plain.prediction)) > 1
        np.testing.assert_array_equal(scaled.prediction, plain.prediction)
