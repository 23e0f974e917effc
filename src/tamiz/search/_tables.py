"""Parts of a table as the user gave it: rows and columns of a frame, and who refers to columns.

Judges hand frames to estimators as frames, so that a ``ColumnTransformer`` finds its columns by
name, and text reaches the encoder that is made for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

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
    """Whether all columns of a frame are numbers or truth values; gaps do not matter."""
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
            found.append(f"column {column.name!r} has gaps")
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
        """Change an estimator in place; ``whole`` tells that it is given the table itself.

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
