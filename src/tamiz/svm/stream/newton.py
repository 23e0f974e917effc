r"""Linear machines on a stream, solved to a certified gap in few passes.

**One pass**: losses, slopes and curvature, and they add up. The hinge ``(z)_+`` of ``z = 1 - y f``
is smoothed to a hyperbola,

.. math::

    h_\mu(z) = \tfrac12 \bigl(z + \sqrt{z^2 + \mu^2}\bigr), \qquad
    a = h_\mu'(z) = \tfrac12 \Bigl(1 + \frac{z}{\sqrt{z^2 + \mu^2}}\Bigr), \qquad
    h_\mu''(z) = \frac{\mu^2}{2 (z^2 + \mu^2)^{3/2}},

which has curvature everywhere, so that no feature is lost from sight when few rows lie near the
margin. ``C_i a_i`` is a point of the dual of the machine, whatever ``mu`` is. The sums

.. math:: \sum_i C_i h_\mu(z_i), \quad \sum_i C_i a_i (x_i, 1), \quad
    \sum_i C_i h_\mu''(z_i) \, (x_i, 1) (x_i, 1)'

are all that a step of Newton and a certificate need. They are as large as the features allow, not
the rows, and those of two batches are added.

**The problem**,

.. math::

    \min_{w, b} \; P(w, b) = \tfrac12 \sum_j d_j w_j^2
        + \sum_i C_i \bigl(1 - y_i(\langle w, x_i\rangle + b)\bigr)_+

with a penalty ``d_j`` for each weight. It is 1 for the plain machine, the variance of the feature
for the machine on standardised features, ``1/z_j^2`` for features multiplied by ``z_j``, and
infinite for features that are left out: none of these needs another look at the rows.

**Steps.** The hinge is smoothed, and each pass over the rows gives
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
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from tamiz.qp import DenseQ, simplex_problem
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import one_blas_thread
from tamiz.scale.batch import Batch
from tamiz.scale.sample import row_hash
from tamiz.solvers import solve_smo

_BLOCK = 4096  # rows of a dense batch that are shifted and scaled at a time
_RUN = 256  # rows of a sparse batch that are gone through at a time


class Tasks(NamedTuple):
    """Which machine tells which classes apart, and what their losses cost."""

    signs: np.ndarray  # (n_machines, n_classes): 1, -1, or 0 for classes that take no part
    penalties: np.ndarray  # (n_machines, n_classes): penalty of the loss of a row


class Units(NamedTuple):
    """The coordinates in which the machines are found: ``(x - shift) / scale``."""

    shift: np.ndarray  # zeros for sparse rows, which would be filled
    scale: np.ndarray  # positive

    def apply(self, X: Any) -> Any:
        """Rows in these coordinates."""
        if sparse.issparse(X):
            X = sparse.csr_matrix((X.data / self.scale[X.indices], X.indices, X.indptr), X.shape)
            return X
        Z = X - self.shift
        Z *= 1.0 / self.scale
        return Z


@dataclass
class HingeSums:
    """What one pass says about every machine; sums over rows.

    Memory: the square of the number of features for each machine.
    """

    losses: np.ndarray  # (K, T): smoothed as where the step begins, at the lengths asked for
    hinges: np.ndarray  # (K, T): as they are
    duals: np.ndarray  # (K, 2, 2, p + 1): points of the dual; side 0 is positive, 1 negative
    rest: np.ndarray  # (K,): what the gap would be if the second were the optimum of its mu
    bend: np.ndarray  # (K,): sum of the second derivatives
    curvature: np.ndarray  # (K, p + 1, p + 1); the lower half counts

    def merge(self, other: HingeSums) -> HingeSums:
        """Add what other rows tell; this object takes it in."""
        for name in ("losses", "hinges", "duals", "rest", "bend", "curvature"):
            total = getattr(self, name)
            total += getattr(other, name)
        return self


@dataclass
class HingeAt:
    """Makes the sums of a batch: at a point, along a direction.

    Parameters
    ----------
    tasks, units
        The machines, and the coordinates.
    machines : array of int
        Which of the machines are asked for (K of them).
    point, direction : arrays of shape (K, p + 1)
        Weights with the intercept last, and the step from there.
    lengths : array of shape (K, T)
        Step lengths to try; the slopes and the curvature are those at the first.
    before, after : arrays of shape (K, 2)
        Smoothing at the point (for the linearised dual) and at the end of the step: that of the
        slopes, and that of the curvature. After ``mu`` has fallen, the curvature of the larger one
        tells better where the minimum goes.
    rate : array of shape (K,)
        A row counts in the curvature with probability ``rate * h''``, and then by the inverse;
        infinite: all do.
    """

    tasks: Tasks
    units: Units
    machines: np.ndarray
    point: np.ndarray
    direction: np.ndarray
    lengths: np.ndarray
    before: np.ndarray
    after: np.ndarray
    rate: np.ndarray

    def __call__(self, batch: Batch) -> HingeSums:
        return self.of(batch.X, batch.y, batch.first_row)

    def of(self, X: Any, codes: Any, first_row: int = 0) -> HingeSums:
        """The sums of some rows."""
        K, T = self.lengths.shape
        p = X.shape[1]
        sums = HingeSums(
            losses=np.zeros((K, T)),
            hinges=np.zeros((K, T)),
            duals=np.zeros((K, 2, 2, p + 1)),
            rest=np.zeros(K),
            bend=np.zeros(K),
            curvature=np.zeros((K, p + 1, p + 1)),
        )
        if sparse.issparse(X):
            self._add_sparse(X, codes, first_row, sums)
            return sums
        for start in range(0, X.shape[0], _BLOCK):
            rows = slice(start, start + _BLOCK)
            self._add(self.units.apply(X[rows]), codes[rows], first_row + start, sums)
        return sums

    def _add_sparse(self, X: Any, codes: np.ndarray, first_row: int, sums: HingeSums) -> None:
        """All in one go over the rows as they are: the weights take the units, then the sums do."""
        unit = np.append(1.0 / self.units.scale, 1.0)
        chance = np.empty(0)
        if np.isfinite(self.rate).any():
            chance = row_hash(first_row + np.arange(X.shape[0]), 1) / 2.0**64
        _sweep(
            (X.data, X.indices, X.indptr, codes),
            (self.tasks.signs[self.machines], self.tasks.penalties[self.machines]),
            (self.point * unit, self.direction * unit, self.lengths),
            (self.before, self.after, self.rate, chance),
            (sums.losses, sums.hinges, sums.duals, sums.rest, sums.bend, sums.curvature),
        )
        sums.duals *= unit
        sums.curvature *= unit[:, None] * unit

    def _add(self, Z: np.ndarray, codes: np.ndarray, first_row: int, sums: HingeSums) -> None:
        n = len(Z)
        decisions = np.stack([Z @ self.point[:, :-1].T, Z @ self.direction[:, :-1].T])
        decisions += np.stack([self.point[:, -1], self.direction[:, -1]])[:, None]
        chance: np.ndarray | None = None
        for k, machine in enumerate(self.machines):
            signs = self.tasks.signs[machine][codes]
            penalties = np.where(signs != 0.0, self.tasks.penalties[machine][codes], 0.0)
            here, along = decisions[:, :, k]
            found = np.empty((3, n))
            sums.rest[k] += _look(
                1.0 - signs * here, -signs * along, penalties, self.lengths[k], self.before[k],
                self.after[k], sums.losses[k], sums.hinges[k], found,
            )  # fmt: skip
            pull = np.concatenate([found[:2] * (signs > 0), found[:2] * (signs < 0)])
            total = np.append(pull @ Z, pull.sum(axis=1)[:, None], axis=1)
            sums.duals[k] += total.reshape(2, 2, -1).transpose(1, 0, 2)
            bend = found[2]
            sums.bend[k] += bend.sum()
            if self.rate[k] < np.inf:
                if chance is None:
                    chance = row_hash(first_row + np.arange(n), 1) / 2.0**64
                wanted = self.rate[k] * bend
                bend = np.where(chance < wanted, bend / np.clip(wanted, 1e-300, 1.0), 0.0)
            _add_curvature(Z, bend, sums.curvature[k])


@njit(cache=True, nogil=True)
def _sweep(rows, tasks, step, smoothing, sums):  # type: ignore[no-untyped-def]
    """One go over sparse rows with ascending indices, some at a time: they stay at hand."""
    data, indices, indptr, codes = rows
    signs, penalties = tasks
    point, direction, lengths = step
    before, after, rate, chance = smoothing
    losses, hinges, duals, rest, bends, curvature = sums
    last = point.shape[1] - 1
    z, change, penalty = np.empty(_RUN), np.empty(_RUN), np.empty(_RUN)
    found = np.empty((3, _RUN))
    for begin in range(0, len(codes), _RUN):
        n = min(_RUN, len(codes) - begin)
        for k in range(len(point)):
            w, v = point[k], direction[k]
            for i in range(n):
                y = signs[k, codes[begin + i]]
                here, along = w[last], v[last]
                for q in range(indptr[begin + i], indptr[begin + i + 1]):
                    here += w[indices[q]] * data[q]
                    along += v[indices[q]] * data[q]
                z[i], change[i] = 1.0 - y * here, -y * along
                penalty[i] = penalties[k, codes[begin + i]] if y != 0.0 else 0.0
            rest[k] += _look(
                z[:n], change[:n], penalty[:n], lengths[k], before[k], after[k], losses[k],
                hinges[k], found[:, :n],
            )  # fmt: skip
            H = curvature[k]
            for i in range(n):
                if penalty[i] == 0.0:
                    continue
                start, stop = indptr[begin + i], indptr[begin + i + 1]
                side = 0 if signs[k, codes[begin + i]] > 0.0 else 1
                one, two, bend = found[0, i], found[1, i], found[2, i]
                first, second = duals[k, 0, side], duals[k, 1, side]
                for q in range(start, stop):
                    first[indices[q]] += one * data[q]
                    second[indices[q]] += two * data[q]
                first[last] += one
                second[last] += two
                bends[k] += bend
                if rate[k] < np.inf:
                    wanted = rate[k] * bend
                    if not chance[begin + i] < wanted:
                        continue
                    bend /= min(wanted, 1.0)
                for q in range(start, stop):
                    value = bend * data[q]
                    row = H[indices[q]]
                    for r in range(start, q + 1):
                        row[indices[r]] += value * data[r]
                    H[last, indices[q]] += value
                H[last, last] += bend


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _look(z, change, penalty, lengths, before, after, losses, hinges, found):  # type: ignore[no-untyped-def]
    """Losses of a machine at some step lengths; slopes and curvature; what smoothing leaves.

    ``z`` is one minus the margin at the point, ``change`` what a step of length one adds. ``found``
    takes the dual variables, linearised at the point and at the end of the step, and the second
    derivatives. Everything is written without cancellation: ``mu^2 = (root - z)(root + z)``.
    """
    mu2 = before[0] * before[0]
    for t in range(len(lengths)):
        loss = hinge = 0.0
        for i in range(len(z)):
            end = z[i] + lengths[t] * change[i]
            h = max(end, 0.0)
            hinge += penalty[i] * h
            loss += penalty[i] * (h + 0.5 * mu2 / (abs(end) + np.sqrt(end * end + mu2)))
        losses[t] += loss
        hinges[t] += hinge
    nu2 = before[1] * before[1]
    for i in range(len(z)):
        size = abs(z[i])
        root = np.sqrt(size * size + mu2)
        tail = 0.5 * mu2 / (root * (root + size))
        a = 1.0 - tail if z[i] >= 0.0 else tail
        bent = size * size + nu2
        a += 0.5 * nu2 / (bent * np.sqrt(bent)) * change[i]
        found[0, i] = penalty[i] * min(max(a, 0.0), 1.0)
    mu2, nu2 = after[0] * after[0], after[1] * after[1]
    rest = 0.0
    for i in range(len(z)):
        end = z[i] + lengths[0] * change[i]
        size = abs(end)
        root = np.sqrt(size * size + mu2)
        tail = 0.5 * mu2 / (root * (root + size))
        found[1, i] = penalty[i] * (1.0 - tail if end >= 0.0 else tail)
        rest += penalty[i] * tail * size
        bent = size * size + nu2
        found[2, i] = penalty[i] * (0.5 * nu2 / (bent * np.sqrt(bent)))
    return rest


def _add_curvature(Z: np.ndarray, bend: np.ndarray, out: np.ndarray) -> None:
    """Add ``sum_i bend_i (z_i, 1)(z_i, 1)'`` to the lower half of ``out``."""
    rows = np.flatnonzero(bend)
    part = Z if len(rows) == len(bend) else Z[rows]
    weight = bend[rows]
    weighted = part * weight[:, None]
    out[:-1, :-1] += part.T @ weighted
    out[-1, :-1] += weighted.sum(axis=0)
    out[-1, -1] += weight.sum()


def sides(dual: np.ndarray) -> tuple[np.ndarray, float]:
    """A dual point made feasible: the side that has too much is scaled down.

    ``dual`` has shape (2, p + 1). Returns ``sum_i alpha_i y_i x_i`` and ``sum_i alpha_i``.
    """
    up, down = float(dual[0, -1]), float(dual[1, -1])
    least = min(up, down)
    if not least > 0.0:
        return np.zeros(dual.shape[1] - 1), 0.0
    return (least / up) * dual[0, :-1] - (least / down) * dual[1, :-1], 2.0 * least


_MOST_PLANES = 16
_HALVINGS = 10  # to find the length of a step
_FALL = 0.3  # of mu
_FIRST_MU, _LEAST_MU = 1.0, 1e-10
_AFTER_SAMPLE, _AFTER_WARM = 0.3, 0.1
_PATIENCE = 12  # passes without gain
_DOUBT = 0.02  # fraction of the objective by which a sample may be wrong
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
        penalties = self.tasks.penalties * self.weight
        plain = Units(np.zeros(p), np.ones(p))
        return Rows(
            total=lambda make: make.of(self.sample, self.codes),
            tasks=self.tasks._replace(penalties=penalties),
            units=plain,
            n_rows=len(self.codes),
            row_cost=self.row_cost,
            sample=self.sample,
            codes=self.codes,
            weight=1.0,
        )


@dataclass
class MachineRun:
    """One machine: where it is, the best that was met, and the planes below its losses."""

    ridge: np.ndarray  # penalty of every weight; infinite: no weight
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
    rate: float = np.inf  # of the rows, by their second derivatives, for the curvature
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
        """Start a problem with other penalties of the weights from here."""
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
    machines: list[MachineRun],
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
    rows: Rows, machines: list[MachineRun], *, tol: float = 1e-3, max_passes: int = 40
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


def rehearse(rows: Rows, machines: list[MachineRun]) -> None:
    """Where the sample says that a start is poor, begin with the machine of the sample."""
    starts = [MachineRun(m.ridge, m.point, _AFTER_WARM) for m in machines]
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


def _question(rows: Rows, chosen: list[MachineRun], active: list[int]) -> HingeAt:
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
        rate=np.array([m.rate for m in chosen]),
    )


def _take(machine: MachineRun, sums: HingeSums, k: int, tol: float) -> None:
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


def _length(machine: MachineRun, z: np.ndarray, change: np.ndarray, penalty: np.ndarray) -> float:
    """Where the slope along the direction vanishes, as far as the sample knows.

    At the start it is that of all rows; the sample says how it grows.
    """
    mu2 = machine.mu**2
    kept = np.isfinite(machine.ridge)
    bend = float(machine.ridge[kept] @ machine.direction[:-1][kept] ** 2)
    start = _tilt(z, change, penalty, mu2, 0.0)

    def slope(length: float) -> float:
        return length * bend + _tilt(z, change, penalty, mu2, length) - start - machine.decrement

    low, high = 0.0, machine.reach
    if slope(high) <= 0.0:
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return high


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _tilt(z, change, penalty, mu2, length):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(z)):
        end = z[i] + length * change[i]
        total += penalty[i] * change[i] * (0.5 + 0.5 * end / np.sqrt(end * end + mu2))
    return total


def _plan(machine: MachineRun, rows: Rows, k: int) -> None:
    """Length of the step, by the sample; smoothing at its end, and rows for the curvature there."""
    if not machine.length:
        return
    signs, penalties = rows.tasks.signs[k][rows.codes], rows.tasks.penalties[k][rows.codes]
    part = np.flatnonzero(signs * penalties)
    if len(part):
        y, penalty = signs[part], penalties[part] * rows.weight
        both = np.stack([machine.point, machine.direction])
        here, along = (rows.sample @ both[:, :-1].T + both[:, -1])[part].T
        machine.length = _length(machine, 1.0 - y * here, -y * along, penalty)
    if machine.decrement < machine.rest and machine.length >= 0.3:
        machine.mu = max(_FALL * machine.mu, _LEAST_MU)  # the curvature follows one pass later
    most = max(_FLOPS / rows.row_cost, 200.0 * len(machine.ridge), 5e4)
    machine.rate = most / max(machine.bend, 1e-300) if rows.n_rows > most else np.inf
