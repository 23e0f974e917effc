"""Judges: how good is a subset of features?

A judge gives one score for each metric and each split, the higher the better. It knows nothing of
searches; what is remembered, written down and shared among workers is the evaluator's business.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.utils.metaestimators import available_if

from tamiz.search._tables import Fitting, is_frame, names_columns, part_of, unusual
from tamiz.search.splits import Split
from tamiz.validation.unscaled import inner_fit

#: A fit holds the rows it is given, a copy that it checked, and one in the form it computes with.
_COPIES = 3
_SMALL_TABLE, _FOR_SMALL_TABLES = 64 * 2**20, 256 * 2**20


class Judge(ABC):
    """What scores subsets.

    Attributes
    ----------
    metrics : tuple of str
        Names of the scores; the first is the criterion of the search.
    n_splits : int
        Number of scores per metric.
    prefer : {"threads", "processes"}
        What the work is shared among.
    monotone : bool
        Whether a subset never scores less than a part of it.
    """

    metrics: tuple[str, ...] = ("score",)
    n_splits: int = 1
    prefer: str = "threads"
    monotone: bool = False

    @abstractmethod
    def score(self, features: np.ndarray, splits: slice = slice(None)) -> np.ndarray:
        """Scores of a subset, (metrics, splits); ``features`` are ascending positions."""

    def share_of_memory(self, n_features: int) -> float:
        """What judging a subset of so many features takes of the memory set aside for copies.

        That is as much as the table itself, or 256 MiB for tables below 64 MiB.
        """
        return 0.0  # most judges make no copies worth counting

    def approach(self, features: np.ndarray | None, n_subsets: int = 1) -> None:
        """Get ready for so many neighbours of a subset; changes no score.

        None tells that the next subsets are neighbours of none.
        """
        return  # most judges have no use for it


class CrossValidation(Judge):
    """Any estimator of scikit-learn, fitted to one part of the samples and judged by the other.

    The estimator gets what ``X`` is: of a frame, a frame with the columns of the subset. Columns
    that a ``ColumnTransformer`` lists are those of ``X``; the ones not in the subset are left out.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Sequence[Split],
        scoring: Any,
        sample_weight: np.ndarray | None = None,
    ):
        self.estimator = estimator
        self.X = X
        self.y = y
        self.splits = list(splits)
        self.n_splits = len(self.splits)
        self.sample_weight = sample_weight
        self.scorer, self.metrics = make_scorer(estimator, scoring)
        self._largest = max((len(train) for train, _ in self.splits), default=0)
        home = type(last_step(estimator)).__module__.partition(".")[0]
        self.prefer = "threads" if home == "tamiz" else "processes"
        self.names = list(X.columns) if is_frame(X) else None
        self.names_columns = names_columns(estimator)

    def score(self, features: np.ndarray, splits: slice = slice(None)) -> np.ndarray:
        results = [self._one(features, *split) for split in self.splits[splits]]
        return np.array(results, dtype=np.float64).T

    def share_of_memory(self, n_features: int) -> float:
        n, p = self.X.shape
        table = 8 * n * p  # a frame may hold anything
        if issparse(self.X):
            table = self.X.data.nbytes + self.X.indices.nbytes
        elif isinstance(self.X, np.ndarray):
            table = self.X.nbytes
        copy = table * (self._largest / max(n, 1)) * (n_features / max(p, 1))
        return _COPIES * copy / (table if table > _SMALL_TABLE else _FOR_SMALL_TABLES)

    def _one(self, features: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[float]:
        machine = self.machine(features)
        weight = None if self.sample_weight is None else self.sample_weight[train]
        arguments = fit_arguments(machine, weight)
        try:
            with inner_fit():
                machine.fit(part_of(self.X, train, features), self.y[train], **arguments)
            return self.measure(machine, part_of(self.X, test, features), test)
        except (ValueError, TypeError) as error:
            reason = self._reason(error, features)
            if reason is None:
                raise
            raise ValueError(f"{str(error).rstrip()} {reason}") from error

    def machine(self, features: np.ndarray) -> Any:
        """The estimator, not yet fitted, for a subset."""
        machine = clone(self.estimator)
        if self.names_columns:
            Fitting(features, self.X.shape[1], self.names).apply(machine)
        return machine

    def _reason(self, error: Exception, features: np.ndarray) -> str | None:
        """What a failure may be due to, where the columns of a frame tell."""
        if self.names_columns and "0 feature(s)" in str(error):
            return (
                "No transformer of the ColumnTransformer takes a column of this subset; let one "
                "take every column of X, or pass remainder='passthrough' to it."
            )
        found = unusual(self.X, features)
        if found is None:
            return None
        if "unknown categories" in str(error):
            return (
                "A fold may lack a category: pass handle_unknown='ignore' to the encoder, or "
                "name all categories."
            )
        return (
            f"Of the columns judged, {found}: the estimator has to take that. Let it be a pipeline "
            "that encodes text and fills missing values, for instance with "
            "sklearn.compose.ColumnTransformer."
        )

    def measure(self, machine: Any, X: Any, test: np.ndarray) -> list[float]:
        """The metrics of a fitted machine on the samples ``test``, whose features are ``X``."""
        weights = {} if self.sample_weight is None else {"sample_weight": self.sample_weight[test]}
        found = self.scorer(machine, X, self.y[test], **weights)
        values = [found[name] for name in self.metrics] if isinstance(found, dict) else [found]
        for name, value in zip(self.metrics, values, strict=True):
            if not np.isfinite(value):
                raise ValueError(
                    f"the metric {name!r} is {value} on a split of {len(test)} samples."
                )
        return [float(value) for value in values]


class Merit(Judge):
    """A criterion that needs no estimator: a function of the chosen columns and the labels."""

    def __init__(self, function: Callable[[np.ndarray], float], name: str):
        self.function = function
        self.metrics = (name,)

    def score(self, features: np.ndarray, splits: slice = slice(None)) -> np.ndarray:
        return np.array([[float(self.function(features))]])


def make_scorer(estimator: Any, scoring: Any) -> tuple[Any, tuple[str, ...]]:
    """The scorer of scikit-learn for one metric or several, and the names of the metrics."""
    several = isinstance(scoring, (list, tuple, set, dict))
    if several and not scoring:
        raise ValueError("scoring names no metric; leave it out to use the estimator's own.")
    scorer = check_scoring(estimator, scoring)
    if several:
        return scorer, tuple(scoring)
    return scorer, (scoring if isinstance(scoring, str) else "score",)


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the last of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def fit_arguments(estimator: Any, sample_weight: np.ndarray | None) -> dict[str, np.ndarray]:
    """How the weights are passed to ``fit``: through a pipeline to its last step."""
    if sample_weight is None:
        return {}
    steps = getattr(estimator, "steps", None)
    name = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
    return {name: sample_weight}


# ---------------------------------------------------------------------- known predictions


class Predicted(ClassifierMixin, BaseEstimator):
    """Predictions that are there already, in the form that scorers ask for.

    Parameters
    ----------
    classes : array
        Labels.
    predictions : array of shape (n_samples,)
        Predicted labels.
    decisions : array
        Decision values: positive for the second of two classes, or one column for each class.
    proportions : array of shape (n_samples, n_classes), optional
        Estimated probabilities, if there are some.

    Attributes
    ----------
    asked : bool
        Whether somebody looked at the decision values.
    """

    def __init__(self, classes: Any, predictions: Any, decisions: Any, proportions: Any = None):
        self.classes = classes
        self.predictions = predictions
        self.decisions = decisions
        self.proportions = proportions
        self.classes_ = classes
        self.asked = False

    def predict(self, X: Any) -> np.ndarray:
        """The predictions."""
        return self.predictions

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision values."""
        self.asked = True
        return self.decisions

    @available_if(lambda self: self.proportions is not None)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The estimated probabilities."""
        return self.proportions


class PredictedNumbers(RegressorMixin, BaseEstimator):
    """Predictions of a numeric target that are there already.

    Parameters
    ----------
    predictions : array of shape (n_samples,)
        The predicted numbers.
    """

    asked = False

    def __init__(self, predictions: Any):
        self.predictions = predictions

    def predict(self, X: Any) -> np.ndarray:
        """The predictions."""
        return self.predictions


# ---------------------------------------------------------------------- on a worker


class FarJudge:
    """A judge that is sent to a cluster once, and approaches there what its jobs say.

    Parameters
    ----------
    judge : Judge
        Of which every worker gets a copy.
    """

    def __init__(self, judge: Judge):
        self.judge = judge
        self._near: bytes | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"judge": self.judge}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["judge"])  # type: ignore[misc]

    def approach(self, features: np.ndarray | None, n_subsets: int) -> None:
        """Once for each new neighbourhood, whoever of the worker's threads comes first."""
        near = b"" if features is None else bytes(str(n_subsets), "ascii") + features.tobytes()
        with self._lock:
            if near != self._near:
                self.judge.approach(features, n_subsets)
                self._near = near


def judged_far(
    far: FarJudge,
    features: np.ndarray,
    splits: slice,
    failures: str,
    approach: tuple[np.ndarray | None, int],
) -> Any:
    """What :func:`judged` returns, on a worker of a cluster."""
    far.approach(*approach)
    return judged(far.judge, features, splits, failures)


def judged(judge: Judge, features: np.ndarray, splits: slice, failures: str) -> Any:
    """Scores of a subset, or the text of the failure."""
    try:
        return judge.score(features, splits)
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:
        if failures == "raise":
            shown = ", ".join(map(str, features[:10])) + (", …" if len(features) > 10 else "")
            error.add_note(
                f"This happened while the features at the positions {shown} were judged. With "
                "error_score='worst' such subsets count as the worst instead of ending the search."
            )
            raise
        return f"{type(error).__name__}: {error}"
