"""The fast way through a grid on a card: all C and all splits of a kernel at once, certified.

It serves what :mod:`tamiz.evaluation.tuning.fast` serves, regressions with ``loss="squared"`` left
out. Where the machines see the same features, all cells of a kernel and all splits share one
matrix; behind a scaler, or where gamma depends on the training samples, those of one split do.
Every machine is solved up to a relative duality gap, which is noted in its cell. Cells whose
matrices do not fit the card are left to the estimator.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from tamiz.evaluation.tuning.cells import Outcome, Plain
from tamiz.evaluation.tuning.fast import Fast, Group, Report
from tamiz.gpu.gram import UnfitForCardError
from tamiz.gpu.lane import Lane
from tamiz.qp.card import CardQ
from tamiz.svm import SVC
from tamiz.svm.multiclass import decide
from tamiz.svm.path.penalties import PathAnswer
from tamiz.svm.path.problem import Doubt, SplitProblems, kernel_of
from tamiz.svm.path.together import Line, Solved, bytes_together, solve_together


class SplitLines(NamedTuple):
    """The machines of one split, and how their values become one answer.

    Attributes
    ----------
    lines : list of Line
        The machines.
    problems : SplitProblems or None
        Of a classifier.
    level : float
        What was taken off the target of a regression.
    """

    lines: list[Line]
    problems: SplitProblems | None
    level: float = 0.0

    def answer(self, values: np.ndarray) -> PathAnswer:
        """What they say together; ``values`` has one column for each machine."""
        if self.problems is None:
            predictions = values[:, 0] + self.level
            return PathAnswer(predictions, predictions, None)
        classes = self.problems.classes
        winner, decisions, _ = decide(values, len(classes), self.problems.scheme)
        return PathAnswer(classes[winner], decisions, classes)


class CardFast(Fast):
    """The cells of a grid that a card solves together, and their computation.

    Parameters
    ----------
    lane : Lane
        The card.
    plain, table, cells
        As in :class:`~tamiz.evaluation.tuning.fast.Fast`.
    gap : float
        Relative duality gap to reach.
    """

    def __init__(
        self, lane: Lane, plain: Plain, table: Any, cells: Sequence[dict[str, Any]], gap: float
    ):
        self.lane, self.gap = lane, gap
        super().__init__(plain, table, cells, np.inf, 1)

    def _keep_what_fits(self, budget: float) -> None:
        self.groups = [group for group in self.groups if self._fits(group)]

    def _fits(self, group: Group) -> bool:
        machine = group.machine
        if not isinstance(machine, SVC) and machine.loss == "squared":
            return False
        count = 1
        if isinstance(machine, SVC):
            classes = len(np.unique(self.plain.y))
            pairs = classes * (classes - 1) // 2
            count = 1 if classes == 2 else pairs if machine.multiclass == "ovo" else classes
        if self._shares(group):
            count *= len(self.plain.splits)
        return self.lane.fits(bytes_together(len(self.table), count))

    def _shares(self, group: Group) -> bool:
        """Whether all splits have the same kernel matrix."""
        return group.scaler is None and not kernel_of(group.machine)._pending

    def run(self, wanted: set[tuple[int, int]], report: Report) -> None:
        every = range(len(self.plain.splits))
        for group in self.groups:
            cells = [cell for _, cell in group.cells]
            splits = [k for k in every if any((cell, k) in wanted for cell in cells)]
            if not splits:
                continue
            if self._shares(group):
                self._together(group, splits, self.table, report)
                continue
            for k in splits:
                train, _ = self.plain.splits[k]
                table = self.table
                if group.scaler is not None:
                    scaled = clone(group.scaler).fit(table[train]).transform(table)
                    table = np.ascontiguousarray(scaled)
                self._together(group, [k], table, report)

    def _together(self, group: Group, splits: list[int], table: Any, report: Report) -> None:
        """All C of a group on splits that share a matrix."""
        setups = {k: self._setup(group.machine, k) for k in splits}
        known = {k: setup for k, setup in setups.items() if setup is not None}
        try:
            Q = self._matrix(group, splits[0], table)
        except (UnfitForCardError, Doubt):
            known = {}
        for k in splits:
            if k not in known:
                for _, cell in group.cells:
                    report(cell, k, self._ask(cell, k))
        if not known:
            return
        penalties = sorted({C for C, _ in group.cells})
        cells = [[cell for one, cell in group.cells if one == C] for C in penalties]
        lines = [line for setup in known.values() for line in setup.lines]
        owner = [k for k, setup in known.items() for _ in setup.lines]
        parts: dict[tuple[int, int], list[Solved]] = {}
        began = time.perf_counter()
        for solved in solve_together(Q, lines, penalties, self.gap):
            k = owner[solved.line]
            machines = parts.setdefault((solved.place, k), [])
            machines.append(solved)
            if len(machines) == len(known[k].lines):
                now = time.perf_counter()
                self._report(cells[solved.place], k, known[k], machines, now - began, report)
                parts.pop((solved.place, k))
                began = now

    def _report(
        self,
        cells: list[int],
        split: int,
        setup: SplitLines,
        machines: list[Solved],
        seconds: float,
        report: Report,
    ) -> None:
        """What the machines of a split and a C say about the samples held out."""
        test = self.plain.splits[split][1]
        values = np.column_stack([one.values[test] for one in machines])
        for cell in cells:
            try:
                score = self._measure(setup.answer(values), test)
                outcome = Outcome(score, seconds, None, max(one.gap for one in machines))
            except Doubt:
                outcome = self._ask(cell, split)
            report(cell, split, outcome)

    def _matrix(self, group: Group, split: int, table: Any) -> CardQ:
        plain, kernel = self.plain, kernel_of(group.machine)
        if kernel._pending:
            train, _ = plain.splits[split]
            own = np.ones(len(train)) if plain.weight is None else plain.weight[train]
            kernel = kernel.resolve(table[train], own)
        Q = CardQ(self.lane, kernel, table, np.float64)
        if Q.gram.whole is None or not np.isfinite(Q.diag()).all():
            raise Doubt
        return Q

    def _setup(self, machine: Any, split: int) -> SplitLines | None:
        """The machines of a split; None if the estimator has something to say about it."""
        plain, n = self.plain, len(self.table)
        train, test = plain.splits[split]
        if not isinstance(machine, SVC):
            return _regression(machine, train, plain.y, plain.weight)
        try:
            problems = SplitProblems(train, test, plain.y, plain.weight, machine)
        except (Doubt, ValueError):
            return None
        boxes = [dual.box(n, 1.0) for dual in problems.duals()]
        return SplitLines([Line(box.p, box.lower, box.upper) for box in boxes], problems)


def _regression(
    machine: Any, train: np.ndarray, y: np.ndarray, weight: np.ndarray | None
) -> SplitLines:
    level = float(y[train].mean())  # the constant takes it, and the digits are kept
    p, upper = np.zeros(len(y)), np.zeros(len(y))
    p[train] = level - y[train]
    upper[train] = 1.0 if weight is None else weight[train]
    scale = float(y[train].std()) or 1.0
    return SplitLines([Line(p, -upper, upper, float(machine.epsilon), scale)], None, level)
