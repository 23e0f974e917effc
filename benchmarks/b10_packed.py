"""Row B10: mRMR among very many columns, from a file of bits.

4,000 rows of three levels; the table is made, and packed, a block of columns at a time. Counting
200 features against all others is 200 passes over two bits per value. Agreement: the first columns,
alone in memory, get the same relevance.

    python -m benchmarks.b10_packed [--quick]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import peak_mb, print_table, row
from tamiz.filters import MRMR
from tamiz.information import PackedTable, encode, pack_table

ROWS, BLOCK = 4_000, 8_192


def blocks(p: int, y: np.ndarray) -> Iterator[np.ndarray]:
    """Columns of three levels, one in a hundred of which has to do with the class."""
    for first in range(0, p, BLOCK):
        rng = np.random.default_rng(first)
        block = rng.integers(0, 3, (len(y), min(BLOCK, p - first)), dtype=np.int8)
        for j in range(0, block.shape[1], 100):
            known = rng.random(len(y)) < rng.uniform(0.0, 0.4)
            block[known, j] = y[known] + 1
        yield block


def run(quick: bool) -> list[dict[str, Any]]:
    """Pack, open and rank, with the seconds of each."""
    p, k = (100_000, 50) if quick else (1_000_000, 200)
    y = np.random.default_rng(1).integers(0, 2, ROWS)
    warm = np.random.default_rng(0).integers(0, 3, (ROWS, 500), dtype=np.int8)
    MRMR(2, bins=None).fit(warm, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.packed"
        start = time.perf_counter()
        pack_table(blocks(p, y), path, bins=None).close()
        packing = time.perf_counter() - start
        start = time.perf_counter()
        with PackedTable(path) as packed:
            opening = time.perf_counter() - start
            start = time.perf_counter()
            found = MRMR(k).fit(packed, y)
            ranking = time.perf_counter() - start
            size = path.stat().st_size / 1e9
        part = encode(next(blocks(BLOCK, y)), bins=None).relevance(y)
        same = bool((part == found.relevance_[:BLOCK]).all())
    work = f"mRMR, {k} of {p:,} columns, {ROWS:,} rows"
    file = f"pack {packing:.0f} s, open {opening:.1f} s, {size:.2f} GB, {peak_mb():.0f} MB at most"
    return [row("B10", work, "none", ranking, None, None, same, file)]


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
