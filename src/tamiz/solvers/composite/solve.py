r"""Newton steps for a smooth loss and a penalty: on a working set with ℓ1, on all weights without.

**With an ℓ1 penalty** most weights are zero, so the work is done on the features that may have
one. The dual point says which: a feature whose pull :math:`|g_j|` stays below
:math:`\lambda_j` keeps the weight zero. The working set holds the features with weights and those
that pull most, and doubles until the certificate over all features is small enough [1]_. On it,
each Newton step is the quadratic of :mod:`tamiz.solvers.composite.quadratic`, followed by a
search along the line to its minimum.

**Without one** a Newton step is a linear system, in as many unknowns as there are features or
samples, whichever is less: with more features than samples only inner products matter, and n
coordinates represent them all. Where the system is too large, or its matrix costs more than the
step, conjugate gradients solve it with products of the table and vectors only, and only as far as
the step is worth [2]_. The step then goes as far as the objective falls. The tangents of the
slopes foresee the pulls after it: a dual point that is nearly optimal once the step is, so that the
last step is certified by itself.

References
----------
.. [1] M. Massias, A. Gramfort, J. Salmon (2018). Celer: a fast solver for the Lasso with dual
       extrapolation. ICML.
.. [2] C.-J. Lin, R. C. Weng, S. S. Keerthi (2008). Trust region Newton method for large-scale
       logistic regression. JMLR 9.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack

from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import one_blas_thread, product
from tamiz.solvers.composite.problem import (
    Composite,
    CompositeResult,
    balanced,
    balancing_shift,
    certify,
    lower_bound,
    values,
)
from tamiz.solvers.composite.quadratic import (
    Columns,
    Curvature,
    curvature_matrix,
    descend_columns,
    gather_columns,
    minimise_quadratic,
    solve_positive,
)
from tamiz.validation import require_inner_products

_FIRST = 20  # features of the first working set, at least
#: And at most. Most features that pull in the beginning do not once a few have their weights.
_MOST_FIRST = 60
_NEAR = 0.1  # fraction of the certificate over all to which a working set is solved
_HALVINGS = 40
#: How often the length of a Newton step is corrected; and by which fraction it is, if no more.
_CORRECTED, _SAME = 2, 0.1
_ROUNDING = 1e-14
_STEPS = 40  # Newton steps on one working set
#: Multiplications of one Newton system beyond which conjugate gradients take its place.
_LARGEST_WORK = 6e8
_LARGEST_ROTATION = 3000
_CONJUGATE = 250  # products of one step
#: Times the root of the tolerance: residual at which conjugate gradients end, if one step does.
_FOLLOWED = 0.25
#: Conjugate gradients in place of a matrix: the residual to reach, the products after which a new
#: matrix is better, and how many products a matrix has to cost at least.
_PRECONDITIONED, _TIRED, _DEAR = 0.1, 10, 30.0
_FAR = 10.0  # times that gap: what is not worth a certificate yet
_LEFT = 0.25  # of the gap that is accepted: what the last step may leave
_CALL = 1e5  # multiplications that take as long as the calls around a product
_BALANCE = 1e-2  # of the tolerance: sum of the pulls, as a fraction of them


class Machine(NamedTuple):
    """Weights, intercept, and the values at the samples: they change together."""

    w: np.ndarray
    b: float
    f: np.ndarray
    slopes: tuple[np.ndarray, np.ndarray] | None = None  # pulls and curvatures, where known

    def weighed_slopes(self, problem: Composite) -> tuple[np.ndarray, np.ndarray]:
        """Pulls of a dual point, and curvatures of the losses."""
        slopes = self.slopes or problem.loss.slopes(problem.y, self.f)
        pulls, curvatures = (problem.c * one for one in slopes)
        return balanced(problem, pulls), curvatures


def minimise(
    problem: Composite,
    *,
    start: tuple[np.ndarray, float] | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    progress: Progress | None = None,
) -> CompositeResult:
    """Minimise up to the fraction ``tol`` of the objective.

    Parameters
    ----------
    problem : Composite
        The problem.
    start : (weights, intercept), optional
        Where to begin.
    tol : float, default=1e-6
        Duality gap that is accepted, relative to the objective.
    max_iter : int, default=1000
        Limit on Newton steps.
    progress : Progress, optional
        Where progress is shown.

    Returns
    -------
    result : CompositeResult
        After Ctrl-C, what was reached, with its certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.solvers.composite.losses import SquaredLoss
    >>> from tamiz.solvers.composite.problem import Composite
    >>> from tamiz.solvers.composite.solve import minimise
    >>> X = np.array([[1.0, 0.5], [2.0, 0.1], [-1.0, 0.4], [-2.0, 0.6]])
    >>> y = np.array([2.0, 4.0, -2.0, -4.0])
    >>> found = minimise(Composite(X, y, np.ones(4), SquaredLoss(), np.ones(2), np.zeros(2)))
    >>> found.w.round(3).tolist(), found.status
    ([1.95, 0.0], 'converged')
    """
    progress = progress or Progress("linear machine")
    p = problem.X.shape[1]
    w, b = (np.zeros(p), 0.0) if start is None else (start[0].copy(), float(start[1]))
    machine = _with_best_intercept(problem, Machine(w, b, values(problem.X, w) + b), tol)
    search = _search_columns if problem.lam.any() else _search_all
    # many small products and factorisations; a step beyond float64 gains nothing, and is halved
    with (
        one_blas_thread(),
        np.errstate(over="ignore", invalid="ignore", divide="ignore"),
    ):
        return search(problem, machine, tol, max_iter, progress)


def _with_best_intercept(problem: Composite, machine: Machine, tol: float) -> Machine:
    """The machine with its best intercept, as nearly as a certificate within ``tol`` asks for."""
    accuracy = min(max(1e-15, _BALANCE * tol), 1e-6)
    shift, *slopes = balancing_shift(problem, machine.f, accuracy)
    return Machine(machine.w, machine.b + shift, machine.f + shift, (slopes[0], slopes[1]))


# -------------------------------------------------------------------------------- with thresholds


def _search_columns(
    problem: Composite, machine: Machine, tol: float, max_iter: int, progress: Progress
) -> CompositeResult:
    """Working sets that grow until the certificate over all features is small."""
    X, lam = problem.X, problem.lam
    p = X.shape[1]
    best, lowest, steps, status = None, -np.inf, 0, "max_iter"
    size = 0
    stalled = 0
    try:
        while True:
            found = certify(problem, machine.w, machine.b, machine.f, steps, "max_iter")
            lowest = max(lowest, found.dual_objective)
            found = found._replace(dual_objective=lowest)
            stalled = stalled + 1 if best is not None and found.gap > 0.9 * best.gap else 0
            if best is None or found.objective <= best.objective:
                best = found
            best = best._replace(dual_objective=lowest)
            progress.update(f"step {steps}, duality gap {best.gap:.3g} of {best.objective:.4g}")
            if best.within(tol) or best.objective <= 0.0:
                status = "converged"
                break
            if steps >= max_iter:
                break
            if stalled >= 4 and size == p:
                status = "stalled"
                break
            used = machine.w != 0
            with np.errstate(divide="ignore"):
                nearness = np.where(lam > 0, np.abs(found.g) / lam, np.inf)
            nearness[used] = np.inf
            pulling = int(np.count_nonzero(nearness > 1.0))
            size = min(p, max(_FIRST, 2 * int(used.sum()), min(pulling, _MOST_FIRST), size))
            if stalled:
                size = min(p, 2 * size)
            if 1.3 * size > p:
                chosen, size = np.arange(p), p
            else:
                chosen = np.sort(np.argpartition(-nearness, size - 1)[:size])
            goal = max(_NEAR * found.gap, 0.3 * tol * found.objective)
            machine, done, whole = _on_working_set(
                problem, chosen, machine, found.g[chosen], goal, max_iter - steps, tol
            )
            steps += max(done, 1)
            if not whole:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        status = "interrupted"
        if best is None:
            raise
        last = certify(problem, machine.w, machine.b, machine.f, steps, status)
        if last.objective <= best.objective:
            best = last._replace(dual_objective=max(lowest, last.dual_objective))
    return best._replace(iterations=steps, status=status)


def _on_working_set(
    problem: Composite,
    chosen: np.ndarray,
    machine: Machine,
    pulls: np.ndarray,
    goal: float,
    most: int,
    tol: float,
) -> tuple[Machine, int, bool]:
    """Newton steps on the features ``chosen`` until their own certificate is below ``goal``.

    ``pulls`` are theirs in the beginning. Returns where they ended, how many there were, and
    whether no Ctrl-C came between.
    """
    columns = gather_columns(problem.X, chosen)
    part = problem._replace(X=columns.table, lam=problem.lam[chosen], mu=problem.mu[chosen])
    local = machine._replace(w=machine.w[chosen])
    matrix = columns.worth_a_matrix()
    G, done, lowest, whole = None, 0, -np.inf, True
    try:
        for done in range(min(_STEPS, most) + 1):
            theta, h = local.weighed_slopes(part)
            q = pulls if done == 0 else np.asarray(columns.table.T @ theta)
            value = part.losses(local.f) + part.penalty(local.w)
            lowest = max(lowest, lower_bound(part, theta, q))
            if value - lowest <= goal or done == min(_STEPS, most):
                break
            accuracy = 0.03 * _violation(part, local.w, q)
            if matrix:
                if G is None or not part.loss.quadratic:
                    G = curvature_matrix(columns, h, part.intercept)
                z = minimise_quadratic(G, q, local.w, part.lam, part.mu, accuracy)
            else:
                penalties = part.lam, part.mu
                z = descend_columns(columns, h, q, local.w, penalties, accuracy, part.intercept)
            d = z - local.w
            moved = _along(part, local, d, _changes(part, d, h), q, value, tol)
            if moved is None:
                break
            local = moved[0]
    except KeyboardInterrupt:
        whole = False
    w = np.zeros(len(machine.w))
    w[chosen] = local.w
    return local._replace(w=w), done, whole


def _violation(part: Composite, w: np.ndarray, q: np.ndarray) -> float:
    """The largest violation of the optimality conditions."""
    slope = q - part.mu * w
    inside = np.maximum(np.abs(slope) - part.lam, 0.0)
    return float(np.max(np.where(w != 0, np.abs(slope - part.lam * np.sign(w)), inside)))


def _changes(part: Composite, d: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, float]:
    """How the values at the samples change with the weights, and the intercept, which follows."""
    df = values(part.X, d)
    total = float(h.sum())
    db = -float(h @ df) / total if total > 0 and part.intercept else 0.0
    return df + db, db


def _along(
    part: Composite,
    machine: Machine,
    d: np.ndarray,
    changes: tuple[np.ndarray, float],
    q: np.ndarray,
    value: float,
    tol: float,
) -> tuple[Machine, float] | None:
    """The best multiple of a step, halved until it lowers the objective enough, or None.

    With the objective there. Thresholds and squared losses have their minimum at the step itself.
    """
    df, db = changes
    promised = part.penalty(machine.w + d) - part.penalty(machine.w) - float(q @ d)
    if not promised < _ROUNDING * value:
        return None
    promised = min(promised, 0.0)
    size = whole = 1.0
    if not (part.loss.quadratic or part.lam.any()):
        size = whole = _best_multiple(part, machine, d, df)
    for _ in range(_HALVINGS):
        trial = Machine(machine.w + size * d, machine.b + size * db, machine.f + size * df)
        trial = _with_best_intercept(part, trial, tol)
        # near the end the steps gain less than rounding shows, and still mend the dual point
        rounding = _ROUNDING * value if size == whole else 0.0
        reached = part.losses(trial.f) + part.penalty(trial.w)
        if reached <= value + 1e-4 * size * promised + rounding:
            return trial, reached
        size *= 0.5
    return None


def _best_multiple(part: Composite, machine: Machine, d: np.ndarray, df: np.ndarray) -> float:
    """The multiple of a step after which the objective is least, with its best intercept.

    Nearly: by Newton steps in these two numbers, which need no product with the table.
    """
    size, shift = 1.0, 0.0
    pulled, curved_by = float((part.mu * machine.w) @ d), float((part.mu * d) @ d)
    for _ in range(_CORRECTED):
        slopes = part.loss.slopes(part.y, machine.f + size * df + shift)
        u, h = (part.c * one for one in slopes)
        hd, total = h * df, float(h.sum())
        slope = float(u @ df) - pulled - size * curved_by
        curved = float(hd @ df) + curved_by
        excess, both = (float(u.sum()), float(hd.sum())) if part.intercept else (0.0, 0.0)
        room = curved * total - both * both
        longer = (slope * total - excess * both) / room if room > 0.0 else -size
        if not 0.0 < size + longer < np.inf:
            break
        size, shift = size + longer, shift + (excess * curved - slope * both) / room
        if abs(longer) <= _SAME * size:
            break
    return size


# ----------------------------------------------------------------------------- without thresholds


def _search_all(
    problem: Composite, machine: Machine, tol: float, max_iter: int, progress: Progress
) -> CompositeResult:
    """Newton's method for losses with a quadratic penalty."""
    n, p = problem.X.shape
    few = p > n and n <= _LARGEST_ROTATION and bool((problem.mu > 0).all())
    in_samples = few and problem.loss.quadratic
    if few and not in_samples:
        return _rotated(problem, machine, tol, max_iter, progress)
    columns = gather_columns(problem.X, np.arange(p))
    work = (8.0 if sparse.issparse(problem.X) else 1.0) * columns.pairs()
    direct = work + p**3 / 3.0 <= _LARGEST_WORK
    step = _dual_step if in_samples else _system_step if direct else _conjugate_step
    kept: dict[str, Any] = {"accuracy": _FOLLOWED * np.sqrt(tol)}
    best, lowest, steps, status = None, -np.inf, 0, "max_iter"
    value = problem.losses(machine.f) + problem.penalty(machine.w)
    try:
        while True:
            theta, h = machine.weighed_slopes(problem)
            g = np.asarray(problem.X.T @ theta)
            about = _gap_left(g - problem.mu * machine.w, problem.mu)
            if not about > _FAR * tol * value:
                lowest = max(lowest, lower_bound(problem, theta, g))
            best = CompositeResult(machine.w, machine.b, g, value, lowest, steps, "max_iter")
            progress.update(f"step {steps}, duality gap {about:.3g} of {value:.4g}")
            if best.within(tol) or best.objective <= 0.0:
                status = "converged"
                break
            if steps >= max_iter:
                break
            # steps square the gap, in units of the objective, up to what they leave undone
            last = about <= np.sqrt(tol) * value
            kept["enough"] = _LEFT * tol * value if last else None
            d, left = step(problem, columns, machine, g, h, kept)
            changes = _changes(problem, d, h)
            moved = _along(problem, machine, d, changes, g, value, tol)
            if moved is None:
                status = "stalled"
                break
            if left is not None:
                g = problem.mu * (machine.w + d) + left
                ahead = _foreseen(problem, theta - h * changes[0], g, (1.0 - tol) * moved[1])
                if ahead is not None:
                    lowest, g = max(lowest, ahead[0]), ahead[1]
            (machine, value), steps = moved, steps + 1
            best = CompositeResult(machine.w, machine.b, g, value, lowest, steps, "max_iter")
            if best.within(tol):
                status = "converged"
                break
    except KeyboardInterrupt:
        status = "interrupted"
        if best is None:
            raise
    if status != "converged":
        last = certify(problem, machine.w, machine.b, machine.f, steps, status)
        return last._replace(dual_objective=max(lowest, last.dual_objective))
    return best._replace(iterations=steps, status=status)


def _gap_left(left: np.ndarray, mu: np.ndarray) -> float:
    """The gap of pulls that miss the weights by so much, and those of the losses by nothing."""
    return 0.5 * float(left @ (left / mu))


def _foreseen(
    problem: Composite, theta: np.ndarray, g: np.ndarray, enough: float
) -> tuple[float, np.ndarray] | None:
    """The lower bound by the pulls that the tangents of the slopes foresee after a Newton step.

    A dual point like any other, if the loss allows these pulls. With the step ``d`` it is nearly
    optimal for the quadratic problem that ``d`` solves: the pulls of the features are
    ``g = μ(w + d)`` plus what is left of the right side. Where such a bound would be enough, it is
    computed without the digits that were lost on the way, and returned with the pulls; else None.
    """
    if not problem.loss.allows(problem.y, theta / problem.c):
        return None
    if lower_bound(problem, theta, g) < enough:
        return None
    theta = balanced(problem, theta)
    g = np.asarray(problem.X.T @ theta)
    return lower_bound(problem, theta, g), g


def _system_step(
    problem: Composite,
    columns: Columns,
    machine: Machine,
    g: np.ndarray,
    h: np.ndarray,
    kept: dict[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """The Newton step, by its linear system, and what it leaves of the right side.

    Where the matrix costs as much as many products, conjugate gradients come first: they begin
    with the diagonal alone, and once they take many products, with the matrix of that step.
    """
    right, dear = g - problem.mu * machine.w, _is_dear(columns)
    first = "inverse" not in kept and dear and not problem.loss.quadratic
    if first or kept.get("inverse") is not None:
        matrix = Curvature(columns, h, problem.mu, problem.intercept)
        if first:
            kept["inverse"] = _division(matrix.diagonal())
        count = 0

        def times(v: np.ndarray) -> np.ndarray:
            nonlocal count
            count += 1
            return matrix.times(v)

        goal = Goal(_PRECONDITIONED, _TIRED, problem.mu, kept["enough"])
        step = conjugate_gradients(times, right, kept["inverse"], goal)
        if count >= _TIRED:
            kept["inverse"] = None
        return step
    kept.setdefault("inverse", None)
    G = curvature_matrix(columns, h, problem.intercept)
    G[np.diag_indices_from(G)] += problem.mu
    found = None
    if problem.loss.quadratic or dear:
        factor, info = lapack.dpotrf(G, lower=1)
        if info == 0:
            kept["inverse"] = lambda r: lapack.dpotrs(factor, r, lower=1)[0]
            found = np.asarray(lapack.dpotrs(factor, right, lower=1)[0])
    if found is None:
        found = solve_positive(G, right)
    found = np.zeros(len(g)) if found is None else found
    return found, right - G @ found


def _is_dear(columns: Columns) -> bool:
    """Whether the matrix of a Newton step costs as much as many products with vectors."""
    return columns.pairs() >= _DEAR * (columns.entries() + _CALL)


def _division(divisors: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda r: r / divisors


def _dual_step(
    problem: Composite,
    columns: Columns,
    machine: Machine,
    g: np.ndarray,
    h: np.ndarray,
    kept: dict[str, Any],
) -> tuple[np.ndarray, None]:
    r"""The Newton step by a system in the samples, where these are fewer than the features.

    With the curvatures ``H`` and ``r = g - μ w``, the change is ``d = (r - X'v) / μ``, where
    ``(X μ⁻¹ X' + H⁻¹) v = X μ⁻¹ r + δ`` and the change ``δ`` of the intercept, if there is one, has
    ``Σ v = 0``.
    """
    X, mu = problem.X, problem.mu
    if "A" not in kept:
        require_inner_products(X.shape[0], matrices=2)
        scaled = X / np.sqrt(mu) if isinstance(X, np.ndarray) and np.ptp(mu) > 0 else X
        if sparse.issparse(X):
            gram = ((X @ _diagonal(1.0 / mu)) @ X.T).toarray()
        else:
            gram = product(scaled, scaled.T)
            if scaled is X:
                gram /= mu[0]
        gram[np.diag_indices_from(gram)] += 1.0 / h
        kept["A"] = gram
    r = g - mu * machine.w
    right = np.column_stack([np.asarray(X @ (r / mu)), np.ones(len(h))])
    both = solve_positive(kept["A"], right)
    if both is None:
        return np.zeros(len(g)), None
    v = both[:, 0]
    if problem.intercept:
        v = v - both[:, 1] * (v.sum() / both[:, 1].sum())
    return (r - np.asarray(X.T @ v)) / mu, None


def _conjugate_step(
    problem: Composite,
    columns: Columns,
    machine: Machine,
    g: np.ndarray,
    h: np.ndarray,
    kept: dict[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """The Newton step by conjugate gradients, as far as it is worth, and what they leave."""
    matrix = Curvature(columns, h, problem.mu, problem.intercept)
    if "inverse" not in kept or not problem.loss.quadratic:
        kept["inverse"] = _division(matrix.diagonal())
    fraction = kept["accuracy"] if problem.loss.quadratic else 0.1
    goal = Goal(fraction, _CONJUGATE, problem.mu, kept["enough"])
    return conjugate_gradients(matrix.times, g - problem.mu * machine.w, kept["inverse"], goal)


class Goal(NamedTuple):
    """Where conjugate gradients end: at a fraction of the residual, or after so many products.

    What is left of the right side of a Newton step, ``r``, leaves the gap ``½ r'r/μ`` even if the
    step does all that it foresees. If one is ``enough``, it takes the place of the fraction.
    """

    fraction: float
    most: int
    mu: np.ndarray
    enough: float | None = None

    def reached(self, r: np.ndarray, fraction: float) -> bool:
        """Whether a residual of this fraction, as the preconditioner measures it, is the end."""
        if self.enough is None:
            return fraction <= self.fraction
        return _gap_left(r, self.mu) <= self.enough


def conjugate_gradients(
    times: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    precondition: Callable[[np.ndarray], np.ndarray],
    goal: Goal,
) -> tuple[np.ndarray, np.ndarray]:
    """Solve ``A x = right`` up to a goal; returns ``x`` and the residual.

    ``times(v)`` is ``A v`` for a positive definite ``A``; ``precondition(v)`` is about ``A⁻¹ v``.
    """
    x, r = np.zeros(len(right)), right.copy()
    z = precondition(r)
    d, left = z.copy(), float(r @ z)
    first = left
    for _ in range(goal.most):
        if left <= 0.0 or goal.reached(r, float(np.sqrt(left / first))):
            break
        Ad = times(d)
        bend = float(d @ Ad)
        if bend <= 0.0:
            break
        size = left / bend
        x += size * d
        r -= size * Ad
        z = precondition(r)
        left, before = float(r @ z), left
        d = z + (left / before) * d
    return x, r


def _rotated(
    problem: Composite, machine: Machine, tol: float, max_iter: int, progress: Progress
) -> CompositeResult:
    """More features than samples: n coordinates have the same inner products."""
    X, root = problem.X, np.sqrt(problem.mu)
    require_inner_products(X.shape[0], matrices=4)
    scaled = X @ _diagonal(1.0 / root) if sparse.issparse(X) else X / root
    gram = scaled @ scaled.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    vectors_values = linalg.eigh(gram)
    sizes, vectors = vectors_values
    kept = sizes > 1e-13 * max(float(sizes[-1]), 1e-300)
    sizes, vectors = np.sqrt(sizes[kept]), vectors[:, kept]
    table = np.asfortranarray(vectors * sizes)
    ones = np.ones(len(sizes))
    part = problem._replace(X=table, lam=np.zeros(len(ones)), mu=ones)
    begin = vectors.T @ (scaled @ (root * machine.w)) / sizes
    start = _with_best_intercept(part, Machine(begin, machine.b, table @ begin + machine.b), tol)
    if len(ones) == 0:
        return certify(problem, np.zeros(X.shape[1]), start.b, start.f, 0, "converged")
    found = _search_all(part, start, tol, max_iter, progress)
    w = np.asarray(scaled.T @ (vectors @ (found.w / sizes))) / root
    g = np.asarray(X.T @ (vectors @ (found.g / sizes)))
    return found._replace(w=w, g=g)


def _diagonal(values: np.ndarray) -> Any:
    """A sparse matrix with these on its diagonal; older versions of SciPy have no diags_array."""
    return sparse.dia_array((values[None], [0]), shape=(len(values), len(values)))
