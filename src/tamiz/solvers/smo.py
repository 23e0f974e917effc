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

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.extending import intrinsic

from tamiz._progress import Progress
from tamiz.qp.blocks import add_rows, take_block
from tamiz.qp.kkt import kkt_violation, optimality
from tamiz.qp.problem import InfeasibleError, QuadraticProblem, SignFreeProblem
from tamiz.solvers.newton import newton
from tamiz.solvers.result import QPResult, Status

#: What the compiled loop reports.
CODES = (Status.CONVERGED, Status.MAX_ITER, Status.STALLED, Status.UNBOUNDED)
CONVERGED, RUNNING, STALLED, UNBOUNDED = range(4)

#: A compiled run lasts about this long, so that Ctrl-C is noticed.
_SLICE_SECONDS = 0.1

_SHRINK_MIN = 256

#: Newton steps are considered up to this many free variables, and cut this often at the most.
_NEWTON_FREE = 200
_NEWTON_CUTS = 60
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
        :mod:`tamiz.solvers.polish`).
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    result : QPResult
    """
    base, _ = problem.Q.unsigned(problem.y).repeated()
    base.dense()  # first, so that the gradient of a warm start comes from it
    return run_solver(problem, _smo, tol, max_iter, start, verbose, polished, shrinking=shrinking)


def iteration_limit(max_iter: int, n: int) -> int:
    """The limit meant by ``max_iter``, where -1 stands for one that is generous but finite."""
    return max_iter if max_iter >= 0 else max(10_000_000, 100 * n)


class State:
    """The current point and its gradient.

    Both change together in one assignment, so that an interruption never finds them apart.
    """

    def __init__(
        self,
        free: SignFreeProblem,
        start: np.ndarray | None,
        dot: Callable[[np.ndarray], np.ndarray] | None = None,
    ):
        self.free = free
        b = free.feasible_start(start)
        multiply = dot or free.Q.dot
        self.point = b, (free.p + multiply(b) if b.any() else free.p.copy())
        self.iterations = 0
        self.status = Status.MAX_ITER

    def refresh(self) -> None:
        """Recompute the gradient from entries in float64."""
        b = self.point[0]
        self.point = b, self.free.p + self.free.Q.exact_dot(b)

    def violation(self) -> float:
        """KKT violation at the current point."""
        return kkt_violation(*self.point, self.free.lower, self.free.upper)


def run_solver(
    problem: QuadraticProblem,
    solve: Callable[..., None],
    tol: float,
    max_iter: int,
    start: np.ndarray | None,
    verbose: bool | int,
    polished: bool,
    **options: Any,
) -> QPResult:
    """Frame shared by the solvers: start, loop, interruption, exactness, result.

    ``solve(state, tol, limit, progress, **options)`` iterates until converged and sets
    ``state.status``. Where the matrix is held in float32 and its rounding could hide a violation
    larger than the tolerance, the gradient is recomputed in float64 and the loop goes on from it.
    """
    free = problem.sign_free()
    try:
        cache = options.get("cache")
        state = State(
            free,
            None if start is None else np.asarray(start) * problem.y,
            None if cache is None else cache.dot_variables,
        )
    except InfeasibleError:
        a = np.clip(np.zeros(problem.n), problem.lower, problem.upper)
        return QPResult(a, None, None, None, None, None, 0, Status.INFEASIBLE)
    limit = iteration_limit(max_iter, problem.n)
    with Progress("solving", verbose) as progress:
        try:
            solve(state, tol, limit, progress, **options)
            for _ in range(10):
                # Errors of entries are independent and mostly far below their bound.
                rounding = free.Q.entry_error * float(np.linalg.norm(state.point[0]))
                if state.status is not Status.CONVERGED or rounding <= 0.25 * tol:
                    break
                state.refresh()
                if state.violation() <= tol:
                    break
                solve(state, tol, limit, progress, **options)
            if polished and state.status is Status.CONVERGED:
                from tamiz.solvers.polish import polish

                polish(state)
        except KeyboardInterrupt:
            state.status = Status.INTERRUPTED
    return _result(problem, state, tol)


def _result(problem: QuadraticProblem, state: State, tol: float) -> QPResult:
    free = state.free
    b, g = state.point
    violation, multiplier, gap = optimality(b, g, free.lower, free.upper)
    if violation <= tol and state.status is not Status.UNBOUNDED:
        state.status = Status.CONVERGED
    a = problem.from_sign_free(b, free)
    return QPResult(
        a=a,
        gradient=g * problem.y,
        objective=float(0.5 * b @ (g + free.p)),
        gap=gap,
        violation=violation,
        multiplier=multiplier,
        iterations=state.iterations,
        status=state.status,
    )


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
    part, lower, upper = K, free.lower, free.upper
    descent = Descent(part, copies)
    b, g = (array.copy() for array in state.point)
    whole = b  # the point over all variables, up to date wherever nothing is in play any more
    try:
        while True:
            steps = min(limit - state.iterations, slice_steps(len(b)), max(1000, len(b)))
            if steps <= 0:
                return RUNNING, len(kept) < n
            code, done, low, high = descent.run(b, g, lower, upper, tol, steps)
            state.iterations += done
            progress.update(f"{state.iterations:,} steps, KKT violation {high - low:.2g}")
            if code != RUNNING:
                return code, len(kept) < n
            if not shrinking or len(kept) < _SHRINK_MIN:
                continue
            play: Any = _in_play(b, g, lower, upper, low, high).reshape(copies, -1).any(axis=0)
            # Copying the rest costs its size squared; what it saves, if as many steps are still to
            # come as were taken, is the steps times the samples left out.
            if state.iterations * (len(play) - play.sum()) < 2 * play.sum() ** 2:
                continue
            if len(kept) == n:
                state.point = b, g
                whole = b.copy()
            else:
                whole[_variables(kept, copies, n)] = b
            stay = np.flatnonzero(play)
            kept, part = kept[stay], take_block(part, stay)
            b, g = (array[_variables(stay, copies, len(play))] for array in (b, g))
            index = _variables(kept, copies, n)
            lower, upper = free.lower[index], free.upper[index]
            descent = Descent(part, copies)
    finally:
        if len(kept) == n:
            state.point = b, g
        else:
            whole[_variables(kept, copies, n)] = b
            change = (whole - state.point[0]).reshape(copies, n).sum(axis=0)
            moved = np.flatnonzero(change)
            step = np.zeros(n)
            add_rows(K, moved, change[moved], step)
            state.point = whole, state.point[1] + np.tile(step, copies)


class Descent:
    """Pair steps on a dense matrix, with a Newton step in between where that pays.

    Both kinds of step are counted in the nanoseconds they should take; a Newton step is tried when
    the pair steps since the last one have cost as much as it will. It costs little where pair steps
    converge soon, and ends the creeping where they do not. Costs are estimates and not measured,
    so that the same problem always takes the same path.
    """

    def __init__(self, K: np.ndarray, copies: int):
        self.K = K
        self.diag = diagonal(K)
        self.copies = copies
        self.spent = 0.0  # on pair steps since the last Newton step
        self.solves = 2  # of the last Newton step, a guess at first

    def run(
        self,
        b: np.ndarray,
        g: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        tol: float,
        max_steps: int,
    ) -> tuple[int, int, float, float]:
        """Take up to ``max_steps`` pair steps; arguments and result as :func:`run_pairs`."""
        total = 0
        per_step = 300.0 + 1.3 * len(b)
        while True:
            steps = min(max_steps - total, max(200, len(b) // 8))
            code, done, low, high = run_pairs(
                self.K, self.diag, self.copies, g, b, lower, upper, tol, steps
            )
            total += done
            self.spent += per_step * done
            if code != RUNNING or total >= max_steps:
                return code, total, low, high
            free = int(np.count_nonzero((b > lower) & (b < upper)))
            price = self.solves * (20_000.0 + 0.05 * free**3) + 0.5 * free * len(b)
            if 2 <= free <= _NEWTON_FREE and self.spent >= price:
                self.solves = newton(
                    self.K,
                    self.copies,
                    b,
                    g,
                    lower,
                    upper,
                    max_free=_NEWTON_FREE,
                    max_cuts=_NEWTON_CUTS,
                )
                self.spent = 0.0


def diagonal(K: np.ndarray) -> np.ndarray:
    """The diagonal as a contiguous array of the same type."""
    return np.ascontiguousarray(K.diagonal())


def _variables(samples: np.ndarray, copies: int, n: int) -> np.ndarray:
    """Indices of the variables that belong to ``samples`` among ``copies`` blocks of ``n``."""
    return (samples + n * np.arange(copies)[:, None]).ravel()


def slice_steps(n_variables: int) -> int:
    """Pair steps that take about as long as one compiled run should."""
    return max(100, int(_SLICE_SECONDS / (2e-7 + 2e-9 * n_variables)))


def _in_play(
    b: np.ndarray,
    g: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    low: float,
    high: float,
) -> np.ndarray:
    """Variables that may still move: not those at a bound with a gradient beyond all others."""
    at_lower = (b <= lower) & (g > high)
    at_upper = (b >= upper) & (g < low)
    return ~(at_lower | at_upper)


# Comparisons may be reordered and NaN does not occur; infinities do (bounds), so they are honoured.
_FAST = {"nnan", "nsz", "reassoc", "contract", "arcp"}
_BLOCK = 512
_FAR = 1e37
_LEAST_CURVATURE = 1e-12


@njit(cache=True, nogil=True)
def run_pairs(K, diag, copies, g, b, lower, upper, tol, max_steps):  # type: ignore[no-untyped-def]
    """Take up to ``max_steps`` pair steps; ``b`` and its gradient ``g`` change in place.

    ``K`` is the matrix of the samples and ``diag`` its diagonal; variables are ``copies`` blocks of
    as many entries. Returns a code, the number of steps, and the least and greatest gradient that bound the
    violation.
    """
    n = K.shape[0]
    size = copies * n
    up = np.empty(size, dtype=np.float32)  # 0 where b can grow, far where not
    down = np.empty(size, dtype=np.float32)
    for v in range(size):
        up[v] = 0.0 if b[v] < upper[v] else _FAR
        down[v] = 0.0 if b[v] > lower[v] else _FAR
    eps = 1e-15 if K.itemsize == 8 else 3e-7
    i, low, high = _scan(g, up, down)
    steps = 0
    while True:
        if i < 0 or not high - low > tol:
            return CONVERGED, steps, low, high
        if steps >= max_steps:
            return RUNNING, steps, low, high
        row_i = K[i % n]
        j = _second_order(g, down, row_i, diag, i % n, low, copies)
        if j < 0:
            return STALLED, steps, low, high
        row_j = K[j % n]
        curvature = float(diag[i % n]) + float(diag[j % n]) - 2.0 * float(row_i[j % n])
        floor = eps * (abs(float(diag[i % n])) + abs(float(diag[j % n]))) + 1e-300
        room_i = upper[i] - b[i]
        room_j = b[j] - lower[j]
        room = min(room_i, room_j)
        if curvature > floor:
            step = (g[j] - low) / curvature
        elif room < np.inf:
            step = room
        else:
            return UNBOUNDED, steps, low, high
        if step >= room:
            step = room
        old_i, old_j = b[i], b[j]
        b[i] = upper[i] if step >= room_i else old_i + step
        b[j] = lower[j] if step >= room_j else old_j - step
        if step < room and (b[i] == old_i or b[j] == old_j):
            b[i], b[j] = old_i, old_j  # the step is lost in rounding
            return STALLED, steps, low, high
        up[i] = 0.0 if b[i] < upper[i] else _FAR
        down[i] = 0.0 if b[i] > lower[i] else _FAR
        up[j] = 0.0 if b[j] < upper[j] else _FAR
        down[j] = 0.0 if b[j] > lower[j] else _FAR
        i, low, high = _update(g, up, down, row_i, row_j, step, copies)
        steps += 1


@njit(cache=True, nogil=True)
def _scan(g, up, down):  # type: ignore[no-untyped-def]
    """The variable that can grow with the least gradient, and the range of the violation."""
    low, high, where = np.inf, -np.inf, -1
    for v in range(len(g)):
        if g[v] + up[v] < low:
            low, where = g[v] + up[v], v
        high = max(high, g[v] - down[v])
    if low >= 0.5 * _FAR or high <= -0.5 * _FAR:
        return -1, low, high
    return where, low, high


@njit(cache=True, nogil=True)
def _update(g, up, down, row_i, row_j, step, copies):  # type: ignore[no-untyped-def]
    """``g += step (row_i - row_j)`` together with the scan of the new gradient."""
    n = len(row_i)
    low, high, where = np.inf, -np.inf, 0
    for first in range(0, copies * n, n):
        for start in range(0, n, _BLOCK):
            stop = min(start + _BLOCK, n)
            s, e = first + start, first + stop
            block_low, block_high = _update_block(
                g[s:e], up[s:e], down[s:e], row_i[start:stop], row_j[start:stop], step
            )
            high = max(high, block_high)
            if block_low < low:
                low, where = block_low, s
    if low >= 0.5 * _FAR or high <= -0.5 * _FAR:
        return -1, low, high
    while g[where] + up[where] > low:
        where += 1
    return where, low, high


@njit(cache=True, nogil=True, fastmath=_FAST)
def _update_block(g, up, down, row_i, row_j, step):  # type: ignore[no-untyped-def]
    low, high = np.inf, -np.inf
    for v in range(len(g)):
        value = g[v] + step * (float(row_i[v]) - float(row_j[v]))
        g[v] = value
        low = _least(low, value + up[v])
        high = _greatest(high, value - down[v])
    return low, high


@njit(cache=True, nogil=True)
def _second_order(g, down, row, diag, i, low, copies):  # type: ignore[no-untyped-def]
    """The variable that can shrink whose pair step with ``i`` decreases the objective most."""
    n = len(row)
    base = float(diag[i])
    best, first_best, start_best = 0.0, -1, 0
    for first in range(0, copies * n, n):
        for start in range(0, n, _BLOCK):
            stop = min(start + _BLOCK, n)
            s, e = first + start, first + stop
            gain = _block_gain(g[s:e], down[s:e], row[start:stop], diag[start:stop], base, low)
            if gain > best:
                best, first_best, start_best = gain, first, start
    if first_best < 0:
        return -1
    where, best = -1, -1.0
    for v in range(start_best, min(start_best + _BLOCK, n)):
        slope = g[first_best + v] - down[first_best + v] - low
        if slope > 0.0:
            gain = (
                slope * slope / max(base + float(diag[v]) - 2.0 * float(row[v]), _LEAST_CURVATURE)
            )
            if gain > best:
                best, where = gain, first_best + v
    return where


@njit(cache=True, nogil=True, fastmath=_FAST)
def _block_gain(g, down, row, diag, base, low):  # type: ignore[no-untyped-def]
    best = 0.0
    for v in range(len(g)):
        slope = _greatest(g[v] - down[v] - low, 0.0)
        curvature = _greatest(base + float(diag[v]) - 2.0 * float(row[v]), _LEAST_CURVATURE)
        best = _greatest(best, slope * slope / curvature)
    return best


def _select(comparison):  # type: ignore[no-untyped-def]
    """An instruction that keeps one of two numbers.

    LLVM turns a loop over ``min`` or ``max`` into vector code only if both the comparison and the
    choice are marked as free of NaN; numba's own ``min`` leaves the second unmarked.
    """

    def function(typingctx, x, y):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            flags = ("nnan", "nsz")
            first = builder.fcmp_ordered(comparison, args[0], args[1], flags=flags)
            return builder.select(first, args[0], args[1], flags=flags)

        return x(x, x), generate

    return function


_least = intrinsic(_select("<"))
_greatest = intrinsic(_select(">"))
