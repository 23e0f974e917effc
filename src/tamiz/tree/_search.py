"""The best split of a node on one feature, for features of every kind and with gaps.

A gap in a feature can be dealt with in two ways.

- *Surrogates*: the split is chosen on the samples whose value is known, and its gain is what it
  takes off *their* impurity: the gain for each unit of weight, times the share that is known. The
  others are placed by stand-ins.
- *Direction*: all samples with a gap go to the same side, whichever is better, and count in the
  gain. A split may also set the gaps apart from all known values. For categories, the gap is one
  more category.

What gains more is taken; gaps that tell nothing dilute the side they are sent to, so that the
second way is only taken where the gap itself tells something.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tamiz.tree._nominal import best_subset
from tamiz.tree.impurity import (
    GAP,
    ROUNDING,
    ROW,
    add,
    best_cut,
    preferred,
    put,
    score_of,
    shift,
    smallest_side,
)


class Kinds(NamedTuple):
    """What the features are, and how to treat them."""

    nominal: np.ndarray  # bool
    n_levels: np.ndarray  # of nominal features: number of categories
    max_exact: int
    by_surrogates: bool
    by_direction: bool


class Found(NamedTuple):
    """By feature: the best split."""

    gain: np.ndarray  # -1 if there is none
    balance: np.ndarray
    low: np.ndarray  # ranks on both sides of the threshold; high is GAP if all known go left
    high: np.ndarray
    missing: np.ndarray
    subsets: np.ndarray  # int8 (features, categories): 1 left, 0 right, -1 neither


def room(p: int, n_categories: int) -> Found:
    """Where a search leaves what it found."""
    return Found(
        np.empty(p),
        np.empty(p),
        np.empty(p, dtype=np.int64),
        np.empty(p, dtype=np.int64),
        np.empty(p, dtype=np.int8),
        np.empty((p, n_categories + 1), dtype=np.int8),
    )


def choose(found: Found, kinds: Kinds, n_levels: np.ndarray, impurity: float) -> int:
    """The feature with the largest gain; -1 if there is none. Ties as the compiled builder does."""
    best, best_balance, best_gap, feature = -1.0, 0.0, 0.0, -1
    slack = ROUNDING * impurity
    for j in np.flatnonzero(found.gain >= 0.0).tolist():
        gain, balance = float(found.gain[j]), float(found.balance[j])
        gap = 0.0
        if not kinds.nominal[j] and found.high[j] != GAP:
            gap = float(found.high[j] - found.low[j]) / float(n_levels[j])
        if _preferred(gain, balance, gap, best, best_balance, best_gap, slack):
            best, best_balance, best_gap, feature = max(best, gain), balance, gap, j
    return feature


# one call of compiled code costs more than it takes; without a compiler there is only this one
_preferred = getattr(preferred, "py_func", preferred)


@njit(cache=True, nogil=True, error_model="numpy")
def _known(column):
    """Number of samples whose value is known; gaps are at the end."""
    low, high = 0, len(column)
    while low < high:
        middle = (low + high) // 2
        if column[middle] >> 32 == GAP:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def _absent(column, known, samples, criterion, mean, mass, absent, here):
    """Totals of the samples with a gap, and of the others."""
    for i in range(known, len(column)):
        add(criterion, absent, column[i] & ROW, samples.y, samples.t, samples.g, mean)
    put(here, mass)
    shift(here, -1.0, absent)


@njit(cache=True, nogil=True, error_model="numpy")
def search_numeric(first, last, begin, end, samples, kinds, rules, mass, mean, impurity, found):
    """Find the best split of a node on each numeric feature of those from ``first`` to ``last``."""
    keys, y, t, _w, g, costs, table, _n_levels = samples
    criterion = rules.criterion
    least = smallest_side(end - begin, rules.min_samples_leaf, rules.min_balance)
    slack, heavy = ROUNDING * impurity, rules.min_weight_leaf
    nothing, left, right = np.zeros(len(mass)), np.zeros(len(mass)), np.zeros(len(mass))
    absent, here = np.zeros(len(mass)), np.zeros(len(mass))
    for j in range(first, last):
        if kinds.nominal[j]:
            continue
        found.gain[j], found.balance[j], found.missing[j] = -1.0, 0.0, -1
        column = keys[j, begin:end]
        known = _known(column)
        n_gaps = len(column) - known
        values = column[:known]
        put(absent, nothing)
        _absent(column, known, samples, criterion, mean, mass, absent, here)
        for way in range(3):  # surrogates, gaps to the right, gaps to the left
            if way == 0 and n_gaps > 0 and not kinds.by_surrogates:
                continue
            if way > 0 and (n_gaps == 0 or not kinds.by_direction):
                continue
            if known == 0 or (way != 1 and values[0] >> 32 == values[known - 1] >> 32):
                continue
            put(left, absent if way == 2 else nothing)
            put(right, mass if way == 1 else here)
            before = score_of(criterion, here if way == 0 else mass, costs, table)
            score, balance, at = best_cut(
                criterion, values, y, t, g, mean, costs, table, left, right,
                n_gaps if way == 2 else 0, n_gaps if way == 1 else 0, least, heavy, slack,
            )  # fmt: skip
            if at < 0:
                continue
            gain = max(0.0, score - before)
            if gain > found.gain[j] + slack or found.gain[j] < 0.0:
                found.gain[j], found.balance[j] = gain, balance
                found.low[j] = values[at] >> 32
                found.high[j] = values[at + 1] >> 32 if at + 1 < known else GAP
                found.missing[j] = -1 if way == 0 else way - 1


@njit(cache=True, nogil=True, error_model="numpy")
def search_nominal(first, last, begin, end, samples, kinds, rules, mass, mean, impurity, found):
    """Find the best split of a node on each nominal feature of those from ``first`` to ``last``."""
    keys, y, t, _w, g, costs, table, _n_levels = samples
    criterion = rules.criterion
    least = smallest_side(end - begin, rules.min_samples_leaf, rules.min_balance)
    slack, heavy = ROUNDING * impurity, rules.min_weight_leaf
    nothing, absent, here = np.zeros(len(mass)), np.zeros(len(mass)), np.zeros(len(mass))
    for j in range(first, last):
        if not kinds.nominal[j]:
            continue
        found.gain[j], found.balance[j], found.missing[j] = -1.0, 0.0, -1
        column = keys[j, begin:end]
        known = _known(column)
        n_gaps = len(column) - known
        put(absent, nothing)
        _absent(column, known, samples, criterion, mean, mass, absent, here)
        c = kinds.n_levels[j]
        totals = np.zeros((c + 1, len(mass)))
        counts = np.zeros(c + 1, dtype=np.int64)
        for i in range(known):
            level = column[i] >> 32
            counts[level] += 1
            add(criterion, totals[level], column[i] & ROW, y, t, g, mean)
        chosen = found.subsets[j]
        for k in range(len(chosen)):
            chosen[k] = -1
        subset = np.empty(c + 1, dtype=np.int8)
        for way in range(2):  # surrogates, the gap as a category
            if way == 0 and n_gaps > 0 and not kinds.by_surrogates:
                continue
            if way == 1:
                if n_gaps == 0 or not kinds.by_direction:
                    continue
                put(totals[c], absent)
                counts[c] = n_gaps
            before = score_of(criterion, mass if way == 1 else here, costs, table)
            score, balance = best_subset(
                criterion, totals, counts, costs, table, least, heavy, slack, kinds.max_exact,
                subset,
            )  # fmt: skip
            if score == -np.inf:
                continue
            gain = max(0.0, score - before)
            if gain > found.gain[j] + slack or found.gain[j] < 0.0:
                found.gain[j], found.balance[j] = gain, balance
                found.missing[j] = subset[c]
                for k in range(c):
                    chosen[k] = subset[k]
