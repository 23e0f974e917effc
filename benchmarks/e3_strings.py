"""Row E3: the Gram matrix of gap-weighted subsequences, 100 strings of 60 letters, m = 4.

The peer is the same dynamic programme in plain Python, on as many pairs as it can do in a few
seconds, and scaled to all. Agreement: the same values up to rounding. Further rows show how the
time grows with the length of the strings and with m, and what a large alphabet (words) costs.

The limit is the arithmetic: each cell of each level takes two multiply-adds, an addition and
a comparison. The note gives nanoseconds for each cell and level, and the share of what this
machine's BLAS reaches in multiply-adds alone.

    python -m benchmarks.e3_strings [--quick]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from benchmarks.common import machine_rates, peak_mb, print_table, row
from tamiz.kernels import GapWeighted


def plain(s: str, t: str, m: int, decay: float) -> float:
    """K_m by the recursion over prefixes, in Python."""
    n, k = len(s), len(t)
    before = [[1.0] * (k + 1) for _ in range(n + 1)]
    for q in range(1, m):
        now = [[0.0] * (k + 1) for _ in range(n + 1)]
        for i in range(q, n + 1):
            run, above, last, symbol = 0.0, now[i - 1], before[i - 1], s[i - 1]
            here = now[i]
            for j in range(q, k + 1):
                run *= decay
                if symbol == t[j - 1]:
                    run += decay * decay * last[j - 1]
                here[j] = decay * above[j] + run
        before = now
    total = 0.0
    for i in range(m, n + 1):
        for j in range(m, k + 1):
            if s[i - 1] == t[j - 1]:
                total += decay * decay * before[i - 1][j - 1]
    return total


def strings(n: int, length: int, alphabet: int) -> list[tuple[int, ...]]:
    """Random strings over so many symbols."""
    rng = np.random.default_rng(length)
    return [tuple(row) for row in rng.integers(0, alphabet, (n, length)).tolist()]


def measure(n: int, length: int, m: int, alphabet: int, budget: float) -> dict[str, Any]:
    """Seconds of ours (best of 3) and of the peer, scaled from the pairs it did in ``budget``."""
    X = strings(n, length, alphabet)
    if alphabet <= 26:
        X = ["".join(chr(97 + symbol) for symbol in s) for s in X]
    kernel = GapWeighted(m, 0.5, normalize=False)
    start = time.perf_counter()
    kernel(X[:9])
    first = time.perf_counter() - start
    ours, gram = np.inf, np.empty(0)
    for _ in range(3):
        start = time.perf_counter()
        gram = kernel(X)
        ours = min(ours, time.perf_counter() - start)
    pairs = [(i, j) for i in range(n) for j in range(i + 1)]
    order = np.random.default_rng(0).permutation(len(pairs))
    done, agree, started = 0, True, time.perf_counter()
    while done < len(pairs) and (done == 0 or time.perf_counter() - started < budget):
        i, j = pairs[order[done]]
        value = plain(X[i], X[j], m, 0.5)
        agree = agree and bool(abs(gram[i, j] - value) <= 1e-11 * abs(value))
        done += 1
    peer = (time.perf_counter() - started) * len(pairs) / done
    cells = len(pairs) * length**2 * m
    return {"ours": ours, "peer": peer, "agree": agree, "first": first, "cells": cells}


def run(quick: bool) -> list[dict[str, Any]]:
    """The row of the bar, then growth in length and in m, then a large alphabet."""
    flops = 1e9 * machine_rates()["dgemm_gflops"]
    budget = 1.0 if quick else 4.0
    cases = [
        (100, 60, 4, 4, 50.0),
        (100, 120, 4, 4, None),
        (100, 240, 4, 4, None),
        (100, 60, 8, 4, None),
        (100, 60, 4, 5000, None),
    ]
    if not quick:
        cases += [(1000, 60, 4, 4, None), (24, 2000, 4, 4, None)]
    rows = []
    for n, length, m, alphabet, bar in cases:
        found = measure(n, length, m, alphabet, budget)
        each = found["ours"] / found["cells"]
        note = (
            f"{1e9 * each:.3f} ns per cell and level, {100 * 4 / (flops * each):.0f} % of BLAS; "
            f"first call {found['first']:.1f} s; peak {peak_mb():.0f} MB"
        )
        workload = f"{n} strings x {length}, m = {m}, {alphabet} symbols"
        times = found["ours"], found["peer"], bar, found["agree"], note
        rows.append(row("E3", workload, "plain Python", *times))
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
