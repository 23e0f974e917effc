"""Running the program as a user does: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from importlib.resources import files

from jsonschema import Draft202012Validator

PROGRAM = [sys.executable, "-m", "tamiz"]


def run(*arguments, cwd=None, timeout=240, **environment):
    """Run ``tamiz`` with these arguments; output is piped, so no terminal is seen."""
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        cwd=cwd,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
    )


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
