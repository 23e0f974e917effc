"""Maximum relevance: the features that each tell most about the class."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.filters._information import ScoreFilter


class MaxRel(ScoreFilter):
    """Maximum relevance: rank features by their mutual information with the class.

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
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Mutual information with the class in nats.
    support_, ranking_, order_, selection_
        See :class:`tamiz.selector.Selector`.
    classes_ : array of shape (n_classes,)
        The classes.

    See Also
    --------
    MRMR : Also looks at what features share.
    InformationGain : The same quantity in bits, after MDL discretisation.

    References
    ----------
    .. [1] H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information:
           criteria of max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27(8).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.filters.maxrel import MaxRel
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = MaxRel(n_features_to_select=2).fit(X, y)
    >>> selector.order_
    array([2, 3, 0, 1])
    >>> selector.transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        bins: str | None = "mean_std",
        n_bins: int = 5,
        categorical_features: Any = None,
        missing: str = "code",
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.n_jobs = n_jobs

    def _score(self, codes: Any, y: np.ndarray | None) -> np.ndarray:
        return codes.relevance(y)
