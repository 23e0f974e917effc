r"""Machines on one dense matrix along C: each starts from the solution at the C before.

In the sign-free variables of :mod:`tamiz.qp.problem` the dual of a classifier is

.. math::

    \min_b \; \tfrac12 b'Kb - y'b \quad\text{s.t.}\quad \sum_i b_i = 0,\;
    \min(0, y_i C_i) \le b_i \le \max(0, y_i C_i)

Samples that take no part have both bounds at zero. They never move, and their entry of the gradient
is the value of the machine at them, up to the constant: a matrix over all samples needs neither
to be cut for each split nor a second pass for the test samples.

When C grows by a factor, a solution times that factor is feasible again, and so is its gradient
known. It is the better start as long as bounds decide (small C); where most support vectors are
free, the solution as it is.

References
----------
.. [1] D. DeCoste, K. Wagstaff (2000). Alpha seeding for support vector machines. KDD.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from tamiz.qp import DenseQ, svr_problem
from tamiz.qp.matrices import take_block
from tamiz.qp.problem import equality_multiplier, optimality
from tamiz.solvers import Status, solve
from tamiz.solvers.descent import MAX_VARIABLES, Descent, finish, slice_steps
from tamiz.solvers.frame import CODES, iteration_limit
from tamiz.solvers.pairs import RUNNING, BoxPoint
from tamiz.solvers.smo import descend
from tamiz.svm.multiclass import decide, fit_binary
from tamiz.svm.path.exact import SMALL_PART, judged, settle
from tamiz.svm.path.gram import LazyGram
from tamiz.svm.path.problem import (
    CLOSE,
    BinaryDual,
    Doubt,
    SplitProblems,
    TubeTask,
    has_ties,
)

#: Fraction of bounded support vectors above which a solution is scaled with C.
_MOSTLY_BOUNDED = 0.3
#: Root mean square of the rounding of kernel values in float32.
_SINGLE_ERROR = 3.5e-8
#: Fraction of test samples that chance may put within the tolerance of a boundary.
_NEAR_FRACTION = 0.02
#: Systems of so few free variables are solved faster by compiled loops than by LAPACK.
_FEW_FREE = 64
#: Above this many samples the full solver, which leaves variables out, is faster.
SMALL = 500


class TooCoarse(Exception):
    """Kernel values in float32 do not suffice for the tolerance."""


def _refuse_coarse(dtype: np.dtype, coef: np.ndarray, tol: float) -> None:
    """Errors of entries are independent: their effect is that of their root mean square."""
    if dtype == np.float32 and _SINGLE_ERROR * float(np.linalg.norm(coef)) > 0.25 * tol:
        raise TooCoarse


class PathAnswer(NamedTuple):
    """What a machine says about the test samples."""

    predictions: np.ndarray
    decisions: np.ndarray
    classes: np.ndarray | None  # of a classifier
    ranks_in_doubt: bool = False  # whether rounding decides the order of two decision values


class PenaltyPath(ABC):
    """Machines of one split and one kernel, for one C after the other, ascending.

    Parameters
    ----------
    machine : SVC or SVR
        Whose parameters count, all but ``C`` and the kernel.
    train, test : arrays
        Positions of the samples.
    y : array
        Labels or target of all samples.
    weight : array or None
        Positive weights of all samples.
    """

    def __init__(
        self, machine: Any, train: np.ndarray, test: np.ndarray, y: np.ndarray, weight: Any
    ):
        self.machine = machine
        self.train, self.test = train, test
        self.weight = np.ones(len(train)) if weight is None else weight[train]

    @abstractmethod
    def largest(self, C: float) -> float:
        """What a dual variable can reach."""

    @abstractmethod
    def attach(self, K: np.ndarray) -> None:
        """Go on with this kernel matrix over all samples."""

    @abstractmethod
    def answer(self, C: float) -> PathAnswer:
        """Solve for ``C`` and say what the machine makes of the test samples."""


# ---------------------------------------------------------------------- classification


class ClassifierPath(PenaltyPath):
    """The binary machines of a split, and their common decision."""

    def __init__(
        self, machine: Any, train: np.ndarray, test: np.ndarray, y: np.ndarray, weight: Any
    ):
        super().__init__(machine, train, test, y, weight)
        self.problems = SplitProblems(train, test, y, weight, machine)
        self.binaries = [binary_path(dual, test, machine.tol) for dual in self.problems.duals()]

    def largest(self, C: float) -> float:
        return C * float(self.problems.factor.max())

    def attach(self, K: np.ndarray) -> None:
        for binary in self.binaries:
            binary.attach(K)

    def answer(self, C: float) -> PathAnswer:
        classes = self.problems.classes
        values = np.column_stack([binary.values(C) for binary in self.binaries])
        exact = all(isinstance(binary, ExactBinary) for binary in self.binaries)
        winner, decisions, distance = decide(values, len(classes), self.problems.scheme)
        if not np.isfinite(values).all() or (exact and not distance.min() > CLOSE):
            raise Doubt
        near = np.count_nonzero(distance <= self.machine.tol)
        if not exact and near > _NEAR_FRACTION * len(distance) + 1:
            raise Doubt  # where it starts from would decide
        return PathAnswer(classes[winner], decisions, classes, exact and has_ties(decisions))


class BinaryPath(ABC):
    """One binary machine along C.

    Parameters
    ----------
    dual : BinaryDual
        The machine.
    test : array
        Positions of the test samples.
    tol : float
        Tolerance of the estimator.

    Attributes
    ----------
    b : array
        Its variables, over the samples of its own matrix.
    constant : float
        What is taken off ``Kb``.
    """

    patient = False  # whether the point reached is taken if it falls short of the tolerance

    def __init__(self, dual: BinaryDual, test: np.ndarray, tol: float):
        self.dual, self.local = dual, dual
        self.test, self.tol = test, tol
        self.K = self.whole = np.empty((0, 0))
        self.p = self.b = self.g = np.empty(0)
        self.C = 0.0  # that b belongs to; 0: none yet
        self.constant = 0.0

    def attach(self, K: np.ndarray) -> None:
        """Go on with this kernel matrix over all samples."""
        self.whole = K
        self.local = self.dual.alone() if self._is_cut(len(K)) else self.dual
        cut = self.local is not self.dual
        self.K = self._own(take_block(K, self.dual.samples) if cut else K)
        self.p = self.local.box(len(self.K), 1.0).p
        if not self.C:
            self.b, self.g = np.zeros(len(self.K)), self.p.copy()
        else:  # the same problem in a finer matrix
            self.g = self.p + DenseQ(self.K).dot(self.b)

    def _is_cut(self, n: int) -> bool:
        return len(self.dual.samples) < SMALL_PART * n

    def _own(self, K: np.ndarray) -> np.ndarray:
        return K

    def solve(self, C: float) -> None:
        """Solve for ``C``."""
        lower, upper, _ = self.local.box(len(self.K), C)
        self._move(C, lower, upper)
        self.C = C
        self.constant = self._solve(lower, upper)

    def values(self, C: float) -> np.ndarray:
        """Solve for ``C``; the decision values at the test samples."""
        self.solve(C)
        if self.local is self.dual:
            return np.asarray(self.g[self.test] - self.p[self.test] - self.constant)
        used = np.flatnonzero(self.b)
        block = self.whole[self.test[:, None], self.dual.samples[used]]
        return np.asarray(block @ self.b[used] - self.constant)

    def _move(self, C: float, lower: np.ndarray, upper: np.ndarray) -> None:
        """A feasible point near the last solution, with its gradient."""
        if not self.C or self.C >= C:
            return
        size = np.abs(self.b[self.local.samples])
        support = size > 0
        bounded = np.count_nonzero(size[support] >= self.C * self.dual.factor[support])
        if bounded > _MOSTLY_BOUNDED * np.count_nonzero(support):
            times = C / self.C
            self.b = np.clip(self.b * times, lower, upper)
            self.g = (self.g - self.p) * times + self.p

    def _descend(self, lower: np.ndarray, upper: np.ndarray) -> BoxPoint:
        point, status = descend(self.K, BoxPoint(self.b, self.g, lower, upper), self.p, self.tol)
        if status is not Status.CONVERGED and not self.patient:
            raise Doubt
        self.b, self.g = point.b, point.g
        return point

    @abstractmethod
    def _solve(self, lower: np.ndarray, upper: np.ndarray) -> float:
        """Minimise from ``b`` with gradient ``g``, in place; the multiplier of the equality."""


class ExactBinary(BinaryPath):
    """A machine so small that the estimator solves it to rounding."""

    def _own(self, K: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(K, dtype=np.float64)

    def _is_cut(self, n: int) -> bool:
        return super()._is_cut(n) or n > 2 * MAX_VARIABLES

    def attach(self, K: np.ndarray) -> None:
        super().attach(K)
        self.gram = LazyGram.filled(self.K)

    def _solve(self, lower: np.ndarray, upper: np.ndarray) -> float:
        point = self._descend(lower, upper)
        if np.count_nonzero((self.b > lower) & (self.b < upper)) <= _FEW_FREE:
            machine = settle(self.gram, point)
        else:
            machine = judged(finish(self.K, 1, point, self.p)[0])
        self.b, self.g = machine.b, machine.g
        if not machine.is_sure(self.gram.largest):
            self.C = 0.0
            self.b, self.g = np.zeros(len(self.b)), self.p.copy()
            raise Doubt
        return float(machine.multiplier)


class TolerantBinary(BinaryPath):
    """A machine that the estimator solves to its tolerance."""

    def _solve(self, lower: np.ndarray, upper: np.ndarray) -> float:
        self._descend(lower, upper)
        _refuse_coarse(self.K.dtype, self.b, self.tol)
        return equality_multiplier(self.b, self.g, lower, upper)


class PatientBinary(TolerantBinary):
    """A machine of which the point reached is taken, where the estimator would warn."""

    patient = True


def binary_path(dual: BinaryDual, test: np.ndarray, tol: float) -> BinaryPath:
    """The machine along C, solved as the estimator would solve it."""
    kind = ExactBinary if len(dual.samples) <= MAX_VARIABLES else TolerantBinary
    return kind(dual, test, tol)


def fit_once(
    K: np.ndarray, signs: np.ndarray, C: np.ndarray, tol: float
) -> tuple[np.ndarray, float, bool]:
    """One machine from nothing: ``y_i alpha_i``, intercept, and whether ``tol`` was reached.

    An elimination trains thousands of machines on a few dozen or hundred samples; checking,
    describing and proving each of them, as :func:`tamiz.svm.multiclass.fit_binary` does, would take
    longer than the training. Ctrl-C raises KeyboardInterrupt.
    """
    if len(signs) > SMALL:
        fit = fit_binary(DenseQ(K), signs, C, tol=tol)
        if fit.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return fit.alpha * signs, fit.intercept, fit.status is Status.CONVERGED
    lower, upper, p = BinaryDual(np.arange(len(signs)), signs, C).box(len(signs), 1.0)
    point = BoxPoint(np.zeros(len(signs)), p.copy(), lower, upper)
    descent, done, code = Descent(K, 1), 0, RUNNING
    limit = iteration_limit(-1, len(signs))
    while code == RUNNING and done < limit:
        code, steps, _, _ = descent.run(point, tol, slice_steps(len(signs)))
        done += steps
    violation, multiplier, _ = optimality(*point)
    return point.b, -multiplier, CODES[code] is Status.CONVERGED or violation <= tol


# ---------------------------------------------------------------------- regression


def fit_tube(
    K: np.ndarray, task: TubeTask, C: np.ndarray, tol: float, start: np.ndarray | None = None
) -> tuple[np.ndarray, float, bool]:
    """One regression: its coefficients, intercept, and whether ``tol`` was reached.

    ``start`` holds coefficients to begin with. Ctrl-C raises KeyboardInterrupt.
    """
    given = None if start is None else task.to_dual(start)
    result = solve(task.problem(DenseQ(K), C), start=given, tol=tol)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    converged = result.status is Status.CONVERGED
    return task.coef(result.a), -float(result.multiplier or 0.0), converged


class RegressorPath(PenaltyPath):
    """The machine of a split with a numeric target."""

    def __init__(
        self, machine: Any, train: np.ndarray, test: np.ndarray, y: np.ndarray, weight: Any
    ):
        super().__init__(machine, train, test, y, weight)
        self.target = y[train]
        self.squared = machine.loss == "squared"
        self.a: np.ndarray | None = None
        self.C = 0.0
        self.K = DenseQ(np.empty((0, 0)))
        self.cross = np.empty((0, 0))

    def largest(self, C: float) -> float:
        return np.inf if self.squared else C * float(self.weight.max())

    def attach(self, K: np.ndarray) -> None:
        self.K = DenseQ(take_block(K, self.train))
        self.cross = K[self.test[:, None], self.train]

    def answer(self, C: float) -> PathAnswer:
        own, start = C * self.weight, self.a
        if start is not None and not self.squared:
            size = np.abs(start)
            used = size > 0
            twice = np.tile(self.C * self.weight, 2)
            if np.count_nonzero(size[used] >= twice[used]) > _MOSTLY_BOUNDED * np.sum(used):
                start = start * (C / self.C)
        machine = self.machine
        problem = svr_problem(self.K, self.target, own, machine.epsilon, self.squared)
        result = solve(problem, start=start, tol=machine.tol, solver="smo", polished=True)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if not result.converged:
            raise Doubt
        self.a, self.C = result.a, C
        alpha = result.a.reshape(2, -1)
        coef = alpha[0] - alpha[1]
        _refuse_coarse(self.K.dtype, coef, machine.tol)
        predictions = self.cross @ coef - float(result.multiplier or 0.0)
        if not np.isfinite(predictions).all():
            raise Doubt
        return PathAnswer(predictions, predictions, None)
