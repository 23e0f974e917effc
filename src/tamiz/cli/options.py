"""Options that several commands have, and the data that they describe."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamiz.cli.console import UsageProblem, usage

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
Columns = Annotated[
    str | None, typer.Option(help="Columns to use as features, a,b,c.", rich_help_panel=_READING)
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        help="A column that looks like a leak and is none; repeatable, or a,b,c.",
        rich_help_panel=_READING,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="Column of groups; rows of one group stay on one side of every split.",
        rich_help_panel=_READING,
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        help="Column of times; the past is learned from, and what follows is judged by.",
        rich_help_panel=_READING,
    ),
]
Weights = Annotated[
    str | None, typer.Option(help="Column of weights of the rows.", rich_help_panel=_READING)
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of a text table; guessed.", rich_help_panel=_READING)
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line holds names; guessed.",
        rich_help_panel=_READING,
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(help="Spellings of a missing value, NA,-999.", rich_help_panel=_READING),
]
Format = Annotated[
    str | None,
    typer.Option(help="csv, parquet, arff, libsvm or npz; guessed.", rich_help_panel=_READING),
]
Transpose = Annotated[
    bool,
    typer.Option(
        "--transpose", help="Features are rows, and samples columns.", rich_help_panel=_READING
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        help="With --transpose: a file with a column of samples and one of labels.",
        rich_help_panel=_READING,
    ),
]
Positive = Annotated[str | None, typer.Option(help="The class that is looked for, of two.")]
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
ExplainedRows = Annotated[
    int | None, typer.Option("--rows", min=1, help="Explain the first so many rows only.")
]
Permutations = Annotated[
    int,
    typer.Option(
        min=2,
        help="Orders of the features for each row, where values are sampled: fewer are quicker and "
        "less precise.",
    ),
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


@dataclass(frozen=True)
class Reading:
    """How a table is read: the options that all commands have, one field each."""

    target: Target = None
    columns: Columns = None
    drop: Drop = None
    keep: Keep = None
    role: Role = None
    task: Task = None
    groups: Groups = None
    time: Time = None
    weights: Weights = None
    transpose: Transpose = False
    labels: Labels = None
    separator: Separator = None
    decimal: Decimal = None
    encoding: Encoding = None
    header: Header = None
    missing: Missing = None
    format: Format = None
    rows: Rows = None

    def arguments(self) -> dict[str, Any]:
        """As arguments of :func:`tamiz.data.load`, the target apart."""
        same = ("task", "labels", "separator", "decimal", "encoding", "header", "format")
        return {
            **{name: getattr(self, name) for name in (*same, "transpose")},
            "columns": None if self.columns is None else split_list(self.columns),
            "drop": None if self.drop is None else split_list(self.drop),
            "keep": [name for one in self.keep or [] for name in split_list(one)] or None,
            "roles": _roles(self.role),
            "groups": name_or_position(self.groups),
            "time": name_or_position(self.time),
            "weights": name_or_position(self.weights),
            "missing": None if self.missing is None else split_list(self.missing),
            "nrows": self.rows,
        }

    def streamed(self) -> dict[str, Any]:
        """As arguments of :func:`tamiz.scale.batches`, the target apart."""
        if self.transpose:
            raise UsageProblem("--transpose reads a table as a whole; use it with --no-stream.")
        given = self.arguments()
        beside = [given.pop(key) for key in ("groups", "time", "weights")]
        aside = [column for column in beside if column is not None]
        given["drop"] = [*(given["drop"] or []), *aside] or None
        for name in ("transpose", "labels", "keep", "nrows"):
            del given[name]
        return given


class Budget:
    """The seconds that a command may take, from its first line on; compiling does not count.

    Starting up and reading the table take their time too: what the study gets is what is left.

    Parameters
    ----------
    seconds : float or None
        As the user wrote them.
    clock : callable, optional
        Seconds that only grow; by default ``time.monotonic``.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] | None = None):
        self.seconds = seconds
        self._clock = clock or time.monotonic
        self._began = self._clock()

    def add(self, seconds: float) -> None:
        """Time that does not count has passed."""
        self._began += seconds

    @property
    def left(self) -> float | None:
        """Seconds that are left, a tenth of the budget at least; None if there is no end."""
        if self.seconds is None or not self.seconds > 0:  # which the study refuses
            return self.seconds
        return max(0.1 * self.seconds, self.seconds - (self._clock() - self._began))

    @contextmanager
    def without_compiling(self) -> Iterator[None]:
        """What is compiled inside does not count."""
        if self.seconds is None:
            yield
            return
        from tamiz.runtime.compiling import CompileWatch

        with CompileWatch(compiled=self.add):
            yield


def check_splits(reading: Reading, gap: int = 0) -> None:
    """Refuse what cannot be kept together, before a table is read and notes are told."""
    if gap and reading.time is None:
        raise UsageProblem(
            f"--gap {gap} needs --time: it is the number of different times before a judged block "
            "that are not learned from. Name the column of times, or leave --gap out."
        )
    if reading.groups is not None and reading.time is not None:
        raise UsageProblem(
            "--groups and --time cannot be combined: splits either keep groups together or follow "
            "the order of time. Name one of them."
        )


@dataclass(frozen=True)
class NewTable:
    """How a table of new rows is read: what its columns are, the model knows."""

    separator: Separator = None
    decimal: Decimal = None
    encoding: Encoding = None
    header: Header = None
    missing: Missing = None
    format: Format = None
    transpose: Transpose = False
    labels: Labels = None

    def arguments(self, quiet: bool) -> dict[str, Any]:
        """As arguments of :func:`tamiz.data.load`; ``labels`` go with the model's target."""
        own = {option.name: getattr(self, option.name) for option in fields(NewTable)}
        return {**Reading(**own | {"labels": None}).arguments(), "verbose": 0 if quiet else 1}


@dataclass(frozen=True)
class ExplainedTable(NewTable):
    """The same for rows that are explained, and how much work is spent on it."""

    rows: ExplainedRows = None
    permutations: Permutations = 200


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of its parameter that says how a table is read."""
    kind: Any = Reading
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command, eval_str=True).parameters.values():
        if one.annotation not in (Reading, NewTable, ExplainedTable):
            parameters.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        name, kind = one.name, one.annotation
        own = inspect.signature(kind, eval_str=True).parameters.values()
        parameters += [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in own]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        options = {option.name: given.pop(option.name) for option in fields(kind)}
        command(**given, **{name: kind(**options)})

    run.__dict__["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def read(
    source: str,
    target: str | None = None,
    *,
    reading: Reading | None = None,
    leaks: str = "drop",
    quiet: bool = False,
    without_target: bool = False,
    **options: Any,
) -> Dataset:
    """Load what the options describe; warnings become lines on standard error.

    Suspected leaks are set aside unless ``leaks`` is "keep". ``options`` are single fields of
    :class:`Reading`.
    """
    import warnings

    from tamiz.cli.console import begin, command_line, tell_once
    from tamiz.data import load

    begin()
    reading = replace(reading or Reading(), **options)
    wanted: Any = name_or_position(reading.target if target is None else target)
    with usage(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = load(
            source,
            False if without_target else wanted,
            **reading.arguments(),
            leaks=leaks,
            verbose=0 if quiet else 1,
        )
    for one in caught:
        if not quiet:
            tell_once(str(one.message))
    if not quiet and any(found.code == "transposed" for found in data.warnings):
        tell_once(f"for instance: {command_line()} --transpose --labels labels.csv")
    if not without_target and data.y is None:
        raise UsageProblem(f"{source} has no target; name one with --target COLUMN.")
    if data.target_names is not None and len(data.target_names) < 2:
        raise UsageProblem(
            f"{source}: the rows read hold one class only, {data.target_names[0]!r}; read more "
            "with --rows, or name another target with --target."
        )
    return data


def check_positive(dataset: Dataset, name: str) -> int:
    """The position of a class among the sorted labels; a sentence that lists them if it is none."""
    classes = dataset.target_names
    if classes is None:
        raise UsageProblem(f"--positive {name!r} needs classes, and the target is numeric.")
    if name not in classes:
        from tamiz.data.errors import listed

        raise UsageProblem(
            f"--positive {name!r} is no class of {dataset.target!r}; the classes are "
            f"{listed(classes, 10)}."
        )
    return classes.index(name)


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


#: Endings of the files that commands write, with what such a file is; ``""`` is a name without one.
REPORT = {".html": "a report is one page of HTML", ".htm": ""}
PREDICTIONS = {".csv": "predictions are written as CSV", ".txt": "", "": ""}
EXPLANATIONS = {
    ".csv": "what features add is written as CSV, or drawn as PNG, SVG or PDF",
    **dict.fromkeys((".txt", "", ".png", ".svg", ".pdf"), ""),
}
GRAPH = {".onnx": "a graph is written as ONNX"}
PICTURE = {".png": "a figure is written as PNG, SVG or PDF", ".svg": "", ".pdf": ""}


def check_writable(path: str | None, name: str, endings: dict[str, str] | None = None) -> None:
    """Refuse a file that cannot be written before hours are spent on what goes into it.

    Where ``endings`` are given, so is a file whose name promises another format.
    """
    import os
    from pathlib import Path

    if path is None:
        return
    file = Path(path).absolute()
    folder = file.parent
    if file.is_dir():
        raise UsageProblem(f"{name} {path!r} is a folder; name a file.")
    if file.exists() and not file.is_file():  # it would be replaced by a file
        raise UsageProblem(f"{name} {path!r} is a device or a pipe; name a file.")
    if not folder.is_dir():
        raise UsageProblem(f"{name} {path!r}: the folder {str(folder)!r} does not exist.")
    if not os.access(folder, os.W_OK) or (file.exists() and not os.access(file, os.W_OK)):
        raise UsageProblem(f"{name} {path!r} cannot be written; choose another place.")
    if endings is not None and file.suffix.lower() not in endings:
        first, what = next(iter(endings.items()))
        known = [ending for ending in endings if ending]
        raise UsageProblem(
            f"{name} {path!r}: {what}, and so the name must end in "
            f"{' or '.join(filter(None, (', '.join(known[:-1]), known[-1])))}, such as "
            f"{file.with_suffix(first).name}."
        )


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
