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
from scipy.spatial.distance import cdist

from tamiz.kernels import compiled
from tamiz.kernels.compiled import (
    inner_products,
    panels_from,
    squared_norms,
)
from tamiz.kernels.elementary import RBF
from tamiz.kernels.features.elementary import LOST
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
from tamiz.validation import Array, Matrix, check_same_width, dense_copy

SINGLE_LIMIT = 30.0  # largest gamma ||x - mean||**2 for which a float32 product is accurate enough
TILE_ROWS = 128  # a tile of this many rows and columns stays in the second-level cache
TILE_COLS = 512
MIN_ENTRIES = 65536  # entries that are worth a thread
MAX_ENTRIES = 2**21  # entries done in a few milliseconds, after which Ctrl-C is noticed
FAR = 1e8  # a sample with a larger half-norm is at kernel value 0 from any sample within the limit


class PreparedRBF(Prepared):
    """Kernel values of the radial kernel."""

    kernel: RBF
    #: Differences are squared, as products would lose their digits: ``samples`` are those given.
    direct = False

    def __init__(self, kernel: RBF, X: Matrix, dtype: np.dtype[Any]) -> None:
        super().__init__(kernel, X.shape[0], dtype)
        self.factor = np.sqrt(2.0 * kernel.rate)
        samples, half = self._placed(X)
        if self.is_sparse and half.max(initial=0.0) > LOST:
            # far from the origin: without a centre, products of them would say nothing
            X = dense_copy(X, "Scale the features, for instance with MaxAbsScaler.")
            samples, half = self._placed(X)
        if not np.isfinite(half).all():
            raise ValueError(
                "X holds values so large that squared distances overflow; rescale the features "
                "(for instance with sklearn.preprocessing.StandardScaler)."
            )
        self.reach = float(half.max(initial=0.0))
        # float32 product only where it is safe; sparse products are float64 anyway
        self.single = dtype == np.float32 and not self.is_sparse and self.reach <= SINGLE_LIMIT
        if self.reach > LOST and not self.is_sparse:
            self.direct, samples = True, X
        self._set(samples, half)

    def _placed(self, X: Matrix) -> tuple[Matrix, Array]:
        """Training samples as :meth:`_spread` has them, about their mean unless they are sparse."""
        self.is_sparse = bool(sparse.issparse(X))
        with np.errstate(over="ignore", invalid="ignore"):
            self.centre = None if self.is_sparse or not len(X) else X.mean(axis=0)
            return self._spread(X)

    def _set(self, samples: Matrix, half: Array) -> None:
        if self.single:
            samples = samples.astype(np.float32)
            half = _half_norms(samples)
        self.samples = samples if self.is_sparse else np.ascontiguousarray(samples)
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
            Z = dense_copy(Z, "Ask for fewer rows at a time.")
        if self.direct:
            return np.ascontiguousarray(Z), np.zeros(len(Z))
        samples, half = self._spread(Z)
        limit = FAR if self.single else 1e300
        far = np.flatnonzero(~(half < limit))
        if len(far) and not sparse.issparse(samples):
            samples[far] = 0.0  # so far away that every kernel value is 0, and must not overflow
            half[far] = limit
        if self.single:
            samples = samples.astype(np.float32)
            half = np.where(half < limit, _half_norms(samples), np.float32(limit))
        return samples if self.is_sparse else np.ascontiguousarray(samples), half

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
        spread = 1.0 + (0.0 if self.direct else self.reach)
        if self.single:
            return 4 * SINGLE_EPS * spread
        return 2 * rounding(self.dtype) + 4 * DOUBLE_EPS * spread

    def _compute_diag(self) -> Array:
        return np.ones(self.n)

    def _gram(self) -> Values:
        out = np.empty((self.n, self.n), dtype=self.dtype)
        # The first bands are the longest; threads that are done with theirs take the next.
        bands = -(-self.n // TILE_ROWS)
        if self.direct:
            self._share(self._direct_rows, self.n, out.size, self.samples, out)
        elif self.is_sparse:
            self._share(self._sparse_bands, bands, out.size, out)
        else:
            args = self.samples, self.half, out, (TILE_ROWS, TILE_COLS)
            self._share(compiled.radial_bands, bands, out.size, *args)
        return out

    def _sparse_bands(self, start: int, stop: int, out: Values) -> None:
        for r0, r1 in panels_from(start * TILE_ROWS, min(stop * TILE_ROWS, self.n), TILE_ROWS):
            product = inner_products(self.samples[r0:r1], self.samples[r0:])
            compiled.radial_tile(product, self.half[r0:r1], self.half[r0:], out, r0, r0)
            compiled.mirror_tile(out, r0, r1, r0, self.n)
        first, last = start * TILE_ROWS, min(stop * TILE_ROWS, self.n)
        np.fill_diagonal(out[first:last, first:last], 1.0)

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
        if self.direct:
            self._share(self._direct_rows, len(left), out.size, left, out)
        elif self.is_sparse:
            self._share(self._sparse_rows, left.shape[0], out.size, left, half, out)
        else:
            args = (left, half), (self.samples, self.half), out, (TILE_ROWS, TILE_COLS)
            tiles = -(-len(left) // TILE_ROWS) * -(-self.n // TILE_COLS)
            self._share(compiled.radial_tiles, tiles, out.size, *args)
        return out

    def _sparse_rows(self, start: int, stop: int, left: Matrix, half: Values, out: Values) -> None:
        for r0, r1 in panels_from(start, stop, TILE_ROWS):
            product = inner_products(left[r0:r1], self.samples)
            compiled.radial_tile(product, half[r0:r1], self.half, out, r0, 0)

    def _direct_rows(self, start: int, stop: int, left: Array, out: Values) -> None:
        for r0, r1 in panels_from(start, stop, TILE_ROWS):
            with np.errstate(over="ignore", under="ignore"):  # at an infinite distance it is 0
                exponents = cdist(left[r0:r1], self.samples, "sqeuclidean")
                exponents *= -self.kernel.rate
            out[r0:r1] = np.exp(exponents)

    def _decision(self, Z: Any, coef: Array) -> Array:
        # Product, exponential and the sum over training samples follow each other while the tile
        # is in the cache.
        if self.is_sparse or self.direct:
            return super()._decision(Z, coef)
        left = self._ready(Z)
        out = np.empty((len(left[0]), coef.shape[1]))
        kind = np.empty(0, dtype=self.dtype)
        args = (self.samples, self.half), np.ascontiguousarray(coef.T), kind
        entries = len(out) * self.n
        self._share(
            compiled.radial_sums, len(out), entries, left, *args, out, (TILE_ROWS, TILE_COLS)
        )
        return out

    def _share(self, function: Callable[..., None], items: int, entries: int, *args: Any) -> None:
        """Run on the thread pool what is large enough to be worth it."""
        if entries < MIN_ENTRIES:
            function(0, items, *args)
            return
        least = max(1, items * MIN_ENTRIES // entries)
        most = max(1, items * MAX_ENTRIES // entries)
        with one_blas_thread():
            run_tiles(function, items, *args, min_items=least, max_items=most)


def _half_norms(samples: Values) -> Values:
    """Half the squared norms of float32 samples, rounded once."""
    wide = samples.astype(np.float64)
    half: Values = (0.5 * squared_norms(wide)).astype(np.float32)
    return half
