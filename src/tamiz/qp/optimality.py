"""Optimality: multiplier, violation, duality gap of the sign-free problem.

With the gradient ``g = Qb + p`` and the multiplier ``m`` of ``sum(b) = d``, a point is optimal when
``g_v >= m`` wherever ``b_v`` can still grow and ``g_v <= m`` wherever it can still shrink. The
violation is therefore ``max(g over those that can shrink) - min(g over those that can grow)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Optimality(NamedTuple):
    """How far a point is from the optimum."""

    violation: float  # 0 or less: optimal
    multiplier: float  # of the equality; minus the bias of a machine
    gap: float | None  # bound on the distance to the optimal objective; None if no bound is known


def optimality(b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Optimality:
    """Violation, multiplier and duality gap at ``b`` with gradient ``g``."""
    violation = kkt_violation(b, g, lower, upper)
    multiplier = equality_multiplier(b, g, lower, upper)
    return Optimality(violation, multiplier, duality_gap(b, g, lower, upper, multiplier))


def kkt_violation(b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Largest decrease rate of the objective along a feasible pair direction, at least zero."""
    grow = g[b < upper]
    shrink = g[b > lower]
    if not len(grow) or not len(shrink):
        return 0.0
    return max(0.0, float(shrink.max() - grow.min()))


def equality_multiplier(
    b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> float:
    """Mean gradient of the free variables, or the midpoint of the admissible interval.

    Without free variables the multiplier is not unique; variables at their upper bound give the
    lower end of the interval, variables at their lower bound the upper end. Variables whose
    bounds coincide say nothing.
    """
    free = (b > lower) & (b < upper)
    if free.any():
        return float(g[free].mean())
    movable = lower < upper
    at_upper = g[movable & (b >= upper)]
    at_lower = g[movable & (b <= lower)]
    ends = [side for side in (at_upper.max(initial=-np.inf), at_lower.min(initial=np.inf))]
    finite = [float(end) for end in ends if np.isfinite(end)]
    return sum(finite) / len(finite) if finite else 0.0


def duality_gap(
    b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray, multiplier: float
) -> float | None:
    """Primal minus dual objective for a convex problem; ``None`` where a bound is infinite.

    The dual point is the multiplier with the best multipliers of the bounds, which leaves
    ``sum(max(r, 0) (b - lower) + max(-r, 0) (upper - b))`` with ``r = g - multiplier``.
    """
    r = g - multiplier
    down, up = r > 0, r < 0
    with np.errstate(invalid="ignore"):
        gap = float(r[down] @ (b - lower)[down] - r[up] @ (upper - b)[up])
    return gap if np.isfinite(gap) else None
