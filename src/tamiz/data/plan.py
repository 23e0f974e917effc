"""Which columns of a table are read, which of them is the target, and what the others are.

The role of a column is guessed from its values and its name. A guess costs nothing if it is shown
and can be overruled. Only four roles keep a column out of ``X``: an identifier, free text, a date,
and nothing but missing values.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from tamiz.data.column import Column
from tamiz.data.errors import DataError, listed, near
from tamiz.validation import check_as, target_column

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
    beside: dict[str, Any] = field(default_factory=dict)  # groups, weights, time: which columns
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
        check_as(DataError, target_column, "target", target)
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


# -------------------------------------------------------------------------------------------- roles


ROLES = (
    "numeric",
    "categorical",
    "id",
    "text",
    "date",
    "constant",
    "empty",
    "duplicate",
    "leak",
    "ignore",
)

#: Roles of columns that no selector should see, and why.
ASIDE = {
    "id": "an identifier: a value of its own for nearly every row",
    "text": "free text",
    "date": "dates or times",
    "empty": "no value in any row",
    "ignore": "left out as asked",
}

FEW = 10  # a column of at most so many integers may be codes of categories

_ID_NAME = re.compile(
    r"(^|[\W_])(id|ids|uuid|guid|index|key|row_?(names?|num|number|id)|unnamed_\d+)$", re.IGNORECASE
)
_NUMBER_NAME = re.compile(
    r"(^|[\W_])(number|numbers|num|nr|no|n[uú]mero|code|c[oó]digo|serial|account|phone)$",
    re.IGNORECASE,
)
_ID_CAMEL = re.compile(r"[a-z](Id|ID)$")
_GROUP_NAME = re.compile(
    r"^(patient|subject|person|participant|donor|customer|client|user|member|household|"
    r"family|paciente|sujeto|persona|participante|donante|cliente|usuario|familia)"
    r"([\W_]*(id|no|nr|num|number|code|key|ref))?$",
    re.IGNORECASE,
)
_BATCH_NAME = re.compile(
    r"^(batch|plate|flow_?cell|scanner|site|cent(er|re)|hospital|clinic|lote|tanda|placa|"
    r"esc[aá]ner|sede|centro|cl[ií]nica)([\W_]*(id|no|nr|num|number|code|name|nombre|n[uú]mero))?$",
    re.IGNORECASE,
)
_KEY_NAME = re.compile(r"(^|[\W_])(id|ids|uuid|guid)$", re.IGNORECASE)
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)


def named_like_id(name: str) -> bool:
    """Whether the name says that the column is an identifier."""
    return bool(_ID_NAME.search(name) or _ID_CAMEL.search(name))


def named_like_group(name: str) -> bool:
    """Whether the name says that rows with the same value are of one person."""
    return bool(_GROUP_NAME.search(name))


def named_like_batch(name: str) -> bool:
    """Whether the name says where, or with what others, a row was measured."""
    return bool(_BATCH_NAME.search(name))


def named_like_key(name: str) -> bool:
    """Whether the name is that of an identifier, of whatever: rows may share one."""
    return bool(_KEY_NAME.search(name) or _ID_CAMEL.search(name))


def text_role(column: Column) -> str:
    """Role of a column of text: categorical, id, text, date or empty."""
    assert column.codes is not None
    there = column.codes[column.codes >= 0]
    return judge_text(column, len(np.unique(there)), len(there))


def judge_text(column: Column, n_levels: int, n_there: int) -> str:
    """The same by the number of levels that occur and of cells that are not missing."""
    if column.date:
        return "date"
    if not n_there:
        return "empty"
    if column.declared:
        return "categorical"
    sample = column.levels[:200]
    if sum(bool(_DATE.fullmatch(level.strip())) for level in sample) >= 0.95 * len(sample):
        return "date"
    if n_levels == n_there and n_levels >= 5:
        words = sum(len(level.split()) for level in sample) / len(sample)
        return "text" if words >= 3 else "id"
    if named_like_id(column.name) and n_levels >= 0.95 * n_there and n_levels >= 5:
        return "id"
    if n_levels > 0.5 * n_there and n_there >= 20:
        return "text"
    return "constant" if n_levels == 1 else "categorical"


def numeric_roles(X: np.ndarray, names: list[str]) -> list[str]:
    """Roles of the columns of a dense array of numbers: numeric, id, constant or empty."""
    n, p = X.shape
    roles = ["numeric"] * p
    if n == 0:
        return roles
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)  # NaN only if all are
    for j in np.flatnonzero(np.isnan(low)).tolist():
        roles[j] = "empty"
    for j in np.flatnonzero(low == high).tolist():
        roles[j] = "constant"
    if n < 5:
        return roles
    head = X[: min(n, 16)]
    with np.errstate(invalid="ignore"):
        ascending = np.all(np.diff(head, axis=0) > 0, axis=0)
    for j in range(p):
        if roles[j] != "numeric":
            continue
        called = named_like_id(names[j])
        if (ascending[j] or called) and _is_identifier(X[:, j], called):
            roles[j] = "id"
    return roles


def _is_identifier(column: np.ndarray, called: bool) -> bool:
    """Integers, each once, ascending; or nearly each once under the name of an identifier.

    A few rows may be in order by chance, so there the numbers must follow each other.
    """
    if np.isnan(column).any() or not (column == np.floor(column)).all():
        return False
    if called:
        return len(np.unique(column)) >= 0.95 * len(column)
    steps = np.diff(column)
    return bool((steps > 0).all()) and (len(column) >= 20 or bool((steps == 1).all()))


def perhaps_identifiers(X: np.ndarray, names: list[str], candidates: list[int]) -> list[int]:
    """Columns called a number or a code, of integers that hardly ever return.

    Less sure than an identifier: an atomic number is a number like any other. They stay features,
    and the user is asked to look.
    """
    found = []
    for j in candidates:
        column = X[:, j]
        if len(column) < 20 or not (_NUMBER_NAME.search(names[j]) or named_like_id(names[j])):
            continue
        whole = not np.isnan(column).any() and bool((column == np.floor(column)).all())
        if whole and len(np.unique(column)) >= 0.9 * len(column):
            found.append(j)
    return found


def duplicates(X: np.ndarray, candidates: list[int]) -> dict[int, int]:
    """Columns that repeat an earlier one: position -> position of the first.

    Some rows tell nearly all columns apart; those that agree there are compared as a whole.
    """
    n = len(X)
    if n == 0:
        return {}
    rows = np.unique(np.linspace(0, n - 1, min(n, 64)).astype(np.intp))
    with np.errstate(invalid="ignore"):  # a damaged file may hold NaN that signal
        sample = np.ascontiguousarray(X[rows][:, candidates].T) + 0.0  # -0.0 becomes 0.0
    alike: dict[bytes, list[int]] = {}
    for k, j in enumerate(candidates):
        alike.setdefault(sample[k].tobytes(), []).append(j)
    found: dict[int, int] = {}
    for group in alike.values():
        if len(group) < 2:
            continue
        first: dict[bytes, int] = {}
        for j in group:
            whole = (X[:, j] + 0.0).tobytes()
            key = hashlib.blake2b(whole, digest_size=16).digest()
            if first.setdefault(key, j) != j:
                found[j] = first[key]
    return found


def few_valued(X: np.ndarray, candidates: list[int]) -> list[int]:
    """Columns of integers with three to ten values, each seen often: perhaps codes."""
    n = len(X)
    rows = np.unique(np.linspace(0, max(n - 1, 0), min(n, 2000)).astype(np.intp))
    found = []
    for j in candidates:
        column = X[rows, j]
        column = column[~np.isnan(column)]
        if len(column) and (column == np.floor(column)).all():
            distinct = len(np.unique(column))
            if 3 <= distinct <= FEW and len(column) >= 5 * distinct:
                found.append(j)
    return found
