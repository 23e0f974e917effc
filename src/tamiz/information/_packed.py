"""Columns of codes as bits, in groups of equally many levels, and the column they are held to."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tamiz.information._grouped import unpack
from tamiz.information._packing import pack
from tamiz.information._table import log_table
from tamiz.information.counting import HEIGHT, TILE
from tamiz.runtime.parallel import run_tiles


class Group(NamedTuple):
    """Packed columns that have the same number of levels."""

    features: np.ndarray  # their places among all features, ascending
    planes: np.ndarray  # uint64 (levels, words, columns)
    margins: np.ndarray  # uint64 (levels, columns)
    sums: np.ndarray  # int64 (columns,): f summed over the levels
    gappy: bool  # whether samples may lack a level

    @property
    def n_levels(self) -> int:
        return self.planes.shape[0]


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
                f"codes has shape {codes.shape}; it must hold one whole number for each of the "
                f"{n_samples} samples."
            )
        n_levels = max(1, int(codes.max(initial=-1)) + 1)
        counts = np.bincount(np.maximum(codes, -1) + 1, minlength=n_levels + 1)
        return cls(codes, counts[1:].astype(np.uint64), n_samples)

    @classmethod
    def from_group(cls, group: Group, k: int, n_samples: int) -> Pivot:
        """Column ``k`` of a group."""
        pivot = cls(None, np.ascontiguousarray(group.margins[:, k]), n_samples)
        pivot.bits = np.ascontiguousarray(group.planes[:, :, k])
        return pivot

    @cached_property
    def gappy(self) -> bool:
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


def pack_group(
    codes: np.ndarray, rows: np.ndarray, features: np.ndarray, n_levels: int, gappy: bool
) -> Group:
    n_samples = codes.shape[1]
    planes = np.empty((n_levels, -(-n_samples // 64), len(rows)), dtype=np.uint64)
    margins = np.empty((n_levels, len(rows)), dtype=np.uint64)
    run_tiles(pack, len(rows), codes, rows, planes, margins, min_items=256)
    table, _ = log_table(n_samples)
    return Group(features.astype(np.intp), planes, margins, table[margins].sum(axis=0), gappy)


def gather_wide(columns: dict[int, np.ndarray], n_samples: int, missing: str) -> Wide:
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


def pivots_of(group: Group, places: np.ndarray) -> np.ndarray:
    """Bits of some columns of a group, one column after the other."""
    return np.ascontiguousarray(group.planes[:, :, places].transpose(2, 0, 1))


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
