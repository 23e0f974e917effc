"""Row D1: forward selection of 12 of 30 features, radial SVC, stratified 10-fold, 569 × 30.

Twice: on data standardised beforehand, and with the scaler inside the folds. The quick set stops
at 4 features. Both searches must choose the same features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.svm
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common import alternate, row
from tamiz.search import ForwardSelection
from tamiz.svm import SVC

PEERS = ("scikit-learn", "mlxtend")


def run(quick: bool, peer: str = "scikit-learn") -> list[dict[str, Any]]:
    """Both workloads against one peer, one worker each."""
    X, y = load_breast_cancer(return_X_y=True)
    size = 4 if quick else 12
    rows = []
    for inside in (False, True):
        table = X if inside else StandardScaler().fit_transform(X)
        steps = [StandardScaler()] if inside else []
        ours = make_pipeline(*steps, SVC()) if inside else SVC()
        theirs = make_pipeline(*steps, sklearn.svm.SVC())
        ours_s, peer_s, mine, other = alternate(
            lambda e=ours, X=table: forward(e, X, y, size),
            lambda e=theirs, X=table: PEER[peer](e, X, y, size),
            repeats=1 if quick else 3,
            warm_up=quick,
        )
        workload = f"forward {size} of 30, 10-fold, {'scaler inside' if inside else 'scaled'}"
        rows.append(row("D1", workload, peer, ours_s, peer_s, 8.0, mine == other))
    return rows


def forward(estimator: Any, X: np.ndarray, y: np.ndarray, size: int) -> list[int]:
    """Our choice."""
    search = ForwardSelection(estimator, n_features_to_select=size, cv=10, n_jobs=1).fit(X, y)
    return np.flatnonzero(search.support_).tolist()


def _sklearn(estimator: Any, X: np.ndarray, y: np.ndarray, size: int) -> list[int]:
    search = SequentialFeatureSelector(estimator, n_features_to_select=size, cv=10, n_jobs=1)
    return np.flatnonzero(search.fit(X, y).support_).tolist()


def _mlxtend(estimator: Any, X: np.ndarray, y: np.ndarray, size: int) -> list[int]:
    from mlxtend.feature_selection import SequentialFeatureSelector as Sequential

    search = Sequential(estimator, k_features=size, forward=True, floating=False, cv=10, n_jobs=1)
    return sorted(search.fit(X, y).k_feature_idx_)


PEER = {"scikit-learn": _sklearn, "mlxtend": _mlxtend}


if __name__ == "__main__":
    from benchmarks.common import print_table

    print_table([r for peer in PEERS for r in run(True, peer)])
