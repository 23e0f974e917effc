"""Boosted trees by their definition: every cut of every leaf is tried, and all is summed anew."""

from __future__ import annotations

import math


def merit(rows, slope, curvature, l2):
    """How much the best value of a leaf with these samples is worth."""
    G, H = sum(slope[i] for i in rows), sum(curvature[i] for i in rows)
    return G * G / (H + l2)


def best_cut(codes, rows, slope, curvature, min_leaf, l2):
    """Gain, feature, cut and the two sides; None if no cut gains anything."""
    best = None
    for j, code in enumerate(codes):
        for cut in sorted({code[i] for i in rows})[:-1]:
            left = [i for i in rows if code[i] <= cut]
            right = [i for i in rows if code[i] > cut]
            if min(len(left), len(right)) < min_leaf:
                continue
            gain = -merit(rows, slope, curvature, l2)
            gain += merit(left, slope, curvature, l2) + merit(right, slope, curvature, l2)
            if gain > 1e-10 and (best is None or gain > best[0] * (1 + 1e-9)):
                best = (gain, j, cut, left, right)
    return best


def tree(codes, slope, curvature, max_leaves, min_leaf, l2):
    """The leaves of a tree as lists of samples, with their questions, and the gain by feature."""
    whole = list(range(len(slope)))
    leaves = [(whole, [])]
    gains = [0.0] * len(codes)
    while len(leaves) < max_leaves:
        cuts = [best_cut(codes, rows, slope, curvature, min_leaf, l2) for rows, _ in leaves]
        known = [k for k, cut in enumerate(cuts) if cut is not None]
        if not known:
            break
        k = known[0]
        for other in known:
            k = other if cuts[other][0] > cuts[k][0] * (1 + 1e-9) else k
        gain, j, cut, left, right = cuts[k]
        gains[j] += gain
        asked = leaves[k][1]
        del leaves[k]
        leaves += [(left, [*asked, (j, cut, True)]), (right, [*asked, (j, cut, False)])]
    made = []
    for rows, asked in leaves:
        H = sum(curvature[i] for i in rows)
        made.append((asked, sum(slope[i] for i in rows) / (H + l2)))
    return made, gains


def value_of(leaves, sample):
    """The value of the leaf whose questions a sample answers as the leaf wants."""
    for asked, value in leaves:
        if all((sample[j] <= cut) == low for j, cut, low in asked):
            return value
    raise AssertionError("a tree has a leaf for every sample")


def probabilities(values):
    """Of the classes, from one value (two classes) or one for each."""
    if len(values) == 1:
        second = 1 / (1 + math.exp(-values[0]))
        return [1 - second, second]
    total = sum(math.exp(v) for v in values)
    return [math.exp(v) / total for v in values]


def boost(codes, y, weight, n_classes, new, *, n_rounds, rate, max_leaves, min_leaf, l2):
    """Sums of the trees for new samples, and the gains by feature; no classes: numbers."""
    n = len(y)
    codes = [[int(c) for c in row] for row in codes]
    mean = sum(weight) / n
    weight = [w / mean for w in weight]
    wanted = range(n_classes) if n_classes > 2 else [1]
    target = [[float(y[i] == k) for k in wanted] if n_classes else [float(y[i])] for i in range(n)]
    width = len(target[0])
    start = [sum(weight[i] * target[i][k] for i in range(n)) / n for k in range(width)]
    if n_classes == 2:
        start = [math.log(start[0] / (1 - start[0]))]
    elif n_classes > 2:
        start = [math.log(s) for s in start]
    values = [list(start) for _ in range(n)]
    found = [list(start) for _ in new]
    total = [0.0] * len(codes)
    for _ in range(n_rounds):
        now = [list(row) for row in values]
        for k in range(width):
            slope, curvature = [], []
            for i in range(n):
                if n_classes == 0:
                    slope.append(weight[i] * (target[i][0] - now[i][0]))
                    curvature.append(weight[i])
                else:
                    expected = probabilities(now[i])[1 if n_classes == 2 else k]
                    slope.append(weight[i] * (target[i][k] - expected))
                    curvature.append(weight[i] * expected * (1 - expected))
            leaves, gains = tree(codes, slope, curvature, max_leaves, min_leaf, l2)
            total = [a + b for a, b in zip(total, gains, strict=True)]
            for i in range(n):
                values[i][k] += rate * value_of(leaves, [code[i] for code in codes])
            for row, sample in zip(found, new, strict=True):
                row[k] += rate * value_of(leaves, sample)
    return found, total
