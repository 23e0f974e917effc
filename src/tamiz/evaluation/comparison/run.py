"""Running the units of a comparison: shared among workers, written down, stopped in order."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from tamiz.evaluation.comparison.fold import rank_whole, run_unit
from tamiz.evaluation.comparison.setting import WHOLE, Ranking, Setting, Stopped
from tamiz.runtime.journal import Journal
from tamiz.runtime.progress import Progress
from tamiz.runtime.workers import Shared, crew_of
from tamiz.search.judges import last_step
from tamiz.validation.unscaled import UnscaledWarning


class Unit(NamedTuple):
    """One piece of the plan."""

    method: str
    split: int  # WHOLE for the ranking on all data


class Runner:
    """Works through the units of a plan.

    Parameters
    ----------
    setting : Setting
        What they share.
    n_jobs : int or None
        Workers, as in joblib, or of a cluster (see :mod:`tamiz.runtime.workers`).
    prefer : {"threads", "processes"} or None
        What the workers are; None lets :func:`preference` decide.
    journal : Journal or None
        Where records are written down; those it holds are not made again.
    progress : Progress
        The line that is shown.

    Attributes
    ----------
    records : dict of Unit
        What the units returned.
    status : {"complete", "interrupted", "time budget"}
        How the run ended.
    warnings : dict of (type, text)
        How often each warning came.
    """

    def __init__(
        self,
        setting: Setting,
        *,
        n_jobs: int | None,
        prefer: str | None,
        journal: Journal | None,
        progress: Progress,
    ):
        self.setting = setting
        self.crew = crew_of(n_jobs)
        self._shared = Shared(setting)
        self.prefer = prefer or preference(setting)
        self.journal = journal
        self.progress = progress
        self.records: dict[Unit, dict[str, Any]] = {}
        self.status = "complete"
        self.warnings: dict[tuple[type[Warning], str], int] = {}
        self._spent: dict[str, list[float]] = {name: [] for name in setting.selectors}
        self._total = 0
        self._stop = False
        for record in journal.records if journal is not None else ():
            self.records[Unit(record["method"], record["split"])] = record

    def run(self, apparent: bool) -> None:
        """Do all of it, or as much as time and patience allow."""
        names, n_splits = list(self.setting.selectors), len(self.setting.parts)
        # every method in a split before the next split: what is there when a run is cut short is
        # then of nearly the same splits for all
        units = [Unit(name, k) for k in range(n_splits) for name in names]
        whole = [Unit(name, WHOLE) for name in names] if apparent else []
        self._total = len(units) + len(whole)
        if len(self.records) < self._total:
            self.progress.begin(f"{len(self.records)} of {self._total} units")
        with warnings.catch_warnings(record=True) as caught:
            _filter_warnings()
            try:
                self._work([unit for unit in whole if unit not in self.records])
                self._recall_whole()
                self._work([unit for unit in units if unit not in self.records])
            except KeyboardInterrupt:
                self.status = "interrupted"
        for one in caught:
            self._note_warning(one.category, str(one.message))
        if self.status == "complete" and len(self.records) < self._total:
            self.status = "time budget"

    def _recall_whole(self) -> None:
        for name in self.setting.selectors:
            record = self.records.get(Unit(name, WHOLE))
            if record is not None and record["own"] is not None:
                self.setting.whole[name] = ranking_of(record)

    def _work(self, todo: list[Unit]) -> None:
        if not todo:
            return
        finished = self._in_turn(todo) if self.crew.alone else self._together(todo)
        for unit, (record, told, seconds) in finished:
            for category, text in told:
                self._note_warning(category, text)
            if record is None:  # stopped before its end
                continue
            if self.journal is not None:
                self.journal.append([record])
            self.records[unit] = record
            if unit.split != WHOLE:
                self._spent[unit.method].append(seconds)
            self._tell(unit)

    def _in_turn(self, todo: list[Unit]) -> Iterator[Any]:
        for unit in self._in_time(todo):
            yield unit, timed(self.setting, unit, None, False, None)

    def _together(self, todo: list[Unit]) -> Iterator[Any]:
        begun: list[Unit] = []

        # the warnings of another process are lost unless it catches them
        catch = self.crew.far or self.prefer == "processes"

        def jobs() -> Iterator[Any]:
            for unit in self._in_time(todo):
                begun.append(unit)
                # a setting that was sent before the rankings on all data were known lacks them
                yield unit, 1, catch, self.setting.whole.get(unit.method)

        # what was begun is finished, and no more is begun
        working = self.crew.results(
            timed, self._shared, jobs(), prefer=self.prefer, no_more_than_needed=True
        )
        with closing(working) as results:
            try:
                for number, result in enumerate(results):
                    yield begun[number], result
            except KeyboardInterrupt:
                self._stop = True
                self.setting.stop.set()
                raise

    def _in_time(self, todo: list[Unit]) -> Iterator[Unit]:
        for unit in todo:
            if self._stop or self.setting.stop.late:
                return
            yield unit

    def _tell(self, unit: Unit) -> None:
        done = len(self.records)
        text = f"{done} of {self._total} units ({unit.method})"
        left = self._left()
        if left is not None:
            text += f", about {said_seconds(left)} left"
        self.progress.update(text)

    def _left(self) -> float | None:
        """Seconds that the units still to do will take, by the mean of each method."""
        known = [sum(spent) / len(spent) for spent in self._spent.values() if spent]
        if not known:
            return None
        usual = sum(known) / len(known)
        n_splits = len(self.setting.parts)
        left = 0.0
        for name, spent in self._spent.items():
            n_done = sum(Unit(name, k) in self.records for k in range(n_splits))
            left += (n_splits - n_done) * (sum(spent) / len(spent) if spent else usual)
        return left / self.crew.workers

    def _note_warning(self, category: type[Warning], text: str) -> None:
        self.warnings[category, text] = self.warnings.get((category, text), 0) + 1


def timed(
    setting: Setting, unit: Unit, threads: int | None, catch: bool, whole: Ranking | None
) -> tuple[dict[str, Any] | None, list[tuple[type[Warning], str]], float]:
    """The record of a unit, the warnings of another process, and the seconds it took.

    The record is None if the unit was stopped. ``whole`` is the ranking on all data of its method,
    where that is known.
    """
    began = time.perf_counter()
    if whole is not None:
        setting.whole[unit.method] = whole
    if not catch:  # catching is for the whole process, so that threads leave it to the caller
        return _record(setting, unit, threads), [], time.perf_counter() - began
    with warnings.catch_warnings(record=True) as caught:
        _filter_warnings()
        record = _record(setting, unit, threads)
    told = [(one.category, str(one.message)) for one in caught]
    return record, told, time.perf_counter() - began


def _filter_warnings() -> None:
    """Count every warning, but for what a comparison tells in its own words.

    Here, and not where it happens: filters of warnings belong to the process, not to a thread.
    """
    warnings.simplefilter("always")  # else Python itself drops all but the first of a place
    warnings.filterwarnings("ignore", category=UndefinedMetricWarning)
    warnings.filterwarnings("ignore", category=UnscaledWarning)  # scale=None was asked for
    warnings.filterwarnings("ignore", message="The least populated class in y")


def _record(setting: Setting, unit: Unit, threads: int | None) -> dict[str, Any] | None:
    try:
        if unit.split == WHOLE:
            return rank_whole(setting, unit.method, threads)
        return run_unit(setting, unit.method, unit.split, threads)
    except Stopped:
        return None


def preference(setting: Setting) -> str:
    """Threads if all the work is in compiled code of the library, else processes."""
    workers = [*setting.selectors.values(), *map(last_step, setting.judges.values())]
    ours = all(type(one).__module__.partition(".")[0] == "tamiz" for one in workers)
    return "threads" if ours else "processes"


def ranking_of(record: dict[str, Any]) -> Ranking:
    """What a selector said, from what was written down."""
    order = record["order"]
    return Ranking(
        None if order is None else _positions(order), _positions(record["own"]), record["seconds"]
    )


def _positions(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.intp)


def said_seconds(seconds: float) -> str:
    """A duration for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
