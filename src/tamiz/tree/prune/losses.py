"""Held-out errors of all sub-trees of a sequence, in one pass over the rows.

A row that ends in some leaf of the full tree ends, in each pruned tree, in one of the nodes above
that leaf. So it is enough to know, for each node, what the rows that pass it would cost if it were
a leaf. That follows from what lies in the leaves, added up towards the root: the mass of each
class, or the first four moments of the target. Each node then counts for the trees in which it is a
leaf, a stretch of the sequence.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit


class Losses(NamedTuple):
    """Sums over held-out rows, for each tree of a sequence; those of several parts can be added.

    Attributes
    ----------
    total, squares : arrays of shape (n_trees,)
        Weighted sums of the losses and of their squares.
    weight, weight_squares : float
        Sum of the weights of the rows and of their squares.
    """

    total: np.ndarray
    squares: np.ndarray
    weight: float
    weight_squares: float

    def at(self, trees: np.ndarray) -> Losses:
        """Those of some trees of the sequence, in this order."""
        return self._replace(total=self.total[trees], squares=self.squares[trees])

    def plus(self, other: Losses) -> Losses:
        """The same trees on both parts."""
        return Losses(
            self.total + other.total,
            self.squares + other.squares,
            self.weight + other.weight,
            self.weight_squares + other.weight_squares,
        )

    @property
    def mean(self) -> np.ndarray:
        """The error of each tree."""
        return self.total / self.weight

    @property
    def standard_error(self) -> np.ndarray:
        """Of the mean; nan for a single row."""
        n = self.weight**2 / self.weight_squares
        if n <= 1.0:
            return np.full(len(self.total), np.nan)
        variance = np.maximum(self.squares / self.weight - self.mean**2, 0.0)
        return np.sqrt(variance / (n - 1.0))


def class_losses(
    tree: Any, last: np.ndarray, n_trees: int, leaf: np.ndarray, codes: np.ndarray,
    weight: np.ndarray, costs: np.ndarray,
) -> Losses:  # fmt: skip
    """Costs of misclassified rows.

    Parameters
    ----------
    tree : Tree
        The full tree.
    last : array of shape (n_nodes,)
        The first tree of the sequence in which each node is not divided.
    n_trees : int
        Length of the sequence.
    leaf : array of shape (n_rows,)
        Leaf of the full tree in which each row ends.
    codes : array of shape (n_rows,)
        Class of each row; -1 for one that the tree does not know. It costs as much as the worst
        mistake.
    weight : array of shape (n_rows,)
        Weights of the rows.
    costs : array of shape (n_classes, n_classes)
        Price of predicting the second where the first is right.
    """
    n_classes = len(costs)
    prices = np.vstack([costs, np.full((1, n_classes), costs.max())])  # the last: unknown class
    codes = np.where(codes < 0, n_classes, codes)
    mass = np.zeros((len(tree.left), n_classes + 1))
    np.add.at(mass, (leaf, codes), weight)
    _add_up(np.asarray(tree.parent, dtype=np.int64), mass)
    chosen = prices[:, tree.prediction.astype(np.intp)].T
    each = np.column_stack([(mass * chosen).sum(axis=1), (mass * chosen**2).sum(axis=1)])
    return _along(tree, last, n_trees, each, weight)


def squared_losses(
    tree: Any, last: np.ndarray, n_trees: int, leaf: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> Losses:
    """Squared differences from the mean of each node; parameters as of :func:`class_losses`."""
    centre = float(tree.prediction[0])  # powers of small numbers lose less
    moments = np.zeros((len(tree.left), 5))
    z = y - centre
    for power in range(5):
        np.add.at(moments[:, power], leaf, weight * z**power)
    _add_up(np.asarray(tree.parent, dtype=np.int64), moments)
    m = tree.prediction - centre
    w, z1, z2, z3, z4 = moments.T
    loss = z2 - 2.0 * m * z1 + m**2 * w
    squares = z4 - 4.0 * m * z3 + 6.0 * m**2 * z2 - 4.0 * m**3 * z1 + m**4 * w
    each = np.column_stack([np.maximum(loss, 0.0), np.maximum(squares, 0.0)])
    return _along(tree, last, n_trees, each, weight)


def _along(
    tree: Any, last: np.ndarray, n_trees: int, each: np.ndarray, weight: np.ndarray
) -> Losses:
    total, squares = sums_along(tree.parent, last, n_trees, each).T
    return Losses(
        np.maximum(total, 0.0), np.maximum(squares, 0.0), float(weight.sum()),
        float((weight**2).sum()),
    )  # fmt: skip


def sums_along(parent: np.ndarray, last: np.ndarray, n_trees: int, each: np.ndarray) -> np.ndarray:
    """Sum over the leaves of each tree of a sequence of what each node has."""
    until = np.where(parent < 0, n_trees, last[np.maximum(parent, 0)])
    change = np.zeros((n_trees + 1, each.shape[1]))
    there = last < until  # others are never a leaf
    np.add.at(change, last[there], each[there])
    np.subtract.at(change, until[there], each[there])
    return np.cumsum(change[:-1], axis=0)


@njit(cache=True)
def _add_up(parent, mass):
    for t in range(len(parent) - 1, 0, -1):
        mass[parent[t]] += mass[t]
