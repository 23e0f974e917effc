"""Drive the compiled builder: numbers without gaps, splits on one feature."""

from __future__ import annotations

import threading
import warnings

import numpy as np

from tamiz.runtime.parallel import n_threads, run_tiles
from tamiz.runtime.progress import Progress
from tamiz.tree._builder import Nodes, grow_in_line, line_up, make, new_nodes
from tamiz.tree._growth import Growth, Limits
from tamiz.tree._samples import Levels, Rules, Samples
from tamiz.tree.impurity import ROW
from tamiz.tree.splits import NumericSplit

#: Splits between two looks at the clock and at Ctrl-C.
_STEPS = 256

#: Fewest samples for which branches are grown side by side.
_BRANCHES = 5_000

INTERRUPTED = "Growth was interrupted; the tree is kept as far as it had grown."


def grow_fast(
    samples: Samples, levels: Levels, rules: Rules, limits: Limits, verbose: bool | int = 0
) -> Growth:
    """Grow a tree on features without gaps and without nominal ones."""
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
            warnings.warn(INTERRUPTED, UserWarning, stacklevel=2)
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
        samples: Samples,
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


def _collect(nodes: Nodes, order: np.ndarray, samples: Samples, levels: Levels) -> Growth:
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
