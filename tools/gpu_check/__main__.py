"""The command."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from math import nan
from pathlib import Path
from typing import Any

import tamiz
import tools.gpu_check as gpu_check
from tamiz.gpu import Lane, NoCardError, emulated, lane_of
from tools.gpu_check import Equality, Timing, machines

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks-gpu.md"
#: The part of the counting filters and Relief, a program of its own as well.
_COUNTS = "tools.gpu_check.counts"
_PACKAGES = ("cupy-cuda13x", "cupy-cuda12x", "numpy", "scipy", "numba", "torchkm", "torch")


def main(arguments: list[str] | None = None) -> int:
    """Run, print the tables, write the page if asked to; the exit code."""
    parser = argparse.ArgumentParser(
        description=gpu_check.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [*machines.ROWS, *(["counts"] if find_spec(_COUNTS) else [])]
    parser.add_argument("--only", nargs="*", choices=every, help="rows; all by default")
    parser.add_argument("--no-equality", action="store_true", help="times only")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--cpu", action="store_true", help="the CPU beside")
    parser.add_argument("--peer", action="store_true", help="TorchKM beside, if it is installed")
    parser.add_argument("--emulated", action="store_true", help="NumPy in the place of the card")
    parser.add_argument("--page", action="store_true", help=f"write docs/{PAGE.name}")
    given = parser.parse_args(arguments)
    if given.page and (given.emulated or given.quick):
        parser.error("--page is for a card and for full sizes.")
    with emulated() if given.emulated else nullcontext():
        try:
            lane = lane_of("cuda")
        except NoCardError as error:
            print(f"gpu_check: {error}", file=sys.stderr)
            return 2
        assert lane is not None
        equalities = [] if given.no_equality else list(_said(machines.equalities()))
        rows = every if given.only is None else given.only
        options = given.quick, given.cpu, given.peer
        timings = list(_said(machines.timings(lane, rows, *options)))
        if "counts" in rows:
            timings += _said(counts(lane, import_module(_COUNTS).rows(small=given.quick)))
    lines = page(lane, equalities, timings)
    print("\n".join(lines))
    if given.page:
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(not all(one.holds for one in (*equalities, *timings)))


def counts(lane: Lane, rows: Iterable[tuple[str, float, float | None, bool]]) -> Iterator[Timing]:
    """Rows of the counting filters and Relief, whose certificate is that no bit differs."""
    for name, seconds, cpu, same in rows:
        row, _, what = name.partition(" ")
        note = "the bits of the CPU" if same else "differs from the CPU"
        yield Timing(row, what, lane.card, seconds, nan, note, "", same)
        if cpu is not None:
            yield Timing(row, what, "CPU", cpu, nan, "", "")


def _said(rows: Iterable[Any]) -> Iterable[Any]:
    """Show every row on standard error as soon as it is there: what ends later keeps it."""
    for row in rows:
        mark = "ok" if row.holds else "NOT EQUAL" if isinstance(row, Equality) else "NOT CERTIFIED"
        if isinstance(row, Equality):
            said = f"{row.name}: {row.found:.1e} apart, limit {row.limit:.0e}"
        else:
            said = f"{row.row} {row.workload}, {row.where}: {row.seconds:.4g} s {row.certificate}"
        print(f"{mark}: {said}", file=sys.stderr, flush=True)
        yield row


def page(lane: Lane, equalities: list[Equality], timings: list[Timing]) -> list[str]:
    """The page, line by line."""
    today = datetime.datetime.now(datetime.UTC).date()
    lines = [
        "# Benchmarks on a GPU",
        "",
        "Written by `python -m tools.gpu_check --page` ([what it does](gpu.md)).",
        "",
        f"{today}; {lane.card}; {os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}; {', '.join(_versions())}.",
    ]
    if equalities:
        worst = [one for one in equalities if not one.holds]
        lines += [
            "",
            "## The same results",
            "",
            f"{len(equalities) - len(worst)} of {len(equalities)} comparisons with the CPU hold.",
            "",
            "| comparison | apart | limit |",
            "|---|---|---|",
            *(
                f"| {one.name} | {one.found:.1e}{'' if one.holds else ' **too far**'} "
                f"| {one.limit:.0e} |"
                for one in equalities
            ),
        ]
    if timings:
        lines += [
            "",
            "## Times",
            "",
            "Seconds on the clock: the least of three calls after the first; eliminations and the "
            "CPU have one call.",
            "",
            "| row | workload | on | seconds | first call | certificate | bar |",
            "|---|---|---|---|---|---|---|",
            *(
                f"| {one.row} | {one.workload} | {one.where} | {one.seconds:.3g} "
                f"| {one.first:.3g} | {one.certificate}{'' if one.holds else ' **fails**'} "
                f"| {one.bar} |"
                for one in timings
            ),
        ]
    return lines


def _versions() -> list[str]:
    found = [f"tamiz {tamiz.__version__}"]  # which need not be installed
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
