r"""One split along C: every machine starts from the solution at the C before.

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

from tamiz.kernels.lazy_rows import RowSource
from tamiz.qp import DenseQ, svr_problem
from tamiz.qp.matrices import take_block
from tamiz.qp.optimality import equality_multiplier, kkt_violation
from tamiz.qp.problem import SignFreeProblem
from tamiz.runtime.progress import Progress
from tamiz.search.svc.solve import _FINE, _judge, settle
from tamiz.solvers import Status, solve
from tamiz.solvers.frame import State, iteration_limit
from tamiz.solvers.newton import newton
from tamiz.solvers.pairs import run_pairs
from tamiz.solvers.polish import MAX_VARIABLES
from tamiz.solvers.smo import _smo
from tamiz.svm.multiclass import class_scores, tasks
from tamiz.validation import Labels, check_class_weight

#: Share of bounded support vectors above which a solution is scaled with C.
_MOSTLY_BOUNDED = 0.3
#: A machine of fewer samples than this share of all gets a matrix of its own.
_SMALL_PART = 0.75
#: Root mean square of the rounding of kernel values in float32.
_SINGLE_ERROR = 3.5e-8
#: Values closer to a boundary than this are not for rounding to decide.
_CLOSE = 1e-7
#: Share of test samples within the tolerance of a boundary that one may be unlucky enough to meet.
_NEAR_SHARE = 0.02
#: Systems of so few free variables are solved faster by compiled loops than by LAPACK.
_FEW_FREE = 64
_ROUNDS, _PAIR_STEPS = 30, 500


class Doubt(Exception):
    """The estimator itself is the one to ask."""


class TooCoarse(Exception):
    """Kernel values in float32 do not suffice for the tolerance."""


def _refuse_coarse(dtype: np.dtype, coef: np.ndarray, tol: float) -> None:
    """Errors of entries are independent: their effect is that of their root mean square."""
    if dtype == np.float32 and _SINGLE_ERROR * float(np.linalg.norm(coef)) > 0.25 * tol:
        raise TooCoarse


class Answer(NamedTuple):
    """What a machine says about the test samples."""

    predictions: np.ndarray
    decisions: np.ndarray
    classes: np.ndarray | None  # of a classifier
    ranks_in_doubt: bool = False  # whether rounding decides the order of two decision values


class Path(ABC):
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
    def answer(self, C: float) -> Answer:
        """Solve for ``C`` and say what the machine makes of the test samples."""


# ---------------------------------------------------------------------- classification


class ClassifierPath(Path):
    """The binary machines of a split, and the vote among them."""

    def __init__(
        self, machine: Any, train: np.ndarray, test: np.ndarray, y: np.ndarray, weight: Any
    ):
        super().__init__(machine, train, test, y, weight)
        self.classes, codes = np.unique(y[train], return_inverse=True)
        if len(self.classes) < 2:
            raise Doubt
        labels = Labels(self.classes, codes.astype(np.intp))
        by_class = check_class_weight(machine.class_weight, labels, self.weight)
        self.factor = self.weight * by_class[labels.codes]
        if not (self.factor > 0).all():
            raise Doubt
        self.scheme = machine.multiclass
        self.binaries = [
            _binary(train[task.samples], task.signs, self.factor[task.samples], test, machine.tol)
            for task in tasks(labels.codes, len(self.classes), self.scheme)
        ]

    def largest(self, C: float) -> float:
        return C * float(self.factor.max())

    def attach(self, K: np.ndarray) -> None:
        for binary in self.binaries:
            binary.attach(K)

    def answer(self, C: float) -> Answer:
        values = np.column_stack([binary.values(C) for binary in self.binaries])
        exact = all(isinstance(binary, ExactBinary) for binary in self.binaries)
        if len(self.classes) == 2:
            decisions = values[:, 0]
            gap = np.abs(decisions)
            winner = (decisions > 0).astype(np.intp)
        else:
            decisions = class_scores(values, len(self.classes), self.scheme)
            winner = decisions.argmax(axis=1)
            two = np.partition(decisions, -2, axis=1)[:, -2:]
            gap = two[:, 1] - two[:, 0]
            if self.scheme == "ovo":
                gap = np.minimum(gap, np.abs(values).min(axis=1))
        if not np.isfinite(values).all() or (exact and not gap.min() > _CLOSE):
            raise Doubt
        if not exact and np.count_nonzero(gap <= self.machine.tol) > _NEAR_SHARE * len(gap) + 1:
            raise Doubt  # where it starts from would decide
        return Answer(self.classes[winner], decisions, self.classes, exact and _has_ties(decisions))


class Binary(ABC):
    """One binary machine along C.

    Parameters
    ----------
    samples : array
        Positions of the samples that take part.
    signs, factor : arrays
        Their labels ±1, and what C is multiplied by.
    test : array
        Positions of the test samples.
    tol : float
        Tolerance of the estimator.
    """

    def __init__(
        self,
        samples: np.ndarray,
        signs: np.ndarray,
        factor: np.ndarray,
        test: np.ndarray,
        tol: float,
    ):
        self.samples, self.signs, self.factor = samples, signs, factor
        self.test, self.tol = test, tol
        self.K = self.whole = np.empty((0, 0))
        self.cut = False
        self.p = self.b = self.g = np.empty(0)
        self.price = 0.0  # the C that b belongs to; 0: none yet
        self.constant = 0.0

    def attach(self, K: np.ndarray) -> None:
        n = len(K)
        self.whole = K
        self.cut = self._is_cut(n)
        self.K = self._own(take_block(K, self.samples) if self.cut else K)
        self.places = np.arange(len(self.samples)) if self.cut else self.samples
        size = len(self.K)
        self.p = np.zeros(size)
        self.p[self.places] = -self.signs
        if not self.price:
            self.b, self.g = np.zeros(size), self.p.copy()
        else:  # the same problem in a finer matrix
            self.g = self.p + DenseQ(self.K).dot(self.b)

    def _is_cut(self, n: int) -> bool:
        return len(self.samples) < _SMALL_PART * n

    def _own(self, K: np.ndarray) -> np.ndarray:
        return K

    def values(self, C: float) -> np.ndarray:
        """Decision values at the test samples."""
        lower, upper = np.zeros(len(self.K)), np.zeros(len(self.K))
        ends = self.signs * (C * self.factor)
        lower[self.places] = np.minimum(ends, 0.0)
        upper[self.places] = np.maximum(ends, 0.0)
        self._move(C, lower, upper)
        self.price = C
        self.constant = constant = self._solve(lower, upper)
        if not self.cut:
            return np.asarray(self.g[self.test] - self.p[self.test] - constant)
        used = np.flatnonzero(self.b)
        block = self.whole[self.test[:, None], self.samples[used]]
        return np.asarray(block @ self.b[used] - constant)

    def _move(self, C: float, lower: np.ndarray, upper: np.ndarray) -> None:
        """A feasible point near the last solution, with its gradient."""
        if not self.price or self.price >= C:
            return
        size = np.abs(self.b[self.places])
        support = size > 0
        bounded = np.count_nonzero(size[support] >= self.price * self.factor[support])
        if bounded > _MOSTLY_BOUNDED * np.count_nonzero(support):
            times = C / self.price
            self.b = np.clip(self.b * times, lower, upper)
            self.g = (self.g - self.p) * times + self.p

    @abstractmethod
    def _solve(self, lower: np.ndarray, upper: np.ndarray) -> float:
        """Minimise from ``b`` with gradient ``g``, in place; the multiplier of the equality."""


class ExactBinary(Binary):
    """A machine so small that the estimator solves it to rounding."""

    def _own(self, K: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(K, dtype=np.float64)

    def _is_cut(self, n: int) -> bool:
        return super()._is_cut(n) or n > 2 * MAX_VARIABLES

    def attach(self, K: np.ndarray) -> None:
        super().attach(K)
        self.gram = _Ready(self.K)

    def _solve(self, lower: np.ndarray, upper: np.ndarray) -> float:
        K, p = self.K, self.p
        self.b, self.g = _descend(K, self.b, self.g, p, lower, upper, self.tol)
        if np.count_nonzero((self.b > lower) & (self.b < upper)) <= _FEW_FREE:
            machine: Any = settle(self.gram, self.b, self.g, lower, upper)  # type: ignore[arg-type]
            constant, certain = machine.multiplier, machine.certain
        else:
            self.b, self.g = finish(K, self.b, self.g, p, lower, upper)
            violation, constant, size, certain, _ = _judge(self.b, self.g, lower, upper)
            certain = certain and violation <= _FINE * size
        largest = float(np.abs(self.gram.diag).max(initial=0.0))
        rounding = 1e-13 * float(np.abs(self.b).sum()) * largest
        if not certain or not rounding <= _CLOSE:
            self.price = 0.0
            self.b, self.g = np.zeros(len(self.b)), self.p.copy()
            raise Doubt
        return float(constant)


class TolerantBinary(Binary):
    """A machine that the estimator solves to its tolerance."""

    def _solve(self, lower: np.ndarray, upper: np.ndarray) -> float:
        self.b, self.g = _descend(self.K, self.b, self.g, self.p, lower, upper, self.tol)
        _refuse_coarse(self.K.dtype, self.b, self.tol)
        return equality_multiplier(self.b, self.g, lower, upper)


def _descend(
    K: np.ndarray,
    b: np.ndarray,
    g: np.ndarray,
    p: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    tol: float,
) -> tuple[np.ndarray, np.ndarray]:
    """SMO from ``b`` with its gradient; the solution and its gradient."""
    state = State(SignFreeProblem(DenseQ(K), p, 0.0, lower, upper), b, lambda _: g - p)
    state.point = state.point[0], g
    _smo(state, tol, iteration_limit(-1, len(b)), Progress("", 0), shrinking=True)
    if state.status is not Status.CONVERGED:
        raise Doubt
    return state.point


def finish(
    K: np.ndarray,
    b: np.ndarray,
    g: np.ndarray,
    p: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The last digits, as :mod:`tamiz.solvers.polish` finds them; the best point met."""
    diag = np.ascontiguousarray(K.diagonal())
    best = kkt_violation(b, g, lower, upper), b, g
    b, g = b.copy(), g.copy()
    target = 1e-14 * max(1.0, float(np.abs(g).max()), float(np.abs(K).max()))
    for _ in range(_ROUNDS):
        newton(K, 1, b, g, lower, upper, max_free=len(b), max_cuts=len(b))
        g = p + K @ b  # afresh, so that rounding does not add up
        violation = kkt_violation(b, g, lower, upper)
        if violation < best[0]:
            best = violation, b.copy(), g.copy()
        if violation <= target:
            break
        run_pairs(K, diag, 1, g, b, lower, upper, target, _PAIR_STEPS)
    return best[1], best[2]


def _binary(
    samples: np.ndarray, signs: np.ndarray, factor: np.ndarray, test: np.ndarray, tol: float
) -> Binary:
    kind = ExactBinary if len(samples) <= MAX_VARIABLES else TolerantBinary
    return kind(samples, signs, factor, test, tol)


class _Ready:
    """A matrix with all its rows filled, in the form that :func:`settle` takes."""

    def __init__(self, K: np.ndarray):
        self.K = K
        self.diag = np.ascontiguousarray(K.diagonal())
        self.ready = np.ones(len(K), dtype=np.uint8)
        self.source = RowSource(K, np.empty((0, len(K))), np.empty(0), True, 1.0, 0.0, 1)


def _has_ties(decisions: np.ndarray) -> bool:
    """Whether two samples have decision values that only rounding tells apart."""
    if len(decisions) < 2:
        return False
    return bool(np.diff(np.sort(decisions, axis=0), axis=0).min() <= 1e-2 * _CLOSE)


# ---------------------------------------------------------------------- regression


class RegressorPath(Path):
    """The machine of a split whose target is a number."""

    def __init__(
        self, machine: Any, train: np.ndarray, test: np.ndarray, y: np.ndarray, weight: Any
    ):
        super().__init__(machine, train, test, y, weight)
        self.target = y[train]
        self.squared = machine.loss == "squared"
        self.a: np.ndarray | None = None
        self.price = 0.0
        self.K = DenseQ(np.empty((0, 0)))
        self.cross = np.empty((0, 0))

    def largest(self, C: float) -> float:
        return np.inf if self.squared else C * float(self.weight.max())

    def attach(self, K: np.ndarray) -> None:
        self.K = DenseQ(take_block(K, self.train))
        self.cross = K[self.test[:, None], self.train]

    def answer(self, C: float) -> Answer:
        own, start = C * self.weight, self.a
        if start is not None and not self.squared:
            size = np.abs(start)
            used = size > 0
            twice = np.tile(self.price * self.weight, 2)
            if np.count_nonzero(size[used] >= twice[used]) > _MOSTLY_BOUNDED * np.sum(used):
                start = start * (C / self.price)
        machine = self.machine
        problem = svr_problem(self.K, self.target, own, machine.epsilon, self.squared)
        result = solve(problem, start=start, tol=machine.tol, solver="smo", polished=True)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if not result.converged:
            raise Doubt
        self.a, self.price = result.a, C
        alpha = result.a.reshape(2, -1)
        coef = alpha[0] - alpha[1]
        _refuse_coarse(self.K.dtype, coef, machine.tol)
        predictions = self.cross @ coef - float(result.multiplier or 0.0)
        if not np.isfinite(predictions).all():
            raise Doubt
        return Answer(predictions, predictions, None)
