"""Row E1: a tree grown to purity on 100,000 x 20 numbers, ours beside that of scikit-learn.

Both make exact splits on the same numbers (float32, which is what scikit-learn's tree sees).
Agreement: both have no training error, and numbers of leaves that differ by less than 2 %, which
ties explain. Besides: a regression tree, prediction, and a table with categories and gaps, which
goes through the other grower.

    python -m benchmarks.e1_cart [--quick]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.common import alternate, print_table, row
from tamiz.tree import CARTClassifier, CARTRegressor


def numbers(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes with some labels wrong, so that the tree grows deep."""
    X, y = make_classification(n, 20, n_informative=10, n_redundant=4, flip_y=0.05, random_state=0)
    return X.astype(np.float32).astype(np.float64), y


def run(quick: bool) -> list[dict[str, Any]]:
    """Time fits and predictions."""
    n = 20_000 if quick else 100_000
    X, y = numbers(n)
    rows = []
    for jobs, said in ((1, "one thread"), (None, "default threads")):
        ours_s, peer_s, ours, peer = alternate(
            lambda jobs=jobs: CARTClassifier(n_jobs=jobs).fit(X, y),
            lambda: DecisionTreeClassifier(random_state=0).fit(X, y),
            repeats=2,
        )
        a, b = ours.get_n_leaves(), peer.get_n_leaves()
        agree = ours.score(X, y) == peer.score(X, y) and abs(a - b) < 0.02 * b
        note = f"{a} leaves, peer's {b}; {said}"
        rows.append(
            row("E1", f"CART fit {n:,} x 20", "scikit-learn tree", ours_s, peer_s, 0.5, agree, note)
        )
    ours_s, peer_s, a, b = alternate(lambda: ours.predict(X), lambda: peer.predict(X))
    rows.append(
        row("E1", f"CART predict {n:,}", "scikit-learn tree", ours_s, peer_s, None,
            bool((a == b).all()))
    )  # fmt: skip
    t = X[:, 0] + np.sin(X[:, 1]) + 0.1 * np.random.default_rng(0).standard_normal(n)
    ours_s, peer_s, a, b = alternate(
        lambda: CARTRegressor(min_samples_leaf=5).fit(X, t),
        lambda: DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X, t),
        repeats=1,
    )
    agree = abs(a.score(X, t) - b.score(X, t)) < 1e-3
    note = f"{a.get_n_leaves()} leaves, peer's {b.get_n_leaves()}; at least 5 samples in each"
    rows.append(
        row("E1", f"CART regression {n:,} x 20", "scikit-learn tree", ours_s, peer_s, None, agree,
            note)
    )  # fmt: skip
    rows.append(gaps(n // 5))
    return rows


def gaps(n: int) -> dict[str, Any]:
    """A tenth of the values missing, four features nominal; scikit-learn gets codes as numbers."""
    X, y = numbers(n)
    rng = np.random.default_rng(1)
    X[:, :4] = rng.integers(6, size=(n, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    ours_s, peer_s, a, b = alternate(
        lambda: CARTClassifier(categorical_features=[0, 1, 2, 3], max_depth=10).fit(X, y),
        lambda: DecisionTreeClassifier(max_depth=10, random_state=0).fit(X, y),
        repeats=1,
    )
    note = (
        f"training accuracy {a.score(X, y):.3f}, peer's {b.score(X, y):.3f}; ours with surrogates"
    )
    return row("E1", f"CART {n:,} x 20, gaps, 4 nominal, depth 10", "scikit-learn tree", ours_s,
               peer_s, None, None, note)  # fmt: skip


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
