r"""Sequential selection: the best feature added, or the worst removed, one after the other.

Forward selection begins with no feature and adds in each round the one that gives the largest
:math:`J(S \cup \{f_j\})`; backward elimination begins with all and removes the one that leaves
the largest :math:`J(S \setminus \{f_j\})`. Their floating variants (Pudil, Novovičová and
Kittler, 1994) undo earlier steps where that pays.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from tamiz.search._greedy import Walk, warn_unjudged
from tamiz.search._records import SIZE_OR_RULE
from tamiz.search.base import SEARCH_CONSTRAINTS, Outcome, SearchSelector
from tamiz.search.evaluator import Evaluator, TimeUp


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
        except (KeyboardInterrupt, TimeUp):  # what was reached is kept
            self._settle(walk, outcome)
            room = walk.limit if target is None else target
            warn_unjudged(type(self).__name__, evaluator, outcome.subset, room, stacklevel=4)
            raise
        self._settle(walk, outcome)

    def _settle(self, walk: Walk, outcome: Outcome) -> None:
        walk.settle(outcome)
        self.curve_ = walk.curve()

    def _refuse_start(self, start: np.ndarray, walk: Walk) -> None:
        n = walk.n_fixed + int(walk.sizes[start].sum())
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
        Number or share of features, at which the search ends. None, "auto" and "best" go on to
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
        Number or share of features, at which the search ends. None, "auto" and "best" go on to
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
