"""Judges answered the fast way: what their estimators say, fitted to the same columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_sample_weight

from tamiz import compare
from tamiz.evaluation.judges import candidates_of, resolved
from tamiz.evaluation.judges.fast import Division, Question, fast_way
from tamiz.neighbors import KNNClassifier
from tamiz.svm import SVC, LinearMachine
from tamiz.tree import BoostingClassifier, CARTClassifier, ForestClassifier

JUDGES = {
    "linear": LinearMachine(),
    "svc-rbf": SVC(kernel="rbf"),
    "svc-linear": SVC(kernel="linear"),
    "tree": CARTClassifier(),
    "forest": ForestClassifier(20, n_jobs=1),
    "boosting": BoostingClassifier(10, n_jobs=1),
}

TREES = ("tree", "forest", "boosting")


def synthetic(n, p, n_classes, seed=0):
    X, y = make_classification(
        n, p, n_informative=4, n_redundant=0, n_classes=n_classes, class_sep=0.7, random_state=seed
    )
    return X, y


def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:260], y[:260]


TABLES = {
    "two classes": lambda: synthetic(120, 10, 2),
    "four classes": lambda: synthetic(150, 12, 4, seed=1),
    "wide": lambda: synthetic(50, 90, 2, seed=2),
    "wide, four classes": lambda: synthetic(70, 120, 4, seed=3),
    "breast": lambda: load_breast_cancer(return_X_y=True),
    "digits": digits,
}


def division(name, weight=None, class_weight=None, seed=5, inner=False):
    X, y = TABLES[name]()
    rows = np.random.default_rng(0).permutation(len(y))
    train, test = rows[: 2 * len(y) // 3], rows[2 * len(y) // 3 :]
    scaler = StandardScaler().fit(X[train])
    Z, Z_test = scaler.transform(X[train]), scaler.transform(X[test])
    classes, codes = np.unique(y[train], return_inverse=True)
    weight = np.ones(len(codes)) if weight is None else weight[: len(codes)]
    if class_weight == "balanced":  # by the sums of the weights
        totals = np.bincount(codes, weights=weight)
        by_class = totals.sum() / (len(totals) * totals)
        weight = weight * by_class[codes]
    return Division(Z, codes, np.arange(len(classes)), weight, Z_test, seed, inner)


def subsets(p, seed=0):
    """Nested subsets, and one that is not."""
    order = np.random.default_rng(seed).permutation(p)
    return [np.sort(order[:size]) for size in (1, 3, p // 2, p)] + [np.sort(order[-2:])]


def fast(estimator, part, features, candidates):
    every = list(range(len(candidates)))
    questions = [Question(place, columns, every) for place, columns in enumerate(features)]
    way = fast_way(estimator, candidates)
    found = {
        (place, c): answers for place, c, answers in way(estimator, part, questions, candidates)
    }
    assert len(found) == len(features) * len(candidates)
    return found


def plain(estimator, part, columns, candidate, weight):
    machine = clone(estimator).set_params(**resolved(candidate, len(columns)))
    if isinstance(machine, SVC):
        machine.set_params(tol=1e-6)
    if "random_state" in machine.get_params() and machine.random_state is None:
        machine.set_params(random_state=part.seed)
    return machine.fit(part.Z[:, columns], part.codes, weight)


def values_of(machine, Z):
    if hasattr(machine, "decision_function"):
        return machine.decision_function(Z)
    found = machine.predict_proba(Z)
    return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found


def same_answers(name, estimator, part, weight=None, grid="coarse"):
    candidates = candidates_of(grid, name, estimator)
    features = subsets(part.Z.shape[1])
    found = fast(estimator, part, features, candidates)
    agree = []
    for (place, c), answers in found.items():
        columns = features[place]
        machine = plain(estimator, part, columns, candidates[c], weight)
        Z_test = part.Z_test[:, columns]
        expected = values_of(machine, Z_test)
        if name in TREES:
            np.testing.assert_allclose(answers.predict_proba(None), machine.predict_proba(Z_test))
            np.testing.assert_array_equal(answers.predict(None), machine.predict(Z_test))
            continue
        # solvers end within their tolerance: samples at the border may go either way, and with
        # them a vote of one class against another
        atol = (1e-4 if name == "linear" else 0.03) * (1 + np.abs(expected).max())
        away = np.abs(answers.decision_function(None) - expected).reshape(len(expected), -1)
        near = away.max(axis=1) < atol
        assert near.mean() > 0.95 and away[near].mean() < 0.1 * atol + 1e-6, (place, c)
        values = expected if expected.ndim == 2 else np.column_stack([-expected, expected])
        second, first = np.sort(values, axis=1)[:, -2:].T
        clear = near & (first - second > 2 * atol)
        same = answers.predict(None) == machine.predict(Z_test)
        assert same[clear].all(), (place, c)
        agree.append(same.mean())
    # with one feature that says little, all values may be equal within the tolerance
    assert name in TREES or np.median(agree) > 0.97


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", JUDGES)
def test_answers_are_those_of_the_estimators(name, table):
    same_answers(name, JUDGES[name], division(table))


@pytest.mark.parametrize("name", JUDGES)
def test_finer_grids_and_other_parameters(name):
    estimator = clone(JUDGES[name])
    if name.startswith("svc"):
        estimator.set_params(multiclass="ovr", C=3.0)
    if name == "forest":
        estimator.set_params(max_features=3, min_samples_leaf=4)
    same_answers(name, estimator, division("digits"), grid="fine")
    same_answers(name, estimator, division("two classes"), grid=True)


@pytest.mark.parametrize("table", ["two classes", "four classes", "wide"])
@pytest.mark.parametrize("name", JUDGES)
def test_weights_of_samples_and_classes(name, table):
    weight = np.random.default_rng(1).uniform(0.2, 3.0, size=1000)
    part = division(table, weight)
    same_answers(name, JUDGES[name], part, part.weight)
    balanced = clone(JUDGES[name]).set_params(class_weight="balanced")
    part = division(table, weight, class_weight="balanced")
    np.testing.assert_allclose(
        division(table, class_weight="balanced").weight,
        compute_sample_weight("balanced", part.codes),
    )
    same_answers(name, balanced, part, weight[: len(part.codes)])


def test_many_samples_keep_kernel_values_in_single_precision():
    X, y = make_classification(900, 6, n_informative=4, random_state=4)
    classes = np.arange(2)
    part = Division(X[:700], y[:700], classes, np.ones(700), X[700:], 0)
    every = np.arange(6)
    (answers,) = fast(JUDGES["svc-rbf"], part, [every], [{"C": 2.0, "gamma": 0.1}]).values()
    machine = SVC(C=2.0, gamma=0.1).fit(X[:700], y[:700])
    np.testing.assert_allclose(
        answers.decision_function(None), machine.decision_function(X[700:]), atol=0.01
    )


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.05])
def test_widths_by_name(gamma):
    part = division("two classes")
    columns = np.array([0, 3, 7])
    (answers,) = fast(SVC(gamma=gamma), part, [columns], [{}]).values()
    machine = SVC(gamma=gamma).fit(part.Z[:, columns], part.codes)
    np.testing.assert_allclose(
        answers.decision_function(None),
        machine.decision_function(part.Z_test[:, columns]),
        atol=0.01,
    )


def test_forests_that_only_help_to_choose_have_fewer_trees():
    part = division("two classes", inner=True)
    every = np.arange(10)
    (answers,) = fast(ForestClassifier(50), part, [every], [{}]).values()
    fewer = plain(ForestClassifier(20), part, every, {}, None)
    np.testing.assert_array_equal(answers.predict_proba(None), fewer.predict_proba(part.Z_test))


def test_a_seed_of_the_estimator_is_kept():
    part = division("two classes")
    every = np.arange(10)
    (answers,) = fast(ForestClassifier(10, random_state=3), part, [every], [{}]).values()
    machine = ForestClassifier(10, random_state=3).fit(part.Z, part.codes)
    np.testing.assert_array_equal(answers.predict_proba(None), machine.predict_proba(part.Z_test))


@pytest.mark.parametrize(
    ("estimator", "candidates"),
    [
        (KNNClassifier(), [{}]),
        (make_pipeline(StandardScaler(), SVC()), [{}]),
        (SVC(kernel="poly"), [{}]),
        (SVC(max_iter=50), [{}]),
        (SVC(), [{"C": 1.0}, {"kernel": "linear"}]),
        (SVC(), [{"class_weight": "balanced"}]),
        (LinearMachine(), [{"class_weight": {0: 1.0, 1: 2.0}}]),
        (CARTClassifier(), [{"class_weight": "balanced"}]),
        (ForestClassifier(), [{"class_weight": "balanced"}]),
    ],
)
def test_what_the_fast_way_does_not_read_is_left_to_the_estimator(estimator, candidates):
    assert fast_way(estimator, candidates) is None


def test_a_comparison_tunes_the_kernel_itself():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 3))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)  # no plane separates them
    options = {"sizes": [3], "cv": 3, "repeats": 1, "baselines": (), "random_state": 0}
    found = compare(X, y, ["fisher"], SVC(), tune={"kernel": ["linear", "rbf"]}, **options)
    assert found.errors.mean() < 0.25
    chosen = {one["kernel"] for row in found.tuned["fisher"]["svc-rbf"] for one in row[:1]}
    assert chosen == {"rbf"}
