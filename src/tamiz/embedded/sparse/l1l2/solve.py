"""The doubly penalised machine, solved: by which method, on which features, how exactly.

A Newton step of the interior point costs ``n p min(n, p)`` for its matrix, or as much of it as
the table has entries, and ``min(n, p)**3 / 3`` for its factors, dense whatever the table is.
Where that is too much, coordinate descent on the dual goes first, followed by the interior point
only where it does not get there. A sweep of the descent costs no more than the entries of the
table, so that sparse tables begin with it much earlier.
With many more features than samples most weights are zero, so the interior point works on the
features that may count, and the certificate over all features says which were missed.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tamiz.embedded.sparse.l1l2.descent import descend
from tamiz.embedded.sparse.l1l2.interior import Estimate, interior
from tamiz.embedded.sparse.l1l2.polish import polish
from tamiz.embedded.sparse.l1l2.problem import Certified, PenalisedHinge, certify
from tamiz.runtime.blas import one_blas_thread
from tamiz.runtime.progress import Progress
from tamiz.solvers.linear_program import best_intercept

#: Multiplications of one Newton step beyond which coordinate descent goes first.
_DEAR = 2e9
_DEAR_SPARSE = 3e7
#: The largest system that is factorised at all.
_LARGEST_SYSTEM = 8000
#: The interior point converges so fast that a sharper tolerance costs a few steps only.
_SHARP = 1e-9
#: With so many times more features than samples most weights will be zero: knowing a point nearby,
#: or knowing nothing.
_MANY, _VERY_MANY = 4, 60
_NEAR = 0.7  # of the threshold: features that may pass it next time
_FIRST_SWEEPS = 2000
_ROUNDING = 1e-13


def solve_penalised(
    problem: PenalisedHinge,
    *,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: np.ndarray | None = None,
) -> Certified:
    """Minimise up to the share ``tol`` of the objective; ``start`` is a dual point nearby."""
    X, y, C, _ = problem
    counted = C > 0
    if not counted.all():  # a class of weight zero
        return _without_free_samples(problem, counted, tol, max_iter, progress, start)
    idle = 2.0 * min(float(C[y > 0].sum()), float(C[y < 0].sum()))  # the losses without weights
    if idle == 0.0:  # one class
        w = np.zeros(X.shape[1])
        return Certified(np.zeros(len(y)), w, float(y[0]), w, 0.0, 0.0)
    if X.shape[1]:
        found = _minimise(problem, tol, max_iter, progress, start)
    else:
        found = certify(problem, C)
    if found.objective >= idle * (1.0 - _ROUNDING):  # weights that gain nothing are rounding
        nothing = np.zeros(X.shape[1])
        gap = max(0.0, found.gap + idle - found.objective)
        intercept = best_intercept(np.zeros(len(y)), y, C)
        found = found._replace(w=nothing, intercept=intercept, objective=idle, gap=gap)
    return found


def _minimise(
    problem: PenalisedHinge,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: np.ndarray | None,
) -> Certified:
    """Choose the method; every sample has a price and both classes are there."""
    X = problem.X
    n, p = X.shape
    size = float(min(n, p))
    work = n * p * size * _filled(X) + size**3 / 3.0
    if work <= (_DEAR_SPARSE if sparse.issparse(X) else _DEAR) and size <= _LARGEST_SYSTEM:
        with one_blas_thread():  # the threads of BLAS would spin through all that is between
            return _solve_interior(problem, tol, max_iter, progress, start)
    systems = size <= _LARGEST_SYSTEM
    sweeps = min(max_iter, _FIRST_SWEEPS) if systems else max_iter
    best = descend(problem, tol, sweeps, progress, start)
    if best.status != "max_iter" or not systems or max_iter <= _FIRST_SWEEPS:
        return best
    found = _solve_interior(problem, tol, max_iter - best.n_iter, progress, best.c)
    if found.gap > best.gap:  # interrupted early
        found = best._replace(status=found.status)
    return found._replace(n_iter=found.n_iter + best.n_iter)


def _filled(X: object) -> float:
    """Share of a product that has to be computed."""
    return min(1.0, 10.0 * X.nnz / np.prod(X.shape)) if sparse.issparse(X) else 1.0  # type: ignore[attr-defined]


def _without_free_samples(
    problem: PenalisedHinge,
    counted: np.ndarray,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: np.ndarray | None,
) -> Certified:
    """Samples whose loss costs nothing take no part."""
    kept = np.flatnonzero(counted)
    part = problem._replace(X=problem.X[kept], y=problem.y[kept], C=problem.C[kept])
    found = solve_penalised(
        part,
        tol=tol,
        max_iter=max_iter,
        progress=progress,
        start=None if start is None else start[kept],
    )
    c = np.zeros(len(problem.y))
    c[kept] = found.c
    return found._replace(c=c)


def _solve_interior(
    problem: PenalisedHinge,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: np.ndarray | None,
) -> Certified:
    sharp = min(_SHARP, 1e-3 * tol)
    n, p = problem.X.shape
    many = _VERY_MANY if start is None else _MANY
    if not problem.nu.any() and p > 2 * n:
        return _solve_rotated(problem, tol, max_iter, progress)
    chosen = _candidates(problem, start) if p > max(many * n, 200) else None
    steps = 0
    best: Certified | None = None
    while True:
        if chosen is not None and 2 * len(chosen) > p:
            chosen = None
        part = problem if chosen is None else _columns(problem, chosen)
        estimate = interior(part, sharp, max_iter - steps, progress)
        if chosen is not None:
            w = np.zeros(p)
            w[chosen] = estimate.w
            estimate = estimate._replace(w=w)
        steps += estimate.n_iter
        found = certify(problem, estimate.alpha, estimate.w)
        found, estimate = _polished(problem, estimate, found)
        if best is None or found.gap < best.gap:
            best = found
        missed = np.abs(found.correlation) > problem.nu
        if chosen is not None:
            missed[chosen] = False
        if (
            chosen is None
            or best.within(sharp)
            or not missed.any()
            or estimate.status != "converged"
        ):
            break
        chosen = np.sort(np.append(chosen, np.flatnonzero(missed)))
    return best._replace(n_iter=steps, status=_judged(estimate.status, best, tol))


def _solve_rotated(
    problem: PenalisedHinge, tol: float, max_iter: int, progress: Progress
) -> Certified:
    """Without thresholds only inner products count, and n coordinates hold them all."""
    X = problem.X
    gram = X @ X.T
    values, vectors = np.linalg.eigh(gram.toarray() if sparse.issparse(gram) else gram)
    rotated = np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))
    part = problem._replace(X=rotated, nu=np.zeros(rotated.shape[1]))
    estimate = interior(part, min(_SHARP, 1e-3 * tol), max_iter, progress)
    found = certify(part, estimate.alpha, estimate.w)
    found, estimate = _polished(part, estimate, found)
    found = certify(problem, problem.y * found.c)
    return found._replace(n_iter=estimate.n_iter, status=_judged(estimate.status, found, tol))


def _polished(
    problem: PenalisedHinge, estimate: Estimate, found: Certified
) -> tuple[Certified, Estimate]:
    """The last digits, unless there is an interruption before or meanwhile."""
    try:
        if estimate.status != "interrupted":
            found = polish(problem, estimate, found)
    except KeyboardInterrupt:
        estimate = estimate._replace(status="interrupted")
    return found, estimate


def _judged(status: str, found: Certified, tol: float) -> str:
    """What the certificate makes of the status of an iteration."""
    if status == "interrupted" or not found.within(tol):
        return "stalled" if status == "converged" else status
    return "converged"


def _candidates(problem: PenalisedHinge, start: np.ndarray | None) -> np.ndarray:
    """Features that may count: those near their threshold, or the most correlated ones."""
    X, y, C, nu = problem
    least = max(2 * len(y), 100)
    known = start is not None and bool(start.any())
    if known:
        pull = np.abs(X.T @ start)
    else:
        positive = y > 0
        pull = np.abs(X.T @ np.where(positive, C / C[positive].sum(), -C / C[~positive].sum()))
    with np.errstate(divide="ignore", invalid="ignore"):
        nearness = np.where(nu > 0, pull / nu, np.inf)
    wanted = int(np.count_nonzero(nearness > _NEAR)) if known else 0
    number = min(len(nu), max(wanted, least, int(np.count_nonzero(nu == 0))))
    return np.sort(np.argpartition(-nearness, number - 1)[:number])


def _columns(problem: PenalisedHinge, chosen: np.ndarray) -> PenalisedHinge:
    X = problem.X[:, chosen]
    if not sparse.issparse(X):
        X = np.ascontiguousarray(X)
    return problem._replace(X=X, nu=problem.nu[chosen])
