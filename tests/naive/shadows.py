"""Decisions about hits, by adding up binomial probabilities."""

from __future__ import annotations

import math


def decision(hits, rounds, level):
    """1 if there are too many hits for a fair coin, -1 if too few, else 0."""
    chance = [math.comb(rounds, k) / 2**rounds for k in range(rounds + 1)]
    if sum(chance[hits:]) <= level:
        return 1
    if sum(chance[: hits + 1]) <= level:
        return -1
    return 0
