r"""One Newton step on the free variables, kept inside the box.

For the sign-free problem of :mod:`tamiz.qp.problem`: with the variables at bounds fixed, the minimum
over the free ones ``F`` solves ``K_FF step + g_F = m 1``, ``sum(step) = 0``. Variables that the step
would carry out of the box are set to their bound and the others solved for again, a few times; what
comes out is a feasible direction along which the exact minimum is taken. The objective therefore
never rises, whatever the guess of ``F`` was worth.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

#: Factorising more free variables than this costs more than the pair steps it saves.
MAX_FREE = 2000
_ROUNDS = 4
_RIDGE = 1e-9


def newton_step(
    K: np.ndarray, b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> bool:
    """Move ``b`` and its gradient ``g`` in place; return whether anything moved."""
    free = np.flatnonzero((b > lower) & (b < upper))
    if not 2 <= len(free) <= MAX_FREE:
        return False
    step = np.zeros(len(free))
    moving = np.ones(len(free), dtype=bool)
    Kff = K[np.ix_(free, free)].astype(np.float64)
    room_up, room_down = upper[free] - b[free], lower[free] - b[free]
    for _ in range(_ROUNDS):
        rhs = -g[free][moving] - Kff[np.ix_(moving, ~moving)] @ step[~moving]
        solution = _solve(Kff[np.ix_(moving, moving)], rhs, -float(step[~moving].sum()))
        if solution is None:
            return False
        step[moving] = solution
        outside = moving & ((step > room_up) | (step < room_down))
        if not outside.any():
            break
        step = np.clip(step, room_down, room_up)
        moving &= ~outside
        if moving.sum() < 2:
            return False
    step = np.clip(step, room_down, room_up)
    # Clipping in the last round may have left a sum; spread what the others can take.
    step = _with_sum_zero(step, room_down, room_up)
    if step is None:
        return False
    curved = Kff @ step
    slope, curvature = float(g[free] @ step), float(step @ curved)
    if slope >= 0.0:
        return False
    length = min(1.0, -slope / curvature) if curvature > 0.0 else 1.0
    moved = b[free] + length * step
    if length == 1.0:  # exactly at the bound where the step was cut
        moved = np.where(step >= room_up, upper[free], moved)
        moved = np.where(step <= room_down, lower[free], moved)
    change = moved - b[free]
    b[free] = moved
    g += change.astype(K.dtype) @ K[free]
    return True


def _solve(K: np.ndarray, rhs: np.ndarray, total: float) -> np.ndarray | None:
    """``step`` with ``K step - rhs`` constant and ``sum(step) = total``."""
    ridge = _RIDGE * max(float(K.trace()) / len(K), 1e-300)
    K = K.copy()
    K.flat[:: len(K) + 1] += ridge
    try:
        factor = linalg.cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    both = linalg.cho_solve(factor, np.column_stack([rhs, np.ones(len(rhs))]), check_finite=False)
    ones = float(both[:, 1].sum())
    if not np.isfinite(both).all() or ones <= 0.0:
        return None
    return both[:, 0] + (total - both[:, 0].sum()) / ones * both[:, 1]


def _with_sum_zero(step: np.ndarray, down: np.ndarray, up: np.ndarray) -> np.ndarray | None:
    """Correct a rounding or clipping remainder of the sum where there is room."""
    for _ in range(20):
        rest = -float(step.sum())
        if abs(rest) <= 1e-13 * max(1.0, float(np.abs(step).sum())):
            return step
        room = (up - step) if rest > 0 else (step - down)
        room = np.where(np.isfinite(room), room, max(1.0, abs(rest)))
        total = float(room.sum())
        if total < abs(rest):
            return None
        step = step + np.sign(rest) * room * (abs(rest) / total)
    return None
