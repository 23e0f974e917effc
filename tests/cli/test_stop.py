"""A run that is stopped by a signal shows what it has, and says so by its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import numpy as np
import pytest

from tests.cli.programs import PROGRAM, valid


def handled():
    """In the new process: signals as a terminal sends them, however the tests were started."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_at_once_and_keeps_what_was_reached(tmp_path, number, code):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6)).round(3)
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    rows = [",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,e,f,y", *rows]), encoding="utf-8")
    options = ["-m", "fisher,welch", "--judge", "linear,tree", "--repeats", "400", "-j", "1", "-q"]
    running = subprocess.Popen(
        [*PROGRAM, "select", "t.csv", *options, "--json", "--checkpoint", "journal"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=handled,
    )
    try:
        journal, deadline = tmp_path / "journal", time.monotonic() + 120
        while not (journal.exists() and journal.read_bytes().count(b"\n") > 12):
            assert running.poll() is None, running.stderr.read()
            assert time.monotonic() < deadline, "no split was finished"
            time.sleep(0.1)
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == code, err
    found = valid("select", out)
    assert found["comparison"]["status"] == "interrupted"
    assert found["status"] == "cut short"
    assert found["most_accurate"]["size"] <= 6 and found["honest"]["n_splits"] >= 1


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_sigterm_before_anything_is_finished_is_143(tmp_path):
    """The journal appears when the work begins; no split of 3,000 rows ends within a moment."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 12)).round(3)
    rows = [",".join([*map(str, row), "yn"[int(row[0] > 0)]]) for row in X]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,e,f,g,h,i,j,k,l,y", *rows]))
    options = ["-m", "rfe", "--judge", "knn,rbf", "--repeats", "40", "-j", "1", "-q"]
    running = subprocess.Popen(
        [*PROGRAM, "select", "t.csv", *options, "--checkpoint", "journal"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=handled,
    )
    try:
        journal, deadline = tmp_path / "journal", time.monotonic() + 120
        while not journal.exists():
            assert running.poll() is None, running.stderr.read()
            assert time.monotonic() < deadline, "the work did not begin"
            time.sleep(0.01)
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 143 and out == ""
    assert err.strip().splitlines()[-1] == "tamiz: ended by SIGTERM; nothing was finished."
