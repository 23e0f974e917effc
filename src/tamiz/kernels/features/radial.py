"""Feature tracking for the radial kernel.

The base matrix is D = sum over j of sigma_j**2 (x_ij - x_lj)**2. Leaving feature j out
multiplies an entry of K by exp(gamma sigma_j**2 (x_ij - x_lj)**2), which overflows just where K
underflows; so the factor is taken in the exponent, exp(-gamma (D - d_j)), and nothing is lost.
"""

from __future__ import annotations

import numpy as np

from tamiz.kernels._checks import Array
from tamiz.kernels.elementary import RBF
from tamiz.kernels.features import leave_out
from tamiz.kernels.features.base import MIN_WORK, FeatureGram, Index, Pairs
from tamiz.kernels.features.inner import EPS, sum_decisions, sum_norms
from tamiz.kernels.products import inner_products, squared_norms
from tamiz.runtime.blas import product
from tamiz.runtime.parallel import run_tiles

DRIFT = 1e-12  # rounding of the exponent that is allowed to pile up


class RadialFeatures(FeatureGram):
    """The radial kernel."""

    kernel: RBF

    def __init__(self, kernel: RBF, X: Array, scale: Array) -> None:
        super().__init__(kernel, X, scale)
        self.gamma = kernel.rate
        # Distances do not know the mean; without it there is less to cancel.
        self._mean = X.mean(axis=0) if len(X) else np.zeros(X.shape[1])
        self._centred = X - self._mean
        self._refresh()

    @property
    def distances(self) -> Array:
        """Squared distances between the scaled samples; not to be written to."""
        return self._base

    def _refresh(self) -> None:
        """Work the squared distances out anew from the active features."""
        active = np.flatnonzero(self._scale)
        samples = self._centred[:, active] * self._scale[active]
        self._sizes = squared_norms(samples)
        self._base = _distances(samples, None)
        self._drift = 0.0

    def _changed(self, j: int, old: float, new: float) -> None:
        column = np.ascontiguousarray(self._centred[:, j])
        delta = (new - old) * (new + old)
        before = self._sizes.max(initial=0.0)
        self._sizes += delta * np.square(column)
        after = self._sizes.max(initial=0.0)
        least = max(1, 8 * MIN_WORK // max(1, self.n))  # an entry is one multiplication
        run_tiles(leave_out.shift_distances, self.n, self._base, column, delta, min_items=least)
        self._drift += 4 * EPS * max(before, after)
        # Working anew helps only if what piled up exceeds what that would leave by itself.
        allowed = max(DRIFT / self.gamma, 64 * EPS * after)
        if self._drift > allowed or not self._scale.any():
            self._refresh()

    def _current(self) -> Array:
        out = np.empty_like(self._base) if self._spare is None else self._spare
        least = max(1, MIN_WORK // max(1, self.n))
        rate = float(self.gamma)
        run_tiles(leave_out.radial_values, self.n, self._base, rate, out, min_items=least)
        return out

    def _pairs(self, left: Array | Index, right: Index) -> Pairs:
        if left is right and len(right) == self.n:
            base = self._base
        elif left.ndim == 1:
            base = self._base[np.ix_(left, right)]
        else:
            base = _distances(self._spread(left), self._spread(right))
        return _RadialPairs(self.gamma, base, self._spread(left), self._spread(right))

    def _spread(self, Z: Array | Index) -> Array:
        """Samples, centred and times the current factors."""
        centred = self._centred[Z] if Z.ndim == 1 else Z - self._mean
        return np.asarray(centred * self._scale)

    def _norms(self, rows: Index, coef: Array, features: Index) -> Array:
        samples = np.ascontiguousarray(self._spread(rows)[:, features]) * np.sqrt(self.gamma)
        base = self._base[np.ix_(rows, rows)] * self.gamma
        return sum_norms(leave_out.radial_norms, samples, base, coef)

    def _diagonals(self, rows: Index, weights: Array, features: Index) -> Array:
        return np.full(len(features), float(weights.sum()))  # K(x, x) = 1

    def _decisions(self, Z: Array, rows: Index, coef: Array, features: Index) -> Array:
        root = np.sqrt(self.gamma)
        left = np.ascontiguousarray(self._spread(Z)[:, features]) * root
        right = np.ascontiguousarray(self._spread(rows)[:, features]) * root
        base = _distances(left, right)
        return sum_decisions(leave_out.radial_decisions, left, right, base, coef)

    def _pull(self, rows: Index, weights: Array) -> Array:
        # sum of m_il (x_i - x_l)**2 = 2 (sum of r_i x_i**2 - x' M x), r the row sums of M
        samples = self._centred[rows]
        inner = weights * np.exp(-self.gamma * self._base[np.ix_(rows, rows)])
        spread = inner.sum(axis=1) @ np.square(samples)
        spread -= np.einsum("ij,ij->j", samples, product(inner, samples))
        return -4.0 * self.gamma * self._scale * spread

    def _pull_diag(self, weights: Array) -> Array:
        return np.zeros(self.p)  # K(x, x) = 1 whatever the factors

    def _derivative(self, j: int) -> Array:
        column = self._centred[:, j]
        result = np.subtract.outer(column, column)
        np.square(result, out=result)
        result *= -2.0 * self.gamma * self._scale[j]
        result *= self.K
        return result


class _RadialPairs(Pairs):
    def __init__(self, gamma: float, base: Array, left: Array, right: Array) -> None:
        self.gamma = gamma
        self.base = base
        self.left = left
        self.right = right

    def without(self, j: int) -> Array:
        rest = np.subtract.outer(self.left[:, j], self.right[:, j])
        np.square(rest, out=rest)
        np.subtract(self.base, rest, out=rest)
        np.maximum(rest, 0.0, out=rest)
        rest *= -self.gamma
        return np.exp(rest, out=rest)


def _distances(left: Array, right: Array | None) -> Array:
    """Squared distances between rows; symmetric with a diagonal of 0 if ``right`` is None."""
    sizes = squared_norms(left)
    others = sizes if right is None else squared_norms(right)
    out = inner_products(left, right)
    out *= -2.0
    out += sizes[:, None] + others
    np.maximum(out, 0.0, out=out)
    if right is None:
        np.fill_diagonal(out, 0.0)
    return out
