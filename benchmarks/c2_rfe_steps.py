"""Row C2: linear SVMRFE on many samples with few features, and in steps on a wide table.

569 x 30, one feature at a time, and 72 x 7,129, a tenth of all features at a time, beside
scikit-learn's RFE. The wide table is that of the leukaemia samples. The peer's fraction is one of
all features, so that ours is given as a number; a tenth of those left is timed too. Agreement: the
same features are kept at every size.

    python -m benchmarks.c2_rfe_steps [--quick]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.common import alternate, print_table, row
from tamiz.data import load
from tamiz.embedded import SVMRFE


def run(quick: bool) -> list[dict[str, Any]]:
    """Time both tables."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    Z, z = load("leukemia_golub").as_xy()
    wide = StandardScaler().fit_transform(Z), z
    rows = []
    for name, (Z, z), step in (
        ("569 x 30, step 1", (X, y), 1),
        ("72 x 7,129 (leukaemia), steps of 712", wide, 712),
    ):
        ours_s, peer_s, ours, peer = alternate(
            lambda Z=Z, z=z, step=step: SVMRFE(1, step=step).fit(Z, z),
            lambda Z=Z, z=z, step=step: RFE(
                SVC(kernel="linear"), n_features_to_select=1, step=step
            ).fit(Z, z),
            repeats=3 if quick else 9,
        )
        shared = _shared(ours, peer.ranking_)
        note = f"{100 * shared:.1f} % of the features leave in the same step"
        title = f"linear SVMRFE {name}"
        rows.append(row("C2", title, "scikit-learn RFE", ours_s, peer_s, 20.0, shared > 0.9, note))
    Z, z = wide
    seconds, _, ours, _ = alternate(lambda: SVMRFE(1, step=0.1).fit(Z, z), lambda: None)
    title = "linear SVMRFE 72 x 7,129, a tenth of those left"
    note = f"{len(ours.selection_.path)} steps"
    rows.append(row("C2", title, "none", seconds, None, None, None, note))
    sizes = (2500, 5000, 10_000) if not quick else (2500, 5000)
    before = None
    for n in sizes:
        rng = np.random.default_rng(0)
        A = rng.normal(size=(n, 50))
        a = (A[:, :10].sum(axis=1) + rng.normal(size=n) > 0).astype(int)
        seconds = alternate(lambda A=A, a=a: SVMRFE(1).fit(A, a), lambda: None, repeats=1)[0]
        note = "" if before is None else f"{seconds / before:.1f} times half as many samples"
        rows.append(
            row("C2", f"linear SVMRFE {n:,} x 50, step 1", "none", seconds, None, None, None, note)
        )
        before = seconds
    return rows


def _shared(ours: SVMRFE, ranking: np.ndarray) -> float:
    """Share of the features that leave in the same step; the peer numbers steps from the end."""
    step = np.zeros(len(ranking), dtype=int)
    for k, event in enumerate(reversed(ours.selection_.path)):
        step[list(event.features)] = k + 2
    step[ours.order_[0]] = 1
    return float(np.mean(step == ranking))


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
