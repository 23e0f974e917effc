"""What a worker of a cluster does with a piece of a table: survey it, or count it.

A piece is read by a reader, which knows what pieces are: partitions of a Dask collection, or
parts of files.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from tamiz.data.column import RawTable
from tamiz.data.errors import DataError
from tamiz.runtime.parallel import limit_threads
from tamiz.scale._conform import Conformer
from tamiz.scale._survey import MOST_LEVELS, Ascending, NumberLevels, Survey, TextLevels
from tamiz.scale.batch import Schema


class PieceReader(Protocol):
    """Makes tables of a piece."""

    def tables(self, piece: Any, rows: int | None) -> Iterator[RawTable]:
        """Tables of at most so many rows."""


@dataclass
class Work:
    """What all pieces of a pass need; sent once.

    Attributes
    ----------
    reader : PieceReader
        Of the pieces.
    rows : int or None
        Rows of a batch.
    schema, columns, as_numbers, gaps_allowed, remedy
        Of the :class:`Conformer`.
    make : callable
        From a batch to a statistic.
    """

    reader: PieceReader
    rows: int | None
    schema: Schema
    columns: list[str]
    as_numbers: set[str]
    gaps_allowed: bool
    remedy: str
    make: Callable[[Any], Any]


@dataclass
class CountedPieces:
    """The statistic of some pieces (None if they hold no rows), and their rows."""

    statistic: Any
    n_rows: int

    def merge(self, other: CountedPieces) -> CountedPieces:
        """Of both."""
        if self.statistic is None or other.statistic is None:
            statistic = other.statistic if self.statistic is None else self.statistic
        else:
            statistic = self.statistic.merge(other.statistic)
        return CountedPieces(statistic, self.n_rows + other.n_rows)


def count_piece(work: Work, piece: Any, first_row: int, index: int) -> CountedPieces:
    """The statistic of a piece whose first row and first batch have these numbers."""
    conformer = Conformer(
        work.schema, work.columns, work.as_numbers, work.gaps_allowed, work.remedy
    )
    conformer.first_row, conformer.index = first_row, index
    total: Any = None
    with limit_threads(1):
        stream = _read(work.reader, piece, work.rows)
        while True:
            try:
                table = next(stream, None)
            except DataError as error:
                raise DataError(f"In {conformer.where}: {error}") from None
            if table is None:
                return CountedPieces(total, conformer.n_rows)
            batch = conformer.make(table)
            del table
            if batch is not None:
                part = work.make(batch)
                total = part if total is None else total.merge(part)
            del batch


def _read(reader: PieceReader, piece: Any, rows: int | None) -> Iterator[RawTable]:
    try:
        yield from reader.tables(piece, rows)
    except FileNotFoundError as error:
        raise DataError(
            f"a worker of the cluster cannot find the file ({error}); every worker reads its own "
            "part of it, so it has to lie where all of them see it under the same path."
        ) from None


# ------------------------------------------------------------------------------------------ survey


@dataclass
class Spanning(Ascending):
    """Ascending numbers of a piece, of which the first is kept: pieces are joined later."""

    first: float = np.inf

    def update(self, values: np.ndarray) -> None:
        """Take in the next cells."""
        if len(values) and self.first == np.inf:
            self.first = float(values[0])
        super().update(values)

    def join(self, other: Spanning) -> None:
        """Take in what follows."""
        if other.first == np.inf and other.still:  # no cells
            return
        self.still = self.still and other.still and other.first > self.last
        self.first, self.last = min(self.first, other.first), other.last


@dataclass
class Surveyed:
    """The survey of some pieces that follow each other, and the rows of each piece."""

    survey: Survey
    n_read: list[int] = field(default_factory=list)

    def merge(self, other: Surveyed) -> Surveyed:
        """Of both."""
        survey = copy.deepcopy(self.survey)  # what a worker holds may be merged a second time
        join(survey, other.survey)
        return Surveyed(survey, [*self.n_read, *other.n_read])


def survey_piece(reader: PieceReader, rows: int | None, blank: Survey, piece: Any) -> Surveyed:
    """Show the tables of a piece to a survey."""
    survey = Survey(blank.target, list(blank.texts), list(blank.numbers))
    survey._watched = {name: Spanning() for name in blank._watched}
    with limit_threads(1):
        for table in _read(reader, piece, rows):
            survey.update(table)
    return Surveyed(survey, [survey.n_read])


def measure_piece(reader: PieceReader, rows: int | None, piece: Any) -> list[int]:
    """The number of rows of a piece, in a list."""
    with limit_threads(1):
        return [sum(table.n_rows for table in _read(reader, piece, rows))]


def join(survey: Survey, other: Survey) -> None:
    """Let a survey know what another one saw in the rows that follow."""
    survey.n_read += other.n_read
    survey.n_gaps += other.n_gaps
    for name, text in other.texts.items():
        _join_text(survey.texts.setdefault(name, TextLevels(name)), text)
    for name, number in other.numbers.items():
        _join_numbers(survey.numbers[name], number)
    if other.text_target is not None:
        survey.text_target = survey.text_target or TextLevels(other.text_target.name)
        _join_text(survey.text_target, other.text_target)
    if other.number_target is not None:
        if survey.number_target is None:
            survey.number_target = other.number_target
        else:
            _join_numbers(survey.number_target, other.number_target)
    for name, span in other._watched.items():
        mine = survey._watched[name]
        if not isinstance(mine, Spanning):
            mine = survey._watched[name] = Spanning()
        assert isinstance(span, Spanning)
        mine.join(span)


def _join_text(mine: TextLevels, other: TextLevels) -> None:
    if other.n_there or other.place:
        mine.declared, mine.date = other.declared, other.date
    mine.n_there += other.n_there
    for level in other.place:
        if len(mine.place) > MOST_LEVELS:
            break
        mine.place.setdefault(level, len(mine.place))
    mine.mixed |= other.mixed
    mine.alone |= other.alone
    mine.refuse_confused()
    mine.full = mine.full or other.full or len(mine.place) > MOST_LEVELS


def _join_numbers(mine: NumberLevels, other: NumberLevels) -> None:
    mine.n_there += other.n_there
    mine.values = np.union1d(mine.values, other.values)
    mine.full = mine.full or other.full or len(mine.values) > mine.most
