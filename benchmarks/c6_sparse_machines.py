"""Row C6: machines whose penalty selects, on 62 x 2,000 and 569 x 30; each within five seconds.

No peer solves these problems, so the bar is a time. Instead of a peer's answer a row checks its
own: the duality gap where the problem is convex, an objective that never rises where it is not, and
for the table of 30 features the minimum of CVXOPT on the same quadratic program, with its time.

    python -m benchmarks.c6_sparse_machines [--quick]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import tamiz.embedded
from benchmarks.b5_qpfs import table
from benchmarks.common import alternate, print_table, row
from tamiz.embedded import AROM, L0L2SVM, L1L2SVM

LIMIT = 5.0  # seconds


def machines() -> dict[str, Callable[[], Any]]:
    """Name and maker of each machine; FSV if this version has it."""
    made: dict[str, Callable[[], Any]] = {
        "L1L2SVM": lambda: L1L2SVM(C=1.0, nu=1.0),
        "L0L2SVM": lambda: L0L2SVM(C=1.0, nu=0.3),
        "AROM": lambda: AROM(C=1.0),
    }
    if hasattr(tamiz.embedded, "FSV"):
        made["FSV"] = tamiz.embedded.FSV
    return made


def run(quick: bool) -> list[dict[str, Any]]:
    """Time every machine on both tables."""
    rows = []
    tables = {"569 x 30": load_breast_cancer(return_X_y=True), "62 x 2,000": table(62, 2000, 2)}
    for size, (X, y) in tables.items():
        Z = StandardScaler().fit_transform(X)
        for name, make in machines().items():
            start = time.perf_counter()
            make().fit(Z, y)
            first = time.perf_counter() - start
            seconds, _, found, _ = alternate(lambda Z=Z, y=y, make=make: make().fit(Z, y), int)
            agree = checked(found) and seconds <= LIMIT
            note = (
                f"{int(found.support_.sum())} features, {found.n_iter_} steps, first {first:.2f} s"
            )
            rows.append(row("C6", f"{name} {size}", "none", seconds, None, None, agree, note))
        if size == "569 x 30" and not quick:
            rows.append(beside_general_solver(Z, y))
    return rows


def checked(machine: Any) -> bool:
    """Whether the machine's own evidence holds."""
    if machine.status_ != "converged":
        return False
    if machine.duality_gap_ is not None:
        return bool(np.all(machine.duality_gap_ <= 1e-6 * np.abs(machine.objective_)))
    history = np.asarray(machine.history_, dtype=float)
    return bool((np.diff(history) <= 1e-9 * np.abs(history[0])).all())


def beside_general_solver(Z: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """L1L2SVM and CVXOPT's quadratic programming on the same problem."""
    try:
        from tests.naive.mixed_penalties import l1l2_by_general_solver
    except ImportError:
        return row("C6", "L1L2SVM 569 x 30", "CVXOPT, not found", 0.0, None, None, None)
    signs, C, nu = np.where(y == 1, 1.0, -1.0), np.ones(len(y)), np.ones(Z.shape[1])
    ours_s, peer_s, ours, theirs = alternate(
        lambda: L1L2SVM(C=1.0, nu=1.0).fit(Z, y),
        lambda: l1l2_by_general_solver(Z, signs, C, nu),
    )
    agree = bool(abs(ours.objective_ - theirs[2]) <= 1e-6 * theirs[2])
    return row("C6", "L1L2SVM 569 x 30", "CVXOPT qp", ours_s, peer_s, 1.0, agree)


if __name__ == "__main__":
    print_table(run(quick="--quick" in sys.argv[1:]))
