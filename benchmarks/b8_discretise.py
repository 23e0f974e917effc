"""Row B8: minimum-description-length discretisation, 4,601 x 57 and 198 x 16,063.

No peer package of the method installs on a current Python, so the peer is the same algorithm with
the class counts accumulated by NumPy, on as many columns as it can do, compared by the time per
column. Equal frequency is timed against scikit-learn's KBinsDiscretizer. Agreement: the same cuts.

    python -m benchmarks.b8_discretise [--quick]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.preprocessing import KBinsDiscretizer

from benchmarks.common import alternate, print_table, row
from tamiz.information import Discretiser


def table(n: int, p: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Skewed columns, half of which know something of the class."""
    rng = np.random.default_rng(n)
    y = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, p))
    X[:, ::2] += 1.5 * rng.standard_normal((n_classes, len(range(0, p, 2))))[y]
    return np.exp(X), y


def numpy_mdl(x: np.ndarray, y: np.ndarray, n_classes: int) -> list[float]:
    """Fayyad and Irani with all cuts of a part evaluated at once."""
    order = np.argsort(x, kind="stable")
    return sorted(_split(x[order], np.eye(n_classes)[y[order]]))


def _entropy(counts: np.ndarray) -> np.ndarray:
    n = counts.sum(axis=-1, keepdims=True)
    p = counts / np.maximum(n, 1)
    return -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=-1)


def _split(x: np.ndarray, hot: np.ndarray) -> list[float]:
    n = len(x)
    places = np.flatnonzero(x[1:] > x[:-1]) + 1
    if not len(places):
        return []
    below = np.cumsum(hot, axis=0)[places - 1]
    total = hot.sum(axis=0)
    rest = (places * _entropy(below) + (n - places) * _entropy(total - below)) / n
    best = int(np.argmin(np.round(rest, 13)))
    k = places[best]
    parts = hot[:k], hot[k:]
    whole, first, second = (float(_entropy(part.sum(axis=0))) for part in (hot, *parts))
    c, c1, c2 = (int((part.sum(axis=0) > 0).sum()) for part in (hot, *parts))
    price = np.log(n - 1) + np.log(3.0**c - 2) - c * whole + c1 * first + c2 * second
    if whole - rest[best] <= price / n:
        return []
    return [(x[k - 1] + x[k]) / 2, *_split(x[:k], parts[0]), *_split(x[k:], parts[1])]


def run(quick: bool) -> list[dict[str, Any]]:
    """Time both tables."""
    rows = []
    for n, p, n_classes in ((4601, 57, 2), (198, 2000 if quick else 16_063, 14)):
        X, y = table(n, p, n_classes)
        few = min(p, 57 if n > 1000 else 200)
        start = time.perf_counter()
        Discretiser("mdl").fit(X[:, :2], y)
        first = time.perf_counter() - start
        ours_s, _, mine, _ = alternate(lambda: Discretiser("mdl").fit(X, y), lambda: None)  # noqa: B023
        start = time.perf_counter()
        theirs = [numpy_mdl(X[:, j], y, n_classes) for j in range(few)]
        peer_s = (time.perf_counter() - start) * p / few
        agree = all(
            len(a) == len(b) and np.allclose(a, b, rtol=1e-12)
            for a, b in zip(mine.cuts_[:few], theirs, strict=True)
        )
        cuts = sum(map(len, mine.cuts_)) / p
        note = f"{1e6 * ours_s / p:.0f} µs per column, {cuts:.1f} cuts; first call {first:.1f} s"
        rows.append(row("B8", f"MDL, {n:,} x {p:,}", "NumPy", ours_s, peer_s, None, agree, note))
        X = X[:, :2000]  # the peer takes a third of a millisecond per column
        a, b, ours, peer = alternate(
            lambda: Discretiser("frequency", n_bins=5).fit(X),  # noqa: B023
            lambda: KBinsDiscretizer(5, strategy="quantile", quantile_method="linear").fit(X),  # noqa: B023
        )
        agree = all(
            np.allclose(c, e[1:-1]) for c, e in zip(ours.cuts_, peer.bin_edges_, strict=True)
        )
        workload = f"equal frequency, {n:,} x {X.shape[1]:,}"
        rows.append(row("B8", workload, "scikit-learn KBinsDiscretizer", a, b, None, agree))
    return rows


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
