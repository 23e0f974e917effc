"""
The two forms of QPFS in a subspace
===================================

With Nyström's method QPFS has two forms: weights that are combinations of the eigenvectors kept
(the published one), and free weights with the exact diagonal. For each form this prints, on all
samples, how many weights differ from zero and how many of the first features MaxRel would have
taken, too; then the error of a linear machine (columns in [0, 1], C = 1), ranked inside ten
training parts, as mean and deviation over partitions. Every partition has a sample of features of
its own. ::

    python examples/qpfs_forms.py                       # GCM, 3 %, 40 features, twelve partitions
    python examples/qpfs_forms.py --set srbct --sampled 0.1 --sizes 5 10 40 --partitions 10
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler

from tamiz.data import load
from tamiz.filters import MRMR, QPFS, MaxRel
from tamiz.svm import SVC

Make = Callable[[int, int], Any]  # of the number of features and a seed


def methods(alpha: float, sampled: float) -> dict[str, Make]:
    """Selectors by name."""
    half = {"alpha": alpha, "nystroem": sampled}
    return {
        "published form": lambda k, seed: QPFS(k, random_state=seed, **half),
        "exact diagonal": lambda k, seed: QPFS(k, diagonal="exact", random_state=seed, **half),
        "whole matrix": lambda k, seed: QPFS(k, alpha=alpha),
        "mRMR": lambda k, seed: MRMR(k),
        "MaxRel": lambda k, seed: MaxRel(k),
    }


def errors(X: np.ndarray, y: np.ndarray, make: Make, sizes: list[int], seed: int) -> np.ndarray:
    """Error in per cent for each number of features: ten folds, ranked in the training parts."""
    wrong = np.zeros(len(sizes))
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    for train, test in folds.split(X, y):
        order = make(max(sizes), seed).fit(X[train], y[train]).order_
        for k, size in enumerate(sizes):
            scaler = MinMaxScaler().fit(X[train][:, order[:size]])
            seen, unseen = (scaler.transform(X[part][:, order[:size]]) for part in (train, test))
            machine = SVC(C=1.0, kernel="linear").fit(seen, y[train])
            wrong[k] += np.count_nonzero(machine.predict(unseen) != y[test])
    return 100.0 * wrong / len(y)


def shapes(X: np.ndarray, y: np.ndarray, made: dict[str, Make], first: int) -> None:
    """Print how many weights differ from zero, and what the first features have in common."""
    relevant = set(MaxRel(first).fit(X, y).order_[:first])
    for name in ("published form", "exact diagonal", "whole matrix"):
        fits = [made[name](first, seed).fit(X, y) for seed in range(5)]
        used = [np.count_nonzero(found.weights_) for found in fits]
        shared = [len(relevant & set(found.order_[:first])) for found in fits]
        print(f"{name}: {_range(used)} of {X.shape[1]} weights differ from zero;", end=" ")
        print(f"of the first {first} features {_range(shared)} are MaxRel's")


def _range(values: list[int]) -> str:
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low} to {high}"


def main() -> None:
    """Read the arguments and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="gcm_ramaswamy_1363")
    parser.add_argument("--alpha", type=float, default=0.1)
    parser.add_argument("--sampled", type=float, default=0.03)
    parser.add_argument("--sizes", type=int, nargs="+", default=[40])
    parser.add_argument("--partitions", type=int, default=12)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # matrices of mutual information are not semi-definite
    X, y = load(given.set).as_xy()
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    made = methods(given.alpha, given.sampled)
    shapes(X, y, made, max(given.sizes))
    print("error in %, features:", *(f"{size:>12}" for size in given.sizes))
    for name, make in made.items():
        found = [errors(X, y, make, given.sizes, seed) for seed in range(given.partitions)]
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
        cells = (f"{m:6.1f} ± {s:3.1f}" for m, s in zip(mean, spread, strict=True))
        print(f"{name:22}", *(f"{cell:>12}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
