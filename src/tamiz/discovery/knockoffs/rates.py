r"""From importances to statistics, and to a selection with a stated rate of false discoveries.

With ``Z_j`` and ``~Z_j`` the importances of a feature and of its knockoff, fitted side by side,
``W_j = Z_j - ~Z_j``. The guarantee rests on one property: if feature and knockoff change places,
``W_j`` changes its sign and nothing else happens.

Here that holds to the last bit, whatever the criterion: seeds, ties and the order of the columns
included. Before anything is fitted the two columns of every pair are put into an order that depends
on their values alone (the one with the smaller value in the first row in which they differ comes
first), all firsts are given as one table and all seconds as another, and only then it is looked up
which of the two is the feature. A function of the caller is called with firsts and seconds in the
same way.

A statistic ``W_j`` is large if feature ``j`` matters more than its knockoff. For features that do
not matter its sign is a fair coin, so that the statistics at or below ``-t`` count those at or
above ``t`` that are there by chance. The threshold is

.. math:: T = \min \Big\{ t > 0 : \frac{a + \#\{W_j \le -t\}}{\max(1, \#\{W_j \ge t\})} \le q \Big\}

among the values ``|W_j|``. With the offset ``a = 1`` the expected fraction of false discoveries is
at most ``q``; with ``a = 0`` only a modified rate is, in which ``1/q`` false discoveries are added
to the denominator.

Several draws of knockoffs are combined by e-values [2]_. With ``T`` of a draw at a level ``q'``,

.. math:: e_j = p \, \frac{1\{W_j \ge T\}}{1 + \#\{W_k \le -T\}}

has a sum of expectations of at most ``p`` over the features that do not matter, and so has the mean
over draws. The e-BH procedure then selects the ``k`` largest for the largest ``k`` with
``e_(k) >= p / (q k)``, with a rate of at most ``q`` whatever ``q'`` is and however the draws depend
on each other.

References
----------
.. [1] R. Foygel Barber, E. Candès (2015). Controlling the false discovery rate via knockoffs.
       Annals of Statistics 43.
.. [2] Z. Ren, R. Foygel Barber (2024). Derandomised knockoffs: leveraging e-values for false
       discovery rate control. JRSS B 86.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamiz.discovery.importances import ColumnScorer
from tamiz.validation import check_level, checked, finite_vector, integer_from

# ------------------------------------------------------------------------------- statistics


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


# ------------------------------------------------------------------------------- thresholds


@checked(W=finite_vector, fdr=check_level, offset=integer_from(0, 1))
def knockoff_threshold(W: Any, *, fdr: float = 0.1, offset: int = 1) -> float:
    """The least threshold on knockoff statistics that keeps the rate of false discoveries.

    Parameters
    ----------
    W : array of shape (n_features,)
        Statistics: positive where a feature matters more than its knockoff.
    fdr : float, default=0.1
        Largest expected fraction of false discoveries.
    offset : {0, 1}, default=1
        1 for the exact guarantee; 0 for the modified rate.

    Returns
    -------
    threshold : float
        Features with ``W >= threshold`` are selected; infinite if nothing can be.

    See Also
    --------
    Knockoffs : Makes the knockoffs and the statistics as well.

    References
    ----------
    R. Foygel Barber, E. Candès (2015). Controlling the false discovery rate via knockoffs. Annals
    of Statistics 43.

    Examples
    --------
    >>> from tamiz.discovery import knockoff_threshold
    >>> knockoff_threshold([5, 4, 3, 2, -1, 0.5], fdr=0.25)
    2.0
    >>> knockoff_threshold([5, 4, 3, 2, -1, 0.5], fdr=0.1)
    inf
    """
    values, rates, _ = rate_curve(W, offset)
    good = np.flatnonzero(rates <= fdr)
    return float(values[good[0]]) if len(good) else float("inf")


def rate_curve(W: np.ndarray, offset: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The thresholds to choose from, ascending, with the estimated rate and the number selected."""
    values = np.unique(np.abs(W[W != 0]))
    above = len(W) - np.searchsorted(np.sort(W), values, side="left")
    below = np.searchsorted(np.sort(W), -values, side="right")
    return values, (offset + below) / np.maximum(1, above), above


def e_values(W: np.ndarray, level: float) -> np.ndarray:
    """The e-values of one draw."""
    threshold = knockoff_threshold(W, fdr=level)
    if threshold == np.inf:
        return np.zeros(len(W))
    return len(W) * (threshold <= W) / (1.0 + np.count_nonzero(-threshold >= W))


def e_bh(e: np.ndarray, fdr: float) -> tuple[np.ndarray, float]:
    """Features that the e-BH procedure selects, and the e-value they need; infinite for none."""
    p = len(e)
    descending = -np.sort(-e)
    needed = p / (fdr * np.arange(1, p + 1))
    # the division rounds: what is equal in exact numbers counts as equal
    good = np.flatnonzero(descending >= needed * (1.0 - 1e-12))
    if not len(good):
        return np.zeros(p, dtype=bool), float("inf")
    threshold = float(descending[good[-1]])
    return e >= threshold, threshold
