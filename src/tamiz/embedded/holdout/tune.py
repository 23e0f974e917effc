"""Model selection before the elimination: C and the kernel's parameters by cross-validation.

Every candidate kernel has one Gram matrix over all samples, of which the folds are parts; along
increasing C each machine starts from the one before. The error is that of the elimination (counts,
costs or balanced); of equal candidates the one named first is taken, so grids should go from the
simplest model to the most complex. The table grows kernel by kernel, each with all its C: a
choice that was interrupted goes on with the next kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from tamiz.embedded.holdout.judges import NumericLoss
from tamiz.kernels import Kernel, as_kernel
from tamiz.qp.matrices import take_block
from tamiz.runtime.progress import Progress
from tamiz.search.splits import Split, TimeFolds, inner_splits
from tamiz.svm.multiclass import decide, tasks
from tamiz.svm.path.penalties import PatientBinary, fit_tube
from tamiz.svm.path.problem import BinaryDual, TubeTask
from tamiz.validation import (
    TOO_LARGE,
    Labels,
    candidate_list,
    far_point,
    integer_from,
    real_number,
    tuning,
)

PAPER_C = (0.1, 0.5, 1, *range(10, 101, 10), 200, 300, 400, 500, 1000)
PAPER_WIDTHS = (100, 20, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0.5, 0.1)  # the widest, smoothest first
PAPER_DEGREES = (2, 3, 4, 5, 6, 7, 8, 9)
FOLDS = 10

#: Which parameters of the kernels given by name there are to choose.
_TAKES = {
    "linear": set(),
    "rbf": {"gamma"},
    "poly": {"gamma", "degree", "coef0"},
    "sigmoid": {"gamma", "coef0"},
}


_CANDIDATES = {
    "C": real_number(above=0),
    "gamma": real_number(above=0, words=("scale", "auto")),
    "degree": integer_from(1),
    "coef0": real_number(),
}
_GRID = (
    "use True for the grids of the paper, or a mapping such as {'C': [1, 10, 100], "
    "'gamma': [0.1, 1]}"
)


CandidateGrid = dict[str, list[Any]]
CandidateTable = list[dict[str, Any]]


def wanted(tune: Any) -> bool:
    """Whether there is anything to choose: an empty grid is an error."""
    return bool(tune) if isinstance(tune, (bool, np.bool_)) else tune is not None


def check_grid(tune: Any, kernel: Any) -> CandidateGrid:
    """The candidates of each parameter: the grids of the paper, or those of a mapping.

    Candidates are returned as Python numbers.
    """
    takes = {"C"} | _TAKES.get(kernel if isinstance(kernel, str) else "", set())
    if isinstance(tune, (bool, np.bool_)) and tune:
        paper: CandidateGrid = {"C": [float(C) for C in PAPER_C]}
        if kernel == "rbf":
            paper["gamma"] = [1.0 / (2.0 * width**2) for width in PAPER_WIDTHS]
        elif kernel == "poly":
            paper["degree"] = list(PAPER_DEGREES)
        return paper
    tuning(advice=_GRID)("tune", tune)
    grid: CandidateGrid = {}
    for name, values in tune.items():
        if name not in takes:
            raise ValueError(
                f"tune names {name!r}, which is not a parameter to choose with kernel={kernel!r}; "
                f"those are {', '.join(sorted(takes))}."
            )
        called = f"tune[{name!r}]"
        listed = candidate_list(called, values)
        if name == "degree":  # 2.0 is as good as 2
            listed = [
                int(v) if isinstance(v, float | np.floating) and v.is_integer() else v
                for v in listed
            ]
        grid[name] = [_CANDIDATES[name](called, value) for value in listed]
    return grid


class Structure(NamedTuple):
    """What samples have in common: groups, or times, or neither.

    Attributes
    ----------
    groups : array of shape (n,) or None
        Which samples belong together.
    moments : array of shape (n,) or None
        Their times, as places among the different times.
    gap : int
        Number of different times before what is judged that are not learned from.
    """

    groups: np.ndarray | None = None
    moments: np.ndarray | None = None
    gap: int = 0

    def arrays(self) -> list[np.ndarray]:
        """All of it, to tell whether that of another run is the same."""
        if self.moments is not None:
            return [np.array("times"), self.moments]
        return [] if self.groups is None else [self.groups]

    def folds(self, target: np.ndarray, classifier: bool, seed: int) -> list[Split] | None:
        """Folds that keep groups together, or follow time; None if samples have neither."""
        cv, along = FOLDS, self.groups
        if self.moments is not None:
            cv, along = TimeFolds(FOLDS, gap=self.gap), self.moments
        if along is None:
            return None
        return inner_splits(cv, np.arange(len(target)), target, FOLDS, classifier, seed, along)


@dataclass
class CandidateChoice(ABC):
    """Cross-validation of all combinations of a grid.

    Attributes
    ----------
    X : array
        Samples.
    grid : mapping
        Candidates by parameter name.
    fixed : mapping
        ``kernel`` and the values of the parameters that are not chosen.
    tol, seed
        As the elimination has them.
    table : list of dict
        The error of every candidate; those found in it are not looked at again.
    """

    X: np.ndarray
    grid: CandidateGrid
    fixed: Mapping[str, Any]
    tol: float
    seed: int
    table: CandidateTable

    @abstractmethod
    def _folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Training and test samples."""

    @abstractmethod
    def _fold_errors(
        self, K: np.ndarray, train: np.ndarray, test: np.ndarray, penalties: list[float]
    ) -> np.ndarray:
        """Cost of the errors of one fold for each C, along C."""

    def run(self, progress: Progress, keep: Callable[[], None]) -> bool:
        """Fill the table; ``keep`` is called whenever it has grown. False if Ctrl-C was pressed."""
        grid, fixed = self.grid, self.fixed
        folds = self._folds()
        penalties = [float(C) for C in grid.get("C", [fixed["C"]])]
        names = [name for name in grid if name != "C"]
        combinations = list(product(*(grid[name] for name in names)))
        try:
            for number in range(len(self.table) // len(penalties), len(combinations)):
                chosen = dict(zip(names, combinations[number], strict=True))
                K = self._gram(chosen)
                total = np.zeros(len(penalties))
                for train, test in folds:
                    progress.update(f"choosing parameters, {number} of {len(combinations)} kernels")
                    total += self._fold_errors(K, train, test, penalties)
                self.table += [
                    {**chosen, "C": C, "error": float(error)}
                    for C, error in zip(penalties, total, strict=True)
                ]
                keep()
        except KeyboardInterrupt:
            return False
        return True

    def _gram(self, chosen: Mapping[str, Any]) -> np.ndarray:
        options = {**{k: self.fixed[k] for k in ("gamma", "degree", "coef0")}, **chosen}
        kernel = as_kernel(self.fixed["kernel"], **options).resolve(self.X)
        centre = far_point(self.X) if kernel.is_linear else None
        with np.errstate(over="ignore", invalid="ignore"):
            K = kernel(self.X if centre is None else self.X - centre)
        if not np.isfinite(K).all():
            raise ValueError(TOO_LARGE)
        return K


@dataclass
class MachineChoice(CandidateChoice):
    """The choice for classes: folds are stratified, errors are counted.

    Attributes
    ----------
    labels : Labels
        Classes.
    by_class : array of shape (n_classes,)
        Factors of C.
    costs : array of shape (n_classes,)
        Cost of an error on a sample of each class.
    scheme : {"ovo", "ovr"}
        As the elimination has it.
    structure : Structure
        Groups that stay in one fold, or times that the folds follow.
    """

    labels: Labels
    by_class: np.ndarray
    costs: np.ndarray
    scheme: str
    structure: Structure

    def _folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        codes = self.labels.codes
        splits = self.structure.folds(codes, True, self.seed)
        if splits is not None:
            n_classes = len(self.labels.classes)
            whole = [(a, b) for a, b in splits if len(np.unique(codes[a])) == n_classes]
            if self.structure.moments is not None:  # the first of them may lack a class
                if not whole:
                    raise ValueError(
                        "tune: no fold in the order of time has every class in what comes before "
                        "it; leave tune out, or the class that comes last."
                    )
                return whole
            if len(whole) < len(splits):
                raise ValueError(
                    "tune: a class has too few groups to be in every training part; leave tune "
                    "out, or that class."
                )
            return splits
        n_folds = min(FOLDS, int(np.bincount(codes).min()))
        if n_folds < 2:  # one sample of a class cannot be in two parts
            raise ValueError("tune needs at least two samples of every class.")
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=self.seed)
        return list(splitter.split(self.X, codes))

    def _fold_errors(
        self, K: np.ndarray, train: np.ndarray, test: np.ndarray, penalties: list[float]
    ) -> np.ndarray:
        """Cost of the errors of one fold for each C, along C."""
        n_classes = len(self.labels.classes)
        codes, truth = self.labels.codes[train], self.labels.codes[test]
        machines = []
        for task in tasks(codes, n_classes, self.scheme):
            factor = self.by_class[codes[task.samples]]
            dual = BinaryDual(train[task.samples], task.signs, factor)
            machines.append(PatientBinary(dual, test, self.tol))
            machines[-1].attach(K)
        errors = np.empty(len(penalties))
        for c in np.argsort(penalties, kind="stable"):
            values = np.column_stack([machine.values(penalties[c]) for machine in machines])
            winner = decide(values, n_classes, self.scheme).winner
            errors[c] = self.costs[truth] @ (winner != truth)
        return errors


@dataclass
class NumericChoice(CandidateChoice):
    """The choice for a numeric target: losses are added up.

    Attributes
    ----------
    target : array
        What is to be predicted.
    epsilon : float
        Half-width of the tube.
    factor : float
        What C is multiplied by.
    loss : NumericLoss
        Of a prediction.
    structure : Structure
        Groups that stay in one fold, or times that the folds follow.
    """

    target: np.ndarray
    epsilon: float
    factor: float
    loss: NumericLoss
    structure: Structure

    def _folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        splits = self.structure.folds(self.target, False, self.seed)
        if splits is not None:
            return splits
        splitter = KFold(min(FOLDS, len(self.target)), shuffle=True, random_state=self.seed)
        return list(splitter.split(self.X))

    def _fold_errors(
        self, K: np.ndarray, train: np.ndarray, test: np.ndarray, penalties: list[float]
    ) -> np.ndarray:
        """Losses of one fold for each C; along C, each from the coefficients before."""
        task = TubeTask(np.arange(len(train)), self.target[train], self.epsilon)
        own, cross = take_block(K, train), K[np.ix_(test, train)]
        errors, coef = np.empty(len(penalties)), None
        for c in np.argsort(penalties, kind="stable"):
            C = np.full(len(train), self.factor * penalties[c])
            coef, intercept, _ = fit_tube(own, task, C, self.tol, coef)
            errors[c] = float(self.loss(cross @ coef + intercept, self.target[test]).sum())
        return errors


def best(table: CandidateTable) -> dict[str, Any]:
    """The parameters with the least error, ties: those named first; empty without a table."""
    if not table:
        return {}
    first = min(table, key=lambda entry: entry["error"])
    return {name: value for name, value in first.items() if name != "error"}


def resolved(kernel: Any, params: Mapping[str, Any], X: np.ndarray) -> Kernel:
    """The kernel object with all its parameters numbers."""
    options = {name: params[name] for name in ("gamma", "degree", "coef0")}
    return as_kernel(kernel, **options).resolve(X)
