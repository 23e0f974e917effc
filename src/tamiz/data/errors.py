"""What goes wrong with data, said in one sentence."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from tamiz.display import frame_in_notebook, frames
from tamiz.runtime.progress import printable

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 480  # characters of an error ...
LONGEST_WARNING = 2000  # ... and of a warning, which may list columns
_LONG = re.compile(r"\S{81,}")


def sentence(text: object, most: int = LONGEST) -> str:
    """A message on one line, long cells and names in it clipped, nothing that moves a cursor.

    >>> text = sentence("column '" + "x" * 500 + "' is empty;\\nleave it out.")
    >>> len(text), text.endswith("xxx' is empty; leave it out.")
    (104, True)
    """
    line = printable(" ".join(str(text).split()) if "\n" in str(text) else str(text))
    if len(line) > most:
        line = _LONG.sub(lambda found: f"{found[0][:40]}…{found[0][-32:]}", line)
    if len(line) > most:
        line = f"{line[: most // 2]} … {line[3 - most // 2 :]}"
    return line


class DataError(ValueError):
    """A table that cannot be read or used; the message says which, where, and what to do."""

    def __init__(self, text: object) -> None:
        super().__init__(sentence(text))


class NoLabelColumn(DataError):
    """A file of labels has several columns, and which of them holds the labels is not known."""


class DataWarning(UserWarning):
    """A table that was read, with something in it that a person should look at."""

    def __init__(self, text: object) -> None:
        super().__init__(sentence(text, LONGEST_WARNING))


class Finding(NamedTuple):
    """Something about a table that a person, or a program, should look at.

    Attributes
    ----------
    code : str
        "leak", "groups" (columns that may say which rows belong together), "batches" (columns that
        are called like batches of a measurement), "single_rows" (a column of groups in which nearly
        no rows belong together), "id", "text", "date", "empty", "duplicate",
        "constant", "skew" (a rare class), "rows_dropped", "transposed", "codes" (integers that may
        stand for categories), "names" or "encoding" (of the file); of a study also
        "few_rows" (of a class) and "drift" (features that change over time).
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

    def to_frame(self) -> pd.DataFrame:
        """One row: the code, the columns, and the sentence."""
        return frames().DataFrame([self.to_dict() | {"columns": ", ".join(self.columns)}])

    def _repr_html_(self) -> str | None:
        return frame_in_notebook(f"Finding: {self.code}", self.to_frame)


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


def endless(shown: str, line: int, n_bytes: int) -> str:
    """The sentence about a line that is too long to be a row."""
    return (
        f"{shown}, line {line}: the line does not end within {n_bytes >> 20:,} MiB; it is no table "
        "of rows, or its line ends are missing."
    )
