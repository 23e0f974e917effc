"""Judges of a comparison by name, their grids, and scores turned into errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.neighbors import KNNClassifier
from tamiz.search.judges import last_step
from tamiz.svm import SVC, SVR
from tamiz.tree import CARTClassifier, CARTRegressor


@dataclass(frozen=True)
class NamedJudge:
    """A judge that is asked for by name: how to make it for each task, and what to tune."""

    classifier: Callable[[], Any]
    regressor: Callable[[], Any]
    scaled: bool  # whether it minds the scale of the features
    grid: dict[str, list[Any]]
    what: str  # how it decides, in a few words
    cost: str  # how its time grows

    def to_dict(self, name: str) -> dict[str, Any]:
        """What a list of judges tells of it, in plain values."""
        return {
            "name": name,
            "classifier": _called(self.classifier()),
            "regressor": _called(self.regressor()),
            "what": self.what,
            "cost": self.cost,
            "grid": {key: list(values) for key, values in self.grid.items()},
        }


JUDGES = {
    "svc-linear": NamedJudge(
        lambda: SVC(kernel="linear"),
        lambda: SVR(kernel="linear"),
        True,
        {"C": [0.001, 0.01, 0.1, 1.0, 10.0]},
        "a plane with the widest margin",
        "n² p",
    ),
    "svc-rbf": NamedJudge(
        lambda: SVC(kernel="rbf"),
        lambda: SVR(kernel="rbf"),
        True,
        {"C": [0.1, 1.0, 10.0, 100.0]},
        "a curved boundary with the widest margin",
        "n² p",
    ),
    "knn": NamedJudge(
        KNNClassifier,
        KNeighborsRegressor,
        True,
        {"n_neighbors": [1, 3, 5, 9, 15]},
        "the classes of the nearest samples",
        "n² p, less with few features",
    ),
    "tree": NamedJudge(
        CARTClassifier,
        CARTRegressor,
        False,
        {"min_samples_leaf": [1, 5, 20]},
        "questions about one feature after the other",
        "n log n p",
    ),
}
_ALIASES = {
    "svc": "svc-linear",
    "linear": "svc-linear",
    "svr": "svc-linear",
    "svr-linear": "svc-linear",
    "rbf": "svc-rbf",
    "svr-rbf": "svc-rbf",
}


def _called(estimator: Any) -> str:
    """The library and the class of an estimator."""
    cls = type(estimator)
    return f"{cls.__module__.partition('.')[0]}:{cls.__name__}"


def judge_name(name: str) -> str:
    """The name under which a judge is listed."""
    wanted = name.strip().lower().replace("_", "-")
    wanted = _ALIASES.get(wanted, wanted)
    if wanted not in JUDGES:
        raise ValueError(
            f"no judge is called {name!r}; use {', '.join(JUDGES)}, or an estimator of your own."
        )
    return wanted


def make_judge(name: str, task: str, scaled_before: bool) -> Any:
    """A judge by its listed name; behind a scaler of its own if nothing was scaled before."""
    named = JUDGES[name]
    judge = (named.regressor if task == "regression" else named.classifier)()
    return make_pipeline(StandardScaler(), judge) if named.scaled and not scaled_before else judge


def name_of_judge(judge: Any) -> str:
    """A short name for an estimator."""
    last = last_step(judge)
    kernel = getattr(last, "kernel", None)
    name = type(last).__name__.lower()
    return f"{name}-{kernel}" if isinstance(kernel, str) else name


def candidates_of(grid: Any, name: str, judge: Any) -> list[dict[str, Any]]:
    """The settings to try, as keyword arguments of ``set_params``."""
    if grid is True:
        if name not in JUDGES:
            raise ValueError(
                f"tune=True has no grid for the judge {name!r}; pass tune={{'C': [0.1, 1, 10]}} or "
                "the like."
            )
        grid = JUDGES[name].grid
    known = judge.get_params()
    prefix = f"{judge.steps[-1][0]}__" if isinstance(judge, Pipeline) else ""
    candidates = []
    for one in ParameterGrid(grid):
        named = {key if key in known else prefix + key: value for key, value in one.items()}
        unknown = next((key for key in named if key not in known), None)
        if unknown is not None:
            raise ValueError(
                f"tune names {unknown.removeprefix(prefix)!r}, which is no parameter of the judge "
                f"{name!r}; it has {', '.join(sorted(last_step(judge).get_params(deep=False)))}."
            )
        candidates.append(named)
    return candidates


#: How the names of those scores begin that lie between 0 and 1.
_SHARES = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "f1",
    "jaccard",
    "precision",
    "recall",
    "roc_auc",
    "top_k_accuracy",
)


class Metric:
    """A score of scikit-learn as an error: the smaller the better.

    Scores of which more is better become 1 − score, losses stay what they are. A metric that is
    not defined on a fold, such as the area under the ROC curve with one class, is NaN.
    """

    def __init__(self, scoring: Any, task: str):
        self.scorer: Any = None
        self.direct = scoring is None or scoring == "accuracy"
        if scoring is None:
            scoring = "accuracy" if task == "classification" else "neg_root_mean_squared_error"
        self.direct &= task == "classification"
        if isinstance(scoring, str):
            try:
                self.scorer = get_scorer(scoring)
            except ValueError:
                raise ValueError(
                    f"scoring={scoring!r} is no metric of scikit-learn; see "
                    "sklearn.metrics.get_scorer_names(), or pass a scorer."
                ) from None
            self.scoring = scoring
        elif callable(scoring):
            self.scorer = scoring
            self.scoring = getattr(scoring, "__name__", None) or repr(scoring)
        else:
            raise ValueError(
                f"scoring={scoring!r} is not understood; a comparison has one metric, by name or "
                "as a scorer."
            )
        self.loss = getattr(self.scorer, "_sign", 1) < 0
        if scoring == "accuracy":
            self.name = "error"
        elif self.loss:
            self.name = self.scoring.removeprefix("neg_").replace("_", " ")
        else:
            self.name = f"1 − {self.scoring}"
        # whether errors lie between 0 and 1; of a scorer of one's own nobody knows
        self.shares = isinstance(scoring, str) and self.scoring.startswith(_SHARES)

    def __call__(self, machine: Any, X: Any, y: np.ndarray) -> float:
        if self.direct:
            return float(np.mean(machine.predict(X) != y))
        try:
            score = float(self.scorer(machine, X, y))
        except ValueError as error:
            if "one class" in str(error).lower() or "not defined" in str(error).lower():
                return np.nan
            raise
        return -score if self.loss else 1.0 - score


def nothing_selected(task: str) -> Any:
    """What remains without features: the most frequent class, or the mean."""
    return DummyRegressor() if task == "regression" else DummyClassifier(strategy="most_frequent")


def check_judge(judge: Any, name: str, task: str) -> None:
    """Refuse what cannot judge."""
    if not hasattr(judge, "fit") or not hasattr(judge, "predict") or isinstance(judge, type):
        raise TypeError(
            f"the judge {name!r} is {judge!r}; use an estimator with fit and predict, or one of "
            f"the names {', '.join(JUDGES)}."
        )
    if is_regressor(judge) != (task == "regression"):
        kind = "numbers" if task == "regression" else "classes"
        raise ValueError(
            f"y holds {kind}, and the judge {name!r} is a "
            f"{'classifier' if task == 'regression' else 'regressor'}; use another judge, or say "
            "what y is with task='classification' or task='regression'."
        )
