"""From a table to packed codes: discretise, code, pack."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.information.codes import Codes, DiscreteColumns
from tamiz.information.columns import CodedTable, read_columns
from tamiz.information.cuts import find_cuts
from tamiz.information.packed_table import PackedTable
from tamiz.information.packing import MISSING, apply_cuts, code_small_integers
from tamiz.information.weighted import WeightedCodes, exact_weights
from tamiz.runtime.threads import run_tiles
from tamiz.validation import (
    check_classes,
    check_multiplicity,
    checked,
    depth_of_caller,
    integer_from,
    one_of,
    require_memory,
)

METHODS = ("mean_std", "mdl", "width", "frequency")

#: Most bins: codes fit into a byte, beside the one for missing values.
MOST_BINS = 250

#: What the parameters may be that all estimators share which discretise.
BINNING: dict[str, list[Any]] = {
    "bins": [StrOptions(set(METHODS)), None],
    "n_bins": [Interval(Integral, 2, MOST_BINS, closed="both")],
    "categorical_features": ["array-like", Integral, str, None],
    "missing": [StrOptions({"code", "ignore"})],
}

#: The same for functions.
DISCRETE: dict[str, Any] = {
    "bins": one_of(*METHODS, None),
    "n_bins": integer_from(2, MOST_BINS),
    "missing": one_of("code", "ignore"),
}

#: Levels per sample from which a column is taken for an identifier, and samples that tell.
_IDENTIFIER = 0.9
_ENOUGH = 20

#: Columns of a sparse matrix that are made dense at a time, at most, and their bytes.
_DENSE, _DENSE_BYTES = 1024, 32 << 20


@checked(**DISCRETE)
def encode(
    X: Any,
    *,
    bins: str | None = "mean_std",
    n_bins: int = 5,
    y: Any = None,
    categorical_features: Any = None,
    missing: str = "code",
    estimator: Any = None,
    sample_weight: Any = None,
) -> Codes | WeightedCodes:
    """Discretise and pack a table, so that its columns can be counted against each other.

    Parameters
    ----------
    X : array, sparse matrix, data frame or PackedTable of shape (n_samples, n_features)
        The table. NaN and null are missing values. The columns of a :class:`PackedTable` are coded
        already, and the parameters that say how mean nothing.
    bins : {"mean_std", "mdl", "width", "frequency"} or None, default="mean_std"
        How to cut continuous columns (see :func:`tamiz.information.discretise`); None if all
        columns are discrete already.
    n_bins : int, default=5
        Number of bins for "width" and "frequency".
    y : array of shape (n_samples,), optional
        Class labels, which "mdl" needs.
    categorical_features : array-like, optional
        Columns whose values are categories: indices, names or a mask. Columns that hold
        text or, in a data frame, categories always are.
    missing : {"code", "ignore"}, default="code"
        Whether missing values are a level of their own, or samples are left out of the counts of
        every pair in which a value is missing; what the others tell is then multiplied by their
        fraction of all samples (see :class:`Codes`).
    estimator : estimator, optional
        Where to record the names and number of features. Columns with a level of their own for
        nearly every sample are then warned of.
    sample_weight : array of shape (n_samples,), optional
        Positive weights of the samples, by which they are counted and the columns are cut: each
        counts like so many rows, an integer exactly as if the row were repeated.

    Returns
    -------
    codes : Codes, or WeightedCodes if there are weights other than one

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.information import encode
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> codes = encode(X, bins="frequency", n_bins=4)
    >>> codes.n_levels
    array([4, 4, 4])
    """
    if isinstance(X, PackedTable):
        return _packed_codes(X, categorical_features, sample_weight, estimator)
    columns = read_columns(X, categorical_features, estimator=estimator)
    table = columns.X
    n, p = table.shape
    weight = None if sample_weight is None else _positive_weights(sample_weight, n)
    target = None
    if bins == "mdl":
        if y is None:
            raise ValueError(
                'bins="mdl" cuts where the class changes and needs y; pass the labels, or use '
                'bins="mean_std", "width" or "frequency".'
            )
        remedy = "use a method that takes numbers, such as PearsonScore or RReliefF"
        target = check_classes(y, n, minimum=1, quantity=remedy, warn=False).codes
    require_memory(
        n * p + (24 * n * _width(n) if sparse.issparse(table) else 0),
        f"codes of {n:,} × {p:,} values",
        "Read the table in parts (fit_stream), or select features first by a filter that takes no "
        "codes, such as FisherScore.",
    )
    narrow, wide = _code_table(columns, bins, n_bins, target, weight)
    features = np.arange(p)
    if wide:
        features = np.setdiff1d(features, list(wide))
        narrow = narrow[features]
    codes: Codes | WeightedCodes
    if weight is None:
        codes = Codes.from_codes(narrow, features, wide, missing=missing)
    else:
        codes = WeightedCodes.from_codes(narrow, features, wide, weight, missing=missing)
    alone = np.flatnonzero(~codes.varies)
    if len(alone):
        codes.varies[alone] = _differ(table[:, alone])
    if estimator is not None:
        warn_of_identifiers(codes, columns.called)
    return codes


def _code_table(
    columns: CodedTable, bins: str | None, n_bins: int, target: Any, weight: Any
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Codes of all columns as bytes, and again by place those of columns with too many levels."""
    table = columns.X
    n, p = table.shape
    narrow = np.empty((p, n), dtype=np.uint8)
    wide: dict[int, np.ndarray] = {}
    for first, block in dense_blocks(table):
        part = narrow[first : first + block.shape[1]]
        categorical = columns.categorical[first : first + block.shape[1]]
        if bins is None:
            found = _code_values(block, categorical, part, first, columns)
        else:
            found = _code_cuts(block, find_cuts(block, bins, n_bins, target, weight), part)
            which = np.flatnonzero(categorical)
            if len(which):
                values = np.ascontiguousarray(block[:, which])
                lines = np.empty((len(which), n), dtype=np.uint8)
                many = _code_values(values, np.ones(len(which), dtype=bool), lines, 0, columns)
                part[which] = lines
                for j in which:
                    found.pop(int(j), None)
                found |= {int(which[k]): codes for k, codes in many.items()}
        wide |= {first + j: codes for j, codes in found.items()}
    return narrow, wide


def _packed_codes(X: PackedTable, categorical: Any, sample_weight: Any, estimator: Any) -> Codes:
    """The columns of a file, recorded by an estimator like those of a table."""
    for name, value in (("sample_weight", sample_weight), ("categorical_features", categorical)):
        if value is not None:
            raise ValueError(
                f"{name} cannot be used with a packed table, whose columns are coded and counted "
                "as they are in the file."
            )
    codes = X.as_codes()
    if estimator is not None:
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = codes.n_features
        if X.names is not None:
            estimator.feature_names_in_ = np.array(X.names, dtype=object)
        warn_of_identifiers(codes, lambda j: f"column {j}" if X.names is None else X.names[j])
    return codes


def _positive_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    weight = check_multiplicity(sample_weight, n)
    if weight is None:
        return None
    if not weight.all():
        raise ValueError("sample_weight must be positive here; leave out the rows of weight zero.")
    return exact_weights(weight)


def warn_of_identifiers(codes: DiscreteColumns, called: Callable[[int], str]) -> None:
    """Say which columns seem to determine any target because hardly a level repeats."""
    # with weights, a level of every row may still repeat; that they are small says nothing
    known = codes.n_known() * max(1.0, codes.n_samples / codes.amount())
    which = np.flatnonzero((codes.n_levels >= _IDENTIFIER * known) & (known >= _ENOUGH))
    if len(which):
        j = int(which[0])
        more = f" (and {len(which) - 1} more)" if len(which) > 1 else ""
        warnings.warn(
            f"X has {codes.n_levels[j]} levels in {known[j]:.0f} samples of {called(j)}{more}, "
            "as identifiers have: it seems to determine any target, and its score means nothing. "
            "Leave it out, put its values into groups, or use fewer bins.",
            UserWarning,
            stacklevel=depth_of_caller(),
        )


def _differ(table: Any) -> np.ndarray:
    """Which columns had several values before they were cut, missing ones apart."""
    parts = [
        np.fmin.reduce(block, axis=0) < np.fmax.reduce(block, axis=0)
        for _, block in dense_blocks(table)
    ]
    return np.concatenate(parts)


def dense_blocks(table: Any) -> Iterator[tuple[int, np.ndarray]]:
    """The table in dense pieces, with the number of their first column."""
    if not sparse.issparse(table):
        yield 0, table
        return
    width = _width(table.shape[0])
    for first in range(0, table.shape[1], width):
        yield first, np.ascontiguousarray(table[:, first : first + width].toarray())


def _width(n: int) -> int:
    """Columns of a dense piece of a sparse matrix with n rows."""
    return max(1, min(_DENSE, _DENSE_BYTES // (8 * max(1, n))))


def _code_cuts(block: np.ndarray, cuts: np.ndarray, out: np.ndarray) -> dict[int, np.ndarray]:
    """Codes by cuts; columns with very many are returned apart."""
    found = {}
    many = np.isfinite(cuts).sum(axis=1) > MOST_BINS
    for j in np.flatnonzero(many):
        codes = np.searchsorted(cuts[j], block[:, j]).astype(np.int32)
        codes[np.isnan(block[:, j])] = -1
        found[int(j)] = np.unique(codes, return_inverse=True)[1].astype(np.int32) - (
            codes.min() < 0
        )
    if many.any():
        cuts = cuts[:, :MOST_BINS]
    cuts = np.ascontiguousarray(cuts.T)
    run_tiles(apply_cuts, block.shape[1], block, cuts, out, min_items=1 + 100_000 // len(block))
    return found


def _code_values(
    block: np.ndarray, categorical: np.ndarray, out: np.ndarray, first: int, columns: CodedTable
) -> dict[int, np.ndarray]:
    """Codes of columns that are discrete; columns with very many values are returned apart."""
    found = {}
    n, p = block.shape
    understood = np.empty(p, dtype=bool)
    run_tiles(code_small_integers, p, block, out, understood, min_items=1 + 100_000 // n)
    for j in np.flatnonzero(~understood):
        lacks = np.isnan(block[:, j])
        values, codes = np.unique(block[~lacks, j], return_inverse=True)
        if not categorical[j]:
            _refuse_continuous(values, int((~lacks).sum()), columns.called(first + int(j)))
        if len(values) < MISSING:
            out[j] = MISSING
            out[j, ~lacks] = codes
        else:
            column = np.full(n, -1, dtype=np.int32)
            column[~lacks] = codes
            found[int(j)] = column
    return found


def are_continuous(values: np.ndarray, n: int) -> bool:
    """Whether the distinct values of ``n`` samples are not whole and hardly repeat."""
    whole = (values == np.floor(values)).all()
    return not whole and (len(values) > 32 or (len(values) > 8 and 2 * len(values) > n))


def _refuse_continuous(values: np.ndarray, n: int, column: str) -> None:
    """Continuous values were not meant as categories."""
    if are_continuous(values, n):
        raise ValueError(
            f"bins=None says that all columns are discrete, but {column} of X has "
            f"{len(values)} distinct values that are not integers (first {values[0]:.6g}). "
            'Choose how to cut it, for instance bins="mean_std", or name it in '
            "categorical_features."
        )
