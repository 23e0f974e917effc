"""The last digits: a nearly optimal point driven to rounding level.

Newton steps on the free variables (:mod:`tamiz.solvers.newton`) give the exact optimum once the
right variables are at bounds; pair steps mend a wrong guess of those. The best point met is kept,
so that polishing never does harm. It is meant for small problems, where it makes the answer
independent of the order of the samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tamiz.qp.optimality import kkt_violation
from tamiz.solvers.descent import diagonal
from tamiz.solvers.newton import newton
from tamiz.solvers.pairs import run_pairs

if TYPE_CHECKING:
    from tamiz.solvers.frame import State

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
    K = np.ascontiguousarray(base.dense(), dtype=np.float64)
    diag = diagonal(K)
    b, g = state.point[0].copy(), state.point[1].copy()
    best = state.violation()
    target = 1e-14 * max(1.0, float(np.abs(g).max()), float(np.abs(K).max()))
    for _ in range(_ROUNDS):
        newton(K, copies, b, g, free.lower, free.upper, max_free=len(b), max_cuts=MAX_VARIABLES)
        # afresh, so that rounding does not add up
        g = free.p + np.tile(K @ b.reshape(copies, -1).sum(axis=0), copies)
        violation = kkt_violation(b, g, free.lower, free.upper)
        if violation < best:
            best = violation
            state.point = b.copy(), g.copy()
        if violation <= target:
            break
        _, done, _, _ = run_pairs(
            K, diag, copies, g, b, free.lower, free.upper, target, _PAIR_STEPS
        )
        state.iterations += done
