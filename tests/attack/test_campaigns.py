"""The first attempts of every campaign, and the runner that counts them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tools.attack import CAMPAIGNS, campaign
from tools.attack.runner import ROOT, Tally, in_process, isolated, patience

#: Campaigns that depend on other packages: they read files.
READING = {"checkpoints", "models", "readers"}


def attempted():
    """The campaigns of which something is tried here; ``tests/svm`` has the one of scales."""
    for name in CAMPAIGNS:
        if campaign(name).short and not campaign(name).apart and name != "scales":
            yield pytest.param(name, marks=[] if name in READING else [pytest.mark.ours])


@pytest.mark.parametrize("name", list(attempted()))
def test_nothing_fails(name, tmp_path):
    kind = campaign(name)
    tally = in_process(name, range(kind.short), tmp_path)
    assert not tally.failures, tally.report(name)
    assert tally.tried == kind.short <= kind.count


#: Imports what all campaigns need, once, and forks for each, as it needs a process without other
#: threads; writes code, results and errors of each, as JSON.
FORKS = """
import json, os, sys, tempfile
from tools.attack import campaign
from tools.attack.runner import main

kinds, answers = {name: campaign(name) for name in sys.argv[1:]}, {}
for name, kind in kinds.items():
    with (
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
        tempfile.TemporaryDirectory() as folder,
    ):
        pid = os.fork()
        if not pid:
            os.setsid()
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            main([name, "0", str(kind.short), "1", "300", folder])
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        out.seek(0), err.seek(0)
        answers[name] = [code, out.read(), err.read()]
print(json.dumps(answers))
"""


@pytest.mark.ours
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_nothing_fails_in_processes():
    kinds = {name: campaign(name) for name in CAMPAIGNS if campaign(name).apart}
    names = [name for name, kind in kinds.items() if kind.short and not kind.missing()]
    assert len(names) > 3
    done = subprocess.run(
        [sys.executable, "-c", FORKS, *names], cwd=ROOT, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert list(answers) == names
    for name, (code, results, errors) in answers.items():
        tally = Tally()
        for line in results.splitlines():
            tally.take(*json.loads(line))
        assert code == 0, (name, errors)
        assert not tally.failures, tally.report(name)
        assert tally.tried == kinds[name].short <= kinds[name].count


LESS = """
import os, sys
if hasattr(os, "fork"):
    del os.fork
from tools.attack.__main__ import campaign, main
assert not campaign("readers").missing()
campaign("readers").needs = "/nowhere"
sys.argv = ["attack", "kills", "readers"]
sys.exit(main())
"""


def test_what_a_system_cannot_do_is_not_tried():
    command = [sys.executable, "-c", LESS]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    said = ["kills: not tried: this system cannot fork", "readers: not tried: there is no /nowhere"]
    assert done.stdout.splitlines() == said
    assert done.returncode == 0, done.stderr


def test_limits_of_time_are_wide_in_the_suite_only(monkeypatch):
    assert patience(2.0) == 30.0 and patience(60.0) == 60.0
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    assert patience(2.0) == 2.0


def test_a_report_counts_and_says_how_to_repeat():
    tally = Tally(seconds=2.0)
    for seed in range(3):
        tally.take(seed, "refused", None)
    assert tally.report("models") == "models: 3 attempts in 2 s: 3 refused; 0 failed."
    tally.take(7, None, "IndexError: out of range at tree.py:3")
    report = tally.report("models")
    assert "4 attempts" in report and "1 failed" in report and "7: IndexError" in report
    assert "python -m tools.attack models --case 7" in report
    for seed in range(8, 40):
        tally.take(seed, None, "IndexError")
    assert "  and 32, 33, 34, 35, 36, 37, 38, 39\n" in tally.report("models")


def test_a_report_says_how_many_attempts_were_not_made():
    tally = Tally(seconds=2.0, asked=5)
    tally.take(0, "refused", None)
    assert tally.report("models") == "models: 1 of 5 attempts in 2 s: 1 refused; 0 failed."


@pytest.mark.ours
def test_no_attempt_begins_after_the_time():
    tally = isolated("readers", range(10**6), seconds=0.5)
    assert tally.tried < tally.asked == 10**6 and not tally.failures


@pytest.mark.ours
def test_an_interrupted_campaign_says_what_it_has_tried():
    command = [sys.executable, "-m", "tools.attack", "readers", "models", "--count", "1000000"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as running:
        assert running.stderr.readline() == "readers: 1,000,000 attempts to make\n"
        time.sleep(1.5)
        running.send_signal(signal.SIGTERM)
        said, _ = running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGTERM
    assert re.fullmatch(r"readers: [\d,]+ of 1,000,000 attempts in .* 0 failed\.\n", said)
