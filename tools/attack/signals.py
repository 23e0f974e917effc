"""Ctrl-C and SIGTERM at any instant of every command: an end in good order."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import os
import shutil
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tamiz.reproduce.reproduce import RECIPES
from tools.attack.children import Child
from tools.attack.jobs import RECIPE, write_table
from tools.attack.runner import Campaign, load_per_core, patience

QUICK = ["-m", "fisher,welch", "--judge", "linear", "--cv", "3", "-j", "2", "--sizes", "1,4"]
#: Name -> arguments; what begins with OUT is a file that is written.
COMMANDS: dict[str, list[str]] = {
    "select": ["select", "table.csv", *QUICK, "--repeats", "4", "--out", "OUT.html"],
    "select json": ["select", "table.csv", *QUICK, "--repeats", "4", "--json", "-q"],
    "compile": ["compile", "--jobs", "2", "--only", "fisher"],
    "select save": ["select", "table.csv", *QUICK, "--save", "OUT.tamiz", "-q"],
    "compare": ["compare", "table.csv", *QUICK, "--repeats", "4", "--out", "OUT.html"],
    "tune": ["tune", "table.csv", "--cv", "5", "-j", "2", "--out", "OUT.html"],
    "rank": ["rank", "table.csv", "-m", "rfe", "--out", "OUT.html"],
    "fit": ["fit", "table.csv", "--save", "OUT.tamiz"],
    "predict": ["predict", "model.tamiz", "table.csv", "--out", "OUT.csv"],
    "explain": ["explain", "model.tamiz", "table.csv", "-o", "OUT.csv"],
    "picture": ["explain", "model.tamiz", "table.csv", "-o", "OUT.png"],
    "show": ["show", "model.tamiz"],
    "reproduce": ["reproduce", "D1", "--repeats", "200", "-j", "1"],
    "datasets": ["datasets"],
    "methods": ["methods"],
    "demo": ["demo", "--repeats", "1", "-j", "2", "-q", "--out", "OUT.html"],
}
if importlib.util.find_spec("onnx") is not None:
    COMMANDS["graph"] = ["show", "model.tamiz", "--onnx", "OUT.onnx"]
#: Where each kind of file must end.
ENDS = {".html": b"</html>", ".csv": b"\n", ".tamiz": b"", ".onnx": b"", ".png": b"IEND\xaeB`\x82"}
PATIENCE = 2.0  # seconds from the signal to the end
LONGEST = 3.0  # seconds before the signal
MARKS = ("cut short", "interrupted", "ctrl-c", "sigterm")
#: How a report says so.
REPORT_MARKS = (b"was cut short", b"Interrupted: ")


class Whole(NamedTuple):
    """A command that nobody stopped."""

    out: str
    seconds: float


class Signals(Campaign):
    """SIGINT to the whole group, as a terminal sends it, or SIGTERM to the process.

    Every tenth attempt starts a new interpreter; the others fork. What was cut short must end with
    130 or 143 (or by the signal itself, before a command begins or after it is complete), without
    a traceback or an abort, within two seconds. What is left is the old file, or a complete one;
    a partial result says so, in a report as well.
    """

    count = 136
    short = 1
    seconds = 240.0
    memory = 16 << 30
    apart = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.whole: dict[str, Whole] = {}
        prepared(folder)

    def attempt(self, seed: int) -> str:
        name = list(COMMANDS)[seed % len(COMMANDS)]
        chance = Random(seed)
        number = (signal.SIGINT, signal.SIGTERM)[seed // len(COMMANDS) % 2]
        folder = self.folder / f"s{seed}"
        folder.mkdir()
        for file in ("table.csv", "model.tamiz"):
            shutil.copy(self.folder / file, folder)
        try:
            if name not in self.whole:
                self.whole[name] = _whole(name, folder)
            whole = self.whole[name]
            out = output_of(name, folder)
            if out is not None:
                out.write_text("old", encoding="utf-8")
            again = chance.random() < 0.2  # the impatient hit Ctrl-C twice
            wait = chance.random() * min(whole.seconds, LONGEST)
            apart = seed % 10 == 9 and name != "reproduce"  # whose recipe is known here only
            child = Child(program(COMMANDS[name], apart), folder)
            if apart:  # an interpreter that has not come to our code yet is Python's
                while not (folder / "begun").exists() and child.poll() is None:
                    time.sleep(0.01)
            time.sleep(wait)
            busy = load_per_core()
            began = time.monotonic()
            _send(child, number)
            if again:
                time.sleep(chance.random() * 0.05)
                _send(child, number)
            code = child.wait()
            took = time.monotonic() - began
            return _judge(name, code, number, child, whole, out, took, busy)
        finally:
            shutil.rmtree(folder)


def _send(child: Child, number: int) -> None:
    if child.poll() is None:
        (os.killpg if number == signal.SIGINT else os.kill)(child.pid, number)


def _judge(
    name: str,
    code: int,
    number: int,
    child: Child,
    whole: Whole,
    out: Path | None,
    took: float,
    busy: float,
) -> str:
    said = child.err
    fine = {0, -number, 130 if number == signal.SIGINT else 143}
    assert code in fine, f"{name}: exit code {code}: {said[-300:]}"
    assert "Traceback" not in said and "Fatal" not in said, f"{name}: {said[-500:]}"
    assert "Exception ignored" not in said, f"{name}: {said[-500:]}"
    text = child.out
    if code == 0:
        assert _like(text, whole.out), f"{name}: exit code 0, and not all was shown: {text[-200:]}"
    elif text and not _like(text, whole.out) and not whole.out.startswith(text):
        marked = any(mark in f"{text} {said}".lower() for mark in MARKS)
        assert marked, f"{name}: a part is shown as if it were all: {text[-300:]}"
    left = [file.name for file in child.folder.iterdir() if file.name.endswith(".new")]
    assert not left, f"{name}: left behind: {left}"
    if out is not None:
        raw = out.read_bytes()
        assert raw == b"old" or is_complete(out, raw), f"{name}: half a file: {raw[-60:]!r}"
        assert raw != b"old" or code != 0, f"{name}: exit code 0, and nothing was written"
        if out.suffix == ".html" and raw != b"old":
            _judge_report(name, code, text, raw)
    if took > PATIENCE:
        assert took < patience(PATIENCE) or busy > 1.5, (
            f"{name}: ended {took:.1f} s after the signal"
        )
        return f"ended late ({took:.0f} s) on a busy machine"
    if code == 0:
        return "had ended"
    return "ended by the signal" if code < 0 else f"ended with {code}"


def _judge_report(name: str, code: int, text: str, raw: bytes) -> None:
    """The report of a part says that it is one; the text is there before it."""
    marked = any(mark in raw for mark in REPORT_MARKS)
    shown = any(mark in text.lower() for mark in MARKS)
    assert marked or not shown, f"{name}: the report shows a part as if it were all"
    assert shown or not marked, f"{name}: only the report says that this is a part: {text[-200:]}"
    assert not marked or code != 0, f"{name}: exit code 0, and the report was cut short"


def _like(text: str, whole: str) -> bool:
    """Whether two outputs have the same lines, whatever their figures."""
    return len(text.splitlines()) >= len(whole.splitlines()) - 2


def is_complete(out: Path, raw: bytes) -> bool:
    """Whether a file is whole."""
    if out.suffix == ".tamiz":
        from tamiz import load

        load(out)
    if out.suffix == ".onnx":
        import onnx

        onnx.checker.check_model(onnx.load(out))
    return raw.rstrip().endswith(ENDS[out.suffix].rstrip())


def output_of(name: str, folder: Path) -> Path | None:
    """The file that a command writes."""
    names = [argument for argument in COMMANDS[name] if argument.startswith("OUT")]
    return folder / names[0] if names else None


def program(arguments: list[str], apart: bool = False) -> Any:
    """The program as a function for a child."""
    start = "from tamiz.cli import main; open('begun', 'w').close(); main()"

    def program() -> None:
        sys.argv[1:] = arguments
        if apart:
            os.execv(sys.executable, [sys.executable, "-c", start, *arguments])
        from tamiz.cli import main

        main()

    return functools.partial(program)


def prepared(folder: Path) -> None:
    """Write a table and a model.

    Commands are run here, one thread each, so that forks find loaded what they need.
    """
    from tamiz.cli.app import run

    RECIPES["D1"] = RECIPE
    write_table(folder / "table.csv")
    fit = ["fit", "table.csv", "--save", "model.tamiz"]
    commands = [fit, *(COMMANDS[name] for name in ("select", "tune", "rank", "predict", "explain"))]
    commands += [COMMANDS[name] for name in COMMANDS if name == "graph"]
    with contextlib.chdir(folder):
        for command in commands:
            one = ["1" if before == "-j" else word for before, word in pairwise(["", *command])]
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = run(one)
            assert code == 0, f"{one}: {said.getvalue()}"


def _whole(name: str, folder: Path) -> Whole:
    """What it shows and how long it takes; not where it takes long."""
    if name == "demo":
        return Whole("", LONGEST)
    child = Child(program(COMMANDS[name]), folder)
    began = time.monotonic()
    code = child.wait()
    assert code == 0, f"{name}: exit code {code}: {child.err[-300:]}"
    return Whole(child.out, time.monotonic() - began)
