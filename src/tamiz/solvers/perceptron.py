r"""Rosenblatt's perceptron, with the pocket and a proof of cycling.

Seeks a ``β`` with ``y_i⟨β, x_i⟩ > 0`` for all samples. Starting from zero, the samples are taken
in turn, and each one found on the wrong side (or on the border) changes the weights:

.. math::

    y_i \langle\beta, x_i\rangle \le 0 \;\Longrightarrow\; \beta \leftarrow \beta + \eta\, y_i x_i .

If some ``β*`` has ``y_i⟨β*, x_i⟩ ≥ 1`` for all ``i``, at most ``(max‖x_i‖ · ‖β*‖)²`` changes are
made, in whatever order the samples come (of weighted samples, a change by a fraction of a step is
so much of a change). If there is none, the weights stay bounded but never
rest. In a fixed order the weights at the start of a pass determine all that follows, so the first
return to weights seen before proves that the perceptron will run in a circle for ever. Brent's
method notices it while it remembers one vector: that of the last pass whose number is a power of
two.

The pocket keeps the best weights met on the way: whenever they have classified more samples in a
row than any before, their errors on all samples are counted, and they are kept if these are fewer.

References
----------
.. [1] F. Rosenblatt (1958). The perceptron. Psychological Review 65.
.. [2] A. B. J. Novikoff (1962). On convergence proofs on perceptrons.
.. [3] S. I. Gallant (1990). Perceptron-based learning algorithms. IEEE Transactions on Neural
       Networks 1.
.. [4] R. P. Brent (1980). An improved Monte Carlo factorization algorithm. BIT 20.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tamiz.runtime.compiling import njit
from tamiz.runtime.progress import Progress
from tamiz.solvers._rows import add_row, dot_row, row_arrays, rows_per_run

_MISTAKES, _RUN, _LONGEST = range(3)  # places in the tally


class PerceptronResult(NamedTuple):
    """Outcome of the perceptron."""

    solution: np.ndarray  # (p + 1,): the intercept last
    objective: float  # training samples on the wrong side of the solution, or on its border
    bound: None  # on the mistakes: needs a machine that separates
    iterations: int  # passes
    status: str  # "separated", "cycles", "limit" or "interrupted"
    mistakes: float  # a change by a fraction of a step is so much of a mistake


def solve_perceptron(
    X: Any,
    signs: np.ndarray,
    *,
    intercept: bool = True,
    learning_rate: float = 1.0,
    max_iter: int = 1000,
    pocket: bool = False,
    draw: Callable[[], np.ndarray] | None = None,
    weight: np.ndarray | None = None,
    verbose: bool | int = 0,
) -> PerceptronResult:
    """Run the perceptron on one two-class problem.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, p)
        Rows.
    signs : array of shape (n,)
        -1 or 1.
    intercept : bool, default=True
        Append a constant feature.
    learning_rate : float, default=1.0
        ``η``: multiplies the weights and nothing else.
    max_iter : int, default=1000
        Limit on the passes over the samples; with 0 the weights stay zero.
    pocket : bool, default=False
        Return the best weights met instead of the last.
    draw : callable, optional
        Gives the order of the next pass. If there is none, the order is that of the rows and
        cycles are noticed.
    weight : array of shape (n,), optional
        How often each row is presented, one time after the other: a row of weight 2.5 changes the
        weights up to three times, the last time by half. The row counts 2.5 times in the pocket.
    verbose : bool or int, default=0
        Show progress.

    Returns
    -------
    result : PerceptronResult
    """
    run = _Run(X, signs, weight, (intercept, learning_rate, pocket))
    given = np.arange(X.shape[0])
    anchor = None
    status, epoch = "limit", 0
    try:
        with Progress("perceptron", verbose, most=max_iter) as progress:
            for epoch in range(1, max_iter + 1):
                before = run.mistakes
                run.take(given if draw is None else draw())
                if run.mistakes == before:
                    status = "separated"
                    break
                if draw is None:
                    if anchor is not None and np.array_equal(run.w, anchor):
                        status = "cycles"
                        break
                    if epoch & (epoch - 1) == 0:
                        anchor = run.w.copy()
                made = run.mistakes - before
                progress.update(f"pass {epoch:,}, {made:,.6g} mistakes in the last")
    except KeyboardInterrupt:
        status = "interrupted"
    solution, errors = run.outcome()
    return PerceptronResult(solution, errors, None, epoch, status, run.mistakes)


class _Run:
    """Weights, tally and pocket of a perceptron at work."""

    def __init__(
        self,
        X: Any,
        signs: np.ndarray,
        weight: np.ndarray | None,
        rule: tuple[bool, float, bool],
    ):
        self.X, self.signs = X, signs
        self.weight = np.ones(len(signs)) if weight is None else weight
        self.intercept, self.eta, pocket = rule
        self.arrays = row_arrays(X)
        self.stride = rows_per_run(X)
        self.w = np.zeros((1, X.shape[1] + 1))
        self.tally = np.zeros(3)
        most = self.weight.sum() + 1.0
        self.pocket: tuple[float, np.ndarray] | None = (most, self.w[0]) if pocket else None

    @property
    def mistakes(self) -> float:
        return float(self.tally[_MISTAKES])

    def take(self, order: np.ndarray) -> None:
        """Present all samples once."""
        rule = self.eta, self.intercept, self.pocket is not None
        position = 0
        while position < len(order):
            stop = min(position + self.stride, len(order))
            targets = self.signs, self.weight
            position = _present(
                self.arrays, targets, order, position, stop, rule, self.w, self.tally
            )
            if position < stop:  # stopped before a change, at the end of the longest run so far
                self._consider()
                self.tally[_LONGEST] = self.tally[_RUN]

    def outcome(self) -> tuple[np.ndarray, float]:
        """Return the weights to keep and their training errors."""
        if self.pocket is None:
            return self.w[0], self._errors()
        self._consider()
        return self.pocket[1], self.pocket[0]

    def _consider(self) -> None:
        errors = self._errors()
        if self.pocket is not None and errors < self.pocket[0]:
            self.pocket = (errors, self.w[0].copy())

    def _errors(self) -> float:
        decision = self.X @ self.w[0, :-1] + self.w[0, -1]
        return float(self.weight[self.signs * decision <= 0.0].sum())


@njit(cache=True, nogil=True)
def _present(rows, targets, order, start, stop, rule, w, tally):
    """Present samples until ``stop``; return early before a change that ends a longest run."""
    values, indices, indptr = rows
    signs, weight = targets
    eta, intercept, pocket = rule
    last = w.shape[1] - 1
    for position in range(start, stop):
        i = order[position]
        left, before = weight[i], np.inf
        while left > 0.0:
            decision = dot_row(w, 0, values, indices, indptr, i) + w[0, last]
            if signs[i] * decision > 0.0:
                tally[_RUN] += left
                break
            if decision == before:  # an empty row: the other times change nothing either
                tally[_MISTAKES] += left
                break
            if pocket and tally[_RUN] > tally[_LONGEST]:
                return position  # before the row's first change: a run ends with it
            step, before = eta * min(left, 1.0), decision
            add_row(w, 0, step * signs[i], values, indices, indptr, i)
            if intercept:
                w[0, last] += step * signs[i]
            tally[_MISTAKES] += min(left, 1.0)
            tally[_RUN] = 0
            left -= 1.0
    return stop
