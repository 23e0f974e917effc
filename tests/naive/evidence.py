"""Weight of evidence and information value from the formula, bin by bin."""

from __future__ import annotations

import math


def weights(bins, event, smoothing):
    """Weight of every bin that occurs."""
    n, ones = len(bins), sum(event)
    zeros = n - ones
    out = {}
    for b in set(bins):
        here = [e for value, e in zip(bins, event, strict=True) if value == b]
        good, bad = len(here) - sum(here), sum(here)
        out[b] = math.log((bad / ones + smoothing / n) / (good / zeros + smoothing / n))
    return out


def information_value(bins, event, smoothing):
    n, ones = len(bins), sum(event)
    own = weights(bins, event, smoothing)
    total = 0.0
    for b, weight in own.items():
        here = [e for value, e in zip(bins, event, strict=True) if value == b]
        total += (sum(here) / ones - (len(here) - sum(here)) / (n - ones)) * weight
    return total
