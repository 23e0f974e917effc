"""Descent on a dense matrix: pair steps, and Newton steps in between where they pay."""

from __future__ import annotations

import numpy as np

from tamiz.solvers.newton import newton
from tamiz.solvers.pairs import RUNNING, STALLED, run_pairs

#: A run of pair steps lasts about this long, so that Ctrl-C is noticed.
_SLICE_SECONDS = 0.1

#: Newton steps are considered up to this many free variables, and cut this often at the most.
_NEWTON_FREE = 200
_NEWTON_CUTS = 60
_RESCUES = 50
_EPS = float(np.finfo(np.float64).eps)


class Descent:
    """Pair steps on a dense matrix, with a Newton step in between where that pays.

    Both kinds of step are counted in the nanoseconds they should take; a Newton step is tried when
    the pair steps since the last one have cost as much as it will. It costs little where pair steps
    converge soon, and ends the creeping where they do not. Costs are estimates and not measured,
    so that the same problem always takes the same path.
    """

    def __init__(self, K: np.ndarray, copies: int):
        self.K = K
        self.diag = diagonal(K)
        self.copies = copies
        self.largest = float(np.abs(self.diag).max(initial=0.0))
        self.rescues = 0
        self.spent = 0.0  # on pair steps since the last Newton step
        self.solves = 2  # of the last Newton step, a guess at first

    def run(
        self,
        b: np.ndarray,
        g: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        tol: float,
        max_steps: int,
    ) -> tuple[int, int, float, float]:
        """Take up to ``max_steps`` pair steps; arguments and result as :func:`run_pairs`."""
        total = 0
        per_step = 300.0 + 1.3 * len(b)
        while True:
            steps = min(max_steps - total, max(200, len(b) // 8))
            code, done, low, high = run_pairs(
                self.K, self.diag, self.copies, g, b, lower, upper, tol, steps
            )
            total += done
            self.spent += per_step * done
            if code == RUNNING and self._drowns(b, tol):
                code = STALLED
            elif code == STALLED and self.rescues < _RESCUES:
                # one pair is lost in rounding; all free variables together may still move
                self.rescues += 1
                before = b.copy()
                self._newton(b, g, lower, upper)
                if not np.array_equal(before, b):
                    continue
            if code != RUNNING or total >= max_steps:
                return code, total, low, high
            free = int(np.count_nonzero((b > lower) & (b < upper)))
            price = self.solves * (20_000.0 + 0.05 * free**3) + 0.5 * free * len(b)
            if 2 <= free <= _NEWTON_FREE and self.spent >= price:
                self._newton(b, g, lower, upper)

    def _newton(self, b: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
        self.solves = newton(
            self.K,
            self.copies,
            b,
            g,
            lower,
            upper,
            max_free=_NEWTON_FREE,
            max_cuts=_NEWTON_CUTS,
        )
        self.spent = 0.0

    def _drowns(self, b: np.ndarray, tol: float) -> bool:
        """Whether rounding in the gradient exceeds the tolerance, so that no step can help."""
        return _EPS * self.largest * float(np.abs(b).max(initial=0.0)) > tol


def diagonal(K: np.ndarray) -> np.ndarray:
    """The diagonal as a contiguous array of the same type."""
    return np.ascontiguousarray(K.diagonal())


def slice_steps(n_variables: int) -> int:
    """Pair steps that take about as long as one compiled run should."""
    return max(100, int(_SLICE_SECONDS / (2e-7 + 2e-9 * n_variables)))
