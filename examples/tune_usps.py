"""
The error over gamma and C: digits of USPS
==========================================

Fives against eights of the USPS digits, 1,098 images of 16 x 16 pixels, ten folds. The error of
a radial machine goes from that of guessing (gamma too large: every sample is alone; C and gamma too
small: the boundary is all but flat) to less than two in a hundred in between. ::

    python examples/tune_usps.py [tune_usps.png]

Needs usps.npz in the folder that TAMIZ_DATA names; without it, the digits of scikit-learn.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from tamiz import tune


def fives_and_eights() -> tuple[np.ndarray, np.ndarray]:
    """The two digits that are hardest to tell apart."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("TAMIZ_DATA") or beside) / "usps.npz"
    if not path.exists():
        X, y = load_digits(return_X_y=True)
        return X[np.isin(y, (5, 8))], y[np.isin(y, (5, 8))]
    data = np.load(path)
    digit = data["y"].astype(int)
    rows = (data["split"] == "train") & np.isin(digit, (5, 8))
    return data["X"][rows].astype(float), digit[rows]


def main() -> None:
    """Tune, print, draw, and write the picture."""
    X, y = fives_and_eights()
    grid = {"C": 10.0 ** np.arange(-1, 3), "gamma": 10.0 ** np.arange(-5, 0)}
    tuning = tune(X, y, grid=grid, cv=10, verbose=1)
    print(tuning)
    print(f"{len(tuning.cells)} cells in {tuning.seconds:.1f} s")
    ax = tuning.plot()
    ax.figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "tune_usps.png", dpi=90)
    plt.close(ax.figure)


if __name__ == "__main__":
    main()
