"""From a table as it was read to a Dataset: target, roles, encoding, notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.column import Column, Table, plain_number
from tamiz.data.dataset import Dataset, count_missing
from tamiz.data.encoding import check_encoding
from tamiz.data.errors import DataError, listed
from tamiz.data.leak import leaks
from tamiz.data.plan import Plan, find_columns
from tamiz.data.roles import (
    ASIDE,
    ROLES,
    duplicates,
    few_valued,
    numeric_roles,
    perhaps_identifiers,
    text_role,
)

TASKS = ("classification", "regression")


def check_choices(roles: Any, task: Any, encode: Any) -> None:
    """Refuse roles, tasks and encodings that do not exist, before anything is read."""
    check_encoding(encode)
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
    table: Table,
    plan: Plan,
    *,
    name: str,
    roles: Mapping[Any, str] | None = None,
    task: str | None = None,
    encode: str | None = "ordinal",
    trusted: bool = False,
) -> tuple[Dataset, list[str]]:
    """Make the data set; also return what the user should be warned of.

    ``trusted`` data sets are curated: all their columns are kept, and nothing is warned of.
    """
    notes = [*table.notes, *plan.notes]
    alarms = list(table.warnings)
    by_name = {column.name: column for column in table.columns}
    given = _given_roles(roles, table, plan)

    rows = None
    y_column = by_name.pop(plan.target) if plan.target is not None else None
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
            alarms.append(
                f"Left out for want of a value of the target {plan.target!r}: {int(gaps.sum())} of "
                f"{len(gaps)} rows."
            )
    y, target_names, task = _target(y_column, task, table.source, notes)

    X, texts = _matrix(table, plan, by_name, given, rows)
    names = list(plan.features)
    if sparse.issparse(X):
        guessed = {feature: given.get(feature, "numeric") for feature in names}
        _note_sparse(X, guessed, names, notes)
        aside: dict[str, str] = {
            feature: ASIDE[role] for feature, role in guessed.items() if role == "ignore"
        }
    else:
        guessed = _guess(X, names, texts, given, notes, trusted)
        plain = [j for j, f in enumerate(names) if guessed[f] == "numeric" and f not in given]
        doubtful = [names[j] for j in perhaps_identifiers(X, names, plain)]
        if doubtful and not trusted:
            alarms.append(
                f"Perhaps identifiers, but used as features: {listed(doubtful)} (the name says so, "
                "and hardly any value returns). If they are, leave them out with drop=."
            )
        codes = None if y is None else _codes(y, task)
        if codes is not None:
            _find_leaks(X, names, codes, task, guessed, given, alarms, notes)
        aside = {
            feature: ASIDE[role]
            for feature, role in guessed.items()
            if role in ASIDE and (given.get(feature) == role or not trusted)
        }
    if aside and encode is not None:
        kept = [j for j, feature in enumerate(names) if feature not in aside]
        if not kept:
            why = "; ".join(
                f"{feature!r} is {reason}" for feature, reason in list(aside.items())[:3]
            )
            raise DataError(
                f"{table.source} has no column to use as a feature ({why}); give roles such as "
                f"roles={{{names[0]!r}: 'categorical'}}, or encode=None to get the cells as they "
                "are."
            )
        X, names = X[:, kept], [names[j] for j in kept]
        unasked = [feature for feature in aside if feature not in given]
        if unasked:
            by_reason: dict[str, list[str]] = {}
            for feature in unasked:
                by_reason.setdefault(aside[feature], []).append(feature)
            which = ", ".join(f"{listed(those)} ({why})" for why, those in by_reason.items())
            alarms.append(
                f"Not used as features: {which}. Keep one with "
                f"roles={{{unasked[0]!r}: 'numeric'}} or 'categorical'."
            )
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
        notes=notes + alarms,
    )
    if encode == "onehot":
        data = data.encode("onehot")
    return data, [] if trusted else alarms


# ------------------------------------------------------------------------------------- features


def _given_roles(roles: Mapping[Any, str] | None, table: Table, plan: Plan) -> dict[str, str]:
    if not roles:
        return {}
    found = find_columns(table.names, list(roles), "roles", table.source)
    return dict(zip(found, roles.values(), strict=True))


def _matrix(
    table: Table,
    plan: Plan,
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
    notes: list[str],
    trusted: bool,
) -> dict[str, str]:
    roles = numeric_roles(X, names)
    for j, name in enumerate(names):
        if name in texts:
            roles[j] = text_role(texts[name])
        roles[j] = given.get(name, roles[j])
    plain = [j for j in range(len(names)) if roles[j] in ("numeric", "categorical")]
    repeated = duplicates(X, plain)
    told = []
    for j, first in repeated.items():
        if (names[j] in texts) != (names[first] in texts) or names[j] in given:
            continue
        if names[j] in texts and texts[names[j]].levels != texts[names[first]].levels:
            continue
        if roles[j] in ("numeric", "categorical"):
            roles[j] = "duplicate"
            told.append(f"{names[j]!r} repeats {names[first]!r}")
    if told:
        more = f" and {len(told) - 5} more" if len(told) > 5 else ""
        notes.append(f"Columns that repeat another: {', '.join(told[:5])}{more}.")
    constant = [names[j] for j in range(len(names)) if roles[j] == "constant"]
    if constant:
        notes.append(f"Constant columns: {listed(constant)}.")
    if not trusted and len(names) <= 1000:
        plain = [j for j in range(len(names)) if roles[j] == "numeric" and names[j] not in given]
        few = [names[j] for j in few_valued(X, plain)]
        if few:
            notes.append(
                f"Few whole numbers, taken as numbers: {listed(few)}; if they are codes, say "
                f"roles={{{few[0]!r}: 'categorical'}}."
            )
    return dict(zip(names, roles, strict=True))


def _note_sparse(X: Any, roles: dict[str, str], names: list[str], notes: list[str]) -> None:
    stored = np.bincount(X.indices, minlength=X.shape[1])
    empty = np.flatnonzero(stored == 0)
    for j in empty:
        roles[names[j]] = "constant"
    if len(empty):
        notes.append(f"{len(empty)} columns are zero throughout.")


def _find_leaks(
    X: np.ndarray,
    names: list[str],
    codes: np.ndarray,
    task: str | None,
    roles: dict[str, str],
    given: dict[str, str],
    alarms: list[str],
    notes: list[str],
) -> None:
    asked = [
        j
        for j, name in enumerate(names)
        if roles[name] in ("numeric", "categorical") and name not in given
    ]
    if not asked:
        return
    inside = X if len(asked) == len(names) else X[:, asked]
    found = [names[asked[k]] for k in leaks(inside, codes, task == "classification")]
    for name in found:
        roles[name] = "leak"
    if found:
        alarms.append(
            f"These features alone give the target without error: {listed(found)}. Check that they "
            "are known before the target is; if not, leave them out with drop=."
        )


# --------------------------------------------------------------------------------------- target


def _target(
    column: Column | None, task: str | None, source: str, notes: list[str]
) -> tuple[np.ndarray | None, list[str] | None, str | None]:
    """The target as labels or numbers, names of its classes, and the task."""
    if column is None:
        return None, None, None
    if column.codes is not None:
        if task == "regression":
            raise DataError(
                f"{source}: the target {column.name!r} holds text such as {column.levels[0]!r}; a "
                "regression needs numbers. Use task='classification', or another target."
            )
        y = np.array(column.levels)[column.codes]
        classes = np.unique(y).tolist()
        return y, classes, "classification"
    values = column.numbers()
    if task is None:
        task = guess_task(values)
        distinct = len(np.unique(values))
        if task == "regression" and (values == np.floor(values)).all():
            notes.append(
                f"The target {column.name!r} holds {distinct} different whole numbers: taken as a "
                "quantity (task='classification' takes them as labels)."
            )
        elif task == "classification" and distinct > 10:
            notes.append(
                f"The target {column.name!r} holds {distinct} different whole numbers: taken as "
                "labels (task='regression' takes them as a quantity)."
            )
    if task == "regression":
        return np.array(values), None, task
    whole = (values == np.floor(values)).all() and (np.abs(values) < 2.0**53).all()
    y = values.astype(np.int64) if whole else np.array(values)
    return y, [plain_number(label) for label in np.unique(y)], task


def guess_task(values: np.ndarray) -> str:
    """A few whole numbers, each seen several times, are labels; all else is a quantity."""
    return task_of(np.unique(values), len(values))


def task_of(distinct: np.ndarray, n: int) -> str:
    """The task by the distinct values of a target of ``n`` rows."""
    if len(distinct) <= 2:
        return "classification"
    whole = np.isfinite(distinct).all() and (distinct == np.floor(distinct)).all()
    few = len(distinct) <= 20 and n >= 3 * len(distinct)
    return "classification" if whole and few else "regression"


def _codes(y: np.ndarray, task: str | None) -> np.ndarray:
    return np.unique(y, return_inverse=True)[1] if task == "classification" else y
