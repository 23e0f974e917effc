"""From a table as it was read to a Dataset: target, roles, encoding, notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.column import Column, RawTable, plain_number
from tamiz.data.dataset import Dataset, count_missing
from tamiz.data.encoding import check_encoding
from tamiz.data.errors import DataError, listed
from tamiz.data.findings import (
    Told,
    find_leaks,
    tell_aside,
    tell_doubtful,
    tell_leaks,
    tell_skew,
    tell_transposed,
)
from tamiz.data.plan import ColumnPlan, find_columns
from tamiz.data.roles import (
    ASIDE,
    ROLES,
    duplicates,
    few_valued,
    numeric_roles,
    text_role,
)
from tamiz.data.target import read_target, refuse_absurd

TASKS = ("classification", "regression")


def check_choices(roles: Any, task: Any, encode: Any, leaks: Any = "keep") -> None:
    """Refuse roles, tasks and encodings that do not exist, before anything is read."""
    check_encoding(encode)
    if leaks not in ("keep", "drop"):
        raise DataError(f"leaks={leaks!r} is not known; use 'keep' (and warn) or 'drop'.")
    if task is not None and task not in TASKS:
        raise DataError(
            f"task={task!r} is not known; use 'classification', 'regression', or None to guess."
        )
    if roles is None:
        return
    if not isinstance(roles, Mapping):
        raise DataError(
            f"roles={roles!r} is not understood; give a dict such as {{'zip': 'categorical'}}."
        )
    for name, role in roles.items():
        if role not in ROLES:
            raise DataError(
                f"roles[{name!r}]={role!r} is not known; use one of {listed(ROLES, 9)}."
            )


def build(
    table: RawTable,
    plan: ColumnPlan,
    *,
    name: str,
    roles: Mapping[Any, str] | None = None,
    task: str | None = None,
    encode: str | None = "ordinal",
    trusted: bool = False,
    leaks: str = "keep",
    keep: Any = None,
) -> tuple[Dataset, list[str]]:
    """Make the data set; also return what the user should be warned of.

    ``trusted`` data sets are curated: all their columns are kept, and nothing is warned of.
    ``keep`` names columns that are no leaks, whatever they look like.
    """
    told = Told([*table.notes], [one.text for one in table.warnings])
    told.found += table.warnings
    by_name = {column.name: column for column in table.columns}
    given = _given_roles(roles, table, plan)
    leaks = "keep" if encode is None else leaks  # cells as they are, all of them
    kept_leaks = find_columns(table.names, [] if keep is None else keep, "keep", table.source)
    cleared = {*given, *kept_leaks}

    rows = None
    y_column = by_name.pop(plan.target) if plan.target is not None else None
    y, target_names = None, None
    if y_column is not None:
        gaps = y_column.missing()
        if gaps.all():
            raise DataError(
                f"{table.source}: the target {plan.target!r} is missing in every row; name "
                "another column with target=."
            )
        if gaps.any():
            rows = np.flatnonzero(~gaps)
            y_column = y_column.take(rows)
            told.warn(
                "rows_dropped",
                [y_column.name],
                f"Left out for want of a value of the target {plan.target!r}: {int(gaps.sum())} of "
                f"{len(gaps)} rows.",
            )
        if not trusted:
            refuse_absurd(table, y_column, task, plan.part)
        y, target_names, task = read_target(y_column, task, table.source, told.notes)
        if target_names is not None:
            tell_skew(y, target_names, plan.target, told)
    else:
        task = None
    beside = {
        key: _beside(key, _column(table, by_name, feature), rows, table.source)
        for key, feature in plan.beside.items()
    }
    plan = replace(plan, features=[f for f in plan.features if f not in plan.beside.values()])
    X, texts = _matrix(table, plan, by_name, given, rows)
    names = list(plan.features)
    if sparse.issparse(X):
        guessed = {feature: given.get(feature, "numeric") for feature in names}
        _note_sparse(X, guessed, names, told)
        aside: dict[str, str] = {
            feature: ASIDE[role] for feature, role in guessed.items() if role == "ignore"
        }
    else:
        guessed = _guess(X, names, texts, given, told, trusted)
        if not trusted:
            tell_doubtful(X, names, guessed, given, told)
            if plan.guessed and task == "regression" and guessed[names[0]] in ("id", "text"):
                tell_transposed(table, plan, names, texts, y, told)
        aside = {
            feature: ASIDE[role]
            for feature, role in guessed.items()
            if role in ASIDE and (given.get(feature) == role or not trusted)
        }
        if y is not None:
            away = find_leaks(X, names, _codes(y, task), task, guessed, cleared, plan.target)
            guessed.update(dict.fromkeys(away, "leak"))
            tell_leaks(away, leaks == "drop", told)
            if leaks == "drop":
                aside.update(
                    {
                        name: f"a suspected leak: gives the target {how}"
                        for name, how in away.items()
                    }
                )
    if aside and encode is not None:
        kept = [j for j, feature in enumerate(names) if feature not in aside]
        if not kept:
            why = "; ".join(
                f"{feature!r} is {reason}" for feature, reason in list(aside.items())[:3]
            )
            way = (
                f"keep a suspected leak with keep={names[0]!r}"
                if guessed[names[0]] == "leak"
                else f"give roles such as roles={{{names[0]!r}: 'categorical'}}"
            )
            raise DataError(f"{table.source} has no column to use as a feature ({why}); {way}.")
        X, names = X[:, kept], [names[j] for j in kept]
        unasked = [f for f in aside if f not in given and guessed[f] != "leak"]
        tell_aside(unasked, guessed, told)
    elif encode is None:
        aside = {}
        if texts and not sparse.issparse(X):
            X = np.column_stack(
                [
                    texts[f].objects() if f in texts else Column(f, X[:, j]).objects()
                    for j, f in enumerate(names)
                ]
            )
    coded = encode is not None or sparse.issparse(X)
    levels = {f: texts[f].levels for f in names if f in texts} if coded else {}
    extras = {
        key: array[rows] if rows is not None and len(array) == table.n_rows else array
        for key, array in table.extras.items()
    }
    extras.update(beside)
    data = Dataset(
        X,
        y,
        names,
        target_names,
        np.array([feature in levels for feature in names], dtype=bool),
        name=name,
        source=table.source,
        target=plan.target,
        task=task,
        roles=guessed,
        missing=count_missing(X),
        levels=levels,
        aside=aside,
        extras=extras,
        notes=told.notes + told.alarms,
        warnings=told.found,
    )
    if encode == "onehot":
        data = data.encode("onehot")
    return data, [] if trusted else told.alarms


# ------------------------------------------------------------------------------------- features


def _given_roles(
    roles: Mapping[Any, str] | None, table: RawTable, plan: ColumnPlan
) -> dict[str, str]:
    if not roles:
        return {}
    found = find_columns(table.names, list(roles), "roles", table.source)
    return dict(zip(found, roles.values(), strict=True))


def _matrix(
    table: RawTable,
    plan: ColumnPlan,
    by_name: dict[str, Column],
    given: dict[str, str],
    rows: np.ndarray | None,
) -> tuple[Any, dict[str, Column]]:
    """The features as one table of numbers, and the columns behind the codes in it."""
    texts: dict[str, Column] = {}
    if table.matrix is not None and table.matrix_names == plan.features and not given:
        X = table.matrix
        return (X if rows is None else X[rows]), texts
    if sparse.issparse(table.matrix):
        matrix, held = table.matrix, list(table.matrix_names)
        beside = [feature for feature in plan.features if feature in by_name]
        for feature in beside:  # the label of a file whose target is another column
            column = by_name[feature]
            if column.is_text:
                texts[feature] = column.sort_levels()
            matrix = sparse.hstack([matrix, column.numbers()[:, None]], format="csr")
        place = {feature: j for j, feature in enumerate(held + beside)}
        X = matrix[:, [place[feature] for feature in plan.features]]
        return (X if rows is None else X[rows]), texts
    place = {feature: j for j, feature in enumerate(table.matrix_names)}
    n = table.n_rows if rows is None else len(rows)
    X = np.empty((n, len(plan.features)))
    for k, feature in enumerate(plan.features):
        if feature in place:
            column = Column(feature, table.matrix[:, place[feature]])
        else:
            column = by_name[feature]
        if rows is not None:
            column = column.take(rows)
        column = _as_given(column, given.get(feature), table.source)
        if column.is_text:
            texts[feature] = column.sort_levels()
        X[:, k] = column.numbers()
    return X, texts


def _as_given(column: Column, role: str | None, source: str) -> Column:
    """Numbers as categories, or text as numbers, where the user says so."""
    if role == "categorical":
        return column.as_text()
    if role == "numeric" and column.codes is not None:
        values = []
        for level in column.levels:
            try:
                values.append(float(level))
            except ValueError:
                raise DataError(
                    f"{source}: column {column.name!r} cannot be numeric, it holds {level!r}; "
                    "take it as 'categorical', or add the text to missing= if it stands for a "
                    "missing value."
                ) from None
        return Column(column.name, np.array([*values, np.nan])[column.codes])
    return column


def _guess(
    X: np.ndarray,
    names: list[str],
    texts: dict[str, Column],
    given: dict[str, str],
    told: Told,
    trusted: bool,
) -> dict[str, str]:
    roles = numeric_roles(X, names)
    for j, name in enumerate(names):
        if name in texts:
            roles[j] = text_role(texts[name])
        roles[j] = given.get(name, roles[j])
    plain = [j for j in range(len(names)) if roles[j] in ("numeric", "categorical")]
    repeated = duplicates(X, plain)
    copies: dict[str, str] = {}
    for j, first in repeated.items():
        if (names[j] in texts) != (names[first] in texts) or names[j] in given:
            continue
        if names[j] in texts and texts[names[j]].levels != texts[names[first]].levels:
            continue
        if roles[j] in ("numeric", "categorical"):
            roles[j] = "duplicate"
            copies[names[j]] = f"{names[j]!r} repeats {names[first]!r}"
    if copies:
        more = f" and {len(copies) - 5} more" if len(copies) > 5 else ""
        shown = ", ".join(list(copies.values())[:5])
        told.note("duplicate", copies, f"Columns that repeat another: {shown}{more}.")
    constant = [names[j] for j in range(len(names)) if roles[j] == "constant"]
    if constant:
        told.note("constant", constant, f"Constant columns: {listed(constant)}.")
    if not trusted and len(names) <= 1000:
        plain = [j for j in range(len(names)) if roles[j] == "numeric" and names[j] not in given]
        few = [names[j] for j in few_valued(X, plain)]
        if few:
            told.note(
                "codes",
                few,
                f"Few integers, taken as numbers: {listed(few)}; if they are codes, say "
                f"roles={{{few[0]!r}: 'categorical'}}.",
            )
    return dict(zip(names, roles, strict=True))


def _note_sparse(X: Any, roles: dict[str, str], names: list[str], told: Told) -> None:
    stored = np.bincount(X.indices, minlength=X.shape[1])
    empty = np.flatnonzero(stored == 0)
    for j in empty:
        roles[names[j]] = "constant"
    if len(empty):
        columns = [names[j] for j in empty]
        told.note("constant", columns, f"{len(empty)} columns are zero throughout.")


# --------------------------------------------------------------------------- groups and weights


def _column(table: RawTable, by_name: dict[str, Column], name: str) -> Column:
    if name in by_name:
        return by_name[name]
    cells = table.matrix[:, [table.matrix_names.index(name)]]
    return Column(name, (cells.toarray() if sparse.issparse(cells) else cells).ravel())


def _beside(key: str, column: Column, rows: np.ndarray | None, source: str) -> np.ndarray:
    """Groups or weights of the rows."""
    column = column if rows is None else column.take(rows)
    gone = int(column.missing().sum())
    if gone:
        raise DataError(
            f"{source}: column {column.name!r} has no value in {gone} of {len(column)} rows, and "
            f"{key}= needs one for each; fill them, or leave these rows out."
        )
    if key == "groups":
        values = column.numbers()
        whole = not column.is_text and (values == np.floor(values)).all()
        return values.astype(np.int64) if whole else np.array(column.objects().tolist())
    values = column.numbers()
    if column.is_text or not np.isfinite(values).all() or not (values > 0).all():
        bad = column.levels[0] if column.is_text else plain_number(values[~(values > 0)][:1].sum())
        raise DataError(
            f"{source}: weights= needs positive numbers, and column {column.name!r} holds {bad!r}; "
            "name another column."
        )
    return np.array(values)


def _codes(y: np.ndarray, task: str | None) -> np.ndarray:
    return np.unique(y, return_inverse=True)[1] if task == "classification" else y
