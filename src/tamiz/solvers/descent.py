r"""Descent on a dense matrix: pair steps, Newton steps where they pay, and the last digits.

For the sign-free problem of :mod:`tamiz.qp.problem`: with the variables at bounds fixed, the
minimum over the free ones ``F`` solves

.. math::

    K_{FF}\, \delta + g_F = m 1, \qquad \sum \delta = 0

Pair steps find which variables are free in a few thousand cheap iterations, but where the matrix
is nearly singular (a linear kernel on few features, a large penalty C) they creep along the last
stretch; one factorisation of the small system goes there at once. A Newton step that would leave
the box is cut at the first bound, that variable is fixed, and the rest is solved for again. The
objective never rises.

Where the right variables are at bounds, a Newton step is exact up to rounding; pair steps correct a
wrong guess of those. :func:`finish` alternates the two and keeps the best point met. It is meant
for small problems, where it makes the answer independent of the order of the samples.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy import linalg

from tamiz.qp.problem import kkt_violation
from tamiz.runtime.threads import n_threads, one_blas_thread
from tamiz.solvers.pairs import RUNNING, STALLED, BoxPoint, run_pairs, run_pairs_in_team

#: Problems with more variables than this are not finished to rounding.
MAX_VARIABLES = 600
_FINISH_ROUNDS, _FINISH_STEPS = 30, 500

#: A run of pair steps lasts about this long, so that Ctrl-C is noticed.
_SLICE_SECONDS = 0.1

#: Newton steps are considered up to this many free variables, and cut this often at the most.
_NEWTON_FREE = 200
_NEWTON_CUTS = 60
_RESCUES = 50
_RIDGE = 1e-11
_EPS = float(np.finfo(np.float64).eps)

#: Steps over fewer variables, or with fewer threads, are taken by one thread. A part of a pass
#: costs about what 150 variables cost: the best number of parts grows with the root of them.
_TEAM_VARIABLES = 4096
_TEAM_THREADS = 4
_SHARE_COST = 150
_TRIAL_STEPS = 100
_TRIAL_EVERY = 32


class Descent:
    """Pair steps on a dense matrix, with a Newton step in between where that pays.

    Both kinds of step are counted in the nanoseconds they should take; a Newton step is tried when
    the pair steps since the last one have cost as much as it will. It costs little where pair steps
    converge soon, and ends the creeping where they do not. Costs are estimates and not measured,
    so that the same problem always takes the same path.
    """

    def __init__(self, K: np.ndarray, copies: int):
        self.K = K
        self.copies = copies
        self.pairs = _Pairs(K, copies)
        self.largest = float(np.abs(self.pairs.diag).max(initial=0.0))
        self.rescues = 0
        self.spent = 0.0  # on pair steps since the last Newton step
        self.solves = 2  # of the last Newton step, a guess at first

    def run(self, point: BoxPoint, tol: float, max_steps: int) -> tuple[int, int, float, float]:
        """Take up to ``max_steps`` pair steps; arguments and result as :func:`run_pairs`."""
        b, _, lower, upper = point
        total = 0
        per_step = 300.0 + 1.3 * len(b)
        while True:
            steps = min(max_steps - total, max(200, len(b) // 8))
            code, done, low, high = self.pairs.run(point, tol, steps)
            total += done
            self.spent += per_step * done
            if code == RUNNING and self._drowns(b, tol):
                code = STALLED
            elif code == STALLED and self.rescues < _RESCUES:
                # one pair is lost in rounding; all free variables together may still move
                self.rescues += 1
                before = b.copy()
                self._newton(point)
                if not np.array_equal(before, b):
                    continue
            if code != RUNNING or total >= max_steps:
                return code, total, low, high
            free = int(np.count_nonzero((b > lower) & (b < upper)))
            cost = self.solves * (20_000.0 + 0.05 * free**3) + 0.5 * free * len(b)
            if 2 <= free <= _NEWTON_FREE and self.spent >= cost:
                self._newton(point)

    def _newton(self, point: BoxPoint) -> None:
        self.solves = newton(
            self.K, self.copies, point, max_free=_NEWTON_FREE, max_cuts=_NEWTON_CUTS
        )
        self.spent = 0.0

    def _drowns(self, b: np.ndarray, tol: float) -> bool:
        """Whether rounding in the gradient exceeds the tolerance, so that no step can help."""
        return _EPS * self.largest * float(np.abs(b).max(initial=0.0)) > tol


class _Pairs:
    """Pair steps by one thread, half of them or all, whichever was faster when last tried.

    The steps are the same to the bit. Threads of a team do not sleep between passes, so on cores
    that others use as well a team can be slower than one thread alone; and where passes are short,
    more threads have more to wait for.
    """

    def __init__(self, K: np.ndarray, copies: int):
        self.of = K, diagonal(K), copies
        self.diag = self.of[1]
        self.seconds = {1: 0.0}  # of a step, by the number of parts
        self.runs = 0

    def run(self, point: BoxPoint, tol: float, max_steps: int) -> tuple[int, int, float, float]:
        """Take up to ``max_steps`` pair steps; arguments and result as :func:`run_pairs`."""
        size = len(point.b)
        most = min(n_threads(), int((size / _SHARE_COST) ** 0.5))
        if size < _TEAM_VARIABLES or most < _TEAM_THREADS:
            return self._steps(1, point, tol, max_steps)
        teams = [1, *(parts for parts in (most // 2, most) if parts >= _TEAM_THREADS)]
        if most not in self.seconds:
            for parts in (1, most):  # compiles or loads, if need be
                self._steps(parts, point, tol, 0)
            self.seconds = dict.fromkeys(teams, 0.0)
        total = 0
        while True:
            trial = self.runs % _TRIAL_EVERY
            steps = max_steps - total
            if trial < len(teams):
                parts, steps = teams[trial], min(steps, _TRIAL_STEPS)
            else:
                parts = min(self.seconds, key=self.seconds.__getitem__)
            start = perf_counter()
            code, done, low, high = self._steps(parts, point, tol, steps)
            self.seconds[parts] = (perf_counter() - start) / max(1, done)
            self.runs += 1
            total += done
            if code != RUNNING or total >= max_steps:
                return code, total, low, high

    def _steps(
        self, parts: int, point: BoxPoint, tol: float, steps: int
    ) -> tuple[int, int, float, float]:
        if parts > 1:
            return run_pairs_in_team(parts, *self.of, point, tol, steps)
        found: tuple[int, int, float, float] = run_pairs(*self.of, point, tol, steps)
        return found


def diagonal(K: np.ndarray) -> np.ndarray:
    """The diagonal as a contiguous array of the same type."""
    return np.ascontiguousarray(K.diagonal())


def slice_steps(n_variables: int) -> int:
    """Pair steps that take about as long as one compiled run should."""
    return max(100, int(_SLICE_SECONDS / (2e-7 + 2e-9 * n_variables)))


# ---------------------------------------------------------------------- Newton steps


def newton(K: np.ndarray, copies: int, point: BoxPoint, *, max_free: int, max_cuts: int) -> int:
    """Move a point and its gradient in place to the minimum over the free variables.

    Variables are ``copies`` blocks of as many entries as ``K`` has rows. Nothing happens with more
    than ``max_free`` free variables; after ``max_cuts`` cuts the point reached so far stays.

    Returns
    -------
    solves : int
        Number of linear systems solved.
    """
    b, g, lower, upper = point
    n = len(K)
    free = np.flatnonzero((b > lower) & (b < upper))
    if not 2 <= len(free) <= max_free:
        return 0
    samples = free % n
    block = K[samples[:, None], samples].astype(np.float64)
    start, low, high = b[free], lower[free], upper[free]
    local_b, local_g = start.copy(), g[free]
    with (
        one_blas_thread(),  # many small systems: waking other threads costs more than it gains
        np.errstate(over="ignore", invalid="ignore"),
    ):
        solves = _descend(block, local_b, local_g, low, high, max_cuts)
        change = np.clip(local_b, low, high) - start
        moved = np.flatnonzero(change)
        update = np.tile(change[moved] @ K[samples[moved]].astype(np.float64), copies)
    if len(moved) and np.isfinite(update).all():  # a step beyond float64 is none
        b[free[moved]] = np.clip(local_b, low, high)[moved]
        g += update
    return solves


def _descend(
    block: np.ndarray,
    b: np.ndarray,
    g: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    max_cuts: int,
) -> int:
    """Solve, step to the first bound, fix, repeat; ``b`` and ``g`` change in place."""
    inside = np.arange(len(b))
    solves = 0
    while solves < max_cuts and len(inside) >= 2:
        solves += 1
        step = _solve(block[inside[:, None], inside], -g[inside])
        if step is None:
            break
        slope = float(g[inside] @ step)
        if not -np.inf < slope <= 0.0:  # no descent: K is indefinite, or beyond float64
            break
        with np.errstate(divide="ignore"):
            reach = np.where(step > 0, (high[inside] - b[inside]) / step, np.inf)
            reach = np.where(step < 0, (low[inside] - b[inside]) / step, reach)
        first = int(np.argmin(reach))
        length = min(1.0, float(reach[first]))
        b[inside] += length * step
        g += block[:, inside] @ (length * step)
        if length == 1.0:
            break
        hit = inside[first]
        b[hit] = high[hit] if step[first] > 0 else low[hit]
        inside = np.delete(inside, first)
    return solves


def _solve(K: np.ndarray, rhs: np.ndarray) -> np.ndarray | None:
    """``step`` with ``K step - rhs`` constant and sum zero; ``None`` if K is indefinite."""
    K.flat[:: len(K) + 1] += _RIDGE * max(float(K.trace()) / len(K), 1e-300)
    factor, failed = linalg.lapack.dpotrf(K, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    both, _ = linalg.lapack.dpotrs(factor, np.column_stack([rhs, np.ones(len(rhs))]), lower=1)
    if not np.isfinite(both).all():
        return None
    ones = float(both[:, 1].sum())
    if ones <= 0.0:
        return None
    step = both[:, 0] - (float(both[:, 0].sum()) / ones) * both[:, 1]
    return step - step.mean()


# ---------------------------------------------------------------------- the last digits


def finish(K: np.ndarray, copies: int, point: BoxPoint, p: np.ndarray) -> tuple[BoxPoint, int]:
    """The best point met on the way to rounding level, and the number of pair steps taken.

    ``point`` stays as it is; ``p`` is the linear term of the problem, over all variables.
    """
    _, _, lower, upper = best = point
    least = kkt_violation(*point)
    diag, total = diagonal(K), 0
    b, g = point.b.copy(), point.g.copy()
    target = 1e-14 * max(1.0, float(np.abs(g).max()), float(np.abs(K).max()))
    for _ in range(_FINISH_ROUNDS):
        moving = BoxPoint(b, g, lower, upper)
        newton(K, copies, moving, max_free=len(b), max_cuts=MAX_VARIABLES)
        # afresh, so that rounding does not add up
        with np.errstate(over="ignore", invalid="ignore"):
            g = p + np.tile(K @ b.reshape(copies, -1).sum(axis=0), copies)
        if not np.isfinite(g).all():  # a Newton step went beyond float64
            break
        violation = kkt_violation(b, g, lower, upper)
        if violation < least:
            least, best = violation, BoxPoint(b.copy(), g.copy(), lower, upper)
        if violation <= target:
            break
        moving = BoxPoint(b, g, lower, upper)
        _, done, _, _ = run_pairs(K, diag, copies, moving, target, _FINISH_STEPS)
        total += done
    return best, total
