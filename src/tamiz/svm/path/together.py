"""All C, all splits and all pairs of classes of a grid on one kernel matrix of a card.

:mod:`tamiz.gpu.columns` states the method. Here are the machines: each is a line, a box and a
linear term for C = 1, of which every C of the grid makes one column. C that are neighbours are
solved together with one inverse; the largest of them is where the next ones start. Columns that do
not reach the gap in the steps allowed are finished by decomposition
(:mod:`tamiz.solvers.card`), from the point they have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamiz.gpu.columns import (
    Certified,
    ColumnAnswers,
    ColumnProblems,
    bytes_of_columns,
    certify,
    solve_columns,
)
from tamiz.gpu.lane import Lane
from tamiz.qp import QuadraticProblem, svr_problem
from tamiz.qp.card import CardQ
from tamiz.solvers import QPResult, Status, solve

#: C of one group: at most so many, and so far apart.
_GROUP, _SPREAD = 8, 8.0
#: rho is this much over C, in units of the linear term.
_RHO = 20.0
#: Fraction of bounded support vectors above which a point is scaled with C.
_MOSTLY_BOUNDED = 0.3
#: Tolerances that finish a column, until its gap is small enough.
_TOLERANCES = tuple(10.0**-k for k in range(3, 11))


class Line(NamedTuple):
    """One machine along C, over all samples of the table.

    Attributes
    ----------
    p, lower, upper : arrays of shape (n,)
        Linear term, and bounds for C = 1; samples that take no part have both bounds at zero.
    tube : float
        Half-width of the tube of a regression; 0 for a classifier.
    scale : float
        Size of the linear term.
    """

    p: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    tube: float = 0.0
    scale: float = 1.0


class Solved(NamedTuple):
    """One machine.

    Attributes
    ----------
    place : int
        Position of its C among those given.
    line : int
        Position of its line.
    values : array of shape (n,)
        Decision values, or predictions, at all samples of the table.
    b : array of shape (n,)
        Its coefficients.
    gap : float
        Duality gap beside the dual objective: a bound on how far that is from the optimum.
    finished : bool
        Whether decomposition took the last steps.
    """

    place: int
    line: int
    values: np.ndarray
    b: np.ndarray
    gap: float
    finished: bool


def solve_together(
    Q: CardQ, lines: Sequence[Line], penalties: Sequence[float], gap: float
) -> Iterator[Solved]:
    """Solve every line for every C; they come in groups of neighbouring C, ascending.

    Parameters
    ----------
    Q : CardQ
        The kernel matrix over all samples, in float64.
    lines : sequence of Line
        The machines.
    penalties : sequence of float
        Values of C, ascending and distinct.
    gap : float
        Relative duality gap to reach.
    """
    lane, K = Q.lane, Q.gram.whole
    fixed = _sent(lane, lines)
    at_largest: np.ndarray | None = None
    largest = 0.0
    scale = float(np.exp(np.mean(np.log([line.scale for line in lines]))))
    for places in _groups(penalties):
        C = np.array([penalties[k] for k in places])
        problems = _problems(lane, fixed, C)
        start = None
        if at_largest is not None:
            start = _scaled(lane, problems, at_largest, C / largest, len(lines))
        rho = _RHO * scale / float(np.exp(np.log(C).mean()))
        answers = solve_columns(lane, K, problems, rho, gap, start)
        finished = _finish(Q, lines, C, problems, answers, gap)
        last = slice((len(C) - 1) * len(lines), None)
        at_largest, largest = answers.b[:, last], float(C[-1])
        for column in range(len(C) * len(lines)):
            at, line = divmod(column, len(lines))
            values, b = answers.values[:, column], answers.b[:, column]
            found = float(answers.gap[column])
            yield Solved(places[at], line, values, b, found, column in finished)


def bytes_together(n: int, n_lines: int) -> float:
    """Memory of the card that it takes: the matrix, its inverse and what that takes to compute."""
    return 8.0 * n * n + bytes_of_columns(n, _GROUP * n_lines)


def _groups(penalties: Sequence[float]) -> list[list[int]]:
    """Positions of neighbouring C."""
    groups: list[list[int]] = []
    for k, C in enumerate(penalties):
        last = groups[-1] if groups else []
        if last and len(last) < _GROUP and _SPREAD * penalties[last[0]] >= C:
            last.append(k)
        else:
            groups.append([k])
    return groups


def _sent(lane: Lane, lines: Sequence[Line]) -> ColumnProblems:
    """The lines on the card, for C = 1."""

    def columns(parts: list[np.ndarray]) -> Any:
        return lane.to_device(np.stack(parts, axis=1), np.float64)

    return ColumnProblems(
        columns([line.p for line in lines]),
        columns([line.lower for line in lines]),
        columns([line.upper for line in lines]),
        lane.to_device(np.array([line.tube for line in lines]), np.float64),
    )


def _problems(lane: Lane, fixed: ColumnProblems, C: np.ndarray) -> ColumnProblems:
    """All lines for each of these C, one C after the other."""
    xp, each = lane.xp, [float(one) for one in C]
    return ColumnProblems(
        xp.concatenate([fixed.p] * len(each), axis=1),
        xp.concatenate([fixed.lower * one for one in each], axis=1),
        xp.concatenate([fixed.upper * one for one in each], axis=1),
        xp.concatenate([fixed.tube] * len(each)),
    )


def _scaled(
    lane: Lane, problems: ColumnProblems, before: np.ndarray, ratios: np.ndarray, n_lines: int
) -> Any:
    """Points to begin with: those of a smaller C, which grow with C if most are at bounds."""
    xp = lane.xp
    b = lane.to_device(before)
    first = slice(0, n_lines)
    ends = xp.maximum(problems.upper[:, first], -problems.lower[:, first]) / float(ratios[0])
    support = b != 0.0
    bounded = (support & (xp.abs(b) >= (1.0 - 1e-9) * ends)).sum(axis=0)
    grows = bounded > _MOSTLY_BOUNDED * support.sum(axis=0)
    return xp.concatenate([b * xp.where(grows, float(r), 1.0) for r in ratios], axis=1)


def _finish(
    Q: CardQ,
    lines: Sequence[Line],
    C: np.ndarray,
    problems: ColumnProblems,
    answers: ColumnAnswers,
    gap: float,
) -> set[int]:
    """Bring the columns that fell short to the gap, in place; returns which."""
    late = np.flatnonzero(~(answers.gap <= gap))
    for column in late:
        at, line = divmod(int(column), len(lines))
        problem = problems.some(Q.lane.to_device(np.array([column]), np.int64))
        b = answers.b[:, column].copy()
        for tol in _TOLERANCES:
            b = _decomposed(Q, lines[line], float(C[at]), b, tol * lines[line].scale)
            point = certify(Q.lane, Q.gram.whole, problem, Q.lane.to_device(b[:, None]))
            _take(Q.lane, point, answers, int(column))
            if answers.gap[column] <= gap:
                break
    return {int(column) for column in late}


def _decomposed(Q: CardQ, line: Line, C: float, b: np.ndarray, tol: float) -> np.ndarray:
    """The machine by decomposition, from ``b``."""
    if not line.tube:
        problem = QuadraticProblem(Q, line.p, lower=C * line.lower, upper=C * line.upper)
        return _uninterrupted(solve(problem, start=b, tol=tol)).a
    start = np.concatenate([np.maximum(b, 0.0), np.maximum(-b, 0.0)])
    regression = svr_problem(Q, -line.p, C * line.upper, line.tube)
    up, down = _uninterrupted(solve(regression, start=start, tol=tol)).a.reshape(2, -1)
    return np.asarray(up - down)


def _uninterrupted(result: QPResult) -> QPResult:
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt  # solvers keep it to themselves
    return result


def _take(lane: Lane, point: Certified, answers: ColumnAnswers, column: int) -> None:
    """Write a point down if it is better than the one known."""
    now = float(lane.to_host(point.relative())[0])
    if now < answers.gap[column]:
        answers.b[:, column] = lane.to_host(point.b)[:, 0]
        answers.values[:, column] = lane.to_host(point.values)[:, 0]
        answers.gap[column] = now
