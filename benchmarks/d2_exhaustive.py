"""Row D2: all subsets of 6 features, judged by leave-one-out on 310 samples.

Vertebral column data, scaled to [0, 1]; radial SVC with gamma a number (where leave-one-out refits
the support vectors only) and with gamma="scale" (where every split has a kernel of its own). The
quick set stops at subsets of 1 feature. Both searches must find the same best score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.svm
from sklearn.model_selection import LeaveOneOut
from sklearn.preprocessing import minmax_scale

from benchmarks.common import alternate, row
from tamiz.data import load
from tamiz.search import ExhaustiveSearch
from tamiz.svm import SVC


def run(quick: bool) -> list[dict[str, Any]]:
    """Both kinds of gamma against mlxtend."""
    X, y = load("vertebral_2c").as_xy()
    X = minmax_scale(X)
    largest = 1 if quick else 6
    rows = []
    for gamma in (1.0, "scale"):
        ours_s, peer_s, mine, other = alternate(
            lambda g=gamma: ours(X, y, g, largest),
            lambda g=gamma: mlxtend(X, y, g, largest),
            repeats=1,
            warm_up=quick,
        )
        workload = f"leave-one-out 310 × 6, up to {largest} features, gamma={gamma}"
        agree = abs(mine - other) < 1e-12
        rows.append(row("D2", workload, "mlxtend", ours_s, peer_s, 10.0, agree))
    return rows


def ours(X: np.ndarray, y: np.ndarray, gamma: Any, largest: int) -> float:
    """Best accuracy found."""
    search = ExhaustiveSearch(SVC(gamma=gamma), cv="loo", max_features=largest, n_jobs=1)
    return float(search.fit(X, y).best_score_)


def mlxtend(X: np.ndarray, y: np.ndarray, gamma: Any, largest: int) -> float:
    """Best accuracy found by the peer."""
    from mlxtend.feature_selection import ExhaustiveFeatureSelector

    search = ExhaustiveFeatureSelector(
        sklearn.svm.SVC(gamma=gamma),
        max_features=largest,
        cv=LeaveOneOut(),
        print_progress=False,
        n_jobs=1,
    )
    return float(search.fit(X, y).best_score_)


if __name__ == "__main__":
    from benchmarks.common import print_table

    print_table(run(True))
