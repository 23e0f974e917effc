"""What every grower is told and gives back, and how a tree is made of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tamiz.tree.splits import Split, Surrogate
from tamiz.tree.structure import Tree


class Limits(NamedTuple):
    """When growth as a whole stops."""

    max_leaves: float = np.inf
    max_mean_depth: float = np.inf
    max_error: float = -1.0  # stop as soon as the training error is not above

    @property
    def none(self) -> bool:
        """Whether every leaf is split that may be."""
        return bool(
            np.isinf(self.max_leaves) and np.isinf(self.max_mean_depth) and self.max_error < 0.0
        )


class Growth(NamedTuple):
    """A tree in the making, nodes in the order in which they were made."""

    left: np.ndarray
    right: np.ndarray
    impurity: np.ndarray  # totals
    splits: list[Split | None]
    surrogates: list[tuple[Surrogate, ...]] | None
    majority_left: np.ndarray | None
    leaf: np.ndarray  # of each training sample


def classification_tree(
    growth: Growth, n_features: int, y: np.ndarray, weight: np.ndarray, costs: np.ndarray
) -> Tree:
    """The tree with the classes of its nodes."""
    n_nodes, n_classes = len(growth.left), len(costs)
    cell = growth.leaf.astype(np.intp) * n_classes + y
    value = np.bincount(cell, weights=weight, minlength=n_nodes * n_classes)
    value = value.reshape(n_nodes, n_classes)
    n_samples = np.bincount(growth.leaf, minlength=n_nodes)
    _sum_up(growth.left, growth.right, value, n_samples)
    cost = value @ costs
    least = cost.min(axis=1, keepdims=True)
    total = value.sum(axis=1)
    # of labels that cost the same, the class that is more frequent in all of the data
    tied = cost <= least * (1.0 + 1e-12)
    prediction = np.where(tied, value[0], -1.0).argmax(axis=1)
    impurity, error = _divided(growth.impurity, total), _divided(least[:, 0], total[0])
    return Tree(
        "classification",
        n_features,
        left=growth.left,
        right=growth.right,
        n_samples=n_samples,
        weight=total,
        value=value,
        prediction=prediction,
        impurity=impurity,
        error=error,
        splits=growth.splits,
        surrogates=growth.surrogates,
        majority_left=growth.majority_left,
    )


def regression_tree(growth: Growth, n_features: int, y: np.ndarray, weight: np.ndarray) -> Tree:
    """The tree with the means of its nodes."""
    n_nodes = len(growth.left)
    centre = float(np.average(y, weights=weight))
    sums = np.column_stack(
        [
            np.bincount(growth.leaf, weights=weight, minlength=n_nodes),
            np.bincount(growth.leaf, weights=weight * (y - centre), minlength=n_nodes),
        ]
    )
    n_samples = np.bincount(growth.leaf, minlength=n_nodes)
    low, high = np.full(n_nodes, np.inf), np.full(n_nodes, -np.inf)
    np.minimum.at(low, growth.leaf, y)
    np.maximum.at(high, growth.leaf, y)
    _sum_up(growth.left, growth.right, sums, n_samples)
    total = sums[:, 0]
    leaf = growth.left < 0
    # the mean of equal numbers is that number, without rounding
    mean = np.where(leaf & (low == high), low, sums[:, 1] / total + centre)
    return Tree(
        "regression",
        n_features,
        left=growth.left,
        right=growth.right,
        n_samples=n_samples,
        weight=total,
        value=mean[:, None],
        prediction=mean,
        impurity=_divided(growth.impurity, total),
        error=_divided(growth.impurity, total[0]),
        splits=growth.splits,
        surrogates=growth.surrogates,
        majority_left=growth.majority_left,
    )


def _divided(sums: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Sums for a unit of weight.

    Where it divides by a denormal number, NumPy 1.26 reports an overflow in lanes that it does
    not use.
    """
    with np.errstate(over="ignore"):
        return sums / total


@njit(cache=True)
def _sum_up(left, right, totals, counts):
    """Add the totals of the children to those of their parents, from the leaves up."""
    for t in range(len(left) - 1, -1, -1):
        if left[t] >= 0:
            for k in range(totals.shape[1]):
                totals[t, k] = totals[left[t], k] + totals[right[t], k]
            counts[t] = counts[left[t]] + counts[right[t]]
