"""
Pictures of tests: critical differences, shuffled labels, a report card
=======================================================================

The first picture is made from the ranks of four learners on fourteen data sets that Demšar (2006)
works out: at a level of 10 % plain C4.5 ranks worse than both variants with a tuned leaf size. The
second shows the scores of 95 tumours with shuffled labels, and the p-values of twenty tables of
noise: with the selection inside the pipeline they are spread evenly, with features selected
beforehand noise passes for signal. The third is the report card of a machine on tumours it has not
seen.

    python examples/plot_critical_difference.py [critical_difference.png]

permutation.png and report_card.png are written beside it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.evaluation import ReportCard, critical_difference_diagram, permutation_test
from tamiz.filters import SignalToNoise
from tamiz.svm import SVC

RANKS = {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}


def pvalues_of_noise(n_tables: int) -> np.ndarray:
    """p-values of tables of noise, (tables, 2): features selected inside and beforehand.

    One table may look like signal by chance, so there are several, and none is left out.
    """
    found = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 300)), np.repeat([0, 1], 30)
        options = {"cv": 3, "n_permutations": 39, "random_state": seed}
        inside = make_pipeline(SignalToNoise(10), SVC(kernel="linear"))
        beforehand = SignalToNoise(10).fit_transform(X, y)
        found.append(
            [
                permutation_test(inside, X, y, **options).pvalue,
                permutation_test(SVC(kernel="linear"), beforehand, y, **options).pvalue,
            ]
        )
    return np.array(found)


def draw_permutations(path: Path) -> None:
    """A test of real samples, and what selecting beforehand does to tests of noise."""
    X, y = load_breast_cancer(return_X_y=True)
    machine = make_pipeline(StandardScaler(), SignalToNoise(3), SVC(kernel="linear"))
    test = permutation_test(
        machine, X[::6], y[::6], scoring="roc_auc", n_permutations=200, random_state=0
    )
    print(test, end="\n\n")
    noise = pvalues_of_noise(20)
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
    test.plot(ax=axes[0])
    axes[0].set_xlabel("area under the ROC curve")
    for k, name in enumerate(("selected inside", "selected beforehand")):
        rejected = int((noise[:, k] <= 0.05).sum())
        label = f"{name}: p ≤ 5 % in {rejected} of {len(noise)}"
        print(label)
        axes[1].plot(np.sort(noise[:, k]), "o-", ms=4, lw=1, label=label)
    axes[1].axhline(0.05, color="0.6", ls="--", lw=1)
    axes[1].set(xlabel="tables of noise, sorted", ylabel="p-value", ylim=(0, 1.02))
    axes[1].set_xticks([])
    axes[1].set_title("features that have nothing to do with the labels", size="medium")
    axes[1].legend(fontsize="small")
    figure.savefig(path, dpi=90)


def draw_report_card(path: Path) -> None:
    """A machine on samples it has not seen."""
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])
    parts = train_test_split(X, names[y], test_size=0.4, stratify=y, random_state=0)
    machine = make_pipeline(StandardScaler(), SVC(C=1.0)).fit(parts[0], parts[2])
    card = ReportCard.of(machine, parts[1], parts[3], positive="malignant")
    print(card)
    card.plot()[0].figure.savefig(path, dpi=80)


def main(path: str) -> None:
    """Draw all three."""
    ax = critical_difference_diagram(RANKS, n_runs=14, alpha=0.10)
    ax.figure.savefig(path, dpi=100)
    draw_permutations(Path(path).with_name("permutation.png"))
    draw_report_card(Path(path).with_name("report_card.png"))
    print(f"wrote {path}, permutation.png and report_card.png")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "critical_difference.png")
