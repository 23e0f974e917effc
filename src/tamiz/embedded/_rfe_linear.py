r"""Eliminations with a linear kernel: ``w`` says everything.

Leaving feature ``j`` out with ``alpha`` fixed changes ``||w||^2`` by ``w_j^2``, a group by the sum
of its squares. Taking ``x_j`` off the kernel matrix is a change of rank one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz._blas import product
from tamiz._units import Units
from tamiz.embedded._rfe_compiled import DONE, REFRESH, drop_singles, weigh
from tamiz.embedded._rfe_machines import _SECONDS, Machines
from tamiz.svm._multiclass import Task

#: Kernel matrices beyond this many bytes are never made; the features then stand for them.
MOST_BYTES = 2**30


class LinearMachines(Machines):
    """Machines on dense samples.

    With more features than samples the kernel matrices are kept, else the features alone.
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
        super().__init__(plan, C, tol, units)
        self.factor = factor  # of w_j^2: 1 for the change, 2 for the gradient
        n, p = X.shape
        self.X = np.array(X.T, order="C")  # features in rows, which will change places
        self.ids = np.arange(p)
        self.width = np.array([p])
        self.w = np.zeros((len(plan), p))
        self.value = np.zeros(p)
        self.drift = np.zeros(1)
        sizes = np.diff(self.bank.first)
        shared = all(len(task.samples) == n for task in plan)
        self._distinct = [0] if shared else list(range(len(plan)))
        squares = sizes[self._distinct] ** 2
        if p > int(sizes.max()) and 8 * int(squares.sum()) <= MOST_BYTES:
            at = np.concatenate([[0], np.cumsum(squares)[:-1]]).astype(np.intp)
            self.bank = self.bank._replace(
                grams=np.empty(int(squares.sum())),
                gram_at=np.zeros(len(plan), dtype=np.intp) if shared else at,
            )
        elif not shared:
            at = p * np.concatenate([[0], np.cumsum(sizes)[:-1]])
            self.bank = self.bank._replace(
                tables=np.empty(p * int(sizes.sum())), table_at=at.astype(np.intp)
            )
        self._log = np.zeros((len(units.members), 2))
        self._kept = np.zeros(1, dtype=np.intp)
        self._told = 0

    def start(self, gone: np.ndarray, b: np.ndarray | None) -> None:
        self.alive[gone] = False
        self._compact(gone)
        if b is not None:
            self.bank.b[:] = b
        self._refresh()
        self._settle_all()

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
        if len(bank.grams) and len(out) < width:
            before = float(bank.diag.max(initial=0.0))
            for t in self._distinct:
                part = self._part(t, out)
                self._gram(t)[:] -= product(part.T, part)
            self._read_diag()
            self.drift[0] += np.finfo(np.float64).eps * before * min(len(out), 8)
            bank.info[:, 1] = 0
            if self.drift[0] > 1e-12 * float(bank.diag.max(initial=0.0)):
                self._refresh()
        else:
            self._refresh()
        self._settle_all()

    def drop_singles(self, limit: int) -> list[tuple[int, float, float]] | None:
        if not self.units.single:
            return None
        width, n = int(self.width[0]), self.X.shape[1]
        per_drop = 5e-6 + 1e-9 * (len(self.bank.grams) + (len(self.bank.b) + 2 * n) * width)
        count = min(limit, max(1, int(_SECONDS / per_drop)))
        try:
            code = drop_singles(
                self.bank,
                self.X,
                self.ids,
                self.width,
                self.w,
                self.value,
                self.tol,
                20 * n + 1000 if per_drop < 1e-4 else max(20, int(_SECONDS / per_drop)),
                self.drift,
                count,
                self._log,
                self._kept,
            )
        finally:
            told = self._tell()
        if code != DONE:
            if code == REFRESH:
                self._refresh()
            self._settle_all()
        return told

    def _tell(self) -> list[tuple[int, float, float]]:
        """What the compiled loop dropped since the last time."""
        start, stop = self._told, int(self._kept[0])
        width = int(self.width[0])
        gone = self.ids[width : width + stop - start][::-1].tolist()
        self.alive[gone] = False
        self._told = stop
        rows = self._log[start:stop]
        return [
            (unit, self.factor * value, objective)
            for unit, (value, objective) in zip(gone, rows.tolist(), strict=True)
        ]

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
        """Close the gaps that units leave among the features; returns their rows."""
        width, members = int(self.width[0]), self.units.members
        if not len(gone):
            return np.empty((0, self.X.shape[1]))
        leaving = np.zeros(self.units.n_features, dtype=bool)
        leaving[gone if self.units.single else np.concatenate([members[k] for k in gone])] = True
        ids = self.ids[:width].copy()
        mask = leaving[ids]
        go = np.flatnonzero(mask)
        left = width - len(go)
        holes, fill = go[go < left], left + np.flatnonzero(~mask[left:])
        out = self.X[go]
        self.X[holes] = self.X[fill]
        self.ids[holes] = ids[fill]
        self.ids[left:width] = ids[go]
        self.width[0] = left
        if len(self.bank.tables):
            for t in range(len(self.plan)):
                table = self._table(t)
                table[holes] = table[fill]
        return out

    def _table(self, t: int) -> np.ndarray:
        size = int(self.bank.first[t + 1] - self.bank.first[t])
        at = int(self.bank.table_at[t])
        return self.bank.tables[at : at + len(self.X) * size].reshape(len(self.X), size)

    def _refresh(self) -> None:
        """Compute the matrices anew from the features in play."""
        width, bank = int(self.width[0]), self.bank
        active = self.X[:width]
        for t in self._distinct:
            if len(bank.grams):
                part = self._part(t, active)
                self._gram(t)[:] = product(part.T, part)
            elif len(bank.tables):
                self._table(t)[:width] = self._part(t, active)
        if len(bank.grams):
            self._read_diag()
        else:
            bank.diag[:] = np.einsum("ij,ij->j", active, active)[bank.samples]
        bank.info[:, 1] = 0
        self.drift[0] = 0.0

    def _read_diag(self) -> None:
        for t in range(len(self.plan)):
            part = slice(self.bank.first[t], self.bank.first[t + 1])
            self.bank.diag[part] = self._gram(t).diagonal()

    def _settle_all(self) -> None:
        width = int(self.width[0])
        self._settle(self.X, width)
        weigh(self.bank, self.X, width, self.w, self.value)
