"""partial_fit: batches passed one by one, for filters that need to see each row once.

The statistic of a batch is merged into that of the batches before, and the ranking is made anew:
both cost no more than a look at the statistic. A batch that is refused leaves everything as it was.

A filter that has it says what a batch becomes (``_take``) and how to rank by what has come so far
(``_conclude_partial``); :func:`partial_fit` becomes its method. Filters that count have it only
while the values are discrete as they are (:class:`WhenDiscrete`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MethodType
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.base import Stopwatch
from tamiz.information.columns import CodedTable, read_columns
from tamiz.scale import LevelCounts, StreamedCodes
from tamiz.scale.values import ValueCounts
from tamiz.validation import (
    ANNOUNCE,
    OneClassError,
    as_vector,
    check_announced_classes,
    check_classes,
    check_known_classes,
    unchanged_on_error,
)

#: Different values of a column that is said to be discrete.
_MOST_VALUES = 2**16


def partial_fit(self: Any, X: Any, y: Any, classes: Any = None) -> Any:
    """Take one batch of rows; the ranking is then that of all batches so far.

    After the last batch the result is that of ``fit`` on all rows. ``fit`` and ``fit_stream`` start
    anew, and so does the first call after them. A batch that is refused changes nothing. Until rows
    of two classes have come, nothing is selected and the filter counts as not fitted.

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
        self._validate_params()
        watch = Stopwatch()
        before = self.__dict__.get("_so_far")
        total = self._take(X, as_vector(y), classes, before)
        for name in ("selection_", "support_", "order_", "ranking_", "scores_", "pvalues_"):
            self.__dict__.pop(name, None)
        n_rows = int(total.class_rows.sum())
        if self._enough(total):
            self._conclude_partial(total, watch, n_rows=n_rows)
        self._so_far, self.n_rows_ = total, n_rows
    return self


def class_codes(
    selector: Any, y: np.ndarray, n: int, classes: Any, *, first: bool, remedy: str = ANNOUNCE
) -> np.ndarray:
    """Codes of the labels of a batch; the classes are settled by the first one.

    ``remedy`` says what to do about a class that nobody announced.
    """
    known = None if first else selector.classes_
    if classes is None and first:
        try:
            quantity = "use a filter for numbers"
            known = check_classes(y, n, quantity=quantity, warn=False).classes
        except OneClassError as error:
            raise OneClassError(
                f"y holds one class only ({error.label!r}) in the first batch. {ANNOUNCE}",
                label=error.label,
            ) from None
    else:
        known = check_announced_classes(classes, known)
    codes = check_known_classes(y, n, known, remedy=remedy)
    selector.classes_ = known
    return codes


def two_classes(total: Any) -> bool:
    """Whether rows of two classes have come."""
    return bool(np.count_nonzero(total.class_rows) > 1)


@dataclass
class Values:
    """Counts of values, and what the codes of columns of text stand for."""

    counts: ValueCounts
    words: dict[int, list[Any]] = field(default_factory=dict)  # by column, in order of arrival

    @property
    def class_rows(self) -> np.ndarray:
        """Rows of each class."""
        return self.counts.class_rows

    def codes(self, missing: str) -> StreamedCodes:
        """The values as discrete columns."""
        levels = LevelCounts.from_values(self.counts)
        return StreamedCodes(
            lambda make: levels,
            levels.cuts,
            len(levels.n_rows),
            missing=missing,
            pairs=False,
            varies=np.array([len(values) > 1 for values in self.counts.values]),
        )


class WhenDiscrete:
    """A method that is there only while the parameters allow it, as ``hasattr`` then says."""

    def __init__(self, method: Callable[..., Any]):
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self.method
        why = owner._why_two_passes()
        if why:
            raise AttributeError(f"{type(owner).__name__} has no partial_fit here: {why}")
        return MethodType(self.method, owner)


def bins_need_all_rows(bins: str | None) -> str:
    """Why rows have to be seen twice with these bins; nothing if they need not."""
    if bins is None:
        return ""
    return (
        f"the bins of bins={bins!r} are not known before the last batch; use fit_stream with a "
        "source that can be read again, or bins=None if the values are discrete already."
    )


def take_values(selector: Any, X: Any, y: np.ndarray, classes: Any, before: Values | None) -> Any:
    """Count the values of a batch, and merge them into what was before."""
    first = before is None
    columns = read_columns(
        X, selector.categorical_features, estimator=selector, reset=first, min_samples=1
    )
    codes = class_codes(selector, y, columns.X.shape[0], classes, first=first)
    table, words = _renumbered(columns, before)
    part = ValueCounts.of(table, codes, len(selector.classes_))
    total = part if before is None else before.counts.merge(part)
    _refuse_unlimited(total, columns)
    return Values(total, words)


def _renumbered(columns: CodedTable, before: Values | None) -> tuple[Any, dict[int, list[Any]]]:
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
                f"X {columns.called(j)} holds {now}, but held {was} in the batches before; pass "
                "the same kind of column in every batch."
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


def _refuse_unlimited(total: ValueCounts, columns: CodedTable) -> None:
    """Measurements were not meant as categories, and identifiers would fill the memory."""
    for j, values in enumerate(total.values):
        whole = bool((values == np.floor(values)).all())
        if len(values) > (_MOST_VALUES if whole or columns.categorical[j] else 32):
            raise ValueError(
                f"bins=None says that all columns are discrete, but {columns.called(j)} of X has "
                f"{len(values)} distinct values so far (first {values[0]:.6g}). Use fit_stream and "
                'choose how to cut it, for instance bins="mean_std", or leave it out.'
            )
