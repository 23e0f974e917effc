r"""Epsilon-insensitive losses with an ℓ1 penalty: the linear program of a sparse regression.

.. math::

    \min_{w, b} \; \sum_i C_i \,(|t_i - \langle w, x_i\rangle - b| - \epsilon)_+
    + \sum_j c_j |w_j|

Its dual has one variable for each sample,

.. math::

    \max_\beta \; \sum_i \beta_i t_i - \epsilon \sum_i |\beta_i| \quad\text{s.t.}\quad
    |\beta_i| \le C_i,\; \sum_i \beta_i = 0,\; \Bigl|\sum_i \beta_i x_{ij}\Bigr| \le c_j ,

and whatever satisfies the constraints bounds the minimum from below: the answer comes with its
distance to such a bound. HiGHS solves the whole program at once, with two rows for each sample.
Columns and target are brought to size one first, which changes nothing but the units of ``w``: the
penalty C has none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.runtime.progress import Progress
from tamiz.solvers.l1_programs import divided, minimise, units
from tamiz.solvers.linear_program import Kinks, ProgramResult


class TubeLosses(NamedTuple):
    """``sum_i C_i (|t_i - f(x_i)| - epsilon)_+``."""

    target: np.ndarray
    C: np.ndarray
    epsilon: float

    @property
    def size(self) -> float:
        """What the outputs are measured by."""
        return float(np.abs(self.target).max(initial=0.0)) or 1.0

    def program(self, X: Any, c: np.ndarray) -> TubeProgram:
        """The losses on ``X`` with a penalty for each weight."""
        return TubeProgram(X, self.target, self.C, c, self.epsilon)

    def kinks(self, X: Any) -> Kinks:
        """The losses on ``X``, row by row: a sample is above its tube, or below it, or neither."""
        n = len(self.target)
        twice = sparse.vstack([X, X], format="csr") if sparse.issparse(X) else np.vstack([X, X])
        margin = np.concatenate([self.target, -self.target]) - self.epsilon
        return Kinks(twice, np.repeat([1.0, -1.0], n), np.tile(self.C, 2), margin)

    def in_units(self, size: float) -> TubeLosses:
        """The losses of outputs divided by ``size``."""
        return TubeLosses(self.target / size, self.C, self.epsilon / size)

    def pull(self, X: Any, alpha: np.ndarray) -> np.ndarray:
        """``sum_i beta_i x_ij`` of every feature, for the multipliers of a program."""
        return np.asarray(X.T @ alpha)


class TubeProgram(NamedTuple):
    """``min sum_i C_i (|t_i - f(x_i)| - epsilon)_+ + sum_j c_j |w_j|``."""

    X: Any  # float64, C-contiguous or CSR
    target: np.ndarray
    C: np.ndarray  # one for each sample, positive
    c: np.ndarray  # one for each feature, positive
    epsilon: float

    def objective(self, w: np.ndarray, b: float) -> float:
        """Value of the objective."""
        beyond = np.maximum(np.abs(self.target - self.X @ w - b) - self.epsilon, 0.0)
        return float(self.C @ beyond + self.c @ np.abs(w))

    def feasible(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers near ``beta`` that satisfy every constraint, and ``g = X'β`` of them."""
        beta = np.clip(beta, -self.C, self.C)
        up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
        less = min(up, down)
        beta = beta * np.where(beta > 0, less / max(up, 1e-300), less / max(down, 1e-300))
        g = np.asarray(self.X.T @ beta)
        scale = max(1.0, float(np.max(np.abs(g) / self.c, initial=0.0)))
        if self.bound(beta) < 0.0:  # by rounding; without any multiplier the bound is zero
            return np.zeros(len(beta)), np.zeros(len(g))
        return beta / scale, g / scale

    def bound(self, beta: np.ndarray) -> float:
        """The lower bound by feasible multipliers."""
        return float(beta @ self.target - self.epsilon * np.abs(beta).sum())

    def solve(
        self,
        *,
        method: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 200,
        progress: Progress | None = None,
    ) -> ProgramResult:
        """Solve the program, whole and to a vertex, whatever the method: there is one."""
        if progress is not None:
            progress.update("one linear program")
        return solve_tube_program(self, tol=tol)

    def undecided(self, found: ProgramResult, near: float) -> bool:
        """Whether a sample on its tube has a multiplier at a bound: solutions may be several."""
        beyond = np.abs(self.target - self.X @ found.w - found.b) - self.epsilon
        unit = float(np.abs(self.target - np.median(self.target)).max()) or 1.0
        fraction = np.abs(found.alpha) / np.maximum(self.C, 1e-300)
        idle = (fraction <= near) | (fraction >= 1.0 - near)
        return bool((idle & (np.abs(beyond) <= near * unit)).any())


def solve_tube_program(program: TubeProgram, *, tol: float = 1e-6) -> ProgramResult:
    """Solve the program.

    Parameters
    ----------
    program : TubeProgram
        The problem.
    tol : float, default=1e-6
        Gap, relative to the objective, up to which the status is "converged".

    Returns
    -------
    result : ProgramResult
        ``alpha`` holds the multipliers β, with their signs.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.solvers.tube_program import TubeProgram, solve_tube_program
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> program = TubeProgram(X, 2.0 * X[:, 0] + 1.0, np.ones(4), np.ones(2), 0.5)
    >>> found = solve_tube_program(program)
    >>> found.w.round(6).tolist(), round(found.b, 6), round(found.objective, 6)
    ([1.666667, 0.0], 1.5, 1.666667)
    """
    X, target, C, c, epsilon = program
    middle, scale = units(X)
    Z = X if middle is None else X - middle
    if scale is not None:
        Z, c = divided(Z, scale), c / scale
    level = float(np.median(target))
    size = float(np.abs(target - level).max()) or 1.0
    own = TubeProgram(Z, (target - level) / size, C, c, epsilon / size)
    w, b, beta, status = _whole(own)
    beta, g = own.feasible(beta)
    objective = size * own.objective(w, b)
    gap = max(0.0, objective - size * own.bound(beta))
    w, b = size * w, size * b + level
    if scale is not None:
        w, g = w / scale, g * scale
    if middle is not None:
        b -= float(middle @ w)
    if status == "converged" and gap > tol * objective + 1e-12 * size * float(C.sum()):
        status = "stalled"
    return ProgramResult(w, b, beta, g, objective, gap, 1, status)


def _whole(program: TubeProgram) -> tuple[np.ndarray, float, np.ndarray, str]:
    """Weights, constant, multipliers and status, by HiGHS."""
    X, target, C, c, epsilon = program
    n, p = X.shape
    X = sparse.csr_array(X)
    values = sparse.hstack([X, -X, sparse.csr_array(np.ones((n, 1)))], format="csr")
    slack = sparse.csr_array(sparse.identity(n, format="csr"))
    rows = sparse.vstack(
        [sparse.hstack([-values, -slack]), sparse.hstack([values, -slack])], format="csc"
    )
    unit = float(C.max())  # the tolerances of HiGHS are absolute
    cost = np.concatenate([c, c, [0.0], C]) / unit
    limits = np.concatenate([epsilon - target, epsilon + target])
    answer = minimise(cost, rows, limits, p)
    if answer is None:
        return np.zeros(p), 0.0, np.zeros(n), "stalled"
    up, down = unit * answer.multipliers.reshape(2, -1)
    return answer.w, answer.b, up - down, "converged"
