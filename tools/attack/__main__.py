"""Run campaigns: see :mod:`tools.attack`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tools.attack import CAMPAIGNS, campaign
from tools.attack.runner import isolated


def main() -> int:
    """Exit code 1 if any attempt failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.attack", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="campaign", help=f"of {', '.join(CAMPAIGNS)}")
    parser.add_argument("--count", type=int, help="attempts of each (default: its full count)")
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--case", type=int, help="make this one attempt again, in this process")
    asked = parser.parse_args()
    unknown = sorted(set(asked.names) - set(CAMPAIGNS))
    if unknown:
        parser.error(f"no campaign is called {unknown[0]!r}; there are {', '.join(CAMPAIGNS)}")
    failed = False
    for name in asked.names or CAMPAIGNS:
        kind = campaign(name)
        if asked.case is not None:
            with tempfile.TemporaryDirectory() as folder:
                print(f"{name} {asked.case}: {kind(Path(folder)).attempt(asked.case)}")
            continue
        count = kind.count if asked.count is None else asked.count
        tally = isolated(name, range(asked.first, asked.first + count), asked.jobs)
        print(tally.report(name), flush=True)
        failed = failed or bool(tally.failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
