"""The binary machines of an elimination, kept at their optimum while features leave."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tamiz.embedded.rfe.compiled import DONE, FLOOR, MORE, Bank, advance
from tamiz.kernels import Linear
from tamiz.qp import KernelQ, QMatrix, svc_problem
from tamiz.qp.optimality import equality_multiplier
from tamiz.runtime.units import Units
from tamiz.solvers import Status, solve
from tamiz.solvers.descent import Descent, slice_steps
from tamiz.solvers.pairs import RUNNING
from tamiz.svm.multiclass import Task

#: A factor has room for this many free variables; machines with more go on with pair steps.
_MOST_FREE = 600

#: Changes of a machine, per sample, before pair steps take over.
_PATIENCE = 20

_SECONDS = 0.1  # a compiled call lasts about this long, so that Ctrl-C is noticed

NONE, EMPTY = np.empty(0), np.empty((0, 0))


class Machines(ABC):
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
    rank : int, optional
        Of the kernel matrices, if they cannot have full rank: no optimum needs more free variables
        than that and one.

    Attributes
    ----------
    excess : float
        Largest violation met so far of those that could not be brought down to ``tol``, in units
        of it; zero if all could.
    """

    def __init__(
        self,
        plan: list[Task],
        C: np.ndarray,
        tol: float,
        units: Units,
        rank: int | None = None,
    ):
        self.plan = plan
        self.tol = tol
        self.units = units
        self.excess = 0.0
        self._latest: np.ndarray | None = None
        self.alive = np.ones(len(units.members), dtype=bool)
        sizes = np.array([len(task.samples) for task in plan], dtype=np.intp)
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        # on the way to an optimum there may be a few more
        room = np.minimum(sizes, _MOST_FREE if rank is None else min(rank + 8, _MOST_FREE))
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
        self.ids = np.empty(0, dtype=np.intp)
        self.w = EMPTY
        self.drift = np.zeros(1)
        self._kept = np.zeros(1, dtype=np.intp)

    # ------------------------------------------------------------------ what subclasses say

    @abstractmethod
    def values(self) -> tuple[np.ndarray, float]:
        """The criterion of each unit (NaN for those gone), and the objective as it stands."""

    @abstractmethod
    def drop(self, gone: np.ndarray) -> None:
        """Take units off and bring the machines to their new optimum."""

    @abstractmethod
    def start(self, gone: np.ndarray, b: np.ndarray | None) -> None:
        """Begin without the units ``gone``, from the dual variables ``b``."""

    @abstractmethod
    def decisions(self, Z: Any) -> np.ndarray:
        """Decision values of every machine at new samples, (samples, machines)."""

    def drop_singles(self, limit: int) -> bool:
        """Drop up to ``limit`` units one by one; :meth:`told` says which.

        False: nothing faster than single calls of :meth:`values` and :meth:`drop` is known.
        """
        return False

    def told(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What :meth:`drop_singles` dropped: units, their criteria, and the objective before each.

        Told once, and true also after an interruption.
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

    def _settle_one(self, t: int, X: np.ndarray, width: int, attempts: int = 3) -> None:
        size = int(self.bank.first[t + 1] - self.bank.first[t])
        cost = 1e-6 + 1e-9 * size * (size if width == 0 else width)
        changes = max(20, int(_SECONDS / cost))
        for attempt in range(attempts):
            if attempt:
                self.bank.info[t, 1] = 0
                self._pair_steps(t, X, width)
            spent = 0
            while True:
                code, violation = self._advance(X, width, NONE, (t, t + 1), changes)
                spent += changes
                if code != MORE or spent > _PATIENCE * size + 1000:
                    break
            if code == DONE or violation <= self.tol:
                return
        self._note(violation / max(self.tol, FLOOR))

    def _advance(
        self, X: np.ndarray, width: int, value: np.ndarray, tasks: tuple[int, int], changes: int
    ) -> tuple[int, float]:
        """:func:`advance` without drops."""
        return advance(
            self.bank,
            X,
            self.ids,
            np.array([width]),
            self.w,
            value,
            self.tol,
            changes,
            self.drift,
            np.array(tasks),
            0,
            EMPTY,
            self._kept,
        )

    def _note(self, excess: float) -> None:
        if excess > max(1.0, self.excess):
            self.excess = excess

    def _pair_steps(self, t: int, X: np.ndarray, width: int) -> None:
        """Solve a machine for which single changes lead nowhere: too many, or K is indefinite."""
        bank = self.bank
        part = slice(bank.first[t], bank.first[t + 1])
        size = part.stop - part.start
        if not len(bank.grams):
            rows = np.ascontiguousarray(X[np.ix_(self.ids[:width], bank.samples[part])].T)
            self._solve_outside(t, KernelQ(Linear(), rows))
            return
        K = bank.grams[bank.gram_at[t] : bank.gram_at[t] + size * size].reshape(size, size)
        descent = Descent(K, 1)
        arrays = bank.b[part], bank.g[part], bank.lower[part], bank.upper[part]
        for _ in range(max(200, 10**7 // slice_steps(size))):
            code, *_ = descent.run(*arrays, self.tol, slice_steps(size))
            if code != RUNNING:
                break

    def _solve_outside(self, t: int, K: QMatrix) -> float:
        """Solve a machine whose matrix is not kept; the violation reached, in units of ``tol``."""
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
        return (result.violation or 0.0) / max(self.tol, FLOOR)


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
