"""From all features to one: descents over the scaling factors, and what leaves between them.

First the factors of all features go down to where the objective stops falling; features whose
factor is exactly zero there have left. Then, stage by stage, the features with the least factors
are taken out and the rest goes down again, to the last feature: this gives the full ranking, and
the objective for each number of features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from tamiz.base import PathStep
from tamiz.embedded.scaling.descent import Domain, Point, point_at, settled, step_from
from tamiz.embedded.scaling.machines import Objective
from tamiz.embedded.scaling.newton import newton_step, remember, stationarity

SLOW = 1e-2  # decrease of the last steps, as a share, below which curvature helps
STILL = 3e-3  # largest departure from stationarity at the end of a descent that is the answer


class Rule(Enum):
    """Which stage a method chooses by itself."""

    FIRST = "the features with a factor above zero where the first descent ends"
    LEAST = "the fewest features whose objective is the least, up to the tolerance"
    IMPROVING = "the last stage before the objective rises"


class Plan(NamedTuple):
    """How to go about it."""

    domain: Domain
    rule: Rule
    wanted: int | None  # number of features asked for; None: by the rule
    step: Callable[[int], int]  # how many features leave when so many are there
    max_iter: int
    tol: float


@dataclass
class State:
    """How far a run has come; all of it fits into plain arrays."""

    sigma: np.ndarray
    left: np.ndarray  # when each feature left, the later the better; ALIVE: not yet
    merit: np.ndarray  # order among the features that left at the same time
    length: float = 0.0
    warm: np.ndarray | None = None  # dual variables at sigma, or at the factors before
    slope: np.ndarray = field(default_factory=lambda: np.zeros(0))  # at sigma: see Point
    rise: np.ndarray = field(default_factory=lambda: np.zeros(0))
    memory: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 0)))  # of the descent
    stage: int = 0
    values: list[float] = field(default_factory=list)  # of the descent under way
    history: list[float] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)  # features in the order in which they left
    marks: list[tuple[int, int, float]] = field(default_factory=list)  # len(gone), n, value
    chosen: np.ndarray | None = None
    chosen_value: float = np.inf
    least: float = np.inf
    open: bool = True  # whether a later stage can still be chosen
    n_iter: int = 0
    cut: bool = False  # whether a descent ended by max_iter
    done: bool = False
    n_failed: int = 0  # inner problems that were not solved up to their tolerance

    def arrays(self) -> dict[str, Any]:
        out = dict(vars(self))
        for name in ("chosen", "warm"):
            out[name] = np.zeros(0) if out[name] is None else out[name]
        out["marks"] = np.array(self.marks, dtype=float).reshape(-1, 3)
        return out

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray]) -> State:
        plain: dict[str, Any] = {
            name: a.tolist() if a.ndim == 0 else a for name, a in arrays.items()
        }
        for name in ("values", "history", "gone"):
            plain[name] = plain[name].tolist()
        plain["gone"] = [int(j) for j in plain["gone"]]
        plain["marks"] = [(int(m), int(n), float(v)) for m, n, v in plain["marks"]]
        for name in ("chosen", "warm"):
            plain[name] = plain[name] if len(plain[name]) else None
        return cls(**plain)

    @property
    def alive(self) -> np.ndarray:
        return np.flatnonzero(self.left == ALIVE)

    def path(self) -> list[PathStep]:
        """What left when, and the objective then."""
        steps, before = [], 0
        for mark, n, value in self.marks:
            steps.append(PathStep("drop", tuple(self.gone[before:mark]), n, value))
            before = mark
        return steps


ALIVE = np.iinfo(np.int64).max


def begin(plan: Plan, useful: np.ndarray, factor: float = 1.0) -> State:
    """All useful features at the same factor; the others have left already."""
    sigma = np.where(useful, factor, 0.0)
    left = np.where(useful, ALIVE, -1)
    gone = np.flatnonzero(~useful).tolist()
    state = State(plan.domain.feasible(sigma), left, np.zeros(len(sigma)), gone=gone)
    state.memory = np.zeros((0, 2, len(sigma)))
    state.chosen = state.sigma  # what an interrupted run falls back on
    return state


def run(objective: Objective, plan: Plan, state: State, tell: Callable[[State], None]) -> None:
    """Carry ``state`` to the end; ``tell(state)`` hears of every accepted step."""
    objective.n_failed = state.n_failed
    while not state.done:
        objective.restrict(state.alive)
        point = _descent(objective, plan, state, tell)
        _close_stage(plan, state, point)
        if len(state.alive) > 1:
            _open_stage(plan, state)
        else:
            state.done = True
        tell(state)


def _descent(
    objective: Objective, plan: Plan, state: State, tell: Callable[[State], None]
) -> Point:
    alive, exact = state.alive, _exact(plan, state)
    if state.values:  # taken up again, in the middle
        value = state.values[-1]
        point = Point(state.sigma, value, state.slope, state.rise, state.length, state.warm)
    else:
        point = point_at(objective, plan.domain, state.sigma, state.length, state.warm)
        _note(objective, state, point)
    while len(state.values) <= plan.max_iter and not _finished(plan, state, point):
        following = None
        # far from the end plain steps are as good, and no model fits all of the way
        if exact and settled(state.values, SLOW) and plan.domain.flat(point.sigma):
            following = newton_step(objective, plan.domain, point, alive, state.memory)
        if following is None:
            following = step_from(objective, plan.domain, point, alive)
        if following is None:
            return point
        if exact:
            state.memory = remember(state.memory, plan.domain, point, following)
        point = following
        state.n_iter += 1
        _note(objective, state, point)
        tell(state)
    state.cut |= not _finished(plan, state, point)
    return point


def _finished(plan: Plan, state: State, point: Point) -> bool:
    """Whether the descent has come to its end.

    Where its end is the answer, a small decrease is not enough: factors on their way to zero
    hardly change the objective, and yet decide what is selected.
    """
    if not settled(state.values, plan.tol):
        return False
    return not _exact(plan, state) or stationarity(plan.domain, point, state.alive) <= STILL


def _exact(plan: Plan, state: State) -> bool:
    """Whether the features left at the end of this descent are what the method selects."""
    return plan.rule is Rule.FIRST and state.stage == 0


def _note(objective: Objective, state: State, point: Point) -> None:
    state.sigma, state.length, state.warm = point.sigma, point.length, point.warm
    state.slope, state.rise = point.slope, point.rise
    state.n_failed = objective.n_failed
    state.values.append(point.value)
    if state.stage == 0:
        state.history.append(point.value)
        state.chosen, state.chosen_value = point.sigma, point.value


def _close_stage(plan: Plan, state: State, point: Point) -> None:
    alive = state.alive
    zeros = alive[point.sigma[alive] == 0]
    # the more the objective would rise with the feature, the earlier it counts as gone
    zeros = zeros[np.argsort(-point.rise[zeros], kind="stable")]
    _leave(state, zeros, 2 * state.stage + 1)
    n = len(state.alive)
    state.marks.append((len(state.gone), n, point.value))
    if point.value < state.history[-1]:
        state.history.append(point.value)
    if _chooses(plan, state, n, point.value):
        state.chosen, state.chosen_value = point.sigma, point.value
    state.least = min(state.least, point.value)


def _chooses(plan: Plan, state: State, n: int, value: float) -> bool:
    """Whether the stage that has just ended is the best so far to stop at."""
    if not state.open:
        return False
    if plan.wanted is not None:
        state.open = n > plan.wanted
        return True
    if state.stage == 0:
        state.open = plan.rule is not Rule.FIRST
        return True
    # the least so far is a sum of squares or a bound: never negative
    good = value <= state.least * (1.0 + plan.tol)
    if plan.rule is Rule.IMPROVING:
        state.open = good
    return good


def _open_stage(plan: Plan, state: State) -> None:
    alive = state.alive
    n = len(alive)
    count = min(plan.step(n), n - 1)
    if plan.wanted is not None and n > plan.wanted:
        count = min(count, n - plan.wanted)
    worst = alive[np.argsort(state.sigma[alive], kind="stable")[:count]]
    state.stage += 1
    _leave(state, worst, 2 * state.stage)
    sigma = state.sigma.copy()
    sigma[worst] = 0.0
    state.sigma = plan.domain.feasible(sigma)
    state.length = 0.0
    state.memory = state.memory[:0]
    state.values = []


def _leave(state: State, features: np.ndarray, when: int) -> None:
    """Let features go, the worst first."""
    state.left[features] = when
    state.merit[features] = np.arange(len(features))
    state.gone.extend(int(j) for j in features)
