r"""Sequential selection: the best feature added, or the worst removed, one after the other.

Forward selection begins with no feature and adds in each round the one that gives the largest
:math:`J(S \cup \{f_j\})`; backward elimination begins with all and removes the one that leaves
the largest :math:`J(S \setminus \{f_j\})`. Their floating variants (Pudil, Novovičová and
Kittler, 1994) undo earlier steps where that pays.

The plain walk goes first. The floating one then begins at the same place, holding the best subset
of each size met so far, and steps back whenever that gives a better subset of a smaller size (of a
larger one, if it removes). So it ends nowhere worse than the plain walk; and as every step back
improves the best subset of some size, it ends.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from tamiz.search._records import (
    SIZE_OR_RULE,
    Record,
    Records,
    by_rule,
    curve,
    exceeds,
    first_best,
    rescued,
    rounding,
)
from tamiz.search.base import SEARCH_CONSTRAINTS, Outcome, SearchSelector
from tamiz.search.evaluator import Evaluator


class _Sequential(SearchSelector):
    """What both directions share."""

    _growing: bool

    _parameter_constraints: dict[str, list[Any]] = {
        **SEARCH_CONSTRAINTS,
        "n_features_to_select": SIZE_OR_RULE,
        "floating": ["boolean"],
        "start": [None, "array-like"],
        "tol": [None, Interval(Real, 0, None, closed="left")],
        "patience": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: int | float | str | None = None,
        floating: bool = False,
        start: Any = None,
        tol: float | None = None,
        patience: int | None = None,
        cv: Any = 5,
        scoring: Any = None,
        criterion: Any = None,
        feature_groups: Any = None,
        fixed_features: Any = None,
        max_features: int | None = None,
        time_budget: float | None = None,
        error_score: str = "raise",
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        resume: bool = False,
        verbose: bool | int = 0,
    ):
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.floating = floating
        self.start = start
        self.tol = tol
        self.patience = patience
        self.cv = cv
        self.scoring = scoring
        self.criterion = criterion
        self.feature_groups = feature_groups
        self.fixed_features = fixed_features
        self.max_features = max_features
        self.time_budget = time_budget
        self.error_score = error_score
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.resume = resume
        self.verbose = verbose

    def _search(self, evaluator: Evaluator, outcome: Outcome, rng: np.random.Generator) -> None:
        target = self._size(evaluator.units)
        if target is not None and not (self.tol is None and self.patience is None):
            raise ValueError(
                f"n_features_to_select={self.n_features_to_select} fixes the number of features; "
                "tol and patience are for searches that find it. Leave one or the other out."
            )
        walk = Walk(
            evaluator,
            growing=self._growing,
            target=target,
            limit=self._limit(evaluator.units),
            rule="1se" if self.n_features_to_select == "1se" else "best",
            tol=self.tol,
            patience=self.patience,
        )
        start = self._start_subset(evaluator.units, not self._growing, self.start)
        self._refuse_start(start, walk)
        try:
            walk.run(start, self.floating)
        finally:  # an interruption keeps what was reached
            walk.settle(outcome)
            self.curve_ = curve(evaluator, walk.records)

    def _refuse_start(self, start: np.ndarray, walk: Walk) -> None:
        n = walk.evaluator.n_features(start)
        target = walk.target
        room = walk.limit if target is None else target
        name = "max_features" if target is None else "n_features_to_select"
        usable = walk.sizes if self._growing else walk.sizes[start]
        if self._growing and n > room:
            raise ValueError(
                f"start and fixed_features hold {n} features, more than {name}={room}; forward "
                "selection only adds."
            )
        if not self._growing and not n:
            raise ValueError("start is empty; backward elimination has nothing to remove.")
        if not self._growing and target is not None and n < target:
            raise ValueError(
                f"start and fixed_features hold {n} features, fewer than {name}={target}; backward "
                "elimination only removes."
            )
        if not walk.n_fixed and not (usable <= room).any():
            raise ValueError(
                f"every group of features is larger than the {room} features that may be selected."
            )


class ForwardSelection(_Sequential):
    """Sequential forward selection: add the feature that helps most, again and again.

    It is fast while few features are wanted, and judges small subsets. A feature that helps only
    together with another is overlooked, since it is judged next to those already in;
    :class:`BackwardElimination` sees such pairs.

    Parameters
    ----------
    estimator : estimator, default=SVC()
        The judge: any classifier or regression of scikit-learn, or a pipeline, in which scaling
        and imputation belong.
    n_features_to_select : int, float, "best", "1se" or None, default=None
        Number or fraction of features, at which the search ends. None, "auto" and "best" go on to
        the end and take the best subset met on the way, of equals the smallest; "1se" takes the
        smallest one whose score is within one standard error of the best. With groups, a number
        is the largest allowed: units are added as long as one fits.
    floating : bool, default=False
        After each addition also remove features, as long as that gives a better subset of the
        smaller size than was met before. The plain search is run first, and the floating one over
        the same sizes, so that at no size its subset is worse.
    start : list of features, optional
        The subset to begin with, none by default. Unlike ``fixed_features`` a floating search may
        remove them.
    tol : float, optional
        End when an addition gains less than this; additions that gained less are not selected.
    patience : int, optional
        Number of rounds in a row without gain (of ``tol``, if given) after which the search ends;
        1 if only ``tol`` is given, else there is no early end.
    cv : int, "loo", splitter or list of splits, default=5
        How the samples are divided.
    scoring : str, callable, list or dict, optional
        Metric or metrics of scikit-learn; the first is the criterion of the search.
    criterion : str or callable, optional
        Instead of an estimator: "cfs", "bhattacharyya", "divergence", or a function
        ``f(X_subset, y)``, the larger the better.
    feature_groups : list of lists or dict of lists, optional
        Features that come and go together; the keys of a dict are the names of the groups.
    fixed_features : list, optional
        Features that are always in.
    max_features : int, optional
        Largest number of features.
    time_budget : float, optional
        Seconds after which the best so far is returned.
    error_score : {"raise", "worst"}, default="raise"
        What happens if the estimator fails on a subset.
    random_state : int, RandomState or None, default=None
        Seed of random splits and of estimators without one; the search itself is not random.
    n_jobs : int, optional
        Workers among which the subsets of a round are shared.
    checkpoint : path, optional
        Journal of all evaluations, from which a run can be resumed.
    resume : bool, default=False
        Take up the journal that ``checkpoint`` names.
    verbose : bool or int, default=0
        Show progress when the search takes longer than two seconds.

    Attributes
    ----------
    support_, ranking_, order_, selection_
        As for all selectors. Features are ordered as they were added (by the smallest of the best
        subsets that holds them, if floating); those never added follow, by the score that each
        would have given in the last round. Ties go to the smaller index.
    curve_ : list of dict
        The best subset of each size: ``n_features``, ``features``, ``score``, ``standard_error``.
    best_score_ : float
        Score of the selected subset.
    n_evaluations_ : int
        Number of different subsets judged.
    evaluations_ : Evaluations
        Every subset judged with its score on every split; ``evaluations_.to_frame()`` is a table.
    status_ : str
        "finished", "interrupted" or "time_budget".
    estimator_ : estimator
        Fitted to the selected features.

    See Also
    --------
    BackwardElimination : The other direction.
    BestFirst : Comes back to subsets that were passed over.

    References
    ----------
    .. [1] P. Pudil, J. Novovičová, J. Kittler (1994). Floating search methods in feature
           selection. Pattern Recognition Letters 15.
    .. [2] R. Kohavi, G. H. John (1997). Wrappers for feature subset selection. Artificial
           Intelligence 97.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.search import ForwardSelection
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ForwardSelection(n_features_to_select=2).fit(X, y)
    >>> search.order_.tolist(), round(search.best_score_, 3)
    ([3, 1, 2, 0], 0.96)
    >>> search = ForwardSelection().fit(X, y)  # the best on the way
    >>> [round(point["score"], 3) for point in search.curve_], search.selection_.selected
    ([0.96, 0.96, 0.973, 0.967], ['x3', 'x1', 'x2'])
    """

    _growing = True


class BackwardElimination(_Sequential):
    """Sequential backward elimination: remove the feature that is missed least, again and again.

    Every feature is judged next to all that remain, so that two features that help only together
    are kept. It begins with the largest subsets, and is slower than :class:`ForwardSelection` where
    few of many features are wanted.

    Parameters
    ----------
    estimator : estimator, default=SVC()
        The judge: any classifier or regression of scikit-learn, or a pipeline, in which scaling
        and imputation belong.
    n_features_to_select : int, float, "best", "1se" or None, default=None
        Number or fraction of features, at which the search ends. None, "auto" and "best" go on to
        the end and take the best subset met on the way, of equals the smallest; "1se" takes the
        smallest one whose score is within one standard error of the best. With groups, a number
        is the largest allowed: units are removed until no more than that are left.
    floating : bool, default=False
        After each removal also add features again, as long as that gives a better subset of the
        larger size than was met before. The plain search is run first, and the floating one over
        the same sizes, so that at no size its subset is worse.
    start : list of features, optional
        The subset to begin with, all by default.
    tol : float, optional
        End when a removal leaves the score more than this below the best so far; the smallest
        subset that is not so far below is selected.
    patience : int, optional
        Number of rounds in a row that lose (more than ``tol``, if given) after which the search
        ends; 1 if only ``tol`` is given, else there is no early end.
    cv : int, "loo", splitter or list of splits, default=5
        How the samples are divided.
    scoring : str, callable, list or dict, optional
        Metric or metrics of scikit-learn; the first is the criterion of the search.
    criterion : str or callable, optional
        Instead of an estimator: "cfs", "bhattacharyya", "divergence", or a function
        ``f(X_subset, y)``, the larger the better.
    feature_groups : list of lists or dict of lists, optional
        Features that come and go together; the keys of a dict are the names of the groups.
    fixed_features : list, optional
        Features that are always in.
    max_features : int, optional
        Largest number of features that may be selected.
    time_budget : float, optional
        Seconds after which the best so far is returned.
    error_score : {"raise", "worst"}, default="raise"
        What happens if the estimator fails on a subset.
    random_state : int, RandomState or None, default=None
        Seed of random splits and of estimators without one; the search itself is not random.
    n_jobs : int, optional
        Workers among which the subsets of a round are shared.
    checkpoint : path, optional
        Journal of all evaluations, from which a run can be resumed.
    resume : bool, default=False
        Take up the journal that ``checkpoint`` names.
    verbose : bool or int, default=0
        Show progress when the search takes longer than two seconds.

    Attributes
    ----------
    support_, ranking_, order_, selection_
        As for all selectors. The last feature removed comes right behind those that remain; these
        are ordered by how much each would have been missed in the last round. Of features that
        are missed equally the one with the smallest index is removed.
    curve_ : list of dict
        The best subset of each size: ``n_features``, ``features``, ``score``, ``standard_error``.
    best_score_ : float
        Score of the selected subset.
    n_evaluations_ : int
        Number of different subsets judged.
    evaluations_ : Evaluations
        Every subset judged with its score on every split; ``evaluations_.to_frame()`` is a table.
    status_ : str
        "finished", "interrupted" or "time_budget".
    estimator_ : estimator
        Fitted to the selected features.

    See Also
    --------
    ForwardSelection : The other direction.
    tamiz.embedded.SVMRFE : Elimination by the weights of one machine a round.

    References
    ----------
    .. [1] P. Pudil, J. Novovičová, J. Kittler (1994). Floating search methods in feature
           selection. Pattern Recognition Letters 15.
    .. [2] R. Kohavi, G. H. John (1997). Wrappers for feature subset selection. Artificial
           Intelligence 97.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.search import BackwardElimination
    >>> X, y = load_iris(return_X_y=True)
    >>> search = BackwardElimination().fit(X, y)
    >>> search.selection_.selected, round(search.best_score_, 3)
    (['x3', 'x2', 'x1'], 0.973)
    >>> BackwardElimination(tol=0.02).fit(X, y).selection_.selected
    ['x3']
    """

    _growing = False


# ---------------------------------------------------------------------- the walk


class Walk:
    """A sequential search.

    Parameters
    ----------
    evaluator : Evaluator
        Judges subsets.
    growing : bool
        Whether units are added; else they are removed.
    target : int or None
        Number of features at which to end.
    limit : int
        Largest number of features that may be selected.
    rule : {"best", "1se"}
        How the size is chosen if there is no target.
    tol : float or None
        Least gain of an addition, or greatest loss of a removal, that counts as progress.
    patience : int or None
        Rounds without progress after which the walk ends.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        growing: bool,
        target: int | None,
        limit: int,
        rule: str,
        tol: float | None,
        patience: int | None,
    ):
        self.evaluator = evaluator
        self.growing = growing
        self.target = target
        self.limit = limit
        self.rule = rule
        self.tol = tol
        self.patience = 1 if patience is None and tol is not None else patience
        self.sizes = evaluator.units.sizes
        self.n_fixed = len(evaluator.units.fixed)
        self.records = Records()  # by number of units
        self.last_round: dict[int, float] = {}  # value of the subset with, or without, each unit
        self._origin = 0
        self._accepted: int | None = None  # number of units at the last progress
        self._mark_to_pass = -np.inf
        self._fruitless = 0

    # ------------------------------------------------------------------ the walks

    def run(self, start: np.ndarray, floating: bool) -> None:
        """Walk from ``start``."""
        self._origin = int(start.sum())
        if self.evaluator.n_features(start):
            first = Record(start, self.evaluator.n_features(start), self.evaluator.one(start))
            self.records.offer(self._origin, first)
            self.evaluator.mark("start", start)
            self._count_progress(first)
        self._plain(start)
        if floating and self.records.best:
            self._float(start)

    def _plain(self, current: np.ndarray) -> None:
        while self._fruitless < (self.patience or np.inf):
            step = self._round(current, self.growing)
            if step is None:
                return
            unit, record, self.last_round = step
            current = record.subset
            self.records.offer(int(current.sum()), record)
            self.evaluator.mark(self._verb(self.growing), current, [unit])
            self._count_progress(record)

    def _float(self, start: np.ndarray) -> None:
        end = (max if self.growing else min)(self.records.best)
        back = -1 if self.growing else 1
        current, size = start, self._origin
        while True:
            if size != end:
                step = self._round(current, self.growing)
                if step is None:
                    return
                self._offer(step[0], step[1], self.growing)
                size -= back
                current = self.records.best[size].subset
            improved = False
            while self._may_go_back(size + back):
                step = self._round(current, not self.growing)
                if step is None or not self._offer(step[0], step[1], not self.growing):
                    break
                current, size, improved = step[1].subset, size + back, True
            if size == end and not improved:
                return

    def _may_go_back(self, size: int) -> bool:
        """Whether the floating walk has business with subsets of this size."""
        beyond = size < self._origin if self.growing else size > self._origin
        return not beyond and (size > 0 or self.n_fixed > 0)

    def _offer(self, unit: int, record: Record, growing: bool) -> bool:
        better = self.records.offer(int(record.subset.sum()), record)
        if better:
            why = "better than the best of its size so far"
            self.evaluator.mark(self._verb(growing), record.subset, [unit], why=why)
        return better

    @staticmethod
    def _verb(growing: bool) -> str:
        return "add" if growing else "drop"

    # ------------------------------------------------------------------ one round

    def _round(
        self, current: np.ndarray, growing: bool
    ) -> tuple[int, Record, dict[int, float]] | None:
        """Judge all neighbours on one side: the unit to change, what comes out, all values."""
        units = self._candidates(current, growing)
        if not len(units):
            return None
        n = self.evaluator.n_features(current)
        doing = "adding to" if growing else "removing from"
        self.evaluator.stage = f"{doing} {n} of {self.evaluator.units.n_features} features"
        subsets = np.repeat(current[None], len(units), axis=0)
        subsets[np.arange(len(units)), units] = growing
        evaluations = self.evaluator.many(list(subsets), near=current)
        k = first_best(evaluations)
        record = Record(subsets[k], self.evaluator.n_features(subsets[k]), evaluations[k])
        values = [evaluation.value for evaluation in evaluations]
        return int(units[k]), record, dict(zip(units.tolist(), values, strict=True))

    def _candidates(self, current: np.ndarray, growing: bool) -> np.ndarray:
        n = self.evaluator.n_features(current)
        if growing:
            units = np.flatnonzero(~current)
            if not self.growing:  # going back towards the start, which is the largest
                return units
            room = self.limit if self.target is None else self.target
            return units[n + self.sizes[units] <= room]
        units = np.flatnonzero(current)
        if not self.growing:
            bound = self.limit if self.target is None else self.target
            if self.target is not None and n <= bound:
                return units[:0]
            if not self.n_fixed:  # one unit that may be selected alone has to stay
                small = units[self.sizes[units] <= bound]
                units = units[units != small[0]] if len(small) == 1 else units
            left = n - self.sizes[units]
            if self.target is not None and (left >= bound).any():
                return units[left >= bound]  # do not fall below if that can be helped
        return units[n - self.sizes[units] > 0]

    # ------------------------------------------------------------------ progress and choice

    def _count_progress(self, record: Record) -> None:
        if self.patience is None or self.target is not None or record.n_features > self.limit:
            return
        value, tol = record.value, self.tol or 0.0
        if self.growing:
            least = self._mark_to_pass + tol
            passed = value >= least - rounding(least) if tol else exceeds(value, least)
            self._mark_to_pass = value if passed else self._mark_to_pass
        else:
            self._mark_to_pass = max(value, self._mark_to_pass)
            least = self._mark_to_pass - tol
            passed = value >= least - rounding(least)
        self._fruitless = 0 if passed else self._fruitless + 1
        if passed:
            self._accepted = int(record.subset.sum())

    def chosen(self) -> Record:
        """The subset to select, by what is known so far."""
        best = self.records.best
        if self.target is not None:
            return best[(max if self.growing else min)(best)]
        if self.tol is not None and self.rule == "best" and self._accepted is not None:
            return best[self._accepted]
        small_enough = self.records.up_to(self.limit)
        return by_rule(small_enough, self.rule) if small_enough else best[min(best)]

    def settle(self, outcome: Outcome) -> None:
        """Put down what was found; also after an interruption."""
        room = self.limit if self.target is None else self.target
        chosen = self.chosen() if self.records.best else None
        if chosen is None or chosen.n_features > room:  # interrupted before anything would do
            outcome.subset = rescued(self.evaluator, room, exact=self.target is not None)
        else:
            outcome.subset = chosen.subset
        if outcome.subset is not None and chosen is not None:
            outcome.order = self._order(outcome.subset)

    def _order(self, subset: np.ndarray) -> list[int]:
        """Units by the smallest of the best subsets that holds them, the selected ones first."""
        n_units = len(subset)
        first = np.full(n_units, n_units + 1)
        for size in sorted(self.records.best, reverse=True):
            first[self.records.best[size].subset] = size
        sign = -1.0 if self.growing else 1.0  # without a unit that matters J is low
        last = np.array([sign * self.last_round.get(k, 0.0) for k in range(n_units)])
        return np.lexsort([np.arange(n_units), last, first, ~subset]).tolist()
