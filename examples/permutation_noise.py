"""
Shuffled labels: a test of signal, and what selecting beforehand does to it
===========================================================================

Left: the scores of 95 tumours with shuffled labels, and with the labels as they are. Right: the
p-values of twenty tables of noise. With the selection inside the pipeline they are spread evenly;
with features selected beforehand noise passes for signal. Takes some minutes. ::

    python examples/permutation_noise.py [permutation.png]
"""

from __future__ import annotations

import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.evaluation import permutation_test
from tamiz.filters import SignalToNoise
from tamiz.svm import SVC


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


def main(path: str) -> None:
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
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "permutation.png")
