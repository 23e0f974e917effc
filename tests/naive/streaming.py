"""Slow and obvious: blocks of rows, statistics merged as a random tree, and tables of counts."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np


def blocks(X, y, rng, most=6):
    """The rows in order, cut at random places; a block may be empty."""
    n = X.shape[0]
    places = np.sort(rng.integers(0, n + 1, rng.integers(0, most)))
    edges = [0, *places.tolist(), n]
    return [
        SimpleNamespace(X=X[a:b], y=None if y is None else y[a:b], index=k, first_row=a)
        for k, (a, b) in enumerate(itertools.pairwise(edges))
    ]


def merge_anyhow(parts, rng):
    """Merge in a random order and as a random tree."""
    parts = [parts[k] for k in rng.permutation(len(parts))]
    while len(parts) > 1:
        k = int(rng.integers(0, len(parts) - 1))
        parts[k : k + 2] = [parts[k].merge(parts[k + 1])]
    return parts[0]


def sweeper(batches, rng):
    """``sweep`` as the statistics expect it."""
    return lambda make: merge_anyhow([make(batch) for batch in batches], rng)


def bins(x, cuts):
    """How many cuts lie below each value; -1 where it is missing."""
    return [-1 if np.isnan(v) else sum(v > c for c in cuts) for v in x]


def pair_table(x, z, r, c):
    """Contingency table of two lists of bins; missing ones (-1) go last."""
    table = np.zeros((r + 1, c + 1), dtype=np.int64)
    for a, b in zip(x, z, strict=True):
        table[a, b] += 1
    return table


def slow_sums(make, X, codes):
    """The sums of a pass, row by row, from the formulas."""
    point, direction = make.point[0], make.direction[0]
    total = {"losses": 0.0, "hinges": 0.0, "curvature": 0.0, "rest": 0.0}
    duals = np.zeros((2, 2, X.shape[1] + 1))
    for x, code in zip(X, codes, strict=True):
        row = np.append((x - make.units.shift) / make.units.scale, 1.0)
        y, penalty = make.tasks.signs[0][code], make.tasks.penalties[0][code]
        mu = make.after[0, 0]
        ends = 1 - y * ((point + make.lengths[0][:, None] * direction) @ row)
        m, mb = make.before[0]
        total["losses"] += penalty * (ends + np.sqrt(ends**2 + m**2)) / 2
        total["hinges"] += penalty * np.maximum(ends, 0)
        z0, z = 1 - y * (point @ row), ends[0]
        a0 = (1 + z0 / np.sqrt(z0**2 + m**2)) / 2
        a0 -= mb**2 / 2 / (z0**2 + mb**2) ** 1.5 * y * (direction @ row)
        a = (1 + z / np.sqrt(z**2 + mu**2)) / 2
        side = 0 if y > 0 else 1
        duals[0, side] += penalty * np.clip(a0, 0, 1) * row
        duals[1, side] += penalty * a * row
        total["rest"] += penalty * (max(z, 0) - a * z)
        bend = make.after[0, 1]
        total["curvature"] += penalty * bend**2 / 2 / (z**2 + bend**2) ** 1.5 * np.outer(row, row)
    return total, duals
