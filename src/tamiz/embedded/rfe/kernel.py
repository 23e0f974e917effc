r"""Eliminations with any kernel, and by the radius-margin bound.

With ``c = y * alpha`` of a trained machine and ``beta`` of the smallest ball around its samples,

.. math::

    W^2 = \sum_{il} c_i c_l K_{il}, \qquad
    R^2 = \sum_i \beta_i K_{ii} - \sum_{il} \beta_i \beta_l K_{il}.

Zero order: ``|J - J_(-j)|`` for ``J = W^2`` or ``R^2 W^2``, where ``(-j)`` leaves the features of a
unit out of ``K`` and keeps ``c`` and ``beta``. First order: ``|dJ / d sigma_j|`` at ``sigma = 1``
for ``K(sigma * x, sigma * x')``; the derivatives of the trained quantities follow from those of
``K`` alone, since ``alpha`` and ``beta`` are optimal: ``R^2`` moves with the expression above, and
``W^2``, a minimum and not a maximum, against it. That is exact for a hard margin.
Several machines: the sum of their criteria.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.embedded.rfe.compiled import FLOOR
from tamiz.embedded.rfe.machines import EMPTY, Machines
from tamiz.kernels import Kernel
from tamiz.kernels.features.base import FeatureGram
from tamiz.qp import DenseQ, KernelQ, QMatrix, svdd_problem
from tamiz.qp.matrices import take_block
from tamiz.runtime.units import Units
from tamiz.solvers import Status, solve
from tamiz.svm.multiclass import Task
from tamiz.svm.novelty import squared_spread

#: Trackers hold a few matrices of this many bytes at the most; beyond, only support vectors' ones.
MOST_BYTES = 2**30

#: A matrix of the support vectors alone may have this many, for want of another way.
MOST_SUPPORT_BYTES = 2**32


class KernelMachines(Machines):
    """Machines on dense samples with a kernel that knows features.

    The kernel matrix of all samples is kept if it fits, else only that of the support vectors,
    from which the criteria follow, is made.
    """

    def __init__(
        self,
        X: Any,
        plan: list[Task],
        C: np.ndarray,
        tol: float,
        units: Units,
        kernel: Kernel,
        criterion: str,
        order: str,
    ):
        super().__init__(plan, C, tol, units)
        self.X = X
        self.kernel = kernel
        self.criterion = criterion
        self.order = order
        self.scale = np.ones(units.n_features)
        self.tracker: FeatureGram | None = None
        if 8 * X.shape[0] ** 2 <= MOST_BYTES:
            self.tracker = kernel.track(X)
        self._whole = all(len(task.samples) == X.shape[0] for task in plan)
        self._beta: list[np.ndarray | None] = [None] * len(plan)

    def start(self, gone: np.ndarray, b: np.ndarray | None) -> None:
        if b is not None:
            self.bank.b[:] = b
        self.drop(gone)

    def drop(self, gone: np.ndarray) -> None:
        self.alive[gone] = False
        for k in gone:
            for j in self.units.members[k]:
                self.scale[j] = 0.0
                if self.tracker is not None:
                    self.tracker.remove(int(j))
        if self.tracker is None:
            for t in range(len(self.plan)):
                self._note(self._solve_outside(t, self._matrix(t)))
            return
        K = self.tracker.K
        self.bank.diag[:] = K.diagonal()[self.bank.samples]
        self.bank.info[:, 1] = 0
        at = np.zeros(len(self.plan), dtype=np.intp)
        for t, task in enumerate(self.plan):
            # one machine's part at a time: all of them would be twice the whole
            part = K if self._whole else take_block(K, task.samples)
            self.bank = self.bank._replace(grams=part.ravel(), gram_at=at)
            self._settle_one(t, EMPTY, 0)

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
        if 8 * len(rows) ** 2 > MOST_SUPPORT_BYTES:
            raise MemoryError(
                f"SVMRFE: kernel={self.kernel!r} has {len(rows):,} support vectors, whose matrix "
                f"would take {8e-9 * len(rows) ** 2:.1f} GB, more than is allowed for. Use fewer "
                "samples, kernel='linear', or another C with fewer support vectors."
            )
        return self.kernel.track(self.X[rows], self.scale), rows

    def _ball(self, t: int) -> np.ndarray:
        """``beta`` of the smallest ball around the samples of machine ``t``, over all samples."""
        matrix = self._matrix(t)
        tol = 1e-4 * self.tol * squared_spread(matrix)
        result = solve(svdd_problem(matrix, np.inf), start=self._beta[t], tol=tol, polished=True)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self._note((result.violation or 0.0) / (1e4 * tol + FLOOR))
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
