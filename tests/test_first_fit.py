"""Compiled functions are kept on disk: only the first fit on a machine waits for the compiler."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import json, sys, types
import numpy as np
from numba.core.dispatcher import Dispatcher
from tamiz.svm import SVC, SVR, PegasosClassifier

X = np.random.default_rng(0).normal(size=(80, 4))
y, target = (X[:, 0] * X[:, 1] > 0).astype(int), X[:, 0]
SVC().fit(X, y).predict(X)
many = np.random.default_rng(1).normal(size=(1100, 4))  # enough for a matrix in float32
SVC().fit(many, many[:, 0] > 0).predict(many)
SVC(kernel="linear").fit(X, y).predict(X)
SVR().fit(X, target).predict(X)
PegasosClassifier(max_iter=3, random_state=0).fit(X, y).predict(X)

functions = {
    id(value): value
    for name, module in list(sys.modules.items())
    if name.partition(".")[0] == "tamiz" and isinstance(module, types.ModuleType)
    for value in vars(module).values()
    if isinstance(value, Dispatcher)
}.values()
print("ANSWER" + json.dumps({
    "hits": sum(sum(f.stats.cache_hits.values()) for f in functions),
    "misses": [f.__name__ for f in functions if sum(f.stats.cache_misses.values())],
    "uncached": [f.__name__ for f in functions if type(f._cache).__name__ == "NullCache"],
    "used": sum(bool(f.signatures) for f in functions),
    "parallel": [f.__name__ for f in functions if f.targetoptions.get("parallel")],
}))
"""


def run(program, *arguments, **environment):
    """What a program prints last, in a process of its own; None takes a variable away."""
    changed = {"PYTHONPATH": str(ROOT / "src"), **environment}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)],
        env={name: value for name, value in {**os.environ, **changed}.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    (line,) = [s for s in done.stdout.splitlines() if s.startswith("ANSWER")]
    return json.loads(line.removeprefix("ANSWER"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same fits in two processes, one after the other; where other tests compile, too."""
    cache = os.environ.get("NUMBA_CACHE_DIR") or str(tmp_path_factory.mktemp("numba"))
    return [run(PROGRAM, NUMBA_CACHE_DIR=cache) for _ in range(2)]


def test_the_second_process_compiles_nothing(runs):
    _, second = runs
    assert second["misses"] == []
    assert second["hits"] > 0
    assert second["used"] > 0


def test_every_compiled_function_is_cached_and_none_is_parallel(runs):
    first, _ = runs
    assert first["uncached"] == []
    assert first["parallel"] == []


# --------------------------------------------------------------------- where it can be kept

#: Nothing outside one folder can be written, as for a user without a home; so even for root.
NO_HOME = """
import os, sys
real, writable = os.access, os.path.realpath(sys.argv[1])
os.access = lambda path, mode: os.path.realpath(path).startswith(writable) and real(path, mode)
"""

ONE_FIT = """
import json, os, time
from tamiz.svm import PerceptronClassifier
started = time.perf_counter()
PerceptronClassifier(max_iter=3).fit([[0.0], [1.0]], [0, 1])
seconds = time.perf_counter() - started
from tamiz.runtime.compiling import cache_folder
print("ANSWER" + json.dumps([str(cache_folder().parent), seconds]))
"""

NO_FIT = """
import json
from tamiz.runtime.compiling import cache_folder
print("ANSWER" + json.dumps(str(cache_folder().parent)))
"""

needs_a_home = pytest.mark.skipif(
    os.name == "nt", reason="the local folder of a user can always be written"
)


@pytest.mark.ours
@needs_a_home
def test_without_a_home_they_are_kept_among_temporary_files(tmp_path, tmp_path_factory):
    source = tmp_path_factory.mktemp("source")  # where nothing was compiled yet
    shutil.copytree(
        ROOT / "src/tamiz", source / "tamiz", ignore=shutil.ignore_patterns("__pycache__", "sets")
    )
    nowhere = {"NUMBA_CACHE_DIR": None, "TMPDIR": str(tmp_path), "PYTHONPATH": str(source)}
    folder, first = run(NO_HOME + ONE_FIT, tmp_path, **nowhere)
    assert Path(folder).parent == tmp_path
    assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
    kept = sorted(Path(folder).rglob("*.nb[ic]"))
    assert {path.suffix for path in kept} == {".nbi", ".nbc"}
    again, second = run(NO_HOME + ONE_FIT, tmp_path, **nowhere)
    assert again == folder and second < first
    assert sorted(Path(folder).rglob("*.nb[ic]")) == kept


@pytest.mark.ours
@needs_a_home
def test_the_folder_of_the_user_and_the_one_that_is_named_come_first(tmp_path):
    home = tmp_path / "home"
    nowhere = {"NUMBA_CACHE_DIR": None, "TMPDIR": str(tmp_path), "XDG_CACHE_HOME": str(home)}
    assert run(NO_HOME + NO_FIT, tmp_path, **nowhere) == str(home / "tamiz")
    assert run(NO_HOME + NO_FIT, tmp_path, NUMBA_CACHE_DIR="given") == "given"


@pytest.mark.ours
@needs_a_home
@pytest.mark.parametrize("what", ["writable by others", "a link"])
def test_nothing_is_loaded_from_a_folder_that_others_can_write(tmp_path, what):
    planted = tmp_path / f"tamiz-compiled-{os.getuid()}"
    if what == "a link":
        (tmp_path / "elsewhere").mkdir()
        planted.symlink_to(tmp_path / "elsewhere")
    else:
        planted.mkdir()
        planted.chmod(0o777)
    folder = Path(run(NO_HOME + NO_FIT, tmp_path, NUMBA_CACHE_DIR=None, TMPDIR=str(tmp_path)))
    assert folder.parent == tmp_path and folder != planted
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
