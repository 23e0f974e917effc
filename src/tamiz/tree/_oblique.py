"""Oblique splits: hyperplanes ``a'x <= b``, found by climbing.

To find the best hyperplane is hard; this climbs as OC1 does (Murthy, Kasif and Salzberg 1994). The
features are z-scored inside the node. From a start, one coefficient at a time is given its best
value: with the others fixed, each sample changes sides at one value of the coefficient, so that one
pass over these values in order tries them all. When no coefficient helps, the hyperplane is moved
along a few random directions, again to the best place on each. The first start is the best split on
one feature, the others are random. In the end coefficients that are not needed are dropped, and the
threshold is put half-way between the nearest samples.

A hyperplane is only kept if it gains more than the best split on one feature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tamiz.tree._samples import Rules, Samples
from tamiz.tree.impurity import (
    ROUNDING,
    ROW,
    Criterion,
    add,
    best_cut,
    put,
    score_of,
    shift,
    smallest_side,
    weigh,
)
from tamiz.tree.splits import NumericSplit, ObliqueSplit, Split

#: Rounds over all coefficients at most, and random directions tried when none helps.
_ROUNDS = 20
_JUMPS = 5


class Climb(NamedTuple):
    """How to look for hyperplanes."""

    columns: np.ndarray  # numeric features
    n_starts: int
    seed: int


def find_oblique(
    climb: Climb,
    node: int,
    X: np.ndarray,
    begin: int,
    end: int,
    samples: Samples,
    rules: Rules,
    axis: Split | None,
    axis_gain: float,
    impurity: float,
) -> tuple[ObliqueSplit, float] | None:
    """A hyperplane that gains more than ``axis_gain``, and its gain; None if none was found."""
    rows = samples.keys[0, begin:end] & ROW
    table = X[np.ix_(rows, climb.columns)]
    complete = ~np.isnan(table).any(axis=1)
    rows, table = rows[complete], table[complete]
    least = smallest_side(end - begin, rules.min_samples_leaf, rules.min_balance)
    heavy = rules.min_weight_leaf
    if len(rows) < max(2, 2 * least):
        return None
    middle, spread = table.mean(axis=0), table.std(axis=0)
    varies = np.flatnonzero(spread > 1e-12 * np.maximum(1.0, np.abs(middle)))
    if len(varies) < 2:
        return None
    columns, middle, spread = climb.columns[varies], middle[varies], spread[varies]
    table = np.ascontiguousarray(table[:, varies])
    Z = np.ones((len(rows), len(varies) + 1))
    Z[:, :-1] = (table - middle) / spread
    rng = np.random.default_rng([climb.seed, node])
    draws = rng.standard_normal((climb.n_starts, _JUMPS * _ROUNDS + 1, Z.shape[1]))
    draws[0, 0] = 0.0
    if isinstance(axis, NumericSplit) and np.isfinite(axis.threshold):
        at = np.flatnonzero(columns == axis.feature)
        if len(at):
            draws[0, 0, at[0]] = 1.0
            draws[0, 0, -1] = (middle[at[0]] - axis.threshold) / spread[at[0]]
    if not draws[0, 0].any():
        draws[0, 0] = rng.standard_normal(Z.shape[1])
    slack = ROUNDING * impurity
    mass = np.zeros(2 if rules.criterion == Criterion.SQUARED_ERROR else len(samples.costs))
    mean = _totals(rules.criterion, rows, samples, mass)
    before = score_of(rules.criterion, mass, samples.costs, samples.table)
    best_gain, best = axis_gain + 1e-9 * max(impurity, axis_gain), None
    for start in range(climb.n_starts):
        a = _climb(Z, rows, draws[start], samples, rules.criterion, mass, mean, least, heavy, slack)
        raw = a[:-1] / spread
        raw /= np.abs(raw).max() or 1.0
        small_first = np.argsort(np.abs(a[:-1]), kind="stable")
        score, threshold = _settle(
            table, rows, raw, small_first, samples, rules.criterion, mass, mean, least, heavy, slack
        )
        gain = score - before
        if np.isfinite(score) and gain > best_gain and np.count_nonzero(raw) > 1:
            used = np.flatnonzero(raw)
            best_gain = gain
            best = ObliqueSplit(
                tuple(columns[used].tolist()), tuple(raw[used].tolist()), float(threshold)
            )
    return None if best is None else (best, float(best_gain))


@njit(cache=True, nogil=True, error_model="numpy")
def _totals(criterion, rows, samples, mass):
    """Fill the totals of some samples; returns the mean they are about."""
    mean, weight = 0.0, 0.0
    if len(samples.t):
        for row in rows:
            mean += samples.g[row] * samples.t[row]
            weight += samples.g[row]
        mean /= weight
    for row in rows:
        add(criterion, mass, row, samples.y, samples.t, samples.g, mean)
    return mean


@njit(cache=True, nogil=True, error_model="numpy")
def _climb(Z, rows, draws, samples, criterion, mass, mean, least, heavy, slack):
    """Coefficients (the last is the constant) that no single change improves."""
    n, q = Z.shape
    a = draws[0].copy()
    values = np.zeros(n)
    for i in range(n):
        for k in range(q):
            values[i] += a[k] * Z[i, k]
    ones, column = np.ones(n), np.empty(n)
    best, step = _best_step(values, ones, rows, samples, criterion, mass, mean, least, heavy, slack)
    if step != 0.0 and best > -np.inf:  # the best place for the constant, to begin with
        a[q - 1] += step
        shift(values, step, ones)
    jump = 1
    for _ in range(_ROUNDS):
        improved = False
        for k in range(q):
            for i in range(n):
                column[i] = Z[i, k]
            score, step = _best_step(
                values, column, rows, samples, criterion, mass, mean, least, heavy, slack
            )
            if score > best + slack:
                best, improved = score, True
                a[k] += step
                shift(values, step, column)
        if not improved:
            for _ in range(_JUMPS):
                for i in range(n):
                    column[i] = 0.0
                    for k in range(q):
                        column[i] += draws[jump, k] * Z[i, k]
                score, step = _best_step(
                    values, column, rows, samples, criterion, mass, mean, least, heavy, slack
                )
                if score > best + slack:
                    best, improved = score, True
                    shift(a, step, draws[jump])
                    shift(values, step, column)
                jump += 1
                if improved:
                    break
        if not improved:
            break
    return a


@njit(cache=True, nogil=True, error_model="numpy")
def _best_step(values, direction, rows, samples, criterion, mass, mean, least, heavy, slack):
    """The best ``s`` in ``values + s direction <= 0``: its score, and ``s``.

    A sample with a positive direction is left up to ``s = -value / direction``, one with a negative
    direction from there on.
    """
    n = len(values)
    _keys, y, t, _w, g, costs, table, _n_levels = samples
    place = np.empty(n)
    left, right = np.zeros(len(mass)), np.zeros(len(mass))
    n_left = 0
    m = 0
    moving = np.empty(n, dtype=np.int64)
    for i in range(n):
        d = direction[i]
        if abs(d) > 1e-12:
            place[m] = -values[i] / d
            moving[m] = i
            m += 1
            goes = d > 0.0  # at s = -infinity
        else:
            goes = values[i] <= 0.0
        if goes:
            add(criterion, left, rows[i], y, t, g, mean)
            n_left += 1
        else:
            add(criterion, right, rows[i], y, t, g, mean)
    order = np.argsort(place[:m])
    best, best_step = -np.inf, 0.0
    change, nothing = np.zeros(len(mass)), np.zeros(len(mass))
    for r in range(m):
        i = moving[order[r]]
        put(change, nothing)
        add(criterion, change, rows[i], y, t, g, mean)
        sign = -1 if direction[i] > 0.0 else 1
        shift(left, sign, change)
        shift(right, -sign, change)
        n_left += sign
        here = place[order[r]]
        if r + 1 < m and place[order[r + 1]] <= here + 1e-12 * abs(here):
            continue
        if n_left < least or n - n_left < least:
            continue
        if min(weigh(criterion, left), weigh(criterion, right)) < heavy:
            continue
        score = score_of(criterion, left, costs, table) + score_of(criterion, right, costs, table)
        if score > best + slack:
            best = score
            best_step = (here + place[order[r + 1]]) / 2.0 if r + 1 < m else here + 1.0
    return best, best_step


@njit(cache=True, nogil=True, error_model="numpy")
def _settle(table, rows, raw, order, samples, criterion, mass, mean, least, heavy, slack):
    """Drop the coefficients that are not needed; the best threshold and its score."""
    score, threshold = _threshold(
        table, rows, raw, samples, criterion, mass, mean, least, heavy, slack
    )
    for k in order:
        if raw[k] == 0.0 or np.count_nonzero(raw) <= 2:
            continue
        kept, raw[k] = raw[k], 0.0
        trial, place = _threshold(
            table, rows, raw, samples, criterion, mass, mean, least, heavy, slack
        )
        if trial >= score - slack:
            score, threshold = max(score, trial), place
        else:
            raw[k] = kept
    return score, threshold


@njit(cache=True, nogil=True, error_model="numpy")
def _threshold(table, rows, raw, samples, criterion, mass, mean, least, heavy, slack):
    """The best cut of the sums ``table @ raw``, added up term by term as in a prediction."""
    n = len(rows)
    sums = np.zeros(n)
    for i in range(n):
        for k in range(len(raw)):
            if raw[k] != 0.0:
                sums[i] += raw[k] * table[i, k]
    order = np.argsort(sums)
    ranked = np.empty(n, dtype=np.int64)
    rank = 0
    for i in range(n):
        if i and sums[order[i]] > sums[order[i - 1]]:
            rank += 1
        ranked[i] = (rank << 32) | rows[order[i]]
    left, right = np.zeros(len(mass)), np.zeros(len(mass))
    put(right, mass)
    none = n - n  # numba would compile once more for the constant 0
    score, _, at = best_cut(
        criterion, ranked, samples.y, samples.t, samples.g, mean, samples.costs, samples.table,
        left, right, none, none, least, heavy, slack,
    )  # fmt: skip
    if at < 0:
        return -np.inf, 0.0
    low, high = sums[order[at]], sums[order[at + 1]]
    middle = low / 2.0 + high / 2.0
    return score, middle if low <= middle < high else low
