r"""Objectives of scaling factors: how good a machine is on features multiplied by ``sigma``.

With :math:`K_\sigma(x, x') = K(\sigma * x, \sigma * x')` both objectives here are optima of other
problems, whose variables depend on sigma. By the envelope theorem their derivative is that of the
inner objective with those variables held where they are:

.. math::

    D(\sigma) &= \max_\alpha \; \sum_i \alpha_i
        - \tfrac12 \sum_{i,l} \alpha_i \alpha_l y_i y_l K_\sigma(x_i, x_l),
    & \partial_j D &= -\tfrac12 \sum_{i,l} \alpha_i \alpha_l y_i y_l \, \partial_j K_\sigma, \\
    R^2(\sigma) &= \max_\beta \; \sum_i \beta_i K_\sigma(x_i, x_i)
        - \sum_{i,l} \beta_i \beta_l K_\sigma(x_i, x_l),
    & \partial_j R^2 &= \sum_i \beta_i \, \partial_j K_\sigma(x_i, x_i)
        - \sum_{i,l} \beta_i \beta_l \, \partial_j K_\sigma .

Several classes: the sum over the machines of all pairs of classes.

A numeric target has one machine, a support vector regression. Its dual is

.. math::

    D(\sigma) = \max_{|\beta_i| \le C_i,\; \sum_i \beta_i = 0} \; \sum_i \beta_i t_i
        - \epsilon \sum_i |\beta_i|
        - \tfrac12 \sum_{i,l} \beta_i \beta_l K_\sigma(x_i, x_l),

of which the factors move the quadratic term alone: the derivatives are those above with
:math:`\beta_i` in place of :math:`\alpha_i y_i`. With squared slack the machine is one without
slack for the kernel :math:`K + I/C`, and :math:`\|w\|^2` is twice its optimum, so that the product
:math:`R^2 \|w\|^2` has the same derivative as for classes, too. For classes it bounds the number of
leave-one-out errors since :math:`\|w\|^2 = \sum_i \alpha_i`. The bound on the leave-one-out error
of a regression, :math:`4 R^2 \sum_i |\beta_i| + n\epsilon` [2]_, has a sum in it that is no optimum
and has kinks; the product is minimised in its place.

References
----------
.. [1] O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee (2002). Choosing multiple parameters for
       support vector machines. Machine Learning 46.
.. [2] M.-W. Chang, C.-J. Lin (2005). Leave-one-out bounds for support vector regression model
       selection. Neural Computation 17.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tamiz.kernels import FeatureGram, Kernel
from tamiz.qp import DenseQ, QuadraticProblem
from tamiz.solvers import QPResult, Status, solve
from tamiz.svm.multiclass import Task as SVMTask
from tamiz.svm.multiclass import tasks
from tamiz.svm.path.problem import TubeTask
from tamiz.validation import TOO_LARGE, Labels

#: Stands for a factor of zero. Its square adds nothing to any kernel value, but the derivative by
#: the square of a factor can still be read off the derivative by the factor.
TINY = 1e-100

#: Accuracy of the inner problems, far below any decrease that a step is accepted for.
INNER_TOL = 1e-5

#: Up to this many samples the inner problems are solved to rounding level, which costs little and
#: makes the answer independent of the order of the samples.
SMALL = 100


class TubeTarget(NamedTuple):
    """A numeric target, and the half-width of the tube around it."""

    values: np.ndarray
    epsilon: float


class Sample(NamedTuple):
    """The training samples: their table, their classes, and what their errors cost."""

    X: np.ndarray
    labels: Labels | TubeTarget
    weight: np.ndarray  # how often a sample counts
    penalty: np.ndarray  # C times the weight of its class, for a sample that counts once


class Pair(NamedTuple):
    """One machine: its problem, and the weights and penalties of its samples."""

    task: SVMTask | TubeTask
    weight: np.ndarray
    penalty: np.ndarray


class Value(NamedTuple):
    """The objective at some factors, and its derivative by them when asked for."""

    value: float
    gradient: Callable[[], np.ndarray]  # of the part that depends on the data
    toll: np.ndarray | float = 0.0  # derivative of a penalty on the factors
    warm: np.ndarray | None = None  # dual variables of all machines, to start others from


#: The value, what gives the gradient once it is wanted, and the dual variables.
Solved = tuple[float, Callable[[FeatureGram], np.ndarray], list[np.ndarray]]


class Objective(ABC):
    """A function of the scaling factors that re-solves its machines wherever it is asked.

    An answer holds the dual variables of its machines, and a question may name some to start from,
    so that small steps cost little. Nothing else is remembered between questions: a run that is
    taken up again with the same factors and dual variables goes the same way.
    """

    def __init__(self, kernel: Kernel, sample: Sample):
        self.kernel = kernel
        self.X = sample.X
        self.pairs = _pairs(sample)
        self.n_evaluations = 0
        self.n_failed = 0  # inner problems that were not solved up to their tolerance
        self.columns = np.arange(sample.X.shape[1])
        self._part = sample.X

    def restrict(self, columns: np.ndarray) -> None:
        """Leave the other features out of all further work; their factors must be zero."""
        if not self.kernel.any_width or np.array_equal(columns, self.columns):
            return
        self.columns = columns
        self._part = np.ascontiguousarray(self.X[:, columns])

    def at(self, sigma: np.ndarray, warm: np.ndarray | None = None) -> Value:
        """The objective at the factors ``sigma`` of all features."""
        self.n_evaluations += 1
        factors = np.maximum(sigma[self.columns], TINY)
        with np.errstate(over="ignore", invalid="ignore"):
            tracker = self.kernel.track(self._part, factors)
            K = tracker.K
        if not np.isfinite(K).all():
            raise ValueError(TOO_LARGE)
        value, inner, solutions = self._solve(K, self._starts(warm))

        def gradient() -> np.ndarray:
            out = np.zeros(len(sigma))
            out[self.columns] = inner(tracker)
            return out

        return Value(value, gradient, warm=np.concatenate(solutions))

    def _starts(self, warm: np.ndarray | None) -> list[Any]:
        """Dual variables to start from, one vector after the other; None where there are none."""
        sizes = [size for pair in self.pairs for size in self._sizes(pair)]
        if warm is None:
            return [None] * len(sizes)
        return np.split(warm, np.cumsum(sizes)[:-1])

    def _sizes(self, pair: Pair) -> list[int]:
        """Lengths of the vectors of dual variables of a machine."""
        return [pair.task.n_variables]

    def _optimum(
        self, problem: QuadraticProblem, start: np.ndarray | None, scale: float = 1.0
    ) -> QPResult:
        """Solve an inner problem whose gradient has entries of the size ``scale``."""
        polished = problem.n <= SMALL
        result = solve(problem, tol=INNER_TOL * scale, start=start, polished=polished)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status is Status.UNBOUNDED:
            raise ValueError(
                f"{self.kernel!r} is not positive semi-definite on these data, and the problem has "
                "no optimum. Use another kernel, or a smaller C."
            )
        self.n_failed += not result.converged
        return result

    @abstractmethod
    def _solve(self, K: np.ndarray, starts: list[Any]) -> Solved:
        """Solve all machines for a Gram matrix."""


class DualOptimum(Objective):
    """``D(sigma)``, the optimum of the machine with slack, ½‖w‖² + Σ C_i ξ_i."""

    def _solve(self, K: np.ndarray, starts: list[Any]) -> Solved:
        value = 0.0
        coefficients, solutions = [], []
        for pair, start in zip(self.pairs, starts, strict=True):
            task = pair.task
            part = _part(K, task.samples)
            problem = task.problem(DenseQ(part), pair.penalty * pair.weight)
            result = self._optimum(problem, start, task.scale)
            solutions.append(result.a)
            value -= float(result.objective or 0.0)
            coefficients.append(_spread(task.coef(result.a), task.samples, len(K)))

        def inner(tracker: FeatureGram) -> np.ndarray:
            return -0.5 * np.sum([tracker.gradient(c) for c in coefficients], axis=0)

        return value, inner, solutions


class RadiusMargin(Objective):
    """``R²(sigma) ‖w‖²(sigma)`` of the machine with squared slack.

    Squared slack is a hard margin for the kernel ``K + I/C``, for which four times this product
    bounds the number of leave-one-out errors; the ball is that of the same kernel. A sample of
    weight k stands for k copies, each of which has a direction of its own in the space of that
    kernel: together they have ``1/(kC)`` in the quadratic terms and ``1/C`` in the linear one.
    """

    def _sizes(self, pair: Pair) -> list[int]:
        return [pair.task.n_variables, len(pair.weight)]  # of the machine, and of the ball

    def _solve(self, K: np.ndarray, starts: list[Any]) -> Solved:
        value = 0.0
        found, solutions = [], []
        for k, pair in enumerate(self.pairs):
            task = pair.task
            part = np.array(_part(K, task.samples))
            corner = part.diagonal() + 1.0 / pair.penalty
            part.flat[:: len(part) + 1] += 1.0 / (pair.penalty * pair.weight)
            Q = DenseQ(part)
            hard = task.problem(Q, np.full(len(part), np.inf))
            margin = self._optimum(hard, starts[2 * k], task.scale)
            ball = QuadraticProblem(Q=Q, p=-0.5 * corner, y=1.0, d=1.0, lower=0.0, upper=np.inf)
            size = float(np.abs(corner).max())
            smallest = self._optimum(ball, starts[2 * k + 1], size)
            solutions += [margin.a, smallest.a]
            w2 = -2.0 * float(margin.objective or 0.0)
            r2 = -2.0 * float(smallest.objective or 0.0)
            value += r2 * w2
            alpha = _spread(task.coef(margin.a), task.samples, len(K))
            beta = _spread(smallest.a, task.samples, len(K))
            found.append((r2, w2, alpha, beta))

        def inner(tracker: FeatureGram) -> np.ndarray:
            total = np.zeros(tracker.p)
            for r2, w2, alpha, beta in found:
                total -= r2 * tracker.gradient(alpha)
                total += w2 * (tracker.diag_gradient(beta) - tracker.gradient(beta))
            return total

        return value, inner, solutions


def _pairs(sample: Sample) -> list[Pair]:
    """The machines, without samples whose errors cost nothing."""
    labels, penalty = sample.labels, sample.penalty
    if isinstance(labels, TubeTarget):
        return [Pair(TubeTask(np.arange(len(penalty)), *labels), sample.weight, penalty)]
    found = []
    for task in tasks(labels.codes, len(labels.classes), "ovo"):
        kept = penalty[task.samples] > 0
        samples, signs = task.samples[kept], task.signs[kept]
        if len(np.unique(signs)) == 2:
            found.append(Pair(SVMTask(samples, signs), sample.weight[samples], penalty[samples]))
    if not found:
        raise ValueError(
            "class_weight leaves only one class with a positive weight, so that nothing is left to "
            "separate. Give at least two classes a positive weight."
        )
    return found


def _part(K: np.ndarray, samples: np.ndarray) -> np.ndarray:
    return K if len(samples) == len(K) else K[np.ix_(samples, samples)]


def _spread(values: np.ndarray, samples: np.ndarray, n: int) -> np.ndarray:
    out = np.zeros(n)
    out[samples] = values
    return out
