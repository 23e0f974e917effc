"""A binary tree as arrays: who is whose child, what each node holds, and which question it asks.

Nodes are numbered in the order in which they were made: the root is 0, children come after their
parents. For each node,

- ``value`` is the weight of each class in it, or the mean of the target;
- ``prediction`` is the class of least expected cost (S4 (5)), or the mean;
- ``impurity`` is the impurity per unit of weight;
- ``error`` is ``R(t)``, the cost of the node as a leaf as a share of the weight of all training
  samples, so that the sum over the leaves is the training error of the tree (S4 (6)).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tamiz.tree._routing import check_children, route
from tamiz.tree.splits import (
    LEFT,
    RIGHT,
    UNDECIDED,
    NominalSplit,
    NumericSplit,
    ObliqueSplit,
    Split,
    Surrogate,
)

__all__ = [
    "LEFT",
    "RIGHT",
    "UNDECIDED",
    "NominalSplit",
    "NumericSplit",
    "ObliqueSplit",
    "Split",
    "Surrogate",
    "Tree",
]


class Tree:
    """A grown tree.

    Parameters
    ----------
    kind : {"classification", "regression"}
        What the leaves hold.
    n_features : int
        Columns of the tables that it takes.
    left, right : int arrays of shape (n_nodes,)
        Children; -1 at leaves.
    n_samples : int array
        Training samples in the node.
    weight : array
        Sum of their weights.
    value : array of shape (n_nodes, n_classes) or (n_nodes, 1)
        Weight of each class, or the mean.
    prediction : array
        Code of the predicted class, or the mean.
    impurity : array
        Impurity for each unit of weight.
    error : array
        Cost of the node as a leaf, as a share of all weight.
    splits : sequence of Split or None
        The question of each node; None at leaves.
    surrogates : sequence of tuples of Surrogate, optional
        Stand-ins for each question, best first.
    majority_left : bool array, optional
        Whether a sample goes left that no question can place: the larger child.
    original : int array, optional
        Of a pruned copy: the number that each node had in the tree it was cut from.

    Attributes
    ----------
    parent, depth : int arrays
        Parent (-1 for the root), and number of questions above.
    """

    def __init__(
        self,
        kind: str,
        n_features: int,
        *,
        left: Any,
        right: Any,
        n_samples: Any,
        weight: Any,
        value: Any,
        prediction: Any,
        impurity: Any,
        error: Any,
        splits: Sequence[Split | None],
        surrogates: Sequence[tuple[Surrogate, ...]] | None = None,
        majority_left: Any = None,
        original: Any = None,
    ):
        self.kind = kind
        self.n_features = int(n_features)
        self.left = np.asarray(left, dtype=np.int32)
        self.right = np.asarray(right, dtype=np.int32)
        check_children(self.left, self.right)
        self.n_samples = np.asarray(n_samples, dtype=np.int64)
        self.weight = np.asarray(weight, dtype=np.float64)
        self.value = np.asarray(value, dtype=np.float64)
        self.prediction = np.asarray(
            prediction, dtype=np.intp if kind == "classification" else np.float64
        )
        self.impurity = np.asarray(impurity, dtype=np.float64)
        self.error = np.asarray(error, dtype=np.float64)
        self.splits = tuple(splits)
        n = len(self.left)
        self.surrogates = ((),) * n if surrogates is None else tuple(surrogates)
        if majority_left is None:
            inner = self.left >= 0
            majority_left = np.zeros(n, dtype=bool)
            majority_left[inner] = self.weight[self.left[inner]] >= self.weight[self.right[inner]]
        self.majority_left = np.asarray(majority_left, dtype=bool)
        self.original = np.arange(n) if original is None else np.asarray(original, dtype=np.intp)
        self.parent, self.depth = _parents(self.left, self.right)

    def __repr__(self) -> str:
        return f"<Tree for {self.kind}: {self.n_leaves} leaves, depth {self.max_depth}>"

    # ------------------------------------------------------------------------------- sizes

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.left)

    @property
    def is_leaf(self) -> np.ndarray:
        """Mask of the leaves."""
        return self.left < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.left < 0))

    def leaves(self) -> np.ndarray:
        """Numbers of the leaves."""
        return np.flatnonzero(self.left < 0)

    @property
    def max_depth(self) -> int:
        """Questions on the longest way to a leaf."""
        return int(self.depth.max())

    @property
    def mean_depth(self) -> float:
        """Mean number of questions for a training sample: the sum of ``w_t l(t) / w``."""
        leaf = self.is_leaf
        return float(self.weight[leaf] @ self.depth[leaf] / self.weight[0])

    @property
    def training_error(self) -> float:
        """Sum of the errors of the leaves."""
        return float(self.error[self.is_leaf].sum())

    # ------------------------------------------------------------------------------- kin

    def ancestors(self, node: int) -> list[int]:
        """The nodes above, the root first."""
        above: list[int] = []
        at = int(self.parent[node])
        while at >= 0:
            above.append(at)
            at = int(self.parent[at])
        return above[::-1]

    def descendants(self, node: int) -> np.ndarray:
        """All nodes below, in ascending order."""
        below = np.zeros(self.n_nodes, dtype=bool)
        below[node] = True
        for t in range(node + 1, self.n_nodes):
            below[t] = below[self.parent[t]]
        below[node] = False
        return np.flatnonzero(below)

    # ------------------------------------------------------------------------------- samples

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The leaf that each row of an internal table (codes, NaN where missing) ends in."""
        return route(self, X)

    def decision_path(self, X: np.ndarray) -> np.ndarray:
        """Mask (rows, nodes) of the nodes that each row passes, its leaf included."""
        passed = np.zeros((len(X), self.n_nodes), dtype=bool)
        at = self.apply(X).astype(np.intp)
        rows = np.arange(len(X))
        while len(rows):
            passed[rows, at] = True
            at = self.parent[at].astype(np.intp)
            rows, at = rows[at >= 0], at[at >= 0]
        return passed

    def with_leaves(self, cut: Any) -> Tree:
        """A copy in which the marked nodes have become leaves, and what was below them is gone.

        Parameters
        ----------
        cut : bool array of shape (n_nodes,)
            The nodes to make leaves.
        """
        cut = np.asarray(cut, dtype=bool)
        kept = np.ones(self.n_nodes, dtype=bool)
        for t in range(1, self.n_nodes):
            above = self.parent[t]
            kept[t] = kept[above] and not cut[above]
        ids = np.flatnonzero(kept)
        number = np.full(self.n_nodes + 1, -1, dtype=np.int32)  # the last is for "no child"
        number[ids] = np.arange(len(ids))
        leaf = cut[ids] | self.is_leaf[ids]
        return Tree(
            self.kind,
            self.n_features,
            left=np.where(leaf, -1, number[self.left[ids]]),
            right=np.where(leaf, -1, number[self.right[ids]]),
            n_samples=self.n_samples[ids],
            weight=self.weight[ids],
            value=self.value[ids],
            prediction=self.prediction[ids],
            impurity=self.impurity[ids],
            error=self.error[ids],
            splits=[None if end else self.splits[t] for t, end in zip(ids, leaf, strict=True)],
            surrogates=[
                () if end else self.surrogates[t] for t, end in zip(ids, leaf, strict=True)
            ],
            majority_left=np.where(leaf, False, self.majority_left[ids]),
            original=self.original[ids],
        )


def _parents(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parent and depth of each node; children come after their parents."""
    n = len(left)
    parent = np.full(n, -1, dtype=np.int32)
    depth = np.zeros(n, dtype=np.int32)
    inner = np.flatnonzero(left >= 0)
    parent[left[inner]] = inner
    parent[right[inner]] = inner
    for t in range(1, n):
        depth[t] = depth[parent[t]] + 1
    return parent, depth
