"""Rows and blocks of large dense matrices, moved and multiplied without intermediate copies."""

from __future__ import annotations

import numpy as np
from numba import njit

from tamiz.runtime.parallel import run_tiles


def take_block(matrix: np.ndarray, index: np.ndarray) -> np.ndarray:
    """``matrix[index][:, index]`` as a new contiguous array."""
    block = np.empty((len(index), len(index)), dtype=matrix.dtype)
    copy_block(matrix, index, block, np.arange(len(index)))
    return block


def add_rows(store: np.ndarray, slots: np.ndarray, coef: np.ndarray, result: np.ndarray) -> None:
    """``result += coef @ store[slots]`` in float64, without copying the rows together."""
    run_tiles(_add_rows, len(result), store, slots, coef, result, min_items=4096)


def copy_block(source: np.ndarray, old: np.ndarray, target: np.ndarray, new: np.ndarray) -> None:
    """``target[new][:, new] = source[old][:, old]``."""
    run_tiles(_copy_block, len(old), source, old, target, new, min_items=64)


@njit(cache=True, nogil=True)
def _copy_block(start, stop, source, old, target, new):  # type: ignore[no-untyped-def]
    for r in range(start, stop):
        row, out = source[old[r]], target[new[r]]
        for c in range(len(old)):
            out[new[c]] = row[old[c]]


@njit(cache=True, nogil=True)
def _add_rows(start, stop, store, slots, coef, result):  # type: ignore[no-untyped-def]
    """The columns ``start:stop`` of :func:`add_rows`, four rows at a time."""
    tile = 2048
    for s in range(start, stop, tile):
        e = min(s + tile, stop)
        out = result[s:e]
        k = 0
        while k + 4 <= len(slots):
            _add_four(
                out,
                store[slots[k], s:e],
                store[slots[k + 1], s:e],
                store[slots[k + 2], s:e],
                store[slots[k + 3], s:e],
                coef[k : k + 4],
            )
            k += 4
        while k < len(slots):
            row, c = store[slots[k], s:e], coef[k]
            for v in range(len(out)):
                out[v] += c * row[v]
            k += 1


@njit(cache=True, nogil=True)
def _add_four(out, r0, r1, r2, r3, c):  # type: ignore[no-untyped-def]
    c0, c1, c2, c3 = c[0], c[1], c[2], c[3]
    for v in range(len(out)):
        out[v] += (c0 * r0[v] + c1 * r1[v]) + (c2 * r2[v] + c3 * r3[v])
