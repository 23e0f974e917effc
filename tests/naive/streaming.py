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
