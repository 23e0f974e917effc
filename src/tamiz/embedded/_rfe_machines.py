"""The binary machines of an elimination, kept at their optimum while features leave."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz._units import Units
from tamiz.embedded._rfe_compiled import DONE, MORE, Bank, settle
from tamiz.kernels import Linear
from tamiz.qp import KernelQ, QMatrix, svc_problem
from tamiz.qp.kkt import equality_multiplier
from tamiz.solvers import Status, solve
from tamiz.solvers.descent import Descent, slice_steps
from tamiz.solvers.pairs import RUNNING
from tamiz.svm._multiclass import Task

#: A factor has room for this many free variables; machines with more go on with pair steps.
_MOST_FREE = 600

#: Changes of a machine, per sample, before pair steps take over.
_PATIENCE = 20

_SECONDS = 0.1  # a compiled call lasts about this long, so that Ctrl-C is noticed

EMPTY = np.empty((0, 0))


class Machines:
    """One machine per task, and what an elimination asks of them.

    Parameters
    ----------
    plan : list of Task
        The binary problems.
    C : array of shape (n_samples,)
        Price of slack of each sample.
    tol : float
        Largest KKT violation accepted where an optimum exact to rounding is out of reach.
    units : Units
        What can be dropped.
    """

    def __init__(self, plan: list[Task], C: np.ndarray, tol: float, units: Units):
        self.plan = plan
        self.tol = tol
        self.units = units
        self.alive = np.ones(len(units.members), dtype=bool)
        sizes = np.array([len(task.samples) for task in plan], dtype=np.intp)
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        room = np.minimum(sizes, _MOST_FREE)
        samples = np.concatenate([task.samples for task in plan]).astype(np.intp)
        signs = np.concatenate([task.signs for task in plan])
        ends = signs * C[samples]
        self.bank = Bank(
            samples=samples,
            first=first,
            p=-signs,
            b=np.zeros(len(samples)),
            g=-signs,
            lower=np.minimum(ends, 0.0),
            upper=np.maximum(ends, 0.0),
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

    # ------------------------------------------------------------------ what subclasses say

    def values(self) -> tuple[np.ndarray, float]:
        """The criterion of each unit (NaN for those gone), and the objective as it stands."""
        raise NotImplementedError

    def drop(self, gone: np.ndarray) -> None:
        """Take units off and bring the machines to their new optimum."""
        raise NotImplementedError

    def start(self, gone: np.ndarray, b: np.ndarray | None) -> None:
        """Begin without the units ``gone``, from the dual variables ``b``."""
        raise NotImplementedError

    def decisions(self, Z: Any) -> np.ndarray:
        """Decision values of every machine at new samples, (samples, machines)."""
        raise NotImplementedError

    def drop_singles(self, limit: int) -> list[tuple[int, float, float]] | None:
        """Drop up to ``limit`` units one by one: (unit, its criterion, objective before) each.

        None: nothing faster than single calls of :meth:`values` and :meth:`drop` is known.
        """
        return None

    # ------------------------------------------------------------------ what they share

    def features(self) -> np.ndarray:
        """Indices of the features in play, ascending."""
        parts = [self.units.members[k] for k in np.flatnonzero(self.alive)]
        return np.sort(np.concatenate([*parts, self.units.fixed])).astype(np.intp)

    def intercepts(self) -> np.ndarray:
        """The constant of each machine."""
        bank = self.bank
        parts = [slice(s, e) for s, e in zip(bank.first[:-1], bank.first[1:], strict=True)]
        return -np.array(
            [equality_multiplier(bank.b[s], bank.g[s], bank.lower[s], bank.upper[s]) for s in parts]
        )

    def coef(self, t: int, n: int) -> np.ndarray:
        """``y * alpha`` of machine ``t`` over all samples."""
        whole = np.zeros(n)
        part = slice(self.bank.first[t], self.bank.first[t + 1])
        whole[self.bank.samples[part]] = self.bank.b[part]
        return whole

    def _settle(self, X: np.ndarray = EMPTY, width: int = 0) -> None:
        """Bring every machine to its optimum."""
        for t in range(len(self.plan)):
            self._settle_one(t, X, width)

    def _settle_one(self, t: int, X: np.ndarray, width: int) -> None:
        size = int(self.bank.first[t + 1] - self.bank.first[t])
        cost = 1e-6 + 1e-9 * size * (size if width == 0 else width)
        changes = max(20, int(_SECONDS / cost))
        for _ in range(3):
            spent = 0
            while True:
                code, violation = settle(t, self.bank, X, width, self.tol, changes)
                spent += changes
                if code != MORE or spent > _PATIENCE * size + 1000:
                    break
            if code == DONE:
                return
            self.bank.info[t, 1] = 0
            if violation > self.tol:
                self._pair_steps(t, X, width)

    def _pair_steps(self, t: int, X: np.ndarray, width: int) -> None:
        """Solve a machine for which single changes lead nowhere: too many, or K is indefinite."""
        bank = self.bank
        part = slice(bank.first[t], bank.first[t + 1])
        size = part.stop - part.start
        if not len(bank.grams):
            rows = np.ascontiguousarray(X[:width, bank.samples[part]].T)
            self._solve_outside(t, KernelQ(Linear(), rows))
            return
        K = bank.grams[bank.gram_at[t] : bank.gram_at[t] + size * size].reshape(size, size)
        descent = Descent(K, 1)
        arrays = bank.b[part], bank.g[part], bank.lower[part], bank.upper[part]
        for _ in range(max(200, 10**7 // slice_steps(size))):
            code, *_ = descent.run(*arrays, self.tol, slice_steps(size))
            if code != RUNNING:
                break

    def _solve_outside(self, t: int, K: QMatrix) -> None:
        """Solve a machine whose matrix is not kept."""
        bank = self.bank
        part = slice(bank.first[t], bank.first[t + 1])
        signs = self.plan[t].signs
        price = np.maximum(bank.upper[part], -bank.lower[part])
        start = bank.b[part] * signs
        problem = svc_problem(K, signs, price)
        result = solve(problem, start=start, tol=self.tol, polished=True)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        assert result.gradient is not None
        bank.b[part] = result.a * signs
        bank.g[part] = result.gradient * signs
