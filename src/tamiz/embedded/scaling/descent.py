r"""Descent over scaling factors that never goes up.

.. math::

    \min_\sigma \; F(\sigma) \quad\text{s.t.}\quad \sigma \ge 0,\;
    \textstyle\sum_j \sigma_j^q = T \;\text{(or without this sum)}

Steps are taken in variables such as :math:`u_j = \sigma_j^2`, in which the feasible set is an
orthant or, for q = 2, a simplex: points are projected onto it exactly, and factors become exactly
zero. They follow the projected gradient with
the lengths of Barzilai and Borwein, shortened until the objective, with its machines solved anew,
has fallen far enough.

References
----------
E. G. Birgin, J. M. Martínez, M. Raydan (2000). Nonmonotone spectral projected gradient methods on
convex sets. SIAM Journal on Optimization 10. (Here in a monotone form.)
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from tamiz.embedded.scaling.machines import TINY, Value

ENOUGH = 1e-4  # share of the decrease promised by the gradient that a step must bring
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
    """Where the factors may lie: ``sigma >= 0`` and, with ``total``, ``sum(sigma**q) = total``.

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
        v = np.maximum(aim, 0.0)
        if self.total is not None:
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
        have = float(np.sum(v**power))
        if self.at_most and have <= self.total:
            return v
        return np.asarray(v * (self.total / have) ** (1.0 / power))


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
    length = min(point.length or FIRST * largest / steepest, FARTHEST * largest / steepest)
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
    """Whether the last steps together lowered the objective by less than the share ``tol``."""
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
