"""Whole groups in what selectors divide, in resamples, in halves and in calibration folds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from tamiz import HoldOutSVM, compare, tune
from tamiz.base import Selector
from tamiz.cli.calibration import folds_of
from tamiz.discovery import StabilitySelection
from tamiz.evaluation import stability_of
from tamiz.neighbors import KNNClassifier
from tamiz.search import ForwardSelection
from tamiz.search.resampling import Halves, ResampledTable


def persons(n_groups=60, each=4, seed=0):
    """A column that identifies the person, and one that is right nine times in ten."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_groups), each)
    y = np.repeat(rng.permutation(np.arange(n_groups) % 2), each)
    identity = np.repeat(rng.permutation(n_groups), each) * 1.0
    signal = np.where(rng.random(len(y)) < 0.9, y, 1 - y) + 0.05 * rng.standard_normal(len(y))
    mixed = rng.permutation(len(y))  # folds of rows in their order would keep groups by accident
    return np.column_stack([identity, 3 * signal])[mixed], y[mixed], person[mixed]


def best_of(selector, **groups):
    X, y, _ = persons(each=8)
    return int(selector.fit(X, y, **groups).order_[0])


def test_hold_out_elimination_does_not_fall_for_a_column_that_names_the_group():
    selector = HoldOutSVM(1, estimator=KNNClassifier(3), splits_per_step=5, random_state=0)
    assert best_of(selector) == 0  # mixed groups: the identity predicts its own copies
    assert best_of(selector, groups=persons(each=8)[2]) == 1


class KeepsGroups(Selector):
    """Notes which groups it was given in part."""

    parted: list[int] = []

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        counts = np.unique(X[:, 0], return_counts=True)[1]
        KeepsGroups.parted.append(int((counts % 4 != 0).sum()))
        self._finish(order=np.arange(X.shape[1]), n_selected=1)
        return self


@pytest.mark.parametrize("sample", ["bootstrap", "subsample", "folds"])
def test_resamples_hold_whole_groups(sample):
    X, y, person = persons()
    for groups, whole in ((person, True), (None, False)):
        KeepsGroups.parted = []
        stability_of(
            KeepsGroups(), X, y, groups=groups, sample=sample, n_resamples=10, random_state=0
        )
        assert (sum(KeepsGroups.parted) == 0) is whole


class KeepsNeighbours(Selector):
    """Notes which of 20 blocks of times, in the first column, it was given in part."""

    parted: list[int] = []

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        counts = np.bincount((X[:, 0] // 12).astype(int))
        KeepsNeighbours.parted.append(int((counts % 12 != 0).sum()))
        self._finish(order=np.arange(X.shape[1]), n_selected=1)
        return self


@pytest.mark.parametrize("sample", ["bootstrap", "subsample", "folds"])
def test_resamples_hold_whole_blocks_of_neighbours_in_time(sample):
    day = np.random.default_rng(0).permutation(240)
    X, y = np.column_stack([day, day]) * 1.0, np.random.default_rng(1).integers(0, 2, 240)
    for times, whole in ((day, True), (None, False)):
        KeepsNeighbours.parted = []
        stability_of(
            KeepsNeighbours(), X, y, times=times, sample=sample, n_resamples=10, random_state=0
        )
        assert (sum(KeepsNeighbours.parted) == 0) is whole
    with pytest.raises(ValueError, match="groups= and times= cannot be combined"):
        stability_of(KeepsNeighbours(), X, y, times=day, groups=day)


class Watched(KNNClassifier):
    """Notes the time, its last column, that it learns from last and is asked about first."""

    seen: list[tuple[float, float]] = []

    def fit(self, X, y):
        self.last_ = X[:, -1].max()
        return super().fit(X, y)

    def predict(self, X):
        Watched.seen.append((self.last_, X[:, -1].min()))
        return super().predict(X)


@pytest.mark.parametrize("within", ["resamples", "halves"])
@pytest.mark.parametrize("routed", [False, True])
def test_a_selector_inside_resamples_and_halves_gets_the_times_too(within, routed):
    rng = np.random.default_rng(0)
    day, y = rng.permutation(240), rng.integers(0, 2, 240)
    X = np.column_stack([y + rng.standard_normal(240), day])
    selector = HoldOutSVM(1, estimator=Watched(3), fixed_features=[1])
    with config_context(enable_metadata_routing=routed):
        if routed:
            selector.set_fit_request(times=True)
        for times in (None, day):
            Watched.seen = []
            if within == "resamples":
                stability_of(selector, X, y, times=times, n_resamples=4, random_state=0)
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of the bound, and that nothing is selected
                    StabilitySelection(selector, n_subsamples=4, random_state=0).fit(
                        X, y, times=times
                    )
            assert len(Watched.seen) > 4
            assert all(last < first for last, first in Watched.seen) is (times is not None)


def test_a_selector_inside_halves_gets_the_groups_too():
    X, y, person = persons()
    inner = ForwardSelection(KNNClassifier(3), n_features_to_select=1, cv=4)
    found = StabilitySelection(inner, n_subsamples=6, n_features_per_subsample=1, random_state=0)
    assert found.fit(X, y, groups=person).frequencies_.argmax() == 1


def test_a_search_inside_a_comparison_keeps_the_groups():
    X, y, person = persons()
    inner = ForwardSelection(KNNClassifier(3), n_features_to_select=1, cv=4)
    found = compare(
        X, y, {"forward": inner}, {"knn": KNNClassifier(3)}, sizes=[1], cv=4, repeats=1,
        scale=None, apparent=False, nested=False, baselines=(), groups=person, random_state=0,
    )  # fmt: skip
    assert found.stability("forward", "own").frequency.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("cv", "instead"),
    [
        (KFold(3, shuffle=True), r"StratifiedGroupKFold\(3, shuffle=True\)"),
        (StratifiedKFold(4), r"StratifiedGroupKFold\(4, shuffle=True\)"),
        (
            RepeatedStratifiedKFold(n_splits=3, n_repeats=2),
            r"StratifiedGroupKFold\(3, shuffle=True\)",
        ),
        (ShuffleSplit(2), r"GroupShuffleSplit\(2\)"),
        ("loo", r"LeaveOneGroupOut\(\)"),
        (TimeSeriesSplit(3), r"tamiz.search.TimeFolds\(3\), with the times as groups,"),
    ],
)
def test_a_splitter_that_parts_groups_is_refused(cv, instead):
    X, y, person = persons()
    words = f"samples of one group into both parts of a split.*{instead} keeps groups together"
    options = {"groups": person, "cv": cv, "random_state": 0}
    with pytest.raises(ValueError, match=words):
        compare(X, y, ["fisher"], {"knn": KNNClassifier(3)}, repeats=1, nested=False, **options)
    with pytest.raises(ValueError, match=words):
        tune(X, y, KNNClassifier(), {"n_neighbors": [1, 3]}, **options)


def test_the_splitter_that_is_named_is_taken():
    X, y, person = persons()
    options = {"sizes": [1], "repeats": 1, "nested": False, "apparent": False, "baselines": ()}
    for cv in (StratifiedGroupKFold(3, shuffle=True), GroupShuffleSplit(2), LeaveOneGroupOut()):
        found = compare(
            X, y, ["fisher"], {"knn": KNNClassifier(3)}, cv=cv, groups=person, **options
        )
        assert np.isfinite(found.errors).all()


def test_splits_of_ones_own_that_part_groups_are_warned_of_once():
    X, y, person = persons()
    listed = list(KFold(3, shuffle=True, random_state=0).split(X))
    for cv in (listed, PredefinedSplit(np.arange(len(y)) % 3)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compare(
                X, y, ["fisher"], {"knn": KNNClassifier(3)}, sizes=[1], repeats=1, nested=False,
                cv=cv, apparent=False, baselines=(), groups=person, random_state=0,
            )  # fmt: skip
        said = [str(one.message) for one in caught if "group" in str(one.message)]
        assert len(said) == 1 and "shuffle=True) keeps groups together" in said[0]


@pytest.mark.parametrize("missing", [np.nan, None])
def test_missing_groups_are_refused(missing):
    X, y, person = persons()
    groups = person.astype(object)
    groups[3] = missing
    for fit in (HoldOutSVM(1).fit, StabilitySelection().fit):
        with pytest.raises(ValueError, match=r"groups contains a missing value .first at row 3"):
            fit(X, y, groups=groups)


@pytest.mark.parametrize("ring", [True, False])
def test_halves_are_found_where_few_draws_hold_every_class(ring):
    """Thirty classes of two groups each, two classes a group: in a ring every second group.

    One in 2^29 draws at random has such halves. Otherwise groups hold three of twenty classes, and
    each class has three groups: a few draws in a thousand.
    """
    rng = np.random.default_rng(0)
    if ring:
        holds = [{k, (k + 1) % 30} for k in range(30)]
    else:
        holds = [set(part) for part in np.concatenate([rng.permutation(20) for _ in range(3)])
                 .reshape(20, 3).tolist()]  # fmt: skip
    place = rng.permutation(len(holds))
    group = np.concatenate([[g] * len(holds[g]) for g in place])
    y = np.concatenate([[f"class {k}" for k in sorted(holds[g])] for g in place])
    halves = Halves(ResampledTable(np.zeros((len(y), 1)), y), group)
    for b in range(5):
        first, second = halves.pair(0, b)
        assert not set(group[first]) & set(group[second])
        assert set(y[first]) == set(y[second]) == set(y)
        sizes = [len(set(group[part])) for part in (first, second)]
        assert not ring or sizes == [15, 15]
    again = halves.pair(0, 3)
    np.testing.assert_array_equal(again[0], Halves(ResampledTable(np.zeros((len(y), 1)), y),
                                                   group).pair(0, 3)[0])  # fmt: skip


def test_halves_of_groups_that_mix_classes_hold_every_class():
    """Two of twelve groups have a few samples of a second class, which is the usual one of none."""
    groups = np.repeat(np.arange(12), 5)
    y = np.zeros(60, dtype=int)
    y[[0, 5]] = 1
    halves = Halves(ResampledTable(np.zeros((60, 1)), y), groups)
    for b in range(40):
        first, second = halves.pair(0, b)
        assert set(y[first]) == set(y[second]) == {0, 1}
        assert not set(groups[first]) & set(groups[second])
    y[5] = 0
    with pytest.raises(ValueError, match="only one group of class 1"):
        Halves(ResampledTable(np.zeros((60, 1)), y), groups)


def test_three_groups_of_two_classes_each_cannot_be_halved():
    groups = np.repeat(np.arange(3), 4)
    y = np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0])
    with pytest.raises(ValueError, match="no way was found to divide the 3 groups"):
        Halves(ResampledTable(np.zeros((12, 1)), y), groups)


def test_calibration_folds_follow_time():
    y, times = np.tile([0, 1], 30), np.random.default_rng(0).permutation(60)
    rows, folds = folds_of(y, 0, times=times)
    assert len(folds) > 2
    assert all(times[rows][train].max() < times[rows][test].min() for train, test in folds)
