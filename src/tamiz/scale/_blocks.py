"""What the statistics share: a block of rows checked, in dense pieces, and split by class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

#: Numbers that a sparse block is made dense of at a time (32 MB).
_DENSE = 2**22


def check_block(X: Any, n_features: int | None = None) -> Any:
    """A block as float64 in C order, or CSR, with the expected number of columns."""
    if sparse.issparse(X):
        X = X.tocsr()
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
        if X.ndim != 2:
            raise ValueError(
                f"X has {X.ndim} dimensions; a block of rows is a table of shape "
                "(n_rows, n_features)."
            )
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(
            f"X has {X.shape[1]} columns, but the cuts are those of {n_features}; pass "
            "blocks of the table that the cuts were made for."
        )
    return X


def check_codes(codes: Any, n_rows: int, n_classes: int) -> np.ndarray:
    """Class codes of the rows, each from 0 to ``n_classes`` - 1; None stands for a single class."""
    if codes is None:
        return np.zeros(n_rows, dtype=np.intp)
    codes = np.asarray(codes)
    if codes.shape != (n_rows,) or codes.dtype.kind not in "iu":
        raise ValueError(
            f"y has shape {codes.shape} and type {codes.dtype}; it must hold one integer, the "
            f"code of the class, for each of the {n_rows} rows."
        )
    codes = codes.astype(np.intp, copy=False)
    if n_rows and not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError(
            f"y holds class codes from {codes.min()} to {codes.max()}, but there are {n_classes} "
            f"classes; codes go from 0 to {n_classes - 1}."
        )
    return codes


def dense_pieces(X: Any, most_rows: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows of a block in dense pieces."""
    n, p = X.shape
    step = n if most_rows is None else most_rows
    if sparse.issparse(X):
        step = min(step, max(1, _DENSE // max(1, p)))
    for first in range(0, n, max(1, step)):
        rows = slice(first, min(first + step, n))
        piece = X[rows]
        yield rows, np.ascontiguousarray(piece.toarray() if sparse.issparse(piece) else piece)


def rows_by_class(codes: np.ndarray, n_classes: int) -> list[np.ndarray]:
    """The rows of each class, in their order."""
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=n_classes))
    return np.split(order, ends[:-1])


def refuse_missing(column: int) -> None:
    """A value is missing in a column that had none when it was looked through."""
    raise ValueError(
        f"Column {column} holds a missing value, but had none in the pass that found the cuts: the "
        "table has changed in between. Start again, or say that the column has missing values."
    )


def refuse_other_cuts() -> None:
    """Counts that were made with different cuts do not add."""
    raise ValueError(
        "The two statistics were counted with different cuts, so that their sum means nothing; "
        "use the same cuts for every batch."
    )
