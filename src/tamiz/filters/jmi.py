r"""Joint mutual information.

With S the features already selected, the next is the v that maximises the mean over s in S of

.. math:: I(v, s; c) = I(s; c) + I(v; c \mid s),

what v tells about the class together with s. Unlike mRMR it sees features that tell something only
in company, and does not hold against v what it shares with s and what has nothing to do with c.

References
----------
.. [1] H. H. Yang, J. Moody (1999). Data visualization and feature selection: new algorithms for
       nongaussian data. NIPS 12.
.. [2] G. Brown, A. Pocock, M.-J. Zhao, M. Luján (2012). Conditional likelihood maximisation. JMLR
       13.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.filters._information import CountedCriterion, Criterion, GreedyFilter


class JMI(GreedyFilter):
    """Joint mutual information: what a feature tells in company with each of those selected.

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
    CMIM : The worst company instead of the mean.
    MRMR : Redundancy whether or not it concerns the class.

    References
    ----------
    .. [1] H. H. Yang, J. Moody (1999). Data visualization and feature selection: new algorithms
           for nongaussian data. NIPS 12.

    Examples
    --------
    Of three coins the class says whether the first two agree. Each alone is useless; once one is
    in, the other is seen:

    >>> import numpy as np
    >>> from tamiz.filters.jmi import JMI
    >>> X = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)])
    >>> y = X[:, 0] == X[:, 1]
    >>> JMI(n_features_to_select=2, bins=None).fit(X, y).order_
    array([0, 1, 2])
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
        return "mean joint information (nats)"

    def _counted(self, codes: Any, y: np.ndarray | None) -> Criterion:
        return _JointInformation(codes, y)


class _JointInformation(CountedCriterion):
    _arrays = ("features", "relevance", "total")

    def __init__(self, codes: Any, y: np.ndarray | None):
        super().__init__(codes, y)
        self.total = np.zeros(codes.n_features)
        self.n_added = 0

    def values(self) -> np.ndarray:
        return self.total / self.n_added if self.n_added else self.relevance

    def add(self, k: int) -> None:
        self.total += self.relevance[k] + self.codes.conditional(k, self.y)
        self.n_added += 1
