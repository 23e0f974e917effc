"""Kernel machines: J1, J2 and J2b (a grid), J3 (one machine), J6 (an elimination), J7 (classes)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from tamiz import SVC, tune
from tamiz.embedded import SVMRFE
from tamiz.gpu import Lane
from tamiz.kernels import RBF
from tamiz.qp.card import CardQ
from tamiz.svm import SVDD, SVR, OneClassSVM
from tamiz.svm.multiclass import tasks
from tamiz.svm.path.problem import BinaryDual
from tamiz.svm.path.together import Line, Solved, solve_together
from tools.gpu_check import Equality, Job, Timing, apart
from tools.gpu_check.results import SAME


class Fit(NamedTuple):
    """One machine: its size, and what to reach on one H200."""

    n: int
    p: int
    C: float
    bar: str
    tol: float = 1e-4
    gap: float = 1e-4  # relative, of a certificate that holds
    repeats: int = 3
    classes: int = 2


#: Row -> samples, features, and what to reach on one H200.
GRIDS = {
    "J1": (10_000, 100, "≤ 1.2 s"),
    "J2b": (2_000, 50, "≤ 0.4 s"),
    "J2": (20_000, 100, "≤ 5 s"),
}
FITS = {
    "J3": Fit(20_000, 50, 10.0, "≤ 1 s"),
    "J3b": Fit(100_000, 50, 1.0, "≤ 10 s"),
    "J3c": Fit(500_000, 50, 1.0, "", tol=1e-3, gap=1e-3, repeats=0),  # no card holds its matrix
    "J7": Fit(20_000, 50, 1.0, "", classes=10),
}
ROWS = (*GRIDS, *FITS, "J6")
#: With --quick there are so many times fewer samples, and at most so many.
_QUICK, _MOST_QUICK = 50, 2_000
#: Relative duality gap that a grid is asked for.
_GAP = 1e-3
#: The CPU is timed on this fraction of the samples first; its time grows with this power of them.
_PART, _GROWTH = 4, 2.0


class Wanted(NamedTuple):
    """What is timed, and what beside it."""

    quick: bool = False
    peer: bool = False
    cpu: float = 0.0  # the longest that the CPU may take by an estimate, in seconds; 0: not at all


def classes(n: int, p: int, seed: int = 0, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Classes that overlap."""
    X, y = make_classification(
        n,
        p,
        n_informative=min(p, 20),
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=2 if n_classes == 2 else 1,
        flip_y=0.05,
        random_state=seed,
    )
    return StandardScaler().fit_transform(X), y


# ---------------------------------------------------------------------- equality


def equalities(n: int = 3000) -> Iterator[Job]:
    """The cases of the tests, on whatever card there is, with so many samples."""
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
        yield Job(SAME, name, partial(_machine, name, machine, n), "")
    yield Job(SAME, "tune", partial(_grids, n // 5), "")
    yield Job(SAME, "SVMRFE", partial(_eliminations, n // 6), "")


def _machine(name: str, machine: Any, n: int) -> Iterator[Equality]:
    X, y = classes(n, 20)
    truth = np.sin(X[:, 0]) + X[:, 1] if isinstance(machine, SVR) else y
    expected = clone(machine).fit(X, truth)
    found = clone(machine).set_params(device="cuda").fit(X, truth)
    objectives = found.dual_objective_, expected.dual_objective_
    yield Equality(f"{name}: objective", apart(*objectives), 1e-6)
    values = [getattr(m, "decision_function", m.predict)(X) for m in (found, expected)]
    yield Equality(f"{name}: decision values", apart(*values), 1e-2)
    if isinstance(machine, (SVC, SVR)):
        short = expected.dual_objective_ - found.dual_objective_ - found.duality_gap_
        yield Equality(f"{name}: gap covers", max(0.0, short) / found.objective_, 1e-9)
    again = clone(machine).set_params(device="cuda").fit(X, truth)
    yield Equality(f"{name}: same bits", apart(again.alpha_, found.alpha_), 0.0)


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


# ---------------------------------------------------------------------- times


def times(lane: Lane, row: str, wanted: Wanted) -> tuple[list[Job], list[Job]]:
    """A row on the card, and what is beside it."""
    if row in GRIDS:
        return _time_grid(lane, row, wanted)
    if row in FITS:
        return _time_fit(lane, row, wanted)
    return _time_elimination(lane, wanted)


def _time_grid(lane: Lane, row: str, wanted: Wanted) -> tuple[list[Job], list[Job]]:
    n, p, bar = GRIDS[row]
    n = min(n // _QUICK, _MOST_QUICK) if wanted.quick else n
    penalties = np.logspace(-3, 3, 10 if wanted.quick else 50)
    grid = {"C": penalties.tolist()}
    machine = SVC(gamma=1.0 / (2 * p))
    what = f"`tune`, {len(penalties)} C × 10 folds, {n:,} × {p}"
    errors: list[np.ndarray] = []

    def run(device: str | None, size: int = n) -> Any:
        X, y = classes(size, p)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return lambda: tune(
                X, y, machine, grid, cv=10, refit=False, device=device, n_jobs=-1, gap=_GAP
            )

    def on_card() -> Iterator[Timing]:
        found, seconds, first = _timed(lane, run("cuda"))
        errors.append(found.errors)
        gap = inf if found.largest_gap is None else found.largest_gap
        served = sum(cell.gaps is not None for cell in found.cells)
        certificate = f"{served} of {len(found.cells)} cells, largest gap {gap:.1e}"
        holds = gap <= _GAP and served == len(found.cells)
        gaps = tuple(
            (f"C = {C:.3g}", tuple(float(gap) for gap in cell.gaps))
            for C, cell in zip(penalties, found.cells, strict=True)
            if cell.gaps is not None
        )
        yield Timing(row, what, lane.card, seconds, first, certificate, bar, holds, gaps)

    def on_cpu() -> Iterator[Timing]:
        same, seconds, first = _timed(lane, run(None), 0)
        note = f"errors differ by {float(np.abs(same.errors - errors[0]).max()):.1e}" * bool(errors)
        yield Timing(row, what, "CPU", seconds, first, note, "")

    beside = []
    if wanted.peer:
        beside.append(
            Job(row, what, partial(_torchkm, lane, row, what, n, p, penalties), "TorchKM")
        )
    beside += _cpu(row, what, n, wanted, lambda size: run(None, size), on_cpu)
    return [Job(row, what, on_card, lane.card)], beside


def _time_fit(lane: Lane, row: str, wanted: Wanted) -> tuple[list[Job], list[Job]]:
    fit = FITS[row]
    n, p = (min(fit.n // _QUICK, _MOST_QUICK) if wanted.quick else fit.n), fit.p
    machine = SVC(C=fit.C, gamma=1.0 / p, tol=fit.tol)
    several = "" if fit.classes == 2 else f", {fit.classes} classes"
    what = f"`SVC` fit, C = {fit.C:g}, {n:,} × {p}{several}"
    objective: list[float] = []

    def run(device: str | None, size: int = n) -> Any:
        X, y = classes(size, p, n_classes=fit.classes)
        return lambda: clone(machine).set_params(device=device).fit(X, y)

    def on_card() -> Iterator[Timing]:
        kept = lane.fits(4 * n**2 / 0.75)
        found, seconds, first = _timed(lane, run("cuda"), fit.repeats)
        objective.append(float(np.sum(found.dual_objective_)))
        gap = found.duality_gap_ / found.objective_
        place = "matrix kept" if kept else "rows computed"
        certificate = (
            f"gap {np.max(gap):.1e}, violation {np.max(found.kkt_violation_):.1e}, "
            f"{found.device_}, {place}"
        )
        converged = {"converged"} == set(np.atleast_1d(found.status_).tolist())
        holds = bool(converged and np.max(gap) <= fit.gap)
        gaps = (("all machines", tuple(np.atleast_1d(gap).tolist())),)
        yield Timing(row, what, lane.card, seconds, first, certificate, fit.bar, holds, gaps)
        X, _ = classes(min(n, 20_000), p, n_classes=fit.classes)
        values, seconds, first = _timed(lane, lambda: found.decision_function(X))
        yield Timing(row, f"predict {len(values):,} rows", lane.card, seconds, first, "", "")

    def on_cpu() -> Iterator[Timing]:
        same, seconds, first = _timed(lane, run(None), 0)
        far = apart(objective[0], np.sum(same.dual_objective_)) if objective else nan
        note = f"objectives differ by {far:.1e}" * bool(objective)
        holds = not far > 10.0 * fit.tol
        yield Timing(row, what, "CPU", seconds, first, note, "", holds)

    jobs = [Job(row, what, on_card, lane.card)]
    if fit.classes > 2:
        together = f"{what}, all pairs as one batch"
        jobs.append(Job(row, together, partial(_batch, lane, row, together, n, fit), lane.card))
    return jobs, _cpu(row, what, n, wanted, lambda size: run(None, size), on_cpu)


def _batch(lane: Lane, row: str, what: str, n: int, fit: Fit) -> Iterator[Timing]:
    """The machines of all pairs of classes as ``tune`` solves them: whether `fit` should, too."""
    X, y = classes(n, fit.p, n_classes=fit.classes)
    lines = []
    for task in tasks(y, fit.classes, "ovo"):
        box = BinaryDual(task.samples, task.signs, np.ones(len(task.samples))).box(n, 1.0)
        lines.append(Line(box.p, box.lower, box.upper))

    def run() -> list[Solved]:
        Q = CardQ(lane, RBF(gamma=1.0 / fit.p), X, np.float64)
        return list(solve_together(Q, lines, [fit.C], _GAP))

    found, seconds, first = _timed(lane, run)
    gaps = tuple(one.gap for one in found)
    note = f"largest gap {max(gaps):.1e}, {sum(one.finished for one in found)} by decomposition"
    holds = max(gaps) <= _GAP
    yield Timing(row, what, lane.card, seconds, first, note, "", holds, (("all pairs", gaps),))


def _time_elimination(lane: Lane, wanted: Wanted) -> tuple[list[Job], list[Job]]:
    n, p = (100, 12) if wanted.quick else (2_600, 500)
    what = f"`SVMRFE`, radial, {n:,} × {p}, one at a time"
    orders: list[np.ndarray] = []

    def run(device: str | None, size: int = n) -> Any:
        X, y = classes(size, p)
        rfe = SVMRFE(10, kernel="rbf", gamma=1.0 / p, device=device)
        return lambda: clone(rfe).fit(X, y)

    def on_card() -> Iterator[Timing]:
        found, seconds, first = _timed(lane, run("cuda"), 0)
        orders.append(found.order_)
        bar = "≥ 10× the CPU of 16 cores"
        yield Timing("J6", what, lane.card, seconds, first, found.status_, bar)

    def on_cpu() -> Iterator[Timing]:
        same, seconds, first = _timed(lane, run(None), 0)
        differ = int(np.count_nonzero(same.order_ != orders[0])) if orders else 0
        note = f"{differ} places differ" * bool(orders)
        yield Timing("J6", what, "CPU", seconds, first, note, "", differ == 0)

    beside = _cpu("J6", what, n, wanted, lambda size: run(None, size), on_cpu)
    return [Job("J6", what, on_card, lane.card)], beside


def _cpu(
    row: str,
    what: str,
    n: int,
    wanted: Wanted,
    run: Callable[[int], Callable[[], Any]],
    whole: Callable[[], Iterator[Timing]],
) -> list[Job]:
    """The CPU beside, unless an estimate from fewer samples says that it takes too long."""
    if not wanted.cpu:
        return []

    def on_cpu() -> Iterator[Timing]:
        part = max(60, n // _PART)
        run(60)()  # compiles
        work, began = run(part), time.perf_counter()
        work()
        estimate = (time.perf_counter() - began) * (n / part) ** _GROWTH
        if estimate <= wanted.cpu:
            yield from whole()
            return
        note = f"not run: about {estimate:,.0f} s, from {part:,} samples"
        yield Timing(row, what, "CPU", nan, nan, note, "")

    return [Job(row, what, on_cpu, "CPU")]


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
    lane: Lane, row: str, what: str, n: int, p: int, penalties: np.ndarray
) -> Iterator[Timing]:
    """TorchKM on the same card, with its own tolerance; it reports no certificate."""
    try:
        import torch
        from torchkm.cvksvm import cvksvm
    except ImportError as error:
        yield Timing(row, what, "TorchKM", nan, nan, f"not run: {error}", "")
        return
    X, y = classes(n, p)
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
    except Exception as error:  # that of another package is no fault of ours
        note = f"failed: {type(error).__name__}: {error}"[:200]
        yield Timing(row, what, "TorchKM", nan, nan, note, "")
        return
    finally:
        torch.cuda.empty_cache()
    yield Timing(row, what, "TorchKM", seconds, first, "none", "")
