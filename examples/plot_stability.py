"""
Do two methods select the same features again?
==============================================

Tumours described by 30 numbers, many of which say nearly the same. Each method selects five
features of every bootstrap sample. Ranking one by one takes the five strongest, which are the same
nearly every time; elimination by a machine keeps few of several twins, and which ones is a matter
of chance. Less stable does not mean worse: it may mean that there are many ways to be right.

    python examples/plot_stability.py [stability.png]
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from tamiz import SVMRFE
from tamiz.evaluation import stability_of
from tamiz.filters import SignalToNoise


def main(path: str) -> None:
    """Draw frequencies and selections of a filter and of an elimination."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
    found = []
    for column, selector in zip(axes.T, (SignalToNoise(5), SVMRFE(5)), strict=True):
        stability = stability_of(selector, X, y, n_resamples=50, random_state=0)
        stability.plot(top=12, ax=column[0])
        stability.plot_selections(top=12, ax=column[1])
        name = type(selector).__name__
        column[0].set_title(f"{name}: {column[0].get_title()}", size="medium")
        column[1].set_title("")
        found.append(stability)
        print(stability, end="\n\n")
    print(found[0].compare(found[1]))
    figure.savefig(path, dpi=90)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "stability.png")
