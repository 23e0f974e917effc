"""Row B10: mRMR among very many columns, from a file of bits.

4,000 rows of three levels; the table is made, and packed, a block of columns at a time. Counting
200 features against all others is 200 passes over two bits per value. Agreement: the first columns,
alone in memory, get the same relevance. The notes say how the work grows from a tenth of the
columns to all of them, and how much was read from the disk.

    python -m benchmarks.b10_packed [--quick] [--columns 1000000] [--rows 4000] [--select 200]
                                    [--device cuda]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import peak_mb, print_table, row, used
from tamiz.filters import MRMR
from tamiz.gpu import lane_of
from tamiz.information import PackedTable, encode, pack_table

BLOCK = 8_192

#: Columns for which the bar of five minutes holds, on two cores.
FULL = 1_000_000


class Size(NamedTuple):
    """How large the table is, and how many columns are selected."""

    columns: int
    rows: int = 4_000
    selected: int = 200
    device: str | None = None


class Times(NamedTuple):
    """What a run took."""

    packing: float
    opening: float
    ranking: float
    processors: float  # seconds of all of them, while ranking
    first: float  # as far as one feature
    file: int  # bytes
    read: int | None  # bytes from the disk while ranking, where the system says
    same: bool


def blocks(p: int, y: np.ndarray) -> Iterator[np.ndarray]:
    """Columns of three levels, one in a hundred of which has to do with the class."""
    for first in range(0, p, BLOCK):
        rng = np.random.default_rng(first)
        block = rng.integers(0, 3, (len(y), min(BLOCK, p - first)), dtype=np.int8)
        for j in range(0, block.shape[1], 100):
            known = rng.random(len(y)) < rng.uniform(0.0, 0.4)
            block[known, j] = y[known] + 1
        yield block


def from_disk() -> int | None:
    """Bytes that this process had the system read so far, pages of mapped files among them."""
    try:
        lines = Path("/proc/self/io").read_text("utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("read_bytes")), None)


def measured(size: Size) -> Times:
    """Pack, open and rank a table."""
    y = np.random.default_rng(1).integers(0, 2, size.rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.packed"
        start = time.perf_counter()
        pack_table(blocks(size.columns, y), path, bins=None, verbose=1).close()
        packing = time.perf_counter() - start
        start = time.perf_counter()
        with PackedTable(path) as packed:
            opening = time.perf_counter() - start
            start = time.perf_counter()
            MRMR(1, device=size.device).fit(packed, y)
            first = time.perf_counter() - start
            before, start, spent = from_disk(), time.perf_counter(), used().seconds
            found = MRMR(size.selected, device=size.device, verbose=1).fit(packed, y)
            ranking, after = time.perf_counter() - start, from_disk()
            spent = used().seconds - spent
        part = encode(next(blocks(min(BLOCK, size.columns), y)), bins=None).relevance(y)
        same = bool((part == found.relevance_[: len(part)]).all())
        read = None if before is None or after is None else after - before
        size_ = path.stat().st_size
        return Times(packing, opening, ranking, spent, first, size_, read, same)


def run(quick: bool, size: Size | None = None) -> list[dict[str, Any]]:
    """A tenth of the columns, and all of them."""
    size = size or (Size(100_000, selected=50) if quick else Size(FULL))
    warm = np.random.default_rng(0).integers(0, 3, (size.rows, 500), dtype=np.int8)
    MRMR(2, bins=None, device=size.device).fit(warm, np.arange(size.rows) % 2)
    tenth = measured(size._replace(columns=max(size.selected, size.columns // 10)))
    all_ = measured(size)
    where = "" if lane_of(size.device) is None else ", on the card"
    work = f"mRMR, {size.selected} of {size.columns:,} columns, {size.rows:,} rows{where}"
    counted = size.selected * all_.file * 2 / 3 / 1e9
    disk = "" if all_.read is None else f", {all_.read / 1e9:.2f} GB of them from the disk"
    note = (
        f"{all_.processors:.1f} s of all processors, {all_.processors / tenth.processors:.1f}x a "
        f"tenth of the columns; one feature "
        f"{all_.first:.2f} s; {counted:.0f} GB of bits counted{disk}; pack {all_.packing:.0f} s, "
        f"open {all_.opening:.1f} s, file {all_.file / 1e9:.2f} GB, {peak_mb():.0f} MB at most"
    )
    return [row("B10", work, "none", all_.ranking, None, None, all_.same, note)]


def main() -> None:
    """The row, of the size asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--columns", type=int)
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--select", type=int, default=200)
    parser.add_argument("--device")
    given = parser.parse_args()
    size = None
    if given.columns:
        size = Size(given.columns, given.rows, given.select, given.device)
    elif given.device:
        size = Size(100_000 if given.quick else FULL, device=given.device)
    print_table(run(given.quick, size))


if __name__ == "__main__":
    main()
