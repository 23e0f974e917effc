"""The work of one unit of a comparison: one method in one split.

Everything that looks at the data looks at the training part only: missing values are filled,
features scaled and ranked, and parameters and the number of features chosen, before the test part
is seen once. The inner cross-validation that chooses repeats all of it inside the training part.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from tamiz.base import choose_size, order_by
from tamiz.evaluation.comparison.setting import (
    WHOLE,
    Failures,
    OuterSplit,
    Ranking,
    Setting,
    Stopped,
)
from tamiz.evaluation.judges import PerFeature, nothing_selected, resolved
from tamiz.evaluation.judges.fast import Division, Question, Reply, fast_way
from tamiz.evaluation.scaler import preparing_steps
from tamiz.routing import wants
from tamiz.runtime.threads import limit_threads, one_blas_thread
from tamiz.search.judges import fit_arguments, last_step
from tamiz.search.resampling import fit_to_the_end, group_arguments
from tamiz.search.splits import (
    Split,
    inner_splits,
    is_forward,
    is_ordered,
    neighbours_in_time,
)
from tamiz.validation import Labels, check_class_weight, refuse_interrupted

# ------------------------------------------------------------------------------- two kinds of unit


def rank_whole(setting: Setting, name: str, threads: int | None) -> dict[str, Any]:
    """Rank the features on all data: what the apparent error is made of."""
    failures = Failures(setting, f"the ranking by {name!r} on all data")
    with one_blas_thread(), limit_threads(threads):
        everyone = np.arange(len(setting.y))
        Z, _ = prepared(setting, everyone, everyone[:1], (WHOLE,))
        ranking = try_to_rank(setting, name, Z, everyone, (WHOLE,), failures)
    return {
        "method": name,
        "split": WHOLE,
        **_said(ranking),
        "scores": None if ranking is None or ranking.scores is None else _plain(ranking.scores),
        "failures": failures.texts,
    }


def run_unit(setting: Setting, name: str, k: int, threads: int | None) -> dict[str, Any]:
    """One method in split ``k``: select, judge at every size, choose the size inside."""
    part = setting.parts[k]
    failures = Failures(setting, f"{name!r}, repeat {part.repeat}, fold {part.fold}")
    with one_blas_thread(), limit_threads(threads):
        key = (part.repeat, part.fold)
        fold = Fold(setting, part.train, part.test, key, failures)
        ranking = fold.rank(name)
        inner = _inner(setting, name, part, failures) if setting.inner else None
        apparent = setting.whole.get(name) if setting.judge_whole else None
        judged = [_judge(setting, fold, j, name, ranking, apparent, inner) for j in setting.judges]
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
    fold: Fold,
    judge: str,
    name: str,
    ranking: Ranking | None,
    apparent: Ranking | None,
    inner: _Inner | None,
) -> dict[str, Any]:
    began = time.perf_counter()
    chosen = None if inner is None else inner.chosen(judge)
    errors = fold.errors(name, judge, ranking, chosen)
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
        own = any(isinstance(v, PerFeature) for v in setting.candidates[judge][-1].values())
        if chosen is not None and len(setting.candidates[judge]) > 1 and not own:
            fixed = _Inner.of_fixed(setting, name, judge, fold, apparent).chosen(judge)
        of_whole = fold.errors(name, judge, apparent, fixed)
    return {
        "errors": _plain(errors),
        "apparent": _plain(of_whole),
        "nested_size": nested_size,
        "nested_error": _plain([nested_error])[0],
        "inner": None if inner is None else [_plain(row) for row in inner.at_chosen(judge)],
        "candidates": None if chosen is None else chosen.tolist(),
        "seconds": seconds,
    }


# ---------------------------------------------------------------------------------- inside a split


class Fold:
    """A training and a test part, prepared.

    Parameters
    ----------
    setting : Setting
        What all units share.
    train, test : arrays
        Positions of the samples.
    key : tuple of int
        Repeat, fold, and the inner fold if it is one.
    failures : Failures
        Takes what goes wrong.
    """

    def __init__(
        self,
        setting: Setting,
        train: np.ndarray,
        test: np.ndarray,
        key: tuple[int, ...],
        failures: Failures,
    ):
        self.setting, self.failures, self.key = setting, failures, key
        self.train, self.test = train, test
        self.Z, self.Z_test = prepared(setting, train, test, key)
        self.y, self.y_test = setting.y[train], setting.y[test]
        self.weight = None if setting.weight is None else setting.weight[train]
        self.weight_test = None if setting.weight is None else setting.weight[test]

    def rank(self, name: str) -> Ranking | None:
        """What the selector makes of the training part."""
        return try_to_rank(self.setting, name, self.Z, self.train, self.key, self.failures)

    def errors(
        self, name: str, judge: str, ranking: Ranking | None, chosen: np.ndarray | None
    ) -> np.ndarray:
        """Errors at every size, and at last at the selector's own, with the candidates chosen.

        NaN where there is none.
        """
        n_columns = len(self.setting.sizes) + 1
        places = np.zeros(n_columns, dtype=np.intp) if chosen is None else chosen
        table = self.table(name, judge, ranking, [[int(c)] for c in places])
        return table[np.arange(n_columns), places]

    def table(
        self, name: str, judge: str, ranking: Ranking | None, wanted: list[list[int]] | None = None
    ) -> np.ndarray:
        """Errors with some candidates, or all, at every size and at the selector's own."""
        setting = self.setting
        candidates = setting.candidates[judge]
        found = np.full((len(setting.sizes) + 1, len(candidates)), np.nan)
        if ranking is None:
            return found
        every = list(range(len(candidates)))
        questions, keys = [], {}
        for place, features in _subsets(setting, name, ranking):
            columns = setting.sorted_columns(features)
            keys[place] = (self.key, judge, setting.key_of(columns))
            those = every if wanted is None else wanted[place]
            for c in those:
                found[place, c] = setting.known.get((*keys[place], c), np.nan)
            left = [c for c in those if np.isnan(found[place, c])]
            if left:
                questions.append(Question(place, columns, left))
        asked = [(place, c) for place, _, those in questions for c in those]
        questions = self._answer_fast(judge, questions, found)
        for place, columns, those in questions:
            for c in those:
                setting.stop.look()
                found[place, c] = self._error(judge, columns, candidates[c])
        setting.known.update(
            {
                (*keys[place], c): found[place, c]
                for place, c in asked
                if np.isfinite(found[place, c])
            }
        )
        return found

    def _answer_fast(
        self, judge: str, questions: list[Question], found: np.ndarray
    ) -> list[Question]:
        """Fill in what can be had without estimators; what is left."""
        setting = self.setting
        answered = set()
        try:
            for place, c, answers in self._fast(judge, questions, setting.candidates[judge]):
                answered.add((place, c))
                found[place, c] = self._finite(
                    setting.metric.of(answers, self.y_test, self.weight_test)
                )
        except Stopped:
            raise
        except Exception:  # the estimator has the sentence for it
            pass
        left = [
            (place, features, [c for c in those if (place, c) not in answered])
            for place, features, those in questions
        ]
        return [Question(*question) for question in left if question[2]]

    def _fast(
        self, judge: str, questions: list[Question], candidates: list[dict[str, Any]]
    ) -> Iterator[Reply]:
        """Predictions for the test part without estimators; none where there is no such way."""
        estimator = self.setting.judges[judge]
        way = None if self._is_asked(judge) else fast_way(estimator, candidates)
        asked = [question for question in questions if len(question.features)]
        if way is None or not isinstance(self.Z, np.ndarray) or not asked:
            return
        part = self._division(judge, estimator)
        if part is None:
            return
        classes = np.unique(self.y)
        for place, c, answers in way(estimator, part, asked, candidates):
            self.setting.stop.look()
            answers.predictions = classes[answers.predictions]
            answers.classes_ = classes
            yield place, c, answers

    def predicted(self, judge: str, features: np.ndarray, candidate: dict[str, Any]) -> Any:
        """What predicts the test part as it did for the error with these features."""
        try:
            for _, _, answers in self._fast(judge, [Question(0, features, [0])], [candidate]):
                return answers
        except Stopped:
            raise
        except Exception:  # the estimator has the sentence for it
            pass
        return self.fitted(judge, features, candidate)

    def _is_asked(self, judge: str) -> bool:
        """Whether what the judge, or the scorer, gets besides its rows is theirs to say."""
        return bool(self.setting.asked & {f"judge {judge}", "scorer"})

    def _division(self, judge: str, estimator: Any) -> Division | None:
        setting = self.setting
        if setting.task != "classification":
            return None
        rows = self._rows(judge)
        y = self.y[rows]
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2 or len(classes) < len(np.unique(self.y)):
            return None
        weight = np.ones(len(y)) if self.weight is None else self.weight[rows]
        by_class = check_class_weight(estimator.class_weight, Labels(classes, codes), weight)
        weight = weight * by_class[codes]
        if not (weight > 0).all():
            return None
        return Division(
            self.Z if len(rows) == len(self.y) else self.Z[rows],
            codes.astype(np.intp),
            np.arange(len(classes)),
            weight,
            self.Z_test,
            self._seed(judge) % 2**31,
            len(self.key) > 2,
        )

    def _rows(self, judge: str) -> np.ndarray:
        """The samples that a judge learns from."""
        setting = self.setting
        return some_rows(self.y, setting.limits.judges.get(judge), setting.task, self._seed(judge))

    def _seed(self, judge: str) -> int:
        return self.setting.seed_of("judge", judge, *self.key)

    def _error(self, judge: str, features: np.ndarray, candidate: dict[str, Any]) -> float:
        """The error with some features, by the estimator itself."""
        setting = self.setting
        try:
            if not len(features):
                machine = self.fitted_without()
                Z_test = self.Z_test[:, :1]
            else:
                machine = self.fitted(judge, features, candidate)
                Z_test = self.Z_test[:, features]
            asked = setting.part_of_metadata("scorer", self.test)
            return self._finite(
                setting.metric(machine, Z_test, self.y_test, self.weight_test, asked)
            )
        except Exception as error:
            self.failures.take(error, f"judge {judge!r} with {len(features)} features")
            return np.nan

    def fitted(self, judge: str, features: np.ndarray, candidate: dict[str, Any]) -> Any:
        """The judge, fitted to some features of the training part."""
        machine = seeded(clone(self.setting.judges[judge]), self._seed(judge))
        machine.set_params(**resolved(candidate, len(features)))
        rows = self._rows(judge)
        options = self.setting.part_of_metadata(f"judge {judge}", self.train[rows])
        if options is None:
            options = {}
            if self.weight is not None and _takes_weights(machine):
                options = fit_arguments(machine, self.weight[rows])
        Z, y = self.Z[:, features], self.y
        if len(rows) < len(y):
            Z, y = Z[rows], y[rows]
        return fit_to_the_end(machine, Z, y, **options)

    def fitted_without(self) -> Any:
        """What remains without features: a constant, which takes one column all the same."""
        return nothing_selected(self.setting.task).fit(self.Z[:, :1], self.y, self.weight)

    def _finite(self, value: float) -> float:
        if np.isfinite(value):
            return value
        self.failures.n_undefined += 1
        return np.nan


def _takes_weights(machine: Any) -> bool:
    """Whether an estimator, or the last of a pipeline, can be fitted with weights."""
    return "sample_weight" in signature(last_step(machine).fit).parameters


class _Inner:
    """Errors of the inner cross-validation: folds, sizes (and the own one), candidates."""

    def __init__(self, setting: Setting, tables: dict[str, np.ndarray]):
        self.setting = setting
        self.tables = tables

    @classmethod
    def of_fixed(
        cls, setting: Setting, name: str, judge: str, fold: Fold, ranking: Ranking
    ) -> _Inner:
        """With a ranking that is given: for the apparent error, whose parameters are tuned too."""
        part = OuterSplit(fold.train, fold.test, *fold.key)
        silent = Failures(setting, fold.failures.where)
        tables = []
        for m, (train, test) in enumerate(_inner_parts(setting, part)):
            inside = Fold(setting, train, test, (*fold.key, m), silent)
            tables.append(inside.table(name, judge, ranking))
        return cls(setting, {judge: np.array(tables)})

    def chosen(self, judge: str) -> np.ndarray:
        """The candidate with least mean error at every size; the first of equals."""
        means = self.tables[judge].mean(axis=0)  # NaN if a fold has none
        return np.where(np.isnan(means), np.inf, means).argmin(axis=1)

    def at_chosen(self, judge: str) -> np.ndarray:
        """Errors with the candidate chosen for each size: (folds, sizes and own)."""
        places = self.chosen(judge)[None, :, None]
        return np.take_along_axis(self.tables[judge], places, axis=2)[..., 0]

    def size(self, judge: str) -> int | None:
        """The size that the rule chooses, with the candidate that was chosen for it."""
        at_best = self.at_chosen(judge)[:, :-1]
        usable = np.isfinite(at_best).all(axis=0)
        if not usable.any():
            return None
        return choose_size(at_best[:, usable], self.setting.sizes[usable], self.setting.rule)


def _inner(setting: Setting, name: str, part: OuterSplit, failures: Failures) -> _Inner | None:
    """None if the training part is too small to be divided."""
    tables: dict[str, list[np.ndarray]] = {judge: [] for judge in setting.judges}
    parts = _inner_parts(setting, part)
    for m, (train, test) in enumerate(parts):
        fold = Fold(setting, train, test, (part.repeat, part.fold, m), failures)
        ranking = fold.rank(name)
        for judge, collected in tables.items():
            collected.append(fold.table(name, judge, ranking))
    if not parts:
        return None
    return _Inner(setting, {judge: np.array(found) for judge, found in tables.items()})


def _inner_parts(setting: Setting, part: OuterSplit) -> list[Split]:
    """The inner splits, with so many samples of each part as are used."""
    seed = setting.seed_of("inner", part.repeat, part.fold)
    y, most = setting.y, setting.limits.inner
    return [
        (
            a[some_rows(y[a], most, setting.task, seed)],
            b[some_rows(y[b], most, setting.task, seed)],
        )
        for a, b in setting.inside(part)
    ]


def _subsets(setting: Setting, name: str, ranking: Ranking) -> list[tuple[int, np.ndarray]]:
    """The features to judge with, and where the error goes."""
    subsets = []
    if setting.curve[name] and ranking.order is not None:
        subsets = [(c, ranking.order[:size]) for c, size in enumerate(setting.sizes)]
    if setting.own[name]:
        subsets.append((len(setting.sizes), ranking.own))
    return subsets


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


def prepared(
    setting: Setting, train: np.ndarray, test: np.ndarray, key: tuple[int, ...]
) -> tuple[Any, Any]:
    """Both parts, filled, adjusted for covariates and scaled by what the training part says."""

    def make() -> tuple[Any, Any]:
        X, X_test = setting.X[train], setting.X[test]
        known, p = setting.covariates, X.shape[1]
        last: Sequence[int] = ()
        if known is not None:
            X, X_test = np.hstack([X, known[train]]), np.hstack([X_test, known[test]])
            last = range(p, X.shape[1])
        is_sparse = sparse.issparse(setting.X)
        steps = preparing_steps(setting.has_missing, setting.scale, is_sparse, last)
        if not steps:
            return X, X_test
        pipe = Pipeline(steps)
        return pipe.fit_transform(X), pipe.transform(X_test)

    return setting.kept.get(key, make)


def try_to_rank(
    setting: Setting,
    name: str,
    Z: Any,
    samples: np.ndarray,
    key: tuple[int, ...],
    failures: Failures,
) -> Ranking | None:
    """What a selector makes of ``Z``, the samples at these positions; None if it fails."""
    setting.stop.look()
    y = setting.y[samples]
    try:
        selector = seeded(clone(setting.selectors[name]), setting.seed_of("select", name, *key))
        began = time.perf_counter()
        rows = some_rows(y, setting.limits.methods.get(name), setting.task, setting.seed_of(*key))
        if len(rows) < len(y):
            Z, y, samples = Z[rows], y[rows], samples[rows]
        inside = _structure_inside(setting, selector, samples, key)
        inside |= setting.part_of_metadata(f"selector {name}", samples) or {}
        selector.fit(Z, y, **inside)
        seconds = time.perf_counter() - began
        refuse_interrupted(selector)
        order = order_of(selector)
        if order is None and not setting.own[name]:
            raise TypeError(
                f"{type(selector).__name__} has neither a ranking (order_, ranking_, scores_, "
                "feature_importances_ or coef_) nor a selection (get_support)"
            )
        own = np.flatnonzero(selector.get_support()) if setting.own[name] else np.empty(0, np.intp)
        scores = getattr(selector, "scores_", None)
        if setting.units is not None:
            order, own = _by_unit(order, own, setting.units)
            if scores is not None:
                scores = np.array([np.max(scores[columns]) for columns in setting.units])
        return Ranking(order, own, seconds, scores)
    except Exception as error:
        failures.take(error, f"selection by {name!r} among {len(y)} samples")
        return None


def _structure_inside(
    setting: Setting, selector: Any, samples: np.ndarray, key: tuple[int, ...]
) -> dict[str, Any]:
    """Let a selector that divides the samples keep groups and the order of time as well.

    A number of folds becomes splits that are made as the inner ones are. What divides the samples
    in its own way gets the groups as an argument of ``fit``. Where the splits follow an order, it
    gets the times if they learn from the past only and it can do the same, and otherwise blocks of
    neighbours.
    """
    ordered = is_ordered(setting.cv)
    if setting.groups is None and not ordered:
        return {}
    steps = [step for _, step in getattr(selector, "steps", [("", selector)])]
    y, here = setting.y[samples], np.arange(len(samples))
    groups = None if setting.groups is None else setting.groups[samples]

    def divided(n_folds: int) -> list[Split]:
        kind, seed = setting.task == "classification", setting.seed_of("select", *key)
        return inner_splits(setting.cv, here, y, n_folds, kind, seed, groups)

    for step in steps:
        n_folds = step.get_params(deep=False).get("cv", "")
        if (n_folds is None or isinstance(n_folds, int)) and (splits := divided(n_folds or 5)):
            step.set_params(cv=splits)
    if not ordered:
        return group_arguments(selector, groups)
    moments = here if groups is None else np.unique(groups, return_inverse=True)[1]
    blocks, folds = neighbours_in_time(moments), here if groups is None else groups
    inside = group_arguments(selector, blocks, moments, folds)
    if not any(name.rpartition("__")[2] == "times" for name in inside):
        return inside
    if not is_forward(divided(5), moments):
        return group_arguments(selector, blocks, None, folds)
    for step in steps:
        takes = wants(step, "fit", "times", has_fit_parameter(step, "times"))
        if takes and step.get_params(deep=False).get("gap", None) == 0:
            step.set_params(gap=getattr(setting.cv, "gap", 0))
    return inside


def some_rows(y: np.ndarray, most: int | None, task: str, seed: int, least: int = 10) -> np.ndarray:
    """At most so many of the samples, drawn at random, the classes in proportion; all if None.

    Of every class at least ``least`` are drawn, where there are as many.
    """
    n = len(y)
    if most is None or n <= most:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    if task != "classification":
        return np.sort(rng.permutation(n)[:most])
    kept = []
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        kept.append(members[: max(min(len(members), least), round(most * len(members) / n))])
    return np.sort(np.concatenate(kept))


def _by_unit(order: Any, own: np.ndarray, units: list[np.ndarray]) -> tuple[Any, np.ndarray]:
    """Features of several columns stand where the first of their columns stands."""
    unit = np.empty(sum(map(len, units)), dtype=np.intp)
    for j, columns in enumerate(units):
        unit[columns] = j
    if order is not None:
        found, first = np.unique(unit[order], return_index=True)
        order = found[np.argsort(first)]
    return order, np.unique(unit[own])


def order_of(selector: Any) -> Any:
    """All features, best first, as a fitted selector or estimator has them; None if it does not."""
    if hasattr(selector, "order_"):
        return np.asarray(selector.order_, dtype=np.intp)
    if hasattr(selector, "ranking_"):
        return np.argsort(np.asarray(selector.ranking_), kind="stable")
    scores = getattr(selector, "scores_", None)
    # a forest has an estimator_ too, the template of its trees: itself first
    machines: list[Any] = [selector, getattr(selector, "estimator_", None)]
    for machine in machines:
        if scores is None:
            scores = getattr(machine, "feature_importances_", None)
        if scores is None and hasattr(machine, "coef_"):
            scores = np.linalg.norm(np.atleast_2d(machine.coef_), axis=0)
    return None if scores is None else order_by(np.asarray(scores, dtype=np.float64))


def seeded(estimator: Any, seed: int) -> Any:
    """Give a seed to everything in an estimator that has none."""
    params = estimator.get_params(deep=True)
    unset = [
        name
        for name, value in params.items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    return (
        estimator.set_params(**dict.fromkeys(sorted(unset), seed % 2**31)) if unset else estimator
    )
