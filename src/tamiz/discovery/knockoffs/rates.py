r"""From importances to statistics, and to a selection with a stated rate of false discoveries.

With ``Z_j`` and ``~Z_j`` the importances of a feature and of its knockoff, fitted side by side,
``W_j = Z_j - ~Z_j``. The guarantee rests on one property: if feature and knockoff change places,
``W_j`` changes its sign and nothing else happens.

With ``k`` knockoffs of every feature [3]_ the size of ``W_j`` is the largest of the ``k + 1``
importances minus the second largest, and its sign is positive if the feature has the largest. For a
feature that does not matter each of the ``k + 1`` is as likely to be the largest, whatever the
size.

Here that holds to the last bit, whatever the criterion: seeds, ties and the order of the columns
included. Before anything is fitted a feature and its knockoffs are put into an order that depends
on their values alone (the one with the smaller value in the first row in which they differ comes
first), all firsts are given as one table, all seconds as another, and only then it is looked up
which of them is the feature. A function of the caller is called with firsts and seconds in the
same way.

A statistic ``W_j`` is large if feature ``j`` matters more than its knockoffs. For features that do
not matter it is negative ``k`` times as often as positive, so that one ``k``-th of the statistics
at or below ``-t`` counts those at or above ``t`` that are there by chance. The threshold is

.. math:: T = \min \Big\{ t > 0 :
          \frac{(a + \#\{W_j \le -t\}) / k}{\max(1, \#\{W_j \ge t\})} \le q \Big\}

among the values ``|W_j|``: ``1 / (k q)`` features must stand out for anything to be selected. With
the offset ``a = 1`` the expected fraction of false discoveries is
at most ``q``; with ``a = 0`` only a modified rate is, in which ``1/q`` false discoveries are added
to the denominator.

Several draws of knockoffs are combined by e-values [2]_. With ``T`` of a draw at a level ``q'``,

.. math:: e_j = p \, \frac{k \, 1\{W_j \ge T\}}{1 + \#\{W_i \le -T\}}

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
.. [3] J. R. Gimenez, J. Zou (2019). Improving the stability of the knockoff procedure: multiple
       simultaneous knockoffs and entropy maximization. AISTATS, PMLR 89.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from tamiz.discovery.importances import ColumnScorer
from tamiz.validation import check_level, checked, finite_vector, integer_from

# ------------------------------------------------------------------------------- statistics


class OrderedCopies(NamedTuple):
    """Features and their knockoffs, in an order that changing places does not change."""

    tables: np.ndarray  # (n_copies + 1, n_samples, n_features), smallest columns first
    own: np.ndarray  # which of the tables holds the feature
    tied: np.ndarray  # where two of the columns are the same


def ordered_copies(X: np.ndarray, copies: np.ndarray) -> OrderedCopies:
    """Order a feature and its knockoffs by their values alone."""
    columns = np.concatenate([X[None], copies])
    at = np.arange(X.shape[1])
    place = np.zeros((len(columns), X.shape[1]), dtype=np.intp)
    tied = np.zeros(X.shape[1], dtype=bool)
    for a, b in combinations(range(len(columns)), 2):
        differ = columns[a] != columns[b]
        row = differ.argmax(axis=0)
        less = columns[a][row, at] < columns[b][row, at]
        same = ~differ[row, at]
        place[b] += less | same
        place[a] += ~(less | same)
        tied |= same
    tables = np.empty(columns.shape)
    np.put_along_axis(tables, place[:, None, :], columns, axis=0)
    return OrderedCopies(tables, place[0], tied)


def signed_leads(importances: np.ndarray, own: np.ndarray) -> np.ndarray:
    """How far the most important column is ahead; negative if that is not the feature.

    Parameters
    ----------
    importances : array of shape (n_copies + 1, n_features)
        Of a feature and its knockoffs, in any order.
    own : array of int, shape (n_features,)
        Which row is the feature.
    """
    second, first = np.sort(importances, axis=0)[-2:]
    feature = np.take_along_axis(importances, own[None], axis=0)[0]
    return np.where(feature == first, first - second, second - first)


@dataclass
class ScoredStatistic:
    """``W`` from the importances that a criterion has for features and knockoffs side by side."""

    scorer: ColumnScorer

    def __call__(self, tables: np.ndarray, own: np.ndarray, y: Any, seed: int) -> np.ndarray:
        copies, _, p = tables.shape
        columns = np.tile(np.arange(p), copies)
        return signed_leads(
            self.scorer(np.hstack(list(tables)), y, columns, seed).reshape(copies, p), own
        )


@dataclass
class OwnStatistic:
    """``W`` from a function of the caller, of features and one knockoff each."""

    function: Callable[[np.ndarray, np.ndarray, Any], Any]

    def __call__(self, tables: np.ndarray, own: np.ndarray, y: Any, seed: int) -> np.ndarray:
        first, second = tables
        found = finite_vector("what statistic returns", self.function(first, second, y))
        if len(found) != first.shape[1]:
            raise ValueError(
                f"statistic returned {len(found)} numbers for {first.shape[1]} features; it must "
                "return one for each pair of a feature and its knockoff."
            )
        return np.where(own == 0, found, -found)


Statistic = ScoredStatistic | OwnStatistic


def knockoff_statistics(
    statistic: Statistic, X: np.ndarray, copies: np.ndarray, y: Any, seed: int
) -> np.ndarray:
    """``W`` of every feature; 0 where two of a feature and its knockoffs are the same.

    ``copies`` has the shape (n_copies, n_samples, n_features).
    """
    tables, own, tied = ordered_copies(X, copies)
    return np.where(tied, 0.0, statistic(tables, own, y, seed))


# ------------------------------------------------------------------------------- thresholds


@checked(W=finite_vector, fdr=check_level, offset=integer_from(0, 1), n_copies=integer_from(1))
def knockoff_threshold(W: Any, *, fdr: float = 0.1, offset: int = 1, n_copies: int = 1) -> float:
    """The least threshold on knockoff statistics that keeps the rate of false discoveries.

    Parameters
    ----------
    W : array of shape (n_features,)
        Statistics: positive where a feature matters more than its knockoff.
    fdr : float, default=0.1
        Largest expected fraction of false discoveries.
    offset : {0, 1}, default=1
        1 for the exact guarantee; 0 for the modified rate.
    n_copies : int, default=1
        Knockoffs of every feature. With several, ``W`` is how far the most important of a feature
        and its knockoffs is ahead of the second, negative where a knockoff is first.

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

    J. R. Gimenez, J. Zou (2019). Improving the stability of the knockoff procedure: multiple
    simultaneous knockoffs and entropy maximization. AISTATS, PMLR 89.

    Examples
    --------
    >>> from tamiz.discovery import knockoff_threshold
    >>> knockoff_threshold([5, 4, 3, 2, -1, 0.5], fdr=0.25)
    2.0
    >>> knockoff_threshold([5, 4, 3, 2, -1, 0.5], fdr=0.1)
    inf
    >>> knockoff_threshold([5, 4, 3, 2, -1, 0.5], fdr=0.1, n_copies=3)
    2.0
    """
    values, rates, _ = rate_curve(W, offset, n_copies)
    good = np.flatnonzero(rates <= fdr)
    return float(values[good[0]]) if len(good) else float("inf")


def rate_curve(
    W: np.ndarray, offset: int, n_copies: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The thresholds to choose from, ascending, with the estimated rate and the number selected."""
    values = np.unique(np.abs(W[W != 0]))
    above = len(W) - np.searchsorted(np.sort(W), values, side="left")
    below = np.searchsorted(np.sort(W), -values, side="right")
    return values, (offset + below) / (n_copies * np.maximum(1, above)), above


def e_values(W: np.ndarray, level: float, n_copies: int = 1) -> np.ndarray:
    """The e-values of one draw."""
    threshold = knockoff_threshold(W, fdr=level, n_copies=n_copies)
    if threshold == np.inf:
        return np.zeros(len(W))
    return n_copies * len(W) * (threshold <= W) / (1.0 + np.count_nonzero(-threshold >= W))


def e_bh(e: np.ndarray, fdr: float) -> tuple[np.ndarray, float]:
    """Features that the e-BH procedure selects, and the e-value they need; infinite for none."""
    p = len(e)
    descending = -np.sort(-e)
    with np.errstate(over="ignore"):  # of a rate next to zero, none is enough
        needed = p / (fdr * np.arange(1, p + 1))
    # the division rounds: what is equal in exact numbers counts as equal
    good = np.flatnonzero(descending >= needed * (1.0 - 1e-12))
    if not len(good):
        return np.zeros(p, dtype=bool), float("inf")
    threshold = float(descending[good[-1]])
    return e >= threshold, threshold
