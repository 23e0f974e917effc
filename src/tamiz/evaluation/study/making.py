"""A study: everything that one question about one table was answered with.

``tamiz select`` and the report are two views of it. It plans what fits into the time, compares all
methods, judges and numbers of features honestly, gives two answers and says why, and keeps what is
needed to repeat it.

Compiling on first use is measured (:class:`~tamiz.runtime.compiling.CompileWatch`), so that it does
not count against a time budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tamiz.base import Selection, Stopwatch
from tamiz.data import Dataset
from tamiz.data.dataset import columns_of
from tamiz.data.errors import listed
from tamiz.evaluation.comparison.arguments import tuned_by_plan, weigh_classes
from tamiz.evaluation.comparison.compare import run_comparison, scaling, scored
from tamiz.evaluation.comparison.result import Comparison
from tamiz.evaluation.comparison.setting import (
    Setting,
    StopSign,
    numbers_of_features,
    sizes_among,
)
from tamiz.evaluation.comparison.show import BASELINES
from tamiz.evaluation.judges import candidates_of, judge_name, make_judge, resolved
from tamiz.evaluation.methods import find_method
from tamiz.evaluation.statistical_tests.permutation import permutation_test
from tamiz.evaluation.study.adjustment import what_changes
from tamiz.evaluation.study.answers import features_of, find_answers
from tamiz.evaluation.study.choice import SMALLEST
from tamiz.evaluation.study.drift import drift_warnings
from tamiz.evaluation.study.plan import (
    DEFAULT_BUDGET,
    USUAL_FOLDS,
    Fixed,
    StudyPlan,
    make_plan,
)
from tamiz.evaluation.study.predictions import (
    card_of,
    final_candidate,
    learning_curve,
    nested_predictions,
    triple_predictions,
)
from tamiz.evaluation.study.result import Study, make_pipeline_for
from tamiz.evaluation.study.standing import find_standing
from tamiz.runtime.compiling import CompileWatch
from tamiz.runtime.progress import Progress
from tamiz.search.splits import TimeFolds
from tamiz.validation import (
    check_level,
    check_resume,
    checked,
    integer_from,
    number_of_jobs,
    optional,
    time_limit,
)

#: A class is rare below this proportion, or below this multiple of an equal proportion.
_RARE, _RARE_MULTIPLE = 0.2, 0.8
#: Fraction of a time budget that the comparison may use; the rest is for what follows.
_COMPARING = 0.85
#: Fraction of the time that selections in halves of the rows may take.
STANDING = 0.1


@checked(
    sizes=numbers_of_features,
    cv=optional(integer_from(2, of="folds")),
    gap=integer_from(0),
    permutations=integer_from(0),
    fdr=optional(check_level),
    n_jobs=number_of_jobs,
    repeats=optional(integer_from(1)),
    scale=scaling,
    scoring=scored,
    tune=tuned_by_plan,
    time_budget=time_limit,
)
def make_study(
    dataset: Dataset,
    methods: Sequence[str] | None = None,
    judges: str | Sequence[str] | None = None,
    *,
    sizes: Sequence[int] | None = None,
    cv: int | None = None,
    repeats: int | None = None,
    gap: int = 0,
    scale: str | None = "auto",
    scoring: str | None = None,
    class_weight: Any = "auto",
    positive: Any = None,
    tune: Any = "auto",
    baselines: Sequence[str] = ("all",),
    permutations: int = 0,
    fdr: float | None = 0.1,
    adjust: Sequence[str] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    time_budget: float | None = None,
    checkpoint: Any = None,
    resume: bool = False,
    verbose: bool | int = 0,
    tell: Callable[[str], None] | None = None,
    command: str | None = None,
) -> Study:
    """Find which features to use, by which method, with which judge, at what honest error.

    All triples of method, judge and number of features compete. Everything is chosen inside the
    training part of each split, and the error of that whole procedure is the honest one.

    Parameters
    ----------
    dataset : Dataset
        From :func:`tamiz.data.load`. ``extras`` may hold "groups", "weights" and the "time" of the
        rows; with times, everything is learned from the past and judged by what came after.
    methods : list of str, optional
        Names of methods (:mod:`tamiz.evaluation.methods`); those that fit into the time by default.
    judges : str or list of str, optional
        Whose errors count: by default a linear machine, an RBF machine, a tree, a forest and, from
        2,000 rows on and with at most 200 columns, boosted trees.
    sizes, cv, repeats : optional
        Numbers of features, folds, and how often these are drawn; planned by default.
    gap : int, default=0
        With times: number of different times before a judged block that are not learned from, as in
        :class:`tamiz.search.TimeFolds`.
    scale, n_jobs, checkpoint, resume, verbose
        As in :func:`tamiz.compare`.
    scoring : str, optional
        A score of scikit-learn. By default accuracy, or balanced accuracy if the rarest class has
        less than 20 % of the rows.
    class_weight : "auto", "balanced", dict or None, default="auto"
        Weights of the classes; "auto" balances them where the score is balanced.
    positive : label, optional
        The class that counts as positive; the second one by default.
    tune : optional
        As in :func:`tamiz.compare`; "auto" takes what the plan says.
    baselines : list of str, default=("all",)
        As in :func:`tamiz.compare`.
    permutations : int, default=0
        Number of label permutations to test whether there is any signal; 0 for no test.
    fdr : float or None, default=0.1
        Rate of false discoveries among the features that one can stand behind
        (:mod:`tamiz.evaluation.study.standing`); None does not look for them.
    adjust : list of str, optional
        Features to adjust the others for, such as age or batch, inside every training part (see
        :func:`tamiz.compare`). They are no features then; categories become indicators.
    random_state : int, default=0
        Seed.
    time_budget : float, optional
        Seconds, compiling apart. By default everything is planned to take about a minute.
    tell : callable, optional
        Called with lines for the user: the plan, that functions are compiled.
    command : str, optional
        How to repeat it, for the report.

    Returns
    -------
    study : Study

    Examples
    --------
    >>> from tamiz.data import load
    >>> from tamiz.evaluation.study import make_study
    >>> study = make_study(load("iris"), ["fisher"], "linear", sizes=[1, 2, 4], repeats=1)
    >>> study.recommended.size <= study.most_accurate.size
    True
    >>> bool(study.honest["error"] < 0.1)
    True
    """
    given = SimpleNamespace(**locals())
    watch = Stopwatch()
    covariates = _take_covariates(given)
    fixed = _read(given)
    problem = replace(_Prepared.of(given.dataset, positive), covariates=covariates)
    measure = _measure(problem, scoring, class_weight)
    stop = StopSign()
    with CompileWatch(compiled=stop.extend) as compiled:
        plan = _plan(problem, fixed, given, tell or (lambda text: None))
        free = fixed == Fixed(
            time_budget=time_budget, ordered=fixed.ordered, n_groups=fixed.n_groups
        )
        budget = time_budget or (1.4 * DEFAULT_BUDGET if free else None)
        if budget is not None:
            left = budget - (watch.seconds - compiled.seconds if time_budget else 0.0)
            stop.deadline = time.monotonic() + max(1.0, _COMPARING * left)
        found, setting = _compare(problem, plan, measure, given, stop)
        study = _study(problem, plan, measure, given, found)
        if stop.deadline is not None and budget is not None:
            stop.deadline += 0.1 * budget
        try:
            if _answer(study, setting, problem):
                _add_details(study, setting, problem, planned=tune == "auto")
                _add_standing(study, setting, given, budget)
                if setting.covariates is not None:
                    study.adjustment = what_changes(study, setting)
                if permutations and study.recommended is not None and problem.classes is not None:
                    _add_permutations(study, problem, given)
        except KeyboardInterrupt:
            study.status = "cut short"
            study.notes.append("Interrupted: some of what is shown beside the answers is missing.")
    study.seconds, study.compiling = watch.seconds, compiled.seconds
    return study


def _take_covariates(given: Any) -> np.ndarray | None:
    """Take the features to adjust for out of the data set, and return them as numbers."""
    data, adjust = given.dataset, given.adjust
    if adjust is None:
        return None
    names = given.adjust = [adjust] if isinstance(adjust, str) else list(adjust)
    if sparse.issparse(data.X):
        raise ValueError("adjust= needs a dense table: residuals of a sparse one are not sparse.")
    for name in names:
        if name not in data.feature_names:
            why = "" if name not in data.aside else f"; it was set aside ({data.aside[name]})"
            raise ValueError(
                f"adjust names {name!r}, which is no feature{why}. There are "
                f"{listed(data.feature_names)}."
            )
    known = data.keep(names)
    if known.n_features == data.n_features:
        raise ValueError("adjust= names every feature; none is left.")
    known = known.encode("onehot") if known.levels else known
    given.dataset = data.drop(names)
    return np.asarray(known.X)


def _read(given: Any) -> Fixed:
    """Check the arguments; what the user has fixed of the plan."""
    check_resume(given.resume, given.checkpoint)
    if given.dataset.y is None:
        raise ValueError("a study needs a target; load the table with target=NAME.")
    methods, judges, sizes = given.methods, given.judges, given.sizes
    ordered = "time" in given.dataset.extras
    if ordered and "groups" in given.dataset.extras:
        raise ValueError(
            "groups= and time= cannot be combined: splits either keep groups together or follow "
            "the order of time. Name one of them."
        )
    if given.gap and not ordered:
        raise ValueError(
            f"gap={given.gap} needs time=: it is the number of different times before a judged "
            "block that are not learned from. Name the column of times, or leave gap= out."
        )
    if ordered and (given.repeats or 1) > 1:
        raise ValueError(
            f"repeats={given.repeats} does not go with time=: splits in the order of time are "
            "always the same."
        )
    fixed = Fixed(
        None if methods is None else [find_method(name).name for name in methods],
        None if judges is None else [judges] if isinstance(judges, str) else list(judges),
        None if sizes is None else sizes_among(sizes, given.dataset.n_features).tolist(),
        given.cv,
        given.repeats,
        given.time_budget,
        tuple([given.baselines] if isinstance(given.baselines, str) else given.baselines or ()),
        ordered,
        _count_groups(given.dataset.extras.get("groups"), given.cv),
    )
    for judge in fixed.judges or ():
        judge_name(judge)
    return fixed


#: Two to learn from, which are folds inside, and one to judge by.
_FEWEST_GROUPS = 3


def _count_groups(groups: Any, cv: int | None) -> int | None:
    """How many groups there are; refuses too few for folds, before anything is planned."""
    if groups is None:
        return None
    n = len(np.unique(groups))
    if n < (cv or _FEWEST_GROUPS):
        wanted = (
            f"cv={cv} folds need {cv} groups" if cv else f"a study needs {_FEWEST_GROUPS} groups"
        )
        raise ValueError(f"{wanted}; there {'is' if n == 1 else 'are'} {n}.")
    return n


def _plan(problem: _Prepared, fixed: Fixed, given: Any, say: Callable[[str], None]) -> StudyPlan:
    """What fits into the time; it is announced before it runs."""
    with Progress("plan", given.verbose) as progress:
        plan = make_plan(
            problem.X,
            problem.y,
            task=problem.task,
            units=problem.units,
            fixed=fixed,
            n_jobs=given.n_jobs,
            seed=given.random_state,
            tell=progress.update,
        )
    say(f"plan: {plan.describe()}")
    for one in plan.left_out:
        if one["what"] in ("method", "failed method", "judge"):
            what = "the judge " if one["what"] == "judge" else ""
            say(f"left out: {what}{one['name']}, since {one['why']}; {one['flag']} includes it")
    return plan


def _compare(
    problem: _Prepared, plan: StudyPlan, measure: _Measure, given: Any, stop: StopSign
) -> tuple[Comparison, Setting]:
    """The comparison that was planned."""
    judges = {
        judge: make_judge(judge_name(judge), problem.task, given.scale is not None)
        for judge in plan.judges
    }
    found, setting = run_comparison(
        problem.X,
        problem.y,
        [*plan.methods],
        judges,
        sizes=plan.sizes,
        cv=TimeFolds(plan.cv, gap=given.gap) if plan.ordered else plan.cv,
        repeats=plan.repeats,
        scoring=measure.scoring,
        scale=given.scale,
        tune=plan.tune if given.tune == "auto" else given.tune,
        rule="1se",
        nested=plan.inner,
        apparent=True if plan.apparent else "rank",
        baselines=given.baselines,
        task=problem.task,
        groups=problem.times if plan.ordered else problem.groups,
        sample_weight=problem.weight,
        class_weight=measure.class_weight,
        feature_groups=problem.feature_groups,
        adjust=problem.covariates,
        limits=plan.limits,
        n_jobs=given.n_jobs,
        prefer="threads",
        random_state=given.random_state,
        checkpoint=given.checkpoint,
        resume=given.resume,
        verbose=given.verbose,
        stop=stop,
    )
    found.names = list(problem.names)
    return found, setting


def _study(
    problem: _Prepared, plan: StudyPlan, measure: _Measure, given: Any, found: Comparison
) -> Study:
    """The study before its answers."""
    return Study(
        dataset=given.dataset,
        selections=_selections(found),
        comparison=found,
        plan=plan,
        status=_status(found),
        warnings=[one.to_dict() for one in given.dataset.warnings] + _few_rows(problem, plan),
        params={
            "methods": found.methods,
            "judges": found.judges,
            "sizes": found.sizes.tolist(),
            "cv": plan.cv,
            "repeats": plan.repeats,
            "scale": given.scale,
            **measure._asdict(),
            "limits": plan.limits,
            **({"gap": given.gap} if given.gap else {}),
            **({} if given.adjust is None else {"adjust": given.adjust}),
        },
        classes=problem.classes,
        command=given.command,
        seed=given.random_state,
        notes=list(found.notes),
    )


def _few_rows(problem: _Prepared, plan: StudyPlan) -> list[dict[str, Any]]:
    """A warning of classes that have fewer rows than there are folds as a rule."""
    if problem.classes is None:
        return []
    counts = zip(problem.classes, np.bincount(problem.y).tolist(), strict=True)
    few = [f"{name!r} ({n})" for name, n in counts if n < USUAL_FOLDS]
    if not few:
        return []
    text = (
        f"Classes of fewer than {USUAL_FOLDS} rows: {', '.join(few)}. What is said about them, and "
        f"every error that counts them, is very uncertain; there are {plan.cv} folds. Leave their "
        "rows out, or join them with another class."
    )
    return [{"code": "few_rows", "columns": [], "text": text}]


class _Measure(NamedTuple):
    """The score, the weights of the classes, and whether a class is rare."""

    scoring: Any
    class_weight: Any
    skewed: bool


@dataclass
class _Prepared:
    """A data set as the machines get it."""

    X: Any
    y: np.ndarray
    task: str
    units: list[np.ndarray] | None
    classes: list[str] | None  # names in the order of the codes; the positive one is the second
    positive: str | None
    groups: Any
    times: Any
    weight: Any
    names: list[str]
    covariates: Any = None

    @classmethod
    def of(cls, data: Dataset, positive: Any) -> _Prepared:
        encoded = data.encode("onehot") if data.levels else data
        task = data.task or "classification"
        y, classes, chosen = np.asarray(data.y), None, None
        if task == "classification":
            labels, codes = np.unique(y, return_inverse=True)
            names = data.target_names or [str(label) for label in labels]
            classes, y = list(names), codes.astype(np.int64)
            if len(labels) == 2:
                chosen = _positive(positive, classes, labels)
                if chosen == 0:
                    classes, y = classes[::-1], 1 - y
            elif positive is not None:
                raise ValueError(
                    f"positive={positive!r} needs two classes; there are {len(labels)}."
                )
        return cls(
            encoded.X,
            y,
            task,
            columns_of(data) if data.levels else None,
            classes,
            None if chosen is None or classes is None else classes[1],
            data.extras.get("groups"),
            data.extras.get("time"),
            data.extras.get("weights"),
            list(data.feature_names),
        )

    @property
    def feature_groups(self) -> dict[str, list[int]] | None:
        """Columns of each feature that has several."""
        if self.units is None:
            return None
        return {
            name: columns.tolist()
            for name, columns in zip(self.names, self.units, strict=True)
            if len(columns) > 1
        }

    def n_columns(self, features: list[int]) -> int:
        """Number of columns that some features have."""
        if self.units is None:
            return len(features)
        return int(sum(len(self.units[j]) for j in features))


def _positive(given: Any, names: list[str], labels: np.ndarray) -> int:
    """The place of the positive class; the second by default."""
    if given is None:
        return 1
    known = [str(given) in (name, str(label)) for name, label in zip(names, labels, strict=True)]
    if sum(known) != 1:
        raise ValueError(f"positive={given!r} is no class; use {names[0]!r} or {names[1]!r}.")
    return known.index(True)


def _measure(problem: _Prepared, scoring: Any, class_weight: Any) -> _Measure:
    if problem.classes is None:
        return _Measure(scoring, None, False)
    counts = np.bincount(problem.y)
    skewed = bool(counts.min() / counts.sum() < min(_RARE, _RARE_MULTIPLE / len(counts)))
    if scoring is None:
        scoring = "balanced_accuracy" if skewed else "accuracy"
    if isinstance(class_weight, str) and class_weight == "auto":
        class_weight = "balanced" if scoring == "balanced_accuracy" else None
    if isinstance(class_weight, dict):
        unknown = next((k for k in class_weight if str(k) not in problem.classes), None)
        if unknown is not None:
            raise ValueError(
                f"class_weight names {unknown!r}, which is no class; there are "
                f"{', '.join(map(repr, problem.classes))}."
            )
        class_weight = {problem.classes.index(str(k)): v for k, v in class_weight.items()}
    return _Measure(scoring, class_weight, skewed)


def _status(found: Comparison) -> str:
    """A run that has finished a repeat of all that was planned is complete."""
    if found.status == "complete":
        return "complete"
    first = found.repeat == found.repeat[0]
    done = np.isfinite(found.select_seconds)
    ended = found.status == "time budget" and bool(done[:, first].all())
    if ended:
        n_repeats = sum(
            bool(done[:, found.repeat == repeat].all()) for repeat in np.unique(found.repeat)
        )
        found.notes.append(
            f"The time allowed {n_repeats} of {len(np.unique(found.repeat))} repeats."
        )
    return "complete" if ended else "cut short"


def _selections(found: Comparison) -> dict[str, Selection]:
    """The rankings on all data."""
    made = {}
    for name, order in found.whole_orders.items():
        if name in BASELINES:
            continue
        support = np.zeros(found.n_features, dtype=bool)
        own = found.whole_selections.get(name)
        support[order[: max(1, found.n_features // 2)] if own is None else own] = True
        made[name] = Selection(
            order=order,
            support=support,
            scores=found.whole_scores.get(name),
            names=list(found.names),
            method=find_method(name).class_name,
            params={},
            path=[],
            seconds=0.0,
        )
    return made


def _answer(study: Study, setting: Setting, problem: _Prepared) -> bool:
    """Both answers; whether there is anything to show beside them."""
    found = study.comparison
    assert found is not None
    constant = np.array(
        [
            setting.metric.of_constant(
                setting.y[part.train],
                setting.y[part.test],
                *(
                    None if setting.weight is None else setting.weight[rows]
                    for rows in (part.test, part.train)
                ),
            )
            for part in setting.parts
        ]
    )
    answers = find_answers(found, constant, problem.n_columns)
    if answers is None:
        study.status = "cut short"
        return False
    study.answers = answers
    study.most_accurate = answers.most_accurate
    study.recommended = answers.smallest if answers.signal else None
    best = study.recommended or answers.most_accurate  # what changes may not predict
    study.warnings += drift_warnings(study.dataset, best.features)
    shown = answers.smallest
    study.honest = {
        "error": shown.error,
        "low": shown.low,
        "high": shown.high,
        "metric": found.metric,
        "without_features": float(np.mean(answers.constant)),
        "pvalue": answers.pvalue,
        "n_splits": len(answers.contest.splits),
    }
    _add_agreement(study)
    return found.status != "interrupted"


def _add_details(study: Study, setting: Setting, problem: _Prepared, planned: bool) -> None:
    """Final parameters of the judges, predictions of the test parts, and a learning curve."""
    answers, found = study.answers, study.comparison
    assert answers is not None and found is not None
    contest = answers.contest
    _settle_judges(study, setting, problem, planned)
    if problem.classes is not None:
        study.predictions = nested_predictions(setting, answers.nested[SMALLEST])
        if study.predictions is not None:
            study.card = card_of(
                study.predictions, problem.classes, problem.positive, found.confidence
            )
    place = contest.choice.smallest
    if study.recommended is not None and found.status == "complete":
        study.learning = learning_curve(
            setting, found, contest.triples[place], contest.places[place]
        )


def _add_standing(study: Study, setting: Setting, given: Any, budget: float | None) -> None:
    """Features that come back in nearly every half of the rows, as far as there is time."""
    if given.fdr is None or study.recommended is None or study.comparison is None:
        return
    seconds = STANDING * (budget or DEFAULT_BUDGET)
    if given.time_budget is None:
        seconds *= 4  # the table decides what is asked, and the clock only if that goes wrong
    elif setting.stop.deadline is not None:
        seconds = min(seconds, setting.stop.deadline - time.monotonic())
    lead = study.recommended.method
    study.standing = find_standing(
        setting, study.comparison, lead, given.fdr, seconds, given.n_jobs, given.verbose
    )
    if study.standing is None:
        study.notes.append(
            "Features to stand behind were not looked for: there was no time, or a class has too "
            "few rows or groups for two halves."
        )
    elif study.standing.left_out:
        names = ", ".join(study.standing.left_out)
        study.notes.append(
            f"For features to stand behind {names} could not be asked: there was no time."
        )


def _settle_judges(study: Study, setting: Setting, problem: _Prepared, planned: bool) -> None:
    """The parameters of the judge of each answer, and its predictions of the test parts.

    ``planned``: the grids of the judges are ours, so that the final tuning may take the finer ones.
    """
    answers, found = study.answers, study.comparison
    assert answers is not None and found is not None
    contest = answers.contest
    done: dict[int, tuple[Any, Any]] = {}
    for one, place in (
        (answers.smallest, contest.choice.smallest),
        (answers.most_accurate, contest.choice.best),
    ):
        if place not in done:
            judge = contest.triples[place].judge
            candidates = setting.candidates[judge]
            if planned:
                candidates = candidates_of("fine", judge, setting.judges[judge])
            best = final_candidate(setting, contest, place, candidates, study.notes)
            made = None
            if problem.classes is not None:
                made = triple_predictions(setting, contest, place, best)
            done[place] = best, made
        best, made = done[place]
        if best is not None:
            width = problem.n_columns(features_of(found, contest.triples[place]))
            one.params.update(resolved(best, width))
        if made is not None:
            study.decisions[one.answer] = made


def _add_agreement(study: Study) -> None:
    """Stability of every method at the size of the answer, and whether methods differ."""
    found, answers = study.comparison, study.answers
    assert found is not None and answers is not None
    best = answers.smallest
    for name in found.methods:
        if name in BASELINES:
            continue
        own = name == best.method and best.kind == "own"
        try:
            study.stability[name] = found.stability(name, "own" if own else best.size)
        except ValueError as error:
            study.notes.append(f"Stability of {name}: {error}")
    try:
        study.significance = found.significance(judge=best.judge)
    except ValueError as error:
        study.notes.append(f"Significance: {error}")


def _add_permutations(study: Study, problem: _Prepared, given: Any) -> None:
    """Whether the recommended pipeline does better than with shuffled labels."""
    best, params = study.recommended, study.params
    assert best is not None
    if problem.covariates is not None:
        study.notes.append("There is no permutation test of features that were adjusted.")
        return
    if problem.groups is not None or problem.times is not None:
        alike = "rows of a group" if problem.times is None else "neighbours in time"
        study.notes.append(
            f"There is no permutation test: {alike} are alike, and shuffled labels are not."
        )
        return
    table = study.dataset.encode("onehot") if study.dataset.levels else study.dataset
    size = None if best.method == "all" or best.kind == "own" else best.size
    model = make_pipeline_for(table, best.method, best.judge, size, params["scale"], study.seed)
    model["judge"].set_params(**best.params)
    if params["class_weight"] is not None:
        weigh_classes(model["judge"], params["class_weight"])
    study.permutation = permutation_test(
        model,
        problem.X,
        problem.y,
        cv=params["cv"],
        n_permutations=given.permutations,
        scoring=params["scoring"],
        sample_weight=problem.weight,
        n_jobs=given.n_jobs,
        random_state=study.seed,
        verbose=given.verbose,
    )
    study.notes.append(
        "The permutation test selects features anew for every shuffle, but the method and the "
        "number of features were chosen with the true labels: its p-value is a little too small."
    )
