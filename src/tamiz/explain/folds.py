"""Features shuffled in the test rows of folds, or left out of fits: the work of every split.

Where the judge is a kernel expansion or a linear machine, alone or behind steps that keep columns
apart, decision values follow the shuffled columns, and nothing is predicted anew
(:mod:`tamiz.explain.decisions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse, stats
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import check_random_state

from tamiz.evaluation.comparison.arguments import ColumnNames
from tamiz.explain.decisions import ExpansionDecisions, decisions_of
from tamiz.routing import routes_of_function
from tamiz.runtime.progress import Progress
from tamiz.search.base import seeded, table_to_judge
from tamiz.search.fast import can_stand_in, judge_for
from tamiz.search.judges import (
    CrossValidation,
    Judge,
    Predicted,
    PredictedNumbers,
    is_frame,
    last_step,
    make_scorer,
    part_of,
)
from tamiz.search.resampling import fit_to_the_end, run_jobs
from tamiz.search.splits import dividing, make_splits, splitting
from tamiz.validation import (
    check_classes,
    check_regression_target,
    check_sample_weight,
    check_units,
    checked,
    fittable,
    names_for,
    number_of_jobs,
    refused,
    require_memory,
    verbosity,
)

#: Features whose ranks correlate by at least this much are grouped by ``feature_groups="auto"``.
ALIKE = 0.7
_NAMES_SHOWN = 3


class FoldOptions(TypedDict, total=False):
    """How folds are made, judged and run; keywords of both importances."""

    cv: Any
    scoring: Any
    params: Mapping[str, Any] | None
    random_state: Any
    n_jobs: int | None
    verbose: bool | int


# ---------------------------------------------------------------------------- the setting


class FoldWork(NamedTuple):
    """What is fitted and judged, and how."""

    judge: CrossValidation
    fast: Judge  # scores subsets of the features
    seed: int
    names: list[str]
    n_jobs: int | None
    verbose: bool | int
    scoring: Any


def setting_of(
    called: str,
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    sample_weight: Any,
    folds: FoldOptions,
) -> FoldWork:
    """Checked input and splits; ``called`` is the function that was called."""
    unknown = sorted(set(folds) - set(FoldOptions.__annotations__))
    if unknown:
        known = ", ".join(FoldOptions.__annotations__)
        raise TypeError(f"{unknown[0]!r} is no keyword here; those of folds are {known}.")
    options = _FoldSettings(**folds)
    if isinstance(options.scoring, dict | list | tuple | set):
        raise refused("scoring", options.scoring, "must be one metric; ask for others one by one.")
    fittable("estimator", estimator)
    owner = ColumnNames()
    table, _ = table_to_judge(owner, X, estimator, options.scoring)
    n, p = table.shape
    if is_regressor(estimator):
        target = check_regression_target(y, n)
    else:
        labels = check_classes(y, n)
        target = labels.classes[labels.codes]
        if options.scoring == "roc_auc" and len(labels.classes) > 2:
            must = "is for two classes; use 'roc_auc_ovr' or 'roc_auc_ovo'"
            raise refused("scoring", options.scoring, must)
    weight = None if sample_weight is None else check_sample_weight(sample_weight, n)
    seed = int(check_random_state(options.random_state).randint(2**31 - 1))
    model = seeded(clone(estimator), seed)
    children = {
        "estimator": (model, "fit"),
        "scorer": (make_scorer(model, options.scoring)[0], "score"),
        "splitter": (options.cv, "split"),
    }
    own = {"sample_weight": weight, "groups": groups}
    routes = routes_of_function(called, children, n, options.params, **own)
    asked = splitting(options.cv, groups, routes)
    splits = make_splits(options.cv, table, target, is_classifier(estimator), seed, **asked)
    if weight is not None:
        _require_weight(weight, splits)
    given = model, table, target, splits, options.scoring, weight, routes
    names = [str(name) for name in getattr(owner, "feature_names_in_", ())]
    return FoldWork(
        CrossValidation(*given),
        judge_for(*given),
        seed,
        names_for(names or None, p),
        options.n_jobs,
        options.verbose,
        options.scoring,
    )


def _require_weight(weight: np.ndarray, splits: Sequence[Any]) -> None:
    for k, parts in enumerate(splits):
        for part, which in zip(parts, ("training", "test"), strict=True):
            if not np.any(weight[part]):
                raise ValueError(
                    f"sample_weight is zero for all {which} samples of split {k}; leave samples "
                    "without weight out, or use larger parts."
                )


class _FoldSettings:
    """The options, checked, with what they are if they are not given."""

    @checked(cv=dividing, n_jobs=number_of_jobs, verbose=verbosity)
    def __init__(
        self,
        *,
        cv: Any = 5,
        scoring: Any = None,
        params: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ):
        self.cv = 5 if cv is None else cv
        self.scoring = scoring
        self.params = params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


def units_of(feature_groups: Any, setting: FoldWork) -> tuple[list[np.ndarray], list[str]]:
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
    require_memory(
        32 * len(numeric) ** 2,
        f"correlations of all pairs of {len(numeric):,} features",
        "Select features first, or pass the groups as lists.",
    )
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


class Shuffling:
    """Fits the model of a split, and scores its test rows with columns shuffled."""

    label = "permutation importance"

    def __init__(self, setting: FoldWork, units: list[np.ndarray], n_repeats: int):
        self.setting, self.units, self.n_repeats = setting, units, n_repeats
        alone = [k for k, (_, test) in enumerate(setting.judge.splits) if len(test) < 2]
        if alone:
            raise refused(
                "cv",
                f"split {alone[0]}",
                "has a single test sample, whose values no other sample can take. Use test parts "
                "of two samples or more, such as cv=5, or leave_covariate_out.",
            )

    def jobs(self) -> Iterator[tuple[int]]:
        yield from ((k,) for k in range(self.setting.judge.n_splits))

    def __call__(self, k: int) -> tuple[np.ndarray, float]:
        """Falls of the score (units, repeats) in split ``k``, and the score itself."""
        judge = self.setting.judge
        train, test = judge.splits[k]
        everything = np.arange(judge.X.shape[1])
        machine = judge.machine(everything)
        known = part_of(judge.X, train, everything)
        arguments = judge.arguments(machine, train)
        fit_to_the_end(machine, known, judge.y[train], **arguments)
        rows = part_of(judge.X, test, everything)
        score = judge.measure(machine, rows, test)[0]
        quick = follower(machine, rows, self.setting.scoring)
        if quick is not None and abs(judge.measure(quick.plain(), rows, test)[0] - score) > 1e-12:
            quick = None
        falls = np.empty((len(self.units), self.n_repeats))
        for u, unit in enumerate(self.units):
            for r in range(self.n_repeats):
                order = in_a_cycle(len(test), np.random.default_rng([self.setting.seed, k, u, r]))
                if quick is None:
                    shuffled = with_shuffled(rows, unit, order)
                    falls[u, r] = score - judge.measure(machine, shuffled, test)[0]
                else:
                    falls[u, r] = score - judge.measure(quick(unit, order), rows, test)[0]
        return falls, score

    def gather(self, found: Sequence[tuple[np.ndarray, float]]) -> tuple[np.ndarray, np.ndarray]:
        """Falls (units, splits, repeats) and scores."""
        return np.stack([f for f, _ in found], axis=1), np.array([score for _, score in found])


class LeavingOut:
    """Scores the method without each unit in turn, in all splits."""

    label = "leave covariate out"

    def __init__(self, setting: FoldWork, units: list[np.ndarray]):
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


def measured(work: Shuffling | LeavingOut) -> tuple[np.ndarray, np.ndarray]:
    """Falls of the score (units, splits, repeats), and scores, shared among workers."""
    setting = work.setting
    jobs = list(work.jobs())
    found: list[Any] = []
    with Progress(work.label, setting.verbose, most=len(jobs)) as progress:
        for one in run_jobs(
            type(work).__call__, work, jobs, setting.n_jobs, setting.judge.estimator
        ):
            found.append(one)
            progress.update(f"{len(found)} of {len(jobs)} parts")
    return work.gather(found)


def in_a_cycle(n: int, rng: np.random.Generator) -> np.ndarray:
    """Whose value each of ``n`` rows gets: another's, all of them equally likely.

    Examples
    --------
    >>> in_a_cycle(4, np.random.default_rng(0)).tolist()
    [1, 3, 0, 2]
    """
    way = rng.permutation(n)
    order = np.empty(n, dtype=np.intp)
    order[way] = np.roll(way, -1)
    return order


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
