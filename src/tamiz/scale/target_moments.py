r"""Means, squared deviations and products with a numeric target, of every column by itself.

With the means :math:`m_j` and :math:`\bar y` of n rows, kept are :math:`\sum (x_j - m_j)^2`,
:math:`\sum (y - \bar y)^2` and :math:`c_j = \sum (x_j - m_j)(y - \bar y)`, and two sets of rows
combine by

.. math:: c = c_a + c_b + \frac{n_a n_b}{n_a + n_b} (m_b - m_a)(\bar y_b - \bar y_a).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.scale.moments import ClassMoments

_ROWS = 4096  # multiplied at a time


@dataclass(eq=False)
class TargetMoments:
    """What correlations with a quantity need, without products of pairs of columns.

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
    >>> from tamiz.scale.target_moments import TargetMoments
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
        """Sum up a block of rows; missing values and those too large to square are refused."""
        y = np.asarray(y, dtype=np.float64)
        one = np.zeros(len(y), dtype=np.intp)
        columns = ClassMoments.of_batch(X, one, 1)
        target = ClassMoments.of_batch(y[:, None], one, 1)
        distance = y - target.mean[0, 0]
        if sparse.issparse(X):
            cross = X.T @ distance - columns.mean[0] * distance.sum()
        else:
            cross = np.zeros(X.shape[1])
            for first in range(0, len(y), _ROWS):
                rows = slice(first, first + _ROWS)
                cross += distance[rows] @ (X[rows] - columns.mean[0])
        return cls(columns, target, cross)

    def merge(self, other: TargetMoments) -> TargetMoments:
        """The sums of both sets of rows together."""
        n, m = self.n_rows, other.n_rows
        share = n * m / max(n + m, 1.0)
        step = other.columns.mean[0] - self.columns.mean[0]
        rise = float(other.target.mean[0, 0] - self.target.mean[0, 0])
        return TargetMoments(
            self.columns.merge(other.columns),
            self.target.merge(other.target),
            self.cross + other.cross + share * rise * step,
        )

    @property
    def n_rows(self) -> float:
        """Number of rows."""
        return float(self.columns.count[0])

    def correlations(self) -> np.ndarray:
        """Correlation of each column with the target; 0 if either is constant."""
        still = self.columns.constant() | bool(self.target.constant()[0])
        spread = np.where(still, 0.0, np.sqrt(self.columns.m2[0]) * np.sqrt(self.target.m2[0, 0]))
        rho = np.where(spread > 0, self.cross / np.where(spread > 0, spread, 1.0), 0.0)
        return np.clip(rho, -1.0, 1.0)
