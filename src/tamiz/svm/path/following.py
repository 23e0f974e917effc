r"""Machines that follow a kernel matrix as features leave it, and the linear elimination loop.

In the sign-free variables ``b = y * alpha`` of :mod:`tamiz.qp.problem`, a machine solves

.. math::

    \min_b \; \tfrac12 b'Kb + p'b \quad\text{s.t.}\quad \sum_v b_v = 0,\; l \le b \le u,
    \qquad p = -y

for a classifier. A regression (:class:`~tamiz.svm.path.problem.TubeTask`) is the same problem as
long as no variable changes its sign: each stands on one side of zero, which says what its bounds
and its linear term are, and a variable at zero may change sides before it moves.

An elimination solves it thousands of times for matrices that differ little, so almost always the
same variables are free, and the new optimum is one Newton step away. This is a primal active-set
method: solve for the free variables, stop at the first bound met, let go the pair that violates
optimality most, repeat. A factor ``U'U = K_FF + t 11' + ridge`` of the free block is kept between
problems and follows single changes: a variable enters or leaves, or one feature is taken off the
matrix (``K - xx'``). ``t 11'`` changes nothing where the sum of the step is zero, and makes the
block regular wherever the optimum is unique. Since every step is checked against a gradient
computed afresh, rounding in the factor costs a step more, never accuracy; a factor that has become
useless is made anew.

The matrix is held as such, or, for a linear kernel on fewer features than samples, as the features
themselves: a product with it then costs samples times features, and no square of the number of
samples appears anywhere. In that form ``w = X'b`` is the only place where large terms cancel, and
where features are not scaled, or C is huge, it is computed as if in twice the precision [3]_.

One compiled function is called from Python, :func:`advance`: each further one would have all those
below compiled anew. Nor are arrays assigned to slices there, which takes seconds to compile.

References
----------
.. [1] G. Cauwenberghs, T. Poggio (2001). Incremental and decremental support vector machine
       learning. NIPS 13.
.. [2] P. E. Gill, G. H. Golub, W. Murray, M. A. Saunders (1974). Methods for modifying matrix
       factorizations. Mathematics of Computation 28.
.. [3] T. Ogita, S. M. Rump, S. Oishi (2005). Accurate sum and dot product. SIAM Journal on
       Scientific Computing 26.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from tamiz.kernels import Linear
from tamiz.qp import DenseQ, KernelQ, QMatrix
from tamiz.qp.problem import (
    equality_multiplier,
    gradient_rounding,
    kkt_violation,
    optimality,
)
from tamiz.runtime.compiling import njit
from tamiz.solvers import QPResult, Status, solve
from tamiz.solvers.descent import Descent, slice_steps
from tamiz.solvers.pairs import RUNNING, BoxPoint
from tamiz.svm.multiclass import BinaryFit, Task, describe
from tamiz.svm.path.exact import add_multiple, dot
from tamiz.svm.path.problem import TubeTask

#: What settling a machine reports: at the optimum; on the way; no way on for these steps. And
#: what a run of drops reports besides: matrices to be computed anew.
DONE, MORE, STUCK, REFRESH = range(4)

_EPS = float(np.finfo(np.float64).eps)
_FINEST = 1e-13  # violation, relative to the terms of the gradient, that counts as none
FLOOR = 1e-12  # no tolerance asks for less
_RIDGE = 1e-12
_INDEFINITE = -1e-8
_DRIFT = 1e-12  # rounding, relative to the largest entry, that may pile up in a matrix

#: A factor has room for this many free variables; machines with more go on with pair steps.
MOST_FREE = 600
#: Changes of a machine, per sample, before pair steps take over.
_PATIENCE = 20
#: From so many samples on, every change of the matrix is followed by pair steps first.
LARGE = 800
#: Free blocks from this size on are factorised by LAPACK.
BLOCK = 100
SECONDS = 0.1  # a compiled call lasts about this long, so that Ctrl-C is noticed
NONE, EMPTY = np.empty(0), np.empty((0, 0))


class Bank(NamedTuple):
    """The binary machines of one elimination, one behind the other in flat arrays."""

    samples: np.ndarray  # which samples take part, machine by machine
    first: np.ndarray  # where each machine begins, and the end
    p: np.ndarray
    b: np.ndarray
    g: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    tube: np.ndarray  # half-width of the tube at each sample; zero: no sides
    middle: np.ndarray  # linear term between the two sides
    diag: np.ndarray  # of the kernel matrices
    grams: np.ndarray  # the kernel matrices; empty if tables of features stand for them
    gram_at: np.ndarray  # where each begins; machines on the same samples share one
    tables: np.ndarray  # their samples by features, one row for each feature
    table_at: np.ndarray  # where each begins; -1 for machines that read ``X`` instead
    factors: np.ndarray
    factor_at: np.ndarray
    room: np.ndarray  # free variables that each factor has room for
    free: np.ndarray
    info: np.ndarray  # (machines, 3): free variables, state of the factor, changes of last call
    shift: np.ndarray  # (machines, 1)


class FeatureRows(NamedTuple):
    """The features of a linear kernel, one in each row, and what the machines make of them."""

    X: np.ndarray
    ids: np.ndarray  # of the features; those in play come first
    width: np.ndarray  # (1,): how many are
    w: np.ndarray  # (machines, features): weights of those in play
    value: np.ndarray  # their criteria; empty: they are not asked for


class DropLog(NamedTuple):
    """What a run of drops leaves behind, also if the caller is interrupted."""

    drift: np.ndarray  # (1,): bound on the rounding in the matrices
    dropped: np.ndarray  # (drops, 2): criterion of each, and the total before it
    n_drops: np.ndarray  # (1,)


_MISSING, _FOLLOWED, _FRESH = range(3)  # states of a factor
_NOBODY = -1


class FollowingMachines:
    """Binary machines that are kept at their optimum while their matrix changes.

    Parameters
    ----------
    plan : list of Task or TubeTask
        The binary problems, or the regression.
    C : array of shape (n_samples,)
        Penalty of each sample.
    tol : float
        Largest KKT violation accepted where an optimum exact to rounding is out of reach.
    rank : int, optional
        Of the kernel matrices, if they cannot have full rank: no optimum needs more free variables
        than that and one.

    Attributes
    ----------
    bank : Bank
        The machines. Who changes a matrix brings ``grams`` (or ``tables``) and ``diag`` up to date,
        and marks factors that do not follow (:meth:`forget_factors`).
    rows : FeatureRows
        The features, where they stand for the matrices.
    excess : float
        Largest violation met so far of those that could not be brought down to ``tol``, in units
        of it; zero if all could.
    rounding : array of shape (n_machines,)
        What rounding of kernel values may have changed in the gradient of each machine. Who
        changes a matrix brings it up to date (:meth:`take_rounding`).
    """

    def __init__(
        self,
        plan: Sequence[Task | TubeTask],
        C: np.ndarray,
        tol: float,
        rank: int | None = None,
    ):
        self.plan = plan
        self.tol = tol
        self.excess = 0.0
        self.rounding = np.zeros(len(plan))
        sizes = np.array([len(task.samples) for task in plan], dtype=np.intp)
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        # on the way to an optimum there may be a few more
        room = np.minimum(sizes, MOST_FREE if rank is None else min(rank + 8, MOST_FREE))
        samples = np.concatenate([task.samples for task in plan]).astype(np.intp)
        duals = [task.sign_free(C[task.samples]) for task in plan]
        p, lower, upper, tube = (np.concatenate(parts) for parts in zip(*duals, strict=True))
        self.bank = Bank(
            samples=samples,
            first=first,
            p=p,
            b=np.zeros(len(samples)),
            g=p.copy(),
            lower=lower,
            upper=upper,
            tube=tube,
            middle=p - tube,
            diag=np.zeros(len(samples)),
            grams=np.empty(0),
            gram_at=np.zeros(len(plan), dtype=np.intp),
            tables=np.empty(0),
            table_at=np.full(len(plan), -1, dtype=np.intp),
            factors=np.empty(int(np.sum(room**2))),
            factor_at=np.concatenate([[0], np.cumsum(room**2)[:-1]]).astype(np.intp),
            room=room,
            free=np.zeros(len(samples), dtype=np.intp),
            info=np.zeros((len(plan), 3), dtype=np.intp),
            shift=np.zeros((len(plan), 1)),
        )
        self.rows = FeatureRows(
            EMPTY, np.empty(0, dtype=np.intp), np.zeros(1, dtype=np.intp), EMPTY, NONE
        )
        self.log = DropLog(np.zeros(1), EMPTY, np.zeros(1, dtype=np.intp))

    def part(self, t: int) -> slice:
        """Where machine ``t`` stands in the arrays of the bank."""
        return slice(int(self.bank.first[t]), int(self.bank.first[t + 1]))

    def gram(self, t: int) -> np.ndarray:
        """The kernel matrix of machine ``t``, if matrices are kept."""
        size = int(self.bank.first[t + 1] - self.bank.first[t])
        at = int(self.bank.gram_at[t])
        return self.bank.grams[at : at + size * size].reshape(size, size)

    def forget_factors(self) -> None:
        """Have all factors made anew: the matrices have changed by more than one feature."""
        self.bank.info[:, 1] = _MISSING

    def intercepts(self) -> np.ndarray:
        """The constant of each machine."""
        return -np.array([equality_multiplier(*self._both_sides(t)) for t in range(len(self.plan))])

    def coef(self, t: int, n: int) -> np.ndarray:
        """``y * alpha`` of machine ``t`` over all samples."""
        whole = np.zeros(n)
        part = self.part(t)
        whole[self.bank.samples[part]] = self.bank.b[part]
        return whole

    def take_sides(self) -> None:
        """Have every variable stand on the side of its sign, after others have set ``b``.

        ``g`` must be that of the upper side, or be computed anew.
        """
        bank = self.bank
        size = np.maximum(bank.upper, -bank.lower)
        sided = bank.tube > 0
        down = sided & (bank.b < 0)
        bank.lower[sided] = np.where(down, -size, 0.0)[sided]
        bank.upper[sided] = np.where(down, 0.0, size)[sided]
        bank.p[:] = bank.middle + np.where(down, -bank.tube, bank.tube)
        bank.g[down] -= 2.0 * bank.tube[down]

    def _both_sides(self, t: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Variables of machine ``t``, gradient and bounds; those with sides twice, once for each.

        A variable at zero says with both of them where the constant is.
        """
        bank, part = self.bank, self.part(t)
        b, g, lower, upper = bank.b[part], bank.g[part], bank.lower[part], bank.upper[part]
        tube = bank.tube[part]
        if not tube.any():
            return b, g, lower, upper
        size, none = np.maximum(upper, -lower), np.zeros(len(b))
        above = g + np.where(lower < 0, 2.0 * tube, 0.0)
        return (
            np.concatenate([np.maximum(b, 0.0), np.minimum(b, 0.0)]),
            np.concatenate([above, above - 2.0 * tube]),
            np.concatenate([none, -size]),
            np.concatenate([size, none]),
        )

    def settle(self) -> None:
        """Bring every machine to its optimum."""
        for t in range(len(self.plan)):
            self.settle_one(t)

    def settle_one(self, t: int, attempts: int = 3) -> None:
        """Bring machine ``t`` to its optimum, by other means where single changes lead nowhere."""
        size, width = self.part(t).stop - self.part(t).start, int(self.rows.width[0])
        cost = 1e-6 + 1e-9 * size * (size if width == 0 else width)
        changes = max(20, int(SECONDS / cost))
        pairs, violation = self._begins_with_pairs(t), np.inf
        for attempt in range(attempts):
            if pairs:
                violation = self._violation(t)
            if attempt or pairs:
                self.bank.info[t, 1] = _MISSING
                self._pair_steps(t)
            if pairs and len(self._inside(t)) > self.bank.room[t]:
                violation = self._violation(t)
                if violation <= self.tol:
                    return
                continue
            self.factor_ahead(t)
            spent = 0
            while True:
                code, violation = self.advance((t, t + 1), changes, weigh=False)
                spent += changes
                if code != MORE or spent > _PATIENCE * size + 1000:
                    break
            if code == DONE or violation <= self.tol:
                return
        self.note(violation / max(self.tol, FLOOR))

    def _inside(self, t: int) -> np.ndarray:
        """The free variables of machine ``t``."""
        bank, part = self.bank, self.part(t)
        return np.flatnonzero((bank.b[part] > bank.lower[part]) & (bank.b[part] < bank.upper[part]))

    def _begins_with_pairs(self, t: int) -> bool:
        """Whether pair steps find the free variables sooner than single changes do.

        Each of those costs a pass over the samples, and there are dozens for every feature that
        leaves a large table; and only so many free variables have room in a factor.
        """
        bank, part = self.bank, self.part(t)
        size = part.stop - part.start
        if not len(bank.grams) or bank.tube[part].any():
            return False
        crowded = size > bank.room[t] and len(self._inside(t)) > bank.room[t]
        return size >= LARGE or crowded

    def _violation(self, t: int) -> float:
        """How far machine ``t`` is from its optimum, by a gradient computed afresh."""
        bank, part = self.bank, self.part(t)
        bank.g[part] = bank.p[part] + self.gram(t) @ bank.b[part]
        return kkt_violation(bank.b[part], bank.g[part], bank.lower[part], bank.upper[part])

    def factor_ahead(self, t: int) -> None:
        """Factorise a large free block by LAPACK, on all threads, where there is no factor.

        One that is nearly singular is left to the compiled code, which knows what to do then.
        """
        bank, part, room = self.bank, self.part(t), int(self.bank.room[t])
        if not len(bank.grams) or bank.info[t, 1] != _MISSING or part.stop - part.start < BLOCK:
            return
        free = self._inside(t)
        f = len(free)
        if not BLOCK <= f <= room:
            return
        block = self.gram(t)[free[:, None], free]
        shift = max(float(np.abs(block.diagonal()).mean()), 1e-300)
        block += shift
        factor, failed = lapack.dpotrf(block.T, lower=1, clean=0, overwrite_a=1)
        if failed or not float(factor.diagonal().min()) ** 2 > _RIDGE * shift:
            return
        at = int(bank.factor_at[t])
        bank.factors[at : at + room * room].reshape(room, room)[:f, :f] = factor.T
        bank.free[part.start : part.start + f] = free
        bank.info[t, :2], bank.shift[t] = (f, _FRESH), shift

    def advance(
        self, tasks: tuple[int, int], changes: int, n_drops: int = 0, weigh: bool = True
    ) -> tuple[int, float]:
        """:func:`advance` these machines; without ``weigh`` no criteria are worked out."""
        rows = self.rows if weigh else self.rows._replace(value=NONE)
        return advance(self.bank, rows, self.log, self.tol, changes, np.array(tasks), n_drops)

    def note(self, excess: float) -> None:
        """Take down a violation, in units of the tolerance."""
        if excess > max(1.0, self.excess):
            self.excess = excess

    def take_rounding(self, t: int, entry_error: float) -> None:
        """Take down what errors of kernel values may have changed at the optimum of a machine."""
        part = self.part(t)
        error = gradient_rounding(entry_error, self.bank.b[part], self.bank.diag[part])
        self.rounding[t] = error
        self.note(error / max(self.tol, FLOOR))

    def _pair_steps(self, t: int) -> None:
        """Solve a machine for which single changes lead nowhere: too many, or K is indefinite."""
        bank, part = self.bank, self.part(t)
        size = part.stop - part.start
        if not len(bank.grams):
            kept = self.rows.ids[: int(self.rows.width[0])]
            samples = np.ascontiguousarray(self.rows.X[np.ix_(kept, bank.samples[part])].T)
            self.solve_outside(t, KernelQ(Linear(), samples))
            return
        if bank.tube[part].any():
            self.solve_outside(t, DenseQ(self.gram(t)))
            return
        descent = Descent(self.gram(t), 1)
        point = BoxPoint(bank.b[part], bank.g[part], bank.lower[part], bank.upper[part])
        for _ in range(max(200, 10**7 // slice_steps(size))):
            code, *_ = descent.run(point, self.tol, slice_steps(size))
            if code != RUNNING:
                break

    def solve_outside(self, t: int, K: QMatrix) -> float:
        """Solve a machine whose matrix is not kept; the violation reached, in units of ``tol``."""
        bank, part, task = self.bank, self.part(t), self.plan[t]
        C = np.maximum(bank.upper[part], -bank.lower[part])
        start = task.to_dual(bank.b[part])
        result = solve(task.problem(K, C), start=start, tol=self.tol, polished=True)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        assert result.gradient is not None
        bank.b[part], bank.g[part] = task.from_dual(result.a, result.gradient)
        self.take_sides()
        self.rounding[t] = result.rounding
        return (result.violation or 0.0) / max(self.tol, FLOOR)

    def solution(self, b: np.ndarray, g: np.ndarray, rounding: np.ndarray) -> list[BinaryFit]:
        """The classifiers at dual variables ``b``, gradients ``g``, for ``SVC.from_solution``.

        No machine is solved again for that: they are at their optimum, and it is known how near.
        ``rounding`` is what it was when they were there.
        """
        bank, fits = self.bank, []
        for t, task in enumerate(self.plan):
            assert isinstance(task, Task)
            part = self.part(t)
            lower, upper = bank.lower[part], bank.upper[part]
            violation, multiplier, gap = optimality(b[part], g[part], lower, upper)
            error = float(rounding[t])
            within = max(violation, error) <= self.tol
            result = QPResult(
                a=b[part] * task.signs,
                gradient=g[part] * task.signs,
                objective=float(0.5 * b[part] @ (g[part] - task.signs)),
                gap=gap,
                violation=violation + error,
                multiplier=multiplier,
                iterations=int(bank.info[t, 2]),
                status=Status.CONVERGED if within else Status.STALLED,
                rounding=error,
            )
            fits.append(describe(result, task.signs, np.maximum(upper, -lower)))
        return fits


# ---------------------------------------------------------------------- compiled


class MachineMatrix(NamedTuple):
    """The kernel matrix of one machine."""

    K: np.ndarray  # as such, or empty
    T: np.ndarray  # else the features, in rows
    rows: np.ndarray  # which of these are in play
    at: np.ndarray  # the columns of ``T`` that are samples of the machine; empty: all, in order


@njit(cache=True, nogil=True)
def advance(bank, rows, log, tol, changes, tasks, n_drops):  # type: ignore[no-untyped-def]
    """Settle machines, weigh features, drop the least and settle again, ``n_drops`` times.

    First the machines ``tasks[0]`` to ``tasks[1]`` are settled; no more than that if criteria are
    not asked for. Returns a code and, if one machine was to be settled, the violation it reached.
    Codes other than DONE: matrices must be computed anew, or machines be settled by other means;
    the last drop is then done, but weights and criteria are out of date.
    """
    part, some = np.empty(len(bank.b)), np.empty(len(bank.b))
    code, violation, drops, start, stop = DONE, 0.0, 0, tasks[0], tasks[1]
    while True:  # each function is called in one place, or it would be compiled once for each
        kept = rows.ids[: rows.width[0]]
        for t in range(start, stop):
            settled, violation = _settle(t, bank, rows.X, kept, tol, changes)
            if settled != DONE:
                code = settled
        if code != DONE or len(rows.value) == 0:
            break
        _weigh(bank, rows.X, kept, tol, rows.w, rows.value)
        if drops == n_drops:
            break
        code = _drop_least(bank, rows, log, part, some)
        if code != DONE:
            break
        drops, start, stop = drops + 1, 0, len(bank.room)
    return code, violation


@njit(cache=True, nogil=True)
def _settle(t, bank, X, rows, tol, max_changes):  # type: ignore[no-untyped-def]
    """Move machine ``t`` to its optimum, and make ``g`` its gradient there.

    Returns a code and the violation reached. MORE: ``max_changes`` variables have entered or left;
    the next call goes on from there. STUCK: these steps do not reach ``tol``. What rounding
    permits beyond ``tol`` is tried for, but not insisted upon.
    """
    s, e, r = bank.first[t], bank.first[t + 1], bank.room[t]
    Q = _matrix_of(t, bank, X, rows)
    U = bank.factors[bank.factor_at[t] : bank.factor_at[t] + r * r].reshape((r, r))
    diag = bank.diag[s:e]
    p, b, g = bank.p[s:e], bank.b[s:e], bank.g[s:e]
    lower, upper, tube, middle = bank.lower[s:e], bank.upper[s:e], bank.tube[s:e], bank.middle[s:e]
    free, info, shift = bank.free[s : s + r], bank.info[t], bank.shift[t]
    largest, offset = _largest(diag), max(1.0, _largest(p))
    tol = max(tol, FLOOR)
    _true_up(b, lower, upper, U, free, info)
    changes, before, code, careful = 0, np.inf, MORE, False
    fresh, stale, ended = False, True, False
    while True:
        if stale:
            careful = _gradient(Q, p, b, largest, tol, g)
            fresh, stale = True, False
        violation, size, i, j = _worst_pair(b, g, lower, upper, tube)
        if ended:
            break
        if violation <= min(1e-2 * tol, _FINEST * max(offset, largest * size)):
            code, ended, stale = DONE, fresh, True
        elif changes > max_changes:
            code, ended = MORE, True
        else:
            code, ended = STUCK, True
            entered = _change_sides((i, j), b, g, p, lower, upper, tube, middle)
            for v in (i, j):
                if entered >= 0 and not _is_in(v, free, info[0]):
                    if info[0] == r:
                        entered = -1
                    else:
                        _enter(v, Q, diag, U, free, info, shift)
                        entered += 1
            stretch = False
            if entered > 0:
                changes += entered
                before = np.inf
            elif violation < 0.5 * before:
                before = violation
            elif info[1] == _FRESH:
                stretch = True  # the same variables, and no progress: rounding, or no curvature
            else:
                info[1] = _MISSING
                before = np.inf
            hopeless = entered < 0 or (stretch and violation <= tol)
            if not hopeless and (info[1] != _MISSING or _factor(Q, diag, U, free, info, shift)):
                left = _descend(Q, b, g, lower, upper, U, free, info, stretch)
                fresh, stale = False, careful
                ended = left < 0 or (stretch and left == 0)
                if left > 0:
                    changes += left
                    before = np.inf
        if ended and fresh:
            break
        stale = stale or ended
    info[2] = changes
    if code == STUCK and violation <= tol:
        code = DONE
    return code, violation


@njit(cache=True, nogil=True)
def _matrix_of(t, bank, X, rows):  # type: ignore[no-untyped-def]
    s, m = bank.first[t], bank.first[t + 1] - bank.first[t]
    K, T, at = np.empty((0, 0)), X, bank.samples[:0]
    if len(bank.grams):
        K = bank.grams[bank.gram_at[t] : bank.gram_at[t] + m * m].reshape((m, m))
    elif bank.table_at[t] >= 0:
        T = bank.tables[bank.table_at[t] : bank.table_at[t] + len(X) * m].reshape((len(X), m))
    elif m < X.shape[1]:
        at = bank.samples[s : s + m]
    return MachineMatrix(K, T, rows, at)


@njit(cache=True, nogil=True)
def _gradient(Q, p, b, largest, tol, g):  # type: ignore[no-untyped-def]
    """``g = p + Kb``; whether twice the precision was needed for it."""
    careful = len(Q.K) == 0 and _is_delicate(b, largest, tol)
    for v in range(len(p)):
        g[v] = p[v]
    _add_product(Q, Q.at[:0], b, careful, g)
    return careful


@njit(cache=True, nogil=True)
def _is_delicate(b, largest, tol):  # type: ignore[no-untyped-def]
    """Whether rounding in ``Kb`` comes near the tolerance."""
    size = 0.0
    for v in range(len(b)):
        size += abs(b[v])
    return _EPS * largest * size > 1e-5 * tol


@njit(cache=True, nogil=True)
def _largest(x):  # type: ignore[no-untyped-def]
    largest = 0.0
    for q in range(len(x)):
        largest = max(largest, abs(x[q]))
    return largest


@njit(cache=True, nogil=True)
def _add_product(Q, index, c, careful, g):  # type: ignore[no-untyped-def]
    """``g += K[:, index] @ c``; an empty ``index`` stands for all."""
    whole = len(index) == 0
    if len(Q.K):
        for k in range(len(c)):
            if c[k] != 0.0:
                add_multiple(g, c[k], Q.K[k if whole else index[k]])
        return
    gathered = np.empty(len(Q.at))
    for q in range(len(Q.rows)):
        row = Q.T[Q.rows[q]]
        if len(Q.at):
            for v in range(len(gathered)):
                gathered[v] = row[Q.at[v]]
            row = gathered
        if not whole:
            weight = 0.0
            for k in range(len(index)):
                weight += c[k] * row[index[k]]
        elif careful:
            weight = _careful_dot(row, c)
        else:
            weight = dot(row, c)
        add_multiple(g, weight, row)


@njit(cache=True, nogil=True)
def _careful_dot(x, y):  # type: ignore[no-untyped-def]
    """The product as if computed in twice the precision and then rounded."""
    total, rest = 0.0, 0.0
    for q in range(len(x)):
        high = x[q] * y[q]
        a, b = 134217729.0 * x[q], 134217729.0 * y[q]  # 2^27 + 1 splits a number into halves
        a, b = a - (a - x[q]), b - (b - y[q])
        c, d = x[q] - a, y[q] - b
        low = c * d - (((high - a * b) - c * b) - a * d)
        after = total + high
        back = after - total
        rest += ((total - (after - back)) + (high - back)) + low
        total = after
    return total + rest


@njit(cache=True, nogil=True)
def _entries(Q, v, free, count, out):  # type: ignore[no-untyped-def]
    """``out = K[v, free]``."""
    if len(Q.K):
        row = Q.K[v]
        for q in range(count):
            out[q] = row[free[q]]
        return
    for q in range(count):
        out[q] = 0.0
    for k in range(len(Q.rows)):
        row = Q.T[Q.rows[k]]
        if len(Q.at):
            for q in range(count):
                out[q] += row[Q.at[v]] * row[Q.at[free[q]]]
        else:
            for q in range(count):
                out[q] += row[v] * row[free[q]]


@njit(cache=True, nogil=True)
def _worst_pair(b, g, lower, upper, tube):  # type: ignore[no-untyped-def]
    """The pair that violates optimality most, by how much, and the sum of all ``|b|``.

    A variable at zero that has sides is looked at from both.
    """
    low, high, i, j, size = np.inf, -np.inf, -1, -1, 0.0
    for v in range(len(b)):
        size += abs(b[v])
        if b[v] < upper[v]:
            if g[v] < low:
                low, i = g[v], v
        elif b[v] == 0.0 and tube[v] > 0.0 and g[v] + 2.0 * tube[v] < low:
            low, i = g[v] + 2.0 * tube[v], v
        if b[v] > lower[v]:
            if g[v] > high:
                high, j = g[v], v
        elif b[v] == 0.0 and tube[v] > 0.0 and g[v] - 2.0 * tube[v] > high:
            high, j = g[v] - 2.0 * tube[v], v
    if i < 0 or j < 0:
        return 0.0, size, i, j
    return max(0.0, high - low), size, i, j


@njit(cache=True, nogil=True)
def _change_sides(
    pair: Any, b: Any, g: Any, p: Any, lower: Any, upper: Any, tube: Any, middle: Any
) -> Any:
    """Have variables at zero stand on the side to which they will move; how many changed sides.

    The first of the pair is to grow, the second to shrink.
    """
    changed = 0
    if b[pair[0]] >= upper[pair[0]]:
        v = pair[0]
        lower[v], upper[v] = 0.0, -lower[v]
        p[v] = middle[v] + tube[v]
        g[v] += 2.0 * tube[v]
        changed += 1
    if b[pair[1]] <= lower[pair[1]]:
        v = pair[1]
        lower[v], upper[v] = -upper[v], 0.0
        p[v] = middle[v] - tube[v]
        g[v] -= 2.0 * tube[v]
        changed += 1
    return changed


@njit(cache=True, nogil=True)
def _is_in(v, free, count):  # type: ignore[no-untyped-def]
    q = 0
    while q < count and free[q] != v:
        q += 1
    return q < count


@njit(cache=True, nogil=True)
def _true_up(b, lower, upper, U, free, info):  # type: ignore[no-untyped-def]
    """Make the list of free variables true again after others have moved ``b``."""
    q = np.intp(0)
    while q < info[0]:
        v = free[q]
        if b[v] > lower[v] and b[v] < upper[v]:
            q += 1
        else:
            _leave(q, U, free, info)
    inside = 0
    for v in range(len(b)):
        inside += b[v] > lower[v] and b[v] < upper[v]
    if info[1] != _MISSING and inside == info[0]:
        return
    count = 0
    for v in range(len(b)):
        if b[v] > lower[v] and b[v] < upper[v] and count < len(free):
            free[count] = v
            count += 1
    info[0], info[1] = count, _MISSING


@njit(cache=True, nogil=True)
def _enter(v, Q, diag, U, free, info, shift):  # type: ignore[no-untyped-def]
    """Add a variable to the factor; there must be room."""
    f = info[0]
    free[f] = v
    info[0] = f + 1
    if info[1] == _MISSING:
        return
    column = np.empty(f)
    _entries(Q, v, free, f, column)
    for k in range(f):
        column[k] += shift[0]
    pivot = diag[v] + shift[0]
    for k in range(f):  # U'u = column
        column[k] /= U[k, k]
        for q in range(k + 1, f):
            column[q] -= column[k] * U[k, q]
        pivot -= column[k] * column[k]
        U[k, f] = column[k]
    if pivot < _INDEFINITE * shift[0]:
        info[1] = _MISSING  # let the factorisation decide
    U[f, f] = np.sqrt(max(pivot, _RIDGE * shift[0]))


@njit(cache=True, nogil=True)
def _leave(q, U, free, info):  # type: ignore[no-untyped-def]
    """Take the variable at place ``q`` out of the factor."""
    f = info[0]
    for k in range(q, f - 1):
        free[k] = free[k + 1]
    info[0] = f - 1
    if info[1] == _MISSING:
        return
    for k in range(f):
        for l in range(max(q, k - 1), f - 1):
            U[k, l] = U[k, l + 1]
    for k in range(q, f - 1):  # rows k and k + 1 are rotated until the second begins one later
        size = np.hypot(U[k, k], U[k + 1, k])
        cos, sin = U[k, k] / size, U[k + 1, k] / size
        one, two = U[k], U[k + 1]
        for l in range(k, f - 1):
            one[l], two[l] = cos * one[l] + sin * two[l], cos * two[l] - sin * one[l]
        if k + 1 < f - 1 and two[k + 1] < 0.0:
            for l in range(k + 1, f - 1):
                two[l] = -two[l]


@njit(cache=True, nogil=True)
def _factor(Q, diag, U, free, info, shift):  # type: ignore[no-untyped-def]
    """Factorise the block of the free variables; false if it is indefinite."""
    f = info[0]
    total = 0.0
    for q in range(f):
        total += abs(diag[free[q]])
    shift[0] = max(total / max(f, 1), 1e-300)
    for q in range(f):
        row = U[q]
        _entries(Q, free[q], free[q:f], f - q, row[q:f])
        for l in range(q, f):
            row[l] += shift[0]
        k = 0
        while k + 4 <= q:
            _take_four(row[q:f], U[k, q:f], U[k + 1, q:f], U[k + 2, q:f], U[k + 3, q:f])
            k += 4
        while k < q:
            add_multiple(row[q:f], -U[k, q], U[k, q:f])
            k += 1
        if row[q] < _INDEFINITE * shift[0] * f:
            return False
        pivot = np.sqrt(max(row[q], _RIDGE * shift[0]))
        for l in range(q, f):
            row[l] /= pivot
        row[q] = pivot
    info[1] = _FRESH
    return True


@njit(cache=True, nogil=True)
def _take_four(row, r0, r1, r2, r3):  # type: ignore[no-untyped-def]
    """Take four rows of a factor off, each times its first entry."""
    c0, c1, c2, c3 = r0[0], r1[0], r2[0], r3[0]
    for l in range(len(row)):
        row[l] -= (c0 * r0[l] + c1 * r1[l]) + (c2 * r2[l] + c3 * r3[l])


@njit(cache=True, nogil=True)
def _downdate(x, U, info):  # type: ignore[no-untyped-def]
    """Follow ``K - xx'``; ``x`` holds the entries of the free variables and is used up."""
    if info[1] == _MISSING:
        return
    f = info[0]
    info[1] = _FOLLOWED
    for k in range(f):
        row = U[k]
        ratio = x[k] / row[k]
        rest = 1.0 - ratio * ratio
        if rest < 1e-6:  # nearly all of what was left: too much would cancel
            info[1] = _MISSING
            return
        cos = np.sqrt(rest)
        row[k] *= cos
        for l in range(k + 1, f):
            row[l] = (row[l] - ratio * x[l]) / cos
            x[l] = cos * x[l] - ratio * row[l]


@njit(cache=True, nogil=True)
def _descend(Q, b, g, lower, upper, U, free, info, stretch):  # type: ignore[no-untyped-def]
    """Newton steps until one ends inside the box; the number of variables that left.

    Negative if the factor gives no descent. Along a direction without curvature a step is only as
    long as the ridge of the factor makes it; ``stretch`` has such a step go on to the box's end.
    """
    left = 0
    step, ones = np.empty(info[0]), np.empty(info[0])
    while info[0] >= 2:
        f = info[0]
        for q in range(f):
            step[q] = -g[free[q]]
            ones[q] = 1.0
        _solve(U, f, step)
        _solve(U, f, ones)
        above, below = 0.0, 0.0
        for q in range(f):
            above += step[q]
            below += ones[q]
        level = above / below
        slope, size, first, length = 0.0, 0.0, _NOBODY, 1.0
        for q in range(f):
            v = free[q]
            size += abs(g[v]) * (abs(step[q]) + abs(level * ones[q]))
            step[q] -= level * ones[q]
            slope += g[v] * step[q]
            room = upper[v] - b[v] if step[q] > 0.0 else b[v] - lower[v]
            if abs(step[q]) * length > room:
                length, first = room / abs(step[q]), q
        if not slope <= 1e-12 * size:
            return -1
        if slope >= 0.0:  # nothing but rounding
            break
        moving: bool = True
        while moving:
            for q in range(f):
                v = free[q]
                to = min(max(b[v] + length * step[q], lower[v]), upper[v])
                if q == first:
                    to = upper[v] if step[q] > 0.0 else lower[v]
                step[q], b[v] = to - b[v], to
            _add_product(Q, free[:f], step[:f], False, g)
            moving = bool(stretch and first < 0)
            if moving:
                stretch = False
                length, first = _further(b, g, lower, upper, free[:f], step[:f], slope)
                moving = first >= 0
        if first < 0:
            break
        _leave(first, U, free, info)
        left += 1
    return left


@njit(cache=True, nogil=True)
def _further(b, g, lower, upper, free, step, before):  # type: ignore[no-untyped-def]
    """How often a step can be repeated before a bound is met, and which; -1: it should not.

    It should if more than half of its slope ``before`` is left.
    """
    slope, first, length = 0.0, _NOBODY, np.inf
    for q in range(len(free)):
        v = free[q]
        slope += g[v] * step[q]
        if step[q] != 0.0:
            room = upper[v] - b[v] if step[q] > 0.0 else b[v] - lower[v]
            if room < length * abs(step[q]):
                length, first = room / abs(step[q]), q
    return length, (first if slope < 0.5 * before else _NOBODY)


@njit(cache=True, nogil=True)
def _solve(U, f, x):  # type: ignore[no-untyped-def]
    """``x = (U'U)^-1 x``, in place."""
    for k in range(f):
        x[k] /= U[k, k]
        add_multiple(x[k + 1 : f], -x[k], U[k, k + 1 : f])
    for k in range(f - 1, -1, -1):
        x[k] = (x[k] - dot(U[k, k + 1 : f], x[k + 1 : f])) / U[k, k]


# ---------------------------------------------------------------------- linear elimination


@njit(cache=True, nogil=True)
def _drop_least(bank, rows, log, part, some):  # type: ignore[no-untyped-def]
    """Take the feature of least criterion off matrices and factors.

    REFRESH: rounding has piled up in the matrices.
    """
    ids, width, value = rows.ids, rows.width, rows.value
    place, total = 0, value[0]
    for q in range(1, width[0]):
        total += value[q]
        if value[q] < value[place] or (value[q] == value[place] and ids[q] > ids[place]):
            place = q
    last = width[0] - 1
    number = log.n_drops[0]
    log.dropped[number, 0], log.dropped[number, 1] = value[place], total
    gone = ids[place]
    x = rows.X[gone]
    for q in range(place, last):  # in order, so that they are read in order
        ids[q], value[q] = ids[q + 1], value[q + 1]
    ids[last] = gone
    width[0] = last
    log.n_drops[0] = number + 1
    most, least = 0.0, np.inf
    for t in range(len(bank.room)):
        s, e = bank.first[t], bank.first[t + 1]
        m, r = e - s, bank.room[t]
        before, after = 0.0, 0.0
        for i in range(m):
            part[i] = x[bank.samples[s + i]]
            before = max(before, bank.diag[s + i])
            bank.diag[s + i] -= part[i] * part[i]
            after = max(after, bank.diag[s + i])
        if len(bank.grams) and (t == 0 or bank.gram_at[t] != bank.gram_at[t - 1]):
            for i in range(m):
                start = bank.gram_at[t] + i * m
                add_multiple(bank.grams[start : start + m], -part[i], part[:m])
        most, least = max(most, before), min(least, after)
        for q in range(bank.info[t, 0]):
            some[q] = part[bank.free[s + q]]
        U = bank.factors[bank.factor_at[t] : bank.factor_at[t] + r * r].reshape((r, r))
        _downdate(some, U, bank.info[t])
    log.drift[0] += _EPS * most
    return REFRESH if log.drift[0] > _DRIFT * least else DONE


@njit(cache=True, nogil=True)
def _weigh(bank, X, rows, tol, w, value):  # type: ignore[no-untyped-def]
    """``w_t = sum of b_i x_i`` for each machine t, and the sums of the squares over machines.

    Every feature is summed in the same order, so that equal features get equal weights to the
    last bit.
    """
    coef = np.zeros(X.shape[1])
    for q in range(len(rows)):
        value[q] = 0.0
    for t in range(len(bank.room)):
        s, e = bank.first[t], bank.first[t + 1]
        for i in range(len(coef)):
            coef[i] = 0.0
        for v in range(s, e):
            coef[bank.samples[v]] = bank.b[v]
        careful = _is_delicate(bank.b[s:e], _largest(bank.diag[s:e]), tol)
        for q in range(len(rows)):
            x = X[rows[q]]
            w[t, q] = _careful_dot(x, coef) if careful else dot(x, coef)
            value[q] += w[t, q] * w[t, q]
