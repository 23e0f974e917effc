"""Row A4: regression and four classes at n = 5,000."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_regression

from benchmarks.common import alternate, row
from tamiz.svm import SVC, SVR

PEERS = ("scikit-learn", "scikit-learn-intelex")
BARS = {"scikit-learn": 3.0, "scikit-learn-intelex": 1.0}


def run(quick: bool, peer: str) -> list[dict[str, Any]]:
    if peer == "scikit-learn":
        from sklearn.svm import SVC as PeerSVC
        from sklearn.svm import SVR as PeerSVR
    else:
        from sklearnex.svm import SVC as PeerSVC
        from sklearnex.svm import SVR as PeerSVR
    bar = BARS[peer]
    X, t = make_regression(5000, 50, noise=10.0, random_state=0)
    t = t / t.std()
    a, b, ours, theirs = alternate(
        lambda: SVR(gamma=1 / 50).fit(X, t), lambda: PeerSVR(gamma=1 / 50).fit(X, t)
    )
    gap = float(np.abs(ours.predict(X[:1000]) - theirs.predict(X[:1000])).max())
    note = f"{len(ours.support_)} support vectors, largest difference {gap:.1e}"
    rows = [row("A4", "SVR RBF fit n=5,000 p=50", peer, a, b, bar, gap < 1e-2, note)]
    X, y = make_classification(5000, 50, n_informative=10, n_classes=4, random_state=0)
    a, b, ours, theirs = alternate(
        lambda: SVC(gamma=1 / 50).fit(X, y), lambda: PeerSVC(gamma=1 / 50).fit(X, y)
    )
    share = float((ours.predict(X) == theirs.predict(X)).mean())
    workload = "SVC RBF fit n=5,000 p=50, four classes"
    rows.append(row("A4", workload, peer, a, b, bar, share >= 0.999, f"{share:.4f} equal"))
    return rows


if __name__ == "__main__":
    from benchmarks.common import print_table

    print_table([r for peer in PEERS for r in run(quick=True, peer=peer)])
