"""Row F1: a grid of 6 × 7 values of C and gamma, ten folds, on 3,220 × 57 (seven tenths of spam).

The grid is that of the textbook example: C = 10^-3 ... 10^2, gamma = 10^-4 ... 10^2. The features
are standardised beforehand, and once more inside the folds. One worker each, then two; the quick
set takes 800 rows. Both must find the same errors, up to samples within the tolerance of a
boundary. Beside the wall clock the note tells processor time (threads and children included), which
others on the same machine disturb less.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common import peak_mb, row, used
from tamiz.data import load
from tamiz.evaluation import tune
from tamiz.svm import SVC

GRID = {"C": 10.0 ** np.arange(-3, 3), "gamma": 10.0 ** np.arange(-4, 3)}
ROWS = 3220


def run(quick: bool) -> list[dict[str, Any]]:
    """Features scaled before or inside, one worker and two; turn and turn about."""
    X, y = spam(800 if quick else ROWS)
    rows = []
    for inside, n_jobs in [(False, 1), (False, 2), (True, 1)]:
        table = X if inside else StandardScaler().fit_transform(X)
        ours = make_pipeline(StandardScaler(), SVC()) if inside else SVC()
        theirs = make_pipeline(StandardScaler(), sklearn.svm.SVC()) if inside else sklearn.svm.SVC()
        prefix = "svc__" if inside else ""
        grid = {prefix + name: values for name, values in GRID.items()}
        first = measured(lambda e=ours, g=grid, j=n_jobs, X=table: mine(e, g, X, y, j))
        mine_s = [measured(lambda e=ours, g=grid, j=n_jobs, X=table: mine(e, g, X, y, j))]
        peer_s = measured(lambda e=theirs, g=grid, j=n_jobs, X=table: peers(e, g, X, y, j))
        mine_s += [measured(lambda e=ours, g=grid, j=n_jobs, X=table: mine(e, g, X, y, j))]
        best = min(mine_s, key=lambda m: m[0])
        differ = np.abs(best[2] - peer_s[2])
        agree = bool(differ.max() <= 0.006 and differ.mean() <= 0.0005)
        note = (
            f"processor {best[1]:.1f} s to {peer_s[1]:.1f} s, {peer_s[1] / best[1]:.1f} times; "
            f"largest difference of mean errors {differ.max():.4f}; first call {first[0]:.1f} s; "
            f"peak {peak_mb():.0f} MiB"
        )
        where = "scaled inside" if inside else "scaled"
        workload = f"6 × 7 grid, 10-fold, {len(X):,} × {X.shape[1]}, {where}, {n_jobs} worker(s)"
        rows.append(
            row("F1", workload, "scikit-learn GridSearchCV", best[0], peer_s[0], 4.0, agree, note)
        )
    return rows


def spam(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the spam table, drawn at random."""
    X, y = load("spambase").as_xy()
    chosen = np.random.default_rng(0).permutation(len(X))[:n]
    return X[chosen], y[chosen]


def measured(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds by the clock, seconds of all processors, and the answer."""
    before, start = processor(), time.perf_counter()
    answer = work()
    return time.perf_counter() - start, processor() - before, answer


def processor() -> float:
    """Seconds that this process and its ended children have computed."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)  # children count when they have ended
    return used().seconds + used(children=True).seconds


def mine(estimator: Any, grid: Any, X: np.ndarray, y: np.ndarray, n_jobs: int) -> np.ndarray:
    """Our mean errors, C by C."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a best cell at the edge
        found = tune(X, y, estimator, grid, cv=10, n_jobs=n_jobs)
    return np.array([cell.error for cell in found.cells])


def peers(estimator: Any, grid: Any, X: np.ndarray, y: np.ndarray, n_jobs: int) -> np.ndarray:
    """The peer's."""
    search = GridSearchCV(estimator, grid, cv=10, n_jobs=n_jobs).fit(X, y)
    return 1.0 - search.cv_results_["mean_test_score"]


if __name__ == "__main__":
    from benchmarks.common import print_table

    print_table(run(True))
