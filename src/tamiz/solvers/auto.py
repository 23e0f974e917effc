"""The choice of a solver, in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tamiz.qp.problem import QuadraticProblem
from tamiz.solvers.decomposition import solve_chunking, solve_decomposition
from tamiz.solvers.result import QPResult, Status
from tamiz.solvers.smo import solve_smo

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

    ``"auto"`` takes SMO on the dense matrix if that fits ``cache_mb``, else decomposition; a warm
    start from few support vectors on a large problem goes to chunking, which computes only the
    rows it needs. Where entries stored in float32 turn out too coarse for the tolerance, the
    problem is solved on from there in float64. ``polished`` asks for an answer exact to rounding
    where the problem is small.
    """
    if solver == "auto":
        solver = _choose(problem, start, cache_mb)
    options: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "verbose": verbose}
    options |= {"polished": polished} | ({} if solver == "smo" else {"cache_mb": cache_mb})
    result = SOLVERS[solver](problem, start=start, **options)
    if result.status is Status.STALLED and problem.Q.dtype == np.float32:
        exact = replace(problem, Q=problem.Q.double())
        again = SOLVERS[solver](exact, start=result.a, **options)
        result = again._replace(iterations=result.iterations + again.iterations)
    return result


def _choose(problem: QuadraticProblem, start: np.ndarray | None, cache_mb: float) -> str:
    base, _ = problem.Q.unsigned(problem.y).repeated()
    if base.dtype.itemsize * base.n**2 > cache_mb * 2**20 and not base.in_memory:
        return "decomposition"
    if start is not None and base.n >= _LARGE and not base.in_memory:
        support = np.count_nonzero(start)
        if 0 < support <= _SPARSE_START * problem.n:
            return "chunking"
    return "smo"
