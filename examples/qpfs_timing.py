"""
Time of mRMR, QPFS and QPFS with Nyström's method
=================================================

A full mRMR ranking compares every pair of features, and so does exact QPFS. With Nyström's method
QPFS compares a fraction p of the features with all of them. The left figure shows how time grows
with the number of samples N at a constant number of features M, the right one with M at a constant
N, on data of the shape of gene expression. Slopes are fitted to the three largest sizes in double
logarithmic scale: one is linear growth, two is quadratic. Where the sample of features outgrows the
number of samples (N well below pM), finding out which weights are zero dominates, and growth
becomes cubic. Times are processor seconds of one thread, best measured with that of BLAS, too. ::

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python examples/qpfs_timing.py [qpfs_timing.png]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

from tamiz.filters import MRMR
from tamiz.filters.qpfs import QPFS

METHODS: dict[str, Callable[[], Any]] = {
    "mRMR, full ranking": lambda: MRMR(10, full_ranking=True),
    "QPFS, exact": lambda: QPFS(),
    "QPFS + Nyström, p = 0.10": lambda: QPFS(nystroem=0.10, random_state=0),
    "QPFS + Nyström, p = 0.05": lambda: QPFS(nystroem=0.05, random_state=0),
    "QPFS + Nyström, p = 0.03": lambda: QPFS(nystroem=0.03, random_state=0),
}
STYLE = {"marker": "o", "ms": 4, "lw": 1.5}


def expression(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Features that share hidden factors, four classes."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((n, 20))
    loading = rng.standard_normal((20, m)) * (rng.random((20, m)) < 0.2)
    y = np.argsort(np.argsort(hidden[:, 0])) * 4 // n
    return hidden @ loading + rng.standard_normal((n, m)), y


def seconds(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> float:
    """Least processor seconds of three fits: other work on the machine does not count."""
    found = []
    for _ in range(3):
        start = time.process_time()
        make().fit(X, y)
        found.append(time.process_time() - start)
    return min(found)


def slope(sizes: list[int], times: list[float]) -> float:
    """Power with which time grows, from the three largest sizes measured."""
    known = np.flatnonzero(np.isfinite(times))[-3:]
    return float(np.polyfit(np.log(np.take(sizes, known)), np.log(np.take(times, known)), 1)[0])


def curves(shapes: list[tuple[int, int]], sizes: list[int]) -> dict[str, list[float]]:
    """Times of every method on every shape."""
    times: dict[str, list[float]] = {name: [] for name in METHODS}
    for (n, m), size in zip(shapes, sizes, strict=True):
        X, y = expression(n, m)
        for name, make in METHODS.items():
            too_large = name == "QPFS, exact" and m > 8000  # the matrix would take 2 GB
            times[name].append(np.nan if too_large else seconds(make, X, y))
        print(f"{size:>7,}", *(f"{times[name][-1]:9.4f} s" for name in METHODS))
    return times


def main(path: str) -> None:
    """Measure and draw."""
    X, y = expression(100, 300)
    for make in METHODS.values():  # whatever must be compiled is compiled now
        make().fit(X, y)
    N = [100, 300, 1000, 3000, 10_000]
    M = [500, 1000, 2000, 4000, 8000, 16_000]
    print("N at M = 2,000:", *METHODS, sep="  ")
    by_n = curves([(n, 2000) for n in N], N)
    print("M at N = 83:", *METHODS, sep="  ")
    by_m = curves([(83, m) for m in M], M)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained", sharey=True)
    for ax, sizes, times, label in (
        (axes[0], N, by_n, "samples N (M = 2,000)"),
        (axes[1], M, by_m, "features M (N = 83)"),
    ):
        for name in METHODS:
            text = f"{name}: slope {slope(sizes, times[name]):.1f}"
            ax.loglog(sizes, times[name], label=text, **STYLE)
        ax.set(xlabel=label)
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.grid(which="both", alpha=0.25)
        ax.legend(fontsize=8)
    axes[0].set_ylabel("processor seconds")
    figure.suptitle("Time to rank all features")
    figure.savefig(path, dpi=120)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "qpfs_timing.png")
