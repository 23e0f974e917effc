"""
The error over gamma and C: digits of USPS
==========================================

Fives against eights of the USPS digits, 1,098 images of 16 x 16 pixels, ten folds. The error of
a radial machine goes from that of guessing (gamma too large: every sample is alone; C and gamma too
small: the boundary is all but flat) to less than two in a hundred in between. ::

    python examples/tune_usps.py [tune_usps.png]
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from tamiz import tune
from tamiz.data import load


def fives_and_eights() -> tuple[np.ndarray, np.ndarray]:
    """The two digits that are hardest to tell apart."""
    data = load("usps")
    return data.take((data.extras["split"] == "train") & np.isin(data.y, (5, 8))).as_xy()


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
