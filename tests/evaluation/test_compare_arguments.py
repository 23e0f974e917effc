"""Arguments of a comparison: weights, columns that are one feature, limits, and an early end."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tamiz import SVMRFE, FisherScore, compare
from tamiz.evaluation import AutoScaler
from tamiz.evaluation.methods import find_method
from tamiz.svm import SVC, LinearMachine
from tests.evaluation.test_compare import FAST, data, folds

SHORT = {"cv": 3, "repeats": 1, "apparent": False, **FAST}


class Witness(ClassifierMixin, BaseEstimator):
    """A tree that notes what it is fitted to."""

    seen: list[tuple[np.ndarray, np.ndarray | None]] = []

    def __init__(self, class_weight=None, depth=None, seconds=0.0):
        self.class_weight = class_weight
        self.depth = depth
        self.seconds = seconds

    def fit(self, X, y, sample_weight=None):
        Witness.seen.append((X.copy(), sample_weight))
        time.sleep(self.seconds)
        self.tree_ = DecisionTreeClassifier(
            max_depth=self.depth, class_weight=self.class_weight, random_state=0
        ).fit(X, y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


@pytest.fixture(autouse=True)
def nothing_seen():
    Witness.seen = []


class Watched(FisherScore):
    """Notes how many samples it ranks by."""

    seen: list[int] = []

    def fit(self, X, y):
        Watched.seen.append(len(y))
        return super().fit(X, y)


# -------------------------------------------------------------------------------------- weights


def test_weights_of_samples_reach_the_judge_and_the_error():
    X, y = data()
    splits = folds(X, y, 3)
    weight = np.random.default_rng(0).uniform(0.2, 4.0, size=60)
    options = {"sizes": [12], "cv": splits, "nested": False, "scale": None, **FAST}
    found = compare(X, y, ["fisher"], Witness(depth=2), sample_weight=weight, **options)
    fits = Witness.seen.copy()
    for k, (train, test) in enumerate(splits):
        np.testing.assert_array_equal(fits[k][1], weight[train])
        tree = Witness(depth=2).fit(X[train], y[train], weight[train])
        wrong = tree.predict(X[test]) != y[test]
        expected = np.average(wrong, weights=weight[test])
        assert found.errors[0, 0, k, 0] == pytest.approx(expected)


def test_weights_of_samples_in_the_fast_way():
    X, y = data()
    splits = folds(X, y, 3)
    weight = np.random.default_rng(1).uniform(0.2, 4.0, size=60)
    options = {"sizes": [12], "cv": splits, "nested": False, "scale": None, **FAST}
    X = X / X.std(axis=0)
    judges = {"linear": LinearMachine(class_weight="balanced"), "svc": SVC(kernel="linear")}
    found = compare(X, y, ["fisher"], judges, sample_weight=weight, **options)
    for j, machine in enumerate(judges.values()):
        for k, (train, test) in enumerate(splits):
            fitted = clone(machine).fit(X[train], y[train], sample_weight=weight[train])
            expected = np.average(fitted.predict(X[test]) != y[test], weights=weight[test])
            assert found.errors[0, j, k, 0] == pytest.approx(expected)


def test_weights_of_samples_reach_the_last_step_of_a_pipeline():
    X, y = data()
    weight = np.linspace(0.2, 4.0, 60)
    splits = folds(X, y, 3)
    judge = make_pipeline(StandardScaler(), Witness(depth=2))
    options = {"sizes": [12], "cv": splits, "nested": False, "scale": None, **FAST}
    compare(X, y, ["fisher"], judge, sample_weight=weight, **options)
    for k, (train, _) in enumerate(splits):
        np.testing.assert_array_equal(Witness.seen[k][1], weight[train])


def test_a_judge_that_takes_no_weights_does_without():
    class Plain(Witness):
        def fit(self, X, y):
            return super().fit(X, y)

    X, y = data()
    weight = np.linspace(0.1, 2.0, 60)
    found = compare(X, y, ["fisher"], Plain(), sizes=[3], sample_weight=weight, **SHORT)
    assert np.isfinite(found.errors).all() and all(w is None for _, w in Witness.seen)


def test_class_weights_are_set_where_a_judge_has_them():
    X, y = data(n=90)
    y[:20] = 0
    splits = folds(X, y, 3)
    options = {
        "sizes": [12],
        "cv": splits,
        "scale": None,
        "scoring": "balanced_accuracy",
        "class_weight": "balanced",
        "nested": False,
        **FAST,
    }
    found = compare(X, y, ["fisher"], {"tree": Witness(depth=2), "knn": "knn"}, **options)
    for k, (train, test) in enumerate(splits):
        tree = Witness("balanced", depth=2).fit(X[train], y[train])
        expected = 1 - balanced_accuracy_score(y[test], tree.predict(X[test]))
        assert found.errors[0, 0, k, 0] == pytest.approx(expected)
    assert np.isfinite(found.errors[0, 1]).all()


# ------------------------------------------------------------------------- columns of one feature


def coloured(n=90, seed=0):
    """Two numbers that say nothing, and one category of three levels as indicators."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 3, size=n)
    y = np.where(rng.random(n) < 0.1, rng.integers(0, 3, size=n), level)
    return np.column_stack([rng.normal(size=n), np.eye(3)[level], rng.normal(size=n)]), y


def test_indicators_of_one_category_are_selected_together_and_count_once():
    X, y = coloured()
    groups = {"colour": [1, 2, 3]}
    found = compare(
        X, y, ["fisher", "mrmr"], Witness(), sizes=[1, 3], feature_groups=groups, **SHORT
    )
    assert found.n_features == 3 and found.names == ["x0", "colour", "x4"]
    for method in found.methods:
        for order in found.orders[method]:
            assert sorted(order) == [0, 1, 2] and order[0] == 1
    assert {X.shape[1] for X, _ in Witness.seen} == {3, 5}
    assert found.errors[:, 0, :, 0].mean() < 0.2


def test_errors_of_a_feature_of_several_columns_are_those_of_its_columns():
    X, y = coloured(seed=1)
    splits = folds(X, y, 3)
    options = {"cv": splits, "scale": None, "nested": False, **FAST}
    grouped = compare(X, y, ["fisher"], Witness(), sizes=[1], feature_groups=[[1, 2, 3]], **options)
    for k, (train, test) in enumerate(splits):
        tree = Witness().fit(X[train, 1:4], y[train])
        expected = np.mean(tree.predict(X[test, 1:4]) != y[test])
        assert grouped.errors[0, 0, k, 0] == pytest.approx(expected)


# --------------------------------------------------------------------------------------- limits


def test_limits_are_kept_and_classes_stay_in_proportion():
    X, y = data(n=300)
    y[:150] = 0
    Watched.seen = []
    limits = {"judges": {"witness": 50}, "methods": {"watched": 80}, "inner": 60}
    found = compare(
        X, y, {"watched": Watched()}, {"witness": Witness()}, sizes=[3], limits=limits, **SHORT
    )
    assert sorted(set(Watched.seen)) in ([60, 80], [59, 60, 80], [59, 60, 79, 80], [60, 79, 80])
    assert max(len(X) for X, _ in Witness.seen) <= 51
    assert min(len(X) for X, _ in Witness.seen) >= 49
    assert (found.n_test == 100).all() and (found.n_train == 200).all()
    assert np.isfinite(found.errors).all()
    unlimited = compare(X, y, {"watched": Watched()}, Witness(), sizes=[3], **SHORT)
    assert max(len(X) for X, _ in Witness.seen) == 200
    assert unlimited.params != found.params


def test_limits_hold_in_the_fast_way_too():
    X, y = data(n=200)
    options = {"sizes": [4], "nested": False, **SHORT}
    few = compare(X, y, ["fisher"], "linear", limits={"judges": {"linear": 20}}, **options)
    all_of_them = compare(X, y, ["fisher"], "linear", **options)
    none = compare(X, y, ["fisher"], "linear", limits={"judges": {"linear": 500}}, **options)
    assert not np.array_equal(few.errors, all_of_them.errors)
    np.testing.assert_array_equal(none.errors, all_of_them.errors)


# --------------------------------------------------------------------------------- other words


def test_rankings_on_all_data_without_their_errors():
    X, y = data()
    options = {**SHORT, "apparent": "rank"}
    found = compare(X, y, ["fisher"], "tree", sizes=[1, 4], **options)
    np.testing.assert_array_equal(
        found.whole_orders["fisher"], FisherScore().fit((X - X.mean(0)) / X.std(0), y).order_
    )
    assert np.isnan(found.apparent_errors).all() and np.isfinite(found.errors).all()


def test_scale_auto_scales_by_the_training_part():
    X, y = data()
    X = np.sign(X) * np.expm1(np.abs(X / X.std(axis=0)) * 2)  # heavy tails
    splits = folds(X, y, 4)
    options = {"sizes": [12], "cv": splits, "scale": "auto", "nested": False, **FAST}
    found = compare(X, y, ["fisher"], LinearMachine(), **options)
    for k, (train, test) in enumerate(splits):
        scaler = AutoScaler().fit(X[train])
        machine = LinearMachine().fit(scaler.transform(X[train]), y[train])
        expected = np.mean(machine.predict(scaler.transform(X[test])) != y[test])
        assert found.errors[0, 0, k, 0] == pytest.approx(expected)


@pytest.mark.parametrize("tune", ["coarse", "fine"])
def test_penalties_follow_the_number_of_features(tune):
    X, y = data()
    splits = folds(X, y, 3)
    found = compare(X, y, ["fisher"], "linear", sizes=[1, 12], cv=splits, tune=tune, **FAST)
    for k, (train, test) in enumerate(splits):
        mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
        Z, Z_test = (X[train] - mean) / spread, (X[test] - mean) / spread
        C = float(str(found.tuned["fisher"]["linear"][k][1]["C"]).removesuffix("/p")) / 12
        expected = np.mean(LinearMachine(C).fit(Z, y[train]).predict(Z_test) != y[test])
        assert found.errors[0, 0, k, 1] == pytest.approx(expected)


def test_methods_that_select_the_same_features_are_judged_once():
    X, y = data()
    compare(X, y, {"a": FisherScore()}, Witness(), sizes=[2, 5], **SHORT)
    n_fits = len(Witness.seen)
    both = compare(X, y, {"a": FisherScore(), "b": FisherScore()}, Witness(), sizes=[2, 5], **SHORT)
    assert len(Witness.seen) == 2 * n_fits  # n_fits each time
    np.testing.assert_array_equal(both.errors[0], both.errors[1])
    np.testing.assert_array_equal(both.inner_errors[0], both.inner_errors[1])


def test_rfe_drops_a_tenth_at_a_time_from_wide_tables():
    method = find_method("rfe")
    assert method.make(n_features=151).step == 0.1
    assert method.make(n_features=150).step == SVMRFE().step == 1


def test_a_time_budget_ends_a_unit_in_the_middle():
    X, y = data()
    sizes = list(range(1, 13))  # in each part of a unit 12 sizes, of 0.05 s
    began = time.monotonic()
    found = compare(
        X, y, ["fisher"], Witness(seconds=0.05), sizes=sizes, time_budget=0.3, n_jobs=1, **SHORT
    )
    assert time.monotonic() - began < 1.5
    assert found.status == "time budget" and np.isnan(found.errors).all()
    assert 2 <= len(Witness.seen) < 12  # in the first of the parts


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"limits": {"judges": {"tree": 2}}}, "limits=.*numbers of samples from 4"),
        ({"limits": {"rows": 100}}, "limits=.*is not understood"),
        ({"limits": 100}, "limits=100 is not understood"),
        ({"sample_weight": np.ones(59)}, "sample_weight"),
        ({"sample_weight": np.zeros(60)}, "sample_weight"),
        ({"sample_weight": np.arange(60.0)}, "must be positive; leave out samples"),
        ({"class_weight": {5: 1.0}}, "class_weight names the class 5"),
        ({"feature_groups": [[0, 99]]}, "99"),
        ({"feature_groups": [[0, 1], [1, 2]]}, "1"),
        ({"scale": "robust"}, "scale='robust' is not understood"),
        ({"tune": "finest"}, "tune='finest' is not understood"),
    ],
)
def test_wrong_arguments_are_refused_with_a_sentence(argument, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        compare(X, y, ["fisher"], "tree", sizes=[2], error_score="raise", **{**SHORT, **argument})
