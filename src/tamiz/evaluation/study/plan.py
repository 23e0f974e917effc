"""The plan of a study: which methods, judges, folds and sizes fit into the time there is.

Every method and judge is tried on a few hundred rows, and its time carried over to all of them by
how it grows. In a wide table, the judges of all features together are tried on a few thousand
columns, and their time carried over to all columns. What would not fit is left out, cheapest loss
first: repeats, settings of the judges, sizes, slow methods. What the user has asked for is kept.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.pipeline import Pipeline

from tamiz.display import counted
from tamiz.evaluation.comparison.compare import compare
from tamiz.evaluation.comparison.fold import some_rows
from tamiz.evaluation.comparison.setting import SIZE_GRID
from tamiz.evaluation.judges import candidates_of, judge_name, make_judge
from tamiz.evaluation.scaler import preparing_steps
from tamiz.runtime.progress import interruption
from tamiz.runtime.threads import limit_threads, one_blas_thread

#: Seconds that a study may take unless the user says otherwise.
DEFAULT_BUDGET = 60.0
#: Outer folds, unless a class has fewer rows or the time is short.
USUAL_FOLDS = 5
#: The part of the budget that the plan fills; the rest is for what follows, and for surprises.
_FILLED = 0.7
#: More repeats and finer settings are worth this part of the budget.
_EXTRAS = 0.18
#: A method is slow whose selections take this part of a plan, or more.
_SLOW = 0.1
#: Where none of them is slow, these go first: what is left ranks alone, in turn, and together.
_GIVEN_UP = ("ho-svm", "rfe", "forest", "mrmr", "qpfs", "cfs")
#: Methods that are tried unless others are named.
CLASSIFICATION = ("fisher", "mrmr", "forest", "relieff", "rfe", "ho-svm")
REGRESSION = ("pearson", "rrelieff", "cfs", "qpfs", "rfe", "ho-svm")
JUDGES_BY_DEFAULT = ("linear", "rbf", "tree", "forest")
#: Boosted trees judge too from so many rows on, since with fewer they err more than forests, and up
#: to so many columns, since a tree looks at all of them.
_BOOSTING_ROWS, _BOOSTING_COLUMNS = 2000, 200
#: Above these, samples are drawn: their methods and judges take time with the square of them.
_METHOD_ROWS = {
    "relieff": 3000,
    "rrelieff": 2000,
    "relief": 3000,
    "rfe": 1500,
    "ho-svm": 800,
    "forest": 5000,
    "l1-svm": 4000,
}
_JUDGE_ROWS = {
    "svc-rbf": 2000,
    "svc-linear": 2000,
    "knn": 4000,
    "forest": 8000,
    "tree": 20000,
    "boosting": 20000,
}
_INNER_ROWS = 1500
#: More columns than this are not for an elimination that asks a held-out part each time.
_HOLD_OUT_COLUMNS = 60
_PROBE_ROWS, _PROBE_COLUMNS = 300, 4000
#: What judges really take beside what they would take if no two methods selected the same features
#: and no setting began where the one before had ended.
_SHARED = 0.45
#: How the time grows with the number of samples.
_GROWTH = {"relieff": 2.0, "rrelieff": 2.0, "relief": 2.0, "rfe": 1.7, "ho-svm": 2.0}
_JUDGE_GROWTH = {"svc-rbf": 1.8, "svc-linear": 1.8, "knn": 1.8}


@dataclass
class StudyPlan:
    """What a study will do.

    Attributes
    ----------
    methods, judges : list of str
        Names.
    sizes : list of int
        Numbers of features.
    cv, repeats, inner : int
        Outer folds, how often they are drawn, folds inside each training part.
    ordered : bool
        Whether the folds follow the order of time, outside and inside.
    tune : str
        "fine" or "coarse" settings of the judges.
    limits : dict
        Most samples to use, as in :func:`tamiz.compare`.
    apparent : bool
        Whether the apparent error is worked out too.
    seconds : float
        Estimate of the time, compiling apart.
    left_out : list of dict
        What does not fit: ``what`` (method, repeats, sizes, ...), ``name``, ``why``, ``flag``.
    """

    methods: list[str]
    judges: list[str]
    sizes: list[int]
    cv: int = 5
    repeats: int = 3
    inner: int = 3
    ordered: bool = False
    tune: str = "fine"
    limits: dict[str, Any] = field(default_factory=dict)
    apparent: bool = True
    seconds: float = 0.0
    left_out: list[dict[str, str]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))

    def describe(self) -> str:
        """A line for people."""
        repeats = "" if self.repeats == 1 else f" × {self.repeats} repeats"
        folds, inside = "folds", "folds"
        if self.ordered:
            folds, inside = "splits in the order of time", "such splits"
        about = "a second" if self.seconds < 1.5 else f"{self.seconds:.0f} s"
        return (
            f"{counted(len(self.methods), 'method')} × {counted(len(self.judges), 'judge')} × "
            f"{counted(len(self.sizes), 'number')} of features, {self.cv} {folds}{repeats}, "
            f"chosen inside by {self.inner} {inside}; "
            f"about {about}"
        )


@dataclass
class Fixed:
    """What the user has decided; None where the plan may."""

    methods: Sequence[str] | None = None
    judges: Sequence[str] | None = None
    sizes: Sequence[int] | None = None
    cv: int | None = None
    repeats: int | None = None
    time_budget: float | None = None
    baselines: Sequence[str] = field(default=("all",), compare=False)  # added to the methods
    ordered: bool = False  # by the data: splits follow the order of time
    n_groups: int | None = None  # of the data: folds keep them together


@dataclass
class Costs:
    """Seconds on the rows of a probe, and how they grow with the number of samples.

    What fails on those rows takes no time, and has no place in ``methods`` or ``judges``.

    Attributes
    ----------
    n : int
        Samples that were learnt from.
    methods : dict of str to float
        One selection by each method.
    judges : dict of str to float
        Each judge at all sizes, with all its settings.
    whole : dict of str to float
        Each judge with all columns of a table that has more than any of the sizes, one setting.
    preparing : float
        Missing values filled and features scaled, once.
    """

    n: int
    methods: dict[str, float] = field(default_factory=dict)
    judges: dict[str, float] = field(default_factory=dict)
    whole: dict[str, float] = field(default_factory=dict)
    preparing: float = 0.0

    def of_method(self, name: str, n: int) -> float:
        """One selection among n samples."""
        return self.methods.get(name, 0.0) * _grown(self.n, n, _GROWTH.get(name, 1.1))

    def of_judge(self, name: str, n: int, fraction: float) -> float:
        """A judge that learns from n samples, with a fraction of the settings probed."""
        return _SHARED * fraction * self.judges.get(name, 0.0) * self._judge_growth(name, n)

    def of_whole(self, name: str, n: int) -> float:
        """A judge that learns from all columns of n samples, one setting."""
        return self.whole.get(name, 0.0) * self._judge_growth(name, n)

    def of_preparing(self, n: int) -> float:
        """The preparation of a table of n samples."""
        return self.preparing * _grown(self.n, n, 1.0)

    def _judge_growth(self, name: str, n: int) -> float:
        return _grown(self.n, n, _JUDGE_GROWTH.get(judge_name(name), 1.15))


def _grown(known: int, n: int, power: float) -> float:
    return (max(n, 1) / max(known, 1)) ** power


def make_plan(
    X: Any,
    y: np.ndarray,
    *,
    task: str,
    units: list[np.ndarray] | None,
    fixed: Fixed,
    n_jobs: int | None,
    seed: int,
    tell: Callable[[str], None] = lambda text: None,
    trial: Trial | None = None,
) -> StudyPlan:
    """Try everything on few rows, and plan what fits.

    Parameters
    ----------
    X, y : arrays
        The table, categories as indicators, and the classes or numbers.
    task : {"classification", "regression"}
        What y holds.
    units : list of arrays or None
        Columns that are one feature.
    fixed : Fixed
        What the user has decided.
    n_jobs : int or None
        Workers.
    seed : int
        Seed.
    tell : callable
        Shows what is being tried.
    trial : callable, optional
        What says how long something takes; :class:`Trials` by default.
    """
    n, columns = X.shape
    p = columns if units is None else len(units)
    plan = _first_plan(n, p, columns, y, task, fixed)
    rows = some_rows(y, min(len(y), _PROBE_ROWS), task, seed, least=4)
    costs = _probe(trial or Trials(X, y, task, units, seed), rows, columns, plan, fixed, task, tell)
    if fixed.methods is None:
        plan = _without_failed(plan, costs)
    workload = _Workload(n, costs, effective_n_jobs(n_jobs), task, plan)
    return _fit_into(plan, workload, fixed)


def _first_plan(n: int, p: int, columns: int, y: np.ndarray, task: str, fixed: Fixed) -> StudyPlan:
    """What one would do with all the time in the world."""
    left_out: list[dict[str, str]] = []
    usual = CLASSIFICATION if task == "classification" else REGRESSION
    methods = [*(fixed.methods or usual)]
    if fixed.methods is None and "ho-svm" in methods and columns > _HOLD_OUT_COLUMNS:
        methods.remove("ho-svm")
        left_out.append(
            {
                "what": "method",
                "name": "ho-svm",
                "why": f"one elimination for each of {columns} columns takes too long",
                "flag": f"--methods {','.join([*methods, 'ho-svm'])}",
            }
        )
    judges = [*(fixed.judges or JUDGES_BY_DEFAULT)]
    if fixed.judges is None and task == "regression":
        judges.remove("forest")
    if fixed.judges is None and n >= _BOOSTING_ROWS and columns <= _BOOSTING_COLUMNS:
        judges.append("boosting")
    cv = fixed.cv or USUAL_FOLDS
    if fixed.cv is None and task == "classification":
        least = int(np.unique(y, return_counts=True)[1].min())
        cv = max(2, min(cv, least))
    if fixed.cv is None and fixed.n_groups is not None:
        cv = min(cv, fixed.n_groups)
    repeats = fixed.repeats or (
        1 if fixed.ordered or n >= 2500 else 4 if n < 200 else 3 if n < 700 else 2
    )
    return StudyPlan(
        methods=methods,
        judges=judges,
        sizes=_sizes(p) if fixed.sizes is None else list(fixed.sizes),
        cv=cv,
        repeats=repeats,
        inner=5 if n < 200 else 3,
        ordered=fixed.ordered,
        limits={
            "judges": {
                judge: _JUDGE_ROWS[judge_name(judge)]
                for judge in judges
                if judge_name(judge) in _JUDGE_ROWS
            },
            "methods": {name: _METHOD_ROWS[name] for name in methods if name in _METHOD_ROWS},
            "inner": _INNER_ROWS,
        },
        left_out=left_out,
    )


def _sizes(p: int) -> list[int]:
    """About three steps to a factor of four; all features, if they are not too many."""
    found = [size for size in SIZE_GRID if size < p]
    return [*found, p] if p <= 250 else found


# ---------------------------------------------------------------------------------- probes


class TrialTimes(NamedTuple):
    """Seconds of one selection, of one judge at all sizes, and of preparing the table.

    NaN where the method or the judge failed.
    """

    select: float
    judge: float
    prepare: float


#: Called with a method, a judge, sizes, rows, and columns (None: all).
Trial = Callable[[str, str, list[int], np.ndarray, np.ndarray | None], TrialTimes]


@dataclass
class Trials:
    """Comparisons in two folds of few rows, to see how long they take."""

    X: Any
    y: np.ndarray
    task: str
    units: list[np.ndarray] | None
    seed: int

    def __call__(
        self,
        method: str,
        judge: str,
        sizes: list[int],
        rows: np.ndarray,
        columns: np.ndarray | None = None,
    ) -> TrialTimes:
        """Times of one of the two folds; everything is compiled where it was run before."""
        X, units = self.X[rows], self.units
        if columns is not None:
            X, units = X[:, columns], None
        half = X[: len(rows) // 2]
        is_sparse = sparse.issparse(X)
        has_missing = not is_sparse and bool(np.isnan(X).any())
        steps = preparing_steps(has_missing, "auto", is_sparse)
        began = time.perf_counter()
        Pipeline(steps).fit_transform(half)
        prepare = time.perf_counter() - began
        with one_blas_thread(), limit_threads(1):
            found = compare(
                X,
                self.y[rows],
                [method],
                judge,
                sizes=sizes,
                cv=2,
                repeats=1,
                nested=False,
                apparent=False,
                baselines=(),
                scale="auto",
                task=self.task,
                feature_groups=None if units is None else [list(map(int, u)) for u in units],
                n_jobs=1,
                random_state=self.seed,
            )
        if found.status == "interrupted":
            raise interruption()
        return TrialTimes(_mean(found.select_seconds), _mean(found.judge_seconds), prepare)


def _mean(seconds: np.ndarray) -> float:
    known = seconds[np.isfinite(seconds)]
    return float(known.mean()) if known.size else float("nan")


def _probe(
    trial: Trial,
    rows: np.ndarray,
    n_columns: int,
    plan: StudyPlan,
    fixed: Fixed,
    task: str,
    tell: Callable[[str], None],
) -> Costs:
    """Times on a few hundred rows: the less of two, since the first run may compile.

    Rankings are tried on all columns. A judge is tried at all sizes; where all features are judged
    and are more than any size, also with as many columns as a probe can afford. Its time grows with
    their number.
    """
    costs = Costs(len(rows) // 2)  # what is learnt from, with two folds
    wide = n_columns > max(plan.sizes) and "all" in [*fixed.baselines, *plan.methods]
    some = None
    if n_columns > _PROBE_COLUMNS:
        some = np.linspace(0, n_columns - 1, _PROBE_COLUMNS).astype(np.intp)
    scale = 1.0 if some is None else n_columns / len(some)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in plan.methods:
            tell(f"trying {method}")
            times = [trial(method, "tree", [1], rows, None) for _ in range(2)]
            costs.preparing = min(one.prepare for one in times)
            select = min(one.select for one in times)
            if np.isfinite(select):
                costs.methods[method] = select
        first = next(iter(costs.methods), plan.methods[0])
        for judge in plan.judges:
            tell(f"trying the judge {judge}")
            judged = min(trial(first, judge, plan.sizes, rows, None).judge for _ in range(2))
            if np.isfinite(judged):
                costs.judges[judge] = _n_settings(judge, task, "fine") * judged
                if wide:
                    costs.whole[judge] = scale * trial("all", judge, [1], rows, some).judge
    return costs


def _n_settings(judge: str, task: str, level: str) -> int:
    named = judge_name(judge)
    return max(1, len(candidates_of(level, named, make_judge(named, task, True))))


# ------------------------------------------------------------------------------ what fits


class _Workload:
    """How long a plan takes on a table of n rows, by the costs of its first form."""

    def __init__(self, n: int, costs: Costs, workers: int, task: str, first: StudyPlan):
        self.n, self.costs, self.workers = n, costs, workers
        self.n_sizes = max(1, len(first.sizes))
        self.settings = {
            level: {judge: _n_settings(judge, task, level) for judge in first.judges}
            for level in ("fine", "coarse")
        }

    def seconds(self, plan: StudyPlan) -> float:
        """Of the whole plan: its splits, and the rankings on all data."""
        split = self._split(plan, *self._learnt_from(plan))
        once = sum(self._ranking(plan, method, self.n) for method in plan.methods)
        return (plan.cv * plan.repeats * split + once) / self._at_once

    def selecting(self, plan: StudyPlan, method: str) -> float:
        """What one method of the plan takes for all its selections, without any judge."""
        outer, inside = self._learnt_from(plan)
        split = self._ranking(plan, method, outer)
        split += plan.inner * self._ranking(plan, method, inside)
        once = self._ranking(plan, method, self.n)
        return (plan.cv * plan.repeats * split + once) / self._at_once

    @property
    def _at_once(self) -> float:
        """How many times faster the workers are than one."""
        return 1.0 if self.workers == 1 else 0.75 * self.workers

    def _learnt_from(self, plan: StudyPlan) -> tuple[int, int]:
        """Rows of an outer training part, and of one inside it."""
        outer = round(self.n * (plan.cv - 1) / plan.cv)
        inside = round(outer * (plan.inner - 1) / plan.inner)
        return outer, min(inside, plan.limits.get("inner") or inside)

    def _ranking(self, plan: StudyPlan, method: str, n: int) -> float:
        """One selection by a method of the plan, with n rows to learn from."""
        return self.costs.of_method(method, min(n, plan.limits["methods"].get(method, self.n)))

    def _split(self, plan: StudyPlan, outer: int, inside: int) -> float:
        """One outer split, with ``outer`` rows to learn from and ``inside`` in its inner folds."""
        costs = self.costs
        total = costs.of_preparing(outer) + plan.inner * costs.of_preparing(inside)
        for method in plan.methods:
            total += self._ranking(plan, method, outer)
            total += plan.inner * self._ranking(plan, method, inside)
        sizes = len(plan.sizes) / self.n_sizes
        once = 2 if plan.apparent else 1
        for judge in plan.judges:
            most = plan.limits["judges"].get(judge, self.n)
            fine, here = self.settings["fine"][judge], self.settings[plan.tune][judge]
            few, many = min(inside, most), min(outer, most)
            chosen = costs.of_judge(judge, many, once * sizes / fine)
            tried = plan.inner * costs.of_judge(judge, few, sizes * here / fine)
            total += len(plan.methods) * (chosen + tried)
            total += costs.of_whole(judge, many) + plan.inner * here * costs.of_whole(judge, few)
        return total


def _fit_into(plan: StudyPlan, workload: _Workload, fixed: Fixed) -> StudyPlan:
    """Leave out the least important until the plan fits."""
    budget = fixed.time_budget or DEFAULT_BUDGET
    drop = [] if fixed.methods else [_without_a_method(workload)]
    extras = [_coarser, *([] if fixed.repeats else [_fewer_repeats] * (plan.repeats - 1))]
    steps = [
        _fewer_rows,
        *drop,
        *([] if fixed.sizes else [_fewer_sizes]),
        _no_apparent,
        *drop,
        _fewer_rows,
        *([] if fixed.cv else [_fewer_folds(4)]),
        *drop,
        _fewer_rows,
        _fewer_rows,
        *([] if fixed.cv else [_fewer_folds(3)]),
        *([] if fixed.judges else [_without_judge("forest")]),
        _fewer_rows,
        *([] if fixed.judges else [_without_judge("rbf"), _without_judge("boosting")]),
        _fewer_rows,
    ]
    for part, group in ((_EXTRAS, extras), (_FILLED, steps)):
        for step in group:
            if workload.seconds(plan) <= part * budget:
                break
            plan = step(plan)
    plan.seconds = workload.seconds(plan)
    return plan


def _fewer_repeats(plan: StudyPlan) -> StudyPlan:
    return replace(plan, repeats=max(1, plan.repeats - 1))


def _coarser(plan: StudyPlan) -> StudyPlan:
    return replace(plan, tune="coarse")


def _fewer_rows(plan: StudyPlan) -> StudyPlan:
    limits = {
        "judges": {name: _less(most) for name, most in plan.limits["judges"].items()},
        "methods": {name: _less(most) for name, most in plan.limits["methods"].items()},
        "inner": _less(plan.limits["inner"]),
    }
    return replace(plan, limits=limits)


def _less(most: int) -> int:
    return max(400, round(0.6 * most))


def _fewer_sizes(plan: StudyPlan) -> StudyPlan:
    sizes = plan.sizes
    if len(sizes) <= 4:
        return plan
    small = [size for size in sizes if size <= 5]  # where a feature more or less counts
    kept = sorted({*small, *sizes[len(small) + 1 :: 2], sizes[-1]})
    if kept == sizes:
        return plan
    return _without(
        plan,
        "sizes",
        ", ".join(str(size) for size in sizes if size not in kept),
        "fewer numbers of features are tried to save time",
        f"--sizes {','.join(map(str, sizes))}",
        sizes=kept,
    )


def _no_apparent(plan: StudyPlan) -> StudyPlan:
    why = "the error of a careless estimate is not worked out to save time"
    return _without(plan, "apparent error", "", why, "--time-budget SECONDS", apparent=False)


def _fewer_folds(most: int) -> Callable[[StudyPlan], StudyPlan]:
    # an interval from three folds is twice as wide as one from five
    return lambda plan: replace(plan, cv=min(plan.cv, most))


def _without_judge(name: str) -> Callable[[StudyPlan], StudyPlan]:
    def drop(plan: StudyPlan) -> StudyPlan:
        if name not in plan.judges:
            return plan
        rest = [judge for judge in plan.judges if judge != name]
        why = "the plan would not fit into the time"
        return _without(plan, "judge", name, why, f"--judge {','.join(plan.judges)}", judges=rest)

    return drop


def _without_a_method(workload: _Workload) -> Callable[[StudyPlan], StudyPlan]:
    """Give up the slowest method, or the least missed where what they take is hardly different.

    Every method costs the time of its judges, too, which is the same for all.
    """

    def drop(plan: StudyPlan) -> StudyPlan:
        if len(plan.methods) <= 2:
            return plan
        taken = {name: workload.selecting(plan, name) for name in plan.methods}
        gone, why = max(plan.methods, key=taken.__getitem__), "it takes longest, and "
        if taken[gone] < _SLOW * workload.seconds(plan):
            gone = next((name for name in _GIVEN_UP if name in plan.methods), plan.methods[-1])
            why = ""
        rest = [name for name in plan.methods if name != gone]
        why += "the plan would not fit into the time"
        flag = f"--methods {','.join(plan.methods)}"
        return _without(plan, "method", gone, why, flag, methods=rest)

    return drop


def _without_failed(plan: StudyPlan, costs: Costs) -> StudyPlan:
    """The plan without the methods that failed on the rows of the probe, unless all did."""
    if not costs.methods:
        return plan
    for name in [one for one in plan.methods if one not in costs.methods]:
        rest = [one for one in plan.methods if one != name]
        why = "it failed when it was tried on a few hundred rows"
        flag = f"--methods {','.join(plan.methods)}"
        plan = _without(plan, "failed method", name, why, flag, methods=rest)
    return plan


def _without(
    plan: StudyPlan, what: str, name: str, why: str, flag: str, **changes: Any
) -> StudyPlan:
    """The plan with changes, and what they leave out."""
    entry = {"what": what, "name": name, "why": why, "flag": flag}
    return replace(plan, left_out=[*plan.left_out, entry], **changes)
