"""Judges of a comparison, made and tuned, and scores turned into errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from tamiz.evaluation.judges.listed import ALIASES, JUDGES, PerFeature
from tamiz.routing import routing_enabled
from tamiz.search.judges import Predicted, last_step
from tamiz.validation import estimator_with


def make_judge(name: str, task: str, scaled_before: bool) -> Any:
    """A judge by its listed name; behind a scaler of its own if nothing was scaled before."""
    named = JUDGES[name]
    judge = (named.regressor if task == "regression" else named.classifier)()
    if not named.scaled or scaled_before:
        return judge
    scaler = StandardScaler()
    if routing_enabled() and has_fit_parameter(judge, "sample_weight"):
        # nobody can ask for a judge by name: weights go to its last step, as without routing
        scaler.set_fit_request(sample_weight=False)
        judge.set_fit_request(sample_weight=True)
    return make_pipeline(scaler, judge)


def name_of_judge(judge: Any) -> str:
    """A short name for an estimator."""
    last = last_step(judge)
    kernel = getattr(last, "kernel", None)
    name = type(last).__name__.lower()
    return f"{name}-{kernel}" if isinstance(kernel, str) else name


def resolved(candidate: dict[str, Any], n_features: int) -> dict[str, Any]:
    """The parameters that a candidate stands for before so many features."""
    return {
        key: value.value / max(1, n_features) if isinstance(value, PerFeature) else value
        for key, value in candidate.items()
    }


def candidates_of(grid: Any, name: str, judge: Any) -> list[dict[str, Any]]:
    """The settings to try, as keyword arguments of ``set_params``."""
    if grid is True or isinstance(grid, str):
        listed = JUDGES.get(ALIASES.get(name, name))
        if listed is None:
            raise ValueError(
                f"tune={grid!r} has no grid for the judge {name!r}; pass "
                "tune={'C': [0.1, 1, 10]} or the like."
            )
        grid = {True: listed.grid, "coarse": listed.coarse, "fine": listed.fine}[grid]
        own = last_step(judge).get_params()  # a regressor may lack what the classifier has
        grid = {key: values for key, values in grid.items() if key in own}
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


def nothing_selected(task: str) -> Any:
    """What remains without features: the most frequent class, or the mean."""
    return DummyRegressor() if task == "regression" else DummyClassifier(strategy="most_frequent")


def check_judge(judge: Any, name: str, task: str) -> None:
    """Refuse what cannot judge."""
    forms = f"use an estimator with fit and predict, or one of the names {', '.join(JUDGES)}"
    estimator_with("fit", "predict", advice=forms)("judges", judge)
    if is_regressor(judge) != (task == "regression"):
        kind = "numbers" if task == "regression" else "classes"
        raise ValueError(
            f"y holds {kind}, and the judge {name!r} is a "
            f"{'classifier' if task == 'regression' else 'regressor'}; use another judge, or say "
            "what y is with task='classification' or task='regression'."
        )


# --------------------------------------------------------------------------------------- the metric


#: How the names of those scores begin that lie between 0 and 1.
_RATES = (
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


class ErrorMetric:
    """A score of scikit-learn as an error: the smaller the better.

    Scores of which more is better become 1 − score, losses stay what they are. A metric that is
    not defined on a fold, such as the area under the ROC curve with one class, is NaN.

    Attributes
    ----------
    scoring, name : str
        Name of the score, and of the error.
    counted : bool
        Whether the error follows from the predicted classes alone, by counting.
    """

    def __init__(self, scoring: Any, task: str):
        self.scorer: Any = None
        if scoring is None:
            scoring = "accuracy" if task == "classification" else "neg_root_mean_squared_error"
        self.classes = task == "classification"
        self.counted = task == "classification" and scoring in ("accuracy", "balanced_accuracy")
        if isinstance(scoring, str):
            try:
                self.scorer = get_scorer(scoring)
            except ValueError:
                raise ValueError(
                    f"scoring={scoring!r} is no metric of scikit-learn; see "
                    "sklearn.metrics.get_scorer_names(), or pass a scorer."
                ) from None
            self.scoring = scoring
        else:
            self.scorer = scoring
            self.scoring = getattr(scoring, "__name__", None) or repr(scoring)
        self.loss = getattr(self.scorer, "_sign", 1) < 0
        if scoring == "accuracy":
            self.name = "error"
        elif scoring == "balanced_accuracy":
            self.name = "balanced error"
        elif self.loss:
            self.name = self.scoring.removeprefix("neg_").replace("_", " ")
        else:
            self.name = f"1 − {self.scoring}"
        # whether errors lie between 0 and 1; of a scorer of one's own nobody knows
        self.error_is_rate = isinstance(scoring, str) and self.scoring.startswith(_RATES)

    def __call__(
        self,
        machine: Any,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None = None,
        asked: dict[str, Any] | None = None,
    ) -> float:
        """The error of a fitted machine on some samples; ``asked`` is what a scorer asked for."""
        if self.counted:
            return self.count(machine.predict(X), y, weight)
        options = {} if weight is None else {"sample_weight": weight}
        options = options if asked is None else asked
        try:
            score = float(self.scorer(machine, X, y, **options))
        except ValueError:
            if len(np.unique(y)) < 2:  # scikit-learn's scores that need two classes
                return np.nan
            raise
        return -score if self.loss else 1.0 - score

    def count(self, predicted: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> float:
        """The proportion of wrong predictions: of all samples, or the mean over the classes."""
        wrong = predicted != y
        if self.scoring == "accuracy":
            return float(np.average(wrong, weights=weight))
        there = [y == label for label in np.unique(y)]
        return float(
            np.mean(
                [np.average(wrong[k], weights=None if weight is None else weight[k]) for k in there]
            )
        )

    def of(self, answers: Predicted, y: np.ndarray, weight: np.ndarray | None = None) -> float:
        """The error of predictions that are there already."""
        return self(answers, np.empty((len(y), 0)), y, weight)

    def of_constant(
        self,
        y_train: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray | None = None,
        weight_train: np.ndarray | None = None,
    ) -> float:
        """What is achieved without features: by the most frequent class, or the mean."""
        machine = DummyClassifier() if self.classes else DummyRegressor()
        machine.fit(np.zeros((len(y_train), 1)), y_train, weight_train)
        return self(machine, np.zeros((len(y), 1)), y, weight)
