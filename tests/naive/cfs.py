"""Correlation-based feature selection, slow and obvious."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import log, sqrt


def entropy(*columns):
    """Joint entropy of columns of codes."""
    n = len(columns[0])
    return -sum(c / n * log(c / n) for c in Counter(zip(*columns, strict=True)).values())


def symmetrical_uncertainty(a, b):
    """2 I(a; b) / (H(a) + H(b)); 0 if both are constant."""
    total = entropy(a) + entropy(b)
    return 2.0 * (total - entropy(a, b)) / total if total > 0 else 0.0


def merit(subset, relevance, correlation, form="hall"):
    """The merit of a subset from means, as it is written."""
    k = len(subset)
    mean_cf = sum(relevance[j] for j in subset) / k
    pairs = [correlation[i][j] for i, j in combinations(subset, 2)]
    mean_ff = sum(pairs) / len(pairs) if pairs else 0.0
    inside = k * (k - 1) * mean_ff if form == "hall" else (k - 1) * mean_ff
    return k * mean_cf / sqrt(k + inside)


def exhaustive(relevance, correlation, form="hall"):
    """The best of all subsets; of equal ones the smallest; none if all are worthless."""
    p = len(relevance)
    best, best_merit = None, -1.0
    for size in range(1, p + 1):
        for subset in combinations(range(p), size):
            value = merit(subset, relevance, correlation, form)
            if value > best_merit + 1e-12:
                best, best_merit = subset, value
    return (list(best), best_merit) if best_merit > 0 else ([], 0.0)


def best_first(relevance, correlation, stale=5, tol=1e-5, form="hall"):
    """Best-first search with a plain list of all subsets seen and not expanded."""
    p = len(relevance)
    waiting = [(0.0, frozenset())]
    seen = {frozenset()}
    best, best_merit, fruitless = None, float("-inf"), 0
    while waiting and fruitless < stale:
        waiting.sort(key=lambda entry: -entry[0])  # stable: the earlier of equal ones first
        _, node = waiting.pop(0)
        improved = False
        before = best_merit
        for j in range(p):
            child = node | {j}
            if j in node:
                continue
            value = merit(sorted(child), relevance, correlation, form)
            if value > before + tol:
                improved = True
            if value > best_merit + 1e-12:
                best, best_merit = sorted(child), value
            if child not in seen:
                seen.add(child)
                waiting.append((value, child))
        fruitless = 0 if improved else fruitless + 1
    return best, best_merit
