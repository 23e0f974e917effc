"""What a cell of a grid is measured by: a scorer of scikit-learn, turned into an error.

An error is to be small. Scores whose best value is one become ``1 - score`` (accuracy becomes the
share of errors); scorers that carry a minus sign already, such as ``neg_mean_squared_error``, get
rid of it; of any other score the error is minus the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer

from tamiz.search.judges import last_step

#: Beginnings of the names of scores whose best value is one.
_UP_TO_ONE = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "fbeta",
    "precision",
    "recall",
    "roc_auc",
    "average_precision",
    "jaccard",
    "top_k_accuracy",
    "matthews_corrcoef",
    "cohen_kappa",
    "r2",
    "explained_variance",
    "d2_",
)


@dataclass
class Metric:
    """A scorer and the way from its score to an error.

    Attributes
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``.
    name : str
        What the errors are, for tables and axes.
    offset : float
        The error is ``offset - score``.
    plain_accuracy : bool
        Whether the score is the share of right predictions.
    stands_in : bool
        Whether the scorer looks at predictions and decision values only.
    weighted : bool
        Whether the scorer takes sample weights.
    """

    scorer: Any
    name: str
    offset: float
    plain_accuracy: bool
    stands_in: bool
    weighted: bool

    def error(self, score: Any) -> Any:
        """The error, a number or an array of them."""
        return self.offset - score

    def measure(self, machine: Any, X: Any, y: np.ndarray, weight: np.ndarray | None) -> float:
        """The score of a fitted machine."""
        extra = {} if weight is None or not self.weighted else {"sample_weight": weight}
        score = self.scorer(machine, X, y, **extra)
        try:
            return float(score)
        except (TypeError, ValueError):
            raise ValueError(
                f"scoring must return one number, it returned {score!r} ({type(score).__name__})."
            ) from None


def make_metric(estimator: Any, scoring: Any) -> Metric:
    """The metric that ``scoring`` stands for; None is the estimator's own score."""
    if isinstance(scoring, (list, tuple, set, dict)):
        raise ValueError(
            f"scoring={scoring!r} names several metrics; tune chooses by one. Pass that, and "
            "measure the others on best_estimator."
        )
    try:
        scorer = check_scoring(estimator, scoring)
    except (TypeError, ValueError) as error:
        raise type(error)(f"scoring={scoring!r} cannot be used: {error}") from None
    name, offset = _named(estimator, scoring)
    own = isinstance(scorer, _BaseScorer) or scoring is None
    return Metric(
        scorer=scorer,
        name=name,
        offset=offset,
        plain_accuracy=name == "1 - accuracy" and (scoring is None or isinstance(scoring, str)),
        stands_in=own,
        weighted=own,
    )


def _named(estimator: Any, scoring: Any) -> tuple[str, float]:
    if scoring is None:
        score = getattr(type(last_step(estimator)), "score", None)
        usual = getattr(score, "__module__", "").partition(".")[0] in ("sklearn", "tamiz")
        if usual and is_classifier(estimator):
            return "1 - accuracy", 1.0
        if usual and is_regressor(estimator):
            return "1 - r2", 1.0
        return "-score", 0.0
    if isinstance(scoring, str):
        name, turned = scoring, scoring.startswith("neg_")
    else:
        function = getattr(scoring, "_score_func", scoring)
        name = getattr(function, "__name__", type(function).__name__).removesuffix("_score")
        turned = getattr(scoring, "_sign", 1) < 0
    if turned:
        return name.removeprefix("neg_"), 0.0
    if name.startswith(_UP_TO_ONE) and isinstance(scoring, (str, _BaseScorer)):
        return f"1 - {name}", 1.0
    return f"-{name}", 0.0
