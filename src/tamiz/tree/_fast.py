"""Grow a whole tree in compiled code: numbers without missing values, splits on one feature.

Two ways lead to the same tree. With a limit on its size, the leaf that is next in line is split
until the limit is reached. Without one the order does not matter: a few leaves are split in that
order, then the branches are grown side by side, each in a line of its own and in samples that stay
in the cache, and the nodes get the numbers that they would have got in line.

A compiled function is compiled once more inside each function that calls it, so there are few
steps from one to the next here.
"""

from __future__ import annotations

import threading
import warnings
from typing import NamedTuple

import numpy as np

from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import n_threads, run_tiles
from tamiz.tree._samples import Growth, Levels, Limits, Rules, SortedSamples, divide
from tamiz.tree.impurity import (
    ROUNDING,
    ROW,
    Need,
    add,
    best_cut,
    cheapest,
    preferred,
    put,
    score_of,
    smallest_side,
    weigh,
)
from tamiz.tree.splits import NumericSplit
from tamiz.validation import depth_of_caller, is_inner_fit

#: Splits between two looks at the clock and at Ctrl-C.
_STEPS = 256

#: Fewest samples for which branches are grown side by side.
_BRANCHES = 5_000

INTERRUPTED = "Growth was interrupted; the tree is kept as far as it had grown."


def grow_fast(
    samples: SortedSamples, levels: Levels, rules: Rules, limits: Limits, verbose: bool | int = 0
) -> Growth:
    """Grow a tree on features without missing values and without nominal ones."""
    n = samples.keys.shape[1]
    capacity = 2 * n - 1
    if np.isfinite(limits.max_leaves):
        capacity = int(min(capacity, 2 * max(1, limits.max_leaves) - 1))
    nodes = new_nodes(capacity)
    goes_left = np.zeros(n, dtype=np.int8)
    make(0, 0, n, 0, samples, rules, nodes)
    totals = np.array([*limits, 0.0, nodes.cost[0]])
    heap = np.zeros(capacity, dtype=np.int64)
    size, n_nodes = int(nodes.feature[0] >= 0), 1
    done, order = False, None
    side_by_side = limits.none and n >= _BRANCHES
    with Progress("growing a tree", verbose) as progress:
        try:
            while not done:
                size, n_nodes, done = grow_in_line(
                    heap, size, n_nodes, totals, samples, rules, nodes, goes_left,
                    16 * n_threads() if side_by_side else _STEPS,
                )  # fmt: skip
                progress.update(f"{(n_nodes + 1) // 2:,} leaves")
                if side_by_side and not done:
                    branches = Branches(heap[:size], n_nodes, samples, rules, nodes, goes_left)
                    branches.grow(progress)
                    n_nodes, done = branches.n_nodes, True
                    order = line_up(nodes, n_nodes)
        except KeyboardInterrupt:
            if is_inner_fit():
                raise
            warnings.warn(INTERRUPTED, UserWarning, stacklevel=depth_of_caller())
            if side_by_side:
                n_nodes = _reached(nodes)
                order = line_up(nodes, n_nodes)
    return _collect(nodes, order if order is not None else np.arange(n_nodes), samples, levels)


class Branches:
    """Grows the branches below some nodes to their end, side by side.

    Parameters
    ----------
    roots : int array
        The nodes that the branches hang on.
    n_nodes : int
        Number of nodes so far. New ones are numbered from there, each branch in a range of its own
        that is large enough, so that numbers have holes.
    samples, rules, nodes, goes_left
        As the compiled builder takes them.
    """

    def __init__(
        self,
        roots: np.ndarray,
        n_nodes: int,
        samples: SortedSamples,
        rules: Rules,
        nodes: Nodes,
        goes_left: np.ndarray,
    ):
        sizes = nodes.end[roots] - nodes.begin[roots]
        order = np.argsort(-sizes, kind="stable")
        self.roots, self.sizes = roots[order], sizes[order]
        self.first = n_nodes + np.concatenate([[0], np.cumsum(2 * self.sizes - 2)[:-1]])
        self.n_nodes = n_nodes
        self._arrays = (samples, rules, nodes, goes_left)
        self._stop = threading.Event()

    def grow(self, progress: Progress) -> None:
        """Grow all, a few at a time."""
        # large and small branches by turns, so that all threads get their share
        threads = n_threads()
        for start in range(0, len(self.roots), 4 * threads):
            part = np.arange(start, min(start + 4 * threads, len(self.roots)))
            dealt = np.concatenate([part[k::threads] for k in range(threads)])
            self.n_nodes += sum(run_tiles(self._work, len(dealt), dealt, stop=self._stop))
            progress.update(f"{(self.n_nodes + 1) // 2:,} leaves")

    def _work(self, start: int, stop: int, dealt: np.ndarray) -> int:
        """Grow some; returns the number of new nodes."""
        made = 0
        for k in dealt[start:stop].tolist():
            heap = np.empty(self.sizes[k], dtype=np.int64)
            heap[0] = self.roots[k]
            free = int(self.first[k])
            limits = np.array([np.inf, np.inf, -np.inf, 0.0, 0.0])  # none
            size, n_nodes, done = 1, free, False
            while not (done or self._stop.is_set()):
                size, n_nodes, done = grow_in_line(
                    heap, size, n_nodes, limits, *self._arrays, _STEPS
                )
            made += n_nodes - free
        return made


def _reached(nodes: Nodes) -> int:
    """Number of nodes that hang on the root."""
    stack, count = [0], 0
    while stack:
        t = stack.pop()
        count += 1
        if nodes.left[t] >= 0:
            stack += [int(nodes.left[t]), int(nodes.right[t])]
    return count


def _collect(nodes: Nodes, order: np.ndarray, samples: SortedSamples, levels: Levels) -> Growth:
    """The nodes in their order; thresholds in place of ranks."""
    number = np.full(len(nodes.left) + 1, -1, dtype=np.int32)
    number[order] = np.arange(len(order))
    left, right = number[nodes.left[order]], number[nodes.right[order]]
    inner = np.flatnonzero(left >= 0)
    leaf = np.empty(samples.keys.shape[1], dtype=np.int32)
    rows = samples.keys[0] & ROW
    for t in np.flatnonzero(left < 0).tolist():
        leaf[rows[nodes.begin[order[t]] : nodes.end[order[t]]]] = t
    splits: list[NumericSplit | None] = [None] * len(order)
    feature, low, high = (a[order][inner] for a in (nodes.feature, nodes.low, nodes.high))
    a, b = levels.values[levels.first[feature] + low], levels.values[levels.first[feature] + high]
    middle = a / 2 + b / 2
    middle = np.where((a <= middle) & (middle < b), middle, a)
    for t, j, threshold in zip(inner.tolist(), feature.tolist(), middle.tolist(), strict=True):
        splits[t] = NumericSplit(j, threshold)
    return Growth(left, right, nodes.impurity[order], list(splits), None, None, leaf)


_SQUARED = 3


class Nodes(NamedTuple):
    """Nodes in the making; those that are not split have ``left`` -1."""

    left: np.ndarray
    right: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    depth: np.ndarray
    impurity: np.ndarray  # total, in units of growth weight
    cost: np.ndarray  # total, as a leaf
    weight: np.ndarray
    feature: np.ndarray  # of the best split; -1 if there is none
    low: np.ndarray  # ranks on both sides of its threshold
    high: np.ndarray
    gain: np.ndarray
    priority: np.ndarray


def new_nodes(capacity: int) -> Nodes:
    """Room for nodes."""
    whole = {name: np.full(capacity, -1, dtype=np.int32) for name in ("left", "right", "feature")}
    return Nodes(
        **whole,
        **{name: np.zeros(capacity, dtype=np.int64) for name in ("begin", "end", "low", "high")},
        depth=np.zeros(capacity, dtype=np.int32),
        **{name: np.zeros(capacity) for name in ("impurity", "cost", "weight", "gain", "priority")},
    )


@njit(cache=True, nogil=True, error_model="numpy")
def make(node, begin, end, depth, samples, rules, nodes):
    """Describe a node, and find its best split if it may be split."""
    keys, y, t, _w, g, costs, table, n_levels = samples
    criterion = rules.criterion
    n = end - begin
    n_totals = 2 if criterion == _SQUARED else len(costs)
    mass = np.zeros(n_totals)
    nodes.begin[node], nodes.end[node], nodes.depth[node] = begin, end, depth
    nodes.left[node] = nodes.right[node] = nodes.feature[node] = -1
    impurity, cost, weight, mean, mixed = describe(keys[0, begin:end], samples, criterion, mass)
    nodes.impurity[node], nodes.cost[node], nodes.weight[node] = impurity, cost, weight
    nodes.gain[node] = nodes.priority[node] = 0.0
    least = smallest_side(n, rules.min_samples_leaf, rules.min_balance)
    if (
        not mixed
        or n < rules.min_samples_split
        or n < 2 * least
        or (rules.max_depth >= 0 and depth >= rules.max_depth)
    ):
        return
    slack = ROUNDING * impurity
    need = Need(least, rules.min_weight_leaf, slack)
    best, best_balance, best_gap, feature, at = -np.inf, 0.0, 0.0, -1, -1
    none = n - n  # numba would compile once more for the constant 0
    nothing, left, right = np.zeros(n_totals), np.zeros(n_totals), np.zeros(n_totals)
    for j in range(keys.shape[0]):
        column = keys[j, begin:end]
        if column[0] >> 32 == column[n - 1] >> 32:
            continue
        put(left, nothing)
        put(right, mass)
        score, balance, i = best_cut(
            criterion, column, y, t, g, mean, costs, table, left, right, none, none, need
        )
        if i >= 0:
            gap = ((column[i + 1] >> 32) - (column[i] >> 32)) / n_levels[j]
            if preferred(score, balance, gap, best, best_balance, best_gap, slack):
                best, best_balance, best_gap = max(best, score), balance, gap
                feature, at = j, i
    if feature < 0:
        return
    gain = max(0.0, best - score_of(criterion, mass, costs, table))
    if gain < rules.min_decrease:
        return
    nodes.feature[node] = feature
    nodes.low[node] = keys[feature, begin + at] >> 32
    nodes.high[node] = keys[feature, begin + at + 1] >> 32
    nodes.gain[node] = gain
    nodes.priority[node] = gain if rules.by_decrease else impurity


@njit(cache=True, nogil=True, error_model="numpy")
def describe(column, samples, criterion, mass):
    """Totals of a node: impurity, cost as a leaf, weight, mean, and whether it is mixed at all.

    ``mass`` is filled with the totals for scores, in a regression about the mean.
    """
    _keys, y, t, w, g, costs, table, _n_levels = samples
    weight, mean, low, high = 0.0, 0.0, np.inf, -np.inf
    if criterion == _SQUARED:
        for i in range(len(column)):
            row = column[i] & ROW
            weight += g[row]
            mean += g[row] * t[row]
            low, high = min(low, t[row]), max(high, t[row])
        mean = mean / weight if low < high else low
        squares = 0.0
        for i in range(len(column)):
            row = column[i] & ROW
            add(criterion, mass, row, y, t, g, mean)
            squares += g[row] * (t[row] - mean) * (t[row] - mean)
        return squares, squares, weight, mean, low < high
    first = y[column[0] & ROW]
    true, mixed = np.zeros(len(mass)), False
    for i in range(len(column)):
        row = column[i] & ROW
        mass[y[row]] += g[row]
        true[y[row]] += w[row]
        mixed |= y[row] != first
    if criterion == 0:
        impurity = weigh(criterion, mass) - score_of(criterion, mass, costs, table)
    else:
        impurity = -score_of(criterion, mass, costs, table)
    return max(0.0, impurity), cheapest(true, costs)[1], weigh(criterion, true), mean, mixed


@njit(cache=True, nogil=True, error_model="numpy")
def grow_in_line(heap, size, n_nodes, limits, samples, rules, nodes, goes_left, most):
    """Split the leaf that is first in line, at most ``most`` times.

    ``limits`` holds the most leaves, the mean depth and the error not to exceed and to reach, then
    (as running totals) the summed depth and cost. New nodes are numbered from ``n_nodes``. Returns
    the size of the line and the number of nodes, and whether a limit was reached.
    """
    keys = samples.keys
    weight = nodes.weight[0]
    for _ in range(most):
        if size == 0:
            return size, n_nodes, True
        node = heap[0]
        if (n_nodes + 1) // 2 >= limits[0] or limits[4] / weight <= limits[2]:
            return size, n_nodes, True
        if limits[3] + nodes.weight[node] > (limits[1] + 1e-12) * weight:
            return size, n_nodes, True
        size = _pop(heap, size, nodes.priority)
        begin, end, low = nodes.begin[node], nodes.end[node], nodes.low[node]
        for i in range(begin, end):
            key = keys[nodes.feature[node], i]
            goes_left[key & ROW] = 1 if key >> 32 <= low else 0
        start = end - end  # numba would compile once more for the constant 0
        middle = begin + divide(start, keys.shape[0], keys, begin, end, goes_left)
        limits[3] += nodes.weight[node]
        limits[4] -= nodes.cost[node]
        for side in range(2):
            child = n_nodes + side
            if side == 0:
                nodes.left[node], first, last = child, begin, middle
            else:
                nodes.right[node], first, last = child, middle, end
            make(child, first, last, nodes.depth[node] + 1, samples, rules, nodes)
            limits[4] += nodes.cost[child]
            if nodes.feature[child] >= 0:
                size = _push(heap, size, child, nodes.priority)
        n_nodes += 2
    return size, n_nodes, False


@njit(cache=True, nogil=True, error_model="numpy")
def line_up(nodes, n_nodes):
    """The nodes in the order in which they are made when the first in line is split."""
    order = np.empty(n_nodes, dtype=np.int64)
    number = np.empty(len(nodes.left), dtype=np.int64)
    order[0] = number[0] = 0
    heap = np.empty(n_nodes, dtype=np.int64)  # of new numbers, which decide ties
    priority = np.empty(n_nodes)
    size, made = 0, 1
    priority[0] = nodes.priority[0]
    if nodes.left[0] >= 0:
        size = _push(heap, size, 0, priority)
    while size:
        node = order[heap[0]]
        size = _pop(heap, size, priority)
        for child in (nodes.left[node], nodes.right[node]):
            order[made] = child
            priority[made] = nodes.priority[child]
            if nodes.left[child] >= 0:
                size = _push(heap, size, made, priority)
            made += 1
    return order


@njit(cache=True, nogil=True, error_model="numpy")
def _before(a, b, priority):
    return priority[a] > priority[b] or (priority[a] == priority[b] and a < b)


@njit(cache=True, nogil=True, error_model="numpy")
def _push(heap, size, node, priority):
    i = size
    while i > 0 and _before(node, heap[(i - 1) // 2], priority):
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = node
    return size + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _pop(heap, size, priority):
    size -= 1
    node = heap[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _before(heap[child + 1], heap[child], priority):
            child += 1
        if not _before(heap[child], node, priority):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = node
    return size
