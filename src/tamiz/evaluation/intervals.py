"""Intervals: for proportions, for the area under the ROC curve, and for a mean over splits.

A proportion of ``k`` successes in ``n`` trials:

* Wilson: the proportions ``p`` that a normal test with their own deviation does not reject,
  ``|k/n - p| <= z sqrt(p (1 - p) / n)``. It stays inside [0, 1] and covers well for small ``n``.
* Clopper and Pearson: those that an exact binomial test does not reject. It never covers less than
  promised, and is wider for it.

The area under the ROC curve is the fraction of pairs, one positive and one negative sample, that
the scores order rightly, half a pair for a tie. Its variance after DeLong is that of the fractions
of the single samples, which follow from ranks in O(n log n) (Sun and Xu).

The errors of ``J`` splits of a repeated cross-validation are not independent: training parts
overlap. The variance of their mean is therefore more than ``s²/J``; Nadeau and Bengio's correction
takes ``(1/J + n_test/n_train) s²``, and the interval is that of Student's t with ``J - 1`` degrees
of freedom.

References
----------
.. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

Interval = tuple[float, float]

UNKNOWN: Interval = (math.nan, math.nan)


def quantile(confidence: float) -> float:
    """The z of a two-sided interval."""
    return float(stats.norm.isf((1 - confidence) / 2))


def wilson(successes: Any, trials: Any, confidence: float = 0.95) -> tuple[Any, Any]:
    """Wilson's interval, for numbers or arrays; NaN where there are no trials."""
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    z = quantile(confidence)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = k / n
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        # exact at the ends, where rounding would leave 1e-17
        low = np.where(k == 0, 0.0 * p, np.maximum(middle - half, 0.0))
        high = np.where(k == n, p, np.minimum(middle + half, 1.0))
    return low[()], high[()]


def clopper_pearson(successes: Any, trials: Any, confidence: float = 0.95) -> tuple[Any, Any]:
    """The exact interval; NaN where there are no trials."""
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    tail = (1 - confidence) / 2
    low = np.where(k == 0, 0.0, stats.beta.ppf(tail, np.maximum(k, 1e-300), n - k + 1))
    high = np.where(k == n, 1.0, stats.beta.isf(tail, k + 1, np.maximum(n - k, 1e-300)))
    nothing = n == 0
    return np.where(nothing, np.nan, low)[()], np.where(nothing, np.nan, high)[()]


class Area(NamedTuple):
    """Area under a ROC curve and its variance after DeLong."""

    value: float
    variance: float  # NaN with a single sample of either class
    of_positive: np.ndarray  # fraction of the negative samples below each positive one
    of_negative: np.ndarray  # fraction of the positive samples above each negative one


def delong(positive: np.ndarray, negative: np.ndarray) -> Area:
    """Area and variance from the scores of the positive and of the negative samples."""
    m, n = len(positive), len(negative)
    together = stats.rankdata(np.concatenate([positive, negative]))
    # midranks count how many of the other class are below, ties as halves
    of_positive = (together[:m] - stats.rankdata(positive)) / n
    of_negative = 1.0 - (together[m:] - stats.rankdata(negative)) / m
    value = float(of_positive.mean())
    variance = math.nan
    if m > 1 and n > 1:
        variance = float(of_positive.var(ddof=1) / m + of_negative.var(ddof=1) / n)
    return Area(value, variance, of_positive, of_negative)


def delong_interval(area: Area, confidence: float = 0.95) -> Interval:
    """Normal interval of an area, cut at 0 and 1."""
    half = quantile(confidence) * math.sqrt(area.variance)
    return max(0.0, area.value - half), min(1.0, area.value + half)


class MeanInterval(NamedTuple):
    """A mean over splits and what is known of it; NaN for what is not."""

    mean: float
    low: float
    high: float
    n_splits: int


def corrected_interval(
    errors: np.ndarray,
    n_train: np.ndarray,
    n_test: np.ndarray,
    confidence: float,
    shares: bool,
) -> MeanInterval:
    """The mean of ``errors`` with its corrected interval; splits without a value are left out.

    ``shares`` says that errors lie between 0 and 1, and so do the ends of the interval.
    """
    there = np.isfinite(errors)
    n_splits = int(there.sum())
    if not n_splits:
        return MeanInterval(np.nan, np.nan, np.nan, 0)
    mean = float(errors[there].mean())
    if n_splits == 1:
        return MeanInterval(mean, np.nan, np.nan, 1)
    factor = 1.0 / n_splits + float(np.mean(n_test[there] / n_train[there]))
    error = float(errors[there].std(ddof=1)) * np.sqrt(factor)
    half = float(stats.t.isf((1.0 - confidence) / 2.0, n_splits - 1)) * error
    low, high = mean - half, mean + half
    if shares:
        low, high = max(0.0, low), min(1.0, high)
    return MeanInterval(mean, low, high, n_splits)
