"""Results in a file, and the page that several such files make."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tamiz
from tools.gpu_check import Equality, Result, Timing

_PACKAGES = ("cupy-cuda13x", "cupy-cuda12x", "numpy", "scipy", "numba", "torchkm", "torch")
#: The row of comparisons.
SAME = "same"
#: Rows in the order of the page; others follow.
ORDER = ("J1", "J2b", "J2", "J3", "J3b", "J3c", "J5", "J4", "J6", "J7")
_MARK = "tamiz gpu_check 1"


class Report(NamedTuple):
    """What one call found, or several."""

    about: tuple[str, ...]  # date, card and versions of each call
    complete: bool  # of a card and of full sizes
    equalities: tuple[Equality, ...]
    timings: tuple[Timing, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing failed."""
        results: list[Result] = [*self.equalities, *self.timings]
        return all(one.holds for one in results)


class NoResultsError(ValueError):
    """A file does not hold what this program writes."""


def report_of(found: Sequence[Result], card: str, complete: bool) -> Report:
    """What this call found, on this machine."""
    today = datetime.datetime.now(datetime.UTC).date()
    about = (
        f"{today}; {card}; {os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}; {', '.join(_versions())}."
    )
    return Report(
        (about,),
        complete,
        tuple(one for one in found if isinstance(one, Equality)),
        tuple(one for one in found if isinstance(one, Timing)),
    )


def write(report: Report, path: Path) -> None:
    """Put a report into a file; one that is there is replaced when the new one is complete."""
    content: dict[str, Any] = {
        "format": _MARK,
        "about": report.about,
        "complete": report.complete,
        "equalities": [_plain(one) for one in report.equalities],
        "timings": [_plain(one) for one in report.timings],
    }
    beside = path.with_name(path.name + ".new")
    beside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    beside.replace(path)


def read(path: Path) -> Report:
    """A report from a file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _MARK:
            raise KeyError("format")
        timings = [_numbers(one) for one in content["timings"]]
        for one in timings:
            one["gaps"] = tuple((name, tuple(gaps)) for name, gaps in one["gaps"])
        return Report(
            tuple(content["about"]),
            bool(content["complete"]),
            tuple(Equality(**_numbers(one)) for one in content["equalities"]),
            tuple(Timing(**one) for one in timings),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoResultsError(
            f"{path} holds no results of gpu_check ({type(error).__name__}: {error}); give files "
            "that --results wrote."
        ) from None


def merged(reports: Iterable[Report]) -> Report:
    """One report of several: of a result that is in several the last counts.

    A row that was stopped, not run or failed in a later call does not take the place of a time, and
    what was said where there was no time goes when another call has one.
    """
    about: dict[str, None] = {}
    equalities: dict[str, Equality] = {}
    timings: dict[tuple[str, str, str], Timing] = {}
    complete = True
    for report in reports:
        complete &= report.complete
        about |= dict.fromkeys(report.about)
        equalities |= {one.name: one for one in report.equalities}
        for one in report.timings:
            key = one.row, one.workload, one.where
            if one.was_run or not (key in timings and timings[key].was_run):
                timings[key] = one
    for key, one in list(timings.items()):
        if one.holds and not one.was_run and _was_done(one, equalities, timings.values()):
            del timings[key]
    places = {row: place for place, row in enumerate(ORDER)}
    ordered = sorted(timings.values(), key=lambda one: places.get(one.row, len(places)))
    return Report(tuple(about), complete, tuple(equalities.values()), tuple(ordered))


def _was_done(missing: Timing, equalities: Iterable[str], timings: Iterable[Timing]) -> bool:
    """Whether another call had the time for it; its results begin with its name."""
    if missing.row == SAME:
        return any(name.startswith(missing.workload) for name in equalities)
    mine = missing.row, missing.where
    return any(
        one.was_run and (one.row, one.where) == mine and one.workload.startswith(missing.workload)
        for one in timings
    )


def page(report: Report) -> list[str]:
    """The page, line by line."""
    lines = [
        "---",
        "orphan: true",
        "---",
        "",
        "# Benchmarks on a GPU",
        "",
        "Written by `python -m tools.gpu_check --page`; [what is measured](gpu.md).",
        "",
        *(f"- {about}" for about in report.about),
    ]
    if report.equalities:
        good = sum(one.holds for one in report.equalities)
        lines += [
            "",
            "## The same results",
            "",
            f"{good} of {len(report.equalities)} comparisons with the CPU hold.",
            "",
            "| comparison | apart | limit |",
            "|---|---|---|",
            *(
                f"| {_cell(one.name)} | {one.found:.1e}{'' if one.holds else ' **too far**'} "
                f"| {one.limit:.0e} |"
                for one in report.equalities
            ),
        ]
    if report.timings:
        lines += [
            "",
            "## Times",
            "",
            "Seconds on the clock: the least of three calls after the first; the CPU, "
            "eliminations, the largest machine and searches have one call. Gaps are relative "
            "duality gaps of all machines of a row: the median, the one that 95% stay below, and "
            "the largest.",
            "",
            "| row | workload | on | seconds | first call | certificate | gaps | bar |",
            "|---|---|---|---|---|---|---|---|",
            *(
                f"| {one.row} | {_cell(one.workload)} | {_cell(one.where)} "
                f"| {_seconds(one.seconds)} | {_seconds(one.first)} "
                f"| {_cell(one.certificate)}{'' if one.holds else ' **fails**'} "
                f"| {quantiles(one)} | {one.bar} |"
                for one in report.timings
            ),
        ]
    return lines


def quantiles(timing: Timing) -> str:
    """Gaps of all machines in three numbers."""
    gaps = [gap for _, cell in timing.gaps for gap in cell]
    if not gaps:
        return ""
    return ", ".join(f"{one:.1e}" for one in np.quantile(gaps, [0.5, 0.95, 1.0]))


def cells(timing: Timing) -> list[str]:
    """The certificate of every cell, one a line."""
    return [
        f"{timing.row} {name}: {len(gaps)} gaps, largest {max(gaps, default=nan):.1e}"
        for name, gaps in timing.gaps
    ]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _seconds(number: float) -> str:
    return "–" if isnan(number) else f"{number:.3g}"


def _plain(result: Result) -> dict[str, Any]:
    """Fields by name; JSON has no word for a number that is none."""
    return {
        name: None if isinstance(value, float) and isnan(value) else value
        for name, value in result._asdict().items()
    }


def _numbers(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: nan if value is None else value for name, value in fields.items()}


def _versions() -> list[str]:
    found = [f"tamiz {tamiz.__version__}"]  # which need not be installed
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found
