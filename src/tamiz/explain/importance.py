r"""How much worse a method does without a feature: shuffled in test rows, or left out of the fit.

Both are measured inside folds: every split's model is fitted to its training rows, and only its
test rows are looked at. In split ``k`` the importance of a unit (a feature, or a group of features
that are treated together) is

.. math::

    d_k = s_k - \frac1R \sum_r s_k^{(r)},

the score ``s_k`` of the test rows minus the mean of the scores when the unit's columns are shuffled
together, or minus the score of a model that was fitted without them. Training parts overlap, so
that the ``d_k`` vary less than those of fresh data would; the interval is that of Nadeau and
Bengio, with the variance ``(1/J + n_test / n_train) s²`` of their mean.

Where the judge is a kernel expansion or a linear machine, alone or behind steps that keep columns
apart, decision values follow the shuffled columns, and nothing is predicted anew
(:mod:`tamiz.explain.decisions`).

References
----------
.. [1] L. Breiman (2001). Random forests. Machine Learning 45.
.. [2] A. Fisher, C. Rudin, F. Dominici (2019). All models are wrong, but many are useful. JMLR 20.
.. [3] J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman (2018). Distribution-free
       predictive inference for regression. JASA 113.
.. [4] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse, stats
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_random_state

from tamiz.display import INK, PALETTE, axes, frames
from tamiz.evaluation.comparison.arguments import ColumnNames
from tamiz.evaluation.inference import corrected_interval
from tamiz.explain.decisions import ExpansionDecisions, decisions_of
from tamiz.runtime.progress import Progress
from tamiz.search.base import seeded, table_to_judge
from tamiz.search.fast import can_stand_in, judge_for
from tamiz.search.judges import (
    CrossValidation,
    Judge,
    Predicted,
    PredictedNumbers,
    fit_arguments,
    is_frame,
    last_step,
    part_of,
)
from tamiz.search.resampling import fit_to_the_end, run_jobs
from tamiz.search.splits import dividing, make_splits
from tamiz.validation import (
    check_classes,
    check_level,
    check_regression_target,
    check_sample_weight,
    check_units,
    checked,
    fittable,
    integer_from,
    names_for,
    number_of_jobs,
    verbosity,
)

if TYPE_CHECKING:
    import pandas as pd

#: Features whose ranks correlate by at least this much are grouped by ``feature_groups="auto"``.
ALIKE = 0.7
_NAMES_SHOWN = 3


class FoldOptions(TypedDict, total=False):
    """How folds are made, judged and run; keywords of both importances."""

    cv: Any
    scoring: Any
    random_state: Any
    n_jobs: int | None
    verbose: bool | int


@dataclass(frozen=True)
class FoldImportances:
    """Importances of features, or of groups of them, measured in the test rows of folds.

    Attributes
    ----------
    values : array of shape (n_units, n_splits, n_repeats)
        By how much the score falls, for each unit, split and shuffle.
    scores : array of shape (n_splits,)
        Scores with all features as they are.
    kind : {"permutation", "leave_covariate_out"}
        How they were measured.
    metric : str
        Name of the score.
    units : list of arrays
        Positions of the features of each unit.
    unit_names : list of str
        Their names.
    feature_names : list of str
        Names of all features.
    n_train, n_test : arrays of shape (n_splits,)
        Sizes of both parts of each split.
    """

    values: np.ndarray
    scores: np.ndarray
    kind: str
    metric: str
    units: list[np.ndarray]
    unit_names: list[str]
    feature_names: list[str]
    n_train: np.ndarray
    n_test: np.ndarray

    @property
    def importances(self) -> np.ndarray:
        """Means over splits and shuffles."""
        return self.values.mean(axis=(1, 2))

    @property
    def spread_of_shuffles(self) -> np.ndarray:
        """Standard deviation over the shuffles of a split, mean over splits; 0 without shuffles."""
        if self.values.shape[2] < 2:
            return np.zeros(len(self.values))
        return self.values.std(axis=2, ddof=1).mean(axis=1)

    @checked(confidence=check_level)
    def intervals(self, confidence: float = 0.95) -> np.ndarray:
        """Corrected resampled t intervals (n_units, 2), each for a unit by itself.

        They are those of Nadeau and Bengio for the mean over splits, and hold what splits and
        shuffles vary. With a single split there are none: NaN.

        Parameters
        ----------
        confidence : float, default=0.95
            How often an interval covers.
        """
        found = [
            corrected_interval(one, self.n_train, self.n_test, confidence, False)
            for one in self.values.mean(axis=2)
        ]
        return np.array([(one.low, one.high) for one in found])

    def to_frame(self, confidence: float = 0.95) -> pd.DataFrame:
        """A data frame with a row for each unit, the most important first.

        Parameters
        ----------
        confidence : float, default=0.95
            Of the intervals ``low`` to ``high``.
        """
        importances, ends = self.importances, self.intervals(confidence)
        order = np.argsort(-importances, kind="stable")
        return frames().DataFrame(
            {
                "name": [self.unit_names[u] for u in order],
                "importance": importances[order],
                "low": ends[order, 0],
                "high": ends[order, 1],
                "spread_of_shuffles": self.spread_of_shuffles[order],
                "n_features": [len(self.units[u]) for u in order],
            }
        )

    @checked(top=integer_from(1))
    def plot(self, top: int = 20, ax: Any = None, *, confidence: float = 0.95) -> Any:
        """Draw the most important units with their intervals; a dot for each split.

        Parameters
        ----------
        top : int, default=20
            How many units.
        ax : matplotlib axes, optional
            Where to draw; on a figure of its own if None.
        confidence : float, default=0.95
            Of the intervals.

        Returns
        -------
        matplotlib axes
        """
        importances, ends = self.importances, self.intervals(confidence)
        best = np.argsort(-importances, kind="stable")[:top][::-1]
        ax = axes(ax, height=max(2.5, 1.1 + 0.24 * len(best)))
        ax.axvline(0.0, color="0.6", linewidth=1.0, zorder=0)
        for row, u in enumerate(best):
            splits = self.values[u].mean(axis=1)
            ax.plot(splits, np.full(len(splits), row), ".", color="0.72", ms=5, zorder=1)
            if np.isfinite(ends[u]).all():
                ax.plot(ends[u], [row, row], color=PALETTE[0], linewidth=2.0, zorder=2)
        ax.plot(importances[best], np.arange(len(best)), "o", color=INK, ms=4, zorder=3)
        ax.set_yticks(np.arange(len(best)), [self.unit_names[u] for u in best])
        ax.set_xlabel(f"fall of the {self.metric.replace('_', ' ')} ({confidence:.0%} interval)")
        return ax


# ---------------------------------------------------------------------------- what a user calls


@checked(n_repeats=integer_from(1))
def permutation_importance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_repeats: int = 10,
    feature_groups: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    **folds: Unpack[FoldOptions],
) -> FoldImportances:
    """How much the score of test rows falls when a feature is shuffled, inside folds.

    Parameters
    ----------
    estimator : estimator or pipeline
        What is fitted to the training rows of each split: a clone of it.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Samples; whatever the estimator takes.
    y : array of shape (n_samples,)
        Target.
    n_repeats : int, default=10
        Shuffles of each unit in each split.
    feature_groups : None, "auto", list of lists, or dict of lists
        Features that are shuffled together, by position or name; the keys of a dict name the
        groups. "auto" groups numeric features all of whose ranks correlate by at least 0.7 in
        absolute value. Alone, each of two features that say the same looks unimportant.
    groups : array of shape (n_samples,), optional
        Groups of samples that stay together, or times for
        :class:`~tamiz.search.TimeFolds`.
    sample_weight : array of shape (n_samples,), optional
        Weights, in fits and scores.
    **folds
        Keywords: ``cv`` (number of folds, splitter, or splits; 5 by default), ``scoring`` (a metric
        of scikit-learn; the estimator's own by default), ``random_state``, ``n_jobs``, ``verbose``.

    Returns
    -------
    FoldImportances
        With ``importances``, ``intervals()``, ``values``, ``to_frame()`` and ``plot()``.

    See Also
    --------
    leave_covariate_out : Fits anew without the feature.
    shapley_values : What features add to single decisions.

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45.

    Examples
    --------
    The first two features say nearly the same:

    >>> import numpy as np
    >>> from tamiz.explain import permutation_importance
    >>> from tamiz.svm import SVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=200)
    >>> found = permutation_importance(
    ...     SVC(), X, X[:, 0] + X[:, 1] > 0, feature_groups="auto", random_state=0
    ... )
    >>> found.unit_names, found.importances.round(1).tolist()
    (['x0 + x1', 'x2', 'x3'], [0.4, 0.0, 0.0])
    """
    setting = _setting(estimator, X, y, groups, sample_weight, folds)
    units, names = _units_of(feature_groups, setting)
    work = _Shuffling(setting, [np.array(unit) for unit in units], n_repeats)
    return _measured(work, units, names, "permutation")


@checked()
def leave_covariate_out(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    feature_groups: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    **folds: Unpack[FoldOptions],
) -> FoldImportances:
    """How much the score of test rows falls when a method has to do without a feature.

    The method is fitted anew without the feature (leave one covariate out, LOCO), so that others
    may take over: what is measured is what only this feature knows. It takes one fit for each unit
    and split.

    Parameters
    ----------
    estimator : estimator or pipeline
        What is fitted to the training rows of each split: a clone of it.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Samples; whatever the estimator takes.
    y : array of shape (n_samples,)
        Target.
    feature_groups : None, "auto", list of lists, or dict of lists
        Features that are left out together, as in :func:`permutation_importance`.
    groups : array of shape (n_samples,), optional
        Groups of samples that stay together, or times.
    sample_weight : array of shape (n_samples,), optional
        Weights, in fits and scores.
    **folds
        Keywords: ``cv``, ``scoring``, ``random_state``, ``n_jobs``, ``verbose``, as in
        :func:`permutation_importance`.

    Returns
    -------
    FoldImportances

    See Also
    --------
    permutation_importance : Keeps the model, and shuffles.

    References
    ----------
    .. [1] J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman (2018). Distribution-free
           predictive inference for regression. JASA 113.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.explain import leave_covariate_out
    >>> from tamiz.svm import SVC
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = leave_covariate_out(SVC(), X, X[:, 0] * X[:, 1] > 0, random_state=0)
    >>> found.to_frame()["name"].tolist()[-1], bool((found.intervals()[:2, 0] > 0.2).all())
    ('x2', True)
    """
    setting = _setting(estimator, X, y, groups, sample_weight, folds)
    units, names = _units_of(feature_groups, setting)
    if len(units) < 2:
        raise ValueError("Nothing would be left without the only feature, or group of features.")
    return _measured(_LeavingOut(setting, units), units, names, "leave_covariate_out")


# ---------------------------------------------------------------------------- the setting


class _FoldWork(NamedTuple):
    """What is fitted and judged, and how."""

    judge: CrossValidation
    fast: Judge  # scores subsets of the features
    seed: int
    names: list[str]
    n_jobs: int | None
    verbose: bool | int
    scoring: Any


def _setting(
    estimator: Any, X: Any, y: Any, groups: Any, sample_weight: Any, folds: FoldOptions
) -> _FoldWork:
    options = _FoldSettings(**folds)
    fittable("estimator", estimator)
    owner = ColumnNames()
    table, _ = table_to_judge(owner, X, estimator, options.scoring)
    n, p = table.shape
    if is_regressor(estimator):
        target = check_regression_target(y, n)
    else:
        labels = check_classes(y, n)
        target = labels.classes[labels.codes]
    weight = None if sample_weight is None else check_sample_weight(sample_weight, n)
    seed = int(check_random_state(options.random_state).randint(2**31 - 1))
    model = seeded(clone(estimator), seed)
    splits = make_splits(options.cv, table, target, is_classifier(estimator), seed, groups)
    given = model, table, target, splits, options.scoring, weight
    names = [str(name) for name in getattr(owner, "feature_names_in_", ())]
    return _FoldWork(
        CrossValidation(*given),
        judge_for(*given),
        seed,
        names_for(names or None, p),
        options.n_jobs,
        options.verbose,
        options.scoring,
    )


class _FoldSettings:
    """The options, checked, with what they are if they are not given."""

    @checked(cv=dividing, n_jobs=number_of_jobs, verbose=verbosity)
    def __init__(
        self,
        *,
        cv: Any = 5,
        scoring: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.cv = 5 if cv is None else cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


def _units_of(feature_groups: Any, setting: _FoldWork) -> tuple[list[np.ndarray], list[str]]:
    """Features that are treated together, and what they are called."""
    names, p = setting.names, len(setting.names)
    given = feature_groups
    if isinstance(given, str) and given == "auto":
        given = [group for group in alike(setting.judge.X) if len(group) > 1] or None
    units = check_units(given, None, p, names)
    called = {tuple(features): key for key, features in (units.named or {}).items()}
    shown = [called.get(tuple(unit), _joined([names[j] for j in unit])) for unit in units.members]
    return units.members, shown


def _joined(names: Sequence[str]) -> str:
    if len(names) <= _NAMES_SHOWN:
        return " + ".join(names)
    return " + ".join(names[: _NAMES_SHOWN - 1]) + f" + {len(names) - _NAMES_SHOWN + 1} more"


def alike(X: Any, correlation: float = ALIKE) -> list[list[int]]:
    """Groups of numeric features, every two of which have ranks that correlate so much.

    Clusters by complete linkage; text, and columns that do not vary, are alone.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(10.0)
    >>> alike(np.column_stack([x, np.sin(5 * x), -(x**3)]))
    [[0, 2], [1]]
    """
    table, numeric = _numeric_columns(X)
    varies = np.ptp(table, axis=0) > 0
    numeric = numeric[varies]
    ranks = stats.rankdata(table[:, varies], axis=0)
    labels = np.arange(1, len(numeric) + 1)
    if len(numeric) > 1:
        ranks = (ranks - ranks.mean(axis=0)) / ranks.std(axis=0)
        apart = 1.0 - np.abs(ranks.T @ ranks) / len(ranks)
        apart = np.maximum((apart + apart.T) / 2.0, 0.0)
        np.fill_diagonal(apart, 0.0)
        tree = linkage(squareform(apart, checks=False), "complete")
        labels = fcluster(tree, 1.0 - correlation + 1e-12, "distance")
    groups = [numeric[labels == k].tolist() for k in np.unique(labels)]
    alone = np.setdiff1d(np.arange(X.shape[1]), numeric)
    return sorted([*groups, *([int(j)] for j in alone)])


def _numeric_columns(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Columns of numbers, missing ones replaced by the median, and their positions."""
    if is_frame(X):
        columns = list(nw.from_native(X, eager_only=True).iter_columns())
        which = [j for j, c in enumerate(columns) if c.dtype.is_numeric()]
        parts = [np.asarray(columns[j].to_numpy(), dtype=np.float64) for j in which]
        table = np.column_stack(parts) if parts else np.empty((X.shape[0], 0))
    else:
        table = X.toarray() if sparse.issparse(X) else np.array(X, dtype=np.float64)
        which = list(range(table.shape[1]))
    for j in np.flatnonzero(np.isnan(table).any(axis=0)):
        known = table[~np.isnan(table[:, j]), j]
        table[np.isnan(table[:, j]), j] = np.median(known) if len(known) else 0.0
    return table, np.array(which, dtype=np.intp)


# ---------------------------------------------------------------------------- the work


class _Shuffling:
    """Fits the model of a split, and scores its test rows with columns shuffled."""

    label = "permutation importance"

    def __init__(self, setting: _FoldWork, units: list[np.ndarray], n_repeats: int):
        self.setting, self.units, self.n_repeats = setting, units, n_repeats

    def jobs(self) -> Iterator[tuple[int]]:
        yield from ((k,) for k in range(self.setting.judge.n_splits))

    def __call__(self, k: int) -> tuple[np.ndarray, float]:
        """Falls of the score (units, repeats) in split ``k``, and the score itself."""
        judge = self.setting.judge
        train, test = judge.splits[k]
        everything = np.arange(judge.X.shape[1])
        weight = None if judge.sample_weight is None else judge.sample_weight[train]
        machine = judge.machine(everything)
        known = part_of(judge.X, train, everything)
        fit_to_the_end(machine, known, judge.y[train], **fit_arguments(machine, weight))
        rows = part_of(judge.X, test, everything)
        score = judge.measure(machine, rows, test)[0]
        quick = follower(machine, rows, self.setting.scoring)
        if quick is not None and abs(judge.measure(quick.plain(), rows, test)[0] - score) > 1e-12:
            quick = None
        falls = np.empty((len(self.units), self.n_repeats))
        for u, unit in enumerate(self.units):
            for r in range(self.n_repeats):
                order = np.random.default_rng([self.setting.seed, k, u, r]).permutation(len(test))
                if quick is None:
                    shuffled = with_shuffled(rows, unit, order)
                    falls[u, r] = score - judge.measure(machine, shuffled, test)[0]
                else:
                    falls[u, r] = score - judge.measure(quick(unit, order), rows, test)[0]
        return falls, score

    def gather(self, found: Sequence[tuple[np.ndarray, float]]) -> tuple[np.ndarray, np.ndarray]:
        """Falls (units, splits, repeats) and scores."""
        return np.stack([f for f, _ in found], axis=1), np.array([score for _, score in found])


class _LeavingOut:
    """Scores the method without each unit in turn, in all splits."""

    label = "leave covariate out"

    def __init__(self, setting: _FoldWork, units: list[np.ndarray]):
        self.setting, self.units = setting, units

    def jobs(self) -> Iterator[tuple[int]]:
        yield from ((u,) for u in range(-1, len(self.units)))

    def __call__(self, u: int) -> np.ndarray:
        """Scores of the splits without a unit; with all for -1."""
        features = np.arange(len(self.setting.names))
        if u >= 0:
            features = np.setdiff1d(features, self.units[u])
        scores: np.ndarray = self.setting.fast.score(features)[0]
        return scores

    def gather(self, found: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Falls (units, splits, 1) and scores."""
        return (found[0] - np.array(found[1:]))[:, :, None], found[0]


def _measured(
    work: _Shuffling | _LeavingOut, units: list[np.ndarray], names: list[str], kind: str
) -> FoldImportances:
    setting = work.setting
    jobs = list(work.jobs())
    found: list[Any] = []
    with Progress(work.label, setting.verbose) as progress:
        for one in run_jobs(
            type(work).__call__, work, jobs, setting.n_jobs, setting.judge.estimator
        ):
            found.append(one)
            progress.update(f"{len(found)} of {len(jobs)} parts")
    values, scores = work.gather(found)
    sizes = np.array([(len(train), len(test)) for train, test in setting.judge.splits])
    metric = setting.judge.metrics[0]
    return FoldImportances(
        values, scores, kind, metric, units, names, setting.names, sizes[:, 0], sizes[:, 1]
    )


def with_shuffled(X: Any, features: np.ndarray, order: np.ndarray) -> Any:
    """A table of which some columns are in another order, all of them in the same."""
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        names = [frame.columns[j] for j in features]
        moved = (frame[name][order.tolist()].alias(name) for name in names)
        return frame.with_columns(*moved).to_native()
    if sparse.issparse(X):
        columns = X.tocsc(copy=True)
        pieces = [columns[:, [j]] for j in range(X.shape[1])]
        for j in features:
            pieces[j] = pieces[j][order]
        return sparse.hstack(pieces, format="csr")
    table = X.copy()
    table[:, features] = X[np.ix_(order, features)]
    return table


class _Follower:
    """Predictions of a machine with two classes, or of numbers, when columns are shuffled."""

    def __init__(self, decisions: ExpansionDecisions, classes: np.ndarray | None):
        self.decisions, self.classes = decisions, classes

    def __call__(self, unit: np.ndarray, order: np.ndarray) -> Any:
        return self._predicted(self.decisions.shuffled(unit, order))

    def plain(self) -> Any:
        """Predictions with the columns as they are."""
        return self._predicted(self.decisions.plain())

    def _predicted(self, values: np.ndarray) -> Any:
        decision = values[:, 0]
        if self.classes is None:
            return PredictedNumbers(decision)
        return Predicted(self.classes, self.classes[(decision > 0).astype(np.intp)], decision)


def follower(machine: Any, rows: Any, scoring: Any) -> _Follower | None:
    """What follows the shuffled columns, where it can and where scores look at nothing else."""
    plain = isinstance(rows, np.ndarray) and rows.dtype == np.float64 and np.isfinite(rows).all()
    several = isinstance(scoring, dict | list | tuple | set)
    if not plain or several or not can_stand_in(scoring):
        return None
    classes = getattr(last_step(machine), "classes_", None) if is_classifier(machine) else None
    if classes is None and not is_regressor(machine):
        return None
    if classes is not None and (len(classes) != 2 or _asks_for_probabilities(scoring)):
        return None
    decisions = decisions_of(machine, rows)
    return _Follower(decisions, classes) if isinstance(decisions, ExpansionDecisions) else None


def _asks_for_probabilities(scoring: Any) -> bool:
    from sklearn.metrics import get_scorer

    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    asked = getattr(scorer, "_response_method", "predict")
    first = asked if isinstance(asked, str) else next(iter(asked))
    return str(first) == "predict_proba"
