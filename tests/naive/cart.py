"""Trees by their definition: every split of a node is tried, and everything is added up anew."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

from tamiz.tree.splits import NominalSplit, NumericSplit, Split


class Problem:
    """Samples, and what is asked of a split."""

    def __init__(
        self,
        X,
        y,
        *,
        criterion="gini",
        weight=None,
        growth=None,
        costs=None,
        nominal=(),
        min_samples_leaf=1,
        min_balance=0.0,
        missing="auto",
    ):
        self.X = np.asarray(X, dtype=float)
        self.y = np.asarray(y)
        self.criterion = criterion
        self.weight = np.ones(len(self.X)) if weight is None else np.asarray(weight, dtype=float)
        self.growth = self.weight if growth is None else np.asarray(growth, dtype=float)
        self.nominal = set(nominal)
        self.min_samples_leaf = min_samples_leaf
        self.min_balance = min_balance
        self.missing = missing
        if criterion != "squared_error":
            self.n_classes = int(self.y.max()) + 1
            plain = 1 - np.eye(self.n_classes)
            self.costs = plain if costs is None else np.asarray(costs, dtype=float)

    def impurity(self, rows) -> float:
        """Impurity of some samples, times their weight."""
        rows = np.asarray(rows, dtype=int)
        if not len(rows):
            return 0.0
        if self.criterion == "squared_error":
            w, t = self.weight[rows], self.y[rows]
            return float((w * (t - np.average(t, weights=w)) ** 2).sum())
        used = self.weight if self.criterion == "error" else self.growth
        mass = np.array([used[rows[self.y[rows] == k]].sum() for k in range(self.n_classes)])
        total = mass.sum()
        if total == 0:
            return 0.0
        p = mass / total
        if self.criterion == "gini":
            return float(total * (p * (1 - p)).sum())
        if self.criterion == "entropy":
            p = p[p > 0]
            return float(-total * (p * np.log(p)).sum())
        return float(min(mass @ self.costs[:, j] for j in range(self.n_classes)))

    def gain(self, split: Split, rows) -> float:
        """What a split takes off the impurity of the samples that it can place itself."""
        rows = np.asarray(rows, dtype=int)
        sent = split.sends_left(self.X[rows])
        placed = rows[sent >= 0]
        return (
            self.impurity(placed) - self.impurity(rows[sent == 1]) - self.impurity(rows[sent == 0])
        )

    def allowed(self, split: Split, rows) -> bool:
        """Whether both sides are large enough."""
        sent = split.sends_left(self.X[rows])
        least = max(self.min_samples_leaf, self.min_balance * len(rows) - 1e-9)
        return min((sent == 1).sum(), (sent == 0).sum()) >= least

    def all_splits(self, rows):
        """Every split of a node on one feature."""
        rows = np.asarray(rows, dtype=int)
        for j in range(self.X.shape[1]):
            x = self.X[rows, j]
            values = np.unique(x[~np.isnan(x)])
            ways = [-1]
            if np.isnan(x).any():
                ways = {"auto": [-1, 0, 1], "surrogate": [-1], "direction": [0, 1]}[self.missing]
            for way in ways:
                if j in self.nominal:
                    codes = [int(v) for v in values]
                    for size in range(len(codes) + 1):
                        for left in combinations(codes, size):
                            right = frozenset(codes) - frozenset(left)
                            yield NominalSplit(j, frozenset(left), right, way)
                else:
                    for a, b in pairwise(values):
                        yield NumericSplit(j, a / 2 + b / 2, way)
                    if way == 0:
                        yield NumericSplit(j, np.inf, way)

    def best_gain(self, rows) -> float:
        """The largest gain of all splits that are allowed; -1 if there is none."""
        gains = [self.gain(s, rows) for s in self.all_splits(rows) if self.allowed(s, rows)]
        return max(gains, default=-1.0)


def descend(tree, x) -> list[int]:
    """The nodes that a sample passes, by asking one question after the other."""
    node, path = 0, [0]
    while tree.splits[node] is not None:
        side = -1
        for question in (tree.splits[node], *tree.surrogates[node]):
            side = int(question.sends_left(x[None, :])[0])
            if side >= 0:
                break
        if side < 0:
            side = int(tree.majority_left[node])
        node = int(tree.left[node] if side else tree.right[node])
        path.append(node)
    return path


def rows_of_nodes(tree, X) -> list[list[int]]:
    """The samples in each node."""
    found: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for i, x in enumerate(X):
        for node in descend(tree, x):
            found[node].append(i)
    return found
