"""Where to cut continuous columns without looking at a target: three simple rules.

A value belongs to the bin whose number is that of the cuts below it: bins are open on the left and
closed on the right.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tamiz.information.mdl import mdl_cuts
from tamiz.information.scale import safe_units
from tamiz.runtime.parallel import run_tiles

#: Rounding of the mean and the deviation, relative to their size.
_SLACK = 16 * np.finfo(np.float64).eps


def find_cuts(X: np.ndarray, method: str, n_bins: int, y: np.ndarray | None = None) -> np.ndarray:
    """Cuts of each column, ascending, in a row of their own that is filled up with infinity.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_columns)
        Values in C order; NaN where missing.
    method : {"mean_std", "mdl", "width", "frequency"}
        The rule.
    n_bins : int
        Number of bins for the last two.
    y : int array of shape (n_samples,), optional
        Class codes, for "mdl".
    """
    if method == "mdl":
        assert y is not None
        return mdl_cuts(X, y, int(y.max(initial=0)) + 1)
    if method == "mean_std":
        return _around_mean(X)
    return _width(X, n_bins) if method == "width" else _frequency(X, n_bins)


def _around_mean(X: np.ndarray) -> np.ndarray:
    cuts, size = np.empty((X.shape[1], 2)), np.empty(X.shape[1])
    run_tiles(_mean_std, X.shape[1], X, cuts, size, min_items=1 + 100_000 // len(X))
    units = safe_units(size)
    scaled = np.flatnonzero(units != 1.0)
    if len(scaled):  # squares were beyond the range of float64
        cuts[scaled] = _around_mean(X[:, scaled] / units[scaled]) * units[scaled, None]
    return cuts


def _width(X: np.ndarray, n_bins: int) -> np.ndarray:
    low = np.fmin.reduce(X, axis=0)[:, None]
    high = np.fmax.reduce(X, axis=0)[:, None]
    t = np.arange(1, n_bins) / n_bins
    cuts = low * (1.0 - t) + high * t
    # A value that lies on a cut belongs below it, whichever way the cut was rounded.
    slack = _SLACK * np.abs(low) + _SLACK * np.abs(high)
    cuts = np.minimum(cuts + slack, np.nextafter(high, -np.inf))
    cuts[np.broadcast_to(~(high > low), cuts.shape)] = np.inf  # constant, or nothing but NaN
    return cuts


def _frequency(X: np.ndarray, n_bins: int) -> np.ndarray:
    ordered = np.sort(X.T, axis=1)  # NaN goes to the end
    n = np.count_nonzero(~np.isnan(ordered), axis=1)[:, None]
    t = np.arange(1, n_bins) / n_bins
    place = np.maximum(n - 1, 0) * t
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(n - 1, 0))
    low, high = (np.take_along_axis(ordered, k, axis=1) for k in (below, above))
    part = place - below
    cuts = low * (1.0 - part) + high * part
    cuts = np.where(low == high, low, cuts)
    # A cut that repeats, or has nothing above it, separates nothing.
    top = np.take_along_axis(ordered, np.maximum(n - 1, 0), axis=1)
    useless = ~(cuts < top)
    useless[:, 1:] |= cuts[:, 1:] <= cuts[:, :-1]
    cuts[useless] = np.inf
    return np.sort(cuts, axis=1)


@njit(cache=True, nogil=True)
def _mean_std(start, stop, X, cuts, size):  # type: ignore[no-untyped-def]
    """Mean minus and plus one standard deviation (of the population) of columns of ``X``.

    ``size`` becomes the greatest absolute value of each, 0 where it does not matter.
    """
    n = X.shape[0]
    width = 256
    shift, total, square = np.empty(width), np.empty(width), np.empty(width)
    low, high = np.empty(width), np.empty(width)
    count, between = np.empty(width), np.empty(width)
    for j in range(start, stop, width):
        m = min(width, stop - j)
        for l in range(m):
            total[l] = square[l] = count[l] = between[l] = 0.0
            low[l], high[l] = np.inf, -np.inf
            i = 0
            while i < n - 1 and X[i, j + l] != X[i, j + l]:
                i += 1
            shift[l] = X[i, j + l]  # some value of the column: sums of differences lose less
        for i in range(n):
            _first_moments(X[i, j : j + m], shift, total, count, low, high)
        for l in range(m):
            total[l] /= max(count[l], 1.0)  # the mean, from the shift on
        for i in range(n):
            _second_moments(X[i, j : j + m], shift, total, low, high, square, between)
        for l in range(m):
            size[j + l] = 0.0
            if count[l] == 0.0 or low[l] == high[l]:
                cuts[j + l, 0] = cuts[j + l, 1] = np.inf
                continue
            size[j + l] = max(abs(low[l]), abs(high[l]))
            mean = shift[l] + total[l]
            deviation = np.sqrt(square[l] / count[l])
            slack = _SLACK * (abs(mean) + deviation)
            cuts[j + l, 0] = mean - deviation + slack
            cuts[j + l, 1] = mean + deviation + slack
            if between[l] == 0.0:
                _separate(low[l], high[l], mean, cuts[j + l])


@njit(cache=True, nogil=True)
def _first_moments(x, shift, total, count, low, high):  # type: ignore[no-untyped-def]
    """Add one row; comparisons with NaN are false, which leaves missing values out."""
    for l in range(len(x)):
        present = x[l] == x[l]
        total[l] += x[l] - shift[l] if present else 0.0
        count[l] += 1.0 if present else 0.0
        low[l] = x[l] if x[l] < low[l] else low[l]
        high[l] = x[l] if x[l] > high[l] else high[l]


@njit(cache=True, nogil=True)
def _second_moments(x, shift, mean, low, high, square, between):  # type: ignore[no-untyped-def]
    for l in range(len(x)):
        distance = x[l] - shift[l] - mean[l] if x[l] == x[l] else 0.0
        square[l] += distance * distance
        between[l] = 1.0 if (x[l] > low[l]) & (x[l] < high[l]) else between[l]


@njit(cache=True, nogil=True)
def _separate(low, high, mean, cuts):  # type: ignore[no-untyped-def]
    """Keep the only two values of a column apart.

    The commoner is in the middle bin and the rarer outside. Equally common, they lie exactly on
    the two cuts, and rounding could put both into the middle.
    """
    if mean < 0.5 * low + 0.5 * high - 1e-9 * (high - low):
        cuts[0] = min(cuts[0], np.nextafter(low, -np.inf))
        cuts[1] = min(max(cuts[1], low), np.nextafter(high, low))
    else:
        cuts[0] = min(max(cuts[0], low), np.nextafter(high, low))
        cuts[1] = max(cuts[1], high)
