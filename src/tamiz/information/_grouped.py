"""Compiled: information from codes, sample by sample, for any number of levels.

What is counted is the same as in :mod:`tamiz.information.counting`. Bits are the better way as
long as tables are small; here the work does not depend on the number of cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from tamiz.information.counting import FAINT

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


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
def grouped_planes(start, stop, order, bounds, planes, n_samples, f, ratio, out):  # type: ignore[no-untyped-def]
    """The same with columns given as bits."""
    r = planes.shape[0]
    codes = np.empty(n_samples, dtype=np.int32)
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
    return _measure(cells, rows, columns, f[n], n, len(f) - 1, ratio)


@njit(cache=True, nogil=True)
def _measure(cells, rows, columns, whole, n, n_samples, ratio):  # type: ignore[no-untyped-def]
    """Information or symmetrical uncertainty from the sums of f over a table and its margins.

    Times the share of all samples that the table holds: see :class:`Codes`.
    """
    information = float(whole + cells - rows - columns)
    least = float(whole >> FAINT)
    if n == 0 or information < least:
        return 0.0
    if ratio:
        entropy = float(whole - rows) + float(whole - columns)
        share = float(n) / float(n_samples)
        return 2.0 * information / entropy * share if entropy > least else 0.0
    return information * (1.0 / float(n_samples))
