"""A disk that is full at any write: a sentence, what was there before, and nothing half done."""

from __future__ import annotations

import errno
import functools
import os
import re
import shutil
from pathlib import Path
from random import Random
from typing import Any

from tools.attack.children import Child, run
from tools.attack.jobs import Job, jobs, noting, same
from tools.attack.kills import changing, load_here, run_noted
from tools.attack.runner import Campaign
from tools.attack.signals import COMMANDS, is_complete, output_of, prepared, program

#: What can find no space; an ``open`` that creates a file among them.
FAIL = ("open", "write", "fsync", "replace", "link")
#: Bytes that every file may have: what is said of a full disk goes to a file, too.
LEAST = 512
#: Commands that write a file.
WRITERS = [name for name in COMMANDS if output_of(name, Path()) is not None and name != "demo"]


class FullDisk(Campaign):
    """No space left at the k-th call that needs some, for one call or from there on.

    Two in three attempts take a run with a checkpoint: it must end with a sentence that names the
    file, leave no other file behind, and go on from what it kept to the answer of a whole run once
    there is space again. The others take a command with an output, by such a call or by a limit on
    the size of a file: exit code 1, one line, and the old file.
    """

    count = 600
    short = 1
    seconds = 240.0
    memory = 16 << 30
    apart = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.jobs = jobs()
        self.whole: dict[str, tuple[Any, int]] = {}
        self.sizes: dict[str, tuple[int, int]] = {}
        self.ready = False

    def attempt(self, seed: int) -> str:
        folder = self.folder / f"d{seed}"
        folder.mkdir()
        try:
            turn = seed // 3
            if seed % 3 < 2:
                number = 2 * turn + seed % 3
                names = list(self.jobs)
                return self._resumable(names[number % len(names)], number // len(names), folder)
            return self._command(WRITERS[turn % len(WRITERS)], turn // len(WRITERS), folder)
        finally:
            shutil.rmtree(folder)

    def _resumable(self, name: str, turn: int, folder: Path) -> str:
        job, path = self.jobs[name], folder / "run"
        if name not in self.whole:
            load_here(job, self.folder / f"{name}.here")
            self.whole[name] = run(functools.partial(_counted, job, folder / "whole"), folder)
            for file in folder.glob("whole*"):
                file.unlink()
        whole, calls = self.whole[name]
        at, forever = _place(turn, calls, f"{name}{turn}")
        child = Child(functools.partial(_starved, job, path, at, forever), folder)
        child.wait()
        fine, answer = child.answer
        if fine:
            assert same(answer, whole), f"{name}, call {at}: another answer"
        elif name.startswith("tamiz"):
            _check_line(child.err.partition("Traceback")[0], path)
        else:
            _check_sentence(answer, path)
        child.forget()
        left = {file.name for file in folder.iterdir()} - {"run", "table.csv"}
        assert not left, f"{name}, call {at}: left behind: {left}"
        again, _ = run(functools.partial(run_noted, job, path, path.exists()), folder)
        assert same(again, whole), f"{name}, call {at}: another answer afterwards"
        return "run went on" if fine else "run refused, then resumed"

    def _command(self, name: str, turn: int, folder: Path) -> str:
        if not self.ready:
            prepared(self.folder)
            self.ready = True
        for file in ("table.csv", "model.tamiz"):
            shutil.copy(self.folder / file, folder)
        out = output_of(name, folder)
        assert out is not None
        if name not in self.sizes:
            child = Child(functools.partial(_counted_command, name, folder / "calls"), folder)
            assert child.wait() == 0, child.err
            calls = int((folder / "calls").read_text(encoding="utf-8"))
            self.sizes[name] = calls, out.stat().st_size
            (folder / "calls").unlink()
            child.forget()
        calls, size = self.sizes[name]
        old = turn % 4 != 3
        out.unlink(missing_ok=True)
        if old:
            out.write_text("old", encoding="utf-8")
        if turn % 2 and size > 2 * LEAST:
            limit = LEAST + int(Random(f"{name}{turn}").random() * (0.95 * size - LEAST))
            child = Child(functools.partial(_limited_command, name, limit), folder)
            what = f"{name}, files of {limit} bytes"
        else:
            at, forever = _place(turn // 2, calls, f"{name}{turn}")
            child = Child(functools.partial(_starved_command, name, at, forever), folder)
            what = f"{name}, call {at}"
        code = child.wait()
        said = child.err
        child.forget()
        left = {file.name for file in folder.iterdir()} - {"table.csv", "model.tamiz", out.name}
        assert not left, f"{what}: left behind: {left}"
        if code == 0:
            assert is_complete(out, out.read_bytes()), f"{what}: half a file"
            return "command went on"
        assert code == 1, f"{what}: exit code {code}: {said[-300:]}"
        _check_line(said, out)
        assert out.exists() == old and (not old or out.read_bytes() == b"old"), f"{what}: changed"
        return "command refused"


def _place(turn: int, calls: int, chance: str) -> tuple[int, bool]:
    """Which call fails first, and whether all later ones do: the first ones in turn, then any."""
    at = turn // 2 + 1 if turn < 2 * min(calls, 12) else Random(chance).randint(1, calls)
    return at, turn % 2 == 0


def _check_sentence(text: str, path: Path) -> None:
    kind, _, said = text.partition(": ")
    assert kind in ("OSError", "PermissionError", "FileNotFoundError"), text
    assert path.name in said and "No space left" in said, text
    assert said.endswith((".", "?")) and "\n" not in said, text


def _check_line(text: str, path: Path) -> None:
    lines = [
        line for line in text.splitlines() if re.search("No space|too large|disk is full", line)
    ]
    assert len(lines) == 1 and lines[0].startswith("tamiz: "), text[-400:]
    named = path.name in lines[0] or "standard output" in lines[0]  # which a limit is for, too
    assert named and "Traceback" not in text, text[-400:]
    assert "[Errno" not in text, text[-400:]


# ------------------------------------------------------------------------------ in the child


def _needs_space(name: str, args: tuple[Any, ...]) -> bool:
    if name == "open":
        return len(args) > 1 and bool(args[1] & os.O_CREAT) and "numba" not in str(args[0])
    return name in FAIL and not (name == "write" and args[0] <= 2)


class _Space:
    """Counts the calls that need space, and refuses some."""

    def __init__(self, at: int = 0, forever: bool = False):
        self.calls, self.at, self.forever = 0, at, forever

    def __call__(self, name: str, real: Any, args: tuple[Any, ...]) -> None:
        if _needs_space(name, args):
            self.calls += 1
            if self.at and (self.calls >= self.at if self.forever else self.calls == self.at):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _counted(job: Job, path: Path) -> tuple[Any, int]:
    space = _Space()
    with noting(), changing(space, ("open",)):
        return job(path, False), space.calls


def _starved(job: Job, path: Path, at: int, forever: bool) -> Any:
    with noting(), changing(_Space(at, forever), ("open",)):
        return job(path, False)


def _counted_command(name: str, calls: Path) -> None:
    space = _Space()
    try:
        with changing(space, ("open",)):
            program(COMMANDS[name])()
    finally:
        calls.write_text(str(space.calls), encoding="utf-8")


def _starved_command(name: str, at: int, forever: bool) -> None:
    with changing(_Space(at, forever), ("open",)):
        program(COMMANDS[name])()


def _limited_command(name: str, limit: int) -> None:
    import resource  # of POSIX

    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        program(COMMANDS[name])()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
