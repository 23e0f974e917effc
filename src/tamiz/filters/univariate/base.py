"""What all filters that score one feature at a time share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.base import Stopwatch, number_to_select, order_by
from tamiz.filters import partial, streaming
from tamiz.filters.base import HOW_MANY, NUMBERS, Filter, warn_of_nothing
from tamiz.filters.streaming import Needs, Stream
from tamiz.filters.univariate.corrections import CORRECTIONS, corrected
from tamiz.scale import Batch, ClassMoments
from tamiz.validation import (
    ANNOUNCE,
    Labels,
    check_classes,
    check_sample_weight,
    check_X,
    unchanged_on_error,
)

#: What the parameters may be of filters that know p-values.
BY_PVALUE: dict[str, list[Any]] = {
    "alpha": [Interval(Real, 0, 1, closed="right"), None],
    "correction": [StrOptions(set(CORRECTIONS))],
}


class LabelledSamples(NamedTuple):
    """Checked input: every weight is positive."""

    X: Any  # float64, C-contiguous or CSR
    labels: Labels
    weight: np.ndarray | None  # None for ones

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels.classes)

    def class_weight(self) -> np.ndarray:
        """Sum of the weights of each class."""
        return np.bincount(self.labels.codes, self.weight, minlength=self.n_classes)


class Scored(NamedTuple):
    """Scores of all features, and what the method knows besides."""

    scores: np.ndarray  # higher is better; neither negative nor NaN
    pvalues: np.ndarray | None = None
    constant: np.ndarray | None = None  # features to rank behind all others


class UnivariateFilter(Filter):
    """Base class of filters that score one feature at a time against a class label.

    A subclass defines ``_score``. It declares with ``_sparse`` whether it takes sparse input, and
    with ``_weighted`` whether it uses ``samples.weight``; if not, sample weights are refused.
    """

    _sparse = True
    _weighted = False
    correction = "none"  # where there is no such parameter

    _parameter_constraints: dict[str, list[Any]] = {"n_features_to_select": HOW_MANY}

    def __init__(self, n_features_to_select: int | float | str | None = None):
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Score the features and select the best.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (n_samples, n_features)
            Data.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            Weights; a sample of weight two counts like two samples.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self._validate_params()
        watch = Stopwatch()
        samples = check_labelled(self, X, y, sample_weight, accept_sparse=self._sparse)
        if not self._weighted:
            samples = self._unweighted(samples)
        self.classes_ = samples.labels.classes
        return self._conclude(self._score(samples), watch)

    def _unweighted(self, samples: LabelledSamples) -> LabelledSamples:
        """Refuse weights, unless they only say which samples to leave out."""
        if samples.weight is not None and (samples.weight != 1.0).any():
            name = type(self).__name__
            raise ValueError(
                f"sample_weight was given, but {name} does not use sample weights; leave "
                f"sample_weight out. (If {name} is yours and uses samples.weight, declare "
                "_weighted = True in the class.)"
            )
        return samples._replace(weight=None)

    @abstractmethod
    def _score(self, samples: LabelledSamples) -> Scored:
        """Score every feature."""

    def _conclude(self, scored: Scored, watch: Stopwatch, **notes: Any) -> Any:
        """Rank by score, constant features last, and set the fitted attributes."""
        scores, constant = scored.scores, scored.constant
        self.pvalues_ = scored.pvalues
        if scores.max() <= 0.0:
            warn_of_nothing(self, "every score is 0")
        key = scores if constant is None else np.where(constant, -1.0, scores)
        n_selected = number_to_select(self.n_features_to_select, len(scores), None)
        self._finish(
            order=order_by(key),
            n_selected=n_selected,
            support=self._significant(scored),
            scores=scores,
            seconds=watch.seconds,
            notes=notes,
        )
        return self

    def _significant(self, scored: Scored) -> np.ndarray | None:
        """Features whose corrected p-value is small enough, where that is what was asked for."""
        alpha = getattr(self, "alpha", None)
        if alpha is None or self.n_features_to_select not in (None, "auto"):
            return None
        if scored.pvalues is None:
            raise ValueError(
                f"alpha={alpha:g} selects by p-value, but {type(self).__name__} has none for these "
                "classes and parameters; leave alpha out, or use a filter that has, such as WelchT."
            )
        chosen = corrected(scored.pvalues, self.correction) <= alpha
        return chosen if scored.constant is None else chosen & ~scored.constant

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        return tags


class MomentFilter(UnivariateFilter):
    """Base class of filters that are functions of the means and variances of the classes.

    A subclass defines ``_from_moments``; the moments are those of an array, of a stream, or of the
    batches so far.
    """

    _weighted = True
    fit_stream = streaming.fit_stream
    partial_fit = partial.partial_fit

    @abstractmethod
    def _from_moments(self, moments: ClassMoments) -> tuple[np.ndarray, np.ndarray | None]:
        """Scores and p-values of all features."""

    def _undo(self, scores: np.ndarray, units: np.ndarray) -> np.ndarray:
        """The scores of features that were divided by ``units``; most do not depend on them."""
        return scores

    def _scored(self, moments: ClassMoments, units: np.ndarray | None = None) -> Scored:
        units = np.ones(moments.mean.shape[1]) if units is None else units
        constant = moments.constant()
        scores, pvalues = self._from_moments(moments)
        scores = np.where(constant, 0.0, self._undo(scores, units))
        if pvalues is not None:
            pvalues = np.where(constant, 1.0, pvalues)
        return Scored(scores, pvalues, constant)

    def _score(self, samples: LabelledSamples) -> Scored:
        X, labels, weight = samples
        return self._scored(*ClassMoments.in_safe_units(X, labels.codes, samples.n_classes, weight))

    _numbers_instead: str | None = NUMBERS  # of classes that look like numbers; None: no warning
    _unknown_class = ANNOUNCE  # what to do about a class that nobody announced

    def _stream_needs(self) -> Needs:
        return Needs()

    def _fit_streamed(self, stream: Stream, watch: Stopwatch, sample_size: int | None) -> Any:
        moments = stream.sweep(SumMoments(stream.n_classes))
        stream.check_rows(moments.count, self._numbers_instead)
        return self._conclude(self._scored(moments), watch, **stream.summary())

    def _take(self, X: Any, y: np.ndarray, classes: Any, before: Any) -> Any:
        first = before is None
        X = check_X(self, X, reset=first, accept_sparse=True)
        remedy = self._unknown_class
        codes = partial.class_codes(self, y, X.shape[0], classes, first=first, remedy=remedy)
        part = ClassMoments.of_batch(X, codes, len(self.classes_))
        return part if first else before.merge(part)

    def _enough(self, total: Any) -> bool:
        return partial.two_classes(total)

    def _conclude_partial(self, total: Any, watch: Stopwatch, n_rows: int) -> Any:
        return self._conclude(self._scored(total.occurring()), watch, n_rows=n_rows)


@dataclass
class SumMoments:
    """From a batch to its moments."""

    n_classes: int

    def __call__(self, batch: Batch) -> ClassMoments:
        assert batch.y is not None
        return ClassMoments.of_batch(batch.X, batch.y, self.n_classes)


def check_labelled(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    accept_sparse: bool,
    quantity: str = NUMBERS,
    warn: bool = True,
) -> LabelledSamples:
    """Check data, labels and weights; leave out rows of weight zero.

    ``quantity`` says what to do if ``y`` is numeric; ``warn`` of labels that look like that.
    """
    X = check_X(estimator, X, reset=True, accept_sparse=accept_sparse)
    weight = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
    labels = check_classes(y, X.shape[0], weight=weight, quantity=quantity, warn=warn)
    if weight is None:
        return LabelledSamples(X, labels, None)
    classes, codes = labels
    counted = weight > 0
    if not counted.all():
        X, codes, weight = X[counted], codes[counted], weight[counted]
    return LabelledSamples(X, Labels(classes, codes), weight)


def over_classes(
    score: Callable[[int], np.ndarray], fraction: np.ndarray, how: str, n_classes: int
) -> np.ndarray:
    """Combine the scores of each class against the rest; with two classes one is enough.

    Parameters
    ----------
    score : callable
        ``score(k)`` gives the scores of class ``k`` against the rest.
    fraction : array of shape (n_classes,)
        Fraction of each class in the data.
    how : {"weighted", "max"}
        Mean weighted by the fraction of the class, or the best class.
    n_classes : int
        Number of classes.
    """
    if n_classes == 2:
        return score(0)
    total = np.zeros(1)
    for k in range(n_classes):
        one = score(k)
        total = np.maximum(total, one) if how == "max" else total + fraction[k] * one
    return total


def column_block(X: Any, start: int, stop: int) -> np.ndarray:
    """Columns ``start`` to ``stop`` as the rows of a dense array."""
    block = X[:, start:stop]
    if sparse.issparse(block):
        return np.ascontiguousarray(block.toarray().T)
    return np.ascontiguousarray(block.T)
