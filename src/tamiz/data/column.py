"""A table as it was read: columns of numbers, and columns of levels.

Every reader ends here, whatever the file was; what the columns mean is decided afterwards. Columns
of Python values may mix numbers and text; :func:`levels_of` says which cells are one level.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.errors import Finding, listed

_TRUTHS = (bool, np.bool_)
_NUMBERS = (Real, Decimal, np.bool_)


@dataclass
class Column:
    """One column: numbers (NaN where missing), or codes of levels (-1 where missing)."""

    name: str
    values: np.ndarray | None = None  # float64
    codes: np.ndarray | None = None  # positions in ``levels``
    levels: list[str] = field(default_factory=list)
    declared: bool = False  # the file itself calls it a category, in this order of levels
    date: bool = False  # the file itself calls it a date
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

    def take(self, rows: Any) -> Column:
        """The column with these rows only."""
        return replace(
            self,
            values=None if self.values is None else self.values[rows],
            codes=None if self.codes is None else self.codes[rows],
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
        """Numbers as levels, in the order of the numbers; integers without a decimal point."""
        if self.codes is not None:
            return self
        values = self.numbers()
        there = ~np.isnan(values)
        distinct, inverse = np.unique(values[there], return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.int32)
        codes[there] = inverse
        return Column(self.name, None, codes, [plain_number(v) for v in distinct], declared=True)

    @classmethod
    def joined(cls, parts: Sequence[Column]) -> Column:
        """One column from those of tables that follow each other; its levels in order."""
        first = parts[0]
        if first.codes is None:
            return replace(first, values=np.concatenate([part.numbers() for part in parts]))
        place: dict[str, int] = {}
        codes = []
        known: list[str] | None = None
        for part in parts:
            assert part.codes is not None
            if part.levels is not known:  # a reader may share one list among its tables
                known = part.levels
                own = [place.setdefault(level, len(place)) for level in known]
                new = np.array([*own, -1], dtype=np.int32)
            codes.append(new[part.codes])
        return replace(first, codes=np.concatenate(codes), levels=list(place)).sort_levels()

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
class RawTable:
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

    def take(self, rows: Any) -> RawTable:
        """Some rows of the table."""
        return replace(
            self,
            columns=[column.take(rows) for column in self.columns],
            matrix=None if self.matrix is None else self.matrix[rows],
        )

    def rename(self, new: Mapping[str, str]) -> None:
        """Give the columns other names."""
        self.matrix_names = [new[name] for name in self.matrix_names]
        self.columns = [replace(column, name=new[column.name]) for column in self.columns]
        self.names = [new[name] for name in self.names]

    def column(self, name: str) -> Column | None:
        """The column of this name, also one of the matrix; None if it was not read."""
        found = next((column for column in self.columns if column.name == name), None)
        if found is not None or name not in self.matrix_names:
            return found
        cells = self.matrix[:, [self.matrix_names.index(name)]]
        return Column(name, (cells.toarray() if sparse.issparse(cells) else cells).ravel())


def numbered(shown: str, renamed: Sequence[str], what: str = "columns") -> list[Finding]:
    """A note on duplicated names; empty if there are none."""
    text = f"{shown} has {what} of the same name, which were numbered: {listed(renamed)}."
    return [Finding("names", tuple(renamed), text)] if renamed else []


def distinct_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names, duplicates with ``_2``, ``_3`` ... appended, and the duplicates."""
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


# ------------------------------------------------------------- numbers among text


def levels_of(cells: Sequence[Any]) -> list[str | None]:
    """The level of each cell as text, None where missing.

    Numbers that are equal are one level, however they are written (1, 1.0 and True). Text is
    another one: where numbers stand among text, text that reads as a number, or stands in quotes
    itself, is put in quotes.
    Truth values keep their names unless 0 or 1 stand beside them.

    Examples
    --------
    >>> levels_of([1, 1.0, "1", None, "a"])
    ['1', '1', "'1'", None, 'a']
    >>> levels_of([True, False, "unknown"])
    ['True', 'False', 'unknown']
    """
    numbers = [cell for cell in cells if isinstance(cell, _NUMBERS)]
    if not numbers:
        return [None if cell is None else str(cell) for cell in cells]
    names: dict[Any, str] = {number: _spelled(number) for number in numbers}
    if all(isinstance(number, _TRUTHS) or number not in (0, 1) for number in numbers):
        names |= {True: "True", False: "False"}
    spelled = set(names.values())
    return [
        None
        if cell is None
        else names[cell]
        if isinstance(cell, _NUMBERS)
        else _quoted(str(cell), spelled)
        for cell in cells
    ]


def is_mixed(cells: Sequence[Any]) -> bool:
    """Whether numbers stand among the cells, of which some are text."""
    return any(isinstance(cell, _NUMBERS) for cell in cells)


def confused(alone: Collection[str], mixed: Collection[str]) -> str | None:
    """A level of batches of text ``alone`` that means another thing in ``mixed`` batches, if any.

    What is quoted, and what truth values are called, depends on the cells beside them. Truth
    values that are names in one batch and numbers in the next are reported by name.
    """
    for level in alone:
        quoted = _quoted(level)
        if quoted != level and (level in mixed or quoted in mixed):
            return level
    names = {"True": "1", "False": "0"}
    return next((name for name in names if name in mixed and names[name] in mixed), None)


def _spelled(number: Any) -> str:
    """One text for all numbers that are equal."""
    try:
        value = float(number)
    except OverflowError:  # an integer of more than 308 digits
        return str(number)
    return plain_number(value) if value == number else str(number)


def _quoted(text: str, spelled: Collection[str] = ()) -> str:
    """Text that could be taken for a number, or for such text in quotes, in quotes."""
    try:
        doubtful = plain_number(float(text)) == text
    except ValueError:
        doubtful = text in ("True", "False") or text[:1] in ("'", '"')
    return repr(text) if doubtful or text in spelled else text
