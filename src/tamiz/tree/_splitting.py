"""The best split of a node on each feature, and splits that stand in for it.

**Missing values** in a feature can be dealt with in two ways.

- *Surrogates*: the split is chosen on the samples whose value is known, and its gain is what it
  takes off *their* impurity: the gain for each unit of weight, times the fraction that is known.
  The others are placed by stand-ins.
- *Direction*: all samples whose value is missing go to the same side, whichever is better, and
  count in the gain. A split may also set them apart from all known values. For categories, missing
  is one more category.

What gains more is taken; missing values that mean nothing dilute the side they are sent to, so that
the second way is only taken where it matters that a value is missing.

**Categories.** ``c`` categories can be divided in ``2^(c-1) - 1`` ways. For two classes, and for
squared error, the best way is among the ``c - 1`` cuts of the categories in the order of the
proportion of one class, or of the mean (Breiman et al. 1984, theorem 4.5; Fisher 1958): the
impurity is concave in that proportion. That is so if either side may be as small as one sample.
With a larger minimum, and for more classes, all subsets are tried up to a limit, each from the one
before by moving one category (Gray code). Beyond the limit the cuts of several orders are tried: by
the proportion of each class, and by the first principal component of the class proportions
(Coppersmith, Hong and Hosking 1999).

**Surrogates** are splits on other features that send most samples to the same side. Among the
samples that both can place, a surrogate agrees with the split on a part of the weight. It is worth
having if it does so more often than the rule to send every sample to the larger side (Breiman et
al. 1984, section 5.3): its predictive association

    (agreement - larger side) / (all - larger side)

is above zero. Surrogates are tried in the order of their agreement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamiz.runtime.compiling import njit
from tamiz.tree._samples import Levels
from tamiz.tree.impurity import (
    MISSING,
    ROUNDING,
    ROW,
    SOMETHING,
    Need,
    add,
    best_cut,
    better,
    preferred,
    put,
    score_of,
    shift,
    smallest_side,
    weigh,
)
from tamiz.tree.splits import NominalSplit, NumericSplit, Split, Surrogate


class Kinds(NamedTuple):
    """What the features are, and how to treat them."""

    nominal: np.ndarray  # bool
    n_levels: np.ndarray  # of nominal features: number of categories
    max_exact: int
    by_surrogates: bool
    by_direction: bool


class FeatureSplits(NamedTuple):
    """By feature: the best split."""

    gain: np.ndarray  # -1 if there is none
    balance: np.ndarray
    low: np.ndarray  # ranks on both sides of the threshold; high is MISSING if all known go left
    high: np.ndarray
    missing: np.ndarray
    subsets: np.ndarray  # int8 (features, categories): 1 left, 0 right, -1 neither


class NodeTotals(NamedTuple):
    """A node that is to be split: its range of places, and its totals (see ``describe``)."""

    begin: int
    end: int
    mass: np.ndarray
    mean: float
    impurity: float


def room(p: int, n_categories: int) -> FeatureSplits:
    """Where a search leaves what it found."""
    return FeatureSplits(
        np.empty(p),
        np.empty(p),
        np.empty(p, dtype=np.int64),
        np.empty(p, dtype=np.int64),
        np.empty(p, dtype=np.int8),
        np.empty((p, n_categories + 1), dtype=np.int8),
    )


def choose(found: FeatureSplits, kinds: Kinds, n_levels: np.ndarray, impurity: float) -> int:
    """The feature with the largest gain; -1 if there is none. Ties as the compiled builder does."""
    best, best_balance, best_gap, feature = -1.0, 0.0, 0.0, -1
    slack = ROUNDING * impurity
    for j in np.flatnonzero(found.gain >= 0.0).tolist():
        gain, balance = float(found.gain[j]), float(found.balance[j])
        gap = 0.0
        if not kinds.nominal[j] and found.high[j] != MISSING:
            gap = float(found.high[j] - found.low[j]) / float(n_levels[j])
        if _preferred(gain, balance, gap, best, best_balance, best_gap, slack):
            best, best_balance, best_gap, feature = max(best, gain), balance, gap, j
    return feature


# one call of compiled code costs more than it takes; without a compiler there is only this one
_preferred = getattr(preferred, "py_func", preferred)


@njit(cache=True, nogil=True, error_model="numpy")
def _known(column):
    """Number of samples whose value is known; missing ones are at the end."""
    low, high = 0, len(column)
    while low < high:
        middle = (low + high) // 2
        if column[middle] >> 32 == MISSING:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def _absent(column, known, samples, criterion, mean, mass, absent, here):
    """Totals of the samples with a missing value, and of the others."""
    for i in range(known, len(column)):
        add(criterion, absent, column[i] & ROW, samples.y, samples.t, samples.g, mean)
    put(here, mass)
    shift(here, -1.0, absent)


@njit(cache=True, nogil=True, error_model="numpy")
def search_numeric(first, last, node, samples, kinds, rules, found):
    """Find the best split of a node on each numeric feature of those from ``first`` to ``last``."""
    begin, end, mass, mean, impurity = node
    keys, y, t, _w, g, costs, table, _n_levels = samples
    criterion, slack = rules.criterion, ROUNDING * impurity
    least = smallest_side(end - begin, rules.min_samples_leaf, rules.min_balance)
    need = Need(least, rules.min_weight_leaf, slack)
    nothing, left, right = np.zeros(len(mass)), np.zeros(len(mass)), np.zeros(len(mass))
    absent, here = np.zeros(len(mass)), np.zeros(len(mass))
    for j in range(first, last):
        if kinds.nominal[j]:
            continue
        found.gain[j], found.balance[j], found.missing[j] = -1.0, 0.0, -1
        column = keys[j, begin:end]
        known = _known(column)
        n_missing = len(column) - known
        values = column[:known]
        put(absent, nothing)
        _absent(column, known, samples, criterion, mean, mass, absent, here)
        for way in range(3):  # surrogates, missing to the right, missing to the left
            if way == 0 and n_missing > 0 and not kinds.by_surrogates:
                continue
            if way > 0 and (n_missing == 0 or not kinds.by_direction):
                continue
            if known == 0 or (way != 1 and values[0] >> 32 == values[known - 1] >> 32):
                continue
            put(left, absent if way == 2 else nothing)
            put(right, mass if way == 1 else here)
            before = score_of(criterion, here if way == 0 else mass, costs, table)
            score, balance, at = best_cut(
                criterion, values, y, t, g, mean, costs, table, left, right,
                n_missing if way == 2 else 0, n_missing if way == 1 else 0, need,
            )  # fmt: skip
            if at < 0:
                continue
            gain = max(0.0, score - before)
            if gain > found.gain[j] + slack or found.gain[j] < 0.0:
                found.gain[j], found.balance[j] = gain, balance
                found.low[j] = values[at] >> 32
                found.high[j] = values[at + 1] >> 32 if at + 1 < known else MISSING
                found.missing[j] = -1 if way == 0 else way - 1


@njit(cache=True, nogil=True, error_model="numpy")
def search_nominal(first, last, node, samples, kinds, rules, found):
    """Find the best split of a node on each nominal feature of those from ``first`` to ``last``."""
    begin, end, mass, mean, impurity = node
    keys, y, t, _w, g, costs, table, _n_levels = samples
    criterion, slack = rules.criterion, ROUNDING * impurity
    least = smallest_side(end - begin, rules.min_samples_leaf, rules.min_balance)
    need = Need(least, rules.min_weight_leaf, slack)
    nothing, absent, here = np.zeros(len(mass)), np.zeros(len(mass)), np.zeros(len(mass))
    for j in range(first, last):
        if not kinds.nominal[j]:
            continue
        found.gain[j], found.balance[j], found.missing[j] = -1.0, 0.0, -1
        column = keys[j, begin:end]
        known = _known(column)
        n_missing = len(column) - known
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
        for way in range(2):  # surrogates, missing as a category
            if way == 0 and n_missing > 0 and not kinds.by_surrogates:
                continue
            if way == 1:
                if n_missing == 0 or not kinds.by_direction:
                    continue
                put(totals[c], absent)
                counts[c] = n_missing
            before = score_of(criterion, mass if way == 1 else here, costs, table)
            score, balance = best_subset(
                criterion, totals, counts, costs, table, need, kinds.max_exact, subset
            )
            if score == -np.inf:
                continue
            gain = max(0.0, score - before)
            if gain > found.gain[j] + slack or found.gain[j] < 0.0:
                found.gain[j], found.balance[j] = gain, balance
                found.missing[j] = subset[c]
                for k in range(c):
                    chosen[k] = subset[k]


_SQUARED = 3


class Division(NamedTuple):
    """Categories that are to be divided; see :func:`best_subset`."""

    criterion: int
    totals: np.ndarray
    counts: np.ndarray
    costs: np.ndarray
    table: np.ndarray
    need: Need
    present: np.ndarray  # categories with samples
    everything: np.ndarray  # their totals


@njit(cache=True, nogil=True, error_model="numpy")
def best_subset(criterion, totals, counts, costs, table, need, max_exact, goes_left):
    """Score and smaller weight of the best division of categories, marked in ``goes_left``.

    Parameters
    ----------
    totals : array (categories, totals)
        What each category adds to the totals of its side.
    counts : array (categories,)
        Samples of each; those without any are left out.
    goes_left : int8 array (categories,)
        Filled: 1 left, 0 right, -1 without samples. All -1 says that there is no division.
    """
    n_totals = totals.shape[1]
    present = np.empty(len(counts), dtype=np.int64)
    c = 0
    everything = np.zeros(n_totals)
    for level in range(len(counts)):
        goes_left[level] = -1
        if counts[level] > 0:
            present[c] = level
            c += 1
            shift(everything, 1.0, totals[level])
    if c < 2:
        return -np.inf, 0.0
    present = present[:c]
    n_classes, last_class = 0, 0
    for k in range(n_totals):
        if everything[k] > 0.0:
            n_classes += 1
            last_class = k
    ordered = criterion == _SQUARED or n_classes <= 2
    constrained = need.least > 1 or need.heavy > SOMETHING
    division = Division(criterion, totals, counts, costs, table, need, present, everything)
    if (not ordered or constrained) and c <= max_exact:
        return _all_subsets(division, goes_left)
    first, last = -1, n_totals  # orders to try: the principal component, then every class
    if ordered:
        first = 1 if criterion == _SQUARED else last_class
        last = first + 1
    position, order = np.empty(c), np.empty(c, dtype=np.int64)
    best, balance = -np.inf, 0.0
    for k in range(first, last):
        if k < 0:
            _principal(criterion, totals, present, everything, position)
        else:
            for i in range(c):
                weight = weigh(criterion, totals[present[i]])
                position[i] = totals[present[i], k] / weight if weight > 0.0 else 0.0
        _sort(position, order)
        best, balance = _along(order, division, goes_left, best, balance)
    return best, balance


@njit(cache=True, nogil=True, error_model="numpy")
def _along(order, division, goes_left, best, best_balance):
    """The best cut of the categories in an order, if it is better than the best so far."""
    criterion, totals, counts, costs, table, need, present, everything = division
    c = len(present)
    left, right = np.zeros(totals.shape[1]), np.zeros(totals.shape[1])
    put(right, everything)
    n_left, n_right, cut = 0, 0, -1
    for i in range(c):
        n_right += counts[present[i]]
    for i in range(c - 1):
        level = present[order[i]]
        shift(left, 1.0, totals[level])
        shift(right, -1.0, totals[level])
        n_left += counts[level]
        n_right -= counts[level]
        if n_left < need.least or n_right < need.least:
            continue
        score, balance = _score(criterion, left, right, costs, table)
        if balance >= need.heavy and better(score, balance, best, best_balance, need.slack):
            best, best_balance, cut = max(best, score), balance, i
    if cut >= 0:
        for i in range(c):
            goes_left[present[order[i]]] = 1 if i <= cut else 0
    return best, best_balance


@njit(cache=True, nogil=True, error_model="numpy")
def _all_subsets(division, goes_left):
    """Every division once: the last category always stays on the right."""
    criterion, totals, counts, costs, table, need, present, everything = division
    c = len(present)
    left, right = np.zeros(totals.shape[1]), np.zeros(totals.shape[1])
    put(right, everything)
    n_left, n_right = 0, 0
    for i in range(c):
        n_right += counts[present[i]]
    inside = np.zeros(c, dtype=np.int8)
    best, best_balance = -np.inf, 0.0
    for step in range(1, 1 << (c - 1)):
        i = 0
        while not (step >> i) & 1:
            i += 1
        level = present[i]
        sign = -1 if inside[i] else 1
        inside[i] = 1 - inside[i]
        shift(left, sign, totals[level])
        shift(right, -sign, totals[level])
        n_left += sign * counts[level]
        n_right -= sign * counts[level]
        if n_left < need.least or n_right < need.least:
            continue
        score, balance = _score(criterion, left, right, costs, table)
        if balance >= need.heavy and better(score, balance, best, best_balance, need.slack):
            best, best_balance = max(best, score), balance
            for k in range(c):
                goes_left[present[k]] = inside[k]
    return best, best_balance


@njit(cache=True, nogil=True, error_model="numpy")
def _score(criterion, left, right, costs, table):
    """Score of both sides, and the smaller weight."""
    balance = min(weigh(criterion, left), weigh(criterion, right))
    score = score_of(criterion, left, costs, table) + score_of(criterion, right, costs, table)
    return score, balance


@njit(cache=True, nogil=True, error_model="numpy")
def _principal(criterion, totals, present, everything, position):
    """Place of each category on the first principal component of its class proportions."""
    c, n_classes = len(present), totals.shape[1]
    total = weigh(criterion, everything)
    parts = np.zeros((c, n_classes))
    spread = np.zeros((n_classes, n_classes))
    for i in range(c):
        weight = weigh(criterion, totals[present[i]])
        for k in range(n_classes):
            if weight > 0.0:
                parts[i, k] = totals[present[i], k] / weight - everything[k] / total
        for a in range(n_classes):
            for b in range(n_classes):
                spread[a, b] += weight * parts[i, a] * parts[i, b]
    widest = 0
    for a in range(n_classes):
        if spread[a, a] > spread[widest, widest]:
            widest = a
    direction, turned = np.zeros(n_classes), np.zeros(n_classes)
    put(direction, spread[widest])
    for _ in range(200):
        size = 0.0
        for a in range(n_classes):
            turned[a] = 0.0
            for b in range(n_classes):
                turned[a] += spread[a, b] * direction[b]
            size = max(size, abs(turned[a]))
        if size <= 0.0:
            break
        for a in range(n_classes):
            direction[a] = turned[a] / size
    for i in range(c):
        position[i] = 0.0
        for a in range(n_classes):
            position[i] += parts[i, a] * direction[a]


@njit(cache=True, nogil=True, error_model="numpy")
def _sort(position, order):
    """Put the places in ascending order of position (Shell's way); equal ones as they come."""
    c = len(position)
    for i in range(c):
        order[i] = i
    gap = 1
    while 3 * gap + 1 < c:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, c):
            held = order[i]
            k = i
            while k >= gap and (
                position[order[k - gap]] > position[held]
                or (position[order[k - gap]] == position[held] and order[k - gap] > held)
            ):
                order[k] = order[k - gap]
                k -= gap
            order[k] = held
        gap //= 3


#: Fewest samples on either side of a surrogate.
_FEWEST = 2


class Agreements(NamedTuple):
    """By feature: the best stand-in."""

    agreement: np.ndarray  # fraction of the weight; -1 if there is none
    association: np.ndarray
    reverse: np.ndarray
    low: np.ndarray
    high: np.ndarray
    subsets: np.ndarray


def make_room(p: int, n_categories: int) -> Agreements:
    """Where a search leaves what it found."""
    return Agreements(
        np.empty(p),
        np.empty(p),
        np.empty(p, dtype=bool),
        np.empty(p, dtype=np.int64),
        np.empty(p, dtype=np.int64),
        np.empty((p, n_categories + 1), dtype=np.int8),
    )


def best_surrogates(
    found: Agreements, levels: Levels, nominal: np.ndarray, most: int, used: tuple[int, ...]
) -> tuple[Surrogate, ...]:
    """The ``most`` best of those found, best first; the features of the split are left out."""
    agreement = found.agreement.copy()
    agreement[list(used)] = -1.0
    chosen = np.argsort(-agreement, kind="stable")[:most]
    made = []
    for j in chosen[agreement[chosen] >= 0.0].tolist():
        split: Split
        if nominal[j]:
            subset = found.subsets[j]
            split = NominalSplit(
                j,
                frozenset(np.flatnonzero(subset == 1).tolist()),
                frozenset(np.flatnonzero(subset == 0).tolist()),
            )
        else:
            split = NumericSplit(j, levels.between(j, int(found.low[j]), int(found.high[j])))
        made.append(
            Surrogate(
                split,
                bool(found.reverse[j]),
                float(found.agreement[j]),
                float(found.association[j]),
            )
        )
    return tuple(made)


@njit(cache=True, nogil=True, error_model="numpy")
def find_surrogates(first, last, node, samples, kinds, side, found):
    """Find the best stand-in on each of the features ``first`` to ``last``.

    ``side`` is what the split says by row: 1 left, 0 right, -1 undecided.
    """
    keys, w = samples.keys, samples.w
    for j in range(first, last):
        column = keys[j, node.begin : node.end]
        found.agreement[j] = -1.0
        left, right, n = 0.0, 0.0, 0
        for i in range(len(column)):
            key = column[i]
            if key >> 32 == MISSING:
                break
            s = side[key & ROW]
            if s >= 0:
                n += 1
                if s == 1:
                    left += w[key & ROW]
                else:
                    right += w[key & ROW]
        larger = max(left, right)
        if min(left, right) <= 0.0 or n < 2 * _FEWEST:
            continue
        if kinds.nominal[j]:
            agree = _by_category(j, column, w, side, kinds.n_levels[j], found)
        else:
            agree = _by_threshold(j, column, w, side, left, right, n, found)
        total = left + right
        if agree > larger * (1.0 + 1e-9):
            found.agreement[j] = min(1.0, agree / total)
            found.association[j] = min(1.0, (agree - larger) / (total - larger))


@njit(cache=True, nogil=True, error_model="numpy")
def _by_threshold(j, column, w, side, left, right, n, found):
    best, below_left, below_right, before = -1.0, 0.0, 0.0, 0
    last = -1  # rank of the sample before, of those that count
    for i in range(len(column)):
        key = column[i]
        rank = key >> 32
        if rank == MISSING:
            break
        s = side[key & ROW]
        if s < 0:
            continue
        if rank != last and last >= 0 and before >= _FEWEST and n - before >= _FEWEST:
            same = below_left + right - below_right
            for reverse in (False, True):
                agree = left + right - same if reverse else same
                if agree > best * (1.0 + 1e-12):
                    best = agree
                    found.reverse[j] = reverse
                    found.low[j], found.high[j] = last, rank
        if s == 1:
            below_left += w[key & ROW]
        else:
            below_right += w[key & ROW]
        before += 1
        last = rank
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _by_category(j, column, w, side, n_levels, found):
    weights = np.zeros((n_levels, 2))
    counts = np.zeros(n_levels, dtype=np.int64)
    for i in range(len(column)):
        key = column[i]
        level = key >> 32
        if level == MISSING:
            break
        s = side[key & ROW]
        if s >= 0:
            weights[level, s] += w[key & ROW]
            counts[level] += 1
    for level in range(found.subsets.shape[1]):
        found.subsets[j, level] = -1
    found.reverse[j] = False
    agree = 0.0
    n_side = np.zeros(2, dtype=np.int64)
    for level in range(n_levels):
        if counts[level]:
            s = 1 if weights[level, 1] >= weights[level, 0] else 0
            found.subsets[j, level] = s
            agree += weights[level, s]
            n_side[s] += counts[level]
    return agree if min(n_side[0], n_side[1]) >= _FEWEST else -1.0
