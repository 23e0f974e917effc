r"""Hinge losses with an ℓ2 and an ℓ1 penalty by coordinate descent on the dual.

Where both n and p are in the thousands, the systems of :mod:`tamiz.solvers.mixed_interior` cost too
much; where a usual accuracy is enough, some sweeps may cost less. Without the equality ``sum(c) =
0`` the dual could be descended one sample at a time, at the cost of that sample's non-zero entries:
``X'c`` is kept up to date, and since the threshold never lengthens a change, ``||x_i||^2`` bounds
the curvature. The equality goes into the objective by the method of multipliers,

.. math::

    \min_{0 \le \alpha \le C} \; \tfrac12 \lVert S_\nu(X'c)\rVert^2 - \sum_i m_i \alpha_i
    + \beta \sum_i c_i + \tfrac{\sigma}{2} \Bigl(\sum_i c_i\Bigr)^2,
    \qquad \beta \leftarrow \beta + \sigma \sum_i c_i ,

and ``beta`` tends to the intercept. Samples that sit at a bound with a gradient that holds them
there are left out until the others hardly move: then all are looked at again. Most of the time few
are left, and a sweep over them, with an update of ``beta``, costs next to nothing. What holds a
sample is a gradient that the next update of ``beta`` cannot turn; otherwise whole classes would
leave and come back by turns.

References
----------
.. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan (2008). A dual coordinate
       descent method for large-scale linear SVM. ICML.
.. [2] M. R. Hestenes (1969). Multiplier and gradient methods. JOTA 4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.solvers.mixed_interior import Certified, PenalisedHinge, certify, soft_threshold

_SWEEPS = 10  # between two updates of the multiplier
_MANY_STAY = 0.1  # fraction of the samples not held at a bound: the next look is a sweep, too
_REACH = 0.1  # of the largest change of a slope: what others may change besides the multiplier
_QUIET = 0.1  # of the violation that a round began with: where it ends
_MOST_SWEEPS = 10  # of a round, in visits of every sample: what ends it otherwise


def descend(
    problem: PenalisedHinge,
    tol: float,
    max_sweeps: int,
    progress: Progress,
    start: np.ndarray | None = None,
) -> Certified:
    """Minimise up to the fraction ``tol`` of the objective; ``start`` is a dual point ``c``.

    Each round looks at all samples once, and then descends among those that can move.
    """
    X, y, C = problem.X, problem.y, problem.C
    squares = np.asarray(
        X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    ).ravel()
    alpha = np.zeros(len(y)) if start is None else np.clip(y * start, 0.0, C)
    best = certify(problem, alpha)
    descent = _Descent(problem, alpha, best.intercept, squares)
    status = "max_iter"
    try:
        while descent.sweeps < max_sweeps:
            descent.round(max_sweeps)
            progress.update(
                f"sweep {descent.sweeps:.0f}, duality gap {best.gap:.3g} of {best.objective:.4g}"
            )
            found = certify(problem, alpha)
            if found.gap < best.gap:
                best = found
            if best.within(tol):
                status = "converged"
                break
    except KeyboardInterrupt:
        status = "interrupted"
    return best._replace(n_iter=min(max_sweeps, math.ceil(descent.sweeps)), status=status)


class _Descent:
    """The dual point, the multiplier of the equality, and how many sweeps there were."""

    def __init__(
        self, problem: PenalisedHinge, alpha: np.ndarray, beta: float, squares: np.ndarray
    ):
        X, y, C, nu, margin = problem
        self.problem, self.alpha, self.beta, self.squares = problem, alpha, beta, squares
        self.rows = _rows(X)
        self.costs = y, C, nu, np.array(np.broadcast_to(margin, y.shape))
        # the pull of the equality: strong enough to be met, weak enough not to couple all samples
        self.sigma = max(float(squares.mean()), 1e-300) * 0.1
        self.rng = np.random.default_rng(0)
        self.sweeps = 0.0  # visits of samples, over their number
        self.many = True  # of the samples are not held at a bound
        self.change = np.inf  # largest of a slope in the last sweep
        self.reach = np.inf  # a sample whose slope is further from zero is held at its bound

    def round(self, limit: int) -> None:
        """A look at all samples, and sweeps over those that can move, until they hardly do."""
        y = self.problem.y
        self.u = self.problem.X.T @ (y * self.alpha)  # afresh: rounding errors accumulate
        self.excess = float(y @ self.alpha)
        if self.many:
            active = self._sweep(np.arange(len(y)))
            self.many = len(active) > _MANY_STAY * len(y)
        else:
            active = self._near()
            self.sweeps += 1.0
        first = self.change
        most = min(self.sweeps + _MOST_SWEEPS, limit)
        sweep = 0
        while len(active) and self.sweeps < most:
            active = self._sweep(active)
            first = max(first, self.change)
            sweep += 1
            if sweep % _SWEEPS == 0:
                self.beta += self.sigma * self.excess
                if self.change <= _QUIET * first:
                    return
        self.beta += self.sigma * self.excess

    def _sweep(self, active: np.ndarray) -> np.ndarray:
        """Visit these samples once: those that are not held at a bound."""
        self.rng.shuffle(active)
        self.sweeps += len(active) / len(self.alpha)
        state = self.beta, self.sigma, self.excess, self.reach
        self.excess, kept, worst = _sweep(
            self.rows, self.costs, self.squares, self.alpha, self.u, state, active
        )
        self.change = max(worst, self.sigma * abs(self.excess))
        self.reach = max(_REACH * worst, self.sigma * abs(self.excess))
        return active[:kept]

    def _near(self) -> np.ndarray:
        """The samples that are not held at a bound."""
        X, y, C, nu, margin = self.problem
        pull = self.beta + self.sigma * self.excess
        slope = y * (X @ soft_threshold(self.u, nu) + pull) - margin
        up, down = self.alpha < C, self.alpha > 0.0
        return np.flatnonzero((up & (slope < self.reach)) | (down & (slope > -self.reach)))


def _rows(X: Any) -> tuple[bool, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the compiled sweep reads: the dense table, or the three arrays of the sparse one."""
    none = np.zeros(0, dtype=np.int32)
    if sparse.issparse(X):
        return False, np.zeros((0, 0)), X.data, X.indices, X.indptr
    return True, X, np.zeros(0), none, none


@njit(cache=True, nogil=True)
def _sweep(rows, costs, squares, alpha, u, state, order):  # type: ignore[no-untyped-def]
    """Go once over the samples ``order``; ``alpha`` and ``u`` change in place.

    ``state`` holds beta, sigma, the sum of ``c``, and how far the slope of a sample at a bound has
    to be from zero for it to count as held there.

    Samples that are held are taken to the end of ``order``. Returns the sum of ``c``, the number of
    the others, and the largest slope that one of them lost.
    """
    dense, table, data, indices, indptr = rows
    y, C, nu, margin = costs
    beta, sigma, excess, reach = state
    worst = 0.0
    kept, position = len(order), 0
    while position < kept:
        i = order[position]
        output = 0.0
        if dense:
            row = table[i]
            for j in range(len(row)):
                output += row[j] * _threshold(u[j], nu[j])
        else:
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                output += data[k] * _threshold(u[j], nu[j])
        slope = y[i] * (output + beta + sigma * excess) - margin[i]
        old = alpha[i]
        new = min(max(old - slope / (squares[i] + sigma), 0.0), C[i])
        change = new - old
        if change != 0.0:
            alpha[i] = new
            worst = max(worst, abs(change) * (squares[i] + sigma))
            step = y[i] * change
            excess += step
            if dense:
                row = table[i]
                for j in range(len(row)):
                    u[j] += step * row[j]
            else:
                for k in range(indptr[i], indptr[i + 1]):
                    u[indices[k]] += step * data[k]
            position += 1
        elif abs(slope) < reach:
            position += 1
        else:
            kept -= 1
            order[position], order[kept] = order[kept], order[position]
    return excess, kept, worst


@njit(cache=True, nogil=True)
def _threshold(u, nu):  # type: ignore[no-untyped-def]
    return u - min(max(u, -nu), nu)
