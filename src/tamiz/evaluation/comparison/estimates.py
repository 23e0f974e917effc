"""Curves and table lines of a comparison: means over splits with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tamiz.evaluation.comparison.intervals import Interval, chosen_size, corrected_interval

if TYPE_CHECKING:
    from tamiz.evaluation.comparison.result import Comparison


class Curve(NamedTuple):
    """Error by number of features, one method before one judge."""

    sizes: np.ndarray
    error: np.ndarray  # honest: ranked inside the training parts
    low: np.ndarray
    high: np.ndarray
    apparent: np.ndarray  # ranked on all data
    bias: np.ndarray  # the difference


class Estimate(NamedTuple):
    """What a method achieves before a judge: one line of the table."""

    method: str
    judge: str
    kind: str  # "chosen": the size is chosen by cross-validation; "own": by the method
    size: float  # chosen on all splits, or the median of the own ones
    size_low: float  # least and largest over the splits
    size_high: float
    error: float  # honest
    low: float
    high: float
    apparent_size: float
    apparent: float
    bias: float  # selection bias: honest less apparent
    select_seconds: float  # mean of a split
    judge_seconds: float
    n_splits: int


def curve_of(found: Comparison, m: int, j: int) -> Curve:
    """The curve of method ``m`` before judge ``j``."""
    spots = [_interval(found, found.errors[m, j, :, c]) for c in range(len(found.sizes))]
    apparent = _mean(found.apparent_errors[m, j])
    error = np.array([one.mean for one in spots])
    return Curve(
        found.sizes,
        error,
        np.array([one.low for one in spots]),
        np.array([one.high for one in spots]),
        apparent,
        error - apparent,
    )


def estimates_of(found: Comparison, m: int, j: int) -> list[Estimate]:
    """What method ``m`` achieves before judge ``j``: at the size chosen, and at its own.

    The apparent error is what the same steps promise when the features are ranked on all data
    first: the size is then chosen on the apparent curve, and its error read off there.
    """
    lines = []
    own, curve, naive_curve = (
        found.own_errors[m, j],
        found.errors[m, j],
        found.apparent_errors[m, j],
    )
    if np.isfinite(curve).any() or not np.isfinite(own).any():
        naive = chosen_size(naive_curve, found.sizes, found.rule, found.ratio)
        apparent = np.nan if naive is None else float(_mean(naive_curve)[found.sizes == naive][0])
        lines.append(
            _line(
                found,
                (m, j),
                "chosen",
                chosen_size(curve, found.sizes, found.rule, found.ratio),
                found.nested_sizes[m, j],
                _interval(found, found.nested_errors[m, j]),
                naive,
                apparent,
            )
        )
    if np.isfinite(own).any():
        sizes = found.own_sizes[m]
        lines.append(
            _line(
                found,
                (m, j),
                "own",
                float(np.nanmedian(sizes)),
                sizes,
                _interval(found, own),
                float(found.whole_own_sizes[m]),
                float(_mean(found.own_apparent_errors[m, j])),
            )
        )
    return lines


def _line(
    found: Comparison,
    place: tuple[int, int],
    kind: str,
    size: float | None,
    inside: np.ndarray,
    honest: Interval,
    naive: float | None,
    apparent: float,
) -> Estimate:
    m, j = place
    there = inside[np.isfinite(inside)]
    return Estimate(
        found.methods[m],
        found.judges[j],
        kind,
        np.nan if size is None else float(size),
        float(there.min()) if len(there) else np.nan,
        float(there.max()) if len(there) else np.nan,
        honest.mean,
        honest.low,
        honest.high,
        np.nan if naive is None else float(naive),
        apparent,
        honest.mean - apparent,
        float(_mean(found.select_seconds[m])),
        float(_mean(found.judge_seconds[m, j])),
        honest.n_splits,
    )


def _interval(found: Comparison, errors: np.ndarray) -> Interval:
    return corrected_interval(errors, found.n_train, found.n_test, found.confidence, found.shares)


def _mean(table: np.ndarray) -> np.ndarray:
    """Mean over splits of what is there; NaN where nothing is."""
    there = np.isfinite(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(there, table, 0.0).sum(axis=0) / there.sum(axis=0)
