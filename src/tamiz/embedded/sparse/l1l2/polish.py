r"""The last digits of the doubly penalised machine: the exact solution for guessed sets.

Once it is known which samples are on their margin (``F``), which have the full price, and which
weights are not zero (``A``, with their signs), what is left is a linear system:

.. math::

    w_A = X_A' c - \nu_A \operatorname{sign}_A, \qquad X_{FA}\, w_A + b = y_F, \qquad
    \sum_i c_i = 0

Wherever its solution contradicts the guess (a multiplier outside its box, a weight of the other
sign, a sample short of its margin), the guess is corrected and the system solved again: Newton's
method on the optimality conditions, which ends after a few rounds when it starts near the
optimum. The best certificate met is kept, so that polishing never does harm.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from tamiz.embedded.sparse.l1l2.interior import Estimate
from tamiz.embedded.sparse.l1l2.problem import Certified, PenalisedHinge, certify

_ROUNDS = 12
_EXACT = 1e-14
_MAX_FREE = 1500


def polish(problem: PenalisedHinge, estimate: Estimate, best: Certified) -> Certified:
    """Improve ``best`` by solving exactly for the sets of ``estimate``."""
    X, y, C, nu = problem
    free = ~(estimate.at_zero | estimate.at_C)
    c = y * np.where(estimate.at_C, C, np.where(estimate.at_zero, 0.0, estimate.alpha))
    active = (estimate.w != 0) | (nu == 0)
    sign = np.sign(estimate.w)
    for _ in range(_ROUNDS):
        if best.gap <= _EXACT * best.objective or np.count_nonzero(free) > _MAX_FREE:
            break
        solution = _solve(problem, c, free, active, sign)
        if solution is None:
            break
        w, b, c = solution
        alpha = y * c
        found = certify(problem, alpha, w)
        if found.gap < best.gap:
            best = found
        beyond = y * (X @ w + b) - 1.0
        pull = X.T @ c
        noise = 1e-11 * (1.0 + np.abs(beyond).max())
        out_low, out_high = free & (alpha < 0), free & (alpha > C)
        back = ~free & np.where(alpha > 0.5 * C, beyond > noise, beyond < -noise)
        lost = active & (nu > 0) & (w * sign < 0)
        found_out = ~active & (np.abs(pull) > nu * (1.0 + 1e-11))
        if not (out_low | out_high | back).any() and not (lost | found_out).any():
            break
        c = np.where(out_low, 0.0, np.where(out_high, y * C, c))
        free = (free & ~out_low & ~out_high) | back
        active = (active & ~lost) | found_out
        sign = np.where(found_out, np.sign(pull), sign)
    return best


def _solve(
    problem: PenalisedHinge,
    c: np.ndarray,
    free: np.ndarray,
    active: np.ndarray,
    sign: np.ndarray,
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Weights, intercept and multipliers of one guess; ``None`` if nothing is left to solve for."""
    X, y, _, nu = problem
    on, columns = np.flatnonzero(free), np.flatnonzero(active)
    if not len(on) or not len(columns):
        return None
    part = X[:, columns]
    rows = part[on].toarray() if sparse.issparse(part) else part[on]
    w = np.zeros(X.shape[1])
    w[columns] = part.T @ c - nu[columns] * sign[columns]
    size = len(on)
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = rows @ rows.T
    system[size, size] = 0.0
    # the border in the units of the rest, so that the rank is judged fairly
    unit = max(np.sqrt(float(np.mean(system.diagonal()[:size]))), 1e-150)
    system[:size, :size] /= unit**2
    rhs = np.append((y[on] - rows @ w[columns]) / unit, -c.sum() * unit)
    try:
        change = linalg.lstsq(system, rhs, cond=1e-13, lapack_driver="gelsy", check_finite=False)[0]
    except linalg.LinAlgError:
        return None
    if not np.isfinite(change).all():
        return None
    c = c.copy()
    c[on] += change[:size] / unit
    w[columns] += rows.T @ (change[:size] / unit)
    return w, float(change[size] * unit), c
