"""From what a user passes to the table that trees work on, in fit and afterwards."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tamiz.information.columns import CodedTable, read_columns
from tamiz.validation import dense_copy, depth_of_caller, is_frame, ordered_categories

#: What to do about a sparse table whose dense copy is too large.
_FEWER = "Select features first (the filters of tamiz.filters take a sparse X), or use fewer rows."


class TreeTable(NamedTuple):
    """Numbers; categories as codes from 0."""

    X: np.ndarray
    nominal: np.ndarray  # bool
    categories: dict[int, np.ndarray]  # of nominal and ordinal features


def read_training_table(
    estimator: Any, X: Any, categorical_features: Any, ordinal_features: Any
) -> TreeTable:
    """Check ``X`` and code its categories; those of an ordinal feature in their order."""
    X = dense_copy(X, _FEWER, tables=2)
    names = _column_names(X)
    orders = _orders_of_frame(X)
    for feature in _listed(categorical_features):  # what the user says goes before what X says
        orders.pop(names.index(feature) if names is not None and feature in names else feature, 0)
    p = len(names) if names is not None else None
    given = _given_orders(ordinal_features, names, p, X, orders)
    orders.update({j: order for j, order in given.items() if order is not None})
    marked = _with(categorical_features, [j for j in orders if given.get(j) is not None], X, names)
    columns = read_columns(X, marked, estimator=estimator, min_samples=1)
    table = np.array(columns.X) if orders else columns.X
    categories = dict(columns.categories)
    nominal = columns.categorical.copy()
    for j, order in given.items():
        if order is None and j not in orders and nominal[j]:
            raise ValueError(
                f"ordinal_features names {columns.called(j)}, which holds text or categories "
                "without an order; give the order from least to greatest, as in "
                "ordinal_features={feature: ['low', 'middle', 'high']}."
            )
    for j, order in orders.items():
        place = {value: k for k, value in enumerate(order)}
        for value in categories[j].tolist():
            if value not in place:
                raise ValueError(
                    f"ordinal_features gives an order for {columns.called(j)} that leaves out "
                    f"{value!r}; list every category, from least to greatest."
                )
        places = np.array([place[value] for value in categories[j].tolist()], dtype=np.float64)
        known = ~np.isnan(table[:, j])
        table[known, j] = places[table[known, j].astype(np.intp)]
        categories[j] = _as_objects(order)
        nominal[j] = False
    return TreeTable(np.ascontiguousarray(table, dtype=np.float64), nominal, categories)


def read_table(
    estimator: Any, X: Any, nominal: np.ndarray, categories: dict[int, np.ndarray]
) -> np.ndarray:
    """Check ``X`` against what fit saw, and code it in the same way.

    A category that fit did not see is -1 in a nominal feature and missing in an ordinal one.
    """
    X = dense_copy(X, "Pass fewer rows at a time.")
    mask = np.zeros(len(nominal), dtype=bool)
    mask[list(categories)] = True
    shape = getattr(X, "shape", None)
    fits = shape is None or len(shape) != 2 or shape[1] == len(mask)
    columns = read_columns(
        X, mask if mask.any() and fits else None, estimator=estimator, reset=False, min_samples=1
    )
    _refuse_other_kinds(columns, mask)
    if not mask.any():
        return columns.X
    table = np.array(columns.X, dtype=np.float64)
    for j, known in categories.items():
        code = {value: k for k, value in enumerate(known.tolist())}
        unknown = -1.0 if nominal[j] else np.nan
        codes = np.array(
            [code.get(value, unknown) for value in columns.categories[j].tolist()] or [np.nan]
        )
        present = ~np.isnan(table[:, j])
        table[present, j] = codes[table[present, j].astype(np.intp)]
        if present.any() and not (table[present, j] >= 0).any():
            warnings.warn(
                f"No value of {columns.called(j)} of X is a category that fit saw (here "
                f"{columns.categories[j].tolist()[0]!r}); none of them can be asked for. Pass "
                "values of the same kind.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
    return table


def _refuse_other_kinds(columns: CodedTable, mask: np.ndarray) -> None:
    for j in np.flatnonzero(columns.categorical & ~mask).tolist():
        raise ValueError(
            f"X {columns.called(j)} holds text or categories, but held numbers in fit; pass "
            "the same kind of column."
        )


def _column_names(X: Any) -> list[Any] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None or isinstance(X, np.ndarray) else list(columns)


def _orders_of_frame(X: Any) -> dict[int, list[Any]]:
    """The columns of a pandas table that say themselves in which order their categories are."""
    found: dict[int, list[Any]] = {}
    dtypes = getattr(X, "dtypes", None) if is_frame(X) else None
    for j, dtype in enumerate([] if dtypes is None else list(dtypes)):
        if getattr(dtype, "ordered", False) is True and hasattr(dtype, "categories"):
            found[j] = list(dtype.categories)
    return found


def _given_orders(
    ordinal_features: Any, names: list[Any] | None, p: int | None, X: Any, known: dict[int, Any]
) -> dict[int, list[Any] | None]:
    """By column: the order that the user gave; None if the column is only named."""
    if ordinal_features is None:
        return {}
    if p is None:
        shape = np.shape(X)
        p = shape[1] if len(shape) == 2 else 0
    pairs: list[tuple[Any, list[Any] | None]]
    if isinstance(ordinal_features, Mapping):
        pairs = [
            (feature, ordered_categories(f"ordinal_features[{feature!r}]", order))
            for feature, order in ordinal_features.items()
        ]
    else:
        pairs = [(feature, None) for feature in _listed(ordinal_features)]
    given: dict[int, list[Any] | None] = {}
    for feature, order in pairs:
        if names is not None and feature in names:
            j = names.index(feature)
        elif isinstance(feature, (int, np.integer)) and -p <= feature < p:
            j = int(feature) % p
        else:
            also = f" or one of its column names ({names[0]!r}, ...)" if names else ""
            raise ValueError(
                f"ordinal_features names {feature!r}, which X does not have; use an index below "
                f"{p}{also}."
            )
        if order is not None and len(set(order)) != len(order):
            raise ValueError(
                f"ordinal_features[{feature!r}] is {order!r}, which has a category twice; list "
                "each once, from least to greatest."
            )
        given[j] = order
    return given


def _listed(features: Any) -> list[Any]:
    """Features that are given by index, name or mask; a mask as indices."""
    listed = [] if features is None else np.asarray(features, dtype=object).ravel().tolist()
    if listed and all(isinstance(value, (bool, np.bool_)) for value in listed):
        return np.flatnonzero(listed).tolist()
    return listed


def _with(categorical: Any, more: list[int], X: Any, names: list[Any] | None) -> Any:
    """The categorical features and some more, in the form they were given in."""
    if not more:
        return categorical
    given = [] if categorical is None else np.asarray(categorical, dtype=object).ravel().tolist()
    if given and all(isinstance(value, (bool, np.bool_)) for value in given):
        return [bool(value) or j in more for j, value in enumerate(given)]
    return [*given, *(names[j] if names is not None else j for j in more)]


def _as_objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
