"""What a hold-out elimination asks of its target: classes, or numbers.

How many samples are held out, what an error costs, who judges, and how the machine is chosen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tamiz.embedded.holdout.judges import (
    GroupedSplits,
    KernelJudge,
    NumericJudge,
    NumericLoss,
    RefitJudge,
    TimedSplits,
    error_costs,
    numeric_counts,
    validation_counts,
)
from tamiz.embedded.holdout.tune import (
    CandidateChoice,
    CandidateGrid,
    CandidateTable,
    MachineChoice,
    NumericChoice,
    Structure,
)
from tamiz.kernels import Kernel
from tamiz.routing import Routes
from tamiz.validation import Labels, Units, check_class_weight


class HeldOutTarget(ABC):
    """The target of an elimination.

    Attributes
    ----------
    values : array of shape (n,)
        What stands for it: codes of the classes, or the numbers.
    by_class : list of arrays
        Samples that are divided in proportion.
    held_out : array
        How many of each are held out.
    costs : array
        Cost of an error on a sample of each, or factor of the losses.
    unit : float
        Size of the costs: those that differ by a tiny part of it are equal.
    fraction : float
        How much is held out.
    structure : Structure
        The groups or the times of the samples.
    """

    values: np.ndarray
    by_class: list[np.ndarray]
    held_out: np.ndarray
    costs: np.ndarray
    unit: float
    fraction: float
    structure: Structure = Structure()

    def splits(self, names: list[Any] | None) -> GroupedSplits | TimedSplits | None:
        """What draws the splits where samples have groups or times; refused if they are too few."""
        groups, moments, gap = self.structure
        if moments is not None:
            return TimedSplits(moments, self.by_class, self.held_out, names, gap)
        if groups is None:
            return None
        return GroupedSplits(groups, self.by_class, self.held_out, self.fraction, names)

    @abstractmethod
    def choice(
        self,
        X: np.ndarray,
        grid: CandidateGrid,
        fixed: Mapping[str, Any],
        seed: int,
        table: CandidateTable,
    ) -> CandidateChoice:
        """How C and the parameters of the kernel are chosen."""

    @abstractmethod
    def judge(self, X: np.ndarray, units: Units, kernel: Kernel, C: float) -> Callable[[], Any]:
        """What makes the judge: here, and on every worker of a cluster."""

    @abstractmethod
    def refit_judge(
        self, X: np.ndarray, units: Units, estimator: Any, routes: Routes | None = None
    ) -> Callable[[], RefitJudge]:
        """What makes the judge with an estimator of its own, which gets what it asked for."""


@dataclass
class HeldOutClasses(HeldOutTarget):
    """Classes: errors are counted, by class.

    Parameters
    ----------
    labels : Labels
        Of the samples.
    fraction : float
        How much of every class is held out.
    own_costs, balanced, class_weight, scheme, tol
        Parameters of the selector.
    """

    labels: Labels
    fraction: float
    own_costs: Any
    balanced: bool
    class_weight: Any
    scheme: str
    tol: float

    unit = 1.0

    def __post_init__(self) -> None:
        codes = self.values = self.labels.codes
        self.by_class = [np.flatnonzero(codes == k) for k in range(len(self.labels.classes))]
        self.held_out = validation_counts(self.labels, self.fraction)
        self.costs = error_costs(self.own_costs, self.balanced, self.labels, self.held_out)

    def choice(
        self,
        X: np.ndarray,
        grid: CandidateGrid,
        fixed: Mapping[str, Any],
        seed: int,
        table: CandidateTable,
    ) -> CandidateChoice:
        labels = self.labels
        counts = np.bincount(labels.codes)
        return MachineChoice(
            X,
            grid,
            fixed,
            self.tol,
            seed,
            table,
            labels,
            check_class_weight(self.class_weight, labels),
            error_costs(self.own_costs, self.balanced, labels, counts),
            self.scheme,
            self.structure,
        )

    def judge(self, X: np.ndarray, units: Units, kernel: Kernel, C: float) -> Callable[[], Any]:
        codes, n_classes = self.labels.codes, len(self.labels.classes)
        penalties = C * check_class_weight(self.class_weight, self.labels)[codes]
        return partial(
            KernelJudge, X, units, codes, n_classes, self.scheme, kernel, penalties, self.tol
        )

    def refit_judge(
        self, X: np.ndarray, units: Units, estimator: Any, routes: Routes | None = None
    ) -> Callable[[], RefitJudge]:
        names = self.labels.classes[self.labels.codes]
        n_classes = len(self.labels.classes)
        return partial(RefitJudge, X, units, names, n_classes, estimator, routes=routes)


@dataclass
class HeldOutNumbers(HeldOutTarget):
    """Numbers: the mean loss of the predictions.

    Parameters
    ----------
    values : array of shape (n,)
        The target.
    fraction : float
        How much is held out.
    epsilon : float
        Half-width of the tube.
    factor : float
        What C is multiplied by.
    loss : {"absolute", "squared", "epsilon_insensitive"}
        Of a prediction.
    tol : float
        Tolerance of the solver.
    """

    values: np.ndarray
    fraction: float
    epsilon: float
    factor: float
    loss: str
    tol: float

    def __post_init__(self) -> None:
        self.by_class = [np.arange(len(self.values))]
        self.held_out = numeric_counts(self.values, self.fraction)
        self.costs = 1.0 / self.held_out
        self.measure = NumericLoss(self.loss, self.epsilon)
        self.unit = self.measure.unit(self.values)

    def choice(
        self,
        X: np.ndarray,
        grid: CandidateGrid,
        fixed: Mapping[str, Any],
        seed: int,
        table: CandidateTable,
    ) -> CandidateChoice:
        own = self.values, self.epsilon, self.factor, self.measure
        return NumericChoice(X, grid, fixed, self.tol, seed, table, *own, self.structure)

    def judge(self, X: np.ndarray, units: Units, kernel: Kernel, C: float) -> Callable[[], Any]:
        penalties = np.full(len(self.values), self.factor * C)
        machine = self.values, kernel, penalties, self.epsilon, self.tol, self.measure
        return partial(NumericJudge, X, units, *machine)

    def refit_judge(
        self, X: np.ndarray, units: Units, estimator: Any, routes: Routes | None = None
    ) -> Callable[[], RefitJudge]:
        return partial(RefitJudge, X, units, self.values, 1, estimator, self.measure, routes)
