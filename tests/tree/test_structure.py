"""The tree as arrays: kin, sizes, pruned copies, and the ways of samples."""

import numpy as np
import pytest

from tamiz.tree import CARTClassifier, NominalSplit, NumericSplit, Surrogate, Tree, pruning_path
from tests.naive.cart import descend
from tests.tree.test_growth import mixed
from tests.tree.trees import random_tree


def small_tree(**changes):
    """Five nodes; node 2 asks for a category."""
    parts = {
        "left": [1, -1, 3, -1, -1],
        "right": [2, -1, 4, -1, -1],
        "n_samples": [10, 4, 6, 5, 1],
        "weight": [10.0, 4, 6, 5, 1],
        "value": np.ones((5, 2)),
        "prediction": [0, 1, 0, 1, 0],
        "impurity": np.zeros(5),
        "error": [0.5, 0.1, 0.3, 0.0, 0.1],
        "splits": [
            NumericSplit(0, 0.5),
            None,
            NominalSplit(1, frozenset({0, 2}), frozenset({1})),
            None,
            None,
        ],
        "surrogates": [(Surrogate(NumericSplit(2, 0.1), True, 0.9, 0.5),), (), (), (), ()],
    }
    return Tree("classification", 3, **{**parts, **changes})


def test_sizes_and_kin():
    tree = small_tree()
    assert (tree.n_nodes, tree.n_leaves, tree.max_depth) == (5, 3, 2)
    assert tree.leaves().tolist() == [1, 3, 4]
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2]
    assert tree.depth.tolist() == [0, 1, 1, 2, 2]
    assert tree.mean_depth == pytest.approx((4 * 1 + 6 * 2) / 10)
    assert tree.training_error == pytest.approx(0.2)
    assert tree.ancestors(4) == [0, 2]
    assert tree.descendants(0).tolist() == [1, 2, 3, 4]
    assert tree.descendants(2).tolist() == [3, 4]
    assert tree.majority_left.tolist() == [False, False, True, False, False]


def test_samples_take_the_split_then_the_surrogates_then_the_larger_side():
    tree = small_tree()
    nan = np.nan
    rows = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 3, 0], [nan, 0, 0.2], [nan, 1, 0.0], [nan, 1, nan]]
    )
    assert tree.apply(rows).tolist() == [1, 3, 4, 3, 1, 4, 4]
    path = tree.decision_path(rows)
    for i, x in enumerate(rows):
        assert np.flatnonzero(path[i]).tolist() == descend(tree, x)


def test_a_pruned_copy_keeps_the_rest_and_the_old_numbers():
    X, y = mixed(1, n=120)
    tree = CARTClassifier(categorical_features=[1, 3]).fit(X, y).tree_
    cut = np.zeros(tree.n_nodes, dtype=bool)
    cut[tree.left[0]] = cut[6] = True
    small = tree.with_leaves(cut)
    assert small.n_leaves < tree.n_leaves
    np.testing.assert_array_equal(small.value, tree.value[small.original])
    at, old = small.apply(X), tree.apply(X)
    for node, leaf in zip(at, old, strict=True):
        origin = int(small.original[node])
        assert origin == leaf or origin in tree.ancestors(leaf)
    again = small.with_leaves(np.arange(small.n_nodes) == 0)
    assert again.n_nodes == 1 and again.original.tolist() == [0]
    assert (again.apply(X) == 0).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"left": [1, -1, 0, -1, -1]},  # a way that never ends
        {"right": [2, -1, 40, -1, -1]},
        {"splits": [NumericSplit(3, 0.5), None, NumericSplit(0, 1.0), None, None]},
        {"splits": [NumericSplit(-1, 0.5), None, NumericSplit(0, 1.0), None, None]},
        {"splits": [None] * 5},
    ],
)
def test_a_tree_that_does_not_fit_together_is_refused(changes):
    with pytest.raises(ValueError, match=r"children|asks for a feature"):
        small_tree(**changes).apply(np.zeros((1, 3)))


def test_a_table_of_other_width_is_refused():
    with pytest.raises(ValueError, match="3 columns"):
        small_tree().apply(np.zeros((1, 2)))


def break_child(tree):
    tree.left[0] = 10**6


def break_order(tree):
    t = int(np.flatnonzero(tree.left >= 0)[-1])
    tree.left[t] = 0  # a circle


def break_twins(tree):
    tree.right[0] = tree.left[0]


def break_parent(tree):
    tree.parent[3] = 10**6


def break_length(tree):
    tree.error = tree.error[:-1]


def break_one_child(tree):
    tree.right[0] = -1


def break_test(tree):
    tree.splits = (None, *tree.splits[1:])


def break_empty(tree):
    tree.left = tree.left[:0]


BREAKS = [break_child, break_order, break_twins, break_parent, break_length, break_one_child,
          break_test, break_empty]  # fmt: skip


@pytest.mark.parametrize("damage", BREAKS)
def test_arrays_that_are_no_tree_are_refused_before_compiled_code_follows_them(damage):
    tree = random_tree(np.random.default_rng(0), 8)
    pruning_path(tree)
    damage(tree)
    with pytest.raises(ValueError, match="tree"):
        pruning_path(tree)


def test_a_single_leaf_is_a_tree():
    tree = random_tree(np.random.default_rng(0), 0)
    assert len(pruning_path(tree)) == 1
