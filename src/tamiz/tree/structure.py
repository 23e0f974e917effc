"""A binary tree as arrays: who is whose child, what each node holds, and which question it asks.

Nodes are numbered in the order in which they were made: the root is 0, children come after their
parents. For each node,

- ``value`` is the weight of each class in it, or the mean of the target;
- ``prediction`` is the class of least expected cost (S4 (5)), or the mean;
- ``impurity`` is the impurity per unit of weight;
- ``error`` is ``R(t)``, the cost of the node as a leaf as a fraction of the weight of all training
  samples, so that the sum over the leaves is the training error of the tree (S4 (6)).

To send rows down a tree its questions are laid out as flat arrays once, which are kept for as long
as the tree lives. They are checked on the way: compiled code goes where an index points, and a tree
may come from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
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
        Cost of the node as a leaf, as a fraction of all weight.
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

    def _check_parts(self) -> None:
        """Refuse arrays that lead out of each other; for trees that come from a file."""
        links = (self.left, self.right, self.parent, self.depth, self.original)
        if any(part.dtype.kind != "i" or part.ndim != 1 for part in links):
            raise ValueError("The links of a tree must be integers.")
        check_shape(self)
        again = _parents(self.left, self.right)
        if not all(map(np.array_equal, again, (self.parent, self.depth))):
            raise ValueError("The nodes of a tree do not lie where it says.")
        if self.kind == "classification":
            codes = self.prediction
            inside = codes.dtype.kind == "i" and codes.min() >= 0
            if not inside or codes.max() >= self.value.shape[1]:
                raise ValueError("A leaf of the tree predicts a class that is not there.")
        check_codes(self, lambda feature: _MOST_CODES)

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


#: Fewest rows for which a thread of its own is worth while.
_ROWS = 4096
_MOST_CODES = 1 << 24  # categories that a feature of a tree may have, where they are not known

_NUMERIC, _NOMINAL, _OBLIQUE = 0, 1, 2


class Questions(NamedTuple):
    """All questions of a tree: those of node ``t`` are ``first[t]`` to ``first[t + 1]``.

    The first is the split of the node, the others are its surrogates.
    """

    left: np.ndarray
    right: np.ndarray
    majority_left: np.ndarray
    first: np.ndarray
    kind: np.ndarray
    feature: np.ndarray  # of an oblique split: not used
    threshold: np.ndarray
    missing: np.ndarray
    reverse: np.ndarray
    start: np.ndarray  # of the part of ``table`` or of ``columns`` that belongs to the question
    size: np.ndarray
    table: np.ndarray  # by code: 1 left, 0 right, -1 undecided
    columns: np.ndarray
    coefficients: np.ndarray


_laid_out: WeakKeyDictionary[Any, Questions] = WeakKeyDictionary()


def route(tree: Tree, X: np.ndarray) -> np.ndarray:
    """The leaf (int32) that each row of a C-contiguous float64 table ends in."""
    questions = _laid_out.get(tree)
    if questions is None:
        questions = _laid_out[tree] = lay_out(tree)
    X = np.ascontiguousarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != tree.n_features:
        raise ValueError(
            f"The tree takes tables of {tree.n_features} columns; this one has shape {X.shape}."
        )
    leaf = np.empty(len(X), dtype=np.int32)
    if len(X):
        run_tiles(_descend, len(X), X, questions, leaf, min_items=_ROWS)
    return leaf


def check_children(left: np.ndarray, right: np.ndarray) -> None:
    """Refuse a tree with a way that does not end in a leaf."""
    n = len(left)
    inner = np.flatnonzero(left >= 0)
    for child in (left, right):
        if child.shape != (n,) or not ((child[inner] > inner) & (child[inner] < n)).all():
            raise ValueError("The children of a tree must come after their parents.")


def _are_below(numbers: Iterable[Any], most: int) -> bool:
    return all(isinstance(one, (int, np.integer)) and 0 <= one < most for one in numbers)


def check_codes(tree: Tree, n_codes: Callable[[int], int]) -> None:
    """Refuse questions for features that are not there, or for more categories than they have."""
    for asked in (split for all_of in (tree.splits, *tree.surrogates) for split in all_of):
        split = asked.split if isinstance(asked, Surrogate) else asked
        if split is None:
            continue
        if not _are_below(split.features, tree.n_features):
            raise ValueError("A node of the tree asks for a feature that is not there.")
        codes = split.left | split.right if isinstance(split, NominalSplit) else frozenset()
        if not _are_below(codes, n_codes(split.features[0])):
            raise ValueError("A node of the tree asks for a category that is not there.")


def lay_out(tree: Tree) -> Questions:
    """The questions of a tree as arrays."""
    n, p = tree.n_nodes, tree.n_features
    check_shape(tree)
    inner = tree.left >= 0
    first = np.zeros(n + 1, dtype=np.int64)
    cells: list[tuple[int, int, float, int, int, int, int]] = []
    table: list[int] = []
    columns: list[int] = []
    coefficients: list[float] = []
    for t in range(n):
        if inner[t]:
            for asked in (tree.splits[t], *tree.surrogates[t]):
                reverse = isinstance(asked, Surrogate) and asked.reverse
                split = asked.split if isinstance(asked, Surrogate) else asked
                if split is None or any(not 0 <= j < p for j in split.features):
                    raise ValueError(f"Node {t} of the tree asks for a feature that is not there.")
                match split:
                    case NumericSplit(j, threshold, missing):
                        cells.append((_NUMERIC, j, threshold, missing, reverse, 0, 0))
                    case NominalSplit(j, left, right, missing):
                        codes = [UNDECIDED] * (1 + max((*left, *right)))
                        for code in right:
                            codes[code] = 0
                        for code in left:
                            codes[code] = 1
                        where = len(table)
                        cells.append((_NOMINAL, j, 0.0, missing, reverse, where, len(codes)))
                        table.extend(codes)
                    case ObliqueSplit(js, a, threshold):
                        where = len(columns)
                        cells.append((_OBLIQUE, js[0], threshold, -1, reverse, where, len(js)))
                        columns.extend(js)
                        coefficients.extend(float(value) for _, value in zip(js, a, strict=True))
                    case _:
                        raise TypeError(f"{type(split).__name__} is not a split of a tree.")
        first[t + 1] = len(cells)
    columns_of: list[Any] = list(zip(*cells, strict=True)) if cells else [()] * 7
    kind, feature, limit, missing, turned, start, size = columns_of
    return Questions(
        np.ascontiguousarray(tree.left, dtype=np.int32),
        np.ascontiguousarray(tree.right, dtype=np.int32),
        np.ascontiguousarray(tree.majority_left, dtype=np.bool_),
        first,
        np.array(kind, dtype=np.int8),
        np.array(feature, dtype=np.int32),
        np.array(limit, dtype=np.float64),
        np.array(missing, dtype=np.int8),
        np.array(turned, dtype=np.bool_),
        np.array(start, dtype=np.int64),
        np.array(size, dtype=np.int64),
        np.array(table, dtype=np.int8),
        np.array(columns, dtype=np.int32),
        np.array(coefficients, dtype=np.float64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(begin, end, X, questions, leaf):
    # taken out of the tuple once: in the loop each access would cost a count of references
    left, right, first = questions.left, questions.right, questions.first
    kind, feature, threshold = questions.kind, questions.feature, questions.threshold
    reverse, missing, majority_left = questions.reverse, questions.missing, questions.majority_left
    start, size, table = questions.start, questions.size, questions.table
    columns, coefficients = questions.columns, questions.coefficients
    for i in range(begin, end):
        t = 0
        while left[t] >= 0:
            q = first[t]
            side = -1
            while side < 0 and q < first[t + 1]:
                x = X[i, feature[q]]
                if kind[q] == _OBLIQUE:
                    total = 0.0
                    for k in range(start[q], start[q] + size[q]):
                        total += coefficients[k] * X[i, columns[k]]
                    if total == total:
                        side = 1 if total <= threshold[q] else 0
                elif x != x:
                    side = missing[q]
                elif kind[q] == _NUMERIC:
                    side = 1 if x <= threshold[q] else 0
                elif 0 <= x < size[q]:
                    side = table[start[q] + int(x)]
                if side >= 0 and reverse[q]:
                    side = 1 - side
                q += 1
            if side < 0:
                side = 1 if majority_left[t] else 0
            t = left[t] if side == 1 else right[t]
        leaf[i] = t


def impurity_importances(tree: Tree, *, surrogates: bool = False) -> np.ndarray:
    """Decrease of impurity by the tests of each feature, as fractions of the whole.

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
