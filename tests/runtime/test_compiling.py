"""Compiling is announced and measured; what is compiled is kept until it is out of date."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit
from numba.core.errors import NumbaError

from tamiz.runtime.compiling import CompileWatch
from tamiz.runtime.compiling import njit as compiled_here
from tamiz.runtime.progress import announce_compiling, listen_to_compiling

ROOT = Path(__file__).resolve().parent.parent.parent


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
    with CompileWatch(announced.append, spent.append) as watch:
        assert inner(2) == 5
        assert inner(2.0) == 5.0  # for another type, it is compiled again
        assert outer(1) == 7
    assert announced == [__name__]
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
    with CompileWatch(announced.append, announced.append) as watch:
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
from tamiz.runtime.compiling import CompileWatch
from tamiz.runtime.compiling import njit as compiled_here
with CompileWatch(lambda name: print("announced")) as watch:
    square(3)
print(watch.seconds > 0)
"""


def test_what_is_kept_on_disk_is_silent(tmp_path):
    text = "from numba import njit\n\n@njit(cache=True)\ndef square(x):\n    return x * x\n"
    (tmp_path / "squares.py").write_text(text, encoding="utf-8")
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


# ---------------------------------------------------------------------------------- the cache

SHARED = """
from tamiz.runtime.compiling import njit

STEP = 1

@njit(cache=True)
def add(x):
    return x + 1
"""
CALLS = """
from kept.shared import STEP, add
from tamiz.runtime.compiling import njit

@njit(cache=True)
def twice(x):
    return add(add(x)) * STEP
"""
ASK = """
import sys
sys.path.insert(0, sys.argv[1])
if len(sys.argv) > 2:
    import numpy
    numpy.__version__ = sys.argv[2]
from kept.calls import twice
print(twice(1), sum(twice.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path):
    """A package of two files with compiled functions, of which one calls that of the other."""
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "shared.py").write_text(SHARED, encoding="utf-8")
    (folder / "calls.py").write_text(CALLS, encoding="utf-8")
    return folder


def ask(package, *more, cache="cache"):
    """What ``twice(1)`` gives in a new process, and how many functions came from the cache."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    where = {"NUMBA_CACHE_DIR": str(package.parent / cache)} if cache else {}
    others = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-B", "-c", ASK, str(package.parent), *more],
        env={**others, "PYTHONPATH": path, "HOME": str(package.parent / "home"), **where},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return tuple(map(int, done.stdout.split()))


def rewrite(path, old, new):
    """Change a file, but not its time and size."""
    before = path.stat()
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def test_what_is_called_in_another_file_counts_whatever_its_time(package):
    assert ask(package) == (3, 0)
    assert ask(package) == (3, 1)
    rewrite(package / "shared.py", "x + 1", "x + 5")
    assert ask(package) == (11, 0)
    rewrite(package / "shared.py", "STEP = 1", "STEP = 2")
    assert ask(package) == (22, 0)
    assert ask(package) == (22, 1)


def test_another_version_of_numpy_compiles_for_itself(package):
    import numpy

    assert ask(package) == (3, 0)
    assert ask(package, numpy.__version__ + ".post1") == (3, 0)
    assert ask(package) == (3, 1)  # none has overwritten the other's
    assert len(list((package.parent / "cache").iterdir())) == 2


def test_functions_are_kept_beside_the_source_unless_a_folder_is_named(package):
    assert ask(package, cache="") == (3, 0)
    assert list((package / "__pycache__").rglob("*.nbi"))
    assert ask(package, cache="") == (3, 1)


def test_a_damaged_cache_is_as_good_as_none(package):
    ask(package)
    for path in (package.parent / "cache").rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:20])
    assert ask(package) == (3, 0)


def test_a_folder_that_cannot_be_made_does_no_harm(package):
    (package.parent / "file").write_text("", encoding="utf-8")
    assert ask(package, cache="file/cache") == (3, 0)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_filled_folder_that_cannot_be_written_is_read(package):
    ask(package)
    for path in (package.parent / "cache").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert ask(package) == (3, 1)


BOTH = """
import sys
sys.path.insert(0, sys.argv[1])
from kept.calls import twice
from kept.shared import add
answers = [twice(1)] if "twice" in sys.argv else []
print(*answers, add(1), sum(add.stats.cache_hits.values()))
"""


def test_python_can_call_what_was_compiled_for_a_compiled_function(package):
    def call(*what):
        path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-B", "-c", BOTH, str(package.parent), *what],
            env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(package.parent / "c")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert call("twice") == ["3", "2", "0"]  # compiled for ``twice``, then once more for Python
    assert call("twice") == ["3", "2", "1"]
    assert call() == ["2", "1"]


def test_what_only_compiled_functions_called_is_not_kept_for_python(package):
    assert ask(package, cache="c") == (3, 0)
    (kept,) = (package.parent / "c").rglob("shared.add*.nbc")
    assert b"cpython" not in kept.read_bytes()
    (called,) = (package.parent / "c").rglob("calls.twice*.nbc")
    assert b"cpython" in called.read_bytes()


SELF = """
from tamiz.runtime.compiling import njit

@njit(cache=True)
def count(n):
    return 1 if n == 0 else 1 + count(n - 1)

@njit(cache=True)
def say(n):
    if n > 5:
        raise ValueError("too many", n)
    return count(n)

@njit(cache=True)
def outer(n):
    return 2 * say(n)
"""
FOREIGN = """
import sys
sys.path.insert(0, sys.argv[1])
from numba import njit
from kept.recursive import count, outer, say

@njit
def foreign(n):
    return say(n) + 1

print(outer(3))
print(foreign(3))
for function in (outer, foreign, say):
    try:
        function(6)
    except ValueError as error:
        print(error.args[1])
print(count(4), len(foreign.overloads))
"""


def test_recursion_exceptions_and_functions_of_others_work_with_what_has_no_code(package):
    """In the process that compiles, and in one that loads what another has compiled."""
    (package / "recursive.py").write_text(SELF, encoding="utf-8")
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-B", "-c", FOREIGN, str(package.parent)],
            env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(package.parent / "c")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["8", "5", "6", "6", "6", "5", "1"]


def test_what_only_compiled_functions_called_has_no_machine_code(package):
    assert ask(package, cache="c") == (3, 0)
    (kept,) = (package.parent / "c").rglob("shared.add*.nbc")
    assert b"linked only" in kept.read_bytes()
    (called,) = (package.parent / "c").rglob("calls.twice*.nbc")
    assert b"linked only" not in called.read_bytes()
    rewrite(package / "calls.py", "* STEP", "+ STEP")  # links what was loaded
    assert ask(package, cache="c") == (4, 0)


def test_garbage_is_collected_after_compiling_unless_it_was_not_before():
    double = compiled_here(lambda x: 2 * x)
    assert gc.isenabled() and double(2) == 4 and gc.isenabled()
    gc.disable()
    try:
        assert double(2.0) == 4.0 and not gc.isenabled()
    finally:
        gc.enable()


# ------------------------------------------------------------------------------ announcements


def test_a_listener_hears_of_compiling_once_with_what():
    said = []
    listen_to_compiling(said.append)
    try:
        announce_compiling("tamiz.filters.relief", 0.0)
        announce_compiling("tamiz.svm.svc", 1.0)
    finally:
        listen_to_compiling(None)
    (sentence,) = said
    assert sentence.startswith("compiling, once: tamiz.filters.relief ")
    assert "tamiz compile" in sentence


@pytest.mark.ours
def test_the_program_announces_compiling_unless_it_is_quiet(tmp_path):
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    said = []
    for options in (["--quiet"], [], []):
        folder = tmp_path / ("quiet" if options else "loud")
        done = subprocess.run(
            [sys.executable, "-m", "tamiz", "rank", "iris", "-m", "fisher", *options],
            env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder)},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        said.append(done.stderr.count("tamiz: compiling, once: tamiz."))
    assert said == [0, 1, 0]


TWO = """
import sys
sys.path.insert(0, sys.argv[1])
from kept.shared import add
print(add(1), add(1.5), sum(add.stats.cache_hits.values()))
"""


def test_code_of_another_signature_is_not_taken(package, tmp_path):
    """Where nothing can be locked, two processes may give two signatures one file."""

    def run():
        path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            [sys.executable, "-c", TWO, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()

    assert run() == ["2", "2.5", "0"]
    assert run() == ["2", "2.5", "2"]
    one, other = sorted((tmp_path / "cache").rglob("*add*.nbc"))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    assert run() == ["2", "2.5", "0"]


def test_functions_of_no_module_compile_while_ours_are_announced():
    """Others make them with exec, as numba's own jitclass does."""
    space = {"__name__": None}
    exec("def plain(x):\n    return x + 1", space)
    assert njit(space["plain"])(1) == 2
