"""Compiled: tables of pairs of columns from bits or codes, and taken apart again."""

from __future__ import annotations

import numpy as np
from numba import njit

from tamiz.information.counting import MOST_PIVOTS, SCRATCH, TILE, _count


@njit(cache=True, nogil=True)
def count_tiles(start, stop, tiles, pivots, planes, offset, length, column, triangular, out):  # type: ignore[no-untyped-def]
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
    offset, length : int64 arrays of shape (n_pivots,)
        Where the table of each pivot begins, and the length of one of its lines.
    column : int64 array of shape (n_pivots,)
        Place in a line of the first column.
    triangular : bool
        Whether the pivots are the columns and a pair is counted once.
    out : int64 array
        All tables.
    """
    r, c = pivots.shape[1], planes.shape[0]
    most = max(1, min(MOST_PIVOTS, SCRATCH // max(1, r * c * TILE)))
    counts = np.empty((most, r, c, TILE), dtype=np.uint64)
    for t in range(start, stop):
        last = tiles[t, 1]
        for i in range(tiles[t, 0], last, most):
            ni = min(most, last - i)
            for j in range(tiles[t, 2], tiles[t, 3], TILE):
                nj = min(TILE, tiles[t, 3] - j)
                _count(pivots[i : i + ni], planes, j, nj, r, c, counts)
                for k in range(ni):
                    skip = max(0, i + k - j) if triangular else 0
                    base = offset[i + k] + column[i + k]
                    for a in range(r):
                        at = base + a * length[i + k] + j * c
                        for l in range(skip, nj):
                            for b in range(c):
                                out[at + l * c + b] += np.int64(counts[k, a, b, l])


@njit(cache=True, nogil=True)
def count_coded(start, stop, pivots, columns, r, c, offset, length, column, triangular, out):  # type: ignore[no-untyped-def]
    """The same from codes, row by row, for the pivots ``start`` to ``stop``; -1 is not counted."""
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
def gather_block(place, first, offset, counts, block):  # type: ignore[no-untyped-def]
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


@njit(cache=True, nogil=True)
def expand_tables(  # type: ignore[no-untyped-def]
    place, targets, block, levels, n_rows, first, rest, with_rest, by_class, cells, rows, columns
):
    """Whole tables of one place (its columns) with others (their rows), and their margins.

    Parameters
    ----------
    place : int
        The place.
    targets : intp array
        The other places.
    block : int64 array of shape (n_classes, m, n_counted)
        Tables of the counted levels.
    levels : int64 array of shape (n_classes, n_counted)
        Rows at each counted level.
    n_rows : int64 array of shape (n_classes,)
        Rows of each class.
    first : int64 array
        Where the counted levels of each place begin.
    rest : bool array of shape (n_places,)
        Whether the level that is not counted is part of the table, for the other places.
    with_rest : bool
        The same for the place itself.
    by_class : bool
        Whether the columns are pairs of level and class, or levels.
    cells, rows, columns : int64 arrays
        Where the cells and margins go, one table after the other; zero at first.
    """
    n_classes, m, _ = block.shape
    width = m + 1 if with_rest else m
    n_columns = width * n_classes if by_class else width
    cell, row, column = 0, 0, 0
    for t in targets:
        r = first[t + 1] - first[t]
        height = r + 1 if rest[t] else r
        for k in range(n_classes):
            shift = k * width if by_class else 0
            for a in range(r + 1):
                own = n_rows[k]  # of the rows at level a of t: those at no counted level of place
                if a < r:
                    own = levels[k, first[t] + a]
                else:
                    for other in range(r):
                        own -= levels[k, first[t] + other]
                if a == height:
                    break
                for b in range(m):
                    if a < r:
                        n = block[k, b, first[t] + a]
                    else:
                        n = levels[k, first[place] + b]
                        for other in range(r):
                            n -= block[k, b, first[t] + other]
                    own -= n
                    cells[cell + a * n_columns + shift + b] += n
                    rows[row + a] += n
                    columns[column + shift + b] += n
                if with_rest:
                    cells[cell + a * n_columns + shift + m] += own
                    rows[row + a] += own
                    columns[column + shift + m] += own
        cell += height * n_columns
        row += height
        column += n_columns
