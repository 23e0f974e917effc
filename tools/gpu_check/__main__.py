"""The command."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from math import inf
from pathlib import Path

import tools.gpu_check as gpu_check
from tamiz.gpu import Lane, NoCardError, emulated, lane_of
from tools.gpu_check import Job, Result, counts, functions, machines
from tools.gpu_check.results import (
    ORDER,
    NoResultsError,
    Report,
    cells,
    merged,
    page,
    read,
    report_of,
    write,
)
from tools.gpu_check.run import Clock, done

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks-gpu.md"


def main(arguments: list[str] | None = None) -> int:
    """Run and print the tables, or write the page from files of results; the exit code."""
    parser = argparse.ArgumentParser(
        description=gpu_check.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    rows = [row for row in ORDER if row in (*machines.ROWS, *counts.ROWS)]
    parser.add_argument(
        "--only", nargs="*", choices=rows, help="rows; all by default, none without names"
    )
    parser.add_argument("--no-equality", action="store_true", help="times only")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument(
        "--cpu",
        type=float,
        nargs="?",
        const=60.0,
        default=0.0,
        metavar="SECONDS",
        help="the CPU beside, where an estimate says that it takes at most so long (60)",
    )
    parser.add_argument("--peer", action="store_true", help="TorchKM beside, if it is installed")
    parser.add_argument("--emulated", action="store_true", help="NumPy in the place of the card")
    parser.add_argument("--seconds", type=float, default=inf, help="limit on the whole call")
    parser.add_argument("--row-seconds", type=float, default=inf, help="limit on each row")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write all results to it")
    parser.add_argument("--cells", action="store_true", help="print the gaps of every cell")
    parser.add_argument(
        "--page",
        nargs="+",
        type=Path,
        metavar="FILE",
        help=f"write docs/{PAGE.name} from such files, and do nothing else",
    )
    given = parser.parse_args(arguments)
    if given.page:
        return write_page(given.page, PAGE)
    clock = Clock(given.seconds, given.row_seconds)
    with emulated() if given.emulated else nullcontext():
        try:
            lane = lane_of("cuda")
        except NoCardError as error:
            print(f"gpu_check: {error}", file=sys.stderr)
            return 2
        assert lane is not None
        complete = not (given.emulated or given.quick)
        wanted = machines.Wanted(given.quick, given.peer, given.cpu)
        jobs = [] if given.no_equality else _equalities(lane, complete)
        jobs += _times(lane, rows if given.only is None else given.only, wanted)
        found: list[Result] = []

        def keep() -> None:
            lane.release()
            if given.results is not None:
                write(report_of(found, lane.card, complete), given.results)

        for result in done(jobs, clock, keep):
            found.append(result)
        keep()
    report = report_of(found, lane.card, complete)
    print("\n".join(page(merged([report]))))
    if given.cells:
        print("\n".join(line for one in report.timings for line in ("", *cells(one)) if one.gaps))
    return int(not report.holds)


def write_page(files: list[Path], to: Path) -> int:
    """Write the page from files of results; the exit code."""
    try:
        reports = [read(file) for file in files]
    except NoResultsError as error:
        print(f"gpu_check: {error}", file=sys.stderr)
        return 2
    small = [f"{file}" for file, one in zip(files, reports, strict=True) if not one.complete]
    if small:
        print(
            f"gpu_check: {', '.join(small)}: made with --emulated or --quick, and the page is for "
            "a card and for full sizes; leave such files out.",
            file=sys.stderr,
        )
        return 2
    report: Report = merged(reports)
    to.write_text("\n".join(page(report)) + "\n", encoding="utf-8")
    print(f"{to} is written.")
    return int(not report.holds)


def _equalities(lane: Lane, complete: bool) -> list[Job]:
    return [
        *functions.jobs(lane, functions.SIDE if complete else 0),
        *machines.equalities(3000 if complete else 300),
        *counts.equalities(small=not complete),
    ]


def _times(lane: Lane, rows: list[str], wanted: machines.Wanted) -> list[Job]:
    """The card for all rows, then what is beside it."""
    first: list[Job] = []
    beside: list[Job] = []
    for row in (row for row in ORDER if row in rows):
        if row in counts.ROWS:
            first += counts.times(lane, row, wanted.quick)
            continue
        on_card, others = machines.times(lane, row, wanted)
        first += on_card
        beside += others
    return first + beside


if __name__ == "__main__":
    sys.exit(main())
