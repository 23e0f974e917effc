"""Row G2: linear machines from a stream, beside the same machines in memory.

a9a (32,561 x 123, sparse) is streamed 50 times over, 1.6 million rows, with a fiftieth of the price
of slack: the minimum is that of a9a once, so machines in memory are the reference. Test errors are
on the official test rows. Each case runs in a process of its own, so that its peak of memory is its
own; it holds the data and, but for the LIBSVM file, 50 references to them.

- pegasos: from a LIBSVM file and from a list, beside ``fit`` on a9a once;
- rfe: half of the features at a time, beside the same elimination with scikit-learn's LinearSVC;
- arom: beside ``fit`` on a9a once, in the full run only (it takes minutes);
- selection: AROM on 4,000 rows, 50 times over, beside ``fit`` on them: the same features.

Agreement: test errors differ by one percentage point at most; of the elimination 17 of the best 20.

    python -m benchmarks.g2_stream_machines [--quick]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from benchmarks.common import peak_mb, row
from tamiz.data import load
from tamiz.embedded import AROM, SVMRFE
from tamiz.svm import PegasosClassifier

PEERS = ("pegasos", "rfe", "arom", "selection")
N_TRAIN = 32_561
N_SOME = 4000
C = 0.01
NEAR = 0.01


def timed(function: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds by the clock, seconds of all processors, and result of one call."""
    start, cpu = time.perf_counter(), time.process_time()
    result = function()
    return time.perf_counter() - start, time.process_time() - cpu, result


class Halving:
    """The same elimination with scikit-learn's LinearSVC, whose intercept hardly costs anything."""

    def fit(self, X: Any, y: np.ndarray) -> Halving:
        """Train, drop half, train again; stop once at 20 features, and go on."""
        left, order = np.arange(X.shape[1]), []
        self.machine, self.kept = None, None
        while True:
            machine = LinearSVC(loss="hinge", C=C, intercept_scaling=10.0, max_iter=20_000)
            machine.fit(X[:, left], y)
            if len(left) == 20:
                self.machine, self.kept = machine, left
            if len(left) == 1:
                break
            count = len(left) // 2
            if len(left) > 20:
                count = min(count, len(left) - 20)
            worst = np.argsort(machine.coef_[0] ** 2)[:count]
            order += left[worst].tolist()
            left = np.delete(left, worst)
        self.order_ = np.array([*left, *order[::-1]])
        return self

    def score(self, Z: Any, t: np.ndarray) -> float:
        """Accuracy of the machine on the best 20."""
        assert self.machine is not None
        return self.machine.score(Z[:, self.kept], t)


def write_libsvm(X: Any, y: np.ndarray, path: Path, times: int) -> None:
    """The rows as LIBSVM text, several times over."""
    lines = [
        f"{label} " + " ".join(f"{j + 1}:1" for j in X.indices[X.indptr[i] : X.indptr[i + 1]])
        for i, label in enumerate(y)
    ]
    text = "\n".join(lines) + "\n"
    with path.open("w", encoding="utf-8") as file:
        for _ in range(times):
            file.write(text)


class Case:
    """The data, and a row for each comparison."""

    def __init__(self, quick: bool):
        self.times = 5 if quick else 50
        data = load("a9a")
        X, y = sparse.csr_matrix(np.asarray(data.X, dtype=float)), np.asarray(data.y)
        del data
        self.Z, self.t = X[N_TRAIN:], y[N_TRAIN:]
        self.X, self.y = X[:N_TRAIN], y[:N_TRAIN]
        self.parts = [(self.X, self.y)] * self.times
        self.start = peak_mb()
        self.rows: list[dict[str, Any]] = []

    def add(
        self,
        name: str,
        ours: tuple[float, float, Any],
        peer: tuple[float, float, Any] | None,
        note: str,
        peer_name: str = "in memory, a9a once",
    ) -> None:
        """Compare the errors on the test rows."""
        error = 1 - ours[2].score(self.Z, self.t)
        text = f"test error {error:.4f}"
        agree = None
        if peer is not None:
            other = 1 - peer[2].score(self.Z, self.t)
            agree = bool(abs(error - other) <= NEAR)
            text += f" / {other:.4f}"
        text += f"; {note}; {ours[1]:.1f} s of CPU; peak {self.peak:,.0f} MB"
        text += f" ({self.start:,.0f} before)"
        work = f"{name}, a9a {self.times} times: {self.times * N_TRAIN:,} x 123"
        seconds = None if peer is None else peer[0]
        self.rows.append(row("G2", work, peer_name, ours[0], seconds, None, agree, text))

    def fit(self, function: Callable[[], Any]) -> tuple[float, float, Any]:
        """Fit from the stream, and look at the memory."""
        found = timed(function)
        self.peak = peak_mb()
        return found


def pegasos(case: Case, quick: bool) -> None:
    """Steps."""
    epochs = 10 if quick else 100  # at most; ten million steps are enough
    make = PegasosClassifier(C=C / case.times, max_iter=epochs, random_state=0)
    peer = timed(
        lambda: PegasosClassifier(C=C, max_iter=epochs, random_state=0).fit(case.X, case.y)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a9a.libsvm"
        write_libsvm(case.X, case.y, path, case.times)
        case.start = peak_mb()
        sources = {
            "LIBSVM file, not kept": (path, {"n_features": 123, "keep_bytes": 0, "passes": 3}),
            "LIBSVM file": (path, {"n_features": 123}),
            "list": (case.parts, {}),
        }
        for name, (source, options) in sources.items():
            ours = case.fit(lambda s=source, o=options: make.fit_stream(s, **o))
            values = f"objective {make.objective_:.4f} / {peer[2].objective_:.4f}"
            case.add(f"Pegasos, {name}", ours, peer, f"{values}; {make.n_iter_ + 2} passes")


def rfe(case: Case, quick: bool) -> None:
    """Elimination."""
    make = SVMRFE(C=C / case.times, step="half", n_features_to_select=20)
    ours = case.fit(lambda: make.fit_stream(case.parts))
    peer = timed(lambda: Halving().fit(case.X, case.y))
    same = len(set(make.order_[:20]) & set(peer[2].order_[:20]))
    note = f"{same} of the best 20; {make.n_passes_} passes"
    case.add("SVMRFE", ours, peer, note, "scikit-learn LinearSVC, a9a once")
    case.rows[-1]["agree"] = case.rows[-1]["agree"] and same >= 17


def arom(case: Case, quick: bool) -> None:
    """Rescaling, all rows."""
    make = AROM(C=C / case.times)
    ours = case.fit(lambda: make.fit_stream(case.parts))
    note = f"{make.support_.sum()} features; {make.n_passes_} passes"
    if quick:
        case.add("AROM", ours, None, note, "none")
        return
    peer = timed(lambda: AROM(C=C).fit(case.X, case.y))
    same = int((make.support_ == peer[2].support_).sum())
    case.add("AROM", ours, peer, f"{note}; {same} of 123 decisions as in memory")


def selection(case: Case, quick: bool) -> None:
    """Rescaling, some rows: the selection."""
    X, y = case.X[:N_SOME], case.y[:N_SOME]
    for price in (C, 1.0) if quick else (C, 0.1, 1.0):
        make = AROM(C=price / case.times)
        ours = case.fit(lambda m=make: m.fit_stream([(X, y)] * case.times))
        peer = timed(lambda p=price: AROM(C=p).fit(X, y))
        same = int((make.support_ == peer[2].support_).sum())
        note = f"C = {price:g}, {make.support_.sum()} / {peer[2].support_.sum()} features, {same} "
        case.add("AROM", ours, peer, note + f"of 123 decisions alike; {make.n_passes_} passes")
        case.rows[-1]["agree"] = same == 123
        case.rows[-1]["workload"] = f"AROM, {N_SOME:,} rows {case.times} times"
        case.rows[-1]["peer"] = "in memory, these rows once"


def run(quick: bool, peer: str) -> list[dict[str, Any]]:
    """One case."""
    case = Case(quick)
    {"pegasos": pegasos, "rfe": rfe, "arom": arom, "selection": selection}[peer](case, quick)
    return case.rows


if __name__ == "__main__":
    from benchmarks.common import print_table

    print(f"{os.cpu_count()} processors", file=sys.stderr)
    chosen = [name for name in PEERS if name in sys.argv[1:]] or PEERS
    print_table([r for name in chosen for r in run("--quick" in sys.argv[1:], name)])
