r"""Smooth losses of a linear function, with what a solver and a certificate ask of them.

A loss is a convex function :math:`\varphi(f)` of the value ``f`` at a sample with label or target
``y``. Minus its slope is how hard the sample pulls, :math:`u = -\varphi'(f)`. The lower bound of a
dual point needs :math:`-\varphi^*(-u)`, which is the loss seen from its tangents:

==========================  ===========================  =======================================
loss                        :math:`\varphi(f)`           :math:`-\varphi^*(-u)`
==========================  ===========================  =======================================
squared                     (f − y)²                     u y − u²/4
squared, insensitive        (\|f − y\| − ε)₊²            u y − ε\|u\| − u²/4
squared hinge               (1 − y f)₊²                  a − a²/4 with a = y u ≥ 0
logistic                    log(1 + exp(−y f))           −a log a − (1−a) log(1−a), 0 ≤ a ≤ 1
==========================  ===========================  =======================================

All these domains contain zero with every point, so that a dual point may be shrunk.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

_LEAST = 1e-300  # 0 log 0 is 0


class Loss(Protocol):
    """What solvers ask of a loss; arrays have one entry for each sample."""

    @property
    def quadratic(self) -> bool:
        """Whether the curvature is the same everywhere."""
        ...

    @property
    def labels(self) -> bool:
        """Whether y are labels ±1, and every pull has the sign of its label."""
        ...

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The loss."""
        ...

    def slopes(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pull, minus the derivative by ``f``, and the curvature: the second derivative.

        From one side where there are two.
        """
        ...

    def bound(self, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """``-φ*(-u)``."""
        ...

    def allows(self, y: np.ndarray, u: np.ndarray) -> bool:
        """Whether ``-φ*(-u)`` is finite for all of them."""
        ...


class SquaredLoss(NamedTuple):
    """``(|f - y| - epsilon)₊²``; with an epsilon of zero the squared error."""

    epsilon: float = 0.0
    labels: bool = False

    @property
    def quadratic(self) -> bool:
        """Without a tube the curvature is constant."""
        return self.epsilon == 0.0

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The loss."""
        return self._beyond(y, f) ** 2

    def slopes(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The curvature is two outside the tube."""
        return 2.0 * self._beyond(y, f), np.where(np.abs(y - f) >= self.epsilon, 2.0, 0.0)

    def bound(self, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """``-φ*(-u)``."""
        return u * y - self.epsilon * np.abs(u) - 0.25 * u * u

    def allows(self, y: np.ndarray, u: np.ndarray) -> bool:
        """All pulls are."""
        return True

    def _beyond(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        error = y - f
        if self.epsilon == 0.0:
            return error
        return error - np.clip(error, -self.epsilon, self.epsilon)


class SquaredHingeLoss(NamedTuple):
    """``(1 - y f)₊²``."""

    quadratic: bool = False
    labels: bool = True

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The loss."""
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def slopes(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The curvature is two short of the margin."""
        short = np.maximum(0.0, 1.0 - y * f)
        return 2.0 * y * short, np.where(short > 0.0, 2.0, 0.0)

    def bound(self, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """``-φ*(-u)``."""
        return y * u - 0.25 * u * u

    def allows(self, y: np.ndarray, u: np.ndarray) -> bool:
        """Pulls towards the label are."""
        return bool((y * u).min(initial=0.0) >= 0.0)


class LogisticLoss(NamedTuple):
    """``log(1 + exp(-y f))``."""

    quadratic: bool = False
    labels: bool = True

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The loss."""
        z = y * f
        return np.log1p(np.exp(-np.abs(z))) - np.minimum(z, 0.0)

    def slopes(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The curvature is the variance of the label; both from one power of e."""
        z = y * f
        odds = np.exp(-np.abs(z))
        likely = 1.0 / (1.0 + odds)
        unlikely = odds * likely
        return y * np.where(z > 0.0, unlikely, likely), unlikely * likely

    def bound(self, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """``-φ*(-u)``: the entropy of the pull."""
        a = np.clip(y * u, 0.0, 1.0)
        rest = 1.0 - a
        return -a * np.log(np.maximum(a, _LEAST)) - rest * np.log(np.maximum(rest, _LEAST))

    def allows(self, y: np.ndarray, u: np.ndarray) -> bool:
        """Pulls towards the label are, up to one."""
        a = y * u
        return bool(a.min(initial=0.0) >= 0.0 and a.max(initial=1.0) <= 1.0)
