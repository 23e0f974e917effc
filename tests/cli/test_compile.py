"""``tamiz compile``: what it prepares, and what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.utils import get_tags

from tamiz.cli.app import run as run_program
from tamiz.cli.compile import run_part, small_fits
from tests.cli.programs import is_one_line

ROOT = Path(__file__).resolve().parent.parent.parent


def program(*arguments, cache):
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "tamiz", *arguments],
        env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=500,
    )


@pytest.mark.ours
def test_what_it_prepares_need_not_be_compiled_later(tmp_path):
    done = program("compile", "--only", "fisher", "--jobs", "2", cache=tmp_path)
    assert done.returncode == 0, done.stderr
    said = re.fullmatch(r"2 parts ready in \d+ s; (\d+) files, [\d.]+ MB, in (.+)\n", done.stdout)
    assert said is not None and int(said[1]) == len(list(Path(said[2]).rglob("*.nb[ic]"))) > 3
    later = program("rank", "iris", "-m", "fisher", cache=tmp_path)
    assert later.returncode == 0
    assert "tamiz.scale.moments" not in later.stderr  # the reader's functions may be announced


@pytest.mark.parametrize("name", list(small_fits()))
def test_every_part_can_be_fitted(name):
    assert run_part(name) == (name, None)


def test_one_job_prepares_the_same_in_this_process(capsys):
    assert run_program(["compile", "--only", "pearson", "--jobs", "1"]) == 0
    assert capsys.readouterr().out.startswith("3 parts ready in ")


def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = program("compile", cache=tmp_path / "file" / "cache")
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert "cannot be written" in done.stderr and "NUMBA_CACHE_DIR" in done.stderr


def test_a_part_that_is_unknown_is_refused(capsys):
    assert run_program(["compile", "--only", "nothing like it"]) == 2
    assert is_one_line(capsys.readouterr().err)


@pytest.mark.parametrize("room", ["filters", "embedded", "search", "svm", "tree", "neighbors"])
def test_every_public_estimator_is_among_the_parts(room):
    import importlib

    from sklearn.base import BaseEstimator

    package = importlib.import_module(f"tamiz.{room}")
    public = {
        name
        for name in package.__all__
        if isinstance(kind := getattr(package, name), type) and issubclass(kind, BaseEstimator)
    }
    made = {type(fit.make()).__name__ for fit in small_fits().values()}
    assert public - {"MultiTarget"} <= made  # it has others fitted


def test_no_part_gives_an_estimator_what_it_refuses():
    for name, fit in small_fits().items():
        takes = get_tags(fit.make()).input_tags
        assert fit.kind != "sparse" or takes.sparse, name
        assert fit.kind != "missing" or takes.allow_nan, name
