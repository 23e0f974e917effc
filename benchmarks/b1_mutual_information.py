"""Row B1: mutual information of all pairs of columns, three bins.

Ours is the whole call, from codes to the matrix. The peers are too slow for the whole matrix, so
they get fewer columns of the same table and are compared by the time per pair: scikit-learn's
``mutual_info_score`` in a loop, fast-select's compiled ``calculate_mi_matrices``, and products of
one-hot matrices in NumPy. Agreement: the entries that the peer computed are ours.

    python -m benchmarks.b1_mutual_information [--quick]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.metrics import mutual_info_score

from benchmarks.common import alternate, peak_mb, print_table, row
from tamiz.information import mutual_information_matrix

N, P = 198, 16_063
BAR_PAIRS = 40e6


def table(p: int) -> np.ndarray:
    """Normal columns with a common part, cut at mean minus and plus one deviation."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, p)) + rng.standard_normal((N, 8)) @ rng.standard_normal((8, p)) / 3
    return ((X.mean(0) - X.std(0) < X).astype(np.int8) + (X.mean(0) + X.std(0) < X)).astype(np.int8)


def one_hot(X: np.ndarray) -> np.ndarray:
    """All pairs by nine products of one-hot matrices."""
    n, p = X.shape
    hot = [(level == X).astype(np.float32) for level in range(3)]
    share = [h.mean(axis=0, dtype=np.float64) for h in hot]
    out = np.zeros((p, p))
    for a in range(3):
        for b in range(3):
            joint = (hot[a].T @ hot[b]).astype(np.float64) / n
            product = np.outer(share[a], share[b])
            with np.errstate(divide="ignore", invalid="ignore"):
                out += np.where(joint > 0, joint * np.log(joint / product), 0.0)
    return out


def run(quick: bool) -> list[dict[str, Any]]:
    """Time the matrix, and the peers on as many columns as they can do."""
    p = 4000 if quick else P
    X = table(p)
    start = time.perf_counter()
    mutual_information_matrix(X[:, :10], bins=None, dtype=np.float32)
    first = time.perf_counter() - start
    before = peak_mb()
    times = []
    for _ in range(4):
        start = time.perf_counter()
        matrix = mutual_information_matrix(X, bins=None, dtype=np.float32)
        times.append(time.perf_counter() - start)
    ours = min(times[1:])
    pairs = p * (p + 1) / 2
    beyond = peak_mb() - before - 2 * matrix.nbytes / 2**20  # old and new result side by side
    rate = (
        f"{pairs / ours / 1e6:.0f} million pairs/s (bar {BAR_PAIRS / 1e6:g}); {max(beyond, 0):.0f} "
        f"MB beyond the result; first call {first:.1f} s"
    )
    rows = [row("B1", f"{N} x {p:,}, all pairs, float32", "none", ours, None, None, None, rate)]
    few = 40
    _, peer_s, mine, theirs = alternate(
        lambda: mutual_information_matrix(X[:, :few], bins=None),
        lambda: np.array([[mutual_info_score(a, b) for a in X[:, :few].T] for b in X[:, :few].T]),
    )
    rows.append(
        _per_pair("scikit-learn mutual_info_score", p, ours, peer_s / few**2, mine, theirs, few)
    )
    medium = 600 if quick else 1500
    _, peer_s, mine, theirs = alternate(
        lambda: mutual_information_matrix(X[:, :medium], bins=None),
        lambda: one_hot(X[:, :medium]),
    )
    rows.append(
        _per_pair("NumPy one-hot products", p, ours, 2 * peer_s / medium**2, mine, theirs, medium)
    )
    try:
        from fast_select.mutual_information import calculate_mi_matrices
    except ImportError:
        return rows
    y = np.arange(N, dtype=np.int32) % 3
    Z = np.ascontiguousarray(X[:, :medium], dtype=np.int32)
    _, peer_s, mine, theirs = alternate(
        lambda: mutual_information_matrix(Z, bins=None),
        lambda: calculate_mi_matrices(Z, y, backend="cpu", unit="nat")[1],
    )
    np.fill_diagonal(theirs, np.diag(mine))  # the peer leaves zeros there
    rows.append(
        _per_pair(
            "fast-select calculate_mi_matrices",
            p,
            ours,
            2 * peer_s / medium**2,
            mine,
            theirs,
            medium,
        )
    )
    return rows


def _per_pair(
    peer: str, p: int, ours: float, per_pair: float, mine: Any, theirs: Any, columns: int
) -> dict[str, Any]:
    agree = bool(np.allclose(mine, theirs, atol=1e-6))
    note = f"peer timed on {columns} columns, {1e9 * per_pair:.0f} ns per pair"
    workload = f"{N} x {p:,}, all pairs, float32"
    return row("B1", workload, peer, ours, per_pair * p * (p + 1) / 2, 1.0, agree, note)


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
