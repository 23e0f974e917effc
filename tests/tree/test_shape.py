"""Arrays that are no tree are refused before compiled code follows them."""

from __future__ import annotations

import numpy as np
import pytest

from tamiz.tree._shape import check_shape
from tamiz.tree.prune.pruning import pruning_path
from tests.tree.trees import random_tree


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
def test_what_is_no_tree_is_refused(damage):
    tree = random_tree(np.random.default_rng(0), 8)
    assert check_shape(tree) is tree
    damage(tree)
    with pytest.raises(ValueError, match="tree"):
        pruning_path(tree)


def test_a_single_leaf_is_a_tree():
    tree = random_tree(np.random.default_rng(0), 0)
    assert len(pruning_path(tree)) == 1
