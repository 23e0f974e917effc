"""H2: how long does ``tamiz select`` take on six tables, as a user runs it?

    python -m benchmarks.h2_times            all six
    python -m benchmarks.h2_times adult      one of them

Each table is written to a file and given to the program, once to compile (not counted) and once to
be measured, start of the program included. The artificial tables have the sizes of tables that
people brought: an epistatic set of three classes, DNA as letters, credit, and gene expression.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.common import row


def epistatic(path: Path) -> str:
    """1,600 × 20, three classes that two of the columns decide together and none alone."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (1600, 20))
    y = (X[:, 0] + X[:, 1]) % 3
    flip = rng.random(1600) < 0.05
    y[flip] = rng.integers(0, 3, int(flip.sum()))
    return _write(path, X, np.array(["a", "b", "c"])[y])


def nominal(path: Path) -> str:
    """3,190 × 60 letters, three classes by motifs in the middle."""
    rng = np.random.default_rng(0)
    X = rng.choice(list("ACGT"), (3190, 60))
    y = rng.choice(["EI", "IE", "N"], 3190, p=[0.25, 0.25, 0.5])
    for label, motif, place in (("EI", "GTAAGT", 30), ("IE", "TTTCAG", 24)):
        rows = np.flatnonzero(y == label)
        for k, letter in enumerate(motif):
            hit = rows[rng.random(len(rows)) < 0.8]
            X[hit, place + k] = letter
    return _write(path, X, y)


def credit(path: Path) -> str:
    """30,000 × 23, skewed amounts and a target that a fifth of the rows have."""
    rng = np.random.default_rng(0)
    X = np.exp(rng.standard_normal((30000, 23)))
    X[:, :5] = rng.integers(0, 6, (30000, 5))
    score = 0.6 * X[:, 0] - 0.8 * np.log(X[:, 6]) + 0.5 * np.log(X[:, 7]) * (X[:, 1] > 2)
    y = np.where(score + rng.logistic(size=30000) > 3.0, "default", "paid")
    return _write(path, X.round(4), y)


def expression(path: Path) -> str:
    """102 × 12,600 intensities, some tens of them informative."""
    rng = np.random.default_rng(0)
    y = np.arange(102) % 2
    X = rng.standard_normal((102, 12600))
    X[:, :40] += 0.9 * y[:, None]
    return _write(path, np.exp(5 + X).round(1), np.array(["normal", "tumor"])[y])


def _write(path: Path, X: np.ndarray, y: np.ndarray) -> str:
    table = np.column_stack([X.astype(str), y])
    head = ",".join([*(f"v{j}" for j in range(X.shape[1])), "class"])
    np.savetxt(path, table, fmt="%s", delimiter=",", header=head, comments="")
    return str(path)


#: What is measured, and the seconds it may take on two cores.
TABLES: dict[str, tuple[Callable[[Path], str] | str, float]] = {
    "569x30": ("breast_cancer", 15.0),
    "1600x20": (epistatic, 40.0),
    "3190x60": (nominal, 60.0),
    "30000x23": (credit, 60.0),
    "102x12600": (expression, 60.0),
    "adult": ("adult", 90.0),
}


def run(quick: bool, only: list[str] | None = None) -> list[dict]:
    """A row for each table: seconds, and the bar over them."""
    rows = []
    names = only or (["569x30"] if quick else list(TABLES))
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            make, bar = TABLES[name]
            source = make if isinstance(make, str) else make(Path(folder) / f"{name}.csv")
            for _ in range(2):
                began = time.perf_counter()
                done = subprocess.run(
                    [sys.executable, "-m", "tamiz", "select", source, "--json"],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                seconds = time.perf_counter() - began
            answer = json.loads(done.stdout)
            best = answer["recommended"] or answer["most_accurate"]
            note = (
                f"{best['size']} features by {best['method']}, {best['judge']}; error "
                f"{100 * answer['honest']['error']:.1f} %, {answer['status']}"
            )
            print(f"{name}: {seconds:.1f} s (bar {bar:g}); {note}", file=sys.stderr, flush=True)
            rows.append(
                row("H2", f"select {name}", "its time limit", seconds, bar, 1.0, None, note)
            )
    return rows


if __name__ == "__main__":
    run(False, sys.argv[1:] or None)
