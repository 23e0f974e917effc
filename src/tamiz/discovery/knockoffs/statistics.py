r"""Knockoff statistics: how much more a feature matters than its knockoff.

With ``Z_j`` and ``~Z_j`` the importances of a feature and of its knockoff, fitted side by side,
``W_j = Z_j - ~Z_j``. The guarantee rests on one property: if feature and knockoff change places,
``W_j`` changes its sign and nothing else happens.

Here that holds to the last bit, whatever the criterion: seeds, ties and the order of the columns
included. Before anything is fitted the two columns of every pair are put into an order that depends
on their values alone (the one with the smaller value in the first row in which they differ comes
first), all firsts are given as one table and all seconds as another, and only then it is looked up
which of the two is the feature. A function of the caller is called with firsts and seconds in the
same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamiz.discovery.importances import ColumnScorer
from tamiz.validation import finite_vector


def ordered_pairs(X: np.ndarray, copies: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The columns of every pair in an order that swapping them does not change.

    Returns firsts, seconds, and 1 where the feature is first, -1 where its knockoff is; 0 where
    both are the same.
    """
    differ = copies != X
    row = differ.argmax(axis=0)
    at = np.arange(X.shape[1])
    sign = np.where(X[row, at] < copies[row, at], 1.0, -1.0)
    sign[~differ.any(axis=0)] = 0.0
    feature_first = sign >= 0
    return np.where(feature_first, X, copies), np.where(feature_first, copies, X), sign


@dataclass
class PairStatistic:
    """``W`` from the importances that a criterion has for features and knockoffs side by side."""

    scorer: ColumnScorer

    def __call__(self, first: np.ndarray, second: np.ndarray, y: Any, seed: int) -> np.ndarray:
        p = first.shape[1]
        both = self.scorer(np.hstack([first, second]), y, np.tile(np.arange(p), 2), seed)
        return both[:p] - both[p:]


@dataclass
class OwnStatistic:
    """``W`` from a function of the caller."""

    function: Callable[[np.ndarray, np.ndarray, Any], Any]

    def __call__(self, first: np.ndarray, second: np.ndarray, y: Any, seed: int) -> np.ndarray:
        found = finite_vector("what statistic returns", self.function(first, second, y))
        if len(found) != first.shape[1]:
            raise ValueError(
                f"statistic returned {len(found)} numbers for {first.shape[1]} features; it must "
                "return one for each pair of a feature and its knockoff."
            )
        return found


Statistic = PairStatistic | OwnStatistic


def knockoff_statistics(
    statistic: Statistic, X: np.ndarray, copies: np.ndarray, y: Any, seed: int
) -> np.ndarray:
    """``W`` of every feature; 0 where feature and knockoff are the same."""
    first, second, sign = ordered_pairs(X, copies)
    return sign * statistic(first, second, y, seed)
