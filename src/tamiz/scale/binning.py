"""Where to cut columns, by the rules of :mod:`tamiz.information`, from statistics that merge.

"mean_std" and "width" need the mean, the deviation and the ends of a column, which
:class:`Ranges` has of all rows. "frequency" and "mdl" need the order of the values; they use a
:class:`RowSample`, which is the table itself unless that has more rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tamiz.information.cuts import _SLACK, _frequency, _separate, _width
from tamiz.information.encoding import are_continuous, check_options
from tamiz.information.mdl import mdl_cuts
from tamiz.scale.cuts import Cuts
from tamiz.scale.distinct import DistinctValues
from tamiz.scale.ranges import Ranges
from tamiz.scale.sample import RowSample


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
        Of all rows; also tells which columns have gaps.
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
    check_options(method, n_bins, "code")
    levels = dict(levels or {})
    gaps = ranges.gaps()
    if method is None:
        found = _levels_of(_needed(distinct, "distinct", method), levels, names)
        return Cuts.of([[]] * len(gaps), gaps).with_levels({**found, **levels})
    error = 0.0
    if method == "mean_std":
        cuts = mean_std_cuts(ranges)
    elif method == "width":
        cuts = width_cuts(ranges, n_bins)
    else:
        sample = _needed(sample, "sample", method)
        cuts = frequency_cuts(sample, n_bins) if method == "frequency" else mdl_sample_cuts(sample)
        error = float(sample.rank_error().max(initial=0.0))
    return Cuts.of(cuts, gaps, error).with_levels(levels)


def mean_std_cuts(ranges: Ranges) -> np.ndarray:
    """Mean minus and plus one standard deviation, with the slack and the rule for two values of
    ``information._cuts``.
    """
    unit = ranges.unit
    mean, deviation = ranges.mean() / unit, ranges.deviation() / unit
    slack = _SLACK * (np.abs(mean) + deviation)
    cuts = np.column_stack([mean - deviation + slack, mean + deviation + slack])
    low, high = ranges.low / unit, ranges.high / unit
    for j in np.flatnonzero((low < high) & ~ranges.between):
        _separate(low[j], high[j], mean[j], cuts[j])
    cuts *= unit[:, None]
    cuts[~(low < high)] = np.inf
    return cuts


def width_cuts(ranges: Ranges, n_bins: int) -> np.ndarray:
    """Cuts at equal distances between the least and the greatest value."""
    ends = np.vstack([ranges.low, ranges.high])
    return _width(np.where(ranges.n_known > 0, ends, np.nan), n_bins)


def frequency_cuts(sample: RowSample, n_bins: int) -> np.ndarray:
    """Cuts at quantiles of the sample.

    If rows were left out, each bin holds the share of rows that it should up to twice
    ``sample.rank_error()``.
    """
    return _frequency(sample.X, n_bins)


def mdl_sample_cuts(sample: RowSample) -> np.ndarray:
    """Cuts where the class changes, in the sample."""
    if sample.y is None or sample.y.dtype.kind not in "iu":
        raise ValueError(
            'bins="mdl" cuts where the class changes and needs class codes; sample rows together '
            'with their classes, or use bins="mean_std", "width" or "frequency".'
        )
    return mdl_cuts(sample.X, sample.y, int(sample.y.max(initial=0)) + 1)


def _needed(statistic: Any, name: str, method: str | None) -> Any:
    if statistic is None:
        raise ValueError(f"bins={method!r} needs {name}; make it in a pass and hand it over.")
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
