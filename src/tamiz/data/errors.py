"""What goes wrong with data, said in one sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, NamedTuple


class DataError(ValueError):
    """A table that cannot be read or used; the message says which, where, and what to do."""


class NoLabelColumn(DataError):
    """A file of labels has several columns, and which of them holds the labels is not known."""


class DataWarning(UserWarning):
    """A table that was read, with something in it that a person should look at."""


class Finding(NamedTuple):
    """Something about a table that a person, or a program, should look at.

    Attributes
    ----------
    code : str
        "leak", "groups" (columns that may say which rows belong together), "id", "text", "date",
        "empty", "duplicate", "constant", "skew" (a rare class), "rows_dropped", "transposed",
        "codes" (integers that may stand for categories), "names" or "encoding" (of the file).
    columns : tuple of str
        Columns concerned, as the file calls them.
    text : str
        A sentence.
    """

    code: str
    columns: tuple[str, ...]
    text: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON writes it."""
        return {"code": self.code, "columns": list(self.columns), "text": self.text}


def near(name: str, known: Iterable[str], most: int = 3) -> str:
    """`` Did you mean ...?`` with the names most like ``name``; empty if none is like it."""
    lower = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(str(name).lower(), list(lower), n=most, cutoff=0.6)
    if not found:
        return ""
    return f" Did you mean {' or '.join(repr(lower[key]) for key in found)}?"


def listed(names: Iterable[object], most: int = 5) -> str:
    """The first few of a list of names, and how many more there are."""
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def ragged(shown: str, line: int, found: int, width: int) -> str:
    """The sentence about a row with too many or too few cells."""
    return (
        f"{shown}, line {line}: {found} fields where {width} are expected; put text that holds the "
        "separator in quotation marks, or name the separator with separator=."
    )


def holds_zeros(shown: str, line: int) -> str:
    """The sentence about bytes of value zero, which no text holds."""
    return (
        f"{shown}, line {line}: there are zero bytes here, which no text holds; the file is "
        "damaged, or cut short while it was written. Fetch or write it again."
    )


def damaged(shown: str, error: BaseException, what: str = "", remedy: str = "write") -> str:
    """The sentence about a file that some library could not read to its end."""
    words = " ".join(str(error).split()).rstrip(".")[:100] or type(error).__name__
    return f"{shown} is {what}damaged or cut short ({words}); {remedy} it again."


def unclosed(shown: str, line: int) -> str:
    """The sentence about a quotation mark without its partner."""
    return (
        f"{shown}, line {line}: a quotation mark is opened in this row and never closed; close it, "
        "or remove it."
    )
