"""Row B7: univariate filters, ours beside scikit-learn's f_classif and chi2.

Ours is the whole ``fit`` (checks, scores, p-values, ranking, result); the peer's is the bare
scoring function with its own checks. Same data in the same process, alternating, best of three
after a warm-up. Agreement: the statistics computed from our scores equal the peer's.

    python benchmarks/b7_univariate.py [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_selection import chi2, f_classif

from tamiz.filters.chi_squared import ChiSquared
from tamiz.filters.fisher import FisherScore

BAR = 1.0
REPEATS = 3


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def contest(ours: Callable[[], Any], peer: Callable[[], Any]) -> tuple[float, float, float]:
    """Seconds of our first call, our best and the peer's best call."""
    first = seconds(ours)
    seconds(peer)
    times = []
    for turn in range(REPEATS):
        pair = (ours, peer) if turn % 2 else (peer, ours)
        spent = [seconds(call) for call in pair]
        times.append(spent if turn % 2 else spent[::-1])
    return first, min(t[0] for t in times), min(t[1] for t in times)


def run(quick: bool) -> list[dict[str, Any]]:
    """Time each filter against its peer on a long and on a wide table."""
    rng = np.random.default_rng(0)
    rows = []
    for n, p, n_classes in ((20_000 if quick else 100_000, 200, 2), (198, 16_063, 14)):
        y = rng.integers(0, n_classes, n)
        X = rng.standard_normal((n, p)) + 0.1 * y[:, None]
        counts = rng.poisson(2.0, (n, p)).astype(float)
        factor = (n - n_classes) / (n_classes - 1)
        cases = [
            (
                "f_classif",
                lambda: FisherScore("multiclass").fit(X, y),  # noqa: B023
                lambda: f_classif(X, y),  # noqa: B023
                lambda f: f.scores_ * factor,  # noqa: B023
                lambda result: result[0],
            ),
            (
                "chi2",
                lambda: ChiSquared(test="counts").fit(counts, y),  # noqa: B023
                lambda: chi2(counts, y),  # noqa: B023
                lambda f: f.scores_,
                lambda result: result[0],
            ),
        ]
        for name, ours, peer, our_value, peer_value in cases:
            agree = np.allclose(our_value(ours()), peer_value(peer()), rtol=1e-6, atol=1e-9)
            first, ours_s, peer_s = contest(ours, peer)
            rows.append(
                {
                    "row": "B7",
                    "workload": f"{n:,} x {p:,}, {n_classes} classes",
                    "peer": f"scikit-learn {name}",
                    "ours_s": ours_s,
                    "peer_s": peer_s,
                    "ratio": peer_s / ours_s,
                    "bar": BAR,
                    "agree": bool(agree),
                    "note": f"{X.nbytes / 2**30 / ours_s:.1f} GB/s; first call {first:.2f} s",
                }
            )
    return rows


if __name__ == "__main__":
    for result in run(quick="--quick" in sys.argv[1:]):
        print(
            f"{result['row']} {result['workload']} against {result['peer']}: "
            f"{result['ours_s']:.4f} s, peer {result['peer_s']:.4f} s, ratio "
            f"{result['ratio']:.1f} (bar {result['bar']:g}), agree {result['agree']}; "
            f"{result['note']}"
        )
