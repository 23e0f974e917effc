"""One job after the other: what fails is reported, what takes too long is stopped."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

from tools.gpu_check import Equality, Job, Result


class OutOfTime(BaseException):
    """The time of a job is over; no error, so that nobody who expects errors takes it for one."""


class Clock:
    """How long a call and each job of it may take.

    Parameters
    ----------
    seconds, row_seconds : float
        Of the call, and of each job.
    """

    def __init__(self, seconds: float = inf, row_seconds: float = inf):
        self._end = time.monotonic() + seconds
        self._each = row_seconds

    def left(self) -> float:
        """Seconds that the next job may take."""
        return min(self._each, self._end - time.monotonic())

    @contextmanager
    def limited(self) -> Iterator[float]:
        """Inside, OutOfTime is raised when the time is over; gives the seconds there are.

        Where the system has no timers that interrupt, nothing is raised, and what has begun is
        finished. A compiled loop is interrupted when it returns.
        """
        seconds = self.left()
        timers = hasattr(signal, "SIGALRM") and hasattr(signal, "setitimer")
        if seconds == inf or not timers:
            yield seconds
            return

        def over(*_: Any) -> None:
            raise OutOfTime

        handler = signal.signal(signal.SIGALRM, over)
        before = signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
        began = time.monotonic()
        try:
            yield seconds
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)
            if before[0]:  # somebody else's timer goes on
                passed = time.monotonic() - began
                signal.setitimer(signal.ITIMER_REAL, max(before[0] - passed, 1e-3), before[1])


def done(
    jobs: Iterable[Job], clock: Clock, after: Callable[[], None] = lambda: None
) -> Iterator[Result]:
    """The results of all jobs, each shown on standard error as soon as it is there.

    ``after`` is called after each job, whatever became of it.
    """
    for job in jobs:
        if clock.left() <= 0.0:
            yield _shown(job.ended("not run: the time of the call was over", True))
            continue
        found: list[Result] = []
        try:
            with clock.limited() as seconds:
                for result in job.run():
                    found.append(_shown(result))
        except OutOfTime:
            found.append(_shown(job.ended(f"stopped after {seconds:.0f} s", True)))
        except Exception as error:
            text = f"{error}".strip().splitlines() or [""]
            found.append(_shown(job.ended(f"failed: {type(error).__name__}: {text[0]}", False)))
        after()
        yield from found


def _shown(result: Result) -> Result:
    if isinstance(result, Equality):
        mark = "ok" if result.holds else "NOT EQUAL"
        said = f"{result.name}: {result.found:.1e} apart, limit {result.limit:.0e}"
    else:
        mark = "NOT CERTIFIED" if not result.holds else "ok" if result.was_run else "no time"
        seconds = f"{result.seconds:.4g} s " if result.was_run else ""
        said = f"{result.row} {result.workload}, {result.where}: {seconds}{result.certificate}"
    print(f"{mark}: {said}", file=sys.stderr, flush=True)
    return result
