"""Splits: the same for every subset, seeded, and told apart from nonsense."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from tamiz.search import ForwardSelection
from tamiz.search.splits import HoldOut, make_splits

X = np.zeros((20, 2))
y = np.repeat([0, 1], 10)


def equal(left, right):
    return len(left) == len(right) and all(
        np.array_equal(a, c) and np.array_equal(b, d)
        for (a, b), (c, d) in zip(left, right, strict=True)
    )


def test_numbers_words_and_splitters():
    assert equal(make_splits(4, X, y, True, 0), list(StratifiedKFold(4).split(X, y)))
    assert equal(make_splits(4, X, y * 1.5, False, 0), list(KFold(4).split(X)))
    assert equal(make_splits("loo", X, y, True, 0), list(LeaveOneOut().split(X)))
    given = [(np.arange(10), np.arange(10, 20)), ([1, 2], [3])]
    assert len(make_splits(given, X, y, True, 0)) == 2


def test_random_splitters_without_a_seed_get_one_and_stay_as_they_are():
    splitter = ShuffleSplit(3)
    first = make_splits(splitter, X, y, True, 5)
    assert equal(first, make_splits(splitter, X, y, True, 5))
    assert not equal(first, make_splits(splitter, X, y, True, 6))
    assert splitter.random_state is None
    fixed = ShuffleSplit(3, random_state=1)
    assert equal(make_splits(fixed, X, y, True, 5), make_splits(fixed, X, y, True, 6))
    assert equal(make_splits(KFold(3), X, y, True, 5), list(KFold(3).split(X)))


def test_hold_out():
    [(train, test)] = make_splits(HoldOut(0.2), X, y, True, 0)
    assert len(test) == 4 and y[test].sum() == 2
    assert np.array_equal(np.sort(np.r_[train, test]), np.arange(20))
    [(_, plain)] = HoldOut(5, stratify=False, random_state=0).split(X, y)
    assert len(plain) == 5
    assert HoldOut().get_n_splits() == 1


@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        ("ten", "cv='ten' is not understood"),
        (1, "cv=1 folds need at least 2"),
        (21, "at most 20"),
        (11, "the largest has 10"),
        ([], "no splits|yields no"),
        ([(np.arange(3), np.arange(0))], "leaves no samples"),
        ([(np.arange(10), [10, 20])], "split 0 of cv names the sample 20; the 20 samples"),
        ([(np.arange(9), [9]), ([-1, 3], [4])], "split 1 of cv names the sample -1"),
        ([([0.5, 1.0], [2])], "split 0 of cv holds .*0.5.* integers"),
        ([([[0, 1]], [2])], r"shape \(1, 2\)"),
        ([(np.ones(19, dtype=bool), [2])], "mask of 19 entries; X has 20"),
        ([(np.zeros(20, dtype=bool), [2])], "leaves no samples"),
        ([3, 4], "split 0 of cv is 3; it must be a pair"),
        ([(np.arange(3), np.arange(3, 6), np.arange(6, 9))], "it must be a pair"),
    ],
)
def test_nonsense_is_refused(cv, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_splits(cv, X, y, True, 0)


def test_masks_are_turned_into_positions():
    mask = np.arange(20) < 8
    [(train, test)] = make_splits([(mask, ~mask)], X, y, True, 0)
    assert train.tolist() == list(range(8)) and test.tolist() == list(range(8, 20))


def test_fewer_samples_than_folds():
    few = [[0.0], [1.0]]
    with pytest.raises(
        ValueError, match=r"cv=5 folds need at least 5 samples.*X has 2 in 2 classes"
    ):
        ForwardSelection(cv=5).fit(few, [0, 1])
    with pytest.raises(ValueError, match=r"X has 2\. Use at most 2 folds, or more samples"):
        ForwardSelection(Ridge(), cv=5).fit(few, [0.5, 1.0])
    with pytest.raises(ValueError, match="y holds one class only"):
        ForwardSelection(cv=5).fit(few, [1, 1])
