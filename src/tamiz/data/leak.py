"""Features that give the target away.

A column that tells the class of every sample without error is either the answer itself under
another name, or something known only afterwards. On wide tables with few rows some column does so
by chance; there only a one-to-one copy is reported.
"""

from __future__ import annotations

import numpy as np

LEAST = 20  # with fewer rows a perfect column may be luck


def leaks(X: np.ndarray, y: np.ndarray, classes: bool) -> list[int]:
    """Positions of the columns that determine ``y`` (codes of classes, or numbers)."""
    n, p = X.shape
    if n < LEAST or (y == y[0]).all():
        return []
    if classes and p > n:
        return _copies(X, y)
    rows = np.linspace(0, n - 1, min(n, 512)).astype(np.intp)
    if classes:  # the rare ones too
        rows = np.concatenate([rows, *(np.flatnonzero(y == k)[:3] for k in np.unique(y)[:100])])
    rows = np.unique(rows)
    columns, y_few = np.ascontiguousarray(X[rows].T), y[rows]
    test = _separates if classes else _follows
    whole = len(rows) == n
    return [j for j in range(p) if test(columns[j], y_few, whole) and test(X[:, j], y, True)]


def _known(column: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    there = ~np.isnan(column)
    return (column, y) if there.all() else (column[there], y[there])


def _separates(column: np.ndarray, y: np.ndarray, whole: bool) -> bool:
    """Whether thresholds, one fewer than classes, or the levels of a category, give the class.

    Of a part of the rows (``whole`` is false) more levels are allowed, and fewer values.
    """
    n = len(column)
    column, y = _known(column, y)
    if len(column) < (max(LEAST, n // 2) if whole else 2):
        return False
    order = np.argsort(column, kind="stable")
    column, y = column[order], y[order]
    change = y[1:] != y[:-1]
    new = column[1:] != column[:-1]
    if (change & ~new).any():  # one value, two classes
        return False
    n_classes = len(np.unique(y))
    if int(change.sum()) == n_classes - 1:
        return n_classes > 1 or not whole
    n_levels = int(new.sum()) + 1
    return n_levels <= max(n_classes, len(y) // (20 if whole else 2))


def _copies(X: np.ndarray, y: np.ndarray) -> list[int]:
    """Columns with one value in each class, another in each."""
    low = np.array([X[y == label].min(axis=0) for label in np.unique(y)])
    high = np.array([X[y == label].max(axis=0) for label in np.unique(y)])
    constant = np.flatnonzero((low == high).all(axis=0))
    return [j for j in constant.tolist() if len(set(low[:, j].tolist())) == len(low)]


def _follows(column: np.ndarray, y: np.ndarray, whole: bool) -> bool:
    """Whether a number rises, or falls, with the target without exception."""
    n = len(column)
    column, y = _known(column, y)
    if whole and (len(column) < max(LEAST, n // 2) or len(np.unique(y)) < 3):
        return False
    order = np.lexsort((y, column))
    up, by = np.diff(column[order]), np.diff(y[order])
    if (by[up == 0] != 0).any():
        return False
    return bool((by >= 0).all() or (by <= 0).all())
