"""Whether arrays are a tree: compiled code goes where they point, and they may come from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tamiz.tree.structure import Tree


def check_shape(tree: Tree) -> Tree:
    """The tree itself, if each node but the root is the child of one node before it."""
    n = len(tree.left)
    left, right, parent = (np.asarray(part) for part in (tree.left, tree.right, tree.parent))
    per_node = (tree.n_samples, tree.weight, tree.value, tree.prediction, tree.impurity, tree.error)
    listed = (tree.splits, tree.surrogates, tree.majority_left, tree.depth)
    if n < 1 or any(len(part) != n for part in (right, parent, *per_node, *listed)):
        raise ValueError("A tree needs at least one node, and every array one entry for each.")
    inner = np.flatnonzero(left >= 0)
    children = np.concatenate([left[inner], right[inner]]).astype(np.int64)
    above = np.concatenate([inner, inner])
    good = (
        ((left >= 0) == (right >= 0)).all()
        and np.array_equal(np.sort(children), np.arange(1, n))
        and (children > above).all()
        and np.array_equal(parent[children], above)
        and parent[0] == -1
    )
    if not good:
        raise ValueError(
            "The nodes do not make a tree: each but the first must be the child of one node before "
            "it."
        )
    if not all(
        (split is None) == (child < 0) for split, child in zip(tree.splits, left, strict=True)
    ):
        raise ValueError("A tree needs a test at every node that has children, and at no other.")
    return tree
