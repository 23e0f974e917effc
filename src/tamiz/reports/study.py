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
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from tamiz._progress import Progress
from tamiz.base import Selection, Stopwatch, _plain
from tamiz.data import Dataset
from tamiz.evaluation import compare, permutation_test
from tamiz.evaluation._compare_judges import judge_name, make_judge
from tamiz.evaluation._compare_select import preparing_steps
from tamiz.evaluation._compare_text import BASELINES
from tamiz.evaluation._intervals import check_count
from tamiz.evaluation.comparison import Comparison
from tamiz.evaluation.methods import find_method
from tamiz.reports._predictions import card_of
from tamiz.reports._recommend import Reason, Recommendation, recommend
from tamiz.reports.whole import Whole

__all__ = [
    "Reason",
    "Recommendation",
    "Study",
    "make_pipeline_for",
    "make_study",
    "preparation",
    "rank_all",
    "recommend",
    "versions",
]


@dataclass(repr=False)
class Study:
    """What is known about a table after a study.

    Attributes
    ----------
    dataset : Dataset
        The table, or a sample of its rows.
    selections : dict of str to Selection
        For every method, its ranking of all data.
    comparison : Comparison or None
        The honest errors.
    recommended : Recommendation or None
        The subset to use.
    card : ReportCard or None
        Predictions of the recommended method before the recommended judge, in one repeat of the
        comparison: features, their number and parameters come from the training parts.
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
    whole : Whole or None
        What is known of all rows, if the data set is a sample of them.
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
    whole: Whole | None = None

    def __post_init__(self) -> None:
        self.versions = self.versions or versions()
        self.created = self.created or datetime.now().isoformat(timespec="seconds")

    def __repr__(self) -> str:
        found = self.recommended
        said = "" if found is None else f", recommends {found.size} features by {found.method}"
        return f"<Study of {self.dataset.name or 'a table'}: {len(self.selections)} methods{said}>"

    def pipeline(self) -> Pipeline:
        """The recommended way from a table to predictions, not fitted.

        Fitted to all data, it selects the recommended features.
        """
        if self.recommended is None:
            raise ValueError("the study recommends nothing, since it compared nothing.")
        best = self.recommended
        size = None if best.kind == "own" else best.size
        model = make_pipeline_for(
            self.dataset, best.method, best.judge, size, self.params.get("scale"), self.seed
        )
        model["judge"].set_params(**best.params)
        return model

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
                "target": data.target,
                "task": data.task,
                "roles": data.roles,
                "aside": data.aside,
                **(self.whole or Whole.of(data)).to_dict(),
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
    >>> study = make_study(load("iris"), ["fisher"], sizes=[2, 4], repeats=1)
    >>> study.recommended.features
    ['petal length (cm)', 'petal width (cm)']
    """
    watch = Stopwatch()
    permutations = check_count("permutations", permutations, 0)
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
    notes = list(found.notes)
    ranked = [name for name in found.methods if name not in BASELINES]
    study = Study(
        dataset=dataset,
        selections=rank_all(dataset, ranked, scale, random_state, verbose=verbose, notes=notes),
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
        notes=notes,
    )
    _add_agreement(study)
    study.recommended = best = recommend(study)
    if best is not None and best.kind == "own":  # what is recommended is what is told of
        study.stability[best.method] = found.stability(best.method, "own")
    if best is not None and dataset.task == "classification":
        study.card = card_of(study, cv, repeats)
        if permutations:
            _add_permutations(study, cv, permutations, n_jobs, random_state, verbose)
    study.seconds = watch.seconds
    return study


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
    """Stability of every method, and whether methods differ."""
    found = study.comparison
    assert found is not None
    for name in found.methods:
        if name in BASELINES:
            continue
        try:
            study.stability[name] = found.stability(name)
        except ValueError as error:
            study.notes.append(f"Stability of {name}: {error}")
    try:
        study.significance = found.significance()
    except ValueError as error:
        study.notes.append(f"Significance: {error}")


def _add_permutations(
    study: Study, cv: Any, permutations: int, n_jobs: int | None, seed: int, verbose: bool | int
) -> None:
    """Whether the recommended pipeline does better than with shuffled labels."""
    study.permutation = permutation_test(
        study.pipeline(),
        study.dataset.X,
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
