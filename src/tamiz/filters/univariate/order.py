"""Scores that look at the order of values: from sorted columns, or from histograms.

In memory the columns are sorted, a few at a time. From a stream the score is exact or between
bounds: if the sample of the first pass is the whole table, the filter scores it as it scores any
array. If not, fine histograms of all rows are counted in a second pass, and the score is known to
lie between two bounds (:class:`tamiz.scale.ClassHistograms`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.base import Stopwatch
from tamiz.filters.base import NUMBERS
from tamiz.filters.streaming import Needs, Sampling, Stream, first_incomplete, fit_stream
from tamiz.filters.univariate.base import (
    LabelledSamples,
    Scored,
    UnivariateFilter,
    column_block,
    over_classes,
)
from tamiz.runtime.threads import run_tiles
from tamiz.scale import Batch, Bounds, ClassHistograms, Cuts, RowSample, fine_cuts
from tamiz.validation import Labels, MissingValuesError, checked, integer_from

#: Bins of a histogram by default.
_RESOLUTION = 256

#: Numbers that a task holds at a time.
_BLOCK_ENTRIES = 2**20


class SampleComplete(Sampling):
    """Makes a sample of a batch in which no value is missing."""

    def __call__(self, batch: Batch) -> RowSample:
        if first_incomplete(batch.X) is not None:
            raise MissingValuesError("Input X contains NaN.")
        return super().__call__(batch)


@dataclass
class FillHistograms:
    """From a batch to its histograms."""

    cuts: Cuts
    n_classes: int

    def __call__(self, batch: Batch) -> ClassHistograms:
        return ClassHistograms.of(batch.X, batch.y, self.cuts, self.n_classes)


class Bounded(NamedTuple):
    """Scores between bounds, and what is known besides."""

    bounds: Bounds
    pvalues: np.ndarray | None


class OrderFilter(UnivariateFilter):
    """Base class of filters that sort the values of a feature."""

    _weighted = True
    _resolution = _RESOLUTION

    @checked(resolution=integer_from(2, 2**16))
    def fit_stream(
        self,
        source: Any,
        *,
        target: Any = None,
        sample_size: int | None = None,
        resolution: int = _RESOLUTION,
        verbose: bool | int | None = None,
        **options: Any,
    ) -> Any:
        """Fit to a table that need not fit into memory, a batch of rows at a time.

        A first pass samples rows. If they are all rows, the result is that of ``fit``. If not, a
        second pass counts all rows in fine bins, and ``score_bounds_`` holds bounds on each score:
        the score of all rows lies between them for certain. ``scores_`` are in the middle, and
        equal to those of ``fit`` where every bin has one value only (``score_bounds_`` agree).
        ``pvalues_`` are then upper bounds.

        Parameters
        ----------
        source : path, list of paths, (X, y), iterable of (X, y), callable, or Batches
            Where the rows come from: whatever :func:`tamiz.scale.batches` takes.
        target : str or int, optional
            Column of the target.
        sample_size : int, optional
            Rows of the sample; 20,000 by default, fewer if the table is very wide.
        resolution : int, default=256
            Number of bins of each feature. The bounds are as far apart as about one part in that
            many.
        verbose : bool or int, optional
            Show progress.
        **options
            For :func:`tamiz.scale.batches`; and ``executor`` for passes on a cluster.

        Returns
        -------
        self
            With ``score_bounds_`` (least and greatest possible scores, of shape (2, n_features)),
            ``n_rows_`` and ``n_passes_`` besides what ``fit`` sets.
        """
        self._resolution = resolution
        try:
            return fit_stream(
                self, source, target=target, sample_size=sample_size, verbose=verbose, **options
            )
        finally:
            self.__dict__.pop("_resolution", None)

    def _stream_needs(self) -> Needs:
        return Needs()

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        sample = stream.sweep(SampleComplete.of(stream, sample_size))
        assert stream.classes is not None
        if sample.exact:
            rows = np.bincount(sample.y, minlength=stream.n_classes)
            stream.check_rows(rows, NUMBERS)
            samples = LabelledSamples(sample.X, Labels(stream.classes, sample.y), None)
            scored = self._score(samples)
            self._conclude(scored, watch, **stream.summary())
            self.score_bounds_ = np.vstack([scored.scores, scored.scores])
            return self
        stream.need_again()
        histograms = stream.sweep(
            FillHistograms(fine_cuts(sample, self._resolution), stream.n_classes)
        )
        stream.check_rows(histograms.class_rows, NUMBERS)
        constant = histograms.constant()
        bounds, pvalues = self._bounded(histograms)
        low, high = (np.where(constant, 0.0, side) for side in bounds)
        scored = Scored(0.5 * (low + high), pvalues, constant)
        widest = float((high - low).max())
        stream.notes["widest_bounds"] = widest
        self._conclude(scored, watch, **stream.summary())
        self.score_bounds_ = np.vstack([low, high])
        return self

    @abstractmethod
    def _bounded(self, histograms: ClassHistograms) -> Bounded:
        """Scores of every feature, as far as the histograms say."""


def bounds_over_classes(bounds: Bounds, fraction: np.ndarray, how: str) -> Bounds:
    """Bounds on scores of each class against the rest, combined."""
    low, high = (over_classes(side.__getitem__, fraction, how, len(fraction)) for side in bounds)
    return Bounds(low, high)


def sweep_sorted(samples: LabelledSamples, kernel: Callable[..., None], *out: np.ndarray) -> None:
    """Call ``kernel(values, order, codes, weight, *out)`` for every column of ``X``.

    ``values`` is the column, ``order`` the permutation that sorts it; the last axis of each
    ``out`` runs over the columns, and the kernel gets the part that belongs to its column.
    """
    X, codes = samples.X, samples.labels.codes
    n, p = X.shape
    weight = np.ones(n) if samples.weight is None else samples.weight
    if sparse.issparse(X):
        X = X.tocsc()
    width = max(1, min(64, _BLOCK_ENTRIES // max(1, n)))

    halt = Event()

    def task(start: int, stop: int) -> None:
        for left in range(start, stop, width):
            if halt.is_set():
                return
            right = min(left + width, stop)
            values = column_block(X, left, right)
            order = np.argsort(values, axis=1)
            kernel(values, order, codes, weight, *(array[..., left:right] for array in out))

    run_tiles(task, p, min_items=max(1, 2**14 // max(1, n)), stop=halt)
