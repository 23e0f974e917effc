"""Which columns of a table are to be read, and which of them is the target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from tamiz.data.errors import DataError, listed, near

#: Names that mark a target wherever the column stands, in this order of preference.
USUAL_TARGETS = ("target", "class", "label", "y")


@dataclass
class Options:
    """What the user asks of a reader."""

    target: Any = None  # name, position, False for none, None to guess
    columns: Any = None  # features to read, None for all
    drop: Any = None
    nrows: int | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    missing: Sequence[str] | None = None
    beside: dict[str, Any] = field(default_factory=dict)  # "groups", "weights": name or position
    transpose: bool = False  # features in rows, samples in columns
    n_features: int | None = None  # of a LIBSVM file
    labels: Any = None  # of a transposed table: a file, or a mapping from samples


@dataclass
class ColumnPlan:
    """What to read of a table whose columns are known by name."""

    target: str | None
    features: list[str]  # in the order of the file
    notes: list[str] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)  # columns among them that are no features
    part: bool = False  # whether more rows may follow
    guessed: bool = False  # whether the target is one only because it comes last

    @property
    def names(self) -> list[str]:
        return self.features if self.target is None else [*self.features, self.target]


def make_plan(
    names: Sequence[str], options: Options, shown: str, hint: str | None = None
) -> ColumnPlan:
    """Decide target and features. ``hint`` is what the format itself calls the target."""
    notes: list[str] = []
    beside = {
        key: find_columns(names, [wanted], key, shown)[0] for key, wanted in options.beside.items()
    }
    candidates = [name for name in names if name not in beside.values()]
    given = options.target is not None or not candidates
    target = find_target(names if given else candidates, options.target, shown, hint, notes)
    for key, name in beside.items():
        if name == target:
            raise DataError(
                f"{shown}: column {name!r} cannot be the target and {key}= at once; name another "
                "target with target=."
            )
    rest = [name for name in names if name != target]
    if options.columns is not None:
        asked = find_columns(names, options.columns, "columns", shown)
        wanted = {*(name for name in asked if name != target), *beside.values()}
        rest = [name for name in rest if name in wanted]
    if options.drop is not None:
        gone = set(find_columns(names, options.drop, "drop", shown)).difference(beside.values())
        rest = [name for name in rest if name not in gone]
    if not set(rest).difference(beside.values()):
        raise DataError(
            f"{shown} has no feature left to read: its columns are {listed(names)}"
            + (f", of which {target!r} is the target" if target is not None else "")
            + "; name others with columns=, or another target with target=."
        )
    guessed = options.target is None and hint is None and target is not None
    unusual = guessed and str(target).lower() not in USUAL_TARGETS
    return ColumnPlan(target, rest, notes, beside, options.nrows is not None, unusual)


def find_target(
    names: Sequence[str], target: Any, shown: str, hint: str | None, notes: list[str]
) -> str | None:
    """The name of the target column."""
    if target is False:
        return None
    if target is not None:
        if target is True or not isinstance(target, (str, Integral)):
            raise DataError(
                f"target={target!r} is not understood; give the name or the position of a column, "
                "or False for none."
            )
        return find_columns(names, [target], "target", shown)[0]
    if hint is not None:
        return hint
    lower = [name.lower() for name in names]
    for usual in USUAL_TARGETS:
        if usual in lower:
            found = names[lower.index(usual)]
            if found != names[-1]:
                notes.append(
                    f"Column {found!r} is taken as the target by its name (target=... changes it)."
                )
            return found
    notes.append(f"The last column, {names[-1]!r}, is taken as the target (target=... changes it).")
    return names[-1]


def find_columns(names: Sequence[str], wanted: Any, argument: str, shown: str) -> list[str]:
    """Columns given by name or position, as names."""
    if isinstance(wanted, (str, Integral)):
        wanted = [wanted]
    if not isinstance(wanted, Iterable):
        raise DataError(
            f"{argument}={wanted!r} is not understood; give names or positions of columns."
        )
    known = set(names)
    lower: dict[str, list[str]] = {}
    for name in names:
        lower.setdefault(name.lower(), []).append(name)
    found = []
    for value in wanted:
        if isinstance(value, Integral) and not isinstance(value, bool):
            if not -len(names) <= int(value) < len(names):
                raise DataError(
                    f"{argument}={value} is beyond the {len(names)} columns of {shown}, which are "
                    f"numbered 0 to {len(names) - 1}."
                )
            found.append(names[int(value)])
        elif value in known:
            found.append(value)
        elif len(lower.get(str(value).lower(), [])) == 1:
            found.append(lower[str(value).lower()][0])
        else:
            hint = near(str(value), names) or f" It has {listed(names)}."
            raise DataError(f"{shown} has no column {value!r} ({argument}).{hint}")
    return found
