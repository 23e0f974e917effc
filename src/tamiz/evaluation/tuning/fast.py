"""The fast way through a grid of support vector machines.

What a grid repeats is done once: squared distances or inner products serve all kernels of the grid,
a kernel matrix serves all splits and all C (all C of one split, if the features are scaled inside
it), and along C every machine starts from the one before. Splits are shared among threads.

It serves ``tamiz.svm.SVC`` and ``SVR`` with a linear, polynomial or radial kernel, alone or behind
a ``StandardScaler`` or ``MinMaxScaler`` with default parameters, on dense numbers without missing
values.
Everything else, and whatever does not converge, is left to the estimator itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone

from tamiz.evaluation.tuning.cells import Outcome, Plain
from tamiz.qp.matrices import SMALL_GRAM_BYTES
from tamiz.runtime.threads import limit_threads
from tamiz.search.judges import Predicted, PredictedNumbers
from tamiz.svm import SVC, SVR
from tamiz.svm.path.gram import GridGrams
from tamiz.svm.path.penalties import (
    ClassifierPath,
    PathAnswer,
    PenaltyPath,
    RegressorPath,
    TooCoarse,
)
from tamiz.svm.path.problem import (
    Doubt,
    has_usual_sizes,
    keeps_digits,
    kernel_of,
    machine_and_scaler,
    served_kernel,
)

_PATHS: dict[type, type[PenaltyPath]] = {SVC: ClassifierPath, SVR: RegressorPath}
#: Parameters that do not change the machine, or that tell cells of a group apart.
ASIDE = {"C", "kernel", "gamma", "degree", "coef0", "verbose", "cache_mb", "device"}

Report = Callable[[int, int, Outcome], None]


@dataclass
class Group:
    """Cells that differ in C only.

    Attributes
    ----------
    machine : SVC or SVR
        With the parameters that they share.
    scaler : estimator or None
        The step before it, if there is one.
    cells : list of (C, cell)
        Ascending.
    """

    machine: Any
    scaler: Any
    cells: list[tuple[float, int]] = field(default_factory=list)


class Fast:
    """The cells of a grid that can be computed the fast way, and their computation.

    Parameters
    ----------
    plain : Plain
        The estimator and the data; what is in doubt is left to it.
    table : array or None
        The samples as numbers; None if they are not a dense table of them.
    cells : list of dict
        Parameters of every cell.
    memory_mb : float
        Bound on the memory for matrices, in MiB.
    workers : int
        Number of threads; fewer are used where matrices for all would not fit.
    """

    def __init__(
        self,
        plain: Plain,
        table: Any,
        cells: Sequence[dict[str, Any]],
        memory_mb: float,
        workers: int,
    ):
        self.plain = plain
        self.cells = list(cells)
        self.workers = workers
        self.groups: list[Group] = []
        self.stopped = False
        self.clear_line: Callable[[], None] = lambda: None  # for whoever shows progress
        self.table = np.empty((0, 0)) if table is None else table
        if self._is_possible():
            self._collect()
            self._keep_what_fits(memory_mb * 2**20)

    @property
    def served(self) -> set[int]:
        """Positions of the cells that are computed here."""
        return {cell for group in self.groups for _, cell in group.cells}

    # ------------------------------------------------------------------ what can be done

    def _is_possible(self) -> bool:
        plain = self.plain
        X = self.table
        if get_config().get("enable_metadata_routing") or not plain.metric.stands_in:
            return False
        if not X.size:
            return False
        if plain.weight is not None and not (plain.weight > 0).all():
            return False
        if any(len(np.unique(train)) < len(train) for train, _ in plain.splits):
            return False
        return has_usual_sizes(X)

    def _collect(self) -> None:
        groups: dict[str, Group] = {}
        for number, params in enumerate(self.cells):
            try:
                machine, scaler = machine_and_scaler(self.plain.candidate(params), _PATHS)
            except (TypeError, ValueError):
                continue  # the estimator raises its own error
            if machine is None or not is_steady(machine):
                continue
            kernel = served_kernel(machine)
            if kernel is None or (scaler is None and not keeps_digits(kernel, self.table)):
                continue
            others = {k: v for k, v in machine.get_params().items() if k not in ASIDE}
            key = repr((type(machine), type(scaler), kernel, sorted(others.items(), key=str)))
            group = groups.setdefault(key, Group(machine, scaler))
            group.cells.append((float(machine.C), number))
        self.groups = list(groups.values())
        for group in self.groups:
            group.cells.sort()

    def _keep_what_fits(self, budget: float) -> None:
        """Leave out what would take too much memory; use fewer threads where that helps."""
        n = len(self.table)
        double = any(self._itemsize(group, C) == 8 for group in self.groups for C, _ in group.cells)
        entry = n**2 * (8 if double else 4)
        inside = any(group.scaler is not None or _is_word(group) for group in self.groups)
        shared = 0 if inside else 4 * entry  # distances, inner products, kernel in two types
        each = 4 * entry if inside else entry  # of a thread; what it copies included
        fits = int((budget - shared) // each) if n else 1
        if fits < 1:
            self.groups = []
        self.workers = max(1, min(self.workers, fits))

    def _itemsize(self, group: Group, C: float) -> int:
        """Of the kernel values with which the estimator would work."""
        kernel, tol = kernel_of(group.machine), group.machine.tol
        n = max(len(train) for train, _ in self.plain.splits)
        if not kernel.unit_bounded or 8 * n**2 <= SMALL_GRAM_BYTES:
            return 8
        return 8 if min(tol, 10.0 * tol / (C + 1e-300)) < 1e-4 else 4

    # ------------------------------------------------------------------ doing it

    def run(self, wanted: set[tuple[int, int]], report: Report) -> None:
        """Work out the cells and splits that are wanted; ``report`` gets each outcome.

        It is called in this thread only. KeyboardInterrupt comes through, after what was under way
        has been reported.
        """
        single = any(self._itemsize(g, C) == 4 for g in self.groups for C, _ in g.cells)
        double = any(self._itemsize(g, C) == 8 for g in self.groups for C, _ in g.cells)
        kept_single = single and not double
        shared = [group for group in self.groups if group.scaler is None]
        base = GridGrams(self.table, kept_single)
        for group in shared:
            self._run_shared(group, base, wanted, report)
        del base
        scaled = [group for group in self.groups if group.scaler is not None]
        kinds = {type(group.scaler): group.scaler for group in scaled}
        for kind, scaler in kinds.items():
            own = [group for group in scaled if type(group.scaler) is kind]
            jobs = [
                (self._run_split, own, scaler, split, kept_single, wanted)
                for split in range(len(self.plain.splits))
                if any((cell, split) in wanted for group in own for _, cell in group.cells)
            ]
            self._share(jobs, report)

    def _run_shared(
        self, group: Group, base: GridGrams, wanted: set[tuple[int, int]], report: Report
    ) -> None:
        """All splits of a group, whose machines see the same features."""
        splits = [
            k
            for k in range(len(self.plain.splits))
            if any((cell, k) in wanted for _, cell in group.cells)
        ]
        if not splits:
            return
        kernel = kernel_of(group.machine)
        base.prepare(kernel)
        grams = SharedGrams(base, None if kernel._pending else kernel)
        if not kernel._pending and kernel.unit_bounded:  # here, where all threads can share it
            grams.get(kernel, self._itemsize(group, group.cells[0][0]))
        self._share([(self._path, group, k, self.table, grams) for k in splits], report)

    def _run_split(
        self,
        groups: list[Group],
        scaler: Any,
        split: int,
        single: bool,
        wanted: set[tuple[int, int]],
    ) -> list[tuple[int, int, Outcome]]:
        """All groups on one split, whose training part says how the features are scaled."""
        train, _ = self.plain.splits[split]
        table = np.ascontiguousarray(clone(scaler).fit(self.table[train]).transform(self.table))
        base = GridGrams(table, single)
        found: list[tuple[int, int, Outcome]] = []
        for group in groups:
            if any((cell, split) in wanted for _, cell in group.cells):
                found += self._path(group, split, table, SharedGrams(base, None))
            if self.stopped:
                break
        return found

    def _path(
        self, group: Group, split: int, table: Any, grams: SharedGrams
    ) -> list[tuple[int, int, Outcome]]:
        """One group on one split, along C."""
        plain = self.plain
        train, test = plain.splits[split]
        found: list[tuple[int, int, Outcome]] = []
        try:
            path = _PATHS[type(group.machine)](group.machine, train, test, plain.y, plain.weight)
            kernel = kernel_of(group.machine)
            if kernel._pending:
                kernel = kernel.resolve(table[train], path.weight)
        except (Doubt, ValueError):
            path = None
        itemsize, previous = 0, None
        for C, cell in group.cells:
            if self.stopped:
                break
            if previous is not None and previous[0] == C:  # cells with the same parameters
                found.append((cell, split, previous[1]))
                continue
            began = time.perf_counter()
            try:
                if path is None:
                    raise Doubt
                needed = self._itemsize(group, path.largest(C))
                while True:
                    if needed > itemsize:
                        itemsize = needed
                        path.attach(grams.get(kernel, itemsize))
                    try:
                        score = self._measure(path.answer(C), test)
                        break
                    except TooCoarse:
                        needed = 8
                outcome = Outcome(score, time.perf_counter() - began)
            except Doubt:
                outcome = self._ask(cell, split)
            found.append((cell, split, outcome))
            previous = C, outcome
        return found

    def _ask(self, cell: int, split: int) -> Outcome:
        """What the estimator itself says, where there is a doubt."""
        return self.plain.score(self.cells[cell], split)

    def _measure(self, answer: PathAnswer, test: np.ndarray) -> float:
        plain = self.plain
        truth = plain.y[test]
        weight = None if plain.weight is None else plain.weight[test]
        if plain.metric.plain_accuracy:
            return float(np.average(answer.predictions == truth, weights=weight))
        answers: Any = PredictedNumbers(answer.predictions)
        if answer.classes is not None:
            answers = Predicted(answer.classes, answer.predictions, answer.decisions)
        try:
            score = plain.metric.measure(answers, np.arange(len(test))[:, None], truth, weight)
        except Exception:
            raise Doubt from None
        if np.isnan(score) or (answers.asked and answer.ranks_in_doubt):
            raise Doubt
        return score

    # ------------------------------------------------------------------ threads

    def _share(self, jobs: list[tuple[Any, ...]], report: Report) -> None:
        """Run jobs in this thread, or in several; report what they find as they end."""
        if self.workers == 1 or len(jobs) == 1:
            for function, *arguments in jobs:
                for item in function(*arguments):
                    report(*item)
            return
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="tamiz-tune")
        pending: set[Future[Any]] = set()
        try:
            pending = {pool.submit(_alone, *job) for job in jobs}
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    for item in future.result():
                        report(*item)
        except BaseException:
            self.stopped = True
            for future in pending:
                future.cancel()
            raise
        finally:
            pool.shutdown(wait=True)


class SharedGrams:
    """Kernel matrices: one kept for all splits if the kernel is the same, else made when asked."""

    def __init__(self, base: GridGrams, kept: Any):
        self.base = base
        self.kept = kept
        self.matrices: dict[int, np.ndarray] = {}
        self.lock = threading.Lock()

    def get(self, kernel: Any, itemsize: int) -> np.ndarray:
        if self.kept is None:
            return self._make(kernel, itemsize)
        with self.lock:
            if itemsize not in self.matrices:
                self.matrices[itemsize] = self._make(kernel, itemsize)
            return self.matrices[itemsize]

    def _make(self, kernel: Any, itemsize: int) -> np.ndarray:
        K = self.base.gram(kernel, np.float32 if itemsize == 4 else np.float64)
        if np.isinf(kernel.bound) and not np.isfinite(K.diagonal()).all():
            raise Doubt
        return K


def _alone(function: Callable[..., Any], *arguments: Any) -> Any:
    with limit_threads(1):
        return function(*arguments)


def _is_word(group: Group) -> bool:
    return bool(kernel_of(group.machine)._pending)


def is_steady(machine: Any) -> bool:
    """Whether the machine goes on to the solution, from wherever it starts."""
    return machine.max_iter < 0 and not machine.warm_start and machine.solver in ("auto", "smo")
