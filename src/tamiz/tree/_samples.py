"""What the growers take and give: samples sorted once, rules and limits; then the tree.

``keys[j]`` holds one integer for each sample, the rank of its value of feature ``j`` in the upper
half and its row in the lower half, in ascending order. A node of the tree is a range of places, the
same for all features: when it is split, both halves of each feature are put side by side in their
old order, and nothing is ever sorted again.
"""

from __future__ import annotations

from threading import Event
from typing import NamedTuple

import numpy as np

from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.tree.impurity import MISSING, ROW, Criterion, logarithms
from tamiz.tree.splits import Split, Surrogate
from tamiz.tree.structure import Tree


class SortedSamples(NamedTuple):
    """What compiled code needs of the samples."""

    keys: np.ndarray  # int64 (features, samples)
    y: np.ndarray  # class codes (zeros in a regression)
    t: np.ndarray  # targets, about their mean (empty in a classification)
    w: np.ndarray  # weights
    g: np.ndarray  # weights that count in the impurity
    costs: np.ndarray  # C[i, j] of calling class i by the name of j
    table: np.ndarray  # k log k, see logarithms
    n_levels: np.ndarray  # distinct values of each feature


class Levels(NamedTuple):
    """The distinct values of each feature, in ascending order: those that ranks stand for."""

    values: np.ndarray
    first: np.ndarray

    def between(self, j: int, low: int, high: int) -> float:
        """The threshold half-way between two ranks; it is at least the lower value, and below
        the higher."""
        a, b = self.values[self.first[j] + low], self.values[self.first[j] + high]
        middle = float(a) / 2 + float(b) / 2
        return middle if a <= middle < b else float(a)


class Rules(NamedTuple):
    """When a leaf may be split."""

    criterion: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float  # above 0
    min_balance: float
    max_depth: int
    min_decrease: float  # of the total impurity
    by_decrease: bool  # which leaf is next: of largest decrease, else of largest impurity


#: Tables of so few cells are sorted at once: a loop over columns would take longer.
_SMALL = 100_000


def unit_of(values: np.ndarray) -> float:
    """A power of two to multiply numbers with so that their squares are neither lost nor infinite.

    It is 1 for the numbers that one meets, whose digits stay as they are in any case.
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    return 1.0 if abs(exponent) < 200 else float(np.ldexp(1.0, max(-1000, min(1000, -exponent))))


def sort(X: np.ndarray, nominal: np.ndarray) -> tuple[np.ndarray, Levels]:
    """Keys and levels of a table; a missing value has the rank ``MISSING``."""
    n, p = X.shape
    if n * p <= _SMALL and not nominal.any() and not np.isnan(X).any():
        return _sort_at_once(X)
    keys = np.empty((p, n), dtype=np.int64)
    values: list[np.ndarray] = [np.empty(0)] * p
    halt = Event()
    run_tiles(_sort_columns, p, X, nominal, keys, values, halt, stop=halt)
    first = np.concatenate([[0], np.cumsum([len(v) for v in values])]).astype(np.int64)
    return keys, Levels(np.concatenate(values), first)


def _sort_at_once(X: np.ndarray) -> tuple[np.ndarray, Levels]:
    """A small table of numbers, without a loop over its columns."""
    columns = np.ascontiguousarray(X.T)
    order = np.argsort(columns, axis=1)
    values = np.take_along_axis(columns, order, axis=1)
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    rank = np.cumsum(new, axis=1) - 1
    first = np.concatenate([[0], np.cumsum(new.sum(axis=1))]).astype(np.int64)
    return (rank << 32) | order, Levels(values[new], first)


def _sort_columns(
    start: int,
    stop: int,
    X: np.ndarray,
    nominal: np.ndarray,
    keys: np.ndarray,
    values: list[np.ndarray],
    halt: Event,
) -> None:
    for j in range(start, stop):
        if halt.is_set():
            return
        x = np.ascontiguousarray(X[:, j])
        order = np.argsort(x)
        x = x[order]
        known = len(x) - int(np.count_nonzero(np.isnan(x)))
        rank = np.full(len(x), MISSING, dtype=np.int64)
        if nominal[j]:
            rank[:known] = x[:known].astype(np.int64)
            values[j] = np.arange(float(rank[known - 1] + 1)) if known else np.empty(0)
        elif known:
            new = np.ones(known, dtype=bool)
            new[1:] = x[1:known] != x[: known - 1]
            rank[:known] = np.cumsum(new) - 1
            values[j] = x[:known][new]
        keys[j] = (rank << 32) | order


def samples_of(
    keys: np.ndarray,
    levels: Levels,
    criterion: Criterion,
    *,
    y: np.ndarray | None,
    t: np.ndarray | None,
    weight: np.ndarray,
    growth: np.ndarray,
    costs: np.ndarray,
) -> SortedSamples:
    """Collect what the growers need."""
    n = keys.shape[1]
    table = logarithms(growth) if criterion is Criterion.ENTROPY else np.empty(0)
    return SortedSamples(
        keys,
        np.zeros(n, dtype=np.int32) if y is None else np.ascontiguousarray(y, dtype=np.int32),
        np.zeros(0) if t is None else np.ascontiguousarray(t, dtype=np.float64),
        np.ascontiguousarray(weight, dtype=np.float64),
        np.ascontiguousarray(growth, dtype=np.float64),
        np.ascontiguousarray(costs, dtype=np.float64),
        table,
        np.diff(levels.first),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def divide(first, last, keys, begin, end, goes_left):
    """Put the samples of a node that go left before the others, in features first to last.

    The order on each side stays. ``goes_left`` is by row. Returns the number that go left.
    """
    spare = np.empty(end - begin, dtype=np.int64)
    n_left = 0
    for j in range(first, last):
        place, aside = begin, 0
        for i in range(begin, end):
            key = keys[j, i]
            to_left = int(goes_left[key & ROW])
            keys[j, place] = key  # never ahead of i, so nothing unread is lost
            spare[aside] = key
            place += to_left
            aside += 1 - to_left
        for i in range(aside):
            keys[j, place + i] = spare[i]
        n_left = place - begin
    return n_left


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
