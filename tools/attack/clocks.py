"""Clocks that are set back while a run is under way: it ends, with its budget and its answer."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np

from tools.attack.children import Child, run
from tools.attack.jobs import jobs, noting, same, table, write_table
from tools.attack.kills import load_here
from tools.attack.runner import Campaign, load_per_core, patience

BUDGET = 0.4  # seconds of runs that would take far longer
SLACK = 2.0  # seconds beyond it, on an idle machine
WALL = ("time", "time_ns")
STEADY = ("monotonic", "perf_counter", "monotonic_ns", "perf_counter_ns")


class Clocks(Campaign):
    """The clock on the wall jumps by seconds to years, back and forth, every few calls.

    Runs with a time budget must keep it by the clock that only grows; runs with checkpoints, locks
    and progress lines must end with their answer. In every third attempt the clocks that only grow
    go back, too, as they do on broken virtual machines: then runs must still end, with an answer
    that is right or says what it had no time for.
    """

    count = 200
    short = 1
    seconds = 240.0
    memory = 16 << 30
    apart = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.jobs = jobs()
        self.whole: dict[str, Any] = {}
        self.loaded: set[str] = set()
        self.budgets = _budgets()

    def attempt(self, seed: int) -> str:
        folder = self.folder / f"c{seed}"
        folder.mkdir()
        broken = seed % 3 == 2
        try:
            if seed % 2:
                names = list(self.budgets)
                return self._budget(names[seed // 2 % len(names)], folder, seed, broken)
            names = list(self.jobs)
            return self._whole(names[seed // 2 % len(names)], folder, seed, broken)
        finally:
            shutil.rmtree(folder)

    def _budget(self, name: str, folder: Path, seed: int, broken: bool) -> str:
        job = self.budgets[name]
        if name not in self.loaded:  # jobs of the same name are others, and have answers
            run(functools.partial(job, folder, 5.0 * BUDGET), folder)  # loads what it needs
            self.loaded.add(name)
        child = Child(
            functools.partial(_timed, functools.partial(job, folder), seed, broken), folder
        )
        child.wait()
        fine, answer = child.answer
        assert fine, f"{name}: {answer} {child.err[:300]}"
        cut, seconds = answer
        child.forget()
        if broken:
            return "ended with all clocks set back"
        most = patience((BUDGET + SLACK) * max(1.0, load_per_core()))
        assert cut, f"{name}: was not cut short, after {seconds:.1f} s"
        assert BUDGET * 0.8 < seconds < most, f"{name}: took {seconds:.1f} s"
        return "kept its budget"

    def _whole(self, name: str, folder: Path, seed: int, broken: bool) -> str:
        job = self.jobs[name]
        if name not in self.whole:
            load_here(job, folder / "here")
            self.whole[name] = run(functools.partial(_quietly, job, folder / "whole"), folder)
        path = folder / "run"

        def under_wild_clocks() -> Any:
            with wild(seed, broken):
                return _quietly(job, path)

        answer = run(under_wild_clocks, folder)
        if broken and _says_what_it_left_out(answer, self.whole[name]):
            return "cut short with all clocks set back, and said so"
        assert same(answer, self.whole[name]), f"{name}: another answer"
        return "ended with its answer"


def _says_what_it_left_out(answer: Any, whole: Any) -> bool:
    """Whether a study names in its plan or notes what it had no time for, by the clocks it saw."""
    if not isinstance(answer, dict) or "plan" not in answer:
        return False
    less = answer["plan"]["left_out"] != whole["plan"]["left_out"]
    return less or any("there was no time" in note for note in answer["notes"])


@contextlib.contextmanager
def wild(seed: int, broken: bool) -> Iterator[None]:
    """Clocks that jump; those that only grow as well if ``broken``."""
    chance = Random(seed)
    shift = {"wall": 0.0, "steady": 0.0}

    def jump(which: str) -> float:
        if chance.random() < 0.2:
            shift[which] += chance.choice([-1.0, 1.0, -1.0]) * 10.0 ** chance.uniform(0, 9)
        return shift[which]

    with contextlib.ExitStack() as stack:
        for name in WALL + (STEADY if broken else ()):
            real: Callable[[], Any] = getattr(time, name)
            unit = 10**9 if name.endswith("_ns") else 1
            which = "wall" if name in WALL else "steady"

            def looked(_real: Any = real, _unit: int = unit, _which: str = which) -> Any:
                if _which == "steady" and not _asked_by_the_package():
                    return _real()  # Python's own threads rely on it
                return _real() + type(_real())(jump(_which) * _unit)

            stack.enter_context(mock.patch.object(time, name, looked))
        yield


def _asked_by_the_package() -> bool:
    return str(sys._getframe(2).f_globals.get("__name__", "")).startswith("tamiz")


def _quietly(job: Any, path: Path) -> Any:
    with noting():
        return job(path, False)


def _timed(job: Callable[[float], bool], seed: int, broken: bool) -> tuple[bool, float]:
    clock = time.monotonic
    began = clock()
    with wild(seed, broken):
        cut = job(BUDGET)
    return cut, clock() - began


def _budgets() -> dict[str, Callable[[Path, float], bool]]:
    """Name -> a run with a budget, which says whether it was cut short."""
    found: dict[str, Callable[[Path, float], bool]] = {
        name: functools.partial(_search, name)
        for name in (
            "ExhaustiveSearch",
            "ForwardSelection",
            "BackwardElimination",
            "BestFirst",
            "SimulatedAnnealing",
            "GeneticSearch",
        )
    }
    return found | {"compare": _compare, "tamiz select": _select}


def _slow(Z: np.ndarray, y: np.ndarray) -> float:
    """A judge that takes its time, whatever the clocks say."""
    end = _clock() + 0.01
    while _clock() < end:
        pass
    return float(Z.sum())


_clock = time.process_time


def _search(name: str, folder: Path, budget: float) -> bool:
    import tamiz.search

    options: dict[str, Any] = {"random_state": 1} if name == "GeneticSearch" else {}
    if name == "ExhaustiveSearch":  # seven seconds, where clocks that go back hide the budget
        options = {"max_features": 3}
    X, y = table(60, 16)
    made = getattr(tamiz.search, name)(criterion=_slow, time_budget=budget, verbose=2, **options)
    return bool(made.fit(X, y).status_ == "time_budget")


def _compare(folder: Path, budget: float) -> bool:
    from tamiz.evaluation import compare

    X, y = table()
    options: dict[str, Any] = {"sizes": [1, 4], "random_state": 0, "verbose": 2, "repeats": 100}
    found = compare(X, y, ["fisher"], time_budget=budget, **options)
    return bool(found.status == "time budget")


def _select(folder: Path, budget: float) -> bool:
    from tamiz.cli.app import run as program

    path = folder / "table.csv"
    write_table(path)
    arguments = ["select", str(path), "-m", "fisher", "--judge", "linear", "--repeats", "40"]
    shown, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(said):
        code = program([*arguments, "-j", "1", "--json", "--time-budget", str(budget)])
    if code == 1 and "ended before any split" in said.getvalue():
        return True  # a clock that jumps ahead leaves no time, and a line says so
    assert code == 0, f"exit code {code}: {said.getvalue()[-300:]}"
    return bool(json.loads(shown.getvalue())["comparison"]["status"] == "time budget")
