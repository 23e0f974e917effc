r"""The ℓ1 problem as small linear programs that HiGHS solves, and as they like it.

**A vertex by a program that grows.** A solution has few features with weight, and few samples on
the margin; for the others it is known which side they are on. The restricted program has the
features ``J`` and the samples ``I`` only. Samples clearly beyond the margin are left out (``α =
0``), those clearly inside it count linearly (``α = C``). Whatever its solution contradicts joins
``J`` or ``I``: features with ``|g_j| > c_j``, samples that changed sides. When there is nothing
left to join, the solution is one of the whole program. HiGHS (through
:func:`scipy.optimize.linprog`) solves the restricted programs; none is large, so Ctrl-C between
them comes soon.

**Hinge losses alone**: their least sum, and among the weights that reach it those of least ℓ1 norm.
Without a penalty the minimiser need not be unique, and on separable data it never is: twice a
separating plane separates as well. So a second linear program follows the first. Its constraints
say which side of the margin each sample is on, as the multipliers ``α`` of the first say
(complementary slackness): beyond it if ``α_i = 0``, inside it if ``α_i = C_i``, on it in between.
Under them the sum of the losses stays at its least.

**Before solving**: every sample counts, none is there twice, columns have size one. With ``x_j =
m_j + s_j z_j`` the program in ``z`` has the weights ``s_j w_j``, the intercept ``b + Σ w_j m_j``
and the penalties ``c_j / s_j``: the same minimum, without the digits that are lost where columns of
size 1e-7 and 1e7 meet, or where they vary by little about a large value. ``s_j`` is a power of two,
so dividing by it rounds nothing.

**Where the path begins**: the penalty C at which the first weight appears. With all weights zero,
every multiplier of the lighter class is at its bound and those of the heavier class only have to
add up to the same. So ``w = 0`` is optimal at ``C`` if some choice of the latter keeps all features
within their constraints, and the ``C`` at which none does is

.. math::

    C_0 = 1 / \min_\alpha \max_j \Bigl|\sum_i \alpha_i y_i x_{ij}\Bigr| / c_j

over such ``α`` (at ``C = 1``). If both classes weigh the same there is nothing to choose;
otherwise it is a linear program with as few rows as features reach the maximum, which is grown from
those that exceed it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.solvers.l1_interior import equations
from tamiz.validation import LARGE_TARGET

# Large penalties multiply what HiGHS may round; its own tolerances only if it cannot do better.
_OPTIONS: tuple[dict[str, float], ...] = (
    {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    {},
)
_ZERO = 1e-12  # of the largest weight


class ProgramSolution(NamedTuple):
    """A vertex: weights, intercept, and the multipliers of the rows."""

    w: np.ndarray
    b: float
    multipliers: np.ndarray  # not negative


def signed_rows(X: Any, y: np.ndarray, I: np.ndarray, J: np.ndarray) -> Any:
    """Rows that give the margins of the samples ``I`` from ``(w⁺_J, w⁻_J, b)``."""
    Z = sparse.csr_array(X[I][:, J]) * y[I][:, None]
    return sparse.hstack([Z, -Z, sparse.csr_array(y[I][:, None])], format="csr")


def minimise(
    cost: np.ndarray, rows: Any, limits: np.ndarray, n_weights: int
) -> ProgramSolution | None:
    """``min cost'z`` subject to ``rows z <= limits``; None if there is no minimum.

    ``z`` holds both parts of the ``n_weights`` weights, the intercept, which is free, and
    whatever else is not negative.
    """
    if not np.isfinite(limits).all():  # a target, and how far it may be missed, beyond float64
        raise ValueError(LARGE_TARGET)
    bounds = np.zeros((len(cost), 2))
    bounds[:, 1] = np.inf
    bounds[2 * n_weights, 0] = -np.inf
    for options in _OPTIONS:
        found = linprog(
            cost, A_ub=rows, b_ub=limits, bounds=bounds, method="highs-ds", options=options
        )
        if found.status == 0:
            break
    else:
        return None
    w = found.x[:n_weights] - found.x[n_weights : 2 * n_weights]
    w[np.abs(w) <= _ZERO * np.abs(w).max(initial=0.0)] = 0.0
    multipliers = np.maximum(-found.ineqlin.marginals, 0.0)
    return ProgramSolution(w, float(found.x[2 * n_weights]), multipliers)


_RULE = 1e-9  # constraints are broken beyond this, relative to their scale


class Vertex(NamedTuple):
    """Weights and multipliers of the last restricted program."""

    w: np.ndarray
    alpha: np.ndarray
    iterations: int
    status: str


def vertex(program: Any, start: Any, *, max_iter: int, progress: Progress) -> Vertex:
    """Grow a restricted program from what is active in ``start`` until it solves the whole one."""
    X, y, C, c = program
    n, p = X.shape
    margins = y * (X @ start.w + start.b)
    features = (start.w != 0) | ((c > 0) & (np.abs(start.g) >= 0.97 * c))
    unit = np.where(c > 0, c, abs(X).T @ C)  # what |g_j| - c_j is measured by
    # on the margin, or so near it that a small change of the weights may carry them across
    fraction = np.clip(start.alpha / C, 0.0, 1.0)
    between = (fraction > 1e-4) & (fraction < 1.0 - 1e-4)
    n_rows = min(n, 2 * int(between.sum()) + 2 * int(features.sum()) + 20)
    samples = between.copy()
    samples[np.argpartition(np.abs(margins - 1.0), n_rows - 1)[:n_rows]] = True
    w, alpha = start.w, start.alpha
    done = 0
    try:
        for done in range(1, max_iter + 1):
            progress.update(f"program {done}, {features.sum()} features, {samples.sum()} samples")
            J, I = np.flatnonzero(features), np.flatnonzero(samples)
            inside = np.flatnonzero(~samples & (margins < 1.0))
            answer = _restricted(X, y, C, c, J, I, inside)
            if answer is None:  # without bound: more samples have to count in full
                if samples.all():
                    return Vertex(w, alpha, done, "stalled")
                rest = np.flatnonzero(~samples)
                more = min(len(rest), len(I) + 100)
                nearest = np.argpartition(np.abs(margins[rest] - 1.0), more - 1)[:more]
                samples[rest[nearest]] = True
                continue
            w = np.zeros(p)
            w[J], b, in_part = answer
            alpha = np.zeros(n)
            alpha[inside], alpha[I] = C[inside], in_part
            margins_now = y * (X @ w + b)
            rule = _RULE * max(1.0, float(np.abs(margins_now).max()))
            linear = np.zeros(n, dtype=bool)
            linear[inside] = True
            crossed = ~samples & np.where(
                linear, margins_now > 1.0 + rule, margins_now < 1.0 - rule
            )
            g = X.T @ (y * alpha)
            excess = np.where(features, 0.0, np.abs(g) - c)
            broken = np.flatnonzero(excess > _RULE * unit)
            if not len(broken) and not crossed.any():
                return Vertex(w, alpha, done, "converged")
            most = max(50, len(J))
            if len(broken) > most:
                broken = broken[np.argpartition(-(excess / unit)[broken], most - 1)[:most]]
            features[broken] = True
            samples |= crossed
        return Vertex(w, alpha, done, "max_iter")
    except KeyboardInterrupt:
        return Vertex(w, alpha, done, "interrupted")


def polished(program: Any, w: np.ndarray, b: float, alpha: np.ndarray) -> Vertex | None:
    """The vertex again, to more digits than HiGHS gives; None if that gains nothing."""
    X, y, C, c = program
    # not zero beyond doubt, however large the penalty is beside all multipliers
    between = np.flatnonzero((alpha > 1e-12 * alpha.max()) & (alpha < (1.0 - 1e-9) * C))
    kept = np.flatnonzero(w)
    system = equations(X, y, between, kept)
    if system is None:
        return None
    g = X.T @ (y * alpha)
    off = np.append(c[kept] * np.sign(w[kept]) - g[kept], -y @ alpha)
    moved = np.clip(system.multipliers(alpha, off), 0.0, C)
    unit = np.where(c > 0, c, abs(X).T @ C)
    unit[unit == 0.0] = 1.0

    def excess(alpha: np.ndarray, g: np.ndarray) -> float:
        over = float(np.max((np.abs(g) - c) / unit, initial=0.0))
        return max(over, abs(float(y @ alpha)) / max(float(alpha.sum()), 1e-300))

    if excess(moved, X.T @ (y * moved)) < excess(alpha, g):
        alpha = moved
    shifted = system.weights(w, b)
    if program.judge(shifted)[0] < program.judge(w)[0]:
        w = shifted
    return Vertex(w, alpha, 0, "converged")


def _restricted(
    X: Any,
    y: np.ndarray,
    C: np.ndarray,
    c: np.ndarray,
    J: np.ndarray,
    I: np.ndarray,
    inside: np.ndarray,
) -> ProgramSolution | None:
    """Solution of the restricted program; None if it has no minimum."""
    slack = sparse.eye(len(I), format="csr")
    rows = sparse.hstack([-signed_rows(X, y, I, J), -slack], format="csc")
    pull = y[inside] * C[inside]
    linear = np.asarray(X[inside].T @ pull)[J] if len(inside) else np.zeros(len(J))
    cost = np.concatenate([c[J] - linear, c[J] + linear, [-pull.sum()], C[I]])
    answer = minimise(cost, rows, -np.ones(len(I)), len(J))
    return answer and answer._replace(multipliers=np.minimum(answer.multipliers, C[I]))


def least_norm(
    program: Any, alpha: np.ndarray, w: np.ndarray, b: float
) -> tuple[np.ndarray, float, int] | None:
    """Weights of least ``Σ c_j|w_j|`` on the face of the optimal ones; None if HiGHS finds none.

    The program grows by the samples whose constraint its solution breaks and the features that
    would shorten it. Returns the weights, the intercept and the number of programs solved.
    """
    X, y, C, c = program
    n, p = X.shape
    fraction = alpha / C
    beyond, inside = fraction <= _RULE, fraction >= 1.0 - _RULE
    margins = y * (X @ w + b)
    features = w != 0
    samples = ~(beyond | inside)
    nearest = np.argsort(np.abs(margins - 1.0))[: 2 * int(features.sum() + samples.sum()) + 50]
    samples[nearest] = True
    upper = np.where(beyond, np.inf, 1.0)
    lower = np.where(inside, -np.inf, 1.0)
    for done in range(1, n + p + 1):
        J, I = np.flatnonzero(features), np.flatnonzero(samples)
        A = signed_rows(X, y, I, J)
        above, below = np.isfinite(lower[I]), np.isfinite(upper[I])
        rows = sparse.vstack([-A[np.flatnonzero(above)], A[np.flatnonzero(below)]], format="csc")
        limits = np.concatenate([-np.ones(above.sum()), np.ones(below.sum())])
        cost = np.append(np.tile(c[J], 2), 0.0)
        answer = minimise(cost, rows, limits, len(J))
        if answer is None:
            return None
        w = np.zeros(p)
        w[J], b = answer.w, answer.b
        margins = y * (X @ w + b)
        rule = _RULE * max(1.0, float(np.abs(margins).max()))
        broken = ~samples & ((margins < lower - rule) | (margins > upper + rule))
        multipliers = np.zeros(n)
        of_rows = answer.multipliers
        multipliers[I[above]] += of_rows[: above.sum()]
        multipliers[I[below]] -= of_rows[above.sum() :]
        g = np.abs(X.T @ (y * multipliers))
        shorter = ~features & (g > c * (1.0 + 1e-7))
        if not broken.any() and not shorter.any():
            return w, b, done
        samples |= broken
        features |= shorter
    return None


_SORTED = 2_000_000  # entries of X up to which equal samples are put together
_USUAL = 64.0  # columns between its inverse and itself in size are left as they are
_FAR = 8.0  # ... and those whose middle is nearer to zero than so many half widths
_MOST = 300  # powers of two


class Gathered(NamedTuple):
    """The parts of a program that the solvers get, and the way back."""

    X: Any
    y: np.ndarray
    C: np.ndarray
    c: np.ndarray
    place: np.ndarray  # row of each sample; -1 if its loss costs nothing
    fraction: np.ndarray  # its part in the penalty of that row
    scale: np.ndarray | None  # s_j; None if all are one
    middle: np.ndarray | None  # m_j; None if all are zero

    def spread(self, found: Any) -> Any:
        """Give each sample its part of the multiplier, and each feature its own unit."""
        alpha = np.where(self.place >= 0, found.alpha[self.place] * self.fraction, 0.0)
        w, g, b = found.w, found.g, found.b
        if self.scale is not None:
            w, g = w / self.scale, g * self.scale
        if self.middle is not None:
            b = b - float(self.middle @ w)
        return found._replace(w=w, g=g, b=b, alpha=alpha)


def gather(X: Any, y: np.ndarray, C: np.ndarray, c: np.ndarray) -> Gathered:
    """Leave out samples without penalty, put equal ones together in an order of their own, scale.

    Where several solutions are optimal, the one found then depends neither on the order of the
    samples nor on whether one of them is there twice or has twice the penalty.
    """
    rows = np.flatnonzero(C > 0)
    place = np.full(len(y), -1, dtype=np.intp)
    fraction = np.ones(len(y))
    if len(rows) * X.shape[1] > _SORTED:
        place[rows] = np.arange(len(rows))
        if len(rows) < len(y):
            X, y, C = X[rows], y[rows], C[rows]
    else:
        table = X[rows].toarray() if sparse.issparse(X) else X[rows]
        table = np.column_stack([y[rows], table + 0.0])  # no minus zeros
        _, first, to = np.unique(table, axis=0, return_index=True, return_inverse=True)
        place[rows] = to.ravel()
        total = np.bincount(to.ravel(), weights=C[rows], minlength=len(first))
        fraction = np.where(place >= 0, C / total[place], 0.0)
        kept = rows[first]
        X, y, C = X[kept], y[kept], total
    middle, scale = units(X)
    if middle is not None:
        X = X - middle
    if scale is not None:
        X = divided(X, scale)
        with np.errstate(over="ignore"):  # a column so small costs too much, whatever the number
            c = np.minimum(c / scale, np.finfo(float).max)
    return Gathered(X, y, C, c, place, fraction, scale, middle)


def units(X: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Middle and size of each column, where they are out of the ordinary."""
    if not min(X.shape):
        return None, None
    if sparse.issparse(X):  # a middle other than zero would fill it
        middle = np.zeros(X.shape[1])
        size = np.zeros(X.shape[1])
        _largest(X.data, X.indices, size)
    else:
        low, high = X.min(axis=0), X.max(axis=0)
        # of numbers, so that neither order nor repetition of samples matters
        middle, width = low / 2.0 + high / 2.0, high / 2.0 - low / 2.0
        middle[(np.abs(middle) < _FAR * width) | (width == 0.0)] = 0.0
        size = np.maximum(np.abs(low - middle), np.abs(high - middle))
    odd = (size > 0.0) & ((size > _USUAL) | (size < 1.0 / _USUAL))
    power = np.clip(np.frexp(size)[1], -_MOST, _MOST)
    scale = np.where(odd, np.ldexp(1.0, power), 1.0)
    return (middle if middle.any() else None), (scale if odd.any() else None)


def divided(X: Any, scale: np.ndarray) -> Any:
    """``X`` with its columns divided by ``scale``."""
    if sparse.issparse(X):
        return type(X)((X.data / scale[X.indices], X.indices, X.indptr), shape=X.shape)
    return X / scale


@njit(cache=True, nogil=True)
def _largest(data: np.ndarray, indices: np.ndarray, size: np.ndarray) -> None:
    for k in range(len(data)):
        size[indices[k]] = max(size[indices[k]], abs(data[k]))


def entry_penalty(X: Any, y: np.ndarray, weight: np.ndarray, c: np.ndarray) -> float:
    """Return the least factor on ``weight`` beyond which some weight is not zero; may be inf."""
    middle, scale = units(X)
    if middle is not None:  # both classes weigh the same in every sum here: it cancels
        X = X - middle
    if scale is not None:
        X, c = divided(X, scale), c / scale
    unit = float(weight.max())  # the tolerances of HiGHS are absolute
    return _least_factor(X, y, weight / unit, c) / unit


def _least_factor(X: Any, y: np.ndarray, weight: np.ndarray, c: np.ndarray) -> float:
    if weight[y > 0].sum() < weight[y < 0].sum():
        y = -y
    heavy, light = y > 0, y < 0
    total = weight[light].sum()
    alpha = np.where(light, weight, weight * total / weight[heavy].sum())
    g = X.T @ (y * alpha)
    rounding = 1e-12 * float(np.max((abs(X).T @ weight) / c, initial=0.0))
    if weight[heavy].sum() <= total * (1.0 + 1e-12):
        return _inverse(float(np.max(np.abs(g) / c)), rounding)
    fixed = X[light].T @ -weight[light]
    rows = X[heavy]
    bounds = [(0.0, w) for w in weight[heavy]] + [(0.0, None)]
    n_heavy = int(heavy.sum())
    J = np.zeros(0, dtype=np.intp)
    level = 0.0
    while True:
        ratio = np.abs(g) / c
        ratio[J] = 0.0
        broken = np.flatnonzero(ratio > level * (1.0 + 1e-9))
        if not len(broken):
            return _inverse(level, rounding)
        J = np.append(J, broken[np.argsort(-ratio[broken])[: max(10, len(J))]])
        part = rows[:, J].T
        part = part.toarray() if sparse.issparse(part) else part
        A = np.block([[part, -c[J][:, None]], [-part, -c[J][:, None]]])
        answer = linprog(
            np.append(np.zeros(n_heavy), 1.0),
            A_ub=A,
            b_ub=np.concatenate([-fixed[J], fixed[J]]),
            A_eq=np.append(np.ones(n_heavy), 0.0)[None],
            b_eq=[total],
            bounds=bounds,
            method="highs",
        )
        if answer.status != 0:  # take what is known: a lower bound on C
            return _inverse(float(np.max(np.abs(g) / c)), rounding)
        level = float(answer.fun)
        g = rows.T @ answer.x[:-1] + fixed


def _inverse(level: float, rounding: float) -> float:
    """``1/level``; features that do not vary leave rounding only."""
    return np.inf if level <= rounding else 1.0 / level
