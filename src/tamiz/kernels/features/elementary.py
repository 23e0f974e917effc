"""Feature tracking for the elementary kernels.

*Functions of the inner product* (linear, polynomial, sigmoid). The base matrix is G = sum over j of
sigma_j**2 x_j x_j', with x_j the column of feature j: a change of one factor is a change of rank
one. dG/dsigma_j = 2 sigma_j x_j x_j', and the chain rule does the rest.

*The radial kernel.* The base matrix is D = sum over j of sigma_j**2 (x_ij - x_lj)**2. Leaving
feature j out multiplies an entry of K by exp(gamma sigma_j**2 (x_ij - x_lj)**2), which overflows
just where K underflows; so the factor is taken in the exponent, exp(-gamma (D - d_j)), and nothing
is lost.

*The quadratic form* x' B x'. With s = sigma * x, K = S B S'. Leaving feature j out takes off the
terms in which it occurs: K - s_j (S B)_j' - (S B)_j s_j' + B_jj s_j s_j'.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from scipy.spatial.distance import cdist

from tamiz.kernels.compiled import inner_products, squared_norms
from tamiz.kernels.elementary import RBF, InnerProductKernel
from tamiz.kernels.features import leave_out
from tamiz.kernels.features.base import MIN_WORK, FeatureGram, Index, Pairs, apply_rows
from tamiz.kernels.mapped import QuadraticForm
from tamiz.runtime.threads import product, run_tiles
from tamiz.validation import TOO_LARGE, Array

LOST = 1e9  # squared norms, in units of the width, beyond which products lose what matters
EPS = float(np.finfo(np.float64).eps)
LANES = 8  # numbers that a vector instruction of the widest kind takes at once
DRIFT = 1e-12  # rounding of an exponent, or relative to the largest entry, that may pile up


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

    def _fresh_error(self) -> float:
        diag = self.kernel.value(self._base.diagonal().copy())
        return 4.0 * EPS * self.kernel._error_scale(self.X, diag)

    def _drift_error(self) -> float:
        largest = float(self._base.diagonal().max(initial=0.0))
        before, after = self.kernel.value(np.array([largest, largest + self._drift]))
        return abs(float(after - before))

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

    def _fresh_error(self) -> float:
        return FeatureGram._fresh_error(self)  # not told by kernel values, which saturate

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


class RadialFeatures(FeatureGram):
    """The radial kernel."""

    kernel: RBF

    def __init__(self, kernel: RBF, X: Array, scale: Array) -> None:
        super().__init__(kernel, X, scale)
        self.gamma = kernel.rate
        # Distances do not know the mean; without it there is less to cancel.
        # Inside its range even when it is rounded: columns of one value are exactly zero.
        inside = (X.min(axis=0), X.max(axis=0)) if len(X) else (0.0, 0.0)
        self._mean = np.clip(X.mean(axis=0) if len(X) else np.zeros(X.shape[1]), *inside)
        self._centred = X - self._mean
        self._refresh()

    def _fresh_error(self) -> float:
        reach = float(self.gamma) * float(self._sizes.max(initial=0.0))
        return 4.0 * EPS * (1.0 + (0.0 if reach > LOST else reach))  # far: differences themselves

    @property
    def distances(self) -> Array:
        """Squared distances between the scaled samples; not to be written to."""
        return self._base

    def _refresh(self) -> None:
        """Work the squared distances out anew from the active features."""
        active = np.flatnonzero(self._scale)
        samples = self._centred[:, active] * self._scale[active]
        self._sizes = squared_norms(samples)
        if self.gamma * float(self._sizes.max(initial=0.0)) > LOST:  # products lose all digits
            self._base = cdist(*[self.X[:, active] * self._scale[active]] * 2, "sqeuclidean")
        else:
            self._base = _distances(samples, None)
        self._drift = 0.0

    def _changed(self, j: int, old: float, new: float) -> None:
        column = np.ascontiguousarray(self._centred[:, j])
        delta = (new - old) * (new + old)
        before = self._sizes.max(initial=0.0)
        self._sizes += delta * np.square(column)
        after = self._sizes.max(initial=0.0)
        self._shift(column, delta)
        self._drift += 4 * EPS * max(before, after)
        # Working anew helps only if what piled up exceeds what that would leave by itself.
        allowed = max(DRIFT / self.gamma, 64 * EPS * after)
        if self._drift > allowed or not self._scale.any():
            self._refresh()

    def _shift(self, column: Array, delta: float) -> None:
        """Add ``delta`` times the squared differences of a feature to the distances."""
        least = max(1, 8 * MIN_WORK // max(1, self.n))  # an entry is one multiplication
        run_tiles(leave_out.shift_distances, self.n, self._base, column, delta, min_items=least)

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
        with np.errstate(over="ignore"):
            base = self._base[np.ix_(rows, rows)] * self.gamma
        if not np.isfinite(base).all():
            raise ValueError(TOO_LARGE)
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


class QuadraticFeatures(FeatureGram):
    """The quadratic form."""

    kernel: QuadraticForm

    def __init__(self, kernel: QuadraticForm, X: Array, scale: Array) -> None:
        super().__init__(kernel, X, scale)
        kernel.image(X[:0])  # refuses a B of another size
        self.B = (kernel.matrix + kernel.matrix.T) / 2

    def _changed(self, j: int, old: float, new: float) -> None:
        pass  # nothing is kept: the Gram matrix comes from the samples

    def _current(self) -> Array:
        return self.kernel._gram(self.X * self._scale, None)

    def _pairs(self, left: Array | Index, right: Index) -> Pairs:
        same = left is right
        return _QuadraticPairs(self.B, self._scaled(left), self._scaled(right), symmetric=same)

    def _norms(self, rows: Index, coef: Array, features: Index) -> Array:
        w = coef @ self._scaled(rows)
        turned = self.B @ w
        everything = w @ turned
        less = everything - 2.0 * w * turned + np.diag(self.B) * np.square(w)
        return np.asarray(less[features])

    def _decisions(self, Z: Array, rows: Index, coef: Array, features: Index) -> Array:
        # With w = sum of c_i s_i: z' B w less the terms of feature j on either side.
        w = coef @ self._scaled(rows)
        samples = self._scaled(Z)
        turned = self.B @ w
        less = (samples @ turned)[:, None] - samples * turned - (samples @ self.B) * w
        less += samples * (np.diag(self.B) * w)
        return np.asarray(less[:, features])

    def _pull(self, rows: Index, weights: Array) -> Array:
        turned = self._scaled(rows) @ self.B
        return 2.0 * np.einsum("ij,ij->j", self.X[rows], weights @ turned)

    def _pull_diag(self, weights: Array) -> Array:
        turned = (self.X * self._scale) @ self.B
        return 2.0 * np.einsum("i,ij,ij->j", weights, self.X, turned)

    def _derivative(self, j: int) -> Array:
        turned = (self.X * self._scale) @ self.B[:, j]
        half = np.multiply.outer(self.X[:, j], turned)
        return half + half.T


class _QuadraticPairs(Pairs):
    def __init__(self, B: Array, left: Array, right: Array, *, symmetric: bool) -> None:
        self.symmetric = symmetric
        self.B = B
        self.left = left
        self.right = right
        self.left_turned = left @ B
        self.right_turned = right @ B
        self.base = self.left_turned @ right.T

    def without(self, j: int) -> Array:
        left, right = self.left[:, j], self.right[:, j]
        # s_j (S B)_j' + (S B)_j s_j' - B_jj s_j s_j', with half of the last term in each product
        rest = np.multiply.outer(left, self.right_turned[:, j] - self.B[j, j] / 2 * right)
        rest += np.multiply.outer(self.left_turned[:, j] - self.B[j, j] / 2 * left, right)
        np.subtract(self.base, rest, out=rest)
        return (rest + rest.T) / 2 if self.symmetric else rest
