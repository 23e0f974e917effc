"""Sums and products of numbers held as two floats, of which the second is what rounding lost.

With some 32 digits, sums of very many squares can be moved to another origin and merged in any
order without an error that the result in float64 would show.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_SPLIT = 2.0**27 + 1.0


class Double(NamedTuple):
    """``high + low``, with ``high`` the sum rounded to float64."""

    high: np.ndarray
    low: np.ndarray

    def plus(self, other: Double) -> Double:
        """Sum."""
        total = exact_sum(self.high, other.high)
        return _normal(total.high, total.low + (self.low + other.low))

    def times(self, other: Double) -> Double:
        """Product."""
        product = exact_product(self.high, other.high)
        return _normal(product.high, product.low + (self.high * other.low + self.low * other.high))

    def over(self, n: np.ndarray) -> Double:
        """Quotient by plain numbers, which are not zero."""
        first = self.high / n
        back = exact_product(first, n)
        return _normal(first, ((self.high - back.high) - back.low + self.low) / n)

    def minus(self, other: Double) -> Double:
        """Difference."""
        return self.plus(Double(-other.high, -other.low))


def plain(value: np.ndarray) -> Double:
    """A float64 as it is."""
    return Double(value, np.zeros_like(value))


def exact_sum(a: np.ndarray, b: np.ndarray) -> Double:
    """``a + b`` without error (Knuth)."""
    total = a + b
    part = total - a
    return Double(total, (a - (total - part)) + (b - part))


def exact_product(a: np.ndarray, b: np.ndarray) -> Double:
    """``a b`` without error (Veltkamp and Dekker), for numbers that can be squared."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return Double(product, error)


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The upper and lower half of the digits."""
    scaled = _SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def _normal(high: np.ndarray, low: np.ndarray) -> Double:
    total = high + low
    return Double(total, low - (total - high))
