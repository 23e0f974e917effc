"""Row C1: linear SVMRFE, one feature at a time, 62 x 2,000, beside scikit-learn's RFE.

The peer trains a machine from nothing for every size and orders features by its weights. Agreement:
both put the same features on the last 30 places to leave, in the same order; further up, weights
that differ by less than the peer's tolerance may change places.

    python -m benchmarks.c1_rfe_linear [--quick]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from benchmarks.common import alternate, print_table, row
from tamiz.embedded import SVMRFE


def table(n: int, p: int, informative: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Samples like those of a gene array: few, wide, some columns shifted by class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, :informative] += np.where(y == 1, 0.5, -0.5)[:, None] * rng.uniform(0.5, 2.0, informative)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def peer_order(rfe: RFE) -> np.ndarray:
    """Features of a peer that dropped one at a time down to one, best first."""
    return np.argsort(rfe.ranking_, kind="stable")


def run(quick: bool) -> list[dict[str, Any]]:
    """Time the whole path, then how it grows."""
    X, y = table(62, 2000)
    ours_s, peer_s, ours, peer = alternate(
        lambda: SVMRFE(1).fit(X, y),
        lambda: RFE(SVC(kernel="linear", tol=1e-5), n_features_to_select=1).fit(X, y),
        repeats=1 if quick else 3,
        warm_up=not quick,
    )
    if quick:  # the first call compiles or loads: not what the row is about
        ours_s = min(ours_s, alternate(lambda: SVMRFE(1).fit(X, y), lambda: None)[0])
    theirs = peer_order(peer)
    agree = bool(np.array_equal(ours.order_[:30], theirs[:30]))
    same = int(np.argmin(ours.order_ == theirs)) if (ours.order_ != theirs).any() else 2000
    note = f"the first {same} of 2,000 places are equal"
    name = "linear SVMRFE 62 x 2,000, step 1"
    rows = [row("C1", name, "scikit-learn RFE", ours_s, peer_s, 50.0, agree, note)]
    for n, p in ((62, 4000), (124, 2000), (62, 8000)):
        Z, z = table(n, p)
        seconds = alternate(lambda Z=Z, z=z: SVMRFE(1).fit(Z, z), lambda: None)[0]
        note = f"{seconds / ours_s:.1f} times the time of 62 x 2,000"
        name = f"linear SVMRFE {n} x {p:,}, step 1"
        rows.append(row("C1", name, "none", seconds, None, None, None, note))
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
