"""A random forest by its definition: every cut of a node is tried, and all is counted anew."""

from __future__ import annotations

import itertools

import numpy as np

MASK = 2**64 - 1


def cuts(column, most=63):
    """Half-way between neighbouring values: all, or as many as make bins of like size.

    Values that fill more than a bin get one each; the samples of the others are dealt out evenly.
    """
    n = len(column)
    values = sorted(set(column))
    size = {value: sum(other == value for other in column) for value in values}
    heavy = {value for value in values if size[value] > n / (most + 1)}
    if len(values) <= most + 1:
        groups = [[value] for value in values]
    else:
        groups = [[]]
        to_deal = sum(size[value] for value in values if value not in heavy)
        for k, value in enumerate(values):
            groups[-1].append(value)
            light = sum(size[other] for other in groups[-1] if other not in heavy)
            heavy_to_come = sum(other in heavy for other in values[k + 1 :])
            bins_left = most + 1 - (len(groups) - 1) - heavy_to_come
            full = value in heavy or light * bins_left >= to_deal
            if values[k + 1 :] and (values[k + 1] in heavy or (full and bins_left > 1)):
                to_deal -= light
                groups.append([])
    found = []
    for one, other in itertools.pairwise(groups):
        middle = one[-1] + 0.5 * (other[0] - one[-1])
        found.append(middle if middle < other[0] else one[-1])
    return found


def bins(X):
    """How many cuts of its feature each value is above; features in rows."""
    return np.array([[sum(c < x for c in cuts(column)) for x in column] for column in X.T])


class Draws:
    """The generator splitmix64."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        """An integer from 0 to n - 1."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        return int((z >> 11) * 2.0**-53 * n)


def gini(mass):
    """Impurity times weight."""
    total = sum(mass)
    return total - sum(m * m for m in mass) / total if total else 0.0


class Tree:
    """One tree of a bootstrap sample, or of all samples with random cuts, level by level."""

    def __init__(
        self, codes, lowest, y, weight, *, n_classes, n_tried, min_leaf, random_cuts, seed
    ):
        p, n = codes.shape
        draws = Draws(seed)
        self.codes, self.y, self.n_classes = codes, y, n_classes
        equal = len(set(weight)) == 1
        self.copies = [int(random_cuts and equal)] * n
        for _ in range(0 if random_cuts and equal else n):
            self.copies[draws.below(n) if equal else self.drawn(draws, weight)] += 1
        self.gains = np.zeros(p)
        pool = list(range(p))
        self.root = {"rows": [i for i in range(n) if self.copies[i]]}
        whole = sum(self.mass(self.root["rows"]))
        nodes = [self.root]
        for node in nodes:  # grows on the way
            rows = node["rows"]
            mass = self.mass(rows)
            node["share"] = [m / sum(mass) for m in mass]
            if max(mass) == sum(mass) or self.heads(rows) < 2 * min_leaf:
                continue
            best, varies = None, False
            for draw in range(p):
                if draw >= n_tried and varies:  # as in scikit-learn, constant ones are counted
                    break
                pick = draw + draws.below(p - draw)
                pool[draw], pool[pick] = pool[pick], pool[draw]
                there = sorted({int(codes[pool[draw], i]) for i in rows})
                if len(there) < 2:
                    continue
                varies = True
                offered = there[:-1]
                if random_cuts:
                    values = lowest[pool[draw]]
                    part = draws.below(2**52) * 2.0**-52
                    spot = (1 - part) * values[there[0]] + part * values[there[-1]]
                    reached = [c for c in range(there[-1]) if values[c] <= spot]
                    offered = [max(there[0], *reached)]
                for cut in offered:
                    left = [i for i in rows if codes[pool[draw], i] <= cut]
                    right = [i for i in rows if codes[pool[draw], i] > cut]
                    if min(self.heads(left), self.heads(right)) < min_leaf:
                        continue
                    gain = gini(mass) - gini(self.mass(left)) - gini(self.mass(right))
                    if gain > 1e-9 and (best is None or gain > best[0] + 1e-9):
                        best = (gain, pool[draw], cut, left, right)
            if best is not None:
                gain, feature, cut, left, right = best
                self.gains[feature] += gain / whole
                node.update(feature=feature, cut=cut, left={"rows": left}, right={"rows": right})
                nodes += [node["left"], node["right"]]

    def drawn(self, draws, weight):
        """A sample drawn in proportion to the weights."""
        spot = draws.below(2**52) * 2.0**-52 * np.cumsum(weight)[-1]
        ends = np.cumsum(weight)
        return next(i for i in range(len(ends)) if spot < ends[i])

    def heads(self, rows):
        """Number of samples, copies counted."""
        return sum(self.copies[i] for i in rows)

    def mass(self, rows):
        """Number of samples of each class."""
        found = [0.0] * self.n_classes
        for i in rows:
            found[self.y[i]] += self.copies[i]
        return found

    def share(self, sample):
        """Class proportions of the leaf of a sample, given by the bins of its values."""
        node = self.root
        while "feature" in node:
            node = node["left"] if sample[node["feature"]] <= node["cut"] else node["right"]
        return node["share"]
