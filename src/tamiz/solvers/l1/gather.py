r"""A program as the solvers like it: every sample counts, none is there twice, columns of size one.

With ``x_j = m_j + s_j z_j`` the program in ``z`` has the weights ``s_j w_j``, the intercept
``b + Σ w_j m_j`` and the penalties ``c_j / s_j``: the same minimum, without the digits that are
lost where columns of size 1e-7 and 1e7 meet, or where they vary by little about a large value.
``s_j`` is a power of two, so dividing by it rounds nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

_SORTED = 2_000_000  # entries of X up to which equal samples are put together
_USUAL = 64.0  # columns between its inverse and itself in size are left as they are
_FAR = 8.0  # ... and those whose middle is nearer to zero than so many half widths
_MOST = 300  # powers of two


class Gathered(NamedTuple):
    """The parts of a program that the solvers get, and the way back."""

    X: Any
    y: np.ndarray
    C: np.ndarray
    c: np.ndarray
    place: np.ndarray  # row of each sample; -1 if its loss costs nothing
    share: np.ndarray  # its part in the price of that row
    scale: np.ndarray | None  # s_j; None if all are one
    middle: np.ndarray | None  # m_j; None if all are zero

    def spread(self, found: Any) -> Any:
        """Give each sample its part of the multiplier, and each feature its own unit."""
        alpha = np.where(self.place >= 0, found.alpha[self.place] * self.share, 0.0)
        w, g, b = found.w, found.g, found.b
        if self.scale is not None:
            w, g = w / self.scale, g * self.scale
        if self.middle is not None:
            b = b - float(self.middle @ w)
        return found._replace(w=w, g=g, b=b, alpha=alpha)


def gather(X: Any, y: np.ndarray, C: np.ndarray, c: np.ndarray) -> Gathered:
    """Leave out samples without price, put equal ones together in an order of their own, scale.

    Where several solutions are optimal, the one found then depends neither on the order of the
    samples nor on whether one of them is there twice or has twice the price.
    """
    rows = np.flatnonzero(C > 0)
    place = np.full(len(y), -1, dtype=np.intp)
    share = np.ones(len(y))
    if len(rows) * X.shape[1] > _SORTED:
        place[rows] = np.arange(len(rows))
        if len(rows) < len(y):
            X, y, C = X[rows], y[rows], C[rows]
    else:
        table = X[rows].toarray() if sparse.issparse(X) else X[rows]
        table = np.column_stack([y[rows], table + 0.0])  # no minus zeros
        _, first, to = np.unique(table, axis=0, return_index=True, return_inverse=True)
        place[rows] = to.ravel()
        price = np.bincount(to.ravel(), weights=C[rows], minlength=len(first))
        share = np.where(place >= 0, C / price[place], 0.0)
        kept = rows[first]
        X, y, C = X[kept], y[kept], price
    middle, scale = units(X)
    if middle is not None:
        X = X - middle
    if scale is not None:
        X = divided(X, scale)
        c = c / scale
    return Gathered(X, y, C, c, place, share, scale, middle)


def units(X: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Middle and size of each column, where they are out of the ordinary."""
    if not min(X.shape):
        return None, None
    if sparse.issparse(X):  # a middle other than zero would fill it
        middle = np.zeros(X.shape[1])
        size = np.zeros(X.shape[1])
        _largest(X.data, X.indices, size)
    else:
        low, high = X.min(axis=0), X.max(axis=0)
        # of numbers, so that neither order nor repetition of samples matters
        middle, width = low / 2.0 + high / 2.0, high / 2.0 - low / 2.0
        middle[(np.abs(middle) < _FAR * width) | (width == 0.0)] = 0.0
        size = np.maximum(np.abs(low - middle), np.abs(high - middle))
    odd = (size > 0.0) & ((size > _USUAL) | (size < 1.0 / _USUAL))
    power = np.clip(np.frexp(size)[1], -_MOST, _MOST)
    scale = np.where(odd, np.ldexp(1.0, power), 1.0)
    return (middle if middle.any() else None), (scale if odd.any() else None)


def divided(X: Any, scale: np.ndarray) -> Any:
    """``X`` with its columns divided by ``scale``."""
    if sparse.issparse(X):
        return type(X)((X.data / scale[X.indices], X.indices, X.indptr), shape=X.shape)
    return X / scale


@njit(cache=True, nogil=True)
def _largest(data: np.ndarray, indices: np.ndarray, size: np.ndarray) -> None:
    for k in range(len(data)):
        size[indices[k]] = max(size[indices[k]], abs(data[k]))
