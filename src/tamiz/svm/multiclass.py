r"""The machine of two classes, and more classes than two: which machines, and one answer from all.

One versus one builds a machine for each pair of classes ``(i, j)``, ``i < j``, positive for ``j``;
the class with most votes wins, ties go to the larger sum of decision values. One versus rest
builds a machine for each class, positive for it; the largest decision value wins. Two classes need
one machine, positive for the second.

Each of them is the binary soft-margin machine, a function here: data in, solution with its
diagnostics out.

.. math::

    \min_{w, b, \xi} \; \tfrac12 \|w\|^2 + \sum_i C_i \xi_i
    \quad\text{s.t.}\quad y_i(\langle w, \phi(x_i)\rangle + b) \ge 1 - \xi_i,\; \xi \ge 0

Everything reported follows from the dual solution and its gradient ``g = Q alpha - 1``: the
decision value of a training sample is ``y_i (g_i + 1) + b``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from tamiz.qp import QMatrix, QuadraticProblem, svc_problem
from tamiz.solvers import QPResult, Status, solve
from tamiz.validation import check_penalties


class SignFree(NamedTuple):
    """A dual in the sign-free variables of :mod:`tamiz.qp.problem`."""

    p: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    tube: np.ndarray  # half-width of a regression's tube at each sample; zero for a classifier


class Task(NamedTuple):
    """One binary problem: the samples that take part and their signs."""

    samples: np.ndarray
    signs: np.ndarray

    def sign_free(self, C: np.ndarray) -> SignFree:
        """The dual with the penalties ``C`` of its samples."""
        ends = self.signs * C
        lower, upper = np.minimum(ends, 0.0), np.maximum(ends, 0.0)
        return SignFree(-self.signs, lower, upper, np.zeros(len(ends)))

    def problem(self, K: QMatrix, C: np.ndarray) -> QuadraticProblem:
        """The dual with this kernel matrix, as solvers take it."""
        return svc_problem(K, self.signs, C)

    def to_dual(self, b: np.ndarray) -> np.ndarray:
        """Variables of :meth:`problem` from sign-free ones."""
        return b * self.signs

    def coef(self, a: np.ndarray) -> np.ndarray:
        """Sign-free variables from those of :meth:`problem`: the coefficients of the machine."""
        return a * self.signs

    def from_dual(self, a: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sign-free variables and their gradient from those of :meth:`problem`."""
        return a * self.signs, gradient * self.signs

    @property
    def n_variables(self) -> int:
        """How many variables :meth:`problem` has."""
        return len(self.samples)

    @property
    def scale(self) -> float:
        """Size of the entries of the gradient."""
        return 1.0


def tasks(codes: np.ndarray, n_classes: int, scheme: str) -> Iterator[Task]:
    """The binary problems of a scheme, in the order of the machines."""
    if scheme == "ovr" and n_classes > 2:
        everyone = np.arange(len(codes))
        for k in range(n_classes):
            yield Task(everyone, np.where(codes == k, 1.0, -1.0))
        return
    for i, j in combinations(range(n_classes), 2):
        samples = np.flatnonzero((codes == i) | (codes == j))
        yield Task(samples, np.where(codes[samples] == j, 1.0, -1.0))


class Decision(NamedTuple):
    """What the machines say together about some samples."""

    winner: np.ndarray  # codes of the classes
    values: np.ndarray  # of two classes the decision values, else a score for each class
    distance: np.ndarray  # what a value must change by, at least, for another winner


def decide(values: np.ndarray, n_classes: int, scheme: str) -> Decision:
    """The common decision from the values of all machines, (samples, machines)."""
    if n_classes == 2:
        values = values[:, 0]
        return Decision((values > 0).astype(np.intp), values, np.abs(values))
    scores = class_scores(values, n_classes, scheme)
    two = np.partition(scores, -2, axis=1)[:, -2:]
    distance = two[:, 1] - two[:, 0]
    if scheme == "ovo":
        distance = np.minimum(distance, np.abs(values).min(axis=1))
    return Decision(scores.argmax(axis=1), scores, distance)


def class_scores(decisions: np.ndarray, n_classes: int, scheme: str) -> np.ndarray:
    """One score per class from the values of all machines, (samples, classes).

    For one versus one the score is the number of votes plus the summed decision values squeezed
    into (-1/2, 1/2), so that the order by score is the order by votes, ties by sums.
    """
    if scheme == "ovr":
        return decisions
    votes = np.zeros((len(decisions), n_classes))
    sums = np.zeros((len(decisions), n_classes))
    largest = 1e300 / n_classes  # beyond it, sums would not be finite
    for k, (i, j) in enumerate(combinations(range(n_classes), 2)):
        value = np.clip(decisions[:, k], -largest, largest)
        votes[:, j] += value > 0
        votes[:, i] += value <= 0
        sums[:, j] += value
        sums[:, i] -= value
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


class BinaryFit(NamedTuple):
    """A fitted binary machine; index sets refer to the samples it was fitted on."""

    alpha: np.ndarray
    intercept: float
    slack: np.ndarray
    free: np.ndarray  # 0 < alpha < C
    bounded: np.ndarray  # alpha == C
    margin: float  # 1 / ||w||
    objective: float  # primal
    dual_objective: float
    duality_gap: float
    kkt_violation: float
    n_iter: int
    status: Status
    rounding: float = 0.0  # what rounding of kernel values may change in a decision value
    precision: str = "float64"  # type of the kernel values that it was solved with


def fit_binary(
    K: QMatrix,
    signs: np.ndarray,
    C: np.ndarray,
    start: np.ndarray | None = None,
    **options: Any,
) -> BinaryFit:
    """Fit one machine to labels ±1; ``options`` go to :func:`tamiz.solvers.solve`."""
    result = solve(svc_problem(K, signs, C), start=start, **options)
    return describe(result, signs, C)


def at_stake(alpha: np.ndarray, penalties: np.ndarray) -> float:
    """What a duality gap may change by when decision values change, all by one, independently.

    ``penalties`` are those of the samples that have slack.
    """
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(alpha) + np.linalg.norm(penalties))


def describe(result: QPResult, signs: np.ndarray, C: np.ndarray) -> BinaryFit:
    """Turn a solution of the quadratic problem into a machine."""
    alpha, gradient = result.a, result.gradient
    assert gradient is not None  # the problem is always feasible: alpha = 0
    # minus the multiplier of the equality in the sign-free problem; + 0.0 turns -0.0 into 0.0
    intercept = -float(result.multiplier or 0.0) + 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        squared_norm = float(alpha @ (gradient + 1.0))
        lost = 4.0 * result.rounding * float(np.linalg.norm(alpha))
    zero = 1e-9 * max(1.0, float(alpha.sum()))
    margin = np.inf if squared_norm >= -zero else np.nan  # where it is not known to be positive
    if squared_norm < -max(zero, lost):
        squared_norm = np.nan  # an indefinite kernel has no norm, no margin and no duality gap
    else:
        squared_norm = max(0.0, squared_norm)
    slack = np.maximum(0.0, -(gradient + signs * intercept))
    positive = alpha > 0
    with np.errstate(over="ignore", invalid="ignore"):
        penalty = float(np.sum(np.where(slack > 0, C * slack, 0.0)))
    if np.isfinite(C).all() and not (np.isfinite(penalty) and np.isfinite(alpha.sum())):
        check_penalties(C)
    primal = 0.5 * squared_norm + penalty
    dual = float(alpha.sum() - 0.5 * squared_norm)
    gap = float(np.maximum(0.0, primal - dual))
    if result.rounding > 0:  # which may give slack to samples on the margin, too
        touched = -(gradient + signs * intercept) > -result.rounding
        gap += result.rounding * at_stake(alpha, C[touched & np.isfinite(C)])
    return BinaryFit(
        alpha=alpha,
        intercept=intercept,
        slack=slack,
        free=np.flatnonzero(positive & (alpha < C)),
        bounded=np.flatnonzero(positive & (alpha >= C)),
        margin=margin if squared_norm == 0 else 1.0 / np.sqrt(squared_norm),
        objective=primal,
        dual_objective=dual,
        duality_gap=gap,
        kkt_violation=float(result.violation or 0.0),
        n_iter=result.iterations,
        status=result.status,
        rounding=result.rounding,
        precision=result.precision,
    )
