"""The report card: published numbers, scikit-learn, intervals by definition, undefined ones."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn import metrics as peer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as PeerSVC

import tamiz
from tamiz.evaluation import ReportCard, report_card
from tamiz.evaluation.inference import clopper_pearson, delong, wilson
from tamiz.svm import SVC
from tests.naive import statistics as naive


def sample(seed=0, n=200, k=2, skill=1.5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), y] += skill
    return y, scores.argmax(axis=1), scores


# ------------------------------------------------------------------ published


def test_worked_example():
    card = ReportCard.from_confusion([[773, 31], [58, 519]])
    assert card.sensitivity == pytest.approx(0.89948, abs=5e-6)
    assert card.specificity == pytest.approx(0.96144, abs=5e-6)
    assert card.precision == pytest.approx(0.94364, abs=5e-6)
    assert card.accuracy == (773 + 519) / 1381
    assert card.precision != card.accuracy
    same = ReportCard.from_confusion(TP=519, FP=31, FN=58, TN=773)
    assert same.to_dict() == card.to_dict()
    assert card.mcc == pytest.approx(naive.matthews(519, 31, 58, 773))


def test_wilson_of_the_textbook():
    # Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29
    printed = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0000, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    exact = {
        (81, 263): (0.2527, 0.3676),
        (15, 148): (0.0578, 0.1617),
        (0, 20): (0.0000, 0.1684),
        (1, 29): (0.0009, 0.1776),
    }
    for (k, n), ends in printed.items():
        assert wilson(k, n) == pytest.approx(ends, abs=5e-5)
        assert clopper_pearson(k, n) == pytest.approx(exact[k, n], abs=5e-5)


def test_area_of_hanley_and_mcneil():
    # Radiology 143 (1982): ratings of 58 normal and 51 abnormal images; area 0.893, deviation 0.032
    ratings = np.arange(1, 6)
    normal = np.repeat(ratings, [33, 6, 6, 11, 2])
    abnormal = np.repeat(ratings, [3, 2, 2, 11, 33])
    area = delong(abnormal, normal)
    assert area.value == pytest.approx(0.893, abs=5e-4)
    assert math.sqrt(area.variance) == pytest.approx(0.032, abs=2e-3)


# ------------------------------------------------------------------ intervals by definition


@settings(max_examples=60)
@given(st.integers(1, 200), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_intervals_of_proportions_are_those_of_scipy(n, share, confidence):
    k = round(share * n)
    test = stats.binomtest(k, n)
    expected = test.proportion_ci(confidence, method="wilson")
    assert wilson(k, n, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)
    expected = test.proportion_ci(confidence, method="exact")
    found = clopper_pearson(k, n, confidence)
    assert found == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_wilson_ends_solve_their_equation():
    z = stats.norm.isf(0.025)

    def gap(p):
        return (0.3 - p) ** 2 - z**2 * p * (1 - p) / 40

    low, high = wilson(12, 40)
    assert low == pytest.approx(optimize.brentq(gap, 1e-9, 0.3))
    assert high == pytest.approx(optimize.brentq(gap, 0.3, 1 - 1e-9))
    ends = wilson(np.array([0, 5, 10]), 10)
    assert ends[0][0] == 0.0 and ends[1][2] == 1.0


@settings(max_examples=60)
@given(st.integers(2, 25), st.integers(2, 25), st.booleans(), st.integers(0, 10**6))
def test_area_is_that_of_all_pairs(m, n, ties, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.7, 1, m), rng.normal(0, 1, n)
    if ties:
        a, b = np.round(a), np.round(b)
    found = delong(a, b)
    area, variance = naive.delong(a.tolist(), b.tolist())
    assert found.value == pytest.approx(area) and found.variance == pytest.approx(variance)
    again = delong(-b, -a)  # roles and signs exchanged
    assert again.value == pytest.approx(area) and again.variance == pytest.approx(variance)


def test_area_of_many_samples_is_fast():
    y, _, scores = sample(n=400_000)
    card = report_card(y, y, scores=scores[:, 1] - scores[:, 0])
    assert card["roc_area"].interval[1] - card["roc_area"].interval[0] < 0.01


def coverage(metric, true, draw, n=300):
    return sum(
        low <= true <= high for low, high in (draw(seed)[metric].interval for seed in range(n))
    )


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1", "mcc", "roc_area"])
def test_intervals_cover(metric):
    """300 samples of 80 from a known population: at least 264 covered, 95 % less 5 deviations."""
    cells = np.array([[0.40, 0.10], [0.08, 0.42]])
    se, sp = 0.84, 0.80
    truth = {
        "balanced_accuracy": (se + sp) / 2,
        "f1": 2 * 0.42 / (2 * 0.42 + 0.18),
        "mcc": (0.40 * 0.42 - 0.10 * 0.08) / math.sqrt(0.48 * 0.52 * 0.50 * 0.50),
        "roc_area": stats.norm.cdf(1.5 / math.sqrt(2)),
    }[metric]

    def draw(seed):
        rng = np.random.default_rng(seed)
        if metric == "roc_area":
            y = np.repeat([0, 1], 40)
            return report_card(y, y, scores=rng.normal(1.5 * y), n_bootstrap=1)
        counts = rng.multinomial(80, cells.ravel()).reshape(2, 2)
        return ReportCard.from_confusion(counts, n_bootstrap=400)

    assert 264 <= coverage(metric, truth, draw) <= 299


# ------------------------------------------------------------------ scikit-learn


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_those_of_scikit_learn(weighted):
    y, guess, scores = sample()
    w = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    value = scores[:, 1] - scores[:, 0]
    card = report_card(y, guess, scores=value, sample_weight=w)
    options = {"sample_weight": w}
    expected = {
        "sensitivity": peer.recall_score(y, guess, **options),
        "specificity": peer.recall_score(y, guess, pos_label=0, **options),
        "precision": peer.precision_score(y, guess, **options),
        "accuracy": peer.accuracy_score(y, guess, **options),
        "balanced_accuracy": peer.balanced_accuracy_score(y, guess, **options),
        "f1": peer.f1_score(y, guess, **options),
        "mcc": peer.matthews_corrcoef(y, guess, **options),
        "roc_area": peer.roc_auc_score(y, value, **options),
    }
    for name, number in expected.items():
        assert card[name].value == pytest.approx(number)
        assert getattr(card, name) == card[name].value
        low, high = card[name].interval
        if name == "roc_area" and weighted:
            assert math.isnan(low) and "without weights" in card[name].reason
        else:
            assert low < number < high
    np.testing.assert_allclose(card.confusion, peer.confusion_matrix(y, guess, **options))
    equal = report_card(y, guess, sample_weight=np.full(len(y), 3.0))  # says no more than none
    plain = report_card(y, guess)
    for name in ("sensitivity", "precision", "f1", "mcc", "balanced_accuracy"):
        assert equal[name].interval == pytest.approx(plain[name].interval)


def test_several_classes():
    y, guess, scores = sample(k=4)
    labels = np.array(["a", "b", "c", "d"])
    card = report_card(labels[y], labels[guess], scores=scores)
    options = {"average": "macro"}
    assert card["macro_precision"].value == pytest.approx(peer.precision_score(y, guess, **options))
    assert card["macro_f1"].value == pytest.approx(peer.f1_score(y, guess, **options))
    assert card.balanced_accuracy == pytest.approx(peer.balanced_accuracy_score(y, guess))
    assert card.mcc == pytest.approx(peer.matthews_corrcoef(y, guess))
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    macro = peer.roc_auc_score(y, softmax, multi_class="ovr")
    assert report_card(labels[y], labels[guess], scores=softmax).roc_area == pytest.approx(macro)
    for c, label in enumerate("abcd"):
        alone = report_card(y == c, guess == c, scores=scores[:, c])
        for name, metric in card.per_class[label].items():
            assert metric.value == pytest.approx(alone[name].value)
            assert metric.interval == pytest.approx(alone[name].interval)
        merged = report_card(labels[y], labels[guess], scores=scores, positive=label)
        assert merged.f1 == pytest.approx(alone.f1) and merged.positive == label
    with pytest.raises(KeyError, match="per_class"):
        _ = card.sensitivity
    with pytest.raises(KeyError, match="not one of"):
        card["kappa"]


def test_two_classes_as_several_have_the_same_mean_area():
    """The influence of a sample on the macro area, for classes whose curves mirror each other."""
    y, guess, scores = sample()
    value = scores[:, 1] - scores[:, 0]
    both = report_card(y, guess, scores=value)["roc_area"]
    from tamiz.evaluation.measures import ROCCurve, macro_area

    curves = [ROCCurve(y == 0, -value, None), ROCCurve(y == 1, value, None)]
    own = {c: {"roc_area": curves[c].metric(0.95, ("a", "b"))} for c in (0, 1)}
    together = macro_area(curves, own, 0.95)
    assert together.value == pytest.approx(both.value)
    assert together.interval == pytest.approx(both.interval)


def test_a_class_of_one_sample_leaves_the_mean_area_without_interval():
    scores = np.array([[9, 0, 0], [2, 5, 3], [1, 7, 2], [5, 3, 2], [1, 6, 3]])
    card = report_card([0, 0, 1, 1, 2], [0, 0, 1, 1, 2], scores=scores)
    assert math.isnan(card["roc_area"].interval[0]) and "one sample" in card["roc_area"].reason
    assert 0 < card.roc_area < 1


def test_positive_class_can_be_chosen():
    y, guess, scores = sample()
    names = np.array(["ill", "well"])
    last = report_card(names[y], names[guess])
    first = report_card(names[y], names[guess], positive="ill", scores=scores)
    assert last.positive == "well" and first.classes == ["well", "ill"]
    assert first.sensitivity == last.specificity and first.mcc == pytest.approx(last.mcc)
    assert first.confusion[1, 1] == last.confusion[0, 0]
    assert first.roc_area == pytest.approx(peer.roc_auc_score(y == 0, scores[:, 0]))
    table = ReportCard.from_confusion(last.confusion, classes=["ill", "well"], positive="ill")
    alone = report_card(names[y], names[guess], positive="ill")
    assert table.to_dict() == alone.to_dict()
    y, guess, _ = sample(k=3)
    whole = ReportCard.from_confusion(report_card(y, guess).confusion, positive=1)
    assert whole.to_dict() == report_card(y, guess, positive=1).to_dict()
    assert report_card([-1, 1, 1], [-1, -1, 1]).positive == 1
    assert report_card([False, True], [True, True]).positive is True


def test_of_an_estimator():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    machine = SVC(kernel="linear").fit(X[::2], y[::2])
    card = ReportCard.of(machine, X[1::2], y[1::2])
    assert card.accuracy == machine.score(X[1::2], y[1::2])
    area = peer.roc_auc_score(y[1::2], machine.decision_function(X[1::2]))
    assert card.roc_area == pytest.approx(area)
    other = ReportCard.of(machine, X[1::2], y[1::2], positive=0)
    assert other.roc_area == pytest.approx(area) and other.sensitivity == card.specificity
    model = LogisticRegression().fit(X[::2], y[::2])
    assert ReportCard.of(model, X[1::2], y[1::2]).roc_area > 0.98
    X, y = load_iris(return_X_y=True)
    flowers = ReportCard.of(GaussianNB().fit(X, y), X, y)
    assert set(flowers.per_class) == {0, 1, 2} and flowers.roc_area > 0.99
    # three pairs of classes are not three classes
    usual = ReportCard.of(PeerSVC().fit(X[::2], y[::2]), X[1::2], y[1::2]).roc_area
    pairs = PeerSVC(decision_function_shape="ovo")
    for machine in (pairs, make_pipeline(pairs), GridSearchCV(pairs, {"C": [1.0]})):
        card = ReportCard.of(machine.fit(X[::2], y[::2]), X[1::2], y[1::2])
        assert "roc_area" not in card.metrics
    assert usual > 0.98
    with pytest.raises(TypeError, match="has no predict"):
        ReportCard.of(3, X, y)
    # a class that the test part lacks stays in the table
    part = ReportCard.of(GaussianNB().fit(X, y), X[:100], y[:100])
    assert part.confusion.shape == (3, 3) and "no 2" in part["balanced_accuracy"].reason


# ------------------------------------------------------------------ undefined


@pytest.mark.parametrize(
    ("y", "guess", "absent", "word"),
    [
        ([1, 1, 0, 0], [0, 0, 0, 0], "precision", "nothing was predicted as 1"),
        ([0, 0, 0], [0, 1, 0], "sensitivity", "no 1"),
        ([1, 1, 1], [0, 1, 1], "specificity", "no 0"),
        ([1, 1, 1], [0, 1, 1], "balanced_accuracy", "no 0"),
        ([0, 0], [0, 0], "f1", "no sample is 1"),
        ([1, 1, 0, 0], [1, 1, 1, 1], "mcc", "predictions hold one class"),
        ([1, 1, 1], [0, 1, 1], "roc_area", "no 0"),
        (["spam", "spam"], ["spam", "spam"], "specificity", "other than spam"),
    ],
)
def test_undefined_is_nan_with_a_reason(y, guess, absent, word):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        card = report_card(y, guess, scores=np.arange(len(y), dtype=float))
        assert math.isnan(card[absent].value) and word in card[absent].reason
        assert word in str(card)
        json.dumps(card.to_dict(), allow_nan=False)
        assert 0 <= card.accuracy <= 1


def test_perfect_predictions():
    card = report_card([0, 0, 1, 1], [0, 0, 1, 1], scores=[1, 2, 3, 4])
    assert card.mcc == card.f1 == card.roc_area == card.balanced_accuracy == 1.0
    assert "no errors" in card["mcc"].reason and "separate" in card["roc_area"].reason
    for name in ("sensitivity", "f1", "balanced_accuracy", "accuracy"):
        low, high = card[name].interval
        assert low < 0.9 and high == 1.0
    single = report_card([0, 0, 1], [0, 1, 1], scores=[1, 4, 3])
    assert single.roc_area == 0.5 and "one sample" in single["roc_area"].reason


def test_infinite_scores_are_the_outermost():
    y, guess, scores = sample()
    value = scores[:, 1] - scores[:, 0]
    far = value.copy()
    far[value.argmax()], far[value.argmin()] = np.inf, -np.inf
    assert (
        report_card(y, guess, scores=far).to_dict() == report_card(y, guess, scores=value).to_dict()
    )


def test_a_class_never_predicted_of_three():
    card = report_card([0, 1, 2, 0, 1, 2], [0, 1, 1, 0, 1, 0])
    assert "nothing was predicted as 2" in card["macro_precision"].reason
    assert card["macro_f1"].value == pytest.approx((0.8 + 0.8 + 0) / 3)


# ------------------------------------------------------------------ form


def test_input_of_every_kind_and_seed():
    y, guess, scores = sample()
    expected = report_card(y, guess, scores=scores[:, 1]).to_dict()
    for kind in (list, pd.Series, pl.Series):
        found = report_card(kind(y.tolist()), kind(guess.tolist()), scores=scores[:, 1].tolist())
        assert found.to_dict() == expected
    a, b = (report_card(y, guess, random_state=seed)["mcc"].interval for seed in (0, 1))
    assert a != b and a == pytest.approx(b, abs=0.02)
    wide = report_card(y, guess, confidence=0.99, proportion="clopper_pearson")
    assert wide["precision"].method == "Clopper–Pearson"
    assert wide["precision"].interval[0] < expected["metrics"]["precision"]["interval"][0]


@pytest.mark.parametrize(
    ("y", "guess", "options", "word"),
    [
        ([0, 1], [0], {}, "2 entries but y_pred has 1"),
        ([], [], {}, "empty"),
        ([0, 1], ["a", "b"], {}, "mix text and numbers"),
        (["a", "b"], [0, 1], {}, "mix text and numbers"),
        (np.array([1, "a"], dtype=object), np.array([1, "a"], dtype=object), {}, "one type"),
        ([0, 1], [0.2, 0.7], {}, "as scores"),
        ([0, np.nan], [0, 1], {}, "NaN"),
        ([0, 1], [0, 1], {"positive": 7}, "positive=7"),
        ([0, 1], [0, 1], {"labels": [0, 2]}, "not in labels"),
        ([0, 1], [0, 1], {"scores": [1]}, "scores has shape"),
        ([0, 1], [0, 1], {"scores": ["a", "b"]}, "numbers"),
        ([0, 1], [0, 1], {"scores": [1, np.nan]}, "NaN, first at row 1"),
        ([0, 1], [0, 1], {"scores": np.ones((2, 3))}, "3 columns for the 2 classes"),
        ([0, 1, 2], [0, 1, 2], {"scores": [1, 2, 3]}, "one column for"),
        ([0, 1], [0, np.nan], {}, "y_pred: .*NaN"),
        ([0, 1], ["a", "b"], {}, r"\(0 and 'a'\)"),
        ([0, 1], [0, 1], {"confidence": 95}, "confidence=95"),
        ([0, 1], [0, 1], {"proportion": "wald"}, "proportion='wald'"),
        ([0, 1], [0, 1], {"n_bootstrap": 0}, "n_bootstrap=0"),
        ([0, 1], [0, 1], {"random_state": -1}, "random_state=-1"),
        ([0, 1], [0, 1], {"sample_weight": [1, -1]}, "sample_weight"),
    ],
)
def test_errors_are_sentences(y, guess, options, word):
    with pytest.raises(ValueError, match=word):
        report_card(y, guess, **options)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"TP": 1}, "all of TP, FP, FN and TN"),
        ({"matrix": [[1, 2], [3, 4]], "TP": 1}, "not both"),
        ({"matrix": [[1, 2, 3], [3, 4, 5]]}, "square"),
        ({"matrix": [[1, -2], [3, 4]]}, "below zero"),
        ({"matrix": [[0, 0], [0, 0]]}, "no samples"),
        ({"matrix": [[1, 2], [3, 4]], "classes": ["a", "a"]}, "different labels"),
        ({"matrix": [["a", "b"], ["c", "d"]]}, "counts"),
        ({"matrix": [[1, 2], [3]]}, "differ in length"),
        ({"matrix": [[1, 2], [3, 4]], "positive": "ill"}, "positive='ill'"),
    ],
)
def test_wrong_tables(arguments, word):
    with pytest.raises(ValueError, match=word):
        ReportCard.from_confusion(**arguments)


def test_tables_text_and_pictures():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    y, guess, scores = sample(k=3)
    three = report_card(y, guess, scores=scores)
    two = report_card(y > 0, guess > 0, scores=-scores[:, 0])
    published = ReportCard.from_confusion(TP=519, FP=31, FN=58, TN=773, classes=["well", "ill"])
    for card, n_axes in ((three, 2), (two, 2), (published, 1)):
        assert "\n" not in repr(card) and "columns: predicted" in str(card)
        json.dumps(card.to_dict(), allow_nan=False)
        frame = card.to_frame()
        assert (frame["low"] <= frame["value"]).all() and (frame["value"] <= frame["high"]).all()
        axes = np.ravel(card.plot())
        assert len(axes) == n_axes and len(axes[0].texts) == card.confusion.size
    assert len(three.plot()[1].lines) == 4  # three curves and the diagonal
    ax = plt.figure().subplots()
    assert two.plot(ax=ax) is ax
    plt.close("all")


# ------------------------------------------------------------------ the margin


def test_predictions_by_their_place_at_the_margin():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    machine = SVC(C=0.1).fit(X[:300], y[:300])
    card = ReportCard.of(machine, X[300:], y[300:])
    value = np.abs(machine.decision_function(X[300:]))
    right = machine.predict(X[300:]) == y[300:]
    parts = card.margin.parts
    for place, there in {"beyond": value > 1.001, "inside": value < 0.999}.items():
        assert parts[place].n_samples == there.sum() > 0
        assert parts[place].fraction.value == pytest.approx(there.mean())
        assert parts[place].accuracy.value == pytest.approx(right[there].mean())
        low, high = wilson(there.sum(), len(there), 0.95)
        assert parts[place].fraction.interval == pytest.approx((low, high))
    assert sum(part.fraction.value for part in parts.values()) == pytest.approx(1)
    assert parts["beyond"].accuracy.value > parts["inside"].accuracy.value
    distances = value * machine.margin_
    assert card.margin.boundary_distance == pytest.approx(np.quantile(distances, [0.25, 0.5, 0.75]))
    nearest = machine.kernel_.distance(X[300:], machine.support_vectors_).min(axis=1)
    assert card.margin.support_distance == pytest.approx(np.quantile(nearest, [0.25, 0.5, 0.75]))
    assert "inside it" in str(card) and "nearest support vector" in str(card)
    json.dumps(card.to_dict(), allow_nan=False)


def test_the_margin_of_a_pipeline_a_search_and_weighted_samples(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    machine = make_pipeline(StandardScaler(), SVC()).fit(X, names)
    card = ReportCard.of(
        machine, X, names, confidence=0.9, proportion="clopper_pearson", n_bootstrap=9
    )
    assert card.margin.parts["inside"].fraction.method == "Clopper–Pearson"
    searched = GridSearchCV(make_pipeline(SVC()), {"svc__C": [1.0]}, cv=3).fit(X, names)
    assert ReportCard.of(searched, X, names, n_bootstrap=9).margin is not None
    weight = np.random.default_rng(0).integers(0, 3, 150)
    weighted = ReportCard.of(machine, X, names, sample_weight=weight, n_bootstrap=9)
    again = np.repeat(np.arange(150), weight)
    repeated = ReportCard.of(machine, X[again], names[again], n_bootstrap=9)
    for place in ("inside", "beyond"):
        a, b = weighted.margin.parts[place], repeated.margin.parts[place]
        assert a.fraction.value == pytest.approx(b.fraction.value)
        assert a.accuracy.value == pytest.approx(b.accuracy.value)
    tamiz.save(card, tmp_path / "card.tamiz")
    assert tamiz.load(tmp_path / "card.tamiz").to_dict() == card.to_dict()
    assert ReportCard.of(GaussianNB().fit(X, y), X, y, n_bootstrap=9).margin is None
    assert report_card(y, y).to_dict()["margin"] is None
