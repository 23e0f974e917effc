"""Columns of Python values that mix numbers and text: which cells are one level."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from tamiz.data.column import plain_number

_TRUTHS = (bool, np.bool_)
_NUMBERS = (Real, Decimal, np.bool_)


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

    What is quoted, and what truth values are called, depends on the cells beside them. Of truth
    values that are called by their names in one batch and numbers in the next, the name is told.
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
    except OverflowError:  # a whole number of more than 308 digits
        return str(number)
    return plain_number(value) if value == number else str(number)


def _quoted(text: str, spelled: Collection[str] = ()) -> str:
    """Text that could be taken for a number, or for such text in quotes, in quotes."""
    try:
        doubtful = plain_number(float(text)) == text
    except ValueError:
        doubtful = text in ("True", "False") or text[:1] in ("'", '"')
    return repr(text) if doubtful or text in spelled else text
