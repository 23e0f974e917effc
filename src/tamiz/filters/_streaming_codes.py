"""The discrete columns of a stream, counted: what the filters of information ask for.

A first pass finds where the columns are cut, by the rules of :mod:`tamiz.information`; a second one
counts. The counts give the same numbers as the columns themselves would.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tamiz.filters._streaming import Sampling, Stream, rows_to_sample
from tamiz.information.columns import Columns
from tamiz.information.encoding import _warn_of_identifiers
from tamiz.scale import (
    Batch,
    Cuts,
    DistinctValues,
    Ranges,
    RowSample,
    StreamedCodes,
    streamed_cuts,
)


@dataclass
class Look:
    """What a first pass tells of the columns, before they are cut."""

    ranges: Ranges
    sample: RowSample | None = None
    distinct: DistinctValues | None = None

    def merge(self, other: Look) -> Look:
        """The same of both sets of rows."""
        return Look(
            self.ranges.merge(other.ranges),
            None if self.sample is None else self.sample.merge(other.sample),  # type: ignore[arg-type]
            None if self.distinct is None else self.distinct.merge(other.distinct),  # type: ignore[arg-type]
        )


@dataclass
class Looking:
    """Makes a :class:`Look` of a batch."""

    sampled: int  # rows; 0 for no sample
    distinct: bool
    n_rows: int | None = None

    def __call__(self, batch: Batch) -> Look:
        sample = Sampling(self.sampled, self.n_rows)(batch) if self.sampled else None
        distinct = DistinctValues.of(batch.X) if self.distinct else None
        return Look(Ranges.of(batch.X), sample, distinct)


def streamed_codes(
    stream: Stream,
    *,
    bins: str | None,
    n_bins: int,
    missing: str = "code",
    pairs: bool | Callable[[Cuts], bool],
    sample_size: int | None,
    sampled: bool = False,
) -> tuple[StreamedCodes, RowSample | None, Cuts]:
    """The discrete columns of a stream, counted; and the sample and the cuts they come from.

    ``pairs`` says whether pairs will be asked for; ``sampled`` asks for a sample in any case.
    """
    stream.need_again()
    by_order = bins in ("mdl", "frequency")
    size = rows_to_sample(sample_size, stream.schema.n_features)
    look = stream.sweep(
        Looking(size if by_order or sampled else 0, bins is None, stream.table.n_rows)
    )
    if by_order and not look.sample.exact:
        stream.notes["cuts"] = (
            f'bins="{bins}" were found in a sample of {len(look.sample.rows):,} of '
            f"{stream.n_rows:,} rows"
        )
        stream.notes["rank_error"] = float(look.sample.rank_error().max(initial=0.0))
    cuts = streamed_cuts(
        bins,
        n_bins=n_bins,
        ranges=look.ranges,
        sample=look.sample if by_order else None,
        distinct=look.distinct,
        levels=stream.nominal,
        names=stream.names if stream.schema.named else None,
    )
    codes = StreamedCodes(
        stream.sweep,
        cuts,
        stream.n_classes,
        missing=missing,
        pairs=pairs(cuts) if callable(pairs) else pairs,
        varies=look.ranges.varies(),
    )
    _tell_of_columns(codes, look.ranges, stream)
    return codes, look.sample, cuts


def _tell_of_columns(codes: StreamedCodes, ranges: Ranges, stream: Stream) -> None:
    """Warn of identifiers, as ``fit`` does, and of columns without any value."""
    named = stream.names if stream.schema.named else None
    _warn_of_identifiers(codes, Columns(None, np.empty(0, dtype=bool), {}, named))  # type: ignore[arg-type]
    nothing = np.flatnonzero(ranges.n_known == 0)
    if len(nothing):
        more = f" (and {len(nothing) - 1} more)" if len(nothing) > 1 else ""
        warnings.warn(
            f"Column {stream.names[nothing[0]]!r}{more} has no value in any row; it tells nothing "
            "and is ranked last. Leave it out with drop=.",
            UserWarning,
            stacklevel=5,
        )
