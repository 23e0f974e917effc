"""Rows B2 and B2b: mRMR top-50, with mutual information and with F and Pearson.

Ours is the whole ``fit`` with its checks. B2: fast-select, and a greedy search in NumPy that
counts with one-hot products and is as fast as NumPy gets. B2b: mrmrs (Rust) and mrmr_selection,
quotient form. Agreement: the same features in the same order (of the NumPy greedy and of mrmrs;
fast-select breaks ties differently, so there the values of the criterion along its selection are
recomputed and compared with ours, up to the first tie).

    python -m benchmarks.b2_mrmr [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import alternate, print_table, row
from tamiz.filters import MRMR

K = 50
SIZES = ((62, 2000, 2), (60, 9712, 9), (198, 16_063, 14))


def table(n: int, p: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, a tenth of which know something of the class."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, p))
    X[:, ::10] += rng.standard_normal((n_classes, len(range(0, p, 10))))[y]
    return X, y


def three_bins(X: np.ndarray) -> np.ndarray:
    low, high = X.mean(0) - X.std(0), X.mean(0) + X.std(0)
    return ((low < X).astype(np.int8) + (high < X)).astype(np.int8)


def numpy_greedy(X: np.ndarray, y: np.ndarray, k: int) -> list[int]:
    """mRMR with all levels of all columns as one matrix of zeros and ones."""
    n, p = X.shape
    levels = X.max() + 1
    hot = np.concatenate([(a == X).T for a in range(levels)]).astype(np.float32)
    count = hot.sum(axis=1).astype(np.intp)
    f = np.zeros(n + 1)
    f[1:] = np.arange(1, n + 1) * np.log(np.arange(1, n + 1))
    own = f[count].reshape(levels, p).sum(axis=0)

    def information(codes: np.ndarray) -> np.ndarray:
        z = np.eye(codes.max() + 1, dtype=np.float32)[codes]
        cells = f[(hot @ z).astype(np.intp)].sum(axis=1).reshape(levels, p).sum(axis=0)
        return (f[n] + cells - own - f[z.sum(axis=0).astype(np.intp)].sum()) / n

    relevance = information(y)
    total = np.zeros(p)
    order: list[int] = []
    while len(order) < k:
        values = relevance - total / max(1, len(order))
        values[order] = -np.inf
        order.append(int(np.argmax(np.round(values, 12))))  # ties as ties
        total += information(X[:, order[-1]])
    return order


def criterion_along(X: np.ndarray, y: np.ndarray, order: Any) -> np.ndarray:
    """Values of the difference form along a selection."""
    from tamiz.information import encode

    codes = encode(X, bins=None)
    relevance, total, values = codes.relevance(y), np.zeros(X.shape[1]), []
    for m, j in enumerate(order):
        values.append(relevance[j] - total[j] / max(1, m))
        total += codes.row(int(j))
    return np.array(values)


def run(quick: bool) -> list[dict[str, Any]]:
    """Time the selections on two or three tables."""
    rows = []
    for n, p, n_classes in SIZES[: 1 if quick else 3]:
        X, y = table(n, p, n_classes)
        Z = three_bins(X)
        workload = f"top {K}, {n} x {p:,}"
        start = time.perf_counter()
        MRMR(3, bins=None).fit(Z[:, :20], y)
        first = f"first call {time.perf_counter() - start:.1f} s"
        ours: Callable[[], Any] = lambda: MRMR(K, bins=None).fit(Z, y)  # noqa: B023, E731
        a, b, mine, theirs = alternate(ours, lambda: numpy_greedy(Z, y, K))  # noqa: B023
        agree = mine.order_[:K].tolist() == theirs
        rows.append(row("B2", workload, "NumPy one-hot greedy", a, b, 2.0, agree, first))
        if p <= 10_000:
            rows += _fast_select(Z, y, workload, ours, heavy=p > 5000)
        rows += _f_pearson(X, y, workload)
    return rows


def _fast_select(
    Z: np.ndarray, y: np.ndarray, workload: str, ours: Callable[[], Any], heavy: bool
) -> list[dict[str, Any]]:
    try:
        from fast_select.mRMR import mRMR
    except ImportError:
        return []
    W = Z.astype(np.int32)
    mRMR(3, backend="cpu").fit(W[:, :20], y)
    a, b, mine, theirs = alternate(
        ours,
        lambda: mRMR(K, backend="cpu").fit(W, y),
        repeats=1 if heavy else 3,
        warm_up=not heavy,
    )
    left = criterion_along(Z, y, mine.order_[:K])
    right = criterion_along(Z, y, theirs.top_features_)
    same = mine.order_[:K] == theirs.top_features_
    upto = K if same.all() else int(np.argmin(same)) + 1  # a tie may part the ways
    agree = bool(np.allclose(left[:upto], right[:upto], atol=1e-9))
    note = f"same first {upto if same.all() else upto - 1} features"
    return [row("B2", workload, "fast-select mRMR", a, b, 20.0, agree, note)]


def _f_pearson(X: np.ndarray, y: np.ndarray, workload: str) -> list[dict[str, Any]]:
    try:
        import mrmrs
        import polars as pl
    except ImportError:
        return []
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    target = pl.Series("y", y)

    def ours() -> Any:
        return MRMR(K, measure="f_pearson", scheme="quotient").fit(X, y)

    a, b, mine, theirs = alternate(ours, lambda: mrmrs.mrmr(frame, target, K, "classification"))
    mine = mine.selection_.selected
    theirs = [feature.name for feature in theirs]
    same = sum(p == q for p, q in zip(mine, theirs, strict=False))
    note = f"{same} of {K} at the same place, {len(set(mine) & set(theirs))} in common"
    return [row("B2b", workload, "mrmrs (Rust)", a, b, 1.0, mine == theirs, note)]


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
