"""Scores beside those of shuffled labels: loops, all arrangements, any score, bad input."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamiz
from tamiz.discovery import permutation_scores
from tamiz.filters import AUCScore, FisherScore, PearsonScore, WelchT
from tests.naive import discovery as naive


def table(n=12, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.arange(n) % 2
    X[:, 0] += 2.5 * y
    X[:, 1] = X[:, 0] + 0.01 * rng.normal(size=n)
    return X, y


def mean_difference(X, y):
    return np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))


def test_shuffles_equal_loops():
    X, y = table(40)
    shuffled = []

    def noting(X, labels):
        found = mean_difference(X, labels)
        shuffled.append(found)
        return found

    got = permutation_scores(noting, X, y, n_permutations=60, random_state=3)
    assert len(shuffled) == 61 and not got.exact
    alone, maxt, rate = naive.permuted(shuffled[0], shuffled[1:])
    np.testing.assert_allclose(got.pvalues, alone)
    np.testing.assert_allclose(got.maxt, maxt)
    np.testing.assert_allclose(got.fdr, rate)
    assert (got.maxt >= got.pvalues).all() and got.pvalues.min() >= 1 / 61


def test_few_samples_use_all_arrangements_once():
    X, y = table(6)
    got = permutation_scores(mean_difference, X, y, n_permutations=100)
    distinct = {labels for labels in permutations(y.tolist())}
    assert len(distinct) == 20 and got.exact and got.n_permutations == 19
    observed = mean_difference(X, y)
    scores = np.array([mean_difference(X, np.array(labels)) for labels in distinct])
    want = (scores >= observed - 1e-12).sum(axis=0) / 20
    np.testing.assert_allclose(got.pvalues, want)


def test_a_trend_does_not_count_among_neighbours_in_time():
    rng = np.random.default_rng(0)
    time = rng.permutation(300)
    X = rng.normal(size=(300, 4))
    y = (rng.random(300) < np.clip(time / 300 + 0.6 * (X[:, 1] > 0) - 0.3, 0.05, 0.95)).astype(int)
    X[:, 0] += time / 60
    options = {"n_permutations": 200, "random_state": 0}
    free = permutation_scores(FisherScore(), X, y, **options)
    assert (free.pvalues[:2] <= 0.01).all()
    among = permutation_scores(FisherScore(), X, y, times=time, **options)
    assert among.pvalues[0] > 0.05 and among.pvalues[1] <= 0.01
    blocks = permutation_scores(FisherScore(), X, y, groups=time // 15, **options)
    np.testing.assert_array_equal(among.pvalues, blocks.pvalues)
    with pytest.raises(ValueError, match="groups= and times= cannot be combined"):
        permutation_scores(FisherScore(), X, y, groups=time, times=time)


def test_arrangements_within_groups_only():
    X, y = table(8)
    groups = np.repeat([0, 1], 4)
    got = permutation_scores(mean_difference, X, y, groups=groups)
    assert got.exact and got.n_permutations == 6 * 6 - 1
    numbers = permutation_scores(PearsonScore(), X[:5], X[:5, 2], n_permutations=200)
    assert numbers.exact and numbers.n_permutations == 119


def test_copies_of_a_feature_are_corrected_for_once():
    X, y = table(40)
    alone = permutation_scores(AUCScore(), X, y, n_permutations=200, random_state=0)
    copies = permutation_scores(
        AUCScore(), np.repeat(X, 5, axis=1), y, n_permutations=200, random_state=0
    )
    np.testing.assert_allclose(copies.maxt[::5], alone.maxt)
    assert (copies.adjusted("holm")[::5] > alone.adjusted("holm"))[2:].any()


def test_workers_and_kinds_of_score_give_the_same():
    X, y = table(40)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    one = permutation_scores(WelchT(), frame, y, n_permutations=60, random_state=1)
    two = permutation_scores(WelchT(), X, y, n_permutations=60, random_state=1, n_jobs=2)
    np.testing.assert_array_equal(one.maxt, two.maxt)
    np.testing.assert_array_equal(one.fdr, two.fdr)
    assert one.to_frame()["name"][0] in "ab" and two.names[0] == "x0"
    piped = make_pipeline(StandardScaler(), SelectKBest(k=3))
    with_pipe = permutation_scores(piped, X, y, n_permutations=60, random_state=1)
    f = permutation_scores(SelectKBest(k=3), X, y, n_permutations=60, random_state=1)
    np.testing.assert_array_equal(with_pipe.maxt, f.maxt)


def test_noise_is_selected_at_the_promised_rate():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    wrong = 0
    for _ in range(100):
        X = rng.normal(size=(30, 10)) + rng.normal(size=(30, 1))
        wrong += (
            permutation_scores(mean_difference, X, y, n_permutations=49, random_state=0)
            .support(0.1)
            .any()
        )
    assert wrong <= 19  # 10 are expected; 0.3 % of such series exceed it


def test_ctrl_c_keeps_the_shuffles_made():
    X, y = table(40)
    calls = []

    def stopping(X, labels):
        calls.append(0)
        if len(calls) > 60:
            raise KeyboardInterrupt
        return mean_difference(X, labels)

    with pytest.warns(RuntimeWarning, match="stopped after 50 of 200 permutations"):
        got = permutation_scores(stopping, X, y, n_permutations=200)
    assert got.n_permutations == 50


def test_shown_drawn_and_saved(tmp_path):
    X, y = table(40)
    got = permutation_scores(FisherScore(), X, y, n_permutations=30, random_state=0)
    assert (
        repr(got) == "<PermutedScores: 6 features, 30 permutations (shuffles), 2 with maxT ≤ 0.05>"
    )
    assert got.to_dict()["n_permutations"] == 30
    assert len(got.plot().lines) == 4
    assert got.support(0.1, "fdr_permutation").sum() >= 2
    tamiz.save(got, tmp_path / "scores.tamiz")
    np.testing.assert_array_equal(tamiz.load(tmp_path / "scores.tamiz").maxt, got.maxt)


@pytest.mark.parametrize(
    ("score", "y", "error", "sentence"),
    [
        (lambda X, y: np.full(6, np.nan), None, ValueError, "score holds NaN"),
        (lambda X, y: [1.0], None, ValueError, r"score has shape \(1,\)"),
        (FisherScore, None, TypeError, "is a class; pass an object of it"),
        ("fisher", None, TypeError, "score='fisher' is no estimator"),
        (StandardScaler(), None, TypeError, "has no get_support"),
        (FisherScore(), np.zeros(12), ValueError, "nothing to shuffle"),
    ],
)
def test_bad_input(score, y, error, sentence):
    X, labels = table()
    with pytest.raises(error, match=sentence):
        permutation_scores(score, X, labels if y is None else y)


def test_weights_stay_with_the_rows_while_labels_are_shuffled():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    X[:, 0] += y
    weight = rng.integers(0, 3, size=40)
    options = {"n_permutations": 30, "random_state": 0}
    found = permutation_scores(WelchT(), X, y, sample_weight=weight, **options)
    np.testing.assert_array_equal(found.scores, WelchT().fit(X, y, sample_weight=weight).scores_)
    repeated = WelchT().fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(found.scores, repeated.scores_)
    kept = weight > 0
    seen = []

    def score(X, y, sample_weight):
        seen.append((y, sample_weight))
        return WelchT().fit(X, y, sample_weight=sample_weight).scores_

    alone = permutation_scores(score, X[kept], y[kept], sample_weight=weight[kept], **options)
    np.testing.assert_array_equal(found.pvalues, alone.pvalues)
    assert len({labels.tobytes() for labels, _ in seen}) > 25
    assert all((own == weight[kept]).all() for _, own in seen)
    plain = permutation_scores(WelchT(), X, y, **options)
    assert (plain.scores != found.scores).any()
    with pytest.raises(ValueError, match="SelectKBest takes no sample weights"):
        permutation_scores(SelectKBest(k=2), X, y, sample_weight=weight)


@pytest.mark.parametrize("by", ["groups", "times"])
def test_samples_of_weight_zero_leave_their_groups_and_times(by):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, size=80)
    along = {"groups": np.arange(80) % 4, "times": np.arange(80)}[by]
    weight = (np.arange(80) % 5 > 0) * 1.0
    kept = weight > 0
    options = {"n_permutations": 20, "random_state": 0}
    got = permutation_scores(WelchT(), X, y, sample_weight=weight, **{by: along}, **options)
    want = permutation_scores(WelchT(), X[kept], y[kept], **{by: along[kept]}, **options)
    np.testing.assert_array_equal(got.pvalues, want.pvalues)
