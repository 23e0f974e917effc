"""``tamiz rank`` on a file that is read in batches: when, how, and the notes about it.

Methods that need numbers get nominal columns as columns of zeros and ones, batch by batch. The
columns and their names are those of :meth:`tamiz.data.Dataset.encode`, so that a method that
needs numbers ranks the same features whether the table is in memory or not.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tamiz.cli.console import UsageProblem, warnings_into
from tamiz.cli.rank import make_selector
from tamiz.data.column import plain_number
from tamiz.data.dataset import MISSING
from tamiz.data.errors import listed
from tamiz.data.formats.base import rows_per_batch
from tamiz.scale import Batch, Batches, sweep

if TYPE_CHECKING:
    from tamiz.cli.rank import Request
    from tamiz.evaluation.methods import Method


def wants_stream(asked: bool | None, data: str, method: Method, rows: int | None) -> bool:
    """Whether to stream: as asked, else if the file would take too large a fraction of the memory.

    A method that cannot stream is refused, with those that can.
    """
    if asked is False or (asked is None and rows is not None):
        return False
    if asked is None:
        from tamiz.data.errors import DataError
        from tamiz.scale import is_large

        try:
            large = is_large(data)
        except (DataError, OSError, ImportError):  # reading it will say what is wrong
            large = False
        if not large:
            return False
    from tamiz.data import available

    if not Path(data).expanduser().exists() and data in set(available()):
        raise UsageProblem(
            f"--stream reads files in batches, and {data} is a data set known by name; leave "
            "--stream out."
        )
    if rows is not None:
        raise UsageProblem("--rows reads the first rows only, and --stream all; use one of them.")
    if not hasattr(method.cls, "fit_stream"):
        why = "" if asked else f" {data} is large compared with the free memory, and"
        raise UsageProblem(
            f"{why[1:]}{' ' if why else ''}{method.name} needs all rows in memory. Methods that "
            f"read a file in batches: {', '.join(streaming_methods())}. "
            "--no-stream reads it as a whole anyway."
        )
    return True


def streaming_methods() -> list[str]:
    """Names of the methods that can stream."""
    from tamiz.evaluation.methods import METHODS

    return [name for name, method in METHODS.items() if hasattr(method.cls, "fit_stream")]


def open_table(
    data: str, target: Any, method: Method, *, verbose: int, **options: Any
) -> tuple[Batches, list[str]]:
    """The file in batches, and what was noticed in the first pass over it.

    Categories become indicators for methods that need numbers, as they do in memory.
    """
    from tamiz.cli.console import tell_once
    from tamiz.scale import batches

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = batches(data, target, verbose=verbose, **options).survey()
    if table.schema.task is None:
        raise UsageProblem(f"{data} has no target; name one with --target COLUMN.")
    alarms = [str(one.message) for one in caught]
    for alarm in alarms if verbose else []:  # before hours of reading, and not after
        tell_once(alarm)
    notes = [*table.notes, *alarms]
    if table.schema.categories and not method.categorical:
        table = Indicators(table, verbose=verbose)
        notes.append(table.note)
    return table, notes


def fit_streamed(table: Batches, asked: Request) -> tuple[Any, list[str], list[str]]:
    """The method fitted to the batches, notes on how, and those of them that are warnings.

    Machines standardise a stream themselves; nothing else scales one.

    Missing values are not looked for: a method that needs all values stops at the first one, and
    begins again with medians in their place.
    """
    from tamiz.validation import MissingValuesError

    method, scale, schema = asked.method, asked.scale, table.schema
    p = schema.n_features
    selector = make_selector(asked, schema.task, p)
    own = selector.get_params()
    verbose = asked.wanted["verbose"]
    options: dict[str, Any] = {"verbose": verbose}
    if not method.unit_free:
        if scale == "minmax":
            raise UsageProblem(
                f"--scale minmax needs all rows in memory; {method.name} takes standard or none "
                "in a stream, or use --no-stream."
            )
        options = {"standardize": scale == "standard"}
    passes = getattr(table, "n_passes", 0)
    filling: list[str] = []
    warned: list[str] = []
    with warnings_into(warned), named_columns(schema.names):
        try:
            selector.fit_stream(table, **options)
        except MissingValuesError:
            filled, more, filling = _fill(table, verbose)
            passes += more
            selector.fit_stream(filled, **options)
    if schema.categories and "categorical_features" in own:
        selector.selection_.params["categorical_features"] = schema.categorical.tolist()
    n, passes = table.n_rows or 0, passes + selector.n_passes_
    times = "once" if passes == 1 else f"{passes} times"
    notes = [f"the table was read in batches: its {n:,} rows were read {times}."]
    if method.unit_free and scale is not None:
        notes.append(
            "the features were not scaled: filters read a stream as it is, and their default "
            "scores do not depend on units."
        )
    if hasattr(table, "note"):
        notes.append(
            f"categories were turned into indicators, since {method.name} works with numbers; "
            f"there are {p:,} features now."
        )
    notes += filling
    made = selector.selection_.notes
    notes += [f"{made[key]}." for key in ("cuts", "sample") if key in made]
    if made.get("widest_bounds"):
        notes.append(
            f"scores are the middle of bounds, at most {made['widest_bounds']:.2g} apart, that the "
            "scores of all rows lie between."
        )
    warned = [text for text in warned if text not in notes]
    return selector, notes + warned, warned


@contextmanager
def named_columns(names: Sequence[str]) -> Iterator[None]:
    """Errors that number a column name it: a file shows no numbers."""

    def name(match: re.Match[str]) -> str:
        j = int(match[1])
        return f"(column {names[j]!r})" if j < len(names) else match[0]

    try:
        yield
    except ValueError as error:
        text = re.sub(r"\(column (\d+)\)", name, str(error))
        if text == str(error):
            raise
        raise ValueError(f"{text} Or leave it out with drop=.") from error


def _fill(table: Batches, verbose: int) -> tuple[Batches, int, list[str]]:
    """The table with medians for missing values, how often it was read for that, and notes."""
    inner = table.table if isinstance(table, Indicators) else table
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filled = inner.filled("median", verbose=verbose)
    passes = filled.n_passes
    notes = [
        f"{filled.n_filled:,} missing values were filled with medians, which took {passes} "
        f"{'reading' if passes == 1 else 'readings'} to find."
    ]
    notes += [str(one.message) for one in caught]
    if isinstance(table, Indicators):
        made = copy.copy(table)
        made.table = filled
        return made, passes, notes
    return filled, passes, notes


# --------------------------------------------------------------------------------------- indicators


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
