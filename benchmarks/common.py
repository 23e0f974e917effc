"""Timing by turns, one result row, and the rates that this machine can reach."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


def alternate(
    ours: Callable[[], Any],
    peer: Callable[[], Any],
    repeats: int = 3,
    warm_up: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float, Any, Any]:
    """Best seconds of both, taken in turns after a warm-up, and what they returned last.

    On a busy machine ``clock=time.process_time`` counts the seconds of this process alone.
    """
    if warm_up:
        ours()
        peer()
    best = [np.inf, np.inf]
    results: list[Any] = [None, None]
    for turn in range(repeats):
        for which in (0, 1) if turn % 2 else (1, 0):
            start = clock()
            results[which] = (ours, peer)[which]()
            best[which] = min(best[which], clock() - start)
    return best[0], best[1], results[0], results[1]


def row(
    name: str,
    workload: str,
    peer: str,
    ours_s: float,
    peer_s: float | None,
    bar: float | None,
    agree: bool | None,
    note: str = "",
) -> dict[str, Any]:
    """One line of the table; ``ratio`` is how many times faster ours is."""
    return {
        "row": name,
        "workload": workload,
        "peer": peer,
        "ours_s": ours_s,
        "peer_s": peer_s,
        "ratio": None if peer_s is None else peer_s / ours_s,
        "bar": bar,
        "agree": agree,
        "note": note,
    }


class Use(NamedTuple):
    """Seconds of all processors, and how often the system took another thread.

    ``waits`` counts how often one waited for something, ``displaced`` how often it had to leave; on
    Windows, which does not say, both are 0.
    """

    user: float
    system: float
    waits: int = 0
    displaced: int = 0

    @property
    def seconds(self) -> float:
        """Of the program and of the system together."""
        return self.user + self.system


def used(children: bool = False) -> Use:
    """What this process has used so far, or its ended children (on Windows, nothing is known)."""
    if resource is None:
        times = os.times()
        return Use(*(times[2:4] if children else times[:2]))
    found = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return Use(found.ru_utime, found.ru_stime, found.ru_nvcsw, found.ru_nivcsw)


def peak_mb() -> float:
    """Largest resident memory of this process so far, in MiB."""
    if resource is None:
        import psutil  # of the group "bench"

        return float(psutil.Process().memory_info().peak_wset / 2**20)
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 2**20 if sys.platform == "darwin" else size / 2**10


def machine_rates() -> dict[str, float]:
    """What this machine can do: BLAS in GFLOP/s, memory in GB/s, exponentials in G/s."""
    rng = np.random.default_rng(0)
    A = rng.random((2000, 2000), dtype=np.float32)
    B = A.astype(np.float64)
    x = rng.random(2**25, dtype=np.float32)
    y = np.empty_like(x)
    small = -x[: 2**16].copy()
    out = np.empty_like(small)

    def best(function: Callable[[], Any]) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
        return min(times)

    return {
        "sgemm_gflops": 2 * 2000**3 / best(lambda: A @ A) / 1e9,
        "dgemm_gflops": 2 * 2000**3 / best(lambda: B @ B) / 1e9,
        "copy_gb_per_s": 2 * x.nbytes / best(lambda: np.copyto(y, x)) / 1e9,
        "exp_float32_g_per_s_one_core": small.size / best(lambda: np.exp(small, out=out)) / 1e9,
    }


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print rows as a table that reads in a terminal and in Markdown."""
    head = ["row", "workload", "peer", "ours", "peer's", "ratio", "bar", "agree", "note"]
    lines = [head]
    for r in rows:
        lines.append(
            [
                r["row"],
                r["workload"],
                r["peer"],
                _seconds(r["ours_s"]),
                _seconds(r["peer_s"]),
                "" if r["ratio"] is None else f"{r['ratio']:.2f}",
                "" if r["bar"] is None else f"{r['bar']:g}",
                {True: "yes", False: "NO", None: ""}[r["agree"]],
                r["note"],
            ]
        )
    widths = [max(len(str(line[k])) for line in lines) for k in range(len(head))]
    for k, line in enumerate(lines):
        cells = (str(c).ljust(w) for c, w in zip(line, widths, strict=True))
        print("| " + " | ".join(cells) + " |")
        if k == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{1000 * value:.1f} ms" if value < 1 else f"{value:.2f} s"
