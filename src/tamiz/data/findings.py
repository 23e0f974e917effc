"""What is said of a table: features that give the target away or are none, rare classes.

Everything is said twice: as a note or a warning for people, and as a finding with a
code for programs.

Features that give the target away.

A column that alone gives the class of (nearly) every sample is either the answer under another
name, or something known only afterwards. Three kinds are distinguished:

- A column of few values, each of which goes with one class, leaves no doubt.
- A column of many values may separate the classes because the problem is easy. It is reported if
  hardly any other column does so, and the best of the others is far behind. So is a column with a
  few exceptions, fewer than one in fifty of the errors made without any feature.
- A column that is called like the target may have more exceptions.

On tables with more columns than rows some column separates the classes by chance, or because one
gene in thousands does; there only columns with as few values as classes are looked at. In a
regression a column is reported that rises or falls with the target without exception, or whose
squared correlation with it is 0.999 or more, far beyond that of the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tamiz.data.column import Column, RawTable
from tamiz.data.errors import Finding, listed
from tamiz.data.plan import (
    ASIDE,
    ColumnPlan,
    named_like_batch,
    named_like_group,
    named_like_key,
    perhaps_identifiers,
)

LEAST = 20  # with fewer rows a perfect column may be luck
ALONE = 0.9  # fraction of the rows that are the only one of their group, which are no groups
NEARLY = 0.02  # errors, as a fraction of those made without features, that are nearly none ...
CALLED = 0.1  # ... and for a column that is called like the target
FAR = 0.15  # the best of the other columns makes so many at least ...
TIMES = 10  # ... and so many times more
MANY = 10  # values of a column that says which rows belong together
CHANCE = 0.01  # accepted probability that any column does so by chance
SAMPLE = 512  # rows on which all columns are judged


def leaks(
    X: np.ndarray, y: np.ndarray, classes: bool, names: list[str] | None = None, target: str = ""
) -> dict[int, str]:
    """Positions of the columns that determine ``y`` (codes of classes, or numbers), and how well.

    With ``names``, a column that is called like ``target`` may have more exceptions.
    """
    n, p = X.shape
    if n < LEAST or (y == y[0]).all():
        return {}
    called = [_called_like(name, target) for name in names or []]
    with np.errstate(invalid="ignore", over="ignore"):  # of infinite numbers
        return (_by_class if classes else _by_number)(X, y, np.array(called or [False] * p))


def belonging(X: np.ndarray, y: np.ndarray) -> dict[int, int]:
    """Positions of columns whose values seem to say which rows belong together, and how many.

    Such a column (a patient, a batch, a day) has ten values or more, most of which return, each
    always with the same class, and neighbouring values with other ones: a model that has seen some
    rows of a value knows the class of the others, and learns nothing about new ones.
    """
    n, p = X.shape
    y = np.unique(y, return_inverse=True)[1]
    parts = np.bincount(y) / n
    found = {}
    for j in range(p):
        column = X[:, j]
        there = ~np.isnan(column)
        values, which, counts = np.unique(column[there], return_inverse=True, return_counts=True)
        again = counts > 1
        if len(values) < MANY or counts[again].sum() < 0.8 * n:
            continue
        table = np.zeros((len(values), len(parts)))
        np.add.at(table, (which, y[there]), 1)
        if (table.max(axis=1) < counts).any():
            continue
        changes = np.count_nonzero(np.diff(table.argmax(axis=1)))
        # one class in all rows of a value: at most so likely for each of the classes
        bound = np.log(len(parts)) + counts[again] * np.log(parts.max())
        chance = float(np.minimum(bound, 0.0).sum())
        if changes > len(values) / 10 and chance + math.log(p) < math.log(CHANCE) - 10:
            found[j] = len(values)
    return found


class _Fit(NamedTuple):
    """How well a column alone gives the class."""

    errors: int  # made by thresholds, one fewer than classes, or by the majority at each value
    base: int  # errors made without the column
    few: bool  # each of few values goes with its own class

    @property
    def rate(self) -> float:
        return self.errors / self.base if self.base else 1.0

    def shown(self, n: int) -> str:
        return f"in all but {self.errors:,} of {n:,} rows" if self.errors else "in every row"


# ------------------------------------------------------------------------------- classification


def _by_class(X: np.ndarray, y: np.ndarray, called: np.ndarray) -> dict[int, str]:
    n, p = X.shape
    y = np.unique(y, return_inverse=True)[1]
    counts = np.bincount(y)
    if len(counts) > n // 5:
        return {}
    rows = np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp)
    # the rare classes too
    rows = np.unique(
        np.concatenate([rows, *(np.flatnonzero(y == k)[:3] for k in range(min(len(counts), 100)))])
    )
    asked = np.arange(p)
    if p > n:
        head = np.sort(X[:16], axis=0)  # NaN last, each unequal to the next
        asked = asked[
            (np.diff(head, axis=0) != 0).sum(axis=0) < len(counts) + np.isnan(head).sum(0)
        ]
    part, y_part = np.ascontiguousarray(X[rows][:, asked].T), y[rows]
    rate = np.array([_fit(column, y_part, whole=False).rate for column in part])
    likely = rate <= np.where(called[asked], 2 * CALLED, 2.5 * NEARLY)
    found: dict[int, _Fit] = {}
    for k in np.flatnonzero(likely).tolist():
        j = int(asked[k])
        fit = _fit(X[:, j], y, whole=True)
        limit = CALLED if called[j] else NEARLY
        if fit.rate <= limit and (p <= n or fit.few) and _beyond_chance(fit.errors, counts, p):
            found[j] = fit
            rate[k] = fit.rate
    sure = [j for j, fit in found.items() if (fit.few and not fit.errors) or called[j]]
    doubtful = [j for j in found if j not in sure]
    others = rate[~np.isin(asked, list(found))]
    next_best = float(others.min(initial=1.0))
    if len(doubtful) > max(1, p // 10) or next_best < FAR:
        doubtful = []
    doubtful = [j for j in doubtful if next_best >= TIMES * found[j].rate]
    return {j: found[j].shown(n) for j in sorted([*sure, *doubtful])}


def _fit(column: np.ndarray, y: np.ndarray, whole: bool) -> _Fit:
    """The errors of the better of two rules: thresholds, or the majority at each of few values.

    Missing values are a value of their own; if they are few, and the others determine the class,
    they are passed over. Of a part of the rows (``whole`` is false) more values are few.
    """
    n = len(y)
    gone = np.isnan(column)
    n_gone = int(gone.sum())
    values, place = np.unique(column[~gone], return_inverse=True)
    k = int(y.max()) + 1
    known = np.bincount(place * k + y[~gone], minlength=len(values) * k).reshape(-1, k)
    at_gaps = np.bincount(y[gone], minlength=k)
    by_class = known.sum(axis=0)
    base_known, base = int(len(place) - by_class.max()), int(n - (by_class + at_gaps).max())
    few = len(values) <= max(k, n // (20 if whole else 2))
    by_value = int(len(place) - known.max(axis=1).sum()) if few and len(values) else n
    errors = min(by_value, _by_thresholds(known))
    few = few and by_value == errors
    if n_gone and not errors and 2 * len(place) >= n and base_known:
        return _Fit(0, base_known, few)
    return _Fit(errors + int(n_gone - at_gaps.max()), base, few)


def _by_thresholds(known: np.ndarray) -> int:
    """Errors of one interval for each class, given how often each value goes with each class.

    Of two classes these are the rows on the wrong side of the best threshold. Of more, the best
    interval of each class is the stretch with the greatest sum of +1 for its own rows and -1 for
    others; each error counts for two classes.
    """
    if not len(known):
        return 0
    total = known.sum(axis=1, keepdims=True)
    sums = np.vstack([np.zeros((1, known.shape[1])), np.cumsum(2 * known - total, axis=0)])
    own = known.sum(axis=0)
    if known.shape[1] == 2:
        return int(own[1] - max(sums[:, 1].max(), (sums[-1, 1] - sums[:, 1]).max()))
    gain = (sums - np.minimum.accumulate(sums, axis=0)).max(axis=0)
    return math.ceil(float((own - gain).sum()) / 2)


def _beyond_chance(errors: int, counts: np.ndarray, p: int) -> bool:
    """Whether labels in random order would hardly give any of ``p`` columns so few errors."""
    n = int(counts.sum())
    orders = math.lgamma(n + 1) - sum(math.lgamma(count + 1) for count in counts.tolist())
    with_errors = math.lgamma(n + 1) - math.lgamma(errors + 1) - math.lgamma(n - errors + 1)
    with_errors += errors * math.log(len(counts))
    arrangements = math.lgamma(len(counts) + 1)
    return math.log(p) + with_errors + arrangements - orders < math.log(CHANCE)


def _called_like(name: str, target: str) -> bool:
    """Whether the words of the target's name are among those of the column's."""
    words, wanted = (
        re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
        for text in (name, target)
    )
    wanted = [word for word in wanted if len(word) > 2]
    return bool(wanted) and all(word in words for word in wanted)


# ----------------------------------------------------------------------------------- regression


def _by_number(X: np.ndarray, y: np.ndarray, called: np.ndarray) -> dict[int, str]:
    n, p = X.shape
    rows = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))
    part, y_part = np.ascontiguousarray(X[rows].T), y[rows]
    whole = len(rows) == n
    sure = {
        j: "in every row"
        for j in range(p)
        if _follows(part[j], y_part, whole) and _follows(X[:, j], y, True)
    }
    others = [j for j in range(p) if j not in sure]
    rest = np.array([_unexplained(part[j], y_part) for j in others])
    near = [j for j, left in zip(others, rest, strict=True) if left <= 0.002]
    exact = {j: left for j in near if (left := _unexplained(X[:, j], y)) <= 0.001}
    next_best = float(rest[~np.isin(others, list(exact))].min(initial=1.0))
    if len(exact) > max(1, p // 10):
        exact = {j: left for j, left in exact.items() if called[j]}
    reported = {
        j: f"squared correlation {1 - left:.5f}"
        for j, left in exact.items()
        if called[j] or next_best >= TIMES * max(left, 0.001)
    }
    return dict(sorted({**sure, **reported}.items()))


def _unexplained(column: np.ndarray, y: np.ndarray) -> float:
    """One minus the squared correlation; 1 if too few values are known."""
    there = ~np.isnan(column) & np.isfinite(column)
    if 2 * there.sum() < len(y) or there.sum() < LEAST:
        return 1.0
    x, t = column[there], y[there]
    scale = np.abs(x).max()
    x = x / scale if scale > 0 else x
    t = t / max(float(np.abs(t).max()), np.finfo(float).tiny)
    x, t = x - x.mean(), t - t.mean()
    size = float(x @ x) * float(t @ t)
    return 1.0 - float(x @ t) ** 2 / size if size > 0 else 1.0


def _follows(column: np.ndarray, y: np.ndarray, whole: bool) -> bool:
    """Whether a number rises, or falls, with the target without exception."""
    n = len(column)
    there = ~np.isnan(column)
    column, y = column[there], y[there]
    if whole and (len(column) < max(LEAST, n // 2) or len(np.unique(y)) < 3):
        return False
    order = np.lexsort((y, column))
    up, by = np.diff(column[order]), np.diff(y[order])
    if (by[up == 0] != 0).any():
        return False
    return bool((by >= 0).all() or (by <= 0).all())


# ----------------------------------------------------------------------------------------- findings


RARE = 0.2  # a class of fewer rows is rare, where there are two

_SAMPLE = re.compile(
    r"(GSM|SRR|ERR|TCGA|sample|patient|subject|case|control|tumou?r|normal|donor|array|chip|"
    r"specimen|muestra|paciente)[\W_]*\w{0,12}([\W_]\w{1,6})*",
    re.IGNORECASE,
)
_MADE_UP = re.compile(r"(x|f|v|var|feature|feat|col|column|attr|attribute|unnamed|pc|dim)[\W_]*\d+",
                      re.IGNORECASE)  # fmt: skip


@dataclass
class Remarks:
    """What is said of a table: notes, warnings, and both with codes."""

    notes: list[str]
    alarms: list[str] = field(default_factory=list)
    found: list[Finding] = field(default_factory=list)

    def note(self, code: str, columns: Iterable[str], text: str) -> None:
        self.notes.append(text)
        self.found.append(Finding(code, tuple(columns), text))

    def warn(self, code: str, columns: Iterable[str], text: str) -> None:
        self.alarms.append(text)
        self.found.append(Finding(code, tuple(columns), text))


def report_skew(
    y: np.ndarray, target_names: list[str], target: str | None, remarks: Remarks
) -> None:
    """A class that has far fewer rows than its part."""
    counts = np.unique(y, return_counts=True)[1]
    rarest = int(counts.argmin())
    part = counts[rarest] / len(y)
    if len(counts) > 1 and part < min(RARE, 4 * RARE / len(counts)):
        remarks.found.append(
            Finding(
                "skew",
                (target or "target",),
                f"Class {target_names[rarest]!r} is rare: {counts[rarest]:,} of {len(y):,} rows "
                f"({100 * part:.1f} %). Accuracy says little; look at balanced accuracy.",
            )
        )


def report_doubtful(
    X: np.ndarray, names: list[str], roles: dict[str, str], given: dict[str, str], remarks: Remarks
) -> None:
    """Features that may be identifiers."""
    plain = [j for j, f in enumerate(names) if roles[f] == "numeric" and f not in given]
    doubtful = [names[j] for j in perhaps_identifiers(X, names, plain)]
    if doubtful:
        remarks.warn(
            "id",
            doubtful,
            f"Perhaps identifiers, but used as features: {listed(doubtful)} (the name says so, "
            "and hardly any value returns). If they are, leave them out with drop=.",
        )


def report_transposed(
    table: RawTable,
    plan: ColumnPlan,
    names: list[str],
    texts: dict[str, Column],
    y: Any,
    remarks: Remarks,
) -> None:
    """A table whose columns are called like samples, the last of which was taken as the target."""
    samples = [*names[1:], str(plan.target)]
    if set(texts).intersection(names) != {names[0]} or len(np.unique(y)) < 0.5 * len(y):
        return
    if names[0] == table.names[0] and len(y) > len(samples) and looks_transposed(samples):
        remarks.warn(
            "transposed",
            samples,
            f"{table.source} seems to hold samples in columns ({listed(samples, 3)}) and features "
            "in rows, and so the last sample was taken as the target. If so, read it with "
            "transpose=True and labels='labels.csv' (two columns: sample, label), or name the row "
            "of labels with target=.",
        )


def looks_transposed(names: Sequence[str]) -> bool:
    """Whether names of columns are those of samples: ``GSM123``, ``patient 7``, or one word and a
    number throughout."""
    if len(names) < 4 or sum(bool(_MADE_UP.fullmatch(name)) for name in names) > len(names) // 2:
        return False
    like_samples = sum(bool(_SAMPLE.fullmatch(name)) for name in names)
    numbered = {re.sub(r"\d+", "#", name) for name in names}
    return like_samples >= 0.8 * len(names) or (len(numbered) == 1 and "#" in numbered.pop())


def find_leaks(
    X: np.ndarray,
    names: list[str],
    codes: np.ndarray,
    task: str | None,
    roles: dict[str, str],
    cleared: set[str],
    target: str | None,
    together: dict[str, int],
) -> dict[str, str]:
    """Features that give the target away, and how well; ``together`` comes from find_groups."""
    asked = [
        j
        for j, name in enumerate(names)
        if roles[name] in ("numeric", "categorical") and name not in cleared
    ]
    if not asked:
        return {}
    inside = X if len(asked) == len(names) else X[:, asked]
    called = [names[j] for j in asked]
    found = leaks(inside, codes, task == "classification", called, target or "")
    away = {called[k]: how for k, how in found.items()}
    for name, n_values in together.items():
        away[name] = f"in every row, by {n_values:,} values of one class each"
    place = {name: j for j, name in enumerate(names)}
    for name in [name for name in names if away and roles[name] == "duplicate"]:
        for first, how in list(away.items()):
            if np.array_equal(X[:, place[name]], X[:, place[first]], equal_nan=True):
                away[name] = how
                break
    return away


def find_groups(
    X: np.ndarray,
    names: list[str],
    codes: np.ndarray | None,
    roles: dict[str, str],
    cleared: set[str],
) -> tuple[dict[str, int], dict[str, int]]:
    """Features that seem to say which rows belong together, with their numbers of values.

    The first are those whose values go with one class each (``codes``; None if there are none), the
    second have only the name of such a column, and values that return.
    """
    asked = [
        j
        for j, name in enumerate(names)
        if roles[name] in ("numeric", "categorical") and name not in cleared
    ]
    together = {}
    if codes is not None and len(codes) > 4 * MANY and asked:
        inside = X if len(asked) == len(names) else X[:, asked]
        together = {names[asked[k]]: n for k, n in belonging(inside, codes).items()}
    called = {}
    for j in asked:
        if names[j] in together:
            continue
        if named_like_group(names[j]) or named_like_key(names[j]):
            values, counts = np.unique(X[:, j][~np.isnan(X[:, j])], return_counts=True)
            whole = bool((values == np.floor(values)).all())
            if whole and len(values) >= MANY and counts[counts > 1].sum() >= 0.8 * len(X):
                called[names[j]] = len(values)
    return together, called


def report_groups(
    together: dict[str, int], called: dict[str, int], dropped: bool, remarks: Remarks
) -> None:
    """Features that seem to say which rows belong together, where no groups were named."""
    people = {name: n for name, n in called.items() if named_like_group(name)}
    keys = {name: n for name, n in called.items() if name not in people}
    sure = "Perhaps the rows of a value belong together (a patient, a customer)"
    unsure = "The rows of a value may belong together"
    for found, begin, one, many in (
        (
            together,
            sure,
            "each of its values goes with one class",
            "each of their values goes with one class",
        ),
        (
            people,
            sure,
            "its name says so, and its values return",
            "their names say so, and their values return",
        ),
        (
            keys,
            unsure,
            "it is called like an identifier, and its values return",
            "they are called like identifiers, and their values return",
        ),
    ):
        if not found:
            continue
        alone = len(found) == 1
        shown = ", ".join(f"{name!r} ({n:,} values)" for name, n in list(found.items())[:5])
        if dropped and found is together:
            fate = "The column is left out." if alone else "The columns are left out."
        else:
            fate = "It is used as a feature." if alone else "They are used as features."
        remarks.warn(
            "groups",
            found,
            f"{begin}: {shown}; {one if alone else many}. If they do, errors are far too small "
            f"unless you say groups={next(iter(found))!r}. {fate}",
        )


def report_single_rows(groups: np.ndarray, column: str, remarks: Remarks) -> None:
    """A column that was named for the groups, and in which nearly no rows belong together."""
    alone = int((np.unique(groups, return_counts=True)[1] == 1).sum())
    if alone >= ALONE * len(groups):
        remarks.warn(
            "single_rows",
            [column],
            f"By {column!r} nearly no rows belong together: {alone:,} of {len(groups):,} are the "
            "only one of their group, so that keeping groups together changes little. If rows "
            "belong together by another column, name that one.",
        )


def find_batches(
    X: np.ndarray, names: list[str], roles: dict[str, str], cleared: set[str]
) -> dict[str, int]:
    """Features that by their name are batches or places of measurement, if all values return."""
    found = {}
    for j, name in enumerate(names):
        if roles[name] not in ("numeric", "categorical") or name in cleared:
            continue
        if named_like_batch(name):
            values, counts = np.unique(X[:, j][~np.isnan(X[:, j])], return_counts=True)
            if len(values) > 1 and counts.min() > 1 and bool((values == np.floor(values)).all()):
                found[name] = len(values)
    return found


def report_batches(batches: dict[str, int], remarks: Remarks, free: bool) -> None:
    """Features that are called like batches; ``free``: neither times nor groups were named."""
    if not batches:
        return
    alone, first = len(batches) == 1, next(iter(batches))
    shown = ", ".join(f"{name!r} ({n:,} values)" for name, n in list(batches.items())[:5])
    apart = f"; to be judged on batches that were not learned from say groups={first!r}" * free
    remarks.warn(
        "batches",
        batches,
        f"{'Perhaps a batch' if alone else 'Perhaps batches'} of measurement, by "
        f"{'its name' if alone else 'their names'}: {shown}. To take out what differs between "
        f"batches say adjust={first!r}{apart}. "
        f"{'It is used as a feature' if alone else 'They are used as features'}.",
    )


def report_leaks(away: dict[str, str], dropped: bool, remarks: Remarks) -> None:
    """Features that alone give the target away."""
    if not away:
        return
    shown = ", ".join(f"{name!r} ({how})" for name, how in list(away.items())[:5])
    shown += f" and {len(away) - 5} more" if len(away) > 5 else ""
    if dropped:
        text = (
            f"Left out as suspected leaks, since each alone gives the target: {shown}. If one is "
            f"known before the target is, keep it with keep={next(iter(away))!r}."
        )
    else:
        text = (
            f"Each of these features alone gives the target: {shown}. Check that they are known "
            "before the target is; if not, leave them out with drop=."
        )
    remarks.warn("leak", away, text)


def report_aside(
    unasked: list[str], roles: dict[str, str], remarks: Remarks, free: bool, dated_by: str | None
) -> None:
    """Columns that were set aside unasked: one warning, and a finding for each reason.

    ``free``: neither times nor groups were named, so that times may be suggested: those of the
    column ``dated_by``, if there is one.
    """
    by_role: dict[str, list[str]] = {}
    for feature in unasked:
        by_role.setdefault(roles[feature], []).append(feature)
    if not by_role:
        return
    reasons = {role: f"{listed(those)} ({ASIDE[role]})" for role, those in by_role.items()}
    dates = by_role.get("date", [])
    when = ""
    if dates and free and (dated_by or len(dates) == 1):
        when = (
            f" If what is known early has to predict what comes later, say time="
            f"{dated_by or dates[0]!r}: the past is learned from, and what follows is judged by."
        )
    elif dates and free:
        when = (
            f" Which of {listed(dates)} says when a row was is not known: name it with time=, and "
            "the past is learned from, what follows is judged by, and changes over time are seen."
        )
    remarks.alarms.append(
        f"Not used as features: {', '.join(reasons.values())}. Keep one with "
        f"roles={{{unasked[0]!r}: 'numeric'}} or 'categorical'.{when}"
    )
    remarks.found += [
        Finding(
            role,
            tuple(those),
            f"Not used as features: {reasons[role]}.{when if role == 'date' else ''}",
        )
        for role, those in by_role.items()
    ]
