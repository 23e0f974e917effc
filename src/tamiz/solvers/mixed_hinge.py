r"""Hinge losses with an ℓ2 and an ℓ1 penalty: which method solves the problem.

A Newton step of the interior point costs ``n p min(n, p)`` for its matrix, or as
much of it as the table has entries, and ``min(n, p)**3 / 3`` for its factors, dense whatever the
table is. Where that is too much, coordinate descent on the dual
(:mod:`tamiz.solvers.mixed_descent`) goes first, followed by the interior point only where it does
not converge. A sweep of the descent costs no more than the entries of the table, so that sparse
tables begin with it much earlier; and where a given accuracy is enough, all that have no more
features than samples do. With many more features than samples most weights are zero, so the
interior point works on the features that may count, and the certificate over all features says
which were missed.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import one_blas_thread
from tamiz.solvers.mixed_descent import descend
from tamiz.solvers.mixed_interior import (
    Certified,
    Estimate,
    PenalisedHinge,
    certify,
    constant,
    feasible,
    interior,
    polish,
)
from tamiz.validation import require_inner_products

#: Multiplications of one Newton step beyond which coordinate descent goes first.
_MAX_NEWTON_WORK = 2e9
_MAX_NEWTON_WORK_SPARSE = 3e7
#: The largest system that is factorised at all.
_LARGEST_SYSTEM = 8000
#: The interior point converges so fast that a sharper tolerance costs a few steps only.
_SHARP = 1e-9
#: With this many times more features than samples most weights will be zero: the ratio with a
#: starting point, and without one.
_MANY, _VERY_MANY = 4, 60
_NEAR = 0.7  # fraction of the threshold: features above it may pass the threshold next time
_FIRST_SWEEPS = 2000
_WORTH = 0.5  # sweeps for each unknown of a cheap Newton system that are tried before it
_ROUNDING = 1e-13


def solve_penalised(
    problem: PenalisedHinge,
    *,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: np.ndarray | None = None,
    to_rounding: bool = True,
) -> Certified:
    """Minimise up to the fraction ``tol`` of the objective; ``start`` is a dual point nearby.

    Where Newton steps are cheap the solution is exact up to rounding. Without ``to_rounding`` it
    need not be, and descent on the dual may be quicker.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # beyond float64: stalled
        return _solve_penalised(problem, tol, max_iter, progress, start, to_rounding)


def _solve_penalised(
    problem: PenalisedHinge,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: np.ndarray | None,
    to_rounding: bool,
) -> Certified:
    X, y, C = problem.X, problem.y, problem.C
    counted = C > 0
    if not counted.all():  # a class of weight zero
        return _without_free_samples(problem, counted, tol, max_iter, progress, start, to_rounding)
    intercept = problem.intercept(np.zeros(len(y)))
    idle = problem.losses(np.full(len(y), intercept))  # the losses without weights
    if idle == 0.0:  # one class, or a tube around every target
        w = np.zeros(X.shape[1])
        return Certified(np.zeros(len(y)), w, intercept, w, 0.0, 0.0)
    if X.shape[1]:
        found = _minimise(problem, tol, max_iter, progress, start, to_rounding)
    else:
        found = certify(problem, C)
    if found.objective >= idle * (1.0 - _ROUNDING):  # weights that gain nothing are rounding
        nothing = np.zeros(X.shape[1])
        gap = max(0.0, found.gap + idle - found.objective)
        found = found._replace(w=nothing, intercept=intercept, objective=idle, gap=gap)
    return found


def original(found: Certified, X: Any, means: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights and intercept for the features as they were before :func:`centred`."""
    coef = np.where(constant(X), 0.0, found.w) + 0.0  # constant: nothing but rounding
    return coef, float(found.intercept - means @ coef)


def _minimise(
    problem: PenalisedHinge,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: np.ndarray | None,
    to_rounding: bool,
) -> Certified:
    """Choose the method; every sample has a penalty and both classes are there."""
    X = problem.X
    n, p = X.shape
    size = float(min(n, p))
    work = n * p * size * _filled(X) + size**3 / 3.0
    most = _MAX_NEWTON_WORK_SPARSE if sparse.issparse(X) else _MAX_NEWTON_WORK
    systems = size <= _LARGEST_SYSTEM
    cheap = systems and work <= most
    first = _FIRST_SWEEPS
    if cheap:
        first = 0 if to_rounding or p > n else int(_WORTH * size)
    sweeps = min(max_iter, first) if systems else max_iter
    with one_blas_thread() if cheap else nullcontext():  # else BLAS would busy-wait between calls
        if not sweeps:
            return _solve_interior(problem, tol, max_iter, progress, start)
        best = descend(problem, tol, sweeps, progress, start)
        if best.status != "max_iter" or not systems or max_iter <= first:
            return best
        found = _solve_interior(problem, tol, max_iter - best.n_iter, progress, best.c)
    if found.gap > best.gap:  # interrupted early
        found = best._replace(status=found.status)
    return found._replace(n_iter=found.n_iter + best.n_iter)


def _filled(X: object) -> float:
    """Fraction of a matrix product that has to be computed."""
    return min(1.0, 10.0 * X.nnz / np.prod(X.shape)) if sparse.issparse(X) else 1.0  # type: ignore[attr-defined]


def _without_free_samples(
    problem: PenalisedHinge,
    counted: np.ndarray,
    tol: float,
    max_iter: int,
    progress: Progress,
    start: np.ndarray | None,
    to_rounding: bool,
) -> Certified:
    """Solve without the samples whose penalty is zero."""
    kept = np.flatnonzero(counted)
    margin = np.broadcast_to(problem.margin, counted.shape)[kept]
    part = PenalisedHinge(problem.X[kept], problem.y[kept], problem.C[kept], problem.nu, margin)
    found = solve_penalised(
        part,
        tol=tol,
        max_iter=max_iter,
        progress=progress,
        start=None if start is None else start[kept],
        to_rounding=to_rounding,
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
    """Without thresholds only inner products matter, and n coordinates represent them all."""
    X = problem.X
    require_inner_products(X.shape[0], matrices=4)
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
    """Refine the solution to rounding level, unless interrupted."""
    try:
        if estimate.status != "interrupted":
            found = polish(problem, estimate, found)
    except KeyboardInterrupt:
        estimate = estimate._replace(status="interrupted")
    return found, estimate


def _judged(status: str, found: Certified, tol: float) -> str:
    """The status of an iteration, corrected by the certificate."""
    if status == "interrupted" or not found.within(tol):
        return "stalled" if status == "converged" else status
    return "converged"


def _candidates(problem: PenalisedHinge, start: np.ndarray | None) -> np.ndarray:
    """Features that may count: those near their threshold, or the most correlated ones."""
    X, y, C, nu, margin = problem
    least = max(2 * len(y), 100)
    known = start is not None and bool(start.any())
    c = start
    if c is None or not known:  # the multipliers of the machine without weights
        short = margin - y * problem.intercept(np.zeros(len(y))) >= 0.0
        c = y * feasible(np.where(short, C, 0.0), y, C)
    pull = np.abs(X.T @ c)
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
