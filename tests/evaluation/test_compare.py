"""The numbers of a comparison: against loops, and no sample judges what it helped to choose."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    VarianceThreshold,
    f_classif,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as PeerSVC

import tests.naive.comparing as naive
from tamiz import MRMR, SVC, FisherScore, compare
from tamiz.evaluation import learning_curve_by_features
from tamiz.evaluation.comparison.setting import Setting
from tamiz.search.splits import inner_splits

FAST = {"baselines": (), "random_state": 0}


def data(n=60, p=12, seed=0):
    X, y = make_classification(
        n, p, n_informative=3, n_redundant=2, class_sep=0.8, random_state=seed, flip_y=0.1
    )
    return X * np.logspace(-2, 2, p), y


def folds(X, y, k=4, seed=0):
    return list(StratifiedKFold(k, shuffle=True, random_state=seed).split(X, y))


def inner_of(found, splits, y, n_folds=3):
    """The inner splits of a run, as positions in the training parts."""
    who = SimpleNamespace(seed=found.seed)
    inner = []
    for k, (train, _) in enumerate(splits):
        seed, others = Setting.seed_of(who, "inner", 0, k), splits[:k] + splits[k + 1 :]
        parts = inner_splits(splits, train, y, n_folds, True, seed, others=others)
        inner.append([(np.searchsorted(train, a), np.searchsorted(train, b)) for a, b in parts])
    return inner


# -------------------------------------------------------------------------------------- the oracle


@pytest.mark.parametrize("judge", [lambda: SVC(kernel="linear"), KNeighborsClassifier])
def test_errors_are_those_of_plain_loops(judge):
    X, y = data()
    splits, sizes = folds(X, y), [1, 3, 8]
    found = compare(X, y, ["fisher"], judge(), sizes=sizes, cv=splits, **FAST)
    args = (FisherScore, judge, X, y, splits)
    np.testing.assert_allclose(found.errors[0, 0], naive.honest(*args, sizes), atol=1e-12)
    np.testing.assert_allclose(
        found.apparent_errors[0, 0], naive.apparent(*args, sizes), atol=1e-12
    )
    inside = naive.nested(*args, inner_of(found, splits, y), sizes)
    assert found.nested_sizes[0, 0].tolist() == [size for size, _ in inside]
    np.testing.assert_allclose(found.nested_errors[0, 0], [e for _, e in inside], atol=1e-12)


def test_tuned_errors_are_those_of_plain_loops():
    X, y = data(seed=3)
    splits, sizes, grid = folds(X, y, 3), [1, 4, 9], [0.01, 0.3, 10.0]
    found = compare(X, y, ["fisher"], sizes=sizes, cv=splits, tune={"C": grid}, **FAST)
    judges = [lambda C=C: SVC(kernel="linear", C=C) for C in grid]
    inside = naive.nested_with_grid(
        FisherScore, judges, X, y, splits, inner_of(found, splits, y), sizes
    )
    assert found.nested_sizes[0, 0].tolist() == [size for size, _, _ in inside]
    np.testing.assert_allclose(found.nested_errors[0, 0], [e for _, e, _ in inside], atol=1e-12)
    np.testing.assert_allclose(found.errors[0, 0], [c for _, _, c in inside], atol=1e-12)
    for k, row in enumerate(found.tuned["fisher"]["svc-linear"]):
        assert {one["C"] for one in row} <= set(grid), k


def test_errors_are_those_of_a_pipeline_of_scikit_learn():
    X, y = data(seed=1)
    splits = folds(X, y, 5)
    selector = SelectKBest(f_classif, k=4)
    found = compare(X, y, {"best": selector}, PeerSVC(), sizes=[4], cv=splits, **FAST)
    model = make_pipeline(StandardScaler(), selector, PeerSVC())
    expected = 1 - cross_val_score(model, X, y, cv=splits)
    np.testing.assert_allclose(found.errors[0, 0, :, 0], expected, atol=1e-12)
    np.testing.assert_allclose(found.own_errors[0, 0], expected, atol=1e-12)
    assert (found.own_sizes == 4).all()


def test_intervals_follow_nadeau_and_bengio():
    X, y = data(n=50)
    found = compare(X, y, ["fisher"], sizes=[2, 12], cv=5, repeats=2, confidence=0.9, **FAST)
    quantile = stats.t.isf(0.05, 9)
    curve = found.curve("fisher")
    for c in range(2):
        mean, low, high = naive.nadeau_bengio(found.errors[0, 0, :, c], 40, 10, quantile)
        assert curve.error[c] == pytest.approx(mean)
        assert curve.low[c] == pytest.approx(max(0, low))
        assert curve.high[c] == pytest.approx(min(1, high))
    line = found.estimate("fisher")
    mean, low, _ = naive.nadeau_bengio(found.nested_errors[0, 0], 40, 10, quantile)
    assert (line.error, line.low) == (pytest.approx(mean), pytest.approx(max(0, low)))


def test_bias_is_honest_less_apparent_and_the_least_of_a_curve_is_not_the_honest_error():
    X = np.random.default_rng(2).standard_normal((40, 200))
    y = np.arange(40) % 2
    found = compare(X, y, ["fisher"], sizes=[1, 5, 20, 60], cv=5, repeats=1, **FAST)
    line, curve = found.estimate("fisher"), found.curve("fisher")
    np.testing.assert_array_equal(curve.bias, curve.error - curve.apparent)
    assert line.apparent == pytest.approx(curve.apparent.min())
    assert line.bias == pytest.approx(line.error - line.apparent)
    assert line.error == pytest.approx(found.nested_errors[0, 0].mean())
    assert line.error > curve.error.min()


def test_choice_by_the_other_folds_never_looks_at_the_own_fold():
    X, y = data(seed=5)
    sizes = [1, 2, 4, 8, 12]
    found = compare(
        X, y, ["fisher"], sizes=sizes, cv=4, repeats=2, nested=False, rule="1se", **FAST
    )
    from tamiz.base import choose_size

    for k in range(8):
        others = (found.repeat == found.repeat[k]) & (np.arange(8) != k)
        size = choose_size(found.errors[0, 0, others], np.array(sizes), "1se")
        assert found.nested_sizes[0, 0, k] == size
        assert found.nested_errors[0, 0, k] == found.errors[0, 0, k, sizes.index(size)]


# --------------------------------------------------------------------------------------- leakage


class Spy(BaseEstimator):
    """Ranks the columns as they come, and notes the numbers of the rows, found in column 0."""

    seen: list[set[int]] = []

    def fit(self, X, y):
        Spy.seen.append({int(v) for v in X[:, 0]})
        self.scores_ = -np.arange(X.shape[1], dtype=float)
        self.support_ = np.ones(X.shape[1], dtype=bool)
        return self

    def get_support(self):
        return self.support_


def test_selectors_never_see_a_test_sample():
    X, y = data(n=40, p=6)
    X[:, 0] = np.arange(40)
    splits = folds(X, y, 4)
    Spy.seen = []
    options = {"sizes": [1, 2], "cv": splits, "scale": None, "apparent": False}
    compare(X, y, {"spy": Spy()}, "tree", **options, **FAST)
    assert len(Spy.seen) == 4 * (1 + 3)  # once in each training part, and in its three inner ones
    for k, (train, _) in enumerate(splits):
        outer, *inside = Spy.seen[4 * k : 4 * k + 4]
        assert outer == set(train)
        for part in inside:
            assert part < set(train)
        assert set.union(*inside) == set(train)
    Spy.seen = []
    compare(X, y, {"spy": Spy()}, "tree", **{**options, "apparent": True}, **FAST)
    assert Spy.seen[0] == set(range(40))
    assert len(Spy.seen) == 17


def test_the_test_part_changes_nothing_but_its_own_errors():
    X, y = data(n=48)
    splits = folds(X, y, 4)
    options = {"sizes": [1, 3, 6], "cv": splits, "tune": {"C": [0.1, 10]}, **FAST}
    before = compare(X, y, ["fisher", "mrmr"], **options)
    Z = X.copy()
    Z[splits[0][1]] = 50 * np.random.default_rng(9).standard_normal((len(splits[0][1]), 12))
    after = compare(Z, y, ["fisher", "mrmr"], **options)
    for m, name in enumerate(before.methods):
        np.testing.assert_array_equal(before.orders[name][0], after.orders[name][0])
        assert before.nested_sizes[m, 0, 0] == after.nested_sizes[m, 0, 0]
        assert before.tuned[name]["svc-linear"][0] == after.tuned[name]["svc-linear"][0]
    assert not np.array_equal(before.errors[:, :, 1:], after.errors[:, :, 1:])


def test_missing_values_are_filled_and_features_scaled_by_the_training_part():
    rng = np.random.default_rng(0)
    X, y = data(n=40, p=6)
    X[rng.random(X.shape) < 0.1] = np.nan
    splits = folds(X, y, 4)
    found = compare(X, y, ["fisher"], "svc-rbf", sizes=[6], cv=splits, nested=False, **FAST)
    for k, (train, test) in enumerate(splits):
        middle = np.nanmedian(X[train], axis=0)
        Z = np.where(np.isnan(X), middle, X)
        Z = (Z - Z[train].mean(axis=0)) / Z[train].std(axis=0)
        order = FisherScore().fit(Z[train], y[train]).order_
        machine = PeerSVC(tol=1e-8).fit(Z[train][:, order], y[train])
        assert found.errors[0, 0, k, 0] == pytest.approx(
            1 - machine.score(Z[test][:, order], y[test])
        )
    assert "missing values of X were filled with the median" in str(found)


def test_groups_are_never_on_both_sides():
    X, y = data(n=60)
    groups = np.arange(60) // 3
    y = y[3 * groups]
    X[:, 0] = groups
    Spy.seen = []
    options = {"sizes": [1], "cv": 4, "repeats": 1, "scale": None, "apparent": False, **FAST}
    compare(X, y, {"spy": Spy()}, "tree", groups=groups, **options)
    sizes = [len(part) for part in Spy.seen]
    assert len(sizes) == 16
    for k in range(4):
        outer, *inside = Spy.seen[4 * k : 4 * k + 4]
        for part in inside:
            held_out = outer - part
            assert held_out and len(part) + len(held_out) == len(outer)
    tested = [set(range(20)) - Spy.seen[4 * k] for k in range(4)]
    assert all(tested) and sum(map(len, tested)) == 20  # each group once, as a whole
    with pytest.raises(ValueError, match="groups has 3 entries"):
        compare(X, y, "fisher", groups=[1, 2, 3])
    found = compare(X, y, "fisher", cv=GroupKFold(3), groups=groups, sizes=[1], **FAST)
    assert len(found.repeat) == 3


# ------------------------------------------------------------------------------- what may be given


def test_foreign_selectors_and_rankers():
    X, y = load_iris(return_X_y=True)
    selectors = {
        "kbest": SelectKBest(k=2),
        "rfe": RFE(LogisticRegression(max_iter=500), n_features_to_select=2),
        "model": SelectFromModel(LogisticRegression(max_iter=500)),
        "forest": RandomForestClassifier(5),
        "variance": VarianceThreshold(0.1),
    }
    found = compare(X, y, selectors, "knn", sizes=[1, 2], cv=3, repeats=1, nested=False, **FAST)
    assert np.isfinite(found.errors[:4]).all()
    assert np.isnan(found.errors[4]).all()  # it only selects
    assert np.isfinite(found.own_errors[[0, 1, 2, 4]]).all()
    assert np.isnan(found.own_errors[3]).all()  # it only ranks
    kinds = {(one.method, one.kind) for one in found.estimates()}
    assert ("variance", "own") in kinds and ("variance", "chosen") not in kinds
    assert "variance" in str(found)


def test_several_judges_and_sparse_data():
    X, y = data(n=50, p=20)
    X[np.abs(X) < np.median(np.abs(X))] = 0
    options = {"sizes": [2, 10], "cv": 3, "repeats": 1, "scale": "minmax", **FAST}
    found = compare(sparse.csr_matrix(X), y, ["fisher"], ["svc", "rbf", "knn", "tree"], **options)
    assert found.judges == ["svc-linear", "svc-rbf", "knn", "tree"]
    assert np.isfinite(found.errors).all()


def test_without_scaling_named_judges_scale_for_themselves():
    X, y = data()
    found = compare(
        X, y, MRMR(), ["svc", "knn", "tree"], scale=None, sizes=[3], cv=3, repeats=1, **FAST
    )
    assert "StandardScaler" in found.params["judges"]["svc-linear"]
    assert "StandardScaler" in found.params["judges"]["knn"]
    assert "StandardScaler" not in found.params["judges"]["tree"]


def test_regression():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = 3 * X[:, 2] - 2 * X[:, 5] + 0.1 * rng.standard_normal(60)
    found = compare(X, y, judges=Ridge(0.01), sizes=[1, 2, 8], cv=5, repeats=1, random_state=0)
    usual = ["pearson", "rrelieff", "cfs", "qpfs", "rfe", "ho-svm"]
    assert found.methods == [*usual, "random", "all"]
    assert found.metric == "root mean squared error"
    error = found.curve("pearson").error
    assert error[1] < 0.2 < error[0]
    for method in ("pearson", "rfe", "ho-svm"):
        assert set(found.orders[method][0][:2]) == {2, 5}
    assert "%" not in str(found).splitlines()[3].replace("95 %", "")
    with pytest.raises(ValueError, match=r"'fisher' needs classes.*Methods for numbers: pearson"):
        compare(X, y, ["fisher"])
    with pytest.raises(ValueError, match=r"y holds numbers, and the judge .* is a classifier"):
        compare(X, y, ["pearson"], KNeighborsClassifier())
    r2 = compare(X, y, ["pearson"], "knn", sizes=[8], scoring="r2", cv=3, repeats=1, **FAST)
    assert r2.metric == "1 − r2" and np.isfinite(r2.errors).all()


def test_baselines_and_names():
    X, y = data()
    options = {"sizes": [2], "cv": 3, "repeats": 1, "nested": False, "random_state": 0}
    found = compare(X, y, ["Fisher", "SVM_RFE", ("mine", MRMR(3))], **options)
    assert found.methods == ["fisher", "rfe", "mine", "random", "all"]
    np.testing.assert_array_equal(
        found.own_errors[4], found.own_apparent_errors[4]
    )  # nothing is selected: no bias
    assert (found.own_sizes[4] == 12).all()
    assert compare(X, y, "random", **options).methods == ["random", "all"]


@pytest.mark.filterwarnings("ignore:CFS found no relevant")
def test_greedy_methods_rank_as_far_as_is_looked_and_own_sizes_are_judged():
    X, y = data(p=12)
    found = compare(X, y, [MRMR()], sizes=[2, 9], cv=3, repeats=1, **FAST)
    assert "n_features_to_select=9" in found.params["selectors"]["mrmr"]
    assert np.isnan(found.own_errors).all()
    found = compare(X, y, ["cfs", FisherScore(4)], sizes=[2], cv=3, repeats=1, **FAST)
    assert np.isfinite(found.own_errors).all()
    assert (found.own_sizes[1] == 4).all()


def test_a_curve_of_one_method():
    X, y = data()
    found = learning_curve_by_features(X, y, "fisher", "knn", cv=3, repeats=1, random_state=0)
    assert found.methods == ["fisher"] and found.judges == ["knn"]
    assert found.sizes.tolist() == [1, 2, 3, 5, 8, 12]
    with pytest.raises(TypeError, match="one selector"):
        learning_curve_by_features(X, y, ["fisher", "mrmr"])


def test_adding_a_method_changes_no_other():
    X, y = data()
    options = {"sizes": [2, 5], "cv": 3, "repeats": 1, **FAST}
    alone = compare(X, y, ["random"], **options)
    among = compare(X, y, ["fisher", "random", "mrmr"], **options)
    np.testing.assert_array_equal(alone.errors[0], among.errors[1])


def test_no_feature_is_judged_by_the_most_frequent_class():
    class Nothing(Spy):
        def fit(self, X, y):
            self.support_ = np.zeros(X.shape[1], dtype=bool)
            return self

    X, y = data()
    y = (np.arange(60) < 40).astype(int)
    splits = folds(X, y, 4)
    found = compare(X, y, {"nothing": Nothing()}, cv=splits, **FAST)
    expected = 1 - cross_val_score(DummyClassifier(), X, y, cv=splits)
    np.testing.assert_allclose(found.own_errors[0, 0], expected, atol=1e-12)
    assert "4 selections hold no feature" in str(found)
