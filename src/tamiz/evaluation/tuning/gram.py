"""Kernel matrices of a whole table, many of them from one matrix of distances or inner products.

A radial kernel is a function of squared distances, a polynomial one of inner products. Along a grid
of gamma, degree and constant these do not change: they are worked out once, by BLAS in float64, and
every kernel of the grid is one pass over them. The matrix covers training and test samples alike.

Squared distances may be kept in float32 where kernel values are: the error of an exponent x = gamma
d is then at most 6e-8 x, and that of the value x exp(-x) 6e-8, less than its own rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tamiz.kernels import compiled
from tamiz.kernels.compiled import inner_products, mirror, panels, squared_norms
from tamiz.runtime.parallel import run_tiles

_ROWS, _COLUMNS = 64, 2048  # a tile that stays in the second-level cache
_PANEL = 128


class Base:
    """What the kernels of a grid have in common on one table.

    Parameters
    ----------
    X : array of shape (n, p)
        All samples, as the machines see them.
    single : bool
        Whether squared distances may be kept in float32.
    """

    def __init__(self, X: np.ndarray, single: bool):
        self.X = X
        self.single = single
        self._distances: np.ndarray | None = None
        self._inner: np.ndarray | None = None

    def prepare(self, kernel: Any) -> None:
        """Work out what a kernel is a function of, unless it is known."""
        if kernel.pairwise_form.radial:
            if self._distances is None:
                self._distances = squared_distances(self.X, self.single)
        elif self._inner is None:
            self._inner = inner_products(self.X, None)

    def gram(self, kernel: Any, dtype: Any) -> np.ndarray:
        """The kernel matrix; not finite where numbers are too large for it."""
        self.prepare(kernel)
        form = kernel.pairwise_form
        if form.radial:
            assert self._distances is not None
            return radial(self._distances, float(form.gamma), np.dtype(dtype))
        assert self._inner is not None
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(kernel.value(self._inner.copy()))


def squared_distances(X: np.ndarray, single: bool) -> np.ndarray:
    """Squared distances between all rows, exactly symmetric, zero on the diagonal.

    The mean is taken off first: distances stay, and what cancels shrinks to the spread of the data.
    """
    samples = X - X.mean(axis=0)
    norms = squared_norms(samples)
    n = len(samples)
    out = np.empty((n, n), dtype=np.float32 if single else np.float64)
    for start, stop in panels(n, _PANEL):
        part = samples[start:stop] @ samples[start:].T
        part *= -2.0
        part += norms[start:stop, None]
        part += norms[start:]
        np.maximum(part, 0.0, out=part)
        out[start:stop, start:] = part
        mirror(out, start, stop)
    np.fill_diagonal(out, 0.0)
    return out


def radial(distances: np.ndarray, gamma: float, dtype: Any) -> np.ndarray:
    """``exp(-gamma * distances)`` in float32 or float64."""
    out = np.empty(distances.shape, dtype=dtype)
    task = _single_rows if dtype == np.float32 else _double_rows
    run_tiles(task, len(distances), distances, gamma, out, min_items=_ROWS)
    return out


def _single_rows(start: int, stop: int, distances: np.ndarray, gamma: float, out: Any) -> None:
    n = distances.shape[1]
    factor = np.float32(-gamma)
    buffer = np.empty(_ROWS * min(n, _COLUMNS), dtype=np.float32)
    none = np.zeros(max(_ROWS, _COLUMNS), dtype=np.float32)
    for r0 in range(start, stop, _ROWS):
        r1 = min(r0 + _ROWS, stop)
        for c0, c1 in panels(n, _COLUMNS):
            tile = buffer[: (r1 - r0) * (c1 - c0)].reshape(r1 - r0, c1 - c0)
            with np.errstate(over="ignore"):
                np.multiply(distances[r0:r1, c0:c1], factor, out=tile, casting="same_kind")
            compiled.radial_tile(tile, none[: r1 - r0], none[: c1 - c0], out, r0, c0)


def _double_rows(start: int, stop: int, distances: np.ndarray, gamma: float, out: Any) -> None:
    step = max(1, 2**16 // max(1, distances.shape[1]))
    for r0 in range(start, stop, step):
        rows = out[r0 : min(r0 + step, stop)]
        np.multiply(distances[r0 : r0 + len(rows)], -gamma, out=rows)
        np.exp(rows, out=rows)
