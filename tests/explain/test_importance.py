"""Importances inside folds: against loops, scikit-learn, and what must hold."""

from __future__ import annotations

from typing import ClassVar

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance as theirs
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

import tamiz
from tamiz.explain import folds, leave_covariate_out, permutation_importance
from tamiz.search import TimeFolds
from tamiz.svm import SVC, SVR, LinearMachine
from tests.naive import importance as naive

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(90, 5, n_informative=3, n_redundant=0, shuffle=False, random_state=0)
    return X, y


def in_a_cycle(n, rng):
    way = rng.permutation(n).tolist()
    takes = dict(zip(way, way[1:] + way[:1], strict=True))
    return [takes[i] for i in range(n)]


def orders_of(n_repeats, random_state):
    seed = check_random_state(random_state).randint(2**31 - 1)

    def orders(k, u, n):
        return [in_a_cycle(n, np.random.default_rng([seed, k, u, r])) for r in range(n_repeats)]

    return orders


CASES = [
    (SVC(), None),
    (SVC(), "roc_auc"),
    (SVC(kernel="linear"), "balanced_accuracy"),
    (SVC(kernel="poly", degree=2, coef0=1.0), None),
    (make_pipeline(StandardScaler(), SVC(C=2.0)), "f1"),
    (LinearMachine(), None),
    (LogisticRegression(), "neg_log_loss"),
    (KNeighborsClassifier(3), None),
    (make_pipeline(Normalizer(), SVC()), None),
    (SVR(), "neg_mean_absolute_error"),
    (Ridge(), None),
]


@pytest.mark.parametrize(("model", "scoring"), CASES, ids=[repr(m) for m, _ in CASES])
def test_both_equal_loops_of_fits(model, scoring, data):
    X, y = data
    numeric = isinstance(model, SVR | Ridge)
    target = X[:, 0] ** 2 + X[:, 1] if numeric else y
    splits = list((KFold(3) if numeric else StratifiedKFold(3)).split(X, target))
    units = [[0], [1, 2], [3], [4]]
    asked = {"cv": splits, "scoring": scoring, "random_state": 0, "feature_groups": [[1, 2]]}
    found = permutation_importance(model, X, target, n_repeats=3, **asked)
    wanted = naive.permutation(model, X, target, splits, units, orders_of(3, 0), scoring)
    np.testing.assert_allclose(found.values, wanted, atol=1e-7)
    assert found.unit_names == ["x0", "x1 + x2", "x3", "x4"]
    without = leave_covariate_out(model, X, target, **asked)
    wanted = naive.left_out(model, X, target, splits, units, scoring)
    np.testing.assert_allclose(without.values[:, :, 0], wanted, atol=1e-7)
    np.testing.assert_allclose(found.scores, without.scores, atol=1e-7)


def test_kernel_machines_predict_nothing_anew(data):
    X, y = data
    model = SVC().fit(X, y)
    assert folds.follower(model, X[:9], "roc_auc") is not None
    assert folds.follower(LogisticRegression().fit(X, y), X[:9], "neg_log_loss") is None
    assert folds.follower(KNeighborsClassifier().fit(X, y), X[:9], None) is None


def test_importances_agree_with_those_of_scikit_learn(data):
    X, y = data
    train, test = next(StratifiedKFold(2).split(X, y))
    model = SVC().fit(X[train], y[train])
    ours = permutation_importance(model, X, y, cv=[(train, test)], n_repeats=100, random_state=0)
    peer = theirs(model, X[test], y[test], n_repeats=100, random_state=1)
    spread = np.hypot(peer.importances_std, ours.spread_of_shuffles) / 10.0
    assert (np.abs(ours.importances - peer.importances_mean) <= 4.0 * spread + 1e-12).all()
    assert np.isnan(ours.intervals()).all()  # one split has no spread


def test_only_shuffles_have_a_spread(data):
    X, y = data
    parts = {"cv": 2, "random_state": 0}
    shuffled = permutation_importance(LogisticRegression(), X, y, **parts).to_frame()
    fitted_anew = leave_covariate_out(LogisticRegression(), X, y, **parts).to_frame()
    assert (shuffled["spread_of_shuffles"] > 0).any()
    assert list(fitted_anew) == ["name", "importance", "low", "high", "n_features"]


def test_intervals_are_corrected_for_overlapping_training_parts(data):
    X, y = data
    found = permutation_importance(SVC(), X, y, cv=5, random_state=0)
    per_split = found.values.mean(axis=2)
    spread = np.sqrt((1 / 5 + np.mean(found.n_test / found.n_train)) * per_split.var(1, ddof=1))
    half = stats.t.ppf(0.95, 4) * spread
    wanted = np.column_stack([per_split.mean(1) - half, per_split.mean(1) + half])
    np.testing.assert_allclose(found.intervals(0.9), wanted, atol=1e-12)


@pytest.mark.parametrize("n_test", [2, 3, 6])
def test_every_row_gets_the_value_of_another(n_test):
    """The mean over shuffles is that over all pairs of different rows, however small the part."""
    rng = np.random.default_rng(n_test)
    X = rng.normal(size=(40 + n_test, 2))
    y = X @ [1.0, 0.3] + 0.5 * rng.normal(size=len(X))
    train, test = np.arange(n_test, len(X)), np.arange(n_test)
    asked = {"cv": [(train, test)], "scoring": "neg_mean_squared_error", "random_state": 0}
    found = permutation_importance(Ridge(), X, y, n_repeats=400, **asked)
    machine = Ridge().fit(X[train], y[train])
    wanted = naive.switched(machine, X[test], y[test])
    error = found.values.std(axis=2)[:, 0] / np.sqrt(400)
    assert (np.abs(found.importances - wanted) <= 4.0 * error + 1e-9).all()


@pytest.mark.parametrize("cv", ["loo", LeaveOneOut()], ids=["loo", "splitter"])
def test_a_test_part_of_one_sample_is_refused(cv, data):
    X, y = data
    with pytest.raises(ValueError, match=r"single test sample.*two samples or more"):
        permutation_importance(LogisticRegression(), X, y, cv=cv)
    assert leave_covariate_out(LogisticRegression(), X, y, cv=cv).importances.max() > 0.0


def test_small_test_parts_do_not_make_importances_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=120) > 0
    asked = {"random_state": 0, "n_repeats": 20}
    few, many = (
        permutation_importance(LogisticRegression(), X, y, cv=KFold(k), **asked).importances[0]
        for k in (3, 60)
    )
    assert many == pytest.approx(few, abs=0.04)


def covered(R, splitter, n=60):
    """How often 95 % intervals cover: what the machines lean on, and the mean over samples."""
    effects = np.array([1.0, 0.5, 0.0])
    ends, machines = [], []
    for seed in range(R):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 3))
        y = X @ effects + rng.normal(size=n)
        splits = list(splitter(seed).split(X))
        asked = {"scoring": "neg_mean_squared_error", "n_repeats": 3, "random_state": seed}
        found = permutation_importance(LinearRegression(), X, y, cv=splits, **asked)
        ends.append(found.intervals())
        # shuffled, feature j adds 2 b_j w_j to the mean square, for independent features
        weights = [LinearRegression().fit(X[train], y[train]).coef_ for train, _ in splits]
        machines.append(2.0 * effects * np.mean(weights, axis=0))
    low, high = np.moveaxis(np.array(ends), 2, 0)
    of_machines, mean = np.array(machines), np.mean(machines, axis=0)
    return [((low <= t) & (t <= high)).mean(axis=0) for t in (of_machines, mean)]


@pytest.mark.slow
def test_intervals_cover_what_the_machines_of_the_folds_lean_on():
    machines, method = covered(150, lambda seed: KFold(5, shuffle=True, random_state=seed))
    assert (machines >= 0.93).all()
    assert method[1] < 0.91  # as the page says: for the method they are too short
    repeated = covered(60, lambda s: RepeatedKFold(n_splits=5, n_repeats=4, random_state=s))[0]
    assert (repeated >= 0.93).all()


def test_repetitions_give_no_more_degrees_of_freedom_than_disjoint_test_parts(data):
    X, y = data
    splits = RepeatedKFold(n_splits=5, n_repeats=3, random_state=0)
    found = permutation_importance(SVC(), X, y, cv=splits, random_state=0, n_repeats=2)
    per_split = found.values.mean(axis=2)
    spread = np.sqrt((1 / 15 + 1 / 4) * per_split.var(1, ddof=1))
    half = stats.t.ppf(0.975, 4) * spread
    np.testing.assert_allclose(np.diff(found.intervals())[:, 0] / 2, half, atol=1e-12)


class Noting(ClassifierMixin, BaseEstimator):
    """Notes whether weights reached ``fit``."""

    seen: ClassVar[list[bool]] = []

    def fit(self, X, y, sample_weight=None):
        self.seen.append(sample_weight is not None)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, self.classes_[1], self.classes_[0])


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_weights_reach_fits_only_where_routing_says_so(asked, n_jobs, data):
    X, y = data
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=asked)
        model = Noting().set_fit_request(sample_weight=asked)
        Noting.seen.clear()
        for importances in (permutation_importance, leave_covariate_out):
            given = {"sample_weight": np.ones(90), "scoring": scorer, "cv": 3}
            found = importances(model, X, y, **given)
            assert np.isfinite(found.values).all()
    assert Noting.seen and set(Noting.seen) == {asked}


def test_copies_of_a_feature_hide_each_other_unless_they_are_grouped():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(240, 2))
    X = np.column_stack([x[:, 0], -x[:, 0] + 0.05 * rng.normal(size=240), x[:, 1]])
    y = x[:, 0] > 0
    alone = leave_covariate_out(SVC(), X, y, random_state=0)
    assert (np.abs(alone.importances) < 0.05).all()
    together = leave_covariate_out(SVC(), X, y, feature_groups="auto", random_state=0)
    assert together.unit_names == ["x0 + x1", "x2"]
    assert together.importances[0] > 0.3
    named = permutation_importance(SVC(), X, y, feature_groups={"size": [0, 1]}, random_state=0)
    assert named.to_frame()["name"].tolist() == ["size", "x2"]


def test_groups_of_samples_and_times_are_honoured(data):
    X, y = data
    groups = np.arange(90) // 3
    asked = {"groups": groups, "random_state": 0, "n_repeats": 2}
    found = permutation_importance(SVC(), X, y, cv=GroupKFold(3), **asked)
    splits = list(GroupKFold(3).split(X, y, groups))
    wanted = permutation_importance(SVC(), X, y, cv=splits, random_state=0, n_repeats=2)
    np.testing.assert_array_equal(found.values, wanted.values)
    mixed = np.random.default_rng(0).permutation(90)
    found = leave_covariate_out(SVC(), X[mixed], y[mixed], cv=TimeFolds(3), groups=np.arange(90))
    sizes = [(len(a), len(b)) for a, b in TimeFolds(3).split(X)]
    assert list(zip(found.n_train, found.n_test, strict=True)) == sizes


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_with_text_keep_their_columns(make):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], size=120)
    noise, size = rng.normal(size=120), rng.normal(size=120)
    frame = make({"noise": noise, "colour": colour, "size": size})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"),
        DecisionTreeClassifier(random_state=0),
    )
    y = (colour == "red") ^ (size > 1.5)
    found = permutation_importance(model, frame, y, random_state=0, n_repeats=3)
    assert found.to_frame()["name"].tolist() == ["colour", "size", "noise"]
    without = leave_covariate_out(model, frame, y, random_state=0, feature_groups="auto")
    assert without.unit_names == ["noise", "colour", "size"]
    assert without.importances.argmax() == 1


def test_sparse_tables_and_missing_values(data):
    X, y = data
    dense = permutation_importance(LinearMachine(), X, y, random_state=0, n_repeats=2)
    thin = sparse.csr_matrix(X)
    found = permutation_importance(LinearMachine(), thin, y, random_state=0, n_repeats=2)
    np.testing.assert_allclose(found.values, dense.values, atol=1e-9)
    holes = X.copy()
    holes[::7, 1] = np.nan
    tree = tamiz.tree.CARTClassifier(max_depth=3)
    found = permutation_importance(
        tree, holes, y, feature_groups="auto", random_state=0, n_repeats=2
    )
    assert np.isfinite(found.values).all()
    with pytest.raises(ValueError, match=r"NaN|missing"):
        permutation_importance(SVC(), holes, y)


def test_any_number_of_workers_and_weights_of_one_change_nothing(data):
    X, y = data
    one = permutation_importance(SVC(), X, y, random_state=0, n_repeats=2)
    two = permutation_importance(
        SVC(), X, y, random_state=0, n_repeats=2, n_jobs=2, sample_weight=np.ones(90)
    )
    np.testing.assert_allclose(one.values, two.values, atol=1e-12)
    one, two = (leave_covariate_out(SVC(), X, y, n_jobs=jobs) for jobs in (None, 2))
    np.testing.assert_array_equal(one.values, two.values)


def test_several_classes(data):
    X, y = load_iris(return_X_y=True)
    found = permutation_importance(SVC(), X, y, random_state=0, scoring="balanced_accuracy")
    forest = RandomForestClassifier(10, random_state=0)
    other = permutation_importance(forest, X, y, random_state=0, n_repeats=2, cv=3)
    assert {int(found.importances.argmax()), int(other.importances.argmax())} <= {2, 3}


def test_the_result_is_a_table_and_a_picture_and_can_be_kept(data, tmp_path):
    X, y = data
    found = permutation_importance(SVC(), X, y, random_state=0, n_repeats=2)
    table = found.to_frame()
    assert (np.diff(table["importance"]) <= 0).all() and (table["low"] <= table["high"]).all()
    ax = found.plot(top=3)
    means = ax.get_lines()[-1].get_xdata()
    np.testing.assert_allclose(means, table["importance"][:3][::-1])
    tamiz.save(found, tmp_path / "kept.tamiz")
    again = tamiz.load(tmp_path / "kept.tamiz")
    pd.testing.assert_frame_equal(again.to_frame(), table)


def test_bad_input_gets_a_sentence(data):
    X, y = data
    with pytest.raises(TypeError, match=r"'folds' is no keyword here.* cv, scoring"):
        permutation_importance(SVC(), X, y, folds=3)
    for several in (["accuracy", "roc_auc"], {"a": "accuracy"}):
        with pytest.raises(ValueError, match=r"scoring=.*must be one metric"):
            leave_covariate_out(SVC(), X, y, scoring=several)
    weight = np.ones(90)
    weight[:30] = 0.0
    for importances in (permutation_importance, leave_covariate_out):
        with pytest.raises(
            ValueError, match="sample_weight is zero for all test samples of split 0"
        ):
            importances(SVC(), X, y, cv=KFold(3), sample_weight=weight)
    with pytest.raises(ValueError, match="cv"):
        permutation_importance(SVC(), X, y, cv=1)
    with pytest.raises(ValueError, match="feature_groups"):
        permutation_importance(SVC(), X, y, feature_groups=[[0, 9]])
    with pytest.raises(ValueError, match="Nothing would be left"):
        leave_covariate_out(SVC(), X, y, feature_groups=[range(5)])
    with pytest.raises(ValueError, match="n_repeats"):
        permutation_importance(SVC(), X, y, n_repeats=0)
    with pytest.raises(ValueError, match="class"):
        permutation_importance(SVC(), X, np.zeros(90))


def test_roc_area_of_several_classes_is_named():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    with pytest.raises(ValueError, match="use 'roc_auc_ovr' or 'roc_auc_ovo'"):
        permutation_importance(DecisionTreeClassifier(), X, y, scoring="roc_auc")
