"""Outcomes as a table in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tools.discoveries.data import Setting
from tools.discoveries.methods import METHODS

if TYPE_CHECKING:
    from tools.discoveries.runs import Found, Outcome

_COLUMNS = (
    "data | method | repetitions | asked | realised | inside | FDR wrong | PFER wrong | "
    "PFER unrelated | power | s"
)
#: Fewer repetitions than this say nothing of a rate.
FEWEST = 20


def table(found: Found) -> str:
    """One row for each setting and method.

    *asked* is the rate and its level, and which features it is about. A realised rate is *inside*
    if it is at most two standard errors above the level, those of a rate that is just kept.
    """
    rows = [f"| {_COLUMNS} |", "|" + "---|" * len(_COLUMNS.split("|"))]
    names, last = list(METHODS), None
    for (setting, method), outcomes in sorted(
        found.items(), key=lambda item: (_place(item[0][0]), names.index(item[0][1]))
    ):
        if outcomes:
            shown = str(setting) if setting != last else ""
            rows.append("| " + " | ".join([shown, *_cells(setting, method, outcomes)]) + " |")
            last = setting
    return "\n".join(rows)


def summary(found: Found) -> str:
    """How many cells are inside of what they promise, and which are not."""
    verdicts = {cell: verdict(*cell, outcomes)[1] for cell, outcomes in found.items() if outcomes}
    words = list(verdicts.values())
    lines = [
        f"{words.count('yes')} cells inside, {words.count('NO')} outside, {words.count('too few')} "
        f"with fewer than {FEWEST} repetitions, {words.count('')} without a promise to count; "
        f"{sum(map(len, found.values()))} repetitions."
    ]
    lines += [f"- outside: {s}: {m}" for (s, m), word in verdicts.items() if word == "NO"]
    return "\n".join(lines)


def by_method(found: Found) -> str:
    """One row for each method: how many of its cells keep the promise, and the worst of them."""
    rows = [
        "| method | promise | cells | repetitions | inside | highest rate | median power |",
        "|---|---|---:|---:|---:|---|---:|",
    ]
    for name, one in METHODS.items():
        cells = {s: outcomes for (s, m), outcomes in found.items() if m == name and outcomes}
        judged = {s: o for s, o in cells.items() if verdict(s, name, o)[1] in ("yes", "NO")}
        power = [
            float(np.mean([o.power for o in outcomes]))
            for s, outcomes in cells.items()
            if s.signal != "nothing"
        ]
        if not judged:
            continue
        rates = {s: verdict(s, name, outcomes)[0] for s, outcomes in judged.items()}
        worst = max(rates, key=lambda s: float(rates[s].split()[0]))
        inside = sum(verdict(s, name, o)[1] == "yes" for s, o in judged.items())
        counts = [len(outcomes) for outcomes in judged.values()]
        between = f"{min(counts)}–{max(counts)}" if min(counts) < max(counts) else f"{counts[0]}"
        middle = f"{np.median(power):.2f}" if power else ""
        rows.append(
            f"| {name} | {one.rate} ≤ {one.level:g} of {one.about} features | {len(judged)} "
            f"| {between} | {inside} | {rates[worst]} ({worst}) | {middle} |"
        )
    return "\n".join(rows)


def _place(setting: Setting) -> tuple[int, int, str, str]:
    return setting.n, setting.p, setting.signal, setting.design


def _cells(setting: Setting, method: str, outcomes: list[Outcome]) -> list[str]:
    one = METHODS[method]
    wrong = np.array([o.wrong for o in outcomes])
    unrelated = np.array([o.unrelated for o in outcomes])
    selected = np.maximum(1, [o.selected for o in outcomes])
    power = np.array([o.power for o in outcomes])
    realised, inside = verdict(setting, method, outcomes)
    return [
        method,
        str(len(outcomes)),
        f"{one.rate} ≤ {one.level:g}, {one.about}" if one.rate else "no promise",
        realised,
        inside,
        _mean(wrong / selected),
        _mean(wrong),
        _mean(unrelated),
        "" if np.isnan(power).all() else f"{power.mean():.2f}",
        f"{np.median([o.seconds for o in outcomes]):.2g}",
    ]


def verdict(setting: Setting, method: str, outcomes: list[Outcome]) -> tuple[str, str]:
    """The realised rate, and "yes", "NO", "too few", or "" if there is nothing to count."""
    one = METHODS[method]
    if not one.rate or (
        one.about == "unrelated" and setting.design == "factor" and setting.signal != "nothing"
    ):
        return "", ""
    false = np.array([getattr(o, one.about) for o in outcomes], dtype=float)
    selected = np.maximum(1, [o.selected for o in outcomes])
    values = {"FDR": false / selected, "PFER": false, "FWER": (false > 0).astype(float)}[one.rate]
    if len(values) < FEWEST:
        return _mean(values), "too few"
    # the error of a rate that is just kept: Poisson for a number, binomial for a fraction; the
    # fractions of many features vary less, and then what was seen says more
    spread = one.level if one.rate == "PFER" else one.level * (1 - one.level)
    if values.mean() > one.level:
        spread = min(spread, values.var(ddof=1))
    error = np.sqrt(spread / len(values))
    return _mean(values), "yes" if values.mean() <= one.level + 2 * error else "NO"


def _mean(values: np.ndarray) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3f} ± {error:.3f}"
