r"""Newton steps on the free variables, cut at the first bound on the way.

For the sign-free problem of :mod:`tamiz.qp.problem`: with the variables at bounds fixed, the
minimum over the free ones ``F`` solves

.. math::

    K_{FF}\, \delta + g_F = m 1, \qquad \sum \delta = 0

Pair steps find which variables are free in a few thousand cheap iterations, but where the matrix
is nearly singular (a linear kernel on few features, a large price of slack) they creep along the
last stretch; one factorisation of the small system goes there at once. A step that would leave the
box is cut at the first bound, that variable is fixed, and the rest is solved for again. The
objective never rises.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from tamiz.runtime.blas import one_blas_thread

_RIDGE = 1e-11


def newton(
    K: np.ndarray,
    copies: int,
    b: np.ndarray,
    g: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    *,
    max_free: int,
    max_cuts: int,
) -> int:
    """Move ``b`` and its gradient ``g`` in place to the minimum over the free variables.

    Variables are ``copies`` blocks of as many entries as ``K`` has rows. Nothing happens with more
    than ``max_free`` free variables; after ``max_cuts`` cuts the point reached so far stays.

    Returns
    -------
    solves : int
        Number of linear systems solved.
    """
    n = len(K)
    free = np.flatnonzero((b > lower) & (b < upper))
    if not 2 <= len(free) <= max_free:
        return 0
    samples = free % n
    block = K[samples[:, None], samples].astype(np.float64)
    start, low, high = b[free], lower[free], upper[free]
    local_b, local_g = start.copy(), g[free]
    with one_blas_thread():  # many small systems: waking other threads costs more than it gains
        solves = _descend(block, local_b, local_g, low, high, max_cuts)
    change = np.clip(local_b, low, high) - start
    moved = np.flatnonzero(change)
    if len(moved):
        update = np.tile(change[moved] @ K[samples[moved]].astype(np.float64), copies)
        b[free[moved]] = np.clip(local_b, low, high)[moved]
        g += update
    return solves


def _descend(
    block: np.ndarray,
    b: np.ndarray,
    g: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    max_cuts: int,
) -> int:
    """Solve, step to the first bound, fix, repeat; ``b`` and ``g`` change in place."""
    inside = np.arange(len(b))
    solves = 0
    while solves < max_cuts and len(inside) >= 2:
        solves += 1
        step = _solve(block[inside[:, None], inside], -g[inside])
        if step is None or float(g[inside] @ step) > 0.0:  # no descent: K is indefinite
            break
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            reach = np.where(step > 0, (high[inside] - b[inside]) / step, np.inf)
            reach = np.where(step < 0, (low[inside] - b[inside]) / step, reach)
        first = int(np.argmin(reach))
        length = min(1.0, float(reach[first]))
        b[inside] += length * step
        g += block[:, inside] @ (length * step)
        if length == 1.0:
            break
        hit = inside[first]
        b[hit] = high[hit] if step[first] > 0 else low[hit]
        inside = np.delete(inside, first)
    return solves


def _solve(K: np.ndarray, rhs: np.ndarray) -> np.ndarray | None:
    """``step`` with ``K step - rhs`` constant and sum zero; ``None`` if K is indefinite."""
    K.flat[:: len(K) + 1] += _RIDGE * max(float(K.trace()) / len(K), 1e-300)
    factor, failed = linalg.lapack.dpotrf(K, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    both, _ = linalg.lapack.dpotrs(factor, np.column_stack([rhs, np.ones(len(rhs))]), lower=1)
    ones = float(both[:, 1].sum())
    if not np.isfinite(both).all() or ones <= 0.0:
        return None
    step = both[:, 0] - (float(both[:, 0].sum()) / ones) * both[:, 1]
    return step - step.mean()
