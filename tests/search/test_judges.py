"""The plain judge: any estimator, any metric, everything inside the fold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz.search.base import seeded
from tamiz.search.judges import CrossValidation, fit_arguments, make_scorer
from tamiz.search.splits import make_splits
from tamiz.svm import SVC


def make(seed=0, n=60, p=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p)) + 5.0
    X[:, 0] += y
    return X, y


@pytest.mark.parametrize("scoring", [None, "roc_auc", ["accuracy", "f1"], {"a": "recall"}])
def test_scores_are_those_of_cross_validate(scoring):
    X, y = make()
    X[3, 1] = np.nan
    estimator = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    splits = make_splits(4, X, y, True, 0)
    judge = CrossValidation(estimator, X, y, splits, scoring)
    found = judge.score(np.array([0, 1]))
    expected = cross_validate(estimator, X[:, [0, 1]], y, cv=splits, scoring=scoring)
    several = isinstance(scoring, (list, dict))
    names = [f"test_{name}" for name in scoring] if several else ["test_score"]
    assert found.shape == (len(names), 4)
    for row, name in zip(found, names, strict=True):
        np.testing.assert_array_equal(row, expected[name])


def test_regression_and_sparse_tables():
    X, _ = make()
    target = X[:, 0] * 2 + X[:, 1]
    splits = make_splits(3, X, target, False, 0)
    dense = CrossValidation(Ridge(), X, target, splits, None)
    assert dense.score(np.array([0, 1])).min() > 0.9
    assert dense.prefer == "processes"
    table = sparse.csr_array(X)
    other = CrossValidation(Ridge(), table, target, splits, None)
    np.testing.assert_allclose(
        other.score(np.array([0, 1])), dense.score(np.array([0, 1])), rtol=1e-12
    )


def test_weights_reach_the_last_step_and_the_metric():
    X, y = make()
    weight = np.where(np.arange(len(y)) < 40, 1.0, 1e-9)
    splits = [(np.arange(0, 50), np.arange(30, 60))]
    estimator = make_pipeline(StandardScaler(), LogisticRegression())
    judge = CrossValidation(estimator, X, y, splits, None, weight)
    few = [(np.arange(0, 40), np.arange(30, 40))]
    machine = make_pipeline(StandardScaler().fit(X[:50]), LogisticRegression())
    machine[-1].fit(machine[0].transform(X[few[0][0]]), y[few[0][0]])
    expected = machine[-1].score(machine[0].transform(X[few[0][1]]), y[few[0][1]])
    assert judge.score(np.arange(4))[0, 0] == pytest.approx(expected, abs=1e-6)
    assert list(fit_arguments(estimator, weight)) == ["logisticregression__sample_weight"]
    assert fit_arguments(estimator, None) == {}


def test_a_part_of_the_splits():
    X, y = make()
    judge = CrossValidation(LogisticRegression(), X, y, make_splits(5, X, y, True, 0), None)
    S = np.array([0, 2])
    np.testing.assert_array_equal(judge.score(S, slice(1, 3)), judge.score(S)[:, 1:3])


def test_seeded_estimators_are_functions_of_the_subset():
    X, y = make()
    forest = seeded(RandomForestClassifier(5), 7)
    assert forest.random_state == 7
    assert seeded(RandomForestClassifier(5, random_state=1), 7).random_state == 1
    judge = CrossValidation(forest, X, y, make_splits(3, X, y, True, 0), None)
    S = np.array([0, 2])
    first = judge.score(S)
    judge.score(np.array([1]))
    np.testing.assert_array_equal(judge.score(S), first)


def test_a_metric_that_is_not_a_number_is_reported():
    X, y = make()
    splits = make_splits(3, X, y, True, 0)
    judge = CrossValidation(SVC(), X, y, splits, lambda machine, X, y: np.nan)
    with pytest.raises(ValueError, match="metric 'score' is nan on a split of 20 samples"):
        judge.score(np.array([0]))


def test_no_metric_at_all_is_reported():
    with pytest.raises(ValueError, match=r"scoring=.* names no metric"):
        make_scorer(SVC(), [])


def test_names_of_the_metrics():
    assert make_scorer(SVC(), None)[1] == ("score",)
    assert make_scorer(SVC(), "f1")[1] == ("f1",)
    assert make_scorer(SVC(), ("f1", "recall"))[1] == ("f1", "recall")
