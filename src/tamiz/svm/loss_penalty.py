r"""One linear machine: any loss with any penalty, by whichever solver is made for the pair.

.. math::

    \min_{w, b} \; C \sum_i s_i\, L(y_i, \langle w, x_i\rangle + b) + \Omega(w)

A loss knows who solves the convex problem with a weighted ℓ1 and a common ℓ2 penalty,
:math:`\Omega(w) = \sum_j \lambda_j |w_j| + \tfrac{\mu}{2} \lVert w\rVert^2`: interior points and
linear programs for the hinge, Newton steps for the others. A penalty knows which such problems it
takes: one for those that are convex, a sequence for those that count features. So a new loss has
all penalties, and a new penalty all losses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from tamiz.runtime.progress import Progress
from tamiz.solvers.composite.losses import LogisticLoss, Loss, SquaredHingeLoss, SquaredLoss
from tamiz.solvers.composite.problem import Composite, best_shift, dual_point
from tamiz.solvers.composite.solve import minimise
from tamiz.solvers.concave import successive_linearisation
from tamiz.solvers.l1_programs import entry_penalty
from tamiz.solvers.linear_program import HingeProgram, solve_hinge_program
from tamiz.solvers.mixed_hinge import original, solve_penalised
from tamiz.solvers.mixed_interior import PenalisedHinge, centred
from tamiz.solvers.rescaling import Rescaling, rescale, spread_of
from tamiz.solvers.squared_hinge import minimise_dual, minimise_primal
from tamiz.validation import dense_copy, near_zero, require_gram

#: Multiplications of one Newton system up to which tables are made dense for it.
_SMALL_DENSE, _SMALL_SPARSE = 2e9, 2e7
OFF_CENTRE = 2.0  # standard deviations from which on the mean of a feature is subtracted first
_SHARPER = 1e-3  # gradient of a Newton step that ends, relative to the gap that is accepted
_LEAST_SLOPE = 1e-6  # fraction of the slope at zero below which a concave penalty is made linear
_STILL = 1e-3  # relative change of contributions at which rescaling ends
_MOST_OUTER = 200


class Table:
    """The samples in the forms that solvers ask for; each is made once, for all machines."""

    def __init__(self, X: Any, intercept: bool = True, near: bool | None = None):
        self.X = X  # float64: C-contiguous or CSR
        self.intercept = intercept
        self._near = near

    @property
    def near(self) -> bool:
        """Whether no mean of a feature is large beside its standard deviation."""
        if self._near is None:
            self._near = near_zero(self.X, OFF_CENTRE)
        return self._near

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return self.X.shape

    @cached_property
    def columns(self) -> tuple[Any, np.ndarray]:
        """CSC, or dense, about the means of its columns if they are large; what was subtracted.

        The systems take the means into account by themselves, and lose no digits that matter as
        long as no mean is large beside the standard deviation.
        """
        if not self.intercept or sparse.issparse(self.X) or self.near:
            X, means = self.X, np.zeros(self.X.shape[1])
        else:
            X, means = centred(self.X)
        return (X.tocsc() if sparse.issparse(X) else X), means

    @cached_property
    def dense(self) -> np.ndarray:
        """As a dense array."""
        return dense_copy(self.X, "Select features first, or use PegasosClassifier.", tables=2)

    @cached_property
    def gram(self) -> np.ndarray:
        """Inner products of the samples."""
        require_gram(self.shape[0], self.shape[0])
        K = self.X @ self.X.T
        return np.asarray(K.todense() if sparse.issparse(K) else K)

    @cached_property
    def mirrored(self) -> Table:
        """Every sample and its opposite.

        If their labels are opposite, too, the best intercept is zero: ``(w, b)`` and ``(w, -b)``
        then cost the same, and what lies between them no more.
        """
        if sparse.issparse(self.X):
            return Table(sparse.vstack([self.X, -self.X]).tocsr())
        return Table(np.vstack([self.X, -self.X]))

    def spread(self, c: np.ndarray) -> np.ndarray:
        """How far a weight of one moves the values: deviations, about zero without an intercept."""
        if self.intercept:
            return spread_of(self.X, c)
        squares = self.X.multiply(self.X) if sparse.issparse(self.X) else self.X * self.X
        return np.sqrt(np.asarray(squares.T @ (c / c.sum())))

    def times(self, alive: np.ndarray, factors: np.ndarray) -> Table:
        """Some of the features, multiplied by their factors."""
        part = self.X[:, alive]
        if sparse.issparse(part):
            part = part.tocsr(copy=True)
            part.data *= factors[part.indices]
            return Table(part, self.intercept)
        return Table(np.ascontiguousarray(part * factors), self.intercept)


class Weighed(NamedTuple):
    """The samples, their labels or targets, and what their losses cost."""

    table: Table
    y: np.ndarray
    c: np.ndarray


class SolverLimits(NamedTuple):
    """How far to go."""

    tol: float
    max_iter: int
    progress: Progress


class MachineFit(NamedTuple):
    """Weights and intercept of one machine, and how they were found."""

    w: np.ndarray
    b: float
    objective: float
    lower: float | None  # bound on the minimum from below, where one is known
    iterations: int
    status: str  # "converged", "max_iter", "stalled" or "interrupted"
    state: Any = None  # what the solver of a neighbouring problem may begin with
    stationarity: float | None = None  # of penalties that are not convex


# ------------------------------------------------------------------------------------------ losses


class LossEngine(Protocol):
    """A loss, by who solves it."""

    probabilities: bool
    one_thread: bool  # whether its solver limits BLAS to one, which then looks at the table, too

    def solve(
        self,
        given: Weighed,
        lam: np.ndarray,
        mu: float,
        start: Any,
        limits: SolverLimits,
    ) -> MachineFit:
        """Minimise ``Σ c_i L_i + Σ λ_j|w_j| + μ/2 ‖w‖²``; a state of before may be the start."""
        ...

    def entry(self, given: Weighed) -> float:
        """The factor on ``c`` at which the first weight appears if every λ is one."""
        ...

    def state(self, w: np.ndarray, b: float) -> Any:
        """What weights of an earlier fit are worth as a start; None if nothing."""
        ...


class SmoothEngine:
    """A loss with a slope everywhere: Newton steps (:mod:`tamiz.solvers.composite`)."""

    one_thread = True

    def __init__(self, loss: Loss, probabilities: bool = False):
        self.loss = loss
        self.probabilities = probabilities

    def solve(
        self,
        given: Weighed,
        lam: np.ndarray,
        mu: float,
        start: Any,
        limits: SolverLimits,
    ) -> MachineFit:
        """Newton steps on a working set, or on all features without an ℓ1 penalty."""
        table, y, c = given
        if sparse.issparse(table.X) and not lam.any():  # no columns are picked
            X, means = table.X, np.zeros(table.shape[1])
        else:
            X, means = table.columns
        mus = np.full(X.shape[1], mu)
        problem = Composite(X, y, c, self.loss, lam, mus, table.intercept)
        if start is not None:
            start = start[0], start[1] + float(means @ start[0])
        found = minimise(
            problem,
            start=start,
            tol=limits.tol,
            max_iter=limits.max_iter,
            progress=limits.progress,
        )
        b = found.b - float(means @ found.w)
        return MachineFit(
            found.w,
            b,
            found.objective,
            found.dual_objective,
            found.iterations,
            found.status,
            (found.w, b),
        )

    def entry(self, given: Weighed) -> float:
        """From the pulls where no weight is: they are all that matters there."""
        table, y, c = given
        X, _ = table.columns
        p = X.shape[1]
        problem = Composite(X, y, c, self.loss, np.ones(p), np.zeros(p), table.intercept)
        f = np.full(len(y), best_shift(problem, np.zeros(len(y))))
        pull = float(np.abs(X.T @ dual_point(problem, f)).max(initial=0.0))
        return 1.0 / pull if pull > 0 else np.inf

    def state(self, w: np.ndarray, b: float) -> Any:
        """Any weights will do."""
        return w, b


class SquaredHingeEngine(SmoothEngine):
    """The squared hinge: without an ℓ1 penalty, small tables have Newton steps of their own."""

    one_thread = False

    def __init__(self) -> None:
        super().__init__(SquaredHingeLoss())

    def solve(
        self,
        given: Weighed,
        lam: np.ndarray,
        mu: float,
        start: Any,
        limits: SolverLimits,
    ) -> MachineFit:
        """As the base, but for the ℓ2 penalty."""
        table, y, c = given
        n, p = table.shape
        work = float(n) * min(n, p) ** 2
        small = _SMALL_SPARSE if sparse.issparse(table.X) else _SMALL_DENSE
        if lam.any() or work > small or not table.intercept or len(np.unique(y)) < 2:
            return super().solve(given, lam, mu, start, limits)
        cost, tol = 2.0 * c / mu, _SHARPER * limits.tol
        with np.errstate(over="ignore", invalid="ignore"):  # what is beyond float64 gains nothing
            if p <= n:
                one = minimise_primal(table.dense, y, cost, start, tol)
                w = one.weights
            else:
                one = minimise_dual(table.gram, y, cost, tol=tol)
                w = np.asarray(table.X.T @ one.weights)
        return MachineFit(
            w,
            one.intercept,
            mu * one.objective,
            mu * one.dual_objective,
            one.steps,
            "converged" if one.converged else "stalled",
            (w, one.intercept),
        )


class HingeEngine:
    """The hinge: a linear program under the ℓ1 penalty, else an interior point or dual descent."""

    probabilities, one_thread = False, False

    def solve(
        self,
        given: Weighed,
        lam: np.ndarray,
        mu: float,
        start: Any,
        limits: SolverLimits,
    ) -> MachineFit:
        """The engines of :class:`tamiz.embedded.L1SVM` and :class:`tamiz.embedded.L1L2SVM`."""
        table, y, c = given
        if not table.intercept:
            return self._without_intercept(given, lam, mu, start, limits)
        if mu == 0.0:
            program = HingeProgram(table.X, y, c, lam)
            found = solve_hinge_program(
                program,
                tol=limits.tol,
                max_iter=limits.max_iter,
                start=start,
                progress=limits.progress,
            )
            lower = found.objective - found.gap
            return MachineFit(
                found.w, found.b, found.objective, lower, found.iterations, found.status, found
            )
        X, means = (table.X, np.zeros(lam.shape)) if sparse.issparse(table.X) else table.columns
        one = solve_penalised(
            PenalisedHinge(X, y, c / mu, lam / mu),
            tol=limits.tol,
            max_iter=limits.max_iter,
            progress=limits.progress,
            start=None if start is None else start.c,
            to_rounding=False,
        )
        w, b = original(one, X, means)
        return MachineFit(
            w, b, mu * one.objective, mu * (one.objective - one.gap), one.n_iter, one.status, one
        )

    def _without_intercept(
        self,
        given: Weighed,
        lam: np.ndarray,
        mu: float,
        start: Any,
        limits: SolverLimits,
    ) -> MachineFit:
        """Each sample and its opposite at half the cost: the intercept found is not needed."""
        table, y, c = given
        both = Weighed(table.mirrored, np.append(y, -y), 0.5 * np.append(c, c))
        found = self.solve(both, lam, mu, start, limits)
        w = found.w
        hinges = np.maximum(0.0, 1.0 - y * np.asarray(table.X @ w))
        objective = float(c @ hinges + lam @ np.abs(w) + 0.5 * mu * (w @ w))
        return found._replace(b=0.0, objective=objective)

    def entry(self, given: Weighed) -> float:
        """By a small linear program; without an intercept every sample pulls with all its cost."""
        table, y, c = given
        if not table.intercept:
            pull = float(np.abs(table.X.T @ (c * y)).max(initial=0.0))
            return 1.0 / pull if pull > 0 else np.inf
        return float(entry_penalty(table.X, y, c, np.ones(table.shape[1])))

    def state(self, w: np.ndarray, b: float) -> Any:
        """Interior points need a dual point, which weights do not give."""
        return None


#: Losses of a classifier, by the name of the parameter.
CLASSIFIER_LOSSES: dict[str, Callable[[], LossEngine]] = {
    "hinge": HingeEngine,
    "squared_hinge": SquaredHingeEngine,
    "logistic": lambda: SmoothEngine(LogisticLoss(), probabilities=True),
    "squared": lambda: SmoothEngine(SquaredLoss()),
}


#: Losses of a regression, given the half-width of the tube.
REGRESSOR_LOSSES: dict[str, Callable[[float], LossEngine]] = {
    "squared": lambda epsilon: SmoothEngine(SquaredLoss()),
    "squared_epsilon_insensitive": lambda epsilon: SmoothEngine(SquaredLoss(epsilon)),
}


# --------------------------------------------------------------------------------------- penalties


class Mixture(NamedTuple):
    """The parameters of the penalties."""

    l1_ratio: float
    a: float


class ConvexPenalty:
    """``ρ ‖w‖₁ + (1 - ρ)/2 ‖w‖²``: one convex problem."""

    def __init__(self, ratio: float | None):
        self.ratio = ratio  # None: that of the parameter l1_ratio

    def slope(self, mixture: Mixture) -> float:
        """Slope at zero: what the first weight has to overcome."""
        return mixture.l1_ratio if self.ratio is None else self.ratio

    def begin(self, engine: LossEngine, w: np.ndarray, b: float) -> Any:
        """What weights of an earlier fit are worth as a start."""
        return engine.state(w, b)

    def fit(
        self,
        engine: LossEngine,
        given: Weighed,
        mixture: Mixture,
        start: Any,
        limits: SolverLimits,
    ) -> MachineFit:
        """Solve it."""
        rho = self.slope(mixture)
        return engine.solve(given, np.full(given.table.shape[1], rho), 1.0 - rho, start, limits)


class CountingPenalty:
    r"""``ρ Σ (1 - exp(-a|w_j|)) + (1 - ρ)/2 ‖w‖²``: tangents, one convex problem after the other.

    Beyond the weight at which the slope has fallen to the millionth part, the penalty is its
    tangent: some slope is left to every weight, so that each of the problems has a certificate.
    """

    def __init__(self, ratio: float | None):
        self.ratio = ratio

    def slope(self, mixture: Mixture) -> float:
        """Slope at zero."""
        return mixture.a * (mixture.l1_ratio if self.ratio is None else self.ratio)

    def begin(self, engine: LossEngine, w: np.ndarray, b: float) -> Any:
        """The first tangent is the one there."""
        return w, b

    def fit(
        self,
        engine: LossEngine,
        given: Weighed,
        mixture: Mixture,
        start: Any,
        limits: SolverLimits,
    ) -> MachineFit:
        """Descend from the weights of ``start``, or from zero."""
        rho, a = (mixture.l1_ratio if self.ratio is None else self.ratio), mixture.a
        with np.errstate(over="ignore"):
            bend = -np.log(_LEAST_SLOPE) / a
        used = 0

        def slopes(size: np.ndarray) -> np.ndarray:
            return rho * a * np.maximum(np.exp(-a * size), _LEAST_SLOPE)

        def penalty(size: np.ndarray) -> float:
            counted = -np.expm1(-a * np.minimum(size, bend))
            counted += a * _LEAST_SLOPE * np.maximum(size - bend, 0.0)
            return rho * float(counted.sum())

        def solve(lam: np.ndarray, previous: Any) -> _Tangent:
            nonlocal used
            state = None if previous is None else previous.found.state
            found = engine.solve(given, lam, 1.0 - rho, state, limits)
            used += found.iterations
            return _Tangent(found, lam)

        def objective(step: _Tangent) -> float:
            return step.smooth + penalty(np.abs(step.w))

        begin = np.zeros(given.table.shape[1]) if start is None else start[0]
        result = successive_linearisation(
            solve, objective, slopes, begin, tol=limits.tol, max_iter=_MOST_OUTER
        )
        best, status, left = result.fit, result.status, None
        if status != "interrupted":
            try:
                lam = slopes(np.abs(best.w))
                last = solve(lam, best)
                now = best.smooth + float(lam @ np.abs(best.w))
                left = max(0.0, now - last.found.lower)
            except KeyboardInterrupt:
                status = "interrupted"
        return MachineFit(
            best.w,
            best.found.b,
            result.objective,
            None,
            used,
            status,
            (best.w, best.found.b),
            left,
        )


class _Tangent:
    """A solution of one of the convex problems, and its ℓ1 penalties."""

    def __init__(self, found: MachineFit, lam: np.ndarray):
        self.found, self.w, self.status = found, found.w, found.status
        self.smooth = found.objective - float(lam @ np.abs(found.w))  # losses and ℓ2 penalty


class RescaledPenalty:
    """Features multiplied by their weights, again and again: :class:`tamiz.embedded.AROM`'s way."""

    def slope(self, mixture: Mixture) -> float:
        """Every feature has some weight in the beginning."""
        return 0.0

    def begin(self, engine: LossEngine, w: np.ndarray, b: float) -> Any:
        """Features that have left could not come back."""
        return None

    def fit(
        self,
        engine: LossEngine,
        given: Weighed,
        mixture: Mixture,
        start: Any,
        limits: SolverLimits,
    ) -> MachineFit:
        """Train and rescale until contributions stand still."""
        table = given.table
        run = Rescaling(table.spread(given.c), True, _STILL)
        used = 0

        def train(alive: np.ndarray, z: np.ndarray, progress: Progress) -> MachineFit:
            nonlocal used
            scaled = given._replace(table=table.times(alive, z[alive]))
            found = engine.solve(scaled, np.zeros(len(alive)), 1.0, None, limits)
            used += found.iterations
            return found

        last = rescale(train, run, min(limits.max_iter, _MOST_OUTER), limits.progress)
        w = run.scale * run.w
        return MachineFit(w, last.b, last.objective, None, used, run.status, None, run.change)


Penalty = ConvexPenalty | CountingPenalty | RescaledPenalty

#: Penalties by the name of the parameter.
PENALTIES: dict[str, Penalty] = {
    "l2": ConvexPenalty(0.0),
    "l1": ConvexPenalty(1.0),
    "l1l2": ConvexPenalty(None),
    "l0": CountingPenalty(1.0),
    "l0l2": CountingPenalty(None),
    "arom": RescaledPenalty(),
}
