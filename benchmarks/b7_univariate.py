"""Row B7: univariate filters, ours beside scikit-learn's f_classif and chi2.

Ours is the whole ``fit`` (checks, scores, p-values, ranking, result); the peer's is the bare
scoring function with its own checks. Same data in the same process, alternating, best of three
after a warm-up. Agreement: the statistics computed from our scores equal the peer's.

    python -m benchmarks.b7_univariate [--quick]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.feature_selection import chi2, f_classif

from benchmarks.common import alternate, print_table, row
from tamiz.filters import ChiSquared, FisherScore

BAR = 1.0


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
                lambda: FisherScore(variant="multiclass").fit(X, y),  # noqa: B023
                lambda: f_classif(X, y),  # noqa: B023
                lambda f: f.scores_ * factor,  # noqa: B023
            ),
            (
                "chi2",
                lambda: ChiSquared(test="counts").fit(counts, y),  # noqa: B023
                lambda: chi2(counts, y),  # noqa: B023
                lambda f: f.scores_,
            ),
        ]
        for name, ours, peer, our_value in cases:
            start = time.perf_counter()
            ours()
            first = time.perf_counter() - start
            a, b, mine, theirs = alternate(ours, peer)
            agree = np.allclose(our_value(mine), theirs[0], rtol=1e-6, atol=1e-9)
            note = f"{X.nbytes / 1e9 / a:.1f} GB/s; first call {first:.2f} s"
            workload = f"{n:,} x {p:,}, {n_classes} classes"
            rows.append(row("B7", workload, f"scikit-learn {name}", a, b, BAR, bool(agree), note))
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
