"""What all searches share: data, judge, journal, interruption, and the ranking at the end.

A strategy is a subclass with one method, ``_search(evaluator, outcome, rng)``. It asks the
evaluator for subsets of units and keeps ``outcome`` up to date, so that an interruption finds the
best answer so far there.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from tamiz.base import Stopwatch, number_to_select
from tamiz.display import counted
from tamiz.routing import (
    declines,
    refuse_unknown,
    refuse_unrequested,
    router_of,
    routes_of,
    routing_enabled,
)
from tamiz.runtime.checkpoint import Journal, open_journal
from tamiz.runtime.progress import Progress
from tamiz.search._records import better, main_effects, plot_sizes
from tamiz.search.evaluator import Evaluator, TimeUp
from tamiz.search.fast import judge_for
from tamiz.search.judges import (
    Fitting,
    Judge,
    columns_of,
    fingerprint,
    fit_arguments,
    holds_numbers,
    in_double,
    last_step,
    looks_at_columns,
    make_scorer,
    names_columns,
    wants_arrays,
)
from tamiz.search.merits import merit_for
from tamiz.search.splits import make_splits, splitting
from tamiz.svm import SVC
from tamiz.svm.last_machine import LastMachineSelector, machine_has
from tamiz.validation import (
    N_JOBS,
    Units,
    as_numpy,
    called_columns,
    check_classes,
    check_features,
    check_frame,
    check_regression_target,
    check_sample_weight,
    check_units,
    check_X,
    depth_of_caller,
    fittable,
    refuse_no_jobs,
    unchanged_on_error,
)

SEARCH_CONSTRAINTS: dict[str, list[Any]] = {
    "estimator": [None, object],
    "cv": ["cv_object", str],
    "scoring": [None, str, callable, list, tuple, dict],
    "criterion": [None, str, callable],
    "feature_groups": [None, list, tuple, dict],
    "fixed_features": [None, "array-like"],
    "max_features": [None, Interval(Integral, 1, None, closed="left")],
    "time_budget": [None, Interval(Real, 0, None, closed="neither")],
    "error_score": [StrOptions({"raise", "worst"})],
    "random_state": ["random_state"],
    "n_jobs": N_JOBS,
    "checkpoint": [None, str, HasMethods(["__fspath__"])],
    "resume": ["boolean"],
    "verbose": ["verbose"],
}


@dataclass
class Outcome:
    """What a strategy has found so far."""

    subset: np.ndarray | None = None  # boolean over the units
    order: list[int] = field(default_factory=list)  # units, best first, as far as it knows
    notes: dict[str, Any] = field(default_factory=dict)


class SearchSelector(MetaEstimatorMixin, LastMachineSelector):
    """Base of the searches; a subclass defines ``_search``."""

    _parameter_constraints: dict[str, list[Any]] = SEARCH_CONSTRAINTS

    @abstractmethod
    def _search(self, evaluator: Evaluator, outcome: Outcome, rng: np.random.Generator) -> None:
        """Look for the best subset, keeping ``outcome`` up to date."""

    # ------------------------------------------------------------------ predicting

    def _machine_to_be(self) -> Any:
        if self.criterion is not None:
            raise AttributeError(
                "there is no estimator to predict with: the search uses a criterion. Put the "
                "selector into a Pipeline with the estimator of your choice."
            )
        return SVC if self.estimator is None else self.estimator

    @machine_has("score")
    def score(self, X: Any, y: Any) -> float:
        """Return the score of the estimator fitted to the selected features.

        It is the (first) metric of ``scoring``, as in the search.
        """
        scorer, metrics = make_scorer(self._last_machine(), self.scoring)
        found = scorer(self.estimator_, self._reduced(X), as_numpy(y, "y"))
        return float(found[metrics[0]] if isinstance(found, dict) else found)

    def _reduced(self, X: Any) -> Any:
        if self._in_frames:  # what its cells hold is left to the estimator
            if check_frame(self, X, reset=False) is None:
                validate_data(self, X, reset=False, skip_check_array=True)
            return columns_of(X, np.flatnonzero(self.support_))
        sparse = get_tags(self.estimator_).input_tags.sparse
        missing = takes_missing(self.estimator_)
        X = check_X(self, X, reset=False, accept_sparse=sparse, allow_nan=missing)
        return X[:, np.flatnonzero(self.support_)]

    # ------------------------------------------------------------------ fitting

    divides_samples = True

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        **metadata: Any,
    ) -> Any:
        """Search for the subset of features that the judge likes best.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (n_samples, n_features)
            Data. Missing values are allowed if the estimator takes them, for instance a pipeline
            that begins with an imputer. The estimator gets a dataframe as a dataframe, text and
            categories included, unless it is a machine of tamiz, alone or behind a scaler.
        y : array of shape (n_samples,)
            Labels, or targets for an estimator that is a regression.
        sample_weight : array of shape (n_samples,), optional
            Passed on to the estimator and to the metrics. For a criterion by name they are numbers
            of rows: an integer counts exactly as if the row were repeated.
        groups : array of shape (n_samples,), optional
            Passed on to ``cv``, for splitters that keep groups of samples together.
        **metadata : dict
            What else the estimator, the metrics or the splitter ask for, with scikit-learn's
            metadata routing.

        Returns
        -------
        self
        """
        refuse_unknown("fit", metadata)
        refuse_unrequested(self, sample_weight=sample_weight, groups=groups, **metadata)
        with unchanged_on_error(self):
            self._groups, self._metadata = groups, metadata
            try:
                self._fit(X, y, sample_weight)
            finally:
                del self._groups, self._metadata
        return self

    def get_metadata_routing(self) -> Any:
        """Who gets what is passed to ``fit``: the estimator, the metrics and the splitter.

        Returns
        -------
        routing : MetadataRouter
        """
        if self.criterion is not None:
            return router_of(self)
        estimator = SVC() if self.estimator is None else self.estimator
        return router_of(
            self,
            estimator=(estimator, "fit"),
            scorer=(make_scorer(estimator, self.scoring)[0], "score"),
            splitter=(self.cv, "split"),
        )

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        watch = Stopwatch()
        self._validate_params()
        refuse_no_jobs(self.n_jobs)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        estimator = SVC() if self.estimator is None else self.estimator
        given = X
        X, y, weight = self._check_data(estimator, X, y, sample_weight)
        n_features = X.shape[1]
        names = getattr(self, "feature_names_in_", None)
        units = check_units(self.feature_groups, self.fixed_features, n_features, names)
        self._refuse_sizes(units)
        self._routes = routes_of(self, X.shape[0], self._given(weight))
        beside = (y, weight, self._groups, *map(np.asarray, self._metadata.values()))
        rest = [part for part in beside if part is not None]
        data = [*fingerprint(X), *rest]
        with (
            self._open_journal(seed, *data) as journal,
            Progress(type(self).__name__, self.verbose) as progress,
        ):
            seed = seed if journal.journal is None else int(journal.journal.facts["seed"])
            judge = self._make_judge(estimator, X, y, weight, seed)
            if self.n_features_to_select == "1se" and judge.n_splits < 2:
                raise ValueError(
                    "n_features_to_select='1se' needs several splits to tell a standard error; use "
                    "'best', or a cv with more than one split."
                )
            evaluator = Evaluator(
                judge,
                units,
                n_jobs=self.n_jobs,
                journal=journal.journal,
                time_budget=self.time_budget,
                failures=self.error_score,
                progress=progress,
            )
            outcome = Outcome()
            status = "finished"
            try:
                self._search(evaluator, outcome, np.random.default_rng(seed))
            except KeyboardInterrupt:
                if not evaluator.n_evaluations:  # nothing to keep
                    raise
                status = "interrupted"
            except TimeUp:
                status = "time_budget"
        self._conclude(evaluator, outcome, status, watch)
        self.__dict__.pop("estimator_", None)
        if self.criterion is None and self.support_.any():
            table = in_double(given) if self._in_frames else X
            if self._routes is None:
                arguments = fit_arguments(estimator, weight)
            else:
                arguments = self._routes.part("estimator")
            self._fit_last_machine(seeded(clone(estimator), seed), table, y, arguments)
        del self._routes
        evaluator.warn_failures()

    def _called(self, machine: Any, features: np.ndarray) -> list[str] | None:
        """How the selected columns are called in the whole table, for a machine that gets these."""
        if hasattr(machine, "steps"):  # what the last step of a pipeline gets may be others
            return None
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" if names is None else repr(str(names[j])) for j in features.tolist()]

    def _fit_last_machine(self, machine: Any, X: Any, y: Any, arguments: dict[str, Any]) -> None:
        """Fit the estimator to the selected features; a failure must not cost the search."""
        features = np.flatnonzero(self.support_)
        if names_columns(machine):
            names = list(X.columns) if self._in_frames else None
            machine = Fitting(features, X.shape[1], names).apply(machine)
        try:
            part = columns_of(X, features)
            with called_columns(self._called(machine, features)):
                self.estimator_ = machine.fit(part, y, **arguments)
        except Exception as error:
            warnings.warn(
                f"{type(self).__name__}: the estimator could not be fitted to the selected "
                f"features of all samples ({type(error).__name__}: {error}); the selection is "
                "kept, but there is nothing to predict with.",
                RuntimeWarning,
                stacklevel=depth_of_caller(),
            )

    def _check_data(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        fittable("estimator", estimator)
        plain = self.criterion is not None
        X, self._in_frames = table_to_judge(self, X, None if plain else estimator, self.scoring)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: pass "
                "the labels (or the targets of a regression)."
            )
        weight = None if sample_weight is None else check_sample_weight(sample_weight, X.shape[0])
        takes = (
            plain  # merit_for says which criteria do
            or routing_enabled()
            or has_fit_parameter(last_step(estimator), "sample_weight")
        )
        if weight is not None and not takes:
            raise ValueError(
                f"sample_weight was given, but {type(last_step(estimator)).__name__} does not take "
                "it; leave it out, or judge by another estimator."
            )
        with np.errstate(invalid="ignore"):  # it turns all numbers into integers
            own = callable(self.criterion) and type_of_target(y).startswith("continuous")
        if own or (not plain and is_regressor(estimator)):
            return X, check_regression_target(y, X.shape[0]), weight
        labels = check_classes(y, X.shape[0], weight=weight if plain else None)
        self.classes_ = labels.classes
        codes = np.minimum(labels.codes, len(labels.classes) - 1)  # of rows that do not count
        return X, labels.classes[codes], weight

    def _make_judge(self, estimator: Any, X: Any, y: Any, weight: Any, seed: int) -> Judge:
        if self.criterion is not None:
            return merit_for(self.criterion, X, y, weight)
        estimator = seeded(clone(estimator), seed)
        declined = self._groups is not None and declines(self.cv, "split", "groups")
        asked = splitting(self.cv, self._groups, self._routes)
        try:
            splits = make_splits(self.cv, X, y, is_classifier(estimator), seed, **asked)
        except ValueError as error:
            if not declined:
                raise
            raise ValueError(
                f"cv={self.cv!r} was told set_split_request(groups=False), and without the groups "
                f"that fit was given it fails: {error}"
            ) from error
        return judge_for(estimator, X, y, splits, self.scoring, weight, self._routes)

    def _given(self, weight: Any) -> dict[str, Any]:
        """All metadata of this fit."""
        return {"sample_weight": weight, "groups": self._groups, **self._metadata}

    def _open_journal(self, seed: int, *data: Any) -> _Open:
        return _Open(open_journal(self, seed, *data, leave_out=("time_budget",)))

    # ------------------------------------------------------------------ sizes and starts

    def _size(self, units: Units) -> int | None:
        """The number of features asked for; None if the search is to find it."""
        wanted = self.n_features_to_select
        if wanted is None or (isinstance(wanted, str) and wanted in ("auto", "best", "1se")):
            return None
        return number_to_select(wanted, units.n_features, None)

    def _limit(self, units: Units) -> int:
        """The largest number of features that a subset may have."""
        return units.n_features if self.max_features is None else int(self.max_features)

    def _refuse_sizes(self, units: Units) -> None:
        size = self._size(units)
        fixed, limit = len(units.fixed), self._limit(units)
        if not units.members:
            raise ValueError("every feature is fixed; there is nothing to search for.")
        if limit < fixed + (1 if not fixed else 0):
            raise ValueError(f"max_features={limit} is less than the {fixed} fixed features.")
        if size is not None and not fixed <= size <= limit:
            bound = f"max_features={limit}" if size > limit else f"the {fixed} fixed features"
            raise ValueError(
                f"n_features_to_select={self.n_features_to_select} and {bound} cannot both hold."
            )

    def _start_subset(self, units: Units, default: bool, start: Any = None) -> np.ndarray:
        """The units of the features of ``start``; all or none if it is None."""
        if start is None:
            return np.full(len(units.members), default)
        names = getattr(self, "feature_names_in_", None)
        chosen = check_features(start, "start", units.n_features, names)
        inside = np.zeros(units.n_features, dtype=bool)
        inside[chosen] = True
        subset = np.zeros(len(units.members), dtype=bool)
        for k, features in enumerate(units.members):
            if inside[features].any() and not inside[features].all():
                raise ValueError(
                    f"start holds a part of the group of features {features.tolist()}; name all "
                    "of them or none."
                )
            subset[k] = inside[features].all()
        return subset

    # ------------------------------------------------------------------ the end

    def _conclude(
        self, evaluator: Evaluator, outcome: Outcome, status: str, watch: Stopwatch
    ) -> None:
        subset = outcome.subset if outcome.subset is not None else _best_known(self, evaluator)
        effects = main_effects(evaluator)
        rest = sorted(
            (k for k in range(evaluator.n_units) if k not in set(outcome.order)),
            key=lambda k: (not subset[k], -effects[k], k),
        )
        order = [*outcome.order, *rest]
        units = evaluator.units
        features = np.concatenate([units.fixed, *(units.members[k] for k in order)])
        support = np.zeros(units.n_features, dtype=bool)
        support[evaluator.features(subset)] = True
        best = evaluator.recall(subset) if evaluator.is_known(subset) else None
        self.status_ = status
        self.n_evaluations_ = evaluator.n_evaluations
        self.best_score_ = None if best is None else best.value
        self.best_scores_ = None if best is None else evaluator._named(best)
        self.evaluations_ = evaluator.table(subset, self._names(units.n_features))
        self._finish(
            order=features,
            support=support,
            path=evaluator.path,
            seconds=watch.seconds,
            notes={
                "status": status,
                "n_evaluations": evaluator.n_evaluations,
                "score": self.best_score_,
                "metrics": list(evaluator.judge.metrics),
                **_groups_selected(units, support),
                **outcome.notes,
            },
        )
        if status != "finished":
            self._warn_unfinished(evaluator, subset, status)

    def _warn_unfinished(self, evaluator: Evaluator, subset: np.ndarray, status: str) -> None:
        name, found = type(self).__name__, evaluator.n_features(subset)
        size, limit = self._size(evaluator.units), self._limit(evaluator.units)
        if not evaluator.is_known(subset) and evaluator.n_evaluations:
            warnings.warn(
                f"{name}: no subset with {size or limit} features or fewer had been judged when "
                f"the search was cut short; the {found} selected are a part of a larger subset, "
                "and their score is not known.",
                ConvergenceWarning,
                stacklevel=depth_of_caller(),
            )
        why = "interrupted" if status == "interrupted" else "out of time"
        missed = f" It has {counted(found, 'feature')} instead of {size}."
        other = "" if size in (None, found) else missed
        warnings.warn(
            f"{name}: {why} after {evaluator.n_evaluations:,} subsets; the best so far is kept."
            f"{other}",
            ConvergenceWarning,
            stacklevel=depth_of_caller(),
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the best score met at each number of features, and mark what was selected.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        check_is_fitted(self, "selection_")
        return plot_sizes(self.selection_, ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        judge = SVC() if self.estimator is None else self.estimator
        own = get_tags(judge)
        tags.target_tags.required = True
        tags.estimator_type = own.estimator_type if self.criterion is None else None
        tags.classifier_tags = own.classifier_tags
        tags.regressor_tags = own.regressor_tags
        tags.input_tags.sparse = own.input_tags.sparse and self.criterion is None
        tags.input_tags.allow_nan = own.input_tags.allow_nan and self.criterion is None
        return tags


class _Open:
    """A journal, or none, as a context."""

    def __init__(self, journal: Journal | None):
        self.journal = journal

    def __enter__(self) -> _Open:
        return self

    def __exit__(self, *_: object) -> None:
        if self.journal is not None:
            self.journal.close()


def table_to_judge(owner: Any, X: Any, estimator: Any, scoring: Any) -> tuple[Any, bool]:
    """The samples as an estimator is to get them, and whether its rules are those of a frame.

    ``owner`` keeps the names of the columns. Without an estimator, numbers in an array are needed.
    """
    if estimator is None:
        return check_X(owner, X, reset=True, min_samples=2), False
    frame = None
    if not wants_arrays(estimator):
        frame = check_frame(owner, X, reset=True, min_samples=2)
    # where nobody can tell the difference, arrays are judged sooner, and have better sentences
    if frame is not None and (looks_at_columns(estimator, scoring) or not holds_numbers(frame)):
        return in_double(frame), True
    sparse, missing = get_tags(estimator).input_tags.sparse, takes_missing(estimator)
    kinds = {"accept_sparse": sparse, "allow_nan": missing, "min_samples": 2}
    return check_X(owner, X, reset=True, **kinds), frame is not None


def seeded(estimator: Any, seed: int) -> Any:
    """Give a seed to every ``random_state`` that has none, so that J(S) is a function of S."""
    missing = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    return estimator.set_params(**missing) if missing else estimator


def _groups_selected(units: Units, support: np.ndarray) -> dict[str, list[str]]:
    """The names of the groups selected, where groups have names."""
    if units.named is None:
        return {}
    return {"groups": [name for name, group in units.named.items() if support[group].all()]}


def _best_known(selector: SearchSelector, evaluator: Evaluator) -> np.ndarray:
    """The best subset of those evaluated, of the size asked for if there is one."""
    size, limit = selector._size(evaluator.units), selector._limit(evaluator.units)
    best, best_value, best_size, best_fits = None, -np.inf, 0, False
    for subset, evaluation in evaluator.known():
        n = evaluator.n_features(subset)
        if n > limit:
            continue
        fits = size is None or n == size
        ahead = best is None or (fits, False) > (best_fits, False)
        if ahead or (fits == best_fits and better(evaluation.value, n, best_value, best_size)):
            best, best_value, best_size, best_fits = subset, evaluation.value, n, fits
    return np.zeros(evaluator.n_units, dtype=bool) if best is None else best


def takes_missing(estimator: Any) -> bool:
    """Whether an estimator takes NaN; of a pipeline, whether its first step does."""
    every = [step for _, step in getattr(estimator, "steps", ())]
    steps = [step for step in every if step is not None and not isinstance(step, str)]
    return takes_missing(steps[0]) if steps else bool(get_tags(estimator).input_tags.allow_nan)
