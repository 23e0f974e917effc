"""Problems too large for one dense matrix: decomposition, and chunking.

The problem and the loop are those of :mod:`tamiz.solvers.working_sets`; the two differ in the
choice of the working set.

**Decomposition**: a set of constant size. Half of each working set is new: the variables that
violate the KKT conditions most, in equal parts those that want to grow and those that want to
shrink. The other half is taken from the previous set, free variables first, which keeps the method
from undoing its last step. Rows are cached up to a budget; the whole matrix is never needed, so
that the number of samples is bounded by time and not by memory.

**Chunking**: keep the support vectors, add the worst violators, until none is left. The working set
starts as a chunk of the samples; after each solution the variables that rest at the bound nearest
to zero leave it, and the variables outside that violate the KKT conditions most join it. The set
grows to the number of support vectors, and its block must fit in memory: the method suits problems
whose solution is sparse.

:func:`solve` chooses between these two and SMO.

References
----------
.. [1] E. Osuna, R. Freund, F. Girosi (1997). An improved training algorithm for support vector
       machines. IEEE NNSP.
.. [2] T. Joachims (1999). Making large-scale SVM learning practical.
.. [3] V. Vapnik (1982). Estimation of dependences based on empirical data, addendum I.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tamiz.qp.problem import QuadraticProblem
from tamiz.solvers.frame import QPResult, Status, run_solver
from tamiz.solvers.smo import solve_smo
from tamiz.solvers.working_sets import RowCache, solve_by_working_sets
from tamiz.validation import fits_memory, free_bytes, refused

#: The working set is as large as the budget admits, and at most this.
LARGEST_WORKING_SET = 4096
#: Smaller ones save no memory worth a word, and need a round of Python for every few steps.
_LEAST_WORKING_SET = 64
_PATIENCE = 50


def solve_decomposition(
    problem: QuadraticProblem,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    start: np.ndarray | None = None,
    cache_mb: float = 500.0,
    working_set: int | None = None,
    polished: bool = False,
    verbose: bool | int = 0,
) -> QPResult:
    """Solve the quadratic problem with a bounded part of the matrix in memory.

    Parameters
    ----------
    problem : QuadraticProblem
        The problem.
    tol, max_iter, start, polished, verbose
        As in :func:`tamiz.solvers.solve_smo`; ``max_iter`` counts pair steps.
    cache_mb : float, default=500.0
        Memory for entries of the matrix, in MiB: the block of the working set and rows.
    working_set : int, optional
        Number of variables in play at a time, at least 2. By default as many as a quarter of the
        budget holds the block of, at least 64 and at most 4096.

    Returns
    -------
    result : QPResult

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.kernels import RBF
    >>> from tamiz.qp import KernelQ, svc_problem
    >>> from tamiz.solvers import solve_decomposition
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> signs = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    >>> problem = svc_problem(KernelQ(RBF(gamma=0.5), X), signs, C=1.0)
    >>> result = solve_decomposition(problem, working_set=50)
    >>> result.status, result.violation <= 1e-3
    (<Status.CONVERGED: 'converged'>, True)
    """
    size, largest, cache = split_budget(problem, cache_mb, working_set)
    return run_solver(
        problem,
        solve_by_working_sets,
        tol,
        max_iter,
        start,
        verbose,
        polished,
        strategy=_Refill(size, largest),
        cache=cache,
    )


def split_budget(
    problem: QuadraticProblem, cache_mb: float, working_set: int | None
) -> tuple[int, int, RowCache]:
    """Divide the memory between the block of the working set (twice, while it changes) and rows.

    Returns the size of the working set, the largest size it may grow to, and the cache.
    """
    base, _ = problem.sign_free().Q.repeated()
    budget = float(cache_mb) * 2**20
    wanted = min(budget, 3.0 * base.dtype.itemsize * base.n**2)
    if not fits_memory(wanted):
        budget = min(budget, free_bytes() / 2)
    largest = int(np.sqrt(budget / 4 / base.dtype.itemsize))
    if working_set is None:
        working_set = max(_LEAST_WORKING_SET, min(LARGEST_WORKING_SET, largest))
    size = max(2, min(working_set, problem.n))
    largest = max(size, min(largest, problem.n))
    block_bytes = 2 * base.dtype.itemsize * size**2
    return size, largest, RowCache(base, budget - block_bytes)


class _Refill:
    """Half of the working set from the worst violators, half from the previous set.

    On nearly singular problems a small set can creep. If the violation has not halved after
    ``_PATIENCE`` rounds, the set doubles, as far as the memory allows.
    """

    def __init__(self, size: int, largest: int):
        self.size = size
        self.largest = largest
        self.mark = np.inf
        self.rounds = 0

    def _watch(self, violation: float) -> None:
        self.rounds += 1
        if violation <= 0.5 * self.mark:
            self.mark, self.rounds = violation, 0
        elif self.rounds >= _PATIENCE:
            self.size = min(2 * self.size, self.largest)
            self.mark, self.rounds = violation, 0

    def __call__(
        self,
        b: np.ndarray,
        g: np.ndarray,
        grow: np.ndarray,
        shrink: np.ndarray,
        previous: np.ndarray,
    ) -> np.ndarray:
        self._watch(float(g[shrink].max() - g[grow].min()))
        size = self.size
        if len(b) <= size:
            return np.arange(len(b))
        fresh = size if not len(previous) else size - size // 2
        chosen = np.zeros(len(b), dtype=bool)
        for index, order in ((np.flatnonzero(grow), g), (np.flatnonzero(shrink), -g)):
            chosen[worst(index, order, max(1, fresh // 2))] = True
        keep = previous[~chosen[previous]]
        room = size - int(chosen.sum())
        if len(keep) and room > 0:
            free = grow[keep] & shrink[keep]
            chosen[np.concatenate([keep[free], keep[~free]])[:room]] = True
        return np.flatnonzero(chosen)


def worst(index: np.ndarray, order: np.ndarray, count: int) -> np.ndarray:
    """The ``count`` entries of ``index`` with the least ``order``.

    Among equal values those spread evenly over the index are preferred, since neighbours in a file
    are often alike.
    """
    if len(index) <= count:
        return index
    values = order[index]
    threshold = np.partition(values, count - 1)[count - 1]
    below = index[values < threshold]
    equal = index[values == threshold]
    wanted = count - len(below)
    spread = np.linspace(0, len(equal) - 1, wanted).round().astype(np.intp)
    return np.concatenate([below, equal[spread]])


#: Default number of variables that join the working set at a time.
CHUNK = 500


def solve_chunking(
    problem: QuadraticProblem,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    start: np.ndarray | None = None,
    cache_mb: float = 500.0,
    chunk: int = CHUNK,
    polished: bool = False,
    verbose: bool | int = 0,
) -> QPResult:
    """Solve the quadratic problem on a growing set of variables.

    Parameters
    ----------
    problem : QuadraticProblem
        The problem.
    tol, max_iter, start, cache_mb, polished, verbose
        As in :func:`tamiz.solvers.solve_decomposition`; the block of the working set comes on top
        of ``cache_mb``.
    chunk : int, default=500
        Number of variables that join at a time.

    Returns
    -------
    result : QPResult
    """
    free = problem.sign_free()
    rest = np.clip(0.0, free.lower, free.upper)
    _, _, cache = split_budget(problem, cache_mb, working_set=0)
    return run_solver(
        problem,
        solve_by_working_sets,
        tol,
        max_iter,
        start,
        verbose,
        polished,
        strategy=_Grow(max(2, chunk), rest),
        cache=cache,
    )


class _Grow:
    """All variables away from rest, and the worst violators among the others."""

    def __init__(self, chunk: int, rest: np.ndarray):
        self.chunk = chunk
        self.rest = rest

    def __call__(
        self,
        b: np.ndarray,
        g: np.ndarray,
        grow: np.ndarray,
        shrink: np.ndarray,
        previous: np.ndarray,
    ) -> np.ndarray:
        chosen = b != self.rest
        low = g[grow].min()
        high = g[shrink].max()
        half = max(1, self.chunk // 2)
        for index, order in (
            (np.flatnonzero(grow & ~chosen & (g < high)), g),
            (np.flatnonzero(shrink & ~chosen & (g > low)), -g),
        ):
            chosen[worst(index, order, half)] = True
        # The pair that violates most is always there, so that every round makes progress.
        chosen[np.flatnonzero(grow)[g[grow].argmin()]] = True
        chosen[np.flatnonzero(shrink)[g[shrink].argmax()]] = True
        return np.flatnonzero(chosen)


# --------------------------------------------------------------------------------------- the choice


#: Solvers by the names that users give.
SOLVERS: dict[str, Callable[..., QPResult]] = {
    "smo": solve_smo,
    "decomposition": solve_decomposition,
    "chunking": solve_chunking,
}

#: A warm start with fewer support vectors than this fraction of the samples starts from them alone.
_SPARSE_START = 0.25
_LARGE = 1500


def solve(
    problem: QuadraticProblem,
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    max_iter: int = -1,
    start: np.ndarray | None = None,
    cache_mb: float = 2000.0,
    polished: bool = False,
    verbose: bool | int = 0,
) -> QPResult:
    """Solve the quadratic problem by the named solver, or by the one that suits it.

    ``"auto"`` takes SMO on the dense matrix if that fits ``cache_mb`` and free memory, else
    decomposition; a warm start from few support vectors on a large problem goes to chunking, which
    computes only the rows it needs. Where entries stored in float32 turn out too coarse for the
    tolerance, the problem is solved on from there in float64. ``polished`` asks for an answer exact
    to rounding where the problem is small.
    """
    run = _solver_for(problem, solver, start, cache_mb)
    options: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "verbose": verbose}
    options |= {"polished": polished}
    result = run(problem, start=start, **options)
    if result.status is Status.STALLED and problem.Q.dtype == np.float32:
        exact = replace(problem, Q=problem.Q.double())
        again = run(exact, start=result.a, **options)
        result = again._replace(iterations=result.iterations + again.iterations)
    return result


def _solver_for(
    problem: QuadraticProblem, solver: str, start: np.ndarray | None, cache_mb: float
) -> Callable[..., QPResult]:
    """The solver by this name, with the memory that it may take."""
    base, _ = problem.Q.unsigned(problem.y).repeated()
    if base.on_card() is not None:
        from tamiz.solvers.card import solve_on_card

        if solver in ("auto", "decomposition"):
            return solve_on_card
        raise refused("solver", solver, 'works on the CPU; with device="cuda" use "auto".')
    if solver == "auto":
        solver = _choose(problem, start, cache_mb)
    return SOLVERS[solver] if solver == "smo" else partial(SOLVERS[solver], cache_mb=cache_mb)


def _choose(problem: QuadraticProblem, start: np.ndarray | None, cache_mb: float) -> str:
    base, _ = problem.Q.unsigned(problem.y).repeated()
    size = base.dtype.itemsize * base.n**2
    if not base.in_memory and (size > float(cache_mb) * 2**20 or not fits_memory(size)):
        return "decomposition"
    if start is not None and base.n >= _LARGE and not base.in_memory:
        support = np.count_nonzero(start)
        if 0 < support <= _SPARSE_START * problem.n:
            return "chunking"
    return "smo"
