"""Pruning by looking at every sub-tree, in fractions, and by the textbook's loop."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

Cut = frozenset[int]  # nodes that are leaves in the sub-tree


def prunings(left: list[int], right: list[int], t: int = 0) -> Iterator[Cut]:
    """All sub-trees with the same root, as the sets of their leaves."""
    yield frozenset([t])
    if left[t] >= 0:
        for a in prunings(left, right, left[t]):
            for b in prunings(left, right, right[t]):
                yield a | b


def asked_in(left: list[int], right: list[int], leaves: Cut, t: int = 0) -> list[int]:
    """The nodes that a sub-tree divides."""
    if t in leaves:
        return []
    below = asked_in(left, right, leaves, left[t]) + asked_in(left, right, leaves, right[t])
    return [t, *below]


def depth_sum(left: list[int], right: list[int], leaves: Cut, n: list[int]) -> Fraction:
    """``l(T)`` as printed: the depths of the leaves, weighted by their samples."""

    def walk(t: int, depth: int) -> int:
        if t in leaves:
            return n[t] * depth
        return walk(left[t], depth + 1) + walk(right[t], depth + 1)

    return Fraction(walk(0, 0), n[0])


def cheapest(
    left: list[int], right: list[int], error: list[Fraction], size: dict[Cut, Fraction],
    alpha: Fraction,
) -> Cut:  # fmt: skip
    """The smallest of the sub-trees with least ``R(T) + alpha S(T)``: it must be inside all."""
    costs = {T: sum((error[t] for t in T), Fraction(0)) + alpha * size[T] for T in size}
    least = min(costs.values())
    tied = [T for T, cost in costs.items() if cost == least]
    smallest = min(tied, key=lambda T: len(T))
    inner = set(asked_in(left, right, smallest))
    assert all(inner <= set(asked_in(left, right, T)) for T in tied), "no smallest minimiser"
    return smallest


def sequence(
    left: list[int], right: list[int], error: list[Fraction], size: list[Fraction]
) -> list[tuple[Fraction, Cut]]:
    """Breiman's loop: cut the weakest of all links that are left, until the root is a leaf."""
    everything = frozenset(t for t in range(len(left)) if left[t] < 0)
    leaves, found, alpha = everything, [], Fraction(0)
    while True:
        # all links not stronger than alpha are cut, at once, and looked for again
        while True:
            ratio = _strengths(left, right, error, size, leaves)
            weak = [t for t, g in ratio.items() if g <= alpha]
            if not weak:
                break
            for t in weak:
                leaves = _cut_at(left, right, leaves, t)
        found.append((alpha, leaves))
        if not ratio:
            return found
        alpha = min(ratio.values())


def _strengths(left, right, error, size, leaves):
    ratio = {}
    for t in asked_in(left, right, leaves):
        below = asked_in(left, right, leaves, t)
        inside = _leaves_below(left, right, leaves, t)
        ratio[t] = (error[t] - sum(error[u] for u in inside)) / sum(size[u] for u in below)
    return ratio


def _leaves_below(left, right, leaves, t):
    if t in leaves:
        return [t]
    return _leaves_below(left, right, leaves, left[t]) + _leaves_below(
        left, right, leaves, right[t]
    )


def _cut_at(left, right, leaves, t):
    """The leaves once ``t`` is one; unchanged if it is gone already."""
    if t not in asked_in(left, right, leaves):
        return leaves
    return (leaves - set(_leaves_below(left, right, leaves, t))) | {t}
