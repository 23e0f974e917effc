r"""Branch and bound: the best subset of a size, without judging most of the others.

Find :math:`\max_S J(S)` over the subsets with :math:`|S| = d`, for a criterion that never falls
when a feature is added: :math:`J(S) \le J(S')` for :math:`S \subset S'`. Features are removed one
by one from the full set. If J of a subset is below that of some subset of size d already known,
so are all subsets within it, and the whole branch is left out (Narendra and Fukunaga, 1977). The
first such subset holds the features whose removal from all costs most.
Branches are ordered by what the removal of each feature has cost on average so far, after Somol,
Pudil and Kittler (2004).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from tamiz.base import number_to_select
from tamiz.filters.base import HOW_MANY
from tamiz.search._records import Record, cut, exceeds, rescued
from tamiz.search.base import SEARCH_CONSTRAINTS, Outcome, SearchSelector
from tamiz.search.evaluator import Evaluator, TimeUp
from tamiz.validation import Units, depth_of_caller

#: After so many subsets a search says that it may take long.
_MANY = 10_000
#: Of so many subsets it says so before the first one, if there are no more samples than features:
#: no covariance is of full rank then, and to remove a feature costs next to nothing.
_MANY_OF_FEW_SAMPLES = 100_000
#: Of so many it always does: the hundred-thousandth part of them takes minutes.
_MANY_OF_ANY = 10**10
_ADVICE = (
    "the time may grow exponentially with the features. Set time_budget, or leave features out "
    "first, as by a filter; Ctrl-C returns the best so far."
)


class BranchAndBound(SearchSelector):
    """The best subset of a given size for a criterion that features can only improve.

    The answer is that of :class:`ExhaustiveSearch`, usually after a small part of the work; in the
    worst case the work still grows exponentially with the number of features. Cross-validated
    scores are not monotone, so estimators are refused as judges unless ``monotone=True`` says that
    this one is. With no more samples than features hardly any branch can be cut. Unless
    ``time_budget`` bounds the time, a warning says so before the search if there are more than
    100,000 subsets then, or 10 billion with any number of samples, and else after 10,000 subsets.

    Parameters
    ----------
    estimator : estimator, optional
        The judge if ``criterion`` is None, which also needs ``monotone=True``. It is refused beside
        a criterion, which would judge in its place.
    n_features_to_select : int, float, "auto" or None, default=None
        Number or fraction of features; half of them by default, or ``max_features`` if that is
        less, since by a monotone criterion the best subset of all is the one with all features.
        With groups of unequal size this is the largest number allowed, and the best subset with no
        more features is found.
    monotone : bool, default=False
        Your word that a function given as ``criterion``, or the estimator's score, never falls
        when features are added. A warning tells if the search finds otherwise. Not needed for a
        function with an attribute ``monotone`` that is true.
    cv : int, "loo", splitter or list of splits, default=5
        How the samples are divided.
    scoring : str, callable, list or dict, optional
        Metric or metrics of scikit-learn; the first is the criterion of the search.
    criterion : str, callable or None, default="bhattacharyya"
        "bhattacharyya", "divergence", or a function ``f(X_subset, y)``, the larger the better.
        None to judge by the estimator.
    feature_groups : list of lists or dict of lists, optional
        Features that come and go together; the keys of a dict are the names of the groups.
    fixed_features : list, optional
        Features that are always in.
    max_features : int, optional
        Largest number of features.
    time_budget : float, optional
        Seconds after which the best so far is returned. If no subset of the size was judged by
        then, a larger one is cut to it, and a warning says so.
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
        As for all selectors. Of equally good subsets the first in lexicographic order is selected.
        Selected and other features are ordered by the mean score of the subsets with them minus
        that of the subsets without them, as far as they were judged.
    n_subsets_ : int or None
        Number of subsets of that size, for comparison with ``n_evaluations_``; None with groups.
    best_score_ : float
        Criterion of the selected subset.
    n_evaluations_ : int
        Number of different subsets judged.
    evaluations_ : Evaluations
        Every subset judged with its score on every split; ``evaluations_.to_frame()`` is a table.
    status_ : str
        "finished", "interrupted" or "time_budget".

    See Also
    --------
    ExhaustiveSearch : For criteria that are not monotone.

    References
    ----------
    .. [1] P. M. Narendra, K. Fukunaga (1977). A branch and bound algorithm for feature subset
           selection. IEEE Transactions on Computers 26.
    .. [2] P. Somol, P. Pudil, J. Kittler (2004). Fast branch & bound algorithms for optimal feature
           selection. IEEE Transactions on Pattern Analysis and Machine Intelligence 26.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamiz.search import BranchAndBound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = BranchAndBound(n_features_to_select=4).fit(X[:, :12], y)
    >>> search.support_.nonzero()[0].tolist(), search.n_subsets_
    ([0, 3, 7, 10], 495)
    >>> search.n_evaluations_ < search.n_subsets_
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SEARCH_CONSTRAINTS,
        "n_features_to_select": HOW_MANY,
        "monotone": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: int | float | str | None = None,
        monotone: bool = False,
        cv: Any = 5,
        scoring: Any = None,
        criterion: Any = "bhattacharyya",
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
        self.monotone = monotone
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

    def _size(self, units: Units) -> int | None:
        wanted = self.n_features_to_select
        if wanted is None or wanted == "auto":
            half = max(1, units.n_features // 2, len(units.fixed))
            return min(half, self._limit(units))
        return number_to_select(wanted, units.n_features, None)

    def _check_data(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        if self.estimator is not None and self.criterion is not None:
            raise ValueError(
                f"BranchAndBound judges by criterion={self.criterion!r} and would not ask "
                f"estimator={type(self.estimator).__name__}(...). Leave the estimator out; or use "
                "ExhaustiveSearch, which judges by an estimator; or, if you know that its score "
                "never falls when a feature is added, pass criterion=None and monotone=True."
            )
        return super()._check_data(estimator, X, y, sample_weight)

    def _make_judge(self, estimator: Any, X: Any, y: Any, weight: Any, seed: int) -> Any:
        judge = super()._make_judge(estimator, X, y, weight, seed)
        if not (judge.monotone or self.monotone):
            what = "a cross-validated score" if self.criterion is None else repr(self.criterion)
            raise ValueError(
                f"BranchAndBound needs a criterion that never falls when a feature is added, and "
                f"{what} is not known to be one. Use criterion='bhattacharyya' or 'divergence', "
                "pass monotone=True if you know that it is, or use ExhaustiveSearch."
            )
        self._n_rows = X.shape[0] if weight is None else int(np.count_nonzero(weight))
        return judge

    def _search(self, evaluator: Evaluator, outcome: Outcome, rng: np.random.Generator) -> None:
        units = evaluator.units
        size = self._size(units)
        assert size is not None
        if size < len(units.fixed) + (0 if len(units.fixed) else int(units.sizes.min())):
            raise ValueError(
                f"every group of features is larger than the {size} features that may be selected."
            )
        single = units.sizes.max() == 1
        n_units = len(units.members)
        self.n_subsets_ = comb(n_units, size - len(units.fixed)) if single else None
        # what few samples mean for a criterion that is not of this package, nobody knows
        few = isinstance(self.criterion, str) and self._n_rows <= units.n_features
        del self._n_rows
        warned = self._warn_beforehand(_most_subsets(units, size), few)
        tree = SearchTree(evaluator, size, None if warned else self._warn_of_time)
        try:
            tree.search()
        except (KeyboardInterrupt, TimeUp):  # what was reached is kept
            outcome.subset = rescued(evaluator, size, exact=single)
            raise
        finally:
            outcome.notes.update(
                n_subsets=self.n_subsets_, n_branches_cut=tree.n_cut, violations=tree.n_violations
            )
        assert tree.best is not None
        outcome.subset = tree.best.subset
        if tree.n_violations:
            warnings.warn(
                f"BranchAndBound: removing features raised the criterion {tree.n_violations} "
                "times; it is not monotone, and the subset found may not be the best.",
                RuntimeWarning,
                stacklevel=depth_of_caller(),
            )

    def _warn_beforehand(self, n_subsets: int, few: bool) -> bool:
        """Say, before a subset is judged, that the time is likely to be beyond all bounds."""
        limit = _MANY_OF_FEW_SAMPLES if few else _MANY_OF_ANY
        if self.time_budget is not None or n_subsets <= limit:
            return False
        why = (
            "with no more samples than features the criterion cuts hardly any branch"
            if few
            else "too many may be left even if the criterion cuts most branches"
        )
        warnings.warn(
            f"BranchAndBound begins to search {_in_figures(n_subsets)} subsets, and {why}: "
            f"{_ADVICE}",
            UserWarning,
            stacklevel=depth_of_caller(),
        )
        return True

    def _warn_of_time(self) -> None:
        """Say once that the criterion cuts few branches, where nobody knew beforehand."""
        if self.time_budget is None:
            every = "all" if self.n_subsets_ is None else _in_figures(self.n_subsets_)
            warnings.warn(
                f"BranchAndBound has judged {_MANY:,} of {every} subsets and goes on: the "
                f"criterion cuts few branches, and {_ADVICE}",
                UserWarning,
                stacklevel=depth_of_caller(),
            )


def _most_subsets(units: Units, size: int) -> int:
    """How many subsets have as many units as fit into the size: all of it if units are single."""
    room = np.cumsum(np.sort(units.sizes)) <= size - len(units.fixed)
    return comb(len(units.members), int(np.count_nonzero(room)))


def _in_figures(number: int) -> str:
    """A number that float64 may not hold, in three digits."""
    return f"{number:.3g}" if number < 10**300 else "more than 1e+300"


class SearchTree:
    """The search tree: a node is a subset, and the units that may still be removed from it.

    ``many`` is called once, when many subsets have been judged.
    """

    def __init__(self, evaluator: Evaluator, size: int, many: Callable[[], None] | None):
        self.evaluator = evaluator
        self.size = size
        self.many = many
        self.sizes = evaluator.units.sizes
        self.best: Record | None = None
        self.n_cut = 0
        self.n_violations = 0
        self._cost = np.zeros(len(self.sizes))  # total loss of J by the removal of each unit
        self._times = np.zeros(len(self.sizes))

    def search(self) -> None:
        """Find the best subset of the size."""
        everything = np.ones(len(self.sizes), dtype=bool)
        value = self.evaluator.one(everything).value
        if self.evaluator.n_features(everything) <= self.size:
            self._reach(everything)
            return
        units = np.arange(len(self.sizes))
        self._judge_removals(everything, value, units)  # what each unit is worth, to begin with
        # at once a bound for all branches, and an answer if the search is cut short
        self._reach(cut(self.evaluator, everything, self.size))
        open_nodes = [(everything, value, units)]
        while open_nodes:
            if self.many is not None and self.evaluator.n_evaluations >= _MANY:
                self.many()
                self.many = None
            subset, value, removable = open_nodes.pop()
            if self._hopeless(subset, value, removable):
                self.n_cut += 1
            else:
                open_nodes.extend(self._branch(subset, value, removable))

    def _branch(
        self, subset: np.ndarray, value: float, removable: np.ndarray
    ) -> list[tuple[np.ndarray, float, np.ndarray]]:
        """The nodes below one, the most promising last; subsets of the size are judged at once.

        Branch i removes unit i of the order and may then remove those behind it only. So the first
        branches hold the most subsets; the removals that cost most come first in the order, where
        the branches are soon cut.
        """
        self.evaluator.stage = f"{self.n_cut:,} branches cut"
        tried = np.maximum(self._times[removable], 1)
        order = removable[np.lexsort([removable, -self._cost[removable] / tried])]
        behind = np.concatenate([np.cumsum(self.sizes[order][::-1])[::-1][1:], [0]])
        left = self.evaluator.n_features(subset) - self.sizes[order]
        inner, removals, leaves = [], [], []
        for i in np.flatnonzero(left - behind <= self.size).tolist():
            rest = order[i + 1 :]
            if left[i] <= self.size:
                removals.append(order[i])
            elif left[i] - behind[i] + self.sizes[rest].min() > self.size:  # all have to go
                leaves.append(self._without(subset, order[i:]))
            else:
                inner.append(i)
        self._judge_removals(subset, value, np.array(removals, dtype=np.intp))
        leaves += [self._without(subset, np.array([unit])) for unit in removals]
        for leaf in leaves:
            self._reach(leaf)
        values = self._judge_removals(subset, value, order[inner])
        return [
            (self._without(subset, order[i : i + 1]), within, order[i + 1 :])
            for i, within in zip(inner, values, strict=True)
        ]

    def _judge_removals(self, subset: np.ndarray, value: float, units: np.ndarray) -> list[float]:
        """J without each of some units."""
        subsets = [self._without(subset, units[i : i + 1]) for i in range(len(units))]
        values = [e.value for e in self.evaluator.many(subsets, near=subset)] if subsets else []
        for unit, without in zip(units.tolist(), values, strict=True):
            self.n_violations += exceeds(without, value + 1e-9 * abs(value))
            if np.isfinite(value - without):
                self._cost[unit] += value - without
                self._times[unit] += 1
        return values

    def _hopeless(self, subset: np.ndarray, value: float, removable: np.ndarray) -> bool:
        """Whether nothing within a subset is better than the best known, or equal and earlier."""
        if self.best is None or exceeds(value, self.best.value):
            return False
        if exceeds(self.best.value, value) or self.sizes.max() > 1:
            return True
        surplus = self.evaluator.n_features(subset) - self.size
        first = self._without(subset, np.sort(removable)[len(removable) - surplus :])
        return not _earlier(first, self.best.subset)

    def _reach(self, subset: np.ndarray) -> None:
        """A subset that is small enough: judge it and keep it if it is the best."""
        record = Record(subset, self.evaluator.n_features(subset), self.evaluator.one(subset))
        if self.best is not None:
            if exceeds(self.best.value, record.value):
                return
            if not exceeds(record.value, self.best.value) and not _earlier(
                subset, self.best.subset
            ):
                return
        self.best = record
        self.evaluator.mark("best", subset, why="best so far")

    @staticmethod
    def _without(subset: np.ndarray, units: np.ndarray) -> np.ndarray:
        smaller = subset.copy()
        smaller[units] = False
        return smaller


def _earlier(subset: np.ndarray, other: np.ndarray) -> bool:
    """Whether a subset comes before another of the same size in lexicographic order."""
    differ = np.flatnonzero(subset != other)
    return len(differ) > 0 and bool(subset[differ[0]])
