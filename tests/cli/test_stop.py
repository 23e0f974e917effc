"""A run that is stopped by a signal or by its time shows what it has, and says so."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import numpy as np
import pytest

from tamiz import reports
from tamiz.cli import app, options, select
from tamiz.cli.app import run
from tamiz.evaluation.study import making
from tamiz.filters import FisherScore
from tamiz.runtime.progress import Progress
from tests.calls import clocked, interrupted, signalled, slowed, watched
from tests.cli.programs import PROGRAM, is_one_line, valid
from tests.reports.tree import read

pytestmark = pytest.mark.ours


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
    given = ["-m", "fisher,welch", "--judge", "linear,tree", "--repeats", "400", "-j", "1", "-q"]
    running = subprocess.Popen(
        [*PROGRAM, "select", "t.csv", *given, "--json", "--checkpoint", "journal"],
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
    (tmp_path / "t.csv").write_text(
        "\n".join(["a,b,c,d,e,f,g,h,i,j,k,l,y", *rows]), encoding="utf-8"
    )
    given = ["-m", "rfe", "--judge", "knn,rbf", "--repeats", "40", "-j", "1", "-q"]
    running = subprocess.Popen(
        [*PROGRAM, "select", "t.csv", *given, "--checkpoint", "journal"],
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


# ------------------------------------------------------------------------------ time budgets


class Clock:
    """A clock that goes on when it is told to."""

    now = 100.0

    def __call__(self):
        return self.now


def test_a_budget_begins_with_the_command_and_compiling_does_not_count():
    clock = Clock()
    budget = options.Budget(30.0, clock)
    assert budget.left == 30.0
    clock.now += 8.0  # starting up, reading
    assert budget.left == 22.0
    budget.add(5.0)  # of these, compiling
    assert budget.left == 27.0
    clock.now += 100.0
    assert budget.left == 3.0  # enough to try, and to say what is missing
    assert options.Budget(None, clock).left is None
    assert options.Budget(-1.0, clock).left == -1.0  # as it was written, for the study to refuse


@pytest.fixture
def slow(tmp_path):
    """A run of one method; everything is imported and compiled before its time is taken."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6)).round(3)
    rows = [",".join([*map(str, row), "yn"[int(row[0] + row[1] > 0)]]) for row in X]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,c,d,e,f,y", *rows]), encoding="utf-8")
    arguments = ["select", str(path), "-m", "fisher", "--judge", "tree", "--json", "-q", "-j", "1"]
    assert run([*arguments, "--cv", "2", "--repeats", "1"]) == 0
    return arguments


def test_the_study_gets_what_reading_the_table_has_left(slow):
    with slowed(options, "read", 2.0), watched(reports, "make_study") as calls:
        assert run([*slow, "--cv", "2", "--repeats", "1", "--time-budget", "60"]) == 0
    (call,) = calls
    assert call.options["time_budget"] < 58.5


def test_a_run_that_would_take_minutes_keeps_its_budget(slow, tmp_path, capsys, monkeypatch):
    """Within a tenth and five seconds, the report included; only the method takes time."""
    budget, clock = 20.0, Clock()
    capsys.readouterr()
    more = ["--repeats", "100", "--time-budget", str(budget), "--out", str(tmp_path / "r.html")]
    with clocked(FisherScore, "fit", clock, 0.25):
        began = clock.now
        monkeypatch.setattr(time, "monotonic", clock)
        assert run([*slow, *more]) == 0
        assert budget / 2 < clock.now - began < 1.1 * budget + 5
    found = valid("select", capsys.readouterr().out)
    assert found["comparison"]["status"] == "time budget"
    assert 1 <= found["honest"]["n_splits"] < 50  # of 500


def test_a_budget_without_a_finished_split_leaves_a_first_guess_and_says_what_to_allow(
    slow, capsys
):
    capsys.readouterr()
    with slowed(FisherScore, "fit", 0.4):
        assert run([*slow, "--cv", "5", "--repeats", "4", "--time-budget", "1"]) == 1
    told = capsys.readouterr()
    assert not told.out and is_one_line(told.err)
    assert "--time-budget 1 ended before any split was finished, and so no error is" in told.err
    assert "as a first guess, fisher ranks first: a, b" in told.err.replace("b, a", "a, b")
    allowed = int(told.err.split("such as --time-budget ")[1].split(",")[0])
    assert allowed >= 10 and allowed % 10 == 0


# ----------------------------------------------------------------------------- every command


GRID = ["--C", "0.1,1,10,100", "--gamma", "0.01,0.1,1", "--cv", "3", "-j", "1", "-q"]
COMPARED = ["-m", "fisher,welch", "--judge", "linear", "--repeats", "2", "-j", "1", "-q"]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    ("command", "at", "words", "in_report"),
    [
        (["tune", "iris", *GRID], 140, "CUT SHORT: of 12 cells, ", "The search was cut short: of"),
        (["compare", "iris", *COMPARED], 60, "CUT SHORT", "The study was cut short. Splits from"),
        (["select", "iris", *COMPARED], 44, "The study was cut", "The study was cut short. Splits"),
    ],
    ids=["tune", "compare", "select"],
)
def test_what_was_stopped_never_ends_with_0_and_its_report_says_so(
    command, at, words, in_report, number, code, capsys, tmp_path
):
    """The signal comes when some of the work is done, which is shown."""
    path = tmp_path / "report.html"
    with signalled(Progress, "update", number, at):
        assert run([*command, "--out", str(path)]) == code
    assert words in capsys.readouterr().out
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    page = path.read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    assert in_report in read(page).text
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (["tune", "iris", "--C", "1", "--gamma", "0.1,1", "--cv", "3"], "best: C = "),
        (["compare", "iris", *COMPARED], "fisher"),
        (["select", "iris", *COMPARED], "Smallest: "),
        (["rank", "iris", "-m", "fisher"], "petal width"),
    ],
    ids=["tune", "compare", "select", "rank"],
)
def test_ctrl_c_while_the_report_is_made_leaves_the_answer_and_the_old_report(
    command, answer, capsys, tmp_path
):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    with interrupted(reports, "write_report"):
        assert run([*command, "--out", str(path)]) == 130
    said = capsys.readouterr()
    assert answer in said.out
    assert said.err.endswith("tamiz: interrupted while the report was made; there is none.\n")
    assert path.read_text(encoding="utf-8") == "old"


def test_ctrl_c_while_the_model_is_made_leaves_the_answer_and_the_report(capsys, tmp_path):
    files = ["--out", str(tmp_path / "report.html"), "--save", str(tmp_path / "mine.tamiz")]
    with interrupted(select, "_keep"):
        assert run(["select", "iris", *COMPARED, *files]) == 130
    said = capsys.readouterr()
    assert "Smallest: " in said.out
    assert said.err.endswith("tamiz: interrupted while the model was made; there is none.\n")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_ctrl_c_while_the_report_is_made_says_that_there_is_no_model_either(capsys, tmp_path):
    files = ["--out", str(tmp_path / "report.html"), "--save", str(tmp_path / "mine.tamiz")]
    with interrupted(reports, "write_report"):
        assert run(["select", "iris", *COMPARED, *files]) == 130
    said = capsys.readouterr()
    assert "Smallest: " in said.out
    wanted = "tamiz: interrupted while the report was made; there is none, and no model.\n"
    assert said.err.endswith(wanted)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_while_the_program_is_imported_shows_no_traceback():
    code = """
import os, signal, sys
from tamiz.cli import main

class Strike:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Strike())
sys.argv = ["tamiz", "methods"]
main()
"""
    done = subprocess.run(
        [PROGRAM[0], "-c", code], capture_output=True, text=True, check=False, preexec_fn=handled
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("daemon", [False, True])
def test_threads_inside_compiled_code_neither_hold_up_the_end_nor_abort_it(daemon):
    """Nobody waits for them: they would go on for ever."""
    code = f"""
import os, signal, sys, threading
from numba import njit
from tamiz.cli import main

@njit(nogil=True)
def work(n):
    total = 0.0
    for k in range(n):
        total += (k % 7) ** 0.5
    return total

def go_on():
    while True:
        work(1_000_000)

class Strike:
    def find_spec(self, name, *_):
        if name == "tamiz.data":
            for _ in range(3):
                threading.Thread(target=go_on, daemon={daemon}).start()
            os.kill(os.getpid(), signal.SIGINT)

work(1)
sys.meta_path.insert(0, Strike())
main(["datasets"])
"""
    done = subprocess.run(
        [PROGRAM[0], "-c", code],
        capture_output=True, text=True, check=False, preexec_fn=handled, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "tamiz: interrupted; nothing was finished.\n"


def test_a_second_ctrl_c_while_the_first_is_answered_ends_the_program_too():
    with interrupted(app, "tell"):
        assert run(["rank", "absent.csv"]) == 130


def test_ctrl_c_after_the_comparison_keeps_the_study_and_marks_it(slow, capsys):
    capsys.readouterr()
    with interrupted(making, "learning_curve") as calls:
        run([*slow, "--cv", "3", "--repeats", "1"])
    found = valid("select", capsys.readouterr().out)
    assert len(calls) == 1
    assert found["status"] == "cut short" and found["comparison"]["status"] == "complete"
    assert any("Interrupted" in note for note in found["notes"])
