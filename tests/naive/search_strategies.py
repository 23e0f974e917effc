"""Searches over subsets of features as plain loops over sets; J is a function of a tuple."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

J = Callable[[tuple[int, ...]], float]


def exhaustive(score: J, p: int, sizes: Iterable[int]) -> tuple[int, ...]:
    """The best subset; ties to the smaller, then to the first in lexicographic order."""
    best, best_value = None, float("-inf")
    for size in sorted(sizes):
        for subset in combinations(range(p), size):
            if score(subset) > best_value:
                best, best_value = subset, score(subset)
    assert best is not None
    return best


def forward(score: J, p: int, size: int, start: Iterable[int] = ()) -> list[tuple[int, ...]]:
    """The subsets met by adding the best feature, the start included unless it is empty."""
    current = tuple(sorted(start))
    met = [current] if current else []
    while len(current) < size:
        best, best_value = None, float("-inf")
        for j in range(p):
            if j not in current:
                wider = tuple(sorted((*current, j)))
                if best is None or score(wider) > best_value:
                    best, best_value = wider, score(wider)
        assert best is not None
        current = best
        met.append(current)
    return met


def backward(score: J, p: int, size: int) -> list[tuple[int, ...]]:
    """The subsets met by removing the feature that is missed least."""
    current = tuple(range(p))
    met = [current]
    while len(current) > size:
        best, best_value = None, float("-inf")
        for j in current:
            smaller = tuple(k for k in current if k != j)
            if best is None or score(smaller) > best_value:
                best, best_value = smaller, score(smaller)
        assert best is not None
        current = best
        met.append(current)
    return met


def best_first(score: J, p: int, patience: int, both: bool = False) -> tuple[tuple[int, ...], int]:
    """The best subset found and the number of subsets judged."""
    waiting: list[tuple[int, ...]] = [()]
    met: list[tuple[int, ...]] = []  # judged, in order
    best_value, fruitless = float("-inf"), 0
    while waiting and fruitless < patience:
        node = max(
            waiting,
            key=lambda s: (score(s) if s else float("-inf"), -len(s), -_place(met, s)),
        )
        waiting.remove(node)
        gained = False
        for j in range(p):
            if j in node:
                child = tuple(k for k in node if k != j)
                if not both:
                    continue
            else:
                child = tuple(sorted((*node, j)))
            if not child or child in met:
                continue
            met.append(child)
            waiting.append(child)
        for child in met:
            if score(child) > best_value:
                best_value, gained = score(child), True
        fruitless = 0 if gained else fruitless + 1
    top = [s for s in met if score(s) == best_value]
    return min(top, key=lambda s: (len(s), _place(met, s))), len(met)


def _place(met: list[tuple[int, ...]], subset: tuple[int, ...]) -> int:
    return met.index(subset) if subset in met else -1
