"""From a table as it was read to a Dataset: target, roles, encoding, notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from tamiz.data.beside import as_dates, find_dates, read_beside
from tamiz.data.column import Column, RawTable, plain_number
from tamiz.data.dataset import Dataset, count_missing
from tamiz.data.errors import DataError, listed
from tamiz.data.findings import (
    Remarks,
    find_batches,
    find_groups,
    find_leaks,
    report_aside,
    report_batches,
    report_doubtful,
    report_groups,
    report_leaks,
    report_single_rows,
    report_skew,
    report_transposed,
)
from tamiz.data.plan import (
    ASIDE,
    ROLES,
    ColumnPlan,
    duplicates,
    few_valued,
    find_columns,
    judge_text,
    numeric_roles,
    text_role,
)
from tamiz.validation import each_value, one_of, optional, some_columns, task_of

#: What is read, what columns may be, and what a target may ask for, where a user says it.
STATED: dict[str, Any] = {
    "columns": optional(some_columns),
    "drop": optional(some_columns),
    "roles": optional(each_value(one_of(*ROLES), "{'zip': 'categorical'}")),
    "task": one_of("classification", "regression", None),
}
MANY_CLASSES = 0.8  # classes for each row, from which on they are no classes
FEW_CLASSES = 10  # classes of a column that looks like a target
LOOKED_AT = 1000  # columns that are looked at for a suggestion


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
    remarks = Remarks([*table.notes], [one.text for one in table.warnings])
    remarks.found += table.warnings
    by_name = {column.name: column for column in table.columns}
    given = _given_roles(roles, table)
    leaks = "keep" if encode is None else leaks  # cells as they are, all of them
    cleared = {
        *given,
        *find_columns(table.names, [] if keep is None else keep, "keep", table.source),
    }
    target = _Target()
    if plan.target is not None:
        target = _take_target(table, by_name.pop(plan.target), task, plan, remarks, trusted)
    rows = target.rows
    beside = {
        key: read_beside(key, _column(table, by_name, feature), rows, table.source)
        for key, feature in plan.beside.items()
    }
    if "groups" in beside:
        report_single_rows(beside["groups"], plan.beside["groups"], remarks)
    plan = replace(plan, features=[f for f in plan.features if f not in plan.beside.values()])
    X, texts = _matrix(table, plan, by_name, given, rows)
    names = list(plan.features)
    if sparse.issparse(X):
        judged = {feature: given.get(feature, "numeric") for feature in names}
        _note_sparse(X, judged, names, remarks)
        aside = {feature: ASIDE[role] for feature, role in judged.items() if role == "ignore"}
    else:
        judged = _guess(X, names, texts, given, remarks, trusted)
        if not trusted:
            report_doubtful(X, names, judged, given, remarks)
            if plan.guessed and target.task == "regression" and judged[names[0]] in ("id", "text"):
                report_transposed(table, plan, names, texts, target.y, remarks)
        aside = {
            feature: ASIDE[role]
            for feature, role in judged.items()
            if role in ASIDE and (given.get(feature) == role or not trusted)
        }
        if target.y is not None:
            codes = target.codes()
            classes = codes if target.task == "classification" else None
            together, called = find_groups(X, names, classes, judged, cleared)
            away = find_leaks(X, names, codes, target.task, judged, cleared, plan.target, together)
            judged.update(dict.fromkeys(away, "leak"))
            grouped = "groups" in plan.beside
            if not grouped:
                report_groups(together, called, leaks == "drop", remarks)
            others = {f: "leak" if f in together else role for f, role in judged.items()}
            batches = find_batches(X, names, others, cleared)
            report_batches(batches, remarks, not {"time", "groups"} & set(plan.beside))
            alone = {f: how for f, how in away.items() if grouped or f not in together}
            report_leaks(alone, leaks == "drop", remarks)
            if leaks == "drop":
                aside |= {f: f"a suspected leak: gives the target {how}" for f, how in away.items()}
    dated_by = plan.beside.get("time")
    dates: dict[str, np.ndarray] = {}
    if dated_by is None:
        dated_by, dates = find_dates([f for f in aside if judged[f] == "date"], texts)
    elif _column(table, by_name, dated_by).is_text:
        dates = {"dates": as_dates(beside["time"])}
    if encode is None:
        aside = {}
        if texts and not sparse.issparse(X):
            X = _cells(X, names, texts)
    elif aside:
        kept = _not_aside(names, aside, judged, table.source)
        X, names = X[:, kept], [names[j] for j in kept]
        unasked = [f for f in aside if f not in given and judged[f] != "leak"]
        free = not {"time", "groups"} & set(plan.beside)
        report_aside(unasked, judged, remarks, free, dated_by)
    coded = encode is not None or sparse.issparse(X)
    levels = {f: texts[f].levels for f in names if f in texts} if coded else {}
    data = Dataset(
        X,
        target.y,
        names,
        target.names,
        np.array([feature in levels for feature in names], dtype=bool),
        name=name,
        source=table.source,
        target=plan.target,
        task=target.task,
        roles=judged,
        missing=count_missing(X),
        levels=levels,
        aside=aside,
        extras={**_extras(table, rows), **beside, **dates},
        dated_by=dated_by,
        notes=remarks.notes + remarks.alarms,
        warnings=remarks.found,
    )
    return (
        data.encode("onehot") if encode == "onehot" else data
    ), [] if trusted else remarks.alarms


def _extras(table: RawTable, rows: np.ndarray | None) -> dict[str, np.ndarray]:
    """What came beside the table, of the rows that are kept."""
    return {
        key: array[rows] if rows is not None and len(array) == table.n_rows else array
        for key, array in table.extras.items()
    }


# ------------------------------------------------------------------------------------- features


def _given_roles(roles: Mapping[Any, str] | None, table: RawTable) -> dict[str, str]:
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
    remarks: Remarks,
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
        remarks.note("duplicate", copies, f"Columns that repeat another: {shown}{more}.")
    constant = [names[j] for j in range(len(names)) if roles[j] == "constant"]
    if constant:
        remarks.note("constant", constant, f"Constant columns: {listed(constant)}.")
    if not trusted and len(names) <= 1000:
        plain = [j for j in range(len(names)) if roles[j] == "numeric" and names[j] not in given]
        few = [names[j] for j in few_valued(X, plain)]
        if few:
            remarks.note(
                "codes",
                few,
                f"Few integers, taken as numbers: {listed(few)}; if they are codes, say "
                f"roles={{{few[0]!r}: 'categorical'}}.",
            )
    return dict(zip(names, roles, strict=True))


def _cells(X: np.ndarray, names: list[str], texts: dict[str, Column]) -> np.ndarray:
    """The features as Python values."""
    columns = [texts.get(name, Column(name, X[:, j])) for j, name in enumerate(names)]
    return np.column_stack([column.objects() for column in columns])


def _not_aside(
    names: list[str], aside: dict[str, str], judged: dict[str, str], source: str
) -> list[int]:
    """Positions of the features that stay."""
    kept = [j for j, feature in enumerate(names) if feature not in aside]
    if not kept:
        why = "; ".join(f"{feature!r} is {reason}" for feature, reason in list(aside.items())[:3])
        way = (
            f"keep a suspected leak with keep={names[0]!r}"
            if judged[names[0]] == "leak"
            else f"give roles such as roles={{{names[0]!r}: 'categorical'}}"
        )
        raise DataError(f"{source} has no column to use as a feature ({why}); {way}.")
    return kept


def _note_sparse(X: Any, roles: dict[str, str], names: list[str], remarks: Remarks) -> None:
    stored = np.bincount(X.indices, minlength=X.shape[1])
    empty = np.flatnonzero(stored == 0)
    for j in empty:
        roles[names[j]] = "constant"
    if len(empty):
        columns = [names[j] for j in empty]
        remarks.note("constant", columns, f"{len(empty)} columns are zero throughout.")


# ----------------------------------------------------------------------- groups, weights, times


def _column(table: RawTable, by_name: dict[str, Column], name: str) -> Column:
    if name in by_name:
        return by_name[name]
    cells = table.matrix[:, [table.matrix_names.index(name)]]
    return Column(name, (cells.toarray() if sparse.issparse(cells) else cells).ravel())


# ------------------------------------------------------------------------------------ target


@dataclass
class _Target:
    """The target; all is None if there is none, ``rows`` also if all rows have a value."""

    y: np.ndarray | None = None
    names: list[str] | None = None  # of the classes
    task: str | None = None
    rows: np.ndarray | None = None

    def codes(self) -> Any:
        """Numbers of the classes, or the numbers themselves."""
        if self.task != "classification" or self.y is None:
            return self.y
        return np.unique(self.y, return_inverse=True)[1]


def _take_target(
    table: RawTable,
    column: Column,
    task: str | None,
    plan: ColumnPlan,
    remarks: Remarks,
    trusted: bool,
) -> _Target:
    """The target of the rows that have one."""
    missing = column.missing()
    if missing.all():
        raise DataError(
            f"{table.source}: the target {plan.target!r} is missing in every row; name another "
            "column with target=."
        )
    rows = None
    if missing.any():
        rows = np.flatnonzero(~missing)
        column = column.take(rows)
        remarks.warn(
            "rows_dropped",
            [column.name],
            f"Left out for want of a value of the target {plan.target!r}: {int(missing.sum())} of "
            f"{len(missing)} rows.",
        )
    if not trusted:
        refuse_absurd(table, column, task, plan.part)
    y, names, task = read_target(column, task, table.source, remarks.notes)
    if names is not None:
        report_skew(y, names, plan.target, remarks)
    return _Target(y, names, task, rows)


def read_target(
    column: Column, task: str | None, source: str, notes: list[str]
) -> tuple[np.ndarray, list[str] | None, str]:
    """The target as labels or numbers, names of its classes, and the task."""
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
        levels = np.unique(values)
        task, distinct = _task_of(levels, len(values)), len(levels)
        if task == "regression" and (values == np.floor(values)).all():
            notes.append(
                f"The target {column.name!r} holds {distinct} different integers: taken as "
                "numbers (task='classification' takes them as labels)."
            )
        elif task == "classification" and distinct > 10:
            notes.append(
                f"The target {column.name!r} holds {distinct} different integers: taken as "
                "labels (task='regression' takes them as numbers)."
            )
    if task == "regression":
        return np.array(values), None, task
    whole = (values == np.floor(values)).all() and (np.abs(values) < 2.0**53).all()
    y = values.astype(np.int64) if whole else np.array(values)
    return y, [plain_number(label) for label in np.unique(y)], task


def _task_of(levels: np.ndarray, n: int) -> str:
    return task_of(levels, n)


def refuse_absurd(table: RawTable, column: Column, task: str | None, part: bool) -> None:
    """Refuse a target that nobody can predict, and name columns that look like one.

    Of a ``part`` of the rows one class may be all there is.
    """
    n = len(column)
    distinct = len(np.unique(column.numbers()))
    classes = column.is_text or task == "classification"
    role = judge_text(column, distinct, n) if column.is_text else "numeric"
    if distinct == 1 and n > 1 and not part:
        value = column.levels[int(column.codes[0])] if column.codes is not None else None
        shown = repr(value) if value is not None else plain_number(column.numbers()[0])
        why = f"has one value only, {shown}"
    elif role == "date" and distinct > 2:
        why = "holds dates or times"
    elif role == "id":
        why = "has a value of its own in every row, as an identifier has"
    elif role == "text" and distinct >= MANY_CLASSES * n:
        why = "holds free text"
    elif classes and n >= 10 and distinct >= MANY_CLASSES * n:
        why = f"has {distinct:,} classes in {n:,} rows"
    else:
        return
    turned = (
        " If each column is a sample, read the table with transpose=True."
        if column.is_text and _mostly_numbers(column)
        else ""
    )
    others = [
        f"{name!r} ({count} classes)" for name, count in _like_targets(table) if name != column.name
    ][:3]
    hint = f"; {', '.join(others)} {'looks' if len(others) == 1 else 'look'} like one"
    raise DataError(
        f"{table.source}: the target {column.name!r} {why}; name another with target="
        f"{hint if others else ''}.{turned}"
    )


def _mostly_numbers(column: Column) -> bool:
    """Whether the text is numbers with some words between, as in a transposed table."""
    found = 0
    for level in column.levels:
        try:
            float(level)
        except ValueError:
            continue
        found += 1
    return found >= 0.5 * len(column.levels)


def _like_targets(table: RawTable) -> Iterator[tuple[str, int]]:
    """Columns of few levels, or of few integers that occur again; and how many."""
    for name in table.names[:LOOKED_AT]:
        column = table.column(name)
        if column is None:
            continue
        values = column.numbers()
        distinct = np.unique(values[~np.isnan(values)])
        labels = column.is_text or _task_of(distinct, len(values)) == "classification"
        if labels and 2 <= len(distinct) <= min(FEW_CLASSES, len(values) / 3):
            yield column.name, len(distinct)
