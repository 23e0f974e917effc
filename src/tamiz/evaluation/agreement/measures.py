"""Indices of the agreement of masks, and the test of their difference."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from tamiz.evaluation.intervals import UNKNOWN, Interval, between, pvalue_text, quantile


class StabilityTest(NamedTuple):
    """Outcome of a test of stability."""

    difference: float
    interval: Interval
    statistic: float  # normal under the hypothesis of no difference
    pvalue: float

    def __str__(self) -> str:
        return (
            f"difference in stability {self.difference:.3f} ({between(self.interval)}), "
            f"z = {self.statistic:.2f}, p = {pvalue_text(self.pvalue)}"
        )


def nogueira(masks: np.ndarray) -> tuple[float, float, str | None]:
    """The index, its asymptotic variance, and why they are undefined where they are."""
    M, d = masks.shape
    if M < 2:
        return math.nan, math.nan, "One selection agrees with itself: the index needs two."
    z = masks.astype(np.float64)
    size = z.sum(axis=1)
    share = size.mean() / d
    if share in (0.0, 1.0):
        what = "no feature" if share == 0 else "every feature"
        return math.nan, math.nan, f"All selections hold {what}: nothing was chosen."
    p = z.mean(axis=0)
    chance = share * (1 - share)
    index = 1 - (M / (M - 1)) * (p * (1 - p)).mean() / chance
    # the influence of each selection on the index, by the delta method
    own = size / d
    influence = (z @ p / d - own * share + index / 2 * (2 * share * own - own - share + 1)) / chance
    variance = 4 / M**2 * ((influence - influence.mean()) ** 2).sum()
    return float(index), float(variance), None


def by_pairs(masks: np.ndarray) -> tuple[float | None, float]:
    """Kuncheva's index (None if sizes differ) and the mean Jaccard index over all pairs."""
    M, d = masks.shape
    size = masks.sum(axis=1)
    equal = bool((size == size[0]).all())
    if M < 2:
        return math.nan, math.nan
    z = masks.astype(np.float64)
    shared = (z @ z.T)[np.triu_indices(M, 1)]
    joint = (size[:, None] + size)[np.triu_indices(M, 1)] - shared
    jaccard = float(np.where(joint == 0, 1.0, shared / np.maximum(joint, 1)).mean())
    if not equal:
        return None, jaccard
    k = float(size[0])
    if k in (0.0, float(d)):
        return math.nan, jaccard
    return float((shared.mean() * d - k * k) / (k * (d - k))), jaccard


def agreement_test(
    difference: float, variance: float, confidence: float, sides: int
) -> StabilityTest:
    """Of a difference that is normal with that variance, two-sided or one-sided."""
    if math.isnan(difference) or math.isnan(variance):
        return StabilityTest(difference, UNKNOWN, math.nan, math.nan)
    half = quantile(confidence) * math.sqrt(variance)
    if variance > 0:
        statistic = difference / math.sqrt(variance)
    else:  # no spread was seen: the limit of small spreads
        statistic = 0.0 if difference == 0 else math.copysign(math.inf, difference)
    tail = stats.norm.sf(abs(statistic) if sides == 2 else statistic)
    return StabilityTest(
        difference, (difference - half, difference + half), statistic, float(sides * tail)
    )
