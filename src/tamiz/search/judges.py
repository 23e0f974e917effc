"""Judges: how good is a subset of features?

A judge gives one score for each metric and each split, the higher the better. It knows nothing of
searches; what is remembered, written down and shared among workers is the evaluator's business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring

from tamiz.search.splits import Split


class Judge(ABC):
    """What scores subsets.

    Attributes
    ----------
    metrics : tuple of str
        Names of the scores; the first is the criterion of the search.
    n_splits : int
        Number of scores per metric.
    prefer : {"threads", "processes"}
        What the work is shared among.
    monotone : bool
        Whether a subset never scores less than a part of it.
    """

    metrics: tuple[str, ...] = ("score",)
    n_splits: int = 1
    prefer: str = "threads"
    monotone: bool = False

    @abstractmethod
    def score(self, features: np.ndarray, splits: slice = slice(None)) -> np.ndarray:
        """Scores of a subset, (metrics, splits); ``features`` are ascending positions."""

    def approach(self, features: np.ndarray | None, n_subsets: int = 1) -> None:
        """Be told that so many neighbours of a subset will be asked for; changes no score.

        None tells that the next subsets are neighbours of none.
        """
        return  # most judges have no use for it


class CrossValidation(Judge):
    """Any estimator of scikit-learn, fitted to one part of the samples and judged by the other."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Sequence[Split],
        scoring: Any,
        sample_weight: np.ndarray | None = None,
    ):
        self.estimator = estimator
        self.X = X
        self.y = y
        self.splits = list(splits)
        self.n_splits = len(self.splits)
        self.sample_weight = sample_weight
        self.scorer, self.metrics = make_scorer(estimator, scoring)
        home = type(last_step(estimator)).__module__.partition(".")[0]
        self.prefer = "threads" if home == "tamiz" else "processes"

    def score(self, features: np.ndarray, splits: slice = slice(None)) -> np.ndarray:
        results = [self._one(features, *split) for split in self.splits[splits]]
        return np.array(results, dtype=np.float64).T

    def _one(self, features: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[float]:
        machine = clone(self.estimator)
        weight = None if self.sample_weight is None else self.sample_weight[train]
        arguments = fit_arguments(machine, weight)
        machine.fit(self._part(train, features), self.y[train], **arguments)
        return self.measure(machine, self._part(test, features), test)

    def measure(self, machine: Any, X: Any, test: np.ndarray) -> list[float]:
        """The metrics of a fitted machine on the samples ``test``, whose features are ``X``."""
        weights = {} if self.sample_weight is None else {"sample_weight": self.sample_weight[test]}
        found = self.scorer(machine, X, self.y[test], **weights)
        values = [found[name] for name in self.metrics] if isinstance(found, dict) else [found]
        for name, value in zip(self.metrics, values, strict=True):
            if not np.isfinite(value):
                raise ValueError(
                    f"the metric {name!r} is {value} on a split of {len(test)} samples."
                )
        return [float(value) for value in values]

    def _part(self, rows: np.ndarray, features: np.ndarray) -> Any:
        if isinstance(self.X, np.ndarray):
            return self.X[np.ix_(rows, features)]
        return self.X[rows][:, features]


class Merit(Judge):
    """A criterion that needs no estimator: a function of the chosen columns and the labels."""

    def __init__(self, function: Callable[[np.ndarray], float], name: str):
        self.function = function
        self.metrics = (name,)

    def score(self, features: np.ndarray, splits: slice = slice(None)) -> np.ndarray:
        return np.array([[float(self.function(features))]])


def make_scorer(estimator: Any, scoring: Any) -> tuple[Any, tuple[str, ...]]:
    """The scorer of scikit-learn for one metric or several, and the names of the metrics."""
    several = isinstance(scoring, (list, tuple, set, dict))
    if several and not scoring:
        raise ValueError("scoring names no metric; leave it out to use the estimator's own.")
    scorer = check_scoring(estimator, scoring)
    if several:
        return scorer, tuple(scoring)
    return scorer, (scoring if isinstance(scoring, str) else "score",)


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the last of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def fit_arguments(estimator: Any, sample_weight: np.ndarray | None) -> dict[str, np.ndarray]:
    """How the weights are handed to ``fit``: through a pipeline to its last step."""
    if sample_weight is None:
        return {}
    steps = getattr(estimator, "steps", None)
    name = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
    return {name: sample_weight}
