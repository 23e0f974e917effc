"""Information of weighted samples from its formula: dictionaries of sums of weights."""

from __future__ import annotations

import math
from collections import defaultdict


def sums(keys, weight):
    total = defaultdict(float)
    for key, w in zip(keys, weight, strict=True):
        total[key] += w
    return total


def entropy(x, weight):
    whole = sum(weight)
    return -sum(w / whole * math.log(w / whole) for w in sums(x, weight).values())


def mutual_information(x, z, weight):
    return entropy(x, weight) + entropy(z, weight) - entropy(list(zip(x, z, strict=True)), weight)


def over_pairs(x, z, weight):
    """Of the samples that have both (None is missing), times their fraction of the weight."""
    rows = [i for i in range(len(x)) if x[i] is not None and z[i] is not None]
    own = [weight[i] for i in rows]
    if not rows:
        return 0.0
    inner = mutual_information([x[i] for i in rows], [z[i] for i in rows], own)
    return inner * sum(own) / sum(weight)


def chi_squared(x, y, weight):
    whole = sum(weight)
    rows, columns = sums(x, weight), sums(y, weight)
    cells = sums(list(zip(x, y, strict=True)), weight)
    return sum(
        (cells.get((a, b), 0.0) - rows[a] * columns[b] / whole) ** 2
        / (rows[a] * columns[b] / whole)
        for a in rows
        for b in columns
    )
