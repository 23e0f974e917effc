"""Order and groups of the samples are kept at every level of an evaluation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit

from tamiz import compare
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
