"""Row I1: Shadows beside BorutaPy, knockoffs beside knockpy and hidimstat, and rates.

Shadows and BorutaPy (a forest of depth 5, its own number of trees) on 569 x 30 and 2,600 x 500, in
processor seconds, each with one worker. Agreement: no feature that one accepts is rejected by the
other; the note counts those that one decides and the other leaves undecided. MVR by coordinate
descent on the shrunk correlations of random walks; agreement: our objective is not above the
peer's. ``--rates`` adds how often knockoffs of simulated tables keep their rate.

    python -m benchmarks.i1_discovery [--quick] [--rates]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from benchmarks.common import print_table, row
from tamiz.data import load
from tamiz.discovery import Knockoffs, Shadows
from tamiz.discovery.knockoffs.estimates import shrunk_correlations
from tamiz.discovery.knockoffs.gaussian import mvr, mvr_objective


def processor(function: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and what it returned."""
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def shadows(quick: bool) -> list[dict[str, Any]]:
    """Accepted, rejected and undecided features of both, and their times."""
    try:
        from boruta import BorutaPy
    except ImportError:
        return []
    tables = {"569 x 30": load_breast_cancer(return_X_y=True)}
    if not quick:
        madelon = load("madelon")
        tables["2,600 x 500"] = np.asarray(madelon.X, dtype=float), np.asarray(madelon.y)
    rows = []
    for name, (X, y) in tables.items():
        Shadows(max_rounds=10, random_state=0).fit(X, y)  # compiles
        ours_s, ours = processor(lambda X=X, y=y: Shadows(n_jobs=1, random_state=0).fit(X, y))
        forest = RandomForestClassifier(max_depth=5, n_jobs=1)
        peer = BorutaPy(forest, n_estimators="auto", random_state=0)
        peer_s, _ = processor(lambda X=X, y=y, peer=peer: peer.fit(X, y))
        theirs = np.where(peer.support_, 1, np.where(peer.support_weak_, 0, -1))
        against = int((ours.decisions_ * theirs < 0).sum())
        open_ = int(((ours.decisions_ == 0) != (theirs == 0)).sum())
        note = (
            f"accepted {int(ours.support_.sum())}, peer's {int(peer.support_.sum())}; {against} "
            f"decided against each other, {open_} by one only"
        )
        rows.append(
            row("I1", f"Shadows {name}", "BorutaPy", ours_s, peer_s, 20.0, against == 0, note)
        )
    return rows


def differences(quick: bool) -> list[dict[str, Any]]:
    """The objective of MVR, and the time to get there."""
    try:
        from knockpy.mrc import solve_mvr
    except ImportError:
        return []
    rows = []
    rng = np.random.default_rng(0)
    for p in (100,) if quick else (100, 300, 500):
        X = rng.normal(size=(1000, p))
        X = X + 0.2 * np.cumsum(X, axis=1)
        sigma, _ = shrunk_correlations((X - X.mean(axis=0)) / X.std(axis=0))
        mvr(sigma[:5, :5])  # compiles
        ours_s, ours = processor(lambda sigma=sigma: mvr(sigma))
        peer_s, theirs = processor(lambda sigma=sigma: np.diag(solve_mvr(sigma)))
        value, peer_value = mvr_objective(sigma, ours), mvr_objective(sigma, theirs)
        note = f"objective {value:.4f}, peer's {peer_value:.4f}"
        agree = value <= peer_value * (1 + 1e-6)
        rows.append(row("I1", f"MVR {p}", "knockpy", ours_s, peer_s, None, agree, note))
    return rows


def selections(quick: bool) -> list[dict[str, Any]]:
    """Knockoffs and the selection by them, beside whole selections of other packages."""
    rows = []
    for n, p in ((500, 100),) if quick else ((500, 100), (1000, 300)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, p))
        X[:, 1:] += 0.6 * X[:, :-1]
        y = X[:, :10].sum(axis=1) + 2 * rng.normal(size=n)
        for statistic, name, peer in (
            ("linear", "knockpy, ridge", lambda X=X, y=y: _knockpy("ridge", X, y)),
            ("lasso", "knockpy, lasso", lambda X=X, y=y: _knockpy("lasso", X, y)),
            ("lasso", "hidimstat, lasso", lambda X=X, y=y: _hidimstat(X, y)),
        ):
            made = Knockoffs(statistic, fdr=0.2, random_state=0)
            try:
                peer_s, chosen = processor(peer)
            except ImportError:
                continue
            made.fit(X[:, :20], y)  # compiles
            ours_s, found = processor(lambda made=made, X=X, y=y: made.fit(X, y))
            note = f"{int(found.support_[:10].sum())} of 10 found, peer's {int(chosen[:10].sum())}"
            workload = f"Knockoffs {statistic}, {n:,} x {p}"
            rows.append(row("I1", workload, name, ours_s, peer_s, 10.0, None, note))
    return rows


def _knockpy(statistic: str, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    from knockpy import KnockoffFilter

    made = KnockoffFilter(ksampler="gaussian", fstat=statistic, knockoff_kwargs={"method": "mvr"})
    return np.asarray(made.forward(X, y, fdr=0.2)) > 0


def _hidimstat(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    from hidimstat import ModelXKnockoff

    made = ModelXKnockoff(random_state=0)
    made.fit_importance(X, y)
    return np.asarray(made.fdr_selection(fdr=0.2)).ravel() > 0


def rates(
    n_tables: int = 100, statistics: tuple[str, ...] = ("linear", "lasso", "rbf", "forest", "auc")
) -> None:
    """Fraction of false discoveries and power, over tables with 20 of 60 relevant features."""
    print("statistic  draws  fdr asked  fdr found  power  nothing")
    for statistic in statistics:
        for n_draws in (1, 5):
            false, power = [], []
            for seed in range(n_tables):
                rng = np.random.default_rng(seed)
                X = rng.normal(size=(500, 60))
                X[:, 1:] += 0.6 * X[:, :-1]
                relevant = np.zeros(60, dtype=bool)
                relevant[rng.choice(60, 20, replace=False)] = True
                y = X[:, relevant].sum(axis=1) + 2.0 * rng.normal(size=500) > 0
                found = Knockoffs(statistic, n_draws=n_draws, random_state=seed).fit(X, y).support_
                false.append((found & ~relevant).sum() / max(1, found.sum()))
                power.append(found[relevant].mean())
            nothing = np.mean([one == 0 for one in power])
            print(
                f"{statistic:9}  {n_draws:5}  {0.1:9}  {np.mean(false):9.3f}  "
                f"{np.mean(power):5.2f}  {nothing:7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    quick = "--quick" in sys.argv[1:]
    print_table(differences(quick))
    print_table(selections(quick))
    print_table(shadows(quick))
    if "--rates" in sys.argv[1:]:
        rates(20 if quick else 100)
