"""Equality, size and speed of ONNX graphs, for every named data set and kind of model.

    python tools/onnx_table.py [--rows 600] [--sets iris,colon]

Prints the table of docs/onnx.md: for each model the number of data sets, the largest difference of
its numbers from those of tamiz (relative to 1 plus their size), labels that differ, the size of the
files, and the processor time of one thread of onnxruntime over that of ``predict`` (of a selector
``transform``).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.data import available, load
from tamiz.embedded import L1SVM
from tamiz.filters import MRMR, FisherScore
from tamiz.neighbors import KNNClassifier
from tamiz.svm import SVDD, SVR, LinearMachine, LinearMachineRegressor, OneClassSVM
from tamiz.tree import (
    BoostingClassifier,
    BoostingRegressor,
    CARTClassifier,
    CARTRegressor,
    ForestClassifier,
)

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "`SVC()`": lambda: tamiz.SVC(),
    '`SVC(kernel="linear")`': lambda: tamiz.SVC(kernel="linear"),
    '`SVC(kernel="poly")`': lambda: tamiz.SVC(kernel="poly"),
    "`LinearMachine()`": lambda: LinearMachine(),
    '`LinearMachine(loss="logistic")`': lambda: LinearMachine(loss="logistic"),
    "`L1SVM()`": lambda: L1SVM(),
    "`OneClassSVM()`": lambda: OneClassSVM(),
    "`SVDD()`": lambda: SVDD(),
    "`CARTClassifier()`": lambda: CARTClassifier(random_state=0),
    "`ForestClassifier(20)`": lambda: ForestClassifier(20, random_state=0),
    "`BoostingClassifier(20)`": lambda: BoostingClassifier(20),
    "`KNNClassifier()`": lambda: KNNClassifier(),
    "`FisherScore(3)`": lambda: FisherScore(3),
    "`MRMR(3)` and `SVC()`": lambda: make_pipeline(MRMR(3), tamiz.SVC()),
    "`SVMRFE(2)`": lambda: tamiz.SVMRFE(2, step=0.3),
}
REGRESSIONS: dict[str, Callable[[], Any]] = {
    "`SVR()`": lambda: SVR(),
    '`SVR(kernel="linear")`': lambda: SVR(kernel="linear"),
    "`LinearMachineRegressor()`": lambda: LinearMachineRegressor(),
    "`CARTRegressor()`": lambda: CARTRegressor(random_state=0),
    "`BoostingRegressor(20)`": lambda: BoostingRegressor(20),
}

#: Labels of samples whose decision is nearer to a boundary than this may differ.
NEAR = 1e-8


def tables(names: list[str], rows: int) -> list[tuple[str, np.ndarray, np.ndarray, bool]]:
    """Name, samples, target and whether it is classes, of the data sets."""
    found = []
    for name in names:
        data = load(name)
        X = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X, dtype=object)
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError):
            continue  # strings, of which kernels of strings have no form in ONNX
        y = np.asarray(data.y)
        keep = np.random.default_rng(0).permutation(len(y))[:rows]
        X, y = X[keep], y[keep]
        X = X[:, ~np.isnan(X).all(axis=0)]
        found.append((name, X, y, data.task == "classification"))
    return found


def fitted(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """The model behind what the data sets need."""
    whole = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return whole.fit(X, y)


def compare(model: Any, X: np.ndarray) -> tuple[float, int, float, float]:
    """Largest difference, labels that differ, kilobytes, and time over that of ``predict``."""
    import onnxruntime

    graph = tamiz.to_onnx(model).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    answer = dict(zip(names, session.run(None, {"X": X}), strict=True))
    worst, clear = 0.0, np.ones(len(X), dtype=bool)
    for name, method in (
        ("decisions", "decision_function"),
        ("probabilities", "predict_proba"),
        ("value", "predict"),
        ("features", "transform"),
    ):
        if name not in answer:
            continue
        want = np.asarray(getattr(model, method)(X))
        got = np.asarray(answer[name]).reshape(want.shape)
        kept = np.ones(len(X), dtype=bool)
        if name == "decisions" and want.ndim == 2:
            kept = ~moved_votes(got - want)
            clear &= kept
        apart = (np.abs(got - want) / (1 + np.abs(want)))[kept]
        worst = max(worst, float(apart.max(initial=0.0)))
        if name == "decisions" and want.ndim == 1:
            clear = np.abs(want) > NEAR
        elif name not in ("value", "features") and want.ndim == 2:
            best = np.sort(want, axis=1)
            clear &= best[:, -1] - best[:, -2] > NEAR
    wrong = 0
    if "label" in answer:
        wrong = int(np.count_nonzero((answer["label"] != model.predict(X)) & clear))
    ours = model.predict if hasattr(model, "predict") else model.transform
    ratio = seconds(lambda: session.run(None, {"X": X})) / seconds(lambda: ours(X))
    return worst, wrong, len(graph) / 1024, ratio


def moved_votes(difference: np.ndarray) -> np.ndarray:
    """Samples on the boundary of two classes, whose vote goes to the other one by rounding.

    Votes are whole, and what is added to them does not change: one class has one more, another
    one less, and all else is equal.
    """
    moved = np.rint(difference)
    equal = (np.abs(difference - moved) < NEAR).all(axis=1)
    return equal & moved.any(axis=1) & (moved.sum(axis=1) == 0)


def seconds(run: Callable[[], Any], repeats: int = 5) -> float:
    """Least processor time of several runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return max(best, 1e-7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--sets", default="")
    parser.add_argument("--models", default="", help="part of the names of the models")
    given = parser.parse_args()
    names = given.sets.split(",") if given.sets else list(available())
    sets = tables(names, given.rows)
    print("| model | sets | largest difference | labels | kilobytes | time |")
    print("|---|---|---|---|---|---|")
    for classes, models in ((True, CLASSIFIERS), (False, REGRESSIONS)):
        for title, make in models.items():
            if given.models not in title:
                continue
            rows = []
            for name, X, y, is_classes in sets:
                if is_classes != classes:
                    continue
                try:
                    rows.append(compare(fitted(make(), X, y), X))
                except (TypeError, ValueError) as error:
                    print(f"{title} on {name}: {error}", file=sys.stderr, flush=True)
            worst, wrong, size, ratio = np.array(rows).T
            print(
                f"| {title} | {len(rows)} | {worst.max():.0e} | {int(wrong.sum())} | "
                f"{size.min():.0f} to {size.max():.0f} | {np.median(ratio):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
