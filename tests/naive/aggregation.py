"""Robust rank aggregation by plain loops and sums over all outcomes."""

from __future__ import annotations

from math import comb


def order_statistic(x, k, n):
    """Probability that the k-th smallest of n uniform numbers is x at most."""
    return sum(comb(n, m) * x**m * (1 - x) ** (n - m) for m in range(k, n + 1))


def rho(fractions):
    """The least probability of the sorted fractions of one feature."""
    n = len(fractions)
    return min(order_statistic(x, k + 1, n) for k, x in enumerate(sorted(fractions)))


def place_of(level, k, n):
    """The number up to which the k-th smallest lies with this probability, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if order_statistic(middle, k, n) < level else (low, middle)
    return high


def pvalue(level, n):
    """One less the probability that never k of n numbers are below the k-th place.

    Numbers are dealt to the intervals between places, one interval after the other.
    """
    places = [place_of(level, k, n) for k in range(1, n + 1)]
    below = {0: 1.0}  # numbers up to the place so far: probability
    before = 0.0
    for k, place in enumerate(places, start=1):
        rate = (place - before) / (1 - before) if before < 1 else 0.0
        after = {}
        for count, chance in below.items():
            for more in range(n - count + 1):
                if count + more < k:
                    dealt = comb(n - count, more) * rate**more * (1 - rate) ** (n - count - more)
                    after[count + more] = after.get(count + more, 0.0) + chance * dealt
        below, before = after, place
    return 1 - sum(below.values())


def last_places(ranks):
    """Ranks from 1, the last place for equal ones."""
    return [sum(other <= one for other in ranks) for one in ranks]


def mean_places(ranks):
    """Ranks from 1, the mean place for equal ones."""
    return [
        sum(other < one for other in ranks) + (sum(other == one for other in ranks) + 1) / 2
        for one in ranks
    ]
