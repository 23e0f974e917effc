"""The target of a table: labels or numbers, and the targets that make no sense."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tamiz.data.column import Column, RawTable, plain_number
from tamiz.data.errors import DataError
from tamiz.data.roles import judge_text

MANY = 0.8  # classes for each row, from which on they are no classes
FEW = 10  # classes of a column that looks like a target
LOOKED_AT = 1000  # columns that are looked at for a suggestion


def read_target(
    column: Column, task: str | None, source: str, notes: list[str]
) -> tuple[np.ndarray, list[str] | None, str]:
    """The target as labels or numbers, names of its classes, and the task."""
    if column.codes is not None:
        if task == "regression":
            raise DataError(
                f"{source}: the target {column.name!r} holds text such as {column.levels[0]!r}; a "
                "regression needs numbers. Use task='classification', or another target."
            )
        y = np.array(column.levels)[column.codes]
        classes = np.unique(y).tolist()
        return y, classes, "classification"
    values = column.numbers()
    if task is None:
        task = guess_task(values)
        distinct = len(np.unique(values))
        if task == "regression" and (values == np.floor(values)).all():
            notes.append(
                f"The target {column.name!r} holds {distinct} different integers: taken as "
                "numbers (task='classification' takes them as labels)."
            )
        elif task == "classification" and distinct > 10:
            notes.append(
                f"The target {column.name!r} holds {distinct} different integers: taken as "
                "labels (task='regression' takes them as numbers)."
            )
    if task == "regression":
        return np.array(values), None, task
    whole = (values == np.floor(values)).all() and (np.abs(values) < 2.0**53).all()
    y = values.astype(np.int64) if whole else np.array(values)
    return y, [plain_number(label) for label in np.unique(y)], task


def guess_task(values: np.ndarray) -> str:
    """A few integers, each seen several times, are labels; all else are numbers."""
    return task_of(np.unique(values), len(values))


def task_of(distinct: np.ndarray, n: int) -> str:
    """The task by the distinct values of a target of ``n`` rows."""
    if len(distinct) <= 2:
        return "classification"
    whole = np.isfinite(distinct).all() and (distinct == np.floor(distinct)).all()
    few = len(distinct) <= 20 and n >= 3 * len(distinct)
    return "classification" if whole and few else "regression"


def refuse_absurd(table: RawTable, column: Column, task: str | None, part: bool) -> None:
    """Refuse a target that nobody can predict, and name columns that look like one.

    Of a ``part`` of the rows one class may be all there is.
    """
    n = len(column)
    distinct = len(np.unique(column.numbers()))
    classes = column.is_text or task == "classification"
    role = judge_text(column, distinct, n) if column.is_text else "numeric"
    if distinct == 1 and n > 1 and not part:
        value = column.levels[int(column.codes[0])] if column.codes is not None else None
        shown = repr(value) if value is not None else plain_number(column.numbers()[0])
        why = f"has one value only, {shown}"
    elif role == "date" and distinct > 2:
        why = "holds dates or times"
    elif role == "id":
        why = "has a value of its own in every row, as an identifier has"
    elif role == "text" and distinct >= MANY * n:
        why = "holds free text"
    elif classes and n >= 10 and distinct >= MANY * n:
        why = f"has {distinct:,} classes in {n:,} rows"
    else:
        return
    turned = (
        " If each column is a sample, read the table with transpose=True."
        if column.is_text and _mostly_numbers(column)
        else ""
    )
    others = [
        f"{name!r} ({count} classes)" for name, count in _like_targets(table) if name != column.name
    ][:3]
    hint = f"; {', '.join(others)} {'looks' if len(others) == 1 else 'look'} like one"
    raise DataError(
        f"{table.source}: the target {column.name!r} {why}; name another with target="
        f"{hint if others else ''}.{turned}"
    )


def _mostly_numbers(column: Column) -> bool:
    """Whether the text is numbers with some words between, as in a transposed table."""
    found = 0
    for level in column.levels:
        try:
            float(level)
        except ValueError:
            continue
        found += 1
    return found >= 0.5 * len(column.levels)


def _like_targets(table: RawTable) -> Iterator[tuple[str, int]]:
    """Columns of few levels, or of few integers that return; and how many."""
    for column in table.columns[:LOOKED_AT]:
        values = column.numbers()
        distinct = np.unique(values[~np.isnan(values)])
        labels = column.is_text or task_of(distinct, len(values)) == "classification"
        if labels and 2 <= len(distinct) <= min(FEW, len(values) / 3):
            yield column.name, len(distinct)
