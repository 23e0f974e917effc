r"""Relevance: what each feature by itself tells about the class.

.. math::

    IG(f) = H(c) - H(c \mid f) = I(f; c), \qquad
    SU(f) = \frac{2\, I(f; c)}{H(f) + H(c)}

Information gain favours features with many values; symmetrical uncertainty divides by the
entropies and lies between 0 and 1. Maximum relevance is information gain in nats, with other
defaults. The information value of credit scoring is the symmetrised Kullback-Leibler divergence of
a feature between two classes (:mod:`tamiz.information.evidence`).

References
----------
.. [1] J. R. Quinlan (1986). Induction of decision trees. Machine Learning 1.
.. [2] W. H. Press et al. (1988). Numerical recipes in C. Cambridge University Press.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Stopwatch
from tamiz.filters.base import DEVICE, NO_STREAM, refuse_card
from tamiz.filters.information.base import ScoreFilter
from tamiz.filters.streaming import Stream
from tamiz.filters.univariate.base import over_classes
from tamiz.information.codes import DiscreteColumns
from tamiz.information.evidence import divergence


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
    device : {"cpu", "cuda", "auto"} or None, default=None
        Where pairs of columns are counted: on the CPU, on a GPU, or on a GPU if there is one that
        works. The result is the same. ``fit_stream`` counts on the CPU.

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

    _parameter_constraints = {**ScoreFilter._parameter_constraints, "device": DEVICE}

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        bins: str | None = "mean_std",
        n_bins: int = 5,
        categorical_features: Any = None,
        missing: str = "code",
        n_jobs: int | None = None,
        device: str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.n_jobs = n_jobs
        self.device = device

    def _score(self, codes: DiscreteColumns) -> np.ndarray:
        return codes.relevance()

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        refuse_card(self.device, *NO_STREAM)
        return super()._fit_streamed(stream, watch, sample_size)


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
        Information value; with more than two classes the mean over each against the rest, weighted
        by their frequency. By custom, below 0.02 a feature is of no use, below 0.1 weak, below 0.3
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
