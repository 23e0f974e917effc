r"""p-values corrected for the number of features.

With p-values ``p_(1) ≤ … ≤ p_(m)`` of ``m`` features, the adjusted value of a feature is the least
level at which it would be selected:

- Bonferroni ``m p``, and Holm ``max_{i ≤ k} (m − i + 1) p_(i)``, never larger: the chance that any
  selected feature is a wrong one, whatever the dependence of the features.
- Benjamini and Hochberg ``min_{i ≥ k} m p_(i) / i``: the expected fraction of wrong features among
  the selected ones, for features that are independent or positively dependent. Benjamini and
  Yekutieli multiply it by ``Σ_{i ≤ m} 1/i``, which covers every dependence.
- Storey multiplies Benjamini and Hochberg's by an estimate of ``π₀``, the fraction of features that
  have nothing to do with the target: above ``λ`` nearly all p-values are theirs, so that
  ``π₀(λ) = #{p_i > λ} / (m (1 − λ))``. The results are called q-values. With ``λ`` fixed, one more
  in the count and nothing selected above ``λ``, the rate is kept for independent features of any
  number [5]_: that is the rule here, with ``λ = 1/2``. The estimate is not cut at 1 there, and so
  the values may exceed Benjamini and Hochberg's, up to twice (a single feature has ``2 p``); with
  the cut, five features have a rate of 0.059 for 0.05. A ``λ`` that the data choose has less bias,
  but with 20 features the rate rises to twice what was asked for.

References
----------
.. [1] S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian
       Journal of Statistics 6.
.. [2] Y. Benjamini, Y. Hochberg (1995). Controlling the false discovery rate. Journal of the Royal
       Statistical Society B 57.
.. [3] Y. Benjamini, D. Yekutieli (2001). The control of the false discovery rate in multiple
       testing under dependency. Annals of Statistics 29.
.. [4] J. D. Storey, R. Tibshirani (2003). Statistical significance for genomewide studies.
       Proceedings of the National Academy of Sciences 100.
.. [5] J. D. Storey, J. E. Taylor, D. Siegmund (2004). Strong control, conservative point estimation
       and simultaneous conservative consistency of false discovery rates. Journal of the Royal
       Statistical Society B 66.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tamiz.validation import check_level, check_pvalues, checked, fraction, one_of, or_word

_LAMBDAS = np.arange(0.05, 0.951, 0.05)
_HALF = 0.5  # λ of the estimate with which the rate is kept for any number of features


def _unchanged(pvalues: np.ndarray) -> np.ndarray:
    return pvalues


def _bonferroni(pvalues: np.ndarray) -> np.ndarray:
    return np.minimum(1.0, len(pvalues) * pvalues)


def _holm(pvalues: np.ndarray) -> np.ndarray:
    order = np.argsort(pvalues, kind="stable")
    steps = pvalues[order] * np.arange(len(pvalues), 0, -1)
    return _back(order, np.minimum(1.0, np.maximum.accumulate(steps)))


def _benjamini_hochberg(pvalues: np.ndarray) -> np.ndarray:
    m = len(pvalues)
    order = np.argsort(pvalues, kind="stable")
    steps = pvalues[order] * (m / np.arange(1, m + 1))
    return _back(order, np.minimum(1.0, np.minimum.accumulate(steps[::-1])[::-1]))


def _benjamini_yekutieli(pvalues: np.ndarray) -> np.ndarray:
    sum_of_inverses = (1.0 / np.arange(1, len(pvalues) + 1)).sum()
    return np.minimum(1.0, sum_of_inverses * _benjamini_hochberg(pvalues))


def _storey(pvalues: np.ndarray, pi0: float | str = "conservative") -> np.ndarray:
    if pi0 != "conservative":
        return _proportion(pvalues, pi0) * _benjamini_hochberg(pvalues)
    # π₀ may exceed 1 here: cut there, the rate would exceed the level where nothing is relevant
    m = len(pvalues)
    order = np.argsort(pvalues, kind="stable")
    steps = pvalues[order] * (_excess(pvalues, _HALF) * m / np.arange(1, m + 1))
    steps[pvalues[order] > _HALF] = 1.0
    return _back(order, np.minimum(1.0, np.minimum.accumulate(steps[::-1])[::-1]))


def _back(order: np.ndarray, sorted_values: np.ndarray) -> np.ndarray:
    out = np.empty(len(order))
    out[order] = sorted_values
    return out


#: The ways to correct, by name.
CORRECTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": _unchanged,
    "bonferroni": _bonferroni,
    "holm": _holm,
    "bh": _benjamini_hochberg,
    "by": _benjamini_yekutieli,
    "storey": _storey,
    "fdr": _benjamini_hochberg,  # as the filters have called it from the beginning
}


def corrected(pvalues: np.ndarray, correction: str) -> np.ndarray:
    """p-values corrected for the number of features, by the name of a correction.

    Examples
    --------
    >>> import numpy as np
    >>> corrected(np.array([0.01, 0.5, 0.03, 0.04]), "fdr").round(4).tolist()
    [0.04, 0.5, 0.0533, 0.0533]
    """
    return CORRECTIONS[correction](pvalues)


@checked(
    pvalues=check_pvalues,
    method=one_of(*CORRECTIONS),
    pi0=or_word(fraction, "conservative", "bootstrap", "smoother"),
)
def adjust_pvalues(pvalues: Any, method: str = "bh", *, pi0: float | str = "conservative") -> Any:
    """Correct p-values for the number of features.

    Parameters
    ----------
    pvalues : array of shape (n_features,)
        p-values of all features that were looked at, such as ``pvalues_`` of a filter.
    method : {"bonferroni", "holm", "bh", "by", "storey", "none"}, default="bh"
        Bonferroni and Holm limit the chance of any wrong feature, under every dependence. The
        others limit the expected fraction of wrong ones: Benjamini and Hochberg ("bh", also "fdr")
        under independence or positive dependence, Benjamini and Yekutieli ("by") under every
        dependence, Storey's q-values under independence or weak dependence.
    pi0 : {"conservative", "bootstrap", "smoother"} or float, default="conservative"
        For "storey": how to estimate the fraction of features that have nothing to do with the
        target, see :func:`estimate_pi0`, or that fraction. With "conservative" the rate is kept for
        any number of independent features; a feature with a p-value above 0.5 then has the value 1,
        and the values may exceed those of Benjamini and Hochberg where few or no features are
        relevant: up to twice, as with a single feature, whose value is ``2 p``.
        With the others, and fewer than some hundreds of features, it is exceeded: up to twice.

    Returns
    -------
    array of shape (n_features,)
        Select the features with values up to the level that you can live with.

    See Also
    --------
    permutation_scores : p-values of any score, and corrections that know the dependence.

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg (1995). Controlling the false discovery rate. Journal of the
           Royal Statistical Society B 57.
    .. [2] Y. Benjamini, D. Yekutieli (2001). The control of the false discovery rate in multiple
           testing under dependency. Annals of Statistics 29.
    .. [3] J. D. Storey, R. Tibshirani (2003). Statistical significance for genomewide studies.
           Proceedings of the National Academy of Sciences 100.

    Examples
    --------
    >>> from tamiz.discovery import adjust_pvalues
    >>> p = [0.001, 0.008, 0.039, 0.041, 0.6]
    >>> adjust_pvalues(p, "bh").round(4).tolist()
    [0.005, 0.02, 0.0513, 0.0513, 0.6]
    >>> adjust_pvalues(p, "holm").round(4).tolist()
    [0.005, 0.032, 0.117, 0.117, 0.6]
    """
    return _storey(pvalues, pi0) if method == "storey" else corrected(pvalues, method)


@checked(
    pvalues=check_pvalues, method=or_word(check_level, "conservative", "bootstrap", "smoother")
)
def estimate_pi0(pvalues: Any, method: str | float = "conservative") -> float:
    r"""Estimate the fraction of features that have nothing to do with the target.

    Their p-values are uniform, and above :math:`\lambda` hardly any others are:
    :math:`\pi_0(\lambda) = \#\{p_i > \lambda\} / (m (1 - \lambda))`. A large :math:`\lambda` has
    less bias and more variance.

    Parameters
    ----------
    pvalues : array of shape (n_features,)
        p-values, without correction.
    method : {"conservative", "bootstrap", "smoother"} or float, default="conservative"
        A number is :math:`\lambda` itself; one is then added to the count, with which the false
        discovery rate is controlled for independent features of any number. "conservative" is
        0.5. "bootstrap" takes the :math:`\lambda` among 0.05, 0.10, …, 0.95 with the least
        estimated mean squared error around the tenth percentile of all :math:`\pi_0(\lambda)`;
        the variance that the bootstrap would give is known in closed form, so that nothing is
        drawn. "smoother" fits a natural cubic smoothing spline of three degrees of freedom to
        :math:`\pi_0(\lambda)` and takes its value at 0.95.

    Returns
    -------
    float
        At most 1, and above 0: at least ``1/n_features``.

    References
    ----------
    .. [1] J. D. Storey, R. Tibshirani (2003). Statistical significance for genomewide studies.
           Proceedings of the National Academy of Sciences 100.
    .. [2] J. D. Storey, J. E. Taylor, D. Siegmund (2004). Strong control, conservative point
           estimation and simultaneous conservative consistency of false discovery rates. Journal of
           the Royal Statistical Society B 66.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.discovery import estimate_pi0
    >>> p = np.concatenate([np.full(20, 0.001), (np.arange(80) + 0.5) / 80])
    >>> estimate_pi0(p)
    0.82
    """
    return _proportion(pvalues, method) if isinstance(method, str) else _above(pvalues, method)


def _excess(pvalues: np.ndarray, level: float) -> float:
    """p-values above a level, and one more, divided by how many there are if none is relevant."""
    return float((np.count_nonzero(pvalues > level) + 1) / (len(pvalues) * (1 - level)))


def _above(pvalues: np.ndarray, level: float) -> float:
    """π₀ by the p-values above a level, and one more."""
    return min(1.0, _excess(pvalues, level))


def _proportion(pvalues: np.ndarray, how: float | str) -> float:
    """π₀ itself, or its estimate by one of the ways that have a name."""
    if not isinstance(how, str):
        return float(how)
    if how == "conservative":
        return _above(pvalues, _HALF)
    m = len(pvalues)
    above = (pvalues[:, None] > _LAMBDAS).sum(axis=0)
    curve = above / (m * (1 - _LAMBDAS))
    if how == "smoother":
        found = _smoothed(curve)[-1]
    else:
        variance = above / (m * (1 - _LAMBDAS)) ** 2 * (1 - above / m)
        found = curve[np.argmin(variance + (curve - np.quantile(curve, 0.1)) ** 2)]
    return float(min(1.0, max(found, 1.0 / m)))


def _smoothed(values: np.ndarray, freedom: float = 3.0) -> np.ndarray:
    """The natural cubic smoothing spline at equidistant places, with this trace of its matrix.

    It is ``(I + α K)⁻¹`` of the values (Reinsch), with the roughness ``K = Q R⁻¹ Q'`` of the spline
    through them; the weight ``α`` follows from the degrees of freedom.
    """
    n = len(values)
    second = np.zeros((n, n - 2))
    for k in range(n - 2):
        second[k : k + 3, k] = 1.0, -2.0, 1.0
    between = np.diag(np.full(n - 2, 2 / 3)) + np.diag(np.full(n - 3, 1 / 6), 1)
    between += np.diag(np.full(n - 3, 1 / 6), -1)
    size, vectors = np.linalg.eigh(second @ np.linalg.solve(between, second.T))
    size = np.maximum(size, 0.0)
    size[:2] = 0.0  # straight lines are not rough
    low, high = -30.0, 30.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        trace = (1.0 / (1.0 + np.exp(middle) * size)).sum()
        low, high = (middle, high) if trace > freedom else (low, middle)
    return vectors @ ((vectors.T @ values) / (1.0 + np.exp(0.5 * (low + high)) * size))
