"""Show that a change of the code did not change its answers.

``write FILE`` fits every public estimator of tamiz on small made-up tables, with many settings, and
stores what came out. ``compare OLD NEW`` compares two such files and names each fit that differs::

    python tools/same_answers.py write before.npz
    python tools/same_answers.py write after.npz
    python tools/same_answers.py compare before.npz after.npz

Only public names are used, so that the same script runs before and after the code behind them was
moved. To run it against another checkout, put that one's ``src`` first in ``PYTHONPATH``.

What must be equal: orders, supports, predictions, chosen parameters, texts, and the class of an
error or a warning. Floats must agree to 1e-12 of their size; those of an iterative solver to the
tolerance the solver was given, which is stored with the fit. How well a solver did (duality gap,
violation) may differ by that tolerance in absolute terms, or by 1e-9. What is no answer is only
noted: the number of iterations, the wording of an error, an attribute that only the newer file has.
Times are not stored. The file is an npz archive of one JSON text and one vector; nothing in it is
pickled.

The exit status of ``compare`` is 1 if any fit differs.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

os.environ.pop("TAMIZ_DATA", None)  # named data sets: the packaged ones

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz import (
    data,
    embedded,
    evaluation,
    filters,
    information,
    kernels,
    neighbors,
    persistence,
    scale,
    search,
    svm,
    tree,
)

EXACT = 1e-12  # relative, of results that are computed in a fixed number of steps
LOOP = 1e-9  # of long loops of updates, where a rounding error may grow
ROUNDING = 1e-15  # of the largest value of an array: what cancellation may leave of a zero

# Not answers: noted where they differ.
EFFORT = re.compile(r"(^|/)(n_iter_|history_|n_evaluations_|n_expanded_|n_correlations_|n_passes)")
# How well a solver did: compared in absolute terms.
RESIDUAL = re.compile(r"(^|/)(duality_gap_|kkt_violation_|approximation_error_)")
# Times, settings, and what is laid out as an implementation pleases.
SKIPPED = re.compile(r"second|elapsed|(^|/)(params|forest_|bins_|_.*|version|tamiz|created)$")


class Fit(NamedTuple):
    """One thing to compute, and how closely its floats must agree."""

    name: str
    make: Callable[[], Any]
    tol: float


# ------------------------------------------------------------------------------------- the tables


def _tables() -> dict[str, tuple[Any, Any]]:
    """The small tables of all fits: samples and target under a short name."""
    rng = np.random.default_rng(20240501)
    two = rng.standard_normal((80, 8))
    two[:, 3] = two[:, 0] + 0.3 * two[:, 3]
    y_two = (two[:, 0] + 0.7 * two[:, 1] + 0.4 * rng.standard_normal(80) > 0).astype(int)
    centres = 1.6 * rng.standard_normal((3, 6)) * (np.arange(6) < 4)
    codes = np.arange(90) % 3
    many = centres[codes] + rng.standard_normal((90, 6))
    apart = rng.standard_normal((50, 4))
    apart[:, 0] += np.where(np.arange(50) % 2, 3.5, -3.5)
    counts = rng.poisson(0.6, (80, 12)).astype(float)
    counts[:, 2] += 2.0 * y_two * rng.integers(0, 2, 80)
    mixed = np.column_stack(
        [two[:, :4], rng.integers(0, 4, 80), (y_two + (rng.random(80) < 0.25)) % 2]
    )
    holes = mixed.copy()
    holes[rng.random(holes.shape) < 0.08] = np.nan
    holes[:, 5] = mixed[:, 5]
    numeric = rng.standard_normal((80, 6))
    y_numeric = np.sin(numeric[:, 0]) + 0.5 * numeric[:, 1] + 0.1 * rng.standard_normal(80)
    wide = rng.standard_normal((40, 60))
    wide[:, :4] += np.where(np.arange(40) % 2, 0.9, -0.9)[:, None]
    words = ["free prize now", "call me later", "win a prize", "see you at noon", "free call now"]
    texts = [f"{words[i % 5]} {words[(i * i + 1) % 5]}" for i in range(30)]
    names = np.array(["ash", "birch", "cedar"])
    return {
        "two": (two, y_two),
        "named": (two[:, :5], np.where(y_two, "yes", "no")),
        "many": (many, names[codes]),
        "uneven": (
            many[codes + (np.arange(90) % 4 == 0) < 2],
            codes[codes + (np.arange(90) % 4 == 0) < 2],
        ),
        "apart": (apart, np.arange(50) % 2),
        "sparse": (sparse.csr_matrix(counts), y_two),
        "counts": (counts, names[codes[:80]]),
        "mixed": (mixed, y_two),
        "holes": (holes, y_two),
        "holes3": (holes, names[codes[:80]]),
        "numeric": (numeric, y_numeric),
        "mixed_numeric": (mixed, two[:, 0] + mixed[:, 5]),
        "holes_numeric": (holes, two[:, 0] + mixed[:, 5]),
        "wide": (wide, np.arange(40) % 2),
        "texts": (texts, [int("free" in t) for t in texts]),
    }


TABLES = _tables()
WEIGHTS = np.random.default_rng(7).uniform(0.2, 3.0, 90)
NOMINAL = [4, 5]


def _frame() -> Any:
    """The mixed table as a data frame with columns of text."""
    import pandas as pd

    X, _ = TABLES["mixed"]
    frame = pd.DataFrame(X[:, :4], columns=["a", "b", "c", "d"])
    frame["colour"] = np.array(["red", "green", "blue", "grey"])[X[:, 4].astype(int)]
    frame["flag"] = np.where(X[:, 5] > 0, "up", "down")
    return frame


# --------------------------------------------------------------------------------- what is stored


class Answers:
    """The answers of one fit: discrete ones, and arrays of floats, under names."""

    def __init__(self) -> None:
        self.discrete: dict[str, Any] = {}
        self.floats: dict[str, np.ndarray] = {}

    def add(self, name: str, value: Any) -> None:
        """Store a value, taken apart until only plain values and arrays are left."""
        if SKIPPED.search(name) or callable(value):
            return
        if isinstance(value, np.generic):
            value = value.item()
        if sparse.issparse(value):
            value = value.toarray()
        if isinstance(value, float):
            self.floats[name] = np.asarray(value, dtype=np.float64)
        elif value is None or isinstance(value, (bool, int, str)):
            self.discrete[name] = value
        elif isinstance(value, np.ndarray):
            self._add_array(name, value)
        elif isinstance(value, dict):
            self.discrete[f"{name}/keys"] = sorted(map(str, value))
            for key, inner in value.items():
                self.add(f"{name}/{key}", inner)
        elif hasattr(value, "_asdict"):
            self.add(name, value._asdict())
        elif isinstance(value, (list, tuple)):
            self._add_list(name, value)
        elif isinstance(value, (set, frozenset)):
            self.add(name, sorted(value))
        else:
            self._add_object(name, value)

    def _add_array(self, name: str, value: np.ndarray) -> None:
        if value.dtype.kind == "f":
            self.floats[name] = value.astype(np.float64)
        elif value.dtype.kind == "O":
            self._add_list(name, value.ravel().tolist())
        else:
            self.discrete[name] = value.tolist()

    def _add_list(self, name: str, value: Any) -> None:
        kinds = {type(inner) for inner in value}
        if kinds == {float}:
            self.floats[name] = np.array(value)
        elif kinds <= {bool, int, str, type(None)}:
            self.discrete[name] = list(value)
        else:
            self.discrete[f"{name}/length"] = len(value)
            for k, inner in enumerate(value):
                self.add(f"{name}/{k}", inner)

    def _add_object(self, name: str, value: Any) -> None:
        if isinstance(value, kernels.Kernel):
            self.discrete[name] = type(value).__name__
            for key, inner in vars(value).items():
                self.add(f"{name}/{key}", inner)
        elif isinstance(value, BaseEstimator):
            self.discrete[name] = type(value).__name__
            self.add_fitted(f"{name}/", value)
        elif isinstance(value, tamiz.Selection):
            for key in ("path", "notes", "pvalues", "names"):
                self.add(f"{name}/{key}", getattr(value, key))
        elif is_dataclass(value):
            for field in fields(value):
                self.add(f"{name}/{field.name}", getattr(value, field.name))
        elif hasattr(value, "to_dict"):
            self.add(name, value.to_dict())

    def add_fitted(self, prefix: str, estimator: Any) -> None:
        """Store what a fit left on an estimator."""
        given = estimator.get_params(deep=False)
        for key in sorted(vars(estimator)):
            if key.endswith("_") and not key.startswith("_") and key not in given:
                self.add(prefix + key, getattr(estimator, key))

    def add_uses(self, estimator: Any, X: Any) -> None:
        """Store what a fitted estimator says of samples."""
        for method in ("predict", "decision_function", "predict_proba", "transform", "apply"):
            if hasattr(estimator, method):
                try:
                    found = getattr(estimator, method)(X)
                except (AttributeError, ValueError) as error:
                    found = f"{type(error).__name__}"
                self.add(method, np.asarray(found) if hasattr(found, "columns") else found)

    def add_tree(self, model: Any) -> None:
        """Store how a tree reads, and how it would be pruned."""
        self.add("rules", model.rules())
        self.add("python", model.rules("python"))
        self.add("rule_list", model.rules("list"))
        self.add("text", model.to_text())
        self.add("findings", model.findings())
        self.add("importances", model.importances(surrogates=True))
        self.add("importances_own", model.feature_importances_)
        for measure in ("mean_depth", "leaves"):
            self.add(f"pruning/{measure}", model.pruning_path(measure).to_dict())

    def add_any(self, value: Any, X: Any = None) -> None:
        """Store a result, or a fitted estimator with its uses."""
        if not isinstance(value, BaseEstimator):
            self.add("result", value)
            return
        self.add_fitted("", value)
        if X is not None:
            self.add_uses(value, X)
        if isinstance(value, (tree.CARTClassifier, tree.CARTRegressor)):
            self.add_tree(value)


# ----------------------------------------------------------------------------------- the fits


def _tolerance(estimator: Any) -> float:
    """How closely the floats of an estimator must agree; its own tolerance if it iterates."""
    if isinstance(estimator, (svm.PegasosClassifier, svm.SubgradientClassifier)):
        return LOOP
    judge = getattr(estimator, "estimator", None)
    own = estimator.get_params(deep=False).get("tol")
    iterates = type(estimator).__name__ in {*svm.__all__, *embedded.__all__, "QPFS"}
    if iterates and isinstance(own, float):
        return own
    return EXACT if judge is None else _tolerance(judge)


def fit(estimator: Any, table: str, *, tag: str = "", **kwargs: Any) -> Fit:
    """A fit of an estimator to one of the tables, named after both."""
    X, y = TABLES[table]
    settings = []
    defaults = inspect.signature(type(estimator)).parameters
    for key, value in estimator.get_params(deep=False).items():
        if repr(value) != repr(defaults[key].default):
            shown = type(value).__name__ if isinstance(value, BaseEstimator) else repr(value)
            settings.append(f"{key}={shown.split(' at 0x')[0][:60]}")
    extra = "".join(f" {word}" for word in (tag, *kwargs) if word)
    name = f"{type(estimator).__name__}({', '.join(settings)}) on {table}{extra}"

    def run() -> Any:
        return clone(estimator).fit(X, y, **kwargs), X

    return Fit(name, run, _tolerance(estimator))


def call(name: str, function: Callable[[], Any], tol: float = EXACT) -> Fit:
    """Any other computation under a name."""
    return Fit(name, lambda: (function(), None), tol)


def _machines() -> Iterator[Fit]:
    SVC = svm.SVC
    for solver in ("smo", "decomposition", "chunking"):
        yield fit(SVC(solver=solver, tol=1e-6), "two")
        yield fit(svm.SVR(solver=solver, tol=1e-6), "numeric")
        yield fit(svm.OneClassSVM(0.3, solver=solver, tol=1e-6), "two")
    for kernel in ("linear", "poly", "rbf", "sigmoid"):
        yield fit(SVC(kernel=kernel, tol=1e-6, gamma=0.1, coef0=0.5), "two")
        yield fit(SVC(10.0, kernel=kernel, gamma="auto"), "many")
        yield fit(svm.SVR(kernel=kernel, gamma=0.1, tol=1e-6), "numeric")
        yield fit(svm.SVDD(0.2, kernel=kernel, gamma=0.1, tol=1e-6), "two")
    composed = [
        kernels.Linear() + 0.5 * kernels.RBF(0.2),
        kernels.RBF(0.1) * kernels.Polynomial(2),
        (0.1 * kernels.Linear()).exp(),
        kernels.Linear().poly([1.0, 0.5, 0.25]),
        kernels.QuadraticForm(np.diag(np.arange(1.0, 9.0))),
        kernels.RBF(0.2).of(np.tanh),
    ]
    for kernel in composed:
        yield fit(SVC(kernel=kernel, tol=1e-6), "two", tag=type(kernel).__name__)
    yield fit(SVC(kernel=np_dot, tol=1e-6), "two")
    yield fit(SVC(kernel=kernels.GapWeighted(3, 0.6), tol=1e-6), "texts")
    yield fit(SVC(kernel=kernels.GapWeighted(2, tokens="word"), tol=1e-6), "texts")
    X, y = TABLES["two"]
    yield call("SVC precomputed", lambda: SVC(kernel="precomputed", tol=1e-6).fit(X @ X.T, y), 1e-6)
    for multiclass in ("ovo", "ovr"):
        yield fit(SVC(multiclass=multiclass, tol=1e-6), "many")
        yield fit(svm.HardMarginSVC("rbf", multiclass=multiclass, gamma=2.0, tol=1e-6), "many")
    yield fit(SVC(class_weight="balanced", tol=1e-6), "uneven")
    yield fit(SVC(class_weight={"no": 1.0, "yes": 3.0}, kernel="linear", tol=1e-6), "named")
    yield fit(SVC(kernel="linear", tol=1e-6), "two", sample_weight=WEIGHTS[:80])
    yield fit(SVC(tol=1e-6), "many", sample_weight=WEIGHTS)
    for kernel in ("linear", "rbf"):
        yield fit(SVC(kernel=kernel, tol=1e-6), "sparse")
    yield fit(SVC(kernel="linear"), "wide")
    yield fit(SVC(), "holes")  # an error
    yield fit(SVC(C=-1.0), "two")  # another
    yield fit(svm.HardMarginSVC(tol=1e-6), "apart")
    yield fit(svm.HardMarginSVC(), "two")  # not separable
    yield fit(svm.SVR(loss="squared", tol=1e-6), "numeric")
    yield fit(svm.SVR(10.0, epsilon=0.3, kernel="poly", degree=2), "numeric")
    yield fit(svm.SVR(tol=1e-6), "numeric", sample_weight=WEIGHTS[:80])
    yield fit(svm.SVDD(0.1, tol=1e-6), "sparse")
    yield fit(svm.OneClassSVM(kernel="linear", tol=1e-6), "sparse")
    for table in ("two", "many", "sparse", "wide"):
        yield fit(svm.LinearMachine(0.5), table)
        yield fit(svm.PegasosClassifier(0.01, max_iter=20, random_state=1), table)
        yield fit(svm.PerceptronClassifier(max_iter=50), table)
        yield fit(svm.SubgradientClassifier(0.05, max_iter=200), table)
    yield fit(svm.LinearMachine(class_weight="balanced"), "uneven")
    yield fit(svm.LinearMachine(), "two", sample_weight=WEIGHTS[:80])
    yield fit(svm.LinearMachineRegressor(0.5), "numeric")
    yield fit(svm.LinearMachineRegressor(penalty="l1"), "numeric", sample_weight=WEIGHTS[:80])
    yield fit(svm.PegasosClassifier(C=1.0, batch_size=8, average="tail", random_state=0), "two")
    yield fit(
        svm.PegasosClassifier(0.1, sampling="replacement", average=False, random_state=3), "two"
    )
    yield fit(svm.PegasosClassifier(0.01, class_weight="balanced", random_state=3), "uneven")
    yield fit(svm.PegasosClassifier(0.01, fit_intercept=False, random_state=3), "two")
    yield fit(svm.PerceptronClassifier(keep="best", shuffle=True, random_state=0), "two")
    yield fit(svm.PerceptronClassifier(), "apart")
    yield fit(svm.SubgradientClassifier(step="decreasing", radius=2.0, max_iter=300), "two")
    yield fit(svm.SubgradientClassifier(C=1.0, average=False, max_iter=300), "two")

    def bound(squared: bool) -> Any:
        machine = SVC(5.0, gamma=0.2, tol=1e-6).fit(X, y)
        return svm.radius_margin_bound(machine, X, y, squared_slack=squared)

    for squared in (False, True):
        yield call(f"radius_margin_bound {squared}", lambda s=squared: bound(s), 1e-5)

    def in_parts() -> Any:
        machine = svm.PegasosClassifier(0.05, random_state=0)
        for part in range(0, 80, 20):
            machine.partial_fit(X[part : part + 20], y[part : part + 20], classes=[0, 1])
        return machine

    yield call("PegasosClassifier.partial_fit", in_parts, LOOP)


def np_dot(A: Any, B: Any) -> Any:
    """A kernel as a plain function."""
    return np.asarray(A) @ np.asarray(B).T


def _filters() -> Iterator[Fit]:
    f = filters
    plain = [
        f.AUCScore,
        f.ChiSquared,
        f.CMIM,
        f.CFS,
        f.FisherScore,
        f.InformationGain,
        f.JMI,
        f.KolmogorovSmirnov,
        f.MaxDep,
        f.MaxRel,
        f.MRMR,
        f.PearsonScore,
        f.QPFS,
        f.SignalToNoise,
        f.StumpError,
        f.SymmetricalUncertainty,
        f.WelchT,
    ]
    for make in plain:
        for table in ("two", "many", "sparse"):
            yield fit(make(1 if make is f.MaxDep else 3), table)
    for make in (f.Relief, f.ReliefF):
        for table in ("two", "sparse", "holes"):
            yield fit(make(3, random_state=0), table)
    yield fit(f.ReliefF(3, n_neighbors=4, random_state=1), "many")
    yield fit(f.ReliefF(categorical_features=NOMINAL, random_state=1), "holes3")
    yield fit(
        f.ReliefF(metric="euclidean", scaling="none", ties="index", n_samples=30, random_state=0),
        "two",
    )
    yield fit(f.Relief(threshold=0.05, ties="index", random_state=0), "mixed")
    yield fit(f.RReliefF(3, random_state=0), "numeric")
    yield fit(
        f.RReliefF(2, categorical_features=NOMINAL, n_neighbors=5, random_state=0), "mixed_numeric"
    )
    yield fit(f.RReliefF(2, random_state=0), "holes_numeric")
    for make in (f.ChiSquared, f.CMIM, f.InformationGain, f.JMI, f.MRMR, f.MaxRel, f.MaxDep):
        for missing in ("code", "ignore"):
            yield fit(make(categorical_features=NOMINAL, missing=missing), "holes")
    for make in (f.MRMR, f.CMIM, f.SymmetricalUncertainty, f.CFS, f.QPFS):
        for bins in ("mean_std", "mdl", "width", "frequency"):
            yield fit(make(4, bins=bins, n_bins=4), "many")
    yield fit(f.CFS(categorical_features=NOMINAL), "holes")
    yield fit(f.MRMR(bins=None), "counts")
    for scheme in ("difference", "quotient"):
        yield fit(f.MRMR(5, scheme=scheme), "wide")
        yield fit(f.MRMR(5, scheme=scheme, measure="f_pearson", full_ranking=True), "many")
    for how in ("best_first", "forward", "exhaustive"):
        yield fit(f.CFS(search=how), "two")
        yield fit(f.CFS(search=how, merit="printed", correlation="pearson"), "numeric")
    for similarity in ("mutual_information", "symmetrical_uncertainty", "pearson"):
        yield fit(f.QPFS(3, similarity=similarity, alpha=0.5), "two")
    yield fit(f.QPFS(similarity="pearson"), "numeric")
    for sampling in ("uniform", "kmeans", "leverage"):
        yield fit(f.QPFS(5, nystroem=0.4, sampling=sampling, random_state=0), "wide")
    yield fit(f.QPFS(5, nystroem=0.4, diagonal="exact", random_state=0), "wide")
    for correction in ("none", "fdr", "bonferroni"):
        for make in (f.AUCScore, f.KolmogorovSmirnov, f.WelchT, f.PearsonScore, f.ChiSquared):
            yield fit(make(alpha=0.05, correction=correction), "two")
    for variant in ("criterion", "classical", "multiclass"):
        yield fit(f.FisherScore(variant=variant), "many")
    for make in (f.AUCScore, f.KolmogorovSmirnov, f.SignalToNoise):
        yield fit(make(multiclass="max"), "many")
    yield fit(f.ChiSquared(test="counts"), "counts")
    yield fit(f.ChiSquared(rank_by="cramers_v"), "many")
    yield fit(f.InformationGain(unit="nats"), "two")
    yield fit(f.PearsonScore(2), "numeric")
    yield fit(f.StumpError(class_weight="balanced"), "uneven")
    for make in (f.FisherScore, f.PearsonScore, f.StumpError, f.AUCScore, f.KolmogorovSmirnov):
        yield fit(make(3), "two", sample_weight=WEIGHTS[:80])
    yield fit(f.FisherScore(99), "two")  # an error
    yield fit(f.FisherScore(), "holes")
    y = TABLES["mixed"][1]
    for make in (f.MRMR, f.ChiSquared, f.CFS, f.ReliefF, f.JMI, f.InformationGain):
        seeded = {"random_state": 0} if make is f.ReliefF else {}
        yield call(
            f"{make.__name__} of a frame", lambda m=make, s=seeded: m(2, **s).fit(_frame(), y)
        )
    for make in (f.FisherScore, f.WelchT, f.ChiSquared, f.MaxRel, f.PearsonScore, f.SignalToNoise):

        def in_parts(make: Any = make) -> Any:
            X, y = TABLES["two"]
            X = X if make not in (f.ChiSquared, f.MaxRel) else np.floor(X)
            found = make(3) if make not in (f.ChiSquared, f.MaxRel) else make(3, bins=None)
            for part in range(0, 80, 20):
                found.partial_fit(X[part : part + 20], y[part : part + 20], classes=[0, 1])
            return found

        yield call(f"{make.__name__}.partial_fit", in_parts)


def _streams() -> Iterator[Fit]:
    f = filters
    makers = [
        f.AUCScore,
        f.ChiSquared,
        f.CMIM,
        f.CFS,
        f.FisherScore,
        f.InformationGain,
        f.JMI,
        f.MRMR,
        f.KolmogorovSmirnov,
        f.MaxRel,
        f.PearsonScore,
        f.QPFS,
        f.SignalToNoise,
        f.StumpError,
        f.SymmetricalUncertainty,
        f.WelchT,
    ]

    def streamed(estimator: Any, table: str, **options: Any) -> Any:
        X, y = TABLES[table]
        return estimator.fit_stream(scale.batches((X, y), batch_rows=17), **options)

    for make in makers:
        for table in ("two", "many"):
            yield call(
                f"{make.__name__}.fit_stream on {table}",
                lambda m=make, t=table: streamed(m(3), t),
                1e-8 if make is f.QPFS else EXACT,
            )
    for make in (f.ReliefF, f.Relief):
        yield call(
            f"{make.__name__}.fit_stream",
            lambda m=make: streamed(m(3, random_state=0), "two", sample_size=60),
        )
    yield call("RReliefF.fit_stream", lambda: streamed(f.RReliefF(3, random_state=0), "numeric"))
    yield call("MRMR.fit_stream holes", lambda: streamed(f.MRMR(3, missing="code"), "holes"))
    yield call("PearsonScore.fit_stream numeric", lambda: streamed(f.PearsonScore(3), "numeric"))
    yield call("FisherScore.fit_stream sparse", lambda: streamed(f.FisherScore(3), "sparse"))
    yield call(
        "AROM.fit_stream", lambda: streamed(embedded.AROM(n_features_to_select=3), "two"), 1e-3
    )
    yield call("SVMRFE.fit_stream", lambda: streamed(embedded.SVMRFE(3), "two"), 1e-3)
    for standardize in (False, True):
        yield call(
            f"PegasosClassifier.fit_stream standardize={standardize}",
            lambda s=standardize: streamed(
                svm.PegasosClassifier(0.01, random_state=0), "many", passes=5, standardize=s
            ),
            LOOP,
        )

    def read() -> Any:
        X, y = TABLES["holes"]
        source = scale.batches((X, y), batch_rows=23)
        return {
            "schema": source.schema,
            "rows": source.n_rows,
            "parts": [(b.index, b.first_row, np.asarray(b.X), b.y) for b in source],
            "filled": [np.asarray(b.X) for b in source.filled()],
        }

    def moments() -> Any:
        X, y = TABLES["many"]
        source = scale.batches((X, y), batch_rows=31)
        found = scale.sweep(source, lambda b: scale.ClassMoments.of_batch(b.X, b.y, 3))
        return {"count": found.count, "mean": found.mean, "m2": found.m2}

    yield call("batches", read)
    yield call("ClassMoments", moments)


def _searches() -> Iterator[Fit]:
    judge = svm.SVC(kernel="linear")
    bayes = GaussianNB()
    s = search
    for make in (s.ForwardSelection, s.BackwardElimination):
        for floating in (False, True):
            yield fit(make(judge, cv=3, floating=floating, random_state=0), "named")
            yield fit(make(bayes, cv=3, floating=floating, n_features_to_select=3), "many")
        yield fit(make(judge, cv=3, n_features_to_select="1se", random_state=0), "named")
        yield fit(make(criterion="cfs", n_features_to_select=3), "two")
        yield fit(make(svm.SVR(), cv=3, n_features_to_select=2, random_state=0), "numeric")
        yield fit(make(neighbors.KNNClassifier(3), cv=3, n_features_to_select=2), "mixed")
        yield fit(make(tree.CARTClassifier(max_depth=3), cv=3, n_features_to_select=2), "holes")
        yield fit(make(judge, cv=s.HoldOut(0.3, random_state=0), n_features_to_select=2), "named")
        yield fit(make(bayes, cv=3, feature_groups=[[0, 1], [2], [3, 4]]), "named")
        yield fit(make(bayes, cv=3, scoring="balanced_accuracy", fixed_features=[1]), "many")
    yield fit(s.ForwardSelection(svm.SVC(), cv=3, patience=2, tol=0.0, random_state=0), "many")
    yield fit(s.ForwardSelection(judge, cv=3), "named", sample_weight=WEIGHTS[:80])
    for direction in ("forward", "backward", "both"):
        yield fit(s.BestFirst(bayes, cv=3, direction=direction, patience=3), "named")
        yield fit(s.BestFirst(criterion="cfs", direction=direction), "two")
    for criterion in ("bhattacharyya", "divergence"):
        yield fit(s.BranchAndBound(criterion=criterion, n_features_to_select=3), "two")
        yield fit(s.ExhaustiveSearch(criterion=criterion, n_features_to_select=3), "named")
    yield fit(s.ExhaustiveSearch(bayes, cv=3), "named")
    yield fit(s.ExhaustiveSearch(judge, cv=3, n_features_to_select=2, random_state=0), "named")
    yield fit(s.ExhaustiveSearch(bayes, limit=5), "two")  # an error
    for elitism in (0, 1):
        yield fit(s.GeneticSearch(bayes, N=8, G=4, elitism=elitism, cv=3, random_state=0), "two")
    yield fit(s.GeneticSearch(criterion="cfs", N=10, G=5, random_state=1), "many")
    yield fit(
        s.GeneticSearch(judge, N=6, G=2, cv=3, n_features_to_select=2, random_state=1), "named"
    )
    for result in ("best", "last"):
        yield fit(
            s.SimulatedAnnealing(bayes, m=5, v=0.5, result=result, cv=3, random_state=0), "two"
        )
    yield fit(s.SimulatedAnnealing(criterion="cfs", m=8, random_state=2), "many")
    yield fit(
        s.SimulatedAnnealing(bayes, T0=0.1, T1=0.01, n_features_to_select=2, cv=3, random_state=2),
        "named",
    )


def _embedded() -> Iterator[Fit]:
    e = embedded
    sparse_ones = [
        e.L1SVM(C=0.5),
        e.L1L2SVM(C=0.5),
        e.L0L2SVM(C=0.5),
        e.RobustLP(),
        e.FSV(C=1.0),
        e.AROM(n_features_to_select=3),
    ]
    for one in sparse_ones:
        for table in ("two", "many", "wide", "sparse"):
            yield fit(one, table)
        yield fit(one, "two", sample_weight=WEIGHTS[:80])
        yield fit(clone(one).set_params(class_weight="balanced"), "uneven")
    for solver in ("lp", "interior_point"):
        yield fit(e.L1SVM(C=0.3, solver=solver), "two")
        yield call(
            f"l1_svm_path {solver}",
            lambda s=solver: e.l1_svm_path(*TABLES["two"], n_values=6, solver=s),
            1e-6,
        )
    yield fit(e.FSV(lambda_=0.2, n_restarts=2, random_state=0), "two")
    yield fit(e.L1L2SVM(nu=1.0, tol=1e-6), "two")
    for start in ("zero", "l2"):
        yield fit(e.L0L2SVM(nu=0.5, start=start), "two")
    yield fit(e.AROM(final="plain", normalize=False), "two")
    yield fit(e.SVMRFE(3), "two")
    yield fit(e.SVMRFE(3), "sparse")
    yield fit(e.SVMRFE(5, step="half"), "wide")
    yield fit(e.SVMRFE(5, step=0.2), "wide")
    for kernel in ("linear", "poly", "rbf"):
        yield fit(e.SVMRFE(2, kernel=kernel, tol=1e-5, coef0=1.0), "two")
        yield fit(e.SVMRFE(2, kernel=kernel, order="first", tol=1e-5, coef0=1.0), "two")
        yield fit(e.SVMRFE(2, kernel=kernel, criterion="radius_margin", coef0=1.0), "named")
    for multiclass in ("ovo", "ovr"):
        yield fit(e.SVMRFE(2, multiclass=multiclass), "many")
        yield fit(e.SVMRFE(2, kernel="rbf", multiclass=multiclass), "many")
    for rule in ("best", "1se"):
        yield fit(e.SVMRFE(rule, cv=3, random_state=0), "two")
    yield fit(e.SVMRFE(2, feature_groups=[[0, 1], [2, 3], [4], [5, 6, 7]]), "two")
    yield fit(e.SVMRFE(3, fixed_features=[7], class_weight="balanced"), "two")
    yield fit(e.SVMRFE(3), "two", sample_weight=WEIGHTS[:80])
    yield fit(e.HoldOutSVM(3, random_state=0), "two")
    yield fit(e.HoldOutSVM(random_state=1, kernel="linear", stop="not_better"), "two")
    yield fit(e.HoldOutSVM(2, splits_per_step=3, balanced=True, random_state=0), "many")
    yield fit(e.HoldOutSVM(2, ties="all", multiclass="ovr", random_state=0), "many")
    yield fit(e.HoldOutSVM(2, estimator=GaussianNB(), random_state=0), "two")
    yield fit(e.HoldOutSVM(2, costs=(2.0, 1.0), random_state=0), "two")
    yield fit(e.HoldOutSVM(2, prefilter="ks", prefilter_level=0.2, random_state=0), "two")
    yield fit(
        e.HoldOutSVM(2, prefilter="auto", categorical_features=NOMINAL, random_state=0), "mixed"
    )
    yield fit(e.HoldOutSVM(2, tune={"C": [0.1, 1.0], "gamma": [0.1, 1.0]}, random_state=0), "two")
    for make in (e.KPSVM, e.AdaptiveScaling, e.RadiusMarginScaling):
        yield fit(make(2, max_iter=30), "named")
        yield fit(make(4, max_iter=30, step="half", class_weight="balanced"), "two")
        yield fit(make(2, max_iter=30), "named", sample_weight=WEIGHTS[:80])
    yield fit(e.KPSVM(2, penalty=0.5, beta=2.0, limit_total=False, max_iter=30), "named")
    yield fit(e.AdaptiveScaling(2, q=1.0, constraint="at_most", max_iter=30), "named")
    yield fit(e.AdaptiveScaling(2, kernel="linear", max_iter=30), "named")
    yield fit(
        e.RadiusMarginScaling(2, kernel="poly", degree=2, normalize=False, max_iter=30), "named"
    )
    yield fit(e.ForestImportance(3, n_estimators=20, random_state=0), "two")
    yield fit(
        e.ForestImportance(
            n_estimators=15, max_features=2, class_weight="balanced", random_state=1
        ),
        "many",
    )


def _trees() -> Iterator[Fit]:
    C, R = tree.CARTClassifier, tree.CARTRegressor
    for criterion in ("gini", "entropy", "error"):
        yield fit(C(criterion, random_state=0), "two")
        yield fit(C(criterion, max_depth=3, random_state=0), "many")
        yield fit(C(criterion, categorical_features=NOMINAL, max_leaf_nodes=6), "mixed")
    for missing in ("auto", "surrogate", "direction"):
        yield fit(C(missing=missing, categorical_features=NOMINAL, min_samples_leaf=4), "holes")
        yield fit(C(missing=missing, max_depth=4), "holes3")
        yield fit(R(missing=missing, categorical_features=NOMINAL, max_depth=3), "holes_numeric")
    for splits in ("axis", "oblique"):
        yield fit(C(splits=splits, max_depth=3, n_restarts=2, random_state=0), "two")
        yield fit(R(splits=splits, max_depth=3, n_restarts=2, random_state=0), "numeric")
    yield fit(C(costs=[[0, 5], [1, 0]], max_depth=4), "two")
    yield fit(C(class_weight="balanced", max_depth=3), "uneven")
    yield fit(C(max_depth=4), "two", sample_weight=WEIGHTS[:80])
    yield fit(R(max_depth=4), "numeric", sample_weight=WEIGHTS[:80])
    yield fit(C(n_surrogates=2, max_depth=3), "two")
    yield fit(C(leaf_choice="decrease", max_leaf_nodes=5), "many")
    yield fit(C(max_mean_depth=2.5, min_balance=0.1), "many")
    yield fit(C(ordinal_features=[4], max_depth=3), "mixed")
    yield fit(R(max_leaf_nodes=7, min_impurity_decrease=0.001), "mixed_numeric")
    y = TABLES["mixed"][1]
    yield call("CARTClassifier of a frame", lambda: C(max_depth=3).fit(_frame(), y))
    X, labels = TABLES["many"]
    for rule in ("best", "1se"):
        for measure in ("mean_depth", "leaves"):
            yield call(
                f"CARTClassifier.prune {rule} {measure}",
                lambda r=rule, m=measure: (
                    C().fit(X[:60], labels[:60]).prune(X[60:], labels[60:], rule=r, measure=m)
                ),
            )
        yield call(
            f"CARTClassifier.prune_cv {rule}",
            lambda r=rule: C().fit(X, labels).prune_cv(X, labels, cv=4, rule=r),
        )
        yield call(
            f"CARTRegressor.prune_cv {rule}",
            lambda r=rule: R().fit(*TABLES["numeric"]).prune_cv(*TABLES["numeric"], cv=4, rule=r),
        )
    yield call("CARTClassifier.prune_at", lambda: C().fit(X, labels).prune_at(0.02))
    yield call("CARTClassifier.to_svg", lambda: C(max_depth=3).fit(X, labels).to_svg())
    for splits in ("best", "random"):
        yield fit(tree.ForestClassifier(15, splits=splits, random_state=0), "many")
        yield fit(
            tree.ForestClassifier(
                15, splits=splits, class_weight="balanced", min_samples_leaf=3, random_state=0
            ),
            "two",
        )


def _neighbours() -> Iterator[Fit]:
    K = neighbors.KNNClassifier
    for metric in ("hamming", "mixed"):
        yield fit(K(3, metric=metric, categorical_features=NOMINAL), "mixed")
    for metric in ("euclidean", "manhattan", "hamming", "mixed"):
        yield fit(K(4, metric=metric, weights="distance"), "counts")
        yield fit(K(3, metric=metric), "holes")
    for scaling in ("none", "zscore", "range"):
        yield fit(K(5, scaling=scaling), "many")
    for ties in ("nearest", "frequent", "abstain"):
        yield fit(K(4, ties=ties, reject_label="none" if ties == "abstain" else None), "many")
    for algorithm in ("kd_tree", "brute"):
        yield fit(K(3, algorithm=algorithm), "two")
    yield fit(K(3, feature_weights=[1, 2, 0, 1, 0.5, 1, 1, 1]), "two")
    yield fit(K(3), "sparse")
    X, y = TABLES["many"]
    yield call("kneighbors", lambda: K(3).fit(X, y).kneighbors(X[:10]))
    for rule in ("best", "1se"):
        yield call(
            f"choose_k {rule}",
            lambda r=rule: neighbors.choose_k(
                X, y, range(1, 16), 4, rule=r, random_state=0
            ).to_dict(),
        )
    yield call(
        "choose_k test",
        lambda: neighbors.choose_k(
            X[:60], y[:60], [1, 3, 5], 3, test=(X[60:], y[60:]), random_state=0
        ).to_dict(),
    )


def _kernels() -> Iterator[Fit]:
    X, _ = TABLES["two"]
    k = kernels
    chosen = {
        "linear": k.Linear(),
        "rbf": k.RBF(0.3),
        "width": k.RBF(width=2.0),
        "poly": k.Polynomial(2),
        "sigmoid": k.Sigmoid(0.1, 0.2),
        "form": k.QuadraticForm(np.eye(8) + 0.1),
        "sum": k.Linear() + k.RBF(0.1),
        "product": k.RBF(0.1) * k.Linear(),
        "scaled": 3.0 * k.RBF(0.1),
        "exp": (0.1 * k.Linear()).exp(),
        "poly_of": k.Linear().poly([0.5, 1.0]),
        "composed": k.Linear().of(np.tanh),
        "conformal": k.Conformal(_first),
        "times": k.RBF(0.2).times_function(_first),
        "function": k.FunctionKernel(np_dot),
    }
    for name, kernel in chosen.items():

        def values(kernel: Any = kernel) -> Any:
            return {
                "gram": kernel(X[:20]),
                "cross": kernel(X[:6], X[20:30]),
                "diag": kernel.diag(X[:20]),
                "mercer": k.mercer_check(kernel, X[:30]),
            }

        yield call(f"kernel {name}", values, 1e-11)
    for name in ("linear", "rbf", "poly", "width", "sum", "product"):

        def tracked(kernel: Any = chosen[name]) -> Any:
            gram = kernel.track(X[:20])
            alpha = np.linspace(-1, 1, 20)
            norms = gram.leave_one_out_norms(alpha)
            gram.remove(3)
            removed = gram.K.copy()
            gram.add(3)
            return {
                "norms": norms,
                "removed": removed,
                "K": gram.K,
                "gradient": gram.gradient(alpha),
            }

        yield call(f"kernel {name} tracked", tracked, 1e-10)
    texts = TABLES["texts"][0]
    for options in ({}, {"length": 3, "decay": 0.3, "normalize": False}, {"tokens": "word"}):
        yield call(f"GapWeighted {options}", lambda o=options: k.GapWeighted(**o)(texts[:12]))


def _first(X: Any) -> Any:
    return 1.0 + np.asarray(X)[:, 0] ** 2


def _information() -> Iterator[Fit]:
    i = information
    X, y = TABLES["many"]
    holes = TABLES["holes"][0]
    for bins in ("mean_std", "mdl", "width", "frequency"):
        yield fit(i.Discretiser(bins, n_bins=4), "many")
        yield fit(i.Discretiser(bins, categorical_features=NOMINAL), "holes")
        yield call(f"discretise {bins}", lambda b=bins: i.discretise(X, y, bins=b, n_bins=4))
        yield call(
            f"mutual_information_matrix {bins}",
            lambda b=bins: i.mutual_information_matrix(X, y=y, bins=b, unit="bits"),
        )
    for missing in ("code", "ignore"):
        yield call(
            f"symmetrical_uncertainty_matrix {missing}",
            lambda m=missing: i.symmetrical_uncertainty_matrix(holes, missing=m),
        )
    a, b, c = (np.floor(X[:, j]) for j in range(3))
    yield call(
        "information measures",
        lambda: {
            "entropy": [i.entropy(a), i.entropy(a, b, unit="bits")],
            "mutual": [i.mutual_information(a, y), i.symmetrical_uncertainty(a, b)],
            "conditional": i.conditional_mutual_information(a, b, c),
            "table": i.contingency_table(a, b),
            "of_counts": i.information_of_counts(i.contingency_table(a, b)),
        },
    )

    def coded() -> Any:
        codes = i.encode(holes, categorical_features=NOMINAL)
        return {"entropies": codes.entropies(), "matrix": codes.matrix(), "column": codes.column(4)}

    yield call("encode", coded)
    yield call("joint_codes", lambda: i.joint_codes(np.arange(8) % 3, np.arange(8) % 2))


def _evaluation() -> Iterator[Fit]:
    v = evaluation
    X, y = TABLES["named"]
    Xm, ym = TABLES["many"]
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5]}
    tol = 1e-3
    for how in ("grid", "random", "halving"):
        yield call(
            f"tune {how}", lambda h=how: v.tune(X, y, grid=grid, cv=3, search=h, n_iter=4), tol
        )
    for fast in (False, True):
        yield call(
            f"tune fast={fast}", lambda f=fast: v.tune(Xm, ym, svm.SVC(), grid, cv=3, fast=f), tol
        )
    yield call(
        "tune 1se",
        lambda: v.tune(X, y, svm.SVC(kernel="linear"), {"C": [0.01, 0.1, 1.0]}, cv=4, choose="1se"),
        tol,
    )
    yield call(
        "tune SVR",
        lambda: v.tune(
            *TABLES["numeric"], svm.SVR(), {"C": [0.1, 1.0], "epsilon": [0.01, 0.1]}, cv=3
        ),
        tol,
    )
    yield call(
        "tune knn",
        lambda: v.tune(Xm, ym, neighbors.KNNClassifier(), {"n_neighbors": [1, 3, 5]}, cv=3),
    )
    yield call(
        "tune tree", lambda: v.tune(Xm, ym, tree.CARTClassifier(), {"max_depth": [1, 3]}, cv=3)
    )
    yield call(
        "tune weights",
        lambda: v.tune(
            X, y, svm.SVC(), grid, cv=3, scoring="balanced_accuracy", sample_weight=WEIGHTS[:80]
        ),
        tol,
    )
    yield call(
        "tune texts",
        lambda: v.tune(
            TABLES["texts"][0],
            TABLES["texts"][1],
            svm.SVC(kernel=kernels.GapWeighted()),
            {"kernel__length": [2, 3], "C": [1.0, 10.0]},
            cv=3,
        ),
        tol,
    )
    yield call(
        "tune pipeline",
        lambda: v.tune(
            X, y, make_pipeline(StandardScaler(), svm.SVC()), {"svc__C": [0.1, 1.0]}, cv=3
        ),
        tol,
    )

    def compared(X: Any, y: Any, *args: Any, **options: Any) -> Any:
        found = v.compare(X, y, *args, cv=3, random_state=0, **options)
        return {
            "dict": found.to_dict(),
            "errors": found.errors,
            "nested": found.nested_errors,
            "orders": found.orders,
            "summary": found.estimates,
        }

    yield call(
        "compare filters", lambda: compared(X, y, ["fisher", "mrmr"], sizes=[1, 3], repeats=1)
    )
    yield call(
        "compare judges",
        lambda: compared(
            Xm,
            ym,
            [filters.FisherScore(), embedded.SVMRFE()],
            [svm.SVC(kernel="linear"), neighbors.KNNClassifier(3)],
            sizes=[2, 4],
            repeats=2,
            rule="1se",
        ),
    )
    yield call(
        "compare regression",
        lambda: compared(
            *TABLES["numeric"], [filters.PearsonScore()], [svm.SVR()], sizes=[1, 3], repeats=1
        ),
        tol,
    )
    yield call(
        "compare weights",
        lambda: compared(
            X,
            y,
            [filters.StumpError()],
            sizes=[1, 3],
            repeats=1,
            sample_weight=WEIGHTS[:80],
            nested=False,
        ),
    )
    yield call(
        "learning_curve_by_features",
        lambda: v.learning_curve_by_features(
            X, y, "fisher", sizes=[1, 3, 5], cv=3, repeats=1, nested=False, random_state=0
        ).to_dict(),
    )
    for sample in ("bootstrap", "subsample", "folds"):
        yield call(
            f"stability_of {sample}",
            lambda s=sample: v.stability_of(
                filters.SignalToNoise(3),
                *TABLES["two"],
                n_resamples=8,
                sample=s,
                n_folds=4,
                random_state=0,
            ).to_dict(),
        )
    masks = np.random.default_rng(3).random((12, 9)) < 0.4
    equal = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0]], dtype=bool)
    yield call("stability", lambda: v.stability(masks))
    yield call("stability equal sizes", lambda: v.stability(equal))
    yield call(
        "stability compare", lambda: v.stability(masks).compare(v.stability(masks[::-1, ::-1]))
    )
    errors = np.random.default_rng(4).normal([0.1, 0.12, 0.2, 0.11], 0.02, (15, 4))
    for test in ("auto", "friedman"):
        yield call(f"significance {test}", lambda t=test: v.significance(errors, test=t).to_dict())
    for test in ("auto", "wilcoxon", "corrected_t"):
        yield call(
            f"significance pair {test}",
            lambda t=test: v.significance(errors[:, :2], test=t, test_fraction=0.2).to_dict(),
        )
    for posthoc in ("nemenyi", "holm"):
        yield call(
            f"significance {posthoc}", lambda p=posthoc: v.significance(errors, posthoc=p).to_dict()
        )
    yield call("significance control", lambda: v.significance(errors, control=0).to_dict())
    yield call("critical_difference", lambda: v.critical_difference(5, 30))
    truth = np.arange(60) % 2
    guess = np.where(np.arange(60) % 7 == 0, 1 - truth, truth)
    marks = truth + np.sin(np.arange(60.0))
    for proportion in ("wilson", "clopper_pearson"):
        yield call(
            f"report_card {proportion}",
            lambda p=proportion: v.report_card(
                truth, guess, scores=marks, proportion=p, n_bootstrap=100
            ).to_dict(),
        )
    yield call(
        "report_card three", lambda: v.report_card(ym, np.roll(ym, 1), n_bootstrap=100).to_dict()
    )
    yield call(
        "report_card weights",
        lambda: v.report_card(truth, guess, sample_weight=WEIGHTS[:60], n_bootstrap=100).to_dict(),
    )
    yield call(
        "report_card counts",
        lambda: v.ReportCard.from_confusion(TP=519, FP=31, FN=58, TN=773).to_dict(),
    )
    for judge in (GaussianNB(), svm.SVC()):
        yield call(
            f"permutation_test {type(judge).__name__}",
            lambda j=judge: v.permutation_test(
                j, X, y, cv=3, n_permutations=15, random_state=0
            ).to_dict(),
        )
    yield fit(v.AutoScaler(), "counts")
    yield fit(v.AutoScaler(), "sparse")


def _files(folder: Path) -> Iterator[Fit]:
    import pandas as pd

    frame = _frame()
    frame["b"] = frame["b"].mask(np.arange(80) % 9 == 0)
    frame["weight"] = WEIGHTS[:80]
    frame["class"] = np.where(TABLES["mixed"][1], "ill", "well")
    frame.to_csv(folder / "table.csv", index=False)
    frame.to_csv(folder / "table.tsv.gz", index=False, sep="\t")
    frame.to_csv(folder / "comma.csv", index=False, sep=";", decimal=",")
    frame.to_parquet(folder / "table.parquet")
    two, y_two = TABLES["two"]
    np.savez(folder / "table.npz", X=two, y=y_two)
    lines = [
        f"{y} " + " ".join(f"{j + 1}:{x:.17g}" for j, x in enumerate(row) if x)
        for row, y in zip(TABLES["sparse"][0].toarray(), y_two, strict=True)
    ]
    (folder / "table.libsvm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    arff = ["@relation small", "@attribute a numeric", "@attribute c {red,green,blue,grey}"]
    arff += ["@attribute class {ill,well}", "@data"]
    arff += [
        f"{'?' if k % 11 == 0 else repr(float(a))},{c},{t}"
        for k, (a, c, t) in enumerate(zip(frame["a"], frame["colour"], frame["class"], strict=True))
    ]
    (folder / "table.arff").write_text("\n".join(arff) + "\n", encoding="utf-8")
    turned = pd.DataFrame(two.T, index=[f"g{j}" for j in range(8)]).T
    turned.index = [f"s{i}" for i in range(80)]
    turned.T.to_csv(folder / "turned.csv")
    labels = {f"s{i}": int(v) for i, v in enumerate(y_two)}
    (folder / "broken.csv").write_text("a,b,class\n1,2,x\n3\n", encoding="utf-8")
    del pd

    def loaded(source: Any, *args: Any, **options: Any) -> Any:
        found = data.load(source, *args, **options)
        X = found.X.toarray() if sparse.issparse(found.X) else found.X
        cells = np.asarray(X.tolist() if hasattr(X, "tolist") else X, dtype=object)
        numbers = cells if cells.dtype.kind == "O" and options.get("encode", 1) is None else X
        return {
            "X": np.asarray(numbers) if not hasattr(numbers, "columns") else numbers.to_dict(),
            "y": found.y,
            "names": found.feature_names,
            "classes": found.target_names,
            "categorical": found.categorical,
            "task": found.task,
            "roles": found.roles,
            "missing": found.missing,
            "levels": found.levels,
            "groups": found.feature_groups,
            "extras": found.extras,
            "findings": [one.code for one in found.warnings],
        }

    names = ("table.csv", "table.tsv.gz", "comma.csv", "table.parquet", "table.arff", "broken.csv")
    for name in (*names, "table.npz", "table.libsvm"):
        yield call(f"load {name}", lambda n=name: loaded(folder / n))
        yield call(f"load {name} rows", lambda n=name: loaded(folder / n, nrows=30))
    yield call("load onehot", lambda: loaded(folder / "table.csv", encode="onehot"))
    yield call("load weights", lambda: loaded(folder / "table.csv", weights="weight"))
    yield call("load target", lambda: loaded(folder / "table.csv", "a", drop=["flag"]))
    yield call("load columns", lambda: loaded(folder / "table.csv", columns=["a", "colour"]))
    yield call("load roles", lambda: loaded(folder / "table.csv", roles={"d": "ignore"}))
    yield call("load leaks", lambda: loaded(folder / "table.csv", leaks="drop"))
    yield call("load turned", lambda: loaded(folder / "turned.csv", transpose=True, labels=labels))
    for name in ("d8", "iris", "wine", "breast_cancer", "diabetes"):
        yield call(f"load {name}", lambda n=name: loaded(n))
    yield call("load unknown", lambda: loaded("no_such_set"))
    for name in ("table.csv", "table.parquet"):
        for make in (filters.MRMR, filters.ChiSquared):
            yield call(
                f"{make.__name__}.fit_stream of {name}",
                lambda m=make, n=name: m(2).fit_stream(scale.batches(folder / n, batch_rows=19)),
            )
    yield call(
        "FisherScore.fit_stream of table.libsvm",
        lambda: filters.FisherScore(3).fit_stream(
            scale.batches(folder / "table.libsvm", batch_rows=19)
        ),
    )
    models = [
        (svm.SVC(tol=1e-6), "many"),
        (svm.SVR(kernel="linear", tol=1e-6), "numeric"),
        (svm.SVC(kernel=kernels.Linear() + kernels.RBF(0.1), tol=1e-6), "two"),
        (svm.LinearMachine(), "many"),
        (svm.LinearMachineRegressor(), "numeric"),
        (svm.OneClassSVM(tol=1e-6), "two"),
        (svm.PegasosClassifier(0.01, random_state=0), "two"),
        (filters.MRMR(3), "many"),
        (filters.QPFS(3), "two"),
        (embedded.SVMRFE(3), "two"),
        (embedded.L1SVM(), "two"),
        (search.ForwardSelection(GaussianNB(), cv=3), "named"),
        (search.ForwardSelection(svm.SVC(kernel="linear"), cv=3), "named"),
        (tree.CARTClassifier(categorical_features=NOMINAL, max_depth=4), "holes"),
        (tree.CARTRegressor(max_depth=3), "numeric"),
        (neighbors.KNNClassifier(3), "holes"),
        (tree.ForestClassifier(8, random_state=0), "many"),
        (information.Discretiser(), "many"),
        (make_pipeline(StandardScaler(), filters.FisherScore(3), svm.SVC()), "two"),
    ]
    for k, (model, table) in enumerate(models):

        def again(
            model: Any = model, table: str = table, path: Path = folder / f"m{k}.tamiz"
        ) -> Any:
            X, y = TABLES[table]
            persistence.save(clone(model).fit(X, y), path)
            return persistence.load(path), X

        tol = _tolerance(model) if not hasattr(model, "steps") else 1e-3
        yield Fit(f"save and load {k} {type(model).__name__} on {table}", again, tol)


def fits(folder: Path) -> list[Fit]:
    """Everything that is computed."""
    groups = (_machines, _filters, _streams, _searches, _embedded, _trees, _neighbours, _kernels)
    found = [one for group in (*groups, _information, _evaluation) for one in group()]
    found += _files(folder)
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"These names stand for two fits: {twice}.")
    return found


# ------------------------------------------------------------------------------------- writing


def answer(one: Fit, folder: Path) -> tuple[Answers, set[str]]:
    """The answers of one fit, and the estimators that were seen."""
    found = Answers()
    seen: set[str] = set()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value, X = one.make()
            seen.add(type(value).__name__)
            found.add_any(value, X)
        except Exception as error:  # whatever it is, it is the answer
            found.discrete["error"] = type(error).__name__
            found.discrete["error_text"] = str(error).replace(str(folder), "FOLDER")
    own = {w.category.__name__ for w in caught if issubclass(w.category, UserWarning)}
    found.discrete["warnings"] = sorted(name for name in own if not name.startswith("Numba"))
    return found, seen


def write(path: Path, only: str = "") -> None:
    """Compute all fits and store their answers."""
    print(f"tamiz of {tamiz.__file__}")
    begin = time.perf_counter()
    stored: dict[str, Any] = {}
    vectors: list[np.ndarray] = []
    seen: set[str] = set()
    slow: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in fits(folder):
            if only not in one.name:
                continue
            start = time.perf_counter()
            found, classes = answer(one, folder)
            slow.append((time.perf_counter() - start, one.name))
            seen |= classes
            stored[one.name] = {
                "tol": one.tol,
                "discrete": found.discrete,
                "shapes": {key: list(value.shape) for key, value in found.floats.items()},
            }
            vectors += [value.ravel() for value in found.floats.values()]
    text = np.frombuffer(json.dumps(stored, default=str).encode(), dtype=np.uint8)
    np.savez_compressed(path, answers=text, floats=np.concatenate([np.empty(0), *vectors]))
    failed = [name for name, one in stored.items() if "error" in one["discrete"]]
    for name in failed:
        one = stored[name]["discrete"]
        print(f"raises: {name}: {one['error']}: {one['error_text'][:120]}")
    rooms = (svm, filters, search, embedded, neighbors, tree)
    public = {n for room in rooms for n in room.__all__ if hasattr(getattr(room, n), "fit")}
    print(f"not covered: {sorted(public - seen) or 'none'}")
    print("slowest:", ", ".join(f"{name[:50]} {s:.1f} s" for s, name in sorted(slow)[:-6:-1]))
    seconds = time.perf_counter() - begin
    print(f"{len(stored)} fits, {len(failed)} of them raise, {seconds:.0f} s")


# ----------------------------------------------------------------------------------- comparing


def read(path: Path) -> dict[str, Any]:
    """The answers of a file: for each fit its tolerance, discrete answers and arrays."""
    with np.load(path, allow_pickle=False) as archive:
        stored = json.loads(archive["answers"].tobytes())
        vector = archive["floats"]
    at = 0
    for one in stored.values():
        one["floats"] = {}
        for key, shape in one.pop("shapes").items():
            size = int(np.prod(shape))
            one["floats"][key] = vector[at : at + size].reshape(shape)
            at += size
    return stored


def apart(key: str, old: np.ndarray, new: np.ndarray, tol: float) -> str | None:
    """How two arrays of floats differ by more than they may."""
    if old.shape != new.shape:
        return f"shape {old.shape} became {new.shape}"
    known = np.isfinite(old) & np.isfinite(new)
    if not np.array_equal(old[~known], new[~known], equal_nan=True):
        return "infinite or missing values at other places"
    if not known.any():
        return None
    size = np.maximum(np.abs(old), np.abs(new))[known]
    away = np.abs(old - new)[known]
    if RESIDUAL.search(key):
        allowed = np.full(len(size), max(tol, 1e-9) * max(1.0, size.max()))
    else:
        allowed = tol * size + (ROUNDING if tol <= EXACT else tol) * size.max()
    if (away <= allowed).all():
        return None
    worst = int(np.argmax(away - allowed))
    return f"{old[known][worst]!r} became {new[known][worst]!r} (tolerance {tol:g})"


def differences(old: dict[str, Any], new: dict[str, Any]) -> tuple[list[str], list[str], bool]:
    """What differs between two runs of one fit, what is only noted, and whether all bits agree."""
    wrong, notes, exact = [], [], True
    if "error" in new["discrete"] and "error" not in old["discrete"]:
        return (
            [f"raises {new['discrete']['error']}: {new['discrete']['error_text'][:200]}"],
            [],
            True,
        )
    for key, value in old["discrete"].items():
        if key in new["discrete"] and new["discrete"][key] == value:
            continue
        now = repr(new["discrete"][key])[:80] if key in new["discrete"] else "nothing"
        line = f"{key}: {repr(value)[:80]} became {now}"
        (notes if key == "error_text" or EFFORT.search(key) else wrong).append(line)
    for key, value in old["floats"].items():
        if key not in new["floats"]:
            line = f"{key}: is gone"
        else:
            exact &= np.array_equal(value, new["floats"][key], equal_nan=True)
            away = apart(key, value, new["floats"][key], old["tol"])
            if away is None:
                continue
            line = f"{key}: {away}"
        (notes if EFFORT.search(key) else wrong).append(line)
    for kind in ("discrete", "floats"):
        notes += [f"{key}: is new" for key in new[kind] if key not in old[kind]]
    return wrong, notes, exact


def compare(old_path: Path, new_path: Path) -> int:
    """Print what differs between two files; the number of fits that do."""
    old, new = read(old_path), read(new_path)
    n_differ = n_noted = n_rounded = 0
    for name, one in old.items():
        if name not in new:
            wrong, notes, exact = ["the fit is gone"], [], True
        else:
            wrong, notes, exact = differences(one, new[name])
        n_differ += bool(wrong)
        n_noted += bool(notes)
        n_rounded += not exact and not wrong
        if wrong or notes:
            print(f"{'DIFFERS' if wrong else 'note'}: {name}")
            for line in wrong[:6]:
                print(f"    {line}")
            for line in notes[:3]:
                print(f"    (note) {line}")
            if len(wrong) > 6 or len(notes) > 3:
                print(f"    … {len(wrong)} differences, {len(notes)} notes in all")
    added = [name for name in new if name not in old]
    if added:
        print(f"only in the newer file: {len(added)} fits")
    print(f"{n_rounded} fits agree within their tolerance but not to the last bit")
    print(f"{n_noted} fits with notes (iterations, wording, new attributes)")
    print(f"{len(old)} fits, {n_differ} differ")
    return n_differ


def main() -> int:
    parser = argparse.ArgumentParser(description="Show that answers did not change.")
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="compute all fits and store their answers")
    writing.add_argument("file", type=Path)
    writing.add_argument("--only", default="", help="only fits whose name contains this")
    comparing = commands.add_parser("compare", help="name each fit that differs")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    options = parser.parse_args()
    if options.command == "write":
        write(options.file, options.only)
        return 0
    return int(compare(options.old, options.new) > 0)


if __name__ == "__main__":
    sys.exit(main())
