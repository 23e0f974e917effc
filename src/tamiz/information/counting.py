"""Compiled: contingency tables of many pairs of columns from bits, and what follows from them.

A column of codes is held as one bit per sample and level. The samples that have level a in one
column and level b in another are the bits of the AND of two bit strings, and their number is its
population count, of which a vector instruction does up to 512 bits at a time. The marginals are
known beforehand, so the last row and the last column of a table follow from the others and
(r - 1)(c - 1) cells are counted in place of r c.

With n_ab the cells, n_a and n_b the marginals and f(n) = n log n,

    N I(X; Z) = f(N) + sum_ab f(n_ab) - sum_a f(n_a) - sum_b f(n_b),

in which every argument is a whole number between 0 and N: f is a table. The table holds fixed-point
numbers (whole numbers, scaled by a power of two), whose sums do not depend on the order of the
terms. So columns that are equal up to the names of their levels get exactly the same information,
and ties are ties.

The bits are laid out with the columns innermost, ``planes[level, word, column]``: a loop over
columns is then a loop over contiguous memory, whatever the number of samples. Words are taken four
at a time, so that the running counts are read and written once in four; pivots (the columns on one
side) are taken in blocks, so that the words of the other side stay in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

#: Columns of a tile, and the number of counts that a tile may hold (half a megabyte).
TILE = 256
SCRATCH = 65_536
MOST_PIVOTS = 32

#: Pivots of a tile of the matrix: the mirror image is written in pieces of this length.
HEIGHT = 64

#: Of independent columns, rounding of the table leaves a rest below 2**-FAINT of log N.
FAINT = 47

_ZERO = np.uint64(0)


@intrinsic  # type: ignore[untyped-decorator]
def _ones(typing_context: Any, word: Any) -> Any:
    """Number of bits that are set in a word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def pairs_rows(  # type: ignore[no-untyped-def]
    start, stop, pivots, margins, planes, column_margins, sums, f, whole, ratio, out
):
    """Information of every pivot with the columns from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop : int
        Range of columns.
    pivots : uint64 array of shape (n_pivots, r, n_words)
        Bits of the pivots.
    margins : uint64 array of shape (n_pivots, r)
        Samples at each level of the pivots.
    planes : uint64 array of shape (c, n_words, n_columns)
        Bits of the columns.
    column_margins : uint64 array of shape (c, n_columns)
        Samples at each level of the columns.
    sums : int64 array of shape (n_columns,)
        Sum of f over the levels of each column.
    f : int64 array of shape (n_samples + 1,)
        Table of n log n.
    whole : bool
        Whether every sample has a level in every column.
    ratio : bool
        Whether to divide twice the information by the sum of the entropies.
    out : float64 array of shape (n_pivots, n_columns)
        Where the result goes; in units of the table divided by the number of samples.
    """
    n_pivots, r = margins.shape
    c = planes.shape[0]
    nr, nc = (r - 1, c - 1) if whole else (r, c)
    most = min(n_pivots, max(1, min(MOST_PIVOTS, SCRATCH // max(1, nr * nc * TILE))))
    counts = np.empty((most, max(1, nr), max(1, nc), TILE), dtype=np.uint64)
    for j in range(start, stop, TILE):
        nj = min(TILE, stop - j)
        for i in range(0, n_pivots, most):
            ni = min(most, n_pivots - i)
            _count(pivots[i : i + ni], planes, j, nj, nr, nc, counts)
            for k in range(ni):
                _score(
                    counts[k],
                    margins[i + k],
                    column_margins,
                    sums,
                    j,
                    nj,
                    f,
                    whole,
                    ratio,
                    out[i + k, j : j + nj],
                )


@njit(cache=True, nogil=True)
def pairs_tiles(  # type: ignore[no-untyped-def]
    start,
    stop,
    tiles,
    pivots,
    margins,
    planes,
    column_margins,
    sums,
    f,
    whole,
    ratio,
    scale,
    rows,
    columns,
    out,
):
    """Fill tiles of a symmetric matrix: both ``out[rows, columns]`` and its mirror image.

    ``tiles`` lists the first pivot and the first column of each; ``rows`` and ``columns`` are the
    places of the pivots and the columns in the matrix.
    """
    n_pivots, r = margins.shape
    c, _, n_columns = planes.shape
    nr, nc = (r - 1, c - 1) if whole else (r, c)
    most = max(1, min(MOST_PIVOTS, SCRATCH // max(1, nr * nc * TILE)))
    counts = np.empty((most, max(1, nr), max(1, nc), TILE), dtype=np.uint64)
    block = np.empty((HEIGHT, TILE), dtype=np.float64)
    for t in range(start, stop):
        i0, j = tiles[t, 0], tiles[t, 1]
        total = min(HEIGHT, n_pivots - i0)
        nj = min(TILE, n_columns - j)
        for i in range(0, total, most):
            ni = min(most, total - i)
            _count(pivots[i0 + i : i0 + i + ni], planes, j, nj, nr, nc, counts)
            for k in range(ni):
                _score(
                    counts[k],
                    margins[i0 + i + k],
                    column_margins,
                    sums,
                    j,
                    nj,
                    f,
                    whole,
                    ratio,
                    block[i + k, :nj],
                )
        _write(block[:total, :nj], scale, rows[i0 : i0 + total], columns[j : j + nj], out)
        _write(block[:total, :nj].T, scale, columns[j : j + nj], rows[i0 : i0 + total], out)


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
def least_redundant(  # type: ignore[no-untyped-def]
    n_steps, alive, relevance, total, n_added, planes, margins, sums, f, scale, floor, order, values
):
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
    planes, margins, sums, f
        As in ``pairs_rows``; every sample has a level in every column.
    scale : float
        Unit of the information, in units of the table.
    floor : float
        If not negative, the quotient is taken in place of the difference, and information counts
        as this much at least.
    order, values : arrays of shape (n_steps,)
        The columns added and the value of the criterion of each.
    """
    r, n_words, p = planes.shape
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
            margin[a] = margins[a, k]
            for w in range(n_words):
                pivot[0, a, w] = planes[a, w, k]
        for j in range(0, p, TILE):
            nj = min(TILE, p - j)
            _count(pivot, planes, j, nj, r - 1, r - 1, counts)
            _information(counts[0], margin, margins, sums, j, nj, f, shared[:nj])
            for l in range(nj):
                value = shared[l] * inverse * scale
                total[j + l] += max(value, floor) if quotient else value


@njit(cache=True, nogil=True)
def pairs_counts(start, stop, pivot, planes, out):  # type: ignore[no-untyped-def]
    """Contingency tables of one pivot with columns: ``out[column, a, b]``, all cells counted."""
    r, c = pivot.shape[0], planes.shape[0]
    counts = np.empty((1, r, c, TILE), dtype=np.uint64)
    for j in range(start, stop, TILE):
        nj = min(TILE, stop - j)
        _count(pivot.reshape((1, r, pivot.shape[1])), planes, j, nj, r, c, counts)
        for l in range(nj):
            for a in range(r):
                for b in range(c):
                    out[j + l, a, b] += np.int64(counts[0, a, b, l])


@njit(cache=True, nogil=True)
def _count(pivots, planes, j, nj, nr, nc, counts):  # type: ignore[no-untyped-def]
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
        counts[l] += _ones(p0[l] & x0) + _ones(p1[l] & x1) + _ones(p2[l] & x2) + _ones(p3[l] & x3)


@njit(cache=True, nogil=True)
def _add_one(counts, p0, x0):  # type: ignore[no-untyped-def]
    for l in range(len(counts)):
        counts[l] += _ones(p0[l] & x0)


@njit(cache=True, nogil=True)
def _score(  # type: ignore[no-untyped-def]
    counts, margin, column_margins, sums, j, nj, f, whole, ratio, out
):
    """Information of one pivot with the columns of a tile."""
    if not whole:
        _score_gappy(counts, nj, f, ratio, out)
        return
    own = _information(counts, margin, column_margins, sums, j, nj, f, out)
    if ratio:
        total = f[len(f) - 1]
        for l in range(nj):
            entropy = float(total - own) + float(total - sums[j + l])
            out[l] = 2.0 * out[l] / entropy if out[l] > 0.0 else 0.0
    else:
        inverse = 1.0 / float(len(f) - 1)
        for l in range(nj):
            out[l] *= inverse


@njit(cache=True, nogil=True)
def _information(counts, margin, column_margins, sums, j, nj, f, out):  # type: ignore[no-untyped-def]
    """N times the information; returns the sum of f over the levels of the pivot."""
    total = f[len(f) - 1]
    own = np.int64(0)
    for a in range(len(margin)):
        own += f[margin[a]]
    if len(margin) == 3 and len(column_margins) == 3:
        _cells_three(
            counts[0, 0],
            counts[0, 1],
            counts[1, 0],
            counts[1, 1],
            margin[0],
            margin[1],
            margin[2],
            column_margins[0, j : j + nj],
            column_margins[1, j : j + nj],
            sums[j : j + nj],
            f,
            total - own,
            out,
        )
    else:
        _cells(counts, margin, column_margins[:, j : j + nj], sums[j : j + nj], f, total - own, out)
    least = float(total >> FAINT)
    for l in range(nj):
        out[l] = out[l] if out[l] >= least else 0.0
    return own


@njit(cache=True, nogil=True)
def _cells_three(  # type: ignore[no-untyped-def]
    n00, n01, n10, n11, m0, m1, m2, k0, k1, sums, f, base, out
):
    """Three levels on either side, the commonest case: the nine cells in one pass."""
    for l in range(len(out)):
        a, b, d, e = n00[l], n01[l], n10[l], n11[l]
        g = k0[l] - a - d
        h = k1[l] - b - e
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
def _score_gappy(counts, nj, f, ratio, out):  # type: ignore[no-untyped-def]
    """Where a level may be missing, the samples in which both are present are those that count.

    What they tell is multiplied by their share of all samples: see :class:`Codes`.
    """
    r, c = counts.shape[0], counts.shape[1]
    inverse = 1.0 / float(len(f) - 1)
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
        information = float(f[n] + cells - rows - columns)
        entropy = float(f[n] - rows) + float(f[n] - columns)
        least = float(f[n] >> FAINT)
        if information < least or n == _ZERO:
            out[l] = 0.0
        elif ratio:
            share = float(n) / float(len(f) - 1)
            out[l] = 2.0 * information / entropy * share if entropy > least else 0.0
        else:
            out[l] = information * inverse
