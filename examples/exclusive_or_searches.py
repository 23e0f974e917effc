"""
A pair of features that help only in combination: which searches find it?
=========================================================================

The sign of the product of two features is the class (an exclusive or); six more are noise. Either
of the two is useless alone, so that a search that adds one feature at a time has nothing to go by.
One table of 200 samples proves little: what comes out depends on the noise. So each search is run
on ten tables, and the script prints how often the pair was selected, alone or with noise beside it,
how many features, the score of the winner, and the accuracy of the fitted machine on 2,000 new
samples. ::

    python examples/exclusive_or_searches.py [number of tables]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tamiz.search import (
    BackwardElimination,
    BestFirst,
    ExhaustiveSearch,
    ForwardSelection,
    GeneticSearch,
    SimulatedAnnealing,
)
from tamiz.svm import SVC

N_FEATURES = 8


def table(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Samples of eight features; the sign of the product of the first two is the class."""
    X = rng.uniform(-1, 1, (n, N_FEATURES))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def searches(seed: int) -> dict[str, Any]:
    """What is compared, by name."""
    judge = SVC(C=10.0)
    return {
        "forward": ForwardSelection(judge),
        "forward, patience 1": ForwardSelection(judge, patience=1),
        "forward, floating": ForwardSelection(judge, floating=True),
        "backward": BackwardElimination(judge),
        "best first": BestFirst(judge),
        "best first, both ways": BestFirst(judge, direction="both"),
        "annealing": SimulatedAnnealing(judge, random_state=seed),
        "genetic": GeneticSearch(judge, elitism=1, random_state=seed),
        "exhaustive": ExhaustiveSearch(judge),
    }


def main() -> None:
    """Run every search on every table and print one line for each search."""
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    found: dict[str, list[tuple[bool, bool, int, float, float, int]]] = {}
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X, y = table(200, rng)
        X_new, y_new = table(2000, rng)
        for name, search in searches(seed).items():
            search.fit(X, y)
            pair, size = bool(search.support_[:2].all()), int(search.support_.sum())
            scores = (search.best_score_, search.score(X_new, y_new))
            row = (pair, pair and size == 2, size, *scores, search.n_evaluations_)
            found.setdefault(name, []).append(row)
    print(f"{'':24}pair in  pair alone  features  score  new samples  subsets ({n_tables} tables)")
    for name, rows in found.items():
        pair, alone, size, score, new, judged = np.array(rows, dtype=float).T
        print(
            f"{name:24}{pair.sum():7.0f}  {alone.sum():10.0f}  {size.mean():8.1f}  "
            f"{score.mean():.3f}  {new.mean():11.3f}  {judged.mean():7.0f}"
        )


if __name__ == "__main__":
    main()
