r"""Simulated annealing over subsets of features.

One random feature is flipped. A change for the better is taken; one that lowers J by :math:`\Delta`
is taken with probability :math:`\exp(-\Delta / T)`. After ``m`` iterations at a temperature that
brought no improvement the temperature is multiplied by ``v``; below ``T1`` the search ends. Where a
largest number of features is reached, a flip that would exceed it exchanges one for another.
"""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tamiz.search._records import better, plot_annealing
from tamiz.search.base import SEARCH_CONSTRAINTS, Outcome, SearchSelector
from tamiz.search.evaluator import Evaluator
from tamiz.validation import depth_of_caller

_POSITIVE = Interval(Real, 0, None, closed="neither")

#: "auto": at first this fraction of the changes for the worse is taken; at last this one.
_FIRST_FRACTION, _LAST_FRACTION = 0.5, 1e-3
_PROBES = 10


class SimulatedAnnealing(SearchSelector):
    """Search by simulated annealing.

    It walks from subset to subset, at first taking changes for the worse readily, later hardly
    ever, and so leaves local optima in which greedy searches end. It needs many evaluations; on a
    handful of features :class:`ExhaustiveSearch` is both faster and exact.

    Parameters
    ----------
    estimator : estimator, default=SVC()
        The judge: any classifier or regression of scikit-learn, or a pipeline, in which scaling
        and imputation belong.
    n_features_to_select : int, float or None, default=None
        Number or fraction of features; the search then exchanges one feature for another. None or
        "best" leaves the number to the search.
    T0 : float or "auto", default="auto"
        First temperature, in the units of the score. "auto" looks at a few random changes and
        takes the temperature at which half of those for the worse would be taken.
    T1 : float or "auto", default="auto"
        The search ends when the temperature is no longer above this; it must be below ``T0``. If
        that is "auto" and turns out lower, the search ends at half of it, and a warning says so.
        "auto": where a typical change for the worse is taken once in a thousand times.
    v : float, default=0.8
        Factor of the temperature, between 0 and 1.
    m : int or "auto", default="auto"
        Iterations without improvement after which the temperature falls; "auto" is the number of
        features, at least 5 and at most 50.
    result : {"best", "last"}, default="best"
        Whether the best subset met is returned or the one in which the walk ends.
    start : list of features, optional
        The subset to begin with, a random one by default. It may be empty only if there are
        fixed features.
    cv : int, "loo", splitter or list of splits, default=5
        How the samples are divided.
    scoring : str, callable, list or dict, optional
        Metric or metrics of scikit-learn; the first is the criterion of the search.
    criterion : str or callable, optional
        Instead of an estimator: "cfs", "bhattacharyya", "divergence", or a function
        ``f(X_subset, y)``.
    feature_groups : list of lists or dict of lists, optional
        Features that come and go together; the keys of a dict are the names of the groups.
    fixed_features : list, optional
        Features that are always in.
    max_features : int, optional
        Largest number of features. At this bound a feature comes in for another, drawn at random,
        that goes.
    time_budget : float, optional
        Seconds after which the best so far is returned.
    error_score : {"raise", "worst"}, default="raise"
        What happens if the estimator fails on a subset.
    random_state : int, RandomState or None, default=None
        Seed of the walk.
    n_jobs : int, optional
        Workers; the splits of a subset are shared among them.
    checkpoint : path, optional
        Journal of all evaluations, from which a run can be resumed.
    resume : bool, default=False
        Take up the journal that ``checkpoint`` names.
    verbose : bool or int, default=0
        Show progress when the search takes longer than two seconds.

    Attributes
    ----------
    support_, ranking_, order_, selection_
        As for all selectors. Behind the selected features the others are ordered by the mean
        score of the subsets with them minus that of the subsets without them.
    best_score_ : float
        Score of the selected subset.
    temperatures_ : array
        The temperatures used; none if the search was cut short before the walk began.
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
    GeneticSearch : Many subsets at a time.
    ForwardSelection : One feature after the other.

    References
    ----------
    .. [1] S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi (1983). Optimization by simulated annealing.
           Science 220.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.search import SimulatedAnnealing
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SimulatedAnnealing(random_state=0).fit(X, y)
    >>> search.selection_.selected, round(search.best_score_, 3)
    (['x3', 'x2', 'x1'], 0.973)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SEARCH_CONSTRAINTS,
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"auto", "best"}),
        ],
        "T0": [StrOptions({"auto"}), _POSITIVE],
        "T1": [StrOptions({"auto"}), _POSITIVE],
        "v": [Interval(Real, 0, 1, closed="neither")],
        "m": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "result": [StrOptions({"best", "last"})],
        "start": [None, "array-like"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: int | float | str | None = None,
        T0: float | str = "auto",
        T1: float | str = "auto",
        v: float = 0.8,
        m: int | str = "auto",
        result: str = "best",
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
        self.T0 = T0
        self.T1 = T1
        self.v = v
        self.m = m
        self.result = result
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

    def plot(self, ax: Any = None) -> Any:
        """Draw the score and the temperature by iteration.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
        """
        check_is_fitted(self, "selection_")
        return plot_annealing(self.selection_, ax)

    # ------------------------------------------------------------------ the walk

    def _search(self, evaluator: Evaluator, outcome: Outcome, rng: np.random.Generator) -> None:
        self._refuse_temperatures()
        walk = self._draws(rng)
        moves = Moves(evaluator, self._size(evaluator.units), self._limit(evaluator.units))
        current = self._first_subset(evaluator, moves, walk)
        self.temperatures_ = np.empty(0)
        iteration = 0
        try:
            value = evaluator.one(current).value
        finally:  # also if that took all the time there was
            if evaluator.is_known(current):
                outcome.subset = current
                first = None if isinstance(self.T0, str) else float(self.T0)
                evaluator.mark("start", current, temperature=first, iteration=iteration)
        best, best_size = value, moves.size(current)
        T, T1, m = self._temperatures(evaluator, moves, current, value, walk)
        while T > T1:
            self.temperatures_ = np.append(self.temperatures_, T)
            outcome.notes["temperatures"] = self.temperatures_.tolist()
            idle = 0
            while idle < m:
                iteration += 1
                evaluator.stage = f"temperature {T:.3g}, iteration {iteration:,}"
                proposal, changed = moves.propose(current, walk)
                found = evaluator.many([proposal], near=current)[0].value
                loss = value - found if found > -np.inf else np.inf
                if value == -np.inf and found > -np.inf:
                    loss = -np.inf
                idle += loss >= 0
                probability = 1.0 if loss < 0 else math.exp(-loss / T)
                taken = loss < 0 or walk.uniform() < probability
                evaluator.mark(
                    "accept" if taken else "reject",
                    proposal,
                    changed,
                    taken=taken,
                    temperature=T,
                    iteration=iteration,
                    probability=probability,
                    why="better" if loss < 0 else "by chance" if taken else "worse",
                )
                if taken:
                    current, value = proposal, found
                    size = moves.size(current)
                    if better(value, size, best, best_size):
                        best, best_size = value, size
                        outcome.subset = current
                    if self.result == "last":
                        outcome.subset = current
            T *= self.v
        outcome.notes["n_iterations"] = iteration

    def _draws(self, rng: np.random.Generator) -> Draws:
        return Draws(rng)

    def _first_subset(self, evaluator: Evaluator, moves: Moves, walk: Draws) -> np.ndarray:
        if self.start is None:
            return moves.random(walk)
        subset = self._start_subset(evaluator.units, False, self.start)
        moves.refuse(subset)
        return subset

    def _refuse_temperatures(self) -> None:
        if isinstance(self.T0, str) or isinstance(self.T1, str):
            return
        if self.T1 >= self.T0:
            raise ValueError(
                f"T1={self.T1} must be below T0={self.T0}: the temperature falls from T0 to T1."
            )

    def _temperatures(
        self, evaluator: Evaluator, moves: Moves, start: np.ndarray, value: float, walk: Draws
    ) -> tuple[float, float, int]:
        m = min(50, max(5, evaluator.n_units)) if isinstance(self.m, str) else int(self.m)
        if not isinstance(self.T0, str) and not isinstance(self.T1, str):
            return float(self.T0), float(self.T1), m
        evaluator.stage = "choosing the temperature"
        probes = [moves.propose(start, walk)[0] for _ in range(_PROBES)]
        values = [e.value for e in evaluator.many(probes, near=start)]
        losses = [abs(value - v) for v in values if np.isfinite(v) and v != value]
        typical = float(np.mean(losses)) if losses and np.isfinite(value) else 0.05
        T0 = typical / -math.log(_FIRST_FRACTION) if isinstance(self.T0, str) else float(self.T0)
        T1 = typical / -math.log(_LAST_FRACTION) if isinstance(self.T1, str) else float(self.T1)
        if T1 < T0 and not isinstance(self.T1, str):
            return T0, T1, m
        if not isinstance(self.T1, str):
            warnings.warn(
                f"SimulatedAnnealing: T1={self.T1} is not below the first temperature, {T0:.3g} by "
                f"T0='auto'; the search ends at {0.5 * T0:.3g}. Choose a lower T1, or give T0.",
                UserWarning,
                stacklevel=depth_of_caller(),
            )
        return T0, min(T1, 0.5 * T0), m


class Draws:
    """The random decisions of the walk; a test can put its own in their place."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def choose(self, allowed: np.ndarray) -> int:
        """One of the units."""
        return int(self.rng.choice(allowed))

    def uniform(self) -> float:
        """A number between 0 and 1."""
        return float(self.rng.random())


class Moves:
    """Changes that keep a subset within the sizes allowed."""

    def __init__(self, evaluator: Evaluator, size: int | None, limit: int):
        self.evaluator = evaluator
        self.sizes = evaluator.units.sizes
        self.n_fixed = len(evaluator.units.fixed)
        self.wanted = size
        self.limit = limit
        if size is not None and (self.sizes != 1).any():
            raise ValueError(
                "n_features_to_select cannot be a number with feature_groups in this search, which "
                "could not keep it; use max_features, or ForwardSelection."
            )

    def size(self, subset: np.ndarray) -> int:
        """Number of features of a subset."""
        return self.evaluator.n_features(subset)

    def refuse(self, subset: np.ndarray) -> None:
        """Say that a start does not have an allowed size."""
        size = self.size(subset)
        if not size:
            raise ValueError(
                "start holds no feature, and none is fixed; name at least one, or leave start out "
                "for a random one."
            )
        if self.wanted is not None and size != self.wanted:
            raise ValueError(
                f"start has {size} features, n_features_to_select={self.wanted}; they must agree."
            )
        if size > self.limit:
            raise ValueError(f"start has {size} features, more than max_features={self.limit}.")

    def random(self, walk: Draws) -> np.ndarray:
        """A random subset of an allowed size."""
        n = len(self.sizes)
        if self.wanted is None:
            subset = np.array([walk.uniform() < 0.5 for _ in range(n)])
        else:
            subset = np.zeros(n, dtype=bool)
            while self.size(subset) < self.wanted:
                subset[walk.choose(np.flatnonzero(~subset))] = True
        while self.size(subset) > self.limit:
            subset[walk.choose(np.flatnonzero(subset))] = False
        if not self.size(subset):
            subset[walk.choose(np.flatnonzero(self.sizes <= self.limit))] = True
        return subset

    def propose(self, subset: np.ndarray, walk: Draws) -> tuple[np.ndarray, list[int]]:
        """A neighbour, and the units that changed."""
        changed = subset.copy()
        if self.wanted is None:
            allowed = subset | (self.sizes <= self.limit - self.n_fixed)
            if not self.n_fixed and subset.sum() == 1:
                allowed = allowed & ~subset  # something must be left
            if not allowed.any():
                return changed, []
            k = walk.choose(np.flatnonzero(allowed))
            changed[k] = not changed[k]
            gone = self._make_room(changed, k, walk)
            return changed, [*gone, k]
        if subset.all() or not subset.any():
            return changed, []
        out, into = walk.choose(np.flatnonzero(subset)), walk.choose(np.flatnonzero(~subset))
        changed[out], changed[into] = False, True
        return changed, [out, into]

    def _make_room(self, subset: np.ndarray, stays: int, walk: Draws) -> list[int]:
        """Remove random units, in place, until the size is allowed.

        At the bound an addition thereby becomes an exchange. Without exchanges the only way on
        from there would be through smaller subsets, all of which may be much worse.
        """
        gone: list[int] = []
        while self.size(subset) > self.limit:
            others = np.flatnonzero(subset)
            gone.append(walk.choose(others[others != stays]))
            subset[gone[-1]] = False
        return gone
