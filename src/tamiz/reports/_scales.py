"""Axes: from values to places, with round numbers to mark them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod


class Scale(ABC):
    """Values between two ends, drawn between two places."""

    def __init__(self, low: float, high: float, start: float, end: float):
        self.low, self.high = low, high
        self.start, self.end = start, end

    @abstractmethod
    def share(self, value: float) -> float:
        """How far along the axis a value is: 0 to 1."""

    @abstractmethod
    def ticks(self, most: int) -> list[float]:
        """Round values, at most about so many."""

    def __call__(self, value: float) -> float:
        """Where a value is drawn; beyond an end, at that end."""
        part = min(1.0, max(0.0, self.share(float(value))))
        return self.start + part * (self.end - self.start)


class Linear(Scale):
    """Equal steps are equal distances."""

    def share(self, value: float) -> float:
        span = self.high - self.low
        return 0.5 if span == 0 else (value - self.low) / span

    def ticks(self, most: int) -> list[float]:
        return nice_ticks(self.low, self.high, most)


class Log(Scale):
    """Equal factors are equal distances; the ends are positive."""

    def share(self, value: float) -> float:
        span = math.log(self.high / self.low)
        if span == 0:
            return 0.5
        return math.log(max(value, self.low * 1e-9) / self.low) / span

    def ticks(self, most: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for factors in ((1, 2, 5), (1, 3), (1,)):
            found = [
                f * 10.0**e
                for e in range(first, last + 1)
                for f in factors
                if self.low * 0.999 <= f * 10.0**e <= self.high * 1.001
            ]
            if len(found) <= most:
                return found
        step = math.ceil(len(found) / most)
        return found[::step]


def nice_ticks(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between two values."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    rough = span / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((f * power for f in (1, 2, 2.5, 5) if f * power >= rough * 0.999), 10 * power)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [0.0 if k == 0 else float(f"{k * step:.12g}") for k in range(first, last + 1)]


def text_width(text: str, size: float = 12.0) -> float:
    """About how wide a text is drawn, on the wide side."""
    return size * sum(_em(c) for c in text)


def _em(c: str) -> float:
    if ord(c) > 0x1100:
        return 1.02
    if c in "iljtfrI.,:;|'! ()":
        return 0.41
    if c in "mwMW%@":
        return 0.98
    return 0.76 if c.isupper() else 0.64


def cut(text: str, width: float, size: float = 12.0) -> str:
    """The beginning of a text that fits, with an ellipsis where something is left out."""
    if text_width(text, size) <= width:
        return text
    kept = text
    while kept and text_width(kept + "…", size) > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"
