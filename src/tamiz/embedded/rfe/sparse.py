"""Eliminations with a linear kernel on sparse samples too wide to be made dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.embedded.rfe.machines import Machines
from tamiz.kernels import Linear
from tamiz.qp import KernelQ
from tamiz.runtime.units import Units
from tamiz.svm.multiclass import Task


class SparseMachines(Machines):
    """Linear machines on the columns in play of a CSR matrix, each solved from the last point."""

    def __init__(
        self,
        X: Any,
        plan: list[Task],
        C: np.ndarray,
        tol: float,
        units: Units,
        factor: float,
    ):
        super().__init__(plan, C, tol, units)
        self.X = X
        self.factor = factor

    def start(self, gone: np.ndarray, b: np.ndarray | None) -> None:
        if b is not None:
            self.bank.b[:] = b
        self.drop(gone)

    def drop(self, gone: np.ndarray) -> None:
        self.alive[gone] = False
        self._kept = self.features()
        self._columns = self.X[:, self._kept]
        for t, task in enumerate(self.plan):
            self._note(self._solve_outside(t, KernelQ(Linear(), self._columns[task.samples])))
        n = self.X.shape[0]
        coef = np.stack([self.coef(t, n) for t in range(len(self.plan))])
        self._w = np.asarray((self._columns.T @ coef.T).T)

    def values(self) -> tuple[np.ndarray, float]:
        squares = np.zeros(self.units.n_features)
        squares[self._kept] = np.square(self._w).sum(axis=0)
        values = self.factor * self.units.totals(squares)
        return np.where(self.alive, values, np.nan), float(squares.sum())

    def decisions(self, Z: Any) -> np.ndarray:
        return np.asarray(Z[:, self._kept] @ self._w.T) + self.intercepts()
