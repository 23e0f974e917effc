r"""The last digits: Newton steps on the free variables of a nearly optimal point.

When the variables at bounds are known, the optimum of the quadratic problem solves the linear system

.. math::

    \begin{pmatrix} K_{FF} & 1 \\ 1' & 0 \end{pmatrix}
    \begin{pmatrix} \delta \\ -m \end{pmatrix} =
    \begin{pmatrix} -g_F \\ 0 \end{pmatrix}

over the free variables ``F``. Pair steps find which variables are free in a few thousand cheap
iterations but need many more for the last digits; one factorisation gives them at once. Steps that
would leave the box are cut at the first bound, pair steps mend a wrong guess of ``F``, and the
better of the old and the new point is kept, so that polishing never does harm. It is meant for
small problems, where it makes the answer independent of the order of the samples.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from tamiz.qp.kkt import kkt_violation
from tamiz.solvers.smo import State, run_pairs

#: Problems with more variables than this are left as the iteration leaves them.
MAX_VARIABLES = 600
_ROUNDS = 30
_PAIR_STEPS = 500


def polish(state: State) -> None:
    """Drive the KKT violation of a converged state to rounding level."""
    free = state.free
    base, copies = free.Q.repeated()
    if not 0 < free.Q.n <= MAX_VARIABLES:
        return
    K = np.asarray(base.dense(), dtype=np.float64)
    whole = np.tile(K, (copies, copies)) if copies > 1 else K
    b, g = state.point[0].copy(), state.point[1].copy()
    best = state.violation()
    target = 1e-14 * max(1.0, float(np.abs(g).max()), float(np.abs(K).max()))
    for _ in range(_ROUNDS):
        if not _newton(whole, b, g, free.lower, free.upper):
            break
        g = free.p + whole @ b
        violation = kkt_violation(b, g, free.lower, free.upper)
        if violation < best:
            best = violation
            state.point = b.copy(), g.copy()
        if violation <= target:
            break
        _, done, _, _ = run_pairs(K, copies, g, b, free.lower, free.upper, target, _PAIR_STEPS)
        state.iterations += done


def _newton(
    K: np.ndarray, b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> bool:
    """Move ``b`` to the minimum over its free variables, or to the first bound on the way."""
    free = np.flatnonzero((b > lower) & (b < upper))
    while len(free):
        step = _solve(K[np.ix_(free, free)], -g[free])
        if step is None or g[free] @ step > 0:  # not a direction of descent: Q is indefinite
            return False
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(step > 0, (upper[free] - b[free]) / step, np.inf)
            reach = np.where(step < 0, (lower[free] - b[free]) / step, reach)
        first = int(np.argmin(reach))
        length = min(1.0, float(reach[first]))
        b[free] = np.clip(b[free] + length * step, lower[free], upper[free])
        g += K[:, free] @ (length * step)
        if length == 1.0:
            return True
        hit = free[first]
        b[hit] = upper[hit] if step[first] > 0 else lower[hit]
        free = np.delete(free, first)
    return True


def _solve(K: np.ndarray, rhs: np.ndarray) -> np.ndarray | None:
    """The least step with ``sum(step) = 0`` that makes ``K step - rhs`` constant."""
    m = len(rhs)
    scale = float(np.abs(K.diagonal()).mean()) or 1.0
    system = np.full((m + 1, m + 1), scale)
    system[:m, :m] = K
    system[m, m] = 0.0
    try:
        solution = linalg.lstsq(
            system, np.append(rhs, 0.0), cond=1e-13, lapack_driver="gelsd", check_finite=False
        )[0]
    except (linalg.LinAlgError, ValueError):
        return None
    step = solution[:m]
    return step - step.mean() if np.isfinite(step).all() else None
