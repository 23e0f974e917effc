"""Row C4: HoldOutSVM, the whole elimination to one feature, beside the loop one would write.

The loop uses NumPy and scikit-learn: each step fits an SVC to the training part and computes, for
each feature, the kernel between validation and training samples without it: by its formula, by
scikit-learn's matrix product, and by that with the thought that only support vectors count. All
see the same random splits. Agreement: at a fine tolerance the same features leave in the same
order. On 62 x 2,000 the loop would take an hour or more; its time is that of a part of the first
step, scaled by the number of features and of steps that are left.

    python -m benchmarks.c4_holdout [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from benchmarks.b5_qpfs import table
from benchmarks.common import alternate, print_table, row
from tamiz.embedded import HoldOutSVM
from tamiz.embedded.holdout.elimination import new_seed, stream
from tamiz.embedded.holdout.judges import random_split

SEED = 0


def loop(
    X: np.ndarray,
    y: np.ndarray,
    C: float,
    gamma: float,
    tol: float,
    *,
    kernel: Callable[..., np.ndarray] = rbf_kernel,
    support_only: bool = False,
    max_steps: int | None = None,
    only: int | None = None,
) -> list[int]:
    """Features in the order in which they leave; ``only`` the first so many are looked at."""
    by_class = [np.flatnonzero(y == k) for k in (0, 1)]
    held_out = np.rint(0.3 * np.bincount(y)).astype(int)
    inside, gone = list(range(X.shape[1])), []
    seed = new_seed(SEED)
    while len(inside) > 1 and len(gone) != max_steps:
        rng = stream(seed, len(gone))
        split = random_split(by_class, held_out, rng)
        rng.integers(2**31 - 1, size=1)
        T, V = X[np.ix_(split.train, inside)], X[np.ix_(split.validation, inside)]
        machine = SVC(C=C, gamma=gamma, tol=tol).fit(T, y[split.train])
        coef = np.zeros(len(T))
        coef[machine.support_] = machine.dual_coef_[0]
        if support_only:
            T, coef = T[machine.support_], machine.dual_coef_[0]
        truth = y[split.validation] == 1
        errors = []
        for k in range(len(inside))[:only]:
            K = kernel(np.delete(V, k, axis=1), np.delete(T, k, axis=1), gamma)
            errors.append(int(((K @ coef + machine.intercept_ > 0) != truth).sum()))
        tied = np.flatnonzero(np.array(errors) == min(errors))
        gone.append(inside.pop(int(rng.permutation(tied)[0])))
    return gone


def by_formula(V: np.ndarray, T: np.ndarray, gamma: float) -> np.ndarray:
    """The radial kernel as it is written."""
    return np.exp(-gamma * ((V[:, None] - T) ** 2).sum(axis=-1))


def run(quick: bool) -> list[dict[str, Any]]:
    """Time both on 569 x 30, and ours on 62 x 2,000."""
    rows = []
    X, y = load_breast_cancer(return_X_y=True)
    X = np.ascontiguousarray(MinMaxScaler().fit_transform(X))
    settings = {"C": 10.0, "gamma": 0.5}
    exact = HoldOutSVM(**settings, tol=1e-7, random_state=SEED).fit(X, y)
    agree = exact.order_[:0:-1].tolist() == loop(X, y, 10.0, 0.5, 1e-7, support_only=True)
    peers: list[tuple[str, dict[str, Any], float | None]] = [
        ("NumPy loop", {"kernel": by_formula}, 20.0),
        ("loop with rbf_kernel", {}, None),
        ("loop with rbf_kernel, support vectors only", {"support_only": True}, None),
    ]
    for peer, options, bar in peers:
        ours_s, peer_s, _, _ = alternate(
            lambda: HoldOutSVM(**settings, random_state=SEED).fit(X, y),
            lambda options=options: loop(X, y, 10.0, 0.5, 1e-3, **options),
            repeats=1 if quick and bar is None else 3,
            warm_up=not quick,
        )
        rows.append(row("C4", "HoldOutSVM 569 x 30", peer, ours_s, peer_s, bar, agree))

    X, y = table(62, 2000, 2)
    y = np.unique(y, return_inverse=True)[1]
    gamma = 1.0 / (X.shape[1] * X.var())
    ours_s, _, _, _ = alternate(
        lambda: HoldOutSVM(C=10.0, gamma=gamma, random_state=SEED).fit(X, y),
        lambda: None,
        repeats=1 if quick else 2,
        warm_up=False,  # all is compiled and warm by now
    )
    looked_at, seconds = 50 if quick else 500, []
    for only in (1, 1, 1 + looked_at):  # the first call is not counted
        start = time.perf_counter()
        loop(X, y, 10.0, gamma, 1e-3, support_only=True, max_steps=1, only=only)
        seconds.append(time.perf_counter() - start)
    step_s = (seconds[2] - seconds[1]) * X.shape[1] / looked_at
    note = f"bar: at most 10 s; peer's time extrapolated from {looked_at} features of one step"
    # work of a step grows with the square of the features left: a third of steps times the first
    peer_s = step_s * X.shape[1] / 3.0
    rows.append(
        row("C4", "HoldOutSVM 62 x 2,000", peer, ours_s, peer_s, None, ours_s <= 10.0, note)
    )
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
