"""
Published tables beside ours
============================

Runs the recipes of ``tamiz.evaluation.reproduce`` and prints their tables: our mean and central
95 % over random splits, the published number, and whether it is inside. The quick forms take less
than two minutes each on two free cores. ::

    python examples/reproduce_all.py [P1 P3 ...] [--full] [--repeats N] [--jobs N]

With ``--figures FOLDER`` the tables are drawn, too. With ``--checkpoints FOLDER`` finished repeats
are kept there, and a run that was stopped goes on. With ``--page FILE`` the tables are written into
a page in Markdown, each between the lines ``<!-- P1 begin -->`` and ``<!-- P1 end -->``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tamiz.evaluation import Reproduction, available, reproduce


def save(found: Reproduction, folder: Path) -> None:
    """One picture for each group of rows that has published numbers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    groups = dict.fromkeys(row.group for row in found.rows if row.inside is not None)
    for number, group in enumerate(groups, start=1):
        ax = found.plot(group=group)
        ax.figure.savefig(folder / f"{found.name}_{number}.png", dpi=110, bbox_inches="tight")
        plt.close(ax.figure)


def write_into(page: Path, found: Reproduction) -> None:
    """Exchange the tables of one recipe in a page."""
    begin, end = f"<!-- {found.name} begin -->\n", f"<!-- {found.name} end -->"
    text = page.read_text(encoding="utf-8")
    before, opened, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (opened and closed):
        raise SystemExit(f"{page} has no lines {begin.strip()} and {end} to write between.")
    tables = f"\n{found.to_markdown()}\n\n"
    page.write_text(f"{before}{begin}{tables}{end}{after}", encoding="utf-8")


def main() -> int:
    """Run, print, and tell with the exit code whether anything was left out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[1])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(available())}; all by default")
    parser.add_argument(
        "--full", action="store_true", help="the full form instead of the quick one"
    )
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--checkpoints", type=Path, help="a folder")
    parser.add_argument("--figures", type=Path, help="a folder")
    parser.add_argument("--page", type=Path, help="a file in Markdown")
    args = parser.parse_args()
    left_out = 0
    for name in args.names or available():
        file = None
        if args.checkpoints:
            form = "full" if args.full else "quick"
            file = args.checkpoints / f"{name}-{form}.journal"
        try:
            found = reproduce(
                name,
                quick=not args.full,
                repeats=args.repeats,
                n_jobs=args.jobs,
                checkpoint=file,
                resume=file is not None,
            )
        except ValueError as error:  # a name that is none
            print(f"{name}: {error}\n", file=sys.stderr)
            left_out += 1
            continue
        print(f"{found}\n\n{'=' * 100}\n", flush=True)
        if args.figures:
            save(found, args.figures)
        if args.page and not found.interrupted:
            write_into(args.page, found)
        if found.interrupted:
            return 130
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main())
