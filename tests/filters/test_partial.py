"""partial_fit: after the last batch, what fit gives on all rows."""

from __future__ import annotations

import copy
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tamiz
from tamiz.data import load
from tamiz.filters import (
    MRMR,
    ChiSquared,
    FisherScore,
    InformationGain,
    MaxRel,
    PearsonScore,
    SignalToNoise,
    SymmetricalUncertainty,
    WelchT,
)

MOMENTS = [FisherScore(), SignalToNoise(), WelchT(), PearsonScore(), ChiSquared(test="counts")]
COUNTING = [
    MaxRel(bins=None),
    MaxRel(bins=None, missing="ignore"),
    InformationGain(bins=None),
    SymmetricalUncertainty(bins=None),
    ChiSquared(bins=None),
    ChiSquared(bins=None, missing="ignore", rank_by="cramers_v"),
]
CUTS = [(0, 3, 40, 41, 500), (0, 250, 500)]


@pytest.fixture(scope="module")
def numbers():
    data = load("spambase")
    rows = np.random.default_rng(0).permutation(data.n_samples)[:500]
    return data.X[rows], data.y[rows]


@pytest.fixture(scope="module")
def discrete():
    """Levels with missing values, of which some come late; three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    X = rng.integers(0, 5, (500, 6)).astype(float)
    X[:, 1] = np.where(rng.random(500) < 0.5, y, X[:, 1])
    X[400:, 2] += 7
    X[rng.random((500, 6)) < 0.05] = np.nan
    X[:, 3], X[:, 5] = 2.0, np.nan
    X[:, 4] = np.where(rng.random(500) < 0.5, 0.5, 1.5)
    return X, y


def fed(selector, X, y, cut, **options):
    ours = clone(selector)
    for start, stop in pairwise(cut):
        ours.partial_fit(X[start:stop], y[start:stop], **options)
    return ours


def whole(selector, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(selector).fit(X, y)


@pytest.mark.parametrize("selector", MOMENTS, ids=repr)
@pytest.mark.parametrize("cut", CUTS)
def test_moments(selector, cut, numbers):
    X, y = numbers
    ours, all_ = fed(selector, X, y, cut, classes=[0, 1]), whole(selector, X, y)
    np.testing.assert_allclose(ours.scores_, all_.scores_, rtol=1e-10)
    np.testing.assert_array_equal(ours.order_, all_.order_)
    np.testing.assert_array_equal(ours.transform(X), all_.transform(X))
    assert ours.n_rows_ == 500 and ours.selection_.notes["n_rows"] == 500


@pytest.mark.parametrize("selector", COUNTING, ids=repr)
@pytest.mark.parametrize("cut", CUTS)
def test_counts_with_levels_that_come_late(selector, cut, discrete):
    X, y = discrete
    ours, all_ = fed(selector, X, y, cut, classes=[0, 1, 2]), whole(selector, X, y)
    if isinstance(selector, ChiSquared):
        np.testing.assert_allclose(ours.scores_, all_.scores_, rtol=1e-12)
        np.testing.assert_array_equal(ours.dof_, all_.dof_)
    else:
        np.testing.assert_array_equal(ours.scores_, all_.scores_)
    np.testing.assert_array_equal(ours.order_, all_.order_)


def test_words(data_dir):
    frame = pd.read_csv(data_dir / "german_credit.csv.gz")
    target = frame.columns[-1]
    X = frame.drop(columns=target).select_dtypes(exclude="number")
    y = frame[target].to_numpy()
    ours = MaxRel(5, bins=None)
    for start in range(0, len(y), 130):
        ours.partial_fit(X[start : start + 130], y[start : start + 130], classes=np.unique(y))
    all_ = whole(MaxRel(5, bins=None), X, y)
    np.testing.assert_array_equal(ours.scores_, all_.scores_)
    assert ours.transform(X).columns.tolist() == all_.transform(X).columns.tolist()
    with pytest.raises(ValueError, match="holds numbers, but held text"):
        ours.partial_fit(X.assign(**{X.columns[1]: 1.0}), y)


def test_numeric_target(numbers):
    X, _ = numbers
    y = X[:, 0] + np.random.default_rng(0).normal(size=500)
    ours, all_ = fed(PearsonScore(), X, y, CUTS[0]), whole(PearsonScore(), X, y)
    np.testing.assert_allclose(ours.correlations_, all_.correlations_, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(ours.pvalues_, all_.pvalues_, rtol=1e-7)
    with pytest.raises(ValueError, match="classes was given"):
        ours.partial_fit(X, y, classes=[0, 1])


def test_before_two_classes_have_come_nothing_is_selected(numbers):
    X, y = numbers
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    for selector in (FisherScore(), ChiSquared(test="counts")):
        ours = clone(selector).partial_fit(X[:50], y[:50], classes=[0, 1])
        with pytest.raises(NotFittedError):
            ours.transform(X)
        ours.partial_fit(X[50:], y[50:])
        np.testing.assert_allclose(ours.scores_, whole(selector, X, y).scores_, rtol=1e-10)


@pytest.mark.parametrize("selector", [FisherScore(), MaxRel(bins=None)])
def test_classes(selector, discrete):
    X, y = np.nan_to_num(discrete[0]), discrete[1]
    ours = clone(selector).partial_fit(X, y)  # all classes are in the first batch
    assert ours.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"9, which is not among the classes"):
        ours.partial_fit(X[:3], [0, 1, 9])
    with pytest.raises(ValueError, match="classes is"):
        ours.partial_fit(X[:3], [0, 1, 1], classes=[0, 1])
    with pytest.raises(ValueError, match=r"one class only.*classes="):
        clone(selector).partial_fit(X[y == 1], y[y == 1])


COUNTED = ChiSquared(test="counts")


@pytest.mark.parametrize("selector", [*MOMENTS, MaxRel(bins=None), ChiSquared(bins=None)], ids=repr)
def test_a_class_that_was_announced_and_has_not_come_yet(selector, discrete):
    X, y = np.nan_to_num(discrete[0]), discrete[1]
    first = y != 1
    ours = clone(selector).partial_fit(X[first], y[first], classes=[0, 1, 2])
    so_far = whole(selector, X[first], y[first])
    np.testing.assert_allclose(ours.scores_, so_far.scores_, rtol=1e-10)
    if getattr(so_far, "pvalues_", None) is not None:
        np.testing.assert_allclose(ours.pvalues_, so_far.pvalues_, rtol=1e-8)
    ours.partial_fit(X[~first], y[~first])
    np.testing.assert_allclose(ours.scores_, whole(selector, X, y).scores_, rtol=1e-10)


def test_negative_counts_are_refused_when_they_come(numbers):
    X, y = numbers
    ours = clone(COUNTED)
    with pytest.raises(ValueError, match="Negative values"):
        ours.partial_fit(-X[y == 0], y[y == 0], classes=[0, 1])  # too early to rank
    ours.partial_fit(X, y)
    np.testing.assert_allclose(ours.scores_, whole(COUNTED, X, y).scores_, rtol=1e-10)


@pytest.mark.parametrize(
    ("selector", "change"),
    [
        (COUNTED, {"test": "independence", "bins": None}),
        (ChiSquared(bins=None), {"test": "counts"}),
        (PearsonScore(), {"task": "regression"}),
    ],
)
def test_a_parameter_changed_on_the_way(selector, change, discrete):
    X, y = np.nan_to_num(discrete[0]), discrete[1]
    ours = clone(selector).partial_fit(X, y)
    before = ours.scores_
    with pytest.raises(ValueError, match=f"{next(iter(change))} was changed to"):
        ours.set_params(**change).partial_fit(X, y)
    assert ours.scores_ is before and ours.n_rows_ == len(y)


def test_batches_in_which_a_column_of_words_has_none():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    words = np.where(rng.random(90) < 0.8, np.array(["no", "yes"])[y], "who knows").astype(object)
    words[:10] = words[40:50] = None
    frame = pd.DataFrame({"a": words, "b": rng.integers(0, 3, 90)})
    ours = MaxRel(bins=None)
    for start in range(0, 90, 10):
        ours.partial_fit(frame[start : start + 10], y[start : start + 10])
    np.testing.assert_array_equal(ours.scores_, whole(MaxRel(bins=None), frame, y).scores_)
    # numbers after nothing but missing values
    gaps = pd.DataFrame({"a": pd.Series([None] * 4, dtype=str)})
    with pytest.warns(UserWarning, match="no relevant feature"):
        ours = MaxRel(bins=None).partial_fit(gaps, y[:4])
    ours.partial_fit(pd.DataFrame({"a": y * 1.0}), y)
    assert ours.scores_[0] > 0.5
    with pytest.raises(ValueError, match="holds text, but held numbers"):
        ours.partial_fit(frame[["a"]], y)


def test_one_row_of_a_numeric_target_is_no_ranking(numbers):
    X, y = numbers[0], numbers[0][:, 0] + 0.25
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = PearsonScore().partial_fit(X[:1], y[:1])
        with pytest.raises(NotFittedError):
            ours.transform(X)
        ours.partial_fit(X[1:], y[1:])
    np.testing.assert_allclose(ours.scores_, whole(PearsonScore(), X, y).scores_, rtol=1e-10)


def test_integers_first_and_then_others(numbers):
    X = numbers[0][:40]
    ours = PearsonScore().partial_fit(X, np.arange(40) % 4)
    with pytest.raises(
        ValueError, match=r'0\.5, which is not among the classes.*task="regression"'
    ):
        ours.partial_fit(X, np.arange(40) + 0.5)


@pytest.mark.parametrize("selector", [FisherScore(), COUNTED, MaxRel(bins=None)])
def test_a_fit_that_fails_leaves_the_batches(selector, discrete):
    X, y = np.nan_to_num(discrete[0]), discrete[1]
    ours = clone(selector).partial_fit(X[:200], y[:200])
    with pytest.raises(ValueError, match="one class only"):
        ours.fit(X[:, :2], np.zeros(len(y)))
    assert ours.n_features_in_ == X.shape[1]
    ours.partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(ours.scores_, whole(selector, X, y).scores_, rtol=1e-10)


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "save"])
@pytest.mark.parametrize("selector", [*MOMENTS, MaxRel(bins=None), ChiSquared(bins=None)], ids=repr)
def test_a_kept_filter_goes_on_where_it_was(selector, way, discrete, tmp_path):
    X, y = np.nan_to_num(discrete[0]), discrete[1]
    ours = clone(selector).partial_fit(X[:200], y[:200])
    if way == "save":
        tamiz.save(ours, tmp_path / "filter.tamiz")
        other = tamiz.load(tmp_path / "filter.tamiz")
    else:
        other = copy.deepcopy(ours) if way == "deepcopy" else pickle.loads(pickle.dumps(ours))
    before = ours.scores_.copy()
    other.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(ours.scores_, before)  # nothing is shared
    ours.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(other.scores_, ours.scores_)
    assert other.n_rows_ == len(y)
    assert not hasattr(clone(other), "_so_far")


def test_words_and_numeric_targets_can_be_saved(tmp_path):
    rng = np.random.default_rng(0)
    y, words = np.arange(60) % 2, rng.choice(["red", "blue", "green"], 60)
    frame = pd.DataFrame({"a": words, "b": rng.integers(0, 3, 60)})
    numbers, quantity = rng.normal(size=(60, 3)), rng.normal(size=60)
    for selector, X, target in (
        (MaxRel(bins=None), frame, y),
        (PearsonScore(), numbers, quantity),
    ):
        tamiz.save(selector.partial_fit(X[:30], target[:30]), tmp_path / "filter.tamiz")
        other = tamiz.load(tmp_path / "filter.tamiz").partial_fit(X[30:], target[30:])
        np.testing.assert_array_equal(
            other.scores_, selector.partial_fit(X[30:], target[30:]).scores_
        )


BAD = {
    "columns": (lambda X, y: (X[:, :-1], y), "is expecting"),
    "empty": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "label": (lambda X, y: (X, y + 50), "not among the classes"),
    "length": (lambda X, y: (X, y[:-1]), "inconsistent numbers"),
    "infinite": (lambda X, y: (np.where(X > 0, np.inf, X), y), "inf"),
}


@pytest.mark.parametrize("selector", [FisherScore(), ChiSquared(test="counts"), MaxRel(bins=None)])
@pytest.mark.parametrize("kind", BAD)
def test_a_batch_that_is_refused_changes_nothing(selector, kind, discrete):
    X, y = np.nan_to_num(discrete[0]), discrete[1]
    change, match = BAD[kind]
    ours = clone(selector).partial_fit(X[:200], y[:200])
    before, state = ours.scores_.copy(), ours._so_far
    with pytest.raises(ValueError, match=match):
        ours.partial_fit(*change(X[200:], y[200:]))
    np.testing.assert_array_equal(ours.scores_, before)
    assert ours._so_far is state and ours.n_rows_ == 200
    ours.partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(ours.scores_, whole(selector, X, y).scores_, rtol=1e-10)


def test_moments_refuse_missing_values(discrete):
    X, y = discrete
    with pytest.raises(ValueError, match="NaN"):
        FisherScore().partial_fit(X, y)


def test_names_have_to_agree(numbers):
    X = pd.DataFrame(numbers[0][:, :3], columns=["a", "b", "c"])
    ours = FisherScore().partial_fit(X, numbers[1])
    assert ours.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*same order"):
        ours.partial_fit(X[["b", "a", "c"]], numbers[1])


def test_bins_are_not_known_before_the_last_batch(numbers):
    for selector in (MaxRel(), InformationGain(), ChiSquared()):
        assert not hasattr(selector, "partial_fit")
        with pytest.raises(AttributeError, match=r"not known before the last batch.*bins=None"):
            selector.partial_fit(*numbers)
    assert not hasattr(MRMR(), "partial_fit")
    with pytest.raises(ValueError, match="bins=None says"):
        MaxRel(bins=None).partial_fit(np.random.default_rng(0).normal(size=(60, 2)), [0, 1] * 30)


def test_fit_starts_anew(numbers):
    X, y = numbers
    ours = FisherScore().partial_fit(X[:100], y[:100])
    ours.fit(X[100:], y[100:])
    assert not hasattr(ours, "n_rows_")
    ours.partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    np.testing.assert_allclose(ours.scores_, whole(FisherScore(), X, y).scores_, rtol=1e-10)
