r"""The doubly penalised machine as a problem: primal, dual, and the certificate between them.

.. math::

    \min_{w, b} \; P(w, b) = \sum_i C_i \bigl(m_i - y_i(\langle w, x_i\rangle + b)\bigr)_+
    + \tfrac12 \lVert w\rVert^2 + \sum_j \nu_j \lvert w_j\rvert

The margins ``m`` are 1 for classes. A regression has two rows for each sample, one for each side of
its tube: the label 1 with the margin ``t_i - epsilon`` and the label -1 with ``-t_i - epsilon``. At
most one of both losses is positive, and it is that of the tube.

Its dual, in the variables ``c = y * alpha``, is that of a linear machine whose weights pass a
soft threshold (S is componentwise, ``S_nu(u) = sign(u) max(|u| - nu, 0)``):

.. math::

    \max_c \; D(c) = \sum_i y_i m_i c_i - \tfrac12 \lVert S_\nu(X'c)\rVert^2
    \quad\text{s.t.}\quad \sum_i c_i = 0,\; 0 \le y_i c_i \le C_i

and the weights are ``w = S_nu(X'c)``. Every feasible ``c`` therefore gives weights with exact
zeros, and ``P - D`` there bounds how far they are from the minimum, whatever method found ``c``.
Since ``P`` is strongly convex in ``w``, it bounds the weights too:
``||w - w*||^2 <= 2 (P - D)``.

**Interior point**, by way of the smaller of n and p. The dual becomes a quadratic program when the
part of ``X'c`` that the threshold swallows gets a name, ``z``:

.. math::

    \min_{\alpha, z} \; \tfrac12 \lVert \tilde X'\alpha - z\rVert^2 - \sum_i m_i \alpha_i
    \quad\text{s.t.}\quad y'\alpha = 0,\; 0 \le \alpha \le C,\; -\nu \le z \le \nu

with the rows of :math:`\tilde X` multiplied by the labels. The weights are
``w = X~'alpha - z``; the multipliers of the bounds of ``alpha`` are how far a sample is beyond its
margin (``s``) and short of it (``t``), those of the bounds of ``z`` are the positive (``q``) and
the negative part (``r``) of the weights. Every multiplier can be written down for given
``(alpha, z, b)``, so the iteration starts feasible on both sides and stays so; the sum of products
``alpha s + (C - alpha) t + (nu - z) q + (nu + z) r`` is the duality gap.

A Newton step on these conditions is the system of :class:`~tamiz.solvers.l1_interior.NewtonSystem`
with ``M = theta / (1 + theta)`` in the place of ``Θ``, in n unknowns or p, whichever is less:
O(n p min(n, p)) for each of some twenty steps, whatever the penalties. Features that go to zero
leave the system by themselves (``M -> 0``).

**The last digits**: the exact solution for guessed sets. Once it is known which samples are on
their margin (``F``), which have the full penalty, and which weights are not zero (``A``, with their
signs), what is left is a linear system:

.. math::

    w_A = X_A' c - \nu_A \operatorname{sign}_A, \qquad X_{FA}\, w_A + b = y_F m_F, \qquad
    \sum_i c_i = 0

Wherever its solution contradicts the guess (a multiplier outside its box, a weight of the other
sign, a sample short of its margin), the guess is corrected and the system solved again: Newton's
method on the optimality conditions, which ends after a few rounds when it starts near the
optimum. The best certificate met is kept, so that polishing never does harm.

References
----------
.. [1] S. Mehrotra (1992). On the implementation of a primal-dual interior point method. SIAM
       Journal on Optimization 2.
.. [2] M. C. Ferris, T. S. Munson (2002). Interior-point methods for massive support vector
       machines. SIAM Journal on Optimization 13.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import product
from tamiz.solvers.l1_interior import ActiveFeatures, NewtonSystem, room
from tamiz.solvers.linear_program import best_intercept


class PenalisedHinge(NamedTuple):
    """The problem: samples, labels ±1, penalty of each loss, penalty of each weight, margins."""

    X: Any  # float64, C-contiguous or CSR
    y: np.ndarray
    C: np.ndarray  # positive
    nu: np.ndarray  # not negative
    margin: np.ndarray | float = 1.0

    def intercept(self, outputs: np.ndarray) -> float:
        """The best one for given outputs without it."""
        return best_intercept(outputs, self.y, self.C, self.margin)

    def losses(self, outputs: np.ndarray) -> float:
        """Sum of the losses for given outputs."""
        return float(self.C @ np.maximum(0.0, self.margin - self.y * outputs))


def centred(X: Any) -> tuple[Any, np.ndarray]:
    """A dense table minus the means of its columns, and the means; sparse ones stay.

    The intercept is free, so a shift of a feature changes nothing but the intercept. Without it,
    large means would drown the differences, and constant features would get weights from rounding.
    """
    if sparse.issparse(X):
        return X, np.zeros(X.shape[1])
    means = X.mean(axis=0)
    means = np.clip(means, X.min(axis=0), X.max(axis=0))  # exactly, where a feature is constant
    return X - means, means


def constant(X: Any) -> np.ndarray:
    """Which features have one value only."""
    if sparse.issparse(X):
        entries, p = X.tocoo(), X.shape[1]
        still = np.bincount(entries.col, entries.data != 0.0, minlength=p) == 0
        full = np.flatnonzero(np.bincount(entries.col, minlength=p) == X.shape[0])
        if len(full):  # else a zero is among the values
            columns = X[:, full].toarray()
            still[full] = columns.max(axis=0) == columns.min(axis=0)
        return still
    return X.max(axis=0) == X.min(axis=0)


class Certified(NamedTuple):
    """A machine, the dual point it comes from, and the distance between the two objectives."""

    c: np.ndarray
    w: np.ndarray
    intercept: float
    correlation: np.ndarray  # X'c; a weight is zero where it does not exceed nu
    objective: float
    gap: float
    n_iter: int = 0
    status: str = "converged"  # or "max_iter", "interrupted", "stalled"

    def within(self, tol: float) -> bool:
        """Whether the objective is the minimum up to the fraction ``tol``."""
        return self.gap <= tol * self.objective


def certify(problem: PenalisedHinge, alpha: np.ndarray, w: np.ndarray | None = None) -> Certified:
    """Weights, intercept and duality gap from any dual point, made feasible first.

    The weights are those of the dual point, or ``w`` if these have the lower objective.
    """
    X, y, C, nu, margin = problem
    c = y * feasible(alpha, y, C)
    correlation = X.T @ c
    own = soft_threshold(correlation, nu)
    dual = float((y * margin) @ c - 0.5 * own @ own)
    machine = min(
        (_primal(problem, one) for one in (own, w) if one is not None), key=lambda one: one[2]
    )
    weights, intercept, objective = machine
    gap = max(0.0, objective - dual)
    return Certified(c, weights, intercept, correlation, objective, gap)


def _primal(problem: PenalisedHinge, w: np.ndarray) -> tuple[np.ndarray, float, float]:
    """The weights with the best intercept for them, and their objective."""
    outputs = product_with(problem.X, w)
    intercept = problem.intercept(outputs)
    loss = problem.losses(outputs + intercept)
    return w, intercept, float(loss + 0.5 * w @ w + problem.nu @ np.abs(w))


def soft_threshold(u: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """``sign(u) max(|u| - nu, 0)``."""
    return u - np.clip(u, -nu, nu)


def feasible(alpha: np.ndarray, y: np.ndarray, C: np.ndarray) -> np.ndarray:
    """``alpha`` in its box, with the class that has too much scaled down."""
    alpha = np.clip(alpha, 0.0, C)
    positive = y > 0
    up, down = float(alpha[positive].sum()), float(alpha[~positive].sum())
    if up > down:
        alpha[positive] *= down / up
    elif down > up:
        alpha[~positive] *= up / down
    return alpha


def product_with(X: Any, w: np.ndarray) -> np.ndarray:
    """``X @ w``, from the columns that count if those are few."""
    support = np.flatnonzero(w)
    if isinstance(X, np.ndarray) and 8 * len(support) < len(w):
        return product(X[:, support], w[support])
    return X @ w


_MAX_STEPS = 100
_CENTRAL = 0.1  # least fraction of the box to start in: nearer to its edge the steps are short
_BACK = 0.995  # fraction of the way to the nearest bound
_LARGEST = 1e300  # of theta: a number that is as good as infinite, and can be divided by


class Estimate(NamedTuple):
    """Where the iteration ended: near the optimum, and on which side of every bound."""

    alpha: np.ndarray
    w: np.ndarray  # exactly zero where the threshold holds them
    at_zero: np.ndarray  # alpha is about to be zero
    at_C: np.ndarray
    n_iter: int
    status: str  # "converged", "max_iter", "interrupted", or "stalled": lost in rounding


class Point:
    """The current point with the multipliers of its bounds; every array is strictly positive."""

    def __init__(self, problem: PenalisedHinge):
        self.X, self.y, self.C, nu, margin = problem
        self.margin = np.broadcast_to(margin, self.y.shape)
        self.columns = ActiveFeatures(self.X, self.y)
        self.penalised = np.flatnonzero(nu)  # weights without a penalty have no threshold
        self.nu = nu[self.penalised]
        y, C = self.y, self.C
        positive = y > 0
        up, down = float(C[positive].sum()), float(C[~positive].sum())
        alpha = 0.5 * C * np.where(positive, min(1.0, down / up), min(1.0, up / down))
        pull = self.pulled(alpha)
        # as far along this ray as the unpenalised dual rises
        length = float(pull @ pull)
        alpha *= max(_CENTRAL, min(1.0, float(self.margin @ alpha) / length)) if length > 0 else 1.0
        self.alpha, self.z = alpha, np.zeros(len(self.nu))
        self.w = self.pulled(alpha)
        self.b = problem.intercept(self.X @ self.w)
        beyond = self.beyond()
        w = self.w[self.penalised]
        loss = C @ np.maximum(0.0, -beyond) + alpha @ beyond
        gap = loss + self.nu @ np.abs(w) - self.z @ w
        level = max(float(gap), 1e-8) / (2 * len(C) + 2 * len(w))
        self.s = np.maximum(beyond, 0.0) + 2.0 * level / C
        self.t = np.maximum(-beyond, 0.0) + 2.0 * level / C
        self.q = np.maximum(w, 0.0) + level / self.nu
        self.r = np.maximum(-w, 0.0) + level / self.nu

    def pulled(self, alpha: np.ndarray) -> np.ndarray:
        """``X~' alpha``."""
        return self.X.T @ (self.y * alpha)

    def beyond(self) -> np.ndarray:
        """``y (X w + b) - m``: how far each sample is beyond its margin."""
        return self.y * (self.X @ self.w + self.b) - self.margin

    def estimate(self, n_iter: int, status: str) -> Estimate:
        """Of a bound and its multiplier, the smaller one is taken for zero."""
        w = self.w.copy()
        zero = (self.q < self.nu - self.z) & (self.r < self.nu + self.z)
        w[self.penalised[zero]] = 0.0
        fraction = self.alpha / self.C
        return Estimate(
            alpha=self.alpha.copy(),
            w=w,
            at_zero=fraction < self.s,
            at_C=1.0 - fraction < self.t,
            n_iter=n_iter,
            status=status,
        )

    @property
    def level(self) -> float:
        """Mean product of a bound's distance and its multiplier."""
        total = self.alpha @ self.s + (self.C - self.alpha) @ self.t
        total += (self.nu - self.z) @ self.q + (self.nu + self.z) @ self.r
        return float(total) / (2 * len(self.C) + 2 * len(self.nu))


def interior(problem: PenalisedHinge, tol: float, max_steps: int, progress: Progress) -> Estimate:
    """Minimise up to the fraction ``tol`` of the objective."""
    # a step beyond float64 is none: stalled
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _newton_steps(Point(problem), tol, max_steps, progress)


def _newton_steps(point: Point, tol: float, max_steps: int, progress: Progress) -> Estimate:
    n = point.X.shape[0]
    status, step = "max_iter", 0
    try:
        for step in range(min(max_steps, _MAX_STEPS) + 1):
            level = point.level
            gap = level * (2 * n + 2 * len(point.nu))
            value = gap + float(point.margin @ point.alpha) - 0.5 * float(point.w @ point.w)
            progress.update(f"Newton step {step}, duality gap {gap:.3g} of {value:.4g}")
            if gap <= tol * value:
                status = "converged"
                break
            if step == max_steps:
                break
            if step == _MAX_STEPS or not _advance(point, level):
                status = "stalled"
                break
    except KeyboardInterrupt:
        status = "interrupted"
    return point.estimate(step, status)


def _advance(point: Point, level: float) -> bool:
    """One step: a look ahead without centring, then the step that it suggests."""
    system = _System(point)
    if not system.system.factorised:
        return False
    ahead = system.step(0.0)
    length = _reach(point, ahead)
    expected = _level_after(point, ahead, length)
    # Mehrotra: the better the look ahead, the less centring
    centring = min(1.0, (expected / level) ** 3) if level > 0 else 0.0
    d = system.step(max(centring, 1e-6) * level, ahead)
    length = min(1.0, _BACK * _reach(point, d))
    if not (length >= 1e-8 and np.isfinite(d[3])):
        return False
    alpha, z, w, b, s, t, q, r = d
    point.alpha = point.alpha + length * alpha
    point.z += length * z
    point.w = point.w + length * w
    point.b += length * float(b)
    point.s += length * s
    point.t += length * t
    point.q += length * q
    point.r += length * r
    if system.system.of_samples:  # afresh, so that the rounding of early, large steps does not stay
        point.w = point.pulled(point.alpha)
        point.w[point.penalised] -= point.z
    return bool(
        (point.alpha > 0).all()
        and (point.alpha < point.C).all()
        and (np.abs(point.z) < point.nu).all()
    )


def _reach(point: Point, d: tuple[Any, ...]) -> float:
    """The longest step that keeps everything positive, at most 1 / _BACK."""
    alpha, z, _, _, s, t, q, r = d
    pairs = (
        (point.alpha, alpha),
        (point.C - point.alpha, -alpha),
        (point.nu - point.z, -z),
        (point.nu + point.z, z),
        (point.s, s),
        (point.t, t),
        (point.q, q),
        (point.r, r),
    )
    return min(1.0 / _BACK, *(room(value, change) for value, change in pairs))


def _level_after(point: Point, d: tuple[Any, ...], length: float) -> float:
    length = min(1.0, length)
    alpha, z, _, _, s, t, q, r = (length * part for part in d)
    total = (point.alpha + alpha) @ (point.s + s)
    total += (point.C - point.alpha - alpha) @ (point.t + t)
    total += (point.nu - point.z - z) @ (point.q + q)
    total += (point.nu + point.z + z) @ (point.r + r)
    return float(total) / (2 * len(alpha) + 2 * len(z))


class _System:
    """The linear system of one Newton step, factorised once for both right-hand sides."""

    def __init__(self, point: Point):
        self.point = point
        self.room_a, self.room_c = point.alpha, point.C - point.alpha
        self.room_u, self.room_l = point.nu - point.z, point.nu + point.z
        with np.errstate(over="ignore"):
            theta = point.q / self.room_u + point.r / self.room_l
            D = point.s / self.room_a + point.t / self.room_c
        self.theta = np.minimum(theta, _LARGEST)
        M = np.ones(point.X.shape[1])
        M[point.penalised] = self.theta / (1.0 + self.theta)
        self.system = NewtonSystem(point.columns, M, np.minimum(D, _LARGEST))
        self.off_s = point.beyond() - point.s + point.t  # zero but for rounding
        self.off_w = point.q - point.r - point.w[point.penalised]

    def step(self, target: float, ahead: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """Changes of alpha, z, b, s, t, q, r that bring every product to ``target``."""
        point = self.point
        e1 = target - self.room_a * point.s
        e2 = target - self.room_c * point.t
        e3 = target - self.room_u * point.q
        e4 = target - self.room_l * point.r
        if ahead is not None:  # second order
            alpha, z, _, _, s, t, q, r = ahead
            e1 -= alpha * s
            e2 += alpha * t
            e3 += z * q
            e4 -= z * r
        right = e1 / self.room_a - e2 / self.room_c - self.off_s
        right_z = e4 / self.room_l - e3 / self.room_u - self.off_w
        rho = np.zeros(point.X.shape[1])
        rho[point.penalised] = -right_z / (1.0 + self.theta)
        drift = float(point.y @ point.alpha)
        alpha, b, w, _ = self.system.changes(rho, right, -drift)
        with np.errstate(over="ignore"):
            z = (w[point.penalised] + right_z) / self.theta
            s = (e1 - point.s * alpha) / self.room_a
            t = (e2 + point.t * alpha) / self.room_c
            q = (e3 + point.q * z) / self.room_u
            r = (e4 - point.r * z) / self.room_l
        return alpha, z, w, np.float64(b), s, t, q, r


_ROUNDS = 12
_EXACT = 1e-14
_MAX_FREE = 1500


def polish(problem: PenalisedHinge, estimate: Estimate, best: Certified) -> Certified:
    """Improve ``best`` by solving exactly for the sets of ``estimate``."""
    X, y, C, nu, margin = problem
    unit = float(np.max(np.abs(margin)))
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
        beyond = y * (X @ w + b) - margin
        pull = X.T @ c
        noise = 1e-11 * (unit + np.abs(beyond).max())
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
    X, y, _, nu, margin = problem
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
    rhs = np.append(((y * margin)[on] - rows @ w[columns]) / unit, -c.sum() * unit)
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
