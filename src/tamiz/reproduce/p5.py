"""P5: spam, three kernels with the printed parameters, cross-validated and on a test part."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from tamiz.evaluation.card import report_card
from tamiz.reproduce.base import (
    Experiment,
    Found,
    Recipe,
    RGenerator,
    Row,
    e1071_scale,
    read,
    row,
    tune_folds,
    without,
)
from tamiz.svm import SVC

MACHINES: dict[str, dict[str, Any]] = {
    "radial": {"kernel": "rbf", "gamma": 0.01, "C": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01, "C": 10.0, "coef0": -2.0},
    "polynomial": {"kernel": "poly", "gamma": 0.01, "C": 10.0, "coef0": 1.0, "degree": 2},
}
#: Error over ten folds of the training part.
ERRORS = {"radial": 0.07453, "sigmoid": 0.08602, "polynomial": 0.06894}
#: Sensitivity, specificity and precision in the test part.
CARDS = {
    "radial": (0.89948, 0.96144, 0.94363),
    "sigmoid": (0.88388, 0.96144, 0.94269),
    "polynomial": (0.91681, 0.95398, 0.93462),
}
#: Rows: said to be mail, said to be spam; columns: mail, spam.
CONFUSION = {
    "radial": ((773, 58), (31, 519)),
    "sigmoid": ((773, 67), (31, 510)),
    "polynomial": ((767, 48), (37, 529)),
}
MEASURES = ("sensitivity", "specificity", "precision")
N_FOLDS, N_TRAIN = 10, 3220
SEED = 1997  # printed

_SIGMOID = (
    "this kernel is not positive semi-definite, and the solution depends on the solver: LIBSVM's "
    "misses 278 of 3,220 on the printed folds, ours 282, the source 277"
)
_SIGMOID_CARD = (
    "unexplained: LIBSVM's solution on the printed split does not give it either, neither by its "
    "sign (775, 66, 29, 511) nor by probabilities (777, 75, 27, 502)"
)


_HARD = (
    "a matter of the split: on the printed one ours is the printed value, or has it inside (below)"
)


class Spam(Experiment):
    """The protocol on random splits."""

    name, data, quick, full = "random splits", ("spambase",), 8, 50

    def __init__(self, machines: tuple[str, ...] = tuple(MACHINES)) -> None:
        self.machines = machines

    def prepare(self, quick: bool, seed: int) -> Any:
        X, y, _ = read("spambase")
        return X, y == "1"

    def repeat(self, ready: Any, seed: int) -> Found:
        X, y = ready
        rng = np.random.default_rng(seed)
        train = rng.permutation(len(y))[:N_TRAIN]
        test = without(len(y), train)
        folds = tune_folds(N_TRAIN, N_FOLDS, rng.permutation(N_TRAIN))
        found: Found = {}
        for name in self.machines:
            Z, T = e1071_scale(X[train], X[test])
            found[f"card {name}"] = _card(y[test], fitted(name, Z, y[train]).predict(T))
        return found | {
            f"error {name}": cross_validated(name, X[train], y[train], folds)
            for name in self.machines
        }

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        return _rows(found, self.machines, "", _HARD)


class PrintedSplit(Spam):
    """The split and the folds that follow from the printed seed.

    The printed test results are those of Platt's probabilities, not of the sign of the machine:
    both were tried, and these agree. Their sigmoid is fitted to held-out values over folds of its
    own, which are random; hence the repeats.
    """

    name, data, quick, full = "printed split", ("spambase",), 4, 20

    def prepare(self, quick: bool, seed: int) -> Any:
        X, y, _ = read("spambase")
        y = y == "1"
        train, test = printed_split(len(y))
        folds = tune_folds(N_TRAIN, N_FOLDS, RGenerator(SEED).sample(N_TRAIN))
        errors = {
            name: cross_validated(name, X[train], y[train], folds) for name in self.machines
        }  # nothing random is left in them
        Z, T = e1071_scale(X[train], X[test])
        return Z, y[train], T, y[test], errors

    def repeat(self, ready: Any, seed: int) -> Found:
        Z, y, T, t, errors = ready
        found: Found = {f"error {name}": error for name, error in errors.items()}
        for name in self.machines:
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            platt = CalibratedClassifierCV(
                SVC(**MACHINES[name]), method="sigmoid", cv=folds, ensemble=False
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[f"card {name}"] = _card(t, platt.fit(Z, y).predict(T))
        return found

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        return _rows(found, self.machines, ", printed split")


def printed_split(n: int) -> tuple[np.ndarray, np.ndarray]:
    """``set.seed(1997); sample(1:n, trunc(0.7 * n))``."""
    train = RGenerator(SEED).sample(n, n * 70 // 100)
    return train, without(n, train)


def fitted(name: str, Z: np.ndarray, y: np.ndarray) -> SVC:
    """One of the machines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of kernels that are not positive semi-definite
        return SVC(**MACHINES[name]).fit(Z, y)


def cross_validated(name: str, X: np.ndarray, y: np.ndarray, folds: list[np.ndarray]) -> float:
    """Mean over the folds of the error; every fold scales by its own training part."""
    errors = []
    for held in folds:
        train = without(len(y), held)
        Z, T = e1071_scale(X[train], X[held])
        errors.append((fitted(name, Z, y[train]).predict(T) != y[held]).mean())
    return float(np.mean(errors))


def _card(y: np.ndarray, said: np.ndarray) -> list[float]:
    card = report_card(y, said, positive=True)
    return [float(getattr(card, measure)) for measure in MEASURES]


def _rows(found: list[Found], machines: tuple[str, ...], where: str, why: str = "") -> list[Row]:
    rows = [
        row(
            name,
            [values[f"error {name}"] for values in found],
            group=f"error over ten folds{where}",
            published=ERRORS[name],
            decimals=5,
            why=_SIGMOID if name == "sigmoid" else why,
            judged=True if where else None,
        )
        for name in machines
    ]
    for k, measure in enumerate(MEASURES):
        rows += [
            row(
                name,
                [values[f"card {name}"][k] for values in found],
                group=f"{measure} in the test part{where}",
                published=CARDS[name][k],
                decimals=4,  # the fifth is cut in one of them, not rounded
                why=_SIGMOID_CARD if name == "sigmoid" else why,
            )
            for name in machines
        ]
    return rows


RECIPE = Recipe(
    name="P5",
    title="Spam: radial, sigmoid and polynomial machines",
    source="Tables 6.1 and 6.3 of a thesis on support vector machines (R: e1071, set.seed(1997)); "
    "one split.",
    protocol="3,220 messages to train, 1,381 to test; features scaled to mean 0 and deviation 1 in "
    "the training part; error of the printed parameters over ten folds of the training part; "
    "sensitivity, specificity and precision for spam in the test part. First on random splits, "
    "then on the printed one: R's generator gives the split and the folds from the printed seed. "
    "There the answer is that of Platt's probabilities, as in the source.",
    data="spambase, 4,601 messages, 57 features, 1,813 spam",
    parts=(Spam(), PrintedSplit()),
)
