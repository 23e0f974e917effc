r"""Linear machines on a stream, solved to a certified gap in few passes.

.. math::

    \min_{w, b} \; P(w, b) = \tfrac12 \sum_j d_j w_j^2
        + \sum_i C_i \bigl(1 - y_i(\langle w, x_i\rangle + b)\bigr)_+

with a price ``d_j`` for each weight. It is 1 for the plain machine, the variance of the feature for
the machine on standardised features, ``1/z_j^2`` for features multiplied by ``z_j``, and infinite
for features that are left out: none of these needs another look at the rows.

**Steps.** The hinge is smoothed (:mod:`tamiz.svm.stream.hinge`), and each pass over the rows gives
slopes and curvature for one step of Newton; ``mu`` falls as soon as smoothing is what keeps the
minimum away. The number of passes hardly depends on the number of rows, their order or ``C``. The
length of a step is found on a sample of rows in memory, with the true slope; the pass then tries
some other lengths too, in case the sample was wrong.

**Certificate.** Every dual point ``0 <= alpha <= C`` with ``sum(alpha * y) = 0`` bounds the minimum
from below,

.. math::

    P(w, b) \ge D(\alpha) = s - \tfrac12 \sum_j u_j^2 / d_j, \qquad
    u = \sum_i \alpha_i y_i x_i, \; s = \sum_i \alpha_i ,

and only ``(u, s)``, as long as one row, has to be kept: a *plane* below the losses,
``sum_i C_i hinge_i >= s - <u, w>`` for every ``w``. Two come from each pass, one of them
linearised, so that its ``u`` is that of the next weights up to rounding; every mixture of planes is
one, too, and the best mixture is a small problem on the simplex. Since no ``d_j`` is part of a
plane, those of earlier machines remain valid when features are dropped or rescaled: the next
machine begins with their bound.

References
----------
.. [1] C. Chen, O. L. Mangasarian (1995). Smoothing methods for convex inequalities and linear
       complementarity problems. Mathematical Programming 71.
.. [2] C. H. Teo, S. V. N. Vishwanathan, A. J. Smola, Q. V. Le (2010). Bundle methods for
       regularized risk minimization. JMLR 11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit
from scipy import linalg

from tamiz.qp import DenseQ, simplex_problem
from tamiz.runtime.blas import one_blas_thread
from tamiz.solvers import solve_smo
from tamiz.svm.stream.hinge import HingeAt, HingeSums, Tasks, Units, sides

_MOST_PLANES = 16
_HALVINGS = 10  # to find the length of a step
_FALL = 0.3  # of mu
_FIRST_MU, _LEAST_MU = 1.0, 1e-10
_AFTER_SAMPLE, _AFTER_WARM = 0.3, 0.1
_PATIENCE = 12  # passes without gain
_DOUBT = 0.02  # share of the objective by which a sample may be wrong
_FLOPS = 2e9  # for the curvature in a pass


@dataclass
class Rows:
    """The rows as the solver sees them: passes over all, and a sample in memory.

    ``total(make)`` goes over all rows; ``sample`` holds some of them in their units, with the
    codes of their classes, and ``weight`` is how many rows each stands for.
    """

    total: Callable[[Any], Any]
    tasks: Tasks
    units: Units
    n_rows: int
    row_cost: float  # of one row in the curvature
    sample: Any
    codes: np.ndarray
    weight: float
    passes: int = 0
    near_bytes: int = 0  # memory for rows near the margin
    row_bytes: float = 0.0  # of one of them
    near: Any = None  # those that the last pass kept

    def sums(self, make: Any) -> Any:
        """One pass."""
        self.passes += 1
        with one_blas_thread():  # the products are many and small
            return self.total(make)

    def in_memory(self) -> Rows:
        """The sample as the whole."""
        p = self.sample.shape[1]
        prices = self.tasks.prices * self.weight
        plain = Units(np.zeros(p), np.ones(p))
        return Rows(
            total=lambda make: make.of(self.sample, self.codes),
            tasks=self.tasks._replace(prices=prices),
            units=plain,
            n_rows=len(self.codes),
            row_cost=self.row_cost,
            sample=self.sample,
            codes=self.codes,
            weight=1.0,
        )


@dataclass
class Machine:
    """One machine: where it is, the best that was met, and the planes below its losses."""

    ridge: np.ndarray  # price of every weight; infinite: no weight
    point: np.ndarray  # weights and intercept
    mu: float = _FIRST_MU
    planes: list[tuple[np.ndarray, float]] = field(default_factory=list)
    best: np.ndarray = field(init=False)
    objective: float = np.inf
    bound: float = 0.0
    status: str = "max_iter"

    direction: np.ndarray = field(init=False)
    length: float = 0.0
    mu_bend: float = field(init=False)  # smoothing of the curvature
    before: tuple[float, float] = field(init=False)  # both, where the step begins
    share: float = np.inf  # of the rows, by their second derivatives, for the curvature
    reach: float = 2.0  # longest step that the next pass tries
    width: float = 0.5  # of the margin, in which rows are kept
    idle: int = 0
    decrement: float = 0.0  # minus the slope along the direction
    rest: float = 0.0  # what smoothing keeps away
    bend: float = 0.0  # sum of the second derivatives

    def __post_init__(self) -> None:
        self.begin(self.ridge, self.mu)

    @property
    def gap(self) -> float:
        """Upper bound on the distance to the minimum."""
        return max(0.0, self.objective - self.bound)

    def begin(self, ridge: np.ndarray, mu: float) -> None:
        """Start a problem with other prices of the weights from here."""
        self.ridge, self.mu, self.mu_bend, self.before = ridge, mu, mu, (mu, mu)
        self.point = self.point.copy()
        self.point[:-1][np.isinf(ridge)] = 0.0
        self.best = self.point
        self.objective, self.bound, self.status, self.idle = np.inf, 0.0, "max_iter", 0
        self.reach = 2.0
        self.stay()
        self.raise_bound()

    def again(self, ridge: np.ndarray) -> None:
        """A similar problem: start from the best point, smoothed again."""
        self.point = self.best
        self.begin(ridge, _AFTER_WARM)

    def resume(self, mu: float) -> None:
        """Go on from the best point."""
        self.point, self.mu, self.mu_bend, self.before = self.best, mu, mu, (mu, mu)
        self.reach = 2.0
        self.stay()

    def stay(self) -> None:
        """The next pass looks at where we are."""
        self.direction, self.length = np.zeros(len(self.point)), 0.0

    def penalty(self, point: np.ndarray) -> float:
        kept = np.isfinite(self.ridge)
        return 0.5 * float(self.ridge[kept] @ point[:-1][kept] ** 2)

    def mixture(self) -> tuple[np.ndarray, float]:
        """The best mixture of the planes, itself a plane."""
        theta, U, s, _ = self._mix()
        return theta @ U, float(theta @ s)

    def raise_bound(self) -> None:
        """The bound of the best mixture of the planes."""
        if not self.planes:
            return
        theta, U, s, Q = self._mix()
        self.bound = max(self.bound, float(theta @ s - 0.5 * theta @ Q @ theta))
        if len(self.planes) > _MOST_PLANES:  # the mixture itself stands for those that are given up
            newest = self.planes[-_MOST_PLANES // 2 :]
            self.planes = [(theta @ U, float(theta @ s)), *newest]

    def _mix(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        U = np.array([u for u, _ in self.planes])
        s = np.array([level for _, level in self.planes])
        root = U / np.sqrt(self.ridge)
        Q = root @ root.T
        unit = max(float(np.abs(s).max()), 1e-300)
        theta = np.zeros(len(s))
        alone = s - 0.5 * np.diag(Q)
        theta[int(alone.argmax())] = 1.0
        if len(s) > 1:
            found = solve_smo(simplex_problem(DenseQ(Q / unit), -s / unit), tol=1e-7, start=theta)
            mixed = np.maximum(found.a, 0.0) / np.maximum(found.a, 0.0).sum()
            if mixed @ s - 0.5 * mixed @ Q @ mixed > alone.max():
                theta = mixed
        return theta, U, s, Q


def newton_passes(
    rows: Rows,
    machines: list[Machine],
    *,
    tol: float,
    last: int,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Bring every machine to a gap of ``tol`` times its objective, by steps of Newton alone.

    No more than ``last`` passes over the rows are made in all. An interruption leaves the machines
    at the best point met, with the status "interrupted".
    """
    active = [k for k, machine in enumerate(machines) if machine.status == "max_iter"]
    try:
        while active and rows.passes < last:
            chosen = [machines[k] for k in active]
            sums = rows.sums(_question(rows, chosen, active))
            for k, machine in enumerate(chosen):
                _take(machine, sums, k, tol)
            if tell is not None:
                worst = max(chosen, key=lambda m: m.gap / m.objective)
                tell(f"pass {rows.passes}, gap {worst.gap / worst.objective:.1e} of the objective")
            active = [k for k in active if machines[k].status == "max_iter"]
            for k in active:
                _plan(machines[k], rows, k)
    except KeyboardInterrupt:
        for machine in machines:
            if machine.status != "converged":
                machine.status = "interrupted"


def presolve(
    rows: Rows, machines: list[Machine], *, tol: float = 1e-3, max_passes: int = 40
) -> None:
    """Start from the machines of the sample, if it has both sides of each."""
    signs = rows.tasks.signs[:, rows.codes]
    both = (signs > 0).any(axis=1) & (signs < 0).any(axis=1)
    if rows.weight <= 1.0 or not both.all():
        return
    newton_passes(rows.in_memory(), machines, tol=tol, last=max_passes)
    for machine in machines:
        if machine.status == "interrupted":
            raise KeyboardInterrupt
        machine.point, machine.planes = machine.best, []  # of other losses
        machine.begin(machine.ridge, _AFTER_SAMPLE)


def rehearse(rows: Rows, machines: list[Machine]) -> None:
    """Where the sample says that a start is poor, begin with the machine of the sample."""
    starts = [Machine(m.ridge, m.point, _AFTER_WARM) for m in machines]
    sample = rows.in_memory()
    newton_passes(sample, starts, tol=1e-3, last=1)
    before = [start.objective for start in starts]
    newton_passes(sample, starts, tol=1e-3, last=40)
    for machine, start, value in zip(machines, starts, before, strict=True):
        if start.status == "interrupted":
            raise KeyboardInterrupt
        if start.objective < (1.0 - _DOUBT) * value:
            machine.point = machine.best = start.best
            rows.near = None  # those are near to other margins


def _question(rows: Rows, chosen: list[Machine], active: list[int]) -> HingeAt:
    lengths = [[m.length, 0.0, *(m.length * np.array([0.5, 0.2, 0.05, 1.5]))] for m in chosen]
    return HingeAt(
        tasks=rows.tasks,
        units=rows.units,
        machines=np.array(active),
        point=np.array([m.point for m in chosen]),
        direction=np.array([m.direction for m in chosen]),
        lengths=np.array(lengths),
        before=np.array([m.before for m in chosen]),
        after=np.array([(m.mu, m.mu_bend) for m in chosen]),
        share=np.array([m.share for m in chosen]),
    )


def _take(machine: Machine, sums: HingeSums, k: int, tol: float) -> None:
    """Learn from a pass: the best point, the bound, and whether the step was good."""
    lengths = machine.length * np.array([1.0, 0.0, 0.5, 0.2, 0.05, 1.5])
    points = machine.point + lengths[:, None] * machine.direction
    penalties = np.array([machine.penalty(point) for point in points])
    primal = penalties + sums.hinges[k]
    gap = machine.gap
    here = int(primal.argmin())
    if primal[here] < machine.objective:
        machine.objective, machine.best = float(primal[here]), points[here]
    for dual in sums.duals[k][0 if machine.length else 1 :]:
        machine.planes.append(sides(dual))
    machine.raise_bound()
    machine.idle = 0 if machine.gap < 0.99 * gap else machine.idle + 1
    if machine.gap <= tol * machine.objective:
        machine.status = "converged"
        return
    if machine.idle > _PATIENCE or not np.isfinite(primal).all() or primal.min() < 0.0:
        machine.status = "stalled"
        return
    smoothed = penalties + sums.losses[k]
    least = int(smoothed.argmin())
    if machine.length and smoothed[0] > smoothed[1] * (1.0 + 1e-12):
        # the sample was wrong about the length: look again, at the best of those tried
        machine.point = points[least]
        machine.reach = max(2.0 * lengths[least], 0.1)
        if least == 1:
            machine.mu = min(3.0 * machine.mu, _FIRST_MU)
        machine.mu_bend = machine.mu
        machine.stay()
        return
    machine.point = points[0]
    machine.before = (machine.mu, machine.mu_bend)
    machine.mu_bend = machine.mu
    machine.reach = min(2.0 * machine.reach, 2.0)
    dual = sums.duals[k, 1]
    slope = machine.point.copy()  # of the smoothed objective
    kept = np.append(np.isfinite(machine.ridge), True)
    slope[:-1][kept[:-1]] *= machine.ridge[kept[:-1]]
    slope[-1] = 0.0
    slope -= dual[0] - dual[1]
    slope[~kept] = 0.0
    machine.direction = _newton(sums.curvature[k], machine.ridge, slope, kept)
    machine.length = 1.0
    machine.decrement = -float(slope @ machine.direction)
    machine.rest, machine.bend = float(sums.rest[k]), float(sums.bend[k])


def _newton(
    lower: np.ndarray, ridge: np.ndarray, slope: np.ndarray, kept: np.ndarray
) -> np.ndarray:
    """The step to the minimum of the quadratic model, in the features that are kept."""
    index = np.flatnonzero(kept)
    H = lower[np.ix_(index, index)]
    diagonal = H.diagonal() + np.append(ridge[index[:-1]], 0.0)
    diagonal = np.maximum(diagonal, 1e-300)
    unit = 1.0 / np.sqrt(diagonal)
    step = np.zeros(len(slope))
    damping = 1e-13
    while True:
        system = H * unit[:, None] * unit  # the upper half is not looked at
        np.fill_diagonal(system, 1.0 + damping)
        try:
            factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            damping *= 100.0
            continue
        step[index] = -unit * linalg.cho_solve(factor, unit * slope[index], check_finite=False)
        return step


def _length(machine: Machine, z: np.ndarray, change: np.ndarray, price: np.ndarray) -> float:
    """Where the slope along the direction vanishes, as far as the sample knows.

    At the start it is that of all rows; the sample says how it grows.
    """
    mu2 = machine.mu**2
    kept = np.isfinite(machine.ridge)
    bend = float(machine.ridge[kept] @ machine.direction[:-1][kept] ** 2)
    start = _tilt(z, change, price, mu2, 0.0)

    def slope(length: float) -> float:
        return length * bend + _tilt(z, change, price, mu2, length) - start - machine.decrement

    low, high = 0.0, machine.reach
    if slope(high) <= 0.0:
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return high


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _tilt(z, change, price, mu2, length):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(z)):
        end = z[i] + length * change[i]
        total += price[i] * change[i] * (0.5 + 0.5 * end / np.sqrt(end * end + mu2))
    return total


def _plan(machine: Machine, rows: Rows, k: int) -> None:
    """Length of the step, by the sample; smoothing at its end, and rows for the curvature there."""
    if not machine.length:
        return
    signs, prices = rows.tasks.signs[k][rows.codes], rows.tasks.prices[k][rows.codes]
    part = np.flatnonzero(signs * prices)
    if len(part):
        y, price = signs[part], prices[part] * rows.weight
        both = np.stack([machine.point, machine.direction])
        here, along = (rows.sample @ both[:, :-1].T + both[:, -1])[part].T
        machine.length = _length(machine, 1.0 - y * here, -y * along, price)
    if machine.decrement < machine.rest and machine.length >= 0.3:
        machine.mu = max(_FALL * machine.mu, _LEAST_MU)  # the curvature follows one pass later
    most = max(_FLOPS / rows.row_cost, 200.0 * len(machine.ridge), 5e4)
    machine.share = most / max(machine.bend, 1e-300) if rows.n_rows > most else np.inf
