"""A batch of rows, and the schema that all batches of a table share.

What the statistics share: a block of rows checked, in dense pieces, and split by class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table, ready to be counted.

    Attributes
    ----------
    X : array of shape (n_rows, n_features), or CSR matrix
        float64 and C-contiguous; nominal features are codes of levels; NaN where a cell is
        missing. Rows of LIBSVM files and of sparse matrices stay sparse.
    y : array of shape (n_rows,) or None
        Codes of the classes (``intp``), or float64 in a regression; None without a target.
    index : int
        Number of the batch, from 0.
    first_row : int
        Number, in the whole table, of the first row that was read for the batch. Rows without a
        value of the target are left out and yet counted here, so ``first_row + i`` is a number of
        its own for every row of every batch.
    """

    X: Any
    y: np.ndarray | None
    index: int
    first_row: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.X.shape[0]


@dataclass
class Schema:
    """What every batch of a table looks like.

    Attributes
    ----------
    names : list of str
        Names of the features, in the order of the columns of ``X``.
    categories : dict
        For each nominal feature, by its position, the levels behind the codes 0, 1, ...: text, or
        numbers if the column holds numbers.
    classes : array or None
        The labels behind the codes of ``y``, sorted; None in a regression or without a target.
    task : {"classification", "regression"} or None
        What the target asks for; None without a target.
    target : str or None
        Name of the target.
    named : bool
        Whether the names came with the data (False: ``x0``, ``x1``, ...).
    aside : dict
        Columns that are no features, and why.
    sparse : bool
        Whether ``X`` is a CSR matrix.
    """

    names: list[str]
    categories: dict[int, np.ndarray] = field(default_factory=dict)
    classes: np.ndarray | None = None
    task: str | None = None
    target: str | None = None
    named: bool = True
    aside: dict[str, str] = field(default_factory=dict)
    sparse: bool = False

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``."""
        return len(self.names)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 in a regression."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def categorical(self) -> np.ndarray:
        """Which features are nominal."""
        mask = np.zeros(self.n_features, dtype=bool)
        mask[list(self.categories)] = True
        return mask

    @property
    def n_levels(self) -> np.ndarray:
        """Number of levels of each feature; 0 for those that hold numbers."""
        counts = np.zeros(self.n_features, dtype=np.intp)
        for j, levels in self.categories.items():
            counts[j] = len(levels)
        return counts


# ------------------------------------------------------------------------------------------- blocks


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
