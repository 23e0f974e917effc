"""The frame of all searches: missing values, weights, groups, time, ties, how they end."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from tamiz.search import BackwardElimination, ForwardSelection, HoldOut, SimulatedAnnealing
from tamiz.search.evaluator import FeatureSet
from tests.search.cases import Table, merit, numbered

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = (X[:, 1] - X[:, 3] + 0.3 * RNG.normal(size=60) > 0).astype(int)


def with_gaps():
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    return gaps


def test_missing_values_are_for_the_pipeline_to_fill():
    judge = make_pipeline(SimpleImputer(), LogisticRegression())
    search = ForwardSelection(judge, n_features_to_select=2).fit(with_gaps(), Y)
    assert sorted(search.order_[:2]) == [1, 3]
    assert search.predict(with_gaps()).shape == (60,)
    assert search.predict_proba(with_gaps()).shape == (60, 2)
    with pytest.raises(ValueError, match="NaN"):
        ForwardSelection(LogisticRegression()).fit(with_gaps(), Y)


def test_groups_reach_the_splitter():
    groups = np.repeat(np.arange(6), 10)
    search = ForwardSelection(LogisticRegression(), cv=GroupKFold(3), n_features_to_select=1)
    assert search.fit(X, Y, groups=groups).support_.sum() == 1
    with pytest.raises(ValueError, match="groups"):
        search.fit(X, Y)
    assert not hasattr(search, "_groups")


def test_hold_out_and_own_criteria_serve_regressions():
    target = 3 * X[:, 4] + X[:, 2]
    search = ForwardSelection(Ridge(), cv=HoldOut(random_state=0), n_features_to_select=2)
    assert sorted(search.fit(X, target).order_[:2]) == [2, 4]

    def explained(part, y):
        return -float(np.square(y - part @ np.linalg.lstsq(part, y, rcond=None)[0]).sum())

    by_merit = ForwardSelection(criterion=explained, n_features_to_select=2).fit(X, target)
    assert sorted(by_merit.order_[:2]) == [2, 4]


@pytest.mark.parametrize("unit", [1.0, 1e-7, 1e7])
def test_the_unit_of_the_score_does_not_matter(unit):
    target = unit * (3 * X[:, 4] + X[:, 2])
    search = ForwardSelection(
        Ridge(alpha=1e-6), scoring="neg_mean_squared_error", n_features_to_select=2
    )
    assert search.fit(X, target).order_[:2].tolist() == [4, 2]


def test_weights_for_an_estimator_without_weights():
    with pytest.raises(ValueError, match="KNeighborsClassifier does not take it"):
        ForwardSelection(KNeighborsClassifier()).fit(X, Y, sample_weight=np.ones(60))


def test_what_is_no_estimator():
    with pytest.raises(TypeError, match="is no estimator: it has no"):
        ForwardSelection("svc").fit(X, Y)
    with pytest.raises(ValueError, match="checkpoint"):
        ForwardSelection(checkpoint=5).fit(X, Y)


def test_time_counts_even_if_every_subset_is_known():
    table, labels = numbered(10, 3)
    search = SimulatedAnnealing(
        criterion=merit(np.ones(3)), T0=10.0, T1=1e-9, v=0.9999, m=50, time_budget=0.3
    )
    with pytest.warns(UserWarning, match="out of time"):
        search.fit(table, labels)
    assert search.status_ == "time_budget" and search.selection_.seconds < 3


class Moody(ClassifierMixin, BaseEstimator):
    """Fits parts of the samples, and fails on all of them."""

    def fit(self, X, y):
        if len(X) == 60:
            raise RuntimeError("too many")
        self.classes_ = np.unique(y)
        self.sign_ = np.sign(np.corrcoef(X[:, 0], y)[0, 1])
        return self

    def predict(self, X):
        return self.classes_[(self.sign_ * X[:, 0] > 0).astype(int)]


def test_a_failure_of_the_last_fit_does_not_cost_the_search():
    with pytest.warns(RuntimeWarning, match="could not be fitted"):
        search = ForwardSelection(Moody(), n_features_to_select=1).fit(X, Y)
    assert search.support_.sum() == 1
    assert not hasattr(search, "predict") and not hasattr(search, "decision_function")
    with pytest.raises(AttributeError) as caught:
        search.predict(X)
    assert "no estimator to predict with: it could not" in str(caught.value.__cause__)


def test_failures_are_reported_again_after_a_resume(tmp_path):
    def fails(part, y):
        if part.shape[1] == 2:
            raise ValueError("pairs are forbidden")
        return float(part.shape[1])

    table, labels = numbered(10, 4)
    options = {"criterion": fails, "error_score": "worst", "checkpoint": tmp_path / "j"}
    for resume in (False, True):
        with pytest.warns(RuntimeWarning, match="subsets could not be judged"):
            BackwardElimination(**options, resume=resume).fit(table, labels)


def test_one_standard_error_needs_several_splits():
    for judge in ({"cv": HoldOut(random_state=0)}, {"criterion": "cfs"}):
        with pytest.raises(ValueError, match="several splits"):
            ForwardSelection(n_features_to_select="1se", **judge).fit(X, Y)


def test_score_is_the_metric_of_the_search():
    search = ForwardSelection(
        LogisticRegression(), scoring=["roc_auc", "accuracy"], n_features_to_select=2
    ).fit(X, Y)
    decisions = search.decision_function(X)
    assert search.score(X, Y) == pytest.approx(roc_auc_score(Y, decisions))
    plain = ForwardSelection(LogisticRegression(), n_features_to_select=2).fit(X, Y)
    assert plain.score(X, Y) == pytest.approx(np.mean(plain.predict(X) == Y))


def test_a_failure_says_where():
    def fails(part, y):
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom") as caught:
        ForwardSelection(criterion=fails).fit(X, Y)
    assert "positions 0 were judged" in caught.value.__notes__[0]


def test_an_early_end_says_if_the_size_was_not_reached():
    with pytest.warns(UserWarning, match="instead of 4"):
        search = ForwardSelection(
            LogisticRegression(), n_features_to_select=4, time_budget=1e-9
        ).fit(X, Y)
    assert search.support_.sum() < 4


def test_sets_of_features_behave_like_tuples():
    for chosen in ((), (0,), (3, 8, 9), tuple(range(17))):
        mask = np.zeros(17, dtype=bool)
        mask[list(chosen)] = True
        seen = FeatureSet(np.packbits(mask).tobytes(), 17)
        assert seen == chosen and hash(seen) == hash(chosen) and repr(seen) == repr(chosen)
        assert len(seen) == len(chosen) and list(seen) == list(chosen)
        assert [j in seen for j in range(17)] == mask.tolist()
    search = Table(4, seed=0).fit(ForwardSelection)
    steps = [s for s in search.selection_.path if s.action == "visit"]
    assert all(s.features == tuple(s.features) for s in steps)
    assert search.selection_.to_dict()["path"][0]["features"] == list(steps[0].features)
