"""What each column is likely to be, judged by its values and its name.

A guess costs nothing if it is shown and can be overruled. Only four roles keep a column out of
``X``: an identifier, free text, a date, and nothing but missing values.
"""

from __future__ import annotations

import hashlib
import re

import numpy as np

from tamiz.data.column import Column

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
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)


def named_like_id(name: str) -> bool:
    """Whether the name says that the column is an identifier."""
    return bool(_ID_NAME.search(name) or _ID_CAMEL.search(name))


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
