"""Tables of numbers and symbols: which columns are symbolic, and their codes.

A column is symbolic if its type says so (text, categorical, enumeration) or if the user does.
Symbols become codes 0, 1, 2, ...; missing values stay missing. All further checks are those of
:mod:`tamiz._validation`.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from tamiz._validation import check_X

_SYMBOLIC_TYPES = (nw.String, nw.Categorical, nw.Enum, nw.Object)


def check_mixed(
    estimator: Any, X: Any, categorical_features: Any, **options: Any
) -> tuple[Any, np.ndarray]:
    """Return ``X`` as float64 with codes for symbols, and which columns are symbolic.

    Parameters
    ----------
    estimator : estimator
        Whose names and number of features are set.
    X : array or dataframe of shape (n_samples, n_features)
        Data.
    categorical_features : array-like or None
        Indices, names, or a mask of columns to treat as symbols besides those whose type says so.
    **options
        Passed on to :func:`tamiz._validation.check_X`.
    """
    if not sparse.issparse(X) and not isinstance(X, np.ndarray):
        if nw.dependencies.is_into_dataframe(X):
            frame = nw.from_native(X, eager_only=True)
            if len(set(frame.columns)) == len(frame.columns):  # else check_X has the sentence
                return _check_frame(estimator, frame, categorical_features, options)
        elif isinstance(X, (list, tuple)) and categorical_features is not None:
            X = _as_objects(X)
    shape = np.shape(X)
    mask = symbolic_mask(categorical_features, shape[1] if len(shape) == 2 else 0, None)
    if isinstance(X, np.ndarray) and X.dtype.kind in "OUS" and mask.any():
        X = X.astype(object)
        for j in np.flatnonzero(mask):
            X[:, j] = symbol_codes(X[:, j])
    X = check_X(estimator, X, reset=True, **options)
    return X, mask


def _check_frame(
    estimator: Any, frame: Any, categorical_features: Any, options: dict[str, Any]
) -> tuple[Any, np.ndarray]:
    names = list(frame.columns)
    mask = symbolic_mask(categorical_features, len(names), names)
    columns = []
    for j, column in enumerate(frame.iter_columns()):
        if column.dtype in _SYMBOLIC_TYPES and not _holds_numbers(column):
            mask[j] = True
        if mask[j]:
            codes = symbol_codes(column.to_list())
            column = nw.new_series(
                name=column.name, values=codes, backend=nw.get_native_namespace(frame)
            )
        columns.append(column)
    coded = frame.with_columns(*columns) if mask.any() else frame
    return check_X(estimator, nw.to_native(coded), reset=True, **options), mask


def _holds_numbers(column: Any) -> bool:
    """Whether an object column holds nothing but numbers."""
    return column.dtype == nw.Object and not any(isinstance(v, str) for v in column.to_list())


def _as_objects(X: Any) -> Any:
    try:
        return np.array(X, dtype=object)
    except ValueError:  # ragged: scikit-learn has the sentence
        return X


def symbol_codes(values: Any) -> np.ndarray:
    """Codes 0, 1, 2, ... in order of appearance; NaN for None and NaN."""
    known: dict[Any, int] = {}
    codes = np.empty(len(values))
    for i, value in enumerate(values):
        missing = value is None or value != value
        codes[i] = np.nan if missing else known.setdefault(value, len(known))
    return codes


def symbolic_mask(chosen: Any, n_features: int, names: list[Any] | None) -> np.ndarray:
    """Read ``categorical_features``: indices, names or a mask."""
    mask = np.zeros(n_features, dtype=bool)
    if chosen is None:
        return mask
    given = np.atleast_1d(np.asarray(chosen, dtype=object))
    if len(given) and all(isinstance(v, (bool, np.bool_)) for v in given):
        if len(given) != n_features:
            raise ValueError(
                f"categorical_features is a mask of {len(given)} entries, but X has {n_features} "
                "features; hand over one entry for each feature, or a list of indices or names."
            )
        return given.astype(bool)
    for item in given.tolist():
        mask[_place(item, n_features, names)] = True
    return mask


def _place(item: Any, n_features: int, names: list[Any] | None) -> int:
    if names is not None and item in names:
        return names.index(item)
    if isinstance(item, (int, np.integer)) and -n_features <= item < n_features:
        return int(item)
    if isinstance(item, str):
        known = "X has no column names" if names is None else f"X has the columns {names[:10]}"
        raise ValueError(
            f"categorical_features names {item!r}, but {known}; use names of columns or indices."
        )
    raise ValueError(
        f"categorical_features holds {item!r}; use indices from 0 to {n_features - 1}, names of "
        "columns, or a mask."
    )
