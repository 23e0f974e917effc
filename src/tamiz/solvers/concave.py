r"""Penalties that count features, by convex problems solved again and again.

**A difference of convex functions**: a concave penalty, linearised again and again.

.. math::

    \min_w \; f(w) + \sum_j \varphi(\lvert w_j\rvert), \qquad f \text{ convex},\;
    \varphi \text{ concave and increasing}

The concave part lies below its tangent, so that at the current weights ``w_k``

.. math::

    f(w) + \sum_j \bigl[\varphi(\lvert w_{kj}\rvert)
    + \varphi'(\lvert w_{kj}\rvert)\,(\lvert w_j\rvert - \lvert w_{kj}\rvert)\bigr]

lies above the objective and touches it at ``w_k``. Its minimum, a convex problem with a penalty of
its own for every weight, is no worse than ``w_k``: the objective never rises, and the iteration
ends in a critical point, one that no such step improves. Which one depends on the start, and it
need not be a local minimum: between two copies of a feature that share their weight equally, the
tangent sees no difference, though every shift of weight from one to the other would pay.
:func:`successive_linearisation` therefore takes ``moves``, which look for a lower point somewhere
near, and goes on from there.

References
----------
.. [1] P. D. Tao, L. T. H. An (1997). Convex analysis approach to d.c. programming. Acta Mathematica
       Vietnamica 22.
.. [2] P. S. Bradley, O. L. Mangasarian (1998). Feature selection via concave minimization and
       support vector machines. ICML.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class DCResult(NamedTuple):
    """Where the iteration ended and how it came there."""

    fit: Any  # what the last step that lowered the objective returned
    objective: float
    history: tuple[float, ...]  # objective after each step
    left: np.ndarray  # step at which each weight went to zero, infinite for the others
    n_iter: int
    status: str  # "converged", "max_iter", or what ended a step early


def successive_linearisation(
    solve: Callable[[np.ndarray, Any], Any],
    objective: Callable[[Any], float],
    slope: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    previous: Any = None,
    moves: Callable[[Any, float], np.ndarray | None] | None = None,
) -> DCResult:
    """Solve with the penalties that the last weights give, until the objective stands still.

    Parameters
    ----------
    solve : callable
        ``solve(penalties, previous)`` returns the solution of the convex problem with
        ``penalties @ abs(w)`` added; it has the weights ``w`` and a ``status``, and ``previous`` is
        the solution of the last step.
    objective : callable
        ``objective(fit)``: the value of the whole objective, with the concave penalty.
    slope : callable
        Derivative of the penalty at the absolute values of the weights.
    start : array
        Weights to begin with.
    tol : float
        Fraction of the objective by which a step must lower it to be followed by another.
    max_iter : int
        Limit on steps.
    previous : optional
        A solution near the first one.
    moves : callable, optional
        ``moves(fit, value)`` is asked at every critical point for weights with an objective below
        ``value``, or None if it knows of none.
    """
    history: list[float] = []
    best, value = previous, np.inf
    left = np.full(len(start), np.inf)
    w, status, moved = start, "max_iter", False
    try:
        for step in range(1, max_iter + 1):
            fit = solve(slope(np.abs(w)), best)
            new = objective(fit)
            improved = 0.0  # a step is solved up to a tolerance only, and may rise
            if new <= value or not history:
                improved = value - new
                best, w, value = fit, fit.w, new
                left = np.where(w != 0, np.inf, np.minimum(left, step))
            history.append(value)
            if fit.status != "converged":
                status = fit.status
                break
            if improved > tol * abs(value):
                moved = False
                continue
            # a move that brought nothing would be proposed again
            elsewhere = None if moves is None or moved else moves(best, value)
            if elsewhere is None:
                status = "converged"
                break
            w, moved = elsewhere, True
    except KeyboardInterrupt:
        if best is None:
            raise
        status = "interrupted"
        value = value if history else objective(best)
    return DCResult(best, value, tuple(history), left, len(history), status)
