"""Greedy walks over subsets: one unit added, or one removed, a round; floating ones also go back.

The plain walk goes first. The floating one then begins at the same place, holding the best subset
of each size met so far, and steps back whenever that gives a better subset of a smaller size (of a
larger one, if it removes). So it ends nowhere worse than the plain walk; and as every step back
improves the best subset of some size, it ends.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamiz.search._records import Record, Records, by_rule, exceeds, first_best, rounding
from tamiz.search.base import Outcome, main_effects
from tamiz.search.evaluator import Evaluator


class Walk:
    """A sequential search.

    Parameters
    ----------
    evaluator : Evaluator
        Judges subsets.
    growing : bool
        Whether units are added; else they are removed.
    target : int or None
        Number of features at which to end.
    limit : int
        Largest number of features that may be selected.
    rule : {"best", "1se"}
        How the size is chosen if there is no target.
    tol : float or None
        Least gain of an addition, or greatest loss of a removal, that counts as progress.
    patience : int or None
        Rounds without progress after which the walk ends.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        growing: bool,
        target: int | None,
        limit: int,
        rule: str,
        tol: float | None,
        patience: int | None,
    ):
        self.evaluator = evaluator
        self.growing = growing
        self.target = target
        self.limit = limit
        self.rule = rule
        self.tol = tol
        self.patience = 1 if patience is None and tol is not None else patience
        self.sizes = evaluator.units.sizes
        self.n_fixed = len(evaluator.units.fixed)
        self.records = Records()  # by number of units
        self.last_round: dict[int, float] = {}  # value of the subset with, or without, each unit
        self._origin = 0
        self._accepted: int | None = None  # number of units at the last progress
        self._mark_to_pass = -np.inf
        self._fruitless = 0

    # ------------------------------------------------------------------ the walks

    def run(self, start: np.ndarray, floating: bool) -> None:
        """Walk from ``start``."""
        self._origin = int(start.sum())
        if self._n_features(start):
            first = Record(start, self._n_features(start), self.evaluator.one(start))
            self.records.offer(self._origin, first)
            self.evaluator.mark("start", start)
            self._count_progress(first)
        self._plain(start)
        if floating and self.records.best:
            self._float(start)

    def _plain(self, current: np.ndarray) -> None:
        while self._fruitless < (self.patience or np.inf):
            step = self._round(current, self.growing)
            if step is None:
                return
            unit, record, self.last_round = step
            current = record.subset
            self.records.offer(int(current.sum()), record)
            self.evaluator.mark(self._verb(self.growing), current, [unit])
            self._count_progress(record)

    def _float(self, start: np.ndarray) -> None:
        end = (max if self.growing else min)(self.records.best)
        back = -1 if self.growing else 1
        current, size = start, self._origin
        while True:
            if size != end:
                step = self._round(current, self.growing)
                if step is None:
                    return
                self._offer(step[0], step[1], self.growing)
                size -= back
                current = self.records.best[size].subset
            improved = False
            while self._may_go_back(size + back):
                step = self._round(current, not self.growing)
                if step is None or not self._offer(step[0], step[1], not self.growing):
                    break
                current, size, improved = step[1].subset, size + back, True
            if size == end and not improved:
                return

    def _may_go_back(self, size: int) -> bool:
        """Whether the floating walk has business with subsets of this size."""
        beyond = size < self._origin if self.growing else size > self._origin
        return not beyond and (size > 0 or self.n_fixed > 0)

    def _offer(self, unit: int, record: Record, growing: bool) -> bool:
        better = self.records.offer(int(record.subset.sum()), record)
        if better:
            why = "better than the best of its size so far"
            self.evaluator.mark(self._verb(growing), record.subset, [unit], why=why)
        return better

    @staticmethod
    def _verb(growing: bool) -> str:
        return "add" if growing else "drop"

    # ------------------------------------------------------------------ one round

    def _round(
        self, current: np.ndarray, growing: bool
    ) -> tuple[int, Record, dict[int, float]] | None:
        """Judge all neighbours on one side: the unit to change, what comes out, all values."""
        units = self._candidates(current, growing)
        if not len(units):
            return None
        n = self._n_features(current)
        doing = "adding to" if growing else "removing from"
        self.evaluator.stage = f"{doing} {n} of {self.evaluator.units.n_features} features"
        subsets = np.repeat(current[None], len(units), axis=0)
        subsets[np.arange(len(units)), units] = growing
        evaluations = self.evaluator.many(list(subsets), near=current)
        k = first_best(evaluations)
        record = Record(subsets[k], self._n_features(subsets[k]), evaluations[k])
        values = [evaluation.value for evaluation in evaluations]
        return int(units[k]), record, dict(zip(units.tolist(), values, strict=True))

    def _candidates(self, current: np.ndarray, growing: bool) -> np.ndarray:
        n = self._n_features(current)
        if growing:
            units = np.flatnonzero(~current)
            if not self.growing:  # going back towards the start, which is the largest
                return units
            room = self.limit if self.target is None else self.target
            return units[n + self.sizes[units] <= room]
        units = np.flatnonzero(current)
        if not self.growing:
            bound = self.limit if self.target is None else self.target
            if self.target is not None and n <= bound:
                return units[:0]
            if not self.n_fixed:  # one unit that may be selected alone has to stay
                small = units[self.sizes[units] <= bound]
                units = units[units != small[0]] if len(small) == 1 else units
            left = n - self.sizes[units]
            if self.target is not None and (left >= bound).any():
                return units[left >= bound]  # do not fall below if that can be helped
        return units[n - self.sizes[units] > 0]

    def _n_features(self, subset: np.ndarray) -> int:
        return self.n_fixed + int(self.sizes[subset].sum())

    # ------------------------------------------------------------------ progress and choice

    def _count_progress(self, record: Record) -> None:
        if self.patience is None or self.target is not None or record.n_features > self.limit:
            return
        value, tol = record.value, self.tol or 0.0
        if self.growing:
            least = self._mark_to_pass + tol
            passed = value >= least - rounding(least) if tol else exceeds(value, least)
            self._mark_to_pass = value if passed else self._mark_to_pass
        else:
            self._mark_to_pass = max(value, self._mark_to_pass)
            least = self._mark_to_pass - tol
            passed = value >= least - rounding(least)
        self._fruitless = 0 if passed else self._fruitless + 1
        if passed:
            self._accepted = int(record.subset.sum())

    def chosen(self) -> Record:
        """The subset to select, by what is known so far."""
        best = self.records.best
        if self.target is not None:
            return best[(max if self.growing else min)(best)]
        if self.tol is not None and self.rule == "best" and self._accepted is not None:
            return best[self._accepted]
        small_enough = self.records.up_to(self.limit)
        return by_rule(small_enough, self.rule) if small_enough else best[min(best)]

    def settle(self, outcome: Outcome) -> None:
        """Hand over what was found; also after an interruption."""
        room = self.limit if self.target is None else self.target
        chosen = self.chosen() if self.records.best else None
        if chosen is None or chosen.n_features > room:  # interrupted before anything would do
            outcome.subset = rescued(self.evaluator, room, exact=self.target is not None)
        else:
            outcome.subset = chosen.subset
        if outcome.subset is not None and chosen is not None:
            outcome.order = self._order(outcome.subset)

    def _order(self, subset: np.ndarray) -> list[int]:
        """Units by the smallest of the best subsets that holds them, the selected ones first."""
        n_units = len(subset)
        first = np.full(n_units, n_units + 1)
        for size in sorted(self.records.best, reverse=True):
            first[self.records.best[size].subset] = size
        sign = -1.0 if self.growing else 1.0  # without a unit that matters J is low
        last = np.array([sign * self.last_round.get(k, 0.0) for k in range(n_units)])
        return np.lexsort([np.arange(n_units), last, first, ~subset]).tolist()

    def curve(self) -> list[dict[str, Any]]:
        """The best subset of each size, with its score."""
        return curve(self.evaluator, self.records)


def curve(evaluator: Evaluator, records: Records) -> list[dict[str, Any]]:
    """Number of features, features, score and standard error of the best subset of each size.

    If an interruption left no round complete, the best of what was judged stands in.
    """
    if not records.best:
        records = Records()
        add_known(evaluator, records)
    return [
        {
            "n_features": record.n_features,
            "features": evaluator.features(record.subset),
            "score": record.value,
            "standard_error": record.evaluation.standard_error,
        }
        for _, record in sorted(records.best.items())
    ]


# ---------------------------------------------------------------------- after an interruption


def add_known(evaluator: Evaluator, records: Records) -> None:
    """Count in what an interruption left unrecorded: judged, but in a batch not yet complete."""
    for subset, evaluation in evaluator.known():
        n_features = len(evaluator.features(subset))
        records.offer(n_features, Record(subset, n_features, evaluation))


def rescued(evaluator: Evaluator, room: int, *, exact: bool) -> np.ndarray | None:
    """What to select after an interruption, with ``room`` features at most.

    Of the subsets judged the best of the largest size if the number has to be met, else the best
    of all; if all are larger, the best of the smallest size is cut. None if nothing was judged.
    """
    records = Records()
    add_known(evaluator, records)
    small = [record for record in records.up_to(room) if record.n_features]
    if small:
        return (small[-1] if exact else by_rule(small, "best")).subset
    if not records.best:
        return None
    return cut(evaluator, records.best[min(records.best)].subset, room)


def cut(evaluator: Evaluator, subset: np.ndarray, room: int) -> np.ndarray:
    """A part of a subset with no more than ``room`` features; it has not been judged.

    The units that go first are those with the least mean J of the subsets with them over that of
    the subsets without them, of equals the last.
    """
    sizes, n = evaluator.units.sizes, len(evaluator.features(subset))
    effects = main_effects(evaluator)
    worst_first = sorted(np.flatnonzero(subset).tolist(), key=lambda k: (effects[k], -k))
    if not len(evaluator.units.fixed):  # something that fits has to stay
        stays = next((k for k in reversed(worst_first) if sizes[k] <= room), None)
        worst_first = [k for k in worst_first if k != stays]
    part = subset.copy()
    for k in worst_first:
        if n <= room:
            break
        part[k] = False
        n -= int(sizes[k])
    return part


def warn_unjudged(
    method: str, evaluator: Evaluator, subset: np.ndarray | None, room: int, stacklevel: int
) -> None:
    """Say that an interrupted search selects a subset that it had to cut, and did not judge."""
    if subset is None or evaluator.is_known(subset):
        return
    n = len(evaluator.features(subset))
    warnings.warn(
        f"{method}: no subset with {room} features or fewer had been judged when the search was "
        f"cut short; the {n} selected are a part of a larger subset, and their score is not known.",
        ConvergenceWarning,
        stacklevel=stacklevel + 1,
    )
