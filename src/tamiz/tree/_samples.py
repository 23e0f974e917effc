"""The training samples as the growers want them: every feature sorted once.

``keys[j]`` holds one whole number for each sample, the rank of its value of feature ``j`` in the
upper half and its row in the lower half, in ascending order. A node of the tree is a range of
places, the same for all features: when it is split, both halves of each feature are put side by
side in their old order, and nothing is ever sorted again.
"""

from __future__ import annotations

from threading import Event
from typing import NamedTuple

import numpy as np
from numba import njit

from tamiz.runtime.parallel import run_tiles
from tamiz.tree.impurity import GAP, ROW, Criterion, logarithms


class Samples(NamedTuple):
    """What compiled code needs of the samples."""

    keys: np.ndarray  # int64 (features, samples)
    y: np.ndarray  # class codes (zeros in a regression)
    t: np.ndarray  # targets, about their mean (empty in a classification)
    w: np.ndarray  # weights
    g: np.ndarray  # weights that count in the impurity
    costs: np.ndarray  # C[i, j] of calling class i by the name of j
    table: np.ndarray  # k log k, see logarithms
    n_levels: np.ndarray  # distinct values of each feature


class Levels(NamedTuple):
    """The distinct values of each feature, in ascending order: those that ranks stand for."""

    values: np.ndarray
    first: np.ndarray

    def between(self, j: int, low: int, high: int) -> float:
        """The threshold half-way between two ranks; it is at least the lower value, and below
        the higher."""
        a, b = self.values[self.first[j] + low], self.values[self.first[j] + high]
        middle = float(a) / 2 + float(b) / 2
        return middle if a <= middle < b else float(a)


class Rules(NamedTuple):
    """When a leaf may be split."""

    criterion: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float  # above 0
    min_balance: float
    max_depth: int
    min_decrease: float  # of the total impurity
    by_decrease: bool  # which leaf is next: of largest decrease, else of largest impurity


#: Tables of so few cells are sorted at once: a loop over columns would take longer.
_SMALL = 100_000


def unit_of(values: np.ndarray) -> float:
    """A power of two to multiply numbers with so that their squares are neither lost nor infinite.

    It is 1 for the numbers that one meets, whose digits stay as they are in any case.
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    return 1.0 if abs(exponent) < 200 else float(np.ldexp(1.0, max(-1000, min(1000, -exponent))))


def sort(X: np.ndarray, nominal: np.ndarray) -> tuple[np.ndarray, Levels]:
    """Keys and levels of a table; a missing value has the rank ``GAP``."""
    n, p = X.shape
    if n * p <= _SMALL and not nominal.any() and not np.isnan(X).any():
        return _sort_at_once(X)
    keys = np.empty((p, n), dtype=np.int64)
    values: list[np.ndarray] = [np.empty(0)] * p
    halt = Event()
    run_tiles(_sort_columns, p, X, nominal, keys, values, halt, stop=halt)
    first = np.concatenate([[0], np.cumsum([len(v) for v in values])]).astype(np.int64)
    return keys, Levels(np.concatenate(values), first)


def _sort_at_once(X: np.ndarray) -> tuple[np.ndarray, Levels]:
    """A small table of numbers, without a loop over its columns."""
    columns = np.ascontiguousarray(X.T)
    order = np.argsort(columns, axis=1)
    values = np.take_along_axis(columns, order, axis=1)
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    rank = np.cumsum(new, axis=1) - 1
    first = np.concatenate([[0], np.cumsum(new.sum(axis=1))]).astype(np.int64)
    return (rank << 32) | order, Levels(values[new], first)


def _sort_columns(
    start: int,
    stop: int,
    X: np.ndarray,
    nominal: np.ndarray,
    keys: np.ndarray,
    values: list[np.ndarray],
    halt: Event,
) -> None:
    for j in range(start, stop):
        if halt.is_set():
            return
        x = np.ascontiguousarray(X[:, j])
        order = np.argsort(x)
        x = x[order]
        known = len(x) - int(np.count_nonzero(np.isnan(x)))
        rank = np.full(len(x), GAP, dtype=np.int64)
        if nominal[j]:
            rank[:known] = x[:known].astype(np.int64)
            values[j] = np.arange(float(rank[known - 1] + 1)) if known else np.empty(0)
        elif known:
            new = np.ones(known, dtype=bool)
            new[1:] = x[1:known] != x[: known - 1]
            rank[:known] = np.cumsum(new) - 1
            values[j] = x[:known][new]
        keys[j] = (rank << 32) | order


def samples_of(
    keys: np.ndarray,
    levels: Levels,
    criterion: Criterion,
    *,
    y: np.ndarray | None,
    t: np.ndarray | None,
    weight: np.ndarray,
    growth: np.ndarray,
    costs: np.ndarray,
) -> Samples:
    """Collect what the growers need."""
    n = keys.shape[1]
    table = logarithms(growth) if criterion is Criterion.ENTROPY else np.empty(0)
    return Samples(
        keys,
        np.zeros(n, dtype=np.int32) if y is None else np.ascontiguousarray(y, dtype=np.int32),
        np.zeros(0) if t is None else np.ascontiguousarray(t, dtype=np.float64),
        np.ascontiguousarray(weight, dtype=np.float64),
        np.ascontiguousarray(growth, dtype=np.float64),
        np.ascontiguousarray(costs, dtype=np.float64),
        table,
        np.diff(levels.first),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def divide(first, last, keys, begin, end, goes_left):
    """Put the samples of a node that go left before the others, in features first to last.

    The order on each side stays. ``goes_left`` is by row. Returns the number that go left.
    """
    spare = np.empty(end - begin, dtype=np.int64)
    n_left = 0
    for j in range(first, last):
        place, aside = begin, 0
        for i in range(begin, end):
            key = keys[j, i]
            to_left = int(goes_left[key & ROW])
            keys[j, place] = key  # never ahead of i, so nothing unread is lost
            spare[aside] = key
            place += to_left
            aside += 1 - to_left
        for i in range(aside):
            keys[j, place + i] = spare[i]
        n_left = place - begin
    return n_left
