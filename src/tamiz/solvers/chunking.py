r"""Chunking: keep the support vectors, add the worst violators, until none is left.

The problem and the loop are those of :mod:`tamiz.solvers.working_sets`. The working set starts as a
chunk of the samples; after each solution the variables that rest at the bound nearest to zero leave
it, and the variables outside that violate the KKT conditions most join it. The set grows to the
number of support vectors, and its block must fit in memory: the method suits problems whose
solution is sparse.

References
----------
.. [1] V. Vapnik (1982). Estimation of dependences based on empirical data, addendum I.
"""

from __future__ import annotations

import numpy as np

from tamiz.qp.problem import QuadraticProblem
from tamiz.solvers.decomposition import split_budget, worst
from tamiz.solvers.frame import run_solver
from tamiz.solvers.result import QPResult
from tamiz.solvers.working_sets import solve_by_working_sets

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
