"""Scores of scikit-learn turned into errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer

from tamiz.search.judges import Predicted

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
        elif scoring == "balanced_accuracy":
            self.name = "balanced error"
        elif self.loss:
            self.name = self.scoring.removeprefix("neg_").replace("_", " ")
        else:
            self.name = f"1 − {self.scoring}"
        # whether errors lie between 0 and 1; of a scorer of one's own nobody knows
        self.shares = isinstance(scoring, str) and self.scoring.startswith(_SHARES)

    def __call__(
        self, machine: Any, X: Any, y: np.ndarray, weight: np.ndarray | None = None
    ) -> float:
        """The error of a fitted machine on some samples."""
        if self.counted:
            return self.count(machine.predict(X), y, weight)
        options = {} if weight is None else {"sample_weight": weight}
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
