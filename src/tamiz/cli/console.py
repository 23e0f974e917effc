"""What the program prints: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tamiz.cli.problems import Problem
from tamiz.display.tables import text_table


def say(text: str = "") -> None:
    """A line of the result."""
    with open_pipe():
        sys.stdout.write(text + "\n")


def flush() -> None:
    """Write out what was said so far."""
    with open_pipe():
        sys.stdout.flush()


@contextmanager
def open_pipe() -> Iterator[None]:
    """Go on in silence if the reader of a pipe has left: files may still have to be written."""
    try:
        yield
    except BrokenPipeError:
        # what is still buffered must not be written to the closed pipe when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # a full disk
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Problem(
            f"standard output cannot be written ({error.strerror or error}); what is there is not "
            "complete."
        ) from None


def tell(text: str) -> None:
    """A line beside the result."""
    sys.stderr.write(f"tamiz: {' '.join(text.split())}\n")
    sys.stderr.flush()


def say_json(document: Any) -> None:
    """One JSON document; JSON knows no NaN and no infinity."""
    plain = (sys.stdout.encoding or "utf-8").lower().replace("-", "") != "utf8"
    say(json.dumps(_finite(document), indent=2, ensure_ascii=plain, allow_nan=False))


def tolerate_encoding() -> None:
    """Signs that a terminal or a pipe cannot show become question marks, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[int] = ()) -> None:
    """A table: with rules and bold heads in a terminal, plain and uncut elsewhere."""
    texts = [[str(cell) for cell in row] for row in rows]
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
    """The command as it was typed, fit for a shell."""
    import shlex

    return shlex.join(["tamiz", *sys.argv[1:]])
