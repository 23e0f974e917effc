r"""The best subset for a linear machine: a mixed-integer linear program that HiGHS solves.

.. math::

    \min_{w, b, z} \; \sum_i C_i \,(1 - y_i(\langle w, x_i\rangle + b))_+ + \sum_j c_j |w_j|
    \quad\text{s.t.}\quad |w_j| \le M_j z_{u(j)},\;
    \sum_u a_{ru} z_u \le l_r,\; z_u \in \{0, 1\}.

``z_u`` says whether the unit ``u`` (a feature, or a group of them) is in, ``a_{ru}`` how much it
uses of the limit ``l_r``: one of a number of features, its cost of a budget. Several machines share
``z``; their objectives add up. A regression has the losses of a tube,
``C_i (|t_i - f(x_i)| - epsilon)_+``, in place of the hinge. In the form of [1]_ there is no penalty
(``c = 0``) and ``M_j = B`` is given: the box is then the regularisation.

References
----------
.. [1] S. Maldonado, J. Pérez, R. Weber, M. Labbé (2014). Feature selection for support vector
       machines via mixed integer linear programming. Information Sciences 279.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, linprog

from tamiz.solvers.l1_programs import divided, units
from tamiz.solvers.linear_program import HingeLosses, Kinks
from tamiz.solvers.tube_program import TubeLosses
from tamiz.validation import LARGE_TARGET, TOO_LARGE

_EXACT = 1e-8  # relative duality gap of the machine on a subset


class SubsetProgram(NamedTuple):
    """A linear machine (or several) on a subset of units within limits."""

    X: Any  # float64, C-contiguous or CSR
    machines: Sequence[HingeLosses | TubeLosses]
    c: np.ndarray  # penalty of each feature, positive; zero with a box
    unit: np.ndarray  # the unit of each feature
    uses: np.ndarray  # (limits, units): not negative
    limits: np.ndarray  # (limits,)
    box: np.ndarray | None = None  # largest |w_j|, where that is part of the problem

    @property
    def n_units(self) -> int:
        return self.uses.shape[1]

    def fits(self, chosen: np.ndarray) -> bool:
        """Whether the units ``chosen`` (a mask) keep within the limits."""
        return bool(np.all(self.uses @ chosen <= self.limits * (1.0 + 1e-9)))

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Sum of a value of machines and features over each unit."""
        return np.bincount(self.unit, values.sum(axis=0), minlength=self.n_units)

    def filled(self, order: np.ndarray) -> np.ndarray:
        """The first units of ``order`` that fit together, as a mask."""
        chosen = np.zeros(self.n_units, dtype=bool)
        for u in order:
            chosen[u] = True
            chosen[u] = self.fits(chosen)
        return chosen

    def fit(self, chosen: np.ndarray, c: np.ndarray | None = None) -> SubsetFit:
        """Fit the machines to the units ``chosen``; ``c`` is for penalties of each machine."""
        features = np.flatnonzero(chosen[self.unit])
        X = self.X if len(features) == len(self.unit) else self.X[:, features]
        W, G = np.zeros((2, len(self.machines), len(self.unit)))
        b, values, bounds = np.zeros((3, len(self.machines)))
        for m, losses in enumerate(self.machines):
            penalties = (self.c if c is None else c[m])[features]
            if self.box is None:
                found = losses.program(X, penalties).solve(tol=_EXACT)
                w, b[m], values[m] = found.w, found.b, found.objective
                bounds[m] = found.objective - found.gap
                G[m] = losses.pull(self.X, found.alpha)
            else:
                kinks = losses.kinks(X)
                w, b[m], alpha, values[m] = _in_box(kinks, self.box[features])
                bounds[m] = values[m]
                G[m] = self.X.T @ kinks.per_sample(alpha, X.shape[0])
            W[m, features] = w
        return SubsetFit(chosen, W, b, G, values, bounds)


class SubsetFit(NamedTuple):
    """The machines on a subset of the units."""

    chosen: np.ndarray  # mask of units
    W: np.ndarray  # (machines, features)
    b: np.ndarray
    G: (
        np.ndarray
    )  # sum_i alpha_i y_i x_ij (or beta_i x_ij) of every feature, also of those left out
    values: np.ndarray  # objective of each machine
    bounds: np.ndarray  # lower bound on each

    @property
    def objective(self) -> float:
        return float(self.values.sum())


class Scales(NamedTuple):
    """What a program was divided by, and the way back."""

    scale: np.ndarray | None  # of each column; None if all are one
    middle: np.ndarray | None  # of each column, subtracted before; None if all are zero
    size: float  # of the outputs

    def undo(self, fit: SubsetFit) -> SubsetFit:
        """The machines in the units of the columns and of the target."""
        with np.errstate(over="ignore"):
            fit = fit._replace(
                W=self.size * fit.W,
                b=self.size * fit.b,
                values=self.size * fit.values,
                bounds=self.size * fit.bounds,
            )
        if not all(np.isfinite(part).all() for part in (fit.W, fit.b)):
            raise ValueError(LARGE_TARGET)
        if self.scale is not None:
            fit = fit._replace(W=fit.W / self.scale, G=fit.G * self.scale)
        if self.middle is not None:
            fit = fit._replace(b=fit.b - fit.W @ self.middle)
        return fit


def scaled(program: SubsetProgram) -> tuple[SubsetProgram, Scales]:
    """Bring columns of extraordinary size or place, and targets, to size one.

    The minimum stays the same, divided by the size of the targets.
    """
    middle, scale = units(program.X)
    size = max(losses.size for losses in program.machines)
    machines = [losses.in_units(size) for losses in program.machines]
    box = None if program.box is None else program.box / size
    program = program._replace(machines=machines, box=box)
    if middle is not None:
        program = program._replace(X=program.X - middle)
    if scale is not None:
        with np.errstate(over="ignore"):
            box = None if box is None else box * scale
        if box is not None and not np.isfinite(box).all():
            raise ValueError(TOO_LARGE)
        X = divided(program.X, scale)
        program = program._replace(X=X, c=program.c / scale, box=box)
    return program, Scales(scale, middle, size)


def matrices(
    program: SubsetProgram, inside: np.ndarray, needed: np.ndarray, M: np.ndarray
) -> tuple[np.ndarray, Bounds, Any, np.ndarray, np.ndarray]:
    """Cost, bounds, rows and their limits; variables ``z``, then ``w, t, b, ξ`` of each machine.

    Only the units ``inside`` take part, and those of the mask ``needed`` are in.

    ``t`` is ``|w|``: with positive and negative parts of ``w`` the dense block would stand twice.
    """
    J = np.flatnonzero(np.isin(program.unit, inside))
    X, M = program.X[:, J], M[:, J]
    p = len(J)
    place = np.zeros(program.n_units, dtype=np.intp)
    place[inside] = np.arange(len(inside))
    owner = sparse.csr_array(
        (np.ones(p), (np.arange(p), place[program.unit[J]])), shape=(p, len(inside))
    )
    eye, none = sparse.csr_array(sparse.identity(p)), sparse.csr_array((p, p))
    cost, least, most = [np.zeros(len(inside))], [needed[inside] * 1.0], [np.ones(len(inside))]
    blocks, links, low = [], [], []
    for losses, limit in zip(program.machines, M, strict=True):
        rows, y, C, margin = losses.kinks(X)
        n = len(y)
        after = sparse.csr_array((p, n + 1))
        G = sparse.csr_array(rows) * y[:, None]
        margins = [G, sparse.csr_array((n, p)), sparse.csr_array(y[:, None]), sparse.identity(n)]
        sizes = [[-eye, eye, after], [eye, eye, after], [none, -eye, after]]
        blocks.append(sparse.vstack([sparse.hstack(margins), *map(sparse.hstack, sizes)]))
        bound_by = owner * limit[:, None]
        links.append(sparse.vstack([sparse.csr_array((n + 2 * p, len(inside))), bound_by]))
        low.append(np.concatenate([margin, np.zeros(3 * p)]))
        cost.append(np.concatenate([np.zeros(p), program.c[J], [0.0], C]))
        least.append(np.concatenate([-limit, np.zeros(p), [-np.inf], np.zeros(n)]))
        most.append(np.concatenate([limit, limit, [np.inf], np.full(n, np.inf)]))
    of_machines = sparse.block_diag(blocks)
    uses = sparse.csr_array(-program.uses[:, inside])
    unused = sparse.csr_array((len(program.limits), of_machines.shape[1]))
    table = sparse.vstack(
        [sparse.hstack([sparse.vstack(links), of_machines]), sparse.hstack([uses, unused])],
        format="csc",
    )
    lower = np.concatenate([*low, -program.limits])
    bounds = Bounds(np.concatenate(least), np.concatenate(most))
    return np.concatenate(cost), bounds, table, lower, np.full(len(lower), np.inf)


def _in_box(kinks: Kinks, box: np.ndarray) -> tuple[np.ndarray, float, np.ndarray, float]:
    """Weights within ``±box`` with the least losses, intercept, multipliers and losses."""
    X, y, C, margin = kinks
    n, p = X.shape
    G = sparse.csr_array(X) * y[:, None]
    rows = sparse.hstack([-G, sparse.csr_array(-y[:, None]), -sparse.identity(n)], format="csc")
    bounds = np.column_stack([[*-box, -np.inf, *np.zeros(n)], [*box, *np.full(n + 1, np.inf)]])
    cost = np.concatenate([np.zeros(p + 1), C])
    found = linprog(cost, A_ub=rows, b_ub=-margin, bounds=bounds, method="highs")
    if found.status != 0:
        raise ValueError(
            f"HiGHS could not fit the machine within the box ({found.message.strip()}). Scale the "
            "features, for instance with sklearn.preprocessing.StandardScaler."
        )
    alpha = np.clip(-found.ineqlin.marginals, 0.0, C)
    return found.x[:p], float(found.x[p]), alpha, float(found.fun)
