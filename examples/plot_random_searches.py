"""Score by iteration and by generation: annealing and a genetic search on the breast-cancer data.

    python examples/plot_random_searches.py [folder]

writes annealing.png and genetic.png into the folder, by default docs/figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz import SVC, GeneticSearch
from tamiz.search import SimulatedAnnealing


def main() -> None:
    here = Path(__file__).resolve().parent.parent / "docs" / "figures"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else here
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    judge = make_pipeline(StandardScaler(), SVC())
    searches = {
        "annealing": SimulatedAnnealing(judge, v=0.9, random_state=0),
        "genetic": GeneticSearch(judge, N=30, G=15, elitism=1, random_state=0),
    }
    for name, search in searches.items():
        ax = search.fit(X, y).plot()
        ax.figure.savefig(folder / f"{name}.png", dpi=110)
        print(
            f"{name}: {search.support_.sum()} features, score {search.best_score_:.4f}, "
            f"{search.n_evaluations_} subsets in {search.selection_.seconds:.1f} s"
        )


if __name__ == "__main__":
    main()
