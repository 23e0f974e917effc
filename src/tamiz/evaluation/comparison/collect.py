"""From the records of the units to a Comparison."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tamiz.evaluation.comparison.intervals import by_other_folds
from tamiz.evaluation.comparison.result import Comparison
from tamiz.evaluation.comparison.run import Runner, Unit, ranking_of
from tamiz.evaluation.comparison.setting import WHOLE, Setting

#: Warnings of selectors and judges are passed on, once each, up to so many.
_MOST_WARNINGS = 5


def collect(
    runner: Runner,
    names: list[str],
    protocol: dict[str, Any],
    confidence: float,
    seconds: float,
) -> Comparison:
    """Arrays, notes and one warning for all that went wrong."""
    setting = runner.setting
    methods, judges = list(setting.selectors), list(setting.judges)
    M, J, S, K = len(methods), len(judges), len(setting.parts), len(setting.sizes)
    errors, apparent = np.full((M, J, S, K + 1), np.nan), np.full((M, J, S, K + 1), np.nan)
    nested, nested_sizes = np.full((M, J, S), np.nan), np.full((M, J, S), np.nan)
    inner = np.full((M, J, S, max(1, setting.inner), K + 1), np.nan)
    own_sizes, whole_own = np.full((M, S), np.nan), np.full(M, np.nan)
    select_seconds, judge_seconds = np.full((M, S), np.nan), np.full((M, J, S), np.nan)
    orders: dict[str, list[Any]] = {name: [None] * S for name in methods}
    selections: dict[str, list[Any]] = {name: [None] * S for name in methods}
    whole_orders: dict[str, np.ndarray] = {}
    whole_selections: dict[str, np.ndarray] = {}
    whole_scores: dict[str, np.ndarray] = {}
    tuned: dict[str, Any] = {}
    failures: list[str] = []
    n_undefined = n_empty = 0
    for m, name in enumerate(methods):
        record = runner.records.get(Unit(name, WHOLE))
        if record is not None:
            failures += [f"{name}, on all data: {text}" for text in record["failures"]]
            if record["own"] is not None:
                ranking = ranking_of(record)
                if ranking.order is not None:
                    whole_orders[name] = ranking.order
                if setting.own[name]:
                    whole_own[m] = len(ranking.own)
                    whole_selections[name] = ranking.own
                if record.get("scores") is not None:
                    whole_scores[name] = _numbers(record["scores"])
        for k, part in enumerate(setting.parts):
            record = runner.records.get(Unit(name, k))
            if record is None:
                continue
            where = f"{name}, repeat {part.repeat}, fold {part.fold}"
            failures += [f"{where}: {text}" for text in record["failures"]]
            n_undefined += record["undefined"]
            if record["own"] is not None:
                ranking = ranking_of(record)
                orders[name][k] = ranking.order
                select_seconds[m, k] = ranking.seconds
                if setting.own[name]:
                    selections[name][k] = ranking.own
                    own_sizes[m, k] = len(ranking.own)
                    n_empty += not len(ranking.own)
            for j, found in enumerate(record["judges"]):
                errors[m, j, k] = _numbers(found["errors"])
                apparent[m, j, k] = _numbers(found["apparent"])
                nested[m, j, k], nested_sizes[m, j, k] = _numbers(
                    [found["nested_error"], found["nested_size"]]
                )
                for f, row in enumerate(found.get("inner") or ()):
                    inner[m, j, k, f] = _numbers(row)
                judge_seconds[m, j, k] = found["seconds"]
                options = setting.candidates[judges[j]]
                if any(options):  # without an inner cross-validation the first is used
                    chosen = [options[c] for c in found["candidates"] or [0] * (K + 1)]
                    tuned.setdefault(name, {}).setdefault(judges[j], [None] * S)[k] = chosen
    repeat = np.array([part.repeat for part in setting.parts])
    if not setting.nested:
        for m in range(M):
            for j in range(J):
                nested[m, j], nested_sizes[m, j] = by_other_folds(
                    errors[m, j, :, :-1], setting.sizes, repeat, setting.rule
                )
    no_choice = np.isfinite(errors[..., :-1]).any(axis=3) & np.isnan(nested)
    sound = setting.nested and not failures and not n_undefined
    n_small = int(no_choice.any(axis=(0, 1)).sum()) if sound else 0
    notes = _notes(setting, failures, n_undefined, n_empty, n_small, runner)
    return Comparison(
        methods=methods,
        judges=judges,
        sizes=setting.sizes,
        errors=errors[..., :-1],
        apparent_errors=apparent[..., :-1],
        inner_errors=inner,
        nested_errors=nested,
        nested_sizes=nested_sizes,
        own_errors=errors[..., -1],
        own_apparent_errors=apparent[..., -1],
        own_sizes=own_sizes,
        whole_own_sizes=whole_own,
        orders=orders,
        selections=selections,
        whole_orders=whole_orders,
        whole_selections=whole_selections,
        whole_scores=whole_scores,
        select_seconds=select_seconds,
        judge_seconds=judge_seconds,
        repeat=repeat,
        fold=np.array([part.fold for part in setting.parts]),
        n_train=np.array([len(part.train) for part in setting.parts]),
        n_test=np.array([len(part.test) for part in setting.parts]),
        n_samples=len(setting.y),
        n_features=setting.n_features,
        names=names,
        metric=setting.metric.name,
        shares=setting.metric.shares,
        nested=setting.nested,
        rule=setting.rule,
        confidence=confidence,
        status=runner.status,
        tuned=tuned,
        notes=notes,
        failures=failures,
        params={
            "protocol": protocol,
            "selectors": {name: repr(one) for name, one in setting.selectors.items()},
            "judges": {name: repr(one) for name, one in setting.judges.items()},
        },
        seed=setting.seed,
        seconds=seconds,
    )


def _notes(
    setting: Setting,
    failures: list[str],
    n_undefined: int,
    n_empty: int,
    n_small: int,
    runner: Runner,
) -> list[str]:
    notes = []
    if setting.gaps:
        notes.append("gaps in X were filled with the median of the training part.")
    if n_empty:
        what = "mean" if setting.task == "regression" else "most frequent class"
        notes.append(
            f"{n_empty} selections hold no feature and were judged by the {what} of the training "
            "part."
        )
    if n_small:
        notes.append(
            f"in {n_small} training parts no number of features could be chosen, since they are "
            "too small for an inner cross-validation; nested=False does without."
        )
    if n_undefined:
        notes.append(f"{setting.metric.scoring} was not defined {n_undefined} times: left out.")
    if failures:
        notes.append(f"{len(failures)} failures are left out; the first: {failures[0]}")
    for text in notes[1 if setting.gaps else 0 :]:
        if "no feature" not in text:
            warnings.warn(f"compare: {text}", RuntimeWarning, stacklevel=4)
    common = sorted(runner.warnings.items(), key=lambda item: -item[1])
    for (category, text), times in common[:_MOST_WARNINGS]:
        warnings.warn(f"{text} ({times} times in this comparison)", category, stacklevel=4)
    if len(common) > _MOST_WARNINGS:
        rest = len(common) - _MOST_WARNINGS
        notes.append(f"{rest} other warnings of selectors and judges are not shown.")
    return notes


def _numbers(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
