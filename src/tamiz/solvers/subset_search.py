r"""Solving a subset program: starts, bounds derived from them, and branching by HiGHS.

The problem is that of :mod:`tamiz.solvers.subset_program`; whatever is found, it comes with a lower
bound on what any subset can reach.

**Where M comes from.** With a penalty it is derived. Let ``U`` be the objective of a subset that
fits the limits, and ``α`` multipliers of the convex problem without limits, with ``g_j = Σ_i α_i
y_i x_ij`` (of a regression, whose lower bound is in the place of ``Σα``, ``g_j = Σ_i β_i x_ij``).
Whatever is not worse than ``U`` satisfies

.. math:: U \;\ge\; \sum_i \alpha_i + \sum_j (c_j - |g_j|)\,|w_j| ,

hence ``|w_j| <= (U - Σα) / (c_j - |g_j|)``. Where ``|g_j|`` reaches ``c_j`` this says nothing, and
``α`` is taken from the problem in which ``w_j`` is (nearly) free of penalty. The same holds for the
Lagrangian of a limit, whose penalties are ``c_j + λ a_u / M_j``; its multipliers also give a lower
bound on the minimum without any branching, and show units that no better answer can contain. The
smaller ``U``, the smaller ``M`` and the stronger the relaxation, so good subsets are looked for
first: those given, then exchanges of units. (SciPy passes no start on to HiGHS.)

References
----------
.. [1] D. Bertsimas, A. King, R. Mazumder (2016). Best subset selection via a modern optimization
       lens. Annals of Statistics 44.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import LinearConstraint, milp, minimize_scalar

from tamiz.runtime.progress import Progress
from tamiz.solvers.subset_program import SubsetFit, SubsetProgram, matrices, scaled

_FREE = 1e-3  # of its penalty is left to a feature whose bound is looked for
_ROUNDS = 3  # of deriving bounds, while that takes units out of play
_TRIED = 5  # units that are tried in exchange before a subset counts as the best nearby
_FOR_STARTS, _FOR_LIMITS = 0.15, 0.3  # fractions of the time after which starts and bounds end


class SubsetResult(NamedTuple):
    """The best subset found, and what is known about the minimum."""

    fit: SubsetFit
    bound: float  # no subset within the limits has a lower objective
    n_nodes: int
    status: str  # "converged", "time_limit", "interrupted" or "stalled"
    start: float  # objective of the best start, before HiGHS
    n_in_play: int  # units that HiGHS had to choose from

    @property
    def gap(self) -> float:
        """Relative distance of the objective to the bound."""
        objective = self.fit.objective
        return (objective - self.bound) / objective if objective > 0 else 0.0


def solve_subset_program(
    program: SubsetProgram,
    *,
    starts: Iterable[np.ndarray] = (),
    tol: float = 1e-4,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> SubsetResult:
    """Find the subset with the least objective, or the best one within the time and a lower bound.

    Parameters
    ----------
    program : SubsetProgram
        The problem.
    starts : iterable of arrays
        Orders of the units, best first; what fits of each is a subset to begin with.
    tol : float, default=1e-4
        Gap between objective and lower bound that is accepted, relative to the objective.
    time_limit : float, optional
        Seconds.
    progress : Progress, optional
        Where progress is shown.

    Returns
    -------
    result : SubsetResult

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.solvers.linear_program import HingeLosses
    >>> from tamiz.solvers.subset_program import SubsetProgram
    >>> from tamiz.solvers.subset_search import solve_subset_program
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = np.where(X[:, 1] + X[:, 3] > 0, 1.0, -1.0)
    >>> at_most_two = np.ones((1, 5)), np.array([2.0])
    >>> machines = [HingeLosses(y, np.ones(60))]
    >>> program = SubsetProgram(X, machines, np.ones(5), np.arange(5), *at_most_two)
    >>> found = solve_subset_program(program)
    >>> np.flatnonzero(found.fit.chosen).tolist(), found.status
    ([1, 3], 'converged')
    """
    progress = progress or Progress("subset program")
    usual, scales = scaled(program)
    seconds = np.inf if time_limit is None else float(time_limit)
    search = _SubsetSearch(usual, tol, seconds, progress)
    result = search.run(starts)
    return result._replace(
        fit=scales.undo(result.fit),
        bound=scales.size * result.bound,
        start=scales.size * result.start,
    )


class _SubsetSearch:
    """Starts, bounds, and the program for HiGHS."""

    def __init__(self, program: SubsetProgram, tol: float, seconds: float, progress: Progress):
        self.program = program
        self.tol = tol
        self.begun = time.monotonic()
        self.seconds = seconds
        self.progress = progress
        self.bound = 0.0
        self.in_play = np.array([program.fits(one) for one in np.eye(program.n_units, dtype=bool)])
        self.needed = np.zeros(program.n_units, dtype=bool)

    def run(self, starts: Iterable[np.ndarray]) -> SubsetResult:
        """Look for good subsets, derive the bounds, branch."""
        p, n_nodes, status = self.program, 0, "converged"
        whole = p.fit(np.ones(p.n_units, dtype=bool))
        self.bound = float(whole.bounds.sum())
        best = whole
        if not p.fits(whole.chosen):
            first = [p.fit(p.filled(order)) for order in starts]
            best = self._improved(min((self._reduced(whole), *first), key=_value))
        start = best.objective
        try:
            M = np.zeros(0) if self._enough(best) else self._limits(whole, best)
            if not self._enough(best):
                found, bound, n_nodes, status = self._branch(M, best)
                best = min((found, best), key=_value)
                if status != "converged":
                    best = self._improved(best)
                if not (np.abs(best.W) > M * (1.0 + 1e-6)).any():  # else rounding spoilt M
                    self.bound = max(self.bound, bound)
        except KeyboardInterrupt:
            status = "interrupted"
        if self._enough(best):
            status = "converged"
        elif status == "converged":
            status = "stalled"
        bound = min(self.bound, best.objective)
        return SubsetResult(best, bound, n_nodes, status, start, int(self.in_play.sum()))

    def _reduced(self, fit: SubsetFit) -> SubsetFit:
        """Leave out units of little weight, a quarter at a time, until the rest fits."""
        p = self.program
        while not p.fits(fit.chosen):
            worth = np.where(fit.chosen & self.in_play, p.totals(np.abs(fit.W)), -1.0)
            order = np.argsort(-worth, kind="stable")
            fitting = p.filled(order)
            keep = max(int(fitting.sum()), 3 * int(fit.chosen.sum()) // 4)
            chosen = np.zeros_like(fitting)
            chosen[order[:keep]] = True
            last = keep == fitting.sum() or keep == fit.chosen.sum() or self._late(_FOR_STARTS)
            fit = p.fit(fitting if last else chosen)
        return fit

    def _enough(self, best: SubsetFit) -> bool:
        return best.objective - self.bound <= self.tol * best.objective

    def _late(self, fraction: float = 1.0) -> bool:
        """Whether a fraction of the time has passed."""
        return time.monotonic() - self.begun >= fraction * self.seconds

    def _improved(self, best: SubsetFit) -> SubsetFit:
        """Exchange units as long as that lowers the objective."""
        better = True
        while better and not self._late(_FOR_STARTS):
            self.progress.update(f"start, objective {best.objective:.6g}")
            better = False
            for trial in self._exchanges(best):
                fit = self.program.fit(trial)
                better = fit.objective < best.objective * (1.0 - 1e-9)
                if better:
                    best = fit
                if better or self._late(_FOR_STARTS):
                    break
        return best

    def _exchanges(self, best: SubsetFit) -> Iterator[np.ndarray]:
        """Subsets with one more unit, which promises most, and without what it takes the place of.

        First goes a unit of little weight, then others as far as the limits ask for it.
        """
        p = self.program
        gain = p.totals(np.maximum(np.abs(best.G) - p.c, 0.0))
        gain[best.chosen | ~self.in_play] = 0.0
        worth = p.totals(np.abs(best.W))
        inside = np.flatnonzero(best.chosen)
        inside = inside[np.argsort(worth[inside], kind="stable")]
        for u in np.argsort(-gain, kind="stable")[:_TRIED]:
            for first in inside if gain[u] > 0.0 else ():
                trial = best.chosen.copy()
                trial[[u, first]] = True, False
                for v in inside:
                    if p.fits(trial):
                        break
                    trial[v] = False
                if p.fits(trial):
                    yield trial

    def _limits(self, whole: SubsetFit, best: SubsetFit) -> np.ndarray:
        """``M``: bounds on the weights of whatever is not worse than ``best``."""
        p = self.program
        if p.box is not None:
            return np.tile(p.box, (len(p.machines), 1))
        M = np.full(whole.W.shape, np.inf)
        for _ in range(_ROUNDS):
            excess = best.objective - float(whole.bounds.sum())
            most = excess + whole.bounds  # what a machine's own objective may be
            M = np.minimum(M, most[:, None] / p.c)
            M = lesser_quotient(excess, p.c - np.abs(whole.G), M)
            self._free_each(M, most, whole.chosen)
            self._find_needed(best)
            M = self._strengthened(M, best)
            if (
                self._late(_FOR_LIMITS)
                or self._enough(best)
                or self.in_play.sum() == whole.chosen.sum()
            ):
                break
            whole = p.fit(self.in_play)
        return M

    def _free_each(self, M: np.ndarray, most: np.ndarray, chosen: np.ndarray) -> None:
        """Bounds by the problem in which one weight is nearly free of penalty, where that helps."""
        p = self.program
        J = np.flatnonzero(chosen[p.unit])
        X = p.X[:, J]
        for m, losses in enumerate(p.machines):
            for i in np.flatnonzero(M[m, J] >= 0.5 * most[m] / p.c[J]):
                if self._late(_FOR_LIMITS):
                    return
                self.progress.update(f"bound on the weight of feature {J[i]}")
                c = p.c[J]
                c[i] *= _FREE
                found = losses.program(X, c).solve(tol=1e-6)
                above = most[m] - (found.objective - found.gap)
                M[m, J[i]] = min(M[m, J[i]], above / ((1.0 - _FREE) * p.c[J[i]]))

    def _find_needed(self, best: SubsetFit) -> None:
        """Units without which even all others together are worse than ``best``."""
        for u in np.flatnonzero(best.chosen):
            if self._late(_FOR_LIMITS):
                break
            others = self.in_play.copy()
            others[u] = False
            bounds = self.program.fit(others).bounds if others.any() else np.array([np.inf])
            self.needed[u] = bounds.sum() > best.objective * (1.0 + 1e-9)

    def _strengthened(self, M: np.ndarray, best: SubsetFit) -> np.ndarray:
        """Smaller ``M`` by the Lagrangian of the tightest limit; raises the bound on the way.

        The multiplier ``λ`` is found by golden section on a logarithmic scale: any ``λ`` gives
        valid bounds, the best ``λ`` the bound of the linear relaxation.
        """
        p, needed = self.program, self.needed
        M = M * (1.0 + 1e-9) + 1e-12 * float(M.max())
        left = p.limits - p.uses[:, needed].sum(axis=1)
        open_ = p.uses[:, self.in_play & ~needed].sum(axis=1)
        r = int(np.argmin(left / np.maximum(open_, 1e-300)))
        if open_[r] <= left[r] or left[r] <= 0.0:
            return M  # no limit that matters
        per_unit = len(p.machines) * np.bincount(p.unit, minlength=p.n_units)
        use = np.where(needed, 0.0, p.uses[r])
        slope = (use / per_unit)[p.unit] / M
        values: list[tuple[float, float, SubsetFit]] = []

        def negative_bound(logarithm: float) -> float:
            factor = float(np.exp(logarithm))
            if not values or not self._late(_FOR_LIMITS):
                fit = p.fit(self.in_play, p.c + factor * slope)
                values.append((float(fit.bounds.sum()) - factor * left[r], factor, fit))
                self.progress.update(f"relaxation, bound {max(v[0] for v in values):.6g}")
            return -values[-1][0]

        high = float(np.log(best.objective / left[r]))
        minimize_scalar(
            negative_bound, bounds=(high - 8.0, high), method="bounded", options={"maxiter": 8}
        )
        value, factor, fit = max(values, key=lambda v: v[0])
        self.bound = max(self.bound, value)
        # a unit that is in costs its use of the limit, and its weights no more than c
        with_it = value + factor * use - p.totals(M * np.maximum(np.abs(fit.G) - p.c, 0.0))
        self.in_play &= (with_it <= best.objective * (1.0 + 1e-9)) | best.chosen | needed
        return lesser_quotient(best.objective - value, p.c + factor * slope - np.abs(fit.G), M)

    def _branch(self, M: np.ndarray, best: SubsetFit) -> tuple[SubsetFit, float, int, str]:
        """Pass the program to HiGHS: the subset it found, its lower bound, nodes and status."""
        p = self.program
        self.progress.update(f"branching, {int(self.in_play.sum())} units in play")
        inside = np.flatnonzero(self.in_play)
        cost, bounds, rows, low, high = matrices(p, inside, self.needed, M)
        options = {"mip_rel_gap": self.tol}
        if np.isfinite(self.seconds):
            left = self.seconds - (time.monotonic() - self.begun)
            options["time_limit"] = max(1e-3, left)
        integrality = np.zeros(len(cost))
        integrality[: len(inside)] = 1
        answer = milp(
            cost,
            integrality=integrality,
            bounds=bounds,
            constraints=LinearConstraint(rows, low, high),
            options=options,
        )
        found = best
        if answer.x is not None:
            chosen = np.zeros(p.n_units, dtype=bool)
            chosen[inside] = answer.x[: len(inside)] > 0.5
            if chosen.any() and p.fits(chosen):
                found = p.fit(chosen)
        bound = -np.inf if answer.mip_dual_bound is None else float(answer.mip_dual_bound)
        status = {0: "converged", 1: "time_limit"}.get(answer.status, "stalled")
        return found, bound, int(answer.mip_node_count or 0), status


def _value(fit: SubsetFit) -> float:
    return fit.objective


def lesser_quotient(above: float, below: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """``above / below`` where that is less than ``otherwise``."""
    with np.errstate(divide="ignore", over="ignore"):
        quotient = np.where(below > 0.0, above / np.maximum(below, 1e-300), np.inf)
    return np.minimum(quotient, otherwise)
