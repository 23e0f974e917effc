"""Samples as compiled code wants them: one line for each attribute, numbers scaled and weighted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamiz._validation import TOO_LARGE
from tamiz.neighbors._metrics import MISMATCH, SCALINGS, Metric

#: Beyond this a square, times the number of attributes, may not be held by float64.
_LARGEST = 1e140


@dataclass(frozen=True, eq=False)
class Space:
    """Training samples, and what brings others to the same form.

    Attributes
    ----------
    columns : float64 array of shape (n_used, n_samples)
        Attributes of positive weight; codes of nominal ones, NaN where a value is missing.
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

    columns: np.ndarray
    kinds: np.ndarray
    weight: np.ndarray
    gappy: np.ndarray
    used: np.ndarray
    factor: np.ndarray

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return self.columns.shape[1]

    @property
    def plain(self) -> bool:
        """Whether there are numbers only, and no gaps."""
        return not self.gappy.any() and not (self.kinds == MISMATCH).any()

    def bring(self, X: np.ndarray) -> np.ndarray:
        """Rows of a checked table in the form of the training samples."""
        with np.errstate(over="ignore"):
            rows = X[:, self.used] * self.factor
        refuse_large(rows)
        return rows

    def check(self) -> None:
        """Refuse parts that do not fit together: compiled code would read beyond them."""
        shape = (len(self.columns),)
        parts = (self.kinds, self.weight, self.gappy, self.used, self.factor)
        fits = self.columns.ndim == 2 and all(part.shape == shape for part in parts)
        if not fits or not self.columns.flags.c_contiguous:
            raise ValueError("The parts of this fitted model do not fit together; fit it again.")


def refuse_large(X: np.ndarray) -> None:
    """Refuse numbers whose squares are beyond float64."""
    if X.size and np.fmax.reduce(np.abs(X), axis=None) > _LARGEST:
        raise ValueError(TOO_LARGE)


def make_space(
    X: np.ndarray, nominal: np.ndarray, weight: np.ndarray, metric: Metric, scaling: str
) -> tuple[Space, np.ndarray]:
    """The space of a checked table, and the scale of each of its columns.

    Constant columns, and those without any value, keep their scale.
    """
    refuse_large(X)
    kinds = np.where(nominal, MISMATCH, metric.number).astype(np.int8)
    scale = np.ones(X.shape[1])
    numbers = kinds != MISMATCH
    scale[numbers] = SCALINGS[scaling](X[:, numbers])
    scale[scale < np.finfo(np.float64).tiny] = 1.0  # nothing can be divided by less
    factor = np.where(numbers, metric.factor(weight, scale), 1.0)
    used = np.flatnonzero(weight > 0)
    with np.errstate(over="ignore"):
        rows = X[:, used] * factor[used]
    refuse_large(rows)
    columns = np.ascontiguousarray(rows.T)
    space = Space(
        columns, kinds[used], weight[used], np.isnan(columns).any(axis=1), used, factor[used]
    )
    return space, scale
