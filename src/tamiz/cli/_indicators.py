"""Nominal columns of a streamed table as columns of zeros and ones, batch by batch.

The columns and their names are those of :meth:`tamiz.data.Dataset.encode`, so that a method that
needs numbers ranks the same features whether the table is in memory or not.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tamiz.data.column import plain_number
from tamiz.data.encoding import MISSING
from tamiz.data.errors import listed
from tamiz.data.formats.base import rows_per_batch
from tamiz.scale import Batch, Batches, sweep


@dataclass
class Incomplete:
    """Which columns have missing values."""

    columns: np.ndarray

    @classmethod
    def of(cls, batch: Batch) -> Incomplete:
        """Those of a batch."""
        return cls(np.isnan(batch.X).any(axis=0))

    def merge(self, other: Incomplete) -> Incomplete:
        """Those of both sets of rows."""
        return Incomplete(self.columns | other.columns)


class Indicators(Batches):
    """The batches of a table, with an indicator for each level of each nominal column.

    Two levels make one column, that of the second; missing values are a level of their own. One
    pass over the rows finds out where there are any.

    Parameters
    ----------
    table : Batches
        Has nominal columns, and can be read again.
    verbose : int
        Whether to show the progress of that pass.

    Attributes
    ----------
    note : str
        What became of the columns.
    n_passes : int
        How many passes over the rows the preparation took.
    table : Batches
        The table itself, with its nominal columns.
    made_of : list of (int, int or None)
        For every column, the one of the table that it comes from, and the level that it stands
        for: None for a column of numbers; one past the last for missing values.
    """

    n_passes = 1

    def __init__(self, table: Batches, *, verbose: int = 0):
        self.__dict__.update(vars(table))
        self.table = table
        self.made_of: list[tuple[int, int | None]] = []
        schema = table.schema
        incomplete = sweep(
            table, Incomplete.of, progress=verbose, label="looking for missing values"
        )
        self._n_rows = table.n_rows
        names: list[str] = []
        self._first: dict[int, int] = {}  # level of the first indicator of each nominal column
        self._width: list[int] = []  # columns that each column becomes
        for j, name in enumerate(schema.names):
            if j not in schema.categories:
                names.append(name)
                self._width.append(1)
                self.made_of.append((j, None))
                continue
            labels = [_shown(level) for level in schema.categories[j].tolist()]
            labels += [MISSING] * bool(incomplete.columns[j])
            self._first[j] = 1 if len(labels) == 2 else 0
            names += [f"{name}={label}" for label in labels[self._first[j] :]]
            self._width.append(len(labels) - self._first[j])
            self.made_of += [(j, level) for level in range(self._first[j], len(labels))]
        self._schema = replace(schema, names=names, categories={})
        coded = [schema.names[j] for j in sorted(schema.categories)]
        made = sum(self._width[j] for j in schema.categories)
        such = next(name for name in names if name.startswith(f"{coded[0]}="))
        self.note = (
            f"Categories as indicators: {listed(coded)} became {made} columns of 0 and 1, with "
            f"names such as {such!r}."
        )

    def _go(self) -> Generator[Batch, None, None]:
        most = rows_per_batch(self.schema.n_features)
        for batch in self.table:
            for start in range(0, batch.n_rows, most):
                X = self._expand(batch.X[start : start + most])
                y = None if batch.y is None else batch.y[start : start + most]
                yield Batch(X, y, batch.index, batch.first_row + start)

    def _expand(self, X: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), self.schema.n_features))
        ends = np.cumsum(self._width)
        for j, (end, width) in enumerate(zip(ends.tolist(), self._width, strict=True)):
            column = X[:, j]
            if j in self._first:
                first = self._first[j]
                levels = len(self.table.schema.categories[j])
                codes = np.where(np.isnan(column), levels, column)
                out[:, end - width : end] = codes[:, None] == np.arange(first, first + width)
            else:
                out[:, end - 1] = column
        return out


def _shown(level: str | float) -> str:
    """A level as it stands in a name."""
    return level if isinstance(level, str) else plain_number(level)
