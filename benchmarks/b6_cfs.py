"""Row B6: CFS by best-first search on 569 x 30 and 62 x 2,000, ours beside its peers.

All get the same discrete columns. fast-select computes all correlations and then searches in the
same way; scikit-feature adds features greedily and computes every merit anew, on 569 x 30 only,
since it needs hours for 2,000 features. Agreement: our merit is not below the peer's, computed from
the peer's subset.

    python -m benchmarks.b6_cfs [--quick]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

from benchmarks.b5_qpfs import table
from benchmarks.common import alternate, print_table, row
from tamiz.filters.cfs import CFS, merit
from tamiz.information import encode


def discrete(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Columns after discretisation by description length, as whole numbers."""
    codes = encode(X, bins="mdl", y=y)
    return np.column_stack([codes.column(j) for j in range(X.shape[1])])


def peers(quick: bool) -> dict[str, tuple[Callable[..., Any], int]]:
    """What is installed: a function that returns the subset, and the most features it can do."""
    found: dict[str, tuple[Callable[..., Any], int]] = {}
    try:
        from fast_select import CFS as FastCFS

        found["fast-select CFS"] = (
            lambda W, y: FastCFS(backend="cpu").fit(W, y).selected_indices_,
            2000,
        )
    except ImportError:
        pass
    try:
        from skfeature.function.statistical_based import CFS as skfeature_cfs

        if not quick:
            found["scikit-feature cfs"] = (
                lambda W, y: skfeature_cfs.cfs(W, y, mode="index"),
                30,
            )
    except ImportError:
        pass
    return found


def run(quick: bool) -> list[dict[str, Any]]:
    """Time the search on both tables."""
    rows = []
    for name, (X, y) in {
        "569 x 30": load_breast_cancer(return_X_y=True),
        "62 x 2,000": table(62, 2000, 2),
    }.items():
        W = discrete(X, y).astype(np.int32)
        varies = np.flatnonzero(np.ptp(W, axis=0))  # a peer divides by the entropy
        for peer, (search, most) in peers(quick).items():
            if W.shape[1] > most:
                continue
            Z = W if most > 30 else np.ascontiguousarray(W[:, varies])
            ours_s, peer_s, found, theirs = alternate(
                lambda Z=Z, y=y: CFS(bins=None).fit(Z, y),
                lambda Z=Z, y=y, search=search: search(Z, y),
                repeats=3 if most > 30 else 1,
                warm_up=most > 30,
            )
            their_merit = _merit(Z, y, theirs)
            note = (
                f"merit {found.merit_:.6f} of {len(found.subset_)} features, peer's "
                f"{their_merit:.6f} of {len(theirs)}; {found.n_correlations_} rows of correlations"
            )
            agree = found.merit_ >= their_merit - 1e-6
            rows.append(row("B6", f"CFS {name}", peer, ours_s, peer_s, 5.0, bool(agree), note))
        ours_s, _, found, _ = alternate(lambda X=X, y=y: CFS().fit(X, y), lambda: None)
        note = f"{len(found.subset_)} features, {found.n_expanded_} expansions"
        rows.append(row("B6", f"CFS {name}, with MDL", "none", ours_s, None, None, None, note))
    return rows


def _merit(W: np.ndarray, y: np.ndarray, subset: Any) -> float:
    codes = encode(W, bins=None)
    su = codes.su_rows(np.asarray(subset))[:, np.asarray(subset)]
    relevance = codes.su_relevance(y)[np.asarray(subset)]
    return merit(range(len(relevance)), relevance, su)


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
