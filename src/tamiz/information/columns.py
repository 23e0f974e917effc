"""From what a user passes to a table of numbers in which text has become codes.

Units (:func:`safe_units`) in which values can be squared and summed are powers of two, so that
dividing is exact.
"""

from __future__ import annotations

import warnings
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from tamiz.validation import (
    as_numpy,
    check_X,
    depth_of_caller,
    has_sparse_columns,
    refuse_complex,
    refuse_duplicate_names,
    require_copy,
    require_memory,
)

_TEXT = (nw.String, nw.Categorical, nw.Enum, nw.Object)
_NESTED = (nw.List, nw.Array, nw.Struct)
_CONTAINERS = (list, tuple, dict, set, frozenset, np.ndarray)
_NUMBERS = (Real, Decimal, np.bool_)


class CodedTable(NamedTuple):
    """A table of numbers; categorical columns hold codes from 0, NaN where missing."""

    X: Any  # float64 in C order, or CSC
    categorical: np.ndarray  # bool (columns,)
    categories: dict[int, np.ndarray]  # what the codes of each categorical column stand for
    names: list[Any] | None = None  # of the columns of a data frame

    def called(self, j: int) -> str:
        """How a sentence names a column."""
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"


class _Anonymous(BaseEstimator):
    """Stands in for an estimator where there is none."""


def read_columns(
    X: Any,
    categorical_features: Any = None,
    *,
    estimator: Any = None,
    reset: bool = True,
    min_samples: int = 2,
    categories: dict[int, np.ndarray] | None = None,
) -> CodedTable:
    """Check ``X`` and turn its categorical columns into codes.

    Categorical are the columns that hold text (or, in a data frame, categories), and those named by
    ``categorical_features``: indices, names, or a boolean mask. Text that reads as numbers in most
    rows is warned of. Integers are indices, counted from 0. Where the columns of a data frame
    are themselves numbered otherwise, they could mean two things and are refused.

    A categorical column may mix numbers and text. Numbers that are equal are one category, however
    they are written (1, 1.0 and True), and the text "1" is another one. Numbers come first, in
    their order, then the rest by type and by how it looks.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        The table.
    categorical_features : array-like, optional
        CodedTable to take as categorical whatever they hold.
    estimator : estimator, optional
        Records, or is compared with, names and number of features.
    reset : bool, default=True
        Whether to record them.
    min_samples : int, default=2
        Fewest rows.
    categories : dict, optional
        Known categories by column; a value that is not among them counts as missing.
    """
    estimator = _Anonymous() if estimator is None else estimator
    X = as_numpy(X)
    if has_sparse_columns(X):
        X = _without_sparse_columns(X)
    if isinstance(X, np.ndarray) or sparse.issparse(X) or not nw.dependencies.is_into_dataframe(X):
        return _from_array(X, categorical_features, estimator, reset, min_samples, categories)
    refuse_duplicate_names(X)
    frame = nw.from_native(X, eager_only=True)
    columns = list(frame.iter_columns())
    labels = [column.name for column in columns]
    chosen = _mask(categorical_features, len(columns), labels)
    for j, column in enumerate(columns):
        if column.dtype in _NESTED:
            _refuse_containers(column.to_list(), f"column {column.name!r}")
        if column.dtype in _TEXT and not chosen[j]:
            chosen[j] = column.dtype != nw.Object or not _is_numeric(column)
            if chosen[j] and reset and column.dtype != nw.Categorical:
                _warn_of_numbers_as_text(column.to_list(), f"column {column.name!r}")
    if not chosen.any():
        table = check_X(estimator, X, reset=reset, min_samples=min_samples, allow_nan=True)
        return CodedTable(table, chosen, {}, labels)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    names: dict[int, np.ndarray] = {}
    require_copy(X)
    table = np.empty((len(frame), len(columns)))
    numeric = [j for j in range(len(columns)) if not chosen[j]]
    if numeric:
        part = nw.to_native(frame[:, numeric])
        table[:, numeric] = check_X(
            _Anonymous(), part, reset=True, min_samples=min_samples, allow_nan=True
        )
    for j in np.flatnonzero(chosen).tolist():
        column = columns[j]
        missing = column.is_null().to_numpy().astype(bool)
        values = np.empty(len(frame), dtype=object)
        values[:] = column.to_list()
        values[missing] = None
        table[:, j], names[j] = _codes(values, _known(categories, j), f"column {labels[j]!r}")
    check_X(_Anonymous(), table[:, :1], reset=True, min_samples=min_samples, allow_nan=True)
    return CodedTable(table, chosen, names, labels)


def _from_array(
    X: Any,
    categorical_features: Any,
    estimator: Any,
    reset: bool,
    min_samples: int,
    categories: dict[int, np.ndarray] | None,
) -> CodedTable:
    names: dict[int, np.ndarray] = {}
    marked = categorical_features
    source = _as_objects(X, categorical_features is not None)
    if source is not None:
        chosen = _mask(categorical_features, source.shape[1], None)
        if not isinstance(X, np.ndarray) or X.dtype.kind in "OUS":
            for j in np.flatnonzero(~chosen):
                chosen[j] = _holds_text(source[:, j])
                if chosen[j] and reset:
                    _warn_of_numbers_as_text(source[:, j], f"column {j}")
            X = source.copy()
        else:
            refuse_complex(X, "X")
            X = np.array(X, dtype=np.float64)
        for j in np.flatnonzero(chosen):
            known = _known(categories, j)
            X[:, j], names[int(j)] = _codes(source[:, j], known, f"column {j}")
        marked = chosen
    table = check_X(
        estimator, X, reset=reset, min_samples=min_samples, allow_nan=True, accept_sparse=True
    )
    chosen = _mask(marked, table.shape[1], None)
    if sparse.issparse(table):
        if chosen.any():
            raise ValueError(
                "categorical_features cannot be combined with a sparse X; pass a dense table "
                "(X.toarray()), or leave categorical_features out."
            )
        table = table.tocsc()
    return CodedTable(table, chosen, names)


def _as_objects(X: Any, wanted: bool) -> np.ndarray | None:
    """A table that may hold text, or has categorical columns, as Python objects; else None."""
    if sparse.issparse(X) or not isinstance(X, (np.ndarray, list, tuple)):
        return None
    if not wanted and isinstance(X, np.ndarray) and X.dtype.kind not in "OUS":
        return None
    if isinstance(X, np.ndarray) and not X.dtype.hasobject:
        require_memory(
            40 * X.size,
            f"X has nominal columns, and its {X.size:,} values are read as Python objects",
            "Pass a data frame, of which only these columns are, or codes and numbers apart.",
        )
    try:
        source = np.asarray(X, dtype=object)
    except ValueError:  # ragged: check_X has the sentence
        return None
    return source if source.ndim == 2 else None


def _without_sparse_columns(X: Any) -> Any:
    """A pandas table whose sparse columns have become dense."""
    refuse_duplicate_names(X)
    sparse_ones = [name for name in X if hasattr(X[name].dtype, "fill_value")]
    return X.astype({name: X[name].dtype.subtype for name in sparse_ones})


def _holds_text(values: np.ndarray) -> bool:
    """Whether some value is text that is not a number."""
    return any(isinstance(value, str) and not _is_number(value) for value in values)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _warn_of_numbers_as_text(values: Any, called: str) -> None:
    """Numbers that became text by accident, as by one odd cell of a file, are taken as levels."""
    text = [value for value in values if isinstance(value, str)]
    numbers = [value for value in text if _is_number(value)]
    if len(text) > 1 and 2 * len(numbers) > len(text) and len(set(numbers)) > 10:
        odd = next((value for value in text if not _is_number(value)), None)
        also = "" if odd is None else f", besides {odd!r}"
        warnings.warn(
            f"X {called} holds text that reads as numbers (first {numbers[0]!r}{also}), and each "
            "different text is taken as a category. Turn it into numbers if it is a measurement, "
            "for instance with pandas.to_numeric.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )


def _refuse_containers(values: Any, called: str) -> None:
    """A cell holds one value."""
    for i, value in enumerate(values):
        if isinstance(value, _CONTAINERS):
            raise ValueError(
                f"X {called} holds a {type(value).__name__} at row {i} where one value is needed; "
                "put its parts into columns of their own, or join them into one text."
            )


def _mask(categorical_features: Any, n_features: int, names: list[Any] | None) -> np.ndarray:
    """The categorical columns as a boolean mask."""
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    given = np.asarray(categorical_features, dtype=object)  # numbers and names stay what they are
    if given.ndim == 0:
        given = given.reshape(1)
    if given.size and all(isinstance(value, (bool, np.bool_)) for value in given.ravel()):
        if given.shape != (n_features,):
            raise ValueError(
                f"categorical_features is a mask of {given.size} entries, but X has {n_features} "
                "features; give one entry for each feature, or indices, or names."
            )
        return given.astype(bool)
    numbered = names is not None and any(
        isinstance(name, (int, np.integer)) and name != j for j, name in enumerate(names)
    )
    for value in given.tolist():
        if isinstance(value, (int, np.integer)) and numbered:
            assert names is not None
            if value not in names or names.index(value) != value:
                raise ValueError(
                    f"categorical_features names {value!r}, but the columns of X are numbered "
                    f"themselves ({_some(names)}), and it could be a number or a position. Use a "
                    "boolean mask with one entry for each column, or give the columns names that "
                    "are text (X.columns = X.columns.astype(str))."
                )
            mask[value] = True
        elif isinstance(value, (int, np.integer)) and -n_features <= value < n_features:
            mask[value] = True
        elif names is not None and value in names:
            mask[names.index(value)] = True
        else:
            known = f" or one of its column names ({names[0]!r}, ...)" if names else ""
            raise ValueError(
                f"categorical_features names {value!r}, which X does not have; use an index below "
                f"{n_features}{known}."
            )
    return mask


def _some(names: list[Any]) -> str:
    plain = (name.item() if isinstance(name, np.generic) else name for name in names[:3])
    return ", ".join(map(repr, plain)) + (", ..." if len(names) > 3 else "")


def _known(categories: dict[int, np.ndarray] | None, j: Any) -> np.ndarray | None:
    if categories is None:
        return None
    if int(j) not in categories:
        raise ValueError(
            f"Column {int(j)} of X holds text or categories, but held numbers in fit; pass "
            "the same kind of column."
        )
    return categories[int(j)]


def _is_numeric(column: Any) -> bool:
    """Whether a column of Python objects holds numbers and missing values only."""
    return all(
        isinstance(value, (int, float, np.number)) or _is_missing(value)
        for value in column.to_list()
    )


def _is_missing(value: Any) -> bool:
    """None, NaN, or pandas' NA, of which even ``NA != NA`` is unknown."""
    if value is None:
        return True
    unequal = value != value
    return not isinstance(unequal, (bool, np.bool_)) or bool(unequal)


def _key(value: Any) -> Any:
    """The same for values that are one category: a number itself, else type and look."""
    if isinstance(value, str):
        return "str", str(value)
    return value if isinstance(value, _NUMBERS) else (type(value).__name__, repr(value))


def _place(key: Any) -> tuple[Any, ...]:
    """Where a category belongs in the order of all."""
    if isinstance(key, tuple):
        return 1, *key
    try:
        return 0, float(key), str(key)
    except OverflowError:  # an integer of more than 308 digits
        return 0, np.inf if key > 0 else -np.inf, str(key)


def _codes(
    values: np.ndarray, known: np.ndarray | None, called: str = "x"
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the values (NaN where missing or unknown) and the categories they stand for."""
    _refuse_containers(values.tolist(), called)
    missing = np.array([_is_missing(value) for value in values.tolist()], dtype=bool)
    codes = np.full(len(values), np.nan)
    present = values[~missing]
    if known is None:
        try:
            known, inverse = np.unique(present, return_inverse=True)
        except TypeError:  # values of several types have no order
            keys = [_key(value) for value in present.tolist()]
            distinct: dict[Any, Any] = {}
            for key, value in zip(keys, present.tolist(), strict=True):
                distinct.setdefault(key, value)
            order = sorted(distinct, key=_place)
            number = {key: k for k, key in enumerate(order)}
            inverse = np.array([number[key] for key in keys])
            known = np.empty(len(order), dtype=object)
            known[:] = [distinct[key] for key in order]
        codes[~missing] = inverse
        return codes, known
    number = {value: k for k, value in enumerate(known.tolist())}
    codes[~missing] = [number.get(value, np.nan) for value in present.tolist()]
    if len(present) and len(known) and np.isnan(codes).all():
        warnings.warn(
            f"No value of {called} of X is a category that fit saw (here {present[0]!r}, there "
            f"{known[0]!r}); all count as missing. Pass values of the same kind.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )
    return codes, known


# -------------------------------------------------------------------------------------------- units


#: Between these sizes neither squares nor their sums leave the range of float64.
LARGE = 2.0**400
SMALL = 2.0**-400


def safe_units(size: np.ndarray) -> np.ndarray:
    """A unit for each column whose greatest absolute value is ``size``.

    It is 1 for sizes that need none, among them 0, and else the power of two next below the size.

    Examples
    --------
    >>> import numpy as np
    >>> safe_units(np.array([0.0, 3.0, 5 * 2.0**600, 2.0**-700])) == [1, 1, 2.0**602, 2.0**-700]
    array([ True,  True,  True,  True])
    """
    extreme = (size > LARGE) | ((size < SMALL) & (size > 0.0))
    _, exponent = np.frexp(size)
    return np.where(extreme, np.ldexp(1.0, exponent - 1), 1.0)
