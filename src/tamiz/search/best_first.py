"""Best-first search: always go on from the best subset that was not gone on from yet.

All subsets met wait in a queue. The best is taken out and its neighbours are judged and put into
the queue; after several such expansions in a row without a new best subset the search ends (Kohavi
and John, 1997; Hall, 1999, ends after five).
"""

from __future__ import annotations

import heapq
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamiz.search._greedy import curve
from tamiz.search._records import SIZE_OR_RULE, Record, Records, by_rule, rounding
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
        Number or share of features; the search then does not go beyond that size, and only subsets
        of that size count as improvements. None, "auto" and "best" take the best subset met, of
        equals the smallest; "1se" takes the smallest subset whose score is within one standard
        error of the best.
    direction : {"forward", "backward", "both"}, default="forward"
        Which neighbours are judged: those with one feature more, one fewer, or both.
    patience : int, default=5
        Number of expansions in a row without improvement after which the search ends.
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
    feature_groups : list of lists, optional
        Features that come and go together.
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
        rule = "1se" if self.n_features_to_select == "1se" else "best"
        self.n_expanded_ = fruitless = 0
        try:
            frontier.begin(start)
            best = frontier.best
            while fruitless < self.patience:
                evaluator.stage = f"expansion {self.n_expanded_ + 1}, {fruitless} without gain"
                if not frontier.expand():
                    break
                self.n_expanded_ += 1
                gained = frontier.best > best + self.tol + rounding(best)
                if gained or not np.isfinite(frontier.best):  # no subset of the size met yet
                    best, fruitless = frontier.best, 0
                else:
                    fruitless += 1
        finally:  # an interruption keeps what was reached
            records = frontier.records
            wanted = frontier.eligible() or records.up_to(units.n_features)
            if wanted:
                outcome.subset = by_rule(wanted, rule).subset
            outcome.notes["n_expanded"] = self.n_expanded_
            self.curve_ = curve(evaluator, records)

    def _refuse_start(self, start: np.ndarray, frontier: Frontier) -> None:
        n, size = frontier.n_features(start), frontier.size
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


class Frontier:
    """The queue of subsets met, best first, and the best of each size."""

    def __init__(self, evaluator: Evaluator, direction: str, size: int | None, limit: int):
        self.evaluator = evaluator
        self.adds = direction != "backward"
        self.removes = direction != "forward"
        self.size = size
        self.limit = limit
        self.sizes = evaluator.units.sizes
        self.n_fixed = len(evaluator.units.fixed)
        self.records = Records()  # by number of features
        self._queue: list[tuple[float, int, int]] = []  # minus J, size, number
        self._met: list[np.ndarray] = []
        self._seen: set[bytes] = set()

    def n_features(self, subset: np.ndarray) -> int:
        """Number of features of a subset, fixed ones included."""
        return self.n_fixed + int(self.sizes[subset].sum())

    def eligible(self) -> list[Record]:
        """The best subsets of the sizes that may be selected."""
        if self.size is None:
            return self.records.up_to(self.limit)
        return [self.records.best[self.size]] if self.size in self.records.best else []

    @property
    def best(self) -> float:
        """J of the best subset that may be selected."""
        return max((record.value for record in self.eligible()), default=-np.inf)

    def begin(self, start: np.ndarray) -> None:
        """Put the first subset into the queue; the empty one is not judged."""
        if self.n_features(start):
            self._meet([start], None)
        else:
            self._put(start, -np.inf)

    def expand(self) -> bool:
        """Judge the neighbours of the best subset in the queue; false if there is none."""
        if not self._queue:
            return False
        subset = self._met[heapq.heappop(self._queue)[2]]
        if self.n_features(subset):
            self.evaluator.mark("expand", subset)
        self._meet(self._neighbours(subset), subset)
        return True

    def _neighbours(self, subset: np.ndarray) -> list[np.ndarray]:
        n = self.n_features(subset)
        found = []
        for k in range(len(subset)):
            after = n - self.sizes[k] if subset[k] else n + self.sizes[k]
            allowed = self.removes and after > 0 if subset[k] else self.adds and after <= self.top
            if allowed and after >= self.bottom:
                neighbour = subset.copy()
                neighbour[k] = not subset[k]
                if np.packbits(neighbour).tobytes() not in self._seen:
                    found.append(neighbour)
        return found

    @property
    def top(self) -> int:
        """Subsets with more features than this are not added to."""
        return self.limit if self.size is None or self.removes else self.size

    @property
    def bottom(self) -> int:
        """Subsets with fewer features than this are not judged."""
        return 0 if self.size is None or self.adds else self.size

    def _meet(self, subsets: list[np.ndarray], near: np.ndarray | None) -> None:
        if not subsets:
            return
        for subset, evaluation in zip(
            subsets, self.evaluator.many(subsets, near=near), strict=True
        ):
            n = self.n_features(subset)
            self.records.offer(n, Record(subset, n, evaluation))
            self._put(subset, evaluation.value)

    def _put(self, subset: np.ndarray, value: float) -> None:
        self._seen.add(np.packbits(subset).tobytes())
        heapq.heappush(self._queue, (-value, self.n_features(subset), len(self._met)))
        self._met.append(subset)
