"""Feature tracking for functions of the inner product: linear, polynomial, sigmoid.

The base matrix is G = sum over j of sigma_j**2 x_j x_j', with x_j the column of feature j: a change
of one factor is a change of rank one. dG/dsigma_j = 2 sigma_j x_j x_j', and the chain rule does
the rest.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tamiz.kernels._checks import Array
from tamiz.kernels.elementary import InnerProductKernel
from tamiz.kernels.features import leave_out
from tamiz.kernels.features.base import MIN_WORK, FeatureGram, Index, Pairs, apply_rows
from tamiz.kernels.products import inner_products
from tamiz.runtime.blas import product
from tamiz.runtime.parallel import run_tiles

EPS = float(np.finfo(np.float64).eps)
LANES = 8  # numbers that a vector instruction of the widest kind takes at once
DRIFT = 1e-12  # rounding, relative to the largest entry, that is allowed to pile up


class InnerProductFeatures(FeatureGram):
    """A kernel that is a function of the inner product."""

    kernel: InnerProductKernel

    def __init__(self, kernel: InnerProductKernel, X: Array, scale: Array) -> None:
        super().__init__(kernel, X, scale)
        self._refresh()

    def _refresh(self) -> None:
        """Work the inner products out anew from the active features."""
        active = np.flatnonzero(self._scale)
        self._base = inner_products(self.X[:, active] * self._scale[active], None)
        self._drift = 0.0

    def _changed(self, j: int, old: float, new: float) -> None:
        before = self._base.diagonal().max(initial=0.0)
        column = np.ascontiguousarray(self.X[:, j])
        least = max(1, MIN_WORK // max(1, self.n))
        delta = (new - old) * (new + old)
        run_tiles(leave_out.shift_products, self.n, self._base, column, delta, min_items=least)
        after = self._base.diagonal().max(initial=0.0)
        self._drift += EPS * max(before, after)
        # Taking a large feature off leaves its rounding behind; working anew clears it.
        if self._drift > DRIFT * after or not self._scale.any():
            self._refresh()

    def _current(self) -> Array:
        return apply_rows(self.kernel.value, self._base, self._spare)

    def _pairs(self, left: Array | Index, right: Index) -> Pairs:
        if left is right and len(right) == self.n:
            base = self._base
        elif left.ndim == 1:
            base = self._base[np.ix_(left, right)]
        else:
            base = inner_products(self._scaled(left), self._scaled(right))
        return _InnerPairs(self.kernel, base, self._scaled(left), self._scaled(right))

    def _diagonals(self, rows: Index, weights: Array, features: Index) -> Array:
        squares = np.square(self._scaled(rows))
        less = squares.sum(axis=1)[:, None] - squares[:, features]
        return np.asarray(weights @ self.kernel.value(less))

    def _pull(self, rows: Index, weights: Array) -> Array:
        samples = self.X[rows]
        inner = weights * self.kernel.slope(self._base[np.ix_(rows, rows)])
        return 2.0 * self._scale * np.einsum("ij,ij->j", samples, product(inner, samples))

    def _pull_diag(self, weights: Array) -> Array:
        slope = self.kernel.slope(self._base.diagonal().copy())
        return np.asarray(2.0 * self._scale * ((weights * slope) @ np.square(self.X)))

    def _derivative(self, j: int) -> Array:
        column = self.X[:, j]
        result = np.multiply.outer(column, column)
        result *= 2.0 * self._scale[j]
        result *= self.kernel.slope(self._base)
        return result


class LinearFeatures(InnerProductFeatures):
    """The linear kernel: everything is closed form in w = sum of c_i x_i."""

    def _current(self) -> Array:
        return self._base

    def _norms(self, rows: Index, coef: Array, features: Index) -> Array:
        squares = np.square(coef @ self._scaled(rows))[features]
        # Sums from both ends instead of a difference: nothing cancels.
        before = np.concatenate(([0.0], np.cumsum(squares)[:-1]))
        after = np.concatenate((np.cumsum(squares[::-1])[-2::-1], [0.0]))
        return before + after

    def _decisions(self, Z: Array, rows: Index, coef: Array, features: Index) -> Array:
        terms = (self._scaled(Z) * (coef @ self._scaled(rows)))[:, features]
        return terms.sum(axis=1, keepdims=True) - terms


class CompiledFeatures(InnerProductFeatures):
    """A kernel with a compiled loop over pairs for each of the sums without one feature."""

    norms_loop: Callable[..., None]
    decisions_loop: Callable[..., None]

    @property
    @abstractmethod
    def shape(self) -> tuple[float, ...]:
        """The kernel's numbers, as the loops want them."""

    def _norms(self, rows: Index, coef: Array, features: Index) -> Array:
        samples = np.ascontiguousarray(self._scaled(rows)[:, features])
        base = np.ascontiguousarray(self._base[np.ix_(rows, rows)])
        return sum_norms(type(self).norms_loop, samples, base, coef, self.shape)

    def _decisions(self, Z: Array, rows: Index, coef: Array, features: Index) -> Array:
        left = np.ascontiguousarray(self._scaled(Z)[:, features])
        right = np.ascontiguousarray(self._scaled(rows)[:, features])
        base = inner_products(left, right)
        return sum_decisions(type(self).decisions_loop, left, right, base, coef, self.shape)


class PolynomialFeatures(CompiledFeatures):
    """The polynomial kernel."""

    norms_loop = leave_out.polynomial_norms
    decisions_loop = leave_out.polynomial_decisions

    @property
    def shape(self) -> tuple[float, ...]:
        kernel = cast(Any, self.kernel)
        return float(kernel.gamma), float(kernel.coef0), int(kernel.degree)


class SigmoidFeatures(CompiledFeatures):
    """The sigmoid kernel."""

    norms_loop = leave_out.sigmoid_norms
    decisions_loop = leave_out.sigmoid_decisions

    @property
    def shape(self) -> tuple[float, ...]:
        kernel = cast(Any, self.kernel)
        return float(kernel.gamma), float(kernel.coef0)


class _InnerPairs(Pairs):
    def __init__(self, kernel: InnerProductKernel, base: Array, left: Array, right: Array) -> None:
        self.kernel = kernel
        self.base = base
        self.left = left
        self.right = right

    def without(self, j: int) -> Array:
        rest = np.multiply.outer(self.left[:, j], self.right[:, j])
        np.subtract(self.base, rest, out=rest)
        return self.kernel.value(rest)


def sum_norms(
    loop: Callable[..., None], samples: Array, base: Array, coef: Array, *shape: Any
) -> Array:
    """Run a compiled loop over pairs of rows and add up what it leaves in each row."""
    width = samples.shape[1]
    samples = _padded(samples)
    partial = np.zeros_like(samples)
    items = (len(coef) + 1) // 2
    least = max(1, MIN_WORK * items // max(1, len(coef) ** 2 * samples.shape[1] // 2))
    run_tiles(loop, items, samples, base, coef, partial, *shape, min_items=least)
    return np.asarray(partial.sum(axis=0)[:width])


def sum_decisions(
    loop: Callable[..., None], left: Array, right: Array, base: Array, coef: Array, *shape: Any
) -> Array:
    """Run a compiled loop over new samples and training samples."""
    width = left.shape[1]
    left, right = _padded(left), _padded(right)
    out = np.zeros_like(left)
    least = max(1, MIN_WORK // max(1, right.size))
    run_tiles(loop, len(left), left, right, base, coef, out, *shape, min_items=least)
    return out[:, :width]


def _padded(samples: Array) -> Array:
    """Samples with features of zeros up to a multiple of what vector instructions take at once."""
    missing = -samples.shape[1] % LANES
    if not missing:
        return samples
    wide = np.zeros((len(samples), samples.shape[1] + missing))
    wide[:, : samples.shape[1]] = samples
    return wide
