"""Row B9: features grown by the grammar, beside scikit-learn's polynomial features and filter.

Products and squares of all columns, of which twenty are chosen by their correlation with the class:
``GrammarFeatures`` with ``PearsonScore``, and ``PolynomialFeatures(2)`` with ``SelectKBest``
by ``f_classif``. With two classes both rank alike; agreement: the same twenty features. The second
row is the default choice, QPFS, on both sides: there the filter is most of the time.

    python -m benchmarks.b9_grammar [--quick]
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from benchmarks.c5_l1svm import tall
from benchmarks.common import alternate, print_table, row
from tamiz.filters import QPFS, GrammarFeatures, PearsonScore

RULES = ("product", "square")


def factors(name: str, times: str) -> tuple[str, ...]:
    """The columns of a product, in order."""
    one = name.removesuffix("^2")
    return (one, one) if one != name else tuple(sorted(name.split(times)))


def run(quick: bool) -> list[dict[str, Any]]:
    """Time both choices."""
    warnings.simplefilter("ignore")
    X, y = tall()
    if quick:
        X, y = X[::4], y[::4]
    polynomial = PolynomialFeatures(2, include_bias=False)
    pairs: dict[str, tuple[Any, Any]] = {
        "correlation": (PearsonScore(20), SelectKBest(f_classif, k=20)),
        "QPFS": (QPFS(20, similarity="pearson"), QPFS(20, similarity="pearson")),
    }
    rows = []
    for name, (own, other) in pairs.items():
        ours_s, peer_s, ours, theirs = alternate(
            lambda own=own: GrammarFeatures(operators=RULES, selector=own).fit(X, y),
            lambda other=other: make_pipeline(polynomial, other).fit(X, y),
        )
        grown = {factors(text, "*") for text in ours.get_feature_names_out()}
        terms = theirs[0].get_feature_names_out()[theirs[1].get_support()]
        agree = grown == {factors(text, " ") for text in terms}
        what = f"products and squares of {X.shape[0]} x {X.shape[1]}, 20 by {name}"
        peer = "PolynomialFeatures, " + ("SelectKBest" if name == "correlation" else "our QPFS")
        note = f"{ours.n_candidates_[0]} candidates"
        rows.append(row("B9", what, peer, ours_s, peer_s, 1.0, agree, note))
    return rows


if __name__ == "__main__":
    np.seterr(all="ignore")
    print_table(run(quick="--quick" in sys.argv[1:]))
