r"""Sequential minimal optimisation: working sets of two, chosen to second order.

Solves, in the sign-free variables ``b = y * a`` of :mod:`tamiz.qp.problem`,

.. math::

    \min_b \; \tfrac12 b'Kb + p'b \quad\text{s.t.}\quad \sum_v b_v = d,\; l \le b \le u

Each iteration takes ``i``, the variable that can grow with the least gradient, and the ``j`` that
can shrink for which the decrease ``(g_j - g_i)^2 / (K_ii + K_jj - 2 K_ij)`` is largest, and moves
the pair to its exact minimum inside the box. The matrix is dense here; larger problems reach this
code through :mod:`tamiz.solvers.decomposition` in blocks.

Two things make it fast. The pass that updates the gradient also finds the next ``i`` and the KKT
violation, so that each iteration reads every vector twice and no more. And variables that sit at
a bound for good are left out by copying the rest of the matrix together ("shrinking"): loops then
run over contiguous memory, which index lists would prevent.

References
----------
.. [1] J. C. Platt (1998). Sequential minimal optimization.
.. [2] R.-E. Fan, P.-H. Chen, C.-J. Lin (2005). Working set selection using second order
       information for training support vector machines. JMLR 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.qp.matrices import DenseQ, add_rows, take_block
from tamiz.qp.problem import QuadraticProblem, SignFreeProblem
from tamiz.runtime.progress import Progress
from tamiz.solvers.descent import Descent, slice_steps
from tamiz.solvers.frame import CODES, QPResult, State, Status, iteration_limit, run_solver
from tamiz.solvers.pairs import CONVERGED, RUNNING, BoxPoint

_SHRINK_MIN = 256
_MAX_UNSHRINKS = 5


def solve_smo(
    problem: QuadraticProblem,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    start: np.ndarray | None = None,
    shrinking: bool = True,
    polished: bool = False,
    verbose: bool | int = 0,
) -> QPResult:
    """Solve the quadratic problem with the whole matrix in memory.

    Parameters
    ----------
    problem : QuadraticProblem
        The problem.
    tol : float, default=1e-3
        Largest KKT violation accepted.
    max_iter : int, default=-1
        Limit on pair steps; -1 stands for a limit that only a defective problem reaches.
    start : array of shape (n,), optional
        Warm start; moved to the nearest simple feasible point if necessary.
    shrinking : bool, default=True
        Leave out variables that stay at a bound.
    polished : bool, default=False
        Drive the violation to rounding level where the problem is small (see
        :func:`tamiz.solvers.descent.finish`).
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    result : QPResult
    """
    base, _ = problem.Q.unsigned(problem.y).repeated()
    base.dense()  # first, so that the gradient of a warm start comes from it
    return run_solver(problem, _smo, tol, max_iter, start, verbose, polished, shrinking=shrinking)


def descend(K: np.ndarray, point: BoxPoint, p: np.ndarray, tol: float) -> tuple[BoxPoint, Status]:
    """Go on from a feasible point with its gradient to the tolerance; a new point, and its status.

    The equality is ``sum(b) = 0``; ``p`` is the linear term.
    """
    b, g, lower, upper = point
    problem = SignFreeProblem(DenseQ(K), p, 0.0, lower, upper)
    state = State(problem, b, lambda _: g - p)
    state.point = state.point[0], g
    _smo(state, tol, iteration_limit(-1, len(b)), Progress("", 0), shrinking=True)
    return BoxPoint(*state.point, lower, upper), state.status


def _smo(state: State, tol: float, limit: int, progress: Progress, *, shrinking: bool) -> None:
    base, copies = state.free.Q.repeated()
    K = base.dense()
    unshrinks = 0
    while True:
        allowed = shrinking and unshrinks < _MAX_UNSHRINKS
        code, left_out = _minimise(K, copies, state, tol, limit, progress, allowed)
        state.status = CODES[code]
        if not left_out or code != CONVERGED:
            return
        unshrinks += 1


def _minimise(
    K: np.ndarray,
    copies: int,
    state: State,
    tol: float,
    limit: int,
    progress: Progress,
    shrinking: bool,
) -> tuple[int, bool]:
    """Run pair steps on ever smaller parts of the matrix; write the result back to the state.

    Returns the code of the last run and whether variables had been left out, in which case
    optimality is shown for the rest only.
    """
    free, n = state.free, len(K)
    kept = np.arange(n)  # samples still in play
    part, descent = K, Descent(K, copies)
    b, g = state.point
    point = BoxPoint(b.copy(), g.copy(), free.lower, free.upper)
    whole = point.b  # the point over all variables, up to date wherever nothing is in play any more
    try:
        while True:
            steps = min(
                limit - state.iterations, slice_steps(len(point.b)), max(1000, len(point.b))
            )
            if steps <= 0:
                return RUNNING, len(kept) < n
            code, done, low, high = descent.run(point, tol, steps)
            state.iterations += done
            progress.update(f"{state.iterations:,} steps, KKT violation {high - low:.2g}")
            if code != RUNNING:
                return code, len(kept) < n
            if not shrinking or len(kept) < _SHRINK_MIN:
                continue
            play: Any = _in_play(point, low, high).reshape(copies, -1).any(axis=0)
            # Copying the rest costs its size squared; what it saves, if as many steps are still to
            # come as were taken, is the steps times the samples left out.
            if state.iterations * (len(play) - play.sum()) < 2 * play.sum() ** 2:
                continue
            if len(kept) == n:
                state.point = point.b, point.g
                whole = point.b.copy()
            else:
                whole[_variables(kept, copies, n)] = point.b
            stay = np.flatnonzero(play)
            local = _variables(stay, copies, len(play))
            index = _variables(kept[stay], copies, n)
            smaller = take_block(part, stay)
            # In one assignment, so that an interruption finds all of it or none.
            kept, part, descent, point = (
                kept[stay],
                smaller,
                Descent(smaller, copies),
                BoxPoint(point.b[local], point.g[local], free.lower[index], free.upper[index]),
            )
    finally:
        if len(kept) == n:
            state.point = point.b, point.g
        else:
            whole[_variables(kept, copies, n)] = point.b
            change = (whole - state.point[0]).reshape(copies, n).sum(axis=0)
            moved = np.flatnonzero(change)
            step = np.zeros(n)
            add_rows(K, moved, change[moved], step)
            state.point = whole, state.point[1] + np.tile(step, copies)


def _variables(samples: np.ndarray, copies: int, n: int) -> np.ndarray:
    """Indices of the variables that belong to ``samples`` among ``copies`` blocks of ``n``."""
    return (samples + n * np.arange(copies)[:, None]).ravel()


def _in_play(point: BoxPoint, low: float, high: float) -> np.ndarray:
    """Variables that may still move: not those at a bound with a gradient beyond all others."""
    b, g, lower, upper = point
    at_lower = (b <= lower) & (g > high)
    at_upper = (b >= upper) & (g < low)
    return ~(at_lower | at_upper)
