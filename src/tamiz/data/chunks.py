"""A text table read a chunk of rows at a time, with the scanner of large tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tamiz.data.column import Column, Table
from tamiz.data.dialect import Dialect
from tamiz.data.errors import DataError
from tamiz.data.large import _ReadAgain, _Reading
from tamiz.data.plan import Options, Plan
from tamiz.data.source import Source
from tamiz.runtime.progress import Progress

ReadAgain = _ReadAgain


class Chunks(_Reading):
    """One way through the file, which hands over tables of so many rows and keeps none.

    Parameters
    ----------
    source, dialect, names, plan, options
        As for a table that is read as a whole.
    text : set of str
        Columns known to hold text; those met on the way are added.
    settled : bool
        Whether ``text`` is complete: text in another column is then an error. Otherwise
        ``ReadAgain`` is raised where numbers were handed over before.
    """

    def __init__(
        self,
        source: Source,
        dialect: Dialect,
        names: list[str],
        plan: Plan,
        options: Options,
        text: set[str],
        settled: bool,
    ):
        super().__init__(source, dialect, names, plan, options)
        self.text = text
        self.settled = settled
        self.names = names
        self.blocks: list[np.ndarray] = []

    def tables(self, rows: int) -> Iterator[Table]:
        """Tables of ``rows`` rows; the last may have fewer."""
        self.blocks = []
        with Progress(f"reading {self.source.shown}", 0) as progress:
            for _ in self.walk(progress):
                yield from self._cut(rows)
        yield from self._cut(rows, last=True)

    def leave_out(self, name: str) -> None:
        """Read a column of text no further."""
        self.plan = Plan(self.plan.target, [f for f in self.plan.features if f != name])
        for held in (self.codes, self.seen, self.levels):
            held.pop(name, None)

    def _room(self, n: int) -> np.ndarray:
        return np.empty((n, len(self.numeric)))

    def _keep(self, block: np.ndarray) -> None:
        self.blocks.append(block)

    def _meet_text(self, found: list[tuple[str, bytes, int]]) -> None:
        if self.settled:
            name, cell, self.fault_row = min(found, key=lambda one: one[2])
            text = cell[:30].decode(self.encoding, errors="replace")
            raise DataError(
                f"{self.source.shown}: column {name!r} holds {text!r} where numbers were read "
                f"before; correct it, or take the column as nominal with categorical_features="
                f"[{name!r}]."
            )
        super()._meet_text(found)

    def _cut(self, rows: int, last: bool = False) -> Iterator[Table]:
        held = sum(map(len, self.blocks))
        if not held or (held < rows and not last):
            return
        X = self.blocks[0] if len(self.blocks) == 1 else np.concatenate(self.blocks)
        codes = {name: np.concatenate(parts) for name, parts in self.codes.items()}
        target = self.plan.target
        numeric_target = target is not None and target not in self.text
        y = np.concatenate(self.target_blocks)[:, 0] if numeric_target else None
        stop = held if last else held - held % rows
        self.blocks = [X[stop:]] if stop < held else []
        self.target_blocks = [y[stop:, None]] if y is not None and stop < held else []
        self.codes = {name: [all_codes[stop:]] for name, all_codes in codes.items()}
        for start in range(0, stop, rows):
            piece = slice(start, min(start + rows, stop))
            columns = [
                Column(name, None, all_codes[piece], list(self.levels.get(name, {})))
                for name, all_codes in codes.items()
            ]
            if target is not None and y is not None:
                columns.append(Column(target, y[piece]))
            yield Table(
                columns,
                self.source.shown,
                matrix=X[piece],
                matrix_names=list(self.numeric),
                names=self.names,
            )
