r"""Relevance: what each feature by itself tells about the class.

.. math::

    IG(f) = H(c) - H(c \mid f) = I(f; c), \qquad
    SU(f) = \frac{2\, I(f; c)}{H(f) + H(c)}

Information gain favours features with many values; symmetrical uncertainty divides by the
entropies and lies between 0 and 1. Maximum relevance is information gain in nats, with other
defaults.

References
----------
.. [1] J. R. Quinlan (1986). Induction of decision trees. Machine Learning 1.
.. [2] W. H. Press et al. (1988). Numerical recipes in C. Cambridge University Press.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from tamiz.filters.information.base import ScoreFilter
from tamiz.information.codes import DiscreteColumns


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
        tells is then multiplied by the fraction of the samples that have it.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Mutual information with the class in nats.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`.
    classes_ : array of shape (n_classes,)
        The classes.

    See Also
    --------
    MRMR : Also looks at what features share.
    InformationGain : The same in bits, after MDL discretisation.

    References
    ----------
    .. [1] H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information:
           criteria of max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27(8).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.filters import MaxRel
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

    def _score(self, codes: DiscreteColumns) -> np.ndarray:
        return codes.relevance()


class InformationGain(ScoreFilter):
    """Information gain: how many bits of the class a feature tells.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    bins : {"mdl", "mean_std", "width", "frequency"} or None, default="mdl"
        How to cut continuous features, see :class:`tamiz.information.Discretiser`; None if all
        are discrete already. A feature that "mdl" does not cut scores 0.
    n_bins : int, default=5
        Number of bins for "width" and "frequency".
    categorical_features : array-like, default=None
        Features whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are.
    missing : {"code", "ignore"}, default="code"
        Missing values are a level of their own, or are left out of the counts; what a feature
        tells is then multiplied by the fraction of the samples that have it.
    unit : {"bits", "nats"}, default="bits"
        Unit of the scores.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Information gain.
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`.
    classes_ : array of shape (n_classes,)
        The classes.

    See Also
    --------
    SymmetricalUncertainty : Favours features with many values less.
    MaxRel : The same with other defaults.

    References
    ----------
    .. [1] J. R. Quinlan (1986). Induction of decision trees. Machine Learning 1.

    Examples
    --------
    >>> from tamiz.filters import InformationGain
    >>> X = [[170, 85], [147, 75], [150, 77], [154, 81], [175, 79], [152, 80], [173, 82], [177, 84]]
    >>> y = [1, -1, -1, -1, 1, -1, 1, 1]
    >>> InformationGain().fit(X, y).scores_
    array([1., 0.])
    """

    _parameter_constraints = {
        **ScoreFilter._parameter_constraints,
        "unit": [StrOptions({"bits", "nats"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        bins: str | None = "mdl",
        n_bins: int = 5,
        categorical_features: Any = None,
        missing: str = "code",
        unit: str = "bits",
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.unit = unit
        self.n_jobs = n_jobs

    def _score(self, codes: DiscreteColumns) -> np.ndarray:
        gain = codes.relevance()
        return gain / np.log(2.0) if self.unit == "bits" else gain


class SymmetricalUncertainty(ScoreFilter):
    """Symmetrical uncertainty: information gain divided by the mean of the two entropies.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    bins : {"mdl", "mean_std", "width", "frequency"} or None, default="mdl"
        How to cut continuous features, see :class:`tamiz.information.Discretiser`; None if all
        are discrete already. A feature that "mdl" does not cut scores 0.
    n_bins : int, default=5
        Number of bins for "width" and "frequency".
    categorical_features : array-like, default=None
        Features whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are.
    missing : {"code", "ignore"}, default="code"
        Missing values are a level of their own, or are left out of the counts; what a feature
        tells is then multiplied by the fraction of the samples that have it.
    n_jobs : int or None, default=None
        Most threads to use: all that are available by default and with -1. The result does not
        depend on it.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Symmetrical uncertainty, from 0 (independent) to 1 (each determines the other).
    support_, ranking_, order_, selection_
        See :class:`tamiz.base.Selector`.
    classes_ : array of shape (n_classes,)
        The classes.

    See Also
    --------
    InformationGain : Without the division.

    References
    ----------
    .. [1] W. H. Press et al. (1988). Numerical recipes in C. Cambridge University Press.

    Examples
    --------
    >>> from tamiz.filters import SymmetricalUncertainty
    >>> X = [[170, 85], [147, 75], [150, 77], [154, 81], [175, 79], [152, 80], [173, 82], [177, 84]]
    >>> y = [1, -1, -1, -1, 1, -1, 1, 1]
    >>> SymmetricalUncertainty().fit(X, y).scores_
    array([1., 0.])
    """

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        bins: str | None = "mdl",
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

    def _score(self, codes: DiscreteColumns) -> np.ndarray:
        return codes.su_relevance()
