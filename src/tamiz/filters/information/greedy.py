"""Greedy search: one feature after the other, and what it keeps when it is interrupted.

A greedy filter adds, one at a time, the feature with the greatest value of a criterion that depends
on those already added. What differs between the methods is the :class:`Criterion`: how its values
change when a feature is added. Features that have been added are removed from its arrays from time
to time, so that a full ranking costs half of what it seems to.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamiz.base import PathStep, order_by
from tamiz.filters.base import warn_of_nothing
from tamiz.information.codes import DiscreteColumns
from tamiz.runtime.progress import Progress
from tamiz.validation import depth_of_caller

#: Fraction of the features still in play at which the others are removed from memory.
COMPACT = 0.7


def tiers(codes: DiscreteColumns) -> np.ndarray:
    """0 for features of several levels, 1 for those with one level left, 2 for constants.

    What does not vary shares nothing with other features, and a criterion that minds redundancy
    would take it for better than what does.
    """
    return np.where(codes.n_levels > 1, 0.0, np.where(codes.varies, 1.0, 2.0))


class Criterion(ABC):
    """The values of a greedy criterion for the features that may still be added.

    Attributes
    ----------
    features : array
        The features, ascending.
    relevance : array
        Value of each before any has been added; breaks ties later on.
    tier : array
        Features of a lower tier are added before all others.
    """

    features: np.ndarray
    relevance: np.ndarray
    tier: np.ndarray

    @abstractmethod
    def values(self) -> np.ndarray:
        """Current value of each of ``features``."""

    @abstractmethod
    def add(self, k: int) -> None:
        """Take note that ``features[k]`` has been added."""

    def several(self, alive: np.ndarray, n_steps: int) -> list[tuple[int, float]] | None:
        """Add up to ``n_steps`` features at once, if there is a fast way; else None.

        ``alive`` marks those that may be added. Returns their places and values, and clears their
        marks.
        """
        return None

    @abstractmethod
    def keep(self, which: np.ndarray) -> None:
        """Forget all features but ``features[which]``."""


class CountedCriterion(Criterion):
    """A criterion on discrete columns; a subclass lists the arrays that go with the features."""

    _arrays: tuple[str, ...] = ("features", "relevance")

    def __init__(self, codes: Any):
        self.codes = codes
        self.features = np.arange(codes.n_features)
        self.relevance = codes.relevance()
        self.tier = tiers(codes)

    def keep(self, which: np.ndarray) -> None:
        self.codes = self.codes.take(which)
        for name in ("tier", *self._arrays):
            setattr(self, name, getattr(self, name)[which])


class GreedySearch(NamedTuple):
    """What a greedy search found."""

    order: np.ndarray  # all features: in the order of addition, then by their last value
    scores: np.ndarray  # value of each feature when it was added, or at the end
    n_added: int
    path: list[PathStep]
    status: str = "finished"  # or "interrupted"

    def warn_if_interrupted(self, selector: Any, n_steps: int) -> None:
        """Say that Ctrl-C ended the search, and with what."""
        if self.status == "interrupted":
            warnings.warn(
                f"{type(selector).__name__}: interrupted after {self.n_added:,} of {n_steps:,} "
                "features; those not added are ranked by what they would have been worth next.",
                ConvergenceWarning,
                stacklevel=depth_of_caller(),
            )


def greedy(
    criterion: Criterion,
    n_steps: int,
    *,
    proceed: Callable[[int, int, float], bool] | None = None,
    verbose: bool | int = 0,
) -> GreedySearch:
    """Add ``n_steps`` features, or as many as ``proceed`` allows.

    It is called as ``proceed(n_added, k, value)`` before ``criterion.features[k]`` is added. The
    first is always added. Features of a lower tier come first; ties go to the greater relevance,
    then to the first column. Ctrl-C ends the search with the features added until then, unless
    there are none.
    """
    n_features = len(criterion.features)
    state = _Added(np.ones(n_features, dtype=bool), [], [], np.empty(n_features))
    status = "finished"
    with Progress("selecting", verbose) as progress:
        try:
            while len(state.features) < n_steps:
                state, going = _step(criterion, state, n_steps, proceed)
                if not going:
                    break
                progress.update(f"{len(state.features):,} of {n_steps:,} features")
        except KeyboardInterrupt:
            if not state.features:
                raise
            status = "interrupted" if len(state.features) < n_steps else status
            still = np.isin(criterion.features, state.features, invert=True)
            state = state._replace(alive=still)  # some may have been removed from memory just now
    alive, added, path, scores = state
    if len(added) == n_features:
        return GreedySearch(np.array(added), scores, len(added), path, status)
    rest, values = criterion.features[alive], criterion.values()[alive]
    scores[rest] = values
    order = order_by(-criterion.tier[alive], values, criterion.relevance[alive])
    order = np.concatenate([added, rest[order]]).astype(np.intp)
    return GreedySearch(order, scores, len(added), path, status)


class _Added(NamedTuple):
    """How far a greedy search is."""

    alive: np.ndarray  # which of the criterion's features have not been added
    features: list[int]
    path: list[PathStep]
    scores: np.ndarray  # of all features


def _step(
    criterion: Criterion,
    state: _Added,
    n_steps: int,
    proceed: Callable[[int, int, float], bool] | None,
) -> tuple[_Added, bool]:
    """Add one feature, or several at once; False if ``proceed`` says no."""
    alive, added, path, scores = state
    left = len(scores) - len(added)
    if left < COMPACT * len(alive):
        criterion.keep(np.flatnonzero(alive))
        alive = np.ones(left, dtype=bool)
    open_ = alive & (criterion.tier == criterion.tier[alive].min())
    most = min(n_steps - len(added), int(np.count_nonzero(open_)))
    limit = min(most, 1 + int((1 - COMPACT) * left))
    steps = criterion.several(open_, limit) if proceed is None else None
    if steps is None:
        k, value = _best(criterion, open_)
        if proceed is not None and added and not proceed(len(added), k, value):
            return state._replace(alive=alive), False
        steps = [(k, value)]
        if left > 1:
            criterion.add(k)
    for k, value in steps:
        alive[k] = False
        feature = int(criterion.features[k])
        added.append(feature)
        scores[feature] = value
        path.append(PathStep("add", (feature,), len(added), value))
    return state._replace(alive=alive), True


def _best(criterion: Criterion, alive: np.ndarray) -> tuple[int, float]:
    """The feature to add next, and its value."""
    values = np.where(alive, criterion.values(), -np.inf)
    best = values.max()
    ties = np.flatnonzero(values == best)
    return int(ties[np.argmax(criterion.relevance[ties])]), float(best)


def warn_of_no_gain(selector: Any, relevance: np.ndarray, found: GreedySearch) -> None:
    """Warn if no feature tells anything, alone or in the company of those added."""
    best = max((step.value or 0.0 for step in found.path), default=0.0)
    if max(best, float(relevance.max())) <= 0.0:
        warn_of_nothing(selector, "its information with the class is 0 for every feature")
