"""Row C8: SVMRFE for a numeric target, linear and radial, beside loops with scikit-learn's SVR.

The linear peer is scikit-learn's ``RFE`` with ``SVR(kernel="linear")``, fitted anew for every size.
The radial one is a loop of NumPy: train, compute the kernel matrix of the support vectors without
each feature in turn, drop the feature that changes the quadratic form least. Agreement: the first
thirty places are equal (all, if there are no more); further down a wide table, weights that differ
by less than the tolerance of the peer may change places.

    python -m benchmarks.c8_regression [--quick]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.feature_selection import RFE
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from benchmarks.common import alternate, print_table, row
from tamiz.embedded import SVMRFE

TOL = 1e-4  # of the peers; at their default of 1e-3 some orders are not those of the optimum


def wide(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Few samples, many columns, of which thirty make the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, :30] @ rng.normal(size=30) / 5.0 + 0.3 * rng.normal(size=n)


def radial_loop(X: np.ndarray, y: np.ndarray, gamma: float, C: float) -> np.ndarray:
    """Features, best first."""
    active, gone = list(range(X.shape[1])), []
    while len(active) > 1:
        Z = X[:, active]
        svr = SVR(C=C, gamma=gamma, tol=TOL).fit(Z, y)
        c, V = svr.dual_coef_[0], Z[svr.support_]
        whole = c @ rbf_kernel(V, V, gamma) @ c
        changes = [
            abs(whole - c @ rbf_kernel(U, U, gamma) @ c)
            for U in (np.delete(V, k, axis=1) for k in range(len(active)))
        ]
        gone.append(active.pop(int(np.argmin(changes))))
    return np.array(active + gone[::-1])


def linear_loop(X: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """Features, best first."""
    peer = RFE(SVR(kernel="linear", C=C, tol=TOL), n_features_to_select=1).fit(X, y)
    return np.argsort(peer.ranking_, kind="stable")


def run(quick: bool) -> list[dict[str, Any]]:
    """Time both kernels on tall and wide tables."""
    X, y = load_diabetes(return_X_y=True)
    diabetes = StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
    F, t = make_friedman1(400, n_features=30, noise=1.0, random_state=0)
    friedman = StandardScaler().fit_transform(F), (t - t.mean()) / t.std()
    cases = [
        ("linear SVMRFE of a regression, 442 x 10", diabetes, None, 1.0),
        ("linear SVMRFE of a regression, 60 x 1,000", wide(60, 1000), None, 1.0),
        ("radial SVMRFE of a regression, 442 x 10", diabetes, 0.1, 1.0),
        ("radial SVMRFE of a regression, 400 x 30", friedman, 0.02, 10.0),
    ]
    rows = []
    for name, (Z, z), gamma, C in cases:
        kernel = {"kernel": "linear"} if gamma is None else {"kernel": "rbf", "gamma": gamma}
        loop = linear_loop if gamma is None else radial_loop
        given = (Z, z, C) if gamma is None else (Z, z, gamma, C)
        ours_s, peer_s, ours, theirs = alternate(
            lambda Z=Z, z=z, C=C, kernel=kernel: SVMRFE(1, task="regression", C=C, **kernel).fit(
                Z, z
            ),
            lambda loop=loop, given=given: loop(*given),
            repeats=1 if quick else 3,
        )
        peer = "scikit-learn RFE with SVR" if gamma is None else "NumPy + scikit-learn loop"
        same = int(np.sum(ours.order_ == theirs))
        note = f"{same} of {Z.shape[1]:,} places are equal"
        agree = bool(np.array_equal(ours.order_[:30], theirs[:30]))
        rows.append(row("C8", name, peer, ours_s, peer_s, None, agree, note))
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
