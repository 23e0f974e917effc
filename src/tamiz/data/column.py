"""A table as it was read: columns of numbers, and columns of levels.

Every reader ends here, whatever the file was; what the columns mean is decided afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamiz.data.errors import Finding, listed


@dataclass
class Column:
    """One column: numbers (NaN where missing), or codes of levels (-1 where missing)."""

    name: str
    values: np.ndarray | None = None  # float64
    codes: np.ndarray | None = None  # positions in ``levels``
    levels: list[str] = field(default_factory=list)
    declared: bool = False  # the file itself calls it a category, in this order of levels
    date: bool = False  # the file itself calls it a date
    stored: str = ""  # "i" or "f": numbers that were handed over as integers or as floats
    mixed: bool = False  # levels are those of numbers among text, see levels_of

    @property
    def is_text(self) -> bool:
        return self.codes is not None

    def __len__(self) -> int:
        return len(self.codes if self.codes is not None else self.numbers())

    def numbers(self) -> np.ndarray:
        """The column as float64: its numbers, or the codes of its levels, NaN where missing."""
        if self.codes is None:
            assert self.values is not None
            return self.values
        numbers = self.codes.astype(np.float64)
        numbers[self.codes < 0] = np.nan
        return numbers

    def missing(self) -> np.ndarray:
        """Which cells are missing."""
        return np.isnan(self.numbers()) if self.codes is None else self.codes < 0

    def objects(self) -> np.ndarray:
        """The cells as Python values, None where missing."""
        if self.codes is None:
            values = self.numbers()
            cells = values.astype(object)
            cells[np.isnan(values)] = None
            return cells
        return np.array([*self.levels, None], dtype=object)[self.codes]  # -1 is the last

    def take(self, rows: np.ndarray) -> Column:
        """The column with these rows only."""
        return Column(
            self.name,
            None if self.values is None else self.values[rows],
            None if self.codes is None else self.codes[rows],
            self.levels,
            self.declared,
            self.date,
            self.stored,
            self.mixed,
        )

    def sort_levels(self) -> Column:
        """Put the levels in order, unless the file gave them one; drop those that never occur."""
        if self.codes is None or self.declared:
            return self
        used = np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels)) > 0
        order = sorted(np.flatnonzero(used).tolist(), key=self.levels.__getitem__)
        place = np.full(len(self.levels) + 1, -1, dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        self.codes = place[self.codes]
        self.levels = [self.levels[k] for k in order]
        return self

    def as_text(self) -> Column:
        """Numbers as levels, in the order of the numbers; whole ones without a decimal point."""
        if self.codes is not None:
            return self
        values = self.numbers()
        there = ~np.isnan(values)
        distinct, inverse = np.unique(values[there], return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.int32)
        codes[there] = inverse
        return Column(self.name, None, codes, [plain_number(v) for v in distinct], declared=True)

    @classmethod
    def from_cells(cls, name: str, cells: Sequence[Any], **flags: Any) -> Column:
        """A column of levels from text, None where missing."""
        place: dict[str, int] = {}
        codes = np.fromiter(
            (-1 if cell is None else place.setdefault(cell, len(place)) for cell in cells),
            dtype=np.int32,
            count=len(cells),
        )
        return cls(name, None, codes, list(place), **flags).sort_levels()


def plain_number(value: float) -> str:
    """The shortest text of a number: 3 rather than 3.0."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


@dataclass
class Table:
    """Columns under distinct names, and what the reader has to say.

    ``matrix`` is set by readers that hold all features in one block already (dense or CSR): its
    columns are then ``matrix_names``, and ``columns`` holds the rest, such as the target.
    """

    columns: list[Column]
    source: str = ""
    notes: list[str] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    matrix: Any = None
    matrix_names: list[str] = field(default_factory=list)
    target: str | None = None  # where the format itself says which column it is
    extras: dict[str, np.ndarray] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)  # all, in the order of the file

    def __post_init__(self) -> None:
        if not self.names:
            self.names = [*self.matrix_names, *(column.name for column in self.columns)]

    @property
    def n_rows(self) -> int:
        return self.matrix.shape[0] if self.matrix is not None else len(self.columns[0])


def numbered(shown: str, renamed: Sequence[str], what: str = "columns") -> list[Finding]:
    """What to say of names that returned; nothing if none did."""
    text = f"{shown} has {what} of the same name, which were numbered: {listed(renamed)}."
    return [Finding("names", tuple(renamed), text)] if renamed else []


def distinct_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names with ``_2``, ``_3`` ... added where one returns, and those that did."""
    seen: dict[str, int] = {}
    taken = set(names)
    result, renamed = [], []
    for name in names:
        count = seen.get(name, 0) + 1
        if count > 1:
            renamed.append(name)
            while f"{name}_{count}" in taken:
                count += 1
            seen[name] = count
            name = f"{name}_{count}"
            taken.add(name)
        else:
            seen[name] = 1
        result.append(name)
    return result, list(dict.fromkeys(renamed))
