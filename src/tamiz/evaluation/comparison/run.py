"""Running the units of a comparison (by workers, with a journal), and collecting their records."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from tamiz.evaluation.comparison.fold import rank_whole, run_unit
from tamiz.evaluation.comparison.result import Comparison, by_other_folds
from tamiz.evaluation.comparison.setting import WHOLE, Ranking, Setting, Stopped
from tamiz.runtime.checkpoint import Journal
from tamiz.runtime.progress import Progress
from tamiz.runtime.workers import Shared, find_runner
from tamiz.search.resampling import preferred_workers
from tamiz.validation import UnscaledWarning


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
        What the workers are; by default :func:`preferred_workers` decides.
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
        self.runner = find_runner(n_jobs)
        self._shared = Shared(setting)
        estimators = [*setting.selectors.values(), *setting.judges.values()]
        self.prefer = prefer or preferred_workers(*estimators)
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
        finished = self._in_turn(todo) if self.runner.serial else self._together(todo)
        for unit, (record, warned, seconds) in finished:
            for category, text in warned:
                self._note_warning(category, text)
            if record is None:  # stopped before its end
                continue
            if self.journal is not None:
                self.journal.append([record])
            self.records[unit] = record
            if unit.split != WHOLE:
                self._spent[unit.method].append(seconds)
            self._show_progress(unit)

    def _in_turn(self, todo: list[Unit]) -> Iterator[Any]:
        for unit in self._in_time(todo):
            yield unit, timed(self.setting, unit, None, False, None)

    def _together(self, todo: list[Unit]) -> Iterator[Any]:
        begun: list[Unit] = []

        # the warnings of another process are lost unless it catches them
        catch = self.runner.remote or self.prefer == "processes"

        def jobs() -> Iterator[Any]:
            for unit in self._in_time(todo):
                begun.append(unit)
                # a setting that was sent before the rankings on all data were known lacks them
                yield unit, 1, catch, self.setting.whole.get(unit.method)

        # what was begun is finished, and no more is begun
        working = self.runner.results(
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

    def _show_progress(self, unit: Unit) -> None:
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
        return left / self.runner.n_workers

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
    warned = [(one.category, str(one.message)) for one in caught]
    return record, warned, time.perf_counter() - began


def _filter_warnings() -> None:
    """Count every warning, but for what a comparison reports in its own words.

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


#: Warnings of selectors and judges are passed on, once each, up to so many.
_MOST_WARNINGS = 5


def collect(
    runner: Runner,
    names: list[str],
    protocol: dict[str, Any],
    confidence: float,
    seconds: float,
) -> Comparison:
    """The comparison from the records of all units, with one warning for all that went wrong."""
    setting = runner.setting
    found = _Collected(setting)
    for name in setting.selectors:
        if Unit(name, WHOLE) in runner.records:
            found.take_whole(name, runner.records[Unit(name, WHOLE)])
        for k in range(len(setting.parts)):
            if Unit(name, k) in runner.records:
                found.take(name, k, runner.records[Unit(name, k)])
    if not setting.nested:
        found.choose_by_other_folds()
    notes = _notes(found, runner)
    return Comparison(
        **found.fields(),
        sizes=setting.sizes,
        n_samples=len(setting.y),
        n_features=setting.n_features,
        names=names,
        metric=setting.metric.name,
        error_is_rate=setting.metric.error_is_rate,
        nested=setting.nested,
        rule=setting.rule,
        confidence=confidence,
        status=runner.status,
        notes=notes,
        failures=found.failures,
        params={
            "protocol": protocol,
            "selectors": {name: repr(one) for name, one in setting.selectors.items()},
            "judges": {name: repr(one) for name, one in setting.judges.items()},
        },
        seed=setting.seed,
        seconds=seconds,
    )


class _Collected:
    """What the records of the units say, in the arrays of a comparison.

    Errors have one column more than there are sizes: the last is for the number of features that a
    method itself selects.
    """

    def __init__(self, setting: Setting):
        self.setting = setting
        self.methods, self.judges = list(setting.selectors), list(setting.judges)
        M, J, S, K = len(self.methods), len(self.judges), len(setting.parts), len(setting.sizes)
        self.errors, self.apparent = _empty(M, J, S, K + 1), _empty(M, J, S, K + 1)
        self.inner_errors = _empty(M, J, S, max(1, setting.inner), K + 1)
        self.nested_errors, self.nested_sizes = _empty(M, J, S), _empty(M, J, S)
        self.own_sizes, self.whole_own_sizes = _empty(M, S), _empty(M)
        self.select_seconds, self.judge_seconds = _empty(M, S), _empty(M, J, S)
        self.orders: dict[str, list[Any]] = {name: [None] * S for name in self.methods}
        self.selections: dict[str, list[Any]] = {name: [None] * S for name in self.methods}
        self.whole_orders: dict[str, np.ndarray] = {}
        self.whole_selections: dict[str, np.ndarray] = {}
        self.whole_scores: dict[str, np.ndarray] = {}
        self.tuned: dict[str, Any] = {}
        self.repeat = np.array([part.repeat for part in setting.parts])
        self.failures: list[str] = []
        self.n_undefined = self.n_empty = 0

    def take_whole(self, name: str, record: dict[str, Any]) -> None:
        """The ranking of a method on all data."""
        self.failures += [f"{name}, on all data: {text}" for text in record["failures"]]
        if record["own"] is None:
            return
        ranking = ranking_of(record)
        if ranking.order is not None:
            self.whole_orders[name] = ranking.order
        if self.setting.own[name]:
            self.whole_own_sizes[self.methods.index(name)] = len(ranking.own)
            self.whole_selections[name] = ranking.own
        if record.get("scores") is not None:
            self.whole_scores[name] = _numbers(record["scores"])

    def take(self, name: str, k: int, record: dict[str, Any]) -> None:
        """A method in split ``k``."""
        part, m = self.setting.parts[k], self.methods.index(name)
        where = f"{name}, repeat {part.repeat}, fold {part.fold}"
        self.failures += [f"{where}: {text}" for text in record["failures"]]
        self.n_undefined += record["undefined"]
        if record["own"] is not None:
            ranking = ranking_of(record)
            self.orders[name][k] = ranking.order
            self.select_seconds[m, k] = ranking.seconds
            if self.setting.own[name]:
                self.selections[name][k] = ranking.own
                self.own_sizes[m, k] = len(ranking.own)
                self.n_empty += not len(ranking.own)
        for j, found in enumerate(record["judges"]):
            self._take_judge(name, (m, j, k), found)

    def _take_judge(self, name: str, place: tuple[int, int, int], found: dict[str, Any]) -> None:
        m, j, k = place
        self.errors[place] = _numbers(found["errors"])
        self.apparent[place] = _numbers(found["apparent"])
        nested = _numbers([found["nested_error"], found["nested_size"]])
        self.nested_errors[place], self.nested_sizes[place] = nested
        for f, row in enumerate(found.get("inner") or ()):
            self.inner_errors[m, j, k, f] = _numbers(row)
        self.judge_seconds[place] = found["seconds"]
        judge = self.judges[j]
        options = self.setting.candidates[judge]
        if any(options):  # without an inner cross-validation the first is used
            places = found["candidates"] or [0] * self.errors.shape[-1]
            by_split = self.tuned.setdefault(name, {}).setdefault(judge, [None] * len(self.repeat))
            by_split[k] = [options[c] for c in places]

    def choose_by_other_folds(self) -> None:
        """Without an inner cross-validation, the other folds of a repeat choose the size."""
        for m, j in np.ndindex(self.errors.shape[:2]):
            self.nested_errors[m, j], self.nested_sizes[m, j] = by_other_folds(
                self.errors[m, j, :, :-1], self.setting.sizes, self.repeat, self.setting.rule
            )

    @property
    def n_too_small(self) -> int:
        """Number of training parts that were too small for an inner cross-validation."""
        if not self.setting.nested or self.failures or self.n_undefined:
            return 0
        judged = np.isfinite(self.errors[..., :-1]).any(axis=3)
        return int((judged & np.isnan(self.nested_errors)).any(axis=(0, 1)).sum())

    def fields(self) -> dict[str, Any]:
        """The fields of a comparison that are collected here."""
        parts = self.setting.parts
        same = (
            "methods judges inner_errors nested_errors nested_sizes own_sizes whole_own_sizes "
            "orders selections whole_orders whole_selections whole_scores select_seconds "
            "judge_seconds repeat tuned"
        )
        return {
            **{name: getattr(self, name) for name in same.split()},
            "errors": self.errors[..., :-1],
            "apparent_errors": self.apparent[..., :-1],
            "own_errors": self.errors[..., -1],
            "own_apparent_errors": self.apparent[..., -1],
            "fold": np.array([part.fold for part in parts]),
            "n_train": np.array([len(part.train) for part in parts]),
            "n_test": np.array([len(part.test) for part in parts]),
        }


def _empty(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan)


def _notes(found: _Collected, runner: Runner) -> list[str]:
    """What a reader should know; what went wrong is warned of, too."""
    setting, failures = found.setting, found.failures
    notes, warned = [], []
    if setting.has_missing:
        notes.append("missing values of X were filled with the median of the training part.")
    if found.n_empty:
        what = "mean" if setting.task == "regression" else "most frequent class"
        notes.append(
            f"{found.n_empty} selections hold no feature and were judged by the {what} of the "
            "training part."
        )
    if found.n_too_small:
        warned.append(
            f"in {found.n_too_small} training parts no number of features could be chosen, since "
            "they are too small for an inner cross-validation; nested=False does without."
        )
    if found.n_undefined:
        scoring = setting.metric.scoring
        warned.append(f"{scoring} was not defined {found.n_undefined} times: left out.")
    if failures:
        warned.append(f"{len(failures)} failures are left out; the first: {failures[0]}")
    for text in warned:
        warnings.warn(f"compare: {text}", RuntimeWarning, stacklevel=4)
    notes += warned
    common = sorted(runner.warnings.items(), key=lambda item: -item[1])
    for (category, text), times in common[:_MOST_WARNINGS]:
        warnings.warn(f"{text} ({times} times in this comparison)", category, stacklevel=4)
    if len(common) > _MOST_WARNINGS:
        rest = len(common) - _MOST_WARNINGS
        notes.append(f"{rest} other warnings of selectors and judges are not shown.")
    return notes


def _numbers(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
