r"""From statistics to a selection with a stated rate of false discoveries.

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

from typing import Any

import numpy as np

from tamiz.validation import check_level, checked, finite_vector, integer_from


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
