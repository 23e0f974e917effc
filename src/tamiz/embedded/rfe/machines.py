r"""The machines of an elimination: what is asked of them, on linear kernels and on any.

*Linear.* Leaving feature ``j`` out with ``alpha`` fixed changes ``||w||^2`` by ``w_j^2``, a group
by the sum of its squares. Taking ``x_j`` off the kernel matrix is a change of rank one, which the
factors of the machines follow. On sparse samples too wide to be made dense, every machine is solved
again from its last point.

*Any kernel, and the radius-margin bound.* With ``c = y * alpha`` of a trained classifier, or ``c``
the difference of the two dual variables of each sample of a regression, and ``beta`` of the
smallest ball around the samples,

.. math::

    W^2 = \sum_{il} c_i c_l K_{il}, \qquad
    R^2 = \sum_i \beta_i K_{ii} - \sum_{il} \beta_i \beta_l K_{il}.

Zero order: ``|J - J_(-j)|`` for ``J = W^2`` or ``R^2 W^2``, where ``(-j)`` leaves the features of a
unit out of ``K`` and keeps ``c`` and ``beta``. First order: ``|dJ / d sigma_j|`` at ``sigma = 1``
for ``K(sigma * x, sigma * x')``; the derivatives of the trained quantities follow from those of
``K`` alone, since ``alpha`` and ``beta`` are optimal: ``R^2`` moves with the expression above, and
``W^2``, a minimum and not a maximum, against it. That is exact for a hard margin.

*Shapley values.* The mean over training samples of ``|sum_j phi_j|``, ``j`` in the unit, where
``phi_j`` is what feature ``j`` adds to the decision value (:mod:`tamiz.kernels.shapley`); a feature
that is not known has the mean over these samples of its factor, or term, in each kernel value.

Several machines: the sum of their criteria.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from tamiz.gpu import Lane
from tamiz.kernels import Kernel, Linear
from tamiz.kernels.features.base import FeatureGram
from tamiz.kernels.features.card import track_on_card
from tamiz.kernels.shapley import KernelMean, expansion_shapley
from tamiz.qp import DenseQ, KernelQ, QMatrix, svdd_problem
from tamiz.qp.matrices import take_block
from tamiz.solvers import Status, solve
from tamiz.svm.multiclass import Task
from tamiz.svm.novelty import squared_spread
from tamiz.svm.path.following import (
    DONE,
    FLOOR,
    NONE,
    REFRESH,
    SECONDS,
    FeatureRows,
    FollowingMachines,
)
from tamiz.svm.path.problem import TubeTask
from tamiz.validation import Units, fits_memory, require_memory

#: Matrices beyond this many bytes are never kept: the features then stand for those of a linear
#: kernel, and the support vectors' for others.
MOST_BYTES = 2**30

#: Samples whose Shapley values are averaged, evenly among all.
MOST_EXPLAINED = 200

#: Machines on part of the samples have tables of their own up to this many bytes, which are quicker
#: to read; beyond, they pick their samples out of the common one.
MOST_TABLE_BYTES = 2**26


class UnitsInPlay(ABC):
    """What an elimination asks of its machines, in memory or on a stream.

    Parameters
    ----------
    units : Units
        What can be dropped.
    """

    def __init__(self, units: Units):
        self.units = units
        self.alive = np.ones(len(units.members), dtype=bool)
        self._latest: np.ndarray | None = None

    @abstractmethod
    def values(self) -> tuple[np.ndarray, float]:
        """The criterion of each unit (NaN for those gone), and the objective as it stands."""

    @abstractmethod
    def drop(self, gone: np.ndarray) -> None:
        """Take units off and bring the machines to their new optimum."""

    def drop_singles(self, limit: int) -> bool:
        """Drop up to ``limit`` units one by one; :meth:`dropped` says which.

        False: nothing faster than single calls of :meth:`values` and :meth:`drop` is known.
        """
        return False

    def dropped(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What :meth:`drop_singles` dropped: units, their criteria, and the objective before each.

        Reported once, and true also after an interruption.
        """
        return np.empty(0, dtype=np.intp), NONE, NONE

    def least(self, count: int) -> tuple[np.ndarray, np.ndarray, float]:
        """The ``count`` units of least criterion, ascending, their criteria, and the objective."""
        self._latest, objective = self.values()
        alive = np.flatnonzero(self.alive)
        return *least_first(alive, self._latest[alive], count), objective

    def latest(self) -> np.ndarray | None:
        """The last criteria known; units gone have any."""
        return self._latest


class Machines(FollowingMachines, UnitsInPlay):
    """One machine per task, kept at its optimum while features leave.

    Parameters
    ----------
    plan, C, tol, rank
        As in :class:`~tamiz.svm.path.following.FollowingMachines`.
    units : Units
        What can be dropped.
    """

    def __init__(
        self,
        plan: Sequence[Task | TubeTask],
        C: np.ndarray,
        tol: float,
        units: Units,
        rank: int | None = None,
    ):
        FollowingMachines.__init__(self, plan, C, tol, rank)
        UnitsInPlay.__init__(self, units)

    @abstractmethod
    def decisions(self, Z: Any) -> np.ndarray:
        """Decision values of every machine at new samples, (samples, machines)."""

    def start(self, gone: np.ndarray, b: np.ndarray | None) -> None:
        """Begin without the units ``gone``, from the dual variables ``b``."""
        if b is not None:
            self.bank.b[:] = b
            self.take_sides()
        self.drop(gone)

    def features(self) -> np.ndarray:
        """Indices of the features in play, ascending."""
        parts = [self.units.members[k] for k in np.flatnonzero(self.alive)]
        return np.sort(np.concatenate([*parts, self.units.fixed])).astype(np.intp)


def least_first(units: np.ndarray, values: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` units of least value, ascending, with it; of equal ones the last goes first."""
    if count < len(units):
        few = values <= np.partition(values, count - 1)[count - 1]
        units, values = units[few], values[few]
    order = np.argsort(values)
    ascending = values[order]
    if (ascending[1:] == ascending[:-1]).any():
        order = np.lexsort((-units, values))
    order = order[:count]
    return units[order], values[order]


# ---------------------------------------------------------------------- linear kernel


class LinearMachines(Machines):
    """Machines on dense samples.

    With more features than samples the kernel matrices are kept, else the features alone, from
    which a product is quicker and, where numbers are large, more exact.
    """

    def __init__(
        self,
        X: np.ndarray,
        plan: Sequence[Task | TubeTask],
        C: np.ndarray,
        tol: float,
        units: Units,
        factor: float,
    ):
        n, p = X.shape
        sizes = np.array([len(task.samples) for task in plan])
        shared = bool((sizes == n).all())
        squares = sizes[:1] ** 2 if shared else sizes**2
        wide = p > int(sizes.max()) and 8 * int(squares.sum()) <= MOST_BYTES
        super().__init__(plan, C, tol, units, rank=None if wide else p)
        self.factor = factor  # of w_j^2: 1 for the change, 2 for the gradient
        self.rows = FeatureRows(
            X=np.array(X.T, order="C"),
            ids=np.arange(p),
            width=np.array([p]),
            w=np.zeros((len(plan), p)),
            value=np.zeros(p),
        )
        self.log = self.log._replace(dropped=np.zeros((len(units.members), 2)))
        self._sizes = sizes
        self._distinct = [0] if shared else list(range(len(plan)))
        if wide:
            at = np.concatenate([[0], np.cumsum(squares)[:-1]]).astype(np.intp)
            self.bank = self.bank._replace(
                grams=np.empty(int(squares.sum())),
                gram_at=np.zeros(len(plan), dtype=np.intp) if shared else at,
            )
        else:
            self._use_tables()
        self._reported = 0
        self._started = False
        self._entry_error = 0.0

    def start(self, gone: np.ndarray, b: np.ndarray | None) -> None:
        self.alive[gone] = False
        self._compact(gone)
        if b is not None:
            self.bank.b[:] = b
            self.take_sides()
        self._refresh()
        self._settle_all()
        self._started = True

    def values(self) -> tuple[np.ndarray, float]:
        by_feature = np.full(self.units.n_features, np.nan)
        ids, value = self._in_play()
        by_feature[ids] = value
        values = by_feature if self.units.single else self.units.totals(np.nan_to_num(by_feature))
        values = np.where(self.alive, self.factor * values, np.nan)
        return values, float(value.sum())

    def drop(self, gone: np.ndarray) -> None:
        self.alive[gone] = False
        out = self._compact(gone)
        bank = self.bank
        if len(bank.grams) and len(out) < self.rows.width[0] and not self._narrow():
            before = float(bank.diag.max(initial=0.0))
            for t in self._distinct:
                part = self._samples(t, out)
                self.gram(t)[:] -= part.T @ part
            self._read_diag()
            self.log.drift[0] += np.finfo(np.float64).eps * before * min(len(out), 8)
            self.forget_factors()
            if self.log.drift[0] > 1e-12 * float(bank.diag.max(initial=0.0)):
                self._refresh()
        else:
            self._refresh()
        self._settle_all()

    def drop_singles(self, limit: int) -> bool:
        if not self.units.single:
            return False
        width, n = int(self.rows.width[0]), self.rows.X.shape[1]
        per_drop = 5e-6 + 1e-9 * (len(self.bank.grams) + (len(self.bank.b) + 2 * n) * width)
        count = min(limit, max(1, int(SECONDS / per_drop)))
        if len(self.bank.grams):
            count = min(count, max(1, width - int(self._sizes.min()) // 2))
        changes = 20 * n + 1000 if per_drop < 1e-4 else max(20, int(SECONDS / per_drop))
        code, _ = self.advance((0, 0), changes, count)
        if code == REFRESH or self._narrow():
            self._refresh()
        if code != DONE:
            self._settle_all()
        self._take_roundings()
        return True

    def dropped(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        start, stop = self._reported, int(self.log.n_drops[0])
        width = int(self.rows.width[0])
        gone = self.rows.ids[width : width + stop - start][::-1].copy()
        self.alive[gone] = False
        self._reported = stop
        criterion, total = self.log.dropped[start:stop].T
        return gone, self.factor * criterion, total

    def least(self, count: int) -> tuple[np.ndarray, np.ndarray, float]:
        if not self.units.single:
            return super().least(count)
        ids, value = self._in_play()
        units, values = least_first(ids, value, count)
        return units, self.factor * values, float(value.sum())

    def latest(self) -> np.ndarray | None:
        return self.values()[0] if self._started else None

    def decisions(self, Z: Any) -> np.ndarray:
        ids, _ = self._in_play()
        return Z[:, ids] @ self.rows.w[:, : len(ids)].T + self.intercepts()

    # ------------------------------------------------------------------ helpers

    def _in_play(self) -> tuple[np.ndarray, np.ndarray]:
        """The features in play, and their criteria."""
        width = int(self.rows.width[0])
        return self.rows.ids[:width], self.rows.value[:width]

    def _samples(self, t: int, table: np.ndarray) -> np.ndarray:
        """The samples of machine ``t``, features in rows."""
        samples = self.plan[t].samples
        return table if len(samples) == table.shape[1] else table[:, samples]

    def _compact(self, gone: np.ndarray) -> np.ndarray:
        """Put the features of units that leave behind those in play; returns their rows."""
        rows, members = self.rows, self.units.members
        if not len(gone):
            return np.empty((0, rows.X.shape[1]))
        features = gone if self.units.single else np.concatenate([members[k] for k in gone])
        leaving = np.zeros(self.units.n_features, dtype=bool)
        leaving[features] = True
        width = int(rows.width[0])
        ids = rows.ids[:width].copy()
        stay = np.flatnonzero(~leaving[ids])
        left = len(stay)
        rows.ids[:left], rows.ids[left:width] = ids[stay], features
        rows.value[:left] = rows.value[stay]  # out of date until the machines settle
        rows.width[0] = left
        return rows.X[features]

    def _narrow(self) -> bool:
        """Whether there are so few features left that kernel matrices only cost accuracy."""
        return len(self.bank.grams) > 0 and 2 * int(self.rows.width[0]) <= int(self._sizes.min())

    def _use_tables(self) -> None:
        """From now on let the features stand for the kernel matrices."""
        at = np.full(len(self.plan), -1, dtype=np.intp)
        length, total = len(self.rows.X), int(self._sizes.sum())
        tables = np.empty(0)
        if len(self._distinct) == len(self.plan) > 1 and 8 * length * total <= MOST_TABLE_BYTES:
            at = length * np.concatenate([[0], np.cumsum(self._sizes)[:-1]])
            tables = np.concatenate([self.rows.X[:, task.samples].ravel() for task in self.plan])
        self.bank = self.bank._replace(
            grams=np.empty(0), tables=tables, table_at=at.astype(np.intp)
        )

    def _refresh(self) -> None:
        """Compute the matrices anew from the features in play."""
        if self._narrow():
            self._use_tables()
        ids, X = self._in_play()[0], self.rows.X
        active = X if len(ids) == len(X) else X[ids]
        if len(self.bank.grams):
            for t in self._distinct:
                part = self._samples(t, active)
                np.matmul(part.T, part, out=self.gram(t))
            self._read_diag()
        else:
            self.bank.diag[:] = np.einsum("ij,ij->j", active, active)[self.bank.samples]
        if len(self.bank.grams):
            self._entry_error = KernelQ(Linear(), active.T).rounding_error
        self.forget_factors()
        self.log.drift[0] = 0.0

    def _read_diag(self) -> None:
        for t in range(len(self.plan)):
            self.bank.diag[self.part(t)] = self.gram(t).diagonal()

    def _settle_all(self) -> None:
        width, size = int(self.rows.width[0]), int(self._sizes.max())
        changes = max(20, int(SECONDS / (1e-6 + 1e-9 * size * min(width, size))))
        code, _ = self.advance((0, len(self.plan)), changes)
        if code != DONE:
            self.settle()
            self.advance((0, 0), 0)
        self._take_roundings()

    def _take_roundings(self) -> None:
        """Take down what rounding may have changed at the optima reached."""
        error = 0.0  # products with a table of features are as if in twice the precision
        if len(self.bank.grams):
            error = self._entry_error + float(self.log.drift[0])
        for t in range(len(self.plan)):
            self.take_rounding(t, error)


class SparseMachines(Machines):
    """Linear machines on the columns in play of a CSR matrix, each solved from the last point."""

    def __init__(
        self,
        X: Any,
        plan: Sequence[Task | TubeTask],
        C: np.ndarray,
        tol: float,
        units: Units,
        factor: float,
    ):
        super().__init__(plan, C, tol, units)
        self.X = X
        self.factor = factor

    def drop(self, gone: np.ndarray) -> None:
        self.alive[gone] = False
        self._features = self.features()
        self._columns = self.X[:, self._features]
        for t, task in enumerate(self.plan):
            self.note(self.solve_outside(t, KernelQ(Linear(), self._columns[task.samples])))
        n = self.X.shape[0]
        coef = np.stack([self.coef(t, n) for t in range(len(self.plan))])
        self._w = np.asarray((self._columns.T @ coef.T).T)

    def values(self) -> tuple[np.ndarray, float]:
        squares = np.zeros(self.units.n_features)
        squares[self._features] = np.square(self._w).sum(axis=0)
        values = self.factor * self.units.totals(squares)
        return np.where(self.alive, values, np.nan), float(squares.sum())

    def decisions(self, Z: Any) -> np.ndarray:
        return np.asarray(Z[:, self._features] @ self._w.T) + self.intercepts()


# ---------------------------------------------------------------------- any kernel


class KernelMachines(Machines):
    """Machines on dense samples with a kernel that knows features.

    The kernel matrix of all samples is kept if it fits, else only that of the support vectors,
    from which the criteria follow, is made.
    """

    def __init__(
        self,
        X: Any,
        plan: Sequence[Task | TubeTask],
        C: np.ndarray,
        tol: float,
        units: Units,
        kernel: Kernel,
        criterion: str,
        order: str,
        lane: Lane | None = None,
    ):
        super().__init__(plan, C, tol, units)
        self.X = X
        self.kernel = kernel
        self.lane = lane
        self.criterion = criterion
        self.order = order
        self.scale = np.ones(units.n_features)
        self.tracker: FeatureGram | None = None
        if 8 * X.shape[0] ** 2 <= MOST_BYTES and fits_memory(16 * X.shape[0] ** 2):
            self.tracker = self._track(X, None)
        self._whole = all(len(task.samples) == X.shape[0] for task in plan)
        self._beta: list[np.ndarray | None] = [None] * len(plan)

    def drop(self, gone: np.ndarray) -> None:
        self.alive[gone] = False
        for k in gone:
            for j in self.units.members[k]:
                self.scale[j] = 0.0
                if self.tracker is not None:
                    self.tracker.remove(int(j))
        if self.tracker is None:
            for t in range(len(self.plan)):
                self.note(self.solve_outside(t, self._matrix(t)))
            return
        K, entry_error = self.tracker.K, self.tracker.entry_error
        self.bank.diag[:] = K.diagonal()[self.bank.samples]
        self.forget_factors()
        at = np.zeros(len(self.plan), dtype=np.intp)
        for t, task in enumerate(self.plan):
            # one machine's part at a time: all of them would be twice the whole
            part = K if self._whole else take_block(K, task.samples)
            self.bank = self.bank._replace(grams=part.ravel(), gram_at=at)
            self.settle_one(t)
            self.take_rounding(t, entry_error)

    def decisions(self, Z: Any) -> np.ndarray:
        n = self.X.shape[0]
        coef = np.stack([self.coef(t, n) for t in range(len(self.plan))], axis=1)
        rows = np.flatnonzero(coef.any(axis=1))
        if not len(rows):
            return np.tile(self.intercepts(), (Z.shape[0], 1))
        prepared = self.kernel.prepare(self.X[rows] * self.scale)
        values = prepared.decision(Z * self.scale, np.ascontiguousarray(coef[rows]))
        return np.asarray(values, dtype=np.float64) + self.intercepts()

    # ------------------------------------------------------------------ criteria

    def values(self) -> tuple[np.ndarray, float]:
        total = np.zeros(len(self.units.members))
        objective = 0.0
        for t in range(len(self.plan)):
            coef = self.coef(t, self.X.shape[0])
            beta = self._ball(t) if self.criterion == "radius_margin" else None
            if self.order == "zero":
                values, now = self._changes(coef, beta)
            else:
                values, now = self._gradients(coef, beta)
            total += np.abs(values)
            objective += now
        return np.where(self.alive, total, np.nan), objective

    def _changes(self, coef: np.ndarray, beta: np.ndarray | None) -> tuple[np.ndarray, float]:
        tracker, rows = self._tracked(coef, beta)
        c = coef[rows]
        square, without = self._forms(tracker, c, None)
        if beta is None:
            return square - without, square
        radius, radius_without = self._forms(tracker, beta[rows], beta[rows])
        return radius * square - radius_without * without, radius * square

    def _forms(
        self, tracker: FeatureGram, c: np.ndarray, diag_weight: np.ndarray | None
    ) -> tuple[float, np.ndarray]:
        """``c'Kc``, or ``w' diag K - c'Kc``, as it is and with each unit left out."""
        sign = 1.0 if diag_weight is None else -1.0
        now = sign * float(c @ (tracker.K @ c))
        if diag_weight is not None:
            now += float(diag_weight @ tracker.K.diagonal())
        without = np.zeros(len(self.units.members))
        alive = np.flatnonzero(self.alive)
        single = alive[self.units.sizes[alive] == 1] if len(alive) else alive
        features = np.array([self.units.members[k][0] for k in single], dtype=np.intp)
        if len(single):
            without[single] = sign * tracker.leave_one_out_norms(c)[features]
            if diag_weight is not None:
                without[single] += tracker.leave_one_out_diag(diag_weight)[features]
        for k in alive[self.units.sizes[alive] > 1] if len(alive) else alive:
            without[k] = self._without(tracker, c, diag_weight, sign, self.units.members[k])
        return now, without

    def _without(
        self,
        tracker: FeatureGram,
        c: np.ndarray,
        diag_weight: np.ndarray | None,
        sign: float,
        members: np.ndarray,
    ) -> float:
        """The form with several features left out at once."""
        support = np.flatnonzero(c if diag_weight is None else (c != 0) | (diag_weight != 0))
        scaled = tracker.X[support] * self.scale
        scaled[:, members] = 0.0
        K = self.kernel(scaled)
        value = sign * float(c[support] @ (K @ c[support]))
        if diag_weight is not None:
            value += float(diag_weight[support] @ K.diagonal())
        return value

    def _gradients(self, coef: np.ndarray, beta: np.ndarray | None) -> tuple[np.ndarray, float]:
        tracker, rows = self._tracked(coef, beta)
        c = coef[rows]
        square = float(c @ (tracker.K @ c))
        slope = tracker.gradient(c)
        if beta is None:
            return self.units.totals(slope), square
        d = beta[rows]
        radius = float(d @ tracker.K.diagonal() - d @ (tracker.K @ d))
        radius_slope = tracker.diag_gradient(d) - tracker.gradient(d)
        total = square * radius_slope - radius * slope
        return self.units.totals(total), radius * square

    def _tracked(
        self, coef: np.ndarray, beta: np.ndarray | None
    ) -> tuple[FeatureGram, np.ndarray | slice]:
        """A tracker of at least the samples with a coefficient, and which samples it holds."""
        if self.tracker is not None:
            return self.tracker, slice(None)
        used = coef != 0 if beta is None else (coef != 0) | (beta != 0)
        rows = np.flatnonzero(used)
        require_memory(
            16 * len(rows) ** 2,
            f"SVMRFE: kernel={self.kernel!r} has {len(rows):,} support vectors, whose matrix is "
            "needed",
            "Use fewer samples, kernel='linear', or another C with fewer support vectors.",
        )
        return self._track(self.X[rows], self.scale), rows

    def _track(self, X: np.ndarray, scale: np.ndarray | None) -> FeatureGram:
        """A matrix that follows the features, on the card if there is one."""
        if self.lane is None:
            return self.kernel.track(X, scale)
        return track_on_card(self.lane, self.kernel, X, scale)

    def _ball(self, t: int) -> np.ndarray:
        """``beta`` of the smallest ball around the samples of machine ``t``, over all samples."""
        matrix = self._matrix(t)
        tol = 1e-4 * self.tol * squared_spread(matrix)
        result = solve(svdd_problem(matrix, np.inf), start=self._beta[t], tol=tol, polished=True)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self.note((result.violation or 0.0) / (1e4 * tol + FLOOR))
        self._beta[t] = result.a
        whole = np.zeros(self.X.shape[0])
        whole[self.plan[t].samples] = result.a
        return whole

    def _matrix(self, t: int) -> QMatrix:
        samples = self.plan[t].samples
        if self.tracker is None:
            return KernelQ(self.kernel, self.X[samples] * self.scale)
        K = self.tracker.K
        return DenseQ(K if len(samples) == len(K) else take_block(K, samples))


class ExplainedMachines(KernelMachines):
    """Machines whose features are judged by their mean absolute Shapley values."""

    def values(self) -> tuple[np.ndarray, float]:
        features, n = self.features(), self.X.shape[0]
        X = np.ascontiguousarray(self.X[:, features])
        kernel = self.kernel.restrict(features, self.units.n_features)
        some = np.unique(np.linspace(0, n - 1, min(n, MOST_EXPLAINED)).astype(np.intp))
        coef = np.stack([self.coef(t, n) for t in range(len(self.plan))])
        rows = np.flatnonzero(coef.any(axis=0))
        found = expansion_shapley(kernel, X[some], X[rows], coef[:, rows], KernelMean(X))
        position = np.full(self.units.n_features, -1, dtype=np.intp)
        position[features] = np.arange(len(features))
        total = np.full(len(self.units.members), np.nan)
        for k in np.flatnonzero(self.alive):
            together = found.values[:, position[self.units.members[k]]].sum(axis=1)
            total[k] = np.abs(together).mean(axis=0).sum()
        tracker, held = self._tracked(np.asarray(coef.any(axis=0)), None)
        objective = sum(float(c[held] @ (tracker.K @ c[held])) for c in coef)
        return total, objective
