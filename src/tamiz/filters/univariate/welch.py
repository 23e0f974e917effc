r"""Welch's test: difference of class means in units of its standard error.

For two classes, with the unbiased variances ``s_k²``,

.. math::

    t = \frac{\mu_1 - \mu_2}{\sqrt{v_1 + v_2}}, \quad v_k = \frac{s_k^2}{n_k}, \qquad
    \nu = \frac{(v_1 + v_2)^2}{v_1^2 / (n_1 - 1) + v_2^2 / (n_2 - 1)}

degrees of freedom; for ``K`` classes, with ``ω_k = 1/v_k``, ``Ω = Σ ω_k`` and the mean ``μ̃``
weighted by ``ω``,

.. math::

    F = \frac{\frac{1}{K-1} \sum_k \omega_k (\mu_k - \tilde\mu)^2}
             {1 + \frac{2 (K-2)}{K^2-1} \Lambda}, \quad
    \Lambda = \sum_k \frac{(1 - \omega_k / \Omega)^2}{n_k - 1},

to be compared with the F distribution of ``K − 1`` and ``(K² − 1)/(3Λ)`` degrees of freedom. For
two classes ``F = t²``.

References
----------
.. [1] B. L. Welch (1951). On the comparison of several mean values: an alternative approach.
       Biometrika 38.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from tamiz.filters.univariate.base import BY_PVALUE, MomentFilter
from tamiz.scale.moments import ClassMoments, divide_scores


class WelchT(MomentFilter):
    """Welch's t test, for classes of different variance.

    With more than two classes it is Welch's analysis of variance, whose score is the square root
    of F, so that the score of two classes is the special case. Classes of fewer than two samples
    have no variance and are left out.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
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
        Absolute t, or the square root of F; 0 for constant features.
    pvalues_ : array of shape (n_features,)
        Two-sided p-values, not corrected for the number of features.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    FisherScore : without the sizes of the classes.

    References
    ----------
    .. [1] B. L. Welch (1951). On the comparison of several mean values: an alternative approach.
           Biometrika 38.

    Examples
    --------
    >>> from tamiz.filters import WelchT
    >>> X = [[170, 85], [147, 75], [150, 77], [154, 81], [175, 79], [152, 80], [173, 82], [177, 84]]
    >>> welch = WelchT().fit(X, [1, -1, -1, -1, 1, -1, 1, 1])
    >>> welch.scores_.round(3).tolist(), welch.pvalues_.round(4).tolist()
    ([10.893, 2.226], [0.0, 0.0677])
    """

    _parameter_constraints = {**MomentFilter._parameter_constraints, **BY_PVALUE}

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        alpha: float | None = None,
        correction: str = "none",
    ):
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.correction = correction

    def _from_moments(self, moments: ClassMoments) -> tuple[np.ndarray, np.ndarray]:
        usable = moments.count > 1
        if usable.sum() < 2:
            raise ValueError(
                f"WelchT needs two classes of at least two samples each; y has "
                f"{int(usable.sum())} such class(es) among {len(usable)}. Add samples, or use "
                "AUCScore or KolmogorovSmirnov, which need no variance."
            )
        moments = ClassMoments(moments.count[usable], moments.mean[usable], moments.m2[usable])
        if len(moments.count) == 2:
            return welch_t(moments)
        f, pvalues = welch_anova(moments)
        return np.sqrt(f), pvalues

    def _enough(self, total: ClassMoments) -> bool:
        return bool(np.count_nonzero(total.count > 1) > 1)


def welch_t(moments: ClassMoments) -> tuple[np.ndarray, np.ndarray]:
    """|t| and two-sided p-values, for two classes."""
    v = moments.variance(ddof=1) / moments.count[:, None]
    t = divide_scores(np.abs(moments.mean[1] - moments.mean[0]), np.sqrt(v.sum(axis=0)))
    fraction = _fractions(v)  # scale-free: squares of tiny variances would vanish
    freedom = 1 / (fraction**2 / (moments.count[:, None] - 1)).sum(axis=0)
    return t, 2 * stats.t.sf(t, freedom)


def welch_anova(moments: ClassMoments) -> tuple[np.ndarray, np.ndarray]:
    """Welch's F and its p-values, for any number of classes.

    Where classes have no variance their weight is taken to its limit: F is then infinite if the
    means of such classes differ.
    """
    count, n_classes = moments.count[:, None], len(moments.count)
    v = moments.variance(ddof=1) / count
    still = v == 0
    any_still = still.any(axis=0)
    # in units of a power of two: reciprocals of the least variances would be infinite
    unit = np.ldexp(1.0, np.frexp(np.where(still, np.inf, v).min(axis=0))[1])
    fraction = _fractions(np.where(still, 0.0, unit / np.where(still, 1.0, v)))  # ω / Ω
    fraction = np.where(any_still, _fractions(np.where(still, count, 0.0)), fraction)
    middle = (fraction * moments.mean).sum(axis=0)
    distance = (moments.mean - middle) ** 2
    between = divide_scores(np.where(still, 0.0, distance), v).sum(axis=0) / (n_classes - 1)
    lam = ((1 - fraction) ** 2 / (count - 1)).sum(axis=0)
    f = between / (1 + 2 * (n_classes - 2) / (n_classes**2 - 1) * lam)
    least = np.where(still, moments.mean, np.inf).min(axis=0)
    most = np.where(still, moments.mean, -np.inf).max(axis=0)
    f = np.where(any_still & (least < most), np.inf, f)
    freedom = (n_classes**2 - 1) / (3 * np.where(lam > 0, lam, 1.0))
    return f, stats.f.sf(f, n_classes - 1, freedom)


def _fractions(values: np.ndarray) -> np.ndarray:
    """Each value's part of the sum of its column; equal parts where the sum is zero."""
    total = values.sum(axis=0)
    return np.where(total > 0, values / np.where(total > 0, total, 1.0), 1 / len(values))
