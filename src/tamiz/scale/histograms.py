"""Fine histograms of every column by class, and scores of thresholds with rigorous bounds.

Between two values of different bins the order is known, inside a bin it is not, unless its least
and greatest value agree. How scores follow is said in :mod:`tamiz.scale.ordered`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale.batch import check_block, check_codes, dense_pieces, refuse_other_cuts
from tamiz.scale.cuts import Cuts
from tamiz.scale.ordered import OrderedColumns
from tamiz.scale.sample import RowSample
from tamiz.validation import IMPUTE, MissingValuesError

#: Rows and columns that are counted at a time, and cells in which a value's bin is looked up.
_ROWS = 1024
_COLUMNS = 16
_CELLS = 1024


def fine_cuts(sample: RowSample, n_bins: int = 256) -> Cuts:
    """Cuts at quantiles of a sample, for histograms.

    A value that is common enough to be several quantiles gets a bin of its own, and so does every
    value of a column that has no more than ``n_bins``.
    """
    cuts = []
    for column in sample.X.T:
        ordered = np.sort(column[~np.isnan(column)])
        values, counts = np.unique(ordered, return_counts=True)
        if len(values) > n_bins:
            ranks = np.arange(1, n_bins) * len(ordered) // n_bins
            common = values[counts * n_bins >= 2 * len(ordered)]
            edges = [ordered[ranks], common, np.nextafter(common, -np.inf)]
            values = np.unique(np.concatenate(edges))
            cuts.append(values[values < ordered[-1]])
        else:
            cuts.append(values[:-1])
    return Cuts.of(cuts, gaps=False, rank_error=float(sample.rank_error().max(initial=0.0)))


@dataclass(eq=False)
class ClassHistograms(OrderedColumns):
    """Rows of each class in every bin of every column, and the least and greatest value of each.

    Memory: 8 (K + 2) bytes for each bin, with K classes. Missing values are refused, as by the
    filters that look at the order of values.

    Attributes
    ----------
    cuts : Cuts
        Edges of the bins.
    counts : int array of shape (n_classes, n_bins)
        The bins of all columns one after the other.
    low, high : arrays of shape (n_bins,)
        Least and greatest value of each bin; infinite if it is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import ClassHistograms, Cuts
    >>> X, y = np.array([[1.0], [2.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> ClassHistograms.of(X, y, Cuts.of([[1.5, 2.5]]), 2).auc()
    Bounds(low=array([[0.125], [0.875]]), high=array([[0.125], [0.875]]))
    >>> ClassHistograms.of(X, y, Cuts.of([[1.5]]), 2).auc()
    Bounds(low=array([[0. ], [0.5]]), high=array([[0.5], [1. ]]))
    """

    cuts: Cuts
    counts: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, X: Any, codes: Any, cuts: Cuts, n_classes: int) -> ClassHistograms:
        """Count the rows of a block.

        Parameters
        ----------
        X : float64 array or CSR matrix of shape (n_rows, n_features)
            Values; none missing.
        codes : int array of shape (n_rows,)
            Class of each row, from 0.
        cuts : Cuts
            Edges of the bins, for instance from :func:`fine_cuts`.
        n_classes : int
            Number of classes.
        """
        X = check_block(X, cuts.n_features)
        codes = check_codes(codes, X.shape[0], n_classes)
        size = len(cuts.values) + cuts.n_features
        counts = np.zeros((size, n_classes), dtype=np.int64)
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        for rows, piece in dense_pieces(X):
            least = 1 + 100_000 // len(piece)
            bad = run_tiles(
                _fill, cuts.n_features, piece, codes[rows], cuts.values, cuts.bounds, counts, low,
                high, min_items=least,
            )  # fmt: skip
            if max(bad) >= 0:
                raise MissingValuesError(
                    f"Input X contains NaN (column {max(bad)}). {IMPUTE}", column=max(bad)
                )
        return cls(cuts, np.ascontiguousarray(counts.T), low, high)

    def merge(self, other: ClassHistograms) -> ClassHistograms:
        """The counts of both sets of rows together."""
        if not self.cuts.equals(other.cuts):
            refuse_other_cuts()
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return ClassHistograms(self.cuts, self.counts + other.counts, low, high)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.counts.nbytes + self.low.nbytes + self.high.nbytes + self.cuts.nbytes

    @property
    def class_rows(self) -> np.ndarray:
        """Rows of each class."""
        return self.counts[:, self._bins(0)].sum(axis=1)

    def exact(self) -> np.ndarray:
        """Columns whose bins hold one value each, so that nothing is open."""
        opens = (self.low < self.high) & (np.count_nonzero(self.counts, axis=0) > 1)
        return np.array([not opens[self._bins(j)].any() for j in range(self.cuts.n_features)])

    def constant(self) -> np.ndarray:
        """Columns with one value in all rows."""
        bins = [self._bins(j) for j in range(self.cuts.n_features)]
        return np.array([self.low[part].min() >= self.high[part].max() for part in bins])

    def class_weight(self, factor: Any = None) -> np.ndarray:
        """Rows of each class, times a factor for each class."""
        return self.class_rows * (1.0 if factor is None else np.asarray(factor))

    def _sweep(self, kernel: Callable[..., None], *by_class: bool, factor: Any = None) -> Any:
        n_classes, p = len(self.counts), self.cuts.n_features
        out = [np.zeros((n_classes, p) if each else p) for each in by_class]
        factor = np.ones(n_classes) if factor is None else np.asarray(factor)
        for j in range(p):
            bins = self._bins(j)
            here = self.counts[:, bins].T.ravel()
            cells = np.flatnonzero(here)
            group, codes = np.divmod(cells, n_classes)
            kernel(
                group.astype(np.float64)[None],
                np.arange(len(cells))[None],
                codes,
                here[cells] * factor[codes],
                (self.low[bins] < self.high[bins])[group],
                *(array[..., j : j + 1] for array in out),
            )
        return out

    def _bins(self, j: int) -> slice:
        """The bins of a column."""
        bounds = self.cuts.bounds
        return slice(int(bounds[j]) + j, int(bounds[j + 1]) + j + 1)


@njit(cache=True, nogil=True)
def _fill(start, stop, X, codes, cuts, bounds, counts, low, high):  # type: ignore[no-untyped-def]
    """Count the columns ``start`` to ``stop``; return one with a missing value, or -1.

    A few columns of some rows are turned first: the bins of one column stay in the cache then.
    """
    bad = -1
    tile = np.empty((_COLUMNS, _ROWS))
    before = np.empty((_COLUMNS, _CELLS + 1), dtype=np.int32)
    factor = np.empty(_COLUMNS)
    for left in range(start, stop, _COLUMNS):
        width = min(_COLUMNS, stop - left)
        for l in range(width):
            own = cuts[bounds[left + l] : bounds[left + l + 1]]
            factor[l] = _lay_grid(own, before[l])
        for top in range(0, X.shape[0], _ROWS):
            height = min(_ROWS, X.shape[0] - top)
            for i in range(height):
                for l in range(width):
                    tile[l, i] = X[top + i, left + l]
            for l in range(width):
                first, last = bounds[left + l], bounds[left + l + 1]
                here = slice(first + left + l, last + left + l + 1)
                whole = _fill_column(
                    tile[l, :height],
                    codes[top : top + height],
                    cuts[first:last],
                    factor[l],
                    before[l],
                    counts[here],
                    low[here],
                    high[here],
                )
                if not whole:
                    bad = left + l
    return bad


@njit(cache=True, nogil=True)
def _lay_grid(cuts, before):  # type: ignore[no-untyped-def]
    """Cells of equal width over the cuts, and how many cuts lie before each; returns 1 / width.

    The cell of a value never decreases with the value, whatever rounding does: cuts in earlier
    cells are less, cuts in later cells greater.
    """
    before[:] = 0
    factor = 0.0
    if len(cuts) > 1:
        factor = _CELLS / (cuts[-1] - cuts[0])
        if not factor < np.inf:
            factor = 0.0
    for cut in cuts:
        before[_cell(cut, cuts, factor) + 1] += 1
    for c in range(_CELLS):
        before[c + 1] += before[c]
    return factor


@njit(cache=True, nogil=True)
def _cell(x, cuts, factor):  # type: ignore[no-untyped-def]
    if factor == 0.0 or not x > cuts[0]:
        return 0
    return int(min((x - cuts[0]) * factor, _CELLS - 1.0))


@njit(cache=True, nogil=True)
def _fill_column(x, codes, cuts, factor, before, counts, low, high):  # type: ignore[no-untyped-def]
    """Count one column; return whether no value is missing."""
    whole = True
    for i in range(len(x)):
        whole &= x[i] == x[i]
        first = 0
        if len(cuts):
            cell = _cell(x[i], cuts, factor)
            first, last = before[cell], before[cell + 1]
            while first < last:
                middle = (first + last) >> 1
                if x[i] > cuts[middle]:
                    first = middle + 1
                else:
                    last = middle
        counts[first, codes[i]] += 1
        low[first] = min(low[first], x[i])
        high[first] = max(high[first], x[i])
    return whole
