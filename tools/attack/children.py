"""Jobs in processes of their own, forked from one that has imported and loaded what they need.

A new interpreter needs seconds before a job of a tenth of a second begins. A campaign that ends
jobs by the hundred forks them instead, from a process without other threads. Every child ends by
itself, with this one, or after :data:`LONGEST` seconds.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST = 100  # seconds that a child may live
_count = 0


class Child:
    """A function in a process of its own.

    Parameters
    ----------
    function : callable
        Its answer is kept, or what it raised. It may also end the process.
    folder : path
        Where answer and output are kept; also where the function runs.
    threads : int, default=2
        What the package may use there.

    Attributes
    ----------
    pid : int
        The process, first of a group of its own.
    code : int or None
        How it ended, as in :mod:`subprocess`; None before.
    """

    def __init__(self, function: Callable[[], Any], folder: Path, *, threads: int = 2):
        global _count
        assert threading.active_count() == 1, "forked with other threads, a process may hang"
        _count += 1
        self.folder = folder
        self._place = folder / f".child{_count}"
        self.code: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            self._live(function, folder, threads)
        with contextlib.suppress(OSError):  # both do it: nobody knows who is first
            os.setpgid(self.pid, self.pid)

    def _live(self, function: Callable[[], Any], folder: Path, threads: int) -> None:
        code = 1
        try:
            with contextlib.suppress(OSError):
                os.setpgid(0, 0)
            signal.alarm(LONGEST)
            for number in (signal.SIGINT, signal.SIGTERM):  # as a terminal starts a program
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.environ["OMP_NUM_THREADS"] = str(threads)
            os.chdir(folder)
            for stream, name in ((1, "out"), (2, "err")):
                file = os.open(self._file(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(file, stream)
                os.close(file)
            try:
                answer: Any = (True, function())
            except SystemExit as leaving:
                answer, code = (True, leaving.code), int(leaving.code or 0)
            except BaseException as error:
                traceback.print_exc()
                answer = (False, f"{type(error).__name__}: {error}")
            else:
                code = 0
            sys.stdout.flush()
            sys.stderr.flush()
            self._file("answer").write_bytes(pickle.dumps(answer))
        finally:
            os._exit(code)

    def _file(self, name: str) -> Path:
        return self._place.with_suffix(f".{name}")

    def poll(self) -> int | None:
        """How it ended, if it has."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def wait(self, seconds: float = LONGEST + 20.0) -> int:
        """Wait for its end, and end what it started and left behind."""
        deadline = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > deadline:
                self.close()
                raise AssertionError(f"a process did not end within {seconds:g} s")
            time.sleep(0.002)
        self.close()
        assert self.code is not None
        return self.code

    def signal(self, number: int) -> None:
        """Send a signal to the process, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def close(self) -> None:
        """End the process and what it started."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
            self.code = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    @property
    def answer(self) -> tuple[bool, Any]:
        """Whether the function returned, and what; or the error as text."""
        file = self._file("answer")
        found: tuple[bool, Any] = (
            pickle.loads(file.read_bytes()) if file.exists() else (False, f"ended with {self.code}")
        )
        return found

    @property
    def out(self) -> str:
        """What it wrote to standard output."""
        return self._file("out").read_text(encoding="utf-8", errors="replace")

    @property
    def err(self) -> str:
        """What it wrote to standard error."""
        return self._file("err").read_text(encoding="utf-8", errors="replace")

    def forget(self) -> None:
        """Remove its files."""
        self.close()
        for name in ("out", "err", "answer"):
            self._file(name).unlink(missing_ok=True)


def run(function: Callable[[], Any], folder: Path) -> Any:
    """The answer of a function in a child; AssertionError with its error if it has none."""
    child = Child(function, folder)
    try:
        child.wait()
        fine, answer = child.answer
        assert fine, f"{answer}; {child.err[-300:]}"
        return answer
    finally:
        child.forget()
