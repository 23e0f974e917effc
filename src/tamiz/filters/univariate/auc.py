r"""Area under the ROC curve of each feature taken as a decision value.

The area is the probability that a sample of the class has a larger value than one of the rest,
ties counting one half. With ``r_i`` the mid-rank of sample ``i`` (total weight below it plus half
the weight at it),

.. math::

    A_k = \frac{\sum_{i \in k} w_i r_i - W_k^2 / 2}{W_k (W - W_k)}.

An area of 0.2 is as informative as one of 0.8: features are ranked by ``|A − 1/2|``.

References
----------
.. [1] D. J. Hand, R. J. Till (2001). A simple generalisation of the area under the ROC curve for
       multiple class classification problems. Machine Learning 45.
.. [2] H. B. Mann, D. R. Whitney (1947). On a test of whether one of two random variables is
       stochastically larger than the other. Annals of Mathematical Statistics 18.
"""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.utils._param_validation import StrOptions

from tamiz.filters.univariate.base import BY_PVALUE
from tamiz.filters.univariate.order import (
    Between,
    OrderFilter,
    bounds_over_classes,
    limiting_pvalues,
)
from tamiz.scale.ordered import OrderedColumns, from_one_half

#: Exact p-values, in the absence of ties, as long as the smaller class does not exceed this.
_EXACT_UP_TO = 8


class AUCScore(OrderFilter):
    """Distance of a single feature's area under the ROC curve from one half.

    Only the order of the values counts: the score is the same for any increasing function of a
    feature.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    multiclass : {"weighted", "max"}, default="weighted"
        With more than two classes each is compared with the rest: the mean weighted by the
        fractions of the classes, or the best class.
    alpha : float in (0, 1] or None, default=None
        Select the features whose corrected p-value is at most this, if ``n_features_to_select`` is
        not given; constant features never.
    correction : {"none", "fdr", "by", "storey", "holm", "bonferroni"}, default="none"
        How p-values are corrected for the number of features before they are compared with
        ``alpha``: not at all, for the fraction of wrong features among those selected (Benjamini
        and Hochberg, Benjamini and Yekutieli, Storey), or for the chance of any (Holm,
        Bonferroni); see :func:`tamiz.discovery.adjust_pvalues`. ``pvalues_`` stay as they are.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Scores between 0 and 0.5; 0 for constant features.
    auc_ : array of shape (n_features,) or (n_classes, n_features)
        Area for the second of two classes, or for each class against the rest.
    pvalues_ : array of shape (n_features,) or None
        For two classes, two-sided p-values of the Mann–Whitney test: exact if one class has at
        most eight samples and no values are tied, else by the normal approximation with corrections
        for continuity and ties.
    score_bounds_ : array of shape (2, n_features)
        After ``fit_stream``: what the scores are known to lie between. ``auc_`` is then in the
        middle of its bounds.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    KolmogorovSmirnov : largest distance between distribution functions.

    References
    ----------
    .. [1] D. J. Hand, R. J. Till (2001). A simple generalisation of the area under the ROC curve
           for multiple class classification problems. Machine Learning 45.

    Examples
    --------
    >>> from tamiz.filters import AUCScore
    >>> X = [[1, 4], [2, 1], [2, 3], [3, 2]]
    >>> AUCScore().fit(X, ["no", "no", "yes", "yes"]).auc_.tolist()
    [0.875, 0.5]
    """

    _parameter_constraints = {
        **OrderFilter._parameter_constraints,
        **BY_PVALUE,
        "multiclass": [StrOptions({"weighted", "max"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        multiclass: str = "weighted",
        alpha: float | None = None,
        correction: str = "none",
    ):
        self.n_features_to_select = n_features_to_select
        self.multiclass = multiclass
        self.alpha = alpha
        self.correction = correction

    def _between(self, columns: OrderedColumns) -> Between:
        own = columns.class_weight()
        wins, ties = columns.wins()
        area, constant = columns.areas(wins), columns.constant()
        auc = np.where(constant, 0.5, area.middle)
        self.auc_ = auc[1] if len(own) == 2 else auc
        bounds = bounds_over_classes(from_one_half(area), own / own.sum(), self.multiclass)
        if len(own) != 2:
            return Between(bounds.middle, bounds)
        # the area nearest to one half, and the ties that are certain: no p-value is too small
        nearest = np.clip(own.prod() / 2, wins.low[1], wins.high[1])
        if columns.unit == 1.0:
            pvalues = mann_whitney_pvalues(nearest, ties, *own)
        else:
            pvalues = limiting_pvalues(columns.unit, np.abs(nearest / own.prod() - 0.5))
        return Between(bounds.middle, bounds, np.where(constant, 1.0, pvalues))


def mann_whitney_pvalues(wins: np.ndarray, ties: np.ndarray, n1: float, n2: float) -> np.ndarray:
    """Two-sided p-values; ``ties`` holds the sums of t³ − t."""
    n = n1 + n2
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = n1 * n2 / 12 * (n + 1 - ties / (n * (n - 1)))
        z = (np.maximum(wins, n1 * n2 - wins) - n1 * n2 / 2 - 0.5) / np.sqrt(variance)
    normal = np.minimum(1.0, 2 * stats.norm.sf(z))
    pvalues = np.where(variance > 1e-12 * n1 * n2 * n, normal, 1.0)
    # weights that are hardly other than one do not change the answer
    whole = all(abs(size - round(size)) <= 1e-6 for size in (n1, n2)) and min(n1, n2) > 0.5
    exact = np.abs(ties) <= 1e-6
    if whole and exact.any() and round(min(n1, n2)) <= _EXACT_UP_TO:
        sizes = round(min(n1, n2)), round(max(n1, n2))
        lower = np.maximum(np.minimum(wins, sizes[0] * sizes[1] - wins)[exact], 0.0)
        tail = np.cumsum(wins_distribution(*sizes))
        pvalues[exact] = np.minimum(1.0, 2 * tail[np.rint(lower).astype(np.intp)])
    return pvalues


def wins_distribution(m: int, n: int) -> np.ndarray:
    """Probability of each number of wins of ``m`` samples over ``n``, for all orders alike.

    With one sample more, ``i`` in all, the counts are the coefficients of the polynomial before
    times ``(1 − q^(n+i)) / (1 − q^i)``: a running sum with stride ``i``, less a shift.
    """
    chance = np.zeros(m * n + 1)
    chance[0] = 1.0
    for i in range(1, m + 1):
        chance[n + i :] -= chance[: len(chance) - n - i].copy()
        padded = np.zeros(-(-len(chance) // i) * i)
        padded[: len(chance)] = chance
        chance = np.cumsum(padded.reshape(-1, i), axis=0).ravel()[: len(chance)] * (i / (n + i))
    half = (len(chance) + 1) // 2  # symmetric; the upper half has collected the rounding
    chance[-half:] = chance[:half][::-1]
    return np.maximum(chance, 0.0)
