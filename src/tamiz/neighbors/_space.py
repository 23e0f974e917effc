r"""The space that distances are taken in: metrics, scales, and samples as compiled code wants them.

With weights :math:`w_j` and scales :math:`s_j`, over the attributes known in both samples,

- euclidean: :math:`\sqrt{\sum_j w_j ((x_j - z_j) / s_j)^2}`,
- manhattan: :math:`\sum_j w_j |x_j - z_j| / s_j`,
- hamming: :math:`\sum_j w_j [x_j \ne z_j]`, every attribute being nominal,
- mixed: :math:`\sum_j w_j |x_j - z_j| / s_j` over the numbers and
  :math:`\sum_j w_j [x_j \ne z_j]` over the nominal attributes, which is Gower's distance times the
  sum of the weights if the scales are ranges.

Where values are missing the sum (below the root) is multiplied by the weight of all attributes over
that of the known ones. Without any in common the distance is infinite.

Differences of numbers are divided by nothing, by the deviation or by the range of a column. Zeros
are counted and not added up, so that a sparse table has the same scales as its dense copy. Sums are
compensated (Kahan): long columns lose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.runtime.compiling import njit
from tamiz.validation import TOO_LARGE

#: What an attribute adds to the sum.
SQUARE, ABSOLUTE, MISMATCH = 0, 1, 2
#: Beyond this a square, times the number of attributes, may not be held by float64.
_LARGEST = 1e140
#: What is said of a model that was changed by hand, or comes from a damaged file.
UNFIT = "The parts of this fitted model do not fit together; fit it again."


@dataclass(frozen=True)
class Distance:
    """How attributes enter a distance.

    Attributes
    ----------
    number : int
        What an attribute of numbers adds.
    nominal : bool
        Whether there may be nominal attributes.
    scaling : str
        How numbers are scaled if nothing is said.
    power : int
        The sum is this power of the distance.
    """

    number: int
    nominal: bool
    scaling: str
    power: int = 1

    def distance(self, sums: np.ndarray) -> np.ndarray:
        """Distances from sums over the attributes."""
        return np.sqrt(sums) if self.power == 2 else sums

    def factor(self, weight: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """What numbers are multiplied by, so that their differences are weighted and scaled."""
        return weight ** (1.0 / self.power) / scale


METRICS = {
    "euclidean": Distance(SQUARE, nominal=False, scaling="none", power=2),
    "manhattan": Distance(ABSOLUTE, nominal=False, scaling="none"),
    "hamming": Distance(MISMATCH, nominal=True, scaling="none"),
    "mixed": Distance(ABSOLUTE, nominal=True, scaling="range"),
}


class SpaceArrays(NamedTuple):
    """The attributes of a dense :class:`Space` that compiled code asks for."""

    columns: np.ndarray
    kinds: np.ndarray
    weight: np.ndarray
    gappy: np.ndarray


@dataclass(frozen=True, eq=False)
class Space:
    """Training samples, and what brings others to the same form.

    Attributes
    ----------
    columns : float64 array or CSR matrix of shape (n_used, n_samples)
        Attributes of positive weight; codes of nominal ones, NaN where a value is missing. A matrix
        if the user's table is sparse; no zero is stored in it.
    kinds : int8 array of shape (n_used,)
        What each adds to a distance.
    weight : float64 array of shape (n_used,)
        Weight of each.
    gappy : boolean array of shape (n_used,)
        Which of them have missing values.
    used : intp array of shape (n_used,)
        Their places in the user's table.
    factor : float64 array of shape (n_used,)
        What their values are multiplied by; 1 for nominal ones.
    """

    columns: Any
    kinds: np.ndarray
    weight: np.ndarray
    gappy: np.ndarray
    used: np.ndarray
    factor: np.ndarray

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return int(self.columns.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the samples are held as a sparse matrix."""
        return bool(sparse.issparse(self.columns))

    @property
    def plain(self) -> bool:
        """Whether there are numbers only, and no missing values."""
        return not self.gappy.any() and not (self.kinds == MISMATCH).any()

    def arrays(self) -> SpaceArrays:
        """What compiled code takes."""
        return SpaceArrays(self.columns, self.kinds, self.weight, self.gappy)

    def samples(self) -> Any:
        """The training samples as rows."""
        return self.columns.T.tocsr() if self.is_sparse else np.ascontiguousarray(self.columns.T)

    def bring(self, X: Any) -> Any:
        """Rows of a checked table in the form of the training samples: both sparse or neither."""
        if self.is_sparse:
            return _scaled(sparse.csc_matrix(X), self.used, self.factor).T.tocsr()
        with np.errstate(over="ignore"):
            rows = X[:, self.used] * self.factor
        refuse_large(rows)
        return rows

    def check(self) -> None:
        """Refuse parts that do not fit together: compiled code would read beyond them."""
        shape = self.columns.shape[:1]
        parts = (self.kinds, self.weight, self.gappy, self.used, self.factor)
        fits = self.columns.ndim == 2 and all(part.shape == shape for part in parts)
        if self.is_sparse:
            fits = fits and self.columns.format == "csr" and self.columns.dtype == np.float64
        elif fits:
            fits = self.columns.flags.c_contiguous
        if not fits:
            raise ValueError(UNFIT)


def refuse_large(X: np.ndarray) -> None:
    """Refuse numbers whose squares are beyond float64."""
    if X.size and np.fmax.reduce(np.abs(X), axis=None) > _LARGEST:
        raise ValueError(TOO_LARGE)


def make_space(
    X: Any,
    nominal: np.ndarray,
    weight: np.ndarray,
    metric: Distance,
    scaling: str,
    row_weight: np.ndarray | None = None,
) -> tuple[Space, np.ndarray]:
    """The space of a checked table (an array, or CSC), and the scale of each of its columns.

    Constant columns, and those without any value, keep their scale. ``row_weight`` matters to
    standard deviations.
    """
    is_sparse = sparse.issparse(X)
    refuse_large(X.data if is_sparse else X)
    kinds = np.where(nominal, MISMATCH, metric.number).astype(np.int8)
    scale = np.ones(X.shape[1])
    numbers = kinds != MISMATCH
    if numbers.any():
        part = X if numbers.all() else X[:, numbers]
        if row_weight is not None and scaling == "zscore":
            scale[numbers] = _weighted_deviation(part, row_weight)
        else:
            scale[numbers] = SCALINGS[scaling](part)
    scale[scale < np.finfo(np.float64).tiny] = 1.0  # nothing can be divided by less
    with np.errstate(over="ignore"):
        factor = np.where(numbers, metric.factor(weight, scale), 1.0)
    used = np.flatnonzero(weight > 0)
    if is_sparse:
        columns = _scaled(X, used, factor[used])
        line = np.repeat(np.arange(len(used)), np.diff(columns.indptr))
        gappy = np.zeros(len(used), dtype=bool)
        gappy[line[np.isnan(columns.data)]] = True
    else:
        with np.errstate(over="ignore", invalid="ignore"):  # a factor may be infinite
            rows = X[:, used] * factor[used]
        refuse_large(rows)
        columns = np.ascontiguousarray(rows.T)
        gappy = np.isnan(columns).any(axis=1)
    return Space(columns, kinds[used], weight[used], gappy, used, factor[used]), scale


def _scaled(X: Any, used: np.ndarray, factor: np.ndarray) -> Any:
    """Some columns of a CSC matrix, scaled, as lines of a CSR matrix without stored zeros."""
    part = X if len(used) == X.shape[1] else X[:, used]
    with np.errstate(over="ignore", invalid="ignore"):
        data = part.data * np.repeat(factor, np.diff(part.indptr))
    refuse_large(data)
    lines = sparse.csr_matrix((data, part.indices, part.indptr), shape=part.shape[::-1], copy=True)
    lines.eliminate_zeros()
    return lines


# ------------------------------------------------------------------------------------- scales


def no_scale(X: Any) -> np.ndarray:
    """Ones."""
    return np.ones(X.shape[1])


def deviation(X: Any) -> np.ndarray:
    """Standard deviation (by n) of the known values of each column; exactly zero if constant."""
    return _spread(X)[1]


def span(X: Any) -> np.ndarray:
    """Largest less smallest known value of each column."""
    return _spread(X)[0]


SCALINGS = {"none": no_scale, "zscore": deviation, "range": span}


def _weighted_deviation(X: Any, weight: np.ndarray) -> np.ndarray:
    """Standard deviation of each column by the weights of the rows; 1 of constant ones."""
    found = np.ones(X.shape[1])
    for j in range(X.shape[1]):
        column = X[:, j].toarray().ravel() if sparse.issparse(X) else X[:, j]
        known = np.flatnonzero(~np.isnan(column))
        if not len(known):
            continue
        w, unit = weight[known], np.abs(column[known]).max()
        if unit == 0 or not np.isfinite(unit):
            continue
        apart = (column[known] - column[known[0]]) / unit  # exactly zero if it is constant
        mean = np.average(apart, weights=w)
        spread = unit * np.sqrt(np.average((apart - mean) ** 2, weights=w))
        found[j] = spread if spread > 0 else 1.0
    return found


def _spread(X: Any) -> np.ndarray:
    """Range and deviation of each column of an array or a CSC matrix."""
    if sparse.issparse(X):
        return _of_sparse(X.shape[0], X.data, X.indptr)
    return _of_dense(X)


@njit(cache=True, nogil=True)
def _of_dense(X):
    n, p = X.shape
    out, values = np.empty((2, p)), np.empty(n)
    for j in range(p):
        m, zeros = _sift(X[:, j], values)
        out[0, j], out[1, j] = _of_column(values[:m], zeros)
    return out


@njit(cache=True, nogil=True)
def _of_sparse(n, data, indptr):
    p = len(indptr) - 1
    out, values = np.empty((2, p)), np.empty(n)
    for j in range(p):
        stored = data[indptr[j] : indptr[j + 1]]
        m, zeros = _sift(stored, values)
        out[0, j], out[1, j] = _of_column(values[:m], zeros + n - len(stored))
    return out


@njit(cache=True, nogil=True)
def _sift(column, values):
    """Put what is neither zero nor missing into ``values``; how many these are, and the zeros."""
    m, zeros = 0, 0
    for v in column:
        if v == 0:
            zeros += 1
        elif v == v:
            values[m] = v
            m += 1
    return m, zeros


@njit(cache=True, nogil=True)
def _of_column(values, zeros):
    """Range and deviation of some values and a number of zeros."""
    n = len(values) + zeros
    if n == 0:
        return 0.0, 0.0
    low, high = (0.0, 0.0) if zeros > 0 else (values[0], values[0])
    total, lost = 0.0, 0.0
    for v in values:
        low, high = min(low, v), max(high, v)
        step = v - lost
        after = total + step
        lost = (after - total) - step
        total = after
    width = high - low
    unit = width if width > 0 else 1.0  # squares of very small numbers would be zero
    # a sum is rounded: without the bounds the mean of equal values need not be one of them
    mean = min(max(total / n, low), high)
    squares, lost = 0.0, 0.0
    for v in values:
        step = ((v - mean) / unit) * ((v - mean) / unit) - lost
        after = squares + step
        lost = (after - squares) - step
        squares = after
    squares += zeros * ((mean / unit) * (mean / unit))
    return width, unit * np.sqrt(squares / n)
