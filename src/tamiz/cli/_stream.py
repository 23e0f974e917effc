"""``tamiz rank`` on a file that is read in batches: when, how, and the notes about it."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamiz.cli.problems import UsageProblem
from tamiz.cli.rank import make_selector
from tamiz.cli.wording import warnings_into

if TYPE_CHECKING:
    from tamiz.cli.rank import Request
    from tamiz.evaluation.methods import Method
    from tamiz.scale import Batches


def wants_stream(asked: bool | None, data: str, method: Method, rows: int | None) -> bool:
    """Whether to stream: as asked, else if the file would take too large a fraction of the memory.

    A method that cannot stream is refused, with those that can.
    """
    if asked is False or (asked is None and rows is not None):
        return False
    if asked is None:
        from tamiz.data.errors import DataError
        from tamiz.scale import is_large

        try:
            large = is_large(data)
        except (DataError, OSError, ImportError):  # reading it will say what is wrong
            large = False
        if not large:
            return False
    from tamiz.data import available

    if not Path(data).expanduser().exists() and data in set(available()):
        raise UsageProblem(
            f"--stream reads files in batches, and {data} is a data set known by name; leave "
            "--stream out."
        )
    if rows is not None:
        raise UsageProblem("--rows reads the first rows only, and --stream all; use one of them.")
    if not hasattr(method.cls, "fit_stream"):
        why = "" if asked else f" {data} is large beside the memory that is free, and"
        raise UsageProblem(
            f"{why[1:]}{' ' if why else ''}{method.name} needs all rows in memory. Methods that "
            f"read a file in batches: {', '.join(streaming_methods())}. "
            "--no-stream reads it as a whole all the same."
        )
    return True


def streaming_methods() -> list[str]:
    """Names of the methods that can stream."""
    from tamiz.evaluation.methods import METHODS

    return [name for name, method in METHODS.items() if hasattr(method.cls, "fit_stream")]


def open_table(
    data: str, target: Any, method: Method, *, verbose: int, **options: Any
) -> tuple[Batches, list[str]]:
    """The file in batches, and what was noticed in the first pass over it.

    Categories become indicators for methods that need numbers, as they do in memory.
    """
    from tamiz.cli._indicators import Indicators
    from tamiz.cli.wording import tell_once
    from tamiz.scale import batches

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = batches(data, target, verbose=verbose, **options).survey()
    if table.schema.task is None:
        raise UsageProblem(f"{data} has no target; name one with --target COLUMN.")
    alarms = [str(one.message) for one in caught]
    for alarm in alarms if verbose else []:  # before hours of reading, and not after
        tell_once(alarm)
    notes = [*table.notes, *alarms]
    if table.schema.categories and not method.categorical:
        table = Indicators(table, verbose=verbose)
        notes.append(table.note)
    return table, notes


def fit_streamed(table: Batches, asked: Request) -> tuple[Any, list[str]]:
    """The method fitted to the batches, and notes on how.

    Machines standardise a stream themselves; nothing else scales one.

    Missing values are not looked for: a method that needs all values stops at the first one, and
    begins again with medians in their place.
    """
    from tamiz.validation import MissingValuesError

    method, scale, schema = asked.method, asked.scale, table.schema
    p = schema.n_features
    selector = make_selector(asked, schema.task, p)
    own = selector.get_params()
    verbose = asked.wanted["verbose"]
    options: dict[str, Any] = {"verbose": verbose}
    if not method.unit_free:
        if scale == "minmax":
            raise UsageProblem(
                f"--scale minmax needs all rows in memory; {method.name} takes standard or none "
                "in a stream, or use --no-stream."
            )
        options = {"standardize": scale == "standard"}
    passes = getattr(table, "n_passes", 0)
    filling: list[str] = []
    warned: list[str] = []
    with warnings_into(warned), named_columns(schema.names):
        try:
            selector.fit_stream(table, **options)
        except MissingValuesError:
            filled, more, filling = _fill(table, verbose)
            passes += more
            selector.fit_stream(filled, **options)
    if schema.categories and "categorical_features" in own:
        selector.selection_.params["categorical_features"] = schema.categorical.tolist()
    n, passes = table.n_rows or 0, passes + selector.n_passes_
    times = "once" if passes == 1 else f"{passes} times"
    notes = [f"the table was read in batches: its {n:,} rows were read {times}."]
    if method.unit_free and scale is not None:
        notes.append(
            "the features were not scaled: filters read a stream as it is, and their default "
            "scores do not depend on units."
        )
    if hasattr(table, "note"):
        notes.append(
            f"categories were turned into indicators, since {method.name} works with numbers; "
            f"there are {p:,} features now."
        )
    notes += filling
    made = selector.selection_.notes
    notes += [f"{made[key]}." for key in ("cuts", "sample") if key in made]
    if made.get("widest_bounds"):
        notes.append(
            f"scores are the middle of bounds, at most {made['widest_bounds']:.2g} apart, that the "
            "scores of all rows lie between."
        )
    return selector, notes + [text for text in warned if text not in notes]


@contextmanager
def named_columns(names: Sequence[str]) -> Iterator[None]:
    """Errors that number a column name it: a file shows no numbers."""

    def name(match: re.Match[str]) -> str:
        j = int(match[1])
        return f"(column {names[j]!r})" if j < len(names) else match[0]

    try:
        yield
    except ValueError as error:
        text = re.sub(r"\(column (\d+)\)", name, str(error))
        if text == str(error):
            raise
        raise ValueError(f"{text} Or leave it out with drop=.") from error


def _fill(table: Batches, verbose: int) -> tuple[Batches, int, list[str]]:
    """The table with medians for missing values, how often it was read for that, and notes."""
    from tamiz.cli._indicators import Indicators

    inner = table.table if isinstance(table, Indicators) else table
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        filled = inner.filled("median", verbose=verbose)
    passes = filled.n_passes
    notes = [
        f"{filled.n_filled:,} missing values were filled with medians, which took {passes} "
        f"{'reading' if passes == 1 else 'readings'} to find."
    ]
    notes += [str(one.message) for one in caught]
    if isinstance(table, Indicators):
        made = copy.copy(table)
        made.table = filled
        return made, passes, notes
    return filled, passes, notes
