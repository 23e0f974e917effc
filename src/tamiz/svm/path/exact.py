r"""One small machine solved to rounding with as few calls as possible, from rows made on demand.

.. math::

    \min_b \; \tfrac12 b'Kb - y'b \quad\text{s.t.}\quad \sum_i b_i = 0,\;
    \min(0, y_i C_i) \le b_i \le \max(0, y_i C_i)

in the sign-free variables of :mod:`tamiz.qp.problem`. Pair steps (:mod:`tamiz.solvers.pairs`) find
which variables are free, Newton steps on those give the exact minimum, as in
:mod:`tamiz.solvers.descent`; here the latter are compiled, because thousands of machines of a few
hundred samples are fitted in a search and everything around the arithmetic counts. Samples that
take no part have both bounds at zero: they never move, and their entry of the gradient is the value
of the machine at them, up to the constant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.kernels.compiled import fill_row, fill_rows
from tamiz.qp.problem import RESIDUE
from tamiz.runtime.compiling import njit
from tamiz.solvers.pairs import UNBOUNDED, BoxPoint, run_pairs
from tamiz.svm.path.gram import LazyGram
from tamiz.svm.path.problem import CLOSE, BinaryDual, Doubt, DualBox

#: Pair steps stop here and leave the rest to Newton steps.
_COARSE = 3e-2
#: Violation, relative to the size of the gradient, at which a machine is solved.
_FINE = 1e-11
_ROUNDS = 20
_MOST_FREE = 400
_MOST_TURNS = 300
_RIDGE = 1e-11
#: A variable is clearly free if it is this fraction of its range away from both bounds.
_CLEARLY = 1e-7
#: Without free variables the ends of the multiplier's interval are this far apart, or equal.
_APART = 1e-6
#: Machines with fewer samples than this fraction of all get a matrix of their own.
SMALL_PART = 0.75


class Settled(NamedTuple):
    """A solution: variables, ``Kb - y``, constant, and whether all this is beyond doubt."""

    b: np.ndarray
    g: np.ndarray
    multiplier: float
    certain: bool
    free: int  # number of variables between their bounds
    weight: float  # sum of all variables without their signs

    def is_sure(self, largest: float) -> bool:
        """Whether it converged, and rounding of kernel values cannot have moved it much.

        ``largest`` is the largest entry of the kernel matrix.
        """
        return self.certain and 1e-13 * self.weight * largest <= CLOSE


def fit(gram: LazyGram, box: DualBox, start: np.ndarray | None = None) -> Settled:
    """Solve from ``start``, moved to the nearest feasible point, or from zero."""
    lower, upper, p = box
    if start is None:
        return settle(gram, BoxPoint(np.zeros(len(p)), p.copy(), lower, upper))
    b = without(gram, start, lower, upper)
    return settle(gram, BoxPoint(b, gradient(gram, b, p), lower, upper))


def values_at(
    dual: BinaryDual, C: float, gram: LazyGram, test: np.ndarray, start: np.ndarray | None
) -> np.ndarray:
    """Fit a machine and return its values at the test samples; Doubt if rounding decides them."""
    samples = dual.samples
    if len(samples) >= SMALL_PART * len(gram):
        box = dual.box(len(gram), C)
        machine = fit(gram, box, start)
        values = machine.g[test] - box.p[test] - machine.multiplier
    else:
        machine = fit(gram.part(samples), dual.alone().box(len(samples), C))
        used = np.flatnonzero(machine.b)
        gram.rows(samples[used])
        values = machine.b[used] @ gram.K[samples[used][:, None], test] - machine.multiplier
    if not machine.is_sure(gram.largest):
        raise Doubt
    return values


def settle(gram: LazyGram, point: BoxPoint) -> Settled:
    """Solve from a feasible point, whose ``b`` and ``g`` change in place."""
    b, g, lower, upper = point  # one by one: passing a named tuple would take 3 µs longer
    violation, multiplier, size, clear, free = _settle(
        tuple(gram.source), gram.K, gram.ready, gram.diag, b, g, lower, upper
    )
    total, weight = _sums(b)
    if violation <= _FINE * size and abs(total) <= 1e-10 * weight:
        return Settled(b, g, multiplier, clear, free, weight)
    return Settled(b, g, np.nan, False, 0, weight)


def judged(point: BoxPoint) -> Settled:
    """What a point that was found by other means amounts to."""
    violation, multiplier, size, clear, free = _judge(*point)
    _, weight = _sums(point.b)
    certain = bool(clear and violation <= _FINE * size)
    return Settled(point.b, point.g, multiplier, certain, free, weight)


@njit(cache=True, nogil=True)
def _sums(b: Any) -> Any:
    """Sum of all variables, with and without their signs."""
    total, weight = 0.0, 0.0
    for value in b:
        total += value
        weight += abs(value)
    return total, weight


def without(gram: LazyGram, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A feasible point near ``b``, which may exceed bounds where samples are left out.

    The samples most like the first of those take over what they held.
    """
    inside = np.empty_like(b)
    lost = _clip(b, lower, upper, inside)
    if lost >= 0:
        gram.rows(np.array([lost]))
        _fill(inside, lower, upper, np.argsort(-gram.K[lost], kind="stable"))
    return inside


@njit(cache=True, nogil=True)
def _clip(b: Any, lower: Any, upper: Any, inside: Any) -> Any:
    """``inside = clip(b, lower, upper)``; the first entry that changes, -1 if none does."""
    lost = -1
    for v in range(len(b)):
        inside[v] = min(max(b[v], lower[v]), upper[v])
        if lost < 0 and inside[v] != b[v]:
            lost = v
    return lost


@njit(cache=True, nogil=True)
def _fill(b: Any, lower: Any, upper: Any, order: Any) -> None:
    """Give what is missing from a sum of zero to the variables in turn."""
    left = 0.0
    for v in range(len(b)):
        left -= b[v]
    for v in order:
        if left > 0.0:
            if left >= upper[v] - b[v]:
                left -= upper[v] - b[v]
                b[v] = upper[v]
            else:
                b[v] += left
                return
        elif left < 0.0:
            if left <= lower[v] - b[v]:
                left -= lower[v] - b[v]
                b[v] = lower[v]
            else:
                b[v] += left
                return


def gradient(gram: LazyGram, b: np.ndarray, p: np.ndarray) -> np.ndarray:
    """``p + K b``."""
    g = p.copy()
    _add_rows(tuple(gram.source), gram.K, gram.ready, b, g)
    return g


@njit(cache=True, nogil=True)
def _add_rows(source: Any, K: Any, ready: Any, b: Any, g: Any) -> None:
    for v in range(len(b)):
        if b[v] != 0.0:
            if ready[v] == 0:
                fill_row(source, v, K, ready)
            add_multiple(g, b[v], K[v])


@njit(cache=True, nogil=True)
def _settle(
    source: Any, K: Any, ready: Any, diag: Any, b: Any, g: Any, lower: Any, upper: Any
) -> Any:
    """Pair steps and Newton steps in turn; what :func:`_judge` says in the end."""
    n, point = len(b), (b, g, lower, upper)
    tol, steps = _COARSE, max(200, n // 2)
    for turn in range(_ROUNDS):
        code, _, _, _ = run_pairs(K, diag, 1, point, tol, steps, source, ready)
        if code == UNBOUNDED:
            break
        found = _newton(source, K, ready, point)
        if found[0] <= _FINE * found[2]:
            return found
        tol, steps = 0.1 * _FINE * found[2], max(50, n // 4) * (1 + turn // 4)
    return np.inf, 0.0, 1.0, False, 0


@njit(cache=True, nogil=True)
def _newton(source: Any, K: Any, ready: Any, point: Any) -> Any:
    """Active sets: minimise over the free variables, set the worst violator free, repeat.

    Ends when the optimality conditions hold, when a turn gains nothing, or after a number of turns.
    Returns the violation of the optimality conditions, the multiplier of the equality (mean
    gradient of the free variables, or the middle of the admissible interval), the size of the
    gradient, whether the multiplier is beyond doubt, and the number of free variables.
    """
    b, g, lower, upper = point
    n = len(b)
    working = np.empty(n + 1, dtype=np.int64)
    for turn in range(_MOST_TURNS):
        violation, multiplier, size, _, count = _judge(b, g, lower, upper)
        if violation <= _FINE * size or count > _MOST_FREE:
            break
        f, worst, by = 0, -1, 0.0
        for v in range(n):
            if lower[v] < b[v] < upper[v]:
                working[f] = v
                f += 1
            elif turn and lower[v] < upper[v]:
                pull = multiplier - g[v] if b[v] <= lower[v] else g[v] - multiplier
                if pull > by:
                    worst, by = v, pull
        if worst >= 0:
            working[f] = worst
            f += 1
        if f < 2:
            break
        fill_rows(source, working[:f], K, ready)
        gain = _minimise(K, point, working[:f])
        if turn and not gain > 0.0:
            break
    return _judge(b, g, lower, upper)


@njit(cache=True, nogil=True)
def _minimise(K: Any, point: Any, free: Any) -> Any:
    """Go to the minimum over some variables, along the bounds met on the way.

    A step that leaves the box is cut at the first bound, that variable is fixed, and the rest is
    solved for again. Returns the decrease of the objective.
    """
    b, g, lower, upper = point
    f = len(free)
    gain = 0.0
    place = np.empty(f)
    slope = np.empty(f)
    for k in range(f):
        place[k] = b[free[k]]
        slope[k] = g[free[k]]
    inside = np.arange(f)
    A = np.empty((f, f))
    step = np.empty(f)
    ones = np.empty(f)
    m = f
    for _ in range(f):
        if m < 2:
            break
        if not _direction(K, free, inside[:m], slope, A, step, ones):
            break
        descent = 0.0
        length, first = 1.0, -1
        for r in range(m):
            k = inside[r]
            descent += slope[k] * step[r]
            room = np.inf
            if step[r] > 0.0:
                room = (upper[free[k]] - place[k]) / step[r]
            elif step[r] < 0.0:
                room = (lower[free[k]] - place[k]) / step[r]
            if room < length:
                length, first = room, r
        if not descent <= 0.0:
            break
        rising = first >= 0 and step[first] > 0.0
        gain -= (length - 0.5 * length * length) * descent
        for r in range(m):
            step[r] *= length
            place[inside[r]] += step[r]
        for k in range(f):
            row = K[free[k]]
            total = 0.0
            for r in range(m):
                total += step[r] * row[free[inside[r]]]
            slope[k] += total
        if first < 0:
            break
        k = inside[first]
        place[k] = upper[free[k]] if rising else lower[free[k]]
        for r in range(first, m - 1):
            inside[r] = inside[r + 1]
        m -= 1
    for k in range(f):
        v = free[k]
        value = min(max(place[k], lower[v]), upper[v])
        change = value - b[v]
        if change != 0.0:
            b[v] = value
            add_multiple(g, change, K[v])
    return gain


@njit(cache=True, nogil=True)
def _direction(K: Any, free: Any, inside: Any, slope: Any, A: Any, step: Any, ones: Any) -> Any:
    """The Newton step over the variables ``inside``, of sum zero; False if K is indefinite."""
    m = len(inside)
    trace = 0.0
    for r in range(m):
        row = K[free[inside[r]]]
        for c in range(r + 1):
            A[r, c] = row[free[inside[c]]]
        trace += A[r, r]
    ridge = _RIDGE * max(trace / m, 1e-300)
    for r in range(m):
        A[r, r] += ridge
        step[r] = -slope[inside[r]]
        ones[r] = 1.0
    if not _factorise(A, m):
        return False
    _substitute(A, m, step)
    _substitute(A, m, ones)
    total, scale = 0.0, 0.0
    for r in range(m):
        total += step[r]
        scale += ones[r]
    if not scale > 0.0 or not np.isfinite(total / scale):
        return False
    mean = 0.0
    for r in range(m):
        step[r] -= total / scale * ones[r]
        mean += step[r] / m
    for r in range(m):
        step[r] -= mean
    return True


@njit(cache=True, nogil=True)
def add_multiple(out: Any, c: Any, x: Any) -> None:
    """``out += c * x``."""
    for q in range(len(out)):
        out[q] += c * x[q]


@njit(cache=True, nogil=True)
def _factorise(A: Any, m: Any) -> Any:
    """Cholesky's factor in the lower triangle, row by row; False if A is not positive."""
    for r in range(m):
        row = A[r]
        for c in range(r):
            row[c] = (row[c] - dot(row[:c], A[c, :c])) / A[c, c]
        pivot = row[r] - dot(row[:r], row[:r])
        if not pivot > 0.0:
            return False
        row[r] = np.sqrt(pivot)
    return True


@njit(cache=True, nogil=True)
def _substitute(A: Any, m: Any, x: Any) -> None:
    """``x = (LL')^-1 x``."""
    for r in range(m):
        x[r] = (x[r] - dot(A[r, :r], x[:r])) / A[r, r]
    for r in range(m - 1, -1, -1):
        x[r] /= A[r, r]
        for c in range(r):
            x[c] -= A[r, c] * x[r]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def dot(x: Any, y: Any) -> Any:
    """The inner product, summed in any order."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * y[k]
    return total


@njit(cache=True, nogil=True)
def _judge(b: Any, g: Any, lower: Any, upper: Any) -> Any:
    low, high = np.inf, -np.inf  # least gradient that can grow, greatest that can shrink
    total, count, clear = 0.0, 0, False
    size = 1.0
    for v in range(len(b)):
        if not lower[v] < upper[v]:
            continue
        size = max(size, abs(g[v]))
        grows, shrinks = b[v] < upper[v], b[v] > lower[v]
        if grows:
            low = min(low, g[v])
        if shrinks:
            high = max(high, g[v])
        if grows and shrinks:
            total += g[v]
            count += 1
            narrow = _CLEARLY * (upper[v] - lower[v])
            clear = clear or (b[v] > lower[v] + narrow and b[v] < upper[v] - narrow)
    violation = max(0.0, high - low)
    if count and not clear:  # rounding alone may keep them off their bounds
        residue = 0.0
        for v in range(len(b)):
            residue = max(residue, RESIDUE * abs(b[v]))
        low, high, total, count = np.inf, -np.inf, 0.0, 0
        for v in range(len(b)):
            if lower[v] < upper[v]:
                off = min(residue, 0.25 * (upper[v] - lower[v]))
                grows, shrinks = b[v] < upper[v] - off, b[v] > lower[v] + off
                if grows and shrinks:
                    total += g[v]
                    count += 1
                if grows:
                    low = min(low, g[v])
                if shrinks:
                    high = max(high, g[v])
    if count:
        return violation, total / count, size, clear, count
    if low < np.inf and high > -np.inf:
        # the middle of an interval, unless rounding decides whether there is one
        apart = low - high
        return violation, 0.5 * (low + high), size, not 1e-9 * size < apart < _APART * size, 0
    return violation, 0.0, size, False, 0
