"""Scores that follow from the order of the values of a column, from counts and from samples alike.

Here is the only definition of the area under the ROC curve, of the distance of Kolmogorov and
Smirnov and of the error of the best threshold. A column is a sequence of weighted labels in the
order of its values; equal values form a *group*. In memory the labels are those of the samples and
a group is what is tied. In a stream the labels are the cells of a histogram, weighted by their
counts, and a group is a bin.

Between groups the order is known. Inside a group of one value there is none, and nothing is open.
A bin may hold *several* values, in an order that nobody knows: a score lies between two bounds
then, which follow from the counts. The true value is between them whatever the values are, without
any probability. Without such bins both bounds are the value itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tamiz.runtime.compiling import njit


class Bounds(NamedTuple):
    """What a value is known to lie between."""

    low: np.ndarray
    high: np.ndarray

    @property
    def middle(self) -> np.ndarray:
        """The value in the middle."""
        return 0.5 * (self.low + self.high)


class OrderedColumns(ABC):
    """The labels of columns in the order of their values, wherever they come from.

    A subclass defines ``class_weight``, ``constant`` and ``_sweep``.
    """

    unit = 1.0  # what weights are measured in: not 1 where they are extreme

    @abstractmethod
    def class_weight(self, factor: Any = None) -> np.ndarray:
        """Sum of the weights of each class, times a factor for each class."""

    @abstractmethod
    def constant(self) -> np.ndarray:
        """Columns with one value in all rows."""

    @abstractmethod
    def _sweep(self, kernel: Callable[..., None], *by_class: bool, factor: Any = None) -> Any:
        """Call a compiled function of this module for all columns, and return its results.

        ``by_class`` says of each result whether it has one row for each class, or is one number
        for each column. ``factor`` multiplies the weights of the rows of each class.
        """

    def wins(self) -> tuple[Bounds, np.ndarray]:
        """Pairs in which a row of the class has the greater value, ties counting one half.

        Also the sums of t³ - t over the values that t rows share, as far as is certain.

        Returns
        -------
        wins : Bounds of shape (n_classes, n_features)
        ties : array of shape (n_features,)
        """
        rank_sums, doubt, ties = self._sweep(_rank_sums, True, True, False)
        wins = rank_sums - self.class_weight()[:, None] ** 2 / 2
        return Bounds(wins - doubt, wins + doubt), ties

    def ties(self) -> np.ndarray:
        """Sum of t³ - t over the values of each column that t rows share, as far as is certain."""
        return self.wins()[1]

    def auc(self) -> Bounds:
        """Area under the ROC curve of each class against the rest: (n_classes, n_features)."""
        return self.areas(self.wins()[0])

    def areas(self, wins: Bounds) -> Bounds:
        """Fractions of all pairs of a row of the class and another."""
        own = self.class_weight()
        pairs = own * (own.sum() - own)
        pairs = np.where(pairs > 0, pairs, 1.0)[:, None]
        return Bounds(*(np.clip(side / pairs, 0.0, 1.0) for side in wins))

    def auc_distance(self) -> Bounds:
        """Distance of the area from one half, of each class: (n_classes, n_features)."""
        return from_one_half(self.auc())

    def kolmogorov_smirnov(self) -> Bounds:
        """Largest distance between the distribution functions of each class and of the rest:
        (n_classes, n_features).
        """
        low, high = self._sweep(_largest_distances, True, True)
        low = np.minimum(low, 1.0)
        return Bounds(low, np.clip(high, low, 1.0))

    def stump(self, class_weight: Any = None) -> Bounds:
        """Weight of the rows that the best threshold predicts rightly, with the more frequent class
        on either side: (n_features,).

        Parameters
        ----------
        class_weight : array of shape (n_classes,), optional
            Factor on the weight of the rows of each class; 1 by default.
        """
        return Bounds(*self._sweep(_most_right, False, False, factor=class_weight))

    def stump_errors(self, class_weight: Any = None) -> Bounds:
        """Error of the best threshold, as a fraction of the weight: (n_features,)."""
        total = self.class_weight(class_weight).sum()
        right = self.stump(class_weight)
        return Bounds(*(np.clip(1.0 - side / total, 0.0, 1.0) for side in (right.high, right.low)))


def from_one_half(area: Bounds) -> Bounds:
    """Bounds on how far an area is from one half."""
    apart = np.maximum(np.maximum(area.low - 0.5, 0.5 - area.high), 0.0)
    return Bounds(apart, np.maximum(np.abs(area.low - 0.5), np.abs(area.high - 0.5)))


# ---------------------------------------------------------------------------------- compiled
#
# Each takes some columns: ``values`` (n_columns, n), ``order``, which sorts each of them,
# ``codes`` and ``weight`` (n,) of the rows; and ``several`` (n,), whether the order inside the
# group of a row is unknown, or nothing if there is no such group. Results begin as zeros, and their
# last axis runs over the columns.


@njit(cache=True, nogil=True)
def _rank_sums(values, order, codes, weight, several, sums, doubt, ties):  # type: ignore[no-untyped-def]
    """Weighted sums of mid-ranks by class, how far off they may be, and the tie correction."""
    n, opens = values.shape[1], len(several) > 0
    ranks, inside = np.empty(len(sums)), np.empty(len(sums))
    for j in range(len(values)):
        ranks[:] = 0.0
        below, tied, start = 0.0, 0.0, 0
        while start < n:
            value = values[j, order[j, start]]
            stop, here = start, 0.0
            while stop < n and values[j, order[j, stop]] == value:
                here += weight[order[j, stop]]
                stop += 1
            for q in range(start, stop):
                i = order[j, q]
                ranks[codes[i]] += weight[i] * (below + 0.5 * here)
            if opens and several[order[j, start]]:
                # all of a class may lie below the others of the bin, or above
                inside[:] = 0.0
                for q in range(start, stop):
                    inside[codes[order[j, q]]] += weight[order[j, q]]
                for k in range(len(inside)):
                    doubt[k, j] += 0.5 * inside[k] * (here - inside[k])
            else:
                tied += here * here * here - here
            below += here
            start = stop
        for k in range(len(ranks)):
            sums[k, j] = ranks[k]
        ties[j] = tied


@njit(cache=True, nogil=True)
def _largest_distances(values, order, codes, weight, several, low, high):  # type: ignore[no-untyped-def]
    """Distance of the distribution function of each class from that of the rest."""
    n_classes, n = len(low), values.shape[1]
    own = np.zeros(n_classes)
    for i in range(n):
        own[codes[i]] += weight[i]
    rest = own.sum() - own
    for k in range(n_classes):  # a class without rows is nowhere
        own[k] = own[k] if own[k] > 0.0 else 1.0
        rest[k] = rest[k] if rest[k] > 0.0 else 1.0
    upto, before = np.empty(n_classes), np.empty(n_classes)
    for j in range(len(values)):
        upto[:] = 0.0
        before[:] = 0.0
        passed, passed_before = 0.0, 0.0
        for q in range(n):
            i = order[j, q]
            upto[codes[i]] += weight[i]
            passed += weight[i]
            if q + 1 < n and values[j, order[j, q + 1]] == values[j, i]:
                continue
            if q + 1 < n:  # at the end both functions have reached one: what is left is rounding
                for k in range(n_classes):
                    gap = abs(upto[k] / own[k] - (passed - upto[k]) / rest[k])
                    low[k, j] = max(low[k, j], gap)
            if len(several):
                if several[i]:  # all of the class may come before all of the rest, or after
                    for k in range(n_classes):
                        first = upto[k] / own[k] - (passed_before - before[k]) / rest[k]
                        last = (passed - upto[k]) / rest[k] - before[k] / own[k]
                        high[k, j] = max(high[k, j], first, last)
                for k in range(n_classes):
                    before[k] = upto[k]
                passed_before = passed


@njit(cache=True, nogil=True)
def _most_right(values, order, codes, weight, several, low, high):  # type: ignore[no-untyped-def]
    """Weight of what the best threshold predicts rightly."""
    n, n_classes = values.shape[1], codes.max() + 1
    counts = np.empty(n_classes)
    left = np.empty(n)  # weight of the most frequent class among the first q + 1
    for j in range(len(values)):
        counts[:] = 0.0
        most = 0.0
        for q in range(n):
            i = order[j, q]
            counts[codes[i]] += weight[i]
            most = max(most, counts[codes[i]])
            left[q] = most
        best = most
        counts[:] = 0.0
        most = 0.0
        for q in range(n - 1, 0, -1):
            i = order[j, q]
            counts[codes[i]] += weight[i]
            most = max(most, counts[codes[i]])
            if values[j, order[j, q - 1]] != values[j, i]:
                best = max(best, left[q - 1] + most)
        low[j] = best
        high[j] = best
        if len(several):
            high[j] = max(best, _most_right_inside(values[j], order[j], codes, weight, several))


@njit(cache=True, nogil=True)
def _most_right_inside(
    values: np.ndarray,
    order: np.ndarray,
    codes: np.ndarray,
    weight: np.ndarray,
    several: np.ndarray,
) -> float:
    """The same of thresholds inside groups: one class may lie left of them, another right."""
    n, n_classes = len(values), codes.max() + 1
    own, upto, before = np.zeros(n_classes), np.zeros(n_classes), np.zeros(n_classes)
    for i in range(n):
        own[codes[i]] += weight[i]
    best = 0.0
    for q in range(n):
        i = order[q]
        upto[codes[i]] += weight[i]
        if q + 1 < n and values[order[q + 1]] == values[i]:
            continue
        if several[i]:
            for k in range(n_classes):
                for l in range(n_classes):
                    if k != l:
                        best = max(best, upto[k] + own[l] - before[l])
        for k in range(n_classes):
            before[k] = upto[k]
    return best
