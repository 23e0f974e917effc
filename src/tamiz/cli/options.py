"""Options that commands share, and the data that they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamiz.cli.problems import UsageProblem, usage

if TYPE_CHECKING:
    from tamiz.data import Dataset

_READING = "How the file is read"
_RUNNING = "How it is run"
_OUTPUT = "What comes out"

Data = Annotated[str, typer.Argument(help="A file, or a name that 'tamiz datasets' lists.")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", help="Column to predict, by name or position (from 0; -1: last)."
    ),
]
Drop = Annotated[
    str | None, typer.Option(help="Columns to leave out, a,b,c.", rich_help_panel=_READING)
]
Role = Annotated[
    list[str] | None,
    typer.Option(
        help="What a column is, where the guess is wrong: NAME=numeric, categorical, id, ignore.",
        rich_help_panel=_READING,
    ),
]
Task = Annotated[
    str | None,
    typer.Option(help="classification or regression; guessed.", rich_help_panel=_READING),
]
Separator = Annotated[
    str | None, typer.Option("--sep", help="Separator; guessed.", rich_help_panel=_READING)
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal sign; guessed.", rich_help_panel=_READING)
]
Rows = Annotated[
    int | None, typer.Option("--rows", help="Read so many rows only.", rich_help_panel=_READING)
]
Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON document on standard output.", rich_help_panel=_OUTPUT),
]
Out = Annotated[
    str | None,
    typer.Option("--out", "-o", help="Write a report, FILE.html.", rich_help_panel=_OUTPUT),
]
Save = Annotated[
    str | None,
    typer.Option(
        "--save", help="Keep the fitted model, for 'tamiz predict'.", rich_help_panel=_OUTPUT
    ),
]
Lang = Annotated[
    str, typer.Option(help="Language of the report: en or es.", rich_help_panel=_OUTPUT)
]
Seed = Annotated[int, typer.Option(help="Seed of everything random.", rich_help_panel=_RUNNING)]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Workers; -1: all cores.", rich_help_panel=_RUNNING)
]
TimeBudget = Annotated[
    float | None,
    typer.Option(help="Seconds; what is there by then is shown.", rich_help_panel=_RUNNING),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress line.", rich_help_panel=_RUNNING)
]


def read(
    source: str,
    target: str | None = None,
    *,
    drop: str | None = None,
    role: list[str] | None = None,
    task: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    rows: int | None = None,
    quiet: bool = False,
    without_target: bool = False,
) -> Dataset:
    """Load what the options describe; warnings become lines on standard error."""
    import warnings

    from tamiz.cli.wording import begin, tell_once
    from tamiz.data import load

    begin()
    wanted: Any = False if without_target else name_or_position(target)
    with usage(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = load(
            source,
            wanted,
            nrows=rows,
            **reading_options(drop, role, task, separator, decimal),
            verbose=0 if quiet else 1,
        )
    for one in caught:
        if not quiet:
            tell_once(str(one.message))
    if not without_target and data.y is None:
        raise UsageProblem(f"{source} has no target; name one with --target COLUMN.")
    return data


def reading_options(
    drop: str | None,
    role: list[str] | None,
    task: str | None,
    separator: str | None,
    decimal: str | None,
) -> dict[str, Any]:
    """How a file is read, as arguments of the library."""
    return {
        "drop": None if drop is None else split_list(drop),
        "roles": _roles(role),
        "task": task,
        "separator": separator,
        "decimal": decimal,
    }


def split_list(text: str) -> list[str]:
    """``"a, b,c"`` as a list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def numbers(text: str | None, name: str, kind: type = float) -> list[Any] | None:
    """``"1,2,5"`` as numbers."""
    if text is None:
        return None
    found = []
    for part in split_list(text):
        try:
            found.append(kind(part))
        except ValueError:
            raise UsageProblem(
                f"{name}={text!r} is not a list of numbers such as 1,2,5: {part!r} is none."
            ) from None
    if not found:
        raise UsageProblem(f"{name} is empty; give numbers such as 1,2,5.")
    return found


def check_language(lang: str) -> None:
    if lang not in ("en", "es"):
        raise UsageProblem(f"--lang {lang!r} is not known; use en or es.")


def check_writable(path: str | None, name: str) -> None:
    """Refuse a file that cannot be written before hours are spent on what goes into it."""
    import os

    if path is None:
        return
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise UsageProblem(f"{name} {path!r} is a folder; name a file.")
    if os.path.exists(path) and not os.path.isfile(path):  # it would be replaced by a file
        raise UsageProblem(f"{name} {path!r} is a device or a pipe; name a file.")
    if not os.path.isdir(folder):
        raise UsageProblem(f"{name} {path!r}: the folder {folder!r} does not exist.")
    if not os.access(folder, os.W_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):
        raise UsageProblem(f"{name} {path!r} cannot be written; choose another place.")


def name_or_position(target: str | None) -> Any:
    """A target as a column's name, or as its position if it is a number."""
    if target is not None and target.lstrip("-").isdigit():
        return int(target)
    return target


def _roles(given: list[str] | None) -> dict[Any, str] | None:
    if not given:
        return None
    found: dict[Any, str] = {}
    for one in given:
        for part in split_list(one):
            name, equals, role = part.rpartition("=")
            if not equals:
                raise UsageProblem(f"--role {part!r} is not understood; write NAME=categorical.")
            found[name] = role
    return found
