"""Drive the compiled builder: numbers without gaps, splits on one feature."""

from __future__ import annotations

import warnings

import numpy as np

from tamiz._parallel import n_threads, run_tiles
from tamiz._progress import Progress
from tamiz.tree._builder import Nodes, grow_branches, grow_in_line, line_up, make, new_nodes
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
                    n_nodes = _grow_rest(
                        heap[:size], n_nodes, samples, rules, nodes, goes_left, progress
                    )
                    done = True
                    order = line_up(nodes, n_nodes)
        except KeyboardInterrupt:
            warnings.warn(INTERRUPTED, UserWarning, stacklevel=2)
            if side_by_side:
                n_nodes = _reached(nodes)
                order = line_up(nodes, n_nodes)
    return _collect(nodes, order if order is not None else np.arange(n_nodes), samples, levels)


def _grow_rest(
    roots: np.ndarray,
    n_nodes: int,
    samples: Samples,
    rules: Rules,
    nodes: Nodes,
    goes_left: np.ndarray,
    progress: Progress,
) -> int:
    """Grow all branches to their end; returns the number of nodes. Numbers have holes."""
    roots = roots[np.argsort(nodes.begin[roots] - nodes.end[roots], kind="stable")]
    sizes = nodes.end[roots] - nodes.begin[roots]
    first = n_nodes + np.concatenate([[0], np.cumsum(2 * sizes - 2)[:-1]])
    # large and small branches by turns, so that all threads get their share
    threads = n_threads()
    for start in range(0, len(roots), 4 * threads):
        part = np.arange(start, min(start + 4 * threads, len(roots)))
        dealt = np.concatenate([part[k::threads] for k in range(threads)])
        after = np.concatenate(
            run_tiles(
                grow_branches, len(dealt), roots[dealt], first[dealt], samples, rules, nodes,
                goes_left,
            )
        )  # fmt: skip
        n_nodes += int((after - first[dealt]).sum())
        progress.update(f"{(n_nodes + 1) // 2:,} leaves")
    return n_nodes


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
