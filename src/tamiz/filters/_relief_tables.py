r"""The tables that the Relief family works on: scaled columns, codes, expectations.

``diff(f, a, b)`` is ``|a − b| / (max − min)`` for a numeric feature and 0 or 1 for a symbolic one.
Where a value is missing it is replaced by its expectation, given the class of the sample that
lacks it: for a symbol, ``1 − P(v | class)``; for a number, ``E |x − v|`` over the values ``v`` that
the feature has in that class; both missing, the expectation over both. A class without any value
borrows those of all classes.

References
----------
.. [1] I. Kononenko (1994). Estimating attributes: analysis and extensions of RELIEF. ECML.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tamiz.filters._relief_pairs import Table
from tamiz.runtime.parallel import run_tiles


class Columns(NamedTuple):
    """Features on the scale of ``diff``, and where they stand in the tables."""

    values: np.ndarray  # float64 (n, p): numbers in [0, 1], codes of symbols, NaN where missing
    symbolic: np.ndarray  # bool (p,)
    gappy: np.ndarray  # bool (p,)
    constant: np.ndarray  # bool (p,)
    span: np.ndarray  # float64 (p,): max − min of numbers, 1 for symbols


def scale_columns(X: np.ndarray, order: np.ndarray, symbolic: np.ndarray) -> Columns:
    """Bring every numeric feature to [0, 1], a constant one to 0, and the rows into ``order``."""
    low, high, gappy = _extremes(X)
    constant = ~(high > low)  # also without any value
    still = constant | symbolic
    low[still] = 0.0
    half = np.where(still, 0.5, 0.5 * high - 0.5 * low)  # max − min itself may overflow
    values = np.empty_like(X)
    least = max(1, 2**18 // X.shape[1])
    run_tiles(_scale_rows, len(X), X, order, low, half, values, min_items=least)
    if constant.any():
        values[:, constant] = 0.0  # differs from nothing, missing or not
    span = np.where(still, 1.0, 2.0 * np.minimum(half, np.finfo(float).max / 2))
    return Columns(values, symbolic, gappy & ~constant, constant, span)


@njit(cache=True, nogil=True)
def _extremes(X):  # type: ignore[no-untyped-def]
    """Least and greatest value of each column, infinite without any, and which have gaps."""
    n, p = X.shape
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    known = np.zeros(p)
    for i in range(n):
        for j in range(p):
            x = X[i, j]
            low[j] = x if x < low[j] else low[j]
            high[j] = x if x > high[j] else high[j]
            known[j] += 1.0 if x == x else 0.0
    return low, high, known < n


@njit(cache=True, nogil=True)
def _scale_rows(start, stop, X, order, low, half, values):  # type: ignore[no-untyped-def]
    for r in range(start, stop):
        x, out = X[order[r]], values[r]
        for j in range(len(low)):
            out[j] = (0.5 * x[j] - 0.5 * low[j]) / half[j]


def build_table(
    columns: Columns, codes: np.ndarray, n_classes: int, by_range: bool
) -> tuple[Table, Table]:
    """Tables of the same samples for distances and for differences.

    They differ only if distances are not ``by_range``: then features weigh as much as their
    values spread, relative to the widest.
    """
    values, symbolic, gappy, _, span = columns
    numeric = ~symbolic & ~gappy
    filled = values[:, gappy]
    expected, both = expected_differences(filled, symbolic[gappy], codes, n_classes)
    diff = Table(
        values if numeric.all() else np.ascontiguousarray(values[:, numeric]),
        np.ascontiguousarray(values[:, symbolic & ~gappy]).astype(np.int32),
        np.ascontiguousarray(filled),
        symbolic[gappy],
        expected,
        both,
        1.0,
        np.ones(int(gappy.sum())),
    )
    if by_range:
        return diff, diff
    widest = span.max(initial=1.0 if symbolic.any() else 0.0)
    factor = span / (widest if widest > 0 else 1.0)
    distance = diff._replace(
        numbers=diff.numbers * factor[numeric],
        symbol_weight=1.0 / (widest if widest > 0 else 1.0),
        gappy_weight=factor[gappy],
    )
    return distance, diff


def feature_order(columns: Columns) -> np.ndarray:
    """Features in the order of a table: numbers, symbols, features with gaps."""
    symbolic, gappy = columns.symbolic, columns.gappy
    parts = (~symbolic & ~gappy, symbolic & ~gappy, gappy)
    return np.concatenate([np.flatnonzero(part) for part in parts])


def expected_differences(
    values: np.ndarray, symbolic: np.ndarray, codes: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Difference of each value from a missing one of each class, and of two missing ones."""
    n, p = values.shape
    expected = np.zeros((n_classes, n, p))
    both = np.zeros((n_classes, n_classes, p))
    for j in range(p):
        present = ~np.isnan(values[:, j])
        own = [present & (codes == c) for c in range(n_classes)]
        own = [rows if rows.any() else present for rows in own]
        x = values[present, j]
        for c, rows in enumerate(own):
            known = values[rows, j]
            expected[c, present, j] = _unlike(x, known) if symbolic[j] else _mean_distance(x, known)
        for c, rows in enumerate(own):
            both[c, :, j] = expected[:, rows, j].mean(axis=1)
    return expected, both


def _unlike(x: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Probability that a known value differs from ``x``."""
    levels, counts = np.unique(known, return_counts=True)
    place = np.minimum(np.searchsorted(levels, x), len(levels) - 1)
    return 1.0 - np.where(levels[place] == x, counts[place], 0) / len(known)


def _mean_distance(x: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Mean of ``|x − v|`` over the known values ``v``, by sums over the sorted ones."""
    known = np.sort(known)
    sums = np.concatenate([[0.0], np.cumsum(known)])
    below = np.searchsorted(known, x)
    lower = x * below - sums[below]
    upper = sums[-1] - sums[below] - x * (len(known) - below)
    return np.maximum(lower + upper, 0.0) / len(known)
