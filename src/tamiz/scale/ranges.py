r"""Least and greatest value, mean and deviation of every column, missing values left out.

Sums of :math:`x - s` and :math:`(x - s)^2` are kept to about 32 digits, with an origin s that is a
value of the column, and are moved to another origin when statistics are merged. So the mean and the
deviation are those of all rows, correct to the last digits, however the rows were cut into batches;
of columns of integers the sums have no error at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tamiz.information.columns import safe_units
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale.batch import check_block, dense_pieces

#: Rows that are summed up in plain floats, and columns of a tile.
_ROWS = 64
_WIDTH = 256

#: Rows among which the origin is looked for.
_PROBES = 9

#: What splits the digits of a float64 into two halves.
_SPLIT = 2.0**27 + 1.0


class Double(NamedTuple):
    """``high + low``, with ``high`` the sum rounded to float64 and ``low`` what rounding lost.

    With some 32 digits, sums of very many squares can be moved to another origin and merged in any
    order without an error that the result in float64 would show.
    """

    high: np.ndarray
    low: np.ndarray

    def plus(self, other: Double) -> Double:
        """Sum."""
        total = _exact_sum(self.high, other.high)
        return _normal(total.high, total.low + (self.low + other.low))

    def times(self, other: Double) -> Double:
        """Product."""
        product = _exact_product(self.high, other.high)
        return _normal(product.high, product.low + (self.high * other.low + self.low * other.high))

    def over(self, n: np.ndarray) -> Double:
        """Quotient by plain numbers, which are not zero."""
        first = self.high / n
        back = _exact_product(first, n)
        return _normal(first, ((self.high - back.high) - back.low + self.low) / n)

    def minus(self, other: Double) -> Double:
        """Difference."""
        return self.plus(Double(-other.high, -other.low))


@dataclass(eq=False)
class Ranges:
    """What a pass over a table tells of each column by itself.

    Memory: some ten numbers for each column. Missing values are counted and left out.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_known : int array of shape (n_features,)
        Values that are not missing.
    low, high : float arrays of shape (n_features,)
        Least and greatest value; infinity and minus infinity if there is none.
    between : bool array of shape (n_features,)
        Whether a column has a third value besides these two.
    origin, unit : float arrays of shape (n_features,)
        What values are taken relative to, in what unit (1 but for enormous and tiny values).
    total, square : Double
        Sums of distances from the origin, and of their squares.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import Ranges
    >>> X = np.array([[1e8, 5.0], [1e8 + 1, np.nan], [1e8 + 2, 5.0]])
    >>> both = Ranges.of(X[:2]).merge(Ranges.of(X[2:]))
    >>> both.n_known.tolist(), both.mean().tolist(), both.deviation().round(6).tolist()
    ([3, 2], [100000001.0, 5.0], [0.816497, 0.0])
    """

    n_rows: int
    n_known: np.ndarray
    low: np.ndarray
    high: np.ndarray
    between: np.ndarray
    origin: np.ndarray
    unit: np.ndarray
    total: Double
    square: Double

    @classmethod
    def of(cls, X: Any) -> Ranges:
        """Look through a block of rows.

        Parameters
        ----------
        X : float64 array or CSR matrix of shape (n_rows, n_features)
            Values, NaN where missing.
        """
        X = check_block(X)
        if X.shape[0] == 0:
            return cls._of_dense(np.full((1, X.shape[1]), np.nan), 0)
        pieces = [cls._of_dense(piece, len(piece)) for _, piece in dense_pieces(X)]
        out = pieces[0]
        for piece in pieces[1:]:
            out = out.merge(piece)
        return out

    @classmethod
    def _of_dense(cls, X: np.ndarray, n_rows: int) -> Ranges:
        p = X.shape[1]
        origin = _middle_values(X)
        known, between = np.zeros(p), np.zeros(p)
        low, high = np.full(p, np.inf), np.full(p, -np.inf)
        sums = np.zeros((4, p))
        least = 1 + 100_000 // len(X)
        run_tiles(_look, p, X, origin, known, low, high, between, sums, min_items=least)
        infinite = np.flatnonzero(np.isinf(np.where(known > 0, np.maximum(high, -low), 0.0)))
        if len(infinite):
            raise ValueError(
                f"Column {infinite[0]} holds an infinite value; replace it by a number, or by NaN "
                "if it stands for a missing value."
            )
        unit = safe_units(np.where(known > 0, np.maximum(np.abs(low), np.abs(high)), 0.0))
        scaled = np.flatnonzero(unit != 1.0)
        if len(scaled):  # squares were beyond the range of float64
            inner = cls._of_dense(np.ascontiguousarray(X[:, scaled] / unit[scaled]), n_rows)
            origin[scaled] = inner.origin
            sums[:, scaled] = [*inner.total, *inner.square]
        parts = Double(sums[0], sums[1]), Double(sums[2], sums[3])
        return cls(n_rows, known.astype(np.int64), low, high, between > 0, origin, unit, *parts)

    def merge(self, other: Ranges) -> Ranges:
        """The same for both sets of rows together."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        between = self.between | other.between
        for end in (self.low, self.high, other.low, other.high):
            between |= (end > low) & (end < high)
        unit = np.maximum(self._unit(), other._unit())
        unit = np.where(unit > 0, unit, 1.0)
        ours, theirs = self._in_units(unit), other._in_units(unit)
        origin = np.where(self.n_known > 0, ours.origin, theirs.origin)
        a, b = ours._from(origin), theirs._from(origin)
        return Ranges(
            self.n_rows + other.n_rows,
            self.n_known + other.n_known,
            low,
            high,
            between,
            origin,
            unit,
            a[0].plus(b[0]),
            a[1].plus(b[1]),
        )

    def _unit(self) -> np.ndarray:
        """The units, 0 for columns without a value, for which any will do."""
        return np.where(self.n_known > 0, self.unit, 0.0)

    def _in_units(self, unit: np.ndarray) -> Ranges:
        if (unit == self.unit).all():
            return self
        ratio = self.unit / unit
        total = Double(self.total.high * ratio, self.total.low * ratio)
        square = Double(self.square.high * ratio**2, self.square.low * ratio**2)
        return Ranges(
            self.n_rows, self.n_known, self.low, self.high, self.between, self.origin * ratio,
            unit, total, square,
        )  # fmt: skip

    def _from(self, origin: np.ndarray) -> tuple[Double, Double]:
        """Sums of distances from another origin, and of their squares."""
        n = _plain(self.n_known.astype(np.float64))
        step = _exact_sum(np.where(n.high > 0, self.origin, origin), -origin)
        moved = n.times(step)
        total = self.total.plus(moved)
        twice = Double(2.0 * self.total.high, 2.0 * self.total.low)
        square = self.square.plus(step.times(twice.plus(moved)))
        return total, square

    def mean(self) -> np.ndarray:
        """Mean of each column; NaN without a value."""
        with np.errstate(invalid="ignore"):
            value = (self.origin + self.total.over(self._n()).high) * self.unit
        return np.where(self.n_known > 0, value, np.nan)

    def deviation(self) -> np.ndarray:
        """Standard deviation (of the population) of each column; NaN without a value."""
        value = np.sqrt(self._variance()) * self.unit
        return np.where(self.n_known > 0, value, np.nan)

    def _n(self) -> np.ndarray:
        return np.maximum(self.n_known, 1).astype(np.float64)

    def _variance(self) -> np.ndarray:
        """In squared units."""
        mean = self.total.over(self._n())
        spread = self.square.over(self._n()).minus(mean.times(mean)).high
        return np.where(self.low < self.high, np.maximum(spread, 0.0), 0.0)

    def gaps(self) -> np.ndarray:
        """Which columns have missing values."""
        return self.n_known < self.n_rows

    def varies(self) -> np.ndarray:
        """Which columns have at least two values."""
        return self.low < self.high

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        arrays = (self.n_known, self.low, self.high, self.between, self.origin, self.unit)
        return sum(part.nbytes for part in (*arrays, *self.total, *self.square))


def _plain(value: np.ndarray) -> Double:
    """A float64 as it is."""
    return Double(value, np.zeros_like(value))


def _exact_sum(a: np.ndarray, b: np.ndarray) -> Double:
    """``a + b`` without error (Knuth)."""
    total = a + b
    part = total - a
    return Double(total, (a - (total - part)) + (b - part))


def _exact_product(a: np.ndarray, b: np.ndarray) -> Double:
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


def _middle_values(X: np.ndarray) -> np.ndarray:
    """A value of each column that is not far out: of a few rows, the one in the middle."""
    rows = np.unique(np.linspace(0, len(X) - 1, _PROBES).astype(np.intp))
    some = np.sort(X[rows], axis=0)  # NaN goes to the end
    known = np.count_nonzero(~np.isnan(some), axis=0)
    origin = some[np.maximum(known - 1, 0) // 2, np.arange(X.shape[1])]
    for j in np.flatnonzero(known == 0):
        present = np.flatnonzero(~np.isnan(X[:, j]))
        origin[j] = X[present[0], j] if len(present) else 0.0
    return origin


@njit(cache=True, nogil=True)
def _look(start, stop, X, origin, known, low, high, between, sums):  # type: ignore[no-untyped-def]
    """Look through the columns ``start`` to ``stop``."""
    n = X.shape[0]
    total, square = np.empty(_WIDTH), np.empty(_WIDTH)
    for j in range(start, stop, _WIDTH):
        last = min(j + _WIDTH, stop)
        for first in range(0, n, _ROWS):
            total[:] = 0.0
            square[:] = 0.0
            settled = between[j:last].min() > 0.0  # nothing more to learn of third values
            for i in range(first, min(first + _ROWS, n)):
                x = X[i, j:last]
                if settled:
                    _widen(x, low[j:last], high[j:last])
                else:
                    _ends(x, low[j:last], high[j:last], between[j:last])
                _add(x, origin[j:last], known[j:last], total, square)
            _carry(total, sums[0, j:last], sums[1, j:last])
            _carry(square, sums[2, j:last], sums[3, j:last])


@njit(cache=True, nogil=True)
def _ends(x, low, high, between):  # type: ignore[no-untyped-def]
    """Comparisons with NaN are false, which leaves missing values out."""
    for l in range(len(x)):
        a = x[l] if x[l] < low[l] else low[l]
        b = x[l] if x[l] > high[l] else high[l]
        inside = (x[l] > a) & (x[l] < b)
        inside |= (low[l] > a) & (low[l] < b)
        inside |= (high[l] > a) & (high[l] < b)
        between[l] = 1.0 if inside else between[l]
        low[l], high[l] = a, b


@njit(cache=True, nogil=True)
def _widen(x, low, high):  # type: ignore[no-untyped-def]
    for l in range(len(x)):
        low[l] = x[l] if x[l] < low[l] else low[l]
        high[l] = x[l] if x[l] > high[l] else high[l]


@njit(cache=True, nogil=True)
def _add(x, origin, known, total, square):  # type: ignore[no-untyped-def]
    for l in range(len(x)):
        present = x[l] == x[l]
        d = x[l] - origin[l] if present else 0.0
        known[l] += 1.0 if present else 0.0
        total[l] += d
        square[l] += d * d


@njit(cache=True, nogil=True)
def _carry(value, high, low):  # type: ignore[no-untyped-def]
    """Add to a sum of two floats, keeping what rounding would lose."""
    for l in range(len(high)):
        total = high[l] + value[l]
        part = total - high[l]
        low[l] += (high[l] - (total - part)) + (value[l] - part)
        high[l] = total
