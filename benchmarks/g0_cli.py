"""Row G0: the program itself: its help, its lists, and ``tamiz rank`` on a small and a large table.

The large table (198 x 16,063 numbers, 30 MB of text, 14 classes, made from a seed) is the size of
the GCM tumours, the small one has its first 8 columns. The bars are 20 s for mRMR's first 50
features, reading included, 1.2 s for a ranking of the small one, and 0.4 s for the help. There is
no peer for the whole; pandas' reader is beside ours for the part that reads. Best of five runs,
each in a process of its own after one that compiles and writes bytecode. The bars are held against
the processor's seconds, which the note tells, since other programs may run at the same time.
Agreement: 14 genes were given a signal each and are all found, the text is read to the last bit,
and the bar is kept.

    python -m benchmarks.g0_cli [--quick]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import alternate, print_table, row, used
from tamiz.data import load

N, P, QUICK_P = 198, 16_063, 2_000
CLASSES = 14
SMALL_P = 8
BAR_RANK_S, BAR_SMALL_S, BAR_HELP_S = 20.0, 1.2, 0.4


def run(quick: bool) -> list[dict[str, Any]]:
    """Time the help, the ranking, and the reading alone."""
    p = QUICK_P if quick else P
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "genes.csv"
        X, y = write(path, p)
        size = path.stat().st_size / 1e6
        rows = [_help(), _methods(), _rank_small(Path(folder) / "small.csv"), _rank(path, p, size)]
        rows.append(_read(path, X, y, size))
    return rows


def write(path: Path, p: int) -> tuple[np.ndarray, np.ndarray]:
    """A table of ``p`` genes, the first of which tell one class each from the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, p))
    y = np.arange(N) % CLASSES
    told = min(p, CLASSES)
    X[:, :told] += 4.0 * (y[:, None] == np.arange(told))
    X = X.round(6)
    lines = [",".join([*(f"gene_{j}" for j in range(p)), "tumour"])]
    lines += [
        ",".join([*map(repr, cells), f"t{label:02d}"])
        for cells, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return X, y


def program(*arguments: str, repeats: int = 5) -> tuple[float, float, str]:
    """Best seconds and best processor seconds of a command, and what it printed."""
    best, best_cpu, out = np.inf, np.inf, ""
    for turn in range(repeats + 1):
        before = used(children=True)
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "tamiz", *arguments],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": ""},
        )
        seconds = time.perf_counter() - start
        after = used(children=True)
        out = done.stdout
        if turn:  # the first one compiles
            best = min(best, seconds)
            best_cpu = min(best_cpu, after.seconds - before.seconds)
    return best, best_cpu, out


def _help() -> dict[str, Any]:
    seconds, cpu, out = program("--help")
    note = f"bar: {BAR_HELP_S} s; processor {cpu:.2f} s"
    return row("G0", "tamiz --help", "", seconds, None, None, bool(out) and cpu <= BAR_HELP_S, note)


def _methods() -> dict[str, Any]:
    seconds, cpu, out = program("methods")
    note = f"processor {cpu:.2f} s"
    return row("G0", "tamiz methods", "", seconds, None, None, "mrmr" in out, note)


def _rank_small(path: Path) -> dict[str, Any]:
    write(path, SMALL_P)
    seconds, cpu, out = program("rank", str(path), "--json", "--quiet")
    found = len(json.loads(out)["features"]) == SMALL_P and cpu <= BAR_SMALL_S
    note = f"bar: {BAR_SMALL_S} s; processor {cpu:.2f} s"
    return row("G0", f"tamiz rank, {N} x {SMALL_P}", "", seconds, None, None, found, note)


def _rank(path: Path, p: int, size: float) -> dict[str, Any]:
    seconds, cpu, out = program("rank", str(path), "-k", "50", "--json", "--quiet")
    names = [feature["name"] for feature in json.loads(out)["features"]]
    found = {f"gene_{j}" for j in range(CLASSES)} <= set(names) and len(names) == 50
    return row(
        "G0",
        f"tamiz rank, mRMR 50 of {N} x {p:,} ({size:.0f} MB)",
        "",
        seconds,
        None,
        None,
        found and cpu <= BAR_RANK_S,
        f"bar: {BAR_RANK_S:.0f} s; processor {cpu:.2f} s",
    )


def _read(path: Path, X: np.ndarray, y: np.ndarray, size: float) -> dict[str, Any]:
    import pandas as pd

    ours, peer, data, frame = alternate(lambda: load(path), lambda: pd.read_csv(path))
    same = np.array_equal(data.X, X) and data.y.tolist() == [f"t{label:02d}" for label in y]
    note = f"roles, duplicates and leaks included; {frame.shape[1]:,} columns"
    return row("G0", f"load {size:.0f} MB", "pandas.read_csv", ours, peer, None, same, note)


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
