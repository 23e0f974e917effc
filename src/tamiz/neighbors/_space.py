"""Samples as compiled code wants them: one line for each attribute, numbers scaled and weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.neighbors._metrics import MISMATCH, Metric
from tamiz.neighbors._scales import SCALINGS
from tamiz.validation import TOO_LARGE

#: Beyond this a square, times the number of attributes, may not be held by float64.
_LARGEST = 1e140
#: What is said of a model that was changed by hand, or comes from a damaged file.
UNFIT = "The parts of this fitted model do not fit together; fit it again."


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
    def thin(self) -> bool:
        """Whether the samples are held as a sparse matrix."""
        return bool(sparse.issparse(self.columns))

    @property
    def plain(self) -> bool:
        """Whether there are numbers only, and no gaps."""
        return not self.gappy.any() and not (self.kinds == MISMATCH).any()

    def samples(self) -> Any:
        """The training samples as rows."""
        return self.columns.T.tocsr() if self.thin else np.ascontiguousarray(self.columns.T)

    def bring(self, X: Any) -> Any:
        """Rows of a checked table in the form of the training samples: both sparse or neither."""
        if self.thin:
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
        if self.thin:
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
    X: Any, nominal: np.ndarray, weight: np.ndarray, metric: Metric, scaling: str
) -> tuple[Space, np.ndarray]:
    """The space of a checked table (an array, or CSC), and the scale of each of its columns.

    Constant columns, and those without any value, keep their scale.
    """
    thin = sparse.issparse(X)
    refuse_large(X.data if thin else X)
    kinds = np.where(nominal, MISMATCH, metric.number).astype(np.int8)
    scale = np.ones(X.shape[1])
    numbers = kinds != MISMATCH
    if numbers.any():
        scale[numbers] = SCALINGS[scaling](X if numbers.all() else X[:, numbers])
    scale[scale < np.finfo(np.float64).tiny] = 1.0  # nothing can be divided by less
    with np.errstate(over="ignore"):
        factor = np.where(numbers, metric.factor(weight, scale), 1.0)
    used = np.flatnonzero(weight > 0)
    if thin:
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
