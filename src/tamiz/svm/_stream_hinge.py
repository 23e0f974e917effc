r"""One pass over a stream for linear machines: losses, slopes and curvature, and they add up.

The hinge ``(z)_+`` of ``z = 1 - y f`` is smoothed to a hyperbola,

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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from tamiz.scale.batch import Batch
from tamiz.scale.sample import row_hash

_BLOCK = 4096  # rows of a dense batch that are shifted and scaled at a time


class Tasks(NamedTuple):
    """Which machine tells which classes apart, and what their losses cost."""

    signs: np.ndarray  # (n_machines, n_classes): 1, -1, or 0 for classes that take no part
    prices: np.ndarray  # (n_machines, n_classes): price of the loss of a row


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
    """What one pass tells of every machine; sums over rows.

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
    share : array of shape (K,)
        A row counts in the curvature with probability ``share * h''``, and then by the inverse.
    """

    tasks: Tasks
    units: Units
    machines: np.ndarray
    point: np.ndarray
    direction: np.ndarray
    lengths: np.ndarray
    before: np.ndarray
    after: np.ndarray
    share: np.ndarray

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
        step = X.shape[0] if sparse.issparse(X) else _BLOCK
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            self._add(self.units.apply(X[rows]), codes[rows], first_row + start, sums)
        return sums

    def _add(self, Z: Any, codes: np.ndarray, first_row: int, sums: HingeSums) -> None:
        n = Z.shape[0]
        here = np.ascontiguousarray((Z @ self.point[:, :-1].T + self.point[:, -1]).T)
        along = np.ascontiguousarray((Z @ self.direction[:, :-1].T + self.direction[:, -1]).T)
        chance: np.ndarray | None = None
        for k, machine in enumerate(self.machines):
            signs = self.tasks.signs[machine][codes]
            prices = self.tasks.prices[machine][codes]
            pull = np.zeros((n, 4))
            bend = np.empty(n)
            sums.rest[k] += _look(
                here[k], along[k], signs, prices, self.lengths[k], self.before[k], self.after[k],
                sums.losses[k], sums.hinges[k], pull, bend,
            )  # fmt: skip
            sums.duals[k, :, :, :-1] += np.asarray(Z.T @ pull).T.reshape(2, 2, -1)
            sums.duals[k, :, :, -1] += pull.sum(axis=0).reshape(2, 2)
            sums.bend[k] += bend.sum()
            if self.share[k] * bend.max() < 1.0:
                if chance is None:
                    chance = row_hash(first_row + np.arange(n), 1) / 2.0**64
                wanted = self.share[k] * bend
                bend = np.where(chance < wanted, bend / np.clip(wanted, 1e-300, 1.0), 0.0)
            _add_curvature(Z, bend, sums.curvature[k])


@njit(cache=True, nogil=True)
def _look(here, along, signs, prices, lengths, before, after, losses, hinges, pull, bend):  # type: ignore[no-untyped-def]
    """Losses of a machine at some step lengths; the slopes of both sides, and the curvature.

    ``pull`` holds the dual variables: linearised at the start of the step (columns 0 and 1, for
    positive and negative rows), and at its end (2 and 3).
    """
    rest = 0.0
    mu = after[0]
    for i in range(len(here)):
        y, price = signs[i], prices[i]
        if y == 0.0 or price == 0.0:
            bend[i] = 0.0
            continue
        for t in range(len(lengths)):
            z = 1.0 - y * (here[i] + lengths[t] * along[i])
            losses[t] += price * _smooth(z, before[0])
            hinges[t] += price * max(z, 0.0)
        side = 0 if y > 0.0 else 1
        z = 1.0 - y * here[i]
        a = _slope(z, before[0]) - _bend(z, before[1]) * y * along[i]
        pull[i, side] = price * min(max(a, 0.0), 1.0)
        z -= y * lengths[0] * along[i]
        a = _slope(z, mu)
        pull[i, 2 + side] = price * a
        rest += price * (max(z, 0.0) - a * z)
        bend[i] = price * _bend(z, after[1])
    return rest


@njit(cache=True, nogil=True)
def _bend(z, mu):  # type: ignore[no-untyped-def]
    """Second derivative."""
    root = np.sqrt(z * z + mu * mu)
    return 0.5 * (mu / root) ** 2 / root


@njit(cache=True, nogil=True)
def _slope(z, mu):  # type: ignore[no-untyped-def]
    """First derivative, without cancellation where it is small."""
    root = np.sqrt(z * z + mu * mu)
    if z >= 0.0:
        return 0.5 * (1.0 + z / root)
    return 0.5 * (mu / root) * (mu / (root - z))


@njit(cache=True, nogil=True)
def _smooth(z, mu):  # type: ignore[no-untyped-def]
    root = np.sqrt(z * z + mu * mu)
    return 0.5 * (z + root) if z >= 0.0 else 0.5 * mu * (mu / (root - z))


def _add_curvature(Z: Any, bend: np.ndarray, out: np.ndarray) -> None:
    """Add ``sum_i bend_i (z_i, 1)(z_i, 1)'`` to the lower half of ``out``."""
    rows = np.flatnonzero(bend)
    if sparse.issparse(Z):
        _add_sparse(Z.data, Z.indices, Z.indptr, bend, rows, out)
        return
    part = Z if len(rows) == len(bend) else Z[rows]
    weight = bend[rows]
    weighted = part * weight[:, None]
    out[:-1, :-1] += part.T @ weighted
    out[-1, :-1] += weighted.sum(axis=0)
    out[-1, -1] += weight.sum()


@njit(cache=True, nogil=True)
def _add_sparse(data, indices, indptr, bend, rows, out):  # type: ignore[no-untyped-def]
    last = out.shape[0] - 1
    for i in rows:
        for q in range(indptr[i], indptr[i + 1]):
            j, value = indices[q], bend[i] * data[q]
            for r in range(indptr[i], indptr[i + 1]):
                if indices[r] <= j:
                    out[j, indices[r]] += value * data[r]
            out[last, j] += value
        out[last, last] += bend[i]


def sides(dual: np.ndarray) -> tuple[np.ndarray, float]:
    """A dual point made feasible: the side that has too much is scaled down.

    ``dual`` has shape (2, p + 1). Returns ``sum_i alpha_i y_i x_i`` and ``sum_i alpha_i``.
    """
    up, down = float(dual[0, -1]), float(dual[1, -1])
    least = min(up, down)
    if not least > 0.0:
        return np.zeros(dual.shape[1] - 1), 0.0
    return (least / up) * dual[0, :-1] - (least / down) * dual[1, :-1], 2.0 * least
