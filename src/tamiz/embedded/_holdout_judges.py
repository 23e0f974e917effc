"""Who says how many validation samples are missed, with all features and without each.

The machine of the text is trained once on the training part, and its multipliers and intercept are
kept while a feature is taken out of the kernel. Any other classifier has nothing to keep: it is
fitted anew without the feature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.ensemble._base import _set_random_states

from tamiz._units import Units
from tamiz._validation import TOO_LARGE
from tamiz.embedded._holdout_errors import Split, count_wrong
from tamiz.embedded._holdout_gram import fading_gram
from tamiz.embedded._holdout_machine import train
from tamiz.kernels import Kernel
from tamiz.svm._multiclass import class_scores, tasks

Run = Callable[[Callable[..., Any], list[tuple[Any, ...]]], list[Any]]


class Counts(NamedTuple):
    """Errors by class, summed over the splits of a step."""

    present: np.ndarray  # (n_classes,), with everything that is still in
    without: np.ndarray  # (n_units, n_classes), with each unit taken out


class KernelJudge:
    """Support vector machines on a Gram matrix that follows as features leave.

    Parameters
    ----------
    X : array of shape (n, p)
        Samples.
    units : Units
        What can leave.
    codes : array of shape (n,)
        Classes 0, 1, ...
    n_classes, scheme : int, {"ovo", "ovr"}
        Number of classes, and how more than two are dealt with.
    kernel : Kernel
        All its parameters numbers.
    C : array of shape (n,)
        Price of slack of each sample.
    tol : float
        Tolerance of the solver.
    """

    def __init__(
        self,
        X: np.ndarray,
        units: Units,
        codes: np.ndarray,
        n_classes: int,
        scheme: str,
        kernel: Kernel,
        C: np.ndarray,
        tol: float,
    ):
        self.units = units
        self.first = np.array([features[0] for features in units.members], dtype=np.intp)
        self.grouped = units.sizes > 1
        self.codes = codes
        self.n_classes = n_classes
        self.scheme = scheme
        self.C = C
        self.tol = tol
        with np.errstate(over="ignore", invalid="ignore"):
            self.gram = fading_gram(kernel, X)
            if np.isinf(kernel.bound) and not np.isfinite(self.gram.tracker.K).all():
                raise ValueError(TOO_LARGE)
        self.n_fits = self.n_early = 0

    def remove(self, unit: int) -> None:
        """Take a unit out for good."""
        self.gram.remove(self.units.members[unit].tolist())

    def errors(
        self, splits: Sequence[Split], units: np.ndarray, seeds: Sequence[int], run: Run
    ) -> Counts:
        """Errors with all that is in, and without each of ``units``."""
        self.gram.refresh()
        parts = run(self._errors, [(split, units) for split in splits])
        self.n_fits += sum(part[2] for part in parts)
        self.n_early += sum(part[3] for part in parts)
        return Counts(sum(part[0] for part in parts), sum(part[1] for part in parts))

    def _errors(self, split: Split, units: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, int]:
        present, without, early = [], [], 0
        plan = list(tasks(self.codes[split.train], self.n_classes, self.scheme))
        for task in plan:
            rows = split.train[task.samples]
            # From nothing each time: a new split shares too little with the last one for its
            # multipliers to save work (measured).
            K = self.gram.block(rows)
            coef, intercept, converged = train(K, task.signs, self.C[rows], self.tol)
            early += not converged
            inside = coef.nonzero()[0]
            machine = split.validation, rows[inside], coef[inside]
            present.append(self.gram.values(*machine) + intercept)
            if len(units):
                without.append(self._without(machine, units) + intercept)
        truth = self.codes[split.validation]
        missed = count_wrong(self._classes(present) != truth, split.starts)
        if not len(units):
            return missed, np.empty((0, self.n_classes), dtype=np.int64), len(plan), early
        wrong = count_wrong(self._classes(without) != truth[:, None], split.starts)
        columns = self.gram.place[self.first[units]]
        groups = np.flatnonzero(self.grouped[units])
        columns[groups] = wrong.shape[1] - len(groups) + np.arange(len(groups))
        return missed, wrong[:, columns].T, len(plan), early

    def _without(
        self, machine: tuple[np.ndarray, np.ndarray, np.ndarray], units: np.ndarray
    ) -> np.ndarray:
        """Values without each feature, and behind them without each group."""
        grouped = units[self.grouped[units]]
        if not len(grouped):
            return self.gram.without(*machine)
        columns = [self.gram.without_group(*machine, self.units.members[k]) for k in grouped]
        together = np.stack(columns, axis=1)
        if len(grouped) == len(units):
            return together
        return np.hstack([self.gram.without(*machine), together])

    def _classes(self, decisions: list[np.ndarray]) -> np.ndarray:
        """The class that the values of all machines speak for."""
        if self.n_classes == 2:
            return decisions[0] > 0
        values = np.stack(decisions, axis=-1)
        scores = class_scores(values.reshape(-1, len(decisions)), self.n_classes, self.scheme)
        return scores.argmax(axis=1).reshape(values.shape[:-1])


class RefitJudge:
    """Any classifier, fitted anew without each unit.

    Parameters
    ----------
    X : array of shape (n, p)
        Samples.
    labels : array of shape (n,)
        Class labels as the user gave them.
    units : Units
        What can leave.
    n_classes : int
        Number of classes.
    estimator : classifier
        Cloned for every fit.
    """

    def __init__(
        self, X: np.ndarray, units: Units, labels: np.ndarray, n_classes: int, estimator: Any
    ):
        self.X = X
        self.units = units
        self.labels = labels
        self.n_classes = n_classes
        self.estimator = estimator
        self.active = np.ones(X.shape[1], dtype=bool)
        self.n_fits = self.n_early = 0

    def remove(self, unit: int) -> None:
        """Take a unit out for good."""
        self.active[self.units.members[unit]] = False

    def errors(
        self, splits: Sequence[Split], units: np.ndarray, seeds: Sequence[int], run: Run
    ) -> Counts:
        """Errors with all that is in, and without each of ``units``."""
        nothing = np.array([], dtype=np.intp)
        jobs = [
            (split, features, seed)
            for split, seed in zip(splits, seeds, strict=True)
            for features in (nothing, *(self.units.members[k] for k in units))
        ]
        self.n_fits += len(jobs)
        counts = np.array(run(self._errors, jobs)).reshape(len(splits), -1, self.n_classes)
        total = counts.sum(axis=0)
        return Counts(total[0], total[1:])

    def _errors(self, split: Split, without: np.ndarray, seed: int) -> np.ndarray:
        columns = self.active.copy()
        columns[without] = False
        machine = clone(self.estimator)
        _set_random_states(machine, seed)
        machine.fit(self.X[np.ix_(split.train, columns)], self.labels[split.train])
        guess = machine.predict(self.X[np.ix_(split.validation, columns)])
        return count_wrong(np.asarray(guess != self.labels[split.validation]), split.starts)
