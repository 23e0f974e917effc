"""Tables of all pairs of columns within each class, counted batch by batch.

A batch is split by class and packed (see :mod:`tamiz.scale.counts`); the tables are population
counts of bits, as in :mod:`tamiz.information`. The sum over the classes is the table of the pair,
and the tables of the classes tell what two columns say together: mRMR, QPFS and CFS need the
former, JMI and CMIM the latter, and all come from one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tamiz.information.codes import MOST_CELLS, MOST_PACKED
from tamiz.information.counting import MOST_PIVOTS, SCRATCH, TILE, count_pairs
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles
from tamiz.scale.batch import (
    check_block,
    check_codes,
    dense_pieces,
    refuse_other_cuts,
    rows_by_class,
)
from tamiz.scale.counts import LevelCounts, code_span, pack_span
from tamiz.scale.cuts import Cuts, Span

#: Bytes of packed bits that are held at a time, and rows where columns are coded as well.
_PACKED = 2**25
_CODED_ROWS = 16_384

#: Pivots of a tile.
_HEIGHT = 32


class _Places(NamedTuple):
    """Where the tables of pivots are, among all cells."""

    offset: np.ndarray  # int64 (pivots,): where the table of each begins
    length: np.ndarray  # int64 (pivots,): length of one of its lines
    column: np.ndarray  # int64 (pivots,): place in a line of the first column


@dataclass(eq=False)
class PairCounts:
    """Contingency tables of pairs of columns, for every class.

    Memory: with K classes and M counted levels in all (one less than there are bins for a column
    without missing values), 4 K M (M + 1) bytes for all pairs, and 8 K m M for a pivot of m
    levels; whatever the number of rows. Sums are exact.

    Attributes
    ----------
    levels : LevelCounts
        Tables of the single columns.
    pivots : int array or None
        Places (in ``cuts.layout``) of the columns whose pairs with all others are counted; None
        if all are, and each pair is kept once.
    counts : int array of shape (n_classes, n_cells)
        The cells.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.scale import Cuts, PairCounts
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    >>> cuts = Cuts.of([[0.5], [0.5]], gaps=False)
    >>> parts = [PairCounts.of(X[rows], None, cuts) for rows in (slice(3), slice(3, 4))]
    >>> parts[0].merge(parts[1]).table(0, 1)
    array([[1, 1],
           [0, 2]])
    """

    levels: LevelCounts
    pivots: np.ndarray | None
    counts: np.ndarray

    @classmethod
    def empty(cls, cuts: Cuts, n_classes: int = 1, pivots: Any = None) -> PairCounts:
        """Tables of no rows."""
        pivots = None if pivots is None else np.unique(np.asarray(pivots, dtype=np.intp))
        levels = LevelCounts(
            cuts,
            np.zeros(n_classes, dtype=np.int64),
            np.zeros((n_classes, cuts.layout.first[-1]), dtype=np.int64),
        )
        cells = cls.size(cuts, 1, pivots) // 8
        return cls(levels, pivots, np.zeros((n_classes, cells), dtype=np.int64))

    @classmethod
    def of(
        cls, X: Any, codes: Any, cuts: Cuts, n_classes: int = 1, pivots: Any = None
    ) -> PairCounts:
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
        pivots : int array, optional
            Places of the columns to count against all; all pairs by default.
        """
        return cls.empty(cuts, n_classes, pivots).update(X, codes)

    @staticmethod
    def size(cuts: Cuts, n_classes: int, pivots: np.ndarray | None = None) -> int:
        """Memory in bytes that the tables would take."""
        layout = cuts.layout
        lengths = layout.first[-1] - (
            layout.first[:-1] if pivots is None else np.zeros(len(pivots))
        )
        m = layout.n_counted if pivots is None else layout.n_counted[pivots]
        return 8 * n_classes * int((m * lengths).sum())

    @property
    def cuts(self) -> Cuts:
        """Where the columns are cut."""
        return self.levels.cuts

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.counts.nbytes + self.levels.nbytes

    def update(self, X: Any, codes: Any) -> PairCounts:
        """Add the rows of a block, in place."""
        n_classes = len(self.counts)
        X = check_block(X, self.cuts.n_features)
        codes = check_codes(codes, X.shape[0], n_classes)
        spans = self.cuts.layout.spans
        most = max(4096, 8 * _PACKED // max(1, int(self.cuts.layout.first[-1])))
        if len(spans) and spans[-1].n_counted ** 2 > MOST_CELLS:
            most = min(most, _CODED_ROWS)
        for part, piece in dense_pieces(X, most):
            for k, rows in enumerate(rows_by_class(codes[part], n_classes)):
                if len(rows):
                    self._count(k, piece, rows)
        return self

    def merge(self, other: PairCounts) -> PairCounts:
        """The counts of both sets of rows together."""
        same = (self.pivots is None) == (other.pivots is None)
        if not same or not np.array_equal(self._pivots(), other._pivots()):
            refuse_other_cuts()
        levels = self.levels.merge(other.levels)
        return PairCounts(levels, self.pivots, self.counts + other.counts)

    def block(self, place: int) -> np.ndarray:
        """Tables of the counted levels of one place with all: (n_classes, m, n_counted)."""
        layout = self.cuts.layout
        m, total = int(layout.n_counted[place]), int(layout.first[-1])
        offset = self._offsets()
        if self.pivots is not None:
            at = int(offset[np.searchsorted(self.pivots, place)])
            return self.counts[:, at : at + m * total].reshape(len(self.counts), m, total)
        block = np.empty((len(self.counts), m, total), dtype=np.int64)
        _gather_block(place, layout.first, offset, self.counts, block)
        return block

    def table(self, i: int, j: int, k: int | None = None) -> np.ndarray:
        """Counted levels of column ``i`` and ``j`` (rows, columns) and, last, all other rows.

        Of class ``k``, or of all rows.
        """
        layout = self.cuts.layout
        s, t = layout.place[i], layout.place[j]
        inner = self.block(s)[:, :, layout.first[t] : layout.first[t + 1]]
        own, other = (self.levels.counts[:, layout.first[q] : layout.first[q + 1]] for q in (s, t))
        right = own - inner.sum(axis=2)
        below = other - inner.sum(axis=1)
        corner = self.levels.n_rows - own.sum(axis=1) - below.sum(axis=1)
        tables = np.concatenate([inner, below[:, None, :]], axis=1)
        edge = np.concatenate([right, corner[:, None]], axis=1)
        tables = np.concatenate([tables, edge[:, :, None]], axis=2)
        return tables.sum(axis=0) if k is None else tables[k]

    def _pivots(self) -> np.ndarray:
        return np.arange(self.cuts.n_features) if self.pivots is None else self.pivots

    def _offsets(self) -> np.ndarray:
        """Where the table of each pivot begins."""
        layout = self.cuts.layout
        total = layout.first[-1]
        if self.pivots is None:
            sizes = layout.n_counted * (total - layout.first[:-1])
        else:
            sizes = layout.n_counted[self.pivots] * total
        return np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)

    def _count(self, k: int, X: np.ndarray, rows: np.ndarray) -> None:
        """Add rows of class ``k``."""
        spans = self.cuts.layout.spans
        packed: list[Any] = []
        coded: dict[int, np.ndarray] = {}

        def codes_of(number: int) -> np.ndarray:
            if number not in coded:
                coded[number] = code_span(X, rows, spans[number])
            return coded[number]

        for number, span in enumerate(spans):
            narrow = span.n_counted <= MOST_PACKED
            packed.append(pack_span(X, rows, span) if narrow else None)
            self.levels.add(k, span, packed[-1] if narrow else codes_of(number))
        for a, left in enumerate(spans):
            which, where = self._of_span(left)
            if not len(which) or left.n_counted == 0:
                continue
            inside = None  # the bits of the pivots, once they are needed
            for b, right in enumerate(spans):
                if right.n_counted == 0 or (self.pivots is None and b < a):
                    continue
                triangular = self.pivots is None and a == b
                places = self._places(which, right)
                cells = left.n_counted * right.n_counted
                if packed[a] is None or packed[b] is None or cells > MOST_CELLS:
                    x, z = codes_of(a)[where], codes_of(b)
                    args = x, z, right.n_counted, places, triangular, self.counts[k]
                    run_tiles(_count_coded, len(x), *args)
                    continue
                if inside is None:
                    inside = np.ascontiguousarray(packed[a][:, :, where].transpose(2, 0, 1))
                tiles = _tiles(len(where), right.stop - right.start, triangular)
                packing = tiles, inside, packed[b], places, triangular, self.counts[k]
                run_tiles(_count_tiles, len(tiles), *packing)
        self.levels.n_rows[k] += len(rows)

    def _of_span(self, span: Span) -> tuple[np.ndarray, np.ndarray]:
        """Which of the pivots a span holds, and where they are in it."""
        pivots = self._pivots()
        which = np.flatnonzero((pivots >= span.start) & (pivots < span.stop))
        return which, pivots[which] - span.start

    def _places(self, which: np.ndarray, right: Span) -> _Places:
        """Where the tables of some pivots with a span go."""
        first = self.cuts.layout.first
        before = first[which] if self.pivots is None else np.zeros(len(which), dtype=np.int64)
        return _Places(self._offsets()[which], first[-1] - before, first[right.start] - before)


def _tiles(n_pivots: int, n_columns: int, triangular: bool) -> np.ndarray:
    """Blocks of pivots and the columns they are held against.

    Of a triangle, long and short ones take turns, so that threads get equal work.
    """
    first = np.arange(0, n_pivots, _HEIGHT)
    if triangular:
        first = np.column_stack([first, first[::-1]]).ravel()[: len(first)]
    last = np.minimum(first + _HEIGHT, n_pivots)
    start = first if triangular else np.zeros_like(first)
    return np.column_stack([first, last, start, np.full_like(first, n_columns)]).astype(np.intp)


@njit(cache=True, nogil=True)
def _count_tiles(start, stop, tiles, pivots, planes, places, triangular, out):  # type: ignore[no-untyped-def]
    """Add the tables of the pivots and columns of some tiles.

    Parameters
    ----------
    start, stop : int
        Range of tiles.
    tiles : intp array of shape (n_tiles, 4)
        First and last pivot, first and last column (the last are excluded).
    pivots : uint64 array of shape (n_pivots, r, n_words)
        Bits of the pivots.
    planes : uint64 array of shape (c, n_words, n_columns)
        Bits of the columns.
    places : _Places
        Where the tables go.
    triangular : bool
        Whether the pivots are the columns and a pair is counted once.
    out : int64 array
        All tables.
    """
    offset, length, column = places
    r, c = pivots.shape[1], planes.shape[0]
    most = max(1, min(MOST_PIVOTS, SCRATCH // max(1, r * c * TILE)))
    counts = np.empty((most, r, c, TILE), dtype=np.uint64)
    for t in range(start, stop):
        last = tiles[t, 1]
        for i in range(tiles[t, 0], last, most):
            ni = min(most, last - i)
            for j in range(tiles[t, 2], tiles[t, 3], TILE):
                nj = min(TILE, tiles[t, 3] - j)
                count_pairs(pivots[i : i + ni], planes, j, nj, r, c, counts)
                for k in range(ni):
                    skip = max(0, i + k - j) if triangular else 0
                    base = offset[i + k] + column[i + k]
                    for a in range(r):
                        at = base + a * length[i + k] + j * c
                        for l in range(skip, nj):
                            for b in range(c):
                                out[at + l * c + b] += np.int64(counts[k, a, b, l])


@njit(cache=True, nogil=True)
def _count_coded(start, stop, pivots, columns, c, places, triangular, out):  # type: ignore[no-untyped-def]
    """The same from codes, row by row, for the pivots ``start`` to ``stop``; -1 is not counted."""
    offset, length, column = places
    for i in range(start, stop):
        base = offset[i] + column[i]
        x = pivots[i]
        for j in range(i if triangular else 0, len(columns)):
            z = columns[j]
            first = base + j * c
            for q in range(len(x)):
                if x[q] >= 0 and z[q] >= 0:
                    out[first + x[q] * length[i] + z[q]] += 1


@njit(cache=True, nogil=True)
def _gather_block(place, first, offset, counts, block):  # type: ignore[no-untyped-def]
    """Tables of one place with all others, from those of which each pair was kept once.

    ``block[k, level, first[t] + b]`` becomes the rows of class k with that level of the place and
    level b of place t.
    """
    n_classes, m, total = block.shape
    for k in range(n_classes):
        for t in range(place):
            length = total - first[t]
            for b in range(first[t + 1] - first[t]):
                at = offset[t] + b * length + first[place] - first[t]
                for a in range(m):
                    block[k, a, first[t] + b] = counts[k, at + a]
        length = total - first[place]
        for a in range(m):
            at = offset[place] + a * length
            for q in range(length):
                block[k, a, first[place] + q] = counts[k, at + q]
