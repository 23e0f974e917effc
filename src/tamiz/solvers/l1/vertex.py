r"""Vertices of the ℓ1 program by a small program that grows.

A solution has few features with weight, and few samples on the margin; for the others it is known
which side they are on. The restricted program has the features ``J`` and the samples ``I`` only.
Samples clearly beyond the margin are left out (``α = 0``), those clearly inside it count linearly
(``α = C``). Whatever its solution contradicts joins ``J`` or ``I``: features with
``|g_j| > c_j``, samples that changed sides. When there is nothing left to join, the solution is
one of the whole program. HiGHS (through :func:`scipy.optimize.linprog`) solves the restricted
programs; none is large, so Ctrl-C between them comes soon.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.runtime.progress import Progress
from tamiz.solvers.l1.highs import Answer, minimise, signed_rows
from tamiz.solvers.l1.polish import equations

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
    share = np.clip(start.alpha / C, 0.0, 1.0)
    between = (share > 1e-4) & (share < 1.0 - 1e-4)
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
    # not zero beyond doubt, however large the price is beside all multipliers
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
) -> Answer | None:
    """Solution of the restricted program; None if it has no minimum."""
    slack = sparse.eye(len(I), format="csr")
    rows = sparse.hstack([-signed_rows(X, y, I, J), -slack], format="csc")
    pull = y[inside] * C[inside]
    linear = np.asarray(X[inside].T @ pull)[J] if len(inside) else np.zeros(len(J))
    cost = np.concatenate([c[J] - linear, c[J] + linear, [-pull.sum()], C[I]])
    answer = minimise(cost, rows, -np.ones(len(I)), len(J))
    return answer and answer._replace(multipliers=np.minimum(answer.multipliers, C[I]))
