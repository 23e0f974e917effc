r"""Subgradient descent for convex functions, and for the linear soft-margin machine.

For a convex ``f``, perhaps over the ball ``‖β‖ ≤ B``, the steps

.. math::

    \beta^{(t+1)} = \Pi\bigl(\beta^{(t)} - \eta_t v_t\bigr), \qquad
    v_t \in \partial f(\beta^{(t)}), \qquad \beta^{(1)} = 0,

need not lower ``f`` one by one, but the average of ``β⁽¹⁾ ... β⁽ᵀ⁾`` approaches the minimum. If
``‖v_t‖ ≤ ρ`` for all steps,

* a constant step ``η`` gives ``f(average) - min f ≤ B²/(2ηT) + ηρ²/2``, which is least, namely
  ``Bρ/√T``, for ``η = B/(ρ√T)``;
* if ``f`` is λ-strongly convex, ``η_t = 1/(λt)`` gives
  ``f(average) - min f ≤ ρ²(1 + log T)/(2λT)``.

Both are proved for the mean of the values ``f(β⁽¹⁾) ... f(β⁽ᵀ⁾)``. By convexity ``f(average)`` is
no larger than that mean, and neither is the least of these values: the bounds hold for the best
iterate as well. They do not hold for the last one.

The machine is

.. math::

    f(\beta) = \frac{\lambda}{2} \lVert\beta\rVert^2
        + \frac{1}{S} \sum_i c_i \max\{0, 1 - y_i \langle\beta, x_i\rangle\},

with ``c_i`` the weight of sample ``i`` (its own times that of its class) and ``S`` the sum of the
samples' own weights. Everything it uses is a weighted sum over the samples, so that a weight of
two is the same as a sample repeated and a weight of zero the same as one left out:

* ``‖β*‖ ≤ min(√(f(0)/λ), R/λ)`` with ``R = Σ c_i‖x_i‖ / S``: at the optimum ``λ‖β*‖²`` is at
  most the mean of the dual variables, and ``λβ*`` is a mean of the ``±x_i``. This is ``B`` when
  none is given, or a larger one is.
* ``‖v‖ ≤ λB + R`` in that ball. This is ``ρ``.

References
----------
.. [1] S. Shalev-Shwartz, S. Ben-David (2014). Understanding machine learning, chapter 14.
       Cambridge University Press.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.extmath import row_norms

from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.solvers._rows import add_row, dot_row, row_arrays, rows_per_run

Evaluation = Callable[[np.ndarray], tuple[float, np.ndarray]]


class SubgradientResult(NamedTuple):
    """Outcome of subgradient descent."""

    solution: np.ndarray
    objective: float
    bound: float | None  # on objective - optimum; None if not known
    iterations: int
    status: str  # "converged" (bound within tol), "limit" or "interrupted"


class HingeProblem(NamedTuple):
    """One two-class problem."""

    X: Any  # (n, p), dense or CSR
    signs: np.ndarray  # (n,): -1 or 1
    weight: np.ndarray  # (n,): c_i / S
    lambda_: float
    intercept: bool  # whether a constant feature is appended


class Constants(NamedTuple):
    """The constants in the bounds."""

    radius: float  # B
    lipschitz: float  # ρ


def subgradient_descent(
    f_and_subgradient: Evaluation,
    start: np.ndarray,
    step: float | Callable[[int], float],
    n_iter: int,
    average: bool | str = True,
    *,
    project: Callable[[np.ndarray], np.ndarray] | None = None,
    verbose: bool | int = 0,
) -> SubgradientResult:
    """Minimise a convex function of a vector.

    Parameters
    ----------
    f_and_subgradient : callable
        Takes a vector and returns the value of the function there and one of its subgradients.
    start : array of shape (d,)
        The first iterate.
    step : float or callable
        Step length; a callable is given the number of the step, from 1.
    n_iter : int
        Number of steps.
    average : bool or "best", default=True
        Return the average of the iterates (True), the last one (False), or the one with the least
        value of those at which a subgradient was taken.
    project : callable, optional
        Takes a vector to the nearest one of the convex set in which the minimum is sought.
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    result : SubgradientResult
        ``bound`` is None: it needs constants that only the caller can know.

    Examples
    --------
    >>> import numpy as np
    >>> def distance(b):  # to (3, 4)
    ...     gap = b - np.array([3.0, 4.0])
    ...     length = np.linalg.norm(gap)
    ...     return length, gap / length if length else gap
    >>> T = 10_000  # B = 5, rho = 1
    >>> result = subgradient_descent(distance, np.zeros(2), 5 / np.sqrt(T), T)
    >>> bool(result.objective <= 5 / np.sqrt(T))
    True
    """
    beta = np.array(start, dtype=np.float64)
    length = step if callable(step) else (lambda t: step)
    total = np.zeros_like(beta)
    best, least = beta, np.inf
    status, done = "limit", 0
    try:
        with Progress("subgradient descent", verbose, most=n_iter) as progress:
            for t in range(1, n_iter + 1):
                value, v = f_and_subgradient(beta)
                with np.errstate(over="ignore", invalid="ignore"):
                    following = beta - length(t) * v
                if not np.isfinite(following).all():  # a step beyond float64 is none
                    following = beta
                if project is not None:
                    following = project(following)
                if value < least:
                    best, least = beta, value
                total, beta, done = total + beta, following, t
                progress.update(f"step {t:,} of {n_iter:,}, objective {value:.6g}")
    except KeyboardInterrupt:
        status = "interrupted"
    if average == "best":
        solution = best
    else:
        solution = total / done if average and done else beta
    return SubgradientResult(
        solution=solution,
        objective=float(f_and_subgradient(solution)[0]),
        bound=None,
        iterations=done,
        status=status,
    )


def solve_subgradient(
    machine: HingeProblem,
    *,
    step: str = "constant",
    radius: float | None = None,
    n_iter: int = 1000,
    average: bool | str = True,
    tol: float | None = None,
    verbose: bool | int = 0,
) -> SubgradientResult:
    """Fit one linear machine.

    Parameters
    ----------
    machine : HingeProblem
        The problem.
    step : {"constant", "decreasing"}, default="constant"
        ``B/(ρ√T)`` or ``1/(λt)``.
    radius : float, optional
        ``B``; by default the radius of the ball known to contain the optimum.
    n_iter : int, default=1000
        ``T``; with 0 the solution is zero.
    average : bool or "best", default=True
        Return the average of the iterates, the last one (False; there is no bound for it), or the
        best one.
    tol : float, optional
        Take the fewest steps, at most ``n_iter``, after which the bound is no more than this.
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    result : SubgradientResult
        The solution has the intercept as its last entry.
    """
    constants = machine_constants(machine, radius)
    schedule = _SCHEDULES[step](constants, machine.lambda_)
    if tol is not None and n_iter:
        n_iter = _fewest_steps(schedule, tol, n_iter)
    result = subgradient_descent(
        lambda beta: hinge_and_subgradient(machine, beta),
        np.zeros(machine.X.shape[1] + 1),
        schedule.lengths(n_iter),
        n_iter,
        average,
        project=lambda beta: into_ball(beta, constants.radius),
        verbose=verbose,
    )
    bound = schedule.bound(result.iterations, n_iter) if average and result.iterations else None
    status = result.status
    if status == "limit" and tol is not None and bound is not None and bound <= tol:
        status = "converged"
    return result._replace(bound=bound, status=status)


def hinge_and_subgradient(machine: HingeProblem, beta: np.ndarray) -> tuple[float, np.ndarray]:
    """Return ``f`` and a subgradient of it at ``beta``, whose last entry is the intercept."""
    arrays = row_arrays(machine.X)
    n, stride = machine.X.shape[0], rows_per_run(machine.X)
    weights = beta[None, :]
    v = machine.lambda_ * weights
    loss = 0.0
    for start in range(0, n, stride):
        stop = min(start + stride, n)
        loss += _add_losses(
            arrays, machine.signs, machine.weight, start, stop, machine.intercept, weights, v
        )
    return 0.5 * machine.lambda_ * float(beta @ beta) + loss, v[0]


def machine_constants(machine: HingeProblem, radius: float | None = None) -> Constants:
    """Return ``B`` and ``ρ`` of a machine."""
    X, weight, lambda_ = machine.X, machine.weight, machine.lambda_
    mean_norm = float(weight @ np.sqrt(row_norms(X, squared=True) + machine.intercept))
    total = float(np.sqrt(weight.sum()))
    with np.errstate(over="ignore"):
        holds_optimum = float(min(total / np.sqrt(lambda_), mean_norm / lambda_))
    # A larger ball than this one has the same optimum, and looser bounds.
    radius = holds_optimum if radius is None else min(radius, holds_optimum)
    return Constants(radius, lambda_ * radius + mean_norm)


def into_ball(beta: np.ndarray, radius: float) -> np.ndarray:
    """Return the vector of norm at most ``radius`` that is nearest to ``beta``."""
    largest = float(np.abs(beta).max(initial=0.0))
    if not largest > 0.0:
        return beta
    short = beta / largest  # whose square is within float64
    norm = float(np.linalg.norm(short))
    return beta if norm <= radius / largest else short * (radius / norm)


class _Constant:
    """``η = B/(ρ√T)``."""

    def __init__(self, constants: Constants, lambda_: float):
        self.radius, self.lipschitz = constants

    def lengths(self, n_iter: int) -> float | Callable[[int], float]:
        if self.lipschitz == 0.0:  # nothing but zeros in X: zero is the optimum
            return 0.0
        return self.radius / (self.lipschitz * np.sqrt(max(n_iter, 1)))

    def bound(self, done: int, planned: int) -> float:
        # B²/(2ηT) + ηρ²/2 with the planned η; an interruption may have left fewer steps
        half = 0.5 * float(self.radius) * float(self.lipschitz)
        return float(half * (np.sqrt(planned) / done + 1.0 / np.sqrt(planned)))


class _Decreasing:
    """``η_t = 1/(λt)``."""

    def __init__(self, constants: Constants, lambda_: float):
        self.lipschitz, self.lambda_ = constants.lipschitz, lambda_

    def lengths(self, n_iter: int) -> float | Callable[[int], float]:
        return lambda t: 1.0 / (self.lambda_ * t)

    def bound(self, done: int, planned: int) -> float:
        square = self.lipschitz * self.lipschitz  # infinite rather than an error
        return float(square * (1.0 + np.log(done)) / (2.0 * self.lambda_ * done))


_SCHEDULES: dict[str, type[_Constant] | type[_Decreasing]] = {
    "constant": _Constant,
    "decreasing": _Decreasing,
}


def _fewest_steps(schedule: _Constant | _Decreasing, tol: float, limit: int) -> int:
    """Return the least number of steps with a bound of ``tol`` or less, or ``limit``."""
    low, high = 1, limit
    while low < high:
        middle = (low + high) // 2
        if schedule.bound(middle, middle) <= tol:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def _add_losses(rows, signs, weight, start, stop, intercept, beta, v):
    """Add the subgradients of some losses to ``v`` and return their sum, in one pass."""
    values, indices, indptr = rows
    last = beta.shape[1] - 1
    loss = 0.0
    for i in range(start, stop):
        slack = 1.0 - signs[i] * (dot_row(beta, 0, values, indices, indptr, i) + beta[0, last])
        if slack > 0.0:
            pull = signs[i] * weight[i]
            loss += weight[i] * slack
            add_row(v, 0, -pull, values, indices, indptr, i)
            if intercept:
                v[0, last] -= pull
    return loss
