"""Kernels know features: a Gram matrix that follows as features come, go and are rescaled.

Every feature j has a factor sigma_j, and the Gram matrix is that of K_sigma(x, x') =
K(sigma * x, sigma * x'). A factor of 0 removes the feature. Elementary kernels keep the matrix that
they are a function of (inner products or squared distances), in which one feature is one term: a
change costs O(n**2) whatever the number of features. Composites ask their parts and combine the
answers; kernels given as functions are evaluated anew.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamiz.kernels.compiled import panels_from
from tamiz.kernels.prepared import DOUBLE_EPS, finite_values
from tamiz.runtime.threads import one_blas_thread, run_tiles
from tamiz.validation import Array, as_samples, check_same_width

if TYPE_CHECKING:
    from tamiz.kernels.algebra import Composite
    from tamiz.kernels.base import Kernel

Index = NDArray[np.intp]

MIN_WORK = 50_000  # entries or terms that are worth a thread


class Pairs(ABC):
    """Kernel values between two sets of scaled samples, with any one feature left out."""

    @abstractmethod
    def without(self, j: int) -> Array:
        """Kernel values without feature j, a new array."""


class FeatureGram(ABC):
    """The Gram matrix of samples whose features change; made by ``kernel.track(X)``.

    Attributes
    ----------
    kernel : Kernel
        The kernel, its parameters all numbers.
    X : array of shape (n, p)
        The samples, unscaled.
    K : array of shape (n, n)
        The current Gram matrix. It is not to be written to, and its memory may be used again
        after the next change: copy what must stay.
    scale : array of shape (p,)
        The current factor of each feature, 0 for those removed.
    active : boolean array of shape (p,)
        Which features are not removed.

    Examples
    --------
    >>> from tamiz.kernels import Linear
    >>> tracker = Linear().track([[1.0, 2.0], [3.0, 4.0]])
    >>> tracker.remove(0)
    >>> tracker.K
    array([[ 4.,  8.],
           [ 8., 16.]])
    >>> tracker.add(0)
    >>> tracker.leave_one_out_norms([1.0, -1.0])
    array([4., 4.])
    """

    def __init__(self, kernel: Kernel, X: Array, scale: Array) -> None:
        self.kernel = kernel
        self.X = X
        self.n, self.p = X.shape
        self._scale = scale.copy()
        self._remembered = np.where(scale == 0, 1.0, scale)
        self._gram: Array | None = None
        self._spare: Array | None = None  # memory of a Gram matrix that is out of date

    # ------------------------------------------------------------------ what subclasses say

    @abstractmethod
    def _changed(self, j: int, old: float, new: float) -> None:
        """Follow a change of factor j; ``_scale`` holds the new one already."""

    @abstractmethod
    def _current(self) -> Array:
        """The Gram matrix of the current factors; may use the memory of ``_spare``."""

    @abstractmethod
    def _pairs(self, left: Array | Index, right: Index) -> Pairs:
        """Pairs between new samples, or training samples given by index, and training samples."""

    def _pull(self, rows: Index, weights: Array) -> Array:
        """Sum over pairs of ``rows`` of weights * dK/dsigma_j, for each j; symmetric weights."""
        self._refuse_derivative()

    def _pull_diag(self, weights: Array) -> Array:
        """Sum over samples of weights * dK(x, x)/dsigma_j, for each j."""
        self._refuse_derivative()

    def _derivative(self, j: int) -> Array:
        self._refuse_derivative()

    def _norms(self, rows: Index, coef: Array, features: Index) -> Array:
        with one_blas_thread():
            pairs = self._pairs(rows, rows)
            return np.array([coef @ pairs.without(int(j)) @ coef for j in features])

    def _diagonals(self, rows: Index, weights: Array, features: Index) -> Array:
        scaled = self._scaled(rows)
        out = np.empty(len(features))
        for at, j in enumerate(features):
            kept, scaled[:, j] = scaled[:, j].copy(), 0.0
            out[at] = weights @ self.kernel._diag(scaled)
            scaled[:, j] = kept
        return out

    def _decisions(self, Z: Array, rows: Index, coef: Array, features: Index) -> Array:
        with one_blas_thread():
            pairs = self._pairs(Z, rows)
            columns = [pairs.without(int(j)) @ coef for j in features]
        return np.stack(columns, axis=1) if columns else np.empty((len(Z), 0))

    # ------------------------------------------------------------------ the current state

    @property
    def scale(self) -> Array:
        return self._scale.copy()

    @property
    def active(self) -> NDArray[np.bool_]:
        return self._scale != 0

    @property
    def K(self) -> Array:
        if self._gram is None:
            self._gram = finite_values(self.kernel, self._current)
        return self._gram

    @property
    def entry_error(self) -> float:
        """Estimate of the absolute error of an entry of ``K``."""
        return self._fresh_error() + self._drift_error()

    def _fresh_error(self) -> float:
        """What it would be, were ``K`` worked out anew; from what is kept, where that says it."""
        return float(self.kernel.prepare(self.X * self._scale).entry_error)

    def _drift_error(self) -> float:
        """What changes of features have added to it."""
        return 0.0

    def remove(self, j: int) -> None:
        """Remove feature j: its factor becomes 0, and is remembered for ``add``."""
        j = self._feature(j)
        if self._scale[j] == 0:
            raise ValueError(f"feature {j} is removed already.")
        self.rescale(j, 0.0)

    def add(self, j: int) -> None:
        """Put feature j back, with the factor it had before it was removed."""
        j = self._feature(j)
        if self._scale[j] != 0:
            raise ValueError(f"feature {j} is present already; use rescale to change its factor.")
        self.rescale(j, self._remembered[j])

    def rescale(self, j: int, factor: float) -> None:
        """Set the factor of feature j; 0 removes it, any other number makes it active."""
        j = self._feature(j)
        new = float(factor)
        if not np.isfinite(new):
            raise ValueError(f"the factor of feature {j} must be finite; got {factor!r}.")
        old = float(self._scale[j])
        if new == old:
            return
        self._scale[j] = new
        if new != 0:
            self._remembered[j] = new
        if self._gram is not None:
            self._spare, self._gram = self._gram, None
        self._changed(j, old, new)

    # ------------------------------------------------------------------ one feature less

    def without(self, j: int) -> Array:
        """The Gram matrix without feature j, a new array; the tracker itself does not change."""
        every = np.arange(self.n)
        return self._pairs(every, every).without(self._feature(j))

    def leave_one_out_norms(self, coef: ArrayLike) -> Array:
        """Sum over i, l of c_i c_l K(x_i, x_l) without feature j, for every active j.

        Parameters
        ----------
        coef : array of shape (n,)
            Coefficients, y * alpha for a support vector machine; samples at 0 cost nothing.

        Returns
        -------
        ndarray of shape (p,)
            NaN for features that are removed already.
        """
        rows, weights = self._support(coef)
        features = np.flatnonzero(self.active)
        out = np.full(self.p, np.nan)
        out[features] = self._norms(rows, weights, features) if len(rows) else 0.0
        return out

    def leave_one_out_diag(self, weights: ArrayLike) -> Array:
        """Sum over i of w_i K(x_i, x_i) without feature j, for every active j.

        Parameters
        ----------
        weights : array of shape (n,)
            Samples at 0 cost nothing.

        Returns
        -------
        ndarray of shape (p,)
            NaN for features that are removed already.
        """
        rows, values = self._support(weights, "weights")
        features = np.flatnonzero(self.active)
        out = np.full(self.p, np.nan)
        out[features] = self._diagonals(rows, values, features) if len(rows) else 0.0
        return out

    def leave_one_out_decisions(self, Z: ArrayLike, coef: ArrayLike) -> Array:
        """Sum over i of c_i K(z, x_i) without feature j, for every row z and active j.

        Parameters
        ----------
        Z : array of shape (m, p)
            New samples, unscaled.
        coef : array of shape (n,)
            Coefficients; samples at 0 cost nothing.

        Returns
        -------
        ndarray of shape (m, p)
            NaN in the columns of features that are removed already.
        """
        samples: Array = as_samples(Z, "Z", repr(self.kernel), accept_sparse=False)
        check_same_width(samples, self.X)
        rows, weights = self._support(coef)
        features = np.flatnonzero(self.active)
        out = np.full((len(samples), self.p), np.nan)
        out[:, features] = self._decisions(samples, rows, weights, features) if len(rows) else 0.0
        return out

    # ------------------------------------------------------------------ derivatives

    def derivative(self, j: int) -> Array:
        """dK/dsigma_j, shape (n, n)."""
        return self._derivative(self._feature(j))

    def gradient(self, coef: ArrayLike) -> Array:
        """Sum over i, l of c_i c_l dK_il/dsigma_j for every j, shape (p,)."""
        rows, weights = self._support(coef)
        return self._pull(rows, np.outer(weights, weights))

    def weighted_gradient(self, rows: ArrayLike, weights: ArrayLike) -> Array:
        """Sum over pairs of ``rows`` of w_il dK_il/dsigma_j for every j, shape (p,).

        Parameters
        ----------
        rows : array of int
            Training samples, each at most once.
        weights : array of shape (n_rows, n_rows)
            Symmetric.
        """
        chosen, matrix = np.asarray(rows, dtype=np.intp), np.asarray(weights, dtype=np.float64)
        if matrix.shape != (len(chosen), len(chosen)):
            raise ValueError(
                f"weights must hold one number for each pair of the {len(chosen)} rows; "
                f"they have shape {matrix.shape}."
            )
        return self._pull(chosen, matrix)

    def diag_gradient(self, weights: ArrayLike) -> Array:
        """Sum over i of w_i dK_ii/dsigma_j for every j, shape (p,)."""
        return self._pull_diag(self._vector(weights, "weights"))

    # ------------------------------------------------------------------ helpers

    def _refuse_derivative(self) -> NoReturn:
        raise TypeError(
            f"{self.kernel!r} has no derivative by scaling factors: what it does with a feature "
            "is not known. Use Linear, Polynomial, RBF, Sigmoid, QuadraticForm or a combination."
        )

    def _support(self, coef: ArrayLike, name: str = "coef") -> tuple[Index, Array]:
        vector = self._vector(coef, name)
        rows = np.flatnonzero(vector)
        return rows, vector[rows]

    def _vector(self, values: ArrayLike, name: str) -> Array:
        vector = np.asarray(values, dtype=np.float64)
        if vector.shape != (self.n,):
            raise ValueError(
                f"{name} must hold one number for each of the {self.n} samples; "
                f"it has shape {vector.shape}."
            )
        return vector

    def _feature(self, j: Any) -> int:
        number = operator.index(j)
        if not 0 <= number < self.p:
            raise IndexError(f"there is no feature {number}; they are numbered 0 to {self.p - 1}.")
        return number

    def _scaled(self, Z: Array | Index) -> Array:
        """New samples, or training samples given by index, times the current factors."""
        chosen = self.X[Z] if Z.ndim == 1 else Z
        return np.asarray(chosen * self._scale)

    def __repr__(self) -> str:
        kept = int(self.active.sum())
        return f"<{self.kernel!r} on {self.n} samples, {kept} of {self.p} features>"


class CompositeFeatures(FeatureGram):
    """A composite kernel: trackers of its parts, combined by the chain rule."""

    def __init__(self, kernel: Composite, X: Array, scale: Array, parts: list[FeatureGram]) -> None:
        super().__init__(kernel, X, scale)
        self.composite = kernel
        self.parts = parts

    def _changed(self, j: int, old: float, new: float) -> None:
        for part in self.parts:
            part.rescale(j, new)

    def _current(self) -> Array:
        return self.composite.combine(*(part.K.copy() for part in self.parts))

    def _pairs(self, left: Array | Index, right: Index) -> Pairs:
        return _CompositePairs(self.composite, [part._pairs(left, right) for part in self.parts])

    def _fresh_error(self) -> float:
        own = 2.0 * DOUBLE_EPS * float(np.abs(self.K.diagonal()).max(initial=0.0))
        return self._passed_on(part._fresh_error() for part in self.parts) + own

    def _drift_error(self) -> float:
        return self._passed_on(part._drift_error() for part in self.parts)

    def _passed_on(self, errors: Iterable[float]) -> float:
        """What errors of the parts' entries make of an entry."""
        sizes = [np.abs(part.K.diagonal()).max(initial=0.0, keepdims=True) for part in self.parts]
        slopes = self.composite.partials(*sizes)
        return sum(float(abs(s[0])) * error for s, error in zip(slopes, errors, strict=True))

    def _norms(self, rows: Index, coef: Array, features: Index) -> Array:
        weights = self.composite.weights
        if weights is None:
            return super()._norms(rows, coef, features)
        terms = [part._norms(rows, coef, features) for part in self.parts]
        return np.asarray(sum(w * term for w, term in zip(weights, terms, strict=True)))

    def _decisions(self, Z: Array, rows: Index, coef: Array, features: Index) -> Array:
        weights = self.composite.weights
        if weights is None:
            return super()._decisions(Z, rows, coef, features)
        terms = [part._decisions(Z, rows, coef, features) for part in self.parts]
        return np.asarray(sum(w * term for w, term in zip(weights, terms, strict=True)))

    def _pull(self, rows: Index, weights: Array) -> Array:
        square = np.ix_(rows, rows)
        slopes = self.composite.partials(*(part.K[square] for part in self.parts))
        pulls = [part._pull(rows, weights * s) for part, s in zip(self.parts, slopes, strict=True)]
        return np.asarray(sum(pulls))

    def _pull_diag(self, weights: Array) -> Array:
        slopes = self.composite.partials(*(np.diag(part.K).copy() for part in self.parts))
        pulls = [part._pull_diag(weights * s) for part, s in zip(self.parts, slopes, strict=True)]
        return np.asarray(sum(pulls))

    def _derivative(self, j: int) -> Array:
        slopes = self.composite.partials(*(part.K for part in self.parts))
        terms = [s * part._derivative(j) for part, s in zip(self.parts, slopes, strict=True)]
        return np.asarray(sum(terms))


class _CompositePairs(Pairs):
    def __init__(self, kernel: Composite, parts: list[Pairs]) -> None:
        self.kernel = kernel
        self.parts = parts

    def without(self, j: int) -> Array:
        return self.kernel.combine(*(part.without(j) for part in self.parts))


class RecomputedFeatures(FeatureGram):
    """Any other kernel: evaluated anew whenever a feature changes; without derivatives."""

    def _changed(self, j: int, old: float, new: float) -> None:
        pass  # nothing is kept

    def _current(self) -> Array:
        return self.kernel._gram(self.X * self._scale, None)

    def _pairs(self, left: Array | Index, right: Index) -> Pairs:
        same = left is right
        return _RecomputedPairs(
            self.kernel, self._scaled(left), None if same else self._scaled(right)
        )


class _RecomputedPairs(Pairs):
    def __init__(self, kernel: Kernel, left: Array, right: Array | None) -> None:
        self.kernel = kernel
        self.left = left
        self.right = right

    def without(self, j: int) -> Array:
        right = None if self.right is None else _zeroed(self.right, j)
        return self.kernel._gram(_zeroed(self.left, j), right)


def apply_rows(value: Callable[[Array], Array], base: Array, out: Array | None) -> Array:
    """``value(base)`` entry by entry, in pieces that stay in the cache, into ``out`` if given."""
    if out is None:
        out = np.empty_like(base)
    least = max(1, MIN_WORK // max(1, base.shape[1]))
    run_tiles(_apply_rows, len(base), value, base, out, min_items=least)
    return out


def _apply_rows(
    start: int, stop: int, value: Callable[[Array], Array], base: Array, out: Array
) -> None:
    step = max(1, 16384 // max(1, base.shape[1]))
    for first, last in panels_from(start, stop, step):
        out[first:last] = value(base[first:last].copy())


def _zeroed(samples: Array, j: int) -> Array:
    changed = samples.copy()
    changed[:, j] = 0.0
    return changed


def checked_scale(scale: ArrayLike | None, p: int) -> Array:
    """One finite factor for each of p features."""
    if scale is None:
        return np.ones(p)
    factors = np.array(scale, dtype=np.float64)
    if factors.shape != (p,):
        raise ValueError(
            f"scale must hold one factor for each of the {p} features; "
            f"it has shape {factors.shape}."
        )
    if not np.isfinite(factors).all():
        raise ValueError(
            f"scale must hold finite factors; got {factors[~np.isfinite(factors)][0]}."
        )
    return factors
