r"""Many machines on one kernel matrix, one a column, all solved at once.

The problems are

.. math::

    \min_b \; f(b) = \tfrac12 b'Kb + p'b + \epsilon \sum_i |b_i|
    \quad\text{s.t.}\quad \sum_i b_i = 0,\; l \le b \le u,\qquad l \le 0 \le u

with ``p = -y`` and ``epsilon = 0`` for a classifier, ``p = -t`` for a regression. They differ in
``p``, the box and ``epsilon``; a sample that takes no part, because it is held out or of a third
class, has the box [0, 0] and stays. So all C, all splits and all pairs of classes share one matrix,
and a step for all of them is one product.

The method of multipliers splits the equality and the smooth part (``x``) from the box (``z``):

.. math::

    x &= \arg\min_{1'x = 0} \tfrac12 x'Kx + p'x + \tfrac\rho2 \|x - z + u\|^2
       = M(\rho(z - u) - p) - \nu M 1, \quad M = (K + \rho I)^{-1} \\
    \hat x &= 1.6\, x - 0.6\, z, \qquad
    z = \mathrm{prox}(\hat x + u), \qquad u \leftarrow u + \hat x - z

where prox shrinks by ``epsilon / rho`` and clips to the box. ``M`` is computed once.

Certificate: ``z`` is shifted inside its box until it sums to zero. With ``g = Kz + p``, any number
``m`` and ``r = g - m``, no feasible point is lower than ``f(z)`` by more than

.. math::

    \sum_i \epsilon |z_i| + r_i z_i
    + \max(0,\; -r_i l_i - \epsilon |l_i|,\; -r_i u_i - \epsilon |u_i|)

which for a machine is primal minus dual objective with the constant ``-m``. It is convex in ``m``
and piecewise linear; the best is where its slope changes sign. A column leaves as soon as its gap,
beside its dual objective ``-f(z)``, is small enough.

References
----------
.. [1] S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein (2011). Distributed optimization and
       statistical learning via the alternating direction method of multipliers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tamiz.gpu.inverse import shifted_inverse
from tamiz.gpu.lane import Lane

#: Over-relaxation.
_RELAXED = 1.6
#: Steps between two certificates, and at most.
_CHECK, _MOST_STEPS = 25, 500
#: A sign is looked for at so many points less one at a time, so often: to 1e-10 of the range.
_PARTS, _ROUNDS = 17, 8


class ColumnProblems(NamedTuple):
    """Problems that share one matrix: arrays of shape (n, m) on the card, ``tube`` (m,)."""

    p: Any
    lower: Any
    upper: Any
    tube: Any

    def some(self, keep: Any) -> ColumnProblems:
        """Some of the columns; ``keep`` is an array of the card."""
        return ColumnProblems(*(part[..., keep] for part in self))


class Certified(NamedTuple):
    """Feasible points and how far they can be from the optimum; arrays of the card."""

    b: Any  # (n, m)
    values: Any  # K b - m: decision values of a classifier, predictions of a regression
    gap: Any  # (m,), primal minus dual
    dual: Any  # (m,), minus the objective

    def relative(self) -> Any:
        """Gaps beside the dual objective; infinite while that is not positive."""
        return _ratio(self.gap, self.dual)


class ColumnAnswers(NamedTuple):
    """What came out, on the host."""

    b: np.ndarray
    values: np.ndarray
    gap: np.ndarray  # relative
    steps: np.ndarray


def solve_columns(
    lane: Lane,
    K: Any,
    problems: ColumnProblems,
    rho: float,
    gap: float,
    start: Any = None,
    most_steps: int = _MOST_STEPS,
) -> ColumnAnswers:
    """Solve all columns up to a relative duality gap, or as far as the steps go.

    Parameters
    ----------
    lane : Lane
        The card.
    K : array of shape (n, n)
        The kernel matrix in float64, on the card.
    problems : ColumnProblems
        What to solve.
    rho : float
        Penalty of the method; 20 / C is good for a wide range of problems.
    gap : float
        Relative duality gap to reach.
    start : array of shape (n, m), optional
        Points to begin with, on the card; feasible or not.
    most_steps : int, default=500
        Limit on the steps.

    Returns
    -------
    answers : ColumnAnswers
        Columns with a larger gap than asked for hold the last point.

    Examples
    --------
    Two points, one of each class, with C = 1 and C = 0.1:

    >>> import numpy as np
    >>> from tamiz.gpu import emulated
    >>> from tamiz.gpu.columns import ColumnProblems, solve_columns
    >>> y, C = np.array([[-1.0], [1.0]]), np.array([[1.0, 0.1]])
    >>> with emulated() as lane:
    ...     send = lane.to_device
    ...     box = send(np.minimum(0, y) * C), send(np.maximum(0, y) * C)
    ...     problems = ColumnProblems(send(np.hstack([-y, -y])), *box, send(np.zeros(2)))
    ...     found = solve_columns(lane, send(np.eye(2) * 2.0), problems, 20.0, 1e-6)
    >>> found.b.round(3).tolist(), bool((found.gap <= 1e-6).all())
    ([[-0.5, -0.1], [0.5, 0.1]], True)
    """
    xp = lane.xp
    n, m = problems.p.shape
    lane.require(
        bytes_of_columns(n, m),
        f"inverses for {m:,} machines of {n:,} samples at once",
        size=n,
        power=2,
    )
    with lane.guarded("machines that are solved together"):
        z = xp.zeros((n, m), dtype=np.float64)
        u = xp.zeros((n, m), dtype=np.float64)
        live, answers = np.arange(m), _no_answers(n, m)
        if start is not None:
            point = certify(lane, K, problems, start)
            z, u = point.b.copy(), -(point.values + problems.p) / rho
            live, z, u, problems = _leave(lane, point, answers, live, (z, u, problems), gap)
        if not len(live):  # the inverse takes longer than all steps
            return answers
        inverse, share = _inverse(xp, K, rho)
        for step in range(1, most_steps + 1):
            x = inverse @ (rho * (z - u) - problems.p)
            x -= share[:, None] * x.sum(axis=0)
            u += _RELAXED * x + (1.0 - _RELAXED) * z
            z = _prox(xp, u, problems, rho)
            u -= z
            if step % _CHECK == 0 or step == most_steps:
                answers.steps[live] = step
                point, final = certify(lane, K, problems, z), step == most_steps
                live, z, u, problems = _leave(
                    lane, point, answers, live, (z, u, problems), np.inf if final else gap
                )
                if not len(live):
                    break
    return answers


def bytes_of_columns(n: int, m: int) -> float:
    """Memory of the card that so many columns take: inverses beside the matrix, and the rest."""
    return 8.0 * (4.0 * n * n + (16.0 + 4.0 * _PARTS) * n * m)


def certify(lane: Lane, K: Any, problems: ColumnProblems, z: Any) -> Certified:
    """Make points feasible, and bound their distance to the optimum."""
    xp = lane.xp
    b = feasible(lane, problems, z)
    product = K @ b
    m = _best_multiplier(xp, product + problems.p, problems)
    values = product - m
    r, tube = values + problems.p, problems.tube
    ends = (-r * end - tube * xp.abs(end) for end in (problems.lower, problems.upper))
    best_end = xp.maximum(xp.maximum(*ends), 0.0)
    size = tube * xp.abs(b)
    gap = xp.maximum((size + r * b + best_end).sum(axis=0), 0.0)
    dual = -((0.5 * product + problems.p) * b + size).sum(axis=0)
    return Certified(b, values, gap, dual)


def feasible(lane: Lane, problems: ColumnProblems, z: Any) -> Any:
    """Points of the boxes that sum to zero: those given, shifted and clipped."""
    xp = lane.xp
    lower, upper = problems.lower, problems.upper
    inside = xp.clip(z, lower, upper)
    balanced = xp.abs(inside.sum(axis=0)) <= 1e-12 * xp.abs(inside).sum(axis=0)
    far = xp.where(balanced, 0.0, (xp.abs(z) + upper - lower).max(axis=0))
    points, low, high = z[:, :, None], lower[:, :, None], upper[:, :, None]
    shift = _first_above(xp, -far, far, lambda c: xp.clip(points + c, low, high).sum(axis=0) > 0.0)
    b = xp.clip(z + shift, lower, upper)
    # what is left is taken from all, each by its room
    left = b.sum(axis=0)
    room = xp.where(left > 0.0, b - lower, upper - b)
    return xp.clip(b - room * (left / xp.maximum(room.sum(axis=0), 1e-300)), lower, upper)


def _best_multiplier(xp: Any, g: Any, problems: ColumnProblems) -> Any:
    """Where the slope of the gap changes its sign, for each column.

    Where it is zero over an interval the middle of that, as with :func:`tamiz.qp.optimality`.
    """
    tube = problems.tube
    movable = problems.lower < problems.upper
    least = xp.where(movable, g, xp.inf).min(axis=0) - tube
    most = xp.where(movable, g, -xp.inf).max(axis=0) + tube
    none = least > most  # a column without variables
    least, most = xp.where(none, 0.0, least), xp.where(none, 0.0, most)
    total = 0.0
    for sign in (1.0, -1.0):

        def rises(candidates: Any, sign: float = sign) -> Any:
            slope, size = _slope(xp, g[:, :, None] - candidates, problems)
            return slope > sign * 1e-9 * size

        total = total + _first_above(xp, least, most, rises)
    return 0.5 * total


def _first_above(xp: Any, low: Any, high: Any, above: Callable[[Any], Any]) -> Any:
    """Where a monotone condition begins to hold, for each column.

    ``above`` gets candidates, (m, k), and says of which it holds. Many are tried at once, since a
    card takes about as long for one: each round leaves one part of so many.
    """
    parts = xp.arange(1, _PARTS, dtype=np.float64) / _PARTS
    for _ in range(_ROUNDS):
        width = (high - low) / _PARTS
        below = ~above(low[:, None] + (high - low)[:, None] * parts)
        low = low + width * below.sum(axis=1)
        high = low + width
    return 0.5 * (low + high)


def _slope(xp: Any, r: Any, problems: ColumnProblems) -> tuple[Any, Any]:
    """The slope of the gap by the multiplier, and the size of its terms; ``r`` is (n, m, k)."""
    tube = problems.tube[:, None]
    up = xp.where(r < -tube, problems.upper[:, :, None], 0.0).sum(axis=0)
    down = xp.where(r > tube, problems.lower[:, :, None], 0.0).sum(axis=0)
    return up + down, up - down


def _inverse(xp: Any, K: Any, rho: float) -> tuple[Any, Any]:
    """The inverse of ``K + rho I``, and its row sums, which are scaled to sum to one."""
    inverse = shifted_inverse(xp, K, rho)
    ones = inverse.sum(axis=1)
    return inverse, ones / ones.sum()


def _prox(xp: Any, v: Any, problems: ColumnProblems, rho: float) -> Any:
    shrink = problems.tube / rho
    inner = v - xp.clip(v, -shrink, shrink)
    return xp.clip(inner, problems.lower, problems.upper)


def _no_answers(n: int, m: int) -> ColumnAnswers:
    shape = n, m
    return ColumnAnswers(
        np.zeros(shape), np.zeros(shape), np.full(m, np.inf), np.zeros(m, dtype=np.intp)
    )


def _leave(
    lane: Lane,
    point: Certified,
    answers: ColumnAnswers,
    live: np.ndarray,
    state: tuple[Any, Any, ColumnProblems],
    gap: float,
) -> tuple[np.ndarray, Any, Any, ColumnProblems]:
    """Write down columns whose gap is small enough, and go on with the others."""
    now = lane.to_host(point.relative())
    z, u, problems = state
    done = now <= gap
    if not done.any():
        return live, z, u, problems
    which, at = live[done], lane.to_device(np.flatnonzero(done), np.int64)
    answers.b[:, which] = lane.to_host(point.b[:, at])
    answers.values[:, which] = lane.to_host(point.values[:, at])
    answers.gap[which] = now[done]
    keep = lane.to_device(np.flatnonzero(~done), np.int64)
    return live[~done], z[:, keep], u[:, keep], problems.some(keep)


def _ratio(gap: Any, dual: Any) -> Any:
    # division by what is not positive would warn
    safe = dual + (dual <= 0.0) * (1.0 - dual)
    return gap / safe + (dual <= 0.0) * 1e300
