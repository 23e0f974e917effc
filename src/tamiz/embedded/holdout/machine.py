"""One small machine, trained with nothing around it.

An elimination trains thousands of machines on a few dozen or hundred samples; checking, describing
and proving each of them, as :func:`~tamiz.svm.multiclass.fit_binary` does, would take longer than
the training. This goes straight to the pair steps and Newton steps of the solver.
"""

from __future__ import annotations

import numpy as np

from tamiz.qp import DenseQ
from tamiz.qp.optimality import optimality
from tamiz.solvers import Status
from tamiz.solvers.descent import Descent, slice_steps
from tamiz.solvers.frame import iteration_limit
from tamiz.solvers.pairs import CODES, RUNNING
from tamiz.svm.multiclass import fit_binary

#: Above this many samples the full solver, which leaves variables out, is faster.
SMALL = 500


def train(
    K: np.ndarray, signs: np.ndarray, C: np.ndarray, tol: float
) -> tuple[np.ndarray, float, bool]:
    """Coefficients ``y_i alpha_i``, intercept, and whether the tolerance was reached.

    Solves ``min ½ b'Kb - y'b`` subject to ``sum(b) = 0`` and ``0 <= y_i b_i <= C_i``. Ctrl-C raises
    KeyboardInterrupt.
    """
    if len(signs) > SMALL:
        fit = fit_binary(DenseQ(K), signs, C, tol=tol)
        if fit.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return fit.alpha * signs, fit.intercept, fit.status is Status.CONVERGED
    b, g = np.zeros(len(signs)), -signs
    lower, upper = np.minimum(signs * C, 0.0), np.maximum(signs * C, 0.0)
    descent, done, code = Descent(K, 1), 0, RUNNING
    limit = iteration_limit(-1, len(signs))
    while code == RUNNING and done < limit:
        code, steps, _, _ = descent.run(b, g, lower, upper, tol, slice_steps(len(b)))
        done += steps
    violation, multiplier, _ = optimality(b, g, lower, upper)
    return b, -multiplier, CODES[code] is Status.CONVERGED or violation <= tol
