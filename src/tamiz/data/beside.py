"""What stands beside the features, an entry for each row: groups, weights, and when rows were."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence

import numpy as np

from tamiz.data.column import Column, plain_number
from tamiz.data.errors import DataError

#: A column with more different dates is not read unless it is asked for: it would take seconds.
MOST_DATES = 200_000

#: Year, month, day; or two numbers and the year; with or without a time of the day.
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?:[T ](.+))?")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[T ](.+))?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*(?:Z|([+-])(\d{2}):?(\d{2}))?")


def read_beside(key: str, column: Column, rows: np.ndarray | None, source: str) -> np.ndarray:
    """Groups, weights or times of the rows."""
    column = column if rows is None else column.take(rows)
    gone = int(column.missing().sum())
    if gone:
        raise DataError(
            f"{source}: column {column.name!r} has no value in {gone} of {len(column)} rows, and "
            f"{key}= needs one for each; fill them, or leave these rows out."
        )
    if key == "groups":
        values = column.numbers()
        whole = not column.is_text and (values == np.floor(values)).all()
        return values.astype(np.int64) if whole else np.array(column.objects().tolist())
    if key == "time":
        return read_times(column, source)
    values = column.numbers()
    if column.is_text or not np.isfinite(values).all() or not (values > 0).all():
        bad = column.levels[0] if column.is_text else plain_number(values[~(values > 0)][:1].sum())
        raise DataError(
            f"{source}: weights= needs positive numbers, and column {column.name!r} holds {bad!r}; "
            "name another column."
        )
    return np.array(values)


def read_times(column: Column, source: str) -> np.ndarray:
    """When the rows were: numbers as they are, dates as seconds."""
    if not column.is_text:
        values = np.array(column.numbers())
        if np.isfinite(values).all():
            return values
        raise DataError(f"{source}: time= needs finite numbers in column {column.name!r}.")
    assert column.codes is not None
    levels = [level.strip() for level in column.levels]
    pairs = [found.groups()[:2] for level in levels if (found := _YEAR_LAST.fullmatch(level))]
    day_first = any(int(a) > 12 for a, _ in pairs)
    month_first = any(int(b) > 12 for _, b in pairs)
    if pairs and day_first == month_first:
        raise DataError(
            f"{source}: dates such as {levels[int(column.codes[0])]!r} in column {column.name!r} "
            "can be read with the day or the month first; write them as 2024-12-31, for time=."
        )
    seconds = np.array([_seconds(level, day_first) for level in levels])
    wrong = np.unique(column.codes[np.isnan(seconds[column.codes])])
    if len(wrong):
        raise DataError(
            f"{source}: time= needs numbers or dates such as 2024-12-31 in column "
            f"{column.name!r}, and {levels[int(wrong[0])]!r} is neither; name another column."
        )
    return seconds[column.codes]


def find_dates(
    dated: Sequence[str], texts: Mapping[str, Column]
) -> tuple[str | None, dict[str, np.ndarray]]:
    """The only column of dates that can be read without a doubt, and its ``dates``.

    None if there are several: which of a birth and a visit says when a row was, nobody can see
    from the cells. Cells without a value are not a time. Columns that hold times of the day only,
    one date only, or dates with the day and the month in an unknown order, are passed over.
    """
    found: list[tuple[str, np.ndarray]] = []
    for name in dated:
        if name not in texts:
            continue
        column = texts[name]
        if len(column.levels) > MOST_DATES:
            return None, {}  # not read, and so nobody knows whether it is one of several
        assert column.codes is not None
        there = column.codes >= 0
        try:
            seconds = read_times(column.take(np.flatnonzero(there)), name)
        except DataError:
            continue
        if len(np.unique(seconds)) < 2:
            continue
        dates = np.full(len(there), np.datetime64("NaT"), dtype="datetime64[s]")
        dates[there] = as_dates(seconds)
        found.append((name, dates))
    if len(found) != 1:
        return None, {}
    return found[0][0], {"dates": found[0][1]}


def as_dates(seconds: np.ndarray) -> np.ndarray:
    """Seconds since 1970 as dates."""
    return np.floor(seconds).astype("datetime64[s]")


def _seconds(text: str, day_first: bool) -> float:
    """Seconds since 1970 of a date, a time of the day if it has one; NaN if it is none."""
    found, last = _YEAR_FIRST.fullmatch(text), _YEAR_LAST.fullmatch(text)
    if found is not None:
        year, month, day, clock = found.groups()
    elif last is not None:
        first, second, year, clock = last.groups()
        day, month = (first, second) if day_first else (second, first)
    else:
        return np.nan
    try:
        moment = datetime.datetime(int(year), int(month), int(day or 1), tzinfo=datetime.UTC)
    except ValueError:
        return np.nan
    if clock is None:
        return moment.timestamp()
    part = _CLOCK.fullmatch(clock.strip())
    if part is None:
        return np.nan
    hours, minutes, rest, sign, ahead, minutes_ahead = part.groups()
    passed = 3600 * int(hours) + 60 * int(minutes) + float(rest or 0)
    offset = 3600 * int(ahead or 0) + 60 * int(minutes_ahead or 0)
    return moment.timestamp() + passed - (-offset if sign == "-" else offset)
