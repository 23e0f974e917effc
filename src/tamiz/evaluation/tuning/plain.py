"""One cell on one split, by the estimator itself: clone, set parameters, fit, score."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.evaluation.resampling import fit_to_the_end, preferred_workers, rows_for
from tamiz.evaluation.tuning.grid import told_apart, with_params
from tamiz.evaluation.tuning.metric import Metric
from tamiz.evaluation.tuning.paths import Doubt
from tamiz.runtime.checkpoint import digest, identity
from tamiz.search.judges import fit_arguments, last_step
from tamiz.search.splits import Split
from tamiz.svm.kernel_machine import KernelMachine


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
            fit_part = self.part(machine, train, train)
            fit_to_the_end(machine, fit_part, self.y[train], **fit_arguments(machine, weight))
            value = self.measure(machine, test, train)
            if np.isnan(value):
                raise ValueError(
                    f"{self.metric.name} is not defined on split {split}; it may hold one class "
                    "only."
                )
        except (MemoryError, KeyboardInterrupt, Doubt):
            raise
        except Exception as error:
            if self.strict:
                raise
            said = f"{type(error).__name__}: {error}"
            return Outcome(np.nan, time.perf_counter() - began, said)
        return Outcome(value, time.perf_counter() - began)

    def measure(self, machine: Any, test: np.ndarray, train: np.ndarray) -> float:
        """The score of a machine that was fitted to one part of the samples on another."""
        held_out = None if self.weight is None else self.weight[test]
        judge_part = self.part(machine, test, train)
        return self.metric.measure(machine, judge_part, self.y[test], held_out)

    def candidate(self, params: Mapping[str, Any]) -> Any:
        """The estimator with the parameters of a cell, not fitted."""
        return with_params(self.estimator, params)

    def refit(self, params: Mapping[str, Any], verbose: bool | int) -> Any:
        """The estimator with these parameters, fitted to all samples."""
        estimator = self.candidate(params)
        machine = last_step(estimator)
        own = getattr(machine, "verbose", None)
        ours = isinstance(machine, KernelMachine) and not own
        if ours:  # a matrix of strings takes its time
            machine.verbose = max(0, int(verbose))
        try:
            estimator.fit(self.X, self.y, **fit_arguments(estimator, self.weight))
        finally:
            if ours:
                machine.verbose = own
        return estimator

    def identity(self, cells: Sequence[Mapping[str, Any]], scoring: Any) -> dict[str, str]:
        """What must agree for scores of an earlier run to be taken up."""
        X = self.X if sparse.issparse(self.X) else np.asarray(self.X)
        data = [X, self.y] if self.weight is None else [X, self.y, self.weight]
        return {
            **identity(self.estimator, *data),
            "method": f"tune {type(self.estimator).__name__}",
            "grid": digest(np.array([repr(told_apart(cell)) for cell in cells])),
            "scoring": repr(scoring),
            "splits": digest(*(part for split in self.splits for part in split)),
        }

    def part(self, machine: Any, rows: np.ndarray, train: np.ndarray) -> Any:
        """The samples of these rows, as the machine takes them."""
        return rows_for(machine, self.X, rows, train)
