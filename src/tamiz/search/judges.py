"""Judges: how good is a subset of features?

A judge gives one score for each metric and each split, the higher the better. It knows nothing of
searches; what is remembered, written down and shared among workers is the evaluator's business.

Frames are passed to estimators as frames, so that a ``ColumnTransformer`` finds its columns by
name, and text reaches the encoder that is made for it.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.metrics import check_scoring
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils.metaestimators import available_if

from tamiz.routing import Routes, routing_enabled
from tamiz.search.splits import Split
from tamiz.validation import inner_fit, named_metrics, refuse_interrupted

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

    def memory_fraction(self, n_features: int) -> float:
        """What judging a subset of so many features takes of the memory set aside for copies.

        That is as much as the table itself, or 256 MiB for tables below 64 MiB.
        """
        return 0.0  # most judges make no copies worth counting

    def approach(self, features: np.ndarray | None, n_subsets: int = 1) -> None:
        """Prepare for so many neighbours of a subset; changes no score.

        None says that the next subsets are neighbours of none.
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
        routes: Routes | None = None,
    ):
        self.estimator = estimator
        self.X = X
        self.y = y
        self.splits = list(splits)
        self.n_splits = len(self.splits)
        self.sample_weight = sample_weight
        self.scorer, self.metrics = make_scorer(estimator, scoring)
        self.routes = routes
        self._largest = max((len(train) for train, _ in self.splits), default=0)
        home = type(last_step(estimator)).__module__.partition(".")[0]
        self.prefer = "threads" if home == "tamiz" else "processes"
        self.names = list(X.columns) if is_frame(X) else None
        self.names_columns = names_columns(estimator)

    def score(self, features: np.ndarray, splits: slice = slice(None)) -> np.ndarray:
        results = [self._one(features, *split) for split in self.splits[splits]]
        return np.array(results, dtype=np.float64).T

    def memory_fraction(self, n_features: int) -> float:
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
        arguments = self.arguments(machine, train)
        try:
            with inner_fit():
                machine.fit(part_of(self.X, train, features), self.y[train], **arguments)
            refuse_interrupted(machine)
            return self.measure(machine, part_of(self.X, test, features), test)
        except (ValueError, TypeError) as error:
            reason = self._reason(features, train, test)
            if reason is None:
                raise
            raise ValueError(f"{str(error).rstrip()} {reason}") from error

    def arguments(self, machine: Any, rows: np.ndarray) -> dict[str, Any]:
        """What ``fit`` of the estimator gets besides these rows: weights, or what it asked for."""
        if self.routes is not None:
            return self.routes.part("estimator", rows)
        weight = self.sample_weight
        return fit_arguments(machine, None if weight is None else weight[rows])

    def machine(self, features: np.ndarray) -> Any:
        """The estimator, not yet fitted, for a subset."""
        machine = clone(self.estimator)
        if self.names_columns:
            Fitting(features, self.X.shape[1], self.names).apply(machine)
        return machine

    def _reason(self, features: np.ndarray, train: np.ndarray, test: np.ndarray) -> str | None:
        """What a failure may be due to, where the columns of a frame tell."""
        known = part_of(self.X, train, features)
        if self.names_columns and takes_nothing(self.machine(features), known):
            return (
                "No transformer of the ColumnTransformer takes a column of this subset; let one "
                "take every column of X, or pass remainder='passthrough' to it."
            )
        found = unusual(self.X, features)
        if found is None:
            return None
        new = has_new_categories(known, part_of(self.X, test, features))
        if new and refuses_new_categories(self.estimator):
            return (
                "A fold may lack a category: pass handle_unknown='ignore' to the encoder, or "
                "name all categories."
            )
        return (
            f"Of the columns judged, {found}: the estimator has to take that. Let it be a pipeline "
            "that encodes text and imputes, for instance with sklearn.compose.ColumnTransformer."
        )

    def measure(self, machine: Any, X: Any, test: np.ndarray) -> list[float]:
        """The metrics of a fitted machine on the samples ``test``, whose features are ``X``."""
        if self.routes is not None:
            asked = self.routes.part("scorer", test)
        else:
            weight = self.sample_weight
            asked = {} if weight is None else {"sample_weight": weight[test]}
        found = self.scorer(machine, X, self.y[test], **asked)
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
    scorer = check_scoring(estimator, named_metrics("scoring", scoring))
    several = isinstance(scoring, (list, tuple, set, dict))
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
    steps = None if routing_enabled() else getattr(estimator, "steps", None)
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


#: Scalers that look neither at names nor at types.
_SCALERS = (StandardScaler, MinMaxScaler)
#: Parts of scikit-learn that let a user look at the names or the types of columns.
_LOOKING = (ColumnTransformer, FeatureUnion, FunctionTransformer)
#: Where estimators that work through others keep them.
_WITHIN = ("estimator", "base_estimator", "regressor", "classifier")


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a table with named columns."""
    return not isinstance(X, np.ndarray) and bool(nw.dependencies.is_into_dataframe(X))


def wants_arrays(estimator: Any) -> bool:
    """Whether an estimator is made of machines of tamiz, alone or behind a scaler.

    They look at numbers only, and have fast judges that need an array.
    """
    steps = [step for _, step in getattr(estimator, "steps", ())]
    if steps:
        return all(type(step) in _SCALERS or _is_ours(step) for step in steps)
    return _is_ours(estimator)


def _is_ours(estimator: Any) -> bool:
    home = type(estimator).__module__.partition(".")[0]
    within = any(hasattr(estimator, name) for name in _WITHIN)
    return home == "tamiz" and not within


def looks_at_columns(estimator: Any, scoring: Any) -> bool:
    """Whether an estimator or a metric may tell a frame of numbers from an array of them.

    scikit-learn's own do not, with a few exceptions; of others one cannot know.
    """
    several = scoring.values() if isinstance(scoring, dict) else scoring
    metrics = list(several) if isinstance(scoring, (dict, list, tuple, set)) else [scoring]
    if any(callable(metric) and not hasattr(metric, "_score_func") for metric in metrics):
        return True
    parts = [estimator, *estimator.get_params(deep=True).values()]
    parts = [part for part in parts if hasattr(part, "get_params")]
    homes = {type(part).__module__.partition(".")[0] for part in parts}
    return not homes <= {"sklearn", "tamiz"} or any(isinstance(p, _LOOKING) for p in parts)


def holds_numbers(X: Any) -> bool:
    """Whether all columns of a frame are numbers or truth values; some may be missing."""
    columns = nw.from_native(X, eager_only=True).iter_columns()
    return all(c.dtype.is_numeric() or c.dtype == nw.Boolean for c in columns)


def in_double(X: Any) -> Any:
    """The same frame, with columns of short floating-point numbers made long.

    Scores are then those of the same numbers in an array.
    """
    if hasattr(X, "iloc"):
        short = [name for name, dtype in X.dtypes.items() if dtype in (np.float16, np.float32)]
        return X.astype(dict.fromkeys(short, np.float64)) if short else X
    frame = nw.from_native(X, eager_only=True)
    short = [name for name, dtype in frame.schema.items() if dtype == nw.Float32]
    return frame.with_columns(nw.col(short).cast(nw.Float64)).to_native() if short else X


def columns_of(X: Any, features: np.ndarray) -> Any:
    """Some columns of an array, a sparse matrix or a frame, which stays what it is."""
    if hasattr(X, "iloc"):
        return X.iloc[:, features]
    if is_frame(X):
        return nw.from_native(X, eager_only=True)[:, features.tolist()].to_native()
    return X[:, features] if hasattr(X, "shape") else np.asarray(X)[:, features]


def part_of(X: Any, rows: np.ndarray, features: np.ndarray) -> Any:
    """Some rows of some columns."""
    if isinstance(X, np.ndarray):
        return X[np.ix_(rows, features)]
    if hasattr(X, "iloc"):  # columns first: a frame of thousands is not copied for a few
        return X.iloc[:, features].iloc[rows]
    if is_frame(X):
        return nw.from_native(X, eager_only=True)[:, features.tolist()][rows.tolist()].to_native()
    return X[rows][:, features]


def fingerprint(X: Any) -> list[np.ndarray]:
    """What tells one table from another: names, types and values if it is a frame."""
    if not is_frame(X):
        return [X]
    columns = [
        X.iloc[:, j] if hasattr(X, "iloc") else nw.from_native(X, eager_only=True)[:, j].to_native()
        for j in range(X.shape[1])
    ]
    about = [f"{name}: {column.dtype}" for name, column in zip(X.columns, columns, strict=True)]
    return [np.array(about), *(np.asarray(column) for column in columns)]


def unusual(X: Any, features: np.ndarray) -> str | None:
    """Which of the columns of a frame hold something else than numbers, in words; None if none."""
    if not is_frame(X):
        return None
    frame = nw.from_native(columns_of(X, features), eager_only=True)
    found = []
    for column in frame.iter_columns():
        if not column.dtype.is_numeric() and column.dtype != nw.Boolean:
            found.append(f"column {column.name!r} holds {_kind(column.dtype)}")
        elif column.is_null().any() or (column.dtype.is_float() and column.is_nan().any()):
            found.append(f"column {column.name!r} has missing values")
        elif column.dtype.is_float() and not column.is_finite().all():
            found.append(f"column {column.name!r} holds infinite values")
    return ", ".join(found[:5]) + (", …" if len(found) > 5 else "") if found else None


def _kind(dtype: Any) -> str:
    words = {nw.String: "text", nw.Object: "text or objects"}
    categories = dtype in (nw.Categorical, nw.Enum)
    return "categories" if categories else words.get(type(dtype), f"values of type {dtype}")


# ---------------------------------------------------------------------- who refers to columns


def names_columns(estimator: Any) -> bool:
    """Whether a ``ColumnTransformer`` is anywhere in an estimator."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    return any(isinstance(part, ColumnTransformer) for part in parts)


def tells_columns(estimator: Any) -> bool:
    """Whether a parameter may name columns, so that they have to keep their order and names."""
    return names_columns(estimator) or any(
        isinstance(value, (Sequence, Mapping, np.ndarray))
        and not isinstance(value, str)
        and name.rpartition("__")[2] not in ("steps", "cv", "scoring")
        for name, value in estimator.get_params(deep=True).items()
    )


def array_will_do(estimator: Any, frame: Any) -> bool:
    """Whether an estimator cannot tell a frame from an array of its numbers, all of them floats.

    Integers may be categories to one that looks at types.
    """
    types = nw.from_native(frame, eager_only=True).schema.values()
    plain = all(dtype.is_float() for dtype in types)
    return plain and not looks_at_columns(estimator, None) and not tells_columns(estimator)


def takes_nothing(estimator: Any, X: Any) -> bool:
    """Whether a ``ColumnTransformer`` that ``X`` comes to first takes none of its columns."""
    while not isinstance(estimator, ColumnTransformer):
        steps = [step for _, step in getattr(estimator, "steps", ()) if hasattr(step, "fit")]
        if not steps:
            return False
        estimator = steps[0]
    if not isinstance(estimator.remainder, str) or estimator.remainder != "drop":
        return False
    listed = (c(X) if callable(c) else c for _, _, c in estimator.transformers)
    return all(not isinstance(c, str) and np.size(c) == 0 for c in listed)


def refuses_new_categories(estimator: Any) -> bool:
    """Whether an encoder of an estimator fails at a category that it has not seen."""
    parts = estimator.get_params(deep=True).values()
    return any(getattr(part, "handle_unknown", None) == "error" for part in parts)


def has_new_categories(train: Any, test: Any) -> bool:
    """Whether a column of ``test`` that is not of numbers has a value that ``train`` lacks."""
    if not is_frame(train):
        return False
    pairs = zip(
        *(nw.from_native(X, eager_only=True).iter_columns() for X in (train, test)), strict=True
    )
    return any(
        not known.dtype.is_numeric() and not set(new.to_list()) <= set(known.to_list())
        for known, new in pairs
    )


class Fitting:
    """Fits the columns that a ``ColumnTransformer`` lists to a subset of the features.

    Names and positions are those of the whole table. What is not in the subset is taken out of the
    lists, and positions are moved to where the columns stand in the subset. Functions such as
    ``make_column_selector`` look for themselves, and stay.

    Parameters
    ----------
    features : array
        Positions, ascending, of the features of the subset.
    n_features : int
        Number of features of the table.
    names : sequence or None
        Names of its columns.
    """

    def __init__(self, features: np.ndarray, n_features: int, names: Sequence[Any] | None):
        self.n_features = n_features
        self.names = [] if names is None else list(names)
        self.place = {int(j): place for place, j in enumerate(features)}

    def apply(self, estimator: Any, whole: bool = True) -> Any:
        """Change an estimator in place; ``whole`` says that it is given the table itself.

        Behind another step, positions may be those of something else and are left alone.
        """
        if isinstance(estimator, ColumnTransformer):
            estimator.transformers = [
                (name, self.apply(inner, whole=False), self._columns(columns, whole))
                for name, inner, columns in estimator.transformers
            ]
            return estimator
        first = whole
        for _, step in getattr(estimator, "steps", ()):
            self.apply(step, first)
            first = first and (step is None or isinstance(step, str))
        for several in ("transformer_list", "estimators"):
            for item in getattr(estimator, several, None) or ():
                self.apply(item[1] if isinstance(item, tuple) else item, whole)
        for name in _WITHIN:
            if hasattr(getattr(estimator, name, None), "get_params"):
                self.apply(getattr(estimator, name), whole)
        return estimator

    def _columns(self, columns: Any, whole: bool) -> Any:
        if callable(columns):
            return columns
        if isinstance(columns, slice):
            return self._columns(self._spelled_out(columns), whole)
        if isinstance(columns, str):
            return columns if self._stays(columns) else []
        if np.isscalar(columns):
            place = self.place.get(self._position(columns)) if whole else columns
            return [] if place is None else place
        listed = list(columns)
        if listed and all(isinstance(column, (bool, np.bool_)) for column in listed):
            if not whole or len(listed) != self.n_features:
                return columns
            listed = np.flatnonzero(listed).tolist()
        if any(isinstance(column, str) for column in listed):
            return [column for column in listed if self._stays(column)]
        if not whole:
            return columns
        places = [self.place.get(self._position(column)) for column in listed]
        return [place for place in places if place is not None]

    def _stays(self, name: Any) -> bool:
        """Whether a column is in the subset, or was never in the table: someone else's mistake."""
        return name not in self.names or self.names.index(name) in self.place

    def _position(self, column: Any) -> int:
        return int(column) + self.n_features if int(column) < 0 else int(column)

    def _spelled_out(self, columns: slice) -> list[Any]:
        ends = (columns.start, columns.stop)
        if not any(isinstance(end, str) for end in ends):
            return list(range(self.n_features))[columns]
        if any(isinstance(end, str) and end not in self.names for end in ends):
            return [end for end in ends if isinstance(end, str)]  # unknown: to be complained of
        start = 0 if columns.start is None else self.names.index(columns.start)
        stop = self.n_features if columns.stop is None else self.names.index(columns.stop) + 1
        return self.names[start:stop]
