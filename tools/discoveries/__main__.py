"""The command."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import tools.discoveries as discoveries
from tools.discoveries.runs import Found


def main(arguments: list[str] | None = None) -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(
        description=discoveries.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="*", help="methods; all by default")
    parser.add_argument("--without", nargs="*", default=[], help="methods to leave out")
    parser.add_argument("--settings", choices=["quick", "all"], default="quick")
    parser.add_argument("--match", nargs="*", default=[""], help="settings that hold such a text")
    parser.add_argument("--repeats", type=int, default=400, help="at most so many of each cell")
    parser.add_argument(
        "--enough", type=int, default=40, help="so many of each cell before any gets more"
    )
    parser.add_argument("--peers", action="store_true", help="those of other packages as well")
    parser.add_argument("--out", type=Path, help="folder of the outcomes; an earlier run goes on")
    parser.add_argument("--table", type=Path, help="print the table of a folder, and run nothing")
    given = parser.parse_args(arguments)
    if given.table is not None:
        show(discoveries.read_outcomes(given.table))
        return
    methods = given.only or discoveries.known_methods(given.peers)
    methods = [m for m in methods if m not in given.without]
    unknown = [m for m in (*methods, *given.without) if m not in discoveries.METHODS]
    if unknown:
        parser.error(f"no such method: {unknown[0]!r}. Known: {', '.join(discoveries.METHODS)}")
    cells = [
        (setting, method)
        for setting in discoveries.settings(given.settings)
        if any(text in str(setting) for text in given.match)
        for method in methods
        if discoveries.suits(method, setting)
    ]
    began = time.monotonic()

    def keep(found: Found) -> None:
        if given.out is not None:
            text = f"{discoveries.table(found)}\n\n{discoveries.summary(found)}\n"
            (given.out / "table.md").write_text(text, encoding="utf-8")

    found = discoveries.run(
        cells,
        seconds=given.seconds,
        jobs=given.jobs,
        folder=given.out,
        most=given.repeats,
        enough=given.enough,
        each=keep,
    )
    keep(found)
    show(found)
    spent = time.monotonic() - began
    print(f"{len(cells)} cells, {spent:.0f} s with {given.jobs} processes", file=sys.stderr)


def show(found: Found) -> None:
    """Print the table and what stands out."""
    for part in (discoveries.table, discoveries.by_method, discoveries.summary):
        print(part(found), end="\n\n")


if __name__ == "__main__":
    main()
