"""Errors of a comparison: 1 less the scores of scikit-learn, and losses as they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    make_scorer,
    roc_auc_score,
    root_mean_squared_error,
)

from tamiz.evaluation.judges import ErrorMetric
from tamiz.evaluation.judges.named import Predicted


def said(predictions, decisions=None, proportions=None):
    return Predicted(np.unique(predictions), predictions, decisions, proportions)


labels = st.lists(st.tuples(*[st.integers(0, 3)] * 2, st.floats(0.1, 10)), min_size=1, max_size=40)


@given(labels)
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.filterwarnings("ignore:A single label was found")
def test_counted_errors_are_those_of_scikit_learn(rows):
    y, predicted, weight = (np.array(column) for column in zip(*rows, strict=True))
    for scoring, score in (
        ("accuracy", accuracy_score),
        ("balanced_accuracy", balanced_accuracy_score),
    ):
        metric = ErrorMetric(scoring, "classification")
        assert metric.counted
        assert metric.of(said(predicted), y) == pytest.approx(1 - score(y, predicted))
        expected = 1 - score(y, predicted, sample_weight=weight)
        assert metric.of(said(predicted), y, weight) == pytest.approx(expected)


def test_balanced_error_by_hand():
    y, predicted = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 0])
    metric = ErrorMetric("balanced_accuracy", "classification")
    assert metric.name == "balanced error"
    assert metric.of(said(predicted), y) == pytest.approx((1 / 4 + 1 / 2) / 2)
    weight = np.array([1.0, 1.0, 1.0, 3.0, 2.0, 6.0])
    assert metric.of(said(predicted), y, weight) == pytest.approx((3 / 6 + 6 / 8) / 2)


def test_errors_of_answers_are_those_of_the_machine():
    X, y = make_classification(200, 5, random_state=0, flip_y=0.2)
    machine = LogisticRegression().fit(X[:100], y[:100])
    X, y = X[100:], y[100:]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=100)
    values, shares = machine.decision_function(X), machine.predict_proba(X)
    answers = said(machine.predict(X), values, shares)
    expected = {
        "f1": 1 - f1_score(y, machine.predict(X), sample_weight=weight),
        "roc_auc": 1 - roc_auc_score(y, values, sample_weight=weight),
        "neg_log_loss": log_loss(y, shares, sample_weight=weight),
    }
    for scoring, error in expected.items():
        metric = ErrorMetric(scoring, "classification")
        assert metric(machine, X, y, weight) == pytest.approx(error), scoring
        assert metric.of(answers, y, weight) == pytest.approx(error), scoring
        assert metric.error_is_rate == (scoring != "neg_log_loss") and not metric.counted


def test_a_score_that_is_not_defined_is_nan():
    metric = ErrorMetric("roc_auc", "classification")
    X, y = make_classification(50, 4, n_redundant=0, random_state=0)
    machine = LogisticRegression().fit(X, y)
    with np.errstate(all="ignore"), pytest.warns(Warning, match="ROC AUC|class"):
        assert np.isnan(metric(machine, X[:3], np.ones(3)))


def test_answers_without_probabilities_say_so():
    answers = said(np.array([0, 1]), np.array([-1.0, 1.0]))
    assert not hasattr(answers, "predict_proba")
    with pytest.raises(AttributeError):
        ErrorMetric("neg_log_loss", "classification").of(answers, np.array([0, 1]))


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "f1_macro"])
def test_of_constant_is_the_most_frequent_class(scoring):
    rng = np.random.default_rng(1)
    y_train, y = rng.choice(list("abc"), 60, p=[0.2, 0.5, 0.3]), rng.choice(list("abc"), 30)
    metric = ErrorMetric(scoring, "classification")
    machine = DummyClassifier(strategy="most_frequent").fit(np.zeros((60, 1)), y_train)
    for weight in (None, rng.uniform(0.5, 2.0, size=30)):
        expected = metric(machine, np.zeros((30, 1)), y, weight)
        assert metric.of_constant(y_train, y, weight) == pytest.approx(expected)
    if scoring == "balanced_accuracy":
        assert metric.of_constant(y_train, y) == pytest.approx(2 / 3)


def test_of_constant_is_the_mean_of_numbers():
    y_train, y = np.array([1.0, 2.0, 6.0]), np.array([0.0, 5.0])
    metric = ErrorMetric(None, "regression")
    assert metric.name == "root mean squared error" and metric.loss and not metric.error_is_rate
    assert metric.of_constant(y_train, y) == pytest.approx(np.sqrt((9 + 4) / 2))
    X, target = make_regression(50, 3, noise=5.0, random_state=0)
    machine = LinearRegression().fit(X, target)
    expected = root_mean_squared_error(target, machine.predict(X))
    assert metric(machine, X, target) == pytest.approx(expected)


def test_scorers_of_ones_own_and_words_that_mean_nothing():
    loss = make_scorer(lambda y, p: float(np.mean(y != p)), greater_is_better=False)
    metric = ErrorMetric(loss, "classification")
    assert metric.loss and not metric.error_is_rate and not metric.counted
    assert metric.of(said(np.array([0, 1, 1])), np.array([0, 1, 0])) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="'goodness' is no metric of scikit-learn"):
        ErrorMetric("goodness", "classification")


def test_of_constant_counts_the_weights_of_the_training_part():
    y_train, y = np.array([0, 0, 0, 1]), np.array([0, 1])
    metric = ErrorMetric("accuracy", "classification")
    weight = np.array([1.0, 3.0])
    assert metric.of_constant(y_train, y, weight) == pytest.approx(0.75)
    heavy = np.array([1.0, 1.0, 1.0, 9.0])
    assert metric.of_constant(y_train, y, weight, heavy) == pytest.approx(0.25)
