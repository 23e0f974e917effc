"""Shapley values by their definition: every subset of the features, one at a time."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np


def shapley(v, p):
    """Values of the game ``v``, a function of a set of players ``0 .. p - 1``."""
    known = {S: v(S) for k in range(p + 1) for S in combinations(range(p), k)}
    values = np.zeros(p)
    for S, value in known.items():
        for j in range(p):
            if j not in S:
                weight = factorial(len(S)) * factorial(p - len(S) - 1) / factorial(p)
                values[j] += weight * (known[tuple(sorted((*S, j)))] - value)
    return values


def interventional(f, x, Z):
    """``v(S) = mean_z f(x_S, z_notS)``; ``f`` takes a table."""

    def v(S):
        mixed = Z.copy()
        mixed[:, list(S)] = x[list(S)]
        return float(np.mean(f(mixed)))

    return shapley(v, len(x))


def by_factors(x, vectors, coef, gamma, absent):
    """The radial expansion with the factor ``absent[j, s]`` in the place of unknown features."""

    def v(S):
        total = 0.0
        for s, vector in enumerate(vectors):
            product = 1.0
            for j in range(len(x)):
                here = np.exp(-gamma * (x[j] - vector[j]) ** 2)
                product *= here if j in S else absent[j, s]
            total += coef[s] * product
        return total

    return shapley(v, len(x))


def left_out(kernel, x, vectors, coef, own=0.0):
    """The expansion whose kernel sees the known features alone: the others are zero in both."""

    def v(S):
        seen = np.zeros(len(x))
        seen[list(S)] = 1.0
        here, there = (x * seen)[None, :], vectors * seen
        return float(coef @ kernel(here, there)[0] + own * kernel(here, here)[0, 0])

    return shapley(v, len(x))


def sampled(f, x, Z, orders):
    """Means over given orders of the features, each with one row of the background."""
    values = np.zeros((len(orders), len(x)))
    for k, order in enumerate(orders):
        point = Z[k].copy()
        before = float(f(point[None, :])[0])
        for j in order:
            point[j] = x[j]
            after = float(f(point[None, :])[0])
            values[k, j] = after - before
            before = after
    return values.mean(axis=0)
