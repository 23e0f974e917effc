"""Row G2: linear machines from a stream, beside the same machines in memory.

a9a (32,561 x 123, sparse) is streamed 50 times over, 1.6 million rows, with a fiftieth of the price
of slack: the minimum is that of a9a once, so the machines in memory are the reference. Test errors
are on the official test rows. Pegasos reads a LIBSVM file, the others a function that gives the
batches. Agreement: test error within one percent; of the elimination 17 of the best 20.

    python -m benchmarks.g2_stream_machines [--quick]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from benchmarks.common import peak_mb, row
from tamiz.data import load
from tamiz.embedded import AROM, SVMRFE
from tamiz.svm import PegasosClassifier

N_TRAIN = 32_561
C = 0.01
NEAR = 0.01


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of one call."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


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
    with path.open("w") as file:
        for _ in range(times):
            file.write(text)


def run(quick: bool) -> list[dict[str, Any]]:
    """Fit each machine once from the stream and once in memory."""
    times = 5 if quick else 50
    data = load("a9a")
    X, y = sparse.csr_matrix(np.asarray(data.X, dtype=float)), np.asarray(data.y)
    Z, t, X, y = X[N_TRAIN:], y[N_TRAIN:], X[:N_TRAIN], y[:N_TRAIN]

    def stream() -> Iterator[tuple[Any, np.ndarray]]:
        for _ in range(times):
            yield X, y

    rows = []

    def add(
        name: str,
        ours: Any,
        seconds: float,
        peer: Any,
        peer_s: float,
        note: str,
        peer_name: str = "in memory, a9a once",
    ) -> None:
        errors = 1 - ours.score(Z, t), 1 - peer.score(Z, t)
        agree = bool(abs(errors[0] - errors[1]) <= NEAR)
        text = f"test error {errors[0]:.4f} / {errors[1]:.4f}; {note}; peak {peak_mb():,.0f} MB"
        work = f"{name}, a9a {times} times: {times * N_TRAIN:,} x 123"
        rows.append(row("G2", work, peer_name, seconds, peer_s, None, agree, text))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a9a.libsvm"
        write_libsvm(X, y, path, times)
        ours_s, ours = timed(
            lambda: PegasosClassifier(C=C / times, random_state=0).fit_stream(path, n_features=123)
        )
        peer_s, peer = timed(lambda: PegasosClassifier(C=C, random_state=0).fit(X, y))
        note = f"objective {ours.objective_:.4f} / {peer.objective_:.4f}; {ours.n_iter_} + 2 passes"
        add("Pegasos", ours, ours_s, peer, peer_s, note)
    options = {"step": "half", "n_features_to_select": 20}
    ours_s, ours = timed(lambda: SVMRFE(C=C / times, **options).fit_stream(stream))
    peer_s, peer = timed(lambda: Halving().fit(X, y))
    same = len(set(ours.order_[:20]) & set(peer.order_[:20]))
    add(
        "SVMRFE",
        ours,
        ours_s,
        peer,
        peer_s,
        f"{same} of the best 20; {ours.n_passes_} passes",
        "scikit-learn LinearSVC, a9a once",
    )
    rows[-1]["agree"] = rows[-1]["agree"] and same >= 17
    ours_s, ours = timed(lambda: AROM(C=C / times).fit_stream(stream))
    peer_s, peer = timed(lambda: AROM(C=C).fit(X, y))
    both = f"{ours.support_.sum()} / {peer.support_.sum()} features; {ours.n_passes_} passes"
    add("AROM", ours, ours_s, peer, peer_s, both)
    return rows


if __name__ == "__main__":
    from benchmarks.common import print_table

    print_table(run(quick="--quick" in sys.argv[1:]))
