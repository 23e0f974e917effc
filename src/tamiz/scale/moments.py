r"""Counts, means and sums of squared deviations by class, and of products with a numeric target.

For class ``k`` with weights ``w_i`` (ones by default) and feature ``j``,

.. math::

    n_k = \sum_{i \in k} w_i, \quad
    \mu_{kj} = \frac1{n_k} \sum_{i \in k} w_i x_{ij}, \quad
    M_{kj} = \sum_{i \in k} w_i (x_{ij} - \mu_{kj})^2,

and two sets of samples combine by

.. math::

    \mu = \mu_a + \delta \frac{n_b}{n_a + n_b}, \quad
    M = M_a + M_b + \delta^2 \frac{n_a n_b}{n_a + n_b}, \quad \delta = \mu_b - \mu_a.

A block of rows that fits in the cache is read twice, for means and for deviations, and then
merged into what came before: one pass over memory with the accuracy of the two-pass formula.
Values are taken relative to the first sample of their class, so that a feature that is constant
within a class has ``M`` exactly zero and exactly that mean. Blocks are cut at fixed places and
merged in a fixed order: the number of threads does not change a bit of the result.

With a numeric target y, the sums :math:`c_j = \sum_i w_i (x_{ij} - \mu_j)(y_i - \bar y)` are kept
as well, and combine by

.. math:: c = c_a + c_b + \frac{n_a n_b}{n_a + n_b} (\mu_b - \mu_a)(\bar y_b - \bar y_a).

References
----------
.. [1] T. F. Chan, G. H. Golub, R. J. LeVeque (1983). Algorithms for computing the sample variance:
       analysis and recommendations. The American Statistician 37.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.information.columns import LARGE, SMALL, safe_units
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.validation import IMPUTE, MissingValuesError

#: Rows and columns of what one task of the pool sums up, and rows of what stays in the cache.
_CHUNK_ROWS = 8192
_CHUNK_COLUMNS = 256
_BLOCK_ROWS = 64


@dataclass
class ClassMoments:
    """Count, mean and sum of squared deviations of every feature in every class.

    Attributes
    ----------
    count : array of shape (n_classes,)
        Sum of the weights of the samples of each class.
    mean : array of shape (n_classes, n_features)
        Means; zero for a class without samples.
    m2 : array of shape (n_classes, n_features)
        Sums of squared deviations from the mean.

    Examples
    --------
    Two parts of the data give the same as the whole:

    >>> import numpy as np
    >>> from tamiz.scale.moments import ClassMoments
    >>> X, codes = np.array([[1.0], [3.0], [5.0], [2.0]]), np.array([0, 0, 0, 1])
    >>> whole = ClassMoments.of(X, codes, n_classes=2)
    >>> parts = ClassMoments.of(X[:2], codes[:2], 2).merge(ClassMoments.of(X[2:], codes[2:], 2))
    >>> whole.mean.ravel().tolist(), parts.mean.ravel().tolist()
    ([3.0, 2.0], [3.0, 2.0])
    >>> parts.variance().ravel().round(4).tolist()
    [2.6667, 0.0]
    """

    count: np.ndarray
    mean: np.ndarray
    m2: np.ndarray

    @classmethod
    def of(
        cls, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None = None
    ) -> ClassMoments:
        """Sum up ``X`` (dense or CSR); ``codes`` holds the class of each row.

        Weights must be positive: leave out rows of weight zero first.
        """
        codes = np.ascontiguousarray(codes, dtype=np.intp)
        weight = np.ones(len(codes)) if weight is None else weight
        if sparse.issparse(X):
            return cls(*_sparse_moments(X, codes, n_classes, weight))
        return cls(*_dense_moments(np.ascontiguousarray(X, float), codes, n_classes, weight))

    @classmethod
    def of_batch(cls, X: Any, codes: np.ndarray, n_classes: int) -> ClassMoments:
        """The same for a batch of a table that is never seen whole; refuses what has no moments.

        Missing values are refused, and values whose squares leave the range of float64 (the unit
        in which they do not is only known when all have been seen).
        """
        with np.errstate(over="ignore", invalid="ignore"):
            moments = cls.of(X, codes, n_classes)
        doubtful = np.flatnonzero((moments.units(X) != 1.0) | np.isnan(moments.mean).any(axis=0))
        for j in doubtful.tolist():
            column = X[:, [j]].toarray() if sparse.issparse(X) else X[:, [j]]
            if np.isnan(column).any():
                raise MissingValuesError(f"Input X contains NaN (column {j}). {IMPUTE}", column=j)
            raise ValueError(
                f"Input X holds values of the size of {np.abs(column).max():.3g} (column {j}), "
                "whose squares leave the range of float64; divide the column by a power of ten."
            )
        return moments

    @classmethod
    def in_safe_units(
        cls, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None = None
    ) -> tuple[ClassMoments, np.ndarray]:
        """The moments of each feature divided by a power of two, and that power.

        It is 1 unless squares of the feature would leave the range of float64.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            moments = cls.of(X, codes, n_classes, weight)
        units = moments.units(X)
        scaled = np.flatnonzero(units != 1.0)
        if len(scaled):
            part = cls.of(in_units(X, scaled, units), codes, n_classes, weight)
            moments.mean[:, scaled], moments.m2[:, scaled] = part.mean, part.m2
        return moments, units

    @property
    def class_rows(self) -> np.ndarray:
        """Samples of each class, or the sum of their weights."""
        return self.count

    def units(self, X: Any) -> np.ndarray:
        """Units in which the moments of the features of ``X`` do not leave the range of float64."""
        heavy_rows = np.sqrt(max(1.0, float(self.count.sum())))  # as squares of means are summed
        with np.errstate(over="ignore", invalid="ignore"):
            size = np.maximum(np.abs(self.mean) * heavy_rows, np.sqrt(self.m2)).max(axis=0)
        units = np.ones(len(size))
        doubtful = np.flatnonzero(~((size <= LARGE) & (size >= SMALL)))
        if len(doubtful):
            part = np.abs(X[:, doubtful])
            top = part.max(axis=0)
            top = top.toarray().ravel() if sparse.issparse(top) else top
            found = safe_units(top)
            # values of a usual size, times weights that are too large for them
            heavy = ~(size[doubtful] <= LARGE) & (found == 1.0) & (top > 0)
            found[heavy] = np.ldexp(1.0, np.frexp(top[heavy])[1] - 1)
            units[doubtful] = found
        return units

    def merge(self, other: ClassMoments) -> ClassMoments:
        """The moments of both sets of samples together."""
        count = np.stack([self.count, other.count])
        mean, m2 = np.stack([self.mean, other.mean]), np.stack([self.m2, other.m2])
        return ClassMoments(count.sum(axis=0), *_merged(count[:, :, None], mean, m2))

    def pooled(self, classes: Any = slice(None)) -> ClassMoments:
        """Several classes (all by default) as one."""
        mean, m2 = self.mean[classes], self.m2[classes]
        count = self.count[classes]
        together = _merged(count[:, None, None], mean[:, None], m2[:, None])
        return ClassMoments(count.sum(keepdims=True), *together)

    def occurring(self) -> ClassMoments:
        """The classes that have samples."""
        there = self.count > 0
        return (
            self
            if there.all()
            else ClassMoments(self.count[there], self.mean[there], self.m2[there])
        )

    def one_against_rest(self, k: int) -> ClassMoments:
        """Two classes: ``k`` first, all others together second."""
        rest = self.pooled(np.arange(len(self.count)) != k)
        return ClassMoments(
            np.array([self.count[k], rest.count[0]]),
            np.vstack([self.mean[k], rest.mean]),
            np.vstack([self.m2[k], rest.m2]),
        )

    def variance(self, ddof: int = 0) -> np.ndarray:
        """Variance of every feature in every class; zero where the count does not exceed ddof."""
        freedom = self.count[:, None] - ddof
        return np.where(freedom > 0, self.m2, 0.0) / np.where(freedom > 0, freedom, 1.0)

    def constant(self) -> np.ndarray:
        """Which features have one and the same value in all samples."""
        mean = self.mean[self.count > 0]
        return ~self.m2.any(axis=0) & (mean == mean[:1]).all(axis=0)


@dataclass(eq=False)
class TargetMoments:
    """What correlations with a numeric target need, without products of pairs of columns.

    Memory: three numbers for each column.

    Attributes
    ----------
    columns, target : ClassMoments
        Moments of the columns, and of the target, with all rows as one class.
    cross : array of shape (n_features,)
        Sums of products of the distances from the means.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale.moments import TargetMoments
    >>> X, y = np.array([[1.0], [2.0], [3.0], [5.0]]), np.array([2.0, 4.0, 6.0, 10.0])
    >>> both = TargetMoments.of(X[:1], y[:1]).merge(TargetMoments.of(X[1:], y[1:]))
    >>> both.correlations()
    array([1.])
    """

    columns: ClassMoments
    target: ClassMoments
    cross: np.ndarray

    @classmethod
    def of(cls, X: Any, y: np.ndarray) -> TargetMoments:
        """Sum up a batch; missing values and those too large to square are refused."""
        one = np.zeros(len(y), dtype=np.intp)
        columns = ClassMoments.of_batch(X, one, 1)
        target = ClassMoments.of_batch(y[:, None], one, 1)
        return cls(columns, target, _products(X, columns.mean[0], y - target.mean[0, 0]))

    @classmethod
    def in_safe_units(
        cls, X: Any, y: np.ndarray, weight: np.ndarray | None = None
    ) -> TargetMoments:
        """Sum up a whole table; target and columns are divided by powers of two where their
        squares would leave the range of float64, which correlations do not depend on.
        """
        one = np.zeros(len(y), dtype=np.intp)
        y = y / safe_units(np.abs(y).max())
        columns, units = ClassMoments.in_safe_units(X, one, 1, weight)
        target = ClassMoments.of(y[:, None], one, 1, weight)
        distance = y - target.mean[0, 0]
        distance = distance if weight is None else weight * distance
        with np.errstate(over="ignore", invalid="ignore"):
            cross = _products(X, columns.mean[0], distance)
        scaled = np.flatnonzero(units != 1.0)
        if len(scaled):
            part = in_units(X, scaled, units)
            cross[scaled] = _products(part, columns.mean[0, scaled], distance)
        return cls(columns, target, cross)

    def merge(self, other: TargetMoments) -> TargetMoments:
        """The sums of both sets of rows together."""
        n, m = self.n_rows, other.n_rows
        fraction = n * m / max(n + m, 1.0)
        step = other.columns.mean[0] - self.columns.mean[0]
        rise = float(other.target.mean[0, 0] - self.target.mean[0, 0])
        return TargetMoments(
            self.columns.merge(other.columns),
            self.target.merge(other.target),
            self.cross + other.cross + fraction * rise * step,
        )

    @property
    def n_rows(self) -> float:
        """Number of rows, or the sum of their weights."""
        return float(self.columns.count[0])

    @property
    def class_rows(self) -> np.ndarray:
        """The same as that of a single class."""
        return self.columns.count

    def correlations(self) -> np.ndarray:
        """Correlation of each column with the target; 0 if either is constant."""
        still = self.columns.constant() | bool(self.target.constant()[0])
        spread = np.where(still, 0.0, np.sqrt(self.columns.m2[0]) * np.sqrt(self.target.m2[0, 0]))
        rho = np.where(spread > 0, self.cross / np.where(spread > 0, spread, 1.0), 0.0)
        return np.clip(rho, -1.0, 1.0)


def _products(X: Any, mean: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Sum over the rows of the products of ``X - mean`` and ``y``, of each column."""
    if sparse.issparse(X):
        return X.T @ y - mean * y.sum()
    cross = np.zeros(X.shape[1])
    run_tiles(_cross, X.shape[1], X, mean, y, cross, min_items=max(1, 2**17 // max(1, len(y))))
    return cross


@njit(cache=True, nogil=True)
def _cross(start, stop, X, mean, y, cross):  # type: ignore[no-untyped-def]
    """Sums of products of centred features and target, for the columns ``start`` to ``stop``."""
    for i in range(len(y)):
        for j in range(start, stop):
            cross[j] += (X[i, j] - mean[j]) * y[i]


def in_units(X: Any, columns: np.ndarray, units: np.ndarray) -> Any:
    """Some columns of ``X``, each divided by its unit."""
    part = X[:, columns]
    if sparse.issparse(part):
        part = part.tocsr(copy=True)
        part.data /= units[columns][part.indices]
        return part
    return part / units[columns]


def divide_scores(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """``numerator / denominator``, both not negative, with 0/0 = 0 and x/0 infinite.

    A feature without spread inside the classes is worthless if their means agree, and separates
    them perfectly if not.
    """
    with np.errstate(over="ignore"):
        ratio = numerator / np.where(denominator > 0, denominator, 1.0)
    return np.where(denominator > 0, ratio, np.where(numerator > 0, np.inf, 0.0))


def _merged(count: np.ndarray, mean: np.ndarray, m2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge along the first axis, in its order."""
    total, average, deviation = count[0], mean[0], m2[0]
    for n, mu, m in zip(count[1:], mean[1:], m2[1:], strict=True):
        together = total + n
        fraction = n / np.where(together > 0, together, 1.0)
        delta = mu - average
        # where the left side is empty its mean means nothing
        average = np.where(total > 0, average + delta * fraction, mu)
        deviation = deviation + m + delta * delta * (total * fraction)
        total = together
    return average, deviation


def _first_of_class(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Row of the first sample of each class; row 0 for a class without samples."""
    first = np.zeros(n_classes, dtype=np.intp)
    present, rows = np.unique(codes, return_index=True)
    first[present] = rows
    return first


def _dense_moments(
    X: np.ndarray, codes: np.ndarray, n_classes: int, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, p = X.shape
    shift = X[_first_of_class(codes, n_classes)]
    row_chunks, column_chunks = -(-n // _CHUNK_ROWS), -(-p // _CHUNK_COLUMNS)
    count = np.zeros((row_chunks, n_classes))
    mean = np.zeros((row_chunks, n_classes, p))
    m2 = np.zeros((row_chunks, n_classes, p))
    least = max(1, 2**17 // (min(n, _CHUNK_ROWS) * min(p, _CHUNK_COLUMNS)))
    tasks = row_chunks * column_chunks
    run_tiles(_sum_chunks, tasks, X, codes, weight, shift, count, mean, m2, min_items=least)
    average, deviation = _merged(count[:, :, None], mean, m2)
    return _placed(count.sum(axis=0), average, shift, deviation)


@njit(cache=True, nogil=True)
def _sum_chunks(start, stop, X, codes, weight, shift, count, mean, m2):  # type: ignore[no-untyped-def]
    """Moments, relative to ``shift``, of the tasks ``start`` to ``stop``."""
    n, p = X.shape
    column_chunks = (p + _CHUNK_COLUMNS - 1) // _CHUNK_COLUMNS
    block = np.empty((len(shift), min(p, _CHUNK_COLUMNS)))
    squares = np.empty((len(shift), min(p, _CHUNK_COLUMNS)))
    sizes = np.empty(len(shift))
    for task in range(start, stop):
        chunk, left = task // column_chunks, (task % column_chunks) * _CHUNK_COLUMNS
        right = min(left + _CHUNK_COLUMNS, p)
        top, bottom = chunk * _CHUNK_ROWS, min((chunk + 1) * _CHUNK_ROWS, n)
        totals = np.zeros(len(shift))
        for first in range(top, bottom, _BLOCK_ROWS):
            last = min(first + _BLOCK_ROWS, bottom)
            rows, columns = (first, last), (left, right)
            _sum_block(X, rows, columns, codes, weight, shift, sizes, block, squares)
            _merge_block(sizes, block, squares, totals, mean[chunk], m2[chunk], left, right)
        if left == 0:
            for k in range(len(totals)):
                count[chunk, k] = totals[k]


# Rows are cut out one by one below: of X[i, left:right] numba knows that it is contiguous, of
# X[first:last, left:right] it does not, and would not use vector code.


@njit(cache=True, nogil=True)
def _sum_block(X, rows, columns, codes, weight, shift, sizes, mean, m2):  # type: ignore[no-untyped-def]
    """Weighted means and squared deviations of a few rows, relative to ``shift``."""
    (first, last), (left, right) = rows, columns
    sizes[:] = 0.0
    mean[:] = 0.0
    m2[:] = 0.0
    for i in range(first, last):
        k, w = codes[i], weight[i]
        sizes[k] += w
        x, base, total = X[i, left:right], shift[k, left:right], mean[k, : right - left]
        for j in range(right - left):
            total[j] += w * (x[j] - base[j])
    for k in range(len(sizes)):
        if sizes[k] > 0.0:
            for j in range(mean.shape[1]):
                mean[k, j] /= sizes[k]
    for i in range(first, last):
        k, w = codes[i], weight[i]
        x, base, middle = X[i, left:right], shift[k, left:right], mean[k, : right - left]
        total = m2[k, : right - left]
        for j in range(right - left):
            d = x[j] - base[j] - middle[j]
            total[j] += w * d * d


@njit(cache=True, nogil=True)
def _merge_block(sizes, block, squares, totals, mean, m2, left, right):  # type: ignore[no-untyped-def]
    """Merge a block into the chunk it belongs to."""
    for k in range(len(sizes)):
        if sizes[k] == 0.0:
            continue
        together = totals[k] + sizes[k]
        fraction = sizes[k] / together
        factor = totals[k] * fraction
        new, new_squares = block[k, : right - left], squares[k, : right - left]
        old, old_squares = mean[k, left:right], m2[k, left:right]
        for j in range(right - left):
            delta = new[j] - old[j]
            old[j] += delta * fraction
            old_squares[j] += new_squares[j] + delta * delta * factor
        totals[k] = together


def _sparse_moments(
    X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    shift = X[_first_of_class(codes, n_classes)].toarray()
    count, mean, m2 = _sum_sparse(X.data, X.indices, X.indptr, codes, weight, shift)
    return _placed(count, mean, shift, m2)


def _placed(
    count: np.ndarray, mean: np.ndarray, shift: np.ndarray, m2: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add what the means are relative to; a class without samples has mean zero."""
    return count, np.where(count[:, None] > 0, mean + shift, 0.0), m2


@njit(cache=True, nogil=True)
def _sum_sparse(data, indices, indptr, codes, weight, shift):  # type: ignore[no-untyped-def]
    """Moments of rows in CSR form; entries that are not stored count as zeros."""
    n_classes, p = shift.shape
    count = np.zeros(n_classes)
    stored = np.zeros((n_classes, p))
    mean = np.zeros((n_classes, p))
    m2 = np.zeros((n_classes, p))
    for i in range(len(codes)):
        k = codes[i]
        count[k] += weight[i]
        for q in range(indptr[i], indptr[i + 1]):
            j = indices[q]
            stored[k, j] += weight[i]  # added in the order of count: equal if all are stored
            mean[k, j] += weight[i] * (data[q] - shift[k, j])
    for k in range(n_classes):
        if count[k] > 0.0:
            for j in range(p):
                mean[k, j] = (mean[k, j] - (count[k] - stored[k, j]) * shift[k, j]) / count[k]
                m2[k, j] = (count[k] - stored[k, j]) * (shift[k, j] + mean[k, j]) ** 2
    for i in range(len(codes)):
        k = codes[i]
        for q in range(indptr[i], indptr[i + 1]):
            j = indices[q]
            d = data[q] - shift[k, j] - mean[k, j]
            m2[k, j] += weight[i] * d * d
    return count, mean, m2
