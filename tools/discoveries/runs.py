"""Repetitions: run in processes, the time spread evenly over cells, written down one by one."""

from __future__ import annotations

import json
import multiprocessing
import os
import queue
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tools.discoveries.data import Setting, draw
from tools.discoveries.methods import METHODS, bundle, suits
from tools.discoveries.tables import FEWEST

Cell = tuple[Setting, str]
Job = tuple[Setting, tuple[str, ...]]  # cells that one fit answers


class Outcome(NamedTuple):
    """What a method found in one repetition."""

    method: str
    wrong: int  # selected, not in the model
    unrelated: int  # selected, and independent of the model
    selected: int
    power: float  # NaN if there is nothing to find
    seconds: float
    seed: int = 0


Found = dict[Cell, list[Outcome]]


def attempt(setting: Setting, methods: Sequence[str], seed: int) -> list[Outcome]:
    """Methods that are read from one fit, on the data of one repetition."""
    truth = draw(setting, seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = METHODS[methods[0]].fit(truth, seed)
    fitting, found = time.process_time() - began, []
    for method in methods:
        began = time.process_time()
        support = METHODS[method].read(fitted)
        spent = fitting + time.process_time() - began
        hits = support[truth.relevant]
        power = float(hits.mean()) if len(hits) else np.nan
        wrong = int((support & ~truth.relevant).sum())
        unrelated = int((support & truth.unrelated).sum())
        found.append(Outcome(method, wrong, unrelated, int(support.sum()), power, spent, seed))
    return found


def repeat(setting: Setting, seed: int, methods: list[str]) -> list[Outcome]:
    """All methods that are for such data, on those of one repetition."""
    return [
        outcome
        for _, together in jobs_of((setting, m) for m in methods if suits(m, setting))
        for outcome in attempt(setting, together, seed)
    ]


def jobs_of(cells: Iterable[Cell]) -> list[Job]:
    """The fits that answer the cells, each once."""
    methods: dict[Setting, list[str]] = defaultdict(list)
    for setting, method in cells:
        methods[setting].append(method)
    return list(
        dict.fromkeys(
            (setting, bundle(method, names))
            for setting, names in methods.items()
            for method in names
        )
    )


def _run_job(job: Job, seed: int) -> tuple[Job, int, list[Outcome] | str]:
    """What a worker does; an error of one method is a text, so that the others go on."""
    try:
        return job, seed, attempt(*job, seed)
    except Exception as error:
        return job, seed, f"{type(error).__name__}: {error}"


# ------------------------------------------------------------------------------- what is kept


def record(cell: Cell, outcome: Outcome) -> str:
    """One line of the file of outcomes."""
    values = outcome._asdict()
    values["power"] = None if np.isnan(outcome.power) else outcome.power
    return json.dumps({**cell[0]._asdict(), **values})


def read_outcomes(folder: Path) -> Found:
    """All repetitions in a folder; a last line that was being written is left out."""
    found: Found = defaultdict(list)
    seen: set[tuple[Cell, int]] = set()
    for path in sorted(folder.glob("outcomes*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                values = json.loads(line)
            except ValueError:
                continue
            setting = Setting(*(values.pop(name) for name in Setting._fields))
            values["power"] = np.nan if values["power"] is None else values["power"]
            outcome = Outcome(**values)
            cell = setting, outcome.method
            if outcome.method in METHODS and (cell, outcome.seed) not in seen:
                seen.add((cell, outcome.seed))
                found[cell].append(outcome)
    return found


# ------------------------------------------------------------------------------- who is next


class Turns:
    """Gives the next repetition to a job that has fewest, until all have enough to be judged.

    After that the quickest job comes first, so that as many as possible are completed. Repetitions
    that run count as those before them; a job that fails twice is left out.
    """

    def __init__(self, cells: list[Cell], before: Found, most: int, enough: int = FEWEST):
        self.jobs, self.most, self.enough = jobs_of(cells), most, enough
        # those of the method that has fewest: of a bundle all are done again, or none
        earlier = {
            (setting, methods): min((before.get((setting, m), []) for m in methods), key=len)
            for setting, methods in self.jobs
        }
        self.spent = {job: sum(o.seconds for o in earlier[job]) for job in self.jobs}
        self.done = {job: len(earlier[job]) for job in self.jobs}
        self.next_seed = {
            job: 1 + max((o.seed for o in earlier[job]), default=-1) for job in self.jobs
        }
        self.running = dict.fromkeys(self.jobs, 0)
        self.failed = dict.fromkeys(self.jobs, 0)

    def _expected(self, job: Job) -> float:
        setting = job[0]
        if self.done[job]:
            return self.spent[job] / self.done[job]
        return 1e-6 * setting.n * setting.p

    def pick(self, left: float) -> tuple[Job, int] | None:
        """A job and its seed; None if nothing is to be done in the seconds that are left."""
        counts = {job: self.done[job] + self.running[job] for job in self.jobs}
        open_ = [
            job
            for job, count in counts.items()
            if count < self.most and self.failed[job] < 2 and self._expected(job) < left
        ]
        if not open_:
            return None
        job = min(open_, key=lambda j: (min(counts[j], self.enough), self._expected(j)))
        seed = self.next_seed[job]
        self.next_seed[job] += 1
        self.running[job] += 1
        return job, seed

    def note(self, job: Job, outcomes: list[Outcome] | str) -> None:
        """A repetition came back."""
        self.running[job] -= 1
        if isinstance(outcomes, str):
            self.failed[job] += 1
            return
        self.done[job] += 1
        self.spent[job] += outcomes[0].seconds


def run(
    cells: list[Cell],
    *,
    seconds: float,
    jobs: int,
    folder: Path | None = None,
    most: int = 400,
    enough: int = FEWEST,
    each: Callable[[Found], None] | None = None,
) -> Found:
    """Repetitions of all cells until the time is over, or there are ``most`` of each.

    All get ``enough`` of them before any gets more.

    Outcomes are appended to a file of ``folder`` as they come, and those of earlier runs there
    count. ``each`` is called with all outcomes about twice a minute.
    """
    found = read_outcomes(folder) if folder is not None else defaultdict(list)
    end = time.monotonic() + seconds
    turns, shown = Turns(cells, found, most, enough), time.monotonic()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    file = None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / f"outcomes-{time.time_ns()}.jsonl").open("w", encoding="utf-8")
    try:
        for job, seed, outcomes in _answers(turns, jobs, end):
            turns.note(job, outcomes)
            if isinstance(outcomes, str):
                print(f"{job[0]}: {job[1][0]}: seed {seed}: {outcomes}", file=sys.stderr)
                continue
            for outcome in outcomes:
                cell = job[0], outcome.method
                found[cell].append(outcome)
                if file is not None:
                    file.write(record(cell, outcome) + "\n")
            if file is not None:
                file.flush()
            if each is not None and time.monotonic() - shown > 30:
                each(found)
                shown = time.monotonic()
    finally:
        if file is not None:
            file.close()
    return found


def _answers(turns: Turns, jobs: int, end: float) -> Iterator[tuple[Cell, int, Any]]:
    """Answers of workers as they come; what runs when the time is over is dropped."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    running = 0
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:  # leaving it ends the workers
        while (left := end - time.monotonic()) > 0:
            while running < jobs + 2 and (turn := turns.pick(left)) is not None:
                pool.apply_async(_run_job, turn, callback=answers.put)
                running += 1
            if not running:
                return
            try:
                answer = answers.get(timeout=min(left, 5.0))
            except queue.Empty:
                continue
            running -= 1
            yield answer
