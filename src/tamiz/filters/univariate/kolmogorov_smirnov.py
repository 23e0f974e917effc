r"""Two-sample Kolmogorov–Smirnov distance between the classes of each feature.

The distance is the largest gap between the distribution functions of a class and of the rest,

.. math:: D_k = \max_t |F_k(t) - F_{\text{rest}}(t)|.

The exact p-value is the share of all orderings of ``m + n`` distinct values whose distance is at
least ``D``: walks from (0, 0) to (m, n) that reach ``|i/m − j/n| ≥ D``. With ``A(i, j)`` the share
of walks to ``(i, j)`` that have,

.. math:: A(i, j) = \frac{i}{i+j} A(i-1, j) + \frac{j}{i+j} A(i, j-1),

and ``A = 1`` where the gap is reached: sums of positive numbers, so that tiny p-values are right.

References
----------
.. [1] J. L. Hodges (1958). The significance probability of the Smirnov two-sample test. Arkiv för
       Matematik 3.
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
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale.ordered import OrderedColumns

#: Exact p-values as long as the product of the two sample sizes does not exceed this.
_EXACT_UP_TO = 250_000

#: Exact p-values that are computed together; some tenths of a second at most.
_ROUND = 2_000


class KolmogorovSmirnov(OrderFilter):
    """Largest distance between the distribution functions of the classes.

    It sees differences of any kind, in spread and shape too, not in the mean alone.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    multiclass : {"weighted", "max"}, default="weighted"
        With more than two classes each is compared with the rest: the mean distance weighted by
        the fractions of the classes, or the largest distance.
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
        Distances between 0 and 1; 0 for constant features.
    pvalues_ : array of shape (n_features,) or None
        For two classes, two-sided p-values: exact if the product of the class sizes is at most
        250,000 (conservative if there are ties), else by the distribution of the one-sample
        statistic of ``m n / (m + n)`` samples.
    score_bounds_ : array of shape (2, n_features)
        After ``fit_stream``: what the scores are known to lie between.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    AUCScore : looks at the order of the values on average.

    References
    ----------
    .. [1] J. L. Hodges (1958). The significance probability of the Smirnov two-sample test. Arkiv
           för Matematik 3.

    Examples
    --------
    >>> from tamiz.filters import KolmogorovSmirnov
    >>> X = [[1, 4], [2, 1], [3, 3], [4, 2]]
    >>> ks = KolmogorovSmirnov().fit(X, ["no", "no", "yes", "yes"])
    >>> ks.scores_.tolist(), ks.pvalues_.round(4).tolist()
    ([1.0, 0.5], [0.3333, 1.0])
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
        distance = columns.kolmogorov_smirnov()
        bounds = bounds_over_classes(distance, own / own.sum(), self.multiclass)
        pvalues = None
        if len(own) == 2 and columns.unit == 1.0:
            pvalues = smirnov_pvalues(bounds.low, *own)
        elif len(own) == 2:
            pvalues = limiting_pvalues(columns.unit, bounds.low)
        return Between(bounds.middle, bounds, pvalues)


def smirnov_pvalues(distance: np.ndarray, m: float, n: float) -> np.ndarray:
    """Two-sided p-values of distances between samples of ``m`` and ``n``.

    Between integers, the exact ones of the integers beside are interpolated. Less than one sample
    counts as one.
    """
    m, n = max(m, 1.0), max(n, 1.0)
    if m * n > _EXACT_UP_TO:
        return stats.kstwo.sf(distance, min(max(1, round(m * n / (m + n))), 2**62))
    return np.sum(
        [
            a * b * _exact_pvalues(distance, first, second)
            for first, a in _beside(m)
            for second, b in _beside(n)
        ],
        axis=0,
    )


def _beside(n: float) -> list[tuple[int, float]]:
    """The integers beside ``n``, and how near it is to each."""
    below = int(n)
    part = n - below
    return [(below, 1.0 - part)] + ([(below + 1, part)] if part else [])


def _exact_pvalues(distance: np.ndarray, m: int, n: int) -> np.ndarray:
    steps, where = np.unique(np.rint(distance * m * n).astype(np.int64), return_inverse=True)
    out = np.empty(len(steps))
    for start in range(0, len(steps), _ROUND):  # in between, Ctrl-C is heard
        part = slice(start, start + _ROUND)
        run_tiles(_walks_beyond, len(steps[part]), steps[part], m, n, out[part])
    return out[where]


@njit(cache=True, nogil=True)
def _walks_beyond(start, stop, gaps, m, n, out):  # type: ignore[no-untyped-def]
    """Share of walks from (0, 0) to (m, n) that reach ``|i n − j m| ≥ gap``, for each gap.

    Cells outside the band are 1 and are not visited: ``row`` holds 1 until the band comes.
    """
    row = np.empty(n + 1)
    share = 1.0 / np.maximum(1, np.arange(m + n + 1))
    for k in range(start, stop):
        gap = gaps[k]
        if gap <= 0:
            out[k] = 1.0
            continue
        row[:] = 1.0
        for i in range(m + 1):
            first = max(0, (i * n - gap) // m + 1)  # the least j inside the band
            last = min(n, -((-i * n - gap) // m) - 1)  # the greatest
            if first > 0:
                row[first - 1] = 1.0
            for j in range(first, last + 1):
                # at the edges the factor 0 removes a neighbour that is not there
                row[j] = (i * share[i + j]) * row[j] + (j * share[i + j]) * row[j - 1]
        out[k] = min(row[n], 1.0)
