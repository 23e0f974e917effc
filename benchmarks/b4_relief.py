"""Row B4: ReliefF with ten neighbours, ours beside fast-select and scikit-rebate.

The tables are madelon (2,600 x 500) and colon (62 x 2,000). Same data in the same process,
alternating, best of three after a warm-up. scikit-rebate would take many minutes on madelon: it
is compared on every fourth row, once. Agreement: the scores themselves; both classes only, since
scikit-rebate leaves out the class priors, which two classes do not need.

    python -m benchmarks.b4_relief [--quick]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import alternate, print_table, row
from tamiz.data import load
from tamiz.filters import ReliefF

NEIGHBOURS = 10
REPEATS = 3
BARS = {"fast-select": 3.0, "scikit-rebate": 10.0}


def peers() -> dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]:
    """Scores by each peer that is installed."""
    found: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {}
    try:
        from fast_select import ReliefF as FastSelect

        options = {"n_features_to_select": 10, "n_neighbors": NEIGHBOURS, "discrete_limit": 2}
        found["fast-select"] = lambda X, y: FastSelect(**options).fit(X, y).feature_importances_
    except ImportError:
        print("fast-select is not installed", file=sys.stderr)
    try:
        from skrebate import ReliefF as Rebate

        settings = {"n_neighbors": NEIGHBOURS, "categorical_threshold": 2, "n_jobs": -1}
        found["scikit-rebate"] = lambda X, y: Rebate(**settings).fit(X, y).feature_importances_
    except ImportError:
        print("scikit-rebate is not installed", file=sys.stderr)
    return found


def ours(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return ReliefF(n_neighbors=NEIGHBOURS, ties="index").fit(X, y).scores_


def run(quick: bool) -> list[dict[str, Any]]:
    """Time ReliefF against each peer on both tables."""
    warnings.simplefilter("ignore")
    rows = []
    for name in ("madelon", "colon"):
        X, y = load(name).as_xy()
        y = np.unique(y, return_inverse=True)[1]
        for peer, scores in peers().items():
            Z, labels, repeats = X, y, REPEATS
            if peer == "scikit-rebate":
                repeats = 1
                if len(X) > 1000:
                    step = 10 if quick else 4
                    Z, labels = X[::step], y[::step]
            start = time.perf_counter()
            ours(Z, labels)
            first = time.perf_counter() - start
            a, b, mine, theirs = alternate(
                lambda: ours(Z, labels),  # noqa: B023
                lambda: scores(Z, labels),  # noqa: B023
                repeats=repeats,
                warm_up=repeats > 1,
            )
            gap = np.abs(mine - theirs).max()
            pairs = len(Z) * (len(Z) - 1) / 2 * Z.shape[1]
            note = (
                f"largest difference {gap:.0e}; {pairs / a / 1e9:.2f} G differences/s; "
                f"first call {first:.2f} s"
            )
            workload = f"ReliefF k = {NEIGHBOURS}, {name} {len(Z):,} x {Z.shape[1]:,}"
            rows.append(row("B4", workload, peer, a, b, BARS[peer], bool(gap < 1e-5), note))
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
