"""Least squares for the equations that hold at a vertex.

Samples strictly between their bounds lie on the margin, and the constraints of features with
weight are tight. What an interior point leaves to go, and what HiGHS may round (its tolerance times
the price of a loss), least squares take away to the last digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

_POLISHED = 1_000_000  # entries of the system


class Equations:
    """The equations of the samples ``rows`` and the features ``kept``, by one decomposition."""

    def __init__(self, X: Any, y: np.ndarray, rows: np.ndarray, kept: np.ndarray):
        self.rows, self.kept, self.y = rows, kept, y[rows]
        A = X[rows][:, kept]
        A = A.toarray() if sparse.issparse(A) else A
        self.A = np.column_stack([A, np.ones(len(rows))])
        self.left, values, self.right = np.linalg.svd(self.A, full_matrices=False)
        self.inverse = np.where(values > 1e-11 * values[0], 1.0 / np.maximum(values, 1e-300), 0.0)

    def weights(self, w: np.ndarray, b: float) -> np.ndarray:
        """``w`` moved so that the samples lie on the margin, for an intercept near ``b``."""
        moved = w.copy()
        off = self.y - self.A @ np.append(w[self.kept], b)
        moved[self.kept] += (self.right.T @ (self.inverse * (self.left.T @ off)))[:-1]
        return moved

    def multipliers(self, alpha: np.ndarray, off: np.ndarray) -> np.ndarray:
        """``alpha`` moved so that ``G'α`` and ``y'α`` change by ``off``."""
        moved = alpha.copy()
        moved[self.rows] += self.y * (self.left @ (self.inverse * (self.right @ off)))
        return moved


def equations(X: Any, y: np.ndarray, rows: np.ndarray, kept: np.ndarray) -> Equations | None:
    """None if there are none, or too many."""
    if not 0 < len(rows) * len(kept) <= _POLISHED:
        return None
    return Equations(X, y, rows, kept)
