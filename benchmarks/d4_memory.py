"""Row D4: memory of a parallel search on 2,000 × 5,000 numbers (80 MB), two workers.

What counts is the proportional set size of this process and all its children, sampled while the
search runs, minus what they hold without the data: workers are there and have imported everything,
since the same search was run on a few rows before. The bar is 2.5 times the data.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from benchmarks.common import row
from tamiz.search.evaluator import Evaluator
from tamiz.search.fast import judge_for
from tamiz.search.splits import make_splits
from tamiz.svm import SVC
from tamiz.validation import check_units

N, P = 2000, 5000


def run(quick: bool) -> list[dict[str, Any]]:
    """A few subsets with few features and with many, for threads and for processes."""
    cases = [
        ("LogisticRegression, 5 features", LogisticRegression(max_iter=50), 5),
        ("LinearSVC, 2,500 features", LinearSVC(max_iter=3), 2500),
        ("tamiz SVC, 5 features", SVC(max_iter=50), 5),
        ("tamiz SVC, 2,500 features", SVC(max_iter=50), 2500),
    ]
    rng = np.random.default_rng(0)
    X = rng.random((N, P))
    y = (X[:, 0] > 0.5).astype(int)
    rows = []
    for name, estimator, size in cases[:2] if quick else cases:
        for _ in range(2):  # both workers must have imported all they need
            search(estimator, X[:60, :20].copy(), y[:60], 5)
        gc.collect()
        before = held() - X.nbytes
        start = time.perf_counter()
        peak = watched(lambda e=estimator, s=size: search(e, X, y, s)) - before
        times = peak / X.nbytes
        note = f"peak {peak / 2**20:.0f} MiB, {times:.2f} times the data"
        seconds = time.perf_counter() - start
        rows.append(row("D4", name, "", seconds, None, None, times < 2.5, note))
    return rows


def search(estimator: Any, X: np.ndarray, y: np.ndarray, size: int) -> None:
    """Judge eight subsets with two workers."""
    rng = np.random.default_rng(1)
    judge = judge_for(estimator, X, y, make_splits(3, X, y, True, 0), None, None)
    evaluator = Evaluator(judge, check_units(None, None, X.shape[1]), n_jobs=2)
    subsets = np.zeros((8, X.shape[1]), dtype=bool)
    for subset in subsets:
        subset[rng.choice(X.shape[1], size, replace=False)] = True
    evaluator.many(list(subsets))


def watched(work: Any) -> int:
    """Largest sum of proportional set sizes while ``work`` runs, in bytes."""
    largest, done = 0, threading.Event()

    def look() -> None:
        nonlocal largest
        while not done.is_set():
            largest = max(largest, held())
            time.sleep(0.05)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        work()
    finally:
        done.set()
        thread.join()
    return largest


def held() -> int:
    """Bytes of this process and its descendants: what is shared counts in proportion.

    Other systems than Linux say only what each has for itself.
    """
    if not Path("/proc/self/smaps_rollup").exists():
        import psutil  # of the group "bench"

        here = psutil.Process()
        return sum(one.memory_full_info().uss for one in (here, *here.children(recursive=True)))
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text("utf-8").rpartition(")")[2].split()[1]
                )
            except OSError:
                continue
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    total = 0
    for pid in family:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
        except OSError:
            continue
        total += sum(
            int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")
        )
    return total


if __name__ == "__main__":
    from benchmarks.common import print_table

    print_table(run(False))
