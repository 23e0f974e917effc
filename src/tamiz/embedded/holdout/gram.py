"""Kernel values of samples whose features leave one by one, as hold-out elimination wants them.

Three questions are asked at every step: the Gram matrix of the training part, the values of its
machine at the validation part, and those values without each feature. The answers for the radial
and the linear kernel come from a table of the features still in, one row for each sample; columns
of features that have left are set to zero and cleared away from time to time. Other kernels go
through :meth:`tamiz.kernels.Kernel.track`.

The value with nothing taken out is one more column of the same sums, that of a feature which is
zero everywhere: what makes no difference then makes none to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tamiz.kernels import Kernel
from tamiz.kernels.features import leave_out
from tamiz.qp.matrices import take_block
from tamiz.runtime.threads import run_tiles

#: The table is cleared when this fraction of its columns has left.
_CLEAR = 0.125
#: Exponentials that take longer than waking another thread, even on a machine that is busy.
WORTH_A_THREAD = 400_000
_LANES = 8  # columns are filled up to a multiple of what vector instructions take at once


class FadingGram:
    """Any kernel.

    Attributes
    ----------
    place : array of shape (p,)
        The column of :meth:`without` that belongs to each feature still in.
    nothing, width : int
        The column with nothing taken out, and the number of columns.
    size : float
        Size of the numbers whose rounding decides the error of a kernel value.
    """

    nothing: int
    width: int

    def __init__(self, kernel: Kernel, X: np.ndarray):
        self.kernel = kernel
        self.X = X
        self.tracker = kernel.track(X)
        self.place = np.arange(X.shape[1])
        self.nothing, self.width = X.shape[1], X.shape[1] + 1
        bounded = np.isfinite(kernel.bound)
        self.size = kernel.bound if bounded else float(np.abs(self.tracker.K).max(initial=0.0))

    def remove(self, features: Sequence[int]) -> None:
        """Take features out for good."""
        for j in features:
            self.tracker.remove(int(j))

    def refresh(self) -> None:
        """Bring the values up to date before several threads ask for them."""
        _ = self.tracker.K

    def block(self, rows: np.ndarray) -> np.ndarray:
        """The Gram matrix of some of the samples."""
        return take_block(self.tracker.K, rows)

    def values(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Sum over the support of coef K(row, .)."""
        return self.tracker.K[np.ix_(rows, support)] @ coef

    def without(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """The same without each feature (found through ``place``) and without ``nothing``."""
        full = np.zeros(len(self.X))
        full[support] = coef
        each = self.tracker.leave_one_out_decisions(self.X[rows], full)
        return np.column_stack([each, self.values(rows, support, coef)])

    def without_group(
        self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray, features: np.ndarray
    ) -> np.ndarray:
        """The same without several features together."""
        if not len(support):
            return np.zeros(len(rows))
        scale = self.tracker.scale
        scale[features] = 0.0
        return self.kernel(self.X[rows] * scale, self.X[support] * scale) @ coef


class _TableGram(FadingGram):
    """A kernel that works on a table of the features still in."""

    def __init__(self, kernel: Kernel, X: np.ndarray, table: np.ndarray):
        super().__init__(kernel, X)
        self._fill(np.arange(X.shape[1]), table)

    def _fill(self, features: np.ndarray, columns: np.ndarray) -> None:
        self.nothing = len(features)
        self.width = self.nothing + 1 + -(self.nothing + 1) % _LANES
        self.table = np.zeros((len(self.X), self.width))
        self.table[:, : len(features)] = columns
        self.place = np.full(self.X.shape[1], -1, dtype=np.intp)
        self.place[features] = np.arange(len(features))
        self._gone = 0

    def remove(self, features: Sequence[int]) -> None:
        super().remove(features)
        for j in features:
            self.table[:, self.place[j]] = 0.0
            self.place[j] = -1
        self._gone += len(features)
        if self._gone > max(_LANES, _CLEAR * self.table.shape[1]):
            left = np.flatnonzero(self.place >= 0)
            self._fill(left, self.table[:, self.place[left]])


class RadialGram(_TableGram):
    """The radial kernel: the Gram matrix comes from squared distances, each feature a term."""

    tracker: Any

    def __init__(self, kernel: Any, X: np.ndarray):
        self.gamma = float(kernel.pairwise_form.gamma)
        root = np.sqrt(self.gamma)
        self.spread = np.square(np.ptp(X, axis=0) * root)  # greatest gamma d_j of each feature
        super().__init__(kernel, X, (X - X.mean(axis=0)) * root)
        # what the exponent loses to rounding grows with the exponent
        self.size += self.gamma * float(self.tracker.distances.max(initial=0.0))

    def refresh(self) -> None:
        """Nothing to do: distances follow at once."""

    def block(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), len(rows)))
        distance = self.tracker.distances
        pairs = (-(-len(rows) // 32) + 1) // 2  # of strips of the triangle
        least = max(1, WORTH_A_THREAD * pairs * 2 // len(rows) ** 2)
        run_tiles(leave_out.radial_block, pairs, distance, self.gamma, rows, out, min_items=least)
        return out

    def values(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        return np.exp(-self.gamma * self.tracker.distances[np.ix_(rows, support)]) @ coef

    def without(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        if self.table.shape[1] < len(support):
            return self._by_columns(rows, support, coef)
        out = np.empty((len(rows), self.table.shape[1]))
        least = max(1, WORTH_A_THREAD // max(1, len(support) * self.table.shape[1]))
        run_tiles(
            leave_out.radial_table_decisions,
            len(rows),
            self.table,
            self.tracker.distances,
            (self.gamma, float(self.spread[self.place >= 0].max(initial=0.0))),
            rows,
            support,
            coef,
            out,
            min_items=least,
        )
        return out

    def _by_columns(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Few features: the inner loop runs over the support, filled up to whole vectors."""
        size = len(support) + -len(support) % (2 * _LANES)
        columns = np.zeros((self.table.shape[1], size))
        columns[:, : len(support)] = self.table[support].T
        exponent = np.zeros((len(rows), size))
        exponent[:, : len(support)] = self.tracker.distances[np.ix_(rows, support)]
        exponent *= -self.gamma
        weight = np.zeros(size)
        weight[: len(support)] = coef
        out = np.empty((len(rows), self.table.shape[1]))
        run_tiles(
            leave_out.radial_column_decisions,
            len(rows),
            self.table[rows],
            columns,
            exponent,
            weight,
            out,
            min_items=max(1, WORTH_A_THREAD // columns.size),
        )
        return out


class LinearGram(_TableGram):
    """The linear kernel: a feature takes its own term with it."""

    def __init__(self, kernel: Kernel, X: np.ndarray):
        super().__init__(kernel, X, X)

    def without(self, rows: np.ndarray, support: np.ndarray, coef: np.ndarray) -> np.ndarray:
        terms = self.table[rows]
        terms *= coef @ self.table[support]
        return terms.sum(axis=1, keepdims=True) - terms


def fading_gram(kernel: Kernel, X: np.ndarray) -> FadingGram:
    """The fastest that knows the kernel."""
    form = kernel.pairwise_form
    if form is not None and form.radial:
        return RadialGram(kernel, X)
    if kernel.is_linear:
        return LinearGram(kernel, X)
    return FadingGram(kernel, X)
