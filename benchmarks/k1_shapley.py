"""Row K1: exact Shapley values of a radial machine, beside shap's KernelExplainer.

200 rows of 30 features and a machine with 569 support vectors (a regression on the labels with a
tube of no width). Ours are exact for each of the three value functions; shap samples subsets of the
features, for "interventional" only, and is timed on four rows, its time scaled to 200. It gets a
background of 40 rows; the row without a peer has the 100 that are drawn if no background is passed.
Agreement: our values and those of shap differ by no more than four times what shap's own answers
differ by from seed to seed (and both add up to the decision value).

shap is no dependency: without it the rows show our times alone. In an environment of its own,

    python -m venv shap-venv && shap-venv/bin/pip install . shap
    shap-venv/bin/python -m benchmarks.k1_shapley [--quick]
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from benchmarks.common import print_table, row
from tamiz.explain import shapley_values
from tamiz.svm import SVR

ROWS, BACKGROUND, PEER_ROWS, PEER_SAMPLES = 200, 40, 4, 2048


def machine_and_table() -> tuple[SVR, np.ndarray]:
    """A machine of which every row is a support vector, and the table."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return SVR(C=1.0, epsilon=0.0).fit(X, 2.0 * y - 1.0), X


def timed(
    machine: SVR, X: np.ndarray, Z: np.ndarray | None, value: str, repeats: int
) -> tuple[float, Any]:
    """The best time of several, and the result."""
    shapley_values(machine, X[:4], X[:4], value=value)
    best, found = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        found = shapley_values(machine, X, Z, value=value, random_state=0)
        best = min(best, time.perf_counter() - start)
    return best, found


def run(quick: bool) -> list[dict[str, Any]]:
    """Time the three value functions."""
    machine, X = machine_and_table()
    some, others = X[:ROWS], X[:: len(X) // BACKGROUND][:BACKGROUND]
    rows = []
    asked: list[tuple[str, np.ndarray | None]] = [
        ("interventional", others), ("interventional", None), ("kernel_mean", X), ("left_out", X)
    ]  # fmt: skip
    for value, background in asked:
        ours_s, found = timed(machine, some, background, value, 1 if quick else 3)
        name = f"Shapley values ({value}), {ROWS} x {X.shape[1]}, {len(machine.support_)} vectors"
        drawn = "the default, 100" if background is None else str(len(background))
        peer_s, agree, note = None, None, f"background of {drawn} rows"
        total = found.base + found.values.sum(axis=1)
        off = np.abs(total - machine.predict(some)).max()
        if background is others and find_spec("shap") is not None:
            peer_s, agree, said = _beside_shap(machine, some, others, found.values)
            note += f"; {said}"
        else:
            agree = bool(off < 1e-9)
            note += "; values add up"
        rows.append(row("K1", name, "shap KernelExplainer", ours_s, peer_s, None, agree, note))
    return rows


def _beside_shap(
    machine: SVR, X: np.ndarray, Z: np.ndarray, ours: np.ndarray
) -> tuple[float, bool, str]:
    import shap

    answers, seconds = [], np.inf
    for seed in range(2):
        np.random.seed(seed)  # noqa: NPY002  shap draws from the global state
        explainer = shap.KernelExplainer(machine.predict, Z)
        start = time.perf_counter()
        answers.append(explainer.shap_values(X[:PEER_ROWS], nsamples=PEER_SAMPLES, silent=True))
        seconds = min(seconds, time.perf_counter() - start)
    noise = float(np.abs(answers[0] - answers[1]).max())
    gap = float(np.abs(answers[0] - ours[:PEER_ROWS]).max())
    said = (
        f"differ by {gap:.1g}, shap's seeds by {noise:.1g}; its time scaled from {PEER_ROWS} rows"
    )
    return seconds * len(X) / PEER_ROWS, gap <= 4.0 * noise + 1e-9, said


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
