"""What the program says: results on standard output, everything else on standard error.

Sentences of the library are put into the words of the command line, and what went wrong ends the
program with the exit code that says whose fault it is.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from tamiz.runtime.progress import printable

if TYPE_CHECKING:
    from tamiz.data import Dataset

_OPTIONS = {
    **{name: f"--{name}" for name in ("target", "columns", "drop", "keep", "task")},
    **{name: f"--{name}" for name in ("groups", "time", "weights", "labels")},
    **{name: f"--{name}" for name in ("decimal", "encoding", "missing")},
    **{"format": "--format", "separator": "--sep", "nrows": "--rows"},
    **{name: f"--{name}" for name in ("cv", "gap", "scale", "scoring", "sizes", "repeats")},
    **{"time_budget": "--time-budget", "class_weight": "--class-weight", "n_jobs": "--jobs"},
    **{name: f"--{name}" for name in ("permutations", "fdr", "adjust")},
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
    >>> as_options("nrows=0 must be an integer from 1, or None.")
    '--rows 0 must be an integer from 1.'
    """
    text = text.replace(", or None.", ".")  # which is an option that is left out
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


# ----------------------------------------------------------------------------------------- problems


class Problem(Exception):
    """An error that is reported in one line."""

    exit_code = 1


class CutShort(Exception):
    """A run was stopped, and what it had was shown; only the exit code is left to say."""


@contextmanager
def after_the_answer(what: str, then: str | None = None) -> Iterator[None]:
    """A file is made when all has been shown: what Ctrl-C ends is the file and not the run.

    ``then`` is what would have been made after it, and is not either.
    """
    try:
        yield
    except KeyboardInterrupt:
        none = "there is none" if then is None else f"there is none, and no {then}"
        tell(f"interrupted while the {what} was made; {none}.")
        raise CutShort from None


class UsageProblem(Problem):
    """Wrong usage, or input that cannot be read."""

    exit_code = 2


@contextmanager
def usage() -> Iterator[None]:
    """Whatever is refused inside is wrong usage or unreadable input."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise UsageProblem(as_options(own_words(error))) from error


def own_words(error: Exception) -> str:
    """The sentence of an error, without the number that Python puts before an OSError's.

    >>> own_words(OSError(28, "cannot write 'm.tamiz': the disk is full."))
    "cannot write 'm.tamiz': the disk is full."
    """
    sentence = isinstance(error, OSError) and error.filename is None and error.strerror
    return str(sentence or error)


# ------------------------------------------------------------------------------------------- output


def write_out(path: str, content: bytes | Callable[[IO[bytes]], Any], what: str) -> None:
    """Write a file that was asked for; one that cannot be written is no wrong usage."""
    from tamiz.runtime.checkpoint import write_whole

    try:
        write_whole(path, content)
    except OSError as error:
        raise Problem(
            f"the {what} cannot be written to {path!r} ({error.strerror or error}); a file that "
            "was there before is unchanged."
        ) from None


def say(text: str = "") -> None:
    """A line of the result; what stands in files must not command a terminal."""
    with open_pipe():
        sys.stdout.write((printable(text) if sys.stdout.isatty() else text) + "\n")


def flush() -> None:
    """Write out what was said so far."""
    with open_pipe():
        sys.stdout.flush()


@contextmanager
def open_pipe() -> Iterator[None]:
    """Go on in silence if the reader of a pipe has left: files may still have to be written."""
    try:
        yield
    except OSError as error:
        # what is still buffered must not be written to the closed pipe when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno in (errno.EPIPE, errno.EINVAL):  # the latter on Windows
            return
        raise Problem(  # a full disk
            f"standard output cannot be written ({error.strerror or error}); what is there is not "
            "complete."
        ) from None


def tell(text: str) -> None:
    """A line beside the result; nobody may be left to read it, and files still to be written."""
    if sys.stderr is None:  # closed before Python began
        return
    try:
        sys.stderr.write(f"tamiz: {printable(' '.join(text.split()))}\n")
        sys.stderr.flush()
    except OSError:  # the reader has left (EPIPE, on Windows EINVAL), or the disk is full
        with suppress(OSError):  # a stream without a descriptor
            # what is still buffered must not change the exit code when Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def say_json(document: Any) -> None:
    """One JSON document; JSON knows no NaN and no infinity."""
    plain = (sys.stdout.encoding or "utf-8").lower().replace("-", "") != "utf8"
    say(json.dumps(_finite(document), indent=2, ensure_ascii=plain, allow_nan=False))


def tolerate_encoding() -> None:
    """Signs that a terminal or a pipe cannot show become question marks, not an error.

    A stream that was closed before Python began, or that a program without a console never had,
    takes everything in silence.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[int] = ()) -> None:
    """A table: with rules and bold heads in a terminal, plain and uncut elsewhere."""
    texts = [[printable(str(cell)) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from rich import box
        from rich.console import Console
        from rich.table import Table

        drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for k, name in enumerate(columns):
            drawn.add_column(name, justify="right" if k in right else "left", overflow="fold")
        for row in texts:
            drawn.add_row(*[cell.replace("[", r"\[") for cell in row])
        with open_pipe():
            Console(file=sys.stdout).print(drawn)
        return
    from tamiz.display import text_table  # with NumPy, which --help does without

    for line in text_table(columns, texts, right=right):
        say(line)


def number(value: float | None, digits: int = 4) -> str:
    """A number in few digits."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.{digits}g}"


def percent(value: float | None, digits: int = 1) -> str:
    """A fraction in per cent."""
    return "–" if value is None or not math.isfinite(value) else f"{100 * value:.{digits}f} %"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def command_line() -> str:
    """The command as it was typed, fit for the shell of this system."""
    words = ["tamiz", *sys.argv[1:]]
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline(words)
    return shlex.join(words)
