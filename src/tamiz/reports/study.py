"""A study: everything that one question about one table was answered with.

``tamiz select`` and the report are two views of it. It compares methods honestly, recommends one
subset and says why, and keeps what is needed to repeat it.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from tamiz.base import Selection, Stopwatch, _plain
from tamiz.data import Dataset
from tamiz.evaluation import compare, permutation_test, report_card
from tamiz.evaluation._compare_judges import judge_name, make_judge
from tamiz.evaluation._plan import plan_parts
from tamiz.evaluation.comparison import Comparison, Estimate
from tamiz.evaluation.methods import METHODS, find_method

_BASELINES = ("random", "all")
#: Selections this much alike are called stable (Nogueira, Sechidis and Brown: "excellent" above).
_STABLE = 0.75
_FRAGILE = 0.40


class Reason(NamedTuple):
    """Why something is recommended: a code that a report has words for, and the numbers in them."""

    code: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Recommendation:
    """The subset that a study recommends.

    Attributes
    ----------
    method, judge : str
        How it was found, and whose error it is.
    kind : {"chosen", "own"}
        Whether the number of features comes from cross-validation or from the method itself.
    size : int
        Number of features.
    features : list of str
        Names, best first.
    error, low, high : float
        Honest error with its interval.
    apparent : float
        What ranking on all data would have promised.
    reasons : list of Reason
        Why.
    """

    method: str
    judge: str
    kind: str
    size: int
    features: list[str]
    error: float
    low: float
    high: float
    apparent: float
    reasons: list[Reason]


@dataclass(repr=False)
class Study:
    """What is known about a table after a study.

    Attributes
    ----------
    dataset : Dataset
        The table.
    selections : dict of str to Selection
        For every method, its ranking of all data.
    comparison : Comparison or None
        The honest errors.
    recommended : Recommendation or None
        The subset to use.
    card : ReportCard or None
        Cross-validated predictions of the recommended subset, judged.
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
    seconds : float
        Time that it took.
    """

    dataset: Dataset
    selections: dict[str, Selection]
    comparison: Comparison | None = None
    recommended: Recommendation | None = None
    card: Any = None
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

    def __post_init__(self) -> None:
        self.versions = self.versions or versions()
        self.created = self.created or datetime.now().isoformat(timespec="seconds")

    def __repr__(self) -> str:
        found = self.recommended
        said = "" if found is None else f", recommends {found.size} features by {found.method}"
        return f"<Study of {self.dataset.name or 'a table'}: {len(self.selections)} methods{said}>"

    def pipeline(self) -> Pipeline:
        """The recommended way from a table to predictions, not fitted."""
        if self.recommended is None:
            raise ValueError("the study recommends nothing, since it compared nothing.")
        best = self.recommended
        size = None if best.kind == "own" else best.size
        return make_pipeline_for(
            self.dataset, best.method, best.judge, size, self.params.get("scale"), self.seed
        )

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
        best = self.recommended
        return {
            "data": {
                "name": data.name,
                "n_samples": data.n_samples,
                "n_features": data.n_features,
                "target": data.target,
                "task": data.task,
                "classes": data.class_counts,
                "roles": data.roles,
                "aside": data.aside,
                "missing": int(np.sum(data.missing)),
                "notes": data.notes,
            },
            "recommended": None
            if best is None
            else _plain({**vars(best), "reasons": [reason._asdict() for reason in best.reasons]}),
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
        }


def make_study(
    dataset: Dataset,
    methods: Sequence[str] | None = None,
    judge: str = "svc-linear",
    *,
    sizes: Sequence[int] | None = None,
    cv: int = 5,
    repeats: int = 3,
    scale: str | None = "standard",
    tune: Any = None,
    rule: str = "1se",
    permutations: int = 0,
    n_jobs: int | None = None,
    random_state: int = 0,
    time_budget: float | None = None,
    checkpoint: Any = None,
    resume: bool = False,
    verbose: bool | int = 0,
    command: str | None = None,
) -> Study:
    """Compare methods on a table, recommend a subset, and gather what a report shows.

    Parameters
    ----------
    dataset : Dataset
        From :func:`tamiz.data.load`.
    methods : list of str, optional
        Names of methods; the usual six by default.
    judge : str, default="svc-linear"
        Whose errors count.
    sizes, cv, repeats, scale, tune, rule, n_jobs, time_budget, checkpoint, resume, verbose
        As in :func:`tamiz.compare`.
    permutations : int, default=0
        Number of label permutations that tell whether there is any signal; 0 for none.
    random_state : int, default=0
        Seed.
    command : str, optional
        How to repeat it, for the report.

    Returns
    -------
    study : Study

    Examples
    --------
    >>> from tamiz.data import load
    >>> from tamiz.reports import make_study
    >>> study = make_study(load("iris"), ["fisher"], sizes=[1, 2, 4], repeats=1)
    >>> study.recommended.features
    ['petal length (cm)', 'petal width (cm)']
    """
    watch = Stopwatch()
    if dataset.y is None:
        raise ValueError("a study needs a target; load the table with target=NAME.")
    judge = judge_name(judge)
    found = compare(
        dataset.X,
        dataset.y,
        None if methods is None else list(methods),
        judge,
        sizes=sizes,
        cv=cv,
        repeats=repeats,
        scale=scale,
        tune=tune,
        rule=rule,
        task=dataset.task or "auto",
        n_jobs=n_jobs,
        random_state=random_state,
        time_budget=time_budget,
        checkpoint=checkpoint,
        resume=resume,
        verbose=verbose,
    )
    found.names = list(dataset.feature_names)
    study = Study(
        dataset=dataset,
        selections=rank_all(
            dataset, [m for m in found.methods if m not in _BASELINES], scale, random_state
        ),
        comparison=found,
        params={
            "methods": found.methods,
            "judge": judge,
            "sizes": found.sizes.tolist(),
            "cv": cv,
            "repeats": repeats,
            "scale": scale,
            "tune": tune,
            "rule": rule,
        },
        command=command,
        seed=random_state,
        notes=list(found.notes),
    )
    _add_agreement(study)
    study.recommended = recommend(study)
    if study.recommended is not None and dataset.task == "classification":
        _add_predictions(study, cv, permutations, n_jobs, random_state, verbose)
    study.seconds = watch.seconds
    return study


# ------------------------------------------------------------------------------ recommending


def recommend(study: Study) -> Recommendation | None:
    """The smallest subset that cannot be told from the best one, with the reasons.

    Among all methods, that of least honest error is found. Those whose error is within one
    standard error of it count as equally good; of them the one with fewest features is taken, then
    the most stable. A method whose selections hardly agree is only taken if all others are so too.
    """
    found = study.comparison
    if found is None:
        return None
    lines = [e for e in found.estimates() if np.isfinite(e.error) and np.isfinite(e.size)]
    rivals = [e for e in lines if e.method not in _BASELINES and e.size >= 1]
    if not rivals:
        return None
    best = min(rivals, key=lambda e: (e.error, e.size))
    limit = best.error + _standard_error(best, found.confidence)
    equals = [e for e in rivals if e.error <= limit]

    def preference(line: Estimate) -> tuple[bool, float, float, float]:
        measure = study.stability.get(line.method)
        agreement = -1.0 if measure is None or np.isnan(measure.nogueira) else measure.nogueira
        return agreement < _FRAGILE, line.size, -agreement, line.error

    chosen = min(equals, key=preference)
    size = round(chosen.size)
    if chosen.kind == "own" and np.isfinite(chosen.apparent_size) and chosen.apparent_size >= 1:
        size = round(chosen.apparent_size)  # what the method selects of all data
    selection = study.selections[chosen.method]
    order = selection.order
    if chosen.kind == "own" and selection.support.sum() == size:
        order = np.array([j for j in order if selection.support[j]])
    return Recommendation(
        method=chosen.method,
        judge=chosen.judge,
        kind=chosen.kind,
        size=size,
        features=[selection.names[j] for j in order[:size]],
        error=chosen.error,
        low=chosen.low,
        high=chosen.high,
        apparent=chosen.apparent,
        reasons=_reasons(study, lines, best, chosen, equals),
    )


def _reasons(
    study: Study, lines: list[Estimate], best: Estimate, chosen: Estimate, equals: list[Estimate]
) -> list[Reason]:
    found = study.comparison
    assert found is not None
    reasons = []
    if chosen is best:
        reasons.append(Reason("least_error", {"method": best.method, "error": best.error}))
    else:
        reasons.append(
            Reason(
                "fewest_within_interval",
                {
                    "method": chosen.method,
                    "size": chosen.size,
                    "error": chosen.error,
                    "best_method": best.method,
                    "best_error": best.error,
                    "best_size": best.size,
                    "n_equal": len(equals),
                },
            )
        )
    measure = study.stability.get(chosen.method)
    if measure is not None and np.isfinite(measure.nogueira):
        value = float(measure.nogueira)
        code = "stable" if value >= _STABLE else "fragile" if value < _FRAGILE else "fairly_stable"
        reasons.append(Reason(code, {"nogueira": value}))
    everything = next((e for e in lines if e.method == "all"), None)
    if everything is not None:
        values = {"error": everything.error, "size": everything.size, "chosen": chosen.error}
        if everything.error < chosen.low:
            reasons.append(Reason("all_features_better", values))
        elif chosen.error <= everything.error:
            reasons.append(Reason("not_worse_than_all", values))
        else:
            reasons.append(Reason("near_all", values))
    chance = next((e for e in lines if e.method == "random"), None)
    if chance is not None and chance.error <= chosen.high and chance.size <= 2 * chosen.size:
        reasons.append(Reason("no_better_than_random", {"error": chance.error}))
    if found.shares and study.dataset.task == "classification":
        counts = np.array(list(study.dataset.class_counts.values()), dtype=float)
        majority = 1.0 - counts.max() / counts.sum()
        if chosen.high >= majority:
            reasons.append(Reason("no_signal", {"majority_error": float(majority)}))
    if np.isfinite(chosen.bias):
        reasons.append(Reason("selection_bias", {"bias": chosen.bias, "apparent": chosen.apparent}))
    return reasons


def _standard_error(line: Estimate, confidence: float) -> float:
    """Of the honest error, from its interval."""
    from scipy.stats import t

    half = line.high - line.error  # the lower end may have been cut at zero
    if not np.isfinite(half) or line.n_splits < 2:
        return 0.0
    return float(half / t.ppf(0.5 + 0.5 * confidence, line.n_splits - 1))


# -------------------------------------------------------------------------------- the parts


def rank_all(
    dataset: Dataset, methods: Sequence[str], scale: str | None, random_state: int
) -> dict[str, Selection]:
    """The ranking of all data by each method, in a table prepared as the judges get it."""
    steps = preparation(dataset, scale)
    X = dataset.X
    for _, step in steps:
        X = step.fit_transform(X)
    found = {}
    for name in methods:
        selector = _selector(dataset, name, None, random_state)
        selector.fit(X, dataset.y)
        selection = selector.selection_
        selection.names = list(dataset.feature_names)
        found[name] = selection
    return found


def make_pipeline_for(
    dataset: Dataset, method: str, judge: str, size: int | None, scale: str | None, seed: int | None
) -> Pipeline:
    """Preparation, selector and judge in a row; ``size=None`` leaves the number to the method."""
    task = dataset.task or "classification"
    steps = preparation(dataset, scale)
    steps.append(("select", _selector(dataset, method, size, seed)))
    steps.append(("judge", make_judge(judge_name(judge), task, scale is not None)))
    return Pipeline(steps)


def preparation(dataset: Dataset, scale: str | None) -> list[tuple[str, Any]]:
    """What happens to a table before a selector sees it: gaps filled, features scaled."""
    steps: list[tuple[str, Any]] = []
    if np.sum(dataset.missing):
        steps.append(("fill", SimpleImputer(strategy="median", keep_empty_features=True)))
    if scale is not None:
        sparse = not isinstance(dataset.X, np.ndarray)
        scaler = MinMaxScaler() if scale == "minmax" else StandardScaler()
        steps.append(("scale", MaxAbsScaler() if sparse else scaler))
    return steps


def _selector(dataset: Dataset, name: str, size: int | None, seed: int | None) -> Any:
    method = METHODS[find_method(name).name]
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
    """Stability of every method, and whether methods differ."""
    found = study.comparison
    assert found is not None
    for name in found.methods:
        if name in _BASELINES:
            continue
        try:
            study.stability[name] = found.stability(name)
        except ValueError as error:
            study.notes.append(f"Stability of {name}: {error}")
    try:
        study.significance = found.significance()
    except ValueError as error:
        study.notes.append(f"Significance: {error}")


def _add_predictions(
    study: Study, cv: int, permutations: int, n_jobs: int | None, seed: int, verbose: bool | int
) -> None:
    """The report card of cross-validated predictions, and the permutation test."""
    data = study.dataset
    assert data.y is not None
    model = study.pipeline()
    splits = [
        (part.train, part.test)
        for part in plan_parts(cv, 1, data.X, data.y, "classification", seed, None)
    ]
    predicted = cross_val_predict(clone(model), data.X, data.y, cv=splits)
    scores = None
    if hasattr(model[-1], "decision_function") and len(data.class_counts) == 2:
        scores = cross_val_predict(
            clone(model), data.X, data.y, cv=splits, method="decision_function"
        )
    labels = np.unique(data.y)
    names = np.array(data.target_names if data.target_names is not None else labels.astype(str))
    study.card = report_card(
        names[np.searchsorted(labels, data.y)],
        names[np.searchsorted(labels, predicted)],
        scores=scores,
        positive=names[-1] if len(names) == 2 else None,
        labels=names.tolist(),
    )
    if permutations:
        study.permutation = permutation_test(
            model,
            data.X,
            data.y,
            cv=cv,
            n_permutations=permutations,
            n_jobs=n_jobs,
            random_state=seed,
            verbose=verbose,
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
