"""Feature tracking for the quadratic form x' B x'.

With s = sigma * x, K = S B S'. Leaving feature j out takes off the terms in which it occurs:
K - s_j (S B)_j' - (S B)_j s_j' + B_jj s_j s_j'.
"""

from __future__ import annotations

import numpy as np

from tamiz.kernels._checks import Array
from tamiz.kernels.features.base import FeatureGram, Index, Pairs
from tamiz.kernels.mapped import QuadraticForm


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
