"""Row I1: Shadows, knockoffs and stability selection beside other packages, and rates.

Shadows and BorutaPy (a forest of depth 5, its own number of trees) on 569 x 30 and 2,600 x 500, in
processor seconds, each with one worker. Agreement: no feature that one accepts is rejected by the
other; the note counts those that one decides and the other leaves undecided. MVR by coordinate
descent on the shrunk correlations of random walks; agreement: our objective is not above the
peer's. Stability selection beside the package of that name: weights that are not zero in 100 halves
of the rows, eight values of C. Agreement: the mean over features of the frequency with which they
ever come in along the path, 0.05 apart at most, which is about what two draws of halves differ by.
A peer that is not installed, or does not import, is left out with a sentence. ``--rates`` adds how
often knockoffs of simulated tables keep their rate.

    python -m benchmarks.i1_discovery [--quick] [--rates]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from benchmarks.common import print_table, row
from tamiz.data import load
from tamiz.discovery import Knockoffs, Shadows, StabilitySelection
from tamiz.discovery.knockoffs.estimates import shrunk_correlations
from tamiz.discovery.knockoffs.gaussian import mvr, mvr_objective
from tamiz.svm import LinearMachine


def processor(function: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and what it returned."""
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def _left_out(peer: str, error: ImportError) -> list[dict[str, Any]]:
    """No rows, and a sentence that says why."""
    print(f"The rows beside {peer} are left out, since it cannot be imported: {error}.")
    return []


def shadows(quick: bool) -> list[dict[str, Any]]:
    """Accepted, rejected and undecided features of both, and their times."""
    try:
        from boruta import BorutaPy
    except ImportError as error:
        return _left_out("BorutaPy", error)
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
    except ImportError as error:
        return _left_out("knockpy", error)
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
        rows.append(row("I1", f"MVR {p}", "knockpy", ours_s, peer_s, 10.0, agree, note))
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
            except ImportError as error:
                _left_out(name, error)
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


def halves(quick: bool) -> list[dict[str, Any]]:
    """Frequencies of weights that are not zero, along a path of penalties."""
    try:
        from stability_selection import StabilitySelection as Peer
    except ImportError as error:  # unmaintained: scikit-learn has no longer what it imports
        return _left_out("stability-selection", error)
    rows = []
    for n, p in ((300, 200),) if quick else ((300, 200), (400, 1000)):
        rng = np.random.default_rng(0)
        X = StandardScaler().fit_transform(rng.normal(size=(n, p)))
        y = (X[:, :10].sum(axis=1) + 2 * rng.normal(size=n) > 0).astype(int)
        grid = l1_min_c(X, y, loss="log") * np.geomspace(1.0, 10.0, 8)
        liblinear = LogisticRegression(penalty="l1", solver="liblinear", tol=1e-3)
        made = Peer(make_pipeline(liblinear), random_state=0, **_path(Peer, grid))
        peer_s, _ = processor(lambda made=made, X=X, y=y: made.fit(X, y))
        theirs = made.stability_scores_.max(axis=1)
        for machine in (liblinear, LinearMachine(loss="logistic", penalty="l1")):
            ours = StabilitySelection(
                SelectFromModel(machine, threshold=1e-5),
                penalty={"estimator__C": grid.tolist()},
                n_features_per_subsample=p,
                threshold=0.6,
                n_subsamples=100,
                random_state=0,
                n_jobs=1,
            )
            clone(machine).fit(X[:, :20], y)  # compiles
            ours_s, _ = processor(lambda ours=ours, X=X, y=y: ours.fit(X, y))
            apart = float(np.abs(ours.frequencies_ - theirs).mean())
            both = (ours.frequencies_ > 0.6) & (theirs > 0.6)
            note = (
                f"frequencies {apart:.3f} apart, {int(both.sum())} features above 0.6 in both, "
                f"{int((theirs > 0.6).sum())} by the peer"
            )
            workload = f"StabilitySelection of {type(machine).__name__}, {n} x {p:,}"
            peer = "stability-selection"
            rows.append(row("I1", workload, peer, ours_s, peer_s, 10.0, apart < 0.05, note))
    return rows


def _path(peer: Any, grid: np.ndarray) -> dict[str, Any]:
    """The penalties as the peer's versions take them."""
    if "alphas" in signature(peer).parameters:
        return {"alphas": grid}
    return {"lambda_name": "logisticregression__C", "lambda_grid": grid}


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
    print_table(halves(quick))
    if "--rates" in sys.argv[1:]:
        rates(20 if quick else 100)
