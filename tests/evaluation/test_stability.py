"""Agreement of selections: published numbers, oracles by pairs, degenerate cases, resampling."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamiz import Selection
from tamiz.evaluation import Stability, stability, stability_of
from tamiz.filters import SignalToNoise
from tamiz.search.resampling import Bootstrap, Folds, ResampledTable, Subsample
from tests.naive import statistics as naive

#: The ten random selections of four of ten features that the authors' demonstration prints.
PRINTED = np.array(
    [
        [1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 1, 1, 1, 0, 0],
        [0, 1, 0, 0, 0, 1, 1, 1, 0, 0],
        [1, 1, 0, 0, 1, 0, 1, 0, 0, 0],
        [0, 1, 1, 0, 1, 1, 0, 0, 0, 0],
        [0, 1, 1, 1, 0, 0, 1, 0, 0, 0],
        [1, 0, 0, 1, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 1, 0, 1, 1, 1, 0, 0],
        [0, 0, 1, 1, 1, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0, 0, 1, 1, 1],
    ],
    dtype=bool,
)


def sets_of(masks):
    return [set(np.flatnonzero(mask).tolist()) for mask in masks]


def noisy(n=60, p=8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n // 2)
    X = rng.normal(size=(n, p))
    X[:, :2] += 1.5 * y[:, None]
    return X, y


def test_published_numbers():
    # J. Mach. Learn. Res. 18 (2018), the authors' demonstration: 1.0, -0.5, -0.037037037037 with
    # variance 0.00516666666667
    assert stability(np.array([[1, 1, 0]] * 3)).nogueira == 1.0
    assert stability(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])).nogueira == -0.5
    found = stability(PRINTED)
    assert found.nogueira == pytest.approx(-0.037037037037, abs=1e-11)
    assert found.variance == pytest.approx(0.00516666666667, abs=1e-13)
    low, high = found.interval
    assert (low + high) / 2 == pytest.approx(found.nogueira)
    assert high - low == pytest.approx(2 * 1.959963985 * math.sqrt(found.variance))


@settings(max_examples=60)
@given(st.integers(2, 12), st.integers(2, 9), st.integers(0, 10**6))
def test_indices_are_those_of_all_pairs(M, d, seed):
    rng = np.random.default_rng(seed)
    masks = rng.random((M, d)) < rng.uniform(0.2, 0.8)
    found = stability(masks)
    sets = sets_of(masks)
    assert found.jaccard == pytest.approx(naive.jaccard(sets))
    sizes = {len(chosen) for chosen in sets}
    if sizes in ({0}, {d}):
        assert math.isnan(found.nogueira) and found.reason
        return
    assert found.nogueira == pytest.approx(naive.nogueira(sets, d))
    if len(sizes) == 1:
        assert found.kuncheva == pytest.approx(naive.kuncheva(sets, d))
        assert found.nogueira == pytest.approx(found.kuncheva)
    else:
        assert found.kuncheva is None


@pytest.mark.parametrize("kind", ["free", "five", "nested"])
def test_variance_is_that_of_leaving_one_out(kind):
    """Both are consistent and differ by terms in 1/M: 5 % for 200 nested ones, 1 % for 800."""
    rng = np.random.default_rng(4)
    p = np.linspace(0.05, 0.9, 20)
    masks = rng.random((200, 20)) < p
    if kind == "five":  # the largest of noisy weights
        order = np.argsort(-rng.normal(p, 0.3, size=(200, 20)), axis=1)[:, :5]
        masks = np.zeros((200, 20), dtype=bool)
        np.put_along_axis(masks, order, True, axis=1)
    if kind == "nested":  # the first few of one order, now two and now all but one
        masks = np.arange(20) < rng.choice([2, 6, 19], p=[0.7, 0.2, 0.1], size=(200, 1))
    expected = naive.nogueira_jackknife(sets_of(masks), 20)
    assert stability(masks).variance == pytest.approx(expected, rel=0.075)


def test_invariant_under_order_and_names():
    rng = np.random.default_rng(1)
    base = stability(PRINTED)
    turned = stability(PRINTED[rng.permutation(10)][:, rng.permutation(10)])
    assert turned.nogueira == pytest.approx(base.nogueira)
    assert turned.variance == pytest.approx(base.variance)
    # what is left out is as stable as what is taken, where the index is symmetric
    assert stability(~PRINTED).nogueira == pytest.approx(base.nogueira)


def test_all_forms_of_selections_are_the_same():
    names = [f"gene{j}" for j in range(10)]
    sets = [np.flatnonzero(mask) for mask in PRINTED]
    selections = [
        Selection(order=np.argsort(~mask, kind="stable"), support=mask, names=names)
        for mask in PRINTED
    ]
    frame = pd.DataFrame(PRINTED, columns=names)
    forms = [
        stability(PRINTED.astype(int)),
        stability(PRINTED.tolist()),
        stability(list(PRINTED)),
        stability([pd.Series(mask) for mask in PRINTED]),
        stability(sparse.csr_matrix(PRINTED.astype(float))),
        stability(np.array(sets), n_features=10),
        stability([set(s.tolist()) for s in sets], n_features=10),
        stability(PRINTED.astype(int), n_features=10),
        stability(selections),
        stability(frame),
        stability(pl.from_pandas(frame)),
        stability([[names[j] for j in s] for s in sets], names=names),
        stability([[names[j] for j in s] for s in sets], n_features=10),
    ]
    for found in forms:
        assert found.nogueira == pytest.approx(-1 / 27)
        assert sorted(found.frequency) == pytest.approx(sorted(PRINTED.mean(axis=0)))
    for found in forms[8:12]:
        assert found.names == names
        np.testing.assert_array_equal(found.masks, PRINTED)


def test_fitted_selectors_and_pipelines():
    X, y = noisy()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    fitted = [
        make_pipeline(StandardScaler().set_output(transform="pandas"), SelectKBest(k=3)).fit(
            frame[part::2], y[part::2]
        )
        for part in (0, 1)
    ]
    found = stability(fitted)
    assert found.names == list("abcdefgh") and found.sizes.tolist() == [3, 3]
    own = [SignalToNoise(3).fit(frame[part::2], y[part::2]) for part in (0, 1)]
    found = stability(own)
    np.testing.assert_array_equal(found.masks, [s.support_ for s in own])
    np.testing.assert_array_equal(stability([s.selection_ for s in own]).masks, found.masks)


@pytest.mark.parametrize(
    ("masks", "word"),
    [
        (np.ones((1, 4), dtype=bool), "One selection"),
        (np.zeros((3, 4), dtype=bool), "no feature"),
        (np.ones((3, 4), dtype=bool), "every feature"),
    ],
)
def test_undefined_is_said_in_a_sentence(masks, word):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = stability(masks)
        assert math.isnan(found.nogueira) and word in found.reason
        assert word in str(found) and "undefined" in repr(found)
        assert json.loads(json.dumps(found.to_dict()))["nogueira"] is None
        test = found.compare(stability(PRINTED))
        assert math.isnan(test.pvalue)


@pytest.mark.parametrize(
    ("selections", "options", "error", "word"),
    [
        ([], {}, ValueError, "empty"),
        ("abc", {}, TypeError, "boolean array"),
        (3, {}, TypeError, "boolean array"),
        ([[0, 1], [1, 2]], {}, ValueError, "n_features"),
        ([[0, 5]], {"n_features": 4}, ValueError, "position from 0 to 3"),
        ([[0, 0]], {"n_features": 4}, ValueError, "more than once"),
        ([["a", 1]], {"n_features": 4}, ValueError, "mixes"),
        ([["a"], ["z"]], {"names": ["a", "b"]}, ValueError, "'z'"),
        ([["a", "b"], ["c"]], {"n_features": 2}, ValueError, "more than n_features"),
        (np.array([[0.5, 1.0]]), {}, ValueError, "True or False"),
        (np.array([[True, False]]), {"names": ["a"]}, ValueError, "1 names for 2"),
        ([[True, False], [True]], {}, ValueError, "same table"),
        ([[0]], {"n_features": 0}, ValueError, "n_features"),
        (np.ones((2, 2), bool), {"confidence": 95}, ValueError, "0.95"),
        (np.ones((2, 2), bool), {"names": ["a", "a"]}, ValueError, "more than once"),
        ([PCA()], {}, TypeError, "boolean array"),
        (PRINTED, {"n_features": 7}, ValueError, "about 10 features, but n_features is 7"),
        (list(PRINTED), {"n_features": 7}, ValueError, "n_features is 7"),
        (pd.DataFrame(PRINTED), {"n_features": 7}, ValueError, "n_features is 7"),
        (pd.DataFrame(PRINTED), {"names": ["a", "b"]}, ValueError, "2 names for 10"),
        ([[0], [1]], {"names": "abc"}, ValueError, "must be a list"),
        ([[1, 0, 0], [1, 1, 0]], {"n_features": 3}, ValueError, "with True and False"),
    ],
)
def test_errors_are_sentences(selections, options, error, word):
    with pytest.raises(error, match=word):
        stability(selections, **options)


def test_comparison_of_two_methods():
    rng = np.random.default_rng(2)
    steady = rng.random((60, 30)) < np.where(np.arange(30) < 8, 0.95, 0.02)
    loose = rng.random((60, 30)) < np.where(np.arange(30) < 8, 0.5, 0.15)
    a, b = stability(steady), stability(loose)
    test = a.compare(b)
    z = (a.nogueira - b.nogueira) / math.sqrt(a.variance + b.variance)
    assert test.statistic == pytest.approx(z) and test.pvalue < 1e-6
    assert b.compare(a).pvalue == pytest.approx(test.pvalue)
    assert test.interval[0] < test.difference < test.interval[1]
    assert a.compare(a).pvalue == 1.0
    assert a.above(0.4).pvalue < 1e-6 < 0.5 < a.above(0.99).pvalue
    same = stability(np.array([[1, 0], [1, 0]], dtype=bool))
    assert same.compare(same).pvalue == 1.0
    with pytest.raises(TypeError, match="Stability"):
        a.compare(0.5)
    for threshold in ("high", math.nan):
        with pytest.raises(ValueError, match="threshold="):
            a.above(threshold)


def test_test_of_equal_methods_keeps_its_level():
    """200 pairs from the same population: a level of 5 % rejects at most 22 (binomial 99.9 %)."""
    rng = np.random.default_rng(3)
    p = np.linspace(0.05, 0.95, 15)
    rejected = sum(
        stability(rng.random((50, 15)) < p).compare(stability(rng.random((50, 15)) < p)).pvalue
        <= 0.05
        for _ in range(200)
    )
    assert 1 <= rejected <= 22


def test_result_tables_and_text():
    found = stability(PRINTED)
    frame = found.to_frame()
    assert frame["frequency"].is_monotonic_decreasing and len(frame) == 10
    assert ((frame["low"] <= frame["frequency"]) & (frame["frequency"] <= frame["high"])).all()
    assert "\n" not in repr(found) and "Kuncheva" in str(found)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["features"][0]["name"] == "x3" and plain["n_selections"] == 10
    assert isinstance(found, Stability)


def test_pictures():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    found = stability(PRINTED)
    ax = found.plot(top=4)
    assert len(ax.patches) == 4
    assert [t.get_text() for t in ax.get_yticklabels()] == ["x6", "x5", "x1", "x3"]
    ax = found.plot_selections()
    cells = ax.images[0].get_array()
    assert cells.shape == (10, 10) and cells.sum() == PRINTED.sum()
    assert stability(np.zeros((2, 3), dtype=bool)).plot() is not None
    plt.close("all")


# ------------------------------------------------------------------ resampling


@pytest.mark.parametrize("sampling", [Bootstrap(), Subsample(0.5), Folds(5)])
def test_classes_keep_their_proportions(sampling):
    y = np.repeat(["a", "b"], [30, 10])
    table = ResampledTable(np.zeros((40, 2)), y)
    rows = sampling.draw(table, 12, np.random.default_rng(0))
    assert len(rows) == 12
    expected = {Bootstrap: (30, 10), Subsample: (15, 5), Folds: (24, 8)}[type(sampling)]
    for part in rows:
        assert (np.sum(y[part] == "a"), np.sum(y[part] == "b")) == expected
        if not isinstance(sampling, Bootstrap):
            assert len(np.unique(part)) == len(part)
    if isinstance(sampling, Folds):  # every sample is left out once in a round
        left = np.concatenate([np.setdiff1d(np.arange(40), part) for part in rows[:5]])
        np.testing.assert_array_equal(np.sort(left), np.arange(40))


@pytest.mark.parametrize("sample", ["bootstrap", "subsample", "folds"])
def test_same_answer_whatever_the_workers(sample):
    X, y = noisy()
    a = stability_of(SignalToNoise(4), X, y, n_resamples=12, sample=sample, random_state=3)
    b = stability_of(
        SignalToNoise(4), X, y, n_resamples=12, sample=sample, random_state=3, n_jobs=2
    )
    np.testing.assert_array_equal(a.masks, b.masks)
    c = stability_of(SignalToNoise(4), X, y, n_resamples=12, sample=sample, random_state=4)
    assert not np.array_equal(a.masks, c.masks)
    assert a.n_selections == 12 and a.notes["sample"] == sample
    assert a.frequency[:2].tolist() == [1.0, 1.0] and a.sizes.tolist() == [4] * 12


def test_signal_is_steadier_than_noise():
    X, y = noisy()
    signal = stability_of(SignalToNoise(2), X, y, n_resamples=40, random_state=0)
    rng = np.random.default_rng(5)
    noise = stability_of(
        SignalToNoise(2), X, rng.permutation(y), n_resamples=40, sample="subsample", random_state=0
    )
    assert signal.compare(noise).pvalue < 1e-3 and signal.nogueira > 0.8 > noise.nogueira


def test_tables_of_every_kind_and_peers():
    X, y = noisy()
    names = list("abcdefgh")
    expected = stability_of(SelectKBest(k=2), X, y, n_resamples=6, random_state=0)
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        found = stability_of(SelectKBest(k=2), table, y, n_resamples=6, random_state=0)
        np.testing.assert_array_equal(found.masks, expected.masks)
        assert found.names == names
    found = stability_of(SelectKBest(k=2), sparse.csr_matrix(X), y, n_resamples=6, random_state=0)
    np.testing.assert_array_equal(found.masks, expected.masks)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"sample": "jackknife"}, "sample='jackknife'"),
        ({"sample": "subsample", "fraction": 1.5}, "fraction=1.5"),
        ({"sample": "folds", "n_folds": 1}, "n_folds=1"),
        ({"sample": "folds", "n_folds": 100}, "there are 60"),
        ({"n_resamples": 1}, "n_resamples=1"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"confidence": 2}, "confidence=2"),
    ],
)
def test_wrong_options_of_resampling(options, word):
    X, y = noisy()
    with pytest.raises(ValueError, match=word):
        stability_of(SignalToNoise(2), X, y, **options)


def test_pipelines_that_change_the_features_are_refused():
    X, y = noisy()
    with pytest.raises(ValueError, match="earlier step"):
        stability_of(make_pipeline(PCA(3), SelectKBest(k=2)), X, y, n_resamples=3)
    with pytest.raises(TypeError, match="get_support"):
        stability_of(StandardScaler(), X, y, n_resamples=3)
    with pytest.raises(TypeError, match="SignalToNoise is a class"):
        stability_of(SignalToNoise, X, y)
    with pytest.raises(TypeError, match="selector=3"):
        stability_of(3, X, y)
    with pytest.raises(TypeError, match="n_jobs='two'"):
        stability_of(SignalToNoise(2), X, y, n_jobs="two")
    with pytest.raises(ValueError, match="59 entries"):
        stability_of(SignalToNoise(2), X, y[:-1], n_resamples=3)


class Interrupted(SelectKBest):
    """Is stopped with Ctrl-C in its fourth fit."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        if type(self).fits == 4:
            raise KeyboardInterrupt
        return super().fit(X, y)


class Patient(SelectKBest):
    """Keeps what it has at Ctrl-C in its fourth fit, as the long fits of this package do."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        super().fit(X, y)
        self.status_ = "interrupted" if type(self).fits == 4 else "converged"
        return self


def test_an_interruption_keeps_what_was_computed():
    X, y = noisy()
    Interrupted.fits = 0
    with pytest.warns(RuntimeWarning, match="3 of 10"):
        found = stability_of(Interrupted(k=2), X, y, n_resamples=10, random_state=0)
    whole = stability_of(SelectKBest(k=2), X, y, n_resamples=10, random_state=0)
    np.testing.assert_array_equal(found.masks, whole.masks[:3])
    assert found.notes["interrupted"]
    for selector in (Patient(k=2), make_pipeline(StandardScaler(), Patient(k=2))):
        Patient.fits = 0
        with pytest.warns(RuntimeWarning, match="3 of 10"):
            found = stability_of(selector, X, y, n_resamples=10, random_state=0)
        np.testing.assert_array_equal(found.masks, whole.masks[:3])


class Noting(SignalToNoise):
    """Notes the weights that come with each sample."""

    seen: list = []

    def fit(self, X, y, sample_weight=None):
        self.seen.append((np.asarray(X)[:, 0], sample_weight))
        return super().fit(X, y, sample_weight=sample_weight)


@pytest.mark.parametrize("by", ["groups", "times"])
@pytest.mark.parametrize("sample", ["bootstrap", "subsample", "folds"])
def test_samples_of_weight_zero_leave_their_groups_and_times(by, sample):
    X, y = noisy(200)
    rng = np.random.default_rng(0)
    along = {"groups": np.arange(len(y)) % 40, "times": rng.permutation(len(y))}[by]
    weight = (rng.random(len(y)) < 0.7) * (along > along.max() / 3)
    kept = weight > 0
    options = {"n_resamples": 8, "sample": sample, "random_state": 0}
    got = stability_of(SignalToNoise(4), X, y, sample_weight=weight, **{by: along}, **options)
    want = stability_of(SignalToNoise(4), X[kept], y[kept], **{by: along[kept]}, **options)
    np.testing.assert_array_equal(got.masks, want.masks)


def test_weights_go_with_the_samples_that_are_drawn():
    X, y = noisy()
    weight = np.arange(len(y)) % 4
    of = dict(zip(X[:, 0].tolist(), weight.tolist(), strict=True))
    for selector in (Noting(2), make_pipeline(Noting(2), StandardScaler())):
        Noting.seen.clear()
        options = {"n_resamples": 3, "sample": "folds", "n_folds": 3, "random_state": 0}
        found = stability_of(selector, X, y, sample_weight=weight, **options)
        assert len(Noting.seen) == 3
        for first, weights in Noting.seen:
            assert [of[value] for value in first.tolist()] == weights.tolist()
            assert weights.all()  # those of weight zero are in no resample
        kept = weight > 0
        alone = stability_of(
            SignalToNoise(2), X[kept], y[kept], sample_weight=weight[kept], **options
        )
        np.testing.assert_array_equal(found.masks, alone.masks)
    even = stability_of(SignalToNoise(2), X, y, sample_weight=np.full(len(y), 2.0), **options)
    plain = stability_of(SignalToNoise(2), X, y, **options)
    np.testing.assert_array_equal(even.masks, plain.masks)
    with pytest.raises(ValueError, match="SelectKBest takes no sample weights"):
        stability_of(SelectKBest(k=2), X, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = SignalToNoise(2).set_fit_request(sample_weight=True)
        routed = stability_of(asking, X, y, sample_weight=weight, **options)
        np.testing.assert_array_equal(routed.masks, found.masks)
        with pytest.raises(ValueError, match="sample_weight"):
            stability_of(SignalToNoise(2), X, y, sample_weight=weight, **options)
