r"""A smooth loss and a penalty of the weights: the problem, its dual, and the certificate.

.. math::

    \min_{w, b} \; P(w, b) = \sum_i c_i\, \varphi_i(\langle w, x_i\rangle + b)
    + \sum_j \lambda_j |w_j| + \tfrac12 \sum_j \mu_j w_j^2

with :math:`\lambda_j, \mu_j \ge 0`, one of them positive. The intercept is not penalised; it may be
left out (:math:`b = 0`), and with it the constraint :math:`\sum_i \theta_i = 0` below. The dual
has one variable for each sample, the pull :math:`\theta_i = -c_i \varphi_i'`:

.. math::

    \max_\theta \; D(\theta) = -\sum_i c_i\, \varphi_i^*(-\theta_i / c_i)
    - \sum_j \frac{(|g_j| - \lambda_j)_+^2}{2 \mu_j}
    \quad\text{s.t.}\quad \sum_i \theta_i = 0, \qquad g = X'\theta

where a weight without a quadratic penalty (:math:`\mu_j = 0`) has the constraint
:math:`|g_j| \le \lambda_j` instead of its term. Every ``θ`` that satisfies the constraints gives a
lower bound on the minimum. The pulls at any ``(w, b)`` are made to satisfy them: the class that
pulls more is weakened (or the mean pull is subtracted), then all are shrunk until
no constraint is broken. ``P - D`` then bounds the distance to the minimum, whatever found ``w``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.solvers.composite.losses import Loss

_MOST_STEPS = 200  # of the search for an intercept


class Composite(NamedTuple):
    """The problem: samples, labels or targets, what their losses cost, and the penalties."""

    X: Any  # float64: C- or F-contiguous, or CSC; without any λ also CSR
    y: np.ndarray
    c: np.ndarray  # positive
    loss: Loss
    lam: np.ndarray  # λ, one for each feature
    mu: np.ndarray  # μ, one for each feature
    intercept: bool = True  # False: it is zero

    def penalty(self, w: np.ndarray) -> float:
        """What the weights cost."""
        return float(self.lam @ np.abs(w) + 0.5 * (self.mu @ (w * w)))

    def losses(self, f: np.ndarray) -> float:
        """Sum of the losses at the values ``f``."""
        return float(self.c @ self.loss.value(self.y, f))

    def columns(self, chosen: np.ndarray) -> Composite:
        """The problem with some of the features only."""
        return self._replace(X=self.X[:, chosen], lam=self.lam[chosen], mu=self.mu[chosen])


class CompositeResult(NamedTuple):
    """Weights, intercept and the evidence for them."""

    w: np.ndarray
    b: float
    g: np.ndarray  # X'θ of the dual point: what each feature pulls
    objective: float
    dual_objective: float
    iterations: int
    status: str  # "converged", "max_iter", "stalled" or "interrupted"

    @property
    def gap(self) -> float:
        """The minimum is no further below ``objective`` than this."""
        return max(0.0, self.objective - self.dual_objective)

    def within(self, tol: float) -> bool:
        """Whether the objective is the minimum up to the fraction ``tol``."""
        return self.gap <= tol * self.objective


def values(X: Any, w: np.ndarray) -> np.ndarray:
    """``X @ w``, from the columns that count if those are few."""
    kept = np.flatnonzero(w)
    if not len(kept):
        return np.zeros(X.shape[0])
    if 4 * len(kept) > len(w):
        return X @ w
    return X[:, kept] @ w[kept]


def best_shift(problem: Composite, f: np.ndarray, accuracy: float = 1e-15) -> float:
    """The change of the intercept after which the pulls add up to zero.

    Their sum falls as the intercept rises: Newton steps between two bounds that close in, until
    the sum is the fraction ``accuracy`` of the pulls. Zero without an intercept.
    """
    return balancing_shift(problem, f, accuracy)[0]


def balancing_shift(
    problem: Composite, f: np.ndarray, accuracy: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """As :func:`best_shift`, with the pulls and curvatures of the losses there."""
    y, c, loss = problem.y, problem.c, problem.loss
    if not problem.intercept:
        return 0.0, *loss.slopes(y, f)
    if loss.labels and f[0] == f[-1] and np.ptp(f) == 0.0:  # as in two samples, one of each label
        positive = y > 0
        both = problem._replace(
            y=np.array([1.0, -1.0]), c=np.array([c[positive].sum(), c[~positive].sum()])
        )
        shift = _balanced_at(both, np.full(2, f[0]), accuracy)[0]
        return shift, *loss.slopes(y, f + shift)
    return _balanced_at(problem, f, accuracy)


def _balanced_at(
    problem: Composite, f: np.ndarray, accuracy: float
) -> tuple[float, np.ndarray, np.ndarray]:
    y, c, loss = problem.y, problem.c, problem.loss
    shift, low, high = 0.0, -np.inf, np.inf
    reach = 1.0 + float(np.abs(f).max(initial=0.0))
    for _ in range(_MOST_STEPS):
        at = f + shift
        pulls, curvatures = loss.slopes(y, at)
        excess, size = float(c @ pulls), float(c @ np.abs(pulls))
        if abs(excess) <= accuracy * size:
            break
        if excess > 0:
            low = shift
        else:
            high = shift
        curvature = float(c @ curvatures)
        step = excess / curvature if curvature > 0 else np.copysign(reach, excess)
        new = shift + float(np.clip(step, -reach, reach))
        if not low < new < high:
            new = 0.5 * (low + high) if np.isfinite(low + high) else new
        if abs(new - shift) <= 1e-16 * reach:
            break
        shift = new
    else:
        pulls, curvatures = loss.slopes(y, f + shift)
    return shift, pulls, curvatures


def dual_point(problem: Composite, f: np.ndarray) -> np.ndarray:
    """Pulls at the values ``f``, in the domain of the loss; with an intercept they balance."""
    return balanced(problem, problem.c * problem.loss.slopes(problem.y, f)[0])


def balanced(problem: Composite, theta: np.ndarray) -> np.ndarray:
    """Pulls that add up to zero, if there is an intercept; changed in place."""
    y = problem.y
    if not problem.intercept:
        return theta
    if problem.loss.labels:
        positive = y > 0
        up, down = float(theta[positive].sum()), -float(theta[~positive].sum())
        if up > down:
            theta[positive] *= max(down, 0.0) / up
        elif down > up:
            theta[~positive] *= max(up, 0.0) / down
        return theta
    return theta - problem.c * (theta.sum() / problem.c.sum())


def lower_bound(problem: Composite, theta: np.ndarray, g: np.ndarray) -> float:
    """Value of the dual at ``theta``, shrunk until it breaks no constraint; ``g = X'theta``."""
    y, c, loss, lam, mu = problem.y, problem.c, problem.loss, problem.lam, problem.mu
    size = np.abs(g)
    hard = mu == 0
    allowed, wanted = lam[hard], size[hard]
    broken = wanted > allowed
    shrink = float(np.min(allowed[broken] / wanted[broken])) if broken.any() else 1.0
    if loss.quadratic and hard.all():  # the best multiple of the pulls is known
        square = float(theta @ (theta / c))
        if square > 0:
            most = float(np.min(allowed[wanted > 0] / wanted[wanted > 0], initial=np.inf))
            shrink = max(-most, min(most, 2.0 * float(theta @ y) / square))
    value = float(c @ loss.bound(y, shrink * theta / c))
    if not hard.all():
        over = np.maximum(shrink * size[~hard] - lam[~hard], 0.0)
        value -= 0.5 * float((over * over) @ (1.0 / mu[~hard]))
    return value


def certify(
    problem: Composite, w: np.ndarray, b: float, f: np.ndarray, iterations: int, status: str
) -> CompositeResult:
    """The certificate of weights and intercept, whose values are ``f``."""
    theta = dual_point(problem, f)
    g = np.asarray(problem.X.T @ theta)
    objective = problem.losses(f) + problem.penalty(w)
    return CompositeResult(w, b, g, objective, lower_bound(problem, theta, g), iterations, status)
