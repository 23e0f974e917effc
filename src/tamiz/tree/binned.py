r"""Trees on binned features, many at a time.

A feature is cut into at most 64 bins at quantiles of the training samples, once. A node then finds
the best cut of a feature from the class counts of its bins, without sorting.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tamiz.runtime.parallel import run_tiles

_MOST_BINS = 64


class Bins(NamedTuple):
    """The cuts of every feature; a value above ``k`` of them is in bin ``k``."""

    cuts: np.ndarray  # (features, most cuts), ascending
    counts: np.ndarray  # number of bins of each feature

    @classmethod
    def of(cls, X: np.ndarray) -> Bins:
        """Cuts half-way between neighbouring values, at quantiles if there are many values."""
        p = X.shape[1]
        bins = cls(np.empty((p, _MOST_BINS - 1)), np.empty(p, dtype=np.intp))
        run_tiles(_cut_columns, p, X, *bins, min_items=200)
        return bins

    def codes(self, X: np.ndarray) -> np.ndarray:
        """The bin of every value, features in rows."""
        found = np.empty((len(self.cuts), len(X)), dtype=np.uint8)
        run_tiles(_code_columns, len(self.cuts), X, *self, found, min_items=200)
        return found


class Forest(NamedTuple):
    """Grown trees, one after the other; ``roots`` says where each begins."""

    feature: np.ndarray  # -1 for a leaf
    threshold: np.ndarray  # bins up to this go left
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray  # (nodes, classes), proportions
    roots: np.ndarray
    gains: np.ndarray  # decrease of impurity by feature


class ForestRules(NamedTuple):
    """How trees are grown."""

    n_classes: int
    n_tried: int  # features that a node looks at
    min_leaf: int  # samples on either side of a cut, bootstrap copies counted
    random_cuts: bool  # one random cut for each feature and all samples; else the best cut


def grow_forest(
    codes: np.ndarray,
    n_bins: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    *,
    rules: ForestRules,
    n_trees: int,
    seed: int,
) -> Forest:
    """Grow all trees; ``codes`` has features in rows, ``y`` holds class codes.

    A tree sees a bootstrap sample, drawn in proportion to the weights; with random cuts and equal
    weights it sees all samples.
    """
    shape = tuple(rules)
    seeds = np.random.SeedSequence(seed).generate_state(n_trees).astype(np.int64)
    grown: list[Any] = [None] * n_trees

    def tile(start: int, stop: int) -> None:
        for t in range(start, stop):
            grown[t] = _grow(codes, n_bins, y, weight, shape, int(seeds[t] % 2**31))

    run_tiles(tile, n_trees, min_items=4)
    sizes = [len(tree[0]) for tree in grown]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    shift = np.repeat(roots, sizes)
    feature = np.concatenate([tree[0] for tree in grown])
    left, right = (np.concatenate([tree[k] for tree in grown]) + shift for k in (2, 3))
    return Forest(
        feature,
        np.concatenate([tree[1] for tree in grown]),
        left,
        right,
        np.concatenate([tree[4] for tree in grown]),
        roots,
        np.mean([tree[5] for tree in grown], axis=0),
    )


def forest_proportions(forest: Forest, codes: np.ndarray) -> np.ndarray:
    """Mean class proportions of the leaves that the samples fall into."""
    found = np.zeros((codes.shape[1], forest.value.shape[1]))
    run_tiles(_walk, codes.shape[1], codes, forest[:6], found, min_items=500)
    return found / len(forest.roots)


def features_tried(max_features: int | str, p: int) -> int:
    """How many features a node looks at."""
    wanted = int(np.sqrt(p)) if isinstance(max_features, str) else int(max_features)
    return min(p, max(1, wanted))


# ---------------------------------------------------------------------------------- compiled


@njit(cache=True, nogil=True)
def _cut_columns(start: Any, stop: Any, X: Any, cuts: Any, counts: Any) -> None:
    n = len(X)
    most = cuts.shape[1]
    for j in range(start, stop):
        values = np.sort(X[:, j])
        n_steps = 0
        for i in range(n - 1):
            n_steps += values[i + 1] > values[i]
        made, wanted = 0, 0
        for i in range(n - 1):
            if not values[i + 1] > values[i]:
                continue
            if n_steps > most:  # the first step at or after each of the quantiles
                if i < (wanted + 1) * (n - 1) // (most + 1):
                    continue
                while wanted < most and (wanted + 1) * (n - 1) // (most + 1) <= i:
                    wanted += 1
            middle = values[i] + 0.5 * (values[i + 1] - values[i])
            cuts[j, made] = middle if middle < values[i + 1] else values[i]
            made += 1
            if made == most:
                break
        cuts[j, made:] = np.inf
        counts[j] = made + 1


@njit(cache=True, nogil=True)
def _code_columns(start: Any, stop: Any, X: Any, cuts: Any, counts: Any, out: Any) -> None:
    for j in range(start, stop):
        for i in range(len(X)):
            low, high = 0, counts[j] - 1
            while low < high:
                middle = (low + high) // 2
                if cuts[j, middle] < X[i, j]:
                    low = middle + 1
                else:
                    high = middle
            out[j, i] = low


@njit(cache=True, nogil=True)
def _grow(codes: Any, n_bins: Any, y: Any, weight: Any, shape: Any, seed: Any) -> Any:
    """One tree: nodes in the order in which they were opened."""
    n_classes, n_tried, min_leaf, random_cuts = shape
    p = len(codes)
    state = np.array([seed], dtype=np.uint64)
    copies = _drawn(state, weight, random_cuts)
    rows = np.flatnonzero(copies)
    m = len(rows)
    most = 2 * m
    feature = np.full(most, -1, dtype=np.int64)
    threshold = np.zeros(most, dtype=np.int64)
    left = np.zeros(most, dtype=np.int64)
    right = np.zeros(most, dtype=np.int64)
    value = np.zeros((most, n_classes))
    begin = np.zeros(most, dtype=np.int64)
    end = np.zeros(most, dtype=np.int64)
    gains = np.zeros(p)
    pool = np.arange(p)
    counts = np.zeros((256, n_classes))
    heads = np.zeros(256, dtype=np.int64)
    places = np.zeros(256, dtype=np.int64)
    room = (places, counts, heads)
    end[0] = m
    n_nodes = 1
    node = 0
    everything = 0.0
    while node < n_nodes:
        a, b = begin[node], end[node]
        n_here = 0
        for r in range(a, b):
            i = rows[r]
            value[node, y[i]] += copies[i]
            n_here += copies[i]
        total = float(n_here)
        if node == 0:
            everything = total
        squares, pure = 0.0, False
        for k in range(n_classes):
            squares += value[node, k] ** 2
            pure = pure or value[node, k] >= total * (1.0 - 1e-12)
        best, best_feature, best_cut = squares / max(total, 1e-300) * (1.0 + 1e-12), -1, 0
        if not pure and n_here >= 2 * min_leaf and b - a > 1:
            tried = 0
            for draw in range(p):
                if tried >= n_tried:
                    break
                pick = draw + _below(state, p - draw)
                j = pool[pick]
                pool[pick] = pool[draw]
                pool[draw] = j
                if n_bins[j] < 2:
                    continue
                here = rows[a:b]
                n_used = _count(codes[j], here, copies, y, n_bins[j], room)
                if n_used < 2:  # one bin holds all: nothing to cut
                    continue
                tried += 1
                only = _below(state, n_used - 1) if random_cuts else -1
                score, cut = _best_cut(value[node], room, n_used, only, n_here, min_leaf)
                if score > best:
                    best, best_feature, best_cut = score, j, cut
        if best_feature >= 0:
            gains[best_feature] += (best - squares / total) / everything
            low, high = a, b - 1
            while low <= high:
                if codes[best_feature, rows[low]] <= best_cut:
                    low += 1
                else:
                    keep = rows[low]
                    rows[low] = rows[high]
                    rows[high] = keep
                    high -= 1
            feature[node], threshold[node] = best_feature, best_cut
            left[node], right[node] = n_nodes, n_nodes + 1
            begin[n_nodes], end[n_nodes] = a, low
            begin[n_nodes + 1], end[n_nodes + 1] = low, b
            n_nodes += 2
        if total > 0.0:
            for k in range(n_classes):
                value[node, k] /= total
        node += 1
    return (
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        left[:n_nodes].copy(),
        right[:n_nodes].copy(),
        value[:n_nodes].copy(),
        gains,
    )


@njit(cache=True, nogil=True)
def _drawn(state: Any, weight: Any, everyone: Any) -> Any:
    """How often each sample is in a tree: drawn in proportion to the weights, as many as there are.

    With equal weights ``everyone`` may be asked for instead.
    """
    n = len(weight)
    copies = np.zeros(n, dtype=np.int64)
    if weight.min() == weight.max():
        for i in range(n):
            copies[i if everyone else _below(state, n)] += 1
        return copies
    ends = np.cumsum(weight)
    for _ in range(n):
        spot = _below(state, 2**52) * 2.0**-52 * ends[-1]
        copies[min(n - 1, np.searchsorted(ends, spot, side="right"))] += 1
    return copies


@njit(cache=True, nogil=True)
def _best_cut(value: Any, room: Any, n_used: Any, only: Any, n_here: Any, min_leaf: Any) -> Any:
    """The cut between bins in use with the purest sides, or the one numbered ``only``.

    Purity is the sum of squared class weights over their sum, of both sides; 0 without a cut.
    """
    places, counts, heads = room
    n_classes = len(value)
    below = np.zeros(n_classes)
    total, square_left, square_right, sum_left = 0.0, 0.0, 0.0, 0.0
    for k in range(n_classes):
        total += value[k]
        square_right += value[k] ** 2
    best, cut, n_left = 0.0, 0, 0
    for u in range(n_used - 1 if only < 0 else only + 1):
        c = places[u]
        n_left += heads[c]
        for k in range(n_classes):
            more = counts[c, k]
            if more != 0.0:
                rest = value[k] - below[k]
                square_left += more * (2.0 * below[k] + more)
                square_right -= more * (2.0 * rest - more)
                below[k] += more
                sum_left += more
        if u < only or n_left < min_leaf or n_here - n_left < min_leaf:
            continue
        if sum_left <= 0.0 or total - sum_left <= 0.0:
            continue
        score = square_left / sum_left + square_right / (total - sum_left)
        if score > best:
            best, cut = score, c
    return best, cut


@njit(cache=True, nogil=True)
def _below(state: Any, n: Any) -> Any:
    """A random number from 0 to n - 1 (splitmix64), the same on every platform."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64(np.float64(z >> np.uint64(11)) * 2.0**-53 * n)


@njit(cache=True, nogil=True)
def _count(
    codes: Any,
    rows: Any,
    copies: Any,
    y: Any,
    width: Any,
    room: Any,
) -> Any:
    """Class weights and heads of the bins in use, which ``places`` lists in ascending order."""
    places, counts, heads = room
    n_used = 0
    n_classes = counts.shape[1]
    if len(rows) >= width // 2:
        for c in range(width):
            heads[c] = 0
        for i in rows:
            c = codes[i]
            if heads[c] == 0:
                for k in range(n_classes):
                    counts[c, k] = 0.0
            counts[c, y[i]] += copies[i]
            heads[c] += copies[i]
        for c in range(width):
            if heads[c] > 0:
                places[n_used] = c
                n_used += 1
        return n_used
    for i in rows:  # few samples: the bins they fall into, sorted by insertion
        c = codes[i]
        u = n_used
        while u > 0 and places[u - 1] > c:
            u -= 1
        if u == 0 or places[u - 1] != c:
            for v in range(n_used, u, -1):
                places[v] = places[v - 1]
            places[u] = c
            n_used += 1
            heads[c] = 0
            for k in range(n_classes):
                counts[c, k] = 0.0
        counts[c, y[i]] += copies[i]
        heads[c] += copies[i]
    return n_used


@njit(cache=True, nogil=True)
def _walk(start: Any, stop: Any, codes: Any, forest: Any, out: Any) -> None:
    feature, threshold, left, right, value, roots = forest
    for i in range(start, stop):
        for root in roots:
            node = root
            while feature[node] >= 0:
                if codes[feature[node], i] <= threshold[node]:
                    node = left[node]
                else:
                    node = right[node]
            for k in range(value.shape[1]):
                out[i, k] += value[node, k]
