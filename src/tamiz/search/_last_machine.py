"""The estimator that a search leaves behind, fitted to the selected features, to predict with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from tamiz.search.judges import columns_of, make_scorer
from tamiz.svm import SVC
from tamiz.validation import check_frame, check_X


def _has(method: str) -> Any:
    def check(self: Any) -> bool:
        if self.criterion is not None:
            raise AttributeError(
                "there is no estimator to predict with: the search uses a criterion. Put the "
                "selector into a Pipeline with the estimator of your choice."
            )
        judge = getattr(self, "estimator_", None)
        if judge is None:
            judge = SVC() if self.estimator is None else self.estimator
        getattr(judge, method)
        return True

    return available_if(check)


class LastMachine:
    """What a search does as an estimator, once it is fitted."""

    estimator: Any
    estimator_: Any
    scoring: Any
    criterion: Any
    support_: np.ndarray
    _in_frames: bool  # whether the judge was given frames

    @_has("predict")
    def predict(self, X: Any) -> np.ndarray:
        """Predict with the estimator fitted to the selected features."""
        return np.asarray(self._machine().predict(self._reduced(X)))

    @_has("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the estimator fitted to the selected features."""
        return np.asarray(self._machine().decision_function(self._reduced(X)))

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of the estimator fitted to the selected features."""
        return np.asarray(self._machine().predict_proba(self._reduced(X)))

    @_has("score")
    def score(self, X: Any, y: Any) -> float:
        """Return the score of the estimator fitted to the selected features.

        It is the (first) metric of ``scoring``, as in the search.
        """
        scorer, metrics = make_scorer(self._machine(), self.scoring)
        found = scorer(self.estimator_, self._reduced(X), y)
        return float(found[metrics[0]] if isinstance(found, dict) else found)

    def _machine(self) -> Any:
        check_is_fitted(self, "support_")
        if not hasattr(self, "estimator_"):
            raise AttributeError(
                "there is no estimator to predict with: the search used a criterion. Put the "
                "selector into a Pipeline with the estimator of your choice."
            )
        return self.estimator_

    def _reduced(self, X: Any) -> Any:
        if self._in_frames:  # what its cells hold is left to the estimator
            if check_frame(self, X, reset=False) is None:
                validate_data(self, X, reset=False, skip_check_array=True)
            return columns_of(X, np.flatnonzero(self.support_))
        sparse, gaps = get_tags(self.estimator_).input_tags.sparse, takes_gaps(self.estimator_)
        X = check_X(self, X, reset=False, accept_sparse=sparse, allow_nan=gaps)
        return X[:, np.flatnonzero(self.support_)]


def takes_gaps(estimator: Any) -> bool:
    """Whether an estimator takes NaN; of a pipeline, whether its first step does."""
    every = [step for _, step in getattr(estimator, "steps", ())]
    steps = [step for step in every if step is not None and not isinstance(step, str)]
    return takes_gaps(steps[0]) if steps else bool(get_tags(estimator).input_tags.allow_nan)
