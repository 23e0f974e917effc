"""Row A3: refit after one of 50 features was removed, warm beside cold.

Two ways. "refit": the estimator with ``warm_start=True`` on the smaller table, which computes its
kernel values anew. "tracked": the Gram matrix follows the removal in place, as eliminations do it.
Both are compared with a cold fit of the same estimator.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.common import row
from tamiz.kernels import RBF, Linear
from tamiz.qp import DenseQ, svc_problem
from tamiz.solvers import solve
from tamiz.svm import SVC

CASES = (
    ("rbf", 2000, 1.0),
    ("rbf", 5000, 1.0),
    ("rbf", 5000, 10.0),
    ("linear", 2000, 1.0),
    ("linear", 5000, 10.0),
)


def run(quick: bool) -> list[dict[str, Any]]:
    """Remove features one at a time, each from the full table; medians over the features."""
    rows = []
    for name, n, C in CASES[:4] if quick else CASES:
        kernel: Any = RBF(gamma=1 / 50) if name == "rbf" else Linear()
        X, y = make_classification(n, 50, random_state=0)
        signs = np.where(y == 1, 1.0, -1.0)
        cold, refit, tracked, agree = [], [], [], True
        tracker = kernel.track(X)
        base = SVC(C=C, kernel=kernel).fit(X, y)
        for j in (1, 10, 20, 30, 40):
            Z = np.delete(X, j, axis=1)
            start = time.perf_counter()
            fresh = SVC(C=C, kernel=kernel).fit(Z, y)
            cold.append(time.perf_counter() - start)
            warm = SVC(C=C, kernel=kernel, warm_start=True).fit(X, y)
            start = time.perf_counter()
            warm.fit(Z, y)
            refit.append(time.perf_counter() - start)
            start = time.perf_counter()
            tracker.remove(j)
            result = solve(svc_problem(DenseQ(tracker.K), signs, C), start=base.alpha_)
            tracked.append(time.perf_counter() - start)
            tracker.add(j)
            for value in (warm.dual_objective_, -(result.objective or 0.0)):
                agree &= abs(value - fresh.dual_objective_) <= 1e-3 * abs(fresh.dual_objective_)
        peer_s = float(np.median(cold[1:]))
        for way, times in (("refit", refit), ("tracked", tracked)):
            workload = f"{way}, {name} n={n:,} p=50 C={C:g}"
            ours_s = float(np.median(times[1:]))
            rows.append(row("A3", workload, "cold fit", ours_s, peer_s, 5.0, agree))
    return rows


if __name__ == "__main__":
    from benchmarks.common import print_table

    print_table(run(quick=True))
