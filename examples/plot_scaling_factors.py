"""
Scaling factors on the way down
===============================

Four Gaussian clouds whose class is the exclusive or of two features, among 50 features of noise.
Left: the factors that the radius-margin bound gives the features, step by step of the first
descent. Right: the objective of the three methods for each number of features that is left.

    python examples/plot_scaling_factors.py [scaling_factors.png]
"""

from __future__ import annotations

import sys
import warnings

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from tamiz.embedded import KPSVM, AdaptiveScaling, RadiusMarginScaling


def clouds(n: int = 400, noise: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Two features that matter only together, then noise."""
    rng = np.random.default_rng(0)
    corner = rng.integers(0, 2, (n, 2))
    X = rng.standard_normal((n, noise + 2))
    X[:, :2] = 2 * corner - 1 + 0.35 * X[:, :2]
    return (X - X.mean(axis=0)) / X.std(axis=0), corner[:, 0] ^ corner[:, 1]


def main(path: str) -> None:
    """Draw both panels."""
    X, y = clouds()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    factors = [np.ones(X.shape[1])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the descents are cut short on purpose
        for steps in range(1, 13):
            selector = RadiusMarginScaling(X.shape[1], max_iter=steps, step="half").fit(X, y)
            factors.append(selector.scale_)
    table = np.array(factors)
    left.plot(table[:, 2:], color="0.75", lw=0.8)
    left.plot(table[:, :2], color="tab:blue", lw=2)
    left.set(xlabel="step", ylabel="factor", title="the pair (blue) and 50 features of noise")
    for method in (RadiusMarginScaling(), AdaptiveScaling(), KPSVM()):
        steps = method.fit(X, y).selection_.path
        values = np.array([step.value for step in steps]) / method.history_[0]
        sizes = [step.n_features for step in steps]
        (line,) = right.plot(sizes, values, marker="o", ms=3.5, label=type(method).__name__)
        chosen = int(method.support_.sum())
        height = values[sizes.index(chosen)]
        right.plot(chosen, height, "o", ms=9, mfc="none", mec=line.get_color())
    right.set(xlabel="features left", ylabel="objective / objective of all", yscale="log")
    right.set_title("ring: where the method stops by itself")
    right.legend(frameon=False)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "scaling_factors.png")
