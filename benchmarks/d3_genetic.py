"""Row D3: a genetic search, 30 individuals and 10 generations, beside sklearn-genetic-opt.

569 x 30, 5 folds, RBF machine on standardised data. Both breed at random and in different ways, so
that the same subsets are not to be expected. What is checked: both end with a subset whose
cross-validated accuracy, worked out by scikit-learn, is as good (within one point). The ratio is
given for the whole run and for one subset judged, since the number of different subsets differs.

    python -m benchmarks d3
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as TheirSVC

from benchmarks.common import row
from tamiz import SVC
from tamiz.search import GeneticSearch

N, G = 30, 10


class Counted(TheirSVC):
    """Counts how often it is fitted."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Counted.fits += 1
        return super().fit(X, y, sample_weight)


def run(quick: bool) -> list[dict[str, Any]]:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    folds = StratifiedKFold(5)
    GeneticSearch(SVC(), N=4, G=1, random_state=0).fit(X, y)  # compiles
    start = time.perf_counter()
    ours = GeneticSearch(SVC(), N=N, G=G, cv=folds, elitism=1, random_state=0).fit(X, y)
    ours_s = time.perf_counter() - start
    note = f"{ours.n_evaluations_} subsets"
    try:
        from sklearn_genetic import GAFeatureSelectionCV
    except ImportError:
        return [row("D3", "genetic 569x30", "sklearn-genetic-opt", ours_s, None, 8, None, note)]
    peer = GAFeatureSelectionCV(
        Counted(), cv=folds, population_size=N, generations=G, verbose=False, n_jobs=1
    )
    Counted.fits = 0
    np.random.seed(0)  # noqa: NPY002  the only seed that the peer knows
    start = time.perf_counter()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        peer.fit(X, y)
    peer_s = time.perf_counter() - start
    judged = max(1, Counted.fits // 5)
    masks = ours.support_, np.asarray(peer.support_, dtype=bool)
    a, b = (cross_val_score(TheirSVC(), X[:, mask], y, cv=folds).mean() for mask in masks)
    each = (peer_s / judged) / (ours_s / ours.n_evaluations_)
    note += f" against {judged}; accuracy {a:.4f}, {b:.4f}; per subset {each:.1f}x"
    agree = bool(a >= b - 0.01)
    return [row("D3", "genetic 569x30", "sklearn-genetic-opt", ours_s, peer_s, 8, agree, note)]
