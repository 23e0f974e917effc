"""Compiling is announced once and measured; what is on disk is silent."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from numba import njit
from numba.core.errors import NumbaError

from tamiz.evaluation.study.making import CompileWatch
from tests.conftest import ROOT


def fresh():
    """A function that no one has compiled yet, and one that calls it."""

    @njit
    def inner(x):
        return x * x + 1

    @njit
    def outer(x):
        return inner(x) + inner(x + 1)

    return inner, outer


def test_announced_once_and_measured():
    announced, spent = [], []
    inner, outer = fresh()
    with CompileWatch(lambda: announced.append(1), spent.append) as watch:
        assert inner(2) == 5
        assert inner(2.0) == 5.0  # for another type, it is compiled again
        assert outer(1) == 7
    assert len(announced) == 1
    assert len(spent) == 3 and all(seconds > 0 for seconds in spent)
    assert watch.seconds == pytest.approx(sum(spent))


def test_a_function_compiled_inside_another_is_counted_once():
    spent = []
    _, outer = fresh()
    with CompileWatch(compiled=spent.append) as watch:
        outer(1)
    assert len(spent) == 1 and watch.seconds == spent[0]


def test_nothing_to_compile_is_silent():
    announced = []
    inner, _ = fresh()
    inner(2)
    with CompileWatch(lambda: announced.append(1), announced.append) as watch:
        inner(3)
    assert announced == [] and watch.seconds == 0.0


def test_nothing_is_heard_before_and_after():
    inner, outer = fresh()
    inner(1)
    with CompileWatch() as watch:
        pass
    outer(1)
    assert watch.seconds == 0.0


def test_watches_inside_one_another_hear_the_same():
    inner, outer = fresh()
    with CompileWatch() as first:
        inner(1)
        before = first.seconds
        with CompileWatch() as second:
            outer(1.5)
    assert second.seconds > 0 and before > 0
    assert first.seconds - before == pytest.approx(second.seconds, abs=0.05)


def test_a_function_that_cannot_be_compiled_leaves_the_watch_in_order():
    @njit
    def wrong(x):
        return x.no_such_thing

    spent = []
    inner, _ = fresh()
    with CompileWatch(compiled=spent.append) as watch:
        with pytest.raises(NumbaError):
            wrong(1)
        inner(1)
    assert len(spent) == 2 and watch.seconds == pytest.approx(sum(spent))


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from squares import square
from tamiz.evaluation.study.making import CompileWatch
with CompileWatch(lambda: print("announced")) as watch:
    square(3)
print(watch.seconds > 0)
"""


def test_what_is_kept_on_disk_is_silent(tmp_path):
    text = "from numba import njit\n\n@njit(cache=True)\ndef square(x):\n    return x * x\n"
    (tmp_path / "squares.py").write_text(text)
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    said = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert said == [["announced", "True"], ["False"]]
