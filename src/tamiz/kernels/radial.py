"""The radial kernel made ready: the fast lane.

With a = sqrt(2 gamma) (x - mean), exp(-gamma ||x - z||**2) = exp(<a, b> - ||a||**2/2 - ||b||**2/2):
one BLAS product and one fused pass that subtracts the halves and takes the exponential. Distances
do not change when the mean is taken off first, and the cancellation between the three terms shrinks
from the distance of the data to the origin to their spread.

In single precision the product too is done in float32 as long as gamma ||x - mean||**2 stays
small. Beyond ``SINGLE_LIMIT`` the product is done in float64, and only the exponential and
the storage are single.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tamiz.kernels import compiled
from tamiz.kernels.compiled import (
    inner_products,
    mirror,
    panels,
    panels_from,
    squared_norms,
)
from tamiz.kernels.elementary import RBF
from tamiz.kernels.prepared import (
    DOUBLE_EPS,
    SINGLE_EPS,
    Index,
    Prepared,
    Values,
    _as_index,
    rounding,
)
from tamiz.runtime.threads import one_blas_thread, run_tiles
from tamiz.validation import Array, Matrix, check_same_width

SINGLE_LIMIT = 30.0  # largest gamma ||x - mean||**2 for which a float32 product is accurate enough
TILE_ROWS = 64  # a tile of this many rows and columns stays in the second-level cache
TILE_COLS = 2048
SUM_COLS = 512  # terms of a decision function added up in float32 before float64 takes over
MIN_ENTRIES = 65536  # entries that are worth a thread
FAR = 1e8  # a sample with a larger half-norm is at kernel value 0 from any sample within the limit


class PreparedRBF(Prepared):
    """Kernel values of the radial kernel."""

    kernel: RBF

    def __init__(self, kernel: RBF, X: Matrix, dtype: np.dtype[Any]) -> None:
        super().__init__(kernel, X.shape[0], dtype)
        self.factor = np.sqrt(2.0 * kernel.rate)
        self.is_sparse = bool(sparse.issparse(X))
        self.centre = None if self.is_sparse or not len(X) else X.mean(axis=0)
        samples, half = self._spread(X)
        if not np.isfinite(half).all():
            raise ValueError(
                "X holds values so large that squared distances overflow; rescale the features "
                "(for instance with sklearn.preprocessing.StandardScaler)."
            )
        self.reach = float(half.max(initial=0.0))
        # float32 product only where it is safe; sparse products are float64 anyway
        self.single = dtype == np.float32 and not self.is_sparse and self.reach <= SINGLE_LIMIT
        self._set(samples, half)

    def _set(self, samples: Matrix, half: Array) -> None:
        if self.single:
            samples = samples.astype(np.float32)
            half = _half_norms(samples)
        self.samples = samples
        self.half = half

    def _spread(self, X: Matrix) -> tuple[Matrix, Array]:
        """Samples centred and scaled, and half their squared norms, in float64."""
        samples = X * self.factor if self.centre is None else (X - self.centre) * self.factor
        with np.errstate(over="ignore"):
            return samples, 0.5 * squared_norms(samples)

    def _new_samples(self, Z: Any) -> Any:
        Z = self.kernel._samples(Z, "Z")
        check_same_width(Z, self.samples)
        return Z

    def _ready(self, Z: Matrix) -> tuple[Matrix, Values]:
        """New samples in the form of the training samples."""
        if not self.is_sparse and sparse.issparse(Z):
            Z = Z.toarray()
        samples, half = self._spread(Z)
        limit = FAR if self.single else 1e300
        far = np.flatnonzero(~(half < limit))
        if len(far) and not sparse.issparse(samples):
            samples[far] = 0.0  # so far away that every kernel value is 0, and must not overflow
            half[far] = limit
        if self.single:
            samples = samples.astype(np.float32)
            half = np.where(half < limit, _half_norms(samples), np.float32(limit))
        return samples, half

    def subset(self, index: ArrayLike) -> PreparedRBF:
        chosen = _as_index(index)
        part = object.__new__(PreparedRBF)
        part.__dict__.update(self.__dict__)
        part.n = len(chosen)
        part.samples, part.half = self.samples[chosen], self.half[chosen]
        part._diagonal = None
        return part

    @property
    def entry_error(self) -> float:
        spread = 1.0 + self.reach
        if self.single:
            return 4 * SINGLE_EPS * spread
        return 2 * rounding(self.dtype) + 4 * DOUBLE_EPS * spread

    def _compute_diag(self) -> Array:
        return np.ones(self.n)

    def _gram(self) -> Values:
        out = np.empty((self.n, self.n), dtype=self.dtype)
        bands = list(panels(self.n, TILE_ROWS))
        # The upper triangle's first bands are the longest: pair them with the last ones.
        pairs = [bands[k : k + 1] + bands[-1 - k :][:1] for k in range(len(bands) // 2)]
        if len(bands) % 2:
            pairs.append([bands[len(bands) // 2]])
        self._share(self._symmetric_bands, len(pairs), out.size, pairs, out)
        np.fill_diagonal(out, 1.0)
        return out

    def _symmetric_bands(
        self, start: int, stop: int, pairs: list[list[tuple[int, int]]], out: Values
    ) -> None:
        """Fill bands of rows from their diagonal on, and the mirror images of the bands."""
        buffer = self._buffer(TILE_ROWS)
        for pair in pairs[start:stop]:
            for r0, r1 in pair:
                left, half = self.samples[r0:r1], self.half[r0:r1]
                for c0, c1 in panels_from(r0, self.n, TILE_COLS):
                    self._tile(left, half, slice(c0, c1), out, r0, c0, buffer)
                    if self.dtype == np.float32:
                        compiled.mirror_tile(out, r0, r1, c0, c1)
                if self.dtype != np.float32:
                    mirror(out, r0, r1)

    def _block(self, rows: Index, cols: Index | None, out: Values | None = None) -> Values:
        right = self if cols is None else self.subset(cols)
        out = right._between(self.samples[rows], self.half[rows], out)
        if cols is None:
            out[np.arange(len(rows)), rows] = 1.0
        else:
            place = np.full(self.n, -1)
            place[cols] = np.arange(len(cols))
            same = np.flatnonzero(place[rows] >= 0)
            out[same, place[rows[same]]] = 1.0
        return out

    def _cross(self, Z: Any, out: Values | None = None) -> Values:
        samples, half = self._ready(Z)
        return self._between(samples, half, out)

    def _between(self, left: Matrix, half: Values, out: Values | None) -> Values:
        """Kernel values between prepared samples and the training samples."""
        if out is None or not out.flags.c_contiguous:
            out = np.empty((left.shape[0], self.n), dtype=self.dtype)
        self._share(self._rows_between, left.shape[0], out.size, left, half, out)
        return out

    def _rows_between(self, start: int, stop: int, left: Matrix, half: Values, out: Values) -> None:
        buffer = self._buffer(stop - start)
        for r0, r1 in panels_from(start, stop, TILE_ROWS):
            for c0, c1 in panels(self.n, TILE_COLS):
                self._tile(left[r0:r1], half[r0:r1], slice(c0, c1), out, r0, c0, buffer)

    def _decision(self, Z: Any, coef: Array) -> Array:
        samples, half = self._ready(Z)
        out = np.zeros((samples.shape[0], coef.shape[1]))
        weights = coef.astype(self.dtype)
        entries = samples.shape[0] * self.n
        self._share(self._rows_decided, samples.shape[0], entries, samples, half, weights, out)
        return out

    def _rows_decided(
        self, start: int, stop: int, left: Matrix, half: Values, coef: Values, out: Array
    ) -> None:
        # Product, exponential and the sum over training samples follow each other while the tile
        # is in the cache. Sums within a tile are in its type, sums over tiles in float64.
        buffer = self._buffer(stop - start)
        values = np.empty(_tile_size(stop - start, self.n), dtype=self.dtype)
        for r0, r1 in panels_from(start, stop, TILE_ROWS):
            for c0, c1 in panels(self.n, TILE_COLS):
                tile = values[: (r1 - r0) * (c1 - c0)].reshape(r1 - r0, c1 - c0)
                self._tile(left[r0:r1], half[r0:r1], slice(c0, c1), tile, 0, 0, buffer)
                for first, last in panels_from(c0, c1, SUM_COLS):
                    out[r0:r1] += tile[:, first - c0 : last - c0] @ coef[first:last]

    def _tile(
        self,
        left: Matrix,
        half: Values,
        cols: slice,
        out: Values,
        row0: int,
        col0: int,
        buffer: Values,
    ) -> None:
        """One tile: product, halves taken off, exponential, into ``out`` at (row0, col0)."""
        right = self.samples[cols]
        if self.is_sparse:
            product = inner_products(left, right)
        else:
            shape = left.shape[0], right.shape[0]
            product = buffer[: shape[0] * shape[1]].reshape(shape)
            np.matmul(left, right.T, out=product)
        function = compiled.radial_tile if self.dtype == np.float32 else _double_tile
        function(product, half, self.half[cols], out, row0, col0)

    def _buffer(self, rows: int) -> Values:
        """Room for the product of one tile."""
        size = 0 if self.is_sparse else _tile_size(rows, self.n)
        return np.empty(size, dtype=self.half.dtype)

    def _share(self, function: Callable[..., None], items: int, entries: int, *args: Any) -> None:
        """Run on the thread pool what is large enough to be worth it."""
        if entries < MIN_ENTRIES:
            function(0, items, *args)
            return
        with one_blas_thread():
            run_tiles(function, items, *args, min_items=max(1, items * MIN_ENTRIES // entries))


def _tile_size(rows: int, cols: int) -> int:
    return min(rows, TILE_ROWS) * min(cols, TILE_COLS)


def _half_norms(samples: Values) -> Values:
    """Half the squared norms of float32 samples, rounded once."""
    wide = samples.astype(np.float64)
    half: Values = (0.5 * squared_norms(wide)).astype(np.float32)
    return half


def _double_tile(
    product: Array, half_left: Array, half_right: Array, out: Array, row0: int, col0: int
) -> None:
    """The float64 counterpart of ``radial_tile``; NumPy's exponential is vectorised already."""
    cols = product.shape[1]
    for first, last in panels(product.shape[0], max(1, 16384 // max(1, cols))):
        tile = product[first:last]
        tile -= half_left[first:last, None] + half_right
        np.minimum(tile, 0.0, out=tile)
        np.exp(tile, out=out[row0 + first : row0 + last, col0 : col0 + cols])
