r"""Shadows: features that are better than shuffled copies of features, for any criterion.

A shadow is a feature with its values shuffled over the rows. In every round the criterion is fitted
to the features and to new shadows of all of them; a feature has a *hit* if it matters more than the
best shadow (or a percentile of them). Where features are groups of columns, these shadows are those
of as many columns. After ``m`` rounds a feature that were as good as the best
shadow would have ``Binomial(m, 1/2)`` hits: it is accepted if its hits are significantly more,
rejected if they are significantly fewer. Rejected features and their shadows leave.

The tests are two-sided, corrected for the number of features and for the number of looks: they are
made every five rounds, each look at the level ``alpha`` divided by the number of looks. So the
chance that a feature without a preference for either side is ever decided is at most ``alpha``.
Between two looks rounds do not depend on each other and are run in parallel.

With the forest of this package columns are cut into bins once: the bins of a shuffled column are
the shuffled bins.

References
----------
.. [1] M. Kursa, W. Rudnicki (2010). Feature selection with the Boruta package. Journal of
       Statistical Software 36.
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from tamiz.base import PathStep, Selector, Stopwatch, order_by
from tamiz.discovery.importances import (
    CRITERIA,
    ColumnScorer,
    as_indicators,
    scorer_for,
)
from tamiz.display import PALETTE, axes, frames
from tamiz.filters.univariate.corrections import corrected
from tamiz.information.columns import CodedTable, read_columns
from tamiz.routing import (
    refuse_unknown,
    refuse_unrequested,
    router_of,
    routes_to,
    routes_unasked,
)
from tamiz.runtime.checkpoint import Checkpoint, open_checkpoint
from tamiz.runtime.progress import Progress
from tamiz.search.base import takes_missing
from tamiz.search.resampling import label_blocks, run_jobs
from tamiz.search.splits import kept_together
from tamiz.tree.forest import Bins, ForestRules, features_tried, grow_forest
from tamiz.validation import (
    N_JOBS,
    check_class_weight,
    check_classes,
    check_sample_weight,
    check_target,
    check_units,
    check_X,
    depth_of_caller,
    group_codes,
    refuse_duplicate_names,
    refuse_missing,
    unchanged_on_error,
)

if TYPE_CHECKING:
    import pandas as pd

#: Rounds between two looks at the hits.
_LOOK = 5
#: Fewest shadows of a round: some are shuffled more than once if there are fewer features.
_FEWEST = 5
#: Most columns of shadows in one fit for each column of features, where units differ in size.
_BESIDE = 3

ACCEPTED, UNDECIDED, REJECTED = 1, 0, -1
_WORDS = {ACCEPTED: "accepted", UNDECIDED: "undecided", REJECTED: "rejected"}


class Shadows(Selector):
    """Accept features that are better than shuffled copies, reject those that are not.

    Boruta's idea for any criterion. It looks for *all* relevant features, redundant ones included;
    most other selectors look for few that are enough.

    Parameters
    ----------
    selector : selector, estimator, str or None, default=None
        The criterion: a selector of tamiz or scikit-learn, a machine, an estimator with ``coef_``
        or ``feature_importances_``, or a name as in :class:`Knockoffs`. By default the decrease of
        impurity in a random forest.
    alpha : float, default=0.05
        Level of all tests together. It bounds the chance of a decision by the chance of the
        shuffles alone, not that of a feature that fits these samples by accident: see Notes.
    max_rounds : int, default=100
        Most rounds; what is not decided then is undecided.
    percentile : float, default=100
        A hit is to matter more than this percentile of the shadows; 100 for the best of them.
        Lower values accept more.
    correction : {"bonferroni", "bh"}, default="bonferroni"
        How the tests are corrected for the number of features: the chance of a single wrong
        decision, or the fraction of wrong ones (Benjamini and Hochberg).
    n_trees : int or None, default=None
        Trees of a round, of the default forest; by default 80 up to 50 features, 40 from 100 on.
    min_samples_leaf : int or None, default=None
        Least number of samples on either side of a split, of the default forest; by default 2 %
        of them, which makes trees small and importances steady.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the default forest.
    categorical_features : array-like or None, default=None
        Columns to take as categories besides those that hold text: indices, names or a mask. The
        default forest takes their codes as numbers; "rbf", "linear" and "lasso" take indicators of
        their values, and the median in place of a missing number.
    feature_groups : list of lists or dict of lists, optional
        Columns that are one feature, by position or name, such as the indicators of a category or
        the values of one spectrum. Their values are shuffled together, and they are accepted or
        rejected together. A group has to beat shadows of as many columns as it has; of sizes that
        are rare more shadows are made, in further fits if need be.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target holds, for a ``selector`` given by name.
    n_jobs : int or None, default=None
        Workers, as in joblib; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the shuffles, and of a criterion that has none.
    checkpoint : path or None, default=None
        File to keep the hits in, so that a run that was stopped can be resumed.
    resume : bool, default=False
        Whether to resume from ``checkpoint``.
    verbose : bool or int, default=0
        Whether to show progress.

    Attributes
    ----------
    support_ : boolean array of shape (n_features,)
        Which features are accepted.
    undecided_ : boolean array of shape (n_features,)
        Which are neither accepted nor rejected.
    decisions_ : array of shape (n_features,)
        1 accepted, 0 undecided, -1 rejected.
    ranking_ : array of shape (n_features,)
        Position of each feature, all distinct: accepted ones first, then those undecided, then
        those rejected, the last to leave first; among equals by the fraction of hits, then by
        importance.
    hits_, rounds_ : arrays of shape (n_features,)
        Number of hits, and of rounds in which each feature took part.
    scores_ : array of shape (n_features,)
        Fraction of hits.
    history_ : array of shape (n_rounds, n_features)
        Importances of the features in every round; NaN for those that had left.
    limits_ : array of shape (n_rounds,) or (n_rounds, n_features)
        The importance that had to be exceeded; for each feature where features differ in their
        number of columns (``feature_groups``, or indicators of categories).
    n_rounds_ : int
        Number of rounds.
    status_ : {"converged", "stopped", "interrupted"}
        All features decided; or ``max_rounds`` reached, or so near that no round to come could
        decide any of those left; or Ctrl-C after some rounds.
    order_, selection_
        As every selector has them.

    See Also
    --------
    Knockoffs : A bound on the rate of false discoveries among new samples alike.
    tamiz.embedded.ForestImportance : One forest, and no tests.

    Notes
    -----
    All rounds see the same samples. A feature that has nothing to do with the target, but happens
    to fit these samples better than any shadow does, is accepted however many rounds there are.
    Among ``p`` such features one of them is the best by chance, and about as likely as not better
    than the best of ``p`` shadows.

    References
    ----------
    .. [1] M. Kursa, W. Rudnicki (2010). Feature selection with the Boruta package. Journal of
           Statistical Software 36.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.discovery import Shadows
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(300, 10))
    >>> y = (X[:, 2] > 0) ^ (X[:, 5] > 0)
    >>> Shadows(random_state=0).fit(X, y).get_support(indices=True).tolist()
    [2, 5]
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "selector": [StrOptions(set(CRITERIA)), HasMethods(["fit"]), None],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "percentile": [Interval(Real, 0, 100, closed="right")],
        "correction": [StrOptions({"bonferroni", "bh"})],
        "n_trees": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left"), None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "categorical_features": ["array-like", None],
        "feature_groups": [None, list, tuple, dict],
        "task": [StrOptions({"auto", "classification", "regression"})],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "resume": ["boolean"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        selector: Any = None,
        *,
        alpha: float = 0.05,
        max_rounds: int = 100,
        percentile: float = 100,
        correction: str = "bonferroni",
        n_trees: int | None = None,
        min_samples_leaf: int | None = None,
        class_weight: Any = None,
        categorical_features: Any = None,
        feature_groups: Any = None,
        task: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: bool | int = 0,
    ):
        self.selector = selector
        self.alpha = alpha
        self.max_rounds = max_rounds
        self.percentile = percentile
        self.correction = correction
        self.n_trees = n_trees
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.feature_groups = feature_groups
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.resume = resume
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        times: Any = None,
        **metadata: Any,
    ) -> Shadows:
        """Run the rounds and decide.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Samples. Categories and missing values where the criterion takes them; the default
            forest takes a missing number as below all others.
        y : array of shape (n_samples,)
            Target; classes for the default forest.
        sample_weight : array of shape (n_samples,), optional
            Weights, where the criterion takes them.
        groups : array of shape (n_samples,), optional
            Which rows belong together, such as those of one laboratory: values are shuffled among
            the rows of a group only, so that a shadow differs between groups as its feature does.
        times : array of shape (n_samples,), optional
            Numbers or dates, in place of ``groups``: values are shuffled within 20 blocks of
            neighbours in time, so that a shadow has the slow trend of its feature.
        **metadata : dict
            What else the criterion asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self : Shadows
        """
        with unchanged_on_error(self):
            refuse_unknown("fit", metadata)
            refuse_unrequested(self, sample_weight=sample_weight, groups=groups, **metadata)
            self._fit(X, y, times, {"sample_weight": sample_weight, "groups": groups, **metadata})
        return self

    def get_metadata_routing(self) -> Any:
        """Who gets what is passed to ``fit``: the selector.

        Returns
        -------
        routing : MetadataRouter
        """
        return router_of(self, selector=(self.selector, "fit"))

    def _fit(self, X: Any, y: Any, times: Any, given: dict[str, Any]) -> None:
        watch = Stopwatch()
        self._validate_params()
        table = self._read(X)
        n, p = table.X.shape
        y = check_target(y, n)
        weight = given["sample_weight"]
        weight = None if weight is None else check_sample_weight(weight, n)
        given["sample_weight"] = weight
        within = kept_together(given["groups"], times, n)
        shuffle = Shuffle.within(within, n)
        if within is not None:  # refused if the target is the same within every group
            label_blocks(within, y, "groups" if times is None else "times")
        units = check_units(self.feature_groups, None, p, table.names)
        competition = self._competition(table, y, given, shuffle, units.members)
        beside = [] if weight is None else [weight]
        beside += [] if within is None else [group_codes(within, n)]
        own = ("sample_weight", "groups")
        beside += [np.asarray(value) for name, value in given.items() if name not in own]
        store = open_checkpoint(self, table.X, y, *beside)
        random = check_random_state(self.random_state)
        state = State.start(
            units.sizes, int(random.randint(2**31 - 1)), None if store is None else store.state
        )
        with Progress("Shadows", self.verbose, most=-(-int(self.max_rounds) // _LOOK)) as progress:
            self._run(competition, state, store, progress)
        self.n_rounds_ = len(state.limits)
        unit = units.of_feature()
        self.decisions_ = state.decisions[unit]
        self.hits_, self.rounds_ = state.hits[unit], state.rounds[unit]
        self.history_ = np.array(state.history).reshape(-1, len(units.members))[:, unit]
        limits = np.array(state.limits).reshape(-1, len(units.members))
        alike = len({len(part) for part in competition.members}) == 1
        self.limits_ = np.nanmax(limits, axis=1) if alike else limits[:, unit]
        self.undecided_ = self.decisions_ == UNDECIDED
        fraction = state.hits / np.maximum(state.rounds, 1)
        order = order_by(state.decisions, state.rounds, fraction, state.mean_importance())
        members = units.members
        path = [step._replace(features=members[step.features[0]].tolist()) for step in state.path]
        self._finish(
            order=np.concatenate([members[k] for k in order]),
            support=self.decisions_ == ACCEPTED,
            scores=fraction[unit],
            path=path,
            seconds=watch.seconds,
            notes={
                "status": self.status_,
                "n_rounds": self.n_rounds_,
                "undecided": np.flatnonzero(self.undecided_),
            },
        )

    # ------------------------------------------------------------------ parts of a fit

    def _read(self, X: Any) -> CodedTable:
        refuse_duplicate_names(X)
        if hasattr(X, "tocsr"):  # scikit-learn has the sentence
            check_X(self, X, reset=True)
        return read_columns(X, self.categorical_features, estimator=self, min_samples=2)

    def _competition(
        self,
        table: CodedTable,
        y: np.ndarray,
        given: dict[str, Any],
        shuffle: Shuffle,
        members: list[np.ndarray],
    ) -> Competition:
        if self.selector is None:
            return self._forest(table.X, y, given["sample_weight"], shuffle, members)
        scaled = isinstance(self.selector, str) and CRITERIA[self.selector].scaled
        if scaled and (table.categorical.any() or np.isnan(table.X).any()):
            X, parts = as_indicators(table)
            table = CodedTable(X, np.zeros(X.shape[1], dtype=bool), {})
            members = [np.concatenate([parts[j] for j in unit]) for unit in members]
        scorer = scorer_for("selector", self.selector, self.task, table, y)
        if not takes_missing(scorer.estimator):
            refuse_missing(table.X, table.names)
        n, by_name = len(table.X), isinstance(self.selector, str)  # which nobody can ask
        routes = (
            routes_unasked("selector", scorer.estimator, n, given)
            if by_name
            else routes_to(self, "selector", scorer.estimator, n, given)
        )
        return ScoredCompetition(scorer, table.X, y, routes.part("selector"), shuffle, members)

    def _forest(
        self,
        X: np.ndarray,
        y: Any,
        weight: np.ndarray | None,
        shuffle: Shuffle,
        members: list[np.ndarray],
    ) -> ForestCompetition:
        weights = np.ones(len(X)) if weight is None else weight
        labels = check_classes(
            y, len(X), weight=weights, quantity="pass a selector for numbers, such as RReliefF()"
        )
        used = np.flatnonzero(weights)
        codes = labels.codes[used]
        by_class = check_class_weight(
            self.class_weight, labels._replace(codes=codes), weights[used]
        )
        X = X[used]
        missing = np.isnan(X)
        if missing.any():  # below all others: a bin of its own where bins are enough
            lowest = np.nanmin(np.where(missing, np.inf, X), axis=0)
            X = np.where(missing, np.where(np.isfinite(lowest), lowest, 0.0) - 1.0, X)
        leaf = self.min_samples_leaf
        leaf = max(1, round(0.02 * len(X))) if leaf is None else int(leaf)
        n_trees = self.n_trees
        if n_trees is None:
            n_trees = min(80, max(40, 4000 // X.shape[1]))
        self.classes_ = labels.classes
        return ForestCompetition.of(
            np.ascontiguousarray(X),
            codes,
            weights[used] * by_class[codes],
            shuffle.part(used),
            (len(labels.classes), leaf, int(n_trees)),
            members,
        )

    def _run(
        self, competition: Competition, state: State, store: Checkpoint | None, progress: Progress
    ) -> None:
        """Rounds until all is decided, there have been enough, or Ctrl-C."""
        n_looks = -(-int(self.max_rounds) // _LOOK)
        level = 0.5 * self.alpha / n_looks
        self.status_ = "converged"
        try:
            while (state.decisions == UNDECIDED).any():
                done = len(state.limits)
                if not state.may_decide(level, self.correction, int(self.max_rounds)):
                    self.status_ = "stopped"
                    break
                active = np.flatnonzero(state.decisions != REJECTED)
                rounds = range(done, min(done + _LOOK, int(self.max_rounds)))
                percentile = float(self.percentile)
                jobs = ((active, state.seed, number, percentile) for number in rounds)
                found = list(
                    run_jobs(one_round, competition, jobs, self.n_jobs, competition.machine)
                )
                for own, limits in found:
                    state.note(active, own, limits)
                state.decide(level, self.correction)
                if store is not None:
                    store.save(state.arrays())
                progress.update(
                    f"round {len(state.limits)}, {(state.decisions == UNDECIDED).sum()} undecided"
                )
        except KeyboardInterrupt:
            if not state.limits:
                raise
            self.status_ = "interrupted"
            warnings.warn(
                f"stopped after {len(state.limits)} of at most {self.max_rounds} rounds; "
                f"{(state.decisions == UNDECIDED).sum()} features are undecided.",
                RuntimeWarning,
                stacklevel=depth_of_caller(),
            )
        if store is not None:
            store.save(state.arrays(), now=True)

    # ------------------------------------------------------------------ what is shown

    def _evidence(self) -> dict[str, Any]:
        if not hasattr(self, "decisions_"):
            return {}
        counts = {word: int((self.decisions_ == code).sum()) for code, word in _WORDS.items()}
        return {**counts, "rounds": self.n_rounds_, **super()._evidence()}

    def to_frame(self) -> pd.DataFrame:
        """The features, best first: decision, hits, rounds, mean importance."""
        self.get_support()
        order = self.order_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of features without a round
            importance = np.nanmean(self.history_, axis=0)
        return frames().DataFrame(
            {
                "name": [self.selection_.names[j] for j in order],
                "index": order,
                "decision": [_WORDS[int(self.decisions_[j])] for j in order],
                "hits": self.hits_[order],
                "rounds": self.rounds_[order],
                "importance": importance[order],
            }
        )

    def plot(self, top: int = 30, ax: Any = None) -> Any:
        """Draw the importances over the rounds as boxes, beside those that had to be exceeded.

        Parameters
        ----------
        top : int, default=30
            Most features that are drawn, by rank.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        self.get_support()
        best = self.order_[: int(top)][::-1]
        ax = axes(ax, height=max(3.0, 1.1 + 0.22 * (len(best) + 1)))
        limits = self.limits_ if self.limits_.ndim == 1 else np.nanmean(self.limits_, axis=1)
        values = [limits, *(self.history_[~np.isnan(self.history_[:, j]), j] for j in best)]
        named = "orientation" in inspect.signature(ax.boxplot).parameters  # Matplotlib 3.10
        lying: dict[str, Any] = {"orientation": "horizontal"} if named else {"vert": False}
        drawn = ax.boxplot(values, patch_artist=True, widths=0.6, **lying)
        colours = {ACCEPTED: PALETTE[0], UNDECIDED: PALETTE[1], REJECTED: "0.8"}
        for patch, j in zip(drawn["boxes"], [-1, *best], strict=True):
            patch.set_facecolor("white" if j < 0 else colours[int(self.decisions_[j])])
        names = ["to exceed", *(self.selection_.names[j] for j in best)]
        ax.set_yticks(np.arange(1, len(names) + 1), names, size="small")
        counts = {word: int((self.decisions_ == value).sum()) for value, word in _WORDS.items()}
        ax.set(xlabel="importance", title=", ".join(f"{n} {word}" for word, n in counts.items()))
        return ax

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inner = self.selector
        named = isinstance(inner, str) and inner in CRITERIA and CRITERIA[inner].scaled
        tags.input_tags.allow_nan = (
            inner is None or named or (hasattr(inner, "fit") and takes_missing(inner))
        )
        return tags


# ---------------------------------------------------------------------------------- the hits


@dataclass
class State:
    """Hits so far, and what was decided.

    Attributes
    ----------
    seed : int
        Round ``k`` draws from ``(seed, k)`` alone, whoever runs it.
    decisions, hits, rounds : arrays of shape (n_units,)
        As in :class:`Shadows`; a unit is a feature, or a group of them.
    sizes : array of shape (n_units,)
        Number of features of each unit.
    history, limits : lists
        Importances of the units, and what each had to exceed, of every round.
    path : list of PathStep
        What was accepted and rejected when.
    """

    seed: int
    decisions: np.ndarray
    hits: np.ndarray
    rounds: np.ndarray
    sizes: np.ndarray
    history: list[np.ndarray]
    limits: list[np.ndarray]
    path: list[PathStep]

    @classmethod
    def start(cls, sizes: np.ndarray, seed: int, before: dict[str, np.ndarray] | None) -> State:
        """Nothing yet, or what a checkpoint holds."""
        if before is None:
            decisions, hits, rounds = np.zeros((3, len(sizes)), dtype=np.intp)
            return cls(seed, decisions, hits, rounds, sizes, [], [], [])
        limits = before["limits"]
        if limits.ndim == 1:  # one for all units, as it had been for units of any size
            limits = np.broadcast_to(limits[:, None], before["history"].shape)
        path = [
            PathStep(_WORDS[int(sign)].removesuffix("ed"), [int(j)], int(left))
            for sign, j, left in before["path"]
        ]
        return cls(
            int(before["seed"]),
            before["decisions"].astype(np.intp),
            before["hits"].astype(np.intp),
            before["rounds"].astype(np.intp),
            sizes,
            list(before["history"]),
            list(limits),
            path,
        )

    def arrays(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        path = [
            (ACCEPTED if step.action == "accept" else REJECTED, step.features[0], step.n_features)
            for step in self.path
        ]
        return {
            "seed": self.seed,
            "decisions": self.decisions,
            "hits": self.hits,
            "rounds": self.rounds,
            "history": np.array(self.history),
            "limits": np.array(self.limits),
            "path": np.array(path, dtype=np.intp).reshape(-1, 3),
        }

    def note(self, active: np.ndarray, own: np.ndarray, limits: np.ndarray) -> None:
        """Count the hits of one round: importances above what had to be exceeded."""
        self.hits[active] += own > limits
        self.rounds[active] += 1
        for rows, values in ((self.history, own), (self.limits, limits)):
            row = np.full(len(self.hits), np.nan)
            row[active] = values
            rows.append(row)

    def decide(self, level: float, correction: str) -> None:
        """Accept and reject those whose hits are significant, at ``level`` on either side."""
        open_ = np.flatnonzero(self.decisions == UNDECIDED)
        accept, reject = significant(
            self.hits[open_], len(self.limits), level, correction, len(self.hits)
        )
        self.decisions[open_[accept]] = ACCEPTED
        self.decisions[open_[reject]] = REJECTED
        left = int(self.sizes[self.decisions != REJECTED].sum())
        for word, which in (("accept", accept), ("reject", reject)):
            self.path += [PathStep(word, [int(j)], left) for j in open_[which]]

    def may_decide(self, level: float, correction: str, max_rounds: int) -> bool:
        """Whether any feature could still be decided if all rounds to come were hits, or none.

        For Benjamini and Hochberg by the most that the correction can allow, the level itself.
        """
        done, n = len(self.limits), len(self.hits) if correction == "bonferroni" else 1
        hits = self.hits[self.decisions == UNDECIDED]
        looks = [*range(done - done % _LOOK + _LOOK, max_rounds, _LOOK), max_rounds]
        return any(
            end > done
            and any(
                part.any()
                for best, which in ((hits + end - done, 0), (hits, 1))
                for part in [significant(best, end, level, "bonferroni", n)[which]]
            )
            for end in looks
        )

    def mean_importance(self) -> np.ndarray:
        """Of every feature, over its rounds."""
        total = np.nansum(np.array(self.history).reshape(-1, len(self.hits)), axis=0)
        return total / np.maximum(self.rounds, 1)


def significant(
    hits: np.ndarray, rounds: int, level: float, correction: str, n_features: int
) -> tuple[np.ndarray, np.ndarray]:
    """Which hits are too many, and which too few, for a fair coin.

    ``"bonferroni"`` divides the level by all features, ``"bh"`` follows Benjamini and Hochberg
    among those tested.
    """
    many = stats.binom.sf(hits - 1, rounds, 0.5)
    few = stats.binom.cdf(hits, rounds, 0.5)
    if correction == "bonferroni":
        return many <= level / n_features, few <= level / n_features
    return corrected(many, "bh") <= level, corrected(few, "bh") <= level


# ---------------------------------------------------------------------------------- the rounds


class Shuffle:
    """Shuffles the values of columns among the rows of each group.

    Parameters
    ----------
    groups : array of shape (n_rows,) or None
        The group of each row; None for one group.
    """

    def __init__(self, groups: np.ndarray | None):
        self.groups = groups
        self.rows: list[np.ndarray] | None = None
        if groups is not None:
            self.rows = [np.flatnonzero(groups == one) for one in np.unique(groups)]

    @classmethod
    def within(cls, groups: Any, n: int) -> Shuffle:
        """By the groups that a caller gave."""
        if groups is None:
            return cls(None)
        return cls(group_codes(groups, n))

    def part(self, rows: np.ndarray) -> Shuffle:
        """The same among some of the rows."""
        return self if self.groups is None else Shuffle(self.groups[rows])

    def __call__(
        self,
        columns: np.ndarray,
        random: np.random.Generator,
        members: list[np.ndarray] | None = None,
    ) -> np.ndarray:
        """The columns, which stand in rows, each shuffled by itself, or each unit of them."""
        if members is not None and len(members) < len(columns):
            found = np.empty_like(columns)
            for part in members:
                order = np.arange(columns.shape[1])
                for rows in [order.copy()] if self.rows is None else self.rows:
                    order[rows] = random.permutation(rows)
                found[part] = columns[part][:, order]
            return found
        if self.rows is None:
            return random.permuted(columns, axis=1)
        found = columns.copy()
        for rows in self.rows:
            found[:, rows] = random.permuted(columns[:, rows], axis=1)
        return found


class Competition(Protocol):
    """Features against new shadows."""

    members: list[np.ndarray]  # columns of each unit

    @property
    def machine(self) -> Any:
        """By which workers are chosen."""

    def importances(
        self, features: np.ndarray, shadows: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Importances of the units ``features``, then of shadows of the units ``shadows``."""


def _columns_of(
    units: np.ndarray, members: list[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The columns of some units, and where those of each unit stand among them."""
    parts = [members[k] for k in units]
    ends = np.cumsum([len(part) for part in parts])
    return np.concatenate(parts), np.split(np.arange(ends[-1]), ends[:-1])


def shadows_of(active: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Which units get a shadow in one fit, some of them several.

    A unit is compared with shadows of its own size, and there are to be as many of each size as
    there are units in play: what the best of many shadows reaches depends on their number. Of rare
    sizes there are more copies, as far as the columns of a fit allow it.

    Parameters
    ----------
    active : array of int
        The units in play.
    sizes : array of int
        The number of columns of each of them.
    """
    wanted = max(len(active), _FEWEST)
    kinds = np.unique(sizes)
    if len(kinds) == 1:
        return np.resize(active, wanted)
    have = {int(kind): int((sizes == kind).sum()) for kind in kinds}
    room = (_BESIDE - 1) * int(sizes.sum())
    while room > 0:
        rare = [kind for kind, n in have.items() if n < wanted and kind <= room]
        if not rare:
            break
        kind = min(rare, key=lambda one: have[one])
        have[kind] += 1
        room -= kind
    return np.concatenate([np.resize(active[sizes == kind], n) for kind, n in have.items()])


def one_round(
    competition: Competition, active: np.ndarray, seed: int, number: int, percentile: float
) -> tuple[np.ndarray, np.ndarray]:
    """Importances of the units in play, and what each has to exceed.

    More fits than one draw more shadows of the sizes that are rare.
    """
    random = np.random.default_rng([seed, number])
    columns = np.array([len(part) for part in competition.members])
    sizes, wanted = columns[active], max(len(active), _FEWEST)
    shadows = shadows_of(active, sizes)
    of_shadow = columns[shadows]
    fits = max(-(-wanted // int((of_shadow == kind).sum())) for kind in np.unique(sizes))
    found = [competition.importances(active, shadows, random) for _ in range(fits)]
    limits = np.empty(len(active))
    for kind in np.unique(sizes):
        beside = np.concatenate([one[len(active) :][of_shadow == kind] for one in found])
        limits[sizes == kind] = np.percentile(beside[:wanted], percentile)
    return found[0][: len(active)], limits


@dataclass
class ScoredCompetition:
    """Rounds of any criterion."""

    scorer: ColumnScorer
    X: np.ndarray
    y: np.ndarray
    arguments: dict[str, Any]  # of fit, besides table and target
    shuffle: Shuffle
    members: list[np.ndarray]  # columns of each unit

    @property
    def machine(self) -> Any:
        return self.scorer.estimator

    def importances(
        self, features: np.ndarray, shadows: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        own, places = _columns_of(features, self.members)
        copied, beside = _columns_of(shadows, self.members)
        shuffled = self.shuffle(np.ascontiguousarray(self.X.T[copied]), random, beside)
        table = np.hstack([self.X[:, own], shuffled.T])
        columns = np.concatenate([own, copied])
        seed = int(random.integers(2**31 - 1))
        parts = [*places, *(len(own) + part for part in beside)]
        return self.scorer(table, self.y, columns, seed, self.arguments, parts)


@dataclass
class ForestCompetition:
    """Rounds of a random forest on columns that are cut into bins once."""

    codes: np.ndarray  # bins, features in rows
    n_bins: np.ndarray
    lowest: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    shuffle: Shuffle
    shape: tuple[int, int, int]  # classes, least samples of a leaf, trees
    members: list[np.ndarray]  # columns of each unit

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        shuffle: Shuffle,
        shape: tuple[int, int, int],
        members: list[np.ndarray],
    ) -> ForestCompetition:
        """Cut the columns."""
        bins = Bins.of(X)
        codes = bins.codes(X)
        return cls(codes, bins.counts, bins.lowest(X, codes), y, weight, shuffle, shape, members)

    @property
    def machine(self) -> Any:
        return self

    def importances(
        self, features: np.ndarray, shadows: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        n_classes, leaf, n_trees = self.shape
        own, places = _columns_of(features, self.members)
        copied, beside = _columns_of(shadows, self.members)
        columns = np.concatenate([own, copied])
        codes = np.concatenate([self.codes[own], self.shuffle(self.codes[copied], random, beside)])
        rules = ForestRules(n_classes, features_tried("sqrt", len(columns)), leaf, False)
        forest = grow_forest(
            codes,
            self.n_bins[columns],
            self.lowest[columns],
            self.y,
            self.weight,
            rules=rules,
            n_trees=n_trees,
            seed=int(random.integers(2**31 - 1)),
        )
        if len(own) == len(places):
            return forest.gains
        first = [part[0] for part in places] + [len(own) + part[0] for part in beside]
        return np.add.reduceat(forest.gains, first)
