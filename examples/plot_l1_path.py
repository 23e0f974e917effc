"""
The path of the ℓ1 machine
==========================

Breast cancer data, standardised. Left: the weights against the price of the losses, in colour
those of the eight features that enter first. Right: how many features have a weight, and the share
of the samples that are predicted rightly in cross-validation at each price.

    python examples/plot_l1_path.py [l1_path.png]
"""

from __future__ import annotations

import sys
import warnings

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import L1SVM, l1_svm_path


def main(path: str) -> None:
    """Draw both panels."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    Z = StandardScaler().fit_transform(X)
    whole = l1_svm_path(Z, y, n_values=60, span=300)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    whole.plot(names=list(X.columns), ax=left)
    left.set_title("weights")
    left.set_xlim(whole.Cs[0] / 40, None)  # room for the names
    left.get_legend().set_loc("lower left")
    right.step(whole.Cs, whole.n_nonzero, where="mid", color="tab:blue")
    right.set(xscale="log", xlabel="C", title="features with weight, and accuracy")
    right.yaxis.get_major_locator().set_params(integer=True)
    right.set_ylabel("features with weight", color="tab:blue")
    prices = whole.Cs[2::6]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of prices at which a fold keeps no feature
        scores = np.array(
            [
                cross_val_score(make_pipeline(StandardScaler(), L1SVM(C=C)), X, y, cv=folds)
                for C in prices
            ]
        )
    accuracy = right.twinx()
    accuracy.errorbar(
        prices,
        scores.mean(axis=1),
        scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1]),
        color="tab:orange",
        marker="o",
        ms=4,
        capsize=2,
    )
    accuracy.set_ylabel("accuracy in five folds, with standard error", color="tab:orange")
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "l1_path.png")
