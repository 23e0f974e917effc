"""Rows C5 and C6: the ℓ1 machine and FSV.

C5: the textbook form of the linear program, handed to HiGHS whole, on 62 x 2,000 and
4,601 x 57 (scaled), and scikit-learn's LinearSVC with ℓ1 penalty on sparse 20,000 x 5,000 that
resembles text. The latter squares its losses: another problem of the same size, for scale; there
the agreement is that our certified gap is within the tolerance. C6: FSV on 62 x 2,000 and 569 x 30.

    python -m benchmarks.c5_l1svm [--quick]
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.common import alternate, print_table, row
from tamiz.data import load
from tamiz.embedded import FSV, L1SVM


def textbook(X: np.ndarray, y: np.ndarray, C: float) -> float:
    """Minimum by HiGHS with every feature and sample in the program."""
    n, p = X.shape
    G = sparse.csr_array(y[:, None] * X)
    A = sparse.hstack([-G, G, sparse.csr_array(-y[:, None]), -sparse.eye_array(n)], format="csc")
    cost = np.concatenate([np.ones(2 * p), [0.0], np.full(n, C)])
    bounds = np.zeros((len(cost), 2))
    bounds[:, 1] = np.inf
    bounds[2 * p, 0] = -np.inf
    return linprog(cost, A_ub=A, b_ub=-np.ones(n), bounds=bounds, method="highs").fun


def wide() -> tuple[np.ndarray, np.ndarray]:
    """62 x 2,000, scaled."""
    X, y = load("colon").as_xy()
    return StandardScaler().fit_transform(np.log(X)), np.where(y == "tumor", 1.0, -1.0)


def tall() -> tuple[np.ndarray, np.ndarray]:
    """4,601 x 57, scaled."""
    X, y = load("spambase").as_xy()
    return StandardScaler().fit_transform(X), np.where(y, 1.0, -1.0)


def text_like(n: int, p: int, density: float = 0.01) -> tuple[Any, np.ndarray]:
    """Counts of words with frequencies that fall as 1/rank^0.7, weighted and scaled like text."""
    rng = np.random.default_rng(0)
    frequency = np.arange(1, p + 1) ** -0.7
    frequency /= frequency.sum()
    lengths = np.maximum(5, np.round(1.05 * rng.poisson(density * p, size=n))).astype(int)
    rows = np.repeat(np.arange(n), lengths)
    cols = np.searchsorted(np.cumsum(frequency), rng.random(len(rows))).clip(0, p - 1)
    X = sparse.csr_matrix((np.ones(len(rows)), (rows, cols)), shape=(n, p))
    X.sum_duplicates()
    known = np.bincount(X.indices, minlength=p)
    X.data = (1.0 + np.log(X.data)) * np.log(n / (1.0 + known)).clip(0.1)[X.indices]
    X.data /= np.repeat(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), np.diff(X.indptr))
    w = np.zeros(p)
    w[rng.choice(p, 200, replace=False, p=frequency)] = rng.normal(size=200)
    value = X @ w
    noise = 0.2 * value.std() * rng.normal(size=n)
    return X, np.where(value - np.median(value) + noise > 0, 1.0, -1.0)


def run(quick: bool) -> list[dict[str, Any]]:
    """Time all of them."""
    rows = []
    for name, (X, y) in {"62 x 2,000": wide(), "4,601 x 57": tall()}.items():
        for C in (0.1,) if quick else (0.1, 1.0):
            ours_s, peer_s, machine, least = alternate(
                lambda X=X, y=y, C=C: L1SVM(C=C).fit(X, y),
                lambda X=X, y=y, C=C: textbook(X, y, C),
                repeats=1 if quick else 3,
            )
            agree = abs(machine.objective_ - least) <= 1e-6 * least
            note = f"{machine.support_.sum()} features, gap {machine.duality_gap_ / least:.1e}"
            rows.append(
                row("C5", f"L1SVM {name}, C={C}", "HiGHS", ours_s, peer_s, 1.0, bool(agree), note)
            )
    n, p = 20000, 5000
    X, y = text_like(n, p)
    for C in (0.1,) if quick else (0.1, 0.3, 1.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours_s, peer_s, machine, peer = alternate(
                lambda C=C: L1SVM(C=C).fit(X, y),
                lambda C=C: LinearSVC(penalty="l1", dual=False, C=C).fit(X, y),
                repeats=3,
            )
        gap = machine.duality_gap_ / machine.objective_
        note = (
            f"{machine.support_.sum()} features (peer {np.count_nonzero(peer.coef_)}), "
            f"gap {gap:.1e}; density {X.nnz / n / p:.3f}"
        )
        workload = f"L1SVM sparse {n:,} x {p:,}, C={C}"
        rows.append(
            row("C5", workload, "LinearSVC l1", ours_s, peer_s, 1 / 3, bool(gap <= 1e-6), note)
        )
    X, y = load_breast_cancer(return_X_y=True)
    for name, (X, y) in {  # noqa: B020
        "62 x 2,000": wide(),
        "569 x 30": (StandardScaler().fit_transform(X), np.where(y, 1.0, -1.0)),
    }.items():
        ours_s, _, machine, _ = alternate(
            lambda X=X, y=y: FSV(n_restarts=2, random_state=0).fit(X, y), lambda: None
        )
        note = f"{machine.support_.sum()} features, 3 runs; bar 5 s"
        falls = bool((np.diff(machine.history_) < 0).all() and ours_s <= 5.0)
        rows.append(row("C6", f"FSV {name}", "none", ours_s, None, None, falls, note))
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
