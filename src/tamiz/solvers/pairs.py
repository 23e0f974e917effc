"""The compiled loop of pair steps; the method is described in :mod:`tamiz.solvers.smo`.

Each step makes two passes over all variables, some tens of microseconds for some ten thousand of
them: too short for waking threads. A team (:func:`run_pairs_in_team`) divides the passes among
threads that stay awake. Passes go by blocks, and the first of the best blocks wins, whoever did
it, so that the steps are the same.
"""

from __future__ import annotations

from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tamiz.kernels.compiled import fill_row
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles

#: What the compiled loop reports.
CONVERGED, RUNNING, STALLED, UNBOUNDED = range(4)

# Comparisons may be reordered and NaN does not occur; infinities do (bounds), so they are honoured.
_FAST = {"nnan", "nsz", "reassoc", "contract", "arcp"}
_SHORT, _LONG = 128, 512  # blocks of the passes, for few and for many samples
_MANY = 3000
_LANE = 16  # numbers of a team's arrays of which no two threads have one cache line in common
_PATIENCE = 2**21  # looks at a leader who says nothing: some milliseconds
_FAR = 1e37
_LEAST_CURVATURE = 1e-12


class BoxPoint(NamedTuple):
    """A point of the sign-free problem inside its box; ``b`` and ``g`` change in place."""

    b: np.ndarray
    g: np.ndarray  # the gradient Kb + p
    lower: np.ndarray
    upper: np.ndarray


@njit(cache=True, nogil=True)
def run_pairs(K, diag, copies, point, tol, max_steps, rows=None, ready=None, team=None):  # type: ignore[no-untyped-def]
    """Take up to ``max_steps`` pair steps from a :class:`BoxPoint`.

    ``K`` is the matrix of the samples and ``diag`` its diagonal; variables are ``copies`` blocks of
    as many entries. Returns a code, the number of steps, and the least and greatest gradient that
    bound the violation.

    With ``rows`` (a ``RowSource`` of :mod:`tamiz.kernels.compiled`) the rows of ``K`` are filled
    when they are needed, and ``ready`` says which are. With a ``team`` others do
    their parts of the passes.
    """
    b, g, lower, upper = point
    n = K.shape[0]
    size = copies * n
    block = _SHORT if n <= _MANY else _LONG
    passes = copies * ((n + block - 1) // block)  # blocks of a pass
    if team is None:
        up = np.empty(size, dtype=np.float32)  # 0 where b can grow, far where not
        down = np.empty(size, dtype=np.float32)
    else:
        up, down = team[0], team[1]
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
        if team is None:
            gain, where = _best_gain(0, passes, g, down, row_i, diag, i % n, low, block)
        else:
            gain, where = _lead_gain(K, diag, g, i, low, block, team)
        j = -1
        if gain > 0.0:
            j = _second_order(where, g, down, row_i, diag, i % n, low, block)
        if j < 0:
            return STALLED, steps, low, high
        row_j = K[j % n]
        if rows is not None:  # noqa: SIM102  alone, it is decided while compiling
            if ready[j % n] == 0:
                fill_row(rows, j % n, K, ready)
        code, step = _move(point, i, j, diag[i % n], diag[j % n], row_i[j % n])
        if code != RUNNING:
            return code, steps, low, high
        up[i] = 0.0 if b[i] < upper[i] else _FAR
        down[i] = 0.0 if b[i] > lower[i] else _FAR
        up[j] = 0.0 if b[j] < upper[j] else _FAR
        down[j] = 0.0 if b[j] > lower[j] else _FAR
        if team is None:
            low, high, where = _update(0, passes, g, up, down, row_i, row_j, step, block)
        else:
            low, high, where = _lead_update(K, diag, g, i, j, step, block, team)
        i = _least_from(where, g, up, low, high)
        steps += 1


@njit(cache=True, nogil=True)
def _move(point: Any, i: Any, j: Any, diag_i: Any, diag_j: Any, entry: Any) -> Any:
    """Move ``b_i`` up and ``b_j`` down to the minimum inside the box; a code and the step."""
    b, g, lower, upper = point
    curvature = float(diag_i) + float(diag_j) - 2.0 * float(entry)
    # Any positive curvature of the matrix as it is stored is taken at its word: a longer step
    # would overshoot, and the next one undo it, for ever.
    floor = 1e-14 * (abs(float(diag_i)) + abs(float(diag_j))) + 1e-300
    room_i = upper[i] - b[i]
    room_j = b[j] - lower[j]
    room = min(room_i, room_j)
    if curvature > floor:
        step = (g[j] - g[i]) / curvature
    elif room < np.inf:
        step = room
    else:
        return UNBOUNDED, 0.0
    if step >= room:
        step = room
    old_i, old_j = b[i], b[j]
    b[i] = upper[i] if step >= room_i else old_i + step
    b[j] = lower[j] if step >= room_j else old_j - step
    if step < room and (b[i] == old_i or b[j] == old_j):
        b[i], b[j] = old_i, old_j  # the step is lost in rounding
        return STALLED, 0.0
    return RUNNING, step


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
def _first_of(k: Any, n: Any, block: Any) -> Any:
    """The copy in which block ``k`` of a pass is, by its first variable, and the first sample."""
    if k == 0:
        return 0, 0
    across = (n + block - 1) // block
    return k // across * n, k % across * block


@njit(cache=True, nogil=True)
def _update(first, last, g, up, down, row_i, row_j, step, block):  # type: ignore[no-untyped-def]
    """``g += step (row_i - row_j)`` in some blocks; its new range, and where the least block is."""
    n = len(row_i)
    low, high, where = np.inf, -np.inf, 0
    copy, start = _first_of(first, n, block)
    for _ in range(first, last):
        stop = min(start + block, n)
        s, e = copy + start, copy + stop
        block_low, block_high = _update_block(
            g[s:e], up[s:e], down[s:e], row_i[start:stop], row_j[start:stop], step
        )
        high = max(high, block_high)
        if block_low < low:
            low, where = block_low, s
        start = stop
        if stop == n:
            copy, start = copy + n, 0
    return low, high, where


@njit(cache=True, nogil=True)
def _least_from(where: Any, g: Any, up: Any, low: Any, high: Any) -> Any:
    """The first variable from ``where`` on with the least gradient; -1 if none can move."""
    if low >= 0.5 * _FAR or high <= -0.5 * _FAR:
        return -1
    while where < len(g) - 1 and g[where] + up[where] > low:
        where += 1
    return where


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
def _best_gain(
    first: Any, last: Any, g: Any, down: Any, row: Any, diag: Any, i: Any, low: Any, block: Any
) -> Any:
    """The largest decrease by a pair step with ``i`` in some blocks, and where its block is."""
    n = len(row)
    base = float(diag[i])
    best, where = 0.0, 0
    copy, start = _first_of(first, n, block)
    for _ in range(first, last):
        stop = min(start + block, n)
        s, e = copy + start, copy + stop
        gain = _block_gain(g[s:e], down[s:e], row[start:stop], diag[start:stop], base, low)
        if gain > best:
            best, where = gain, s
        start = stop
        if stop == n:
            copy, start = copy + n, 0
    return best, where


@njit(cache=True, nogil=True)
def _second_order(start, g, down, row, diag, i, low, block):  # type: ignore[no-untyped-def]
    """The variable of a block whose pair step with ``i`` decreases the objective most."""
    n = len(row)
    copy = 0
    while start >= n:
        copy, start = copy + n, start - n
    base = float(diag[i])
    where, best = -1, -1.0
    for v in range(start, min(start + block, n)):
        slope = g[copy + v] - down[copy + v] - low
        if slope > 0.0:
            gain = (
                slope * slope / max(base + float(diag[v]) - 2.0 * float(row[v]), _LEAST_CURVATURE)
            )
            if gain > best:
                best, where = gain, copy + v
    return where


@njit(cache=True, nogil=True, fastmath=_FAST)
def _block_gain(g, down, row, diag, base, low):  # type: ignore[no-untyped-def]
    best = 0.0
    for v in range(len(g)):
        slope = _greatest(g[v] - down[v] - low, 0.0)
        curvature = _greatest(base + float(diag[v]) - 2.0 * float(row[v]), _LEAST_CURVATURE)
        best = _greatest(best, slope * slope / curvature)
    return best


# ---------------------------------------------------------------------------------------- a team
#
# ``team``: up, down, and the arrays ``signs`` (int64) and ``values`` (float64). Lane 0 of them is
# what the leader says: the number of the pass (odd: gains, even: update), i, j; the gradient of i
# or the step. Lane 1 + t belongs to part t of the blocks: the last pass that somebody took it in,
# the last one it was done in, where a block is; two results.


@njit(cache=True, nogil=True)
def _help(t: Any, K: Any, diag: Any, copies: Any, g: Any, team: Any, patience: Any) -> None:
    """Do part ``t`` of every pass until the leader ends, or says nothing for too long.

    What has not begun is done by the leader, so nobody waits for a thread that sleeps.
    """
    signs = team[2]
    n = K.shape[0]
    block = _SHORT if n <= _MANY else _LONG
    seen, idle = 0, 0
    while idle < patience:
        number = _load_acquire(signs, 0)
        if number < 0:
            return
        if number == seen:
            idle += 1
            continue
        seen, idle = number, 0
        _do_part(t, number, K, diag, copies, g, block, team)


@njit(cache=True, nogil=True)
def _do_part(
    t: Any, number: Any, K: Any, diag: Any, copies: Any, g: Any, block: Any, team: Any
) -> None:
    """Do part ``t`` of a pass, unless somebody has begun it or the pass is over."""
    up, down, signs, values = team
    own = _LANE * (1 + t)
    if not _claim(signs, own, number - 1, number):
        return
    n = K.shape[0]
    total = copies * ((n + block - 1) // block)
    parts = len(signs) // _LANE - 1
    first, last = total * t // parts, total * (t + 1) // parts
    i, j = signs[1], signs[2]
    if number % 2 == 1:
        gain, where = _best_gain(first, last, g, down, K[i % n], diag, i % n, values[0], block)
        values[own] = gain
    else:
        low, high, where = _update(first, last, g, up, down, K[i % n], K[j % n], values[0], block)
        values[own], values[own + 1] = low, high
    signs[own + 2] = where
    _store_release(signs, own + 1, number)


@njit(cache=True, nogil=True)
def _lead(K: Any, diag: Any, copies: Any, g: Any, block: Any, team: Any) -> None:
    """Announce the next pass, do a part of it and what nobody has begun, and wait for the rest."""
    signs = team[2]
    number = signs[0] + 1
    parts = len(signs) // _LANE - 1
    _store_release(signs, 0, number)
    for t in range(parts):
        _do_part(t, number, K, diag, copies, g, block, team)
    for t in range(parts):
        while _load_acquire(signs, _LANE * (1 + t) + 1) != number:
            pass


@njit(cache=True, nogil=True)
def _lead_gain(K: Any, diag: Any, g: Any, i: Any, low: Any, block: Any, team: Any) -> Any:
    """:func:`_best_gain` over all blocks, by the team."""
    _, _, signs, values = team
    signs[1], signs[2] = i, i
    values[0] = low
    _lead(K, diag, len(g) // K.shape[0], g, block, team)
    best, where = 0.0, 0
    for own in range(_LANE, len(signs), _LANE):
        if values[own] > best:
            best, where = values[own], signs[own + 2]
    return best, where


@njit(cache=True, nogil=True)
def _lead_update(
    K: Any, diag: Any, g: Any, i: Any, j: Any, step: Any, block: Any, team: Any
) -> Any:
    """:func:`_update` of all blocks, by the team."""
    _, _, signs, values = team
    signs[1], signs[2] = i, j
    values[0] = step
    _lead(K, diag, len(g) // K.shape[0], g, block, team)
    low, high, where = np.inf, -np.inf, 0
    for own in range(_LANE, len(signs), _LANE):
        high = max(high, values[own + 1])
        if values[own] < low:
            low, where = values[own], signs[own + 2]
    return low, high, where


class _End(Event):
    """Ends a team: its threads see that no pass will follow."""

    def __init__(self, signs: np.ndarray):
        super().__init__()
        self.signs = signs

    def set(self) -> None:
        super().set()
        self.signs[0] = -1


def run_pairs_in_team(
    parts: int,
    K: np.ndarray,
    diag: np.ndarray,
    copies: int,
    point: BoxPoint,
    tol: float,
    max_steps: int,
) -> tuple[int, int, float, float]:
    """:func:`run_pairs` with passes divided into ``parts``; the steps are the same to the bit."""
    signs = np.zeros((1 + parts) * _LANE, dtype=np.int64)
    allowed = np.empty((2, len(point.b)), dtype=np.float32)
    team = allowed[0], allowed[1], signs, np.zeros(len(signs))
    end = _End(signs)

    def member(start: int, stop: int) -> tuple[int, int, float, float] | None:
        if start:
            _help(start, K, diag, copies, point.g, team, _PATIENCE)
            return None
        try:
            found: tuple[int, int, float, float] = run_pairs(
                K, diag, copies, point, tol, max_steps, None, None, team
            )
            return found
        finally:
            end.set()

    found = run_tiles(member, parts, stop=end, max_items=1)[0]
    assert found is not None
    return found


# --------------------------------------------------------------------------- single instructions


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


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of an entry of an array of int64."""
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, kind, array, [args[1]])


def _loading(typing_context: Any, array: Any, index: Any) -> Any:
    """``array[index]``, before anything that follows."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature, args), "acquire", 8)

    return types.int64(array, types.intp), generate


def _storing(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index] = value``, after everything that precedes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _place(context, builder, signature, args), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), generate


def _claiming(typing_context: Any, array: Any, index: Any, old: Any, new: Any) -> Any:
    """Set ``array[index]`` from ``old`` to ``new``; whether it was ``old``. One thread succeeds."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature, args)
        answer = builder.cmpxchg(place, args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(answer, 1)

    return types.boolean(array, types.intp, types.int64, types.int64), generate


_load_acquire = intrinsic(_loading)
_store_release = intrinsic(_storing)
_claim = intrinsic(_claiming)
