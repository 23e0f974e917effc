"""A first look: two support vector machines on real data, and what their figures say.

Run it with ``python -m tamiz.demo``. The data (569 tumours, 30 measurements of cell nuclei,
benign or malignant) come with scikit-learn, so nothing is downloaded.
"""

from __future__ import annotations

import textwrap
import time
from typing import Any, NamedTuple

import numpy as np
from numba.core.event import install_timer
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.svm import SVC


class Run(NamedTuple):
    """One fitted machine and what was measured around it."""

    machine: SVC
    n: int
    seconds: float
    train_accuracy: float
    test_accuracy: float


def run(kernel: str, *, C: float = 1.0, random_state: int = 0) -> Run:
    """Fit an SVC on 70 % of the data and score it on the rest.

    The machine is fitted twice: the first fit may have to compile or to load what was compiled
    before, the second is the one timed.
    Means and deviations for standardising come from the training part only.
    """
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=random_state
    )
    pipeline = Pipeline([("scale", StandardScaler()), ("svc", SVC(C=C, kernel=kernel))])
    for _ in range(2):
        start = time.perf_counter()
        pipeline.fit(X_train, y_train)
        seconds = time.perf_counter() - start
    return Run(
        machine=pipeline["svc"],
        n=len(y_train),
        seconds=seconds,
        train_accuracy=pipeline.score(X_train, y_train),
        test_accuracy=pipeline.score(X_test, y_test),
    )


def table(runs: list[Run]) -> str:
    """One column per machine, one line per figure."""
    lines: list[tuple[str, list[str]]] = [
        ("kernel", [str(r.machine.kernel) for r in runs]),
        ("training rows (n)", [str(r.n) for r in runs]),
        ("support vectors, free", [str(_count(r.machine.free_support_)) for r in runs]),
        ("support vectors, bounded", [str(_count(r.machine.bounded_support_)) for r in runs]),
        ("margin", [f"{r.machine.margin_:.4f}" for r in runs]),
        ("primal objective", [f"{r.machine.objective_:.4f}" for r in runs]),
        ("duality gap", [f"{r.machine.duality_gap_:.1e}" for r in runs]),
        ("KKT violation", [f"{r.machine.kkt_violation_:.1e}" for r in runs]),
        ("iterations", [str(int(np.sum(r.machine.n_iter_))) for r in runs]),
        ("accuracy, training", [f"{r.train_accuracy:.1%}" for r in runs]),
        ("accuracy, test", [f"{r.test_accuracy:.1%}" for r in runs]),
        ("milliseconds to fit", [f"{1e3 * r.seconds:.1f}" for r in runs]),
    ]
    widths = [max(len(cells[k]) for _, cells in lines) for k in range(len(runs))]
    label_width = max(len(label) for label, _ in lines)
    text = [
        f"{label:<{label_width}}"
        + "".join(f"   {cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        for label, cells in lines
    ]
    text.insert(1, "-" * len(text[0]))
    return "\n".join(text)


def reading(runs: list[Run]) -> str:
    """What the figures say, in plain words."""
    first = runs[0]
    free, bounded = _count(first.machine.free_support_), _count(first.machine.bounded_support_)
    gap = max(r.machine.duality_gap_ / abs(r.machine.objective_) for r in runs)
    others = " and ".join(
        f"the {r.machine.kernel} machine rests on "
        f"{_count(r.machine.free_support_) + _count(r.machine.bounded_support_)}"
        for r in runs[1:]
    )
    accuracies = " and ".join(f"{r.test_accuracy:.1%} ({r.machine.kernel})" for r in runs)
    return (
        f"How to read it: the {first.machine.kernel} machine rests on {free + bounded} of the "
        f"{first.n} training rows. {free} of them lie exactly on the margin and fix where the "
        f"boundary runs; {bounded} lie inside the margin or on the wrong side and pull with all "
        f"the weight that C allows. The other {first.n - free - bounded} rows could be left out "
        f"and nothing would change. For comparison, {others}. The duality gap says how much "
        f"better any machine with the same C could be: at most {gap:.1e} of the objective. "
        f"What counts in the end are the rows no machine has seen: {accuracies} of them are "
        f"told apart correctly."
    )


def main() -> None:
    """Fit both machines, print the table and its reading."""
    print("Fitting two machines on the breast cancer data. The very first run compiles, which")
    print("takes some seconds; the compiled code is kept on disk.\n", flush=True)
    compiling: list[float] = []  # stays empty when everything is found on disk
    with install_timer("numba:compile", compiling.append):
        runs = [run(kernel) for kernel in ("rbf", "linear")]
    print(table(runs))
    print()
    if compiling:
        print(f"This run compiled for {sum(compiling):.1f} s; the next one will not have to.\n")
    print(textwrap.fill(reading(runs), width=88))


def _count(support: Any) -> int:
    """Number of members of a set given as a mask or as indices."""
    support = np.asarray(support)
    return int(support.sum()) if support.dtype == bool else len(support)


if __name__ == "__main__":
    main()
