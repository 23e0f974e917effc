"""P1: machines and selectors on the vertebral column data, one 70/30 split in the source."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tamiz.embedded import L1SVM, SVMRFE
from tamiz.filters import CFS, FisherScore, Relief
from tamiz.reproduce.base import (
    Experiment,
    Found,
    Recipe,
    Row,
    claim,
    column,
    e1071_scale,
    read,
    row,
    unit,
)
from tamiz.search import BackwardElimination, ForwardSelection
from tamiz.svm import SVC

#: C: support vectors, training errors, accuracy, sensitivity (ill), specificity.
LINEAR: dict[float, tuple[float, ...]] = {
    0.01: (139, 64, 0.656, 0.984, 0.0),
    0.1: (103, 28, 0.828, 0.935, 0.387),
    0.5: (80, 28, 0.785, 0.839, 0.677),
    1: (74, 28, 0.806, 0.855, 0.71),
    2: (69, 28, 0.806, 0.855, 0.71),
    5: (65, 29, 0.806, 0.855, 0.705),
    50: (62, 27, 0.807, 0.855, 0.71),
}
#: (C, gamma): the same.
RADIAL: dict[tuple[float, float], tuple[float, ...]] = {
    (1, 0.01): (135, 32, 0.785, 0.952, 0.452),
    (1, 0.1): (97, 24, 0.828, 0.887, 0.71),
    (1, 0.2): (99, 23, 0.839, 0.903, 0.71),
    (1, 1): (172, 14, 0.839, 0.936, 0.645),
    (1, 2): (206, 8, 0.817, 0.936, 0.58),
    (2, 0.01): (123, 24, 0.889, 0.946, 0.768),
    (2, 0.1): (85, 23, 0.828, 0.871, 0.742),
    (2, 0.2): (90, 23, 0.85, 0.887, 0.774),
    (2, 1): (163, 10, 0.828, 0.919, 0.645),
    (2, 2): (201, 2, 0.85, 0.952, 0.645),
    (5, 0.01): (103, 23, 0.839, 0.903, 0.71),
    (5, 0.1): (75, 24, 0.823, 0.871, 0.742),
    (5, 0.2): (83, 21, 0.817, 0.871, 0.71),
    (5, 1): (151, 4, 0.839, 0.919, 0.677),
    (5, 2): (197, 1, 0.839, 0.936, 0.645),
    (50, 0.01): (72, 26, 0.828, 0.887, 0.71),
    (50, 0.1): (71, 20, 0.828, 0.887, 0.71),
    (50, 0.2): (72, 12, 0.796, 0.839, 0.71),
    (50, 1): (130, 0, 0.807, 0.887, 0.645),
    (50, 2): (190, 0, 0.839, 0.919, 0.677),
}
#: The sixth feature alone: kernel -> the same.
ALONE: dict[str, tuple[float, ...]] = {
    "rbf": (106, 47, 0.774, 0.71, 0.903),
    "linear": (106, 44, 0.774, 0.71, 0.903),
}
#: Orders, best first or added first; features are counted from 1.
ORDERS = {
    "Fisher": (6, 5, 1, 2, 3, 4),
    "SVM-RFE": (6, 5, 4, 2, 3, 1),
    "forward": (6, 3, 2, 5, 4, 1),
    "backward": (6, 4, 5, 2, 1, 3),  # removed last to first
}
RELIEF_RUNS, RELIEF_SAMPLES = 5, 10
FITS = {"forward": (0.899, 5), "backward": (0.885, 4)}  # of the best subset, and its size
SIGNS = (0, 1, -1, -1, -1, 1)  # of the weights of the l1 machine

MEASURES = ("support vectors", "training errors", "accuracy", "sensitivity", "specificity")
N_ILL, N_HEALTHY = 148, 69  # of the training part; 62 and 31 are left for testing

_MISPRINT = "the printed accuracy, sensitivity and specificity do not fit together: a misprint"


def misprinted(accuracy: float, sensitivity: float, specificity: float) -> bool:
    """Whether the three cannot come from 62 ill and 31 healthy patients, up to rounding."""
    ill, healthy = round(62 * sensitivity), round(31 * specificity)
    near = abs(ill / 62 - sensitivity) < 1.1e-3 and abs(healthy / 31 - specificity) < 1.1e-3
    return not near or abs((ill + healthy) / 93 - accuracy) > 1.1e-3


def training_part(ill: np.ndarray, seed: int) -> np.ndarray:
    """A mask with the printed class counts: the splits that could have been the printed one."""
    rng = np.random.default_rng(seed)
    train = np.zeros(len(ill), dtype=bool)
    train[rng.permutation(np.flatnonzero(ill))[:N_ILL]] = True
    train[rng.permutation(np.flatnonzero(~ill))[:N_HEALTHY]] = True
    return train


class Vertebral(Experiment):
    """All tables of the chapter on one random split."""

    name, data, quick, full = "splits", ("vertebral_2c",), 100, 1000

    def prepare(self, quick: bool, seed: int) -> Any:
        X, y, _ = read("vertebral_2c")
        return X, y == "Abnormal"

    def repeat(self, ready: Any, seed: int) -> Found:
        X, ill = ready
        train = training_part(ill, seed)
        Z, T = e1071_scale(X[train], X[~train])
        y, t = ill[train], ill[~train]
        # the largest f6 is 418, the next 149: without it in the training part, f6 spreads wider
        found: Found = {"outlier tested": bool(not train[X[:, 5].argmax()])}
        for C in LINEAR:
            found[_linear(C)] = _card(SVC(C=C, kernel="linear"), Z, y, T, t)
        for C, gamma in RADIAL:
            found[_radial(C, gamma)] = _card(SVC(C=C, gamma=gamma), Z, y, T, t)
        for kernel in ALONE:
            machine = SVC(C=1.0, kernel=kernel, gamma=1.0)
            found[_alone(kernel)] = _card(machine, Z[:, 5:], y, T[:, 5:], t)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few features: nothing to warn of in a table
            found |= _rankings(X[train], Z, y, seed)
        return found

    def rows(self, found: list[Found], quick: bool) -> list[Row]:
        tables = {
            **{_linear(C): values for C, values in LINEAR.items()},
            **{_radial(*key): values for key, values in RADIAL.items()},
            **{_alone(kernel): values for kernel, values in ALONE.items()},
        }
        rows = []
        for k, measure in enumerate(MEASURES):
            for key, published in tables.items():
                note = _MISPRINT if k >= 2 and misprinted(*published[2:]) else ""
                rows.append(
                    row(
                        key,
                        [values[key][k] for values in found],
                        group=measure,
                        published=published[k],
                        decimals=3 if k >= 2 else 0,
                        why="" if note else (_COUNTS if k == 0 else _ONE_SPLIT),
                        note=note,
                    )
                )
        return rows + _without_outlier(rows, found) + _ranking_rows(found)


def _without_outlier(rows: list[Row], found: list[Found]) -> list[Row]:
    """All counts once more, over the splits that leave the outlying patient aside.

    The thought came after seeing the table, hence no verdicts.
    """
    such = [values for values in found if values["outlier tested"]]
    if len(such) < 2:
        return []
    return [
        row(
            line.what,
            [values[line.what][0] for values in such],
            group="support vectors, f6 = 418 in the test part",
            published=line.published,
            decimals=0,
            judged=False,
        )
        for line in rows
        if line.group == MEASURES[0]
    ]


def _linear(C: float) -> str:
    return f"linear, C = {C:g}"


def _radial(C: float, gamma: float) -> str:
    return f"radial, C = {C:g}, gamma = {gamma:g}"


def _alone(kernel: str) -> str:
    return "f6 alone, linear, C = 1" if kernel == "linear" else "f6 alone, radial, C = gamma = 1"


def _card(machine: Any, Z: Any, y: Any, T: Any, t: Any) -> list[float]:
    """The five measures of a machine."""
    machine.fit(Z, y)
    said = machine.predict(T)
    wrong = int((machine.predict(Z) != y).sum())
    right = said == t
    counts = [len(machine.support_), wrong]
    return [*counts, float(right.mean()), float(right[t].mean()), float(right[~t].mean())]


def _rankings(X: np.ndarray, Z: np.ndarray, y: np.ndarray, seed: int) -> Found:
    """What the selectors find in the training part; places are counted from 1."""
    fit = [(np.arange(len(y)), np.arange(len(y)))]  # judged by the fit to the training part
    judge = SVC(C=1.0, gamma="auto")
    forward = ForwardSelection(judge, cv=fit).fit(Z, y)
    backward = BackwardElimination(judge, cv=fit).fit(Z, y)
    orders = {
        # the printed form depends on units, which the source does not give: these suit
        "Fisher": FisherScore(variant="criterion").fit(unit(X), y).order_,
        "SVM-RFE": SVMRFE(C=1.0, kernel="linear").fit(Z, y).order_,
        "forward": _steps(forward, "add"),
        "backward": _steps(backward, "drop")[::-1],
    }
    relief = [
        int(Relief(n_samples=RELIEF_SAMPLES, scaling="range", random_state=seed + k)
            .fit(X, y).order_[0] == 5)
        for k in range(RELIEF_RUNS)
    ]  # fmt: skip
    sparse = L1SVM(C=1.0).fit(Z, y)
    weights = np.ravel(sparse.coef_) * (1 if sparse.classes_[1] else -1)
    return {
        **{f"order {name}": [int(j) + 1 for j in order] for name, order in orders.items()},
        **{
            f"fit {name}": [float(search.best_score_), int(search.support_.sum())]
            for name, search in (("forward", forward), ("backward", backward))
        },
        "relief": sum(relief),
        "cfs": [int(j) + 1 for j in np.flatnonzero(CFS().fit(X, y).support_)],
        "signs": [int(np.sign(w)) for w in weights],
    }


def _steps(search: Any, action: str) -> list[int]:
    steps = [step.features[0] for step in search.selection_.path if step.action == action]
    return [*steps, *(set(range(6)) - set(steps))]


def _ranking_rows(found: list[Found]) -> list[Row]:
    rows = []
    for name, order in ORDERS.items():
        group = f"place in the order of {name}"
        places = np.array([np.argsort(values[f"order {name}"]) + 1 for values in found])
        for feature in range(1, 7):
            rows.append(
                row(
                    f"f{feature}",
                    places[:, feature - 1].tolist(),
                    group=group,
                    published=order.index(feature) + 1,
                    decimals=0,
                    why=_WHY.get(name, ""),
                )
            )
    for name, (value, size) in FITS.items():
        fits = [values[f"fit {name}"][0] for values in found]
        sizes = [values[f"fit {name}"][1] for values in found]
        rows.append(row(f"{name}, best subset", fits, group="fit to the training part",
                        published=value))  # fmt: skip
        rows.append(row(f"{name}, best subset", sizes, group="number of features",
                        published=size, decimals=0))  # fmt: skip
    chosen = [len(values["cfs"]) for values in found]
    rows.append(row("CFS", chosen, group="number of features", published=1, decimals=0,
                    why=_WHY["CFS"]))  # fmt: skip
    has = [float(6 in values["cfs"]) for values in found]
    rows.append(claim("CFS selects f6, fraction of the splits", has, "always", min(has) == 1,
                      group="fraction"))  # fmt: skip
    rows.append(row("Relief, m = 10: f6 first, of five runs", column(found, "relief"),
                    group="number of runs", published=5, decimals=0))  # fmt: skip
    for feature, sign in enumerate(SIGNS, start=1):
        signs = [values["signs"][feature - 1] for values in found]
        rows.append(row(f"w{feature}", signs, group="sign of the weights of the l1 machine",
                        published=sign, decimals=0))  # fmt: skip
    rows.sort(key=lambda line: _GROUPS.index(line.group))
    return rows


_GROUPS = [
    *(f"place in the order of {name}" for name in ORDERS),
    "fit to the training part", "number of features", "fraction", "number of runs",
    "sign of the weights of the l1 machine",
]  # fmt: skip

_ONE_SPLIT = "one split, at the edge of ours; unexplained"
_COUNTS = (
    "one split, at the edge of ours; the counts of the splits that leave the patient with f6 = 418 "
    "to the test part come nearer (below)"
)
_WHY: dict[str, str] = {
    "CFS": "the correlations of the source's package differ: it discretises otherwise",
}

RECIPE = Recipe(
    name="P1",
    title="Vertebral column: linear and radial machines, and six selectors",
    source="Tables 3.2 to 3.4 and sections 3.2.1 to 3.2.3 of a thesis on feature selection for "
    "support vector machines (R: e1071, Rdimtools, FSinR, FSelector, mt, penalizedSVM); one split.",
    protocol="Random splits with the printed class counts: 217 patients to train (148 ill, 69 "
    "healthy), 93 to test (62, 31). Features have mean 0 and deviation 1 (n - 1) in the training "
    "part. The searches are judged by the fit to the training part, as there; SVM-RFE and the l1 "
    "machine are linear with C = 1. Fisher's score is taken on features in [0, 1], which of about "
    "ten readings comes nearest to the printed order.",
    data="vertebral_2c, 310 patients, 6 measurements f1 to f6, 210 ill and 100 healthy",
    parts=(Vertebral(),),
)
