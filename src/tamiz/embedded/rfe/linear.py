r"""Eliminations with a linear kernel: ``w`` says everything.

Leaving feature ``j`` out with ``alpha`` fixed changes ``||w||^2`` by ``w_j^2``, a group by the sum
of its squares. Taking ``x_j`` off the kernel matrix is a change of rank one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.embedded.rfe.compiled import DONE, REFRESH, advance
from tamiz.embedded.rfe.machines import _SECONDS, Machines, least_first
from tamiz.runtime.units import Units
from tamiz.svm.multiclass import Task

#: Kernel matrices beyond this many bytes are never made; the features then stand for them.
MOST_BYTES = 2**30

#: Machines on part of the samples have tables of their own up to this many bytes, which are quicker
#: to read; beyond, they pick their samples out of the common one.
MOST_TABLE_BYTES = 2**26


class LinearMachines(Machines):
    """Machines on dense samples.

    With more features than samples the kernel matrices are kept, else the features alone, from
    which a product is quicker and, where numbers are large, more exact.
    """

    def __init__(
        self,
        X: np.ndarray,
        plan: list[Task],
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
        self.X = np.array(X.T, order="C")  # features in rows
        self.ids = np.arange(p)  # those in play come first
        self.width = np.array([p])
        self.w = np.zeros((len(plan), p))
        self.value = np.zeros(p)
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
        self._log = np.zeros((len(units.members), 2))
        self._told = 0
        self._started = False

    def start(self, gone: np.ndarray, b: np.ndarray | None) -> None:
        self.alive[gone] = False
        self._compact(gone)
        if b is not None:
            self.bank.b[:] = b
        self._refresh()
        self._settle_all()
        self._started = True

    def values(self) -> tuple[np.ndarray, float]:
        by_feature = np.full(self.units.n_features, np.nan)
        width = int(self.width[0])
        by_feature[self.ids[:width]] = self.value[:width]
        values = by_feature if self.units.single else self.units.totals(np.nan_to_num(by_feature))
        values = np.where(self.alive, self.factor * values, np.nan)
        return values, float(self.value[:width].sum())

    def drop(self, gone: np.ndarray) -> None:
        self.alive[gone] = False
        out = self._compact(gone)
        width, bank = int(self.width[0]), self.bank
        if len(bank.grams) and len(out) < width and not self._narrow():
            before = float(bank.diag.max(initial=0.0))
            for t in self._distinct:
                part = self._part(t, out)
                self._gram(t)[:] -= part.T @ part
            self._read_diag()
            self.drift[0] += np.finfo(np.float64).eps * before * min(len(out), 8)
            bank.info[:, 1] = 0
            if self.drift[0] > 1e-12 * float(bank.diag.max(initial=0.0)):
                self._refresh()
        else:
            self._refresh()
        self._settle_all()

    def drop_singles(self, limit: int) -> bool:
        if not self.units.single:
            return False
        width, n = int(self.width[0]), self.X.shape[1]
        per_drop = 5e-6 + 1e-9 * (len(self.bank.grams) + (len(self.bank.b) + 2 * n) * width)
        count = min(limit, max(1, int(_SECONDS / per_drop)))
        if len(self.bank.grams):
            count = min(count, max(1, width - int(self._sizes.min()) // 2))
        code, _ = advance(
            self.bank,
            self.X,
            self.ids,
            self.width,
            self.w,
            self.value,
            self.tol,
            20 * n + 1000 if per_drop < 1e-4 else max(20, int(_SECONDS / per_drop)),
            self.drift,
            np.zeros(2, dtype=np.intp),
            count,
            self._log,
            self._kept,
        )
        if code == REFRESH or self._narrow():
            self._refresh()
        if code != DONE:
            self._settle_all()
        return True

    def told(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        start, stop = self._told, int(self._kept[0])
        width = int(self.width[0])
        gone = self.ids[width : width + stop - start][::-1].copy()
        self.alive[gone] = False
        self._told = stop
        return gone, self.factor * self._log[start:stop, 0], self._log[start:stop, 1]

    def least(self, count: int) -> tuple[np.ndarray, np.ndarray, float]:
        if not self.units.single:
            return super().least(count)
        width = int(self.width[0])
        ids, value = self.ids[:width], self.value[:width]
        units, values = least_first(ids, value, count)
        return units, self.factor * values, float(value.sum())

    def latest(self) -> np.ndarray | None:
        return self.values()[0] if self._started else None

    def decisions(self, Z: Any) -> np.ndarray:
        width = int(self.width[0])
        return Z[:, self.ids[:width]] @ self.w[:, :width].T + self.intercepts()

    # ------------------------------------------------------------------ helpers

    def _part(self, t: int, table: np.ndarray) -> np.ndarray:
        """The samples of machine ``t``, features in rows."""
        samples = self.plan[t].samples
        return table if len(samples) == table.shape[1] else table[:, samples]

    def _gram(self, t: int) -> np.ndarray:
        size = int(self.bank.first[t + 1] - self.bank.first[t])
        at = int(self.bank.gram_at[t])
        return self.bank.grams[at : at + size * size].reshape(size, size)

    def _compact(self, gone: np.ndarray) -> np.ndarray:
        """Put the features of units that leave behind those in play; returns their rows."""
        width, members = int(self.width[0]), self.units.members
        if not len(gone):
            return np.empty((0, self.X.shape[1]))
        features = gone if self.units.single else np.concatenate([members[k] for k in gone])
        leaving = np.zeros(self.units.n_features, dtype=bool)
        leaving[features] = True
        ids = self.ids[:width].copy()
        stay = np.flatnonzero(~leaving[ids])
        left = len(stay)
        self.ids[:left], self.ids[left:width] = ids[stay], features
        self.value[:left] = self.value[stay]  # out of date until the machines settle
        self.width[0] = left
        return self.X[features]

    def _narrow(self) -> bool:
        """Whether there are so few features left that kernel matrices only cost accuracy."""
        return len(self.bank.grams) > 0 and 2 * int(self.width[0]) <= int(self._sizes.min())

    def _use_tables(self) -> None:
        """From now on let the features stand for the kernel matrices."""
        at = np.full(len(self.plan), -1, dtype=np.intp)
        length, total = len(self.X), int(self._sizes.sum())
        tables = np.empty(0)
        if len(self._distinct) == len(self.plan) > 1 and 8 * length * total <= MOST_TABLE_BYTES:
            at = length * np.concatenate([[0], np.cumsum(self._sizes)[:-1]])
            tables = np.concatenate([self.X[:, task.samples].ravel() for task in self.plan])
        self.bank = self.bank._replace(
            grams=np.empty(0), tables=tables, table_at=at.astype(np.intp)
        )

    def _refresh(self) -> None:
        """Compute the matrices anew from the features in play."""
        width = int(self.width[0])
        if self._narrow():
            self._use_tables()
        active = self.X if width == len(self.X) else self.X[self.ids[:width]]
        if len(self.bank.grams):
            for t in self._distinct:
                part = self._part(t, active)
                np.matmul(part.T, part, out=self._gram(t))
            self._read_diag()
        else:
            self.bank.diag[:] = np.einsum("ij,ij->j", active, active)[self.bank.samples]
        self.bank.info[:, 1] = 0
        self.drift[0] = 0.0

    def _read_diag(self) -> None:
        for t in range(len(self.plan)):
            part = slice(self.bank.first[t], self.bank.first[t + 1])
            self.bank.diag[part] = self._gram(t).diagonal()

    def _settle_all(self) -> None:
        width, size = int(self.width[0]), int(self._sizes.max())
        changes = max(20, int(_SECONDS / (1e-6 + 1e-9 * size * min(width, size))))
        code, _ = self._advance(self.X, width, self.value, (0, len(self.plan)), changes)
        if code != DONE:
            self._settle(self.X, width)
            self._advance(self.X, width, self.value, (0, 0), 0)
