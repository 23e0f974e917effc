r"""Information value: the filter of credit scoring.

.. math::

    IV = \sum_b \Bigl( \frac{n_{b1}}{N_1} - \frac{n_{b0}}{N_0} \Bigr)
         \log \frac{n_{b1} / N_1 + s / N}{n_{b0} / N_0 + s / N},

over the bins b of a feature, missing values being one of them. It is the symmetrised
Kullback-Leibler divergence of the feature between the two classes. With more classes it is the mean
over the classes against the rest, weighted by their frequency.

References
----------
.. [1] N. Siddiqi (2006). Credit risk scorecards. Wiley.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from tamiz.filters.information.base import ScoreFilter
from tamiz.filters.univariate.base import over_classes
from tamiz.information.codes import DiscreteColumns
from tamiz.information.evidence import divergence


class InformationValue(ScoreFilter):
    """Information value: how far the distributions of a feature in the classes lie apart.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    bins : {"mdl", "mean_std", "width", "frequency"} or None, default="frequency"
        How to cut continuous features, see :class:`tamiz.information.Discretiser`; None if all
        are discrete already.
    n_bins : int, default=10
        Number of bins for "width" and "frequency".
    categorical_features : array-like, default=None
        Features whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are.
    missing : {"code", "ignore"}, default="code"
        Missing values are a bin of their own, or are left out of the counts.
    smoothing : float, default=0.5
        Rows that are added to each bin, divided as all rows are.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Information value. By custom, below 0.02 a feature is of no use, below 0.1 weak, below 0.3
        medium, and strong above; above 0.5 one looks for a leak.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`.
    classes_ : array of shape (n_classes,)
        The classes.

    See Also
    --------
    tamiz.information.WeightOfEvidence : The weights of the bins, as a transformer.
    InformationGain : Mutual information, which does not grow without bound where classes part.

    References
    ----------
    .. [1] N. Siddiqi (2006). Credit risk scorecards. Wiley.

    Examples
    --------
    >>> from tamiz.data import load
    >>> from tamiz.filters import InformationValue
    >>> loans = load("hmeq")
    >>> found = InformationValue(3).fit(loans.X, loans.y)
    >>> [loans.feature_names[j] for j in found.order_[:3]]
    ['DEBTINC', 'DELINQ', 'VALUE']
    >>> found.scores_[found.order_[:3]].round(2)
    array([1.87..., 0.6..., 0.47...])
    """

    _parameter_constraints = {
        **ScoreFilter._parameter_constraints,
        "smoothing": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        bins: str | None = "frequency",
        n_bins: int = 10,
        categorical_features: Any = None,
        missing: str = "code",
        smoothing: float = 0.5,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.smoothing = smoothing
        self.n_jobs = n_jobs

    def _score(self, codes: DiscreteColumns) -> np.ndarray:
        tables = codes.contingency()
        rows = np.sum([table.sum(axis=0) for table in tables], axis=0)

        def score(k: int) -> np.ndarray:
            """One class against the rest."""
            own = (np.column_stack([t.sum(axis=1) - t[:, k], t[:, k]]) for t in tables)
            return np.array([max(0.0, divergence(table, self.smoothing)) for table in own])

        return over_classes(score, rows / rows.sum(), "weighted", len(rows))
