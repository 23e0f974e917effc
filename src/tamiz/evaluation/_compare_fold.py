"""The work of one unit of a comparison: one method in one split.

Everything that looks at the data looks at the training part only: gaps are filled, features scaled
and ranked, and parameters and the number of features chosen, before the test part is seen once. The
inner cross-validation that chooses repeats all of it inside the training part.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from tamiz._blas import one_blas_thread
from tamiz._parallel import limit_threads
from tamiz.base import choose_size
from tamiz.evaluation._compare_fast import FastErrors, fast_errors
from tamiz.evaluation._compare_judges import nothing_selected
from tamiz.evaluation._compare_select import prepared, seeded, try_to_rank
from tamiz.evaluation._compare_setting import WHOLE, Failures, Ranking, Setting
from tamiz.evaluation._plan import Part, inner_splits
from tamiz.evaluation._workers import refuse_interrupted
from tamiz.search.splits import Split

# ------------------------------------------------------------------------------- two kinds of unit


def rank_whole(setting: Setting, name: str, threads: int | None) -> dict[str, Any]:
    """Rank the features on all data: what the apparent error is made of."""
    failures = Failures(setting, f"the ranking by {name!r} on all data")
    with one_blas_thread(), limit_threads(threads):
        everyone = np.arange(len(setting.y))
        Z, _ = prepared(setting, everyone, everyone[:1])
        ranking = try_to_rank(setting, name, Z, setting.y, (WHOLE,), failures)
    return {
        "method": name,
        "split": WHOLE,
        **_said(ranking),
        "failures": failures.texts,
    }


def run_unit(setting: Setting, name: str, k: int, threads: int | None) -> dict[str, Any]:
    """One method in split ``k``: select, judge at every size, choose the size inside."""
    part = setting.parts[k]
    failures = Failures(setting, f"{name!r}, repeat {part.repeat}, fold {part.fold}")
    with one_blas_thread(), limit_threads(threads):
        fold = _Fold(setting, part.train, part.test, failures)
        key = (part.repeat, part.fold)
        ranking = fold.rank(name, key)
        inner = _inner(setting, name, part, failures) if setting.inner else None
        apparent = setting.whole.get(name)
        judged = [
            _judge(setting, fold, j, name, key, ranking, apparent, inner) for j in setting.judges
        ]
    return {
        "method": name,
        "split": k,
        **_said(ranking),
        "judges": judged,
        "failures": failures.texts,
        "undefined": failures.n_undefined,
    }


def _judge(
    setting: Setting,
    fold: _Fold,
    judge: str,
    name: str,
    key: tuple[int, ...],
    ranking: Ranking | None,
    apparent: Ranking | None,
    inner: _Inner | None,
) -> dict[str, Any]:
    began = time.perf_counter()
    seed = setting.seed_of("judge", judge, *key)
    chosen = None if inner is None else inner.chosen(judge)
    errors = fold.errors(name, judge, ranking, chosen, seed)
    seconds = time.perf_counter() - began
    nested_size: int | None = None
    nested_error = np.nan
    if setting.nested and inner is not None and setting.curve[name]:
        nested_size = inner.size(judge)
        if nested_size is not None:
            nested_error = errors[int(np.flatnonzero(setting.sizes == nested_size)[0])]
    of_whole = np.full(len(errors), np.nan)
    if apparent is not None:
        fixed = chosen
        if chosen is not None and len(setting.candidates[judge]) > 1:
            fixed = _Inner.of_fixed(setting, name, judge, fold, apparent, key).chosen(judge)
        of_whole = fold.errors(name, judge, apparent, fixed, seed)
    return {
        "errors": _plain(errors),
        "apparent": _plain(of_whole),
        "nested_size": nested_size,
        "nested_error": _plain([nested_error])[0],
        "candidates": None if chosen is None else chosen.tolist(),
        "seconds": seconds,
    }


# ---------------------------------------------------------------------------------- inside a split


class _Fold:
    """A training and a test part, prepared."""

    def __init__(self, setting: Setting, train: np.ndarray, test: np.ndarray, failures: Failures):
        self.setting, self.failures = setting, failures
        self.train, self.test = train, test
        self.Z, self.Z_test = prepared(setting, train, test)
        self.y, self.y_test = setting.y[train], setting.y[test]

    def rank(self, name: str, key: tuple[int, ...]) -> Ranking | None:
        return try_to_rank(self.setting, name, self.Z, self.y, key, self.failures)

    def errors(
        self,
        name: str,
        judge: str,
        ranking: Ranking | None,
        chosen: np.ndarray | None,
        seed: int,
    ) -> np.ndarray:
        """Errors at every size, and at last at the selector's own; NaN where there is none."""
        setting = self.setting
        found = np.full(len(setting.sizes) + 1, np.nan)
        if ranking is None:
            return found
        subsets = _subsets(setting, name, ranking)
        fast: dict[int, FastErrors | None] = {}
        for column, features in subsets:
            c = 0 if chosen is None else int(chosen[column])
            candidate = setting.candidates[judge][c]
            if c not in fast:
                fast[c] = self._fast(judge, candidate, [features for _, features in subsets])
            found[column] = self.error(judge, features, candidate, seed, fast[c])
        return found

    def _fast(
        self, judge: str, candidate: dict[str, Any], subsets: list[np.ndarray]
    ) -> FastErrors | None:
        if not self.setting.metric.direct:
            return None
        try:
            machine = clone(self.setting.judges[judge]).set_params(**candidate)
            return fast_errors(machine, self.Z, self.y, self.Z_test, self.y_test, subsets)
        except Exception:  # the estimator has the sentence for it
            return None

    def error(
        self,
        judge: str,
        features: np.ndarray,
        candidate: dict[str, Any],
        seed: int,
        fast: FastErrors | None = None,
    ) -> float:
        """The error with some features: the one place where the test part is looked at."""
        setting = self.setting
        try:
            if fast is not None and len(features):
                return fast.error(features)
            if not len(features):
                machine = nothing_selected(setting.task)
                Z, Z_test = self.Z[:, :1], self.Z_test[:, :1]
            else:
                machine = seeded(clone(setting.judges[judge]), seed).set_params(**candidate)
                Z, Z_test = self.Z[:, features], self.Z_test[:, features]
            machine.fit(Z, self.y)
            refuse_interrupted(machine)
            value = setting.metric(machine, Z_test, self.y_test)
        except Exception as error:
            self.failures.take(error, f"judge {judge!r} with {len(features)} features")
            return np.nan
        if not np.isfinite(value):
            self.failures.n_undefined += 1
            return np.nan
        return value


class _Inner:
    """Errors of the inner cross-validation: folds, sizes (and the own one), candidates."""

    def __init__(self, setting: Setting, tables: dict[str, np.ndarray]):
        self.setting = setting
        self.tables = tables

    @classmethod
    def of_fixed(
        cls,
        setting: Setting,
        name: str,
        judge: str,
        fold: _Fold,
        ranking: Ranking,
        key: tuple[int, ...],
    ) -> _Inner:
        """With a ranking that is given: for the apparent error, whose parameters are tuned too."""
        part = Part(fold.train, fold.test, *key)
        silent = Failures(setting, fold.failures.where)
        tables = []
        for m, (train, test) in enumerate(_inner_parts(setting, part)):
            inside = _Fold(setting, train, test, silent)
            tables.append(_table(setting, inside, name, judge, ranking, (*key, m)))
        return cls(setting, {judge: np.array(tables)})

    def chosen(self, judge: str) -> np.ndarray:
        """The candidate with least mean error at every size; the first of equals."""
        means = _mean(self.tables[judge])
        return np.where(np.isnan(means), np.inf, means).argmin(axis=1)

    def size(self, judge: str) -> int | None:
        """The size that the rule chooses, with the candidate that was chosen for it."""
        table = self.tables[judge][:, :-1]
        at_best = np.take_along_axis(table, self.chosen(judge)[None, :-1, None], axis=2)[..., 0]
        usable = np.isfinite(at_best).all(axis=0)
        if not usable.any():
            return None
        return choose_size(at_best[:, usable], self.setting.sizes[usable], self.setting.rule)


def _inner(setting: Setting, name: str, part: Part, failures: Failures) -> _Inner | None:
    """None if the training part is too small to be divided."""
    tables: dict[str, list[np.ndarray]] = {judge: [] for judge in setting.judges}
    parts = _inner_parts(setting, part)
    for m, (train, test) in enumerate(parts):
        fold = _Fold(setting, train, test, failures)
        key = (part.repeat, part.fold, m)
        ranking = fold.rank(name, key)
        for judge, collected in tables.items():
            collected.append(_table(setting, fold, name, judge, ranking, key))
    if not parts:
        return None
    return _Inner(setting, {judge: np.array(found) for judge, found in tables.items()})


def _inner_parts(setting: Setting, part: Part) -> list[Split]:
    seed = setting.seed_of("inner", part.repeat, part.fold)
    groups = None if setting.groups is None else setting.groups[part.train]
    inside = inner_splits(setting.y[part.train], setting.inner, setting.task, seed, groups)
    return [(part.train[a], part.train[b]) for a, b in inside]


def _table(
    setting: Setting,
    fold: _Fold,
    name: str,
    judge: str,
    ranking: Ranking | None,
    key: tuple[int, ...],
) -> np.ndarray:
    """Errors of one inner fold, (sizes and own, candidates)."""
    seed = setting.seed_of("judge", judge, *key)
    n_candidates = len(setting.candidates[judge])
    columns = [
        fold.errors(name, judge, ranking, np.full(len(setting.sizes) + 1, c), seed)
        for c in range(n_candidates)
    ]
    return np.array(columns).T


def _subsets(setting: Setting, name: str, ranking: Ranking) -> list[tuple[int, np.ndarray]]:
    """The features to judge with, and where the error goes."""
    subsets = []
    if setting.curve[name] and ranking.order is not None:
        subsets = [(c, ranking.order[:size]) for c, size in enumerate(setting.sizes)]
    if setting.own[name]:
        subsets.append((len(setting.sizes), ranking.own))
    return subsets


def _mean(table: np.ndarray) -> np.ndarray:
    """Mean over folds; NaN if a fold has none."""
    return table.mean(axis=0)


def _said(ranking: Ranking | None) -> dict[str, Any]:
    if ranking is None:
        return {"order": None, "own": None, "seconds": None}
    return {
        "order": None if ranking.order is None else ranking.order.tolist(),
        "own": ranking.own.tolist(),
        "seconds": ranking.seconds,
    }


def _plain(values: Any) -> list[float | None]:
    """For JSON, which has no NaN."""
    return [None if np.isnan(v) else float(v) for v in values]
