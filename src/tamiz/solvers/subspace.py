r"""Weights on the simplex that are confined to a subspace.

.. math::

    \min_y \; \tfrac12 y'\Lambda y + p'Uy \quad\text{s.t.}\quad Uy \ge 0,\; 1'Uy = 1

with ``k`` eigenvectors ``U`` (M × k) and their positive eigenvalues. The weights are ``x = Uy``.
In :math:`z = \Lambda^{1/2} y` it is the point nearest to :math:`c = -L'p` of a polyhedron,

.. math::

    \min_z \; \tfrac12 \|z - c\|^2 \quad\text{s.t.}\quad Lz \ge 0,\; 1'Lz = 1,
    \qquad L = U\Lambda^{-1/2},

with few unknowns and many constraints, of which fewer than ``k`` are active at the solution: all
but a few weights differ from zero. The method is the dual one of Goldfarb and Idnani: it starts
from the minimum without inequalities and adds violated ones, one at a time, dropping those whose
multiplier falls to zero. The normals of the active ones are kept as ``N = JR`` with orthogonal
``J``, O(k²) for each change. Rows of ``L`` are made only for the constraints violated most; all
are looked at again when none of these is violated any more.

References
----------
.. [1] D. Goldfarb, A. Idnani (1983). A numerically stable dual method for solving strictly convex
       quadratic programs. Mathematical Programming 27.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.solvers.frame import QPResult, Status, iteration_limit

#: A normal whose part outside the span of the active ones is shorter than this depends on them.
_DEPENDENT = 1e-10

#: Constraints looked at in one round: at least so many, or a quarter of the unknowns.
_ROUND = 32

_SOLVED, _LIMIT, _INFEASIBLE, _STALLED = 0, 1, 2, 3


_STATUS = {
    _SOLVED: Status.CONVERGED,
    _LIMIT: Status.MAX_ITER,
    _STALLED: Status.STALLED,
}


class Span(NamedTuple):
    """The weights that may be taken: ``x = rows' mix z``, of which ``½‖z‖²`` is the cost.

    Held as a product, so that the eigenvectors of Nyström's method never have to be made.
    """

    rows: np.ndarray  # k × M
    mix: np.ndarray  # k × rank
    metric: np.ndarray  # (L'L)⁻¹, rank × rank: who makes the span knows it

    def weights(self, z: np.ndarray) -> np.ndarray:
        """``Lz``."""
        return (self.mix @ z) @ self.rows

    def project(self, x: np.ndarray) -> np.ndarray:
        """``L'x``."""
        return self.mix.T @ (self.rows @ x)

    def coordinates(self, x: np.ndarray) -> np.ndarray:
        """The ``z`` whose weights are nearest to ``x``."""
        return np.asarray(self.metric @ self.project(x))

    def normals(self, index: np.ndarray) -> np.ndarray:
        """Some rows of ``L``."""
        return self.rows[:, index].T @ self.mix


class _Factors(NamedTuple):
    """The active constraints as compiled code changes them; only the first so many count."""

    basis: np.ndarray  # the rows are the columns of J
    triangle: np.ndarray  # the rows are the columns of R
    multipliers: np.ndarray
    ids: np.ndarray  # which weight is held at zero; the first constraint is the sum


class _ActiveSet:
    """The point, the active constraints and the factors of their normals; changed in place."""

    def __init__(self, centre: np.ndarray, total: np.ndarray):
        n = len(centre)
        length = float(np.linalg.norm(total))
        first = total / length
        mirror = first.copy()
        mirror[0] += 1.0 if first[0] >= 0 else -1.0
        basis = np.eye(n) - np.outer(mirror, mirror) * (2.0 / float(mirror @ mirror))
        self.factors = _Factors(basis, np.zeros((n, n)), np.zeros(n), np.full(n, -1))
        self.factors.triangle[0, 0] = -1.0 if first[0] >= 0 else 1.0
        self.factors.multipliers[0] = 1.0 / length - float(first @ centre)
        self.point = centre + self.factors.multipliers[0] * first
        self.size = 1

    def active(self) -> np.ndarray:
        return self.factors.ids[1 : self.size]


def solve_in_subspace(
    span: Span,
    p: np.ndarray,
    *,
    tol: float = 1e-8,
    max_iter: int = -1,
    verbose: bool | int = 0,
) -> QPResult:
    """Find the weights.

    Parameters
    ----------
    span : Span
        The subspace, scaled by its eigenvalues.
    p : array of shape (M,)
        Linear term.
    tol : float, default=1e-8
        Most that a weight may be below zero, as a fraction of the largest, before it is cut off.
    max_iter : int, default=-1
        Limit on the changes of the active set; -1 stands for one that is not reached.
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    result : QPResult
        ``a`` holds the weights, exactly zero where the constraint is active; ``violation`` is the
        duality gap.

    Examples
    --------
    The eigenvector of the larger eigenvalue leaves only one choice:

    >>> import numpy as np
    >>> from tamiz.solvers.subspace import Span, solve_in_subspace
    >>> span = Span(np.array([[0.6, 0.8]]), np.eye(1), np.eye(1))
    >>> solve_in_subspace(span, np.array([0.0, -1.0])).a.round(3).tolist()
    [0.429, 0.571]
    """
    centre = -span.project(p)
    total = span.project(np.ones(len(p)))
    if not total.any():
        return QPResult(np.zeros(len(p)), None, None, None, None, None, 0, Status.INFEASIBLE)
    state = _ActiveSet(centre, total)
    limit = iteration_limit(max_iter, len(p))
    steps, code = 0, _SOLVED
    with Progress("solving", verbose) as progress:
        while code == _SOLVED:
            x = span.weights(state.point)
            violated = _worst(x, state, tol)
            progress.update(f"{steps:,} steps, {len(violated)} weights below zero")
            if not len(violated):
                break
            least = 0.1 * tol * float(np.abs(x).max())
            code, done = _round(span, state, violated, least, limit - steps)
            steps += done
            if code == _SOLVED and not done:
                code = _STALLED  # what is left is rounding
    if code == _INFEASIBLE:
        return QPResult(np.zeros(len(p)), None, None, None, None, None, steps, Status.INFEASIBLE)
    return _result(span, state, p, (centre, total), steps, code)


def _worst(x: np.ndarray, state: _ActiveSet, tol: float) -> np.ndarray:
    """The weights to look at in the next round: those farthest below zero."""
    below = np.minimum(x, 0.0)
    below[state.active()] = 0.0
    violated = np.flatnonzero(below < -tol * float(np.abs(x).max()))
    most = max(_ROUND, len(state.point) // 4)
    if len(violated) > most:
        violated = violated[np.argpartition(below[violated], most)[:most]]
    return violated


def _round(
    span: Span, state: _ActiveSet, violated: np.ndarray, least: float, limit: int
) -> tuple[int, int]:
    """Satisfy these constraints; returns why it ended, and the number of steps."""
    normals = span.normals(violated)
    lengths = np.maximum(np.linalg.norm(normals, axis=1), np.finfo(float).tiny)
    normals /= lengths[:, None]
    code, state.size, steps = _walk(
        normals, violated, state.point, state.factors, state.size, limit, least / lengths
    )
    return code, steps


def _result(
    span: Span,
    state: _ActiveSet,
    p: np.ndarray,
    products: tuple[np.ndarray, np.ndarray],
    steps: int,
    code: int,
) -> QPResult:
    (centre, total), z, held = products, state.point, state.active()
    found = span.weights(z)
    x = np.maximum(found, 0.0)
    x[held] = 0.0
    x /= x.sum()
    if not np.array_equal(x, found):  # what was cut off: the objective is that of what is returned
        z = span.coordinates(x)
    sums = float(state.factors.multipliers[0] / np.linalg.norm(total))
    # a bound from below on the optimum, whatever the point: multipliers that are not negative
    normals = span.normals(held)
    lengths = np.linalg.norm(normals, axis=1)
    pull = np.maximum(state.factors.multipliers[1 : state.size], 0.0) / lengths
    dual = centre + sums * total + pull @ normals
    objective = float(0.5 * z @ z + p @ x)
    gap = max(0.0, objective - (sums - 0.5 * float(dual @ dual)))
    return QPResult(
        a=x,
        gradient=None,
        objective=objective,
        gap=gap,
        violation=gap,
        multiplier=sums,
        iterations=steps,
        status=_STATUS[code],
    )


@njit(cache=True, nogil=True)
def _walk(N: Any, names: Any, z: Any, factors: Any, q: Any, limit: Any, tol: Any) -> Any:
    """Add the constraint ``N z >= 0`` that is violated most until none is.

    ``J`` and ``R`` are held transposed: the loops below run along their rows.
    """
    J, R, u, ids = factors
    n = len(z)
    values = N @ z
    inside = np.zeros(len(N), dtype=np.bool_)
    step = 0
    while step < limit:
        new, low = -1, 0.0
        noise = 1e-15 * np.sqrt(z @ z)
        for i in range(len(N)):
            if not inside[i] and values[i] < -max(tol[i], noise) and values[i] < low:
                new, low = i, values[i]
        if new < 0:
            return 0, q, step
        multiplier = 0.0
        while True:
            step += 1
            d = J @ N[new]
            slope = _back_substitute(R, d, q)
            drop, longest = -1, np.inf
            for j in range(1, q):
                if slope[j] > 1e-14 and u[j] < longest * slope[j]:
                    drop, longest = j, u[j] / slope[j]
            outside = d[q:] @ d[q:] if q < n else 0.0
            full = -values[new] / outside if outside > _DEPENDENT**2 else np.inf
            length = min(longest, full)
            if length == np.inf:
                return 2, q, step
            if full < np.inf:
                direction = d[q:] @ J[q:]
                z += length * direction
                values += length * (N @ direction)
            u[:q] -= length * slope
            multiplier += length
            if full <= longest:
                R[q, :q] = d[:q]
                R[q, q] = _reflect(J, d, q)
                u[q], ids[q], inside[new], values[new] = multiplier, names[new], True, 0.0
                q += 1
                break
            for i in range(len(names)):
                if names[i] == ids[drop]:
                    inside[i] = False
            _remove(J, R, drop, q)
            u[drop : q - 1] = u[drop + 1 : q]
            ids[drop : q - 1] = ids[drop + 1 : q]
            q -= 1
    return 1, q, step


@njit(cache=True, nogil=True)
def _back_substitute(R: Any, d: Any, q: Any) -> Any:
    """The combination of the active normals nearest to a normal with the products ``d``."""
    r = d[:q].copy()
    for j in range(q - 1, -1, -1):
        row = R[j]
        r[j] /= row[j]
        for i in range(j):
            r[i] -= r[j] * row[i]
    return r


@njit(cache=True, nogil=True)
def _reflect(J: Any, d: Any, q: Any) -> Any:
    """Turn ``J[q:]`` so that ``d[q:]`` points along its first row; its length with sign."""
    v = d[q:].copy()
    length = np.sqrt(v @ v)
    if v[0] > 0:
        length = -length
    v[0] -= length
    along = (v @ J[q:]) * (2.0 / (v @ v))
    for i in range(len(v)):
        row, factor = J[q + i], v[i]
        for c in range(len(row)):
            row[c] -= factor * along[c]
    return length


@njit(cache=True, nogil=True)
def _remove(J: Any, R: Any, drop: Any, q: Any) -> None:
    """Take a constraint out of the factors; rotations make ``R`` triangular again."""
    cosine, sine = np.empty(q), np.empty(q)
    for k in range(drop, q - 1):
        row = R[k]
        row[: k + 2] = R[k + 1, : k + 2]
        for j in range(drop, k):
            x, y = row[j], row[j + 1]
            row[j], row[j + 1] = cosine[j] * x + sine[j] * y, cosine[j] * y - sine[j] * x
        length = np.sqrt(row[k] ** 2 + row[k + 1] ** 2)
        cosine[k], sine[k] = row[k] / length, row[k + 1] / length
        row[k], row[k + 1] = length, 0.0
        upper, under, c, s = J[k], J[k + 1], cosine[k], sine[k]
        for i in range(len(upper)):
            x, y = upper[i], under[i]
            upper[i], under[i] = c * x + s * y, c * y - s * x
