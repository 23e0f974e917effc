r"""Machines on a stream in fewer passes still: rows near the margin in memory, the others as a sum.

Where the weights are about right, most rows lie far from the kink of the hinge of
``z = 1 - y f``. A pass at such weights keeps the rows with ``|z| < width`` and sums up the others:
those of ``z >= width`` are taken as linear, those of ``z <= -width`` as without loss,

.. math::

    R(w, b) = \sum_{\text{near}} C_i (z_i)_+ + \sum_{z_i \ge \text{width}} C_i z_i
        \;\le\; \sum_i C_i (z_i)_+ .

This holds for all weights, not only nearby: the minimum with ``R`` in place of the losses bounds
the minimum from below, every dual point of it is one of the whole (``alpha = C`` or ``0`` where the
rows were summed up), and it is found in memory, by the steps of :mod:`tamiz.svm.stream.newton`.
The next pass tells what the losses are there. If no row has crossed the margin, they are ``R``, and
the gap is closed; else the same pass has kept the rows near the new weights. Should that not lead
on, passes of Newton over all rows do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.runtime.compiling import njit
from tamiz.scale.batch import Batch
from tamiz.svm.stream.newton import MachineRun, Rows, Tasks, Units, newton_passes, rehearse

_SMALL = 20_000  # rows of which all may be looked at as often as one likes
_MISSES = 3  # after which passes of Newton take over
_LENGTHS = np.array([1.0, 0.5, 0.2, 0.05])
_AFTER_ROUND = 0.03  # mu
_LEAST_WIDTH, _MOST_WIDTH = 0.15, 3.0
_TOO_NARROW = 0.1  # where memory allows no more, too many rows cross
_BLOCK = 4096
_PASSES_INSIDE = 60
_PARTS = 2  # into which rows are joined
_SAMPLED = 100_000  # rows for the length of steps in memory


class KeptRows(NamedTuple):
    """Some rows of a batch."""

    X: Any
    codes: np.ndarray
    rows: int  # number of the first of them


@dataclass
class NearSums:
    """What a pass keeps: rows near the margin of some machine, and the sum of the others.

    Memory: as many rows as have been asked for, and two numbers for each feature and machine.
    """

    machines: list[int]  # K of them
    hinges: np.ndarray  # (K, T): at the lengths asked for
    far: np.ndarray  # (K, 2, p + 1): sums of penalties times rows, for both sides
    parts: list[KeptRows]

    def merge(self, other: NearSums) -> NearSums:
        """Add what other rows tell; this object takes it in."""
        self.hinges += other.hinges
        self.far += other.far
        self.parts = [*self.parts, *other.parts]
        return self

    def joined(self) -> list[KeptRows]:
        """The rows that were kept, in a few large parts."""
        n = sum(len(part.codes) for part in self.parts)
        wanted, some, size = [], [], 0
        for k, part in enumerate(self.parts):
            some.append(part)
            size += len(part.codes)
            if size >= n / _PARTS or k == len(self.parts) - 1:
                X = [part.X for part in some]
                rows = (
                    sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
                )
                codes = np.concatenate([part.codes for part in some])
                wanted.append(KeptRows(rows, codes, some[0].rows))
                some, size = [], 0
        self.parts = wanted
        return wanted


@dataclass
class NearAt:
    """Makes the :class:`NearSums` of a batch, at the end of a step of length ``lengths[0]``."""

    tasks: Tasks
    units: Units
    machines: np.ndarray
    point: np.ndarray  # (K, p + 1)
    direction: np.ndarray
    lengths: np.ndarray  # (T,)
    width: np.ndarray  # (K,)

    def __call__(self, batch: Batch) -> NearSums:
        return self.of(batch.X, batch.y, batch.first_row)

    def of(self, X: Any, codes: Any, first_row: int = 0) -> NearSums:
        """The sums of some rows."""
        K, p = len(self.machines), X.shape[1]
        hinges, far = np.zeros((K, len(self.lengths))), np.zeros((K, 2, p + 1))
        found = NearSums(self.machines.tolist(), hinges, far, [])
        near = np.zeros(len(codes), dtype=bool)
        signs, penalties = self.tasks.signs[self.machines], self.tasks.penalties[self.machines]
        if sparse.issparse(X):
            unit = np.append(1.0 / self.units.scale, 1.0)
            step = self.point * unit, self.direction * unit, self.lengths, self.width
            rows = X.data, X.indices, X.indptr, codes
            _go_sparse(rows, signs, penalties, step, hinges, far, near)
            far *= unit
        else:
            both = np.concatenate([self.point, self.direction])
            for start in range(0, len(codes), _BLOCK):
                some = slice(start, start + _BLOCK)
                Z = self.units.apply(X[some])
                pull = np.zeros((2 * K, len(Z)))
                _go_dense(
                    Z @ both[:, :-1].T + both[:, -1], codes[some], signs, penalties, self.lengths,
                    self.width, hinges, pull, near[some],
                )  # fmt: skip
                far[:, :, :-1] += (pull @ Z).reshape(K, 2, p)
                far[:, :, -1] += pull.sum(axis=1).reshape(K, 2)
        if near.any():
            kept = np.flatnonzero(near)
            found.parts.append(KeptRows(X[kept], codes[kept], first_row))
        return found


@njit(cache=True, nogil=True)
def _go_sparse(rows, signs, penalties, step, hinges, far, near):  # type: ignore[no-untyped-def]
    """Row by row: its losses; then it is near, or goes into the sums."""
    data, indices, indptr, codes = rows
    point, direction, lengths, width = step
    K, last = len(point), point.shape[1] - 1
    values, pull = np.empty(2 * K), np.empty((2 * K, 1))
    for i in range(len(codes)):
        start, stop = indptr[i], indptr[i + 1]
        for k in range(K):
            here, along = point[k, last], direction[k, last]
            for q in range(start, stop):
                here += point[k, indices[q]] * data[q]
                along += direction[k, indices[q]] * data[q]
            values[k], values[K + k] = here, along
        pull[:] = 0.0
        near[i] = _go_row(
            values, signs[:, codes[i]], penalties[:, codes[i]], lengths, width, hinges, pull[:, 0]
        )
        for k in range(K):
            for side in range(2):
                penalty = pull[2 * k + side, 0]
                if penalty > 0.0:
                    total = far[k, side]
                    for q in range(start, stop):
                        total[indices[q]] += penalty * data[q]
                    total[last] += penalty


@njit(cache=True, nogil=True)
def _go_dense(values, codes, signs, penalties, lengths, width, hinges, pull, near):  # type: ignore[no-untyped-def]
    """The same, where the products with the rows are made elsewhere."""
    for i in range(len(codes)):
        near[i] = _go_row(
            values[i],
            signs[:, codes[i]],
            penalties[:, codes[i]],
            lengths,
            width,
            hinges,
            pull[:, i],
        )


@njit(cache=True, nogil=True)
def _go_row(values, signs, penalties, lengths, width, hinges, pull):  # type: ignore[no-untyped-def]
    """Losses of a row; whether it is near to any machine, and else what it adds to each."""
    K = len(signs)
    near = False
    for k in range(K):
        if signs[k] == 0.0 or penalties[k] == 0.0:
            continue
        z, change = 1.0 - signs[k] * values[k], -signs[k] * values[K + k]
        for t in range(len(lengths)):
            hinges[k, t] += penalties[k] * max(z + lengths[t] * change, 0.0)
        end = z + lengths[0] * change
        near |= abs(end) < width[k]
        if end > 0.0:
            pull[2 * k + (0 if signs[k] > 0.0 else 1)] = penalties[k]
    if near:  # kept for all machines
        pull[:] = 0.0
    return near


def solve_machines(
    rows: Rows,
    machines: list[MachineRun],
    *,
    tol: float,
    max_passes: int,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Bring every machine to a gap of ``tol`` times its objective, all in the same passes.

    An interruption leaves them at the best point met, with the status "interrupted".
    """
    last = rows.passes + max_passes
    for machine in machines:
        machine.status = "max_iter"
    if rows.near is not None and len(rows.near.machines) < len(machines):
        rows.near = None
    if rows.near_bytes and rows.n_rows > _SMALL:
        try:
            rehearse(rows, machines)
            _near_rounds(rows, machines, tol, last, tell)
        except KeyboardInterrupt:
            for machine in machines:
                if machine.status != "converged":
                    machine.status = "interrupted"
            return
    newton_passes(rows, machines, tol=tol, last=last, tell=tell)


def _near_rounds(
    rows: Rows,
    machines: list[MachineRun],
    tol: float,
    last: int,
    tell: Callable[[str], None] | None,
) -> None:
    """A machine in memory, a pass, and again, as long as that helps."""
    aims = [machine.point for machine in machines]
    believed = [np.inf] * len(machines)
    active = list(range(len(machines)))
    kept, misses = rows.near, 0  # what the machines before these have kept is a start
    while misses <= _MISSES and rows.passes < last:
        if kept is not None:
            for k, inner in _in_memory(rows, machines, active, aims, kept, tol).items():
                if inner.status == "converged":
                    aims[k], believed[k] = inner.best, inner.objective
                    machines[k].planes.append(inner.mixture())
                    machines[k].raise_bound()
                else:  # without the rows far away there is no minimum
                    aims[k], believed[k] = machines[k].best, np.inf
                    machines[k].width = min(3.0 * machines[k].width, _MOST_WIDTH)
                    misses += 1
        chosen = [machines[k] for k in active]
        point = np.array([m.best for m in chosen])
        direction = np.array([aims[k] for k in active]) - point
        width = _widths(rows, chosen, active, aims)
        if width.min() < _TOO_NARROW:
            return
        make = NearAt(
            rows.tasks, rows.units, np.array(active), point, direction, _LENGTHS,
            width,
        )  # fmt: skip
        kept = rows.near = None  # no longer held while others are kept
        kept = rows.near = rows.sums(make)
        astray = [
            _judge(machines[k], aims[k], kept.hinges[t], believed[k], tol)
            for t, k in enumerate(active)
        ]
        if tell is not None:
            worst = max(chosen, key=lambda m: m.gap / m.objective)
            tell(f"pass {rows.passes}, gap {worst.gap / worst.objective:.1e} of the objective")
        active = [k for k in active if machines[k].status == "max_iter"]
        if not active:
            return
        if any(astray):  # look again from the best point
            misses, kept = misses + 1, None
            aims = [machine.best for machine in machines]
            believed = [np.inf] * len(machines)


def _judge(
    machine: MachineRun, aim: np.ndarray, hinges: np.ndarray, believed: float, tol: float
) -> bool:
    """Learn from a pass what the losses are; whether the machine in memory was led astray."""
    points = machine.best + _LENGTHS[:, None] * (aim - machine.best)
    primal = hinges + np.array([machine.penalty(point) for point in points])
    first, before = not np.isfinite(machine.objective), machine.objective
    least = int(primal.argmin())
    if primal[least] < machine.objective:
        machine.objective, machine.best = float(primal[least]), points[least]
    machine.resume(_AFTER_ROUND)
    if machine.gap <= tol * machine.objective:
        machine.status = "converged"
    if not np.isfinite(primal).all():
        machine.status = "stalled"
    crossed = primal[0] - believed  # what the rows that have crossed the margin cost
    if np.isfinite(believed):
        factor = 0.8 if crossed < 0.1 * tol * primal[0] else 1.5
        machine.width = float(np.clip(factor * machine.width, _LEAST_WIDTH, _MOST_WIDTH))
    if first or primal[0] <= before - 0.5 * (before - believed):
        return False
    machine.width = min(2.0 * machine.width, _MOST_WIDTH)
    return True


def _widths(
    rows: Rows, chosen: list[MachineRun], active: list[int], aims: list[np.ndarray]
) -> np.ndarray:
    """Widths that keep no more rows than there is memory for, judged by the sample."""
    width = np.array([m.width for m in chosen])
    signs = rows.tasks.signs[active][:, rows.codes]
    point = np.array([aims[k] for k in active])
    z = 1.0 - signs * (rows.sample @ point[:, :-1].T + point[:, -1]).T
    nearest = np.where(signs != 0.0, np.abs(z) / width[:, None], np.inf).min(axis=0)
    fraction = rows.near_bytes / (rows.row_bytes * rows.n_rows)
    if fraction >= 1.0:
        return width
    return width * min(1.0, float(np.quantile(nearest, 0.9 * fraction)))


def _in_memory(
    rows: Rows,
    machines: list[MachineRun],
    active: list[int],
    aims: list[np.ndarray],
    sums: NearSums,
    tol: float,
) -> dict[int, MachineRun]:
    """The machines of the rows near the margin and the sum of the others."""
    place = [sums.machines.index(k) for k in active]
    tasks = Tasks(rows.tasks.signs[active], rows.tasks.penalties[active])
    near = _Near(sums.joined(), sums.far[place])
    sample, codes, weight = _some(near.parts, rows)
    inside = Rows(
        total=near.total,
        tasks=tasks,
        units=rows.units,
        n_rows=sum(len(part.codes) for part in near.parts),
        row_cost=rows.row_cost,
        sample=sample,
        codes=codes,
        weight=weight,
    )
    inner = [MachineRun(machines[k].ridge, aims[k], machines[k].mu) for k in active]
    newton_passes(inside, inner, tol=0.3 * tol, last=_PASSES_INSIDE)
    for machine in inner:
        if machine.status == "interrupted":
            raise KeyboardInterrupt
    return dict(zip(active, inner, strict=True))


def _some(parts: list[KeptRows], rows: Rows) -> tuple[Any, np.ndarray, float]:
    """Every so many of the rows that were kept, for the length of steps."""
    n = sum(len(part.codes) for part in parts)
    if not n:
        return rows.sample[:0], rows.codes[:0], 1.0
    every = -(-n // _SAMPLED)
    X = [rows.units.apply(part.X[::every]) for part in parts]
    codes = np.concatenate([part.codes[::every] for part in parts])
    whole = sparse.csr_matrix(sparse.vstack(X)) if sparse.issparse(X[0]) else np.concatenate(X)
    return whole, codes, n / len(codes)


class _Near:
    """Passes over what was kept."""

    def __init__(self, parts: list[KeptRows], far: np.ndarray):
        self.parts, self.far = parts, far

    def total(self, make: Any) -> Any:
        """The sums with the rows that are summed up: linear, so without curvature."""
        far = self.far[make.machines]
        total = make.of(np.zeros((0, far.shape[2] - 1)), np.empty(0, dtype=np.intp))
        for part in self.parts:
            total = total.merge(make.of(part.X, part.codes, part.rows))
        lengths = np.broadcast_to(make.lengths, total.hinges.shape)
        points = make.point[:, None] + lengths[:, :, None] * make.direction[:, None]
        linear = far[:, :, -1].sum(axis=1)[:, None]
        linear = linear - np.einsum("ktj,kj->kt", points, far[:, 0] - far[:, 1])
        total.hinges += linear
        if isinstance(total, NearSums):
            total.far += far
        else:
            total.losses += linear
            total.duals += far[:, None]
        return total
