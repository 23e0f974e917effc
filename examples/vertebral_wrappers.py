"""
Forward selection and backward elimination on the vertebral column data
=======================================================================

A published study runs both searches on one random 70/30 split of the data (310 patients, six
measurements), with an RBF machine judged by how well it fits the samples it learned from. Its split
is not known, so this script repeats the searches on many splits and prints how often each feature
takes each place, beside the published place, and where the published fit lies among ours. ::

    python examples/vertebral_wrappers.py [number of splits]
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.data import load
from tamiz.search import BackwardElimination, ForwardSelection
from tamiz.svm import SVC

PUBLISHED_ADDED = (6, 3, 2, 5, 4, 1)
PUBLISHED_REMOVED = (3, 1, 2, 5, 4, 6)
PUBLISHED = {"forward": ({2, 3, 4, 5, 6}, 0.899), "backward": ({2, 4, 5, 6}, 0.885)}
PUBLISHED_FIT_OF_TWO = 0.839  # f3 and f6


class Runs(NamedTuple):
    """What was found on each split; features are numbered from 1, as in the study."""

    order: np.ndarray  # (splits, 6): added first to last, or removed first to last
    subsets: list[frozenset[int]]
    fit: np.ndarray  # of the best subset to the training part
    honest: np.ndarray  # accuracy of the same machine on the test part
    everything: np.ndarray  # accuracy on the test part with all features
    curves: np.ndarray  # (splits, 6): fit at 1 ... 6 features


def machine() -> Any:
    """The usual defaults of the study's software: C = 1, gamma = one over the number of features.

    Whether the radius changes with the number of features is not said there; here it does.
    """
    return make_pipeline(StandardScaler(), SVC(C=1.0, kernel="rbf", gamma="auto"))


def run(search: type, X: np.ndarray, y: np.ndarray, n_splits: int) -> Runs:
    """One search for each split."""
    orders, subsets, fit, honest, everything, curves = [], [], [], [], [], []
    for seed in range(n_splits):
        train, test = train_test_split(np.arange(len(y)), train_size=0.7, random_state=seed)
        learn = np.arange(len(train))
        found = search(machine(), cv=[(learn, learn)]).fit(X[train], y[train])
        action = "add" if search is ForwardSelection else "drop"
        steps = [s.features[0] + 1 for s in found.selection_.path if s.action == action]
        left = set(range(1, 7)) - set(steps)  # the last one is not removed
        orders.append([*steps, *left])
        subsets.append(frozenset((np.flatnonzero(found.support_) + 1).tolist()))
        fit.append(found.best_score_)
        honest.append(found.score(X[test], y[test]))
        everything.append(machine().fit(X[train], y[train]).score(X[test], y[test]))
        curves.append([point["score"] for point in found.curve_])
    numbers = (np.array(values) for values in (fit, honest, everything, curves))
    return Runs(np.array(orders), subsets, *numbers)


def fractions(order: np.ndarray) -> np.ndarray:
    """For each feature (row) the fraction of the splits in which it takes each place (column)."""
    return np.stack([(order == feature).mean(axis=0) for feature in range(1, 7)])


def central(values: np.ndarray) -> tuple[float, float]:
    """Bounds of the central 95 %."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def report(name: str, runs: Runs, published: tuple[int, ...], verb: str) -> None:
    """Print the tables of one search."""
    print(f"\n{name}: fraction of {len(runs.fit)} splits in which a feature is {verb} at each step")
    print("       " + "".join(f"{place:>7}" for place in range(1, 7)) + "   published step")
    for feature, row in enumerate(fractions(runs.order), start=1):
        cells = "".join(f"{value:7.2f}" for value in row)
        print(f"    f{feature} {cells}   {published.index(feature) + 1}")
    subset, value = PUBLISHED[name]
    low, high = central(runs.fit)
    inside = "inside" if low <= value <= high else "outside"
    print(f"  fit of the best subset   ours {runs.fit.mean():.3f} ± {runs.fit.std(ddof=1):.3f}")
    print(f"     central 95 % {low:.3f} to {high:.3f}; published {value:.3f}: {inside}")
    print(f"  published subset {sorted(subset)} found in {runs.subsets.count(frozenset(subset))}")
    common: dict[frozenset[int], int] = {}
    for found in runs.subsets:
        common[found] = common.get(found, 0) + 1
    for found, times in sorted(common.items(), key=lambda item: (-item[1], sorted(item[0])))[:4]:
        print(f"     found {times:3d} times: {sorted(found)}")
    print(
        f"  accuracy on the test part {runs.honest.mean():.3f} ± {runs.honest.std(ddof=1):.3f}, "
        f"with all features {runs.everything.mean():.3f}"
    )


def main() -> None:
    """Run both searches and print."""
    X, y = load("vertebral_2c").as_xy()  # the columns are f1 to f6 in the order of the study
    n_splits = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    forward = run(ForwardSelection, X, y, n_splits)
    report("forward", forward, PUBLISHED_ADDED, "added")
    low, high = central(forward.curves[:, 1])
    print(
        f"  fit of the best two: {forward.curves[:, 1].mean():.3f}, central 95 % {low:.3f} to "
        f"{high:.3f}; published {PUBLISHED_FIT_OF_TWO}"
    )
    backward = run(BackwardElimination, X, y, n_splits)
    report("backward", backward, PUBLISHED_REMOVED, "removed")


if __name__ == "__main__":
    main()
