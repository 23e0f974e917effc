"""The compiled loop of pair steps; the method is described in :mod:`tamiz.solvers.smo`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import intrinsic

from tamiz.kernels.compiled import fill_row
from tamiz.runtime.compiling import njit

#: What the compiled loop reports.
CONVERGED, RUNNING, STALLED, UNBOUNDED = range(4)

# Comparisons may be reordered and NaN does not occur; infinities do (bounds), so they are honoured.
_FAST = {"nnan", "nsz", "reassoc", "contract", "arcp"}
_SHORT, _LONG = 128, 512  # blocks of the passes, for few and for many samples
_MANY = 3000
_FAR = 1e37
_LEAST_CURVATURE = 1e-12


class BoxPoint(NamedTuple):
    """A point of the sign-free problem inside its box; ``b`` and ``g`` change in place."""

    b: np.ndarray
    g: np.ndarray  # the gradient Kb + p
    lower: np.ndarray
    upper: np.ndarray


@njit(cache=True, nogil=True)
def run_pairs(K, diag, copies, point, tol, max_steps, rows=None, ready=None):  # type: ignore[no-untyped-def]
    """Take up to ``max_steps`` pair steps from a :class:`BoxPoint`.

    ``K`` is the matrix of the samples and ``diag`` its diagonal; variables are ``copies`` blocks of
    as many entries. Returns a code, the number of steps, and the least and greatest gradient that
    bound the violation.

    With ``rows`` (a ``RowSource`` of :mod:`tamiz.kernels.compiled`) the rows of ``K`` are filled
    when they are needed, and ``ready`` says which are.
    """
    b, g, lower, upper = point
    n = K.shape[0]
    size = copies * n
    block = _SHORT if n <= _MANY else _LONG
    up = np.empty(size, dtype=np.float32)  # 0 where b can grow, far where not
    down = np.empty(size, dtype=np.float32)
    for v in range(size):
        up[v] = 0.0 if b[v] < upper[v] else _FAR
        down[v] = 0.0 if b[v] > lower[v] else _FAR
    i, low, high = _scan(g, up, down)
    steps = 0
    while True:
        if i < 0 or not high - low > tol:
            return CONVERGED, steps, low, high
        if steps >= max_steps:
            return RUNNING, steps, low, high
        row_i = K[i % n]
        if rows is not None:  # noqa: SIM102  alone, it is decided while compiling
            if ready[i % n] == 0:
                fill_row(rows, i % n, K, ready)
        j = _second_order(g, down, row_i, diag, i % n, low, copies, block)
        if j < 0:
            return STALLED, steps, low, high
        row_j = K[j % n]
        if rows is not None:  # noqa: SIM102  alone, it is decided while compiling
            if ready[j % n] == 0:
                fill_row(rows, j % n, K, ready)
        curvature = float(diag[i % n]) + float(diag[j % n]) - 2.0 * float(row_i[j % n])
        # Any positive curvature of the matrix as it is stored is taken at its word: a longer step
        # would overshoot, and the next one undo it, for ever.
        floor = 1e-14 * (abs(float(diag[i % n])) + abs(float(diag[j % n]))) + 1e-300
        room_i = upper[i] - b[i]
        room_j = b[j] - lower[j]
        room = min(room_i, room_j)
        if curvature > floor:
            step = (g[j] - low) / curvature
        elif room < np.inf:
            step = room
        else:
            return UNBOUNDED, steps, low, high
        if step >= room:
            step = room
        old_i, old_j = b[i], b[j]
        b[i] = upper[i] if step >= room_i else old_i + step
        b[j] = lower[j] if step >= room_j else old_j - step
        if step < room and (b[i] == old_i or b[j] == old_j):
            b[i], b[j] = old_i, old_j  # the step is lost in rounding
            return STALLED, steps, low, high
        up[i] = 0.0 if b[i] < upper[i] else _FAR
        down[i] = 0.0 if b[i] > lower[i] else _FAR
        up[j] = 0.0 if b[j] < upper[j] else _FAR
        down[j] = 0.0 if b[j] > lower[j] else _FAR
        i, low, high = _update(g, up, down, row_i, row_j, step, copies, block)
        steps += 1


@njit(cache=True, nogil=True)
def _scan(g, up, down):  # type: ignore[no-untyped-def]
    """The variable that can grow with the least gradient, and the range of the violation."""
    low, high, where = np.inf, -np.inf, -1
    for v in range(len(g)):
        if g[v] + up[v] < low:
            low, where = g[v] + up[v], v
        high = max(high, g[v] - down[v])
    if low >= 0.5 * _FAR or high <= -0.5 * _FAR:
        return -1, low, high
    return where, low, high


@njit(cache=True, nogil=True)
def _update(g, up, down, row_i, row_j, step, copies, block):  # type: ignore[no-untyped-def]
    """``g += step (row_i - row_j)`` together with the scan of the new gradient."""
    n = len(row_i)
    low, high, where = np.inf, -np.inf, 0
    for first in range(0, copies * n, n):
        for start in range(0, n, block):
            stop = min(start + block, n)
            s, e = first + start, first + stop
            block_low, block_high = _update_block(
                g[s:e], up[s:e], down[s:e], row_i[start:stop], row_j[start:stop], step
            )
            high = max(high, block_high)
            if block_low < low:
                low, where = block_low, s
    if low >= 0.5 * _FAR or high <= -0.5 * _FAR:
        return -1, low, high
    while where < len(g) - 1 and g[where] + up[where] > low:
        where += 1
    return where, low, high


@njit(cache=True, nogil=True, fastmath=_FAST)
def _update_block(g, up, down, row_i, row_j, step):  # type: ignore[no-untyped-def]
    low, high = np.inf, -np.inf
    for v in range(len(g)):
        value = g[v] + step * (float(row_i[v]) - float(row_j[v]))
        g[v] = value
        low = _least(low, value + up[v])
        high = _greatest(high, value - down[v])
    return low, high


@njit(cache=True, nogil=True)
def _second_order(g, down, row, diag, i, low, copies, block):  # type: ignore[no-untyped-def]
    """The variable that can shrink whose pair step with ``i`` decreases the objective most."""
    n = len(row)
    base = float(diag[i])
    best, first_best, start_best = 0.0, -1, 0
    for first in range(0, copies * n, n):
        for start in range(0, n, block):
            stop = min(start + block, n)
            s, e = first + start, first + stop
            gain = _block_gain(g[s:e], down[s:e], row[start:stop], diag[start:stop], base, low)
            if gain > best:
                best, first_best, start_best = gain, first, start
    if first_best < 0:
        return -1
    where, best = -1, -1.0
    for v in range(start_best, min(start_best + block, n)):
        slope = g[first_best + v] - down[first_best + v] - low
        if slope > 0.0:
            gain = (
                slope * slope / max(base + float(diag[v]) - 2.0 * float(row[v]), _LEAST_CURVATURE)
            )
            if gain > best:
                best, where = gain, first_best + v
    return where


@njit(cache=True, nogil=True, fastmath=_FAST)
def _block_gain(g, down, row, diag, base, low):  # type: ignore[no-untyped-def]
    best = 0.0
    for v in range(len(g)):
        slope = _greatest(g[v] - down[v] - low, 0.0)
        curvature = _greatest(base + float(diag[v]) - 2.0 * float(row[v]), _LEAST_CURVATURE)
        best = _greatest(best, slope * slope / curvature)
    return best


def _select(comparison):  # type: ignore[no-untyped-def]
    """An instruction that keeps one of two numbers.

    LLVM turns a loop over ``min`` or ``max`` into vector code only if both the comparison and the
    choice are marked as free of NaN; numba's own ``min`` leaves the second unmarked.
    """

    def function(typingctx, x, y):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            flags = ("nnan", "nsz")
            first = builder.fcmp_ordered(comparison, args[0], args[1], flags=flags)
            return builder.select(first, args[0], args[1], flags=flags)

        return x(x, x), generate

    return function


_least = intrinsic(_select("<"))
_greatest = intrinsic(_select(">"))
