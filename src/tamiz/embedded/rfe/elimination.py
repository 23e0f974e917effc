"""The elimination: from samples to machines, which units leave when, and how many to keep.

:class:`RFESetup` makes the machines for some samples, :class:`Elimination` runs and records, and
:func:`errors_by_size` repeats it inside folds, judged on what they hold out.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from tamiz.base import PathStep
from tamiz.embedded.rfe.machines import (
    ExplainedMachines,
    KernelMachines,
    LinearMachines,
    Machines,
    SparseMachines,
)
from tamiz.embedded.rfe.targets import ClassTarget, NumericTarget
from tamiz.gpu import Lane
from tamiz.kernels import Kernel, warn_if_indefinite
from tamiz.runtime.progress import Progress
from tamiz.runtime.workers import Shared, find_runner
from tamiz.search.splits import shuffled_folds
from tamiz.svm.multiclass import BinaryFit
from tamiz.validation import Units, check_units, number_to_drop, require_memory

#: Sparse samples are made dense up to this many bytes: the dense loop is that much faster.
MOST_DENSE_BYTES = 2**29


def units_of(groups: Any, fixed: Any, n_features: int, names: Any) -> Units:
    """:func:`check_units`, without thousands of arrays of one number where nothing is asked."""
    if groups is None and fixed is None:
        members: Any = np.arange(n_features)[:, None]
        return Units(members, np.empty(0, dtype=np.intp), n_features)
    return check_units(groups, fixed, n_features, names)


@dataclass
class WeighedSamples:
    """The samples that count, all of positive weight."""

    X: Any
    target: ClassTarget | NumericTarget
    weight: np.ndarray

    def part(self, index: np.ndarray) -> WeighedSamples:
        return WeighedSamples(self.X[index], self.target.part(index), self.weight[index])


@dataclass
class RFESetup:
    """What stays the same for all samples and folds."""

    kernel: Kernel
    C: float
    tol: float
    criterion: str
    order: str
    step: Any
    units: Units
    lane: Lane | None = None  # the card; None: the CPU

    def machines(self, data: WeighedSamples) -> tuple[Machines, Kernel]:
        """Machines for these samples, not yet trained, and the kernel with all its numbers."""
        plan, C = data.target.machines(self.C, data.weight)
        kernel = self.kernel.resolve(data.X, data.weight)
        if kernel.is_linear and self.criterion == "margin":
            make: Callable[..., Machines] = LinearMachines
            X = data.X
            if sparse.issparse(X):
                if 8 * X.shape[0] * X.shape[1] <= MOST_DENSE_BYTES:
                    X = X.toarray()
                else:
                    make = SparseMachines
            factor = 1.0 if self.order == "zero" else 2.0
            return make(X, plan, C, self.tol, self.units, factor), kernel
        if not kernel.always_mercer:
            warn_if_indefinite(kernel, data.X)
        X = self._dense(data.X) if sparse.issparse(data.X) else data.X
        arguments = plan, C, self.tol, self.units, kernel, self.criterion, self.order
        kind = ExplainedMachines if self.criterion == "shapley" else KernelMachines
        return kind(X, *arguments, self.lane), kernel

    def _dense(self, X: Any) -> np.ndarray:
        require_memory(
            8 * X.shape[0] * X.shape[1],
            f"criterion={self.criterion!r} needs dense samples, {X.shape[0]:,} of "
            f"{X.shape[1]:,} features",
            "Use criterion='margin', which does not, or fewer features.",
        )
        return X.toarray()


class Elimination:
    """Units leave, the least first, until one is left (none, if other features are fixed).

    Parameters
    ----------
    machines : Machines
        What is trained, and gives the criterion of each unit.
    units : Units
        What can be dropped.
    step : int, float or "half"
        How many leave at a time: a number, a fraction of those in play, or half of them.
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
    rounding : array or None
        What rounding of kernel values may have changed in these.
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
        self.rounding: np.ndarray | None = None
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

        ``save`` gets the state after each step, ``visit`` the number of units in play before the
        first step and after each; ``state`` is one that ``save`` got earlier.
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
            self.rounding = state.get("rounding")  # not in files of earlier versions
        self.machines.start(self.gone[:before], state["b"])

    def _record(self, units: np.ndarray, values: np.ndarray, objective: Any) -> None:
        """Take down units that left together."""
        here = slice(self.n_gone, self.n_gone + len(units))
        self.gone[here], self.values[here], self.objectives[here] = units, values, objective
        self.n_gone = here.stop
        self.n_features -= len(units) if self.units.single else int(self.sizes[units].sum())

    def _singles(self, left: int) -> int:
        """How many may leave one by one before something else has to happen.

        A fraction that comes to one unit stays so, since fewer are left each time.
        """
        many = left - self.least
        if self.wanted is None and self.units.single:
            many = min(many, left - self.n_wanted)
        return many

    def _drop_one(self, many: int) -> None:
        try:
            known = self.machines.drop_singles(many)
        finally:  # what left before an interruption has left
            units, values, objectives = self.machines.dropped()
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
            self.rounding = self.machines.rounding.copy()
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
            "rounding": np.empty(0) if self.rounding is None else self.rounding,
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

    def solution(self) -> list[BinaryFit] | None:
        """The machines at the wanted number of features, if that was reached."""
        if self.wanted is None or self.slopes is None or self.rounding is None:
            return None
        return self.machines.solution(self.wanted, self.slopes, self.rounding)

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


# ---------------------------------------------------------------------- how many to keep


Split = tuple[np.ndarray, np.ndarray]


def splits_of(
    cv: Any,
    X: Any,
    y: Any,
    target: ClassTarget | NumericTarget,
    used: np.ndarray,
    random_state: Any,
    groups: np.ndarray | None = None,
    **metadata: Any,
) -> list[Split]:
    """Training and held-out samples of each fold, numbered among those of positive weight.

    A number of folds divides the samples ``used``, whose target is ``target``, as if there were no
    others, and keeps ``groups`` of them together. All else speaks of the table as it was given, and
    a splitter gets the ``metadata`` as well.
    Every class must be in every training part.
    """
    if cv is None or isinstance(cv, Integral):
        n_folds = 5 if cv is None else int(cv)
        if groups is None:
            splits = target.folds(n_folds, random_state)
        else:
            seed = int(check_random_state(random_state).randint(2**31 - 1))
            folds = shuffled_folds(n_folds, target.classifier, seed, groups[used])
            splits = list(folds.split(np.zeros((len(used), 1)), target.values, groups[used]))
    else:
        place = np.full(X.shape[0], -1, dtype=np.intp)
        place[used] = np.arange(len(used))
        whole = check_cv(cv, np.asarray(y), classifier=target.classifier).split(
            X, np.asarray(y), groups, **metadata
        )
        splits = []
        for k, fold in enumerate(whole):
            train, test = (place[_rows(part, k, len(place))] for part in fold)
            splits.append((train[train >= 0], test[test >= 0]))
    if not splits:
        raise ValueError(f"cv={cv!r} gives no fold; use at least one.")
    for k, (train, test) in enumerate(splits):
        what = target.lacks(train) if len(test) else "nothing held out"
        if what:
            raise ValueError(f"Fold {k} of cv has {what}; use other folds.")
    return splits


def _rows(part: Any, fold: int, n: int) -> np.ndarray:
    """Positions of samples from positions or a mask."""
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise ValueError(
            f"Fold {fold} of cv holds {part!r}; a fold is a pair of lists of positions of samples."
        )
    wrong = rows[(rows < 0) | (rows >= n)]
    if len(wrong):
        raise ValueError(
            f"Fold {fold} of cv holds position {wrong[0]}; X has {n} samples, numbered 0 to "
            f"{n - 1}."
        )
    return rows.astype(np.intp)


def pack(splits: list[Split]) -> dict[str, np.ndarray]:
    """Folds as arrays for a checkpoint."""
    return {
        "cv_samples": np.concatenate([part for split in splits for part in split]),
        "cv_counts": np.array([[len(part) for part in split] for split in splits]),
    }


def unpack(state: dict[str, np.ndarray]) -> list[Split]:
    """What :func:`pack` packed."""
    parts = np.split(state["cv_samples"], np.cumsum(state["cv_counts"].ravel())[:-1])
    return list(zip(parts[::2], parts[1::2], strict=True))


def errors_by_size(
    setup: RFESetup,
    data: WeighedSamples,
    splits: list[Split],
    n_jobs: int | None,
    progress: Progress,
    errors: list[np.ndarray],
    keep: Callable[[], None],
) -> float:
    """Append to ``errors`` the error of each further fold at each size.

    ``keep`` is called after each fold. Folds run in threads, as compiled code does the work, or on
    a cluster. Returns the largest excess of a machine.
    """
    jobs = [(split,) for split in splits[len(errors) :]]
    working = find_runner(n_jobs).results(_fold, Shared((setup, data)), jobs, prefer="threads")
    most = 0.0
    with closing(working) as answers:
        for fold, excess in answers:
            errors.append(fold)
            most = max(most, excess)
            keep()
            progress.update(f"{len(errors)} of {len(splits)} folds")
    return most


def sizes_of(setup: RFESetup) -> list[int]:
    """Numbers of units in play along an elimination to the end."""
    least = 0 if len(setup.units.fixed) else 1
    sizes = [len(setup.units.members)]
    while sizes[-1] > least:
        sizes.append(sizes[-1] - number_to_drop(setup.step, sizes[-1], least))
    return sizes


def _fold(given: tuple[RFESetup, WeighedSamples], split: Split) -> tuple[np.ndarray, float]:
    return _one_fold(*given, split)


def _one_fold(setup: RFESetup, data: WeighedSamples, split: Split) -> tuple[np.ndarray, float]:
    train, test = split
    machines, _ = setup.machines(data.part(train))
    held = data.part(test)
    Z = held.X
    if sparse.issparse(Z) and not isinstance(machines, SparseMachines):
        Z = Z.toarray()
    errors: list[float] = []

    def visit(_: int) -> None:
        errors.append(held.target.error(machines.decisions(Z), held.weight))

    Elimination(machines, setup.units, setup.step, 0).run(Progress("fold", 0), visit=visit)
    return np.array(errors), machines.excess
