"""The choice of a solver, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tamiz.qp.problem import QuadraticProblem
from tamiz.solvers.chunking import solve_chunking
from tamiz.solvers.decomposition import solve_decomposition
from tamiz.solvers.result import QPResult
from tamiz.solvers.smo import solve_smo

#: Solvers by the names that users give.
SOLVERS: dict[str, Callable[..., QPResult]] = {
    "smo": solve_smo,
    "decomposition": solve_decomposition,
    "chunking": solve_chunking,
}

#: A warm start with fewer support vectors than this share of the samples starts from them alone.
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
    rows it needs. ``polished`` asks for an answer exact to rounding where the problem is small.
    """
    if solver == "auto":
        solver = _choose(problem, start, cache_mb)
    options: dict[str, Any] = {} if solver == "smo" else {"cache_mb": cache_mb}
    return SOLVERS[solver](
        problem,
        tol=tol,
        max_iter=max_iter,
        start=start,
        verbose=verbose,
        polished=polished,
        **options,
    )


def _choose(problem: QuadraticProblem, start: np.ndarray | None, cache_mb: float) -> str:
    base, _ = problem.Q.unsigned(problem.y).repeated()
    if base.dtype.itemsize * base.n**2 > cache_mb * 2**20 and not base.in_memory:
        return "decomposition"
    if start is not None and base.n >= _LARGE and not base.in_memory:
        support = np.count_nonzero(start)
        if 0 < support <= _SPARSE_START * problem.n:
            return "chunking"
    return "smo"
