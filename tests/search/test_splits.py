"""Splits: the same for every subset, seeded, and told apart from nonsense."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from tamiz.search import ForwardSelection, TimeFolds
from tamiz.search.splits import HoldOut, inner_splits, make_splits

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


# ------------------------------------------------------------------------------ order and groups


def naive_time_folds(times, n_splits, past_only, gap):
    """Blocks by a plain loop: as many samples in each as equal cuts give, no time cut in two."""
    n_blocks = max(2, n_splits + past_only)
    distinct = sorted(set(times))
    block, before = {}, 0
    for place, moment in enumerate(distinct):
        count = times.count(moment)
        wanted = int((before + count / 2) * n_blocks / len(times))
        wanted = max(wanted, n_blocks - len(distinct) + place)
        last = block[distinct[place - 1]] if place else -1
        block[moment] = min(wanted, last + 1)
        before += count
    for k in range(n_blocks - n_splits, n_blocks):
        inside = [m for m in distinct if block[m] == k]
        first, last = distinct.index(inside[0]), distinct.index(inside[-1])
        learned = set(distinct[: max(0, first - gap)])
        if not past_only:
            learned |= set(distinct[last + gap + 1 :])
        yield (
            [i for i, t in enumerate(times) if t in learned],
            [i for i, t in enumerate(times) if t in inside],
        )


@pytest.mark.parametrize("past_only", [True, False])
def test_time_folds_equal_plain_loops(past_only):
    rng = np.random.default_rng(3)
    tried = 0
    while tried < 100:
        times = rng.integers(0, rng.integers(3, 30), rng.integers(6, 40)).tolist()
        n_splits, gap = int(rng.integers(1, 5)), int(rng.integers(0, 2))
        splitter = TimeFolds(n_splits, past_only=past_only, gap=gap)
        try:
            found = list(splitter.split(np.zeros((len(times), 1)), None, times))
        except ValueError:
            continue
        expected = list(naive_time_folds(times, n_splits, past_only, gap))
        assert equal(found, [(np.array(a), np.array(b)) for a, b in expected])
        assert len(found) == splitter.get_n_splits()
        tried += 1


def test_time_folds_learn_from_the_past_and_cut_no_time_in_two():
    times = np.repeat(np.array(["2024-03", "2024-01", "2024-02", "2024-05"], "datetime64[M]"), 5)
    for train, test in TimeFolds(3).split(np.zeros((20, 1)), None, times):
        assert times[train].max() < times[test].min()
        assert not set(times[train]) & set(times[test])


@pytest.mark.parametrize(
    ("params", "rows", "sentence"),
    [
        ({"n_splits": 5}, 5, "need 6 different times; there are 5"),
        ({"n_splits": 0}, 9, "n_splits=0 must be"),
        ({"gap": -1}, 9, "gap=-1 must be"),
        ({"n_splits": 2, "gap": 5}, 9, "gap=5 leaves nothing to learn from"),
    ],
)
def test_time_folds_refuse(params, rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        list(TimeFolds(**params).split(np.zeros((rows, 1))))


def test_time_folds_refuse_text():
    with pytest.raises(ValueError, match="groups holds the text '9'"):
        list(TimeFolds(2).split(np.zeros((4, 1)), None, ["9", "10", "11", "12"]))


def test_a_number_of_folds_keeps_groups_together():
    groups = np.arange(20) // 2
    for classifier, target in ((True, y), (False, y * 1.5)):
        for train, test in make_splits(4, X, target, classifier, 0, groups):
            assert not set(groups[train]) & set(groups[test])
    with pytest.raises(ValueError, match="cv=4 folds need 4 groups; there are 2"):
        make_splits(4, X, y, True, 0, np.arange(20) % 2)


def test_hold_out_keeps_groups_together():
    groups = np.arange(20) // 4
    [(train, test)] = make_splits(HoldOut(0.4), X, y, True, 0, groups)
    assert len(test) == 8 and not set(groups[train]) & set(groups[test])


TRAIN = np.arange(30)
LABELS = np.arange(40) % 2


@pytest.mark.parametrize("cv", [TimeSeriesSplit(5), TimeFolds(4), TimeSeriesSplit(3, gap=2)])
def test_inner_splits_of_a_series_learn_from_the_past(cv):
    found = inner_splits(cv, TRAIN, LABELS, 3, True, 0)
    assert len(found) == 3
    for train, test in found:
        assert train.max() < test.min() and test.max() <= TRAIN.max()


def test_inner_splits_follow_times_that_are_not_sorted():
    times = np.random.default_rng(0).permutation(40)
    for train, test in inner_splits(TimeFolds(4), TRAIN, LABELS, 3, True, 0, times):
        assert times[train].max() < times[test].min() and set(test) <= set(TRAIN)


def test_inner_splits_of_a_short_series_are_fewer_or_none():
    cv = TimeSeriesSplit(5, test_size=3)
    assert len(inner_splits(cv, np.arange(10), LABELS, 5, True, 0)) == 2  # the first has one class
    assert inner_splits(cv, np.arange(3), LABELS, 5, True, 0) == []


@pytest.mark.parametrize("cv", [3, GroupKFold(3), LeaveOneGroupOut()])
def test_inner_splits_keep_groups_together(cv):
    groups = np.arange(40) // 5
    found = inner_splits(cv, TRAIN, LABELS, 3, True, 0, groups)
    assert len(found) == 3
    for train, test in found:
        assert not set(groups[train]) & set(groups[test]) and set(test) <= set(TRAIN)


def test_inner_splits_of_listed_splits_are_the_others_cut_down():
    cv = PredefinedSplit(np.arange(40) // 10)
    outer = list(cv.split())
    for given in (cv, outer):
        found = inner_splits(given, outer[0][0], LABELS, 5, True, 0, others=outer[1:])
        assert len(found) == 3
        for (train, test), (_, other) in zip(found, outer[1:], strict=True):
            assert np.array_equal(test, other)
            assert set(train) == set(outer[0][0]) - set(other)


def test_many_listed_splits_are_joined():
    outer = list(LeaveOneOut().split(LABELS))
    found = inner_splits(outer, outer[0][0], LABELS, 3, True, 0, others=outer[1:])
    assert np.array_equal(np.concatenate([test for _, test in found]), np.arange(1, 40))
    for train, test in found:
        assert len(test) == 13 and set(train) == set(range(1, 40)) - set(test)
    past = list(TimeFolds(8).split(LABELS))
    found = inner_splits(past, past[-1][0], LABELS, 3, True, 0, others=past[:-1])
    assert len(found) == 3 and all(train.max() < test.min() for train, test in found)
    random = list(ShuffleSplit(5, test_size=0.5, random_state=0).split(LABELS))
    found = inner_splits(random, random[0][0], LABELS, 3, True, 0, others=random[1:])
    assert len(found) == 3


def test_a_single_listed_split_has_shuffled_folds_inside():
    found = inner_splits([(TRAIN, np.arange(30, 40))], TRAIN, LABELS, 3, True, 0)
    assert equal(found, inner_splits(3, TRAIN, LABELS, 3, True, 0)) and len(found) == 3


def test_inner_splits_of_folds_in_order_stay_in_order():
    found = inner_splits(KFold(5), TRAIN, LABELS, 3, True, 0)
    assert equal(found, list(KFold(3).split(TRAIN)))
    shuffled = inner_splits(KFold(5, shuffle=True), TRAIN, LABELS, 3, True, 0)
    assert all(np.diff(test).max() > 1 for _, test in shuffled)


def test_inner_splits_without_one_class():
    labels = np.r_[np.zeros(20, int), np.ones(20, int)]
    found = inner_splits(TimeSeriesSplit(4), TRAIN, labels, 4, True, 0)
    assert 0 < len(found) < 4
    assert all(len(np.unique(labels[train])) == 2 for train, _ in found)
