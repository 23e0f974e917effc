r"""Objectives of scaling factors: how good a machine is on features multiplied by ``sigma``.

With :math:`K_\sigma(x, x') = K(\sigma * x, \sigma * x')` two of the objectives here are optima of
other problems, whose variables depend on sigma. By the envelope theorem their derivative is that of
the inner objective with those variables held where they are:

.. math::

    D(\sigma) &= \max_\alpha \; \sum_i \alpha_i
        - \tfrac12 \sum_{i,l} \alpha_i \alpha_l y_i y_l K_\sigma(x_i, x_l),
    & \partial_j D &= -\tfrac12 \sum_{i,l} \alpha_i \alpha_l y_i y_l \, \partial_j K_\sigma, \\
    R^2(\sigma) &= \max_\beta \; \sum_i \beta_i K_\sigma(x_i, x_i)
        - \sum_{i,l} \beta_i \beta_l K_\sigma(x_i, x_l),
    & \partial_j R^2 &= \sum_i \beta_i \, \partial_j K_\sigma(x_i, x_i)
        - \sum_{i,l} \beta_i \beta_l \, \partial_j K_\sigma .

The third, the estimate of the leave-one-out error by spans, is no optimum: its dual variables
follow sigma by the linear system of the support vectors, whose derivative is taken with it.

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
from scipy.special import expit

from tamiz.kernels import FeatureGram, Kernel
from tamiz.qp import DenseQ, QuadraticProblem
from tamiz.runtime.progress import interruption
from tamiz.solvers import QPResult, Status, solve
from tamiz.svm.bounds import bordered_inverse
from tamiz.svm.diagnostics import from_first
from tamiz.svm.multiclass import Task as SVMTask
from tamiz.svm.multiclass import tasks
from tamiz.svm.path.problem import TubeTask
from tamiz.validation import TOO_FAR, TOO_LARGE, Labels, check_penalties, far_level

#: Stands for a factor of zero. Its square adds nothing to any kernel value, but the derivative by
#: the square of a factor can still be read off the derivative by the factor.
TINY = 1e-100
#: A factor has to be larger than this, to be told from one of zero.
LEAST = 1e-90

#: Accuracy of the inner problems, far below any decrease that a step is accepted for.
INNER_TOL = 1e-5

#: Dual variables below this fraction of the largest are zero up to the accuracy of the solver.
NO_SUPPORT = 1e-9

#: Up to this many samples the inner problems are solved to rounding level, which costs little and
#: makes the answer independent of the order of the samples.
SMALL = 100
_NO_RIDGE = 1e-307  # below it, one over a penalty is beyond float64


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
        self._entry_error = 0.0  # of the kernel values where it was asked last

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
            # values of a bounded kernel have digits left, unless factors are out of all bounds
            bounded = self.kernel.unit_bounded
            self._entry_error = 0.0 if bounded else tracker.entry_error
        value, inner, solutions = self._solve(K, self._starts(warm))

        def gradient() -> np.ndarray:
            out = np.zeros(len(sigma))
            with np.errstate(over="ignore", invalid="ignore"):
                out[self.columns] = inner(tracker)
            if not np.isfinite(out).all():
                raise ValueError(TOO_LARGE)
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
            raise interruption()
        if result.status is Status.UNBOUNDED:
            if self.kernel.always_mercer:
                raise ValueError(f"The problem has no optimum in floating point: {TOO_FAR}")
            raise ValueError(
                f"{self.kernel!r} is not positive semi-definite on these data, and the problem has "
                "no optimum. Use another kernel, or a smaller C."
            )
        self.n_failed += not result.converged
        return result

    def _matrix(self, part: np.ndarray) -> DenseQ:
        """Kernel values of some samples, with what rounding has done to them."""
        return DenseQ(part, self._entry_error)

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
            problem = task.problem(self._matrix(part), pair.penalty * pair.weight)
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
            penalties = pair.penalty * pair.weight
            if not float(penalties.min()) > _NO_RIDGE:
                check_penalties(penalties.min())
            part.flat[:: len(part) + 1] += 1.0 / penalties
            Q = self._matrix(part)
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


class SpanEstimate(Objective):
    r"""The number of leave-one-out errors of the machine with squared slack, estimated smoothly.

    If leaving sample p out changes no other support vector into one that is none, or back, then its
    decision value falls by ``α_p S_p²``, where ``S_p`` is the distance in feature space from it to
    the affine hull of the other support vectors; it is then wrong if that exceeds 1. Two things
    make this a continuous function of the factors. The span pays for what it takes of others,

    .. math::

        \bar S_p^2 = \min_{\sum \lambda_i = 1} \Bigl\| \phi(x_p) - \sum_{i \ne p} \lambda_i
            \phi(x_i) \Bigr\|^2 + \eta \sum_{i \ne p} \lambda_i^2 / \alpha_i
            = 1 / (\tilde K^{-1})_{pp} - \eta / \alpha_p,

    with :math:`\tilde K` the Gram matrix plus ``η/α`` on its diagonal, bordered by ones; and errors
    are counted by the logistic function of ``5 (α_p S_p² - 1)``.

    A sample of weight k stands for k copies, one of which is left out. Their matrix need not be
    formed: its inverse follows from that of the merged one.
    """

    ETA = 0.1  # what a unit of squared weight in a span costs
    STEEP = 5.0  # of the logistic function that counts errors

    def _solve(self, K: np.ndarray, starts: list[Any]) -> Solved:
        value = 0.0
        found, solutions = [], []
        for pair, start in zip(self.pairs, starts, strict=True):
            task = pair.task
            assert isinstance(task, SVMTask)  # a regression has no errors to count
            part = np.array(_part(K, task.samples))
            part.flat[:: len(part) + 1] += 1.0 / (pair.penalty * pair.weight)
            hard = task.problem(self._matrix(part), np.full(len(part), np.inf))
            result = self._optimum(hard, start)
            solutions.append(result.a)
            spans = _Spans(part, pair, task.signs, result.a, self.ETA, self.STEEP)
            value += spans.value
            found.append((task.samples[spans.rows], spans))

        def inner(tracker: FeatureGram) -> np.ndarray:
            return np.sum([tracker.weighted_gradient(r, s.weights()) for r, s in found], axis=0)

        return value, inner, solutions


class _Spans:
    """The spans of one machine, the errors they predict, and the derivative of that number.

    ``K`` is the Gram matrix with the ridge ``1/(kC)`` of squared slack on its diagonal.
    """

    def __init__(
        self,
        K: np.ndarray,
        pair: Pair,
        all_signs: np.ndarray,
        alpha: np.ndarray,
        eta: float,
        steep: float,
    ):
        self.rows = np.flatnonzero(alpha > NO_SUPPORT * alpha.max(initial=0.0))
        self.eta, self.steep = eta, steep
        signs = all_signs[self.rows]
        gram = from_first(K[np.ix_(self.rows, self.rows)])
        self.alpha, self.signs = alpha[self.rows], signs
        self.plain = bordered_inverse(gram)
        exact = signs * (self.plain[:-1, :-1] @ signs)
        if (exact > 0).all():  # the last digits, which a solver leaves to its tolerance
            self.alpha = exact
        self.copies = np.maximum(pair.weight[self.rows], 1.0)
        self.own = 1.0 / pair.penalty[self.rows] + eta * self.copies / self.alpha
        widened = gram.copy()
        widened.flat[:: len(gram) + 1] += eta / self.alpha
        self.inverse = bordered_inverse(widened)[:-1, :-1]
        k = self.copies
        self.depth = self.inverse.diagonal() / k**2 + (1.0 - 1.0 / k) / self.own
        fall = self.alpha / (k * self.depth) - eta
        self.count = expit(steep * (fall - 1.0))
        self.weight = pair.weight[self.rows]
        others = float(pair.weight.sum() - self.weight.sum())
        self.value = float(self.weight @ self.count) + others * float(expit(-steep))

    def weights(self) -> np.ndarray:
        """The derivative by the entries of the Gram matrix, symmetric."""
        k, alpha, depth, eta = self.copies, self.alpha, self.depth, self.eta
        rise = self.weight * self.steep * self.count * (1.0 - self.count)
        by_depth = -rise * alpha / (k * depth**2)
        by_inverse = by_depth / k**2
        by_alpha = rise / (k * depth)
        by_alpha += by_depth * (1.0 - 1.0 / k) * eta * k / (alpha * self.own) ** 2
        by_alpha += eta / alpha**2 * (self.inverse**2 @ by_inverse)
        # the dual variables follow the matrix by the linear system of the support vectors
        pull = self.plain[:-1, :-1] @ (by_alpha * self.signs)
        coef = alpha * self.signs
        both = np.outer(pull, coef)
        return -0.5 * (both + both.T) - (self.inverse * by_inverse) @ self.inverse


def _pairs(sample: Sample) -> list[Pair]:
    """The machines, without samples whose errors cost nothing."""
    labels, penalty = sample.labels, sample.penalty
    if isinstance(labels, TubeTarget):
        values = labels.values - far_level(labels.values)  # the intercept's; digits are kept
        tube = TubeTask(np.arange(len(penalty)), values, labels.epsilon)
        return [Pair(tube, sample.weight, penalty)]
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
