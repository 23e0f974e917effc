"""A batch of rows, and the schema that all batches of a table share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


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
