"""Intervals for proportions and for the area under the ROC curve; what results share.

A proportion of ``k`` successes in ``n`` trials:

* Wilson: the proportions ``p`` that a normal test with their own deviation does not reject,
  ``|k/n - p| <= z sqrt(p (1 - p) / n)``. It stays inside [0, 1] and covers well for small ``n``.
* Clopper and Pearson: those that an exact binomial test does not reject. It never covers less than
  promised, and is wider for it.

The area under the ROC curve is the share of pairs, one positive and one negative sample, that the
scores order rightly, half a pair for a tie. Its variance after DeLong is that of the shares of the
single samples, which follow from ranks in O(n log n) (Sun and Xu).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

Interval = tuple[float, float]

UNKNOWN: Interval = (math.nan, math.nan)


def check_level(name: str, value: Any) -> float:
    """A probability strictly between 0 and 1, such as ``confidence`` or ``alpha``."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < 1:
        return float(value)
    hint = " (95 % is 0.95)" if isinstance(value, Real) and 1 <= float(value) <= 100 else ""
    raise ValueError(f"{name}={value!r} must be a number between 0 and 1{hint}.")


def check_count(name: str, value: Any, least: int) -> int:
    """A whole number from ``least``."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
        return int(value)
    raise ValueError(f"{name}={value!r} must be a whole number from {least}.")


def check_names(names: Any, n: int | None, of: str) -> list[str]:
    """Different names, one for each of the ``n`` things (None: as many as there are)."""
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        each = of if n is None else f"{n} {of}"
        raise ValueError(f"names={names!r} must be a list, one name for each of the {each}.")
    own = [str(name) for name in names]
    if n is not None and len(own) != n:
        raise ValueError(f"names holds {len(own)} names for {n} {of}.")
    twice = [name for name, count in Counter(own).items() if count > 1]
    if twice:
        raise ValueError(f"names holds {twice[0]!r} more than once.")
    return own


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
    of_positive: np.ndarray  # share of the negative samples below each positive one
    of_negative: np.ndarray  # share of the positive samples above each negative one


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


def frames() -> Any:
    """pandas, or a sentence that says how to get it."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "to_frame needs pandas; install it with: pip install 'tamiz[frames]'"
        ) from None
    return pd


def number(value: float, digits: int = 3) -> str:
    """A number for a table; a dash for what is undefined."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def between(interval: Interval, digits: int = 3) -> str:
    """An interval for a table."""
    low, high = interval
    return "–" if math.isnan(low) else f"{low:.{digits}f} to {high:.{digits}f}"


def pvalue_text(p: float) -> str:
    """A p-value for a table."""
    if math.isnan(p):
        return "–"
    return f"{p:.3g}" if p >= 1e-4 or p == 0 else f"{p:.1e}"
