"""Stand-ins for a split: splits on other features that send most samples to the same side.

Among the samples that both can place, a surrogate agrees with the split on a part of the weight. It
is worth having if it does so more often than the rule to send every sample to the larger side
(Breiman et al. 1984, section 5.3): its predictive association

    (agreement - larger side) / (all - larger side)

is above zero. Surrogates are tried in the order of their agreement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tamiz.tree._samples import Levels
from tamiz.tree.impurity import GAP, ROW
from tamiz.tree.splits import NominalSplit, NumericSplit, Split, Surrogate

#: Fewest samples on either side of a surrogate.
_FEWEST = 2


class Agreements(NamedTuple):
    """By feature: the best stand-in."""

    agreement: np.ndarray  # share of the weight; -1 if there is none
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
def find_surrogates(first, last, begin, end, keys, w, side, nominal, n_levels, found):
    """Find the best stand-in on each of the features ``first`` to ``last``.

    ``side`` is what the split says by row: 1 left, 0 right, -1 undecided.
    """
    for j in range(first, last):
        column = keys[j, begin:end]
        found.agreement[j] = -1.0
        left, right, n = 0.0, 0.0, 0
        for i in range(len(column)):
            key = column[i]
            if key >> 32 == GAP:
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
        if nominal[j]:
            agree = _by_category(j, column, w, side, n_levels[j], found)
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
        if rank == GAP:
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
        if level == GAP:
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
