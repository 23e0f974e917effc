"""Columns of codes as bits: one per sample and level, in groups of equally many levels.

Codes are small integers, one per sample and column. The compiled functions make them from values,
and bits from them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tamiz.information.counting import HEIGHT, TILE, Pivots, Planes, log_table, unpack
from tamiz.runtime.compiling import njit
from tamiz.runtime.threads import run_tiles

#: Codes of this value are missing.
MISSING = 255

_HEIGHT, _WIDTH = 64, 256
_FEW_COLUMNS = 64


class Group(NamedTuple):
    """Packed columns that have the same number of levels."""

    features: np.ndarray  # their places among all features, ascending
    planes: Planes
    incomplete: bool  # whether samples may lack a level

    @property
    def n_levels(self) -> int:
        """Number of levels of each."""
        return self.planes.bits.shape[0]

    def take(self, which: np.ndarray, features: np.ndarray) -> Group:
        """Some of the columns, under other places."""
        bits, margins, sums = self.planes
        planes = Planes(
            np.ascontiguousarray(bits[:, :, which]),
            np.ascontiguousarray(margins[:, which]),
            sums[which],
        )
        return Group(features, planes, self.incomplete)

    def pivots(self, which: np.ndarray) -> Pivots:
        """Some of the columns, one after the other."""
        bits, margins, _ = self.planes
        return Pivots(
            np.ascontiguousarray(bits[:, :, which].transpose(2, 0, 1)),
            np.ascontiguousarray(margins[:, which].T),
        )


class Wide(NamedTuple):
    """Columns with too many levels for bits."""

    features: np.ndarray
    codes: np.ndarray  # int32 (columns, samples), negative where missing
    n_levels: np.ndarray


class Pivot:
    """One column that others are held against, as codes or as bits: each is made when needed.

    Parameters
    ----------
    codes : int32 array of shape (n_samples,)
        Codes, negative where missing.
    margins : uint64 array of shape (n_levels,)
        Samples at each level.
    """

    def __init__(self, codes: np.ndarray | None, margins: np.ndarray, n_samples: int):
        self._codes = codes
        self.margins = margins
        self.n_samples = n_samples
        self.n_levels = len(margins)

    @classmethod
    def of(cls, codes: np.ndarray, n_samples: int) -> Pivot:
        """From codes."""
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        if codes.shape != (n_samples,):
            raise ValueError(
                f"codes has shape {codes.shape}; it must hold one integer for each of the "
                f"{n_samples} samples."
            )
        n_levels = max(1, int(codes.max(initial=-1)) + 1)
        counts = np.bincount(np.maximum(codes, -1) + 1, minlength=n_levels + 1)
        return cls(codes, counts[1:].astype(np.uint64), n_samples)

    @classmethod
    def from_group(cls, group: Group, k: int, n_samples: int) -> Pivot:
        """Column ``k`` of a group."""
        pivot = cls(None, np.ascontiguousarray(group.planes.margins[:, k]), n_samples)
        pivot.bits = np.ascontiguousarray(group.planes.bits[:, :, k])
        return pivot

    @cached_property
    def incomplete(self) -> bool:
        """Whether samples lack a level."""
        return int(self.margins.sum()) < self.n_samples

    @property
    def codes(self) -> np.ndarray:
        """Codes, negative where missing."""
        if self._codes is None:
            self._codes = np.empty(self.n_samples, dtype=np.int32)
            unpack(self.bits[:, :, None], 0, self._codes)
        return self._codes

    @cached_property
    def bits(self) -> np.ndarray:
        """One bit per level and sample, in words of 64."""
        return pack_bits(self.codes, self.n_levels)

    @cached_property
    def order(self) -> np.ndarray:
        """Samples sorted by level, missing ones left out."""
        order = np.argsort(self.codes, kind="stable")
        return order[len(order) - int(self.margins.sum()) :]

    @cached_property
    def bounds(self) -> np.ndarray:
        """Where each level begins in the order."""
        return np.concatenate([[0], np.cumsum(self.margins.astype(np.int64))])


def pack_planes(codes: np.ndarray, rows: np.ndarray, n_levels: int) -> Planes:
    """Some columns (rows of ``codes``) as bits."""
    n_samples = codes.shape[1]
    bits = np.empty((n_levels, -(-n_samples // 64), len(rows)), dtype=np.uint64)
    margins = np.empty((n_levels, len(rows)), dtype=np.uint64)
    run_tiles(pack, len(rows), codes, rows, bits, margins, min_items=256)
    table, _ = log_table(n_samples)
    return Planes(bits, margins, table[margins].sum(axis=0))


def gather_wide(columns: dict[int, np.ndarray], n_samples: int, missing: str) -> Wide:
    """Columns of codes by place, put together."""
    features = np.array(sorted(columns), dtype=np.intp)
    codes = np.empty((len(features), n_samples), dtype=np.int32)
    n_levels = np.ones(len(features), dtype=np.int64)
    for k, j in enumerate(features):
        column = columns[j]
        if missing == "code" and (column < 0).any():
            column = np.where(column < 0, column.max() + 1, column)
        codes[k] = column
        n_levels[k] = max(1, int(column.max(initial=0)) + 1)
    return Wide(features, codes, n_levels)


def pack_bits(codes: np.ndarray, n_levels: int) -> np.ndarray:
    """One bit per level and sample, in words of 64."""
    n_words = -(-len(codes) // 64)
    hot = np.zeros((n_levels, 64 * n_words), dtype=bool)
    present = np.flatnonzero(codes >= 0)
    hot[codes[present], present] = True
    return np.packbits(hot, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def joint_codes(first: np.ndarray, second: Any) -> np.ndarray:
    """Codes of the pairs that occur, renumbered from 0; -1 where either is negative."""
    second = np.asarray(second)
    pairs = first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second
    pairs[(first < 0) | (second < 0)] = -1
    levels, codes = np.unique(pairs, return_inverse=True)
    return (codes - (levels[:1] < 0).sum()).astype(np.int32)


def place(part: np.ndarray, rows: np.ndarray, columns: np.ndarray, out: np.ndarray) -> None:
    """``out[rows, columns] = part``; slices, where the columns allow it, are much faster."""
    if columns[-1] - columns[0] == len(columns) - 1:
        out[rows, columns[0] : columns[-1] + 1] = part
    else:
        out[np.ix_(rows, columns)] = part


def target_codes(y: Any, n_samples: int) -> np.ndarray:
    """Codes of a target's labels."""
    y = np.asarray(y)
    if y.shape != (n_samples,):
        raise ValueError(
            f"y has shape {y.shape}; it must hold one label for each of the {n_samples} samples."
        )
    return np.unique(y, return_inverse=True)[1].astype(np.int32)


def tiles_of(n_pivots: int, n_columns: int, symmetric: bool) -> np.ndarray:
    """First pivot and first column of each tile; of a symmetric block, those on the upper side."""
    if n_pivots <= HEIGHT and n_columns <= TILE:
        return np.zeros((1, 2), dtype=np.intp)
    i, j = np.meshgrid(np.arange(0, n_pivots, HEIGHT), np.arange(0, n_columns, TILE), indexing="ij")
    tiles = np.stack([i.ravel(), j.ravel()], axis=1)
    if symmetric:
        tiles = tiles[tiles[:, 1] + TILE > tiles[:, 0]]
    return np.ascontiguousarray(tiles)


@njit(cache=True, nogil=True)
def compress(start, stop, codes, keep_missing, n_levels, incomplete):  # type: ignore[no-untyped-def]
    """Renumber the levels of each column so that all occur; change ``codes`` in place.

    Missing values become the last level if ``keep_missing``; otherwise they stay missing and the
    column is marked as ``incomplete``.
    """
    number = np.empty(256, dtype=np.uint8)
    seen = np.empty(256, dtype=np.bool_)
    for j in range(start, stop):
        seen[:] = False
        row = codes[j]
        for i in range(len(row)):
            seen[row[i]] = True
        r = 0
        for level in range(MISSING):
            if seen[level]:
                number[level] = r
                r += 1
        number[MISSING] = MISSING
        if seen[MISSING]:
            if keep_missing:
                number[MISSING] = r
                r += 1
            else:
                incomplete[j] = True
        n_levels[j] = r
        for i in range(len(row)):
            row[i] = number[row[i]]


@njit(cache=True, nogil=True)
def pack(start, stop, codes, columns, planes, margins):  # type: ignore[no-untyped-def]
    """Set the bits of ``columns[start:stop]`` (rows of ``codes``) and count them."""
    r, n_words, _ = planes.shape
    n = codes.shape[1]
    words = np.zeros(256, dtype=np.uint64)
    totals = np.zeros(256, dtype=np.uint64)
    for k in range(start, stop):
        row = codes[columns[k]]
        for b in range(r):
            totals[b] = 0
        for w in range(n_words):
            bit = np.uint64(1)
            for i in range(64 * w, min(64 * w + 64, n)):
                words[row[i]] |= bit
                totals[row[i]] += np.uint64(1)
                bit <<= np.uint64(1)
            for b in range(r):
                planes[b, w, k] = words[b]
                words[b] = 0
            words[MISSING] = 0
        for b in range(r):
            margins[b, k] = totals[b]


@njit(cache=True, nogil=True)
def apply_cuts(start, stop, X, cuts, out):  # type: ignore[no-untyped-def]
    """Codes of the columns ``start`` to ``stop`` of ``X``: how many cuts lie below each value.

    ``cuts`` has one column for each of ``X``, filled up with infinity. ``X`` goes by rows and
    ``out`` by columns, so a small tile is coded row by row and then turned.
    """
    n = X.shape[0]
    tile = np.empty((_HEIGHT, _WIDTH), dtype=np.uint8)
    for j0 in range(start, stop, _WIDTH):
        width = min(_WIDTH, stop - j0)
        for i0 in range(0, n, _HEIGHT):
            height = min(_HEIGHT, n - i0)
            for i in range(height):
                x, codes = X[i0 + i, j0 : j0 + width], tile[i, :width]
                _code_missing(x, codes)
                for k in range(len(cuts)):
                    _code_cut(x, cuts[k, j0 : j0 + width], codes)
            for j in range(width):
                for i in range(height):
                    out[j0 + j, i0 + i] = tile[i, j]


@njit(cache=True, nogil=True)
def _code_missing(x, codes):  # type: ignore[no-untyped-def]
    for j in range(len(x)):
        codes[j] = np.uint8(0) if x[j] == x[j] else np.uint8(MISSING)


@njit(cache=True, nogil=True)
def _code_cut(x, cut, codes):  # type: ignore[no-untyped-def]
    for j in range(len(x)):
        codes[j] += np.uint8(1) if x[j] > cut[j] else np.uint8(0)


@njit(cache=True, nogil=True)
def code_small_integers(start, stop, X, out, understood):  # type: ignore[no-untyped-def]
    """Codes of columns that hold integers within a range of 250; others are marked.

    ``X`` goes by rows and ``out`` by columns, so a few columns are walked row by row, and small
    tiles are turned.
    """
    n = X.shape[0]
    low, high = np.empty(_FEW_COLUMNS), np.empty(_FEW_COLUMNS)
    whole = np.empty(_FEW_COLUMNS, dtype=np.bool_)
    tile = np.empty((_HEIGHT, _FEW_COLUMNS), dtype=np.uint8)
    for j0 in range(start, stop, _FEW_COLUMNS):
        width = min(_FEW_COLUMNS, stop - j0)
        low[:], high[:], whole[:] = np.inf, -np.inf, True
        for i in range(n):
            _widen(X[i, j0 : j0 + width], low, high, whole)
        for j in range(width):
            understood[j0 + j] = whole[j] and not high[j] - low[j] > 250.0
            if not understood[j0 + j]:
                low[j] = np.nan
        for i0 in range(0, n, _HEIGHT):
            height = min(_HEIGHT, n - i0)
            for i in range(height):
                x = X[i0 + i, j0 : j0 + width]
                for j in range(width):
                    tile[i, j] = MISSING if not x[j] - low[j] >= 0.0 else np.uint8(x[j] - low[j])
            for j in range(width):
                if understood[j0 + j]:
                    for i in range(height):
                        out[j0 + j, i0 + i] = tile[i, j]


@njit(cache=True, nogil=True)
def _widen(x: Any, low: Any, high: Any, whole: Any) -> None:
    """Take the values of a row into the ranges of the columns."""
    for j in range(len(x)):
        if x[j] == x[j]:
            whole[j] = whole[j] and x[j] == np.floor(x[j])
            low[j] = min(low[j], x[j])
            high[j] = max(high[j], x[j])
