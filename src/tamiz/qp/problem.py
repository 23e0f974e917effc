r"""The one quadratic problem behind every machine of this package.

.. math::

    \min_a \; \tfrac12 a'Qa + p'a \quad\text{s.t.}\quad y'a = d,\; l \le a \le u

``Q`` is symmetric, and positive semi-definite for a global optimum; otherwise a solver ends in a
stationary point. Every ``y_i`` is non-zero (for the machines it is ±1), bounds are vectors and
may be infinite.

Solvers work on the equivalent problem in ``b = y * a``, whose equality reads ``sum(b) = d``: no
sign appears in their loops, and for a classifier the quadratic term is the kernel matrix itself.

Every machine is stated as this problem:

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

Optimality: multiplier, violation, duality gap of the sign-free problem.

With the gradient ``g = Qb + p`` and the multiplier ``m`` of ``sum(b) = d``, a point is optimal when
``g_v >= m`` wherever ``b_v`` can still grow and ``g_v <= m`` wherever it can still shrink. The
violation is therefore ``max(g over those that can shrink) - min(g over those that can grow)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tamiz.qp.matrices import DenseQ, QMatrix, RepeatedQ, ScaledQ, ShiftedQ
from tamiz.validation import symmetric_matrix

#: Gradients must stay far below what stands for "out of reach" in the solvers.
_LARGEST = 1e30
#: A variable this close to its bound, beside the largest one, is at it.
RESIDUE = 1e-13


class InfeasibleError(ValueError):
    """No point satisfies the bounds and the equality together."""


@dataclass
class QuadraticProblem:
    """``min ½a'Qa + p'a`` subject to ``y'a = d`` and ``lower ≤ a ≤ upper``.

    Parameters
    ----------
    Q : QMatrix or array of shape (n, n)
        Symmetric quadratic term.
    p : array of shape (n,)
        Linear term.
    y : array of shape (n,) or float, default=1.0
        Coefficients of the equality, none of them zero.
    d : float, default=0.0
        Right-hand side of the equality.
    lower, upper : arrays of shape (n,) or floats, default=0 and infinity
        Bounds.

    Examples
    --------
    The point of the simplex nearest to (1, 0.5):

    >>> import numpy as np
    >>> from tamiz.qp import QuadraticProblem
    >>> from tamiz.solvers import solve_smo
    >>> problem = QuadraticProblem(np.eye(2), p=[-1.0, -0.5], d=1.0)
    >>> solve_smo(problem, tol=1e-9).a.round(6).tolist()
    [0.75, 0.25]
    """

    # Numbers and sequences are accepted; after __post_init__ these are a QMatrix and arrays.
    Q: Any
    p: Any
    y: Any = 1.0
    d: float = 0.0
    lower: Any = 0.0
    upper: Any = np.inf
    n: int = field(init=False)

    def __post_init__(self) -> None:
        self.p = np.ascontiguousarray(self.p, dtype=np.float64)
        if self.p.ndim != 1:
            raise ValueError(f"p must be one-dimensional, it has shape {self.p.shape}.")
        self.n = len(self.p)
        if not isinstance(self.Q, QMatrix):
            self.Q = self._as_matrix(self.Q)
        if self.Q.n != self.n:
            raise ValueError(
                f"Q has {self.Q.n} rows but p has {self.n} entries; they must be equal."
            )
        self.y = self._as_vector("y", self.y)
        self.lower = self._as_vector("lower", self.lower)
        self.upper = self._as_vector("upper", self.upper)
        self.d = float(self.d)
        self._check()

    def _as_vector(self, name: str, value: Any) -> np.ndarray:
        vector = np.asarray(value, dtype=np.float64)
        if vector.ndim == 0:
            return np.full(self.n, float(vector))
        if vector.shape != (self.n,):
            raise ValueError(
                f"{name} has shape {vector.shape}; it must be ({self.n},) or a number."
            )
        return np.ascontiguousarray(vector)

    @staticmethod
    def _as_matrix(Q: Any) -> QMatrix:
        return DenseQ(symmetric_matrix("Q", Q))

    def _check(self) -> None:
        if not (np.isfinite(self.p).all() and np.isfinite(self.d)):
            raise ValueError("p and d must be finite numbers.")
        if np.abs(self.p).max(initial=0.0) > _LARGEST:
            raise ValueError(
                f"The linear term reaches {np.abs(self.p).max():.3g}, beyond what the solvers can "
                "work with; scale the data (features, or the target of a regression)."
            )
        if np.isnan(self.lower).any() or np.isnan(self.upper).any():
            raise ValueError("lower and upper must not hold NaN.")
        if not np.isfinite(self.y).all() or (self.y == 0).any():
            raise ValueError("Every entry of y must be finite and different from zero.")
        crossed = np.flatnonzero(self.lower > self.upper)
        if len(crossed):
            i = crossed[0]
            raise InfeasibleError(
                f"lower[{i}] = {self.lower[i]:g} exceeds upper[{i}] = {self.upper[i]:g}; no point "
                "lies between them."
            )

    def objective(self, a: np.ndarray) -> float:
        """``½a'Qa + p'a``, from entries of ``Q`` in float64."""
        return float(0.5 * a @ self.Q.exact_dot(a) + self.p @ a)

    def sign_free(self) -> SignFreeProblem:
        """The same problem in ``b = y * a``."""
        ends = self.lower * self.y, self.upper * self.y
        return SignFreeProblem(
            Q=self.Q.unsigned(self.y),
            p=self.p / self.y,
            d=self.d,
            lower=np.minimum(*ends),
            upper=np.maximum(*ends),
        )

    def from_sign_free(self, b: np.ndarray, free: SignFreeProblem) -> np.ndarray:
        """``b / y``, exactly at a bound wherever ``b`` is at one."""
        a = np.clip(b / self.y, self.lower, self.upper)
        positive = self.y > 0
        at_lower = np.where(positive, b <= free.lower, b >= free.upper)
        at_upper = np.where(positive, b >= free.upper, b <= free.lower)
        return np.where(at_lower, self.lower, np.where(at_upper, self.upper, a))


@dataclass
class SignFreeProblem:
    """``min ½b'Qb + p'b`` subject to ``sum(b) = d`` and ``lower ≤ b ≤ upper``: what solvers see."""

    Q: QMatrix
    p: np.ndarray
    d: float
    lower: np.ndarray
    upper: np.ndarray

    def reach(self) -> float:
        """The most that ``sum(|b|)`` can be at a feasible point.

        By the bounds alone, or, where those of one side are infinite, by the others and the sum:
        weights on the simplex never exceed one.
        """
        low, high, d = self.lower, self.upper, self.d
        with np.errstate(over="ignore", invalid="ignore"):
            ends = (
                np.maximum(np.abs(low), np.abs(high)).sum(),
                np.abs(low).sum() + d - low.sum(),
                np.abs(high).sum() + high.sum() - d,
            )
        return float(np.nanmin(ends))

    def feasible_start(self, guess: np.ndarray | None) -> np.ndarray:
        """A point inside the bounds with the right sum, close to ``guess``.

        What is missing from the sum is given to the variables with the steepest descent first,
        so that a cold start stays sparse.

        Raises
        ------
        InfeasibleError
            If the bounds do not admit the sum.
        """
        origin = np.zeros(len(self.p)) if guess is None else guess
        b = np.clip(origin, self.lower, self.upper)
        missing = self.d - b.sum()
        scale = max(1.0, abs(self.d), float(np.abs(b).sum()))
        if abs(missing) <= 4e-16 * scale * max(1, len(b)):
            return b
        room = self.upper - b if missing > 0 else b - self.lower
        order = np.argsort(self.p if missing > 0 else -self.p, kind="stable")
        filled = np.cumsum(room[order])
        if not len(filled) or filled[-1] < abs(missing) * (1 - 1e-12) - 1e-12:
            reach = b.sum() + np.sign(missing) * (filled[-1] if len(filled) else 0.0)
            raise InfeasibleError(
                f"The bounds admit no point with y'a = {self.d:g}; the nearest reachable value "
                f"is {reach:g}. Widen the bounds or change d."
            )
        before = np.concatenate([[0.0], filled[:-1]])
        taken = np.clip(abs(missing) - before, 0.0, room[order])
        b[order] += np.sign(missing) * taken
        return np.clip(b, self.lower, self.upper)


# -------------------------------------------------------------------------------- solvers of others


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


# --------------------------------------------------------------------------------------- optimality


class Optimality(NamedTuple):
    """How far a point is from the optimum."""

    violation: float  # 0 or less: optimal
    multiplier: float  # of the equality; minus the bias of a machine
    gap: float | None  # bound on the distance to the optimal objective; None if no bound is known


def optimality(b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Optimality:
    """Violation, multiplier and duality gap at ``b`` with gradient ``g``."""
    violation = kkt_violation(b, g, lower, upper)
    multiplier = equality_multiplier(b, g, lower, upper)
    return Optimality(violation, multiplier, duality_gap(b, g, lower, upper, multiplier))


def gradient_rounding(entry_error: float, b: np.ndarray, diag: np.ndarray) -> float:
    """What errors of the entries of ``Q`` may have changed in the gradient at ``b``.

    ``entry_error`` is that of the largest entry. An entry's error goes with the root of both its
    diagonal entries; errors are independent.
    """
    size, largest = float(np.abs(b).max(initial=0.0)), float(np.abs(diag).max(initial=0.0))
    if not entry_error > 0 or not 0 < size < np.inf or not largest > 0:
        return 0.0
    return entry_error * size * float(np.sqrt(np.square(b / size) @ (np.abs(diag) / largest)))


def kkt_violation(b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Largest decrease rate of the objective along a feasible pair direction, at least zero."""
    grow = g[b < upper]
    shrink = g[b > lower]
    if not len(grow) or not len(shrink):
        return 0.0
    return max(0.0, float(shrink.max() - grow.min()))


def equality_multiplier(
    b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> float:
    """Mean gradient of the free variables, or the midpoint of the admissible interval.

    Without free variables the multiplier is not unique; variables at their upper bound give the
    lower end of the interval, variables at their lower bound the upper end. Variables whose
    bounds coincide say nothing. Variables that rounding alone keeps off their bound are at it.
    """
    free = (b > lower) & (b < upper)
    # of a variable with a small range, a part of that range
    residue = np.minimum(RESIDUE * np.abs(b).max(initial=0.0), 0.25 * (upper - lower))
    if (free & (b > lower + residue) & (b < upper - residue)).any():
        return float(g[free].mean())
    movable = lower < upper
    at_upper = g[movable & (b >= upper - residue)]
    at_lower = g[movable & (b <= lower + residue)]
    ends = [side for side in (at_upper.max(initial=-np.inf), at_lower.min(initial=np.inf))]
    finite = [float(end) for end in ends if np.isfinite(end)]
    return sum(finite) / len(finite) if finite else 0.0


def duality_gap(
    b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray, multiplier: float
) -> float | None:
    """Primal minus dual objective for a convex problem; ``None`` where a bound is infinite.

    The dual point is the multiplier with the best multipliers of the bounds, which leaves
    ``sum(max(r, 0) (b - lower) + max(-r, 0) (upper - b))`` with ``r = g - multiplier``.
    """
    r = g - multiplier
    down, up = r > 0, r < 0
    with np.errstate(over="ignore", invalid="ignore"):  # a gap beyond float64 is infinite
        gap = float(r[down] @ (b - lower)[down] - r[up] @ (upper - b)[up])
    return gap if np.isfinite(gap) else None
