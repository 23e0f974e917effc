"""Run campaigns: see :mod:`tools.attack`."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

from tools.attack import CAMPAIGNS, campaign
from tools.attack.runner import Tally, isolated


def main() -> int:
    """Exit code 1 if any attempt failed, 130 or 143 if a signal ended it."""
    parser = argparse.ArgumentParser(prog="python -m tools.attack", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="campaign", help=f"of {', '.join(CAMPAIGNS)}")
    parser.add_argument("--count", type=int, help="attempts of each (default: its full count)")
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="begin no attempt after this time, in all"
    )
    parser.add_argument("--times", action="store_true", help="name the slowest attempts")
    parser.add_argument("--case", type=int, help="make this one attempt again, in this process")
    asked = parser.parse_args()
    unknown = sorted(set(asked.names) - set(CAMPAIGNS))
    if unknown:
        parser.error(f"no campaign is called {unknown[0]!r}; there are {', '.join(CAMPAIGNS)}")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    return int(_run(asked))


def _leave(number: int, _frame: object) -> NoReturn:
    """Exit, once: a second signal does not disturb the end."""
    for other in (signal.SIGINT, signal.SIGTERM):
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def _tell(seed: int, what: str) -> None:
    """A failure is known from when it happens, whatever becomes of the campaign."""
    print(f"failed {seed}: {what}", file=sys.stderr, flush=True)


def _run(asked: argparse.Namespace) -> bool:
    """Whether any attempt failed; an interrupted campaign, too, says what came of it."""
    until = time.monotonic() + 60 * asked.minutes
    failed = False
    for name in asked.names or CAMPAIGNS:
        kind = campaign(name)
        if reason := kind.missing():
            print(f"{name}: not tried: {reason}", flush=True)
            continue
        if asked.case is not None:
            with tempfile.TemporaryDirectory() as folder:
                print(f"{name} {asked.case}: {kind(Path(folder)).attempt(asked.case)}")
            continue
        count = kind.count if asked.count is None else asked.count
        seeds = range(asked.first, asked.first + count)
        tally = Tally()
        print(f"{name}: {count:,} attempts to make", file=sys.stderr, flush=True)
        try:
            isolated(name, seeds, asked.jobs, until - time.monotonic(), tally, _tell)
        finally:
            print(tally.report(name), flush=True)
            if asked.times:
                print(tally.report_times(), flush=True)
        failed = failed or bool(tally.failures)
    return failed


if __name__ == "__main__":
    sys.exit(main())
