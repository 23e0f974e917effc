"""Row F2: six selectors compared on 62 x 2,000, ten folds, three times, on two workers.

Ranking inside every training part, eleven sizes and more, the size chosen by three inner folds, the
apparent error beside it. There is no peer; the bar is three minutes, and the note says where the
time goes. Agreement: one worker finds the same as two (quick: on a third of the work).

    python -m benchmarks.f2_compare [--quick]
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.common import peak_mb, print_table, row
from tamiz import compare

METHODS = ["fisher", "relieff", "mrmr", "qpfs", "rfe", "ho-svm"]
BAR_S = 180.0


def run(quick: bool) -> list[dict[str, Any]]:
    """Time the comparison, without and with the inner folds."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((62, 2000))
    y = rng.permutation(np.arange(62) % 2)
    X[:, :20] += 0.7 * y[:, None]
    small: dict[str, Any] = {"sizes": [1, 10], "cv": 3, "repeats": 1, "random_state": 0}
    first = time.perf_counter()
    one = compare(X, y, METHODS, **small)  # also compiles, or loads what was compiled
    first = time.perf_counter() - first
    two = compare(X, y, METHODS, n_jobs=2, **small)
    agree = bool(np.array_equal(one.errors, two.errors, equal_nan=True))
    rows = []
    for nested in (False, True):
        if quick and nested:
            continue
        began = time.perf_counter()
        found = compare(X, y, METHODS, nested=nested, n_jobs=2, random_state=0)
        seconds = time.perf_counter() - began
        selecting = ", ".join(
            f"{name} {1000 * found.estimate(name).select_seconds:.0f}" for name in METHODS
        )
        rows.append(
            row(
                "F2",
                f"compare 62 x 2,000, 10 x 3, {'nested' if nested else 'not nested'}",
                "",
                seconds,
                None,
                None,
                agree and seconds <= BAR_S,
                f"bar: {BAR_S:.0f} s; ms to select: {selecting}; {peak_mb():.0f} MB; first call "
                f"{first:.1f} s",
            )
        )
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
