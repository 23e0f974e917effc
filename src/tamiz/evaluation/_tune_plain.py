"""One cell on one split, by the estimator itself: clone, set parameters, fit, score."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamiz.evaluation._resamples import rows_for
from tamiz.evaluation._tune_grid import with_params
from tamiz.evaluation._tune_metric import Metric
from tamiz.evaluation._workers import fit_to_the_end, preferred_workers
from tamiz.search.judges import fit_arguments
from tamiz.search.splits import Split


class Outcome(NamedTuple):
    """The score of a cell on a split, or why there is none."""

    score: float  # NaN if the estimator failed
    seconds: float
    failure: str | None = None


class Plain:
    """Any estimator on any table that it takes.

    Parameters
    ----------
    estimator : estimator
        Not fitted; it is cloned for every fit.
    X, y : table, array
        Samples and target.
    weight : array or None
        Sample weights, for fitting and for the metric.
    splits : list of pairs of arrays
        Positions of the samples to learn from and to judge by.
    metric : Metric
        What is measured.
    strict : bool
        Whether a failure is raised, or told in words.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        splits: Sequence[Split],
        metric: Metric,
        strict: bool = False,
    ):
        self.estimator = estimator
        self.X, self.y, self.weight = X, y, weight
        self.splits = list(splits)
        self.metric = metric
        self.strict = strict
        self.prefer = preferred_workers(estimator)

    def score(self, params: Mapping[str, Any], split: int) -> Outcome:
        """Fit and measure; a failure is told in words, unless ``strict``."""
        train, test = self.splits[split]
        began = time.perf_counter()
        try:
            machine = self.candidate(params)
            weight = None if self.weight is None else self.weight[train]
            fit_part = rows_for(machine, self.X, train, train)
            fit_to_the_end(machine, fit_part, self.y[train], **fit_arguments(machine, weight))
            held_out = None if self.weight is None else self.weight[test]
            judge_part = rows_for(machine, self.X, test, train)
            value = self.metric.measure(machine, judge_part, self.y[test], held_out)
            if np.isnan(value):
                raise ValueError(
                    f"{self.metric.name} is not defined on split {split}; it may hold one class "
                    "only."
                )
        except (MemoryError, KeyboardInterrupt):
            raise
        except Exception as error:
            if self.strict:
                raise
            said = f"{type(error).__name__}: {error}"
            return Outcome(np.nan, time.perf_counter() - began, said)
        return Outcome(value, time.perf_counter() - began)

    def candidate(self, params: Mapping[str, Any]) -> Any:
        """The estimator with the parameters of a cell, not fitted."""
        return with_params(self.estimator, params)
