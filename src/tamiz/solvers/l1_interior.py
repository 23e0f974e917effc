r"""Primal-dual interior point method for the hinge losses with an ℓ1 penalty.

With ``G`` the rows ``y_i x_i``, the problem of :mod:`tamiz.solvers.linear_program` and its dual are

.. math::

    \min\; C'\xi + c'(u + v) \;\;\text{s.t.}\;\; G(u - v) + yb + \xi - t = 1,\;
    u, v, \xi, t \ge 0;
    \qquad
    \max\; \sum_i \alpha_i \;\;\text{s.t.}\;\; y'\alpha = 0,\; 0 \le \alpha \le C,\;
    \lvert G'\alpha \rvert \le c .

Each iteration is a Newton step towards the central path, with Mehrotra's prediction and
correction. Its linear system has as many unknowns as there are features or samples, whichever are
fewer: ``(Θ⁻¹ + G'Φ⁻¹G) Δw`` or ``(GΘG' + Φ) Δα``, with diagonal ``Θ`` and ``Φ``. Fifteen to
thirty iterations do, however many vertices there are.

Features take part only once their constraint ``|g_j| ≤ c_j`` comes into reach: steps of ``α``
are cut short so that the others keep theirs, and those that did the cutting come in. The system
stays as small as the solution is sparse, and ``α`` bounds the minimum of the whole problem.

An interior point has no zeros. Which weights are zero follows from the pairs whose products all
tend to zero together: ``u_j`` counts as zero if it is the lesser of itself and ``c_j - g_j``, each
relative to its scale. The rounded weights are judged by their own objective, so the tolerance holds
for what is returned.

At a vertex, samples strictly between their bounds lie on the margin, and the constraints of
features with weight are tight. What an interior point leaves to go, and what HiGHS may round (its
tolerance times the penalty of a loss), least squares on these equations take away to the last
digits.

References
----------
.. [1] S. Mehrotra (1992). On the implementation of a primal-dual interior point method. SIAM
       Journal on Optimization 2(4).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.runtime.threads import run_tiles

_FIRST = 200  # features that take part from the start
_CHEAP = 500  # unknowns of the linear system
_NEAR = 0.8  # of c_j: how far |g_j| may grow before feature j comes in
_SUMMED = 1e-3  # relative gap below which g is summed anew, without the rounding of its changes
_TO_BOUNDARY = 0.995  # fraction of the longest step
_AHEAD = 100.0  # times c_j: how far beyond its constraint g_j may begin
_SHRUNK = 1e7  # times that the multipliers are shrunk to this end, at most


class InteriorPoint(NamedTuple):
    """Best rounded weights and best multipliers met on the way."""

    w: np.ndarray
    b: float
    alpha: np.ndarray
    iterations: int
    status: str  # "converged", "max_iter", "stalled" or "interrupted"


class _Iterate(NamedTuple):
    """A point: the pairs (u, p = c - g), (v, q = c + g), (α, t), (s = C - α, ξ), and b."""

    u: np.ndarray
    v: np.ndarray
    p: np.ndarray
    q: np.ndarray
    alpha: np.ndarray
    t: np.ndarray
    s: np.ndarray  # kept beside α, since C - α is all rounding once α has reached its bound
    xi: np.ndarray
    b: float


def interior_point(
    X: Any,
    y: np.ndarray,
    C: np.ndarray,
    c: np.ndarray,
    program: Any,
    *,
    near: np.ndarray | None = None,
    tol: float,
    max_iter: int,
    progress: Progress,
) -> InteriorPoint:
    """Follow the central path until the rounded weights are within ``tol`` of the minimum.

    Parameters
    ----------
    X, y, C, c
        The problem; all of ``C`` and ``c`` positive, both classes present.
    program : HingeProgram
        The same problem, as judge of weights and multipliers.
    near : array of shape (n_features,), optional
        ``|g_j| / c_j`` in the solution of a similar problem: who takes part from the start.
    tol : float
        Distance to the lower bound that is accepted, relative to the objective.
    max_iter : int
        Limit on Newton steps.
    progress : Progress
        Where progress is shown.
    """
    columns = ActiveFeatures(X, y)
    return _Path(columns, C, c, program, tol, near).follow(max_iter, progress)


class _Path:
    def __init__(
        self,
        columns: ActiveFeatures,
        C: np.ndarray,
        c: np.ndarray,
        program: Any,
        tol: float,
        near: np.ndarray | None,
    ):
        self.columns, self.C, self.c, self.program, self.tol = columns, C, c, program, tol
        # where steps cost nothing to speak of, the last few make the zeros beyond doubt
        self.aim = min(tol, 1e-9) if min(columns.n, columns.p) <= _CHEAP else tol
        w = np.zeros(columns.p)
        objective, b = program.judge(w)
        self.best = (objective, w, b)
        self.bound = (0.0, np.zeros(columns.n))
        self.point, self.g = self._start(near)

    def _start(self, near: np.ndarray | None) -> tuple[_Iterate, np.ndarray]:
        """``w = 0`` and multipliers as large as few features allow."""
        columns, C, c, y = self.columns, self.C, self.c, self.columns.y
        plus, minus = C[y > 0].sum(), C[y < 0].sum()
        alpha = 0.2 * min(plus, minus) * C / np.where(y > 0, plus, minus)
        ratio = np.abs(columns.correlations(alpha)) / c
        limit = max(1.0, min(ratio.max() / _AHEAD, _SHRUNK))
        first = _FIRST if near is None else max(_FIRST, int((near > _NEAR).sum()))
        if columns.p > first:
            order = np.argpartition(-ratio if near is None else -near, first - 1)
            limit = max(limit, ratio[order[first:]].max() / _NEAR)
            columns.take(np.sort(order[:first]))
        alpha = alpha / limit
        g = columns.correlations(alpha)
        t = np.ones(columns.n)
        xi = 1.0 + t
        mu = np.concatenate([alpha * t, (C - alpha) * xi]).mean()
        slack = (c + np.abs(g))[columns.active]
        u = mu / slack
        return _Iterate(u, u.copy(), slack, slack.copy(), alpha, t, C - alpha, xi, 0.0), g

    def follow(self, max_iter: int, progress: Progress) -> InteriorPoint:
        status, done = "max_iter", 0
        try:
            for done in range(max_iter):
                gap = self._look()
                progress.update(
                    f"step {done}, {len(self.columns.active)} features, gap {max(gap, 0.0):.2g}"
                )
                if gap <= self.aim:
                    status = "converged"
                    break
                with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                    moved = self._step()  # whatever it comes to, the gap says how good it is
                if not moved:
                    status = "stalled"
                    break
            else:
                done = max_iter
        except KeyboardInterrupt:
            status = "interrupted"
        if status != "converged":
            self._round()
            self._try(self.point.u - self.point.v)  # too early to tell zeros: better than nothing
            if (self.best[0] - self.bound[0]) <= self.tol * self.best[0]:
                status = "converged"
        _, w, b = self.best
        return InteriorPoint(w, b, self.bound[1], done, status)

    def _look(self) -> float:
        """Judge the present point; return the relative gap between the best and the bound."""
        z, columns = self.point, self.columns
        c = self.c[columns.active]
        self._bound_by(z.alpha, self.g)
        w = z.u - z.v
        margins = columns.y * (columns.forward(w) + z.b)
        upper = float(self.C @ np.maximum(1.0 - margins, 0.0) + c @ np.abs(w))
        self.margins, self.upper = margins, upper
        # the sum of the products, which is the gap of a feasible point
        near = z.u @ z.p + z.v @ z.q + z.alpha @ z.t + z.s @ z.xi
        if min(near, upper - self.bound[0]) <= 5.0 * self.aim * upper:
            self._round()
        return (self.best[0] - self.bound[0]) / self.best[0]

    def _round(self) -> None:
        z, c = self.point, self.c[self.columns.active]
        nonzero = np.maximum(z.u, z.v) * c / self.upper > np.minimum(z.p, z.q) / c
        rounded = np.where(nonzero, z.u - z.v, 0.0)
        if not self._try(rounded):
            self._polish(rounded)

    def _try(self, w: np.ndarray) -> bool:
        whole = np.zeros(self.columns.p)
        whole[self.columns.active] = w
        objective, b = self.program.judge(whole)
        if objective < self.best[0]:
            self.best = (objective, whole, b)
        return self.best[0] - self.bound[0] <= self.aim * self.best[0]

    def _polish(self, w: np.ndarray) -> None:
        """Solve the equations that hold at the vertex which the point seems to approach."""
        z, columns = self.point, self.columns
        free = np.flatnonzero(np.minimum(z.alpha, z.s) / self.C > np.maximum(z.t, z.xi))
        kept = np.flatnonzero(w)
        system = equations(columns.part, columns.y, free, kept)
        if system is None:
            return
        self._try(system.weights(w, z.b))
        alpha = np.where(z.alpha < z.s, z.alpha, self.C - z.s)
        alpha[(z.alpha < z.s) & (z.alpha / self.C < z.t)] = 0.0
        inside = (z.s <= z.alpha) & (z.s / self.C < z.xi)
        alpha[inside] = self.C[inside]
        features = columns.active[kept]
        tight = self.c[features] * np.sign(w[kept])
        off = np.append(tight - columns.correlations(alpha)[features], -columns.y @ alpha)
        alpha = np.clip(system.multipliers(alpha, off), 0.0, self.C)
        self._bound_by(alpha, columns.correlations(alpha))

    def _bound_by(self, alpha: np.ndarray, g: np.ndarray) -> None:
        """Take the lower bound by multipliers near ``alpha``, if it is the best so far."""
        if abs(self.columns.y @ alpha) > 1e-14 * alpha.sum():
            alpha, g = self.program.feasible(alpha)
        lower = float(alpha.sum()) / float(np.max(np.abs(g) / self.c, initial=1.0))
        if lower > self.bound[0]:
            self.bound = (lower, alpha)

    def _step(self) -> bool:
        """One predicted and corrected Newton step; false if rounding admits no further."""
        z, columns = self.point, self.columns
        c, g = self.c[columns.active], self.g[columns.active]
        n_pairs = 2 * (len(g) + columns.n)
        mu = (z.u @ z.p + z.v @ z.q + z.alpha @ z.t + z.s @ z.xi) / n_pairs
        if not mu > 1e-18 * self.upper / n_pairs:
            return False
        newton = _Newton(columns, z, c, g, self.margins)
        if not newton.system.factorised:
            return False
        targets = (-z.u * z.p, -z.v * z.q, -z.alpha * z.t, -z.s * z.xi)
        d = newton.direction(*targets)
        primal, dual = _longest(z, d)
        primal, dual = min(1.0, primal), min(1.0, dual)
        ahead = (
            (z.u + primal * d.u) @ (z.p + dual * d.p)
            + (z.v + primal * d.v) @ (z.q + dual * d.q)
            + (z.alpha + dual * d.alpha) @ (z.t + primal * d.t)
            + (z.s + dual * d.s) @ (z.xi + primal * d.xi)
        ) / n_pairs
        centre = mu * min(1.0, max(ahead / mu, 1e-4)) ** 3
        d = newton.direction(
            centre + targets[0] - d.u * d.p,
            centre + targets[1] - d.v * d.q,
            centre + targets[2] - d.alpha * d.t,
            centre + targets[3] - d.s * d.xi,
        )
        primal, dual = _longest(z, d)
        primal, dual = min(1.0, _TO_BOUNDARY * primal), min(1.0, _TO_BOUNDARY * dual)
        if not np.isfinite(d.b) or primal + dual < 1e-10:
            return False
        dual, entering, d_g = self._within_reach(d.alpha, dual)
        self.point = _Iterate(
            z.u + primal * d.u,
            z.v + primal * d.v,
            z.p + dual * d.p,
            z.q + dual * d.q,
            z.alpha + dual * d.alpha,
            z.t + primal * d.t,
            z.s + dual * d.s,
            z.xi + primal * d.xi,
            z.b + primal * d.b,
        )
        if d_g is None or mu * n_pairs <= _SUMMED * self.upper:
            self.g = columns.correlations(self.point.alpha)
        else:
            self.g = self.g + dual * d_g
        if len(entering):
            self._enter(entering, mu)
        return True

    def _within_reach(
        self, d_alpha: np.ndarray, dual: float
    ) -> tuple[float, np.ndarray, np.ndarray | None]:
        """Cut the step so that features outside keep their constraint; name those that come in.

        The change of ``g`` comes along, if it had to be computed.
        """
        columns = self.columns
        if len(columns.active) == columns.p:
            return dual, np.zeros(0, dtype=np.intp), None
        outside = np.ones(columns.p, dtype=bool)
        outside[columns.active] = False
        outside = np.flatnonzero(outside)
        change = columns.correlations(d_alpha)
        c, g, d_g = self.c[outside], self.g[outside], change[outside]
        entering = outside[np.abs(g + dual * d_g) > _NEAR * c]
        longest = min(room(c - g, -d_g), room(c + g, d_g))
        return min(dual, _TO_BOUNDARY * longest), entering, change

    def _enter(self, entering: np.ndarray, mu: float) -> None:
        z, columns = self.point, self.columns
        p = self.c[entering] - self.g[entering]
        q = self.c[entering] + self.g[entering]
        u = 0.1 * mu / np.maximum(p, q)  # both alike: the entering weights are zero
        active = np.append(columns.active, entering)
        order = np.argsort(active)
        columns.take(active[order])
        self.point = z._replace(
            u=np.append(z.u, u)[order],
            v=np.append(z.v, u)[order],
            p=np.append(z.p, p)[order],
            q=np.append(z.q, q)[order],
        )


class NewtonSystem:
    """``Δw = ρ + Θ Δg``, ``Φ Δα + y (X Δw + Δb) = r`` and ``y'Δα = r_sum``, factorised once.

    With ``Δg = X'(y Δα)`` one of two systems is left, whichever has fewer unknowns:
    ``Θ⁻¹ + X'Φ⁻¹X`` in the weights and the intercept, or ``XΘX' + Φ`` in the multipliers.

    Parameters
    ----------
    columns : ActiveFeatures
        The features that take part.
    theta, phi : arrays, one number for each of these features and each sample
        The diagonals, positive.
    """

    def __init__(self, columns: ActiveFeatures, theta: np.ndarray, phi: np.ndarray):
        self.columns, self.theta, self.phi = columns, theta, phi
        self.of_samples = columns.n <= len(theta)
        self.factorised = self._factorise()
        if self.factorised and self.of_samples:
            self.to_ones = self._solve(np.ones(columns.n))
            self.factorised = bool(self.to_ones.sum() > 0)

    def changes(
        self, rho: np.ndarray, r: np.ndarray, r_sum: float
    ) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
        """``Δα``, ``Δb``, ``Δw`` and ``Δg``."""
        y, columns = self.columns.y, self.columns
        if self.of_samples:
            k = self._solve(y * r - columns.forward(rho))
            d_b = (k.sum() - r_sum) / self.to_ones.sum()
            d_alpha = y * (k - d_b * self.to_ones)
            d_g = columns.back(y * d_alpha)
            return d_alpha, float(d_b), rho + self.theta * d_g, d_g
        h = r / self.phi
        d = self._solve(np.append(rho / self.theta + columns.back(y * h), y @ h - r_sum))
        d_w, d_b = d[:-1], d[-1]
        d_alpha = h - y * (columns.forward(d_w) + d_b) / self.phi
        # not X'(yΔα), whose rounding the large entries of Θ would blow up
        return d_alpha, float(d_b), d_w, (d_w - rho) / self.theta

    def _matrix(self) -> np.ndarray:
        """Lower triangle of the matrix."""
        columns = self.columns
        if self.of_samples:
            K = columns.gram(self.theta, True)
            K[np.diag_indices(columns.n)] += self.phi
            return K
        weight = 1.0 / self.phi
        m = len(self.theta)
        K = np.empty((m + 1, m + 1))
        columns.gram(weight, False, out=K[:m, :m])
        K[np.diag_indices(m)] += 1.0 / self.theta
        K[m, :m] = columns.back(weight)
        K[m, m] = weight.sum()
        return K

    def _factorise(self) -> bool:
        for jitter in (1e-13, 1e-10, 1e-7):  # relative to the diagonal; steps stay descent steps
            K = self._matrix()  # anew each time, which is rare, rather than twice in memory
            K[np.diag_indices(len(K))] *= 1.0 + jitter
            # the transpose is in Fortran's order already, its upper triangle is our lower one
            self.factor, failed = lapack.dpotrf(K.T, lower=0, overwrite_a=1, clean=0)
            if not failed:
                return True
        return False

    def _solve(self, r: np.ndarray) -> np.ndarray:
        return lapack.dpotrs(self.factor, r, lower=0)[0]


class _Newton:
    """The Newton step of one iteration, for any targets of the products."""

    def __init__(
        self,
        columns: ActiveFeatures,
        z: _Iterate,
        c: np.ndarray,
        g: np.ndarray,
        margins: np.ndarray,
    ):
        self.z = z
        self.r_p, self.r_q = c - g - z.p, c + g - z.q
        self.r_margin = 1.0 - margins - z.xi + z.t
        self.r_sum = -columns.y @ z.alpha
        self.system = NewtonSystem(columns, z.u / z.p + z.v / z.q, z.xi / z.s + z.t / z.alpha)

    def direction(
        self, r_u: np.ndarray, r_v: np.ndarray, r_t: np.ndarray, r_xi: np.ndarray
    ) -> _Iterate:
        """Step for the given changes of the products u p, v q, α t and (C - α) ξ."""
        z = self.z
        rho = (r_u - z.u * self.r_p) / z.p - (r_v - z.v * self.r_q) / z.q
        r = self.r_margin - r_xi / z.s + r_t / z.alpha
        d_alpha, d_b, _, d_g = self.system.changes(rho, r, self.r_sum)
        d_p, d_q = self.r_p - d_g, self.r_q + d_g
        return _Iterate(
            u=(r_u - z.u * d_p) / z.p,
            v=(r_v - z.v * d_q) / z.q,
            p=d_p,
            q=d_q,
            alpha=d_alpha,
            t=(r_t - z.t * d_alpha) / z.alpha,
            s=-d_alpha,
            xi=(r_xi + z.xi * d_alpha) / z.s,
            b=d_b,
        )


def _longest(z: _Iterate, d: _Iterate) -> tuple[float, float]:
    """Longest steps of the primal and the dual variables that stay positive."""
    primal = min(room(z.u, d.u), room(z.v, d.v), room(z.t, d.t), room(z.xi, d.xi))
    dual = min(room(z.p, d.p), room(z.q, d.q), room(z.alpha, d.alpha), room(z.s, d.s))
    return primal, dual


@njit(cache=True, nogil=True)
def room(value: np.ndarray, change: np.ndarray) -> float:
    """Longest multiple of ``change`` that leaves every positive ``value`` above zero."""
    longest = np.inf
    for i in range(len(value)):
        if change[i] < 0.0:
            longest = min(longest, -value[i] / change[i])
    return longest


_CACHED = 300  # columns up to which the whole of a product stays in the cache


class ActiveFeatures:
    """The features that take part, and the products with them."""

    def __init__(self, X: Any, y: np.ndarray):
        self.X, self.y = X, y
        self.n, self.p = X.shape
        self.sparse = sparse.issparse(X)
        self.transposed = X.T.tocsr() if self.sparse else X.T
        if self.sparse and not X.has_sorted_indices:
            self.X = self.transposed.T.tocsr()  # the way there and back sorts them
        self.take(np.arange(self.p))

    def take(self, active: np.ndarray) -> None:
        """Let these features take part, sorted."""
        self.active = active
        whole = len(active) == self.p
        self.part = self.X if whole else self.X[:, active]
        if self.sparse:
            self.part_T = self.transposed if whole else self.transposed[active]
        else:
            self.part_T = self.part.T

    def correlations(self, alpha: np.ndarray) -> np.ndarray:
        """``G'α`` over all features."""
        return self.transposed @ (self.y * alpha)

    def forward(self, w: np.ndarray) -> np.ndarray:
        """``X w`` over the features that take part."""
        return self.part @ w

    def back(self, r: np.ndarray) -> np.ndarray:
        """``X' r`` over the features that take part."""
        return self.part_T @ r

    def gram(
        self, weight: np.ndarray, of_samples: bool, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Lower triangle of ``X diag(weight) X'`` or ``X' diag(weight) X``; into ``out`` or new."""
        A, A_T = (self.part_T, self.part) if of_samples else (self.part, self.part_T)
        if self.sparse:
            size = A.shape[1]
            H = np.empty((size, size)) if out is None else out
            if size <= _CACHED:
                given = (A.data, A.indices, A.indptr, weight, size)
                H[:] = sum(run_tiles(_gram_samples, A.shape[0], *given, min_items=8000))
                return H
            stored = (A_T.data, A_T.indices, A_T.indptr), (A.data, A.indices, A.indptr)
            run_tiles(_gram_rows, size, *stored, weight, H, min_items=64)
            return H
        Z = A * np.sqrt(weight)[:, None]
        return np.matmul(Z.T, Z, out=out)


@njit(cache=True, nogil=True)
def _gram_samples(
    start: int,
    stop: int,
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    weight: np.ndarray,
    size: int,
) -> np.ndarray:
    """What rows ``start`` to ``stop`` add to the lower triangle of ``A' diag(weight) A``."""
    H = np.zeros((size, size))
    for i in range(start, stop):
        first = indptr[i]
        for k in range(first, indptr[i + 1]):
            row = H[indices[k]]
            value = weight[i] * data[k]
            for l in range(first, k + 1):  # sorted: no column beyond the diagonal
                row[indices[l]] += value * data[l]
    return H


@njit(cache=True, nogil=True)
def _gram_rows(
    start: int,
    stop: int,
    columns: tuple[np.ndarray, np.ndarray, np.ndarray],
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    weight: np.ndarray,
    H: np.ndarray,
) -> None:
    """Rows ``start`` to ``stop`` of the lower triangle of ``A' diag(weight) A``.

    ``A`` is given by its columns and its rows. Row by row of H, since a single one stays in the
    cache where the whole of it would not.
    """
    data_T, indices_T, indptr_T = columns
    data, indices, indptr = rows
    for a in range(start, stop):
        row = H[a]
        row[: a + 1] = 0.0
        for k in range(indptr_T[a], indptr_T[a + 1]):
            i = indices_T[k]
            value = weight[i] * data_T[k]
            for l in range(indptr[i], indptr[i + 1]):
                b = indices[l]
                if b > a:
                    break
                row[b] += value * data[l]


_POLISHED = 1_000_000  # entries of the system


class Equations:
    """The equations of the samples ``rows`` and the features ``kept``, by one decomposition."""

    def __init__(self, X: Any, y: np.ndarray, rows: np.ndarray, kept: np.ndarray):
        self.rows, self.kept, self.y = rows, kept, y[rows]
        A = X[rows][:, kept]
        A = A.toarray() if sparse.issparse(A) else A
        self.A = np.column_stack([A, np.ones(len(rows))])
        self.left, values, self.right = np.linalg.svd(self.A, full_matrices=False)
        self.inverse = np.where(values > 1e-11 * values[0], 1.0 / np.maximum(values, 1e-300), 0.0)

    def weights(self, w: np.ndarray, b: float) -> np.ndarray:
        """``w`` moved so that the samples lie on the margin, for an intercept near ``b``."""
        moved = w.copy()
        off = self.y - self.A @ np.append(w[self.kept], b)
        moved[self.kept] += (self.right.T @ (self.inverse * (self.left.T @ off)))[:-1]
        return moved

    def multipliers(self, alpha: np.ndarray, off: np.ndarray) -> np.ndarray:
        """``alpha`` moved so that ``G'α`` and ``y'α`` change by ``off``."""
        moved = alpha.copy()
        moved[self.rows] += self.y * (self.left @ (self.inverse * (self.right @ off)))
        return moved


def equations(X: Any, y: np.ndarray, rows: np.ndarray, kept: np.ndarray) -> Equations | None:
    """None if there are none, or too many."""
    if not 0 < len(rows) * len(kept) <= _POLISHED:
        return None
    return Equations(X, y, rows, kept)
