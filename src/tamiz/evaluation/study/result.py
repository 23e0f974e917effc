"""Study: everything that one question about one table was answered with."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from tamiz.base import Selection, json_ready
from tamiz.data import Dataset
from tamiz.display import TableResult, frames
from tamiz.evaluation.comparison.arguments import weigh_classes
from tamiz.evaluation.comparison.result import Comparison
from tamiz.evaluation.judges import judge_name, make_judge
from tamiz.evaluation.methods import find_method
from tamiz.evaluation.scaler import preparation
from tamiz.evaluation.study.adjustment import Adjustment
from tamiz.evaluation.study.answers import Answers, Recommendation
from tamiz.evaluation.study.choice import SMALLEST
from tamiz.evaluation.study.plan import StudyPlan
from tamiz.evaluation.study.predictions import LearningCurve, Predictions
from tamiz.evaluation.study.standing import Standing

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Whole:
    """The table behind a study.

    The data set of a study may hold some of the rows, and of those some of the columns: enough for
    pictures. Everything that is counted comes from here.

    Attributes
    ----------
    n_rows : int
        Number of all rows.
    feature_names : list of str
        Names of all features, in the order that rankings count them in.
    missing : int array of shape (n_features,)
        Missing cells of each feature, in all rows.
    class_counts : dict
        Rows of each class, in all rows; empty in a regression.
    held : list of int
        The features that are the columns of the data set, in their order.
    n_looked : int or None
        Number of columns that were looked at for repeated ones and for those that give the target
        away, by the rows of the data set; None for all, 0 if none was.
    compared : dict
        Columns that repeat another ("duplicate") or give the target away ("leak") in the rows of
        the data set, if these are a sample.
    doubtful : list of str or None
        Features that may be identifiers, by the rows of the data set; None if they are still to be
        looked for.
    """

    n_rows: int
    feature_names: list[str]
    missing: np.ndarray
    class_counts: dict[str, int]
    held: list[int]
    n_looked: int | None = None
    compared: dict[str, str] = field(default_factory=dict)
    doubtful: list[str] | None = None

    @classmethod
    def of(cls, data: Dataset) -> Whole:
        """A table that is there as a whole."""
        p = data.n_features
        missing = np.asarray(data.missing)
        return cls(
            data.n_samples, list(data.feature_names), missing, data.class_counts, list(range(p))
        )

    @property
    def n_features(self) -> int:
        """Number of all features."""
        return len(self.feature_names)

    @cached_property
    def _place(self) -> dict[int, int]:
        return {j: k for k, j in enumerate(self.held)}

    def place(self, j: int) -> int:
        """Where a feature stands in the data set."""
        if j not in self._place:
            raise ValueError(
                f"the sample does not hold the feature {self.feature_names[j]!r}; sample all "
                "features that are selected."
            )
        return self._place[j]

    def to_dict(self) -> dict[str, Any]:
        """What is counted, as plain values."""
        return {
            "n_samples": self.n_rows,
            "n_features": self.n_features,
            "classes": self.class_counts,
            "missing": int(np.sum(self.missing)),
        }


def make_pipeline_for(
    dataset: Dataset, method: str, judge: str, size: int | None, scale: str | None, seed: int | None
) -> Pipeline:
    """Preparation, selector and judge in a row; ``size=None`` leaves the number to the method.

    Missing values are filled even if the table has none, since new tables may have some. Without
    selection (``method="all"``) there is no step for it.
    """
    task = dataset.task or "classification"
    dense = not sparse.issparse(dataset.X)
    steps = preparation(dataset, scale, fill=dense or None)
    if find_method(method).name != "all":
        steps.append(("select", _selector(dataset, method, size, seed)))
    elif size is not None:
        raise ValueError(f"{method!r} takes every feature; leave out the number {size}.")
    last = make_judge(judge_name(judge), task, scale is not None)
    if "random_state" in last.get_params():
        last.set_params(random_state=seed)
    return Pipeline([*steps, ("judge", last)])


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


#: Trees of the forest that is kept.
_FINAL_TREES = 300


@dataclass(repr=False)
class Study(TableResult):
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
    plan : StudyPlan or None
        What was planned, how long it should have taken, and what was left out.
    status : {"complete", "cut short"}
        Whether all that was planned is there.
    card : ReportCard or None
        Predictions of the recommended procedure for samples that took no part.
    predictions : Predictions or None
        These predictions.
    decisions : dict of str to Predictions
        For each answer, predictions of just its method, judge and size: decision values of one
        scale, which give probabilities.
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
    standing : Standing or None
        The features that one can stand behind, at a stated rate of false discoveries.
    adjustment : Adjustment or None
        What adjusting for covariates changes.
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
    plan: StudyPlan | None = None
    status: str = "complete"
    card: Any = None
    predictions: Predictions | None = None
    decisions: dict[str, Predictions] = field(default_factory=dict)
    classes: list[str] | None = None
    learning: LearningCurve | None = None
    tuning: Any = None
    stability: dict[str, Any] = field(default_factory=dict)
    significance: Any = None
    permutation: Any = None
    standing: Standing | None = None
    adjustment: Adjustment | None = None
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

    def to_frame(self) -> pd.DataFrame:
        """Both answers, or where nothing was compared the first features of each method."""
        pd = frames()
        best = [one for one in (self.recommended, self.most_accurate) if one is not None]
        if best:
            keys = ("answer", "method", "judge", "size", "error", "low", "high")
            table = [{key: getattr(one, key) for key in keys} for one in best]
            for row, one in zip(table, best, strict=True):
                row["features"] = ", ".join(one.features)
            return pd.DataFrame(table)
        rows = [
            {
                "method": name,
                "size": int(np.sum(one.support)),
                "features": ", ".join(str(one.names[j]) for j in one.order if one.support[j]),
            }
            for name, one in self.selections.items()
        ]
        return pd.DataFrame(rows, columns=["method", "size", "features"])

    def plot(self, ax: Any = None) -> Any:
        """Draw the errors that were compared, or the ranking of the first method.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        if self.comparison is not None:
            return self.comparison.plot(ax=ax)
        if not self.selections:
            raise ValueError("the study holds neither a comparison nor a ranking to draw.")
        return next(iter(self.selections.values())).plot(ax=ax)

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
        if self.adjustment is not None:
            raise ValueError(
                "the answers rest on features adjusted for covariates, and so would a model: build "
                "one of CovariateAdjuster, a scaler and a judge, which takes the covariates of new "
                "rows."
            )
        model = make_pipeline_for(
            self.dataset, "all", best.judge, None, self.params.get("scale"), self.seed
        )
        last = model["judge"]
        last.set_params(**best.params)
        if judge_name(best.judge) == "forest":  # more trees than it was judged with: only better
            last.set_params(n_estimators=_FINAL_TREES)
        if self.params.get("class_weight"):
            weigh_classes(last, self._by_label(self.params["class_weight"]))
        return model

    def _by_label(self, class_weight: Any) -> Any:
        """Weights of the codes that the machines got, as weights of the labels of the data set."""
        if not isinstance(class_weight, dict) or self.classes is None:
            return class_weight
        labels = np.unique(np.asarray(self.dataset.y))
        names = self.dataset.target_names or [str(label) for label in labels]
        by_name = dict(zip(names, labels.tolist(), strict=True))
        return {by_name[self.classes[code]]: weight for code, weight in class_weight.items()}

    def out_of_fold(
        self, answer: str = SMALLEST
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None] | None:
        """Decision values of samples not learnt from, labels and weights, for probabilities.

        In large tables they took part in choosing the parameters of the judge, and in nothing else.
        Values are positive for the second of the sorted labels, or have a column for each label.
        Weights are None if the rows have none; all is None if there are no values.
        """
        made = self.decisions.get(answer)
        if made is None or made.values is None or self.classes is None:
            return None
        y = np.asarray(self.dataset.y)
        labels = y[made.rows]
        names = self.dataset.target_names or [str(label) for label in np.unique(y)]
        flipped = len(self.classes) == 2 and self.classes[0] != names[0]
        weights = self.dataset.extras.get("weights")
        some = None if weights is None else np.asarray(weights)[made.rows]
        return (-made.values if flipped else made.values), labels, some

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
                name: None if one is None else json_ready(one.to_dict())
                for name, one in answers.items()
            },
            "honest": json_ready(self.honest),
            "status": self.status,
            "warnings": self.warnings,
            "plan": None if self.plan is None else json_ready(self.plan.to_dict()),
            "boundary": None if self.answers is None else json_ready(self.answers.boundary),
            "front": _front(self.answers),
            "learning": None if self.learning is None else json_ready(self.learning._asdict()),
            "rankings": {name: one.to_dict() for name, one in self.selections.items()},
            "stability": {name: one.to_dict() for name, one in self.stability.items()},
            **{name: None if part is None else part.to_dict() for name, part in parts.items()},
            "standing": (
                None if self.standing is None else self.standing.to_dict(list(data.feature_names))
            ),
            "adjustment": (
                None
                if self.adjustment is None
                else self.adjustment.to_dict(list(data.feature_names))
            ),
            "params": json_ready(self.params),
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


def versions() -> dict[str, str]:
    """Versions of Python and of what the numbers depend on."""
    found = {"python": platform.python_version()}
    for package in ("tamiz", "numpy", "scipy", "scikit-learn", "numba"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
