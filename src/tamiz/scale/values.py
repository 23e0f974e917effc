"""The distinct values of every column, and how often each occurs in each class.

:class:`DistinctValues` keeps the values as long as there are not too many. :class:`ValueCounts`
counts them, where new values may come with any batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamiz.information.encoding import dense_blocks
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale.batch import check_block, check_codes, dense_pieces


@dataclass(eq=False)
class DistinctValues:
    """Distinct values of each column, up to a limit.

    Memory: at most eight bytes times ``limit`` for each column.

    Attributes
    ----------
    values : list of float arrays
        Ascending, missing ones left out; the least ``limit`` where there are more.
    overflow : bool array of shape (n_features,)
        Where there are more.
    n_known : int array of shape (n_features,)
        Values that are not missing.
    limit : int
        Most values to keep.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import DistinctValues
    >>> first = DistinctValues.of(np.array([[1.0, 0.5], [2.0, np.nan]]))
    >>> second = DistinctValues.of(np.array([[0.0, 0.5], [2.0, 0.5]]))
    >>> [values.tolist() for values in first.merge(second).values]
    [[0.0, 1.0, 2.0], [0.5]]
    """

    values: list[np.ndarray]
    overflow: np.ndarray
    n_known: np.ndarray
    limit: int

    @classmethod
    def of(cls, X: Any, limit: int = 4096) -> DistinctValues:
        """Collect the values of a block of rows.

        Parameters
        ----------
        X : float64 array or CSR matrix of shape (n_rows, n_features)
            Values, NaN where missing.
        limit : int, default=4096
            Most values to keep of each column.
        """
        X = check_block(X)
        p = X.shape[1]
        out = cls([np.empty(0)] * p, np.zeros(p, bool), np.zeros(p, np.int64), limit)
        for _, piece in dense_pieces(X):
            known = np.zeros(p, dtype=np.int64)
            over = np.zeros(p, dtype=np.bool_)
            parts = run_tiles(_collect, p, piece, limit, known, over, min_items=16)
            found = [values for part in parts for values in part]
            out = out.merge(DistinctValues(found, over, known, limit))
        return out

    def merge(self, other: DistinctValues) -> DistinctValues:
        """The values of both sets of rows together."""
        if self.limit != other.limit:
            raise ValueError(f"Limits {self.limit} and {other.limit} differ; use one limit.")
        both = [np.union1d(a, b) for a, b in zip(self.values, other.values, strict=True)]
        known = self.n_known + other.n_known
        return _cut(both, self.overflow | other.overflow, known, self.limit)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sum(part.nbytes for part in self.values) + 9 * len(self.values)


def _cut(
    values: list[np.ndarray], overflow: np.ndarray, n_known: np.ndarray, limit: int
) -> DistinctValues:
    over = overflow | np.array([len(part) > limit for part in values])
    return DistinctValues([part[:limit] for part in values], over, n_known, limit)


def _collect(
    start: int, stop: int, X: np.ndarray, limit: int, n_known: np.ndarray, overflow: np.ndarray
) -> list[np.ndarray]:
    """Distinct values of the columns ``start`` to ``stop``."""
    out = []
    values = np.empty(limit)
    for j in range(start, stop):
        n, n_known[j], overflow[j] = _insert(np.ascontiguousarray(X[:, j]), values)
        out.append(values[:n].copy())
    return out


@njit(cache=True, nogil=True)
def _insert(x, values):  # type: ignore[no-untyped-def]
    """Put the distinct values of ``x`` in order, the least of them if there are too many."""
    n, known, overflow = 0, 0, False
    for i in range(len(x)):
        if x[i] != x[i]:
            continue
        known += 1
        first, last = 0, n
        while first < last:
            middle = (first + last) // 2
            if x[i] > values[middle]:
                first = middle + 1
            else:
                last = middle
        if first < n and values[first] == x[i]:
            continue
        if n == len(values):
            overflow = True
            if first == n:
                continue
            n -= 1  # the greatest makes room
        for k in range(n, first, -1):
            values[k] = values[k - 1]
        values[first] = x[i]
        n += 1
    return n, known, overflow


@dataclass(eq=False)
class ValueCounts:
    """Counts of discrete columns whose values need not be known beforehand.

    Memory: 8 (K + 1) bytes for each value of each column, with K classes. Sums are exact.

    Attributes
    ----------
    values : list of float arrays
        The values of each column, ascending; missing ones left out.
    counts : list of int arrays of shape (n_values, n_classes)
        Rows of each class that have each value.
    n_rows : int array of shape (n_classes,)
        Rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale.values import ValueCounts
    >>> first = ValueCounts.of(np.array([[1.0], [3.0]]), np.array([0, 1]), 2)
    >>> both = first.merge(ValueCounts.of(np.array([[2.0], [np.nan]]), np.array([0, 0]), 2))
    >>> both.values[0].tolist(), both.counts[0].tolist()
    ([1.0, 2.0, 3.0], [[1, 0], [1, 0], [0, 1]])
    """

    values: list[np.ndarray]
    counts: list[np.ndarray]
    n_rows: np.ndarray

    @classmethod
    def of(cls, X: Any, codes: Any, n_classes: int) -> ValueCounts:
        """Count a block of rows; ``codes`` holds the class of each, from 0."""
        codes = check_codes(codes, X.shape[0], n_classes)
        values, counts = [], []
        for _, block in dense_blocks(X):
            for column in block.T:
                known = ~np.isnan(column)
                found, place = np.unique(column[known], return_inverse=True)
                cells = np.bincount(
                    place * n_classes + codes[known], minlength=len(found) * n_classes
                )
                values.append(found)
                counts.append(cells.reshape(len(found), n_classes).astype(np.int64))
        return cls(values, counts, np.bincount(codes, minlength=n_classes).astype(np.int64))

    def merge(self, other: ValueCounts) -> ValueCounts:
        """The counts of both sets of rows together."""
        values, counts = [], []
        for j, (ours, theirs) in enumerate(zip(self.values, other.values, strict=True)):
            both = np.union1d(ours, theirs)
            total = np.zeros((len(both), len(self.n_rows)), dtype=np.int64)
            total[np.searchsorted(both, ours)] += self.counts[j]
            total[np.searchsorted(both, theirs)] += other.counts[j]
            values.append(both)
            counts.append(total)
        return ValueCounts(values, counts, self.n_rows + other.n_rows)

    @property
    def class_rows(self) -> np.ndarray:
        """Rows of each class."""
        return self.n_rows

    @property
    def n_known(self) -> np.ndarray:
        """Rows in which each column has a value."""
        return np.array([int(table.sum()) for table in self.counts], dtype=np.int64)
