"""Runs that are killed at any instant and resumed: the answer of an uninterrupted one."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest import mock

from tools.attack.children import Child, run
from tools.attack.jobs import Job, Noted, jobs, noting, same
from tools.attack.runner import Campaign

#: Calls in which a file changes, or is about to.
CHANGES = ("write", "fsync", "replace", "rename", "link", "unlink", "ftruncate", "chmod")


class Whole(NamedTuple):
    """An uninterrupted run."""

    answer: Any
    noted: Noted
    changes: int  # how often it changed a file
    first: int  # how often before something could be resumed
    seconds: float


class Kills(Campaign):
    """SIGKILL from outside at a random moment, or inside a call that changes a file.

    Every second attempt kills the run inside a write, a move or a flush, before it or when half of
    it is done; the others after a random time. Every third kills the resumed run, too. In the end
    something must have been found in the file, the last run must have written less than a whole
    one, and the answer must be that of a run that nobody killed.
    """

    count = 231
    short = 1
    seconds = 240.0
    memory = 16 << 30
    apart = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.jobs = jobs()
        self.whole: dict[str, Whole] = {}

    def attempt(self, seed: int) -> str:
        name = list(self.jobs)[seed % len(self.jobs)]
        job, chance = self.jobs[name], Random(seed)
        folder = self.folder / f"k{seed}"
        folder.mkdir(exist_ok=True)
        if name not in self.whole:
            self.whole[name] = _whole(job, folder)
        whole = self.whole[name]
        path = folder / "run"
        killed = 0
        for round_ in range(2 if seed % 3 == 0 else 1):
            inside = (seed + round_) % 2 == 0
            for retry in range(8):
                done = _inside(job, path, whole, chance) if inside else False
                done = done or _outside(job, path, whole, chance, retry)
                if done:
                    killed += 1
                    break
                if round_:
                    break  # what was left took no time
                for file in folder.iterdir():
                    file.unlink()
            assert killed, "the run ended before it could be killed"
        answer, noted = run(functools.partial(run_noted, job, path, True), folder)
        assert noted.found > 0, "nothing was resumed"
        assert noted.written < whole.noted.written, f"all was done again: {noted}"
        assert same(answer, whole.answer), "the answer is another one"
        left = [file.name for file in folder.iterdir() if file.name.endswith(".new")]
        assert len(left) <= killed, f"left behind: {left}"
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        return f"killed {'twice' if killed > 1 else 'once'} and resumed"


def run_noted(job: Job, path: Path, resume: bool) -> tuple[Any, Noted]:
    """A run, and what it did with its file."""
    with noting() as noted:
        return job(path, resume), noted()


def _whole(job: Job, folder: Path) -> Whole:
    """Run it here, so that what it loads is there for all, then in a child, timed."""

    def measured() -> Any:
        changes, first = 0, 0

        def count() -> None:
            nonlocal changes, first
            changes += 1
            if not first and noted().written:
                first = changes

        with noting() as noted, changing(lambda *_: count()):
            began = time.monotonic()
            answer = job(folder / "measured", False)
            return answer, noted(), changes, max(1, first), time.monotonic() - began

    load_here(job, folder / "here")
    found = Whole(*run(measured, folder))
    (folder / "measured").unlink()
    return found


def load_here(job: Job, path: Path) -> None:
    """Run a job in this process, without workers, so that forks find loaded what it needs."""
    from joblib import parallel_config

    from tamiz.runtime.threads import limit_threads

    with limit_threads(1), parallel_config(backend="sequential"), noting():
        job(path, False)
    path.unlink()


@contextlib.contextmanager
def changing(
    before: Callable[[str, Any, tuple[Any, ...]], None], more: tuple[str, ...] = ()
) -> Iterator[None]:
    """Call ``before(name, real, arguments)`` ahead of everything that changes a file."""
    with contextlib.ExitStack() as stack:
        for name in (*CHANGES, *more):
            real = getattr(os, name)

            def called(*args: Any, _name: str = name, _real: Any = real, **options: Any) -> Any:
                before(_name, _real, args)
                return _real(*args, **options)

            stack.enter_context(mock.patch.object(os, name, called))
        yield


def _inside(job: Job, path: Path, whole: Whole, chance: Random) -> bool:
    """Kill the run in one of its changes of a file; False if it ended before."""
    at = chance.randint(whole.first, max(whole.first, whole.changes))
    half = chance.random() < 0.5
    changes = 0

    def strike(name: str, real: Any, args: tuple[Any, ...]) -> None:
        nonlocal changes
        changes += 1
        if changes == at:
            if name == "write" and half:
                real(args[0], args[1][: len(args[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)

    def killed() -> Any:
        with changing(strike):
            return run_noted(job, path, path.exists())

    child = Child(killed, path.parent)
    code = child.wait()
    fine, answer = child.answer if code != -signal.SIGKILL else (True, None)
    assert fine, answer
    child.forget()
    return code == -signal.SIGKILL


def _outside(job: Job, path: Path, whole: Whole, chance: Random, retry: int) -> bool:
    """Kill the run some time after there is something to resume; False if it ended before."""
    known = path.stat().st_size if path.exists() else 0
    child = Child(functools.partial(run_noted, job, path, path.exists()), path.parent)
    try:
        begun = None
        while child.poll() is None and begun is None:
            if path.exists() and path.stat().st_size != known and (known or _holds(path)):
                begun = time.monotonic()
            time.sleep(0.0005)
        time.sleep(chance.random() * whole.seconds * 0.8 * 0.5**retry)
        child.signal(signal.SIGKILL)
        return child.wait() == -signal.SIGKILL
    finally:
        child.forget()


def _holds(path: Path) -> bool:
    """Whether there is something to resume: a state, or a record after the two first lines."""
    raw = path.read_bytes()
    if raw[:2] == b"PK":
        return True
    lines = raw.splitlines(keepends=True)
    return len(lines) > 2 and int(lines[0].split()[3]) > len(lines[0]) + len(lines[1])
