"""The elimination itself: which units go when, what is recorded, what a checkpoint holds."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from tamiz._progress import Progress
from tamiz._units import Units
from tamiz.base import PathStep
from tamiz.embedded._rfe_machines import Machines


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
    dropped, values, objectives : lists
        Units in the order in which they left, the criterion of each, and the objective of the
        machines before they left.
    ends : list of int
        How many had left after each step.
    latest : array or None
        The last criteria known, NaN for units gone.
    wanted : array or None
        Dual variables of the machines once no more than ``n_wanted`` features were in play.
    n_kept : int
        Number of units in play at that moment.
    """

    def __init__(self, machines: Machines, units: Units, step: Any, n_wanted: int):
        self.machines = machines
        self.units = units
        self.step = step
        self.n_wanted = n_wanted
        self.dropped: list[int] = []
        self.values: list[float] = []
        self.objectives: list[float] = []
        self.ends: list[int] = []
        self.latest: np.ndarray | None = None
        self.objective = 0.0
        self.wanted: np.ndarray | None = None
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
        if visit is not None and not self.dropped:
            visit(total)
        while (left := total - len(self.dropped)) > self.least:
            if self.n_features <= self.n_wanted:
                self._keep()
            count = number_to_drop(self.step, left, self.least)
            if count == 1:
                many = 1 if visit is not None else self._singles(left)
                self._drop_one(many)
            else:
                self._drop_several(count)
            after = total - len(self.dropped)
            progress.update(f"{after:,} of {total:,} units left")
            if visit is not None:
                visit(after)
            if save is not None:
                save(self.state())
        self._keep()

    def _begin(self, state: dict[str, np.ndarray] | None) -> None:
        if state is None:
            self.machines.start(np.empty(0, dtype=np.intp), None)
        else:
            self.dropped = state["dropped"].tolist()
            self.values = state["values"].tolist()
            self.objectives = state["objectives"].tolist()
            self.ends = state["ends"].tolist()
            self.n_features -= int(self.sizes[self.dropped].sum())
            self.n_kept = int(state["n_kept"])
            self.wanted = state["wanted"] if len(state["wanted"]) else None
            self.machines.start(np.array(self.dropped, dtype=np.intp), state["b"])
        self._look()

    def _look(self) -> None:
        self.latest, self.objective = self.machines.values()

    def _record(self, units: list[int], values: list[float], objective: float) -> None:
        """Take down one step."""
        self.dropped += units
        self.values += values
        self.objectives += [objective] * len(units)
        self.ends.append(len(self.dropped))
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
        done = self.machines.drop_singles(many)
        if done is None:
            self._drop_several(1)
            return
        for unit, value, objective in done:
            self._record([unit], [value], objective)
        self._look()

    def _drop_several(self, count: int) -> None:
        values = self.latest
        assert values is not None
        alive = np.flatnonzero(~np.isnan(values))
        order = least_first(values, alive, count)
        if self.wanted is None:
            sizes = self.n_features - np.cumsum(self.sizes[order])
            enough = np.flatnonzero(sizes <= self.n_wanted)
            order = order[: enough[0] + 1] if len(enough) else order
        self.machines.drop(order)
        self._record(order.tolist(), values[order].tolist(), self.objective)
        self._look()

    def _keep(self) -> None:
        if self.wanted is None:
            self.wanted = self.machines.bank.b.copy()
            self.n_kept = len(self.units.members) - len(self.dropped)

    def state(self) -> dict[str, Any]:
        """What a checkpoint holds."""
        return {
            "dropped": np.array(self.dropped, dtype=np.int64),
            "values": np.array(self.values),
            "objectives": np.array(self.objectives),
            "ends": np.array(self.ends, dtype=np.int64),
            "b": self.machines.bank.b.copy(),
            "wanted": np.empty(0) if self.wanted is None else self.wanted,
            "n_kept": self.n_kept,
        }

    # ------------------------------------------------------------------ what came out

    def order(self) -> np.ndarray:
        """All features, best first: fixed ones, units still in play by criterion, then by exit."""
        if self.units.single:
            return np.array(self._best_first(), dtype=np.intp)
        parts = [self.units.fixed, *(self.units.members[k] for k in self._best_first())]
        return np.concatenate(parts).astype(np.intp)

    def _best_first(self) -> list[int]:
        here = np.ones(len(self.units.members), dtype=bool)
        here[self.dropped] = False
        left = np.flatnonzero(here)
        if self.latest is not None:
            left = left[np.lexsort((left, -np.nan_to_num(self.latest[left])))]
        return [*left.tolist(), *reversed(self.dropped)]

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
        for end in self.ends:
            units = self.dropped[start:end]
            if self.units.single:
                features = units
            else:
                features = [int(j) for k in units for j in self.units.members[k]]
            in_play -= len(features)
            details = {"objective": self.objectives[start]}
            steps.append(PathStep("drop", tuple(features), in_play, self.values[end - 1], details))
            start = end
        return steps


def least_first(values: np.ndarray, units: np.ndarray, count: int) -> np.ndarray:
    """The ``count`` units of least value, ascending; of equal ones the last goes first."""
    chosen = values[units]
    if count < len(units):
        few = chosen <= np.partition(chosen, count - 1)[count - 1]
        units, chosen = units[few], chosen[few]
    units, chosen = units[::-1], chosen[::-1]
    return units[np.argsort(chosen, kind="stable")][:count]


def number_to_drop(step: Any, left: int, least: int) -> int:
    """How many of ``left`` units leave now, so that ``least`` stay at any rate."""
    if step == "half":
        count = left // 2
    elif isinstance(step, Integral):
        count = int(step)
    else:
        count = int(float(step) * left)
    return max(1, min(count, left - least))
