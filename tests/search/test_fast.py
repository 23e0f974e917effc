"""The fast judge of support vector machines gives exactly the scores of the plain one."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tamiz.kernels import RBF, Polynomial, Sigmoid
from tamiz.search import fast as fast_module
from tamiz.search.fast import FastSVC, judge_for
from tamiz.search.judges import CrossValidation
from tamiz.search.splits import HoldOut, make_splits
from tamiz.svm import SVC
from tests.calls import watched
from tests.naive import search as naive

SCALERS = {"none": [], "standard": [StandardScaler()], "minmax": [MinMaxScaler()]}
SPLITTERS = {
    "folds": 4,
    "loo": "loo",
    "holdout": HoldOut(0.3, random_state=0),
    "repeated": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "ten": 10,
}


def make(seed, n=50, p=5, classes=2, kind="normal"):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    y[: 5 * classes] = np.tile(np.arange(classes), 5)
    X = rng.normal(size=(n, p))
    X[:, 0] += y
    X[:, -1] -= 0.7 * (y == 1)
    if kind == "ties":
        X = np.round(X)
    elif kind == "constant":
        X[:, 1] = 0.1
    elif kind == "scales":
        X = X * 10.0 ** rng.integers(-3, 4, p) + 5.0
    return X, y


def both(estimator, X, y, cv, scoring=None, weight=None):
    splits = make_splits(cv, X, y, True, 0)
    fast = judge_for(estimator, X, y, splits, scoring, weight)
    assert type(fast) is FastSVC
    return fast, CrossValidation(estimator, X, y, splits, scoring, weight)


def pipeline(scaler, machine):
    return make_pipeline(*SCALERS[scaler], machine) if SCALERS[scaler] else machine


def count_plain(judge):
    """How many splits the fast judge leaves to the plain one."""
    calls = []
    own = judge.plain._one
    judge.plain._one = lambda *args: (calls.append(1), own(*args))[1]
    return calls


@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("cv", ["folds", "loo", "holdout", "repeated"])
def test_same_scores_along_a_walk_of_additions_and_removals(scaler, kernel, cv):
    seed = sum(map(ord, scaler + kernel + cv))
    rng = np.random.default_rng(seed)
    gammas = ("scale",) if kernel == "linear" else ("scale", ("auto", 0.3)[rng.integers(2)])
    for gamma in gammas:
        kind = ["normal", "ties", "constant", "scales"][rng.integers(4)]
        X, y = make(int(rng.integers(1000)), n=18 if cv == "loo" else 36, kind=kind)
        machine = SVC(kernel=kernel, gamma=gamma, C=float(rng.choice([0.1, 1.0, 10.0])))
        fast, plain = both(pipeline(scaler, machine), X, y, SPLITTERS[cv])
        subset = np.zeros(5, dtype=bool)
        for j in (0, 2, 0, 4):
            near = np.flatnonzero(subset)
            subset[j] = not subset[j]
            features = np.flatnonzero(subset)
            fast.approach(near)
            found = fast.score(features)
            np.testing.assert_array_equal(found, plain.score(features))
            fast.approach(None)
            np.testing.assert_array_equal(fast.score(features), found)


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize("cv", ["folds", "loo", "holdout"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 1.0, 2: 0.5}])
def test_same_scores_with_three_classes_and_weights(scheme, cv, class_weight):
    X, y = make(7, n=24 if cv == "loo" else 45, classes=3)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    for own, gamma in ((None, "scale"), (weight, "scale"), (weight, 0.2)):
        machine = SVC(multiclass=scheme, class_weight=class_weight, gamma=gamma)
        fast, plain = both(machine, X, y, SPLITTERS[cv], weight=own)
        S = np.array([0, 2, 4])
        np.testing.assert_array_equal(fast.score(S), plain.score(S))


def test_the_plain_judge_is_cross_validation_by_hand():
    X, y = make(3, classes=3)
    weight = np.linspace(0.5, 2.0, len(y))
    splits = make_splits(4, X, y, True, 0)
    for own in (None, weight):
        judge = CrossValidation(SVC(), X, y, splits, None, own)
        expected = naive.accuracy(SVC, X, y, splits, [0, 3], own)
        np.testing.assert_allclose(judge.score(np.array([0, 3]))[0], expected, rtol=1e-14)


def test_most_splits_are_really_taken_the_fast_way():
    """Otherwise the equality above would say nothing."""
    X, y = make(0, n=120, p=6)
    for kernel in ("rbf", "linear", "poly"):
        for scaler in ("none", "standard"):
            for cv in (10, "loo"):
                fast, _ = both(pipeline(scaler, SVC(kernel=kernel)), X, y, cv)
                calls = count_plain(fast)
                fast.score(np.array([0, 3, 5]))
                assert len(calls) <= 0.05 * fast.n_splits


def test_leave_one_out_refits_support_vectors_only():
    X, y = make(1, n=90, p=4)
    X[:, 0] += 2 * y
    fast, plain = both(SVC(gamma=0.3), X, y, "loo")
    S = np.array([0, 1, 3])
    with watched(fast_module, "fit") as solved:
        found = fast.score(S)
    n_support = len(SVC(gamma=0.3).fit(X[:, S], y).support_)
    assert n_support < 70
    assert len(solved) == n_support + 1
    np.testing.assert_array_equal(found, plain.score(S))


def test_leave_one_out_without_free_vectors():
    """The constant lies in an interval whose ends may be non-support vectors."""
    X = np.array([[-3.0], [-2.0], [-1.9], [2.0], [2.1], [3.5]])
    y = np.array([0, 0, 0, 1, 1, 1])
    for C in (1e-3, 0.05, 1.0):
        fast, plain = both(SVC(kernel="linear", C=C), X, y, "loo")
        np.testing.assert_array_equal(fast.score(np.array([0])), plain.score(np.array([0])))


@pytest.mark.parametrize("scoring", ["f1_macro", "roc_auc", ["accuracy", "roc_auc", "recall"]])
def test_other_metrics(scoring):
    X, y = make(11, n=80)
    X[5] = X[6]  # equal decision values: ranks must not be left to rounding
    weight = np.linspace(0.5, 2.0, len(y))
    for own in (None, weight):
        fast, plain = both(SVC(), X, y, 4, scoring, own)
        for features in ([0], [0, 4]):
            S = np.array(features)
            np.testing.assert_allclose(fast.score(S), plain.score(S), rtol=0, atol=1e-12)


def test_a_metric_that_the_machine_lacks_fails_as_in_the_plain_judge():
    X, y = make(0)
    fast, plain = both(SVC(), X, y, 3, "neg_log_loss")
    with pytest.raises(AttributeError) as expected:
        plain.score(np.array([0]))
    with pytest.raises(AttributeError) as found:
        fast.score(np.array([0]))
    assert str(found.value) == str(expected.value)


def test_groups_of_features_and_large_differences():
    X, y = make(2, n=60, p=40)
    fast, plain = both(make_pipeline(StandardScaler(), SVC()), X, y, 3)
    for near, features in (([], range(40)), (range(40), range(35)), (range(30), range(25, 40))):
        fast.approach(np.array(near, dtype=np.intp))
        S = np.array(features)
        np.testing.assert_array_equal(fast.score(S), plain.score(S))


def test_a_feature_much_larger_than_the_rest_leaves_no_rounding_behind():
    X, y = make(4, n=60, p=3)
    X[:, 2] *= 1e9
    for kernel in ("rbf", "linear"):
        fast, plain = both(SVC(kernel=kernel, gamma=0.5), X, y, 4)
        fast.approach(np.array([0, 1, 2]))
        S = np.array([0, 1])
        np.testing.assert_array_equal(fast.score(S), plain.score(S))


def test_parts_of_the_splits_are_parts_of_the_scores():
    X, y = make(5, n=60)
    for estimator, cv in ((SVC(), 5), (SVC(gamma=0.2), "loo")):
        fast, _ = both(estimator, X, y, cv)
        S = np.array([0, 2])
        whole = fast.score(S)
        np.testing.assert_array_equal(fast.score(S, slice(2, 4)), whole[:, 2:4])


def test_threads_do_not_disturb_each_other():
    X, y = make(6, n=100, p=6)
    fast, _ = both(make_pipeline(StandardScaler(), SVC()), X, y, 5)
    fast.approach(np.array([0, 1]))
    subsets = [np.array([0, 1, j]) for j in (2, 3, 4, 5)]
    expected = [fast.score(S) for S in subsets]
    wrong = []

    def work(k):
        for _ in range(10):
            if not np.array_equal(fast.score(subsets[k]), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_judge_can_be_sent_to_another_process():
    X, y = make(8)
    fast, _ = both(SVC(), X, y, 3)
    S = np.array([0, 1])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fast)).score(S), fast.score(S))


def test_a_split_with_one_class_fails_as_in_the_plain_judge():
    X, y = make(0, n=20)
    y = np.sort(y)
    splits = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1))]
    judge = judge_for(SVC(), X, y, splits, None, None)
    with pytest.raises(ValueError, match="one class only"):
        judge.score(np.array([0]))


def odd(y_true, y_pred):
    return accuracy_score(y_true, y_pred)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(kernel=Sigmoid(gamma=0.1)),
        SVC(kernel="sigmoid"),
        SVC(kernel=RBF(0.5) + RBF(0.1)),
        SVC(max_iter=10),
        SVC(tol=0.5),
        make_pipeline(StandardScaler(with_mean=False), SVC()),
        make_pipeline(MinMaxScaler((-1, 1)), SVC()),
        make_pipeline(StandardScaler(), MinMaxScaler(), SVC()),
        LogisticRegression(),
    ],
)
def test_everything_else_is_left_to_the_plain_judge(estimator):
    X, y = make(0)
    splits = make_splits(3, X, y, True, 0)
    assert type(judge_for(estimator, X, y, splits, None, None)) is CrossValidation


def test_other_data_and_metrics_are_left_to_the_plain_judge():
    X, y = make(0)
    splits = make_splits(3, X, y, True, 0)

    def plain(X=X, splits=splits, scoring=None, weight=None):
        return type(judge_for(SVC(), X, y, splits, scoring, weight)) is CrossValidation

    assert not plain()
    assert not plain(scoring=make_scorer(odd))
    assert plain(scoring=lambda machine, X, y: 0.0)
    assert plain(weight=np.r_[0.0, np.ones(len(y) - 1)])
    assert plain(splits=[(np.r_[splits[0][0], splits[0][0]], splits[0][1])])
    assert plain(X=np.where(X > 2, np.nan, X))
    assert plain(X=X * 1e200)
    assert plain(X=X.astype(np.float32))


@pytest.mark.parametrize("unit", [1e100, 1e-100])
@pytest.mark.parametrize("scaler", ["none", "standard"])
def test_machines_that_are_the_same_in_any_unit_are_judged_fast(scaler, unit):
    X, y = make(3, kind="scales")
    fast, plain = both(pipeline(scaler, SVC()), X * unit, y, 4)
    calls = count_plain(fast)
    for features in (np.array([1]), np.array([0, 2]), np.arange(5)):
        np.testing.assert_array_equal(fast.score(features), plain.score(features))
    assert len(calls) <= 1
    splits = make_splits(4, X, y, True, 0)
    for machine in (SVC(kernel="linear"), SVC(gamma=0.1)):  # these depend on the unit
        assert type(judge_for(machine, X * unit, y, splits, None, None)) is CrossValidation


def test_kernel_objects():
    X, y = make(9)
    for kernel in (RBF(width=1.5), RBF("scale"), Polynomial(2, gamma="auto")):
        fast, plain = both(SVC(kernel=kernel), X, y, 3)
        S = np.array([0, 3])
        np.testing.assert_array_equal(fast.score(S), plain.score(S))


def test_one_feature_on_real_data_is_solved_to_the_end():
    """Radial kernels on one feature are singular for all practical purposes."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    fast, _ = both(make_pipeline(StandardScaler(), SVC()), X, y, StratifiedKFold(10))
    calls = count_plain(fast)
    for j in (3, 12, 19):
        fast.score(np.array([j]))
    assert not calls


# ---------------------------------------------------------------------- splits


def test_samples_in_neither_part_of_a_split():
    X, y = make(3, n=24, p=4)
    rng = np.random.default_rng(0)
    splits = []
    for _ in range(60):
        order = rng.permutation(24)
        splits.append((np.sort(order[3:]), order[:1]))
    for C in (1.0, 100.0):
        fast, plain = both(SVC(C=C, gamma=0.5), X, y, splits)
        S = np.array([0, 1, 3])
        np.testing.assert_array_equal(fast.score(S), plain.score(S))


def test_splits_that_only_look_like_leave_one_out():
    X, y = make(4, n=30, p=4)
    everyone = np.arange(30)
    splits = [(np.delete(everyone, i), np.array([(i + 1) % 30])) for i in range(30)]
    fast, plain = both(SVC(C=100.0, gamma=2.0), X, y, splits)
    S = np.array([0, 2])
    np.testing.assert_array_equal(fast.score(S), plain.score(S))


@pytest.mark.parametrize("seed", range(4))
def test_a_feature_that_is_huge_in_one_test_part_leaves_nothing_behind(seed):
    X, y = make(seed, n=60, p=5)
    X[:, 3] = 0.0
    X[7, 3] = 1e9
    fast, plain = both(make_pipeline(StandardScaler(), SVC()), X, y, 5)
    fast.approach(np.arange(5), 5)
    for j in range(5):
        S = np.delete(np.arange(5), j)
        np.testing.assert_array_equal(fast.score(S), plain.score(S))
