"""Ways to divide samples into a part to learn from and a part to judge by."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from sklearn.model_selection import (
    BaseCrossValidator,
    BaseShuffleSplit,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    check_cv,
)
from sklearn.utils.multiclass import type_of_target

from tamiz.routing import Routes
from tamiz.validation import (
    check_groups,
    check_split,
    check_times,
    depth_of_caller,
    folds,
    integer_from,
    optional,
)

Split = tuple[np.ndarray, np.ndarray]

#: The check of ``cv`` of whatever asks :func:`make_splits`.
dividing = optional(folds("loo"))


class HoldOut(BaseCrossValidator):
    """One split: a fraction of the samples is held out and judged by.

    Parameters
    ----------
    test_size : float or int, default=0.3
        Fraction, or number, of samples held out; of groups, where samples have groups.
    stratify : bool, default=True
        Keep the proportions of the classes in both parts, where there are classes.
    random_state : int, RandomState or None, default=None
        Seed of the split.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.search import HoldOut
    >>> [(train, test)] = HoldOut(0.25, random_state=0).split(np.zeros((8, 1)), [0, 1] * 4)
    >>> len(train), len(test)
    (6, 2)
    """

    def __init__(
        self, test_size: float | int = 0.3, *, stratify: bool = True, random_state: Any = None
    ):
        self.test_size = test_size
        self.stratify = stratify
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield the one split, indices of the samples to learn from and of those held out.

        Samples of one group stay together; the proportions of the classes then follow the groups.
        """
        if groups is not None:
            grouped = GroupShuffleSplit(1, test_size=self.test_size, random_state=self.random_state)
            yield from grouped.split(X, y, groups)
            return
        with np.errstate(invalid="ignore"):  # it turns all numbers into integers
            discrete = y is not None and not type_of_target(y).startswith("continuous")
        kind = StratifiedShuffleSplit if self.stratify and discrete else ShuffleSplit
        splitter = kind(1, test_size=self.test_size, random_state=self.random_state)
        yield from splitter.split(X, y)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, one."""
        return 1


class TimeFolds(BaseCrossValidator):
    """Splits in the order of time: learn from the past, judge by what came after.

    The samples are cut into blocks of about equal size by their times, never between samples of
    one time. Each block but the first is judged once, by what was learned from the blocks before
    it. Times are passed as ``groups``, which every level of a nested evaluation divides with the
    samples; without them the rows are in the order of time.

    Parameters
    ----------
    n_splits : int, default=5
        Number of blocks that are judged.
    past_only : bool, default=True
        Learn from what came before a block only. If False, also from what came after it (blocked
        cross-validation), and the first block is judged, too.
    gap : int, default=0
        Number of different times beside a judged block that are not learned from, on both sides.
        It keeps samples apart whose values overlap in time, such as moving averages (purging).

    See Also
    --------
    tamiz.compare : Its inner folds keep the order of time as well.

    Examples
    --------
    >>> import numpy as np
    >>> from tamiz.search import TimeFolds
    >>> for train, test in TimeFolds(2, gap=1).split(np.zeros((6, 1))):
    ...     print(train.tolist(), test.tolist())
    [0] [2, 3]
    [0, 1, 2] [4, 5]
    """

    def __init__(self, n_splits: int = 5, *, past_only: bool = True, gap: int = 0):
        self.n_splits = n_splits
        self.past_only = past_only
        self.gap = gap

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield the positions of the samples to learn from and of those to judge by.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The samples.
        y : ignored
            Not used.
        groups : array of shape (n_samples,), optional
            The times: numbers or dates. By default the rows are in the order of time.
        """
        n_splits = integer_from(1)("n_splits", self.n_splits)
        gap = integer_from(0)("gap", self.gap)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        times = np.arange(n) if groups is None else check_times(groups, n, name="groups")
        n_blocks = max(2, n_splits + bool(self.past_only))
        distinct, moment, counts = np.unique(times, return_inverse=True, return_counts=True)
        if len(distinct) < n_blocks:
            raise ValueError(
                f"{n_splits} splits in the order of time need {n_blocks} different times; there "
                f"are {len(distinct)}. Use fewer splits."
            )
        block = _blocks(counts, n_blocks)
        for k in range(n_blocks - n_splits, n_blocks):
            first, last = np.flatnonzero(block == k)[[0, -1]]
            learned = moment < first - gap
            if not self.past_only:
                learned |= moment > last + gap
            if not learned.any():
                raise ValueError(
                    f"gap={gap} leaves nothing to learn from beside block {k} of {n_blocks}; use "
                    "a smaller one, or fewer splits."
                )
            yield np.flatnonzero(learned), np.flatnonzero((moment >= first) & (moment <= last))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits


def _blocks(counts: np.ndarray, n_blocks: int) -> np.ndarray:
    """The block of each time, by its number of samples: about equal blocks, none of them empty."""
    place = np.arange(len(counts))
    middle = (np.cumsum(counts) - counts / 2) * n_blocks / counts.sum()
    block = np.clip(middle.astype(np.intp), n_blocks - len(counts) + place, place)
    return np.minimum.accumulate(block - place) + place  # no block is passed over


def make_splits(
    cv: Any,
    X: Any,
    y: Any,
    classifier: bool,
    seed: int,
    groups: Any = None,
    *,
    warn: bool = True,
    metadata: Mapping[str, Any] | None = None,
) -> list[Split]:
    """The splits that ``cv`` stands for, all of them, so that every subset meets the same.

    Parameters
    ----------
    cv : int, "loo", splitter, iterable of splits
        What a user gave.
    X, y : arrays
        The data.
    classifier : bool
        Whether an int stands for stratified folds.
    seed : int
        For splitters whose ``random_state`` is None though they are random.
    groups : array, optional
        Samples of one group are never in both parts; for splitters that look at groups, and for
        a number of folds.
    warn : bool, default=True
        Whether to look for splits that part groups all the same: those of a splitter of
        scikit-learn that has no use for groups are refused, others are warned of.
    metadata : mapping, optional
        What else a splitter asked for.
    """
    cv = asked = dividing("cv", cv)
    if isinstance(cv, str):
        cv = LeaveOneOut()
    n = X.shape[0]
    groups = None if groups is None else check_groups(groups, n)
    if isinstance(cv, int):
        counts = np.unique(y, return_counts=True)[1] if classifier else np.array([n])
        if cv > n:
            each = f" in {len(counts)} classes, {counts.max()} in the largest" if classifier else ""
            raise ValueError(
                f"cv={cv} folds need at least {cv} samples, at least one per fold; X has {n}{each}."
                f" Use at most {n} folds, or more samples."
            )
        if cv > counts.max():
            raise ValueError(
                f"cv={cv} folds need a class with at least {cv} samples; the largest has "
                f"{counts.max()}. Use fewer folds, or cv='loo'."
            )
    state = getattr(cv, "random_state", 0)
    if state is None and getattr(cv, "shuffle", True):
        np_state = np.random.RandomState(seed % 2**32)
        cv = _with_state(cv, np_state)
    if isinstance(cv, int) and groups is not None:
        cv = _grouped(cv, classifier, groups)
    checked = check_cv(cv, y, classifier=classifier)
    listed = hasattr(cv, "__iter__") and not hasattr(cv, "split")
    with warnings.catch_warnings():
        # scikit-learn's warning of groups that are ignored; the sentence below says what to do
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        given = checked.cv if listed else checked.split(X, y, groups, **(metadata or {}))
        splits = [check_split(split, k, n) for k, split in enumerate(given)]
    if not splits:
        raise ValueError("cv yields no splits.")
    if warn and groups is not None and _part_groups(splits, groups):
        other = _that_keeps_groups(cv, classifier, len(splits))
        said = (
            f"cv={asked!r} puts samples of one group into both parts of a split, so that errors "
            f"may be too small; {other} keeps groups together"
        )
        if _ignores_groups(cv):
            raise ValueError(f"{said}. Use it, or leave groups out.")
        warnings.warn(f"{said}.", UserWarning, stacklevel=depth_of_caller())
    return splits


def _ignores_groups(cv: Any) -> bool:
    """Whether it is a splitter of scikit-learn that has no use for groups."""
    own = type(cv).__module__.partition(".")[0] == "sklearn"
    return own and not isinstance(cv, PredefinedSplit) and not hasattr(cv, "set_split_request")


def splitting(cv: Any, groups: Any, routes: Routes | None) -> dict[str, Any]:
    """``groups`` and ``metadata`` of :func:`make_splits`: what a splitter asks for, if it can."""
    if routes is None or not hasattr(cv, "set_split_request"):
        return {"groups": groups}
    asked = routes.part("splitter")
    return {"groups": asked.pop("groups", None), "metadata": asked}


def _part_groups(splits: Sequence[Split], groups: np.ndarray) -> bool:
    """Whether any group has samples in both parts of a split."""
    codes = np.unique(groups, return_inverse=True)[1]
    return any(len(np.intersect1d(codes[train], codes[test])) for train, test in splits)


def _that_keeps_groups(cv: Any, classifier: bool, n_splits: int) -> str:
    """The splitter to use instead of one that parts groups."""
    if isinstance(cv, TimeSeriesSplit):
        return f"tamiz.search.TimeFolds({n_splits}), with the times as groups,"
    if isinstance(cv, (LeaveOneOut, LeavePOut)):
        return "LeaveOneGroupOut()"
    if isinstance(cv, BaseShuffleSplit):
        return f"GroupShuffleSplit({n_splits})"
    folds = int(getattr(cv, "n_splits", 0) or getattr(cv, "cvargs", {}).get("n_splits", 5))
    return f"{'Stratified' * classifier}GroupKFold({folds}, shuffle=True)"


def _with_state(cv: Any, state: np.random.RandomState) -> Any:
    """The same splitter, seeded; the user's own stays as it is."""
    seeded = copy.copy(cv)
    seeded.random_state = state
    return seeded


def _grouped(n_folds: int, classifier: bool, groups: Any, seed: int | None = None) -> Any:
    """Folds that keep groups together, the classes in proportion."""
    n_groups = len(np.unique(groups))
    if n_groups < n_folds:
        raise ValueError(f"cv={n_folds} folds need {n_folds} groups; there are {n_groups}.")
    kind = StratifiedGroupKFold if classifier else GroupKFold
    return kind(n_folds) if seed is None else kind(n_folds, shuffle=True, random_state=seed)


def shuffled_folds(n_folds: int, classifier: bool, seed: int, groups: Any = None) -> Any:
    """Folds drawn at random, the classes in proportion, groups together."""
    if groups is not None:
        return _grouped(n_folds, classifier, groups, seed)
    kind = StratifiedKFold if classifier else KFold
    return kind(n_folds, shuffle=True, random_state=seed)


#: Splits without an order of the samples: inside a part of them, shuffled folds do as well. Those
#: of groups are made again by the groups.
_UNORDERED = (
    GroupKFold,
    GroupShuffleSplit,
    HoldOut,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedShuffleSplit,
)


def neighbours_in_time(times: np.ndarray, n_blocks: int = 20) -> np.ndarray:
    """The block of time of each sample: samples of about the same time, which may be alike.

    For draws that know groups and no order. Samples of one time are in one block.
    """
    distinct, moment, counts = np.unique(times, return_inverse=True, return_counts=True)
    return _blocks(counts, min(n_blocks, len(distinct)))[moment]


def kept_together(groups: Any, times: Any, n_samples: int) -> np.ndarray | None:
    """Which samples resemble each other: groups as they are, of times blocks of neighbours.

    For draws that part the samples at random. None if neither is given.
    """
    return structure_of(groups, times, n_samples)[1]


def structure_of(
    groups: Any, times: Any, n_samples: int, rows: np.ndarray | None = None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The moments, and which samples are kept together, of the samples at ``rows`` alone.

    The others have no part in where blocks of time end. Without ``rows`` it is all samples.
    """
    moments, together = moments_of(groups, times, n_samples), None
    if groups is not None:
        together = check_groups(groups, n_samples)
    if rows is not None:
        moments = None if moments is None else moments_of(None, moments[rows], len(rows))
        together = None if together is None else together[rows]
    return moments, together if moments is None else neighbours_in_time(moments)


def moments_of(groups: Any, times: Any, n_samples: int) -> np.ndarray | None:
    """The place of each sample's time among the different times, from 0 on; None without times.

    Groups beside times are refused.
    """
    if times is None:
        return None
    if groups is not None:
        raise ValueError(
            "groups= and times= cannot be combined: samples belong together either by group or as "
            "neighbours in time. Leave one of them out."
        )
    distinct, moments = np.unique(check_times(times, n_samples), return_inverse=True)
    if len(distinct) < 2:
        raise ValueError("times are the same in all samples, so that none come before others.")
    return moments


def inner_splits(
    cv: Any,
    train: np.ndarray,
    y: np.ndarray,
    n_folds: int,
    classifier: bool,
    seed: int,
    groups: Any = None,
    others: Sequence[Split] = (),
) -> list[Split]:
    """Splits of a training part that keep the structure of those that it comes from.

    A splitter that follows the order of the samples (of time, say) divides the training part in
    the same way; splits that were listed one by one are cut down to it; anything else becomes
    shuffled folds, the classes in proportion and groups together. There are fewer splits if
    samples, classes or groups are too few, or none at all.

    Parameters
    ----------
    cv : int, "loo", splitter, iterable of splits
        What divides all samples.
    train : array of int
        Positions of the samples of the training part.
    y, groups : arrays
        Targets and groups of all samples.
    n_folds : int
        Number of splits, at most.
    classifier : bool
        Whether ``y`` holds classes.
    seed : int
        For what is shuffled.
    others : list of (train, test)
        The other splits that ``cv`` made of all samples.

    Returns
    -------
    splits : list of (train, test)
        Positions among all samples.
    """
    inside = None if groups is None else groups[train]
    found: list[Split] = []
    listed = isinstance(cv, PredefinedSplit) or not (_is_unordered(cv) or hasattr(cv, "split"))
    if listed and len(others):
        found = _cut_down(others, train, n_folds)
    elif listed or _is_unordered(cv):  # one split alone has no structure that could be kept
        most = len(train) if inside is None else len(np.unique(inside))
        if classifier:
            most = min(most, int(np.unique(y[train], return_counts=True)[1].max()))
        if most >= 2:
            splitter = shuffled_folds(min(n_folds, most), classifier, seed, inside)
            found = _divided(splitter, train, y, inside)
    else:
        found = _in_the_same_way(cv, train, y, inside, n_folds, seed)
    if classifier:
        found = [(a, b) for a, b in found if len(np.unique(y[a])) > 1]
    return [(a, b) for a, b in found if len(a) and len(b)]


def _is_unordered(cv: Any) -> bool:
    """Whether shuffled folds have all the structure of such splits."""
    if isinstance(cv, (int, str, *_UNORDERED)):
        return True
    return isinstance(cv, (KFold, StratifiedKFold)) and cv.shuffle


def is_ordered(cv: Any) -> bool:
    """Whether ``cv`` is a splitter that follows the order of the samples, or of their times."""
    listed = isinstance(cv, PredefinedSplit) or not hasattr(cv, "split")
    return not listed and not _is_unordered(cv)


def is_forward(splits: Sequence[Split], moments: np.ndarray) -> bool:
    """Whether all that is learned from comes before what is judged by it, in every split."""
    return bool(splits) and all(moments[a].max() < moments[b].min() for a, b in splits)


def _divided(splitter: Any, train: np.ndarray, y: np.ndarray, groups: Any) -> list[Split]:
    splits = splitter.split(np.zeros((len(train), 1)), y[train], groups)
    return [(train[a], train[b]) for a, b in splits]


def _in_the_same_way(
    cv: Any, train: np.ndarray, y: np.ndarray, groups: Any, n_folds: int, seed: int
) -> list[Split]:
    """The splits of the same splitter; of fewer if the samples are too few for so many."""
    splitter = copy.copy(cv)
    if getattr(cv, "random_state", 0) is None:
        splitter = _with_state(cv, np.random.RandomState(seed % 2**32))
    if not hasattr(cv, "n_splits"):
        return _divided(splitter, train, y, groups)
    for splitter.n_splits in range(n_folds, 0, -1):
        try:
            return _divided(splitter, train, y, groups)
        except ValueError:
            continue
    return []


def _cut_down(splits: Sequence[Split], train: np.ndarray, most: int) -> list[Split]:
    """What is left of other splits in a training part.

    Where there are more than ``most``, neighbours whose test parts have nothing in common become
    one: their test parts are joined, and what none of them tests is learned from.
    """
    cut = [(np.intersect1d(a, train), np.intersect1d(b, train)) for a, b in splits]
    cut = [(a, b) for a, b in cut if len(a) and len(b)]
    apart: list[Split] = []
    tested = np.empty(0, dtype=np.intp)
    for a, b in cut:
        if not len(np.intersect1d(tested, b)):
            apart.append((a, b))
            tested = np.concatenate([tested, b])
    if len(apart) < 2:
        return cut[:most]
    joined = []
    for part in np.array_split(np.arange(len(apart)), min(most, len(apart))):
        learned = reduce(np.intersect1d, [apart[k][0] for k in part])
        joined.append((learned, np.sort(np.concatenate([apart[k][1] for k in part]))))
    return joined
