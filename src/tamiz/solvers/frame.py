"""The frame around every solver: start, loop, interruption, exactness, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from tamiz.qp.problem import (
    InfeasibleError,
    QuadraticProblem,
    SignFreeProblem,
    gradient_rounding,
    kkt_violation,
    optimality,
)
from tamiz.runtime.progress import Progress
from tamiz.solvers.descent import MAX_VARIABLES, finish
from tamiz.solvers.pairs import BoxPoint
from tamiz.validation import fits_memory


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"  # KKT violation within the tolerance
    MAX_ITER = "max_iter"  # the iteration limit came first
    INTERRUPTED = "interrupted"  # Ctrl-C
    STALLED = "stalled"  # rounding admits no further progress
    UNBOUNDED = "unbounded"  # the objective falls without limit along a direction found
    INFEASIBLE = "infeasible"  # bounds and equality contradict each other


class QPResult(NamedTuple):
    """Solution of ``min ½a'Qa + p'a, y'a = d, lower ≤ a ≤ upper``.

    What is not known is ``None``.
    """

    a: np.ndarray  # always inside the bounds, with the right sum
    gradient: np.ndarray | None  # Qa + p at ``a``
    objective: float | None
    gap: float | None  # bound on objective - optimum, for convex problems with finite bounds
    violation: float | None  # KKT violation
    multiplier: float | None  # of the equality; minus the bias of a machine
    iterations: int
    status: Status
    rounding: float = 0.0  # what rounding of the entries of Q may change in the gradient
    precision: str = "float64"  # type of the entries of Q that it was solved with

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self.status is Status.CONVERGED


#: Status that each code of the compiled loop stands for.
CODES = (Status.CONVERGED, Status.MAX_ITER, Status.STALLED, Status.UNBOUNDED)

#: Rounds of solving and verifying in float64 before giving up on entries in float32.
_VERIFICATIONS = 3


def iteration_limit(max_iter: int, n: int) -> int:
    """The limit meant by ``max_iter``, where -1 stands for one that is generous but finite."""
    return max_iter if max_iter >= 0 else max(10_000_000, 100 * n)


class State:
    """The current point and its gradient.

    Both change together in one assignment, so that an interruption never leaves them out of step.
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
        self.fresh = True  # False: point and gradient may be out of step
        self.exact = False  # True: the gradient was computed from entries in float64

    def refresh(self) -> None:
        """Recompute the gradient from entries in float64."""
        b = self.point[0]
        self.point = b, self.free.p + self.free.Q.exact_dot(b)
        self.fresh = self.exact = True

    def may_deceive(self, tol: float) -> bool:
        """Whether rounding could hide a violation larger than the tolerance.

        That of entries stored in float32, whose errors are independent and mostly far below their
        bound; or that of steps in float64, which may have gone as far as the bounds and back.
        """
        Q, free = self.free.Q, self.free
        if Q.entry_error > 0:
            return Q.entry_error * float(np.linalg.norm(self.point[0])) > 0.25 * tol
        return Q.rounding_error > 0 and Q.rounding_error * free.reach() > 0.25 * tol

    def rounding(self) -> float:
        """What rounding of the entries in float64 may have changed in the gradient."""
        error = self.free.Q.rounding_error
        if not error > 0:  # before the diagonal, which not every matrix has at hand
            return 0.0
        return gradient_rounding(error, self.point[0], self.free.Q.diag())

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
    ``state.status``. Where rounding could hide a violation larger than the tolerance, the gradient
    is computed again in float64 and the loop goes on from it.
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
            for _ in range(_VERIFICATIONS):
                if state.status is not Status.CONVERGED or state.exact:
                    break
                if not state.may_deceive(tol):
                    break
                state.refresh()
                if state.violation() <= tol:
                    break
                state.status = Status.STALLED  # unless the next round does better
                state.exact = False
                solve(state, tol, limit, progress, **options)
            if polished and state.status is Status.CONVERGED:
                _polish(state)
        except KeyboardInterrupt:
            state.status = Status.INTERRUPTED
            state.fresh = False
    if not state.fresh or (state.may_deceive(tol) and not state.exact):
        state.refresh()
    return _result(problem, state, tol)


def _polish(state: State) -> None:
    """Reduce the KKT violation to rounding level, for a small problem that has converged."""
    free = state.free
    base, copies = free.Q.repeated()
    if 0 < free.Q.n <= MAX_VARIABLES and fits_memory(8 * base.n**2):
        K = np.ascontiguousarray(base.dense(), dtype=np.float64)
        best, steps = finish(K, copies, BoxPoint(*state.point, free.lower, free.upper), free.p)
        state.point = best.b, best.g
        state.iterations += steps


def _result(problem: QuadraticProblem, state: State, tol: float) -> QPResult:
    free = state.free
    b, g = state.point
    violation, multiplier, gap = optimality(b, g, free.lower, free.upper)
    rounding = state.rounding()
    with np.errstate(over="ignore", invalid="ignore"):
        at_stake = rounding * float(np.linalg.norm(b))
        objective = float(0.5 * b @ (g + free.p))
    if state.status is Status.CONVERGED and max(violation, rounding) > tol:
        state.status = Status.STALLED  # the stored entries are too coarse for the tolerance
    elif max(violation, rounding) <= tol and state.status in (Status.MAX_ITER, Status.STALLED):
        state.status = Status.CONVERGED
    a = problem.from_sign_free(b, free)
    return QPResult(
        a=a,
        gradient=g * problem.y,
        objective=objective,
        # a certificate is one for the matrix that was meant, not for the one that was stored
        gap=None if gap is None else gap + at_stake,
        violation=violation + rounding,
        multiplier=multiplier,
        iterations=state.iterations,
        status=state.status,
        rounding=rounding,
        precision=str(problem.Q.dtype),
    )
