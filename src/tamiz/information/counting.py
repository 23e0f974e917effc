"""Compiled: contingency tables of many pairs of columns from bits, and what follows from them.

A column of codes is held as one bit per sample and level. The samples that have level a in one
column and level b in another are the bits of the AND of two bit strings, and their number is its
population count, of which a vector instruction does up to 512 bits at a time. The marginals are
known beforehand, so the last row and the last column of a table follow from the others and
(r - 1)(c - 1) cells are counted in place of r c.

With n_ab the cells, n_a and n_b the marginals and f(n) = n log n,

    N I(X; Z) = f(N) + sum_ab f(n_ab) - sum_a f(n_a) - sum_b f(n_b),

in which every argument is a integer between 0 and N: f is a table. The table holds fixed-point
numbers (integers, scaled by a power of two), whose sums do not depend on the order of the
terms. So columns that are equal up to the names of their levels get exactly the same information,
and ties are ties.

The bits are laid out with the columns innermost, ``planes[level, word, column]``: a loop over
columns is then a loop over contiguous memory, whatever the number of samples. Words are taken four
at a time, so that the running counts are read and written once in four; pivots (the columns on one
side) are taken in blocks, so that the words of the other side stay in the cache.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from tamiz.runtime.compiling import njit

#: Columns of a tile, and the number of counts that a tile may hold (half a megabyte).
TILE = 256
SCRATCH = 65_536
MOST_PIVOTS = 32

#: Pivots of a tile of the matrix: the mirror image is written in pieces of this length.
HEIGHT = 64

#: Of independent columns, rounding of the table leaves a rest below 2**-FAINT of log N.
FAINT = 47

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@lru_cache(maxsize=4)
def log_table(n_samples: int) -> tuple[np.ndarray, float]:
    """n log n for n = 0, ..., N as fixed-point numbers, and their scale (a power of two).

    Sums of integers do not depend on their order, so equal tables of counts give equal
    information to the last bit, however their rows and columns are arranged. The scale leaves
    room for the sum of four entries.

    Examples
    --------
    >>> table, scale = log_table(8)
    >>> (table / scale).round(4)
    array([ 0.    ,  0.    ,  1.3863,  3.2958,  5.5452,  8.0472, 10.7506, 13.6214, 16.6355])
    """
    scale = fixed_point_scale(n_samples)
    return fixed_point(np.arange(n_samples + 1), scale), scale


def counting_unit(total: float, n_rows: int) -> float:
    """What weights are divided by to be of the size of counts: a power of two, 1 if they are.

    Examples
    --------
    >>> counting_unit(12.5, 10), counting_unit(5.0, 10), counting_unit(1e200, 10) > 1e198
    (1.0, 0.5, True)
    """
    if n_rows <= total < 2.0**52:
        return 1.0
    return float(2.0 ** np.floor(np.log2(total / n_rows)))


def fixed_point_scale(n_samples: int) -> float:
    """Scale of the fixed-point numbers for tables of so many samples."""
    most = n_samples * np.log(max(n_samples, 1))
    return 2.0 ** (60 - int(np.ceil(np.log2(max(most, 1.0)))))


def fixed_point(counts: np.ndarray, scale: float) -> np.ndarray:
    """n log n of some counts, or sums of weights, as the table has it."""
    n = counts.astype(np.float64)
    return np.rint(n * np.log(np.where(n > 0.0, n, 1.0)) * scale).astype(np.int64)


class Pivots(NamedTuple):
    """Packed columns that others are held against, one after the other."""

    bits: np.ndarray  # uint64 (pivots, levels, words)
    margins: np.ndarray  # uint64 (pivots, levels): samples at each level


class Planes(NamedTuple):
    """Packed columns of equally many levels, side by side."""

    bits: np.ndarray  # uint64 (levels, words, columns)
    margins: np.ndarray  # uint64 (levels, columns): samples at each level
    sums: np.ndarray  # int64 (columns,): f summed over the levels


class Measuring(NamedTuple):
    """How information is measured."""

    f: np.ndarray  # int64 (samples + 1,): the table of n log n
    complete: bool  # whether every sample has a level in every column
    ratio: bool  # whether to divide twice the information by the sum of the entropies
    scale: float  # factor of what goes into a matrix


@intrinsic  # type: ignore[untyped-decorator]
def count_ones(typing_context: Any, word: Any) -> Any:
    """Number of bits that are set in a word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def pairs(start, stop, pivots, planes, how, lines, tiles, places, matrix):  # type: ignore[no-untyped-def]
    """Information of pivots with columns, as lines or as tiles of a symmetric matrix.

    One function does both: each that Python calls has all those below compiled once more.

    Parameters
    ----------
    start, stop : int
        Range of columns; of tiles, if there are any.
    pivots : Pivots
        One side.
    planes : Planes
        The other side.
    how : Measuring
        What to measure.
    lines : float64 array of shape (n_pivots, n_columns)
        Where the result goes if there are no tiles; in units of the table divided by the number
        of samples.
    tiles : int array of shape (n_tiles, 2)
        The first pivot and the first column of each tile.
    places : (rows, columns)
        Places of the pivots and of the columns in the matrix.
    matrix : float array of shape (n_features, n_features)
        Where tiles and their mirror images go.
    """
    n_pivots, n_columns = len(pivots.bits), planes.bits.shape[2]
    nr, nc, most = _tile_shape(pivots, planes, how.complete)
    most = max(1, min(n_pivots, most))
    counts = np.empty((most, max(1, nr), max(1, nc), TILE), dtype=np.uint64)
    tiled = len(tiles) > 0
    into = np.empty((HEIGHT, TILE)) if tiled else lines
    for t in range(start, stop, 1 if tiled else TILE):
        if tiled:
            i0, j, at = tiles[t, 0], tiles[t, 1], 0
            height, nj = min(HEIGHT, n_pivots - i0), min(TILE, n_columns - j)
        else:
            i0, j, at = 0, t, t
            height, nj = n_pivots, min(TILE, stop - j)
        for i in range(0, height, most):
            ni = min(most, height - i)
            count_pairs(pivots.bits[i0 + i : i0 + i + ni], planes.bits, j, nj, nr, nc, counts)
            for k in range(ni):
                margin = pivots.margins[i0 + i + k]
                _score(counts[k], margin, planes, j, nj, how, into[i + k, at : at + nj])
        if tiled:
            rows, columns = places[0][i0 : i0 + height], places[1][j : j + nj]
            _write(into[:height, :nj], how.scale, rows, columns, matrix)
            _write(into[:height, :nj].T, how.scale, columns, rows, matrix)


@njit(cache=True, nogil=True)
def _tile_shape(pivots, planes, complete):  # type: ignore[no-untyped-def]
    """Levels that are counted on either side, and pivots whose counts a tile may hold."""
    r, c = pivots.bits.shape[1], planes.bits.shape[0]
    nr, nc = (r - 1, c - 1) if complete else (r, c)
    return nr, nc, max(1, min(MOST_PIVOTS, SCRATCH // max(1, nr * nc * TILE)))


@njit(cache=True, nogil=True)
def _write(block, scale, rows, columns, out):  # type: ignore[no-untyped-def]
    """``out[rows, columns] = scale * block``; the columns ascend."""
    height, width = block.shape
    first = columns[0]
    together = columns[width - 1] - first == width - 1
    for k in range(height):
        line = out[rows[k]]
        if together:
            for l in range(width):
                line[first + l] = block[k, l] * scale
        else:
            for l in range(width):
                line[columns[l]] = block[k, l] * scale


@njit(cache=True, nogil=True)
def least_redundant(n_steps, alive, relevance, total, n_added, planes, f, scale, floor):  # type: ignore[no-untyped-def]
    """Steps of a greedy search: the greatest relevance minus, or over, the mean information shared.

    Parameters
    ----------
    n_steps : int
        Number of columns to add.
    alive : bool array of shape (n_columns,)
        Columns that may still be added; changed in place.
    relevance : float64 array of shape (n_columns,)
        Relevance of the columns, which also breaks ties.
    total : float64 array of shape (n_columns,)
        Information that each column shares with those added so far, summed; changed in place.
    n_added : int
        How many those are.
    planes : Planes
        The columns; every sample has a level in every column.
    f : int64 array of shape (n_samples + 1,)
        Table of n log n.
    scale : float
        Unit of the information, in units of the table.
    floor : float
        If not negative, the quotient is taken in place of the difference, and information counts
        as this much at least.

    Returns
    -------
    order, values : arrays of shape (n_steps,)
        The columns added and the value of the criterion of each.
    """
    r, n_words, p = planes.bits.shape
    order, values = np.empty(n_steps, dtype=np.intp), np.empty(n_steps)
    pivot = np.empty((1, r, n_words), dtype=np.uint64)
    margin = np.empty(r, dtype=np.uint64)
    counts = np.empty((1, max(1, r - 1), max(1, r - 1), TILE), dtype=np.uint64)
    shared = np.empty(TILE, dtype=np.float64)
    quotient = floor >= 0.0
    inverse = 1.0 / float(len(f) - 1)
    for step in range(n_steps):
        best, k = -np.inf, -1
        m = float(n_added + step)
        for j in range(p):
            if alive[j]:
                value = relevance[j]
                if m > 0.0:
                    value = value * m / total[j] if quotient else value - total[j] / m
                if k < 0 or value > best or (value == best and relevance[j] > relevance[k]):
                    best, k = value, j
        order[step], values[step] = k, best
        alive[k] = False
        for a in range(r):
            margin[a] = planes.margins[a, k]
            for w in range(n_words):
                pivot[0, a, w] = planes.bits[a, w, k]
        for j in range(0, p, TILE):
            nj = min(TILE, p - j)
            count_pairs(pivot, planes.bits, j, nj, r - 1, r - 1, counts)
            _information(counts[0], margin, planes, j, nj, f, shared[:nj])
            for l in range(nj):
                value = shared[l] * inverse * scale
                total[j + l] += max(value, floor) if quotient else value
    return order, values


@njit(cache=True, nogil=True)
def pairs_counts(start, stop, pivot, planes, out):  # type: ignore[no-untyped-def]
    """Contingency tables of one pivot with columns: ``out[column, a, b]``, all cells counted."""
    r, c = pivot.shape[0], planes.shape[0]
    counts = np.empty((1, r, c, TILE), dtype=np.uint64)
    for j in range(start, stop, TILE):
        nj = min(TILE, stop - j)
        count_pairs(pivot.reshape((1, r, pivot.shape[1])), planes, j, nj, r, c, counts)
        for l in range(nj):
            for a in range(r):
                for b in range(c):
                    out[j + l, a, b] += np.int64(counts[0, a, b, l])


@njit(cache=True, nogil=True)
def count_pairs(pivots, planes, j, nj, nr, nc, counts):  # type: ignore[no-untyped-def]
    """``counts[i, a, b, l]``: samples with level a in pivot i and level b in column j + l."""
    n_words = planes.shape[1]
    ni = len(pivots)
    for i in range(ni):
        for a in range(nr):
            for b in range(nc):
                for l in range(nj):
                    counts[i, a, b, l] = _ZERO
    w = 0
    while w + 4 <= n_words:
        for b in range(nc):
            p0, p1 = planes[b, w, j : j + nj], planes[b, w + 1, j : j + nj]
            p2, p3 = planes[b, w + 2, j : j + nj], planes[b, w + 3, j : j + nj]
            for i in range(ni):
                for a in range(nr):
                    _add_four(
                        counts[i, a, b, :nj],
                        p0,
                        p1,
                        p2,
                        p3,
                        pivots[i, a, w],
                        pivots[i, a, w + 1],
                        pivots[i, a, w + 2],
                        pivots[i, a, w + 3],
                    )
        w += 4
    while w < n_words:
        for b in range(nc):
            for i in range(ni):
                for a in range(nr):
                    _add_one(counts[i, a, b, :nj], planes[b, w, j : j + nj], pivots[i, a, w])
        w += 1


@njit(cache=True, nogil=True)
def _add_four(counts, p0, p1, p2, p3, x0, x1, x2, x3):  # type: ignore[no-untyped-def]
    for l in range(len(counts)):
        counts[l] += (
            count_ones(p0[l] & x0)
            + count_ones(p1[l] & x1)
            + count_ones(p2[l] & x2)
            + count_ones(p3[l] & x3)
        )


@njit(cache=True, nogil=True)
def _add_one(counts, p0, x0):  # type: ignore[no-untyped-def]
    for l in range(len(counts)):
        counts[l] += count_ones(p0[l] & x0)


@njit(cache=True, nogil=True)
def _score(counts, margin, planes, j, nj, how, out):  # type: ignore[no-untyped-def]
    """Information of one pivot with the columns of a tile."""
    f = how.f
    if not how.complete:
        _score_incomplete(counts, nj, f, how.ratio, out)
        return
    own = _information(counts, margin, planes, j, nj, f, out)
    if how.ratio:
        total = f[len(f) - 1]
        for l in range(nj):
            entropy = float(total - own) + float(total - planes.sums[j + l])
            out[l] = 2.0 * out[l] / entropy if out[l] > 0.0 else 0.0
    else:
        inverse = 1.0 / float(len(f) - 1)
        for l in range(nj):
            out[l] *= inverse


@njit(cache=True, nogil=True)
def _information(counts, margin, planes, j, nj, f, out):  # type: ignore[no-untyped-def]
    """N times the information; returns the sum of f over the levels of the pivot."""
    total = f[len(f) - 1]
    own = np.int64(0)
    for a in range(len(margin)):
        own += f[margin[a]]
    margins, sums = planes.margins[:, j : j + nj], planes.sums[j : j + nj]
    if len(margin) == 3 and len(margins) == 3:
        first, second = planes.margins[0, j : j + nj], planes.margins[1, j : j + nj]
        _cells_three(counts, margin, first, second, sums, f, total - own, out)
    else:
        _cells(counts, margin, margins, sums, f, total - own, out)
    least = float(total >> FAINT)
    for l in range(nj):
        out[l] = out[l] if out[l] >= least else 0.0
    return own


@njit(cache=True, nogil=True)
def _cells_three(counts, margin, first, second, sums, f, base, out):  # type: ignore[no-untyped-def]
    """Three levels on either side, the commonest case: the nine cells in one pass."""
    n00, n01, n10, n11 = counts[0, 0], counts[0, 1], counts[1, 0], counts[1, 1]
    m0, m1, m2 = margin[0], margin[1], margin[2]
    for l in range(len(out)):
        a, b, d, e = n00[l], n01[l], n10[l], n11[l]
        g = first[l] - a - d
        h = second[l] - b - e
        total = f[a] + f[b] + f[m0 - a - b]
        total += f[d] + f[e] + f[m1 - d - e]
        total += f[g] + f[h] + f[m2 - g - h]
        out[l] = float(total - sums[l] + base)


@njit(cache=True, nogil=True)
def _cells(counts, margin, column_margins, sums, f, base, out):  # type: ignore[no-untyped-def]
    """Any number of levels; ``base`` is what the pivot's own marginals contribute."""
    r, c = len(margin), len(column_margins)
    nj = len(out)
    total = np.empty(nj, dtype=np.int64)
    left = np.empty(nj, dtype=np.uint64)
    corner = np.empty(nj, dtype=np.uint64)
    for l in range(nj):
        total[l] = base - sums[l]
        corner[l] = margin[r - 1]
    for a in range(r - 1):
        for l in range(nj):
            left[l] = margin[a]
        for b in range(c - 1):
            cell = counts[a, b]
            for l in range(nj):
                total[l] += f[cell[l]]
                left[l] -= cell[l]
        for l in range(nj):
            total[l] += f[left[l]]
    for b in range(c - 1):
        for l in range(nj):
            left[l] = column_margins[b, l]
        for a in range(r - 1):
            cell = counts[a, b]
            for l in range(nj):
                left[l] -= cell[l]
        for l in range(nj):
            total[l] += f[left[l]]
            corner[l] -= left[l]
    for l in range(nj):
        total[l] += f[corner[l]]
    for l in range(nj):
        out[l] = float(total[l])


@njit(cache=True, nogil=True)
def _score_incomplete(counts, nj, f, ratio, out):  # type: ignore[no-untyped-def]
    """Where a level may be missing, the samples in which both are present are those that count.

    What they tell is multiplied by their fraction of all samples: see
    :mod:`tamiz.information.codes`.
    """
    r, c = counts.shape[0], counts.shape[1]
    for l in range(nj):
        cells, rows, columns = np.int64(0), np.int64(0), np.int64(0)
        n = _ZERO
        for a in range(r):
            row = _ZERO
            for b in range(c):
                cells += f[counts[a, b, l]]
                row += counts[a, b, l]
            rows += f[row]
            n += row
        for b in range(c):
            column = _ZERO
            for a in range(r):
                column += counts[a, b, l]
            columns += f[column]
        out[l] = measure(cells, rows, columns, f[n], np.int64(n), len(f) - 1, ratio)


# ------------------------------------------------- sample by sample, for any number of levels


@njit(cache=True, nogil=True)
def measure(cells, rows, columns, whole, n, n_samples, ratio):  # type: ignore[no-untyped-def]
    """Information or symmetrical uncertainty from the sums of f over a table and its margins.

    Times the fraction of all samples that the table holds: see :mod:`tamiz.information.codes`.
    """
    information = float(whole + cells - rows - columns)
    least = float(whole >> FAINT)
    if n == 0 or information < least:
        return 0.0
    if ratio:
        entropy = float(whole - rows) + float(whole - columns)
        fraction = float(n) / float(n_samples)
        return 2.0 * information / entropy * fraction if entropy > least else 0.0
    return information * (1.0 / float(n_samples))


@njit(cache=True, nogil=True)
def measure_all(cells, rows, columns, whole, n, n_samples, ratio):  # type: ignore[no-untyped-def]
    """The same for many tables."""
    out = np.empty(len(cells))
    for j in range(len(out)):
        out[j] = measure(cells[j], rows[j], columns[j], whole[j], n[j], n_samples, ratio)
    return out


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Place of the lowest bit that is set; the word is not zero."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def grouped_rows(start, stop, order, bounds, codes, levels, f, ratio, out):  # type: ignore[no-untyped-def]
    """Information of one pivot with columns given as codes, for any number of levels.

    The samples are walked level by level of the pivot (``order`` from ``bounds[a]`` to
    ``bounds[a + 1]``), so that one row of the table exists at a time: the work is that of reading
    the column twice and the memory that of its levels, however many cells the table would have.

    ``codes`` has one row for each column, negative where missing; ``levels`` says how many codes
    each can have.
    """
    cell = np.zeros(levels.max(), dtype=np.int64)
    margin = np.zeros(levels.max(), dtype=np.int64)
    for j in range(start, stop):
        out[j] = _grouped(order, bounds, codes[j], levels[j], f, ratio, cell, margin)


@njit(cache=True, nogil=True)
def grouped_planes(start, stop, order, bounds, planes, f, ratio, out):  # type: ignore[no-untyped-def]
    """The same with columns given as bits."""
    r = planes.shape[0]
    codes = np.empty(len(f) - 1, dtype=np.int32)
    cell = np.zeros(r, dtype=np.int64)
    margin = np.zeros(r, dtype=np.int64)
    for j in range(start, stop):
        unpack(planes, j, codes)
        out[j] = _grouped(order, bounds, codes, r, f, ratio, cell, margin)


@njit(cache=True, nogil=True)
def unpack(planes, j, codes):  # type: ignore[no-untyped-def]
    """Write the codes of column ``j``, -1 where no level is set."""
    codes[:] = -1
    for b in range(planes.shape[0]):
        for w in range(planes.shape[1]):
            word = planes[b, w, j]
            while word != _ZERO:
                codes[64 * w + np.int64(_trailing_zeros(word))] = b
                word &= word - _ONE


@njit(cache=True, nogil=True)
def _grouped(order, bounds, codes, levels, f, ratio, cell, margin):  # type: ignore[no-untyped-def]
    cells, rows, columns = np.int64(0), np.int64(0), np.int64(0)
    n = 0
    for a in range(len(bounds) - 1):
        row = 0
        for s in range(bounds[a], bounds[a + 1]):
            b = codes[order[s]]
            if b >= 0:
                cell[b] += 1
                row += 1
        for s in range(bounds[a], bounds[a + 1]):
            b = codes[order[s]]
            if b >= 0 and cell[b] > 0:
                cells += f[cell[b]]
                margin[b] += cell[b]
                cell[b] = 0
        rows += f[row]
        n += row
    for b in range(levels):
        columns += f[margin[b]]
        margin[b] = 0
    return measure(cells, rows, columns, f[n], n, len(f) - 1, ratio)
