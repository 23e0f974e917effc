r"""The loop of hold-out elimination (Maldonado and Weber 2009, algorithm 2).

With :math:`A` the units still in, every step draws a new split, trains on the training part, and
takes out the unit :math:`p` with the least :math:`E_{(-p)}`, the cost of the errors on the
validation part without it. The text stops when no unit can go without harm,

.. math:: \min_p E_{(-p)} > E(A) \quad\text{(or, in its other variant, } \ge E(A)\text{)}.

Here the first time that this happens is noted, and the loop goes on to one unit, so that every
feature gets a rank. Each step has a random stream of its own, derived from one seed: an elimination
that is taken up from a checkpoint, or runs its splits side by side, takes the same path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from tamiz.base import PathStep
from tamiz.embedded.holdout.judges import (
    TIE,
    GroupedSplits,
    HoldOutSplit,
    KernelJudge,
    RefitJudge,
    Run,
    TimedSplits,
    random_split,
)
from tamiz.filters import ChiSquared, KolmogorovSmirnov, PearsonScore
from tamiz.runtime.checkpoint import Checkpoint
from tamiz.runtime.progress import Progress
from tamiz.validation import Units

#: The errors without each unit are kept for steps with at most this many units.
DETAILED = 8000


@dataclass
class HoldOutPlan:
    """What an elimination is given."""

    by_class: list[np.ndarray]  # samples of each class; all in one for a numeric target
    held_out: np.ndarray  # how many of them are held out
    costs: np.ndarray  # of an error on a sample of each class, or factor of the losses
    n_splits: int
    all_tied: bool
    strict: bool  # stop when worse; otherwise when not better
    seed: int
    unit: float = 1.0  # of the errors: those closer than a tiny part of it are equal
    splits: GroupedSplits | TimedSplits | None = None  # where samples have groups, or times

    def split(self, rng: np.random.Generator) -> HoldOutSplit:
        """A new random division of the samples."""
        if self.splits is not None:
            return self.splits.draw(rng)
        return random_split(self.by_class, self.held_out, rng)


@dataclass
class HoldOutRecord:
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
    def from_state(cls, state: dict[str, np.ndarray]) -> HoldOutRecord:
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


@dataclass
class HoldOutState:
    """What a run writes down as it goes on."""

    seed: int
    record: HoldOutRecord
    saved: Checkpoint | None
    tuned: str = "[]"  # the table of candidates

    @classmethod
    def begin(cls, saved: Checkpoint | None, random_state: Any) -> HoldOutState:
        """A new run, or the one of the checkpoint."""
        state = None if saved is None else saved.state
        if state is None:
            return cls(new_seed(random_state), HoldOutRecord(), saved)
        record = HoldOutRecord.from_state(state)
        return cls(int(str(state["seed"])), record, saved, str(state["tuned"]))

    def save(self, now: bool = False) -> None:
        """Write it to the checkpoint, if there is one."""
        if self.saved is not None:
            extra = {"seed": str(self.seed), "tuned": self.tuned}
            options = {"now": True} if now else {}
            self.saved.save({**self.record.state(), **extra}, **options)


def new_seed(random_state: Any) -> int:
    """One large integer, of which every step derives its own stream."""
    draws = check_random_state(random_state).randint(0, 2**31 - 1, size=4)
    return int(sum(int(draw) << (31 * k) for k, draw in enumerate(draws)))


def eliminate(
    judge: KernelJudge | RefitJudge,
    units: Units,
    plan: HoldOutPlan,
    record: HoldOutRecord,
    run: Run,
    progress: Progress,
    save: Callable[[], None] = lambda: None,
) -> None:
    """Take units out one by one; ``record`` grows, and is complete unless Ctrl-C was pressed.

    ``save`` is called after each step.
    """
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
            splits = [plan.split(rng) for _ in range(plan.n_splits)]
            seeds = rng.integers(2**31 - 1, size=plan.n_splits).tolist()
            counts = judge.errors(splits, removable, seeds, run)
            present = float(counts.present @ plan.costs) / plan.n_splits
            without = counts.without @ plan.costs / plan.n_splits
            if not len(removable):
                record.present.append(present)
                record.complete = True
                return
            gone, tied = _choose(removable, without, plan, rng, least)
            if record.stopped is None and _stops(float(without.min()), present, plan):
                record.stopped = step
            for k in gone:
                judge.remove(k)
            active[gone] = False
            _note(record, gone, present, without, tied)
            save()
    except KeyboardInterrupt:
        record.trim()


def _choose(
    removable: np.ndarray,
    without: np.ndarray,
    plan: HoldOutPlan,
    rng: np.random.Generator,
    least: int,
) -> tuple[list[int], int]:
    """Units that go in this step, worst first, and how many were tied."""
    lowest = without.min()
    tied = removable[without <= lowest + TIE * max(plan.unit, abs(lowest))]
    # which of equals goes first is left to chance, always: the order of the columns means nothing
    mixed = rng.permutation(tied)
    n_gone = min(len(tied), len(removable) - least) if plan.all_tied else 1
    return mixed[:n_gone].tolist(), len(tied)


def _stops(lowest: float, present: float, plan: HoldOutPlan) -> bool:
    margin = TIE * max(plan.unit, abs(present))
    return lowest > present + margin if plan.strict else lowest >= present - margin


def _note(
    record: HoldOutRecord, gone: list[int], present: float, without: np.ndarray, tied: int
) -> None:
    kept = without if len(without) <= DETAILED else without[:0]
    record.present.append(present)
    with np.errstate(over="ignore"):  # costs may be larger than what is shown
        record.without.append(kept.astype(np.float32))
    record.tied.append(tied)
    record.removed.append(gone)  # last: the length of this list is the number of steps done


def _cut(values: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(lengths)[:-1]) if len(lengths) else []


def stream(seed: int, *key: int) -> np.random.Generator:
    """A stream of random numbers that depends on nothing but the seed and its key."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


# ---------------------------------------------------------------------- reading the record


def unit_order(record: HoldOutRecord, n_units: int) -> list[int]:
    """Units, best first; those that are left are put in order by their last error without them."""
    left = np.flatnonzero(record.in_play(n_units))
    if len(left) > 1 and record.without and len(record.without[-1]):
        before = np.flatnonzero(
            HoldOutRecord(removed=record.removed[:-1]).in_play(n_units)
        )  # who was in when the last errors were counted
        last = dict(zip(before.tolist(), record.without[-1].tolist(), strict=True))
        left = np.array(sorted(left.tolist(), key=lambda k: (-last[k], k)))
    worst_first = [k for units in record.removed for k in units]
    return [*left.tolist(), *reversed(worst_first)]


def kept_at_stop(record: HoldOutRecord, n_units: int) -> list[int]:
    """Units in play when the rule said stop, or those left if it never did."""
    steps = record.removed if record.stopped is None else record.removed[: record.stopped]
    return np.flatnonzero(HoldOutRecord(removed=steps).in_play(n_units)).tolist()


def path_of(record: HoldOutRecord, units: Units, names: np.ndarray) -> list[PathStep]:
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


# ---------------------------------------------------------------------- testing features one by one


class Screened(NamedTuple):
    """What a test of the features one by one leaves."""

    kept: np.ndarray  # the features that enter the elimination
    units: Units  # of these, numbered among them
    failed: list[np.ndarray]  # the units that fail, best first


def prefilter_pvalues(
    prefilter: Any, X: np.ndarray, codes: np.ndarray, categorical: np.ndarray, numeric: bool = False
) -> np.ndarray:
    """A p-value for each feature.

    For a numeric target the correlation is tested. For classes the text recommends the chi-squared
    test for categorical and Kolmogorov-Smirnov for continuous features. With more than two classes
    the latter compares each class with the rest; the least of the p-values counts, times the number
    of classes (Bonferroni).

    Parameters
    ----------
    prefilter : {"auto", "chi2", "ks"} or filter
        Which test; a filter of :mod:`tamiz.filters` must give ``pvalues_``.
    X, codes : arrays of shape (n, p) and (n,)
        Samples and classes, or numbers.
    categorical : boolean array of shape (p,)
        Features whose values are categories.
    numeric : bool, default=False
        Whether the target is numeric.
    """
    if numeric and prefilter == "auto":
        prefilter = PearsonScore(task="regression")
    if not isinstance(prefilter, str):
        fitted = clone(prefilter).fit(X, codes)
        values = getattr(fitted, "pvalues_", None)
        if values is None:
            raise ValueError(
                f"prefilter={prefilter!r} gives no p-values for these data (pvalues_); use "
                "'auto', 'chi2', 'ks', or a filter that does, such as WelchT()."
            )
        return np.where(np.isnan(values), 1.0, values)
    by_chi2 = {"auto": categorical, "chi2": np.ones_like(categorical)}.get(
        prefilter, np.zeros_like(categorical)
    )
    values = np.ones(X.shape[1])
    if by_chi2.any():
        columns = np.flatnonzero(by_chi2)
        test = ChiSquared(categorical_features=categorical[columns])
        values[columns] = test.fit(X[:, columns], codes).pvalues_
    if not by_chi2.all():
        columns = np.flatnonzero(~by_chi2)
        values[columns] = _smirnov(np.ascontiguousarray(X[:, columns]), codes)
    return np.where(np.isnan(values), 1.0, values)


def _smirnov(X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    n_classes = int(codes.max()) + 1
    if n_classes == 2:
        return KolmogorovSmirnov().fit(X, codes).pvalues_
    each = [KolmogorovSmirnov().fit(X, codes == k).pvalues_ for k in range(n_classes)]
    return np.minimum(1.0, n_classes * np.min(each, axis=0))


def unit_pvalues(values: np.ndarray, units: Units) -> np.ndarray:
    """A p-value for each unit: the least of its features, times their number."""
    return np.array([min(1.0, len(f) * float(values[f].min())) for f in units.members])
