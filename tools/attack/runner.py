"""What a campaign is, and how its attempts are run: in other processes, which may die of them."""

from __future__ import annotations

import collections
import contextlib
import json
import math
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar

from tools.attack import campaign

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 25  # failures that are printed one by one
SLOWEST = 20  # attempts of which it is said how long they took
START = 120.0  # seconds that a process may take before its first attempt, compiling included


class Campaign(ABC):
    """Attempts of one kind.

    Parameters
    ----------
    folder : path
        An empty folder for files, removed afterwards.

    Attributes
    ----------
    count : int
        Attempts of a full run.
    short : int
        Attempts in the test suite: a few seconds.
    seconds : float
        What one attempt may take on a machine that does nothing else; far more than any takes. With
        more processes than cores it may take longer in proportion.
    memory : int
        Bytes that all attempts of a process may take, beyond what it has when they begin.
    apart : bool
        Whether attempts fork, and so need a process without other threads: the test suite, too,
        then runs them in one of their own.
    needs : str
        A file of the system without which nothing can be tried; none if empty.
    """

    count: ClassVar[int]
    short: ClassVar[int]
    seconds: ClassVar[float] = 30.0
    memory: ClassVar[int] = 2 << 30
    apart: ClassVar[bool] = False
    needs: ClassVar[str] = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def missing(cls) -> str:
        """What this system lacks to try it; empty if nothing."""
        if cls.apart and not hasattr(os, "fork"):
            return "this system cannot fork"
        return f"there is no {cls.needs}" if cls.needs and not Path(cls.needs).exists() else ""

    def about(self, seed: int) -> str:
        """What an attempt is about: a number alone means another one when estimators are added."""
        return ""

    @abstractmethod
    def attempt(self, seed: int) -> str:
        """Attack once, and name the outcome in a word or two, such as "refused".

        Whatever is raised is a failure, an AssertionError as well as one of the package.
        """


def patience(seconds: float) -> float:
    """How long something may take that takes ``seconds`` on an idle machine.

    The test suite may share its machine with anything, and a short part is no measurement.
    """
    return max(seconds, 30.0) if "PYTEST_CURRENT_TEST" in os.environ else seconds


def load_per_core() -> float:
    """Processes that want to run, for each core that this one may use."""
    asked = getattr(os, "sched_getaffinity", None)  # not on every system
    cores = len(asked(0)) if asked else os.cpu_count() or 1
    return os.getloadavg()[0] / cores if hasattr(os, "getloadavg") else 1.0  # Windows says nothing


@dataclass
class Tally:
    """What came of a campaign.

    Attributes
    ----------
    outcomes : Counter
        How often each outcome occurred.
    failures : dict
        Number of the attempt -> what happened, in one line.
    seconds : float
        How long it took.
    asked : int
        Number of attempts that were to be made; fewer are made where time runs out.
    slowest : list of (float, int)
        Seconds and numbers of the attempts that took longest and ended.
    """

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    failures: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0
    asked: int = 0
    slowest: list[tuple[float, int]] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """Number of attempts."""
        return sum(self.outcomes.values()) + len(self.failures)

    def take(
        self, seed: int, outcome: str | None, failure: str | None, seconds: float = 0.0
    ) -> None:
        """Count one attempt."""
        if seconds:
            self.slowest = sorted([*self.slowest, (seconds, seed)], reverse=True)[:SLOWEST]
        if failure is not None:
            self.failures[seed] = failure
        else:
            self.outcomes[outcome or "done"] += 1

    def report(self, name: str) -> str:
        """Counts, and how to repeat what failed."""
        counts = ", ".join(f"{n:,} {outcome}" for outcome, n in self.outcomes.most_common())
        cut = f" of {self.asked:,}" if self.tried < self.asked else ""
        lines = [
            f"{name}: {self.tried:,}{cut} attempts in {self.seconds:,.0f} s: "
            f"{counts or 'none held'}; {len(self.failures):,} failed."
        ]
        lines += [f"  {seed}: {what}" for seed, what in sorted(self.failures.items())[:SHOWN]]
        if more := sorted(self.failures)[SHOWN:]:
            lines.append(f"  and {', '.join(map(str, more))}")
        if self.failures:
            lines.append(
                f"  To repeat one: python -m tools.attack {name} --case {min(self.failures)}"
            )
        return "\n".join(lines)

    def report_times(self) -> str:
        """The attempts that took longest."""
        shown = ", ".join(f"{seed}: {seconds:.2f} s" for seconds, seed in self.slowest)
        return f"  slowest: {shown or 'not measured'}"


def in_process(name: str, seeds: Iterable[int], folder: Path) -> Tally:
    """Run attempts in this process, as the test suite does: no limit of time or memory is kept."""
    tally = Tally()
    began = time.monotonic()
    attacker = campaign(name)(folder)
    for seed in seeds:
        tally.take(seed, *_one(attacker, seed))
    tally.seconds = time.monotonic() - began
    return tally


def isolated(
    name: str,
    seeds: range,
    jobs: int = 1,
    seconds: float = math.inf,
    tally: Tally | None = None,
    failed: Callable[[int, str], None] | None = None,
) -> Tally:
    """Run attempts in processes of their own, with limits; one that dies is replaced.

    No attempt begins after so many seconds. What is raised here by a signal ends all processes; a
    ``tally`` that was passed then holds what came of the attempts until then. ``failed`` is told of
    every failure when it happens.
    """
    tally = Tally() if tally is None else tally
    tally.asked = len(seeds)
    began = time.monotonic()
    fleet = _Fleet(name, began + seconds)
    results: queue.Queue[Result | None] = queue.Queue()

    def run(part: range) -> None:
        try:
            for result in fleet.survive(part):
                results.put(result)
        finally:
            results.put(None)

    with ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(run, seeds[k::jobs]) for k in range(jobs)]
        try:
            left = jobs
            while left:
                result = results.get()
                if result is None:
                    left -= 1
                else:
                    tally.take(*result)
                    if failed is not None and result[2] is not None:
                        failed(result[0], result[2])
        finally:
            tally.seconds = time.monotonic() - began
            fleet.stop()
    for worker in running:
        worker.result()  # whatever went wrong in the runner itself
    return tally


#: Number, outcome, failure, and how many seconds it took.
Result = tuple[int, str | None, str | None, float]


class _Fleet:
    """The processes that make the attempts of a campaign.

    Each has a session of its own: Ctrl-C reaches only this process, and what an attempt has started
    ends together with it.
    """

    def __init__(self, name: str, until: float) -> None:
        self._name = name
        self._until = until
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def stop(self) -> None:
        """End what is running and start nothing more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)

    def survive(self, seeds: range) -> Iterator[Result]:
        """Results of all attempts, whatever happens to the processes that make them."""
        while len(seeds) and time.monotonic() < self._until:
            done = 0
            died: str | None = "no process could be started"
            for line in self._watched(seeds):
                if not isinstance(line, tuple):
                    died = line
                    break
                yield line
                done += 1
            seeds = seeds[done:]
            if died is None or self._stopped:
                return
            if len(seeds):  # the next one killed it
                yield seeds[0], None, died, 0.0
                seeds = seeds[1:]

    def _watched(self, seeds: range) -> Iterator[Result | str | None]:
        """Results of one process as they come; last, why it ended: None if time is over."""
        command = [sys.executable, "-m", "tools.attack.runner", self._name]
        command += [str(part) for part in (seeds.start, seeds.stop, seeds.step)]
        command += [str(self._until - time.monotonic())]
        with (
            tempfile.TemporaryFile() as errors,
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        ):
            process = self._start([*command, folder], errors)
            if process is None:
                return
            lines: queue.Queue[bytes] = queue.Queue()
            assert process.stdout is not None
            reader = threading.Thread(target=_forward, args=(process.stdout, lines), daemon=True)
            reader.start()
            patience = START
            try:
                while line := lines.get(timeout=patience * max(1.0, load_per_core())):
                    result = json.loads(line)
                    yield None if result is None else tuple(result)
                    patience = campaign(self._name).seconds
            except queue.Empty:
                yield f"took longer than {patience:g} s"
            else:
                code = process.wait()
                errors.seek(0)
                last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
                yield f"the process ended with {_ending(code)} {' '.join(last)}".strip()
            finally:
                with self._lock:
                    self._running.discard(process)
                    _end(process)
                process.wait()
                process.stdout.close()

    def _start(self, command: list[str], errors: IO[bytes]) -> subprocess.Popen[bytes] | None:
        """A process that :meth:`stop` ends; none after it."""
        with self._lock:
            if self._stopped:
                return None
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                # every thread would reserve 64 MB of addresses, which count against the limit
                env={**os.environ, "MALLOC_ARENA_MAX": "2", "POLARS_MAX_THREADS": "1"},
            )
            self._running.add(process)
            return process


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those of its group that it has left behind."""
    if not hasattr(os, "killpg"):  # a system without groups
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _forward(source: Iterable[bytes], lines: queue.Queue[bytes]) -> None:
    with contextlib.suppress(ValueError, OSError):  # closed
        for line in source:
            lines.put(line)
    lines.put(b"")


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _one(attacker: Campaign, seed: int) -> tuple[str | None, str | None]:
    """Outcome and failure of one attempt; one of them is None."""
    try:
        return attacker.attempt(seed), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a test framework's, or an exit, is a failure too
        frames = [
            f for f in traceback.extract_tb(error.__traceback__) if "attack" not in f.filename
        ]
        place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        about = f"{attacker.about(seed)}: " if attacker.about(seed) else ""
        return None, f"{about}{type(error).__name__}: {' '.join(str(error).split())[:300]}{place}"


def _limit_memory(more: int) -> None:
    """Let this process take so many bytes more, where the system can say so."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, OSError, ValueError):
        pass


def main(arguments: list[str]) -> None:
    """One process of a campaign: print the result of every attempt as a line of JSON.

    A last line "null" says that time was over before all attempts were made.
    """
    name, start, stop, step, seconds, folder = arguments
    until = time.monotonic() + float(seconds)
    results = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the attempts print is no result
    attacker = campaign(name)(Path(folder))
    for k, seed in enumerate(range(int(start), int(stop), int(step))):
        if time.monotonic() > until:
            results.write("null\n")
            return
        began = time.monotonic()
        result = [seed, *_one(attacker, seed), time.monotonic() - began]
        results.write(json.dumps(result) + "\n")
        if k == 0:  # libraries are loaded, functions compiled
            _limit_memory(attacker.memory)


if __name__ == "__main__":
    main(sys.argv[1:])
