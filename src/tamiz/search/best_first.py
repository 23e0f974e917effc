"""Best-first search: always go on from the best subset that was not gone on from yet.

All subsets met wait in a queue. The best is taken out and its neighbours are judged and put into
the queue; after several such expansions in a row without a new best subset the search ends (Kohavi
and John, 1997; Hall, 1999, ends after five). If a number of features is asked for, a subset of a
size nearer to it than any before also counts as progress; where there is no more progress, the
search goes straight on to the number from the best subset of the nearest size.
"""

from __future__ import annotations

import heapq
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.search._records import (
    SIZE_OR_RULE,
    Record,
    Records,
    by_rule,
    curve,
    rescued,
    rounding,
)
from tamiz.search.base import SEARCH_CONSTRAINTS, Outcome, SearchSelector
from tamiz.search.evaluator import Evaluator


class BestFirst(SearchSelector):
    """Best-first search over subsets of features.

    Like :class:`ForwardSelection` it adds one feature at a time, but when that leads nowhere it
    comes back to the next best subset met. It ends after ``patience`` expansions without
    improvement.

    Parameters
    ----------
    estimator : estimator, default=SVC()
        The judge: any classifier or regression of scikit-learn, or a pipeline, in which scaling
        and imputation belong.
    n_features_to_select : int, float, "best", "1se" or None, default=None
        Number or fraction of features. Only subsets of that size are selected, and a search that
        only adds does not go beyond it, one that only removes not below. If the patience runs out
        before one is met, the number is completed greedily from the best subset of the nearest
        size. With groups of more than one feature, a number is the largest allowed, and the best
        subset with no more features is selected. None, "auto" and "best" take the best subset met,
        of equals the smallest; "1se" takes the smallest subset whose score is within one standard
        error of the best.
    direction : {"forward", "backward", "both"}, default="forward"
        Which neighbours are judged: those with one feature more, one fewer, or both.
    patience : int, default=5
        Number of expansions in a row without improvement after which the search ends. Until a
        subset is met that may be selected, one of a size nearer to that counts as improvement.
    tol : float, default=0.0
        What a subset must gain to count as an improvement; without it, any gain does.
    start : list of features, optional
        The subset to begin with; by default none, or all if the direction is backward.
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
        Seconds after which the best so far is returned: never more features than asked for. If
        only larger subsets were judged by then, one is cut, and a warning says so.
    error_score : {"raise", "worst"}, default="raise"
        What happens if the estimator fails on a subset.
    random_state : int, RandomState or None, default=None
        Seed of random splits and of estimators without one; the search itself is not random.
    n_jobs : int, optional
        Workers among which the subsets are shared.
    checkpoint : path, optional
        Journal of all evaluations, from which a run can be resumed.
    resume : bool, default=False
        Take up the journal that ``checkpoint`` names.
    verbose : bool or int, default=0
        Show progress when the search takes longer than two seconds.

    Attributes
    ----------
    support_, ranking_, order_, selection_
        As for all selectors. Selected and other features are ordered by the mean score of the
        subsets with them minus that of the subsets without them. Of equally good subsets in the
        queue the smallest, then the one met first is expanded.
    n_expanded_ : int
        Number of subsets whose neighbours were judged.
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
    ForwardSelection : Never comes back.
    tamiz.filters.CFS : The same search with a criterion made for it.

    References
    ----------
    .. [1] R. Kohavi, G. H. John (1997). Wrappers for feature subset selection. Artificial
           Intelligence 97.
    .. [2] M. A. Hall (1999). Correlation-based feature selection for machine learning. PhD thesis,
           University of Waikato.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.search import BestFirst
    >>> X, y = load_iris(return_X_y=True)
    >>> search = BestFirst().fit(X, y)
    >>> search.selection_.selected, round(search.best_score_, 3)
    (['x3', 'x2', 'x1'], 0.973)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SEARCH_CONSTRAINTS,
        "n_features_to_select": SIZE_OR_RULE,
        "direction": [StrOptions({"forward", "backward", "both"})],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "start": [None, "array-like"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: int | float | str | None = None,
        direction: str = "forward",
        patience: int = 5,
        tol: float = 0.0,
        start: Any = None,
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
        self.direction = direction
        self.patience = patience
        self.tol = tol
        self.start = start
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

    # ------------------------------------------------------------------ the search

    def _search(self, evaluator: Evaluator, outcome: Outcome, rng: np.random.Generator) -> None:
        units = evaluator.units
        frontier = Frontier(
            evaluator,
            self.direction,
            self._size(units),
            self._limit(units),
        )
        start = self._start_subset(units, self.direction == "backward", self.start)
        self._refuse_start(start, frontier)
        try:
            self._expand(frontier, start)
        finally:  # an interruption keeps what was reached
            self._settle(frontier, outcome)

    def _expand(self, frontier: Frontier, start: np.ndarray) -> None:
        """Expand the best open subset until the patience is spent."""
        self.n_expanded_ = fruitless = 0
        frontier.begin(start)
        best, distance = frontier.best, frontier.distance
        while fruitless < self.patience:
            frontier.evaluator.stage = f"expansion {self.n_expanded_ + 1}, {fruitless} without gain"
            if not frontier.expand():
                break
            self.n_expanded_ += 1
            gained = frontier.best > best + self.tol + rounding(best)
            if gained or frontier.distance < distance:
                fruitless = 0
            else:
                fruitless += 1
            best = frontier.best if gained else best
            distance = frontier.distance
        frontier.complete()

    def _settle(self, frontier: Frontier, outcome: Outcome) -> None:
        rule = "1se" if self.n_features_to_select == "1se" else "best"
        wanted = frontier.eligible()
        if wanted:
            outcome.subset = by_rule(wanted, rule).subset
        else:  # interrupted before anything would do
            outcome.subset = rescued(frontier.evaluator, frontier.room, exact=frontier.exact)
        outcome.notes["n_expanded"] = self.n_expanded_
        self.curve_ = curve(frontier.evaluator, frontier.records)

    def _refuse_start(self, start: np.ndarray, frontier: Frontier) -> None:
        n, size = frontier.evaluator.n_features(start), frontier.size
        if self.direction == "backward" and not n:
            raise ValueError("start is empty; a backward search has nothing to remove.")
        if size is None:
            if self.direction == "forward" and n > frontier.limit:
                raise ValueError(
                    f"start and fixed_features hold {n} features, more than "
                    f"max_features={frontier.limit}; a forward search only adds."
                )
        elif (self.direction == "forward" and n > size) or (
            self.direction == "backward" and n < size
        ):
            raise ValueError(
                f"start and fixed_features hold {n} features; a {self.direction} search cannot "
                f"come to n_features_to_select={size} from there."
            )
        within_start = self.direction == "backward" or n > frontier.room
        if not frontier.can_be_selected(start if within_start else np.ones_like(start)):
            where = "of start " if within_start and self.start is not None else ""
            raise ValueError(
                f"every group of features {where}is larger than the {frontier.room} features that "
                "may be selected."
            )


class Frontier:
    """The queue of subsets met, best first, and the best of each size."""

    def __init__(self, evaluator: Evaluator, direction: str, size: int | None, limit: int):
        self.evaluator = evaluator
        self.adds = direction != "backward"
        self.removes = direction != "forward"
        self.size = size
        self.limit = limit
        self.room = limit if size is None else size  # the most features that may be selected
        self.sizes = evaluator.units.sizes
        self.exact = size is not None and self.sizes.max() == 1  # groups need not fill it
        self.n_fixed = len(evaluator.units.fixed)
        self.records = Records()  # by number of features
        self._queue: list[tuple[float, int, int]] = []  # minus J, size, number
        self._met: list[np.ndarray] = []
        self._seen: set[bytes] = set()

    def eligible(self) -> list[Record]:
        """The best subsets of the sizes that may be selected."""
        if not self.exact:
            return self.records.up_to(self.room)
        return [self.records.best[self.room]] if self.room in self.records.best else []

    def can_be_selected(self, subset: np.ndarray) -> bool:
        """Whether something within a subset, fixed features included, is small enough."""
        return self.n_fixed > 0 or bool((self.sizes[subset] <= self.room).any())

    @property
    def best(self) -> float:
        """J of the best subset that may be selected."""
        return max((record.value for record in self.eligible()), default=-np.inf)

    @property
    def distance(self) -> float:
        """How many features the nearest subset met is away from what may be selected."""
        away = (abs(n - self.room) for n in self.records.best)
        return 0 if self.eligible() else min(away, default=np.inf)

    def begin(self, start: np.ndarray) -> None:
        """Put the first subset into the queue; the empty one is not judged."""
        if self.evaluator.n_features(start):
            self._meet([start], None)
        else:
            self._put(start, -np.inf)

    def expand(self) -> bool:
        """Judge the neighbours of the best subset in the queue; false if there is none."""
        if not self._queue:
            return False
        subset = self._met[heapq.heappop(self._queue)[2]]
        if self.evaluator.n_features(subset):
            self.evaluator.mark("expand", subset)
        self._meet(self._neighbours(subset), subset)
        return True

    def complete(self) -> None:
        """Go straight to a size that may be selected, from the best subset of the nearest one."""
        while self.records.best and not self.eligible():
            n = min(self.records.best, key=lambda n: abs(n - self.room))
            subset = self.records.best[n].subset
            self.evaluator.stage = f"from {n} towards {self.room} features"
            grows = n < self.room
            nearer = [
                s for s in self._neighbours(subset) if (self.evaluator.n_features(s) > n) == grows
            ]
            if not nearer:
                return
            self.evaluator.mark("complete", subset, why="the number of features is not reached")
            self._meet(nearer, subset)

    def _neighbours(self, subset: np.ndarray) -> list[np.ndarray]:
        n = self.evaluator.n_features(subset)
        found = []
        for k in range(len(subset)):
            after = n - self.sizes[k] if subset[k] else n + self.sizes[k]
            allowed = self.removes if subset[k] else self.adds and after <= self.top
            if allowed and after >= self.bottom:
                neighbour = subset.copy()
                neighbour[k] = not subset[k]
                known = np.packbits(neighbour).tobytes() in self._seen
                if not known and self.can_be_selected(neighbour):
                    found.append(neighbour)
        return found

    @property
    def top(self) -> int:
        """Subsets with more features than this are not added to."""
        return self.limit if self.removes else self.room

    @property
    def bottom(self) -> int:
        """Subsets with fewer features than this are not judged."""
        return self.room if self.exact and not self.adds else 0

    def _meet(self, subsets: list[np.ndarray], near: np.ndarray | None) -> None:
        if not subsets:
            return
        for subset, evaluation in zip(
            subsets, self.evaluator.many(subsets, near=near), strict=True
        ):
            n = self.evaluator.n_features(subset)
            self.records.offer(n, Record(subset, n, evaluation))
            self._put(subset, evaluation.value)

    def _put(self, subset: np.ndarray, value: float) -> None:
        self._seen.add(np.packbits(subset).tobytes())
        heapq.heappush(self._queue, (-value, self.evaluator.n_features(subset), len(self._met)))
        self._met.append(subset)
