"""The rows of kernel machines: J1, J2 and J2b (a grid), J3 (one machine), J6 (an elimination)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from tamiz import SVC, tune
from tamiz.embedded import SVMRFE
from tamiz.gpu import Lane
from tamiz.svm import SVDD, SVR, OneClassSVM
from tools.gpu_check import Equality, Timing

#: Row -> samples, features, and what to reach on one H200.
GRIDS = {
    "J1": (10_000, 100, "≤ 1.2 s"),
    "J2": (20_000, 100, "≤ 5 s"),
    "J2b": (2_000, 50, "≤ 0.4 s"),
}
FITS = {"J3": (20_000, 50, 10.0, "≤ 1 s"), "J3b": (100_000, 50, 1.0, "≤ 10 s")}
ROWS = (*GRIDS, *FITS, "J6")
#: With --quick everything is this much smaller.
_QUICK = 50
#: Machines and grids beyond this many samples are not fitted on the CPU beside.
_CPU_LIMIT, _CPU_GRID = 30_000, 10_000
#: Relative duality gaps to reach.
_GAP, _FIT_GAP = 1e-3, 1e-4


def classes(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that overlap."""
    X, y = make_classification(
        n, p, n_informative=min(p, 20), n_redundant=0, flip_y=0.05, random_state=seed
    )
    return StandardScaler().fit_transform(X), y


# ---------------------------------------------------------------------- equality


def equalities(n: int = 3000) -> Iterator[Equality]:
    """The cases of the tests, on whatever card there is, with so many samples."""
    X, y = classes(n, 20)
    target = np.sin(X[:, 0]) + X[:, 1]
    machines = {
        "SVC, C = 1": SVC(tol=1e-4),
        "SVC, C = 1000": SVC(C=1000.0, gamma=0.02, tol=1e-4),
        "SVC, linear": SVC(kernel="linear", tol=1e-4),
        "SVC, polynomial": SVC(kernel="poly", gamma=0.02, coef0=1.0, tol=1e-4),
        "SVR": SVR(C=10.0, tol=1e-4),
        "SVR, squared": SVR(C=10.0, loss="squared", tol=1e-4),
        "OneClassSVM": OneClassSVM(nu=0.1, tol=1e-4),
        "SVDD": SVDD(nu=0.1, tol=1e-4),
    }
    for name, machine in machines.items():
        truth = target if isinstance(machine, SVR) else y
        expected = clone(machine).fit(X, truth)
        found = clone(machine).set_params(device="cuda").fit(X, truth)
        objectives = found.dual_objective_, expected.dual_objective_
        yield Equality(f"{name}: objective", _apart(*objectives), 1e-6)
        values = [getattr(m, "decision_function", m.predict)(X) for m in (found, expected)]
        yield Equality(f"{name}: decision values", _apart(*values), 1e-2)
        if isinstance(machine, (SVC, SVR)):
            short = expected.dual_objective_ - found.dual_objective_ - found.duality_gap_
            yield Equality(f"{name}: gap covers", max(0.0, short) / found.objective_, 1e-9)
        again = clone(machine).set_params(device="cuda").fit(X, truth)
        yield Equality(f"{name}: same bits", _apart(again.alpha_, found.alpha_), 0.0)
    yield from _grids(n // 5)
    yield from _eliminations(n // 6)


def _grids(n: int) -> Iterator[Equality]:
    X, y = make_classification(n, 12, n_informative=6, n_classes=3, flip_y=0.1, random_state=0)
    grid = {"C": np.logspace(-2, 3, 11).tolist(), "gamma": [0.01, 0.05]}
    for name, estimator, truth in (
        ("tune, three classes", SVC(tol=1e-4), y),
        ("tune, regression", SVR(tol=1e-4), X @ np.linspace(-1, 1, 12)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            expected = tune(X, truth, estimator, grid, cv=5)
            found = tune(X, truth, estimator, grid, cv=5, device="cuda", gap=1e-6)
        yield Equality(f"{name}: errors", float(np.abs(found.errors - expected.errors).max()), 0.01)
        gap = np.inf if found.largest_gap is None else found.largest_gap
        yield Equality(f"{name}: largest gap", gap, 1e-6)
        yield Equality(f"{name}: cells", 22.0 - found.notes["fast_cells"], 0.0)


def _eliminations(n: int) -> Iterator[Equality]:
    X, y = classes(n, 3 + n // 15)
    for order in ("zero", "first"):
        rfe = SVMRFE(5, kernel="rbf", order=order)
        expected, found = clone(rfe).fit(X, y), rfe.set_params(device="cuda").fit(X, y)
        differ = float(np.count_nonzero(found.order_ != expected.order_))
        yield Equality(f"SVMRFE, order {order!r}: places that differ", differ, 0.0)


def _apart(found: Any, expected: Any) -> float:
    """The largest difference, beside the largest size."""
    return float(np.abs(np.subtract(found, expected)).max() / max(np.abs(expected).max(), 1e-300))


# ---------------------------------------------------------------------- times


def timings(lane: Lane, rows: list[str], quick: bool, cpu: bool, peer: bool) -> Iterator[Timing]:
    """The rows asked for; the card first, what is beside it after."""
    for row in rows:
        if row in GRIDS:
            yield from _time_grid(lane, row, quick, cpu, peer)
        elif row in FITS:
            yield from _time_fit(lane, row, quick, cpu)
        elif row == "J6":
            yield from _time_elimination(lane, quick, cpu)


def _time_grid(lane: Lane, row: str, quick: bool, cpu: bool, peer: bool) -> Iterator[Timing]:
    n, p, bar = GRIDS[row]
    n = n // _QUICK if quick else n
    X, y = classes(n, p)
    penalties = np.logspace(-3, 3, 10 if quick else 50)
    grid = {"C": penalties.tolist()}
    machine = SVC(gamma=1.0 / (2 * p))
    what = f"`tune`, {len(penalties)} C × 10 folds, {n:,} × {p}"

    def run(device: str | None) -> Any:
        return tune(X, y, machine, grid, cv=10, refit=False, device=device, n_jobs=-1, gap=_GAP)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found, seconds, first = _timed(lane, lambda: run("cuda"))
        gap = np.inf if found.largest_gap is None else found.largest_gap
        served = sum(cell.gaps is not None for cell in found.cells)
        certificate = f"{served} of {len(found.cells)} cells, largest gap {gap:.1e}"
        holds = gap <= _GAP and served == len(found.cells)
        yield Timing(row, what, lane.card, seconds, first, certificate, bar, holds)
        if cpu and n <= _CPU_GRID:
            same, seconds, first = _timed(lane, lambda: run(None), 0)
            apart = float(np.abs(same.errors - found.errors).max())
            yield Timing(row, what, "CPU", seconds, first, f"errors differ by {apart:.1e}", "")
    if peer:
        yield _torchkm(lane, row, what, X, y, penalties)


def _time_fit(lane: Lane, row: str, quick: bool, cpu: bool) -> Iterator[Timing]:
    n, p, C, bar = FITS[row]
    n = n // _QUICK if quick else n
    X, y = classes(n, p)
    machine = SVC(C=C, gamma=1.0 / p, tol=1e-4)
    what = f"`SVC` fit, C = {C:g}, {n:,} × {p}"
    card = clone(machine).set_params(device="cuda")
    found, seconds, first = _timed(lane, lambda: clone(card).fit(X, y))
    gap = found.duality_gap_ / found.objective_
    certificate = f"gap {gap:.1e}, violation {found.kkt_violation_:.1e}, {found.device_}"
    holds = found.status_ == "converged" and gap <= _FIT_GAP
    yield Timing(row, what, lane.card, seconds, first, certificate, bar, holds)
    values, seconds, first = _timed(lane, lambda: found.decision_function(X[:20_000]))
    yield Timing(row, f"predict {len(values):,} rows", lane.card, seconds, first, "", "")
    if cpu and n <= _CPU_LIMIT:
        same, seconds, first = _timed(lane, lambda: clone(machine).fit(X, y), 0)
        apart = _apart(found.dual_objective_, same.dual_objective_)
        note = f"objectives differ by {apart:.1e}"
        yield Timing(row, what, "CPU", seconds, first, note, "", apart <= 1e-5)


def _time_elimination(lane: Lane, quick: bool, cpu: bool) -> Iterator[Timing]:
    n, p = (100, 12) if quick else (2_600, 500)
    X, y = classes(n, p)
    what = f"`SVMRFE`, radial, {n:,} × {p}, one at a time"
    rfe = SVMRFE(10, kernel="rbf", gamma=1.0 / p)
    card = clone(rfe).set_params(device="cuda")
    found, seconds, first = _timed(lane, lambda: clone(card).fit(X, y), 0)
    bar = "≥ 10× the CPU of 16 cores"
    yield Timing("J6", what, lane.card, seconds, first, found.status_, bar)
    if cpu:
        same, seconds, first = _timed(lane, lambda: clone(rfe).fit(X, y), 0)
        differ = int(np.count_nonzero(same.order_ != found.order_))
        note = f"{differ} places differ"
        yield Timing("J6", what, "CPU", seconds, first, note, "", differ == 0)


def _timed(lane: Lane, work: Callable[[], Any], repeats: int = 3) -> tuple[Any, float, float]:
    """The last answer, the least time after the first call, and that of the first.

    Without repeats the first is all there is.
    """
    seconds = []
    answer = None
    for _ in range(repeats + 1):
        lane.synchronize()
        began = time.perf_counter()
        answer = work()
        lane.synchronize()
        seconds.append(time.perf_counter() - began)
    return answer, min(seconds[1:] or seconds), seconds[0]


def _torchkm(
    lane: Lane, row: str, what: str, X: np.ndarray, y: np.ndarray, penalties: np.ndarray
) -> Timing:
    """TorchKM on the same card, with its own tolerance; it reports no certificate."""
    try:
        import torch
        from torchkm.cvksvm import cvksvm
    except ImportError as error:
        return Timing(row, what, "TorchKM", np.nan, np.nan, f"not run: {error}", "")
    n, p = X.shape
    folds = torch.as_tensor(np.arange(n) % 10 + 1)
    labels = torch.as_tensor(2.0 * y - 1.0)
    strengths = torch.as_tensor(np.sort(1.0 / (2.0 * n * penalties))[::-1].copy())

    def run() -> Any:
        table = torch.as_tensor(X, device="cuda")
        gram = torch.exp(-torch.cdist(table, table).square() / (2 * p))
        model = cvksvm(
            Kmat=gram,
            y=labels,
            nlam=len(penalties),
            ulam=strengths,
            foldid=folds,
            nfolds=10,
            eps=1e-5,
            maxit=1000,
            gamma=1e-8,
            is_exact=0,
            device="cuda",
        )
        model.fit()
        torch.cuda.synchronize()
        return model

    try:
        _, seconds, first = _timed(lane, run)
    except Exception as error:
        return Timing(row, what, "TorchKM", np.nan, np.nan, f"failed: {error}", "")
    return Timing(row, what, "TorchKM", seconds, first, "none", "")
