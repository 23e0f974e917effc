r"""Scores from class means and variances: Fisher's in three forms, and signal-to-noise.

For two classes with means ``μ+, μ−`` and population variances ``σ+², σ−²`` of a feature,

.. math::

    \text{criterion: } \frac{|\mu_+ - \mu_-|}{\sigma_+^2 + \sigma_-^2}, \qquad
    \text{classical: } \frac{(\mu_+ - \mu_-)^2}{\sigma_+^2 + \sigma_-^2}, \qquad
    \text{signal to noise: } \frac{|\mu_+ - \mu_-|}{\sigma_+ + \sigma_-},

and for any number of classes, ``n_k`` samples in class ``k``,

.. math::

    \text{multiclass: } \frac{\sum_k n_k (\mu_k - \mu)^2}{\sum_k n_k \sigma_k^2},

which is ``(K − 1)/(n − K)`` times the F statistic of the analysis of variance. The criterion is
the only one that depends on the unit of the feature: metres score a hundred times higher than
centimetres. The other forms are free of units, and the classical one is the default.

References
----------
.. [1] I. Guyon, S. Gunn, M. Nikravesh, L. Zadeh (2006). Feature extraction: foundations and
       applications. Springer.
.. [2] T. R. Golub et al. (1999). Molecular classification of cancer. Science 286.
.. [3] Q. Gu, Z. Li, J. Han (2011). Generalized Fisher score for feature selection. UAI.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from sklearn.utils._param_validation import StrOptions

from tamiz.filters.univariate.base import BY_PVALUE, MomentFilter, over_classes
from tamiz.scale.moments import ClassMoments, divide_scores


class FisherScore(MomentFilter):
    """Fisher score: distance between class means against the variance inside the classes.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    variant : {"criterion", "classical", "multiclass"}, default="classical"
        ``"classical"``: squared difference of the two means over the sum of the variances;
        ``"criterion"``: absolute difference over the same sum;
        ``"multiclass"``: variance between the classes over variance inside them.
        The first two are defined for two classes; with more, ``"multiclass"`` stands in for
        them, and ``variant_`` says so. The criterion depends on the units of the features: use
        it only on features of one unit, or to repeat a published table. (It was the default
        once; rankings of features in several units were an artefact of them.)
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
    variant_ : str
        The formula that was used.
    scores_ : array of shape (n_features,)
        Scores; 0 for constant features, infinite for features that separate the classes and do
        not vary inside them.
    pvalues_ : array of shape (n_features,) or None
        For ``"multiclass"``, the p-values of the analysis of variance.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    SignalToNoise : divides by the sum of standard deviations.
    WelchT : takes the sizes of the classes into account and gives p-values.

    References
    ----------
    .. [1] I. Guyon, S. Gunn, M. Nikravesh, L. Zadeh (2006). Feature extraction: foundations and
           applications. Springer.
    .. [2] Q. Gu, Z. Li, J. Han (2011). Generalized Fisher score for feature selection. UAI.

    Examples
    --------
    Height and weight of eight people, tall or short:

    >>> from tamiz.filters import FisherScore
    >>> X = [[170, 85], [147, 75], [150, 77], [154, 81], [175, 79], [152, 80], [173, 82], [177, 84]]
    >>> y = [1, -1, -1, -1, 1, -1, 1, 1]
    >>> FisherScore().fit(X, y).scores_.round(4).tolist()
    [39.5514, 1.6514]
    >>> FisherScore(variant="criterion").fit(X, y).scores_.round(4).tolist()
    [1.7196, 0.3886]
    """

    _parameter_constraints = {
        **MomentFilter._parameter_constraints,
        **BY_PVALUE,
        "variant": [StrOptions({"criterion", "classical", "multiclass"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        variant: str = "classical",
        alpha: float | None = None,
        correction: str = "none",
    ):
        self.n_features_to_select = n_features_to_select
        self.variant = variant
        self.alpha = alpha
        self.correction = correction

    def _from_moments(self, moments: ClassMoments) -> tuple[np.ndarray, np.ndarray | None]:
        self.variant_ = self.variant if len(moments.count) == 2 else "multiclass"
        scores = fisher_scores(moments, self.variant_)
        if self.variant_ != "multiclass":
            return scores, None
        n, n_classes = moments.count.sum(), len(moments.count)
        if n <= n_classes:
            return scores, np.ones(len(scores))
        f = scores * ((n - n_classes) / (n_classes - 1))
        return scores, special.fdtrc(n_classes - 1, n - n_classes, f)

    def _undo(self, scores: np.ndarray, units: np.ndarray) -> np.ndarray:
        if self.variant_ != "criterion":
            return scores
        with np.errstate(over="ignore"):
            return scores / units


class SignalToNoise(MomentFilter):
    """Signal-to-noise ratio: distance between class means over the sum of standard deviations.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    multiclass : {"weighted", "max"}, default="weighted"
        With more than two classes each is compared with the rest: the mean of the ratios weighted
        by the fractions of the classes, or the largest ratio.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Ratios; 0 for constant features, infinite for features that separate the classes and do
        not vary inside them.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    FisherScore : divides by the sum of variances.

    References
    ----------
    .. [1] T. R. Golub et al. (1999). Molecular classification of cancer: class discovery and class
           prediction by gene expression monitoring. Science 286.

    Examples
    --------
    >>> from tamiz.filters import SignalToNoise
    >>> X = [[170, 85], [147, 75], [150, 77], [154, 81], [175, 79], [152, 80], [173, 82], [177, 84]]
    >>> y = [1, -1, -1, -1, 1, -1, 1, 1]
    >>> SignalToNoise().fit(X, y).scores_.round(4).tolist()
    [4.4470, 0.9089]
    """

    _parameter_constraints = {
        **MomentFilter._parameter_constraints,
        "multiclass": [StrOptions({"weighted", "max"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        multiclass: str = "weighted",
    ):
        self.n_features_to_select = n_features_to_select
        self.multiclass = multiclass

    def _from_moments(self, moments: ClassMoments) -> tuple[np.ndarray, Any]:
        fraction = moments.count / moments.count.sum()

        def against_rest(k: int) -> np.ndarray:
            return signal_to_noise(moments.one_against_rest(k))

        return over_classes(against_rest, fraction, self.multiclass, len(fraction)), None


def fisher_scores(moments: ClassMoments, variant: str) -> np.ndarray:
    """Fisher scores of all features."""
    if variant == "multiclass":
        whole = moments.pooled()
        between = moments.count @ (moments.mean - whole.mean) ** 2
        return divide_scores(between, moments.m2.sum(axis=0))
    distance = np.abs(moments.mean[1] - moments.mean[0])
    return divide_scores(
        distance if variant == "criterion" else distance**2, moments.variance().sum(axis=0)
    )


def signal_to_noise(moments: ClassMoments) -> np.ndarray:
    """Signal-to-noise ratios of all features, for two classes."""
    distance = np.abs(moments.mean[1] - moments.mean[0])
    return divide_scores(distance, np.sqrt(moments.variance()).sum(axis=0))
