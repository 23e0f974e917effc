"""How much each feature did for a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tamiz.tree.structure import Tree


def impurity_importances(tree: Tree, *, surrogates: bool = False) -> np.ndarray:
    """Decrease of impurity by the tests of each feature, as shares of the whole.

    The test at node ``t`` counts ``w_t i(t) - w_left i(left) - w_right i(right)``. An oblique test
    counts in equal parts for its features.

    Parameters
    ----------
    tree : Tree
        The tree.
    surrogates : bool, default=False
        Count also what each test that stands in would have done: its association times the
        decrease of the test it imitates. A feature that is hidden behind a better one is then seen.

    Returns
    -------
    array of shape (n_features,)
        Not negative; they sum to one unless the tree is a single leaf.
    """
    total = np.zeros(tree.n_features)
    mass = tree.weight * tree.impurity
    for t in np.flatnonzero(tree.left >= 0):
        split = tree.splits[t]
        assert split is not None  # it has children
        less = max(float(mass[t] - mass[tree.left[t]] - mass[tree.right[t]]), 0.0)
        total[list(split.features)] += less / len(split.features)
        if surrogates:
            for other in tree.surrogates[t]:
                total[list(other.features)] += less * max(other.association, 0.0)
    whole = total.sum()
    return total / whole if whole > 0 else total
