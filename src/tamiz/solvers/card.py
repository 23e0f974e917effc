r"""Decomposition with the matrix on a card: large working sets, the rest stays there.

The problem (:mod:`tamiz.solvers.smo`) and the plan are those of
:mod:`tamiz.solvers.working_sets`; what differs is where things are. The point ``b``, the gradient
``g`` and the kernel matrix are on the card. In each round

1. the card sorts the variables that can grow by ``g`` and those that can shrink by ``-g``: half of
   the working set ``W`` are its worst, half what is left of the previous one, free variables first;
2. the block ``K[W, W]`` with ``b`` and ``g`` of ``W`` come to the host, where the compiled pair
   solver minimises over it;
3. the change goes back, and ``g += change @ K[W, :]`` on the card, in float64.

Where the matrix does not fit, rows are computed when they are needed, which a card does about as
fast as it reads them.

At the end, whatever ended it, the gradient is computed again from the samples in float64: what is
reported (violation, duality gap, decision values of the training samples) rests on that and not on
sums that were carried along. If the conditions fail there, the loop goes on from it, and if that
does not help a matrix in float32 has to go:
:func:`tamiz.solvers.solve` goes on with a matrix in float64.

References
----------
.. [1] T. Joachims (1999). Making large-scale SVM learning practical.
.. [2] Z. Wen, J. Shi, Q. Li, B. He, J. Chen (2018). ThunderSVM: a fast SVM library on GPUs and
       CPUs. Journal of Machine Learning Research 19. Large working sets on a card.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.qp.matrices import OnCard
from tamiz.qp.problem import QuadraticProblem
from tamiz.runtime.progress import Progress
from tamiz.solvers.decomposition import LARGEST_WORKING_SET
from tamiz.solvers.frame import QPResult, State, Status, run_solver
from tamiz.solvers.pairs import UNBOUNDED, BoxPoint
from tamiz.solvers.working_sets import minimise_block

#: Samples in play at a time: the block goes to the host, so that four times as many cost sixteen.
WORKING_SET = 2048
#: How often the gradient computed again may prove the one carried along wrong.
_PROOFS = 3
#: Rounds without a gain of one half after which the working set doubles; and gives up.
_PATIENCE, _FRUITLESS = 50, 400


def solve_on_card(
    problem: QuadraticProblem,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    start: np.ndarray | None = None,
    working_set: int = WORKING_SET,
    polished: bool = False,
    verbose: bool | int = 0,
) -> QPResult:
    """Solve a quadratic problem whose matrix is on a card.

    Parameters
    ----------
    problem : QuadraticProblem
        The problem; its matrix is a :class:`tamiz.qp.card.CardQ` or a view of one.
    tol, max_iter, start, polished, verbose
        As in :func:`tamiz.solvers.solve_smo`; ``max_iter`` counts pair steps.
    working_set : int, default=2048
        Number of samples in play at a time.

    Returns
    -------
    result : QPResult

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.gpu import emulated
    >>> from tamiz.kernels import RBF
    >>> from tamiz.qp import svc_problem
    >>> from tamiz.qp.card import CardQ
    >>> from tamiz.solvers.card import solve_on_card
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> signs = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    >>> with emulated() as lane:
    ...     problem = svc_problem(CardQ(lane, RBF(gamma=0.5), X), signs, C=1.0)
    ...     result = solve_on_card(problem, working_set=50)
    >>> result.status, result.violation <= 1e-3
    (<Status.CONVERGED: 'converged'>, True)
    """
    base, _ = problem.Q.unsigned(problem.y).repeated()
    place = base.on_card()
    if place is None:
        raise ValueError("The matrix of this problem is not on a card.")
    with place.gram.lane.guarded("the machine"):
        return run_solver(
            problem,
            _descend,
            tol,
            max_iter,
            start,
            verbose,
            polished,
            place=place,
            size=max(2, int(working_set)),
        )


def _descend(
    state: State, tol: float, limit: int, progress: Progress, *, place: OnCard, size: int
) -> None:
    """Rounds until the conditions hold for the gradient in float64 as well."""
    for _ in range(_PROOFS):
        point = _CardPoint(state, place)
        state.exact = False
        try:
            state.status = _rounds(point, state, tol, limit, progress, size)
        finally:  # after Ctrl-C as well: the frame computes the gradient again then
            state.point = point.on_host()
        state.refresh()
        if state.status is not Status.CONVERGED or state.violation() <= tol:
            return
    state.status = Status.STALLED


class _CardPoint:
    """The point and its gradient on the card, and what a round does there."""

    def __init__(self, state: State, place: OnCard):
        gram, free = place.gram, state.free
        self.lane, self.gram = gram.lane, gram
        self.n, self.copies = gram.n, len(state.point[0]) // gram.n
        self.shift = place.shift
        self.b, self.g = (self.lane.to_device(part) for part in state.point)
        self.lower, self.upper = (self.lane.to_device(part) for part in (free.lower, free.upper))

    def on_host(self) -> tuple[np.ndarray, np.ndarray]:
        """Point and gradient."""
        return self.lane.to_host(self.b), self.lane.to_host(self.g)

    def violators(self, count: int) -> tuple[float, np.ndarray]:
        """The KKT violation, and the variables that violate most: so many on either side.

        Both lists come in one copy; those that cannot move are at its end and left out.
        """
        xp, count = self.lane.xp, min(count, len(self.b))
        growing = xp.where(self.b < self.upper, self.g, xp.inf)
        shrinking = xp.where(self.b > self.lower, -self.g, xp.inf)
        sides = [(key, xp.argsort(key)[:count]) for key in (growing, shrinking)]
        found = self.lane.to_host(
            xp.concatenate([part for key, order in sides for part in (key[order], order)])
        )
        grow, at_grow, shrink, at_shrink = found.reshape(4, count)
        low, high = grow[0], -shrink[0]
        there = np.concatenate([at_grow[grow < np.inf], at_shrink[shrink < np.inf]])
        return float(high - low), np.unique(there.astype(np.intp))

    def part(self, samples: np.ndarray) -> tuple[np.ndarray, BoxPoint, np.ndarray]:
        """Of these samples: the variables, what is known of them, and the block of the matrix."""
        variables = (samples + self.n * np.arange(self.copies)[:, None]).ravel()
        index = self.lane.to_device(variables, np.int64)
        vectors = (self.b, self.g, self.lower, self.upper)
        values = self.lane.to_host(self.lane.xp.concatenate([one[index] for one in vectors]))
        b, g, lower, upper = values.reshape(4, -1)
        block = np.ascontiguousarray(self.gram.block(samples))
        if self.shift is not None:
            block.flat[:: len(block) + 1] += self.shift[samples].astype(block.dtype)
        return variables, BoxPoint(b.copy(), g.copy(), lower.copy(), upper.copy()), block

    def move(self, samples: np.ndarray, variables: np.ndarray, b: np.ndarray, by: Any) -> None:
        """Put new values of these variables in place; ``by`` is how far each sample moved."""
        xp, n = self.lane.xp, self.n
        moved = np.flatnonzero(by)
        step = xp.zeros(n, dtype=np.float64)
        self.gram.add_product(samples[moved], by[moved], step)
        if self.shift is not None:
            step[self.lane.to_device(samples[moved], np.int64)] += self.lane.to_device(
                self.shift[samples[moved]] * by[moved]
            )
        self.b[self.lane.to_device(variables, np.int64)] = self.lane.to_device(b)
        for copy in range(self.copies):
            self.g[copy * n : (copy + 1) * n] += step


def _rounds(
    point: _CardPoint, state: State, tol: float, limit: int, progress: Progress, size: int
) -> Status:
    """Minimise over working sets until the conditions hold for the gradient on the card."""
    previous = np.empty(0, dtype=np.intp)  # free variables first
    best, mark, rounds, since, idle = np.inf, np.inf, 0, 0, 0
    while True:
        violation, worst = point.violators(max(1, size // (2 if len(previous) == 0 else 4)))
        if not violation > tol:
            return Status.CONVERGED
        if state.iterations >= limit:
            return Status.MAX_ITER
        rounds = 0 if violation < best else rounds + 1
        best = min(best, violation)
        if rounds > _FRUITLESS:
            return Status.STALLED  # rounding moves the point to and fro
        if violation <= 0.5 * mark:
            mark, since = violation, 0
        else:
            since += 1
            if since >= _PATIENCE and size < LARGEST_WORKING_SET:
                size, mark, since = 2 * size, violation, 0
        progress.update(f"{state.iterations:,} steps, KKT violation {violation:.2g}")
        samples = _with_previous(worst, previous, size, point.n)
        variables, part, block = point.part(samples)
        before = part.b.copy()
        inner = max(0.5 * tol, 0.05 * violation)
        code = minimise_block(state, part, block, point.copies, inner, limit)
        if code == UNBOUNDED:
            return Status.UNBOUNDED
        change = part.b - before
        idle = 0 if change.any() else idle + 1
        if idle > 3:
            return Status.STALLED
        np.clip(part.b, part.lower, part.upper, out=part.b)
        by = (part.b - before).reshape(point.copies, -1).sum(axis=0)
        point.move(samples, variables, part.b, by)
        free = (part.b > part.lower) & (part.b < part.upper)
        previous = np.concatenate([variables[free], variables[~free]])


def _with_previous(worst: np.ndarray, previous: np.ndarray, size: int, n: int) -> np.ndarray:
    """The samples of the violators, filled up with those of the previous set; sorted."""
    chosen = np.unique(worst % n)
    rest = previous % n
    rest = rest[~np.isin(rest, chosen)]
    _, first = np.unique(rest, return_index=True)
    rest = rest[np.sort(first)][: max(0, size - len(chosen))]
    return np.sort(np.concatenate([chosen, rest])).astype(np.intp)
