r"""Means and sums of products of all pairs of columns, and what correlations need of a target.

For n rows with means m,

.. math:: C_{ij} = \sum_r (x_{ri} - m_i)(x_{rj} - m_j),

and two sets of rows combine by

.. math:: C = C_a + C_b + \frac{n_a n_b}{n_a + n_b} (m_b - m_a)(m_b - m_a)^\top.

A block is centred on its own means before it is multiplied, and means are kept relative to a
point near them, so large means cost no digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamiz.scale.batch import check_block, check_codes, dense_pieces
from tamiz.validation import IMPUTE, MissingValuesError, require_memory

#: Rows that are multiplied at a time.
_ROWS = 4096

#: Rows whose means the others are taken relative to.
_PROBE = 64


@dataclass(eq=False)
class CoMoments:
    """Sums of products of all pairs of columns, with class means or a numeric target.

    Memory: 8 p (p + K) bytes for p columns and K classes. Missing values are refused, as by the
    filters that take correlations.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    origin : array of shape (n_columns,)
        What means are relative to, something near them; with a numeric target, that is last.
    offset : array of shape (n_columns,)
        Means, relative to the origin.
    cross : array of shape (n_columns, n_columns)
        Sums of products of the distances from the means.
    low, high : arrays of shape (n_columns,)
        Least and greatest values.
    class_rows : int array of shape (n_classes,)
        Rows of each class; empty with a numeric target or none.
    class_offset : array of shape (n_classes, n_columns)
        Means of each class, relative to the origin; zero for one without rows.
    numeric : bool
        Whether the last column is the target.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import CoMoments
    >>> X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0]])
    >>> both = CoMoments.of(X[:1]).merge(CoMoments.of(X[1:]))
    >>> both.correlations().round(4)
    array([[1.    , 0.5292], [0.5292, 1.    ]])
    """

    n_rows: int
    origin: np.ndarray
    offset: np.ndarray
    cross: np.ndarray
    low: np.ndarray
    high: np.ndarray
    class_rows: np.ndarray
    class_offset: np.ndarray
    numeric: bool

    @classmethod
    def of(cls, X: Any, codes: Any = None, n_classes: int = 0, target: Any = None) -> CoMoments:
        """Multiply out a block of rows.

        Parameters
        ----------
        X : float64 array or CSR matrix of shape (n_rows, n_features)
            Values; none missing.
        codes : int array of shape (n_rows,), optional
            Class of each row, from 0.
        n_classes : int, optional
            Number of classes.
        target : float array of shape (n_rows,), optional
            A numeric target in place of classes.
        """
        X = check_block(X)
        n, p = X.shape
        p += target is not None
        classes = None if codes is None else check_codes(codes, n, n_classes)
        k = 0 if codes is None else n_classes
        require_memory(
            8 * p**2,
            f"products of all pairs of {p:,} features",
            "Select features first by a filter of single features, or read fewer columns.",
        )
        out = cls(
            n_rows=0,
            origin=np.zeros(p),
            offset=np.zeros(p),
            cross=np.zeros((p, p)),
            low=np.full(p, np.inf),
            high=np.full(p, -np.inf),
            class_rows=np.zeros(k, dtype=np.int64),
            class_offset=np.zeros((k, p)),
            numeric=target is not None,
        )
        for rows, piece in dense_pieces(X, _ROWS):
            if target is not None:
                y = np.asarray(target, dtype=np.float64)[rows]
                piece = np.column_stack([piece, y])
            out = out.merge(cls._of_piece(piece, None if classes is None else classes[rows], out))
        return out

    @classmethod
    def _of_piece(cls, X: np.ndarray, codes: np.ndarray | None, like: CoMoments) -> CoMoments:
        n = len(X)
        low, high = X.min(axis=0), X.max(axis=0)  # NaN if there is one
        wrong = np.flatnonzero(~np.isfinite(low) | ~np.isfinite(high))
        if len(wrong):
            _refuse_not_finite(X, int(wrong[0]), like.numeric)
        with np.errstate(over="ignore", invalid="ignore"):
            # near the mean, and the value itself of a constant column, whose sums are then 0
            origin = np.where(low < high, X[:_PROBE].mean(axis=0), low)
            Z = X - origin
            rest = Z.sum(axis=0)
            cross = Z.T @ Z
            cross -= np.outer(rest, rest / n)
        if not np.isfinite(cross.diagonal()).all():
            j = int(np.flatnonzero(~np.isfinite(cross.diagonal()))[0])
            raise ValueError(
                f"Column {j} holds values up to {max(-low[j], high[j]):.3g}, whose squares leave "
                "the range of float64; divide the column by a power of ten."
            )
        k = len(like.class_rows)
        class_rows, class_offset = np.zeros(k, dtype=np.int64), np.zeros((k, X.shape[1]))
        if codes is not None:
            class_rows = np.bincount(codes, minlength=k)
            hot = (codes == np.arange(k)[:, None]).astype(np.float64)
            class_offset = (hot @ Z) / np.maximum(class_rows, 1)[:, None]
        return cls(
            n_rows=n,
            origin=origin,
            offset=rest / n,
            cross=cross,
            low=low,
            high=high,
            class_rows=class_rows,
            class_offset=class_offset,
            numeric=like.numeric,
        )

    def merge(self, other: CoMoments) -> CoMoments:
        """The sums of both sets of rows together."""
        if self.n_rows == 0 or other.n_rows == 0:
            return other if self.n_rows == 0 else self
        n = self.n_rows + other.n_rows
        fraction = other.n_rows / n
        move = other.origin - self.origin
        step = move + other.offset - self.offset
        cross = self.cross + other.cross
        cross += np.outer(step, step * (self.n_rows * fraction))
        rows = self.class_rows + other.class_rows
        part = (other.class_rows / np.maximum(rows, 1))[:, None]
        theirs = other.class_offset + move
        class_offset = self.class_offset + (theirs - self.class_offset) * part
        class_offset = np.where(self.class_rows[:, None] > 0, class_offset, theirs)
        return CoMoments(
            n_rows=n,
            origin=self.origin,
            offset=self.offset + step * fraction,
            cross=cross,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            class_rows=rows,
            class_offset=np.where(rows[:, None] > 0, class_offset, 0.0),
            numeric=self.numeric,
        )

    @property
    def mean(self) -> np.ndarray:
        """Means; with a numeric target, its mean is last."""
        return self.origin + self.offset

    @property
    def class_mean(self) -> np.ndarray:
        """Means of each class: (n_classes, n_columns)."""
        return self.origin + self.class_offset

    @property
    def n_features(self) -> int:
        """Number of columns, a numeric target not counted."""
        return len(self.mean) - self.numeric

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        arrays = self.origin, self.offset, self.cross, self.low, self.high
        return sum(part.nbytes for part in (*arrays, self.class_rows, self.class_offset))

    def varies(self) -> np.ndarray:
        """Which features have at least two values."""
        p = self.n_features
        return self.low[:p] < self.high[:p]

    def correlations(self) -> np.ndarray:
        """Pearson's correlation of all pairs of features; zero for constant ones, themselves
        included.
        """
        p = self.n_features
        inverse = self._inverse_lengths()[:p]
        out = self.cross[:p, :p] * inverse[:, None] * inverse
        out = np.clip(out, -1.0, 1.0)
        np.fill_diagonal(out, (inverse > 0).astype(np.float64))
        return out

    def target_correlations(self) -> np.ndarray:
        """Correlation of each feature with the numeric target, (n_features,), or with the
        indicator of each class, (n_classes, n_features).
        """
        p = self.n_features
        inverse = self._inverse_lengths()
        if self.numeric:
            return np.clip(self.cross[p, :p] * inverse[:p] * inverse[p], -1.0, 1.0)
        self._require_classes()
        fraction = (self.class_rows / self.n_rows)[:, None]
        odds = np.sqrt(fraction * self.n_rows / np.where(fraction < 1, 1 - fraction, 1.0))
        rho = (self.class_offset - self.offset) * odds * inverse
        return np.clip(np.where(fraction < 1, rho, 0.0), -1.0, 1.0)

    def relevance(self) -> np.ndarray:
        """Absolute correlation with the target; with classes, the mean over their indicators
        weighted by their fractions.
        """
        rho = np.abs(self.target_correlations())
        return rho if self.numeric else (self.class_rows / self.n_rows) @ rho

    def f_statistics(self) -> np.ndarray:
        """F statistic of the analysis of variance of every feature.

        0 for constant features; finite for those that do not vary inside the classes (see
        :func:`anova_f`).
        """
        self._require_classes()
        distance = (self.class_offset - self.offset) * self._inverse_lengths()
        between = self.class_rows @ distance**2
        return np.where(self.varies(), anova_f(between, self.n_rows, len(self.class_rows)), 0.0)

    def _inverse_lengths(self) -> np.ndarray:
        """One over the length of each centred column, 0 if it is constant."""
        squares = np.where(self.low < self.high, self.cross.diagonal(), 0.0)
        return np.where(squares > 0, 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)

    def _require_classes(self) -> None:
        if not len(self.class_rows):
            raise ValueError(
                "There are neither classes nor a numeric target in these sums; pass codes and "
                "n_classes, or target, when they are made."
            )


def anova_f(between: np.ndarray, n_rows: float, n_classes: int) -> np.ndarray:
    """F statistic of the analysis of variance, from the fraction of the variance between classes.

    Of a feature that does not vary inside the classes it would be infinite; it is the greatest
    number that still has a mean with others. If every row is a class of its own (or the rows weigh
    no more) there is nothing inside the classes, and the fraction itself is returned.
    """
    if n_rows <= n_classes:
        return between
    within = np.maximum(1.0 - between, np.finfo(float).eps)
    return between / within * ((n_rows - n_classes) / max(1, n_classes - 1))


def _refuse_not_finite(X: np.ndarray, j: int, numeric: bool) -> None:
    is_target = numeric and j == X.shape[1] - 1
    called = "y" if is_target else f"X (column {j})"
    if np.isnan(X[:, j]).any():
        raise MissingValuesError(
            f"Input {called} contains NaN. {IMPUTE}", argument="y" if is_target else "X", column=j
        )
    raise ValueError(f"Input {called} contains infinity (inf). Replace it by a finite number.")
