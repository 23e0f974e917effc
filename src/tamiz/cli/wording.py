"""Sentences of the library in the words of the command line."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamiz.data import Dataset

_OPTIONS = {
    **{name: f"--{name}" for name in ("target", "columns", "drop", "keep", "task", "groups")},
    **{name: f"--{name}" for name in ("weights", "labels", "decimal", "encoding", "missing")},
    **{"format": "--format", "separator": "--sep", "nrows": "--rows"},
}
_FLAGS = {
    "transpose=True": "--transpose",
    "header=True": "--header",
    "header=False": "--no-header",
}
_ROLES = re.compile(r"\broles=\{'([^']*)': '(\w+)'\}( or '(\w+)')?")
# not inside a name or a quotation: a column may be called 'target=1'
_ARGUMENT = re.compile(rf"(?<![\w'\"=-])({'|'.join(_OPTIONS)})=(?:\.\.\.)?(?=(\S?))")
_FLAG = re.compile(rf"(?<![\w'\"=-])({'|'.join(_FLAGS)})\b")

_said: set[str] = set()


def as_options(text: str) -> str:
    """Arguments of the library as the options that stand for them.

    >>> as_options("leave them out with drop=.")
    'leave them out with --drop.'
    >>> as_options("say roles={'zip': 'categorical'}.")
    'say --role zip=categorical.'
    """
    text = _FLAG.sub(lambda match: _FLAGS[match[1]], text)
    return _ARGUMENT.sub(_option, _ROLES.sub(_role, text))


def _role(match: re.Match[str]) -> str:
    name, role, _, other = match.groups()
    shown = f"--role {shlex.quote(f'{name}={role}')}"
    return f"{shown} or {shlex.quote(f'{name}={other}')}" if other else shown


def _option(match: re.Match[str]) -> str:
    name, after = match.groups()
    given = after.isalnum() or (after != "" and after in "'\"-[")
    return _OPTIONS[name] + (" " if given else "")


def tell_once(text: str) -> None:
    """A line on standard error, unless it was written already."""
    from tamiz.cli.console import tell

    line = as_options(text)
    if line not in _said:
        _said.add(line)
        tell(line)


@contextmanager
def warnings_into(notes: list[str]) -> Iterator[None]:
    """What the library warns of inside becomes a note, each once, in the words of options."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            others = [one for one in caught if not issubclass(one.category, UserWarning)]
            texts = [as_options(str(one.message)) for one in caught if one not in others]
            notes += [text for text in dict.fromkeys(texts) if text not in notes]
    for one in others:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def begin() -> None:
    """Start with another table: no line has been written about it."""
    _said.clear()


def tell_notes(data: Dataset, quiet: bool = False) -> None:
    """What was decided while the table was read, once it is known that the rest is in order."""
    for note in [] if quiet else data.notes:
        tell_once(note)
