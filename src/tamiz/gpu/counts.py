"""Mutual information of columns of bits with others, on a card.

The counts are those of :mod:`tamiz.information.counting`, and so is what follows from them:
integers and a table of n log n in fixed point, whose sums do not depend on the order. Results are
the same to the last bit.

A column has one bit per sample and level. The last level of one that has a level in every sample
follows from its margins and is not kept. Columns stand in panels of 128, ``bits[panel, level, word,
column]``: a block of threads reads a panel from its beginning to its end.

What a card has to do, for 16,063 columns of 198 samples and three levels, all pairs: 129 million
pairs of 4 counts of 4 words are 2.1e9 population counts of 64 bits, each two of the card's; at 16
in a clock on each of 132 processors of 1.7 GHz that takes 1.1 ms. 9 entries of the table for each
pair, from shared memory, should take about as long. 1 MB of bits is read, from the cache, and 1 GB
(float32) is written: 0.25 ms at 4.3 TB/s. As a product of matrices of zeros and ones the counting
itself would take less (0.2 TFLOP), but its 0.5e9 counts would be written, read, and looked up in
nine passes over them: 30 GB, 7 ms. One of 4 million columns of 16,000 samples against all others is
4e9 counts of 64 bits (2.2 ms) and 16 GB (3.7 ms): the memory decides, and a product of matrices
would read eight times as much, a byte for each bit.

These are operations and bytes over the rates of the card, not times that were measured.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tamiz.gpu.lane import Lane
from tamiz.gpu.program import has_compiler, kernel

#: Columns of a panel, and threads of a block.
WIDTH = 128

#: Of independent columns, rounding of the table leaves a rest below 2**-FAINT of it.
FAINT = 47

#: Cells that follow from the others left out, the counts of a table that a thread can hold.
_FEW = 16

#: Pivots of a block where there are several, and counts that a thread holds at most.
_PIVOTS = 8
_HELD = 32

#: Entries of the table of n log n that fit into the shared memory of a block.
_TABLE = 1024

#: Blocks in the second direction of a grid.
_MOST_BLOCKS = 32_768

_ONES = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)


class CardTable(NamedTuple):
    """The table of n log n on the card."""

    f: Any  # int64 (samples + 1,)
    n_samples: int
    scale: float  # factor of the results that are not ratios


class Panels(NamedTuple):
    """Columns of equally many levels on the card; a panel may be filled up with columns of none."""

    bits: Any  # uint64 (panels, levels kept, words, WIDTH)
    margins: Any  # int32 (panels, levels, WIDTH): samples at each level
    sums: Any  # int64 (panels, WIDTH): f summed over the levels
    places: Any  # int32 (panels, WIDTH): column of the result, -1 for none
    greatest: Any  # int32 (panels,): the greatest place of each panel

    @property
    def n_levels(self) -> int:
        """Number of levels of each column."""
        return int(self.margins.shape[1])

    @property
    def complete(self) -> bool:
        """Whether every sample has a level in every column; the last level is then not kept."""
        return int(self.bits.shape[1]) < self.n_levels


class CardPivots(NamedTuple):
    """Columns of equally many levels that others are held against, on the card."""

    bits: Any  # uint64 (pivots, levels + 1, words): behind the levels the samples that have one
    margins: Any  # int32 (pivots, levels)
    sums: Any  # int64 (pivots,)
    rows: np.ndarray  # int32 (pivots,): row of the result, on the host
    complete: bool

    @property
    def n_levels(self) -> int:
        """Number of levels of each column."""
        return int(self.margins.shape[1])


class Wanted(NamedTuple):
    """What is measured, and where it goes."""

    out: Any  # float64 or float32 (rows, columns) on the card
    ratio: bool = False  # symmetrical uncertainty in the place of information
    mirror: bool = False  # write each value at its mirror image, too
    half: bool = False  # only what is not before the pivots, if that spares work


def panel_bytes(n_levels: int, complete: bool, n_samples: int) -> int:
    """Memory of a panel."""
    kept = n_levels - 1 if complete else n_levels
    return WIDTH * (8 * kept * -(-n_samples // 64) + 4 * n_levels + 12) + 4


def to_panels(
    lane: Lane, bits: np.ndarray, margins: np.ndarray, places: np.ndarray, complete: bool, f: Any
) -> Panels:
    """Copy columns to the card.

    Parameters
    ----------
    lane : Lane
        Where to.
    bits : uint64 array of shape (n_levels, n_words, n_columns)
        The columns, as :class:`tamiz.information.counting.Planes` has them.
    margins : array of shape (n_levels, n_columns)
        Samples at each level.
    places : int array of shape (n_columns,)
        The columns of the result.
    complete : bool
        Whether every sample has a level in every column.
    f : int64 array of shape (n_samples + 1,)
        The table of n log n, on the host.
    """
    n_levels, n_words, n_columns = bits.shape
    n_panels = -(-n_columns // WIDTH)
    kept = n_levels - 1 if complete else n_levels
    filled = n_panels * WIDTH
    own = np.full(filled, -1, dtype=np.int32)
    own[:n_columns] = places
    counts = np.zeros((n_levels, filled), dtype=np.int32)
    counts[:, :n_columns] = margins
    sums = f[counts].sum(axis=0)
    flat = lane.xp.zeros((kept, n_words, filled), dtype=np.uint64)
    flat[:, :, :n_columns] = lane.to_device(bits[:kept])
    shaped = flat.reshape(kept, n_words, n_panels, WIDTH)
    return Panels(
        lane.xp.ascontiguousarray(shaped.transpose(2, 0, 1, 3)),
        lane.to_device(counts.reshape(n_levels, n_panels, WIDTH).transpose(1, 0, 2)),
        lane.to_device(sums.reshape(n_panels, WIDTH)),
        lane.to_device(own.reshape(n_panels, WIDTH)),
        lane.to_device(own.reshape(n_panels, WIDTH).max(axis=1)),
    )


def join_panels(lane: Lane, parts: list[Panels]) -> Panels:
    """Panels of equally many levels, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Panels(*(lane.xp.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def to_pivots(
    lane: Lane, bits: np.ndarray, margins: np.ndarray, rows: np.ndarray, n_samples: int, f: Any
) -> CardPivots:
    """Copy pivots to the card: ``bits[pivot, level, word]``, ``margins[pivot, level]``."""
    known = np.bitwise_or.reduce(bits, axis=1)[:, None, :]
    complete = bool((margins.sum(axis=1) == np.uint64(n_samples)).all())
    return CardPivots(
        lane.to_device(np.concatenate([bits, known], axis=1)),
        lane.to_device(margins.astype(np.int32)),
        lane.to_device(f[margins].sum(axis=1)),
        np.asarray(rows, dtype=np.int32),
        complete,
    )


def as_pivots(lane: Lane, panels: Panels, n_samples: int) -> CardPivots:
    """All columns of some panels as pivots, without a way over the host; rows are their places."""
    xp = lane.xp
    n_panels, kept, n_words, _ = panels.bits.shape
    n_levels = panels.n_levels
    places = lane.to_host(panels.places).ravel()
    there = np.flatnonzero(places >= 0)
    which = lane.to_device(there)
    bits = xp.zeros((n_panels * WIDTH, n_levels + 1, n_words), dtype=np.uint64)
    turned = panels.bits.transpose(0, 3, 1, 2)
    bits[:, :kept] = turned.reshape(n_panels * WIDTH, kept, n_words)
    for level in range(kept):
        bits[:, n_levels] |= bits[:, level]
    if panels.complete:
        every = lane.to_device(_samples(n_samples, n_words))
        bits[:, kept] = bits[:, n_levels] ^ every
        bits[:, n_levels] = every
    margins = panels.margins.transpose(0, 2, 1).reshape(n_panels * WIDTH, n_levels)
    return CardPivots(
        bits[which],
        xp.ascontiguousarray(margins[which]),
        panels.sums.reshape(n_panels * WIDTH)[which],
        places[there],
        panels.complete,
    )


def measure(
    lane: Lane, pivots: CardPivots, panels: Panels, table: CardTable, wanted: Wanted
) -> None:
    """Write the information of each pivot with each column of the panels into ``wanted.out``."""
    if not has_compiler(lane):
        _measure_on_host(lane, pivots, panels, table, wanted)
        return
    out = "float" if wanted.out.dtype == np.float32 else "double"
    r, c = pivots.n_levels, panels.n_levels
    cells = (r - 1) * (c - 1)
    macros: dict[str, Any] = {"RESULT": out, "WIDTH": WIDTH, "FAINT": FAINT}
    few = pivots.complete and panels.complete and 0 < cells <= _FEW
    several = min(_PIVOTS, _HELD // cells) if few and len(pivots.rows) > 1 else 1
    if few:
        held = _TABLE if table.n_samples < _TABLE else 0
        macros |= {"PIVOT_LEVELS": r, "LEVELS": c, "PIVOTS": several, "ENTRIES": held}
        function = kernel(lane, "counts.cu", "few_levels", **macros)
        more: tuple[Any, ...] = ()
    else:
        function = kernel(lane, "counts.cu", "any_levels", **macros)
        kept, complete = int(panels.bits.shape[1]), pivots.complete and panels.complete
        more = tuple(np.int32(number) for number in (r, c, kept, complete))
    step = _MOST_BLOCKS * several
    for first in range(0, len(pivots.rows), step):
        part = slice(first, first + step)
        rows = pivots.rows[part]
        starts = np.arange(0, len(rows), several)
        arguments = (
            *panels,
            pivots.bits[part],
            pivots.margins[part],
            pivots.sums[part],
            lane.to_device(rows),
            lane.to_device(np.minimum.reduceat(rows, starts)),
            table.f,
            wanted.out,
            *(np.int32(size) for size in (len(rows), panels.bits.shape[2], table.n_samples)),
            *(np.int32(flag) for flag in (wanted.ratio, wanted.mirror, wanted.half)),
            np.float64(1.0 if wanted.ratio else table.scale),
            np.int64(wanted.out.shape[1]),
            *more,
        )
        function((int(panels.bits.shape[0]), len(starts)), (WIDTH,), arguments)


def _samples(n_samples: int, n_words: int) -> np.ndarray:
    """A bit for each sample."""
    every = np.full(n_words, _FULL, dtype=np.uint64)
    if n_samples % 64:
        every[-1] = np.uint64((1 << n_samples % 64) - 1)
    return every


# ----------------------------------------------------------------------------- the twin in NumPy


def _measure_on_host(
    lane: Lane, pivots: CardPivots, panels: Panels, table: CardTable, wanted: Wanted
) -> None:
    """The same as the kernels, without a card."""
    places = lane.to_host(panels.places).ravel()
    there = np.flatnonzero(places >= 0)
    planes = lane.to_host(panels.bits)
    n_panels, kept, n_words, _ = planes.shape
    planes = planes.transpose(1, 2, 0, 3).reshape(kept, n_words, n_panels * WIDTH)[:, :, there]
    columns = Columns(
        planes,
        lane.to_host(panels.margins).transpose(1, 0, 2).reshape(panels.n_levels, -1)[:, there],
        lane.to_host(panels.sums).ravel()[there],
    )
    bits, margins = lane.to_host(pivots.bits), lane.to_host(pivots.margins)
    own, f = lane.to_host(pivots.sums), lane.to_host(table.f)
    complete = pivots.complete and panels.complete
    values = np.empty((len(bits), len(there)))
    for i in range(len(bits)):
        line = margins[i].astype(np.int64)
        cells = count_cells(bits[i, :-1], line, columns)
        if complete:
            values[i] = _complete(f[cells].sum(axis=(0, 1)), own[i], columns.sums, f, wanted.ratio)
        else:
            values[i] = _incomplete(cells, f, wanted.ratio)
    values *= 1.0 if wanted.ratio else table.scale
    where, found = lane.to_device(places[there]), lane.to_device(values.astype(wanted.out.dtype))
    for i, row in enumerate(pivots.rows.tolist()):
        wanted.out[row, where] = found[i]
        if wanted.mirror:
            wanted.out[where, row] = found[i]


class Columns(NamedTuple):
    """Columns of panels one beside the other, on the host."""

    planes: np.ndarray  # uint64 (levels kept, words, columns)
    margins: np.ndarray  # int32 (levels, columns)
    sums: np.ndarray  # int64 (columns,)


def count_cells(bits: np.ndarray, margin: np.ndarray, columns: Columns) -> np.ndarray:
    """Tables of one pivot with columns: ``cells[a, b, column]``."""
    kept, n_levels = len(columns.planes), len(columns.margins)
    cells = np.zeros((len(bits), n_levels, columns.planes.shape[2]), dtype=np.int64)
    for a in range(len(bits)):
        for b in range(kept):
            cells[a, b] = _ones(columns.planes[b] & bits[a][:, None])
        if kept < n_levels:
            cells[a, kept] = margin[a] - cells[a, :kept].sum(axis=0)
    return cells


def _ones(words: np.ndarray) -> np.ndarray:
    """Bits that are set in each column of words; NumPy can count them itself from 2.0 on only."""
    by_byte = _ONES[np.ascontiguousarray(words).view(np.uint8)]
    return by_byte.reshape(*words.shape, 8).sum(axis=(0, -1), dtype=np.int64)


def _complete(cells: Any, own: Any, sums: np.ndarray, f: np.ndarray, ratio: bool) -> np.ndarray:
    """From the sums of f, where every sample has a level in both columns."""
    whole = f[-1]
    value = (cells - sums + (whole - own)).astype(np.float64)
    value[value < float(whole >> FAINT)] = 0.0
    if not ratio:
        return value * (1.0 / (len(f) - 1))
    entropy = (whole - own).astype(np.float64) + (whole - sums).astype(np.float64)
    return np.divide(2.0 * value, entropy, out=np.zeros_like(value), where=value > 0.0)


def _incomplete(cells: np.ndarray, f: np.ndarray, ratio: bool) -> np.ndarray:
    """From tables: the samples that have a level in both columns are those that count."""
    both = cells.sum(axis=(0, 1))
    whole = f[both]
    own, other = f[cells.sum(axis=1)].sum(axis=0), f[cells.sum(axis=0)].sum(axis=0)
    value = (whole + f[cells].sum(axis=(0, 1)) - own - other).astype(np.float64)
    faint = (whole >> FAINT).astype(np.float64)
    value[(both == 0) | (value < faint)] = 0.0
    if not ratio:
        return value * (1.0 / (len(f) - 1))
    entropy = (whole - own).astype(np.float64) + (whole - other).astype(np.float64)
    ratio_of = np.divide(2.0 * value, entropy, out=np.zeros_like(value), where=entropy > faint)
    return ratio_of * (both / (len(f) - 1))
