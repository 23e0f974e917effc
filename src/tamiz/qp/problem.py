r"""The one quadratic problem behind every machine of this package.

.. math::

    \min_a \; \tfrac12 a'Qa + p'a \quad\text{s.t.}\quad y'a = d,\; l \le a \le u

``Q`` is symmetric, and positive semi-definite for a global optimum; otherwise a solver ends in a
stationary point. Every ``y_i`` is non-zero (for the machines it is ±1), bounds are vectors and
may be infinite.

Solvers work on the equivalent problem in ``b = y * a``, whose equality reads ``sum(b) = d``: no
sign appears in their loops, and for a classifier the quadratic term is the kernel matrix itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamiz.qp.matrices import DenseQ, QMatrix

#: Gradients must stay far below what stands for "out of reach" in the solvers.
_LARGEST = 1e30


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
        array = np.asarray(Q, dtype=np.float64)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise ValueError(f"Q must be a square matrix, it has shape {array.shape}.")
        if not np.isfinite(array).all():
            raise ValueError("Q holds NaN or infinite entries; a quadratic term must be finite.")
        if array.size and np.abs(array - array.T).max() > 1e-8 * np.abs(array).max():
            raise ValueError("Q is not symmetric; pass (Q + Q.T) / 2.")
        return DenseQ(array)

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
