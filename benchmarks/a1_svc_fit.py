"""Rows A1 and A2: fit and predict of an RBF classifier beside two peers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.common import alternate, row
from tamiz.svm import SVC

PEERS = ("scikit-learn", "scikit-learn-intelex")
BARS = {"scikit-learn": (3.0, 10.0), "scikit-learn-intelex": (1.0, 1.0)}


def peer_class(peer: str) -> Any:
    if peer == "scikit-learn":
        from sklearn.svm import SVC as Peer
    else:
        from sklearnex.svm import SVC as Peer
    return Peer


def run(quick: bool, peer: str) -> list[dict[str, Any]]:
    """Fit at several sizes; predict 5,000 rows with the machine of n = 5,000."""
    sizes = (2000, 5000, 10_000) if quick else (2000, 5000, 10_000, 20_000)
    return [r for n in sizes for r in one_size(n, peer)]


def one_size(n: int, peer: str) -> list[dict[str, Any]]:
    Peer = peer_class(peer)
    C = 10.0 if n == 20_000 else 1.0
    X, y = make_classification(n, 50, random_state=0)
    ours_s, peer_s, ours, theirs = alternate(
        lambda: SVC(C=C, gamma=1 / 50).fit(X, y),
        lambda: Peer(C=C, gamma=1 / 50).fit(X, y),
        repeats=1 if n == 20_000 else 3,
        warm_up=n < 20_000,
    )
    share = float((ours.predict(X[:2000]) == theirs.predict(X[:2000])).mean())
    agree = share >= 0.999 and same_objective(ours, theirs, X)
    note = f"{len(ours.support_)} support vectors, {ours.n_iter_} steps"
    workload = f"SVC RBF fit n={n:,} p=50 C={C:g}"
    rows = [row("A1", workload, peer, ours_s, peer_s, BARS[peer][0], agree, note)]
    if n == 5000:
        ours_s, peer_s, a, b = alternate(lambda: ours.predict(X), lambda: theirs.predict(X))
        agree = bool((a == b).mean() >= 0.999)
        workload = "SVC RBF predict 5,000 rows, n=5,000"
        rows.append(row("A2", workload, peer, ours_s, peer_s, BARS[peer][1], agree))
    return rows


def same_objective(ours: Any, theirs: Any, X: np.ndarray) -> bool:
    """Whether both dual objectives agree to 1e-4, from the support vectors of each."""
    values = []
    for machine in (ours, theirs):
        coef = np.asarray(machine.dual_coef_).ravel()
        vectors = X[machine.support_]
        w = ours.kernel_.prepare(vectors).decision(vectors, coef).ravel()
        values.append(np.abs(coef).sum() - 0.5 * coef @ w)
    return bool(abs(values[0] - values[1]) <= 1e-4 * abs(values[0]))


if __name__ == "__main__":
    from benchmarks.common import print_table

    print_table([r for peer in PEERS for r in run(quick=True, peer=peer)])
