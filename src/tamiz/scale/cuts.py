"""Where the columns of a table are cut: fixed before a pass, and the same for every batch.

A value belongs to the bin whose number is that of the cuts below it, as in
:mod:`tamiz.information`. Discrete columns are cut at their values: with the levels
``v_0 < ... < v_(r-1)`` and cuts at all but the last, the bin of ``v_k`` is ``k``.

Of the levels of a column one is never counted, because it follows from the others and the number
of rows: where values may be missing, the missing ones; else the last bin.

The rules of :mod:`tamiz.information` follow from statistics that merge: "mean_std" and "width" need
the mean, the deviation and the ends of a column, which :class:`Ranges` has of all rows. "frequency"
and "mdl" need the order of the values; they use a :class:`RowSample`, which is the table itself
unless that has more rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tamiz.information.cuts import (
    SLACK,
    frequency_cuts,
    mdl_cuts,
    rises,
    separate_two_values,
    width_cuts,
)
from tamiz.information.encoding import DISCRETE, are_continuous
from tamiz.scale.ranges import Ranges
from tamiz.scale.sample import RowSample
from tamiz.scale.values import DistinctValues
from tamiz.validation import checked


class Span(NamedTuple):
    """Neighbouring places of a layout whose columns have equally many cuts."""

    start: int
    stop: int
    n_counted: int
    incomplete: bool
    columns: np.ndarray  # intp (width,): where they are in the table
    cuts: np.ndarray  # float64 (n_cuts, width)


class Layout(NamedTuple):
    """The order in which columns are counted: by their number of counted levels."""

    order: np.ndarray  # intp (p,): the column at each place
    place: np.ndarray  # intp (p,): the place of each column
    n_counted: np.ndarray  # int64 (p,), by place
    first: np.ndarray  # int64 (p + 1,): where the counted levels of each place begin
    incomplete: np.ndarray  # bool (p,), by place
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
        If the cuts come from a sample: bound on the error of their ranks, as a fraction of the rows
        (see :func:`tamiz.scale.streamed_cuts`). 0 if they are those of all rows.

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
            if (part[1:] < part[:-1]).any():
                raise ValueError(
                    f"cuts of column {j} are not ascending ({part[:4].tolist()} ...); pass them "
                    "in ascending order."
                )
            parts[j] = part[rises(part)]
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
            incomplete = bool(self.gaps[columns[0]])
            spans.append(
                Span(
                    start,
                    stop,
                    int(n_counted[start]),
                    incomplete,
                    columns,
                    np.ascontiguousarray(table),
                )
            )
        return Layout(order, place, n_counted, first, self.gaps[order], spans)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "layout"}


@checked(method=DISCRETE["bins"], n_bins=DISCRETE["n_bins"])
def streamed_cuts(
    method: str | None,
    *,
    n_bins: int = 5,
    ranges: Ranges,
    sample: RowSample | None = None,
    distinct: DistinctValues | None = None,
    levels: Mapping[int, Any] | None = None,
    names: Any = None,
) -> Cuts:
    """Cuts of every column, as :func:`tamiz.information.encode` would find them in all rows.

    Parameters
    ----------
    method : {"mean_std", "mdl", "width", "frequency"} or None
        The rule; None if all columns are discrete, which needs ``distinct``.
    n_bins : int, default=5
        Number of bins for "width" and "frequency".
    ranges : Ranges
        Of all rows; also tells which columns have missing values.
    sample : RowSample, optional
        For "frequency" and "mdl".
    distinct : DistinctValues, optional
        For ``method=None``.
    levels : dict, optional
        Of nominal columns, by their number: how many levels they have (values 0, 1, 2, ...), or
        the values in ascending order.
    names : sequence, optional
        What sentences call the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import Ranges, streamed_cuts
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [10.0]])
    >>> ranges = Ranges.of(X[:2]).merge(Ranges.of(X[2:]))
    >>> streamed_cuts("width", n_bins=3, ranges=ranges).column(0)
    array([4., 7.])
    """
    levels = dict(levels or {})
    gaps = ranges.gaps()
    if method is None:
        found = _levels_of(_needed(distinct, "distinct", method), levels, names)
        return Cuts.of([[]] * len(gaps), gaps).with_levels({**found, **levels})
    error = 0.0
    if method == "mean_std":
        cuts = _around_mean(ranges)
    elif method == "width":
        ends = np.vstack([ranges.low, ranges.high])
        cuts = width_cuts(np.where(ranges.n_known > 0, ends, np.nan), n_bins)
    else:
        sample = _needed(sample, "sample", method)
        by_rank = method == "frequency"
        cuts = frequency_cuts(sample.X, n_bins) if by_rank else _by_class(sample)
        error = float(sample.rank_error().max(initial=0.0))
    return Cuts.of(cuts, gaps, error).with_levels(levels)


def _around_mean(ranges: Ranges) -> np.ndarray:
    """Mean minus and plus one standard deviation, with the slack and the rule for two values of
    :mod:`tamiz.information.cuts`.
    """
    unit = ranges.unit
    mean, deviation = ranges.mean() / unit, ranges.deviation() / unit
    slack = SLACK * (np.abs(mean) + deviation)
    cuts = np.column_stack([mean - deviation + slack, mean + deviation + slack])
    low, high = ranges.low / unit, ranges.high / unit
    for j in np.flatnonzero((low < high) & ~ranges.between):
        separate_two_values(low[j], high[j], mean[j], cuts[j])
    cuts *= unit[:, None]
    cuts[~(low < high)] = np.inf
    return cuts


def _by_class(sample: RowSample) -> np.ndarray:
    """Cuts where the class changes, in the sample."""
    if sample.y is None or sample.y.dtype.kind not in "iu":
        raise ValueError(
            'bins="mdl" cuts where the class changes and needs class codes; sample rows together '
            'with their classes, or use bins="mean_std", "width" or "frequency".'
        )
    return mdl_cuts(sample.X, sample.y, int(sample.y.max(initial=0)) + 1)


def _needed(statistic: Any, name: str, method: str | None) -> Any:
    if statistic is None:
        raise ValueError(f"bins={method!r} needs {name}; make it in a pass and pass it.")
    return statistic


def _levels_of(
    distinct: DistinctValues, nominal: dict[int, Any], names: Any
) -> dict[int, np.ndarray]:
    """The values of columns that are said to be discrete."""
    out: dict[int, np.ndarray] = {}
    for j, values in enumerate(distinct.values):
        if j in nominal:
            continue
        called = f"column {j}" if names is None else f"column {names[j]!r}"
        if distinct.overflow[j] or are_continuous(values, int(distinct.n_known[j])):
            more = "more than " if distinct.overflow[j] else ""
            raise ValueError(
                f"bins=None says that all columns are discrete, but {called} has {more}"
                f"{len(values)} distinct values (first {values[0]:.6g}). Choose how to cut it, for "
                'instance bins="mean_std", or name it in categorical_features.'
            )
        out[j] = values
    return out
