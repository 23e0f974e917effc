"""From a table as it was read to a batch: every cell checked against the schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.column import Column, RawTable
from tamiz.data.errors import DataError, listed
from tamiz.scale.batch import Batch, Schema

_STEP = 1 << 17  # numbers that are looked at together, so that they stay in the cache


@dataclass
class Place:
    """Where a pass has come to."""

    index: int = 0
    first_row: int = 0

    @property
    def where(self) -> str:
        """The batch at hand, for messages."""
        return f"batch {self.index} (from row {self.first_row})"


class Conformer(Place):
    """Makes batches of tables, for as long as a pass lasts.

    A batch is passed on when all of it is as the schema says, and not before: whoever counts
    never has to undo anything.

    Parameters
    ----------
    schema : Schema
        What the batches have to look like.
    columns : sequence of str
        All columns of the first table, features or not.
    as_numbers : set of str
        Columns of text that the user wants to be numbers.
    missing_allowed : bool
        Whether rows without a value of the target are left out rather than refused.
    remedy : str
        What to do about a level or a class that was not seen before.
    """

    def __init__(
        self,
        schema: Schema,
        columns: list[str],
        as_numbers: set[str],
        missing_allowed: bool,
        remedy: str,
    ):
        super().__init__()
        self.schema = schema
        self.columns = set(columns)
        self.as_numbers = as_numbers
        self.missing_allowed = missing_allowed
        self.remedy = remedy
        self.n_rows = 0
        self._checked: list[str] | None = None
        self._places: dict[int, dict[str, int]] = {
            j: {str(level): k for k, level in enumerate(levels)}
            for j, levels in schema.categories.items()
            if levels.dtype.kind in "OU"
        }

    def make(self, table: RawTable) -> Batch | None:
        """The batch, or None if no row is left."""
        self._check_columns(table)
        first, n_read = self.first_row, table.n_rows
        y = None
        if self.schema.target is not None:
            column = next(c for c in table.columns if c.name == self.schema.target)
            missing = column.missing()
            if missing.any():
                if not self.missing_allowed:
                    self._complain(
                        table,
                        f"y is missing in row {first + int(missing.argmax())}; fill it in or leave "
                        "the row out.",
                    )
                rows = np.flatnonzero(~missing)
                table = table.take(rows)
                column = column.take(rows)
            y = self._target(column, table)
        X = self._sparse(table) if self.schema.sparse else self._dense(table)
        self.first_row += n_read
        if not X.shape[0]:
            return None
        batch = Batch(X, y, self.index, first)
        self.index += 1
        self.n_rows += X.shape[0]
        return batch

    # -------------------------------------------------------------------------------- features

    def _check_columns(self, table: RawTable) -> None:
        if table.names is self._checked:
            return
        names = set(table.names)
        lacking = [name for name in self.schema.names if name not in names]
        if self.schema.target is not None and self.schema.target not in names:
            lacking.append(self.schema.target)
        if lacking:
            self._complain(
                table, f"no column {listed(lacking)}; every batch needs the columns of the first."
            )
        extra = sorted(names - self.columns)
        if extra:
            self._complain(
                table,
                f"column {listed(extra)}, which the first batch lacks; every batch needs the same "
                "columns.",
            )
        self._checked = table.names

    def _dense(self, table: RawTable) -> np.ndarray:
        names = self.schema.names
        if sparse.issparse(table.matrix):
            self._complain(table, "a sparse matrix where the first batch is dense; pass one "
                           "kind.")  # fmt: skip
        if table.matrix_names == names and not self.schema.categories:
            X = np.ascontiguousarray(table.matrix, dtype=np.float64)
        else:
            X = self._gather(table, names)
        self._refuse_infinite(X, table)
        return X

    def _gather(self, table: RawTable, names: list[str]) -> np.ndarray:
        by_name = {column.name: column for column in table.columns}
        place = {name: k for k, name in enumerate(table.matrix_names)}
        X = np.empty((table.n_rows, len(names)))
        plain = [j for j, name in enumerate(names) if name in place]
        for j in self._places:
            if names[j] in place:
                self._refuse_numbers(names[j], table)
        if plain:
            source = [place[names[j]] for j in plain]
            if plain == list(range(len(names))) and source == plain:
                X[:] = table.matrix[:, : len(names)]
            else:
                step = max(64, _STEP // max(1, len(names)))
                for start in range(0, len(X), step):
                    rows = slice(start, start + step)
                    X[rows, plain] = table.matrix[rows, source]
        for j, name in enumerate(names):
            if name not in place:
                X[:, j] = self._column(j, by_name[name], table)
            if j in self.schema.categories and j not in self._places:
                X[:, j] = self._number_codes(j, X[:, j], table)
        return X

    def _column(self, j: int, column: Column, table: RawTable) -> np.ndarray:
        if column.codes is None:
            if j in self._places:
                self._refuse_numbers(column.name, table)
            return column.numbers()
        if j in self._places:
            return self._text_codes(j, column, table)
        used = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels)) > 0
        values = np.full(len(column.levels) + 1, np.nan)
        for k in np.flatnonzero(used).tolist():
            level = column.levels[k]
            try:
                if column.name not in self.as_numbers:
                    raise ValueError
                values[k] = float(level)
            except ValueError:
                self._complain(
                    table,
                    f"{level!r} in column {column.name!r}, where numbers were expected; correct "
                    "it, or take the column as nominal with categorical_features="
                    f"[{column.name!r}].",
                )
        return values[column.codes]

    def _text_codes(self, j: int, column: Column, table: RawTable) -> np.ndarray:
        assert column.codes is not None
        place = self._places[j]
        new = np.array([place.get(level, -1) for level in column.levels] + [-1], dtype=np.int64)
        codes = new[column.codes]
        strange = (codes < 0) & (column.codes >= 0)
        if strange.any():
            level = column.levels[column.codes[int(strange.argmax())]]
            self._complain(
                table,
                f"the level {level!r} in column {column.name!r}, which was not seen before"
                f" (known: {listed(place)}). {self.remedy}",
            )
        values = codes.astype(np.float64)
        values[codes < 0] = np.nan
        return values

    def _number_codes(self, j: int, values: np.ndarray, table: RawTable) -> np.ndarray:
        levels = self.schema.categories[j]
        there = ~np.isnan(values)
        codes = np.searchsorted(levels, values[there]).clip(max=max(0, len(levels) - 1))
        if len(codes) and not (len(levels) and (levels[codes] == values[there]).all()):
            unknown = values[there][levels[codes] != values[there]][0] if len(levels) else "a value"
            self._complain(
                table,
                f"the level {unknown} in column {self.schema.names[j]!r}, which was not seen "
                f"before (known: {listed(levels.tolist())}). {self.remedy}",
            )
        result = np.full(len(values), np.nan)
        result[there] = codes
        return result

    def _refuse_numbers(self, name: str, table: RawTable) -> None:
        self._complain(
            table,
            f"numbers in column {name!r}, which holds text elsewhere; write it alike in all "
            "batches.",
        )

    def _refuse_infinite(self, X: np.ndarray, table: RawTable) -> None:
        flat = X.reshape(-1)
        for start in range(0, len(flat), _STEP):
            infinite = np.isinf(flat[start : start + _STEP])
            if infinite.any():
                i, j = divmod(start + int(infinite.argmax()), X.shape[1])
                self._complain(
                    table,
                    f"an infinite value in column {self.schema.names[j]!r}, row "
                    f"{self.first_row + i}; replace it or leave the row out.",
                )

    def _sparse(self, table: RawTable) -> Any:
        if not sparse.issparse(table.matrix):
            self._complain(table, "a dense table where the first batch is sparse; pass one "
                           "kind.")  # fmt: skip
        X = sparse.csr_matrix(table.matrix, dtype=np.float64)
        if table.matrix_names != self.schema.names:
            place = {name: k for k, name in enumerate(table.matrix_names)}
            X = X[:, [place[name] for name in self.schema.names]]
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        bad = np.isinf(X.data)
        if bad.any():
            j = int(X.indices[int(bad.argmax())])
            self._complain(
                table,
                f"an infinite value in column {self.schema.names[j]!r}; replace it or leave the "
                "row out.",
            )
        return X

    # ---------------------------------------------------------------------------------- target

    def _target(self, column: Column, table: RawTable) -> np.ndarray:
        classes = self.schema.classes
        if classes is None:
            if column.codes is not None:
                self._complain(
                    table,
                    f"text such as {column.levels[0]!r} in the target {column.name!r}; a "
                    "regression needs numbers.",
                )
            values = np.ascontiguousarray(column.numbers(), dtype=np.float64)
            if np.isinf(values).any():
                self._complain(
                    table,
                    f"an infinite value in the target {column.name!r}; replace it or leave the row "
                    "out.",
                )
            return values
        if column.codes is not None:
            place = {str(label): k for k, label in enumerate(classes)}
            if classes.dtype.kind != "U":
                place = {}
            new = np.array([place.get(level, -1) for level in column.levels], dtype=np.intp)
            codes = new[column.codes] if len(new) else np.empty(0, dtype=np.intp)
            if (codes < 0).any():
                self._strange(column.levels[column.codes[int((codes < 0).argmax())]], table)
            return codes
        values = column.numbers()
        if classes.dtype.kind == "U":
            if len(values):
                self._strange(values[0], table)
            return np.empty(0, dtype=np.intp)
        codes = np.searchsorted(classes, values).clip(max=len(classes) - 1)
        known = classes[codes] == values
        if not known.all():
            self._strange(values[int((~known).argmax())], table)
        return codes.astype(np.intp)

    def _strange(self, label: Any, table: RawTable) -> None:
        shown = label.item() if hasattr(label, "item") else label
        assert self.schema.classes is not None
        self._complain(
            table,
            f"{shown!r} in the target {self.schema.target!r}, which is none of the classes "
            f"{listed(self.schema.classes.tolist())}. {self.remedy}",
        )

    def _complain(self, table: RawTable, what: str) -> None:
        raise DataError(f"{table.source}, {self.where} has {what}")
