"""A study: everything that one question about one table was answered with.

``tamiz select`` and the report are two views of it. It plans what fits into the time, compares all
methods, judges and numbers of features honestly, gives two answers and says why, and keeps what is
needed to repeat it.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from tamiz._compiling import CompileWatch
from tamiz._parallel import refuse_no_jobs
from tamiz._progress import Progress
from tamiz.base import Selection, Stopwatch, _plain
from tamiz.data import Dataset
from tamiz.data.encoding import columns_of
from tamiz.evaluation._compare_select import preparing_steps
from tamiz.evaluation._compare_setting import Setting, StopSign
from tamiz.evaluation._compare_text import BASELINES
from tamiz.evaluation._intervals import check_count
from tamiz.evaluation._plan import check_sizes
from tamiz.evaluation.choice import MOST_ACCURATE, SMALLEST
from tamiz.evaluation.compare import run_comparison
from tamiz.evaluation.comparison import Comparison
from tamiz.evaluation.judges import judge_name, make_judge
from tamiz.evaluation.methods import find_method
from tamiz.evaluation.permutation import permutation_test
from tamiz.evaluation.study.answers import Answers, Recommendation, find_answers
from tamiz.evaluation.study.plan import DEFAULT_BUDGET, Fixed, Plan, make_plan
from tamiz.evaluation.study.predictions import (
    LearningCurve,
    Predictions,
    card_of,
    learning_curve,
    nested_predictions,
)
from tamiz.evaluation.study.whole import Whole

#: The rarest class is rare below this proportion, or below this many times an equal share.
_RARE, _RARE_SHARE = 0.2, 0.8
#: The part of a time budget after which no more is compared: what follows takes its time too.
_COMPARING = 0.85


#: Trees of the forest that is kept.
_FINAL_TREES = 300


@dataclass(repr=False)
class Study:
    """What is known about a table after a study.

    Attributes
    ----------
    dataset : Dataset
        The table, or a sample of its rows. Categories are codes; they count as one feature each.
    selections : dict of str to Selection
        For every method, its ranking of all data.
    comparison : Comparison or None
        The honest errors of all methods, judges and sizes.
    answers : Answers or None
        Both answers and what they rest on.
    recommended, most_accurate : Recommendation or None
        The smallest subset that is good enough, and the most accurate one. ``recommended`` is None
        if nothing is better than no feature at all.
    honest : dict
        The error of the whole procedure that recommends: ``error``, ``low``, ``high``, ``metric``.
    warnings : list of dict
        Leaks, rare classes, identifiers and the like: ``code``, ``columns``, ``text``.
    plan : Plan or None
        What was planned, how long it should have taken, and what was left out.
    status : {"complete", "cut short"}
        Whether all that was planned is there.
    card : ReportCard or None
        Predictions of the recommended procedure for samples that took no part.
    predictions, accurate_predictions : Predictions or None
        These predictions, and those of the procedure that gives the most accurate answer.
    classes : list of str or None
        Names of the classes in the order of the codes that predictions hold; of two, the second is
        the positive one.
    learning : LearningCurve or None
        The recommended answer with fewer samples.
    tuning : Tuning or None
        The map of the judge's parameters.
    stability : dict of str to Stability
        How much the selections of the splits agree.
    significance : Significance or None
        Whether the methods differ beyond chance.
    permutation : PermutationTest or None
        Whether there is any signal at all.
    params, command, seed, versions, created
        What is needed to repeat it.
    notes : list of str
        What a reader should know.
    seconds, compiling : float
        Time that it took, and the part of it that went into compiling.
    whole : Whole or None
        What is known of all rows, if the data set is a sample of them.
    """

    dataset: Dataset
    selections: dict[str, Selection]
    comparison: Comparison | None = None
    answers: Answers | None = None
    recommended: Recommendation | None = None
    most_accurate: Recommendation | None = None
    honest: dict[str, Any] = field(default_factory=dict)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    plan: Plan | None = None
    status: str = "complete"
    card: Any = None
    predictions: Predictions | None = None
    accurate_predictions: Predictions | None = None
    classes: list[str] | None = None
    learning: LearningCurve | None = None
    tuning: Any = None
    stability: dict[str, Any] = field(default_factory=dict)
    significance: Any = None
    permutation: Any = None
    params: dict[str, Any] = field(default_factory=dict)
    command: str | None = None
    seed: int | None = None
    versions: dict[str, str] = field(default_factory=dict)
    created: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    compiling: float = 0.0
    whole: Whole | None = None

    def __post_init__(self) -> None:
        self.versions = self.versions or versions()
        self.created = self.created or datetime.now().isoformat(timespec="seconds")

    def __repr__(self) -> str:
        found = self.recommended
        said = "" if found is None else f", recommends {found.size} features by {found.method}"
        return f"<Study of {self.dataset.name or 'a table'}: {len(self.selections)} methods{said}>"

    @property
    def no_signal(self) -> bool:
        """Whether the features were compared and nothing is better than no feature at all."""
        return self.answers is not None and not self.answers.signal

    def pipeline(self, answer: str = SMALLEST) -> Pipeline:
        """The way from the features of an answer to predictions, not fitted.

        Parameters
        ----------
        answer : {"smallest", "most accurate"}, default="smallest"
            Which answer.

        Returns
        -------
        pipeline : Pipeline
            Takes the columns of the answer's ``features``, categories as indicators, as
            ``dataset.keep(features).encode("onehot").X`` has them.
        """
        best = self.recommended if answer == SMALLEST else self.most_accurate
        if best is None:
            raise ValueError("the study recommends nothing; see its status and warnings.")
        model = make_pipeline_for(
            self.dataset, "all", best.judge, None, self.params.get("scale"), self.seed
        )
        last = model["judge"]
        last.set_params(**best.params)
        if judge_name(best.judge) == "forest":  # more trees than it was judged with: only better
            last.set_params(n_estimators=_FINAL_TREES)
        if self.params.get("class_weight") and "class_weight" in last.get_params():
            last.set_params(class_weight=self.params["class_weight"])
        return model

    def out_of_fold(self, answer: str = SMALLEST) -> tuple[np.ndarray, np.ndarray] | None:
        """Decision values of samples that took no part, and their labels, for probabilities.

        Values are positive for the second of the sorted labels, or have a column for each label.
        None if there are none.
        """
        made = self.predictions if answer == SMALLEST else self.accurate_predictions
        if made is None or made.values is None or self.classes is None:
            return None
        y = np.asarray(self.dataset.y)
        labels = y[made.rows]
        names = self.dataset.target_names or [str(label) for label in np.unique(y)]
        flipped = len(self.classes) == 2 and self.classes[0] != names[0]
        return (-made.values if flipped else made.values), labels

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        data = self.dataset
        parts = {
            "comparison": self.comparison,
            "card": self.card,
            "tuning": self.tuning,
            "significance": self.significance,
            "permutation": self.permutation,
        }
        answers = {"recommended": self.recommended, "most_accurate": self.most_accurate}
        return {
            "data": {
                "name": data.name,
                "target": data.target,
                "task": data.task,
                "roles": data.roles,
                "aside": data.aside,
                **(self.whole or Whole.of(data)).to_dict(),
                "notes": data.notes,
            },
            **{
                name: None if one is None else _plain(one.to_dict())
                for name, one in answers.items()
            },
            "honest": _plain(self.honest),
            "status": self.status,
            "warnings": self.warnings,
            "plan": None if self.plan is None else _plain(self.plan.to_dict()),
            "boundary": None if self.answers is None else _plain(self.answers.boundary),
            "front": _front(self.answers),
            "learning": None if self.learning is None else _plain(self.learning._asdict()),
            "rankings": {name: one.to_dict() for name, one in self.selections.items()},
            "stability": {name: one.to_dict() for name, one in self.stability.items()},
            **{name: None if part is None else part.to_dict() for name, part in parts.items()},
            "params": _plain(self.params),
            "command": self.command,
            "seed": self.seed,
            "versions": self.versions,
            "created": self.created,
            "notes": self.notes,
            "seconds": self.seconds,
            "compiling": self.compiling,
        }


def _front(answers: Answers | None) -> list[dict[str, Any]]:
    """The trade-off between error and number of features."""
    if answers is None:
        return []
    contest = answers.contest
    return [
        {**contest.triples[t]._asdict(), "error": float(contest.choice.means[t])}
        for t in contest.pareto()
    ]


def make_study(
    dataset: Dataset,
    methods: Sequence[str] | None = None,
    judges: str | Sequence[str] | None = None,
    *,
    sizes: Sequence[int] | None = None,
    cv: int | None = None,
    repeats: int | None = None,
    scale: str | None = "auto",
    scoring: str | None = None,
    class_weight: Any = "auto",
    positive: Any = None,
    tune: Any = "auto",
    baselines: Sequence[str] = ("all",),
    permutations: int = 0,
    n_jobs: int | None = None,
    random_state: int = 0,
    time_budget: float | None = None,
    checkpoint: Any = None,
    resume: bool = False,
    verbose: bool | int = 0,
    tell: Callable[[str], None] | None = None,
    command: str | None = None,
) -> Study:
    """Find which features to use, by which method, before which judge, with an honest error.

    All triples of method, judge and number of features compete. Everything is chosen inside the
    training part of each split, and the error of that whole procedure is the honest one.

    Parameters
    ----------
    dataset : Dataset
        From :func:`tamiz.data.load`. ``extras`` may hold "groups" and "weights" of the rows.
    methods : list of str, optional
        Names of methods (:mod:`tamiz.evaluation.methods`); those that fit into the time by default.
    judges : str or list of str, optional
        Whose errors count: by default a linear machine, an RBF machine, a tree and a forest.
    sizes, cv, repeats : optional
        Numbers of features, folds, and how often these are drawn; planned by default.
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
        Number of label permutations that tell whether there is any signal; 0 for none.
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
    watch = Stopwatch()
    permutations = check_count("permutations", permutations, 0)
    refuse_no_jobs(n_jobs)
    if repeats is not None:
        repeats = check_count("repeats", repeats, 1)
    if time_budget is not None and not time_budget > 0:
        raise ValueError(f"time_budget={time_budget!r} must be a positive number of seconds.")
    if sizes is not None:
        sizes = check_sizes(sizes, dataset.n_features).tolist()
    if dataset.y is None:
        raise ValueError("a study needs a target; load the table with target=NAME.")
    say = tell or (lambda text: None)
    problem = _Problem.of(dataset, positive)
    scoring, weights, skewed = _measure(problem, scoring, class_weight)
    fixed = Fixed(
        None if methods is None else [find_method(name).name for name in methods],
        None if judges is None else [judges] if isinstance(judges, str) else list(judges),
        sizes,
        cv,
        repeats,
        time_budget,
    )
    for judge in fixed.judges or ():
        judge_name(judge)
    stop = StopSign()
    with CompileWatch(lambda: say(_COMPILING), stop.extend) as compiled:
        with Progress("plan", verbose) as progress:
            plan = make_plan(
                problem.X,
                problem.y,
                task=problem.task,
                units=problem.units,
                fixed=fixed,
                n_jobs=n_jobs,
                seed=random_state,
                tell=progress.update,
            )
        say(f"plan: {plan.describe()}")
        for one in plan.left_out:
            if one["what"] in ("method", "judge"):
                what = "" if one["what"] == "method" else "the judge "
                say(f"left out: {what}{one['name']}, since {one['why']}; {one['flag']} includes it")
        free = fixed == Fixed(time_budget=time_budget)
        budget = time_budget or (1.4 * DEFAULT_BUDGET if free else None)
        if budget is not None:
            left = budget - (watch.seconds - compiled.seconds if time_budget else 0.0)
            stop.deadline = time.monotonic() + max(1.0, _COMPARING * left)
        found, setting = run_comparison(
            problem.X,
            problem.y,
            [*plan.methods],
            {judge: make_judge(judge_name(judge), problem.task, True) for judge in plan.judges},
            sizes=plan.sizes,
            cv=plan.cv,
            repeats=plan.repeats,
            scoring=scoring,
            scale=scale,
            tune=plan.tune if tune == "auto" else tune,
            rule="1se",
            nested=plan.inner,
            apparent=True if plan.apparent else "rank",
            baselines=baselines,
            task=problem.task,
            groups=problem.groups,
            sample_weight=problem.weight,
            class_weight=weights,
            feature_groups=problem.feature_groups,
            limits=plan.limits,
            n_jobs=n_jobs,
            prefer="threads",
            random_state=random_state,
            checkpoint=checkpoint,
            resume=resume,
            verbose=verbose,
            stop=stop,
        )
        found.names = list(dataset.feature_names)
        study = Study(
            dataset=dataset,
            selections=_selections(found),
            comparison=found,
            plan=plan,
            status=_status(found),
            warnings=[one.to_dict() for one in dataset.warnings],
            params={
                "methods": found.methods,
                "judges": found.judges,
                "sizes": found.sizes.tolist(),
                "cv": plan.cv,
                "repeats": plan.repeats,
                "scale": scale,
                "scoring": scoring,
                "class_weight": weights,
                "skewed": skewed,
                "limits": plan.limits,
            },
            command=command,
            seed=random_state,
            notes=list(found.notes),
        )
        if budget is not None:
            stop.deadline = None if stop.deadline is None else stop.deadline + 0.1 * budget
        _answer(study, setting, problem)
        if permutations and study.recommended is not None and problem.classes is not None:
            _add_permutations(study, plan.cv, permutations, n_jobs, random_state, verbose)
    study.seconds, study.compiling = watch.seconds, compiled.seconds
    return study


_COMPILING = (
    "compiling, once: functions are prepared for this machine and kept; the first run takes a "
    "minute longer"
)


@dataclass
class _Problem:
    """A data set as the machines get it."""

    X: Any
    y: np.ndarray
    task: str
    units: list[np.ndarray] | None
    classes: list[str] | None  # names in the order of the codes; the positive one is the second
    positive: str | None
    groups: Any
    weight: Any
    names: list[str]

    @classmethod
    def of(cls, data: Dataset, positive: Any) -> _Problem:
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


def _measure(problem: _Problem, scoring: Any, class_weight: Any) -> tuple[Any, Any, bool]:
    """The score, the weights of the classes, and whether a class is rare."""
    if problem.classes is None:
        return scoring, None, False
    counts = np.bincount(problem.y)
    skewed = bool(counts.min() / counts.sum() < min(_RARE, _RARE_SHARE / len(counts)))
    if scoring is None:
        scoring = "balanced_accuracy" if skewed else "accuracy"
    if isinstance(class_weight, str) and class_weight == "auto":
        class_weight = "balanced" if scoring == "balanced_accuracy" else None
    if isinstance(class_weight, dict):
        class_weight = {problem.classes.index(str(k)): v for k, v in class_weight.items()}
    return scoring, class_weight, skewed


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


def _answer(study: Study, setting: Setting, problem: _Problem) -> None:
    """Both answers, and what is shown beside them."""
    found = study.comparison
    assert found is not None
    constant = np.array(
        [
            setting.metric.of_constant(
                setting.y[part.train],
                setting.y[part.test],
                None if setting.weight is None else setting.weight[part.test],
            )
            for part in setting.parts
        ]
    )
    answers = find_answers(found, constant, problem.n_columns)
    if answers is None:
        study.status = "cut short"
        return
    study.answers = answers
    study.most_accurate = answers.most_accurate
    study.recommended = answers.smallest if answers.signal else None
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
    if found.status == "interrupted":
        return
    study.classes = problem.classes
    if problem.classes is not None:
        study.predictions = nested_predictions(setting, answers.nested[SMALLEST])
        study.accurate_predictions = nested_predictions(setting, answers.nested[MOST_ACCURATE])
        if study.predictions is not None:
            study.card = card_of(
                study.predictions, problem.classes, problem.positive, found.confidence
            )
    place = answers.contest.choice.smallest
    if study.recommended is not None and found.status == "complete":
        study.learning = learning_curve(
            setting, found, answers.contest.triples[place], answers.contest.places[place]
        )


# -------------------------------------------------------------------------------- the parts


def rank_all(
    dataset: Dataset,
    methods: Sequence[str],
    scale: str | None,
    random_state: int,
    *,
    verbose: bool | int = 0,
    notes: list[str] | None = None,
) -> dict[str, Selection]:
    """The ranking of all data by each method, in a table prepared as the judges get it.

    With a list of ``notes``, a method that fails is noted there and left out, and so are those that
    Ctrl-C leaves no time for: what was compared before is not lost.
    """
    X = dataset.X
    for _, step in preparation(dataset, scale):
        X = step.fit_transform(X)
    found: dict[str, Selection] = {}
    with Progress("rank", verbose) as progress:
        for name in methods:
            progress.update(f"{len(found)} of {len(methods)} methods on all data ({name})")
            try:
                selector = _selector(dataset, name, None, random_state)
                selector.fit(X, dataset.y)
            except KeyboardInterrupt:
                if notes is None:
                    raise
                notes.append(f"Interrupted in the ranking of all data by {name}.")
                break
            except Exception as error:
                if notes is None:
                    raise
                notes.append(f"The ranking of all data by {name} failed: {error}")
                continue
            selector.selection_.names = list(dataset.feature_names)
            found[name] = selector.selection_
    return found


def make_pipeline_for(
    dataset: Dataset, method: str, judge: str, size: int | None, scale: str | None, seed: int | None
) -> Pipeline:
    """Preparation, selector and judge in a row; ``size=None`` leaves the number to the method.

    Gaps are filled even if the table has none, since new tables may have some. Without selection
    (``method="all"``) there is no step for it.
    """
    task = dataset.task or "classification"
    dense = not sparse.issparse(dataset.X)
    steps = preparation(dataset, scale, gaps=dense or None)
    if find_method(method).name != "all":
        steps.append(("select", _selector(dataset, method, size, seed)))
    elif size is not None:
        raise ValueError(f"{method!r} takes every feature; leave out the number {size}.")
    last = make_judge(judge_name(judge), task, scale is not None)
    if "random_state" in last.get_params():
        last.set_params(random_state=seed)
    return Pipeline([*steps, ("judge", last)])


def preparation(
    dataset: Dataset, scale: str | None, *, gaps: bool | None = None
) -> list[tuple[str, Any]]:
    """What happens to a table before a selector sees it: gaps filled, features scaled.

    ``gaps`` says whether gaps are filled; by default if there are some.
    """
    has_gaps = bool(np.sum(dataset.missing))
    return preparing_steps(has_gaps if gaps is None else gaps, scale, sparse.issparse(dataset.X))


def _selector(dataset: Dataset, name: str, size: int | None, seed: int | None) -> Any:
    method = find_method(name)
    params: dict[str, Any] = {} if size is None else {"n_features_to_select": int(size)}
    selector = method.make(
        task=dataset.task or "classification", n_features=dataset.n_features, **params
    )
    if size is None and method.greedy:  # ranks only as far as it is asked to
        selector.set_params(n_features_to_select=min(dataset.n_features, 200))
    if "random_state" in selector.get_params():
        selector.set_params(random_state=seed)
    return selector


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


def _add_permutations(
    study: Study, cv: Any, permutations: int, n_jobs: int | None, seed: int, verbose: bool | int
) -> None:
    """Whether the recommended pipeline does better than with shuffled labels."""
    best = study.recommended
    assert best is not None
    table = study.dataset.encode("onehot") if study.dataset.levels else study.dataset
    model = make_pipeline_for(
        table, best.method, best.judge, best.size, study.params.get("scale"), seed
    )
    model["judge"].set_params(**best.params)
    study.permutation = permutation_test(
        model,
        table.X,
        study.dataset.y,
        cv=cv,
        n_permutations=permutations,
        n_jobs=n_jobs,
        random_state=seed,
        verbose=verbose,
    )
    study.notes.append(
        "The permutation test selects features anew for every shuffle, but the method and the "
        "number of features were chosen with the true labels: its p-value is a little too small."
    )


def versions() -> dict[str, str]:
    """Versions of Python and of what the numbers depend on."""
    found = {"python": platform.python_version()}
    for package in ("tamiz", "numpy", "scipy", "scikit-learn", "numba"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
