"""Where the columns of a table are cut: fixed before a pass, and the same for every batch.

A value belongs to the bin whose number is that of the cuts below it, as in
:mod:`tamiz.information`. Discrete columns are cut at their values: with the levels
``v_0 < ... < v_(r-1)`` and cuts at all but the last, the bin of ``v_k`` is ``k``.

Of the levels of a column one is never counted, because it follows from the others and the number
of rows: where values may be missing, the missing ones; else the last bin.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np


class Span(NamedTuple):
    """Neighbouring places of a layout whose columns have equally many cuts."""

    start: int
    stop: int
    n_counted: int
    gappy: bool
    columns: np.ndarray  # intp (width,): where they are in the table
    cuts: np.ndarray  # float64 (n_cuts, width)


class Layout(NamedTuple):
    """The order in which columns are counted: by their number of counted levels."""

    order: np.ndarray  # intp (p,): the column at each place
    place: np.ndarray  # intp (p,): the place of each column
    n_counted: np.ndarray  # int64 (p,), by place
    first: np.ndarray  # int64 (p + 1,): where the counted levels of each place begin
    gappy: np.ndarray  # bool (p,), by place
    spans: list[Span]


@dataclass(eq=False)
class Cuts:
    """Cuts of every column.

    Attributes
    ----------
    values : float64 array
        The cuts of all columns one after the other, ascending within each.
    bounds : int array of shape (n_features + 1,)
        Where the cuts of each column begin.
    gaps : bool array of shape (n_features,)
        Whether values of a column may be missing. A missing value where there should be none is
        refused when it is met.
    rank_error : float
        If the cuts come from a sample: bound on the error of their ranks, as a share of the rows
        (see :func:`tamiz.scale.frequency_cuts`). 0 if they are those of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import Cuts
    >>> cuts = Cuts.of([[0.5, 1.5], [3.0]], gaps=[True, False])
    >>> cuts.n_bins
    array([3, 2])
    >>> cuts.codes(np.array([[1.0, 2.0], [np.nan, 4.0]])).tolist()
    [[1, 0], [-1, 1]]
    """

    values: np.ndarray
    bounds: np.ndarray
    gaps: np.ndarray
    rank_error: float = field(default=0.0)

    @classmethod
    def of(cls, cuts: Any, gaps: Any = True, rank_error: float = 0.0) -> Cuts:
        """From one list of cuts per column, ascending.

        Infinite cuts, which fill up a table, are left out, and so are repeated ones.
        """
        parts = [np.asarray(part, dtype=np.float64) for part in cuts]
        parts = [part[np.isfinite(part)] for part in parts]
        for j, part in enumerate(parts):
            if (np.diff(part) < 0).any():
                raise ValueError(
                    f"cuts of column {j} are not ascending ({part[:4].tolist()} ...); hand them "
                    "over in ascending order."
                )
            parts[j] = part[np.diff(part, prepend=-np.inf) > 0]
        bounds = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.intp)
        gaps = np.array(np.broadcast_to(np.asarray(gaps, dtype=bool), len(parts)))
        return cls(np.concatenate([*parts, np.empty(0)]), bounds, gaps, float(rank_error))

    def with_levels(self, levels: dict[int, Any]) -> Cuts:
        """The same with some columns discrete.

        Parameters
        ----------
        levels : dict
            By column: its values in ascending order, or their number if they are 0, 1, 2, ...
        """
        parts = [self.column(j) for j in range(self.n_features)]
        for j, found in levels.items():
            values = np.arange(found) if isinstance(found, (int, np.integer)) else found
            parts[j] = np.asarray(values, dtype=np.float64)[:-1]
        return Cuts.of(parts, self.gaps, self.rank_error)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.gaps)

    @property
    def n_bins(self) -> np.ndarray:
        """Number of bins of each column; missing values are not one of them."""
        return np.diff(self.bounds) + 1

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.values.nbytes + self.bounds.nbytes + self.gaps.nbytes

    def column(self, j: int) -> np.ndarray:
        """Cuts of one column."""
        return self.values[self.bounds[j] : self.bounds[j + 1]]

    def codes(self, X: np.ndarray) -> np.ndarray:
        """Bin of every value, -1 where it is missing: (n_rows, n_features)."""
        out = np.empty(X.shape, dtype=np.int32)
        for j in range(self.n_features):
            out[:, j] = np.searchsorted(self.column(j), X[:, j])
        out[np.isnan(X)] = -1
        return out

    def equals(self, other: Cuts) -> bool:
        """Whether tables counted with these and with others can be added."""
        return self is other or (
            np.array_equal(self.bounds, other.bounds)
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.gaps, other.gaps)
        )

    @cached_property
    def layout(self) -> Layout:
        """Order and grouping of the columns for counting."""
        n_cuts = np.diff(self.bounds)
        counted = n_cuts + self.gaps
        order = np.lexsort((self.gaps, counted)).astype(np.intp)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        n_counted = counted[order].astype(np.int64)
        first = np.concatenate([[0], np.cumsum(n_counted)]).astype(np.int64)
        key = 2 * counted[order] + self.gaps[order]
        edges = np.flatnonzero(np.diff(key, prepend=-1, append=-1))
        spans = []
        for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            columns = order[start:stop]
            table = self.values[
                self.bounds[columns][None, :] + np.arange(n_cuts[columns[0]])[:, None]
            ]
            gappy = bool(self.gaps[columns[0]])
            spans.append(
                Span(
                    start, stop, int(n_counted[start]), gappy, columns, np.ascontiguousarray(table)
                )
            )
        return Layout(order, place, n_counted, first, self.gaps[order], spans)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "layout"}
