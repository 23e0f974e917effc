r"""Coordinate descent on the dual of the doubly penalised machine, for large tables.

Where both n and p are in the thousands, the systems of
:mod:`tamiz.embedded.sparse.l1l2.interior` cost too much. Without the equality ``sum(c) = 0`` the
dual could be descended one sample at a time, at the cost of that sample's non-zero entries:
``X'c`` is kept up to date, and since the threshold never lengthens a change, ``||x_i||^2`` bounds
the curvature. The equality goes into the objective by the method of multipliers,

.. math::

    \min_{0 \le \alpha \le C} \; \tfrac12 \lVert S_\nu(X'c)\rVert^2 - \sum_i \alpha_i
    + \beta \sum_i c_i + \tfrac{\sigma}{2} \Bigl(\sum_i c_i\Bigr)^2,
    \qquad \beta \leftarrow \beta + \sigma \sum_i c_i ,

and ``beta`` tends to the intercept. Samples that sit at a bound with a gradient that holds them
there are left out for a while.

References
----------
.. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan (2008). A dual coordinate
       descent method for large-scale linear SVM. ICML.
.. [2] M. R. Hestenes (1969). Multiplier and gradient methods. JOTA 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy import sparse

from tamiz.embedded.sparse.l1l2.problem import Certified, PenalisedHinge, certify
from tamiz.runtime.progress import Progress

_SWEEPS = 10  # between two updates of the multiplier
_LOOKS = 2  # updates of the multiplier between two certificates, growing


def descend(
    problem: PenalisedHinge,
    tol: float,
    max_sweeps: int,
    progress: Progress,
    start: np.ndarray | None = None,
) -> Certified:
    """Minimise up to the share ``tol`` of the objective; ``start`` is a dual point ``c``."""
    X, y, C, nu = problem
    rows = _rows(X)
    squares = np.asarray(
        X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    ).ravel()
    # the pull of the equality: strong enough to be met, weak enough not to couple all samples
    sigma = max(float(squares.mean()), 1e-300) * 0.1
    alpha = np.zeros(len(y)) if start is None else y * start
    u = X.T @ (y * alpha)
    best = certify(problem, alpha)
    beta = best.intercept
    rng = np.random.default_rng(0)
    sweeps, looks, status = 0, _LOOKS, "max_iter"
    try:
        while sweeps < max_sweeps:
            last = min(max_sweeps, sweeps + looks * _SWEEPS)
            while sweeps < last:
                active = np.arange(len(y))
                for sweep in range(min(_SWEEPS, last - sweeps)):
                    rng.shuffle(active)
                    excess, kept = _sweep(*rows, y, C, nu, squares, alpha, u, beta, sigma, active)
                    active = active[:kept] if sweep else active
                    sweeps += 1
                beta += sigma * excess
            progress.update(f"sweep {sweeps}, duality gap {best.gap:.3g} of {best.objective:.4g}")
            u = X.T @ (y * alpha)  # afresh: rounding adds up
            found = certify(problem, alpha)
            if found.gap < best.gap:
                best = found
            if best.within(tol):
                status = "converged"
                break
            looks = min(2 * looks, 16)
    except KeyboardInterrupt:
        status = "interrupted"
    return best._replace(n_iter=sweeps, status=status)


def _rows(X: Any) -> tuple[bool, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the compiled sweep reads: the dense table, or the three arrays of the sparse one."""
    none = np.zeros(0, dtype=np.int32)
    if sparse.issparse(X):
        return False, np.zeros((0, 0)), X.data, X.indices, X.indptr
    return True, X, np.zeros(0), none, none


@njit(cache=True, nogil=True)
def _sweep(  # type: ignore[no-untyped-def]
    dense, table, data, indices, indptr, y, C, nu, squares, alpha, u, beta, sigma, order
):
    """Go once over the samples ``order``; ``alpha`` and ``u`` change in place.

    Samples that do not move are taken to the end of ``order``. Returns the sum of ``c`` and the
    number of samples that moved.
    """
    excess = 0.0
    for i in range(len(y)):
        excess += y[i] * alpha[i]
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
        slope = y[i] * (output + beta + sigma * excess) - 1.0
        old = alpha[i]
        new = min(max(old - slope / (squares[i] + sigma), 0.0), C[i])
        change = new - old
        if change != 0.0:
            alpha[i] = new
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
        else:
            kept -= 1
            order[position], order[kept] = order[kept], order[position]
    return excess, kept


@njit(cache=True, nogil=True)
def _threshold(u, nu):  # type: ignore[no-untyped-def]
    return u - min(max(u, -nu), nu)
