"""Oblique splits: hyperplanes ``a'x <= b``, found by climbing.

Finding the best hyperplane is hard; this climbs as OC1 does (Murthy, Kasif and Salzberg 1994). The
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

from tamiz.runtime.compiling import njit
from tamiz.tree._fast import describe
from tamiz.tree._samples import Rules, SortedSamples
from tamiz.tree._splitting import NodeTotals
from tamiz.tree.impurity import (
    ROUNDING,
    ROW,
    Need,
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


class Hyperplane(NamedTuple):
    """What a hyperplane splits: some samples, their totals, and what either side needs."""

    rows: np.ndarray
    criterion: int
    mass: np.ndarray
    mean: float
    need: Need


def find_oblique(
    climb: Climb,
    node: int,
    X: np.ndarray,
    totals: NodeTotals,
    samples: SortedSamples,
    rules: Rules,
    axis: Split | None,
    axis_gain: float,
) -> tuple[ObliqueSplit, float] | None:
    """A hyperplane that gains more than ``axis_gain``, and its gain; None if none was found."""
    rows = samples.keys[0, totals.begin : totals.end] & ROW
    table = X[np.ix_(rows, climb.columns)]
    complete = ~np.isnan(table).any(axis=1)
    rows, table = rows[complete], table[complete]
    n = totals.end - totals.begin
    least = smallest_side(n, rules.min_samples_leaf, rules.min_balance)
    if len(rows) < max(2, 2 * least):
        return None
    unit = np.abs(table).max(axis=0)
    unit[unit == 0.0] = 1.0  # in units of the largest value no square overflows or is lost
    scaled = table / unit
    middle, spread = scaled.mean(axis=0), scaled.std(axis=0)
    varies = np.flatnonzero(spread > 1e-12 * np.abs(middle))
    if len(varies) < 2:
        return None
    columns, middle, spread = climb.columns[varies], middle[varies], spread[varies]
    table, unit = np.ascontiguousarray(table[:, varies]), unit[varies]
    Z = np.ones((len(rows), len(varies) + 1))
    Z[:, :-1] = (scaled[:, varies] - middle) / spread
    rng = np.random.default_rng([climb.seed, node])
    draws = rng.standard_normal((climb.n_starts, _JUMPS * _ROUNDS + 1, Z.shape[1]))
    draws[0, 0] = _beginning(axis, columns, middle, spread, unit)
    if not draws[0, 0].any():
        draws[0, 0] = rng.standard_normal(Z.shape[1])
    mass = np.zeros_like(totals.mass)
    mean = describe(rows, samples, rules.criterion, mass)[3]
    need = Need(least, rules.min_weight_leaf, ROUNDING * totals.impurity)
    task = Hyperplane(rows, rules.criterion, mass, mean, need)
    before = score_of(rules.criterion, mass, samples.costs, samples.table)
    best_gain, best = axis_gain + 1e-9 * max(totals.impurity, axis_gain), None
    for start in range(climb.n_starts):
        a = _climb(Z, draws[start], task, samples)
        # by their logarithms, since a unit may be as small as floats get
        with np.errstate(divide="ignore"):
            size = np.log(np.abs(a[:-1])) - np.log(spread) - np.log(unit)
        if not size.max() > -np.inf:
            continue
        raw = np.sign(a[:-1]) * np.exp(size - size.max())
        small_first = np.argsort(np.abs(a[:-1]), kind="stable")
        score, threshold = _settle(table, raw, small_first, task, samples)
        gain = score - before
        if np.isfinite(score) and gain > best_gain and np.count_nonzero(raw) > 1:
            used = np.flatnonzero(raw)
            best_gain = gain
            best = ObliqueSplit(
                tuple(columns[used].tolist()), tuple(raw[used].tolist()), float(threshold)
            )
    return None if best is None else (best, float(best_gain))


def _beginning(
    axis: Split | None,
    columns: np.ndarray,
    middle: np.ndarray,
    spread: np.ndarray,
    unit: np.ndarray,
) -> np.ndarray:
    """The best split on one feature as a hyperplane of the z-scored features; else zeros."""
    a = np.zeros(len(columns) + 1)
    if isinstance(axis, NumericSplit) and np.isfinite(axis.threshold):
        at = np.flatnonzero(columns == axis.feature)
        if len(at):
            a[at[0]] = 1.0
            a[-1] = (middle[at[0]] - axis.threshold / unit[at[0]]) / spread[at[0]]
    return a


@njit(cache=True, nogil=True, error_model="numpy")
def _climb(Z, draws, task, samples):
    """Coefficients (the last is the constant) that no single change improves."""
    n, q = Z.shape
    slack = task.need.slack
    a = draws[0].copy()
    values = np.zeros(n)
    for i in range(n):
        for k in range(q):
            values[i] += a[k] * Z[i, k]
    column, direction = np.empty(n), np.zeros(q)
    best, jump, n_rounds, improved = -np.inf, 1, 0, False
    move = q - 1  # the best place for the constant, to begin with
    # moves 0 to q - 1 change one coefficient, the others go in a random direction; they are tried
    # in one place, which is compiled once
    while True:
        for k in range(q):
            direction[k] = draws[jump, k] if move >= q else 0.0
        if move < q:
            direction[move] = 1.0
            for i in range(n):
                column[i] = Z[i, move]
        else:
            jump += 1
            for i in range(n):
                column[i] = 0.0
                for k in range(q):
                    column[i] += direction[k] * Z[i, k]
        score, step = _best_step(values, column, task, samples)
        if score > best + slack:
            best, improved = score, True
            shift(a, step, direction)
            shift(values, step, column)
        move += 1
        last_chance = q + _JUMPS
        if n_rounds == 0 or (move >= q and improved) or move == last_chance:
            if n_rounds == _ROUNDS or (n_rounds > 0 and not improved):
                return a
            n_rounds, move, improved = n_rounds + 1, 0, False


@njit(cache=True, nogil=True, error_model="numpy")
def _best_step(values, direction, task, samples):
    """The best ``s`` in ``values + s direction <= 0``: its score, and ``s``.

    A sample with a positive direction is left up to ``s = -value / direction``, one with a negative
    direction from there on.
    """
    rows, criterion, mass, mean, need = task
    least, heavy, slack = need
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


def _settle(
    table: np.ndarray,
    raw: np.ndarray,
    order: np.ndarray,
    task: Hyperplane,
    samples: SortedSamples,
) -> tuple[float, float]:
    """Drop the coefficients that are not needed; the best score, and its threshold."""
    score, threshold = _threshold(table, raw, task, samples)
    for k in order.tolist():
        if raw[k] == 0.0 or np.count_nonzero(raw) <= 2:
            continue
        kept, raw[k] = raw[k], 0.0
        trial, place = _threshold(table, raw, task, samples)
        if trial >= score - task.need.slack:
            score, threshold = max(score, trial), place
        else:
            raw[k] = kept
    return score, threshold


@njit(cache=True, nogil=True, error_model="numpy")
def _threshold(table, raw, task, samples):
    """The best cut of the sums ``table @ raw``, added up term by term as in a prediction."""
    rows, criterion, mass, mean, need = task
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
        criterion,
        ranked,
        samples.y,
        samples.t,
        samples.g,
        mean,
        samples.costs,
        samples.table,
        left,
        right,
        none,
        none,
        need,
    )
    if at < 0:
        return -np.inf, 0.0
    low, high = sums[order[at]], sums[order[at + 1]]
    middle = low / 2.0 + high / 2.0
    return score, middle if low <= middle < high else low
