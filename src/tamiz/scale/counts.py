"""How many rows of each class every column has in each of its bins: counts that add.

Sixty-four rows at a time become one word per column and cut: a bit says whether the value lies
above the cut. The words of neighbouring cuts give those of the bins. Codes are never written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamiz.information.codes import MOST_PACKED
from tamiz.information.counting import count_ones
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale.batch import (
    check_block,
    check_codes,
    dense_pieces,
    refuse_missing,
    refuse_other_cuts,
    rows_by_class,
)
from tamiz.scale.cuts import Cuts, Span
from tamiz.scale.values import ValueCounts

#: Values that make a thread worth while, and columns that are packed together.
_WORTH = 100_000
_WIDTH = 256

_ZERO = np.uint64(0)


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

    @classmethod
    def from_values(cls, found: ValueCounts) -> LevelCounts:
        """From the counts of single values, now that all of them are known."""
        gaps = found.n_known < found.n_rows.sum()
        cuts = Cuts.of([part[:-1] for part in found.values], gaps)
        layout = cuts.layout
        counts = np.zeros((len(found.n_rows), layout.first[-1]), dtype=np.int64)
        for place, j in enumerate(layout.order.tolist()):
            table = found.counts[j][: layout.n_counted[place]]
            first = layout.first[place]
            counts[:, first : first + len(table)] = table.T
        return cls(cuts, found.n_rows, counts)

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
        incomplete = bool(self.cuts.gaps[j])
        if incomplete and (missing == "ignore" or not rest.any()):
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
        pack_rows,
        n_words,
        X,
        rows,
        span.columns,
        span.cuts,
        span.incomplete,
        planes,
        min_items=least,
    )
    if max(bad) >= 0:
        refuse_missing(max(bad))
    return planes


def code_span(X: np.ndarray, rows: np.ndarray, span: Span) -> np.ndarray:
    """Counted levels of some columns, -1 for the level that is not: (width, n_rows)."""
    width = span.stop - span.start
    codes = np.empty((width, len(rows)), dtype=np.int32)
    least = 1 + _WORTH // max(1, len(rows))
    bad = run_tiles(
        code_rows, width, X, rows, span.columns, span.cuts, span.incomplete, codes, min_items=least
    )
    if max(bad) >= 0:
        refuse_missing(max(bad))
    return codes


@njit(cache=True, nogil=True)
def pack_rows(start, stop, X, rows, columns, cuts, incomplete, planes):  # type: ignore[no-untyped-def]
    """Set the words ``start`` to ``stop`` of ``planes``; return missing values that are refused.

    Parameters
    ----------
    start, stop : int
        Range of words.
    X : float64 array of shape (n_rows, n_features)
        The table.
    rows : intp array
        The rows to pack, in this order.
    columns : intp array of shape (width,)
        The columns, all with equally many cuts.
    cuts : float64 array of shape (n_cuts, width)
        Their cuts.
    incomplete : bool
        Whether values may be missing. Then all bins are packed, else all but the last.
    planes : uint64 array of shape (n_counted, n_words, width)
        Where the bits go.

    Returns
    -------
    column : int
        A column of the table with a missing value although not ``incomplete``; -1 if there is none.
    """
    n_cuts, p = cuts.shape
    counted = planes.shape[0]
    known = np.empty(_WIDTH, dtype=np.uint64)
    above = np.empty((max(1, n_cuts), _WIDTH), dtype=np.uint64)
    line = np.empty(_WIDTH)
    bad = -1
    for j0 in range(0, p, _WIDTH):
        width = min(_WIDTH, p - j0)
        together = columns[j0 + width - 1] - columns[j0] == width - 1
        for w in range(start, stop):
            known[:] = _ZERO
            above[:] = _ZERO
            bit = np.uint64(1)
            full = _ZERO
            for i in range(64 * w, min(64 * w + 64, len(rows))):
                if together:
                    x = X[rows[i], columns[j0] : columns[j0] + width]
                else:
                    for l in range(width):
                        line[l] = X[rows[i], columns[j0 + l]]
                    x = line[:width]
                _mark_known(x, bit, known)
                for c in range(n_cuts):
                    _mark_above(x, cuts[c, j0 : j0 + width], bit, above[c])
                full |= bit
                bit <<= np.uint64(1)
            for c in range(counted):
                plane = planes[c, w, j0 : j0 + width]
                for l in range(width):
                    word = known[l] if c == 0 else above[c - 1, l]
                    plane[l] = word & ~above[c, l] if c < n_cuts else word
            if not incomplete:
                for l in range(width):
                    if known[l] != full:
                        bad = columns[j0 + l]
    return bad


@njit(cache=True, nogil=True)
def _mark_known(x, bit, known):  # type: ignore[no-untyped-def]
    for l in range(len(x)):
        known[l] |= bit if x[l] == x[l] else _ZERO


@njit(cache=True, nogil=True)
def _mark_above(x, cut, bit, above):  # type: ignore[no-untyped-def]
    for l in range(len(x)):
        above[l] |= bit if x[l] > cut[l] else _ZERO


@njit(cache=True, nogil=True)
def count_planes(start, stop, planes, out):  # type: ignore[no-untyped-def]
    """Number of bits of every plane and column: added to ``out[column, plane]``.

    The columns ``start`` to ``stop``.
    """
    counted, n_words, _ = planes.shape
    for c in range(counted):
        for w in range(n_words):
            for l in range(start, stop):
                out[l, c] += np.int64(count_ones(planes[c, w, l]))


@njit(cache=True, nogil=True)
def code_rows(start, stop, X, rows, columns, cuts, incomplete, out):  # type: ignore[no-untyped-def]
    """Counted level of the columns ``start`` to ``stop``, -1 for the one that is not counted.

    For columns with many cuts: each value is looked up. ``out`` has shape (n_columns, n_rows).
    Returns a column with a missing value although not ``incomplete``, or -1.
    """
    n_cuts = cuts.shape[0]
    bad = -1
    for l in range(start, stop):
        j = columns[l]
        for i in range(len(rows)):
            x = X[rows[i], j]
            if x != x:
                out[l, i] = -1
                if not incomplete:
                    bad = j
                continue
            low, high = 0, n_cuts  # the number of cuts below x lies between
            while low < high:
                middle = (low + high) // 2
                if x > cuts[middle, l]:
                    low = middle + 1
                else:
                    high = middle
            out[l, i] = low if incomplete or low < n_cuts else -1
    return bad


@njit(cache=True, nogil=True)
def count_codes(start, stop, codes, out):  # type: ignore[no-untyped-def]
    """Number of rows at each counted level: added to ``out[column, level]``."""
    for l in range(start, stop):
        for i in range(codes.shape[1]):
            if codes[l, i] >= 0:
                out[l, codes[l, i]] += 1
