r"""From all features to one: descents over the scaling factors, and what leaves between them.

First the factors of all features go down to where the objective stops falling; features whose
factor is exactly zero there have left. Then, stage by stage, the features with the least factors
are taken out and the rest goes down again, to the last feature: this gives the full ranking, and
the objective for each number of features.

**The descent** never goes up.

.. math::

    \min_\sigma \; F(\sigma) \quad\text{s.t.}\quad \sigma \ge 0,\;
    \textstyle\sum_j \sigma_j^q = T \;\text{(or without this sum)}

Steps are taken in variables such as :math:`u_j = \sigma_j^2`, in which the feasible set is an
orthant or, for q = 2, a simplex: points are projected onto it exactly, and factors become exactly
zero. They follow the projected gradient with the lengths of Barzilai and Borwein, shortened until
the objective, with its machines solved anew, has fallen far enough. [1]_ (here in a monotone form).

**Steps that remember curvature**, for descents that must come to rest. The projected gradient
finds low points quickly and the
lowest one slowly: where features are correlated, their factors creep towards zero for hundreds of
steps. Which of them get there is what a selection is about. Here the last moves ``s`` and the
changes ``y`` of the slope along them give a quadratic model of the objective around ``u``,

.. math::

    m(v) = g'(v - u) + \tfrac12 (v - u)' B (v - u), \qquad
    B = \theta I - W M W',

with the limited-memory matrix of Broyden, Fletcher, Goldfarb and Shanno. Its minimum over the
feasible set costs no evaluation of the objective, only projections; on the way there the objective
is solved anew, and the step is shortened until it has fallen far enough.

References
----------
.. [1] E. G. Birgin, J. M. Martínez, M. Raydan (2000). Nonmonotone spectral projected gradient
       methods on convex sets. SIAM Journal on Optimization 10.
.. [2] M. Schmidt, E. van den Berg, M. P. Friedlander, K. Murphy (2009). Optimizing costly functions
       with simple constraints: a limited-memory projected quasi-Newton algorithm. AISTATS.
.. [3] R. H. Byrd, J. Nocedal, R. B. Schnabel (1994). Representations of quasi-Newton matrices and
       their use in limited memory methods. Mathematical Programming 63.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

import numpy as np

from tamiz.base import PathStep
from tamiz.embedded.scaling.machines import TINY, Objective, Value
from tamiz.validation import TOO_LARGE

SLOW = 1e-2  # decrease of the last steps, as a fraction, below which curvature helps
STILL = 3e-3  # largest departure from stationarity at the end of a descent that is the answer


class Rule(Enum):
    """Which stage a method chooses by itself."""

    FIRST = "the features with a factor above zero where the first descent ends"
    LEAST = "the fewest features whose objective is the least, up to the tolerance"
    IMPROVING = "the last stage before the objective rises"


class ScalingPlan(NamedTuple):
    """How to go about it."""

    domain: Domain
    rule: Rule
    wanted: int | None  # number of features asked for; None: by the rule
    step: Callable[[int], int]  # how many features leave when so many are there
    max_iter: int
    tol: float


@dataclass
class ScalingState:
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
    def of(cls, arrays: dict[str, np.ndarray]) -> ScalingState:
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


def begin(plan: ScalingPlan, useful: np.ndarray, factor: float = 1.0) -> ScalingState:
    """All useful features at the same factor; the others have left already."""
    sigma = np.where(useful, factor, 0.0)
    left = np.where(useful, ALIVE, -1)
    gone = np.flatnonzero(~useful).tolist()
    state = ScalingState(plan.domain.feasible(sigma), left, np.zeros(len(sigma)), gone=gone)
    state.memory = np.zeros((0, 2, len(sigma)))
    state.chosen = state.sigma  # what an interrupted run falls back on
    return state


def run(
    objective: Objective,
    plan: ScalingPlan,
    state: ScalingState,
    tell: Callable[[ScalingState], None],
) -> None:
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
    objective: Objective,
    plan: ScalingPlan,
    state: ScalingState,
    tell: Callable[[ScalingState], None],
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


def _finished(plan: ScalingPlan, state: ScalingState, point: Point) -> bool:
    """Whether the descent has come to its end.

    Where its end is the answer, a small decrease is not enough: factors on their way to zero
    hardly change the objective, and yet decide what is selected.
    """
    if not settled(state.values, plan.tol):
        return False
    return not _exact(plan, state) or stationarity(plan.domain, point, state.alive) <= STILL


def _exact(plan: ScalingPlan, state: ScalingState) -> bool:
    """Whether the features left at the end of this descent are what the method selects."""
    return plan.rule is Rule.FIRST and state.stage == 0


def _note(objective: Objective, state: ScalingState, point: Point) -> None:
    state.sigma, state.length, state.warm = point.sigma, point.length, point.warm
    state.slope, state.rise = point.slope, point.rise
    state.n_failed = objective.n_failed
    state.values.append(point.value)
    if state.stage == 0:
        state.history.append(point.value)
        state.chosen, state.chosen_value = point.sigma, point.value


def _close_stage(plan: ScalingPlan, state: ScalingState, point: Point) -> None:
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


def _chooses(plan: ScalingPlan, state: ScalingState, n: int, value: float) -> bool:
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


def _open_stage(plan: ScalingPlan, state: ScalingState) -> None:
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


def _leave(state: ScalingState, features: np.ndarray, when: int) -> None:
    """Let features go, the worst first."""
    state.left[features] = when
    state.merit[features] = np.arange(len(features))
    state.gone.extend(int(j) for j in features)


ENOUGH = 1e-4  # fraction of the decrease promised by the gradient that a step must bring
SHORTEST = 1e-9  # steps below this, relative to the largest variable, are none
FIRST = 0.3  # length of the first step, relative to the largest variable
FARTHEST = 1e3  # and no step aims further than this
SHORTER = 0.25  # factor of a step that did not bring enough
TRIALS = 12  # steps tried before the point is taken for the lowest in reach
LOOK_BACK = 3  # steps over which the decrease is judged


class Judge(Protocol):
    """What a descent asks of an objective."""

    def at(self, sigma: np.ndarray, warm: np.ndarray | None = None) -> Value: ...


class Domain(NamedTuple):
    """Where factors may lie: ``0 <= sigma <= cap`` and, with ``total``, ``sum(sigma**q) = total``.

    A total that factors at the cap do not reach becomes the largest that they do. A cap and a
    total go together only if q equals the power.

    ``power`` is the change of variables ``u = sigma**power`` in which steps are taken. Most
    kernels depend on the squares of the factors: with power 2 their derivative at zero is not
    zero, and a feature can come back if the constraint lets it.
    """

    power: float = 2.0
    q: float = 2.0
    total: float | None = None
    at_most: bool = False  # the sum may also be less than ``total``
    floor: float = 0.0  # factors below it become zero
    final: bool = False  # a factor at zero stays there
    cap: float = np.inf  # the largest factor

    def flat(self, sigma: np.ndarray) -> bool:
        """Whether no curved boundary is near."""
        if self.total is None or self.q == self.power:
            return True
        return self.at_most and float(np.sum(sigma**self.q)) < 0.999 * self.total

    def moving(self, sigma: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """Which of the features ``alive`` may have another factor."""
        return alive[sigma[alive] > 0] if self.final else alive

    def factors(self, u: np.ndarray) -> np.ndarray:
        return u ** (1.0 / self.power)

    def slope(self, sigma: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The derivative by ``u`` from the derivative by sigma."""
        return gradient * np.maximum(sigma, TINY) ** (1.0 - self.power) / self.power

    def project(self, aim: np.ndarray, here: np.ndarray) -> np.ndarray:
        """A feasible point near ``aim``, for a step that begins at the feasible ``here``.

        The sum is linear in the variables if q equals the power. For a smaller q it is concave:
        the nearest point is then taken on its tangent at ``here``, along which the sum is
        never too large, and multiplied by one number to have the right sum. For q twice the
        power the set is a ball, where multiplication alone gives the nearest point.
        """
        top = self.cap**self.power
        v = np.clip(aim, 0.0, top)
        if self.total is not None and np.isfinite(top):
            budget = min(self.total, top * len(v))
            if not (self.at_most and v.sum() <= budget):
                v = onto_capped_simplex(aim, budget, top)
        elif self.total is not None:
            share = self.q / self.power
            if share <= 1.0:
                price = np.ones_like(here) if share == 1.0 else share * here ** (share - 1.0)
                budget = self.total + float(price @ here) - float(np.sum(here**share))
                if not (self.at_most and price @ v <= budget):
                    v = onto_simplex(aim, price, budget)
            v = self.feasible(v, share)
        v[v < self.floor**self.power] = 0.0
        return v

    def feasible(self, v: np.ndarray, share: float | None = None) -> np.ndarray:
        """The values, raised to q (or ``share``) in the sum, times one number to make it right."""
        if self.total is None or not v.any():
            return v
        power = self.q if share is None else share
        if np.isfinite(self.cap):
            return self._within_cap(v, power)
        have = float(np.sum(v**power))
        if self.at_most and have <= self.total:
            return v
        return np.asarray(v * (self.total / have) ** (1.0 / power))

    def _within_cap(self, v: np.ndarray, power: float) -> np.ndarray:
        """As :meth:`feasible`, where values that would exceed the cap stay at it."""
        assert self.total is not None
        top = self.cap ** (self.q / power)
        v = np.minimum(v, top)
        if self.at_most and float(np.sum(v**power)) <= self.total:
            return v
        for _ in range(len(v) + 1):
            below = (v > 0) & (v < top)
            missing = self.total - float(np.sum(v[~below] ** power))
            have = float(np.sum(v[below] ** power))
            if have == 0.0 or missing <= 0.0:
                break
            factor = (missing / have) ** (1.0 / power)
            v = np.where(below, np.minimum(v * factor, top), v)
            if factor <= 1.0 or not (v[below] >= top).any():
                break
        return v


def onto_capped_simplex(u: np.ndarray, budget: float, top: float) -> np.ndarray:
    """The point of ``{0 <= v <= top, sum(v) = budget}`` nearest to ``u``; ``budget <= n top``.

    It is ``clip(u - level, 0, top)`` with the level at which the sum is right; the sum is piecewise
    linear in the level, with a bend where a variable reaches a bound.
    """
    bends = np.unique(np.concatenate([u, u - top]))
    low, high = 0, len(bends) - 1  # the sum falls from n top at the first bend to 0 at the last
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(u - bends[middle], 0.0, top).sum() >= budget:
            low = middle
        else:
            high = middle
    ends = [float(np.clip(u - bends[k], 0.0, top).sum()) for k in (low, high)]
    fall = ends[0] - ends[1]
    part = (ends[0] - budget) / fall if fall > 0 else 0.0
    level = bends[low] + min(max(part, 0.0), 1.0) * (bends[high] - bends[low])
    return np.clip(u - level, 0.0, top)


def onto_simplex(u: np.ndarray, price: np.ndarray, budget: float) -> np.ndarray:
    """The point of ``{v >= 0, price'v = budget}`` nearest to ``u``; prices are positive."""
    falling = np.argsort(-u / price, kind="stable")
    bought = np.cumsum((price * u)[falling])
    squares = np.cumsum((price * price)[falling])
    level = (bought - budget) / squares
    # the first always passes, but for rounding
    last = np.flatnonzero((u / price)[falling] > level)[-1:].sum()
    return np.maximum(u - level[last] * price, 0.0)


class Point(NamedTuple):
    """Where a descent is, and how far its next step goes."""

    sigma: np.ndarray
    value: float
    slope: np.ndarray  # derivative by the variables of the domain
    rise: np.ndarray  # derivative by the squares of the factors, penalties left aside
    length: float  # of the next step; 0: not known yet
    warm: np.ndarray | None = None  # dual variables of the machines there


def point_at(
    objective: Judge,
    domain: Domain,
    sigma: np.ndarray,
    length: float = 0.0,
    warm: np.ndarray | None = None,
) -> Point:
    """Evaluate a feasible point."""
    return point_of(objective.at(sigma, warm), domain, sigma, length)


def step_from(objective: Judge, domain: Domain, point: Point, alive: np.ndarray) -> Point | None:
    """The next point, or None if no step lowers the objective; only ``alive`` features move."""
    sigma = point.sigma
    moving = domain.moving(sigma, alive)
    u = sigma[moving] ** domain.power
    slope = point.slope[moving]
    largest, steepest = float(u.max()), float(np.abs(slope).max(initial=0.0))
    if steepest == 0.0:
        return None
    if not math.isfinite(steepest):
        raise ValueError(TOO_LARGE)
    length = min(point.length or FIRST * largest / steepest, FARTHEST * largest / steepest)
    length = min(length, sys.float_info.max)  # where nothing is as good as flat
    for _ in range(TRIALS):
        v = domain.project(u - length * slope, u)
        move = v - u
        if float(np.abs(move).max()) <= SHORTEST * largest:
            return None
        if v.any():  # without any feature there is no machine
            trial = np.zeros_like(sigma)
            trial[moving] = domain.factors(v)
            there = objective.at(trial, point.warm)
            promised = ENOUGH * float(slope @ move)
            if there.value < point.value and there.value <= point.value + promised:
                following = point_of(there, domain, trial, length)
                return following._replace(length=_length(move, following, slope, moving))
        length *= SHORTER
    return None


def settled(values: list[float], tol: float) -> bool:
    """Whether the last steps together lowered the objective by less than the fraction ``tol``."""
    if len(values) <= LOOK_BACK:
        return False
    return values[-1 - LOOK_BACK] - values[-1] <= tol * abs(values[-1])


def point_of(here: Value, domain: Domain, sigma: np.ndarray, length: float) -> Point:
    """A point from what the objective said about it."""
    gradient = here.gradient()
    slope = domain.slope(sigma, gradient + here.toll)
    rise = gradient / (2.0 * np.maximum(sigma, TINY))
    return Point(sigma, here.value, slope, rise, length, here.warm)


def _length(move: np.ndarray, point: Point, before: np.ndarray, moving: np.ndarray) -> float:
    """The step that a quadratic function with the curvature just met would want."""
    curvature = float(move @ (point.slope[moving] - before))
    if curvature <= 0:  # bending down: further than this time
        return 3.0 * point.length
    return float(move @ move) / curvature


REMEMBERED = 10  # moves
CURVED = 1e-8  # least curvature of a move that is remembered, relative to its lengths
INNER = 200  # projections for one step
EXACT = 1e-6  # of the first step of the model: where its minimum is taken to be reached


def newton_step(
    objective: Judge, domain: Domain, point: Point, alive: np.ndarray, memory: np.ndarray
) -> Point | None:
    """The next point by the model, or None if it leads nowhere; only ``alive`` features move.

    ``memory`` holds the moves and the changes of the slope, one pair after the other.
    """
    if not len(memory):
        return None
    moving = domain.moving(point.sigma, alive)
    u = point.sigma[moving] ** domain.power
    # most of many features are at zero, and held there by their slope
    some = (u > 0) | (_gradient_step(domain, u, point.slope[moving]) > 0)
    moving, u = moving[some], u[some]
    slope = point.slope[moving]
    aim = _lowest(u, slope, memory[:, :, moving], lambda aim: domain.project(aim, u))
    move = aim - u
    promised = float(slope @ move)
    if promised >= 0.0 or float(np.abs(move).max()) <= SHORTEST * float(u.max()):
        return None
    length = 1.0
    for _ in range(TRIALS // 2):  # after that the plain gradient is tried
        v = aim if length == 1.0 else u + length * move
        v = domain.feasible(np.maximum(v, 0.0), domain.q / domain.power)  # but for rounding, it is
        trial = np.zeros_like(point.sigma)
        trial[moving] = domain.factors(v)
        there = objective.at(trial, point.warm)
        if there.value < point.value + ENOUGH * length * promised:
            return point_of(there, domain, trial, point.length)
        length *= SHORTER
    return None


def remember(memory: np.ndarray, domain: Domain, before: Point, after: Point) -> np.ndarray:
    """The memory with one more move in it, without the oldest if there are too many."""
    s = after.sigma**domain.power - before.sigma**domain.power
    y = after.slope - before.slope
    if not s @ y > CURVED * np.linalg.norm(s) * np.linalg.norm(y):
        return memory
    return np.concatenate([memory, [[s, y]]])[-REMEMBERED:]


def stationarity(domain: Domain, point: Point, alive: np.ndarray) -> float:
    """How far a step along the projected gradient goes, relative to the mean of those in use.

    Its length is such that one per cent is a slope off by one per cent, or a variable of one
    per cent of the mean that should be zero.
    """
    moving = domain.moving(point.sigma, alive)
    u = point.sigma[moving] ** domain.power
    there = _gradient_step(domain, u, point.slope[moving])
    return float(np.abs(there - u).max()) / float(u[u > 0].mean())


def _gradient_step(domain: Domain, u: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Where a step along the projected gradient leads that is as long as the variables are."""
    steep = float(np.abs(slope) @ u)
    if steep == 0.0:
        return u
    length = float(u[u > 0].mean()) * float(u.sum()) / steep
    return domain.project(u - length * slope, u)


def _lowest(
    u: np.ndarray,
    slope: np.ndarray,
    memory: np.ndarray,
    project: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """The minimum of the model over the feasible set, by projected gradients of its own."""
    times = _Matrix(memory[:, 0], memory[:, 1])
    v, gradient = u, slope
    length, first = 1.0 / times.theta, None
    for _ in range(INNER):
        steepest = float(np.abs(gradient).max())
        if steepest == 0.0:
            break
        # further away, rounding would spoil the projection
        length = min(length, FARTHEST * float(u.max()) / steepest)
        there = project(v - length * gradient)
        move = there - v
        size = float(np.abs(move).max())
        first = size if first is None else first
        if size <= EXACT * first:
            break
        bent = times(move)
        curvature = float(move @ bent)
        share = min(1.0, -float(gradient @ move) / curvature) if curvature > 0 else 1.0
        v = there if share == 1.0 else v + share * move  # the sum would not leave zeros zero
        gradient = gradient + share * bent
        length = float(move @ move) / curvature if curvature > 0 else length
    return v


class _Matrix:
    """Multiplication by ``B``."""

    def __init__(self, S: np.ndarray, Y: np.ndarray):
        inner = S @ Y.T
        self.theta = float(Y[-1] @ Y[-1]) / inner[-1, -1] if inner[-1, -1] > 0 else 1.0
        lower = np.tril(inner, -1)
        middle = np.block([[self.theta * (S @ S.T), lower], [lower.T, -np.diag(inner.diagonal())]])
        self.W = np.vstack([self.theta * S, Y])
        self.middle = np.linalg.pinv(middle)

    def __call__(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(self.theta * v - self.W.T @ (self.middle @ (self.W @ v)))
