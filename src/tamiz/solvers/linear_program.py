r"""Hinge losses with a weighted ℓ1 penalty: the linear program behind the sparse machines.

.. math::

    \min_{w, b} \; \sum_i C_i \,(1 - y_i(\langle w, x_i\rangle + b))_+ + \sum_j c_j |w_j|

Its dual has one bounded variable for each sample and one two-sided constraint for each feature:

.. math::

    \max_\alpha \; \sum_i \alpha_i \quad\text{s.t.}\quad 0 \le \alpha_i \le C_i,\;
    \sum_i \alpha_i y_i = 0,\; \Bigl|\sum_i \alpha_i y_i x_{ij}\Bigr| \le c_j .

Any ``α`` that satisfies the constraints gives a lower bound on the minimum, so every answer here
comes with a certificate: its distance to such a bound.

Two methods. The *interior point* of :mod:`tamiz.solvers.l1_interior` takes some twenty Newton
steps on systems as small as the solution is sparse. The *vertex* method of
:mod:`tamiz.solvers.l1_programs` gives HiGHS a small program on the features and samples that matter
and lets it grow by those whose constraints the answer breaks [1]_; it ends in a vertex of the
polyhedron of optimal solutions, with no more non-zero weights than samples on the margin.

References
----------
.. [1] A. Dedieu, R. Mazumder, H. Wang (2022). Solving L1-regularized SVMs and related linear
       programs: revisiting the effectiveness of column and constraint generation. JMLR 23(164).
.. [2] J. Zhu, S. Rosset, T. Hastie, R. Tibshirani (2004). 1-norm support vector machines. NIPS 16.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import one_blas_thread
from tamiz.solvers.l1_interior import interior_point
from tamiz.solvers.l1_programs import gather, least_norm, polished, vertex

METHODS = ("auto", "interior_point", "vertex")
_EXACT = 1e-10  # relative gap beyond which a vertex is polished
_SMALL = 200  # weights up to which "auto" goes on to a vertex if the solution is not one


class Kinks(NamedTuple):
    """Losses ``sum_i C_i (margin_i - y_i f(x_i))_+``: one row for each kink of a loss."""

    X: Any  # float64, C-contiguous or CSR; the samples, as often as a loss has kinks
    y: np.ndarray  # ±1
    C: np.ndarray
    margin: np.ndarray

    def per_sample(self, alpha: np.ndarray, n: int) -> np.ndarray:
        """``y * alpha`` of each of the ``n`` samples, summed over its rows."""
        return (self.y * alpha).reshape(-1, n).sum(axis=0)


class HingeLosses(NamedTuple):
    """``sum_i C_i (1 - y_i f(x_i))_+``."""

    y: np.ndarray  # ±1
    C: np.ndarray

    @property
    def size(self) -> float:
        """What the outputs are measured by."""
        return 1.0

    def program(self, X: Any, c: np.ndarray) -> HingeProgram:
        """The losses on ``X`` with a penalty for each weight."""
        return HingeProgram(X, self.y, self.C, c)

    def kinks(self, X: Any) -> Kinks:
        """The losses on ``X``, row by row."""
        return Kinks(X, self.y, self.C, np.ones(len(self.y)))

    def in_units(self, size: float) -> HingeLosses:
        """The losses of outputs divided by ``size``, which is 1."""
        return self

    def pull(self, X: Any, alpha: np.ndarray) -> np.ndarray:
        """``sum_i alpha_i y_i x_ij`` of every feature, for the multipliers of a program."""
        return np.asarray(X.T @ (self.y * alpha))


class HingeProgram(NamedTuple):
    """``min sum_i C_i hinge_i + sum_j c_j |w_j|``."""

    X: Any  # float64, C-contiguous or CSR
    y: np.ndarray  # ±1, both present
    C: np.ndarray  # one for each sample, not negative
    c: np.ndarray  # one for each feature, positive

    def objective(self, w: np.ndarray, b: float) -> float:
        """Value of the objective."""
        hinge = np.maximum(1.0 - self.y * (_forward(self.X, w) + b), 0.0)
        return float(self.C @ hinge + self.c @ np.abs(w))

    def judge(self, w: np.ndarray) -> tuple[float, float]:
        """Value of the objective for the best intercept, and that intercept."""
        values = _forward(self.X, w)
        b = best_intercept(values, self.y, self.C)
        hinge = np.maximum(1.0 - self.y * (values + b), 0.0)
        return float(self.C @ hinge + self.c @ np.abs(w)), b

    def feasible(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers near ``alpha`` that satisfy every constraint, and ``g = G'α`` of them."""
        alpha = np.clip(alpha, 0.0, self.C)
        plus, minus = alpha[self.y > 0].sum(), alpha[self.y < 0].sum()
        less = min(plus, minus)
        alpha = alpha * np.where(self.y > 0, less / max(plus, 1e-300), less / max(minus, 1e-300))
        g = self.X.T @ (self.y * alpha)
        scale = max(1.0, float(np.max(np.abs(g) / self.c, initial=0.0)))
        return alpha / scale, g / scale

    def solve(
        self,
        *,
        method: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 200,
        progress: Progress | None = None,
    ) -> ProgramResult:
        """Solve the program: :func:`solve_hinge_program`."""
        return solve_hinge_program(
            self, method=method, tol=tol, max_iter=max_iter, progress=progress
        )

    def undecided(self, found: ProgramResult, near: float) -> bool:
        """Whether a sample on its margin has a multiplier at a bound: solutions may be several."""
        margins = self.y * (self.X @ found.w + found.b)
        fraction = found.alpha / np.maximum(self.C, 1e-300)
        idle = (fraction <= near) | (fraction >= 1.0 - near)
        return bool((idle & (np.abs(margins - 1.0) <= near)).any())


class ProgramResult(NamedTuple):
    """Weights, intercept and the evidence for them."""

    w: np.ndarray
    b: float
    alpha: np.ndarray  # feasible multipliers of the samples
    g: np.ndarray  # sum_i alpha_i y_i x_ij: |g_j| <= c_j, with equality where w_j is not zero
    objective: float
    gap: float  # objective - sum of alpha: the minimum is no further away
    iterations: int
    status: str


def solve_hinge_program(
    program: HingeProgram,
    *,
    method: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 200,
    start: ProgramResult | None = None,
    progress: Progress | None = None,
) -> ProgramResult:
    """Solve the program.

    Parameters
    ----------
    program : HingeProgram
        The problem.
    method : {"auto", "interior_point", "vertex"}, default="auto"
        "auto" is the interior point, followed by the vertex method where several solutions are
        optimal (as with repeated features) and few features are left.
    tol : float, default=1e-6
        Gap that is accepted, relative to the objective.
    max_iter : int, default=200
        Limit on the Newton steps of the interior point and on the programs of the vertex method.
    start : ProgramResult, optional
        Solution of a similar problem; the features near their constraints there take part first.
    progress : Progress, optional
        Where progress is shown.

    Returns
    -------
    result : ProgramResult

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.solvers.linear_program import HingeProgram, solve_hinge_program
    >>> X = np.array([[1.0, 0.9], [2.0, 0.1], [-1.0, 0.4], [-2.0, 0.6]])
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> found = solve_hinge_program(HingeProgram(X, y, np.ones(4), np.ones(2)))
    >>> np.abs(found.w).round(6).tolist(), round(found.objective, 6)
    ([1.0, 0.0], 1.0)
    """
    progress = progress or Progress("linear program")
    gathered = gather(*program)
    near = None if start is None else np.abs(start.g) / program.c
    # thousands of small products and factorisations; a step beyond float64 is none: stalled
    with (
        one_blas_thread(),
        np.errstate(over="ignore", invalid="ignore", divide="ignore"),
    ):
        found = _solve(HingeProgram(*gathered[:4]), method, tol, max_iter, near, progress)
    return gathered.spread(found)


def _solve(
    program: HingeProgram,
    method: str,
    tol: float,
    max_iter: int,
    near: np.ndarray | None,
    progress: Progress,
) -> ProgramResult:
    if not (program.y > 0).any() or not (program.y < 0).any():
        return _conclude(
            program, np.zeros(len(program.c)), np.zeros(len(program.y)), 0, "converged"
        )
    found = interior_point(
        *program,
        program,
        near=near,
        tol=tol if method != "vertex" else max(tol, 1e-5),
        max_iter=max_iter,
        progress=progress,
    )
    result = _conclude(program, found.w, found.alpha, found.iterations, found.status, found.b)
    if found.status == "interrupted":
        return result
    if not result.w.any() and result.gap <= tol * result.objective:  # zero is a vertex
        return result
    try:
        if method == "vertex" or (method == "auto" and _should_go_on(program, result)):
            return _finish_at_vertex(program, result, tol, max_iter, progress)
    except KeyboardInterrupt:
        return result._replace(status="interrupted")
    return result


def solve_unpenalised(
    program: HingeProgram,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    progress: Progress | None = None,
) -> ProgramResult:
    """Minimise the losses alone, and the ℓ1 norm among the minimisers.

    Three programs: one with a small penalty, from which the second, without any, starts; the third
    is :func:`~tamiz.solvers.l1_programs.least_norm`. The gap is that of the losses; its lower bound
    counts the rounding of ``g``, which should be zero, at the weights found. It is accepted up to
    ``tol`` times the larger of the losses and a thousandth of those without any weight. ``g`` is
    that of the small penalty, relative to it.
    """
    progress = progress or Progress("linear program")
    gathered = gather(*program)
    with (
        one_blas_thread(),
        np.errstate(over="ignore", invalid="ignore", divide="ignore"),
    ):
        found = _solve_unpenalised(HingeProgram(*gathered[:4]), tol, max_iter, progress)
    return gathered.spread(found)


def _solve_unpenalised(
    program: HingeProgram, tol: float, max_iter: int, progress: Progress
) -> ProgramResult:
    X, y, C, c = program
    without = program.judge(np.zeros(len(c)))[0]
    alpha, _ = program._replace(c=np.full(len(c), np.inf)).feasible(C)
    level = float(np.max(np.abs(X.T @ (y * alpha)) / c, initial=0.0))
    # where nothing can be lost, as with one class, any penalty is small
    small = program._replace(c=c * (max(1e-4 * level, 1e-10 * without) or 1.0))
    start = _solve(small, "auto", tol, max_iter, None, progress)
    near = start._replace(g=start.g / small.c)
    if start.status == "interrupted":
        return near
    try:
        return _without_penalty(program, near, small, without, tol, max_iter, progress)
    except KeyboardInterrupt:
        return near._replace(status="interrupted")


def _without_penalty(
    program: HingeProgram,
    near: ProgramResult,
    small: HingeProgram,
    without: float,
    tol: float,
    max_iter: int,
    progress: Progress,
) -> ProgramResult:
    X, y, C, c = program
    bare = program._replace(c=np.zeros(len(c)))
    alpha, done, w, b = np.zeros(len(C)), near.iterations, near.w, near.b
    separable = bare.objective(w, b) <= 1e-9 * without
    if not separable:
        start = near._replace(g=near.g * small.c)
        free = vertex(bare, start, max_iter=max_iter, progress=progress)
        done += free.iterations
        if free.status != "converged":
            return near._replace(status=free.status, iterations=done)
        alpha, w = free.alpha, free.w
        b = bare.judge(w)[1]
        better = polished(bare, w, b, alpha)
        if better is not None:
            alpha, w = better.alpha, better.w
            b = bare.judge(w)[1]
        separable = bare.objective(w, b) <= 1e-9 * without
        if separable:
            alpha = np.zeros(len(C))
    last = least_norm(program, alpha, w, b)
    accepted = tol * max(bare.objective(w, b), 1e-3 * without)
    if last is not None and bare.objective(*last[:2]) <= bare.objective(w, b) + accepted:
        (w, b), done = last[:2], done + last[2]
    if separable:  # the least loss is zero, and not only nearly
        least = float(np.min(y * (_forward(X, w) + b)))
        if 0.5 < least < 1.0:
            rounding = 1e-15 * (float(np.max(abs(X) @ np.abs(w))) + abs(b))
            w, b = w * ((1.0 + rounding) / least), b * ((1.0 + rounding) / least)
    objective = bare.objective(w, b)
    off = float(np.abs(X.T @ (y * alpha)) @ np.abs(w)) + abs(float(y @ alpha) * b)
    gap = max(0.0, objective - float(alpha.sum()) + off)
    good = last is not None and gap <= tol * max(objective, 1e-3 * without)
    return ProgramResult(
        w, b, alpha, near.g, objective, gap, done, "converged" if good else "stalled"
    )


def best_intercept(
    values: np.ndarray, y: np.ndarray, C: np.ndarray, margin: np.ndarray | float = 1.0
) -> float:
    """Intercept that minimises the losses for fixed weights; the middle of an interval of them.

    The slope of the losses in ``b`` rises by ``C_i`` at each ``y_i margin_i - values_i``.
    """
    kinks = y * margin - values
    order = np.argsort(kinks)
    slope = np.cumsum(C[order]) - C[y > 0].sum()
    rounding = 1e-12 * C.sum()
    k = min(int(np.searchsorted(slope, -rounding)), len(order) - 1)
    low = kinks[order[k]]
    # a slope of zero over an interval: all of it is optimal
    if slope[k] <= rounding and k + 1 < len(order):
        return float(low + kinks[order[k + 1]]) / 2.0
    return float(low)


def _forward(X: Any, w: np.ndarray) -> np.ndarray:
    kept = np.flatnonzero(w)
    if 4 * len(kept) > len(w) or sparse.issparse(X):
        return X @ w
    return X[:, kept] @ w[kept]


def _conclude(
    program: HingeProgram,
    w: np.ndarray,
    alpha: np.ndarray,
    iterations: int,
    status: str,
    b: float | None = None,
) -> ProgramResult:
    b = program.judge(w)[1] if b is None else b
    alpha, g = program.feasible(alpha)
    objective = program.objective(w, b)
    gap = max(0.0, objective - float(alpha.sum()))
    return ProgramResult(w, b, alpha, g, objective, gap, iterations, status)


def _finish_at_vertex(
    program: HingeProgram, start: ProgramResult, tol: float, max_iter: int, progress: Progress
) -> ProgramResult:
    found = vertex(program, start, max_iter=max_iter, progress=progress)
    done = start.iterations + found.iterations
    result = _conclude(program, found.w, found.alpha, done, found.status)
    if found.status == "converged" and result.gap > _EXACT * result.objective:
        better = polished(program, result.w, result.b, found.alpha)
        if better is not None:
            result = _conclude(program, better.w, better.alpha, done, "converged")
    if found.status == "converged" and result.gap > tol * result.objective:
        # HiGHS rounds at its own scale; the bound of the start may be the better one
        bound = max(result.objective - result.gap, _bound_of(program, start))
        result = result._replace(gap=max(0.0, result.objective - bound))
        if result.gap > tol * result.objective:
            result = result._replace(status="stalled")
    return result


def _bound_of(program: HingeProgram, start: ProgramResult) -> float:
    return float(program.feasible(start.alpha)[0].sum())


def _should_go_on(program: HingeProgram, result: ProgramResult) -> bool:
    """Whether an interior point is followed by a vertex."""
    if np.count_nonzero(result.w) > _SMALL:
        return False
    return result.status != "converged" or _has_choice(program, result)


def _has_choice(program: HingeProgram, result: ProgramResult) -> bool:
    """Whether more weights are non-zero than samples on the margin can determine."""
    kept = np.flatnonzero(result.w)
    margins = program.y * (_forward(program.X, result.w) + result.b)
    fraction = result.alpha / program.C
    between = (fraction > 1e-6) & (fraction < 1.0 - 1e-6)
    on_margin = np.flatnonzero(
        between | (np.abs(margins - 1.0) <= 1e-6 * max(1.0, np.abs(margins).max()))
    )
    if len(kept) >= max(1, len(on_margin)):
        return True
    A = program.X[on_margin][:, kept]
    A = np.column_stack([A.toarray() if sparse.issparse(A) else A, np.ones(len(on_margin))])
    size = np.sqrt(np.einsum("ij,ij->j", A, A))
    A /= np.where(size > 0, size, 1.0)
    # of A'A, which is small; what matters are copies, and those are dependent to all digits
    return float(np.linalg.eigvalsh(A.T @ A)[0]) <= 1e-12 * len(kept)
