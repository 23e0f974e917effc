r"""Steps that remember curvature, for descents that must come to rest.

The projected gradient of :mod:`tamiz.embedded.scaling.descent` finds low points quickly and the
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
.. [1] M. Schmidt, E. van den Berg, M. P. Friedlander, K. Murphy (2009). Optimizing costly functions
       with simple constraints: a limited-memory projected quasi-Newton algorithm. AISTATS.
.. [2] R. H. Byrd, J. Nocedal, R. B. Schnabel (1994). Representations of quasi-Newton matrices and
       their use in limited memory methods. Mathematical Programming 63.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tamiz.embedded.scaling.descent import (
    ENOUGH,
    FARTHEST,
    SHORTER,
    SHORTEST,
    TRIALS,
    Domain,
    Judge,
    Point,
    point_of,
)

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
