"""Compiled: sums of kernel values with each feature left out in turn.

For coefficients c and every feature j at once,

    norms:      sum over i, l of c_i c_l K(x_i without j, x_l without j)
    decisions:  sum over i of c_i K(z without j, x_i without j)

A pair of samples is visited once, with all features inside, so that both rows stay in the cache.
The functions get the samples already scaled (rows of ``left`` and ``right``), and the base of each
pair: its inner product, or gamma times its squared distance. What a feature contributes to the base
is taken off, and the kernel is applied to the rest. Row k of ``out`` gets the sums that end at
sample k; the caller adds the rows up. Item k of a norm stands for the rows k and s - 1 - k, so that
equal ranges of items are equal work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.kernels.compiled import exp_double
from tamiz.runtime.compiling import njit

# ---------------------------------------------------------------------- radial


@njit(cache=True, nogil=True, fastmath={"contract"})
def radial_values(start: int, stop: int, base: Any, rate: float, out: Any) -> None:
    """exp(-rate * base) for a range of rows."""
    for i in range(start, stop):
        row, values = base[i], out[i]
        for m in range(len(row)):
            values[m] = exp_double(-rate * row[m])


@njit(cache=True, nogil=True, fastmath={"contract"})
def _radial_row(
    x: Any, rows: Any, count: int, base: Any, coef: Any, factor: float, total: Any
) -> None:
    """Add factor * coef[m] * K(x, rows[m]) without each feature, for the first ``count`` rows."""
    for m in range(count):
        weight = factor * coef[m]
        distance = base[m]
        for j in range(len(total)):
            step = x[j] - rows[m, j]
            total[j] += weight * exp_double(min(step * step - distance, 0.0))


@njit(cache=True, nogil=True)
def radial_norms(start: int, stop: int, rows: Any, base: Any, coef: Any, out: Any) -> None:
    """Norms for exp(-base), ``base`` holding squared distances of the rows."""
    s = len(coef)
    for k in range(start, stop):
        for i in (k, s - 1 - k):
            _radial_row(rows[i], rows, i, base[i], coef, 2.0 * coef[i], out[i])
            for j in range(out.shape[1]):
                out[i, j] += coef[i] * coef[i]  # K(x, x) = 1
            if 2 * k == s - 1:
                break  # the middle row is its own partner


@njit(cache=True, nogil=True)
def radial_decisions(
    start: int, stop: int, left: Any, right: Any, base: Any, coef: Any, out: Any
) -> None:
    """Decisions for exp(-base) at the rows of ``left``."""
    for k in range(start, stop):
        _radial_row(left[k], right, len(coef), base[k], coef, 1.0, out[k])


# A table of many features that stay where they are while rows come and go. Where gamma d_j, what a
# feature adds to the exponent, is small for every pair, exp(gamma d_j) is a short polynomial.

_NEAR, _NEARER = 1.0 / 8.0, 1.0 / 64.0  # the terms left out are below 3e-16 of the value
_TILE = 512


@njit(cache=True, nogil=True, fastmath={"contract"})
def _nearer_row(x: Any, row: Any, weight: float, total: Any) -> None:
    for j in range(len(total)):
        step = x[j] - row[j]
        t = step * step
        p = (t * (1.0 / 720.0) + (1.0 / 120.0)) * t + (1.0 / 24.0)
        total[j] += weight * ((((p * t + (1.0 / 6.0)) * t + 0.5) * t + 1.0) * t + 1.0)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _near_row(x: Any, row: Any, weight: float, total: Any) -> None:
    for j in range(len(total)):
        step = x[j] - row[j]
        t = step * step
        p = (t * (1.0 / 362880.0) + (1.0 / 40320.0)) * t + (1.0 / 5040.0)
        p = ((p * t + (1.0 / 720.0)) * t + (1.0 / 120.0)) * t + (1.0 / 24.0)
        total[j] += weight * ((((p * t + (1.0 / 6.0)) * t + 0.5) * t + 1.0) * t + 1.0)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _far_row(x: Any, row: Any, weight: float, exponent: float, total: Any) -> None:
    for j in range(len(total)):
        step = x[j] - row[j]
        total[j] += weight * exp_double(min(step * step + exponent, 0.0))


@njit(cache=True, nogil=True)
def radial_table_decisions(
    start: int,
    stop: int,
    table: Any,
    distance: Any,
    rates: tuple[float, float],
    rows: Any,
    support: Any,
    coef: Any,
    out: Any,
) -> None:
    """Sum over the support of coef K(row, .) without each feature, for a range of ``rows``.

    ``table`` holds all samples times the root of gamma, ``distance`` their squared distances;
    ``rates`` are gamma and the greatest gamma d_j of any pair.
    """
    gamma, largest = rates
    width = table.shape[1]
    for k in range(start, stop):
        for first in range(0, width, _TILE):
            last = min(first + _TILE, width)
            x, total = table[rows[k], first:last], out[k, first:last]
            total[:] = 0.0
            for m in range(len(support)):
                row, exponent = (
                    table[support[m], first:last],
                    -gamma * distance[rows[k], support[m]],
                )
                if largest > _NEAR:
                    _far_row(x, row, coef[m], exponent, total)
                elif largest > _NEARER:
                    _near_row(x, row, coef[m] * exp_double(exponent), total)
                else:
                    _nearer_row(x, row, coef[m] * exp_double(exponent), total)


@njit(cache=True, nogil=True)
def radial_column_decisions(
    start: int,
    stop: int,
    samples: Any,
    columns: Any,
    exponent: Any,
    coef: Any,
    out: Any,
) -> None:
    """As ``radial_table_decisions`` for few features: the inner loop runs over the support.

    ``samples`` has a row for each new sample, ``columns`` one for each feature with the values of
    the support, both times the root of gamma; ``exponent`` is -gamma times the squared distances.
    """
    for k in range(start, stop):
        for j in range(len(columns)):
            out[k, j] = _column_sum(samples[k, j], columns[j], exponent[k], coef)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _column_sum(x: float, column: Any, exponent: Any, coef: Any) -> float:
    total = 0.0
    for m in range(len(coef)):
        step = x - column[m]
        total += coef[m] * exp_double(min(step * step + exponent[m], 0.0))
    return total


_SQUARE = 32


@njit(cache=True, nogil=True)
def radial_block(start: int, stop: int, distance: Any, gamma: float, rows: Any, out: Any) -> None:
    """exp(-gamma distance) among ``rows``: a range of strips of the upper triangle, mirrored.

    Strips k and last - k belong together, so that equal ranges are equal work.
    """
    s = len(rows)
    strips = (s + _SQUARE - 1) // _SQUARE
    line = np.empty(_SQUARE)
    for item in range(start, stop):
        for k in (item, strips - 1 - item):
            top, bottom = k * _SQUARE, min((k + 1) * _SQUARE, s)
            for left in range(top, s, _SQUARE):
                right = min(left + _SQUARE, s)
                for i in range(top, bottom):
                    source = distance[rows[i]]
                    for m in range(right - left):
                        line[m] = source[rows[left + m]]
                    _exp_line(line[: right - left], -gamma, out[i, left:right])
                for m in range(left, right):  # one square at a time stays in the cache
                    for i in range(top, bottom):
                        out[m, i] = out[i, m]
            if 2 * item == strips - 1:
                break


@njit(cache=True, nogil=True, fastmath={"contract"})
def _exp_line(values: Any, factor: float, out: Any) -> None:
    for m in range(len(out)):
        out[m] = exp_double(values[m] * factor)


# ---------------------------------------------------------------------- polynomial


@njit(cache=True, nogil=True, fastmath={"contract"})
def _polynomial_row(
    x: Any, rows: Any, count: int, base: Any, coef: Any, factor: float, total: Any, shape: Any
) -> None:
    """As ``_radial_row``, with powers by repeated squaring of a whole row of features."""
    gamma, coef0, degree = shape
    value, square = np.empty(len(total)), np.empty(len(total))
    for m in range(count):
        inner = base[m]
        weight = factor * coef[m]
        for j in range(len(total)):
            square[j] = coef0 + gamma * (inner - x[j] * rows[m, j])
            value[j] = weight
        left = degree
        while left > 1:
            if left & 1:
                for j in range(len(total)):
                    value[j] *= square[j]
            for j in range(len(total)):
                square[j] *= square[j]
            left >>= 1
        for j in range(len(total)):
            total[j] += value[j] * square[j]


@njit(cache=True, nogil=True)
def polynomial_norms(
    start: int, stop: int, rows: Any, base: Any, coef: Any, out: Any, shape: Any
) -> None:
    """Norms for (coef0 + gamma base) ** degree, ``base`` holding inner products of the rows."""
    s = len(coef)
    for k in range(start, stop):
        for i in (k, s - 1 - k):
            _polynomial_row(rows[i], rows, i, base[i], coef, 2.0 * coef[i], out[i], shape)
            own = slice(i, i + 1)
            _polynomial_row(rows[i], rows[own], 1, base[i, own], coef[own], coef[i], out[i], shape)
            if 2 * k == s - 1:
                break


@njit(cache=True, nogil=True)
def polynomial_decisions(
    start: int, stop: int, left: Any, right: Any, base: Any, coef: Any, out: Any, shape: Any
) -> None:
    """Decisions for (coef0 + gamma base) ** degree at the rows of ``left``."""
    for k in range(start, stop):
        _polynomial_row(left[k], right, len(coef), base[k], coef, 1.0, out[k], shape)


# ---------------------------------------------------------------------- sigmoid


# NumPy's rules of division: a check for zero in the loop would keep it from being vectorised.
@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _sigmoid_row(
    x: Any, rows: Any, count: int, base: Any, coef: Any, factor: float, total: Any, shape: Any
) -> None:
    """As ``_radial_row``, with tanh(u) = sign(u) (1 - exp(-2|u|)) / (1 + exp(-2|u|))."""
    gamma, coef0 = shape
    for m in range(count):
        inner = base[m]
        weight = factor * coef[m]
        for j in range(len(total)):
            u = coef0 + gamma * (inner - x[j] * rows[m, j])
            shrunk = exp_double(-2.0 * abs(u))
            size = (1.0 - shrunk) / (1.0 + shrunk)
            total[j] += weight * (size if u > 0.0 else -size)


@njit(cache=True, nogil=True)
def sigmoid_norms(
    start: int, stop: int, rows: Any, base: Any, coef: Any, out: Any, shape: Any
) -> None:
    """Norms for tanh(gamma base + coef0), ``base`` holding inner products of the rows."""
    s = len(coef)
    for k in range(start, stop):
        for i in (k, s - 1 - k):
            _sigmoid_row(rows[i], rows, i, base[i], coef, 2.0 * coef[i], out[i], shape)
            own = slice(i, i + 1)
            _sigmoid_row(rows[i], rows[own], 1, base[i, own], coef[own], coef[i], out[i], shape)
            if 2 * k == s - 1:
                break


@njit(cache=True, nogil=True)
def sigmoid_decisions(
    start: int, stop: int, left: Any, right: Any, base: Any, coef: Any, out: Any, shape: Any
) -> None:
    """Decisions for tanh(gamma base + coef0) at the rows of ``left``."""
    for k in range(start, stop):
        _sigmoid_row(left[k], right, len(coef), base[k], coef, 1.0, out[k], shape)


# ---------------------------------------------------------------------- one feature changes


@njit(cache=True, nogil=True)
def shift_products(start: int, stop: int, base: Any, x: Any, delta: float) -> None:
    """base += delta * x x', for a range of rows; symmetric to the last bit."""
    for i in range(start, stop):
        for m in range(len(x)):
            base[i, m] += delta * (x[i] * x[m])


@njit(cache=True, nogil=True)
def shift_distances(start: int, stop: int, base: Any, x: Any, delta: float) -> None:
    """base += delta * (x_i - x_m)**2, never below 0, for a range of rows."""
    for i in range(start, stop):
        for m in range(len(x)):
            step = x[i] - x[m]
            base[i, m] = max(base[i, m] + delta * (step * step), 0.0)
