"""Intervals and tests of paired numbers.

There are intervals for proportions, for the area under the ROC curve, and for a mean over splits.

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

The tests are those behind :func:`tamiz.evaluation.significance`. They get checked arrays: rows are
runs or data sets, columns methods.

References
----------
.. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
"""

from __future__ import annotations

import math
from itertools import combinations
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
    error_is_rate: bool,
    n_parts: float = math.inf,
) -> MeanInterval:
    """The mean of ``errors`` with its corrected interval; splits without a value are left out.

    ``error_is_rate`` says that errors lie between 0 and 1, and so do the ends of the interval.
    ``n_parts`` is the number of disjoint test parts where repetitions should count for no more.
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
    freedom = max(min(n_splits, n_parts) - 1.0, 1.0)
    half = float(stats.t.isf((1.0 - confidence) / 2.0, freedom)) * error
    low, high = mean - half, mean + half
    if error_is_rate:
        low, high = max(0.0, low), min(1.0, high)
    return MeanInterval(mean, low, high, n_splits)


# ------------------------------------------------------------------------------------- paired tests


#: More pairs than this are too many for the exact distribution of Wilcoxon's statistic.
MOST_EXACT = 200


class PairedTest(NamedTuple):
    """One test of one pair."""

    difference: float
    interval: Interval
    statistic: float
    df: float | None
    pvalue: float


class FriedmanTest(NamedTuple):
    """Friedman's test, and the F of Iman and Davenport made of it."""

    chi_square: float
    chi_square_pvalue: float
    df: int
    F: float
    F_df: tuple[int, int]
    pvalue: float  # of F


def corrected_t(d: np.ndarray, test_fraction: float, confidence: float) -> PairedTest:
    """Nadeau and Bengio: ``t = mean / sqrt((1/J + n_test/n_train) s²)`` with J - 1 degrees.

    Training parts of resamples overlap, so that their results vary less than those of fresh data
    would; the second term of the variance makes up for it. Without it, it is the paired t-test.
    """
    J = len(d)
    size = float(np.abs(d).max())
    if size == 0:
        return PairedTest(0.0, (0.0, 0.0), 0.0, J - 1, 1.0)
    part = d / size  # squares of very large or very small numbers are lost
    mean = float(part.mean())
    error = math.sqrt((1 / J + test_fraction) * float(part.var(ddof=1)))
    if error <= 1e-14:  # the same difference in every run
        whole = mean * size
        return PairedTest(whole, (whole, whole), math.copysign(math.inf, mean), J - 1, 0.0)
    half = float(stats.t.isf((1 - confidence) / 2, J - 1)) * error
    statistic = mean / error
    pvalue = float(2 * stats.t.sf(abs(statistic), J - 1))
    ends = (mean - half) * size, (mean + half) * size
    return PairedTest(mean * size, ends, statistic, J - 1, pvalue)


def wilcoxon(d: np.ndarray, confidence: float) -> PairedTest:
    """Wilcoxon's signed ranks: the smaller rank sum, zeros shared evenly between both.

    The p-value is exact, with ties and zeros as they are (each nonzero difference might have had
    either sign), up to ``MOST_EXACT`` differences, normal beyond. The difference is the
    pseudo-median (Hodges and Lehmann), the median of the means of all pairs of differences.
    """
    n = len(d)
    ranks = ranked(np.abs(d)[None], 1e-10)[0]
    zeros = float(ranks[d == 0].sum()) / 2
    plus = float(ranks[d > 0].sum())
    signed = ranks[d != 0]
    statistic = min(plus, float(signed.sum()) - plus) + zeros
    pvalue = _signed_rank_pvalue(signed, plus)
    walsh = np.sort(((d[:, None] + d) / 2)[np.triu_indices(n)])
    difference = float(np.median(walsh))
    # the interval of all shifts that an untied test would not reject
    tail = (1 - confidence) / 2
    if n <= MOST_EXACT:
        weight = _sign_sums(2 * np.arange(1, n + 1))
        below = np.cumsum(weight[::2])
        skip = int(np.searchsorted(below, tail, side="right"))
    else:
        deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        skip = int(n * (n + 1) / 4 - stats.norm.isf(tail) * deviation)
    interval = UNKNOWN if skip < 1 else (float(walsh[skip - 1]), float(walsh[-skip]))
    return PairedTest(difference, interval, statistic, None, pvalue)


def _signed_rank_pvalue(ranks: np.ndarray, plus: float) -> float:
    if not len(ranks):
        return 1.0
    total = float(ranks.sum())
    smaller = min(plus, total - plus)
    if len(ranks) > MOST_EXACT:
        z = (total / 2 - smaller) / math.sqrt(float((ranks**2).sum()) / 4)
        return min(1.0, float(2 * stats.norm.sf(z)))
    weight = _sign_sums(np.rint(2 * ranks).astype(int))
    return min(1.0, 2 * float(weight[: round(2 * smaller) + 1].sum()))


def _sign_sums(parts: np.ndarray) -> np.ndarray:
    """Probability of each sum of parts, each of which is in with probability one half."""
    weight = np.zeros(int(parts.sum()) + 1)
    weight[0] = 1.0
    for part in parts:
        moved = np.zeros_like(weight)
        moved[part:] = weight[: len(weight) - part]
        weight = (weight + moved) / 2
    return weight


def friedman(ranks: np.ndarray, correct_ties: bool) -> FriedmanTest:
    """From the ranks within each row, ties sharing the mean of their ranks."""
    N, k = ranks.shape
    df = (k - 1, (k - 1) * (N - 1))
    mean = ranks.mean(axis=0)
    chi = 12 * N / (k * (k + 1)) * float(((mean - (k + 1) / 2) ** 2).sum())
    if correct_ties:
        ties = 0.0
        for row in ranks:
            count = np.unique(row, return_counts=True)[1].astype(float)
            ties += float((count**3 - count).sum())
        rest = 1 - ties / (N * (k**3 - k))
        chi = chi / rest if rest > 1e-12 else math.nan
    if math.isnan(chi):
        return FriedmanTest(math.nan, 1.0, k - 1, math.nan, df, 1.0)
    room = N * (k - 1) - chi
    F = (N - 1) * chi / room if room > 1e-9 * N * (k - 1) else math.inf
    pvalue = max(float(stats.f.sf(F, *df)), _least_pvalue(ranks))
    return FriedmanTest(chi, float(stats.chi2.sf(chi, k - 1)), k - 1, F, df, pvalue)


def _least_pvalue(ranks: np.ndarray) -> float:
    """Chance that all rows agree if every row is shuffled: no p-value is smaller.

    A row has ``k! / (t_1! t_2! ...)`` orders with ties of those sizes. The one with most orders may
    have any of them; the others have to follow.
    """
    k = ranks.shape[1]
    logs = [
        math.lgamma(k + 1)
        - sum(math.lgamma(int(t) + 1) for t in np.unique(row, return_counts=True)[1])
        for row in ranks
    ]
    return math.exp(max(logs) - sum(logs))


def ranked(table: np.ndarray, slack: float = 1e-12) -> np.ndarray:
    """Ranks within each row, the mean for ties; numbers that differ by rounding only are tied."""
    order = np.argsort(table, axis=1, kind="stable")
    row = np.take_along_axis(table, order, axis=1)
    size = np.maximum(np.abs(row[:, 1:]), np.abs(row[:, :-1]))
    steps = np.cumsum(np.diff(row, axis=1) > slack * size, axis=1)
    level = np.zeros(table.shape)
    np.put_along_axis(level, order[:, 1:], steps.astype(float), axis=1)
    return np.asarray(stats.rankdata(level, axis=1))


def holm(pvalues: np.ndarray) -> np.ndarray:
    """Adjusted by Holm: the smallest times m, the next times m - 1, ... and never decreasing."""
    m = len(pvalues)
    order = np.argsort(pvalues, kind="stable")
    stepped = np.maximum.accumulate(pvalues[order] * np.arange(m, 0, -1))
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def rank_error(k: int, N: int) -> float:
    """Standard error of the difference of two mean ranks."""
    return math.sqrt(k * (k + 1) / (6 * N))


def nemenyi_pvalues(z: np.ndarray, k: int) -> np.ndarray:
    """Of differences of mean ranks in standard errors: the range of ``k`` normal numbers."""
    return np.clip(stats.studentized_range.sf(np.abs(z) * math.sqrt(2), k, np.inf), 0.0, 1.0)


def nemenyi_quantile(alpha: float, k: int) -> float:
    """The ``q`` of Nemenyi's critical difference."""
    return float(stats.studentized_range.isf(alpha, k, np.inf)) / math.sqrt(2)


def pairs_of(k: int, control: int | None) -> list[tuple[int, int]]:
    """All pairs, or those with the control as the second."""
    if control is None:
        return list(combinations(range(k), 2))
    return [(j, control) for j in range(k) if j != control]
