r"""Working sets: the outer loop that chunking and decomposition share.

Both solve the quadratic problem (stated in :mod:`tamiz.solvers.smo`) by minimising over some of
the variables at a time, the rest fixed:

1. a strategy names the working set ``W``;
2. the block ``K[W, W]`` is brought together: what the previous set shares with it is copied, the
   rest is one call to the matrix, which for a kernel is a BLAS product;
3. the block is minimised by pair steps;
4. the gradient of all variables receives the change, ``g += K[W, :]' change``, with rows from a
   cache of bounded size where they are there, computed in batches where not.

The loop ends when no pair of variables violates the KKT conditions by more than the tolerance.
Memory is the block, the cache, and one batch, whatever the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tamiz.qp.matrices import QMatrix, add_rows, copy_block, copy_rows, put_cross
from tamiz.runtime.progress import Progress
from tamiz.solvers.descent import Descent, slice_steps
from tamiz.solvers.frame import CODES, State, Status
from tamiz.solvers.pairs import RUNNING, STALLED, UNBOUNDED, BoxPoint
from tamiz.validation import fits_memory, free_bytes

#: Names the variables to work on: (b, g, can grow, can shrink, previous set) -> sorted indices.
Strategy = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]

#: Rows that are not kept are computed in batches of this many bytes.
_BATCH_BYTES = 32 * 2**20
#: After so many rounds without gain, a violation this small beside the gradient is rounding.
_FRUITLESS, _ROUNDING = 100, 1e-9


class _Room:
    """Memory that is used again: to be given fresh pages costs more than to write to them."""

    def __init__(self, dtype: np.dtype):
        self.flat = np.empty(0, dtype=dtype)

    def array(self, rows: int, columns: int) -> np.ndarray:
        """An array of this shape, with arbitrary entries, in the place of the last one."""
        if len(self.flat) < rows * columns:
            self.flat = np.empty(rows * columns, dtype=self.flat.dtype)
        return self.flat[: rows * columns].reshape(rows, columns)


class RowCache:
    """Rows of a matrix, computed on demand and kept while the budget allows.

    Parameters
    ----------
    Q : QMatrix
        The matrix.
    budget_bytes : float
        Memory for rows; no more than half of what is free is taken.
    """

    def __init__(self, Q: QMatrix, budget_bytes: float):
        self.Q = Q
        self.row_bytes = max(1, Q.n * Q.dtype.itemsize)
        wanted = self.row_bytes * min(Q.n, max(0, budget_bytes // self.row_bytes))
        room = wanted if fits_memory(2 * wanted) else min(wanted, free_bytes() // 2)
        self.capacity = int(room // self.row_bytes)
        self.store = np.empty((self.capacity, Q.n), dtype=Q.dtype)
        self.slot_of = np.full(Q.n, -1)
        self.row_in = np.full(self.capacity, -1)
        self.last_used = np.zeros(self.capacity, dtype=np.int64)
        self.clock = 0
        self.filled = 0
        self.batch = _Room(Q.dtype)

    def dot_variables(self, b: np.ndarray) -> np.ndarray:
        """The product of the repeated matrix with a vector over all variables."""
        copies = len(b) // self.Q.n
        per_sample = b.reshape(copies, self.Q.n).sum(axis=0)
        rows = np.flatnonzero(per_sample)
        return np.tile(self.dot(rows, per_sample[rows]), copies)

    def dot(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """``coef @ Q[rows, :]`` in float64."""
        self.clock += 1
        result = np.zeros(self.Q.n)
        slots = self.slot_of[rows]
        here = slots >= 0
        if here.any():
            self.last_used[slots[here]] = self.clock
            add_rows(self.store, slots[here], coef[here], result)
        missing, coef = rows[~here], coef[~here]
        start = 0
        while start < len(missing):
            fresh = self.capacity - self.filled
            stop = start + max(1, min(_BATCH_BYTES // self.row_bytes, fresh or len(missing)))
            part = missing[start:stop]
            # Rows go straight to where they will stay; those for a place in between take a detour.
            block = (
                self.store[self.filled : self.filled + len(part)]
                if fresh
                else self.batch.array(len(part), self.Q.n)
            )
            self.Q.fill(block, part)
            add_rows(block, np.arange(len(part)), coef[start:stop], result)
            if fresh:
                slots = np.arange(self.filled, self.filled + len(part))
                self.filled += len(part)
            else:
                slots = self._oldest(len(part))
                copy_rows(block, self.store, slots)
            self._note(slots, part[: len(slots)])
            start = stop
        return result

    def _oldest(self, count: int) -> np.ndarray:
        """Places not used for the longest time, at most half of them.

        A row used in this very sweep stays: throwing it out would only turn the wheel.
        """
        oldest = np.argsort(self.last_used, kind="stable")[: min(count, self.capacity // 2)]
        oldest = oldest[self.last_used[oldest] < self.clock]
        self.slot_of[self.row_in[oldest]] = -1
        return oldest

    def _note(self, slots: np.ndarray, rows: np.ndarray) -> None:
        """Remember which rows are in which places."""
        self.row_in[slots] = rows
        self.slot_of[rows] = slots
        self.last_used[slots] = self.clock


class WorkingBlock:
    """The block of the matrix that belongs to the current working set of samples.

    Entries are computed in ``batch``, if given.
    """

    def __init__(self, Q: QMatrix, batch: _Room | None = None):
        self.Q = Q
        self.samples = np.empty(0, dtype=np.intp)
        self.block = np.empty((0, 0), dtype=Q.dtype)
        self.rooms = _Room(Q.dtype), _Room(Q.dtype)  # of this block and of the next
        self.batch = _Room(Q.dtype) if batch is None else batch

    def switch(self, samples: np.ndarray) -> np.ndarray:
        """Bring together the block of ``samples`` (sorted, distinct), reusing what is there.

        The block of the switch before the last is overwritten.
        """
        if np.array_equal(samples, self.samples):
            return self.block
        _, new, old = np.intersect1d(samples, self.samples, assume_unique=True, return_indices=True)
        size = len(samples)
        block = self.rooms[1].array(size, size)
        copy_block(self.block, old, block, new)
        absent = np.ones(size, dtype=bool)
        absent[new] = False
        fresh = np.flatnonzero(absent)
        step = max(1, _BATCH_BYTES // max(1, size * self.Q.dtype.itemsize))
        for start in range(0, len(fresh), step):
            part = fresh[start : start + step]
            entries = self.batch.array(len(part), size)
            self.Q.fill(entries, samples[part], samples)
            put_cross(entries, block, part)
        self.rooms = self.rooms[::-1]
        self.samples, self.block = samples, block
        return block


def solve_by_working_sets(
    state: State,
    tol: float,
    limit: int,
    progress: Progress,
    *,
    strategy: Strategy,
    cache: RowCache,
) -> None:
    """Minimise over working sets until the KKT conditions hold; the state changes in place."""
    free = state.free
    base, copies = free.Q.repeated()
    n = base.n
    current = WorkingBlock(base, cache.batch)
    working = np.empty(0, dtype=np.intp)
    idle, best, rounds = 0, np.inf, 0
    while True:
        b, g = state.point
        grow, shrink = b < free.upper, b > free.lower
        violation = g[shrink].max(initial=-np.inf) - g[grow].min(initial=np.inf)
        if not violation > tol:
            state.status = Status.CONVERGED
            return
        best, rounds = (violation, 0) if violation < best else (best, rounds + 1)
        if rounds > _FRUITLESS and violation <= _ROUNDING * float(np.abs(g).max()):
            state.status = Status.STALLED  # rounding moves the point to and fro
            return
        if state.iterations >= limit:
            state.status = Status.MAX_ITER
            return
        progress.update(f"{state.iterations:,} steps, KKT violation {violation:.2g}")
        working = strategy(b, g, grow, shrink, working)
        samples = np.unique(working % n)
        block = current.switch(samples)
        variables = (samples + n * np.arange(copies)[:, None]).ravel()
        code, change = _minimise_block(state, variables, block, copies, tol, violation, limit)
        if code == UNBOUNDED:
            state.status = CODES[code]
            return
        idle = 0 if change.any() else idle + 1
        # steps lost in rounding, be it that the point still moves to and fro
        lost = code == STALLED and (idle > 0 or rounds > _FRUITLESS)
        if idle > 3 or lost:
            state.status = Status.STALLED
            return
        per_sample = change.reshape(copies, -1).sum(axis=0)
        moved = np.flatnonzero(per_sample)
        update = cache.dot(samples[moved], per_sample[moved])
        new_b = b.copy()
        new_b[variables] += change
        np.clip(new_b, free.lower, free.upper, out=new_b)
        state.point = new_b, g + np.tile(update, copies)


def _minimise_block(
    state: State,
    variables: np.ndarray,
    block: np.ndarray,
    copies: int,
    tol: float,
    violation: float,
    limit: int,
) -> tuple[int, np.ndarray]:
    """Minimise over the working set; return the code and the change of ``b``."""
    b, g = state.point
    lower, upper = state.free.lower[variables], state.free.upper[variables]
    point = BoxPoint(b[variables], g[variables], lower, upper)
    inner_tol = max(0.5 * tol, 0.05 * violation)
    code = minimise_block(state, point, block, copies, inner_tol, limit)
    return code, point.b - b[variables]


def minimise_block(
    state: State, point: BoxPoint, block: np.ndarray, copies: int, tol: float, limit: int
) -> int:
    """Minimise over a block of the matrix in place; steps are counted in the state.

    Returns the code of the last run of steps.
    """
    descent = Descent(block, copies)
    while True:
        steps = min(slice_steps(len(point.b)), limit - state.iterations)
        code, done, _, _ = descent.run(point, tol, steps)
        state.iterations += done
        if code != RUNNING or state.iterations >= limit:
            return code
