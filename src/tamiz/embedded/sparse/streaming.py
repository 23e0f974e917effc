r"""Selection by linear machines on a stream: rescaling and elimination, warm from step to step.

Both ask for a series of similar machines. Each starts from the weights of the one before, and from
its planes: a plane (:mod:`tamiz.svm.stream.newton`) lies below the losses for all weights, so also
for those where the dropped features have none, and it does not know what a weight costs. Dropping
features takes entries off its ``u``, rescaling changes the penalty ``d_j`` of a weight; ``u`` and
``s`` stay what they are. All machines of several classes share every pass.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from tamiz.embedded.rfe.machines import UnitsInPlay
from tamiz.embedded.sparse.machine import LinearFit
from tamiz.runtime.progress import Progress, interruption
from tamiz.svm.linear import positive_classes
from tamiz.svm.stream.machine import Stream, in_features
from tamiz.svm.stream.near import solve_machines
from tamiz.svm.stream.newton import MachineRun, Rows, Tasks, presolve
from tamiz.validation import Units

_NEVER = 1e-3  # a machine stopped by rounding counts as solved up to this gap


class OutOfPassesError(Exception):
    """All the passes that a user allows have been made."""


class Precision(NamedTuple):
    """How near each machine comes to its minimum, and how many passes all of them may take."""

    gap: float
    max_passes: int


def one_against_rest(stream: Stream, class_weight: Any, C: float) -> Tasks:
    """One machine per class; "balanced" gives both sides of each the same total."""
    n = len(stream.classes)
    positive = positive_classes(n)
    signs = np.where(np.arange(n) == positive[:, None], 1.0, -1.0)
    if isinstance(class_weight, str):
        up = stream.counts[positive][:, None]
        total = stream.counts.sum()
        weights = np.where(signs > 0, total / (2.0 * up), total / (2.0 * (total - up)))
    else:
        weights = np.tile(stream.weights(class_weight), (len(positive), 1))
    return Tasks(signs, C * weights)


def pairs_or_rest(stream: Stream, class_weight: Any, C: float, scheme: str) -> Tasks:
    """The machines of :func:`tamiz.svm.multiclass.tasks`."""
    n = len(stream.classes)
    weights = C * stream.weights(class_weight)
    if n == 2 or scheme == "ovo":
        pairs = list(combinations(range(n), 2))
        signs = np.zeros((len(pairs), n))
        for t, (i, j) in enumerate(pairs):
            signs[t, i], signs[t, j] = -1.0, 1.0
    else:
        signs = 2.0 * np.eye(n) - 1.0
    return Tasks(signs, np.tile(weights, (len(signs), 1)))


class FeatureColumns(NamedTuple):
    """Some features of a stream, where other machines hold a table: ``X[:, chosen]`` is less."""

    features: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return 0, len(self.features)

    def __getitem__(self, index: Any) -> FeatureColumns:  # type: ignore[override]
        return FeatureColumns(self.features[index[1]])


class Streamed(NamedTuple):
    """One binary problem of AROM on a stream, as BinaryProblem is one in memory."""

    X: FeatureColumns
    rows: Rows
    machine: int
    size: np.ndarray  # factor of each feature between its units and those of the user
    spread: np.ndarray  # deviation of each feature in the units of the user; 0: constant

    def restored(self, fit: LinearFit) -> LinearFit:
        """The machine in the units of the target, which labels do not have."""
        return fit


def arom_problems(
    stream: Stream, tasks: Tasks, standardize: bool, progress: Progress
) -> list[Streamed]:
    """The problems of all machines."""
    rows = stream.rows(tasks, progress)
    unit = rows.units.scale if standardize else np.ones(stream.n_features)
    problems = []
    for k in range(len(tasks.signs)):
        spread = stream.spread(tasks.penalties[k])[1] / unit
        everything = FeatureColumns(np.arange(stream.n_features))
        problems.append(Streamed(everything, rows, k, rows.units.scale / unit, spread))
    return problems


def arom_machines(
    problems: list[Streamed], make: Any, plain: bool, precision: Precision, max_iter: int
) -> list[LinearFit | None]:
    """All machines of AROM: train, rescale, train again, together; ``make`` gives a Rescaling."""
    rows = problems[0].rows
    features = problems[0].X.features
    runs = [make(problem.spread[features]) for problem in problems]
    sizes = [problem.size[features] for problem in problems]
    p = len(rows.units.scale)

    def ridge(k: int, z: np.ndarray) -> np.ndarray:
        penalties = np.full(p, np.inf)
        alive = z > 0
        penalties[features[alive]] = 1.0 / (sizes[k][alive] * z[alive]) ** 2
        return penalties

    machines = [MachineRun(ridge(k, run.z), np.zeros(p + 1)) for k, run in enumerate(runs)]
    founds: list[Any] = [None] * len(runs)
    left = precision.max_passes

    def train(which: list[int]) -> None:
        nonlocal left
        before = rows.passes
        chosen = [machines[k] for k in which]
        part = rows if len(which) == len(machines) else _some(rows, which)
        solve_machines(part, chosen, tol=precision.gap, max_passes=left)
        rows.passes = part.passes
        left -= rows.passes - before

    active = [k for k, run in enumerate(runs) if len(run.alive)]
    try:
        presolve(rows, machines)
        for _ in range(max_iter):
            train(active)
            for k in active:
                founds[k] = _absorb(runs[k], machines[k], features, sizes[k], founds[k])
            active = [k for k in active if not runs[k].finished]
            if not active or left <= 0:
                break
            for k in active:
                machines[k].again(ridge(k, runs[k].z))
        wanted = [k for k, run in enumerate(runs) if run.w.any() and run.status != "interrupted"]
        if plain and wanted and left > 0:
            for k in wanted:
                machines[k].again(ridge(k, np.where(runs[k].w != 0, 1.0, 0.0)))
            train(wanted)
            for k in wanted:
                if np.isfinite(machines[k].objective):
                    founds[k] = _found(machines[k], features, sizes[k])
    except KeyboardInterrupt:
        for run in runs:
            if not run.finished:
                run.status = "interrupted"
    return [_fit_of(run, found, rows, features) for run, found in zip(runs, founds, strict=True)]


def _some(rows: Rows, which: list[int]) -> Rows:
    """The same rows for some of the machines."""
    tasks = Tasks(rows.tasks.signs[which], rows.tasks.penalties[which])
    return Rows(**{**rows.__dict__, "tasks": tasks, "near": None})


class _Solved(NamedTuple):
    v: np.ndarray  # weights of the features in the units of the user
    point: np.ndarray  # all weights in those of the solver, and the intercept
    objective: float
    gap: float
    status: str


def _found(machine: MachineRun, features: np.ndarray, size: np.ndarray) -> _Solved:
    status = machine.status
    if status == "stalled" and machine.gap <= _NEVER * machine.objective:
        status = "converged"
    point = machine.best
    return _Solved(point[features] / size, point, machine.objective, machine.gap, status)


def _absorb(
    run: Any, machine: MachineRun, features: np.ndarray, size: np.ndarray, last: Any
) -> Any:
    """Hand a machine to its run; the last one that was trained to an end."""
    found = _found(machine, features, size)
    if found.status == "interrupted" and (last is not None or not np.isfinite(found.objective)):
        run.status, run.finished = "interrupted", True
        return last
    run.absorb(found.v[run.alive] / run.z[run.alive], found.objective, found.status)
    return found


def _fit_of(run: Any, found: Any, rows: Rows, features: np.ndarray) -> LinearFit | None:
    if found is None:
        if len(run.alive):
            return None
        return LinearFit(np.zeros(len(features)), 0.0, np.nan)  # no feature varies
    coef = np.where(run.w != 0, found.v, 0.0)
    point = np.zeros_like(found.point)
    point[features[run.w != 0]] = found.point[features[run.w != 0]]
    point[-1] = found.point[-1]
    return LinearFit(
        coef=coef,
        intercept=float(in_features(point, rows.units)[-1]),  # for the table as it is
        objective=found.objective,
        gap=found.gap,
        n_iter=len(run.history),
        status=run.status,
        history=tuple(run.history),
        path=tuple(run.path),
        left=run.left,
        scale=run.scale,
    )


class _Bank(NamedTuple):
    """What an elimination keeps of the machines at the size that was asked for."""

    b: np.ndarray  # weights, intercept last
    g: np.ndarray  # objective, gap and status


class StreamedMachines(UnitsInPlay):
    """The machines of an elimination on a stream."""

    def __init__(
        self,
        rows: Rows,
        units: Units,
        factor: float,
        size: np.ndarray,
        varies: np.ndarray,
        precision: Precision,
    ):
        super().__init__(units)
        self.rows, self.factor, self.size = rows, factor, size
        self.precision = precision
        self.varies = varies
        self.excess = 0.0
        self.rounding = np.empty(0)  # part of the gap already
        p = len(size)
        n_machines = len(rows.tasks.signs)
        self.machines = [MachineRun(self._ridge(), np.zeros(p + 1)) for _ in range(n_machines)]

    @property
    def bank(self) -> _Bank:
        """Weights and evidence of all machines as they stand."""
        numbers = [(m.objective, m.gap) for m in self.machines]
        return _Bank(np.array([m.best for m in self.machines]), np.array(numbers))

    def _ridge(self) -> np.ndarray:
        penalties = np.full(len(self.size), np.inf)
        parts = [self.units.members[k] for k in np.flatnonzero(self.alive)]
        kept = np.concatenate([*parts, self.units.fixed]).astype(np.intp)
        kept = kept[self.varies[kept]]
        penalties[kept] = 1.0 / self.size[kept] ** 2
        return penalties

    def start(self, gone: np.ndarray, b: Any) -> None:
        """Train on everything."""
        presolve(self.rows, self.machines)
        self._train()
        self._latest, _ = self.values()

    def drop(self, gone: np.ndarray) -> None:
        """Train without some units, from where the machines are."""
        self.alive[gone] = False
        ridge = self._ridge()
        before = [(m.best, m.objective, m.bound) for m in self.machines]
        for machine in self.machines:
            machine.again(ridge)
        try:
            self._train()
        except (KeyboardInterrupt, OutOfPassesError):  # the units have not left
            self.alive[gone] = True
            for machine, (point, objective, bound) in zip(self.machines, before, strict=True):
                machine.best, machine.objective, machine.bound = point, objective, bound
            raise

    def _train(self) -> None:
        left = self.precision.max_passes - self.rows.passes
        if left > 0:
            solve_machines(self.rows, self.machines, tol=self.precision.gap, max_passes=left)
        statuses = {m.status for m in self.machines}
        if "interrupted" in statuses:
            raise interruption()
        if left <= 0 or (statuses == {"max_iter"} and self._latest is not None):
            raise OutOfPassesError
        worst = max(m.gap / (self.precision.gap * m.objective) for m in self.machines)
        self.excess = max(self.excess, worst if worst > 1.0 else 0.0)

    def values(self) -> tuple[np.ndarray, float]:
        """The criterion of each unit, and the sum of the squared weights."""
        w = np.array([m.best[:-1] for m in self.machines]) / self.size
        squares = np.square(w).sum(axis=0)
        values = self.factor * self.units.totals(squares)
        return np.where(self.alive, values, np.nan), float(squares.sum())


def weights_of(points: np.ndarray, rows: Rows) -> np.ndarray:
    """Weights for the features as they are in the table, intercept last."""
    return in_features(points, rows.units)
