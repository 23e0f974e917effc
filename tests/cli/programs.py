"""Running the program: in this process, or as a user does, in one of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from unittest import mock

from jsonschema import Draft202012Validator

from tamiz.cli.app import run as run_program

PROGRAM = [sys.executable, "-m", "tamiz"]


def run(*arguments, cwd=None):
    """Run ``tamiz`` with these arguments in this process: nothing is loaded or compiled again.

    Output goes to a stream that is no terminal, as if it were piped.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    command = [*PROGRAM, *map(str, arguments)]
    with (
        mock.patch.object(sys, "argv", ["tamiz", *command[len(PROGRAM) :]]),  # as reports show it
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run_program(command[len(PROGRAM) :])
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))
    return subprocess.CompletedProcess(command, code, texts[0], without_compiling(texts[1]))


def without_compiling(text):
    """Messages without the one that something is compiled, which whoever is first says once."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("tamiz: compiling, once: "))


def run_apart(*arguments, cwd=None):
    """The same in a process of its own, as from a script."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
        cwd=cwd,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    done.stderr = without_compiling(done.stderr)
    return done


@cache
def schemas():
    return json.loads(files("tamiz.cli").joinpath("schemas.json").read_text(encoding="utf-8"))


def valid(command, text):
    """The document that a command printed, checked against the published schema."""
    document = json.loads(text)
    whole = schemas()
    schema = {"$ref": f"#/$defs/{command}", "$defs": whole["$defs"]}
    Draft202012Validator.check_schema(whole)
    errors = [error.message for error in Draft202012Validator(schema).iter_errors(document)]
    assert not errors, errors
    return document


def is_one_line(text):
    """Whether something is one line with words, and no traceback."""
    return text.count("\n") == 1 and text.startswith("tamiz: ") and "Traceback" not in text
