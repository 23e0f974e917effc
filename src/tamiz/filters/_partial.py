"""partial_fit: batches handed over one by one, for filters that need to see each row once.

The statistic of a batch is merged into that of the batches before, and the ranking is made anew:
both cost no more than a look at the statistic. A batch that is refused leaves everything as it was.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MethodType
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.base import Stopwatch
from tamiz.information.columns import Columns, read_columns
from tamiz.scale import ClassMoments, StreamedCodes
from tamiz.scale.value_counts import ValueCounts
from tamiz.validation import (
    ANNOUNCE,
    OneClassError,
    as_vector,
    check_announced_classes,
    check_classes,
    check_known_classes,
    check_X,
    unchanged_on_error,
)

#: Different values of a column that is said to be discrete.
_MOST_VALUES = 2**16


class PartialFit:
    """What gives a filter ``partial_fit``; subclasses say what a batch becomes.

    Until rows of two classes have come, nothing is selected and the filter counts as not fitted.
    """

    _so_far: Any  # what the batches up to now have become
    _unknown_class = ANNOUNCE  # what to do about a class that nobody announced
    classes_: np.ndarray

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Take one batch of rows; the ranking is then that of all batches so far.

        After the last batch the result is that of ``fit`` on all rows. ``fit`` and ``fit_stream``
        start anew, and so does the first call after them. A batch that is refused changes nothing.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows, with the same columns in every batch.
        y : array of shape (n_samples,)
            Their classes.
        classes : array-like, optional
            All classes that will come; needed in the first call, unless its rows show all of them.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._validate_params()  # type: ignore[attr-defined]
            watch = Stopwatch()
            before = self.__dict__.get("_so_far")
            total = self._take(X, as_vector(y), classes, before)
            for name in ("selection_", "support_", "order_", "ranking_", "scores_", "pvalues_"):
                self.__dict__.pop(name, None)
            if self._enough(total):
                self._conclude_partial(total, watch)
            self._so_far, self.n_rows_ = total, self._rows_of(total)
        return self

    def _finish(self, **found: Any) -> None:
        self.__dict__.pop("_so_far", None)  # a new fit starts anew
        super()._finish(**found)  # type: ignore[misc]

    @abstractmethod
    def _take(self, X: Any, y: np.ndarray, classes: Any, before: Any) -> Any:
        """Check a batch, and merge what it becomes into what was before (None: nothing)."""

    @abstractmethod
    def _conclude_partial(self, total: Any, watch: Stopwatch) -> Any:
        """Rank by what has come so far."""

    @abstractmethod
    def _rows_of(self, total: Any) -> int:
        """Number of rows so far."""

    def _enough(self, total: Any) -> bool:
        """Whether there is something to rank by."""
        return True

    def _class_codes(self, y: np.ndarray, n: int, classes: Any, first: bool) -> np.ndarray:
        """Codes of the labels; the classes are settled by the first batch."""
        known = None if first else self.classes_
        if classes is None and first:
            try:
                known = check_classes(y, n, quantity="use a filter for numbers").classes
            except OneClassError as error:
                raise OneClassError(
                    f"y holds one class only ({error.label!r}) in the first batch. {ANNOUNCE}",
                    label=error.label,
                ) from None
        else:
            known = check_announced_classes(classes, known)
        codes = check_known_classes(y, n, known, remedy=self._unknown_class)
        self.classes_ = known
        return codes


class MomentsSoFar(PartialFit):
    """For filters that are functions of the moments of the classes."""

    def _take(self, X: Any, y: np.ndarray, classes: Any, before: Any) -> Any:
        X = check_X(self, X, reset=before is None, accept_sparse=True)
        codes = self._class_codes(y, X.shape[0], classes, before is None)
        part = ClassMoments.of_batch(X, codes, len(self.classes_))
        return part if before is None else before.merge(part)

    def _conclude_partial(self, total: Any, watch: Stopwatch) -> Any:
        scored = self._scored(total.occurring())  # type: ignore[attr-defined]
        return self._conclude(scored, watch, n_rows=self._rows_of(total))  # type: ignore[attr-defined]

    def _rows_of(self, total: Any) -> int:
        return int(total.count.sum())

    def _enough(self, total: Any) -> bool:
        return bool(np.count_nonzero(total.count) > 1)


@dataclass
class Values:
    """Counts of values, and what the codes of columns of text stand for."""

    counts: ValueCounts
    words: dict[int, list[Any]] = field(default_factory=dict)  # by column, in order of arrival


class _WhenDiscrete:
    """A method that is there only while the parameters allow it, as ``hasattr`` then tells."""

    def __init__(self, method: Callable[..., Any]):
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self.method
        why = owner._needs_two_passes()
        if why:
            raise AttributeError(f"{type(owner).__name__} has no partial_fit here: {why}")
        return MethodType(self.method, owner)


class ValuesSoFar(PartialFit):
    """For filters that count, where the values are discrete as they are (``bins=None``)."""

    partial_fit = _WhenDiscrete(PartialFit.partial_fit)  # type: ignore[assignment]

    def _needs_two_passes(self) -> str:
        """Why rows have to be seen twice; nothing if they need not."""
        bins = self.bins  # type: ignore[attr-defined]
        if bins is None:
            return ""
        return (
            f"the bins of bins={bins!r} are not known before the last batch; use fit_stream with a "
            "source that can be read again, or bins=None if the values are discrete already."
        )

    def _take(self, X: Any, y: np.ndarray, classes: Any, before: Any) -> Any:
        columns = read_columns(
            X,
            self.categorical_features,  # type: ignore[attr-defined]
            estimator=self,
            reset=before is None,
            min_samples=1,
        )
        codes = self._class_codes(y, columns.X.shape[0], classes, before is None)
        table, words = _renumbered(columns, before)
        part = ValueCounts.of(table, codes, len(self.classes_))
        total = part if before is None else before.counts.merge(part)
        _refuse_unlimited(total, columns)
        return Values(total, words)

    def _conclude_partial(self, total: Any, watch: Stopwatch) -> Any:
        levels = total.counts.levels()
        varies = np.array([len(values) > 1 for values in total.counts.values])
        codes = StreamedCodes(
            lambda make: levels,
            levels.cuts,
            len(self.classes_),
            missing=self.missing,  # type: ignore[attr-defined]
            pairs=False,
            varies=varies,
        )
        return self._rank(codes, None, watch, n_rows=levels.n_samples)  # type: ignore[attr-defined]

    def _rows_of(self, total: Any) -> int:
        return int(total.counts.n_rows.sum())

    def _enough(self, total: Any) -> bool:
        return bool(np.count_nonzero(total.counts.n_rows) > 1)


def _renumbered(columns: Columns, before: Values | None) -> tuple[Any, dict[int, list[Any]]]:
    """The table with the codes of text as they were before, new words behind the known ones.

    Where all values are missing, nobody can tell text from numbers: both may follow.
    """
    words = {} if before is None else before.words
    out, table = dict(words), columns.X
    for j in sorted(set(columns.categories) | set(words)):
        text = j in columns.categories
        if not text and not sparse.issparse(table) and np.isnan(table[:, j]).all():
            continue
        seen = before is not None and len(before.counts.values[j]) > 0
        if seen and text != (j in words):
            was, now = ("text", "numbers") if j in words else ("numbers", "text")
            raise ValueError(
                f"X {columns.called(j)} holds {now}, but held {was} in the batches before; hand "
                "over the same kind of column in every batch."
            )
        if not text:
            del out[j]  # up to now all values were missing
            continue
        place = {word: k for k, word in enumerate(words.get(j, ()))}
        number = [place.setdefault(word, len(place)) for word in columns.categories[j].tolist()]
        known = ~np.isnan(table[:, j])
        table[known, j] = np.array(number, dtype=np.float64)[table[known, j].astype(np.intp)]
        out[j] = list(place)
    return table, out


def _refuse_unlimited(total: ValueCounts, columns: Columns) -> None:
    """Quantities were not meant as categories, and identifiers would fill the memory."""
    for j, values in enumerate(total.values):
        whole = bool((values == np.floor(values)).all())
        if len(values) > (_MOST_VALUES if whole or columns.categorical[j] else 32):
            raise ValueError(
                f"bins=None says that all columns are discrete, but {columns.called(j)} of X has "
                f"{len(values)} distinct values so far (first {values[0]:.6g}). Use fit_stream and "
                'choose how to cut it, for instance bins="mean_std", or leave it out.'
            )
