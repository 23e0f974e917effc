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
_RUN = 256  # rows of a sparse batch that are gone through at a time


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
        A row counts in the curvature with probability ``share * h''``, and then by the inverse;
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
        if np.isfinite(self.share).any():
            chance = row_hash(first_row + np.arange(X.shape[0]), 1) / 2.0**64
        _sweep(
            X.data, X.indices, X.indptr, codes, self.tasks.signs[self.machines],
            self.tasks.prices[self.machines], self.point * unit, self.direction * unit,
            self.lengths, self.before, self.after, self.share, chance,
            sums.losses, sums.hinges, sums.duals, sums.rest, sums.bend, sums.curvature,
        )  # fmt: skip
        sums.duals *= unit
        sums.curvature *= unit[:, None] * unit

    def _add(self, Z: np.ndarray, codes: np.ndarray, first_row: int, sums: HingeSums) -> None:
        n = len(Z)
        decisions = np.stack([Z @ self.point[:, :-1].T, Z @ self.direction[:, :-1].T])
        decisions += np.stack([self.point[:, -1], self.direction[:, -1]])[:, None]
        chance: np.ndarray | None = None
        for k, machine in enumerate(self.machines):
            signs = self.tasks.signs[machine][codes]
            prices = np.where(signs != 0.0, self.tasks.prices[machine][codes], 0.0)
            here, along = decisions[:, :, k]
            found = np.empty((3, n))
            sums.rest[k] += _look(
                1.0 - signs * here, -signs * along, prices, self.lengths[k], self.before[k],
                self.after[k], sums.losses[k], sums.hinges[k], found,
            )  # fmt: skip
            pull = np.concatenate([found[:2] * (signs > 0), found[:2] * (signs < 0)])
            total = np.append(pull @ Z, pull.sum(axis=1)[:, None], axis=1)
            sums.duals[k] += total.reshape(2, 2, -1).transpose(1, 0, 2)
            bend = found[2]
            sums.bend[k] += bend.sum()
            if self.share[k] < np.inf:
                if chance is None:
                    chance = row_hash(first_row + np.arange(n), 1) / 2.0**64
                wanted = self.share[k] * bend
                bend = np.where(chance < wanted, bend / np.clip(wanted, 1e-300, 1.0), 0.0)
            _add_curvature(Z, bend, sums.curvature[k])


@njit(cache=True, nogil=True)
def _sweep(  # type: ignore[no-untyped-def]
    data, indices, indptr, codes, signs, prices, point, direction, lengths, before, after, share,
    chance, losses, hinges, duals, rest, bends, curvature,
):  # fmt: skip
    """One go over sparse rows with ascending indices, some at a time: they stay at hand."""
    last = point.shape[1] - 1
    z, change, price = np.empty(_RUN), np.empty(_RUN), np.empty(_RUN)
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
                price[i] = prices[k, codes[begin + i]] if y != 0.0 else 0.0
            rest[k] += _look(
                z[:n], change[:n], price[:n], lengths[k], before[k], after[k], losses[k],
                hinges[k], found[:, :n],
            )  # fmt: skip
            H = curvature[k]
            for i in range(n):
                if price[i] == 0.0:
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
                if share[k] < np.inf:
                    wanted = share[k] * bend
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
def _look(z, change, price, lengths, before, after, losses, hinges, found):  # type: ignore[no-untyped-def]
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
            hinge += price[i] * h
            loss += price[i] * (h + 0.5 * mu2 / (abs(end) + np.sqrt(end * end + mu2)))
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
        found[0, i] = price[i] * min(max(a, 0.0), 1.0)
    mu2, nu2 = after[0] * after[0], after[1] * after[1]
    rest = 0.0
    for i in range(len(z)):
        end = z[i] + lengths[0] * change[i]
        size = abs(end)
        root = np.sqrt(size * size + mu2)
        tail = 0.5 * mu2 / (root * (root + size))
        found[1, i] = price[i] * (1.0 - tail if end >= 0.0 else tail)
        rest += price[i] * tail * size
        bent = size * size + nu2
        found[2, i] = price[i] * (0.5 * nu2 / (bent * np.sqrt(bent)))
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
