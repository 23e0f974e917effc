"""Scores that look at the order of values: from sorted columns, or from histograms.

A filter states once how its score follows from columns in order (``_between``, with the scores of
:mod:`tamiz.scale.ordered`). In memory the columns are sorted, a few at a time. From a stream the
score is exact or between bounds: if the sample of the first pass is the whole table, it is sorted
like any array. If not, fine histograms of all rows are counted in a second pass, and the score is
known to lie between two bounds (:class:`tamiz.scale.ClassHistograms`).

The simplest such filter stands here too: the training error of the best rule with one threshold,
which predicts the more frequent class on either side. Both sides may predict the same class: the
rule that ignores the feature is among them.

References
----------
.. [1] R. C. Holte (1993). Very simple classification rules perform well on most commonly used
       datasets. Machine Learning 11.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

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
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale import Batch, Bounds, ClassHistograms, Cuts, RowSample, fine_cuts
from tamiz.scale.ordered import OrderedColumns
from tamiz.validation import (
    Labels,
    MissingValuesError,
    check_class_weight,
    checked,
    integer_from,
)

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


class Between(NamedTuple):
    """Scores between bounds, and what is known besides."""

    scores: np.ndarray  # in the middle; all three agree for samples in memory
    bounds: Bounds
    pvalues: np.ndarray | None = None


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

    def _score(self, samples: LabelledSamples) -> Scored:
        return self._scored(SortedColumns(samples))[0]

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        sample = stream.sweep(SampleComplete.of(stream, sample_size))
        assert stream.classes is not None
        if sample.exact:
            labels = Labels(stream.classes, sample.y)
            columns: OrderedColumns = SortedColumns(LabelledSamples(sample.X, labels, None))
        else:
            stream.need_again()
            cuts = fine_cuts(sample, self._resolution)
            columns = stream.sweep(FillHistograms(cuts, stream.n_classes))
        stream.check_rows(columns.class_weight().astype(np.int64), NUMBERS)
        scored, bounds = self._scored(columns)
        if not sample.exact:
            stream.notes["widest_bounds"] = float((bounds.high - bounds.low).max())
        self._conclude(scored, watch, **stream.summary())
        self.score_bounds_ = np.vstack(bounds)
        return self

    def _scored(self, columns: OrderedColumns) -> tuple[Scored, Bounds]:
        """Scores, and what they lie between; 0 for constant features."""
        scores, bounds, pvalues = self._between(columns)
        constant = columns.constant()
        scores, low, high = (np.where(constant, 0.0, one) for one in (scores, *bounds))
        return Scored(scores, pvalues, constant), Bounds(low, high)

    @abstractmethod
    def _between(self, columns: OrderedColumns) -> Between:
        """Scores of every feature, from the order of its values."""


class SortedColumns(OrderedColumns):
    """The columns of samples in memory, sorted a few at a time when a score is asked for."""

    def __init__(self, samples: LabelledSamples):
        self._samples = samples
        largest = 1.0 if samples.weight is None else float(samples.weight.max(initial=0.0))
        if not 1e-60 < largest < 1e60:  # cubes of weights are needed
            self.unit = 2.0 ** np.floor(np.log2(largest))
        self._constant: np.ndarray | None = None  # until a column is sorted

    def class_weight(self, factor: Any = None) -> np.ndarray:
        labels = self._samples.labels
        return np.bincount(labels.codes, self._weight(factor), minlength=len(labels.classes))

    def constant(self) -> np.ndarray:
        if self._constant is None:
            self._sweep(lambda *columns: None)
        assert self._constant is not None
        return self._constant

    def _weight(self, factor: Any) -> np.ndarray:
        X, labels, weight = self._samples
        weight = np.ones(X.shape[0]) if weight is None else weight / self.unit
        return weight if factor is None else weight * factor[labels.codes]

    def _sweep(self, kernel: Callable[..., None], *by_class: bool, factor: Any = None) -> Any:
        X, labels, _ = self._samples
        n, p = X.shape
        out = [np.zeros((len(labels.classes), p) if each else p) for each in by_class]
        constant = self._constant = np.empty(p, dtype=np.bool_)
        weight = self._weight(factor)
        nothing = np.empty(0, dtype=np.bool_)  # ties are all there is
        if sparse.issparse(X):
            X = X.tocsc()
        width = max(1, min(64, _BLOCK_ENTRIES // max(1, n)))

        halt = Event()

        def task(start: int, stop: int) -> None:
            for left in range(start, stop, width):
                if halt.is_set():
                    return
                part = slice(left, min(left + width, stop))
                values = column_block(X, part.start, part.stop)
                order = np.argsort(values, axis=1)
                _compare_ends(values, order, constant[part])
                results = (array[..., part] for array in out)
                kernel(values, order, labels.codes, weight, nothing, *results)

        run_tiles(task, p, min_items=max(1, 2**14 // max(1, n)), stop=halt)
        return out


def limiting_pvalues(unit: float, distance: np.ndarray) -> np.ndarray:
    """P-values of distances where weights are as good as infinite, or as good as none."""
    certain = (distance > 1e-9) & (unit > 1.0)
    return np.where(certain, 0.0, 1.0)


@njit(cache=True, nogil=True)
def _compare_ends(values: np.ndarray, order: np.ndarray, equal: np.ndarray) -> None:
    """Whether the least and the greatest value of each row are equal."""
    for j in range(len(values)):
        equal[j] = values[j, order[j, 0]] == values[j, order[j, -1]]


def bounds_over_classes(bounds: Bounds, fraction: np.ndarray, how: str) -> Bounds:
    """Bounds on scores of each class against the rest, combined."""
    low, high = (over_classes(side.__getitem__, fraction, how, len(fraction)) for side in bounds)
    return Bounds(low, high)


class StumpError(OrderFilter):
    """How much a single feature with one threshold reduces the training error.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features to select; half of them by default.
    class_weight : dict, "balanced" or None, default=None
        Cost of an error in each class. With ``"balanced"`` all classes together cost the same, and
        a rare class is worth finding.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Error of always predicting the most frequent class, less the error of the best threshold;
        0 for constant features.
    errors_ : array of shape (n_features,)
        Training error of the best threshold, as a fraction of the total weight.
    score_bounds_ : array of shape (2, n_features)
        After ``fit_stream``: what the scores are known to lie between.
    support_, ranking_, order_, selection_, classes_
        See :class:`tamiz.base.Selector`.

    See Also
    --------
    AUCScore : the order of the values over all thresholds.

    References
    ----------
    .. [1] R. C. Holte (1993). Very simple classification rules perform well on most commonly used
           datasets. Machine Learning 11.

    Examples
    --------
    >>> from tamiz.filters import StumpError
    >>> X = [[1, 4], [2, 1], [3, 3], [4, 2]]
    >>> StumpError().fit(X, ["no", "no", "yes", "yes"]).errors_.tolist()
    [0.0, 0.25]
    """

    _parameter_constraints = {
        **OrderFilter._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        class_weight: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.class_weight = class_weight

    def _between(self, columns: OrderedColumns) -> Between:
        rows = columns.class_weight()
        each = Labels(self.classes_, np.arange(len(rows)))  # a sample of each class
        factor = check_class_weight(self.class_weight, each, rows)
        own = columns.class_weight(factor)
        baseline, total = own.max(), own.sum()
        right = columns.stump(factor)
        gains = ((one - baseline) / total for one in (right.middle, *right))
        # sums in another order differ by rounding
        gain, low, high = (np.where(one > 1e-12, one, 0.0) for one in gains)
        self.errors_ = np.maximum(0.0, 1 - baseline / total - gain)
        return Between(gain, Bounds(low, high))
