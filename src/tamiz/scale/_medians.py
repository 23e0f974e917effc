"""Exact medians of columns that are never seen as a whole.

A median is looked for in an interval. A pass counts, for every column, the values that lie below
and inside it: those inside in some thousand equal parts, of each of which the least and the
greatest value are kept. Either that tells the middle values, or they lie in one part, which is the
interval of the next pass; when few enough values are left they are kept and sorted.

The first interval comes from a sample, so that three passes are usual: one for the sample, one to
count, one to sort; two if the values of the first interval can be sorted at once. Its parts are
equal by value. Those of later intervals are equal by the integers that the bits of floats
stand for, which are in the order of the floats: whatever the values, an interval then shrinks by
the number of its parts in every pass.

References
----------
.. [1] J. I. Munro, M. S. Paterson (1980). Selection and sorting with limited storage. Theoretical
       Computer Science 12.
.. [2] R. W. Floyd, R. L. Rivest (1975). Expected time bounds for selection. Communications of the
       ACM 18.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.errors import DataError
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale.batch import Batch, dense_pieces

#: Parts of an interval, at least and at most; and for all columns together, if that leaves enough.
_LEAST_PARTS, _MOST_PARTS, _ALL_PARTS = 1 << 8, 1 << 13, 1 << 19
#: Values that are kept to be sorted, of all columns together.
_KEPT = 1 << 21
#: Passes after which the rows cannot be the same in all of them: an interval of two parts needs 65.
_MOST_PASSES = 100
#: Rows that are turned at a time, so that columns lie in one piece.
_ROWS = 1 << 13

_SAME = "the source must give the same rows in every pass."
_SIGN = np.uint64(1 << 63)
_GREATEST = 2**64 - 1


def key_of(value: float) -> int:
    """The integer that stands for a float: in the order of the floats, one zero.

    >>> key_of(-1.0) < key_of(-5e-324) < key_of(-0.0) == key_of(0.0) < key_of(5e-324)
    True
    """
    bits = int(np.float64(value + 0.0).view(np.uint64))
    return _GREATEST - bits if bits >> 63 else bits | 1 << 63


def value_of(key: int) -> float:
    """The float that an integer stands for.

    >>> value_of(key_of(-2.5))
    -2.5
    """
    bits = key ^ 1 << 63 if key >> 63 else _GREATEST - key
    return float(np.uint64(bits).view(np.float64))


def middle(low: float, high: float) -> float:
    """The mean of the two values in the middle, also of those whose sum is no float64."""
    total = low + high
    return (total / 2.0 if abs(total) < np.inf else low / 2.0 + high / 2.0) + 0.0


@dataclass
class Search:
    """The search for the median of one column.

    Attributes
    ----------
    column : int
        Its place.
    n_known : int
        Values that are there; at least one.
    low, high : int
        Ends of the interval, which belong to it, as :func:`key_of` gives them.
    inside : float
        Values in the interval, or about so many; infinite if nobody knows.
    scale : float
        Of an interval that comes from a sample: one over its length; else 0.
    median : float or None
        Once it is found.
    name : str
        What the column is called in messages.
    """

    column: int
    n_known: int
    low: int = 0
    high: int = _GREATEST
    inside: float = np.inf
    scale: float = 0.0
    median: float | None = None
    name: str = ""

    @property
    def ranks(self) -> tuple[int, int]:
        """Places of the middle values, from 0; twice the same for an odd number."""
        return (self.n_known - 1) // 2, self.n_known // 2

    def begin(self, sample: np.ndarray) -> None:
        """Take the interval from known values of a random sample of the rows.

        It is five standard deviations of the rank wide, to either side.
        """
        values = np.sort(sample)
        m = len(values)
        slack = 2.5 * np.sqrt(m)
        first, last = int(np.floor((m - 1) / 2 - slack)), int(np.ceil(m / 2 + slack))
        if first < 0 or last >= m:
            return
        low, high = values[first], values[last]
        self.low, self.high = key_of(low), key_of(high)
        fraction = np.count_nonzero((values >= low) & (values <= high)) / m
        self.inside = fraction * self.n_known
        length = float(high) / 2.0 - float(low) / 2.0
        if 1e-300 < length < 1e300:
            self.scale = 0.5 / length

    def narrow(self, below: int, counts: np.ndarray, least: np.ndarray, most: np.ndarray) -> None:
        """Learn how many values are below the interval, and what was counted in its parts."""
        ends = below + np.cumsum(counts)
        if not below <= self.ranks[0] <= self.ranks[1] < ends[-1]:
            self._begin_anew()
            return
        first, last = np.searchsorted(ends, self.ranks, side="right").tolist()
        if first != last:  # nothing lies between the end of one part and the start of the other
            self.median = middle(float(most[first]), float(least[last]))
            return
        low, high, n = float(least[first]), float(most[first]), int(counts[first])
        places = [rank - (int(ends[first]) - n) for rank in self.ranks]
        known = {0: low, n - 1: high}
        if low == high:
            self.median = middle(low, low)
        elif all(place in known for place in places):
            self.median = middle(*(known[place] for place in places))
        else:
            self.low, self.high = key_of(low), key_of(high)
            self.inside, self.scale = float(n), 0.0

    def sort(self, below: int, values: np.ndarray | None) -> None:
        """Learn how many values are below the interval, and which are inside.

        None if they were too many.
        """
        places = [rank - below for rank in self.ranks]
        if values is None:
            self.inside = np.inf
        elif places[0] < 0 or places[1] >= len(values):
            self._begin_anew()
        else:
            ordered = np.partition(values, places)
            self.median = middle(*ordered[places].tolist())

    def check(self, n_known: int) -> None:
        """Refuse another number of values than before."""
        if n_known != self.n_known:
            raise DataError(
                f"Column {self.name!r} has {n_known:,} values where it had {self.n_known:,} in the "
                f"pass before; {_SAME}"
            )

    def _begin_anew(self) -> None:
        """The sample was a very unlikely one: the median is not where it said."""
        self.low, self.high, self.inside, self.scale = 0, _GREATEST, np.inf, 0.0


def find_medians(
    searches: list[Search],
    go: Callable[[list[int], Callable[[Any], CountIntervals]], IntervalCounts],
) -> int:
    """Go through the rows until all medians are found; return how often.

    ``go(columns, make)`` makes a pass over these columns: ``make(places)`` gives the function
    from a batch to a statistic, where ``places`` says in which columns of the batch they are.
    """
    passes = 0
    while left := [search for search in searches if search.median is None]:
        if passes == _MOST_PASSES:
            raise DataError(f"The median of column {left[0].name!r} is never found; {_SAME}")
        left.sort(key=lambda search: (search.inside, search.column))
        size = np.cumsum([search.inside for search in left])
        n_sorted = int(np.count_nonzero(size <= _KEPT))
        counted = left[n_sorted:]
        bits = _parts(len(counted)).bit_length() - 1
        shifts = [max(0, (search.high - search.low).bit_length() - bits) for search in counted]

        scales = [search.scale * (1 << bits) for search in counted]
        look = CountIntervals(
            np.empty(0, dtype=np.intp),
            np.array([search.low for search in left], dtype=np.uint64),
            np.array([search.high for search in left], dtype=np.uint64),
            np.array(shifts, dtype=np.uint64),
            np.array(scales),
            n_sorted,
            1 << bits,
        )

        found = go([search.column for search in left], look.at)
        values = found.values(n_sorted)
        for k, search in enumerate(left):
            search.check(int(found.known[k]))
            below = int(found.below[k])
            if k < n_sorted:
                search.sort(below, None if values is None else values[k])
            else:
                parts = found.counts, found.least, found.most
                search.narrow(below, *(part[k - n_sorted] for part in parts))
        passes += 1
    return passes


def _parts(n_columns: int) -> int:
    """Parts of an interval, so that those of all columns take little memory."""
    return int(np.clip(_ALL_PARTS // max(1, n_columns), _LEAST_PARTS, _MOST_PARTS))


@dataclass(eq=False)
class IntervalCounts:
    """What some rows tell of the intervals; merges.

    Memory: 24 bytes for each part of an interval that is counted, at most 12 MB or 6 kB for each
    column; 8 bytes for each value that is kept, at most 32 MB.

    Attributes
    ----------
    below, known : int arrays of shape (n,)
        Values below each interval, and values in all.
    chunks : list of (lengths, values), or None
        Values inside the intervals that are to be sorted, one after the other; None if they became
        too many.
    counts, least, most : arrays of shape (n - n_sorted, n_parts)
        Values in each part of the other intervals, and their ends.
    """

    below: np.ndarray
    known: np.ndarray
    chunks: list[tuple[np.ndarray, np.ndarray]] | None
    counts: np.ndarray
    least: np.ndarray
    most: np.ndarray

    def merge(self, other: IntervalCounts) -> IntervalCounts:
        """The same of both sets of rows."""
        chunks = None
        if self.chunks is not None and other.chunks is not None:
            chunks = _fold([*self.chunks, *other.chunks])
            if sum(len(values) for _, values in chunks) > 2 * _KEPT:
                chunks = None
        return IntervalCounts(
            self.below + other.below,
            self.known + other.known,
            chunks,
            self.counts + other.counts,
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
        )

    def values(self, n: int) -> list[np.ndarray] | None:
        """The values that were kept, of each interval."""
        if self.chunks is None:
            return None
        parts = [_apart(*chunk) for chunk in self.chunks]
        return [np.concatenate([part[k] for part in parts]) for k in range(n)]


def _apart(sizes: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """The values of a chunk, of each interval."""
    return np.split(values, np.cumsum(sizes)[:-1])


def _fold(chunks: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same in chunks each of which is less than half of the one before: not many, ever."""
    folded: list[tuple[np.ndarray, np.ndarray]] = []
    for sizes, values in sorted(chunks, key=lambda chunk: -len(chunk[1])):
        while folded and len(folded[-1][1]) <= 2 * len(values):
            pair = folded.pop(), (sizes, values)
            parts = zip(*(_apart(*chunk) for chunk in pair), strict=True)
            values = np.concatenate([part for both in parts for part in both])
            sizes = pair[0][0] + sizes
        folded.append((sizes, values))
    return folded


@dataclass
class CountIntervals:
    """Makes :class:`IntervalCounts` of a batch.

    Attributes
    ----------
    places : int array of shape (n,)
        Columns of the batch.
    low, high : uint64 arrays of shape (n,)
        Interval of each.
    shifts, scales : arrays of shape (n - n_sorted,)
        How far a value is from the lower end, divided by 2**shift, is the number of its part; or
        multiplied by the scale, where that is not 0.
    n_sorted : int
        Of so many columns, the first, values of the interval are kept.
    n_parts : int
        Parts of the intervals of the others.
    """

    places: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shifts: np.ndarray
    scales: np.ndarray
    n_sorted: int
    n_parts: int

    def at(self, places: list[int]) -> CountIntervals:
        """The same for a batch that has the columns in these places."""
        return replace(self, places=np.array(places, dtype=np.intp))

    def __call__(self, batch: Batch) -> IntervalCounts:
        n, m = len(self.places), len(self.places) - self.n_sorted
        shape = (m, self.n_parts)
        out = IntervalCounts(
            np.zeros(n, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
            [],
            np.zeros(shape, dtype=np.int64),
            np.full(shape, np.inf),
            np.full(shape, -np.inf),
        )
        X, places = batch.X, self.places
        if sparse.issparse(X):
            X, places = X[:, places], np.arange(n)
        for _, piece in dense_pieces(X, _ROWS):
            columns = np.empty((n, len(piece)))
            run_tiles(_turn, n, piece, places, columns, min_items=16)
            self._look(columns, out)
        return out

    def _look(self, columns: np.ndarray, out: IntervalCounts) -> None:
        n = self.n_sorted
        ends = self.low, self.high
        low, high = (np.array([value_of(key) for key in keys.tolist()]) for keys in ends)
        kept = []
        for k, x in enumerate(columns[:n]):
            out.below[k] += np.count_nonzero(x < low[k])
            out.known[k] += np.count_nonzero(x == x)
            kept.append(x[(x >= low[k]) & (x <= high[k])])
        if n and out.chunks is not None:
            out.chunks.append((np.array([len(x) for x in kept]), np.concatenate(kept)))
        if n < len(columns):
            low[np.isnan(low)], high[np.isnan(high)] = -np.inf, np.inf  # keys beyond all floats
            tallies = out.below[n:], out.known[n:], out.counts, out.least, out.most
            run_tiles(
                _count, len(columns) - n, columns[n:], low[n:], high[n:], self.low[n:],
                self.shifts, self.scales, tallies, min_items=4,
            )  # fmt: skip


@njit(cache=True, nogil=True)
def _turn(start, stop, X, places, columns):  # type: ignore[no-untyped-def]
    """Put the columns ``start`` to ``stop`` in rows, a few numbers of each at a time."""
    for first in range(0, len(X), 16):
        last = min(first + 16, len(X))
        for k in range(start, stop):
            j = places[k]
            for i in range(first, last):
                columns[k, i] = X[i, j]


@njit(cache=True, nogil=True)
def _count(start, stop, X, low, high, keys, shifts, scales, tallies):  # type: ignore[no-untyped-def]
    """Count the columns ``start`` to ``stop``, each a row of ``X``, in parts of its interval."""
    below, known, counts, least, most = tallies
    last = np.int64(counts.shape[1] - 1)
    for k in range(start, stop):
        column, bits = X[k], X[k].view(np.uint64)
        first, end, scale = low[k], high[k], scales[k]
        n_below, n_known = 0, 0
        for i in range(len(column)):
            n_below += column[i] < first
            n_known += column[i] == column[i]
        below[k] += n_below
        known[k] += n_known
        for i in range(len(column)):
            x = column[i]
            if x >= first and x <= end:
                if scale > 0.0:  # rounded, yet in the order of the values
                    part = min(np.int64((x - first) * scale), last)
                else:  # a negative zero has the key of zero
                    key = ~bits[i] if x < 0.0 else bits[i] | _SIGN
                    part = np.int64((key - keys[k]) >> shifts[k])
                counts[k, part] += 1
                least[k, part] = min(least[k, part], x)
                most[k, part] = max(most[k, part], x)
