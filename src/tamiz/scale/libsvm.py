"""LIBSVM's sparse text in batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tamiz.data.column import Column, Table
from tamiz.data.errors import DataError
from tamiz.data.libsvm import WIDE, pieces, together
from tamiz.data.plan import Options, Plan
from tamiz.scale.parts import Part


class LibsvmPart(Part):
    """A sparse file. Its width, and whether indices start at 0 or 1, are known after a survey."""

    reads_all = True
    sparse = True
    named = False

    def __init__(self, path: Path, shown: str, options: Options, n_features: int | None = None):
        if options.target not in (None, False, "target"):
            raise DataError(
                f"target={options.target!r} is not possible with {shown}: the target of a LIBSVM "
                "file is what its lines begin with. Leave target= out."
            )
        if options.columns is not None or options.drop is not None:
            raise DataError(
                f"{shown} is a LIBSVM file, of which all features are read; leave columns= and "
                "drop= out."
            )
        self.path, self.shown, self.options = path, shown, options
        self.width = self.base = 0  # greatest index + 1, and the index of the first feature
        self.n_features = n_features

    def _feature_names(self) -> list[str]:
        """Names as ``tamiz.data.load`` gives them: f1, f2, ..., by the indices of the file."""
        p = self.n_features if self.n_features is not None else self.width - self.base
        digits = len(str(p + self.base - 1))
        return [f"f{j + self.base:0{digits}d}" for j in range(p)]

    def plan(self) -> Plan:
        return Plan(None if self.options.target is False else "target", self._feature_names())

    def survey_width(self, see: Callable[[Table], None]) -> tuple[int, bool, int]:
        """Greatest index + 1, whether index 0 is used, and the number of values.

        ``see`` is shown the target on the way.
        """
        width = n_values = 0
        zero = False
        for X, y in pieces(self.path, self.shown):
            see(Table([Column("target", y)], self.shown))
            width = max(width, X.shape[1])
            n_values += X.nnz
            zero = zero or bool((X.indices == 0).any())
        return width, zero, n_values

    def fix_width(self, width: int, zero: bool, n_values: int) -> None:
        """Settle the features, from a survey of all parts."""
        if width > max(WIDE, 100 * n_values) and self.n_features is None:
            raise DataError(
                f"{self.shown} has {n_values:,} values but an index of {width - 1:,}; that is a "
                "slip, or needs more memory than it is worth. Number the features without large "
                "gaps, or name their number with n_features=."
            )
        self.width = width
        self.base = int(width > 1 and not zero)
        found = width - self.base
        if self.n_features is not None and self.n_features < found:
            raise DataError(
                f"{self.shown} has {found} features, by its greatest index {width - 1}, but "
                f"n_features={self.n_features}; give at least {found}."
            )

    def tables(self, columns: Sequence[str] | None, rows: int | None) -> Iterator[Table]:
        names = self._feature_names()
        p = len(names)
        held: list[tuple[Any, np.ndarray]] = []
        n_held = 0
        for X, y in pieces(self.path, self.shown):
            if X.shape[1] > p + self.base:
                raise DataError(
                    f"{self.shown} has an index of {X.shape[1] - 1} where the greatest was "
                    f"{p + self.base - 1}: the file has changed."
                )
            X.resize(X.shape[0], p + self.base)
            X = X[:, self.base :] if self.base else X
            if rows is None:
                yield self._table(X, y, names)
                continue
            held.append((X, y))
            n_held += len(y)
            if n_held >= rows:
                X, y = together(held)
                stop = n_held - n_held % rows
                for start in range(0, stop, rows):
                    piece = slice(start, start + rows)
                    yield self._table(X[piece], y[piece], names)
                held = [(X[stop:], y[stop:])]
                n_held -= stop
        if n_held:
            X, y = together(held)
            yield self._table(X, y, names)

    def _table(self, X: Any, y: np.ndarray, names: list[str]) -> Table:
        target = [Column("target", y)]
        return Table(target, self.shown, matrix=X, matrix_names=names, names=[*names, "target"])
