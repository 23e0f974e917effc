"""Compiled functions are kept on disk: only the first fit on a machine waits for the compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import json, sys, time, types
import numpy as np
from numba.core.dispatcher import Dispatcher
from tamiz.svm import SVC, SVR, PegasosClassifier

X = np.random.default_rng(0).normal(size=(80, 4))
y, target = (X[:, 0] * X[:, 1] > 0).astype(int), X[:, 0]
started = time.perf_counter()
SVC().fit(X, y).predict(X)
many = np.random.default_rng(1).normal(size=(1100, 4))  # enough for a matrix in float32
SVC().fit(many, many[:, 0] > 0).predict(many)
SVC(kernel="linear").fit(X, y).predict(X)
SVR().fit(X, target).predict(X)
PegasosClassifier(max_iter=3, random_state=0).fit(X, y).predict(X)
seconds = time.perf_counter() - started

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
    "seconds": seconds,
}))
"""


def run(cache):
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    (line,) = [s for s in done.stdout.splitlines() if s.startswith("ANSWER")]
    return json.loads(line.removeprefix("ANSWER"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same fits in two processes, one after the other, with a cache that starts empty."""
    cache = tmp_path_factory.mktemp("numba")
    first = run(cache)
    return first, run(cache), cache


def test_the_first_process_compiles_and_keeps(runs):
    first, _, cache = runs
    assert first["misses"] and first["hits"] == 0
    assert list(cache.rglob("*.nbi")) and list(cache.rglob("*.nbc"))


def test_the_second_process_compiles_nothing(runs):
    first, second, _ = runs
    assert second["misses"] == []
    assert second["hits"] > 0
    assert second["used"] > 0
    assert second["seconds"] < first["seconds"]


def test_every_compiled_function_is_cached_and_none_is_parallel(runs):
    first, _, _ = runs
    assert first["uncached"] == []
    assert first["parallel"] == []
