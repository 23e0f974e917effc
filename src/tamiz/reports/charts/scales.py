"""Axes: from values to places, with round numbers to mark them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

#: Positive values whose ends differ by more than this factor get a logarithmic axis.
DECADES = 100.0


class Scale(ABC):
    """Values between two ends, drawn between two places."""

    def __init__(self, low: float, high: float, start: float, end: float):
        self.low, self.high = low, high
        self.start, self.end = start, end

    @abstractmethod
    def fraction(self, value: float) -> float:
        """How far along the axis a value is: 0 to 1."""

    @abstractmethod
    def at(self, fraction: float) -> float:
        """The value so far along the axis."""

    @abstractmethod
    def ticks(self, most: int) -> list[float]:
        """Round values, at most about so many."""

    def __call__(self, value: float) -> float:
        """Where a value is drawn; beyond an end, at that end."""
        part = min(1.0, max(0.0, self.fraction(float(value))))
        return self.start + part * (self.end - self.start)

    def beyond(self, value: float) -> float:
        """Where a value would be drawn if the axis went on."""
        return self.start + self.fraction(float(value)) * (self.end - self.start)


class Linear(Scale):
    """Equal steps are equal distances."""

    def fraction(self, value: float) -> float:
        span = self.high - self.low
        return 0.5 if span == 0 else (value - self.low) / span

    def at(self, fraction: float) -> float:
        return self.low + fraction * (self.high - self.low)

    def ticks(self, most: int) -> list[float]:
        return nice_ticks(self.low, self.high, most)


class Log(Scale):
    """Equal factors are equal distances; the ends are positive."""

    def fraction(self, value: float) -> float:
        span = math.log(self.high / self.low)
        if span == 0:
            return 0.5
        return math.log(max(value, self.low * 1e-9) / self.low) / span

    def at(self, fraction: float) -> float:
        return self.low * (self.high / self.low) ** fraction

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


class Symlog(Scale):
    """About equal steps near zero, equal factors far from it: zeros, and values that span decades.

    The steps are equal up to a unit, which must be positive.
    """

    def __init__(self, low: float, high: float, start: float, end: float, unit: float):
        super().__init__(low, high, start, end)
        self.unit = unit

    def fraction(self, value: float) -> float:
        a, b = math.asinh(self.low / self.unit), math.asinh(self.high / self.unit)
        return 0.5 if a == b else (math.asinh(value / self.unit) - a) / (b - a)

    def at(self, fraction: float) -> float:
        a, b = math.asinh(self.low / self.unit), math.asinh(self.high / self.unit)
        return self.unit * math.sinh(a + fraction * (b - a))

    def ticks(self, most: int) -> list[float]:
        first = math.ceil(math.log10(self.unit))
        last = math.floor(math.log10(max(abs(self.low), abs(self.high), self.unit)))
        powers = [10.0**e for e in range(first, last + 1)]
        found = [
            v for v in [*(-v for v in powers[::-1]), 0.0, *powers] if self.low <= v <= self.high
        ]
        return found[:: max(1, math.ceil(len(found) / most))]


def scale_of(values: Any, start: float, end: float) -> Scale:
    """The axis that shows most of the values: logarithmic where they span decades.

    A few far values do not press the rest into a corner: the ends leave them out.
    """
    inside = np.asarray(values, dtype=np.float64)
    inside = inside[np.isfinite(inside)]
    if not len(inside):
        return Linear(0.0, 1.0, start, end)
    low, high = float(inside.min()), float(inside.max())
    a, b = (float(v) for v in np.percentile(inside, [1, 99]))
    if low > 0 and b / a > DECADES and _spreads(np.log(inside)):
        room = (b / a) ** 0.05
        return Log(max(low, a / room) / room**0.4, min(high, b * room) * room**0.4, start, end)
    size = np.abs(inside[inside != 0])
    if low <= 0 and len(size):
        small, large = (float(v) for v in np.percentile(size, [5, 99]))
        if large / small > (DECADES if low == 0 else 10 * DECADES):
            unit = small
            room = 0.5 * unit
            return Symlog(low - room if low == 0 else 1.1 * low, 1.1 * high, start, end, unit)
    if b > a and high - low > 3 * (b - a):
        low, high = max(low, a - 0.1 * (b - a)), min(high, b + 0.1 * (b - a))
    if low == high:
        room = abs(low) * 0.1 or 0.5
        low, high = low - room, high + room
    room = 0.04 * (high - low)
    return Linear(low - room, high + room, start, end)


def _spreads(logs: np.ndarray) -> bool:
    """Whether a logarithm spreads values better: their middle is nearer to that of the ends."""
    a, b, c = np.percentile(logs, [1, 50, 99])
    u, v, w = np.exp([a, b, c])
    return bool(abs((b - a) / (c - a) - 0.5) <= abs((v - u) / (w - u) - 0.5))


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
