"""Row A5: one pass over a stream of 1,000,000 x 100, ours beside scikit-learn's SGDClassifier.

The stream is made on the fly from a seed, one batch at a time, and never exists as a whole. Both
machines take every batch, in alternating order, so that neither always finds it in the cache; only
``partial_fit`` is timed. Same objective (hinge, the same lambda), intercept, no shuffling, with
and without averaging. Agreement: accuracy on fresh rows.

    python benchmarks/a5_pegasos_stream.py [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

from benchmarks.common import peak_mb
from tamiz.svm import PegasosClassifier

N_FEATURES = 100
BATCH = 10_000
LAMBDA = 1e-4
BAR = 1.0
REPEATS = 3
AGREE = 0.01  # difference in accuracy


def stream(n_rows: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield batches of standard normal rows, labelled by a hyperplane with noise."""
    direction = np.random.default_rng(0).standard_normal(N_FEATURES) / np.sqrt(N_FEATURES)
    rng = np.random.default_rng(seed)
    for start in range(0, n_rows, BATCH):
        X = rng.standard_normal((min(BATCH, n_rows - start), N_FEATURES))
        y = (X @ direction + 0.3 * rng.standard_normal(len(X)) > 0).astype(np.int64)
        yield X, y


def one_pass(n_rows: int, average: bool) -> tuple[float, float, float, float]:
    """Return seconds and accuracy, ours and the peer's, of one pass."""
    machines: list[Any] = [
        PegasosClassifier(lambda_=LAMBDA, average=average, shuffle=False),
        SGDClassifier(loss="hinge", alpha=LAMBDA, average=average, shuffle=False),
    ]
    seconds = [0.0, 0.0]
    for number, (X, y) in enumerate(stream(n_rows, seed=1)):
        for which in (0, 1) if number % 2 else (1, 0):
            start = time.perf_counter()
            machines[which].partial_fit(X, y, classes=[0, 1])
            seconds[which] += time.perf_counter() - start
    X, y = next(stream(BATCH, seed=2))
    ours, peer = (machine.score(X, y) for machine in machines)
    return seconds[0], seconds[1], ours, peer


def run(quick: bool) -> list[dict[str, Any]]:
    """Time one pass over the stream, best of three after a warm-up."""
    n_rows = 100_000 if quick else 1_000_000
    size_mb = n_rows * N_FEATURES * 8 / 2**20
    rows = []
    for average in (True, False):
        start = time.perf_counter()
        one_pass(2 * BATCH, average)
        warm_up = time.perf_counter() - start
        runs = [one_pass(n_rows, average) for _ in range(REPEATS)]
        ours_s, peer_s = min(r[0] for r in runs), min(r[1] for r in runs)
        ours, peer = runs[0][2:]
        rows.append(
            {
                "row": "A5",
                "workload": f"stream {n_rows:,} x {N_FEATURES}, average={average}",
                "peer": "scikit-learn SGDClassifier.partial_fit",
                "ours_s": ours_s,
                "peer_s": peer_s,
                "ratio": peer_s / ours_s,
                "bar": BAR,
                "agree": bool(ours >= peer - AGREE),
                "note": (
                    f"accuracy {ours:.4f} / {peer:.4f}; {n_rows / ours_s:,.0f} rows/s; "
                    f"{size_mb / 1024 / ours_s:.1f} GB/s; peak {peak_mb():,.0f} MB in all for a "
                    f"stream of {size_mb:,.0f} MB; warm-up {warm_up:.1f} s"
                ),
            }
        )
    return rows


if __name__ == "__main__":
    for result in run(quick="--quick" in sys.argv[1:]):
        print(
            f"{result['row']} {result['workload']}: {result['ours_s']:.3f} s, peer "
            f"{result['peer_s']:.3f} s, ratio {result['ratio']:.1f} (bar {result['bar']:g}), "
            f"agree {result['agree']}; {result['note']}"
        )
