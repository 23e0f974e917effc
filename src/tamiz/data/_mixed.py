"""Columns of Python values that mix numbers and text: which cells are one level."""

from __future__ import annotations

from collections.abc import Sequence
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
    another one: where numbers stand among text, text that reads as a number is put in quotes.
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
    return [
        None
        if cell is None
        else names[cell]
        if isinstance(cell, _NUMBERS)
        else _quoted_if_number(str(cell))
        for cell in cells
    ]


def _spelled(number: Any) -> str:
    """One text for all numbers that are equal."""
    try:
        value = float(number)
    except OverflowError:  # a whole number of more than 308 digits
        return str(number)
    return plain_number(value) if value == number else str(number)


def _quoted_if_number(text: str) -> str:
    try:
        like_a_number = plain_number(float(text)) == text
    except ValueError:
        like_a_number = text in ("True", "False")
    return repr(text) if like_a_number else text
