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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tools.discoveries.data import Setting, draw
from tools.discoveries.methods import METHODS, suits

Cell = tuple[Setting, str]


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


def attempt(setting: Setting, method: str, seed: int) -> Outcome:
    """One method on the data of one repetition."""
    truth = draw(setting, seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        support = METHODS[method].select(truth, seed)
    spent = time.process_time() - began
    hits = support[truth.relevant]
    power = float(hits.mean()) if len(hits) else np.nan
    wrong = int((support & ~truth.relevant).sum())
    unrelated = int((support & truth.unrelated).sum())
    return Outcome(method, wrong, unrelated, int(support.sum()), power, spent, seed)


def repeat(setting: Setting, seed: int, methods: list[str]) -> list[Outcome]:
    """All methods that are for such data, on those of one repetition."""
    return [attempt(setting, method, seed) for method in methods if suits(method, setting)]


def _job(cell: Cell, seed: int) -> tuple[Cell, int, Outcome | str]:
    """What a worker does; an error of one method is a text, so that the others go on."""
    try:
        return cell, seed, attempt(*cell, seed)
    except Exception as error:
        return cell, seed, f"{type(error).__name__}: {error}"


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
    """Gives the next repetition to the cell that has had least time.

    Repetitions that run count as much as those before them; a cell that fails twice is left out.
    """

    def __init__(self, cells: list[Cell], before: Found, most: int):
        self.cells, self.most = cells, most
        self.spent = {c: sum(o.seconds for o in before.get(c, [])) for c in cells}
        self.done = {c: len(before.get(c, [])) for c in cells}
        self.next_seed = {
            c: 1 + max((o.seed for o in before.get(c, [])), default=-1) for c in cells
        }
        self.running = dict.fromkeys(cells, 0)
        self.failed = dict.fromkeys(cells, 0)

    def _expected(self, cell: Cell) -> float:
        setting = cell[0]
        if self.done[cell]:
            return self.spent[cell] / self.done[cell]
        return 1e-6 * setting.n * setting.p

    def pick(self, left: float) -> tuple[Cell, int] | None:
        """The cell and its seed; None if nothing is to be done in the seconds that are left."""
        open_ = [
            c
            for c in self.cells
            if self.done[c] + self.running[c] < self.most
            and self.failed[c] < 2
            and self._expected(c) < left
        ]
        if not open_:
            return None
        cell = min(open_, key=lambda c: self.spent[c] + self.running[c] * self._expected(c))
        seed = self.next_seed[cell]
        self.next_seed[cell] += 1
        self.running[cell] += 1
        return cell, seed

    def note(self, cell: Cell, outcome: Outcome | str) -> None:
        """A repetition came back."""
        self.running[cell] -= 1
        if isinstance(outcome, str):
            self.failed[cell] += 1
            return
        self.done[cell] += 1
        self.spent[cell] += outcome.seconds


def run(
    cells: list[Cell],
    *,
    seconds: float,
    jobs: int,
    folder: Path | None = None,
    most: int = 400,
    each: Callable[[Found], None] | None = None,
) -> Found:
    """Repetitions of all cells until the time is over, or there are ``most`` of each.

    Outcomes are appended to a file of ``folder`` as they come, and those of earlier runs there
    count. ``each`` is called with all outcomes about twice a minute.
    """
    found = read_outcomes(folder) if folder is not None else defaultdict(list)
    end = time.monotonic() + seconds
    turns, shown = Turns(cells, found, most), time.monotonic()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    file = None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / f"outcomes-{time.time_ns()}.jsonl").open("w", encoding="utf-8")
    try:
        for cell, seed, outcome in _answers(turns, jobs, end):
            turns.note(cell, outcome)
            if isinstance(outcome, str):
                print(f"{cell[0]}: {cell[1]}: seed {seed}: {outcome}", file=sys.stderr)
                continue
            found[cell].append(outcome)
            if file is not None:
                file.write(record(cell, outcome) + "\n")
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
                pool.apply_async(_job, turn, callback=answers.put)
                running += 1
            if not running:
                return
            try:
                answer = answers.get(timeout=min(left, 5.0))
            except queue.Empty:
                continue
            running -= 1
            yield answer
