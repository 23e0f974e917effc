r"""The loop of hold-out elimination (Maldonado and Weber 2009, algorithm 2).

With :math:`A` the units still in, every step draws a new split, trains on the training part, and
takes out the unit :math:`p` with the least :math:`E_{(-p)}`, the price of the errors on the
validation part without it. The text stops when no unit can go without harm,

.. math:: \min_p E_{(-p)} > E(A) \quad\text{(or, in its other variant, } \ge E(A)\text{)}.

Here the first time that this happens is noted, and the loop goes on to one unit, so that every
feature gets a rank. Each step has a random stream of its own, derived from one seed: an elimination
that is taken up from a checkpoint, or runs its splits side by side, takes the same path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamiz.base import PathStep
from tamiz.embedded.holdout.errors import TIE, random_split
from tamiz.embedded.holdout.judges import KernelJudge, RefitJudge, Run
from tamiz.runtime.checkpoint import Checkpoint
from tamiz.runtime.progress import Progress
from tamiz.runtime.units import Units

#: The errors without each unit are kept for steps with at most this many units.
DETAILED = 8000


@dataclass
class Plan:
    """What an elimination is told."""

    by_class: list[np.ndarray]  # samples of each class
    held_out: np.ndarray  # how many of them are held out
    prices: np.ndarray  # of an error on a sample of each class
    n_splits: int
    all_tied: bool
    strict: bool  # stop when worse; otherwise when not better
    seed: int


@dataclass
class Record:
    """What happened; the lists have one entry for each step, ``present`` one more at the end."""

    removed: list[list[int]] = field(default_factory=list)  # units, worst first
    present: list[float] = field(default_factory=list)  # E(A) at the beginning of the step
    without: list[np.ndarray] = field(default_factory=list)  # E_(-p) of the units then in
    tied: list[int] = field(default_factory=list)
    stopped: int | None = None  # the step at which the rule says stop
    complete: bool = False

    def in_play(self, n_units: int) -> np.ndarray:
        """Mask of the units that are still in."""
        mask = np.ones(n_units, dtype=bool)
        for units in self.removed:
            mask[units] = False
        return mask

    def state(self) -> dict[str, Any]:
        """Plain arrays for a checkpoint."""
        kept = [values for values in self.without if len(values)]
        return {
            "removed": np.array([k for units in self.removed for k in units], dtype=np.int64),
            "sizes": np.array([len(units) for units in self.removed], dtype=np.int64),
            "present": np.array(self.present, dtype=np.float64),
            "without": np.concatenate(kept) if kept else np.empty(0, dtype=np.float32),
            "lengths": np.array([len(values) for values in self.without], dtype=np.int64),
            "tied": np.array(self.tied, dtype=np.int64),
            "stopped": np.array(-1 if self.stopped is None else self.stopped),
        }

    @classmethod
    def from_state(cls, state: dict[str, np.ndarray]) -> Record:
        """Read what :meth:`state` wrote."""
        stopped = int(state["stopped"])
        return cls(
            [part.tolist() for part in _cut(state["removed"], state["sizes"])],
            state["present"].tolist(),
            _cut(state["without"], state["lengths"]),
            state["tied"].tolist(),
            None if stopped < 0 else stopped,
        )

    def trim(self) -> None:
        """Forget a step that Ctrl-C left half done."""
        done = len(self.removed)
        del self.present[done:], self.without[done:], self.tied[done:]


def eliminate(
    judge: KernelJudge | RefitJudge,
    units: Units,
    plan: Plan,
    record: Record,
    run: Run,
    checkpoint: Checkpoint | None,
    extra: dict[str, Any],
    progress: Progress,
) -> None:
    """Take units out one by one; ``record`` grows, and is complete unless Ctrl-C was pressed."""
    record.trim()
    active = record.in_play(len(units.members))
    for steps in record.removed:
        for k in steps:
            judge.remove(k)
    least = 0 if len(units.fixed) else 1
    try:
        while True:
            step = len(record.removed)
            inside = np.flatnonzero(active)
            removable = inside if len(inside) > least else inside[:0]
            progress.update(f"{len(inside)} of {len(active)} left")
            rng = stream(plan.seed, step)
            splits = [random_split(plan.by_class, plan.held_out, rng) for _ in range(plan.n_splits)]
            seeds = rng.integers(2**31 - 1, size=plan.n_splits).tolist()
            counts = judge.errors(splits, removable, seeds, run)
            present = float(counts.present @ plan.prices) / plan.n_splits
            without = counts.without @ plan.prices / plan.n_splits
            if not len(removable):
                record.present.append(present)
                record.complete = True
                return
            gone, tied = _choose(removable, without, plan, rng, least)
            if record.stopped is None and _stops(float(without.min()), present, plan.strict):
                record.stopped = step
            for k in gone:
                judge.remove(k)
            active[gone] = False
            _note(record, gone, present, without, tied)
            if checkpoint is not None:
                checkpoint.save({**record.state(), **extra})
    except KeyboardInterrupt:
        record.trim()


def _choose(
    removable: np.ndarray,
    without: np.ndarray,
    plan: Plan,
    rng: np.random.Generator,
    least: int,
) -> tuple[list[int], int]:
    """Units that go in this step, worst first, and how many were tied."""
    lowest = without.min()
    tied = removable[without <= lowest + TIE * max(1.0, abs(lowest))]
    # which of equals goes first is left to chance, always: the order of the columns means nothing
    mixed = rng.permutation(tied)
    n_gone = min(len(tied), len(removable) - least) if plan.all_tied else 1
    return mixed[:n_gone].tolist(), len(tied)


def _stops(lowest: float, present: float, strict: bool) -> bool:
    margin = TIE * max(1.0, abs(present))
    return lowest > present + margin if strict else lowest >= present - margin


def _note(record: Record, gone: list[int], present: float, without: np.ndarray, tied: int) -> None:
    kept = without if len(without) <= DETAILED else without[:0]
    record.present.append(present)
    record.without.append(kept.astype(np.float32))
    record.tied.append(tied)
    record.removed.append(gone)  # last: the length of this list is the number of steps done


def _cut(values: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(lengths)[:-1]) if len(lengths) else []


def stream(seed: int, *key: int) -> np.random.Generator:
    """A stream of random numbers that depends on nothing but the seed and its key."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


# ---------------------------------------------------------------------- reading the record


def unit_order(record: Record, n_units: int) -> list[int]:
    """Units, best first; those that are left are put in order by their last error without them."""
    left = np.flatnonzero(record.in_play(n_units))
    if len(left) > 1 and record.without and len(record.without[-1]):
        before = np.flatnonzero(
            Record(removed=record.removed[:-1]).in_play(n_units)
        )  # who was in when the last errors were counted
        last = dict(zip(before.tolist(), record.without[-1].tolist(), strict=True))
        left = np.array(sorted(left.tolist(), key=lambda k: (-last[k], k)))
    worst_first = [k for units in record.removed for k in units]
    return [*left.tolist(), *reversed(worst_first)]


def kept_at_stop(record: Record, n_units: int) -> list[int]:
    """Units in play when the rule said stop, or those left if it never did."""
    steps = record.removed if record.stopped is None else record.removed[: record.stopped]
    return np.flatnonzero(Record(removed=steps).in_play(n_units)).tolist()


def path_of(record: Record, units: Units, names: np.ndarray) -> list[PathStep]:
    """The elimination as events; ``names`` maps the features of ``units`` to those of X."""
    active = np.ones(len(units.members), dtype=bool)
    first = np.array([features[0] for features in units.members], dtype=np.intp)
    small = np.min_scalar_type(int(names.max(initial=0)))
    n_features = int(units.sizes.sum()) + len(units.fixed)
    values: list[float | None] = [*record.present]
    values += [None] * (len(record.removed) + 1 - len(values))
    path = [PathStep("start", (), n_features, values[0])]
    for step, gone in enumerate(record.removed):
        inside = np.flatnonzero(active)
        features = np.concatenate([units.members[k] for k in gone])
        n_features -= len(features)
        without = record.without[step]
        details: dict[str, Any] = {"error": record.present[step], "tied": record.tied[step]}
        if len(without):
            details["features"] = names[first[inside]].astype(small)
            details["without"] = without
        if step == record.stopped:
            details["stop"] = True
        gone_names = tuple(names[features].tolist())
        path.append(PathStep("drop", gone_names, n_features, values[step + 1], details))
        active[gone] = False
    return path
