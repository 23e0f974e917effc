"""What the filters share that count: parameters, ranking by a score, ranking by greedy search.

Both work on :class:`~tamiz.information.codes.DiscreteColumns` that know their target: packed in
memory, or known by the counts of a stream.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tamiz.base import Stopwatch, number_to_select, order_by
from tamiz.filters import partial, streaming
from tamiz.filters.base import (
    DEVICE,
    HOW_MANY,
    NO_STREAM,
    NUMBERS,
    Filter,
    encode_classes,
    refuse_card,
    warn_of_nothing,
)
from tamiz.filters.information.greedy import Criterion, greedy, tiers, warn_of_no_gain
from tamiz.filters.streaming import Needs, Stream, count_with_classes
from tamiz.information.codes import DiscreteColumns
from tamiz.information.encoding import BINNING
from tamiz.runtime.threads import limit_threads
from tamiz.validation import N_JOBS, unchanged_on_error


class InformationFilter(Filter):
    """Base class of the filters that count discretised features."""

    _parameter_constraints: dict[str, list[Any]] = {
        "n_features_to_select": HOW_MANY,
        **BINNING,
        "n_jobs": N_JOBS,
    }

    n_features_to_select: Any
    bins: str | None
    n_bins: int
    categorical_features: Any
    missing: str
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


class ScoreFilter(InformationFilter):
    """Base class of the filters that score each feature by itself."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Score the features and select the best.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Data; may have missing values and categorical columns.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples: each counts like so many rows, an integer
            exactly as if the row were repeated. Rows of weight zero are left out.

        Returns
        -------
        self
        """
        self._validate_params()
        watch = Stopwatch()
        with unchanged_on_error(self), limit_threads(self.n_jobs):
            return self._rank(encode_classes(self, X, y, sample_weight), watch)

    @abstractmethod
    def _score(self, codes: DiscreteColumns) -> np.ndarray:
        """Score every feature."""

    def _rank(self, codes: DiscreteColumns, watch: Stopwatch, **notes: Any) -> Any:
        scores = self._score(codes)
        if scores.max() <= 0.0:
            warn_of_nothing(self, "every score is 0")
        n_selected = number_to_select(self.n_features_to_select, len(scores), None)
        self._finish(
            order=order_by(-tiers(codes), scores),
            n_selected=n_selected,
            scores=scores,
            seconds=watch.seconds,
            notes=notes,
        )
        return self

    fit_stream = streaming.fit_stream

    def _stream_needs(self) -> Needs:
        return Needs(nominal=True)

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        codes = count_with_classes(self, stream, sample_size, pairs=False, instead=NUMBERS)
        return self._rank(codes, watch, **stream.summary())

    partial_fit = partial.WhenDiscrete(partial.partial_fit)

    def _why_two_passes(self) -> str:
        return partial.bins_need_all_rows(self.bins)

    def _take(self, X: Any, y: np.ndarray, classes: Any, before: Any) -> Any:
        return partial.take_values(self, X, y, classes, before)

    def _enough(self, total: Any) -> bool:
        return partial.two_classes(total)

    def _conclude_partial(self, total: Any, watch: Stopwatch, n_rows: int) -> Any:
        return self._rank(total.codes(self.missing), watch, n_rows=n_rows)


class GreedyFilter(InformationFilter):
    """Base class of the filters that add one feature after the other."""

    _parameter_constraints: dict[str, list[Any]] = {
        **InformationFilter._parameter_constraints,
        "full_ranking": ["boolean"],
        "verbose": ["verbose"],
        "device": DEVICE,
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        bins: str | None = "mean_std",
        n_bins: int = 5,
        categorical_features: Any = None,
        missing: str = "code",
        full_ranking: bool = False,
        verbose: bool | int = 0,
        n_jobs: int | None = None,
        device: str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.bins = bins
        self.n_bins = n_bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.full_ranking = full_ranking
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def _criterion_name(self) -> str:
        """What the path shows."""
        return "criterion"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Add features one after the other.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Data; may have missing values and categorical columns.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples: each counts like so many rows, an integer
            exactly as if the row were repeated. Rows of weight zero are left out.

        Returns
        -------
        self
        """
        self._validate_params()
        watch = Stopwatch()
        with unchanged_on_error(self), limit_threads(self.n_jobs):
            return self._search(self._read(X, y, sample_weight), watch)

    fit_stream = streaming.fit_stream

    def _stream_needs(self) -> Needs:
        return Needs(nominal=True)

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        refuse_card(self.device, *NO_STREAM)
        return self._search(self._read_stream(stream, sample_size), watch, stream.summary)

    @abstractmethod
    def _criterion(self, codes: DiscreteColumns) -> Criterion:
        """The criterion on discrete columns."""

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Criterion:
        """The criterion on arrays."""
        return self._criterion(encode_classes(self, X, y, sample_weight))

    def _read_stream(self, stream: Stream, sample_size: int | None) -> Criterion:
        """The criterion on the columns of a stream."""
        codes = count_with_classes(self, stream, sample_size, pairs=True, instead=NUMBERS)
        return self._criterion(codes)

    def _search(
        self,
        criterion: Criterion,
        watch: Stopwatch,
        summary: Callable[[], dict[str, Any]] = dict,
    ) -> Any:
        self.relevance_ = criterion.relevance
        n_features = len(self.relevance_)
        n_selected = number_to_select(self.n_features_to_select, n_features, None)
        n_steps = n_features if self.full_ranking else n_selected
        found = greedy(criterion, n_steps, verbose=self.verbose)
        self.status_ = found.status
        warn_of_no_gain(self, self.relevance_, found)
        found.warn_if_interrupted(self, n_steps)
        self._finish(
            order=found.order,
            n_selected=min(n_selected, found.n_added),
            scores=found.scores,
            path=found.path,
            seconds=watch.seconds,
            notes={"criterion": self._criterion_name(), **summary()},
        )
        return self
