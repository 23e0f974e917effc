"""
Six selectors on two tables, honestly
=====================================

``colon``: 62 tissues, 2,000 genes (logarithms). Ten folds, three times, a linear machine as judge.
``madelon``: an artificial table in which 20 of 500 features matter, only in combination; a
linear judge cannot work there, so a radial one judges. To save time, a random 600 of its 2,600
samples take part, in five folds, twice; RFE ranks with a radial machine, a tenth of the features at
a time, and sizes are chosen by the other folds.

Solid lines are honest: the features were ranked inside the training part. Dashed lines are what the
same curve looks like when they are ranked on all samples first. ::

    python examples/compare_real.py [--out FOLDER] [--journals FOLDER] [--jobs 2] [--only colon]

With a folder for journals, a run that was stopped goes on where it was, and a finished one is only
drawn anew.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

from tamiz import SVMRFE, compare
from tamiz.data import load
from tamiz.evaluation import Comparison

METHODS = ["fisher", "relieff", "mrmr", "qpfs", "rfe", "ho-svm"]


def colon(**options: Any) -> Comparison:
    """All samples, all genes."""
    X, y = load("colon").as_xy()
    return compare(np.log(X), y, METHODS, random_state=0, verbose=1, **options)


def madelon(**options: Any) -> Comparison:
    """A part of the samples."""
    X, y = load("madelon").as_xy()
    part = np.random.default_rng(0).permutation(len(y))[:600]
    methods = {name: name for name in METHODS} | {"rfe": SVMRFE(kernel="rbf", step=0.1)}
    return compare(
        X[part],
        y[part],
        methods,
        "svc-rbf",
        cv=5,
        repeats=2,
        nested=False,
        random_state=0,
        verbose=1,
        **options,
    )


def draw(found: Comparison, name: str, out: Path) -> None:
    """Curves, and the difference between honest and apparent errors."""
    figure = found.plot()[0].figure
    figure.suptitle(f"{name}: {found.n_samples} samples × {found.n_features} features")
    save(figure, out / f"compare_{name}.png")
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    found.plot_bias(ax=axes[0])
    found.plot_stability(ax=axes[1])
    save(figure, out / f"compare_{name}_bias.png")


def save(figure: Any, path: Path) -> None:
    """Write a picture in 128 colours, which is a third of the bytes."""
    figure.savefig(path, dpi=80)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(128)
    few.save(path, optimize=True)


def main() -> None:
    """Compare, print and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[1])
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--journals", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=["colon", "madelon"])
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, run in (("colon", colon), ("madelon", madelon)):
        if args.only in (None, name):
            began = time.perf_counter()
            options: dict[str, Any] = {"n_jobs": args.jobs}
            if args.journals is not None:
                options |= {"checkpoint": args.journals / f"{name}.journal", "resume": True}
            found = run(**options)
            print(f"{name}, {time.perf_counter() - began:.0f} s\n\n{found}\n", flush=True)
            draw(found, name, args.out)


if __name__ == "__main__":
    main()
