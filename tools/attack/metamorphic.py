"""Changes of the data that must not change the answer, or change it in a known way.

For every estimator :data:`HOLDS` says which relations hold and how closely:

rows
    Samples in another order.
columns
    Features in another order: scores and selections are those of the same features.
double
    A sample that is there twice is one of weight two.
scaled
    Every feature in another unit (a power of two).
named
    Classes called "a" and "b" instead of 0 and 1.
swapped
    The two classes change their labels: decision values change their sign.
batches
    ``partial_fit`` in several batches is ``partial_fit`` in one.
stream
    ``fit_stream`` in several batches is ``fit``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tamiz
from tamiz import embedded, filters, neighbors, search, svm, tree
from tools.attack.runner import Campaign

LETTERS = np.array(["a", "b"])


class Relations(NamedTuple):
    """An estimator, the relations that hold for it, and the largest difference."""

    make: Callable[[], Any]
    names: tuple[str, ...]
    tol: float = 1e-7
    numeric: bool = False  # its target
    codes: bool = False  # whether the features are small integers


MACHINE = ("rows", "columns", "double", "named", "swapped")
COUNTED = ("rows", "columns", "scaled", "named", "swapped")
SCORED = (*COUNTED, "double")
CODED = ("rows", "columns", "named", "swapped")


def judged(kind: Any) -> Relations:
    """A search by a criterion that needs no samples set aside."""
    return Relations(lambda: kind(criterion="bhattacharyya"), COUNTED)


HOLDS: dict[str, Relations] = {
    "SVC": Relations(svm.SVC, MACHINE, 1e-5),
    "SVC linear": Relations(lambda: svm.SVC(kernel="linear"), MACHINE, 1e-5),
    "SVC poly": Relations(lambda: svm.SVC(kernel="poly", coef0=1.0), MACHINE, 1e-5),
    "SVR": Relations(svm.SVR, ("rows", "columns", "double"), 1e-4, True),
    "SVDD": Relations(svm.SVDD, ("rows", "columns", "double"), 1e-3),
    "OneClassSVM": Relations(svm.OneClassSVM, ("rows", "columns", "double"), 1e-3),
    "HardMarginSVC": Relations(lambda: svm.HardMarginSVC(kernel="rbf"), MACHINE, 1e-3),
    "BudgetSVC": Relations(lambda: svm.BudgetSVC(0.2, mean=True), MACHINE, 1e-3),
    "LinearMachine": Relations(svm.LinearMachine, MACHINE, 1e-6),
    "LinearMachineRegressor": Relations(
        svm.LinearMachineRegressor, ("rows", "columns", "double"), 1e-6, True
    ),
    "PegasosClassifier": Relations(
        lambda: svm.PegasosClassifier(random_state=0), ("columns", "named", "swapped"), 1e-6
    ),
    "PerceptronClassifier": Relations(
        lambda: svm.PerceptronClassifier(max_iter=50), ("columns", "named", "swapped")
    ),
    "SubgradientClassifier": Relations(lambda: svm.SubgradientClassifier(max_iter=50), MACHINE),
    "KNNClassifier": Relations(neighbors.KNNClassifier, ("rows", "columns", "named", "swapped")),
    "BoostingClassifier": Relations(
        lambda: tree.BoostingClassifier(n_estimators=5), ("rows", "scaled", "named", "swapped")
    ),
    "BoostingRegressor": Relations(
        lambda: tree.BoostingRegressor(n_estimators=5), ("rows", "scaled"), numeric=True
    ),
    "CARTClassifier": Relations(
        tree.CARTClassifier, ("rows", "scaled", "named", "swapped", "double")
    ),
    "CARTRegressor": Relations(tree.CARTRegressor, ("rows", "scaled", "double"), numeric=True),
    "ForestClassifier": Relations(
        lambda: tree.ForestClassifier(5, random_state=0), ("scaled", "named")
    ),
    "AUCScore": Relations(filters.AUCScore, SCORED),
    "ChiSquared": Relations(filters.ChiSquared, (*COUNTED, "stream")),
    "ChiSquared of codes": Relations(
        lambda: filters.ChiSquared(bins=None), (*CODED, "batches", "stream"), codes=True
    ),
    "FisherScore": Relations(filters.FisherScore, (*SCORED, "batches", "stream")),
    "InformationGain": Relations(filters.InformationGain, (*COUNTED, "stream")),
    "InformationGain of codes": Relations(
        lambda: filters.InformationGain(bins=None), (*CODED, "batches", "stream"), codes=True
    ),
    "KolmogorovSmirnov": Relations(filters.KolmogorovSmirnov, SCORED),
    "MaxRel": Relations(filters.MaxRel, (*COUNTED, "stream")),
    "MaxRel of codes": Relations(
        lambda: filters.MaxRel(bins=None), (*CODED, "batches", "stream"), codes=True
    ),
    "PearsonScore": Relations(filters.PearsonScore, (*SCORED, "batches", "stream")),
    "SignalToNoise": Relations(filters.SignalToNoise, (*SCORED, "batches", "stream")),
    "StumpError": Relations(filters.StumpError, SCORED),
    "SymmetricalUncertainty": Relations(filters.SymmetricalUncertainty, (*COUNTED, "stream")),
    "SymmetricalUncertainty of codes": Relations(
        lambda: filters.SymmetricalUncertainty(bins=None), (*CODED, "batches", "stream"), codes=True
    ),
    "WelchT": Relations(filters.WelchT, (*COUNTED, "batches", "stream")),
    "CFS": Relations(filters.CFS, COUNTED),
    "CMIM": Relations(filters.CMIM, COUNTED),
    "JMI": Relations(filters.JMI, COUNTED),
    "MRMR": Relations(filters.MRMR, COUNTED),
    "MRMR quotient": Relations(lambda: filters.MRMR(scheme="quotient"), COUNTED),
    "MaxDep": Relations(filters.MaxDep, COUNTED),
    "QPFS": Relations(filters.QPFS, COUNTED, 1e-5),
    "Relief": Relations(lambda: filters.Relief(random_state=0), COUNTED),
    "ReliefF": Relations(lambda: filters.ReliefF(random_state=0), COUNTED),
    "RReliefF": Relations(
        lambda: filters.RReliefF(random_state=0), ("rows", "columns", "scaled"), numeric=True
    ),
    "AROM": Relations(embedded.AROM, MACHINE, 1e-2),
    "FSV": Relations(embedded.FSV, ("rows", "columns", "named"), 1e-4),
    "KPSVM": Relations(embedded.KPSVM, ("rows", "columns", "named"), 1e-2),
    "L0L2SVM": Relations(embedded.L0L2SVM, MACHINE, 1e-2),
    "L1L2SVM": Relations(embedded.L1L2SVM, MACHINE, 1e-3),
    "L1SVM": Relations(embedded.L1SVM, MACHINE, 1e-4),
    "RobustLP": Relations(embedded.RobustLP, MACHINE, 1e-3),
    "SVMRFE": Relations(lambda: embedded.SVMRFE(2), MACHINE, 1e-4),
    "SVMRFE rbf": Relations(lambda: embedded.SVMRFE(2, kernel="rbf"), MACHINE, 1e-4),
    "AdaptiveScaling": Relations(embedded.AdaptiveScaling, ("rows", "columns", "named"), 1e-2),
    "RadiusMarginScaling": Relations(
        embedded.RadiusMarginScaling, ("rows", "columns", "named"), 1e-2
    ),
    "ForestImportance": Relations(
        lambda: embedded.ForestImportance(n_estimators=5, random_state=0), ("scaled", "named")
    ),
    "HoldOutSVM": Relations(lambda: embedded.HoldOutSVM(2, random_state=0), ("named",), 1e-4),
    "ForwardSelection": judged(search.ForwardSelection),
    "BackwardElimination": judged(search.BackwardElimination),
    "BestFirst": judged(search.BestFirst),
    "BranchAndBound": judged(search.BranchAndBound),
    "ExhaustiveSearch": judged(search.ExhaustiveSearch),
    "GeneticSearch": Relations(
        lambda: search.GeneticSearch(criterion="cfs", N=6, G=3, random_state=0),
        ("rows", "scaled", "named", "swapped"),
    ),
    "SimulatedAnnealing": Relations(
        lambda: search.SimulatedAnnealing(criterion="cfs", m=2, random_state=0),
        ("rows", "scaled", "named", "swapped"),
    ),
    "Discretiser": Relations(tamiz.information.Discretiser, ("rows", "columns", "scaled")),
    "AutoScaler": Relations(tamiz.evaluation.AutoScaler, ("rows", "columns", "scaled")),
}


class Problem(NamedTuple):
    """Samples, their target and weights, and rows to ask about."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    rows: np.ndarray


def problem(draw: np.random.Generator, numeric: bool, codes: bool) -> Problem:
    """Continuous values; of equally good features the order of the columns would decide.

    Cut into bins, two features may still have the same counts with the classes. Such problems are
    drawn again.
    """
    while True:
        made = _problem(draw, numeric, codes)
        if numeric or codes:
            return made
        relevances = np.sort(filters.MaxRel().fit(made.X, made.y).scores_)
        if (np.diff(relevances) > 1e-12).all():
            return made


def _problem(draw: np.random.Generator, numeric: bool, codes: bool) -> Problem:
    n, p = int(draw.integers(24, 50)), int(draw.integers(3, 6))
    X, rows = draw.normal(size=(n, p)), draw.normal(size=(12, p))
    y = draw.permutation(np.arange(n) % 2)
    X[:, :2] += draw.uniform(0.5, 2.0) * y[:, None]
    if codes:
        X, rows = np.round(X), np.round(rows)
    target = X[:, 0] - 0.5 * X[:, -1] + 0.3 * draw.normal(size=n) if numeric else y
    return Problem(X, target, None, rows)


Answer = dict[str, np.ndarray]


def answer(model: Any, given: Problem, batches: int = 0, stream: bool = False) -> Answer:
    """Fit, and everything that the relations speak of."""
    X, y, weight, rows = given
    parts = [(X[part], y[part]) for part in np.array_split(np.arange(len(X)), batches or 1)]
    if stream:
        model.fit_stream(parts)
    elif batches:
        for some, labels in parts:
            model.partial_fit(some, labels, classes=np.unique(y))
    else:
        model.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
    found: Answer = {}
    for name in ("scores_", "support_"):
        if hasattr(model, name) and len(getattr(model, name)) == X.shape[1]:
            found[name] = np.asarray(getattr(model, name), dtype=float)
            break  # what is selected follows from the scores, and ties from the order
    if hasattr(model, "best_score_"):
        found = {"best_score_": np.array(model.best_score_)}
    for name in ("decision_function", "predict_proba", "predict"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name)(rows))
            break
    if not found or type(model).__name__ in ("Discretiser", "AutoScaler"):
        found["transform"] = np.asarray(model.transform(rows))
    return found


# ------------------------------------------------------------------------- relations


def _rows(draw: Any, given: Problem) -> tuple[Problem, Callable[[Answer], Answer]]:
    order = draw.permutation(len(given.X))
    return given._replace(X=given.X[order], y=given.y[order]), dict


def _columns(draw: Any, given: Problem) -> tuple[Problem, Callable[[Answer], Answer]]:
    order = draw.permutation(given.X.shape[1])

    def expected(first: Answer) -> Answer:
        by_feature = {"scores_", "support_", "transform"}
        return {k: v[..., order] if k in by_feature else v for k, v in first.items()}

    return given._replace(X=given.X[:, order], rows=given.rows[:, order]), expected


def _scaled(draw: Any, given: Problem) -> tuple[Problem, Callable[[Answer], Answer]]:
    units = 2.0 ** draw.integers(-20, 20, size=given.X.shape[1])
    return given._replace(X=given.X * units, rows=given.rows * units), dict


def _named(draw: Any, given: Problem) -> tuple[Problem, Callable[[Answer], Answer]]:
    def expected(first: Answer) -> Answer:
        return {k: LETTERS[v] if k == "predict" else v for k, v in first.items()}

    return given._replace(y=LETTERS[given.y]), expected


def _swapped(draw: Any, given: Problem) -> tuple[Problem, Callable[[Answer], Answer]]:
    change: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "decision_function": lambda v: -v,
        "predict_proba": lambda v: v[:, ::-1],
        "predict": lambda v: 1 - v,
    }

    def expected(first: Answer) -> Answer:
        return {k: change[k](v) if k in change else v for k, v in first.items()}

    return given._replace(y=1 - given.y), expected


RELATIONS: dict[str, Callable[..., tuple[Problem, Callable[[Answer], Answer]]]] = {
    "rows": _rows,
    "columns": _columns,
    "scaled": _scaled,
    "named": _named,
    "swapped": _swapped,
}


def pairs(make: Callable[[], Any], name: str, draw: Any, given: Problem) -> tuple[Answer, Answer]:
    """What is expected after a change, and what is found."""
    if name == "batches":
        whole = answer(make(), given, batches=1)
        return whole, answer(make(), given, batches=int(draw.integers(2, 6)))
    if name == "stream":
        number = int(draw.integers(2, 6))
        return answer(make(), given), answer(make(), given, batches=number, stream=True)
    if name == "double":
        twice = draw.random(len(given.X)) < 0.3
        order = np.concatenate([np.arange(len(given.X)), np.flatnonzero(twice)])
        weighted = answer(make(), given._replace(weight=1.0 + twice))
        return weighted, answer(make(), given._replace(X=given.X[order], y=given.y[order]))
    changed, expected = RELATIONS[name](draw, given)
    return expected(answer(make(), given)), answer(make(), changed)


def check_same(expected: Answer, found: Answer, tol: float) -> None:
    for name, values in expected.items():
        other = found[name]
        if values.dtype.kind not in "biuf":
            assert np.array_equal(values, other), f"{name} {other}, expected {values}"
            continue
        same = values == other  # infinite scores among them
        with np.errstate(invalid="ignore"):
            away = np.where(same, 0.0, np.abs(values.astype(float) - other))
        size = 1.0 + np.abs(values[np.isfinite(values)]).max(initial=0.0)
        assert (away <= tol * size).all(), f"{name} differs by {np.nanmax(away):.2g}"


class Metamorphic(Campaign):
    """One relation of one estimator on one random problem."""

    count = 20_000
    short = 140

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.cases = [(name, relation) for name, it in HOLDS.items() for relation in it.names]
        self.names = [f"{name} {relation}" for name, relation in self.cases]

    def about(self, seed: int) -> str:
        return self.names[seed % len(self.names)]

    def attempt(self, seed: int) -> str:
        name, relation = self.cases[seed % len(self.cases)]
        make, _, tol, numeric, codes = HOLDS[name]
        draw = np.random.default_rng([19, seed])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_same(*pairs(make, relation, draw, problem(draw, numeric, codes)), tol)
        return relation
