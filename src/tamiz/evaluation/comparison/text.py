"""A comparison as text: a table, and a sentence about selection bias."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tamiz.evaluation.comparison.estimates import Estimate
    from tamiz.evaluation.comparison.result import Comparison

#: What is there to be beaten.
BASELINES = ("random", "all")


def describe(found: Comparison) -> str:
    """What ``print`` shows."""
    n_repeats = len(np.unique(found.repeat))
    splits = f"{len(found.repeat)} splits"
    if n_repeats > 1:
        splits = f"{len(found.repeat) // n_repeats} folds × {n_repeats} repeats"
    lines = [
        f"{_count(len(found.methods), 'method')} on {found.n_samples} samples × "
        f"{found.n_features} features, {splits}"
    ]
    if found.status != "complete":
        done = np.isfinite(found.select_seconds).sum()
        total = found.select_seconds.size
        why = "by Ctrl-C" if found.status == "interrupted" else "by the time budget"
        lines.append(f"CUT SHORT {why}: {done} of {total} units are done; means are over those.")
    estimates = found.estimates()
    lines += ["", *_table(found, estimates), "", *_explained(found)]
    lines += bias_sentence(found, estimates)
    lines += [f"Note: {note}" for note in found.notes]
    return "\n".join(lines)


def _table(found: Comparison, estimates: list[Estimate]) -> list[str]:
    unit = " %" if found.shares else ""
    level = f"{100 * found.confidence:g} %"
    head = ["method", "judge", "size", f"honest {found.metric}{unit}", f"{level} interval"]
    head += ["apparent", "selection bias", "seconds"]
    rows = [head]
    for one in estimates:
        short = one.n_splits < len(found.repeat)
        rows.append(
            [
                one.method + (" (own size)" if _has_two(estimates, one) else ""),
                one.judge,
                "–" if np.isnan(one.size) else f"{one.size:.0f}",
                number(found, one.error) + ("*" if short else ""),
                f"{number(found, one.low)} – {number(found, one.high)}",
                number(found, one.apparent),
                number(found, one.bias, signed=True),
                _seconds(one.select_seconds),
            ]
        )
    widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
    left = (0, 1)
    text = [
        "  ".join(
            cell.ljust(width) if c in left else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    text.insert(1, "  ".join("-" * width for width in widths))
    if any(row[3].endswith("*") for row in rows[1:]):
        text.append(f"* fewer than the {len(found.repeat)} splits have a value.")
    return text


def _explained(found: Comparison) -> list[str]:
    how = "an inner cross-validation" if found.nested else "the other folds of the repeat"
    rule = "least error" if found.rule == "best" else "one standard error"
    if found.nested:
        what = "gaps, scale, ranking and number of features come from the training part alone;"
    else:  # the samples that judge helped to train the machines that chose
        what = "gaps, scale and ranking come from the training part alone; of the features"
    return [
        f"Honest: {what}",
        f"the number is chosen by {how} (rule: {rule}). Size: chosen on all splits.",
        "Apparent: the same steps with the features ranked on all data first. Intervals: of the",
        "mean, corrected for overlapping training parts (Nadeau, Bengio). Seconds: one selection.",
    ]


def bias_sentence(found: Comparison, estimates: list[Estimate]) -> list[str]:
    """What ranking the features on all data would have promised."""
    known = [one for one in estimates if np.isfinite(one.bias)]
    known = [one for one in known if one.method not in BASELINES] or known
    if not known:
        return []
    worst = max(known, key=lambda one: one.bias)
    unit, by = (" %", " points") if found.shares else ("", "")
    if worst.bias <= 0:
        return ["Selection bias: no method looks better with its features ranked on all data."]
    return [
        "Selection bias: with its features ranked on all data before the cross-validation,",
        f"{worst.method} would seem to err {number(found, worst.apparent)}{unit}; honestly it errs "
        f"{number(found, worst.error)}{unit}: {number(found, worst.bias)}{by} more"
        + (", within its interval." if worst.low <= worst.apparent else "."),
    ]


def number(found: Comparison, value: float, signed: bool = False) -> str:
    """An error as it is shown: in per cent where it is a share."""
    if np.isnan(value):
        return "–"
    sign = "+" if signed else ""
    value = 0.0 if abs(value) < 1e-9 else value  # a difference of equals
    return format(100 * value, f"{sign}.1f") if found.shares else format(value, f"{sign}.4g")


def _has_two(estimates: list[Estimate], one: Estimate) -> bool:
    """Whether a method is listed with a chosen and with its own size, and this is the latter."""
    return one.kind == "own" and any(
        other.kind == "chosen" and other.method == one.method and other.judge == one.judge
        for other in estimates
    )


def _seconds(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}" if value >= 0.0005 else "<0.001"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
