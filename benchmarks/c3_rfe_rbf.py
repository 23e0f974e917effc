"""Row C3: radial SVMRFE on 569 x 30, beside a plain loop of NumPy and scikit-learn.

The loop trains a machine, computes the kernel matrix without each feature in turn, takes the
difference of the two quadratic forms, and drops the least. Agreement: the same order.

    python -m benchmarks.c3_rfe_rbf [--quick]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.common import alternate, print_table, row
from tamiz.embedded import SVMRFE


def naive(X: np.ndarray, y: np.ndarray, gamma: float) -> np.ndarray:
    """Features, best first."""
    active = list(range(X.shape[1]))
    gone: list[int] = []
    while len(active) > 1:
        Z = X[:, active]
        svc = SVC(C=1.0, gamma=gamma).fit(Z, y)
        c, V = svc.dual_coef_[0], Z[svc.support_]
        whole = c @ rbf_kernel(V, V, gamma) @ c
        changes = [
            abs(whole - c @ rbf_kernel(U, U, gamma) @ c)
            for U in (np.delete(V, k, axis=1) for k in range(len(active)))
        ]
        gone.append(active.pop(int(np.argmin(changes))))
    return np.array(active + gone[::-1])


def on_all_samples(X: np.ndarray, y: np.ndarray, gamma: float) -> np.ndarray:
    """The same without the thought that only support vectors count."""
    active = list(range(X.shape[1]))
    gone: list[int] = []
    while len(active) > 1:
        Z = X[:, active]
        K = rbf_kernel(Z, Z, gamma)
        svc = SVC(C=1.0, kernel="precomputed").fit(K, y)
        c = np.zeros(len(y))
        c[svc.support_] = svc.dual_coef_[0]
        whole = c @ K @ c
        changes = []
        for k in range(len(active)):
            U = np.delete(Z, k, axis=1)
            changes.append(abs(whole - c @ rbf_kernel(U, U, gamma) @ c))
        gone.append(active.pop(int(np.argmin(changes))))
    return np.array(active + gone[::-1])


def run(quick: bool) -> list[dict[str, Any]]:
    """Time both loops, then how ours grows."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    gamma = 1.0 / 30.0
    rows = []
    ours_s = np.inf
    for name, loop, bar in (
        ("NumPy + scikit-learn loop", on_all_samples, 20.0),
        ("the same on support vectors", naive, None),
    ):
        ours_s, peer_s, ours, theirs = alternate(
            lambda: SVMRFE(1, kernel="rbf", gamma=gamma).fit(X, y),
            lambda loop=loop: loop(X, y, gamma),
            repeats=1 if quick else 3,
        )
        same = int(np.sum(ours.order_ == theirs))
        note = f"{same} of 30 places are equal"
        rows.append(
            row("C3", "radial SVMRFE 569 x 30", name, ours_s, peer_s, bar, same >= 26, note)
        )
    for n, p in ((1138, 30), (569, 60)):
        rng = np.random.default_rng(0)
        Z = np.tile(X, (n // 569, p // 30)) + 0.1 * rng.normal(size=(n, p))
        z = np.tile(y, n // 569)
        seconds = alternate(
            lambda Z=Z, z=z, p=p: SVMRFE(1, kernel="rbf", gamma=1.0 / p).fit(Z, z), lambda: None
        )[0]
        note = f"{seconds / ours_s:.1f} times the time of 569 x 30"
        name = f"radial SVMRFE {n:,} x {p}"
        rows.append(row("C3", name, "none", seconds, None, None, None, note))
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
