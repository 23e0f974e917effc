"""What the columns are: by what the user says, the first rows, and one pass.

The pass goes over the target and the nominal columns: classes, levels, number of rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.column import Column, RawTable, confused
from tamiz.data.errors import DataError, DataWarning
from tamiz.data.plan import ColumnPlan, find_columns, judge_text, numeric_roles
from tamiz.validation import check_as, distinct_labels, taken_as_numbers, task_of

MOST_LEVELS = 1 << 16  # a nominal column with more is of no use, and needs too much memory
MOST_CLASSES = 10_000


@dataclass
class TextLevels:
    """Levels of a column of text, as far as it was read."""

    name: str
    place: dict[str, int] = field(default_factory=dict)
    n_there: int = 0
    declared: bool = False
    date: bool = False
    full: bool = False  # too many levels; no more are taken in
    mixed: set[str] = field(default_factory=set)  # levels of batches with numbers among the text
    alone: set[str] = field(default_factory=set)  # levels of the others

    def update(self, column: Column, rows: np.ndarray | None) -> None:
        """Take in the cells of some rows."""
        assert column.codes is not None
        codes = column.codes if rows is None else column.codes[rows]
        self.declared, self.date = column.declared, column.date
        there = codes[codes >= 0]
        self.n_there += len(there)
        if self.full:
            return
        used = np.bincount(there, minlength=len(column.levels)) > 0
        for k, level in enumerate(column.levels):
            if used[k] or self.declared:
                self.place.setdefault(level, len(self.place))
                (self.mixed if column.mixed else self.alone).add(level)
        self.refuse_confused()
        self.full = len(self.place) > MOST_LEVELS

    def join(self, other: TextLevels) -> None:
        """Take in what was seen in the rows that follow."""
        if other.n_there or other.place:
            self.declared, self.date = other.declared, other.date
        self.n_there += other.n_there
        for level in other.place:
            if len(self.place) > MOST_LEVELS:
                break
            self.place.setdefault(level, len(self.place))
        self.mixed |= other.mixed
        self.alone |= other.alone
        self.refuse_confused()
        self.full = self.full or other.full or len(self.place) > MOST_LEVELS

    def refuse_confused(self) -> None:
        """Say so if a level stands for different cells in different batches."""
        level = confused(self.alone, self.mixed) if self.mixed else None
        if level is not None:
            raise DataError(
                f"Column {self.name!r} mixes numbers and text, and {level!r} does not mean the "
                "same in all batches: text in one, a number or a truth value in another. Write it "
                "alike in all, for instance as text."
            )

    def role(self) -> str:
        """categorical, constant, id, text, date or empty."""
        if self.full and not self.declared:
            return "text"
        levels = self.levels()
        column = Column(self.name, None, None, levels, self.declared, self.date)
        return judge_text(column, len(levels), self.n_there)

    def levels(self) -> list[str]:
        """Sorted, unless the file gave an order."""
        return list(self.place) if self.declared else sorted(self.place)


@dataclass
class NumberLevels:
    """Distinct values of a column of numbers."""

    name: str
    most: int
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    n_there: int = 0
    full: bool = False

    def update(self, values: np.ndarray) -> None:
        """Take in some cells."""
        values = values[~np.isnan(values)]
        self.n_there += len(values)
        if not self.full:
            self.values = np.union1d(self.values, values)
            self.full = len(self.values) > self.most

    def join(self, other: NumberLevels) -> None:
        """Take in what was seen in the rows that follow."""
        self.n_there += other.n_there
        self.values = np.union1d(self.values, other.values)
        self.full = self.full or other.full or len(self.values) > self.most

    def task(self, shown: str) -> str:
        """Whether these values of a target are labels or numbers."""
        task = "regression" if self.full else task_of(self.values, self.n_there)
        what = f"{shown}: the target {self.name!r}"
        words = taken_as_numbers(what, self.values, self.n_there, self.most if self.full else None)
        if task == "regression" and words:
            warnings.warn(words, DataWarning, stacklevel=2)
        return task


@dataclass
class Ascending:
    """Whether integers ascend without a missing value, as those of an identifier do."""

    first: float = np.inf
    last: float = -np.inf
    still: bool = True

    def update(self, values: np.ndarray) -> None:
        """Take in the next cells."""
        if len(values) and self.first == np.inf:
            self.first = float(values[0])
        if self.still and len(values):
            whole = bool((values == np.floor(values)).all())  # NaN is not equal to itself
            grows = bool((np.diff(values) > 0).all()) and bool(values[0] > self.last)
            self.still = whole and grows
            self.last = float(values[-1])

    def join(self, other: Ascending) -> None:
        """Take in what was seen in the rows that follow."""
        if other.first == np.inf and other.still:  # no cells
            return
        self.still = self.still and other.still and other.first > self.last
        self.first, self.last = min(self.first, other.first), other.last


class Survey:
    """Levels, classes and rows of the tables that were shown to it.

    Parameters
    ----------
    target : str or None
        Name of the target.
    texts, numbers : sequences of str
        Nominal columns that hold text and that hold numbers.
    """

    def __init__(self, target: str | None, texts: list[str], numbers: list[str]):
        self.target = target
        self.texts = {name: TextLevels(name) for name in texts}
        self.numbers = {name: NumberLevels(name, MOST_LEVELS) for name in numbers}
        self.text_target: TextLevels | None = None
        self.number_target: NumberLevels | None = None
        self.n_read = self.n_missing = 0
        self._watched: dict[str, Ascending] = {}

    def watch(self, names: list[str]) -> None:
        """Look whether these columns ascend throughout."""
        self._watched = {name: Ascending() for name in names}

    def still_ascends(self, name: str) -> bool:
        """Whether a watched column did."""
        return self._watched[name].still

    def update(self, table: RawTable) -> None:
        """Take in a table."""
        self.n_read += table.n_rows
        by_name = {column.name: column for column in table.columns}
        rows = None
        if self.target is not None:
            rows = self._update_target(by_name[self.target])
        for name, column in by_name.items():
            if name != self.target and column.codes is not None:
                self.texts.setdefault(name, TextLevels(name)).update(column, rows)
        seen: list[tuple[str, NumberLevels | Ascending]] = [*self.numbers.items()]
        for name, levels in [*seen, *self._watched.items()]:
            if name in by_name:
                values = by_name[name].values
            elif name in table.matrix_names:
                values = table.matrix[:, table.matrix_names.index(name)]
            else:
                continue  # reported when the batch is made
            if values is not None:
                levels.update(values if rows is None else values[rows])

    def blank(self) -> Survey:
        """A survey that looks for the same and has seen nothing."""
        made = Survey(self.target, list(self.texts), list(self.numbers))
        made.watch(list(self._watched))
        return made

    def join(self, other: Survey) -> None:
        """Take in what another survey saw in the rows that follow."""
        self.n_read += other.n_read
        self.n_missing += other.n_missing
        for name, text in other.texts.items():
            self.texts.setdefault(name, TextLevels(name)).join(text)
        for name, number in other.numbers.items():
            self.numbers[name].join(number)
        for name, span in other._watched.items():
            self._watched[name].join(span)
        if other.text_target is not None:
            self.text_target = self.text_target or TextLevels(other.text_target.name)
            self.text_target.join(other.text_target)
        if other.number_target is not None:
            self.number_target = self.number_target or NumberLevels(
                other.number_target.name, MOST_CLASSES
            )
            self.number_target.join(other.number_target)

    def _update_target(self, column: Column) -> np.ndarray | None:
        """Take in the target; return the rows that have one (None: all)."""
        missing = column.missing()
        rows = np.flatnonzero(~missing) if missing.any() else None
        self.n_missing += int(missing.sum())
        if column.codes is not None:
            self.text_target = self.text_target or TextLevels(column.name)
            used = Column(column.name, None, column.codes, column.levels)  # no class without rows
            self.text_target.update(used, rows)
        else:
            if self.number_target is None:
                self.number_target = NumberLevels(column.name, MOST_CLASSES)
            self.number_target.update(column.numbers())
        return rows

    def judge_target(self, task: str | None, shown: str) -> tuple[str | None, np.ndarray | None]:
        """The task, and the sorted classes of a classification."""
        if self.target is None:
            return None, None
        text, number = self.text_target, self.number_target
        if not ((text and text.n_there) or (number and number.n_there)):
            raise DataError(
                f"{shown}: the target {self.target!r} is missing in every row; name another "
                "column with target=."
            )
        if text is not None and number is not None:
            raise DataError(
                f"{shown}: the target {self.target!r} holds text such as {next(iter(text.place))!r}"
                " in some batches and numbers in others; write it alike in all."
            )
        if text is not None:
            if task == "regression":
                raise DataError(
                    f"{shown}: the target {self.target!r} holds text such as "
                    f"{text.levels()[0]!r}; a regression needs numbers. Use task='classification', "
                    "or another target."
                )
            self._refuse_many(text.full, len(text.place), MOST_LEVELS, shown)
            used = sorted(text.place)
            return "classification", np.array(used)
        assert number is not None
        if task is None:
            task = number.task(shown)
        if task == "regression":
            return task, None
        self._refuse_many(number.full, len(number.values), MOST_CLASSES, shown)
        return task, plain_labels(number.values)

    def _refuse_many(self, full: bool, found: int, most: int, shown: str) -> None:
        if full:
            raise DataError(
                f"{shown}: the target {self.target!r} has more than {most:,} classes; use "
                "task='regression' for a numeric target, or another target."
            )


def plain_labels(values: np.ndarray) -> np.ndarray:
    """Sorted labels, as integers if they are."""
    values = np.unique(np.asarray(values))
    small = values.dtype.kind == "f" and bool((np.abs(values) < 2.0**53).all())
    whole = small and bool((values == np.floor(values)).all())
    return values.astype(np.int64) if whole else values


def given_classes(classes: object) -> np.ndarray:
    """The labels that the user announces, sorted."""
    labels: np.ndarray = check_as(DataError, distinct_labels, "classes", classes)
    if labels.dtype.kind == "b":
        labels = labels.astype(np.int64)
    return plain_labels(labels) if labels.dtype.kind == "f" else labels


# ------------------------------------------------------------ what the columns are, at first


def given_roles(
    roles: Mapping[Any, str] | None,
    categorical_features: Any,
    plan: ColumnPlan,
    names: list[str],
    shown: str,
) -> dict[str, str]:
    """Roles that the user gives, by name of the column."""
    given: dict[str, str] = {}
    if roles:
        found = find_columns(names, list(roles), "roles", shown)
        given.update(zip(found, roles.values(), strict=True))
    if categorical_features is None:
        return given
    nominal = categorical_features
    mask = np.asarray(nominal)
    if mask.dtype == bool:
        if mask.shape != (len(plan.features),):
            raise DataError(
                f"categorical_features is a mask of shape {mask.shape}; {shown} has "
                f"{len(plan.features)} features."
            )
        nominal = [plan.features[j] for j in np.flatnonzero(mask)]
    found = find_columns(names, nominal, "categorical_features", shown)
    if plan.target in found:
        raise DataError(
            f"categorical_features names {plan.target!r}, which is the target; leave it out."
        )
    given.update(dict.fromkeys(found, "categorical"))
    return given


def first_roles(
    look: RawTable, plan: ColumnPlan, given: dict[str, str], guess: bool
) -> dict[str, str]:
    """Roles of features that are known from the first table: given ones, dates, identifiers."""
    roles = {name: role for name, role in given.items() if name in plan.features}
    for column in look.columns:
        if column.date and column.name in plan.features and column.name not in given:
            if not guess:
                raise DataError(
                    f"{look.source}: column {column.name!r} holds dates; turn it into a number, "
                    "for instance the days since a fixed date."
                )
            roles[column.name] = "date"
    if not guess or sparse.issparse(look.matrix):
        return roles
    judged: dict[str, str] = {}
    if look.matrix is not None:
        found = numeric_roles(look.matrix, look.matrix_names)
        judged.update(zip(look.matrix_names, found, strict=True))
    for column in look.columns:
        if column.values is not None:
            judged[column.name] = numeric_roles(column.values[:, None], [column.name])[0]
    for name in plan.features:
        if judged.get(name) == "id" and name not in roles:
            roles[name] = "id"
    return roles


def with_target(look: RawTable, target: str | None) -> RawTable:
    """The rows that have a target, which are those that count; all if none has."""
    column = next((c for c in look.columns if c.name == target), None)
    if column is None or not (missing := column.missing()).any() or missing.all():
        return look
    return look.take(np.flatnonzero(~missing))
