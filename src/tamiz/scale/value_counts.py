"""How often every value of every column occurs in each class, where new values may come later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamiz.information.encoding import dense_blocks
from tamiz.scale._blocks import check_codes
from tamiz.scale.counts import LevelCounts
from tamiz.scale.cuts import Cuts


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
    >>> from tamiz.scale.value_counts import ValueCounts
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
    def n_known(self) -> np.ndarray:
        """Rows in which each column has a value."""
        return np.array([int(table.sum()) for table in self.counts], dtype=np.int64)

    def levels(self) -> LevelCounts:
        """The same with the values as levels, now that they are known."""
        gaps = self.n_known < self.n_rows.sum()
        cuts = Cuts.of([part[:-1] for part in self.values], gaps)
        layout = cuts.layout
        counts = np.zeros((len(self.n_rows), layout.first[-1]), dtype=np.int64)
        for place, j in enumerate(layout.order.tolist()):
            table = self.counts[j][: layout.n_counted[place]]
            first = layout.first[place]
            counts[:, first : first + len(table)] = table.T
        return LevelCounts(cuts, self.n_rows, counts)
