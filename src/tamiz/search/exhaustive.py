"""Exhaustive search: every subset is judged."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations, islice
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from tamiz.search._records import SIZE_OR_RULE, Record, Records, add_known, by_rule, curve
from tamiz.search.base import SEARCH_CONSTRAINTS, Outcome, SearchSelector
from tamiz.search.evaluator import Evaluator
from tamiz.validation import Units

#: Sizes at which one subset is timed to foretell the time of all.
_TIMED_SIZES = 5
#: Subsets passed to the evaluator at a time, for each worker.
_BATCH = 32


class ExhaustiveSearch(SearchSelector):
    r"""Judge every subset of features and take the best.

    Of :math:`p` features there are :math:`2^p - 1` subsets, and :math:`\binom{p}{d}` of size
    :math:`d`: with 20 features a million, with 30 a billion. The number is known before the search
    begins, and a few subsets of different sizes are timed first, so that the progress line can say
    how long it will take.

    Parameters
    ----------
    estimator : estimator, default=SVC()
        The judge: any classifier or regression of scikit-learn, or a pipeline, in which scaling
        and imputation belong.
    n_features_to_select : int, float, "best", "1se" or None, default=None
        Number or fraction of features: only subsets of exactly that size are judged. None, "auto"
        and "best" take the best of all; "1se" the smallest subset whose score is within one
        standard error of the best (of that size, the best).
    min_features : int, default=1
        Smallest number of features.
    limit : int or None, default=100000
        A search over more subsets than this is refused; None sets no limit.
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
        As for all selectors. Of equally good subsets the one with fewest features is selected, of
        these the first in lexicographic order. Selected and other features are ordered by the
        mean score of the subsets with them minus that of the subsets without them.
    n_subsets_ : int
        Number of subsets in question.
    estimated_seconds_ : float or None
        What was foretold; None for a run that was resumed.
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
    BranchAndBound : Spares most of the work if the criterion never falls when features are added.
    ForwardSelection : For more features than can be searched exhaustively.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamiz.search import ExhaustiveSearch
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ExhaustiveSearch().fit(X, y)
    >>> search.n_subsets_, search.selection_.selected, round(search.best_score_, 3)
    (15, ['x3', 'x2', 'x1'], 0.973)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SEARCH_CONSTRAINTS,
        "n_features_to_select": SIZE_OR_RULE,
        "min_features": [Interval(Integral, 1, None, closed="left")],
        "limit": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: int | float | str | None = None,
        min_features: int = 1,
        limit: int | None = 100_000,
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
        self.min_features = min_features
        self.limit = limit
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
        counts = self._counts(units)
        self.n_subsets_ = sum(counts.values())
        self._refuse_too_many(units)
        self.estimated_seconds_ = None
        outcome.notes["n_subsets"] = self.n_subsets_
        evaluator.stage = f"of {self.n_subsets_:,}"
        records = Records()
        rule = "1se" if self.n_features_to_select == "1se" else "best"
        try:
            self.estimated_seconds_ = _foretell(evaluator, counts)
            if self.estimated_seconds_ is not None:
                outcome.notes["estimated_seconds"] = self.estimated_seconds_
                evaluator.stage += f", about {in_words(self.estimated_seconds_)} in all"
            for size in counts:
                self._search_size(evaluator, records, size)
        finally:  # an interruption keeps what was reached
            add_known(evaluator, records)
            if records.best:
                outcome.subset = by_rule(records.up_to(units.n_features), rule).subset
            self.curve_ = curve(evaluator, records)
        for _, record in sorted(records.best.items()):
            evaluator.mark("best", record.subset, why="best of its size")

    def _search_size(self, evaluator: Evaluator, records: Records, size: int) -> None:
        subsets = subsets_of_size(evaluator.units, size)
        while batch := list(islice(subsets, _BATCH * evaluator.workers)):
            for subset, evaluation in zip(batch, evaluator.many(batch), strict=True):
                records.offer(size, Record(subset, size, evaluation))

    def _counts(self, units: Units) -> dict[int, int]:
        """Number of subsets of each size that is in question."""
        size = self._size(units)
        low, high = max(1, self.min_features, len(units.fixed)), self._limit(units)
        if low > high:
            raise ValueError(
                f"min_features={self.min_features} leaves nothing to search: subsets have at most "
                f"{high} features."
            )
        if size is not None:
            if size < low:
                raise ValueError(
                    f"n_features_to_select={self.n_features_to_select} and "
                    f"min_features={self.min_features} cannot both hold."
                )
            low = high = size
        ways = count_by_size(units)
        counts = {s: ways[s] for s in range(low, min(high, units.n_features) + 1) if ways[s]}
        if not counts:
            raise ValueError(
                f"no union of feature_groups and single features has {low} to {high} features; "
                "choose another number, or give max_features instead of n_features_to_select."
            )
        return counts

    def _refuse_too_many(self, units: Units) -> None:
        if self.limit is not None and self.n_subsets_ > self.limit:
            raise ValueError(
                f"ExhaustiveSearch would judge {self.n_subsets_:,} subsets of "
                f"{len(units.members)} units, more than limit={self.limit:,}. Raise limit (None: "
                "no limit), ask for fewer with n_features_to_select or max_features, or use "
                "ForwardSelection, or BranchAndBound for a monotone criterion."
            )


# ---------------------------------------------------------------------- counting and listing


def count_by_size(units: Units) -> list[int]:
    """For each number of features, how many subsets of units have it, fixed ones included."""
    ways = [0] * (units.n_features + 1)
    ways[len(units.fixed)] = 1
    for size in units.sizes.tolist():
        for total in range(units.n_features, size - 1, -1):
            ways[total] += ways[total - size]
    return ways


def subsets_of_size(units: Units, size: int) -> Iterator[np.ndarray]:
    """All subsets of units with a number of features, in lexicographic order."""
    n_units, wanted = len(units.members), size - len(units.fixed)
    sizes = units.sizes.tolist()
    chosen: Iterator[tuple[int, ...]]
    if max(sizes) == 1:
        chosen = combinations(range(n_units), wanted)
    else:
        chosen = fillings(sizes, wanted)
    for members in chosen:
        subset = np.zeros(n_units, dtype=bool)
        subset[list(members)] = True
        yield subset


def fillings(sizes: list[int], wanted: int) -> Iterator[tuple[int, ...]]:
    """Tuples of places whose sizes add up to ``wanted``; no branch without one is entered."""
    within: list[set[int]] = [{0}]  # sums that the last 0, 1, 2, ... sizes can make
    for size in reversed(sizes):
        within.append(within[-1] | {total + size for total in within[-1]})
    within.reverse()  # within[k]: by the sizes from k on

    def extend(chosen: tuple[int, ...], place: int, left: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield chosen
            return
        for k in range(place, len(sizes)):
            if left - sizes[k] in within[k + 1]:
                yield from extend((*chosen, k), k + 1, left - sizes[k])

    if wanted in within[0]:
        yield from extend((), 0, wanted)


# ---------------------------------------------------------------------- the time it will take


def _foretell(evaluator: Evaluator, counts: dict[int, int]) -> float | None:
    """Seconds for all subsets, from one subset of a few sizes; the evaluations are not wasted."""
    sizes = np.array(list(counts))
    places = np.unique(np.linspace(0, len(sizes) - 1, _TIMED_SIZES).round().astype(int))
    first = next(subsets_of_size(evaluator.units, int(sizes[0])))
    evaluator.one(first)  # what has to be compiled or loaded once is not to be counted
    seconds = []
    for size in sizes[places].tolist():
        # the second of its size where there is one, as the very first is known by now
        some = islice(subsets_of_size(evaluator.units, size), 2)
        new = [subset for subset in some if not evaluator.is_known(subset)]
        began = time.perf_counter()
        evaluator.many(new[:1])
        seconds.append(time.perf_counter() - began if new else np.nan)
    if evaluator.journal is not None and evaluator.journal.records:
        return None  # these came from the journal
    known = np.isfinite(seconds)
    if not known.any():
        return 0.0
    each = np.interp(sizes, sizes[places][known], np.array(seconds)[known])
    ways = np.array([float(counts[s]) for s in sizes.tolist()])
    return float(each @ ways) / evaluator.workers


def in_words(seconds: float) -> str:
    for unit, length in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(1, round(seconds))} s"
