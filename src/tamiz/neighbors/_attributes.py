"""From the user's table to numbers and codes, in ``fit`` and afterwards."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.information.columns import CodedTable, read_columns
from tamiz.validation import (
    IMPUTE,
    MissingValuesError,
    check_frame,
    dense_copy,
    depth_of_caller,
    free_bytes,
    refuse_duplicate_names,
    values_by_name,
)

#: Code of a category that was not there in ``fit``: it differs from all.
UNSEEN = -1.0

#: Fraction of values that are not zero from which a sparse table is no smaller than a dense one.
_FULL = 1 / 3
#: Dense tables that are there at a time: as read, scaled, by columns; as Python objects if nominal.
_NUMBERS, _NOMINAL = 3, 6


def read_training(estimator: Any, X: Any, categorical_features: Any) -> CodedTable:
    """Check a table and record its names; text and declared columns become codes.

    A sparse table of numbers stays sparse (CSC), unless it is rather full.
    """
    refuse_duplicate_names(X)
    if sparse.issparse(X) and _marked(categorical_features):
        remedy = (
            "Leave categorical_features out (one-hot codes of nominal columns are sparse numbers), "
            "or use fewer columns or samples."
        )
        X = dense_copy(X, remedy, tables=_NOMINAL)
    elif sparse.issparse(X) and _rather_full(X):
        X = X.toarray()
    columns = read_columns(X, categorical_features, estimator=estimator, min_samples=1)
    for j, levels in columns.categories.items():
        _merge_equal(columns.X[:, j], levels.tolist())
    return columns


def _marked(categorical_features: Any) -> bool:
    """Whether some column is said to be nominal."""
    if categorical_features is None:
        return False
    marks = np.asarray(categorical_features, dtype=object).ravel()
    mask = all(isinstance(mark, (bool, np.bool_)) for mark in marks)
    return bool(marks.any() if mask else marks.size)


def _rather_full(X: Any) -> bool:
    """Whether a dense table would not be larger than what a sparse search needs, and fits."""
    size = X.shape[0] * X.shape[1] if X.ndim == 2 else 0
    return bool(X.nnz >= _FULL * size and 8 * _NUMBERS * size <= free_bytes())


def _merge_equal(codes: np.ndarray, levels: list[Any]) -> None:
    """One code for values that are equal though of several types, as 1 and 1.0: the last one's."""
    number = {value: k for k, value in enumerate(levels)}
    if len(number) < len(levels):
        known = ~np.isnan(codes)
        merged = np.array([number[value] for value in levels], dtype=np.float64)
        codes[known] = merged[codes[known].astype(np.intp)]


def read_queries(
    estimator: Any, X: Any, coded: np.ndarray, categories: dict[int, Any], keep_sparse: bool
) -> CodedTable:
    """Check a table against that of ``fit`` and turn its categories into the codes of then.

    A sparse table stays sparse if that of ``fit`` is (``keep_sparse``).
    """
    refuse_duplicate_names(X)
    if not keep_sparse:
        remedy = (
            "Pass fewer rows at a time, or fit with a sparse X without nominal columns, which "
            "needs no copy."
        )
        X = dense_copy(X, remedy, tables=2)
    if not coded.any():
        columns = read_columns(X, None, estimator=estimator, reset=False, min_samples=1)
    else:
        if check_frame(estimator, X, reset=False) is None:
            _refuse_other_width(estimator, X, len(coded))
        columns = read_columns(X, coded, estimator=estimator, reset=False, min_samples=1)
    new = np.flatnonzero(columns.categorical & ~coded)
    if len(new):
        raise ValueError(
            f"X {columns.called(int(new[0]))} holds text or categories, but held numbers in fit; "
            "pass the same kind of column."
        )
    for j in np.flatnonzero(coded).tolist():
        levels = _as_codes(columns.categories[j], categories[j], columns.called(j))
        column = columns.X[:, j]
        known = ~np.isnan(column)
        column[known] = levels[column[known].astype(np.intp)]
    return columns


def _as_codes(levels: np.ndarray, known: np.ndarray, called: str) -> np.ndarray:
    """The codes that ``fit`` gave to some levels."""
    number = {value: float(k) for k, value in enumerate(known.tolist())}
    codes = np.array([number.get(value, UNSEEN) for value in levels.tolist()])
    if len(levels) and len(known) and (codes == UNSEEN).all():
        here, there = levels.tolist()[0], known.tolist()[0]
        if isinstance(here, str) != isinstance(there, str):
            warnings.warn(
                f"No value of {called} of X is a category that fit saw (here {here!r}, there "
                f"{there!r}); all differ from those. Pass values of the same kind.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
    return codes


def _refuse_other_width(estimator: Any, X: Any, n_features: int) -> None:
    shape = np.shape(X)
    if len(shape) == 2 and shape[1] != n_features:
        raise ValueError(
            f"X has {shape[1]} features, but {type(estimator).__name__} is expecting {n_features} "
            "features as input. Pass X with the features that fit saw, in the same order."
        )


def refuse_nominal(columns: CodedTable, metric: str) -> None:
    """Say that a metric of numbers cannot use nominal columns."""
    which = np.flatnonzero(columns.categorical)
    if len(which):
        j = int(which[0])
        levels = columns.categories.get(j)
        example = f" ({levels.tolist()[0]!r}, ...)" if levels is not None and len(levels) else ""
        raise ValueError(
            f'metric="{metric}" needs numbers, but X {columns.called(j)} holds text or categories'
            f'{example}. Use metric="mixed" (or "hamming" if all columns are nominal), or encode '
            "it first, for instance with sklearn.preprocessing.OneHotEncoder."
        )


def refuse_missing(columns: CodedTable) -> None:
    """Say where the first missing value stands."""
    table = columns.X
    if sparse.issparse(table):
        table = table.tocoo()
        missing = np.isnan(table.data)
        places = np.column_stack([table.row[missing], table.col[missing]])
        places = places[np.lexsort(places.T[::-1])]
    else:
        missing = np.isnan(table)
        places = np.argwhere(missing) if missing.any() else missing[:0]
    if len(places):
        i, j = places[0].tolist()
        raise MissingValuesError(
            f"Input X contains NaN (first at row {i}, {columns.called(j)}; {len(places)} in "
            f'all), and missing="error". {IMPUTE} With missing="ignore" distances are taken over '
            "the attributes that are known.",
            row=i,
            column=j,
            count=len(places),
        )


def check_feature_weights(weights: Any, n_features: int, names: list[Any] | None) -> np.ndarray:
    """One finite, non-negative weight for each attribute; ones if None, a dict names columns."""
    if weights is None:
        return np.ones(n_features)
    weights = values_by_name(weights, "feature_weights", n_features, names, otherwise=1.0)
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"feature_weights={weights!r:.80} must hold numbers, one for each column of X."
        ) from None
    if given.shape != (n_features,):
        raise ValueError(
            f"feature_weights has shape {given.shape}, but X has {n_features} columns; give one "
            "weight for each."
        )
    bad = np.flatnonzero(~np.isfinite(given) | (given < 0))
    if len(bad):
        raise ValueError(
            f"feature_weights[{bad[0]}] is {given[bad[0]]}; weights must be finite and not "
            "negative. A weight of zero leaves a column out."
        )
    if not given.any():
        raise ValueError(
            "feature_weights is zero for every column; at least one weight must be positive."
        )
    if given.max() > 1e100 or given[given > 0].min() < 1e-100:
        raise ValueError(
            f"feature_weights reach from {given[given > 0].min():.3g} to {given.max():.3g}; keep "
            "those that are not zero between 1e-100 and 1e100."
        )
    return given
