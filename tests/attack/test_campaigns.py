"""The first attempts of every campaign, and the runner that counts them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.attack import CAMPAIGNS, campaign
from tools.attack.runner import Tally, in_process, isolated, patience


def attempted():
    """The campaigns of which something is tried here; those of processes are not about versions."""
    for name in CAMPAIGNS:
        if campaign(name).short:
            yield pytest.param(name, marks=[pytest.mark.ours] if campaign(name).apart else [])


@pytest.mark.parametrize("name", list(attempted()))
def test_nothing_fails(name, tmp_path):
    kind = campaign(name)
    if kind.apart and not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    if kind.needs and not Path(kind.needs).exists():
        pytest.skip(f"this system has no {kind.needs}")
    first = range(kind.short)
    tally = isolated(name, first) if kind.apart else in_process(name, first, tmp_path)
    assert not tally.failures, tally.report(name)
    assert tally.tried == kind.short <= kind.count


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
