r"""What a feature tells about the class in company: joint and conditional mutual information.

With S the features already selected, the next is the v that maximises

.. math::

    \text{JMI: } \frac{1}{|S|} \sum_{s \in S} I(v, s; c), \qquad
    \text{CMIM: } \min \{ I(v; c),\; \min_{s \in S} I(v; c \mid s) \}.

JMI asks what v tells about the class together with each of the selected features, on average; CMIM
what v tells that none of them tells already. The latter is the algorithm as published, whose first
term keeps out features that tell something only in company. Unlike mRMR, JMI sees such features,
and does not hold against v what it shares with s and what has nothing to do with c.

References
----------
.. [1] H. H. Yang, J. Moody (1999). Data visualization and feature selection: new algorithms for
       nongaussian data. NIPS 12.
.. [2] F. Fleuret (2004). Fast binary feature selection with conditional mutual information. JMLR 5.
.. [3] G. Brown, A. Pocock, M.-J. Zhao, M. Luján (2012). Conditional likelihood maximisation. JMLR
       13.
"""

from __future__ import annotations

import numpy as np

from tamiz.filters.information.base import GreedyFilter
from tamiz.filters.information.greedy import CountedCriterion, Criterion
from tamiz.information.codes import DiscreteColumns


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
        tells is then multiplied by the fraction of the samples that have it.
    full_ranking : bool, default=False
        Whether the search goes on through all features. Otherwise those not selected are ranked
        by the value they would have had if added next.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where pairs of columns are counted: on the CPU, on a GPU, or on a GPU if there is one that
        works. The result is the same. ``fit_stream`` counts on the CPU.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Value of the criterion when the feature was added, or would have been added next.
    relevance_ : array of shape (n_features,)
        Mutual information with the class in nats.
    status_ : str
        "finished", or "interrupted": the features added until then are selected.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`; the path of ``selection_`` has the values.
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
    >>> from tamiz.filters import JMI
    >>> X = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)])
    >>> y = X[:, 0] == X[:, 1]
    >>> JMI(n_features_to_select=2, bins=None).fit(X, y).order_
    array([0, 1, 2])
    """

    def _criterion_name(self) -> str:
        return "mean joint information (nats)"

    def _criterion(self, codes: DiscreteColumns) -> Criterion:
        return _JointInformation(codes)


class _JointInformation(CountedCriterion):
    """``I(v, s; c) = I(s; c) + I(v; c | s)``, summed over the selected features s."""

    _arrays = ("features", "relevance", "total")

    def __init__(self, codes: DiscreteColumns):
        super().__init__(codes)
        self.total = np.zeros(codes.n_features)
        self.n_added = 0

    def values(self) -> np.ndarray:
        return self.total / self.n_added if self.n_added else self.relevance

    def add(self, k: int) -> None:
        self.total += self.relevance[k] + self.codes.conditional(k)
        self.n_added += 1


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
        tells is then multiplied by the fraction of the samples that have it.
    full_ranking : bool, default=False
        Whether the search goes on through all features. Otherwise those not selected are ranked
        by the value they would have had if added next.
    verbose : bool or int, default=0
        Show progress.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where pairs of columns are counted: on the CPU, on a GPU, or on a GPU if there is one that
        works. The result is the same. ``fit_stream`` counts on the CPU.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Value of the criterion when the feature was added, or would have been added next.
    relevance_ : array of shape (n_features,)
        Mutual information with the class in nats.
    status_ : str
        "finished", or "interrupted": the features added until then are selected.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`; the path of ``selection_`` has the values.
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
    >>> from tamiz.filters import CMIM
    >>> X, y = load_iris(return_X_y=True)
    >>> X = np.column_stack([X, X[:, 3]])
    >>> selector = CMIM(n_features_to_select=4).fit(X, y)
    >>> selector.order_
    array([2, 3, 1, 0, 4])
    >>> selector.scores_[4].item()
    0.0
    """

    def _criterion_name(self) -> str:
        return "least conditional information (nats)"

    def _criterion(self, codes: DiscreteColumns) -> Criterion:
        return _LeastConditional(codes)


class _LeastConditional(CountedCriterion):
    """The least of ``I(v; c)`` and ``I(v; c | s)`` over the selected features s."""

    _arrays = ("features", "relevance", "least")

    def __init__(self, codes: DiscreteColumns):
        super().__init__(codes)
        self.least = self.relevance.copy()

    def values(self) -> np.ndarray:
        return self.least

    def add(self, k: int) -> None:
        np.minimum(self.least, self.codes.conditional(k), out=self.least)
