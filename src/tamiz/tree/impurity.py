"""How mixed a node is, and how much a split unmixes it.

With ``m_i`` the weight of class ``i`` in a node and ``m`` their sum, the impurity of the node times
its weight is

- Gini: ``m - sum m_i^2 / m``, which is ``m sum p_i (1 - p_i)`` (S4 (9));
- entropy: ``m log m - sum m_i log m_i``, which is ``-m sum p_i log p_i``, in nats (S4 (3), with the
  minus that is missing there);
- error: ``min_j sum_i m_i C_ij``, the cost of the best single label (S4 (5));
- squared error: ``sum w (y - mean)^2``.

A split gains what it takes off this total (S4 (10)). Each criterion has a compiled function that
finds the best place to cut an ordered sequence of samples, updating the totals of both sides sample
by sample. They work with the *score* of a side, which is the negative impurity up to terms that
both sides together always have the same sum of.

Equal gains are common. Of cuts whose scores differ by rounding only, the one with the larger
smaller side is taken, then the first. Of features with equal cuts, the one is taken with the widest
gap at the cut, counted in values of the training data that lie in it, as a fraction of all.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from tamiz.runtime.compiling import njit


class Criterion(IntEnum):
    """What a split is to reduce."""

    GINI = 0
    ENTROPY = 1
    ERROR = 2
    SQUARED_ERROR = 3


_GINI, _ENTROPY, _ERROR, _SQUARED = (int(c) for c in Criterion)

#: A key holds the rank of a value and the row that it stands in.
ROW = (1 << 32) - 1

#: Rank of a missing value.
MISSING = (1 << 31) - 1

#: Least weight of a side, if nothing else is asked.
SOMETHING = 1e-300
#: Larger counts of samples or levels mean the same: no table is as large.
MOST = 1 << 40

#: Scores that differ by a smaller fraction of the impurity are equal.
ROUNDING = 1e-12


class Need(NamedTuple):
    """What either side of a split must get, and by how much scores differ that are equal."""

    least: int  # samples
    heavy: float  # weight, above 0
    slack: float


class Places(NamedTuple):
    """Where a sequence may be cut: positions, the least weight of a side, and equal scores."""

    first: int
    last: int
    heavy: float
    slack: float


def logarithms(weight: np.ndarray) -> np.ndarray:
    """``k log k`` for all sums that integer weights can have; empty if weights are not integers."""
    total = float(weight.sum())
    if total > 5e6 or not (weight == np.rint(weight)).all():
        return np.empty(0)
    k = np.arange(int(total) + 1, dtype=np.float64)
    k[1:] *= np.log(k[1:])
    return k


@njit(cache=True, nogil=True, error_model="numpy")
def score_of(criterion, mass, costs, table):
    """Score of a side from the totals of the samples in it."""
    if criterion == _SQUARED:
        return mass[1] * mass[1] / mass[0] if mass[0] > 0.0 else 0.0
    if criterion == _ERROR:
        return -cheapest(mass, costs)[1]
    total, parts = 0.0, 0.0
    for k in range(len(mass)):
        total += mass[k]
        if criterion == _GINI:
            parts += mass[k] * mass[k]
        else:
            parts += _m_log_m(mass[k], table)
    if total <= 0.0:
        return 0.0
    return parts / total if criterion == _GINI else parts - _m_log_m(total, table)


@njit(cache=True, nogil=True, error_model="numpy")
def cheapest(mass, costs):
    """The label that costs least for samples of these classes, and its cost; first of equals."""
    best, label = np.inf, 0
    for j in range(len(mass)):
        cost = 0.0
        for i in range(len(mass)):
            cost += mass[i] * costs[i, j]
        if cost < best:
            best, label = cost, j
    return label, best


# Written as loops: numba compiles an expression on whole arrays far more slowly.


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(criterion, mass):
    """Weight of the samples whose totals are ``mass``."""
    if criterion == _SQUARED:
        return mass[0]
    total = 0.0
    for k in range(len(mass)):
        total += mass[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def put(target, source):
    """``target[:] = source``."""
    for k in range(len(target)):
        target[k] = source[k]


@njit(cache=True, nogil=True, error_model="numpy")
def shift(target, factor, source):
    """``target += factor * source``."""
    for k in range(len(target)):
        target[k] += factor * source[k]


@njit(cache=True, nogil=True, error_model="numpy")
def smallest_side(n, min_samples_leaf, min_balance):
    """Fewest samples on either side of a split of ``n``."""
    wanted = min_balance * n - 1e-9
    least = int(wanted)
    if least < wanted:
        least += 1
    return max(min_samples_leaf, least)


@njit(cache=True, nogil=True, error_model="numpy")
def add(criterion, mass, row, y, t, g, mean):
    """Add a sample to the totals of a side."""
    if criterion == _SQUARED:
        mass[0] += g[row]
        mass[1] += g[row] * (t[row] - mean)
    else:
        mass[y[row]] += g[row]


@njit(cache=True, nogil=True, error_model="numpy")
def better(score, balance, best, best_balance, slack):
    """Whether a cut replaces the best so far."""
    return score > best + slack or (score >= best - slack and balance > best_balance)


@njit(cache=True, nogil=True, error_model="numpy")
def preferred(score, balance, gap, best, best_balance, best_gap, slack):
    """Whether the cut of a feature replaces the best cut of those before it."""
    if score > best + slack:
        return True
    if score < best - slack:
        return False
    if balance > best_balance * (1.0 + 1e-9):
        return True
    return balance >= best_balance * (1.0 - 1e-9) and gap > best_gap * (1.0 + 1e-9)


@njit(cache=True, nogil=True, error_model="numpy")
def best_cut(criterion, keys, y, t, g, mean, costs, table, left, right, n_left, n_right, need):
    """The best place to cut samples in the order of ``keys``: score, smaller weight, and position.

    ``left`` and ``right`` are the totals before the first sample has gone left, and are used up;
    ``n_left`` and ``n_right`` count the samples among them that are not in ``keys``. Position -1
    says that there is no place that leaves either side what it needs. The arrays of the samples
    come one by one: a tuple of them is copied at each call, and calls are many.
    """
    first, last = need.least - n_left - 1, len(keys) - 1 + n_right - need.least
    places = Places(first, last, need.heavy, need.slack)
    if criterion == _GINI:
        return _cut_gini(keys, y, g, left, right, places)
    if criterion == _SQUARED:
        return _cut_squared(keys, t, g, mean, left, right, places)
    return _cut_other(criterion, keys, y, g, costs, table, left, right, places)


@njit(cache=True, nogil=True, error_model="numpy")
def _cut_other(criterion, keys, y, g, costs, table, left, right, places):
    """By entropy or by cost."""
    first, last, heavy, slack = places
    n = len(keys)
    best, best_balance, at = -np.inf, 0.0, -1
    logs_left, logs_right = 0.0, 0.0
    weight_left, weight_right = weigh(criterion, left), weigh(criterion, right)
    if criterion == _ENTROPY:
        for k in range(len(left)):
            logs_left += _m_log_m(left[k], table)
            logs_right += _m_log_m(right[k], table)
    for i in range(n):
        row = keys[i] & ROW
        c = y[row]
        m = g[row]
        if criterion == _ENTROPY:
            logs_left -= _m_log_m(left[c], table)
            logs_right -= _m_log_m(right[c], table)
        left[c] += m
        right[c] -= m
        weight_left += m
        weight_right -= m
        if criterion == _ENTROPY:
            logs_left += _m_log_m(left[c], table)
            logs_right += _m_log_m(right[c], table)
        if i > last:
            break
        if i < first or (i + 1 < n and keys[i] >> 32 == keys[i + 1] >> 32):
            continue
        if min(weight_left, weight_right) < heavy:
            continue
        if criterion == _ENTROPY:
            score = logs_left - _m_log_m(weight_left, table)
            score += logs_right - _m_log_m(weight_right, table)
        else:
            score = -cheapest(left, costs)[1] - cheapest(right, costs)[1]
        balance = min(weight_left, weight_right)
        if better(score, balance, best, best_balance, slack):
            best, best_balance, at = max(best, score), balance, i
    return best, best_balance, at


@njit(cache=True, nogil=True, error_model="numpy")
def _cut_gini(keys, y, g, left, right, places):
    first, last, heavy, slack = places
    n = len(keys)
    best, best_balance, at = -np.inf, 0.0, -1
    weight_left, weight_right, squares_left, squares_right = 0.0, 0.0, 0.0, 0.0
    for k in range(len(left)):
        weight_left += left[k]
        weight_right += right[k]
        squares_left += left[k] * left[k]
        squares_right += right[k] * right[k]
    # a small rest of large numbers is mostly rounding: with weights that differ widely the squares
    # are summed up anew near the end, so that no proportion comes out above one
    few = 1e-6 * (weight_left + weight_right)
    for i in range(n):
        key = keys[i]
        row = key & ROW
        c = y[row]
        m = g[row]
        squares_left += m * (2.0 * left[c] + m)
        squares_right -= m * (2.0 * right[c] - m)
        left[c] += m
        right[c] -= m
        weight_left += m
        weight_right -= m
        if i > last:
            break
        if i < first or (i + 1 < n and key >> 32 == keys[i + 1] >> 32):
            continue
        if weight_right < few:
            weight_right, squares_right = 0.0, 0.0
            for k in range(len(right)):
                right[k] = max(right[k], 0.0)
                weight_right += right[k]
                squares_right += right[k] * right[k]
        if min(weight_left, weight_right) < heavy:
            continue
        score = squares_left / weight_left + squares_right / weight_right
        if score >= best - slack:
            balance = min(weight_left, weight_right)
            if better(score, balance, best, best_balance, slack):
                best, best_balance, at = max(best, score), balance, i
    return best, best_balance, at


@njit(cache=True, nogil=True, error_model="numpy")
def _cut_squared(keys, t, g, mean, left, right, places):
    first, last, heavy, slack = places
    n = len(keys)
    best, best_balance, at = -np.inf, 0.0, -1
    weight_left, weight_right, sum_left, sum_right = left[0], right[0], left[1], right[1]
    for i in range(n):
        key = keys[i]
        row = key & ROW
        m = g[row]
        d = m * (t[row] - mean)
        weight_left += m
        weight_right -= m
        sum_left += d
        sum_right -= d
        if i > last:
            break
        if i < first or (i + 1 < n and key >> 32 == keys[i + 1] >> 32):
            continue
        if min(weight_left, weight_right) < heavy:
            continue
        score = sum_left * sum_left / weight_left + sum_right * sum_right / weight_right
        if score >= best - slack:
            balance = min(weight_left, weight_right)
            if better(score, balance, best, best_balance, slack):
                best, best_balance, at = max(best, score), balance, i
    return best, best_balance, at


@njit(cache=True, nogil=True, error_model="numpy")
def _m_log_m(m, table):
    if m <= 0.0:
        return 0.0
    if len(table):
        return table[int(m + 0.5)]
    return m * np.log(m)
