"""The elimination on the card against the one on the CPU, and its criteria against plain sums."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_classification, make_friedman1
from sklearn.preprocessing import StandardScaler

from tamiz.embedded import SVMRFE
from tamiz.gpu import emulated
from tamiz.gpu.gram import UnfitForCardError
from tamiz.kernels import RBF, Linear
from tamiz.kernels.features.card import track_on_card
from tamiz.validation import NotEnoughMemoryError, ParameterError


def samples(n=60, p=7, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) + 2.0


@pytest.mark.parametrize("memory", [None, 5e5], ids=["one block", "blocks"])
def test_the_matrix_follows_features_and_leaves_each_out(memory):
    X, rng = samples(), np.random.default_rng(1)
    X[:10] = X[10:20]  # rounding must not make their distances negative
    coef = np.where(rng.random(60) < 0.6, rng.normal(size=60), 0.0)
    with emulated(memory) as lane:
        tracker = track_on_card(lane, RBF(gamma=0.2), X)
        for gone in (3, 0):
            tracker.remove(gone)
        tracker.rescale(1, 0.5)
        scale, K = tracker.scale, tracker.K
        norms = tracker.leave_one_out_norms(coef)
        without = tracker.without(2)
        slopes = tracker.gradient(coef)
        tracker.add(3)
        back = tracker.K
    same = RBF(gamma=0.2).track(X, scale)
    assert K.max() <= 1.0
    assert np.abs(K - RBF(gamma=0.2)(X * scale)).max() <= 1e-13
    assert np.array_equal(np.isnan(norms), scale == 0)
    for j in np.flatnonzero(scale):
        less = scale * (np.arange(7) != j)
        assert norms[j] == pytest.approx(coef @ RBF(gamma=0.2)(X * less) @ coef, rel=1e-11)
    assert np.abs(without - same.without(2)).max() <= 1e-13
    assert np.abs(slopes - same.gradient(coef)).max() <= 1e-10
    scale[3] = 1.0
    assert np.abs(back - RBF(gamma=0.2)(X * scale)).max() <= 1e-13


CASES = {
    "two classes": ({}, make_classification(120, 10, n_informative=4, random_state=0)),
    "three classes": (
        {"C": 10.0},
        make_classification(120, 8, n_informative=4, n_classes=3, random_state=0),
    ),
    "first order": ({"order": "first"}, make_classification(100, 8, random_state=1)),
    "the bound": ({"criterion": "radius_margin"}, make_classification(80, 8, random_state=2)),
    "Shapley values": ({"criterion": "shapley"}, make_classification(60, 6, random_state=3)),
    "groups": (
        {"feature_groups": [[0, 1], [2], [3, 4], [5]], "n_features_to_select": 2},
        make_classification(80, 6, random_state=4),
    ),
    "regression": ({"task": "regression", "C": 10.0}, make_friedman1(100, random_state=0)),
    "half at a time, folds": (
        {"step": "half", "n_features_to_select": "best", "cv": 3},
        make_classification(90, 8, n_informative=3, random_state=5),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_card_ranks_as_the_cpu_does(name):
    options, (X, y) = CASES[name]
    X = StandardScaler().fit_transform(X)
    options = {"n_features_to_select": 3, "kernel": "rbf", **options}
    expected = SVMRFE(**options).fit(X, y)
    with emulated():
        found = SVMRFE(**options, device="cuda").fit(X, y)
    assert found.order_.tolist() == expected.order_.tolist()
    assert found.get_support().tolist() == expected.get_support().tolist()
    for one, other in zip(found.selection_.path, expected.selection_.path, strict=True):
        assert one.features == other.features
        assert one.value == pytest.approx(other.value, rel=1e-6, abs=1e-9)


def test_real_samples():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[::3]
    expected = SVMRFE(5, kernel="rbf").fit(X, y[::3])
    with emulated():
        found = SVMRFE(5, kernel="rbf", device="cuda").fit(X, y[::3])
    assert found.order_.tolist() == expected.order_.tolist()


def test_other_kernels_are_refused_or_left_to_the_cpu():
    X, y = make_classification(60, 5, random_state=0)
    with emulated(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kernel in ("linear", "poly", RBF(gamma=0.1) + Linear()):
            with pytest.raises(ParameterError, match="eliminates with the radial kernel only"):
                SVMRFE(2, kernel=kernel, device="cuda").fit(X, y)
            found = SVMRFE(2, kernel=kernel, device="auto").fit(X, y)
            assert found.order_.tolist() == SVMRFE(2, kernel=kernel).fit(X, y).order_.tolist()
        with pytest.raises(UnfitForCardError, match="is not the radial kernel"):
            track_on_card(None, Linear(), X)


def test_too_little_memory_and_unknown_devices_are_said_in_a_sentence():
    X, y = make_classification(200, 5, random_state=0)
    with emulated(1e5), pytest.raises(NotEnoughMemoryError, match="samples would fit"):
        SVMRFE(2, kernel="rbf", device="cuda").fit(X, y)
    with emulated(1e5):
        found = SVMRFE(2, kernel="rbf", device="auto").fit(X, y)
    assert found.order_.tolist() == SVMRFE(2, kernel="rbf").fit(X, y).order_.tolist()
    with pytest.raises(ValueError, match="device"):
        SVMRFE(2, kernel="rbf", device="gpu").fit(X, y)
    with emulated(), pytest.raises(TypeError, match="dense"):
        SVMRFE(2, kernel="rbf", device="cuda").fit(sparse.csr_array(X), y)
