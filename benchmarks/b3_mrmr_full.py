"""Row B3: the full mRMR ranking of 62 x 2,000, ours beside fast-select.

Agreement: the value of the criterion at each step, until a tie parts the ways.

    python -m benchmarks.b3_mrmr_full [--quick]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.b2_mrmr import criterion_along, table, three_bins
from benchmarks.common import alternate, print_table, row
from tamiz.filters import MRMR


def run(quick: bool) -> list[dict[str, Any]]:
    """Time the full ranking."""
    try:
        from fast_select.mRMR import mRMR
    except ImportError:
        return []
    n, p = (62, 1000) if quick else (62, 2000)
    X, y = table(n, p, 2)
    Z = three_bins(X)
    W = Z.astype(np.int32)
    a, b, mine, theirs = alternate(
        lambda: MRMR(10, bins=None, full_ranking=True).fit(Z, y),
        lambda: mRMR(p, backend="cpu").fit(W, y),
    )
    left = criterion_along(Z, y, mine.order_)
    right = criterion_along(Z, y, theirs.top_features_)
    same = mine.order_ == theirs.top_features_
    upto = p if same.all() else int(np.argmin(same)) + 1
    agree = bool(np.allclose(left[:upto], right[:upto], atol=1e-9))
    note = f"same first {int(np.argmin(same)) if not same.all() else p} features; then a tie"
    return [row("B3", f"full ranking, {n} x {p:,}", "fast-select mRMR", a, b, 20.0, agree, note)]


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
