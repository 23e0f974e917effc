r"""Every machine, stated as the one quadratic problem.

===========  =====================  ==================  =========  =====  ================
machine      Q                      p                   y          d      bounds
===========  =====================  ==================  =========  =====  ================
SVC          y_i y_j K_ij           -1                  labels     0      0 .. C_i
SVR linear   ±K, twice              epsilon -/+ target  +1 / -1    0      0 .. C_i
SVR squared  ±(K + I/2C), twice     epsilon -/+ target  +1 / -1    0      0 .. infinity
one-class    K                      0                   1          nu W   0 .. w_i
SVDD         K                      -diag K / 2         1          1      0 .. C_i
QPFS         (1 - alpha) Q          -alpha F            1          1      0 .. infinity
===========  =====================  ==================  =========  =====  ================

Class and sample weights are per-sample upper bounds. Zero-weight samples have equal bounds and
never move.
"""

from __future__ import annotations

import numpy as np

from tamiz.qp.matrices import QMatrix, RepeatedQ, ScaledQ, ShiftedQ
from tamiz.qp.problem import QuadraticProblem


def svc_problem(K: QMatrix, signs: np.ndarray, C: np.ndarray | float) -> QuadraticProblem:
    """Soft-margin classification (hard margin with ``C=inf``); ``signs`` holds the labels ±1."""
    return QuadraticProblem(
        Q=ScaledQ(K, signs), p=np.full(K.n, -1.0), y=signs, d=0.0, lower=0.0, upper=C
    )


def svr_problem(
    K: QMatrix,
    target: np.ndarray,
    C: np.ndarray | float,
    epsilon: float,
    squared: bool = False,
) -> QuadraticProblem:
    """Epsilon-insensitive regression; the first half of the variables pulls the function up.

    With ``squared`` the loss is ``C * max(0, |residual| - epsilon)**2``, whose dual has no upper
    bound but a ridge ``1/(2C)`` on the kernel.
    """
    C = np.broadcast_to(np.asarray(C, dtype=np.float64), (K.n,))
    if squared:
        K = ShiftedQ(K, 1.0 / (2.0 * C))
        C = np.full(K.n, np.inf)
    signs = np.repeat([1.0, -1.0], K.n)
    return QuadraticProblem(
        Q=ScaledQ(RepeatedQ(K, 2), signs),
        p=np.concatenate([epsilon - target, epsilon + target]),
        y=signs,
        d=0.0,
        lower=0.0,
        upper=np.concatenate([C, C]),
    )


def one_class_problem(K: QMatrix, nu: float, weight: np.ndarray) -> QuadraticProblem:
    """Separation of the sample from the origin with at most a fraction ``nu`` of outliers."""
    return QuadraticProblem(
        Q=K,
        p=np.zeros(K.n),
        y=1.0,
        d=nu * float(weight.sum()),
        lower=0.0,
        upper=weight,
    )


def svdd_problem(K: QMatrix, C: np.ndarray | float) -> QuadraticProblem:
    """Smallest ball around the sample in feature space; ``C`` is the penalty of leaving it.

    The textbook objective ``a'Ka - diag(K)'a`` is halved; the squared radius of the ball (without
    slack) is therefore minus twice the optimum.
    """
    return QuadraticProblem(Q=K, p=-0.5 * K.diag(), y=1.0, d=1.0, lower=0.0, upper=C)


def simplex_problem(Q: QMatrix, p: np.ndarray) -> QuadraticProblem:
    """Any quadratic function over the simplex, as feature selection by weights needs it."""
    return QuadraticProblem(Q=Q, p=p, y=1.0, d=1.0, lower=0.0, upper=np.inf)
