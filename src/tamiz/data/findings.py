"""What is said of a table: features that give the target away or are none, rare classes.

Everything is said twice: as a note or a warning for people, and as a finding with a
code for programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tamiz.data.column import Column, RawTable
from tamiz.data.errors import Finding, listed
from tamiz.data.leak import MANY, belonging, leaks
from tamiz.data.plan import ColumnPlan
from tamiz.data.roles import ASIDE, perhaps_identifiers

RARE = 0.2  # a class of fewer rows is rare, where there are two

_SAMPLE = re.compile(
    r"(GSM|SRR|ERR|TCGA|sample|patient|subject|case|control|tumou?r|normal|donor|array|chip|"
    r"specimen|muestra|paciente)[\W_]*\w{0,12}([\W_]\w{1,6})*",
    re.IGNORECASE,
)
_MADE_UP = re.compile(r"(x|f|v|var|feature|feat|col|column|attr|attribute|unnamed|pc|dim)[\W_]*\d+",
                      re.IGNORECASE)  # fmt: skip


@dataclass
class Told:
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


def tell_skew(y: np.ndarray, target_names: list[str], target: str | None, told: Told) -> None:
    """A class that has far fewer rows than its part."""
    counts = np.unique(y, return_counts=True)[1]
    rarest = int(counts.argmin())
    part = counts[rarest] / len(y)
    if len(counts) > 1 and part < min(RARE, 4 * RARE / len(counts)):
        told.found.append(
            Finding(
                "skew",
                (target or "target",),
                f"Class {target_names[rarest]!r} is rare: {counts[rarest]:,} of {len(y):,} rows "
                f"({100 * part:.1f} %). Accuracy says little; look at balanced accuracy.",
            )
        )


def tell_doubtful(
    X: np.ndarray, names: list[str], roles: dict[str, str], given: dict[str, str], told: Told
) -> None:
    """Features that may be identifiers."""
    plain = [j for j, f in enumerate(names) if roles[f] == "numeric" and f not in given]
    doubtful = [names[j] for j in perhaps_identifiers(X, names, plain)]
    if doubtful:
        told.warn(
            "id",
            doubtful,
            f"Perhaps identifiers, but used as features: {listed(doubtful)} (the name says so, "
            "and hardly any value returns). If they are, leave them out with drop=.",
        )


def tell_transposed(
    table: RawTable,
    plan: ColumnPlan,
    names: list[str],
    texts: dict[str, Column],
    y: Any,
    told: Told,
) -> None:
    """A table whose columns are called like samples, the last of which was taken as the target."""
    samples = [*names[1:], str(plan.target)]
    if set(texts).intersection(names) != {names[0]} or len(np.unique(y)) < 0.5 * len(y):
        return
    if names[0] == table.names[0] and len(y) > len(samples) and looks_transposed(samples):
        told.warn(
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
) -> dict[str, str]:
    """Features that give the target away, and how well."""
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
    if task == "classification" and len(codes) > 4 * MANY:
        for k, n_values in belonging(inside, codes).items():
            away.setdefault(
                called[k],
                f"in every row, by {n_values} values of one class each; if the rows of a value "
                f"belong together, say groups={called[k]!r}",
            )
    place = {name: j for j, name in enumerate(names)}
    for name in [name for name in names if away and roles[name] == "duplicate"]:
        for first, how in list(away.items()):
            if np.array_equal(X[:, place[name]], X[:, place[first]], equal_nan=True):
                away[name] = how
                break
    return away


def tell_leaks(away: dict[str, str], dropped: bool, told: Told) -> None:
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
    told.warn("leak", away, text)


def tell_aside(unasked: list[str], roles: dict[str, str], told: Told) -> None:
    """Columns that were set aside unasked: one warning, and a finding for each reason."""
    by_role: dict[str, list[str]] = {}
    for feature in unasked:
        by_role.setdefault(roles[feature], []).append(feature)
    if not by_role:
        return
    reasons = {role: f"{listed(those)} ({ASIDE[role]})" for role, those in by_role.items()}
    told.alarms.append(
        f"Not used as features: {', '.join(reasons.values())}. Keep one with "
        f"roles={{{unasked[0]!r}: 'numeric'}} or 'categorical'."
    )
    told.found += [
        Finding(role, tuple(those), f"Not used as features: {reasons[role]}.")
        for role, those in by_role.items()
    ]
