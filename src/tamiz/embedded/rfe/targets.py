"""What an elimination asks of its target: classes, or numbers.

Which machines there are, how wrong a prediction is, and how the samples are divided into folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from tamiz.svm.last_machine import spread_of
from tamiz.svm.multiclass import Task, decide, tasks
from tamiz.svm.path.problem import TubeTask
from tamiz.validation import Labels, check_class_weight


class PlannedMachines(NamedTuple):
    """The machines of some samples, and the penalty of each sample."""

    plan: Sequence[Task | TubeTask]
    C: np.ndarray


@dataclass
class ClassTarget:
    """Class labels: machines of two classes at a time, the fraction of wrong predictions.

    Parameters
    ----------
    labels : Labels
        Of the samples.
    class_weight : dict, "balanced" or None
        Factors of C by class.
    multiclass : {"ovo", "ovr"}
        Which machines there are.
    """

    labels: Labels
    class_weight: Any
    multiclass: str

    classifier = True

    def part(self, index: np.ndarray) -> ClassTarget:
        """Of some of the samples."""
        return replace(self, labels=self.labels._replace(codes=self.labels.codes[index]))

    @property
    def values(self) -> np.ndarray:
        """An array that stands for the target."""
        return self.labels.codes

    def machines(self, C: float, weight: np.ndarray) -> PlannedMachines:
        """What is to be trained."""
        by_class = check_class_weight(self.class_weight, self.labels, weight)
        plan = list(tasks(self.labels.codes, len(self.labels.classes), self.multiclass))
        return PlannedMachines(plan, C * weight * by_class[self.labels.codes])

    def error(self, values: np.ndarray, weight: np.ndarray) -> float:
        """Fraction of wrong predictions by the values of all machines."""
        winner = decide(values, len(self.labels.classes), self.multiclass).winner
        return float(np.average(winner != self.labels.codes, weights=weight))

    def folds(self, n_splits: int, random_state: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """So many folds, each with its part of every class."""
        counts = np.bincount(self.labels.codes, minlength=len(self.labels.classes))
        scarce = int(counts.argmin())
        if counts[scarce] < n_splits:
            raise ValueError(
                f"cv={n_splits} needs at least {n_splits} samples of every class; class "
                f"{self.labels.classes[scarce].item()!r} has {counts[scarce]}. Use fewer folds, or "
                "a number for n_features_to_select."
            )
        folds = StratifiedKFold(
            n_splits, shuffle=random_state is not None, random_state=random_state
        )
        return list(folds.split(np.empty((len(self.labels.codes), 0)), self.labels.codes))

    def lacks(self, train: np.ndarray) -> str:
        """What a training part has too little of; empty if nothing."""
        kept = np.bincount(self.labels.codes[train], minlength=len(self.labels.classes))
        if kept.all():
            return ""
        lost = self.labels.classes[int(kept.argmin())].item()
        return f"no sample of class {lost!r} for training"


@dataclass
class NumericTarget:
    """Numbers: one machine with an epsilon-insensitive loss, the mean absolute error.

    Parameters
    ----------
    values : array of shape (n,)
        The target.
    epsilon : float
        Half-width of the tube.
    scaled : bool
        Whether C and epsilon are in units of the standard deviation of the target.
    """

    values: np.ndarray
    epsilon: float
    scaled: bool

    classifier = False

    def part(self, index: np.ndarray) -> NumericTarget:
        """Of some of the samples."""
        return replace(self, values=self.values[index])

    def machines(self, C: float, weight: np.ndarray) -> PlannedMachines:
        """What is to be trained."""
        everyone, unit = np.arange(len(self.values)), self.unit(weight)
        task = TubeTask(everyone, self.values, unit * self.epsilon)
        return PlannedMachines([task], unit * C * weight)

    def unit(self, weight: np.ndarray) -> float:
        """What C and epsilon are multiplied by."""
        return spread_of(self.values, weight) if self.scaled else 1.0

    def error(self, values: np.ndarray, weight: np.ndarray) -> float:
        """Mean absolute error of the values of the machine."""
        return float(np.average(np.abs(values[:, 0] - self.values), weights=weight))

    def folds(self, n_splits: int, random_state: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """So many folds."""
        if len(self.values) < n_splits:
            raise ValueError(
                f"cv={n_splits} needs at least {n_splits} samples; there are {len(self.values)}. "
                "Use fewer folds, or a number for n_features_to_select."
            )
        folds = KFold(n_splits, shuffle=random_state is not None, random_state=random_state)
        return list(folds.split(np.empty((len(self.values), 0))))

    def lacks(self, train: np.ndarray) -> str:
        """What a training part has too little of; empty if nothing."""
        return "" if len(train) else "nothing for training"
