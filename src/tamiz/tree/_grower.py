"""Grow a tree on features of every kind: one node at a time, each by compiled code."""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import run_tiles
from tamiz.tree._fast import INTERRUPTED, describe
from tamiz.tree._oblique import Climb, find_oblique
from tamiz.tree._samples import Growth, Levels, Limits, Rules, SortedSamples, divide
from tamiz.tree._splitting import (
    Kinds,
    NodeTotals,
    best_surrogates,
    choose,
    find_surrogates,
    make_room,
    room,
    search_nominal,
    search_numeric,
)
from tamiz.tree.impurity import MISSING, ROW, Criterion
from tamiz.tree.splits import LEFT, NominalSplit, NumericSplit, Split, Surrogate
from tamiz.validation import depth_of_caller, is_inner_fit

#: Cells of a node from which on features are dealt to threads.
_CELLS = 50_000


class Leaf(NamedTuple):
    """A leaf that may be split."""

    node: int
    totals: NodeTotals
    depth: int
    weight: float
    cost: float
    split: Split


class Grower:
    """Grows a tree, the leaf first in line first.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Numbers and codes, NaN where missing.
    samples, levels, rules, limits, kinds
        See there.
    n_surrogates : int
        Most stand-ins for a split.
    climb : Climb or None
        How to look for oblique splits, if at all.
    verbose : bool or int
        Whether to show progress.
    """

    def __init__(
        self,
        X: np.ndarray,
        samples: SortedSamples,
        levels: Levels,
        rules: Rules,
        limits: Limits,
        kinds: Kinds,
        n_surrogates: int,
        climb: Climb | None = None,
        verbose: bool | int = 0,
    ):
        self.X, self.samples, self.levels = X, samples, levels
        self.rules, self.limits, self.kinds = rules, limits, kinds
        self.n_surrogates, self.climb, self.verbose = n_surrogates, climb, verbose
        n, p = X.shape
        n_categories = int(kinds.n_levels.max(initial=0))
        self._found = room(p, n_categories)
        self._agreements = make_room(p, n_categories)
        nominal = kinds.nominal
        wanted = ((search_numeric, not nominal.all()), (search_nominal, nominal.any()))
        self._searches = [search for search, needed in wanted if needed]
        self._side = np.full(n, -1, dtype=np.int8)
        self._n_totals = 2 if rules.criterion == Criterion.SQUARED_ERROR else len(samples.costs)
        self._line: list[tuple[float, int, Leaf]] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.impurity: list[float] = []
        self.splits: list[Split | None] = []
        self.surrogates: list[tuple[Surrogate, ...]] = []
        self.majority_left: list[bool] = []
        self.range: list[tuple[int, int]] = []

    def grow(self) -> Growth:
        """Split leaves until none may be split or a limit is reached."""
        n = len(self.X)
        weight, cost = self._make(0, n, 0)
        depth_total, cost_total = 0.0, cost
        with Progress("growing a tree", self.verbose) as progress:
            try:
                while self._line:
                    leaf = self._line[0][2]
                    too_deep = (self.limits.max_mean_depth + 1e-12) * weight
                    if (
                        (len(self.left) + 1) // 2 >= self.limits.max_leaves
                        or cost_total / weight <= self.limits.max_error
                        or depth_total + leaf.weight > too_deep
                    ):
                        break
                    heapq.heappop(self._line)
                    depth_total += leaf.weight
                    cost_total += self._split(leaf) - leaf.cost
                    progress.update(f"{(len(self.left) + 1) // 2:,} leaves")
            except KeyboardInterrupt:
                if is_inner_fit():
                    raise
                self._mend()
                warnings.warn(INTERRUPTED, UserWarning, stacklevel=depth_of_caller())
        return self._collect()

    def _make(self, begin: int, end: int, depth: int) -> tuple[float, float]:
        """Add a node, and put it in line if it may be split; returns its weight and cost."""
        node, n, rules = len(self.left), end - begin, self.rules
        mass = np.zeros(self._n_totals)
        impurity, cost, weight, mean, mixed = describe(
            self.samples.keys[0, begin:end], self.samples, rules.criterion, mass
        )
        self.left.append(-1)
        self.right.append(-1)
        self.impurity.append(impurity)
        self.splits.append(None)
        self.surrogates.append(())
        self.majority_left.append(False)
        self.range.append((begin, end))
        if (
            not mixed
            or n < max(rules.min_samples_split, 2 * rules.min_samples_leaf)
            or 0 <= rules.max_depth <= depth
        ):
            return weight, cost
        totals = NodeTotals(begin, end, mass, mean, impurity)
        for search in self._searches:
            self._run(search, n, totals, self.samples, self.kinds, rules, self._found)
        best = choose(self._found, self.kinds, self.samples.n_levels, impurity)
        gain = float(self._found.gain[best]) if best >= 0 else -1.0
        split = self._axis_split(best) if best >= 0 else None
        if self.climb is not None:
            oblique = find_oblique(
                self.climb, node, self.X, totals, self.samples, rules, split, gain
            )
            if oblique is not None:
                split, gain = oblique
        if split is not None and gain >= rules.min_decrease:
            priority = gain if rules.by_decrease else impurity
            leaf = Leaf(node, totals, depth, weight, cost, split)
            heapq.heappush(self._line, (-priority, node, leaf))
        return weight, cost

    def _run(self, function: Callable[..., Any], n: int, *args: Any) -> None:
        """Let a compiled function work on all features; in threads if there is enough to do."""
        p = self.X.shape[1]
        if n * p >= _CELLS:
            run_tiles(function, p, *args)
        else:
            function(0, p, *args)

    def _axis_split(self, j: int) -> Split:
        found = self._found
        missing = int(found.missing[j])
        if self.kinds.nominal[j]:
            subset = found.subsets[j]
            left, right = (frozenset(np.flatnonzero(subset == s).tolist()) for s in (1, 0))
            return NominalSplit(j, left, right, missing)
        if found.high[j] == MISSING:
            return NumericSplit(j, np.inf, missing)
        threshold = self.levels.between(j, int(found.low[j]), int(found.high[j]))
        return NumericSplit(j, threshold, missing)

    def _split(self, leaf: Leaf) -> float:
        """Carry out the split of a leaf; returns the cost of its children."""
        node, begin, end, split = leaf.node, leaf.totals.begin, leaf.totals.end, leaf.split
        samples, kinds, side = self.samples, self.kinds, self._side
        rows = samples.keys[0, begin:end] & ROW
        sent = split.sends_left(self.X[rows])
        side[rows] = sent
        surrogates: tuple[Surrogate, ...] = ()
        if self.n_surrogates:
            self._run(
                find_surrogates, len(rows), leaf.totals, samples, kinds, side, self._agreements
            )
            surrogates = best_surrogates(
                self._agreements, self.levels, kinds.nominal, self.n_surrogates, split.features
            )
        weight = samples.w[rows]
        majority = bool(weight[sent == LEFT].sum() >= weight[sent == 1 - LEFT].sum())
        lost = np.flatnonzero(sent < 0)
        for stand_in in surrogates:
            if not len(lost):
                break
            sent[lost] = stand_in.sends_left(self.X[rows[lost]])
            lost = lost[sent[lost] < 0]
        sent[lost] = majority
        side[rows] = sent
        self._run(divide, len(rows), samples.keys, begin, end, side)
        middle = begin + int(np.count_nonzero(sent))
        self.splits[node], self.surrogates[node] = split, surrogates
        self.majority_left[node] = majority
        self.left[node], self.right[node] = len(self.left), len(self.left) + 1
        _, left_cost = self._make(begin, middle, leaf.depth + 1)
        _, right_cost = self._make(middle, end, leaf.depth + 1)
        return left_cost + right_cost

    def _mend(self) -> None:
        """Take back a split whose children were not all made."""
        n_nodes = len(self.range) - (len(self.range) + 1) % 2
        for parts in (self.left, self.right, self.impurity, self.range):
            del parts[n_nodes:]
        del self.splits[n_nodes:], self.surrogates[n_nodes:], self.majority_left[n_nodes:]
        for t in range(n_nodes):
            if max(self.left[t], self.right[t]) >= n_nodes or self.right[t] < 0:
                self.left[t] = self.right[t] = -1
                self.splits[t], self.surrogates[t], self.majority_left[t] = None, (), False

    def _collect(self) -> Growth:
        left = np.array(self.left, dtype=np.int32)
        rows = self.samples.keys[0] & ROW
        leaf = np.empty(len(rows), dtype=np.int32)
        for t in np.flatnonzero(left < 0).tolist():
            begin, end = self.range[t]
            leaf[rows[begin:end]] = t
        return Growth(
            left,
            np.array(self.right, dtype=np.int32),
            np.array(self.impurity),
            self.splits,
            self.surrogates,
            np.array(self.majority_left, dtype=bool),
            leaf,
        )
