"""Ways to divide samples into a part to learn from and a part to judge by."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import (
    BaseCrossValidator,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils.multiclass import type_of_target

from tamiz.validation import check_split, folds, optional

Split = tuple[np.ndarray, np.ndarray]

#: The check of ``cv`` of whatever asks :func:`make_splits`.
dividing = optional(folds("loo"))


class HoldOut(BaseCrossValidator):
    """One split: a fraction of the samples is held out and judged by.

    Parameters
    ----------
    test_size : float or int, default=0.3
        Fraction, or number, of samples held out.
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
        """Yield the one split, indices of the samples to learn from and of those held out."""
        with np.errstate(invalid="ignore"):  # it turns all numbers into integers
            discrete = y is not None and not type_of_target(y).startswith("continuous")
        kind = StratifiedShuffleSplit if self.stratify and discrete else ShuffleSplit
        splitter = kind(1, test_size=self.test_size, random_state=self.random_state)
        yield from splitter.split(X, y)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, one."""
        return 1


def make_splits(
    cv: Any, X: Any, y: Any, classifier: bool, seed: int, groups: Any = None
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
        For splitters that keep groups of samples together.
    """
    cv = dividing("cv", cv)
    if isinstance(cv, str):
        cv = LeaveOneOut()
    n = X.shape[0]
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
    checked = check_cv(cv, y, classifier=classifier)
    listed = hasattr(cv, "__iter__") and not hasattr(cv, "split")
    given = checked.cv if listed else checked.split(X, y, groups)
    splits = [check_split(split, k, n) for k, split in enumerate(given)]
    if not splits:
        raise ValueError("cv yields no splits.")
    return splits


def _with_state(cv: Any, state: np.random.RandomState) -> Any:
    """The same splitter, seeded; the user's own stays as it is."""
    seeded = copy.copy(cv)
    seeded.random_state = state
    return seeded
