"""The elimination itself: which units go when, what is recorded, what a checkpoint holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tamiz.base import PathStep
from tamiz.embedded.rfe.machines import Machines
from tamiz.runtime.progress import Progress
from tamiz.runtime.units import Units, number_to_drop


class Elimination:
    """Units leave, the least first, until one is left (none, if other features are fixed).

    Parameters
    ----------
    machines : Machines
        What is trained, and tells the criterion of each unit.
    units : Units
        What can be dropped.
    step : int, float or "half"
        How many leave at a time: a number, a share of those in play, or half of them.
    n_wanted : int
        Number of features at which the machines are kept in ``wanted``.

    Attributes
    ----------
    gone, values, objectives : arrays
        Units in the order in which they left, the criterion of each, and the objective of the
        machines before they left; the first ``n_gone`` entries count.
    ends : list of int
        How many had left after each step.
    wanted : array or None
        Dual variables of the machines once no more than ``n_wanted`` features were in play.
    slopes : array or None
        Gradients of their problems at that moment.
    n_kept : int
        Number of units in play then.
    """

    def __init__(self, machines: Machines, units: Units, step: Any, n_wanted: int):
        self.machines = machines
        self.units = units
        self.step = step
        self.n_wanted = n_wanted
        self.gone = np.empty(len(units.members), dtype=np.intp)
        self.values = np.empty(len(units.members))
        self.objectives = np.empty(len(units.members))
        self.n_gone = 0
        self.ends: list[int] = []
        self.wanted: np.ndarray | None = None
        self.slopes: np.ndarray | None = None
        self.n_kept = len(units.members)
        self.n_features = units.n_features
        self.sizes = units.sizes
        self.least = 0 if len(units.fixed) else 1

    # ------------------------------------------------------------------ running

    def run(
        self,
        progress: Progress,
        save: Callable[[dict[str, Any]], None] | None = None,
        visit: Callable[[int], None] | None = None,
        state: dict[str, np.ndarray] | None = None,
    ) -> None:
        """Eliminate to the end.

        ``save`` is handed the state after each step, ``visit`` the number of units in play before
        the first step and after each; ``state`` is one that ``save`` was handed earlier.
        """
        self._begin(state)
        total = len(self.units.members)
        if visit is not None and not self.n_gone:
            visit(total)
        while (left := total - self.n_gone) > self.least:
            if self.n_features <= self.n_wanted:
                self._keep()
            count = number_to_drop(self.step, left, self.least)
            if count == 1:
                many = 1 if visit is not None else self._singles(left)
                self._drop_one(many)
            else:
                self._drop_several(count)
            after = total - self.n_gone
            progress.update(f"{after:,} of {total:,} units left")
            if visit is not None:
                visit(after)
            if save is not None:
                save(self.state())
        self._keep()

    def _begin(self, state: dict[str, np.ndarray] | None) -> None:
        if state is None:
            self.machines.start(np.empty(0, dtype=np.intp), None)
            return
        before = self.n_gone = len(state["dropped"])
        self.gone[:before] = state["dropped"]
        self.values[:before] = state["values"]
        self.objectives[:before] = state["objectives"]
        self.ends = state["ends"].tolist()
        self.n_features -= int(self.sizes[self.gone[:before]].sum())
        self.n_kept = int(state["n_kept"])
        self.machines.excess = float(state["excess"])
        if len(state["wanted"]):
            self.wanted, self.slopes = state["wanted"], state["slopes"]
        self.machines.start(self.gone[:before], state["b"])

    def _record(self, units: np.ndarray, values: np.ndarray, objective: Any) -> None:
        """Take down units that left together."""
        here = slice(self.n_gone, self.n_gone + len(units))
        self.gone[here], self.values[here], self.objectives[here] = units, values, objective
        self.n_gone = here.stop
        self.n_features -= len(units) if self.units.single else int(self.sizes[units].sum())

    def _singles(self, left: int) -> int:
        """How many may leave one by one before something else has to happen.

        A share that comes to one unit stays so, since fewer are left each time.
        """
        many = left - self.least
        if self.wanted is None and self.units.single:
            many = min(many, left - self.n_wanted)
        return many

    def _drop_one(self, many: int) -> None:
        try:
            known = self.machines.drop_singles(many)
        finally:  # what left before an interruption has left
            units, values, objectives = self.machines.told()
            self.ends += range(self.n_gone + 1, self.n_gone + len(units) + 1)
            self._record(units, values, objectives)
        if not known:
            self._drop_several(1)

    def _drop_several(self, count: int) -> None:
        if self.wanted is None and self.units.single:
            count = min(count, self.n_features - self.n_wanted)
        units, values, objective = self.machines.least(count)
        if self.wanted is None and not self.units.single:
            sizes = self.n_features - np.cumsum(self.sizes[units])
            enough = np.flatnonzero(sizes <= self.n_wanted)
            units = units[: enough[0] + 1] if len(enough) else units
        self.machines.drop(units)
        self._record(units, values[: len(units)], objective)
        self.ends.append(self.n_gone)

    def _keep(self) -> None:
        if self.wanted is None:
            self.wanted, self.slopes = self.machines.bank.b.copy(), self.machines.bank.g.copy()
            self.n_kept = len(self.units.members) - self.n_gone

    def state(self) -> dict[str, Any]:
        """What a checkpoint holds."""
        return {
            "dropped": self.gone[: self.n_gone].copy(),
            "values": self.values[: self.n_gone].copy(),
            "objectives": self.objectives[: self.n_gone].copy(),
            "ends": np.array(self.ends, dtype=np.int64),
            "b": self.machines.bank.b.copy(),
            "wanted": np.empty(0) if self.wanted is None else self.wanted,
            "slopes": np.empty(0) if self.slopes is None else self.slopes,
            "excess": self.machines.excess,
            "n_kept": self.n_kept,
        }

    # ------------------------------------------------------------------ what came out

    def order(self) -> np.ndarray:
        """All features, best first: fixed ones, units still in play by criterion, then by exit."""
        if self.units.single:
            return self._best_first()
        parts = [self.units.fixed, *(self.units.members[k] for k in self._best_first())]
        return np.concatenate(parts).astype(np.intp)

    def _best_first(self) -> np.ndarray:
        here = np.ones(len(self.units.members), dtype=bool)
        here[self.gone[: self.n_gone]] = False
        left = np.flatnonzero(here)
        latest = self.machines.latest() if len(left) > 1 else None
        if latest is not None:
            left = left[np.lexsort((left, -np.nan_to_num(latest[left])))]
        return np.concatenate([left, self.gone[: self.n_gone][::-1]])

    def support(self, n_units: int, order: np.ndarray) -> np.ndarray:
        """Mask of the fixed features and of the best units, given the order of all features."""
        if self.units.single:
            mask = np.zeros(len(order), dtype=bool)
            mask[order[:n_units]] = True
            return mask
        unit = self.units.of_feature()[order]
        begins = np.flatnonzero((unit >= 0) & np.append(True, unit[1:] != unit[:-1]))
        end = begins[n_units] if n_units < len(begins) else len(unit)
        mask = np.zeros(len(unit), dtype=bool)
        mask[order[:end]] = True
        return mask

    def units_within(self, n_features: int) -> int:
        """The largest number of best units that make, with the fixed ones, so many features."""
        sizes = len(self.units.fixed) + np.cumsum(self.sizes[self._best_first()])
        return max(self.least, int(np.count_nonzero(sizes <= n_features)))

    def path(self) -> list[PathStep]:
        """One step for each time that units left."""
        steps, start, in_play = [], 0, self.units.n_features
        gone, ends = self.gone[: self.n_gone].tolist(), np.array(self.ends, dtype=np.intp)
        values = self.values[ends - 1].tolist()
        objectives = self.objectives[np.append(0, ends[:-1])].tolist() if len(ends) else []
        for end, value, objective in zip(self.ends, values, objectives, strict=True):
            features = gone[start:end]
            if not self.units.single:
                features = [int(j) for k in features for j in self.units.members[k]]
            in_play -= len(features)
            details = {"objective": objective}
            steps.append(PathStep("drop", tuple(features), in_play, value, details))
            start = end
        return steps
