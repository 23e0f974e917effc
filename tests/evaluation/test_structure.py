"""Order and groups of the samples are kept at every level of an evaluation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit

from tamiz import HoldOutSVM, compare
from tamiz.base import Selector
from tamiz.embedded import SVMRFE
from tamiz.evaluation import tune
from tamiz.neighbors import KNNClassifier
from tamiz.search import ForwardSelection, TimeFolds
from tamiz.svm import SVC

SIZES = [1, 2]


class AsTheyCome(Selector):
    """Ranks the columns in their order."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self._finish(order=np.arange(X.shape[1]), n_selected=1)
        return self


def drifting(n=800, seed=0):
    """A column that is right three times in four, and the time, which fits the past only."""
    rng = np.random.default_rng(seed)
    time = np.arange(n)
    y = (np.sin(time / 9) + 0.3 * rng.standard_normal(n) > 0).astype(int)
    signal = np.where(rng.random(n) < 0.8, y, 1 - y) + 0.05 * rng.standard_normal(n)
    return np.column_stack([signal, time / 3.0]), y


def chosen_by(cv, X, y, groups=None):
    return compare(
        X, y, {"order": AsTheyCome()}, {"knn": KNNClassifier(3)}, sizes=SIZES, cv=cv, repeats=1,
        scale=None, apparent=False, baselines=(), groups=groups, random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize("cv", [TimeSeriesSplit(4), TimeFolds(4)])
def test_a_drifting_series_shuffled_inner_folds_choose_wrong_and_ordered_ones_right(cv):
    X, y = drifting()
    forward = chosen_by(cv, X, y)
    sizes = forward.nested_sizes[0, 0]
    curve = forward.curve("order", "knn")
    assert curve.error[0] < curve.error[1]  # the future is predicted by the first column alone
    assert list(sizes) == [1] * 4
    shuffled = chosen_by(KFold(4, shuffle=True, random_state=0), X, y)
    assert list(shuffled.nested_sizes[0, 0]) == [2] * 4
    assert shuffled.estimate("order").error < forward.estimate("order").error  # and promise more


def selected_by(selector, cv, seed):
    """How often, in the splits of a comparison, a selector keeps the signal, and the time."""
    X, y = drifting(seed=seed)
    found = compare(
        X, y, {"own": selector}, {"knn": KNNClassifier(3)}, sizes=SIZES, cv=cv, repeats=1,
        scale=None, apparent=False, nested=False, baselines=(), random_state=seed,
    )  # fmt: skip
    return found.stability("own", "own").frequency.tolist()


ONE_OF_TWO = {
    "hold-out, neighbours": HoldOutSVM(1, estimator=KNNClassifier(3)),
    "hold-out, machine": HoldOutSVM(1, gamma=1.0, C=10.0),
    "elimination": SVMRFE(kernel="rbf", gamma=1.0, C=1.0, n_features_to_select="best", cv=5,
                          fixed_features=[0]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "seed"), [(name, s) for name in ONE_OF_TWO for s in range(3 if "hold" in name else 1)]
)
def test_what_a_selector_divides_by_itself_follows_time_as_well(name, seed):
    for cv in (TimeSeriesSplit(4), TimeFolds(4)):
        assert selected_by(ONE_OF_TWO[name], cv, seed) == [1.0, 0.0]
    shuffled = selected_by(ONE_OF_TWO[name], KFold(4, shuffle=True, random_state=0), seed)
    assert shuffled[1] == 1.0


class Watched(KNNClassifier):
    """Notes the time, its last column, that it learns from last and is asked about first."""

    seen: list[tuple[float, float]] = []

    def fit(self, X, y):
        self.last_ = X[:, -1].max()
        return super().fit(X, y)

    def predict(self, X):
        Watched.seen.append((self.last_, X[:, -1].min()))
        return super().predict(X)


@pytest.mark.parametrize("gap", [0, 6])
def test_gap_of_the_splits_is_that_of_hold_out_elimination(gap):
    y = np.random.default_rng(0).integers(0, 2, 200)
    X = np.column_stack([y, np.arange(200)]) * 1.0
    selector = HoldOutSVM(1, estimator=Watched(3), fixed_features=[1])
    Watched.seen = []
    compare(
        X, y, {"own": selector}, {"knn": KNNClassifier(3)}, sizes=[1], repeats=1, scale=None,
        cv=TimeFolds(3, gap=gap), groups=np.arange(200), apparent=False, nested=False,
        baselines=(), random_state=0,
    )  # fmt: skip
    assert len(Watched.seen) >= 9 and min(b - a for a, b in Watched.seen) == gap + 1


class Apart(AsTheyCome):
    """Its own meaning of a gap, and whether it takes times."""

    seen: list[int] = []

    def __init__(self, gap=0):
        self.gap = gap

    def fit(self, X, y=None):
        Apart.seen.append(self.gap)
        return super().fit(X, y)


class ApartInTime(Apart):
    def fit(self, X, y=None, times=None):
        assert len(times) == len(X)
        return super().fit(X, y)


@pytest.mark.parametrize(("selector", "gap"), [(Apart(), 0), (ApartInTime(), 6)])
def test_gap_of_the_splits_is_for_those_alone_that_take_times(selector, gap):
    X, y = drifting(200)
    Apart.seen = []
    compare(
        X, y, {"own": selector}, {"knn": KNNClassifier(3)}, sizes=[1], repeats=1, scale=None,
        cv=TimeFolds(3, gap=6), groups=np.arange(200), apparent=False, nested=False,
        baselines=(), random_state=0,
    )  # fmt: skip
    assert len(Apart.seen) >= 3 and set(Apart.seen) == {gap}


@pytest.mark.parametrize("asks", [False, True])
def test_with_routing_the_gap_goes_with_the_times(asks):
    y = np.random.default_rng(0).integers(0, 2, 200)
    Watched.seen = []
    with config_context(enable_metadata_routing=True):
        selector = HoldOutSVM(1, estimator=Watched(3), fixed_features=[1])
        found = compare(
            np.column_stack([y, np.arange(200.0)]), y,
            {"own": selector.set_fit_request(times=asks)}, {"knn": KNNClassifier(3)}, sizes=[1],
            repeats=1, scale=None, cv=TimeFolds(3, gap=6), apparent=False, nested=False,
            baselines=(), random_state=0,
        )  # fmt: skip
    assert not found.failures and len(Watched.seen) >= 9
    assert (min(b - a for a, b in Watched.seen) == 7) == asks


def test_blocks_of_the_past_and_the_future_stay_blocks():
    """Splits that learn from what comes later as well leave neighbours together, no more."""
    X, y = drifting(200)
    X = np.column_stack([X[:, 0], 1.0 * np.arange(200)])
    for cv in (TimeFolds(3, past_only=False), KFold(4)):
        Watched.seen = []
        compare(
            X, y, {"own": HoldOutSVM(1, estimator=Watched(3), fixed_features=[1])},
            {"knn": KNNClassifier(3)}, sizes=[1], repeats=1, scale=None, cv=cv, apparent=False,
            nested=False, baselines=(), random_state=0,
        )  # fmt: skip
        assert any(last > first for last, first in Watched.seen)


def patients(seed=0):
    """Four rows of each patient, alike in the second column, and a column that means something."""
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.repeat(np.arange(50), 4))
    y = rng.permutation(np.arange(50) % 2)[person]
    signal = np.where(rng.random(200) < 0.8, y, 1 - y) + 0.05 * rng.standard_normal(200)
    identity = 3 * rng.permutation(50)[person] + 0.01 * rng.standard_normal(200)
    return np.column_stack([signal, identity]), y, person


def test_rows_of_one_patient_make_ungrouped_folds_choose_wrong():
    X, y, person = patients()
    apart = chosen_by(5, X, y, person)
    assert list(apart.nested_sizes[0, 0]) == [1] * 5
    mixed = chosen_by(StratifiedKFold(5, shuffle=True, random_state=0), X, y)
    assert list(mixed.nested_sizes[0, 0]) == [2] * 5


def test_searches_and_tuning_keep_groups_together_with_a_number_of_folds():
    X, y, person = patients()
    search = ForwardSelection(KNNClassifier(3), n_features_to_select=1, cv=5)
    assert search.fit(X, y, groups=person).support_.tolist() == [True, False]
    assert search.fit(X, y).support_.tolist() == [False, True]
    known = tune(X, y, SVC(), {"gamma": [100.0]}, cv=5).best_error
    assert known < 0.1 < 0.3 < tune(X, y, SVC(), {"gamma": [100.0]}, cv=5, groups=person).best_error


def test_elimination_by_folds_keeps_groups_together():
    X, y, person = patients()
    X = X / [1.0, 3.0]
    rfe = SVMRFE(kernel="rbf", gamma=50.0, C=10.0, n_features_to_select="best", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of units
        apart = rfe.fit(X, y, groups=person).cv_errors_.min(axis=0).mean()
        assert rfe.fit(X, y).cv_errors_.min(axis=0).mean() < 0.1 < 0.15 < apart
        listed = clone(rfe).set_params(cv=GroupKFold(5)).fit(X, y, groups=person)
    assert listed.cv_errors_.min(axis=0).mean() > 0.15
    with pytest.raises(ValueError, match=r"groups has .* entries"):
        rfe.fit(X, y, groups=person[:5])
