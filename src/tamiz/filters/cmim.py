r"""Conditional mutual information maximisation.

With S the features already selected, the next is the v that maximises

.. math:: \min \{ I(v; c),\; \min_{s \in S} I(v; c \mid s) \},

what v tells about the class that none of the selected features tells already. This is the
algorithm as published, whose first term keeps out features that tell something only in company.

References
----------
.. [1] F. Fleuret (2004). Fast binary feature selection with conditional mutual information. JMLR 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.filters._information import CountedCriterion, Criterion, GreedyFilter


class CMIM(GreedyFilter):
    """Conditional mutual information maximisation.

    Adds the feature that tells most about the class beyond any one of those selected before.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    bins : {"mean_std", "mdl", "width", "frequency"} or None, default="mean_std"
        How to cut continuous features, see :class:`tamiz.information.Discretiser`; None if all
        are discrete already.
    n_bins : int, default=5
        Number of bins for "width" and "frequency".
    categorical_features : array-like, default=None
        Features whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are.
    missing : {"code", "ignore"}, default="code"
        Missing values are a level of their own, or are left out of the counts; what a feature
        tells is then multiplied by the share of the samples that have it.
    full_ranking : bool, default=False
        Whether the search goes on through all features. Otherwise those not selected are ranked
        by the value they would have had if added next.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Value of the criterion when the feature was added, or would have been added next.
    relevance_ : array of shape (n_features,)
        Mutual information with the class in nats.
    support_, ranking_, order_, selection_
        See :class:`tamiz.selector.Selector`; the path of ``selection_`` has the values.
    classes_ : array of shape (n_classes,)
        The classes.

    See Also
    --------
    JMI : The mean company instead of the worst.
    MRMR : Redundancy whether or not it concerns the class.

    References
    ----------
    .. [1] F. Fleuret (2004). Fast binary feature selection with conditional mutual information.
           JMLR 5.

    Examples
    --------
    A copy of the best feature tells nothing new:

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.filters.cmim import CMIM
    >>> X, y = load_iris(return_X_y=True)
    >>> X = np.column_stack([X, X[:, 3]])
    >>> selector = CMIM(n_features_to_select=4).fit(X, y)
    >>> selector.order_
    array([2, 3, 1, 0, 4])
    >>> selector.scores_[4].item()
    0.0
    """

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        bins: str | None = "mean_std",
        n_bins: int = 5,
        categorical_features: Any = None,
        missing: str = "code",
        full_ranking: bool = False,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.full_ranking = full_ranking
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _criterion_name(self) -> str:
        return "least conditional information (nats)"

    def _counted(self, codes: Any, y: np.ndarray | None) -> Criterion:
        return _LeastConditional(codes, y)


class _LeastConditional(CountedCriterion):
    _arrays = ("features", "relevance", "least")

    def __init__(self, codes: Any, y: np.ndarray | None):
        super().__init__(codes, y)
        self.least = self.relevance.copy()

    def values(self) -> np.ndarray:
        return self.least

    def add(self, k: int) -> None:
        np.minimum(self.least, self.codes.conditional(k, self.y), out=self.least)
