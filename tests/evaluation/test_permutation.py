"""The permutation test: level on noise, power on signal, the whole pipeline, and its manners."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GroupKFold,
    StratifiedKFold,
    cross_val_score,
    permutation_test_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from tamiz.evaluation import permutation_test
from tamiz.filters import SignalToNoise
from tamiz.svm import SVC


class NearestMean(ClassifierMixin, BaseEstimator):
    """A classifier that costs nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        distance = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distance.argmin(axis=1)]


class Chooser(NearestMean):
    """Both steps in one, without the ceremony of a pipeline: thousands of fits in a second."""

    def fit(self, X, y):
        self.choice_ = TwoBest().fit(X, y)
        return super().fit(self.choice_.transform(X), y)

    def score(self, X, y):
        return float(np.mean(self.predict(self.choice_.transform(X)) == y))


class TwoBest(BaseEstimator):
    """Keeps the two features whose class means differ most: enough to find signal in noise."""

    def fit(self, X, y):
        gap = np.abs(X[y == 1].mean(axis=0) - X[y != 1].mean(axis=0))
        self.kept_ = np.argsort(-gap)[:2]
        return self

    def transform(self, X):
        return X[:, self.kept_]


def make(seed, n=24, p=30, signal=0.0):
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1], n // 2)
    X = rng.normal(size=(n, p))
    X[:, 0] += signal * y
    return X, y


def selecting():
    return make_pipeline(TwoBest(), NearestMean())


def test_noise_is_rejected_no_more_often_than_it_should():
    """40 problems of noise at 5 %: at most 7 rejected (binomial, 99.9 %), selection included."""
    bound = int(stats.binom.ppf(0.999, 40, 0.05))
    assert bound == 7
    rejected = 0
    for seed in range(40):
        X, y = make(seed)
        half = np.arange(24) < 12
        cv = [
            (np.flatnonzero(half), np.flatnonzero(~half)),
            (np.flatnonzero(~half), np.flatnonzero(half)),
        ]
        test = permutation_test(Chooser(), X, y, cv=cv, n_permutations=19, random_state=seed)
        rejected += test.pvalue <= 0.05
    assert rejected <= bound


def test_folds_follow_the_shuffled_labels():
    """A machine that predicts the rarer class of its training part: folds without shares please it.

    With folds that keep the shares of every shuffle, no shuffle can beat the labels as they are.
    """

    class Contrary(NearestMean):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            self.rare_ = self.classes_[np.argmin(np.bincount(y))]
            return self

        def predict(self, X):
            return np.full(len(X), self.rare_)

    y = np.tile([0, 1, 1], 10)
    found = permutation_test(Contrary(), np.zeros((30, 1)), y, n_permutations=20, random_state=0)
    assert found.score == pytest.approx(1 / 3)
    np.testing.assert_allclose(found.permuted, found.score)
    assert found.pvalue == 1.0


def test_selecting_before_the_test_makes_signal_of_noise():
    X, y = make(0, p=300)
    kept = TwoBest().fit(X, y).transform(X)
    wrong = permutation_test(NearestMean(), kept, y, n_permutations=39, random_state=0)
    right = permutation_test(Chooser(), X, y, n_permutations=39, random_state=0)
    assert wrong.pvalue <= 0.05 < right.pvalue


def test_signal_is_found():
    X, y = make(0, n=40, signal=2.5)
    found = permutation_test(selecting(), X, y, cv=3, n_permutations=99, random_state=0)
    assert found.pvalue == 0.01 and found.n_as_high == 0 and found.score > 0.8
    assert abs(np.median(found.permuted) - 0.5) < 0.15
    low, high = found.interval
    assert low == 0.0 and high == pytest.approx(1 - 0.025 ** (1 / 99))  # the rule of three's kin


def test_score_and_distribution_are_those_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    cv = StratifiedKFold(3)
    found = permutation_test(GaussianNB(), X, y, cv=cv, n_permutations=60, random_state=1)
    assert found.score == cross_val_score(GaussianNB(), X, y, cv=cv).mean()
    _, peer, pvalue = permutation_test_score(
        GaussianNB(), X, y, cv=cv, n_permutations=60, random_state=1
    )
    assert found.pvalue == pvalue == 1 / 61
    assert stats.ks_2samp(found.permuted, peer).pvalue > 1e-3
    rng = np.random.default_rng(0)
    noise = permutation_test(
        GaussianNB(), rng.normal(size=X.shape), y, cv=cv, n_permutations=60, random_state=1
    )
    count = (noise.permuted >= noise.score).sum()
    assert noise.n_as_high == count and noise.pvalue == (1 + count) / 61
    expected = stats.binomtest(int(count), 60).proportion_ci(0.95)
    assert noise.interval == pytest.approx((expected.low, expected.high))


def test_other_scores_and_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    target = X[:, 0] + rng.normal(size=40)
    found = permutation_test(
        Ridge(), X, target, scoring="neg_mean_absolute_error", n_permutations=39, random_state=0
    )
    assert found.metric == "neg_mean_absolute_error" and found.score < 0
    assert found.pvalue == 1 / 40
    X, y = make(1, n=40, signal=2.0)
    assert (
        permutation_test(SVC(), X, y, scoring="roc_auc", n_permutations=9, random_state=0).pvalue
        <= 0.2
    )


def test_same_answer_for_a_seed_whatever_the_workers_and_tables():
    X, y = make(2, n=30, signal=1.0)
    pipeline = make_pipeline(SignalToNoise(3), SVC(kernel="linear"))
    options = {"n_permutations": 8, "cv": 3, "random_state": 5}
    one = permutation_test(pipeline, X, y, **options)
    for table, jobs in (
        (X, 2),
        (pd.DataFrame(X, columns=[f"g{j}" for j in range(30)]), None),
    ):
        again = permutation_test(pipeline, table, y, n_jobs=jobs, **options)
        np.testing.assert_array_equal(again.permuted, one.permuted)
        assert again.score == one.score
    longer = permutation_test(pipeline, X, y, **{**options, "n_permutations": 10})
    np.testing.assert_array_equal(longer.permuted[:8], one.permuted)
    thin = permutation_test(SVC(kernel="linear"), sparse.csr_matrix(X), y, **options)
    thick = permutation_test(SVC(kernel="linear"), X, y, **options)
    np.testing.assert_allclose(thin.permuted, thick.permuted)
    pairs = permutation_test(SVC(kernel="precomputed"), X @ X.T, y, **options)
    np.testing.assert_allclose(pairs.permuted, thick.permuted)


def test_a_number_of_folds_keeps_groups_together():
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(12), 4))
    y = rng.integers(0, 2, 48)
    X = np.column_stack([groups, rng.normal(size=48)])
    seen = []

    class Watching(NearestMean):
        def fit(self, X, y):
            seen.append(set(X[:, 0]))
            return super().fit(X, y)

    permutation_test(Watching(), X, y, groups=groups, cv=4, n_permutations=2, random_state=0)
    assert len(seen) == 12 and all(len(learned) < 12 for learned in seen)
    with pytest.raises(ValueError, match=r"need 20 groups; there are 12.*KFold\(20\)"):
        permutation_test(NearestMean(), X, y, groups=groups, cv=20, n_permutations=2)


def test_groups_keep_their_labels():
    """Where a group explains the labels, shuffling within groups finds nothing."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 12)
    y = (rng.random(48) < np.array([0.1, 0.9, 0.1, 0.9])[groups]).astype(int)
    X = np.column_stack([groups % 2 + 0.1 * rng.normal(size=48), rng.normal(size=48)])
    options = {"n_permutations": 39, "random_state": 0}
    warnings.simplefilter("error")  # groups go to splitters that know them only
    free = permutation_test(NearestMean(), X, y, **options)
    within = permutation_test(NearestMean(), X, y, groups=groups, cv=StratifiedKFold(5), **options)
    assert free.pvalue == 1 / 40 < 0.1 < within.pvalue
    apart = permutation_test(NearestMean(), X, y, groups=groups, cv=GroupKFold(4), **options)
    assert apart.notes["n_splits"] == 4
    with pytest.raises(ValueError, match="changes nothing"):
        permutation_test(NearestMean(), X, y, groups=y, **options)
    with pytest.raises(ValueError, match=r"groups has .* entries"):
        permutation_test(NearestMean(), X, y, groups=groups[:5], **options)


class WeightedMean(NearestMean):
    """Means by weights."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        w = np.ones(len(y)) if sample_weight is None else sample_weight
        self.means_ = np.array([np.average(X[y == k], 0, w[y == k]) for k in self.classes_])
        return self


@pytest.mark.parametrize("wrapped", [False, True])
def test_weights_stay_with_the_rows_in_fits_and_scores(wrapped):
    X, y = make(2, p=3, signal=1.0)
    weight = np.random.default_rng(5).uniform(0.1, 3.0, len(y))
    folds = [(np.arange(8, 24), np.arange(8)), (np.arange(16), np.arange(16, 24))]
    machine = make_pipeline(WeightedMean()) if wrapped else WeightedMean()
    found = permutation_test(
        machine, X, y, cv=folds, n_permutations=3, sample_weight=weight, random_state=0
    )

    def score(labels):
        scores = []
        for train, test in folds:
            fitted = WeightedMean().fit(X[train], labels[train], weight[train])
            right = fitted.predict(X[test]) == labels[test]
            scores.append(np.average(right, weights=weight[test]))
        return np.mean(scores)

    assert found.score == pytest.approx(score(y), rel=1e-12)
    plain = permutation_test(machine, X, y, cv=folds, n_permutations=3, random_state=0)
    assert found.score != plain.score
    assert not np.array_equal(found.permuted, plain.permuted)


def test_weights_that_nobody_takes_are_refused():
    X, y = make(0)
    with pytest.raises(ValueError, match="NearestMean takes no sample weights"):
        permutation_test(NearestMean(), X, y, n_permutations=2, sample_weight=np.ones(24))


def test_a_journal_of_other_weights_is_refused(tmp_path):
    X, y = make(0)
    path = tmp_path / "test.journal"
    given = {"n_permutations": 2, "random_state": 0, "checkpoint": path}
    permutation_test(WeightedMean(), X, y, sample_weight=np.ones(24), **given)
    weight = np.linspace(1, 2, 24)
    with pytest.raises(ValueError, match="the data are not the same"):
        permutation_test(WeightedMean(), X, y, sample_weight=weight, resume=True, **given)


def test_early_stop():
    options = {"n_permutations": 400, "early_stop": 0.05, "random_state": 0}
    X, y = make(5)
    noise = permutation_test(Chooser(), X, y, cv=2, **options)
    assert noise.n_permutations < 100 and "above 0.05" in noise.stopped
    X, y = make(0, n=40, signal=3.0)
    signal = permutation_test(Chooser(), X, y, cv=2, **options)
    assert 100 < signal.n_permutations < 200 and "below 0.05" in signal.stopped
    assert signal.stopped in str(signal)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with parallel_config(backend="threading"):  # processes take seconds to start
            again = permutation_test(Chooser(), X, y, cv=2, n_jobs=2, **options)
    assert not told  # nothing about the jobs that are no longer needed
    np.testing.assert_array_equal(again.permuted, signal.permuted)


class Interrupted(NearestMean):
    """Is stopped with Ctrl-C in its ninth fit."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        if type(self).fits == 9:
            raise KeyboardInterrupt
        return super().fit(X, y)


class Patient(NearestMean):
    """Keeps what it has at Ctrl-C in its ninth fit, as the long fits of this package do."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.status_ = "interrupted" if type(self).fits == 9 else "converged"
        return super().fit(X, y)


def test_an_interruption_keeps_what_was_computed():
    X, y = make(0)
    Interrupted.fits = 0
    with pytest.warns(RuntimeWarning, match="after 3 of 20"):
        found = permutation_test(Interrupted(), X, y, cv=2, n_permutations=20, random_state=0)
    whole = permutation_test(NearestMean(), X, y, cv=2, n_permutations=20, random_state=0)
    np.testing.assert_array_equal(found.permuted, whole.permuted[:3])
    Patient.fits = 0
    with pytest.warns(RuntimeWarning, match="after 3 of 20"):
        found = permutation_test(Patient(), X, y, cv=2, n_permutations=20, random_state=0)
    np.testing.assert_array_equal(found.permuted, whole.permuted[:3])
    Interrupted.fits = 7  # in the labels as they are: nothing to keep
    with pytest.raises(KeyboardInterrupt):
        permutation_test(Interrupted(), X, y, cv=2, n_permutations=20, random_state=0)


def test_a_journal_is_taken_up(tmp_path):
    X, y = make(0)
    options = {"cv": 2, "random_state": 0}
    whole = permutation_test(NearestMean(), X, y, n_permutations=12, **options)
    options["checkpoint"] = tmp_path / "run"
    Interrupted.fits = 0
    with pytest.warns(RuntimeWarning, match="after 3 of 12"):
        permutation_test(Interrupted(), X, y, n_permutations=12, **options)
    with pytest.raises(FileExistsError, match="resume=True"):
        permutation_test(Interrupted(), X, y, n_permutations=12, **options)
    Interrupted.fits = 100
    again = permutation_test(Interrupted(), X, y, n_permutations=12, resume=True, **options)
    assert Interrupted.fits == 100 + 2 * 9  # of twelve, three were kept
    np.testing.assert_array_equal(again.permuted, whole.permuted)
    assert again.score == whole.score
    more = permutation_test(Interrupted(), X, y, n_permutations=15, resume=True, **options)
    np.testing.assert_array_equal(more.permuted[:12], whole.permuted)
    fewer = permutation_test(Interrupted(), X, y, n_permutations=5, resume=True, **options)
    np.testing.assert_array_equal(fewer.permuted, whole.permuted[:5])
    with pytest.raises(ValueError, match="data"):
        permutation_test(Interrupted(), X + 1, y, n_permutations=12, resume=True, **options)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"n_permutations": 0}, "n_permutations=0"),
        ({"n_permutations": 2.5}, "n_permutations=2.5"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"cv": 1}, "cv=1"),
        ({"cv": "many"}, "cv='many'"),
        ({"scoring": ["accuracy", "f1"]}, "several metrics"),
        ({"scoring": ["accuracy"]}, "several metrics"),
        ({"early_stop": 5}, "early_stop=5"),
        ({"confidence": 0}, "confidence=0"),
        ({"y": None}, "y is None"),
        ({"y": np.zeros(24)}, "nothing to shuffle"),
        ({"y": np.zeros(3)}, "3 entries"),
        ({"X": np.zeros(24)}, "two axes"),
        ({"X": [[1, 2], [3]]}, "differ in length"),
        ({"resume": True}, "needs a file"),
        ({"scoring": "acuracy"}, "scoring='acuracy'"),
        ({"n_jobs": 1.5}, "n_jobs=1.5"),
        ({"estimator": NearestMean}, "is a class"),
        ({"estimator": 3}, "estimator=3"),
    ],
)
def test_errors_are_sentences(change, word):
    X, y = make(0)
    given = {"X": X, "y": y, "n_permutations": 3, **change}
    machine = given.pop("estimator", NearestMean())
    with pytest.raises((ValueError, TypeError), match=word):
        permutation_test(machine, given.pop("X"), given.pop("y"), **given)


def test_tables_text_and_picture():
    X, y = make(0, signal=2.0)
    found = permutation_test(selecting(), X, y, n_permutations=19, random_state=0)
    assert "\n" not in repr(found) and "p = " in str(found)
    assert len(found.to_frame()) == 19
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["n_permutations"] == 19 and plain["notes"]["n_splits"] == 5
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    ax = found.plot()
    assert sum(patch.get_height() for patch in ax.patches) == 19
    assert found.score in [line.get_xdata()[0] for line in ax.lines]
    plt.close("all")
