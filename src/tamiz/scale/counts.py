"""How many rows of each class every column has in each of its bins: counts that add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamiz.information.codes import MOST_PACKED
from tamiz.runtime.parallel import run_tiles
from tamiz.scale._blocks import (
    check_block,
    check_codes,
    dense_pieces,
    refuse_gap,
    refuse_other_cuts,
    rows_by_class,
)
from tamiz.scale._packing import code_rows, count_codes, count_planes, pack_rows
from tamiz.scale.cuts import Cuts, Span

#: Values that make a thread worth while.
_WORTH = 100_000


@dataclass(eq=False)
class LevelCounts:
    """Contingency tables of every column with the classes.

    Memory: eight bytes for each class and bin, whatever the number of rows. Sums are exact.

    Attributes
    ----------
    cuts : Cuts
        Where the columns are cut.
    n_rows : int array of shape (n_classes,)
        Rows of each class.
    counts : int array of shape (n_classes, n_counted)
        Rows at each counted level, columns in the order of ``cuts.layout``.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import Cuts, LevelCounts
    >>> X, y = np.array([[1.0], [2.0], [np.nan], [4.0]]), np.array([0, 0, 1, 1])
    >>> cuts = Cuts.of([[1.5, 3.0]])
    >>> parts = [LevelCounts.of(X[rows], y[rows], cuts, 2) for rows in (slice(1), slice(1, 4))]
    >>> parts[0].merge(parts[1]).table(0)
    array([[1, 0],
           [1, 0],
           [0, 1],
           [0, 1]])
    """

    cuts: Cuts
    n_rows: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, X: Any, codes: Any, cuts: Cuts, n_classes: int = 1) -> LevelCounts:
        """Count the rows of a block.

        Parameters
        ----------
        X : float64 array or CSR matrix of shape (n_rows, n_features)
            Values, NaN where missing.
        codes : int array of shape (n_rows,) or None
            Class of each row, from 0; None if there is one class only.
        cuts : Cuts
            Where to cut the columns.
        n_classes : int
            Number of classes.
        """
        counts = np.zeros((n_classes, cuts.layout.first[-1]), dtype=np.int64)
        out = cls(cuts, np.zeros(n_classes, dtype=np.int64), counts)
        X = check_block(X, cuts.n_features)
        codes = check_codes(codes, X.shape[0], n_classes)
        for part, piece in dense_pieces(X):
            for k, rows in enumerate(rows_by_class(codes[part], n_classes)):
                for span in cuts.layout.spans:
                    bits = _is_narrow(span)
                    found = pack_span(piece, rows, span) if bits else code_span(piece, rows, span)
                    out.add(k, span, found)
                out.n_rows[k] += len(rows)
        return out

    def add(self, k: int, span: Span, found: np.ndarray) -> None:
        """Add rows of class ``k`` that have been packed (three axes) or coded (two)."""
        first = self.cuts.layout.first
        width = span.stop - span.start
        part = self.counts[k, first[span.start] : first[span.stop]].reshape(width, span.n_counted)
        count = count_planes if found.ndim == 3 else count_codes
        run_tiles(count, width, found, part, min_items=1 + _WORTH // max(1, found.shape[1]))

    def merge(self, other: LevelCounts) -> LevelCounts:
        """The counts of both sets of rows together."""
        if not self.cuts.equals(other.cuts):
            refuse_other_cuts()
        return LevelCounts(self.cuts, self.n_rows + other.n_rows, self.counts + other.counts)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.n_rows.sum())

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.counts.nbytes + self.n_rows.nbytes + self.cuts.nbytes

    def table(self, j: int, *, missing: str = "code") -> np.ndarray:
        """Counts of column ``j``: (levels, classes), missing values last if there are any.

        Bins without a row are among the levels. With ``missing="ignore"``, missing values are not.
        """
        layout = self.cuts.layout
        place = layout.place[j]
        counted = self.counts[:, layout.first[place] : layout.first[place + 1]]
        rest = self.n_rows - counted.sum(axis=1)
        gappy = bool(self.cuts.gaps[j])
        if gappy and (missing == "ignore" or not rest.any()):
            return counted.T.copy()
        return np.column_stack([counted, rest]).T


def _is_narrow(span: Span) -> bool:
    """Whether the columns of a span have few enough levels for bits."""
    return span.n_counted <= MOST_PACKED


def pack_span(X: np.ndarray, rows: np.ndarray, span: Span) -> np.ndarray:
    """Bits of the counted levels of some columns: (n_counted, n_words, width)."""
    width, n_words = span.stop - span.start, -(-len(rows) // 64)
    planes = np.empty((span.n_counted, n_words, width), dtype=np.uint64)
    least = 1 + _WORTH // (64 * width)
    bad = run_tiles(
        pack_rows, n_words, X, rows, span.columns, span.cuts, span.gappy, planes, min_items=least
    )
    if max(bad) >= 0:
        refuse_gap(max(bad))
    return planes


def code_span(X: np.ndarray, rows: np.ndarray, span: Span) -> np.ndarray:
    """Counted levels of some columns, -1 for the level that is not: (width, n_rows)."""
    width = span.stop - span.start
    codes = np.empty((width, len(rows)), dtype=np.int32)
    least = 1 + _WORTH // max(1, len(rows))
    bad = run_tiles(
        code_rows, width, X, rows, span.columns, span.cuts, span.gappy, codes, min_items=least
    )
    if max(bad) >= 0:
        refuse_gap(max(bad))
    return codes
